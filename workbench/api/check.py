"""What `check` says of a model: its size, and what is strange about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

from workbench.models.counting import counted

if TYPE_CHECKING:
    from workbench.models.automaton import Automaton
    from workbench.models.source import Diagnostic


@dataclass(frozen=True)
class Check:
    """What `check` says of a model: its size, by kind, and warnings."""

    model: str
    facts: Mapping[str, Any] = field(repr=False)
    warnings: tuple[Diagnostic, ...] = ()

    @property
    def size(self) -> str:
        """How large the model is, as a phrase."""
        return in_words(self.facts)

    def __str__(self) -> str:
        lines = [f"{self.model}: ok ({self.size})"]
        return "\n".join([*lines, *(warning.render() for warning in self.warnings)])

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


def summary(automaton: Automaton) -> dict[str, Any]:
    """The size of a model, read off its components without building their product."""
    return {
        "components": [
            {"name": c.name, "locations": len(c.locations), "edges": len(c.edges)}
            for c in automaton.components
        ],
        "variables": [v.name for v in automaton.variables],
        "inputs": [i.name for i in automaton.inputs],
        "parameters": [p.name for p in automaton.parameters],
        "properties": [p.name for p in automaton.properties],
        "horizon": None if automaton.horizon is None else str(automaton.horizon),
    }


def in_words(facts: Mapping[str, Any]) -> str:
    """The summary as a phrase."""
    locations = [c["locations"] for c in facts["components"]]
    parts = [counted(len(locations), "component")]
    parts.append(counted(sum(locations), "location"))
    parts += [
        counted(len(facts[plural]), singular)
        for plural, singular in (
            ("variables", "variable"),
            ("inputs", "input"),
            ("parameters", "uncertain parameter"),
            ("properties", "property"),
        )
        if facts[plural] or plural in ("variables", "properties")
    ]
    return ", ".join(parts)
