"""Affine flows over rationals, and how far a state can get: the a priori bound.

In a location the linear view says x' = A x + B w: x are the variables, the parameters and
the time, each entry of w is a *signal* (an input, a derivative that is only known to lie in a
range, or the constant 1) between bounds that the rows of the location imply.

`state_bounds` gives numbers m_j with |x_j(s)| <= m_j for all s in [0, S]. It is deliberately
crude, because it only multiplies remainders that are made as small as one likes.

Theorem. Let |x|_w = max |x_j| / w_j, with the matrix norm that belongs to it, over a set of
names whose derivatives depend on each other only. If ||exp(A t)|| <= P for t in [0, S] then
|x(s)|_w <= P (|x(0)|_w + S sup |B w|_w) (variation of constants). P is found by doubling: with
||A|| h <= 1/64, P = 2 serves for t <= h; and if P serves for [0, t], P max(1, ||exp(A t)||)
serves for [0, 2t]. The matrix exp(A t) is a Taylor polynomial of degree 6 at t = h, squared
again and again in fixed point; the norm of its error is carried along: if |E - F| <= e then
|E^2 - round(F^2)| <= 2 |F| e + e^2 + rounding.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import factorial
from operator import mul

from models.automaton import TIME
from models.proof.bounds import Bounds, implied_bounds
from models.proof.linear import Form, Row, Rows
from models.proof.problem import Dynamics, LinearProblem

GROWTH_DEGREE = 6
GROWTH_BITS = 160
ONE = "1"
"""The signal that is constantly one (no input has this name)."""

Vector = list[int]
Span = tuple[Fraction | None, Fraction | None]


@dataclass(frozen=True)
class Signal:
    """A signal: its bounds, and what a unit of it adds to the derivative of each name."""

    low: Fraction | None
    high: Fraction | None
    column: Mapping[int, Fraction]


@dataclass(frozen=True)
class AffineFlow:
    """x' = A x + B w in one location. `columns[j]` are the entries A_ij by i; `limits` are
    bounds of names that the location's invariant implies."""

    names: tuple[str, ...]
    columns: tuple[Mapping[int, Fraction], ...]
    signals: tuple[Signal, ...]
    limits: Mapping[str, Span]

    @cached_property
    def index(self) -> Mapping[str, int]:
        """The number of each name."""
        return {name: j for j, name in enumerate(self.names)}


def affine_flow(problem: LinearProblem, location: str) -> AffineFlow | str:
    """The flow of a location; a reason where the linear view has no single affine one."""
    corners = problem.dynamics(location)
    if len(corners) != 1:
        return f"parameters multiply variables in {location}"
    names = tuple(sorted(problem.names | {TIME}))
    derivative, loose = _resolved(corners[0])
    bounds = _common_bounds([case + loose for case in problem.invariant(location)])
    index = {name: j for j, name in enumerate(names)}
    columns: list[dict[int, Fraction]] = [{} for _ in names]
    signals: dict[str, dict[int, Fraction]] = {}
    for name, form in (*derivative.items(), (TIME, Form({}, Fraction(1)))):
        i = index[name]
        for other, value in form.coefficients.items():
            if other in index:
                columns[index[other]][i] = value
            else:
                signals.setdefault(other, {})[i] = value
        if form.constant:
            signals.setdefault(ONE, {})[i] = form.constant
    bounds[ONE] = (Fraction(1), Fraction(1))
    found = tuple(Signal(*bounds.get(n, (None, None)), c) for n, c in sorted(signals.items()))
    if any(s.low is not None and s.high is not None and s.low > s.high for s in found):
        return f"the bounds of an input contradict each other in {location}"
    limits = {name: bounds[name] for name in names if name in bounds}
    return AffineFlow(names, tuple(columns), found, limits)


def _resolved(dynamics: Dynamics) -> tuple[dict[str, Form], Rows]:
    """Derivatives, and rows for what stays loose in them.

    Where g + l <= d(x) <= g + h with one form g and numbers l, h, the derivative is g plus a
    signal in [l, h]: g is part of the affine flow, not of what is unknown.
    """
    derivative: dict[str, Form] = {}
    rows = list(dynamics.rows)
    for name, form in dynamics.derivative.items():
        derivative[name] = form
        if (loose := f"d({name})") not in form.coefficients:
            continue
        own = Form({loose: Fraction(1)})
        above = [r.form - own for r in rows if r.form.coefficients.get(loose) == 1]
        below = [r.form + own for r in rows if r.form.coefficients.get(loose) == -1]
        for high in above:
            g = Form({n: -a for n, a in high.coefficients.items()})
            low = next((f for f in below if dict(f.coefficients) == dict(g.coefficients)), None)
            if g.coefficients and low is not None and loose not in g.coefficients:
                derivative[name] = form + g
                rows = [r for r in rows if loose not in r.form.coefficients]
                rows += [Row(own + Form({}, high.constant)), Row(Form({}, low.constant) - own)]
                break
    return derivative, tuple(rows)


def _common_bounds(cases: list[Rows]) -> Bounds:
    """Bounds of each name that hold in every case."""
    found: Bounds | None = None
    for rows in cases:
        bounds = implied_bounds(rows)
        if found is None:
            found = bounds
            continue
        both: Bounds = {}
        for name in found.keys() & bounds.keys():
            (a, b), (c, d) = found[name], bounds[name]
            low = None if a is None or c is None else min(a, c)
            high = None if b is None or d is None else max(b, d)
            both[name] = (low, high)
        found = both
    return found or {}


def state_bounds(
    flow: AffineFlow, start: Mapping[str, Span], scale: Mapping[str, Fraction], stay: Fraction
) -> list[Fraction | None]:
    """m_j with |x_j| <= m_j while time up to `stay` passes in the location; None where no
    bound was found. `scale` holds the weights w_j (1 where it has none): any will do, good
    ones make the bound smaller."""
    found = [_largest(flow.limits.get(name)) for name in flow.names]
    if all(found[j] is not None for j, column in enumerate(flow.columns) if column):
        return found
    members = _bounded_names(flow, start)
    if not members:
        return found
    weight = [scale.get(flow.names[j], Fraction(1)) for j in members]
    growth = _growth(flow, members, weight, stay)
    entry = max(_size(start[flow.names[j]]) / w for j, w in zip(members, weight, strict=True))
    push = max(
        sum(
            (
                abs(s.column.get(j, Fraction(0))) * _size((s.low, s.high))
                for s in flow.signals
                if j in s.column
            ),
            Fraction(0),
        )
        / w
        for j, w in zip(members, weight, strict=True)
    )
    for j, w in zip(members, weight, strict=True):
        bound = w * growth * (entry + stay * push)
        known = found[j]
        found[j] = bound if known is None else min(known, bound)
    return found


def _largest(span: Span | None) -> Fraction | None:
    if span is None or span[0] is None or span[1] is None:
        return None
    return max(abs(span[0]), abs(span[1]))


def _size(span: Span) -> Fraction:
    size = _largest(span)
    assert size is not None, "only bounded names and signals are asked for"
    return size


def _bounded_names(flow: AffineFlow, start: Mapping[str, Span]) -> list[int]:
    """The largest set of names that start bounded, with bounded signals, and whose
    derivatives read no name outside the set."""
    members = {j for j, name in enumerate(flow.names) if _largest(start.get(name)) is not None}
    for signal in flow.signals:
        if _largest((signal.low, signal.high)) is None:
            members -= signal.column.keys()
    pending = [j for j in range(len(flow.names)) if j not in members]
    while pending:
        for i in flow.columns[pending.pop()]:
            if i in members:
                members.discard(i)
                pending.append(i)
    return sorted(members)


def _growth(
    flow: AffineFlow, members: list[int], weight: list[Fraction], stay: Fraction
) -> Fraction:
    """P with ||exp(A t)|| <= P for t in [0, stay]; see the module's docstring."""
    place = {j: k for k, j in enumerate(members)}
    matrix = [[Fraction(0)] * len(members) for _ in members]
    for j in members:
        for i, value in flow.columns[j].items():
            matrix[place[i]][place[j]] = value * weight[place[j]] / weight[place[i]]
    norm = max(sum(map(abs, row), Fraction(0)) for row in matrix) * stay
    doublings = max(0, (64 * norm.numerator // norm.denominator).bit_length())
    size = norm / 2**doublings  # = ||A|| h, at most 1/64
    one = 1 << GROWTH_BITS
    step = [[round(a * stay * one / 2**doublings) for a in row] for row in matrix]
    n = len(members)
    unit = [[one if i == j else 0 for j in range(n)] for i in range(n)]
    # Horner's rule: F = I + H/1 (I + H/2 (... (I + H/6))), every product rounded down.
    power = unit
    for k in range(GROWTH_DEGREE, 0, -1):
        power = [
            [e // k + u for e, u in zip(row, base, strict=True)]
            for row, base in zip(_product(step, power), unit, strict=True)
        ]
    # Each of at most 6 products errs by n for the rounding of H, n for its own and n for
    # the division, all times norms below 2; the tail of the series is below 2 (size)^7 / 7!.
    error = Fraction(2 ** (GROWTH_DEGREE + 3) * n, one)
    error += 2 * size ** (GROWTH_DEGREE + 1) / factorial(GROWTH_DEGREE + 1)
    bound = Fraction(2)
    for k in range(doublings):
        own = Fraction(max(sum(map(abs, row)) for row in power), one)
        bound *= max(Fraction(1), own + error)
        bound = Fraction(-((-bound.numerator * one) // bound.denominator), one)
        if k + 1 < doublings:
            power = _product(power, power)
            error = 2 * own * error + error * error + Fraction(n, one)
            error = Fraction(-((-error.numerator * one) // error.denominator), one)
    return bound


def _product(left: list[Vector], right: list[Vector]) -> list[Vector]:
    """The product of two matrices in fixed point, rounded down."""
    columns = list(zip(*right, strict=True))
    return [[sum(map(mul, row, column)) >> GROWTH_BITS for column in columns] for row in left]
