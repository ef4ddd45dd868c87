"""Rigorous steps of smooth differential equations from a small set of states.

The set is c + Q r: a point, an orthogonal matrix of floats (exact as they are), and a box. One
step of length h, with f^[i] the i-th Taylor coefficient of the solution as a function of the
state:

- an a-priori enclosure T of the way: X + [0, h] f(T) inside T (Picard);
- the image of the point: sum over i < N of f^[i](c) h^i, plus f^[N](T) h^N;
- the image of the rest by the mean value theorem: J (Q r) with J the derivative of the Taylor
  sum over the hull X; J Q is split by a QR decomposition of its midpoint, which keeps the box
  from turning (wrapping).

For affine equations the solution operator is a matrix exponential instead (`arb_mat.exp`), with
no truncation. Over-approximation throughout; `GaveUp` where a step cannot be proved.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import flint
import numpy

from models.affine import affine_form
from models.differentiate import NotDifferentiableError, differentiate
from models.expression import Expression, variable
from simulate.balls import BallEvaluator, GaveUp, ball

ORDER = 14
PRECISION = 160
PICARD_ROUNDS = 30
SMALLEST = 2.0**-30
TRUNCATION = 1e-12
"""The width that a step may add, relative to 1 + |x|: beyond it the step is shortened."""

Box = list[Any]


@dataclass(frozen=True)
class StateSet:
    """c + Q r."""

    center: tuple[Any, ...]
    matrix: Any
    rest: tuple[Any, ...]

    @classmethod
    def of_box(cls, box: Sequence[Any]) -> StateSet:
        """A box as a set."""
        n = len(box)
        center = tuple(x.mid() for x in box)
        unit = flint.arb_mat(n, n, [int(i == j) for i in range(n) for j in range(n)])
        return cls(center, unit, tuple(x - m for x, m in zip(box, center, strict=True)))

    @cached_property
    def box(self) -> Box:
        """The hull."""
        n = len(self.center)
        spread = self.matrix * flint.arb_mat(n, 1, list(self.rest))
        return [c + spread[i, 0] for i, c in enumerate(self.center)]


@dataclass(frozen=True)
class Step:
    """A proved step: the set at its start, its length, the enclosure of the whole way, and
    the Taylor coefficients over it (`series[i]` on the hull, `last` on the way)."""

    flow: SmoothFlow
    start: StateSet
    h: Any
    way: Box
    series: tuple[tuple[Any, ...], ...]
    last: tuple[Any, ...]

    def tube(self, s: Any) -> Box:
        """All states at times s (a ball within [0, h]) after the start."""
        found = []
        for coefficients, end, way in zip(self.series, self.last, self.way, strict=True):
            value = end
            for c in reversed(coefficients):
                value = value * s + c
            found.append(_meet(value, way))
        return found


class SmoothFlow:
    """x' = f(x) for the given variables; `held` are the values of everything else."""

    def __init__(self, flows: Mapping[str, Expression], held: Mapping[str, Any]):
        self.names = tuple(flows)
        self.flows = dict(flows)
        self.held = dict(held)
        self._f = BallEvaluator(*flows.values())

    def values(self, box: Sequence[Any]) -> dict[str, Any]:
        """The valuation of a box."""
        return {**self.held, **dict(zip(self.names, box, strict=True))}

    def step(self, start: StateSet, h: float) -> Step:
        """Prove a step of at most h; halved until that succeeds."""
        while h >= SMALLEST:
            length = ball_of(h)
            way = self._a_priori(start.box, length)
            if way is not None:
                try:
                    series = self._series(self._f, self.names, start.box, ORDER)
                    last = [c[-1] for c in self._series(self._f, self.names, way, ORDER + 1)]
                except GaveUp:
                    way = None
                else:
                    error = self._truncation(start.box, last, h)
                    if error <= TRUNCATION:
                        return Step(
                            self, start, length, way, tuple(map(tuple, series)), tuple(last)
                        )
                    h = h * max(0.25, min(0.7, (TRUNCATION / error) ** (1 / ORDER)))
                    continue
            h = h / 2
        raise GaveUp("no step is small enough to be proved")

    def image(self, step: Step, s: Any) -> StateSet:
        """The set at an exact time s in [0, h] after the start of a step."""
        start, n = step.start, len(self.names)
        if self.affine is not None:
            point, jacobian = self._exponential(start.center, s)
        else:
            series = self._series(self._f, self.names, list(start.center), ORDER)
            point = [_horner([*c, end], s) for c, end in zip(series, step.last, strict=True)]
            jacobian = self._jacobian(start.box, s)
        center = tuple(x.mid() for x in point)
        error = flint.arb_mat(n, 1, [x - m for x, m in zip(point, center, strict=True)])
        turned = jacobian * start.matrix
        q = _orthogonal(turned, start.rest)
        inverse = q.inv()
        rest = (inverse * turned) * flint.arb_mat(n, 1, list(start.rest)) + inverse * error
        found = StateSet(center, q, tuple(rest[i, 0] for i in range(n)))
        if not all(x.is_finite() for x in found.box):
            raise GaveUp("the enclosure is not finite")
        return found

    def _truncation(self, box: Box, last: Sequence[Any], h: float) -> float:
        if self.affine is not None:
            return 0.0
        worst = max(
            (float(c.rad()) / (1.0 + abs(float(x.mid()))) for c, x in zip(last, box, strict=True)),
            default=0.0,
        )
        return worst * h**ORDER

    # Details

    @cached_property
    def affine(self) -> Any:
        """The matrix of (x, 1)' = A (x, 1), if the equations are affine with exact
        coefficients; else None."""
        n = len(self.names)
        matrix = flint.arb_mat(n + 1, n + 1)
        for i, root in enumerate(self.flows.values()):
            form = affine_form(root)
            if form is None:
                return None
            matrix[i, n] = matrix[i, n] + ball(form.constant)
            for name, factor in form.coefficients.items():
                if name in self.names:
                    j = self.names.index(name)
                    matrix[i, j] = matrix[i, j] + ball(factor)
                elif isinstance(self.held.get(name), flint.arb):
                    matrix[i, n] = matrix[i, n] + ball(factor) * self.held[name]
                else:
                    return None
        return matrix

    def _exponential(self, center: Sequence[Any], s: Any) -> tuple[list[Any], Any]:
        n = len(self.names)
        whole = (self.affine * s).exp()
        jacobian = flint.arb_mat(n, n, [whole[i, j] for i in range(n) for j in range(n)])
        image = jacobian * flint.arb_mat(n, 1, list(center))
        return [image[i, 0] + whole[i, n] for i in range(n)], jacobian

    def _a_priori(self, box: Box, h: Any) -> Box | None:
        time = flint.arb(0).union(h)
        try:
            way = [x + time * f for x, f in zip(box, self._f(self.values(box)), strict=True)]
            for _ in range(PICARD_ROUNDS):
                image = [x + time * f for x, f in zip(box, self._f(self.values(way)), strict=True)]
                if not all(x.is_finite() for x in image):
                    return None
                if all(w.contains(x) for w, x in zip(way, image, strict=True)):
                    return image
                way = [_inflated(w.union(x)) for w, x in zip(way, image, strict=True)]
        except GaveUp:
            return None
        return None

    def _series(
        self, f: BallEvaluator, names: Sequence[str], box: Sequence[Any], order: int
    ) -> list[list[Any]]:
        """Taylor coefficients 0 .. order-1 of the solution from a box."""
        coefficients = [[x] for x in box]
        for k in range(order - 1):
            values: dict[str, Any] = dict(self.held)
            for name, row in zip(names, coefficients, strict=True):
                values[name] = flint.arb_series(row, k + 1)
            with _cap(k + 1):
                derivatives = f(values)
            for row, d in zip(coefficients, derivatives, strict=True):
                value = d[k] if isinstance(d, flint.arb_series) else (d if k == 0 else ball(0))
                if not value.is_finite():
                    raise GaveUp("a derivative has no finite bound")
                row.append(value / (k + 1))
        return coefficients

    @cached_property
    def _variational(self) -> tuple[tuple[str, ...], BallEvaluator]:
        """The equations with those of the derivatives by the initial state."""
        n = len(self.names)
        derivatives = [f"d {i} {j}" for i in range(n) for j in range(n)]
        roots = list(self.flows.values())
        try:
            gradient = [[differentiate(f, name) for name in self.names] for f in roots]
        except NotDifferentiableError as error:
            raise GaveUp(f"the equations are not smooth: {error}") from error
        for i in range(n):
            for j in range(n):
                total = gradient[i][0] * variable(f"d 0 {j}")
                for k in range(1, n):
                    total = total + gradient[i][k] * variable(f"d {k} {j}")
                roots.append(total)
        return (*self.names, *derivatives), BallEvaluator(*roots)

    def _jacobian(self, box: Box, s: Any) -> Any:
        names, f = self._variational
        n = len(self.names)
        unit = [ball(int(i == j)) for i in range(n) for j in range(n)]
        series = self._series(f, names, [*box, *unit], ORDER)
        return flint.arb_mat(n, n, [_horner(row, s) for row in series[n:]])


def ball_of(x: float) -> Any:
    """A float, exactly."""
    return flint.arb(x)


def _horner(coefficients: Sequence[Any], s: Any) -> Any:
    value = coefficients[-1]
    for c in reversed(coefficients[:-1]):
        value = value * s + c
    return value


def _meet(a: Any, b: Any) -> Any:
    return a.intersection(b) if a.overlaps(b) else a


def _inflated(x: Any) -> Any:
    return x + (x - x.mid()) * ball_of(0.125) + flint.arb(0, 1e-30)


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


class _cap:  # noqa: N801 - a context manager used like a function
    """The length of power series, set for a while."""

    def __init__(self, length: int):
        self.length = length

    def __enter__(self) -> None:
        self.before, flint.ctx.cap = flint.ctx.cap, self.length

    def __exit__(self, *_: object) -> None:
        flint.ctx.cap = self.before
