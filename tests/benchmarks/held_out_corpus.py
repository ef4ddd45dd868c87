"""A second corpus of affine hybrid automata: families on which nothing was tuned.

Written after the search, from other generators than `invariant_corpus`, to see how the search
does on models that it has not been developed on.

Run it: `python -m tests.benchmarks.held_out_corpus [seconds] [method] [name] [per family] [seed]`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np
from numpy.random import Generator

from tests.support.affine_plants import (
    Family,
    HalfSpace,
    Mode,
    Plant,
    Switch,
    drawn,
    no_inputs,
    report,
)


def _between(generator: Generator, low: float, high: float) -> float:
    """A number of hundredths."""
    return float(np.round(generator.uniform(low, high), 2))


def _at_most(n: int, variable: int, bound: float) -> HalfSpace:
    return tuple(float(v) for v in np.eye(n)[variable]), bound


def _at_least(n: int, variable: int, bound: float) -> HalfSpace:
    return tuple(float(-v) for v in np.eye(n)[variable]), -bound


def two_tanks(generator: Generator) -> Plant:
    """A pump fills the upper tank, which drains into the lower; the lower level, with
    hysteresis, turns the pump on and off."""
    upper, lower = _between(generator, 0.4, 0.8), _between(generator, 0.2, 0.5)
    matrix = np.array([[-upper, 0.0], [upper, -lower]])
    effect = np.array([[0.1], [0.0]])
    pump = _between(generator, 1.0, 2.0)
    goal = 0.6 * pump / lower
    modes = (
        Mode("pumping", matrix, effect, np.array([pump, 0.0]), (_at_most(2, 1, goal),)),
        Mode("idle", matrix, effect, np.array([0.15, 0.0]), (_at_least(2, 1, 0.7 * goal),)),
    )
    switches = (
        Switch(0, 1, (_at_least(2, 1, goal - 0.05),)),
        Switch(1, 0, (_at_most(2, 1, 0.7 * goal + 0.05),)),
    )
    starts = ((0.0, 0.5), (0.7 * goal, 0.8 * goal))
    return Plant(
        "two_tanks", modes, switches, starts, ((-1.0, 1.0),), np.eye(2)[1 - _coin(generator)]
    )


def _coin(generator: Generator) -> int:
    return int(generator.integers(0, 2))


def buck_converter(generator: Generator) -> Plant:
    """Averaged current and voltage under a proportional and integral law with a limited duty
    cycle; the integral rests while the law is limited; the load is an input."""
    resistance, load = _between(generator, 0.2, 0.6), _between(generator, 0.5, 1.0)
    p, i = _between(generator, 0.2, 0.5), _between(generator, 0.2, 0.5)
    source = _between(generator, 1.5, 2.5)
    plant = np.array([[-resistance, -1.0, 0.0], [1.0, -load, 0.0], [0.0, 0.0, 0.0]])
    law = np.array([0.0, -p, i])
    linear = plant + np.outer([source, 0.0, 0.0], law)
    linear[2, 1] = -1.0
    effect = np.array([[0.0], [0.15], [0.0]])
    below, above = tuple(law.tolist()), tuple((-law).tolist())
    modes = (
        Mode("regulated", linear, effect, np.zeros(3), ((below, 0.5), (above, 0.5))),
        Mode("full", plant, effect, np.array([0.5 * source, 0, 0]), ((above, -0.5),)),
        Mode("none", plant, effect, np.array([-0.5 * source, 0, 0]), ((below, -0.5),)),
    )
    switches = (
        Switch(0, 1, ((above, -0.5),)),
        Switch(1, 0, ((below, 0.5),)),
        Switch(0, 2, ((below, -0.5),)),
        Switch(2, 0, ((above, 0.5),)),
    )
    starts = ((-0.2, 0.2), (-0.2, 0.2), (0.0, 0.0))
    return Plant(
        "buck_converter", modes, switches, starts, ((-1.0, 1.0),), np.eye(3)[_coin(generator)]
    )


def cruise_gears(generator: Generator) -> Plant:
    """Speed error under a proportional and integral law whose gains depend on the gear; gears
    change with hysteresis; the slope of the road is an input."""
    drag = _between(generator, 0.1, 0.3)
    gains = [_between(generator, 0.8, 1.6) for _ in range(3)]
    integral = _between(generator, 0.1, 0.3)
    effect = np.array([[0.5], [0.0]])
    stays = (
        (_at_most(2, 0, -0.5),),
        (_at_least(2, 0, -0.75), _at_most(2, 0, 0.75)),
        (_at_least(2, 0, 0.5),),
    )
    modes = tuple(
        Mode(
            f"gear{k + 1}",
            np.array([[-drag - gain, -integral * gain], [1.0, 0.0]]),
            effect,
            np.zeros(2),
            stays[k],
        )
        for k, gain in enumerate(gains)
    )
    switches = (
        Switch(0, 1, (_at_least(2, 0, -0.6),)),
        Switch(1, 0, (_at_most(2, 0, -0.65),)),
        Switch(1, 2, (_at_least(2, 0, 0.65),)),
        Switch(2, 1, (_at_most(2, 0, 0.6),)),
    )
    starts = ((-0.5, 0.5), (-0.2, 0.2))
    return Plant(
        "cruise_gears",
        modes,
        switches,
        starts,
        ((-1.0, 1.0),),
        np.eye(2)[_coin(generator)],
        first=1,
    )


def two_rooms(generator: Generator) -> Plant:
    """One heater for two rooms: it moves to the colder one, or rests while both are warm."""
    loss, between = _between(generator, 0.2, 0.4), _between(generator, 0.1, 0.2)
    heat = _between(generator, 4.0, 6.0)
    matrix = np.array([[-loss - between, between], [between, -loss - between]])
    effect = loss * np.array([[1.0], [1.0]])
    cold, warm = 5.0, 8.0
    modes = (
        Mode("first", matrix, effect, np.array([heat, 0.0]), (_at_most(2, 0, warm),)),
        Mode("second", matrix, effect, np.array([0.0, heat]), (_at_most(2, 1, warm),)),
        Mode("rest", matrix, effect, np.zeros(2), (_at_least(2, 0, cold), _at_least(2, 1, cold))),
    )
    switches = (
        Switch(0, 1, (_at_least(2, 0, warm - 1), _at_most(2, 1, cold + 1))),
        Switch(0, 2, (_at_least(2, 0, warm - 1), _at_least(2, 1, cold + 1))),
        Switch(1, 0, (_at_least(2, 1, warm - 1), _at_most(2, 0, cold + 1))),
        Switch(1, 2, (_at_least(2, 1, warm - 1), _at_least(2, 0, cold + 1))),
        Switch(2, 0, (_at_most(2, 0, cold + 0.5),)),
        Switch(2, 1, (_at_most(2, 1, cold + 0.5),)),
    )
    starts = ((5.5, 6.5), (5.5, 6.5))
    watched = (1 if _coin(generator) else -1) * np.eye(2)[0]
    return Plant("two_rooms", modes, switches, starts, ((0.0, 2.0),), watched)


def anti_windup(generator: Generator) -> Plant:
    """A lag of first or second order under proportional and integral control whose integral
    is clamped; the set point is an input."""
    order = int(generator.integers(1, 3))
    n = order + 1
    lag, p = _between(generator, 0.6, 1.2), _between(generator, 0.5, 1.0)
    matrix = np.zeros((n, n))
    matrix[0, 0], matrix[0, n - 1] = -lag - p, 1.0
    for k in range(1, order):
        matrix[k, k - 1], matrix[k, k] = lag, -lag
    effect = np.zeros((n, 2))
    effect[0, 0], effect[n - 1, 1] = 0.5, 1.0
    stays = (_at_most(n, n - 1, 1.0), _at_least(n, n - 1, -1.0))
    mode = Mode("only", matrix, effect, np.zeros(n), stays, (n - 1,))
    starts = tuple((-0.25, 0.25) for _ in range(n))
    inputs = ((-1.0, 1.0), (-0.5, 0.5))
    return Plant("anti_windup", (mode,), (), starts, inputs, np.eye(n)[order - 1])


def quadrant_oscillator(generator: Generator) -> Plant:
    """Rotation with another damping and speed in each half plane, or in each quadrant."""
    halves = _coin(generator) == 0
    signs = [(1, 0), (-1, 0)] if halves else [(1, 1), (-1, 1), (-1, -1), (1, -1)]
    modes = []
    for number, (a, b) in enumerate(signs):
        speed, damping = _between(generator, 0.8, 1.6), _between(generator, 0.2, 0.6)
        matrix = np.array([[-damping, -speed], [speed, -damping]])
        stays = [((-float(a), 0.0), 0.0)] if a else []
        stays += [((0.0, -float(b)), 0.0)] if b else []
        modes.append(
            Mode(f"part{number + 1}", matrix, np.array([[0.2], [0.1]]), np.zeros(2), tuple(stays))
        )
    switches = [
        Switch(i, j, modes[j].stays)
        for i, first in enumerate(signs)
        for j, second in enumerate(signs)
        if sum(p != q for p, q in zip(first, second, strict=True)) == 1
    ]
    starts = ((0.8, 1.0), (0.0, 0.2))
    return Plant(
        "quadrant_oscillator",
        tuple(modes),
        tuple(switches),
        starts,
        ((-1.0, 1.0),),
        np.eye(2)[_coin(generator)],
    )


def sampled_control(generator: Generator) -> Plant:
    """An unstable or slow plant whose control is computed at every tick of a clock and held."""
    order = int(generator.integers(1, 3))
    n = order + 2  # the plant, the held control, the clock
    matrix = np.zeros((n, n))
    if order == 1:
        matrix[0, 0], matrix[0, 1] = _between(generator, -0.3, 0.3), 1.0
        law = [-_between(generator, 0.8, 1.4)]
    else:
        matrix[0, 1] = 1.0
        matrix[1, 1], matrix[1, 2] = -_between(generator, 0.1, 0.4), 1.0
        law = [-_between(generator, 0.6, 1.0), -_between(generator, 1.0, 1.4)]
    effect = np.zeros((n, 1))
    effect[order - 1, 0] = 0.2
    clock = np.zeros(n)
    clock[-1] = 1.0
    period = _between(generator, 0.1, 0.4)
    mode = Mode("holding", matrix, effect, clock, (_at_most(n, n - 1, period),))
    renew = np.eye(n)
    renew[order] = [*law, 0.0, 0.0]
    renew[n - 1] = 0.0
    tick = Switch(0, 0, (_at_least(n, n - 1, period),), renew, np.zeros(n))
    starts = (*((-0.3, 0.3) for _ in range(order)), (0.0, 0.0), (0.0, 0.0))
    return Plant("sampled_control", (mode,), (tick,), starts, ((-1.0, 1.0),), np.eye(n)[0])


def rate_limits(generator: Generator) -> Plant:
    """An actuator that follows its command no faster than its rate limit: three locations."""
    drag, gain = _between(generator, 0.3, 0.7), _between(generator, 0.8, 1.4)
    quick, rate = _between(generator, 3.0, 6.0), _between(generator, 1.0, 2.0)
    # speed error x1, actuator x2; the command is -gain x1, x2' = quick (command - x2) limited
    lag = (-quick * gain, -quick)
    back = (-lag[0], -lag[1])
    following = np.array([[-drag, 1.0], list(lag)])
    moving = np.array([[-drag, 1.0], [0.0, 0.0]])
    effect = np.array([[0.5], [0.0]])
    modes = (
        Mode("following", following, effect, np.zeros(2), ((lag, rate), (back, rate))),
        Mode("opening", moving, effect, np.array([0.0, rate]), ((back, -rate),)),
        Mode("closing", moving, effect, np.array([0.0, -rate]), ((lag, -rate),)),
    )
    switches = (
        Switch(0, 1, ((back, -rate),)),
        Switch(1, 0, ((lag, rate),)),
        Switch(0, 2, ((lag, -rate),)),
        Switch(2, 0, ((back, rate),)),
    )
    starts = ((-0.5, 0.5), (-0.25, 0.25))
    return Plant("rate_limits", modes, switches, starts, ((-1.0, 1.0),), np.eye(2)[0])


def lagging_vehicle(generator: Generator) -> Plant:
    """Gap error, difference of speeds and own acceleration, which follows its command with a
    lag; the acceleration of the vehicle in front is an input."""
    lag = _between(generator, 2.0, 4.0)
    near, damp = _between(generator, 0.6, 1.0), _between(generator, 1.4, 2.0)
    matrix = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, -1.0], [lag * near, lag * damp, -lag]])
    effect = np.array([[0.0], [1.0], [0.0]])
    mode = Mode("following", matrix, effect, np.zeros(3))
    starts = ((-0.5, 0.5), (-0.25, 0.25), (0.0, 0.0))
    return Plant("lagging_vehicle", (mode,), (), starts, ((-1.0, 1.0),), -np.eye(3)[0])


def delayed_pump(generator: Generator) -> Plant:
    """The water level: the pump reacts to the level after a delay; four locations, a clock."""
    fill, drain = _between(generator, 0.8, 1.5), _between(generator, 1.5, 2.5)
    delay = _between(generator, 1.0, 2.0)
    high, low = 10.0, 5.0
    still, none = np.zeros((2, 2)), no_inputs(2)

    def mode(name: str, rate: float, *stays: HalfSpace) -> Mode:
        return Mode(name, still, none, np.array([rate, 1.0]), stays)

    modes = (
        mode("filling", fill, _at_most(2, 0, high)),
        mode("stopping", fill, _at_most(2, 1, delay)),
        mode("draining", -drain, _at_least(2, 0, low)),
        mode("starting", -drain, _at_most(2, 1, delay)),
    )
    begin, zero = np.diag([1.0, 0.0]), np.zeros(2)
    switches = (
        Switch(0, 1, (_at_least(2, 0, high),), begin, zero),
        Switch(1, 2, (_at_least(2, 1, delay),)),
        Switch(2, 3, (_at_most(2, 0, low),), begin, zero),
        Switch(3, 0, (_at_least(2, 1, delay),)),
    )
    watched = (1 if _coin(generator) else -1) * np.eye(2)[0]
    return Plant("delayed_pump", modes, switches, ((6.0, 8.0), (0.0, 0.0)), (), watched)


def lagging_thermometer(generator: Generator) -> Plant:
    """A heater that a thermometer with a lag turns on and off."""
    loss, lag = _between(generator, 0.2, 0.5), _between(generator, 1.5, 3.0)
    heat = _between(generator, 3.0, 5.0)
    matrix = np.array([[-loss, 0.0], [lag, -lag]])
    effect = np.array([[0.2], [0.0]])
    top = 0.7 * heat / loss
    modes = (
        Mode("on", matrix, effect, np.array([heat, 0.0]), (_at_most(2, 1, top),)),
        Mode("off", matrix, effect, np.zeros(2), (_at_least(2, 1, 0.6 * top),)),
    )
    switches = (
        Switch(0, 1, (_at_least(2, 1, 0.95 * top),)),
        Switch(1, 0, (_at_most(2, 1, 0.65 * top),)),
    )
    start = (0.7 * top, 0.75 * top)
    watched = (1 if _coin(generator) else -1) * np.eye(2)[0]
    return Plant("lagging_thermometer", modes, switches, (start, start), ((-1.0, 1.0),), watched)


FAMILIES: tuple[Family, ...] = (
    two_tanks,
    buck_converter,
    cruise_gears,
    two_rooms,
    anti_windup,
    quadrant_oscillator,
    sampled_control,
    rate_limits,
    lagging_vehicle,
    delayed_pump,
    lagging_thermometer,
)


def held_out(per_family: int = 3, seed: int = 1) -> Iterator[Plant]:
    """The models, each with a level that simulation has kept clear of."""
    yield from drawn(FAMILIES, per_family, seed)


if __name__ == "__main__":
    report(FAMILIES, sys.argv[1:])
