"""Large models: what is drawn and sent does not grow with what is not seen or changed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.studio.opened_studio import Studio

LOCATIONS = 500


def ring(count: int) -> str:
    """A mode with many submodes, one after the other."""
    parts = "\n".join(f"  mode m{i} = Part({i});" for i in range(count))
    ways = "\n".join(
        f"  trans from m{i} to m{(i + 1) % count} when x >= {i + 1};" for i in range(count)
    )
    return (
        "mode Part(int i) {\n  write analog real x;\n  diff { d(x) == 1; }\n  inv { x <= i + 1 }\n}\n\n"
        f"mode Top() {{\n  write analog real x;\n{parts}\n  trans from init to m0;\n{ways}\n}}\n\n"
        "agent Ring() {\n  private analog real x;\n  init { x = 0; }\n  mode top = Top();\n}\n"
    )


def long(lines: int) -> str:
    """Many small agents below each other."""
    one = (
        "// number {i}\nmode M{i}() {{\n  write analog real x;\n  diff {{ d(x) == 1; }}\n}}\n\n"
        "agent A{i}() {{\n  write analog real x;\n  init {{ x = 0; }}\n  mode top = M{i}();\n}}\n\n"
    )
    return "".join(one.format(i=i) for i in range(lines // 12))


@pytest.fixture
def project(project: Path) -> Path:
    (project / "long.charon").write_text(long(10_000))
    (project / "ring.charon").write_text(ring(LOCATIONS))
    return project


def test_ten_thousand_lines(studio: Studio) -> None:
    page = studio.page
    studio.open("long.charon")
    page.wait_for_selector(".expected .chip")
    assert page.locator(".cm-line").count() < 200  # only what is seen is drawn
    page.focus(".cm-content")
    page.keyboard.press("Control+End")
    page.wait_for_selector(".cm-line:has-text('agent A832')")
    before = len(studio.told)
    page.keyboard.insert_text("mode Last() { write analog real x; diff { d(x) = 1; } }")
    page.wait_for_selector(".cm-lintRange-error")
    page.keyboard.press("Control+.")
    page.wait_for_selector(".cm-lintRange-error", state="detached")
    frames = [json.loads(frame) for frame in studio.told[before:]]
    changes = [f for f in frames if f.get("message", {}).get("method") == "textDocument/didChange"]
    assert len(changes) == 2
    assert all(len(json.dumps(frame)) < 500 for frame in changes)  # changes only, no whole texts
    page.wait_for_selector(".cm-line:has-text('d(x) == 1; } }')")


def test_five_hundred_locations(studio: Studio) -> None:
    page = studio.page
    studio.open("ring.charon")
    studio.go("agent:Ring", "mode:top")
    page.wait_for_selector("[data-node='mode:m499']")
    assert page.locator("[data-node^='mode:']").count() == LOCATIONS
    studio.node("mode:m7").click()
    page.wait_for_selector(".cm-line.chosen-line:has-text('mode m7 = Part(7);')")
    studio.replace("when x >= 8;", "when x >= 8.5;")
    page.wait_for_selector("[data-edge='m7->m8']:has-text('8.5')")
