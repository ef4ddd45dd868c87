"""The formatter keeps meaning and comments, settles at once, and has one style."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from syntax_texts import EVERYTHING, plain

from workbench.models.language.format import WIDTH, format_source
from workbench.models.language.lexical import tokens
from workbench.models.language.parse import parse_source
from workbench.models.source import ModelError


def formatted(text: str) -> str:
    return format_source(text, "m.charon")


def meaning(text: str) -> object:
    return plain(parse_source(text, "m.charon").definitions)


def comments(text: str) -> list[str]:
    found: list[object] = []
    list(tokens(text, found))  # type: ignore[arg-type]
    return [c.text.rstrip() for c in found]  # type: ignore[attr-defined]


GOLDEN = """\
// A tank

mode Fill(real rate) {  // opening
  write analog real level;
  diff { d(level) == rate; }

  // leave in time
  inv { level <= 10; rate > -1 }
  trans #full from a, b.done to c when level >= 10
    do { level = 0; other = level/2 - 1; third in [0, 1]; fourth = level*level + 12345; }
}  // closing
agent Tank() { init { level = 6; } mode top = Fill(1/8); }
"""

UNTIDY = """\
// A tank

mode   Fill( real rate ){// opening
write analog real level;diff{d(level)==rate;}


// leave in time
   inv{level<=10;rate>- 1};
trans #full from a,b . done to c when level>=10 do{ level=0; other=level / 2-1; third in[0,1]; fourth=level*level+12345; } ;
}// closing
agent Tank(){init{level=6;}mode top=Fill( 1 / 8 );};
"""


def test_the_style() -> None:
    assert formatted(UNTIDY) == GOLDEN


def test_an_empty_file_stays_empty() -> None:
    assert formatted("") == ""
    assert formatted("\n\n;;\n") == ""
    assert formatted("// only this") == "// only this\n"


@pytest.mark.parametrize("text", [EVERYTHING, UNTIDY, GOLDEN])
def test_known_texts_keep_their_meaning_and_settle(text: str) -> None:
    once = formatted(text)
    assert meaning(once) == meaning(text)
    assert comments(once) == comments(text)
    assert formatted(once) == once


def test_long_lines_are_broken_and_nothing_else_is() -> None:
    terms = " + ".join(f"coefficient{i}*state{i}" for i in range(30))
    text = f"mode M() {{ diff {{ d(x) == {terms}; }} }}"
    once = formatted(text)
    assert max(map(len, once.split("\n"))) <= WIDTH
    assert meaning(once) == meaning(text)
    assert formatted(once) == once


def test_ranges_next_to_decimal_points_are_kept_apart() -> None:
    text = "agent A() { private real v[1. ..2]; private real w[0.. .5]; }"
    assert meaning(formatted(text)) == meaning(text)


def test_errors_are_reported_not_formatted() -> None:
    with pytest.raises(ModelError) as caught:
        formatted("mode M() { diff { d(x) = 1; } }")
    assert [d.code for d in caught.value.diagnostics] == ["single-equals"]


COMMENTS = ["// note\n", "/* aside */", "/* two\n   lines */", "// a \n//b\n"]


def respaced(text: str, seed: int, comment_rate: float) -> str:
    """The same tokens with other blanks, line ends and further comments between them."""
    chance = random.Random(seed)
    kept: list[object] = []
    stream = sorted([*tokens(text, kept), *kept], key=lambda t: t.start)  # type: ignore
    parts: list[str] = []
    for token in stream:
        parts.append(token.text)
        if token.text.startswith("//"):
            parts.append("\n")
        if chance.random() < comment_rate:
            parts.append(" " + chance.choice(COMMENTS))
        parts.append(chance.choice([" ", " ", "  ", "\n", "\n\n\n", "\t", " \r\n  "]))
    return "".join(parts)


@settings(max_examples=40)
@given(st.integers(0, 10**9), st.sampled_from([0.0, 0.02, 0.3]))
def test_any_spacing_and_any_comments_survive(seed: int, rate: float) -> None:
    text = respaced(EVERYTHING, seed, rate)
    once = formatted(text)
    assert meaning(once) == meaning(EVERYTHING)
    wanted = [re.sub(r"\r\n?", "\n", c) for c in comments(text)]
    assert comments(once) == wanted
    assert formatted(once) == once
