"""Numeric expressions along a trace, as piecewise polynomials of time.

Along one piece of dense output every variable is a polynomial, so a polynomial expression
is one too, and is composed exactly (up to rounding). Other expressions are interpolated at
Chebyshev points, and the piece is halved until the interpolant agrees with the expression
to `AGREEMENT` at points between.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from models.automaton import TIME
from models.expression import Expression, Op, substitute
from models.polynomial import PolynomialTooLargeError, polynomial_form
from models.trace import Segment
from simulate.calculator import Calculator
from simulate.margin import Leaf
from simulate.signals import Formula, Signal, line_at
from simulate.tape import number
from simulate.unit_polynomial import Polynomial, product, scaled

AGREEMENT = 1e-10
MAX_DEGREE = 64
INTERPOLATION_DEGREE = 8
MAX_HALVINGS = 12

Monomials = tuple[tuple[float, tuple[tuple[str, int], ...]], ...]
Arc = tuple[float, float, Polynomial]
"""A start, an end, and a polynomial of u in [0, 1] between them."""


@dataclass(frozen=True)
class Along:
    """One expression in one location: polynomial where it is one, a calculator otherwise."""

    monomials: Monomials | None
    calculate: Calculator
    names: frozenset[str]


class DenseValues:
    """Expressions of one model along its traces; compiled once for each location.

    `inputs` are the signals that were fed into the runs; `parameters` uncertain constants.
    """

    def __init__(
        self,
        symbols: Mapping[str, int],
        inputs: Mapping[str, Signal] | None = None,
        externals: Mapping[str, Callable[..., float]] | None = None,
    ):
        self.symbols, self.externals = symbols, externals or {}
        self.inputs: Mapping[str, Signal] = inputs or {}
        self._compiled: dict[tuple[str, Expression], Along] = {}

    def compiled(self, expression: Expression, segment: Segment) -> Along:
        """The expression in terms of what a segment of this location records."""
        key = (segment.location, expression)
        found = self._compiled.get(key)
        if found is None:
            forms = {
                name: signal.expression
                for name, signal in self.inputs.items()
                if isinstance(signal, Formula)
            }
            whole = substitute(substitute(expression, dict(segment.derived)), forms)
            try:
                form = polynomial_form(whole)
            except PolynomialTooLargeError:
                form = None
            monomials = None
            if form is not None and all(sum(e for _, e in m) <= 8 for m in form):
                monomials = tuple((number(c), m) for m, c in form.items())
            calculate = Calculator([whole], self.symbols, self.externals)
            found = Along(monomials, calculate, frozenset(calculate.names))
            self._compiled[key] = found
        return found

    def constants(
        self, along: Along, segment: Segment, parameters: Mapping[str, float]
    ) -> dict[str, Sequence[float]]:
        """What does not flow: numbers, or lines (a, b) for inputs a + b*time."""
        found: dict[str, Sequence[float]] = {}
        for name in along.names - set(segment.flowing):
            signal = self.inputs.get(name)
            if signal is not None and not isinstance(signal, Formula):
                found[name] = line_at(signal, segment.start)
            elif name in segment.held:
                found[name] = (_real(segment.held[name]),)
            elif name in parameters:
                found[name] = (parameters[name],)
            else:
                found[name] = (math.nan,)
        return found

    def arcs(
        self, expression: Expression, segment: Segment, parameters: Mapping[str, float]
    ) -> list[Arc]:
        """The expression over a segment; one constant arc for a segment without duration."""
        along = self.compiled(expression, segment)
        fixed = self.constants(along, segment, parameters)
        if not segment.degrees:
            rows = [array("d", (x,)) for x in segment.final]
            pieces = [(segment.start, segment.end, rows)]
        else:
            pieces = list(segment.pieces())
        arcs: list[Arc] = []
        for start, end, rows in pieces:
            length = end - start
            known: dict[str, Polynomial] = {TIME: [start, length]}
            for name, row in zip(segment.flowing, rows, strict=True):
                if name in along.names:
                    known[name] = scaled(row, length)
            for name, line in fixed.items():
                known[name] = (
                    [line[0]] if len(line) == 1 else [line[0] + line[1] * start, line[1] * length]
                )
            if along.monomials is not None and _fits(along.monomials, known):
                arcs.append((start, end, _composed(along.monomials, known)))
            else:
                arcs += _interpolated(along.calculate, known, start, end)
        return arcs

    def margin(
        self, leaf: Leaf, segment: Segment, parameters: Mapping[str, float]
    ) -> Sequence[Arc]:
        """The margin of a leaf over a segment; infinite for a proposition."""
        if leaf.truth:
            margin = math.inf if self._truth(leaf.expression, segment, parameters) else -math.inf
            return [(segment.start, segment.end, [margin])]
        return self.arcs(leaf.expression, segment, parameters)

    def _truth(
        self, proposition: Expression, segment: Segment, parameters: Mapping[str, float]
    ) -> bool:
        if proposition.op is Op.BOOLEAN:
            return bool(proposition.value)
        along = self.compiled(proposition, segment)
        known = {name: v[0] for name, v in self.constants(along, segment, parameters).items()}
        known.update(zip(segment.flowing, segment.final, strict=True))
        result = along.calculate(known)[0]
        return result == result and result != 0.0


def _real(value: object) -> float:
    return float(value) if isinstance(value, int | float) else math.nan


def _fits(monomials: Monomials, known: Mapping[str, Polynomial]) -> bool:
    return all(
        sum((len(known[name]) - 1) * e for name, e in powers) <= MAX_DEGREE
        for _, powers in monomials
    )


def _composed(monomials: Monomials, known: Mapping[str, Polynomial]) -> Polynomial:
    total: Polynomial = [0.0]
    for coefficient, powers in monomials:
        if len(powers) == 1 and powers[0][1] == 1:
            term: Polynomial = known[powers[0][0]]
        else:
            term = [1.0]
            for name, exponent in powers:
                for _ in range(exponent):
                    term = product(term, known[name])
        if len(term) > len(total):
            total += [0.0] * (len(term) - len(total))
        for i, c in enumerate(term):
            total[i] += coefficient * c
    return total


# Interpolation


@cache
def _nodes() -> tuple[float, ...]:
    n = INTERPOLATION_DEGREE
    return tuple(0.5 - 0.5 * math.cos(math.pi * i / n) for i in range(n + 1))


def _newton(values: Sequence[float]) -> Polynomial:
    """The polynomial through the values at the nodes, in powers of u."""
    nodes, table = _nodes(), list(values)
    n = len(nodes)
    for order in range(1, n):
        for i in range(n - 1, order - 1, -1):
            table[i] = (table[i] - table[i - 1]) / (nodes[i] - nodes[i - order])
    result = [table[-1]]
    for i in range(n - 2, -1, -1):
        shifted = [0.0, *result]
        for j, c in enumerate(result):
            shifted[j] -= nodes[i] * c
        shifted[0] += table[i]
        result = shifted
    return result


def _interpolated(
    calculate: Calculator, known: Mapping[str, Polynomial], start: float, end: float
) -> list[Arc]:
    from simulate.unit_polynomial import value

    def at(u: float) -> float:
        return calculate({name: value(p, u) for name, p in known.items()})[0]

    if end <= start:
        return [(start, end, [at(0.0)])]
    arcs: list[Arc] = []
    # a value near zero is known no better than the numbers it is computed from
    floor = max((abs(p[0]) for p in known.values()), default=1.0) + 1e-300
    stack = [(0.0, 1.0, 0)]
    while stack:
        low, high, depth = stack.pop()
        width = high - low
        p = _newton([at(low + width * u) for u in _nodes()])
        scale = max(floor, max(map(abs, p)))
        checks = (0.07, 0.31, 0.6, 0.86)
        error = max(abs(value(p, u) - at(low + width * u)) for u in checks)
        if not error > AGREEMENT * scale or depth >= MAX_HALVINGS or not math.isfinite(scale):
            place = start + (end - start) * low
            arcs.append((place, start + (end - start) * high, p))
        else:
            middle = 0.5 * (low + high)
            stack.append((middle, high, depth + 1))
            stack.append((low, middle, depth + 1))
    return arcs
