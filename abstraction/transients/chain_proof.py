"""Exact evidence for regions that follow each other in time.

Where the states of an obligation lie is known beforehand: runs start in the first regions, jumps
stay among those of one stretch of time, and exits lead into those of the next. So every decision
tree is looked for among few regions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from workbench.models.automaton import primed
from workbench.models.checker.covers import Cover, CoverObligation, InCell, Region, Split
from workbench.models.evidence.polyhedral import (
    Evidence,
    ExitObligation,
    Obligation,
    PolyhedralProof,
    obligations,
)
from workbench.models.linear import Form, Multipliers
from workbench.models.lowering.problem import LinearProblem
from workbench.reach.evidence import Unproved, cover, evidence_for


def prove_chain(
    problem: LinearProblem, stretches: tuple[tuple[Region, ...], ...], stop: Callable[[], bool]
) -> PolyhedralProof | Unproved:
    """Evidence for regions that follow each other: runs start in those of the first stretch,
    jumps stay within a stretch, and exits lead into the next."""
    regions = tuple(region for part in stretches for region in part)
    place = {id(region): k for k, part in enumerate(stretches) for region in part}
    found: list[Evidence] = []
    for obligation in obligations(problem, regions):
        evidence = None if stop() else _evidence(obligation, place)
        if evidence is None:
            return Unproved(obligation)
        found.append(evidence)
    return PolyhedralProof(regions, tuple(found))


def _evidence(obligation: Obligation, place: dict[int, int]) -> Evidence | None:
    """Evidence that uses only the regions of the stretch where the states belong."""
    if not isinstance(obligation, CoverObligation | ExitObligation):
        return evidence_for(obligation)
    if isinstance(obligation, CoverObligation) and obligation.source is not None:
        carried = _carried(obligation, place)
        if carried is not None:
            return carried
    wanted = 0 if obligation.source is None else place[id(obligation.source)]
    wanted += isinstance(obligation, ExitObligation)
    chosen = [k for k, region in enumerate(obligation.regions) if place[id(region)] == wanted]
    fewer = replace(obligation, regions=tuple(obligation.regions[k] for k in chosen))
    tree = cover(fewer.landing if isinstance(fewer, ExitObligation) else fewer)
    return None if tree is None else _renumbered(tree, chosen)


def _renumbered(cover: Cover, numbers: list[int]) -> Cover:
    """The decision tree with the numbers that its regions have among all."""
    if isinstance(cover, InCell):
        return replace(cover, region=numbers[cover.region])
    if isinstance(cover, Split):
        below, above = (_renumbered(part, numbers) for part in (cover.below, cover.above))
        return replace(cover, region=numbers[cover.region], below=below, above=above)
    return cover


def _carried(obligation: CoverObligation, place: dict[int, int]) -> InCell | None:
    """Evidence for a jump that keeps the state and leads into a region of the same rows: every
    row is that of the source, carried over by x' = x. Much cheaper than to look for it."""
    assert obligation.source is not None
    number = {_key(row.form): i for i, row in enumerate(obligation.rows)}
    for r, region in enumerate(obligation.regions):
        if place[id(region)] != place[id(obligation.source)]:
            continue
        proofs: list[Multipliers] = []
        for row in region.rows(0):
            steps = [(row.form, Fraction(1))]
            for name, a in row.form.coefficients.items():
                sign = 1 if a > 0 else -1
                moved = Form({primed(name): Fraction(sign), name: Fraction(-sign)})
                steps.append((moved, abs(a)))
            known = [(number.get(_key(form)), factor) for form, factor in steps]
            if any(i is None for i, _ in known):
                break
            proofs.append(tuple(sorted((i, factor) for i, factor in known if i is not None)))
        else:
            return InCell(r, 0, tuple(proofs))
    return None


def _key(form: Form) -> tuple[frozenset[tuple[str, Fraction]], Fraction]:
    return frozenset(form.coefficients.items()), form.constant
