"""Piecewise linear flows: one flow for each choice of branches, and the states where it counts.

Lemma. In every state the derivatives are those of a branch whose condition holds there, and where
several do they agree. For this is so of every value that is taken apart (`branches_of`):
d(v) == min(1, u) is d(v) == u where u <= 1, and d(v) == 1 where u >= 1.

What has to hold of the derivative in a state is therefore shown branch by branch, for the states of
the branch; how often a run changes between branches does not matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from workbench.models.automaton import Constraint, Location, Range
from workbench.models.expressions.expression import TRUE, Expression, conjunction
from workbench.models.lowering.alternatives import Types
from workbench.models.lowering.pieces import branches_of, innermost_piece, with_branch

MOST_BRANCHES = 24
"""A location with more branches is left as it is: its piecewise derivatives are not known."""


def flow_branches(place: Location, types: Types) -> list[tuple[Expression, Location]]:
    """Conditions that cover all states, each with the location as it is where it holds."""
    pending: list[tuple[tuple[Expression, ...], tuple[Constraint, ...]]] = [((), place.flows)]
    found: list[tuple[Expression, Location]] = []
    while pending:
        chosen, flows = pending.pop()
        piece = innermost_piece(_ends(flows), types)
        if piece is None:
            found.append((conjunction(*chosen), replace(place, flows=flows)))
        else:
            for where, value in branches_of(piece):
                pending.append(((*chosen, where), tuple(_on(f, piece, value) for f in flows)))
        if len(found) + len(pending) > MOST_BRANCHES:
            return [(TRUE, place)]
    return found


def _ends(flows: Sequence[Constraint]) -> list[Expression]:
    return [end for f in flows for end in (f.range.low, f.range.high) if end is not None]


def _on(flow: Constraint, piece: Expression, value: Expression) -> Constraint:
    low, high = (
        None if end is None else with_branch(end, piece, value)
        for end in (flow.range.low, flow.range.high)
    )
    return replace(flow, range=Range(low, high))
