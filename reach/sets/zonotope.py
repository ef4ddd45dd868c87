"""Zonotopes: centre + sum of t_i * generator_i with |t_i| <= 1, in floating point.

    upper bound of d x  =  d * centre + sum of |d * generator_i|

A closed form, for many directions at once; not directed, for searches whose results are proved
afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Zonotope:
    """A centre (n), and generators (m x n).

    >>> Zonotope.box([(0, 2), (-1, 1)]).upper_bounds(np.array([[1.0, 1.0], [-1.0, 0.0]]))
    array([3., 0.])
    """

    centre: Array
    generators: Array

    @classmethod
    def box(cls, spans: Sequence[tuple[float, float]]) -> Zonotope:
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
