"""The files of the theory, and which of them need which."""

from __future__ import annotations

import re
from pathlib import Path

THEORY = Path(__file__).parent / "theory"
REQUIRE = re.compile(r"From (Coq|Kernel) Require Import\s+([^.]*)\.")
"""How files say what they need."""


def text(name: str) -> str:
    """A file of the theory."""
    return (THEORY / f"{name}.v").read_text(encoding="utf-8")


def required(name: str) -> list[str]:
    """The files of the theory that one needs, each after those that it needs, it itself last."""
    found: list[str] = []
    for library, names in REQUIRE.findall(text(name)):
        for other in names.split() if library == "Kernel" else ():
            found += [n for n in required(other) if n not in found]
    return [*found, name]
