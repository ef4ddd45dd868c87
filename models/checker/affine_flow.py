"""Affine flows over rationals.

In a location the linear view says x' = A x + B w: x are the variables, the parameters and
the time, each entry of w is a *signal* (an input, a derivative that is only known to lie in a
range, or the constant 1) between bounds that the rows of the location imply.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from workbench.models.automaton import TIME
from workbench.models.checker.bounds import bounds_of
from workbench.models.linear import Bounds, Form, Row, Rows
from workbench.models.lowering.problem import Dynamics, LinearProblem, derivative_of

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


Entries = Mapping[tuple[int, int | str], Fraction]
"""The matrices A and B by row, and by column or name of the signal."""


@dataclass(frozen=True)
class Corner:
    """The flow at one choice of ends for the parameters that multiply variables."""

    values: Mapping[int, Fraction]
    entries: Entries


@dataclass(frozen=True)
class AffineFlow:
    """x' = A x + B w in one location. `columns[j]` are the entries A_ij by i; `limits` are
    bounds of names that the location's invariant implies. Where parameters multiply variables
    there are `corners`, and A and B are those at the centre of their box: a run has the mean
    of the corners with weights that its parameters say (`models.checker.uncertain_flow`)."""

    names: tuple[str, ...]
    columns: tuple[Mapping[int, Fraction], ...]
    signals: tuple[Signal, ...]
    limits: Mapping[str, Span]
    corners: tuple[Corner, ...] = ()

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


def affine_flow(problem: LinearProblem, location: str) -> AffineFlow:
    """The flow of a location; what is not affine in it is a signal without bounds."""
    names = tuple(sorted(problem.names | {TIME}))
    index = {name: j for j, name in enumerate(names)}
    steady = problem.steady_dynamics(location)
    resolved = [(_resolved(dynamics), dynamics.corner) for dynamics in steady]
    invariants = problem.invariant(location)
    bounds = common_bounds([case + rows for (_, rows), _ in resolved for case in invariants])
    bounds[ONE] = (Fraction(1), Fraction(1))
    # What ranges of derivatives imply holds while time passes, not where none does.
    known = common_bounds(list(invariants))
    corners = tuple(
        Corner({index[n]: value for n, value in corner.items()}, _entries(index, derivative))
        for (derivative, _), corner in resolved
    )
    limits = {name: known[name] for name in names if name in known}
    mean = mean_entries([(Fraction(1, len(corners)), c.entries) for c in corners])
    sources = {n for corner in corners for _, n in corner.entries if isinstance(n, str)}
    spans = {str(n): _ordered(bounds.get(n, (None, None))) for n in sources}
    found = assembled(names, mean, spans, limits)
    return replace(found, corners=corners) if len(corners) > 1 else found


def _ordered(span: Span) -> Span:
    """The bounds of a signal; where they contradict each other no flow exists, and any bounds
    hold of all there are."""
    low, high = span
    return (high, low) if low is not None and high is not None and low > high else span


def _entries(index: Mapping[str, int], derivative: Mapping[str, Form]) -> Entries:
    entries: dict[tuple[int, int | str], Fraction] = {}
    for name, form in (*derivative.items(), (TIME, Form({}, Fraction(1)))):
        for other, value in form.coefficients.items():
            entries[index[name], index.get(other, other)] = value
        if form.constant:
            entries[index[name], ONE] = form.constant
    return entries


def mean_entries(parts: Iterable[tuple[Fraction, Entries]]) -> Entries:
    """The sum of weight * entries."""
    total: dict[tuple[int, int | str], Fraction] = {}
    for weight, entries in parts:
        for place, value in entries.items():
            total[place] = total.get(place, Fraction(0)) + weight * value
    return {place: value for place, value in total.items() if value}


def assembled(
    names: tuple[str, ...],
    entries: Entries,
    spans: Mapping[str, Span],
    limits: Mapping[str, Span],
) -> AffineFlow:
    """The flow with these entries; `spans` are those of the signals."""
    columns: list[dict[int, Fraction]] = [{} for _ in names]
    signals: dict[str, dict[int, Fraction]] = {name: {} for name in spans}
    for (i, source), value in entries.items():
        if isinstance(source, int):
            columns[source][i] = value
        else:
            signals[source][i] = value
    found = (Signal(*spans[n], c, n) for n, c in sorted(signals.items()))
    return AffineFlow(names, tuple(columns), tuple(found), limits)


def _resolved(dynamics: Dynamics) -> tuple[dict[str, Form], Rows]:
    """Derivatives, and rows for what stays loose in them.

    Where g + l <= d(x) <= g + h with one form g and numbers l, h, the derivative is g plus a
    signal in [l, h]: g is part of the affine flow, not of what is unknown.
    """
    derivative: dict[str, Form] = {}
    rows = list(dynamics.rows)
    for name, form in dynamics.derivative.items():
        derivative[name] = form
        if (loose := derivative_of(name)) not in form.coefficients:
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


def common_bounds(cases: list[Rows]) -> Bounds:
    """Bounds of each name that hold in every case."""
    found: Bounds | None = None
    for rows in cases:
        bounds = bounds_of(rows)
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
