"""Affine flows over rationals.

In a location the linear view says x' = A x + B w: x are the variables, the parameters and
the time, each entry of w is a *signal* (an input, a derivative that is only known to lie in a
range, or the constant 1) between bounds that the rows of the location imply.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from models.automaton import TIME
from models.proof.bounds import Bounds, implied_bounds
from models.proof.linear import Form, Row, Rows
from models.proof.problem import Dynamics, LinearProblem

ONE = "1"
"""The signal that is constantly one (no input has this name)."""

Vector = list[int]
Span = tuple[Fraction | None, Fraction | None]


@dataclass(frozen=True)
class Signal:
    """A signal: its bounds, what a unit of it adds to the derivative of each name, and what
    it is: an input, `d(x)` for a derivative in a range, or `ONE`."""

    low: Fraction | None
    high: Fraction | None
    column: Mapping[int, Fraction]
    name: str = ""


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

    @cached_property
    def reads(self) -> list[set[int]]:
        """For each name the names that its derivative reads."""
        found: list[set[int]] = [set() for _ in self.names]
        for j, column in enumerate(self.columns):
            for i in column:
                found[i].add(j)
        return found


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
    found = tuple(Signal(*bounds.get(n, (None, None)), c, n) for n, c in sorted(signals.items()))
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
