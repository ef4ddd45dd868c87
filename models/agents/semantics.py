"""What a mode does: micro-steps, macro-steps, continuous and environment steps.

Written to be laid beside section IV-A of "Hierarchical Modeling and Analysis of Embedded
Systems" (Proc. IEEE 91(1), 2003); it serves as the reference that faster code is tested
against, and shares no code with `models.agents.flatten` but the closure.

- A state (c, s) is a control point and a value for every variable, where private variables
  (the locals of the mode and of all modes below it, histories included) carry the path of
  their mode: `TrackOptimal.h`.
- A micro-step is either a transition of the mode, from one of its entry points or an exit
  point of a submode, or a macro-step of a submode from an entry to an exit point.
- A macro-step (s, t) in R^D_{e,x} is a micro-execution from the entry point e to the exit
  point x; within it, transitions and macro-steps of submodes alternate.
- A continuous step (s, f) in R^C is possible at the default exit dx: the flow f satisfies
  the mode's constraints, and those of the active submode, on a closed interval.
- An environment step leads from an exit point to an entry point and changes no private
  variable.

Values are exact. Where an assignment chooses from a range, enumeration tries only the
candidates that the caller names (by default both ends): an under-approximation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from types import MappingProxyType
from typing import TypeAlias

from workbench.models.agents.closure import INACTIVE, close, history_of
from workbench.models.agents.hierarchy import (
    DEFAULT_ENTRY,
    DEFAULT_EXIT,
    INIT,
    Access,
    ControlPoint,
    Declaration,
    Mode,
    Transition,
    renamed,
)
from workbench.models.automaton import Constraint, Kind, Range
from workbench.models.expressions.evaluation import Scalar, evaluate, evaluate_number, holds
from workbench.models.expressions.expression import Expression, conjunction, variable
from workbench.models.expressions.polynomial_flow import (
    Polynomial,
    along,
    always,
    derivative,
    held,
    value_at,
)
from workbench.models.expressions.ranges import value_in
from workbench.models.expressions.traversal import free_variables, substitute
from workbench.models.record import record
from workbench.models.source import Diagnostic, ModelError

MAX_DEPTH = 100
"""The definitions below follow the nesting of modes, so it is limited here."""

DERIVATIVE = "d({})"
"""How a derivative is named when a differential constraint is checked."""

Valuation: TypeAlias = Mapping[str, Scalar]
Candidates: TypeAlias = Callable[[str, Fraction, Fraction], Iterable[Scalar]]
"""The values to try for a variable between two bounds."""


def both_ends(name: str, low: Fraction, high: Fraction) -> Iterable[Scalar]:
    """The bounds of a range: the default candidates."""
    return dict.fromkeys((low, high))


@record
class State:
    """A control point and a value for every variable."""

    point: ControlPoint
    values: Valuation

    @property
    def key(self) -> tuple[ControlPoint, frozenset[tuple[str, Scalar]]]:
        """The state as something that can be a member of a set."""
        return self.point, frozenset(self.values.items())


@record
class MacroStep:
    """A micro-execution from an entry point (its first state) to an exit point (its last)."""

    states: tuple[State, ...]

    @property
    def exit(self) -> str:
        """The exit point reached."""
        return self.states[-1].point.point

    @property
    def values(self) -> Valuation:
        """The values at the exit point."""
        return self.states[-1].values


@record
class MacroSteps:
    """The macro-steps found from a state, one for each pair of exit point and values.

    `livelock` is a micro-execution that did not reach an exit point within the bound on
    its length; where it is None the enumeration is complete (up to the candidates tried).
    """

    found: tuple[MacroStep, ...]
    livelock: tuple[State, ...] | None = None


@record
class ActiveConstraints:
    """The constraints that bind a flow: those of every mode on the active path, and that
    local variables of other modes do not change."""

    path: tuple[str, ...]
    flows: tuple[Constraint, ...]
    algebraic: tuple[Constraint, ...]
    invariant: Expression
    resting: tuple[str, ...]


class ModeSemantics:
    """The semantics of the closure of a mode.

    `names` maps the mode's global variables to the names used in valuations (the same where
    absent); `prefix` goes before the names of private variables.
    """

    def __init__(
        self, mode: Mode, names: Mapping[str, str] = MappingProxyType({}), prefix: str = ""
    ):
        self._build(close(mode), dict(names), prefix, 0)

    @classmethod
    def _inner(cls, mode: Mode, names: dict[str, str], prefix: str, depth: int) -> ModeSemantics:
        made = cls.__new__(cls)
        made._build(mode, names, prefix, depth)
        return made

    def _build(self, mode: Mode, names: dict[str, str], prefix: str, depth: int) -> None:
        if depth > MAX_DEPTH:
            raise ModelError(
                Diagnostic("nested-too-deeply", f"more than {MAX_DEPTH} levels of modes", mode.span)
            )
        for declared in mode.variables:
            if declared.access is Access.PRIVATE:
                names[declared.name] = prefix + declared.name
        self.mode = _spelled_out(mode, names)
        self.local = tuple(
            replace(d, name=names[d.name], initial=_in_names(d.initial, names))
            for d in mode.variables
            if d.access is Access.PRIVATE
        )
        own = history_of(mode)
        self.history = None if own is None else names[own]
        self.submodes = {
            sub.name: self._inner(
                sub.mode,
                _names_inside(sub.mode, sub.renaming, names),
                f"{prefix}{sub.name}.",
                depth + 1,
            )
            for sub in mode.submodes
        }

    @property
    def private(self) -> frozenset[str]:
        """V_p: the locals of this mode and of all modes below it."""
        return frozenset(d.name for d in self.private_declarations())

    def private_declarations(self) -> Iterator[Declaration]:
        """The declarations of all private variables, under their full names."""
        yield from self.local
        for sub in self.submodes.values():
            yield from sub.private_declarations()

    @property
    def start(self) -> str:
        """The entry point of the first macro-step of a top-level mode."""
        begins = any(t.source == ControlPoint(None, INIT) for t in self.mode.transitions)
        return INIT if begins else DEFAULT_ENTRY

    # Discrete steps

    def macro_steps(
        self,
        entry: str,
        values: Valuation,
        candidates: Candidates = both_ends,
        bound: int = 1000,
    ) -> MacroSteps:
        """R^D_{e,x} for all exit points x from one state at e: depth-first over
        micro-executions of at most `bound` states that repeat no state."""
        first = State(ControlPoint(None, entry), values)
        stack: list[tuple[State, ...]] = [(first,)]
        visited = {first.key}
        found: list[MacroStep] = []
        livelock: tuple[State, ...] | None = None
        while stack:
            states = stack.pop()
            if self._is_exit(states[-1].point):
                found.append(MacroStep(states))
                continue
            if len(states) >= bound:
                livelock = livelock or states
                continue
            reached, stuck = self._micro_steps(states[-1], candidates, bound)
            livelock = livelock or stuck
            for state in reversed(reached):
                if state.key not in visited:
                    visited.add(state.key)
                    stack.append((*states, state))
        return MacroSteps(tuple(found), livelock)

    def micro_steps(self, state: State, candidates: Candidates = both_ends) -> tuple[State, ...]:
        """The states one micro-step away."""
        return tuple(self._micro_steps(state, candidates, 1000)[0])

    def _micro_steps(
        self, state: State, candidates: Candidates, bound: int
    ) -> tuple[list[State], tuple[State, ...] | None]:
        name, point = state.point.submode, state.point.point
        if name is not None and self._is_entry(name, point):
            inner = self.submodes[name].macro_steps(point, state.values, candidates, bound)
            reached = [State(ControlPoint(name, s.exit), s.values) for s in inner.found]
            return reached, inner.livelock
        return [
            State(transition.target, values)
            for transition in self._enabled(state)
            for values in outcomes(transition.actions, state.values, candidates)
        ], None

    def _enabled(self, state: State) -> Iterator[Transition]:
        for transition in self.mode.transitions:
            if transition.source == state.point and holds(transition.guard, state.values):
                yield transition

    def _is_exit(self, point: ControlPoint) -> bool:
        return point.submode is None and point.point in (*self.mode.exits, DEFAULT_EXIT)

    def _is_entry(self, submode: str, point: str) -> bool:
        return point in (*self.submodes[submode].mode.entries, DEFAULT_ENTRY)

    def environment_step(self, before: State, after: State) -> bool:
        """Whether the environment may lead from an exit to an entry point with these
        values: it may change every variable but the private ones."""
        entries = (*self.mode.entries, DEFAULT_ENTRY, self.start)
        return (
            self._is_exit(before.point)
            and after.point.submode is None
            and after.point.point in entries
            and all(before.values[name] == after.values[name] for name in self.private)
        )

    # Continuous steps

    def active_path(self, values: Valuation) -> tuple[str, ...]:
        """The active submodes from the top down, as the histories tell."""
        found: list[str] = []
        here = self
        while here.history is not None and values[here.history] != INACTIVE:
            name = str(values[here.history])
            found.append(name)
            here = here.submodes[name]
        return tuple(found)

    def constraints(self, values: Valuation) -> ActiveConstraints:
        """What a flow from a state at the default exit must satisfy."""
        path = self.active_path(values)
        active = [self]
        for name in path:
            active.append(active[-1].submodes[name])
        moving = {d.name for part in active for d in part.local}
        return ActiveConstraints(
            path,
            tuple(c for part in active for c in part.mode.flows),
            tuple(c for part in active for c in part.mode.algebraic),
            conjunction(*(part.mode.invariant for part in active)),
            tuple(d.name for d in self.private_declarations() if d.name not in moving),
        )

    def flow_violations(
        self,
        values: Valuation,
        flow: Mapping[str, Polynomial],
        duration: Fraction,
        discrete: frozenset[str] = frozenset(),
    ) -> tuple[str, ...]:
        """Why (s, f) is not in R^C: nothing if it is; exact.

        `flow` gives the variables that change as polynomials in time; the others, among
        them all of `discrete` and discrete locals, must keep their values.
        """
        found = []
        fixed = discrete | {d.name for d in self.private_declarations() if d.kind is Kind.DISCRETE}
        binding = self.constraints(values)
        for name, path in flow.items():
            if value_at(path, Fraction(0)) != values[name]:
                found.append(f"{name} does not start at its value {values[name]}")
            if name in fixed | set(binding.resting) and len(path) > 1:
                found.append(f"{name} changes, but nothing lets it flow")
        full = {**held(values), **flow}
        speeds = {
            DERIVATIVE.format(c.variable): derivative(along(variable(c.variable), full))
            for c in binding.flows
        }
        for constraint in binding.flows:
            claim = value_in(DERIVATIVE.format(constraint.variable), constraint.range)
            if not always(claim, {**full, **speeds}, duration):
                found.append(f"the differential constraint on {constraint.variable} fails")
        found += [
            f"the algebraic constraint on {constraint.variable} fails"
            for constraint in binding.algebraic
            if not always(value_in(constraint.variable, constraint.range), full, duration)
        ]
        if not always(binding.invariant, full, duration):
            found.append("the invariant fails")
        return tuple(found)


def outcomes(
    actions: Iterable[Constraint], values: Valuation, candidates: Candidates = both_ends
) -> list[dict[str, Scalar]]:
    """The valuations that sequential assignments can leave, each assignment reading what
    the ones before it wrote."""
    reached: list[dict[str, Scalar]] = [dict(values)]
    for action in actions:
        reached = [
            {**before, action.variable: new}
            for before in reached
            for new in _values(action, before, candidates)
        ]
    return [{n: v for n, v in after.items() if n in values} for after in reached]


def _values(action: Constraint, values: Valuation, candidates: Candidates) -> Iterable[Scalar]:
    exact = action.range.exact
    if exact is not None:
        return (evaluate(exact, values),)
    low, high = action.range.low, action.range.high
    if low is None or high is None:
        raise ValueError(f"the range of {action.variable} is unbounded: nothing to enumerate")
    least, most = (Fraction(evaluate_number(bound, values)) for bound in (low, high))
    return candidates(action.variable, least, most) if least <= most else ()


# Names


def _names_inside(
    mode: Mode, renaming: tuple[tuple[str, str], ...], names: Mapping[str, str]
) -> dict[str, str]:
    """The full names of a submode's global variables."""
    found = {}
    for declared in mode.variables:
        outer = renamed(renaming, declared.name)
        found[declared.name] = names.get(outer, outer)
    return found


def _spelled_out(mode: Mode, names: Mapping[str, str]) -> Mode:
    """The mode with every variable under its full name."""

    def full(constraint: Constraint) -> Constraint:
        name = names.get(constraint.variable, constraint.variable)
        spelled = _in_names(constraint.range, names)
        assert spelled is not None
        return Constraint(name, spelled, constraint.span)

    return replace(
        mode,
        transitions=tuple(
            replace(
                t,
                guard=_expression_in_names(t.guard, names),
                actions=tuple(map(full, t.actions)),
            )
            for t in mode.transitions
        ),
        flows=tuple(map(full, mode.flows)),
        algebraic=tuple(map(full, mode.algebraic)),
        invariant=_expression_in_names(mode.invariant, names),
    )


def _in_names(given: Range | None, names: Mapping[str, str]) -> Range | None:
    if given is None:
        return None
    return given.substitute({own: variable(new) for own, new in names.items()})


def _expression_in_names(given: Expression, names: Mapping[str, str]) -> Expression:
    used = free_variables(given)
    return substitute(given, {own: variable(names[own]) for own in used if own in names})
