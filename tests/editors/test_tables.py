"""All tables of words come from the one grammar, and colour real texts alike."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from pygments.lexers import get_lexer_for_filename
from pygments.token import Comment, Error, Keyword, Name, Number, Operator, String

from workbench.editors import tables
from workbench.editors.lexer import CharonLexer
from workbench.models.language.editor.highlighting import highlighting
from workbench.models.language.editor.pieces import Cut, parsed
from workbench.models.language.grammar import grammar
from workbench.models.language.lexical import LABEL, NAME, NUMBER, SIGNS, STRING

LIBRARY = sorted(Path("models/library").glob("*.charon"))
Coloured = dict[int, str]
"""What each token is, by its offset: word, name, number, text, label or sign."""


def read(text: str) -> tuple[Coloured, set[int]]:
    """What the parser reads, and where built-in names are called or meant."""
    piece = parsed(Cut(text))
    plain = {NAME: "name", NUMBER: "number", STRING: "text", LABEL: "label"}
    signs = set(SIGNS.values())
    found, built_in = {}, set()
    table = highlighting()
    for token in piece.tokens:
        kind = piece.terminal(token)
        assert kind is not None, token
        found[token.start] = "sign" if kind in signs else plain.get(kind, "word")
        if kind == NAME and token.text in (*table.functions, *table.constants):
            built_in.add(token.start)
    return found, built_in


def by_pygments(text: str) -> Iterator[tuple[int, str]]:
    kinds = [
        (Comment, ""),
        (String, "text"),
        (Number, "number"),
        (Operator, "sign"),
        (Name.Label, "label"),
        (Name.Builtin, "word"),
        (Name, "name"),
        (Keyword, "word"),
    ]
    for start, kind, _ in CharonLexer().get_tokens_unprocessed(text):
        assert kind is not Error
        yield start, next((word for sort, word in kinds if kind in sort), "")


def by_textmate(text: str) -> Iterator[tuple[int, str]]:
    """The grammar of TextMate, applied as an editor does: line by line, the first pattern that
    matches soonest."""
    kinds = {"string": "text", "entity": "label", "support": "word", "storage": "word",
             "constant.language": "word", "constant.numeric": "number", "keyword.control": "word",
             "keyword.operator": "sign", "variable": "name", "comment": ""}  # fmt: skip
    rules = [
        (
            re.compile(p.get("match") or p["begin"]),
            re.compile(p["end"]) if "end" in p else None,
            p["name"],
        )
        for p in tables.textmate()["patterns"]
    ]
    inside: re.Pattern[str] | None = None
    offset = 0
    for line in text.split("\n"):
        at = 0
        while at < len(line):
            if inside is not None:
                end = inside.search(line, at)
                at, inside = (end.end(), None) if end else (len(line), inside)
                continue
            found = [
                (m.start(), i, m)
                for i, (rule, _, _) in enumerate(rules)
                if (m := rule.search(line, at))
            ]
            if not found:
                break
            start, i, match = min(found, key=lambda known: known[:2])
            _, end_rule, name = rules[i]
            yield offset + start, next(word for key, word in kinds.items() if name.startswith(key))
            at, inside = match.end(), end_rule
        offset += len(line) + 1


@pytest.mark.parametrize("path", LIBRARY, ids=lambda p: p.stem)
def test_texts_are_coloured_as_the_parser_reads_them(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    expected, built_in = read(text)
    for coloured in (dict(by_pygments(text)), dict(by_textmate(text))):
        for start, sort in expected.items():
            got = coloured.get(start)
            if sort == "sign" and text[start] in "(){}[],;.":
                continue  # brackets and what separates are not coloured
            if sort == "name" and start in built_in:
                assert got in ("name", "word"), text[start : start + 20]
            else:
                assert got == sort, text[start : start + 20]


def test_every_word_of_the_grammar_is_in_the_table_once() -> None:
    table = highlighting()
    groups = (
        *(table.definitions, table.manners, table.blocks, table.types, table.constants),
        *(table.functions, table.before_brace),
    )
    every = [word for group in groups for word in group]
    assert len(every) == len(set(every))
    assert set(grammar().keywords) <= set(every)
    assert set(table.patterns) == {"LABEL", "NAME", "NUMBER", "STRING"}


def test_files_are_what_the_grammar_gives() -> None:
    """If not: python -m workbench.editors.tables"""
    for path, text in tables.written().items():
        assert path.read_text(encoding="utf-8") == text, path.name


def test_the_page_has_the_same_words() -> None:
    table, words = highlighting(), tables.words()
    every = {word for key, found in words.items() if key != "comments" for word in found}
    assert every == {*table.keywords, *table.types, *table.functions, *table.constants}


def test_pygments_finds_the_lexer() -> None:
    assert isinstance(get_lexer_for_filename("tank.charon"), CharonLexer)
