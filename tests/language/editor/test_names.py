"""What names mean: hover, definition, references and renaming."""

from __future__ import annotations

from pathlib import Path

import pytest
from documents import document, marked
from hypothesis import given, settings
from hypothesis import strategies as st
from syntax_texts import EVERYTHING

from workbench import Document
from workbench.api.loading import load
from workbench.models.expressions.dialect import FUNCTIONS
from workbench.models.language.editor.places import edited, place_at
from workbench.models.language.editor.words import functions

LIBRARY = Path("models/library")
TANK = """\
const real size = 4;  // m
// level: m, at the start; speed: m/s
mode Fill(real speed) {
  write analog real level;  // m
  diff { d(level) == speed; }
  inv { level <= size }
}
mode Top() {
  write analog real level;
  mode fill = Fill(2);
  trans from init to fill;
}
agent Tank() {
  write analog real level;
  init { level in [0, 1]; }
  mode top = Top();
}
agent Two() {
  private analog real left, right;
  agent a = Tank() [ level := left ];
  agent b = Tank() [ level := right ];
  assert "dry" { left >= 0 && b.level >= 0 }
}
"""


def at(text: str, words: str) -> str:
    """The text with a mark at some words of it, themselves marked by `|`."""
    plain = words.replace("|", "")
    assert text.count(plain) == 1, words
    return text.replace(plain, words)


def others(name: str) -> Document | None:
    path = Path(name)
    return Document(name, path.read_text(encoding="utf-8"), others) if path.is_file() else None


@pytest.mark.parametrize("path", sorted(LIBRARY.glob("*.charon")), ids=lambda p: p.stem)
def test_every_name_of_the_library_is_known(path: Path) -> None:
    found = others(str(path))
    assert found is not None
    project = found.project
    unknown = {
        mention.name
        for _, names in project.text.names()
        for mention in names.mentions
        if project.symbol(mention) is None
    }
    assert unknown <= {*FUNCTIONS, "time"}


@pytest.mark.parametrize(
    ("words", "code", "comment"),
    [
        ("level <= si|ze", "const real size = 4", "m"),
        ("== spe|ed", "real speed", "m/s"),
        ("d(lev|el)", "write analog real level", "m"),
        ("b.le|vel >=", "write analog real level", ""),
        ("= To|p()", "mode Top()", ""),
        ("init to fi|ll", "mode fill = Fill(2)", ""),
    ],
)
def test_hover_says_how_a_name_is_declared(words: str, code: str, comment: str) -> None:
    found, place = marked(at(TANK, words))
    known = found.hover(place)
    assert known is not None
    assert (known.code, known.comment) == (code, comment)


def test_hover_says_who_writes_a_variable_and_its_first_values() -> None:
    found, place = marked(at(TANK, "analog real le|ft"))
    known = found.hover(place)
    assert known is not None
    assert [w.words for w in known.writers] == ["`a` (agent Tank) writes it as `level`"]
    found, place = marked(at(TANK, "{ le|vel in [0, 1]"))
    known = found.hover(place)
    assert known is not None
    assert known.notes == ("first `level in [0, 1]`",)
    assert "`top` (mode Top) writes it" in [w.words for w in known.writers]


def test_hover_says_which_invariants_bound_a_variable() -> None:
    found, place = marked(
        "mode M() { write analog real x| ; write analog real y; inv { x <= 2 && y >= x; y <= 7 } }"
    )
    known = found.hover(place)
    assert known is not None
    assert known.notes == ("time passes only while `x <= 2`", "time passes only while `y >= x`")


def test_built_in_functions_are_all_explained() -> None:
    assert set(functions()) == set(FUNCTIONS)
    found, place = marked("mode M() { inv { si|n(time) >= 0 } }")
    known = found.hover(place)
    assert known is not None
    assert known.code == "sin(x)"


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("= Fi|ll(2)", 3),
        ("b.lev|el", 14),
        ("[ lev|el := left", 14),
        ("= To|p()", 8),
        ("{ le|ft >=", 19),
    ],
)
def test_definition(words: str, line: int) -> None:
    found, place = marked(at(TANK, words))
    assert [span.line for span in found.definition(place)] == [line]


def test_definition_in_another_file() -> None:
    files = {"parts/fill.charon": "\nmode Fill() { }\n"}
    found, place = marked('import "parts/fill.charon";\nmode M() { mode a = Fi|ll(); }', files)
    (span,) = found.definition(place)
    assert (span.file, span.line) == ("parts/fill.charon", 2)
    (imported,) = found.definition((1, 12))
    assert (imported.file, imported.line) == ("parts/fill.charon", 1)


def test_references_tell_what_is_written() -> None:
    found, place = marked(at(TANK, "d(lev|el)"))
    seen = [(r.span.line, r.introduces, r.writes) for r in found.references(place)]
    assert seen == [(4, True, ""), (5, False, "diff"), (6, False, "")]


def test_indices_partners_and_lets_are_known_in_their_statement() -> None:
    text = (
        "agent C() { private discrete real x; }\n"
        "agent A() {\n"
        "  agent c[i in 1..3] = C();\n"
        "  interaction hit between p, q in c when p.x > q.x do { let w = p.x; p.x = |w; }\n"
        "  interaction hop between p, q in c when q.x > p.x do { let w = q.x; p.x = w; }\n"
        "  assert { (forall i in 1..3 : c[i].x > 0) && (forall i in 1..3 : c[i].x < 9) }\n"
        "}\n"
    )
    found, place = marked(text)
    assert [r.span.line for r in found.references(place)] == [4, 4]
    column = text.splitlines()[5].index("c[i].x < 9") + 3
    assert len(found.references((6, column))) == 2


# Renaming


def after(
    found: Document, place: tuple[int, int], name: str, importers: tuple[Document, ...] = ()
) -> dict[str, str]:
    """The files after a renaming."""
    edits = found.renamed(place, name, importers)
    texts = dict(found.files)
    for importer in importers:
        texts |= importer.files
    return {
        file: edited(text, [e for e in edits if e.span.file == file])
        for file, text in texts.items()
    }


def test_a_variable_is_renamed_with_those_that_are_one_with_it() -> None:
    found, place = marked(at(TANK, "d(lev|el)"))
    (renamed,) = after(found, place, "height").values()
    assert "level" not in renamed.replace("// level", "")
    assert "Tank() [ height := left ]" in renamed
    assert load(renamed).automaton.sha256 == load(TANK).automaton.sha256


def test_a_renamed_variable_stays_apart_where_an_instance_renames_it() -> None:
    found, place = marked(at(TANK, "{ le|ft >="))
    (renamed,) = after(found, place, "near").values()
    assert renamed.count("near") == 3
    assert "level := near" in renamed


@pytest.mark.parametrize(
    ("words", "name", "reason"),
    [
        ("d(lev|el)", "2x", "not a name"),
        ("d(lev|el)", "time", "a meaning of its own"),
        ("d(lev|el)", "sin", "a meaning of its own"),
        ("d(lev|el)", "when", "a word of the language"),
        ("d(lev|el)", "speed", "already a parameter"),
        ("d(lev|el)", "size", "already a constant"),
        ("real si|ze", "speed", "already a parameter"),
        ("real le|ft,", "right", "already a variable"),
        ("mode Fi|ll(", "Top", "already a mode"),
        ("// lev|el:", "x", "no name here"),
    ],
)
def test_renaming_that_would_change_the_meaning_is_refused(
    words: str, name: str, reason: str
) -> None:
    found, place = marked(at(TANK, words))
    with pytest.raises(ValueError, match=reason):
        found.renamed(place, name)


def test_a_name_that_a_part_would_take_up_is_refused() -> None:
    text = (
        "mode M() { write analog real x, y; }\n"
        "agent A() { private analog real x, z; mode top = M(); }\n"
    )
    with pytest.raises(ValueError, match="already a variable"):
        document(text).renamed((2, 36), "y")


def test_renaming_goes_through_importers() -> None:
    files = {"parts.charon": "mode Part() { }\n"}
    main = document('import "parts.charon";\nmode M() { mode a = Part(); }\n', files)
    parts = document(files["parts.charon"], files, "parts.charon")
    stranger = document("mode Part() { }\n", files, "stranger.charon")
    renamed = after(parts, (1, 6), "Piece", (main, stranger))
    assert renamed["main.charon"].count("Piece") == 1
    assert renamed["parts.charon"].count("Piece") == 1
    assert renamed["stranger.charon"].count("Piece") == 0


@pytest.mark.parametrize("path", sorted(LIBRARY.glob("*.charon"))[::3], ids=lambda p: p.stem)
def test_renamed_library_models_mean_the_same(path: Path) -> None:
    """Definitions, parameters, variables, instances, some of each model."""
    found = others(str(path))
    assert found is not None
    if found.imports:
        return
    expected = sorted(p.name for p in load(found.text).automaton.properties)
    places = [f.span for known in found.project.declarations.values() for f in known]
    for span in places[:: max(1, len(places) // 6)]:
        (renamed,) = after(found, (span.line, span.column), "other_name").values()
        model = load(renamed)
        assert sorted(p.name for p in model.automaton.properties) == expected
        assert len(model.automaton.components) == len(load(found.text).automaton.components)


@settings(max_examples=60)
@given(st.integers(0, len(EVERYTHING)), st.integers(0, 200))
def test_any_place_in_any_piece_of_text_has_an_answer(offset: int, left_out: int) -> None:
    text = EVERYTHING[:offset] + EVERYTHING[offset + left_out :]
    found, place = document(text), place_at(text, offset)
    found.completions(place)
    found.signature(place)
    found.hover(place)
    found.definition(place)
    found.references(place)
    found.renamable(place)
    found.outline()
    found.folds()
    found.colours()
    found.asked()
    found.fixes(found.diagnostics)
