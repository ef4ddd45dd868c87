"""`--watch`: again on every change, also while a round is still at work."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.conftest import BALL

PATIENCE = 60.0
"""Seconds that a busy machine may take for a round."""


class Watching:
    """A process that watches, and what it said."""

    def __init__(self, folder: Path, *arguments: str):
        self.log = folder / "log"
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "workbench", *arguments, "--watch"],
                cwd=folder,
                stdout=log,
                stderr=subprocess.STDOUT,
                # Programs that run in the background of a script ignore interrupts otherwise.
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
            )

    def waits_for(self, text: str, times: int = 1) -> str:
        end = time.monotonic() + PATIENCE
        while self.log.read_text().count(text) < times:
            assert time.monotonic() < end, self.log.read_text()
            time.sleep(0.05)
        return self.log.read_text()

    def end(self) -> int:
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(PATIENCE)


@pytest.fixture
def ball(tmp_path: Path) -> Path:
    path = tmp_path / "ball.charon"
    path.write_text(BALL)
    return path


def change(path: Path, text: str) -> None:
    path.write_text(text)
    later = time.time() + 2
    os.utime(path, (later, later))


def test_a_change_begins_a_round(ball: Path) -> None:
    watching = Watching(ball.parent, "check", "ball.charon")
    watching.waits_for("watching 1 file")
    change(ball, BALL.replace("height >= 0", "hight >= 0"))
    said = watching.waits_for("watching 1 file", times=2)
    assert "changed: ball.charon" in said and "unknown-name" in said
    assert watching.end() == 3
    assert "Traceback" not in watching.log.read_text()


def test_what_is_imported_is_watched(ball: Path) -> None:
    mode, rest = BALL.split("mode BallTop", 1)
    (ball.parent / "falling.charon").write_text(mode)
    ball.write_text('import "falling.charon";\nmode BallTop' + rest)
    watching = Watching(ball.parent, "check", "ball.charon")
    watching.waits_for("watching 2 files")
    change(ball.parent / "falling.charon", mode.replace("height >= 0", "hight >= 0"))
    said = watching.waits_for("watching 2 files", times=2)
    assert "changed: falling.charon" in said and "unknown-name" in said
    assert watching.end() == 3


def test_a_change_ends_a_round_at_work(ball: Path) -> None:
    slow = ("verify", "ball.charon", "--method", "flowpipe", "--horizon", "1000000")
    watching = Watching(ball.parent, *slow, "--time-limit", "300")
    time.sleep(3.0)
    change(ball, "mode {")
    said = watching.waits_for("watching 1 file")
    assert "error" in said
    assert watching.end() == 3


def test_a_project_that_is_broken_for_a_while_is_watched_on(ball: Path) -> None:
    project = ball.with_name("workbench.toml")
    project.write_text("[[model]]\npath = 'ball.charon'\n")
    watching = Watching(ball.parent, "check")
    try:
        watching.waits_for("Ctrl-C ends it")
        change(project, "[[model]")
        watching.waits_for("Ctrl-C ends it", times=2)
        project.write_text("[[model]]\npath = 'ball.charon'  # mended\n")
        said = watching.waits_for("Ctrl-C ends it", times=3)
    finally:
        code = watching.end()
    assert code == 0 and said.count("ball.charon: ok") == 2 and "workbench.toml:1" in said
