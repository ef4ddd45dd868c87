"""States between jumps at one instant: they are part of a run, for everybody who reads it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.models.load import load
from workbench.models.trace import EventType
from workbench.models.trace_files import from_csv, from_json, to_csv, to_json
from workbench.reports.crosscheck.contradictions import Checker
from workbench.simulate.agents.asynchronous import simulate_agents
from workbench.simulate.agents.fleet import is_available
from workbench.simulate.agents.merge import merged
from workbench.simulate.inputs.signals import Steps
from workbench.simulate.monitoring.monitor import Monitor
from workbench.simulate.monitoring.robustness import Robustness
from workbench.simulate.monitoring.run_check import RunCheck
from workbench.simulate.monitoring.stl import parse_formula
from workbench.simulate.policy import Policy, Switching
from workbench.simulate.run import prepare, simulate
from workbench.simulate.search.falsification import Budget, falsify
from workbench.simulate.validated.validated_run import validate


def chain(values: list[int], guard: str = "x >= 1", limit: int = 5) -> str:
    """A run that counts n through these values at one instant, and goes on with 0."""
    names = [f"m{i}" for i in range(len(values))]
    modes = "".join(f"mode {name} = Rest();" for name in (*names, "last"))
    steps = zip([*names, "last"], [*names[1:], "last"], [*values[1:], 0], strict=False)
    edges = "".join(
        f"urgent trans from {a} to {b} do {{ n = {v} }}\n" for a, b, v in steps if a != b
    )
    return f"""
    mode Go() {{ write analog real x; write discrete int n; diff {{ d(x) == 1; }} inv {{ x <= 1 }} }}
    mode Rest() {{ write analog real x; write discrete int n; diff {{ d(x) == 1; }} }}
    mode Top() {{
      write analog real x; write discrete int n;
      mode go = Go(); {modes}
      trans from init to go;
      trans #first from go to m0 when {guard} do {{ n = {values[0]} }}
      {edges}
    }}
    agent Hop() {{
      private analog real x; private discrete int n;
      init {{ x = 0; n = 0; }}
      mode top = Top();
      assert "small" {{ n <= {limit} }}
    }}
    """


def written(directory, text):
    path = directory / "model.charon"
    path.write_text(text)
    return load(path).automaton


def one_run(automaton, **options):
    return simulate(automaton, until=3.0, stop_on_violation=False, **options)


class TestEveryReaderSeesThem:
    def test_the_trace_has_a_segment_for_each(self, tmp_path):
        trace = one_run(written(tmp_path, chain([7, 3])))
        assert [s.location for s in trace.segments] == ["go", "m0", "m1", "last"]
        assert [s.is_instant for s in trace.segments] == [False, True, True, False]
        assert [s.held["n"] for s in trace.segments] == [0, 7, 3, 0]
        jumps = [jumps for _, jumps, _ in trace.transitions()]
        assert [e.name for (e,) in jumps] == [e.name for e in trace.jumps]
        assert trace.before(trace.segments[1].start)["n"] == 0
        assert trace.at(trace.segments[1].start)["n"] == 0

    def test_a_jump_at_the_start_keeps_the_initial_state(self, tmp_path):
        trace = one_run(written(tmp_path, chain([7], guard="true")))
        assert [s.held["n"] for s in trace.segments] == [0, 7, 0]
        assert [s.start for s in trace.segments] == [0, 0, 0]

    def test_falsifier(self, tmp_path):
        automaton = written(tmp_path, chain([7, 3]))
        outcome = falsify(automaton, automaton.properties[0], Budget(20))
        assert outcome.found is not None
        assert outcome.found.violation == pytest.approx(2.0)
        assert outcome.found.trace.final()["n"] == 7
        assert any(c.rigorous for c in outcome.found.confirmations)

    @pytest.mark.parametrize(
        ("text", "robustness"),
        [
            ("always[0,2] n <= 5", -2.0),
            ("eventually[0.5,2] n >= 6", 1.0),
            ("eventually[0,0.5] n >= 1", -1.0),
            ("always[0,2] (n >= 6 -> eventually[0,0] (n >= 2 && n <= 4))", 1.0),
            ("always[0,2] (n >= 2 && n <= 4 -> eventually[0,0] n >= 6)", -1.0),
            ("(n <= 1) until[0.5,2] (n >= 6)", 1.0),
            ("(n <= 1) until[0.5,2] (n >= 2 && n <= 4)", -2.0),
        ],
    )
    def test_formulas(self, tmp_path, text, robustness):
        automaton = written(tmp_path, chain([7, 3]))
        monitor = Monitor(automaton, parse_formula(text), prepare(automaton).symbols)
        assert monitor.optimistic(one_run(automaton)) == pytest.approx(robustness)

    def test_cross_check(self, tmp_path):
        automaton = written(tmp_path, chain([7, 3]))
        margin = Checker(automaton).check(0, one_run(automaton)).properties["small"]
        assert margin.value == pytest.approx(-2.0)
        assert margin.place is not None and margin.place.location == "m0"

    def test_files(self, tmp_path):
        trace = one_run(written(tmp_path, chain([7, 3])))
        assert from_json(to_json(trace)) == trace
        table = from_csv(to_csv(trace))
        assert [(s.location, s.is_instant) for s in table.segments] == [
            (s.location, s.is_instant) for s in trace.segments
        ]
        assert [row[2]["n"] for row in table.samples()][1:4] == [0, 7, 3]

    def test_enclosures(self, tmp_path):
        automaton = written(tmp_path, chain([7, 3]))
        run = validate(automaton, simulate(automaton, until=3.0), claim=automaton.properties[0])
        assert run.violation is not None and run.violation.location == "m0"
        run = validate(automaton, one_run(automaton))
        assert run.gave_up is None and [j.target for j in run.jumps] == ["m0", "m1", "last"]


class TestTheCheckOfRuns:
    def test_accepts_the_run_and_no_other(self, tmp_path):
        automaton = written(tmp_path, chain([7, 3]))
        check, trace = RunCheck(prepare(automaton)), one_run(automaton)
        assert check.problems(trace, {}) == []
        go, first, second, last = trace.segments
        wrong = replace(first, held={**first.held, "n": 4.0})
        assert check.problems(replace(trace, segments=(go, wrong, second, last)), {})
        assert check.problems(replace(trace, segments=(go, first, last)), {})
        assert check.problems(replace(trace, segments=(go, second, first, last)), {})

    def test_initial_states_are_initial(self, tmp_path):
        automaton = written(tmp_path, chain([7], guard="true"))
        check, trace = RunCheck(prepare(automaton)), one_run(automaton)
        assert check.problems(trace, {}) == []
        wrong = replace(trace.segments[0], held={"n": 2.0})
        assert check.problems(replace(trace, segments=(wrong, *trace.segments[1:])), {})


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(-9, 9), min_size=1, max_size=6), st.integers(-4, 9))
def test_random_chains(tmp_path_factory, values, limit):
    """The least margin is that of the largest value, wherever it stands."""
    automaton = written(tmp_path_factory.mktemp("chain"), chain(values, limit=limit))
    trace = one_run(automaton)
    robustness = Robustness.of_property(
        automaton, automaton.properties[0], prepare(automaton).symbols
    )
    assert robustness.along(trace).margin == limit - max(0, *values)
    assert RunCheck(prepare(automaton)).problems(trace, {}) == []


INPUT_STEP = """
mode Go() {
  write analog real x; write discrete int n; read analog real u;
  diff { d(x) == 1; } inv { u <= 1 }
}
mode Rest() { write analog real x; write discrete int n; diff { d(x) == 1; } }
mode Top() {
  write analog real x; write discrete int n; read analog real u;
  mode go = Go(); mode between = Go(); mode last = Rest();
  trans from init to go;
  trans from go to between when u <= 1 do { n = 7 }
  trans from between to last when u >= 2 do { n = 0 }
}
agent Hop() {
  read analog real u in [0, 3];
  private analog real x; private discrete int n;
  init { x = 0; n = 0; }
  mode top = Top();
  assert "small" { n <= 5 }
  assert "input" { n <= 5 || u <= 1 }
}
"""


def test_states_at_the_step_of_an_input_know_its_value(tmp_path):
    """Between go and last the run is in a state with the input as it was before its step."""
    automaton = written(tmp_path, INPUT_STEP)
    signals = {"u": Steps((0.0, 1.0), (0.0, 2.0))}
    prepared = prepare(automaton, inputs=signals)
    latest = Policy(Switching.LATEST)
    trace = simulate(prepared, until=2.0, inputs=signals, policy=latest, stop_on_violation=False)
    assert [s.location for s in trace.segments] == ["go", "between", "last"]
    assert trace.segments[1].is_instant and trace.segments[1].held["u"] == 0.0
    assert RunCheck(prepared).problems(trace, signals) == []
    small, fed = automaton.properties
    for claim, margin in ((small, -2.0), (fed, 1.0)):
        engine = Robustness.of_property(automaton, claim, prepared.symbols, signals)
        assert engine.along(trace).margin == margin


AGENTS = """
mode Go() { write analog real x; diff { d(x) == 1; } inv { x <= 1 } }
mode Rest() { write analog real x; diff { d(x) == 1; } }
mode Top() {
  write analog real x; write discrete int n;
  mode go = Go(); mode between = Rest(); mode last = Rest();
  trans from init to go;
  trans #up from go to between when x >= 1 do { n = 7 }
  urgent trans #down from between to last do { n = 0 }
}
agent One() {
  private analog real x; private discrete int n;
  init { x = 0; n = 0; }
  mode top = Top();
}
agent Two() { agent one = One(); agent other = One(); assert "small" { one.n + other.n <= 5 } }
"""


@pytest.mark.skipif(not is_available(), reason="needs the compiled core")
def test_agents_with_clocks_of_their_own(tmp_path):
    automaton = written(tmp_path, AGENTS)
    own = simulate_agents(automaton, until=2.0, stop_on_violation=False)
    whole = merged(automaton, own)
    states = [(s.held["one.n"], s.held["other.n"]) for s in whole.segments]
    assert states[0] == states[-1] == (0, 0)
    assert len(states) == len([e for e in whole.events if e.type is EventType.JUMP]) + 1
    assert {7.0} <= {v for state in states for v in state}
    claim = automaton.properties[0]
    engine = Robustness.of_property(automaton, claim, prepare(automaton).symbols)
    assert engine.along(whole).margin <= -2.0
