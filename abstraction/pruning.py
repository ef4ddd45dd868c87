"""Smaller invariants: keep the half-spaces on which the exclusion of the bad sets rests.

A row of an invariant is needed if the safety evidence uses it, or the evidence that a needed
row is kept by a flow or established by a jump. The rest is dropped and the smaller invariant
proved afresh. Only for invariants with one convex region in each location.
"""

from __future__ import annotations

from models.proof.certificate import PolyhedralProof
from models.proof.farkas import Multipliers
from models.proof.polyhedral import (
    CoverObligation,
    FacetObligation,
    Impossible,
    InCell,
    Kept,
    Region,
    obligations,
)
from models.proof.problem import LinearProblem
from reach.evidence import prove

RowKey = tuple[str, int]
"""A location and the number of one of its predicates."""


def pruned(problem: LinearProblem, proof: PolyhedralProof) -> PolyhedralProof:
    """The invariant without rows that safety does not need; unchanged if that fails."""
    locations = {region.location for region in proof.regions}
    if len(locations) < len(proof.regions) or any(len(r.cells) != 1 for r in proof.regions):
        return proof
    needed, uses = _dependencies(problem, proof)
    pending = list(needed)
    while pending:
        for row in uses.get(pending.pop(), set()) - needed:
            needed.add(row)
            pending.append(row)
    regions = tuple(_restricted(region, needed) for region in proof.regions)
    if regions == proof.regions:
        return proof
    smaller = prove(problem, regions)
    return smaller if isinstance(smaller, PolyhedralProof) else proof


def _dependencies(
    problem: LinearProblem, proof: PolyhedralProof
) -> tuple[set[RowKey], dict[RowKey, set[RowKey]]]:
    """The rows that safety uses, and for each row those that its own evidence uses."""
    safety: set[RowKey] = set()
    uses: dict[RowKey, set[RowKey]] = {}
    for obligation, evidence in zip(
        obligations(problem, proof.regions), proof.evidence, strict=True
    ):
        if isinstance(obligation, FacetObligation) and isinstance(evidence, Kept):
            own = (obligation.region.location, obligation.own)
            uses.setdefault(own, set()).update(_rows(obligation.region, evidence.multipliers))
        elif isinstance(obligation, CoverObligation) and obligation.source is not None:
            if isinstance(evidence, InCell):
                location = obligation.regions[evidence.region].location
                for p, multipliers in enumerate(evidence.proofs):
                    row = (location, p)
                    uses.setdefault(row, set()).update(_rows(obligation.source, multipliers))
            elif isinstance(evidence, Impossible):
                safety.update(_rows(obligation.source, evidence.multipliers))
        elif isinstance(evidence, Impossible) and not isinstance(obligation, CoverObligation):
            safety.update(_rows(obligation.region, evidence.multipliers))
    return safety, uses


def _rows(region: Region, multipliers: Multipliers) -> set[RowKey]:
    """The rows of the region's cell that have a multiplier: they come first."""
    return {(region.location, i) for i, m in multipliers if m and i < len(region.predicates)}


def _restricted(region: Region, needed: set[RowKey]) -> Region:
    predicates = tuple(h for i, h in enumerate(region.predicates) if (region.location, i) in needed)
    return Region(region.location, predicates, ((1,) * len(predicates),))
