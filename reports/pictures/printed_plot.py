"""Plots of traces for papers and slides, as PNG or PDF; drawn by matplotlib where it is installed.

What is drawn is that of `reports.pictures.trace_plot`.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from workbench.models.trace import EventType, Trace
from workbench.models.trace_boxes import Box
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
    heights = [1.0 if panel.across == "time" else 2.0 for panel in panels]
    figure = Figure(figsize=(WIDTH, HEIGHT * sum(heights) + 0.4), layout="constrained")
    FigureCanvasAgg(figure)
    all_axes = figure.subplots(len(panels), 1, squeeze=False, height_ratios=heights)[:, 0]
    for panel, axes in zip(panels, all_axes, strict=True):
        _draw(axes, panel, traces, boxes, bounds)
    figure.suptitle(title, fontsize="medium")
    file = io.BytesIO()
    figure.savefig(file, format=form, dpi=DOTS)
    return file.getvalue()


def _draw(
    axes: Any,
    panel: Panel,
    traces: Sequence[Trace],
    boxes: Sequence[Box],
    bounds: Sequence[PropertyBound],
) -> None:
    everything = []
    for i, name in enumerate(panel.up):
        for run, trace in enumerate(traces):
            strokes = drawn_lines(trace, panel.across, name)
            everything.append(strokes)
            colour = f"C{i if len(traces) == 1 or len(panel.up) > 1 else run}"
            label = name if run == 0 and len(panel.up) > 1 else None
            for stroke in strokes:
                xs, ys = zip(*stroke, strict=True)
                shown = {"marker": "."} if len(xs) == 1 else {}
                axes.plot(xs, ys, color=colour, linewidth=1.1, label=label, **shown)
                label = None
        for box in boxes:
            if panel.across == "time" and name in box.bounds:
                axes.fill_between((box.start, box.end), *box.bounds[name], color="C0", alpha=0.3)
    mine = [bound for bound in bounds if bound.variable in panel.up]
    scale = value_axis(everything, mine, 0.0, 1.0)
    axes.set_ylim(scale.low, scale.high)
    for bound in mine:
        _draw_bound(axes, bound, scale.low, scale.high, is_shared=len(panel.up) > 1)
    if panel.across == "time":
        _draw_events(axes, traces)
    axes.grid(alpha=0.3, linewidth=0.6)
    axes.set_xlabel(panel.across)
    axes.set_ylabel(", ".join(panel.up))
    if axes.get_legend_handles_labels()[0]:
        axes.legend(fontsize="small", loc="best")


def _draw_bound(
    axes: Any, bound: PropertyBound, low: float, high: float, *, is_shared: bool
) -> None:
    """The values that break a property, and its name beside the bound."""
    if max(bound.low, low) < min(bound.high, high) and not is_shared:
        axes.axhspan(max(bound.low, low), min(bound.high, high), color=BAD, alpha=0.08, linewidth=0)
    label: str | None = bound_text(bound)
    for edge in bound.edges:
        if low < edge < high:
            axes.axhline(edge, color=BAD, linewidth=0.9, linestyle="--", label=label)
            label = None


def _draw_events(axes: Any, traces: Sequence[Trace]) -> None:
    """Where transitions happen, and where a property is violated."""
    if len(traces) == 1 and len(traces[0].jumps) <= MARKED:
        for jump in traces[0].jumps:
            axes.axvline(jump.time, color="#b59a4a", linewidth=0.7, linestyle=":")
    for trace in traces:
        for event in trace.events:
            if event.type is EventType.VIOLATION:
                axes.axvline(event.time, color=BAD, linewidth=0.9)
