"""`workbench check`, and what every verb does with models that are no models."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

MODEL_VERBS = (["check"], ["show"], ["show", "--locations"], ["export", "--to", "json"])


def test_an_accepted_model(workbench: Run, ball: Path) -> None:
    result = workbench("check", ball)
    assert result.code == 0
    assert result.out == f"{ball}: ok (1 component, 1 location, 2 variables, 1 property)\n"
    assert result.err == ""


def test_quiet_says_nothing_of_an_accepted_model(workbench: Run, ball: Path) -> None:
    result = workbench("check", ball, "--quiet")
    assert (result.code, result.out, result.err) == (0, "", "")


def test_accepted_as_json(workbench: Run, ball: Path) -> None:
    data = workbench("check", ball, "--json").data
    assert data["schema"] == "workbench.check/1"
    assert data["outcome"] == "accepted"
    assert data["variables"] == ["height", "speed"]
    assert data["properties"] == ["stays low"]
    assert data["components"] == [{"name": "Ball", "locations": 1, "edges": 1}]
    assert len(data["model_sha256"]) == 64
    assert data["diagnostics"] == []


def test_parameters_change_the_model_exactly(workbench: Run, ball: Path) -> None:
    shas = {
        workbench("check", ball, "--json", *p).data["model_sha256"]
        for p in ([], ["-P", "drop=10"], ["-P", "drop=0.1"], ["-P", "drop=1/10"])
    }
    assert len(shas) == 2


def test_an_unknown_parameter_is_rejected(workbench: Run, ball: Path) -> None:
    result = workbench("check", ball, "-P", "dorp=3")
    assert result.code == 3
    assert "dorp" in result.err


def test_a_library_model_and_one_of_its_agents(workbench: Run) -> None:
    assert workbench("check", "platoon_paper").code == 0
    result = workbench("check", "platoon_paper:Distance", "--json")
    assert result.code == 0
    assert result.data["inputs"] == ["velFirst", "velOther"]
    assert workbench("check", "platoon_paper:Nobody").code == 3


def test_mistakes_are_shown_with_place_line_and_caret(workbench: Run, tmp_path: Path) -> None:
    bad = tmp_path / "bad.charon"
    bad.write_text("mode M() {\n  write analog real x;\n  diff { d(x) = 1; }\n}\n")
    result = workbench("check", bad)
    assert result.code == 3
    assert result.out == ""
    lines = result.err.splitlines()
    assert lines[0].startswith(f"{bad}:3:15: error: ")
    assert lines[1] == "  3 |   diff { d(x) = 1; }"
    assert lines[2].index("^") == lines[1].index("= 1")


def test_rejection_as_json(workbench: Run, tmp_path: Path) -> None:
    bad = tmp_path / "bad.charon"
    bad.write_text("mode M() {\n  write analog real x;\n  diff { d(x) = 1; }\n}\n")
    result = workbench("check", bad, "--json")
    assert result.code == 3
    assert result.err == ""
    (found,) = result.data["diagnostics"][:1]
    assert found["severity"] == "error"
    assert found["span"]["file"] == str(bad)
    assert (found["span"]["line"], found["span"]["column"]) == (3, 15)


@pytest.mark.parametrize("arguments", MODEL_VERBS)
@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x00\x01\x02\xff",
        b"\xff\xfea\x00g\x00",
        b"{" * 100_000,
        b"agent A() { private analog real x; init { x = 1e999999999; } }",
        b"agent A() {" + b"(" * 50_000,
        b"<sspaceex>",
    ],
    ids=["empty", "binary", "utf-16", "braces", "huge-number", "parentheses", "xml"],
)
def test_hostile_files_are_rejected(
    workbench: Run, tmp_path: Path, arguments: list[str], content: bytes
) -> None:
    path = tmp_path / "hostile.charon"
    path.write_bytes(content)
    result = workbench(arguments[0], path, *arguments[1:])
    assert result.code == 3, result.err[-300:]
    assert result.err.strip()
    assert "Traceback" not in result.err and len(result.err) < 20_000


@pytest.mark.parametrize("arguments", MODEL_VERBS)
@pytest.mark.parametrize("name", ["nowhere.charon", "", "x" * 10_000, "no/such/x.xml", "a\nb"])
def test_models_that_are_not_there(workbench: Run, arguments: list[str], name: str) -> None:
    result = workbench(arguments[0], name, *arguments[1:])
    assert result.code == 3
    assert result.err.strip() and "Traceback" not in result.err


def test_a_folder_is_no_model(workbench: Run, tmp_path: Path) -> None:
    folder = tmp_path / "folder.charon"
    folder.mkdir()
    for given in (tmp_path, folder):
        result = workbench("check", given)
        assert result.code == 3
        assert "folder" in result.err or "directory" in result.err


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission(workbench: Run, ball: Path) -> None:
    ball.chmod(0)
    result = workbench("check", ball)
    assert result.code == 3
    assert "ermission" in result.err


def test_a_misspelt_library_name_gets_a_suggestion(workbench: Run) -> None:
    result = workbench("check", "platon")
    assert result.code == 3
    assert "platoon" in result.err


def test_control_characters_in_a_model_do_not_reach_the_terminal(
    workbench: Run, tmp_path: Path
) -> None:
    path = tmp_path / "m.charon"
    path.write_text('agent A() { assert "\x1b[2J" { \x1b[31m } }')
    result = workbench("check", path)
    assert result.code == 3
    assert "\x1b" not in result.err
