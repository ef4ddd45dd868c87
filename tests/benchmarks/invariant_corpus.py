"""A corpus of affine hybrid automata that are safe by a margin known from simulation.

Every model is drawn from a family by a seed: one to four locations, two to six variables,
inputs, clamped variables, timers with resets. Its property `bound` says that a linear form
stays below a level, which is set beyond the extreme that a simulation of its own (many runs,
inputs at their corners, switches early and late) has seen: by `MARGIN` of the distance between
that extreme and the middle of what was seen.

Run it for the table of successes: `python tests/benchmarks/invariant_corpus.py [seconds]`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from models.automaton import (
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
from models.expression import Expression
from models.expression_text import parse_expression

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
    """The least and the largest value of the watched form over many runs."""
    low, high = (np.array(side) for side in zip(*plant.starts, strict=True))
    corner = generator.random((RUNS, plant.dimension)).round()
    points = low + (high - low) * corner
    places = np.full(RUNS, plant.first)
    eager = generator.random(RUNS) < 0.5
    drive = _drawn(plant, generator, RUNS)
    values = points @ plant.watched
    least, largest = float(values.min()), float(values.max())
    for _ in range(STEPS):
        renew = generator.random(RUNS) < 0.02
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


# Families


def _rounded(values: Array) -> Array:
    return np.round(values * 8) / 8


def _no_inputs(n: int) -> Array:
    return np.zeros((n, 0))


def _stable(generator: Generator, n: int) -> Array:
    """A random matrix, rounded to eighths, whose eigenvalues lie left of -1/4."""
    while True:
        matrix = _rounded(generator.normal(size=(n, n)))
        shift = np.ceil(8 * (np.linalg.eigvals(matrix).real.max() + 0.4)) / 8
        matrix = matrix - shift * np.eye(n)
        if np.abs(np.linalg.eigvals(matrix)).max() < 6:
            return matrix


def disturbed_linear(generator: Generator) -> Plant:
    """One location: a stable linear system with one or two bounded inputs."""
    n, m = int(generator.integers(2, 6)), int(generator.integers(1, 3))
    effect = _rounded(generator.normal(size=(n, m)))
    mode = Mode("only", _stable(generator, n), effect, np.zeros(n))
    starts = tuple((-0.5, 0.5) for _ in range(n))
    return Plant("disturbed_linear", (mode,), (), starts, ((-1.0, 1.0),) * m, np.eye(n)[0])


def hysteresis(generator: Generator) -> Plant:
    """A relay with hysteresis drives a chain of lags."""
    n = int(generator.integers(2, 5))
    rates = _rounded(0.5 + generator.random(n))
    matrix = np.diag(-rates)
    for i in range(1, n):
        matrix[i, i - 1] = rates[i]
    effect = np.zeros((n, 1))
    effect[0, 0] = 0.25
    power = np.zeros(n)
    power[0] = float(2 + generator.integers(0, 3)) * rates[0]
    top = tuple(float(v) for v in np.eye(n)[0])
    down = tuple(-v for v in top)
    on = Mode("on", matrix, effect, power, ((top, 1.5),))
    off = Mode("off", matrix, effect, np.zeros(n), ((down, -0.5),))
    switches = (Switch(0, 1, ((down, -1.25),)), Switch(1, 0, ((top, 0.75),)))
    starts = tuple((0.5, 1.0) for _ in range(n))
    return Plant("hysteresis", (on, off), switches, starts, ((-1.0, 1.0),), np.eye(n)[n - 1])


def saturated_regulator(generator: Generator) -> Plant:
    """A double integrator with drag under a saturated regulator: three locations."""
    k1, k2 = _rounded(1 + generator.random(2))
    drag, limit = 0.5, float(1 + generator.integers(0, 2))
    effect = np.array([[0.0], [0.375]])
    free = np.array([[0.0, 1.0], [0.0, -drag]])
    inner = free - np.array([[0.0, 0.0], [k1, k2]])
    law = (float(k1), float(k2))
    other = (-law[0], -law[1])
    modes = (
        Mode("linear", inner, effect, np.zeros(2), ((law, limit), (other, limit))),
        Mode("braking", free, effect, np.array([0.0, -limit]), ((other, -limit),)),
        Mode("pushing", free, effect, np.array([0.0, limit]), ((law, -limit),)),
    )
    switches = (
        Switch(0, 1, ((other, -limit),)),
        Switch(1, 0, ((law, limit),)),
        Switch(0, 2, ((law, -limit),)),
        Switch(2, 0, ((other, limit),)),
    )
    starts = ((-0.5, 0.5), (-0.5, 0.5))
    watched = np.eye(2)[int(generator.integers(0, 2))]
    return Plant("saturated_regulator", modes, switches, starts, ((-1.0, 1.0),), watched)


def duty_cycle(generator: Generator) -> Plant:
    """A heater that a timer turns on and off; the timer is reset at every switch."""
    rooms = int(generator.integers(1, 4))
    n = rooms + 1
    matrix = np.zeros((n, n))
    loss = _rounded(0.25 + 0.5 * generator.random(rooms))
    for i in range(rooms):
        matrix[i, i] = -loss[i]
        if i:
            matrix[i, i - 1] += 0.25
            matrix[i, i] -= 0.25
    clock = np.zeros(n)
    clock[-1] = 1.0
    heat = clock.copy()
    heat[0] = float(1 + generator.integers(0, 3))
    on_time, off_time = 1.0, float(1 + generator.integers(0, 2))
    later, sooner = tuple(clock.tolist()), tuple((-clock).tolist())
    on = Mode("on", matrix, _no_inputs(n), heat, ((later, on_time),))
    off = Mode("off", matrix, _no_inputs(n), clock, ((later, off_time),))
    keep, zero = np.diag(1.0 - clock), np.zeros(n)
    switches = (
        Switch(0, 1, ((sooner, -on_time + 0.25),), keep, zero),
        Switch(1, 0, ((sooner, -off_time),), keep, zero),
    )
    starts = (*(((0.0, 0.5),) * rooms), (0.0, 0.0))
    return Plant("duty_cycle", (on, off), switches, starts, (), np.eye(n)[rooms - 1])


def followers(generator: Generator) -> Plant:
    """Cars behind a leader whose speed is clamped and whose acceleration is an input."""
    cars = int(generator.integers(1, 3))
    n = 1 + 2 * cars  # leader's speed, then (gap error, speed) of each car
    gain, damping = _rounded(0.5 + generator.random(2))
    matrix = np.zeros((n, n))
    for c in range(cars):
        front = 0 if c == 0 else 2 * c
        gap, speed = 1 + 2 * c, 2 + 2 * c
        matrix[gap, front], matrix[gap, speed] = 1.0, -1.0
        matrix[speed, gap] = gain
        matrix[speed, front] += damping + 0.5
        matrix[speed, speed] -= damping + 0.5
    top = tuple(float(v) for v in np.eye(n)[0])
    bottom = tuple(-v for v in top)
    push = np.zeros((n, 1))
    push[0, 0] = 1.0
    mode = Mode("driving", matrix, push, np.zeros(n), ((top, 3.0), (bottom, 0.0)), (0,))
    starts = ((1.0, 2.0), *(((-0.25, 0.25), (1.0, 2.0)) * cars))
    watched = -np.eye(n)[2 * cars - 1]
    return Plant("followers", (mode,), (), starts, ((-1.0, 1.0),), watched)


def switched_stable(generator: Generator) -> Plant:
    """Two stable linear systems on the two sides of a band, with an input."""
    n = int(generator.integers(2, 5))
    while True:
        first = _stable(generator, n)
        second = first + _rounded(0.3 * generator.normal(size=(n, n)))
        if np.linalg.eigvals(second + second.T).max() < -0.2:
            break
    effect = np.ones((n, 1)) * 0.5
    normal = tuple(float(v) for v in np.eye(n)[n - 1])
    opposite = tuple(-v for v in normal)
    modes = (
        Mode("above", first, effect, np.zeros(n), ((opposite, 0.125),)),
        Mode("below", second, effect, np.zeros(n), ((normal, 0.125),)),
    )
    switches = (Switch(0, 1, ((normal, 0.0),)), Switch(1, 0, ((opposite, 0.0),)))
    starts = tuple((0.25, 1.0) for _ in range(n))
    return Plant("switched_stable", modes, switches, starts, ((-1.0, 1.0),), np.eye(n)[0])


def batch_tank(generator: Generator) -> Plant:
    """Fill, wait, drain, rest: four locations, level, temperature and a timer."""
    fill, drain = float(1 + generator.integers(0, 2)), float(1 + generator.integers(0, 2))
    cooling = float(_rounded(np.array([0.25 + 0.5 * generator.random()]))[0])
    heat = float(2 + generator.integers(0, 3))
    cool = np.array([[0.0, 0, 0], [0, -cooling, 0], [0, 0, 0]])
    none = _no_inputs(3)

    def mode(name: str, level: float, heater: float, *stays: HalfSpace) -> Mode:
        return Mode(name, cool, none, np.array([level, heater, 1.0]), stays)

    full, empty = ((1.0, 0.0, 0.0), 4.0), ((-1.0, 0.0, 0.0), -1.0)
    late = ((0.0, 0.0, 1.0), 2.0)
    modes = (
        mode("fill", fill, 0.0, full),
        mode("heat", 0.0, heat, late),
        mode("drain", -drain, 0.0, empty),
        mode("rest", 0.0, 0.0, late),
    )
    keep, zero = np.diag([1.0, 1.0, 0.0]), np.zeros(3)
    switches = (
        Switch(0, 1, (((-1.0, 0.0, 0.0), -3.5),), keep, zero),
        Switch(1, 2, (((0.0, 0.0, -1.0), -1.5),), keep, zero),
        Switch(2, 3, (((1.0, 0.0, 0.0), 1.5),), keep, zero),
        Switch(3, 0, (((0.0, 0.0, -1.0), -1.0),), keep, zero),
    )
    watched = np.array([0.0, 1.0, 0.0])
    return Plant("batch_tank", modes, switches, ((1.0, 1.5), (0.0, 1.0), (0.0, 0.0)), (), watched)


def oscillator_between_walls(generator: Generator) -> Plant:
    """A damped oscillator that loses speed at a wall: one location with a reset."""
    stiffness = float(_rounded(np.array([1 + 2 * generator.random()]))[0])
    damping = float(_rounded(np.array([0.5 + 0.5 * generator.random()]))[0])
    matrix = np.array([[0.0, 1.0], [-stiffness, -damping]])
    wall = ((-1.0, 0.0), 0.5)
    mode = Mode("free", matrix, np.array([[0.0], [0.25]]), np.zeros(2), (wall,))
    hit = Switch(0, 0, ((((1.0, 0.0)), -0.5), ((0.0, 1.0), 0.0)), np.diag([1.0, -0.5]), np.zeros(2))
    watched = np.eye(2)[int(generator.integers(0, 2))]
    return Plant(
        "wall_oscillator", (mode,), (hit,), ((0.5, 1.0), (0.0, 0.5)), ((-1.0, 1.0),), watched
    )


FAMILIES: tuple[Callable[[Generator], Plant], ...] = (
    disturbed_linear,
    hysteresis,
    saturated_regulator,
    duty_cycle,
    followers,
    switched_stable,
    batch_tank,
    oscillator_between_walls,
)


def corpus(per_family: int = 5, seed: int = 0) -> Iterator[Plant]:
    """The models, each with a level that simulation has kept clear of."""
    for number, family in enumerate(FAMILIES):
        for k in range(per_family):
            generator = np.random.default_rng([seed, number, k])
            plant = family(generator)
            least, largest = watched_range(plant, generator)
            level = largest + MARGIN * max((largest - least) / 2, 0.1)
            level = float(np.ceil(level * 100) / 100)
            yield replace(plant, name=f"{plant.name}_{k + 1}", level=level)


def main(seconds: float, method: str, chosen: str) -> None:
    """Print the verdict and time of every model, and the success rate."""
    from abstraction.strategy import Task
    from abstraction.verification import deadline, verify
    from models.verdict import Verified

    proved = total = 0
    for plant in corpus():
        if chosen not in plant.name:
            continue
        automaton = automaton_of(plant)
        begun, cpu = time.perf_counter(), time.process_time()
        verdict = verify(Task(automaton, automaton.properties[0], deadline(seconds)), method)
        total += 1
        proved += isinstance(verdict, Verified)
        print(
            f"{plant.name:24} {plant.dimension} variables, {len(plant.modes)} locations  "
            f"{type(verdict).__name__:9} {time.perf_counter() - begun:6.2f} s "
            f"(cpu {time.process_time() - cpu:5.2f}) {dict(verdict.effort.counts)} "
            f"{getattr(verdict, 'reason', '')[:100]}",
            flush=True,
        )
    print(f"proved {proved} of {total}")


if __name__ == "__main__":
    main(
        float(sys.argv[1]) if len(sys.argv) > 1 else 15.0,
        sys.argv[2] if len(sys.argv) > 2 else "template",
        sys.argv[3] if len(sys.argv) > 3 else "",
    )
