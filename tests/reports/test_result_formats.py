from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.support.report_models import EVIL, evil, heater
from workbench.abstraction.verification_settings import VerificationSettings
from workbench.models.load import load
from workbench.models.model import Model
from workbench.reports.analysis import Settings, analyse
from workbench.reports.data.report import report_data
from workbench.reports.data.verdict import assumptions
from workbench.reports.result_formats import arch_csv, junit, sarif


def data_of(model: Model) -> dict[str, Any]:
    settings = Settings(VerificationSettings(time_limit=20.0), runs=3, until=8.0)
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


ODD = ('two\nlines & "quotes"', "Größe ≤ 3 \U0001f697", "bell\x07, half \ud83d", "=1+1,;'\t")


@pytest.fixture(scope="module")
def odd() -> list[dict[str, Any]]:
    models = [heater(bound=21, claim=name, title=f"m{i}") for i, name in enumerate(ODD)]
    return [data_of(model) for model in models]


def test_odd_names_survive_every_format(odd: list[dict[str, Any]]) -> None:
    """Every name is read back as it was; what XML cannot hold is replaced."""
    text = junit(odd).encode()
    root = ElementTree.fromstring(text)
    names = [str(case.get("name")) for case in root.iter("testcase")]
    assert names == [ODD[0], ODD[1], "bell\ufffd, half \ufffd", ODD[3]]
    assert [root.get(k) for k in ("tests", "failures", "errors", "skipped")] == list("4400")
    log = json.loads(json.dumps(sarif(odd)))
    told = [r["message"]["text"] for r in log["runs"][0]["results"]]
    assert all(repr(name) in line for name, line in zip(ODD, told, strict=True))
    rows = list(csv.DictReader(io.StringIO(arch_csv(odd), newline="")))
    assert [r["instance"] for r in rows] == list(ODD)


def test_sarif_keeps_the_rules_of_its_schema(odd: list[dict[str, Any]]) -> None:
    """What the schema of SARIF 2.1.0 demands of the parts that are written."""
    for name, data in zip(("sub dir/m.charon:Agent", "/abs/m.charon", "m"), odd, strict=False):
        data["model"]["label"] = name
        data["properties"][0]["line"] = ["m ä.charon", 3]
    log = sarif(odd)
    assert log["version"] == "2.1.0" and log["$schema"].endswith("sarif-2.1.0.json")
    (run,) = log["runs"]
    driver = run["tool"]["driver"]
    assert driver["name"] and isinstance(driver["version"], str)
    rules = [rule["id"] for rule in driver["rules"]]
    assert len(set(rules)) == len(rules)
    places = []
    for result in run["results"]:
        assert result["ruleId"] in rules and result["message"]["text"]
        assert result["level"] in ("none", "note", "warning", "error")
        for location in result.get("locations", []):
            place = location["physicalLocation"]
            assert place["region"]["startLine"] >= 1
            places.append(place["artifactLocation"]["uri"])
    file = "m%20%C3%A4.charon"
    assert places == [f"sub%20dir/{file}", f"file:///abs/{file}", file]


def test_counts_of_junit_are_those_of_its_cases(odd: list[dict[str, Any]]) -> None:
    """A falsified property whose verdict is contradicted is an error and no failure; so is a
    certificate that was rejected when it was read back."""
    broken, rejected = (json.loads(json.dumps(data)) for data in odd[:2])
    name = broken["properties"][0]["name"]
    one = {"run": 0, "claim": name, "sentence": "It does not.", "margin": None, "place": None}
    broken["crosscheck"]["contradictions"] = [one, one]
    rejected["properties"][0]["verdict"]["outcome"] = "verified"
    rejected["properties"][0]["certificate_check"] = {"accepted": False, "why": "row 3"}
    root = ElementTree.fromstring(junit([broken, rejected, odd[2]]).encode())
    for suite in (root, *root.findall("testsuite")):
        for count, kind in (("errors", "error"), ("failures", "failure"), ("skipped", "skipped")):
            assert int(str(suite.get(count))) == len(list(suite.iter(kind)))
        assert int(str(suite.get("tests"))) == len(list(suite.iter("testcase")))
    assert root.get("errors") == "2" and root.get("failures") == "1"
    found = [r["ruleId"] for r in sarif([rejected])["runs"][0]["results"]]
    assert found == ["engines-contradict"]
    assert arch_csv([rejected]).splitlines()[1].split(",")[2] == "error"
