"""Locations as a search for recurrent stays sees them: matrices in floating point.

In a location x' = A x + c + B w with every signal w_j between two bounds. Conditions are rows
over the variables and further unknowns; those of a jump speak about the values x before it and
x' after it. Normals are kept exactly beside that, because certificates are made of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from workbench.models.automaton import TIME, primed
from workbench.models.checker.affine_flow import ONE, AffineFlow, affine_flow
from workbench.models.checker.stay_conditions import Conditions, conditions_in
from workbench.models.linear import Form, Row, Rows
from workbench.models.lowering.problem import LinearProblem
from workbench.reach.affine.step_choice import matrix_of
from workbench.reach.time_limit import check_time

Array = NDArray[np.float64]
Vector = tuple[Fraction, ...]
"""One entry for each name."""

MAX_LOCATIONS = 24


class UnsuitableError(Exception):
    """The stays of the model are not followed; the message says why."""


@dataclass(frozen=True)
class Condition:
    """matrix * z <= bound over z = (x, others), or (x, x', others); `strict` is 1 for rows that
    hold strictly, else 0."""

    matrix: Array
    bound: Array
    strict: Array


@dataclass(frozen=True)
class JumpView:
    """One case of an edge: a relation over (x, x', others), the normals of its guard, and, for
    x' = R x + r, the rows of R: none where the relation does not determine x'. `at_entry`: it
    is about the moment of entry only. Jumps with one `number` differ in what is known of the
    state before (`models.checker.stay_conditions`)."""

    source: str
    number: int
    target: str
    at_entry: bool
    relation: Condition
    guards: tuple[Vector, ...]
    reset: tuple[Vector, ...]

    def pulled_back(self, normal: Vector) -> Vector:
        """R' normal."""
        return tuple(
            sum((a * row[j] for a, row in zip(normal, self.reset, strict=True)), Fraction(0))
            for j in range(len(normal))
        )


@dataclass(frozen=True)
class StayView:
    """A location: what holds while stays go on, and the bad states (whether they are meant at
    the entry only); `normals` are those of its invariant and bad states, `watched` those of the
    bad states alone."""

    location: str
    flow: AffineFlow
    matrix: Array
    constant: Array
    gain: Array
    middle: Array
    radius: Array
    staying: tuple[Condition, ...]
    bad: tuple[tuple[Condition, bool], ...]
    jumps: tuple[JumpView, ...]
    normals: tuple[Vector, ...]
    watched: tuple[Vector, ...]

    def drift(self, rows: Array) -> Array:
        """The largest d/dt that signals and constants give each row."""
        pushed = rows @ self.gain
        found: Array = rows @ self.constant + pushed @ self.middle + np.abs(pushed) @ self.radius
        return found


@dataclass(frozen=True)
class StartView:
    """One case of the initial states of a location: a relation whose x' is the start."""

    location: str
    relation: Condition


@dataclass(frozen=True)
class Stays:
    """All locations that jumps lead to from the initial ones."""

    problem: LinearProblem
    names: tuple[str, ...]
    starts: tuple[StartView, ...]
    views: Mapping[str, StayView]


def stays_of(problem: LinearProblem) -> Stays:
    """The locations of a problem."""
    names = tuple(sorted(problem.names))
    starts = tuple(
        StartView(location, _condition(_twice(names), rows))
        for location, cases in problem.starts()
        for rows in cases
    )
    views: dict[str, StayView] = {}
    pending = [start.location for start in starts]
    while pending:
        location = pending.pop(0)
        if location in views:
            continue
        if len(views) >= MAX_LOCATIONS:
            raise UnsuitableError(f"the model has more than {MAX_LOCATIONS} locations")
        views[location] = _view(problem, names, location)
        pending += [jump.target for jump in views[location].jumps]
    return Stays(problem, names, starts, views)


def _twice(names: tuple[str, ...]) -> tuple[str, ...]:
    return (*names, *map(primed, names))


def _view(problem: LinearProblem, names: tuple[str, ...], location: str) -> StayView:
    flow = affine_flow(problem, location)
    if isinstance(flow, str):
        raise UnsuitableError(flow)
    if flow.corners:
        raise UnsuitableError("parameters multiply variables")
    index = [flow.index[name] for name in names]
    signals = [signal for signal in flow.signals if signal.name != ONE]
    if any(signal.low is None or signal.high is None for signal in signals):
        raise UnsuitableError(f"an input or derivative in {location} has no bounds")
    lows = np.array([float(signal.low or 0) for signal in signals])
    highs = np.array([float(signal.high or 0) for signal in signals])
    gain = np.array([[float(s.column.get(i, 0)) for s in signals] for i in index])
    ones = [signal.column for signal in flow.signals if signal.name == ONE]
    constant = np.array([float(sum(column.get(i, 0) for column in ones)) for i in index])
    conditions = conditions_in(problem, location)
    own = [row.form for rows in conditions.staying for row in rows]
    bad = [row for case in conditions.bad for row in case.rows]
    return StayView(
        location,
        flow,
        matrix_of(flow)[np.ix_(index, index)],
        constant,
        gain.reshape(len(names), len(signals)),
        (lows + highs) / 2,
        (highs - lows) / 2,
        tuple(_condition(names, rows) for rows in conditions.staying),
        tuple((_condition(names, case.rows), case.at_entry) for case in conditions.bad),
        tuple(_jumps(conditions, names, location)),
        tuple(_normals(names, chain(*conditions.staying, bad))),
        tuple(_normals(names, (row for row in bad if row.form not in own))),
    )


def _jumps(conditions: Conditions, names: tuple[str, ...], location: str) -> Iterator[JumpView]:
    at_once = sum(jump.at_entry for jump in conditions.jumps)
    later = len(conditions.jumps) - at_once
    for place, jump in enumerate(conditions.jumps):
        check_time()
        relation = _condition(_twice(names), jump.rows)
        guards = tuple(_normals(names, jump.rows))
        number = place
        if at_once:  # every case of an edge is there for each idle case, then once more
            number = place - later if jump.at_entry else place // (later // at_once)
        reset = _reset(names, jump.rows)
        yield JumpView(location, number, jump.target, jump.at_entry, relation, guards, reset)


def _normals(names: tuple[str, ...], rows: Iterable[Row]) -> Iterator[Vector]:
    """The normals of rows over the names alone."""
    for row in rows:
        if row.form.coefficients and row.form.coefficients.keys() <= set(names):
            yield vector_of(names, row.form)


def vector_of(names: tuple[str, ...], form: Form) -> Vector:
    """The coefficients of a form in the order of the names."""
    return tuple(form.coefficients.get(name, Fraction(0)) for name in names)


def _reset(names: tuple[str, ...], rows: Rows) -> tuple[Vector, ...]:
    """The rows of R of x' = R x + r."""
    present = {(frozenset(r.form.coefficients.items()), r.form.constant) for r in rows}
    found: dict[str, Vector] = {}
    for row in rows:
        form = row.form
        after = [name for name in names if primed(name) in form.coefficients]
        opposite = form.scaled(Fraction(-1))
        if len(after) != 1 or (
            (frozenset(opposite.coefficients.items()), opposite.constant) not in present
        ):
            continue
        factor = form.coefficients[primed(after[0])]
        if form.coefficients.keys() - {primed(after[0])} <= set(names):
            found[after[0]] = tuple(-a / factor for a in vector_of(names, form))
    return tuple(found[name] for name in names) if len(found) == len(names) else ()


def _about_time(names: tuple[str, ...], row: Row) -> bool:
    """Whether the row only says that a jump takes no time, in a model that has no clock."""
    return TIME not in names and row.form.coefficients.keys() == {TIME, primed(TIME)}


def _condition(names: tuple[str, ...], rows: Rows) -> Condition:
    rows = tuple(row for row in rows if not _about_time(names, row))
    others = sorted({n for row in rows for n in row.form.coefficients} - set(names))
    column = {name: j for j, name in enumerate((*names, *others))}
    matrix = np.zeros((len(rows), len(column)))
    for i, row in enumerate(rows):
        for name, value in row.form.coefficients.items():
            matrix[i, column[name]] = float(value)
    bound = np.array([-float(row.form.constant) for row in rows])
    return Condition(matrix, bound, np.array([float(row.strict) for row in rows]))
