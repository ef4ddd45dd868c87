"""Reports in a real browser: no network, no errors, and views that move together."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.opened_page import opened, text
from tests.support.report_models import evil, heater
from workbench.models.certificates.standalone import StandaloneCertificate, read_certificate
from workbench.models.load import load, load_text

MAX_BYTES = 2_000_000
MAX_SECONDS = 1.0


def loading_seconds(page: Any) -> float:
    """The time from asking for the page to a page that is complete; the machine may be busy
    with other things, so ask several times."""
    page.reload()
    page.wait_for_selector("body.ready")
    return float(page.evaluate("performance.getEntriesByType('navigation')[0].domComplete")) / 1000


@pytest.mark.slow
@pytest.mark.parametrize("name", ["platoon", "platoon_saturated"])
@pytest.mark.parametrize(("width", "scheme"), [(1400, "light"), (400, "dark")])
def test_library_reports_open_from_disk(
    browser: Any, written: Callable[..., Path], tmp_path: Path, name: str, width: int, scheme: str
) -> None:
    path = written(name, lambda: load(name), time_limit=600.0)
    assert path.stat().st_size < MAX_BYTES
    with opened(browser, path, width, scheme) as page:
        assert min(loading_seconds(page) for _ in range(4)) < MAX_SECONDS
        page.requests[:] = page.requests[:1]
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        outcome = "falsified" if name.endswith("saturated") else "verified"
        assert page.get_attribute("body", "data-overall") == outcome
        assert page.locator(".runs.chosen path.run").count() > 0
        assert page.locator("#time-plot rect.bad").count() == 1
        assert (page.locator("#phase-plot .claimed").count() > 0) == (outcome == "verified")
        picture = page.screenshot(path=tmp_path / "page.png", full_page=True)
        assert struct.unpack(">I", picture[16:20])[0] == width
        check_replay(page)


def check_replay(page: Any) -> None:
    """Stepping moves time, mode, state and log together."""
    page.select_option("#run", "0")
    page.locator("#log button").first.click()
    seen = set()
    for _ in range(3):
        page.click("#next")
        seen.add((text(page, "#clock"), text(page, "#log li.current")))
        assert page.locator("#diagram rect.lit").count() >= 1
        assert page.locator("#source .lit, #source .fired").count() >= 1
        assert page.locator("#crosscheck tr.current").get_attribute("data-run") == "0"
    assert len(seen) == 3


@pytest.fixture
def room(browser: Any, written: Callable[..., Path]) -> Iterator[Any]:
    with opened(browser, written("heater", heater, until=8.0)) as page:
        yield page


PLAY_A_LITTLE = """async () => {
  const clock = document.getElementById('clock'), play = document.getElementById('play');
  const frame = () => new Promise(requestAnimationFrame);
  const before = clock.textContent;
  play.click();
  while (clock.textContent === before) await frame();
  play.click();
  const moved = clock.textContent;
  for (let i = 0; i < 10; i += 1) await frame();
  return [moved, clock.textContent];
}"""
"""What the clock says when it is paused, and some frames later."""


def test_the_replay_steps_and_plays(room: Any) -> None:
    assert text(room, "#clock") == "t = 0"
    assert "on" in text(room, "#where")
    jump = room.locator("#log li.jump").first
    jump.locator("button").click()
    assert "off" in text(room, "#where")
    assert "Jump" in text(room, "#happening") and "guard" in text(room, "#happening")
    assert room.locator("#diagram rect.lit").get_attribute("data-part").endswith("/off")
    room.keyboard.press("k")
    room.keyboard.press("j")
    assert "current" in str(jump.get_attribute("class"))
    before = text(room, "#clock")
    moved, then = room.evaluate(PLAY_A_LITTLE)
    assert before != moved == then, "played, and paused"


def test_axes_switch_and_the_view_moves(room: Any) -> None:
    label = "#phase-plot svg"
    assert room.get_attribute(label, "aria-label") == "x over time"
    before = room.locator("#time-plot .chosen path.run").first.get_attribute("d")
    room.click("#time-plot button[title='Zoom in']")
    zoomed = room.locator("#time-plot .chosen path.run").first.get_attribute("d")
    assert zoomed != before
    room.focus("#time-plot svg")
    room.keyboard.press("0")
    assert room.locator("#time-plot .chosen path.run").first.get_attribute("d") == before
    room.select_option("#phase-plot select[data-axis=x]", "x")
    assert room.get_attribute(label, "aria-label") == "x over x"


def test_one_selection_for_all_views(room: Any) -> None:
    button = room.locator("#crosscheck tr[data-run='3'] button[data-time]").first
    button.click()
    assert room.input_value("#run") == "3"
    time = float(button.get_attribute("data-time"))
    assert text(room, "#clock") == f"t = {time:.5g}"
    assert "run 3" in text(room, "#replay-head")
    assert room.locator("#crosscheck tr.current").get_attribute("data-run") == "3"
    spots = room.locator(".cursor .spot")
    place = [spots.nth(i).get_attribute("cx") for i in range(2)]
    room.locator("#slider").evaluate("e => { e.value = 500; e.dispatchEvent(new Event('input')); }")
    assert place != [spots.nth(i).get_attribute("cx") for i in range(2)]
    location = text(room, "#where")
    assert room.locator(".mode-card.current").get_attribute("data-location") == location


def test_a_click_in_a_plot_selects(room: Any) -> None:
    room.locator("#time-plot svg").evaluate(
        "e => e.scrollIntoView({block: 'center', behavior: 'instant'})"
    )
    spot = room.locator("#time-plot .chosen path.run").nth(1).bounding_box()
    room.mouse.move(spot["x"] + spot["width"] / 2, spot["y"] + spot["height"] / 2)
    assert room.is_visible("#time-plot .tip")
    room.mouse.click(spot["x"] + spot["width"] / 2, spot["y"] + spot["height"] / 2)
    assert text(room, "#clock") != "t = 0"


def test_the_certificate_can_be_saved(room: Any, tmp_path: Path) -> None:
    with room.expect_download() as download:
        room.click("button.save")
    saved = tmp_path / "certificate.json"
    download.value.save_as(saved)
    assert isinstance(read_certificate(saved.read_text()), StandaloneCertificate)
    room.requests[:] = [r for r in room.requests if not r.startswith("blob:")]


def test_a_long_certificate_is_unpacked_when_it_is_saved(
    browser: Any, written: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from workbench.reports.pages import report as html_report

    monkeypatch.setattr(html_report, "PLAIN", 100)
    path = written("packed", heater, until=8.0)
    assert '"charon-workbench/certificate/2"' not in path.read_text()
    with opened(browser, path) as page:
        with page.expect_download() as download:
            page.click("button.save")
        download.value.save_as(tmp_path / "certificate.json")
        page.requests[:] = [r for r in page.requests if not r.startswith("blob:")]
    read_certificate((tmp_path / "certificate.json").read_text())


CHAIN = """
mode Go() { write analog real x; write discrete int n; diff { d(x) == 1; } inv { x <= 2 } }
mode Rest() { write analog real x; write discrete int n; diff { d(x) == 1; } }
mode Top() {
  write analog real x; write discrete int n;
  mode go = Go(); mode seven = Rest(); mode three = Rest(); mode last = Rest();
  trans from init to go;
  trans #first from go to seven when x >= 1 do { n = 7 }
  urgent trans #second from seven to three do { n = 3 }
  urgent trans #third from three to last do { n = 0 }
}
agent Hop() {
  private analog real x; private discrete int n;
  init { x in [0, 0.5]; n = 0; }
  mode top = Top();
  assert "small" { n <= 8 }
}
"""


def test_the_replay_goes_through_states_without_duration(
    browser: Any, written: Callable[..., Path], tmp_path: Path
) -> None:
    model = tmp_path / "chain.charon"
    model.write_text(CHAIN)
    with opened(browser, written("chain", lambda: load(model), until=4.0)) as page:
        seen = []
        for _ in range(4):
            value = page.locator("#state tbody tr").first.locator("td").nth(1)
            seen.append((text(page, "#where"), value.text_content()))
            page.keyboard.press("j")
        assert seen == [("go", "0"), ("seven", "7"), ("three", "3"), ("last", "0")]
        assert page.locator("#time-plot .chosen .jump").count() == 3


def test_quadratic_functions_are_drawn(browser: Any, written: Callable[..., Path]) -> None:
    """The proved set of the bouncing ball, against its energy at places of the plane."""
    with opened(browser, written("ball", lambda: load("bouncing_ball"), runs=3)) as page:
        assert text(page, "#phase-plot .plot-foot") == "Tinted: the proved set, by mode."
        assert page.get_attribute("#phase-plot svg", "aria-label") == "height over velocity"
        ticks = page.evaluate(
            """() => [...document.querySelectorAll('#phase-plot .axes text:not(.axis-name)')].map(
              (t) => [t.getAttribute('text-anchor'), Number(t.textContent.replace('−', '-')),
                      Number(t.getAttribute('x')), Number(t.getAttribute('y'))])"""
        )
        across = [(v, x) for anchor, v, x, _ in ticks if anchor == "middle"]
        up = [(v, y - 4) for anchor, v, _, y in ticks if anchor == "end"]

        def tinted(velocity: float, height: float) -> bool:
            (v0, x0), (v1, x1) = across[0], across[-1]
            (h0, y0), (h1, y1) = up[0], up[-1]
            place = [
                x0 + (velocity - v0) / (v1 - v0) * (x1 - x0),
                y0 + (height - h0) / (h1 - h0) * (y1 - y0),
            ]
            return bool(
                page.evaluate(
                    """([x, y]) => [...document.querySelectorAll('#phase-plot .claimed-group path')]
                      .some((p) => p.isPointInFill(new DOMPoint(x, y)))""",
                    place,
                )
            )

        assert tinted(0.3, 5.1) and tinted(-9.7, 3.1) and tinted(9.7, 3.1)
        assert not tinted(9.7, 8.1) and not tinted(-12.1, 6.1) and not tinted(0.3, -0.2)
        page.click("#time-plot svg")
        assert page.locator("#time-plot .claimed-group path").count() > 10


def test_hostile_names_run_nothing(browser: Any, written: Callable[..., Path]) -> None:
    with opened(browser, written("evil", evil, until=8.0)) as page:
        page.keyboard.press("j")
        page.keyboard.press("j")
        for option in page.locator("#phase-plot select[data-axis=y] option").all():
            page.select_option("#phase-plot select[data-axis=y]", option.get_attribute("value"))
        assert page.evaluate("window.stolen") is None
        assert page.locator("img").count() == 0
        assert "<script>" in text(page, ".card h3")


RESCUED = """
mode Drive() { write analog real gap, speed; diff { d(gap) == -speed; d(speed) == 0; } }
agent Car() {
  private analog real gap, speed;
  init { gap in [50, 90]; speed = 20; }
  mode top = Drive();
  assert "no crash" { gap > 0 } rescue { d(speed) == speed > 0 ? -8 : 0; }
}
"""


def test_plots_show_when_safety_was_lost(browser: Any, written: Callable[..., Path]) -> None:
    path = written("rescued", lambda: load_text(RESCUED), until=20.0, method="simulation")
    with opened(browser, path) as page:
        assert text(page, "#time-plot .lost-label") == "safety lost"
        assert page.locator("#time-plot path.rescued").count() == 1
        assert page.locator("#phase-plot path.rescued").count() == 1
        assert "safety was lost at t = " in text(page, "#verdict .decided")
        near = page.locator("#time-plot .axes text").all_text_contents()
        page.click("#time-plot button[title=Fit]")
        assert page.locator("#time-plot .axes text").all_text_contents() != near
        page.select_option("#run", "1")
        assert page.locator("path.rescued, .lost").count() == 0


def test_printing_hides_the_controls(room: Any) -> None:
    room.emulate_media(media="print")
    assert not room.is_visible("#player")
    assert room.is_visible("#certificate")
    assert not room.is_visible("nav")


def test_narrow_windows_do_not_scroll_sideways(browser: Any, written: Callable[..., Path]) -> None:
    with opened(browser, written("heater", heater, until=8.0), 400) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= 400


def test_a_refinement_page_needs_no_script(browser: Any, tmp_path: Path) -> None:
    from workbench.abstraction.refinement.flat import Settings as Search
    from workbench.abstraction.refinement.proof_tree import prove_refinement
    from workbench.reports.pages.refinement import Comparison, refinement_page

    path = tmp_path / "proof.html"
    model = load("platoon_any_length", agent="Vehicle")
    proof = prove_refinement(model, model, Search())
    page = Comparison("a", "b", model, model, proof, proof.step, proof.holds)
    path.write_text(refinement_page(page), encoding="utf-8")
    for width in (1400, 400):
        context = browser.new_context(viewport={"width": width, "height": 900})
        shown = context.new_page()
        complaints: list[str] = []
        shown.on("console", lambda message, seen=complaints: seen.append(message.text))
        shown.goto(path.as_uri())
        assert shown.locator(".tree li").count() >= 1
        assert shown.evaluate("document.documentElement.scrollWidth") <= width
        assert complaints == []
        context.close()


def test_the_refinement_history_is_told(browser: Any, written: Callable[..., Path]) -> None:
    path = written("heater_abstraction", heater, until=8.0, method="abstraction", time_limit=600.0)
    with opened(browser, path) as page:
        assert "refinement history" in text(page, "#graph")
        assert page.locator("#graph tbody tr").count() >= 1


DRIVEN = """
const real drag in [0.4, 0.6];
mode Drive() {
  write analog real v, x;
  read analog real throttle;
  diff { d(v) == throttle - drag*v; d(x) == v; }
}
mode CarTop() {
  write analog real v, x;
  read analog real throttle;
  mode go = Drive();
  trans from init to go;
}
agent Car() {
  read analog real throttle in [-1, 3];
  write analog real v, x;
  init { v in [0, 1]; x = 0; }
  mode top = CarTop();
  assert "slow" { v <= 4 }
}
"""


def test_inputs_parameters_and_the_only_submode_are_shown(
    browser: Any, written: Callable[..., Path], tmp_path: Path
) -> None:
    model = tmp_path / "driven.charon"
    model.write_text(DRIVEN)
    with opened(browser, written("driven", lambda: load(model), until=8.0)) as page:
        assert page.get_attribute("body", "data-overall") == "falsified"
        state = {
            row.locator("td").first.text_content(): row.locator("td").nth(1).text_content()
            for row in page.locator("#state tbody tr").all()
        }
        assert state["throttleinput"] == "3", "the counterexample drives as fast as it can"
        assert 0.4 <= float(state["dragparameter"]) <= 0.6
        lit = page.locator("#diagram rect.lit")
        assert [r.get_attribute("data-part") for r in lit.all()] == ["Car/go"]
        page.select_option("#time-plot select", "throttle")
        assert page.get_attribute("#time-plot svg", "aria-label") == "throttle over time"
        assert page.locator("#time-plot .chosen path.run").count() >= 1
        page.select_option("#phase-plot select[data-axis=x]", "drag")
        assert page.locator("#phase-plot .runs path.run").count() >= 1
        runs = page.evaluate("JSON.parse(document.getElementById('report-data').textContent).runs")
        assert all("throttle" in s["values"] for run in runs for s in run["stretches"])


LAMP = """
mode Dark() {
  write analog real x; write discrete enum { red, green } light;
  diff { d(x) == 1; } inv { x <= 3 }
}
mode LampTop() {
  write analog real x; write discrete enum { red, green } light;
  mode dark = Dark(); mode bright = Dark();
  trans from init to dark;
  trans #switch from dark to bright when x >= 1 do { light = green; }
}
agent Lamp() {
  private analog real x = 0; private discrete enum { red, green } light = red;
  mode top = LampTop();
  assert "red" { light == red }
}
"""


def test_values_of_enumerations_are_shown(
    browser: Any, written: Callable[..., Path], tmp_path: Path
) -> None:
    model = tmp_path / "lamp.charon"
    model.write_text(LAMP)
    with opened(browser, written("lamp", lambda: load(model), until=2.5)) as page:
        value = page.locator("#state tbody tr").first.locator("td").nth(1)
        assert value.text_content() == "red"
        page.keyboard.press("j")
        page.keyboard.press("j")
        assert value.text_content() == "green"
        marks = page.locator("#time-plot .axes text:not(.axis-name)").all_text_contents()
        assert "red" in marks and "green" in marks
        assert "broken" in text(page, "#crosscheck td.broken")


def test_what_can_be_scrolled_says_so(browser: Any, written: Callable[..., Path]) -> None:
    """A shade at the edge of what is wider than the window."""
    with opened(browser, written("heater", heater, until=8.0), 400) as page:
        table = page.locator("#crosscheck .scroll")
        wide, seen = table.evaluate("e => [e.scrollWidth, e.clientWidth]")
        assert wide > seen
        assert "linear-gradient" in table.evaluate("e => getComputedStyle(e).backgroundImage")
