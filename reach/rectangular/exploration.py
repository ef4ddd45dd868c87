"""Unbounded-time reachability of rectangular systems, exact in rationals.

In a place (see `reach.rectangular.system`) with invariant I and directions D of time, the
states reachable from entries Q inside I are (Q + cone D) intersected with I: the invariant is
convex, so the straight line to a reachable state stays in it. Two searches share this step:

- `explore_hulls` keeps one polyhedron for each place (and pack), the hull of its entries: an
  over-approximation, small and quick, and a proof if it meets no bad state;
- `explore_exactly` keeps every polyhedron that no other of its place contains: the reachable
  set itself, up to the closure of strict inequalities and up to `extrapolated` values that no
  condition tells apart, wherever it terminates (timed automata: always).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from operator import is_

from workbench.reach.rectangular.moves import Entries, Move, Place, States, restricted
from workbench.reach.rectangular.system import RectangularSystem
from workbench.reach.sets.double_description import Vector, dot
from workbench.reach.sets.polyhedron import Polyhedron, integer_row


@dataclass(eq=False)
class Node:
    """A convex set of reachable states of a place. `elapsed` = entries + cone D is closed
    under time; `states` is its part inside the invariant."""

    place: Place
    elapsed: States
    states: States
    parent: Node | None = None
    move: Move | None = None
    grown: int = 0
    enabled: frozenset[tuple[int, int]] = frozenset()
    """The edges and cases that could be taken when the node was last left."""

    def path(self) -> list[tuple[Place, Move | None]]:
        """The places from a start to here, each with the move that led to it."""
        found: list[tuple[Place, Move | None]] = []
        node: Node | None = self
        while node is not None:
            found.append((node.place, node.move))
            node = node.parent
        return found[::-1]


@dataclass
class Explored:
    """What a search found: all nodes, or a way to one that meets bad states (`path`: places,
    each with the move that led to it; `bad`: the case of the bad set); `complete` if nothing
    is left to explore."""

    nodes: list[Node] = field(default_factory=list)
    path: list[tuple[Place, Move | None]] | None = None
    bad: int = 0
    complete: bool = False
    steps: int = 0


Stop = Callable[[int], bool]
"""Asked before each step, with the number of sets found: whether to give up."""

WIDEN_AFTER = 16
"""How often the hull of a place may grow before it is widened."""


def explore_hulls(system: RectangularSystem, stop: Stop = lambda count: False) -> Explored:
    """One convex set for each place, closed under time and jumps."""
    found = Explored()
    nodes: dict[Place, Node] = {}
    queue: deque[Node] = deque()
    waiting: set[Place] = set()

    def enter(place: Place, entries: Entries, parent: Node | None, move: Move | None) -> bool:
        """Add states to a place; whether bad ones are among them."""
        node = nodes.get(place)
        if node is None:
            node = _new_node(system, place, entries, parent, move)
            if node is None:
                return False
            nodes[place] = node
            found.nodes.append(node)
        elif not _grow(system, node, entries):
            return False
        if place not in waiting:
            waiting.add(place)
            queue.append(node)
        bad = _bad_case(system, node)
        if bad is not None:
            before = [] if parent is None else parent.path()
            found.path, found.bad = [*before, (place, move)], bad
        return bad is not None

    for _, place, entries in system.starts():
        if enter(place, entries, None, None):
            return found
    while queue:
        if stop(len(nodes)):
            return found
        node = queue.popleft()
        waiting.discard(node.place)
        found.steps += 1
        for move, successors in _leave(system, node):
            if enter(move.target, successors, node, move):
                return found
    found.complete = True
    return found


def _leave(system: RectangularSystem, node: Node) -> list[tuple[Move, Entries]]:
    """The jumps from a node, with the generators of their successors."""
    found: list[tuple[Move, Entries]] = []
    for move in system.moves(node.place):
        successors = move.successors(node.states)
        if successors is not None:
            found.append((move, successors))
    node.enabled = frozenset((move.edge, move.case) for move, _ in found)
    return found


def _new_node(
    system: RectangularSystem,
    place: Place,
    entries: Entries,
    parent: Node | None,
    move: Move | None,
) -> Node | None:
    """The states that time reaches from entries; None if the invariant allows none."""
    elapsed = system.elapsed(place, entries)
    states = system.within(place, elapsed)
    return None if states is None else Node(place, elapsed, states, parent, move)


def _grow(system: RectangularSystem, node: Node, entries: Entries) -> bool:
    """Add entries to a node; False if they were there already."""
    grown = list(map(Polyhedron.including, node.elapsed, entries))
    if all(map(is_, grown, node.elapsed)):
        return False
    if node.grown >= WIDEN_AFTER:
        grown = [
            after if after is before else widened(before, after)
            for before, after in zip(node.elapsed, grown, strict=True)
        ]
    node.grown += 1
    node.elapsed = tuple(grown)
    states = system.within(node.place, node.elapsed)
    assert states is not None, "a set that grows does not become empty"
    node.states = states
    return True


def widened(before: Polyhedron, after: Polyhedron) -> Polyhedron:
    """A set that contains both: the constraints of the first that the second keeps."""
    kept = [
        row
        for row in before.inequalities
        if all(dot(row, g) >= 0 for g in after.generators)
        and all(dot(row, line) == 0 for line in after.lines)
    ]
    return Polyhedron.universe(after.dimension).restricted(kept, after.equations)


def _bad_case(system: RectangularSystem, node: Node) -> int | None:
    for number, placed in system.bad(node.place):
        if restricted(node.states, placed.bounds) is not None:
            return number
    return None


def explore_exactly(
    system: RectangularSystem,
    stop: Stop = lambda count: False,
    is_real: Callable[[Node, int], bool] = lambda node, bad: True,
) -> Explored:
    """Every reachable convex set, breadth first, until a bad state is reached.

    `is_real` may reject a node that meets the bad set (where only its closure does); the
    search then goes on.
    """
    assert len(system.packs) == 1, "packs lose relations"
    found = Explored()
    known: dict[Place, list[Node]] = {}
    queue: deque[Node] = deque()

    def enter(place: Place, entries: Entries, parent: Node | None, move: Move | None) -> bool:
        node = _admitted(system, known, place, entries, parent, move)
        if node is None:
            return False
        found.nodes.append(node)
        queue.append(node)
        bad = _bad_case(system, node)
        if bad is None or not is_real(node, bad):
            return False
        found.path, found.bad = node.path(), bad
        return True

    for _, place, entries in system.starts():
        if enter(place, entries, None, None):
            return found
    while queue:
        if stop(len(found.nodes)):
            return found
        node = queue.popleft()
        if node not in known[node.place]:
            continue  # a larger set has taken its place
        found.steps += 1
        for move, successors in _leave(system, node):
            if enter(move.target, successors, node, move):
                return found
    found.nodes = [node for nodes in known.values() for node in nodes]
    found.complete = True
    return found


def extrapolated(system: RectangularSystem, states: Polyhedron) -> Polyhedron:
    """For a zone (bounds of variables and of their differences): a larger one that conditions
    cannot tell apart in timed automata, of which there are finitely many. What a tight bound
    says about values of a variable beyond the largest number it is compared with, among
    non-negative values, is dropped or relaxed to that number. Other sets stay as they are."""
    limits = [system.largest.get(name) for name in system.packs[0]]
    tight = _zone_rows(states)
    kept = [relaxed for row in tight if (relaxed := _relaxed(row, limits)) is not None]
    if kept == tight or not states.contains(_described_by(tight, states)):
        return states
    return _described_by(kept, states)


def _described_by(rows: list[Vector], like: Polyhedron) -> Polyhedron:
    return Polyhedron.universe(like.dimension).restricted(rows)


def _zone_rows(states: Polyhedron) -> list[Vector]:
    """The tight bounds c + x_i - x_j >= 0, c + x_i >= 0 and c - x_j >= 0."""
    size = states.dimension + 1
    found: list[Vector] = []
    for i in range(size):
        for j in range(size):
            row = [int(k == i) - int(k == j) for k in range(size)]
            row[0] = 0
            if i == j or any(dot(tuple(row), line) for line in states.lines):
                continue
            values = [(dot(tuple(row), g), g[0]) for g in states.generators]
            if all(value >= 0 for value, weight in values if not weight):
                least = min(Fraction(value, weight) for value, weight in values if weight)
                found.append(integer_row(-least, dict(enumerate(map(Fraction, row[1:]))), size - 1))
    return found


def _relaxed(row: Vector, limits: list[Fraction | None]) -> Vector | None:
    """A bound without what it says beyond the limits; None for nothing."""
    lowering = next((i for i, a in enumerate(row[1:]) if a < 0), None)
    raising = next((i for i, a in enumerate(row[1:]) if a > 0), None)
    below = None if lowering is None else limits[lowering]
    if lowering is not None and below is not None and row[0] + row[lowering + 1] * below >= 0:
        return None  # violated only where that variable is beyond its limit
    above = None if raising is None else limits[raising]
    if raising is None or above is None:
        return row
    # One more than the limit: at the limit itself conditions may still tell values apart.
    least = -row[raising + 1] * (above + 1)
    if row[0] >= least:
        return row
    return integer_row(least, dict(enumerate(map(Fraction, row[1:]))), len(row) - 1)


def _admitted(
    system: RectangularSystem,
    known: dict[Place, list[Node]],
    place: Place,
    entries: Entries,
    parent: Node | None,
    move: Move | None,
) -> Node | None:
    """A node for new entries; None if a known node contains them. Nodes that the new one
    contains are forgotten: their successors are among its successors."""
    here = known.setdefault(place, [])
    if any(node.elapsed[0].contains_all(entries[0]) for node in here):
        return None
    node = _new_node(system, place, entries, parent, move)
    if node is None:
        return None
    elapsed = extrapolated(system, node.elapsed[0])
    if elapsed is not node.elapsed[0]:
        states = system.within(place, (elapsed,))
        assert states is not None, "a larger set is not empty"
        node.elapsed, node.states = (elapsed,), states
    here[:] = [other for other in here if not elapsed.contains(other.elapsed[0])]
    here.append(node)
    return node
