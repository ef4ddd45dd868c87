"""`workbench fmt`: safe on every file."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from workbench.models.catalogue import Entry, entries
from workbench.models.load import load

Run = Callable[..., Any]

UGLY = """\
// why
mode   M( ) {write analog real x;diff{d(x)==1;}/* kept */}
agent A(){private analog real x=0;mode top=M();}
"""


@pytest.fixture
def ugly(tmp_path: Path) -> Path:
    path = tmp_path / "ugly.charon"
    path.write_text(UGLY)
    return path


def test_formats_in_place_without_changing_the_model(workbench: Run, ugly: Path) -> None:
    before = load(ugly).automaton
    result = workbench("fmt", ugly)
    assert (result.code, result.out) == (0, "")
    assert "formatted" in result.err
    text = ugly.read_text()
    assert text != UGLY
    assert "// why" in text and "/* kept */" in text
    assert load(ugly).automaton == before


def test_formatting_twice_changes_nothing(workbench: Run, ugly: Path) -> None:
    workbench("fmt", ugly)
    text, stamp = ugly.read_text(), ugly.stat().st_mtime_ns
    result = workbench("fmt", ugly)
    assert (result.code, result.err) == (0, "")
    assert (ugly.read_text(), ugly.stat().st_mtime_ns) == (text, stamp)


def test_check_changes_nothing_and_tells(workbench: Run, ugly: Path) -> None:
    result = workbench("fmt", "--check", ugly)
    assert result.code == 3
    assert result.out == f"{ugly}: would be formatted\n"
    assert ugly.read_text() == UGLY
    workbench("fmt", ugly)
    assert workbench("fmt", "--check", ugly).code == 0


def test_stdout_prints_and_leaves_the_file(workbench: Run, ugly: Path) -> None:
    result = workbench("fmt", "--stdout", ugly)
    assert result.code == 0
    assert ugly.read_text() == UGLY
    workbench("fmt", ugly)
    assert result.out == ugly.read_text()


def test_standard_input(process: Run, ugly: Path, workbench: Run) -> None:
    result = process("fmt", "-", stdin=UGLY)
    workbench("fmt", ugly)
    assert (result.code, result.out) == (0, ugly.read_text())


@pytest.mark.parametrize(
    "content",
    [b"mode M() { diff { d(x) = 1; } }", b"agent", b"\x00\xff", b"{" * 10_000, b"\xef\xbb\xbf\xff"],
)
def test_a_file_with_errors_is_left_untouched(
    workbench: Run, tmp_path: Path, content: bytes
) -> None:
    path = tmp_path / "bad.charon"
    path.write_bytes(content)
    result = workbench("fmt", path)
    assert result.code == 3
    assert result.err.strip() and "Traceback" not in result.err
    assert path.read_bytes() == content
    assert list(tmp_path.iterdir()) == [path]


def test_one_bad_file_does_not_keep_the_others_from_being_formatted(
    workbench: Run, ugly: Path, tmp_path: Path
) -> None:
    bad = tmp_path / "bad.charon"
    bad.write_text("agent")
    data = workbench("fmt", bad, ugly, "--json")
    assert data.code == 3
    assert [f["outcome"] for f in data.data["files"]] == ["rejected", "formatted"]
    assert ugly.read_text() != UGLY


def test_what_is_not_there(workbench: Run, tmp_path: Path) -> None:
    for name in (tmp_path, tmp_path / "no.charon", "x" * 5000, ""):
        result = workbench("fmt", name)
        assert result.code == 3
        assert "cannot read" in result.err


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
def test_a_file_that_may_not_be_written(workbench: Run, ugly: Path) -> None:
    ugly.chmod(0o444)
    assert workbench("fmt", ugly).code == 2
    assert ugly.read_text() == UGLY


@pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry.name)
def test_formatting_keeps_the_meaning_and_the_comments_of_library_models(
    workbench: Run, tmp_path: Path, entry: Entry
) -> None:
    """Copies are formatted, with what they import beside them."""
    shutil.copytree(entry.path.parent, tmp_path, dirs_exist_ok=True)
    path = tmp_path / entry.path.name
    before = load(path).automaton
    assert workbench("fmt", path).code == 0
    assert load(path).automaton == before
    assert workbench("fmt", "--check", path).code == 0

    def words(text: str) -> list[str]:
        return re.findall(r"//[^\n]*", text)

    assert words(path.read_text()) == words(entry.path.read_text())
