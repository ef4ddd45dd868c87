"""Texts read in pieces are what they are as a whole, whatever is edited."""

from __future__ import annotations

from pathlib import Path

import pytest
from documents import document
from hypothesis import given, settings
from hypothesis import strategies as st
from syntax_texts import EVERYTHING

from workbench.models.language import syntax
from workbench.models.language.editor import pieces as cutting
from workbench.models.language.editor.text import Text, read_text
from workbench.models.language.parse import parse_source

LIBRARY = sorted(Path("models/library").glob("*.charon"))


def long_mode(states: int) -> str:
    """A mode that is read in several pieces."""
    lines = ["mode Long(real k) {", "  write analog real x;"]
    for i in range(states):
        lines += [
            f"  mode s{i} = Part({i});",
            f"  trans #go{i} from s{i} to s{(i + 1) % states} when x >= {i} do {{ x = k; }}",
        ]
    return "\n".join(
        [*lines, "}", "mode Part(real a) { write analog real x; diff { d(x) == a; } }", ""]
    )


def count(source: syntax.SourceFile | Text) -> tuple[int, int]:
    """How many definitions with a name, and how many items in them, there are."""
    named = (syntax.AgentDefinition, syntax.ModeDefinition)
    if isinstance(source, Text):
        parts = [(p.piece.cut.inside, d) for p in source.placed for d in p.piece.definitions]
        items = [d for _, d in parts if isinstance(d, named)]
        return sum(1 for inside, _ in parts if not inside), sum(len(d.items) for d in items)
    return len(source.definitions), sum(
        len(d.items) for d in source.definitions if isinstance(d, named)
    )


@pytest.mark.parametrize("path", LIBRARY, ids=lambda p: p.stem)
def test_library_models_in_pieces(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    read = read_text(str(path), text)
    assert read.diagnostics == ()
    assert "".join(p.text for p in read.pieces) == text
    assert count(read) == count(parse_source(text, "m"))


def test_a_long_definition_is_read_in_pieces_and_has_all_its_items() -> None:
    text = long_mode(400)
    read = read_text("m", text)
    assert len(read.pieces) > 5
    assert read.diagnostics == ()
    assert count(read) == count(parse_source(text, "m"))
    (outlined,) = [item for item in document(text).outline() if item.name == "Long"]
    assert len(outlined.children) == 801
    assert outlined.span.end_line == 803


def test_an_edit_reads_again_what_it_touches() -> None:
    text = long_mode(1000)
    read = read_text("m", text)
    middle = text.index("\n", len(text) // 2)
    for inserted in ("\n", " // said\n", "\n  entry there;"):
        after = read.edited(text[:middle] + inserted + text[middle:])
        known = {id(piece) for piece in read.pieces}
        assert sum(id(piece) not in known for piece in after.pieces) <= 3
        assert after.diagnostics == ()


def test_what_is_broken_is_said_at_its_place_and_leaves_the_rest() -> None:
    text = long_mode(400).replace("when x >= 200 do", "when x = 200 do")
    read = read_text("m", text)
    assert [(d.code, d.span.line) for d in read.diagnostics if d.span] == [("single-equals", 404)]
    assert count(read) == count(read_text("m", long_mode(400)))


def test_a_definition_in_a_comment_is_none() -> None:
    read = read_text("m", "/*\nmode M() {\n*/\nmode N() { }\n")
    assert read.diagnostics == ()
    assert count(read) == (1, 0)


def test_a_missing_brace_does_not_swallow_the_next_definition() -> None:
    found = document("mode A() {\n  diff { d(x) == 1;\n\nmode B() { entry e; }\n")
    assert [(i.name, len(i.children)) for i in found.outline()] == [("A", 0), ("B", 1)]
    assert found.diagnostics


def test_a_text_beyond_all_limits_is_refused() -> None:
    assert [d.code for d in document("(" * 10**7).diagnostics] == ["file-too-large"]


@settings(max_examples=max(30, settings.default.max_examples // 5))
@given(st.data())
def test_edits_lead_where_reading_afresh_leads(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from([EVERYTHING, long_mode(200)]))
    read = read_text("m", text)
    for _ in range(3):
        first = data.draw(st.integers(0, len(text)))
        last = data.draw(st.integers(first, min(len(text), first + 200)))
        inserted = data.draw(
            st.sampled_from(["", "x", "{", "}", "\n", ";", "/*", "*/", '"', "mode Q() {\n"])
        )
        text = text[:first] + inserted + text[last:]
        read = read.edited(text)
        fresh = read_text("m", text)
        assert read.diagnostics == fresh.diagnostics
        assert [p.cut for p in read.pieces] == [p.cut for p in fresh.pieces]


def test_cuts_stand_where_a_line_says_so() -> None:
    """What is cut does not depend on how many lines are above."""
    text = long_mode(600)
    head = text.index("\n") + 1
    longer = text[:head] + "  // more\n" * 7 + text[head:]
    before = {cut.text for cut in cutting._cuts(text)}
    after = {cut.text for cut in cutting._cuts(longer)}
    assert len(before - after) <= 2
