"""Unbounded-time reachability of rectangular systems, exact in rationals.

In a place (see `reach.rectangular_system`) with invariant I and directions D of time, the
states reachable from entries Q inside I are (Q + cone D) intersected with I: the invariant is
convex, so the straight line to a reachable state stays in it. Two searches share this step:

- `explore_hulls` keeps one polyhedron for each place, the hull of its entries: an
  over-approximation, small and quick, and a proof if it meets no bad state;
- `explore_exactly` keeps every polyhedron that no other of its place contains: the reachable
  set itself (up to the closure of strict inequalities), wherever it terminates.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from reach.double_description import Vector, dot
from reach.polyhedron import Polyhedron
from reach.rectangular_system import Move, Place, RectangularSystem


@dataclass
class Node:
    """A convex set of reachable states of a place. `elapsed` = entries + cone D is closed
    under time; `states` is its part inside the invariant."""

    place: Place
    elapsed: Polyhedron
    states: Polyhedron
    parent: Node | None = None
    move: Move | None = None
    grown: int = 0

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
    """What a search found: all nodes, or the first that meets bad states (`bad` is the case
    of the bad set); `complete` if nothing is left to explore."""

    nodes: list[Node] = field(default_factory=list)
    reached_bad: Node | None = None
    bad: int = 0
    complete: bool = False
    steps: int = 0


Stop = Callable[[int], bool]
"""Asked before each step, with the number of nodes: whether to give up."""

WIDEN_AFTER = 12
"""How often the hull of a place may grow before it is widened."""


def explore_hulls(system: RectangularSystem, stop: Stop = lambda count: False) -> Explored:
    """One convex set for each place, closed under time and jumps."""
    found = Explored()
    nodes: dict[Place, Node] = {}
    queue: deque[Node] = deque()
    waiting: set[Place] = set()

    def enter(
        place: Place,
        generators: list[Vector],
        lines: list[Vector],
        parent: Node | None,
        move: Move | None,
    ) -> bool:
        """Add states to a place; whether bad ones are among them."""
        node = nodes.get(place)
        if node is None:
            rays, flow_lines = system.directions(place)
            elapsed = Polyhedron.generated(
                system.dimension, [*generators, *rays], [*lines, *flow_lines]
            )
            states = system.invariant(place).on(elapsed)
            if states is None:
                return False
            node = nodes[place] = Node(place, elapsed, states, parent, move)
            found.nodes.append(node)
        elif not _grow(system, node, generators, lines):
            return False
        if place not in waiting:
            waiting.add(place)
            queue.append(node)
        bad = _bad_case(system, node)
        if bad is not None:
            found.reached_bad, found.bad = node, bad
        return bad is not None

    for place, entries in system.starts():
        if enter(place, list(entries.generators), list(entries.lines), None, None):
            return found
    while queue:
        if stop(len(nodes)):
            return found
        node = queue.popleft()
        waiting.discard(node.place)
        found.steps += 1
        for move in system.moves(node.place):
            successors = move.successors(node.states)
            if not isinstance(successors, Polyhedron) and enter(
                move.target, *successors, node, move
            ):
                return found
    found.complete = True
    return found


def _grow(
    system: RectangularSystem, node: Node, generators: list[Vector], lines: list[Vector]
) -> bool:
    """Add entries to a node; False if they were there already."""
    new = [g for g in generators if not node.elapsed.contains_generator(g)]
    constraints = (*node.elapsed.cone.inequalities, *node.elapsed.cone.equations)
    new_lines = [line for line in lines if any(dot(row, line) for row in constraints)]
    if not new and not new_lines:
        return False
    elapsed = node.elapsed.with_generators(new, new_lines)
    node.grown += 1
    if node.grown > WIDEN_AFTER:
        elapsed = widened(node.elapsed, elapsed)
    node.elapsed = elapsed
    states = system.invariant(node.place).on(elapsed)
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
    for number, bounds in system.bad(node.place):
        if bounds.on(node.states) is not None:
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
    found = Explored()
    by_place: dict[Place, list[Node]] = {}
    queue: deque[Node] = deque()
    pending: deque[tuple[Place, Polyhedron, Node | None, Move | None]] = deque(
        (place, entries, None, None) for place, entries in system.starts()
    )
    while pending or queue:
        while pending:
            node = _admitted(system, by_place, *pending.popleft())
            if node is None:
                continue
            found.nodes.append(node)
            queue.append(node)
            bad = _bad_case(system, node)
            if bad is not None and is_real(node, bad):
                found.reached_bad, found.bad = node, bad
                return found
        if not queue or stop(len(found.nodes)):
            return found if queue else _finished(found, by_place)
        node = queue.popleft()
        found.steps += 1
        pending.extend(_successors(system, node))
    return _finished(found, by_place)


def _finished(found: Explored, by_place: dict[Place, list[Node]]) -> Explored:
    found.nodes = [node for nodes in by_place.values() for node in nodes]
    found.complete = True
    return found


def _successors(
    system: RectangularSystem, node: Node
) -> Iterator[tuple[Place, Polyhedron, Node, Move]]:
    for move in system.moves(node.place):
        successors = move.successors(node.states)
        if not isinstance(successors, Polyhedron):
            entries = Polyhedron.generated(system.dimension, *successors)
            yield move.target, entries, node, move


def _admitted(
    system: RectangularSystem,
    by_place: dict[Place, list[Node]],
    place: Place,
    entries: Polyhedron,
    parent: Node | None,
    move: Move | None,
) -> Node | None:
    """A node for new entries; None if known nodes contain them. Nodes that the new one
    contains are forgotten (their successors are among its successors)."""
    known = by_place.setdefault(place, [])
    if any(node.elapsed.contains(entries) for node in known):
        return None
    rays, lines = system.directions(place)
    elapsed = entries.with_generators(rays, lines)
    states = system.invariant(place).on(elapsed)
    if states is None:
        return None
    known[:] = [node for node in known if not elapsed.contains(node.elapsed)]
    node = Node(place, elapsed, states, parent, move)
    known.append(node)
    return node
