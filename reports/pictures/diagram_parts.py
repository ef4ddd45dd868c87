"""Boxes with a title, lines and an inside, and charts of boxes joined by arrows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from workbench.models.counting import counted
from workbench.reports.pictures.layered_layout import Arrangement, Link, Size, arrange
from workbench.reports.pictures.svg import (
    TITLE_CHARACTER,
    TITLE_HEIGHT,
    Figure,
    Line,
    arrow,
    columns,
    cut,
    heading,
    moved,
    rectangle,
    text_block,
    text_element,
    text_size,
)

PADDING = 11.0
LINE_LIMIT = 66
LABEL_LIMIT = 38
LINES_SHOWN = 14
LABEL_LINES_SHOWN = 6
PREFERRED_SHAPE = 1.45
"""Width over height of a picture that fits a screen."""


@dataclass(frozen=True, slots=True)
class Arrow:
    """A link between two figures of a chart, with its label; `role` says what flows, `tag`
    which transition it is (reports light it up)."""

    source: int
    target: int
    label: tuple[Line, ...] = ()
    role: str = "arrow"
    tag: str = ""


def box(
    title: Line,
    kind: str,
    lines: Sequence[Line],
    inside: Figure | None,
    role: str,
    tag: str = "",
) -> Figure:
    """A titled box; `kind` is small print after the title, `tag` says which mode it is."""
    shown = list(lines[:LINES_SHOWN])
    if len(lines) > LINES_SHOWN:
        rest = "\n".join(line.full or line.text for line in lines[LINES_SHOWN:])
        shown.append(Line(f"… {counted(len(lines) - LINES_SHOWN, 'more line')}", "soft", rest))
    title_width = columns(title.text) * TITLE_CHARACTER
    head = title_width + (8 + columns(kind) * 7.0 if kind else 0)
    text = text_size(shown)
    inner = inside.size if inside is not None else Size(0, 0)
    width = max(head, text.width, inner.width) + 2 * PADDING
    text_top = PADDING / 2 + TITLE_HEIGHT
    inner_top = text_top + text.height + (PADDING if inside is not None else 0)
    height = inner_top + inner.height + PADDING * (0.8 if inside or shown else 0.1)
    size = Size(width, height)
    radius = 4 if role in ("agent", "more") else 10
    elements = [rectangle(size, role, radius, tag=tag)]
    elements.append(heading(PADDING, PADDING / 2 + 15, title, kind))
    elements += text_block(PADDING, text_top, shown)
    if inside is not None:
        elements.append(moved((width - inner.width) / 2, inner_top, inside))
    return Figure(size, tuple(elements))


def chart(figures: Sequence[Figure], arrows: Sequence[Arrow]) -> Figure:
    """Figures joined by arrows, from top to bottom or left to right, whichever fits better."""
    if not arrows and len(figures) > 3:
        return _grid(figures)
    arrows = _loops_joined(arrows)
    links = [Link(a.source, a.target, _label_size(a.label)) for a in arrows]
    sizes = [figure.size for figure in figures]
    chosen = min((arrange(sizes, links, across=across) for across in (False, True)), key=_misfit)
    elements = [moved(x, y, figure) for (x, y), figure in zip(chosen.corners, figures, strict=True)]
    for one, route in zip(arrows, chosen.routes, strict=True):
        elements.append(arrow(route, one.role, one.tag))
    for one, route in zip(arrows, chosen.routes, strict=True):
        elements += text_block(route.label[0], route.label[1], one.label)
    return Figure(chosen.size, tuple(elements))


def _loops_joined(arrows: Sequence[Arrow]) -> list[Arrow]:
    """The arrows with those from a figure to itself made one, their labels below each other."""
    found: list[Arrow] = []
    loops: dict[int, int] = {}
    for one in arrows:
        if one.source == one.target and one.source in loops:
            place = loops[one.source]
            label = (*found[place].label, Line(""), *one.label)
            tag = f"{found[place].tag} {one.tag}".strip()
            found[place] = Arrow(one.source, one.target, label, one.role, tag)
            continue
        if one.source == one.target:
            loops[one.source] = len(found)
        found.append(one)
    return found


def _misfit(drawn: Arrangement) -> float:
    """How large a window of the preferred shape must be to show the drawing."""
    return max(drawn.size.width / PREFERRED_SHAPE, drawn.size.height)


def _grid(figures: Sequence[Figure]) -> Figure:
    """Unconnected figures in rows of about equal width."""
    total = sum((f.size.width + 20) * (f.size.height + 20) for f in figures)
    limit = max((total * PREFERRED_SHAPE) ** 0.5, *(f.size.width for f in figures))
    elements: list[str] = []
    left = top = row_height = width = 0.0
    for figure in figures:
        if left and left + figure.size.width > limit:
            left, top, row_height = 0.0, top + row_height + 20, 0.0
        elements.append(moved(left, top, figure))
        left += figure.size.width + 20
        row_height = max(row_height, figure.size.height)
        width = max(width, left - 20)
    return Figure(Size(width, top + row_height), tuple(elements))


def _label_size(label: Sequence[Line]) -> Size:
    size = text_size(label)
    return Size(size.width + 4, size.height + 2) if label else Size(0, 0)


def start_point() -> Figure:
    """The dot from which a chart begins."""
    return Figure(Size(14, 14), ('<circle class="start" cx="7" cy="7" r="6"/>',))


def with_start(figure: Figure, condition: str = "") -> Figure:
    """The figure with a dot and a short arrow at its corner: runs may start here. The mark
    stands in the gap around the figure and adds nothing to its size."""
    hover = f"<title>{escape(condition)}</title>" if condition else ""
    dot = f'<circle class="start" cx="-6.5" cy="-6.5" r="4">{hover}</circle>'
    arrow_in = '<path class="arrow" marker-end="url(#wb-head)" d="M-5 -5L3.5 3.5"/>'
    return Figure(figure.size, (*figure.elements, dot, arrow_in))


def control_point(name: str, *, leaving: bool) -> Figure:
    """A named entry point, or, with a double rim, an exit point."""
    label = cut(name, 24, "label")
    size = Size(columns(label.text) * 7.0 + 20, 22)
    elements = [rectangle(size, "point", 11)]
    if leaving:
        elements.append(rectangle(Size(size.width - 6, 16), "point", 8, 3, 3))
    elements.append(text_element(10, 15, label))
    return Figure(size, tuple(elements))


def port(names: str) -> Figure:
    """Variables that cross the border of an agent."""
    label = cut(names, 40, "port")
    size = Size(columns(label.text) * 7.0 + 18, 20)
    return Figure(size, (rectangle(size, "port", 10), text_element(9, 14, label)))


def label_lines(
    name: str | None, conditions: Sequence[str], changes: Sequence[str]
) -> tuple[Line, ...]:
    """The label of a transition: its name, its guard and what it assigns."""
    lines = [cut(f"#{name}", LABEL_LIMIT, "label")] if name else []
    lines += [
        cut(part + (" &&" if i < len(conditions) - 1 else ""), LABEL_LIMIT)
        for i, part in enumerate(conditions)
    ]
    lines += [cut(f"{change}", LABEL_LIMIT, "soft") for change in changes]
    if len(lines) > LABEL_LINES_SHOWN:
        rest = "\n".join(line.full or line.text for line in lines[LABEL_LINES_SHOWN - 1 :])
        lines[LABEL_LINES_SHOWN - 1 :] = [Line("…", "soft", rest)]
    return tuple(lines)
