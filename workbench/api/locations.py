"""The flat locations of a model, as far as edges lead, in words and as plain data."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.models.automaton import Automaton, Edge, Location


@dataclass(frozen=True)
class FlatLocation:
    """A location of the product of all components, with the edges that leave it."""

    location: Location = field(repr=False)
    edges: tuple[Edge, ...] = field(repr=False)

    @property
    def name(self) -> str:
        """The places of all components."""
        return self.location.name

    @property
    def lines(self) -> list[str]:
        """Flows, equations, invariant and edges, one on a line."""
        from workbench.reports.words import wording

        return list(chain(wording.inside(self.location), map(wording.edge, self.edges)))

    @property
    def data(self) -> dict[str, Any]:
        """The same as plain data."""
        from workbench.reports.words import wording

        return {
            "name": self.name,
            "flows": list(map(wording.flow, self.location.flows)),
            "algebraic": list(map(wording.equation, self.location.algebraic)),
            "invariant": list(wording.conditions(self.location.invariant)),
            "edges": [
                {
                    "target": edge.target,
                    "label": edge.label,
                    "guard": str(edge.guard),
                    "resets": list(map(wording.assignment, edge.resets)),
                    "urgent": edge.urgent,
                }
                for edge in self.edges
            ],
        }


def flat_locations(automaton: Automaton, limit: int) -> tuple[list[FlatLocation], bool]:
    """The locations that edges lead to from the initial ones, nearest first, and whether these
    are all; guards are not evaluated."""
    starts = dict.fromkeys(start.location for start in automaton.initial_sets())
    queue = deque(islice(starts, limit))
    seen, complete = set(queue), len(starts) <= limit
    found: list[FlatLocation] = []
    while queue:
        name = queue.popleft()
        edges = tuple(automaton.edges_from(name))
        found.append(FlatLocation(automaton.location(name), edges))
        for edge in edges:
            if edge.target in seen:
                continue
            if len(seen) == limit:
                complete = False
                continue
            seen.add(edge.target)
            queue.append(edge.target)
    return found, complete
