"""Runs in the studio: their moments, their reasons, the proof over them, what is saved of them."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

import workbench
from tests.studio.opened_studio import Studio
from workbench.models.catalogue import path

TANK = """\
mode Filling() {
  write analog real level;
  diff { d(level) == 1; }
  inv { level <= 8 }
}

mode Draining() {
  write analog real level;
  diff { d(level) == -1; }
  inv { level >= 2 }
}

mode Top() {
  write analog real level;
  mode filling = Filling();
  mode draining = Draining();
  trans from init to filling;
  trans #full from filling to draining when level >= 8;
  trans #low from draining to filling when level <= 2;
}

agent Tank(real start = 4) {
  private analog real level;
  init { level = start; }
  mode top = Top();
  assert "no overflow" { level <= 9 }
  assert "half" { level <= 6 }
}
"""

WIDER = TANK.replace("d(level) == 1;", "d(level) in [0.5, 1.5];")


@pytest.fixture
def project(project: Path) -> Path:
    (project / "tank.charon").write_text(TANK)
    return project


@pytest.fixture
def tank(studio: Studio) -> Studio:
    studio.open("tank.charon")
    studio.wait_for_runs(6)
    return studio


def downloaded(page: Any, button: str) -> str:
    with page.expect_download() as download:
        page.locator(".plot-tools").get_by_text(button, exact=True).click()
    return Path(download.value.path()).read_text("utf-8")


def test_why_it_did_not_jump_and_why_it_did(tank: Studio) -> None:
    page = tank.page
    page.click(".why summary")
    tank.look_at(0.1)  # of 20: the level is 6
    page.wait_for_selector(".why .edge:has-text('full'):has-text('lacks')")
    level = float(tank.values()["level"])
    lacking = page.text_content(".why .edge:has-text('full') .lacking")
    assert float(lacking.removeprefix("lacks ")) == pytest.approx(8 - level, abs=1e-3)
    assert page.locator(".why .edge").count() == 1  # of the mode that is active
    page.focus(".plots canvas")
    page.keyboard.press("PageDown")  # to the event
    page.wait_for_selector(".why .edge:has-text('low'):has-text('lacks')")
    assert "full" in page.text_content(".last-event")
    assert tank.values()["level"] == "8"


def test_a_proved_invariant_is_drawn_over_the_runs(tank: Studio) -> None:
    page = tank.page
    tank.decide("Verify")
    card = tank.verdict("no overflow", "verified")
    tank.tab("run")
    green = """(() => {
      const shown = document.querySelector('.plots canvas'), { width, height } = shown;
      const canvas = Object.assign(document.createElement('canvas'), { width, height });
      const g = canvas.getContext('2d', { willReadFrequently: true });
      g.drawImage(shown, 0, 0);
      const { data } = g.getImageData(0, 0, width, height);
      let found = 0;
      for (let i = 0; i < data.length; i += 4)
        if (data[i + 3] > 0 && data[i + 3] < 90 && data[i + 1] > data[i] + 40) found += 1;
      return found; })()"""
    tank.painted()
    before = page.evaluate(green)
    tank.tab("decide")
    card.get_by_text("Draw over the runs").click()
    tank.tab("run")
    page.wait_for_selector(".plot-tools :text('Invariant of “no overflow”')")
    tank.until(f"{green} > {before} + 5000")
    page.click(".plot-tools :text('Invariant of “no overflow”')")
    tank.until(f"{green} === {before}")


def test_why_a_transition_whose_guard_holds_is_not_taken(tank: Studio) -> None:
    page = tank.page
    tank.replace("level >= 8", "level >= 1")
    tank.replace("level >= 2", "level >= 6")
    page.click(".why summary")
    tank.look_at(0.05)
    page.wait_for_selector(".why .edge:has-text('level >= 1') .blocked:has-text('invariant')")
    missed = page.locator(".why .edge .lacks")
    assert "level >= 6" in missed.text_content()
    assert page.locator(".why .edge.enabled").count() == 0


def test_a_value_is_shown_as_it_was_written(tank: Studio) -> None:
    page = tank.page
    start = page.locator("input[aria-label='start, value']")
    start.fill("4.1234567")
    start.press("Enter")
    page.wait_for_selector(".quantity.set")
    assert start.input_value() == "4.1234567"
    for no_number in ("1e400", "four"):
        start.fill(no_number)
        start.press("Enter")
        tank.until("document.querySelector(\"[aria-label='start, value']\").value === '4'")
    assert page.locator(".quantity.set, .banner").count() == 0


def test_what_is_being_typed_stays_whatever_comes_meanwhile(tank: Studio, project: Path) -> None:
    start = tank.page.locator("input[aria-label='start, value']")
    start.fill("6")
    (project / "tank.charon").write_text(TANK.replace("start = 4", "start = 5"))
    tank.until("document.querySelector('#q-parameters-start').value === '5'")
    assert start.input_value() == "6"
    start.press("Enter")
    tank.until("document.querySelector('#q-parameters-start').value === '6'")


def test_a_replayed_run_of_another_text_says_so(tank: Studio) -> None:
    page = tank.page
    tank.decide("Falsify")
    tank.verdict("half", "falsified").get_by_text("Replay the counterexample").click()
    page.wait_for_selector(".banner.falsified")
    assert page.locator(".banner .stale-mark").count() == 0
    tank.replace("level <= 6", "level <= 7")
    page.wait_for_selector(".banner .stale-mark")


def test_what_was_found_with_other_values_says_so(tank: Studio) -> None:
    page = tank.page
    tank.replace("level <= 9", "level <= 8.5")  # what other tests have found is stale
    start = page.locator("input[aria-label='start, value']")
    start.fill("7")
    start.press("Enter")
    tank.tab("decide")
    page.check("text=with the parameters of the sliders (start = 7)")
    page.uncheck(".properties :text('half')")
    tank.decide("Verify")
    card = tank.verdict("no overflow", "verified", "with start = 7")
    # It is no verdict on the model as it is written.
    for place in (".properties .badge", ".inlay.verified", "[data-path='tank.charon'] .verified"):
        assert page.locator(f"{place}:not(.stale)").count() == 0
    card.get_by_text("Draw over the runs").click()
    tank.tab("run")
    page.wait_for_selector(".plot-tools .pressed:text('Invariant of “no overflow”')")
    start.fill("5")
    start.press("Enter")
    page.wait_for_selector(".plot-tools .missed:text('of another start')")


def test_the_tree_tells_what_nobody_has_asked(studio: Studio, project: Path) -> None:
    (project / "cistern.charon").write_text(TANK.replace("level <= 9", "level <= 8.7"))
    page = studio.page
    page.wait_for_selector("[data-path='cistern.charon']")
    studio.open("cistern.charon")
    studio.tab("decide")
    page.uncheck(".properties :text('half')")
    studio.decide("Verify")
    studio.verdict("no overflow", "verified")
    dot = page.locator("[data-path='cistern.charon'] .dot.partly")
    dot.wait_for()
    assert dot.get_attribute("title") == "1 verified, 1 not asked"


def test_what_is_saved_is_what_was_run(tank: Studio) -> None:
    page = tank.page
    table = list(csv.reader(io.StringIO(downloaded(page, "CSV"))))
    assert table[0] == ["time", "level"]
    run = workbench.load(tank.file("tank.charon")).simulate(until=20, stop_on_violation=False)[0]
    jumps = {event.time for event in run.jumps}
    for row in table[1:]:
        time, level = map(float, row)
        if time not in jumps:
            assert level == pytest.approx(run.at(time)["level"], abs=1e-6)
    traces = json.loads(downloaded(page, "JSON"))
    assert len(traces["runs"]) == 6 and traces["request"]["until"] == 20
    jumped = [e["label"] for e in traces["runs"][0]["events"] if e["type"] == "jump"]
    assert jumped[:2] == ["full", "low"]


def test_a_trace_of_the_project_is_replayed(tank: Studio) -> None:
    page = tank.page
    model = workbench.load(tank.file("tank.charon"), start=5)
    model.falsify("half")[0].save(tank.file("half.json"))
    tank.file("other.json").write_text('{"model": "tank"}')
    page.click(".group-head:has-text('Other')")
    page.click("[data-path='half.json']")
    page.wait_for_selector(".banner.recorded:has-text('half.json'):has-text('breaks “half”')")
    tank.until("document.querySelector('.plots canvas').dataset.runs === '1'")
    page.wait_for_selector(".file-tab.chosen:has-text('tank.charon')")
    page.focus(".plots canvas")
    page.keyboard.press("End")
    page.wait_for_selector(".active-modes:has-text('filling')")
    assert float(tank.values()["level"]) == pytest.approx(6, abs=0.1)
    tank.go("agent:Tank", "mode:top")
    page.wait_for_selector("[data-node='mode:filling'].lit")
    page.wait_for_selector(".cm-line.lit-line:has-text('mode filling')")
    page.click(".banner.recorded button")
    tank.wait_for_runs(6)
    # A run that is seen can be kept, and looked at on a phase plot as well.
    page.click(".plot-tools button:text-is('Keep')")
    page.click("[data-path='traces/tank-1.trace.json']")
    page.wait_for_selector(".banner.recorded:has-text('tank-1.trace.json')")
    tank.until("document.querySelector('.time').textContent === 't = 0'")
    page.click(".plot-tools button:text-is('Phase')")
    page.locator(".plots canvas").click()
    tank.until("document.querySelector('.time').textContent !== 't = 0'")
    page.click(".plot-tools button:text-is('Stacked')")
    page.click(".banner.recorded button")
    # It is a run of this text only.
    tank.replace("diff { d(level) == 1; }", "diff { d(level) == 2; }")
    page.click("[data-path='half.json']")
    page.wait_for_selector(".notice.error:has-text('it is a run of Tank with start = 5')")
    page.click("[data-path='other.json']")  # no trace: a text
    page.wait_for_selector(".file-tab.chosen:has-text('other.json')")


def test_the_clocks_of_agents_are_shown(studio: Studio, project: Path) -> None:
    (project / "cars.charon").write_text(path("spiral_cars").read_text())
    page = studio.page
    page.wait_for_selector("[data-path='cars.charon']")
    studio.open("cars.charon")
    studio.wait_for_runs(6)
    picture = "document.querySelector('.plots canvas').toDataURL()"
    before = page.evaluate(picture)
    page.check(".choices :text('agents on their own clocks') input")
    studio.until(f"{picture} !== {json.dumps(before)}")
    studio.look_at(0.5)
    page.wait_for_selector(".steps tr >> nth=1")
    assert page.locator(".steps th").all_text_contents() == ["left", "right"]
    steps = [float(size) for size in page.locator(".steps td").all_text_contents()]
    assert all(0 < size < 1 for size in steps)


def test_an_agent_is_run_alone(studio: Studio, project: Path) -> None:
    whole = "agent Works() {\n  private analog real height;\n  agent tank = Tank(5) [ level := height ];\n}\n"
    (project / "works.charon").write_text(TANK.replace("private analog", "write analog") + whole)
    page = studio.page
    page.wait_for_selector("[data-path='works.charon']")
    studio.open("works.charon")
    studio.until("document.querySelector('.legend')?.textContent === 'height'")
    page.locator(".lens button:text-is('simulate')").first.click()
    studio.until("document.querySelector('.legend')?.textContent === 'level'")
    assert page.input_value("[data-choice='agent']") == "Tank"
    studio.go("agent:Tank", "mode:top")
    studio.look_at(0.5)
    page.wait_for_selector(".node.lit")
    studio.tab("decide")
    page.uncheck(".properties :text('half')")
    studio.decide("Verify")
    studio.verdict("no overflow", "verified", "with agent Tank")
    page.select_option("[data-choice='agent']", "")
    studio.tab("run")
    studio.until("document.querySelector('.legend')?.textContent === 'height'")


def test_a_model_refines_a_looser_one_and_not_the_other_way(tank: Studio, project: Path) -> None:
    (project / "wider.charon").write_text(WIDER)
    page = tank.page
    page.wait_for_selector("[data-path='wider.charon']")

    def compare(other: str) -> None:
        tank.tab("decide")
        if not page.is_visible(".decide button:text-is('Compare')"):
            page.click(".decide summary:has-text('Refines another model')")
        page.select_option(".decide .more select:has(option:text-is('choose'))", other)
        page.click(".decide button:text-is('Compare')")

    compare("wider.charon")
    card = page.locator(".card:has-text('wider.charon')")
    card.locator(".badge.verified:text-is('refines')").wait_for()
    href = card.get_by_text("Certificate").get_attribute("href")
    assert href is not None and href.endswith(".certificate.json")
    tank.open("wider.charon")
    compare("tank.charon")
    page.wait_for_selector(".card:has-text('tank.charon') .badge.falsified:text-is('refuted')")
