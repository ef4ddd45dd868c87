"""The time at which a function of the state becomes zero, enclosed by interval Newton.

In a step from a set of states let g have one sign at the start, and let its rate of change g'
along the flow not contain 0. Then on every solution g is monotone, and the Newton image

    N(s) = m - g(x(m)) / g'(x(s)),    m the middle of s,

contains every zero in s; if it lies inside s, every solution has exactly one there. From a state
y at the time m it is reached at the state

    y - f g(y) / g' = (c - f g(c) / g') + (I - f grad(g) / g') (y - c),

with f, g' and grad(g) somewhere in their ranges on the way there (mean value theorem): so the
set does not spread along the flow.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import flint

from workbench.models.expressions.differentiate import NotDifferentiableError, differentiate
from workbench.models.expressions.expression import Expression
from workbench.models.expressions.operators import COMPARISONS
from workbench.models.expressions.polynomial import polynomial_form
from workbench.simulate.validated.balls import BallEvaluator, GaveUp, ball, ends, shortened
from workbench.simulate.validated.branches import smooth_on
from workbench.simulate.validated.enclosure import StateSet, Step
from workbench.simulate.validated.exact_choices import filled_in
from workbench.simulate.validated.known_state import KnownState, difference, key_of, orientation
from workbench.simulate.validated.stay import Crossing, Stay

NEWTON_ROUNDS = 20


@dataclass(frozen=True)
class Crossed:
    """A step, the time after its start at which a function is zero, and what is known then."""

    step: Step
    when: Any
    shape: StateSet
    state: KnownState


def cross(
    stay: Stay, state: KnownState, shape: StateSet, node: Expression, reach: Fraction
) -> Crossed:
    """The only time within reach at which the two sides of a comparison are equal, for every
    state of a set; proved with it is that time may pass until then."""
    step = stay.flow.step(shape, reach)
    tube = stay.flow.values(step.tube(flint.arb(0).union(ball(step.h))))
    g = smooth_on(difference(node), tube)
    rate = stay.slope(g)
    if rate is None:
        raise GaveUp(f"`{shortened(node)}` has no rate of change")
    value = BallEvaluator(g)
    (first,) = value(stay.flow.values(shape.box))
    sign = 1 if first > 0 else (-1 if first < 0 else 0)
    if sign == 0:
        raise GaveUp(f"`{shortened(node)}` is too close to its boundary before the event")
    when = _newton(stay, step, node, value, BallEvaluator(rate))
    exact = _exactly(state, step, g, rate, when)
    when = when if exact is None else ball(exact)
    landed = _landed(stay, step, g, when) if exact is None else step.image(when)
    filled = filled_in(node, state, stay.flows)  # as the requirements of the stay are
    tested = filled if filled.op in COMPARISONS else node
    after = stay.after(state, landed, exact).with_zero(node).with_zero(tested)
    crossing = Crossing(key_of(tested), sign * orientation(tested))
    missing = stay.unproved(step, state, when, crossing, after)
    if missing is not None:
        raise GaveUp(f"{missing.says} until `{shortened(node)}` changes its truth")
    return Crossed(step, when, landed, after)


def _newton(
    stay: Stay, step: Step, node: Expression, value: BallEvaluator, rate: BallEvaluator
) -> Any:
    s, proved = flint.arb(0).union(ball(step.h)), False
    for _ in range(NEWTON_ROUNDS):
        (slope,) = rate(stay.flow.values(step.tube(s)))
        if not slope.is_finite() or slope.contains(0):
            raise GaveUp(
                f"`{shortened(node)}` is touched, or nearly so, not crossed (tangency): a slightly"
                " different bound or first state may be provable"
            )
        middle = s.mid()
        (at,) = value(stay.flow.values(step.image(middle).box))
        image = middle - at / slope
        proved = proved or s.contains_interior(image)
        if not s.overlaps(image):
            raise GaveUp(f"`{shortened(node)}` does not change its truth near the simulated event")
        narrower = s.intersection(image)
        if proved and float(narrower.rad()) > 0.5 * float(s.rad()):
            return narrower
        s = narrower
    if not proved:
        raise GaveUp(f"`{shortened(node)}` could not be shown to change its truth")
    return s


def _landed(stay: Stay, step: Step, g: Expression, when: Any) -> StateSet:
    """The set of states where g is zero."""
    whole, start = step.image(when), step.image(when.mid())
    n, names = len(whole.names), whole.names
    on_the_way = stay.flow.values(whole.box)
    try:
        gradient = BallEvaluator(*(differentiate(g, name) for name in names))(on_the_way)
        rates = BallEvaluator(*(stay.flows[name] for name in names))(on_the_way)
        (central,) = BallEvaluator(g)(stay.flow.values(start.center))
    except (GaveUp, NotDifferentiableError):
        return whole
    slope = sum((a * b for a, b in zip(gradient, rates, strict=True)), flint.arb(0))
    if slope.contains(0):
        return whole
    point = [c - f * central / slope for c, f in zip(start.center, rates, strict=True)]
    entries = [int(i == j) - rates[i] * gradient[j] / slope for i in range(n) for j in range(n)]
    return start.moved(point, flint.arb_mat(n, n, entries))


def _exactly(
    state: KnownState, step: Step, g: Expression, rate: Expression, when: Any
) -> Fraction | None:
    """The time as a rational number, where g is known exactly and changes at a constant rate."""
    form, first = polynomial_form(rate), state.number(g)
    if form is None or first is None or set(form) != {()}:
        return None
    exact = -first / form[()]
    low, high = ends(when)
    return exact if low <= exact <= high and 0 <= exact <= step.h else None
