"""Where the elements of one level of a model stand: boxes, arrows and labels with coordinates.

A picture may continue an earlier one: what was in it stays where it was, as far as there is
room, and a part that has only changed its name keeps its place.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from workbench.models.language.drawing.diagram import Diagram, Edge, Node, Part
from workbench.reports.pictures.diagram_parts import (
    LABEL_LIMIT,
    LABEL_LINES_SHOWN,
    LINE_LIMIT,
    LINES_SHOWN,
    PADDING,
    PREFERRED_SHAPE,
)
from workbench.reports.pictures.layered_layout import (
    NO_LABEL,
    Arrangement,
    Link,
    Point,
    Route,
    Size,
    arrange,
)
from workbench.reports.pictures.svg import (
    CHARACTER,
    LINE_HEIGHT,
    TITLE_CHARACTER,
    TITLE_HEIGHT,
    columns,
    cut,
)

MARGIN = 12.0
GAP = 20.0
BOTH_WAYS_TRIED = 150
"""Larger levels are laid out from top to bottom without trying the other way too."""
NOT_WRITTEN = frozenset({"parameter", "variable"})
"""What the box of a part does not repeat."""


@dataclass(frozen=True, slots=True)
class Box:
    """The place of a node, and the lines below its title."""

    x: float
    y: float
    width: float
    height: float
    lines: tuple[str, ...]

    @property
    def centre(self) -> Point:
        """The middle of the box."""
        return self.x + self.width / 2, self.y + self.height / 2


@dataclass(frozen=True, slots=True)
class Way:
    """The way of an edge: a start, then three points for each cubic curve; its label's lines and
    their top left corner."""

    points: tuple[Point, ...]
    label: Point
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LevelPicture:
    """A diagram with a box for each of its nodes and a way for each of its edges; `across` says
    that it leads from left to right rather than down."""

    diagram: Diagram
    across: bool
    width: float
    height: float
    boxes: tuple[Box, ...]
    ways: tuple[Way, ...]


def draw_level(diagram: Diagram, earlier: LevelPicture | None = None) -> LevelPicture:
    """A picture of a level, like the earlier one as far as that shows the same."""
    lines = [_node_lines(node) for node in diagram.nodes]
    sizes = [_size(node, said) for node, said in zip(diagram.nodes, lines, strict=True)]
    labels = [_edge_lines(edge) for edge in diagram.edges]
    if earlier is not None and _looks_alike(earlier, diagram, sizes, labels):
        boxes = tuple(replace(b, lines=said) for b, said in zip(earlier.boxes, lines, strict=True))
        return replace(earlier, diagram=diagram, boxes=boxes)
    links, members = _links(diagram, labels)
    centres = _earlier_centres(diagram, earlier) if earlier is not None else []
    if earlier is not None and any(c is not None for c in centres):
        across = earlier.across
        drawn = arrange(sizes, links, across=across, earlier=centres)
    else:
        across, drawn = _fresh(sizes, links)
    ways: list[Way | None] = [None] * len(diagram.edges)
    for route, inside in zip(drawn.routes, members, strict=True):
        x, y = route.label[0] + MARGIN, route.label[1] + MARGIN
        for edge in inside:
            ways[edge] = Way(_points(route), (x, y), labels[edge])
            y += (len(labels[edge]) + 1) * LINE_HEIGHT
    boxes = tuple(
        Box(x + MARGIN, y + MARGIN, size.width, size.height, said)
        for (x, y), size, said in zip(drawn.corners, sizes, lines, strict=True)
    )
    return LevelPicture(
        diagram,
        across,
        drawn.size.width + 2 * MARGIN,
        drawn.size.height + 2 * MARGIN,
        boxes,
        tuple(way for way in ways if way is not None),
    )


def _looks_alike(
    earlier: LevelPicture, diagram: Diagram, sizes: Sequence[Size], labels: Sequence[Sequence[str]]
) -> bool:
    """Whether nothing of an earlier picture would stand elsewhere: boxes of the same size, joined
    by the same edges with the same labels."""

    def ends(shown: Diagram) -> list[tuple[str, str, str]]:
        return [(edge.id, edge.source, edge.target) for edge in shown.edges]

    return (
        [node.id for node in diagram.nodes] == [node.id for node in earlier.diagram.nodes]
        and ends(diagram) == ends(earlier.diagram)
        and [(s.width, s.height) for s in sizes] == [(b.width, b.height) for b in earlier.boxes]
        and [tuple(label) for label in labels] == [way.lines for way in earlier.ways]
    )


def _points(route: Route) -> tuple[Point, ...]:
    points = (route.start, *(point for curve in route.curves for point in curve))
    return tuple((x + MARGIN, y + MARGIN) for x, y in points)


def _links(diagram: Diagram, labels: Sequence[Sequence[str]]) -> tuple[list[Link], list[list[int]]]:
    """The links of a level and the edges that each stands for: those from a node to itself go
    one way together, their labels below each other."""
    index = {node.id: number for number, node in enumerate(diagram.nodes)}
    members: list[list[int]] = []
    loops: dict[int, list[int]] = {}
    for number, edge in enumerate(diagram.edges):
        if edge.source == edge.target and index[edge.source] in loops:
            loops[index[edge.source]].append(number)
            continue
        members.append([number])
        if edge.source == edge.target:
            loops[index[edge.source]] = members[-1]
    links = []
    for inside in members:
        edge = diagram.edges[inside[0]]
        lines = [line for n in inside for line in ("", *labels[n])][1:]
        links.append(Link(index[edge.source], index[edge.target], _label_size(lines)))
    return links, members


def _earlier_centres(diagram: Diagram, earlier: LevelPicture) -> list[Point | None]:
    """Where the nodes were; nodes that came pair with those of their kind that went, as long as
    there are as many of both: these were renamed. A node that stood alone and is joined to others
    now finds its place among them; with the first edge of a level, all nodes do."""
    at = {
        node.id: (box.centre[0] - MARGIN, box.centre[1] - MARGIN)
        for node, box in zip(earlier.diagram.nodes, earlier.boxes, strict=True)
    }
    now = {node.id for node in diagram.nodes}
    came: dict[str, list[str]] = defaultdict(list)
    went: dict[str, list[str]] = defaultdict(list)
    for node in diagram.nodes:
        if node.id not in at:
            came[node.kind].append(node.id)
    for node in earlier.diagram.nodes:
        if node.id not in now:
            went[node.kind].append(node.id)
    for kind, names in came.items():
        if len(names) == len(went[kind]):
            at.update(zip(names, (at[old] for old in went[kind]), strict=True))
    before, after = _joined(earlier.diagram), _joined(diagram)
    if after and not before:
        return []
    alone = {node.id for node in earlier.diagram.nodes} - before
    return [None if node.id in alone & after else at.get(node.id) for node in diagram.nodes]


def _joined(diagram: Diagram) -> set[str]:
    """The nodes that edges lead from or to, other than to themselves."""
    between = (edge for edge in diagram.edges if edge.source != edge.target)
    return {end for edge in between for end in (edge.source, edge.target)}


# Layout of a new picture


def _fresh(sizes: Sequence[Size], links: Sequence[Link]) -> tuple[bool, Arrangement]:
    """Linked nodes in layers, whichever way fits a screen better, and the others below."""
    linked = sorted({end for link in links for end in (link.source, link.target)})
    number = {node: i for i, node in enumerate(linked)}
    inner = [Link(number[k.source], number[k.target], k.label) for k in links]
    chosen = [sizes[node] for node in linked]
    ways = (False, True) if len(linked) <= BOTH_WAYS_TRIED else (False,)
    drawn, across = min(
        ((arrange(chosen, inner, across=way), way) for way in ways),
        key=lambda found: max(found[0].size.width / PREFERRED_SHAPE, found[0].size.height),
    )
    rest = [node for node in range(len(sizes)) if node not in number]
    top = drawn.size.height + GAP if linked else 0.0
    places, size = _rows([sizes[node] for node in rest], drawn.size.width, top)
    corners = dict(zip(linked, drawn.corners, strict=True))
    corners |= dict(zip(rest, places, strict=True))
    whole = Size(max(drawn.size.width, size.width), max(drawn.size.height, size.height))
    return across, Arrangement(whole, tuple(corners[n] for n in range(len(sizes))), drawn.routes)


def _rows(sizes: Sequence[Size], width: float, top: float) -> tuple[list[Point], Size]:
    """Boxes in rows; those of a row have their middles on one line."""
    if not sizes:
        return [], Size(0, 0)
    area = sum((s.width + GAP) * (s.height + GAP) for s in sizes)
    limit = max((area * PREFERRED_SHAPE) ** 0.5, width, *(s.width for s in sizes))
    rows: list[list[Size]] = [[]]
    used = 0.0
    for size in sizes:
        if rows[-1] and used + size.width > limit:
            rows.append([])
            used = 0.0
        rows[-1].append(size)
        used += size.width + GAP
    places: list[Point] = []
    right = 0.0
    for row in rows:
        height, left = max(s.height for s in row), 0.0
        for size in row:
            places.append((left, top + (height - size.height) / 2))
            left += size.width + GAP
        right = max(right, left - GAP)
        top += height + GAP
    return places, Size(right, top - GAP)


# Lines and sizes


def _node_lines(node: Node) -> tuple[str, ...]:
    """What the box of a part says below its title."""
    if node.kind not in ("agent", "mode"):
        return ()
    parts = [part for part in node.parts if part.kind not in NOT_WRITTEN]
    lines = [cut(_said(part), LINE_LIMIT).text for part in parts[:LINES_SHOWN]]
    if len(parts) > LINES_SHOWN:
        lines.append(f"… {len(parts) - LINES_SHOWN} more")
    return tuple(lines)


def _said(part: Part) -> str:
    words = {"invariant": "inv ", "init": "init ", "assume": "assume ", "predicate": "predicate "}
    return words.get(part.kind, "") + part.text


def caption(node: Node) -> str:
    """The small print behind the title of a part: what it is one of."""
    if node.definition is None or node.definition == node.title:
        return node.kind if node.definition is not None else ""
    arguments = f"({node.arguments})" if node.arguments else ""
    return cut(f"{node.definition}{arguments}", LINE_LIMIT).text


def _size(node: Node, lines: Sequence[str]) -> Size:
    match node.kind:
        case "init":
            return Size(14, 14)
        case "agent" | "mode":
            small = caption(node)
            head = columns(node.title) * TITLE_CHARACTER + (8 + columns(small) * CHARACTER)
            text = max((columns(line) for line in lines), default=0) * CHARACTER
            height = PADDING / 2 + TITLE_HEIGHT + len(lines) * LINE_HEIGHT
            return Size(max(head, text) + 2 * PADDING, height + PADDING * (0.8 if lines else 0.1))
        case _:
            return Size(columns(node.title) * CHARACTER + 20, 22)


def _edge_lines(edge: Edge) -> tuple[str, ...]:
    """The label of a transition (its name, guard and assignments), or a variable's two names."""
    if edge.kind == "share":
        return (cut(edge.name, LABEL_LIMIT).text,) if edge.name else ()
    lines = [f"#{edge.name}"] if edge.name else []
    lines += _conditions(edge.guard)
    lines += edge.reset
    lines += [f"at exit {edge.source_point}"] if edge.source_point not in ("", "default") else []
    lines += [f"to entry {edge.target_point}"] if edge.target_point not in ("", "default") else []
    lines += ["from anywhere inside"] if edge.source_point == "default" else []
    lines += ["resumes"] if edge.target_point == "default" else []
    lines += ["urgent"] if edge.urgent else []
    if len(lines) > LABEL_LINES_SHOWN:
        lines[LABEL_LINES_SHOWN - 1 :] = ["…"]
    return tuple(cut(line, LABEL_LIMIT).text for line in lines)


def _conditions(guard: str) -> list[str]:
    """The parts of a conjunction, a line each."""
    lines, start, depth = [], 0, 0
    for at, sign in enumerate(guard):
        depth += (sign in "([") - (sign in ")]")
        if depth == 0 and guard.startswith(" && ", at):
            lines.append(guard[start : at + 3])
            start = at + 4
        elif guard.startswith(("forall", "sum"), at):
            break
    return [*lines, guard[start:]] if guard else []


def _label_size(lines: Sequence[str]) -> Size:
    if not lines:
        return NO_LABEL
    width = max(columns(line) for line in lines) * CHARACTER
    return Size(width + 4, len(lines) * LINE_HEIGHT + 2)
