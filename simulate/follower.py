"""Follows a trace by enclosures; the specification is in `simulate.validated`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import flint

from models.automaton import (
    TIME,
    Automaton,
    Constraint,
    Edge,
    Initial,
    Property,
    Range,
    Variable,
    primed,
)
from models.differentiate import NotDifferentiableError, lie_derivative
from models.dynamics import eliminate_algebraic
from models.evaluation import EvaluationError, evaluate, holds
from models.expression import (
    ONE,
    ZERO,
    Expression,
    add,
    conjunction,
    constant,
    multiply,
    negation,
    subtract,
    variable,
)
from models.normal_form import negation_normal_form
from models.operators import COMPARISONS, Op
from models.polynomial import PolynomialTooLargeError, polynomial_form
from models.simplify import simplify
from models.trace import Event, Segment, Trace
from models.traversal import postorder, substitute
from simulate.balls import BallEvaluator, GaveUp, ball, depth, ends, sign_test, truth
from simulate.enclosure import SmoothFlow, StateSet, Step
from simulate.initial import box_of
from simulate.jump import edge_name
from simulate.signals import Formula, Signal, Steps, line_at
from simulate.validated import Enclosed, ProvedJump, ValidatedRun, bounds_of

MARGINS = (1e-7, 1e-5, 1e-3)
"""How far before and after a simulated event its true time is looked for, relative to 1 + t."""

WIDEST = 0.1
"""An enclosure wider than this, relative to 1 + |x|, proves nothing worth having."""

SHORTEST = 1e-9
NEWTON_ROUNDS = 20
Decide = Callable[[Expression], bool | None]


class Follower:
    """The state of one proof."""

    def __init__(
        self,
        automaton: Automaton,
        trace: Trace,
        inputs: Mapping[str, Signal],
        claim: Property | None,
    ):
        self.view = eliminate_algebraic(automaton)
        self.trace, self.inputs = trace, inputs
        self.following: Segment | None = None  # the segment after the one at hand
        self.claim = next((p for p in self.view.properties if claim and p.name == claim.name), None)
        self.enclosures: list[Enclosed] = []
        self.jumps: list[ProvedJump] = []
        self.violation: Enclosed | None = None
        self.depth = 0.0
        self.zeros: frozenset[object] = frozenset()
        self.time = flint.arb(0)
        self.values: dict[str, Any] = {}
        self.flow: SmoothFlow
        self._start()

    def result(self, reason: str | None) -> ValidatedRun:
        """What has been proved so far."""
        bounds = bounds_of(self.values)
        return ValidatedRun(
            tuple(self.enclosures),
            tuple(self.jumps),
            ends(self.time),
            reason,
            self.violation,
            {n: high - low for n, (low, high) in bounds.items()},
            self.depth,
        )

    def follow(self) -> None:
        """Go through the trace segment by segment."""
        for segment, due, following in self.trace.transitions():
            self.following = following
            self._stay(segment, due)
        self.following = None
        self._stay(self.trace.segments[-1], ())
        if self.claim is not None:
            self._look_for_violation()

    def _stay(self, segment: Segment, due: Sequence[Event]) -> None:
        """One segment, and the jumps that end it."""
        if segment.location != self.location:
            raise GaveUp(f"the trace goes on in `{segment.location}`, the proof does not")
        if segment.sliding:
            raise GaveUp(
                f"the run goes on in a limit, `{segment.sliding}`: no run of the model does"
            )
        self._enter(segment)
        if segment.is_instant:
            at_once = due
        elif due:
            self._leave(segment, due[0])
            at_once = due[1:]
        else:
            self._pass(segment.end - float(self.time.mid()))
            at_once = ()
        for event in at_once:
            self._at_once(event)

    # The first state

    def _start(self) -> None:
        first = self.trace.segments[0]
        raw = first.valuation(first.start)
        for parameter in self.view.parameters:
            value = simple(self.trace.parameters[parameter.name])
            low, high = parameter.low, parameter.high
            value = value if low is None else max(low, value)
            self.values[parameter.name] = value if high is None else min(high, value)
        given = {v.name: _exact(v, raw[v.name]) for v in self.view.variables if v.name != TIME}
        self.location = first.location
        self.forms, _ = self._inputs(first)
        for start in self.view.initial_sets():
            if start.location == self.location:
                found = self._entered(start, {**self.values, **given, TIME: Fraction(0)})
                if found is not None:
                    self.values = {n: _as_ball(v) for n, v in found.items()}
                    self.values[TIME] = flint.arb(0)
                    self._check_invariant(self.location)
                    return
        raise GaveUp("the first state could not be shown to be initial")

    def _entered(self, start: Initial, after: dict[str, Any]) -> dict[str, Any] | None:
        """The state after the entry of an initial set, if the set contains a state from which
        the entry leads there."""
        if any(n.op in _INEXACT for n in postorder(start.condition)):
            raise GaveUp("the initial set is not defined by rational arithmetic")
        before = dict(after)
        box = box_of(start.condition)
        for reset in start.resets:
            name = reset.variable
            if name in before and isinstance(before[name], Fraction):
                low, high = box.low.get(name), box.high.get(name)
                value = before[name] if low is None else max(low, before[name])
                before[name] = value if high is None else min(high, value)
        try:
            for name, value in box.defined:
                if name in before:
                    before[name] = evaluate(value, before)
            if not holds(start.condition, before):
                return None
            state = dict(before)
            for reset in start.resets:
                value = _within(reset.range, before, after.get(reset.variable))
                before[primed(reset.variable)] = state[reset.variable] = value
        except EvaluationError:
            return None
        return {n: v for n, v in state.items() if n in after}

    # Letting time pass

    def _enter(self, segment: Segment) -> None:
        """The equations of a segment, with what is left open chosen as in the trace."""
        location = self.view.location(self.location)
        forms, allowed = self._inputs(segment)
        flows: dict[str, Expression] = {}
        for c in location.flows:
            if c.variable != TIME:
                flows[c.variable] = self._rate(c, forms, segment)
        flows = {n: f for n, f in flows.items() if f != ZERO}
        flows[TIME] = ONE
        held = {n: v for n, v in self.values.items() if n not in flows}
        self.flow = SmoothFlow(flows, held)
        self.forms = forms
        self.invariant = conjunction(substitute(location.invariant, forms), allowed)
        self.calm = substitute(
            conjunction(
                *(
                    negation_normal_form(negation(e.guard))
                    for e in self.view.edges_from(self.location)
                    if e.urgent
                )
            ),
            forms,
        )

    def _inputs(self, segment: Segment) -> tuple[dict[str, Expression], Expression]:
        """The inputs of a segment, and that they keep their ranges and the assumption."""
        forms: dict[str, Expression] = {}
        must: list[Expression] = [self.view.assumption]
        for given in self.view.inputs:
            forms[given.name] = form = self._input(given.name, given.low, given.high, segment)
            must += [] if given.low is None else [form >= constant(given.low)]
            must += [] if given.high is None else [form <= constant(given.high)]
        return forms, substitute(conjunction(*must), forms)

    def _input(
        self, name: str, low: Fraction | None, high: Fraction | None, segment: Segment
    ) -> Expression:
        signal = self.inputs.get(name)
        if isinstance(signal, Formula):
            return signal.expression
        recorded = segment.is_instant and isinstance(signal, Steps) and name in segment.held
        if signal is not None and not recorded:
            level, slope = line_at(signal, segment.start)
            if isinstance(signal, Steps) or slope == 0.0:
                return constant(simple(level))
            return constant(simple(level)) + constant(simple(slope)) * variable(TIME)
        known = segment.held.get(name)
        if isinstance(known, float):
            value = simple(known)
        elif low is not None and high is not None:
            value = (low + high) / 2
        else:
            value = low if low is not None else (high if high is not None else Fraction(0))
        value = value if low is None else max(low, value)
        return constant(value if high is None else min(high, value))

    def _rate(self, c: Constraint, forms: Mapping[str, Expression], segment: Segment) -> Expression:
        """A derivative; out of an inclusion the one that the trace shows."""
        given = c.range.substitute(forms)
        if given.exact is not None:
            return given.exact
        if given.low is None or given.high is None:
            return given.low or given.high or ZERO
        shown = 0.0
        if c.variable in segment.flowing and segment.degrees:
            i, width = segment.flowing.index(c.variable), segment.degrees[0] + 1
            shown = segment.coefficients[i * width + 1] if width > 1 else 0.0
        values = segment.valuation(segment.start)
        try:
            low = float(evaluate(given.low, values))
            high = float(evaluate(given.high, values))
        except EvaluationError as error:
            raise GaveUp(f"an inclusion has no value: {error}") from error
        share = Fraction(1, 2) if high <= low else simple((shown - low) / (high - low))
        share = min(max(share, Fraction(0)), Fraction(1))
        return add(given.low, multiply(share, subtract(given.high, given.low)))

    def _set(self) -> StateSet:
        return StateSet.of_box([self.values[n] for n in self.flow.names])

    def _pass(self, duration: float) -> None:
        """Let time pass, and prove that this is allowed."""
        state, h, length = self._set(), max(duration, SHORTEST), duration
        while length > 0.0:
            step = self.flow.step(state, min(h, length))
            while not self._allowed(step, step.h):
                h = float(step.h) / 2
                if h < SHORTEST:
                    raise GaveUp(
                        f"the invariant of `{self.location}` could not be shown near"
                        f" t = {float(self.time.mid()):.9g}"
                    )
                step = self.flow.step(state, h)
            self._record(step, step.h)
            state = self.flow.image(step, step.h)
            self._arrive(state.box, step.h)
            length -= float(step.h)
            h = 2.0 * float(step.h)

    def _record(self, step: Step, until: Any) -> None:
        box = self.flow.values(step.tube(flint.arb(0).union(until)))
        low, high = ends(self.time)[0], ends(self.time + until)[1]
        self.enclosures.append(Enclosed(low, high, self.location, bounds_of(box)))

    def _arrive(self, box: list[Any], elapsed: Any) -> None:
        self.values = self.flow.values(box)
        self.time = self.time + elapsed
        if self.values[TIME].overlaps(self.time):
            self.values[TIME] = self.values[TIME].intersection(self.time)
        if not elapsed.is_zero():
            self.zeros = frozenset()
        for name, value in self.values.items():
            if isinstance(value, flint.arb) and not (
                float(value.rad()) <= WIDEST * (1.0 + abs(float(value.mid())))
            ):
                raise GaveUp(f"the enclosure of `{name}` became too wide")

    def _allowed(self, step: Step, until: Any, crossing: object = None, sign: int = 0) -> bool:
        """Whether, in a step up to a time, the invariant holds and no urgent edge is enabled;
        `crossing` has the given sign before that time and is zero then."""
        way = self.flow.values(step.tube(flint.arb(0).union(until)))
        start = self.flow.values(step.start.box)

        def decide(node: Expression, closed: bool) -> bool | None:
            if crossing is not None and _key(node) == crossing:
                before = sign_test(node.op, flint.arb(sign * _orientation(node)))
                end = sign_test(node.op, flint.arb(0)) if closed else True
                return bool(before and end)
            return self._keeps(node, start, way)

        return (
            truth(self.invariant, way, lambda n: decide(n, True)) is True
            and truth(self.calm, way, lambda n: decide(n, False)) is True
        )

    def _keeps(
        self, node: Expression, start: Mapping[str, Any], way: Mapping[str, Any]
    ) -> bool | None:
        """Whether g >= 0 at the start and g does not fall on the way."""
        if node.op not in (Op.LESS, Op.LESS_EQUAL, Op.GREATER, Op.GREATER_EQUAL):
            return None
        left, right = node.args
        upward = node.op in (Op.GREATER, Op.GREATER_EQUAL)
        g = subtract(left, right) if upward else subtract(right, left)
        try:
            (first,) = BallEvaluator(g)(start)
            (slope,) = BallEvaluator(lie_derivative(g, self.flow.flows))(way)
        except (GaveUp, NotDifferentiableError):
            return None
        strict = node.op in (Op.LESS, Op.GREATER)
        holds_first = first > 0 if strict else first >= 0 or _key(node) in self.zeros
        return True if holds_first and slope >= 0 else None

    # Jumps

    def _leave(self, segment: Segment, event: Event) -> None:
        before = self.values, self.time, self.zeros, self.forms, self.location
        count = len(self.enclosures)
        problem = GaveUp(f"the trace takes `{event.name}`, which the model does not have here")
        for edge in self._edges(event):
            for attempt in self._attempts(edge, segment, event):
                try:
                    attempt()
                    self._take(edge, event)
                    return
                except GaveUp as stopped:
                    problem = stopped
                    self.values, self.time, self.zeros, self.forms, self.location = before
                    del self.enclosures[count:]
        raise problem

    def _edges(self, event: Event) -> Iterable[Edge]:
        for edge in self.view.edges_from(self.location):
            if edge_name(edge) == event.name and edge.target == event.target:
                yield edge

    def _attempts(self, edge: Edge, segment: Segment, event: Event) -> Iterable[Callable[[], None]]:
        """Ways to reach an edge: where its guard becomes true, or at the simulated time, with
        the inputs before or after a step that they make then."""
        duration = segment.end - float(self.time.mid())
        guard = substitute(edge.guard, self.forms)
        for node in self._near(guard, segment):
            for margin in MARGINS:
                scaled = margin * (1.0 + abs(segment.end))
                yield lambda n=node, m=scaled: self._cross(n, duration, m)  # type: ignore[misc]
        yield lambda: self._pass(duration)
        if self._input_steps():
            yield lambda: self._pass_to_step(duration, event)
        if not edge.urgent:  # a little earlier, before the invariant ends
            for margin in MARGINS:
                scaled = margin * (1.0 + abs(segment.end))
                yield lambda m=scaled: self._pass(duration - m)  # type: ignore[misc]

    def _input_steps(self) -> bool:
        """Whether the inputs of the next segment are others than those known to the proof."""
        return self.following is not None and self._inputs(self.following)[0] != self.forms

    def _pass_to_step(self, duration: float, event: Event) -> None:
        """Let time pass with the inputs as they are, and then give them the values that they
        have after an event. (Inputs are free: their step may come at any time.)"""
        self._pass(duration)
        assert self.following is not None, "inputs step only where the trace goes on"
        self.forms, allowed = self._inputs(self.following)
        if truth(allowed, self.values, self._zero) is not True:
            raise GaveUp(f"the inputs after `{event.name}` could not be shown to be allowed")

    def _near(self, guard: Expression, segment: Segment) -> list[Expression]:
        """The comparisons of a guard that are about to change at the end of a segment."""
        values = segment.valuation(segment.end)
        values.update({n: float(v) for n, v in self.trace.parameters.items()})
        found = []
        for node in postorder(guard):
            if node.op in COMPARISONS and node.op is not Op.NOT_EQUAL:
                try:
                    left, right = (float(evaluate(a, values)) for a in node.args)
                except (EvaluationError, ValueError, TypeError):
                    continue
                if abs(left - right) <= 1e-5 * (1.0 + abs(left) + abs(right)):
                    found.append(node)
        return found

    def _cross(self, node: Expression, duration: float, margin: float) -> None:
        """Go to the time at which a comparison of a guard becomes true."""
        if duration > margin:
            self._pass(duration - margin)
        g = _difference(node)
        try:
            rate = BallEvaluator(lie_derivative(g, self.flow.flows))
        except NotDifferentiableError as error:
            raise GaveUp(f"the guard is not smooth: {error}") from error
        value = BallEvaluator(g)
        state = self._set()
        reach = min(2.0 * margin, margin + max(duration, 0.0))
        step = self.flow.step(state, reach)
        (first,) = value(self.flow.values(state.box))
        sign = 1 if first > 0 else (-1 if first < 0 else 0)
        if sign == 0:
            raise GaveUp("the guard is too close to zero before the event")
        when = self._newton(step, value, rate)
        if not self._allowed(step, when, _key(node), sign * _orientation(node)):
            raise GaveUp(f"the invariant of `{self.location}` could not be shown at an event")
        self._record(step, when)
        self._arrive(step.tube(when), when)
        self.zeros = frozenset({_key(node)})
        self._sharpen(g)

    def _newton(self, step: Step, value: BallEvaluator, rate: BallEvaluator) -> Any:
        """The only time in a step at which g is zero, for every state of the set."""
        s, proved = flint.arb(0).union(step.h), False
        for _ in range(NEWTON_ROUNDS):
            (slope,) = rate(self.flow.values(step.tube(s)))
            if not slope.is_finite() or slope.contains(0):
                raise GaveUp("the guard is touched, not crossed (tangency)")
            middle = s.mid()
            (at,) = value(self.flow.values(self.flow.image(step, middle).box))
            image = middle - at / slope
            proved = proved or s.contains_interior(image)
            if not s.overlaps(image):
                raise GaveUp("the guard is not crossed near the simulated event")
            narrower = s.intersection(image)
            if proved and float(narrower.rad()) > 0.5 * float(s.rad()):
                return narrower
            s = narrower
        if not proved:
            raise GaveUp("the crossing of a guard could not be shown")
        return s

    def _sharpen(self, g: Expression) -> None:
        """Where g = a*x + b with numbers a and b is zero, x is known exactly."""
        form = _polynomial(g)
        if form is None:
            return
        names = [m for m in form if m]
        if len(names) == 1 and len(names[0]) == 1 and names[0][0][1] == 1:
            name = names[0][0][0]
            if name in self.values and name != TIME:
                self.values[name] = ball(-form.get((), Fraction(0)) / form[names[0]])

    def _at_once(self, event: Event) -> None:
        """A further jump at the same instant."""
        problem = GaveUp(f"`{event.name}` could not be shown to be enabled")
        before = self.values, self.zeros, self.location, self.forms
        for stepped in (False, True) if self._input_steps() else (False,):
            for edge in self._edges(event):
                try:
                    if stepped:
                        self._pass_to_step(0.0, event)
                    self._take(edge, event)
                    return
                except GaveUp as stopped:
                    problem = stopped
                    self.values, self.zeros, self.location, self.forms = before
        raise problem

    def _take(self, edge: Edge, event: Event) -> None:
        name = edge_name(edge)
        guard = substitute(edge.guard, self.forms)
        if truth(guard, self.values, self._zero) is not True:
            raise GaveUp(f"the guard of `{name}` could not be shown to hold")
        after = dict(self.values)
        scope = dict(self.values)
        shown = self._shown_after(event)
        for reset in edge.resets:
            value = self._reset_value(
                reset.range.substitute(self.forms), scope, shown.get(reset.variable)
            )
            scope[primed(reset.variable)] = value
            if reset.variable in after:
                after[reset.variable] = value
        changed = {c.variable for c in edge.resets}
        self.zeros = frozenset(k for k in self.zeros if not _mentions(k, changed))
        self.values = after
        self.location = edge.target
        self._check_invariant(edge.target)
        self.jumps.append(ProvedJump(ends(self.time), name, edge.target))

    def _shown_after(self, event: Event) -> Mapping[str, Any]:
        """The state after an event; nothing if others follow it at once, unrecorded."""
        later = self.following
        leads_there = later is not None and later.location == event.target
        return later.valuation(later.start) if later is not None and leads_there else {}

    def _reset_value(self, given: Range, scope: Mapping[str, Any], shown: Any) -> Any:
        if given.exact is not None:
            return BallEvaluator(given.exact)(scope)[0]
        low, high = (
            None if b is None else BallEvaluator(b)(scope)[0] for b in (given.low, given.high)
        )
        if isinstance(shown, float):
            value = ball(simple(shown))
            if (low is None or value >= low) and (high is None or value <= high):
                return value
        if low is None or high is None:
            return low if low is not None else (high if high is not None else ball(0))
        return (low + high) / 2

    def _zero(self, node: Expression) -> bool | None:
        return sign_test(node.op, flint.arb(0)) if _key(node) in self.zeros else None

    def _check_invariant(self, name: str) -> None:
        condition = substitute(self.view.location(name).invariant, self.forms)
        if truth(condition, self.values, self._zero) is not True:
            raise GaveUp(f"the invariant of `{name}` could not be shown on entry")

    # Violations

    def _look_for_violation(self) -> None:
        """Prove that the last state, or one shortly after it, is bad."""
        assert self.claim is not None
        bad = self.claim.bad_states(self.view.occupied(self.location))
        self._enter(self.trace.segments[-1])
        bad = substitute(bad, self.forms)
        span = 1.0 + abs(self.trace.end)
        ahead = 1e-9 * span
        while True:
            t, horizon = ends(self.time), self.view.horizon
            if horizon is not None and t[1] > horizon:
                raise GaveUp("the violation could not be shown within the model's horizon")
            if truth(bad, self.values, self._zero) is True:
                self.violation = Enclosed(*t, self.location, bounds_of(self.values))
                self.depth = depth(bad, self.values)
                return
            if ahead > 0.1 * span:
                raise GaveUp("no state near the end of the trace is certainly bad")
            self._pass(ahead)
            ahead *= 2.0


def simple(value: float) -> Fraction:
    """A rational near a float: a simple one if it is as near as printing can tell."""
    exact = Fraction(value)
    near = exact.limit_denominator(10**6)
    return near if abs(near - exact) <= Fraction(1, 10**9) * (1 + abs(exact)) else exact


def _within(given: Range, scope: Mapping[str, Any], wanted: Any) -> Any:
    """The value of a reset at exact values: the only one, or the wanted one if allowed."""
    low: Any = None if given.low is None else evaluate(given.low, scope)
    high: Any = None if given.high is None else evaluate(given.high, scope)
    if (low is not None and low == high) or not isinstance(wanted, Fraction):
        return low if low is not None else high
    wanted = wanted if low is None else max(low, wanted)
    return wanted if high is None else min(high, wanted)


def _exact(declared: Variable, value: Any) -> Any:
    if declared.type.values or declared.type.name == "bool":
        return value
    return Fraction(round(value)) if declared.type.name == "int" else simple(float(value))


def _as_ball(value: Any) -> Any:
    return ball(value) if isinstance(value, Fraction) else value


_INEXACT = frozenset(
    {Op.EXP, Op.LOG, Op.SIN, Op.COS, Op.TAN, Op.ASIN, Op.ACOS, Op.ATAN, Op.ATAN2, Op.SQRT}
    | {Op.EXTERNAL}
)


def _polynomial(g: Expression) -> dict[tuple[tuple[str, int], ...], Fraction] | None:
    try:
        return polynomial_form(g)
    except PolynomialTooLargeError:
        return None


def _difference(node: Expression) -> Expression:
    left, right = node.args
    return subtract(left, right)


def _key(node: Expression) -> object:
    """What a comparison tests, the same for all comparisons of proportional functions."""
    if node.op not in COMPARISONS:
        return node
    form = _polynomial(_difference(node))
    if form is None:
        return simplify(_difference(node))
    lead = next((form[m] for m in sorted(form) if m), None)
    if lead is None:
        return node
    return frozenset((m, c / lead) for m, c in form.items())


def _orientation(node: Expression) -> int:
    """The sign by which `left - right` differs from the key's function."""
    form = _polynomial(_difference(node)) or {}
    lead = next((form[m] for m in sorted(form) if m), Fraction(1))
    return 1 if lead > 0 else -1


def _mentions(key: object, names: set[str]) -> bool:
    if isinstance(key, frozenset):
        return any(n in names for monomial, _ in key for n, _ in monomial)
    return any(n.op is Op.VARIABLE and n.name in names for n in postorder(key))  # type: ignore[arg-type]
