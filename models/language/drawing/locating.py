"""Where in the diagrams a place of the text is drawn."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.models.language.drawing.diagram import Diagram, diagram
from workbench.models.language.drawing.sources import Path, Sources
from workbench.models.language.editor.places import Place, holds
from workbench.models.record import record
from workbench.models.source import Span


@record
class Located:
    """A level, and the node or edge on it, if the place is in one."""

    path: Path
    id: str | None


def locate(sources: Sources, place: Place, near: Sequence[str] = ()) -> Located:
    """The level on which a place of the first file is drawn, and what is drawn for it. A definition
    that is used several times is shown where `near` leads, if it leads there."""
    for definition in sources.definitions():
        text = sources.text(definition)
        span = text.place(definition.span)
        if text.file == sources.files[0] and holds(span, place):
            path = sources.path_to(definition, near)
            shown = diagram(sources, path)
            if shown.span is None or shown.span != span:
                return Located((), None)  # a second definition of one name
            return Located(path, _element(shown, place))
    return Located((), None)


def _element(shown: Diagram, place: Place) -> str | None:
    """The smallest element of a level that holds a place."""
    spans = [(n.span, n.id) for n in shown.nodes if n.span is not None]
    spans += [(e.span, e.id) for e in shown.edges]
    inside = [
        (_extent(span), number) for number, (span, _) in enumerate(spans) if holds(span, place)
    ]
    return spans[min(inside)[1]][1] if inside else None


def _extent(span: Span) -> tuple[int, int]:
    return span.end_line - span.line, span.end_column - span.column
