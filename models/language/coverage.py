"""Guards that leave no way out: the solver looks for a state in which control is stuck.

- At a named entry or exit point control cannot rest: the guards of the transitions that
  leave it must cover all states.
- Every variable should have a first value; the guards of the transitions from `init` must
  cover the initial set, which must not be empty, and in some initial state the invariant
  must hold.
- A transition must be possible somewhere: its guard, the invariant around its source and
  that of its target must not contradict each other. (That a guard also holds where the
  target's invariant does not is common and harmless: the transition is blocked there.)
- Some transition should lead on from where an invariant runs out (`dead_ends`).

An empty initial set is an error, the others are warnings; where the solver finds a state
in which control is stuck, the message shows it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction

from workbench.models.agents.hierarchy import ControlPoint, Mode
from workbench.models.agents.resets import ReadsChoiceError, after
from workbench.models.automaton import (
    TIME,
    Automaton,
    Constraint,
    Edge,
    HybridAutomaton,
    Initial,
    Kind,
    Location,
    Parameter,
    ValueType,
)
from workbench.models.counting import counted
from workbench.models.expressions.affine import AffineForm, affine_form
from workbench.models.expressions.expression import (
    ONE,
    TRUE,
    Expression,
    add,
    compare,
    conjunction,
    constant,
    disjunction,
    equal,
    multiply,
    negation,
    variable,
)
from workbench.models.expressions.operators import Op
from workbench.models.expressions.traversal import conjuncts, free_variables, substitute
from workbench.models.language.findings import DiagnosticLog, listed
from workbench.models.language.questions import Facts, Questions
from workbench.models.smt.solver import Unknown, Unsatisfiable, Witness
from workbench.models.source import Span

MAX_PER_PLACE = 3
"""How many instances of one transition are asked about; the others share its text."""


# Named points, mode by mode


def check_points(mode: Mode, parameters: Iterable[Parameter], findings: DiagnosticLog) -> None:
    """Report named points of a mode and of its submodes that control may not leave."""
    points = [ControlPoint(None, name) for name in mode.entries if mode.submodes]
    for sub in mode.submodes:
        left_by = {t.target.point for t in sub.mode.transitions if t.target.submode is None}
        points += [ControlPoint(sub.name, name) for name in sub.mode.exits if name in left_by]
    if not points:
        return
    types = {v.name: v.type for v in mode.variables} | {p.name: p.type for p in parameters}
    questions = Questions(types)
    known = Facts(parameter_bounds(parameters))
    for point in points:
        leaving = [t for t in mode.transitions if t.source == point]
        word = "exit" if point.submode is not None else "entry"
        span = mode.submode(point.submode).span if point.submode is not None else mode.span
        if not leaving:
            findings.warn(
                "stuck-point",
                f"nothing leads on from the {word} `{point}`",
                span,
                f"add `trans from {point} to ...`",
            )
            continue
        uncovered = negation(disjunction(*(t.guard for t in leaving)))
        uncovered = _with_equations(uncovered, mode.algebraic)
        answer = questions.ask(known.with_relevant(uncovered))
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

    def __init__(self, automaton: Automaton, findings: DiagnosticLog):
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
        self._facts = Facts(self._known)
        self._is_single = len(automaton.components) == 1
        self._cannot_start = False

    def check_start(self) -> None:
        """Report that there is no initial state."""
        starts = list(self._start_conditions())
        if self._check_start(starts):
            for component in self._automaton.components:
                self._check_first_invariant(component, Facts(starts))

    def check(self) -> None:
        """Report what is wrong with the start and with the edges."""
        starts = list(self._start_conditions())
        if self._check_start(starts):
            self._check_first_values(starts)
            facts = Facts(starts)
            for component in self._automaton.components:
                self._check_first_guards(component, facts)
                self._check_first_invariant(component, facts)
        for component in self._automaton.components:
            self._check_edges(component)
        if not self._cannot_start:
            check_dead_ends(self._automaton, self._questions, self._facts, self._findings)
        if self._undecided:
            reasons = sorted({reason for reason, _ in self._undecided})
            count = len(self._undecided)
            self._findings.warn(
                "not-checked",
                f"{counted(count, 'question')} about guards and invariants could"
                f" not be decided: {'; '.join(reasons[:3])}",
                self._undecided[0][1],
            )

    def _start_conditions(self) -> Iterator[Expression]:
        """What holds before every initial state is entered, whatever modes are; of what is
        assumed, which holds of states, that about values which entering does not change."""
        parts = self._automaton.components
        assigned = {r.variable for part in parts for start in part.initial for r in start.resets}
        for whole in self._known:
            yield from (p for p in conjuncts(whole) if assigned.isdisjoint(free_variables(p)))
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

    def _check_first_values(self, starts: list[Expression]) -> None:
        """Every variable should start somewhere. Variables of submodes, which may be set on
        entering, and free ones, which are told otherwise, are left out."""
        said = free_variables(*starts)
        told: set[Span | None] = set()
        for component in self._automaton.components:
            known = said | free_variables(*(i.condition for i in component.initial))
            flowing = {f.variable for place in component.locations for f in place.flows}
            for declared in component.variables:
                name = declared.name
                own = name.removeprefix(f"{component.name}.")
                is_deeper = "." in own and (own != name or self._is_single)
                is_free = declared.kind is Kind.ANALOG and name not in flowing
                if name in known or is_deeper or is_free or declared.span in told:
                    continue
                if all(_sets(component, initial, name) for initial in component.initial):
                    continue
                told.add(declared.span)
                self._findings.warn(
                    "no-first-value",
                    f"`{name}` may start with any value",
                    declared.span,
                    "say where it starts: `= value` where it is declared, or in an `init` block",
                )

    def _check_first_guards(self, component: HybridAutomaton, starts: Facts) -> None:
        common = set(_common(component.initial))
        own = [
            conjunction(*(p for p in conjuncts(i.condition) if p not in common))
            for i in component.initial
        ]
        if not own or TRUE in own:
            return
        uncovered = _with_equations(negation(disjunction(*own)), _shared_equations(component))
        answer = self._questions.ask(starts.with_relevant(uncovered))
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

    def _check_first_invariant(self, component: HybridAutomaton, starts: Facts) -> None:
        """Some initial state must satisfy the invariant of the mode it starts in."""
        if not component.initial:
            return
        for initial in component.initial:
            location = component.location(initial.location)
            if location.invariant == TRUE:
                return
            try:
                entered = after(_on_arrival(location), initial.resets)
            except ReadsChoiceError:
                return
            whole = starts.with_relevant(conjunction(initial.condition, entered))
            if not isinstance(self._questions.ask(whole), Unsatisfiable):
                return
        location = component.location(component.initial[0].location)
        self._cannot_start = True
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
            try:
                entered = after(_on_arrival(target), edge.resets)
            except ReadsChoiceError:
                continue
            leaving = conjunction(edge.guard, source.invariant)
            key = (edge.span, edge.target)
            if leaving == TRUE or self._asked.get(key, 0) >= MAX_PER_PLACE:
                continue
            self._asked[key] = self._asked.get(key, 0) + 1
            leaving = _with_equations(leaving, source.algebraic)
            whole = self._facts.with_relevant(conjunction(leaving, entered))
            if isinstance(self._questions.ask(whole), Unsatisfiable):
                self._asked[key] = MAX_PER_PLACE
                alone = self._questions.ask(self._facts.with_relevant(leaving))
                where = edge.source if isinstance(alone, Unsatisfiable) else edge.target
                self._findings.warn(
                    "impossible-transition",
                    f"`{edge.name}` can never be taken: its guard contradicts the invariant of"
                    f" `{where}`",
                    edge.span,
                    "compare the guard with the invariant; is one of them the wrong way round?",
                )


def _sets(component: HybridAutomaton, initial: Initial, name: str) -> bool:
    """Whether entering sets a variable, or an equation does."""
    defined = component.location(initial.location).algebraic
    return any(c.variable == name for c in (*initial.resets, *defined))


def _common(initial: tuple[Initial, ...]) -> tuple[Expression, ...]:
    """The conjuncts that all initial conditions of a component share."""
    if not initial:
        return ()
    shared = dict.fromkeys(conjuncts(initial[0].condition))
    for other in initial[1:]:
        held = set(conjuncts(other.condition))
        shared = {part: None for part in shared if part in held}
    return tuple(shared)


def _shared_equations(component: HybridAutomaton) -> tuple[Constraint, ...]:
    """The algebraic constraints that hold in every location where the component can start."""
    places = [component.location(i.location) for i in component.initial]
    shared = dict.fromkeys(places[0].algebraic)
    for place in places[1:]:
        shared = {part: None for part in shared if part in set(place.algebraic)}
    return tuple(shared)


def _with_equations(condition: Expression, constraints: Iterable[Constraint]) -> Expression:
    """The condition with the equations of the algebraic variables that it mentions, and of
    those that these mention."""
    by_name = {c.variable: c for c in constraints}
    parts = [condition]
    frontier = [condition]
    while frontier and by_name:
        for name in sorted(free_variables(frontier.pop()) & by_name.keys()):
            equations = list(_equations([by_name.pop(name)]))
            parts += equations
            frontier += equations
    return conjunction(*parts)


def _on_arrival(location: Location) -> Expression:
    """The invariant at the moment of entering. Algebraic variables then have new values,
    which go by names of their own."""
    condition = _with_equations(location.invariant, location.algebraic)
    new = {c.variable: variable(f"{c.variable} on arrival") for c in location.algebraic}
    return substitute(condition, new)


def _input_bounds(automaton: Automaton) -> Iterator[Expression]:
    for given in automaton.inputs:
        value = variable(given.name)
        if given.low is not None:
            yield compare(Op.GREATER_EQUAL, value, given.low)
        if given.high is not None:
            yield compare(Op.LESS_EQUAL, value, given.high)


# Modes that every run ends in: the invariant runs out, and no transition leads on.
#
# Provable without search: a comparison of the invariant whose sides come closer by some speed in
# every state of the mode, so time has to end, while the guard of each transition contradicts the
# invariants around it. Anything that might help a run on - other agents that change what is
# compared, interactions, choices - keeps the check silent.

SLOWEST = Fraction(1, 1000)
"""A boundary that is approached at this speed or faster is reached."""


def check_dead_ends(
    automaton: Automaton, questions: Questions, facts: Facts, findings: DiagnosticLog
) -> None:
    """Report modes from which no run ever goes on. Algebraic variables are left alone."""
    if getattr(automaton, "interactions", ()):
        return
    still = {v.name for v in automaton.variables if v.kind is Kind.DISCRETE}
    still |= {p.name for p in automaton.parameters}
    for component in automaton.components:
        others = {
            reset.variable
            for part in automaton.components
            if part is not component
            for edge in part.edges
            for reset in edge.resets
        }
        for place in _reached(component):
            if place.algebraic or place.flows == ():
                continue
            end = next(_ends(place, still - others, others, questions, facts), None)
            if end is None or not all(
                _is_impossible(edge, component, questions, facts)
                for edge in component.edges_from(place.name)
            ):
                continue
            findings.warn(
                "dead-end",
                f"every run that comes to `{place.name}` ends there: time cannot go on for ever"
                f" while `{end}`, and no transition leads out",
                end.span or place.span,
                "add a transition for when the invariant ends, or correct the guard of one",
            )


def _reached(component: HybridAutomaton) -> Iterator[Location]:
    """The locations to which edges lead from where runs start."""
    frontier = [start.location for start in component.initial]
    found: dict[str, None] = {}
    while frontier:
        name = frontier.pop()
        if name not in found:
            found[name] = None
            frontier += [edge.target for edge in component.edges_from(name)]
    return map(component.location, found)


def _ends(
    place: Location,
    still: set[str],
    changed_by_others: set[str],
    questions: Questions,
    facts: Facts,
) -> Iterator[Expression]:
    """Parts of the invariant that cannot hold for ever while time passes."""
    for part in conjuncts(place.invariant):
        distance = _distance(part)
        if distance is None or not changed_by_others.isdisjoint(distance.coefficients):
            continue
        speed = _least_speed(place, distance, still)
        if speed is None:
            continue
        slower = compare(Op.LESS, speed, constant(SLOWEST))
        slow = facts.with_relevant(conjunction(place.invariant, slower))
        if isinstance(questions.ask(slow), Unsatisfiable):
            yield part


def _distance(comparison: Expression) -> AffineForm | None:
    """What must stay at most 0, as a form."""
    if comparison.op not in (Op.LESS, Op.LESS_EQUAL, Op.GREATER, Op.GREATER_EQUAL):
        return None
    left, right = comparison.args
    is_upper = comparison.op in (Op.LESS, Op.LESS_EQUAL)
    return affine_form(left - right if is_upper else right - left)


def _least_speed(place: Location, distance: AffineForm, still: set[str]) -> Expression | None:
    """A bound below the derivative of a form; None where a part of it may change anyhow. What is
    `still` changes only by transitions."""
    known = {flow.variable: flow.range for flow in place.flows}
    terms: list[Expression] = []
    for name, factor in distance.coefficients.items():
        if name == TIME:
            terms.append(constant(factor) * ONE)
        elif name in known:
            end = known[name].low if factor > 0 else known[name].high
            if end is None:
                return None
            terms.append(multiply(constant(factor), end))
        elif name not in still:
            return None
    return add(*terms) if terms else None


def _is_impossible(
    edge: Edge, component: HybridAutomaton, questions: Questions, facts: Facts
) -> bool:
    """Whether no state of the mode allows the edge."""
    source, target = component.location(edge.source), component.location(edge.target)
    if target.algebraic:
        return False
    guard = edge.guard
    if edge.urgent and not _is_closed(guard):
        return False
    try:
        entered = after(target.invariant, edge.resets)
    except ReadsChoiceError:
        return False
    whole = facts.with_relevant(conjunction(guard, source.invariant, entered))
    return isinstance(questions.ask(whole), Unsatisfiable)


def _is_closed(guard: Expression) -> bool:
    """Whether the guard holds in the limit of states in which it holds."""
    return all(p.op in (Op.LESS_EQUAL, Op.GREATER_EQUAL, Op.EQUAL) for p in conjuncts(guard))
