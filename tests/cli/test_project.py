"""Projects: several models, what is expected of them, and where a project file is wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

ROOM = """\
const real outside = 5;
mode Heating() {
  write analog real temp;
  diff { d(temp) == 6 - (temp - outside)/5; }
  inv { temp <= 22 }
}
mode Top() {
  write analog real temp;
  mode on = Heating();
  trans from init to on;
  trans #off from on to on when temp >= 21 do { temp = 18; }
}
agent Room() {
  private analog real temp;
  init { temp in [18, 20]; }
  mode top = Top();
  assert "warm" { temp <= 23 }
  assert "cool" { temp <= 20 }
}
"""

PROJECT = """\
[verify]
time-limit = 120.5

[report]
output = "pages"
runs = 2

[[model]]
path = "room.charon"
expect = { cool = "falsified" }

[[model]]
path = "room.charon:Room"
properties = ["warm"]
parameters = { outside = 7.5 }
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "room.charon").write_text(ROOM)
    (tmp_path / "workbench.toml").write_text(PROJECT)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_project_is_decided_and_compared_with_what_is_expected(
    workbench: Run, project: Path
) -> None:
    result = workbench("verify", "-q")
    assert result.code == 0
    lines = result.out.splitlines()[-4:]
    names = [line.split("  ")[0] for line in lines[:3]]
    assert names == ["room.charon", "room.charon", "room.charon:Room (outside=7.5)"]
    assert "VERIFIED for all time" in lines[0]
    assert "FALSIFIED at time" in lines[1] and "(as expected)" in lines[1]
    assert lines[3] == "3 properties of 2 models: 2 verified, 1 falsified, all as expected"


def test_from_a_folder_below(
    workbench: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "below").mkdir()
    monkeypatch.chdir(project / "below")
    result = workbench("check")
    assert result.code == 0 and "../room.charon: ok" in result.out


def test_the_command_line_goes_before_the_project(workbench: Run, project: Path) -> None:
    result = workbench("verify", "-p", "cool", "--json")
    assert result.code == 10  # expected of the first model, not of the second
    found = json.loads(result.out)["models"]
    assert [[r["property"] for r in one["results"]] for one in found] == [["cool"], ["cool"]]
    assert found[0]["results"][0]["expected"] == "falsified"


def test_a_report_of_the_project(workbench: Run, project: Path) -> None:
    result = workbench("report")
    assert result.code == 0
    assert {path.name for path in (project / "pages").iterdir()} == {
        "index.html",
        "room.html",
        "room-Room-outside-7.5.html",
    }
    data = (project / "pages" / "room-Room-outside-7.5.html").read_text()
    assert '"time_limit": 120.5' in data or '"time_limit":120.5' in data


def test_what_comes_out_otherwise_than_expected(workbench: Run, project: Path) -> None:
    wrong = PROJECT.replace('cool = "falsified"', 'cool = "falsified", warm = "falsified"')
    (project / "workbench.toml").write_text(wrong)
    result = workbench("verify", "-q")
    assert result.code == 5
    assert "(expected: falsified)" in result.out and "1 not as expected" in result.out


def test_a_project_of_one_model_tells_what_comes_out_otherwise(
    workbench: Run, project: Path
) -> None:
    one = 'path = "room.charon"\nproperties = ["warm"]\nmethod = "template"\nexpect = "falsified"'
    (project / "workbench.toml").write_text(f"[[model]]\n{one}\n")
    result = workbench("verify", "-q")
    assert result.code == 5
    assert "(expected: falsified)" in result.out
    assert result.out.endswith("1 property of 1 model: 1 verified, 1 not as expected\n")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "time-limit",
            "time-limt",
            "workbench.toml:1: [verify]: there is no 'time-limt' here; did",
        ),
        ("120.5", '"soon"', "'soon' is not a valid float"),
        ("[[model]]", "[[modell]]", "did you mean 'model'?"),
        ('path = "room.charon"\n', "", "model 1 has no path"),
        ('"falsified"', '"refuted"', "'refuted' is none of verified, falsified, unknown"),
        ("120.5", "= 3", "workbench.toml:2:14: Invalid value"),
        ("runs = 2", "extern = 2", "code to run is named on the command line"),
        ("runs = 2", "runs = true", "is not a text or a number"),
    ],
)
def test_mistakes_have_a_place(
    workbench: Run, project: Path, old: str, new: str, said: str
) -> None:
    (project / "workbench.toml").write_text(PROJECT.replace(old, new))
    result = workbench("report")
    assert result.code == 2 and said in result.err


@pytest.mark.parametrize("verb", ["verify", "check", "report"])
def test_what_is_expected_is_of_properties_that_there_are(
    workbench: Run, project: Path, verb: str
) -> None:
    (project / "workbench.toml").write_text(PROJECT.replace("cool =", "coool ="))
    result = workbench(verb)
    assert result.code == 2
    said = "expect: the model has no property 'coool'; did you mean"
    assert said in result.err and "workbench.toml:" in result.err


def test_one_page_of_a_project_is_in_its_folder(workbench: Run, project: Path) -> None:
    first = PROJECT.split("[[model]]")
    (project / "workbench.toml").write_text("[[model]]".join(first[:2]))
    assert workbench("report").code == 0
    assert [path.name for path in (project / "pages").iterdir()] == ["index.html"]
    (project / "plain").write_text("mine")
    result = workbench("report", "-o", "plain")
    assert result.code == 2 and (project / "plain").read_text() == "mine"
    assert "cannot make the folder 'plain'" in result.err
    assert workbench("report", "-o", "one.html").code == 0 and (project / "one.html").is_file()


def test_without_a_project(workbench: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = workbench("verify")
    assert result.code == 2 and "workbench new NAME" in result.err


def test_one_bad_model_does_not_end_the_others(workbench: Run, project: Path) -> None:
    (project / "bad.charon").write_text("mode {")
    result = workbench("verify", "bad.charon", "room.charon", "-p", "warm")
    assert result.code == 3
    assert "bad.charon: not decided" in result.err
    assert "1 property of 2 models: 1 verified, 1 model not decided" in result.out
    assert workbench("check", "bad.charon", "room.charon").code == 3


def test_a_new_project_is_in_order(
    workbench: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    made = workbench("new", "room")
    assert made.code == 0 and "cd room && workbench verify" in made.out
    assert f"wrote {Path('room') / 'workbench.toml'}" in made.err
    assert workbench("new", "room").code == 2
    assert workbench("new", "1 room").code == 2
    assert workbench("fmt", "--check", "room/room.charon").code == 0
    monkeypatch.chdir(tmp_path / "room")
    result = workbench("verify", "-q")
    assert result.code == 0 and "all as expected" in result.out
