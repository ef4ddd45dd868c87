"""From parts in floating point to an exact proof: rounded, proved, and pruned."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

from workbench.abstraction.predicates.reached_parts import Part, ReachedParts
from workbench.abstraction.templates import simple_rationals
from workbench.models.checker.covers import (
    CoverObligation,
    Impossible,
    ImpossibleObligation,
    InCell,
    Region,
    Split,
)
from workbench.models.evidence.polyhedral import (
    Evidence,
    ExitObligation,
    FacetObligation,
    HandedOver,
    Kept,
    Obligation,
    PolyhedralProof,
    obligations,
)
from workbench.models.linear import Form, Multipliers
from workbench.models.lowering.problem import LinearProblem
from workbench.reach.evidence import Unproved, prove

OFFSET_GRID = 10**6
NORMAL_DENOMINATOR = 10**6
MOST_DROPPED = 40
"""So many rows may be given up because they have no exact proof."""

RowKey = tuple[int, int, int]
"""A region, one of its cells, and a row of that cell's part."""


def rational_parts(reached: ReachedParts) -> dict[str, tuple[Form, ...]]:
    """The parts that are not empty, by location, with rational normals and offsets."""
    names = reached.system.names
    return {
        location: _forms(names, part) for location, part in reached.parts.items() if not part.empty
    }


def _forms(names: tuple[str, ...], part: Part) -> tuple[Form, ...]:
    found: list[Form] = []
    for normal, offset in zip(*part.finite(), strict=True):
        exact = [Fraction(float(a)).limit_denominator(NORMAL_DENOMINATOR) for a in normal]
        level = simple_rationals.on_grid(float(offset), OFFSET_GRID)
        found.append(Form({v: a for v, a in zip(names, exact, strict=True) if a}, -level))
    return tuple(found)


def proved_parts(
    problem: LinearProblem, regions: tuple[Region, ...], stop: Callable[[], bool]
) -> PolyhedralProof | Unproved:
    """An exact proof; rows that the flow is not proved to keep are given up one by one."""
    outcome = prove(problem, regions)
    for _ in range(MOST_DROPPED):
        if isinstance(outcome, PolyhedralProof) or stop():
            break
        smaller = _without(regions, outcome.obligation)
        if smaller is None:
            break
        regions = smaller
        outcome = prove(problem, regions)
    return pruned_parts(problem, outcome) if isinstance(outcome, PolyhedralProof) else outcome


def _without(regions: tuple[Region, ...], failed: Obligation) -> tuple[Region, ...] | None:
    """The regions without the row that a flow obligation is about; None for other ones."""
    if not isinstance(failed, FacetObligation):
        return None
    row = failed.own - len(failed.region.predicates)
    if row < 0:
        return None
    number = next(i for i, region in enumerate(regions) if region is failed.region)
    return _kept(regions, lambda key: key != (number, failed.cell, row))


def pruned_parts(problem: LinearProblem, proof: PolyhedralProof) -> PolyhedralProof:
    """The proof without rows of parts on which safety does not rest; unchanged if the
    smaller one is not proved."""
    needed = set(_needed(problem, proof))
    regions = _kept(proof.regions, lambda key: key in needed)
    smaller = prove(problem, regions)
    return smaller if isinstance(smaller, PolyhedralProof) else proof


def _kept(regions: tuple[Region, ...], wanted: Callable[[RowKey], bool]) -> tuple[Region, ...]:
    return tuple(
        Region(
            region.location,
            region.predicates,
            region.cells,
            tuple(
                tuple(form for i, form in enumerate(part) if wanted((r, c, i)))
                for c, part in enumerate(region.parts)
            ),
        )
        for r, region in enumerate(regions)
    )


def _needed(problem: LinearProblem, proof: PolyhedralProof) -> Iterator[RowKey]:
    """The rows that safety, the absence of jumps and the sides of cells rest on, and those
    that the evidence for such rows uses."""
    uses: dict[RowKey, set[RowKey]] = {}
    pending: list[RowKey] = []
    number = {id(region): r for r, region in enumerate(proof.regions)}

    def used(obligation: Obligation, multipliers: Multipliers) -> set[RowKey]:
        if isinstance(obligation, CoverObligation | ExitObligation):
            region = obligation.source
        else:
            region = obligation.region
        if region is None or not region.parts:
            return set()
        first, cell = len(region.predicates), obligation.cell
        size = len(region.part(cell))
        return {
            (number[id(region)], cell, i - first)
            for i, factor in multipliers
            if factor and first <= i < first + size
        }

    def note(row: RowKey | None, found: set[RowKey]) -> None:
        if row is None:
            pending.extend(found)
        else:
            uses.setdefault(row, set()).update(found)

    for obligation, evidence in zip(
        obligations(problem, proof.regions), proof.evidence, strict=True
    ):
        for row, multipliers in _claims(obligation, evidence, number):
            note(row, used(obligation, multipliers))
    seen: set[RowKey] = set()
    while pending:
        row = pending.pop()
        if row not in seen:
            seen.add(row)
            yield row
            pending.extend(uses.get(row, ()))


def _claims(
    obligation: Obligation, evidence: Evidence, number: dict[int, int]
) -> Iterator[tuple[RowKey | None, Multipliers]]:
    """What a piece of evidence shows: a row of a part, or something needed in any case."""
    if isinstance(obligation, FacetObligation):
        region, cell = number[id(obligation.region)], obligation.cell
        row = obligation.own - len(obligation.region.predicates)
        if isinstance(evidence, Kept):
            yield ((region, cell, row) if row >= 0 else None), evidence.multipliers
        elif isinstance(evidence, HandedOver):
            signs = obligation.region.cells[cell]
            p = obligation.own
            beyond = obligation.region.cells.index((*signs[:p], -signs[p], *signs[p + 1 :]))
            for i, (_, multipliers) in enumerate(evidence.proofs):
                yield (region, beyond, i), multipliers
    elif isinstance(obligation, ImpossibleObligation):
        if isinstance(evidence, Impossible):
            yield None, evidence.multipliers
    else:
        yield from _covered(obligation, evidence, number)


def _covered(
    obligation: CoverObligation | ExitObligation, evidence: Evidence, number: dict[int, int]
) -> Iterator[tuple[RowKey | None, Multipliers]]:
    pending: list[Evidence] = [evidence]
    while pending:
        node = pending.pop()
        if isinstance(node, Split):
            pending += [node.below, node.above]
        elif isinstance(node, Impossible):
            yield None, node.multipliers
        elif isinstance(node, InCell):
            target = obligation.regions[node.region]
            sides = len(target.predicates)
            for p, multipliers in enumerate(node.proofs):
                row = (number[id(target)], node.cell, p - sides) if p >= sides else None
                yield row, multipliers
