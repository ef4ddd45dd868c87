"""Runs as pictures: panels over time and phase plots, with the bounds of properties."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

from workbench.api.asked import RequestError, unknown

if TYPE_CHECKING:
    from workbench.models.automaton import Automaton
    from workbench.models.trace import Trace
    from workbench.models.trace_boxes import Box

PICTURES = (".svg", ".html", ".png", ".pdf")
"""Files that hold a picture; the last two need matplotlib."""

SHOWN = 8
"""Variables that are drawn where none is named."""

ARGUMENT = "plot_vars"

MARGIN, SIDES = 64, 32
"""Pixels above and below an embedded picture, and beside it."""


def panels(wanted: Sequence[str], known: Iterable[str]) -> list[str]:
    """The panels of a picture: names, several in one panel `x+y`, pairs `x:y`. Raises
    RequestError."""
    names = list(known)
    found = [re.sub(r"\s*([:+])\s*", r"\1", panel.strip()) for panel in wanted]
    for panel in found:
        parts = re.split("[:+]", panel)
        if ":" in panel and (len(parts) != 2 or "+" in panel):
            raise RequestError(
                f"{panel[:80]!r} should be a name, x+y in one panel, or a pair x:y", ARGUMENT
            )
        for part in parts:
            if part not in names:
                raise RequestError(unknown("variable", part, names), ARGUMENT)
    if not found:
        raise RequestError("there is no name", ARGUMENT)
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


_SIZE = re.compile(r'<svg [^>]*width="([0-9.]+)" height="([0-9.]+)"')


def embedded(page: str) -> str:
    """A page with one picture as a part of another page, with its scripts but apart from it; the
    picture is never drawn larger than it is, so that it fits."""
    found = _SIZE.search(page)
    width, height = map(float, found.groups()) if found else (0.0, 0.0)
    style = f"border:0;max-width:{width + SIDES:.0f}px"
    return (
        f'<iframe sandbox="allow-scripts" srcdoc="{escape(page)}" width="100%"'
        f' height="{height + MARGIN:.0f}" style="{style}"></iframe>'
    )
