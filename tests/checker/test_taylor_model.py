"""Taylor models against the values of expressions at points."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest

from tests.support.nonlinear_automata import nonlinear_term
from workbench.models.checker.intervals import UndefinedError
from workbench.models.checker.rational_matrix import inverse
from workbench.models.checker.taylor_evaluation import Program
from workbench.models.checker.taylor_model import Model, Polynomial, TaylorArithmetic
from workbench.models.expressions.evaluation import EvaluationError, evaluate_number
from workbench.models.expressions.expression import variable

BITS = 64
UNIT = 1 << BITS


def value_of(arithmetic: TaylorArithmetic, p: Polynomial, y: list[float], t: float) -> float:
    total = 0.0
    for monomial, coefficient in p.items():
        term = coefficient / UNIT * t ** (monomial & 63)
        for base, power in zip(y, arithmetic.exponents(monomial), strict=True):
            term *= base**power
        total += term
    return total


def random_model(arithmetic: TaylorArithmetic, random: Random) -> Model:
    monomials = [0, arithmetic.time, arithmetic.symbol(0), arithmetic.symbol(1)]
    monomials += [m + arithmetic.symbol(0) for m in monomials[1:]]
    scale = random.choice((0.01, 0.3, 1.0))
    polynomial = {m: int(random.uniform(-scale, scale) * UNIT) for m in monomials}
    return arithmetic.model(polynomial, int(random.choice((0.0, 0.05)) * UNIT))


@pytest.mark.parametrize("seed", range(150))
def test_values_lie_in_the_models(seed: int) -> None:
    random = Random(seed)
    arithmetic = TaylorArithmetic(2, random.choice((2, 3, 5)), BITS)
    leaves = [variable(n) for n in "xyz"]
    inner = nonlinear_term(random, leaves)
    expression = nonlinear_term(random, [inner, *leaves])
    models = {n: random_model(arithmetic, random) for n in "xyz"}
    try:
        (found,) = Program((expression,))(arithmetic, models)
    except UndefinedError:
        return
    for _ in range(40):
        y = [random.choice((-1.0, 1.0, random.uniform(-1, 1))) for _ in range(2)]
        t = random.choice((0.0, 1.0, random.uniform(0, 1)))
        point = {}
        for name, model in models.items():
            stray = random.choice((-1, 0, 1)) * model.error / UNIT
            point[name] = value_of(arithmetic, model.polynomial, y, t) + stray
        try:
            value = float(evaluate_number(expression, point))
        except EvaluationError:
            continue
        slack = 1e-9 * (1 + abs(value))
        assert found.low / UNIT - slack <= value <= found.high / UNIT + slack
        centre = value_of(arithmetic, found.polynomial, y, t)
        assert abs(value - centre) <= found.error / UNIT + slack


def test_integrals() -> None:
    arithmetic = TaylorArithmetic(1, 4, BITS)
    y, t = arithmetic.symbol(0), arithmetic.time
    model = arithmetic.model({0: UNIT, t: UNIT, y + 2 * t: 3 * UNIT}, UNIT // 8)
    half = arithmetic.intervals.number(Fraction(1, 2))
    found = arithmetic.integral(model, half)
    assert found.polynomial == {t: UNIT // 2, 2 * t: UNIT // 4, y + 3 * t: UNIT // 2}
    assert UNIT // 16 <= found.error <= UNIT // 16 + 8


@pytest.mark.parametrize("seed", range(20))
def test_inverses(seed: int) -> None:
    random = Random(seed)
    size = random.randrange(1, 6)
    matrix = [
        [Fraction(random.randrange(-4, 5), random.randrange(1, 5)) for _ in range(size)]
        for _ in range(size)
    ]
    back = inverse(matrix)
    if back is None:
        return
    for i in range(size):
        for j in range(size):
            total = sum((matrix[i][k] * back[k][j] for k in range(size)), Fraction(0))
            assert total == (i == j)


def test_singular_matrices_have_no_inverse() -> None:
    assert inverse([[Fraction(1), Fraction(2)], [Fraction(2), Fraction(4)]]) is None
