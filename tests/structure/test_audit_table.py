"""The tables of what to read to trust a verdict name every file of the kernel, of what leads to it
and of the checker, with their sizes."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "certificates.md"
FOLDERS = {
    "models/kernel": "*.py",
    "models/kernel/theory": "*.v",
    "models/lowering": "*.py",
    "models/certificates": "*.py",
    "models/proof": "*.py",
}
"""What is read, each with a table that names all of its files."""
HEADER = re.compile(r"^\| (?:file of `([^`]+)`|part) \| lines \|")
ROW = re.compile(r"^\| (`[^|]*`) \| ([\d,]+) \|")


class Sized(NamedTuple):
    folder: str | None
    """The folder whose table it is in; none in the table of what is trusted."""
    patterns: list[str]
    lines: int


def rows() -> list[Sized]:
    """The rows of all tables with sizes."""
    found, folder, inside = [], None, False
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if header := HEADER.match(line):
            folder, inside = header[1], True
        elif not line.startswith("|"):
            inside = False
        elif inside and (row := ROW.match(line)):
            names = re.findall(r"`([^`]+)`", row[1])
            found.append(Sized(folder, names, int(row[2].replace(",", ""))))
    return found


def in_folder(folder: str) -> dict[str, Sized]:
    """The files of a folder, each with its row: the one that names it, or whose pattern fits."""
    own = [row for row in rows() if row.folder == folder]
    plain = {name: row for row in own for name in row.patterns if "*" not in name}
    found = {}
    for row in own:
        for pattern in row.patterns:
            for path in sorted((ROOT / folder).glob(pattern)):
                found[path.name] = plain.get(path.name, row)
    return found


def files_of(row: Sized) -> list[Path]:
    if row.folder is None:
        paths = [path for pattern in row.patterns for path in sorted(ROOT.glob(pattern))]
        return [path for path in paths if path.name != "__init__.py"]
    return [ROOT / row.folder / name for name, home in in_folder(row.folder).items() if home == row]


def lines_of_code(path: Path) -> int:
    """Lines without imports, comments, docstrings, and blank ones."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".v":
        bare = re.sub(r"\(\*.*?\*\)", "", text, flags=re.DOTALL)
        return sum(bool(line.strip()) for line in bare.splitlines())
    left_out: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if isinstance(node, ast.Import | ast.ImportFrom) or (
            is_text and isinstance(node.value.value, str)
        ):
            assert node.end_lineno is not None
            left_out.update(range(node.lineno, node.end_lineno + 1))
    return sum(
        bool(line.strip()) and not line.strip().startswith("#") and number not in left_out
        for number, line in enumerate(text.splitlines(), start=1)
    )


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_file_is_in_a_row(folder: str) -> None:
    files = {p.name for p in (ROOT / folder).glob(FOLDERS[folder]) if p.name != "__init__.py"}
    assert files == set(in_folder(folder)), "see the tables of docs/certificates.md"


@pytest.mark.parametrize("row", rows(), ids=lambda row: " ".join(row.patterns)[:60])
def test_the_sizes_are_true(row: Sized) -> None:
    files = files_of(row)
    assert files
    counted = sum(map(lines_of_code, files))
    assert row.lines == pytest.approx(counted, rel=0.1, abs=10), f"{row.patterns}: {counted} lines"


def test_lowering_is_short() -> None:
    """With all that it uses of the checker, and without the plain values of `models`."""
    row = next(r for r in rows() if r.folder is None and "models/proof/problem.py" in r.patterns)
    whole = [
        *files_of(row),
        ROOT / "models/lowering/normal_form.py",
        ROOT / "models/lowering/narrow.py",
        ROOT / "models/proof/stuck.py",
    ]
    assert sum(map(lines_of_code, whole)) < 2000
