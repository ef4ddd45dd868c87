"""Pictures that are edited: the text says what was drawn and keeps everything else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.studio.opened_studio import Studio

ROOM = """\
// The modes of the heater.
mode On() {
  write analog real temp;
  diff { d(temp) == 1; }  // warms
}

mode Off() {
  write analog real temp;
  diff { d(temp) == -1; }
}

mode Top() {
  write analog real temp;
  mode on  = On();   // kept as it is
  mode off = Off();
  trans from init to on;
  // when it is warm enough
  trans #warm from on to off when temp >= 21;
}

agent Room() {
  private analog real temp;
  init { temp = 20; }
  mode top = Top();
}
"""

Open = Callable[..., Studio]


@pytest.fixture
def project(project: Path) -> Path:
    (project / "room.charon").write_text(ROOM)
    return project


@pytest.fixture
def studio(open_studio: Open) -> Studio:
    studio = open_studio()
    studio.open("room.charon")
    studio.go("agent:Room", "mode:top")
    return studio


def test_each_edit_changes_its_line_and_undo_brings_the_text_back(studio: Studio) -> None:
    page = studio.page
    studio.edge("on->off#warm").locator("text").first.click()
    studio.fill("guard", "temp >= 22")
    studio.fill("reset", "temp = 20")
    studio.connect("mode:off", "mode:on")
    page.wait_for_selector("[data-edge='off->on']", state="attached")
    studio.fill("guard", "temp <= 19")
    studio.node("mode:off").click()
    page.locator(".selection-tools").get_by_text("Rename", exact=True).click()
    studio.answer("resting")
    page.wait_for_selector("[data-node='mode:resting'].chosen")
    studio.fill("invariant", "temp >= 18")
    expected = (
        ROOM.replace(
            "  diff { d(temp) == -1; }\n", "  diff { d(temp) == -1; }\n  inv { temp >= 18 }\n"
        )
        .replace("mode off = Off", "mode resting = Off")
        .replace(
            "  trans #warm from on to off when temp >= 21;\n",
            "  trans #warm from on to resting when temp >= 22 do { temp = 20; }\n"
            "  trans from resting to on when temp <= 19;\n",
        )
    )
    assert studio.text() == expected
    for _ in range(6):
        page.keyboard.press("Control+z")
    page.wait_for_selector("[data-node='mode:off']")
    assert studio.text() == ROOM
    for _ in range(6):
        page.keyboard.press("Control+y")
    assert studio.text() == expected


def test_what_stays_in_the_text_stays_in_its_place(studio: Studio) -> None:
    before = studio.node("mode:on").evaluate("node => node.style.transform")
    studio.replace("trans from init to on;", "trans from init to on;\n  mode third = On();")
    studio.page.wait_for_selector("[data-node='mode:third']")
    assert studio.node("mode:on").evaluate("node => node.style.transform") == before


def test_a_broken_text_keeps_the_last_picture_marked(studio: Studio) -> None:
    studio.replace("mode off = Off();", "mode off = Off(;")
    studio.page.wait_for_selector(".picture.stale [data-node='mode:on']")
    studio.page.wait_for_selector(".diagram .stale-mark")
    studio.replace("mode off = Off(;", "mode off = Off();")
    studio.page.wait_for_selector(".picture:not(.stale) [data-node='mode:on']")


def test_the_picture_and_the_text_show_each_other(studio: Studio) -> None:
    studio.edge("on->off#warm").locator("text").first.click()
    shown = studio.page.locator(".cm-line.chosen-line")
    assert shown.all_text_contents() == ["  trans #warm from on to off when temp >= 21;"]
    studio.page.locator(".cm-line", has_text="mode off = Off()").click()
    studio.page.wait_for_selector("[data-node='mode:off'].chosen")


def test_drawing_with_the_keyboard_alone(studio: Studio) -> None:
    page = studio.page
    page.keyboard.press("Alt+3")
    studio.until("document.activeElement?.matches('svg.picture')")
    page.keyboard.press("a")
    studio.answer("spare")
    page.wait_for_selector("[data-node='mode:spare'].chosen")
    page.keyboard.press("Alt+3")
    studio.until("document.activeElement?.matches('svg.picture')")
    page.keyboard.press("c")
    page.wait_for_selector(".picture.connecting")
    page.keyboard.press("Enter")
    page.wait_for_selector("[data-edge='spare->spare']", state="attached")
    studio.until("document.activeElement?.matches('[data-field=guard]')")
    page.keyboard.insert_text("temp >= 30")
    page.keyboard.press("Enter")
    studio.until("document.querySelector('[data-field=guard]').defaultValue === 'temp >= 30'")
    page.keyboard.press("Alt+3")
    studio.until("document.activeElement?.matches('svg.picture')")
    page.keyboard.press("v")
    studio.answer("load")
    page.wait_for_selector(".declared:has-text('real load')")
    page.keyboard.press("Alt+3")
    studio.until("getComputedStyle(document.querySelector('.canvas')).boxShadow !== 'none'")
    text = studio.text()
    assert "  trans from spare to spare when temp >= 30;\n" in text
    assert "real load;\n" in text


def test_what_the_picture_says_is_written_where_it_stands(studio: Studio) -> None:
    page = studio.page

    def write(line: Any, text: str) -> None:
        """What is selected is written at the next click on it."""
        line.click()
        page.wait_for_selector(".chosen")
        page.wait_for_timeout(500)  # two clicks, and no double click
        assert not page.is_visible(".in-place")
        line.click()
        page.wait_for_selector(".in-place input:focus")
        page.keyboard.insert_text(text)
        page.keyboard.press("Enter")
        page.wait_for_selector(".in-place", state="detached")

    write(studio.edge("on->off#warm").locator("text", has_text="temp >= 21"), "temp >= 22")
    write(studio.node("mode:off").locator("text", has_text="d(temp)"), "d(temp) == -2")
    expected = ROOM.replace("temp >= 21", "temp >= 22").replace("== -1;", "== -2;")
    assert studio.text() == expected


def test_a_transition_is_led_elsewhere_also_to_an_inner_point(studio: Studio) -> None:
    page = studio.page
    studio.enter("mode:off")
    studio.add("Entry", "late")
    page.wait_for_selector("[data-node='entry:late'].chosen")
    page.wait_for_selector(".cm-line.chosen-line:has-text('entry late;')")
    page.keyboard.press("Alt+3")
    studio.until("document.activeElement?.matches('svg.picture')")
    page.keyboard.press("u")
    page.wait_for_selector(".crumb[aria-current]:has-text('top')")
    studio.edge("on->off#warm").locator("text").first.click()
    ends = page.locator("select[data-field='target'] option").all_text_contents()
    assert ends == ["on", "off", "off.late"]
    page.select_option("select[data-field='target']", "off.late")
    page.wait_for_selector("[data-edge='on->off.late#warm'].chosen")
    page.select_option("select[data-field='source']", "off")
    page.wait_for_selector("[data-edge='off->off.late#warm'].chosen")
    assert "  trans #warm from off to off.late when temp >= 21;\n" in studio.text()


def test_a_part_may_be_one_of_what_is_defined_already(studio: Studio) -> None:
    page = studio.page
    page.locator(".draw-tools").get_by_text("+ Mode", exact=True).click()
    page.wait_for_selector("dialog select")
    assert page.locator("dialog select option").all_text_contents() == [
        "a new mode",
        "On",
        "Off",
        "Top",
    ]
    page.select_option("dialog select", "Off")
    studio.answer("third")
    page.wait_for_selector("[data-node='mode:third'].chosen")
    expected = ROOM.replace("= Off();\n", "= Off();\n  mode third = Off();\n")
    assert studio.text() == expected


def test_adding_stays_on_the_level_that_is_shown_at_first(open_studio: Open, project: Path) -> None:
    (project / "house.charon").write_text("agent Part() { }\n\nagent House() { }\n")
    studio = open_studio()
    studio.open("house.charon")
    studio.page.wait_for_selector(".crumb[aria-current]:has-text('House')")
    studio.add("Agent", "left")
    studio.page.wait_for_selector("[data-node='agent:left'].chosen")
    assert studio.page.is_visible(".crumb[aria-current]:has-text('House')")


def test_the_picture_is_laid_out_anew_when_asked(studio: Studio) -> None:
    page = studio.page
    first = studio.node("mode:off").evaluate("node => node.style.transform")
    studio.add("Mode", "spare")
    page.wait_for_selector("[data-node='mode:spare']")
    studio.connect("mode:off", "mode:spare")
    page.wait_for_selector("[data-edge='off->spare']", state="attached")
    beside = "document.querySelector(\"[data-node='mode:spare']\").style.transform"
    before = page.evaluate(beside)
    assert studio.node("mode:off").evaluate("node => node.style.transform") == first
    page.click(".draw-tools button:text-is('Tidy')")
    studio.until(f"{beside} !== '{before}'")


def test_every_button_of_the_picture_is_seen(studio: Studio) -> None:
    page = studio.page
    cut = """(() => { const box = document.querySelector('.diagram').getBoundingClientRect();
      return [...document.querySelectorAll('.draw-tools button, .selection-tools button')]
        .filter((one) => one.getBoundingClientRect().right > box.right)
        .map((one) => one.textContent); })()"""
    studio.node("mode:on").click()
    page.wait_for_selector(".selection-tools button:text-is('Delete')")
    assert page.evaluate(cut) == []


def test_a_refused_edit_says_why_and_changes_nothing(studio: Studio) -> None:
    page = studio.page
    studio.edge("on->off#warm").locator("text").first.click()
    field = page.locator("[data-field='guard']")
    field.fill("temp >=")
    field.press("Enter")
    page.wait_for_selector(".line.invalid [data-field='guard']")
    page.wait_for_selector(".notice.error")
    assert studio.text() == ROOM
