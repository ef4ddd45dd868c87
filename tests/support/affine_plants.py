"""Plants: affine hybrid automata that are safe by a margin known from simulation.

The property `bound` of a plant says that a linear form stays below a level, which is set
beyond the extreme that a simulation of its own (many runs, inputs at their corners, switches
early and late) has seen: by `MARGIN` of the distance between that extreme and the middle of
what was seen.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from workbench.models.automaton import (
    Constraint,
    Edge,
    HybridAutomaton,
    Initial,
    Input,
    Location,
    Property,
    Range,
    Variable,
)
from workbench.models.expressions.expression import Expression
from workbench.models.expressions.text import parse_expression

Array = NDArray[np.float64]
HalfSpace = tuple[tuple[float, ...], float]
"""(a, b) stands for a * x <= b."""

MARGIN = 0.35
RUNS, STEPS = 300, 1500


@dataclass(frozen=True)
class Mode:
    """x' = matrix x + effect u + constant while every half-space of `stays` holds; `clamped`
    variables rest at the bounds that `stays` sets them."""

    name: str
    matrix: Array
    effect: Array
    constant: Array
    stays: tuple[HalfSpace, ...] = ()
    clamped: tuple[int, ...] = ()


@dataclass(frozen=True)
class Switch:
    """From one mode to another where every half-space of `guard` holds; x := factor x + shift."""

    source: int
    target: int
    guard: tuple[HalfSpace, ...]
    factor: Array | None = None
    shift: Array | None = None


@dataclass(frozen=True)
class Plant:
    """A model before its bound is known: `watched` is the form that shall stay low."""

    name: str
    modes: tuple[Mode, ...]
    switches: tuple[Switch, ...]
    starts: tuple[tuple[float, float], ...]
    inputs: tuple[tuple[float, float], ...]
    watched: Array
    first: int = 0
    pace: float = 0.02
    level: float = field(default=float("nan"))

    @property
    def dimension(self) -> int:
        return len(self.starts)


# Simulation


def watched_range(plant: Plant, generator: Generator) -> tuple[float, float]:
    """The least and the largest value of the watched form over many runs, whose inputs stay
    at a corner of their bounds for few or for many steps."""
    low, high = (np.array(side) for side in zip(*plant.starts, strict=True))
    corner = generator.random((RUNS, plant.dimension)).round()
    points = low + (high - low) * corner
    places = np.full(RUNS, plant.first)
    eager = generator.random(RUNS) < 0.5
    restless = 0.2 ** generator.uniform(0.5, 4.0, RUNS)
    drive = _drawn(plant, generator, RUNS)
    values = points @ plant.watched
    least, largest = float(values.min()), float(values.max())
    for _ in range(STEPS):
        renew = generator.random(RUNS) < restless
        drive[renew] = _drawn(plant, generator, RUNS)[renew]
        points = _flown(plant, points, places, drive)
        points, places = _switched(plant, points, places, eager, generator)
        values = points @ plant.watched
        least, largest = min(least, float(values.min())), max(largest, float(values.max()))
    return least, largest


def _drawn(plant: Plant, generator: Generator, count: int) -> Array:
    if not plant.inputs:
        return np.zeros((count, 0))
    low, high = (np.array(side) for side in zip(*plant.inputs, strict=True))
    drawn: Array = low + (high - low) * generator.random((count, len(low))).round()
    return drawn


def _flown(plant: Plant, points: Array, places: NDArray[np.intp], drive: Array) -> Array:
    """A step of the midpoint rule in every run's mode, clamped variables held at bounds."""
    moved = points.copy()
    for k, mode in enumerate(plant.modes):
        here = places == k
        if not here.any():
            continue
        x, u = points[here], drive[here]
        push = u @ mode.effect.T + mode.constant
        middle = x + plant.pace / 2 * (x @ mode.matrix.T + push)
        x = x + plant.pace * (middle @ mode.matrix.T + push)
        for j in mode.clamped:
            for row, bound in mode.stays:
                if np.flatnonzero(row).tolist() == [j]:
                    limit = bound / row[j]
                    x[:, j] = (
                        np.minimum(x[:, j], limit) if row[j] > 0 else np.maximum(x[:, j], limit)
                    )
        moved[here] = x
    return moved


def _switched(
    plant: Plant,
    points: Array,
    places: NDArray[np.intp],
    eager: NDArray[np.bool_],
    generator: Generator,
) -> tuple[Array, NDArray[np.intp]]:
    """Switches that are enabled: at once in eager runs, where they must in the others."""
    points, places = points.copy(), places.copy()
    left = np.zeros(len(points), dtype=bool)
    for k, mode in enumerate(plant.modes):
        here = places == k
        for row, bound in mode.stays:
            if np.flatnonzero(row).tolist() not in [[j] for j in mode.clamped]:
                left |= here & (points @ np.array(row) > bound)
    want = left | (eager & (generator.random(len(points)) < 0.2))
    before = places.copy()
    for number in generator.permutation(len(plant.switches)):
        switch = plant.switches[number]
        enabled = want & (before == switch.source) & (places == before)
        for row, bound in switch.guard:
            enabled &= points @ np.array(row) <= bound + 1e-9
        if not enabled.any():
            continue
        if switch.factor is not None and switch.shift is not None:
            points[enabled] = points[enabled] @ switch.factor.T + switch.shift
        places[enabled] = switch.target
    return points, places


# The automaton


def automaton_of(plant: Plant) -> HybridAutomaton:
    """The plant as the workbench's automaton, with the property `bound`."""
    names = [f"x{i + 1}" for i in range(plant.dimension)]
    drives = [f"u{i + 1}" for i in range(len(plant.inputs))]
    locations = tuple(
        Location(
            mode.name,
            tuple(_flow(mode, i, names, drives, plant) for i in range(plant.dimension)),
            (),
            _condition(mode.stays, names),
        )
        for mode in plant.modes
    )
    edges = tuple(
        Edge(
            plant.modes[s.source].name,
            plant.modes[s.target].name,
            _condition(s.guard, names),
            _resets(s, names),
        )
        for s in plant.switches
    )
    start = " && ".join(
        f"{_number(low)} <= {name} && {name} <= {_number(high)}"
        for name, (low, high) in zip(names, plant.starts, strict=True)
    )
    claim = _parsed(f"{_sum(plant.watched, names)} <= {_number(plant.level)}")
    return HybridAutomaton(
        name=plant.name,
        variables=tuple(Variable(name) for name in names),
        locations=locations,
        edges=edges,
        initial=(Initial(plant.modes[plant.first].name, _parsed(start)),),
        inputs=tuple(
            Input(name, low=Fraction(low), high=Fraction(high))
            for name, (low, high) in zip(drives, plant.inputs, strict=True)
        ),
        properties=(Property("bound", claim),),
    )


def _flow(mode: Mode, i: int, names: list[str], drives: list[str], plant: Plant) -> Constraint:
    """An equation, or for a clamped variable the range of its rate, with 0 in it."""
    if i in mode.clamped:
        low = high = mode.constant[i]
        for gain, (least, most) in zip(mode.effect[i], plant.inputs, strict=True):
            low, high = low + min(gain * least, gain * most), high + max(gain * least, gain * most)
        ends = [_parsed(_number(v)) for v in (min(low, 0.0), max(high, 0.0))]
        return Constraint(names[i], Range(ends[0], ends[1]))
    text = _sum([*mode.matrix[i], *mode.effect[i]], [*names, *drives], mode.constant[i])
    return Constraint(names[i], Range.exactly(_parsed(text)))


def _resets(switch: Switch, names: list[str]) -> tuple[Constraint, ...]:
    if switch.factor is None or switch.shift is None:
        return ()
    return tuple(
        Constraint(name, Range.exactly(_parsed(_sum(row, names, shift))))
        for i, (name, row, shift) in enumerate(zip(names, switch.factor, switch.shift, strict=True))
        if shift != 0 or not np.array_equal(row, np.eye(len(names))[i])
    )


def _condition(half_spaces: tuple[HalfSpace, ...], names: list[str]) -> Expression:
    texts = [f"{_sum(row, names)} <= {_number(bound)}" for row, bound in half_spaces]
    return _parsed(" && ".join(texts) or "true")


def _parsed(text: str) -> Expression:
    return parse_expression(text)


def _sum(
    coefficients: Array | list[float] | tuple[float, ...], names: list[str], constant: float = 0.0
) -> str:
    terms = [f"({_number(a)})*{n}" for a, n in zip(coefficients, names, strict=True) if a]
    return " + ".join([*terms, *([f"({_number(constant)})"] if constant or not terms else [])])


def _number(value: float) -> str:
    """The value as a fraction of thousandths."""
    return str(Fraction(round(float(value) * 1000), 1000))


# Corpora


def rounded(values: Array) -> Array:
    """The values in eighths."""
    return np.round(values * 8) / 8


def no_inputs(n: int) -> Array:
    """The effect of no inputs on n variables."""
    return np.zeros((n, 0))


Family = Callable[[Generator], Plant]


def drawn(families: Sequence[Family], per_family: int, seed: int) -> Iterator[Plant]:
    """Models of every family, each with a level that simulation has kept clear of."""
    for number, family in enumerate(families):
        for k in range(per_family):
            generator = np.random.default_rng([seed, number, k])
            plant = family(generator)
            least, largest = watched_range(plant, generator)
            level = largest + MARGIN * max((largest - least) / 2, 0.1)
            level = float(np.ceil(level * 100) / 100)
            yield replace(plant, name=f"{plant.name}_{k + 1}", level=level)


def report(families: Sequence[Family], arguments: list[str]) -> None:
    """Print the verdict and time of every model, and the success rates.

    Arguments: seconds for each model, method, a part of the names to choose by, models in
    each family, seed.
    """
    from workbench.abstraction.strategies.strategy import Task
    from workbench.abstraction.verification import deadline, verify
    from workbench.models.verdict import Verified

    given = dict(enumerate(arguments))
    seconds, method, chosen = float(given.get(0, 15)), given.get(1, "auto"), given.get(2, "")
    rates: dict[str, list[bool]] = {}
    for plant in drawn(families, int(given.get(3, 5)), int(given.get(4, 0))):
        if chosen not in plant.name:
            continue
        automaton = automaton_of(plant)
        begun, cpu = time.perf_counter(), time.process_time()
        verdict = verify(Task(automaton, automaton.properties[0], deadline(seconds)), method)
        rates.setdefault(plant.name.rpartition("_")[0], []).append(isinstance(verdict, Verified))
        print(
            f"{plant.name:24} {plant.dimension} variables, {len(plant.modes)} locations  "
            f"{type(verdict).__name__:9} {verdict.method:11} {time.perf_counter() - begun:6.2f} s "
            f"(cpu {time.process_time() - cpu:5.2f}) {getattr(verdict, 'reason', '')[:160]}",
            flush=True,
        )
    for family, proved in rates.items():
        print(f"{family:24} {sum(proved)} of {len(proved)}")
    print(f"proved {sum(map(sum, rates.values()))} of {sum(map(len, rates.values()))}")
