"""From hierarchical agents to the shared automaton.

Every atomic agent becomes one component, named by its instance path, whose locations are
the places of its top-level mode (see `models.unfolding`). An atomic root agent gives a
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
- All initial macro-steps happen at once, from one initial valuation. A model in which one
  agent's initial transition reads what another's writes is refused, because CHARON's
  result would depend on the order.
- Bounds `u >= c`, `u <= c` on inputs of the whole, found in `assume`, become bounds of the
  inputs. What an inner agent assumes about variables that others write is no assumption of
  the whole but a property to be shown: "assumption of <path>".
- A variable of a composed agent that no part writes belongs to the first component: it
  keeps its value if it is discrete, and is free if it is analog.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from models.automaton import (
    TIME,
    Automaton,
    Constraint,
    Edge,
    HybridAutomaton,
    Initial,
    Input,
    Kind,
    Location,
    Parameter,
    Property,
    PropertyKind,
    Range,
    Variable,
)
from models.composition import Interaction, Product, merge_constraints
from models.expression import (
    ONE,
    TRUE,
    ZERO,
    Expression,
    Op,
    at_location,
    conjunction,
    conjuncts,
    disjunction,
    equal,
    free_variables,
    variable,
)
from models.hierarchy import Access, Agent, Claim, renamed
from models.resets import simultaneous
from models.source import Diagnostic, ModelError
from models.unfolding import (
    Path,
    Place,
    Step,
    Unfolding,
    flat_constraint,
    flat_expression,
    flat_range,
    value_in,
)

MAX_AGENT_DEPTH = 400


@dataclass(frozen=True, slots=True)
class _Placed:
    """An agent of the tree with its instance path and its names in the flat automaton."""

    path: str
    agent: Agent
    names: Mapping[str, str]


@dataclass(slots=True)
class _Collected:
    """What the agents of the tree contribute to the whole."""

    components: list[HybridAutomaton] = field(default_factory=list)
    claims: list[tuple[str, Property]] = field(default_factory=list)
    conditions: list[Expression] = field(default_factory=list)
    interactions: list[Interaction] = field(default_factory=list)
    predicates: list[Expression] = field(default_factory=list)
    assumptions: list[tuple[str, Expression]] = field(default_factory=list)
    parameters: dict[str, Parameter] = field(default_factory=dict)
    declared: dict[str, Variable] = field(default_factory=dict)


def flatten(agent: Agent, name: str, horizon: Fraction | None = None) -> Automaton:
    """The automaton of an agent; exact up to the decisions in the module's docstring.

    Raises `ModelError` where the agent has no finite automaton of this form.
    """
    whole = _Collected()
    for placed in _agents(agent):
        _collect(placed, whole)
    components = _completed(whole)
    inputs = _open_inputs(components)
    kept, obligations, bounds = _assumptions(whole, inputs)
    components = [_bounded(c, bounds) for c in components]
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
    _refuse_ordered_starts(components)
    return Product(
        name,
        tuple(components),
        tuple(whole.interactions),
        properties,
        tuple(whole.predicates),
        conjunction(*whole.conditions),
        kept,
        tuple(whole.parameters.values()),
        horizon,
    )


def _agents(root: Agent) -> Iterator[_Placed]:
    """Every agent of the tree, parents first, with the flat names of its variables."""
    stack = [(_Placed("", root, {v.name: v.name for v in root.variables}), 0)]
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
            stack.append((_Placed(path, inner.agent, names), depth + 1))


def _collect(placed: _Placed, whole: _Collected) -> None:
    agent, names = placed.agent, placed.names
    start = [flat_expression(agent.initial, names)]
    start += [
        value_in(names[declared.name], flat_range(declared.initial, names))
        for declared in agent.variables
        if declared.initial is not None
    ]
    whole.claims += [(placed.path, _claimed(c, names)) for c in agent.claims]
    whole.predicates += [flat_expression(p, names) for p in agent.predicates]
    whole.parameters.update((p.name, p) for p in agent.parameters)
    if agent.assumption != TRUE:
        whole.assumptions.append((placed.path, flat_expression(agent.assumption, names)))
    if agent.top is not None:
        _add_component(placed, conjunction(*start), whole)
        return
    whole.conditions += start
    for declared in agent.variables:
        if declared.access.writes:
            flat = names[declared.name]
            whole.declared[flat] = Variable(flat, declared.type, declared.kind, declared.span)
    whole.interactions += _interactions(placed)


def _interactions(placed: _Placed) -> Iterator[Interaction]:
    """The interactions of a composed agent in flat names: `car[1].x` is the variable x of
    the sub-agent car[1] under whatever flat name it has."""
    if not placed.agent.interactions:
        return
    prefix = f"{placed.path}." if placed.path else ""
    scope = dict(placed.names)
    for inner in placed.agent.agents:
        for declared in inner.agent.variables:
            own = f"{inner.name}.{declared.name}"
            outer = renamed(inner.renaming, declared.name)
            private = declared.access is Access.PRIVATE
            scope[own] = f"{prefix}{own}" if private else placed.names.get(outer, outer)
    for event in placed.agent.interactions:
        actions = [flat_constraint(a, scope) for a in event.actions]
        yield Interaction(
            event.name,
            tuple(f"{prefix}{who}" for who in event.participants),
            flat_expression(event.guard, scope),
            simultaneous(actions, frozenset(scope.values())),
            event.urgent,
            event.event,
            event.span,
        )


def _claimed(claim: Claim, names: Mapping[str, str], where: Expression = TRUE) -> Property:
    condition = flat_expression(claim.condition, names)
    return Property(claim.name, condition, claim.kind, where, claim.span)


# One atomic agent


def _add_component(placed: _Placed, start: Expression, whole: _Collected) -> None:
    agent, top = placed.agent, placed.agent.top
    assert top is not None
    name = placed.path or agent.definition
    unfolding = Unfolding(top, placed.names, placed.path, placed.names.values())
    labels = _place_names(unfolding, top.definition)
    hidden = _unobserved_locals(unfolding)
    local = [pair for node in unfolding.nodes.values() for pair in node.local]
    started = [
        value_in(flat, flat_range(d.initial, node.scope))
        for node in unfolding.nodes.values()
        for flat, d in node.local
        if d.initial is not None
    ]
    declared = [(placed.names[d.name], d) for d in agent.variables]
    written = [(flat, d) for flat, d in declared if d.access.writes] + local
    whole.components.append(
        HybridAutomaton(
            name,
            tuple(Variable(flat, d.type, d.kind, d.span) for flat, d in written),
            tuple(_location(unfolding, place, labels[place], hidden) for place in labels),
            tuple(_edges(unfolding, labels)),
            tuple(
                Initial(labels[s.target], conjunction(start, *started, s.guard), s.resets)
                for s in unfolding.initial
            ),
            tuple(Input(flat, d.type, span=d.span) for flat, d in declared if not d.access.writes),
        )
    )
    for node in unfolding.nodes.values():
        active = [labels[place] for place in labels if place.is_active(node.path)]
        everywhere = len(active) == len(labels)
        where = TRUE if everywhere else disjunction(*(at_location(name, at) for at in active))
        inside = ".".join((*([placed.path] if placed.path else []), *node.path))
        whole.claims += [(inside, _claimed(c, node.scope, where)) for c in node.mode.claims]


def _place_names(unfolding: Unfolding, definition: str) -> dict[Place, str]:
    """Dotted paths of the active modes; what inactive modes remember is added where two
    places differ only in that."""
    alike: dict[Path, int] = {}
    for place in unfolding.steps:
        alike[place.leaf] = alike.get(place.leaf, 0) + 1
    found = {}
    for place in unfolding.steps:
        name = ".".join(place.leaf) or definition
        if alike[place.leaf] > 1 and place.memory:
            memory = ",".join(f"{'.'.join(path)}={child}" for path, child in place.memory)
            name = f"{name}{{{memory}}}"
        found[place] = name
    return found


def _edges(unfolding: Unfolding, labels: Mapping[Place, str]) -> Iterator[Edge]:
    for place, steps in unfolding.steps.items():
        for step in steps:
            first = step.first
            assert first is not None, "only initial steps may start without a transition"
            yield Edge(
                labels[place],
                labels[step.target],
                step.guard,
                step.resets,
                None,
                first.urgent,
                first.event,
                ", ".join(step.labels) or f"{first.source} -> {first.target}",
                first.span,
            )


def _location(unfolding: Unfolding, place: Place, name: str, hidden: Collection[str]) -> Location:
    flows: list[Constraint] = []
    algebraic: list[Constraint] = []
    invariant: list[Expression] = []
    for path, node in unfolding.nodes.items():
        if place.is_active(path):
            flows += [flat_constraint(c, node.scope) for c in node.mode.flows]
            algebraic += [flat_constraint(c, node.scope) for c in node.mode.algebraic]
            invariant.append(flat_expression(node.mode.invariant, node.scope))
        else:
            resting = [flat for flat, d in node.local if d.kind is Kind.ANALOG]
            zero = [Constraint(flat, Range.exactly(ZERO)) for flat in resting]
            flows += [c for c in zero if c.variable not in hidden]
            algebraic += [c for c in zero if c.variable in hidden]
    return Location(
        name,
        merge_constraints(flows),
        merge_constraints(algebraic),
        conjunction(*invariant),
        unfolding.nodes[place.leaf].mode.span,
    )


def _unobserved_locals(unfolding: Unfolding) -> frozenset[str]:
    """Analog locals defined by an equation wherever their mode is active, never assigned,
    and never read by a step that starts while their mode is inactive."""
    found: dict[str, Path] = {}
    for path, node in unfolding.nodes.items():
        for flat, declared in node.local:
            if declared.kind is Kind.ANALOG and declared.initial is None:
                found[flat] = path
    for place in unfolding.steps:
        active = (n for path, n in unfolding.nodes.items() if place.is_active(path))
        defined = {
            node.scope.get(c.variable, c.variable)
            for node in active
            for c in node.mode.algebraic
            if c.range.exact is not None
        }
        found = {f: p for f, p in found.items() if f in defined or not place.is_active(p)}
    for start, steps in ((None, unfolding.initial), *unfolding.steps.items()):
        for step in steps:
            assigned = {r.variable for r in step.resets}
            read = _reads(step)
            found = {
                f: p
                for f, p in found.items()
                if f not in assigned and (f not in read or (start or step.target).is_active(p))
            }
    return frozenset(found)


def _reads(step: Step | Initial | Edge) -> frozenset[str]:
    """The names that a step's guard and resets depend on."""
    guard = step.condition if isinstance(step, Initial) else step.guard
    bounds = (e for r in step.resets for e in (r.range.low, r.range.high) if e is not None)
    return free_variables(guard, *bounds)


# The whole


def _completed(whole: _Collected) -> list[HybridAutomaton]:
    """The components with variables that nobody writes, and with time where it is read."""
    components = whole.components
    if not components:
        raise ModelError(
            Diagnostic(
                "no-behaviour",
                "the model has no atomic agent, so nothing can happen",
                hint="give an agent a top-level mode: `mode top = SomeMode();`",
            )
        )
    written = {v.name for c in components for v in c.variables}
    orphans = [v for v in whole.declared.values() if v.name not in written]
    names = {v.name for v in orphans}
    components[0] = replace(
        components[0],
        variables=(*components[0].variables, *orphans),
        inputs=tuple(i for i in components[0].inputs if i.name not in names),
    )
    shared = [
        *(p.condition for _, p in whole.claims),
        *whole.conditions,
        *whole.predicates,
        *(a for _, a in whole.assumptions),
        *(i.guard for i in whole.interactions),
        *(e for i in whole.interactions for r in i.resets for e in _bounds(r)),
    ]
    everywhere = TIME in free_variables(*shared)
    found = []
    for index, component in enumerate(components):
        timed = _mentions_time(component) or (everywhere and index == 0)
        found.append(_with_time(component) if timed else component)
    return found


def _bounds(constraint: Constraint) -> list[Expression]:
    return [e for e in (constraint.range.low, constraint.range.high) if e is not None]


def _mentions_time(component: HybridAutomaton) -> bool:
    parts: list[Expression] = []
    for location in component.locations:
        parts.append(location.invariant)
        parts += [e for c in (*location.flows, *location.algebraic) for e in _bounds(c)]
    read = free_variables(*parts).union(
        *(_reads(e) for e in component.edges), *(_reads(i) for i in component.initial)
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


def _refuse_ordered_starts(components: Sequence[HybridAutomaton]) -> None:
    """Refuse a model whose initial transitions depend on each other's assignments."""
    writes = {
        c.name: frozenset(r.variable for start in c.initial for r in start.resets)
        for c in components
    }
    assigned = frozenset().union(*writes.values())
    if not assigned:
        return
    for reader in components:
        read = frozenset().union(*(_reads(start) for start in reader.initial)) & assigned
        for writer in components:
            common = sorted(read & writes[writer.name])
            if writer is not reader and common:
                raise ModelError(
                    Diagnostic(
                        "initial-order",
                        f"the initial transition of {reader.name} reads {', '.join(common)}, "
                        f"which the initial transition of {writer.name} assigns",
                        hint="give the variable its first value in `init` instead",
                    )
                )
