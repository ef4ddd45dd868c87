"""Reports fit their windows, whatever names they hold, and paper."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.browser.opened_page import opened
from tests.support.report_models import heater
from workbench.models.load import load
from workbench.reports.pages.index import index_page
from workbench.simulate.recipe import read_recorded

LONG = "n" * 130
NAMED = f"""
mode Rise() {{ write analog real x; diff {{ d(x) == 1; }} inv {{ x <= 3 }} }}
mode Top() {{ write analog real x; mode rise = Rise(); trans from init to rise; }}
agent A() {{
  private analog real x = 0;
  mode top = Top();
  assert "{LONG}" {{ x <= 2 }}
  assert "{LONG} of another kind that goes on and on" {{ x <= 5 }}
}}
"""


@pytest.fixture
def named(written: Callable[..., Path], tmp_path: Path) -> Path:
    model = tmp_path / "named.charon"
    model.write_text(NAMED)
    return written(
        "named", lambda: load(model), until=3.0, runs=6, method="simulation", time_limit=600.0
    )


def embedded(page: str, block: str) -> Any:
    found = re.search(rf'id="{block}">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


@pytest.mark.parametrize("width", [1400, 400])
def test_long_names_fit(browser: Any, named: Path, tmp_path: Path, width: int) -> None:
    with opened(browser, named, width) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.locator("#crosscheck thead").bounding_box()["height"] < 120
    index = tmp_path / "index.html"
    index.write_text(index_page([("a.html", embedded(named.read_text("utf-8"), "report-data"))]))
    context = browser.new_context(viewport={"width": width, "height": 900})
    shown = context.new_page()
    shown.goto(index.as_uri())
    assert shown.evaluate("document.documentElement.scrollWidth") <= width
    context.close()


def test_the_counterexample_is_saved_as_a_file_that_replays(browser: Any, named: Path) -> None:
    with opened(browser, named) as page:
        with page.expect_download() as saving:
            page.click("button.save[data-trace]")
        saved = saving.value
        assert saved.suggested_filename == "counterexample.json"
        text = Path(saved.path()).read_text("utf-8")
        page.requests[:] = page.requests[:1]
    assert text == embedded(named.read_text("utf-8"), "recordings")[LONG]
    trace, recipe, _ = read_recorded(text)
    assert recipe is not None
    assert trace.outcome.time == pytest.approx(2.0, abs=1e-6)


@pytest.mark.parametrize("width", [1400, 400])
def test_diagrams_keep_the_size_of_their_text(
    browser: Any, written: Callable[..., Path], width: int
) -> None:
    with opened(browser, written("heater", heater, until=8.0), width) as page:
        drawn = page.locator("#diagram svg")
        natural = float(drawn.get_attribute("width"))
        assert drawn.bounding_box()["width"] >= 0.85 * natural


def test_a_table_says_that_there_are_more_rows(browser: Any, written: Callable[..., Path]) -> None:
    with opened(browser, written("heater_many", heater, until=8.0, runs=40)) as page:
        table = page.locator("#crosscheck .scroll")
        assert "more" in table.get_attribute("class")
        table.evaluate("e => e.scrollTo(0, e.scrollHeight)")
        page.locator("#crosscheck .scroll:not(.more)").wait_for(state="attached")


def test_plots_are_drawn_for_paper_and_back(browser: Any, written: Callable[..., Path]) -> None:
    with opened(browser, written("heater", heater, until=8.0)) as page:

        def width() -> str:
            return str(page.get_attribute("#time-plot svg", "width"))

        before = width()
        page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        assert width() == "620" != before
        page.evaluate("window.dispatchEvent(new Event('afterprint'))")
        assert width() == before


def test_paper_keeps_colours_and_leaves_abstract_paths_folded(
    browser: Any, written: Callable[..., Path]
) -> None:
    path = written("heater_abstraction", heater, until=8.0, method="abstraction", time_limit=600.0)
    with opened(browser, path, scheme="dark") as page:
        page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        assert page.locator("details:not(.path):not([open])").count() == 0
        assert page.locator("details.path[open]").count() == 0
        page.emulate_media(media="print")
        style = "getComputedStyle(document.querySelector('.legend .swatch'))"
        assert page.evaluate(f"{style}.printColorAdjust") == "exact"
        heading = "getComputedStyle(document.querySelector('#plots .note'))"
        assert page.evaluate(f"{heading}.breakAfter") == "avoid"
        good = "getComputedStyle(document.documentElement).getPropertyValue('--good')"
        assert page.evaluate(good).strip() == "#15794a", "paper is light"
