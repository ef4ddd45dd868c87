"""Functions from outside on the command line: what they do wrong is told, never done to us."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

MODEL = """
extern real pull(real);
mode Top() { write analog real x; diff { d(x) == -pull(x); } }
agent A() {
  private analog real x;
  init { x in [1, 1.1]; }
  mode top = Top();
  assert "positive" { x > 0.2 }
}
"""


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.charon").write_text(MODEL)
    return tmp_path


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("    import sys\n    sys.exit(0)", "SystemExit: 0 (f.py:3)"),
        ("    raise GeneratorExit", "GeneratorExit (f.py:2)"),
        ("    class Own(BaseException): pass\n    raise Own('x')", "Own: x (f.py:3)"),
        (
            "    return inner(x)\ndef inner(x):\n    return 1/0",
            "ZeroDivisionError: division by zero (f.py:4)",
        ),
        ("    pass", "TypeError: None is not a number (f.py:1)"),
        ("    return 'a'", "TypeError: 'a' is not a number (f.py:1)"),
    ],
)
@pytest.mark.parametrize(
    "verb",
    [
        ("simulate", "--until", 1),
        ("falsify", "--budget", 3),
        ("verify", "--time-limit", 2, "--jobs", 1),
    ],
)
def test_a_function_that_fails_is_told_with_its_line(
    workbench: Run, model: Path, body: str, said: str, verb: tuple[str, ...]
) -> None:
    (model / "f.py").write_text(f"def pull(x):\n{body}\n")
    name, *options = verb
    result = workbench(name, "m.charon", "--extern", "f.py", *options)
    assert result.code == 5
    assert f"the external function `pull` failed: {said}" in result.out


def test_a_file_that_leaves_is_rejected(workbench: Run, model: Path) -> None:
    (model / "f.py").write_text("import sys\n\nsys.exit(0)\n")
    for verb in ("check", "simulate", "verify"):
        result = workbench(verb, "m.charon", "--extern", "f.py")
        assert result.code == 3
        assert "f.py:3:1: error: running `f.py` failed: SystemExit: 0" in result.err


def test_searches_say_what_they_found_with_the_functions(workbench: Run, model: Path) -> None:
    (model / "f.py").write_text("def pull(x):\n    return x\n")
    found = workbench("falsify", "m.charon", "--extern", "f.py", "--budget", 30, "--json")
    assert found.code == 10 and found.data["counterexample"]["confirmations"]
    (model / "f.py").write_text("def pull(x):\n    return 0.01*x\n")
    for options in ((), ("--json",)):
        found = workbench("falsify", "m.charon", "--extern", "f.py", "--budget", 5, *options)
        assert found.code == 5 and "robustness" in found.out


def test_files_beside_are_found(workbench: Run, model: Path) -> None:
    folder = model / "code"
    folder.mkdir()
    (folder / "weights.py").write_text("HALF = 0.5\n")
    (folder / "later.py").write_text("def twice(x):\n    return 2*x\n")
    (folder / "f.py").write_text(
        "from __future__ import annotations\n"
        "from dataclasses import dataclass\n"
        "from weights import HALF\n"
        "@dataclass\n"
        "class Weights:\n    half: float = HALF\n"
        "def pull(x):\n    from later import twice\n    return twice(Weights().half * x)\n"
    )
    result = workbench("simulate", "m.charon", "--extern", "code/f.py", "--until", 1, "--json")
    assert result.data["runs"][0]["final"]["x"] == pytest.approx(1.05 * 0.367879, abs=1e-4)


def test_what_functions_print_is_no_result(workbench: Run, process: Run, model: Path) -> None:
    (model / "f.py").write_text(
        "print('loaded')\ndef pull(x):\n    print('called')\n    return x\n"
    )
    command = ("simulate", model / "m.charon", "--extern", model / "f.py", "--until", 1, "--json")
    for run in (workbench, process):
        result = run(*command)
        assert result.data["outcome"] == "ok"
        assert "loaded\n" in result.err and "called\n" in result.err


def test_both_systems_of_a_refinement_call_them(workbench: Run, model: Path) -> None:
    (model / "f.py").write_text("def pull(x):\n    return x\n")
    result = workbench(
        *("refine", "m.charon", "--against", "m.charon", "--extern", "f.py", "--time-limit", 5)
    )
    assert result.code != 3 and "missing-extern" not in result.err
