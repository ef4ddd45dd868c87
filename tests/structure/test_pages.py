"""What the pages name exists: files, the functions and classes in them, other pages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MAP = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
TOPS = "models|simulate|reach|abstraction|reports|workbench|tests|docs"
PAGES = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")], key=lambda page: page.as_posix()
)
OPENERS = {
    "urgent guard": "simulate/",
    "facet obligation": "models/evidence/polyhedral.py",
    "plan of `auto`": "abstraction/",
    "diagnostic's hint": "models/language/",
    "cross-check compare": "reports/crosscheck/",
}
"""What somebody must find at once, and where it is at least."""


def answers() -> dict[str, str]:
    """The questions of the map, each with its answer."""
    return dict(re.findall(r"^\| (Where [^|]+\?) \| ([^|]+) \|$", MAP, re.MULTILINE))


@pytest.mark.parametrize("question", answers())
def test_what_an_answer_names_exists(question: str) -> None:
    named = re.findall(r"`([\w./]+/[\w.]+)`(?:: (`\w+`(?:, `\w+`)*))?", answers()[question])
    assert named
    for path, symbols in named:
        assert (ROOT / path).exists(), path
        for symbol in re.findall(r"`(\w+)`", symbols):
            text = (ROOT / path).read_text(encoding="utf-8")
            defined = rf"^(?:def|class) {symbol}\b|^{symbol}\b"
            assert re.search(defined, text, re.MULTILINE), f"{path} has no {symbol}"


@pytest.mark.parametrize("what", OPENERS)
def test_what_a_stranger_looks_for_is_asked(what: str) -> None:
    found = [answer for question, answer in answers().items() if what in question]
    assert len(found) == 1 and OPENERS[what] in found[0]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_and_paths_lead_somewhere(page: Path) -> None:
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.M)
    for link in re.findall(r"\]\(\s*([\w./-]*[./][\w./-]*)(?:#[\w-]*)?\)", text):
        assert (page.parent / link).exists(), link
    for path in re.findall(rf"`((?:{TOPS})/[\w./]+\.(?:py|md|lark|c|toml|json))`", text):
        made_by_an_example = page.name == "CONTRIBUTING.md"
        assert made_by_an_example or (ROOT / path).exists(), path
