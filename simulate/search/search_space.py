"""What a search may choose in a run: a point of a unit cube, read as a recipe.

Coordinates are, in this order: uncertain parameters, initial values
(`simulate.search.initial_space`), control points of input signals,
control points of derivatives in inclusions, and the first decisions of the run (waits, choices
between edges, places in ranges of resets). Values outside [0, 1] are clamped, so that searches
reach the ends of ranges.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from workbench.models.automaton import Initial
from workbench.models.record import record
from workbench.simulate.effort import step_cost
from workbench.simulate.inputs.signals import Lines, Signal, Steps, line_at
from workbench.simulate.place import Prepared, inclusion_share
from workbench.simulate.policy import Level, Policy, Switching
from workbench.simulate.recipe import Recipe
from workbench.simulate.search.coordinate import Coordinate, of_range, placed
from workbench.simulate.search.initial_space import InitialSpace
from workbench.simulate.stepping.methods import Adams

JUMPS = (400, 8_000, 100_000)
"""So many jumps of a run are followed: few at first, for most runs end before; more where that
cuts runs off. (What jumps without end is ended by the simulator, `simulate.loop.accumulation`.)"""

MAX_STEPS, STEPS_PER_JUMP = 50_000, 10
"""So many steps of a run are followed, or so many for each jump if that is more."""

MOST_WORK, FEWEST_STEPS = 10_000.0, 1000
"""Of one run: the work that its steps may be (`simulate.effort`), and steps that it may always
have."""


@record
class Shape:
    """The choices that are not numbers: how long, how many control points, when to switch,
    from which initial set, how many decisions are coordinates, and how many jumps are
    followed."""

    until: float
    pieces: int = 1
    switching: Switching = Switching.EARLIEST
    start: int = 0
    decisions: int = 0
    linear: bool = False
    jumps: int = JUMPS[0]

    @property
    def further(self) -> Shape | None:
        """The same runs, of which more is followed; None if that is all there is."""
        more = next((jumps for jumps in JUMPS if jumps > self.jumps), None)
        return None if more is None else replace(self, jumps=more)


class SearchSpace:
    """The coordinates of one shape of runs."""

    def __init__(self, prepared: Prepared, shape: Shape, seed: int = 0):
        self.prepared, self.shape, self.seed = prepared, shape, seed
        self.start = _nth_start(prepared, shape.start)
        self.parameters = [c for p in prepared.view.parameters if (c := of_range(p)) is not None]
        self.initial = InitialSpace(prepared, self.start)
        self.inputs = [c for i in prepared.inputs if (c := of_range(i)) is not None]
        self._steps_at_most = _affordable_steps(prepared, self.start.location)
        self.inclusions = [Coordinate(inclusion_share(n), 0.0, 1.0) for n in prepared.loose]

    @property
    def dimension(self) -> int:
        """How many numbers a point has."""
        fixed = len(self.parameters) + self.initial.dimension
        return fixed + self.signal_points + self.shape.decisions

    @property
    def _max_steps(self) -> int:
        """So many steps of a run are followed."""
        wanted = max(MAX_STEPS, STEPS_PER_JUMP * self.shape.jumps)
        return min(wanted, self._steps_at_most)

    @property
    def is_decisions_only(self) -> bool:
        """Whether nothing but the decisions of a run is chosen."""
        return self.dimension == self.shape.decisions

    @property
    def signal_points(self) -> int:
        """How many of them are control points."""
        per_input = self.shape.pieces + (1 if self.shape.linear else 0)
        return len(self.inputs) * per_input + len(self.inclusions) * self.shape.pieces

    def recipe(self, x: Sequence[float]) -> Recipe:
        """The run of a point."""
        at = 0

        def take(count: int) -> Sequence[float]:
            nonlocal at
            part = x[at : at + count]
            at += count
            return part

        first = take(len(self.parameters))
        parameters = {c.name: c.at(v) for c, v in zip(self.parameters, first, strict=True)}
        initial = self.initial.values(take(self.initial.dimension), parameters)
        inputs: dict[str, Signal] = {}
        for c in self.inputs:
            inputs[c.name] = self._signal(c, take(self.shape.pieces + int(self.shape.linear)))
        for c in self.inclusions:
            inputs[c.name] = self._steps(c, take(self.shape.pieces))
        script = tuple(min(max(v, 0.0), 1.0) for v in take(self.shape.decisions))
        until = self.shape.until
        policy = Policy(
            self.shape.switching, Level.RANDOM, wait=0.1 * until, dwell=1e9 * until, script=script
        )
        return Recipe(
            until=until,
            initial=initial,
            location=self.start.location,
            parameters=parameters,
            inputs=inputs,
            policy=policy,
            seed=self.seed,
            method=Adams(max_steps=self._max_steps),
            stop_on_violation=False,
            sliding=False,
        )

    def point(self, recipe: Recipe) -> list[float] | None:
        """The point whose run is most like that of a recipe: values that it does not give are
        in the middle, signals are read in the middle of each piece. None for another start."""
        if recipe.location not in (None, self.start.location):
            return None
        x = [placed(c, recipe.parameters.get(c.name)) for c in self.parameters]
        parameters = {c.name: c.at(v) for c, v in zip(self.parameters, x, strict=True)}
        x += self.initial.point(recipe.initial, parameters)
        for c in self.inputs:
            x += self._signal_places(c, recipe, self.shape.pieces + int(self.shape.linear))
        for c in self.inclusions:
            x += self._signal_places(c, recipe, self.shape.pieces)
        script = recipe.policy.script[: self.shape.decisions]
        return [*x, *script, *([0.5] * (self.shape.decisions - len(script)))]

    def _signal_places(self, c: Coordinate, recipe: Recipe, count: int) -> list[float]:
        signal = recipe.inputs.get(c.name)
        if not isinstance(signal, Steps | Lines):
            return [0.5] * count
        linear = count > self.shape.pieces
        width = self.shape.until / self.shape.pieces
        times = [width * (i if linear else i + 0.5) for i in range(count)]
        lines = [line_at(signal, t) for t in times]
        return [placed(c, a + b * t) for (a, b), t in zip(lines, times, strict=True)]

    def _signal(self, c: Coordinate, x: Sequence[float]) -> Signal:
        if c.whole or not self.shape.linear:
            return self._steps(c, x)
        times = [self.shape.until * i / self.shape.pieces for i in range(len(x))]
        return Lines(tuple(times), tuple(c.at(v) for v in x))

    def _steps(self, c: Coordinate, x: Sequence[float]) -> Steps:
        times = [self.shape.until * i / len(x) for i in range(len(x))]
        return Steps(tuple(times), tuple(c.at(v) for v in x))


def _affordable_steps(prepared: Prepared, location: str) -> int:
    """How many steps of a run are worth their work, going by the size of the model."""
    flow = prepared.place(location).program.flow
    return max(FEWEST_STEPS, int(MOST_WORK / step_cost(len(flow), len(prepared.names))))


def with_seed(recipe: Recipe, seed: int) -> Recipe:
    """The recipe with another source for the decisions after its script."""
    return replace(recipe, seed=seed)


def _nth_start(prepared: Prepared, index: int) -> Initial:
    for i, start in enumerate(prepared.starts()):
        if i == index:
            return start
    raise IndexError(index)
