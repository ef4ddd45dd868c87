"""What editors ask about a text that is there: what names are, where they are used, how it is
made up, and how it is coloured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams

from workbench import Document, Span
from workbench.language_server.colours import LEGEND, Colours
from workbench.language_server.plain import Plain
from workbench.language_server.writing import edits_of

if TYPE_CHECKING:
    from workbench.api.document import Hover, OutlineItem
    from workbench.language_server.server import Server

_KINDS = {
    "agent": types.SymbolKind.Class,
    "mode": types.SymbolKind.Struct,
    "constant": types.SymbolKind.Constant,
    "table": types.SymbolKind.Function,
    "function": types.SymbolKind.Function,
    "system": types.SymbolKind.Module,
    "variable": types.SymbolKind.Variable,
    "agent instance": types.SymbolKind.Object,
    "mode instance": types.SymbolKind.Object,
    "transition": types.SymbolKind.Event,
    "interaction": types.SymbolKind.Event,
    "entry": types.SymbolKind.Key,
    "exit": types.SymbolKind.Key,
    "claim": types.SymbolKind.Boolean,
}


class Asked(Protocol):
    """A question about a place of a document."""

    @property
    def text_document(self) -> types.TextDocumentIdentifier:
        """The document."""

    @property
    def position(self) -> types.Position:
        """The place."""


def add_to(server: Server) -> None:
    """Add the features to a server."""
    documents = server.documents
    colours, symbols_of = Colours(documents), _Symbols(server)

    def asked(
        params: Asked,
    ) -> tuple[Document, tuple[int, int]] | tuple[None, tuple[int, int]]:
        document = documents.at(params.text_document.uri)
        if document is None:
            return None, (1, 1)
        return document, server.place(document, params.position)

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def hover(params: types.HoverParams) -> types.Hover | None:
        document, place = asked(params)
        found = document.hover(place) if document is not None else None
        if document is None or found is None:
            return None
        said = types.MarkupContent(types.MarkupKind.Markdown, in_markdown(found, document.name))
        return types.Hover(said, server.range(found.span))

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    def definition(params: types.DefinitionParams) -> list[types.Location]:
        document, place = asked(params)
        found = document.definition(place) if document is not None else ()
        return [server.location(span) for span in found]

    @server.feature(types.TEXT_DOCUMENT_REFERENCES)
    def references(params: types.ReferenceParams) -> list[types.Location]:
        document, place = asked(params)
        if document is None:
            return []
        found = document.references(place, documents.importers(document))
        with_own = params.context.include_declaration
        return [server.location(r.span) for r in found if with_own or not r.introduces]

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)
    def highlights(params: types.DocumentHighlightParams) -> list[types.DocumentHighlight]:
        document, place = asked(params)
        if document is None:
            return []
        kinds = types.DocumentHighlightKind
        return [
            types.DocumentHighlight(
                server.range(r.span), kinds.Write if r.writes or r.introduces else kinds.Read
            )
            for r in document.references(place)
            if r.span.file == document.name
        ]

    @server.feature(types.TEXT_DOCUMENT_PREPARE_RENAME)
    def renamable(params: types.PrepareRenameParams) -> types.PrepareRenamePlaceholder | None:
        document, place = asked(params)
        found = document.renamable(place) if document is not None else None
        if found is None:
            return None
        return types.PrepareRenamePlaceholder(server.range(found[0]), found[1])

    @server.feature(types.TEXT_DOCUMENT_RENAME, types.RenameOptions(prepare_provider=True))
    def rename(params: types.RenameParams) -> types.WorkspaceEdit | None:
        document, place = asked(params)
        if document is None:
            return None
        try:
            edits = document.renamed(place, params.new_name, documents.importers(document))
        except ValueError as error:
            raise JsonRpcInvalidParams(str(error)) from None
        return edits_of(server, list(edits))

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def outline(params: types.DocumentSymbolParams) -> Plain:
        document = documents.at(params.text_document.uri)
        return symbols_of.told(document) if document is not None else Plain()

    @server.feature(types.WORKSPACE_SYMBOL)
    def symbols(params: types.WorkspaceSymbolParams) -> list[types.SymbolInformation]:
        wanted = params.query.lower()
        found = []
        for document in documents.all():
            for item in document.outline():
                for each, around in [(item, None), *((c, item.name) for c in item.children)]:
                    if _fits(wanted, each.name.lower()):
                        kind, place = _KINDS[each.sort], server.location(each.name_span)
                        found.append(
                            types.SymbolInformation(place, each.name, kind, container_name=around)
                        )
        return found[:1000]

    @server.feature(types.TEXT_DOCUMENT_FOLDING_RANGE)
    def folds(params: types.FoldingRangeParams) -> list[types.FoldingRange]:
        document = documents.at(params.text_document.uri)
        kinds = types.FoldingRangeKind
        return [
            types.FoldingRange(
                fold.first - 1, fold.last - 1, kind=kinds.Comment if fold.is_comment else None
            )
            for fold in (document.folds() if document is not None else ())
        ]

    @server.feature(
        types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL,
        types.SemanticTokensRegistrationOptions(
            LEGEND, range=True, full=types.SemanticTokensFullDelta(delta=True)
        ),
    )
    def coloured(params: types.SemanticTokensParams) -> types.SemanticTokens | None:
        return colours.whole(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL_DELTA)
    def recoloured(
        params: types.SemanticTokensDeltaParams,
    ) -> types.SemanticTokens | types.SemanticTokensDelta | None:
        return colours.changes(params.text_document.uri, params.previous_result_id)

    @server.feature(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE)
    def coloured_lines(params: types.SemanticTokensRangeParams) -> types.SemanticTokens | None:
        first, last = params.range.start.line + 1, params.range.end.line + 1
        return colours.some(params.text_document.uri, first, last)


def in_markdown(found: Hover, file: str) -> str:
    """What is known of a name, as a page in small."""
    parts = [f"```charon\n{found.code}\n```"]
    if found.comment:
        parts.append(found.comment)
    lines = [f"{note[0].upper()}{note[1:]}." for note in found.notes]
    lines += [f"{_place(w.span, file)}: {w.words}" for w in found.writers]
    if lines:
        parts.append("\n".join(f"- {line}" for line in lines))
    if found.declared is not None:
        parts.append(f"*{_place(found.declared, file)}*")
    return "\n\n".join(parts)


def _place(span: Span, file: str) -> str:
    name = "" if span.file == file else f"{span.file.rsplit('/', 1)[-1]}, "
    return f"{name}line {span.line}"


def _fits(wanted: str, name: str) -> bool:
    """Whether the letters that are wanted come one after the other in a name."""
    at = 0
    for letter in wanted:
        at = name.find(letter, at) + 1
        if not at:
            return False
    return True


class _Symbols:
    """Outlines as the protocol tells them. Items that have not moved since the last time, which
    are the same objects then, are not told anew."""

    def __init__(self, server: Server):
        self._server = server
        self._told: dict[str, dict[int, tuple[OutlineItem, dict[str, Any]]]] = {}

    def told(self, document: Document) -> Plain:
        """The outline of a document."""
        before, now = self._told.get(document.name, {}), {}
        lines, positions = document.lines, self._server.documents.positions

        def place(span: Span) -> dict[str, Any]:
            found = positions.range(lines, span)
            start, end = found.start, found.end
            return {
                "start": {"line": start.line, "character": start.character},
                "end": {"line": end.line, "character": end.character},
            }

        def tell(item: OutlineItem) -> dict[str, Any]:
            known = before.get(id(item))
            if known is not None and known[0] is item:
                return known[1]
            data: dict[str, Any] = {
                "name": item.name or item.sort,
                "kind": _KINDS[item.sort].value,
                "range": place(item.span),
                "selectionRange": place(item.name_span),
            }
            if item.detail:
                data["detail"] = item.detail
            if item.children:
                data["children"] = [tell(child) for child in item.children]
            return data

        found = Plain()
        for item in document.outline():
            data = tell(item)
            now[id(item)] = item, data
            for child, told in zip(item.children, data.get("children", ()), strict=True):
                now[id(child)] = child, told
            found.append(data)
        self._told[document.name] = now
        return found
