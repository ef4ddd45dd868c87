"""The studio as its users have it before them: what they do, and what they see."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

from tests.support.serving import Server

PATIENCE = int(os.environ.get("STUDIO_PATIENCE", "300000"))
"""Milliseconds after which a test gives up waiting."""


class Studio:
    """A window with the studio; everything that the page asks for and complains about is kept."""

    def __init__(
        self,
        browser: Any,
        server: Server,
        width: int = 1400,
        scheme: str = "light",
        zoom: float = 1,
    ):
        self._server = server
        self._context = browser.new_context(
            viewport={"width": int(width / zoom), "height": int(900 / zoom)},
            device_scale_factor=zoom,
            color_scheme=scheme,
            reduced_motion="reduce",
        )
        self._context.set_default_timeout(PATIENCE)
        self.page = self._context.new_page()
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.told: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on(
            "websocket",
            lambda socket: socket.on("framesent", lambda frame: self.told.append(str(frame))),
        )
        self.page.goto(server.address)
        self.ready()

    def ready(self) -> None:
        """Wait until the language server listens."""
        self.page.wait_for_selector("body.ready")
        self.page.wait_for_selector(".server.on:has-text('connected')")

    def until(self, condition: str) -> None:
        """Wait for something that a script says. (Playwright's own way needs `eval` in the page,
        which the page does not allow.)"""
        end = time.monotonic() + PATIENCE / 1000
        while not self.page.evaluate(condition):
            assert time.monotonic() < end, condition
            self.page.wait_for_timeout(40)

    def close(self) -> None:
        """Close the window; nothing was complained about, and nothing outside was asked for."""
        self._context.close()
        outside = [
            url
            for url in self.requests
            if not url.startswith((self._server.base, "blob:", "data:"))
        ]
        assert not outside, outside
        assert not self.complaints, self.complaints

    # Files

    def file(self, name: str) -> Path:
        return self._server.folder / name

    def open(self, name: str) -> None:
        self.page.click(f"[data-path='{name}']")
        self.page.wait_for_selector(f".file-tab.chosen:has-text('{name}')")

    def create(self, name: str, way: str = "empty") -> None:
        self.page.keyboard.press("Alt+n")
        self.page.fill("dialog input[data-first]", name)
        self.page.check(f"input[value='{way}']")
        self.page.click("dialog button.primary")
        self.page.wait_for_selector(f".file-tab.chosen:has-text('{name}')")

    def save(self) -> None:
        self.page.focus(".cm-content")
        self.page.keyboard.press("Control+s")
        self.page.wait_for_selector(".top button:text-is('Saved')")

    # Text

    def write(self, text: str) -> None:
        """Insert a text at the cursor."""
        self.page.focus(".cm-content")
        self.page.keyboard.insert_text(text)

    def expect_next(self, label: str) -> None:
        """Choose from the list of what can come next."""
        self.page.click(f".expected .chip:text-is('{label}')")

    def text(self) -> str:
        """The text in the editor, by way of the file: what is saved is what is shown."""
        self.save()
        document = self.page.text_content(".file-tab.chosen [role=tab]")
        return self.file(str(document).strip()).read_text("utf-8")

    def replace(self, old: str, new: str) -> None:
        """Find a piece of the text and write something else there."""
        self.page.focus(".cm-content")
        self.page.keyboard.press("Control+f")
        self.page.fill(".cm-search input[name=search]", old)
        self.page.fill(".cm-search input[name=replace]", new)
        self.page.click(".cm-search button[name=replaceAll]")
        self.page.click(".cm-search button[name=close]")

    def wait_for_errors(self, count: int) -> None:
        said = "1 error," if count == 1 else f"{count} errors,"
        self.page.wait_for_selector(f".status:has-text('{said}')")

    # Diagram

    def node(self, identity: str) -> Any:
        return self.page.locator(f"[data-node='{identity}']")

    def edge(self, identity: str) -> Any:
        return self.page.locator(f"[data-edge='{identity}']")

    def go(self, *way: str) -> None:
        """Go from the file into its parts."""
        self.page.locator(".crumb").first.click()
        self.page.wait_for_selector(".inspector h3:has-text('file')")
        for identity in way:
            self.enter(identity)

    def enter(self, identity: str) -> None:
        """Go inside a part of the picture."""
        self.node(identity).dblclick()
        name = identity.partition(":")[2]
        self.page.wait_for_selector(f".crumb[aria-current]:has-text('{name}')")

    def add(self, label: str, name: str) -> None:
        """Add something to the picture by its button."""
        self.page.locator(".draw-tools").get_by_text(f"+ {label}", exact=True).click()
        self.answer(name)

    def answer(self, text: str) -> None:
        """Answer the question that the page asks."""
        field = self.page.locator("dialog input[data-first]")
        field.fill(text)
        field.press("Enter")

    def connect(self, source: str, target: str) -> None:
        """Drag from one node to another."""
        start, end = self.node(source).bounding_box(), self.node(target).bounding_box()
        mouse = self.page.mouse
        mouse.move(start["x"] + start["width"] / 2, start["y"] + start["height"] / 2)
        mouse.down()
        for part in (0.3, 0.7, 1.0):
            mouse.move(
                start["x"]
                + start["width"] / 2
                + part * (end["x"] + end["width"] / 2 - start["x"] - start["width"] / 2),
                start["y"]
                + start["height"] / 2
                + part * (end["y"] + end["height"] / 2 - start["y"] - start["height"] / 2),
            )
        mouse.up()

    def fill(self, field: str, text: str) -> None:
        """Write a field of what is selected in the picture."""
        place = self.page.locator(f".inspector [data-field='{field}']")
        place.fill(text)
        place.press("Enter")
        said = f"document.querySelector(\"[data-field='{field}']\")?.defaultValue"
        self.until(f"{said} === {json.dumps(text)}")

    # Runs and verdicts

    def tab(self, name: str) -> None:
        self.page.click(f"#tab-{name}")

    def wait_for_runs(self, count: int = 1) -> None:
        self.until(f"Number(document.querySelector('.plots canvas')?.dataset.runs) >= {count}")

    def painted(self) -> None:
        """Wait until the plots show what there is."""
        frame = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
        self.page.evaluate(frame)

    def look_at(self, part: float) -> None:
        """Press in the plots at a part of their width."""
        box = self.page.locator(".plots canvas").bounding_box()
        self.page.mouse.click(box["x"] + 56 + part * (box["width"] - 66), box["y"] + 30)
        self.page.wait_for_selector(".moment .values")

    def values(self) -> dict[str, str]:
        """The values at the moment that is looked at."""
        rows = self.page.locator(".moment .values tr").all_text_contents()
        names = self.page.locator(".moment .values th").all_text_contents()
        return {name: row.removeprefix(name) for name, row in zip(names, rows, strict=True)}

    def decide(self, verb: str) -> None:
        """Ask about the properties that are chosen; however slow the machine, no clock cuts it."""
        self.tab("decide")
        self.page.locator(".decide input[max='3600']").evaluate(
            "field => { field.value = 3600; field.dispatchEvent(new Event('change')); }"
        )
        self.page.locator(".choice .buttons").get_by_text(verb, exact=True).click()

    def verdict(self, name: str, outcome: str, deviation: str = "") -> Any:
        """The card of a property, when it says that of the model as written, or with values."""
        about = f"[data-property='{name}'][data-deviation='{deviation}']"
        card = f".verdict.{outcome}:not(.stale){about}"
        self.page.wait_for_selector(card)
        return self.page.locator(card)
