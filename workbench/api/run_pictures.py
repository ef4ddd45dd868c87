"""Runs as pictures: panels over time and phase plots, with the bounds of properties."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from workbench.api.asked import RequestError, texts, unknown
from workbench.api.notebook import needed

if TYPE_CHECKING:
    from workbench.models.automaton import Automaton
    from workbench.models.trace import Trace
    from workbench.models.trace_boxes import Box

PICTURES = (".svg", ".html", ".png", ".pdf")
"""Files that hold a picture; the last two need matplotlib."""

SHOWN = 8
"""Variables that are drawn where none is named."""


def panels(wanted: Sequence[str], known: Iterable[str]) -> list[str]:
    """The panels of a picture: names, several in one panel `x+y`, pairs `x:y`. Raises
    RequestError."""
    names = list(dict.fromkeys(known))
    found = [re.sub(r"\s*([:+])\s*", r"\1", panel.strip()) for panel in texts("names", wanted)]
    for panel in found:
        parts = re.split("[:+]", panel)
        if ":" in panel and (len(parts) != 2 or "+" in panel):
            raise RequestError(
                f"{panel[:80]!r} should be a name, x+y in one panel, or a pair x:y", "names"
            )
        for part in parts:
            if part not in names:
                raise RequestError(unknown("variable", part, names), "names")
    if not found:
        raise RequestError("there is no name", "names")
    return found


def shown_of(automaton: Automaton) -> list[str]:
    """What is drawn of a model where nothing is named."""
    real = (v.name for v in automaton.variables if v.type.name == "real")
    return [name for name in real if name != "time"][:SHOWN]


def known_to(automaton: Automaton) -> list[str]:
    """What can be drawn of a model."""
    return [*(v.name for v in automaton.variables), *(i.name for i in automaton.inputs)]


def picture(
    traces: Sequence[Trace],
    shown: Sequence[str],
    title: str,
    form: str = ".svg",
    automaton: Automaton | None = None,
    boxes: Sequence[Box] = (),
) -> str | bytes:
    """The picture in the form of a file's ending (`PICTURES`), with the bounds that properties of
    the model set, and enclosures. Raises RequestError where it cannot be drawn."""
    from workbench.reports.claims.property_bounds import property_bounds
    from workbench.reports.pictures.printed_plot import NoMatplotlibError, printed_plot
    from workbench.reports.pictures.trace_plot import page, plot

    if form not in PICTURES:
        wanted = f"{', '.join(PICTURES[:-1])} or {PICTURES[-1]}"
        raise RequestError(f"pictures are {wanted}, not {form!r}", "plot")
    _refuse_nothing(shown)
    begun = [trace for trace in traces if trace.segments]
    bounds = () if automaton is None else property_bounds(automaton)
    drawn = (begun, shown, title, boxes, bounds)
    try:
        if form in (".png", ".pdf"):
            return printed_plot(*drawn, form[1:])
        svg = plot(*drawn)
    except (ValueError, NoMatplotlibError) as error:
        raise RequestError(str(error), "plot") from error
    return page(svg, title) if form == ".html" else svg


def shown_panels(
    traces: Sequence[Trace], names: Sequence[str], automaton: Automaton | None
) -> list[str]:
    """What is drawn of runs: what is named, or the real variables. Raises RequestError."""
    begun = [trace for trace in traces if trace.segments]
    if not begun:
        raise RequestError("there is no run to draw")
    first = begun[0]
    if names:
        fed = [] if automaton is None else known_to(automaton)
        return panels(names, [*first.variables, *fed])
    if automaton is not None:
        return shown_of(automaton)
    numeric = {n for n, v in first.at(first.end).items() if isinstance(v, float)}
    return [n for n in first.variables if n in numeric and n != "time"][:SHOWN]


def plotted(
    traces: Sequence[Trace],
    names: Sequence[str],
    automaton: Automaton | None,
    axes: Any,
    style: Mapping[str, Any],
) -> Any:
    """The picture drawn by matplotlib: into `axes`, one for all panels or one for each, or into
    a new figure; and these axes."""
    import numpy as np

    pyplot = needed("matplotlib.pyplot", "matplotlib")
    from matplotlib.cbook import normalize_kwargs
    from matplotlib.lines import Line2D

    from workbench.reports.claims.property_bounds import property_bounds
    from workbench.reports.pictures import printed_plot
    from workbench.reports.pictures.trace_plot import Panel

    shown = shown_panels(traces, names, automaton)
    _refuse_nothing(shown)
    drawn = [Panel.read(panel) for panel in shown]
    bounds = () if automaton is None else property_bounds(automaton)
    begun = [trace for trace in traces if trace.segments]
    chosen = normalize_kwargs(dict(style), Line2D)
    given = [] if axes is None else list(np.ravel(np.asarray(axes, dtype=object)))
    if axes is not None and len(given) not in (1, len(drawn)):
        raise RequestError(f"{len(drawn)} panels need one axes, or one for each", "axes")
    try:
        if axes is None:
            figure = pyplot.figure(figsize=printed_plot.figure_size(drawn), layout="constrained")
            given = printed_plot.draw_panels(figure, drawn, begun, (), bounds, chosen)
        else:
            for number, panel in enumerate(drawn):
                here = given[number % len(given)]
                printed_plot.draw_panel(here, panel, begun, (), bounds, chosen)
    except (ValueError, AttributeError) as error:  # a style that matplotlib does not know
        raise RequestError(str(error), "plot") from error
    return given if len(given) > 1 else given[0]


def _refuse_nothing(shown: Sequence[str]) -> None:
    """A picture shows something."""
    if not shown:
        raise RequestError("the model has no real variable: name what to draw", "names")
