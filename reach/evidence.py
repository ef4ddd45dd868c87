"""Finding the evidence that the trusted checker asks for.

For every obligation of a polyhedral invariant (`models.evidence.polyhedral`) a small linear
program in the multipliers is solved exactly. What is found is checked again by the trusted
checker; what is not found is reported as the obligation that could not be proved.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from workbench.models.checker.covers import (
    Cell,
    Cover,
    CoverObligation,
    Decided,
    Impossible,
    ImpossibleObligation,
    InCell,
    Region,
    Split,
    after,
)
from workbench.models.evidence.polyhedral import (
    Evidence,
    ExitObligation,
    FacetObligation,
    FacetReason,
    HandedOver,
    Kept,
    Obligation,
    PolyhedralProof,
    obligations,
)
from workbench.models.linear import Form, Multipliers, Row, Rows
from workbench.models.lowering.problem import LinearProblem
from workbench.reach.combinations import (
    SLACK_COLUMN,
    Combinations,
    column_of,
    combinations_of,
    refutation,
)
from workbench.reach.programs.exact_program import ExactProgram


@dataclass(frozen=True, slots=True)
class Unproved:
    """The first obligation for which no evidence was found."""

    obligation: Obligation


def prove(
    problem: LinearProblem,
    regions: tuple[Region, ...],
    stop: Callable[[], bool] = lambda: False,
) -> PolyhedralProof | Unproved:
    """Evidence for every obligation of the invariant, or the first one without (or the one
    before which `stop` said so)."""
    found: list[Evidence] = []
    for obligation in obligations(problem, regions):
        evidence = None if stop() else evidence_for(obligation)
        if evidence is None:
            return Unproved(obligation)
        found.append(evidence)
    return PolyhedralProof(regions, tuple(found))


def evidence_for(obligation: Obligation) -> Evidence | None:
    """Evidence for one obligation, or None if none was found."""
    if isinstance(obligation, ImpossibleObligation):
        multipliers = refutation(obligation.rows)
        return None if multipliers is None else Impossible(multipliers)
    if isinstance(obligation, FacetObligation):
        return kept(obligation)
    return cover(obligation.landing if isinstance(obligation, ExitObligation) else obligation)


def kept(obligation: FacetObligation) -> Kept | HandedOver | None:
    """Why the flow does not leave through the facet, or only into the part beyond it."""
    rows, own = obligation.rows, obligation.own
    always = [*obligation.region.exits, *range(obligation.size, len(rows))]
    implied = combinations_of([rows[i] for i in always]).implication(rows[own].form)
    if implied is not None:
        by_row = tuple(sorted((always[i], factor) for i, factor in implied))
        return Kept(FacetReason.INVARIANT, Fraction(0), by_row)
    goals = {FacetReason.INWARD: obligation.growth, FacetReason.EMPTY: Form({}, Fraction(1))}
    for known in (combinations_of(rows), Combinations(rows, warm=False)):
        for reason, goal in goals.items():
            found = known.identity(goal, own)
            if found is not None:
                return Kept(reason, *found)
    return None if obligation.beyond is None else handed_over(obligation)


def handed_over(obligation: FacetObligation) -> HandedOver | None:
    """That the part beyond the facet holds on it.

    The weight mu + sum l of an identity matters only where there is no slack; so the least
    weight is sought, and where it exceeds 1, the most slack.
    """
    assert obligation.beyond is not None
    size, own = obligation.size, obligation.own
    rows = obligation.rows[: size + obligation.known]
    columns = [column_of(form) for form in (*(row.form for row in rows), -rows[own].form)]
    minus, slack = len(rows), len(rows) + 1
    least_weight = [*(int(i < size) for i in range(minus)), -1, 0]
    most_slack = [*([0] * slack), -1]
    programs = [ExactProgram([*columns, SLACK_COLUMN], c) for c in (least_weight, most_slack)]
    proofs: list[tuple[Fraction, Multipliers]] = []
    for form in obligation.beyond:
        for program in programs:
            solution = program.solve(column_of(form))
            if solution is None:
                continue
            room = solution.pop(slack, Fraction(0))
            mu = solution.pop(own, Fraction(0)) - solution.pop(minus, Fraction(0))
            weight = mu + sum((v for i, v in solution.items() if i < size), Fraction(0))
            if room > 0 or weight <= 1:
                proofs.append((mu, tuple(sorted(solution.items()))))
                break
        else:
            return None
    return HandedOver(tuple(proofs))


def cover(obligation: CoverObligation) -> Cover | None:
    """A decision tree that places every solution of the rows in a cell.

    Depth first: where no single cell takes all that is left, split on a predicate of a
    candidate cell that the rows do not decide.
    """
    rows, regions = obligation.rows, obligation.regions
    return _cover(rows, regions, {}) or _cover(rows, regions, {}, warm=False)


def _cover(
    rows: Rows, regions: tuple[Region, ...], decided: Decided, *, warm: bool = True
) -> Cover | None:
    known = Combinations(rows, warm=warm)
    impossible = known.refutation()
    if impossible is not None:
        return Impossible(impossible)
    undecided: tuple[int, int, int] | None = None
    implied: dict[tuple[int, int, int], Multipliers | None] = {}
    for r, region in enumerate(regions):
        for number, cell in enumerate(region.cells):
            if any(decided.get((r, p), sign) != sign for p, sign in enumerate(cell)):
                continue
            leaf, obstacle = _leaf(known, region, r, number, cell, decided, implied)
            if leaf is not None:
                return leaf
            undecided = undecided or obstacle
    return None if undecided is None else _split(rows, regions, decided, warm, *undecided)


def _leaf(
    known: Combinations,
    region: Region,
    r: int,
    number: int,
    cell: Cell,
    decided: Decided,
    implied: dict[tuple[int, int, int], Multipliers | None],
) -> tuple[InCell | None, tuple[int, int, int] | None]:
    """The leaf, or the first predicate that keeps the rows from lying in the cell (none: a
    form of its part does)."""
    proofs: list[Multipliers] = []
    for p, sign in enumerate(cell):
        if decided.get((r, p)) == sign:
            proofs.append(())
            continue
        key = (r, p, sign)
        if key not in implied:
            implied[key] = known.implication(after(region.predicates[p]).scaled(Fraction(sign)))
        multipliers = implied[key]
        if multipliers is None:
            return None, key
        proofs.append(multipliers)
    for form in region.part(number):
        multipliers = known.implication(after(form))
        if multipliers is None:
            return None, None
        proofs.append(multipliers)
    return InCell(r, number, tuple(proofs)), None


def _split(
    rows: Rows,
    regions: tuple[Region, ...],
    decided: Decided,
    warm: bool,
    r: int,
    p: int,
    sign: int,
) -> Split | None:
    """Split on a predicate, the candidate cell's side closed, the other side open."""
    h = after(regions[r].predicates[p])
    strict_below = sign < 0
    below = _cover((*rows, Row(h, strict_below)), regions, {**decided, (r, p): 1}, warm=warm)
    if below is None:
        return None
    upper = Row(h.scaled(Fraction(-1)), not strict_below)
    above = _cover((*rows, upper), regions, {**decided, (r, p): -1}, warm=warm)
    return None if above is None else Split(r, p, strict_below, below, above)
