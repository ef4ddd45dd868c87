"""The abstract graph over-approximates runs: with inputs, urgent edges, resets and counters.

Runs are worked out here, by matrix exponentials with inputs that change from tick to tick, and by
bisection where an urgent edge becomes enabled. Every cell that a run is strictly inside must be in
the graph, and every way from one such cell to another: a switch where the run jumped, a chain of
flow steps where time passed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

import networkx
import numpy as np
import pytest
from numpy.random import Generator
from numpy.typing import NDArray

from workbench.abstraction.predicates.cells import AbstractState, Cells
from workbench.abstraction.predicates.predicates import Origin, Predicate, distinct, normalised
from workbench.abstraction.predicates.search import AbstractGraph, explore
from workbench.abstraction.predicates.slices import CellSlicer
from workbench.abstraction.predicates.tracked_slices import TrackedSearch
from workbench.abstraction.templates.system import template_system
from workbench.models.automaton import (
    INT,
    Constraint,
    Edge,
    HybridAutomaton,
    Initial,
    Input,
    Kind,
    Location,
    Property,
    Range,
    Variable,
)
from workbench.models.expressions.text import parse_expression
from workbench.models.linear import Form
from workbench.models.lowering.problem import linear_problem
from workbench.reach.affine.matrix_exponential import matrix_exponential

Array = NDArray[np.float64]
TICK = 0.05
BOUND, FORCE, MOST = 3.0, 0.5, 2
CLEARLY = 1e-6


@dataclass(frozen=True)
class Law:
    """(x, y)' = matrix (x, y) + push + (u, 0)."""

    matrix: Array
    push: Array
    known: dict[tuple[float, float], Array] = field(default_factory=dict)

    def after(self, point: Array, force: float, time: float) -> Array:
        if (force, time) not in self.known:
            block = np.zeros((3, 3))
            block[:2, :2], block[:2, 2] = self.matrix, self.push + np.array([force, 0.0])
            self.known[force, time] = matrix_exponential(block * time)
        moved: Array = (self.known[force, time] @ np.append(point, 1.0))[:2]
        return moved


@dataclass(frozen=True)
class Leap:
    """normal (x, y) >= level and n < MOST (or n == MOST, then n := 0): x := half x + shift + w,
    |w| <= spread, n := n + 1."""

    source: str
    target: str
    normal: Array
    level: float
    shift: float
    spread: float
    urgent: bool
    resets_counter: bool

    def enabled(self, point: Array, n: int) -> bool:
        counts = n == MOST if self.resets_counter else n < MOST
        return counts and float(self.normal @ point) >= self.level

    def edge(self) -> Edge:
        a, b = (Fraction(float(v)) for v in self.normal)
        count = f"n == {MOST}" if self.resets_counter else f"n <= {MOST - 1}"
        guard = f"({a})*x + ({b})*y >= {Fraction(self.level)} && {count}"
        low, high = (
            parse_expression(f"1/2*x + ({Fraction(self.shift + s * self.spread)})") for s in (-1, 1)
        )
        counter = parse_expression("0" if self.resets_counter else "n + 1")
        resets = (Constraint("x", Range(low, high)), Constraint("n", Range.exactly(counter)))
        return Edge(self.source, self.target, parse_expression(guard), resets, urgent=self.urgent)


@dataclass(frozen=True)
class Machine:
    """Two locations with a law each, and leaps between them."""

    laws: dict[str, Law]
    leaps: tuple[Leap, ...]

    def automaton(self) -> HybridAutomaton:
        box = parse_expression(f"x >= -{BOUND} && x <= {BOUND} && y >= -{BOUND} && y <= {BOUND}")

        def flows(law: Law) -> tuple[Constraint, ...]:
            rows = zip("xy", law.matrix, law.push, (" + u", ""), strict=True)
            return tuple(
                Constraint(
                    v,
                    Range.exactly(
                        parse_expression(
                            f"({Fraction(a)})*x + ({Fraction(b)})*y + ({Fraction(c)}){extra}"
                        )
                    ),
                )
                for v, (a, b), c, extra in rows
            )

        start = "x >= -1 && x <= 1 && y >= -1 && y <= 1 && n == 0"
        return HybridAutomaton(
            name="machine",
            variables=(Variable("x"), Variable("y"), Variable("n", INT, Kind.DISCRETE)),
            locations=tuple(Location(name, flows(law), (), box) for name, law in self.laws.items()),
            edges=tuple(leap.edge() for leap in self.leaps),
            initial=(Initial("a", parse_expression(start)),),
            inputs=(Input("u", low=-Fraction(FORCE), high=Fraction(FORCE)),),
            properties=(Property("true", parse_expression("x <= 100")),),
        )

    def run(self, generator: Generator) -> Iterator[tuple[str, Array, int, bool]]:
        """Location, point, counter, and whether a jump led there."""
        place, point, n = "a", generator.uniform(-1, 1, 2), 0
        yield place, point, n, False
        for _ in range(120):
            leaps = [leap for leap in self.leaps if leap.source == place]
            ready = [leap for leap in leaps if leap.enabled(point, n)]
            must = any(leap.urgent for leap in ready)
            if ready and (must or generator.random() < 0.2):
                leap = ready[int(generator.integers(len(ready)))]
                noise = generator.uniform(-leap.spread, leap.spread)
                point = np.array([0.5 * point[0] + leap.shift + noise, point[1]])
                place, n = leap.target, 0 if leap.resets_counter else n + 1
            else:
                point = self._flown(place, point, n, generator)
            if np.abs(point).max() > BOUND:
                return
            yield place, point, n, place != leaps[0].source

    def _flown(self, place: str, point: Array, n: int, generator: Generator) -> Array:
        """After a tick, or where an urgent leap is enabled first."""
        law, force = self.laws[place], float(generator.choice([-FORCE, FORCE]))
        urgent = [leap for leap in self.leaps if leap.source == place and leap.urgent]

        def stopped(time: float) -> bool:
            return any(leap.enabled(law.after(point, force, time), n) for leap in urgent)

        pieces = np.linspace(0, TICK, 6)
        late = next((t for t in pieces[1:] if stopped(float(t))), None)
        if late is None:
            return law.after(point, force, TICK)
        early = float(late) - TICK / 5
        for _ in range(30):
            middle = (early + late) / 2
            early, late = (early, middle) if stopped(middle) else (middle, late)
        return law.after(point, force, float(late))


def random_machine(generator: Generator) -> Machine:
    def law() -> Law:
        return Law(generator.integers(-6, 7, (2, 2)) / 4, generator.integers(-6, 7, 2) / 4)

    def leap(source: str, target: str, urgent: bool, resets: bool) -> Leap:
        normal = np.array([generator.integers(-4, 5) / 4, 1.0])
        level, shift = generator.integers(-3, 4) / 4, generator.integers(-4, 5) / 4
        spread = generator.integers(0, 3) / 8
        return Leap(
            source, target, normal, float(level), float(shift), float(spread), urgent, resets
        )

    leaps = (
        leap("a", "b", bool(generator.integers(2)), False),
        leap("b", "a", bool(generator.integers(2)), False),
        leap("b", "a", False, True),
        leap("a", "b", True, True),
    )
    return Machine({"a": law(), "b": law()}, leaps)


def random_predicates(generator: Generator) -> tuple[Predicate, ...]:
    found = [Predicate(Form({"n": Fraction(1)}, Fraction(-1, 2)), Origin.GIVEN)]
    for k in range(4):
        a, b, c, d = (Fraction(int(v), 4) for v in generator.integers(-8, 9, 4))
        coefficients = {"x": a or Fraction(1), "y": b or Fraction(1)}
        if k == 0:
            coefficients["n"] = d or Fraction(1)
        form = normalised(Form(coefficients, c + Fraction(1, 64)))
        assert form is not None
        found.append(Predicate(form, Origin.GIVEN))
    return distinct(found)


class Witnessed:
    """What the graph has, and whether a run is in it."""

    def __init__(self, graph: AbstractGraph):
        self.cells, self.reached = graph.cells, set(graph.found)
        self.switched = {(s.source, s.target) for s in graph.steps if s.switch is not None}
        self.flows = networkx.DiGraph()
        self.flows.add_nodes_from(graph.found)
        self.flows.add_edges_from(
            (s.source, s.target) for s in graph.steps if s.source and s.predicate is not None
        )

    def strictly_in(self, place: str, point: Array, n: int) -> AbstractState | None:
        """The cell of a state that is not near a hyperplane."""
        values = {"x": point[0], "y": point[1], "n": float(n)}
        state = np.array([values[name] for name in self.cells.system.names])
        found = AbstractState(place, self.cells.containing(place, state))
        inside = self.cells.inside(found, state[None], slack=-CLEARLY)[0]
        return found if inside else None

    def follow(self, run: Iterator[tuple[str, Array, int, bool]]) -> int:
        """Check a run; the number of its steps between different cells."""
        before: AbstractState | None = None
        changes = 0
        for place, point, n, jumped in run:
            state = self.strictly_in(place, point, n)
            if state is not None:
                assert state in self.reached
            if state is not None and before is not None and state != before:
                changes += 1
                if jumped:
                    assert (before, state) in self.switched
                else:
                    assert networkx.has_path(self.flows, before, state)
            before = state
        return changes


@pytest.mark.parametrize("seed", range(12))
def test_runs_are_in_the_graph(seed: int) -> None:
    generator = np.random.default_rng(seed)
    machine = random_machine(generator)
    model = machine.automaton()
    system = template_system(linear_problem(model, model.properties[0]))
    cells = Cells(system, random_predicates(generator))
    graph = explore(cells, 10_000, lambda: False, stop_at_bad=False)
    assert graph.complete
    witnessed = Witnessed(graph)
    for _ in range(10):
        witnessed.follow(machine.run(generator))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_runs_are_in_what_tracked_slices_visit(seed: int) -> None:
    """Not only the cells, but the visited part of each holds every state of a run in it; some
    parts are smaller than their cells."""
    generator = np.random.default_rng(seed)
    machine = random_machine(generator)
    model = machine.automaton()
    system = template_system(linear_problem(model, model.properties[0]))
    cells = Cells(system, random_predicates(generator)[:3])
    search = TrackedSearch(cells, CellSlicer(cells, 0.3, most=8))
    graph = search.explore(10_000, lambda: False)
    assert graph.complete
    witnessed = Witnessed(graph)
    for _ in range(6):
        for place, point, n, _ in machine.run(generator):
            state = witnessed.strictly_in(place, point, n)
            if state is not None:
                values = {"x": point[0], "y": point[1], "n": float(n)}
                x = np.array([values[name] for name in cells.system.names])
                assert state in witnessed.reached
                assert np.all(search.directions @ x <= search.visited[state] + 1e-6)


@pytest.mark.slow
def test_the_oracle_visits_enough_to_fail() -> None:
    """Without its steps, runs contradict the graph: the test above can fail."""
    generator = np.random.default_rng(3)
    visited = jumped = contradicted = 0
    for seed in range(6):
        machine = random_machine(np.random.default_rng(seed))
        model = machine.automaton()
        system = template_system(linear_problem(model, model.properties[0]))
        cells = Cells(system, random_predicates(np.random.default_rng(seed)))
        witnessed = Witnessed(explore(cells, 10_000, lambda: False, stop_at_bad=False))
        runs = [list(machine.run(generator)) for _ in range(10)]
        visited += sum(witnessed.follow(iter(run)) for run in runs)
        jumped += sum(jump for run in runs for *_, jump in run)
        witnessed.flows.remove_edges_from(list(witnessed.flows.edges))
        witnessed.switched.clear()
        contradicted += any(not _is_in(witnessed, run) for run in runs)
    assert visited > 100
    assert jumped > 40
    assert contradicted >= 5


def _is_in(witnessed: Witnessed, run: list[tuple[str, Array, int, bool]]) -> bool:
    try:
        witnessed.follow(iter(run))
    except AssertionError:
        return False
    return True
