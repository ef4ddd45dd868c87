"""Diagrams for editors: pictures of levels, edits of them, and the way from text to picture.

`charon/diagram {textDocument, path?, fresh?}` answers a level: `path` (a way of names; the file is
empty), `kind`, `names` (the way as runs of its first agent tell it), `main` (the agent that is the
whole model), `uses` (how many parts are of its definition),
`stale`, `breadcrumb`, `parts` (what it says itself), `nodes` with boxes, `edges` with `points`
(a start, then three for each cubic curve) and their labels, `width` and `height`. A path that is
gone gives the level around it. What was drawn before stays in its place, unless `fresh` is true.

`charon/visualEdit {textDocument, version?, edit: {kind, ...}}` answers `edits` of this document and
`changes` of all by file; the kinds and their fields are the records of
`models/language/drawing/visual_edits.py`. What cannot be done is an error whose data are findings
with a range in a file, or a line and column of the text that was typed.

`charon/locate {textDocument, position, path?}` answers the `path` of a level, `path` if that shows
the place too, and the `id` of the node or edge there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from lsprotocol import types
from lsprotocol.converters import get_converter
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams

from workbench import Diagnostic, Document, ModelError, RequestError, Span
from workbench.api import drawing
from workbench.language_server.writing import edits_of

if TYPE_CHECKING:
    from workbench.language_server.server import Server

DIAGRAM, EDIT, LOCATE = "charon/diagram", "charon/visualEdit", "charon/locate"
REQUEST_FAILED = -32803
"""The protocol's code for what makes sense and cannot be done."""
MOST_KEPT = 100
"""How many pictures are kept as the start of the next ones."""

Path: TypeAlias = tuple[str, ...]


class Pictures:
    """The last picture of each level that was shown, and the level that was last shown of each
    document."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, Path], drawing.Drawing] = {}
        self._shown: dict[str, Path] = {}

    def draw(self, document: Document, path: Path | None, fresh: bool) -> drawing.Drawing:
        """The picture of a level, with what stays in its place unless it is to be `fresh`."""
        name = document.name
        wanted = self._shown.get(name) if path is None else path
        earlier = None if fresh or wanted is None else self._kept.get((name, wanted))
        found = drawing.draw(document, path if earlier is None else wanted, earlier)
        if found.level.path != wanted:
            before = None if fresh else self._kept.get((name, found.level.path))
            found = drawing.draw(document, found.level.path, before)
        self._keep(name, found)
        return found

    def _keep(self, name: str, picture: drawing.Drawing) -> None:
        key = name, picture.level.path
        self._kept.pop(key, None)
        self._kept[key] = picture
        self._shown[name] = picture.level.path
        while len(self._kept) > MOST_KEPT:
            self._kept.pop(next(iter(self._kept)))


def add_to(server: Server) -> None:
    """Add the features to a server."""
    pictures = Pictures()
    as_data = get_converter().unstructure

    @server.feature(DIAGRAM)
    def diagram(params: dict[str, Any]) -> dict[str, Any]:
        document = _document(server, params)
        path = params.get("path")
        shown = pictures.draw(
            document, None if path is None else _names(path), params.get("fresh") is True
        )
        return _Data(server).picture(shown) | {
            "version": _version(server, document),
            "uri": server.documents.uri(document.name),
        }

    @server.feature(LOCATE)
    def locate(params: dict[str, Any]) -> dict[str, Any]:
        document = _document(server, params)
        try:
            position = types.Position(**params["position"])
        except (KeyError, TypeError):
            raise JsonRpcInvalidParams("a position has a line and a character") from None
        place = server.place(document, position)
        found = drawing.located(document, place, _names(params.get("path") or ()))
        return {"path": list(found.path), "id": found.id}

    @server.feature(EDIT)
    def edit(params: dict[str, Any]) -> dict[str, Any]:
        document = _document(server, params)
        version = params.get("version")
        if version is not None and version != _version(server, document):
            raise JsonRpcException("the text has changed meanwhile", REQUEST_FAILED)
        given = params.get("edit")
        if not isinstance(given, dict):
            raise JsonRpcInvalidParams("an edit is an object with a kind")
        fields = {name: value for name, value in given.items() if name != "kind"}
        try:
            wanted = drawing.visual_edit(str(given.get("kind")), fields)
        except RequestError as problem:
            raise JsonRpcInvalidParams(str(problem)) from None
        is_name = isinstance(wanted, drawing.Rename)
        importers = server.documents.importers(document) if is_name else []
        try:
            made = drawing.text_edits(document, wanted, importers)
        except ModelError as problem:
            findings = [_finding(server, d) for d in problem.diagnostics]
            message = problem.diagnostics[0].message
            raise JsonRpcException(message, REQUEST_FAILED, findings) from None
        changes = as_data(edits_of(server, list(made)).changes)
        return {"edits": changes.get(server.documents.uri(document.name), []), "changes": changes}


def _document(server: Server, params: dict[str, Any]) -> Document:
    uri = (params.get("textDocument") or {}).get("uri")
    document = server.documents.at(str(uri))
    if document is None:
        raise JsonRpcInvalidParams(f"there is no document {uri!r:.200}")
    return document


def _version(server: Server, document: Document) -> int | None:
    known = server.documents.open.get(document.name)
    return known.version if known is not None else None


def _names(path: Any) -> Path:
    if isinstance(path, list | tuple) and all(isinstance(name, str) for name in path):
        return tuple(path)
    raise JsonRpcInvalidParams("a path is a list of names")


def _finding(server: Server, finding: Diagnostic) -> dict[str, Any]:
    """What is wrong: in a file with its range, in a text that was typed with line and column."""
    span = finding.span
    place: dict[str, Any] = {}
    if span is not None and server.documents.find(span.file) is not None:
        place = {"uri": server.documents.uri(span.file), "range": _Data(server).range(span)}
    elif span is not None:
        place = {"line": span.line, "column": span.column, "end_column": span.end_column}
    return {
        "code": finding.code,
        "message": finding.message,
        "hint": finding.hint,
        **place,
    }


class _Data:
    """Pictures as plain data, with ranges as the editor counts them."""

    def __init__(self, server: Server):
        self._server = server

    def range(self, span: Span | None) -> dict[str, Any] | None:
        """The range of a region."""
        if span is None:
            return None
        found = self._server.range(span)
        return {
            "start": {"line": found.start.line, "character": found.start.character},
            "end": {"line": found.end.line, "character": found.end.character},
        }

    def picture(self, shown: drawing.Drawing) -> dict[str, Any]:
        """A level with its coordinates."""
        level, picture = shown.level, shown.picture
        return {
            "stale": shown.stale,
            "path": list(level.path),
            "names": None if level.names is None else list(level.names),
            "main": level.main,
            "kind": level.kind,
            "definition": level.definition,
            "uses": level.uses,
            "range": self.range(level.span),
            "breadcrumb": [{"name": c.name, "path": list(c.path)} for c in level.breadcrumb],
            "parts": self._parts(level.parts),
            "nodes": [
                self._node(shown, node, box)
                for node, box in zip(level.nodes, picture.boxes, strict=True)
            ],
            "edges": [
                self._edge(edge, way) for edge, way in zip(level.edges, picture.ways, strict=True)
            ],
            "width": round(picture.width, 1),
            "height": round(picture.height, 1),
        }

    def _parts(self, parts: tuple[drawing.Part, ...]) -> list[dict[str, Any]]:
        return [{"kind": p.kind, "text": p.text, "range": self.range(p.span)} for p in parts]

    def _node(self, shown: drawing.Drawing, node: drawing.Node, box: drawing.Box) -> dict[str, Any]:
        names = shown.level.names_of(node)
        return {
            "id": node.id,
            "kind": node.kind,
            "name": node.reference,
            "title": node.title,
            "caption": drawing.caption(node),
            "names": None if names is None else list(names),
            "definition": node.definition,
            "arguments": node.arguments,
            "uses": node.uses,
            "enterable": node.enterable,
            "entries": list(node.entries),
            "exits": list(node.exits),
            "parts": self._parts(node.parts),
            "label_lines": list(box.lines),
            "x": round(box.x, 1),
            "y": round(box.y, 1),
            "width": round(box.width, 1),
            "height": round(box.height, 1),
            "range": self.range(node.span),
            "name_range": self.range(node.name_span),
            "uri": self._server.documents.uri(node.span.file) if node.span else None,
        }

    def _edge(self, edge: drawing.Edge, way: drawing.Way) -> dict[str, Any]:
        x, y = way.label
        label = {"x": round(x, 1), "y": round(y, 1), "lines": list(way.lines)}
        return {
            "id": edge.id,
            "kind": edge.kind,
            "name": edge.name,
            "source": edge.source,
            "target": edge.target,
            "source_point": edge.source_point,
            "target_point": edge.target_point,
            "guard": edge.guard,
            "reset": list(edge.reset),
            "urgent": edge.urgent,
            "both": edge.both,
            "points": [[round(px, 1), round(py, 1)] for px, py in way.points],
            "label": label if way.lines else None,
            "range": self.range(edge.span),
        }
