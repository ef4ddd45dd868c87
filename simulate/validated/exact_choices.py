"""Exact values for what a run chose: first states, parameters, inputs, values of resets.

A simulated run holds floats. A proof needs rational numbers near them that satisfy the model's
conditions exactly: the decimal number that prints as the float, else a simple fraction beside
it, moved into the range that the model allows. The enclosed run is the one with these values.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any

import flint

from workbench.models.automaton import (
    TIME,
    Automaton,
    Constraint,
    Initial,
    Input,
    Parameter,
    Range,
    primed,
)
from workbench.models.expressions.expression import (
    TRUE,
    Expression,
    boolean,
    conjunction,
    constant,
    symbol,
    variable,
)
from workbench.models.expressions.traversal import substitute
from workbench.models.trace import Scalar
from workbench.simulate.inputs.signals import Formula, Signal, Steps
from workbench.simulate.start.box import box_of
from workbench.simulate.stepping.tape import number
from workbench.simulate.validated.balls import BallEvaluator, GaveUp, ends
from workbench.simulate.validated.known_state import KnownState

Forms = Mapping[str, Expression]
"""What stands for each input."""


def near(value: float) -> Iterator[Fraction]:
    """Rational numbers for a float, the most faithful first."""
    exact = Fraction(repr(float(value)))
    yield exact
    short = exact.limit_denominator(10**6)
    if short != exact and abs(short - exact) <= Fraction(1, 10**9) * (1 + abs(exact)):
        yield short


def decimal(value: float) -> Fraction:
    """The number that prints as a float does."""
    return next(near(value))


def between(
    value: Fraction, low: Fraction | None, high: Fraction | None, whole: bool = False
) -> Fraction:
    """The nearest value of a range that is not empty."""
    if whole:
        value = Fraction(round(value))
        low = None if low is None else Fraction(math.ceil(low))
        high = None if high is None else Fraction(math.floor(high))
    value = value if low is None else max(low, value)
    return value if high is None else min(high, value)


# The first state


def first_state(
    view: Automaton,
    location: str,
    seen: Mapping[str, Scalar],
    parameters: Mapping[str, float],
    forms: Forms,
) -> KnownState:
    """An exact state near the one that was seen, in an initial set, with its entry made."""
    fixed = {p.name: _parameter(p, parameters.get(p.name, 0.0)) for p in view.parameters}
    for start in view.initial_sets():
        if start.location == location:
            for snap in (0, 1):
                found = _entered(view, start, {**fixed, **_rounded(view, seen, snap)}, forms)
                if found is not None:
                    return found
    raise GaveUp(
        f"no exact state near the first one could be shown to be initial in `{location}`; give"
        " round numbers by --init"
    )


def _parameter(given: Parameter, value: float) -> Fraction:
    return between(decimal(value), given.low, given.high, given.type.name == "int")


def _rounded(view: Automaton, seen: Mapping[str, Scalar], snap: int) -> dict[str, Any]:
    found: dict[str, Any] = {TIME: Fraction(0)}
    for v in view.variables:
        if v.name == TIME:
            continue
        value = seen[v.name]
        if isinstance(value, str | bool):
            found[v.name] = value
        elif v.type.name == "int":
            found[v.name] = Fraction(round(value))
        elif not math.isfinite(value):
            raise GaveUp(f"`{v.name}` has no value at the start")
        else:
            options = list(near(value))
            found[v.name] = options[min(snap, len(options) - 1)]
    return found


def _entered(
    view: Automaton, start: Initial, after: dict[str, Any], forms: Forms
) -> KnownState | None:
    """The state after the entry of an initial set, if the set contains a state from which the
    entry leads there."""
    whole = {v.name for v in view.variables if v.type.name == "int"}
    box, before = box_of(start.condition), dict(after)
    for name, value in before.items():
        if isinstance(value, Fraction) and name != TIME:
            before[name] = between(value, box.low.get(name), box.high.get(name), name in whole)
    for name, definition in box.defined:
        if name in before:
            (value,) = values_of([definition], KnownState.exactly(before))
            before[name] = value
    state = KnownState.exactly(before)
    if state.truth(start.condition) is not True:
        return None
    return after_resets(view, state, start.resets, forms, after)


# Resets


def after_resets(
    view: Automaton,
    state: KnownState,
    resets: Iterable[Constraint],
    forms: Forms,
    wanted: Mapping[str, Any],
) -> KnownState:
    """The state after resets; out of a range the wanted value, or the nearest."""
    whole = {v.name for v in view.variables if v.type.name == "int"}
    scope, new = state, {}
    for reset in resets:
        name = reset.variable
        value = _reset_value(
            name, reset.range.substitute(forms), scope, wanted.get(name), name in whole
        )
        scope = scope.assigned({primed(name): value})
        if name in state.values:
            new[name] = value
    return state.without_zeros_of(new.keys()).assigned(new)


def _reset_value(name: str, given: Range, scope: KnownState, wanted: Any, whole: bool) -> Any:
    if given.exact is not None:
        return values_of([given.exact], scope)[0]
    low, high = (None if b is None else values_of([b], scope)[0] for b in (given.low, given.high))
    if isinstance(wanted, Fraction):
        options = [wanted]
    else:
        options = list(near(wanted)) if isinstance(wanted, float) else [Fraction(0)]
    least, most = _inner(low, upward=True), _inner(high, upward=False)
    if whole:
        least = None if least is None else Fraction(math.ceil(least))
        most = None if most is None else Fraction(math.floor(most))
    if least is not None and most is not None and least > most:
        raise GaveUp(f"no value could be shown to be allowed for `{name}` after a jump")
    return between(options[0], least, most, whole)


def _inner(bound: Any, upward: bool) -> Fraction | None:
    """The rational end of a bound that certainly lies inside the range."""
    if bound is None or isinstance(bound, Fraction):
        return bound
    low, high = ends(bound)
    return high if upward else low


def values_of(expressions: list[Expression], state: KnownState) -> list[Any]:
    """The values of expressions: rational where that is known, else balls, truths, symbols."""
    found = []
    for expression in expressions:
        known = state.number(expression)
        if known is None:
            (value,) = BallEvaluator(expression)(state.values)
            if value is None:
                raise GaveUp("is not decided by the enclosure", expression)
            if isinstance(value, flint.arb) and not value.is_finite():
                raise GaveUp("has no finite value", expression)
        found.append(value if known is None else known)
    return found


# Inputs


def input_form(given: Input, signal: Signal | None, level: float | None, at: float) -> Expression:
    """An input from a time on: its signal's piece, or the level that the run gave it."""
    if isinstance(signal, Formula):
        return signal.expression
    if given.type.values:
        return symbol(given.type.values[0])
    if given.type.name == "bool":
        return boolean(bool(level))
    whole = given.type.name == "int"
    if signal is None:
        if level is None or not math.isfinite(level):
            level = number(given.low or Fraction(0)) / 2 + number(given.high or Fraction(0)) / 2
        return constant(between(decimal(level), given.low, given.high, whole))
    i = max(sum(t <= at for t in signal.times) - 1, 0)
    value = decimal(signal.values[i])
    last = i + 1 >= len(signal.times) or at < signal.times[0]
    if isinstance(signal, Steps) or last or signal.values[i] == signal.values[i + 1]:
        return constant(value)
    start, end = decimal(signal.times[i]), decimal(signal.times[i + 1])
    slope = (decimal(signal.values[i + 1]) - value) / (end - start)
    return constant(value - slope * start) + constant(slope) * variable(TIME)


def input_range(given: Input) -> Expression:
    """That an input keeps its range."""
    bounds = [TRUE]
    if given.low is not None:
        bounds.append(variable(given.name) >= constant(given.low))
    if given.high is not None:
        bounds.append(variable(given.name) <= constant(given.high))
    return conjunction(*bounds)


def filled_in(expression: Expression, state: KnownState, moving: Iterable[str]) -> Expression:
    """An expression with the numbers that are known exactly and do not change."""
    known = {n: constant(v) for n, v in state.exact.items() if n not in moving}
    return substitute(expression, known)
