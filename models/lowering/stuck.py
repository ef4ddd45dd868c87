"""Where a run is stuck: states from which neither time can pass nor a jump lead on.

`stuck` gives a condition that holds in every such state of a location, so *never blocks* is the
safety of its negation: whatever proves that no reachable state satisfies it proves that runs go on.

Theorem. In a state of the location's invariant in which `stuck` is false, some time can pass or
some edge leads to another state, whatever the inputs do from then on.

Time. Of all solutions one for each of finitely many choices of derivatives is looked at (a bound or
the middle of each range, on a branch of what is piecewise). Derivatives must be continuous near the
state, of functions that are locally Lipschitz there (as `min`, `max` and `abs` are), so the
solution x(t) of a choice exists for a while and is the only one. What counts is what holds for all
small t > 0 (`_Soon`): a comparison d(x) <= 0 holds soon if the first of d, d', d'', ... along the
flow that is not 0 is negative, or if all are; d(x) < 0 only in the first case. For affine d and
flow, derivatives from some on are combinations of those before with constant factors, and of what
inputs and parameters add. If those before are 0, d is 0 for a while where nothing is added (a
linear equation without a right-hand side), and at most 0 where all that may ever be added is (d is
the integral of it times a kernel that begins like a power of t, so is positive for a while). For
other flows only d < 0, d = 0 > d', and surfaces along which the flow runs are recognised: less is
known to go on, so more is stuck. Conjunctions and disjunctions hold soon if their parts do. If the
invariant, the branch, nonempty ranges and what is assumed of variables hold soon, and no urgent
guard holds now or soon, then time can pass. A derivative d' may read inputs of which only bounds
are assumed, whose values are any (their limits from the right); conditions that read inputs never
count as holding soon, for these may jump.

Jumps. An edge leads on where its guard holds (an urgent one also where it holds soon), its resets
have values (a bound or the middle of each range), the target's invariant and what is assumed of
variables hold of them, and the state changes: a jump back to the same state leads nowhere.

Values. What has no value (1/x where x = 0) holds nowhere: conditions count only inside the domains
of all their parts (`_sure`), and an `int` is given whole numbers only. Equations are eliminated
before, so models are refused in which one may have no value (`fault_of_places`). An input is
meant with its limit from the right.

Borders. Nothing is stuck where x < 2, although time cannot go on beyond it: no state is the last.
So all states count as stuck where an invariant may leave out its border: unless, taken apart into
cases (`by_cases`), its comparisons of what changes are not strict, and of values that are
continuous where they are defined, which is on a closed set. Models in which that can be read off
are refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, product
from math import prod

from workbench.models.automaton import (
    BOOL,
    INT,
    REAL,
    TIME,
    Automaton,
    Constraint,
    Edge,
    Input,
    Kind,
    Location,
    Parameter,
    Range,
    ValueType,
    primed,
)
from workbench.models.expressions.expression import (
    FALSE,
    ONE,
    TRUE,
    ZERO,
    Expression,
    add,
    boolean,
    compare,
    conjunction,
    constant,
    disjunction,
    equal,
    multiply,
    negation,
    symbol,
    variable,
)
from workbench.models.expressions.operators import BOOLEAN_OPERATORS, COMPARISONS, Op
from workbench.models.expressions.traversal import conjuncts, free_variables, postorder, substitute
from workbench.models.linear import Bounds, Form, affine, combination
from workbench.models.lowering.alternatives import Types
from workbench.models.lowering.flow_branches import flow_branches
from workbench.models.lowering.pieces import by_cases
from workbench.models.lowering.quantities import fault_of_equations

MOST_CHOICES = 9
"""All choices of derivatives, or of values of resets, are looked at if they are so few."""
MOST_LANDINGS = 12
"""So many choices of values of resets are looked at."""
MOST_DERIVATIVES = 12
"""So many derivatives of a comparison are looked at."""

_OPPOSITE = {
    Op.LESS: Op.GREATER_EQUAL,
    Op.LESS_EQUAL: Op.GREATER,
    Op.GREATER: Op.LESS_EQUAL,
    Op.GREATER_EQUAL: Op.LESS,
    Op.EQUAL: Op.NOT_EQUAL,
    Op.NOT_EQUAL: Op.EQUAL,
}
_STRICT = frozenset({Op.LESS, Op.GREATER, Op.NOT_EQUAL})
_DISCRETE = BOOLEAN_OPERATORS | COMPARISONS | {Op.BOOLEAN, Op.SYMBOL, Op.SIGN, Op.FLOOR, Op.IF}
_WHOLE = frozenset({Op.ADD, Op.MULTIPLY, Op.MINIMUM, Op.MAXIMUM, Op.ABSOLUTE})
_SMOOTH = frozenset(
    {
        Op.CONSTANT,
        Op.VARIABLE,
        Op.ADD,
        Op.MULTIPLY,
        Op.DIVIDE,
        Op.MINIMUM,
        Op.MAXIMUM,
        Op.ABSOLUTE,
        Op.SQRT,
        Op.EXP,
        Op.LOG,
        Op.SIN,
        Op.COS,
        Op.ATAN,
    }
)


def stuck(automaton: Automaton, location: str, types: Types, branches: bool = True) -> Expression:
    """A condition that holds in every state of the location in which a run is stuck. The automaton
    has no algebraic constraints; `types` are those of its discrete variables.

    Without `branches` a flow that is piecewise linear and continuous is looked at as it is only,
    not branch by branch: the condition is shorter, and holds in more states.
    """
    place, edges = automaton.location(location), automaton.edges_from(location)
    assumed = _assumed(automaton)
    lasting = conjunction(place.invariant, assumed)
    if next(_open(lasting, _still(automaton), types), None) is not None:
        return TRUE
    flows = [
        flow
        for where, branch in _branches(place, types, branches)
        for flow in _choices_of_flow(automaton, branch, where, edges, assumed, types)
    ]
    ways = [_time_passes(flow, place, edges, assumed) for flow in flows]
    ways += [_leads_on(automaton, edge, flows, assumed) for edge in edges]
    return conjunction(*map(negation, ways))


def fault_of_places(automaton: Automaton) -> str | None:
    """What a location has of which `stuck` knows nothing, or None; judged from how it is written:
    an equation that may have no value, or an invariant without its border, to which runs may come
    ever closer without a state in which they are stuck."""
    discrete = {v.name: v.type for v in automaton.variables if v.kind is Kind.DISCRETE}
    still = _still(automaton)
    for part in automaton.components:
        for place in part.locations:
            condition = conjunction(place.invariant, _assumed(automaton))
            for written in _open(condition, still, discrete):
                is_strict = written.op in COMPARISONS and all(map(_is_closed, written.args))
                why = "is strict" if is_strict else "may leave out its border"
                return f"the invariant of {place.name} {why}: {written}"
    return fault_of_equations(automaton)


def _still(automaton: Automaton) -> frozenset[str]:
    """What does not change while time passes."""
    discrete = (v.name for v in automaton.variables if v.kind is Kind.DISCRETE)
    return frozenset(discrete) | {p.name for p in automaton.parameters}


def _open(condition: Expression, still: Set[str], types: Types) -> Iterator[Expression]:
    """The parts of a condition that may leave out a border of where it holds."""
    pending = [(by_cases(condition, types), True)]
    while pending:
        node, wanted = pending.pop()
        if node.op in BOOLEAN_OPERATORS:
            pending += [(part, wanted != (node.op is Op.NOT)) for part in node.args]
        elif node.op in COMPARISONS:
            op = node.op if wanted else _OPPOSITE[node.op]
            is_closed = op not in _STRICT and all(map(_is_closed, node.args))
            if not is_closed and not free_variables(node) <= still:
                yield node
        elif not free_variables(node) <= still:
            yield node


def _is_closed(value: Expression) -> bool:
    """Whether a value is continuous where it is defined, which is on a closed set."""
    for node in postorder(value):
        if node.op is Op.DIVIDE:
            if not node.args[1].is_constant or node.args[1].constant == 0:
                return False
        elif node.op is Op.LOG or not (node.op in _SMOOTH or _is_natural_power(node)):
            return False
    return True


def _assumed(automaton: Automaton) -> Expression:
    """What is assumed of variables."""
    names = {v.name for v in automaton.variables}
    parts = conjuncts(automaton.assumption)
    return conjunction(*(p for p in parts if not names.isdisjoint(free_variables(p))))


# Time


def _branches(
    place: Location, types: Types, branches: bool
) -> Iterator[tuple[Expression, Location]]:
    """The flow as it is, if it is continuous, and its branches, each with where it counts."""
    split = flow_branches(place, types)
    ends = [end for f in place.flows for end in (f.range.low, f.range.high) if end is not None]
    smooth = all(map(_is_smooth, ends))
    if smooth:
        yield TRUE, place
    if not smooth or (branches and len(split) > 1):
        yield from split


def _choices_of_flow(
    automaton: Automaton,
    place: Location,
    where: Expression,
    edges: Sequence[Edge],
    assumed: Expression,
    types: Types,
) -> Iterator[_Soon]:
    """What holds soon, for some choices of derivatives on a branch."""
    analog = [v for v in automaton.variables if v.kind is Kind.ANALOG]
    if any(v.type != REAL for v in analog):
        return
    names = [v.name for v in analog if v.name != TIME]
    signals = frozenset(u.name for u in automaton.inputs)
    free = signals - free_variables(automaton.assumption)
    constant_or_given: tuple[Input | Parameter, ...] = (*automaton.inputs, *automaton.parameters)
    bounds = {s.name: (s.low, s.high) for s in constant_or_given}
    urgent = [edge.guard for edge in edges if edge.urgent]
    ranges = {name: place.flow_of(name) for name in names}
    read = free_variables(place.invariant, assumed, where, *urgent)
    options = [_derivatives(given)[: None if name in read else 1] for name, given in ranges.items()]
    inhabited = conjunction(*map(_has_values, ranges.values()))
    for chosen in _some_choices(options):
        flow = {TIME: ONE, **dict(zip(names, chosen, strict=True))}
        if all(map(_is_smooth, chosen)):
            smooth = conjunction(*map(_inside_domain, chosen))
            lasting = conjunction(where, inhabited)
            yield _Soon(flow, signals, free, bounds, types, lasting, smooth)


def _derivatives(given: Range) -> list[Expression]:
    """Values of a range: its bounds and its middle, or numbers beside its only bound."""
    if given.exact is not None:
        return [given.exact]
    if given.low is not None and given.high is not None:
        return [given.low, given.high, (given.low + given.high) / 2]
    if given.low is not None:
        return [given.low, given.low + 1]
    if given.high is not None:
        return [given.high, given.high - 1]
    return [ZERO, ONE, constant(-1)]


def _has_values(given: Range) -> Expression:
    if given.low is None or given.high is None or given.exact is not None:
        return TRUE
    return given.low <= given.high


def _some_choices(options: Sequence[Sequence[Expression]]) -> Iterator[tuple[Expression, ...]]:
    """All choices of one option each if they are few, else some: all first, all second, and so
    on, and all bounds if they are few."""
    bounds = [given[:2] for given in options]
    if prod(map(len, options)) <= MOST_CHOICES:
        yield from product(*options)
        return
    for place in range(max(map(len, options))):
        yield tuple(given[min(place, len(given) - 1)] for given in options)
    if prod(map(len, bounds)) <= MOST_CHOICES:
        yield from product(*bounds)


def _is_smooth(value: Expression) -> bool:
    """Whether a value is locally Lipschitz where it has one around it (`_inside_domain`)."""
    return all(node.op in _SMOOTH or _is_natural_power(node) for node in postorder(value))


def _is_natural_power(node: Expression) -> bool:
    if node.op is not Op.POWER or not node.args[1].is_constant:
        return False
    exponent = node.args[1].constant
    return exponent > 0 and exponent.denominator == 1


def _inside_domain(value: Expression) -> Expression:
    """That a smooth value has a value around a state: no denominator is 0, no root or logarithm
    ends there."""
    found: list[Expression] = []
    for node in postorder(value):
        if node.op is Op.DIVIDE:
            found.append(compare(Op.NOT_EQUAL, node.args[1], ZERO))
        elif node.op in (Op.SQRT, Op.LOG):
            found.append(node.args[0] > 0)
    return conjunction(*found)


def _has_domain(value: Expression) -> bool:
    """Whether a value or condition has a value wherever `_inside_domain` holds."""
    return all(
        node.op in _SMOOTH or node.op in _DISCRETE or _is_natural_power(node)
        for node in postorder(value)
    )


def _sure(condition: Expression) -> Expression:
    """That a condition holds and all its parts have values."""
    return conjunction(_inside_domain(condition), condition) if _has_domain(condition) else FALSE


def _time_passes(
    soon: _Soon, place: Location, edges: Sequence[Edge], assumed: Expression
) -> Expression:
    """Where time can pass along a flow."""
    waits = [negation(edge.guard) for edge in edges if edge.urgent]
    lasting = conjunction(place.invariant, assumed, *waits)
    return conjunction(soon.possible, *map(_sure, waits), soon.holds(lasting))


@dataclass(frozen=True)
class _Soon:
    """What holds for all small times t > 0 on the solution of a flow, where `possible` holds;
    `read_now` are the inputs of which no more is assumed than bounds, which limits keep, `bounds`
    those of inputs and parameters."""

    flow: Mapping[str, Expression]
    signals: frozenset[str]
    read_now: frozenset[str]
    bounds: Bounds
    types: Types
    while_flowing: Expression
    in_domain: Expression

    @property
    def possible(self) -> Expression:
        """Where the solution exists and stays where the flow is as chosen."""
        return conjunction(self.in_domain, self.holds(self.while_flowing))

    def holds(self, condition: Expression) -> Expression:
        """A condition on the state now under which the given one holds soon."""
        known: dict[int, tuple[Expression, Expression]] = {}
        plain = by_cases(condition, self.types)
        for node in postorder(plain):
            known[id(node)] = self._either(node, [known[id(a)] for a in node.args])
        return known[id(plain)][0]

    def _either(
        self, node: Expression, parts: list[tuple[Expression, Expression]]
    ) -> tuple[Expression, Expression]:
        """Conditions under which a node is true soon, and under which it is false."""
        if node.op is Op.BOOLEAN:
            return node, negation(node)
        if node.op is Op.NOT:
            return parts[0][1], parts[0][0]
        if node.op is Op.AND:
            return conjunction(*(yes for yes, _ in parts)), disjunction(*(no for _, no in parts))
        if node.op is Op.OR:
            return disjunction(*(yes for yes, _ in parts)), conjunction(*(no for _, no in parts))
        names = free_variables(node)
        if not names.isdisjoint(self.signals):
            return FALSE, FALSE
        if names.isdisjoint(self.flow):
            return _sure(node), _sure(negation(node))
        if node.op not in COMPARISONS:
            return FALSE, FALSE
        return self._compared(node.op, node), self._compared(_OPPOSITE[node.op], node)

    def _compared(self, op: Op, node: Expression) -> Expression:
        """Where the sides of a comparison compare so soon."""
        left, right = node.args
        if op in (Op.GREATER, Op.GREATER_EQUAL):
            left, right = right, left
            op = Op.LESS if op is Op.GREATER else Op.LESS_EQUAL
        if op is Op.NOT_EQUAL:
            below, above = compare(Op.LESS, left, right), compare(Op.LESS, right, left)
            return disjunction(self._compared(Op.LESS, below), self._compared(Op.LESS, above))
        difference = left - right
        form = affine(difference)
        if form is not None:
            return self._signed(op, form)
        if op is Op.EQUAL or not _is_smooth(difference):
            return FALSE
        return conjunction(_inside_domain(difference), difference < 0)

    def _signed(self, op: Op, form: Form) -> Expression:
        """Where an affine form is soon below 0, at most 0, or 0, as its derivatives tell."""
        forms = [form]
        end = FALSE
        slope: Expression | None = None
        while len(forms) < MOST_DERIVATIVES:
            following = self._along(forms[-1])
            if isinstance(following, Form):
                if _is_zero(_reduced(following, forms)):
                    end = boolean(op is not Op.LESS)
                    break
                added = self._largest(_reduced(following, forms, self.bounds.keys()))
                if op is not Op.EQUAL and added is not None and added <= 0:
                    end = boolean(op is not Op.LESS or added < 0)
                    break
                inputs = self.signals.intersection(following.coefficients)
                if inputs <= self.read_now:
                    forms.append(following)
                if inputs:
                    break
            else:
                slope = following
                if _vanishes_on(forms, following):
                    end = boolean(op is not Op.LESS)
                break
        if op is Op.EQUAL:
            return conjunction(end, *(equal(_written(f), ZERO) for f in forms))
        if slope is not None and end == FALSE and self._limits_are_values(slope):
            end = slope < 0
        for known in reversed(forms):
            value = _written(known)
            end = disjunction(value < 0, conjunction(equal(value, ZERO), end))
        return end

    def _largest(self, form: Form) -> Fraction | None:
        """The largest value of a form within the bounds of inputs and parameters, if it reads
        nothing else and has one."""
        found = form.constant
        for name, a in form.coefficients.items():
            low, high = self.bounds.get(name, (None, None))
            best = high if a > 0 else low
            if best is None:
                return None
            found += a * best
        return found

    def _limits_are_values(self, slope: Expression) -> bool:
        return self.signals & free_variables(slope) <= self.read_now

    def _along(self, form: Form) -> Form | Expression:
        """The derivative of a form along the flow."""
        moving = [(a, self.flow[n]) for n, a in form.coefficients.items() if n in self.flow]
        slopes = [(a, affine(value)) for a, value in moving]
        known = [(a, slope) for a, slope in slopes if slope is not None]
        if len(known) == len(slopes):
            return combination(known)
        return add(*(multiply(constant(a), value) for a, value in moving))


def _reduced(form: Form, others: Sequence[Form], kept: Set[str] = frozenset()) -> Form:
    """A form without multiples of others, by elimination of all names but those that are kept; of
    the constant, too, if none is."""
    basis: list[tuple[str, Form]] = []
    for other in others:
        rest = _without(other, basis)
        first = next((name for name in rest.coefficients if name not in kept), None)
        if first is None and not kept and not _is_zero(rest):
            first = ""
        if first is not None:
            basis.append((first, rest.scaled(1 / _entry(rest, first))))
    return _without(form, basis)


def _without(form: Form, basis: Sequence[tuple[str, Form]]) -> Form:
    """A form from which multiples of rows are subtracted, so that no pivot is left in it."""
    for pivot, row in basis:
        factor = _entry(form, pivot)
        if factor:
            form = combination(((Fraction(1), form), (-factor, row)))
    return form


def _is_zero(form: Form) -> bool:
    return not form.coefficients and not form.constant


def _entry(form: Form, name: str) -> Fraction:
    """A coefficient; the constant for the empty name."""
    return form.coefficients.get(name, Fraction(0)) if name else form.constant


def _vanishes_on(forms: Sequence[Form], slope: Expression) -> bool:
    """Whether a derivative that is not affine is 0 wherever the only form is: then the flow runs
    along that surface."""
    if len(forms) != 1 or len(forms[0].coefficients) != 1:
        return False
    ((name, a),) = forms[0].coefficients.items()
    form = affine(substitute(slope, {name: constant(-forms[0].constant / a)}))
    return form is not None and not form.coefficients and form.constant == 0


def _written(form: Form) -> Expression:
    """A form as an expression."""
    terms = (multiply(constant(a), variable(n)) for n, a in form.coefficients.items())
    return add(*terms, constant(form.constant))


# Jumps


def _leads_on(
    automaton: Automaton, edge: Edge, flows: Sequence[_Soon], assumed: Expression
) -> Expression:
    """Where an edge leads to another state."""
    guard = _sure(edge.guard)
    if edge.urgent:
        limits = (conjunction(soon.possible, soon.holds(edge.guard)) for soon in flows)
        guard = disjunction(guard, *limits)
    types = {v.name: v.type for v in automaton.variables}
    every = types | {u.name: u.type for u in automaton.inputs}
    every |= {p.name: p.type for p in automaton.parameters}
    whole = {name for name, kind in every.items() if kind == INT}
    wanted = conjunction(automaton.location(edge.target).invariant, assumed)
    landings = islice(_landings(edge, types, whole, wanted), MOST_LANDINGS)
    return conjunction(guard, disjunction(*landings))


def _landings(
    edge: Edge, types: Mapping[str, ValueType], whole: Set[str], wanted: Expression
) -> Iterator[Expression]:
    """Where resets lead to states as they are wanted, for some choices of their values."""
    for chosen in _some_choices([_values(reset, types) for reset in edge.resets]):
        after: dict[str, Expression] = {}
        needed: list[Expression] = []
        for reset, value in zip(edge.resets, chosen, strict=True):
            known = {primed(name): given for name, given in after.items()}
            needed.append(_sure(substitute(_has_values(reset.range), known)))
            after[reset.variable] = substitute(value, known)
            if types.get(reset.variable) == INT and not _is_whole(after[reset.variable], whole):
                needed.append(FALSE)
        needed += map(_inside_domain, after.values())
        if not all(map(_has_domain, after.values())):
            continue
        values = {name: value for name, value in after.items() if name in types}
        if edge.target == edge.source:
            changes = (negation(_same(variable(n), v, types[n])) for n, v in values.items())
            needed.append(disjunction(*changes))
        yield conjunction(*needed, _sure(substitute(wanted, values)))


def _values(reset: Constraint, types: Mapping[str, ValueType]) -> list[Expression]:
    """Values that a reset may give: the bounds of its range and its middle, or the value
    before."""
    given, kind = reset.range, types.get(reset.variable, REAL)
    if given.exact is not None:
        return [given.exact]
    bounds = [bound for bound in (given.low, given.high) if bound is not None]
    if len(bounds) == 2 and kind == REAL:
        bounds.append((bounds[0] + bounds[1]) / 2)
    if bounds:
        return bounds
    if kind.is_numeric:
        return [variable(reset.variable) if reset.variable in types else ZERO]
    return [FALSE, TRUE] if kind == BOOL else [symbol(value) for value in kind.values]


def _is_whole(value: Expression, whole: Set[str]) -> bool:
    """Whether a value is a whole number where the named ones are; judged from how it is
    written."""
    known: dict[int, bool] = {}
    for node in postorder(value):
        parts = [known[id(a)] for a in node.args]
        if node.op is Op.CONSTANT:
            found = node.constant.denominator == 1
        elif node.op is Op.VARIABLE:
            found = node.name in whole
        elif node.op is Op.IF:
            found = all(parts[1:])
        else:
            found = node.op in (Op.FLOOR, Op.SIGN) or (node.op in _WHOLE and all(parts))
            found = found or (_is_natural_power(node) and parts[0])
        known[id(node)] = found
    return known[id(value)]


def _same(before: Expression, after: Expression, kind: ValueType) -> Expression:
    if kind == BOOL:
        both = conjunction(before, after)
        return disjunction(both, conjunction(negation(before), negation(after)))
    return equal(before, after)
