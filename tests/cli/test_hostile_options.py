"""Values that no option can mean, targets that cannot be written, and interrupts."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

NOWHERE = "no-such-folder/file.out"


@pytest.mark.parametrize(
    "arguments",
    [
        ("simulate", "x", "--until", "nan"),
        ("simulate", "x", "--rtol", "nan"),
        ("simulate", "x", "--atol", "NaN"),
        ("verify", "x", "--time-limit", "nan"),
        ("verify", "x", "--horizon", "nan"),
        ("verify", "x", "--horizon", "1e999"),
        ("verify", "x", "--step", "1e300"),
        ("verify", "x", "--step", "1e-300"),
        ("verify", "x", "--slices", "inf"),
        ("falsify", "x", "--until", "nan"),
        ("falsify", "x", "--time-limit", "nan"),
        ("falsify", "x", "--abstraction", "nan"),
        ("report", "x", "-o", "o.html", "--time-limit", "nan"),
        ("report", "x", "-o", "o.html", "--until", "nan"),
        ("refine", "x", "--against", "y", "--time-limit", "nan"),
    ],
)
def test_what_is_no_number_is_refused_before_the_model_is_read(
    workbench: Run, arguments: tuple[str, ...]
) -> None:
    result = workbench(*arguments)
    assert result.code == 2
    assert arguments[-2] in result.err
    assert result.out == ""


@pytest.mark.parametrize(
    "arguments",
    [
        ("verify", "x", "--certificate"),
        ("verify", "x", "--trace"),
        ("verify", "x", "--graph"),
        ("falsify", "x", "--trace"),
        ("simulate", "x", "--csv"),
        ("simulate", "x", "--trace"),
        ("simulate", "x", "--plot"),
        ("refine", "x", "--against", "y", "--certificate"),
        ("refine", "x", "--against", "y", "--html"),
        ("abstract", "x", "-o"),
        ("exact", "x", "--plot"),
        ("export", "x", "--to", "json", "-o"),
        ("import", "x", "-o"),
        ("show", "x", "--svg"),
    ],
)
def test_a_target_that_cannot_be_written_is_refused_before_any_work(
    workbench: Run, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    for target in (tmp_path / NOWHERE, tmp_path):
        result = workbench(*arguments, target)
        assert result.code == 2
        assert f"cannot write '{target}'" in result.err


def test_the_formats_of_a_report_are_refused_before_any_work(
    workbench: Run, ball: Path, tmp_path: Path
) -> None:
    page = tmp_path / "o.html"
    result = workbench("report", ball, "-o", page, "--junit", tmp_path / NOWHERE)
    assert result.code == 2
    assert "cannot write" in result.err
    assert not page.exists()


@pytest.mark.parametrize(
    "arguments",
    [("verify", "--certificate"), ("falsify", "--trace"), ("simulate", "--csv"), ("show", "--svg")],
)
def test_a_model_is_never_written_over(
    workbench: Run, ball: Path, arguments: tuple[str, str]
) -> None:
    before = ball.read_text()
    result = workbench(arguments[0], ball, arguments[1], ball)
    assert result.code == 2
    assert "the model being read" in result.err
    assert ball.read_text() == before


def test_two_results_need_two_files(workbench: Run, ball: Path, tmp_path: Path) -> None:
    same = tmp_path / "same.json"
    result = workbench("verify", ball, "--certificate", same, "--trace", same)
    assert result.code == 2
    assert "target of two options" in result.err


@pytest.mark.parametrize(
    ("predicate", "said"),
    [
        ("1", "is not a condition"),
        ("height", "is not a condition"),
        ("height + (speed > 1) > 2", "a number is expected"),
        ("depth > 1", "no variable 'depth'"),
    ],
)
def test_a_predicate_is_a_condition_over_the_models_variables(
    workbench: Run, ball: Path, predicate: str, said: str
) -> None:
    result = workbench("verify", ball, "--predicate", predicate)
    assert result.code == 2
    assert said in result.err


def test_an_empty_file_is_named(workbench: Run, tmp_path: Path) -> None:
    for name in ("empty.charon", "empty.xml"):
        empty = tmp_path / name
        empty.write_text("")
        result = workbench("check", empty)
        assert result.code == 3
        assert result.err.startswith(f"{empty}:1:1: error:")


def test_a_message_about_an_endless_name_ends(workbench: Run, tmp_path: Path) -> None:
    model = tmp_path / "long.charon"
    model.write_text("agent " + "A" * 500_000 + "() { private real x; }")
    result = workbench("check", model)
    assert result.code == 3
    assert len(result.err) < 10_000
    assert "has no behaviour" in result.err


@pytest.mark.parametrize("option", ["--replay", "--compare"])
@pytest.mark.parametrize("text", ["[" * 100_000, "[]", "{}", '{"schema": 3}', "\x00", "1e999"])
def test_what_is_no_trace_is_said_with_its_file(
    workbench: Run, ball: Path, tmp_path: Path, option: str, text: str
) -> None:
    damaged = tmp_path / "trace.json"
    damaged.write_text(text)
    result = workbench("simulate", ball, option, damaged)
    assert result.code == 3
    assert result.err.startswith(f"{damaged}:1:1: error:")
    assert "Error" not in result.err


def test_a_panic_in_a_library_is_a_defect_and_an_interrupted_one_an_interrupt(
    workbench: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    class PanicException(BaseException):
        pass

    for text, code in (("index out of bounds", 6), ("PyErr { type: KeyboardInterrupt }", 130)):

        def panic(*_: object, text: str = text, **__: object) -> None:
            raise PanicException(text)

        monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
        monkeypatch.setattr("workbench.models.load.load", panic)
        result = workbench("check", "platoon")
        assert result.code == code
        assert "Traceback" not in result.err


def test_an_interrupted_proof_says_what_is_known(
    workbench: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    from workbench.abstraction import verification
    from workbench.abstraction.strategies.strategy import Task

    decide = verification.verify

    def second_takes_too_long(task: Task, method: str) -> Any:
        if task.claim.name == "flow within capacity":
            task.progress("drawing circles")
            raise KeyboardInterrupt
        return decide(task, "simulation")

    monkeypatch.setattr(verification, "verify", second_takes_too_long)
    result = workbench("verify", "leaky_tank", "--time-limit", "1")
    assert result.code == 130
    assert "'level between the marks': UNKNOWN" in result.out
    assert "'flow within capacity' undecided (drawing circles)" in result.err
    assert "1 of 2 properties" in result.err
    data = json.loads(workbench("verify", "leaky_tank", "--time-limit", "1", "--json").out)
    assert data["interrupted"] == "flow within capacity"
    assert [r["property"] for r in data["results"]] == ["level between the marks"]


def test_workers_stop_soon_when_nobody_wants_their_runs() -> None:
    from workbench.models.load import load
    from workbench.simulate.many_runs import in_workers
    from workbench.simulate.recipe import Recipe

    runs = in_workers(
        load("bouncing_ball").automaton, Recipe(until=5.0), None, range(1_000_000), workers=2
    )
    assert next(runs).seed == 0
    runs.close()
    assert next(runs, None) is None
