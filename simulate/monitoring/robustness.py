"""Robustness: how far a run stays from violating a condition, and where it comes closest.

The robustness of a condition along a trace is the least margin (`simulate.monitoring.margin`)
at any time; negative where the condition is violated. It is computed on the dense output: between
the ends of integration steps extrema and crossings of polynomials are isolated, so it is
exact for polynomial conditions, up to rounding and the error of the integration itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations, pairwise

from workbench.models.automaton import Automaton, Property, specialise
from workbench.models.expressions.expression import TRUE, Expression, negation
from workbench.models.record import record
from workbench.models.trace import Segment, Trace
from workbench.simulate.inputs.signals import Signal
from workbench.simulate.monitoring.dense_values import Arc, DenseValues
from workbench.simulate.monitoring.margin import MarginTree, margin_tree
from workbench.simulate.monitoring.unit_polynomial import (
    bounds,
    critical_points,
    difference,
    roots,
    value,
)

MAX_PAIRS = 200
"""Crossings of so many pairs of leaves are looked for in one piece."""


@record
class Closest:
    """The least margin, when it occurs and in which segment; infinite if nothing can be
    violated."""

    margin: float
    time: float
    segment: int


class Robustness:
    """The robustness of one condition along runs of one model; made once, used for many.

    `condition_in(location)` is what must hold there.
    """

    def __init__(
        self,
        condition_in: Callable[[str], Expression],
        symbols: Mapping[str, int],
        inputs: Mapping[str, Signal] | None = None,
        externals: Mapping[str, Callable[..., float]] | None = None,
    ):
        self._condition_in = condition_in
        self._trees: dict[str, MarginTree | None] = {}
        self.values = DenseValues(symbols, inputs, externals)

    @classmethod
    def of_property(
        cls,
        automaton: Automaton,
        claim: Property,
        symbols: Mapping[str, int],
        inputs: Mapping[str, Signal] | None = None,
    ) -> Robustness:
        """How far a run stays from the bad states of a property."""

        def good(location: str) -> Expression:
            return negation(claim.bad_states(automaton.occupied(location)))

        return cls(good, symbols, inputs)

    @classmethod
    def of_condition(
        cls, automaton: Automaton, condition: Expression, symbols: Mapping[str, int]
    ) -> Robustness:
        """The margin of one condition, in all locations."""
        return cls(lambda name: specialise(condition, automaton.occupied(name)), symbols)

    def tree(self, location: str) -> MarginTree | None:
        """The margin in a location; None where nothing can be violated."""
        if location not in self._trees:
            condition = self._condition_in(location)
            self._trees[location] = None if condition == TRUE else margin_tree(condition)
        return self._trees[location]

    def along(self, trace: Trace, enough: float = -math.inf) -> Closest:
        """The closest approach of a run; the search ends early below `enough`."""
        best = Closest(math.inf, trace.end, max(len(trace.segments) - 1, 0))
        for index, segment in enumerate(trace.segments):
            tree = self.tree(segment.location)
            if tree is None:
                continue
            margin, t = self._least(tree, segment, trace.parameters, best.margin)
            if margin < best.margin:
                best = Closest(margin, t, index)
            if best.margin <= enough:
                return best
        return best

    def _least(
        self,
        tree: MarginTree,
        segment: Segment,
        parameters: Mapping[str, float],
        best: float,
    ) -> tuple[float, float]:
        """The least margin in a segment and its time, if it is below `best`."""
        when = segment.start
        if tree.is_conjunction:
            for leaf in tree.leaves:
                for start, end, p in self.values.margin(leaf, segment, parameters, best):
                    for u in _low_places(p, best) if end > start else (0.0,):
                        margin = value(p, u)
                        if margin < best:
                            best, when = margin, start + u * (end - start)
            return best, when
        arcs = [self.values.margin(leaf, segment, parameters) for leaf in tree.leaves]
        for start, end, polynomials in _aligned(arcs):
            places = [0.0, 1.0]
            if end > start and any(len(p) > 1 for p in polynomials):
                enclosures = [bounds(p) for p in polynomials]
                if tree([low for low, _ in enclosures]) < best:
                    places += _candidates(polynomials, enclosures)
            for u in places:
                margin = tree([value(p, u) for p in polynomials])
                if margin < best:
                    best, when = margin, start + u * (end - start)
        return best, when


def _low_places(p: list[float], best: float) -> Sequence[float]:
    """Where a polynomial may be least on [0, 1]; the ends suffice if it stays above `best`."""
    if len(p) == 1:
        return (0.0,)
    if len(p) == 2 or bounds(p)[0] >= best:
        return (0.0, 1.0)
    return (0.0, 1.0, *critical_points(p, min(best, p[0], sum(p))))


def _aligned(
    leaves: Sequence[Sequence[Arc]],
) -> Iterator[tuple[float, float, list[list[float]]]]:
    """Pieces of time on which every leaf is one polynomial."""
    if all(len(arcs) == len(leaves[0]) for arcs in leaves) and all(
        [a[:2] for a in arcs] == [a[:2] for a in leaves[0]] for arcs in leaves
    ):
        for pieces in zip(*leaves, strict=True):
            yield pieces[0][0], pieces[0][1], [p for _, _, p in pieces]
        return
    cuts = sorted({t for arcs in leaves for a in arcs for t in a[:2]})
    places = [0] * len(leaves)
    for start, end in pairwise(cuts):
        polynomials = []
        for k, arcs in enumerate(leaves):
            while arcs[places[k]][1] <= start and places[k] + 1 < len(arcs):
                places[k] += 1
            polynomials.append(_restricted(arcs[places[k]], start, end))
        yield start, end, polynomials


def _restricted(arc: Arc, start: float, end: float) -> list[float]:
    """The polynomial of an arc on a part of it."""
    low, high, p = arc
    if (low, high) == (start, end) or len(p) == 1:
        return p
    a, b = (start - low) / (high - low), (end - start) / (high - low)
    result = [p[-1]]
    for c in reversed(p[:-1]):  # Horner's rule with u replaced by a + b*u
        following = [a * x for x in result] + [0.0]
        for i, x in enumerate(result):
            following[i + 1] += b * x
        following[0] += c
        result = following
    return result


def _candidates(
    polynomials: Sequence[list[float]], enclosures: Sequence[tuple[float, float]]
) -> Iterator[float]:
    """Where the least or greatest of polynomials can have a minimum inside (0, 1): extrema
    of one, crossings of two."""
    moving = [i for i, p in enumerate(polynomials) if len(p) > 1]
    for i in moving:
        yield from critical_points(polynomials[i])
    pairs = [
        (i, j)
        for i, j in combinations(range(len(polynomials)), 2)
        if enclosures[i][0] <= enclosures[j][1]
        and enclosures[j][0] <= enclosures[i][1]
        and math.isfinite(polynomials[i][0])
        and math.isfinite(polynomials[j][0])
    ]
    for i, j in pairs[:MAX_PAIRS]:
        yield from roots(difference(polynomials[i], polynomials[j]))
