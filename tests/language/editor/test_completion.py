"""What can be written next, in whole and in broken texts."""

from __future__ import annotations

import pytest
from documents import document, marked
from hypothesis import given, settings
from hypothesis import strategies as st
from syntax_texts import EVERYTHING

from workbench.models.language.editor.completion import DEFINITIONS, INSTANCES, TEMPLATES, plain
from workbench.models.language.editor.places import place_at
from workbench.models.language.lexical import Token, tokens

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


def offered(text: str, files: dict[str, str] | None = None) -> set[str]:
    found, place = marked(text, files)
    return {plain(s.text) for s in found.completions(place)}


def test_values_in_scope_are_offered_in_a_guard() -> None:
    found = offered(MODEL)
    assert {"x", "speed", "gain", "k", "time", "sin(", "true", "forall", "("} <= found
    assert not {"z", "a", "Hold(", "hold", "begin"} & found


@pytest.mark.parametrize(
    ("text", "wanted", "unwanted"),
    [
        ("|", {"agent", "mode", "const", "system"}, {"diff", "when"}),
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
        ("mode M() { // not | in comments\n}", set(), {"diff"}),
        ("mode M() { /* nor | here */ }", set(), {"diff"}),
        ("// A room with.\n|", {"agent", "mode"}, {"diff"}),
        ('import "a|b";', set(), {"agent"}),
        ("mode M() { } |", {"agent"}, {"diff"}),
        ("mode N() { exit out; } mode M() { mode s = N(); trans from s.| }", {"out"}, {"s"}),
        ("agent A() { private real x; } agent B() { agent a = A(); assert { a.| > 0 } }", {"x"}, {"a", "sin("}),
        ("agent A() { private real x; } agent B() { agent a[i in 1..3] = A(); assert { a[2].| } }", {"x"}, {"i"}),
        ("agent A() { write discrete real x; } agent B() { agent a[i in 1..3] = A(); interaction t between p, q in a when p.| > 0 }", {"x"}, {"p"}),
        ("agent B() { private discrete int n[1..3]; assert { forall item in 1..3 : | } }", {"item", "n"}, set()),
    ],
)  # fmt: skip
def test_what_can_come_next(text: str, wanted: set[str], unwanted: set[str]) -> None:
    found = offered(text)
    assert wanted <= found
    assert not unwanted & found


@pytest.mark.parametrize(
    ("text", "continuing", "behind", "unsaid"),
    [
        ("mode M() { write real temp; inv { temp| } }", set(), {">=", "+", "}"}, set()),
        ("mode M() { write real temp; inv { te| } }", {"temp"}, set(), set()),
        ("mode M() { write real temp; inv { temp >= 3.5| } }", set(), {"&&", "}"}, set()),
        ("mode M() { write real temp; inv { temp >= | } }", {"temp", "("}, set(), {"a number"}),
        ("agent Room|", set(), {"("}, set()),
        ("agent |", set(), set(), {"a new name"}),
        ("mode M() { entry |", set(), set(), {"a new name"}),
        ("mode M() { private|", set(), {"analog", "real"}, set()),
        ("mode M() { di|", {"diff", "diff { d(x) == 0; }"}, set(), set()),
        ("mode M() { trans |", {"from"}, set(), {"a label such as `#far`"}),
        ("mode M() { trans #far|", set(), {"from"}, set()),
        ("mode M() { // not| in comments\n}", set(), set(), set()),
    ],
)  # fmt: skip
def test_what_is_expected_goes_on_behind_a_whole_word(
    text: str, continuing: set[str], behind: set[str], unsaid: set[str]
) -> None:
    found, place = marked(text)
    expected = found.expected(place)
    assert continuing <= {s.plain for s in expected if s.text and not s.is_behind}
    assert not continuing or behind or not any(s.is_behind for s in expected)
    assert behind <= {s.plain for s in expected if s.is_behind}
    assert unsaid == {s.label for s in expected if s.kind == "new"}


def test_names_of_imported_files_are_offered() -> None:
    files = {
        "parts.charon": 'import "more.charon";\nmode Part() { }',
        "more.charon": "mode Deep() { }",
    }
    found = offered('import "parts.charon";\nmode M() {\n  mode a = |\n}', files)
    assert {"Part(", "Deep(", "M("} <= found


def test_the_nearest_name_counts() -> None:
    found, place = marked("const real x = 1; mode M() { private real x; inv { | > 0 } }")
    (x,) = [s for s in found.completions(place) if s.text == "x"]
    assert (x.kind, x.detail) == ("variable", "private real x")


def test_inserting_a_suggested_keyword_or_sign_leads_on() -> None:
    """The suggestions are what the parser accepts: after any of them the text is broken, if
    at all, only behind it."""
    before = "mode M() { trans from a to b "
    found, place = marked(before + "|")
    for suggestion in found.completions(place):
        places = [d.span for d in document(before + plain(suggestion.text)).diagnostics]
        ends = [p for p in places if p is not None and p.column == len(before) + 1]
        assert not ends, suggestion


@pytest.mark.parametrize("word", sorted(TEMPLATES | DEFINITIONS))
def test_templates_are_in_the_language(word: str) -> None:
    """A template parses where its word can stand."""
    text = plain((TEMPLATES | DEFINITIONS)[word])
    homes = (text, f"mode M() {{ {text} }}", f"agent A() {{ {text} }}")
    assert any(not document(home).diagnostics for home in homes)


@pytest.mark.parametrize("word", sorted(INSTANCES))
def test_templates_of_instances_are_in_the_language(word: str) -> None:
    assert not document(f"agent A() {{ {plain(INSTANCES[word])} }}").diagnostics


SIGNS = [t for t in tokens(EVERYTHING) if t.text in set("(){}[];,:.") | {"..", ":="}]


@settings(max_examples=60)
@given(st.sampled_from(SIGNS))
def test_what_really_comes_next_is_expected(token: Token) -> None:
    before = EVERYTHING[: token.start]
    for end in (before + " ", before.rstrip()):  # a word before it may still be written on
        found = document(end).expected(place_at(end, len(end)))
        assert token.text in {s.text for s in found}
