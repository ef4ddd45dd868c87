"""Simple rational numbers: readable predicates, short certificates."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from workbench.abstraction.templates.system import Array

DENOMINATORS = (1, 2, 4, 8, 10, 20, 50, 100, 1000, 100_000)
VERY_CLOSE = 1e-9


def on_grid(value: float, grid: int) -> Fraction:
    """A multiple of 1/grid: the nearest one if it is very close, else the next above."""
    nearest = Fraction(round(value * grid), grid)
    if abs(float(nearest) - value) <= VERY_CLOSE * max(1.0, abs(value)):
        return nearest
    return Fraction(int(np.ceil(value * grid)), grid)


def between(low: float, high: float) -> Fraction:
    """A rational strictly between two numbers, with a small denominator, near the middle."""
    middle = (low + high) / 2
    for denominator in DENOMINATORS:
        found = Fraction(round(middle * denominator), denominator)
        if low < found < high:
            return found
    return Fraction(middle)


def just_above(low: float, high: float) -> Fraction:
    """A rational from `low` (up to rounding) to `high`, the first with a small denominator."""
    for denominator in DENOMINATORS:
        found = Fraction(int(np.ceil(low * denominator - 1e-6)), denominator)
        if low - 1e-8 * max(1.0, abs(low)) <= found <= high:
            return found
    return Fraction(low)


def direction(normal: Array, closeness: float) -> tuple[Fraction, ...]:
    """The normal scaled to a largest entry of 1, each entry a near fraction with a small
    denominator."""
    scaled = normal / np.abs(normal).max()
    return tuple(near(float(v), closeness) for v in scaled)


def near(value: float, closeness: float) -> Fraction:
    """A fraction with a small denominator, no further away than `closeness`."""
    for denominator in DENOMINATORS:
        found = Fraction(value).limit_denominator(denominator)
        if abs(float(found) - value) <= closeness:
            return found
    return Fraction(value).limit_denominator(10**6)
