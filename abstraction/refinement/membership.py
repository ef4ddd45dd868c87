"""Can the abstract automaton do what a run of the detailed one shows?

The observed values of a run are read at sample times. For every abstract location that could
stand for a stretch of the run there is one question to the solver: are there values within a
tolerance of what was observed, and any values of what is not observed, that satisfy invariant,
flow, guards and resets at the samples? Only necessary conditions are asked, so "no" for every
choice of locations and edges means that no abstract run matches; it is exact up to the
tolerance of the simulator, which the questions allow for.

Where time is interrupted the abstract automaton may make any number of jumps, also before time
begins to pass: what it shows between them has no extent in time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from typing import TypeAlias

from workbench.abstraction.refinement.outcome import Mismatch
from workbench.abstraction.refinement.questions import types_of
from workbench.abstraction.refinement.sightings import (
    VALUE_TOLERANCE,
    Sample,
    jumps_before,
    near,
    samples_of,
)
from workbench.abstraction.refinement.time_left import is_over, within_time
from workbench.models.automaton import (
    TIME,
    Automaton,
    Constraint,
    Input,
    Kind,
    Location,
    Parameter,
    Range,
    ValueType,
    Variable,
    primed,
)
from workbench.models.checker.conditions import limit_of
from workbench.models.expressions.evaluation import EvaluationError, evaluate
from workbench.models.expressions.expression import (
    TRUE,
    Expression,
    conjunction,
    constant,
    disjunction,
    equal,
    negation,
    variable,
)
from workbench.models.expressions.ranges import value_in
from workbench.models.expressions.traversal import conjuncts, free_variables, substitute
from workbench.models.smt.solver import Limits, Unsatisfiable, satisfiable
from workbench.models.trace import Trace

MAX_FRONTIER = 64
FURTHER_JUMPS = 2
"""So many jumps more than the detailed automaton makes are followed exactly; for what comes
after them, any values are granted to what jumps assign."""

MAX_SEGMENTS = 200
"""So much of a run is looked at: one that rests on a boundary has pieces without end."""

MAX_REMEMBERED = 200
"""So many conditions on what is not observed are carried along a run."""

RATE_TOLERANCE = Fraction(1, 1_000)
LIMITS = Limits(resources=2_000_000, milliseconds=1_000)

_Names: TypeAlias = Mapping[str, Expression]
_Options: TypeAlias = Iterator[tuple[str, Expression]]
"""Abstract locations, each with what a step to it asks of the values before and after."""


class _UndecidedError(Exception):
    """There is too much to look at, or no time left for it."""


@dataclass(frozen=True)
class _Partial:
    """An abstract location, and what must hold of the unobserved values to be there."""

    place: str
    known: Expression


class Matcher:
    """Matches runs of one automaton against another."""

    def __init__(self, detailed: Automaton, abstract: Automaton, observed: Sequence[str]):
        self._detailed, self._abstract = detailed, abstract
        self._observed = frozenset(observed)
        self._names = {v.name: v.type for v in abstract.variables}
        self._names |= {i.name: i.type for i in abstract.inputs}
        self._names |= {p.name: p.type for p in abstract.parameters}
        self._types = types_of(abstract)
        self._nominal: dict[str, Fraction | bool | str] = {}

    def mismatch(self, trace: Trace) -> Mismatch | None:
        """Where no abstract run follows any more; None if one may follow to the end."""
        segments = [
            list(samples_of(s, self._detailed.location(s.location), self._observed))
            for s in trace.segments[:MAX_SEGMENTS]
        ]
        try:
            if not segments or self._followed(trace, segments, 0) is None:
                return None
            return self._followed(trace, segments, FURTHER_JUMPS)
        except _UndecidedError:
            return None

    def _followed(
        self, trace: Trace, segments: list[list[Sample]], further: int
    ) -> Mismatch | None:
        """Where no abstract run follows that makes at each interruption as many jumps as the
        detailed one or fewer; with `further`, any number."""
        jumps = jumps_before(trace)
        frontier: list[_Partial] = []
        for k, samples in enumerate(segments):
            frontier = self._interrupted(frontier, samples[0], k, jumps[k], further)
            if not frontier:
                why = "no edge leads to these values, nor does standing still"
                why = why if k else "no initial state has these values"
                return self._described(trace, k, samples[0], why)
            staying = self._staying(frontier, samples, k)
            if not staying:
                return self._first_failure(trace, frontier, samples, k)
            frontier = _limited(staying)
        return None

    def _first_failure(
        self, trace: Trace, frontier: list[_Partial], samples: list[Sample], k: int
    ) -> Mismatch:
        count = next(
            n for n in range(1, len(samples) + 1) if not self._staying(frontier, samples[:n], k)
        )
        why = "invariants and flows allow no abstract location here"
        return self._described(trace, k, samples[count - 1], why)

    def _described(self, trace: Trace, k: int, sample: Sample, why: str) -> Mismatch:
        shown = {n: v for n, v in sample.values.items() if n in self._observed}
        shown |= {f"d({n})": r for n, r in sample.rates.items() if n in self._observed}
        jumps = sum(len(events) for _, events, _ in islice(trace.transitions(), k))
        return Mismatch(sample.time, trace.segments[k].location, shown, why, jumps)

    # Questions

    def _starts(self, first: Sample | None) -> list[_Partial]:
        """The abstract initial states; they are not observed if a jump follows at once."""
        found = []
        for start in self._abstract.initial_sets():
            place = self._abstract.location(start.location)
            before = self._at("before")
            if first is not None:
                self._seen(first, before)
            after = self._at("0.0" if first is not None else "-1.end")
            condition = conjunction(
                substitute(start.condition, before),
                self._jump(start.resets, place, before, after),
                TRUE if first is None else self._seen(first, after),
                self._holds(place, after),
                equal(after[TIME], 0) if TIME in after else TRUE,
            )
            if self._possible(condition):
                found.append(_Partial(start.location, condition))
        return found

    def _interrupted(
        self, frontier: list[_Partial], first: Sample, k: int, count: int, further: int
    ) -> list[_Partial]:
        """Where the abstract automaton can be when time goes on: after no jump, or after some,
        between which nothing is observed."""
        if k == 0:
            found = dict.fromkeys(self._starts(first))
            frontier = self._starts(None) if further else []
        else:
            found = dict.fromkeys(self._moved(frontier, first, k, 0, self._standing))
        for i in range(count + further):
            found |= dict.fromkeys(self._moved(frontier, first, k, i, self._jumping))
            if i + 1 < count or further:
                frontier = _limited(self._moved(frontier, None, k, i, self._jumping))
        if further:
            ending = self._moved(frontier, first, k, count + further, self._wandering)
            found |= dict.fromkeys(ending)
        return list(found)

    def _moved(
        self,
        frontier: list[_Partial],
        first: Sample | None,
        k: int,
        i: int,
        options: Callable[[str, _Names, _Names], _Options],
    ) -> list[_Partial]:
        """One step after `i` jumps; the state after it is observed, or not yet."""
        found: dict[_Partial, None] = {}
        before = self._at(f"{k - 1}.end" if i == 0 else f"{k}.jump{i}")
        after = self._at(f"{k}.jump{i + 1}" if first is None else f"{k}.0")
        for partial in frontier:
            for target, change in options(partial.place, before, after):
                condition = conjunction(
                    partial.known,
                    change,
                    TRUE if first is None else self._seen(first, after),
                    self._holds(self._abstract.location(target), after),
                )
                if self._possible(condition):
                    found[_Partial(target, self._remembered(condition, first))] = None
        return list(found)

    def _standing(self, place: str, before: _Names, after: _Names) -> _Options:
        yield place, self._jump((), self._abstract.location(place), before, after)

    def _jumping(self, place: str, before: _Names, after: _Names) -> _Options:
        here = self._abstract.location(place)
        for e in self._abstract.edges_from(place):
            if e.target != place or e.resets:
                change = self._jump(e.resets, self._abstract.location(e.target), before, after)
                guard = limit_of(e.guard, self._abstract, here) if e.urgent else e.guard
                yield e.target, conjunction(substitute(guard, before), change)

    def _wandering(self, place: str, before: _Names, after: _Names) -> _Options:
        """Any number of jumps, guards ignored: what no jump on the way assigns stays, and what
        they assign is one of the values they can assign, where these are constants."""
        places, changed = {place: None}, set[str]()
        assigned: dict[str, list[Range]] = {}
        pending = [place]
        while pending:
            for e in self._abstract.edges_from(pending.pop()):
                target = self._abstract.location(e.target)
                changed |= {c.variable for c in target.algebraic} | self._free_in(target)
                for reset in e.resets:
                    assigned.setdefault(reset.variable, []).append(reset.range)
                if e.target not in places:
                    places[e.target] = None
                    pending.append(e.target)
        if len(places) > MAX_FRONTIER:
            raise _UndecidedError
        kept = conjunction(
            *self._kept(changed | assigned.keys(), before, after),
            *(
                self._assigned(v, assigned[v.name], before[v.name], after[v.name])
                for v in self._abstract.variables
                if v.name in assigned and v.name not in changed
            ),
        )
        for name in places:
            yield name, kept

    def _assigned(
        self, v: Variable, ranges: list[Range], before: Expression, after: Expression
    ) -> Expression:
        """That a value is the one before or in one of some ranges, if these are constant."""
        if any(free_variables(b) for r in ranges for b in (r.low, r.high) if b is not None):
            return TRUE
        chosen = (substitute(value_in("new", r), {"new": after}) for r in dict.fromkeys(ranges))
        return disjunction(_same(after, before, v.type), *chosen)

    def _remembered(self, condition: Expression, last: Sample | None) -> Expression:
        """What a later step must know: nothing, where every abstract value is observed; else the
        latest of it, since with less known more is possible."""
        if last is not None and self._names.keys() <= self._observed:
            return TRUE
        return conjunction(*conjuncts(condition)[-MAX_REMEMBERED:])

    def _staying(self, frontier: list[_Partial], samples: list[Sample], k: int) -> list[_Partial]:
        found: list[_Partial] = []
        for partial in frontier:
            place = self._abstract.location(partial.place)
            parts = [partial.known]
            for j, sample in enumerate(samples):
                names = self._at(f"{k}.{j}")
                parts += [self._seen(sample, names), self._holds(place, names)]
                parts.append(self._flows(place, sample, names))
                if j + 1 < len(samples):
                    parts.append(self._not_stopped(place, names))
                if j > 0:
                    step = Fraction(sample.time) - Fraction(samples[j - 1].time)
                    moved = names.keys() - sample.rates.keys()
                    parts.append(self._change(place, step, moved, self._at(f"{k}.{j - 1}"), names))
            last, end = self._at(f"{k}.{len(samples) - 1}"), self._at(f"{k}.end")
            parts += [_same(end[n], last[n], t) for n, t in self._names.items()]
            self._seen(samples[-1], end)
            condition = conjunction(*parts)
            if self._possible(condition):
                known = self._remembered(condition, samples[-1])
                if known == TRUE:
                    known = self._seen(samples[-1], end)
                found.append(_Partial(partial.place, known))
        return found

    def _possible(self, condition: Expression) -> bool:
        """Whether the solver leaves it open; the observed values themselves often do."""
        if self._holds_as_seen(condition):
            return True
        if is_over():
            raise _UndecidedError
        types = {
            name: self._types[own]
            for name in free_variables(condition)
            if (own := name.partition("@")[0]) in self._types
        }
        return not isinstance(satisfiable(condition, types, within_time(LIMITS)), Unsatisfiable)

    def _holds_as_seen(self, condition: Expression) -> bool:
        if not free_variables(condition) <= self._nominal.keys():
            return False
        try:
            return evaluate(condition, self._nominal) is True
        except (EvaluationError, KeyError):
            return False

    def _at(self, moment: str) -> dict[str, Expression]:
        """The abstract names at a moment. Parameters never change."""
        fixed = {p.name for p in self._abstract.parameters}
        return {n: variable(f"{n}@" if n in fixed else f"{n}@{moment}") for n in self._names}

    def _seen(self, sample: Sample, names: Mapping[str, Expression]) -> Expression:
        parts = []
        for n in sorted(self._observed & self._names.keys()):
            value = sample.time if n == TIME else sample.values.get(n)
            if value is None or value != value:
                continue
            parts.append(near(names[n], value, self._names[n]))
            exact = value if isinstance(value, bool | str) else Fraction(value)
            self._nominal[names[n].name] = exact
        return conjunction(*parts)

    def _holds(self, place: Location, names: Mapping[str, Expression]) -> Expression:
        signals: tuple[Input | Parameter, ...] = (
            *self._abstract.inputs,
            *self._abstract.parameters,
        )
        bounds = [
            part
            for s in signals
            for part in (
                TRUE if s.low is None else variable(s.name) >= s.low,
                TRUE if s.high is None else variable(s.name) <= s.high,
            )
        ]
        algebra = (value_in(c.variable, c.range) for c in place.algebraic)
        everything = conjunction(place.invariant, *algebra, *bounds, self._abstract.assumption)
        return substitute(everything, names)

    def _flows(
        self, place: Location, sample: Sample, names: Mapping[str, Expression]
    ) -> Expression:
        parts = []
        for flow in place.flows:
            rate = sample.rates.get(flow.variable)
            if rate is None or rate != rate:
                continue
            seen = Fraction(rate)
            slack = RATE_TOLERANCE * (1 + abs(seen))
            allowed = flow.range.substitute(names)
            if allowed.low is not None:
                parts.append(constant(seen + slack) >= allowed.low)
            if allowed.high is not None:
                parts.append(constant(seen - slack) <= allowed.high)
        return conjunction(*parts)

    def _not_stopped(self, place: Location, names: Mapping[str, Expression]) -> Expression:
        urgent = [e for e in self._abstract.edges_from(place.name) if e.urgent]
        return conjunction(*(negation(substitute(e.guard, names)) for e in urgent))

    def _change(
        self, place: Location, step: Fraction, moved: Set[str], before: _Names, after: _Names
    ) -> Expression:
        """How far variables whose derivatives are not seen can move in one step: by constant
        bounds of these, where they have such; discrete ones stay."""
        parts: list[Expression] = []
        for v in self._abstract.variables:
            if v.name not in moved:
                continue
            if v.kind is Kind.DISCRETE and v.name != TIME:
                if v.name not in self._observed:
                    parts.append(_same(after[v.name], before[v.name], v.type))
                continue
            allowed = Range.exactly(constant(1)) if v.name == TIME else place.flow_of(v.name)
            slack = VALUE_TOLERANCE * (1 + step)
            change = after[v.name] - before[v.name]
            if allowed.low is not None and allowed.low.is_constant:
                parts.append(change >= allowed.low.constant * step - slack)
            if allowed.high is not None and allowed.high.is_constant:
                parts.append(change <= allowed.high.constant * step + slack)
        return conjunction(*parts)

    def _jump(
        self,
        resets: tuple[Constraint, ...],
        target: Location,
        before: Mapping[str, Expression],
        after: Mapping[str, Expression],
    ) -> Expression:
        """The abstract values after a jump; observed ones need only be near those seen."""
        defined = {c.variable for c in target.algebraic}
        names = {**before, **{primed(n): e for n, e in after.items()}}
        parts: list[Expression] = []
        for number, reset in enumerate(resets):
            new = names.get(primed(reset.variable))
            if new is None or reset.variable in defined:
                new = variable(
                    f"{reset.variable}@assigned {number} {sorted(map(str, after.values()))[:1]}"
                )
                names[primed(reset.variable)] = new
            chosen = reset.range.substitute(names)
            parts.append(substitute(value_in("new", chosen), {"new": new}))
        changed = {r.variable for r in resets} | defined | self._free_in(target)
        return conjunction(*parts, *self._kept(changed, before, after))

    def _kept(self, changed: Set[str], before: _Names, after: _Names) -> Iterator[Expression]:
        for v in self._abstract.variables:
            if v.name not in changed:
                yield _same(after[v.name], before[v.name], v.type)

    def _free_in(self, place: Location) -> set[str]:
        """What may change at will as soon as time passes, and need not wait for it here."""
        moving = {c.variable for c in place.flows}
        return {
            v.name
            for v in self._abstract.variables
            if v.kind is Kind.ANALOG and v.name != TIME and v.name not in moving
        }


def _limited(frontier: list[_Partial]) -> list[_Partial]:
    if len(frontier) > MAX_FRONTIER:
        raise _UndecidedError
    return frontier


def _same(left: Expression, right: Expression, kind: ValueType) -> Expression:
    if left == right:
        return TRUE
    if kind.name == "bool":
        return (left & right) | (negation(left) & negation(right))
    return equal(left, right)
