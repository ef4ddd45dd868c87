"""What a new user does: from an empty folder to a proved model and its report."""

from __future__ import annotations

from tests.studio.opened_studio import Studio

BEGUN = """\
// A room with a heater. Times are in minutes.
agent Room(real high = 21) {
  private analog real temp;  // degrees
  init { temp in [17, 19]; }
  assert "not too warm" { temp <= 20 }
}
"""


def test_from_an_empty_folder_to_a_report(studio: Studio) -> None:
    page = studio.page
    assert "An empty project" in page.text_content(".welcome")

    # Writing, with the list of what can come next.
    studio.create("room.charon")
    studio.write("// A room with a heater. Times are in minutes.\n")
    studio.expect_next("agent")
    studio.write("Room(real high = 21) {\n  ")
    studio.expect_next("private")
    studio.expect_next("analog")
    studio.expect_next("real")
    studio.write("temp;  // degrees\n  ")
    studio.write('init { temp in [17, 19]; }\n  assert "not too warm" { temp <= 20 }\n}\n')
    assert studio.text() == BEGUN

    # Drawing: modes, transitions, what they say.
    studio.go("agent:Room")
    studio.add("Top mode", "top")
    studio.enter("mode:top")
    studio.add("Mode", "on")
    page.wait_for_selector("[data-node='mode:on']")
    studio.fill("flow", "d(temp) == 1")
    studio.fill("invariant", "temp <= 22")
    studio.add("Mode", "off")
    page.wait_for_selector("[data-node='mode:off']")
    studio.fill("flow", "d(temp) == -1")
    studio.fill("invariant", "temp >= 18")
    studio.connect("init", "mode:on")
    page.wait_for_selector("[data-edge='init->on']", state="attached")
    studio.connect("mode:on", "mode:off")
    page.wait_for_selector("[data-edge='on->off']", state="attached")
    studio.fill("guard", "temp >= 21")
    studio.fill("label", "warm")
    studio.connect("mode:off", "mode:on")
    page.wait_for_selector("[data-edge='off->on']", state="attached")
    studio.fill("guard", "temp <= 19")
    drawn = studio.text()
    assert "// A room with a heater. Times are in minutes.\n" in drawn
    assert "  private analog real temp;  // degrees\n" in drawn
    assert "  trans #warm from on to off when temp >= 21;\n" in drawn
    assert "  diff { d(temp) == -1; }\n" in drawn

    # A slip, said and repaired by its quick fix.
    studio.replace("d(temp) == 1", "d(temp) = 1")
    page.wait_for_selector(".cm-lintRange-error")
    studio.wait_for_errors(1)
    page.focus(".cm-content")
    page.keyboard.press("Control+.")
    studio.wait_for_errors(0)
    assert studio.text() == drawn

    # Runs follow a slider.
    studio.tab("run")
    studio.wait_for_runs()
    studio.look_at(0.5)
    before = studio.values()
    assert set(before) == {"temp"}
    slider = page.locator("[id='q-initial-temp']")
    slider.focus()
    for _ in range(3):
        slider.press("ArrowRight")
    studio.until(f"document.querySelector('.moment td')?.textContent !== '{before['temp']}'")
    studio.wait_for_runs(6)

    # Falsified: the run is replayed through plots, diagram and text.
    studio.decide("Falsify")
    card = studio.verdict("not too warm", "falsified")
    card.get_by_text("Replay the counterexample").click()
    page.wait_for_selector(".banner.falsified")
    assert page.get_attribute(".plots canvas", "data-runs") == "1"
    studio.go("agent:Room", "mode:top")
    studio.look_at(0.5)
    page.wait_for_selector("[data-node='mode:on'].lit")
    page.wait_for_selector(".cm-line.lit-line")
    page.click(".banner.falsified button")

    # Repaired and verified.
    studio.replace("temp <= 20", "temp <= 23")
    page.wait_for_selector(".verdict.falsified.stale, .inlay.falsified.stale")
    studio.decide("Verify")
    card = studio.verdict("not too warm", "verified")
    assert card.get_by_text("Certificate").get_attribute("href")
    page.wait_for_selector(".inlay.verified:not(.stale)")

    # The report, inside the page and in the project.
    studio.decide("Report")
    page.wait_for_selector(".report iframe")
    report = page.frame_locator(".report iframe")
    report.locator("body.ready").wait_for()
    assert "not too warm" in report.locator("body").inner_text()
    report.get_by_text("Check this proof here").click()
    report.get_by_text("accepted by the kernel in this browser").wait_for()
    page.click(".report button")
    page.wait_for_selector("[data-path='reports/room.html']")


def test_tab_takes_what_is_offered_and_indents_where_nothing_is(studio: Studio) -> None:
    page = studio.page
    studio.create("tank.charon")
    studio.write("agent Tank() {\n")
    page.keyboard.type("priv")
    page.wait_for_selector(".cm-tooltip-autocomplete [aria-selected='true']:has-text('private')")
    page.wait_for_timeout(200)  # a list that has just come up does not take a key yet
    page.keyboard.press("Tab")
    page.wait_for_selector(".cm-tooltip-autocomplete", state="detached")
    page.keyboard.press("Tab")
    assert studio.text() == "agent Tank() {\n  private"
