"""Where a condition over two names holds, as an SVG picture.

Every cell of a grid is decided at its centre, exactly; what is smaller than a cell may be
missed. Cells in which the condition holds are joined to bars, row by row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from html import escape

from workbench.reports.pictures.svg import cut, number
from workbench.reports.pictures.trace_plot import STYLE, Axis

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640.0, 520.0, 64.0, 20.0, 44.0, 46.0
CELLS = 120
"""So many cells in each direction."""

OWN_STYLE = ".tp .region { fill: var(--bad); fill-opacity: .45; }"


@dataclass(frozen=True, slots=True)
class Span:
    """A name and the numbers that it takes in a picture."""

    name: str
    low: Fraction
    high: Fraction

    def centre(self, number: int) -> Fraction:
        """The middle of a cell."""
        return self.low + (self.high - self.low) * Fraction(2 * number + 1, 2 * CELLS)


def region_svg(
    holds: Callable[[Fraction, Fraction], bool], across: Span, up: Span, title: str
) -> str:
    """The picture of the points (across, up) for which `holds` is true."""
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    x = Axis(float(across.low), float(across.high), LEFT, right)
    y = Axis(float(up.low), float(up.high), bottom, TOP)
    shown = cut(title, 84)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="tp" width="{number(WIDTH)}" '
            f'height="{number(HEIGHT)}" viewBox="0 0 {number(WIDTH)} {number(HEIGHT)}" '
            f'role="img" aria-label="{escape(title)}">',
            f"<title>{escape(title)}</title>",
            f"<style>{STYLE}\n{OWN_STYLE}</style>",
            f'<rect class="paper" width="{number(WIDTH)}" height="{number(HEIGHT)}"/>',
            f'<text class="title" x="{number(LEFT)}" y="26">{escape(shown.text)}</text>',
            *_scales(x, y, across.name, up.name),
            *_bars(holds, across, up),
            f'<rect class="frame" x="{number(LEFT)}" y="{number(TOP)}" '
            f'width="{number(right - LEFT)}" height="{number(bottom - TOP)}"/>',
            "</svg>\n",
        ]
    )


def _bars(holds: Callable[[Fraction, Fraction], bool], across: Span, up: Span) -> Iterator[str]:
    width = (WIDTH - RIGHT - LEFT) / CELLS
    height = (HEIGHT - BOTTOM - TOP) / CELLS
    for row in range(CELLS):
        level = up.centre(row)
        begun: int | None = None
        for column in range(CELLS + 1):
            inside = column < CELLS and holds(across.centre(column), level)
            if inside and begun is None:
                begun = column
            elif not inside and begun is not None:
                top = HEIGHT - BOTTOM - (row + 1) * height
                yield (
                    f'<rect class="region" x="{LEFT + begun * width:.2f}" y="{top:.2f}" '
                    f'width="{(column - begun) * width:.2f}" height="{height:.2f}"/>'
                )
                begun = None


def _scales(x: Axis, y: Axis, across: str, up: str) -> Iterator[str]:
    bottom = HEIGHT - BOTTOM
    for value in x.ticks(8):
        place = number(x(value))
        yield f'<path class="grid" d="M{place} {TOP:g}V{bottom:g}"/>'
        yield f'<text x="{place}" y="{bottom + 16:g}" text-anchor="middle">{value:g}</text>'
    for value in y.ticks(8):
        place = number(y(value))
        yield f'<path class="grid" d="M{LEFT:g} {place}H{WIDTH - RIGHT:g}"/>'
        yield f'<text x="{LEFT - 6:g}" y="{place}" text-anchor="end">{value:g}</text>'
    middle, end = number((LEFT + WIDTH - RIGHT) / 2), number(HEIGHT - 10)
    yield f'<text class="name" x="{middle}" y="{end}" text-anchor="middle">{escape(across)}</text>'
    yield f'<text class="name" x="8" y="{TOP - 8:g}">{escape(up)}</text>'
