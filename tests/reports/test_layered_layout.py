"""The layout keeps apart what must not overlap, whatever the graph."""

from __future__ import annotations

from itertools import combinations, pairwise
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.reports.pictures.layered_layout import Arrangement, Link, Size, arrange, monotone

sizes = st.builds(Size, st.floats(10, 300), st.floats(10, 200))


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[Size], list[Link]]:
    nodes = draw(st.lists(sizes, min_size=1, max_size=8))
    index = st.integers(0, len(nodes) - 1)
    labels = st.one_of(st.just(Size(0, 0)), st.builds(Size, st.floats(10, 150), st.floats(10, 60)))
    links = draw(st.lists(st.builds(Link, index, index, labels), max_size=14))
    loops: set[int] = set()
    kept = []
    for link in links:
        if link.source == link.target:
            if link.source in loops:
                continue
            loops.add(link.source)
        kept.append(link)
    return nodes, kept


Box = tuple[float, float, float, float]


def boxes(nodes: list[Size], links: list[Link], drawn: Arrangement) -> list[Box]:
    """Every node and every label as left, top, right, bottom."""
    found = [
        (x, y, x + size.width, y + size.height)
        for (x, y), size in zip(drawn.corners, nodes, strict=True)
    ]
    for link, route in zip(links, drawn.routes, strict=True):
        if link.label.width:
            x, y = route.label
            found.append((x, y, x + link.label.width, y + link.label.height))
    return found


def overlap(a: Box, b: Box) -> bool:
    slack = 1e-6
    return (
        a[0] < b[2] - slack and b[0] < a[2] - slack and a[1] < b[3] - slack and b[1] < a[3] - slack
    )


@settings(max_examples=150)
@given(graphs(), st.booleans())
def test_nodes_and_labels_do_not_overlap(
    graph: tuple[list[Size], list[Link]], across: bool
) -> None:
    nodes, links = graph
    drawn = arrange(nodes, links, across=across)
    for a, b in combinations(boxes(nodes, links, drawn), 2):
        assert not overlap(a, b)


@settings(max_examples=150)
@given(graphs(), st.booleans())
def test_arrows_begin_and_end_at_their_nodes(
    graph: tuple[list[Size], list[Link]], across: bool
) -> None:
    nodes, links = graph
    drawn = arrange(nodes, links, across=across)
    for link, route in zip(links, drawn.routes, strict=True):
        for node, (x, y) in ((link.source, route.start), (link.target, route.curves[-1][2])):
            left, top = drawn.corners[node]
            width, height = nodes[node].width, nodes[node].height
            assert left - 1e-6 <= x <= left + width + 1e-6
            assert top - 1e-6 <= y <= top + height + 1e-6
            assert min(x - left, left + width - x, y - top, top + height - y) < 1e-6


@pytest.mark.parametrize("seed", range(40))
def test_arrows_pass_through_no_other_node(seed: int) -> None:
    """Dense graphs with boxes of very different sizes, where arrows must find a way."""
    random = Random(seed)
    nodes = [Size(random.choice((15, 60, 400)), random.choice((15, 200))) for _ in range(9)]
    links = [Link(*random.sample(range(9), 2), Size(40, 20)) for _ in range(16)]
    drawn = arrange(nodes, links, across=bool(seed % 2))
    rectangles = boxes(nodes, [], Arrangement(drawn.size, drawn.corners, ()))
    for link, route in zip(links, drawn.routes, strict=True):
        for x, y in points(route.start, route.curves):
            for node, (left, top, right, bottom) in enumerate(rectangles):
                inside = left + 1 < x < right - 1 and top + 1 < y < bottom - 1
                assert not inside, (link, node)


def points(start: tuple[float, float], curves: tuple[object, ...]) -> list[tuple[float, float]]:
    """Points along cubic curves."""
    found = []
    at = start
    for a, b, c in curves:  # type: ignore[misc]
        for step in range(1, 9):
            t = step / 8
            weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3)
            found.append(
                (
                    sum(w * p[0] for w, p in zip(weights, (at, a, b, c), strict=True)),
                    sum(w * p[1] for w, p in zip(weights, (at, a, b, c), strict=True)),
                )
            )
        at = c
    return found


@settings(max_examples=50)
@given(graphs())
def test_everything_lies_within_the_stated_size(graph: tuple[list[Size], list[Link]]) -> None:
    nodes, links = graph
    for across in (False, True):
        drawn = arrange(nodes, links, across=across)
        for left, top, right, bottom in boxes(nodes, links, drawn):
            assert left >= -1e-6 and top >= -1e-6
            assert right <= drawn.size.width + 1e-6 and bottom <= drawn.size.height + 1e-6


def test_a_chain_runs_straight_down() -> None:
    nodes = [Size(100, 40)] * 4
    drawn = arrange(nodes, [Link(i, i + 1) for i in range(3)])
    assert len({round(x, 3) for x, _ in drawn.corners}) == 1
    assert all(a[1] < b[1] for a, b in pairwise(drawn.corners))


def test_a_cycle_keeps_the_first_node_on_top() -> None:
    drawn = arrange([Size(50, 20)] * 3, [Link(0, 1), Link(1, 2), Link(2, 0)])
    assert [y for _, y in drawn.corners] == sorted(y for _, y in drawn.corners)


@st.composite
def kept_graphs(
    draw: st.DrawFn,
) -> tuple[list[Size], list[Link], list[tuple[float, float] | None]]:
    """Graphs with places of their nodes in some earlier drawing, whatever that was."""
    nodes, links = draw(graphs())
    place = st.tuples(st.floats(0, 900), st.sampled_from([0.0, 20.0, 150.0, 151.0, 600.0]))
    centres = draw(st.lists(st.one_of(st.none(), place), min_size=len(nodes), max_size=len(nodes)))
    return nodes, links, centres


@settings(max_examples=150)
@given(kept_graphs(), st.booleans())
def test_kept_drawings_are_as_sound_as_new_ones(
    graph: tuple[list[Size], list[Link], list[tuple[float, float] | None]], across: bool
) -> None:
    nodes, links, centres = graph
    drawn = arrange(nodes, links, across=across, earlier=centres)
    found = boxes(nodes, links, drawn)
    for a, b in combinations(found, 2):
        assert not overlap(a, b)
    for left, top, right, bottom in found:
        assert left >= -1e-6 and top >= -1e-6
        assert right <= drawn.size.width + 1e-6 and bottom <= drawn.size.height + 1e-6
    for link, route in zip(links, drawn.routes, strict=True):
        for node, (x, y) in ((link.source, route.start), (link.target, route.curves[-1][2])):
            left, top = drawn.corners[node]
            width, height = nodes[node].width, nodes[node].height
            assert left - 1e-6 <= x <= left + width + 1e-6
            assert top - 1e-6 <= y <= top + height + 1e-6


def middles(nodes: list[Size], drawn: Arrangement) -> list[tuple[float, float]]:
    return [
        (x + size.width / 2, y + size.height / 2)
        for (x, y), size in zip(drawn.corners, nodes, strict=True)
    ]


@settings(max_examples=100)
@given(graphs(), st.booleans())
def test_the_same_graph_stays_where_it_was(
    graph: tuple[list[Size], list[Link]], across: bool
) -> None:
    nodes, links = graph
    before = middles(nodes, arrange(nodes, links, across=across))
    after = middles(nodes, arrange(nodes, links, across=across, earlier=before))
    assert after == [pytest.approx(place, abs=0.5) for place in before]


@settings(max_examples=100)
@given(graphs(), st.booleans(), st.data())
def test_a_new_node_moves_the_others_only_along_the_layers(
    graph: tuple[list[Size], list[Link]], across: bool, data: st.DataObject
) -> None:
    """What was there keeps its place beside the others; layers may move apart for a label."""
    nodes, links = graph
    before = middles(nodes, arrange(nodes, links, across=across))
    other = data.draw(st.integers(0, len(nodes) - 1))
    fresh = [*links, Link(other, len(nodes), Size(60, 20))]
    more = [*nodes, Size(80, 30)]
    after = middles(more, arrange(more, fresh, across=across, earlier=[*before, None]))
    for old, new in zip(before, after, strict=False):
        beside, along = (1, 0) if across else (0, 1)
        assert new[beside] == pytest.approx(old[beside], abs=0.5)
        assert new[along] >= old[along] - 0.5


def test_nothing_at_all() -> None:
    assert arrange([], []).size == Size(0, 0)


@given(st.lists(st.floats(-100, 100), min_size=1, max_size=30))
def test_monotone_is_monotone_and_keeps_what_is_in_order(goals: list[float]) -> None:
    found = monotone(goals, [1.0] * len(goals))
    assert all(a <= b + 1e-9 for a, b in pairwise(found))
    assert monotone(sorted(goals), [1.0] * len(goals)) == sorted(goals)
    assert sum(found) == pytest.approx(sum(goals), abs=1e-6)


def test_many_nodes_are_laid_out() -> None:
    count = 60
    links = [Link(i, (i * 7 + 1) % count, Size(80, 30)) for i in range(count)]
    drawn = arrange([Size(120, 60)] * count, links)
    assert len(set(drawn.corners)) == count == len(drawn.routes)
