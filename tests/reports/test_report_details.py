"""Booleans are true or false wherever a report speaks of them, and bad states know their variables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import workbench
from tests.support.report_models import report_settings
from workbench.models.load import load_text
from workbench.models.trace_files import to_csv
from workbench.reports.analysis import Findings, analyse
from workbench.reports.data.report import report_data
from workbench.reports.pages.report import diagram, render
from workbench.reports.words.inequalities import boolean_names
from workbench.reports.words.invariant_text import invariant_lines

TANK = """
mode Filling() { write analog real h; diff { d(h) == 1; } inv { h <= 9 } }
mode Draining() { write analog real h; diff { d(h) in [-2, -1]; } inv { h >= 2 } }
mode Top() {
  write analog real h;
  write discrete bool pump;
  mode fill = Filling();
  mode drain = Draining();
  trans from init to fill do { pump = true; }
  trans #full from fill to drain when h >= 8 do { pump = false; }
  trans #low from drain to fill when h <= 3 do { pump = true; }
}
agent Tank() {
  private analog real h;
  private discrete bool pump;
  init { h in [4, 5]; pump = true; }
  mode top = Top();
  assert "pump off when high" { !(pump && h > 8.7) }
  assert "pump or low" { pump || h >= 1 && h <= 9 }
  assert "bounded" { abs(h) <= 9.5 }
}
"""


@pytest.fixture(scope="module")
def findings() -> Findings:
    model = load_text(TANK)
    settings = report_settings(runs=4, until=8.0)
    return analyse(model, "tank", model.automaton.properties, settings)


@pytest.fixture(scope="module")
def data(findings: Findings) -> dict[str, Any]:
    return report_data(findings)


def of(data: dict[str, Any], name: str) -> dict[str, Any]:
    return next(p for p in data["properties"] if p["name"] == name)


def test_invariants_say_what_is_true(findings: Findings, data: dict[str, Any]) -> None:
    proved = of(data, "pump or low")
    assert proved["invariant"]["locations"]["fill"] == [["pump"]]
    assert ["pump"] in [node["predicates"] for node in proved["graph"]["nodes"]]
    verdict = next(v for v in findings.verdicts if v.claim == "pump or low")
    booleans = boolean_names(findings.automaton)
    lines = invariant_lines(verdict.certificate.safety, booleans)  # type: ignore[union-attr]
    assert lines[:2] == ["fill:", "  pump"]


def test_booleans_have_no_margin(data: dict[str, Any]) -> None:
    for run in data["crosscheck"]["runs"]:
        holds = run["properties"]["pump or low"]
        assert holds["text"] == "holds" or "h" in holds["place"]["predicate"]
        assert not holds["broken"]
        inside = run["sets"]["pump or low"]
        assert not any("pump" in touch["predicate"] for touch in inside["touched"])
    assert data["crosscheck"]["contradictions"] == []


def test_booleans_are_printed_as_the_language_writes_them(
    findings: Findings, data: dict[str, Any]
) -> None:
    lines = of(data, "pump off when high")["recipe"]["lines"]
    assert "pump = true" in lines[0]["how"]
    assert "True" not in str([run["properties"] for run in data["crosscheck"]["runs"]]).replace(
        "'exact': True", ""
    ).replace("'broken': True", "")
    assert to_csv(findings.runs[0].trace).splitlines()[1].endswith(",true")


def test_bad_states_keep_what_booleans_add(data: dict[str, Any]) -> None:
    bad = of(data, "pump off when high")["bad"]
    assert bad["names"] == ["h", "pump"]
    (case,) = bad["cases"]["fill"]
    assert {name for row in case for _, *names in row for name in names} == {"h", "pump"}


def test_absolute_values_have_bounds(data: dict[str, Any]) -> None:
    shapes = of(data, "bounded")["bad"]["locations"]["fill"]
    assert sorted(str(s["shape"]) for s in shapes) == ["[9.5, None]", "[None, -9.5]"]


def test_the_tint_of_a_flowpipe_holds_every_run() -> None:
    model = load_text(TANK)
    claims = model.automaton.properties[1:2]
    settings = report_settings(method="flowpipe", horizon=8, runs=6)
    data = report_data(analyse(model, "tank", claims, settings))
    drawn = data["properties"][0]["set"]
    assert drawn is not None
    for run, stays in zip(data["runs"], drawn["stays"], strict=True):
        for stretch in run["stretches"]:
            for i, t in enumerate(stretch["t"]):
                column = stretch["values"]["h"]
                value = column[i] if isinstance(column, list) else column
                assert any(
                    node == piece[0]
                    and begin + piece[1] - 1e-6 <= t <= begin + piece[2] + 1e-6
                    and (piece[3] or -1e9) - 1e-4 <= value <= (piece[4] or 1e9) + 1e-4
                    for begin, end, node, location in stays
                    if location == stretch["location"] and begin - 1e-6 <= t <= end + 1e-6
                    for piece in drawn["tubes"]["h"]
                ), (t, value)


def test_how_close_runs_came_is_on_the_card(tmp_path: Path) -> None:
    path = tmp_path / "tank.charon"
    path.write_text(
        TANK.replace('assert "bounded"', 'assert "on" { never blocks }\n assert "bounded"')
    )
    page = workbench.load(path).report(path.with_suffix(".html")).html
    assert "the closest comes within 0.5 of breaking it" in page.replace("8.9999", "9")
    assert "From every reachable state time can pass" in page


def test_without_time_a_page_says_what_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The verdicts stand, with their evidence; nothing else has to."""
    model = load_text(TANK)
    claims, settings = model.automaton.properties, report_settings(runs=4, until=8.0)
    told: list[str] = []
    monkeypatch.setattr("workbench.reports.analysis.COMPARING", 0.0)
    found = analyse(model, "tank", claims, settings, decided=lambda v: told.append(v.claim))
    assert told == [claim.name for claim in claims]
    assert "comparing runs with proofs" in found.left_out
    assert [run.claim for run in found.runs] == ["pump off when high"]
    data = report_data(found)
    assert {p["verdict"]["outcome"] for p in data["properties"]} == {"verified", "falsified"}
    assert of(data, "pump or low")["certificate_check"]["accepted"]
    page = render(data, diagram(found), {}, {}, found.recordings)
    assert "The time limit left no room for checking the certificate again, " in page
