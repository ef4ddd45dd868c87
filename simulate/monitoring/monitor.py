"""Monitoring of temporal formulas on the dense output of runs.

A formula's robustness at threshold: r >= c exactly if the formula holds with every margin
compared to c instead of 0 (negations pushed down to the conditions first). For a given c the
truth of every condition is a set of time intervals, found by isolating roots on monotone
pieces of polynomials; Boolean and temporal operators are operations on such sets; so the
robustness is found by bisection over c, and what happens between samples counts. It is
exact up to the precision of the bisection and of the integration.

Time is superdense: a jump separates two values at one instant, each with its own place in
the order, and sets are kept segment by segment. Beyond the end of a run nothing is known:
`optimistic` robustness assumes that everything holds there, `pessimistic` that nothing does.
A negative optimistic robustness is a violation whatever the future brings.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from workbench.models.automaton import Automaton, specialise
from workbench.models.condition_check import types_by_name, with_symbols
from workbench.models.expressions.expression import Expression
from workbench.models.record import record
from workbench.models.trace import Segment, Trace
from workbench.simulate.inputs.signals import Signal
from workbench.simulate.monitoring.dense_values import DenseValues
from workbench.simulate.monitoring.margin import Greatest, Leaf, Least, margin_tokens
from workbench.simulate.monitoring.stl import Formula, Temporal
from workbench.simulate.monitoring.time_sets import (
    Interval,
    Truth,
    complement,
    eventually,
    intersection,
    union,
    until,
)
from workbench.simulate.monitoring.unit_polynomial import critical_points, value

PRECISION = 1e-12


@record
class Monotone:
    """A piece of time on which a margin is monotone: p(u), u = (t - start) / length."""

    low: float
    high: float
    start: float
    length: float
    p: tuple[float, ...]
    first: float
    last: float


@record
class Operator:
    """A temporal operator of a formula without negations."""

    kind: str  # always, eventually, until, release
    low: float
    high: float


Step = int | Least | Greatest | Operator
"""A leaf by number, or an operation on what came before it."""


@dataclass(frozen=True)
class Program:
    """A formula with negations pushed down, in postfix form over numbered conditions."""

    leaves: tuple[Leaf, ...]
    steps: tuple[Step, ...]


def compile_formula(formula: Formula) -> Program:
    """Push negations down: each node is made in both polarities."""
    leaves: dict[Leaf, int] = {}
    stack: list[tuple[list[Step], list[Step]]] = []

    def numbered(condition: Expression) -> list[Step]:
        steps: list[Step] = []
        for token in margin_tokens(condition):
            is_leaf = isinstance(token, Leaf)
            steps.append(leaves.setdefault(token, len(leaves)) if is_leaf else token)  # type: ignore[arg-type]
        return steps

    for node in formula.nodes:
        if node.kind is Temporal.CONDITION:
            assert node.condition is not None
            stack.append((numbered(node.condition), numbered(~node.condition)))
        elif node.kind is Temporal.NOT:
            stack.append(stack.pop()[::-1])
        elif node.kind in (Temporal.ALWAYS, Temporal.EVENTUALLY):
            yes, no = stack.pop()
            dual = {"always": "eventually", "eventually": "always"}[node.kind]
            stack.append(
                (
                    [*yes, Operator(str(node.kind), node.low, node.high)],
                    [*no, Operator(dual, node.low, node.high)],
                )
            )
        else:
            second, first = stack.pop(), stack.pop()
            if node.kind is Temporal.IMPLIES:
                first = first[::-1]
            if node.kind is Temporal.UNTIL:
                yes_op: Step = Operator("until", node.low, node.high)
                no_op: Step = Operator("release", node.low, node.high)
            elif node.kind is Temporal.AND:
                yes_op, no_op = Least(2), Greatest(2)
            else:
                yes_op, no_op = Greatest(2), Least(2)
            stack.append(([*first[0], *second[0], yes_op], [*first[1], *second[1], no_op]))
    return Program(tuple(leaves), tuple(stack[-1][0]))


class Monitor:
    """Robustness of one formula along runs of one model."""

    def __init__(
        self,
        automaton: Automaton,
        formula: Formula,
        symbols: Mapping[str, int],
        inputs: Mapping[str, Signal] | None = None,
    ):
        types = types_by_name(automaton)
        self.automaton = automaton
        self.formula = formula.over(lambda condition: with_symbols(condition, types))
        self.program = compile_formula(self.formula)
        self.values = DenseValues(symbols, inputs)
        self._locations: dict[tuple[str, Leaf], Leaf] = {}

    def optimistic(self, trace: Trace) -> float:
        """The robustness if everything holds after the end of the run, and where a condition
        has no value."""
        return self._robustness(trace, True)

    def pessimistic(self, trace: Trace) -> float:
        """The robustness if nothing holds after the end of the run, nor where a condition has
        no value."""
        return self._robustness(trace, False)

    def holds(self, trace: Trace, future: bool, threshold: float = 0.0) -> bool:
        """Whether the formula holds at the start with margins of at least `threshold`."""
        truths = _truths(self._signals(trace, future), _spans(trace), future, threshold)
        return _holds_at_start(self.program.steps, truths, _spans(trace))

    def first_violation(self, trace: Trace, threshold: float = 0.0) -> float | None:
        """The earliest time at which the formula is decided: whatever comes later, it does not
        hold with margins of at least `threshold`. None if the whole run leaves it open."""
        spans = _spans(trace)
        truths = _truths(self._signals(trace, True), spans, True, threshold)

        def violated(whole: int, until: float) -> bool:
            """With nothing known beyond so many segments and a part of the next."""
            known = [_forgetting(truth, spans, whole, until) for truth in truths]
            return not _holds_at_start(self.program.steps, known, spans)

        count = len(trace.segments)
        whole = bisect_left(range(count), True, key=lambda k: violated(k + 1, -math.inf))
        if whole == count:
            return None
        low, high = spans[whole]
        while low < (middle := 0.5 * (low + high)) < high:
            low, high = (low, middle) if violated(whole, middle) else (middle, high)
        return high

    def _robustness(self, trace: Trace, future: bool) -> float:
        signals = self._signals(trace, future)
        spans = _spans(trace)

        def holds(threshold: float) -> bool:
            truths = _truths(signals, spans, future, threshold)
            return _holds_at_start(self.program.steps, truths, spans)

        values = sorted(
            {
                v
                for signal in signals
                for pieces in signal
                for m in pieces
                for v in (m.first, m.last)
                if math.isfinite(v)
            }
        )
        return _threshold(holds, values)

    def _signals(self, trace: Trace, future: bool) -> list[list[list[Monotone]]]:
        return [self._signal(leaf, trace, future) for leaf in self.program.leaves]

    def _signal(self, leaf: Leaf, trace: Trace, future: bool) -> list[list[Monotone]]:
        undefined = math.inf if future else -math.inf
        found = []
        for segment in trace.segments:
            local = self._in_location(leaf, segment)
            arcs = self.values.margin(local, segment, trace.parameters, undefined=undefined)
            found.append([m for arc in arcs for m in _monotone(*arc)])
        return found

    def _in_location(self, leaf: Leaf, segment: Segment) -> Leaf:
        key = (segment.location, leaf)
        if key not in self._locations:
            occupied = self.automaton.occupied(segment.location)
            self._locations[key] = Leaf(specialise(leaf.expression, occupied), leaf.truth)
        return self._locations[key]


def _threshold(holds: Callable[[float], bool], values: Sequence[float]) -> float:
    """The greatest c with holds(c), which decreases; bisection over the values that the
    margins take at their extrema first, then between two of them."""
    if not values:
        return math.inf if holds(0.0) else -math.inf
    if holds(values[-1] + 1.0 + abs(values[-1])):
        return math.inf
    if not holds(values[0] - 1.0 - abs(values[0])):
        return -math.inf
    low, high = -1, len(values)  # holds below values[low], fails above values[high]
    while high - low > 1:
        middle = (low + high) // 2
        if holds(values[middle]):
            low = middle
        else:
            high = middle
    if low < 0 or high >= len(values):
        return values[max(low, 0)] if low >= 0 else values[0]
    a, b = values[low], values[high]
    while b - a > PRECISION * max(1.0, abs(a), abs(b)):
        c = 0.5 * (a + b)
        if holds(c):
            a = c
        else:
            b = c
    return a


def _spans(trace: Trace) -> list[Interval]:
    """The times of the segments, and the unknown future, after the end, as one more."""
    future = (math.nextafter(trace.end, math.inf), math.inf)
    return [*((s.start, s.end) for s in trace.segments), future]


def _monotone(start: float, end: float, p: list[float]) -> list[Monotone]:
    cuts = [0.0, *sorted(critical_points(p)), 1.0] if end > start else [0.0, 0.0]
    found = []
    for a, b in pairwise(cuts):
        low, high = start + a * (end - start), start + b * (end - start)
        if b == 1.0:
            high = end
        found.append(Monotone(low, high, start, end - start, tuple(p), value(p, a), value(p, b)))
    return found


# Sets of times


def _truths(
    signals: Sequence[Sequence[Sequence[Monotone]]],
    spans: Sequence[Interval],
    future: bool,
    threshold: float,
) -> list[Truth]:
    """When each condition holds, with the unknown future as one more segment."""
    beyond = [spans[-1]] if future else []
    return [[*(_above(pieces, threshold) for pieces in signal), beyond] for signal in signals]


def _forgetting(truth: Truth, spans: Sequence[Interval], whole: int, until: float) -> Truth:
    """The truth of the first segments and of a part of the next; beyond it everything holds."""
    start, end = spans[whole]
    rest: list[Interval] = [(max(start, until), end)]
    part = union(intersection(truth[whole], [(start, until)]), rest) if until > start else rest
    return [*truth[:whole], part, *([span] for span in spans[whole + 1 :])]


def _holds_at_start(
    steps: Sequence[Step], truths: Sequence[Truth], spans: Sequence[Interval]
) -> bool:
    stack: list[Truth] = []
    for step in steps:
        if isinstance(step, int):
            stack.append(truths[step])
        elif isinstance(step, Operator):
            if step.kind in ("always", "eventually"):
                part = stack.pop()
                if step.kind == "eventually":
                    stack.append(eventually(part, spans, step.low, step.high))
                else:
                    missing = complement(part, spans)
                    stack.append(complement(eventually(missing, spans, step.low, step.high), spans))
            else:
                second, first = stack.pop(), stack.pop()
                if step.kind == "until":
                    stack.append(until(first, second, spans, step.low, step.high))
                else:
                    first, second = complement(first, spans), complement(second, spans)
                    stack.append(
                        complement(until(first, second, spans, step.low, step.high), spans)
                    )
        else:
            parts = stack[-step.count :]
            del stack[-step.count :]
            join = intersection if isinstance(step, Least) else union
            total = parts[0]
            for part in parts[1:]:
                total = [join(a, b) for a, b in zip(total, part, strict=True)]
            stack.append(total)
    first_segment = stack[-1][0]
    return bool(first_segment) and first_segment[0][0] <= spans[0][0]


def _above(pieces: Sequence[Monotone], threshold: float) -> list[Interval]:
    """Where the margin is at least the threshold."""
    found: list[Interval] = []
    for m in pieces:
        begins, ends = m.first >= threshold, m.last >= threshold
        if begins and ends:
            part = (m.low, m.high)
        elif not begins and not ends:
            continue
        else:
            t = _crossing(m, threshold)
            part = (m.low, t) if begins else (t, m.high)
        if found and found[-1][1] >= part[0]:
            found[-1] = (found[-1][0], part[1])
        else:
            found.append(part)
    return found


def _crossing(m: Monotone, threshold: float) -> float:
    """Where a monotone margin passes the threshold."""
    low, high = m.low, m.high
    rising = m.last > m.first
    for _ in range(60):
        middle = 0.5 * (low + high)
        if middle in (low, high):
            break
        if (value(m.p, (middle - m.start) / m.length) >= threshold) == rising:
            high = middle
        else:
            low = middle
    return 0.5 * (low + high)
