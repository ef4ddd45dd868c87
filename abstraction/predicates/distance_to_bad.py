"""How far an abstract state is from the bad states: which one to look at first.

The first measure is how many switches at least lead from its location to one that has bad states;
the second, where its own has some, the smallest of max_j |x_j - y_j| / scale_j over x in the cell
and y in the (closed) bad set: one linear program. Both are lower bounds for what a run has to
cross. They order a search and decide nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from workbench.abstraction.predicates.cells import AbstractState, Cells
from workbench.abstraction.templates.system import Array, Polyhedron
from workbench.reach.sets.support import SupportOracle

NOWHERE = 10**6
"""Switches to bad states where none lead there."""


@dataclass(frozen=True)
class _BadSet:
    """An oracle over (x, z, r) with both sides of every predicate, switched by their bounds."""

    oracle: SupportOracle
    bound: Array
    columns: int


class DistanceToBad:
    """The distances of cells; scales are the widths of what is known about each variable."""

    def __init__(self, cells: Cells, scale: Array | None = None):
        self._cells = cells
        n = len(cells.system.names)
        self._scale = np.ones(n) if scale is None else np.maximum(scale, 1e-9)
        self._switches = _switches_to_bad(cells)
        self._sets: dict[str, list[_BadSet]] = {}
        for location, polyhedron in cells.system.bad:
            made = self._bad_set(location, polyhedron)
            self._sets.setdefault(location, []).append(made)
        self.programs = 0

    def __call__(self, state: AbstractState) -> tuple[int, float]:
        """Switches to a location with bad states, and the distance if it is this one."""
        found = [self._distance(state, bad) for bad in self._sets.get(state.location, ())]
        return self._switches.get(state.location, NOWHERE), min(found, default=0.0)

    def _distance(self, state: AbstractState, bad: _BadSet) -> float:
        _, levels = self._cells.half_spaces(state)
        bound = bad.bound.copy()
        for p, (sign, level) in enumerate(zip(state.signs, levels, strict=True)):
            bound[2 * p + (0 if sign > 0 else 1)] = level
        bad.oracle.rebound(bound)
        objective = np.zeros(bad.columns)
        objective[-1] = -1.0
        self.programs += 1
        supported = bad.oracle(objective)
        return np.inf if supported is None else max(0.0, -supported.value)

    def _bad_set(self, location: str, polyhedron: Polyhedron) -> _BadSet:
        """Rows of the cell's predicates on x, the bad set's on z, and |x - y| <= scale r."""
        n, wide = len(self._cells.system.names), len(polyhedron.names)
        columns = n + wide + 1
        forms = len(self._cells.predicates[location])
        normals, _ = self._cells.half_spaces(AbstractState(location, (1,) * forms))
        sides = np.zeros((2 * forms, columns))
        sides[0::2, :n], sides[1::2, :n] = normals, -normals
        inside = np.zeros((len(polyhedron.bound) + 1, columns))
        inside[:-1, n : n + wide] = polyhedron.matrix
        inside[-1, n + wide - 1] = -1.0
        apart = np.zeros((n, columns))
        apart[:, :n], apart[:, n : 2 * n] = np.eye(n), -np.eye(n)
        near = np.vstack([apart, -apart])
        near[:, -1] = -np.concatenate([self._scale, self._scale])
        matrix = np.vstack([sides, inside, near])
        free = np.full(2 * forms, np.inf)
        bound = np.concatenate([free, polyhedron.bound, [0.0], np.zeros(2 * n)])
        return _BadSet(SupportOracle(matrix, bound), bound, columns)


def _switches_to_bad(cells: Cells) -> dict[str, int]:
    """The number of switches from each location to one that has bad states."""
    found = {location: 0 for location, _ in cells.system.bad}
    pending = list(found)

    def leading_to(target: str) -> Iterator[str]:
        for switch in cells.system.switches:
            if switch.target == target and switch.source not in found:
                yield switch.source

    for location in pending:
        for source in leading_to(location):
            found[source] = found[location] + 1
            pending.append(source)
    return found
