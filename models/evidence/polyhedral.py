"""Polyhedral invariants: sets of cells that no behaviour leaves, for unbounded time.

A region of a location is a list of predicates (affine forms h_p) and a list U of closed cells;
a cell is a sign vector s, the set of states with s_p h_p <= 0 for every p, and a *part*: further
forms k_q of its own, k_q <= 0 (none: the part is the whole cell). A location may have several
regions; the invariant is their union. A location without regions has no states. A region with
a single cell may have *exits*: predicates that the flow may violate, because another region then
takes over. The invariant is proved by five kinds of obligations, each a linear fact with Farkas
evidence. The rows of a cell are s_p h_p <= 0 and k_q <= 0.

1. *Initial*: every initial state lies in a cell of a region of its location.
2. *Flow*: for every region, every cell C of its U, and every row r of C: on the facet of C
   where r = 0 the flow does not point outwards, r' <= 0, or the facet is empty. What is
   checked is the identity
       r' = mu r + sum_q l_q r_q + sum_j n_j g_j - c,
   l, n, c >= 0, mu of any sign, r_q the rows of C, g_j <= 0 the rows of invariant, inputs and
   derivatives, and those that say that no urgent edge is enabled (`LinearProblem.flowing`: they
   hold until the end of a stay, so at almost every moment of it); or, for an empty facet, the
   same right-hand side with a positive number on the left; or, for a row that the invariant
   itself implies, r = sum_j n_j g_j - c. Of exits nothing of this is asked, and they count as
   rows of the invariant.
   A row r = s_p h_p whose flip is a cell D of U (all signs but that of p the same) may be left
   over instead (*handed over*), if D's part holds on the facet: for every form k of it
       k = mu r + sum_q l_q r_q + sum_j n_j g_j - c,
   g_j <= 0 the rows of the invariant and inputs, and c > 0 or mu + sum_q l_q <= 1. If D's part
   is the whole cell there is nothing to show.
3. *Exits*: for every exit p of a region, every state of the region where h_p = 0, the rows
   g_j of 2 hold, and some inputs and derivatives give d/dt(s_p h_p) >= 0, lies in a cell of
   a region of the same location whose own exits all hold there by their margin:
   s_q h_q <= -margin, margin > 0. Strict rows are read as if they were not strict.
4. *Jumps*: from every cell, every successor over every edge lies in a cell of a region of the
   target.
5. *Safety*: no cell contains a bad state.

Theorem. If all obligations hold, no run reaches a bad state.
Proof. By induction over the jumps it remains to see that flow keeps a state in the union of
the regions. First, while its exits hold, flow keeps a state in the U of a region. For e > 0 let
C(e) be the set where every row of C is at most e, U(e) the union of all C(e); U is the
intersection of all U(e), since U is finite and the C(e) closed. Follow a trajectory x inside the
location's invariant for a time T, starting in U, and let
e(t) = e0 exp(K t) with K larger than |mu| + sum_q l_q of every identity, e0 > 0 so small that
e(T) (|mu| + sum_q l_q) is less than every positive c of a hand-over and every positive number
of an empty facet. If x were not in U(e(t)) for all t up to T there would be a last time s < T
before which it always was; x(s) lies in C(e), e = e(s), for some C.
(a) Let r be a row of C with r(x(s)) = e that is not handed over. Soon after s almost always
r' <= (|mu| + sum_q l_q) e + o(1) < K e <= d/dt e(t), by the identity: there r and every r_q
are at most e + o(1), and g_j <= 0. (An empty facet would make a positive number at most
(|mu| + sum_q l_q) e + o(1), and what the invariant implies is at most 0 < e; so these do not
occur near s.) Hence r(x(t)) <= e(t) for a while after s.
(b) Let r = s_p h_p be a row with r(x(s)) = e that is handed over to D. (Where evidence differs
between cases of the invariant or corners of the parameters: in a case that holds at times
arbitrarily soon after s. Otherwise (a) applies.) At those times, and so in the limit at s,
k <= (mu + sum_q l_q) e - c + o(1), and so k(x(s)) <= e for every form of D's part: x(s) lies
in D(e), and there p's row is -e.
Going on with D in place of C, and so on, no sign is changed twice, since a changed one's row
is -e < e. So a cell is found in which (a) applies to every row that is e at x(s); the others
are less than e for a while. Hence x stays in its U(e(t)) for a while after s, a contradiction.
As e0 was arbitrarily small, x is in U. (Exits are rows that are at most 0 < e meanwhile.)

Second, a state x(T) where exits cease to hold lies in another region. There is an exit p with
h_p = 0 at T that is violated at times arbitrarily soon after T; so there are times s -> T
(from above) at which s_p h_p has a derivative, and a positive one. At each of them the state
is one of those with inputs and derivatives, in one of finitely many cases and at one of the
corners of the parameters, for which d/dt(s_p h_p) >= 0 (a mean over corners is not positive
unless some corner is). These states are projections of polyhedra, hence closed sets; one of
them contains infinitely many x(s), and so x(T). Obligation 3 places x(T) in another region.

Third, regions change only finitely often during a stay: after each change but the first all
exits hold by their margin, x is uniformly continuous on the stay, so there is a least time
before one of them is violated.

Predicates may mention `time`, the time since the start of the run. All of this is then about
the view with a clock (`LinearProblem.with_clock`): regions may follow each other in time, each
with an exit `time <= t`, until one is reached that is kept for ever.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from itertools import chain
from typing import TypeAlias

from workbench.models.automaton import TIME, primed
from workbench.models.checker.covers import (
    Cover,
    CoverObligation,
    ImpossibleObligation,
    Part,
    Region,
)
from workbench.models.checker.farkas import combined_sign
from workbench.models.linear import Form, Multipliers, Row, Rows
from workbench.models.lowering.problem import LinearProblem

_MINUS_ONE = Fraction(-1)


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
class HandedOver:
    """For every form of the part beyond a facet mu and the multipliers of its identity."""

    proofs: tuple[tuple[Fraction, Multipliers], ...]


Evidence: TypeAlias = Kept | HandedOver | Cover


@dataclass(frozen=True, slots=True)
class PolyhedralProof:
    """Cells for each location, and evidence for every obligation, in their order."""

    regions: tuple[Region, ...]
    evidence: tuple[Evidence, ...]


# Obligations


@dataclass(frozen=True, slots=True)
class FacetObligation:
    """The flow does not leave a cell through one facet: see the module's docstring.

    `rows` are the `size` rows of the cell, then `known` ones of invariant and inputs, then
    those of derivatives; `own` is the number of the facet's row, `growth` its derivative;
    `beyond` is the part of the cell on the other side, None if that is not of the region;
    `cell` is the cell's number in the region.
    """

    title: str
    rows: Rows
    size: int
    known: int
    own: int
    growth: Form
    beyond: Part | None
    region: Region
    cell: int

    def holds(self, evidence: object) -> bool:
        """Whether the identities multiply out."""
        if isinstance(evidence, HandedOver):
            return self._handed_over(evidence)
        if not isinstance(evidence, Kept):
            return False
        own = self.rows[self.own].form
        factors = evidence.multipliers
        if evidence.reason is FacetReason.INVARIANT:
            if any(i < self.size and i not in self.region.exits for i, _ in factors):
                return False
            return combined_sign(self.rows, factors, (_MINUS_ONE, own)) in (0, 1)
        scaled = evidence.own, own
        if evidence.reason is FacetReason.EMPTY:
            return combined_sign(self.rows, factors, scaled) == 1
        return combined_sign(self.rows, factors, scaled, (_MINUS_ONE, self.growth)) in (0, 1)

    def _handed_over(self, evidence: HandedOver) -> bool:
        if self.beyond is None or len(evidence.proofs) != len(self.beyond):
            return False
        return all(
            self._holds_beyond(form, *proof)
            for form, proof in zip(self.beyond, evidence.proofs, strict=True)
        )

    def _holds_beyond(self, form: Form, mu: Fraction, multipliers: Multipliers) -> bool:
        own = mu, self.rows[self.own].form
        known = self.rows[: self.size + self.known]
        slack = combined_sign(known, multipliers, own, (_MINUS_ONE, form))
        if slack not in (0, 1):
            return False
        weight = mu + sum((factor for i, factor in multipliers if i < self.size), Fraction(0))
        return slack == 1 or weight <= 1


@dataclass(frozen=True, slots=True)
class ExitObligation:
    """Where the flow may leave `source` through an exit, another of the location's `regions`
    takes over: `rows` are those states, by their primed values."""

    title: str
    rows: Rows
    regions: tuple[Region, ...]
    source: Region
    cell: int = 0

    @property
    def landing(self) -> CoverObligation:
        """That the states lie in the regions inset by their margins."""
        return CoverObligation(self.title, self.rows, tuple(map(inset, self.regions)))

    def holds(self, evidence: object) -> bool:
        """Whether a decision tree shows it."""
        return self.landing.holds(evidence)


def inset(region: Region) -> Region:
    """The part of a region where all exits hold by the margin."""
    if not region.exits:
        return region
    (cell,) = region.cells
    predicates = tuple(
        h + Form({}, sign * region.margin) if p in region.exits else h
        for p, (h, sign) in enumerate(zip(region.predicates, cell, strict=True))
    )
    return replace(region, predicates=predicates)


Obligation: TypeAlias = CoverObligation | FacetObligation | ExitObligation | ImpossibleObligation


def obligations(problem: LinearProblem, regions: tuple[Region, ...]) -> Iterator[Obligation]:
    """All obligations of an invariant, in the order in which evidence is given for them.

    They depend on the model and the regions only, never on the evidence.
    """
    problem = _view(problem, regions)
    by_location: dict[str, tuple[Region, ...]] = {}
    for region in regions:
        by_location[region.location] = (*by_location.get(region.location, ()), region)
    for location, cases in problem.starts():
        for number, rows in enumerate(cases):
            title = f"initial states of {location}, case {number + 1}"
            yield CoverObligation(title, rows, by_location.get(location, ()))
    for region in regions:
        yield from _flow(problem, region, by_location[region.location])
        yield from _jumps(problem, region, by_location)
        yield from _safety(problem, region)


def _flow(
    problem: LinearProblem, region: Region, beside: tuple[Region, ...]
) -> Iterator[Obligation]:
    after_names = {name: primed(name) for name in problem.names}
    present = {cell: number for number, cell in enumerate(region.cells)}
    invariants, corners = problem.flowing(region.location), problem.dynamics(region.location)
    for number, cell in enumerate(region.cells):
        own = region.rows(number)
        for p in range(len(own)):
            beyond: Part | None = None
            if p < len(cell):
                flip = (*cell[:p], -cell[p], *cell[p + 1 :])
                if flip in present:
                    beyond = region.part(present[flip])
            if beyond == ():
                continue
            kind = "exit" if p in region.exits else "flow"
            for case, invariant in enumerate(invariants):
                for corner, dynamics in enumerate(corners):
                    title = (
                        f"{kind} in {region.location}: cell {number + 1}, predicate {p + 1}, "
                        f"case {case + 1}, corner {corner + 1}"
                    )
                    rows = own + invariant + dynamics.rows
                    sizes = len(own), len(invariant)
                    growth = dynamics.along(own[p].form)
                    if p in region.exits:
                        leaving = (*rows, Row(-own[p].form), Row(-growth))
                        closed = tuple(Row(row.form).renamed(after_names) for row in leaving)
                        yield ExitObligation(title, closed, beside, region)
                    else:
                        yield FacetObligation(
                            title, rows, *sizes, p, growth, beyond, region, number
                        )


def _jumps(
    problem: LinearProblem, region: Region, by_location: dict[str, tuple[Region, ...]]
) -> Iterator[Obligation]:
    cells = [region.rows(number) for number in range(len(region.cells))]
    for jump in problem.jumps(region.location):
        for number, own in enumerate(cells):
            for case, rows in enumerate(jump.cases):
                title = f"jump {jump.name}: cell {number + 1}, case {case + 1}"
                target = by_location.get(jump.target, ())
                yield CoverObligation(title, own + rows, target, region, number, jump.name)


def _safety(problem: LinearProblem, region: Region) -> Iterator[Obligation]:
    for number in range(len(region.cells)):
        for case, bad in enumerate(problem.bad(region.location)):
            title = f"safety in {region.location}: cell {number + 1}, case {case + 1}"
            yield ImpossibleObligation(title, region.rows(number) + bad, region, number)


def _view(problem: LinearProblem, regions: tuple[Region, ...]) -> LinearProblem:
    """The view with a clock if the regions speak about time."""
    return problem.with_clock if mentions_time(regions) else problem


def mentions_time(regions: tuple[Region, ...]) -> bool:
    """Whether a predicate or a form of a part mentions the time since the start."""
    forms = chain.from_iterable((*r.predicates, *chain.from_iterable(r.parts)) for r in regions)
    return any(TIME in form.coefficients for form in forms)


def malformed(problem: LinearProblem, regions: tuple[Region, ...]) -> str | None:
    """Why the regions are no sets of cells of the model, or None if they are."""
    problem = _view(problem, regions)
    for region in regions:
        if not problem.has_location(region.location):
            return f"the model has no location {region.location[:80]!r}"
        if region.parts and len(region.parts) != len(region.cells):
            return f"{region.location} has not one part for each cell"
        if region.parts and len(set(region.cells)) != len(region.cells):
            return f"a cell of {region.location} is there twice"
        for h in (*region.predicates, *chain.from_iterable(region.parts)):
            if not h.coefficients:
                return f"a predicate of {region.location} is constant"
            if unknown := h.coefficients.keys() - problem.names:
                return f"a predicate of {region.location} mentions {sorted(unknown)[0]}"
        for cell in region.cells:
            if len(cell) != len(region.predicates) or not set(cell) <= {1, -1}:
                return f"a cell of {region.location} is not a sign for each predicate"
        if region.exits:
            if len(region.cells) != 1 or region.margin <= 0:
                return f"a region of {region.location} with exits needs one cell and a margin"
            if not set(region.exits) <= set(range(len(region.predicates))):
                return f"an exit of {region.location} is not one of its predicates"
    return None
