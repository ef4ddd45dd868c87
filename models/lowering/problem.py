"""The linear view of an automaton and a property: what the obligations speak about.

Names in rows: a variable, input or parameter by its own name; `x'` for the value after a
jump; `d(x)` for the derivative of a variable that is only known to lie in a range. Discrete
truth values and symbols are numbers (see `models.lowering.alternatives`), so an invariant may speak
about them: `busy - 1 >= 0` where busy is true.

Lemma. Every run of the automaton is one of the view: its starts and jumps satisfy one of the row
lists of `starts` and `jumps`; at almost every moment of a stay the state satisfies one of
`flowing`, and the derivative is a mean of those of `dynamics` whose rows hold; and every reachable
bad state satisfies one of `bad`. So a proof about the view is a proof about the automaton.
Proof. Conditions become cases one of which holds wherever they do (`alternatives`), and anything
that is not linear is left out. No urgent edge is enabled while time passes, but at moments without
extent (`Jump` says what that means for strict guards); where that would be many cases it is left
out, which only admits more.

A view may have a *clock*: the time since the start of the run as a further variable, under the
reserved name `time`. It is 0 at the start, has slope 1, and no jump changes it; so it takes no
part in what an automaton does, and a proof about the view with the clock is one about the
automaton.

Where uncertain parameters or inputs multiply variables, the dynamics are given once for every
corner of their box (`models.lowering.parameter_corners`), where derivatives are piecewise linear
once for every branch (`models.lowering.flow_branches`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property

from workbench.models.automaton import (
    BOOL,
    REAL,
    TIME,
    Automaton,
    Constraint,
    Edge,
    Initial,
    Input,
    Kind,
    Location,
    Parameter,
    Property,
    PropertyKind,
    primed,
)
from workbench.models.dynamics import eliminate_algebraic
from workbench.models.expressions.expression import (
    Expression,
    boolean,
    conjunction,
    disjunction,
    equal,
    negation,
    symbol,
    variable,
)
from workbench.models.expressions.operators import Op
from workbench.models.expressions.ranges import is_empty
from workbench.models.expressions.traversal import free_variables
from workbench.models.linear import Alternatives, Form, Row, Rows, affine, combination, of_variable
from workbench.models.lowering.alternatives import (
    TooManyCasesError,
    Types,
    alternatives,
    at_least,
    at_most,
    both,
    closed,
)
from workbench.models.lowering.flow_branches import flow_branches
from workbench.models.lowering.parameter_corners import (
    Corner,
    at_corner,
    is_steady,
    parameter_corners,
)
from workbench.models.lowering.pieces import by_cases
from workbench.models.lowering.quantities import (
    Quantities,
    is_continuous,
    is_total,
    measured,
    measured_resets,
    quantities,
)
from workbench.models.lowering.stuck import stuck
from workbench.models.unfolding import unfold

MAX_FLOWING = 64
MOST_STUCK = 100
"""A condition for stuck states with more cases is weakened."""


@dataclass(frozen=True, slots=True)
class Dynamics:
    """The flow of a location at one corner of the parameters: `derivative` of every
    variable as a form, which may mention `d(x)`; `rows` bound those; `corner` are the values of
    the parameters that multiply variables."""

    derivative: Mapping[str, Form]
    rows: Rows
    corner: Mapping[str, Fraction] = field(default_factory=dict)

    def along(self, form: Form) -> Form:
        """The derivative in time of a form over variables and parameters."""
        zero = Form({})
        return combination(
            (a, self.derivative.get(name, zero)) for name, a in form.coefficients.items()
        )


@dataclass(frozen=True, slots=True)
class Jump:
    """An edge as a relation between a state and its successor, both in one row list;
    `cases` are the disjuncts of guard and target invariant together.

    A strict guard of an urgent edge, like x > 1, is never reached by a stay that has to end at
    x = 1. Models mean by it that the edge is taken as soon as x exceeds 1, so the rows of urgent
    edges are not strict: the state in which the edge is taken is a limit of states in which one
    of the cases holds, and so satisfies the rows of one of the (finitely many) cases."""

    name: str
    target: str
    cases: Alternatives


@dataclass(frozen=True)
class LinearProblem:
    """The linear view, asked for one location at a time; what was built is kept."""

    automaton: Automaton
    claim: Property
    measures: bool = False
    """Whether conditions before a jump speak about quantities by name."""
    has_clock: bool = False
    """Whether the time since the start is a variable even if the automaton does not name it."""

    @cached_property
    def measuring(self) -> LinearProblem:
        """The view in which quantities (`models.lowering.quantities`) have names."""
        return replace(self, measures=True)

    @cached_property
    def with_clock(self) -> LinearProblem:
        """The view in which invariants may speak about the time since the start; the view as
        it is if the automaton has that name already, be it for something else."""
        taken = self.names | {u.name for u in self.automaton.inputs}
        return self if TIME in taken else replace(self, has_clock=True)

    def quantities(self, location: str) -> Quantities:
        """The quantities of a location, by expression."""
        found = self._quantities.get(location)
        if found is None:
            edges = self.automaton.edges_from(location)
            bad = self.bad_states(location)
            invariant = self.automaton.location(location).invariant
            conditions = (invariant, *(edge.guard for edge in edges), bad)
            coded = {n for n in self.types if self._is_coded(n)}
            numbers = (self.names | {u.name for u in self.automaton.inputs}) - coded
            found = self._quantities[location] = quantities(iter(conditions), edges, numbers)
        return found

    @cached_property
    def names(self) -> frozenset[str]:
        """The names that an invariant may speak about: variables and parameters."""
        clock = {TIME} if self.has_clock else set()
        return frozenset(v.name for v in self.automaton.variables) | frozenset(
            {p.name for p in self.automaton.parameters} | clock
        )

    @cached_property
    def types(self) -> Types:
        """The discrete variables that are whole numbers in rows, before and after a jump."""
        whole = {
            v.name: v.type
            for v in self.automaton.variables
            if v.kind is Kind.DISCRETE and v.type != REAL
        }
        return whole | {primed(name): kind for name, kind in whole.items()}

    def has_location(self, name: str) -> bool:
        """Whether the automaton has a location of that name."""
        try:
            self.automaton.location(name)
        except LookupError:
            return False
        return True

    def starts(self) -> Iterator[tuple[str, Alternatives]]:
        """The initial states of each location, over primed names (values after the resets
        of entry transitions) and plain ones (before). What is assumed of variables is assumed
        of states, so of the values after."""
        variables = {v.name: primed(v.name) for v in self.automaton.variables}
        after = variables | {u.name: primed(u.name) for u in self.automaton.inputs}
        constant = tuple(
            row for row in self._environment if variables.keys().isdisjoint(row.form.coefficients)
        )
        entered = tuple(row.renamed(after) for row in self._environment)
        for start in self.automaton.initial_sets():
            condition = conjunction(
                start.condition, *self._clock_starts(), *self._any_values(start)
            )
            before = both(self._alternatives(condition), self.relation(start.resets), constant)
            yield start.location, both(before, self._after(start.location), entered)

    def invariant(self, location: str) -> Alternatives:
        """The invariant's disjuncts, each with the bounds of inputs and parameters."""
        return both(self._invariant_here(location), ((),), self._environment)

    def flowing(self, location: str) -> Alternatives:
        """The states in which time passes, but for moments without extent: the invariant's
        disjuncts where no urgent edge is enabled.

        Left out are urgent guards that would make more than `MAX_FLOWING` cases, that read
        inputs, which need not be steady, or that are not defined everywhere: this only admits
        more states.
        """
        return self._without_urgency(location, self.invariant(location))

    def idle(self, location: str) -> Alternatives:
        """What holds after some time has passed in a location, since no urgent edge was enabled
        before: cases of rows that are not strict, over names and quantities that change
        continuously; `((),)` where nothing is known. There are no cases where no time passes
        at all, because a derivative would have to lie in an empty range.

        The same guards are left out as in `flowing`.
        """
        ranges = (flow.range for flow in self.automaton.location(location).flows)
        if any(is_empty(given) for given in ranges):
            return ()
        cases = self._without_urgency(location, ((),))
        return tuple(map(closed, cases))

    def dynamics(self, location: str) -> tuple[Dynamics, ...]:
        """The flow at every corner of the parameters and inputs that multiply variables, on every
        branch of piecewise linear values. In every state, with any values of these parameters
        and inputs, the derivative is a mean of those whose rows hold there."""
        place = self.automaton.location(location)
        signals: list[Input | Parameter] = [*self.automaton.parameters, *self.automaton.inputs]
        return tuple(
            replace(dynamics, rows=dynamics.rows + region)
            for condition, branch in flow_branches(place, self.types)
            for region in self._alternatives(condition)
            for dynamics in self._at_corners(branch, signals)
        )

    def steady_dynamics(self, location: str) -> tuple[Dynamics, ...]:
        """The flow at every corner of the parameters that multiply variables: during a run the
        derivative is a mean of them with weights that do not change."""
        place = self.automaton.location(location)
        return tuple(self._at_corners(place, self.automaton.parameters))

    def jumps(self, location: str) -> Iterator[Jump]:
        """The edges that leave a location."""
        found = self._jumps.get(location)
        if found is None:
            found = tuple(self._jump(edge) for edge in self.automaton.edges_from(location))
            self._jumps[location] = found
        yield from found

    def bad_states(self, location: str) -> Expression:
        """A condition that holds in all states that break the property: for progress, in those
        in which runs are stuck."""
        if self.claim.kind is not PropertyKind.PROGRESS:
            return self.claim.bad_states(self.automaton.occupied(location))
        found = self._stuck.get(location)
        if found is None:
            found = stuck(self.automaton, location, self.types)
            if not self._is_short(location, found):
                found = stuck(self.automaton, location, self.types, branches=False)
            self._stuck[location] = found
        return found

    def bad(self, location: str) -> Alternatives:
        """The states that break the property, each disjunct with the invariant's bounds."""
        invariant = self.automaton.location(location).invariant
        states = conjunction(invariant, self.bad_states(location))
        states = measured(states, self._named_quantities(location))
        return both(self._alternatives(states), ((),), self._environment)

    # Details

    def _is_short(self, location: str, states: Expression) -> bool:
        """Whether the states of a location that satisfy a condition are few cases."""
        condition = conjunction(self.automaton.location(location).invariant, states)
        try:
            alternatives(by_cases(condition, self.types), self.types, MOST_STUCK)
        except TooManyCasesError:
            return False
        return True

    @cached_property
    def _stuck(self) -> dict[str, Expression]:
        return {}

    @cached_property
    def _quantities(self) -> dict[str, Quantities]:
        return {}

    def _named_quantities(self, location: str) -> Quantities:
        return self.quantities(location) if self.measures else {}

    def _steady_quantities(self, location: str) -> Quantities:
        """Those that change continuously: only of these the limits of q > 0 satisfy q >= 0."""
        return {q: n for q, n in self._named_quantities(location).items() if is_continuous(q)}

    def _without_urgency(self, location: str, cases: Alternatives) -> Alternatives:
        """The cases, split further into those in which no urgent guard holds."""
        steady = self._steady_quantities(location)
        for edge in self.automaton.edges_from(location):
            if not edge.urgent or not free_variables(edge.guard) <= self.names:
                continue
            if is_total(edge.guard):
                idle = self._alternatives(negation(measured(edge.guard, steady)))
                if len(idle) * len(cases) <= MAX_FLOWING:
                    cases = both(cases, idle)
        return cases

    @cached_property
    def _jumps(self) -> dict[str, tuple[Jump, ...]]:
        return {}

    @cached_property
    def _conditions(self) -> dict[Expression, Alternatives]:
        return {}

    @cached_property
    def _relations(self) -> dict[tuple[Constraint, ...], Alternatives]:
        return {}

    @cached_property
    def _unchanged(self) -> Mapping[str, Rows]:
        """x' = x for every name."""
        differences = {n: of_variable(primed(n)) - of_variable(n) for n in sorted(self.names)}
        return {name: (Row(d), Row(-d)) for name, d in differences.items()}

    def _alternatives(self, condition: Expression) -> Alternatives:
        found = self._conditions.get(condition)
        if found is None:
            plain = by_cases(condition, self.types)
            found = self._conditions[condition] = alternatives(plain, self.types)
        return found

    def _invariant(self, location: str) -> Alternatives:
        return self._alternatives(self.automaton.location(location).invariant)

    def _invariant_here(self, location: str) -> Alternatives:
        """The invariant of the location in which time passes, or that a jump leaves."""
        condition = self.automaton.location(location).invariant
        return self._alternatives(measured(condition, self._named_quantities(location)))

    def _jump(self, edge: Edge) -> Jump:
        names = self._named_quantities(edge.source)
        steady = self._steady_quantities(edge.source) if edge.urgent else names
        guard = self._alternatives(measured(edge.guard, steady))
        here = both(guard, self._invariant_here(edge.source), self._environment)
        resets = self.relation(measured_resets(edge.resets, names))
        cases = both(both(here, self._after(edge.target)), resets)
        if edge.urgent:
            cases = tuple(map(closed, cases))
        return Jump(edge.name or f"{edge.source} -> {edge.target}", edge.target, cases)

    def _after(self, location: str) -> Alternatives:
        """The target's invariant over primed variables and inputs."""
        names = {v.name: primed(v.name) for v in self.automaton.variables}
        names |= {u.name: primed(u.name) for u in self.automaton.inputs}
        rows = tuple(row for u in self.automaton.inputs for row in _bounds(u))
        return tuple(
            tuple(row.renamed(names) for row in (*disjunct, *rows))
            for disjunct in self._invariant(location)
        )

    def relation(self, resets: tuple[Constraint, ...]) -> Alternatives:
        """Rows between plain and primed names: the resets, and what stays as it is; several
        cases where a truth value or symbol is computed."""
        found = self._relations.get(resets)
        if found is None:
            found = self._relations[resets] = self._build_relation(resets)
        return found

    def _build_relation(self, resets: tuple[Constraint, ...]) -> Alternatives:
        rows: list[Row] = []
        cases: Alternatives = ((),)
        for reset in resets:
            low, high = reset.range.low, reset.range.high
            if self._is_coded(reset.variable):
                if reset.range.exact is not None:
                    after = variable(primed(reset.variable))
                    cases = both(cases, self._alternatives(equal(after, reset.range.exact)))
                continue
            if any(b is not None and self._is_symbol(b) for b in (low, high)):
                continue  # its number means nothing to a variable whose symbols have none
            new = of_variable(primed(reset.variable))
            if low is not None:
                rows.extend(at_least(new, low))
            if high is not None:
                rows.extend(at_most(new, high))
        changed = {reset.variable for reset in resets}
        kept = (row for n, pair in self._unchanged.items() if n not in changed for row in pair)
        return both(cases, (tuple(rows),), tuple(kept))

    def _is_coded(self, name: str) -> bool:
        """Whether rows write numbers for the truth values or symbols of a variable."""
        kind = self.types.get(name)
        return kind is not None and not kind.is_numeric

    def _is_symbol(self, value: Expression) -> bool:
        """Whether a value is that of a variable for whose symbols rows write numbers."""
        kind = self.types.get(value.name) if value.op is Op.VARIABLE else None
        return kind is not None and bool(kind.values)

    @cached_property
    def _environment(self) -> Rows:
        """Bounds of inputs and parameters, and the linear conjuncts of the assumption."""
        signals: tuple[Input | Parameter, ...] = (
            *self.automaton.inputs,
            *self.automaton.parameters,
        )
        rows = [row for signal in signals for row in _bounds(signal)]
        assumed = self._alternatives(self.automaton.assumption)
        return (*rows, *assumed[0]) if len(assumed) == 1 else tuple(rows)

    def _any_values(self, start: Initial) -> Iterator[Expression]:
        """For truth values and symbols that may start as anything: that they are something."""
        given = free_variables(start.condition) | {r.variable for r in start.resets}
        for v in self.automaton.variables:
            if self._is_coded(v.name) and v.name not in given:
                options = [boolean(False), boolean(True)] if v.type == BOOL else []
                options += [symbol(value) for value in v.type.values]
                yield disjunction(*(equal(v.expression, option) for option in options))

    def _clock_starts(self) -> Iterator[Expression]:
        if self.has_clock or any(v.name == TIME for v in self.automaton.variables):
            yield equal(variable(TIME), 0)

    def _at_corners(
        self, place: Location, signals: Sequence[Input | Parameter]
    ) -> Iterator[Dynamics]:
        corners = parameter_corners(place, signals)
        steady = frozenset(flow.variable for flow in place.flows if is_steady(flow.range, corners))
        for corner in corners:
            yield self._dynamics_at(place, corner, steady)

    def _dynamics_at(self, place: Location, corner: Corner, steady: frozenset[str]) -> Dynamics:
        """The flow at a corner; `steady` are the variables whose ranges are inhabited at every
        corner if they are at one."""
        derivative = {TIME: Form({}, Fraction(1))} if self.has_clock else {}
        rows: list[Row] = []
        for v in self.automaton.variables:
            if v.name == TIME:
                derivative[v.name] = Form({}, Fraction(1))
                continue
            if v.kind is Kind.DISCRETE:
                continue
            bounds = at_corner(place.flow_of(v.name), corner)
            exact = bounds.exact
            form = None if exact is None else affine(exact)
            if form is None:
                form = of_variable(derivative_of(v.name))
                if bounds.low is not None and v.name in steady:
                    rows.extend(at_least(form, bounds.low))
                if bounds.high is not None and v.name in steady:
                    rows.extend(at_most(form, bounds.high))
            derivative[v.name] = form
        values = {name: affine(value) for name, value in corner.items()}
        known = {name: form.constant for name, form in values.items() if form is not None}
        return Dynamics(derivative, tuple(rows), known)


def derivative_of(name: str) -> str:
    """The name of a variable's derivative in rows and conditions."""
    return f"d({name})"


def proved_view(automaton: Automaton) -> Automaton:
    """What proofs are about: the automaton, its algebraic variables eliminated first, and discrete
    values on which derivatives depend made part of the locations."""
    return unfold(eliminate_algebraic(automaton))


def linear_problem(automaton: Automaton, claim: Property) -> LinearProblem:
    """The linear view of an automaton."""
    plain = proved_view(automaton)
    if claim.kind is PropertyKind.PROGRESS:
        return LinearProblem(plain, claim)
    found = next(p for p in plain.properties if p.name == claim.name)
    return LinearProblem(plain, found)


def _bounds(signal: Input | Parameter) -> Iterator[Row]:
    form = of_variable(signal.name)
    if signal.low is not None:
        yield Row(Form({}, signal.low) - form)
    if signal.high is not None:
        yield Row(form - Form({}, signal.high))
