"""Small pieces of SVG: measured text, boxes, arrows, and the style they share.

Text is measured conservatively (the advance of a wide monospaced font), so that no viewer's
font makes it leave its box. Every string is escaped here and nowhere else.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from workbench.reports.pictures.layered_layout import Route, Size

CHARACTER = 7.0
TITLE_CHARACTER = 9.2
LINE_HEIGHT = 16.0
TITLE_HEIGHT = 22.0

STYLE = """
.wb { --paper: #ffffff; --ink: #1c2430; --soft: #5a6574; --arrow: #4a5a70;
  --agent: #3a6ea5; --mode-fill: #fffef8; --mode-line: #b59a4a; --place: #2f6f4f;
  --label: #22466f; --claim: #9a2b2b; background: var(--paper); }
@media screen and (prefers-color-scheme: dark) { .wb { --paper: #14181f; --ink: #e4e9f0;
  --soft: #9aa6b5; --arrow: #9fb2cc; --agent: #6fa3dc; --mode-fill: #1e232c;
  --mode-line: #a08c4c; --place: #7cc29c; --label: #a9c8ee; --claim: #f09a9a; } }
.wb text { font: 11.5px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace;
  fill: var(--ink); white-space: pre; }
.wb text.title { font: 600 13px system-ui, "DejaVu Sans", sans-serif; }
.wb text.soft { fill: var(--soft); }
.wb tspan.kind { font: 400 11.5px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace;
  fill: var(--soft); }
.wb text.label { fill: var(--label); }
.wb text.claim { fill: var(--claim); }
.wb text.port { fill: var(--agent); }
.wb .paper { fill: var(--paper); }
.wb .agent { fill: var(--agent); fill-opacity: .07; stroke: var(--agent); }
.wb .mode { fill: var(--mode-fill); stroke: var(--mode-line); }
.wb .composite { fill: var(--mode-fill); fill-opacity: .65; stroke: var(--mode-line); }
.wb .more { fill: none; stroke: var(--agent); stroke-dasharray: 4 3; }
.wb rect.port { fill: var(--paper); stroke: var(--agent); }
.wb .start { fill: var(--arrow); }
.wb .point { fill: var(--paper); stroke: var(--arrow); stroke-width: 1.3; }
.wb .arrow { fill: none; stroke: var(--arrow); stroke-width: 1.3; }
.wb .data { fill: none; stroke: var(--agent); stroke-width: 1.3; }
.wb marker .head { fill: var(--arrow); fill: context-stroke; }
.wb marker .datahead { fill: var(--agent); fill: context-stroke; }
""".strip()

MARKERS = (
    '<defs><marker id="wb-head" viewBox="0 0 10 8" refX="9" refY="4" '
    'markerUnits="userSpaceOnUse" markerWidth="11.7" markerHeight="9.1" orient="auto">'
    '<path class="head" d="M0 0L10 4L0 8L2.5 4Z"/></marker>'
    '<marker id="wb-datahead" viewBox="0 0 10 8" refX="9" refY="4" '
    'markerUnits="userSpaceOnUse" markerWidth="11.7" markerHeight="9.1" orient="auto">'
    '<path class="datahead" d="M0 0L10 4L0 8Z"/></marker></defs>'
)


@dataclass(frozen=True, slots=True)
class Line:
    """A line of text and its role; `full` is shown on hover where the text is cut."""

    text: str
    role: str = ""
    full: str | None = None


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawing with its size; coordinates count from its top left corner."""

    size: Size
    elements: tuple[str, ...]


def cut(text: str, limit: int, role: str = "") -> Line:
    """A line of at most `limit` characters, the whole of it kept for hovering."""
    text = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
    if columns(text) <= limit:
        return Line(text, role)
    kept = text[: limit - 1]
    while columns(kept) > limit - 1:
        kept = kept[:-1]
    return Line(kept.rstrip() + "…", role, text)


def columns(text: str) -> int:
    """How many columns of a monospaced font a text takes; wide characters take two."""
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def text_size(lines: Sequence[Line]) -> Size:
    """The extent of lines below each other."""
    width = max((columns(line.text) for line in lines), default=0) * CHARACTER
    return Size(width, len(lines) * LINE_HEIGHT)


def number(value: float) -> str:
    """A coordinate with at most one decimal."""
    return f"{value:.1f}".removesuffix(".0")


def text_element(x: float, y: float, line: Line) -> str:
    """One line of text with its baseline at y."""
    role = f' class="{line.role}"' if line.role else ""
    title = "" if line.full is None else f"<title>{escape(line.full)}</title>"
    return f'<text x="{number(x)}" y="{number(y)}"{role}>{title}{escape(line.text)}</text>'


def heading(x: float, y: float, title: Line, kind: str) -> str:
    """A title followed by small print, which moves with the width of the title's font."""
    hover = "" if title.full is None else f"<title>{escape(title.full)}</title>"
    small = f'<tspan class="kind" dx="8">{escape(kind)}</tspan>' if kind else ""
    place = f'x="{number(x)}" y="{number(y)}"'
    return f'<text {place} class="title">{hover}{escape(title.text)}{small}</text>'


def text_block(x: float, y: float, lines: Iterable[Line]) -> list[str]:
    """Lines below each other, the first one's top at y."""
    return [text_element(x, y + LINE_HEIGHT * i + 12, line) for i, line in enumerate(lines)]


def rectangle(
    size: Size, role: str, radius: float, x: float = 0, y: float = 0, tag: str = ""
) -> str:
    """A box."""
    return (
        f'<rect class="{role}"{_tagged(tag)} x="{number(x)}" y="{number(y)}" '
        f'width="{number(size.width)}" height="{number(size.height)}" rx="{number(radius)}"/>'
    )


def _tagged(tag: str) -> str:
    return f' data-part="{escape(tag)}"' if tag else ""


def arrow(route: Route, role: str, tag: str = "") -> str:
    """An arrow along a route."""
    parts = [f"M{number(route.start[0])} {number(route.start[1])}"]
    parts += ["C" + " ".join(f"{number(x)} {number(y)}" for x, y in c) for c in route.curves]
    head = "wb-datahead" if role == "data" else "wb-head"
    return f'<path class="{role}"{_tagged(tag)} marker-end="url(#{head})" d="{"".join(parts)}"/>'


def moved(x: float, y: float, figure: Figure) -> str:
    """A figure at another place."""
    return f'<g transform="translate({number(x)} {number(y)})">{"".join(figure.elements)}</g>'


def document(figure: Figure, title: str) -> str:
    """A complete SVG file."""
    width, height = figure.size.width + 24, figure.size.height + 24
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="wb" width="{number(width)}" '
        f'height="{number(height)}" viewBox="0 0 {number(width)} {number(height)}" '
        f'role="img" aria-label="{escape(title)}">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n{MARKERS}\n"
        f"{rectangle(Size(width, height), 'paper', 0)}\n{moved(12, 12, figure)}\n</svg>\n"
    )
