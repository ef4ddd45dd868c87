"""Would a computed run be possible in the model that it stands for?

A simulator keeps invariants within its tolerance, as it takes guards
(`simulate.monitoring.clear_jumps`). Where a run only touches the boundary of an invariant, or of an
urgent guard, or needs two boundaries to be the same, two methods agree on a run that the model
does not have. A run is *clear* if small errors cannot undo it:

- on the way of a stay the invariant holds, and no urgent guard does, by more than the error; it
  may begin or end on a boundary, or move along one, but not come, touch and go;
- where an edge leaves a stay, an invariant on its boundary is not strict, and the run does not
  approach it, or the guard (or the target's invariant, in terms of the state before) is the other
  side of that very boundary (x <= 1 and x >= 1), or it holds by more than the error and is not
  urgent: then the edge may be taken an instant sooner;
- the invariant of the target, on its boundary, follows from what guard and invariant say of the
  state before (h >= 0 is kept by a jump that leaves h alone), or is about numbers alone;
- at the start an invariant on its boundary is not strict, and holds.

What is not clear needs a proof.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from itertools import chain, pairwise

from workbench.models.agents.resets import updates
from workbench.models.automaton import Edge, primed
from workbench.models.expressions.expression import (
    TRUE,
    Expression,
    compare,
    conjunction,
    negation,
    variable,
)
from workbench.models.expressions.operators import Op
from workbench.models.expressions.traversal import conjuncts, free_variables, substitute
from workbench.models.linear import Form, affine
from workbench.models.trace import Event, Segment, Trace
from workbench.simulate.inputs.signals import Signal
from workbench.simulate.jump import edge_name
from workbench.simulate.monitoring.clear_jumps import SAFETY, STRICT, ClearJumps, cases_of, error_of

PARTS = 4
"""Moments of each piece of a stay at which margins are taken."""
MAX_MOMENTS = 4000
HALVINGS = 40

Moment = tuple[float, Mapping[str, float]]
Case = list[Expression]


class ClearRuns(ClearJumps):
    """Looks for what small errors may have made in a trace: its start, stays and jumps."""

    def unclear(
        self, trace: Trace, inputs: Mapping[str, Signal], until: float = math.inf
    ) -> str | None:
        """The first thing that is not clear up to a time, in words."""
        if not trace.segments:
            return None
        found = chain(
            self._unclear_start(trace, inputs),
            self._unclear_stays(trace, inputs, until),
            self._unclear_jumps(trace, inputs, until),
        )
        return next(found, None)

    def _unclear_start(self, trace: Trace, inputs: Mapping[str, Signal]) -> Iterator[str]:
        first = trace.segments[0]
        values = self._values(first, first.start, trace, inputs)

        def holds(atom: Expression) -> bool:
            return atom.op not in STRICT and (self._margin(atom, values) or 0.0) >= 0.0

        if not any(self._kept(c, values, holds) for c in self._invariant_cases(first.location)):
            yield f"the invariant of `{first.location}` may not hold at the start"

    # Stays

    def _unclear_stays(
        self, trace: Trace, inputs: Mapping[str, Signal], until: float
    ) -> Iterator[str]:
        for stay in _stays(trace):
            place = self.view.location(stay[0].location)
            urgent = [e.guard for e in self.view.edges_from(place.name) if e.urgent]
            condition = conjunction(place.invariant, *map(negation, urgent))
            if not free_variables(condition):
                continue
            t = self._touch(condition, stay, trace, inputs)
            if t is not None and t <= until:
                what = "its invariant or an urgent guard" if urgent else "its invariant"
                yield f"the run may only touch {what} in `{place.name}` at t = {t:.6g}"

    def _touch(
        self,
        condition: Expression,
        stay: Sequence[Segment],
        trace: Trace,
        inputs: Mapping[str, Signal],
    ) -> float | None:
        """When a stay comes as close to the boundary of a condition as the error, and goes."""

        def margin(segment: Segment, t: float) -> float:
            values = self._values(segment, t, trace, inputs)
            found = self._margin(condition, values)
            return 1.0 if found is None else found - SAFETY * error_of(values)

        moments = list(_moments(stay))
        if len(moments) < 3 or len(moments) > MAX_MOMENTS:
            return None
        margins = [margin(*moment) for moment in moments]
        away = [k for k, m in enumerate(margins) if m > 0.0]
        for k in range(away[0] + 1, away[-1]) if away else ():
            if margins[k] <= min(margins[k - 1], margins[k + 1]):
                near = (moments[k - 1], moments[k], moments[k + 1])
                if min(margins[k], *(_least(margin, *pair) for pair in _pairs(near))) <= 0.0:
                    return moments[k][1]
        return None

    # Jumps

    def _unclear_jumps(
        self, trace: Trace, inputs: Mapping[str, Signal], until: float
    ) -> Iterator[str]:
        for before, events, after in trace.transitions():
            if after.start > until:
                return
            moments = tuple(self.moments(before, trace, inputs)) if events else ()
            new = self._values(after, after.start, trace, inputs)
            for event in events:
                edges = self._edges(before, event, after)
                found = [self._unclear_edge(e, event, before, moments, new) for e in edges]
                doubts = [doubt for doubt in found if doubt is not None]
                if len(doubts) == len(edges):
                    yield doubts[0] if doubts else f"`{event.name}` is no edge of the model"

    def _unclear_edge(
        self,
        edge: Edge,
        event: Event,
        before: Segment,
        moments: tuple[Moment, ...],
        new: Mapping[str, float],
    ) -> str | None:
        """Why an edge may not have been taken. Its guard may be clear as it is, or with what the
        target's invariant says of the state before (two invariants may share a boundary)."""
        doubts = []
        for guard in (edge.guard, self._entering(edge)):
            if not self.clear(guard, before, moments):
                doubts.append(f"`{event.name}` at t = {event.time:.6g} may only touch its guard")
            elif not self._leaves(edge, guard, moments):
                doubts.append(f"the invariant may not hold where `{event.name}` is taken")
            elif not self._arrives(edge, guard, moments[0][1], new):
                doubts.append(f"the invariant may not hold after `{event.name}`")
            else:
                return None
        return doubts[0]

    def _entering(self, edge: Edge) -> Expression:
        """The guard, and what the target's invariant says of the state before."""
        changes = updates(edge.resets)
        exact = {name: r.exact for name, r in changes.items() if r.exact is not None}
        told = conjuncts(self.view.location(edge.target).invariant)
        known = (p for p in told if not free_variables(p) & (changes.keys() - exact.keys()))
        return conjunction(edge.guard, *(substitute(part, exact) for part in known))

    def _edges(self, before: Segment, event: Event, after: Segment) -> list[Edge]:
        return [
            e
            for e in self.view.edges_from(before.location)
            if edge_name(e) == event.name and e.target == after.location
        ]

    def _leaves(self, edge: Edge, guard: Expression, moments: tuple[Moment, ...]) -> bool:
        """Whether the invariant holds clearly at the end of a stay; one without duration ends
        where it began."""
        if len(moments) < 3:
            return True
        values = moments[0][1]

        def on_boundary(atom: Expression, sides: Case) -> bool:
            last, before, _ = (self._margin(atom, known) or 0.0 for _, known in moments)
            if atom.op in STRICT or last < -SAFETY * error_of(values):
                return False
            rests = abs(before - last) <= SAFETY * error_of(values) * 1e-3
            if rests or last > before or any(_opposite(atom, side) for side in sides):
                return True
            inside = before > SAFETY * error_of(values)
            return inside and not edge.urgent and all(self._sure(s, values) for s in sides)

        return any(
            self._kept(c, values, partial(on_boundary, sides=sides))
            for sides in self._holding(guard, values)
            for c in self._invariant_cases(edge.source)
        )

    def _arrives(
        self, edge: Edge, guard: Expression, old: Mapping[str, float], new: Mapping[str, float]
    ) -> bool:
        """Whether the target's invariant holds clearly after an edge."""
        changes = updates(edge.resets)
        chosen = {name for name, range_ in changes.items() if range_.exact is None}
        before: dict[str, Expression] = {
            name: variable(primed(name)) if range_.exact is None else range_.exact
            for name, range_ in changes.items()
        }
        invariant = self.view.location(edge.source).invariant

        def on_boundary(atom: Expression, known: Case) -> bool:
            margin = self._margin(atom, new) or 0.0
            if margin < -SAFETY * error_of(new):
                return False
            if free_variables(atom) & chosen:
                return atom.op not in STRICT and margin >= 0.0
            told = substitute(atom, before)
            return told in (TRUE, *known) or any(_follows(told, k) for k in (TRUE, *known))

        return any(
            self._kept(c, new, partial(on_boundary, known=known))
            for known in self._holding(conjunction(invariant, guard), old)
            for c in self._invariant_cases(edge.target)
        )

    # Cases

    def _invariant_cases(self, location: str) -> list[Case]:
        return _split(self.view.location(location).invariant)

    def _holding(self, condition: Expression, values: Mapping[str, float]) -> Iterator[Case]:
        """The cases that hold within the error."""
        for case in _split(condition):
            margins = (self._margin(a, values) for a in case)
            if all(m is None or m >= -SAFETY * error_of(values) for m in margins):
                yield case

    def _kept(
        self,
        case: Case,
        values: Mapping[str, float],
        on_boundary: Callable[[Expression], bool],
    ) -> bool:
        """Whether all atoms of a case hold clearly, or are on their boundary as they may."""
        return all(
            self._sure(a, values)
            or self._margin(a, values) is None
            or (not self._is_exact(a) and on_boundary(a))
            for a in case
        )


def _split(condition: Expression) -> list[Case]:
    """The cases of a condition, with equations as two comparisons."""
    found = []
    for case in cases_of(condition):
        atoms: Case = []
        for atom in case:
            if atom.op is Op.EQUAL:
                left, right = atom.args
                atoms += (compare(op, left, right) for op in (Op.LESS_EQUAL, Op.GREATER_EQUAL))
            else:
                atoms.append(atom)
        found.append(atoms)
    return found


def _stays(trace: Trace) -> Iterator[list[Segment]]:
    """The segments between jumps, together."""
    stay = [trace.segments[0]]
    for _, events, after in trace.transitions():
        if events:
            yield stay
            stay = []
        stay.append(after)
    yield stay


def _moments(stay: Sequence[Segment]) -> Iterator[tuple[Segment, float]]:
    for segment in stay:
        for start, end, _ in segment.pieces():
            yield from ((segment, start + (end - start) * k / PARTS) for k in range(PARTS))
    yield stay[-1], stay[-1].end


def _pairs(near: Sequence[tuple[Segment, float]]) -> Iterator[tuple[Segment, float, float]]:
    """Where to look between moments: in the segment of the earlier one."""
    for (segment, start), (_, end) in pairwise(near):
        yield segment, start, min(end, segment.end)


def _least(
    margin: Callable[[Segment, float], float], segment: Segment, start: float, end: float
) -> float:
    """About the least margin between two times, near a minimum, by the golden section."""
    ratio = 0.6180339887498949
    low, high = end - ratio * (end - start), start + ratio * (end - start)
    at_low, at_high = margin(segment, low), margin(segment, high)
    for _ in range(HALVINGS):
        if at_low <= at_high:
            end, high, at_high = high, low, at_low
            low = end - ratio * (end - start)
            at_low = margin(segment, low)
        else:
            start, low, at_low = low, high, at_high
            high = start + ratio * (end - start)
            at_high = margin(segment, high)
    return min(at_low, at_high)


def _distance(atom: Expression) -> Form | None:
    """What is not negative where a comparison holds, as a form."""
    if atom.op not in (Op.LESS, Op.LESS_EQUAL, Op.GREATER, Op.GREATER_EQUAL):
        return None
    left, right = (affine(a) for a in atom.args)
    if left is None or right is None:
        return None
    return right - left if atom.op in (Op.LESS, Op.LESS_EQUAL) else left - right


def _opposite(atom: Expression, side: Expression) -> bool:
    """Whether two comparisons, not strict, are about the two sides of one boundary."""
    if side.op in STRICT or atom.op in STRICT:
        return False
    if atom.args == side.args:
        return {atom.op, side.op} == {Op.LESS_EQUAL, Op.GREATER_EQUAL}
    own, other = _distance(atom), _distance(side)
    return own is not None and other is not None and _remainder(own, -other) == 0


def _follows(atom: Expression, known: Expression) -> bool:
    """Whether a comparison follows from another one, both affine, or is one of numbers."""
    own, given = _distance(atom), Form({}) if known == TRUE else _distance(known)
    rest = None if own is None or given is None else _remainder(own, given)
    if rest is None:
        return False
    return rest > 0 or (rest == 0 and (atom.op not in STRICT or known.op in STRICT))


def _remainder(own: Form, other: Form) -> Fraction | None:
    """own - c other for the c > 0 that leaves a number (0 where own is a number); else None."""
    if not own.coefficients:
        return own.constant
    name = next(iter(own.coefficients))
    if name not in other.coefficients:
        return None
    factor = own.coefficients[name] / other.coefficients[name]
    rest = own - other.scaled(factor)
    return rest.constant if factor > 0 and not rest.coefficients else None
