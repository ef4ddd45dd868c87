"""Quadratic invariants: ellipsoids that no behaviour leaves, for unbounded time.

An ellipsoid is {x : V(x) <= 1}, V(x) = (x - c)' P (x - c), P positive definite, over some of
the variables; edges must not reset these, and their flow must depend on nothing but them and
on bounded quantities (inputs, parameters, derivatives within constant bounds). Ellipsoids are
proved one after the other, each using those before it.

Flow condition. For z = x - c, x' = A x + b, w = A c + b: V' = 2 z'P(A z + w). If

    V' - alpha (1 - V) + sum_i t_i (1 - V_i) <= 0 for all x,   alpha > 0, t_i >= 0,

V_i the earlier ellipsoids, then V' <= alpha (1 - V) wherever V_i <= 1, so V <= 1 is never left
(if V > 1 then V' < 0). The left side is a quadratic form in (z, 1), affine in A and b: it is
enough to check, at every corner of the bounded quantities, that minus its matrix is positive
definite. All locations may share the ellipsoid, so this covers arbitrary switching.

Initial: the ellipsoid is convex, so it contains the initial box if it contains its corners.
Safety: the least value of a form f = k + a'x over the ellipsoid is f(c) - sqrt(a' P^-1 a).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, product

from workbench.models.automaton import primed
from workbench.models.evidence.bounds import implied_bounds
from workbench.models.evidence.definite import dot, is_positive_definite, solve, times
from workbench.models.linear import Form, Row, Rows
from workbench.models.lowering.problem import Dynamics, LinearProblem

MAX_CORNERS = 65_536


@dataclass(frozen=True, slots=True)
class FlowWitness:
    """The alpha and t_i that prove an ellipsoid in one location."""

    alpha: Fraction
    earlier: tuple[Fraction, ...]


@dataclass(frozen=True, slots=True)
class Ellipsoid:
    """(x - center)' shape (x - center) <= 1, with a witness for each location."""

    shape: tuple[tuple[Fraction, ...], ...]
    center: tuple[Fraction, ...]
    witnesses: Mapping[str, FlowWitness]

    def contains(self, point: tuple[Fraction, ...]) -> bool:
        """Whether a point lies in the ellipsoid."""
        z = [a - b for a, b in zip(point, self.center, strict=True)]
        return dot(z, times(self.shape, z)) <= 1


@dataclass(frozen=True, slots=True)
class QuadraticInvariant:
    """Ellipsoids over `variables`, for the listed locations."""

    variables: tuple[str, ...]
    locations: tuple[str, ...]
    ellipsoids: tuple[Ellipsoid, ...]


@dataclass(frozen=True, slots=True)
class Failure:
    """An obligation that does not hold."""

    obligation: str
    why: str


def malformed(problem: LinearProblem, invariant: QuadraticInvariant) -> Failure | None:
    """Why these are no ellipsoids of the model with a witness for each location, or None."""
    for location in invariant.locations:
        if not problem.has_location(location):
            return Failure("locations", f"the model has no location {location[:80]!r}")
    found = chain(_shape(problem, invariant), _witnesses(invariant))
    return next(found, None)


def failures(problem: LinearProblem, invariant: QuadraticInvariant) -> Iterator[Failure]:
    """Every obligation of the invariant, which is not malformed, that fails."""
    yield from _initial(problem, invariant)
    for location in invariant.locations:
        yield from _flow(problem, invariant, location)
        yield from _jumps(problem, invariant, location)
        yield from _safety(problem, invariant, location)


def _shape(problem: LinearProblem, invariant: QuadraticInvariant) -> Iterator[Failure]:
    """The matrices are positive definite, of the right size, over variables of the model."""
    size = len(invariant.variables)
    known = {v.name for v in problem.automaton.variables}
    if len(set(invariant.variables)) < size or not set(invariant.variables) <= known:
        yield Failure("shape", "the variables are not distinct variables of the model")
    for number, ellipsoid in enumerate(invariant.ellipsoids):
        square = len(ellipsoid.shape) == size and all(len(r) == size for r in ellipsoid.shape)
        if not square or len(ellipsoid.center) != size:
            yield Failure("shape", f"ellipsoid {number + 1} has the wrong dimension")
        elif not is_positive_definite(ellipsoid.shape):
            yield Failure("shape", f"ellipsoid {number + 1} is not positive definite")


def _witnesses(invariant: QuadraticInvariant) -> Iterator[Failure]:
    """Every ellipsoid has a witness in each location, which uses earlier ones only."""
    for number, ellipsoid in enumerate(invariant.ellipsoids):
        for location in invariant.locations:
            witness = ellipsoid.witnesses.get(location)
            title = f"flow in {location}: ellipsoid {number + 1}"
            if witness is None:
                yield Failure(title, "there is no witness for this location")
            elif witness.alpha <= 0 or any(t < 0 for t in witness.earlier):
                yield Failure(title, "alpha must be positive and the other factors not negative")
            elif len(witness.earlier) > number:
                yield Failure(title, "only earlier ellipsoids may be used")


def _initial(problem: LinearProblem, invariant: QuadraticInvariant) -> Iterator[Failure]:
    """Every ellipsoid contains every corner of a box around the initial states."""
    names = [primed(v) for v in invariant.variables]
    for location, cases in problem.starts():
        title = f"initial states of {location}"
        if cases and location not in invariant.locations:
            yield Failure(title, "the location is not part of the invariant")
        for rows in cases:
            box = corners(rows, names)
            if box is None:
                yield Failure(title, "no finite box around the initial states was found")
                continue
            for number, ellipsoid in enumerate(invariant.ellipsoids):
                if not all(ellipsoid.contains(corner) for corner in box):
                    yield Failure(title, f"ellipsoid {number + 1} does not contain them")


def _flow(
    problem: LinearProblem, invariant: QuadraticInvariant, location: str
) -> Iterator[Failure]:
    """The flow condition at every corner of what the flow depends on."""
    for case in problem.invariant(location):
        for dynamics in problem.dynamics(location):
            outside = dependencies(dynamics, invariant.variables)
            box = corners(case + dynamics.rows, outside)
            if box is None:
                yield Failure(f"flow in {location}", f"one of {', '.join(outside)} is unbounded")
                continue
            for corner in box:
                values = dict(zip(outside, corner, strict=True))
                yield from _flow_at(invariant, location, dynamics, values)


def _flow_at(
    invariant: QuadraticInvariant,
    location: str,
    dynamics: Dynamics,
    values: Mapping[str, Fraction],
) -> Iterator[Failure]:
    matrix, offset = affine_flow(dynamics, invariant.variables, values)
    for number, ellipsoid in enumerate(invariant.ellipsoids):
        witness = ellipsoid.witnesses[location]
        growth = _growth_matrix(invariant, number, witness, matrix, offset)
        if not is_positive_definite([[-a for a in row] for row in growth]):
            title = f"flow in {location}: ellipsoid {number + 1}"
            yield Failure(title, "the growth matrix is not negative definite")


def _growth_matrix(
    invariant: QuadraticInvariant,
    number: int,
    witness: FlowWitness,
    matrix: list[list[Fraction]],
    offset: list[Fraction],
) -> list[list[Fraction]]:
    """The matrix in (z, 1) of V' - alpha (1 - V) + sum t_i (1 - V_i)."""
    ellipsoid = invariant.ellipsoids[number]
    size = len(offset)
    p, c = ellipsoid.shape, ellipsoid.center
    pa = [[dot(p[i], [row[j] for row in matrix]) for j in range(size)] for i in range(size)]
    w = [dot(matrix[i], c) + offset[i] for i in range(size)]
    pw = times(p, w)
    growth = [
        [*(pa[i][j] + pa[j][i] + witness.alpha * p[i][j] for j in range(size)), pw[i]]
        for i in range(size)
    ]
    growth.append([*pw, -witness.alpha])
    for factor, earlier in zip(witness.earlier, invariant.ellipsoids, strict=False):
        shift = [a - b for a, b in zip(c, earlier.center, strict=True)]
        ps = times(earlier.shape, shift)
        for i in range(size):
            for j in range(size):
                growth[i][j] -= factor * earlier.shape[i][j]
            growth[i][size] -= factor * ps[i]
            growth[size][i] -= factor * ps[i]
        growth[size][size] += factor * (1 - dot(shift, ps))
    return growth


def _jumps(
    problem: LinearProblem, invariant: QuadraticInvariant, location: str
) -> Iterator[Failure]:
    """Edges lead to listed locations and leave the ellipsoids' variables alone."""
    for edge in problem.automaton.edges_from(location):
        title = f"jump {edge.name or f'{edge.source} -> {edge.target}'}"
        if edge.target not in invariant.locations:
            yield Failure(title, f"{edge.target} is not part of the invariant")
        if reset := {r.variable for r in edge.resets} & set(invariant.variables):
            yield Failure(title, f"it resets {', '.join(sorted(reset))}")


def _safety(
    problem: LinearProblem, invariant: QuadraticInvariant, location: str
) -> Iterator[Failure]:
    """For every bad case some row of it fails on all of some ellipsoid."""
    for number, bad in enumerate(problem.bad(location)):
        if not any(
            clearance(ellipsoid, invariant.variables, row)
            for row in bad
            for ellipsoid in invariant.ellipsoids
        ):
            yield Failure(f"safety in {location}", f"bad case {number + 1} is not excluded")


def clearance(
    ellipsoid: Ellipsoid, variables: tuple[str, ...], row: Row
) -> tuple[Fraction, Fraction] | None:
    """If a row f <= 0 holds nowhere on the ellipsoid, f(c), and g such that f + f(c)/2 (V - 1) is
    at least g everywhere; else None. The least of these values is (f(c)^2 - a' P^-1 a) / 2f(c),
    so g > 0 just where f(c) > sqrt(a' P^-1 a)."""
    if not row.form.coefficients.keys() <= set(variables):
        return None
    a = [row.form.coefficients.get(v, Fraction(0)) for v in variables]
    at_center = row.form.constant + dot(a, ellipsoid.center)
    if at_center <= 0:
        return None
    least = (at_center**2 - dot(a, solve(ellipsoid.shape, a))) / (2 * at_center)
    return (at_center, least) if least > 0 or (row.strict and least == 0) else None


def dependencies(dynamics: Dynamics, variables: tuple[str, ...]) -> list[str]:
    """What the flow of the variables mentions besides themselves."""
    zero = Form({})
    forms = [dynamics.derivative.get(v, zero) for v in variables]
    return sorted({name for form in forms for name in form.coefficients} - set(variables))


def affine_flow(
    dynamics: Dynamics, variables: tuple[str, ...], values: Mapping[str, Fraction]
) -> tuple[list[list[Fraction]], list[Fraction]]:
    """A and b of x' = A x + b with everything else at the given values."""
    zero = Form({})
    forms = [dynamics.derivative.get(v, zero) for v in variables]
    matrix = [[form.coefficients.get(v, Fraction(0)) for v in variables] for form in forms]
    offset = [
        form.constant
        + sum((a * values[n] for n, a in form.coefficients.items() if n in values), Fraction(0))
        for form in forms
    ]
    return matrix, offset


def corners(rows: Rows, names: list[str]) -> list[tuple[Fraction, ...]] | None:
    """The corners of a box that contains the names' values; None without finite bounds."""
    bounds = implied_bounds(rows)
    sides: list[tuple[Fraction, ...]] = []
    count = 1
    for name in names:
        low, high = bounds.get(name, (None, None))
        if low is None or high is None:
            return None
        sides.append((low,) if low >= high else (low, high))
        count *= len(sides[-1])
        if count > MAX_CORNERS:
            return None
    return list(product(*sides))
