"""Reachable abstract states by slices of what is reached of them, not of whole cells.

For every cell C an *entry* is kept: directions and offsets of a polyhedron that holds all states
in which runs enter C, at the start, over a switch or over a facet. From the entry the flow is
followed by slices (`slices`) as long as they meet C:

- a run is in C only while it is in such a slice, so their hull, the *visited* part of C, is where
  switches are taken and bad states are met;
- it leaves C over the hyperplane of a predicate that the flow crosses outwards there (the facet
  test), in a state of a slice that lies in that hyperplane: these states enter the next cell.

An entry that grows is followed again; one that keeps growing becomes the whole cell. Where slices
are cut, rows of the visited part are dropped until the flow keeps the others within the cell (the
facet test, on the part). So entries and visited parts over-approximate, up to the
rounding of linear programs; like all slices they prove nothing by themselves.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator

import numpy as np

from workbench.abstraction.predicates.cells import CLOSE, AbstractState, Cells
from workbench.abstraction.predicates.search import AbstractGraph, Step
from workbench.abstraction.predicates.slices import CellSlicer, Slices
from workbench.abstraction.templates.system import Array, Flow, Polyhedron
from workbench.reach.sets.support import SupportOracle

MOST_ENTRIES = 12
"""An entry that grew so often becomes the whole cell."""
GROWN = 1e-7
"""Growth below this, relative to the offset, is rounding."""


class TrackedSearch:
    """The entries and visited parts of abstract states, by offsets in common directions."""

    def __init__(self, cells: Cells, slicer: CellSlicer):
        self.cells, self.slicer = cells, slicer
        self.graph = AbstractGraph(cells)
        self.entries: dict[AbstractState, Array] = {}
        self.visited: dict[AbstractState, Array] = {}
        n = len(cells.system.names)
        planes = [
            rows
            for location in cells.system.locations
            for rows in cells.half_spaces(
                AbstractState(location, (1,) * len(cells.predicates[location]))
            )[0]
        ]
        axes = [sign * row for row in np.eye(n) for sign in (1.0, -1.0)]
        both = [sign * row for row in planes for sign in (1.0, -1.0)]
        self.directions = np.array(list({tuple(row): row for row in (*axes, *both)}.values()))
        self.programs = 0
        self._grown: dict[AbstractState, int] = {}
        self._pending: deque[AbstractState] = deque()

    def explore(self, most: int, stop: Callable[[], bool]) -> AbstractGraph:
        """Everything reachable, or what was found when a limit was met or bad states were."""
        for start in self.cells.system.starts:
            for state in self.cells.meeting(start.relation, start.location):
                self._enter(Step(None, state), self._extents(start.relation, len(self.names)))
        while self._pending:
            if len(self.graph.found) > most or stop() or self.graph.bad is not None:
                return self.graph
            self._follow(self._pending.popleft())
        self.graph.complete = True
        return self.graph

    @property
    def names(self) -> tuple[str, ...]:
        """The variables."""
        return self.cells.system.names

    def _enter(self, step: Step, found: Callable[[AbstractState], Array | None]) -> None:
        """Note that runs enter a cell in the states whose extents are found."""
        state = step.target
        entered = found(state)
        if entered is None:
            return
        if step not in self.graph.steps:
            self.graph.steps.append(step)
        known = self.entries.get(state)
        if known is None:
            self.graph.found[state] = step
            self.entries[state] = entered
        elif np.any(entered > known + GROWN * np.maximum(1.0, np.abs(known))):
            self._grown[state] = self._grown.get(state, 0) + 1
            self.entries[state] = np.maximum(known, entered)
            if self._grown[state] >= MOST_ENTRIES:
                self.entries[state] = np.full(len(entered), np.inf)
        else:
            return
        if state not in self._pending:
            self._pending.append(state)

    def _follow(self, state: AbstractState) -> None:
        """Slices from the entry of a cell, with the switches and bad states that they meet."""
        self.graph.expanded += 1
        known = np.isfinite(self.entries[state])
        part = self.directions[known], self.entries[state][known]
        self.visited[state] = self.entries[state].copy()
        self._met(state, Polyhedron(self.names, *self._with_cell(state, part)), 0)
        for slices in self.slicer.slices(state, part):
            if not self._slices(state, slices, part):
                self._widened(state)

    def _slices(self, state: AbstractState, slices: Slices, part: tuple[Array, Array]) -> bool:
        """Follow the slices as long as they meet the cell; False if they were cut."""
        n = len(self.names)
        for _ in range(self.slicer.most):
            is_empty = True
            for polyhedron in slices.polyhedra():
                if self._met(state, polyhedron, n):
                    is_empty = False
                    for step in self._crossings(state):
                        self._enter(step, self._on_facet(polyhedron, n, step))
            slices.advance()
            if is_empty or slices.begins_in(*part):
                return True
            if slices.is_large or self.slicer.stop():
                return False
        return False

    def _widened(self, state: AbstractState) -> None:
        """Where slices were cut: what has been visited, without the rows that flow does not
        keep within the cell. No run leaves that but over a facet of the cell."""
        self.slicer.cut.add(state)
        flows = [flow for flow in self.cells.system.flows if flow.location == state.location]
        offsets = self.visited[state].copy()
        kept = False
        while not kept:
            kept = True
            for flow in flows:
                for i in list(self._left(state, flow, offsets)):
                    offsets[i], kept = np.inf, False
        self.visited[state] = offsets
        for flow in flows:
            inside = self._inside(state, flow, offsets)
            self._met(state, inside, 0)
            for step in self._crossings(state):
                self._enter(step, self._on_facet(inside, 0, step))

    def _left(self, state: AbstractState, flow: Flow, offsets: Array) -> Iterator[int]:
        """The rows over which the flow may leave: d f > 0 somewhere where d x is the offset."""
        inside = self._inside(state, flow, offsets)
        n = len(self.names)
        for i in np.flatnonzero(np.isfinite(offsets)):
            direction = self.directions[i]
            facet = np.concatenate([-direction, np.zeros(inside.matrix.shape[1] - n)])
            oracle = SupportOracle(
                np.vstack([inside.matrix, facet]), np.append(inside.bound, CLOSE - offsets[i])
            )
            supported = oracle(np.concatenate([direction @ flow.state, direction @ flow.rest]))
            if supported is not None and supported.value + direction @ flow.constant > 0:
                yield int(i)

    def _inside(self, state: AbstractState, flow: Flow, offsets: Array) -> Polyhedron:
        """The part of a cell where the rows hold, with the flow's other unknowns."""
        known = np.isfinite(offsets)
        rows, bound = self._with_cell(state, (self.directions[known], offsets[known]))
        padding = np.zeros((len(rows), flow.domain.matrix.shape[1] - rows.shape[1]))
        matrix = np.vstack([np.hstack([rows, padding]), flow.domain.matrix])
        return Polyhedron(flow.domain.names, matrix, np.concatenate([bound, flow.domain.bound]))

    def _crossings(self, state: AbstractState) -> Iterator[Step]:
        for p in sorted(self.cells.crossed(state)):
            signs = (*state.signs[:p], -state.signs[p], *state.signs[p + 1 :])
            yield Step(state, AbstractState(state.location, signs), predicate=p)

    def _met(self, state: AbstractState, polyhedron: Polyhedron, first: int) -> bool:
        """Note what a polyhedron has in the cell: states visited, bad ones, and switches.
        False if it has nothing there."""
        here = self._extents(polyhedron, first)(state)
        if here is None:
            return False
        self.visited[state] = np.maximum(self.visited[state], here)
        if self.graph.bad is None and self._is_bad(state, polyhedron, first):
            self.graph.bad = state
        for target, k in self.cells.switched(state):
            relation = self.cells.system.switches[k].relation
            joint = self._joint(state, polyhedron, first, relation)
            after = joint.matrix.shape[1] - len(relation.names) + len(self.names)
            self._enter(Step(state, target, switch=k), self._extents(joint, after))
        return True

    def _is_bad(self, state: AbstractState, polyhedron: Polyhedron, first: int) -> bool:
        """Whether the polyhedron has a bad state in the cell, or nearly."""
        for location, bad in self.cells.system.bad:
            if location == state.location:
                joint = self._joint(state, polyhedron, first, bad)
                margin = np.zeros(joint.matrix.shape[1])
                margin[-1] = 1.0
                supported = SupportOracle(joint.matrix, joint.bound)(margin)
                if supported is not None and supported.value > -CLOSE:
                    return True
        return False

    def _joint(
        self, state: AbstractState, polyhedron: Polyhedron, first: int, other: Polyhedron
    ) -> Polyhedron:
        """Rows over the unknowns of both, the other's first ones being the polyhedron's from
        `first` on, in the cell."""
        n, wide = len(self.names), polyhedron.matrix.shape[1]
        cell, levels = self.cells.half_spaces(state)
        own = np.vstack([polyhedron.matrix, np.zeros((len(cell), wide))])
        own[len(polyhedron.matrix) :, first : first + n] = cell
        same = np.zeros((n, wide))
        same[:, first : first + n] = np.eye(n)
        equal = np.hstack([same, -np.eye(n, other.matrix.shape[1])])
        matrix = [
            np.hstack([own, np.zeros((len(own), other.matrix.shape[1]))]),
            np.hstack([np.zeros((len(other.bound), wide)), other.matrix]),
            equal,
            -equal,
        ]
        bound = [polyhedron.bound, levels, other.bound, np.zeros(2 * n)]
        names = (*polyhedron.names, *other.names)
        return Polyhedron(names, np.vstack(matrix), np.concatenate(bound))

    def _with_cell(self, state: AbstractState, part: tuple[Array, Array]) -> tuple[Array, Array]:
        normals, levels = self.cells.half_spaces(state)
        return np.vstack([normals, part[0]]), np.concatenate([levels, part[1]])

    # Extents

    def _extents(
        self, polyhedron: Polyhedron, first: int
    ) -> Callable[[AbstractState], Array | None]:
        """The extents in all directions of what a polyhedron has in a cell, its unknowns from
        `first` on; None if it has nothing there."""

        def found(state: AbstractState) -> Array | None:
            return self._supports(polyhedron, first, *self.cells.half_spaces(state))

        return found

    def _on_facet(
        self, polyhedron: Polyhedron, first: int, step: Step
    ) -> Callable[[AbstractState], Array | None]:
        """The same for what lies in the cell that is left and in the one that is entered."""
        assert step.source is not None
        left, level = self.cells.half_spaces(step.source)

        def found(state: AbstractState) -> Array | None:
            entered, bound = self.cells.half_spaces(state)
            rows, levels = np.vstack([left, entered]), np.concatenate([level, bound])
            return self._supports(polyhedron, first, rows, levels)

        return found

    def _supports(
        self, polyhedron: Polyhedron, first: int, normals: Array, levels: Array
    ) -> Array | None:
        n, wide = len(self.names), polyhedron.matrix.shape[1]
        rows = np.zeros((len(normals), wide))
        rows[:, first : first + n] = normals
        room = CLOSE * np.maximum(1.0, np.abs(levels))
        oracle = SupportOracle(
            np.vstack([rows, polyhedron.matrix]), np.concatenate([levels + room, polyhedron.bound])
        )
        extents = np.empty(len(self.directions))
        for i, direction in enumerate(self.directions):
            objective = np.zeros(wide)
            objective[first : first + n] = direction
            self.programs += 1
            supported = oracle(objective)
            if supported is None:
                return None
            extents[i] = supported.value
        return extents
