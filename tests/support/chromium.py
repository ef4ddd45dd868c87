"""A headless Chromium for tests; without one they are skipped, and the end of the run says so."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

INSTALLED_BY = "apt-get install chromium"
WITHOUT = "no test in a browser was run"

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def chromium() -> str | None:
    """The browser's program, from CHROMIUM or the usual names."""
    given = os.environ.get("CHROMIUM")
    return given or next(filter(None, map(shutil.which, NAMES)), None)


@pytest.fixture(scope="module")  # while it is there, its thread has an event loop that runs
def browser() -> Iterator[Any]:
    import playwright.sync_api as api

    program = chromium()
    if program is None:
        pytest.skip(f"{WITHOUT}, for there is no Chromium: {INSTALLED_BY}, or name one in CHROMIUM")
    with api.sync_playwright() as playwright:
        try:
            launched = playwright.chromium.launch(
                executable_path=program, args=["--no-sandbox", "--disable-gpu"]
            )
        except api.Error as error:
            pytest.skip(f"{WITHOUT}, for Chromium does not start: {str(error).splitlines()[0]}")
        yield launched
        launched.close()
