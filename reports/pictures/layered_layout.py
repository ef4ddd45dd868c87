"""Where boxes and arrows go: a layered layout of a small directed graph.

The steps are the classical ones (Sugiyama, Tagawa, Toda 1981): break cycles, put nodes on
layers so that links point one way, let every link pass through a place of its own on each
layer between its ends, order the layers to avoid crossings, and choose coordinates that
keep links straight. Labels are places with a size, so they never overlap anything.

The result is deterministic: it depends on the order of nodes and links and on nothing else.
All computation is for layers from top to bottom; `across=True` exchanges the axes.

A drawing that changes a little should look as it did: given where nodes stood, these keep their
layers and their order, and move only where they would meet something; new ones are put near
those they are linked with. Such layers may hold both ends of a link, which then turns below them.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
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
LEAST_SWEEPS = 3
PLACES_SWEPT = 40_000
"""Large graphs are swept less often: about so many places are moved in all, for each of the
sweeps of a small graph."""
LONG_CHAIN = 60
"""Links with more places than this are straightened by where these were before a sweep."""
FIRM = 1e3
KEPT_FIRM = 1e7
KEPT_GAP = 14.0
"""How near layers may come in a drawing that is kept, before they give way."""
SAME_LAYER = 1.0
"""How far apart the centres of nodes on one layer may be, in a drawing that is kept."""

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


def arrange(
    nodes: Sequence[Size],
    links: Sequence[Link],
    *,
    across: bool = False,
    earlier: Sequence[Point | None] = (),
) -> Arrangement:
    """Place the nodes in layers from top to bottom, or, `across`, from left to right. `earlier`
    are the centres of the nodes in a drawing to be kept, None for nodes that are new."""
    if not nodes:
        return Arrangement(Size(0, 0), (), ())
    sizes = [size.swapped if across else size for size in nodes]
    labels = [link.label.swapped if across else link.label for link in links]
    centres = [c and (c[1], c[0]) if across else c for c in earlier]
    kept = any(c is not None for c in centres)
    make = _Kept(centres, sizes, links, labels, not across) if kept else None
    result = (make or _Work(sizes, links, labels, not across)).run()
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
        self.level: set[int] = set()  # links between two nodes of one layer
        self.sweeps = SWEEPS

    def run(self) -> Arrangement:
        ranks = self._ranks()
        self._make_places(ranks)
        few = max(PLACES_SWEPT // len(self.places), LEAST_SWEEPS)
        self.sweeps = min(SWEEPS, few)
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
        self.layers = [[] for _ in range(2 * max(ranks) + (2 if self.level else 1))]
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
            if index in self.level:
                turn = self._add(first + 1, self._way(index, True))
                self.places[turn].above += [upper, lower]
                self.chains[index] = [upper, turn, lower]
                continue
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
            for sweep in range(self.sweeps):
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
                total += sum(len(ends) - bisect_right(ends, end) for end in here)
                for end in here:
                    insort(ends, end)
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
        chains = [chain[1:-1] for chain in self.chains.values() if len(chain) > 3]
        aligned = {p: number for number, chain in enumerate(chains) for p in chain}
        for sweep in range(3 * self.sweeps):
            downwards = sweep % 2 == 0
            late = sweep >= self.sweeps
            lines = [self._line(chain) for chain in chains] if late else []
            for layer in self.layers if downwards else reversed(self.layers):
                wanted = []
                for p in layer:
                    place = self.places[p]
                    if late and p in aligned and len(chains[aligned[p]]) > LONG_CHAIN:
                        wanted.append(lines[aligned[p]] - place.line)
                        continue
                    if sweep < 4:
                        near = place.above if downwards else place.below
                    elif late and p in aligned:
                        near = chains[aligned[p]]
                    else:
                        near = place.above + place.below
                    anchors = [self.places[n].anchor for n in near] or [place.anchor]
                    wanted.append(sum(anchors) / len(anchors) - place.line)
                firm = aligned if late else {}
                self._settle(layer, wanted, firm)
        leftmost = min(place.left for place in self.places)
        for place in self.places:
            place.left -= leftmost

    def _line(self, chain: Sequence[int]) -> float:
        """Where the places of a link are on average."""
        return sum(self.places[p].anchor for p in chain) / len(chain)

    def _settle(
        self,
        layer: list[int],
        wanted: list[float],
        firm: Container[int] = frozenset(),
        firmness: float = FIRM,
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
            firmness if p in firm else 1.0 if self.places[p].node is not None else 4.0
            for p in layer
        ]
        for p, value, shift in zip(layer, monotone(goals, weights), offsets, strict=True):
            self.places[p].left = value + shift

    # Drawing

    def _result(self) -> Arrangement:
        corners = tuple((self.places[n].left, self._top(n)) for n in range(len(self.sizes)))
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

    def _top(self, node: int) -> float:
        """The top of a node, which stands in the middle of its place (labels may be higher)."""
        place = self.places[node]
        return place.top + (place.height - self.sizes[node].height) / 2

    def _ports(self) -> tuple[dict[tuple[int, int], float], dict[tuple[int, int], float]]:
        """Where links touch the top and bottom of nodes: as straight on as room allows."""
        above: dict[int, list[tuple[float, int]]] = defaultdict(list)
        below: dict[int, list[tuple[float, int]]] = defaultdict(list)
        for index, chain in self.chains.items():
            below[chain[0]].append((self.places[chain[1]].anchor, index))
            ends = below if index in self.level else above
            ends[chain[-1]].append((self.places[chain[-2]].anchor, index))
        return self._spread_out(above), self._spread_out(below)

    def _spread_out(
        self, touching: dict[int, list[tuple[float, int]]]
    ) -> dict[tuple[int, int], float]:
        """Where links touch one side of each node, by node and link."""
        ports: dict[tuple[int, int], float] = {}
        for node, wanted in touching.items():
            wanted.sort()
            left, width = self.places[node].left, self.sizes[node].width
            found = _spread([anchor for anchor, _ in wanted], left, width)
            ports.update(((node, i), x) for (_, i), x in zip(wanted, found, strict=True))
        return ports

    def _route(
        self,
        index: int,
        tops: dict[tuple[int, int], float],
        bottoms: dict[tuple[int, int], float],
    ) -> Route:
        chain = self.chains[index]
        if index in self.level:
            return self._turn(chain, bottoms[chain[0], index], bottoms[chain[-1], index])
        upper, lower = self.places[chain[0]], self.places[chain[-1]]
        under = self._top(chain[0]) + self.sizes[chain[0]].height
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
        points += [(enter, lower.passage[0]), (enter, self._top(chain[-1]))]
        points = [points[0], *(b for a, b in pairwise(points) if a != b)]
        if index in self.reversed:
            points.reverse()
        return Route(points[0], tuple(_curves(points)), label)

    def _turn(self, chain: list[int], leave: float, enter: float) -> Route:
        """An arrow between two nodes of one layer: it turns in the gap below them."""
        first, turn = self.places[chain[0]], self.places[chain[1]]
        bottom = first.passage[1]
        depth, middle = bottom + GAP_LAYERS / 2, (leave + enter) / 2
        start = (leave, self._top(chain[0]) + self.sizes[chain[0]].height)
        end = (enter, self._top(chain[2]) + self.sizes[chain[2]].height)
        down = _curves([start, (leave, bottom)]) if start[1] < bottom else []
        up = _curves([(enter, bottom), end]) if end[1] < bottom else []
        curves = (
            *down,
            ((leave, depth), ((leave + middle) / 2, depth), (middle, depth)),
            (((enter + middle) / 2, depth), (enter, depth), (enter, bottom)),
            *up,
        )
        indent = LABEL_INDENT if self.label_after_line else 0
        return Route(start, curves, (turn.left + indent, turn.top))

    def _loop(self, index: int) -> Route:
        """An arrow from the right side of a node back to it."""
        node = self.links[index].source
        place, size = self.places[node], self.sizes[node]
        before = self.loops[node].index(index)
        skipped = sum(LOOP_REACH + self.labels[i].width for i in self.loops[node][:before])
        right = place.left + size.width
        top = self._top(node)
        high, low = top + size.height * 0.3, top + size.height * 0.7
        reach = right + skipped + LOOP_REACH
        label_top = top + (size.height - self.labels[index].height) / 2
        curve = ((reach, high), (reach, low), (right, low))
        return Route((right, high), (curve,), (reach - 4, max(place.top, label_top)))


class _Kept(_Work):
    """A layout that keeps a drawing: `centres` are those of its nodes, None for new nodes."""

    def __init__(
        self,
        centres: Sequence[Point | None],
        sizes: Sequence[Size],
        links: Sequence[Link],
        labels: Sequence[Size],
        label_after_line: bool,
    ):
        super().__init__(sizes, links, labels, label_after_line)
        self.centres = centres
        heights = sorted(c[1] for c in centres if c is not None)
        self.middles = [
            h
            for h, before in zip(heights, [None, *heights], strict=False)
            if before is None or h - before > SAME_LAYER
        ]
        self.wanted: dict[int, float] = {}  # where the line of a place should be

    def _ranks(self) -> list[int]:
        """The earlier layers; new nodes below those that lead to them, else above those they
        lead to, else where there is most room."""
        ranks = [
            None if c is None else bisect_left(self.middles, c[1] - SAME_LAYER)
            for c in self.centres
        ]
        before: dict[int, list[int]] = defaultdict(list)
        after: dict[int, list[int]] = defaultdict(list)
        for link in self.links:
            if link.source != link.target:
                before[link.target].append(link.source)
                after[link.source].append(link.target)
        queue = deque(node for node, rank in enumerate(ranks) if rank is not None)
        known = set(queue)

        def place(node: int) -> None:
            above = [r for n in before[node] if (r := ranks[n]) is not None]
            below = [r for n in after[node] if (r := ranks[n]) is not None]
            ranks[node] = above[0] + 1 if above else max(0, below[0] - 1)
            known.add(node)
            queue.append(node)

        def spread() -> None:
            while queue:
                node = queue.popleft()
                for near in [*after[node], *before[node]]:
                    if near not in known:
                        place(near)

        spread()
        for node, rank in enumerate(ranks):
            if rank is None and node not in known:
                ranks[node] = self._roomiest(node, ranks)
                known.add(node)
                queue.append(node)
                spread()
        found = [r or 0 for r in ranks]
        for index, link in enumerate(self.links):
            if found[link.target] < found[link.source]:
                self.reversed.add(index)
            elif found[link.target] == found[link.source] and link.source != link.target:
                self.level.add(index)
        return found

    def _roomiest(self, node: int, ranks: Sequence[int | None]) -> int:
        """The layer that is least wide, among those that are as high as a node if there are."""
        layers: dict[int, list[Size]] = defaultdict(list)
        for other, rank in enumerate(ranks):
            if rank is not None:
                layers[rank].append(self.sizes[other])
        height = self.sizes[node].height
        high = [r for r, sizes in layers.items() if max(s.height for s in sizes) >= height]
        return min(high or layers, key=lambda r: (sum(s.width for s in layers[r]), r))

    def _order(self) -> None:
        """Nodes by where they stood; what is new goes into the nearest gap with enough room."""
        self.wanted = {n: c[0] for n, c in enumerate(self.centres) if c is not None}
        firm = set(self.wanted)
        right = max(self.wanted.values())
        for _ in range(LEAST_SWEEPS):
            for layer in self.layers:
                for p in layer:
                    near = (*self.places[p].above, *self.places[p].below)
                    known = [self.wanted[n] for n in near if n in self.wanted]
                    if p not in firm and known:
                        self.wanted[p] = sum(known) / len(known)
        self.wanted = {p: self.wanted.get(p, right) for p in range(len(self.places))}
        self.layers = [self._filled(layer, firm) for layer in self.layers]

    def _filled(self, layer: list[int], firm: Container[int]) -> list[int]:
        """A layer in order: the nodes that stay, and in the gaps between them the rest."""
        stay = sorted((p for p in layer if p in firm), key=self.wanted.__getitem__)
        edges = [-GAP_BESIDE]
        for p in stay:
            left = max(self.wanted[p] - self.places[p].line, edges[-1] + GAP_BESIDE)
            edges += [left, left + self.places[p].width]
        room = [b - a - GAP_BESIDE for a, b in zip(edges[::2], edges[1::2], strict=False)]
        room.append(float("inf"))
        gaps: list[list[int]] = [[] for _ in room]
        for p in sorted((p for p in layer if p not in firm), key=self.wanted.__getitem__):
            need, at = self.places[p].width + GAP_BESIDE, self.wanted[p]
            home = bisect_left(edges[1:-1:2] if stay else [], at)
            best = self._nearest(home, need, at, room, edges)
            room[best] -= need
            gaps[best].append(p)
        found: list[int] = []
        for number, inside in enumerate(gaps):
            found += inside
            found += stay[number : number + 1]
        return found

    @staticmethod
    def _nearest(
        home: int, need: float, at: float, room: Sequence[float], edges: Sequence[float]
    ) -> int:
        """The gap with enough room that is nearest to a place, which lies in or beside `home`."""
        right = next(g for g in range(home, len(room)) if room[g] >= need)
        left = next((g for g in range(home - 1, -1, -1) if room[g] >= need), None)
        if left is None or right == home:
            return right
        return left if at - edges[2 * left + 1] < edges[2 * right] - at else right

    def _set_heights(self) -> None:
        """Layers stay where they were; where it gets too narrow, they give way downwards. Labels
        stand in the middle between the layers of nodes."""
        heights = [max((self.places[p].height for p in n), default=0.0) for n in self.layers]
        bottom = -KEPT_GAP
        for number in range(0, len(self.layers), 2):
            layer, between = self.layers[number], heights[number - 1] if number else 0.0
            known = [c[1] for p in layer if p < len(self.sizes) and (c := self.centres[p])]
            least = bottom + KEPT_GAP + (between + KEPT_GAP if between else 0.0)
            if not known and number:
                least += 2 * (GAP_LAYERS - KEPT_GAP)
            top = max([least, *(middle - heights[number] / 2 for middle in known[:1])])
            if number:
                self._set_layer(number - 1, (bottom + top - between) / 2, between)
            self._set_layer(number, top, heights[number])
            bottom = top + heights[number]
        if len(self.layers) % 2 == 0:
            self._set_layer(len(self.layers) - 1, bottom + GAP_LAYERS, heights[-1])

    def _set_layer(self, number: int, top: float, height: float) -> None:
        for p in self.layers[number]:
            place = self.places[p]
            place.top = top + (height - place.height) / 2
            place.passage = (top, top + height)

    def _straighten(self) -> None:
        """Nodes that stood somewhere stay there as far as they do not meet."""
        for p, place in enumerate(self.places):
            place.left = self.wanted[p] - place.line
        firm = {node for node, c in enumerate(self.centres) if c is not None}
        for sweep in range(LEAST_SWEEPS):
            for layer in self.layers if sweep % 2 == 0 else reversed(self.layers):
                goals = []
                for p in layer:
                    place = self.places[p]
                    near = [self.places[n].anchor for n in (*place.above, *place.below)]
                    if p in firm or not near:
                        goals.append(self.wanted[p] - place.line)
                    else:
                        goals.append(sum(near) / len(near) - place.line)
                self._settle(layer, goals, firm, KEPT_FIRM)
                for p in layer:
                    self.places[p].left = max(self.places[p].left, 0.0)
                self._clear(layer)

    def _clear(self, layer: list[int]) -> None:
        """Keep the gaps after what stood left of the edge was moved to it."""
        edge = 0.0
        for p in layer:
            place = self.places[p]
            place.left = max(place.left, edge)
            edge = place.left + place.width + GAP_BESIDE


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
