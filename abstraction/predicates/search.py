"""The reachable abstract states, on the fly: switches before flow, the states that are nearest to
bad ones first, stopping at a bad state."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import count
from typing import TYPE_CHECKING

from workbench.abstraction.predicates.cells import AbstractState, Cells
from workbench.abstraction.predicates.predicates import in_words
from workbench.abstraction.predicates.refinement_history import PathStep, comparison
from workbench.abstraction.predicates.slices import CellSlicer

if TYPE_CHECKING:
    import networkx

    from workbench.models.linear import Form


Distance = Callable[[AbstractState], tuple[int, float]]
"""How far a state is from bad ones: smaller is nearer."""


@dataclass(frozen=True)
class Step:
    """One transition of the abstract graph: a switch (its number), a flow over the hyperplane
    of a predicate (its number), or a flow that a slice of the source shows (its number)."""

    source: AbstractState | None
    target: AbstractState
    switch: int | None = None
    predicate: int | None = None
    slice: int | None = None


@dataclass
class AbstractGraph:
    """What has been reached and how, with every transition between reached states."""

    cells: Cells
    found: dict[AbstractState, Step] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    bad: AbstractState | None = None
    complete: bool = False
    expanded: int = 0
    """How many states were left by flow; the others were found, and the search was over."""

    def path(self, state: AbstractState) -> list[Step]:
        """The steps that first reached a state."""
        steps: list[Step] = []
        here: AbstractState | None = state
        while here is not None:
            steps.append(self.found[here])
            here = steps[-1].source
        return steps[::-1]

    def path_steps(self, state: AbstractState) -> tuple[PathStep, ...]:
        """The way to a state, for a history."""
        found: list[PathStep] = []
        for step in self.path(state):
            location, signs = step.target.location, step.target.signs
            forms = self.cells.predicates[location]
            cell = tuple(h.scaled(Fraction(s)) for h, s in zip(forms, signs, strict=True))
            if step.source is None:
                entered = "start"
            elif step.slice is not None:
                entered = f"flow within slice {step.slice}"
            elif step.predicate is None:
                entered = f"jump from {step.source.location}"
            else:
                entered = f"flow over {in_words(forms[step.predicate], 1).replace('<=', '=')}"
            found.append(PathStep(location, cell, entered))
        return tuple(found)

    def regions(self) -> dict[str, list[tuple[int, ...]]]:
        """The reached cells of every location."""
        cells: dict[str, list[tuple[int, ...]]] = {}
        for state in self.found:
            cells.setdefault(state.location, []).append(state.signs)
        return cells

    def in_words(self, state: AbstractState) -> str:
        """A state as its location and the comparisons that its signs stand for."""
        forms = self.cells.predicates[state.location]
        sides = [in_words(h, s) for h, s in zip(forms, state.signs, strict=True)]
        return f"{state.location}: {', '.join(sides)}"

    def to_networkx(
        self, parts: Mapping[AbstractState, tuple[Form, ...]] | None = None
    ) -> networkx.MultiDiGraph:
        """Nodes are numbers in order of discovery, with `location`, `cell` and `part`
        (comparisons), `reached`, `initial` and `bad`; edges carry `kind` (flow or switch) and
        `over`. With the parts of a proof, only those states are reached that have one."""
        import networkx

        graph = networkx.MultiDiGraph()
        number = {state: k for k, state in enumerate(self.found)}
        for state, k in number.items():
            forms = self.cells.predicates[state.location]
            cell = [in_words(h, s) for h, s in zip(forms, state.signs, strict=True)]
            reached = parts is None or state in parts
            graph.add_node(
                k,
                location=state.location,
                cell=cell,
                part=[comparison(h) for h in (parts or {}).get(state, ())],
                reached=reached,
                initial=reached and self.found[state].source is None,
                bad=parts is None and state == self.bad,
            )
        for step in self.steps:
            if step.source is None:
                continue
            kind = "flow" if step.switch is None else "switch"
            over = ""
            if step.predicate is not None:
                over = in_words(self.cells.predicates[step.source.location][step.predicate], 1)
            graph.add_edge(number[step.source], number[step.target], kind=kind, over=over)
        return graph


def explore(
    cells: Cells,
    most: int,
    stop: Callable[[], bool],
    *,
    stop_at_bad: bool = True,
    slicer: CellSlicer | None = None,
    distance: Distance | None = None,
) -> AbstractGraph:
    """The abstract states reachable from the initial ones, at most that many.

    With `stop_at_bad` the search ends at the first bad state. Switches are followed before
    flow: they cost less and often lead further. Of the states to be left by flow the nearest to
    bad ones, as `distance` tells, is the next; without it the first that was found. Flow is
    followed over facets, or by slices.
    """
    graph = AbstractGraph(cells)
    discrete: deque[AbstractState] = deque()
    flowing: list[tuple[tuple[int, float], int, AbstractState]] = []
    turns = count()

    def reach(step: Step) -> bool:
        """Note a step; whether the search shall end."""
        graph.steps.append(step)
        state = step.target
        if state in graph.found:
            return False
        graph.found[state] = step
        discrete.append(state)
        if graph.bad is None and cells.bad(state):
            graph.bad = state
            return stop_at_bad
        return False

    for state in cells.initial():
        if reach(Step(None, state)):
            return graph
    while discrete or flowing:
        if len(graph.found) > most or stop():
            return graph
        if discrete:
            state = discrete.popleft()
            near = (0, 0.0) if distance is None else distance(state)
            heapq.heappush(flowing, (near, next(turns), state))
            for target, k in cells.switched(state):
                if reach(Step(state, target, switch=k)):
                    return graph
            continue
        _, _, state = heapq.heappop(flowing)
        graph.expanded += 1
        if any(reach(step) for step in _flown(cells, state, slicer)):
            return graph
    graph.complete = True
    return graph


def _flown(cells: Cells, state: AbstractState, slicer: CellSlicer | None) -> Iterator[Step]:
    """Where flow leads."""
    if slicer is not None:
        for target, k in slicer.flown(state):
            yield Step(state, target, slice=k)
        return
    for p in cells.crossed(state):
        signs = (*state.signs[:p], -state.signs[p], *state.signs[p + 1 :])
        yield Step(state, AbstractState(state.location, signs), predicate=p)
