"""A model as a picture that can be edited: its levels with coordinates, and edits of the picture
that become edits of the text.

>>> from workbench import Document
>>> from workbench.api import drawing
>>> text = "mode Top() { }\\nagent Main() { mode top = Top(); }"
>>> document = Document("main.charon", text)
>>> [node.id for node in drawing.draw(document).nodes]
['mode:top']
>>> edits = drawing.text_edits(document, drawing.AddMode(("Main", "top"), "fast"))
>>> [edit.text for edit in edits]
['mode Fast() { }\\n\\n', '\\n  mode fast = Fast();\\n']
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from typing import TYPE_CHECKING

from workbench.api.asked import RequestError, unknown
from workbench.models.language.drawing import visual_edits
from workbench.models.language.drawing.diagram import Diagram, Edge, Node, Part, diagram
from workbench.models.language.drawing.locating import Located, locate
from workbench.models.language.drawing.sources import Sources
from workbench.models.language.drawing.visual_edits import (
    AddAgent,
    AddEntry,
    AddExit,
    AddMode,
    AddVariable,
    Connect,
    Delete,
    Disconnect,
    Reconnect,
    Rename,
    SetArguments,
    SetEquation,
    SetFlow,
    SetGuard,
    SetInit,
    SetInvariant,
    SetLabel,
    SetReset,
    SetUrgent,
    Share,
    VisualEdit,
)
from workbench.models.source import ModelError
from workbench.reports.pictures.level_picture import Box, LevelPicture, Way, caption, draw_level

if TYPE_CHECKING:
    from workbench.api.document import Document
    from workbench.models.language.editor.places import Place
    from workbench.models.source import Edit

__all__ = [
    "AddAgent",
    "AddEntry",
    "AddExit",
    "AddMode",
    "AddVariable",
    "Box",
    "Connect",
    "Delete",
    "Disconnect",
    "Drawing",
    "Edge",
    "Located",
    "Node",
    "Part",
    "Reconnect",
    "Rename",
    "SetArguments",
    "SetEquation",
    "SetFlow",
    "SetGuard",
    "SetInit",
    "SetInvariant",
    "SetLabel",
    "SetReset",
    "SetUrgent",
    "Share",
    "VisualEdit",
    "Way",
    "caption",
    "draw",
    "located",
    "text_edits",
    "visual_edit",
]


@dataclass(frozen=True, slots=True)
class Drawing:
    """One level of a document: what is on it and where. `stale` says that the text has syntax
    errors by now, so that this is the picture from before them, as far as there is one."""

    picture: LevelPicture
    stale: bool = False

    @property
    def level(self) -> Diagram:
        """What is drawn."""
        return self.picture.diagram

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The parts; `picture.boxes` has their places, in the same order."""
        return self.level.nodes

    @property
    def edges(self) -> tuple[Edge, ...]:
        """Transitions and shared variables; `picture.ways` has their ways, in the same order."""
        return self.level.edges


def draw(
    document: Document, path: Sequence[str] | None = None, earlier: Drawing | None = None
) -> Drawing:
    """The level at a path of names (that of the main agent without one, the file for an empty
    one), or the nearest one around it if it is gone. What was in the earlier drawing of the level
    stays in its place; a text with syntax errors keeps that drawing, marked as stale."""
    broken = bool(document.diagnostics)
    if broken and earlier is not None and (path is None or earlier.level.path == tuple(path)):
        return Drawing(earlier.picture, stale=True)
    shown = _nearest(Sources(document.project), path)
    same = earlier is not None and earlier.level.path == shown.path
    before = earlier.picture if earlier is not None and same else None
    return Drawing(draw_level(shown, before), stale=broken)


def _nearest(sources: Sources, path: Sequence[str] | None) -> Diagram:
    """The level at a path, or the nearest one around it that is there."""
    while path:
        try:
            return diagram(sources, path)
        except ModelError:
            path = path[:-1]
    return diagram(sources, path)


def located(document: Document, place: Place, near: Sequence[str] = ()) -> Located:
    """The level on which a place of the document is drawn, and the node or edge there; `near` is
    preferred among several levels that show it."""
    return locate(Sources(document.project), place, near)


def text_edits(
    document: Document, edit: VisualEdit, importers: Iterable[Document] = ()
) -> tuple[Edit, ...]:
    """The edits of the document, and of what it imports, that do a visual edit; other names reach
    the documents of `importers` too. Raises ModelError where the edit cannot be done, or where the
    text has syntax errors."""
    from workbench.models.language.drawing.editing import edits

    return edits(document.project, edit, [d.project for d in importers])


def visual_edit(kind: str, given: Mapping[str, object]) -> VisualEdit:
    """The visual edit of a name, `AddMode`, with its fields, as they come in JSON. Raises
    RequestError where they do not fit."""
    made = visual_edits.KINDS.get(kind)
    if made is None:
        raise RequestError(unknown("visual edit", kind, visual_edits.KINDS))
    known = {field.name: field for field in fields(made)}
    values: dict[str, object] = {}
    for name, value in given.items():
        if name not in known:
            raise RequestError(unknown(f"field of {kind}", name, known))
        values[name] = _value(kind, name, str(known[name].type), value)
    for name, field in known.items():
        if name not in values and field.default is MISSING:
            raise RequestError(f"{kind} needs the field {name!r}")
    return made(**values)  # type: ignore[arg-type]


def _value(kind: str, name: str, wanted: str, value: object) -> object:
    if wanted == "Path":
        if isinstance(value, list | tuple) and all(isinstance(part, str) for part in value):
            return tuple(value)
        raise RequestError(f"{name!r} of {kind} is a list of names")
    right = bool if wanted == "bool" else str
    if not isinstance(value, right):
        raise RequestError(f"{name!r} of {kind} is a {'truth value' if right is bool else 'text'}")
    return value
