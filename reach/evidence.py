"""Finding the evidence that the trusted checker asks for.

For every obligation of a polyhedral invariant (`models.proof.polyhedral`) a small linear
program in the multipliers is solved exactly. What is found is checked again by the trusted
checker; what is not found is reported as the obligation that could not be proved.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from models.proof.certificate import PolyhedralProof
from models.proof.farkas import Multipliers
from models.proof.linear import Form, Row, Rows
from models.proof.polyhedral import (
    Cell,
    Cover,
    CoverObligation,
    Decided,
    Evidence,
    ExitObligation,
    FacetObligation,
    FacetReason,
    HandedOver,
    Impossible,
    ImpossibleObligation,
    InCell,
    Kept,
    Obligation,
    Region,
    Split,
    after,
    obligations,
)
from models.proof.problem import LinearProblem
from reach.programs.linear_program import ExactProgram

CONSTANT = "1"
"""The row of a program that balances the constants (no variable has this name)."""


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


def refutation(rows: Rows) -> Multipliers | None:
    """Multipliers that combine the rows to a positive number (or zero, strictly)."""
    program = ExactProgram({CONSTANT: Fraction(1)})
    for row in rows:
        program.add(_column(row.form), 1)
    solution = program.solve()
    if solution is None and any(row.strict for row in rows):
        program = ExactProgram({CONSTANT: Fraction(0), "strict": Fraction(1)})
        for row in rows:
            column = _column(row.form)
            program.add({**column, "strict": Fraction(1)} if row.strict else column, 1)
        program.add({CONSTANT: Fraction(-1)})
        solution = program.solve()
        if solution is not None:
            solution.pop(len(rows), None)
    return None if solution is None else tuple(sorted(solution.items()))


def implication(rows: Rows, goal: Row) -> Multipliers | None:
    """Multipliers from which a goal that is not strict follows: the smallest ones, or, where
    rounding hides how close the goal is, those with the most slack."""
    for cost, price in ((1, 0), (0, -1)):
        program = ExactProgram(_column(goal.form))
        for row in rows:
            program.add(_column(row.form), cost)
        slack = program.add({CONSTANT: Fraction(-1)}, price)
        solution = program.solve()
        if solution is not None:
            solution.pop(slack, None)
            return tuple(sorted(solution.items()))
    return None


def kept(obligation: FacetObligation) -> Kept | HandedOver | None:
    """Why the flow does not leave through the facet, or only into the part beyond it."""
    own_row = obligation.rows[obligation.own]
    always = [*obligation.region.exits, *range(obligation.size, len(obligation.rows))]
    implied = implication(tuple(obligation.rows[i] for i in always), own_row)
    if implied is not None:
        by_row = tuple(sorted((always[i], factor) for i, factor in implied))
        return Kept(FacetReason.INVARIANT, Fraction(0), by_row)
    for reason in (FacetReason.INWARD, FacetReason.EMPTY):
        empty = reason is FacetReason.EMPTY
        program = ExactProgram({CONSTANT: Fraction(1)} if empty else _column(obligation.growth))
        for row in obligation.rows:
            program.add(_column(row.form), 1)
        own = _column(own_row.form)
        minus = program.add({name: -value for name, value in own.items()}, 1)
        slack = minus if empty else program.add({CONSTANT: Fraction(-1)})
        solution = program.solve()
        if solution is not None:
            mu = solution.pop(obligation.own, Fraction(0)) - solution.pop(minus, Fraction(0))
            solution.pop(slack, None)
            return Kept(reason, mu, tuple(sorted(solution.items())))
    return None if obligation.beyond is None else handed_over(obligation)


def handed_over(obligation: FacetObligation) -> HandedOver | None:
    """That the part beyond the facet holds on it.

    The weight mu + sum l of an identity matters only where there is no slack; so the least
    weight is sought, and where it exceeds 1, the most slack.
    """
    assert obligation.beyond is not None
    rows = obligation.rows[: obligation.size + obligation.known]
    own = rows[obligation.own].form
    proofs: list[tuple[Fraction, Multipliers]] = []
    for form in obligation.beyond:
        for most_slack in (False, True):
            program = ExactProgram(_column(form))
            for i, row in enumerate(rows):
                program.add(_column(row.form), 1 if i < obligation.size and not most_slack else 0)
            minus = program.add(_column(-own), 0 if most_slack else -1)
            slack = program.add({CONSTANT: Fraction(-1)}, -1 if most_slack else 0)
            solution = program.solve()
            if solution is None:
                continue
            room = solution.pop(slack, Fraction(0))
            mu = solution.pop(obligation.own, Fraction(0)) - solution.pop(minus, Fraction(0))
            weight = mu + sum((v for i, v in solution.items() if i < obligation.size), Fraction(0))
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
    return _cover(obligation.rows, obligation.regions, {})


def _cover(rows: Rows, regions: tuple[Region, ...], decided: Decided) -> Cover | None:
    impossible = refutation(rows)
    if impossible is not None:
        return Impossible(impossible)
    undecided: tuple[int, int, int] | None = None
    implied: dict[tuple[int, int, int], Multipliers | None] = {}
    for r, region in enumerate(regions):
        for number, cell in enumerate(region.cells):
            if any(decided.get((r, p), sign) != sign for p, sign in enumerate(cell)):
                continue
            leaf, obstacle = _leaf(rows, region, r, number, cell, decided, implied)
            if leaf is not None:
                return leaf
            undecided = undecided or obstacle
    return None if undecided is None else _split(rows, regions, decided, *undecided)


def _leaf(
    rows: Rows,
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
            goal = Row(after(region.predicates[p]).scaled(Fraction(sign)))
            implied[key] = implication(rows, goal)
        multipliers = implied[key]
        if multipliers is None:
            return None, key
        proofs.append(multipliers)
    for form in region.part(number):
        multipliers = implication(rows, Row(after(form)))
        if multipliers is None:
            return None, None
        proofs.append(multipliers)
    return InCell(r, number, tuple(proofs)), None


def _split(
    rows: Rows, regions: tuple[Region, ...], decided: Decided, r: int, p: int, sign: int
) -> Split | None:
    """Split on a predicate, the candidate cell's side closed, the other side open."""
    h = after(regions[r].predicates[p])
    strict_below = sign < 0
    below = _cover((*rows, Row(h, strict_below)), regions, {**decided, (r, p): 1})
    if below is None:
        return None
    upper = Row(h.scaled(Fraction(-1)), not strict_below)
    above = _cover((*rows, upper), regions, {**decided, (r, p): -1})
    return None if above is None else Split(r, p, strict_below, below, above)


def _column(form: Form) -> dict[str, Fraction]:
    column = dict(form.coefficients)
    if form.constant:
        column[CONSTANT] = form.constant
    return column
