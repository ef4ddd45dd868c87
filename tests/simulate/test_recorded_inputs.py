"""Traces know what was fed in, and what equations make of it."""

from __future__ import annotations

import math

import pytest

from workbench.models.automaton import Automaton
from workbench.models.expressions.expression import variable
from workbench.models.load import load
from workbench.models.trace_files import from_json, to_json
from workbench.simulate.inputs.signals import Lines, Signal, Steps, constant_signal, sine
from workbench.simulate.many_runs import RunMaker
from workbench.simulate.monitoring.dense_values import DenseValues
from workbench.simulate.policy import Policy
from workbench.simulate.recipe import Recipe
from workbench.simulate.run import simulate

DRIVEN = """
mode Go() {
  write analog real x, y;
  read analog real u;
  diff { d(x) == u; }
  alge { y == 2*u + x; }
}
agent Driven() {
  read analog real u in [-10, 10];
  write analog real x, y;
  init { x = 0; }
  mode top = Go();
  assert "y" { y <= 1000 }
}
"""


@pytest.fixture(scope="module")
def driven(tmp_path_factory: pytest.TempPathFactory) -> Automaton:
    path = tmp_path_factory.mktemp("driven") / "driven.charon"
    path.write_text(DRIVEN)
    return load(path).automaton


SIGNALS: list[tuple[Signal, float, float]] = [
    (Steps((0.0, 1.0), (3.0, 4.0)), 4.0, 3 + 4 + 2 * 4),
    (Lines((0.0, 4.0), (1.0, 9.0)), 5.0, 2 + 4 + 2 * 5),
    (sine(0, 1, 1), math.sin(2.0), 1 - math.cos(2.0) + 2 * math.sin(2.0)),
]


@pytest.mark.parametrize(("signal", "fed", "made"), SIGNALS)
def test_signals_are_recorded(driven: Automaton, signal: Signal, fed: float, made: float) -> None:
    trace = simulate(driven, until=3.0, inputs={"u": signal})
    segment = trace.segment_at(2.0)
    values = segment.valuation(2.0)
    assert values["u"] == pytest.approx(fed) and values["y"] == pytest.approx(made, abs=1e-5)
    assert from_json(to_json(trace)) == trace
    arcs = DenseValues({}, {"u": signal}).arcs(variable("y"), segment, {})
    start, end, polynomial = next(arc for arc in arcs if arc[0] <= 2.0 <= arc[1])
    u = (2.0 - start) / (end - start)
    assert sum(c * u**k for k, c in enumerate(polynomial)) == pytest.approx(made, abs=1e-5)


def test_levels_that_a_run_chose_are_recorded(driven: Automaton) -> None:
    trace = simulate(driven, until=5.0, policy=Policy.random(), seed=3)
    assert len(trace.segments) > 3
    x = 0.0
    for segment in trace.segments:
        level = float(segment.valuation(segment.start)["u"])
        assert -10 <= level <= 10
        x += level * (segment.end - segment.start)
        assert segment.final[segment.flowing.index("x")] == pytest.approx(x)


def test_agents_on_their_own_clocks_record_inputs() -> None:
    fed = {"throttle": constant_signal(0.25), "brake": constant_signal(0.0)}
    recipe = Recipe(until=2.0, inputs=fed, own_clocks=True)
    trace = RunMaker(load("chasing_cars").automaton, recipe, None).trace(0)
    values = trace.segments[0].valuation(0.05)
    assert values["throttle"] == 0.25 and values["brake"] == 0.0
