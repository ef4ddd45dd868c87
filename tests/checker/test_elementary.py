"""Interval functions of the checker against the ball arithmetic of another library."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import flint
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.models.checker.elementary import Elementary, log_2_in, pi_in
from workbench.models.checker.intervals import Interval, IntervalArithmetic, UndefinedError
from workbench.models.checker.univariate import Coefficients, Univariate
from workbench.simulate.validated.balls import ball, ends

BITS = 64
FUNCTIONS = Elementary(BITS)
SERIES = Univariate(FUNCTIONS)
UNIT = 1 << BITS

numbers = st.fractions(-30, 30, max_denominator=10**6)
positive = st.fractions(Fraction(1, 1000), 1000, max_denominator=10**6)
unit_numbers = st.fractions(-1, 1, max_denominator=10**6)

Case = tuple[Callable[[Interval], Interval], Callable[[flint.arb], flint.arb], object]

CASES: dict[str, Case] = {
    "exp": (FUNCTIONS.exponential, lambda x: x.exp(), numbers),
    "log": (FUNCTIONS.logarithm, lambda x: x.log(), positive),
    "sin": (FUNCTIONS.sine, lambda x: x.sin(), numbers),
    "cos": (FUNCTIONS.cosine, lambda x: x.cos(), numbers),
    "tan": (FUNCTIONS.tangent, lambda x: x.tan(), unit_numbers),
    "atan": (FUNCTIONS.arc_tangent, lambda x: x.atan(), numbers),
    "asin": (FUNCTIONS.arc_sine, lambda x: x.asin(), unit_numbers),
    "acos": (FUNCTIONS.arc_cosine, lambda x: x.acos(), unit_numbers),
    "sqrt": (FUNCTIONS.plain.root, lambda x: x.sqrt(), positive),
    "reciprocal": (FUNCTIONS.plain.reciprocal, lambda x: 1 / x, positive),
    "power -3/2": (
        lambda a: FUNCTIONS.real_power(a, Fraction(-3, 2)),
        lambda x: x ** flint.arb("-1.5"),
        positive,
    ),
    "power 1/3": (
        lambda a: FUNCTIONS.real_power(a, Fraction(1, 3)),
        lambda x: (x.log() / 3).exp(),
        positive,
    ),
}


def reference(of: Callable[[flint.arb], flint.arb], point: Fraction) -> tuple[Fraction, Fraction]:
    before, flint.ctx.prec = flint.ctx.prec, 300
    try:
        return ends(of(ball(point)))
    finally:
        flint.ctx.prec = before


def between(low: Fraction, high: Fraction) -> Interval:
    """All numbers between two."""
    plain = IntervalArithmetic(BITS)
    return Interval(plain.number(low).low, plain.number(high).high)


@pytest.mark.parametrize("name", CASES)
@given(st.data())
@settings(max_examples=40)
def test_values_lie_in_the_enclosure_of_an_interval(name: str, data: st.DataObject) -> None:
    function, of, arguments = CASES[name]
    a, b, c = sorted(data.draw(arguments) for _ in range(3))  # type: ignore[call-overload]
    argument = between(a, c)
    found = function(argument)
    for point in (a, b, c):
        low, high = reference(of, point)
        assert found.low <= high * UNIT, f"{name} at {point}"
        assert found.high >= low * UNIT, f"{name} at {point}"


@pytest.mark.parametrize("name", CASES)
@given(st.data())
@settings(max_examples=40)
def test_values_at_points_are_tight(name: str, data: st.DataObject) -> None:
    function, of, arguments = CASES[name]
    top = data.draw(arguments) * UNIT  # type: ignore[call-overload]
    point = Fraction(round(top), UNIT)
    if name in ("log", "sqrt", "reciprocal", "power -3/2", "power 1/3") and point <= 0:
        return
    found = function(Interval(round(top), round(top)))
    low, high = reference(of, point)
    assert found.low <= high * UNIT
    assert found.high >= low * UNIT
    # Near zero the root's last digit counts much in its power.
    loose = 64 + abs(high) * (UNIT >> 30 if name == "power -3/2" else 64)
    assert found.high - found.low <= loose, f"{name} at {point}"


CURVES: dict[str, tuple[Callable[[Interval, int], Coefficients], Callable[..., object]]] = {
    "exp": (SERIES.exponential, lambda x: x.exp()),
    "log": (SERIES.logarithm, lambda x: x.log()),
    "sin": (SERIES.sine, lambda x: x.sin()),
    "cos": (SERIES.cosine, lambda x: x.cos()),
    "tan": (SERIES.tangent, lambda x: x.tan()),
    "atan": (SERIES.arc_tangent, lambda x: x.atan()),
    "asin": (SERIES.arc_sine, lambda x: x.asin()),
    "acos": (SERIES.arc_cosine, lambda x: x.acos()),
    "sqrt": (SERIES.root, lambda x: x.sqrt()),
    "reciprocal": (SERIES.reciprocal, lambda x: 1 / x),
    "power 5/3": (
        SERIES.real_power(Fraction(5, 3)),
        lambda x: (x.log() * flint.arb(5) / 3).exp(),
    ),
}


@pytest.mark.parametrize("name", CURVES)
@settings(max_examples=30)
@given(
    st.fractions(Fraction(1, 10), Fraction(9, 10), max_denominator=1000),
    st.fractions(0, Fraction(1, 20), max_denominator=1000),
)
def test_taylor_coefficients_of_all_points_are_enclosed(
    name: str, left: Fraction, width: Fraction
) -> None:
    function, of = CURVES[name]
    right = left + width
    found = function(between(left, right), 6)
    for point in (left, (left + right) / 2, right):
        series = of(flint.arb_series([ball(point), flint.arb(1)], 7))
        for k, enclosure in enumerate(found):
            low, high = ends(series[k])  # type: ignore[index]
            assert enclosure.low <= high * UNIT, f"{name}, coefficient {k} at {point}"
            assert enclosure.high >= low * UNIT, f"{name}, coefficient {k} at {point}"


@given(numbers, numbers, numbers, numbers)
def test_arc_tangent_of_two_arguments(a: Fraction, b: Fraction, c: Fraction, d: Fraction) -> None:
    y, x = between(min(a, b), max(a, b)), between(min(c, d), max(c, d))
    found = FUNCTIONS.arc_tangent_2(y, x)
    for above, beside in ((a, c), (a, d), (b, c), (b, d)):
        if above == beside == 0:
            continue
        low, high = ends(flint.arb.atan2(ball(above), ball(beside)))
        assert found.low <= high * UNIT
        assert found.high >= low * UNIT


@given(numbers, numbers, st.integers(0, 9))
def test_powers(a: Fraction, b: Fraction, exponent: int) -> None:
    low, high = min(a, b), max(a, b)
    found = IntervalArithmetic(BITS).power(between(low, high), exponent)
    for point in (low, (low + high) / 2, high, max(low, min(high, Fraction(0)))):
        assert found.low <= point**exponent * UNIT <= found.high


def test_constants() -> None:
    for bits in (16, 64, 300):
        for found, true in (
            (pi_in(bits), flint.arb.pi()),
            (log_2_in(bits), flint.arb.const_log2()),
        ):
            low, high = ends(true)
            assert found.low <= high * (1 << bits)
            assert found.high >= low * (1 << bits)
            assert found.high - found.low <= 2


@pytest.mark.parametrize(
    "undefined",
    [
        lambda: FUNCTIONS.logarithm(Interval(0, UNIT)),
        lambda: FUNCTIONS.tangent(Interval(UNIT, 2 * UNIT)),
        lambda: FUNCTIONS.arc_sine(Interval(2 * UNIT, 3 * UNIT)),
        lambda: FUNCTIONS.exponential(Interval(UNIT << 20, UNIT << 20)),
        lambda: FUNCTIONS.plain.root(Interval(-2, -1)),
        lambda: FUNCTIONS.plain.reciprocal(Interval(-1, 1)),
        lambda: FUNCTIONS.plain.quotient(Interval(1, 1), Interval(0, 1)),
        lambda: FUNCTIONS.plain.power(Interval(1, 2), 1000),
        lambda: FUNCTIONS.real_power(Interval(-2, -1), Fraction(1, 3)),
        lambda: SERIES.root(Interval(0, 1), 1),
        lambda: SERIES.arc_sine(Interval(0, UNIT), 1),
    ],
)
def test_what_has_no_bound_is_refused(undefined: Callable[[], object]) -> None:
    with pytest.raises(UndefinedError):
        undefined()
