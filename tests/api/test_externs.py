"""Functions from outside: given by the user, never by the model."""

from __future__ import annotations

from pathlib import Path

import pytest

import workbench

TEXT = """
extern real pull(real) from "weights.py";
mode Top() { write analog real x; read analog real y; diff { d(x) == -pull(x); } }
mode Seen() { read analog real x; write analog real y; alge { y == 2*pull(x); } }
agent Inner() { write analog real x = 1; read analog real y; mode top = Top(); }
agent Meter() { read analog real x; write analog real y; mode top = Seen(); }
agent A() {
  private analog real x, y;
  agent inner = Inner();
  agent meter = Meter();
  assert "positive" { x > 0.2 }
}
"""


def test_functions_come_by_name() -> None:
    model = workbench.load(TEXT, externs={"pull": lambda x: x})
    run = model.simulate(until=1)[0]
    assert run.final["x"] == pytest.approx(0.367879, abs=1e-5)
    assert run.at(0.5)["y"] == pytest.approx(2 * run.at(0.5)["x"])
    assert model.with_parameters().simulate(until=1)[0].final == run.final


def test_functions_come_from_a_module_or_a_file(tmp_path: Path) -> None:
    import math

    text = TEXT.replace("pull", "sin")
    assert workbench.load(text, externs=math).simulate(until=1)[0].final["x"] < 0.45
    file = tmp_path / "weights.py"
    file.write_text("def pull(x):\n    return 0.5*x\n\ndef other(x):\n    return 0\n")
    model = workbench.load(TEXT, externs=file)
    assert model.simulate(until=1)[0].final["x"] == pytest.approx(0.60653, abs=1e-4)


def test_a_model_alone_runs_no_code(tmp_path: Path) -> None:
    (tmp_path / "weights.py").write_text("raise SystemExit('run')\n")
    path = tmp_path / "model.charon"
    path.write_text(TEXT)
    model = workbench.load(path)
    with pytest.raises(workbench.ModelError, match="no such function was given") as caught:
        model.simulate(until=1)
    assert "--extern" in str(caught.value)


def test_what_is_missing_or_wrong_is_told(tmp_path: Path) -> None:
    with pytest.raises(workbench.ModelError, match="did you mean it by `pul`"):
        workbench.load(TEXT, externs={"pul": lambda x: x})
    with pytest.raises(workbench.ModelError, match="declares no function `push`"):
        workbench.load(TEXT, externs={"pull": abs, "push": abs})
    with pytest.raises(workbench.ModelError, match="cannot be called"):
        workbench.load(TEXT, externs={"pull": 3})  # type: ignore[dict-item]
    with pytest.raises(workbench.ModelError, match="there is no Python file"):
        workbench.load(TEXT, externs=tmp_path / "nowhere.py")
    file = tmp_path / "weights.py"
    file.write_text("import math\nmath.sqrt(-1)\n")
    with pytest.raises(workbench.ModelError, match=r"weights.py:2:1: error: running .* failed"):
        workbench.load(TEXT, externs=file)
    file.write_text("def pull(x:\n")
    with pytest.raises(workbench.ModelError, match="SyntaxError"):
        workbench.load(TEXT, externs=file)


def test_searches_and_replays_call_the_functions(tmp_path: Path) -> None:
    model = workbench.load(TEXT, externs={"pull": lambda x: x})
    found = model.falsify(until=3, budget=20, workers=2)
    assert found.is_falsified and found.recheck()
    verdicts = model.verify(horizon=3, time_limit=10)
    assert verdicts.outcome in ("falsified", "unknown")


def test_the_command_line_runs_the_file_that_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from workbench.cli import run

    (tmp_path / "model.charon").write_text(TEXT)
    (tmp_path / "weights.py").write_text("def pull(x):\n    return x\n")
    words = ["simulate", str(tmp_path / "model.charon"), "--until", "1"]
    assert run(words) == 3 and "--extern" in capsys.readouterr().err
    assert run([*words, "--extern", str(tmp_path / "weights.py")]) == 0
    assert run(["verify", words[1], "--horizon", "3", "--extern", str(tmp_path / "weights.py")])
    capsys.readouterr()
    assert run([*words, "--extern", str(tmp_path / "nothing.py")]) == 3
    assert "there is no Python file" in capsys.readouterr().err
    assert run(words) == 3  # the functions are gone again
