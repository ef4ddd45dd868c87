"""What an engine claims: a set for every location and time that contains every run.

The cross-check knows engines only through this protocol. A `Claim` is a window of time and
cells, each a conjunction of conditions; the state must lie in one of the cells. A location
without claims is claimed never to be entered.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, TypeAlias

from models.expression import Expression, Op, add, constant, multiply, variable
from models.proof.certificate import Certificate, PolyhedralProof
from models.proof.linear import Form
from models.proof.quadratic import Ellipsoid, QuadraticInvariant

Cell: TypeAlias = tuple[Expression, ...]


@dataclass(frozen=True)
class Claim:
    """From `start` to `end` the state lies in one of the cells."""

    cells: tuple[Cell, ...]
    start: float = -math.inf
    end: float = math.inf


class ClaimedSet(Protocol):
    """A set that contains every run, as one engine claims."""

    @property
    def title(self) -> str:
        """What the set is, for people."""

    @property
    def horizon(self) -> float:
        """The time up to which the claim is made."""

    def claims(self, location: str) -> tuple[Claim, ...]:
        """The claims about a location; at one time all of those whose windows contain it
        are alternatives."""


@dataclass(frozen=True)
class PolyhedralSet:
    """The invariant of a polyhedral certificate."""

    proof: PolyhedralProof
    title: str = "polyhedral invariant"
    horizon: float = math.inf

    def claims(self, location: str) -> tuple[Claim, ...]:
        """The cells of all regions of the location."""
        cells = [
            tuple(at_most_zero(row.form) for row in region.rows(cell))
            for region in self.proof.regions
            if region.location == location
            for cell in region.cells
        ]
        return (Claim(tuple(cells)),) if cells else ()


@dataclass(frozen=True)
class EllipsoidSet:
    """The invariant of a quadratic certificate: the intersection of its ellipsoids."""

    invariant: QuadraticInvariant
    title: str = "ellipsoidal invariant"
    horizon: float = math.inf

    def claims(self, location: str) -> tuple[Claim, ...]:
        """One cell: every ellipsoid."""
        if location not in self.invariant.locations:
            return ()
        names = self.invariant.variables
        cell = tuple(_inside(ellipsoid, names) for ellipsoid in self.invariant.ellipsoids)
        return (Claim((cell,)),)


def claimed_set(certificate: Certificate) -> ClaimedSet | None:
    """The set that a certificate claims; None for a kind that is not known here."""
    proof = certificate.proof
    if isinstance(proof, PolyhedralProof):
        return PolyhedralSet(proof)
    return EllipsoidSet(proof) if isinstance(proof, QuadraticInvariant) else None


def at_most_zero(form: Form) -> Expression:
    """The row form <= 0 as a condition whose robustness is a distance: the form is divided
    by the Euclidean length of its coefficients (rounded, which moves no boundary)."""
    length = math.sqrt(sum(float(a) ** 2 for a in form.coefficients.values()))
    factor = Fraction(1 / length) if 0 < length < math.inf else Fraction(1)
    terms = [multiply(a * factor, variable(v)) for v, a in sorted(form.coefficients.items())]
    left = add(*terms, constant(form.constant * factor))
    return Expression(Op.LESS_EQUAL, (left, constant(0)))


def _inside(ellipsoid: Ellipsoid, names: tuple[str, ...]) -> Expression:
    z = [add(variable(n), constant(-c)) for n, c in zip(names, ellipsoid.center, strict=True)]
    terms = [
        multiply(constant(p), z[i], z[j])
        for i, row in enumerate(ellipsoid.shape)
        for j, p in enumerate(row)
        if p != 0
    ]
    return Expression(Op.LESS_EQUAL, (add(*terms), constant(1)))
