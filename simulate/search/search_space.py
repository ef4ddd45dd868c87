"""What a search may choose in a run: a point of a unit cube, read as a recipe.

Coordinates are, in this order: uncertain parameters, initial values, those of a thin initial
set (where equations bind initial values to each other), control points of input signals,
control points of derivatives in inclusions, and the first decisions of the run (waits, choices
between edges, places in ranges of resets). Values outside [0, 1] are clamped, so that searches
reach the ends of ranges.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from models.automaton import Initial, Input, Parameter
from models.expressions.expression import Expression
from models.expressions.traversal import free_variables
from simulate.inputs.signals import Lines, Signal, Steps, line_at
from simulate.monitoring.margin import margin_tree
from simulate.place import Prepared, inclusion_share
from simulate.policy import Level, Policy, Switching
from simulate.recipe import Recipe
from simulate.start.initial import Box, box_of
from simulate.start.linear_start import LinearStart
from simulate.start.polytope import Polytope
from simulate.stepping.calculator import Calculator
from simulate.stepping.methods import Adams
from simulate.stepping.tape import number

FREE_WIDTH = 10.0
"""How far beyond zero, or beyond its one bound, a value without bounds is searched."""

MAX_STEPS = 50_000
REPAIRS = 12


@dataclass(frozen=True, slots=True)
class Shape:
    """The choices that are not numbers: how long, how many control points, when to switch,
    from which initial set, and how many decisions are coordinates."""

    until: float
    pieces: int = 1
    switching: Switching = Switching.EARLIEST
    start: int = 0
    decisions: int = 0
    linear: bool = False


@dataclass(frozen=True, slots=True)
class Coordinate:
    """One number between bounds; `whole` for integers and truth values."""

    name: str
    low: float
    high: float
    whole: bool = False

    def at(self, x: float) -> float:
        """The value at a point of the unit interval."""
        share = min(max(x, 0.0), 1.0)
        value = self.high if share == 1.0 else self.low + share * (self.high - self.low)
        return float(round(value)) if self.whole else value

    def place(self, value: float) -> float:
        """The point of the unit interval for a value."""
        width = self.high - self.low
        return (value - self.low) / width if width > 0 else 0.5


class SearchSpace:
    """The coordinates of one shape of runs."""

    def __init__(self, prepared: Prepared, shape: Shape, seed: int = 0):
        self.prepared, self.shape, self.seed = prepared, shape, seed
        self.start = _nth_start(prepared, shape.start)
        box = box_of(self.start.condition)
        self.parameters = [c for p in prepared.view.parameters if (c := _of_range(p)) is not None]
        self.hull = _hull(prepared, self.start, box)
        self.initial = [c for c in _initial_coordinates(prepared, box) if c.name not in self._thin]
        self.inputs = [c for i in prepared.inputs if (c := _of_range(i)) is not None]
        self.inclusions = [Coordinate(inclusion_share(n), 0.0, 1.0) for n in prepared.loose]
        self._feasible = _Membership(prepared, box, self.start.condition)
        self._anchor: list[float] | None = None

    @property
    def _thin(self) -> tuple[str, ...]:
        """The variables that start in a thin set, on coordinates of its own."""
        return () if self.hull is None else self.hull.names

    @property
    def _hull_points(self) -> int:
        return 0 if self.hull is None else self.hull.dimension

    @property
    def dimension(self) -> int:
        """How many numbers a point has."""
        fixed = len(self.parameters) + len(self.initial) + self._hull_points
        return fixed + self.signal_points + self.shape.decisions

    @property
    def signal_points(self) -> int:
        """How many of them are control points."""
        per_input = self.shape.pieces + (1 if self.shape.linear else 0)
        return len(self.inputs) * per_input + len(self.inclusions) * self.shape.pieces

    def anchor(self, recipe_start: dict[str, float]) -> None:
        """Tell a known initial state; points outside the initial set are moved towards it."""
        self._anchor = [c.place(recipe_start.get(c.name, c.low)) for c in self.initial]

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
        own, share = take(len(self.initial)), take(self._hull_points)
        thin = {} if self.hull is None else self.hull.at(share)
        initial = self._initial(own, thin, parameters)
        inputs: dict[str, Signal] = {}
        for c in self.inputs:
            inputs[c.name] = self._signal(c, take(self.shape.pieces + int(self.shape.linear)))
        for c in self.inclusions:
            inputs[c.name] = self._steps(c, take(self.shape.pieces))
        script = tuple(min(max(v, 0.0), 0.999999) for v in take(self.shape.decisions))
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
            method=Adams(max_steps=MAX_STEPS),
            stop_on_violation=False,
            sliding=False,
        )

    def point(self, recipe: Recipe) -> list[float] | None:
        """The point whose run is most like that of a recipe: values that it does not give are
        in the middle, signals are read in the middle of each piece. None for another start."""
        if recipe.location not in (None, self.start.location):
            return None
        x = [_placed(c, recipe.parameters.get(c.name)) for c in self.parameters]
        x += [_placed(c, recipe.initial.get(c.name)) for c in self.initial]
        if self.hull is not None:
            known = {n: v for n, v in recipe.initial.items() if isinstance(v, int | float)}
            x += self.hull.share(known)
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
        return [_placed(c, a + b * t) for (a, b), t in zip(lines, times, strict=True)]

    def _initial(
        self, x: Sequence[float], thin: dict[str, float], parameters: dict[str, float]
    ) -> dict[str, float]:
        """Initial values, moved towards the anchor until they lie in the initial set."""
        values = {c.name: c.at(v) for c, v in zip(self.initial, x, strict=True)} | thin
        if self._anchor is None or self._feasible(values, parameters):
            return values
        share = 0.5
        for _ in range(REPAIRS):
            values = {
                c.name: c.at(a + share * (min(max(v, 0.0), 1.0) - a))
                for c, v, a in zip(self.initial, x, self._anchor, strict=True)
            } | thin
            if self._feasible(values, parameters):
                return values
            share *= 0.5
        return {c.name: c.at(a) for c, a in zip(self.initial, self._anchor, strict=True)} | thin

    def _signal(self, c: Coordinate, x: Sequence[float]) -> Signal:
        if not self.shape.linear:
            return self._steps(c, x)
        times = [self.shape.until * i / self.shape.pieces for i in range(len(x))]
        return Lines(tuple(times), tuple(c.at(v) for v in x))

    def _steps(self, c: Coordinate, x: Sequence[float]) -> Steps:
        times = [self.shape.until * i / len(x) for i in range(len(x))]
        return Steps(tuple(times), tuple(c.at(v) for v in x))


def _placed(c: Coordinate, value: object) -> float:
    if isinstance(value, str) or not isinstance(value, int | float | Fraction):
        return 0.5
    return min(max(c.place(float(value)), 0.0), 1.0)


def with_seed(recipe: Recipe, seed: int) -> Recipe:
    """The recipe with another source for the decisions after its script."""
    return replace(recipe, seed=seed)


class _Membership:
    """Whether values lie in an initial set, as far as this can be told without solving:
    variables that are not given take the value of their definition or the middle."""

    def __init__(self, prepared: Prepared, box: Box, condition: Expression):
        self._names, self._box = prepared.names, box
        self._tree = margin_tree(condition)
        self._leaves = Calculator(
            [leaf.expression for leaf in self._tree.leaves], prepared.symbols, prepared.externals
        )
        self._truths = [leaf.truth for leaf in self._tree.leaves]
        self._definitions = Calculator(
            [e for _, e in box.defined], prepared.symbols, prepared.externals
        )

    def __call__(self, given: dict[str, float], parameters: dict[str, float]) -> bool:
        names = {*self._names, *self._leaves.names, *self._definitions.names}
        values = dict.fromkeys(names, 0.0)
        for name in names:
            bounds = [b for b in (self._box.low.get(name), self._box.high.get(name)) if b]
            if bounds:
                values[name] = sum(map(number, bounds)) / len(bounds)
        values.update(parameters)
        values.update(given)
        for i, (name, _) in enumerate(self._box.defined):
            if name not in given:
                values[name] = self._definitions(values)[i]
        margins = [
            (1.0 if v else -1.0) if truth else v
            for v, truth in zip(self._leaves(values), self._truths, strict=True)
        ]
        return self._tree(margins) >= -1e-12


def _nth_start(prepared: Prepared, index: int) -> Initial:
    for i, start in enumerate(prepared.starts()):
        if i == index:
            return start
    raise IndexError(index)


def _of_range(given: Input | Parameter) -> Coordinate | None:
    if given.type.name not in ("real", "int", "bool"):
        return None
    if given.type.name == "bool":
        return Coordinate(given.name, 0.0, 1.0, True)
    low, high = _bounds(given.low, given.high)
    return Coordinate(given.name, low, high, given.type.name == "int") if low < high else None


def _bounds(low: Fraction | None, high: Fraction | None) -> tuple[float, float]:
    """Numbers between which to search; an open side ends at a customary distance."""
    if low is None and high is None:
        return -FREE_WIDTH, FREE_WIDTH
    if low is None:
        assert high is not None
        return number(high) - max(FREE_WIDTH, abs(number(high))), number(high)
    if high is None:
        return number(low), number(low) + max(FREE_WIDTH, abs(number(low)))
    return number(low), number(high)


def _hull(prepared: Prepared, start: Initial, box: Box) -> Polytope | None:
    """The set of the initial values that equations bind to each other, where those are linear
    and the same for all parameters and inputs."""
    linear = LinearStart(prepared, start.condition, box.defined)
    known = {p.name for p in prepared.view.parameters} | {i.name for i in prepared.inputs}
    if not linear.has_equations or not known.isdisjoint(free_variables(start.condition)):
        return None
    found = linear.polytope({})
    return found if found is not None and found.dimension > 0 else None


def _initial_coordinates(prepared: Prepared, box: Box) -> list[Coordinate]:
    defined = {name for name, _ in box.defined}
    found = []
    for name in prepared.names:
        declared = prepared.types.get(name)
        if name in defined or declared is None or declared.name not in ("real", "int"):
            continue
        low, high = box.low.get(name), box.high.get(name)
        if low is None and high is None and _constrained(box.rest, name):
            continue
        a, b = _bounds(low, high)
        if a < b:
            found.append(Coordinate(name, a, b, declared.name == "int"))
    return found


def _constrained(rest: Expression, name: str) -> bool:
    """Whether a variable without bounds of its own is bound to others."""
    return name in free_variables(rest)
