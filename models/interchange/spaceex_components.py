"""SpaceEx components as they stand in the file: templates, not yet instantiated.

A base component has locations and transitions, a network component binds other components.
What a tool may ignore (notes, positions on the drawing board) is ignored by name; every
other element or attribute that is not understood is refused, never skipped.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from workbench.models.interchange.xml_door import Element
from workbench.models.source import Diagnostic, ModelError, Span

_DRAWING = frozenset(
    {"x", "y", "width", "height", "bezier", "placement", "color", "colour", "rotation"}
)
_REMARKS = frozenset({"note", "labelposition", "middlepoint", "waypoints"})
_BOOLEANS = {"true": True, "false": False, "1": True, "0": False}


@dataclass(frozen=True, slots=True)
class Param:
    """A parameter of a component: a variable, a constant, or a synchronisation label."""

    name: str
    type: str
    constant: bool
    local: bool
    controlled: bool
    span: Span

    @property
    def is_label(self) -> bool:
        """Whether this is a synchronisation label."""
        return self.type == "label"


@dataclass(frozen=True, slots=True)
class LocationTemplate:
    """A location; invariant and flow are still text."""

    id: str
    name: str
    invariants: tuple[Element, ...]
    flows: tuple[Element, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class TransitionTemplate:
    """A transition; source and target are location ids, guard and assignment still text."""

    source: str
    target: str
    label: Element | None
    guards: tuple[Element, ...]
    assignments: tuple[Element, ...]
    urgent: bool
    span: Span


@dataclass(frozen=True, slots=True)
class Bind:
    """An instance of a component inside a network; `maps` pairs its parameters with names
    of the network or with numbers."""

    component: str
    name: str
    maps: tuple[tuple[str, Element], ...]
    span: Span


@dataclass(frozen=True, slots=True)
class ComponentTemplate:
    """A component: base if it has locations, network if it has binds."""

    id: str
    params: tuple[Param, ...]
    locations: tuple[LocationTemplate, ...]
    transitions: tuple[TransitionTemplate, ...]
    binds: tuple[Bind, ...]
    notes: tuple[Element, ...]
    span: Span

    @property
    def is_network(self) -> bool:
        """Whether the component is made of others."""
        return bool(self.binds)


def refusal(code: str, message: str, span: Span | None, hint: str | None = None) -> ModelError:
    """An error with one diagnostic."""
    return ModelError(Diagnostic(code, message, span, hint))


def read_components(root: Element) -> dict[str, ComponentTemplate]:
    """The components of a document by id, in file order."""
    if root.name != "sspaceex":
        raise refusal(
            "not-spaceex",
            f"this is an XML file of another kind: its outermost element is <{root.name}>",
            root.span,
            "a SpaceEx model starts with <sspaceex>",
        )
    found: dict[str, ComponentTemplate] = {}
    for element in _parts(root, {"component"}):
        component = _component(element)
        if component.id in found:
            raise refusal(
                "duplicate-component", f"there are two components {component.id!r}", element.span
            )
        found[component.id] = component
    if not found:
        raise refusal("no-component", "the model has no <component>", root.span)
    return found


def default_system(components: Mapping[str, ComponentTemplate]) -> ComponentTemplate:
    """The component to analyse where no configuration names one: the last in the file that
    is not bound inside another."""
    bound = {bind.component for c in components.values() for bind in c.binds}
    free = [c for c in components.values() if c.id not in bound]
    if not free:
        first = next(iter(components.values()))
        raise refusal("recursive-component", "every component is bound inside another", first.span)
    return free[-1]


def _component(element: Element) -> ComponentTemplate:
    _only(element, {"id"})
    parts = list(_parts(element, {"param", "location", "transition", "bind"}))
    component = ComponentTemplate(
        _required(element, "id"),
        tuple(_param(p) for p in parts if p.name == "param"),
        tuple(_location(p) for p in parts if p.name == "location"),
        tuple(_transition(p) for p in parts if p.name == "transition"),
        tuple(_bind(p) for p in parts if p.name == "bind"),
        tuple(c for c in element.children if c.name == "note"),
        element.span,
    )
    if component.binds and (component.locations or component.transitions):
        raise refusal(
            "mixed-component",
            f"component {component.id!r} has both locations and binds",
            component.span,
            "put the locations into a component of their own and bind it",
        )
    _distinct("parameter", ((p.name, p.span) for p in component.params), component.id)
    _distinct("location id", ((c.id, c.span) for c in component.locations), component.id)
    _distinct("bind", ((b.name, b.span) for b in component.binds), component.id)
    return component


def _distinct(what: str, names: Iterator[tuple[str, Span]], component: str) -> None:
    seen: set[str] = set()
    for name, span in names:
        if name in seen:
            code = f"duplicate-{what.replace(' ', '-')}"
            raise refusal(code, f"component {component!r} has two {what}s {name!r}", span)
        seen.add(name)


def _param(element: Element) -> Param:
    kind = element.get("type") or "real"
    if kind not in ("real", "int", "label"):
        raise refusal(
            "parameter-type", f"parameters of type {kind!r} are not supported", element.span
        )
    dynamics = element.get("dynamics") or "any"
    if dynamics not in ("any", "const", "explicit"):
        raise refusal(
            "parameter-dynamics", f"dynamics {dynamics!r} are not supported", element.span
        )
    for side in ("d1", "d2"):
        if (size := (element.get(side) or "1").strip()) != "1":
            raise refusal(
                "vector-parameter",
                f"vector and matrix parameters are not supported ({side} is {size!r})",
                element.span,
                "declare one scalar parameter for every entry",
            )
    return Param(
        _required(element, "name"),
        kind,
        dynamics == "const",
        _flag(element, "local", False),
        _flag(element, "controlled", True),
        element.span,
    )


def _location(element: Element) -> LocationTemplate:
    _only(element, {"id", "name"} | _DRAWING)
    identifier = _required(element, "id")
    parts = list(_parts(element, {"invariant", "flow"}))
    return LocationTemplate(
        identifier,
        (element.get("name") or "").strip() or identifier,
        tuple(p for p in parts if p.name == "invariant"),
        tuple(p for p in parts if p.name == "flow"),
        element.span,
    )


def _transition(element: Element) -> TransitionTemplate:
    _only(element, {"source", "target", "asap", "timedriven", "priority", "id"} | _DRAWING)
    if _flag(element, "timedriven", False):
        raise refusal(
            "timedriven-transition", "time-driven transitions are not supported", element.span
        )
    if (priority := (element.get("priority") or "0").strip()) not in ("", "0"):
        raise refusal(
            "transition-priority",
            f"priorities of transitions are not supported (this one has {priority!r})",
            element.span,
            "make the guards exclude each other instead",
        )
    parts = list(_parts(element, {"label", "guard", "assignment"}))
    labels = [p for p in parts if p.name == "label" and p.text.strip()]
    if len(labels) > 1:
        raise refusal("several-labels", "a transition has at most one label", labels[1].span)
    return TransitionTemplate(
        _required(element, "source"),
        _required(element, "target"),
        labels[0] if labels else None,
        tuple(p for p in parts if p.name == "guard"),
        tuple(p for p in parts if p.name == "assignment"),
        _flag(element, "asap", False),
        element.span,
    )


def _bind(element: Element) -> Bind:
    _only(element, {"component", "as"} | _DRAWING)
    component = _required(element, "component")
    maps = [(_required(m, "key"), m) for m in _parts(element, {"map"})]
    _distinct("map", ((key, m.span) for key, m in maps), component)
    return Bind(component, element.get("as") or component, tuple(maps), element.span)


def _parts(element: Element, expected: Collection[str]) -> Iterator[Element]:
    """The children of the expected kinds; remarks and drawings are passed over."""
    for child in element.children:
        if child.name in expected:
            yield child
        elif child.name not in _REMARKS:
            raise refusal(
                "unknown-element",
                f"<{child.name}> inside <{element.name}> is not supported",
                child.span,
            )


def _only(element: Element, expected: Collection[str]) -> None:
    for name, value in element.attributes:
        if name not in expected and not name.startswith(("xmlns", "xml:")):
            raise refusal(
                "unknown-attribute",
                f"the attribute {name}={value!r} of <{element.name}> is not supported",
                element.span,
            )


def _required(element: Element, attribute: str) -> str:
    value = (element.get(attribute) or "").strip()
    if not value:
        raise refusal(
            "missing-attribute", f"<{element.name}> needs the attribute {attribute!r}", element.span
        )
    return value


def _flag(element: Element, attribute: str, default: bool) -> bool:
    text = (element.get(attribute) or "").strip().lower()
    if not text:
        return default
    if text not in _BOOLEANS:
        raise refusal(
            "bad-attribute", f"{attribute} must be true or false, not {text!r}", element.span
        )
    return _BOOLEANS[text]
