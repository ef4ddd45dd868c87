"""External functions of which only values are known, or not even these: where a function fails
the run has got as far as it can."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from workbench.models.automaton import (
    TIME,
    Constraint,
    Edge,
    HybridAutomaton,
    Initial,
    Location,
    Range,
    Variable,
)
from workbench.models.expressions.expression import (
    Expression,
    Op,
    constant,
    equal,
    external,
    function,
    variable,
)
from workbench.models.load import load
from workbench.models.trace import Ending
from workbench.simulate.agents.asynchronous import simulate_agents
from workbench.simulate.agents.traces import AgentTraces
from workbench.simulate.run import simulate
from workbench.simulate.stepping.methods import Adams, Method, Taylor

X, Y = variable("x"), variable("y")


def below(bound: float, value: Callable[[float], float]) -> Callable[[float], float]:
    """A function that has a value up to a bound only."""

    def call(x: float) -> float:
        if x > bound:
            raise ValueError("out of range")
        return value(x)

    return call


def system(x: Expression, y: Expression, *edges: Edge) -> HybridAutomaton:
    flows = tuple(Constraint(n, Range.exactly(rate)) for n, rate in (("x", x), ("y", y)))
    start = equal(X, 1) & equal(Y, 0)
    variables = (Variable("x"), Variable("y"))
    places = (Location("a", flows),)
    return HybridAutomaton("m", variables, places, edges, (Initial("a", start),))


@pytest.mark.parametrize("method", [Adams(), Taylor()], ids=["adams", "taylor"])
def test_the_run_gets_as_far_as_the_function(method: Adams | Taylor) -> None:
    """x = 1 + t, and f ends at x = 2; y = t up to there."""
    model = system(constant(1), external("f", X))
    trace = simulate(model, until=5.0, method=method, externs={"f": below(2.0, lambda _: 1.0)})
    outcome = trace.outcome
    assert outcome.ending is Ending.EXTERNAL_FAILED and outcome.name == "f"
    assert outcome.time == trace.end == pytest.approx(1.0, abs=1e-9) and outcome.time <= 1.0
    assert trace.final() == pytest.approx({"x": 2.0, "y": 1.0}, abs=1e-9)
    assert "At t = 1 " in outcome.sentence and "x = 2" in outcome.sentence
    assert "out of range" in outcome.sentence


def test_a_function_that_always_fails_ends_at_the_start() -> None:
    model = system(constant(1), external("f", X))
    trace = simulate(model, until=5.0, externs={"f": below(0.0, float)})
    assert trace.outcome.ending is Ending.EXTERNAL_FAILED and trace.outcome.time == 0.0
    assert "At t = 0 " in trace.outcome.sentence and "x = 1" in trace.outcome.sentence


def test_a_step_that_looks_too_far_is_no_failure() -> None:
    """x = 1 + sin t turns back at 2, hardly below the end of f; y = t + 1 - cos t."""
    model = system(function(Op.COS, variable(TIME)), external("f", X))
    trace = simulate(model, until=10.0, externs={"f": below(2.000001, float)})
    assert trace.outcome.ending is Ending.HORIZON
    assert trace.final()["y"] == pytest.approx(11 - math.cos(10), abs=1e-4)


def test_a_jump_before_the_failure_is_made() -> None:
    """x = 1 + t jumps back from 1.9 to 1 before f ends at 2."""
    back = Edge(
        "a", "a", X >= Fraction(19, 10), (Constraint("x", Range.exactly(constant(1))),), name="back"
    )
    model = system(constant(1), external("f", X), back)
    trace = simulate(model, until=5.0, externs={"f": below(2.0, lambda _: 1.0)})
    assert trace.outcome.ending is Ending.HORIZON
    assert [e.time for e in trace.jumps] == pytest.approx([0.9 * k for k in range(1, 6)], abs=1e-6)
    assert trace.final()["y"] == pytest.approx(5.0, abs=1e-6)


def test_a_series_does_not_take_a_function_for_a_constant() -> None:
    """x' = -x, by a function of which only values are known."""
    model = system(external("f", X), constant(0))
    trace = simulate(model, until=5.0, method=Taylor(), externs={"f": lambda x: -x})
    assert trace.final()["x"] == pytest.approx(math.exp(-5.0), abs=1e-5)


TWO_AGENTS = """
extern real f(real);
mode M(real k) { write analog real x; diff { d(x) == k*f(x); } }
mode S() { write analog real x; diff { d(x) == 0; } }
mode Top(real k) {
  write analog real x;
  mode m = M(k); mode s = S();
  trans from init to m;
  urgent trans #hit from m to s when x <= 0.5;
}
agent P(real k) { write analog real x; init { x = 1; } mode top = Top(k); }
agent All() {
  private analog real a, b;
  agent p = P(1) [ x := a ]; agent q = P(2) [ x := b ];
  assert "apart" { a - b <= 0.24 }
}
"""


class TestAgents:
    """Two agents with clocks of their own: exp(-t) and exp(-2t), both down to 0.5."""

    def run(self, tmp_path: Path, f: Callable[[float], float], method: Method) -> AgentTraces:
        path = tmp_path / "two.charon"
        path.write_text(TWO_AGENTS)
        agents = load(path).automaton
        return simulate_agents(agents, until=2.0, method=method, externs={"f": f})

    @pytest.mark.parametrize("method", [Adams(), Taylor()], ids=["adams", "taylor"])
    def test_no_series_is_made_of_a_function(self, tmp_path: Path, method: Method) -> None:
        found = self.run(tmp_path, lambda x: -x, method)
        assert found.outcome.ending is Ending.HORIZON
        times = [e.time for e in found.events]
        assert times == pytest.approx([math.log(2) / 2, math.log(2)], abs=1e-5)

    def test_a_failure_has_a_time_and_a_place(self, tmp_path: Path) -> None:
        def late(x: float) -> float:
            if x < 0.8:
                raise ValueError("too low")
            return -x

        outcome = self.run(tmp_path, late, Adams()).outcome
        assert outcome.ending is Ending.EXTERNAL_FAILED and outcome.name == "f"
        assert outcome.time == pytest.approx(-math.log(0.8) / 2, abs=1e-5)
        assert "At t = 0.1115" in outcome.sentence and "`m|m`" in outcome.sentence

    def test_a_step_that_looks_too_far_is_no_failure(self, tmp_path: Path) -> None:
        """The jumps come before the function ends."""

        def ends(x: float) -> float:
            if x < 0.4999:
                raise ValueError("too low")
            return -x

        found = self.run(tmp_path, ends, Adams())
        assert found.outcome.ending is Ending.HORIZON and len(found.events) == 2
