"""Eliminating one quantifier by test points: exists t in [0, T] such that ... (T maybe none).

A set of t described by polynomial comparisons of degree at most 2 is a union of intervals;
the left end of each is 0, or a root of one of the polynomials. So the statement holds iff it
holds at 0, at a root, or (for strict comparisons) just after one. Roots are written
(p + q sqrt(D)) / r; a polynomial there is A + B sqrt(D), times a square, and its sign is a
condition on A, B and D without the root.

One comparison of degree 3 is decided by its extreme values: p takes a value <= 0 on [0, T] iff
it does at 0, at T (or eventually, without T), or where its derivative, of degree 2, is zero.

Formulas are exact: equivalent to the statement, for all real values of the other names.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from workbench.models.expressions.expression import (
    FALSE,
    ONE,
    TRUE,
    ZERO,
    Expression,
    compare,
    conjunction,
    disjunction,
    multiply,
)
from workbench.models.expressions.operators import Op
from workbench.reach.exact.polynomial_in_time import InTime, derivative, expanded, trimmed
from workbench.reach.exact.tidy import tidied


class NotEliminableError(ValueError):
    """The degrees are too high for this method."""


@dataclass(frozen=True, slots=True)
class Atom:
    """polynomial op 0; `op` is one of <=, <, ==."""

    polynomial: InTime
    op: Op

    @property
    def degree(self) -> int:
        """The degree in the eliminated variable."""
        return max(len(self.polynomial) - 1, 0)


@dataclass(frozen=True, slots=True)
class Point:
    """(p + q sqrt(root)) / r, where `exists` holds; `beyond`: an infinitesimal later."""

    p: Expression
    q: Expression
    r: Expression
    root: Expression
    exists: Expression
    beyond: bool = False


@dataclass(frozen=True, slots=True)
class Case:
    """Part of the result: a condition, and the point at which the statement then holds
    (None: for every large value of the variable)."""

    condition: Expression
    point: Point | None


START = Point(ZERO, ZERO, ONE, ZERO, TRUE)


def eliminate(atoms: tuple[Atom, ...], bound: Expression | None) -> tuple[Case, ...]:
    """Cases whose disjunction says: for some t >= 0 (and t <= bound) all atoms hold."""
    limits = [Atom(trimmed([ZERO, Fraction(-1) * ONE]), Op.LESS_EQUAL)]
    if bound is not None:
        limits.append(Atom(trimmed([-bound, ONE]), Op.LESS_EQUAL))
    highest = max((atom.degree for atom in atoms), default=0)
    if highest <= 2:
        found = _by_left_ends((*atoms, *limits), limits)
    elif highest == 3 and len(atoms) == 1 and atoms[0].op is not Op.EQUAL:
        found = _by_extremes(atoms[0], bound, limits)
    else:
        raise NotEliminableError(
            f"degree {highest} in time with {len(atoms)} comparisons: "
            "one of degree 3, or any number of degree 2, can be treated"
        )
    cases = (Case(tidied(case.condition, case.condition), case.point) for case in found)
    return tuple(case for case in cases if case.condition != FALSE)


def _by_left_ends(atoms: tuple[Atom, ...], limits: list[Atom]) -> Iterator[Case]:
    points = [START]
    for atom in atoms:
        if atom in limits and atom is limits[0]:
            continue
        points += _roots(atom.polynomial, beyond=atom.op is Op.LESS)
    if any(atom.op is Op.LESS for atom in atoms):
        points.append(Point(ZERO, ZERO, ONE, ZERO, TRUE, beyond=True))
    for point in dict.fromkeys(points):
        holds = conjunction(point.exists, *(at_point(atom, point) for atom in atoms))
        yield Case(holds, point)


def _by_extremes(atom: Atom, bound: Expression | None, limits: list[Atom]) -> Iterator[Case]:
    yield Case(at_point(atom, START), START)
    if bound is None:
        yield Case(_eventually_negative(atom.polynomial), None)
    else:
        end = Point(bound, ZERO, ONE, ZERO, compare(Op.GREATER_EQUAL, bound, 0))
        yield Case(conjunction(end.exists, at_point(atom, end)), end)
    for point in _roots(derivative(atom.polynomial), beyond=False):
        inside = [at_point(limit, point) for limit in limits]
        yield Case(conjunction(point.exists, *inside, at_point(atom, point)), point)


def _eventually_negative(polynomial: InTime) -> Expression:
    """The polynomial tends to minus infinity."""
    found: Expression = FALSE
    for coefficient in polynomial[1:]:
        here = compare(Op.LESS, coefficient, 0)
        found = disjunction(here, conjunction(compare(Op.EQUAL, coefficient, 0), found))
    return found


def _roots(polynomial: InTime, *, beyond: bool) -> Iterator[Point]:
    """The roots of a polynomial of degree at most 2, whatever its coefficients become."""
    c, b, a = (*polynomial, *([ZERO] * (3 - len(polynomial))))[:3]
    square_free = compare(Op.EQUAL, a, 0)
    if square_free != FALSE:
        exists = conjunction(square_free, compare(Op.NOT_EQUAL, b, 0))
        if exists != FALSE:
            yield Point(expanded(-c), ZERO, b, ZERO, exists, beyond)
    curved = compare(Op.NOT_EQUAL, a, 0)
    if curved != FALSE:
        root = expanded(b * b - 4 * a * c)
        exists = conjunction(curved, compare(Op.GREATER_EQUAL, root, 0))
        if exists != FALSE:
            for sign in (1, -1):
                yield Point(
                    expanded(-b),
                    multiply(Fraction(sign), ONE),
                    expanded(2 * a),
                    root,
                    exists,
                    beyond,
                )


def at_point(atom: Atom, point: Point) -> Expression:
    """What the other names must satisfy for the atom to hold at the point."""
    if not point.beyond:
        return _sign(*_values(atom.polynomial, point), point.root, atom.op)
    if atom.op is Op.EQUAL:  # just after a point only where it is zero everywhere
        return conjunction(*(compare(Op.EQUAL, c, 0) for c in atom.polynomial))
    falling: Expression = TRUE if atom.op is Op.LESS_EQUAL else FALSE
    current = atom.polynomial
    chain: list[InTime] = []
    while current:
        chain.append(current)
        current = derivative(current)
    for polynomial in reversed(chain):
        a, b = _values(polynomial, point)
        falling = disjunction(
            _sign(a, b, point.root, Op.LESS),
            conjunction(_sign(a, b, point.root, Op.EQUAL), falling),
        )
    return falling


def _values(polynomial: InTime, point: Point) -> tuple[Expression, Expression]:
    """A and B of the polynomial at the point, A + B sqrt(D), times an even power of r."""
    order = max(len(polynomial) - 1, 0)
    a: Expression = ZERO
    b: Expression = ZERO
    power: Expression = ONE
    for coefficient in reversed(polynomial):  # Horner: (a + b s) * (p + q s) + c * r^k
        a, b = (
            expanded(a * point.p + b * point.q * point.root + coefficient * power),
            expanded(a * point.q + b * point.p),
        )
        power = expanded(power * point.r)
    if order % 2:
        a, b = expanded(a * point.r), expanded(b * point.r)
    return a, b


def _sign(a: Expression, b: Expression, root: Expression, op: Op) -> Expression:
    """A + B sqrt(D) op 0, for D >= 0, without the root."""
    if b == ZERO or root == ZERO:
        return compare(op, a, 0)
    norm = expanded(a * a - b * b * root)
    if op is Op.EQUAL:
        return conjunction(compare(Op.LESS_EQUAL, expanded(a * b), 0), compare(Op.EQUAL, norm, 0))
    if op is Op.LESS_EQUAL:
        return disjunction(
            conjunction(compare(Op.LESS_EQUAL, a, 0), compare(Op.GREATER_EQUAL, norm, 0)),
            conjunction(compare(Op.LESS_EQUAL, b, 0), compare(Op.LESS_EQUAL, norm, 0)),
        )
    return disjunction(
        conjunction(compare(Op.LESS, a, 0), compare(Op.GREATER, norm, 0)),
        conjunction(
            compare(Op.LESS_EQUAL, b, 0),
            disjunction(compare(Op.LESS, a, 0), compare(Op.LESS, norm, 0)),
        ),
    )
