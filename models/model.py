"""A loaded model: the automaton that every engine reads, and where it came from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from models.automaton import Automaton
from models.hierarchy import Agent
from models.source import Diagnostic


@dataclass(frozen=True, slots=True)
class Model:
    """What `models.load.load` returns.

    `agent` is the hierarchy behind the automaton; there is none for SpaceEx and JSON files.
    `sources` holds the texts of the files by the names that spans use.
    """

    name: str
    automaton: Automaton
    agent: Agent | None = None
    warnings: tuple[Diagnostic, ...] = ()
    sources: Mapping[str, str] = field(default_factory=dict)
