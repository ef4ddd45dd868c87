"""Completion by shells: the scripts, and what they are answered."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]


@pytest.fixture
def answered(workbench: Run, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """What a shell is told for the last of some words."""

    def ask(*words: str, shell: str = "bash") -> list[str]:
        with monkeypatch.context() as environment:
            environment.setenv("_WORKBENCH_COMPLETE", f"{shell}_complete")
            environment.setenv("COMP_WORDS", " ".join(words))
            environment.setenv("COMP_CWORD", str(len(words) - 1))
            lines: list[str] = workbench().out.splitlines()
        return lines

    return ask


def test_verbs_options_and_values(answered: Callable[..., list[str]]) -> None:
    assert answered("workbench", "ver") == ["plain,verify"]
    assert "plain,--method" in answered("workbench", "verify", "--m")
    assert answered("workbench", "verify", "--method", "quad") == ["plain,quadratic"]


def test_models_of_the_library_and_files(
    answered: Callable[..., list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fischer_mine.charon").touch()
    (tmp_path / "fischer_notes.txt").touch()
    library = {"plain,fischer", "plain,fischer_hasty"}
    first, *others = answered("workbench", "verify", "platoon", "fisch")
    assert first == "file,fisch"  # bash forgets what it heard before this
    assert {*others} == {*library, "plain,fischer_mine.charon"}
    words = ("workbench", "simulate", "fisch")
    assert not any("mine" in line for line in answered(*words, shell="zsh"))  # it looks itself


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_scripts_are_scripts(workbench: Run, shell: str) -> None:
    result = workbench("completion", shell)
    assert result.code == 0 and "_WORKBENCH_COMPLETE" in result.out
    if program := shutil.which(shell):
        read = [program, "-n"] if shell != "fish" else [program, "--no-execute"]
        done = subprocess.run(read, input=result.out, text=True, capture_output=True)
        assert done.returncode == 0, done.stderr


def test_bash_completes(workbench: Run, tmp_path: Path) -> None:
    if (bash := shutil.which("bash")) is None:
        pytest.skip("there is no bash")
    program = tmp_path / "workbench"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m workbench "$@"\n')
    program.chmod(0o755)
    script = (
        workbench("completion", "bash").out
        + f"""
        compopt() {{ :; }}  # allowed only where a key was pressed
        COMP_WORDS=(workbench check fischer_h) COMP_CWORD=2
        _workbench_completion "{program}"
        echo "${{COMPREPLY[@]}}"
    """
    )
    done = subprocess.run([bash, "--norc"], input=script, text=True, capture_output=True)
    assert (done.stdout, done.stderr) == ("fischer_hasty\n", "")


def test_other_shells(workbench: Run) -> None:
    assert workbench("completion", "tcsh").code == 2
