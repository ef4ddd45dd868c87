"""Flows that depend on truth values and symbols: proofs are about the cases, one by one."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pytest

from workbench.abstraction.strategies.strategy import Task
from workbench.abstraction.verification import deadline, strategy, verify
from workbench.abstraction.verification_settings import VerificationSettings
from workbench.models.automaton import (
    Constraint,
    HybridAutomaton,
    Initial,
    Kind,
    Location,
    Range,
    ValueType,
    Variable,
)
from workbench.models.certificates.certificate import decode, encode
from workbench.models.certificates.check import check
from workbench.models.certificates.judgement import Accepted
from workbench.models.expressions.expression import (
    TRUE,
    conditional,
    constant,
    equal,
    symbol,
    variable,
)
from workbench.models.load import load
from workbench.models.lowering.problem import proved_view
from workbench.models.model import Model
from workbench.models.unfolding import MAX_CASES, Unfolded, case_of, folded, unfold
from workbench.models.verdict import Falsified, Verified
from workbench.reports.analysis import Settings, analyse
from workbench.simulate.policy import Policy
from workbench.simulate.run import simulate

HEATER = """
mode Work() {{
  write analog real x; readwrite discrete bool on;
  diff {{ d(x) == (on ? 2 - 0.1*x : -0.1*x); }}
  inv {{ (on && x <= 12) || (!on && x >= 8) }}
}}
mode Run() {{
  write analog real x; readwrite discrete bool on;
  mode w = Work();
  trans from init to w;
  trans from w to w when !on && x <= 8 do {{ on = true; }}
  trans from w to w when on && x >= 12 do {{ on = {off}; }}
}}
agent Heater() {{
  private analog real x; private discrete bool on;
  init {{ x in [9, 11]; on = true; }}
  mode top = Run();
  assert "in range" {{ {claim} }}
}}
"""

PARTS = """
mode Plant() {{
  write analog real x; read discrete bool on; read discrete enum {{slow, fast}} gear;
  private analog real power;
  alge {{ power == (on ? (gear == fast ? 3 : 2) : 0); }}
  diff {{ d(x) == power - 0.1*x; }}
}}
agent Tank() {{
  write analog real x; read discrete bool on; read discrete enum {{slow, fast}} gear;
  init {{ x in [9, 11]; }}
  mode top = Plant();
}}
mode Hold() {{
  read analog real x; readwrite discrete bool on;
  inv {{ (on && x <= 12) || (!on && x >= 8) }}
}}
mode Switch() {{
  read analog real x; readwrite discrete bool on; readwrite discrete enum {{slow, fast}} gear;
  mode h = Hold();
  trans from init to h;
  trans from h to h when !on && x <= 8 do {{ on = true; gear = gear == fast ? slow : fast; }}
  trans from h to h when on && x >= 12 do {{ on = false; }}
}}
agent Controller() {{
  read analog real x; write discrete bool on; write discrete enum {{slow, fast}} gear;
  init {{ on = true; gear = slow; }}
  mode top = Switch();
}}
agent Whole() {{
  private analog real x; private discrete bool on; private discrete enum {{slow, fast}} gear;
  agent t = Tank();
  agent c = Controller();
  assert "in range" {{ {claim} }}
}}
"""

SAFE, UNSAFE = "x >= 7.5 && x <= 12.5", "x >= 8.5 && x <= 12.5"
PROOFS = ("quadratic", "template", "history", "abstraction")


def model(folder: Path, text: str, claim: str, off: str = "false") -> Model:
    path = folder / "model.charon"
    path.write_text(text.format(claim=claim, off=off))
    return load(path)


def task(automaton: HybridAutomaton | object, seconds: float = 60, **options: object) -> Task:
    return Task(automaton, automaton.properties[0], deadline(seconds), options=options)  # type: ignore[arg-type, attr-defined]


@pytest.mark.parametrize("text", [HEATER, PARTS], ids=["one part", "two parts"])
@pytest.mark.parametrize("method", PROOFS)
def test_proofs_for_all_time(text: str, method: str, tmp_path: Path) -> None:
    automaton = model(tmp_path, text, SAFE).automaton
    verdict = strategy(method).attempt(task(automaton))
    assert isinstance(verdict, Verified), verdict
    again = decode(encode(verdict.certificate))
    assert isinstance(check(automaton, "in range", again), Accepted)


@pytest.mark.parametrize("text", [HEATER, PARTS], ids=["one part", "two parts"])
def test_flowpipes_prove_and_find_violations(text: str, tmp_path: Path) -> None:
    automaton = model(tmp_path, text, SAFE).automaton
    flowpipe, until = strategy("flowpipe"), Fraction(20)
    assert isinstance(flowpipe.attempt(task(automaton, horizon=until)), Verified)
    automaton = model(tmp_path, text, UNSAFE).automaton
    verdict = flowpipe.attempt(task(automaton, horizon=until))
    assert isinstance(verdict, Falsified)
    names = {segment.location for segment in verdict.trace.segments}
    assert not any("{" in name for name in names), "runs are those of the model"


@pytest.mark.parametrize("text", [HEATER, PARTS], ids=["one part", "two parts"])
@pytest.mark.parametrize("method", PROOFS)
def test_unsafe_twins_are_never_proved(text: str, method: str, tmp_path: Path) -> None:
    automaton = model(tmp_path, text, UNSAFE).automaton
    assert not isinstance(strategy(method).attempt(task(automaton, 3)), Verified)


def test_what_resets_compute_is_decided_by_the_target(tmp_path: Path) -> None:
    """With `on = x < 11.5` the heater goes off at 12."""
    automaton = model(tmp_path, HEATER, SAFE, off="x < 11.5").automaton
    assert isinstance(verify(task(automaton, 20)), Verified)
    view = proved_view(automaton)
    (start, *_) = [s for s in view.initial_sets() if "true" in s.location]
    targets = {edge.target for edge in view.edges_from(start.location)}
    assert targets == {"w {on = true}", "w {on = false}"}
    automaton = model(tmp_path, HEATER, UNSAFE, off="x < 11.5").automaton
    assert isinstance(verify(task(automaton, 20)), Falsified)


def test_locations_have_a_name_for_each_case(tmp_path: Path) -> None:
    view = proved_view(model(tmp_path, HEATER, SAFE).automaton)
    assert isinstance(view, Unfolded)
    assert unfold(view) is view
    place = view.location("w {on = true}")
    assert str(place.flows[0].range.low) == "2 - 0.1*x"
    assert {edge.target for edge in view.edges_from(place.name)} == {"w {on = false}"}
    assert folded(view, place.name) == "w" == folded(view, "w")
    assert case_of(view, "w", {"x": 1.0, "on": False}) == "w {on = false}"
    for wrong in ("w", "w {on = maybe}", "w {on = true} ", "v {on = true}"):
        with pytest.raises(LookupError):
            view.location(wrong)


def test_every_run_keeps_to_the_cases(tmp_path: Path) -> None:
    """Each stay of a run lies in the invariant of its case, and each of its jumps is an edge of
    the view."""
    from workbench.models.expressions.evaluation import holds

    automaton = model(tmp_path, PARTS, SAFE).automaton
    view = proved_view(automaton)
    for seed in range(5):
        trace = simulate(automaton, until=30.0, policy=Policy.random(), seed=seed)
        names = []
        for segment in trace.segments:
            values = segment.valuation(segment.start)
            names.append(case_of(view, segment.location, values))
            told = {n: v for n, v in values.items() if n in ("on", "gear")}
            place = view.location(names[-1])
            cases = [c for c in place.invariant.args if {*told} & {str(a) for a in c.args}]
            assert len(cases) == 2
            assert all(holds(case, told) for case in cases)
        for before, after in pairwise(names):
            ways = {edge.target for edge in view.edges_from(before)}
            assert after == before or after in ways


def test_forged_cases_are_rejected(tmp_path: Path) -> None:
    automaton = model(tmp_path, HEATER, SAFE).automaton
    verdict = strategy("template").attempt(task(automaton))
    assert isinstance(verdict, Verified)
    text = encode(verdict.certificate)
    assert "w {on = true}" in text
    for forged in (
        text.replace("w {on = true}", "w"),
        text.replace("{on = true}", "{on = yes}"),
        text.replace("{on = true}", "{on = SWAP}")
        .replace("{on = false}", "{on = true}")
        .replace("{on = SWAP}", "{on = false}"),
    ):
        json.loads(forged)
        assert not isinstance(check(automaton, "in range", decode(forged)), Accepted)


def test_no_more_cases_than_can_be_handled(tmp_path: Path) -> None:
    flags = [f"b{i}" for i in range(7)]
    terms = " + ".join(f"({b} ? 1 : 0)" for b in flags)
    path = tmp_path / "many.charon"
    path.write_text(
        f"""
        mode Work() {{
          write analog real x; write discrete bool {", ".join(flags)};
          diff {{ d(x) == {terms} - x; }}
        }}
        agent Many() {{
          private analog real x; private discrete bool {", ".join(flags)};
          init {{ x = 0; {" ".join(f"{b} = false;" for b in flags)} }}
          mode top = Work();
          assert "low" {{ x <= 8 }}
        }}
        """
    )
    view = proved_view(load(path).automaton)
    assert isinstance(view, Unfolded)
    assert 2 ** len(view.unfolded) == MAX_CASES


@pytest.mark.parametrize("method", ["template", "flowpipe"])
def test_reports_agree_with_runs(method: str, tmp_path: Path) -> None:
    found = model(tmp_path, HEATER, SAFE)
    automaton = replace(found.automaton, horizon=Fraction(20))  # type: ignore[type-var]
    settings = Settings(VerificationSettings(method=method, time_limit=20), runs=4)
    findings = analyse(
        replace(found, automaton=automaton), "heater", automaton.properties, settings
    )
    assert isinstance(findings.verdicts[0], Verified)
    assert findings.check.consistent
    assert any(run.sets for run in findings.check.runs), "runs are compared with the proved set"


def test_symbols_that_could_make_two_cases_one_are_left_alone() -> None:
    """Symbols of JSON models may be any text, also one that looks like the end of a name."""
    rate = conditional(equal(variable("gear"), symbol("fast")), constant(1), constant(0))
    flows = (Constraint("x", Range.exactly(rate)),)
    for strange, is_unfolded in (("slow", True), ("slow} {gear = fast", False)):
        gear = Variable("gear", ValueType("enum", (strange, "fast")), Kind.DISCRETE)
        automaton = HybridAutomaton(
            "hostile", (Variable("x"), gear), (Location("w", flows),), (), (Initial("w", TRUE),)
        )
        assert isinstance(unfold(automaton), Unfolded) is is_unfolded
