"""Ellipsoids that no behaviour leaves, found by semidefinite programming.

The unknowns are the coefficients of V(x) = x'P x - 2 q'x + r and a level s; the ellipsoid is
{V <= s}. For a fixed rate alpha everything wanted is linear in them:

- flow, at every corner of the dynamics x' = A x + b:
      V' - alpha (s - V) + sum_i t_i (1 - V_i) <= 0 for all x, t_i >= 0,
  with ellipsoids V_i <= 1 proved before;
- initial corners x: V(x) <= s;
- a bad half-space f(x) <= 0, f = k + a'x, stays outside by the margin -m:
      f(x) + m - (s - V(x)) >= 0 for all x.

The margin m is minimised; an ellipsoid excludes the half-space if m < 0. Each bad half-space
gets its own ellipsoid; a second stage lets each use all those of the first. The rate is chosen
from a grid around the slowest decay of the system. Floating point and untrusted: the result is
rounded to rationals and proved by the trusted checker.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from workbench.models.automaton import primed
from workbench.models.evidence.quadratic import (
    Ellipsoid,
    FlowWitness,
    QuadraticInvariant,
    affine_flow,
    corners,
    dependencies,
)
from workbench.models.linear import Form, Row
from workbench.models.lowering.problem import LinearProblem
from workbench.reach.programs.semidefinite import Array, SemidefiniteProgram

MAX_LOCATIONS = 64
MAX_CORNERS = 256
MAX_VARIABLES = 32
"""The memory of a program grows with the fourth power of the number of variables."""
RATES = (0.3, 0.6, 0.85, 1.0, 1.3, 1.6, 2.0, 2.6, 3.5, 5.0)
"""Candidate rates alpha, in units of the slowest decay of the system."""
STRICTNESS = 1e-5
"""Room left in every matrix inequality, relative to the scale of the unknowns."""


@dataclass(frozen=True)
class QuadraticSearch:
    """The method: how many stages, each using the ellipsoids of the stage before."""

    stages: int = 4


@dataclass(frozen=True)
class NotQuadratic:
    """Why there is no quadratic invariant."""

    reason: str


@dataclass(frozen=True)
class _Shape:
    """An ellipsoid in floating point: (x - c)' P (x - c) <= 1, with its flow witness."""

    matrix: Array
    center: Array
    alpha: float
    earlier: tuple[float, ...]
    margin: float


@dataclass(frozen=True)
class _System:
    variables: tuple[str, ...]
    locations: tuple[str, ...]
    flows: tuple[tuple[Array, Array], ...]
    starts: Array
    bad: tuple[Form, ...]


def search_quadratic(
    problem: LinearProblem,
    method: QuadraticSearch,
    stop: Callable[[], bool],
    progress: Callable[[str], None] = lambda text: None,
) -> QuadraticInvariant | NotQuadratic:
    """Ellipsoids that exclude every bad half-space, as far as floating point can tell."""
    system = _system(problem)
    if isinstance(system, NotQuadratic):
        return system
    slowest = max(float(np.linalg.eigvals(a).real.max()) for a, _ in system.flows)
    if slowest >= -1e-9:
        return NotQuadratic("the dynamics of some location are not asymptotically stable")
    found: list[_Shape] = []
    for stage in range(method.stages):
        known = list(found)
        open_rows = [
            form for form in system.bad if not any(_excludes(s, system, form) for s in known)
        ]
        if not open_rows:
            break
        for number, form in enumerate(open_rows):
            if stop():
                return NotQuadratic("its work was used up in the search")
            progress(f"stage {stage + 1}: ellipsoid {number + 1} of {len(open_rows)}")
            best = _best(system, form, known, -slowest, stop)
            if best is not None:
                found.append(best)
    missing = [f for f in system.bad if not any(_excludes(s, system, f) for s in found)]
    if missing:
        return NotQuadratic(f"no ellipsoid was found that excludes {missing[0]} <= 0")
    return _rounded(system, found)


def _system(problem: LinearProblem) -> _System | NotQuadratic:
    """The flow corners of every location, over the variables that the property depends on."""
    locations = reachable_locations(problem)
    if locations is None:
        return NotQuadratic(f"the model has more than {MAX_LOCATIONS} locations")
    variables = _relevant(problem, locations)
    if not variables:
        return NotQuadratic("the property does not depend on a variable that flows")
    if len(variables) > MAX_VARIABLES:
        return NotQuadratic(f"there are more than {MAX_VARIABLES} variables for an ellipsoid")
    flows: list[tuple[Array, Array]] = []
    bad: dict[str, Form] = {}
    for location in locations:
        if any(
            reset.variable in variables
            for edge in problem.automaton.edges_from(location)
            for reset in edge.resets
        ):
            return NotQuadratic("an edge resets a variable that the property depends on")
        for case in problem.invariant(location):
            for dynamics in problem.dynamics(location):
                outside = dependencies(dynamics, variables)
                points = corners(case + dynamics.rows, outside)
                if points is None or len(points) > MAX_CORNERS:
                    return NotQuadratic(f"{', '.join(outside)} is not bounded well enough")
                for point in points:
                    values = dict(zip(outside, point, strict=True))
                    matrix, offset = affine_flow(dynamics, variables, values)
                    flows.append((np.array(matrix, dtype=float), np.array(offset, dtype=float)))
        for rows in problem.bad(location):
            row = _own_row(rows, variables)
            if row is None:
                return NotQuadratic("a bad set is not a half-space of the variables")
            bad[str(row.form)] = row.form
    starts = _starts(problem, variables)
    if starts is None:
        return NotQuadratic("the initial states have no finite box")
    if not flows:
        return NotQuadratic("no time can pass in the model")
    return _System(variables, locations, tuple(flows), starts, tuple(bad.values()))


def _own_row(rows: tuple[Row, ...], variables: tuple[str, ...]) -> Row | None:
    return next((r for r in rows if r.form.coefficients.keys() <= set(variables)), None)


def reachable_locations(problem: LinearProblem) -> tuple[str, ...] | None:
    """The locations that edges may lead to; None if there are too many."""
    found = dict.fromkeys(location for location, cases in problem.starts() if cases)
    pending = list(found)
    while pending:
        for edge in problem.automaton.edges_from(pending.pop()):
            if edge.target not in found:
                found[edge.target] = None
                pending.append(edge.target)
        if len(found) > MAX_LOCATIONS:
            return None
    return tuple(found)


def _relevant(problem: LinearProblem, locations: tuple[str, ...]) -> tuple[str, ...]:
    """The variables of the property and those that their flows depend on."""
    known = {v.name for v in problem.automaton.variables}
    needed = {
        name
        for location in locations
        for rows in problem.bad(location)
        for row in rows[:1]
        for name in row.form.coefficients
        if name in known
    }
    read: dict[str, set[str]] = {}
    for location in locations:
        for dynamics in problem.dynamics(location):
            for v, form in dynamics.derivative.items():
                read.setdefault(v, set()).update(form.coefficients.keys() & known)
    pending = list(needed)
    while pending:
        fresh = read.get(pending.pop(), set()) - needed
        needed |= fresh
        pending.extend(fresh)
    return tuple(sorted(needed))


def _starts(problem: LinearProblem, variables: tuple[str, ...]) -> Array | None:
    points: list[tuple[Fraction, ...]] = []
    for _, cases in problem.starts():
        for rows in cases:
            box = corners(rows, [primed(v) for v in variables])
            if box is None or len(box) > MAX_CORNERS:
                return None
            points.extend(box)
    return np.unique(np.array(points, dtype=float), axis=0)


# One ellipsoid


def _best(
    system: _System,
    bad: Form,
    known: list[_Shape],
    decay: float,
    stop: Callable[[], bool],
) -> _Shape | None:
    """The ellipsoid with the smallest margin over the grid of rates."""
    found: list[_Shape] = []
    for rate in RATES:
        if stop():
            break
        shape = _ellipsoid(system, bad, known, rate * decay)
        if shape is not None:
            found.append(shape)
    return min(found, key=lambda s: s.margin, default=None)


def _ellipsoid(system: _System, bad: Form, known: list[_Shape], alpha: float) -> _Shape | None:
    n = len(system.variables)
    rows, columns = np.triu_indices(n)
    quadratic = len(rows)
    unknowns = quadratic + n + 3 + len(known)  # P, q, r, s, m, t
    r, s, m = quadratic + n, quadratic + n + 1, quadratic + n + 2
    value = np.zeros((unknowns, n + 1, n + 1))  # V as a matrix in (x, 1), by unknown
    for k, (i, j) in enumerate(zip(rows.tolist(), columns.tolist(), strict=True)):
        value[k, i, j] = value[k, j, i] = 1.0
    for i in range(n):
        value[quadratic + i, i, n] = value[quadratic + i, n, i] = -1.0
    value[r, n, n] = 1.0
    level = np.zeros_like(value)
    level[s, n, n] = 1.0
    inside = [_inside_matrix(shape) for shape in known]
    cost = np.zeros(unknowns)
    cost[m] = 1.0
    program = SemidefiniteProgram(unknowns, cost)
    for matrix, offset in system.flows:
        field = np.zeros((n + 1, n + 1))
        field[:n, :n], field[:n, n] = matrix, offset
        derivative = value @ field + np.transpose(value @ field, (0, 2, 1))
        growth = derivative - alpha * (level - value)
        for i, other in enumerate(inside):
            growth[m + 1 + i] += other
        program.require(-STRICTNESS * np.eye(n + 1), -growth)
    points = np.hstack([system.starts, np.ones((len(system.starts), 1))])
    for point in points:
        held = np.einsum("kij,i,j->k", level - value, point, point)
        program.require(np.full((1, 1), -STRICTNESS), held[:, None, None])
    outside = np.zeros((n + 1, n + 1))
    outside[n, n] = float(bad.constant)
    for i, name in enumerate(system.variables):
        outside[i, n] = outside[n, i] = float(bad.coefficients.get(name, 0)) / 2
    separation = value - level
    separation[m, n, n] += 1.0
    program.require(outside - STRICTNESS * np.eye(n + 1), separation)
    for k in range(len(known)):
        factor = np.zeros((unknowns, 1, 1))
        factor[m + 1 + k] = 1.0
        program.require(np.zeros((1, 1)), factor)
    solution = program.solve()
    return None if solution is None else _shape(solution, value, n, s, m, alpha)


def _shape(solution: Array, value: Array, n: int, s: int, m: int, alpha: float) -> _Shape | None:
    total = np.tensordot(solution, value, axes=1)
    p, q, r = total[:n, :n], -total[:n, n], total[n, n]
    try:
        center = np.linalg.solve(p, q)
    except np.linalg.LinAlgError:
        return None
    size = solution[s] - r + q @ center
    if not size > 0 or not np.isfinite(size):
        return None
    earlier = tuple(max(0.0, float(t)) / size for t in solution[m + 1 :])
    return _Shape(p / size, np.asarray(center, dtype=float), alpha, earlier, float(solution[m]))


def _inside_matrix(shape: _Shape) -> Array:
    """1 - V_i as a matrix in (x, 1)."""
    n = len(shape.center)
    found = np.zeros((n + 1, n + 1))
    found[:n, :n] = -shape.matrix
    found[:n, n] = found[n, :n] = shape.matrix @ shape.center
    found[n, n] = 1.0 - shape.center @ shape.matrix @ shape.center
    return found


def _excludes(shape: _Shape, system: _System, bad: Form) -> bool:
    a = np.array([float(bad.coefficients.get(v, 0)) for v in system.variables])
    at_center = float(bad.constant) + a @ shape.center
    spread = a @ np.linalg.solve(shape.matrix, a)
    return bool(at_center > 0 and spread < at_center**2)


# Rounding


def _rounded(system: _System, shapes: list[_Shape]) -> QuadraticInvariant:
    ellipsoids = tuple(
        Ellipsoid(
            tuple(tuple(_near(v) for v in row) for row in (s.matrix + s.matrix.T) / 2),
            tuple(_near(v) for v in s.center),
            dict.fromkeys(
                system.locations,
                FlowWitness(_near(s.alpha), tuple(_near(t) for t in s.earlier)),
            ),
        )
        for s in shapes
    )
    return QuadraticInvariant(system.variables, system.locations, ellipsoids)


def _near(value: float) -> Fraction:
    """A rational within a relative 1e-12 of the value, on a binary grid."""
    if value == 0 or not np.isfinite(value):
        return Fraction(0)
    _, exponent = np.frexp(abs(value))
    grid = Fraction(2) ** (40 - int(exponent))
    return Fraction(round(Fraction(value) * grid)) / grid
