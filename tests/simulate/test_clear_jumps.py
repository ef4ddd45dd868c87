"""Guards that are only touched, and never true, falsify nothing; clear crossings do."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.slow import slow_but
from workbench.cli import run

TOUCHING = {
    "sine": ("d(x) == y; d(y) == -x;", "x = 0; y = 1;", "", "x > 1"),
    "sine above": ("d(x) == y; d(y) == -x;", "x = 0; y = 1;", "", "x >= 1.0000000001"),
    "race": ("d(x) in [0, 1]; d(y) == 1;", "x = 0; y = 0;", "", "x > y"),
    "corner": ("d(x) == 1; d(y) == 0.3;", "x = 0; y = 0;", "inv { x <= 1 }", "x >= 1 && y > 0.3"),
    "limit": ("d(x) == 1 - x; d(y) == 0;", "x = 0; y = 0;", "", "x >= 1"),
}
CROSSING = {
    "sine": ("d(x) == y; d(y) == -x;", "x = 0; y = 1;", "", "x > 0.9"),
    "race": ("d(x) in [0, 2]; d(y) == 1;", "x = 0; y = 0;", "", "x > y"),
    "corner": ("d(x) == 1; d(y) == 0.3;", "x = 0; y = 0;", "inv { x <= 1 }", "x >= 1 && y > 0.2"),
}


def model(folder: Path, flow: str, start: str, inv: str, guard: str) -> str:
    path = folder / "model.charon"
    path.write_text(
        f"""
        mode Flow() {{ write analog real x, y; diff {{ {flow} }} {inv} }}
        mode Top() {{
          write analog real x, y;
          write discrete int n;
          mode a = Flow();
          mode b = Flow();
          trans from init to a;
          trans from a to b when {guard} do {{ n = 1; }}
        }}
        agent System() {{
          private analog real x, y;
          private discrete int n;
          init {{ {start} n = 0; }}
          mode top = Top();
          assert "never" {{ n == 0 }}
        }}
        """,
        encoding="utf-8",
    )
    return str(path)


@pytest.mark.parametrize("name", slow_but(["sine", "corner"], TOUCHING))
def test_a_guard_that_never_holds_falsifies_nothing(name: str, tmp_path: Path) -> None:
    path = model(tmp_path, *TOUCHING[name])
    assert run(["falsify", path, "--budget", "40", "--time-limit", "5", "--seed", "1"]) == 5


@pytest.mark.parametrize("name", CROSSING)
def test_a_guard_that_is_crossed_does(name: str, tmp_path: Path) -> None:
    path = model(tmp_path, *CROSSING[name])
    assert run(["falsify", path, "--budget", "200", "--time-limit", "20"]) == 10
