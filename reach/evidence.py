"""Finding the evidence that the trusted checker asks for.

For every obligation of a polyhedral invariant (`models.proof.polyhedral`) a small linear
program in the multipliers is solved exactly. What is found is checked again by the trusted
checker; what is not found is reported as the obligation that could not be proved.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from models.automaton import primed
from models.proof.certificate import PolyhedralProof
from models.proof.farkas import Multipliers
from models.proof.linear import Form, Row, Rows
from models.proof.polyhedral import (
    Cell,
    Cover,
    CoverObligation,
    Evidence,
    FacetObligation,
    Impossible,
    ImpossibleObligation,
    InCell,
    Inward,
    Obligation,
    Region,
    Split,
    obligations,
)
from models.proof.problem import LinearProblem
from reach.linear_program import ExactProgram

CONSTANT = "1"
"""The row of a program that balances the constants (no variable has this name)."""


@dataclass(frozen=True, slots=True)
class Unproved:
    """The first obligation for which no evidence was found."""

    obligation: Obligation


def prove(problem: LinearProblem, regions: tuple[Region, ...]) -> PolyhedralProof | Unproved:
    """Evidence for every obligation of the invariant, or the first one without."""
    found: list[Evidence] = []
    for obligation in obligations(problem, regions):
        evidence = evidence_for(obligation)
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
        return inward(obligation)
    return cover(obligation)


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
    """Multipliers from which a goal that is not strict follows."""
    program = ExactProgram(_column(goal.form))
    for row in rows:
        program.add(_column(row.form), 1)
    slack = program.add({CONSTANT: Fraction(-1)})
    solution = program.solve()
    if solution is None:
        return None
    solution.pop(slack, None)
    return tuple(sorted(solution.items()))


def inward(obligation: FacetObligation) -> Inward | None:
    """The flow identity, or else that of an empty facet."""
    for empty in (False, True):
        target = {CONSTANT: Fraction(1)} if empty else _column(obligation.growth)
        program = ExactProgram(target)
        for row in obligation.rows:
            program.add(_column(row.form), 1)
        own = _column(obligation.rows[obligation.own].form)
        minus = program.add({name: -value for name, value in own.items()}, 1)
        if not empty:
            program.add({CONSTANT: Fraction(-1)})
        solution = program.solve()
        if solution is not None:
            mu = solution.pop(obligation.own, Fraction(0)) - solution.pop(minus, Fraction(0))
            solution.pop(minus + 1, None)
            return Inward(empty, mu, tuple(sorted(solution.items())))
    return None


def cover(obligation: CoverObligation) -> Cover | None:
    """A decision tree that places every solution of the rows in a cell.

    Depth first: where no single cell takes all that is left, split on a predicate on which
    the candidate cells and the states disagree.
    """
    return _cover(obligation.rows, obligation.region, {})


def _cover(rows: Rows, region: Region | None, decided: Mapping[int, int]) -> Cover | None:
    impossible = refutation(rows)
    if impossible is not None:
        return Impossible(impossible)
    if region is None:
        return None
    implied: dict[tuple[int, int], Multipliers | None] = {}
    candidates = [
        (number, cell)
        for number, cell in enumerate(region.cells)
        if all(cell[p] == sign for p, sign in decided.items())
    ]
    for number, cell in candidates:
        leaf = _leaf(rows, region, number, cell, decided, implied)
        if leaf is not None:
            return leaf
    if len(candidates) < 2:
        return None
    for p in range(len(region.predicates)):
        signs = {cell[p] for _, cell in candidates}
        if p not in decided and len(signs) == 2:
            return _split(rows, region, decided, p)
    return None


def _leaf(
    rows: Rows,
    region: Region,
    number: int,
    cell: Cell,
    decided: Mapping[int, int],
    implied: dict[tuple[int, int], Multipliers | None],
) -> InCell | None:
    proofs: list[Multipliers] = []
    for p, sign in enumerate(cell):
        if decided.get(p) == sign:
            proofs.append(())
            continue
        if (p, sign) not in implied:
            h = after(region.predicates[p])
            implied[p, sign] = implication(rows, Row(h.scaled(Fraction(sign))))
        multipliers = implied[p, sign]
        if multipliers is None:
            return None
        proofs.append(multipliers)
    return InCell(number, tuple(proofs))


def _split(rows: Rows, region: Region, decided: Mapping[int, int], p: int) -> Split | None:
    h = after(region.predicates[p])
    for strict_below in (False, True):
        below = _cover((*rows, Row(h, strict_below)), region, {**decided, p: 1})
        if below is None:
            continue
        upper = Row(h.scaled(Fraction(-1)), not strict_below)
        above = _cover((*rows, upper), region, {**decided, p: -1})
        if above is not None:
            return Split(p, strict_below, below, above)
    return None


def after(h: Form) -> Form:
    """A predicate on the values after a jump."""
    return h.renamed({name: primed(name) for name in h.coefficients})


def _column(form: Form) -> dict[str, Fraction]:
    column = dict(form.coefficients)
    if form.constant:
        column[CONSTANT] = form.constant
    return column
