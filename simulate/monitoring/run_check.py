"""Is a trace a run of the automaton? An independent look, without the simulator.

Reads the trace alone and compares it with the automaton: parameters and input signals keep
their bounds, integers are whole, the start lies in an initial set, every location's invariant
and the assumption hold along its segments (between samples too) while none of its urgent edges
is enabled, derivatives agree with flows and lie in inclusions, and at every jump a guard held
and the resets were carried out. No segment reaches beyond a change of a signal; where an input
jumps, a jump at that instant may have been made with its value before or after. Numbers are
compared with a tolerance far above the error of a tight integration and far below what a wrong
run shows. Jumps without their states between them are no evidence of a run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction

from workbench.models.automaton import INT, TIME, Edge, Range, primed
from workbench.models.expressions.expression import TRUE, Expression
from workbench.models.expressions.traversal import free_variables
from workbench.models.trace import Event, Segment, Trace
from workbench.simulate.inputs.kinked_formula import KinkedFormula
from workbench.simulate.inputs.signals import Formula, Signal, Steps, line_at, next_change
from workbench.simulate.monitoring.dense_values import as_number
from workbench.simulate.monitoring.margin import MarginTree, margin_tree
from workbench.simulate.monitoring.robustness import Robustness
from workbench.simulate.place import Prepared, edge_name, inclusion_share
from workbench.simulate.stepping.calculator import Calculator
from workbench.simulate.stepping.tape import number

STATE_TOLERANCE = 1e-6
"""Of states against invariants, guards and resets, relative to the size of the numbers."""

SLOPE_TOLERANCE = 1e-4
"""Relative to the size of the numbers: dense output knows derivatives less exactly than states."""

BESIDE = 0.01
"""How far beside its ends a piece is looked at, in shares of it."""

MAX_PROBLEMS = 5
ZERO, ONE = Fraction(0), Fraction(1)


class RunCheck:
    """Checks traces of one model; `prepared` gives the model without algebraic variables."""

    def __init__(self, prepared: Prepared):
        self.prepared, self.view = prepared, prepared.view
        self._trees: dict[Expression, tuple[MarginTree, Calculator]] = {}
        self._calculators: dict[Expression, Calculator] = {}
        self._formulas: dict[Formula, KinkedFormula] = {}
        self._slopes: dict[str, _SlopeCheck] = {}

    def problems(self, trace: Trace, inputs: Mapping[str, Signal]) -> list[str]:
        """What speaks against the trace; nothing if it is a run, as far as can be seen."""
        found: list[str] = []
        for problem in self._problems(trace, inputs):
            found.append(problem)
            if len(found) >= MAX_PROBLEMS:
                break
        return found

    def _problems(self, trace: Trace, inputs: Mapping[str, Signal]) -> Iterator[str]:
        if not trace.segments:
            return
        yield from self._bounds(trace, inputs)
        yield from self._start(trace, inputs)
        yield from self._changes(trace, inputs)
        yield from self._whole(trace)
        yield from self._invariants(trace, inputs)
        yield from self._assumption(trace, inputs)
        yield from self._urgency(trace, inputs)
        for segment in trace.segments:
            yield from self._flows(segment, trace, inputs)
        for before, jumps, after in trace.transitions():
            yield from self._jump(before, after, jumps, trace, inputs)

    # The kinds of evidence

    def _bounds(self, trace: Trace, inputs: Mapping[str, Signal]) -> Iterator[str]:
        """Whether parameters and signals keep their exact bounds."""
        for p in self.view.parameters:
            value = trace.parameters.get(p.name)
            if value is not None and not _between(value, p.low, p.high):
                yield f"the parameter {p.name} = {value:.9g} is out of its range"
        whole = {p.name for p in self.view.parameters if p.type == INT}
        whole |= {i.name for i in self.prepared.inputs if i.type == INT}
        for name in sorted(whole & trace.parameters.keys()):
            if trace.parameters[name] != round(trace.parameters[name]):
                yield f"the parameter {name} = {trace.parameters[name]:.9g} is no whole number"
        for name in sorted(whole & inputs.keys()):
            signal = inputs[name]
            steps = isinstance(signal, Steps) and all(v == round(v) for v in signal.values)
            if not steps:
                yield f"the input {name} is not a whole number all the time"
        limits = {i.name: (i.low, i.high) for i in self.prepared.inputs}
        limits.update({inclusion_share(n): (ZERO, ONE) for n in self.prepared.loose})
        for name, signal in inputs.items():
            if isinstance(signal, Formula) or name not in limits:
                continue
            if not all(_between(v, *limits[name]) for v in signal.values):
                yield f"the input {name} leaves its range"

    def _start(self, trace: Trace, inputs: Mapping[str, Signal]) -> Iterator[str]:
        first = trace.segments[0]
        values = self._values(first, first.start, trace, inputs)
        for start in self.prepared.starts():
            if start.resets:  # the state before them is not in the trace
                return
            if start.location == first.location and self._holds(start.condition, values):
                return
        yield f"the run does not start in an initial set of `{first.location}`"

    def _changes(self, trace: Trace, inputs: Mapping[str, Signal]) -> Iterator[str]:
        """Whether segments end where a signal changes: in each it is one constant or line."""
        for segment in trace.segments:
            for name, signal in inputs.items():
                change = self._next_change(name, signal, segment)
                if change < segment.end and not _near(change, segment.end):
                    yield f"`{name}` changes at t = {change:.6g}, the run does not notice it"

    def _next_change(self, name: str, signal: Signal, segment: Segment) -> float:
        if isinstance(signal, Formula):
            return self._kinked(name, signal).next_change(segment.start, segment.end)
        return next_change(signal, segment.start)

    def _invariants(self, trace: Trace, inputs: Mapping[str, Signal]) -> Iterator[str]:
        def invariant(name: str) -> Expression:
            return self.view.location(name).invariant

        if broken := self._broken(invariant, trace, inputs):
            segment, t = broken
            yield f"the invariant of `{segment.location}` is violated at t = {t:.6g}"

    def _assumption(self, trace: Trace, inputs: Mapping[str, Signal]) -> Iterator[str]:
        assumed = self.view.assumption
        if assumed != TRUE and (broken := self._broken(lambda name: assumed, trace, inputs)):
            yield f"the assumption `{assumed}` is broken at t = {broken[1]:.6g}"

    def _broken(
        self,
        condition: Callable[[str], Expression],
        trace: Trace,
        inputs: Mapping[str, Signal],
    ) -> tuple[Segment, float] | None:
        """Where the condition of the location is missed most, if it is missed."""
        closest = Robustness(condition, self.prepared.symbols, inputs).along(trace)
        if not closest.margin < 0.0:
            return None
        segment = trace.segments[closest.segment]
        values = self._values(segment, closest.time, trace, inputs)
        kept = self._holds(condition(segment.location), values)
        return None if kept else (segment, closest.time)

    def _whole(self, trace: Trace) -> Iterator[str]:
        integers = [v.name for v in self.view.variables if v.type == INT]
        for segment in trace.segments:
            for name in integers:
                value = segment.held.get(name)
                if isinstance(value, int | float) and value != round(value):
                    yield f"{name} = {value:.9g} at t = {segment.start:.6g} is no whole number"

    def _urgency(self, trace: Trace, inputs: Mapping[str, Signal]) -> Iterator[str]:
        """Whether time passes where an urgent edge is enabled, judged in the middle of
        segments: a guard that holds there by more than the tolerance held before it."""
        for segment in trace.segments:
            for edge in self.view.edges_from(segment.location):
                if not edge.urgent or segment.end <= segment.start:
                    continue
                middle = (segment.start + segment.end) / 2
                values = self._values(segment, middle, trace, inputs)
                if self._enabled(edge.guard, values, segment):
                    yield (
                        f"time passes in `{segment.location}` at t = {middle:.6g}, where the "
                        f"urgent `{edge_name(edge)}` is enabled"
                    )

    def _flows(self, segment: Segment, trace: Trace, inputs: Mapping[str, Signal]) -> Iterator[str]:
        """Whether derivatives are what the location allows. (At the end of a piece it is enough
        that they are beside it: there the right-hand side may jump.)"""
        for piece in segment.pieces():
            if piece[1] <= piece[0]:
                continue
            for around in ((0.0, BESIDE), (0.5,), (1.0, 1.0 - BESIDE)):
                wrong = [self._wrong_slope(segment, piece, u, trace, inputs) for u in around]
                if all(wrong):
                    yield f"{wrong[0]} is not what `{segment.location}` allows"
                    return

    def _wrong_slope(
        self,
        segment: Segment,
        piece: tuple[float, float, Sequence[Sequence[float]]],
        u: float,
        trace: Trace,
        inputs: Mapping[str, Signal],
    ) -> str | None:
        """A derivative that the location does not allow at a share of a piece."""
        start, end, rows = piece
        s = u * (end - start)
        values = self._values(segment, start, trace, inputs, time=start + s)
        slopes: dict[str, float] = {}
        for name, row in zip(segment.flowing, rows, strict=True):
            values[name] = _polynomial(row, s)
            slopes[name] = _polynomial([j * x for j, x in enumerate(row)][1:], s)
        check = self._slopes.get(segment.location)
        if check is None:
            check = self._slopes[segment.location] = _SlopeCheck(self.prepared, segment.location)
        wrong = check.wrong(values, slopes)
        if wrong is None:
            return None
        return f"d({wrong}) = {slopes.get(wrong, 0.0):.6g} at t = {start + s:.6g}"

    def _jump(
        self,
        before: Segment,
        after: Segment,
        jumps: Sequence[Event],
        trace: Trace,
        inputs: Mapping[str, Signal],
    ) -> Iterator[str]:
        """Whether the jumps between two segments lead from the one to the other."""
        t = after.start
        if not _near(before.end, t):
            yield f"there is a gap between t = {before.end:.9g} and {t:.9g}"
        if len(jumps) > 1:
            yield f"the states between the jumps at t = {t:.6g} are missing"
            return
        old = self._values(before, before.end, trace, inputs)
        new = self._values(after, t, trace, inputs)
        if not jumps:
            same = before.location == after.location and all(
                _near(old.get(n, math.nan), new.get(n, math.nan)) for n in self.prepared.names
            )
            if not same:
                yield f"something changes at t = {t:.6g} without a jump"
            return
        edges = [
            e
            for e in self.view.edges_from(before.location)
            if e.target == after.location and edge_name(e) == jumps[0].name
        ]
        stepped = self._values(before, before.end, trace, inputs, fed_at=t)
        if not any(self._taken(e, values, new) for e in edges for values in (old, stepped)):
            yield f"`{jumps[0].name}` at t = {t:.6g} is not what an edge allows"

    def _taken(self, edge: Edge, old: Mapping[str, float], new: Mapping[str, float]) -> bool:
        """Whether the edge leads from one state to the other, with the inputs of the first."""
        fed = {i.name: old[i.name] for i in self.prepared.inputs if i.name in old}
        arrives = self._holds(self.view.location(edge.target).invariant, {**new, **fed})
        if not (self._holds(edge.guard, old) and arrives):
            return False
        known = dict(old)
        reset = set()
        for c in edge.resets:
            after = new.get(c.variable)
            if after is None:  # an auxiliary name: its value is not in the trace
                exact = c.range.exact
                if exact is None:
                    return True
                known[primed(c.variable)] = self._value(exact, known)
                continue
            known[primed(c.variable)] = after
            reset.add(c.variable)
            if not self._inside(c.range, known, after):
                return False
        return all(
            _near(old.get(n, 0.0), new.get(n, 0.0)) for n in self.prepared.names if n not in reset
        )

    # Evaluation

    def _values(
        self,
        segment: Segment,
        t: float,
        trace: Trace,
        inputs: Mapping[str, Signal],
        time: float | None = None,
        fed_at: float | None = None,
    ) -> dict[str, float]:
        """The state of a segment at t, or without what flows at `time`; signals as they are
        from its start on, or from `fed_at` on."""
        symbols = self.prepared.symbols
        known: dict[str, float] = {n: as_number(v, symbols) for n, v in segment.held.items()}
        known.update(trace.parameters)
        when = t if time is None else time
        start = segment.start if fed_at is None else fed_at
        for name, signal in inputs.items():
            if segment.is_instant and fed_at is None and name in known:
                continue
            if isinstance(signal, Formula):
                cut = self._kinked(name, signal)
                known[name] = cut.value({TIME: when, **cut.held(start)})
            else:
                level, slope = line_at(signal, start)
                known[name] = level + slope * when
        if time is None:
            known.update(zip(segment.flowing, segment.state(t), strict=True))
        known[TIME] = when
        return known

    def _kinked(self, name: str, signal: Formula) -> KinkedFormula:
        if signal not in self._formulas:
            self._formulas[signal] = KinkedFormula(name, signal, self.prepared.externals)
        return self._formulas[signal]

    def _value(self, expression: Expression, values: Mapping[str, float]) -> float:
        calculate = self._calculators.get(expression)
        if calculate is None:
            calculate = Calculator([expression], self.prepared.symbols, self.prepared.externals)
            self._calculators[expression] = calculate
        if any(name not in values for name in calculate.names):
            return math.nan
        return calculate(values)[0]

    def _inside(self, bounds: Range, values: Mapping[str, float], x: float) -> bool:
        """Whether x lies in a range, within the tolerance; what is unknown does not count."""
        for bound, sign in ((bounds.low, 1.0), (bounds.high, -1.0)):
            if bound is None:
                continue
            limit = self._value(bound, values)
            room = STATE_TOLERANCE * (1.0 + abs(x) + abs(limit) + _size_of(values))
            if sign * (x - limit) < -room:
                return False
        return True

    def _holds(self, condition: Expression, values: Mapping[str, float]) -> bool:
        """Whether a condition holds within the tolerance; what is unknown counts as true."""
        margin = self._margin(condition, values)
        return margin is None or not margin < -STATE_TOLERANCE * (1.0 + _size_of(values))

    def _enabled(self, guard: Expression, values: Mapping[str, float], segment: Segment) -> bool:
        """Whether a guard holds: by more than the tolerance, if it reads what flows; what is
        unknown does not count."""
        if free_variables(guard) <= segment.held.keys():
            return self._value(guard, values) == 1.0
        margin = self._margin(guard, values)
        return margin is not None and margin > STATE_TOLERANCE * (1.0 + _size_of(values))

    def _margin(self, condition: Expression, values: Mapping[str, float]) -> float | None:
        found = self._trees.get(condition)
        if found is None:
            tree = margin_tree(condition)
            leaves = Calculator(
                [leaf.expression for leaf in tree.leaves],
                self.prepared.symbols,
                self.prepared.externals,
            )
            found = self._trees[condition] = (tree, leaves)
        tree, leaves = found
        if any(name not in values for name in leaves.names):
            return None
        results = leaves(values)
        margins = [
            (math.inf if r else -math.inf) if leaf.truth else r
            for leaf, r in zip(tree.leaves, results, strict=True)
        ]
        return tree(margins)


def _between(value: float, low: Fraction | None, high: Fraction | None) -> bool:
    """Whether a number keeps bounds, which are as exact as the nearest doubles to them."""
    above = low is None or Fraction(value) >= low or value == number(low)
    return above and (high is None or Fraction(value) <= high or value == number(high))


def _near(a: float, b: float) -> bool:
    return abs(a - b) <= STATE_TOLERANCE * (1.0 + abs(a) + abs(b)) or a == b


def _polynomial(coefficients: Sequence[float], s: float) -> float:
    total = 0.0
    for c in reversed(coefficients):
        total = total * s + c
    return total


class _SlopeCheck:
    """Compares derivatives with the flows of one location; all of them are calculated together."""

    def __init__(self, prepared: Prepared, location: str):
        places: dict[Expression, int] = {}
        self._ends: list[tuple[str, int, float]] = []
        for change in prepared.view.location(location).flows:
            for bound, sign in ((change.range.low, -1.0), (change.range.high, 1.0)):
                if bound is not None and change.variable != TIME:
                    place = places.setdefault(bound, len(places))
                    self._ends.append((change.variable, place, sign))
        self._calculate = Calculator([*places], prepared.symbols, prepared.externals)
        self._unknown = dict.fromkeys(self._calculate.names, math.nan)

    def wrong(self, values: Mapping[str, float], slopes: Mapping[str, float]) -> str | None:
        """A variable whose derivative (0 where none is given) is not allowed in a state; what is
        unknown does not count."""
        size = 1.0 + _size_of(values)
        limits = self._calculate({**self._unknown, **values})
        for variable, place, sign in self._ends:
            slope, limit = slopes.get(variable, 0.0), limits[place]
            if sign * (slope - limit) > SLOPE_TOLERANCE * (size + abs(slope) + abs(limit)):
                return variable
        return None


def _size_of(values: Mapping[str, float]) -> float:
    """The largest absolute value among those that are finite."""
    return max((abs(v) for v in values.values() if math.isfinite(v)), default=0.0)
