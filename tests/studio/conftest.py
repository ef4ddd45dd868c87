"""The studio in a real browser, before a real server on a folder of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.studio.opened_studio import Studio
from tests.support.serving import Server

BUNDLE = Path(__file__).parents[2] / "workbench" / "studio" / "bundle" / "index.html"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "room"
    folder.mkdir()
    return folder


@pytest.fixture
def server(browser: Any, project: Path) -> Iterator[Server]:
    if not BUNDLE.exists():
        pytest.skip("the studio is not bundled: python build_studio.py says why")
    running = Server(project)
    yield running
    running.end()


@pytest.fixture
def open_studio(browser: Any, server: Server) -> Iterator[Callable[..., Studio]]:
    """Opens the studio in a window of its own, as often as it is called."""
    windows: list[Studio] = []

    def opened(**window: Any) -> Studio:
        windows.append(Studio(browser, server, **window))
        return windows[-1]

    yield opened
    for studio in windows:
        studio.close()


@pytest.fixture
def studio(open_studio: Callable[..., Studio]) -> Studio:
    return open_studio()
