"""What an engine claims: a set for every location and time that contains every run.

The cross-check knows engines only through the protocol `ClaimedSet`: asked about a stay (the
time that a run spends in a location without a jump), it tells where the run comes closest to
leaving the set, or is farthest outside.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, lru_cache, partial
from typing import Protocol, TypeAlias

from workbench.models.evidence.polyhedral import PolyhedralProof
from workbench.models.evidence.quadratic import Ellipsoid, QuadraticInvariant
from workbench.models.evidence.quadratic_function import Polynomial, QuadraticFunctions
from workbench.models.expressions.expression import (
    TRUE,
    Expression,
    add,
    conjunction,
    constant,
    disjunction,
    multiply,
    negation,
    variable,
)
from workbench.models.expressions.operators import Op
from workbench.models.linear import Form
from workbench.models.trace import Scalar
from workbench.reports.claims.ellipsoids import is_always
from workbench.reports.crosscheck.condition_tree import Condition, condition_tree
from workbench.reports.crosscheck.piecewise import Pieces, largest
from workbench.reports.words.inequalities import readable, truth

Cell: TypeAlias = tuple[Expression, ...]
"""A conjunction of conditions."""

NEVER = "the location is claimed never to be entered"


@dataclass(frozen=True)
class Stay:
    """The time that a run spends in a location without a jump: the state that it begins in,
    and the dense output."""

    location: str
    start: float
    entry: Mapping[str, Scalar]
    pieces: tuple[Pieces, ...]


@dataclass(frozen=True)
class Worst:
    """Where a run is closest to leaving a set: how far outside (negative: inside), when, the
    predicate that decides (worked out when asked), whether every atom was a polynomial, and
    that predicate as a face that the set can do without."""

    value: float
    time: float
    predicate: Callable[[], str]
    exact: bool = True
    face: Callable[[], Expression | None] = lambda: None


class ClaimedSet(Protocol):
    """A set that contains every run, as one engine claims."""

    @property
    def title(self) -> str:
        """What the set is, for people."""

    def worst(self, stay: Stay) -> Worst | None:
        """Where the stay is closest to leaving; None if nothing is claimed about it."""


@dataclass
class CellSet:
    """An invariant: in every location, for all time, one of some cells."""

    title: str
    cells: Callable[[str], tuple[Cell, ...]]
    _outside: dict[str, Condition] = field(default_factory=dict)
    _without: dict[Expression, CellSet] = field(default_factory=dict)

    def without(self, face: Expression) -> CellSet:
        """The larger set of which a predicate is no longer asked, in any cell."""

        def cells(location: str) -> tuple[Cell, ...]:
            return tuple(tuple(p for p in c if p != face) for c in self.cells(location))

        if face not in self._without:
            self._without[face] = CellSet(self.title, cells)
        return self._without[face]

    def worst(self, stay: Stay) -> Worst | None:
        """The largest distance from all cells along the stay."""
        cells = self.cells(stay.location)
        if not cells:
            return Worst(math.inf, stay.start, lambda: NEVER)
        if not all(cells):
            return Worst(-math.inf, stay.start, lambda: "the whole location belongs to the set")
        if stay.location not in self._outside:
            inside = disjunction(*(conjunction(*cell) for cell in cells))
            self._outside[stay.location] = condition_tree(negation(inside))
        found: Worst | None = None
        for part in stay.pieces:
            floor = -math.inf if found is None else found.value
            one = largest(self._outside[stay.location], part, floor=floor)
            if one is not None:
                face = cache(partial(nearest_predicate, cells, part, one.time))
                exact = one.exact and (found is None or found.exact)
                found = Worst(one.value, one.time, partial(_told, face), exact, face)
        return found


_tree = lru_cache(maxsize=4096)(condition_tree)
"""Conditions that are asked for again and again: the faces of sets."""


def _told(face: Callable[[], Expression | None]) -> str:
    predicate = face()
    return NEVER if predicate is None else readable(predicate)


def nearest_predicate(cells: Sequence[Cell], part: Pieces, t: float) -> Expression | None:
    """The predicate that decides at a time: the worst one of the cell that is nearest."""
    best: tuple[float, Expression | None] = (-math.inf, None)
    for cell in cells:
        worst: tuple[float, Expression | None] = (math.inf, None)
        for predicate in cell:
            found = largest(_tree(predicate), part, (t, t))
            value = -math.inf if found is None else found.value
            if value < worst[0] or worst[1] is None:
                worst = (value, predicate)
        if worst[0] > best[0] or best[1] is None:
            best = worst
    return best[1]


def polyhedral_set(proof: PolyhedralProof, booleans: Collection[str] = ()) -> CellSet:
    """The invariant of a polyhedral certificate. What it says of `booleans` alone is true or
    false: there is no distance from it."""
    found: dict[str, list[Cell]] = {}
    for region in proof.regions:
        for number in range(len(region.cells)):
            cell = (_face(row.form, booleans) for row in region.rows(number))
            found.setdefault(region.location, []).append(tuple(f for f in cell if f != TRUE))
    return CellSet("polyhedral invariant", lambda location: tuple(found.get(location, ())))


def _face(form: Form, booleans: Collection[str]) -> Expression:
    said = truth(form, booleans)
    return at_most_zero(form) if said is None else said


def ellipsoid_set(invariant: QuadraticInvariant) -> CellSet:
    """The invariant of a quadratic certificate: the intersection of its ellipsoids."""
    cell = tuple(_inside(body, invariant.variables) for body in invariant.ellipsoids)
    places = frozenset(invariant.locations)
    return CellSet("ellipsoidal invariant", lambda location: (cell,) if location in places else ())


def function_set(proof: QuadraticFunctions) -> CellSet:
    """The invariant of quadratic functions: where all of them are at most zero."""
    places = frozenset(proof.locations)

    def cells(location: str) -> tuple[Cell, ...]:
        if location not in places:
            return ()
        functions = (function[location] for function in proof.functions)
        return (tuple(_not_positive(f) for f in functions if not is_always(f)),)

    return CellSet("quadratic invariant", cells)


def at_most_zero(form: Form) -> Expression:
    """The row form <= 0 as a condition whose robustness is a distance: the form is divided
    by the Euclidean length of its coefficients (rounded, which moves no boundary)."""
    length = math.sqrt(sum(float(a) ** 2 for a in form.coefficients.values()))
    factor = Fraction(1 / length) if 0 < length < math.inf else Fraction(1)
    terms = [multiply(a * factor, variable(v)) for v, a in sorted(form.coefficients.items())]
    left = add(*terms, constant(form.constant * factor))
    return Expression(Op.LESS_EQUAL, (left, constant(0)))


def _not_positive(polynomial: Polynomial) -> Expression:
    """polynomial <= 0, divided by its largest coefficient (which moves no boundary)."""
    size = max((abs(a) for a in polynomial.values()), default=Fraction(1))
    terms = [
        multiply(constant(a / size), *(variable(name) for name in monomial))
        for monomial, a in sorted(polynomial.items())
    ]
    return Expression(Op.LESS_EQUAL, (add(*terms, constant(0)), constant(0)))


def _inside(ellipsoid: Ellipsoid, names: tuple[str, ...]) -> Expression:
    z = [add(variable(n), constant(-c)) for n, c in zip(names, ellipsoid.center, strict=True)]
    terms = [
        multiply(constant(p), z[i], z[j])
        for i, row in enumerate(ellipsoid.shape)
        for j, p in enumerate(row)
        if p != 0
    ]
    return Expression(Op.LESS_EQUAL, (add(*terms), constant(1)))
