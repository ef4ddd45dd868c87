"""Directions of entry sets and stays: what conditions speak about, tilts, and inherited ones.

A bound of c * x at the end of a stay often depends on how far the stay has come in the
direction n that leads to a guard: c * x <= k + s n * x. Along the flow f such a bound is neutral
for s = (c * f) / (n * f); so c - s n, with slopes s seen on sampled runs, is a good direction
(*tilt*). What an entry set should know about its states is *inherited* backwards: the bound of a
direction d after a time t rests on exp(A't) d at the entry, and that of a direction after a
jump on its pull-back before it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product

import numpy as np

from workbench.abstraction.recurrence.entry_sets import EntrySet, floats
from workbench.abstraction.recurrence.followed_stays import Followed
from workbench.abstraction.recurrence.stay_view import Array, JumpView, StayView, Vector
from workbench.reach.affine.matrix_exponential import matrix_exponential

GRID = 1 << 20
STEADY = 0.9
"""The part of the sampled velocities that must point towards a guard."""
QUANTILES = (0.1, 0.5, 0.9)
TOP = 0.1
"""Slopes are taken at the part of the points with the largest c * x."""
MOST_NORMALS = 32
DECAYED = 0.05
ALIKE = 0.05
MOMENTS = 4
"""Moments of a stay for which a watched direction is inherited."""
MOST_SIGNALS = 4


def rounded(row: Array) -> Vector | None:
    """The direction with a largest entry of 1, on a grid of powers of two."""
    size = float(np.abs(row).max(initial=0.0))
    if not np.isfinite(size) or size < 1e-9:
        return None
    return tuple(Fraction(round(float(v) / size * GRID), GRID) for v in row)


def whole(vector: Vector) -> Vector:
    """The direction as it is if its entries have few bits, else in whole numbers."""
    bottoms = [v.denominator for v in vector]
    if all(b & (b - 1) == 0 for b in bottoms):
        return vector
    bottom = int(np.lcm.reduce(np.array(bottoms, dtype=object)))
    return tuple(v * bottom for v in vector)


def distinct(vectors: Iterable[Vector]) -> list[Vector]:
    """One of each direction, whatever its length."""
    found: dict[Vector, Vector] = {}
    for vector in vectors:
        size = max(map(abs, vector), default=Fraction(0))
        if size:
            found.setdefault(tuple(v / size for v in vector), whole(vector))
    return list(found.values())


def axes(n: int) -> list[Vector]:
    """The coordinate directions, then their opposites."""
    return [
        tuple(Fraction(sign * (i == j)) for j in range(n)) for sign in (1, -1) for i in range(n)
    ]


def both_senses(vectors: Iterable[Vector]) -> Iterator[Vector]:
    """Every direction and its opposite."""
    for vector in vectors:
        yield vector
        yield tuple(-v for v in vector)


def condition_normals(view: StayView) -> list[Vector]:
    """What invariant, bad states and guards of a location speak about, in both senses."""
    guards = [guard for jump in view.jumps for guard in jump.guards]
    return distinct(both_senses([*view.normals, *guards]))


def established(jump: JumpView) -> list[Vector]:
    """What a jump fixes: x_j - R_j x for every variable that is set from variables that stay
    (a timer that is reset, an output that is computed and held), in both senses."""
    units = axes(len(jump.reset))[: len(jump.reset)]
    stays = [row == unit for row, unit in zip(jump.reset, units, strict=True)]
    found = []
    for unit, row, kept in zip(units, jump.reset, stays, strict=True):
        if not kept and all(same for a, same in zip(row, stays, strict=True) if a):
            found.append(tuple(u - a for u, a in zip(unit, row, strict=True)))
    return distinct(both_senses(found))


def directions_of(
    entry: EntrySet, targets: Mapping[object, Sequence[EntrySet]], points: Array | None
) -> list[Vector]:
    """The directions in which the stays of an entry set are bounded."""
    view = entry.view
    wanted = [*condition_normals(view), *entry.normals]
    for jump in view.jumps:
        for target in targets.get((jump.source, jump.number), ()):
            if jump.reset:
                wanted += [jump.pulled_back(normal) for normal in target.normals]
    plain = distinct(wanted)
    simple = [v for v in plain if sum(a != 0 for a in v) == 1] + list(view.watched)
    return distinct([*plain, *tilts(view, points, distinct(both_senses(simple)))])


def tilts(view: StayView, points: Array | None, bases: Sequence[Vector]) -> list[Vector]:
    """The bases with slopes along the directions in which stays advance to a guard."""
    if points is None or not len(points):
        return []
    velocities = _velocities(view, points)
    found: list[Vector] = []
    for normal in _progress(view, velocities):
        across = velocities @ normal
        for base in bases:
            row = np.array([float(v) for v in base])
            if np.linalg.matrix_rank(np.vstack([row, normal])) < 2:
                continue
            height = points @ row
            top = height >= np.quantile(height, 1 - TOP)
            along, over = (velocities @ row)[:, top].ravel(), across[:, top].ravel()
            moving = over > 1e-6
            if not np.any(moving):
                continue
            slopes = np.sort(along[moving] / over[moving])
            for share in QUANTILES:
                tilted = rounded(row - slopes[int(share * (len(slopes) - 1))] * normal)
                if tilted is not None:
                    found.append(tilted)
    return _unlike(found, np.ones(len(view.constant)), 0.02)


def _velocities(view: StayView, points: Array) -> Array:
    """For the corners of the signals (first index) and every point the velocity."""
    count = len(view.middle)
    signs = product((-1.0, 1.0), repeat=count) if count <= MOST_SIGNALS else [(0.0,) * count]
    free = points @ view.matrix.T + view.constant
    corners = [view.middle + np.array(sign) * view.radius for sign in signs]
    return np.array([free + view.gain @ corner for corner in corners])


def _progress(view: StayView, velocities: Array) -> list[Array]:
    """The guards' normals, turned so that stays advance along them."""
    found: list[Array] = []
    for guard in distinct(g for jump in view.jumps for g in jump.guards):
        normal = np.array([float(v) for v in guard])
        normal /= np.abs(normal).max()
        across = velocities @ normal
        if across.mean() < 0:
            normal, across = -normal, -across
        new = all(np.abs(normal - other).max() > 1e-9 for other in found)
        if new and (across > 0).mean() > STEADY:
            found.append(normal)
    return found


def _unlike(vectors: Sequence[Vector], scale: Array, least: float) -> list[Vector]:
    kept: list[Vector] = []
    rows: list[Array] = []
    for vector in vectors:
        row = _scaled(np.array([float(v) for v in vector]), scale)
        if all(np.abs(row - other).max() > least for other in rows):
            kept.append(vector)
            rows.append(row)
    return kept


def _scaled(row: Array, scale: Array) -> Array:
    sized = row * scale
    found: Array = sized / np.abs(sized).max()
    return found


def inherit(
    entries: Sequence[EntrySet],
    followed: Sequence[Followed],
    scale: Array,
    stop: Callable[[], bool],
) -> int:
    """Give entry sets the normals on which bounds of the watched directions rest, followed
    backwards over stays and jumps until they have decayed; how many are new."""
    rows = {id(entry): [_scaled(row, scale) for row in entry.matrix] for entry in entries}
    pending: deque[tuple[EntrySet, Array, float]] = deque()
    steps = {id(e): f.steps or e.count for e, f in zip(entries, followed, strict=True)}
    jumped: dict[tuple[int, int], tuple[int, int]] = {}
    ways: dict[int, list[EntrySet]] = {}
    for f in followed:
        for link in f.links:
            key = id(link.source), id(link.target)
            low, high = jumped.get(key, (link.step, link.step + 1))
            jumped[key] = min(low, link.step), max(high, link.step + 1)
            if link.source not in ways.setdefault(key[1], []):
                ways[key[1]].append(link.source)
    fixing = {id(entry): _fixing(entry, entries) for entry in entries}
    added = 0

    def offer(entry: EntrySet, row: Array, first: float) -> None:
        nonlocal added
        known = rows[id(entry)]
        if (matrix := fixing[id(entry)]) is not None:
            row = row @ matrix
        if np.abs(row * scale).max() < DECAYED * first or len(known) >= MOST_NORMALS:
            return
        sized = _scaled(row, scale)
        normal = rounded(row)
        if normal is None or min(np.abs(sized - other).max() for other in known) < ALIKE:
            return
        known.append(sized)
        entry.normals.append(normal)
        added += 1
        pending.append((entry, row, first))

    for entry in entries:
        length = entry.step * steps[id(entry)]
        for watched in entry.view.watched:
            row = -np.array([float(v) for v in watched])
            first = float(np.abs(row * scale).max())
            pending.append((entry, row, first))
            for k in range(1, MOMENTS + 1):
                move = matrix_exponential(entry.view.matrix * (length * k / MOMENTS))
                offer(entry, row @ move, first)
    while pending and not stop():
        entry, row, first = pending.popleft()
        for source in ways.get(id(entry), ()):
            low, high = jumped[id(source), id(entry)]
            back = _pulled_back(source, entry, row)
            if back is None:
                continue
            moments = {(low + high) / 2} if high - low <= 2 else {low, high}
            for moment in sorted(moments):
                move = matrix_exponential(source.view.matrix * (source.step * moment))
                offer(source, back @ move, first)
    return added


def _fixing(entry: EntrySet, entries: Sequence[EntrySet]) -> Array | None:
    """R of the jump by which a set is entered, if it sets variables from those that stay:
    R R = R. Then R'd is the same on the set as d, and one of all that are."""
    for source in entries:
        for jump in source.view.jumps:
            if (jump.source, jump.number) == entry.origin and jump.reset:
                matrix = floats(list(jump.reset))
                return matrix if np.allclose(matrix @ matrix, matrix) else None
    return None


def _pulled_back(source: EntrySet, target: EntrySet, row: Array) -> Array | None:
    """The direction before the jump from a source (itself where stays go on)."""
    for jump in source.view.jumps:
        if (jump.source, jump.number) == target.origin:
            if not jump.reset:
                return None
            before: Array = row @ floats(list(jump.reset))
            return before
    return row
