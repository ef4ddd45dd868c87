"""What the base components of a network do: their formulas read and sorted.

Here every formula of an instance becomes an expression over the names of the whole system.
Who writes a variable, which names are constants and which come from outside is decided
from all instances together (`Roles`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from workbench.models.automaton import Constraint, Range
from workbench.models.expressions.expression import FALSE, ZERO, Expression, conjunction, variable
from workbench.models.expressions.operators import Op
from workbench.models.expressions.traversal import conjuncts, free_variables
from workbench.models.interchange.spaceex_components import (
    LocationTemplate,
    TransitionTemplate,
    refusal,
)
from workbench.models.interchange.spaceex_formulas import (
    PrimedRelation,
    in_reading_order,
    no_places,
    read_condition,
    relation,
)
from workbench.models.interchange.spaceex_network import ComponentInstance, Network, undeclared
from workbench.models.interchange.xml_door import Element
from workbench.models.source import Diagnostic, Severity, Span


@dataclass(frozen=True, slots=True)
class LocationFormulas:
    """A location of an instance."""

    name: str
    flow: PrimedRelation
    invariant: tuple[Expression, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class TransitionFormulas:
    """A transition of an instance."""

    source: str
    target: str
    guard: Expression
    resets: tuple[Constraint, ...]
    label: str | None
    urgent: bool
    span: Span


@dataclass(frozen=True, slots=True)
class Behaviour:
    """An instance with its formulas read."""

    instance: ComponentInstance
    stays: tuple[LocationFormulas, ...]
    jumps: tuple[TransitionFormulas, ...]

    @property
    def constraints(self) -> Iterator[Constraint]:
        """Every constraint of a derivative or of a value after a jump."""
        for stay in self.stays:
            yield from stay.flow.ranges
        for jump in self.jumps:
            yield from jump.resets

    @property
    def discrete_formulas(self) -> Iterator[Expression]:
        """Guards and assigned values."""
        for jump in self.jumps:
            yield jump.guard
            yield from bounds_of(jump.resets)

    @property
    def formulas(self) -> Iterator[Expression]:
        """Every expression of the instance."""
        for stay in self.stays:
            yield from stay.invariant
            yield from stay.flow.others
            yield from bounds_of(stay.flow.ranges)
        yield from self.discrete_formulas


def bounds_of(constraints: Iterable[Constraint]) -> Iterator[Expression]:
    """The bounds of ranges."""
    for constraint in constraints:
        for bound in (constraint.range.low, constraint.range.high):
            if bound is not None:
                yield bound


def read_behaviour(network: Network, instance: ComponentInstance) -> Behaviour:
    """The locations and transitions of an instance as expressions."""
    names = _location_names(instance.component.locations)
    if network.notes is not None:
        names = {key: network.notes.locations.get(name, name) for key, name in names.items()}

    def formula(elements: tuple[Element, ...]) -> Expression:
        def resolve(name: str, span: Span | None) -> Expression:
            value = instance.values.get(name)
            return undeclared(network, instance, name, span) if value is None else value

        return conjunction(*(no_places(read_condition(e, resolve)) for e in elements))

    stays = tuple(
        LocationFormulas(
            names[template.id],
            relation(formula(template.flows), "flow"),
            conjuncts(formula(template.invariants)),
            template.span,
        )
        for template in instance.component.locations
    )
    jumps = []
    for template in instance.component.transitions:
        assigned = relation(formula(template.assignments), "assignment", plain_equations=True)
        jumps.append(
            TransitionFormulas(
                _location_of(names, template.source, template),
                _location_of(names, template.target, template),
                conjunction(formula(template.guards), *_only_false(assigned)),
                in_reading_order(assigned.ranges, template.span),
                _label(network, instance, template),
                template.urgent,
                template.span,
            )
        )
    return Behaviour(instance, stays, tuple(jumps))


def _only_false(assigned: PrimedRelation) -> tuple[Expression, ...]:
    """What an assignment says besides assigning: nothing, or that it is impossible."""
    for part in assigned.others:
        if part != FALSE:
            raise refusal(
                "unsupported-assignment",
                "a condition without a primed variable has no place in an assignment",
                part.span,
                "conditions belong into the guard; a value after the jump is written x'",
            )
    return assigned.others


def _location_names(templates: tuple[LocationTemplate, ...]) -> dict[str, str]:
    """The names of locations by id, made to differ where the file repeats one."""
    counts: dict[str, int] = {}
    for template in templates:
        counts[template.name] = counts.get(template.name, 0) + 1
    names: dict[str, str] = {}
    taken = {name for name, count in counts.items() if count == 1}
    for template in templates:
        name = template.name
        if counts[name] > 1:
            name = f"{name}_{template.id}"
            while name in taken:
                name += "_"
            taken.add(name)
        names[template.id] = name
    return names


def _location_of(names: Mapping[str, str], identifier: str, template: TransitionTemplate) -> str:
    if identifier not in names:
        raise refusal(
            "unknown-location", f"there is no location with id {identifier!r}", template.span
        )
    return names[identifier]


def _label(
    network: Network, instance: ComponentInstance, template: TransitionTemplate
) -> str | None:
    if template.label is None:
        return None
    name = template.label.text.strip()
    if name in instance.labels:
        return instance.labels[name]
    warning = Diagnostic(
        "undeclared-label",
        f"the label {name!r} is not declared in component {instance.component.id!r}: it "
        "synchronises with nothing",
        template.label.span,
        f'declare it there: <param name="{name}" type="label" local="false" />',
        Severity.WARNING,
    )
    if all(w.message != warning.message for w in network.warnings):
        network.warnings.append(warning)
    return f"{instance.path}.{name}"


@dataclass(frozen=True, slots=True)
class Roles:
    """What the names of the whole system are.

    `owned` lists for each instance (by position) the variables it writes; a variable that
    several instances constrain is owned by all of them. `inputs` come from outside.
    """

    constants: frozenset[str]
    owned: tuple[tuple[str, ...], ...]
    inputs: frozenset[str]
    unused: tuple[str, ...] = field(default=())


def assign_roles(network: Network, behaviours: list[Behaviour], started: frozenset[str]) -> Roles:
    """Decide who writes what; `started` are the names that `initially` speaks about.

    An instance writes a variable if it constrains its derivative or its value after a
    jump. One that nobody constrains is an input, even where it is declared controlled
    (many authors do not say `controlled="false"`): it may change arbitrarily while time
    passes, and as an input also at jumps, which over-approximates. It stays a variable of
    the first instance that controls it if it has an initial value, if an invariant equates
    it to something, or if a flow `false` needs something to hold time by.
    """
    equated = frozenset(_equated(behaviours))
    constants = _constants(network, behaviours)
    writers: dict[str, list[int]] = {}
    used: set[str] = set(constants)
    for index, behaviour in enumerate(behaviours):
        for name in dict.fromkeys(c.variable for c in behaviour.constraints):
            if name not in constants:
                writers.setdefault(name, []).append(index)
    for index, behaviour in enumerate(behaviours):
        used |= free_variables(*behaviour.formulas)
        holds_time = any(stay.flow.impossible for stay in behaviour.stays)
        for param in behaviour.instance.component.params:
            value = behaviour.instance.values.get(param.name)
            if value is None or value.op is not Op.VARIABLE or value.name in constants:
                continue
            used.add(value.name)
            stays = value.name in started or value.name in equated or holds_time
            if param.controlled and stays and value.name not in writers:
                writers[value.name] = [index]
    owned: list[list[str]] = [[] for _ in behaviours]
    for name in network.declared:
        for index in writers.get(name, ()):
            owned[index].append(name)
    inputs = frozenset(n for n in used if n not in writers and n not in constants)
    unused = tuple(n for n in network.declared if n not in used and n not in writers)
    return Roles(constants, tuple(map(tuple, owned)), inputs, unused)


def _equated(behaviours: list[Behaviour]) -> Iterator[str]:
    """The names that stand alone on a side of an equation in an invariant."""
    for behaviour in behaviours:
        for stay in behaviour.stays:
            for part in stay.invariant:
                if part.op is Op.EQUAL:
                    yield from (side.name for side in part.args if side.op is Op.VARIABLE)


def _constants(network: Network, behaviours: list[Behaviour]) -> frozenset[str]:
    """The names declared constant, checked never to change."""
    declared = frozenset(d.name for d in network.declared.values() if d.constant)
    still = Range.exactly(ZERO)
    for behaviour in behaviours:
        for stay in behaviour.stays:
            for flow in stay.flow.ranges:
                if flow.variable in declared and flow.range != still:
                    raise _changes(flow.variable, stay.span)
        for jump in behaviour.jumps:
            for reset in jump.resets:
                kept = Range.exactly(variable(reset.variable))
                if reset.variable in declared and reset.range != kept:
                    raise _changes(reset.variable, jump.span)
    return declared


def _changes(name: str, span: Span) -> Exception:
    return refusal(
        "constant-changes",
        f'{name!r} is declared constant (dynamics="const") but given new values here',
        span,
        'declare it with dynamics="any"',
    )
