"""Plots of traces as SVG: variables over time with the transitions marked, or one variable
against another, over the values that break properties. Light and dark, no script needed; `page`
puts a plot into an HTML file that tells the values under the pointer, and
`reports.pictures.printed_plot` makes PNG and PDF of one."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING

from workbench.models.trace import Event, EventType, Segment, Trace
from workbench.models.trace_boxes import Box
from workbench.reports.pictures.svg import cut, number

if TYPE_CHECKING:
    from workbench.reports.claims.property_bounds import PropertyBound

WIDTH, LEFT, RIGHT, TOP = 860.0, 78.0, 22.0, 46.0
PANEL, GAP, BAND, HEADING, ROW = 168.0, 26.0, 18.0, 22.0, 13.0
READING = """
.reading { position: fixed; padding: .3rem .6rem; border-radius: 4px; font: 12px sans-serif;
  pointer-events: none; background: Canvas; color: CanvasText; border: 1px solid GrayText; }
.reading-line { stroke: GrayText; pointer-events: none; fill: none; }
"""
"""How the values under the pointer look."""

POINTS = 600
"""About so many points are drawn for one variable of one run."""

MAX_ROWS, SAME_LABEL = 3, 90.0
"""So many rows of names of transitions are written, and the same name so far apart."""

LETTER = 6.2
"""About the width of a letter of such a name."""

NEAR = 1.0
"""Bounds are part of a plot that are nearer than this share of what the runs cover."""

MAX_TOLD = 12
"""So many transitions at one place are told one by one."""

STYLE = (
    """
.tp { --paper: #ffffff; --ink: #1c2430; --soft: #5a6574; --grid: #e4e8ee; --frame: #b8c0cc;
  --mark: #b59a4a; --bad: #c02f2f; --l0: #2563a8; --l1: #b4552d; --l2: #2f7d57; --l3: #7a4ea3;
  --l4: #a13c6b; --l5: #4d6b1f; background: var(--paper); }
@media (prefers-color-scheme: dark) { .tp { --paper: #14181f; --ink: #e4e9f0; --soft: #9aa6b5;
  --grid: #262d38; --frame: #465162; --mark: #c9ae5d; --bad: #ff7b7b; --l0: #7db4f2;
  --l1: #f0a27b; --l2: #7fd0a6; --l3: #c3a0ea; --l4: #ef94bb; --l5: #b7d77a; } }
.tp text { font: 11.5px system-ui, "DejaVu Sans", sans-serif; fill: var(--soft); }
.tp text.name { font: 600 12.5px system-ui, "DejaVu Sans", sans-serif; fill: var(--ink);
  paint-order: stroke; stroke: var(--paper); stroke-width: 4px; }
.tp text.title { font: 600 14px system-ui, "DejaVu Sans", sans-serif; fill: var(--ink); }
.tp text.label { font-size: 10.5px; }
.tp text.bound { font-size: 10.5px; fill: var(--bad); paint-order: stroke; stroke: var(--paper);
  stroke-width: 3px; }
.tp text.place { font-size: 10.5px; fill: var(--ink); }
.tp .paper { fill: var(--paper); }
.tp .grid { stroke: var(--grid); stroke-width: 1; }
.tp .frame { fill: none; stroke: var(--frame); stroke-width: 1; }
.tp .mark { stroke: var(--mark); stroke-width: 1; stroke-dasharray: 3 3; }
.tp .hover { stroke: transparent; stroke-width: 7; }
.tp .bad { stroke: var(--bad); stroke-width: 1.4; fill: none; }
.tp .broken { fill: var(--bad); opacity: .09; }
.tp .edge { stroke: var(--bad); stroke-width: 1.2; stroke-dasharray: 6 3; fill: none; }
.tp .jump { stroke-width: 1; stroke-dasharray: 1 3; fill: none; opacity: .8; }
.tp .run { fill: none; stroke-width: 1.7; stroke-linejoin: round; stroke-linecap: round; }
.tp .band { opacity: .3; stroke-width: 1; }
.tp .many { stroke-width: 1; opacity: .55; }
.tp .dot { stroke: var(--paper); stroke-width: 1.2; }
""".strip()
    + "".join(
        f"\n.tp .s{i} {{ stroke: var(--l{i}); }} .tp .f{i} {{ fill: var(--l{i}); }}"
        for i in range(6)
    )
)

Line = list[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Axis:
    """Numbers from `low` to `high` on a stretch of pixels from `start` to `end`."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """The place of a value."""
        share = (value - self.low) / (self.high - self.low)
        return self.start + min(max(share, -1.0), 2.0) * (self.end - self.start)

    def ticks(self, about: int) -> list[float]:
        """Round numbers inside the axis, about as many as wanted."""
        raw = (self.high - self.low) / about
        size = 10.0 ** math.floor(math.log10(raw))
        step = next(size * m for m in (1, 2, 5, 10) if size * m >= raw * 0.999)
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [i * step for i in range(first, last + 1)]


@dataclass(frozen=True)
class Panel:
    """Variables over time, several in one panel, or one against another."""

    up: tuple[str, ...]
    across: str = "time"

    @classmethod
    def read(cls, text: str) -> Panel:
        """A panel as users write it: `x`, several variables `x+y`, or a phase plot `x:y`."""
        across, colon, up = text.partition(":")
        return cls((up,), across) if colon else cls(tuple(text.split("+")))

    @property
    def names(self) -> tuple[str, ...]:
        """All variables concerned."""
        return self.up if self.across == "time" else (self.across, *self.up)


def read_panels(traces: Sequence[Trace], variables: Sequence[str]) -> list[Panel]:
    """The panels of a plot, those over time first. Raises ValueError for a name that no trace
    has."""
    panels = [Panel.read(text) for text in variables]
    known = {*traces[0].variables, *_fed(traces[0])} if traces else set()
    for name in (n for panel in panels for n in panel.names):
        if name not in known:
            raise ValueError(f"the trace has no variable {name[:80]!r}")
    return sorted(panels, key=lambda panel: panel.across != "time")


def plot(
    traces: Sequence[Trace],
    variables: Sequence[str],
    title: str,
    boxes: Sequence[Box] = (),
    bounds: Sequence[PropertyBound] = (),
) -> str:
    """An SVG document: a panel for each of `variables` (see `Panel.read`). Boxes that enclose a
    run are drawn behind it, and so are values that break properties.

    Raises ValueError for a name that no trace has, or where nothing is finite.
    """
    panels = read_panels(traces, variables)
    over_time = [panel for panel in panels if panel.across == "time"]
    parts: list[str] = []
    y = TOP
    if over_time:
        drawn, y = _time_panels(traces, over_time, boxes, bounds, y)
        parts += drawn
    for panel in panels[len(over_time) :]:
        drawn, y = _phase_panel(traces, panel, boxes, bounds, y)
        parts += drawn
    heading = f'<text class="title" x="{LEFT:g}" y="26">{escape(cut(title, 100).text)}</text>'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="tp" viewBox="0 0 {WIDTH:g} {number(y)}" '
        f'width="{WIDTH:g}" height="{number(y)}" role="img" aria-label="{escape(title)}">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n"
        f'<rect class="paper" width="{WIDTH:g}" height="{number(y)}"/>\n{heading}\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def page(svg: str, title: str) -> str:
    """The plot as a web page that needs nothing else, and tells the values under the pointer."""
    script = (files("workbench.reports") / "assets" / "reading.js").read_text(encoding="utf-8")
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'\">"
        f"<title>{escape(title)}</title><style>:root {{ color-scheme: light dark; }}"
        "body { margin: 1.5rem auto; max-width: 60rem; padding: 0 1rem; }"
        f"svg {{ width: 100%; height: auto; }} {READING}</style></head>\n"
        f"<body>{svg}<script>{script}</script></body></html>\n"
    )


# Panels


def _time_panels(
    traces: Sequence[Trace],
    panels: Sequence[Panel],
    boxes: Sequence[Box],
    bounds: Sequence[PropertyBound],
    y: float,
) -> tuple[list[str], float]:
    start = min(t.start for t in traces)
    end = max(max(t.end for t in traces), start + 1e-9)
    time = Axis(start, end, LEFT, WIDTH - RIGHT)
    parts: list[str] = []
    if len(traces) == 1:
        parts += _places(traces[0], time, y)
        labels = _labels(traces[0].jumps, time)
        top = y + BAND
        y = top + ROW * (max((row for _, row, _ in labels), default=-1) + 1)
        for x, row, name in labels:
            at = top + ROW * row
            parts.append(
                f'<path class="mark" d="M{number(x)} {number(at)}V{number(y + HEADING)}"/>'
            )
            place = f'x="{number(x + 3)}" y="{number(at + 11)}"'
            parts.append(f'<text class="label" {place}>{escape(name)}</text>')
    shade = 0
    for index, panel in enumerate(panels):
        y += HEADING
        lines = {n: [drawn_lines(trace, "time", n) for trace in traces] for n in panel.up}
        mine = [bound for bound in bounds if bound.variable in panel.up]
        values = value_axis([s for run in lines.values() for s in run], mine, y + PANEL, y)
        by_name = len(traces) == 1 or len(panel.up) > 1
        heading = [(n, shade + i if by_name else None) for i, n in enumerate(panel.up)]
        parts += _broken(mine, values, (LEFT, WIDTH - RIGHT), len(panel.up) > 1)
        is_last = index + 1 == len(panels)
        parts += _frame(time, values, y, heading, "time", "time" if is_last else "")
        for i, name in enumerate(panel.up):
            spans = [((b.start, b.end), b.bounds[name]) for b in boxes if name in b.bounds]
            parts += _band(spans, time, values, shade + i if by_name else 0)
            for run, strokes in enumerate(lines[name]):
                colour, told = shade + i if by_name else run, _told(name, run, traces)
                parts += _strokes(strokes, time, values, colour, traces, told)
        parts += _marks(traces, time, y, y + PANEL)
        parts += _bound_names(mine, values, len(panel.up) > 1)
        shade += len(panel.up)
        y += PANEL + GAP
    return parts, y + 12


def _phase_panel(
    traces: Sequence[Trace],
    panel: Panel,
    boxes: Sequence[Box],
    bounds: Sequence[PropertyBound],
    y: float,
) -> tuple[list[str], float]:
    y += HEADING
    height = 2 * PANEL + GAP
    across, up = panel.names
    lines = [drawn_lines(trace, across, up) for trace in traces]
    flipped = [[[(b, a) for a, b in stroke] for stroke in strokes] for strokes in lines]
    sideways = [bound for bound in bounds if bound.variable == across]
    upright = [bound for bound in bounds if bound.variable == up]
    horizontal = value_axis(flipped, sideways, LEFT, WIDTH - RIGHT)
    vertical = value_axis(lines, upright, y + height, y)
    parts = _broken(upright, vertical, (LEFT, WIDTH - RIGHT), False)
    parts += _broken(sideways, horizontal, (y, y + height), False, sideways=True)
    parts += _frame(horizontal, vertical, y, [(up, None)], across, across)
    both = [b.bounds for b in boxes if across in b.bounds and up in b.bounds]
    parts += _band([(b[across], b[up]) for b in both], horizontal, vertical, 0)
    for run, strokes in enumerate(lines):
        parts += _strokes(strokes, horizontal, vertical, run, traces, _told(up, run, traces))
        if strokes and strokes[0]:
            x0, y0 = horizontal(strokes[0][0][0]), vertical(strokes[0][0][1])
            parts.append(
                f'<circle class="dot f{run % 6}" cx="{number(x0)}" cy="{number(y0)}" r="4">'
                "<title>start</title></circle>"
            )
    parts += _bound_names(upright, vertical, False)
    return parts, y + height + GAP + 12


def value_axis(
    lines: Iterable[Iterable[Line]], bounds: Sequence[PropertyBound], start: float, end: float
) -> Axis:
    """An axis for the second numbers of lines, and for bounds that are near. Raises ValueError
    where there are none."""
    values = [v for strokes in lines for stroke in strokes for _, v in stroke]
    if not values:
        raise ValueError("there is nothing finite to draw")
    low, high = min(values), max(values)
    spread = (high - low) or max(abs(high), 1.0)
    near = [e for b in bounds for e in b.edges if -NEAR < (e - low) / spread < 1 + NEAR]
    low, high = min([low, *near]), max([high, *near])
    room = (0.1 if near else 0.06) * (high - low) or max(abs(high) * 0.1, 0.5)
    return Axis(low - room, high + room, start, end)


def _broken(
    bounds: Sequence[PropertyBound],
    axis: Axis,
    ends: tuple[float, float],
    is_shared: bool,
    sideways: bool = False,
) -> list[str]:
    """The values that break properties, tinted, and their bounds; where several variables share
    a panel, the bounds alone."""
    parts = []
    for bound in bounds:
        title = f"<title>{escape(bound_text(bound))}</title>"
        low, high = max(bound.low, axis.low), min(bound.high, axis.high)
        if low < high and not is_shared:
            a, b = sorted((axis(low), axis(high)))
            (x, wide), (y, tall) = (ends[0], ends[1] - ends[0]), (a, b - a)
            if sideways:
                x, wide, y, tall = y, tall, x, wide
            place = (
                f'x="{number(x)}" y="{number(y)}" width="{number(wide)}" height="{number(tall)}"'
            )
            parts.append(f'<rect class="broken" {place}>{title}</rect>')
        for edge in bound.edges:
            if axis.low < edge < axis.high:
                at, (first, last) = number(axis(edge)), ends
                way = f"M{at} {number(first)}V{number(last)}" if sideways else ""
                way = way or f"M{number(first)} {at}H{number(last)}"
                parts.append(f'<path class="edge" d="{way}">{title}</path>')
    return parts


def _bound_names(bounds: Sequence[PropertyBound], axis: Axis, is_shared: bool) -> list[str]:
    """What the bounds of an upright axis belong to: on the bad side, at the right, and further
    left where another name is in the way."""
    parts = []
    taken: list[tuple[float, float]] = []  # where a name is, and how far to the left it reaches
    for bound in bounds:
        for edge in bound.edges:
            if not axis.low < edge < axis.high:
                continue
            y = axis(edge) + (-4.0 if edge == bound.low else 12.0)
            y = min(max(y, min(axis.start, axis.end) + 11), max(axis.start, axis.end) - 4)
            text = cut(bound_text(bound) if is_shared else bound.claim, 40).text
            x = min([WIDTH - RIGHT - 6, *(left for at, left in taken if abs(at - y) < ROW)])
            taken.append((y, x - LETTER * len(text) - 10))
            place = f'x="{number(x)}" y="{number(y)}" text-anchor="end"'
            parts.append(f'<text class="bound" {place}>{escape(text)}</text>')
    return parts


def bound_text(bound: PropertyBound) -> str:
    """Which values break which property."""
    if not math.isfinite(bound.high):
        values = f"{bound.variable} beyond {_shown(bound.low)}"
    elif not math.isfinite(bound.low):
        values = f"{bound.variable} below {_shown(bound.high)}"
    else:
        values = f"{bound.variable} from {_shown(bound.low)} to {_shown(bound.high)}"
    return f"{bound.claim}: broken by {values}"


def _told(name: str, run: int, traces: Sequence[Trace]) -> str:
    """What a line is called where its values are told."""
    return name if len(traces) == 1 else f"{name} of run {run + 1}"


def _frame(
    across: Axis,
    up: Axis,
    y: float,
    names: Sequence[tuple[str, int | None]],
    variable: str,
    below: str,
) -> list[str]:
    """Axes with their numbers; above them the names of variables, in their colours. `variable` is
    what stands to the right."""
    bottom = max(up.start, up.end)
    parts = []
    for value in up.ticks(5):
        place = number(up(value))
        parts.append(f'<path class="grid" d="M{LEFT:g} {place}H{WIDTH - RIGHT:g}"/>')
        parts.append(
            f'<text x="{LEFT - 8:g}" y="{number(up(value) + 4)}" text-anchor="end">'
            f"{_shown(value)}</text>"
        )
    for value in across.ticks(9):
        place = number(across(value))
        parts.append(f'<path class="grid" d="M{place} {number(y)}V{number(bottom)}"/>')
        parts.append(
            f'<text x="{place}" y="{number(bottom + 15)}" text-anchor="middle">'
            f"{_shown(value)}</text>"
        )
    parts.append(
        f'<rect class="frame" x="{LEFT:g}" y="{number(y)}" width="{WIDTH - LEFT - RIGHT:g}" '
        f'height="{number(bottom - y)}" data-across="{escape(variable)}" '
        f'data-up="{escape(names[0][0])}" data-x="{across.low!r} {across.high!r}" '
        f'data-y="{up.low!r} {up.high!r}"/>'
    )
    shown = "  ".join(
        escape(name) if colour is None else f'<tspan class="f{colour % 6}">{escape(name)}</tspan>'
        for name, colour in names
    )
    heading = f'x="{LEFT:g}" y="{number(y - 6)}" xml:space="preserve"'
    parts.append(f'<text class="name" {heading}>{shown}</text>')
    if below:
        parts.append(
            f'<text x="{WIDTH - RIGHT:g}" y="{number(bottom + 29)}" text-anchor="end">'
            f"{escape(below)}</text>"
        )
    return parts


def _band(
    spans: Sequence[tuple[tuple[float, float], tuple[float, float]]],
    across: Axis,
    up: Axis,
    colour: int,
) -> list[str]:
    """Rectangles that enclose a run, as one translucent band."""
    if not spans:
        return []
    corners = ((across(a), across(b), up(c), up(d)) for (a, b), (c, d) in spans)
    drawn = "".join(
        f"M{number(left)} {number(low)}H{number(right)}V{number(high)}H{number(left)}Z"
        for left, right, low, high in corners
    )
    name = "<title>proved enclosure</title>"
    return [f'<path class="band f{colour % 6} s{colour % 6}" d="{drawn}">{name}</path>']


def _strokes(
    strokes: Sequence[Line],
    across: Axis,
    up: Axis,
    colour: int,
    traces: Sequence[Trace],
    name: str,
) -> list[str]:
    """The pieces of one run, which is called so, joined by dotted lines where a jump changes the
    value; states without duration are dots."""
    many = " many" if len(traces) > 8 else ""
    parts = []
    drawn: list[str] = []
    jumps: list[str] = []
    instants: list[tuple[float, float]] = []
    last: tuple[float, float] | None = None
    for stroke in strokes:
        points = [(across(a), up(b)) for a, b in stroke]
        if last is not None and math.dist(last, points[0]) < 0.5:
            drawn[-1] += "L" + "L".join(f"{number(a)} {number(b)}" for a, b in points)
        else:
            if last is not None:
                a, b = points[0]
                jumps.append(f"M{number(last[0])} {number(last[1])}L{number(a)} {number(b)}")
            drawn.append("M" + "L".join(f"{number(a)} {number(b)}" for a, b in points))
            instants += points if len(points) == 1 else []
        last = points[-1]
    told = f'data-name="{escape(name)}"'
    parts.append(f'<path class="run s{colour % 6}{many}" {told} d="{"".join(drawn)}"/>')
    for a, b in instants:
        parts.append(
            f'<circle class="dot f{colour % 6}" cx="{number(a)}" cy="{number(b)}" r="3.2"/>'
        )
    if jumps:
        parts.append(f'<path class="jump s{colour % 6}" d="{"".join(jumps)}"/>')
    return parts


def _places(trace: Trace, time: Axis, y: float) -> list[str]:
    """A band that names the active location."""
    parts = []
    shades: dict[str, int] = {}
    for segment in _merged(trace.segments):
        location, start, end = segment
        shade = shades.setdefault(location, len(shades))
        a, b = time(start), time(end)
        width = max(b - a, 0.5)
        parts.append(
            f'<rect class="f{shade % 6}" fill-opacity=".18" x="{number(a)}" y="{number(y)}" '
            f'width="{number(width)}" height="{BAND:g}"><title>{escape(location)}: '
            f"{start:.6g} to {end:.6g}</title></rect>"
        )
        room = int((width - 8) / 6.4)
        if room >= 3:
            text = escape(cut(location, room).text)
            parts.append(
                f'<text class="place" x="{number(a + 4)}" y="{number(y + 13)}">{text}</text>'
            )
    return parts


def _merged(segments: Sequence[Segment]) -> Iterator[tuple[str, float, float]]:
    """Stays in locations, or on surfaces: neighbouring segments of one of them joined."""
    name, start, end = "", 0.0, 0.0
    for segment in segments:
        if segment.stay != name:
            if name:
                yield name, start, end
            name, start = segment.stay, segment.start
        end = segment.end
    if name:
        yield name, start, end


def _marks(traces: Sequence[Trace], time: Axis, top: float, bottom: float) -> list[str]:
    """Vertical lines where transitions happen, and where a property is violated."""
    parts = []
    if len(traces) == 1:
        for x, events in _bundles(traces[0].jumps, time):
            parts.append(_mark(x, top, bottom, [_transition(e) for e in events], "mark"))
    for trace in traces:
        violations = [e for e in trace.events if e.type is EventType.VIOLATION]
        for x, events in _bundles(violations, time):
            lines = [f"{e.name} is violated at {e.time:.6g}" for e in events]
            parts.append(_mark(x, top, bottom, lines, "bad"))
    return parts


def _mark(x: float, top: float, bottom: float, lines: Sequence[str], role: str) -> str:
    """A line, and a wider one that is not seen but easy to point at, with what happened."""
    rest = len(lines) - MAX_TOLD
    told = [*lines[:MAX_TOLD], *([f"and {rest} more"] if rest > 0 else [])]
    way = f"M{number(x)} {number(top)}V{number(bottom)}"
    title = f"<title>{escape(chr(10).join(told))}</title>"
    return f'<g>{title}<path class="{role}" d="{way}"/><path class="hover" d="{way}"/></g>'


def _transition(event: Event) -> str:
    return f"{event.name}: {event.source} to {event.target} at {event.time:.6g}"


def _bundles(events: Sequence[Event], time: Axis) -> Iterator[tuple[float, list[Event]]]:
    """Every event, those together that share a pixel."""
    bundle: list[Event] = []
    for event in events:
        if bundle and time(event.time) - time(bundle[0].time) > 1.0:
            yield time(bundle[0].time), bundle
            bundle = []
        bundle.append(event)
    if bundle:
        yield time(bundle[0].time), bundle


def _labels(events: Sequence[Event], time: Axis) -> list[tuple[float, int, str]]:
    """Names of transitions where there is room, each with its row: each name once first, then
    again at a distance from itself. No name reaches over another, or over the mark of one."""
    chosen: list[tuple[float, int, str]] = []
    for apart in (math.inf, SAME_LABEL):
        for event in events:
            x, name = time(event.time), cut(event.name, 24).text
            if any(name == known and abs(x - other) < apart for other, _, known in chosen):
                continue
            row = next((r for r in range(MAX_ROWS) if _is_free(chosen, x, r, name)), None)
            if row is not None:
                chosen.append((x, row, name))
    return chosen


def _is_free(chosen: Sequence[tuple[float, int, str]], x: float, row: int, name: str) -> bool:
    """Whether a name fits into a row, so that no name, and no line from a name down to the
    panels, meets another name."""
    end = x + LETTER * len(name) + 8
    if end > WIDTH:
        return False
    for other, other_row, known in chosen:
        other_end = other + LETTER * len(known) + 8
        if other_row == row:
            is_clear = end < other or other_end < x
        elif other_row < row:
            is_clear = not x - 2 <= other <= end
        else:
            is_clear = not other - 2 <= x <= other_end
        if not is_clear:
            return False
    return True


# Points


def _fed(trace: Trace) -> set[str]:
    """The inputs of a run."""
    return {name for segment in trace.segments for name in segment.inputs}


def drawn_lines(trace: Trace, across: str, up: str) -> list[Line]:
    """One variable of a run over another, or over `time`, segment by segment; values that are
    not finite are left out."""
    return list(_pairs(trace, across, up))


def _pairs(trace: Trace, across: str, up: str) -> Iterator[Line]:
    span = max(trace.end - trace.start, 1e-300)
    for segment in trace.segments:
        count = max(2, math.ceil(POINTS * (segment.end - segment.start) / span))
        step = (segment.end - segment.start) / count
        times = [segment.start + step * i for i in range(count)] + [segment.end]
        if segment.is_instant:
            times = [segment.start]
        series = zip(_series(segment, across, times), _series(segment, up, times), strict=True)
        points = [(a, b) for a, b in series if math.isfinite(a) and math.isfinite(b)]
        if points:
            yield points


def _series(segment: Segment, name: str, times: Sequence[float]) -> list[float]:
    """One variable at increasing times of a segment."""
    if name == "time":
        return list(times)
    if name in segment.held and name not in segment.inputs:
        return [_real(segment.held[name])] * len(times)
    if name not in segment.flowing:
        return [_real(segment.valuation(t).get(name)) for t in times]
    index, values = segment.flowing.index(name), []
    pieces = iter(segment.pieces())
    start, end, rows = next(pieces, (segment.start, math.inf, None))
    for t in times:
        while t > end:
            start, end, rows = next(pieces, (start, math.inf, rows))
        if rows is None or t >= segment.end:
            values.append(segment.final[index])
            continue
        value = 0.0
        for c in reversed(rows[index]):
            value = value * (t - start) + c
        values.append(value)
    return values


def _real(value: object) -> float:
    return float(value) if isinstance(value, int | float) else math.nan


def _shown(value: float) -> str:
    return f"{value:.6g}" if abs(value) > 1e-12 else "0"
