"""Pictures of runs in pages and notebooks tell the values under the pointer."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import workbench

FALL = """
agent Ball() {
  private analog real height = 8, speed = 0;
  mode top = Falling();
}
mode Falling() {
  write analog real height, speed;
  diff { d(height) == speed; d(speed) == -1; }
}
"""


def under(page: Any, frame: Any, share: float) -> dict[str, float]:
    """What is told at this share of the width of a panel."""
    box = frame.bounding_box()
    page.mouse.move(box["x"] + share * box["width"], box["y"] + box["height"] / 2)
    told = [line.inner_text() for line in page.locator(".reading > div").all()]
    pairs = (re.fullmatch(r"(.+) = (\S+)", line) for line in told)
    return {pair[1]: float(pair[2]) for pair in pairs if pair}


@pytest.mark.parametrize("runs", [1, 2])
def test_values_under_the_pointer(browser: Any, tmp_path: Path, runs: int) -> None:
    path = workbench.load(FALL).simulate(until=4, runs=runs).save(tmp_path / "runs.html")
    page = browser.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto(path.as_uri())
    values = under(page, page.locator("rect.frame").first, 0.5)
    t = values["t"]
    assert t == pytest.approx(2, abs=0.02)
    for end in [""] if runs == 1 else [" of run 1", " of run 2"]:
        assert values[f"height{end}"] == pytest.approx(8 - t * t / 2, abs=0.05)
        assert values[f"speed{end}"] == pytest.approx(-t, abs=0.03)
    page.mouse.move(1, 1)
    assert not page.locator(".reading").is_visible() and not faults


def test_the_point_of_a_phase_plot(browser: Any, tmp_path: Path) -> None:
    path = workbench.load(FALL).simulate(until=4).save(tmp_path / "phase.html", "height:speed")
    page = browser.new_page()
    page.goto(path.as_uri())
    values = under(page, page.locator("rect.frame"), 0.5)
    assert values["height"] == pytest.approx(4, abs=0.1)
    assert values["speed"] == pytest.approx(-2, abs=0.1)


def test_a_notebook_runs_the_picture_in_a_frame(browser: Any, tmp_path: Path) -> None:
    notebook = tmp_path / "notebook.html"
    notebook.write_text(f"<p>{workbench.load(FALL).simulate(until=4)._repr_html_()}")
    page = browser.new_page()
    page.goto(notebook.as_uri())
    inside = page.frames[1]
    inside.locator("rect.frame").first.hover(force=True)
    assert inside.locator(".reading").inner_text().startswith("t = 2")
    svg = inside.locator("svg.tp").bounding_box()
    frame = page.locator("iframe").bounding_box()
    assert svg["height"] <= frame["height"] and svg["width"] <= frame["width"]
