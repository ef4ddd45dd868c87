"""Where the largest value is known, flowpipes prove bounds above it and refute bounds below.

The largest value of x_0 over all initial states and inputs is computed here from the matrix
exponential: that of a(t) x(0) over the box of initial states plus the integral of |a(s) b|.
"""

from __future__ import annotations

import time
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from scipy.linalg import expm

from tests.support.affine_automata import decimal
from workbench.abstraction.strategies.flowpipe import FlowpipeStrategy
from workbench.abstraction.strategies.strategy import Task
from workbench.models.automaton import (
    Constraint,
    HybridAutomaton,
    Initial,
    Input,
    Location,
    Property,
    Range,
    Variable,
)
from workbench.models.expressions.expression import (
    add,
    compare,
    conjunction,
    constant,
    multiply,
    variable,
)
from workbench.models.expressions.operators import Op
from workbench.models.verdict import Falsified, Verdict, Verified
from workbench.simulate.recipe import read_recorded, repeat

HORIZON = Fraction(3)
GRID = 3000


class Driven:
    """x' = A x + b u with u in [-1, 1/2], from a box."""

    def __init__(self, seed: int):
        random = Random(seed)
        n = random.randint(1, 5)
        self.names = [f"x{i}" for i in range(n)]
        self.matrix = [
            [decimal(random, -3, 2) if random.random() < 0.7 else Fraction(0) for _ in range(n)]
            for _ in range(n)
        ]
        self.push = [decimal(random, -1, 1) for _ in range(n)]
        self.low = [decimal(random, -2, 2) for _ in range(n)]
        self.high = [a + decimal(random, 0, 1) for a in self.low]

    def automaton(self, bound: Fraction) -> HybridAutomaton:
        flows = [
            Constraint(
                name,
                Range.exactly(
                    add(
                        *(
                            multiply(constant(a), variable(other))
                            for a, other in zip(row, self.names, strict=True)
                        ),
                        multiply(constant(push), variable("u")),
                    )
                ),
            )
            for name, row, push in zip(self.names, self.matrix, self.push, strict=True)
        ]
        start = [
            condition
            for name, low, high in zip(self.names, self.low, self.high, strict=True)
            for condition in (
                compare(Op.GREATER_EQUAL, variable(name), low),
                compare(Op.LESS_EQUAL, variable(name), high),
            )
        ]
        return HybridAutomaton(
            "driven",
            tuple(map(Variable, self.names)),
            (Location("l", tuple(flows)),),
            (),
            (Initial("l", conjunction(*start)),),
            (Input("u", low=Fraction(-1), high=Fraction(1, 2)),),
            properties=(Property("low", compare(Op.LESS_EQUAL, variable("x0"), bound)),),
        )

    def largest(self) -> float:
        """The largest x_0 up to the horizon, to a few digits."""
        matrix = np.array([[float(a) for a in row] for row in self.matrix])
        step = float(HORIZON) / GRID
        back = expm(matrix.T * step)
        curve = np.eye(len(matrix))[0]
        push = np.array([float(a) for a in self.push])
        low, high = (np.array([float(a) for a in end]) for end in (self.low, self.high))
        best, gained = -np.inf, 0.0
        for _ in range(GRID + 1):
            best = max(best, np.maximum(curve * low, curve * high).sum() + gained)
            b = curve @ push
            gained += step * max(-b, b / 2)
            curve = back @ curve
        return float(best)


def decided(automaton: HybridAutomaton) -> Verdict:
    task = Task(
        automaton,
        automaton.properties[0],
        time.monotonic() + 60,
        options={"horizon": HORIZON},
    )
    return FlowpipeStrategy().attempt(task)


def check(seed: int) -> None:
    driven = Driven(seed)
    largest = Fraction(driven.largest())
    margin = max(abs(largest), Fraction(1)) / 50
    above = decided(driven.automaton(largest + margin))
    assert isinstance(above, Verified), (seed, above)
    automaton = driven.automaton(largest - margin)
    below = decided(automaton)
    assert isinstance(below, Falsified), (seed, below)
    _, recipe, sha256 = read_recorded(below.recording)
    assert recipe is not None
    assert sha256 == automaton.sha256
    again = repeat(automaton, recipe)
    assert again.outcome.time <= float(HORIZON)
    final = again.segments[-1].valuation(again.end)["x0"]
    assert isinstance(final, float)
    assert final >= float(largest - margin) - 1e-6


def test_bounds_near_the_largest_value_are_decided() -> None:
    for seed in range(6):
        check(seed)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(6))
def test_many_bounds_near_the_largest_value_are_decided(block: int) -> None:
    for seed in range(100 + 20 * block, 120 + 20 * block):
        check(seed)
