"""The table of what to read to trust a verdict names every file of the checker, with its size."""

from __future__ import annotations

import ast
import re
from fnmatch import fnmatch
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROOF = ROOT / "models" / "proof"
PAGE = ROOT / "docs" / "certificates.md"
SOURCES = sorted(p.name for p in PROOF.glob("*.py") if p.name != "__init__.py")


def rows() -> list[tuple[list[str], int]]:
    """The patterns of files and the number of lines of each row of the table."""
    found = re.findall(r"^\| (`[^|]*\.py`) \| ([\d,]+) \|", PAGE.read_text(encoding="utf-8"), re.M)
    return [(re.findall(r"`([^`]+)`", files), int(n.replace(",", ""))) for files, n in found]


def lines_of_code(path: Path) -> int:
    """Lines without imports, comments, docstrings, and blank ones."""
    text = path.read_text(encoding="utf-8")
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


def test_every_file_is_in_one_row() -> None:
    patterns = [pattern for files, _ in rows() for pattern in files]
    plain = {pattern for pattern in patterns if "*" not in pattern}
    for name in SOURCES:
        named = name in plain or any(fnmatch(name, p) for p in patterns if "*" in p)
        assert named, f"{name} is missing from the table in docs/certificates.md"
    assert plain <= set(SOURCES)


@pytest.mark.parametrize(("files", "stated"), rows(), ids=lambda v: None)
def test_the_sizes_are_true(files: list[str], stated: int) -> None:
    plain = {name for row, _ in rows() for name in row if "*" not in name}
    own = [n for n in SOURCES if n in files]
    own += [n for n in SOURCES if n not in plain and any(fnmatch(n, p) for p in files if "*" in p)]
    counted = sum(lines_of_code(PROOF / name) for name in own)
    assert stated == pytest.approx(counted, rel=0.1, abs=10), f"{files}: {counted} lines"
