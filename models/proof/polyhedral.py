"""Polyhedral invariants: sets of cells that no behaviour leaves, for unbounded time.

A region of a location is a list of predicates (affine forms h_p) and a list U of closed cells;
a cell is a sign vector s, the set of states with s_p h_p <= 0 for every p. A location may have
several regions, each with predicates of its own and each kept by the flow on its own; the
invariant is their union. A location without regions has no states. The invariant is proved by
four kinds of obligations, each a linear fact with Farkas evidence:

1. *Initial*: every initial state lies in a cell of a region of its location.
2. *Flow*: for every region, every cell C of its U, and every predicate p whose flip leads
   outside U: on the facet of C where h_p = 0 the flow does not point outwards,
   d/dt(s_p h_p) <= 0, or the facet is empty. What is checked is the identity
       d/dt(s_p h_p) = mu s_p h_p + sum_q l_q s_q h_q + sum_j n_j g_j - c,
   l, n, c >= 0, mu of any sign, g_j <= 0 the rows of invariant, inputs and derivatives; or,
   for an empty facet, the same right-hand side with a positive number on the left; or, for
   a predicate that the invariant itself implies, s_p h_p = sum_j n_j g_j - c.
3. *Jumps*: from every cell, every successor over every edge lies in a cell of a region of the
   target.
4. *Safety*: no cell contains a bad state.

Theorem. If all obligations hold, no run reaches a bad state.
Proof. By induction over the jumps it remains to see that flow keeps a state in the U of a
region. Let
F_C(x) = sum_p max(0, s_p h_p(x)) and phi = min over C in U of F_C; phi vanishes exactly on U.
Along a trajectory inside the location's invariant phi is absolutely continuous; take a time
where it, every h_p and every max(0, s_p h_p) are differentiable (almost all), and a C that
attains the minimum. Then phi' = F_C'. A predicate with s_p h_p < 0 adds nothing, nor does one
with h_p = 0 (an absolutely continuous function has zero derivative almost everywhere on its
zero set). One with s_p h_p > 0 has its flip outside U, or flipping it would lower the
minimum; so the identity applies to it. In the identity every s_q h_q is at most phi,
|mu s_p h_p| <= |mu| phi and g_j <= 0: hence d/dt(s_p h_p) <= K phi. In the case of the empty
facet the identity says that a positive number is at most K phi, impossible while phi is
small; and what the invariant implies is never violated. So phi' <= K phi wherever phi is
small, phi starts at 0, and stays 0 (Gronwall).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import TypeAlias

from models.automaton import primed
from models.proof.farkas import Multipliers, combine, implies, refutes
from models.proof.linear import Form, Row, Rows
from models.proof.problem import LinearProblem

Cell: TypeAlias = tuple[int, ...]
"""One sign for each predicate: +1 for h_p <= 0, -1 for h_p >= 0."""


@dataclass(frozen=True, slots=True)
class Region:
    """The part of the invariant in one location."""

    location: str
    predicates: tuple[Form, ...]
    cells: tuple[Cell, ...]

    def rows(self, cell: Cell) -> Rows:
        """The cell as rows, one for each predicate, in order."""
        return tuple(
            Row(h.scaled(Fraction(sign))) for h, sign in zip(self.predicates, cell, strict=True)
        )


# Evidence


@dataclass(frozen=True, slots=True)
class Impossible:
    """The rows at hand have no common solution."""

    multipliers: Multipliers


class FacetReason(StrEnum):
    """Why a flow does not leave a cell through a facet; see obligation 2."""

    INWARD = "inward"
    EMPTY = "empty"
    INVARIANT = "invariant"


@dataclass(frozen=True, slots=True)
class Kept:
    """The identity of obligation 2, of the kind that `reason` says; `own` is mu."""

    reason: FacetReason
    own: Fraction
    multipliers: Multipliers


@dataclass(frozen=True, slots=True)
class InCell:
    """All states at hand lie in a cell of one of the target's regions: multipliers for each
    predicate of that region, in order, that the splits on the way have not already decided
    (those may be left empty)."""

    region: int
    cell: int
    proofs: tuple[Multipliers, ...]


@dataclass(frozen=True, slots=True)
class Split:
    """Cases h_p <= 0 and h_p > 0 for a predicate of one of the target's regions; with
    `strict_below` instead h_p < 0 and h_p >= 0."""

    region: int
    predicate: int
    strict_below: bool
    below: Cover
    above: Cover


Cover: TypeAlias = Impossible | InCell | Split
Evidence: TypeAlias = Kept | Cover


# Obligations


Decided: TypeAlias = dict[tuple[int, int], int]
"""The signs that splits have decided, by region and predicate."""


@dataclass(frozen=True, slots=True)
class CoverObligation:
    """Every solution of `rows` lies, by its primed values, in a cell of one of the `regions`
    (none: there is no solution). For a jump the rows begin with those of a cell of `source`."""

    title: str
    rows: Rows
    regions: tuple[Region, ...]
    source: Region | None = None

    def holds(self, evidence: Evidence) -> bool:
        """Whether a decision tree of splits with Farkas leaves covers the rows."""
        pending: list[tuple[Evidence, Rows, Decided]] = [(evidence, self.rows, {})]
        while pending:
            node, rows, decided = pending.pop()
            if isinstance(node, Impossible):
                if not refutes(rows, node.multipliers):
                    return False
            elif isinstance(node, InCell):
                if not self._in_cell(node, rows, decided):
                    return False
            elif isinstance(node, Split):
                h = self._predicate(node.region, node.predicate)
                if h is None:
                    return False
                key = (node.region, node.predicate)
                below = Row(h, node.strict_below)
                above = Row(h.scaled(Fraction(-1)), not node.strict_below)
                pending.append((node.below, (*rows, below), {**decided, key: 1}))
                pending.append((node.above, (*rows, above), {**decided, key: -1}))
            else:
                return False
        return True

    def _predicate(self, region: int, predicate: int) -> Form | None:
        """A predicate on the values after the jump; None if there is no such predicate."""
        if not 0 <= region < len(self.regions):
            return None
        predicates = self.regions[region].predicates
        return after(predicates[predicate]) if 0 <= predicate < len(predicates) else None

    def _in_cell(self, leaf: InCell, rows: Rows, decided: Decided) -> bool:
        if not 0 <= leaf.region < len(self.regions):
            return False
        region = self.regions[leaf.region]
        if not 0 <= leaf.cell < len(region.cells):
            return False
        cell = region.cells[leaf.cell]
        if len(leaf.proofs) != len(cell):
            return False
        for p, (h, sign) in enumerate(zip(region.predicates, cell, strict=True)):
            if decided.get((leaf.region, p)) != sign:
                goal = Row(after(h).scaled(Fraction(sign)))
                if not implies(rows, goal, leaf.proofs[p]):
                    return False
        return True


@dataclass(frozen=True, slots=True)
class FacetObligation:
    """The flow does not leave a cell through one facet: see the module's docstring.

    `rows` are the cell's, then those of invariant, inputs and derivatives; `own` is the
    number of the facet's row, `growth` the form d/dt(s_p h_p).
    """

    title: str
    rows: Rows
    own: int
    growth: Form
    region: Region

    def holds(self, evidence: Evidence) -> bool:
        """Whether the identity multiplies out."""
        if not isinstance(evidence, Kept):
            return False
        combined = combine(self.rows, evidence.multipliers)
        if combined is None:
            return False
        own = self.rows[self.own].form
        if evidence.reason is FacetReason.INVARIANT:
            if any(i < len(self.region.predicates) for i, _ in evidence.multipliers):
                return False
            slack = combined.form - own
            return not slack.coefficients and slack.constant >= 0
        right = combined.form + own.scaled(evidence.own)
        if evidence.reason is FacetReason.EMPTY:
            return not right.coefficients and right.constant > 0
        slack = right - self.growth
        return not slack.coefficients and slack.constant >= 0


@dataclass(frozen=True, slots=True)
class ImpossibleObligation:
    """The rows, which begin with those of a cell of `region`, have no common solution."""

    title: str
    rows: Rows
    region: Region

    def holds(self, evidence: Evidence) -> bool:
        """Whether the multipliers refute the rows."""
        return isinstance(evidence, Impossible) and refutes(self.rows, evidence.multipliers)


Obligation: TypeAlias = CoverObligation | FacetObligation | ImpossibleObligation


def obligations(problem: LinearProblem, regions: tuple[Region, ...]) -> Iterator[Obligation]:
    """All obligations of an invariant, in the order in which evidence is given for them.

    They depend on the model and the regions only, never on the evidence.
    """
    by_location: dict[str, tuple[Region, ...]] = {}
    for region in regions:
        by_location[region.location] = (*by_location.get(region.location, ()), region)
    for location, cases in problem.starts():
        for number, rows in enumerate(cases):
            title = f"initial states of {location}, case {number + 1}"
            yield CoverObligation(title, rows, by_location.get(location, ()))
    for region in regions:
        yield from _flow(problem, region)
        yield from _jumps(problem, region, by_location)
        yield from _safety(problem, region)


def _flow(problem: LinearProblem, region: Region) -> Iterator[Obligation]:
    present = set(region.cells)
    invariants = problem.invariant(region.location)
    corners = problem.dynamics(region.location)
    for number, cell in enumerate(region.cells):
        own = region.rows(cell)
        for p, (h, sign) in enumerate(zip(region.predicates, cell, strict=True)):
            if (*cell[:p], -sign, *cell[p + 1 :]) in present:
                continue
            for case, invariant in enumerate(invariants):
                for corner, dynamics in enumerate(corners):
                    title = (
                        f"flow in {region.location}: cell {number + 1}, predicate {p + 1}, "
                        f"case {case + 1}, corner {corner + 1}"
                    )
                    rows = own + invariant + dynamics.rows
                    growth = dynamics.along(h).scaled(Fraction(sign))
                    yield FacetObligation(title, rows, p, growth, region)


def _jumps(
    problem: LinearProblem, region: Region, by_location: dict[str, tuple[Region, ...]]
) -> Iterator[Obligation]:
    cells = [region.rows(cell) for cell in region.cells]
    for jump in problem.jumps(region.location):
        for number, own in enumerate(cells):
            for case, rows in enumerate(jump.cases):
                title = f"jump {jump.name}: cell {number + 1}, case {case + 1}"
                target = by_location.get(jump.target, ())
                yield CoverObligation(title, own + rows, target, region)


def _safety(problem: LinearProblem, region: Region) -> Iterator[Obligation]:
    for number, cell in enumerate(region.cells):
        for case, bad in enumerate(problem.bad(region.location)):
            title = f"safety in {region.location}: cell {number + 1}, case {case + 1}"
            yield ImpossibleObligation(title, region.rows(cell) + bad, region)


def malformed(problem: LinearProblem, regions: tuple[Region, ...]) -> str | None:
    """Why the regions are no sets of cells of the model, or None if they are."""
    for region in regions:
        for h in region.predicates:
            if not h.coefficients:
                return f"a predicate of {region.location} is constant"
            if unknown := h.coefficients.keys() - problem.names:
                return f"a predicate of {region.location} mentions {sorted(unknown)[0]}"
        for cell in region.cells:
            if len(cell) != len(region.predicates) or not set(cell) <= {1, -1}:
                return f"a cell of {region.location} is not a sign for each predicate"
    return None


def after(h: Form) -> Form:
    """The predicate on the values after a jump."""
    return h.renamed({name: primed(name) for name in h.coefficients})
