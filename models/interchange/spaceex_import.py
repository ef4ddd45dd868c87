"""SpaceEx models in: `<sspaceex>` XML and its configuration become an automaton.

One base component gives a `HybridAutomaton`, a network of several a `Product` whose
locations are built on demand. The pieces: `xml_door` reads the file, `spaceex_components`
and `spaceex_config` its parts, `spaceex_network` carries out the binds, and
`spaceex_behaviour` and `spaceex_states` read formulas into the automaton.

Without a configuration the system is the last component that no other binds; without
`initially` runs may start anywhere: in every location and state (an over-approximation of
whatever the author had in mind).

Where the file does not say who wins, everything that satisfies it is a behaviour: a
variable that an instance constrains nowhere does not hold up the jumps of others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeVar

from workbench.models.agents.composition import Product, explicit
from workbench.models.automaton import (
    INT,
    REAL,
    TIME,
    Automaton,
    Constraint,
    Edge,
    EventKind,
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
    primed,
    specialise,
)
from workbench.models.expressions.expression import (
    FALSE,
    ONE,
    TRUE,
    ZERO,
    Expression,
    compare,
    conjunction,
    disjunction,
    maximum,
    minimum,
    negation,
    variable,
)
from workbench.models.expressions.literals import ExpressionTooLargeError
from workbench.models.expressions.operators import Op
from workbench.models.expressions.printing import number_text
from workbench.models.expressions.text import parse_expression
from workbench.models.expressions.traversal import conjuncts, free_variables, substitute
from workbench.models.interchange.spaceex_behaviour import (
    Behaviour,
    LocationFormulas,
    Roles,
    TransitionFormulas,
    assign_roles,
    read_behaviour,
)
from workbench.models.interchange.spaceex_components import (
    ComponentTemplate,
    default_system,
    read_components,
    refusal,
)
from workbench.models.interchange.spaceex_config import ConfigEntry, Configuration, read_config
from workbench.models.interchange.spaceex_formulas import no_places, read_formula
from workbench.models.interchange.spaceex_network import Network, instantiate
from workbench.models.interchange.spaceex_notes import (
    Counts,
    EdgeNote,
    Notes,
    bad_note,
    digest,
    find_note,
    read_notes,
)
from workbench.models.interchange.spaceex_states import (
    InitialStates,
    InputBounds,
    disjuncts,
    empty_initial,
    has_places,
    places_in,
    plain_bound,
    read_states,
    sort_initial,
)
from workbench.models.interchange.spaceex_text import opposite
from workbench.models.interchange.xml_door import Element, parse_xml
from workbench.models.source import Diagnostic, ModelError, Severity, Span

FORBIDDEN = "forbidden"
"""The name of the property that `forbidden` states."""


@dataclass(frozen=True, slots=True)
class Imported:
    """An imported model and what the author should know about it."""

    automaton: Automaton
    warnings: tuple[Diagnostic, ...]


def read_spaceex(xml: bytes, config: str | None, file: str) -> Automaton:
    """The automaton of a SpaceEx model; raises `ModelError` with every reason to refuse it."""
    return import_spaceex(xml, config, file).automaton


def import_spaceex(
    xml: bytes, config: str | None, file: str, config_file: str | None = None
) -> Imported:
    """The automaton of a SpaceEx model together with warnings."""
    beside = config_file or _beside(file)
    try:
        return _imported(xml, config, file, beside)
    except ExpressionTooLargeError as error:
        raise refusal("expression-too-large", str(error), None) from None
    except ModelError as error:
        sources = {file: xml.decode("utf-8", "replace"), beside: config or ""}
        raise ModelError(*error.diagnostics, sources=sources) from None


def _beside(file: str) -> str:
    """The configuration's usual name."""
    return (file[:-4] if file.lower().endswith(".xml") else file) + ".cfg"


def _imported(xml: bytes, config: str | None, file: str, config_file: str) -> Imported:
    root = parse_xml(xml, file)
    components = read_components(root)
    options = Configuration() if config is None else read_config(config, config_file)
    system = _system(components, options)
    notes, edited = _own_notes(root, system, options)
    network = instantiate(components, system, notes)
    network.warnings += edited
    behaviours = [read_behaviour(network, instance) for instance in network.instances]
    if notes is not None:
        automaton = restore(network, behaviours[0], options, notes, _horizon(options))
        return Imported(automaton, (*network.warnings, *options.warnings))
    condition = TRUE
    if options.initially is not None:
        condition = read_states(network, behaviours, options.initially)
    roles = assign_roles(network, behaviours, free_variables(condition))
    initial = sort_initial(condition, roles.constants)
    behaviours = [substituted(b, initial.values) for b in behaviours]
    outside = from_outside(behaviours, roles)
    parameters = tuple(_parameters(network, roles, initial))
    single = len(behaviours) == 1
    parts = [
        build(network, b, owned, roles, outside, parameters, b.instance.path)
        for b, owned in zip(behaviours, roles.owned, strict=True)
    ]
    whole = _Whole(
        network.system.id if not single else parts[0].name,
        tuple(parts),
        parameters,
        conjunction(*outside.assumption, initial.assumption),
        tuple(_properties(network, behaviours, options, initial)),
        _horizon(options),
        initial.rest,
        options.initially.span if options.initially else None,
    )
    warnings = (*network.warnings, *options.warnings, *_unused(network, roles))
    return Imported(whole.automaton(), tuple(warnings))


def _own_notes(
    root: Element, system: ComponentTemplate, options: Configuration
) -> tuple[Notes | None, tuple[Diagnostic, ...]]:
    """The notes of our own export, where the file is one and nobody has edited it."""
    note = find_note(system)
    if note is None or system.is_network:
        return None, ()
    notes = read_notes(note)
    if notes.digest == digest(root, options):
        return notes, ()
    warning = Diagnostic(
        "edited-export",
        "the model or its configuration was changed after this program wrote it; names and "
        "properties are read as they stand in the file",
        note.span,
        severity=Severity.WARNING,
    )
    return None, (warning,)


def _system(components: dict[str, ComponentTemplate], options: Configuration) -> ComponentTemplate:
    if options.system is None:
        return default_system(components)
    name = options.system.text.strip()
    if name not in components:
        raise refusal(
            "unknown-component",
            f"the system {name!r} is no component of the model",
            options.system.span,
            f"its components are {', '.join(list(components)[:8])}",
        )
    return components[name]


def _parameters(network: Network, roles: Roles, initial: InitialStates) -> Sequence[Parameter]:
    found = []
    for name, declared in network.declared.items():
        if name in roles.constants and name not in initial.values:
            known = initial.ranges.get(name, InputBounds())
            check_inhabited(name, known, declared.span)
            kind = INT if declared.type == "int" else REAL
            found.append(Parameter(name, kind, known.low, known.high, declared.span))
    return found


def _properties(
    network: Network, behaviours: list[Behaviour], options: Configuration, initial: InitialStates
) -> Sequence[Property]:
    if options.forbidden is None:
        return ()
    states = substitute(read_states(network, behaviours, options.forbidden), initial.values)
    return (Property(FORBIDDEN, states, PropertyKind.FORBIDDEN, TRUE, options.forbidden.span),)


def _horizon(options: Configuration) -> Fraction | None:
    """`time-horizon`; SpaceEx writes a negative one where there is none."""
    if options.horizon is None:
        return None
    value = number(options.horizon)
    return value if value > 0 else None


def number(entry: ConfigEntry) -> Fraction:
    """An option that must be a number."""

    def no_names(name: str, span: Span | None) -> Expression:
        raise refusal("not-a-number", f"expected a number, not {name!r}", span)

    value = no_places(read_formula(entry, no_names))
    if not value.is_constant:
        raise refusal("not-a-number", "expected a number", entry.span)
    return value.constant


def _unused(network: Network, roles: Roles) -> Sequence[Diagnostic]:
    return [
        Diagnostic(
            "unused-variable",
            f"{name!r} is bound in no component and was left out",
            network.declared[name].span,
            severity=Severity.WARNING,
        )
        for name in roles.unused
    ]


@dataclass(frozen=True, slots=True)
class _Whole:
    """Everything that the automaton of the whole system is made of."""

    name: str
    parts: tuple[HybridAutomaton, ...]
    parameters: tuple[Parameter, ...]
    assumption: Expression
    properties: tuple[Property, ...]
    horizon: Fraction | None
    initial: tuple[Expression, ...]
    span: Span | None

    def automaton(self) -> Automaton:
        """The automaton with its initial sets."""
        if len(self.parts) == 1:
            return self._flat(self.parts[0])
        by_part: dict[str, list[Expression]] = {}
        joint: list[Expression] = []
        mixed: list[Expression] = []
        for condition in self.initial:
            where = places_in(condition)
            if len(where) == 1:
                by_part.setdefault(next(iter(where)), []).append(condition)
            else:
                (mixed if where else joint).append(condition)
        parts = tuple(
            _restricted(part, conjunction(*by_part.get(part.name, ())), self.span)
            for part in self.parts
        )
        product = Product(
            self.name,
            parts,
            properties=self.properties,
            initial_condition=conjunction(*joint),
            assumption=self.assumption,
            parameters=self.parameters,
            horizon=self.horizon,
        )
        return self._correlated(product, conjunction(*mixed)) if mixed else product

    def _flat(self, part: HybridAutomaton) -> HybridAutomaton:
        complete = replace(
            part,
            name=self.name,
            parameters=self.parameters,
            assumption=self.assumption,
            properties=self.properties,
            horizon=self.horizon,
        )
        return _restricted(complete, conjunction(*self.initial), self.span)

    def _correlated(self, product: Product, condition: Expression) -> HybridAutomaton:
        """A condition that ties the places of several components together needs the
        combinations listed."""
        flat = explicit(product)
        starts = []
        for start in flat.initial:
            here = specialise(condition, product.occupied(start.location))
            if here != FALSE:
                starts.append(replace(start, condition=conjunction(start.condition, here)))
        if not starts:
            raise empty_initial(self.span)
        return replace(flat, initial=tuple(starts))


def _restricted(part: HybridAutomaton, condition: Expression, span: Span | None) -> HybridAutomaton:
    """The automaton started only where a condition on its place and variables holds."""
    if condition == TRUE:
        return part
    if not has_places(condition):
        starts = [Initial(start.location, condition) for start in part.initial]
    else:
        starts = [
            Initial(start.location, specialise(condition, {part.name: start.location}))
            for start in part.initial
        ]
    possible = tuple(start for start in starts if start.condition != FALSE)
    if not possible:
        raise empty_initial(span)
    return replace(part, initial=possible)


# From the behaviour of an instance to its automaton.
#
# Two readings that engines rely on are made here. A bound on an input that is stated in every
# invariant becomes a bound of the input; a condition on inputs and constants alone that every
# invariant states becomes an assumption. An equation `y == e` in an invariant, where the
# variable y is given neither a flow there nor any assignment, defines y (an algebraic
# constraint); at a jump y then takes the value that the target's equation gives it, where
# SpaceEx would ask the old value to satisfy it, so this over-approximates.

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


# Reading back what `spaceex_export` wrote: the very same automaton.
#
# The visible file is read like any other; the note says which conjuncts are bounds of inputs,
# definitions, or parts of a property, and what things are really called.

Bounded = TypeVar("Bounded", Input, Parameter)


def restore(
    network: Network,
    behaviour: Behaviour,
    options: Configuration,
    notes: Notes,
    horizon: Fraction | None,
) -> HybridAutomaton:
    """The automaton that was exported; raises `ModelError` if the note does not fit."""
    try:
        return _Restored(network, behaviour, options, notes).automaton(horizon)
    except (ValueError, IndexError, KeyError, AssertionError) as error:
        note = find_note(network.system)
        assert note is not None, "notes come from a note"
        raise bad_note(note) from error


class _Restored:
    """One restoration."""

    def __init__(
        self, network: Network, behaviour: Behaviour, options: Configuration, notes: Notes
    ):
        self.network = network
        self.behaviour = behaviour
        self.options = options
        self.notes = notes
        self.name = behaviour.instance.path

    def automaton(self, horizon: Fraction | None) -> HybridAutomaton:
        variables, inputs, parameters = self._names()
        locations = tuple(self._location(i, s) for i, s in enumerate(self.behaviour.stays, 1))
        outside, assumption = self._outside()
        starts, ranges = self._initial(frozenset(p.name for p in parameters))
        labels = frozenset(self.behaviour.instance.labels.values())
        return HybridAutomaton(
            self.name,
            variables,
            locations,
            tuple(self._edges()),
            starts,
            tuple(_bounded(i, outside) for i in inputs),
            tuple(_bounded(p, ranges) for p in parameters),
            assumption,
            tuple(self._properties()),
            tuple(parse_expression(text) for text in self.notes.predicates),
            labels - frozenset(self.notes.silent),
            horizon,
        )

    def _names(self) -> tuple[tuple[Variable, ...], tuple[Input, ...], tuple[Parameter, ...]]:
        variables, inputs, parameters = [], [], []
        for param in self.behaviour.instance.component.params:
            if param.is_label:
                continue
            name = self.network.original[param.name]
            kind = INT if param.type == "int" else REAL
            if param.constant:
                parameters.append(Parameter(name, kind, span=param.span))
            elif param.controlled:
                still = kind == INT or name in self.notes.discrete
                change = Kind.DISCRETE if still else Kind.ANALOG
                variables.append(Variable(name, kind, change, param.span))
            else:
                inputs.append(Input(name, kind, span=param.span))
        self.still = {v.name for v in variables if v.kind is Kind.DISCRETE}
        if self.notes.implicit_time:
            self.still.add(TIME)
        return tuple(variables), tuple(inputs), tuple(parameters)

    def _location(self, number: int, stay: LocationFormulas) -> Location:
        _require(not stay.flow.others)
        parts = list(stay.invariant)
        algebraic, parts = _taken(parts, self.notes.algebraic.get(str(number), []))
        tail = self.notes.input_bounds + self.notes.assumption
        _require(len(parts) >= tail)
        flows = tuple(f for f in stay.flow.ranges if f.variable not in self.still)
        invariant = conjunction(*parts[: len(parts) - tail])
        return Location(stay.name, flows, algebraic, invariant, stay.span)

    def _outside(self) -> tuple[dict[str, InputBounds], Expression]:
        if not self.behaviour.stays:
            return {}, TRUE
        parts = self.behaviour.stays[0].invariant
        after = len(parts) - self.notes.assumption
        before = after - self.notes.input_bounds
        return _bounds(parts[before:after]), conjunction(*parts[after:])

    def _edges(self) -> Iterator[Edge]:
        jumps: Sequence[TransitionFormulas] = self.behaviour.jumps
        position, index = 0, 0
        while position < len(jumps):
            note = self.notes.edges.get(str(index), EdgeNote())
            _require(note.alternatives > 0)
            group = jumps[position : position + note.alternatives]
            first = group[0]
            yield Edge(
                first.source,
                first.target,
                _guard([j.guard for j in group], note.unequal),
                first.resets,
                first.label,
                first.urgent,
                EventKind(note.event) if note.event else EventKind.UNILATERAL,
                note.name,
                first.span,
            )
            position += note.alternatives
            index += 1

    def _initial(
        self, parameters: frozenset[str]
    ) -> tuple[tuple[Initial, ...], dict[str, InputBounds]]:
        _require(self.options.initially is not None)
        assert self.options.initially is not None
        whole = read_states(self.network, [self.behaviour], self.options.initially)
        if whole == FALSE:
            return (), {}
        parts = conjuncts(whole)
        ranges = _bounds(parts[: self.notes.initial_bounds])
        _require(all(n in parameters or n == TIME for n in ranges))
        options = disjuncts(conjunction(*parts[self.notes.initial_bounds :]))
        _require(set(self.notes.starts) == set(range(len(options))))
        chosen = [options[i] for i in self.notes.starts]
        starts = (self._start(o, c) for o, c in zip(chosen, self.notes.initial, strict=True))
        return tuple(starts), ranges

    def _start(self, option: Expression, counts: Counts) -> Initial:
        place, *parts = conjuncts(option)
        _require(place.op is Op.AT)
        tail = sum(count for _, count in counts)
        after = {name: variable(primed(name)) for name, _ in counts}
        resets, _ = _taken(parts[len(parts) - tail :], counts)
        changed = tuple(Constraint(r.variable, r.range.substitute(after), r.span) for r in resets)
        return Initial(place.place[1], conjunction(*parts[: len(parts) - tail]), changed)

    def _properties(self) -> Iterator[Property]:
        parts: tuple[Expression, ...] = ()
        if self.options.forbidden is not None:
            parts = disjuncts(read_states(self.network, [self.behaviour], self.options.forbidden))
        for note in self.notes.properties:
            states = disjunction(*(parts[i] for i in note.parts))
            split = conjuncts(states)
            _require(len(split) >= note.where)
            where = conjunction(*split[: note.where])
            bad = conjunction(*split[note.where :])
            kind = PropertyKind(note.kind)
            forbidden = kind is PropertyKind.FORBIDDEN
            shown = bad if forbidden != note.negated else opposite(bad)
            yield Property(note.name, negation(shown) if note.negated else shown, kind, where)


def _guard(alternatives: list[Expression], unequal: list[int]) -> Expression:
    """The guard that several transitions spell out."""
    if not unequal:
        return disjunction(*alternatives) if len(alternatives) > 1 else alternatives[0]
    parts = list(conjuncts(alternatives[0]))
    for index in unequal:
        _require(parts[index].op is Op.LESS)
        left, right = parts[index].args
        parts[index] = compare(Op.NOT_EQUAL, left, right)
    return conjunction(*parts)


def _require(condition: bool) -> None:
    if not condition:
        raise ValueError("the note does not fit the file")


def _bounded(given: Bounded, bounds: Mapping[str, InputBounds]) -> Bounded:
    known = bounds.get(given.name, InputBounds())
    return replace(given, low=known.low, high=known.high)


def _bounds(parts: Sequence[Expression]) -> dict[str, InputBounds]:
    found: dict[str, InputBounds] = {}
    for part in parts:
        bound = plain_bound(part)
        _require(bound is not None)
        assert bound is not None
        found.setdefault(bound[0], InputBounds()).meet(bound[1], bound[2])
    return found


def _taken(
    parts: list[Expression], counts: Counts
) -> tuple[tuple[Constraint, ...], list[Expression]]:
    """The leading conjuncts as ranges of the variables counted, and the rest."""
    found: list[Constraint] = []
    for name, count in counts:
        here, parts = parts[:count], parts[count:]
        _require(len(here) == count)
        lows: dict[Expression, None] = {}
        highs: dict[Expression, None] = {}
        for part in here:
            _require(part.op in (Op.EQUAL, Op.LESS_EQUAL, Op.GREATER_EQUAL))
            left, right = part.args
            own = left.op is Op.VARIABLE and left.name == name
            _require(own or (right.op is Op.VARIABLE and right.name == name))
            value = right if own else left
            if part.op is Op.EQUAL or (part.op is Op.GREATER_EQUAL) == own:
                lows[value] = None
            if part.op is Op.EQUAL or (part.op is Op.LESS_EQUAL) == own:
                highs[value] = None
        low = maximum(*lows) if lows else None
        high = minimum(*highs) if highs else None
        found.append(Constraint(name, Range(low, high)))
    return tuple(found), parts
