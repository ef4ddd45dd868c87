"""A corpus of affine hybrid automata on which the search for invariants was developed.

Every model is drawn from a family by a seed: one to four locations, two to six variables,
inputs, clamped variables, timers with resets (`tests/support/affine_plants.py`).

Run it for the table of successes:
`python -m tests.benchmarks.invariant_corpus [seconds] [method] [name] [per family] [seed]`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np
from numpy.random import Generator

from tests.support.affine_plants import (
    Array,
    Family,
    HalfSpace,
    Mode,
    Plant,
    Switch,
    drawn,
    no_inputs,
    report,
    rounded,
)


def _stable(generator: Generator, n: int) -> Array:
    """A random matrix, rounded to eighths, whose eigenvalues lie left of -1/4."""
    while True:
        matrix = rounded(generator.normal(size=(n, n)))
        shift = np.ceil(8 * (np.linalg.eigvals(matrix).real.max() + 0.4)) / 8
        matrix = matrix - shift * np.eye(n)
        if np.abs(np.linalg.eigvals(matrix)).max() < 6:
            return matrix


def disturbed_linear(generator: Generator) -> Plant:
    """One location: a stable linear system with one or two bounded inputs."""
    n, m = int(generator.integers(2, 6)), int(generator.integers(1, 3))
    effect = rounded(generator.normal(size=(n, m)))
    mode = Mode("only", _stable(generator, n), effect, np.zeros(n))
    starts = tuple((-0.5, 0.5) for _ in range(n))
    return Plant("disturbed_linear", (mode,), (), starts, ((-1.0, 1.0),) * m, np.eye(n)[0])


def hysteresis(generator: Generator) -> Plant:
    """A relay with hysteresis drives a chain of lags."""
    n = int(generator.integers(2, 5))
    rates = rounded(0.5 + generator.random(n))
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
    k1, k2 = rounded(1 + generator.random(2))
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
    loss = rounded(0.25 + 0.5 * generator.random(rooms))
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
    on = Mode("on", matrix, no_inputs(n), heat, ((later, on_time),))
    off = Mode("off", matrix, no_inputs(n), clock, ((later, off_time),))
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
    gain, damping = rounded(0.5 + generator.random(2))
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
        second = first + rounded(0.3 * generator.normal(size=(n, n)))
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
    cooling = float(rounded(np.array([0.25 + 0.5 * generator.random()]))[0])
    heat = float(2 + generator.integers(0, 3))
    cool = np.array([[0.0, 0, 0], [0, -cooling, 0], [0, 0, 0]])
    none = no_inputs(3)

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
    stiffness = float(rounded(np.array([1 + 2 * generator.random()]))[0])
    damping = float(rounded(np.array([0.5 + 0.5 * generator.random()]))[0])
    matrix = np.array([[0.0, 1.0], [-stiffness, -damping]])
    wall = ((-1.0, 0.0), 0.5)
    mode = Mode("free", matrix, np.array([[0.0], [0.25]]), np.zeros(2), (wall,))
    hit = Switch(0, 0, ((((1.0, 0.0)), -0.5), ((0.0, 1.0), 0.0)), np.diag([1.0, -0.5]), np.zeros(2))
    watched = np.eye(2)[int(generator.integers(0, 2))]
    return Plant(
        "wall_oscillator", (mode,), (hit,), ((0.5, 1.0), (0.0, 0.5)), ((-1.0, 1.0),), watched
    )


FAMILIES: tuple[Family, ...] = (
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
    yield from drawn(FAMILIES, per_family, seed)


if __name__ == "__main__":
    report(FAMILIES, sys.argv[1:])
