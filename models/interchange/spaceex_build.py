"""From the behaviour of an instance to its automaton.

Two readings that engines rely on are made here. A bound on an input that is stated in every
invariant becomes a bound of the input; a condition on inputs and constants alone that every
invariant states becomes an assumption. An equation `y == e` in an invariant, where the
variable y is given neither a flow there nor any assignment, defines y (an algebraic
constraint); at a jump y then takes the value that the target's equation gives it, where
SpaceEx would ask the old value to satisfy it, so this over-approximates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from workbench.models.automaton import (
    INT,
    REAL,
    Constraint,
    Edge,
    HybridAutomaton,
    Initial,
    Input,
    Kind,
    Location,
    Parameter,
    Range,
    Variable,
)
from workbench.models.expressions.expression import FALSE, ONE, TRUE, ZERO, Expression, conjunction
from workbench.models.expressions.operators import Op
from workbench.models.expressions.printing import number_text
from workbench.models.expressions.traversal import conjuncts, free_variables, substitute
from workbench.models.interchange.spaceex_behaviour import Behaviour, LocationFormulas, Roles
from workbench.models.interchange.spaceex_components import refusal
from workbench.models.interchange.spaceex_network import Network
from workbench.models.interchange.spaceex_states import InputBounds, plain_bound
from workbench.models.source import Span

NO_TIME = Range(ONE, ZERO)
"""A range without values: no time passes in a location whose flow is `false`."""


@dataclass(frozen=True, slots=True)
class Outside:
    """What is known about inputs: plain bounds, and conditions on several at once."""

    bounds: Mapping[str, InputBounds]
    assumption: Mapping[Expression, None]


def substituted(behaviour: Behaviour, values: Mapping[str, Expression]) -> Behaviour:
    """The behaviour with constants replaced by their values."""
    if not values:
        return behaviour

    def constraints(given: Sequence[Constraint]) -> tuple[Constraint, ...]:
        return tuple(
            Constraint(c.variable, c.range.substitute(values), c.span)
            for c in given
            if c.variable not in values
        )

    def parts(given: Sequence[Expression]) -> tuple[Expression, ...]:
        return tuple(p for e in given for p in conjuncts(substitute(e, values)))

    stays = tuple(
        replace(
            stay,
            flow=replace(
                stay.flow, ranges=constraints(stay.flow.ranges), others=parts(stay.flow.others)
            ),
            invariant=parts(stay.invariant),
        )
        for stay in behaviour.stays
    )
    jumps = tuple(
        replace(
            jump,
            guard=substitute(jump.guard, values),
            resets=constraints(jump.resets),
        )
        for jump in behaviour.jumps
    )
    return Behaviour(behaviour.instance, stays, jumps)


def from_outside(behaviours: Sequence[Behaviour], roles: Roles) -> Outside:
    """The bounds and assumptions on inputs that invariants state in every location."""
    bounds: dict[str, InputBounds] = {}
    shared: dict[Expression, None] = {}
    free = roles.inputs | roles.constants
    for behaviour in behaviours:
        if not behaviour.stays:
            continue
        here = [_input_bounds(stay, roles.inputs) for stay in behaviour.stays]
        for name in here[0]:
            lows = [b[name].low if name in b else None for b in here]
            highs = [b[name].high if name in b else None for b in here]
            low, high = _least(lows), _greatest(highs)
            bounds.setdefault(name, InputBounds()).meet(low, high)
        everywhere = frozenset.intersection(*(frozenset(s.invariant) for s in behaviour.stays))
        for part in behaviour.stays[0].invariant:
            names = free_variables(part)
            about_inputs = names & roles.inputs and names <= free and plain_bound(part) is None
            if about_inputs and part in everywhere:
                shared[part] = None
    return Outside(bounds, shared)


def _input_bounds(stay: LocationFormulas, inputs: frozenset[str]) -> dict[str, InputBounds]:
    found: dict[str, InputBounds] = {}
    for part in stay.invariant:
        bound = plain_bound(part)
        if bound is not None and bound[0] in inputs:
            found.setdefault(bound[0], InputBounds()).meet(bound[1], bound[2])
    return found


def _least(bounds: list[Fraction | None]) -> Fraction | None:
    known = [b for b in bounds if b is not None]
    return min(known) if len(known) == len(bounds) else None


def _greatest(bounds: list[Fraction | None]) -> Fraction | None:
    known = [b for b in bounds if b is not None]
    return max(known) if len(known) == len(bounds) else None


def build(
    network: Network,
    behaviour: Behaviour,
    owned: tuple[str, ...],
    roles: Roles,
    outside: Outside,
    parameters: Sequence[Parameter],
    name: str,
) -> HybridAutomaton:
    """The automaton of one instance; its initial sets are every location and state."""
    variables = tuple(_variable(network, name) for name in owned)
    discrete = frozenset(v.name for v in variables if v.kind is Kind.DISCRETE)
    assigned = frozenset(c.variable for jump in behaviour.jumps for c in jump.resets)
    defined = frozenset(owned) - assigned - discrete
    locations = tuple(
        _location(stay, behaviour, owned, defined, discrete, roles, outside)
        for stay in behaviour.stays
    )
    edges = tuple(
        Edge(j.source, j.target, j.guard, _kept(j.resets, roles), j.label, j.urgent, span=j.span)
        for j in behaviour.jumps
    )
    read = free_variables(*behaviour.formulas)
    taken = {v.name for v in behaviour.instance.values.values() if v.op is Op.VARIABLE}
    outer = (read | taken) - frozenset(owned) - roles.constants
    reads = [n for n in network.declared if n in outer]
    return HybridAutomaton(
        name,
        variables,
        locations,
        edges,
        tuple(Initial(location.name) for location in locations),
        tuple(_input(network, n, outside) for n in reads),
        tuple(p for p in parameters if p.name in read),
        alphabet=frozenset(behaviour.instance.labels.values())
        | frozenset(j.label for j in behaviour.jumps if j.label is not None),
    )


def _variable(network: Network, name: str) -> Variable:
    declared = network.declared[name]
    if declared.type == "int":
        return Variable(name, INT, Kind.DISCRETE, declared.span)
    return Variable(name, REAL, Kind.ANALOG, declared.span)


def _input(network: Network, name: str, outside: Outside) -> Input:
    declared = network.declared[name]
    known = outside.bounds.get(name, InputBounds())
    check_inhabited(name, known, declared.span)
    kind = INT if declared.type == "int" else REAL
    return Input(name, kind, known.low, known.high, declared.span)


def check_inhabited(name: str, bounds: InputBounds, span: Span) -> None:
    """Refuse bounds that leave no value."""
    if bounds.low is not None and bounds.high is not None and bounds.low > bounds.high:
        raise refusal(
            "empty-range",
            f"the bounds of {name!r} contradict each other: it cannot be both at least "
            f"{number_text(bounds.low)} and at most {number_text(bounds.high)}",
            span,
        )


def _kept(resets: tuple[Constraint, ...], roles: Roles) -> tuple[Constraint, ...]:
    """The resets without those that confirm a constant."""
    return tuple(r for r in resets if r.variable not in roles.constants)


def _location(
    stay: LocationFormulas,
    behaviour: Behaviour,
    owned: tuple[str, ...],
    defined: frozenset[str],
    discrete: frozenset[str],
    roles: Roles,
    outside: Outside,
) -> Location:
    flows = [f for f in _kept(stay.flow.ranges, roles) if f.variable not in discrete]
    _check_discrete(stay, discrete)
    invariant = [p for p in stay.invariant if not _implied(p, outside)]
    for part in stay.flow.others:
        if part == FALSE:
            flows += _no_time(stay, behaviour, owned)
        else:
            invariant.append(_on_inputs(part, behaviour, roles, stay.span))
    flowing = {f.variable for f in flows}
    algebraic, rest = _definitions(invariant, defined - flowing)
    return Location(
        stay.name, tuple(flows), tuple(algebraic), conjunction(*rest) if rest else TRUE, stay.span
    )


def _check_discrete(stay: LocationFormulas, discrete: frozenset[str]) -> None:
    for flow in stay.flow.ranges:
        if flow.variable in discrete and flow.range != Range.exactly(ZERO):
            raise refusal(
                "integer-flow",
                f"{flow.variable!r} has type int and cannot change while time passes",
                flow.span or stay.span,
            )


def _no_time(
    stay: LocationFormulas, behaviour: Behaviour, owned: tuple[str, ...]
) -> list[Constraint]:
    """`false` as a flow: a range without values for every variable at hand."""
    names = owned or tuple(
        v.name for v in behaviour.instance.values.values() if v.op is Op.VARIABLE
    )
    given = {f.variable for f in stay.flow.ranges}
    names = tuple(n for n in names if n not in given)
    if not names:
        raise refusal(
            "no-time-location",
            "a flow `false` needs a variable in its component to hold time by",
            stay.span,
            "add a clock to the component",
        )
    return [Constraint(name, NO_TIME, stay.span) for name in names]


def _on_inputs(part: Expression, behaviour: Behaviour, roles: Roles, span: Span) -> Expression:
    """A condition in a flow that may as well stand in the invariant: one on inputs that
    nothing discrete reads."""
    names = free_variables(part)
    discrete = free_variables(*behaviour.discrete_formulas)
    if names & roles.inputs and names <= roles.inputs | roles.constants and not names & discrete:
        return part
    raise refusal(
        "state-condition-in-flow",
        "a flow relates derivatives; this condition mentions none",
        part.span or span,
        "conditions on variables belong into the invariant",
    )


def _implied(part: Expression, outside: Outside) -> bool:
    """Whether an invariant's conjunct is said already by the bounds and assumption."""
    if part in outside.assumption:
        return True
    bound = plain_bound(part)
    if bound is None:
        return False
    name, low, high = bound
    known = outside.bounds.get(name)
    if known is None:
        return False
    below = low is None or (known.low is not None and low <= known.low)
    above = high is None or (known.high is not None and high >= known.high)
    return below and above


def _definitions(
    invariant: list[Expression], candidates: frozenset[str]
) -> tuple[list[Constraint], list[Expression]]:
    """The invariant's equations that define a variable, without circles, and the rest."""
    found: dict[str, Constraint] = {}
    rest: list[Expression] = []
    needed: set[str] = set()
    for part in invariant:
        definition = _definition(part, candidates)
        if definition is None or definition[0] in found or definition[0] in needed:
            rest.append(part)
            continue
        name, value = definition
        found[name] = Constraint(name, Range.exactly(value), part.span)
        needed |= free_variables(value)
    return list(found.values()), rest


def _definition(part: Expression, candidates: frozenset[str]) -> tuple[str, Expression] | None:
    if part.op is Op.EQUAL:
        for name, value in (part.args, part.args[::-1]):
            if (
                name.op is Op.VARIABLE
                and name.name in candidates
                and name.name not in free_variables(value)
            ):
                return name.name, value
    return None
