"""From hierarchical agents to the shared automaton.

Every atomic agent becomes one component, named by its instance path, whose locations are
the places of its top-level mode (see `models.agents.unfolding`). An atomic root agent gives a
`HybridAutomaton` named by its definition; any other agent gives a `Product`.

Decisions, where a flat automaton must say more, or something else, than CHARON does:

- Entering a location requires its invariant (see `models.automaton`). In CHARON one
  macro-step may pass in zero time through a mode whose invariant is violated; here that
  happens only through named entry and exit points. The longer macro-steps of CHARON are
  sequences of edges without time between them.
- Labels of transitions name edges. They do not synchronise: CHARON's agents move one at a
  time and communicate through shared variables only.
- Local variables of modes are initialised once, when the agent starts. While their mode is
  inactive they keep their values (analog ones have derivative 0). A local that is defined
  by an equation whenever its mode is active, and whose kept value nobody reads, is set to
  0 meanwhile, which is unobservable, so that engines can eliminate it.
- An algebraic variable has the value of its equation from the start; a declared first value
  counts only in locations without an equation for it.
- All initial macro-steps happen at once, from one initial valuation and before any other
  step. A model in which one agent's initial transitions read or write what another's write
  is refused, because CHARON's result would depend on the order.
- Bounds `u >= c`, `u <= c` on inputs of the whole, found in `assume`, become bounds of the
  inputs. What an inner agent assumes about variables that others write is no assumption of
  the whole but a property to be shown: "assumption of <path>".
- A variable of a composed agent that no part writes belongs to the first component: it
  keeps its value if it is discrete, and is free if it is analog.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from fractions import Fraction

from workbench.models.agents.atomic_agent import atomic_component, flat_claim, reads
from workbench.models.agents.composition import Interaction, Product
from workbench.models.agents.families import Family, Partner, Unrolled, parts_of
from workbench.models.agents.hierarchy import Access, Agent, renamed
from workbench.models.agents.hierarchy import Interaction as Event
from workbench.models.agents.mode_tree import flat_constraint, flat_expression, flat_range
from workbench.models.agents.resets import simultaneous
from workbench.models.automaton import (
    INT,
    TIME,
    Automaton,
    Constraint,
    HybridAutomaton,
    Input,
    Parameter,
    Property,
    PropertyKind,
    Range,
    Variable,
)
from workbench.models.expressions.expression import (
    ONE,
    TRUE,
    ZERO,
    Expression,
    conjunction,
    equal,
    variable,
)
from workbench.models.expressions.operators import Op
from workbench.models.expressions.ranges import bounds, value_in
from workbench.models.expressions.traversal import conjuncts, free_variables
from workbench.models.record import record
from workbench.models.source import Diagnostic, ModelError

MAX_AGENT_DEPTH = 400


@record
class Placed:
    """An agent of the tree with its instance path and its names in the flat automaton."""

    path: str
    agent: Agent
    names: Mapping[str, str]


@dataclass(slots=True)
class _Collected:
    """What the agents of the tree contribute to the whole, in flat names."""

    atomic: list[Placed] = field(default_factory=list)
    values: dict[str, list[Expression]] = field(default_factory=dict)
    claims: list[tuple[str, Property]] = field(default_factory=list)
    conditions: list[Expression] = field(default_factory=list)
    interactions: list[Interaction | Family[Interaction]] = field(default_factory=list)
    predicates: list[Expression] = field(default_factory=list)
    assumptions: list[tuple[str, Expression]] = field(default_factory=list)
    parameters: dict[str, Parameter] = field(default_factory=dict)
    declared: dict[str, Variable] = field(default_factory=dict)


def flatten(agent: Agent, name: str, horizon: Fraction | None = None) -> Automaton:
    """The automaton of an agent; exact up to the decisions in the module's docstring.

    Raises `ModelError` where the agent has no finite automaton of this form.
    """
    whole = _Collected()
    for placed in placed_agents(agent):
        _collect(placed, whole)
    components = _components(whole)
    inputs = _open_inputs(components)
    kept, obligations, limits = _assumptions(whole, inputs)
    components = [_bounded(c, limits) for c in components]
    properties = _named((*whole.claims, *obligations))
    if agent.is_atomic:
        return replace(
            components[0],
            properties=properties,
            predicates=tuple(whole.predicates),
            assumption=kept,
            parameters=tuple(whole.parameters.values()),
            horizon=horizon,
        )
    _refuse_ordered_starts(components, _given_conditions(whole))
    return Product(
        name,
        tuple(components),
        Unrolled(whole.interactions),
        properties,
        tuple(whole.predicates),
        conjunction(*whole.conditions),
        kept,
        tuple(whole.parameters.values()),
        horizon,
    )


def placed_agents(root: Agent) -> Iterator[Placed]:
    """Every agent of the tree, parents first, with the flat names of its variables."""
    stack = [(Placed("", root, {v.name: v.name for v in root.variables}), 0)]
    while stack:
        placed, depth = stack.pop()
        yield placed
        if depth > MAX_AGENT_DEPTH:
            raise ModelError(
                Diagnostic(
                    "nested-too-deeply",
                    f"agents are nested more than {MAX_AGENT_DEPTH} levels deep",
                    placed.agent.span,
                )
            )
        for inner in reversed(placed.agent.agents):
            path = f"{placed.path}.{inner.name}" if placed.path else inner.name
            names = {}
            for declared in inner.agent.variables:
                if declared.access is Access.PRIVATE:
                    names[declared.name] = f"{path}.{declared.name}"
                else:
                    outer = renamed(inner.renaming, declared.name)
                    names[declared.name] = placed.names.get(outer, outer)
            stack.append((Placed(path, inner.agent, names), depth + 1))


def _with_parts(placed: Placed) -> Mapping[str, str]:
    """The agent's names, and those of variables inside its parts that it mentions by path:
    `car[1].x` in the agent `left` is `left.car[1].x`."""
    agent = placed.agent
    if not placed.path or agent.is_atomic:
        return placed.names
    said = (e for c in agent.claims for e in (c.condition, *bounds(*c.rescue)))
    mentioned = free_variables(*said, *agent.predicates, agent.initial, agent.assumption)
    parts = {inner.name for inner in agent.agents}
    inside = (n for n in mentioned if n not in placed.names and n.partition(".")[0] in parts)
    return {**placed.names, **{n: f"{placed.path}.{n}" for n in inside}}


def _collect(placed: Placed, whole: _Collected) -> None:
    agent, names = placed.agent, _with_parts(placed)
    for declared in agent.variables:
        flat = names[declared.name]
        if declared.initial is not None:
            first = value_in(flat, flat_range(declared.initial, names))
            whole.values.setdefault(flat, []).append(first)
        if declared.access.writes:
            whole.declared[flat] = Variable(flat, declared.type, declared.kind, declared.span)
    whole.claims += [(placed.path, flat_claim(c, names)) for c in agent.claims]
    whole.predicates += [flat_expression(p, names) for p in agent.predicates]
    whole.parameters.update((p.name, p) for p in agent.parameters)
    if agent.assumption != TRUE:
        whole.assumptions.append((placed.path, flat_expression(agent.assumption, names)))
    if agent.is_atomic:
        whole.atomic.append(placed)
    else:
        whole.conditions.append(flat_expression(agent.initial, names))
        whole.interactions += _interactions(placed)


def _interactions(placed: Placed) -> Iterator[Interaction | Family[Interaction]]:
    """The interactions of a composed agent in flat names: `car[1].x` is the variable x of
    the sub-agent car[1] under whatever flat name it has."""
    if not placed.agent.interactions:
        return
    prefix = f"{placed.path}." if placed.path else ""
    scope = dict(placed.names)
    whole = {scope[d.name] for d in placed.agent.variables if d.type == INT}
    for inner in placed.agent.agents:
        for declared in inner.agent.variables:
            own = f"{inner.name}.{declared.name}"
            outer = renamed(inner.renaming, declared.name)
            private = declared.access is Access.PRIVATE
            scope[own] = f"{prefix}{own}" if private else placed.names.get(outer, outer)
            whole |= {scope[own]} if declared.type == INT else set()
    for part in parts_of(placed.agent.interactions):
        flat = _flat_family(part, scope, whole, prefix) if isinstance(part, Family) else None
        if flat is not None:
            yield flat
        else:
            for event in part if isinstance(part, Family) else (part,):
                yield _flat_interaction(event, scope, frozenset(scope.values()), whole, prefix)


def _flat_interaction(
    event: Event,
    scope: Mapping[str, str],
    variables: frozenset[str],
    whole: Set[str],
    prefix: str,
) -> Interaction:
    actions = [flat_constraint(a, scope) for a in event.actions]
    return Interaction(
        event.name,
        tuple(f"{prefix}{who}" for who in event.participants),
        flat_expression(event.guard, scope),
        simultaneous(actions, variables, whole),
        event.urgent,
        event.event,
        event.span,
    )


def _flat_family(
    family: Family[Event], scope: Mapping[str, str], whole: Set[str], prefix: str
) -> Family[Interaction] | None:
    """A family in flat names; None where partners have variables in common out here, or
    names of the pattern mean something else: then each pair must be looked at by itself."""
    slots = frozenset(family.slots[0] + family.slots[1])
    outside = {n: flat for n, flat in scope.items() if n not in slots}
    sides = (family.first, family.first if family.second is None else family.second)
    counted = {
        slot
        for names, partners in zip(family.slots, sides, strict=True)
        for partner in partners
        for slot, name in zip(names, partner.variables, strict=True)
        if scope.get(name, name) in whole
    }
    known = slots | {*outside.values()}
    pattern = _flat_interaction(family.pattern, outside, known, whole | counted, "")
    first, second = (
        tuple(
            Partner(f"{prefix}{p.path}", tuple(scope.get(n, n) for n in p.variables))
            for p in partners
        )
        for partners in (family.first, family.second or ())
    )
    flat = Family(pattern, family.slots, first, None if family.second is None else second)
    read = free_variables(pattern.guard, *bounds(*pattern.resets))
    others = (read | {c.variable for c in pattern.resets}) - slots
    filled = {n for p in (*first, *second) for n in p.variables}
    return flat if flat.is_proper and not others & filled and not slots & filled else None


def _components(whole: _Collected) -> list[HybridAutomaton]:
    """One automaton for each atomic agent; the first also takes the variables that nobody
    writes, and `time` where only the whole reads it."""
    if not whole.atomic:
        raise ModelError(
            Diagnostic(
                "no-behaviour",
                "the model has no atomic agent, so nothing can happen",
                hint="give an agent a top-level mode: `mode top = SomeMode();`",
            )
        )
    made = [atomic_component(p.path, p.agent, p.names, whole.values) for p in whole.atomic]
    whole.claims += [claim for part in made for claim in part.claims]
    components = [part.automaton for part in made]
    written = {v.name for c in components for v in c.variables}
    orphans = {n: v for n, v in whole.declared.items() if n not in written}
    first = [v for n, values in whole.values.items() if n not in written for v in values]
    components[0] = replace(
        components[0],
        variables=(*components[0].variables, *orphans.values()),
        inputs=tuple(i for i in components[0].inputs if i.name not in orphans),
        initial=tuple(
            replace(i, condition=conjunction(i.condition, *first)) for i in components[0].initial
        ),
    )
    patterns = [i.pattern if isinstance(i, Family) else i for i in whole.interactions]
    shared = free_variables(
        *(e for _, p in whole.claims for e in (p.condition, *bounds(*p.rescue))),
        *whole.conditions,
        *whole.predicates,
        *(a for _, a in whole.assumptions),
        *(e for i in patterns for e in (i.guard, *bounds(*i.resets))),
    )
    return [
        _with_time(c) if _mentions_time(c) or (TIME in shared and c is components[0]) else c
        for c in components
    ]


def _mentions_time(component: HybridAutomaton) -> bool:
    parts: list[Expression] = []
    for location in component.locations:
        parts.append(location.invariant)
        parts += bounds(*location.flows, *location.algebraic)
    read = free_variables(*parts).union(
        *(reads(e) for e in component.edges), *(reads(i) for i in component.initial)
    )
    return TIME in read and TIME not in {v.name for v in component.variables}


def _with_time(component: HybridAutomaton) -> HybridAutomaton:
    clock = Constraint(TIME, Range.exactly(ONE))
    zero = equal(variable(TIME), ZERO)
    return replace(
        component,
        variables=(*component.variables, Variable(TIME)),
        locations=tuple(replace(x, flows=(*x.flows, clock)) for x in component.locations),
        initial=tuple(
            replace(i, condition=conjunction(i.condition, zero)) for i in component.initial
        ),
        inputs=tuple(i for i in component.inputs if i.name != TIME),
    )


def _open_inputs(components: Sequence[HybridAutomaton]) -> frozenset[str]:
    written = {v.name for c in components for v in c.variables}
    return frozenset(i.name for c in components for i in c.inputs) - written


def _assumptions(
    whole: _Collected, inputs: frozenset[str]
) -> tuple[Expression, list[tuple[str, Property]], dict[str, list[tuple[Op, Fraction]]]]:
    """What remains assumed, what inner agents' assumptions oblige to, and bounds of inputs."""
    kept: list[Expression] = []
    obligations: list[tuple[str, Property]] = []
    bounds: dict[str, list[tuple[Op, Fraction]]] = {}
    outside = inputs | whole.parameters.keys()
    for path, assumed in whole.assumptions:
        if path and not free_variables(assumed) <= outside:
            name = f"assumption of {path}"
            claim = Property(name, assumed, PropertyKind.ASSERTION, span=assumed.span)
            obligations.append((path, claim))
            continue
        for part in conjuncts(assumed):
            bound = _as_bound(part, inputs)
            if bound is None:
                kept.append(part)
            else:
                bounds.setdefault(bound[0], []).append(bound[1:])
    return conjunction(*kept), obligations, bounds


_MIRRORED = {Op.LESS_EQUAL: Op.GREATER_EQUAL, Op.GREATER_EQUAL: Op.LESS_EQUAL}


def _as_bound(part: Expression, inputs: frozenset[str]) -> tuple[str, Op, Fraction] | None:
    """`u >= c`, `u <= c` (either way round) as a bound on the input u, else None."""
    if part.op not in _MIRRORED:
        return None
    left, right = part.args
    op = part.op
    if left.is_constant:
        left, right, op = right, left, _MIRRORED[op]
    if left.op is Op.VARIABLE and left.name in inputs and right.is_constant:
        return left.name, op, right.constant
    return None


def _bounded(
    component: HybridAutomaton, bounds: Mapping[str, list[tuple[Op, Fraction]]]
) -> HybridAutomaton:
    def limited(given: Input) -> Input:
        known = bounds.get(given.name, [])
        lows = [c for op, c in known if op is Op.GREATER_EQUAL]
        highs = [c for op, c in known if op is Op.LESS_EQUAL]
        return replace(given, low=max(lows, default=None), high=min(highs, default=None))

    return replace(component, inputs=tuple(map(limited, component.inputs)))


def _named(claims: Iterable[tuple[str, Property]]) -> tuple[Property, ...]:
    """The properties with names that differ: a path is added where two are alike."""
    given = [(path, replace(p, name=p.name or str(p.kind))) for path, p in claims]
    count: dict[str, int] = {}
    for _, claim in given:
        count[claim.name] = count.get(claim.name, 0) + 1
    used: set[str] = set()
    found = []
    for path, claim in given:
        name = f"{path}: {claim.name}" if count[claim.name] > 1 and path else claim.name
        base, number = name, 1
        while name in used:
            number += 1
            name = f"{base} ({number})"
        used.add(name)
        found.append(replace(claim, name=name))
    return tuple(found)


def _given_conditions(whole: _Collected) -> frozenset[Expression]:
    """What the author says of the first valuation, as opposed to what transitions ask."""
    said = [c for values in whole.values.values() for c in values]
    said += [flat_expression(p.agent.initial, p.names) for p in whole.atomic]
    return frozenset(part for c in said for part in conjuncts(c))


def _refuse_ordered_starts(
    components: Sequence[HybridAutomaton], given: frozenset[Expression]
) -> None:
    """Refuse a model whose initial transitions depend on each other's assignments."""
    writes = {
        c.name: frozenset(r.variable for start in c.initial for r in start.resets)
        for c in components
    }
    if not any(writes.values()):
        return
    for reader in components:
        asked = (
            part
            for start in reader.initial
            for part in (*conjuncts(start.condition), *bounds(*start.resets))
            if part not in given
        )
        used = free_variables(*asked) | writes[reader.name]
        for writer in components:
            common = sorted(used & writes[writer.name])
            if writer is not reader and common:
                raise ModelError(
                    Diagnostic(
                        "initial-order",
                        f"the initial transition of {reader.name} reads or assigns "
                        f"{', '.join(common)}, which that of {writer.name} assigns",
                        hint="give the variable its first value in `init` instead",
                    )
                )
