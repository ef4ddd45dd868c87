"""The studio in a real browser, before a real server on a folder of its own."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.studio.opened_studio import Studio
from tests.support.serving import Server

BUNDLE = Path(__file__).parents[2] / "workbench" / "studio" / "bundle" / "index.html"


@pytest.fixture(scope="module")  # it takes a while to start
def server(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    if not BUNDLE.exists():
        pytest.skip(
            "the studio is not bundled, and none of its tests was run: python build_studio.py"
        )
    folder = tmp_path_factory.mktemp("studio") / "room"
    folder.mkdir()
    running = Server(folder)
    yield running
    running.end()


@pytest.fixture
def project(server: Server) -> Path:
    """The folder of the server, empty; what was found out before is known."""
    for draft in server.client.get("/api/drafts").json():
        server.client.delete(f"/api/drafts/{draft['path']}")
    for entry in server.folder.iterdir():
        if entry.is_dir() and entry.name != ".workbench":
            shutil.rmtree(entry)
        elif entry.is_file():
            entry.unlink()
    return server.folder


@pytest.fixture
def open_studio(browser: Any, server: Server, project: Path) -> Iterator[Callable[..., Studio]]:
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
