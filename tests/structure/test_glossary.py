"""The glossary is kept: words that are not used are not used, and names mean one thing."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
GLOSSARY = ROOT / "docs" / "glossary.md"
FOLDERS = ("workbench", "reports", "abstraction", "reach", "simulate", "models")
LIBRARY = ("workbench/api/", "workbench/build/")
"""What users import; it may call its own view of a thing by the word of the glossary."""


def sources() -> Iterator[Path]:
    """Every module written by hand; `workbench` also holds links to the folders beside it."""
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            linked = any(p.is_symlink() for p in (path, *path.parents))
            if not linked and "node_modules" not in path.parts and path.name != "generated.py":
                yield path


@cache
def tree(path: Path) -> ast.Module:
    """The syntax tree of a module."""
    return ast.parse(path.read_text(encoding="utf-8"))


def rows() -> list[tuple[str, str, str]]:
    """The rows of the tables: word, meaning, words that are not used for it."""
    text = GLOSSARY.read_text(encoding="utf-8")
    found = re.findall(r"^\| ([^|\n]+) \| ((?:[^|\n]|\\\|)+) \|([^\n]*)\|$", text, re.MULTILINE)
    return [(w, m, n) for w, m, n in found if not set(w) <= set("-") and w != "word"]


def unused() -> dict[str, str]:
    """The words that have no meaning here, and what is said instead."""
    return {
        wrong: word for word, _, column in rows() for wrong in re.findall(r"\*\*(.+?)\*\*", column)
    }


def messages(path: Path) -> Iterator[tuple[int, str]]:
    """The texts in a module that people may come to read: those of several words."""
    notes = {id(n.value) for n in ast.walk(tree(path)) if isinstance(n, ast.Expr)}
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in notes:
            for number, line in enumerate(node.value.splitlines()):
                if " " in line:
                    yield node.lineno + number, line


def pages() -> list[Path]:
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def test_the_tables_are_read() -> None:
    words = [word for word, _, _ in rows()]
    assert len(words) > 50 and len(words) == len(set(words))
    assert unused()["trajectory"] == "run"


def test_no_word_of_the_glossary_is_one_that_is_not_used() -> None:
    assert not {word for word, _, _ in rows()} & set(unused())


def test_words_that_are_not_used_are_in_no_message_and_on_no_page() -> None:
    wrong = re.compile(rf"\b({'|'.join(map(re.escape, unused()))})\b", re.IGNORECASE)
    said = []
    for path in sources():
        said += [(path, line, text) for line, text in messages(path) if wrong.search(text)]
    for page in pages():
        if page != GLOSSARY:
            lines = enumerate(page.read_text(encoding="utf-8").splitlines(), 1)
            said += [(page, line, text) for line, text in lines if wrong.search(text)]
    told = [f"{p.relative_to(ROOT)}:{line}: {text.strip()[:120]}" for p, line, text in said]
    assert not told, "docs/glossary.md has other words for this:\n" + "\n".join(told)


@cache
def defined_twice() -> dict[str, list[str]]:
    """The public classes that several modules define, the library's own left out."""
    homes: defaultdict[str, list[str]] = defaultdict(list)
    for path in sources():
        home = path.relative_to(ROOT).as_posix()
        if home.startswith(LIBRARY):
            continue
        for node in tree(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(home)
    return {name: found for name, found in homes.items() if len(found) > 1}


def test_a_class_name_means_one_thing() -> None:
    debts = GLOSSARY.read_text(encoding="utf-8").partition("## Names that still mean two")[2]
    known = set(re.findall(r"`(\w+)`", debts.partition("until somebody")[2]))
    assert known, "the list of known double names is at the end of the glossary"
    found = defined_twice()
    new = {name: homes for name, homes in found.items() if name not in known}
    assert not new, f"a second class of the same name: {new}; see docs/glossary.md"


@pytest.mark.parametrize("folder", ["models/expressions", "models/interchange", "models/language"])
def test_the_vocabulary_has_no_double_names(folder: str) -> None:
    ours = {
        name
        for name, homes in defined_twice().items()
        if any(h.rpartition("/")[0] == folder for h in homes)
    }
    assert not ours
