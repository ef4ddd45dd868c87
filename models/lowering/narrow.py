"""The problem of a claim of progress, and in it what a model can certainly do, as rows.

The problem (`system`) is two automata with the same locations and variables. The wide one is the
normal form of the view without bad states, which allows at least what the model does: it says where
runs may come. Runs of a model may be stuck where the view's go on. So the narrow one, which says
what they can do there, allows at most what the model does; what rows cannot say exactly is left
out of it.

Theorem. If the system never blocks, neither does the model.
Proof. A run of the model comes only to states that the wide automaton reaches, and its whole
numbers are whole in them. There the narrow automaton goes on, and by the lemma so does the model. A
start of the narrow automaton is one of the model.

Lemma. Let x be a state of the model in which the narrow automaton goes on, whatever is given. Then
time can pass in the model, or an edge leads to another state, whatever the inputs do from then on.
Proof. What is given are the inputs: they are piecewise continuous, so for a while they are what
continuous functions within their bounds are (an input is meant with its limit from the right). A
condition is replaced by one that holds in fewer states: taken apart into cases, every comparison of
which is affine, or of truth values or symbols, and stands for itself; any other counts as false, be
it affirmed or denied (`_certain`). Affine expressions have values everywhere; of parts behind one
that may have none nothing follows.
Time. The rows of the invariant are cases of the location's invariant, of what is assumed of
variables, and of that no urgent edge can be taken; they hold now and while the time passes. The
dynamics are the ranges of the flow where all bounds are affine, on each branch of what is piecewise
linear in the states of this branch; so the curve is one that the model allows.
Jumps. The rows of a jump are cases of the guard, of the ranges of the resets, of what stays as it
is, and of the target's invariant and what is assumed of the values after. Whole numbers are whole
after it, which the kernel sees to; truth values and symbols have one of their numbers.
Starts are as jumps, with inputs and parameters within their bounds and the clock at 0. That there
is one is all that is said of them, so their values must be some of the model's: truth values and
symbols have one of their numbers before the resets, too, and of whole inputs, which the kernel does
not know to be whole, nothing is read (some are within the bounds).
Rows know no numbers for truth values and symbols from outside, nor which numbers an analog variable
that is not real may have: these are not read at all, and no jump changes them (`_unread`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import ceil, floor

from workbench.models.automaton import (
    BOOL,
    INT,
    REAL,
    TIME,
    Constraint,
    Input,
    Kind,
    Location,
    Parameter,
    Property,
    Range,
    primed,
)
from workbench.models.expressions.expression import (
    FALSE,
    TRUE,
    Expression,
    boolean,
    conjunction,
    disjunction,
    equal,
    negation,
    symbol,
    variable,
)
from workbench.models.expressions.operators import BOOLEAN_OPERATORS, COMPARISONS, Op
from workbench.models.expressions.ranges import value_in
from workbench.models.expressions.traversal import conjuncts, free_variables, postorder
from workbench.models.linear import Alternatives, Form, Row, Rows, affine, of_variable
from workbench.models.lowering.alternatives import Types, alternatives, both
from workbench.models.lowering.flow_branches import flow_branches
from workbench.models.lowering.normal_form import Data, NormalForm
from workbench.models.lowering.pieces import by_cases
from workbench.models.lowering.problem import Dynamics, LinearProblem
from workbench.models.lowering.quantities import is_total


@dataclass(frozen=True, slots=True)
class SureJump:
    """An edge with the cases in which it can be taken; `resets` say how values are found."""

    target: str
    resets: tuple[Constraint, ...]
    cases: Alternatives


@dataclass(frozen=True)
class NarrowView:
    """What can certainly happen in the locations of a view, asked for one at a time."""

    problem: LinearProblem

    def starts(self) -> Iterator[tuple[str, Alternatives]]:
        """The states in which runs start, over plain names (before the resets) and primed ones."""
        problem = self.problem
        clock = [equal(variable(TIME), 0)] if TIME in problem.names else []
        whole = {u.name for u in problem.automaton.inputs if u.type == INT}
        for start in problem.automaton.initial_sets():
            condition = self._cases(conjunction(start.condition, *clock, *self._steady))
            entered = both(condition, self._relation(start.resets))
            sure = tuple(
                rows
                for rows in both(entered, self._after(start.location))
                if all(whole.isdisjoint(row.form.coefficients) for row in rows)
            )
            yield start.location, both(sure, (self._possible,))

    def waiting(self, location: str) -> Alternatives:
        """The states in which time can pass, if the flow lets it."""
        urgent = (e.guard for e in self.problem.automaton.edges_from(location) if e.urgent)
        return both(self._lasting(location), self._cases(conjunction(*map(negation, urgent))))

    def dynamics(self, location: str) -> Iterator[Dynamics]:
        """The flow, on every branch of piecewise linear derivatives, where it is affine."""
        problem = self.problem
        place = problem.automaton.location(location)
        for condition, branch in flow_branches(place, problem.types):
            flow = self._flow(branch)
            if flow is not None:
                for region in self._cases(condition):
                    yield Dynamics(flow.derivative, flow.rows + region)

    def jumps(self, location: str) -> Iterator[SureJump]:
        """The edges that leave a location."""
        for edge in self.problem.automaton.edges_from(location):
            here = both(self._cases(edge.guard), self._relation(edge.resets))
            yield SureJump(edge.target, edge.resets, both(here, self._after(edge.target)))

    # Details

    @cached_property
    def _read(self) -> Set[str]:
        """The names that rows may mention."""
        known = self.problem.names - self._unread
        inputs = {u.name for u in self.problem.automaton.inputs if u.type.is_numeric}
        return known | set(map(primed, known)) | inputs

    @cached_property
    def _unread(self) -> Set[str]:
        """The variables and parameters whose values rows do not know as numbers."""
        automaton, types = self.problem.automaton, self.problem.types
        unread = {v.name for v in automaton.variables if v.type != REAL and v.name not in types}
        return unread | {p.name for p in automaton.parameters if not p.type.is_numeric}

    def bounds(self) -> Rows:
        """The bounds of inputs."""
        return tuple(row for u in self.problem.automaton.inputs for row in _bounds(u))

    @cached_property
    def _assumed(self) -> Expression:
        """What is assumed of variables."""
        automaton = self.problem.automaton
        names = {v.name for v in automaton.variables}
        parts = conjuncts(automaton.assumption)
        return conjunction(*(p for p in parts if not names.isdisjoint(free_variables(p))))

    def _lasting(self, location: str) -> Alternatives:
        invariant = self.problem.automaton.location(location).invariant
        return self._cases(conjunction(invariant, self._assumed))

    def _after(self, location: str) -> Alternatives:
        """The invariant and what is assumed of variables, of the values after a jump."""
        names = {v.name: primed(v.name) for v in self.problem.automaton.variables}
        return tuple(tuple(row.renamed(names) for row in rows) for rows in self._lasting(location))

    def _relation(self, resets: tuple[Constraint, ...]) -> Alternatives:
        """What resets say of the values after, and what stays as it is."""
        changed = {reset.variable for reset in resets}
        kept = sorted(self.problem.names - changed)
        differences = [of_variable(primed(name)) - of_variable(name) for name in kept]
        unchanged = tuple(row for d in differences for row in (Row(d), Row(-d)))
        given = (
            value_in(primed(r.variable), r.range)
            if r.range.exact is not None
            else self._any_value(r)
            for r in resets
        )
        return both(self._cases(conjunction(*given)), (unchanged,))

    def _any_value(self, reset: Constraint) -> Expression:
        """That a variable has a value of a range after a jump, one of its type."""
        if reset.variable in self._unread:
            return FALSE
        kind = self.problem.types.get(reset.variable)
        if kind is None or kind.is_numeric:
            return value_in(primed(reset.variable), reset.range)
        options = [boolean(False), boolean(True)] if kind == BOOL else map(symbol, kind.values)
        return disjunction(*(equal(variable(primed(reset.variable)), value) for value in options))

    @cached_property
    def _steady(self) -> tuple[Expression, ...]:
        """What is assumed of inputs and parameters alone."""
        automaton = self.problem.automaton
        names = {v.name for v in automaton.variables}
        parts = conjuncts(automaton.assumption)
        return tuple(p for p in parts if names.isdisjoint(free_variables(p)))

    @cached_property
    def _possible(self) -> Rows:
        """Inputs and parameters are within their bounds, and truth values and symbols have one of
        their numbers, if these are whole."""
        automaton, types = self.problem.automaton, self.problem.types
        signals: tuple[Input | Parameter, ...] = (*automaton.inputs, *automaton.parameters)
        rows = [row for signal in signals for row in _bounds(signal)]
        for name in sorted(types.keys() & self.problem.names):
            if not types[name].is_numeric:
                value, last = of_variable(name), len(types[name].values) - 1
                most = 1 if types[name] == BOOL else last
                rows += [Row(-value), Row(value - Form({}, Fraction(most)))]
        return tuple(rows)

    def _flow(self, place: Location) -> Dynamics | None:
        """The derivatives, if all of them are affine, or lie between affine bounds."""
        known = {TIME: Form({}, Fraction(1))} if self.problem.has_clock else {}
        rows: list[Row] = []
        for v in self.problem.automaton.variables:
            if v.name == TIME:
                known[v.name] = Form({}, Fraction(1))
            elif v.kind is not Kind.DISCRETE:
                slope = self._slope(v.name, place.flow_of(v.name)) if v.type == REAL else None
                if slope is None:
                    return None
                known[v.name], between = slope
                rows += between
        return Dynamics(known, tuple(rows))

    def _slope(self, name: str, given: Range) -> tuple[Form, Rows] | None:
        """A derivative as a form, with rows that say what is known of it."""
        if given.exact is not None:
            form = self._affine(given.exact)
            return None if form is None else (form, ())
        unknown = of_variable(f"d({name})")
        rows: list[Row] = []
        for bound, sign in ((given.low, Fraction(-1)), (given.high, Fraction(1))):
            if bound is not None:
                form = self._affine(bound)
                if form is None:
                    return None
                rows.append(Row((unknown - form).scaled(sign)))
        return unknown, tuple(rows)

    def _affine(self, value: Expression) -> Form | None:
        """A value as a form over variables, parameters and inputs."""
        form = affine(value)
        return form if form is not None and form.coefficients.keys() <= self._read else None

    def _cases(self, condition: Expression) -> Alternatives:
        """Cases that hold in states with the condition only."""
        types = self.problem.types
        return alternatives(_certain(by_cases(condition, types), types, self._read), types)


def _certain(condition: Expression, types: Types, read: Set[str]) -> Expression:
    """A condition that rows can say exactly, and that holds only where the given one does."""
    known: dict[int, tuple[Expression, Expression]] = {}
    for node in postorder(condition):
        known[id(node)] = _both_ways(
            node, [known.get(id(a), (FALSE, FALSE)) for a in node.args], types, read
        )
    return known[id(condition)][0]


def _both_ways(
    node: Expression, parts: list[tuple[Expression, Expression]], types: Types, read: Set[str]
) -> tuple[Expression, Expression]:
    """Where a node is certainly true, and where it is certainly false."""
    if node.op is Op.BOOLEAN:
        return boolean(bool(node.value)), boolean(not node.value)
    if node.op in BOOLEAN_OPERATORS:
        if node.op is Op.NOT:
            return parts[0][1], parts[0][0]
        true, false = [p[0] for p in parts], [p[1] for p in parts]
        first = _sure_to_be_read(node.args)
        if node.op is Op.AND:
            return conjunction(*true), disjunction(*false[:first])
        return disjunction(*true[:first]), conjunction(*false)
    if node.op is Op.IF:
        (yes, no), then, otherwise = parts
        return (
            disjunction(conjunction(yes, then[0]), conjunction(no, otherwise[0])),
            disjunction(conjunction(yes, then[1]), conjunction(no, otherwise[1])),
        )
    is_flag = node.op is Op.VARIABLE and types.get(node.name) == BOOL
    if is_flag or (node.op in COMPARISONS and _is_exact(node, types)):
        return (node, negation(node)) if free_variables(node) <= read else (FALSE, FALSE)
    if node.op in (Op.EQUAL, Op.NOT_EQUAL):
        (a, not_a), (b, not_b) = parts
        same = disjunction(conjunction(a, b), conjunction(not_a, not_b))
        other = disjunction(conjunction(a, not_b), conjunction(not_a, b))
        return (same, other) if node.op is Op.EQUAL else (other, same)
    return FALSE, FALSE


def _sure_to_be_read(parts: Sequence[Expression]) -> int:
    """How many parts of a condition have no part before them that may have no value: conditions are
    evaluated from left to right, so 1/x > 5 || x >= 0 has none at 0."""
    return next((i + 1 for i, part in enumerate(parts) if not is_total(part)), len(parts))


def _is_exact(comparison: Expression, types: Types) -> bool:
    """Whether a comparison is one of affine values, or of values of one type that have numbers."""
    sides = comparison.args
    kinds = [types.get(side.name) for side in sides if side.op is Op.VARIABLE]
    coded = [kind for kind in kinds if kind is not None and not kind.is_numeric]
    if not coded:
        return all(affine(side) is not None for side in sides)
    return all(
        (side.op is Op.VARIABLE and types.get(side.name) == coded[0])
        or (side.op is Op.BOOLEAN and coded[0] == BOOL)
        or (side.op is Op.SYMBOL and side.value in coded[0].values)
        for side in sides
    )


def _bounds(signal: Input | Parameter) -> Iterator[Row]:
    """That an input or a parameter has a value within its bounds, a whole one if it is whole."""
    form, whole = of_variable(signal.name), signal.type == INT
    if signal.low is not None:
        yield Row(Form({}, Fraction(ceil(signal.low)) if whole else signal.low) - form)
    if signal.high is not None:
        yield Row(form - Form({}, Fraction(floor(signal.high)) if whole else signal.high))


def whole_names(problem: LinearProblem) -> list[str]:
    """The variables and parameters whose values are whole numbers: integers, and truth values and
    symbols, which rows have as numbers."""
    whole = [v.name for v in problem.automaton.variables if v.name in problem.types]
    return whole + [p.name for p in problem.automaton.parameters if p.type == INT]


def reaching(problem: LinearProblem) -> LinearProblem:
    """The view in which no state is bad: what remains is where runs come."""
    return replace(problem, claim=Property(problem.claim.name, TRUE))


def system(form: NormalForm) -> Data:
    """The problem of progress for a normal form without bad states."""
    view = NarrowView(form.problem)
    numbers = {name: str(i) for i, name in enumerate(form.locations)}
    places: list[Data] = []
    for name in form.locations[: form.taken]:
        flows = [
            [[form.form(d.derivative.get(n, Form({}))) for n in form.states], _rows(form, d.rows)]
            for d in view.dynamics(name)
        ]
        edges = [[numbers[jump.target], _cases(form, jump.cases)] for jump in view.jumps(name)]
        places.append([_cases(form, view.waiting(name)), flows, edges, []])
    places += [[[], [], [], []]] * (len(form.locations) - form.taken)
    starts = [[numbers[name], _cases(form, cases)] for name, cases in view.starts()]
    bounds = _rows(form, view.bounds())
    signals = [form.form(of_variable(u.name)) for u in form.problem.automaton.inputs]
    given = [str(len(inputs) - 1) for *_, inputs in signals]
    form.settle()
    whole = [str(form.states.index(name)) for name in whole_names(form.problem)]
    return [str(len(form.states)), whole, given, bounds, form.data, [places, starts]]


def _cases(form: NormalForm, cases: Alternatives) -> Data:
    return [_rows(form, rows) for rows in cases]


def _rows(form: NormalForm, rows: Rows) -> Data:
    return [[form.form(row.form), row.strict] for row in rows]
