"""Exact formulas as a strategy: nilpotent linear flows, decided by quantifier elimination.

From which states does the flow of the initial location meet a bad one? The answer is a formula
(`reach.exact`). If an initial state satisfies it, the run from there is repeated exactly. If none
does, the property holds as far as a solver for nonlinear arithmetic can be trusted; that is no
proof here, so the methods that make certificates are asked for one.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from workbench.abstraction.strategies.exact_trace import polynomial_trace, recording_of
from workbench.abstraction.strategies.strategy import Task
from workbench.models.automaton import REAL, TIME, Automaton, Initial, ValueType, primed
from workbench.models.dynamics import eliminate_algebraic
from workbench.models.expressions.evaluation import evaluate_number
from workbench.models.expressions.expression import (
    Expression,
    compare,
    conjunction,
    constant,
    subtract,
    variable,
)
from workbench.models.expressions.operators import Op
from workbench.models.expressions.polynomial_flow import polynomial
from workbench.models.expressions.printing import to_text
from workbench.models.expressions.ranges import value_in
from workbench.models.expressions.traversal import substitute
from workbench.models.smt.solver import Answer, Limits, Scalar, Unsatisfiable, Witness, satisfiable
from workbench.models.verdict import Confirmation, Effort, Falsified, Unknown, Verdict, Verified
from workbench.reach.exact.backward import BackwardReach, backward_reach
from workbench.reach.exact.flow import NotNilpotentError, location_flow
from workbench.reach.exact.polynomial_in_time import InTime, NotPolynomialError, spread
from workbench.reach.exact.run import PolynomialRun, objection
from workbench.reach.exact.virtual_substitution import NotEliminableError

LIMITS = Limits(60_000_000, 20_000)
MOMENT = "moment()"
"""The time of a violation, in conditions (no variable has this name)."""

SHOWN = 200
"""Characters of a formula that a reason quotes."""

CERTIFYING = {True: ("flowpipe",), False: ("template", "quadratic")}
"""Who is asked for a certificate, with and without a horizon."""


@dataclass(frozen=True)
class ExactStrategy:
    """Decide one stay exactly; `auto` does not try it, because other methods certify."""

    name: str = "exact"

    def suits(self, task: Task) -> str | None:
        """Only where it is asked for."""
        return None

    def attempt(self, task: Task) -> Verdict:
        """Look for a run into the bad states; if there is none, for somebody who proves it."""
        begun = time.perf_counter()
        search = _Search(task)
        try:
            violated = search.violated()
        except (NotNilpotentError, NotPolynomialError, NotEliminableError) as error:
            return self._unknown(task, begun, str(error), "try --method auto")
        seconds = {"search": time.perf_counter() - begun}
        if violated is not None:
            run, formula = violated
            how = (
                "repeated exactly, in rationals, along the polynomial flow: "
                f"the violation at {run.duration}; {formula}"
            )
            trace = polynomial_trace(search.automaton, task.claim.name, run, search.variables)
            confirmation = Confirmation(how, search.depth(run), rigorous=True)
            claim = task.claim.name
            recording = recording_of(task, trace)
            return Falsified(claim, self.name, trace, (confirmation,), Effort(seconds), recording)
        if search.doubts:
            return self._unknown(task, begun, "; ".join(search.doubts), "try --method auto")
        for method in CERTIFYING[task.horizon is not None]:
            from workbench.abstraction.verification import strategy

            verdict = strategy(method).attempt(task)
            if isinstance(verdict, Verified):
                return verdict
        reason = f"exact engine says safe; not certificate-checked: {search.told}"
        advice = "bound the time (--horizon) for a certificate"
        return self._unknown(task, begun, reason, advice)

    def _unknown(self, task: Task, begun: float, reason: str, advice: str) -> Unknown:
        effort = Effort({"search": time.perf_counter() - begun})
        return Unknown(task.claim.name, self.name, reason, advice, effort)


class _Search:
    """The questions about one model; `doubts` say what could not be decided."""

    def __init__(self, task: Task):
        self.automaton: Automaton = eliminate_algebraic(task.automaton)
        self.variables = tuple(v.name for v in task.automaton.variables)
        self.doubts: list[str] = []
        claims = (p for p in self.automaton.properties if p.name == task.claim.name)
        self._claim = next(claims, task.claim)
        self._horizon, self._task = task.horizon, task
        self._formulas: list[str] = []

    @property
    def told(self) -> str:
        """The formulas, in words."""
        return "; ".join(dict.fromkeys(self._formulas))

    def violated(self) -> tuple[PolynomialRun, str] | None:
        """A run into the bad states that was repeated exactly, and the formula it satisfies."""
        if self.automaton.inputs:
            raise NotNilpotentError("the model has inputs, whose values are not polynomials")
        for start in self.automaton.initial_sets():
            if self._task.expired:
                self.doubts.append("the time limit was reached")
                break
            if self.automaton.edges_from(start.location):
                self.doubts.append(
                    f"edges leave {start.location}: what follows a jump is not decided"
                )
            found = self._from(start)
            if found is not None:
                return found
        return None

    def _from(self, start: Initial) -> tuple[PolynomialRun, str] | None:
        flow = location_flow(self.automaton, start.location)
        bad = self._claim.bad_states(self.automaton.occupied(start.location))
        reach = self._backward(flow, bad, start.location)
        told = f"{start.location} leads to bad states from {_short(to_text(reach.formula))}"
        if not reach.is_verified:
            told += " (a formula of which the solver did not prove both directions)"
        self._formulas.append(told)
        starting = conjunction(self._starting(start), _at_start(self.automaton, start))
        answer = self._asked(conjunction(starting, reach.formula))
        if isinstance(answer, Unsatisfiable):
            if not reach.is_necessary:
                self.doubts.append(told)
            return None
        if not isinstance(answer, Witness):
            self.doubts.append(f"{told}; whether initial states are among them: {answer.reason}")
            return None
        run = self._run(start, flow, conjunction(starting, self._meets(flow, bad)), answer)
        return None if run is None else (run, told)

    def _backward(
        self, flow: Mapping[str, InTime], bad: Expression, location: str
    ) -> BackwardReach:
        """The formula, with the invariant where it can be part of it (without, it is larger)."""
        bound = None if self._horizon is None else constant(self._horizon)
        invariant = self.automaton.location(location).invariant
        try:
            return backward_reach(flow, bad, bound, invariant)
        except NotEliminableError:
            return backward_reach(flow, bad, bound)

    def _run(
        self, start: Initial, flow: Mapping[str, InTime], meets: Expression, answer: Witness
    ) -> PolynomialRun | None:
        """The run from an initial state that satisfies the formula, checked."""
        known = {n: v for n, v in answer.values.items() if isinstance(v, Fraction)}
        values = {n: constant(v) for n, v in known.items()}
        timed = self._asked(substitute(meets, values)) if answer.exact else None
        if isinstance(timed, Witness) and timed.exact:
            found: dict[str, Scalar] = {**answer.values, **timed.values}
        else:
            other = self._asked(meets)
            if not isinstance(other, Witness) or not other.exact:
                self.doubts.append("bad states are met, but at no rational state and time found")
                return None
            found = dict(other.values)
        run = self._made(start.location, flow, found)
        why = objection(self.automaton, self._claim, run, self._horizon)
        if why is not None:
            self.doubts.append(f"there may be a violation at {run.duration}, but {why}")
        return run if why is None else None

    def _made(
        self, location: str, flow: Mapping[str, InTime], values: Mapping[str, Scalar]
    ) -> PolynomialRun:
        names = [v.name for v in self.automaton.variables if v.name != TIME]
        names += [p.name for p in self.automaton.parameters]
        initial: dict[str, Scalar] = {n: values.get(n, Fraction(0)) for n in names}
        moves = {
            name: polynomial(*(Fraction(evaluate_number(c, initial)) for c in coefficients))
            for name, coefficients in flow.items()
        }
        moment = values.get(MOMENT, Fraction(0))
        assert isinstance(moment, Fraction), "time is a number"
        if any(v.name == TIME for v in self.automaton.variables):
            initial[TIME] = Fraction(0)
        return PolynomialRun(location, initial, moves, moment)

    def depth(self, run: PolynomialRun) -> float:
        """How far beyond the claim the run ends: the least slack of the comparisons in it."""
        bad = self._claim.bad_states(self.automaton.occupied(run.location))
        final = run.final
        slacks = [
            abs(float(evaluate_number(subtract(c.args[0], c.args[1]), final)))
            for c in (bad.args if bad.op in (Op.AND, Op.OR) else (bad,))
            if c.op in (Op.LESS, Op.LESS_EQUAL, Op.GREATER, Op.GREATER_EQUAL)
        ]
        return min(slacks, default=0.0)

    def _asked(self, condition: Expression) -> Answer:
        kinds: dict[str, ValueType] = {
            v.name: v.type for v in self.automaton.variables if v.type != REAL
        }
        kinds |= {_before(name): kind for name, kind in kinds.items()}
        return satisfiable(condition, kinds, LIMITS)

    def _meets(self, flow: Mapping[str, InTime], bad: Expression) -> Expression:
        """That the state at the moment is bad, and the moment within the horizon."""
        moment = variable(MOMENT)
        moved = {name: spread(coefficients, moment) for name, coefficients in flow.items()}
        window = [compare(Op.GREATER_EQUAL, moment, 0)]
        if self._horizon is not None:
            window.append(compare(Op.LESS_EQUAL, moment, self._horizon))
        return conjunction(substitute(bad, {**moved, TIME: moment}), *window)

    def _starting(self, start: Initial) -> Expression:
        """The initial states, over the values after the resets of entry transitions."""
        changed = {reset.variable for reset in start.resets}
        before = {name: variable(_before(name)) for name in changed}
        parts = [substitute(start.condition, {**before, TIME: constant(0)})]
        for reset in start.resets:
            names = {**before, **{primed(name): variable(name) for name in changed}}
            parts.append(value_in(reset.variable, reset.range.substitute(names)))
        return conjunction(*parts, *self._environment())

    def _environment(self) -> Iterator[Expression]:
        for p in self.automaton.parameters:
            if p.low is not None:
                yield compare(Op.GREATER_EQUAL, variable(p.name), p.low)
            if p.high is not None:
                yield compare(Op.LESS_EQUAL, variable(p.name), p.high)
        yield self.automaton.assumption


def _before(name: str) -> str:
    """The name of a value before the resets of an entry transition."""
    return f"before({name})"


def _at_start(automaton: Automaton, start: Initial) -> Expression:
    """The invariant, at time 0."""
    return substitute(automaton.location(start.location).invariant, {TIME: constant(0)})


def _short(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[:SHOWN]} ... (`workbench exact` prints it all)"
