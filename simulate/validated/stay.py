"""One stay in a location: its equations, and what must hold while time passes.

Time may pass while the invariant holds, on the closed interval; while inputs keep their ranges
and the assumption; while every inclusion has the derivative that was chosen; and while no
urgent edge is enabled, except at the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import flint

from workbench.models.automaton import TIME, Automaton, Constraint, Input
from workbench.models.dynamics import Eliminated
from workbench.models.expressions.differentiate import NotDifferentiableError, lie_derivative
from workbench.models.expressions.expression import (
    ONE,
    TRUE,
    ZERO,
    Expression,
    add,
    compare,
    constant,
    multiply,
    negation,
    subtract,
    variable,
)
from workbench.models.expressions.normal_form import negation_normal_form
from workbench.models.expressions.operators import COMPARISONS, Op
from workbench.models.expressions.polynomial import polynomial_form
from workbench.models.expressions.traversal import conjuncts, postorder, substitute
from workbench.models.record import record
from workbench.simulate.holding import inclusion_share, joint_rates
from workbench.simulate.jump import edge_name
from workbench.simulate.validated.balls import BallEvaluator, GaveUp, Truth, shortened, sign_test
from workbench.simulate.validated.branches import smooth_on
from workbench.simulate.validated.enclosure import Flow, StateSet, Way
from workbench.simulate.validated.exact_choices import Forms, decimal, filled_in, input_range
from workbench.simulate.validated.known_state import (
    KnownState,
    difference,
    key_of,
    orientation,
    vanishes,
)
from workbench.simulate.validated.observed_run import Choices


@record
class Requirement:
    """A condition that must hold while time passes: `closed` if also at the end; `says` tells
    what could not be shown if it is not decided."""

    condition: Expression
    says: str
    closed: bool = True

    @cached_property
    def truth(self) -> Truth:
        """The condition, ready to be decided."""
        return Truth(self.condition)


@dataclass(frozen=True)
class Crossing:
    """A function that has one sign before a time and is zero then: `key` is what a comparison
    with it tests, `sign` that of the key's function."""

    key: object
    sign: int


class Stay:
    """A stay in a location with given inputs and choices."""

    def __init__(
        self, view: Automaton, location: str, state: KnownState, forms: Forms, choices: Choices
    ):
        self.location, self.forms = location, forms
        self._view, self._choices = view, choices
        chosen = self._rates()
        moving = {n: f for n, f in chosen.items() if f != ZERO}
        moving[TIME] = ONE
        self.flows = {n: filled_in(f, state, moving) for n, f in moving.items()}
        held = {n: v for n, v in state.values.items() if n not in self.flows}
        self.flow = Flow(self.flows, held)
        self.requirements = [
            Requirement(filled_in(r.condition, state, self.flows), r.says, r.closed)
            for r in self._needed(chosen)
            if r.condition != TRUE
        ]
        self._slopes: dict[Expression, Expression | None] = {}

    @cached_property
    def constant_rates(self) -> Mapping[str, Fraction]:
        """The variables that change at a rational rate."""
        found = {}
        for name, rate in self.flows.items():
            form = polynomial_form(rate)
            if form is not None and all(m == () for m in form):
                found[name] = form.get((), Fraction(0))
        return found

    def unproved(
        self,
        step: Way,
        state: KnownState,
        until: Any,
        crossing: Crossing | None = None,
        after: KnownState | None = None,
    ) -> Requirement | None:
        """The first requirement that could not be shown from the start of a step to a time;
        `state` and `after` are what is known at both ends."""
        way = self.flow.values(step.tube(flint.arb(0).union(until)))
        for needed in self.requirements:

            def decide(node: Expression, needed: Requirement = needed) -> bool | None:
                if crossing is not None and key_of(node) == crossing.key:
                    return _across(node, crossing, needed.closed)
                return self._keeps(node, state, way, after, needed.closed)

            if needed.truth(way, decide) is not True:
                return needed
        return None

    def after(self, state: KnownState, shape: StateSet, elapsed: Fraction | None) -> KnownState:
        """What is known after a time that led into a set; `elapsed` is that time if it is
        rational: then variables with constant rates are known exactly if they were before. What
        is zero and does not change stays zero."""
        values: dict[str, Any] = dict(zip(shape.names, shape.box, strict=True))
        for name, rate in self.constant_rates.items():
            if elapsed is not None and name in state.exact:
                values[name] = state.exact[name] + rate * elapsed
        zeros = state.zeros & self._unchanged if state.zeros else frozenset()
        return KnownState(state.values, state.exact, zeros).assigned(values)

    @cached_property
    def _unchanged(self) -> frozenset[object]:
        """The keys of polynomials that requirements compare and that no flow changes."""
        found = set()
        for node in postorder(*(r.condition for r in self.requirements)):
            key = key_of(node) if node.op in COMPARISONS else None
            if isinstance(key, frozenset):  # of a polynomial
                slope = self.slope(difference(node))
                if slope is not None and vanishes(slope):
                    found.add(key)
        return frozenset(found)

    def slope(self, g: Expression) -> Expression | None:
        """The rate of change of a smooth function; None if there is no formula for it."""
        if g not in self._slopes:
            try:
                self._slopes[g] = lie_derivative(g, self.flows)
            except NotDifferentiableError:
                self._slopes[g] = None
        return self._slopes[g]

    # Details

    def _keeps(
        self,
        node: Expression,
        state: KnownState,
        way: Mapping[str, Any],
        after: KnownState | None,
        closed: bool,
    ) -> bool | None:
        """Whether a comparison with g that holds at the start does so on the whole way: g does
        not change there, or leads away from the boundary, or is monotone, and it holds at the
        end, too (which is not asked for if the way is not closed: then g may be zero there)."""
        if node.op not in _RISING and node.op not in (Op.EQUAL, Op.NOT_EQUAL):
            return None
        try:
            g = smooth_on(difference(node), way)
            slope = self.slope(g)
            if slope is None:
                return None
            if vanishes(slope):
                return state.truth(node)
            (rate,) = BallEvaluator(slope)(way)
        except (GaveUp, TypeError):
            return None
        rising = _RISING.get(node.op)
        if rising is None or not (rate >= 0 or rate <= 0) or state.truth(node) is not True:
            return None
        if rate >= 0 if rising else rate <= 0:
            return True
        last = (
            node if closed else compare(_CLOSURE.get(node.op, node.op), node.args[0], node.args[1])
        )
        strictly = closed or rate < 0 or rate > 0
        return True if strictly and after is not None and after.truth(last) is True else None

    def _rates(self) -> dict[str, Expression]:
        """The derivatives, out of an inclusion the one that the run chose."""
        found = {}
        for c in self._flows():
            given = c.range
            if given.exact is not None:
                found[c.variable] = given.exact
            elif given.low is None or given.high is None:
                bounds = (b for b in (given.low, given.high) if b is not None)
                found[c.variable] = next(bounds, ZERO)
            else:
                level = self._choices.levels.get(inclusion_share(c.variable), 0.5)
                share = min(max(decimal(level), Fraction(0)), Fraction(1))
                width = subtract(given.high, given.low)
                found[c.variable] = add(given.low, multiply(constant(share), width))
        holds = [(name, substitute(part, self.forms)) for name, part in self._choices.holds]
        kept = joint_rates(holds, found) if holds else {}
        return {**found, **(kept or {})}

    def _flows(self) -> Iterable[Constraint]:
        for c in self._view.location(self.location).flows:
            if c.variable != TIME:
                yield Constraint(c.variable, c.range.substitute(self.forms))

    def _needed(self, rates: Mapping[str, Expression]) -> Iterable[Requirement]:
        yield from requirements_of(self._view, self.location, self.forms)
        held = {name for name, _ in self._choices.holds}
        for c in self._flows():
            low, high, name = c.range.low, c.range.high, c.variable
            if c.range.exact is None and low is not None and high is not None:
                yield Requirement(low <= high, f"the range of d({name}) may be empty")
            if name in held:
                beyond = f"d({name}) may leave its range while it keeps a boundary"
                if low is not None:
                    yield Requirement(low <= rates[name], beyond)
                if high is not None:
                    yield Requirement(rates[name] <= high, beyond)
        for edge in self._view.edges_from(self.location):
            if edge.urgent:
                says = (
                    f"the urgent edge `{edge_name(edge)}` may be enabled"
                    f" (`{shortened(edge.guard)}`)"
                )
                calm = negation_normal_form(negation(substitute(edge.guard, self.forms)))
                yield Requirement(calm, says, closed=False)


def requirements_of(view: Automaton, location: str, forms: Forms) -> Iterable[Requirement]:
    """What must hold in every state of a stay: invariant, assumption, ranges of inputs."""
    base = view.base if isinstance(view, Eliminated) else view
    known = view.definitions(location) if isinstance(view, Eliminated) else {}
    written = {substitute(c, known): c for c in conjuncts(base.location(location).invariant)}
    for part in conjuncts(view.location(location).invariant):
        text = shortened(written.get(part, part))
        says = f"the invariant `{text}` of `{location}` could not be shown"
        yield Requirement(substitute(part, forms), says)
    for part in conjuncts(view.assumption):
        says = f"the assumption `{shortened(part)}` could not be shown"
        yield Requirement(substitute(part, forms), says)
    for given in view.inputs:
        yield Requirement(substitute(input_range(given), forms), _out_of_range(given))


def _out_of_range(given: Input) -> str:
    name = shortened(variable(given.name))
    return f"the input `{name}` could not be shown to keep its range"


def _across(node: Expression, crossing: Crossing, closed: bool) -> bool:
    """The truth of a comparison up to the time at which its function becomes zero."""
    before = sign_test(node.op, flint.arb(crossing.sign * orientation(node)))
    end = sign_test(node.op, flint.arb(0)) if closed else True
    return bool(before and end)


_CLOSURE = {Op.LESS: Op.LESS_EQUAL, Op.GREATER: Op.GREATER_EQUAL}
_RISING = {Op.GREATER: True, Op.GREATER_EQUAL: True, Op.LESS: False, Op.LESS_EQUAL: False}
