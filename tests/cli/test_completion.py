"""Completion by shells: the scripts, and what they are answered."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

Run = Callable[..., Any]


def answered(*words: str) -> list[str]:
    """What bash would be told for the last of some words."""
    asked = {
        "_WORKBENCH_COMPLETE": "bash_complete",
        "COMP_WORDS": " ".join(words),
        "COMP_CWORD": str(len(words) - 1),
    }
    done = subprocess.run(
        [sys.executable, "-m", "workbench"],
        env={**os.environ, **asked},
        capture_output=True,
        text=True,
        check=True,
    )
    return [line.partition(",")[2] for line in done.stdout.splitlines()]


def test_verbs_options_values_and_models() -> None:
    assert answered("workbench", "ver") == ["verify"]
    assert "--method" in answered("workbench", "verify", "--m")
    assert answered("workbench", "verify", "--method", "quad") == ["quadratic"]
    assert {"fischer", "fischer_hasty"} <= set(answered("workbench", "simulate", "fisch"))
    assert {"fischer", "fischer_hasty"} <= set(answered("workbench", "verify", "platoon", "fisch"))


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_scripts_are_scripts(workbench: Run, shell: str) -> None:
    result = workbench("completion", shell)
    assert result.code == 0 and "_WORKBENCH_COMPLETE" in result.out
    if program := shutil.which(shell):
        read = [program, "-n"] if shell != "fish" else [program, "--no-execute"]
        done = subprocess.run(read, input=result.out, text=True, capture_output=True)
        assert done.returncode == 0, done.stderr


def test_other_shells(workbench: Run) -> None:
    assert workbench("completion", "tcsh").code == 2
