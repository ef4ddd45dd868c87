"""Continuous successors of whole cells by polyhedral slices, as the method's authors describe.

Within a location x' = A x + u, u in a box c +- m. From P = cell and invariant, a run at time t in
[k r, (k+1) r] is in

    slice k = hull(E^k P + g_k, E^(k+1) P + g_(k+1)) +- (e + n_(k+1)),  E = e^(A r),

where g is the run of 0 under u = c, and, entry by entry with |.| of matrices,

    e   = r^2/8 e^(|A| r) |A (A y + c)|, bounded over y in E^k P + g_k
          (a smooth curve leaves its chord by at most r^2/8 times its second derivative,
          which is e^(A s) A (A y + c) here),
    n_k = sum over j < k of |E^j| F m,  F = integral of e^(|A| s) ds over [0, r]
          (what inputs add up to by any time until k r).

Slices over-approximate, up to rounding, for which e and n get a little more. Unbounded cells
have unbounded e where their second derivatives are unbounded. A location of several cases is
x' = A x + u with the A of the first and a box of u that holds them all.

Slices of whole cells never exclude what the facet test of `abstract_cells` allows: where that finds
a way over a facet, slice 0 is on both sides. They tell what is met how soon, and repeat the
published run. Slices of the part of a cell that is reached exclude more (`tracked_slices`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice

import numpy as np

from workbench.abstraction.predicates.cells import AbstractState, Cells
from workbench.abstraction.predicates.zone_solver import closed
from workbench.abstraction.templates.system import Array, Flow, Polyhedron
from workbench.models.automaton import primed
from workbench.reach.affine.matrix_exponential import matrix_exponential
from workbench.reach.sets.support import SupportOracle

MOST_SLICES = 40
ROUNDING = 1e-9
LONGEST = 5.0
"""Slices are no longer than this over the norm of A."""
MOST_CELLS = 200
"""Locations with more cells than this are not listed, to see that nothing is left to be met."""
LARGEST = 1e6
"""Where E^k has larger entries slices are cut: floating point says little then."""


@dataclass(frozen=True)
class Motion:
    """x' = A x + u with u in centre +- spread, which holds every case of a location; E, e^(|A| r)
    and F for one step, and the motion of 0."""

    flows: tuple[Flow, ...]
    state: Array
    centre: Array
    spread: Array
    step: float

    @cached_property
    def advance(self) -> Array:
        """E = e^(A r)."""
        return matrix_exponential(self.state * self.step)

    @cached_property
    def growth(self) -> Array:
        """e^(|A| r)."""
        return matrix_exponential(np.abs(self.state) * self.step)

    @cached_property
    def drift(self) -> Array:
        """Where 0 is after one step with u = c."""
        moved: Array = _integral(self.state, self.step) @ self.centre
        return moved

    @cached_property
    def noise(self) -> Array:
        """F m: how far inputs lead astray in one step."""
        return _times(_integral(np.abs(self.state), self.step), self.spread)


class CellSlicer:
    """Slices of length r from cells, at most so many from each.

    `cut` holds the states whose slices might have gone on: of those nothing is known about
    later times.
    """

    def __init__(
        self,
        cells: Cells,
        step: float,
        most: int = MOST_SLICES,
        stop: Callable[[], bool] = lambda: False,
    ):
        self.cells, self.most, self.stop = cells, most, stop
        self.cut: set[AbstractState] = set()
        self._listed: dict[str, set[AbstractState | None]] = {}
        self._motions: dict[str, Motion] = {}
        for location in cells.system.locations:
            flows = tuple(flow for flow in cells.system.flows if flow.location == location)
            if flows:
                self._motions[location] = _motion(flows, step)

    def flown(self, state: AbstractState) -> Iterator[tuple[AbstractState, int]]:
        """The other cells that slices of a cell meet, as they are found, with the number of
        the slice. The last slice is one that is empty, or after which all is in the cell
        again, or no other cell is left to be met."""
        met: set[AbstractState | None] = {state}
        for slices in self.slices(state):
            ended = False
            for k in range(self.most):
                is_empty = True
                for other in slices.meets():
                    is_empty = False
                    if other not in met:
                        met.add(other)
                        yield other, k
                slices.advance()
                ended = is_empty or self._all_cells(state.location) <= met or slices.returned()
                if ended or slices.is_large or self.stop():
                    break
            if not ended:
                self.cut.add(state)

    def slices(
        self, state: AbstractState, part: tuple[Array, Array] | None = None
    ) -> Iterator[Slices]:
        """The slices of a cell, or of the part of it where further rows hold, for every case of
        its location's invariant."""
        normals, levels = self.cells.half_spaces(state)
        if part is not None:
            normals, levels = np.vstack([normals, part[0]]), np.concatenate([levels, part[1]])
        if (motion := self._motions.get(state.location)) is not None:
            for flow in motion.flows:
                start = _within(normals, levels, flow.domain)
                yield Slices(motion, start, self.cells, state)

    def _all_cells(self, location: str) -> set[AbstractState | None]:
        """The cells of a location; with None among them if there are too many to list."""
        if location not in self._listed:
            cells = chain.from_iterable(
                self.cells.meeting(_arrived(flow.domain, self.cells.system.names), location)
                for flow in self._motions[location].flows
            )
            found: set[AbstractState | None] = set(islice(cells, MOST_CELLS))
            self._listed[location] = found if next(cells, None) is None else {None}
        return self._listed[location]


class Slices:
    """The slices of one polyhedron over (x, w), one after the other."""

    def __init__(self, motion: Motion, start: Polyhedron, cells: Cells, state: AbstractState):
        n = len(motion.state)
        self._motion, self._start, self._cells, self._state = motion, start, cells, state
        self._oracle = SupportOracle(start.matrix, start.bound)
        self._power, self._shift, self._noise = np.eye(n), np.zeros(n), np.zeros(n)

    def advance(self) -> None:
        """Go on to the next slice."""
        motion = self._motion
        self._noise = self._noise + _times(np.abs(self._power), motion.noise)
        self._shift = motion.advance @ self._shift + motion.drift
        self._power = motion.advance @ self._power

    @property
    def is_large(self) -> bool:
        """Whether numbers have grown beyond use."""
        return bool(np.abs(self._power).max() > LARGEST)

    def meets(self) -> Iterator[AbstractState]:
        """The cells that this slice meets within the invariant."""
        for polyhedron in self.polyhedra():
            yield from self._cells.meeting(polyhedron, self._state.location)

    def polyhedra(self) -> Iterator[Polyhedron]:
        """This slice, over (p, x, rest), within each case of the invariant."""
        for flow in self._motion.flows:
            yield self._slice(flow.domain)

    def returned(self) -> bool:
        """Whether all that is left at the beginning of this slice lies in the cell again:
        then all that follows has been seen."""
        return self.begins_in(*self._cells.half_spaces(self._state))

    def begins_in(self, normals: Array, levels: Array) -> bool:
        """Whether all that is left at the beginning of this slice satisfies the rows."""
        for normal, level in zip(normals, levels, strict=True):
            most = self._highest(normal @ self._power) + normal @ self._shift
            if not most + _times(np.abs(normal)[None], self._noise)[0] <= level:
                return False
        return True

    def _highest(self, direction: Array) -> float:
        objective = np.zeros(len(self._start.names))
        objective[: len(direction)] = direction
        supported = self._oracle(objective)
        return -np.inf if supported is None else supported.value

    def _bloat(self) -> Array:
        """e + n."""
        motion = self._motion
        second = motion.state @ motion.state @ self._power
        constant = motion.state @ (motion.state @ self._shift + motion.centre)
        bent = np.array(
            [
                max(0.0, self._highest(row) + c, self._highest(-row) - c)
                for row, c in zip(second, constant, strict=True)
            ]
        )
        bow = motion.step**2 / 8 * _times(motion.growth, bent)
        total = bow + self._noise + _times(np.abs(self._power), motion.noise)
        return total * (1 + ROUNDING) + ROUNDING

    def _slice(self, domain: Polyhedron) -> Polyhedron:
        """Rows over (p, x, rest): the slice within the domain at x.

        The hull of two polyhedra is that of p + q with M p <= (1 - s) b and M q <= s b; so
        x = E^k p + (1 - s) g_k + E^(k+1) q + s g_(k+1) + error, and x with some w in the domain.
        """
        motion, start = self._motion, self._start
        n, wide, rest = len(motion.state), len(start.names), len(domain.names) - len(motion.state)
        p, x, inputs, q = slice(0, n), slice(n, 2 * n), slice(2 * n, n + wide), n + wide
        share = q + wide
        columns = share + 1 + rest
        first = np.zeros((len(start.bound), columns))
        first[:, p], first[:, inputs] = start.matrix[:, :n], start.matrix[:, n:]
        first[:, share] = start.bound
        second = np.zeros((len(start.bound), columns))
        second[:, q:share], second[:, share] = start.matrix, -start.bound
        between = np.zeros((2, columns))
        between[:, share] = -1.0, 1.0
        inside = np.zeros((len(domain.bound), columns))
        inside[:, x], inside[:, share + 1 :] = domain.matrix[:, :n], domain.matrix[:, n:]
        following = motion.advance @ self._shift + motion.drift
        error = np.zeros((n, columns))
        error[:, x], error[:, p] = np.eye(n), -self._power
        error[:, q : q + n] = -motion.advance @ self._power
        error[:, share] = self._shift - following
        bloat = self._bloat()
        rows = [first, second, between, inside, error, -error]
        bounds = [start.bound, np.zeros(len(second)), np.array([0.0, 1.0]), domain.bound]
        bounds += [self._shift + bloat, bloat - self._shift]
        names = tuple(f"slice {j}" for j in range(columns))
        exact = _arrived(domain, self._cells.system.names).rows
        return Polyhedron(names, np.vstack(rows), np.concatenate(bounds), exact)


def _within(normals: Array, levels: Array, domain: Polyhedron) -> Polyhedron:
    rest = np.zeros((len(normals), len(domain.names) - normals.shape[1]))
    matrix = np.vstack([np.hstack([normals, rest]), domain.matrix])
    return Polyhedron(domain.names, matrix, np.concatenate([levels, domain.bound]))


def _arrived(domain: Polyhedron, names: tuple[str, ...]) -> Polyhedron:
    """The domain's rows for x' instead of x: a relation over (x, x', w)."""
    after = {name: primed(name) for name in names}
    matrix = np.hstack([np.zeros((len(domain.bound), len(names))), domain.matrix])
    rows = tuple(row.renamed(after) for row in closed(domain.rows))
    arrived = (*names, *(after.get(name, name) for name in domain.names))
    return Polyhedron(arrived, matrix, domain.bound, rows)


def _motion(flows: tuple[Flow, ...], step: float) -> Motion:
    """The first case's A, and the smallest box of u = x' - A x that holds every case."""
    state = flows[0].state + flows[0].rest @ _slopes(flows[0])
    norm = float(np.abs(state).sum(axis=1).max())
    step = step if norm * step <= LONGEST else LONGEST / norm
    low, high = np.full(len(state), np.inf), np.full(len(state), -np.inf)
    for flow in flows:
        oracle = SupportOracle(flow.domain.matrix, flow.domain.bound)
        for i, row in enumerate(np.hstack([flow.state - state, flow.rest])):
            most, least = oracle(row), oracle(-row)
            if most is not None and least is not None:
                high[i] = max(high[i], most.value + flow.constant[i])
                low[i] = min(low[i], flow.constant[i] - least.value)
    bounded = np.isfinite(low) & np.isfinite(high)
    centre = np.where(bounded, (np.where(bounded, low, 0) + np.where(bounded, high, 0)) / 2, 0.0)
    spread = np.where(low > high, 0.0, np.where(bounded, np.maximum(high - centre, 0), np.inf))
    return Motion(flows, state, centre, spread, step)


def _slopes(flow: Flow) -> Array:
    """How inputs follow the state: f where rows say f x + a <= w <= f x + b, else 0."""
    n = len(flow.state)
    left, right = flow.domain.matrix[:, :n], flow.domain.matrix[:, n:]
    slopes = np.zeros((right.shape[1], n))
    for j, column in enumerate(right.T):
        alone = (np.count_nonzero(right, axis=1) == 1) & (column != 0)
        above, below = (
            {
                tuple(-row / a)
                for row, a in zip(left[alone], column[alone], strict=True)
                if s * a > 0
            }
            for s in (1, -1)
        )
        slopes[j] = min(above & below, default=tuple(np.zeros(n)))
    return slopes


def _integral(matrix: Array, step: float) -> Array:
    """The integral of e^(matrix s) ds over [0, step], as a block of an exponential."""
    n = len(matrix)
    block = np.zeros((2 * n, 2 * n))
    block[:n, :n], block[:n, n:] = matrix * step, np.eye(n) * step
    return matrix_exponential(block)[:n, n:]


def _times(matrix: Array, vector: Array) -> Array:
    """matrix @ vector where infinite entries of the vector count only if they are used."""
    used = np.where(matrix == 0, 0.0, vector)
    total: Array = (matrix * used).sum(axis=1)
    return total
