"""How closely a nonlinear flow is followed: degrees, bits and tolerances to try, in order.

The number of terms grows fast with the number of variables, so many variables get polynomials of
a low degree. Nothing here is trusted: a bad choice makes rows loose or the search slow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from models.automaton import TIME
from models.expression import free_variables
from models.proof.intervals import UndefinedError
from models.proof.taylor_flow import NonlinearFlow, TaylorSteps

BITS = (64, 96, 128, 192, 256, 384, 512)


@dataclass(frozen=True)
class Fidelity:
    """Degrees of polynomials and of what is remembered from step to step, bits, and what may
    be cut off in time over a whole stay, relative to the size of the set."""

    order: int
    memory: int
    tolerance: float
    bits: int = 64


def ladder(flow: NonlinearFlow) -> tuple[Fidelity, ...]:
    """Ever closer ones, for the number of names that derivatives read."""
    read = free_variables(*flow.roots)
    count = sum(name in read and name != TIME for name in flow.names)
    for most, steps in _LADDERS:
        if count <= most:
            return tuple(Fidelity(*step) for step in steps)
    return tuple(Fidelity(*step) for step in _LADDERS[-1][1])


_LADDERS: tuple[tuple[int, tuple[tuple[int, int, float], ...]], ...] = (
    (2, ((6, 6, 1e-3), (8, 8, 1e-4), (10, 10, 1e-5))),
    (3, ((5, 5, 1e-3), (6, 6, 1e-4), (8, 7, 1e-5))),
    (5, ((4, 3, 1e-3), (5, 4, 1e-4), (6, 5, 1e-4))),
    (8, ((3, 2, 1e-2), (4, 3, 1e-3), (5, 3, 1e-4))),
    (10**9, ((3, 1, 1e-2), (3, 2, 1e-3), (4, 2, 1e-3))),
)


def suited_bits(flow: NonlinearFlow, spans: Sequence[tuple[Fraction, Fraction]]) -> int:
    """The fewest bits with which rounding adds little to the enclosures of the derivatives."""
    rows = [[Fraction(i == j) for j in range(len(spans))] for i in range(len(spans))]
    before: list[float] | None = None
    for place, bits in enumerate(BITS):
        try:
            errors = _errors(flow, rows, spans, bits)
        except UndefinedError:
            errors = None
        if errors is not None and before is not None and _alike(before, errors):
            return BITS[place - 1]
        before = errors
    return BITS[-1]


def _alike(before: Sequence[float], after: Sequence[float]) -> bool:
    """Whether more bits have not made the errors smaller."""
    return all(a <= 1.01 * b + 1e-13 for a, b in zip(before, after, strict=True))


def _errors(
    flow: NonlinearFlow,
    rows: list[list[Fraction]],
    spans: Sequence[tuple[Fraction, Fraction]],
    bits: int,
) -> list[float]:
    """The errors of models of the derivatives on a set, relative to their size."""
    machine = TaylorSteps(flow, 3, 1, bits)
    models = machine.rates_at(machine.begin(rows, spans))
    unit = float(1 << bits) if bits < 1000 else 2.0**1000
    return [float(m.error) / unit / (float(m.range.size) / unit + 1e-6) for m in models]
