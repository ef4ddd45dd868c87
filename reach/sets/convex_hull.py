"""Hulls of points and vertices of half-spaces: fast guesses by cdd, each checked exactly.

Both conversions ask for the same: given vectors w in d dimensions, the lines and extreme rays
of their dual cone { y : w*y >= 0 }. For points p the vectors are (1, p), the rays are the
facets c + a*x >= 0 of the hull and the lines the equations it satisfies. For half-spaces
a*x <= b they are (b, -a) and (1, 0), the rays are vertices (first entry positive) or directions.

cdd computes in floating point and may be wrong without a word. So only one thing is taken from
it: which vectors it believes to lie on which ray's hyperplane. From that each ray is computed in
integers, and the whole is accepted only if, exactly,

1. every ray y has w*y >= 0 for all vectors, with equality for d - 1 independent ones (then it
   is an extreme ray, and its vectors are a facet of the cone of all vectors);
2. the rays span, so that the cone of the vectors is pointed;
3. none is missing: every facet of every facet found lies in a second one. The facets of a
   pointed cone are connected through common facets, so that none can be left out. That the
   facets of a facet are all known is shown likewise, one dimension lower.

Otherwise the double description in integers takes over, with bounded work; beyond the bound
`HullRefusedError` is raised. What is returned is exact for the given floats in either case.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from workbench.reach.sets.double_description import (
    TooManyRaysError,
    Vector,
    coprime,
    dot,
    independent,
    narrow,
    whole_space,
)
from workbench.reach.sets.polyhedron import integer_row, point_vector

Array = NDArray[np.float64]

MAX_RAYS = 10_000
"""Guesses with more rays than this are not checked."""
EXACT_WORK = 3_000_000
"""Pairs of rays that the exact computation may meet, over all its steps."""
STEP = 8
"""Vectors added between two looks at the work done."""


class HullRefusedError(Exception):
    """Floating point gave no hull that holds exactly, and the exact one is too much work."""


@dataclass(frozen=True, slots=True)
class DualCone:
    """{ y : w*y >= 0 for all vectors w } as lines and extreme rays, exact.

    `masks[k]` has bit i if ray k is orthogonal to vector i.
    """

    lines: tuple[Vector, ...]
    rays: tuple[Vector, ...]
    masks: tuple[int, ...]
    guessed: bool
    """Whether the guess in floating point was right; else the rays were computed exactly."""


@dataclass(frozen=True, slots=True)
class ConvexHull:
    """The hull of points, exact for the points as given.

    It is { x : c + a*x = 0 for all equations (c, a), c + a*x >= 0 for all facets (c, a) }, in
    coprime integers; no facet is redundant, and the equations are independent.
    """

    equations: tuple[Vector, ...]
    facets: tuple[Vector, ...]
    vertices: tuple[int, ...]
    """Which of the points are vertices: the first of equal ones."""
    guessed: bool

    def outer_normals(self) -> Array:
        """-a of every facet, then a and -a of every equation, each scaled to a largest entry
        of 1 and rounded to floats."""
        level = np.array([_scaled(row[1:]) for row in (*self.facets, *self.equations)])
        count = len(self.facets)
        return np.vstack([-level[:count], level[count:], -level[count:]])


@dataclass(frozen=True, slots=True)
class Corners:
    """{ x : matrix*x <= bound } as hull of vertices + cone of directions + span of lines, exact.

    The set is empty if there is no vertex. With lines, each vertex stands for its whole class.
    """

    vertices: tuple[tuple[Fraction, ...], ...]
    directions: tuple[Vector, ...]
    lines: tuple[Vector, ...]
    guessed: bool


def convex_hull(points: Array) -> ConvexHull:
    """The hull of the rows of an array, at least one, all finite."""
    points = _finite(points)
    if points.ndim != 2 or 0 in points.shape:
        raise ValueError("a convex hull needs points, each with coordinates")
    place: dict[Vector, int] = {}
    for i, point in enumerate(points):
        place.setdefault(point_vector([Fraction(float(v)) for v in point]), i)
    chosen = points[list(place.values())]
    low, span = chosen.min(axis=0), np.ptp(chosen, axis=0)
    unit = (chosen - low) / np.where(span > 0, span, 1.0) - 0.5
    cone = dual_cone(list(place), np.hstack([np.ones((len(unit), 1)), unit]))
    facets = tuple(ray for ray in cone.rays if any(ray[1:]))
    corners = tuple(i for k, i in enumerate(place.values()) if _alone(k, len(place), cone.masks))
    return ConvexHull(cone.lines, facets, corners, cone.guessed)


def corners(matrix: Array, bound: Array) -> Corners:
    """Vertices, directions and lines of { x : matrix*x <= bound }, all entries finite."""
    rows = _finite(np.hstack([np.reshape(bound, (-1, 1)), -np.asarray(matrix, dtype=float)]))
    size = rows.shape[1]
    found = {(1, *[0] * (size - 1)): np.eye(size)[0]}
    for row in rows:
        exact = [Fraction(float(v)) for v in row]
        vector = integer_row(exact[0], dict(enumerate(exact[1:])), size - 1)
        if any(vector):
            found.setdefault(vector, row / np.abs(row).max())
    floats = np.array(list(found.values()))
    cone = dual_cone(list(found), floats / np.maximum(np.abs(floats).max(axis=0), 1e-300))
    vertices = [tuple(Fraction(v, ray[0]) for v in ray[1:]) for ray in cone.rays if ray[0]]
    directions = tuple(ray[1:] for ray in cone.rays if not ray[0])
    lines = tuple(line[1:] for line in cone.lines)
    return Corners(tuple(vertices), directions, lines, cone.guessed)


def dual_cone(vectors: Sequence[Vector], floats: Array) -> DualCone:
    """The dual cone of distinct integer vectors that are not zero.

    The floats, for the guess only, are the vectors up to an invertible linear map, a positive
    factor for each, and rounding. Vectors that do not span are seen in coordinates that tell
    them apart.
    """
    size = len(vectors[0])
    lines = _orthogonal(vectors, size)
    if not lines:
        return _pointed_dual(vectors, floats) or _exact_dual(vectors, size)
    basis = independent(vectors)
    kept = sorted(next(i for i, a in enumerate(row) if a) for row in basis)
    seen = [tuple(vector[i] for i in kept) for vector in vectors]
    part = _pointed_dual(seen, floats[:, kept]) or _exact_dual(seen, len(kept))
    rays = []
    for ray in part.rays:
        whole = [0] * size
        for i, value in zip(kept, ray, strict=True):
            whole[i] = value
        rays.append(tuple(whole))
    return DualCone(lines, tuple(rays), part.masks, part.guessed)


def _exact_dual(vectors: Sequence[Vector], size: int) -> DualCone:
    """By double description; refused when it grows too large."""
    cone = whole_space(size)
    work = 0
    try:
        for start in range(0, len(vectors), STEP):
            cone = narrow(cone, vectors[start : start + STEP])
            work += STEP * len(cone.rays) ** 2
            if work > EXACT_WORK:
                raise HullRefusedError(f"more than {len(cone.rays)} facets or vertices")
    except TooManyRaysError as error:
        raise HullRefusedError(str(error)) from None
    masks = tuple(_mask(ray, vectors) for ray in cone.rays)
    return DualCone(cone.lines, cone.rays, masks, False)


def _pointed_dual(vectors: Sequence[Vector], floats: Array) -> DualCone | None:
    """What floating point guesses, if it is exactly right."""
    size = len(vectors[0])
    found: dict[int, Vector] = {}
    for touching in _guessed_incidence(floats):
        ray = _supporting([vectors[i] for i in sorted(touching)], vectors, size)
        if ray is None:
            return None
        found[_mask(ray, vectors)] = ray
    if size < 2 or _orthogonal(list(found.values()), size):
        return None
    if not _Faces(vectors).complete(size, list(found)):
        return None
    return DualCone((), tuple(found.values()), tuple(found), True)


def _guessed_incidence(floats: Array) -> list[frozenset[int]]:
    """For each extreme ray of the dual cone the vectors orthogonal to it, as cdd sees it in
    floating point; nothing where it gives up or finds lines."""
    import cdd

    rows = np.hstack([np.zeros((len(floats), 1)), floats])
    try:
        matrix = cdd.matrix_from_array(rows.tolist(), rep_type=cdd.RepType.INEQUALITY)
        polyhedron = cdd.polyhedron_from_matrix(matrix)
        generators = cdd.copy_generators(polyhedron)
        incidence = cdd.copy_incidence(polyhedron)
    except (RuntimeError, ValueError, ArithmeticError):
        return []
    if generators.lin_set or len(generators.array) > MAX_RAYS:
        return []
    return [
        frozenset(i for i in touching if i < len(floats))
        for row, touching in zip(generators.array, incidence, strict=True)
        if row[0] == 0
    ]


def _supporting(touching: Sequence[Vector], vectors: Sequence[Vector], size: int) -> Vector | None:
    """The ray orthogonal to some of the vectors, if there is just one and no vector has a
    negative product with it."""
    lines = _orthogonal(touching, size)
    if len(lines) != 1:
        return None
    products = [dot(lines[0], vector) for vector in vectors]
    if min(products) >= 0:
        return coprime(lines[0])
    return coprime([-a for a in lines[0]]) if max(products) <= 0 else None


class _Faces:
    """Faces of the pointed cone that vectors generate, as bit masks of the vectors on them."""

    def __init__(self, vectors: Sequence[Vector]):
        self._vectors = vectors
        self._size = len(vectors[0])
        self._ranks: dict[int, int] = {}
        self._whole: set[int] = set()

    def complete(self, rank: int, facets: list[int]) -> bool:
        """Whether some different facets of a face of that rank are all it has (condition 3)."""
        if rank <= 2:
            return len(facets) == rank
        if not facets:
            return False
        if all(facet.bit_count() == rank - 1 for facet in facets):
            ridges = Counter(facet ^ bit for facet in facets for bit in _bits(facet))
            return all(count == 2 for count in ridges.values())
        for facet in facets:
            if facet in self._whole:
                continue
            common = {facet & other for other in facets if other != facet}
            ridges_here = [mask for mask in common if self._has_rank(mask, rank - 2)]
            if not self.complete(rank - 1, ridges_here):
                return False
            self._whole.add(facet)
        return True

    def _has_rank(self, mask: int, rank: int) -> bool:
        if mask.bit_count() < rank:
            return False
        if mask not in self._ranks:
            rows = [self._vectors[bit.bit_length() - 1] for bit in _bits(mask)]
            self._ranks[mask] = self._size - len(_orthogonal(rows, self._size))
        return self._ranks[mask] == rank


def _orthogonal(vectors: Sequence[Vector], size: int) -> tuple[Vector, ...]:
    """A basis of what is orthogonal to all the vectors."""
    return narrow(whole_space(size), (), vectors).lines


def _mask(ray: Vector, vectors: Sequence[Vector]) -> int:
    return sum(1 << i for i, vector in enumerate(vectors) if dot(ray, vector) == 0)


def _bits(mask: int) -> list[int]:
    found = []
    while mask:
        low = mask & -mask
        found.append(low)
        mask ^= low
    return found


def _alone(number: int, count: int, masks: Sequence[int]) -> bool:
    """Whether the facets through a point have no other point in common."""
    face = (1 << count) - 1
    for mask in masks:
        if mask >> number & 1:
            face &= mask
    return face == 1 << number


def _scaled(row: Sequence[int]) -> list[float]:
    largest = max(map(abs, row))
    return [float(Fraction(a, largest)) for a in row]


def _finite(array: Array) -> Array:
    array = np.asarray(array, dtype=float)
    if not np.isfinite(array).all():
        raise ValueError("infinite or undefined coordinates have no hull")
    return array
