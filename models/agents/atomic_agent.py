"""One atomic agent as an automaton: the places of its top-level mode as locations.

The module's part of flattening (see `models.agents.flatten` for the decisions taken): constraints
of all active modes conjoined, local variables of inactive modes at rest, and claims of
modes limited to the locations in which their mode is active.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from workbench.models.agents.hierarchy import Agent, Claim
from workbench.models.agents.mode_tree import Path, flat_constraint, flat_expression, flat_range
from workbench.models.agents.unfolding import Place, Step, Unfolding
from workbench.models.automaton import (
    INT,
    Constraint,
    Edge,
    HybridAutomaton,
    Initial,
    Input,
    Location,
    Property,
    Range,
    Variable,
)
from workbench.models.expressions.expression import (
    TRUE,
    ZERO,
    Expression,
    at_location,
    conjunction,
    disjunction,
)
from workbench.models.expressions.ranges import bounds, merge_constraints, value_in
from workbench.models.expressions.traversal import free_variables
from workbench.models.record import record


@record
class Component:
    """An atomic agent's automaton, and the claims of its modes with the modes' paths."""

    automaton: HybridAutomaton
    claims: tuple[tuple[str, Property], ...]


def atomic_component(
    path: str, agent: Agent, names: Mapping[str, str], values: Mapping[str, Sequence[Expression]]
) -> Component:
    """The component of an atomic agent at an instance path (empty for the root).

    `names` maps its names to flat ones; `values` are conditions on the first values of
    variables, by flat name.
    """
    top = agent.top
    assert top is not None, "an atomic agent has a top-level mode"
    name = path or agent.definition
    whole = [names[d.name] for d in agent.variables if d.type == INT]
    unfolding = Unfolding(top, names, whole, path)
    labels = _place_names(unfolding, top.definition)
    hidden = _unobserved_locals(unfolding)
    locations = {p: _location(unfolding, p, labels[p], hidden) for p in labels}
    declared = [(names[d.name], d) for d in agent.variables]
    local = [pair for node in unfolding.nodes.values() for pair in node.local]
    written = [(flat, d) for flat, d in declared if d.access.writes] + local
    first = {flat: tuple(values.get(flat, ())) for flat, _ in written} | _local_values(unfolding)
    where = flat_expression(agent.initial, names)
    automaton = HybridAutomaton(
        name,
        tuple(Variable(flat, d.type, d.kind, d.span) for flat, d in written),
        tuple(locations.values()),
        tuple(_edges(unfolding, labels)),
        tuple(_initial(step, locations[step.target], first, where) for step in unfolding.initial),
        tuple(Input(flat, d.type, span=d.span) for flat, d in declared if not d.access.writes),
    )
    return Component(automaton, tuple(_claims(unfolding, labels, name, path)))


def flat_claim(claim: Claim, names: Mapping[str, str], where: Expression = TRUE) -> Property:
    """A claim of an agent or mode in flat names."""
    condition = flat_expression(claim.condition, names)
    rescue = tuple(flat_constraint(c, names) for c in claim.rescue)
    return Property(claim.name, condition, claim.kind, where, claim.span, rescue)


def reads(step: Step | Initial | Edge) -> frozenset[str]:
    """The names that a step's guard and resets depend on."""
    guard = step.condition if isinstance(step, Initial) else step.guard
    return free_variables(guard, *bounds(*step.resets))


def _local_values(unfolding: Unfolding) -> dict[str, tuple[Expression, ...]]:
    return {
        flat: (value_in(flat, flat_range(d.initial, node.scope)),)
        for node in unfolding.nodes.values()
        for flat, d in node.local
        if d.initial is not None
    }


def _initial(
    step: Step, location: Location, first: Mapping[str, Sequence[Expression]], where: Expression
) -> Initial:
    """The initial set of a step: first values count where no equation gives the value."""
    defined = {c.variable for c in location.algebraic} - {c.variable for c in location.flows}
    values = [c for flat, known in first.items() if flat not in defined for c in known]
    return Initial(location.name, conjunction(*values, where, step.guard), step.resets)


def _claims(
    unfolding: Unfolding, labels: Mapping[Place, str], name: str, path: str
) -> Iterator[tuple[str, Property]]:
    for node in unfolding.nodes.values():
        if not node.mode.claims:
            continue
        active = [label for place, label in labels.items() if place.is_active(node.path)]
        everywhere = len(active) == len(labels)
        where = TRUE if everywhere else disjunction(*(at_location(name, at) for at in active))
        inside = ".".join((*([path] if path else []), *node.path))
        yield from ((inside, flat_claim(c, node.scope, where)) for c in node.mode.claims)


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
                ", ".join(step.labels) or f"{labels[place]} -> {labels[step.target]}",
                first.span,
            )


def _location(unfolding: Unfolding, place: Place, name: str, hidden: Collection[str]) -> Location:
    flows: list[Constraint] = []
    algebraic: list[Constraint] = []
    invariant: list[Expression] = []
    for node in unfolding.active(place):
        flows += [flat_constraint(c, node.scope) for c in node.mode.flows]
        algebraic += [flat_constraint(c, node.scope) for c in node.mode.algebraic]
        invariant.append(flat_expression(node.mode.invariant, node.scope))
    for flat, (path, kind) in unfolding.analog_locals.items():
        if not place.is_active(path):
            if flat in hidden:
                algebraic.append(Constraint(flat, Range.exactly(kind.some_value)))
            else:
                flows.append(Constraint(flat, Range.exactly(ZERO)))
    return Location(
        name,
        merge_constraints(flows),
        merge_constraints(algebraic),
        conjunction(*invariant),
        unfolding.nodes[place.leaf].mode.span,
    )


def _unobserved_locals(unfolding: Unfolding) -> frozenset[str]:
    """Analog locals defined by an equation alone wherever their mode is active, without a
    first value, never assigned, and never read by a step that starts while their mode is
    inactive."""
    found = set(unfolding.analog_locals) - _local_values(unfolding).keys()
    for place in unfolding.steps if found else ():
        active = list(unfolding.active(place))
        defined = {
            node.scope.get(c.variable, c.variable)
            for node in active
            for c in node.mode.algebraic
            if c.range.exact is not None
        }
        local = {flat for node in active for flat, _ in node.local}
        found -= local - defined
        found -= {n.scope.get(c.variable, c.variable) for n in active for c in n.mode.flows}
    for start, steps in ((None, unfolding.initial), *unfolding.steps.items()):
        for step in steps if found else ():
            found -= {r.variable for r in step.resets}
            for flat in found & reads(step):
                if not (start or step.target).is_active(unfolding.analog_locals[flat][0]):
                    found.discard(flat)
    return frozenset(found)
