"""The README's tour is what really happens."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
README = (Path(__file__).resolve().parents[2] / "README.md").read_text()


def commands() -> list[tuple[str, str]]:
    """Every `$ workbench ...` of the README with the output below it."""
    found: list[tuple[str, list[str]]] = []
    for line in README.splitlines():
        if line.startswith("    $ workbench "):
            found.append((line.removeprefix("    $ workbench "), []))
        elif line.startswith("    ") and found:
            found[-1][1].append(line[4:])
        elif line:
            found.append(("", []))
    return [(command, "\n".join(out)) for command, out in found if command]


def test_the_tour(workbench: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (source,) = re.findall(r"```charon\n(.*?)```", README, re.DOTALL)
    model = tmp_path / "thermostat.charon"
    model.write_text(source)
    monkeypatch.chdir(tmp_path)
    ran = commands()
    assert len(ran) >= 7
    for command, shown in ran:
        result = workbench(*shlex.split(command))
        if shown:
            assert (result.out + result.err).rstrip() == shown.rstrip(), command
        if command == "check thermostat.charon" and result.code == 3:
            model.write_text(source.replace("d(temp) = ", "d(temp) == "))
        else:
            assert result.code == (10 if "platoon_saturated" in command else 0), command
    for name in ("platoon.svg", "again.charon", "run.svg", "bad.svg"):
        assert (tmp_path / name).exists()


def test_every_verb_is_in_the_command_line_page() -> None:
    from workbench.cli.commands import VERBS

    page = (Path(__file__).resolve().parents[2] / "docs" / "cli.md").read_text()
    for verb in VERBS:
        assert re.search(rf"^\| `{verb}[ `]", page, re.MULTILINE), verb


def language_models() -> list[str]:
    """The complete models of the language page."""
    page = (Path(__file__).resolve().parents[2] / "docs" / "language.md").read_text()
    blocks: list[str] = re.findall(r"```charon\n(.*?)```", page, re.DOTALL)
    return [block for block in blocks if "\nagent " in block]


@pytest.mark.parametrize("source", language_models())
def test_the_models_of_the_language_page_load(tmp_path: Path, workbench: Run, source: str) -> None:
    path = tmp_path / "model.charon"
    path.write_text(source)
    result = workbench("check", path)
    assert (result.code, result.err) == (0, "")
