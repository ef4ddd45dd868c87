"""Can the abstract automaton do what a run of the detailed one shows?

The observed values of a run are read at sample times. For every abstract location that could
stand for a stretch of the run there is one question to the solver: are there values within a
tolerance of what was observed, and any values of what is not observed, that satisfy invariant,
flow, guards and resets at the samples? Only necessary conditions are asked, so "no" for every
choice of locations and edges means that no abstract run matches; it is exact up to the
tolerance of the simulator, which the questions allow for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from abstraction.refinement.outcome import Mismatch
from abstraction.refinement.questions import types_of
from models.automaton import (
    TIME,
    Automaton,
    Constraint,
    Input,
    Kind,
    Location,
    Parameter,
    Range,
    ValueType,
    primed,
)
from models.expressions.evaluation import EvaluationError, evaluate
from models.expressions.expression import (
    TRUE,
    Expression,
    conjunction,
    constant,
    equal,
    negation,
    symbol,
    variable,
)
from models.expressions.ranges import value_in
from models.expressions.traversal import free_variables, substitute
from models.smt.solver import Limits, Unsatisfiable, satisfiable
from models.trace import Segment, Trace

SAMPLES = 9
MAX_FRONTIER = 64
VALUE_TOLERANCE = Fraction(1, 100_000)
RATE_TOLERANCE = Fraction(1, 1_000)
LIMITS = Limits(resources=2_000_000, milliseconds=1_000)


@dataclass(frozen=True)
class _Sample:
    """What is seen of a run at one moment; `rates` only where time passes."""

    time: float
    values: Mapping[str, float | bool | str]
    rates: Mapping[str, float]


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
        segments = [list(self._samples(s)) for s in trace.segments]
        if not segments:
            return None
        jumps = _jumps_before(trace)
        first = segments[0][0]
        frontier = self._starts(first)
        if not frontier:
            return self._described(trace, 0, first, "no initial state has these values")
        for k, samples in enumerate(segments):
            for i in range(jumps[k]):
                seen = samples[0] if i == jumps[k] - 1 else None
                frontier = self._after_jump(frontier, seen, k, i)
            if not frontier:
                why = "no edge leads to these values, nor does standing still"
                return self._described(trace, k, samples[0], why)
            staying = self._staying(frontier, samples, k)
            if not staying:
                return self._first_failure(trace, frontier, samples, k)
            if len(staying) > MAX_FRONTIER:
                return None
            frontier = staying
        return None

    def _first_failure(
        self, trace: Trace, frontier: list[_Partial], samples: list[_Sample], k: int
    ) -> Mismatch:
        count = next(
            n for n in range(1, len(samples) + 1) if not self._staying(frontier, samples[:n], k)
        )
        why = "invariants and flows allow no abstract location here"
        return self._described(trace, k, samples[count - 1], why)

    def _described(self, trace: Trace, k: int, sample: _Sample, why: str) -> Mismatch:
        shown = {n: v for n, v in sample.values.items() if n in self._observed}
        shown |= {f"d({n})": r for n, r in sample.rates.items() if n in self._observed}
        return Mismatch(sample.time, trace.segments[k].location, shown, why, k)

    # What is seen

    def _samples(self, segment: Segment) -> Iterator[_Sample]:
        span = segment.end - segment.start
        if span <= 0:
            yield _Sample(segment.start, segment.valuation(segment.start), {})
            return
        for i in range(SAMPLES):
            t = segment.start + span * i / (SAMPLES - 1)
            values = segment.valuation(t)
            yield _Sample(t, values, self._rates(segment, t, values))

    def _rates(
        self, segment: Segment, t: float, values: Mapping[str, float | bool | str]
    ) -> dict[str, float]:
        """Derivatives: from the equation where there is one, else from the dense output."""
        found: dict[str, float] = {}
        for flow in self._detailed.location(segment.location).flows:
            if flow.variable not in self._observed:
                continue
            rate = _from_equation(flow, values)
            if rate is None:
                rate = _slope(segment, flow.variable, t)
            if rate is not None:
                found[flow.variable] = rate
        return found

    # Questions

    def _starts(self, first: _Sample | None) -> list[_Partial]:
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

    def _after_jump(
        self, frontier: list[_Partial], first: _Sample | None, k: int, i: int
    ) -> list[_Partial]:
        """One abstract jump, or none; the state after it is not observed if the detailed
        automaton goes on jumping at once."""
        found: dict[_Partial, None] = {}
        before = self._at(f"{k - 1}.end" if i == 0 else f"{k}.jump{i}")
        after = self._at(f"{k}.jump{i + 1}" if first is None else f"{k}.0")
        for partial in frontier:
            here = self._abstract.location(partial.place)
            options = [(partial.place, self._jump((), here, before, after))]
            for e in self._abstract.edges_from(partial.place):
                change = self._jump(e.resets, self._abstract.location(e.target), before, after)
                options.append((e.target, conjunction(substitute(e.guard, before), change)))
            for target, change in options:
                condition = conjunction(
                    partial.known,
                    change,
                    TRUE if first is None else self._seen(first, after),
                    self._holds(self._abstract.location(target), after),
                )
                if self._possible(condition):
                    found[_Partial(target, self._remembered(condition, first))] = None
        return list(found)

    def _remembered(self, condition: Expression, last: _Sample | None) -> Expression:
        """What a later step must know: nothing, where every abstract value is observed."""
        return TRUE if last is not None and self._names.keys() <= self._observed else condition

    def _staying(self, frontier: list[_Partial], samples: list[_Sample], k: int) -> list[_Partial]:
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
                    parts.append(self._unseen_change(place, step, self._at(f"{k}.{j - 1}"), names))
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
        types = {
            name: self._types[own]
            for name in free_variables(condition)
            if (own := name.partition("@")[0]) in self._types
        }
        return not isinstance(satisfiable(condition, types, LIMITS), Unsatisfiable)

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

    def _seen(self, sample: _Sample, names: Mapping[str, Expression]) -> Expression:
        parts = []
        for n in sorted(self._observed & self._names.keys()):
            value = sample.time if n == TIME else sample.values.get(n)
            if value is None or value != value:
                continue
            parts.append(_near(names[n], value, self._names[n]))
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
        self, place: Location, sample: _Sample, names: Mapping[str, Expression]
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

    def _unseen_change(
        self,
        place: Location,
        step: Fraction,
        before: Mapping[str, Expression],
        after: Mapping[str, Expression],
    ) -> Expression:
        """How far variables that are not observed can move in one step: by constant bounds of
        their derivatives, where they have such; discrete ones stay."""
        parts: list[Expression] = []
        for v in self._abstract.variables:
            if v.name in self._observed:
                continue
            if v.kind is Kind.DISCRETE and v.name != TIME:
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
        changed = {r.variable for r in resets} | defined
        parts.extend(
            _same(after[v.name], before[v.name], v.type)
            for v in self._abstract.variables
            if v.name not in changed
        )
        return conjunction(*parts)


def _jumps_before(trace: Trace) -> list[int]:
    """How many jumps the run makes before each segment. Where segments meet without a jump, the
    abstract automaton is granted one."""
    return [0, *(max(len(jumps), 1) for _, jumps, _ in trace.transitions())]


def _from_equation(flow: Constraint, values: Mapping[str, float | bool | str]) -> float | None:
    """The derivative that an equation gives, unless it speaks of inputs."""
    if flow.range.exact is None:
        return None
    try:
        value = evaluate(flow.range.exact, dict(values))
    except (EvaluationError, KeyError):
        return None
    return None if isinstance(value, bool | str) else float(value)


def _slope(segment: Segment, name: str, t: float) -> float | None:
    """The derivative of the dense output."""
    if name not in segment.flowing:
        return 0.0 if name in segment.held else None
    number = segment.flowing.index(name)
    for start, end, rows in segment.pieces():
        if start <= t <= end:
            s = t - start
            return sum(i * c * s ** (i - 1) for i, c in enumerate(rows[number]) if i > 0)
    return None


def _near(value: Expression, seen: float | bool | str, kind: ValueType) -> Expression:
    if isinstance(seen, bool):
        return value if seen else negation(value)
    if isinstance(seen, str):
        return equal(value, symbol(seen))
    exact = Fraction(seen)
    slack = VALUE_TOLERANCE * (1 + abs(exact)) if kind.name == "real" else Fraction(1, 4)
    return conjunction(value >= exact - slack, value <= exact + slack)


def _same(left: Expression, right: Expression, kind: ValueType) -> Expression:
    if left == right:
        return TRUE
    if kind.name == "bool":
        return (left & right) | (negation(left) & negation(right))
    return equal(left, right)
