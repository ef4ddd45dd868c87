"""Boundaries that are reached in finite time where equations are singular or come to rest.

A tank that drains by x' = -sqrt(x) is empty after a finite time, with slope 0: no Newton step
finds that time, and no Taylor series passes it. With g the function that becomes zero, write

    |g| = z^n  with z > 0;   |g|' = z^p u   gives   z' = (u / n) z^(p-n+1),

and take z, not the time, as the independent variable (it falls at rate 1):

    dt/d(-z) = -n z^(n-1-p) / u,     dy/d(-z) = y' dt/d(-z).

If p <= n - 1 and u < 0 all the way, these right-hand sides are regular up to z = 0: there every
solution arrives, after the time that this system gives, and g is exactly zero. (For x' = -x,
p = n: the time grows without bound, and nothing is proved.) All derivatives must stay finite:
then solutions go on to the closed end. Over-approximate; `GaveUp` where nothing is proved.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import flint

from workbench.models.automaton import TIME
from workbench.models.expressions.differentiate import NotDifferentiableError, lie_derivative
from workbench.models.expressions.expression import (
    ZERO,
    Expression,
    constant,
    divide,
    multiply,
    power,
    variable,
)
from workbench.models.expressions.literals import ExpressionTooLargeError
from workbench.models.expressions.polynomial import from_polynomial, polynomial_form
from workbench.simulate.validated.balls import BallEvaluator, GaveUp, ball, ends, shortened
from workbench.simulate.validated.enclosure import Flow, StateSet, Step
from workbench.simulate.validated.known_state import KnownState, difference, key_of, orientation
from workbench.simulate.validated.leading_power import NoLeadingPowerError, leading_power
from workbench.simulate.validated.smooth_system import Box
from workbench.simulate.validated.stay import Crossing, Stay

ROOTS = (2, 3, 4, 5, 6, 8, 10, 12)
"""The exponents n that are tried."""

Z = "root of the distance"
"""What z is called; no model has such a name."""


@dataclass(frozen=True)
class Coordinates:
    """The model's variables by z: one of them, `replaced`, is scale * |g| + rest."""

    names: tuple[str, ...]
    replaced: str
    scale: Fraction
    rest: Expression
    n: int

    @property
    def by_root(self) -> tuple[str, ...]:
        """The names of the system in z."""
        return tuple(Z if name == self.replaced else name for name in self.names)

    def place(self) -> Expression:
        """The replaced variable as an expression of z and the others."""
        return multiply(self.scale, power(variable(Z), self.n)) + self.rest

    def states(self, box: Box, held: Mapping[str, Any], arrived: bool = False) -> Box:
        """A box of the system in z as one of the model's variables; z = 0 if it has arrived."""
        values = {**held, **dict(zip(self.by_root, box, strict=True))}
        distance = flint.arb(0) if arrived else values[Z] ** self.n
        (rest,) = BallEvaluator(self.rest)(values)
        values[self.replaced] = ball(self.scale) * distance + rest
        return [values[name] for name in self.names]


@dataclass(frozen=True)
class ArrivalStep:
    """A proved step in z, seen as one of the model's variables."""

    step: Step
    flow: Flow
    coordinates: Coordinates

    def tube(self, s: Any) -> Box:
        """All states while z falls by amounts in s."""
        return self.coordinates.states(self.step.tube(s), self.flow.held)


@dataclass(frozen=True)
class Arrival:
    """A part of the way to a boundary, how far z falls in it, and what is known at its end."""

    step: ArrivalStep
    fall: Any
    shape: StateSet
    state: KnownState


def arrive(stay: Stay, state: KnownState, shape: StateSet, node: Expression) -> Iterator[Arrival]:
    """The way of every state of a set to where the two sides of a comparison are equal, in
    parts; proved with it is that time may pass until then."""
    values = stay.flow.values(shape.box)
    (first,) = BallEvaluator(difference(node))(values)
    sign = 1 if first > 0 else (-1 if first < 0 else 0)
    if sign == 0:
        raise GaveUp(f"`{shortened(node)}` is too close to its boundary before the event")
    coordinates, flow = _system_in_z(stay, node, sign)
    values[Z] = abs(first).root(coordinates.n)
    now = StateSet.of_box({name: values[name] for name in coordinates.by_root})
    (pace,) = BallEvaluator(flow.flows[TIME])(flow.values(now.box))
    if not pace > 0:
        raise GaveUp(f"`{shortened(node)}` is not approached")
    crossing = Crossing(key_of(node), sign * orientation(node))
    arrived = False
    while not arrived:
        z = now.box[now.names.index(Z)]
        longest = ends(z)[1]
        step = flow.step(now, longest)
        arrived = step.h == longest
        fall = z if arrived else ball(step.h)
        now = step.image(fall)
        box = coordinates.states(now.box, flow.held, arrived)
        landed = StateSet.of_box(dict(zip(coordinates.names, box, strict=True)))
        after = stay.after(state, landed, None)
        after = after.with_zero(node) if arrived else after
        seen = ArrivalStep(step, flow, coordinates)
        missing = stay.unproved(seen, state, fall, crossing, after)
        if missing is not None:
            raise GaveUp(f"{missing.says} until `{shortened(node)}` changes its truth")
        yield Arrival(seen, fall, landed, after)
        state = after


def is_singular(stay: Stay, node: Expression) -> bool:
    """Whether a comparison's function has a root of itself in its rate of change, or comes to
    rest at zero."""
    return any(_flow(stay, c) is None for c in _coordinates(stay, node, 1, 1))


def _system_in_z(stay: Stay, node: Expression, sign: int) -> tuple[Coordinates, Flow]:
    """The equations with z as the independent variable, for the first exponent for which they
    are regular."""
    for n in ROOTS:
        for coordinates in _coordinates(stay, node, sign, n):
            flow = _flow(stay, coordinates)
            if flow is not None:
                return coordinates, flow
    raise GaveUp(
        f"`{shortened(node)}` is touched, or nearly so, not crossed (tangency): a slightly"
        " different bound or first state may be provable"
    )


def _coordinates(stay: Stay, node: Expression, sign: int, n: int) -> Iterator[Coordinates]:
    """The ways to replace a variable by z where g, of that sign before, is linear in it."""
    try:
        form = polynomial_form(multiply(sign, difference(node)))
    except ExpressionTooLargeError:
        return
    if form is None:
        return
    for name in stay.flow.names:
        alone = ((name, 1),)
        others = {m: c for m, c in form.items() if m != alone}
        if name == TIME or alone not in form or any(name in dict(m) for m in others):
            continue
        scale = 1 / form[alone]
        rest = multiply(-scale, from_polynomial(others)) if others else ZERO
        yield Coordinates(stay.flow.names, name, scale, rest, n)


def _flow(stay: Stay, coordinates: Coordinates) -> Flow | None:
    """The equations by z; None if they are not regular."""
    n, z = coordinates.n, variable(Z)
    places = {coordinates.replaced: coordinates.place()}
    distance = multiply(1 / coordinates.scale, variable(coordinates.replaced) - coordinates.rest)
    try:
        rate = leading_power(lie_derivative(distance, stay.flows), Z, places)
        given = {x: leading_power(f, Z, places).over(0, z) for x, f in stay.flows.items()}
    except (NoLeadingPowerError, NotDifferentiableError):
        return None
    spare = n - 1 - rate.power
    if rate.power < 0 or spare < 0:
        return None
    pace = divide(multiply(-n, power(z, spare)) if spare else constant(-n), rate.rest)
    flows = {x: multiply(f, pace) for x, f in given.items()}
    flows |= {TIME: pace, Z: constant(-1)}
    return Flow({name: flows[name] for name in coordinates.by_root}, stay.flow.held)
