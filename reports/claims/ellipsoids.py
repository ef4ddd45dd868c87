"""Quadratic invariants for the plots.

Ellipsoids are drawn as shadows. The shadow of {(x - c)' P (x - c) <= 1} on some of its
variables is {z' S z <= 1} with the Schur complement S of the others in P; the shadow of several
ellipsoids together lies in what their shadows share, which is drawn. A quadratic function of
any signature may have no border in its shadow, so the page draws sections: all variables but
those of the axes as they are in the selected state. For pictures only: nothing is proved here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from workbench.models.evidence.quadratic import Ellipsoid, QuadraticInvariant
from workbench.models.evidence.quadratic_function import Polynomial, QuadraticFunctions
from workbench.models.lowering.problem import LinearProblem
from workbench.reports.data.trace import short
from workbench.reports.pictures.projection import Box, Point

POINTS = 48
"""Corners of an ellipse."""

Array: TypeAlias = NDArray[np.float64]


def ellipsoid_intervals(
    invariant: QuadraticInvariant, names: Sequence[str]
) -> dict[str, tuple[float, float]]:
    """For each variable the values that all ellipsoids allow."""
    found = {}
    for name in names:
        i = invariant.variables.index(name)
        low, high = -math.inf, math.inf
        for body in invariant.ellipsoids:
            size = float(_schur(body, [i])[0, 0])
            radius = 1 / math.sqrt(size) if size > 0 else math.inf
            low = max(low, float(body.center[i]) - radius)
            high = min(high, float(body.center[i]) + radius)
        found[name] = (low, high)
    return found


def ellipsoid_pairs(
    invariant: QuadraticInvariant, names: Sequence[str], box: Box, most: int
) -> dict[tuple[str, str], list[Point]]:
    """For pairs of variables what the shadows of all ellipsoids share, within the box."""
    found = {}
    for x, y in list(combinations(names, 2))[:most]:
        shape = [(box[x][i], box[y][j]) for i, j in ((0, 0), (1, 0), (1, 1), (0, 1))]
        keep = [invariant.variables.index(x), invariant.variables.index(y)]
        for body in invariant.ellipsoids:
            shape = clipped(shape, _ellipse(body, keep))
        found[x, y] = shape
    return found


def _ellipse(body: Ellipsoid, keep: Sequence[int]) -> list[Point]:
    """The shadow of an ellipsoid as a polygon, counter-clockwise; very long where it has no
    end."""
    values, vectors = np.linalg.eigh(_schur(body, keep))
    radii = 1 / np.sqrt(np.maximum(values, 1e-24))
    angles = 2 * math.pi * np.arange(POINTS) / POINTS
    places = vectors @ (radii[:, None] * np.array([np.cos(angles), np.sin(angles)]))
    if np.linalg.det(vectors) < 0:
        places = places[:, ::-1]
    x, y = (float(body.center[i]) for i in keep)
    return [(x + float(a), y + float(b)) for a, b in places.T]


def _schur(body: Ellipsoid, keep: Sequence[int]) -> Array:
    """What is left of the shape for some variables when the others are free; the shape is
    scaled to a diagonal of ones first, for the sake of rounding."""
    shape = np.array([[float(a) for a in row] for row in body.shape])
    scale = np.sqrt(np.maximum(np.diag(shape), 1e-300))
    scaled = shape / np.outer(scale, scale)
    rest = [i for i in range(len(shape)) if i not in keep]
    cross = scaled[np.ix_(list(keep), rest)]
    inner = np.linalg.pinv(scaled[np.ix_(rest, rest)], hermitian=True)
    left = scaled[np.ix_(list(keep), list(keep))] - cross @ inner @ cross.T
    part = scale[list(keep)]
    return np.asarray((left + left.T) / 2 * np.outer(part, part))


def clipped(shape: Sequence[Point], other: Sequence[Point]) -> list[Point]:
    """What two convex polygons share; the second is counter-clockwise."""
    found = list(shape)
    for k, (px, py) in enumerate(other):
        qx, qy = other[(k + 1) % len(other)]
        kept: list[Point] = []
        for i, here in enumerate(found):
            before = found[i - 1]
            sides = [(qx - px) * (b - py) - (qy - py) * (a - px) for a, b in (before, here)]
            if (sides[0] >= 0) != (sides[1] >= 0):
                share = sides[0] / (sides[0] - sides[1])
                kept.append(
                    (
                        before[0] + share * (here[0] - before[0]),
                        before[1] + share * (here[1] - before[1]),
                    )
                )
            if sides[1] >= 0:
                kept.append(here)
        found = kept
    return found


def function_data(
    problem: LinearProblem, proof: QuadraticFunctions
) -> dict[str, list[list[list[Any]]]]:
    """For each location what is at most zero there: functions that restrict something, and the
    rows of the location's own invariant; as terms (factor, name, name)."""
    found = {}
    for location in proof.locations:
        functions = [_terms(f[location]) for f in proof.functions if not is_always(f[location])]
        cases = problem.invariant(location)
        for row in cases[0] if len(cases) == 1 else ():
            linear: dict[tuple[str, ...], Fraction] = {(): row.form.constant}
            linear |= {(name,): a for name, a in row.form.coefficients.items()}
            functions.append(_terms(linear))
        found[location] = functions
    return found


def is_always(polynomial: Polynomial) -> bool:
    """Whether the polynomial is at most zero everywhere because it is a number."""
    return not any(a for names, a in polynomial.items() if names) and polynomial.get((), 0) <= 0


def _terms(polynomial: Polynomial) -> list[list[Any]]:
    return [[short(float(a), 9), *names] for names, a in sorted(polynomial.items()) if a]
