"""What a falsified page opens with: the variables that are broken, and their bounds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.browser.opened_page import opened, text
from workbench.models.load import load_text

SPIRAL = """
mode Go() {
  write analog real a, x, y;
  diff { d(a) == 0; d(x) == y; d(y) == -x - y/5; }
}
agent Two() {
  private analog real a, x, y;
  init { a = 0; x in [1, 2]; y in [0, 1/2]; }
  mode top = Go();
  assert "calm" { a <= 5 && y >= -1.2 }
  assert "apart" { a <= 5 && x - y <= 2.1 }
}
"""


def test_the_broken_variables_and_their_bounds(browser: Any, written: Callable[..., Path]) -> None:
    path = written("spiral", lambda: load_text(SPIRAL), until=6.0)
    with opened(browser, path) as page:
        assert text(page, "#time-plot .axis-name:last-of-type") == "y"  # not a, the first of all
        assert page.locator("#time-plot rect.bad").count() == 1
    alone = SPIRAL.replace('assert "calm" { a <= 5 && y >= -1.2 }', "")
    with opened(browser, written("apart", lambda: load_text(alone), until=6.0)) as page:
        assert page.input_value("#phase-plot select[data-axis=x]") == "y"
        assert page.input_value("#phase-plot select[data-axis=y]") == "x"
        assert page.locator("#time-plot path.bound").count() == 1
        assert page.locator("#phase-plot path.bad").count() == 1
