"""A linear problem as matrices, for the search of template invariants (floating point).

Each `Flow` is one location, invariant case and parameter corner: x' = A x + B w + c with
rows G (x, w) <= g, where x are the variables and parameters and w everything else (inputs,
derivatives known by bounds). Each `Switch` is one case of an edge, as rows over
(x, x', rest). Nothing here is trusted: what is found is proved again exactly.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from workbench.models.automaton import primed
from workbench.models.linear import Form, Rows
from workbench.models.lowering.problem import Dynamics, LinearProblem
from workbench.reach.time_limit import check_time

Array = NDArray[np.float64]

MAX_LOCATIONS = 512


@dataclass(frozen=True)
class Polyhedron:
    """matrix * z <= bound, z indexed by `names`; `rows` are the same exactly, where known."""

    names: tuple[str, ...]
    matrix: Array
    bound: Array
    rows: Rows = ()


@dataclass(frozen=True)
class Flow:
    """The dynamics of one location, case and corner; `domain` is over (x, w); `derivative`
    says exactly how each of x changes, where known."""

    location: str
    state: Array
    rest: Array
    constant: Array
    domain: Polyhedron
    derivative: tuple[Form, ...] = ()


@dataclass(frozen=True)
class Switch:
    """One case of an edge: a relation over (x, x', rest)."""

    source: str
    target: str
    relation: Polyhedron
    keeps_state: bool


@dataclass(frozen=True)
class Start:
    """One case of the initial states: a relation over (x, x', rest); x' is the start."""

    location: str
    relation: Polyhedron


@dataclass(frozen=True)
class Piece:
    """A part of a location: its bounds, as forms that are at most 0 in it, and by how much
    they hold after a crossing from another piece."""

    location: str
    exits: tuple[Form, ...]
    margin: Fraction


@dataclass(frozen=True)
class TemplateSystem:
    """Everything the search needs, with the locations in order of discovery.

    A bad set is over (x, rest, margin): it has states where the margin can be positive.
    Locations that are parts of others are found in `pieces`.
    """

    names: tuple[str, ...]
    locations: tuple[str, ...]
    starts: tuple[Start, ...]
    flows: tuple[Flow, ...]
    switches: tuple[Switch, ...]
    bad: tuple[tuple[str, Polyhedron], ...]
    pieces: Mapping[str, Piece] = field(default_factory=dict)


class TooManyLocationsError(Exception):
    """The reachable part of the location graph is larger than the search takes on."""


def template_system(problem: LinearProblem) -> TemplateSystem:
    """The matrices of every location that the edges reach from the initial ones."""
    names = tuple(sorted(problem.names))
    starts = tuple(
        Start(location, _relation(names, rows))
        for location, cases in problem.starts()
        for rows in cases
    )
    found: dict[str, None] = dict.fromkeys(start.location for start in starts)
    pending = list(found)
    switches: list[Switch] = []
    while pending:
        location = pending.pop(0)
        for jump in problem.jumps(location):
            for rows in jump.cases:
                check_time()
                relation = _relation(names, rows)
                switches.append(Switch(location, jump.target, relation, _keeps_state(names, rows)))
            if jump.cases and jump.target not in found:
                if len(found) >= MAX_LOCATIONS:
                    raise TooManyLocationsError(f"more than {MAX_LOCATIONS} locations")
                found[jump.target] = None
                pending.append(jump.target)
    flows = tuple(
        _flow(names, location, dynamics, case)
        for location in found
        for case in problem.flowing(location)
        for dynamics in problem.dynamics(location)
    )
    bad = tuple(
        (location, _with_margin(_polyhedron((*names, *_others(names, rows)), rows), rows))
        for location in found
        for rows in problem.bad(location)
    )
    return TemplateSystem(names, tuple(found), starts, flows, tuple(switches), bad)


def _flow(names: tuple[str, ...], location: str, dynamics: Dynamics, case: Rows) -> Flow:
    check_time()
    rows = case + dynamics.rows
    forms = [dynamics.derivative.get(name, Form({})) for name in names]
    mentioned = {n for form in forms for n in form.coefficients}
    rest = tuple(sorted((mentioned | {n for r in rows for n in r.form.coefficients}) - set(names)))
    return Flow(
        location,
        _matrix(forms, names),
        _matrix(forms, rest),
        np.array([float(form.constant) for form in forms]),
        _polyhedron((*names, *rest), rows),
        tuple(forms),
    )


def _relation(names: tuple[str, ...], rows: Rows) -> Polyhedron:
    after = tuple(primed(name) for name in names)
    return _polyhedron((*names, *after, *_others((*names, *after), rows)), rows)


def _keeps_state(names: tuple[str, ...], rows: Rows) -> bool:
    """Whether the rows contain x' = x for every name."""
    present = {
        tuple(sorted(row.form.coefficients.items())) for row in rows if not row.form.constant
    }
    one = Fraction(1)
    return all(
        tuple(sorted({primed(name): sign, name: -sign}.items())) in present
        for name in names
        for sign in (one, -one)
    )


def _others(names: Iterable[str], rows: Rows) -> tuple[str, ...]:
    return tuple(sorted({n for row in rows for n in row.form.coefficients} - set(names)))


def _polyhedron(names: tuple[str, ...], rows: Rows) -> Polyhedron:
    forms = [row.form for row in rows]
    bound = np.array([-float(form.constant) for form in forms])
    return Polyhedron(names, _matrix(forms, names), bound, rows)


def _with_margin(polyhedron: Polyhedron, rows: Rows) -> Polyhedron:
    """A last unknown, at most 1, by which all strict rows hold."""
    strict = np.array([float(row.strict) for row in rows])
    matrix = np.hstack([polyhedron.matrix, strict[:, None]])
    limit = np.zeros((1, matrix.shape[1]))
    limit[0, -1] = 1.0
    names = (*polyhedron.names, "margin")
    return Polyhedron(names, np.vstack([matrix, limit]), np.append(polyhedron.bound, 1.0), rows)


def _matrix(forms: list[Form], names: tuple[str, ...]) -> Array:
    column = {name: j for j, name in enumerate(names)}
    matrix = np.zeros((len(forms), len(names)))
    for i, form in enumerate(forms):
        for name, value in form.coefficients.items():
            if name in column:
                matrix[i, column[name]] = float(value)
    return matrix
