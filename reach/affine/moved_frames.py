"""Frames that move with the flow: in which directions the states after a jump are narrow.

A box around what a jump leads to forgets how variables depend on each other, and loses that again
at every jump. So the entry set of a stay is followed to the jump in floating point: its centre
until the guard holds, its generators by the linear map of flow and reset; where runs must jump on
a surface they are moved along the flow onto it. The next entry set is measured along the edges of
a parallelotope around the image: generators of it as long as they point in different enough
directions, orthogonal principal directions otherwise (the methods of Lohner). The stay before is
bounded in these directions, pulled back through the reset, too. Nothing here is trusted: a bad
frame makes bounds loose.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import frexp, ldexp

import numpy as np
from numpy.typing import NDArray

from workbench.models.automaton import TIME, primed
from workbench.models.checker.affine_flow import AffineFlow
from workbench.models.checker.start_set import StartSet
from workbench.models.linear import Form, Rows
from workbench.reach.affine.flowpipe_parts import MovedFrame, Normal
from workbench.reach.affine.forecast import zonotope_of
from workbench.reach.affine.matrix_exponential import matrix_exponential
from workbench.reach.affine.reduced_rows import ReducedRows
from workbench.reach.affine.step_choice import matrix_of

Array = NDArray[np.float64]

NORMAL_BITS = 28
"""Bits of the entries of normals and factors, relative to the largest."""

MOST_NAMES = 40
"""Larger systems have too many directions."""

MOMENTS = 400
"""Moments of a stay at which guards are looked at."""

HALVINGS = 40

GRID = 1 << 30
"""Expected times of jumps are multiples of 1/GRID."""

NEARLY = 1e-9
"""A guard holds where its rows are that close to holding, relative to their factors."""

SKEWEST = 100.0
"""Parallelotopes that are more nearly flat than that are made rectangular."""

SLANTED = 0.05
"""Frames whose directions are closer to axes than that are boxes."""


def moved_frame(
    flow: AffineFlow, start: StartSet, longest: Fraction, rows: Rows
) -> MovedFrame | None:
    """The frame of what a jump with these rows leads to from an entry set; None where the centre
    of the set does not come to the jump, or a box will do."""
    if flow.corners or len(flow.names) > MOST_NAMES:
        return None
    if any(signal.low is None or signal.high is None for signal in flow.signals):
        return None
    preview = _Preview(flow, start)
    window = preview.window(float(longest), rows)
    if window is None:
        return None
    names = [n for n in flow.names if n != TIME]
    reset = _reset(flow, names, rows)
    image = preview.image(window, rows) @ reset.T
    widths = np.abs(image).sum(axis=0)
    wide = np.flatnonzero(widths > NEARLY * (1 + np.abs(reset @ preview.at(window[0]))))
    if len(wide) < 2:
        return None
    scale = widths[wide]
    edges = _edges(image[:, wide] / scale)
    if not np.any(np.minimum(np.abs(edges), np.abs(np.abs(edges) - 1)) > SLANTED):
        return None
    chosen = [names[j] for j in wide]
    normals = [rounded_normal(chosen, row / scale) for row in np.linalg.inv(edges).T]
    factors = [rounded_normal(chosen, row * scale) for row in edges]
    before = [_pulled_back(rows, normal) for normal in normals]
    begin, end = (Fraction(round(t * GRID), GRID) for t in window)
    return MovedFrame(
        tuple(normals), tuple(factors), tuple(n for n in before if n is not None), (begin, end)
    )


def _edges(generators: Array) -> Array:
    """The edges of a parallelotope around a zonotope, one in each row, of length 1: generators of
    it where enough of them point in different directions, so that nothing is lost if there are
    no others; else orthogonal principal directions."""
    size = generators.shape[1]
    left, chosen = generators.copy(), []
    for _ in range(min(size, len(generators))):
        lengths = np.linalg.norm(left, axis=1)
        best = int(np.argmax(lengths))
        if lengths[best] < 1 / SKEWEST:
            break
        chosen.append(generators[best] / np.linalg.norm(generators[best]))
        onto = left[best] / lengths[best]
        left = left - np.outer(left @ onto, onto)
    if len(chosen) == size and np.linalg.cond(np.array(chosen)) <= SKEWEST:
        return np.array(chosen)
    principal: Array = np.linalg.svd(generators.T)[0].T
    return principal


def rounded_normal(names: Sequence[str], vector: Array, bits: int = NORMAL_BITS) -> Normal:
    """A vector with entries of few bits, relative to the largest."""
    _, exponent = frexp(float(np.abs(vector).max()))
    unit = ldexp(1.0, exponent - bits)
    entries = {n: Fraction(round(float(v) / unit)) for n, v in zip(names, vector, strict=True)}
    return {n: v * Fraction(unit) for n, v in entries.items() if v}


def _pulled_back(rows: Rows, normal: Normal) -> Normal | None:
    goal = Form({primed(name): a for name, a in normal.items()})
    form, _ = ReducedRows(rows).with_primes(goal)
    if not form.coefficients or any(name.endswith("'") for name in form.coefficients):
        return None
    return dict(form.coefficients)


def _reset(flow: AffineFlow, names: Sequence[str], rows: Rows) -> Array:
    """The linear part of the values after a jump; nothing of a value that it leaves open."""
    reduced = ReducedRows(rows)
    found = np.zeros((len(names), len(flow.names)))
    for i, name in enumerate(names):
        value = reduced.value_of(primed(name))
        for other, a in ({} if value is None else value.coefficients).items():
            if other in flow.index:
                found[i, flow.index[other]] = float(a)
    return found


class _Preview:
    """A stay in floating point: the centre of its entry set, and what surrounds it."""

    def __init__(self, flow: AffineFlow, start: StartSet):
        self._names: Mapping[str, int] = flow.index
        n = len(flow.names)
        zonotope = zonotope_of(start)
        self._centre, self._generators = zonotope.centre, zonotope.generators
        drift, pushes = np.zeros(n), []
        for signal in flow.signals:
            assert signal.low is not None and signal.high is not None
            column = np.zeros(n)
            for j, value in signal.column.items():
                column[j] = float(value)
            drift += column * float(signal.low + signal.high) / 2
            if signal.high > signal.low:
                pushes.append(column * float(signal.high - signal.low) / 2)
        # x, a constant 1, and the integral of the flow: exp of this moves all of them.
        self._matrix = np.zeros((n + 1, n + 1))
        self._matrix[:n, :n], self._matrix[:n, n] = matrix_of(flow), drift
        self._pushes = np.array(pushes).reshape(-1, n)

    def at(self, t: float) -> Array:
        """The centre at a time."""
        moved: Array = matrix_exponential(self._matrix * t) @ np.append(self._centre, 1.0)
        return moved[:-1]

    def window(self, longest: float, rows: Rows) -> tuple[float, float] | None:
        """When the jump is possible for the centre, from the first time on without a break."""
        factors, constants = self._conditions(rows)
        step = longest / MOMENTS
        onward = matrix_exponential(self._matrix * step)
        state = np.append(self._centre, 1.0)
        first = last = None
        for k in range(MOMENTS + 1):
            holds = self._holds(factors, constants, state[:-1])
            if not holds and k and first is None:
                passed = self._crossing(factors, constants, k, step)
                if passed is not None:
                    return passed
            if holds and first is None:
                first = self._first(factors, constants, k, step)
            if holds:
                last = k * step
            elif first is not None:
                break
            state = onward @ state
        return None if first is None or last is None else (first, max(first, last))

    def image(self, window: tuple[float, float], rows: Rows) -> Array:
        """The generators of what is around the centre at the jump, one in each row."""
        t = sum(window) / 2
        n = len(self._centre)
        moved = matrix_exponential(self._matrix * t)[:n, :n]
        # What an input adds meanwhile, as if it kept its value.
        integral = np.zeros((2 * n, 2 * n))
        integral[:n, :n], integral[:n, n:] = self._matrix[:n, :n], np.eye(n)
        pushed = matrix_exponential(integral * t)[:n, n:]
        image = np.vstack([self._generators @ moved.T, self._pushes @ pushed.T])
        speed = (self._matrix @ np.append(self.at(t), 1.0))[:n]
        surface = self._surface(rows, window, speed)
        if surface is not None:
            image = image - np.outer(image @ surface / (surface @ speed), speed)
        return np.vstack([image, speed * (window[1] - window[0]) / 2])

    def _conditions(self, rows: Rows) -> tuple[Array, Array]:
        """The rows about the state before the jump, scaled to their largest factor."""
        useful = [
            row.form
            for row in rows
            if row.form.coefficients and row.form.coefficients.keys() <= self._names.keys()
        ]
        factors = np.zeros((len(useful), len(self._centre)))
        for i, form in enumerate(useful):
            for name, a in form.coefficients.items():
                factors[i, self._names[name]] = float(a)
        sizes = np.abs(factors).max(axis=1, initial=0)
        constants = np.array([float(form.constant) for form in useful])
        return factors / sizes[:, None], constants / sizes

    def _holds(self, factors: Array, constants: Array, state: Array) -> bool:
        room = NEARLY * (1 + np.abs(constants))
        return bool(np.all(factors @ state + constants <= room))

    def _first(self, factors: Array, constants: Array, k: int, step: float) -> float:
        """The first time at which the rows hold, by halving."""
        late, early = k * step, max(0.0, (k - 1) * step)
        for _ in range(HALVINGS if k else 0):
            middle = (early + late) / 2
            if self._holds(factors, constants, self.at(middle)):
                late = middle
            else:
                early = middle
        return late

    def _crossing(
        self, factors: Array, constants: Array, k: int, step: float
    ) -> tuple[float, float] | None:
        """A moment between two looks at which all rows hold, because some begin to hold and
        others end at once: a guard at the border of an invariant."""
        early, late = (k - 1) * step, k * step
        before = factors @ self.at(early) + constants
        after = factors @ self.at(late) + constants
        begun = (before > 0) & (after <= 0)
        if not begun.any() or np.any((before > 0) & (after > 0)):
            return None
        for _ in range(HALVINGS):
            middle = (early + late) / 2
            if np.any((factors @ self.at(middle) + constants)[begun] > 0):
                early = middle
            else:
                late = middle
        return (late, late) if self._holds(factors, constants, self.at(late)) else None

    def _surface(self, rows: Rows, window: tuple[float, float], speed: Array) -> Array | None:
        """The normal of the surface on which runs must jump: of a row that begins to hold when
        another one ends."""
        factors, constants = self._conditions(rows)
        values = np.abs(factors @ self.at(window[0]) + constants)
        tight = factors[values <= 1e-6 * (1 + np.abs(constants))]
        slopes = tight @ speed
        entered = tight[slopes < 0]
        if window[1] - window[0] > NEARLY or not len(entered) or not np.any(slopes > 0):
            return None
        normal: Array = entered[0]
        return normal
