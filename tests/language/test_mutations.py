"""Sound models, damaged at random: the answer is always a model or a list of diagnostics."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
from charon_texts import EXAMPLES, FILE
from hypothesis import given, settings
from hypothesis import strategies as st

import workbench.models.catalogue
from workbench.models.language.checked import checked_model
from workbench.models.language.project import read_project
from workbench.models.source import ModelError

TOKEN = re.compile(r'[A-Za-z_]\w*|\d+(?:\.\d+)?|"[^"\n]*"|[<>=!:&|.]{2}|[^\s\w]')
WORDS = (
    "x",
    "init",
    "default",
    "time",
    "true",
    "0",
    "-1",
    "1e300",
    "vel",
    "read",
    "real",
    "[",
    "}",
)

REPLICATED = """
const int n = 3; const real k in [1, 2];
mode T(int i, real g = 2) { write analog real x; private discrete enum { a, b } s = a;
  read analog real u; mode p = P(); mode q = P();
  diff { d(x) <= u + g; d(x) >= i - k; }
  trans from init to p when s == a do { let z = x; x in [z, z + 1]; }
  trans from p to q when x >= lift(i) do { s = b; } }
mode P() { entry e; exit f; trans from e to f when true }
table lift(real a) linear { 0: 1, 9: 5 }
agent Car(int i) { write analog real x; read analog real u in [0, 9];
  init { x in [i, i + 1]; where x <= i + 2; } mode top = T(i); }
agent Main() { private analog real v[0..n];
  agent lead = Car(5) [ x, u := v[0], v[n] ];
  agent car[i in 1..n] = Car(i) [ x, u := v[i], v[i-1] ];
  interaction meet between a, b in car when a.x == b.x do { a.x = b.x + 1; }
  assert { forall i in 1..n : (sum j in 0..i : v[j]) >= car[i].x }
  forbid "far" { abs(v[0]) > 1000 } predicate { v[0] > 1; v[1] > 2 } }
system Main() until 10;
"""

TEXTS = [*EXAMPLES.values(), REPLICATED]


def accepted(text: str) -> bool:
    """Whether the text is a model; any other end than a `ModelError` fails the test."""
    try:
        checked_model(read_project(Path(FILE), text), "model")
    except ModelError as problem:
        check_usable(problem, text)
        return False
    return True


def check_usable(problem: ModelError, text: str) -> None:
    """Every refusal says something, at a place in the text."""
    assert problem.diagnostics
    lines = text.count("\n") + 1
    for diagnostic in problem.diagnostics:
        assert diagnostic.message
        assert diagnostic.span is None or 1 <= diagnostic.span.line <= lines
    assert problem.render()


@st.composite
def damaged(draw: st.DrawFn, texts: list[str]) -> str:
    """A text with one to three tokens or lines dropped, doubled, replaced or exchanged."""
    text = draw(st.sampled_from(texts))
    for _ in range(draw(st.integers(1, 3))):
        if draw(st.booleans()):
            lines = text.splitlines(keepends=True)
            k = draw(st.integers(0, len(lines) - 1))
            lines[k] = draw(st.sampled_from(["", lines[k] * 2, lines[len(lines) - 1 - k]]))
            text = "".join(lines)
            continue
        tokens = list(TOKEN.finditer(text))
        if not tokens:
            return text
        one, other = draw(st.sampled_from(tokens)), draw(st.sampled_from(tokens))
        new = draw(
            st.sampled_from(["", one[0] * 2, f"{one[0]} {one[0]}", other[0], one[0] + "q"])
            | st.sampled_from(WORDS)
        )
        text = text[: one.start()] + new + text[one.end() :]
    return text


def test_the_undamaged_texts_are_accepted() -> None:
    assert all(accepted(text) for text in TEXTS)


@settings(max_examples=250)
@given(damaged(TEXTS))
def test_damaged_models_are_accepted_or_refused(text: str) -> None:
    accepted(text)


@settings(max_examples=200)
@given(st.data())
def test_a_renamed_identifier_is_accepted_or_refused(data: st.DataObject) -> None:
    """Renames one occurrence only, so that most results are semantically wrong."""
    text = data.draw(st.sampled_from(TEXTS))
    names = [t for t in TOKEN.finditer(text) if t[0][0].isalpha()]
    one, other = data.draw(st.sampled_from(names)), data.draw(st.sampled_from(names))
    accepted(text[: one.start()] + other[0] + text[one.end() :])


@cache
def library_texts() -> list[str]:
    """The library's models that stand alone, read once."""
    folder = Path(workbench.models.catalogue.__file__).parent / "library"
    texts = sorted(p.read_text(encoding="utf-8") for p in folder.glob("*.charon"))
    return [text for text in texts if "import" not in text]


@pytest.mark.slow
@settings(max_examples=4_000)
@given(st.data())
def test_damaged_library_models_are_accepted_or_refused(data: st.DataObject) -> None:
    accepted(data.draw(damaged(library_texts())))
