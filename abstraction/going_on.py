"""Where a run may go on: the other side of `models.lowering.stuck`.

`stuck` holds in too many states rather than in too few, so that proofs may rest on it. What tells
of a run that it ended, or that it breaks the claim that runs never block, must not: `may_go_on`
holds in every state from which some time can pass or some edge leads to another state, however
inputs go on from their values there. Where it is false, the run is stuck.

Time. If time can pass from a state, then on some branch of the flow near the state, for some
derivative in the ranges, the invariant holds, the ranges have values, and each comparison d <= 0 or
d < 0 that these need soon has d < 0, or d = 0 and not d' > 0: else d would be positive soon,
because derivatives are continuous on a branch and near its border. Of what is not known to be so,
and of d' = 0, nothing is concluded. Inputs are taken to stay as they are, which they may.

Runs that were computed are off by a little, and one that only touches a surface may seem to cross
it. Where values are known up to some `error`, time may also pass if d' falls so fast that d would
rise by no more than the error before it falls again: if d'^2 <= -2 * d'' * error.

Jumps. An edge may lead on where its guard holds (an urgent one also at its border), if what it
resets exactly satisfies the target's invariant and changes the state; where values are chosen,
nothing is concluded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction

from workbench.models.automaton import TIME, Automaton, Edge, Location, Range, primed
from workbench.models.expressions.differentiate import NotDifferentiableError, differentiate
from workbench.models.expressions.expression import (
    FALSE,
    ONE,
    TRUE,
    ZERO,
    Expression,
    add,
    compare,
    conjunction,
    constant,
    disjunction,
    equal,
    function,
    multiply,
    negation,
    power,
    variable,
)
from workbench.models.expressions.operators import BOOLEAN_OPERATORS, COMPARISONS, Op
from workbench.models.expressions.traversal import free_variables, substitute
from workbench.models.linear import affine
from workbench.models.lowering.alternatives import Types
from workbench.models.lowering.flow_branches import flow_branches
from workbench.models.lowering.pieces import by_cases
from workbench.models.lowering.quantities import is_continuous

_OPPOSITE = {
    Op.LESS: Op.GREATER_EQUAL,
    Op.LESS_EQUAL: Op.GREATER,
    Op.GREATER: Op.LESS_EQUAL,
    Op.GREATER_EQUAL: Op.LESS,
    Op.EQUAL: Op.NOT_EQUAL,
    Op.NOT_EQUAL: Op.EQUAL,
}
_TRUTHS = COMPARISONS | BOOLEAN_OPERATORS | {Op.BOOLEAN, Op.SYMBOL, Op.AT}
_CLOSED = {Op.LESS: Op.LESS_EQUAL, Op.GREATER: Op.GREATER_EQUAL}


def may_go_on(
    automaton: Automaton, location: str, types: Types, error: Fraction = Fraction(0)
) -> Expression:
    """A condition that holds in every state of the location from which a run can go on. The
    automaton has no algebraic constraints; `types` are those of its discrete variables."""
    edges = automaton.edges_from(location)
    jumps = (_may_lead_on(automaton, edge, types) for edge in edges)
    return disjunction(may_wait(automaton, location, types, error), *jumps)


def may_wait(
    automaton: Automaton, location: str, types: Types, error: Fraction = Fraction(0)
) -> Expression:
    """A condition that holds in every state of the location in which some time can pass."""
    place, edges = automaton.location(location), automaton.edges_from(location)
    flows = _flows(automaton, place, types, error)
    return disjunction(*(_may_wait(place, edges, flow, types) for flow in flows))


# Time


class _Flow:
    """The derivatives on a branch, where the branch, or its border, is, and how much values may
    be off."""

    def __init__(self, where: Expression, ranges: Mapping[str, Range], error: Fraction):
        self.where, self.ranges, self.error = where, ranges, error

    def moves(self, condition: Expression) -> bool:
        """Whether a condition reads what flows."""
        return not free_variables(condition).isdisjoint(self.ranges)

    def least_rate(self, value: Expression) -> Expression | None:
        """A value that the derivative of another one is never below, if one is known."""
        terms: list[Expression] = []
        try:
            slopes = self._slopes(value)
        except NotDifferentiableError:
            return None
        for name, factor in slopes.items():
            given = self.ranges[name]
            end = given.exact
            if factor.is_constant:
                end = given.low if factor.constant > 0 else given.high
            if end is None or not (is_continuous(end) and is_continuous(factor)):
                return None
            terms.append(multiply(factor, end))
        return add(*terms)

    def most_error(self, value: Expression) -> Expression:
        """How much a value may be off, if what flows is off by one."""
        return add(*(function(Op.ABSOLUTE, factor) for factor in self._slopes(value).values()))

    def _slopes(self, value: Expression) -> dict[str, Expression]:
        """How a value depends on what flows, by name; constant if it is affine."""
        form = affine(value)
        if form is None:
            read = sorted(free_variables(value) & self.ranges.keys())
            return {name: differentiate(value, name) for name in read}
        return {n: ONE * c for n, c in form.coefficients.items() if n in self.ranges}


def _flows(automaton: Automaton, place: Location, types: Types, error: Fraction) -> Iterator[_Flow]:
    """The flow on each of its branches."""
    analog = [v.name for v in automaton.variables if v.kind == "analog" and v.name != TIME]
    for where, branch in flow_branches(place, types):
        ranges = {name: branch.flow_of(name) for name in analog}
        yield _Flow(_bordered(where, types), ranges | {TIME: Range.exactly(ONE)}, error)


def _may_wait(place: Location, edges: tuple[Edge, ...], flow: _Flow, types: Types) -> Expression:
    """Where time may pass."""
    waits = (negation(edge.guard) for edge in edges if edge.urgent)
    inhabited: list[Expression] = []
    steadily: list[Expression] = []
    for given in flow.ranges.values():
        if given.exact is None and given.low is not None and given.high is not None:
            steady = is_continuous(given.low) and is_continuous(given.high)
            (steadily if steady else inhabited).append(given.low <= given.high)
    lasting = conjunction(place.invariant, *waits, *steadily)
    soon = _positive(lasting, types, lambda op, node: _soon(flow, op, node))
    return conjunction(flow.where, *inhabited, lasting, soon)


def _soon(flow: _Flow, op: Op, node: Expression) -> Expression:
    """Where a comparison may hold from now on for a while, whether or not it does now."""
    left, right = node.args
    here = compare(op, left, right)
    if flow.moves(here) and not _of_numbers(node):
        return TRUE
    if not flow.moves(here):
        return here
    if op is Op.NOT_EQUAL:
        return TRUE
    if op is Op.EQUAL:
        both = (_soon(flow, order, node) for order in (Op.LESS_EQUAL, Op.GREATER_EQUAL))
        return conjunction(*both)
    above = left - right if op in (Op.LESS, Op.LESS_EQUAL) else right - left
    rate = flow.least_rate(above)
    if rate is None:
        return above <= 0
    falls = disjunction(rate <= 0, _only_touches(flow, above, rate))
    return disjunction(above < 0, conjunction(equal(above, ZERO), falls))


def _only_touches(flow: _Flow, value: Expression, rate: Expression) -> Expression:
    """Where a value with this rate rises by no more than its error before it falls."""
    bend = flow.least_rate(rate) if flow.error else None
    if bend is None:
        return FALSE
    return power(rate, 2) / constant(flow.error) <= -2 * bend * flow.most_error(value)


# Jumps


def _may_lead_on(automaton: Automaton, edge: Edge, types: Types) -> Expression:
    """Where an edge may lead to another state."""
    guard = _bordered(edge.guard, types) if edge.urgent else edge.guard
    after: dict[str, Expression] = {}
    for reset in edge.resets:
        if reset.range.exact is None:
            return guard
        known = {primed(name): value for name, value in after.items()}
        after[reset.variable] = substitute(reset.range.exact, known)
    entered = substitute(automaton.location(edge.target).invariant, after)
    if edge.target != edge.source:
        return conjunction(guard, entered)
    kinds = {v.name: v.type for v in automaton.variables}
    changes = []
    for name, value in after.items():
        if name in kinds and kinds[name].is_numeric:
            changes.append(compare(Op.NOT_EQUAL, variable(name), value))
        elif name in kinds and variable(name) != value:
            changes.append(TRUE)
    return conjunction(guard, entered, disjunction(*changes))


# Conditions


def _bordered(condition: Expression, types: Types) -> Expression:
    """The condition, also on the border of where it holds."""

    def closed(op: Op, node: Expression) -> Expression:
        left, right = node.args
        if not _of_numbers(node):
            is_plain = all(side.op in (Op.VARIABLE, Op.SYMBOL, Op.BOOLEAN) for side in node.args)
            return compare(op, left, right) if is_plain else TRUE
        return TRUE if op is Op.NOT_EQUAL else compare(_CLOSED.get(op, op), left, right)

    return _positive(condition, types, closed)


def _positive(
    condition: Expression, types: Types, change: Callable[[Op, Expression], Expression]
) -> Expression:
    """The condition without negations, its comparisons of numbers changed."""
    plain = by_cases(condition, types)
    known: dict[int, tuple[Expression, Expression]] = {}
    for node in inner_first(plain):
        parts = [known[id(a)] for a in node.args] if node.op in BOOLEAN_OPERATORS else []
        if node.op is Op.NOT:
            found = parts[0][1], parts[0][0]
        elif node.op is Op.AND:
            found = conjunction(*(y for y, _ in parts)), disjunction(*(n for _, n in parts))
        elif node.op is Op.OR:
            found = disjunction(*(y for y, _ in parts)), conjunction(*(n for _, n in parts))
        elif node.op in COMPARISONS:
            found = change(node.op, node), change(_OPPOSITE[node.op], node)
        else:
            found = node, negation(node)
        known[id(node)] = found
    return known[id(plain)][0]


def _of_numbers(comparison: Expression) -> bool:
    """Whether sides are sure to be numbers; a name by itself may have any type."""
    return not any(side.op in _TRUTHS for side in comparison.args)


def inner_first(condition: Expression) -> list[Expression]:
    """The parts of a condition that are joined by Boolean operators, inner ones first."""
    found, pending = [], [condition]
    while pending:
        node = pending.pop()
        found.append(node)
        pending += node.args if node.op in BOOLEAN_OPERATORS else ()
    return found[::-1]
