"""What CONTRIBUTING.md says is done to a copy of the project, and comes out as it says."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "CONTRIBUTING.md"
BLOCK = re.compile(r"<!-- (?P<what>[^\n]*?) -->\n```\w*\n(?P<text>.*?)```", re.DOTALL)
EXAMPLES = {
    "a method and a certificate kind": ("## A method", "## A language construct"),
    "a language construct": ("## A language construct", "## A library model"),
    "a library model": ("## A library model", "\\Z"),
}


@dataclass(frozen=True)
class Instruction:
    """A block of the page and the comment before it, which says what is to be done with it."""

    what: str
    text: str


def instructions(begins: str, ends: str) -> Iterator[Instruction]:
    found = re.search(
        f"^{begins}$(.*?)(?:^{ends}$|\\Z)", PAGE.read_text(), re.DOTALL | re.MULTILINE
    )
    assert found, f"{begins} is no section of CONTRIBUTING.md"
    for block in BLOCK.finditer(found[1]):
        yield Instruction(block["what"], block["text"])


class Copy:
    """A copy of the project: folders in which something is changed are copied, others are links."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.package = folder / "workbench"
        self.package.mkdir()
        self._link(ROOT / "workbench", self.package)

    @staticmethod
    def _link(source: Path, target: Path) -> None:
        for item in source.iterdir():
            if item.is_dir():
                if item.name != "__pycache__":
                    (target / item.name).symlink_to(item.resolve())
            else:
                shutil.copy(item, target / item.name)

    def path(self, name: str) -> Path:
        """A file of the copy by its name in the project, in folders that may be changed."""
        top = name.partition("/")[0]
        if not (ROOT / top).is_dir():
            return self.folder / name
        at = self.package
        for part in Path(name.removeprefix("workbench/")).parent.parts:
            at /= part
            if at.is_symlink():
                source = at.resolve()
                at.unlink()
                at.mkdir()
                self._link(source, at)
        return at / Path(name).name

    def edit(self, name: str, where: str, anchor: str, text: str) -> None:
        path = self.path(name)
        lines = path.read_text().splitlines(keepends=True)
        at = [i for i, line in enumerate(lines) if line.startswith(anchor)]
        assert at, f"{name} has no line that begins with {anchor!r}"
        place = at[0] + (where == "after")
        path.write_text("".join([*lines[:place], text, *lines[place:]]))

    def run(self, commands: str) -> tuple[int, str]:
        """The exit code of the last command, and all that was printed."""
        printed, code = "", 0
        environment = os.environ | {"PYTHONPATH": str(self.folder), "COLUMNS": "200"}
        for line in re.findall(r"^\$ (.+)$", commands, re.MULTILINE):
            program, *arguments = shlex.split(line)
            module = ["-m", "workbench"] if program == "workbench" else []
            done = subprocess.run(
                [sys.executable, *module, *arguments],
                capture_output=True,
                text=True,
                cwd=self.folder,
                env=environment,
            )
            code = done.returncode
            printed += done.stdout + done.stderr
        return code, printed


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_does_what_it_says(example: str, tmp_path: Path) -> None:
    copy = Copy(tmp_path)
    printed, checked = "", 0
    for instruction in instructions(*EXAMPLES[example]):
        what, text = instruction.what, instruction.text
        if match := re.fullmatch(r"file: (\S+)", what):
            copy.path(match[1]).write_text(text)
        elif match := re.fullmatch(r"edit: (\S+) (after|before): (.*)", what):
            copy.edit(*match.groups(), text)
        elif match := re.fullmatch(r"run: exit (\d+)", what):
            code, printed = copy.run(text)
            assert code == int(match[1]), printed
        elif what == "prints":
            for line in text.splitlines():
                assert line in printed
                checked += 1
        else:
            pytest.fail(f"unknown instruction {what!r}")
    assert checked, "an example without anything to compare"
