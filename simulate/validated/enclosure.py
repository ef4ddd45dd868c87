"""Rigorous steps of differential equations from a small set of states.

The set is c + Q r: a point, an orthogonal matrix of floats (exact as they are), and a box. One
step of length h, with f^[i] the i-th Taylor coefficient of the solution as a function of the
state:

- an a-priori enclosure T of the way: X + [0, h] f(T) inside T (Picard);
- the pieces of piecewise equations that apply on T, which leave smooth equations;
- the image of the point: sum over i < N of f^[i](c) h^i, plus f^[N](T) h^N;
- the image of the rest by the mean value theorem: J (Q r) with J the derivative of the Taylor
  sum over the hull X; J Q is split by a QR decomposition of its midpoint, which keeps the box
  from turning (wrapping).

A kink (where two pieces meet) is passed in one very short step X + s f(T) with all pieces
merged: f is continuous there, or every condition that changes does so strictly monotonically
along all of the merged f, so that solutions cross it once. Over-approximation throughout;
`GaveUp` where a step cannot be proved.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Protocol

import flint
import numpy

from workbench.models.expressions.differentiate import NotDifferentiableError, differentiate
from workbench.models.expressions.expression import Expression
from workbench.models.expressions.operators import COMPARISONS, Op
from workbench.models.expressions.table import Interpolation
from workbench.models.expressions.traversal import postorder
from workbench.models.record import record
from workbench.simulate.validated.balls import BallEvaluator, GaveUp, Undecided, ball
from workbench.simulate.validated.branches import Branches, smooth_on
from workbench.simulate.validated.known_state import difference
from workbench.simulate.validated.smooth_system import ORDER, Box, SmoothSystem, horner

PRECISION = 160
PICARD_ROUNDS = 30
SMALLEST = Fraction(1, 2**36)
"""Shorter steps are not tried, except towards a kink."""

KINK = Fraction(1, 2**60)
LONGEST_KINK = Fraction(1, 2**30)
"""A kink is passed in steps of at least, and at most, these lengths."""

TRUNCATION = 1e-18
"""The width that a step may add, relative to 1 + |x|: beyond it the step is shortened."""


@record
class StateSet:
    """c + Q r, in the given variables."""

    names: tuple[str, ...]
    center: tuple[Any, ...]
    matrix: Any
    rest: tuple[Any, ...]

    @classmethod
    def of_box(cls, box: Mapping[str, Any]) -> StateSet:
        """A box as a set."""
        n = len(box)
        center = tuple(x.mid() for x in box.values())
        unit = flint.arb_mat(n, n, [int(i == j) for i in range(n) for j in range(n)])
        rest = tuple(x - m for x, m in zip(box.values(), center, strict=True))
        return cls(tuple(box), center, unit, rest)

    @cached_property
    def box(self) -> Box:
        """The hull."""
        n = len(self.center)
        spread = self.matrix * flint.arb_mat(n, 1, list(self.rest))
        return [c + spread[i, 0] for i, c in enumerate(self.center)]

    def moved(self, point: Sequence[Any], jacobian: Any) -> StateSet:
        """The set after a map: `point` encloses the image of c, `jacobian` the derivative."""
        n = len(self.center)
        center = tuple(x.mid() for x in point)
        error = flint.arb_mat(n, 1, [x - m for x, m in zip(point, center, strict=True)])
        turned = jacobian * self.matrix
        q = _orthogonal(turned, self.rest)
        inverse = q.inv()
        rest = (inverse * turned) * flint.arb_mat(n, 1, list(self.rest)) + inverse * error
        found = StateSet(self.names, center, q, tuple(rest[i, 0] for i in range(n)))
        if not all(x.is_finite() for x in found.box):
            raise GaveUp("the enclosure is not finite")
        return found

    def shifted(self, by: Sequence[Any]) -> StateSet:
        """The sums of states and vectors of a box."""
        n = len(self.center)
        center = tuple((c + b.mid()).mid() for c, b in zip(self.center, by, strict=True))
        spread = [old + b - new for old, b, new in zip(self.center, by, center, strict=True)]
        added = self.matrix.inv() * flint.arb_mat(n, 1, spread)
        return StateSet(
            self.names, center, self.matrix, tuple(r + added[i, 0] for i, r in enumerate(self.rest))
        )


@record
class SmoothStep:
    """A proved step: the set at its start, its length, the enclosure of the whole way, and the
    Taylor coefficients (`series[i]` on the hull, `last` on the way)."""

    start: StateSet
    h: Fraction
    way: Box
    system: SmoothSystem
    series: tuple[tuple[Any, ...], ...]
    last: tuple[Any, ...]

    def tube(self, s: Any) -> Box:
        """All states at times s (a ball within [0, h]) after the start."""
        found = []
        for coefficients, end, way in zip(self.series, self.last, self.way, strict=True):
            found.append(_meet(horner([*coefficients, end], s), way))
        return found

    def image(self, s: Any) -> StateSet:
        """The set at the times s in [0, h] after the start."""
        start, system = self.start, self.system
        if system.affine is not None:
            return start.moved(*system.exponential(start.center, s))
        point = [horner([*c, end], s) for c, end in zip(self._central, self.last, strict=True)]
        return start.moved(point, system.jacobian(start.box, s))

    @cached_property
    def _central(self) -> list[list[Any]]:
        return self.system.series(list(self.start.center))


@dataclass(frozen=True)
class KinkStep:
    """A proved step over a kink, with the merged derivatives on the way."""

    start: StateSet
    h: Fraction
    way: Box
    rates: tuple[Any, ...]

    def tube(self, s: Any) -> Box:
        """All states at times s (a ball within [0, h]) after the start."""
        moved = (x + s * rate for x, rate in zip(self.start.box, self.rates, strict=True))
        return [_meet(x, way) for x, way in zip(moved, self.way, strict=True)]

    def image(self, s: Any) -> StateSet:
        """The set at the times s in [0, h] after the start."""
        return self.start.shifted([s * rate for rate in self.rates])


Step = SmoothStep | KinkStep


class Way(Protocol):
    """What leads from a set of states to others."""

    def tube(self, s: Any) -> Box:
        """All states at the places s on the way."""


class Flow:
    """x' = f(x) for the given variables, f piecewise smooth; `held` are the values of
    everything else."""

    def __init__(self, flows: Mapping[str, Expression], held: Mapping[str, Any]):
        self.names = tuple(flows)
        self.flows = dict(flows)
        self.held = dict(held)
        self._branches = Branches(*flows.values())
        self._systems: dict[tuple[Expression, ...], SmoothSystem] = {}
        self._f = BallEvaluator(*flows.values())

    def values(self, box: Sequence[Any]) -> dict[str, Any]:
        """The valuation of a box."""
        return {**self.held, **dict(zip(self.names, box, strict=True))}

    def step(self, start: StateSet, longest: Fraction) -> Step:
        """Prove a step of at most this length; shortened until that succeeds."""
        h, problem = longest, GaveUp("no step is small enough to be proved")
        while h >= (KINK if isinstance(problem, Undecided) else min(SMALLEST, longest / 4)):
            try:
                found = self._attempt(start, h)
            except GaveUp as stopped:
                problem, h = stopped, Fraction(float(h) / 2)
                continue
            error = _truncation(found)
            if error <= TRUNCATION:
                return found
            shrink = max(0.25, min(0.7, (TRUNCATION / error) ** (1 / ORDER)))
            h = Fraction(float(h) * shrink)
        if isinstance(problem, Undecided):
            short = longest if longest <= LONGEST_KINK else KINK
            return self._over_kink(start, short, problem)
        raise problem

    # Details

    def _attempt(self, start: StateSet, h: Fraction) -> SmoothStep:
        way = self._a_priori(self._f, start.box, h)
        system = self._system(self._branches.on(self.values(way)))
        series = tuple(map(tuple, system.series(start.box)))
        last = tuple(c[-1] for c in system.series(way, more=1))
        return SmoothStep(start, h, way, system, series, last)

    def _system(self, rates: tuple[Expression, ...]) -> SmoothSystem:
        if rates not in self._systems:
            self._systems[rates] = SmoothSystem(self.names, rates, self.held)
        return self._systems[rates]

    def _a_priori(self, f: BallEvaluator, box: Box, h: Fraction) -> Box:
        """An enclosure of all solutions from a box for a time h (Picard)."""
        time = flint.arb(0).union(ball(h))
        way = [x + time * r for x, r in zip(box, f(self.values(box)), strict=True)]
        for _ in range(PICARD_ROUNDS):
            image = [x + time * r for x, r in zip(box, f(self.values(way)), strict=True)]
            if not all(x.is_finite() for x in image):
                break
            if all(w.contains(x) for w, x in zip(way, image, strict=True)):
                return image
            way = [_inflated(w.union(x)) for w, x in zip(way, image, strict=True)]
        raise GaveUp("no step is small enough to be proved: the equations are too steep")

    def _over_kink(self, start: StateSet, h: Fraction, problem: Undecided) -> KinkStep:
        merged = BallEvaluator(*self.flows.values(), merged=True)
        way = self._a_priori(merged, start.box, h)
        rates = merged(self.values(way))
        for g in self._switching(way):
            if not self._is_monotone(g, way, rates):
                raise problem
        return KinkStep(start, h, way, tuple(rates))

    def _switching(self, way: Box) -> list[Expression]:
        """The functions by whose zeros the right-hand side jumps on a way."""
        evaluator = BallEvaluator(*self.flows.values(), merged=True)
        values = evaluator.all(self.values(way))
        found: list[Expression] = []
        for node in evaluator.nodes:
            if node.op is Op.IF and not isinstance(values[id(node.args[0])], bool):
                found.extend(
                    difference(part)
                    for part in postorder(node.args[0])
                    if part.op in COMPARISONS and not isinstance(values[id(part)], bool)
                )
            elif _jumps(node) and not values[id(node)].is_exact():
                found.extend(node.args)
        return found

    def _is_monotone(self, g: Expression, way: Box, rates: Sequence[Any]) -> bool:
        values, slope = self.values(way), flint.arb(0)
        try:
            g = smooth_on(g, values)
            for name, rate in zip(self.names, rates, strict=True):
                slope = slope + BallEvaluator(differentiate(g, name))(values)[0] * rate
        except (GaveUp, NotDifferentiableError):
            return False
        return bool(slope > 0 or slope < 0)


def _jumps(node: Expression) -> bool:
    if node.op is Op.LOOKUP:
        return bool(node.table.interpolation is Interpolation.PREVIOUS)
    return node.op in (Op.SIGN, Op.FLOOR)


def _truncation(step: SmoothStep) -> float:
    """What the remainder adds to the width, relative to the state."""
    if step.system.affine is not None:
        return 0.0
    worst = max(
        (
            float(c.rad()) / (1.0 + abs(float(x.mid())))
            for c, x in zip(step.last, step.start.box, strict=True)
        ),
        default=0.0,
    )
    return worst * float(step.h) ** ORDER


def _meet(a: Any, b: Any) -> Any:
    return a.intersection(b) if a.overlaps(b) else a


def _inflated(x: Any) -> Any:
    return x + (x - x.mid()) * flint.arb(0.125) + flint.arb(0, 1e-30)


def _orthogonal(matrix: Any, rest: Sequence[Any]) -> Any:
    """An orthogonal matrix of floats whose first columns follow the longest edges."""
    n = matrix.nrows()
    middle = numpy.array([[float(matrix[i, j].mid()) for j in range(n)] for i in range(n)])
    lengths = numpy.array([float(r.rad()) for r in rest])
    if not numpy.isfinite(middle).all():
        raise GaveUp("the enclosure grows beyond all bounds")
    order = numpy.argsort(-lengths * numpy.linalg.norm(middle, axis=0), kind="stable")
    q, _ = numpy.linalg.qr(middle[:, order])
    return flint.arb_mat(n, n, [float(v) for v in q.flatten()])
