"""Falsification: what is unsafe is found and confirmed, what is safe never."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest

from workbench.models.automaton import Property
from workbench.models.catalogue import Expectation, Verdict, entries
from workbench.models.load import load
from workbench.models.trace import Ending
from workbench.simulate.inputs.signals import Formula, Steps
from workbench.simulate.monitoring.run_check import RunCheck
from workbench.simulate.monitoring.stl import parse_formula
from workbench.simulate.policy import Level, Policy, Switching
from workbench.simulate.recipe import Recipe, read_recorded, recorded, repeat
from workbench.simulate.run import prepare, simulate
from workbench.simulate.search.approach import Approach
from workbench.simulate.search.cma import CovarianceSearch
from workbench.simulate.search.counterexample import confirm, enclosed_at_length
from workbench.simulate.search.doubt import Cause
from workbench.simulate.search.falsification import Budget, Options, Outcome, falsify
from workbench.simulate.search.objective import Objective, focused
from workbench.simulate.search.search_space import SearchSpace, Shape
from workbench.simulate.search.searcher import Searcher
from workbench.simulate.search.shrinking import Shrinker
from workbench.simulate.stepping.methods import Taylor
from workbench.simulate.validated.allowance import Allowance

PLAIN = Options(seed=1, rigorous=())


def claim_of(name: str, claim: str | None = None) -> tuple[object, Property]:
    automaton = load(name).automaton
    chosen = next(p for p in automaton.properties if claim in (None, p.name))
    return automaton, chosen


def search(name: str, claim: str | None = None, budget: int = 600, **options: object) -> Outcome:
    automaton, chosen = claim_of(name, claim)
    settings = replace(PLAIN, **options)  # type: ignore[arg-type]
    return falsify(automaton, chosen, Budget(budget), settings)  # type: ignore[arg-type]


def expectations(verdict: Verdict) -> list[tuple[str, str]]:
    return [(e.name, x.name) for e in entries() for x in e.expectations if _is(x, verdict)]


def _is(expectation: Expectation, verdict: Verdict) -> bool:
    return expectation.verdict is verdict


HEAVY = (
    "bumper_cars",
    "platoon_convoy",
    "adaptive_cruise",
    "arch_",
    "torricelli_tank",
    "chasing_cars",
)


def cases(verdict: Verdict) -> list[object]:
    return [
        pytest.param(
            name,
            claim,
            marks=pytest.mark.slow if name.startswith(HEAVY) else (),
            id=f"{name}: {claim}",
        )
        for name, claim in expectations(verdict)
    ]


@pytest.mark.parametrize(("name", "claim"), cases(Verdict.UNSAFE))
def test_every_unsafe_property_of_the_library_is_falsified(name: str, claim: str) -> None:
    found = search(name, claim, budget=3000).found
    assert found is not None
    assert found.violation > 0 and len(found.confirmations) >= 2
    assert found.trace.outcome.ending is Ending.VIOLATION
    assert found.trace.outcome.name == claim


@pytest.mark.slow
@pytest.mark.parametrize(("name", "claim"), cases(Verdict.SAFE))
def test_no_safe_property_of_the_library_is_falsified(name: str, claim: str) -> None:
    automaton, chosen = claim_of(name, claim)
    budget = Budget(60, time.monotonic() + 1.0)
    assert falsify(automaton, chosen, budget, PLAIN).found is None  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "claim"), expectations(Verdict.SAFE))
def test_no_safe_property_is_falsified_by_a_long_search(name: str, claim: str) -> None:
    automaton, chosen = claim_of(name, claim)
    budget = Budget(3000, time.monotonic() + 20.0)
    options = replace(PLAIN, seed=7)
    assert falsify(automaton, chosen, budget, options).found is None  # type: ignore[arg-type]


def test_saturated_platoon_is_shrunk_to_the_known_counterexample() -> None:
    found = search("platoon_saturated").found
    assert found is not None
    assert found.recipe.initial == {"velFirst": 15.0, "velOther": 25.0, "dist": 20.0}
    assert found.recipe.inputs["velFirst.inclusion"] == Steps((0.0,), (0.0,))
    assert found.trace.outcome.time == pytest.approx(1.94146, abs=1e-4)
    assert len(found.trace.jumps) == 1


def test_equal_seeds_give_equal_searches_with_any_number_of_workers() -> None:
    first = search("infusion_pump", budget=120, seed=5)
    again = search("infusion_pump", budget=120, seed=5)
    shared = search("infusion_pump", budget=120, seed=5, workers=2)
    assert first.simulations == again.simulations == shared.simulations == 120
    assert first.robustness == again.robustness == shared.robustness
    assert first.closest == again.closest == shared.closest
    assert search("infusion_pump", budget=120, seed=6).closest != first.closest


def test_a_saved_counterexample_repeats() -> None:
    automaton, claim = claim_of("fischer_hasty")
    found = falsify(automaton, claim, Budget(3000), PLAIN).found  # type: ignore[arg-type]
    assert found is not None
    text = recorded(found.trace, found.recipe, "sha")
    trace, recipe, sha256 = read_recorded(text)
    assert sha256 == "sha" and recipe is not None
    assert trace.outcome == found.trace.outcome
    only = focused(automaton, claim)  # type: ignore[arg-type]
    again = repeat(only, recipe)
    assert again.outcome == found.trace.outcome
    assert again.jumps == found.trace.jumps
    other = repeat(only, recipe, method=Taylor(1e-10, 1e-12))
    assert other.outcome.time == pytest.approx(trace.outcome.time, rel=1e-6)


@pytest.mark.slow
def test_touching_the_boundary_is_not_confirmed() -> None:
    """The ball touches the floor at every bounce, within rounding on either side."""
    outcome = search("bouncing_ball", "never below the floor", budget=100)
    assert outcome.found is None
    assert abs(outcome.robustness) < 1e-9


def test_confirmation_refuses_a_run_that_only_a_coarse_method_makes() -> None:
    automaton, claim = claim_of("platoon_paper")
    objective = Objective(automaton, claim)  # type: ignore[arg-type]
    space = SearchSpace(objective.prepared(), Shape(10.0))
    assert confirm(objective, space.recipe([0.0] * space.dimension)) == ()


@pytest.mark.slow
def test_shrinking_keeps_a_violation() -> None:
    automaton, claim = claim_of("platoon_unclamped")
    objective = Objective(automaton, claim)  # type: ignore[arg-type]
    space = SearchSpace(objective.prepared(), Shape(40.0, pieces=4))
    generator = Random(3)
    while True:
        x = [generator.random() for _ in range(space.dimension)]
        recipe = space.recipe(x)
        if objective.evaluate(recipe).margin < -0.5:
            break
    shrunk = Shrinker(objective, recipe).shrink()
    assert objective.evaluate(shrunk).margin < 0
    assert shrunk.until <= recipe.until
    digits = [len(repr(v)) for v in shrunk.initial.values()]
    assert sum(digits) < sum(len(repr(v)) for v in recipe.initial.values())


def test_temporal_formulas_are_falsified() -> None:
    automaton = load("platoon_paper").automaton
    wrong = parse_formula("always[0,10](dist > 30 || eventually[0,1] velOther < 5)")
    outcome = falsify(automaton, wrong, Budget(300), PLAIN)
    assert outcome.found is not None and outcome.found.violation > 0
    right = parse_formula("always[0,10](dist > 1)")
    assert falsify(automaton, right, Budget(60), PLAIN).found is None
    open_ended = parse_formula("eventually (dist > 1000)")
    assert falsify(automaton, open_ended, Budget(20), PLAIN).found is None


def test_points_outside_the_initial_set_are_moved_into_it() -> None:
    automaton, claim = claim_of("platoon_paper")
    objective = Objective(automaton, claim)  # type: ignore[arg-type]
    for start in (0, 1):
        space = objective.space(Shape(1.0, start=start))
        generator = Random(start)
        for _ in range(20):
            x = [generator.uniform(-0.2, 1.2) for _ in range(space.dimension)]
            trace = objective.run(space.recipe(x))
            assert trace.segments, trace.outcome.sentence
            at_once = trace.jumps[0].source if trace.jumps and trace.jumps[0].time == 0 else None
            assert (at_once or trace.segments[0].location) == space.start.location


# The check of traces


def test_library_runs_pass_the_check() -> None:
    for name in (
        "platoon_paper",
        "fischer",
        "thermostat_timer",
        "simplex_pendulum",
        "battery_charger",
    ):
        prepared = prepare(load(name).automaton)
        check = RunCheck(prepared)
        for switching in Switching:
            space = SearchSpace(prepared, Shape(10.0, 2, switching))
            recipe = space.recipe([0.3] * space.dimension)
            trace = repeat(prepared, recipe, method=Taylor(1e-9, 1e-11), max_jumps=200)
            assert check.problems(trace, recipe.inputs) == []


def test_wrong_traces_do_not_pass_the_check() -> None:
    prepared = prepare(load("bouncing_ball").automaton)
    check = RunCheck(prepared)
    trace = simulate(prepared, until=6.0)
    assert len(trace.segments) >= 3
    assert check.problems(trace, {}) == []
    first = trace.segments[0]
    faster = first.coefficients[:]
    faster[1] += 1.0
    wrong_flow = replace(first, coefficients=faster)
    assert check.problems(replace(trace, segments=(wrong_flow, *trace.segments[1:])), {})
    assert check.problems(replace(trace, segments=(*trace.segments[:1], *trace.segments[2:])), {})
    assert check.problems(replace(trace, segments=trace.segments[1:], events=()), {})
    silent = replace(trace, events=())
    assert check.problems(silent, {})
    other = simulate(prepare(load("bouncing_ball_lively").automaton), until=3.0)
    assert check.problems(other, {})


def test_signals_and_parameters_out_of_bounds_do_not_pass_the_check() -> None:
    automaton = load("arch_plaa01").automaton
    prepared = prepare(automaton)
    check = RunCheck(prepared)
    for level, quality, good in ((-9.0, 0.5, True), (-9.01, 0.5, False), (0.0, 1.5, False)):
        signal = Steps((0.0,), (level,))
        trace = simulate(
            prepared, until=1.0, inputs={"leader": signal}, parameters={"quality": quality}
        )
        assert (check.problems(trace, {"leader": signal}) == []) == good


# The search itself


@pytest.mark.parametrize("n", [2, 5, 12])
def test_covariance_search_finds_the_minimum_of_a_narrow_valley(n: int) -> None:
    def rosenbrock(x: list[float]) -> float:
        return sum(100 * (b - a * a) ** 2 + (1 - a) ** 2 for a, b in pairwise(x))

    search = CovarianceSearch([0.2] * n, 0.3, Random(1))
    best = math.inf
    for _ in range(600 * n):
        points = search.ask()
        costs = [rosenbrock(x) for x in points]
        best = min(best, *costs)
        search.tell(costs)
        if best < 1e-8:
            break
    assert best < 1e-6


def test_searcher_reaches_a_corner_and_repeats_itself() -> None:
    def course() -> tuple[float, list[float]]:
        searcher = Searcher(6, Random(4))
        for _ in range(60):
            points = searcher.ask()
            searcher.tell(
                [
                    sum((v - w) ** 2 for v, w in zip(x, (1, 0, 0.3, 0, 1, 0.7), strict=True))
                    for x in points
                ]
            )
        return searcher.cost, searcher.best

    cost, best = course()
    assert cost < 1e-3
    assert (cost, best) == course()


def test_recipe_survives_the_file() -> None:
    automaton = load("platoon_paper").automaton
    recipe = Recipe(
        until=2.0,
        initial={"dist": 50.0},
        inputs={"velFirst.inclusion": Steps((0.0, 1.0), (0.0, 1.0))},
        policy=Policy(Switching.RANDOM, Level.RANDOM, script=(0.25, 0.5)),
        seed=9,
        method=Taylor(),
    )
    trace = repeat(automaton, recipe)
    _, read, _ = read_recorded(recorded(trace, recipe, ""))
    assert read == recipe.with_decisions(trace.decisions)
    assert repeat(automaton, read).final() == trace.final()


TWO_INPUTS = """\
mode Tank() {
  write analog real x;
  read analog real u, w;
  diff { d(x) == u + w - x; }
}

agent Plant() {
  private analog real x = 0;
  read analog real u, w;
  assume { u >= 0 && u <= 1 && w >= 0 && w <= 1 && u + w <= 1.2 }
  mode top = Tank();
  assert "low" { x <= 1.21 }
  assert "lower" { x <= 1.1 }
}
"""


@pytest.mark.parametrize("linear", [False, True])
def test_assumptions_about_inputs_are_kept(tmp_path: Path, linear: bool) -> None:
    path = tmp_path / "plant.charon"
    path.write_text(TWO_INPUTS)
    automaton = load(str(path)).automaton
    low, lower = automaton.properties
    options = replace(PLAIN, linear=linear, until=10.0)
    assert falsify(automaton, low, Budget(150), options).found is None
    found = falsify(automaton, lower, Budget(600), options).found
    assert found is not None
    u, w = found.recipe.inputs["u"], found.recipe.inputs["w"]
    for signal in (u, w):
        assert not isinstance(signal, Formula)
        assert all(0 <= v <= 1 for v in signal.values)
    again = repeat(focused(automaton, lower), found.recipe)
    assert again.outcome == found.trace.outcome


MAZE = """\
mode Room() {
  write analog real x, y;
  read analog real u;
  diff { d(x) == 1; d(y) == u; }
  inv { x <= 10 }
}

mode Crashed() {
  write analog real x, y;
  diff { d(x) == 0; d(y) == 0; }
  forbid "crash" { true }
}

mode Top() {
  write analog real x, y;
  read analog real u;
  mode first = Room();
  mode second = Room();
  mode crash = Crashed();
  trans from init to first;
  urgent trans from first to second when x >= 3 && y >= 2.9 && y <= 2.95;
  urgent trans from second to crash when x >= 7 && y <= -1 && y >= -1.05;
}

agent Maze() {
  private analog real x = 0, y = 0;
  read analog real u;
  assume { u >= -2 && u <= 2 }
  mode top = Top();
}
"""


def test_a_bad_location_behind_two_doors_is_approached_and_found(tmp_path: Path) -> None:
    path = tmp_path / "maze.charon"
    path.write_text(MAZE)
    automaton = load(str(path)).automaton
    claim = automaton.properties[0]
    objective = Objective(automaton, claim)
    approach = Approach(objective.prepared(), claim)

    def distance(*levels: float) -> float:
        times = tuple(2.0 * i for i in range(len(levels)))
        signal = Steps(times, levels)
        recipe = Recipe(until=9.0, inputs={"u": signal}, stop_on_violation=False)
        return approach.distance(objective.run(recipe), {"u": signal})

    assert 1 < distance(0.0) < 2  # in the first room, far from its door
    assert distance(0.0) > distance(0.5)  # nearer to it
    assert distance(0.97) < 1  # through the first door
    assert distance(0.97, 0.97, -1.0) < distance(0.97)
    outcome = falsify(automaton, claim, Budget(2000), replace(PLAIN, until=10.0))
    assert outcome.found is not None
    assert [e.target for e in outcome.found.trace.jumps] == ["second", "crash"]


def test_a_pole_after_the_violation_does_not_hide_it(tmp_path: Path) -> None:
    """x' = x^2 from 1 passes 100 at t = 0.99 and explodes at t = 1."""
    path = tmp_path / "pole.charon"
    path.write_text(
        "mode Grow() { write analog real x; diff { d(x) == x^2; } }\n"
        "agent A() { private analog real x = 1; mode top = Grow(); assert { x <= 100 } }\n"
    )
    automaton = load(path).automaton
    found = falsify(automaton, automaton.properties[0], Budget(20)).found
    assert found is not None
    assert found.trace.outcome.time == pytest.approx(0.99, abs=1e-6)


def test_steps_are_counted_over_all_stretches(tmp_path: Path) -> None:
    """Every jump ends a stretch of few steps."""
    path = tmp_path / "saw.charon"
    path.write_text(
        "mode Tooth() { write analog real x; diff { d(x) == 1; } inv { x <= 1 } }\n"
        "mode Saw() { write analog real x; mode t = Tooth(); trans from init to t;\n"
        "  trans from t to t when x >= 1 do { x = 0; } }\n"
        "agent A() { private analog real x = 0; mode top = Saw(); }\n"
    )
    automaton = load(path).automaton
    trace = simulate(automaton, until=300.0, method=Taylor(1e-10, 1e-12, max_steps=50))
    assert trace.outcome.ending is Ending.STEP_LIMIT
    assert 10 < len(trace.jumps) <= 50


# Doubtful runs


def test_a_guard_that_is_only_touched_is_named_and_takes_little_work(tmp_path: Path) -> None:
    """x peaks at exactly 1 from y = 2: x > 1 never holds, though every method makes the jump."""
    model = tmp_path / "touched.charon"
    model.write_text(
        """mode Fly() { write analog real x, y, z; diff { d(x) == y; d(y) == -2; d(z) == 0; } }
        mode Bad() { write analog real x, y, z; diff { d(x) == 0; d(y) == 0; d(z) == 1; } }
        mode Top() {
          write analog real x, y, z;
          mode fly = Fly(); mode bad = Bad();
          trans from init to fly;
          trans #hit from fly to bad when x > 1;
        }
        agent A() {
          private analog real x, y, z;
          init { x = 0; y in [0, 2]; z = 0; }
          mode top = Top();
          assert "never bad" { z <= 0.5 }
        }
        system A() until 6;"""
    )
    automaton = load(str(model)).automaton
    outcome = falsify(automaton, automaton.properties[0], Budget(3))
    assert outcome.found is None
    assert [doubt.cause for doubt in outcome.doubts] == [Cause.UNCLEAR]
    assert "`hit` at t = 1 may only touch its guard" in outcome.doubts[0].detail


def test_enclosures_end_when_their_allowance_is_spent() -> None:
    automaton, claim = claim_of("platoon_saturated")
    assert isinstance(claim, Property)
    found = falsify(automaton, claim, Budget(100), PLAIN).found
    assert found is not None
    recipe, trace = found.recipe, found.trace
    enough, late = Allowance(100), Allowance(deadline=time.monotonic())
    assert enclosed_at_length(automaton, claim, recipe, trace, enough) is not None
    assert 0 <= enough.steps < 100
    assert enclosed_at_length(automaton, claim, recipe, trace, Allowance(1)) is None
    assert enclosed_at_length(automaton, claim, recipe, trace, late) is None


DISCONTINUOUS = {
    "a condition": ("d(x) == (y >= 0.5 ? 2 : 0); d(y) == 1;", "", "x <= 0.99", 0.995),
    "a table": (
        "d(x) == g(y); d(y) == 1;",
        "table g(real s) previous { 0: 0, 0.5: 2 }",
        "x <= 0.99",
        0.995,
    ),
}


@pytest.mark.parametrize("name", DISCONTINUOUS)
def test_right_hand_sides_that_jump_are_confirmed(name: str, tmp_path: Path) -> None:
    """x = 2 (t - 0.5) from t = 0.5 on: 1 at the end."""
    flow, table, claim, when = DISCONTINUOUS[name]
    for wanted, unsafe in ((claim, True), ("x <= 1", False)):
        model = tmp_path / f"{unsafe}.charon"
        model.write_text(
            f"""{table}
            mode T() {{ write analog real x, y; diff {{ {flow} }} }}
            agent A() {{
              private analog real x, y;
              init {{ x = 0; y = 0; }}
              mode top = T();
              assert "p" {{ {wanted} }}
            }}
            system A() until 1;"""
        )
        automaton = load(str(model)).automaton
        found = falsify(automaton, automaton.properties[0], Budget(6), PLAIN).found
        assert (found is not None) == unsafe
        assert found is None or found.time == pytest.approx(when)


def test_no_time_passes_where_the_range_of_a_derivative_is_empty(tmp_path: Path) -> None:
    """d(x) in [25 p, 10 + 10 p] is empty for p > 2/3; at p = 2/3 x is 50/3 t."""
    model = tmp_path / "empty.charon"
    source = """const real p in [0.7, 1];
        mode T() { write analog real x, t, z;
          diff { d(x) in [25*p*z, (10 + 10*p)*z]; d(t) == 1; d(z) == 0; } }
        agent A() { private analog real x, t, z; init { x = 0; t = 0; z = 1; }
          mode top = T(); assert "p" { x <= 16*t } }
        system A() until 1;"""
    model.write_text(source)
    automaton = load(str(model)).automaton
    outcome = falsify(automaton, automaton.properties[0], Budget(30), PLAIN)
    assert outcome.found is None and not outcome.doubts
    assert outcome.robustness == 0  # of the first state, beyond which nothing comes
    model.write_text(source.replace("[0.7, 1]", "[0, 1]"))
    automaton = load(str(model)).automaton
    found = falsify(automaton, automaton.properties[0], Budget(300), PLAIN).found
    assert found is not None and 0.6 <= found.recipe.parameters["p"] <= 2 / 3
