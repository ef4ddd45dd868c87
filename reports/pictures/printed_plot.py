"""Plots of traces for papers and slides, as PNG or PDF; drawn by matplotlib where it is installed.

What is drawn is that of `reports.pictures.trace_plot`.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from workbench.models.trace import EventType, Trace
from workbench.models.trace_boxes import Box
from workbench.reports.pictures.svg import cut
from workbench.reports.pictures.trace_plot import (
    Panel,
    bound_text,
    drawn_lines,
    read_panels,
    value_axis,
)

if TYPE_CHECKING:
    from workbench.reports.claims.property_bounds import PropertyBound

FORMATS = ("png", "pdf")
WIDTH, HEIGHT, DOTS = 8.0, 2.3, 160
"""Inches of a panel, and dots of an inch."""

BAD = "#c02f2f"
BOUND = "bound"
"""What artists are called that show a bound."""

NAME = 7.5
"""The size of its name, in points."""

LONG, LONGEST = 20, 32
"""So many characters of a name fit beside a panel, and so many in small letters."""

MARKED = 40
"""With more transitions than these, they are not marked."""


class NoMatplotlibError(RuntimeError):
    """PNG and PDF need matplotlib."""


def printed_plot(
    traces: Sequence[Trace],
    variables: Sequence[str],
    title: str,
    boxes: Sequence[Box],
    bounds: Sequence[PropertyBound],
    form: str,
) -> bytes:
    """The picture as a file of one of `FORMATS`. Raises ValueError as `plot` does, and
    `NoMatplotlibError`."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise NoMatplotlibError(
            "PNG and PDF are drawn by matplotlib, which is not installed: pip install matplotlib"
        ) from error
    panels = read_panels(traces, variables)
    figure = Figure(figsize=figure_size(panels), layout="constrained")
    FigureCanvasAgg(figure)
    draw_panels(figure, panels, traces, boxes, bounds)
    figure.suptitle(title, fontsize="medium")
    file = io.BytesIO()
    figure.savefig(file, format=form, dpi=DOTS)
    return file.getvalue()


def figure_size(panels: Sequence[Panel]) -> tuple[float, float]:
    """The inches of a figure with a row for each panel."""
    return WIDTH, HEIGHT * sum(_heights(panels)) + 0.4


def draw_panels(
    figure: Any,
    panels: Sequence[Panel],
    traces: Sequence[Trace],
    boxes: Sequence[Box],
    bounds: Sequence[PropertyBound],
    style: Mapping[str, Any] = MappingProxyType({}),
) -> list[Any]:
    """Each panel on axes of its own in an empty figure, with the transitions, and a grid."""
    rows = figure.subplots(len(panels), 1, squeeze=False, height_ratios=_heights(panels))[:, 0]
    for panel, axes in zip(panels, rows, strict=True):
        draw_panel(axes, panel, traces, boxes, bounds, style)
        if panel.across == "time":
            _draw_events(axes, traces)
        axes.grid(alpha=0.3, linewidth=0.6)
    return list(rows)


def draw_panel(
    axes: Any,
    panel: Panel,
    traces: Sequence[Trace],
    boxes: Sequence[Box],
    bounds: Sequence[PropertyBound],
    style: Mapping[str, Any] = MappingProxyType({}),
) -> None:
    """The lines of a panel in a style of matplotlib, and the bounds of properties, beside what is
    on the axes already."""
    reach = ([*axes.get_xlim()], [*axes.get_ylim()]) if axes.has_data() else ([], [])
    is_shared = len(panel.up) > 1
    everything = []
    colours: dict[str | int, Any] = {}
    for name in panel.up:
        label = name if is_shared else style.get("label")
        for run, trace in enumerate(traces):
            strokes = drawn_lines(trace, panel.across, name)
            everything.append(strokes)
            key = name if is_shared else run
            for stroke in strokes:
                xs, ys = zip(*stroke, strict=True)
                shown: dict[str, Any] = {"marker": "."} if len(xs) == 1 else {}
                shown |= {"color": colours.get(key), "linewidth": 1.1, **style, "label": label}
                (line,) = axes.plot(xs, ys, **shown)
                colours[key], label = line.get_color(), None
        for box in boxes:
            if panel.across == "time" and name in box.bounds:
                axes.fill_between((box.start, box.end), *box.bounds[name], color="C0", alpha=0.3)
    for artist in [*axes.patches, *axes.lines, *axes.texts]:
        if artist.get_gid() == BOUND:  # drawn before, when the axes reached less far
            artist.remove()
    mine = [bound for bound in bounds if bound.variable in panel.up]
    scale = value_axis(everything, mine, 0.0, 1.0)
    low, high = min([scale.low, *reach[1]]), max([scale.high, *reach[1]])
    _draw_bounds(axes, mine, low, high, is_shared=is_shared)
    axes.set_ylim(low, high, auto=None)
    if sideways := [bound for bound in bounds if bound.variable == panel.across]:
        flipped = [[[(y, x) for x, y in stroke] for stroke in strokes] for strokes in everything]
        scale = value_axis(flipped, sideways, 0.0, 1.0)
        low, high = min([scale.low, *reach[0]]), max([scale.high, *reach[0]])
        _draw_sideways(axes, sideways, low, high)
        axes.set_xlim(low, high, auto=None)
    axes.set_xlabel(panel.across)
    name = "" if is_shared else cut(panel.up[0], LONGEST).text  # a legend tells several
    axes.set_ylabel(name, fontsize="small" if len(name) > LONG else "medium")
    if axes.get_legend_handles_labels()[0]:
        axes.legend(fontsize="small", loc="best")


def _heights(panels: Sequence[Panel]) -> list[float]:
    return [1.0 if panel.across == "time" else 2.0 for panel in panels]


def _draw_bounds(
    axes: Any, bounds: Sequence[PropertyBound], low: float, high: float, *, is_shared: bool
) -> None:
    """The values that break properties, and their names on the bad side of each bound, at the
    right, and further left where another name is in the way."""
    from matplotlib.patheffects import withStroke

    inches = axes.get_position().height * axes.figure.get_figheight()
    taken: list[tuple[float, float]] = []  # where a name is, and how far to the left it reaches
    for bound in bounds:
        first, last = max(bound.low, low), min(bound.high, high)
        if first < last and not is_shared:
            axes.axhspan(first, last, color=BAD, alpha=0.08, linewidth=0, gid=BOUND)
        for edge in bound.edges:
            if not low < edge < high:
                continue
            axes.axhline(edge, color=BAD, linewidth=0.9, linestyle="--", gid=BOUND)
            name = cut(bound_text(bound) if is_shared else bound.claim, 40).text
            side = 1.0 if edge == bound.low else -1.0
            at = (edge - low) / (high - low) * inches * 72 + side * NAME / 2
            x = min([-4.0, *(left for other, left in taken if abs(other - at) < NAME + 2)])
            taken.append((at, x - 0.6 * NAME * len(name) - 6))
            axes.annotate(
                name, (1.0, edge), (x, 2 * side), xycoords=("axes fraction", "data"),
                textcoords="offset points", ha="right", va="bottom" if side > 0 else "top",
                fontsize=NAME, color=BAD, gid=BOUND, zorder=3,
                path_effects=[withStroke(linewidth=2, foreground="white")],
            )  # fmt: skip


def _draw_sideways(axes: Any, bounds: Sequence[PropertyBound], low: float, high: float) -> None:
    """The values to the left and right that break properties."""
    for bound in bounds:
        first, last = max(bound.low, low), min(bound.high, high)
        if first < last:
            axes.axvspan(first, last, color=BAD, alpha=0.08, linewidth=0, gid=BOUND)
        for edge in bound.edges:
            if low < edge < high:
                axes.axvline(edge, color=BAD, linewidth=0.9, linestyle="--", gid=BOUND)


def _draw_events(axes: Any, traces: Sequence[Trace]) -> None:
    """Where transitions happen, and where a property is violated."""
    if len(traces) == 1 and len(traces[0].jumps) <= MARKED:
        for jump in traces[0].jumps:
            axes.axvline(jump.time, color="#b59a4a", linewidth=0.7, linestyle=":")
    for trace in traces:
        for event in trace.events:
            if event.type is EventType.VIOLATION:
                axes.axvline(event.time, color=BAD, linewidth=0.9)
