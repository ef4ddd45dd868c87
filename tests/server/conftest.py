"""A server on a folder of its own, and clients that speak to it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.support.serving import Page, Server

BALL = """\
mode Falling() {
  write analog real height, speed;
  diff { d(height) == speed; d(speed) == -9.81; }
  inv { height >= 0 }
}

mode BallTop() {
  write analog real height, speed;
  mode falling = Falling();
  trans from init to falling;
  trans #bounce from falling to falling when height <= 0 && speed < 0 do { speed = -0.75*speed; }
}

agent Ball(real drop = 10) {
  private analog real height, speed;
  init { height = drop; speed = 0; }
  mode top = BallTop();
  assert "stays low" { height <= 11 }
  assert "slow" { speed >= -5 }
}
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "room"
    folder.mkdir()
    (folder / "ball.charon").write_text(BALL)
    return folder


@pytest.fixture
def server(project: Path) -> Iterator[Server]:
    running = Server(project)
    yield running
    running.end()


@pytest.fixture
def client(server: Server) -> httpx.Client:
    return server.client


@pytest.fixture
def page(server: Server) -> Iterator[Page]:
    with (found := server.page()).connection:
        yield found
