"""New coordinates at the end of a step: every state that was meant is still meant, and what
inputs add is not wrapped into boxes on every step."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import numpy as np
import pytest

from tests.checker.test_taylor_model import UNIT, value_of
from workbench.models.checker import taylor_frame
from workbench.models.checker.taylor_frame import Frame, Reached, turned
from workbench.models.checker.taylor_model import Polynomial, TaylorArithmetic

BITS, MEMORY = 64, 3


def random_frame(arithmetic: TaylorArithmetic, random: Random, traces: int) -> Frame:
    """y = memory(s) + spread z + rest, each in [-1, 1]; slack and shape as in any step."""
    size = arithmetic.symbols
    memory, spread, rest = [], [], []
    for _ in range(size):
        monomials = [arithmetic.symbol(j) for j in range(size)]
        monomials += [arithmetic.symbol(0) + m for m in monomials]
        shares = [random.random() for _ in (*monomials, *range(traces), 0)]
        scale = [random.choice((-1, 1)) * int(a * UNIT / sum(shares)) for a in shares]
        memory.append(dict(zip(monomials, scale, strict=False)))
        spread.append(scale[len(monomials) : -1])
        rest.append(abs(scale[-1]))
    shape = [[int(random.uniform(-1, 1) * UNIT) for _ in range(size)] for _ in range(size)]
    return Frame([0] * size, shape, [3] * size, memory, spread, rest)


def random_end(arithmetic: TaylorArithmetic, random: Random) -> Polynomial:
    """A polynomial of y and t with terms beyond the degree that is remembered."""
    symbols = [arithmetic.symbol(j) for j in range(arithmetic.symbols)]
    monomials = [0, arithmetic.time, *symbols, *(2 * s for s in symbols), 4 * symbols[0]]
    monomials += [symbols[0] + symbols[-1] + arithmetic.time]
    scale = random.choice((0.1, 1.0))
    return {m: int(random.uniform(-scale, scale) * UNIT) for m in monomials}


def random_matrix(random: Random, size: int) -> list[list[Fraction]]:
    return [
        [Fraction(random.randrange(-(1 << 30), 1 << 30), 1 << 30) for _ in range(size)]
        for _ in range(size)
    ]


def number(random: Random) -> float:
    return random.choice((-1.0, 1.0, random.uniform(-1, 1)))


def outside(arithmetic: TaylorArithmetic, frame: Frame, x: list[float], s: list[float]) -> float:
    """How far x is outside the states that a frame allows for the symbols s: the largest of
    many directions' excess over the support of spread z + rest."""
    shape = np.array([[a / UNIT for a in row] for row in frame.shape])
    y = np.linalg.solve(shape, np.array(x) - np.array([a / UNIT for a in frame.centre]))
    memory = np.array([value_of(arithmetic, p, s, 0.0) for p in frame.memory])
    spread = np.array([[a / UNIT for a in row] for row in frame.spread])
    rest = np.array([a / UNIT for a in frame.rest])
    random = Random(1)
    worst = float(np.abs(y).max() - 1)
    for _ in range(60):
        d = np.array([random.uniform(-1, 1) for _ in y])
        support = np.abs(d @ spread).sum() + np.abs(d) @ rest
        worst = max(worst, float(d @ (y - memory) - support))
    return worst


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("kept", [256, 4])
def test_no_state_is_lost(seed: int, kept: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(taylor_frame, "TRACES", kept)
    random = Random(seed)
    size = random.choice((1, 2, 3))
    arithmetic = TaylorArithmetic(size, MEMORY, BITS)
    before = random_frame(arithmetic, random, random.choice((0, 1, 7)))
    growth = [random.choice((0, int(random.uniform(0, 0.2) * UNIT))) for _ in range(size)]
    ends = [random_end(arithmetic, random) for _ in range(size)]
    after = turned(arithmetic, Reached(before, ends, growth), random_matrix(random, size))
    assert after is not None
    assert all(len(row) <= kept for row in after.spread)
    for _ in range(20):
        s = [number(random) for _ in range(size)]
        z = [number(random) for _ in before.spread[0]]
        y = [
            value_of(arithmetic, r, s, 0.0)
            + sum(g * a for g, a in zip(row, z, strict=True)) / UNIT
            + number(random) * e / UNIT
            for r, row, e in zip(before.memory, before.spread, before.rest, strict=True)
        ]
        x = [
            value_of(arithmetic, p, y, 1.0) + number(random) * g / UNIT
            for p, g in zip(ends, growth, strict=True)
        ]
        assert outside(arithmetic, after, x, s) <= 1e-9


def test_singular_frames_are_refused() -> None:
    random = Random(0)
    arithmetic = TaylorArithmetic(2, MEMORY, BITS)
    before = random_frame(arithmetic, random, 1)
    ends = [random_end(arithmetic, random) for _ in range(2)]
    matrix = [[Fraction(1), Fraction(2)], [Fraction(1, 2), Fraction(1)]]
    assert turned(arithmetic, Reached(before, ends, [0, 0]), matrix) is None


def test_a_turning_flow_does_not_wrap_what_inputs_add() -> None:
    """An eighth of a turn in each step, and the same addition to x: after 40 steps a box that is
    wrapped each time would be 2^20 times as large; the sum of the turned segments is not."""
    arithmetic = TaylorArithmetic(2, MEMORY, BITS)
    matrix = [[Fraction(i == j) for j in range(2)] for i in range(2)]
    frame = Frame([0, 0], [[UNIT, 0], [0, UNIT]], [0, 0], [{}, {}], [[], []], [0, 0])
    root = 0.5**0.5
    steps, added = 40, UNIT >> 10
    for _ in range(steps):
        shape = [[a / UNIT for a in row] for row in frame.shape]
        ends = []
        for row in ((root, -root), (root, root)):
            factors = [sum(r * shape[i][j] for i, r in enumerate(row)) for j in range(2)]
            ends.append({arithmetic.symbol(j): int(f * UNIT) for j, f in enumerate(factors)})
        found = turned(arithmetic, Reached(frame, ends, [added, 0]), matrix)
        assert found is not None
        frame = found
    exact = added / UNIT * steps * (1 + 2 * root) / 4 * (1 + 1e-6)
    widths = [sum(map(abs, row)) / UNIT for row in frame.shape]
    assert all(width <= 1.3 * exact for width in widths)
    assert all(width >= exact / 1.3 for width in widths)
