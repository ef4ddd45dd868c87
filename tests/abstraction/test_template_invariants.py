"""Template invariants: found, proved exactly, and never for unsafe systems."""

from __future__ import annotations

import time
from fractions import Fraction

import numpy as np
import pytest

from workbench.abstraction.strategies.strategy import Task
from workbench.abstraction.templates.invariant_search import (
    Found,
    NotFound,
    TemplateInvariant,
    search_invariant,
)
from workbench.abstraction.templates.sampled_runs import corner_inputs, sampled_runs
from workbench.abstraction.templates.system import template_system
from workbench.abstraction.verification import deadline, strategy
from workbench.models.automaton import (
    Automaton,
    Constraint,
    HybridAutomaton,
    Initial,
    Input,
    Location,
    Property,
    Range,
    Variable,
)
from workbench.models.expressions.text import parse_expression
from workbench.models.load import load
from workbench.models.lowering.problem import linear_problem
from workbench.models.verdict import Unknown, Verified
from workbench.models.work import spent

LIMIT = 600.0


def damped(bound: str) -> HybridAutomaton:
    """x'' = -2x - x' + u with |u| <= 1, from rest near 0; |x| stays below about 0.9."""
    flows = (
        Constraint("x", Range.exactly(parse_expression("v"))),
        Constraint("v", Range.exactly(parse_expression("u - 2*x - v"))),
    )
    start = parse_expression("x >= -1/10 && x <= 1/10 && v >= 0 && v <= 0")
    return HybridAutomaton(
        name="damped",
        variables=(Variable("x"), Variable("v")),
        locations=(Location("only", flows),),
        initial=(Initial("only", start),),
        inputs=(Input("u", low=Fraction(-1), high=Fraction(1)),),
        properties=(Property("bound", parse_expression(f"x <= {bound}")),),
    )


def attempt(
    automaton: Automaton, method: str = "template", work: float = 30_000.0
) -> Verified | Unknown:
    task = Task(automaton, automaton.properties[0], deadline(LIMIT), budget=spent() + work)
    verdict = strategy(method).attempt(task)
    assert isinstance(verdict, Verified | Unknown)
    return verdict


@pytest.mark.slow
def test_a_disturbed_oscillator_is_bounded() -> None:
    verdict = attempt(damped("6/5"))
    assert isinstance(verdict, Verified)
    assert verdict.horizon is None


def cascade(bound: str) -> HybridAutomaton:
    """Two lags of half a second behind u in [-5, 3], a third of 2/3 s behind these: no variable
    ever leaves [-5, 3], and each comes as close to its ends as one likes."""
    flows = (
        Constraint("x", Range.exactly(parse_expression("3/2*(y - x)"))),
        Constraint("y", Range.exactly(parse_expression("z"))),
        Constraint("z", Range.exactly(parse_expression("4*u - 4*y - 4*z"))),
    )
    start = parse_expression("x == 0 && y == 0 && z == 0")
    return HybridAutomaton(
        name="cascade",
        variables=(Variable("x"), Variable("y"), Variable("z")),
        locations=(Location("only", flows),),
        initial=(Initial("only", start),),
        inputs=(Input("u", low=Fraction(-5), high=Fraction(3)),),
        properties=(Property("bound", parse_expression(f"x >= -5 && x <= {bound}")),),
    )


def test_bounds_are_handed_down_a_cascade_of_lags_without_any_loss() -> None:
    verdict = attempt(cascade("3"))
    assert isinstance(verdict, Verified)
    assert verdict.effort.counts["templates"] == 1


def test_no_less_than_the_bound_of_a_cascade_is_verified() -> None:
    assert isinstance(attempt(cascade("2.99"), work=2000.0), Unknown)


def shared_budget(bound: str) -> HybridAutomaton:
    """x' = u + v - x, where u and v are at most 1 each and also together: x stays below 1."""
    flow = Constraint("x", Range.exactly(parse_expression("u + v - x")))
    return HybridAutomaton(
        name="shared_budget",
        variables=(Variable("x"),),
        locations=(Location("only", (flow,)),),
        initial=(Initial("only", parse_expression("x >= 0 && x <= 1/2")),),
        inputs=tuple(Input(name, low=Fraction(0), high=Fraction(1)) for name in "uv"),
        assumption=parse_expression("u + v <= 1"),
        properties=(Property("bound", parse_expression(f"x <= {bound}")),),
    )


def test_inputs_that_share_a_budget() -> None:
    """Sampled runs must not take each input's largest value at once."""
    assert isinstance(attempt(shared_budget("11/10")), Verified)
    verdict = attempt(shared_budget("9/10"))
    assert isinstance(verdict, Unknown)
    assert "sampled run" in verdict.reason


def test_corners_of_inputs_that_share_a_budget() -> None:
    automaton = shared_budget("2")
    (flow,) = template_system(linear_problem(automaton, automaton.properties[0])).flows
    found = {tuple(row) for row in corner_inputs(flow).tolist()}
    assert found == {(0, 0), (0, 1), (1, 0), (1 / 3, 1 / 3)}


def test_a_bound_that_runs_break_is_not_proved() -> None:
    verdict = attempt(damped("3/10"))
    assert isinstance(verdict, Unknown)
    assert "sampled run" in verdict.reason


@pytest.mark.slow
def test_a_bound_just_beyond_the_runs_is_not_claimed_without_proof() -> None:
    """A level that bang-bang inputs exceed (closed form: the impulse response's norm)."""
    steps = np.linspace(0, 40, 400_001)
    frequency = np.sqrt(2 - 0.25)
    response = np.exp(-steps / 2) * np.sin(frequency * steps) / frequency
    reachable = float(np.trapezoid(np.abs(response), steps))
    verdict = attempt(damped(f"{int(reachable * 1000) - 5}/1000"), work=2000.0)
    assert isinstance(verdict, Unknown)


@pytest.mark.parametrize("name", ["platoon_paper", "platoon_hard", "platoon_accelerating"])
def test_platoons_are_proved_for_all_time(name: str) -> None:
    verdict = attempt(load(name).automaton)
    assert isinstance(verdict, Verified)
    assert verdict.horizon is None


@pytest.mark.slow
@pytest.mark.parametrize("name", ["platoon_gentle", "platoon_mild"])
def test_further_platoons_are_proved_for_all_time(name: str) -> None:
    assert isinstance(attempt(load(name).automaton), Verified)


@pytest.mark.parametrize("name", ["thermostat_timer", "leaky_tank"])
def test_timers_and_switches(name: str) -> None:
    assert isinstance(attempt(load(name).automaton), Verified)


@pytest.mark.parametrize("name", ["thermostat_timer_cold", "leaky_tank_low", "platoon_saturated"])
def test_unsafe_twins_are_not_proved(name: str) -> None:
    model = load(name).automaton
    problem = linear_problem(model, model.properties[0])
    end = time.monotonic() + 3
    found = search_invariant(problem, TemplateInvariant(), lambda: time.monotonic() > end)
    assert isinstance(found, NotFound)


def test_invariants_contain_what_other_runs_visit() -> None:
    """Every state of fresh sampled runs satisfies the proved half-spaces."""
    model = load("platoon_paper").automaton
    problem = linear_problem(model, model.properties[0])
    found = search_invariant(problem, TemplateInvariant(), lambda: False)
    assert isinstance(found, Found)
    system = template_system(problem)
    runs = sampled_runs(system, 0.02, np.random.default_rng(99))
    assert runs is not None
    for region in found.proof.regions:
        points = runs.points([region.location])
        assert points is not None
        for form in region.predicates:
            normal = np.array([float(form.coefficients.get(v, 0)) for v in system.names])
            assert (points @ normal).max() + float(form.constant) <= 1e-6
