"""Every example in every `--help`, run in an empty folder: it does what it says."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from workbench.cli.commands import VERBS

Run = Callable[..., Any]

HEATER = """
mode Heat() { write analog real t; diff { d(t) == 2; } inv { t <= 22 } }
mode Cool() { write analog real t; diff { d(t) == -1; } inv { t >= 18 } }
mode Top() {
  write analog real t;
  mode on = Heat(); mode off = Cool();
  trans from init to on;
  trans from on to off when t >= 21;
  trans from off to on when t <= 19;
}
agent Controlled() { write analog real t; init { t in [19, 21]; } mode top = Top(); }

mode Warmer() { write analog real t; diff { d(t) in [1, 3]; } inv { t <= 22 } }
mode Colder() { write analog real t; diff { d(t) in [-2, 0]; } inv { t >= 18 } }
mode Loose() {
  write analog real t;
  mode on = Warmer(); mode off = Colder();
  trans from init to on;
  trans from on to off;
  trans from off to on;
}
agent Bounded() { write analog real t; init { t in [18, 22]; } mode top = Loose(); }

mode Named() {
  write analog real t;
  mode ON = Warmer(); mode off = Colder();
  trans from init to ON;
  trans from ON to off;
  trans from off to ON;
}
agent Any() { write analog real t; init { t in [18, 22]; } mode top = Named(); }
"""
"""The one file that examples (of `refine`) take for granted."""

LONG = {"report", "verify", "recheck", "refine", "abstract", "export-proof"}
ENDLESS = {"lsp", "serve"}
"""Verbs that go on until they are interrupted; they have tests of their own."""

FINDS = {"falsify": 10, "simulate --replay": 10}
"""Exit codes other than 0 that an example is about."""

EMPTY_HANDED = re.compile("UNKNOWN|no violation found|The run blocks|NOT PROVED")


def examples(help_text: str) -> list[str]:
    found = help_text.partition("Example:")[2].partition("Options:")[0]
    return [line.strip() for line in found.splitlines() if line.strip().startswith("workbench ")]


def expected(command: str) -> set[int]:
    verb = command.split()[1]
    if verb == "simulate" and "--replay" in command:
        return {FINDS["simulate --replay"]}
    if verb in ("report", "verify") and "saturated" in command:
        return {10}
    return {FINDS.get(verb, 0)}


@pytest.mark.parametrize(
    "verb",
    [
        pytest.param(v, marks=pytest.mark.slow) if v in LONG else v
        for v in VERBS
        if v not in ENDLESS
    ],
)
def test_examples(
    workbench: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    commands = examples(workbench(verb, "--help").out)
    assert commands, verb
    monkeypatch.chdir(tmp_path)
    (tmp_path / "heater.charon").write_text(HEATER)
    for command in commands:
        result = workbench(*shlex.split(command)[1:])
        assert result.code in expected(command), f"{command}: {result.out}{result.err}"
        assert not EMPTY_HANDED.search(result.out), f"{command}: {result.out}"
        for path in re.findall(r"(?:-o|--csv|--plot|--trace|--svg|--certificate) (\S+)", command):
            assert (tmp_path / path).exists(), f"{command} wrote no {path}"
