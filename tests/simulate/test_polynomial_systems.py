"""Polynomial motions and polynomial guards against certified root isolation.

x' = y, y' = z, z' = c has a cubic solution with rational coefficients; a quadratic guard of
the state is then a polynomial of time of degree at most 6, and python-flint encloses its
roots rigorously. The simulator must report the first one: also when two roots lie closely
together, within one of its steps.
"""

from __future__ import annotations

from fractions import Fraction

import flint
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from workbench.models.automaton import EventKind
from workbench.models.expressions.expression import constant, variable
from workbench.simulate.stepping.engine import advance
from workbench.simulate.stepping.methods import Adams, Method, Taylor
from workbench.simulate.stepping.program import compile_program
from workbench.simulate.stepping.stretch import Stop

UNTIL = 8
X, Y, Z = map(variable, "xyz")
SMALL = st.fractions(-3, 3, max_denominator=4)
Poly = list[Fraction]


def multiplied(a: Poly, b: Poly) -> Poly:
    found = [Fraction(0)] * (len(a) + len(b) - 1)
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            found[i + j] += x * y
    return found


def added(*parts: Poly) -> Poly:
    size = max(map(len, parts))
    return [sum((p[i] for p in parts if i < len(p)), Fraction(0)) for i in range(size)]


def scaled(k: Fraction, a: Poly) -> Poly:
    return [k * v for v in a]


def first_root(p: Poly) -> tuple[float, float] | None:
    """The first root in (0, UNTIL], and the slope there."""
    numbers = flint.fmpq_poly([flint.fmpq(c.numerator, c.denominator) for c in p])
    roots = []
    for factor, _ in numbers.numer().factor()[1]:
        for root, _ in factor.complex_roots():
            if root.imag.contains(0) and 0 < float(root.real.mid()) <= UNTIL:
                roots.append(float(root.real.mid()))
    if not roots:
        return None
    t = min(roots)
    slope = sum(k * float(c) * t ** (k - 1) for k, c in enumerate(p) if k)
    return t, slope


def run(method: Method, start: list[Fraction], c: Fraction, g: list[Fraction]) -> object:
    a, b, d, e, level = map(constant, g)
    program = compile_program(
        flowing=["x", "y", "z"],
        held=[],
        flows=[Y, Z, constant(c)],
        watches=[(a * X * X + b * X * Y + d * Y + e * Z - level >= 0, EventKind.UNILATERAL)],
    )
    return advance(program, method, 0.0, [float(v) for v in start], [], float(UNTIL), [0])


METHODS = [Adams(rtol=1e-8, atol=1e-10), Taylor(rtol=1e-8, atol=1e-10)]


@pytest.mark.parametrize("method", METHODS, ids=["adams", "taylor"])
@settings(max_examples=max(120, settings.default.max_examples))
@given(st.lists(SMALL, min_size=3, max_size=3), SMALL, st.lists(SMALL, min_size=5, max_size=5))
def test_first_root(method: Method, start: list[Fraction], c: Fraction, g: list[Fraction]) -> None:
    z: Poly = [start[2], c]
    y: Poly = [start[1], start[2], c / 2]
    x: Poly = [start[0], start[1], start[2] / 2, c / 6]
    a, b, d, e, level = g
    along = added(
        scaled(a, multiplied(x, x)),
        scaled(b, multiplied(x, y)),
        scaled(d, y),
        scaled(e, z),
        [-level],
    )
    assume(along[0] < Fraction(-1, 100) and any(along[1:]))
    exact = first_root(along)
    found = run(method, start, c, g)
    if exact is None:
        assert found.stop is Stop.END
        return
    t, slope = exact
    size = 1 + max(abs(float(v)) for v in along) * (1 + t) ** 6
    assume(t < UNTIL - 1e-3)
    if abs(slope) < 1e-6 * size:  # tangential: reported or missed within the tolerance
        return
    assert found.stop is Stop.EVENT, (t, slope)
    assert abs(found.t - t) <= 1e-8 * size / abs(slope) + 1e-9
    assert found.counts.beyond == 0


@pytest.mark.parametrize("method", METHODS, ids=["adams", "taylor"])
@given(st.floats(0.5, 7.0), st.floats(1e-5, 0.05))
def test_two_roots_within_one_step(method: Method, first: float, width: float) -> None:
    """The guard -(x - r)(x - r - w) >= 0 along x = t is true for the time w only."""
    r, w = Fraction(first), Fraction(width)
    program = compile_program(
        flowing=["x"],
        held=[],
        flows=[constant(1)],
        watches=[(-(X - r) * (X - r - w) >= 0, EventKind.UNILATERAL)],
    )
    found = advance(program, method, 0.0, [0.0], [], float(UNTIL), [0])
    assert found.stop is Stop.EVENT and found.counts.steps <= 6
    assert found.t == pytest.approx(first, abs=1e-6)
