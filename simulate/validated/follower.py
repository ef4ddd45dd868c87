"""Follows a simulated run by enclosures; see `simulate.validated.validated_run`."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from workbench.models.automaton import TIME, Automaton, Edge, Property
from workbench.models.dynamics import eliminate_algebraic
from workbench.models.expressions.evaluation import EvaluationError, evaluate
from workbench.models.expressions.expression import Expression
from workbench.models.expressions.operators import COMPARISONS, Op
from workbench.models.expressions.traversal import postorder, substitute
from workbench.models.trace import Event, Segment
from workbench.simulate.inputs.signals import Signal, Steps
from workbench.simulate.jump import edge_name
from workbench.simulate.validated.allowance import Allowance
from workbench.simulate.validated.arrival import arrive, is_singular
from workbench.simulate.validated.balls import GaveUp, ball, ends, shortened
from workbench.simulate.validated.crossing import cross
from workbench.simulate.validated.enclosure import KinkStep, SmoothStep, StateSet, Way
from workbench.simulate.validated.exact_choices import (
    Forms,
    after_resets,
    decimal,
    first_state,
    input_form,
)
from workbench.simulate.validated.known_state import KnownState, depth
from workbench.simulate.validated.observed_run import ObservedRun
from workbench.simulate.validated.stay import Stay, requirements_of
from workbench.simulate.validated.validated_run import Enclosed, ProvedJump, ValidatedRun, bounds_of

MARGINS = (Fraction(1, 10**7), Fraction(1, 10**5), Fraction(1, 10**3))
"""How far before and after a simulated event its true time is looked for, relative to 1 + t."""

WIDEST = 0.1
"""An enclosure wider than this, relative to 1 + |x|, proves nothing worth having."""

PARTS = 8
"""In so many parts the enclosure of a step is told."""

ARRIVAL = 20
"""A part of the way to where a run comes to rest is as much work as so many steps."""

MOST_STEPS = 20_000
"""So many steps one stretch of time may take; those onto a singularity shrink without end."""

SHORTEST = Fraction(1, 2**36)
Attempt = Callable[[], None]


@dataclass(frozen=True)
class Progress:
    """How far a proof has come."""

    location: str
    state: KnownState
    forms: Forms
    enclosures: tuple[Enclosed, ...] = ()
    jumps: tuple[ProvedJump, ...] = ()
    shape: StateSet | None = field(default=None, compare=False)

    @property
    def time(self) -> Any:
        """The time since the start of the run."""
        return self.state.values[TIME]


class Follower:
    """The state of one proof."""

    def __init__(
        self,
        automaton: Automaton,
        run: ObservedRun,
        inputs: Mapping[str, Signal],
        claim: Property | None,
        allowance: Allowance | None = None,
    ):
        self.allowance = allowance or Allowance()
        self.view = eliminate_algebraic(automaton)
        self.run, self.trace, self.inputs = run, run.trace, inputs
        self.claim = next((p for p in self.view.properties if claim and p.name == claim.name), None)
        self.violation: Enclosed | None = None
        self.depth = 0.0
        self.stay: Stay
        self.following: Segment | None = None  # the segment after the one at hand
        forms = self._forms(self.trace.segments[0])
        first = self.trace.segments[0]
        seen = first.valuation(first.start)
        state = first_state(self.view, first.location, seen, self.trace.parameters, forms)
        self.now = Progress(first.location, state, forms)
        self._check_entry(self.now)

    def result(self, reason: str | None) -> ValidatedRun:
        """What has been proved so far."""
        return ValidatedRun(
            self.now.enclosures,
            self.now.jumps,
            ends(self.now.time),
            reason,
            self.violation,
            bounds_of(self.now.state.values),
            self.depth,
            self.now.location,
        )

    def follow(self) -> None:
        """Go through the trace segment by segment."""
        for segment, due, following in self.trace.transitions():
            self.following = following
            self._enter(segment)
            at_once = due
            if due and not segment.is_instant:
                self._leave(segment, due[0])
                at_once = due[1:]
            elif not due:
                self._first_of(self._to_hold(segment, following))
            for event in at_once:
                self._at_once(event)
        self.following, last = None, self.trace.segments[-1]
        self._enter(last)
        if self.claim is not None:
            self._first_of(self._to_violation(last))
        else:
            self._pass_to(last.end)

    # Choices

    def _forms(self, segment: Segment) -> Forms:
        """What stands for the inputs in a segment. (An instant knows their values: a signal
        may step then.)"""
        levels, found = self.run.chosen(segment).levels, {}
        for given in self.view.inputs:
            signal, level = self.inputs.get(given.name), levels.get(given.name)
            if segment.is_instant and level is not None and isinstance(signal, Steps):
                signal = None
            found[given.name] = input_form(given, signal, level, segment.start)
        return found

    def _enter(self, segment: Segment) -> None:
        """The equations of a segment, with what is left open chosen as in the trace."""
        if segment.location != self.now.location:
            raise GaveUp(f"the simulated run goes on in `{segment.location}`")
        if segment.sliding:
            raise GaveUp(
                f"the simulated run goes on in a limit, `{segment.sliding}`: no run of the model"
                " does"
            )
        self.now = now = replace(self.now, forms=self._forms(segment))
        choices = self.run.chosen(segment)
        self.stay = Stay(self.view, now.location, now.state, now.forms, choices)
        if now.shape is not None and now.shape.names != self.stay.flow.names:
            self.now = replace(now, shape=None)

    # Letting time pass

    def _pass_to(self, end: float | Fraction) -> None:
        self._pass(self._until(end))

    def _until(self, end: float | Fraction) -> Fraction:
        """How long it is until a simulated time."""
        now = self.now.state.exact.get(TIME)
        if now is None:
            now = ends(self.now.time.mid())[0]
        return (end if isinstance(end, Fraction) else decimal(end)) - now

    def _pass(self, duration: Fraction) -> None:
        """Let time pass, and prove that this is allowed."""
        h = duration
        for count in itertools.count():
            if duration <= 0:
                return
            if count >= MOST_STEPS:
                raise GaveUp("the steps become shorter and shorter, as they do at a singularity")
            self.allowance.spend()
            step = self.stay.flow.step(self._shape(), min(h, duration))
            after = self._after(step.image(ball(step.h)), step.h)
            missing = self.stay.unproved(step, self.now.state, ball(step.h), after=after.state)
            if missing is None:
                self._move(step, ball(step.h), after)
                duration -= step.h
                h = 2 * step.h
                continue
            h = Fraction(float(step.h) / 2)
            if h < min(SHORTEST, duration / 4):
                raise GaveUp(
                    f"{missing.says} from here on; the run comes too close to its boundary, other"
                    " first values (--init) or choices (--policy) may not"
                )

    def _shape(self) -> StateSet:
        if self.now.shape is not None:
            return self.now.shape
        values = self.now.state.values
        return StateSet.of_box({n: values[n] for n in self.stay.flow.names})

    def _after(self, shape: StateSet, elapsed: Fraction | None) -> Progress:
        """The state in a set after a time; `elapsed` is that time if it is rational."""
        return replace(self.now, state=self.stay.after(self.now.state, shape, elapsed), shape=shape)

    def _enclosed(self, step: Way, s: Fraction, after: Progress) -> Iterator[Enclosed]:
        """All states on the way to the place s; steps in time are told in parts, so that the
        boxes are no longer than they need to be."""
        parts = PARTS if isinstance(step, SmoothStep | KinkStep) else 1
        low, high = ends(self.now.time)
        last = ends(after.time)[1]
        for k in range(parts):
            a, b = s * k / parts, s * (k + 1) / parts
            tube = self.stay.flow.values(step.tube(ball(a).union(ball(b))))
            end = last if k + 1 == parts else min(last, high + b)
            yield Enclosed(low + a, end, after.location, bounds_of(tube))

    def _move(self, step: Way, s: Any, after: Progress) -> None:
        """Go to a state after a proved step."""
        spans = self._enclosed(step, ends(s)[1], after)
        self.now = replace(after, enclosures=(*after.enclosures, *spans))
        for name in self.stay.flow.names:
            value = self.now.state.values[name]
            if not float(value.rad()) <= WIDEST * (1.0 + abs(float(value.mid()))):
                raise GaveUp(
                    f"the enclosure of `{name}` became too wide; start from exact values, or end"
                    " sooner (--until)"
                )

    def _cross(self, node: Expression, end: Fraction) -> None:
        """Go to the time near a simulated one at which a comparison changes its truth."""
        margin_problem = GaveUp(f"`{shortened(node)}` could not be shown to change its truth")
        before = self.now
        for margin in MARGINS:
            self.now = before
            scaled = margin * (1 + abs(end))
            try:
                self._pass(max(self._until(end - scaled), Fraction(0)))
                found = cross(self.stay, self.now.state, self._shape(), node, 2 * scaled)
            except GaveUp as stopped:
                margin_problem = stopped
                continue
            after = replace(self.now, state=found.state, shape=found.shape)
            self._move(found.step, found.when, after)
            return
        raise margin_problem

    def _arrive(self, node: Expression) -> None:
        """Go to where a comparison changes its truth, though the run comes to rest there."""
        for part in arrive(self.stay, self.now.state, self._shape(), node):
            self.allowance.spend(ARRIVAL)
            self._move(part.step, part.fall, replace(self.now, state=part.state, shape=part.shape))

    # Jumps

    def _first_of(self, attempts: Iterable[Attempt]) -> None:
        """Make the first attempt that succeeds; if none does, keep the one that came furthest,
        and give up for its reason."""
        before = best = self.now
        stay, problem = self.stay, None
        for attempt in attempts:
            try:
                attempt()
                return
            except GaveUp as stopped:
                if problem is None or self.now.time > best.time:
                    best, problem = self.now, stopped
                self.now, self.stay = before, stay
        self.now = best
        raise problem or GaveUp("the simulated run could not be followed")

    def _to_hold(self, segment: Segment, later: Segment) -> Iterable[Attempt]:
        """Ways to a segment in which an inclusion keeps a boundary: where it is reached."""
        known = self.run.chosen(segment).holds
        for hold in self.run.chosen(later).holds:
            if hold not in known:
                part = substitute(hold[1], self.now.forms)
                end = decimal(segment.end)
                yield lambda p=part, e=end: self._cross(p, e)  # type: ignore[misc]
        yield lambda: self._pass_to(segment.end)

    def _leave(self, segment: Segment, event: Event) -> None:
        edges = [
            edge
            for edge in self.view.edges_from(self.now.location)
            if edge_name(edge) == event.name and edge.target == event.target
        ]
        if not edges:
            raise GaveUp(f"the simulated run takes `{event.name}`, which is no edge here")
        if self._arrives(edges, segment, event):
            return
        end = decimal(segment.end)
        self._pass(max(self._until(end - MARGINS[-1] * (1 + abs(end))), Fraction(0)))
        self._first_of(
            attempt for edge in edges for attempt in self._attempts(edge, segment, event)
        )

    def _arrives(self, edges: Iterable[Edge], segment: Segment, event: Event) -> bool:
        """Whether an edge could be taken where its guard becomes true at a singular place: it
        is approached by a root of the distance, better from afar."""
        before = self.now
        for edge in edges:
            for node in self._near(substitute(edge.guard, self.now.forms), segment):
                if not is_singular(self.stay, node):
                    continue
                try:
                    self._arrive(node)
                    self._take(edge, event)
                    return True
                except GaveUp:
                    self.now = before
        return False

    def _attempts(self, edge: Edge, segment: Segment, event: Event) -> Iterable[Attempt]:
        """Ways to reach an edge: where its guard becomes true, or at the simulated time, with
        the inputs before or after a step that they make then; or where it holds nearby."""
        end = decimal(segment.end)

        def then(way: Attempt, stepped: bool = False) -> Attempt:
            def attempt() -> None:
                way()
                if stepped:
                    self._step_inputs()
                self._take(edge, event)

            return attempt

        near = self._near(substitute(edge.guard, self.now.forms), segment)
        for node in near:
            yield then(lambda n=node: self._cross(n, end))  # type: ignore[misc]
        for node in near:
            yield then(lambda n=node: self._arrive(n))  # type: ignore[misc]
        yield then(lambda: self._pass_to(end))
        if self._input_steps():
            yield then(lambda: self._pass_to(end), stepped=True)
        for margin in MARGINS:
            for sign in (-1, 1):  # before the invariant ends; where a strict guard holds
                moved = end + sign * margin * (1 + abs(end))
                yield then(lambda m=moved: self._pass_to(m))  # type: ignore[misc]

    def _near(self, condition: Expression, segment: Segment) -> list[Expression]:
        """The comparisons of a condition that are about to change at the end of a segment."""
        values = segment.valuation(segment.end)
        values.update({n: float(v) for n, v in self.trace.parameters.items()})
        found: dict[Expression, None] = {}
        for node in postorder(condition):
            if node.op in COMPARISONS and node.op is not Op.NOT_EQUAL:
                try:
                    left, right = (float(evaluate(a, values)) for a in node.args)
                except (EvaluationError, ValueError, TypeError):
                    continue
                if abs(left - right) <= 1e-5 * (1.0 + abs(left) + abs(right)):
                    found[node] = None
        return list(found)

    def _input_steps(self) -> bool:
        """Whether the inputs of the next segment are others than those known to the proof."""
        return self.following is not None and self._forms(self.following) != self.now.forms

    def _step_inputs(self) -> None:
        """Give inputs the values that they have in the next segment. (Inputs are free: their
        step may come at any time.)"""
        assert self.following is not None, "inputs step only where the trace goes on"
        self.now = replace(self.now, forms=self._forms(self.following))

    def _at_once(self, event: Event) -> None:
        """A further jump at the same instant."""

        def attempt(edge: Edge, stepped: bool) -> None:
            if stepped:
                self._step_inputs()
            self._take(edge, event)

        options = (False, True) if self._input_steps() else (False,)
        self._first_of(
            lambda e=edge, s=stepped: attempt(e, s)  # type: ignore[misc]
            for stepped in options
            for edge in self.view.edges_from(self.now.location)
            if edge_name(edge) == event.name and edge.target == event.target
        )

    def _take(self, edge: Edge, event: Event) -> None:
        now, name = self.now, edge_name(edge)
        if now.state.truth(substitute(edge.guard, now.forms)) is not True:
            raise GaveUp(
                f"the guard `{shortened(edge.guard)}` of `{name}` could not be shown to hold when"
                " the simulated run takes the edge"
            )
        later = self.following  # others may follow at once, unrecorded
        leads_there = later is not None and later.location == event.target
        wanted = later.valuation(later.start) if later is not None and leads_there else {}
        state = after_resets(self.view, now.state, edge.resets, now.forms, wanted)
        jump = ProvedJump(ends(now.time), name, edge.target)
        reset = {c.variable for c in edge.resets}
        shape = now.shape if now.shape is None or reset.isdisjoint(now.shape.names) else None
        jumps = (*now.jumps, jump)
        jumped = Progress(edge.target, state, now.forms, now.enclosures, jumps, shape)
        self._check_entry(jumped)
        self.now = jumped

    def _check_entry(self, entered: Progress) -> None:
        for needed in requirements_of(self.view, entered.location, entered.forms):
            if entered.state.truth(needed.condition) is not True:
                raise GaveUp(f"{needed.says} on entry")

    # Violations

    def _to_violation(self, segment: Segment) -> Iterable[Attempt]:
        """Ways to a bad state: the end of the trace, a time shortly after it, or the time at
        which a comparison becomes exactly zero."""
        assert self.claim is not None
        bad = self.claim.bad_states(self.view.occupied(self.now.location))
        bad = substitute(bad, self.now.forms)
        end = decimal(segment.end)
        span = 1 + abs(end)

        def check() -> None:
            t, horizon = ends(self.now.time), self.view.horizon
            if horizon is not None and t[1] > horizon:
                raise GaveUp("the violation could not be shown within the model's horizon")
            self._check_entry(self.now)  # inputs may have stepped
            if self.now.state.truth(bad) is not True:
                raise GaveUp("no state near the end of the run is certainly bad")
            values = self.now.state.values
            self.violation = Enclosed(*t, self.now.location, bounds_of(values))
            self.depth = depth(bad, self.now.state)

        def search() -> None:
            self._pass_to(end)
            ahead = span / 10**9
            while True:
                try:
                    check()
                    return
                except GaveUp:
                    if ahead > span / 10:
                        raise
                self._pass(ahead)
                ahead *= 2

        def on(node: Expression) -> None:
            self._cross(node, end)
            check()

        yield search
        for node in self._near(bad, segment):
            yield lambda n=node: on(n)  # type: ignore[misc]
