"""Runs along a polynomial flow, repeated in exact arithmetic by the meaning of the model.

A run here is one stay: an initial state, every variable as a polynomial in the time since, with
rational coefficients, and a duration. That it is a run of the model, and ends in a state that
breaks the claim, is decided exactly (`models.expressions.polynomial_flow`), whatever suggested it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from workbench.models.automaton import INT, TIME, Automaton, Kind, Property
from workbench.models.expressions.evaluation import (
    EvaluationError,
    Scalar,
    evaluate,
    evaluate_number,
)
from workbench.models.expressions.expression import conjunction
from workbench.models.expressions.polynomial_flow import (
    NotPolynomialInTimeError,
    Polynomial,
    Trajectory,
    along,
    always,
    derivative,
    held,
    polynomial,
    value_at,
)
from workbench.reach.rectangular.exact_replay import is_initial


@dataclass(frozen=True)
class PolynomialRun:
    """A stay of some duration in a location; `moves` says how variables change, the others
    keep their initial values."""

    location: str
    initial: Mapping[str, Scalar]
    moves: Mapping[str, Polynomial]
    duration: Fraction

    @property
    def trajectory(self) -> Trajectory:
        """All variables along the run, and the time."""
        return {**held(self.initial), **self.moves, TIME: polynomial(0, 1)}

    @property
    def final(self) -> dict[str, Scalar]:
        """The values at the end."""
        moved = {name: value_at(p, self.duration) for name, p in self.moves.items()}
        return {**self.initial, **moved, TIME: self.duration}


def objection(
    automaton: Automaton, claim: Property, run: PolynomialRun, horizon: Fraction | None
) -> str | None:
    """Why the run is no run of the automaton that breaks the claim within the horizon; None if
    it is one."""
    if automaton.inputs:
        return "the model has inputs"
    if run.duration < 0 or (horizon is not None and run.duration > horizon):
        return "the violation is not within the horizon"
    try:
        return _broken(automaton, claim, run)
    except (EvaluationError, NotPolynomialInTimeError) as error:
        return str(error)


def _broken(automaton: Automaton, claim: Property, run: PolynomialRun) -> str | None:
    start = {**run.initial, **({TIME: Fraction(0)} if TIME in run.initial else {})}
    if not is_initial(automaton, run.location, start):
        return "the first state is not an initial one"
    place, trajectory = automaton.location(run.location), run.trajectory
    for v in automaton.variables:
        path = run.moves.get(v.name, ())
        if v.name == TIME:
            continue
        if v.type == INT and Fraction(evaluate_number(v.expression, run.initial)).denominator != 1:
            return f"{v.name} is not a whole number"
        if v.kind is Kind.DISCRETE:
            if v.name in run.moves:
                return f"{v.name} does not flow"
            continue
        rate = place.flow_of(v.name).exact
        if rate is None or v.name not in run.moves:
            return f"the derivative of {v.name} is not one value"
        if value_at(path, Fraction(0)) != run.initial[v.name]:
            return f"{v.name} does not begin at its initial value"
        if along(rate, trajectory) != derivative(path):
            return f"{v.name} does not follow its derivative"
    if any(edge.urgent for edge in automaton.edges_from(run.location)):
        return "an urgent edge leaves the location"
    if not always(conjunction(place.invariant, automaton.assumption), trajectory, run.duration):
        return "the invariant fails on the way"
    bad = claim.bad_states(automaton.occupied(run.location))
    broken = evaluate(bad, run.final) is True
    return None if broken else "the last state does not break the property"
