"""How the studio looks: it fits its window, text can be read, and the keyboard reaches everything."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.studio.opened_studio import Studio
from workbench.models.catalogue import path

Open = Callable[..., Studio]

LEAST_CONTRAST = 4.5

CONTRASTS = """
() => {
  const parse = (text) => {
    const canvas = document.createElement('canvas').getContext('2d');
    canvas.fillStyle = '#000'; canvas.fillStyle = text; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = ([r, g, b]) => {
    const part = (c) => (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  };
  const behind = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const colour = getComputedStyle(e).backgroundColor;
      const [, , , alpha] = colour.startsWith('rgba') ? colour.match(/[\\d.]+/g) : [0, 0, 0, '1'];
      if (Number(alpha) === 1 && colour !== 'transparent' && !colour.startsWith('color(')) return parse(colour);
    }
    return parse('#fff');
  };
  const found = [];
  for (const element of document.querySelectorAll('body *')) {
    const own = [...element.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    const style = getComputedStyle(element);
    if (!own || element.closest('svg, [hidden], :disabled, .sr-only, .skip') || style.visibility === 'hidden') continue;
    if (!element.getClientRects().length || Number(style.opacity) < 1) continue;
    const [a, b] = [light(parse(style.color)), light(behind(element))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    found.push([ratio, element.className + ' ' + element.textContent.trim().slice(0, 30)]);
  }
  return found;
}
"""


@pytest.fixture
def project(project: Path) -> Path:
    (project / "leaky_tank.charon").write_text(path("leaky_tank").read_text())
    return project


@pytest.mark.parametrize(
    ("width", "scheme", "zoom"),
    [
        (1400, "light", 1),
        (1400, "dark", 1),
        (800, "light", 1),
        (800, "dark", 1),
        (1400, "light", 2),
    ],
)
def test_it_fits_and_can_be_read(open_studio: Open, width: int, scheme: str, zoom: float) -> None:
    studio = open_studio(width=width, scheme=scheme, zoom=zoom)
    page = studio.page
    page.wait_for_selector(".cm-line")
    studio.wait_for_runs(1)
    for tab in ("run", "decide", "jobs"):
        studio.tab(tab)
        overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert page.evaluate(overflow) <= 0
        poor = [what for ratio, what in page.evaluate(CONTRASTS) if ratio < LEAST_CONTRAST]
        assert poor == []


def test_comments_look_like_comments(studio: Studio) -> None:
    studio.open("leaky_tank.charon")
    studio.page.focus(".cm-content")
    studio.page.keyboard.press("Control+Home")
    studio.write(
        '/* an agent, "two"\nlines */ const real two = 2; /* or */ const int n = 3; // three\n'
    )
    comments = studio.page.locator(".cm-line .t-comment")
    shown = comments.evaluate_all("all => all.slice(0, 4).map(one => one.textContent)")
    assert shown == ['/* an agent, "two"', "lines */", "/* or */", "// three"]


def test_the_keyboard_reaches_every_part_and_focus_is_seen(studio: Studio) -> None:
    page = studio.page
    page.wait_for_selector(".cm-line")
    studio.wait_for_runs(1)
    page.wait_for_selector("svg.picture")
    parts = {
        "Alt+1": ".tree [role=treeitem]",
        "Alt+2": ".cm-content",
        "Alt+3": "svg.picture",
        "Alt+4": ".plots canvas",
        "Alt+5": ".decide input",
    }
    for key, part in parts.items():
        page.keyboard.press(key)
        studio.until(f"document.activeElement?.matches('{part}')")
    reached = set()
    page.keyboard.press("Alt+5")
    for _ in range(30):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.textContent.trim()"))
        seen = page.evaluate(
            "(() => { const e = document.activeElement, s = getComputedStyle(e);"
            " return e === document.body || e.closest('.cm-editor, svg, iframe, .splitter') !== null"
            " || s.outlineStyle !== 'none'; })()"
        )
        assert seen, page.evaluate("document.activeElement.outerHTML.slice(0, 200)")
    assert {"Verify", "Falsify", "Report"} <= reached


def test_on_a_narrow_page_the_project_makes_room_for_what_is_opened(open_studio: Open) -> None:
    studio = open_studio(width=800)
    page = studio.page
    page.keyboard.press("Alt+1")
    studio.until("document.activeElement?.matches('.tree [role=treeitem]')")
    page.keyboard.press("ArrowDown")
    studio.until("document.activeElement?.matches('[data-path]')")
    page.keyboard.press("Enter")
    studio.until("document.activeElement?.matches('.cm-content')")
    assert not page.is_visible(".project")
    studio.wait_for_runs(1)
    fields = "input => input.scrollWidth <= input.clientWidth"
    for field in ("until", "runs", "seed"):
        assert page.locator(f"#q-{field}").evaluate(fields)


def test_every_command_has_a_name_in_the_palette(studio: Studio) -> None:
    page = studio.page
    page.wait_for_selector(".cm-line")
    page.keyboard.press("Control+k")
    page.fill(".query", "go to verdicts")
    page.keyboard.press("Enter")
    page.wait_for_selector("#tab-decide[aria-selected='true']")
    page.keyboard.press("Control+f")  # the whole text is searched, not what is seen of it
    studio.until("document.activeElement?.matches('.cm-search [name=search]')")
    page.keyboard.press("Escape")
    page.keyboard.press("Control+k")
    page.fill(".query", "PumpTop")
    page.wait_for_selector(".palette li:has-text('leaky_tank.charon'):has-text('PumpTop')")
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog", state="detached")
