"""The structure of a model, as a tree and as a diagram."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.api.saving import save

if TYPE_CHECKING:
    from workbench.api.locations import FlatLocation
    from workbench.models.model import Model as Loaded
    from workbench.reports.words.outline import Branch


@dataclass(frozen=True)
class Picture:
    """The structure of a model: `print` writes the tree, a notebook draws the diagram."""

    loaded: Loaded = field(repr=False)
    everything: bool = False

    @cached_property
    def svg(self) -> str:
        """The diagram as an SVG document."""
        from workbench.reports.pictures.diagram import draw_agent, draw_automaton

        if self.loaded.agent is None:
            return draw_automaton(self.loaded.automaton)
        return draw_agent(self.loaded.agent, title=self.loaded.name)

    @property
    def tree(self) -> Branch:
        """The tree, each branch with its text and children."""
        from workbench.reports.words.outline import agent_outline, automaton_outline

        if self.loaded.agent is None:
            return automaton_outline(self.loaded.automaton)
        return agent_outline(self.loaded.agent, everything=self.everything)

    @property
    def data(self) -> dict[str, Any]:
        """The tree as plain data: each branch an object with `text` and `children`."""
        from workbench.reports.words.outline import as_data

        return as_data(self.tree)

    def locations(self, limit: int = 100) -> tuple[list[FlatLocation], bool]:
        """The flat locations, nearest to the initial ones first, and whether these are all."""
        from workbench.api.locations import flat_locations

        return flat_locations(self.loaded.automaton, limit)

    def save(self, path: str | Path) -> Path:
        """Write the diagram (`.svg`)."""
        return save(path, self.svg)

    def __str__(self) -> str:
        from workbench.reports.words.outline import render

        return "\n".join(render(self.tree))

    def __repr__(self) -> str:
        return f"<Picture of {self.loaded.name}>"

    def _repr_html_(self) -> str:
        return f'<div style="overflow-x:auto">{self.svg}</div>'
