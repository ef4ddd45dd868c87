"""Entry sets of stays, and what stays that begin there do: bounds that are affine in offsets.

An entry set {N x <= h} collects the states in which stays begin after one jump (or at the
start). A direction r after the time t of a stay is at most

    support of exp(A't) r over the entry set, plus what signals add until t,

and on a step between two moments of a grid it lies below the chord of the values at its ends,
up to *charges* for its bend. The supports are linear programs; their multipliers make them, as
long as they are held, linear in h. Floating point, untrusted: what is found is proved exactly.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from workbench.abstraction.recurrence.stay_view import Array, StayView, Vector
from workbench.reach.affine.matrix_exponential import matrix_exponential
from workbench.reach.sets.support import SupportOracle

Origin = tuple[str, int] | None
"""The source and number of the jump by which an entry set is entered; None at the start."""
SUBSTEPS = 6
"""Parts of a step over which the effect of signals is integrated."""
NEGLIGIBLE = 1e-12


def floats(vectors: list[Vector]) -> Array:
    """Exact vectors as the rows of a matrix."""
    return np.array([[float(v) for v in vector] for vector in vectors])


@dataclass(frozen=True)
class Curves:
    """For directions r (`rows`): exp(A't) r at every moment of the grid, and what signals add
    until then."""

    rows: tuple[Vector, ...]
    moved: Array
    pushed: Array


def curves_of(view: StayView, rows: list[Vector], step: float, count: int) -> Curves:
    """The curves over `count` steps; the integrals by Simpson's rule."""
    short = step / SUBSTEPS
    forward = matrix_exponential(view.matrix * short)
    middle = matrix_exponential(view.matrix * (short / 2))
    current = floats(rows)
    total = np.zeros(len(rows))
    moved, pushed = [current], [total]
    for _ in range(count):
        for _ in range(SUBSTEPS):
            following = current @ forward
            rates = view.drift(current), view.drift(current @ middle), view.drift(following)
            total = total + short / 6 * (rates[0] + 4 * rates[1] + rates[2])
            current = following
        moved.append(current)
        pushed.append(total)
    return Curves(tuple(rows), np.array(moved), np.array(pushed))


@dataclass(eq=False)
class EntrySet:
    """Where stays begin: `normals` (the axes first, in both senses) with offsets, minus
    infinity where nothing has entered, infinity in rows that hold nothing. `slab` are the
    numbers of two rows whose offsets are fixed: those between which this part of a larger
    entry set lies."""

    view: StayView
    origin: Origin
    normals: list[Vector]
    step: float
    count: int
    slab: tuple[tuple[int, float], ...] = ()
    offsets: Array = field(default_factory=lambda: np.zeros(0))
    floor: Array = field(default_factory=lambda: np.zeros(0))
    curves: Curves | None = None
    charges: Array = field(default_factory=lambda: np.zeros(0))
    """By step, end of the step, and direction."""
    helped: set[tuple[int, int]] = field(default_factory=set)
    """Moments and directions whose bounds an exact proof rests on."""

    @cached_property
    def matrix(self) -> Array:
        """The normals."""
        return floats(self.normals)

    @cached_property
    def directions(self) -> Array:
        """The directions in which stays are bounded."""
        assert self.curves is not None, "curves are made before stays are followed"
        return floats(list(self.curves.rows))

    @cached_property
    def scaled(self) -> Array:
        """The directions with a largest entry of 1."""
        found: Array = self.directions / np.abs(self.directions).max(axis=1)[:, None]
        return found

    @property
    def empty(self) -> bool:
        """Whether nothing has entered."""
        return bool(np.any(self.offsets == -np.inf))


@dataclass(frozen=True)
class Supports:
    """Bounds of an entry set's directions at one moment: value, factors of the offsets, and
    the rest that does not depend on them; `boxed` are the values with the axes alone."""

    values: Array
    boxed: Array
    factors: Array
    rest: Array


class SupportsOf:
    """The supports of an entry set at the moments of its grid, one after the other."""

    def __init__(self, entry: EntrySet):
        assert entry.curves is not None, "curves are made before stays are followed"
        self.entry, self.curves = entry, entry.curves
        self.matrix = entry.matrix
        self.known = np.isfinite(entry.offsets)
        self.plain = not np.any(self.known[2 * self.matrix.shape[1] :])
        self.oracle = SupportOracle(self.matrix[self.known], entry.offsets[self.known])

    def at(self, moment: int) -> Supports:
        """Value, factors and rest of every direction."""
        moved, pushed = self.curves.moved[moment], self.curves.pushed[moment]
        boxed, factors = self._boxed(moved)
        values = boxed.copy()
        if not self.plain:
            for r, direction in enumerate(moved):
                supported = self.oracle(direction)
                if supported is not None and supported.value < values[r] - 1e-9:
                    values[r] = supported.value
                    factors[r] = 0.0
                    factors[r, self.known] = supported.multipliers
        return Supports(values + pushed, boxed + pushed, factors, pushed)

    def _boxed(self, moved: Array) -> tuple[Array, Array]:
        n = moved.shape[1]
        clean = np.where(np.abs(moved) > NEGLIGIBLE, moved, 0.0)
        factors = np.zeros((len(moved), len(self.entry.offsets)))
        factors[:, :n] = np.maximum(clean, 0.0)
        factors[:, n : 2 * n] = np.maximum(-clean, 0.0)
        offsets = self.entry.offsets[: 2 * n]
        used = factors[:, : 2 * n]
        infinite = np.any((used > 0) & (offsets == np.inf), axis=1)
        values = used @ np.where(np.isfinite(offsets), offsets, 0.0)
        return np.where(infinite, np.inf, values), factors
