"""What an editor can ask about a text, whole or broken."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from syntax_texts import EVERYTHING

from workbench.models.language.lexical import Token, tokens
from workbench.models.language.service import (
    OutlineItem,
    diagnostics,
    expected_at,
    names_in_scope,
    offset_at,
    outline,
)

MODEL = """\
const real k = 2;
mode Hold() { write analog real a; }
mode Control(real gain) {
  entry begin;
  private analog real x, speed;
  mode hold = Hold();
  mode rest = Hold();
  trans from hold to rest when |
  diff { d(x) == 1; }
}
agent Car() { private real z; mode top = Control(1); }
"""
TEXT, PLACE = MODEL.replace("|", ""), MODEL.index("|")


def texts_at(marked: str) -> set[str]:
    place = marked.index("|")
    return {s.text for s in expected_at(marked.replace("|", ""), place)}


def test_offsets() -> None:
    assert offset_at("ab\ncd\n", 2, 2) == 4
    assert offset_at("ab\ncd", 1, 99) == 2
    assert offset_at("ab\ncd", 9, 1) == 5


def test_diagnostics_never_raise() -> None:
    assert diagnostics("mode M() { }", "m") == ()
    assert [d.code for d in diagnostics("mode M() { diff { d(x) = 1; } }", "m")] == [
        "single-equals"
    ]
    assert [d.code for d in diagnostics("(" * 10**7, "m")] == ["file-too-large"]


def test_values_in_scope_are_offered_in_a_guard() -> None:
    offered = {s.text for s in expected_at(TEXT, PLACE)}
    assert {"x", "speed", "gain", "k", "time", "sin(", "true", "forall", "("} <= offered
    assert not {"z", "a", "Hold(", "hold", "begin"} & offered


@pytest.mark.parametrize(
    ("marked", "wanted", "unwanted"),
    [
        ("|", {"agent", "mode", "const", "system", "agent Name() {\n}"}, {"diff", "when"}),
        ("mode M() { |", {"diff", "trans", "write", "diff { d(x) == 0; }"}, {"agent", "init"}),
        ("mode M() { trans from a to b |", {"when", "do", ".", "trans"}, {"from", "=="}),
        ("mode M() { diff { |", {"d", "}"}, {"x", "when"}),
        ("mode M() { diff { d(x) |", {"==", "<=", ">=", "in"}, {"=", "+"}),
        ("mode M() { write |", {"analog", "discrete", "real", "enum"}, {"x"}),
        ("mode M() { di|", {"diff", "diff { d(x) == 0; }"}, {"trans"}),
        ("mode A() { } mode M() { mode a = |", {"A(", "M("}, {"sin(", "time"}),
        ("agent A() { } mode M() { } system |", {"A("}, {"M("}),
        ("mode N() { } mode M() { entry e; mode s = N(); trans from | }", {"s", "e", "default"}, {"N("}),
        ("mode M() { real | \n } mode N() { }", set(), {"when"}),
    ],
)  # fmt: skip
def test_what_can_come_next(marked: str, wanted: set[str], unwanted: set[str]) -> None:
    offered = texts_at(marked)
    assert wanted <= offered
    assert not unwanted & offered


def test_inserting_a_suggested_keyword_or_sign_leads_on() -> None:
    """The suggestions are what the parser accepts: after any of them the text is broken, if
    at all, only behind it."""
    before = "mode M() { trans from a to b "
    for suggestion in expected_at(before, len(before)):
        text = before + suggestion.text
        places = [d.span for d in diagnostics(text, "m")]
        assert all(p is not None and p.column >= 10 for p in places)
        ends = [p for p in places if p is not None and p.column == len(before) + 1]
        assert not ends, suggestion


def test_names_in_scope() -> None:
    inside = {n.name: n.kind for n in names_in_scope(TEXT, PLACE)}
    assert inside["gain"] == "parameter"
    assert inside["hold"] == "submode"
    assert inside["begin"] == "point"
    assert inside["k"] == "constant"
    assert inside["Car"] == "agent"
    assert "z" not in inside
    outside = {n.name for n in names_in_scope(TEXT, 0)}
    assert "gain" not in outside
    assert "k" in outside


def test_the_nearest_name_counts() -> None:
    text = "const real x = 1; mode M() { private real x; inv { x > 0 } }"
    (x,) = [n for n in names_in_scope(text, text.index("x > 0")) if n.name == "x"]
    assert x.kind == "variable"


def test_the_outline() -> None:
    items = outline(TEXT.replace("when ", ""), "m")
    assert [(i.name, i.kind) for i in items] == [
        ("k", "constant"), ("Hold", "mode"), ("Control", "mode"), ("Car", "agent")
    ]  # fmt: skip
    control: OutlineItem = items[2]
    assert [(c.name, c.kind) for c in control.children] == [
        ("x", "variable"), ("speed", "variable"), ("hold = Hold", "mode instance"),
        ("rest = Hold", "mode instance"), ("hold to rest", "transition"),
    ]  # fmt: skip
    assert (control.name_span.line, control.name_span.column) == (3, 6)


def test_a_broken_text_keeps_its_outline() -> None:
    broken = TEXT[: TEXT.index("  diff")]
    assert [i.name for i in outline(broken, "m")] == ["k", "Hold", "Control"]
    assert {"x", "speed"} <= {n.name for n in names_in_scope(broken, len(broken))}


@settings(max_examples=60)
@given(st.integers(0, len(EVERYTHING)), st.integers(0, 200))
def test_any_place_in_any_piece_of_text_has_an_answer(place: int, left_out: int) -> None:
    text = EVERYTHING[:place] + EVERYTHING[place + left_out :]
    expected_at(text, place)
    names_in_scope(text, place)
    outline(text, "m")
    diagnostics(text, "m")


SIGNS = [t for t in tokens(EVERYTHING) if t.text in set("(){}[];,:.") | {"..", ":="}]


@settings(max_examples=60)
@given(st.sampled_from(SIGNS))
def test_what_really_comes_next_is_expected(token: Token) -> None:
    before = EVERYTHING[: token.start] + " "
    assert token.text in {s.text for s in expected_at(before, len(before))}
