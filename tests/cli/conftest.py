"""Runs the command line as a user does, and in this process where that is enough."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]

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
}
"""

BALL_XML = """\
<?xml version="1.0" encoding="utf-8"?>
<sspaceex xmlns="http://www-verimag.imag.fr/xml-namespaces/sspaceex" version="0.2" math="SpaceEx">
  <component id="ball">
    <param name="x" type="real" local="false" d1="1" d2="1" dynamics="any"/>
    <param name="v" type="real" local="false" d1="1" d2="1" dynamics="any"/>
    <param name="hop" type="label" local="false"/>
    <location id="1" name="falling">
      <invariant>x &gt;= 0</invariant>
      <flow>x' == v &amp; v' == -9.81</flow>
    </location>
    <transition source="1" target="1">
      <label>hop</label>
      <guard>x &lt;= 0 &amp; v &lt; 0</guard>
      <assignment>v' == -0.75*v</assignment>
    </transition>
  </component>
</sspaceex>
"""

BALL_CFG = """\
system = "ball"
initially = "x >= 10 & x <= 10.2 & v == 0 & loc() == falling"
forbidden = "x >= 11"
time-horizon = 5
"""


@dataclass(frozen=True)
class Result:
    """How a command ended and what it said."""

    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        """The one JSON object on standard output."""
        return json.loads(self.out)


class _Stream(io.TextIOWrapper):
    """A text stream in memory whose bytes can be read back."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", write_through=True)

    def text(self) -> str:
        self.flush()
        buffer = self.buffer
        assert isinstance(buffer, io.BytesIO)
        return buffer.getvalue().decode("utf-8")


def run_here(*arguments: object) -> Result:
    """Run a command in this process."""
    from workbench.cli import run

    out, err = _Stream(), _Stream()
    with redirect_stdout(out), redirect_stderr(err):
        code = run([str(a) for a in arguments])
    return Result(code, out.text(), err.text())


def run_process(
    *arguments: object, stdin: str | bytes = b"", env: dict[str, str] | None = None
) -> Result:
    """Run a command as a process of its own."""
    data = stdin.encode() if isinstance(stdin, str) else stdin
    done = subprocess.run(
        [sys.executable, "-c", "from workbench.cli import main; main()", *map(str, arguments)],
        input=data,
        capture_output=True,
        timeout=60,
        env={**os.environ, **(env or {})},
        cwd=ROOT,
        check=False,
    )
    return Result(done.returncode, done.stdout.decode(), done.stderr.decode())


@pytest.fixture
def workbench() -> Callable[..., Result]:
    return run_here


@pytest.fixture
def process() -> Callable[..., Result]:
    return run_process


@pytest.fixture
def ball(tmp_path: Path) -> Path:
    path = tmp_path / "ball.charon"
    path.write_text(BALL)
    return path


@pytest.fixture
def spaceex_ball(tmp_path: Path) -> Path:
    path = tmp_path / "ball.xml"
    path.write_text(BALL_XML)
    path.with_suffix(".cfg").write_text(BALL_CFG)
    return path
