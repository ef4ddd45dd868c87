from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from models.load import load
from models.model import Model
from reports.analysis import Settings, analyse
from reports.data.report import report_data
from reports.data.verdict import assumptions
from reports.result_formats import arch_csv, junit, sarif
from tests.support.report_models import EVIL, evil, heater


def data_of(model: Model) -> dict[str, Any]:
    settings = Settings(runs=3, until=8.0, time_limit=20.0)
    return report_data(analyse(model, model.name, model.automaton.properties, settings))


@pytest.fixture(scope="module")
def reports() -> list[dict[str, Any]]:
    return [data_of(heater()), data_of(heater(bound=21, title="cold")), data_of(evil())]


def test_junit_has_a_case_for_each_property(reports: list[dict[str, Any]]) -> None:
    root = ElementTree.fromstring(junit(reports).encode())
    suites = root.findall("testsuite")
    assert [s.get("tests") for s in suites] == ["1", "1", "1"]
    assert [s.get("failures") for s in suites] == ["0", "1", "0"]
    cases = root.findall("testsuite/testcase")
    assert [c.get("name") for c in cases] == ["warm", "warm", EVIL[0].replace("\x00", "")]
    failure = cases[1].find("failure")
    assert failure is not None and "broken at time" in str(failure.get("message"))
    assert cases[0].find("failure") is None


def test_junit_tells_contradictions(reports: list[dict[str, Any]]) -> None:
    data = json.loads(json.dumps(reports[0]))
    data["crosscheck"]["contradictions"] = [
        {"run": 0, "claim": "warm", "sentence": "Run 0 leaves.\x07", "margin": -1, "place": None}
    ]
    root = ElementTree.fromstring(junit([data]).encode())
    assert root.find("testsuite/testcase/error") is not None
    assert "error" in arch_csv([data]).splitlines()[1]
    assert sarif([data])["runs"][0]["results"][0]["ruleId"] == "engines-contradict"


def test_sarif_lists_violations_only(reports: list[dict[str, Any]]) -> None:
    log = json.loads(json.dumps(sarif(reports)))
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    (result,) = run["results"]
    assert result["ruleId"] in {rule["id"] for rule in run["tool"]["driver"]["rules"]}
    assert result["level"] == "error" and "broken" in result["message"]["text"]


def test_the_arch_table(reports: list[dict[str, Any]]) -> None:
    rows = list(csv.DictReader(io.StringIO(arch_csv(reports))))
    assert [r["result"] for r in rows] == ["verified", "falsified", "verified"]
    assert list(rows[0]) == ["benchmark", "instance", "result", "time"]
    assert rows[2]["instance"] == EVIL[0] and float(rows[0]["time"]) >= 0


def test_verdicts_about_sliding_models_say_what_they_leave_out(tmp_path: Path) -> None:
    text = """
mode Side(real speed) { write analog real x; diff { d(x) == speed; } }
mode Top() { write analog real x; mode left = Side(1); mode right = Side(-1);
  trans from init to right;
  WORD trans from left to right when x >= 0;
  WORD trans from right to left when x <= 0; }
agent Relay() { private analog real x = 1; mode top = Top(); assert "near" { x <= 2 } }
"""
    path = tmp_path / "relay.charon"
    for word, said in (("sliding", True), ("urgent", False)):
        path.write_text(text.replace("WORD", word))
        assert any("sliding" in a for a in assumptions(load(path))) == said
