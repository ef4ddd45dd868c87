"""Every feature of the language server, asked for by a client over its standard input and output."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from session import Editor, applied

from workbench.models.language.format import format_source

pytestmark = pytest.mark.asyncio(loop_scope="module")

TANK = """\
// A tank that leaks.
const real size = 4;  // m

mode Fill(real speed) {
  write analog real level;  // m
  diff { d(level) == speed; }
  inv { level <= size }
}

agent Tank(real speed = 1/2) {
  private analog real level;
  init { level in [0, 1]; }
  mode top = Fill(speed);
  assert "not full" { level <= 5 }
  assert { level <= 3 }
}
"""


async def test_syntax_is_told_at_once_and_with_the_version(editor: Editor) -> None:
    text = editor.open("mode M() { inv { x = 1 } }")
    (found,) = await text.codes("single-equals")
    assert "write `==` instead of `=`" in found.message
    assert (found.range.start.line, found.range.start.character) == (0, 19)
    text.change("x = 1", "x == 1")
    await text.diagnostics(lambda found: "single-equals" not in [d.code for d in found])


async def test_what_a_model_means_is_checked_behind(editor: Editor) -> None:
    text = editor.open(TANK.replace("level in [0, 1]", "levle in [0, 1]"))
    found = await text.diagnostics(lambda found: "unknown-name" in [d.code for d in found])
    (wrong,) = [d for d in found if d.code == "unknown-name"]
    assert wrong.range.start.line == 11
    text.change("levle", "level")
    await text.codes()


async def test_a_file_to_be_imported_is_no_error(editor: Editor) -> None:
    text = editor.open("mode Part() { }")
    (found,) = await text.codes("no-system")
    assert found.severity == types.DiagnosticSeverity.Information


async def test_what_is_wrong_in_an_imported_file_is_told_at_the_import(editor: Editor) -> None:
    parts = editor.open("\nmode Part() { inv { nothing > 0 } }\n", "parts.charon")
    text = editor.open_at(
        parts.path.with_name("main.charon"),
        'import "parts.charon";\nagent A() { mode top = Part(); }\n',
    )
    (found,) = await text.codes("unknown-name")
    assert found.message.startswith("parts.charon, line 2: ")
    assert found.range.start.line == 0
    parts.change("nothing > 0", "1 > 0")  # in the editor only
    await text.diagnostics(lambda found: "unknown-name" not in [d.code for d in found])


async def test_completion(editor: Editor) -> None:
    text = editor.open(TANK.replace("d(level) == speed", "d(level) == sp|"))
    found = await editor.client.text_document_completion_async(
        types.CompletionParams(text.document, text.position)
    )
    assert isinstance(found, types.CompletionList)
    (item,) = found.items
    assert (item.label, item.detail) == ("speed", "real speed")
    assert isinstance(item.text_edit, types.TextEdit)
    assert applied(text.text, [item.text_edit]).count("d(level) == speed;") == 1


async def test_completion_offers_blocks_with_gaps(editor: Editor) -> None:
    text = editor.open("mode M() { di|")
    found = await editor.client.text_document_completion_async(
        types.CompletionParams(text.document, text.position)
    )
    assert isinstance(found, types.CompletionList)
    by_label = {item.label: item for item in found.items}
    block = by_label["diff { d(x) == 0; }"]
    assert block.insert_text_format == types.InsertTextFormat.Snippet
    assert isinstance(block.text_edit, types.TextEdit)
    assert block.text_edit.new_text == "diff { d(${1:x}) == ${2:0}; }"


async def test_expected(editor: Editor) -> None:
    text = editor.open("mode M() { trans from a to b|")
    found = await editor.client.protocol.send_request_async(
        "charon/expected",
        {
            "textDocument": {"uri": text.uri},
            "position": {"line": 0, "character": text.position.character},
        },
    )
    assert {item["label"] for item in found} >= {"when", "do"}
    assert all(item["kind"] in ("keyword", "sign", "template") for item in found)
    assert all(item["behind"] for item in found)


async def test_signature(editor: Editor) -> None:
    text = editor.open(TANK.replace("Fill(speed)", "Fill(|)"))
    found = await editor.client.text_document_signature_help_async(
        types.SignatureHelpParams(text.document, text.position)
    )
    assert found is not None
    (shown,) = found.signatures
    assert shown.label == "mode Fill(real speed)"
    assert found.active_parameter == 0


async def test_hover(editor: Editor) -> None:
    text = editor.open(TANK)
    found = await editor.client.text_document_hover_async(
        types.HoverParams(text.document, text.at("private analog real le|vel"))
    )
    assert found is not None and isinstance(found.contents, types.MarkupContent)
    said = found.contents.value
    assert "private analog real level" in said
    assert "First `level in [0, 1]`" in said
    assert "`top` (mode Fill) writes it" in said
    text = editor.open(TANK)
    found = await editor.client.text_document_hover_async(
        types.HoverParams(text.document, text.at("level <= si|ze"))
    )
    assert found is not None and isinstance(found.contents, types.MarkupContent)
    assert "const real size = 4" in found.contents.value
    assert "\n\nm\n\n" in found.contents.value


async def test_definition_and_references(editor: Editor) -> None:
    text = editor.open(TANK)
    found = await editor.client.text_document_definition_async(
        types.DefinitionParams(text.document, text.at("= Fi|ll("))
    )
    assert isinstance(found, list)
    (place,) = found
    assert isinstance(place, types.Location)
    assert (place.uri, place.range.start.line, place.range.start.character) == (text.uri, 3, 5)
    for with_own, lines in ((True, [3, 12]), (False, [12])):
        seen = await editor.client.text_document_references_async(
            types.ReferenceParams(
                types.ReferenceContext(with_own), text.document, text.at("= Fi|ll(")
            )
        )
        assert [location.range.start.line for location in seen or ()] == lines


async def test_definition_across_files(editor: Editor) -> None:
    parts = editor.open("mode Part() { }\n", "parts.charon")
    text = editor.open_at(
        parts.path.with_name("main.charon"),
        'import "parts.charon";\nagent A() { mode top = Pa|rt(); }\n',
    )
    found = await editor.client.text_document_definition_async(
        types.DefinitionParams(text.document, text.position)
    )
    assert isinstance(found, list)
    assert [place.uri for place in found if isinstance(place, types.Location)] == [parts.uri]


async def test_highlights_tell_what_is_written(editor: Editor) -> None:
    text = editor.open(TANK)
    found = await editor.client.text_document_document_highlight_async(
        types.DocumentHighlightParams(text.document, text.at("d(le|vel)"))
    )
    kinds = [h.kind for h in found or ()]
    assert kinds == [
        types.DocumentHighlightKind.Write,
        types.DocumentHighlightKind.Write,
        types.DocumentHighlightKind.Read,
    ]


async def test_renaming_across_files(editor: Editor) -> None:
    parts = editor.open("mode Part() { }\n", "parts.charon")
    user = parts.path.with_name("main.charon")
    user.write_text('import "parts.charon";\nagent A() { mode top = Part(); }\n', encoding="utf-8")
    place = parts.at("mode Pa|rt")
    prepared = await editor.client.text_document_prepare_rename_async(
        types.PrepareRenameParams(parts.document, place)
    )
    assert isinstance(prepared, types.PrepareRenamePlaceholder) and prepared.placeholder == "Part"
    found = await editor.client.text_document_rename_async(
        types.RenameParams(parts.document, place, "Piece")
    )
    assert found is not None and found.changes is not None
    assert set(found.changes) == {parts.uri, user.as_uri()}
    assert applied(user.read_text(), list(found.changes[user.as_uri()])).count("Piece()") == 1


async def test_renaming_that_cannot_be_is_refused_with_a_reason(editor: Editor) -> None:
    text = editor.open(TANK)
    with pytest.raises(Exception, match="already a constant"):
        await editor.client.text_document_rename_async(
            types.RenameParams(text.document, text.at("d(le|vel)"), "size")
        )
    nothing = await editor.client.text_document_prepare_rename_async(
        types.PrepareRenameParams(text.document, text.at("// A ta|nk"))
    )
    assert nothing is None


async def test_symbols_of_a_document(editor: Editor) -> None:
    text = editor.open(TANK)
    found = await editor.client.text_document_document_symbol_async(
        types.DocumentSymbolParams(text.document)
    )
    symbols = [s for s in found or () if isinstance(s, types.DocumentSymbol)]
    assert [s.name for s in symbols] == ["size", "Fill", "Tank"]
    assert [c.name for c in symbols[2].children or ()] == ["level", "top", "not full", "assert"]


async def test_a_broken_text_keeps_its_symbols(editor: Editor) -> None:
    text = editor.open(TANK[: TANK.index("  assert")] + "  trans from")
    found = await editor.client.text_document_document_symbol_async(
        types.DocumentSymbolParams(text.document)
    )
    assert [s.name for s in found or ()] == ["size", "Fill", "Tank"]


async def test_symbols_of_the_folder(editor: Editor) -> None:
    editor.open("mode VeryOwnName() { private real own_variable; }")
    found = await editor.client.workspace_symbol_async(types.WorkspaceSymbolParams("veryown"))
    assert [s.name for s in found or ()] == ["VeryOwnName"]
    (inner,) = (
        await editor.client.workspace_symbol_async(types.WorkspaceSymbolParams("own_vari")) or ()
    )
    assert inner.container_name == "VeryOwnName"


@pytest.mark.parametrize(
    "text",
    [
        TANK.replace("  inv", "\n\n      inv"),
        "mode M() { inv { 1>0 } }",
        "\n\nmode M(){}",
        "mode M() {\n}\n\n\n\n",
        TANK,
    ],
)
async def test_formatting(editor: Editor, text: str) -> None:
    opened = editor.open(text)
    found = await editor.client.text_document_formatting_async(
        types.DocumentFormattingParams(opened.document, types.FormattingOptions(2, True))
    )
    assert applied(text, list(found or ())) == format_source(text, "m")


async def test_a_broken_text_is_not_formatted(editor: Editor) -> None:
    opened = editor.open("mode M() {{{")
    found = await editor.client.text_document_formatting_async(
        types.DocumentFormattingParams(opened.document, types.FormattingOptions(2, True))
    )
    assert not found


async def test_folding(editor: Editor) -> None:
    text = editor.open("// one\n// two\nmode M() {\n  entry e;\n  diff {\n    d(x) == 1;\n  }\n}\n")
    found = await editor.client.text_document_folding_range_async(
        types.FoldingRangeParams(text.document)
    )
    assert [(f.start_line, f.end_line) for f in found or ()] == [(0, 1), (2, 6), (4, 5)]


def unpacked(data: list[int], text: str) -> list[tuple[str, int]]:
    """The words of semantic tokens and their types."""
    lines = text.split("\n")
    line = column = 0
    found = []
    for k in range(0, len(data), 5):
        down, right, length, kind, _ = data[k : k + 5]
        line, column = (line + down, right) if down else (line, column + right)
        found.append((lines[line][column : column + length], kind))
    return found


async def test_semantic_colours_whole_by_lines_and_by_difference(editor: Editor) -> None:
    text = editor.open(TANK)
    whole = await editor.client.text_document_semantic_tokens_full_async(
        types.SemanticTokensParams(text.document)
    )
    assert whole is not None
    words = unpacked(list(whole.data), text.text)
    assert [word for word, _ in words[:6]] == ["size", "Fill", "speed", "level", "level", "speed"]
    assert words[2][1] != words[3][1]
    line = types.Range(types.Position(5, 0), types.Position(6, 0))
    some = await editor.client.text_document_semantic_tokens_range_async(
        types.SemanticTokensRangeParams(text.document, line)
    )
    assert some is not None
    assert [w for w, _ in unpacked(list(some.data), text.text)] == [
        "level",
        "speed",
        "level",
        "size",
    ]
    text.change("inv { level <= size }", "inv { level <= size + speed }")
    delta = await editor.client.text_document_semantic_tokens_full_delta_async(
        types.SemanticTokensDeltaParams(text.document, whole.result_id or "")
    )
    assert isinstance(delta, types.SemanticTokensDelta)
    data = list(whole.data)
    (edit,) = delta.edits
    data[edit.start : edit.start + edit.delete_count] = edit.data or []
    again = await editor.client.text_document_semantic_tokens_full_async(
        types.SemanticTokensParams(text.document)
    )
    assert again is not None and data == list(again.data)
    assert len(edit.data or []) < len(data)


async def test_quick_fixes(editor: Editor) -> None:
    cases = [
        ("mode M() { inv { x = 1 } }", "mode M() { inv { x == 1 } }", "single-equals"),
        ("mode M() { entry e\n entry f; }", "mode M() { entry e;\n entry f; }", "missing-semicolon"),
        ("mode M() { tran from a to b; }", "mode M() { trans from a to b; }", "unknown-word"),
        ("mode M() { diff { d(x) == 2x; } }", "mode M() { diff { d(x) == 2*x; } }", "missing-operator"),
        ("mode M() { inv { 1 ≤ 2 } }", "mode M() { inv { 1 <= 2 } }", "strange-character"),
        (TANK.replace("[0, 1]", "[0, sizze]"), TANK.replace("[0, 1]", "[0, size]"), "unknown-name"),
    ]  # fmt: skip
    for before, after, code in cases:
        text = editor.open(before)
        found = await text.diagnostics(lambda found, code=code: code in [d.code for d in found])  # type: ignore[misc]
        (wrong,) = [d for d in found if d.code == code]
        actions = await editor.client.text_document_code_action_async(
            types.CodeActionParams(text.document, wrong.range, types.CodeActionContext([wrong]))
        )
        (action,) = [a for a in actions or () if isinstance(a, types.CodeAction)]
        assert action.edit is not None and action.edit.changes is not None
        assert applied(before, list(action.edit.changes[text.uri])) == after, action.title


async def lenses(editor: Editor, text: Any) -> dict[str, list[types.Command]]:
    found = await editor.client.text_document_code_lens_async(types.CodeLensParams(text.document))
    by_title: dict[str, list[types.Command]] = {}
    for lens in found or ():
        assert lens.command is not None
        by_title.setdefault(lens.command.title, []).append(lens.command)
    return by_title


async def run(editor: Editor, command: types.Command) -> Any:
    return await editor.client.workspace_execute_command_async(
        types.ExecuteCommandParams(command.command, command.arguments)
    )


async def test_lenses_verify_and_falsify_and_their_results_are_shown(editor: Editor) -> None:
    text = editor.open(TANK)
    found = await lenses(editor, text)
    assert {title: len(commands) for title, commands in found.items()} == {
        "verify": 2, "falsify": 2, "simulate": 1, "report": 1
    }  # fmt: skip
    holds = await run(editor, found["verify"][0])
    assert holds["outcome"] == "verified"
    broken = await run(editor, found["falsify"][1])
    assert broken["outcome"] == "falsified"
    assert Path(broken["trace"]).is_file()
    _, wrong = sorted(await text.codes("dead-end", "falsified"), key=lambda d: str(d.code))
    assert wrong.range.start.line == 14
    whole = types.Range(types.Position(0, 0), types.Position(99, 0))
    hints = await editor.client.text_document_inlay_hint_async(
        types.InlayHintParams(text.document, whole)
    )
    labels = [str(h.label) for h in hints or ()]
    assert labels[0].startswith("✓ verified for all time")
    assert labels[1].startswith("✗ broken by a run at time")
    text.change("[0, 1]", "[0, 2]")
    await text.codes("dead-end")  # what was found out is about an older text
    hints = await editor.client.text_document_inlay_hint_async(
        types.InlayHintParams(text.document, whole)
    )
    assert all("before the last change" in str(h.label) for h in hints or ())


async def test_unsaved_imports_are_decided_as_they_are_in_the_editor(editor: Editor) -> None:
    parts = editor.open("const real most = 9;\n", "limits.charon")
    parts.path.write_text("const real most = 1;\n", encoding="utf-8")
    text = editor.open_at(
        parts.path.with_name("main.charon"),
        'import "limits.charon";\nmode M() { write analog real x; diff { d(x) == 0; } inv { x <= 2 } }\n'
        "agent A() { private analog real x; init { x = 0; } mode top = M(); assert { x < most - 5 } }\n",
    )
    await text.codes()
    found = await lenses(editor, text)
    assert (await run(editor, found["verify"][0]))["outcome"] == "verified"


async def test_simulate_and_report_write_files(editor: Editor) -> None:
    text = editor.open(TANK)
    found = await lenses(editor, text)
    runs = await run(editor, found["simulate"][0])
    assert runs["violated"] == ["level <= 3"]
    assert Path(runs["picture"]).read_text(encoding="utf-8").startswith("<svg")
    report = await run(editor, found["report"][0])
    assert "<html" in Path(report["page"]).read_text(encoding="utf-8")
    assert {v["property"]: v["outcome"] for v in report["verdicts"]}["not full"] == "verified"


async def test_a_command_about_what_is_not_there_is_refused(editor: Editor) -> None:
    text = editor.open(TANK)
    request = {"uri": text.uri, "place": [1, 1]}
    with pytest.raises(Exception, match="no property at this place"):
        await run(editor, types.Command("verify", "charon.verify", arguments=[request]))


async def test_letters_beyond_the_basic_ones_are_counted_as_the_protocol_does(
    editor: Editor,
) -> None:
    text = editor.open("mode M() {\n  /* 😀 */ inv { 1 = 1 }\n}\n")
    (found,) = await text.diagnostics(lambda found: [d.code for d in found] == ["single-equals"])
    start = found.range.start.character
    units = text.text.split("\n")[1].encode("utf-16-le")
    assert units[2 * start : 2 * start + 2].decode("utf-16-le") == "="
    change = types.Range(types.Position(1, start), types.Position(1, start + 1))
    text.tell(types.TextDocumentContentChangePartial(change, "=="))
    await text.codes("no-system")
