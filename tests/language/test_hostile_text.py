"""Texts that nobody wrote in good faith: a quick, clear answer, never a traceback."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from syntax_texts import EVERYTHING

from workbench.models.language import syntax
from workbench.models.language.format import format_source
from workbench.models.language.grammar import grammar
from workbench.models.language.lexical import SIGNS, tokens
from workbench.models.language.parse import decode_source, parse_source
from workbench.models.language.reading import MAX_SOURCE_BYTES
from workbench.models.source import ModelError


def code_of(text: str) -> str:
    """The code of the first diagnostic."""
    with pytest.raises(ModelError) as caught:
        parse_source(text, "h.charon")
    caught.value.render()
    return caught.value.diagnostics[0].code


def inside(text: str) -> str:
    return "mode M() { inv { " + text + " } }"


@pytest.mark.parametrize("bracket", "([{)]}")
def test_fifty_megabytes_of_brackets(bracket: str) -> None:
    assert code_of(bracket * 50_000_000) == "file-too-large"
    with pytest.raises(ModelError, match="50,000,000 bytes"):
        decode_source(bracket.encode() * 50_000_000, "h")


@pytest.mark.parametrize("text", ["(", "[", "{", "}", "{}", "()", "@", "a ", "agent ", '"'])
def test_the_largest_text_of_one_thing(text: str) -> None:
    assert code_of(text * (MAX_SOURCE_BYTES // len(text)))


@pytest.mark.slow
@pytest.mark.parametrize(
    "nested",
    ["(", "-", "!", "a^", "a ? b : ", "a[", "f(", "forall i in 1..2 : ", "a/", "a ? ", "-(", "!("],
)
def test_nesting_two_hundred_thousand_deep(nested: str) -> None:
    count = min(200_000, 1_900_000 // len(nested))
    assert code_of(inside(nested * count + "x")) == "nested-too-deeply"


def test_reasonable_nesting_is_fine() -> None:
    for text in ("(" * 200 + "x" + ")" * 200, "-" * 200 + "x", "a ? b : " * 100 + "x"):
        parse_source(inside(text), "h")


@pytest.mark.parametrize("number", ["1e999999999", "1e-401", "9" * 401, "1e" + "9" * 100_000])
def test_numbers_beyond_reason(number: str) -> None:
    assert code_of(inside(number + " > x")) == "number-too-large"


def test_arithmetic_that_explodes() -> None:
    assert code_of(inside("*".join(["9" * 399] * 100) + " > x")) == "number-too-large"
    parse_source(inside("2^2^2^2^2^2 > x"), "h")  # stays a power


@pytest.mark.slow
def test_a_long_sum_in_many_parentheses() -> None:
    names = "+".join(f"x{i}" for i in range(50_000))
    assert code_of(inside("(" * 250 + names + "+b)" * 250)) == "nested-too-deeply"


def test_nul_and_other_control_characters() -> None:
    assert code_of("mode M() {\0}") == "strange-character"
    assert code_of("mode \ud800") == "strange-character"
    with pytest.raises(ModelError) as caught:
        decode_source(b"mode M() {\n\0}", "h")
    diagnostic = caught.value.diagnostics[0]
    assert diagnostic.message == "byte 11 of the file is NUL, so this is no text file"
    assert str(diagnostic.span) == "h:2:1"


def test_encodings() -> None:
    assert decode_source(b"\xef\xbb\xbfmode M() { }", "h") == "mode M() { }"
    assert decode_source("// größer".encode(), "h") == "// größer"
    with pytest.raises(ModelError) as caught:
        decode_source("ab\n// größer".encode("latin-1"), "h")
    diagnostic = caught.value.diagnostics[0]
    assert diagnostic.message == "byte 8 of the file (0xf6) is not valid UTF-8"
    assert str(diagnostic.span) == "h:2:6"
    with pytest.raises(ModelError, match="UTF-16"):
        decode_source("mode M() { }".encode("utf-16"), "h")


def test_very_long_lines() -> None:
    parse_source("mode M() { " + "inv { x > 0 } " * 5_000 + "}", "h")
    assert code_of("mode M() { " + "inv { x > 0 } " * 5_000 + "inv { x > } }") == "syntax"


# Random texts

PIECES = [*SIGNS, *grammar().keywords, "x", "y", "M", "1", "2.5", '"t"', "#l", "// c\n", "\n"]
WORDS = [t.text for t in tokens(EVERYTHING)]


def outcome(text: str) -> syntax.SourceFile | ModelError:
    """A syntax tree or a `ModelError`; anything else fails the test."""
    try:
        return parse_source(text, "f")
    except ModelError as error:
        return error


def answers(text: str) -> None:
    """Either the text is a model, which the formatter settles, or the errors have places."""
    found = outcome(text)
    if isinstance(found, syntax.SourceFile):
        once = format_source(text, "f")
        assert format_source(once, "f") == once
        return
    assert found.diagnostics
    for diagnostic in found.diagnostics:
        assert diagnostic.span is not None
        assert 1 <= diagnostic.span.line <= text.count("\n") + 1
        assert diagnostic.message
    found.render()


soups = st.lists(st.sampled_from(PIECES), max_size=40).map(" ".join)


@st.composite
def mutations(draw: st.DrawFn) -> str:
    """A valid text in which some tokens are missing, doubled, exchanged or replaced."""
    words = list(WORDS)
    for _ in range(draw(st.integers(1, 6))):
        i = draw(st.integers(0, len(words) - 1))
        j = draw(st.integers(0, len(words) - 1))
        what = draw(st.sampled_from(["delete", "double", "swap", "replace", "cut"]))
        if what == "delete":
            words[i] = ""
        elif what == "double":
            words[i] = f"{words[i]} {words[i]}"
        elif what == "swap":
            words[i], words[j] = words[j], words[i]
        elif what == "replace":
            words[i] = draw(st.sampled_from(PIECES))
        else:
            del words[i : i + draw(st.integers(1, 5))]
            words.append("")
    joint = draw(st.sampled_from([" ", "\n"]))
    return joint.join(words)


@settings(max_examples=150)
@given(soups)
def test_token_soups(text: str) -> None:
    answers(text)


@settings(max_examples=80)
@given(mutations())
def test_mutated_models(text: str) -> None:
    answers(text)


@settings(max_examples=80)
@given(st.text(max_size=60))
def test_any_text_at_all(text: str) -> None:
    answers(text)


@settings(max_examples=80)
@given(st.binary(max_size=60))
def test_any_bytes_at_all(data: bytes) -> None:
    with suppress(ModelError):
        answers(decode_source(data, "f"))


@pytest.mark.slow
@settings(max_examples=4_000)
@given(soups | mutations())
def test_thousands_of_broken_models(text: str) -> None:
    answers(text)
