"""What editors ask while a text is written: completion, signatures, what is expected next, layout
and quick fixes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lsprotocol import types

from workbench import Edit, ModelError, Span
from workbench.language_server.documents import name_of

if TYPE_CHECKING:
    from workbench.language_server.server import Server

_KINDS = {
    "keyword": types.CompletionItemKind.Keyword,
    "template": types.CompletionItemKind.Snippet,
    "variable": types.CompletionItemKind.Variable,
    "parameter": types.CompletionItemKind.Variable,
    "index": types.CompletionItemKind.Variable,
    "let": types.CompletionItemKind.Variable,
    "partner": types.CompletionItemKind.Variable,
    "constant": types.CompletionItemKind.Constant,
    "value": types.CompletionItemKind.EnumMember,
    "function": types.CompletionItemKind.Function,
    "table": types.CompletionItemKind.Function,
    "agent": types.CompletionItemKind.Class,
    "mode": types.CompletionItemKind.Struct,
    "agent instance": types.CompletionItemKind.Property,
    "mode instance": types.CompletionItemKind.Property,
    "entry": types.CompletionItemKind.Event,
    "exit": types.CompletionItemKind.Event,
}
_LAST = ("template", "keyword")


def add_to(server: Server) -> None:
    """Add the features to a server."""
    documents = server.documents

    @server.feature(
        types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=["."])
    )
    def complete(params: types.CompletionParams) -> types.CompletionList | None:
        document = documents.at(params.text_document.uri)
        if document is None:
            return None
        line, column = place = server.place(document, params.position)
        typed = _word_before(document.lines[line - 1], column)
        start = Span(document.name, line, column - len(typed), line, column)
        region = server.range(start)
        gaps = server.supports("text_document.completion.completion_item.snippet_support")
        items = []
        for found in document.completions(place):
            if found.kind == "sign":
                continue
            is_template = found.kind == "template"
            items.append(
                types.CompletionItem(
                    label=found.label,
                    kind=_KINDS.get(found.kind),
                    detail=found.detail or None,
                    sort_text=str(_LAST.index(found.kind) + 1 if found.kind in _LAST else 0),
                    insert_text_format=types.InsertTextFormat.Snippet
                    if is_template and gaps
                    else types.InsertTextFormat.PlainText,
                    text_edit=types.TextEdit(
                        region, found.text if not is_template or gaps else found.plain
                    ),
                )
            )
        return types.CompletionList(is_incomplete=False, items=items)

    @server.feature("charon/expected")
    def expected(params: dict[str, Any]) -> list[dict[str, Any]]:
        document = documents.at(params["textDocument"]["uri"])
        if document is None:
            return []
        position = types.Position(**params["position"])
        return [
            {
                "text": s.plain,
                "label": s.label,
                "kind": s.kind,
                "detail": s.detail,
                "behind": s.is_behind,
            }
            for s in document.expected(server.place(document, position))
        ]

    @server.feature(
        types.TEXT_DOCUMENT_SIGNATURE_HELP,
        types.SignatureHelpOptions(trigger_characters=["(", ","]),
    )
    def signature(params: types.SignatureHelpParams) -> types.SignatureHelp | None:
        document = documents.at(params.text_document.uri)
        found = document and document.signature(server.place(document, params.position))
        if not found:
            return None
        shown = [
            types.ParameterInformation(label, comment or None)
            for label, comment in zip(found.parameters, found.comments, strict=True)
        ]
        last = len(shown) - 1
        active = min(found.active, last) if shown and found.parameters[last] == "..." else None
        return types.SignatureHelp(
            [types.SignatureInformation(found.code, found.comment or None, shown)],
            active_signature=0,
            active_parameter=found.active if active is None else active,
        )

    @server.feature(types.TEXT_DOCUMENT_FORMATTING)
    def lay_out(params: types.DocumentFormattingParams) -> list[types.TextEdit] | None:
        document = documents.at(params.text_document.uri)
        if document is None:
            return None
        try:
            after = document.formatted().split("\n")
        except ModelError:
            return None
        return [
            types.TextEdit(server.range(edit.span), edit.text)
            for edit in _differences(document.name, document.lines, after)
        ]

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION,
        types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix]),
    )
    def fixes(params: types.CodeActionParams) -> list[types.CodeAction]:
        document = documents.at(params.text_document.uri)
        if document is None:
            return []
        wanted = params.context.only
        if wanted is not None and types.CodeActionKind.QuickFix not in wanted:
            return []
        first, last = params.range.start.line + 1, params.range.end.line + 1
        findings = [
            finding
            for finding in server.checks.findings(name_of(params.text_document.uri))
            if finding.span is not None and first <= finding.span.end_line
            if finding.span is not None and finding.span.line <= last
        ]
        return [
            types.CodeAction(
                title=fix.title,
                kind=types.CodeActionKind.QuickFix,
                diagnostics=[server.checks.shown(fix.finding)],
                is_preferred=True,
                edit=edits_of(server, [fix.edit]),
            )
            for fix in document.fixes(findings)
        ]


def edits_of(server: Server, edits: list[Edit]) -> types.WorkspaceEdit:
    """Edits of several files as the editor takes them."""
    changes: dict[str, list[types.TextEdit]] = {}
    for edit in edits:
        uri = server.documents.uri(edit.span.file)
        changes.setdefault(uri, []).append(types.TextEdit(server.range(edit.span), edit.text))
    return types.WorkspaceEdit(changes=dict(changes))


def _word_before(line: str, column: int) -> str:
    start = column - 1
    while start > 0 and (line[start - 1].isalnum() or line[start - 1] == "_"):
        start -= 1
    return line[start : column - 1]


def _differences(file: str, before: list[str], after: list[str]) -> list[Edit]:
    """One edit from the first line that differs to the last."""
    if before == after:
        return []
    most = min(len(before), len(after))
    top = next((i for i in range(most) if before[i] != after[i]), most)
    rest = most - top
    bottom = next((i for i in range(rest) if before[-1 - i] != after[-1 - i]), rest)
    new = "\n".join(after[top : len(after) - bottom])
    end = len(before) - bottom
    if bottom == 0:
        if top == len(before):
            top -= 1
            new = "\n".join(after[top:])
        return [Edit(Span(file, top + 1, 1, len(before), len(before[-1]) + 1), new)]
    if top < len(after) - bottom:
        new += "\n"
    return [Edit(Span(file, top + 1, 1, end + 1, 1), new)]
