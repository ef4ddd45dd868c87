"""How closely a nonlinear flow is followed: degrees, bits and tolerances to try, in order.

The number of terms grows fast with the number of variables, so many variables get polynomials of
a low degree. Nothing here is trusted: a bad choice makes rows loose or the search slow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb

from workbench.models.automaton import TIME
from workbench.models.checker.intervals import UndefinedError
from workbench.models.checker.taylor_flow import NonlinearFlow, TaylorSteps
from workbench.models.expressions.traversal import free_variables

BITS = (64, 96, 128, 192, 256, 384, 512)

USELESS, ENOUGH = 0.5, 3
"""Errors this large may all be rounding, unless so many choices of bits were tried."""


@dataclass(frozen=True)
class Fidelity:
    """Degrees of polynomials and of what is remembered from step to step, bits, and what may
    be cut off in time over a whole stay, relative to the size of the set. Where no step is short
    enough for that, a shorter one must make the growth, relative to the length, at least so much
    smaller (`gain`) to be worth it."""

    order: int
    memory: int
    tolerance: float
    gain: float
    bits: int = 64


LEVELS: tuple[tuple[int, float, float], ...] = (
    (100, 1e-2, 0.6),
    (160, 1e-3, 0.75),
    (300, 1e-4, 0.85),
)
"""How many terms polynomials may have, the tolerance, and the gain, at each level."""
HIGHEST, LOWEST = 10, 3
COUNTING = 256
"""So many bits that no term of a short step is rounded to zero: longer ones will have it."""
UNCERTAIN, MODEST = 5e-3, 5
"""The relative error of a derivative that a high degree cannot help, and what is high."""


def fidelity(
    flow: NonlinearFlow, spans: Sequence[tuple[Fraction, Fraction]], level: int
) -> Fidelity:
    """The highest degrees whose polynomials have few enough terms for the level."""
    terms, tolerance, gain = LEVELS[min(level, len(LEVELS) - 1)]
    bits = suited_bits(flow, spans)
    rows = _mixed(flow)
    # Sets that are thin now will not stay so: every coordinate counts.
    thick = [(low, high + (high - low) / 8 + Fraction(1, 1 << 10)) for low, high in spans]
    order = LOWEST
    try:
        for degree in range(LOWEST + 1, HIGHEST + 1):
            machine = TaylorSteps(flow, degree, 1, max(bits, COUNTING))
            found = machine.approximated(machine.begin(rows, thick), Fraction(1, 1 << 10))
            if max(map(len, found)) > terms:
                break
            order = degree
    except UndefinedError:
        pass
    order = _disturbed(flow, spans, bits, order)
    count = len(_read(flow))
    memory = 1
    while memory < order and comb(count + memory + 1, memory + 1) <= terms:
        memory += 1
    return Fidelity(order, memory, tolerance, gain, bits)


def _read(flow: NonlinearFlow) -> list[int]:
    """The names that derivatives read, by number."""
    read = free_variables(*flow.roots)
    return [i for i, name in enumerate(flow.names) if name in read and name != TIME]


def _mixed(flow: NonlinearFlow) -> list[list[Fraction]]:
    """Coordinates in which each name that is read depends on all of them, as in later frames."""
    rows = identity(len(flow.names))
    read = _read(flow)
    for i in read:
        for j in read:
            rows[i][j] += Fraction(1, 8 * (i + j + 2))
    return rows


def _disturbed(
    flow: NonlinearFlow, spans: Sequence[tuple[Fraction, Fraction]], bits: int, order: int
) -> int:
    """A lower degree, where inputs and kinks leave derivatives so uncertain that a high one
    does not pay."""
    try:
        errors = {k: max(_errors(flow, spans, bits, k)) for k in range(LOWEST, order + 1)}
    except (UndefinedError, OverflowError):
        return order
    if errors[order] < UNCERTAIN or order <= MODEST:
        return order
    return max(MODEST, min(k for k, error in errors.items() if error <= 1.3 * errors[order]))


def identity(size: int) -> list[list[Fraction]]:
    """The identity matrix."""
    return [[Fraction(i == j) for j in range(size)] for i in range(size)]


def suited_bits(flow: NonlinearFlow, spans: Sequence[tuple[Fraction, Fraction]]) -> int:
    """The fewest bits with which rounding adds little to the enclosures of the derivatives."""
    before: list[float] | None = None
    for place, bits in enumerate(BITS):
        try:
            errors = _errors(flow, spans, bits, LOWEST)
        except (UndefinedError, OverflowError):
            errors = None
        settled = errors is not None and (max(errors) < USELESS or place > ENOUGH)
        if settled and before is not None and errors is not None and _alike(before, errors):
            return BITS[place - 1]
        before = errors
    return BITS[-1]


def _alike(before: Sequence[float], after: Sequence[float]) -> bool:
    """Whether more bits have not made the errors smaller."""
    return all(a <= 1.01 * b + 1e-13 for a, b in zip(before, after, strict=True))


def _errors(
    flow: NonlinearFlow, spans: Sequence[tuple[Fraction, Fraction]], bits: int, order: int
) -> list[float]:
    """The errors of models of the derivatives on a set, relative to their size."""
    machine = TaylorSteps(flow, order, 1, bits)
    frame = machine.begin(identity(len(spans)), spans)
    models = machine.rates(machine.arithmetics[-1], machine.start(frame), frame.slack)
    least = (1 << bits) // 1_000_000
    return [m.error / (m.range.size + least) for m in models]
