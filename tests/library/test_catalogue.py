"""The library's listing: what the header lines say, and that it is quick to read."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from workbench.models import catalogue
from workbench.models.catalogue import Entry, Expectation, HeaderError, Verdict

HEADER = """\
//! title: A model
//! source: a book
//! expect "stays low": safe for all time
//! expect "stays high": unsafe until 2.5
//! twin: other

// A comment.
//! title: not part of the header
"""


def written(folder: Path, text: str) -> Path:
    file = folder / "model.charon"
    file.write_text(text, encoding="utf-8")
    return file


def test_header_lines_are_read(tmp_path: Path) -> None:
    file = written(tmp_path, HEADER)
    assert catalogue.read_entry(file) == Entry(
        "model",
        "A model",
        "a book",
        (
            Expectation("stays low", Verdict.SAFE, for_all_time=True),
            Expectation("stays high", Verdict.UNSAFE, horizon=Fraction(5, 2)),
        ),
        "other",
        file,
    )


def test_expectation_is_written_as_in_the_header(tmp_path: Path) -> None:
    entry = catalogue.read_entry(written(tmp_path, HEADER))
    assert [str(e) for e in entry.expectations] == [
        '"stays low": safe for all time',
        '"stays high": unsafe until 2.5',
    ]
    assert str(Expectation("p", Verdict.UNSAFE)) == '"p": unsafe'


@pytest.mark.parametrize(
    ("line", "replacement", "complaint"),
    [
        ("//! title: A model\n", "", "title"),
        ("//! title: A model\n", "//! title: A\n//! title: B\n", "model.charon:2"),
        ("//! source: a book\n", "//! sauce: a book\n", "sauce"),
        ("safe for all time", "sound for all time", "sound"),
        ("safe for all time", "safe for a while", "model.charon:3"),
        ('//! expect "stays low": safe for all time\n//! expect', "//! twin: x\n//", "expect"),
    ],
)
def test_wrong_headers_are_refused(
    tmp_path: Path, line: str, replacement: str, complaint: str
) -> None:
    text = HEADER.replace(line, replacement)
    assert text != HEADER
    with pytest.raises(HeaderError, match=complaint):
        catalogue.read_entry(written(tmp_path, text))


def test_models_are_found_by_name() -> None:
    found = catalogue.find("platoon")
    assert found is not None
    assert found.path == catalogue.path("platoon")
    assert found.expectation("no collision") == Expectation(
        "no collision", Verdict.SAFE, for_all_time=True
    )
    assert found.expectation("no such property") is None
    assert catalogue.find("no_such_model") is None
    assert catalogue.path("../catalogue") is None


def test_entries_are_sorted_and_complete() -> None:
    names = [entry.name for entry in catalogue.entries()]
    assert names == sorted(names)
    assert set(names) == {file.stem for file in catalogue.LIBRARY.glob("*")}


@pytest.mark.parametrize("entry", catalogue.entries(), ids=lambda entry: entry.name)
def test_every_model_has_a_twin_with_another_verdict(entry: Entry) -> None:
    """The twin shares a property (by name, or all of them) on which the verdicts differ."""
    assert entry.twin is not None
    twin = catalogue.find(entry.twin)
    assert twin is not None
    safe = all(e.verdict is Verdict.SAFE for e in entry.expectations)
    assert safe != all(e.verdict is Verdict.SAFE for e in twin.expectations)


@pytest.mark.parametrize("entry", catalogue.entries(), ids=lambda entry: entry.name)
def test_headers_are_for_readers(entry: Entry) -> None:
    text = entry.path.read_text(encoding="utf-8")
    assert "// How the verdict" in text, "the header comment says how the verdicts are known"
    assert len(entry.title) <= 90
    assert all(len(line) <= 100 for line in text.splitlines())
    assert "\t" not in text and text.isascii() and text.endswith("\n")


def test_safe_verdicts_say_for_how_long() -> None:
    for entry in catalogue.entries():
        for expected in entry.expectations:
            if expected.verdict is Verdict.SAFE:
                assert expected.scope, f"{entry.name}: {expected}"


def test_listing_parses_no_model() -> None:
    """Listing loads neither the parser nor anything heavy."""
    script = (
        "import sys; from workbench.models.catalogue import entries; entries();"
        "print(*(set(sys.modules) & {'lark', 'numpy', 'z3', 'scipy', 'workbench.models.language.parse'}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == ""
