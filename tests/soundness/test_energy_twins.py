"""Random systems with an energy, and bounds that runs are seen to break: never proved."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest
from scipy.linalg import expm

from workbench.models.automaton import (
    Constraint,
    Edge,
    HybridAutomaton,
    Initial,
    Location,
    Property,
    Range,
    Variable,
)
from workbench.models.certificates.certificate import Certificate
from workbench.models.certificates.check import check
from workbench.models.certificates.judgement import Accepted
from workbench.models.evidence.quadratic_function import QuadraticFunctions
from workbench.models.expressions.expression import add, conjunction, multiply, variable
from workbench.models.lowering.problem import linear_problem
from workbench.reach.quadratic.function_search import search_functions

NAMES = ("x", "y")
Matrix = list[list[Fraction]]


def small(draw: random.Random) -> Fraction:
    return Fraction(draw.randint(-4, 4), 4)


def plant(draw: random.Random) -> tuple[list[Matrix], Matrix]:
    """Two flows that turn about one ellipse p x^2 + y^2, perhaps damped, and a reset by a random
    matrix, which may add energy or not."""
    p = Fraction(draw.randint(1, 8), 4)
    flows = []
    for _ in range(2):
        turn, loss = Fraction(draw.choice((-2, -1, 1, 3))), Fraction(draw.choice((0, 0, 1)), 5)
        flows.append([[-loss, turn], [-turn * p, -loss]])
    return flows, [[Fraction(draw.randint(0, 4), 4), small(draw) / 4], [0 * p, small(draw)]]


def model(flows: list[Matrix], reset: Matrix, bound: Fraction) -> HybridAutomaton:
    x, y = (variable(name) for name in NAMES)

    def image(matrix: Matrix) -> tuple[Constraint, ...]:
        return tuple(
            Constraint(name, Range.exactly(add(multiply(row[0], x), multiply(row[1], y))))
            for name, row in zip(NAMES, matrix, strict=True)
        )

    start = conjunction(x >= Fraction(1, 2), x <= 1, y >= 0, y <= Fraction(1, 2))
    return HybridAutomaton(
        "plant",
        tuple(Variable(name) for name in NAMES),
        tuple(Location(f"l{k}", image(flow)) for k, flow in enumerate(flows)),
        (
            Edge("l0", "l1", x >= 0, image(reset), name="there"),
            Edge("l1", "l0", y <= 0, name="back"),
        ),
        (Initial("l0", start),),
        properties=(Property("bounded", x <= bound),),
    )


def largest_seen(flows: list[Matrix], reset: Matrix, draw: random.Random) -> float:
    """The largest x of random runs, by matrix exponentials: a bound from below."""
    step = 0.02
    moves = [expm(step * np.array(flow, dtype=float)) for flow in flows]
    jump, best = np.array(reset, dtype=float), 0.0
    for _ in range(20):
        state, place = np.array([draw.choice((0.5, 1.0)), draw.choice((0.0, 0.5))]), 0
        for _ in range(400):
            best = max(best, float(state[0]))
            if place == 0 and state[0] >= 1e-6 and draw.random() < 0.05:
                state, place = jump @ state, 1
            elif place == 1 and state[1] <= -1e-6 and draw.random() < 0.05:
                place = 0
            state = moves[place] @ state
    return best


def is_proved(automaton: HybridAutomaton) -> bool:
    problem = linear_problem(automaton, automaton.properties[0])
    proof = search_functions(problem, ("l0", "l1"), lambda: False)
    if not isinstance(proof, QuadraticFunctions):
        return False
    certificate = Certificate(automaton.name, automaton.sha256, "bounded", proof)
    return isinstance(check(automaton, "bounded", certificate), Accepted)


def proved_in(seeds: range) -> int:
    """How many plants are proved with twice the room that runs need; none with less."""
    proved = 0
    for seed in seeds:
        draw = random.Random(seed)
        flows, reset = plant(draw)
        seen = Fraction(largest_seen(flows, reset, draw)).limit_denominator(1000)
        assert not is_proved(model(flows, reset, seen * Fraction(99, 100))), seed
        proved += is_proved(model(flows, reset, 2 * seen))
    return proved


def test_bounds_that_runs_break_are_not_proved() -> None:
    assert proved_in(range(12)) >= 6


@pytest.mark.slow
def test_bounds_that_runs_break_are_not_proved_at_length() -> None:
    assert proved_in(range(100, 250)) >= 75
