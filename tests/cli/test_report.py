"""`workbench report`: files, exit codes, and a loud end where engines contradict each other."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import click
import pytest

Run = Callable[..., Any]

ROOM = """\
mode On() { write analog real t; diff { d(t) == 3 - t/10; } inv { t <= 22 } }
mode Off() { write analog real t; diff { d(t) == -t/10; } inv { t >= 18 } }
mode Top() {
  write analog real t;
  mode on = On();
  mode off = Off();
  trans from init to on;
  trans #enough from on to off when t >= 22;
  trans #cold from off to on when t <= 18;
}
agent Room() {
  private analog real t;
  init { t in [19, 20]; }
  mode top = Top();
  assert "warm" { t < BOUND }
}
"""
QUICK = ("--runs", 4, "--until", 6, "--time-limit", 20)


@pytest.fixture
def rooms(tmp_path: Path) -> tuple[Path, Path]:
    warm, cold = tmp_path / "warm.charon", tmp_path / "cold.charon"
    warm.write_text(ROOM.replace("BOUND", "30"))
    cold.write_text(ROOM.replace("BOUND", "21"))
    return warm, cold


def test_one_model_gives_one_file(workbench: Run, rooms: tuple[Path, Path], tmp_path: Path) -> None:
    page = tmp_path / "new" / "page.html"
    result = workbench("report", rooms[0], "-o", page, *QUICK)
    assert result.code == 0
    assert "VERIFIED for all time" in result.out
    assert page.read_text().startswith("<!doctype html>")
    assert [p.name for p in page.parent.iterdir()] == ["page.html"]


def test_what_keeps_runs_from_going_on_is_said_with_each_verdict(
    workbench: Run, rooms: tuple[Path, Path], tmp_path: Path
) -> None:
    rooms[0].write_text(rooms[0].read_text().replace("when t >= 22", "when t >= 23"))
    result = workbench("report", rooms[0], "-o", tmp_path / "page.html", *QUICK)
    head = result.out.splitlines()[0]
    assert "VERIFIED for all time" in head
    assert "; but every simulated run ends blocked" in head and "`on` is stuck where t = 22" in head


@pytest.mark.parametrize(
    ("edge", "code", "said"),
    [
        ("trans #enough from on to off when t >= 22;", 0, "VERIFIED for all time"),
        ("trans #enough from on to off when t >= 23;", 10, "FALSIFIED at time"),
        ("urgent trans #idle from on to on when t >= 21;", 10, "FALSIFIED at time"),
    ],
)
def test_a_report_is_also_about_whether_runs_block(
    workbench: Run, rooms: tuple[Path, Path], tmp_path: Path, edge: str, code: int, said: str
) -> None:
    text = rooms[0].read_text()
    rooms[0].write_text(text.replace("trans #enough from on to off when t >= 22;", edge))
    page = tmp_path / "page.html"
    result = workbench("report", rooms[0], "-o", page, *QUICK, "--never-blocks")
    assert result.code == code, result.err
    assert f"'never blocks': {said}" in result.out and "'warm'" not in result.out


def test_a_page_has_the_picture_of_a_run(
    workbench: Run, rooms: tuple[Path, Path], tmp_path: Path
) -> None:
    """With the panels that are asked for; the run is the counterexample, where there is one."""
    page = tmp_path / "page.html"
    assert workbench("report", rooms[1], "-o", page, "--plot-vars", "t, t:t", *QUICK).code == 10
    drawn = page.read_text().partition('class="course"')[2].partition("</svg>")[0]
    assert "the counterexample" in drawn and 'class="edge"' in drawn
    assert "<style" not in drawn, "the page's policy allows one style sheet"
    refused = workbench("report", rooms[1], "-o", page, "--plot-vars", "t+u", *QUICK)
    assert refused.code == 2 and "no variable `u`" in refused.err.replace("'", "`")


def test_several_models_give_a_folder(
    workbench: Run, rooms: tuple[Path, Path], tmp_path: Path
) -> None:
    folder = tmp_path / "reports"
    junit, sarif, table = (tmp_path / name for name in ("j.xml", "s.sarif", "t.csv"))
    result = workbench(
        "report", *rooms, "-o", folder, *QUICK,
        "--junit", junit, "--sarif", sarif, "--arch-csv", table, "--json",
    )  # fmt: skip
    assert result.code == 10
    data = json.loads(result.out)
    assert data["schema"] == "workbench.report/1"
    assert [r["outcome"] for r in data["reports"]] == ["verified", "falsified"]
    assert sorted(p.name for p in folder.iterdir()) == ["cold.html", "index.html", "warm.html"]
    assert 'href="cold.html"' in (folder / "index.html").read_text()
    assert len(ElementTree.parse(junit).findall("testsuite/testcase/failure")) == 1
    (violation,) = json.loads(sarif.read_text())["runs"][0]["results"]
    place = violation["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == rooms[1].as_uri()
    assert place["region"]["startLine"] == 15
    assert table.read_text().splitlines()[0] == "benchmark,instance,result,time"


EMPTY = "mode Up() { write analog real x; diff { d(x) == 1; } }\n" + (
    "agent Rise() { private analog real x = 0; mode top = Up(); }\n"
)


def test_a_batch_goes_on_after_bad_models(
    workbench: Run, rooms: tuple[Path, Path], tmp_path: Path
) -> None:
    """A model that is rejected, one without a property, a file that is missing."""
    broken, empty = tmp_path / "<b>broken.charon", tmp_path / "empty.charon"
    broken.write_text(ROOM.replace("BOUND", "</script>"))
    empty.write_text(EMPTY)
    junit, sarif, table = (tmp_path / name for name in ("j.xml", "s.sarif", "t.csv"))
    folder = tmp_path / "reports"
    models = (broken, rooms[0], empty, tmp_path / "missing.charon", rooms[1])
    options = ("-o", folder, *QUICK, "--junit", junit, "--sarif", sarif, "--arch-csv", table)
    result = workbench("report", *models, *options)
    assert result.code == 3
    assert "VERIFIED" in result.out and "FALSIFIED" in result.out
    for path in (broken, empty, tmp_path / "missing.charon"):
        assert f"{path}: no report" in result.err
    assert "Traceback" not in result.err
    index = (folder / "index.html").read_text()
    assert index.count("No report") == 3 and index.count('href="') == 2
    assert "the model has no property" in index and "&lt;b&gt;broken" in index
    assert "<b>broken" not in index
    assert len(ElementTree.parse(junit).findall("testsuite/testcase/error")) == 3
    rules = [r["ruleId"] for r in json.loads(sarif.read_text())["runs"][0]["results"]]
    assert sorted(rules) == ["no-report", "no-report", "no-report", "property-violated"]
    assert table.read_text().count(",error,") == 3
    data = json.loads(workbench("report", *models, *options, "--json").out)
    assert [r["outcome"] for r in data["reports"]] == [
        "error", "verified", "error", "error", "falsified",
    ]  # fmt: skip
    assert data["reports"][2]["error"]["kind"] == "unusable"


def test_a_batch_with_a_model_that_has_no_property(
    workbench: Run, rooms: tuple[Path, Path], tmp_path: Path
) -> None:
    empty = tmp_path / "empty.charon"
    empty.write_text(EMPTY)
    result = workbench("report", empty, rooms[0], "-o", tmp_path / "reports", *QUICK)
    assert result.code == 2 and "VERIFIED" in result.out
    assert workbench("report", empty, "-o", tmp_path / "page.html").code == 2
    assert not (tmp_path / "page.html").exists()


def test_a_batch_goes_on_after_a_defect(
    workbench: Run, rooms: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from workbench.reports import analysis

    analyse = analysis.analyse

    def fails_once(model: Any, label: str, *rest: Any) -> Any:
        if "cold" in label:
            raise ZeroDivisionError("a defect")
        return analyse(model, label, *rest)

    monkeypatch.setattr(analysis, "analyse", fails_once)
    folder = tmp_path / "reports"
    result = workbench("report", rooms[1], rooms[0], "-o", folder, *QUICK)
    assert result.code == 6 and "VERIFIED" in result.out
    assert "a defect" in (folder / "index.html").read_text()


def test_models_of_one_name_do_not_overwrite_each_other(
    workbench: Run, rooms: tuple[Path, Path], tmp_path: Path
) -> None:
    folder = tmp_path / "reports"
    workbench("report", rooms[0], rooms[0], "-o", folder, "--runs", 0)
    assert sorted(p.name for p in folder.iterdir()) == ["index.html", "warm-2.html", "warm.html"]


def test_contradicting_engines_end_loudly(
    workbench: Run, rooms: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from workbench.models.checker.covers import Region
    from workbench.models.evidence.polyhedral import PolyhedralProof
    from workbench.models.linear import Form
    from workbench.reports import analysis
    from workbench.reports.claims.claimed_set import polyhedral_set

    too_small = Region("on", (Form({"t": Fraction(1)}, Fraction(-21)),), ((1,),))
    wrong = polyhedral_set(PolyhedralProof((too_small,), ()))
    monkeypatch.setattr(analysis, "_claimed_set", lambda *_: wrong)
    page = tmp_path / "page.html"
    result = workbench("report", rooms[0], "-o", page, *QUICK)
    assert result.code == 6
    assert "engines contradict each other" in result.err
    assert "claimed never to be entered" in result.err
    assert 'data-overall="contradiction"' in page.read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-o", "a.html", "--method", "guess"), "is not one of"),
        (("-o", "a.html", "-p", "wram"), "did you mean 'warm'"),
        ((), "say where to write"),
    ],
)
def test_wrong_commands(
    workbench: Run, rooms: tuple[Path, Path], arguments: tuple[str, ...], message: str
) -> None:
    result = workbench("report", rooms[0], *arguments)
    assert result.code == 2 and message in result.err


def test_several_models_need_a_folder(
    workbench: Run, rooms: tuple[Path, Path], tmp_path: Path
) -> None:
    result = workbench("report", *rooms, "-o", tmp_path / "page.html")
    assert result.code == 2 and "folder" in result.err


def test_the_model_is_not_overwritten(workbench: Run, rooms: tuple[Path, Path]) -> None:
    before = rooms[0].read_text()
    result = workbench("report", rooms[0], "-o", rooms[0])
    assert result.code == 2 and rooms[0].read_text() == before


def test_undecided_properties_are_told_as_a_block(
    workbench: Run, rooms: tuple[Path, Path], tmp_path: Path
) -> None:
    path = rooms[0]
    path.write_text(path.read_text().replace("t < 30", "t*t*t < 10649 + t/1000"))
    result = workbench("report", path, "-o", tmp_path / "page.html", "--method", "template", *QUICK)
    assert result.code == 5
    head, *rest = result.out.splitlines()
    assert head.endswith("'warm': UNKNOWN") and rest
    assert all(line.startswith("  ") for line in rest)
    assert rest[-1].startswith("  hint: ")


def test_names_that_are_no_text_are_written_all_the_same(
    process: Run, rooms: tuple[Path, Path], tmp_path: Path
) -> None:
    """A JSON model may hold half a character, and a file may be named in another encoding."""
    source, folder = tmp_path / "model.json", tmp_path / "pages"
    assert process("export", rooms[0], "--to", "json", "-o", source).code == 0
    odd = tmp_path / "odd\udcff.json"
    odd.write_text(source.read_text().replace('"warm"', '"half \\ud83d <script>\\nnext"'))
    junit, sarif = tmp_path / "j.xml", tmp_path / "s.json"
    formats = ("--junit", junit, "--sarif", sarif)
    result = process("report", odd, rooms[1], "-o", folder, *QUICK, *formats)
    assert result.code == 10
    assert sorted(p.name for p in folder.iterdir()) == ["cold.html", "index.html", "odd-.json.html"]
    cases = list(ElementTree.parse(junit).getroot().iter("testcase"))
    assert cases[0].get("name") == "half \ufffd <script>\nnext"
    assert len(json.loads(sarif.read_text())["runs"][0]["results"]) == 1
    assert "half \\ud83d &lt;script&gt;" in (folder / "odd-.json.html").read_text()


def test_a_report_takes_what_verify_takes(
    workbench: Run, rooms: tuple[Path, Path], tmp_path: Path
) -> None:
    options = {name for name in _options("verify") if name not in ("certificate", "trace_file")}
    assert options - {"graph_file", "model"} <= _options("report")
    page, text = tmp_path / "page.html", rooms[0].read_text()
    rooms[0].write_text(text.replace("Room()", "Room(real low = 19)").replace("[19,", "[low,"))
    result = workbench(
        "report", rooms[0], "-o", page, "-P", "low=18.5", "--horizon", "5/2", "--runs", 2,
        "--method", "abstraction", "--predicate", "t >= 20", "--slices", "0.5", "--seed", 7,
        "--time-limit", 20,
    )  # fmt: skip
    assert result.code == 0, result.err
    (data,) = re.findall(r'id="report-data"[^>]*>(.*?)</script>', page.read_text(), re.DOTALL)
    settings = json.loads(data)["settings"]
    assert settings == settings | {
        "method": "abstraction", "horizon": "5/2", "until": 2.5, "predicates": ["t >= 20"],
        "slices": "1/2", "seed": 7, "step": None,
    }  # fmt: skip
    assert "predicates" in page.read_text() and "t &gt;= 20" in page.read_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--predicate", "u >= 20"), "there is no variable 'u'"),
        (("--slices", "1"), "--slices: this needs the method abstraction"),
        (("-P", "nowhere=1"), "nowhere"),
        (("--horizon", "-1"), "not a positive number"),
        (("--method", "guess"), "guess"),
    ],
)
def test_options_that_do_not_suit_the_model(
    workbench: Run,
    rooms: tuple[Path, Path],
    tmp_path: Path,
    options: tuple[str, ...],
    message: str,
) -> None:
    page = tmp_path / "page.html"
    result = workbench("report", rooms[0], "-o", page, *options)
    assert result.code in (2, 3)
    assert message in result.err
    assert not page.exists()


def _options(verb: str) -> set[str]:
    from workbench.cli.commands import group

    command = group.get_command(click.Context(group), verb)
    assert command is not None
    return {param.name or "" for param in command.params}
