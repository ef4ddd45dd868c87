"""Guards that leave no way out: the solver looks for a state in which control is stuck.

- At a named entry or exit point control cannot rest: the guards of the transitions that
  leave it must cover all states.
- The guards of the transitions from `init` must cover the initial set, which must not be
  empty, and in some initial state the invariant must hold.
- A transition must be possible somewhere: its guard, the invariant around its source and
  that of its target must not contradict each other. (That a guard also holds where the
  target's invariant does not is common and harmless: the transition is blocked there.)

An empty initial set and a named point without any way on are errors, the others warnings;
where the solver finds a state in which control is stuck, the message shows it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from models.automaton import Automaton, Constraint, HybridAutomaton, Initial, Parameter, ValueType
from models.expression import (
    TRUE,
    Expression,
    Op,
    compare,
    conjunction,
    conjuncts,
    disjunction,
    equal,
    free_variables,
    negation,
    substitute,
    variable,
)
from models.hierarchy import ControlPoint, Mode
from models.language.findings import Findings, listed
from models.language.questions import Questions, relevant
from models.resets import ReadsChoiceError, after
from models.solver import Unknown, Unsatisfiable, Witness
from models.source import Span

MAX_PER_PLACE = 3
"""How many instances of one transition are asked about; the others share its text."""


# Named points, mode by mode


def check_points(mode: Mode, parameters: Iterable[Parameter], findings: Findings) -> None:
    """Report named points of a mode and of its submodes that control may not leave."""
    points = [ControlPoint(None, name) for name in mode.entries if mode.submodes]
    for sub in mode.submodes:
        left_by = {t.target.point for t in sub.mode.transitions if t.target.submode is None}
        points += [ControlPoint(sub.name, name) for name in sub.mode.exits if name in left_by]
    if not points:
        return
    types = {v.name: v.type for v in mode.variables} | {p.name: p.type for p in parameters}
    questions = Questions(types)
    known = [*parameter_bounds(parameters), *_equations(mode.algebraic)]
    for point in points:
        leaving = [t for t in mode.transitions if t.source == point]
        word = "exit" if point.submode is not None else "entry"
        span = mode.submode(point.submode).span if point.submode is not None else mode.span
        if not leaving:
            findings.error(
                "stuck-point",
                f"nothing leads on from the {word} `{point}`",
                span,
                f"add `trans from {point} to ...`",
            )
            continue
        uncovered = negation(disjunction(*(t.guard for t in leaving)))
        answer = questions.ask(relevant(uncovered, known))
        if isinstance(answer, Witness):
            findings.warn(
                "guards-do-not-cover",
                f"control is stuck at the {word} `{point}` when {answer}: no guard holds",
                leaving[0].span,
                "widen a guard, or add a transition without `when`",
            )
        elif isinstance(answer, Unknown):
            findings.warn(
                "not-checked",
                f"whether the guards at `{point}` cover all states was not decided:"
                f" {answer.reason}",
                leaving[0].span,
            )


def parameter_bounds(parameters: Iterable[Parameter]) -> Iterator[Expression]:
    """The ranges of uncertain constants as conditions."""
    for parameter in parameters:
        value = variable(parameter.name)
        if parameter.low is not None:
            yield compare(Op.GREATER_EQUAL, value, parameter.low)
        if parameter.high is not None:
            yield compare(Op.LESS_EQUAL, value, parameter.high)


def _equations(constraints: Iterable[Constraint]) -> Iterator[Expression]:
    for constraint in constraints:
        value = variable(constraint.variable)
        exact = constraint.range.exact
        if exact is not None:
            yield equal(value, exact)
            continue
        if constraint.range.low is not None:
            yield compare(Op.GREATER_EQUAL, value, constraint.range.low)
        if constraint.range.high is not None:
            yield compare(Op.LESS_EQUAL, value, constraint.range.high)


# The start and the edges of the flat automaton


class FlatCheck:
    """The checks on a flat automaton, within one budget."""

    def __init__(self, automaton: Automaton, findings: Findings):
        types: dict[str, ValueType] = {}
        types.update((v.name, v.type) for v in automaton.variables)
        types.update((i.name, i.type) for i in automaton.inputs)
        types.update((p.name, p.type) for p in automaton.parameters)
        self._automaton = automaton
        self._findings = findings
        self._questions = Questions(types)
        self._undecided: list[tuple[str, Span | None]] = []
        self._asked: dict[tuple[Span | None, str], int] = {}
        self._known = [
            *parameter_bounds(automaton.parameters),
            *_input_bounds(automaton),
            automaton.assumption,
        ]

    def check(self) -> None:
        """Report what is wrong with the start and with the edges."""
        starts = list(self._start_conditions())
        if self._check_start(starts):
            for component in self._automaton.components:
                self._check_first_guards(component, starts)
                self._check_first_invariant(component, starts)
        for component in self._automaton.components:
            self._check_edges(component)
        if self._undecided:
            reasons = sorted({reason for reason, _ in self._undecided})
            count = len(self._undecided)
            self._findings.warn(
                "not-checked",
                f"{count} question{'s' if count > 1 else ''} about guards and invariants could"
                f" not be decided: {'; '.join(reasons[:3])}",
                self._undecided[0][1],
            )

    def _start_conditions(self) -> Iterator[Expression]:
        """What holds in every initial state, whatever modes are entered."""
        yield from self._known
        joint = getattr(self._automaton, "initial_condition", TRUE)
        yield joint
        for component in self._automaton.components:
            yield from _common(component.initial)

    def _check_start(self, starts: list[Expression]) -> bool:
        parts = [part for whole in starts for part in conjuncts(whole)]
        answer = self._questions.ask(conjunction(*parts))
        if not isinstance(answer, Unsatisfiable):
            return True
        core = self._questions.conflict(parts)
        shown = listed(map(str, core))
        span = next((part.span for part in core if part.span is not None), None)
        self._findings.error(
            "empty-initial-set",
            f"there is no initial state: {shown} cannot hold together"
            if len(core) > 1
            else f"there is no initial state: {shown} never holds",
            span,
            "correct the `init` blocks",
        )
        return False

    def _check_first_guards(self, component: HybridAutomaton, starts: list[Expression]) -> None:
        common = set(_common(component.initial))
        own = [
            conjunction(*(p for p in conjuncts(i.condition) if p not in common))
            for i in component.initial
        ]
        if not own or TRUE in own:
            return
        known = [*starts, *_shared_equations(component)]
        answer = self._questions.ask(relevant(negation(disjunction(*own)), known))
        span = next((p.span for whole in own for p in conjuncts(whole) if p.span), None)
        if isinstance(answer, Witness):
            self._findings.warn(
                "guards-do-not-cover",
                f"`{component.name}` cannot start when {answer}: no guard from `init` holds",
                span,
                "widen a guard of a transition from `init`, or restrict the `init` block",
            )
        elif isinstance(answer, Unknown):
            self._undecided.append((answer.reason, span))

    def _check_first_invariant(self, component: HybridAutomaton, starts: list[Expression]) -> None:
        """Some initial state must satisfy the invariant of the mode it starts in."""
        if not component.initial:
            return
        for initial in component.initial:
            location = component.location(initial.location)
            condition = conjunction(location.invariant, *_equations(location.algebraic))
            try:
                entered = after(condition, initial.resets)
            except ReadsChoiceError:
                return
            whole = conjunction(initial.condition, entered)
            if location.invariant == TRUE:
                return
            if not isinstance(self._questions.ask(relevant(whole, starts)), Unsatisfiable):
                return
        location = component.location(component.initial[0].location)
        self._findings.warn(
            "starts-outside-invariant",
            f"`{component.name}` cannot start: no initial state satisfies the invariant"
            f" `{location.invariant}`",
            location.invariant.span or location.span,
            "correct the invariant or the `init` block",
        )

    def _check_edges(self, component: HybridAutomaton) -> None:
        for edge in component.edges:
            source, target = component.location(edge.source), component.location(edge.target)
            definitions = {c.variable: c.range.exact for c in target.algebraic}
            try:
                entered = after(_expanded(target.invariant, definitions), edge.resets)
            except ReadsChoiceError:
                continue
            leaving = conjunction(edge.guard, source.invariant)
            key = (edge.span, edge.target)
            if leaving == TRUE or self._asked.get(key, 0) >= MAX_PER_PLACE:
                continue
            self._asked[key] = self._asked.get(key, 0) + 1
            known = [*_equations(source.algebraic), *self._known]
            whole = relevant(conjunction(leaving, entered), known)
            if isinstance(self._questions.ask(whole), Unsatisfiable):
                self._asked[key] = MAX_PER_PLACE
                alone = self._questions.ask(relevant(leaving, known))
                where = edge.source if isinstance(alone, Unsatisfiable) else edge.target
                self._findings.warn(
                    "impossible-transition",
                    f"`{edge.name}` can never be taken: its guard contradicts the invariant of"
                    f" `{where}`",
                    edge.span,
                    "compare the guard with the invariant; is one of them the wrong way round?",
                )


def _common(initial: tuple[Initial, ...]) -> tuple[Expression, ...]:
    """The conjuncts that all initial conditions of a component share."""
    if not initial:
        return ()
    shared = dict.fromkeys(conjuncts(initial[0].condition))
    for other in initial[1:]:
        held = set(conjuncts(other.condition))
        shared = {part: None for part in shared if part in held}
    return tuple(shared)


def _shared_equations(component: HybridAutomaton) -> tuple[Expression, ...]:
    """The algebraic equations that hold in every location where the component can start."""
    places = [component.location(i.location) for i in component.initial]
    shared = dict.fromkeys(_equations(places[0].algebraic))
    for place in places[1:]:
        held = set(_equations(place.algebraic))
        shared = {part: None for part in shared if part in held}
    return tuple(shared)


def _expanded(condition: Expression, equations: Mapping[str, Expression | None]) -> Expression:
    """Algebraic variables replaced by what defines them, a bounded number of times."""
    definitions = {name: value for name, value in equations.items() if value is not None}
    for _ in range(len(definitions)):
        names = free_variables(condition) & definitions.keys()
        if not names:
            break
        condition = substitute(condition, {name: definitions[name] for name in names})
    return condition


def _input_bounds(automaton: Automaton) -> Iterator[Expression]:
    for given in automaton.inputs:
        value = variable(given.name)
        if given.low is not None:
            yield compare(Op.GREATER_EQUAL, value, given.low)
        if given.high is not None:
            yield compare(Op.LESS_EQUAL, value, given.high)
