"""SpaceEx models in: `<sspaceex>` XML and its configuration become an automaton.

One base component gives a `HybridAutomaton`, a network of several a `Product` whose
locations are built on demand. The pieces: `xml_door` reads the file, `spaceex_components`
and `spaceex_config` its parts, `spaceex_network` carries out the binds, and
`spaceex_behaviour`, `spaceex_states` and `spaceex_build` turn formulas into the automaton.

Without a configuration the system is the last component that no other binds; without
`initially` runs may start anywhere: in every location and state (an over-approximation of
whatever the author had in mind).

Where the file does not say who wins, everything that satisfies it is a behaviour: a
variable that an instance constrains nowhere does not hold up the jumps of others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from workbench.models.agents.composition import Product, explicit
from workbench.models.automaton import (
    INT,
    REAL,
    Automaton,
    HybridAutomaton,
    Initial,
    Parameter,
    Property,
    PropertyKind,
    specialise,
)
from workbench.models.expressions.expression import FALSE, TRUE, Expression, conjunction
from workbench.models.expressions.literals import ExpressionTooLargeError
from workbench.models.expressions.traversal import free_variables, substitute
from workbench.models.interchange.spaceex_behaviour import (
    Behaviour,
    Roles,
    assign_roles,
    read_behaviour,
)
from workbench.models.interchange.spaceex_build import (
    build,
    check_inhabited,
    from_outside,
    substituted,
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
from workbench.models.interchange.spaceex_notes import Notes, digest, find_note, read_notes
from workbench.models.interchange.spaceex_restore import restore
from workbench.models.interchange.spaceex_states import (
    InitialStates,
    InputBounds,
    empty_initial,
    has_places,
    places_in,
    read_states,
    sort_initial,
)
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
