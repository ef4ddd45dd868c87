"""How finely a flowpipe is computed: weights, steps, degree and bits for one node.

Nothing here is trusted: whatever is chosen, the rows of the node are sound; a bad choice makes
them loose or slow.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, log2

import numpy as np
from numpy.typing import NDArray

from workbench.models.checker.adjoint import FlowBounds
from workbench.models.checker.affine_flow import AffineFlow, Span
from workbench.models.checker.exponential import MOST, TooMuchGrowthError
from workbench.models.checker.flowpipe import MAX_BITS, MAX_DEGREE
from workbench.models.checker.start_set import StartSet

BALANCING = 20
"""Rounds of balancing at most."""

RESIDUE = 32
"""Bits that roundings shall leave correct, at the first level."""

FIRST_LEVEL = -2
"""Steps of about four times the time in which the dynamics changes things."""


@dataclass(frozen=True)
class Fineness:
    """The parameters of a node that decide how tight its rows are."""

    length: Fraction
    degree: int
    bits: int
    stay: Fraction
    scale: Mapping[str, int]


def matrix_of(flow: AffineFlow) -> NDArray[np.float64]:
    """The matrix A in floating point."""
    matrix = np.zeros((len(flow.names), len(flow.names)))
    for j, column in enumerate(flow.columns):
        for i, value in column.items():
            matrix[i, j] = float(value)
    return matrix


def _largest_entries(flow: AffineFlow) -> NDArray[np.float64]:
    """The matrix; where parameters multiply variables, each entry at the corner at which it is
    largest: at the centre of the parameters, entries that matter may vanish."""
    matrix = matrix_of(flow)
    for corner in flow.corners:
        for (i, source), value in corner.entries.items():
            if isinstance(source, int) and abs(value) > abs(matrix[i, source]):
                matrix[i, source] = float(value)
    return matrix


def balanced(matrix: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    """Weights w, powers of two, that make rows and columns of diag(1/w) A diag(w) alike, and
    its norm (the iteration of Osborne)."""
    size = np.abs(matrix)
    moving = size.sum(axis=1) > 0
    np.fill_diagonal(size, 0.0)
    weights = np.ones(len(matrix))
    for _ in range(BALANCING):
        steps = np.zeros(len(matrix))
        for j in np.flatnonzero((size.sum(axis=0) > 0) & (size.sum(axis=1) > 0)):
            ratio = size[j, :].sum() / size[:, j].sum()
            steps[j] = np.round(np.log2(ratio) / 2)
            size[:, j] *= 2.0 ** steps[j]
            size[j, :] *= 2.0 ** -steps[j]
        weights *= 2.0**steps
        if not steps.any():
            break
    size = np.abs(matrix) * weights / weights[:, None]
    norm = float(size[:, moving].sum(axis=1).max(initial=0.0))
    # What never changes may weigh much: a large value of it then counts little.
    for j in np.flatnonzero(~moving):
        most = size[:, j].max()
        if most:
            weights[j] *= 2.0 ** np.floor(np.log2(max(norm, 1e-3) / (4 * most)))
    return weights, float((np.abs(matrix) * weights / weights[:, None]).sum(axis=1).max())


def choose(
    flow: AffineFlow, start: Mapping[str, Span], stay: Fraction, length: Fraction | None, level: int
) -> Fineness:
    """Parameters for stays up to `stay`. Each `level` halves the steps; those of the user
    (`length`) are taken as they are at the first level that is tried."""
    weights, norm = balanced(_largest_entries(flow))
    scale = {n: round(log2(w)) for n, w in zip(flow.names, weights, strict=True) if w != 1}
    if length is None:
        length = stay / 16
        if norm:
            length = min(length, Fraction(1) / ceil(norm * 1024) * 1024)
        length = dyadic_below(length * Fraction(2) ** -level)
    else:
        length *= Fraction(2) ** (FIRST_LEVEL - level)
    count = ceil(stay / length)
    degree = min(MAX_DEGREE, 2 + ceil(1.1 * norm * float(length)))
    box = StartSet(tuple(start[name] for name in flow.names), ())
    try:
        mass = FlowBounds(flow, box, stay, scale, degree, 96).mass
    except TooMuchGrowthError:
        mass = MOST  # no steps can be made; whoever tries to is told why
    mass_bits = max(0, mass.numerator.bit_length() - mass.denominator.bit_length() + 1)
    # Each step loses at most a few units times the mass.
    spread = max((abs(e) for e in scale.values()), default=0)
    lost = mass_bits + log2(count * len(flow.names)) + log2(1 + norm * float(stay))
    bits = RESIDUE + 6 * max(0, level - FIRST_LEVEL) + ceil(lost) + spread
    return Fineness(length, degree, min(MAX_BITS, -(-bits // 32) * 32), stay, scale)


def dyadic_below(value: Fraction) -> Fraction:
    """A number of few bits, at most the value and more than 7/8 of it."""
    shift = value.denominator.bit_length() - value.numerator.bit_length() + 4
    factor = Fraction(2) ** shift
    return Fraction(value * factor // 1) / factor


def rounded_up(value: Fraction, bits: int) -> Fraction:
    """The least multiple of 2^-bits that is at least the value."""
    return Fraction(-((-value.numerator << bits) // value.denominator), 1 << bits)
