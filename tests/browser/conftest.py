"""A headless Chromium for the tests of this folder (without one they are skipped), and reports."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.report_models import report_settings
from workbench.models.model import Model
from workbench.reports.analysis import analyse
from workbench.reports.data.report import report_data
from workbench.reports.pages.report import diagram, render

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def chromium() -> str | None:
    """The browser's program, from CHROMIUM or the usual names."""
    given = os.environ.get("CHROMIUM")
    return given or next(filter(None, map(shutil.which, NAMES)), None)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    api = pytest.importorskip(
        "playwright.sync_api",
        reason="tests in a browser need Playwright: pip install -e '.[browser]'",
    )
    program = chromium()
    if program is None:
        pytest.skip("tests in a browser need Chromium: apt install chromium, or set CHROMIUM")
    with api.sync_playwright() as playwright:
        try:
            launched = playwright.chromium.launch(
                executable_path=program, args=["--no-sandbox", "--disable-gpu"]
            )
        except api.Error as error:
            pytest.skip(f"Chromium does not start: {str(error).splitlines()[0]}")
        yield launched
        launched.close()


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Writes the report of a model once; returns its file."""
    folder = tmp_path_factory.mktemp("reports")
    made: dict[str, Path] = {}

    def write(key: str, model: Callable[[], Model], **options: Any) -> Path:
        if key not in made:
            loaded = model()
            settings = report_settings(**{"runs": 12, "time_limit": 60.0} | options)
            found = analyse(loaded, key, loaded.automaton.properties, settings, command="workbench")
            texts = {name: checked.text for name, checked in found.certificates.items()}
            made[key] = folder / f"{key}.html"
            made[key].write_text(
                render(report_data(found), diagram(found), texts, found.recordings), "utf-8"
            )
        return made[key]

    return write
