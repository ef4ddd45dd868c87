"""Smaller invariants: keep the half-spaces on which the exclusion of the bad sets rests.

A row of an invariant is needed if the safety evidence uses it, or the evidence that a needed
row is kept by a flow or established by a jump or a change of regions. Exits and predicates on
which decision trees split are needed in any case. The rest is dropped and the smaller
invariant proved afresh. Only for invariants whose regions are convex.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

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
    Kept,
    PolyhedralProof,
    obligations,
)
from workbench.models.linear import Multipliers
from workbench.models.lowering.problem import LinearProblem
from workbench.reach.evidence import prove

RowKey = tuple[int, int]
"""The numbers of a region and of one of its predicates."""


def pruned(
    problem: LinearProblem, proof: PolyhedralProof, stop: Callable[[], bool] = lambda: False
) -> PolyhedralProof:
    """The invariant without rows that safety does not need; unchanged if that fails."""
    if any(len(region.cells) != 1 or region.parts for region in proof.regions) or stop():
        return proof
    needed, uses = _Dependencies(problem, proof).found()
    pending = list(needed)
    while pending:
        for row in uses.get(pending.pop(), set()) - needed:
            needed.add(row)
            pending.append(row)
    regions = tuple(_restricted(r, region, needed) for r, region in enumerate(proof.regions))
    if regions == proof.regions:
        return proof
    smaller = prove(problem, regions, stop)
    return smaller if isinstance(smaller, PolyhedralProof) else proof


class _Dependencies:
    """The rows that safety uses, and for each row those that its own evidence uses."""

    def __init__(self, problem: LinearProblem, proof: PolyhedralProof):
        self.problem, self.proof = problem, proof
        self.number = {id(region): r for r, region in enumerate(proof.regions)}
        self.needed: set[RowKey] = {
            (r, p) for r, region in enumerate(proof.regions) for p in region.exits
        }
        self.uses: dict[RowKey, set[RowKey]] = {}

    def found(self) -> tuple[set[RowKey], dict[RowKey, set[RowKey]]]:
        """Both, read off the evidence."""
        for obligation, evidence in zip(
            obligations(self.problem, self.proof.regions), self.proof.evidence, strict=True
        ):
            if isinstance(obligation, FacetObligation) and isinstance(evidence, Kept):
                own = (self.number[id(obligation.region)], obligation.own)
                self._use(own, obligation.region, evidence.multipliers)
            elif isinstance(obligation, ImpossibleObligation):
                self._tree(evidence, obligation.region, ())
            elif isinstance(obligation, CoverObligation | ExitObligation):
                self._tree(evidence, obligation.source, obligation.regions)
        return self.needed, self.uses

    def _tree(self, evidence: Evidence, source: Region | None, targets: tuple[Region, ...]) -> None:
        for node in _nodes(evidence):
            if isinstance(node, Impossible):
                self.needed |= self._rows(source, node.multipliers)
            elif isinstance(node, Split):
                self.needed.add((self.number[id(targets[node.region])], node.predicate))
            elif isinstance(node, InCell):
                target = self.number[id(targets[node.region])]
                for p, multipliers in enumerate(node.proofs):
                    self._use((target, p), source, multipliers)

    def _use(self, row: RowKey, source: Region | None, multipliers: Multipliers) -> None:
        self.uses.setdefault(row, set()).update(self._rows(source, multipliers))

    def _rows(self, region: Region | None, multipliers: Multipliers) -> set[RowKey]:
        """The rows of the region's cell that have a multiplier: they come first."""
        if region is None:
            return set()
        number = self.number[id(region)]
        return {(number, i) for i, m in multipliers if m and i < len(region.predicates)}


def _nodes(evidence: Evidence) -> Iterator[Evidence]:
    pending = [evidence]
    while pending:
        node = pending.pop()
        yield node
        if isinstance(node, Split):
            pending += [node.below, node.above]


def _restricted(number: int, region: Region, needed: set[RowKey]) -> Region:
    kept = [p for p in range(len(region.predicates)) if (number, p) in needed]
    predicates = tuple(region.predicates[p] for p in kept)
    cell = tuple(region.cells[0][p] for p in kept)
    exits = tuple(kept.index(p) for p in region.exits)
    return Region(region.location, predicates, (cell,), (), exits, region.margin)
