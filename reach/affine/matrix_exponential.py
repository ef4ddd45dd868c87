"""Matrix exponentials in floating point, for searches."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

DEGREE = 13


def matrix_exponential(matrix: Array) -> Array:
    """By scaling and squaring of the Taylor series."""
    size = float(np.abs(matrix).sum(axis=1).max(initial=0.0))
    squarings = max(0, int(np.ceil(np.log2(size))) + 3) if size > 0 else 0
    scaled = matrix / 2.0**squarings
    total = term = np.eye(len(matrix))
    for k in range(1, DEGREE + 1):
        term = term @ scaled / k
        total = total + term
    for _ in range(squarings):
        total = total @ total
    return total
