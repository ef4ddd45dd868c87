"""A loaded model: the automaton that every engine reads, and where it came from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from fractions import Fraction

from workbench.models.agents.hierarchy import Access, Agent
from workbench.models.automaton import Automaton, ValueType
from workbench.models.record import record
from workbench.models.source import Diagnostic, Span


@record
class Setting:
    """A constant of the text, or a parameter of its agent, that may be given another value: the
    one it has, or (None) the ends of the interval in which it is uncertain."""

    name: str
    type: ValueType
    value: Fraction | bool | None
    low: Fraction | None = None
    high: Fraction | None = None
    span: Span | None = None


@record
class Model:
    """What `models.load.load` returns.

    `agent` is the hierarchy behind the automaton; there is none for SpaceEx and JSON files.
    `sources` holds the texts of the files by the names that spans use, `externals` where each
    external function is said to live; `settings` are what can be chosen when it is loaded.
    """

    name: str
    automaton: Automaton
    agent: Agent | None = None
    warnings: tuple[Diagnostic, ...] = ()
    sources: Mapping[str, str] = field(default_factory=dict)
    externals: Mapping[str, str] = field(default_factory=dict)
    settings: tuple[Setting, ...] = ()

    @property
    def held(self) -> tuple[str, ...]:
        """The `readwrite` variables of the whole: what surroundings might change at any time,
        and what every engine takes to be left alone by them."""
        declared = () if self.agent is None else self.agent.variables
        return tuple(v.name for v in declared if v.access is Access.READ_WRITE)

    @property
    def closed_by(self) -> tuple[str, ...]:
        """What has to be assumed about the surroundings of the whole, in words."""
        return tuple(f"nothing outside the model changes {name}" for name in self.held)
