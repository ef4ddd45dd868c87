"""A system with its locations divided into abstract states, for parts of cells.

Every reached abstract state becomes a location of its own: its flow is confined to its cell,
its switches lead from cell to cell, and where the flow can leave it over the hyperplane of a
predicate there is a switch that keeps the state, open on the facet as far as some derivative
points outwards. A template invariant of this system, one polyhedron for each location, is what
the certificate calls parts of cells: predicate abstraction that keeps the reached part of
every cell.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from workbench.abstraction.predicates.cells import AbstractState
from workbench.abstraction.predicates.search import AbstractGraph, Step
from workbench.abstraction.templates.sampled_runs import SampledRuns
from workbench.abstraction.templates.system import (
    Array,
    Flow,
    Polyhedron,
    Start,
    Switch,
    TemplateSystem,
)
from workbench.models.automaton import primed
from workbench.models.checker.covers import Part, Region


@dataclass(frozen=True)
class SplitSystem:
    """The system whose locations are abstract states, and the states by their names."""

    system: TemplateSystem
    states: dict[str, AbstractState]

    def runs(self, graph: AbstractGraph, whole: SampledRuns) -> SampledRuns:
        """Sampled points by the abstract states they lie in."""
        return SampledRuns(self._sorted(graph, whole.early), self._sorted(graph, whole.late))

    def _sorted(self, graph: AbstractGraph, points: dict[str, Array]) -> dict[str, Array]:
        found: dict[str, Array] = {}
        for name, state in self.states.items():
            if state.location in points:
                here = points[state.location]
                inside = here[graph.cells.inside(state, here)]
                if len(inside):
                    found[name] = inside
        return found

    def regions(self, graph: AbstractGraph, parts: dict[str, Part]) -> tuple[Region, ...]:
        """The parts of abstract states, by name, as one region for each location."""
        found: dict[str, dict[tuple[int, ...], Part]] = {}
        for name, part in parts.items():
            state = self.states[name]
            found.setdefault(state.location, {})[state.signs] = part
        return tuple(
            Region(location, graph.cells.predicates[location], tuple(cells), tuple(cells.values()))
            for location, cells in found.items()
        )


def split_system(graph: AbstractGraph) -> SplitSystem:
    """The system of the reached abstract states."""
    system = graph.cells.system
    names = {state: f"{state.location} #{k}" for k, state in enumerate(graph.found)}
    split = _Split(graph, names)
    return SplitSystem(
        TemplateSystem(
            system.names,
            tuple(names.values()),
            tuple(split.starts()),
            tuple(split.flows()),
            tuple(split.switches()),
            tuple(split.bad()),
        ),
        {name: state for state, name in names.items()},
    )


@dataclass(frozen=True)
class _Split:
    graph: AbstractGraph
    names: dict[AbstractState, str]

    @property
    def system(self) -> TemplateSystem:
        return self.graph.cells.system

    def starts(self) -> Iterator[Start]:
        n = len(self.system.names)
        for start in self.system.starts:
            for state, name in self.names.items():
                if state.location == start.location and self.graph.found[state].source is None:
                    yield Start(name, self._within(start.relation, state, n))

    def flows(self) -> Iterator[Flow]:
        for state, name in self.names.items():
            for flow in self._flows_of(state):
                domain = self._within(flow.domain, state, 0)
                yield Flow(name, flow.state, flow.rest, flow.constant, domain)

    def switches(self) -> Iterator[Switch]:
        n = len(self.system.names)
        for step in dict.fromkeys(self.graph.steps):
            if step.source is None:
                continue
            ends = self.names[step.source], self.names[step.target]
            if step.predicate is not None:
                for flow in self._flows_of(step.source):
                    yield Switch(*ends, self._over_facet(step, flow), True)
            else:
                assert step.switch is not None
                switch = self.system.switches[step.switch]
                relation = self._within(switch.relation, step.source, 0)
                yield Switch(*ends, self._within(relation, step.target, n), switch.keeps_state)

    def bad(self) -> Iterator[tuple[str, Polyhedron]]:
        for state, name in self.names.items():
            for location, polyhedron in self.system.bad:
                if location == state.location:
                    yield name, self._within(polyhedron, state, 0)

    def _flows_of(self, state: AbstractState) -> Iterator[Flow]:
        return (flow for flow in self.system.flows if flow.location == state.location)

    def _within(self, polyhedron: Polyhedron, state: AbstractState, first: int) -> Polyhedron:
        """The polyhedron with the unknowns from `first` on confined to a cell."""
        rows, bound = self.graph.cells.half_spaces(state)
        placed = np.zeros((len(rows), polyhedron.matrix.shape[1]))
        placed[:, first : first + rows.shape[1]] = rows
        return Polyhedron(
            polyhedron.names,
            np.vstack([placed, polyhedron.matrix]),
            np.concatenate([bound, polyhedron.bound]),
        )

    def _over_facet(self, step: Step, flow: Flow) -> Polyhedron:
        """x' = x on the facet, where some derivative does not point inwards."""
        assert step.source is not None and step.predicate is not None
        names = self.system.names
        n = len(names)
        own, level = (part[step.predicate] for part in self.graph.cells.half_spaces(step.source))
        growth = np.concatenate([-(own @ flow.state), -(own @ flow.rest)])
        x_and_rest = np.vstack([np.concatenate([-own, np.zeros(len(growth) - n)]), growth])
        inside = self._within(flow.domain, step.source, 0)
        x_and_rest = np.vstack([x_and_rest, inside.matrix])
        matrix = np.zeros((len(x_and_rest) + 2 * n, n + x_and_rest.shape[1]))
        matrix[: len(x_and_rest), :n] = x_and_rest[:, :n]
        matrix[: len(x_and_rest), 2 * n :] = x_and_rest[:, n:]
        same = np.hstack([np.eye(n), -np.eye(n)])
        matrix[len(x_and_rest) :, : 2 * n] = np.vstack([same, -same])
        outward = float(own @ flow.constant)
        bound = np.concatenate([[-level, outward], inside.bound, np.zeros(2 * n)])
        rest = flow.domain.names[n:]
        return Polyhedron((*names, *map(primed, names), *rest), matrix, bound)
