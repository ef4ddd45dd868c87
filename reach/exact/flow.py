"""The flow of nilpotent linear systems: a polynomial in time, exactly.

For x' = f(x, t) let L p = sum_i dp/dx_i f_i + dp/dt. Then x_i(t) = sum_k (L^k x_i)(x(0), 0)
t^k / k!. For x' = A x + B u with A nilpotent and u a polynomial in t, only finitely many terms
are not zero: the sum is the exact flow. If A is not nilpotent it has infinitely many, and the
flow is no polynomial.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from workbench.models.automaton import TIME, Automaton, Kind
from workbench.models.expressions.expression import (
    ZERO,
    Expression,
    add,
    constant,
    multiply,
    variable,
)
from workbench.models.expressions.polynomial import (
    Polynomial,
    PolynomialTooLargeError,
    from_polynomial,
)
from workbench.models.expressions.traversal import substitute
from workbench.reach.exact.polynomial_in_time import InTime, expanded, form_of, trimmed

MAX_ORDER = 32
"""The highest power of time that is looked for."""


class NotNilpotentError(ValueError):
    """The flow is no polynomial in time; the message says where."""


def flow_polynomial(
    matrix: Sequence[Sequence[Fraction]],
    gains: Sequence[Sequence[Fraction]],
    inputs: Sequence[Expression],
    names: Sequence[str],
) -> dict[str, InTime]:
    """The flow of x' = A x + B u(time): every state as a polynomial in the time since the
    start, whose coefficients are polynomials in the initial state and the inputs' parameters.

    `inputs` are polynomials in `time`. Raises `NotNilpotentError` unless A is nilpotent.
    """
    flows: dict[str, Expression] = {}
    for name, row, gain in zip(names, matrix, gains, strict=True):
        own = [multiply(a, variable(n)) for a, n in zip(row, names, strict=True)]
        driven = [multiply(b, u) for b, u in zip(gain, inputs, strict=True)]
        flows[name] = add(*own, *driven)
    return polynomial_flow(flows)


def polynomial_flow(flows: Mapping[str, Expression]) -> dict[str, InTime]:
    """The flow of x' = f(x, time) from time 0, where it is a polynomial in time."""
    rates = {name: expanded(rate) for name, rate in flows.items()}
    return {name: _series(name, rates) for name in flows}


def location_flow(automaton: Automaton, location: str) -> dict[str, InTime]:
    """The flow of a location; parameters and discrete variables keep their values."""
    place = automaton.location(location)
    flows: dict[str, Expression] = {}
    for v in automaton.variables:
        if v.name == TIME or v.kind is Kind.DISCRETE:
            continue
        rate = place.flow_of(v.name).exact
        if rate is None:
            raise NotNilpotentError(f"the derivative of {v.name} in {location} is not one value")
        flows[v.name] = rate
    return polynomial_flow(flows)


def _series(name: str, rates: Mapping[str, Expression]) -> InTime:
    at_start = {TIME: ZERO}
    found: list[Expression] = []
    term: Expression = variable(name)
    factorial = 1
    for order in range(MAX_ORDER + 1):
        factorial *= max(order, 1)
        found.append(multiply(Fraction(1, factorial), substitute(term, at_start)))
        try:
            term = _lie_derivative(term, rates)
        except PolynomialTooLargeError:
            break
        if term == ZERO:
            return trimmed(found)
    raise NotNilpotentError(
        f"the flow of {name} is no polynomial in time: the system is not nilpotent"
    )


def _lie_derivative(term: Expression, rates: Mapping[str, Expression]) -> Expression:
    form = form_of(term)
    parts: list[Expression] = []
    for name, rate in (*rates.items(), (TIME, constant(1))):
        partial: Polynomial = {}
        for monomial, a in form.items():
            powers = dict(monomial)
            exponent = powers.get(name, 0)
            if exponent:
                powers[name] = exponent - 1
                key = tuple((n, e) for n, e in sorted(powers.items()) if e)
                partial[key] = partial.get(key, Fraction(0)) + a * exponent
        if partial:
            parts.append(multiply(from_polynomial(partial), rate))
    return expanded(add(*parts)) if parts else ZERO
