"""Which steps of a stay will have to be short: its bounds in floating point, before the exact ones.

The bounds of `models.checker.adjoint`, without their roundings, for the rows of bad states and for
all steps at once. Steps that would meet bad states are made shorter until they do not; so the exact
computation, which costs far more, is made once instead of once for each round of refinement.
Nothing here is trusted: a wrong forecast makes steps that are too long or too short.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from workbench.models.checker.adjoint import Stage, gap
from workbench.models.checker.affine_flow import AffineFlow
from workbench.models.checker.start_set import StartSet
from workbench.models.linear import Rows
from workbench.reach.affine.flowpipe_parts import SHORTER, Mark, split_steps
from workbench.reach.affine.matrix_exponential import matrix_exponential
from workbench.reach.affine.step_choice import matrix_of

Array = NDArray[np.float64]

ROUNDS = 3
"""How often steps are made shorter."""

MOMENTS = 16
"""Moments in a step at which inputs are looked at to see what runs reach."""

MOST_NAMES = 200
"""Larger matrices are not exponentiated here."""

MOST_STEPS = 4000
"""A forecast has no more steps than that in one round."""


def steps_to_shorten(
    flow: AffineFlow, start: StartSet, stages: Sequence[Stage], degree: int, bad: Sequence[Rows]
) -> tuple[Mark, ...]:
    """Marks for the steps that would meet one of the bad cases and need not. None where nothing
    can be foreseen, or where runs themselves seem to be bad: there no steps are short enough."""
    goals = [_goal(flow, rows) for rows in bad]
    if flow.corners or len(flow.names) > MOST_NAMES or sum(s.count for s in stages) > MOST_STEPS:
        return ()
    if not goals or not all(len(goal.levels) for goal in goals):
        return ()
    if any(signal.low is None or signal.high is None for signal in flow.signals):
        return ()
    forecast = _Forecast(flow, zonotope_of(start), degree, goals)
    unknown = [j for j, (low, high) in enumerate(start.spans) if low is None or high is None]
    marks: list[Mark] = []
    for _ in range(ROUNDS):
        shortened = split_steps(stages, marks)
        if sum(stage.count for stage in shortened) > MOST_STEPS:
            break
        steps = forecast.along(shortened)
        if steps.runs_are_bad or steps.curves[..., unknown].any():
            return ()
        if not steps.meets.any():
            break
        for k in np.flatnonzero(steps.meets):
            begin, length = steps.begins[k], steps.lengths[k]
            marks.append(Mark(begin, begin + length, length / SHORTER))
    return tuple(marks)


@dataclass(frozen=True)
class _Goal:
    """A case of bad states: it is missed where one direction stays below its level."""

    directions: Array
    levels: Array


def _goal(flow: AffineFlow, rows: Rows) -> _Goal:
    useful = [row.form for row in rows if row.form.coefficients.keys() <= flow.index.keys()]
    useful = [form for form in useful if form.coefficients]
    directions = np.zeros((len(useful), len(flow.names)))
    for i, form in enumerate(useful):
        for name, a in form.coefficients.items():
            directions[i, flow.index[name]] = -float(a)
    return _Goal(directions, np.array([float(form.constant) for form in useful]))


def zonotope_of(start: StartSet) -> FloatZonotope:
    """The start set in floating point, without what names without two bounds add to it."""
    exact, unit = start.zonotope, start.denominator
    names = range(len(exact.centre))
    columns = [{j: radius} for j, radius in enumerate(exact.radii) if radius]
    columns += [] if exact.generators is None else map(dict, exact.generators.columns)
    generators = [[column.get(j, 0) / unit for j in names] for column in columns]
    centre = np.array([v / unit for v in exact.centre])
    return FloatZonotope(centre, np.array(generators).reshape(-1, len(names)))


@dataclass(frozen=True)
class _Steps:
    """Steps with the curves of all directions at their beginnings; whether they meet bad
    states, and whether runs do."""

    begins: list[Fraction]
    lengths: list[Fraction]
    curves: Array
    meets: NDArray[np.bool_]
    runs_are_bad: bool


class _Forecast:
    """Curves and bounds of the directions of all goals."""

    def __init__(self, flow: AffineFlow, start: FloatZonotope, degree: int, goals: Sequence[_Goal]):
        self._start, self._degree, self._goals = start, degree, goals
        self._directions = np.vstack([goal.directions for goal in goals])
        self._matrix = matrix_of(flow)
        self._inputs = np.zeros((len(flow.names), len(flow.signals)))
        for k, signal in enumerate(flow.signals):
            for j, value in signal.column.items():
                self._inputs[j, k] = float(value)
        ends = np.array([(float(s.low or 0), float(s.high or 0)) for s in flow.signals])
        low, high = ends.reshape(-1, 2).T
        self._middle, self._radius = (low + high) / 2, (high - low) / 2
        self._top = np.maximum(np.abs(low), np.abs(high))

    def along(self, stages: Sequence[Stage]) -> _Steps:
        """The steps of the whole stay."""
        begins: list[Fraction] = []
        lengths: list[Fraction] = []
        curves = []
        curve, now = self._directions, Fraction(0)
        for stage in stages:
            onward = matrix_exponential(self._matrix * float(stage.length))
            for _ in range(stage.count):
                begins.append(now)
                lengths.append(stage.length)
                curves.append(curve)
                curve, now = curve @ onward, now + stage.length
        return self._bounded(begins, lengths, np.array(curves))

    def _bounded(self, begins: list[Fraction], lengths: list[Fraction], curves: Array) -> _Steps:
        size = curves.shape[:2]
        push, gained, above = np.zeros(size), np.zeros(size), np.zeros(size)
        ends = np.zeros_like(curves)
        for length in set(lengths):
            own = np.array([other == length for other in lengths])
            terms = self._terms(curves[own], length)
            push[own] = self._push(terms, length)
            gained[own] = self._gain(terms, length)
            above[own] = self._bend(terms) + self._swing(terms, length)
            ends[own] = sum(terms[1:], terms[0])
        pushed = np.cumsum(push, axis=0)
        here, there = self._start.upper_bounds(curves), self._start.upper_bounds(ends)
        tops = np.maximum(here + pushed - push, there + pushed) + above
        reached = there + np.cumsum(gained, axis=0)
        bad = self._reach(here[:1]).any() or self._reach(reached).any()
        return _Steps(begins, lengths, curves, self._reach(tops), bool(bad))

    def _reach(self, bounds: Array) -> NDArray[np.bool_]:
        """Where some goal is not missed."""
        found = np.zeros(len(bounds), dtype=bool)
        first = 0
        for goal in self._goals:
            last = first + len(goal.levels)
            found |= (bounds[:, first:last] >= goal.levels).all(axis=1)
            first = last
        return found

    def _terms(self, curves: Array, length: Fraction) -> list[Array]:
        """The series of the curves over a step."""
        found = [curves]
        scaled = self._matrix * float(length)
        for i in range(1, self._degree + 1):
            found.append(found[-1] @ scaled / i)
        return found

    def _bend(self, terms: Sequence[Array]) -> Array:
        """How far the support may lie above its chord."""
        total = np.zeros(terms[0].shape[:-1])
        for i, term in enumerate(terms[2:], start=2):
            total += float(gap(i)) * np.maximum(self._start.upper_bounds(-term), 0)
        return total

    def _push(self, terms: Sequence[Array], length: Fraction) -> Array:
        """What the inputs add over a step at most."""
        b = [term @ self._inputs for term in terms]
        integral = sum((v / (i + 1) for i, v in enumerate(b)), np.zeros_like(b[0]))
        end = sum(b[1:], b[0])
        area = (np.abs(b[0]) + np.abs(end)) / 2
        crossing = b[0] * end < 0
        both = np.where(crossing, np.abs(b[0]) + np.abs(end), 1)
        area = np.where(crossing, (b[0] ** 2 + end**2) / (2 * both), area)
        for i, v in enumerate(b[2:], start=2):
            area += np.abs(v) * (0.5 - 1 / (i + 1))
        steady = 2 * np.abs(b[0]) >= sum(map(np.abs, b))
        size = np.where(steady, np.abs(integral), area)
        pushed: Array = float(length) * (integral @ self._middle + size @ self._radius)
        return pushed

    def _gain(self, terms: Sequence[Array], length: Fraction) -> Array:
        """What the inputs add over a step if they are chosen for the end of it."""
        moments = (np.arange(MOMENTS) + 0.5) / MOMENTS
        b = [term @ self._inputs for term in terms]
        values = sum((np.multiply.outer(moments**i, v) for i, v in enumerate(b)), 0.0)
        mean, size = np.mean(values, axis=0), np.mean(np.abs(values), axis=0)
        gained: Array = float(length) * (mean @ self._middle + size @ self._radius)
        return gained

    def _swing(self, terms: Sequence[Array], length: Fraction) -> Array:
        """A quarter of how much the inputs' part may vary over a step."""
        variation = sum(
            (np.abs(term @ self._inputs) for term in terms[1:]), 0.0 * terms[0] @ self._inputs
        )
        swing: Array = variation @ self._top * float(length) / 4
        return swing


# Zonotopes: centre + sum of t_i * generator_i with |t_i| <= 1, in floating point.
#
#     upper bound of d x  =  d * centre + sum of |d * generator_i|
#
# A closed form, for many directions at once; not directed, for searches whose results are proved
# afterwards.


@dataclass(frozen=True)
class FloatZonotope:
    """A centre (n), and generators (m x n).

    >>> FloatZonotope.box([(0, 2), (-1, 1)]).upper_bounds(np.array([[1.0, 1.0], [-1.0, 0.0]]))
    array([3., 0.])
    """

    centre: Array
    generators: Array

    @classmethod
    def box(cls, spans: Sequence[tuple[float, float]]) -> FloatZonotope:
        """A box, with a generator for each side that has a length."""
        ends = np.array(spans, dtype=float).reshape(len(spans), 2)
        radii = np.diag((ends[:, 1] - ends[:, 0]) / 2)
        return cls(ends.mean(axis=1), radii[radii.any(axis=1)])

    @property
    def dimension(self) -> int:
        """The number of coordinates."""
        return len(self.centre)

    def upper_bounds(self, directions: Array) -> Array:
        """The largest value in each direction; directions are along the last axis."""
        spread: Array = np.abs(directions @ self.generators.T).sum(axis=-1)
        return directions @ self.centre + spread
