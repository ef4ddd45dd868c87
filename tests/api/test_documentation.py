"""Every Python block of the documentation runs, and so do the script and the notebook."""

from __future__ import annotations

import ast
import doctest
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "docs" / "examples"
NEEDS = {"to_pandas": "pandas", "to_xarray": "xarray", ".plot(": "matplotlib"}
PAGES = sorted(
    path.relative_to(ROOT)
    for path in (ROOT / "README.md", *(ROOT / "docs").glob("*.md"))
    if "```python" in path.read_text()
)


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_the_blocks_of_a_page(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    names: dict[str, Any] = {}
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    for number, block in enumerate(blocks, start=1):
        lacking = {m for word, m in NEEDS.items() if word in block}
        if any(importlib.util.find_spec(module) is None for module in lacking):
            continue
        if ">>>" not in block:
            exec(block, names)  # noqa: S102 (our own documentation)
            continue
        test = doctest.DocTestParser().get_doctest(block, names, f"{page}, {number}", None, 0)
        told: list[str] = []
        result = doctest.DocTestRunner().run(test, out=told.append, clear_globs=False)
        assert result.failed == 0, "".join(told)
        names.update(test.globs)


def test_the_script_beside_files_with_the_names_of_our_folders(tmp_path: Path) -> None:
    for file in ("sweep.py", "tank.charon"):
        shutil.copy(EXAMPLES / file, tmp_path)
    parts = ("models", "simulate", "reach", "reports", "abstraction")
    for part in parts:
        (tmp_path / f"{part}.py").write_text(f"MINE = '{part}'\n")
    own = "".join(f"import {part}\nassert {part}.MINE == '{part}'\n" for part in parts)
    script = tmp_path / "sweep.py"
    script.write_text(script.read_text() + own)
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "sweep.py"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[1].startswith("rate 1: ") and not done.stderr
    assert "verified for all time" in done.stdout
    assert "<svg" in (tmp_path / "tank.svg").read_text() and (tmp_path / "tank.html").exists()


def test_the_notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(EXAMPLES / "tank.charon", tmp_path)
    monkeypatch.chdir(tmp_path)
    notebook = json.loads((EXAMPLES / "sweep.ipynb").read_text())
    cells = notebook["cells"]
    assert (notebook["nbformat"], notebook["metadata"]["kernelspec"]["name"]) == (4, "python3")
    assert len({cell["id"] for cell in cells}) == len(cells)
    names: dict[str, Any] = {}
    shown: list[str] = []
    for cell in cells:
        if cell["cell_type"] != "code":
            continue
        assert cell["outputs"] == [] and cell["execution_count"] is None
        *first, last = ast.parse("".join(cell["source"])).body
        if isinstance(last, ast.Expr):
            exec(compile(ast.Module(first, []), "cell", "exec"), names)  # noqa: S102
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)  # noqa: S307
            shown.append(value._repr_html_())
        else:
            exec(compile(ast.Module([*first, last], []), "cell", "exec"), names)  # noqa: S102
    assert len(shown) == 4 and "<svg" in shown[0] and "&lt;svg" in shown[1]
    assert "VERIFIED" in shown[2] and shown[3].startswith("<iframe")


def test_examples_are_short() -> None:
    code = [x for x in (EXAMPLES / "sweep.py").read_text().splitlines() if x and x[0] != '"']
    cells = json.loads((EXAMPLES / "sweep.ipynb").read_text())["cells"]
    lines = [
        x for cell in cells if cell["cell_type"] == "code" for x in cell["source"] if x.strip()
    ]
    assert len(code) <= 15 and len(lines) <= 15
