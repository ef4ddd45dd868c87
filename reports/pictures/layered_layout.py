"""Where boxes and arrows go: a layered layout of a small directed graph.

The steps are the classical ones (Sugiyama, Tagawa, Toda 1981): break cycles, put nodes on
layers so that links point one way, let every link pass through a place of its own on each
layer between its ends, order the layers to avoid crossings, and choose coordinates that
keep links straight. Labels are places with a size, so they never overlap anything.

The result is deterministic: it depends on the order of nodes and links and on nothing else.
All computation is for layers from top to bottom; `across=True` exchanges the axes.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Container, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

GAP_BESIDE = 26.0
GAP_LAYERS = 26.0
LOOP_REACH = 30.0
PORT_GAP = 16.0
PORT_MARGIN = 14.0
LABEL_INDENT = 7.0
SWEEPS = 12

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Size:
    """The extent of a box or a label."""

    width: float
    height: float

    @property
    def swapped(self) -> Size:
        """Width and height exchanged."""
        return Size(self.height, self.width)


NO_LABEL = Size(0, 0)


@dataclass(frozen=True, slots=True)
class Link:
    """An arrow between two nodes, given by their positions in the list of nodes."""

    source: int
    target: int
    label: Size = NO_LABEL


@dataclass(frozen=True, slots=True)
class Route:
    """The way of an arrow: a start, then cubic curves (two controls and an end each), and
    the top left corner of the arrow's label."""

    start: Point
    curves: tuple[tuple[Point, Point, Point], ...]
    label: Point


@dataclass(frozen=True, slots=True)
class Arrangement:
    """The top left corner of every node, the route of every link, and the total size."""

    size: Size
    corners: tuple[Point, ...]
    routes: tuple[Route, ...]


@dataclass(slots=True)
class _Place:
    """A node, a label, or a link's way through a layer; `line` is where a link passes,
    counted from the left edge, and `passage` the extent of the layer, which a link crosses
    straight so that it meets no box."""

    width: float
    height: float
    line: float
    node: int | None = None
    left: float = 0.0
    top: float = 0.0
    passage: tuple[float, float] = (0.0, 0.0)
    above: list[int] = field(default_factory=list)
    below: list[int] = field(default_factory=list)

    @property
    def anchor(self) -> float:
        """Where links meet this place."""
        return self.left + self.line


def arrange(nodes: Sequence[Size], links: Sequence[Link], *, across: bool = False) -> Arrangement:
    """Place the nodes in layers from top to bottom, or, `across`, from left to right."""
    if not nodes:
        return Arrangement(Size(0, 0), (), ())
    sizes = [size.swapped if across else size for size in nodes]
    labels = [link.label.swapped if across else link.label for link in links]
    work = _Work(sizes, links, labels, label_after_line=not across)
    result = work.run()
    return _transposed(result) if across else result


def _transposed(drawn: Arrangement) -> Arrangement:
    def swap(point: Point) -> Point:
        return point[1], point[0]

    return Arrangement(
        drawn.size.swapped,
        tuple(map(swap, drawn.corners)),
        tuple(
            Route(
                swap(r.start),
                tuple((swap(a), swap(b), swap(c)) for a, b, c in r.curves),
                swap(r.label),
            )
            for r in drawn.routes
        ),
    )


class _Work:
    """One layout in progress."""

    def __init__(
        self,
        sizes: Sequence[Size],
        links: Sequence[Link],
        labels: Sequence[Size],
        *,
        label_after_line: bool,
    ):
        self.sizes = sizes
        self.links = links
        self.labels = labels
        self.label_after_line = label_after_line
        self.loops: dict[int, list[int]] = defaultdict(list)
        for index, link in enumerate(links):
            if link.source == link.target:
                self.loops[link.source].append(index)
        self.places: list[_Place] = []
        self.layers: list[list[int]] = []
        self.chains: dict[int, list[int]] = {}
        self.reversed: set[int] = set()

    def run(self) -> Arrangement:
        ranks = self._ranks()
        self._make_places(ranks)
        self._order()
        self._set_heights()
        self._straighten()
        return self._result()

    # Layers

    def _ranks(self) -> list[int]:
        """The layer of every node: the longest way from a source.

        Cycles are broken first: nodes are taken breadth first, from those that nothing
        leads to, and links to a node taken earlier are drawn against the layers.
        """
        outgoing: dict[int, list[int]] = defaultdict(list)
        led_to = set()
        for link in self.links:
            if link.source != link.target:
                outgoing[link.source].append(link.target)
                led_to.add(link.target)
        order: list[int] = []
        seen: set[int] = set()
        for root in sorted(range(len(self.sizes)), key=lambda node: (node in led_to, node)):
            queue = deque([root] if root not in seen else [])
            seen.add(root)
            while queue:
                node = queue.popleft()
                order.append(node)
                found = [t for t in dict.fromkeys(outgoing[node]) if t not in seen]
                seen.update(found)
                queue.extend(found)
        position = {node: i for i, node in enumerate(order)}
        self.reversed = {
            index
            for index, link in enumerate(self.links)
            if position[link.target] < position[link.source]
        }
        downwards: dict[int, list[int]] = defaultdict(list)
        for index, link in enumerate(self.links):
            if link.source != link.target:
                upper, lower = self._ends(index)
                downwards[upper].append(lower)
        ranks = [0] * len(self.sizes)
        for node in order:
            for lower in downwards[node]:
                ranks[lower] = max(ranks[lower], ranks[node] + 1)
        return ranks

    def _ends(self, index: int) -> tuple[int, int]:
        """The upper and the lower node of a link."""
        link = self.links[index]
        ends = (link.source, link.target)
        return (ends[1], ends[0]) if index in self.reversed else ends

    def _make_places(self, ranks: list[int]) -> None:
        """Nodes on the even layers; a link's label on the odd layer nearest its middle."""
        self.layers = [[] for _ in range(2 * max(ranks) + 1)]
        for node, size in enumerate(self.sizes):
            width, height = size.width, size.height
            for index in self.loops[node]:
                width += LOOP_REACH + self.labels[index].width
                height = max(height, self.labels[index].height)
            self._add(2 * ranks[node], _Place(width, height, size.width / 2, node))
        for index, link in enumerate(self.links):
            if link.source == link.target:
                continue
            upper, lower = self._ends(index)
            first, last = 2 * ranks[upper], 2 * ranks[lower]
            middle = first + 1 + 2 * ((last - first - 2) // 4)
            between = [
                self._add(layer, self._way(index, layer == middle))
                for layer in range(first + 1, last)
            ]
            chain = [upper, *between, lower]
            for above, below in pairwise(chain):
                self.places[above].below.append(below)
                self.places[below].above.append(above)
            self.chains[index] = chain

    def _way(self, index: int, labelled: bool) -> _Place:
        label = self.labels[index] if labelled else NO_LABEL
        if label.width == 0:
            return _Place(4, 0, 2)
        width = label.width + LABEL_INDENT
        return _Place(width, label.height, 0 if self.label_after_line else width)

    def _add(self, layer: int, place: _Place) -> int:
        self.places.append(place)
        self.layers[layer].append(len(self.places) - 1)
        return len(self.places) - 1

    # Order within the layers

    def _order(self) -> None:
        """Barycentre sweeps from two first orders; the fewest crossings win."""
        best = [list(layer) for layer in self.layers]
        fewest = self._crossings()
        for first in (best, [layer[::-1] for layer in best]):
            self.layers = [list(layer) for layer in first]
            for sweep in range(SWEEPS):
                if fewest == 0:
                    break
                downwards = sweep % 2 == 0
                count = len(self.layers)
                for number in range(1, count) if downwards else range(count - 2, -1, -1):
                    self._sort_layer(number, downwards)
                crossings = self._crossings()
                if crossings < fewest:
                    fewest, best = crossings, [list(layer) for layer in self.layers]
        self.layers = best

    def _sort_layer(self, number: int, downwards: bool) -> None:
        fixed = self.layers[number - 1 if downwards else number + 1]
        position = {place: i for i, place in enumerate(fixed)}
        keys = {}
        for i, place in enumerate(self.layers[number]):
            near = self.places[place].above if downwards else self.places[place].below
            keys[place] = sum(position[n] for n in near) / len(near) if near else float(i)
        self.layers[number].sort(key=lambda place: keys[place])

    def _crossings(self) -> int:
        """How many pairs of links cross between neighbouring layers."""
        total = 0
        for upper, lower in zip(self.layers, self.layers[1:], strict=False):
            position = {place: i for i, place in enumerate(lower)}
            ends: list[int] = []
            for place in upper:
                here = sorted(position[b] for b in self.places[place].below)
                for end in here:
                    total += sum(1 for other in ends if other > end)
                ends.extend(here)
        return total

    # Coordinates

    def _set_heights(self) -> None:
        top = 0.0
        for layer in self.layers:
            height = max((self.places[p].height for p in layer), default=0.0)
            for p in layer:
                place = self.places[p]
                place.top = top + (height - place.height) / 2
                place.passage = (top, top + height)
            top += height + (GAP_LAYERS if height else GAP_LAYERS / 2)

    def _straighten(self) -> None:
        """Move every place towards its neighbours, keeping the order and the gaps; in the
        later sweeps the places of one link try to stand below each other."""
        for layer in self.layers:
            self._settle(layer, [0.0] * len(layer))
        aligned = {
            p: chain[1:-1] for chain in self.chains.values() for p in chain[1:-1] if len(chain) > 3
        }
        for sweep in range(3 * SWEEPS):
            downwards = sweep % 2 == 0
            for layer in self.layers if downwards else reversed(self.layers):
                wanted = []
                for p in layer:
                    place = self.places[p]
                    if sweep < 4:
                        near = place.above if downwards else place.below
                    elif sweep >= SWEEPS and p in aligned:
                        near = aligned[p]
                    else:
                        near = place.above + place.below
                    anchors = [self.places[n].anchor for n in near] or [place.anchor]
                    wanted.append(sum(anchors) / len(anchors) - place.line)
                firm = aligned if sweep >= SWEEPS else {}
                self._settle(layer, wanted, firm)
        leftmost = min(place.left for place in self.places)
        for place in self.places:
            place.left -= leftmost

    def _settle(
        self, layer: list[int], wanted: list[float], firm: Container[int] = frozenset()
    ) -> None:
        """The positions nearest to those wanted, in the sense of least squares, that keep
        the order and the gaps (pool adjacent violators); `firm` places hardly give way."""
        offset = 0.0
        offsets = []
        for p in layer:
            offsets.append(offset)
            offset += self.places[p].width + GAP_BESIDE
        goals = [w - o for w, o in zip(wanted, offsets, strict=True)]
        weights = [
            1000.0 if p in firm else 1.0 if self.places[p].node is not None else 4.0 for p in layer
        ]
        for p, value, shift in zip(layer, monotone(goals, weights), offsets, strict=True):
            self.places[p].left = value + shift

    # Drawing

    def _result(self) -> Arrangement:
        corners = tuple((p.left, p.top) for p in self.places[: len(self.sizes)])
        tops, bottoms = self._ports()
        routes = []
        for index, link in enumerate(self.links):
            if link.source == link.target:
                routes.append(self._loop(index))
            else:
                routes.append(self._route(index, tops, bottoms))
        width = max(p.left + p.width for p in self.places)
        height = max(p.top + p.height for p in self.places)
        return Arrangement(Size(width, height), corners, tuple(routes))

    def _ports(self) -> tuple[dict[tuple[int, int], float], dict[tuple[int, int], float]]:
        """Where links touch the top and bottom of nodes: as straight on as room allows."""
        tops: dict[tuple[int, int], float] = {}
        bottoms: dict[tuple[int, int], float] = {}
        for node, size in enumerate(self.sizes):
            for ports, end in ((bottoms, 0), (tops, -1)):
                touching = [
                    (self.places[chain[1 if end == 0 else -2]].anchor, index)
                    for index, chain in self.chains.items()
                    if chain[end] == node
                ]
                touching.sort()
                left = self.places[node].left
                for (_, index), x in zip(
                    touching, _spread([t[0] for t in touching], left, size.width), strict=True
                ):
                    ports[node, index] = x
        return tops, bottoms

    def _route(
        self,
        index: int,
        tops: dict[tuple[int, int], float],
        bottoms: dict[tuple[int, int], float],
    ) -> Route:
        chain = self.chains[index]
        upper, lower = self.places[chain[0]], self.places[chain[-1]]
        under = upper.top + self.sizes[chain[0]].height
        leave, enter = bottoms[chain[0], index], tops[chain[-1], index]
        points: list[Point] = [(leave, under), (leave, upper.passage[1])]
        label = points[0]
        for p in chain[1:-1]:
            place = self.places[p]
            points.append((place.anchor, place.passage[0]))
            if place.passage[1] > place.passage[0]:
                points.append((place.anchor, place.passage[1]))
            if place.height:
                label = (place.left + (LABEL_INDENT if self.label_after_line else 0), place.top)
        points += [(enter, lower.passage[0]), (enter, lower.top)]
        points = [points[0], *(b for a, b in pairwise(points) if a != b)]
        if index in self.reversed:
            points.reverse()
        return Route(points[0], tuple(_curves(points)), label)

    def _loop(self, index: int) -> Route:
        """An arrow from the right side of a node back to it."""
        node = self.links[index].source
        place, size = self.places[node], self.sizes[node]
        before = self.loops[node].index(index)
        skipped = sum(LOOP_REACH + self.labels[i].width for i in self.loops[node][:before])
        right = place.left + size.width
        high, low = place.top + size.height * 0.3, place.top + size.height * 0.7
        reach = right + skipped + LOOP_REACH
        label_top = place.top + (size.height - self.labels[index].height) / 2
        curve = ((reach, high), (reach, low), (right, low))
        return Route((right, high), (curve,), (reach - 4, max(place.top, label_top)))


def _curves(points: Sequence[Point]) -> list[tuple[Point, Point, Point]]:
    """Smooth curves through the points, vertical at each of them."""
    curves = []
    for (x, y), (next_x, next_y) in pairwise(points):
        bend = (y + next_y) / 2
        curves.append(((x, bend), (next_x, bend), (next_x, next_y)))
    return curves


def _spread(wanted: Sequence[float], left: float, width: float) -> list[float]:
    """Positions on a side, near the wanted ones, apart from each other and from corners."""
    if not wanted:
        return []
    margin = min(PORT_MARGIN, width / 3)
    room = width - 2 * margin
    gap = min(PORT_GAP, room / max(1, len(wanted) - 1))
    last = room - gap * (len(wanted) - 1)
    goals = [min(max(w - left - margin - gap * i, 0), last) for i, w in enumerate(wanted)]
    settled = monotone(goals, [1.0] * len(goals))
    return [left + margin + value + gap * i for i, value in enumerate(settled)]


def monotone(goals: Sequence[float], weights: Sequence[float]) -> list[float]:
    """The non-decreasing sequence nearest to the goals in weighted least squares."""
    blocks: list[tuple[float, float, int]] = []
    for goal, weight in zip(goals, weights, strict=True):
        value, total, count = goal, weight, 1
        while blocks and blocks[-1][0] > value:
            before, mass, members = blocks.pop()
            value = (before * mass + value * total) / (mass + total)
            total, count = total + mass, count + members
        blocks.append((value, total, count))
    return [value for value, _, count in blocks for _ in range(count)]
