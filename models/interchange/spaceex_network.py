"""Networks of SpaceEx components: every `bind` carried out, down to the base components.

An instance of a base component is a template together with what each of its parameters
stands for: a variable of the whole system, a number, or a label. Names that a network does
not bind, and local ones, are qualified by the path of instances (`osc.osci.y`), which is
how configurations refer to them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from workbench.models.automaton import TIME
from workbench.models.expressions.expression import Expression, variable
from workbench.models.expressions.operators import Op
from workbench.models.expressions.traversal import free_variables
from workbench.models.interchange.spaceex_components import Bind, ComponentTemplate, Param, refusal
from workbench.models.interchange.spaceex_formulas import no_places, read_formula
from workbench.models.interchange.spaceex_notes import Notes
from workbench.models.interchange.xml_door import Element
from workbench.models.source import Diagnostic, Severity, Span

_NUMBERED = re.compile(r"x(\d{1,6})", re.ASCII)

MAX_INSTANCES = 20_000
MAX_DEPTH = 200


@dataclass(frozen=True, slots=True)
class Declared:
    """A name of the whole system and how its declarations describe it."""

    name: str
    type: str
    constant: bool
    span: Span


@dataclass(frozen=True, slots=True)
class ComponentInstance:
    """A base component in its place: `values` says what its variables and constants stand
    for, `labels` what its labels are called in the whole system."""

    path: str
    component: ComponentTemplate
    values: Mapping[str, Expression]
    labels: Mapping[str, str]


@dataclass(slots=True)
class Network:
    """All instances of base components, and the names of the whole system in order.

    `original` leads from names as they stand in the file to those of the system; `notes`
    are those of our own export, where the file is one.
    """

    system: ComponentTemplate
    notes: Notes | None = None
    instances: list[ComponentInstance] = field(default_factory=list)
    declared: dict[str, Declared] = field(default_factory=dict)
    original: dict[str, str] = field(default_factory=dict)
    warnings: list[Diagnostic] = field(default_factory=list)

    def declare(self, name: str, param: Param) -> str:
        """Add a name of the whole system; a variable called like the reserved name of time
        gets another one."""
        given = name
        if self.notes is not None:
            name = self.notes.names.get(name, name)
        while self.notes is None and (name == TIME or (name in self.declared and given == TIME)):
            name += "_"
        if name in self.declared:
            raise refusal("duplicate-name", f"two variables are called {name!r}", param.span)
        self.declared[name] = Declared(name, param.type, param.constant, param.span)
        self.original[given] = name
        return name

    def refine(self, name: str, param: Param) -> None:
        """A further declaration of a name, by a component that is bound to it."""
        known = self.declared[name]
        constant = known.constant or param.constant
        kind = "int" if "int" in (known.type, param.type) else known.type
        self.declared[name] = Declared(name, kind, constant, known.span)

    def find(self, name: str) -> str | None:
        """The variable that a configuration means: by its full name, or by an end of it
        that only one variable has."""
        if name in self.original:
            return self.original[name]
        ends = [new for old, new in self.original.items() if old.endswith("." + name)]
        return ends[0] if len(ends) == 1 else None

    def by_position(self, name: str, span: Span | None) -> str | None:
        """The k-th variable for a name `xk`, where no variable has a name of that form.

        Some configurations in the wild number the variables, because their tool does. The
        reading is warned about.
        """
        match = _NUMBERED.fullmatch(name)
        if match is None or any(_NUMBERED.fullmatch(n) for n in self.original):
            return None
        names = [p.name for p in self.system.params if not p.is_label and not p.constant]
        if not 0 < int(match[1]) <= len(names):
            return None
        found = names[int(match[1]) - 1]
        warning = Diagnostic(
            "variable-by-position",
            f"{self.system.id!r} has no variable {name!r}: it is taken as its variable "
            f"number {match[1]}, {found!r}",
            span,
            severity=Severity.WARNING,
        )
        if all(w.message != warning.message for w in self.warnings):
            self.warnings.append(warning)
        return self.original[found]


@dataclass(frozen=True, slots=True)
class _Frame:
    """A component still to be instantiated."""

    component: ComponentTemplate
    path: str
    depth: int
    values: Mapping[str, Expression]
    labels: Mapping[str, str]


def instantiate(
    components: Mapping[str, ComponentTemplate],
    system: ComponentTemplate,
    notes: Notes | None = None,
) -> Network:
    """The network below `system`, depth first, in the order of the binds."""
    network = Network(system, notes)
    own_labels = notes.labels if notes else {}
    values: dict[str, Expression] = {}
    labels: dict[str, str] = {}
    for param in system.params:
        if param.is_label:
            labels[param.name] = own_labels.get(param.name, param.name)
        else:
            values[param.name] = variable(network.declare(param.name, param))
    stack = [_Frame(system, "", 0, values, labels)]
    count = 0
    while stack:
        frame = stack.pop()
        count += 1
        if count > MAX_INSTANCES:
            raise refusal(
                "too-many-instances",
                f"the network has more than {MAX_INSTANCES} instances",
                system.span,
            )
        if frame.component.is_network:
            children = [_child(components, network, frame, b) for b in frame.component.binds]
            stack.extend(reversed(children))
        elif frame.component.locations:
            path = frame.path or (notes.name if notes else "") or frame.component.id
            network.instances.append(
                ComponentInstance(path, frame.component, frame.values, frame.labels)
            )
        else:
            raise refusal(
                "no-location",
                f"component {frame.component.id!r} has neither locations nor binds",
                frame.component.span,
            )
    return network


def _child(
    components: Mapping[str, ComponentTemplate], network: Network, parent: _Frame, bind: Bind
) -> _Frame:
    component = components.get(bind.component)
    if component is None:
        raise refusal("unknown-component", f"there is no component {bind.component!r}", bind.span)
    if parent.depth >= MAX_DEPTH:
        raise refusal(
            "recursive-component",
            f"binds are nested more than {MAX_DEPTH} deep; does {bind.component!r} contain itself?",
            bind.span,
        )
    path = f"{parent.path}.{bind.name}" if parent.path else bind.name
    maps = dict(bind.maps)
    values: dict[str, Expression] = {}
    labels: dict[str, str] = {}
    for param in component.params:
        mapped = None if param.local else maps.pop(param.name, None)
        if param.is_label:
            labels[param.name] = _bound_label(parent, path, param, mapped)
        elif mapped is None or not mapped.text.strip():
            values[param.name] = variable(network.declare(f"{path}.{param.name}", param))
        else:
            values[param.name] = _bound_value(network, parent, param, mapped)
    if maps:
        key, element = next(iter(maps.items()))
        raise refusal(
            "unknown-key",
            f"component {component.id!r} has no parameter {key!r} to bind",
            element.span,
        )
    return _Frame(component, path, parent.depth + 1, values, labels)


def _bound_label(parent: _Frame, path: str, param: Param, mapped: Element | None) -> str:
    if mapped is None or not mapped.text.strip():
        return f"{path}.{param.name}"
    name = mapped.text.strip()
    if name not in parent.labels:
        raise refusal(
            "unknown-label",
            f"{name!r} is no label of component {parent.component.id!r}",
            mapped.span,
            f'declare <param name="{name}" type="label" local="false" /> there',
        )
    return parent.labels[name]


def _bound_value(network: Network, parent: _Frame, param: Param, mapped: Element) -> Expression:
    """What a parameter is bound to: a variable of the network, or a number (which may be
    computed from numbers and constants)."""

    def resolve(name: str, span: Span | None) -> Expression:
        if name not in parent.values:
            raise refusal(
                "unknown-name",
                f"{name!r} is no parameter of component {parent.component.id!r}",
                span or mapped.span,
                "declare it there, or bind the key to a number",
            )
        return parent.values[name]

    value = no_places(read_formula(mapped, resolve))
    if value.op is Op.VARIABLE:
        network.refine(value.name, param)
    elif not value.is_constant:
        free = free_variables(value)
        if not free or not all(network.declared[n].constant for n in free):
            raise refusal(
                "bound-to-expression",
                f"{param.name!r} is bound to an expression that changes with time",
                mapped.span,
                "bind it to a variable, and let a component define that variable",
            )
    return value


def undeclared(
    network: Network, instance: ComponentInstance, name: str, span: Span | None
) -> Expression:
    """What a name that the component does not declare is taken for: the system's variable
    of that name, or a fresh one of the instance. Warned about once."""
    full = f"{instance.path}.{name}"
    found = network.original.get(full)
    if found is None:
        top = network.original.get(name)
        place = span or instance.component.span
        if top is None:
            top = network.declare(full, Param(name, "real", False, True, False, place))
            meaning = "it is taken as a free input"
        else:
            network.original[full] = top
            meaning = "it is taken as the system's variable of that name"
        found = top
        network.warnings.append(
            Diagnostic(
                "undeclared-name",
                f"{name!r} is not declared in component {instance.component.id!r}: {meaning}",
                place,
                f'declare it there: <param name="{name}" type="real" ... />',
                Severity.WARNING,
            )
        )
    return variable(found)
