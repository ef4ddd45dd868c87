"""SpaceEx models out: a flat automaton as XML and configuration.

The result is one base component. Reading it back with `read_spaceex` gives an automaton
equal to the one written: this is checked before anything is returned, and what does not
survive is refused. A product is made explicit first (within a limit), so there the explicit
automaton is what comes back.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from itertools import product

from workbench.models.agents.composition import explicit
from workbench.models.automaton import (
    BOOL,
    INT,
    REAL,
    TIME,
    Automaton,
    Edge,
    EventKind,
    HybridAutomaton,
    Initial,
    Kind,
    Location,
    Property,
    PropertyKind,
    Range,
    ValueType,
    primed,
)
from workbench.models.expressions.expression import (
    TRUE,
    ZERO,
    Expression,
    at_location,
    compare,
    conjunction,
    constant,
    disjunction,
    equal,
    variable,
)
from workbench.models.expressions.literals import ExpressionTooLargeError
from workbench.models.expressions.operators import Op
from workbench.models.expressions.printing import to_text
from workbench.models.expressions.traversal import conjuncts, free_variables, postorder, substitute
from workbench.models.interchange.spaceex_components import refusal
from workbench.models.interchange.spaceex_config import read_config
from workbench.models.interchange.spaceex_import import read_spaceex
from workbench.models.interchange.spaceex_notes import EdgeNote, Notes, PropertyNote, digest
from workbench.models.interchange.spaceex_states import disjuncts
from workbench.models.interchange.spaceex_text import (
    FormulaWriter,
    Spelling,
    decimal,
    opposite,
    unsupported,
)
from workbench.models.interchange.xml_door import parse_xml
from workbench.models.source import ModelError, Span

MAX_UNEQUAL = 4
"""How many `!=` in one guard are spelled out, two transitions for each."""

MAX_LOCATIONS = 2_000
"""How many locations a product may have to be written."""

_NAMESPACE = "http://www-verimag.imag.fr/xml-namespaces/sspaceex"
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def write_spaceex(automaton: Automaton) -> tuple[str, str]:
    """The XML and the configuration of an automaton; raises `ModelError` naming the
    construct that SpaceEx cannot express."""
    flat = automaton
    if not isinstance(flat, HybridAutomaton):
        flat = explicit(automaton, MAX_LOCATIONS)
    try:
        xml, config = _Export(flat).written()
    except ExpressionTooLargeError as error:
        raise refusal("expression-too-large", str(error), None) from None
    _check_same(flat, xml, config)
    return xml, config


def _check_same(flat: HybridAutomaton, xml: str, config: str) -> None:
    """Read back what was written, and compare."""
    try:
        again: Automaton | None = read_spaceex(xml.encode(), config, f"{flat.name}.xml")
    except ModelError:
        again = None
    if again == flat:
        return
    names = (f.name for f in fields(flat))
    changed = [n for n in names if getattr(flat, n) != getattr(again, n, None)]
    what = changed[0] if again is not None else "conditions"
    raise refusal(
        "not-in-spaceex",
        f"the {what} of {flat.name!r} would change on the way to SpaceEx and back",
        None,
        "repeated or contradictory conditions are the usual cause",
    )


@dataclass(frozen=True, slots=True)
class _Param:
    """A `<param>` line."""

    name: str
    attributes: str

    def __str__(self) -> str:
        return f'    <param name="{self.name}" {self.attributes} />'


class _Export:
    """One export: the automaton, the spelling of its names, and the note being made."""

    def __init__(self, automaton: HybridAutomaton):
        self.automaton = automaton
        self.variables = automaton.variables
        names = [v.name for v in automaton.variables]
        names += [i.name for i in automaton.inputs]
        names += [p.name for p in automaton.parameters]
        used = frozenset(e.label for e in automaton.edges if e.label is not None)
        self.labels = Spelling(sorted(automaton.alphabet | used))
        self.names = Spelling(names)
        self.locations = Spelling(location.name for location in automaton.locations)
        self.component = Spelling([automaton.name])[automaton.name]
        self.writer = FormulaWriter(self.names, automaton.name, self.component, self.locations)
        self.discrete = [v for v in automaton.variables if _needs_note(v.type, v.kind)]
        flowing = {f.variable for location in automaton.locations for f in location.flows}
        self.implicit_time = TIME in names and TIME not in flowing
        self.notes = Notes(
            name=automaton.name if automaton.name != self.component else "",
            names=self.names.changed,
            labels=self.labels.changed,
            locations=self.locations.changed,
            silent=sorted(used - automaton.alphabet),
            discrete=[v.name for v in self.discrete],
            implicit_time=self.implicit_time,
        )

    def written(self) -> tuple[str, str]:
        """The XML with its note, and the configuration."""
        params = [str(p) for p in self._params()]
        body = [*self._locations(), *self._transitions()]
        config = self._config()
        self.notes.predicates = [self._predicate(p) for p in self.automaton.predicates]
        bare = self._document(params, body, "")
        self.notes.digest = digest(parse_xml(bare.encode(), ""), read_config(config, ""))
        note = f"    <note>{self.notes.text().translate(_ESCAPES)}</note>\n"
        return self._document(params, body, note), config

    def _document(self, params: Iterable[str], body: Iterable[str], note: str) -> str:
        lines = "\n".join([*params, *body])
        return (
            '<?xml version="1.0" encoding="UTF-8"?>\n'
            f'<sspaceex xmlns="{_NAMESPACE}" version="0.2" math="SpaceEx">\n'
            f'  <component id="{self.component}">\n{note}{lines}\n  </component>\n</sspaceex>\n'
        )

    def _params(self) -> Iterable[_Param]:
        for v in self.automaton.variables:
            kind = _type(v.type, f"the variable {v.name!r}", v.span)
            yield _Param(self.names[v.name], _real(kind, "any", True))
        for i in self.automaton.inputs:
            kind = _type(i.type, f"the input {i.name!r}", i.span)
            yield _Param(self.names[i.name], _real(kind, "any", False))
        for p in self.automaton.parameters:
            kind = _type(p.type, f"the parameter {p.name!r}", p.span)
            yield _Param(self.names[p.name], _real(kind, "const", True))
        for label in self.labels.visible.values():
            yield _Param(label, 'type="label" local="false"')

    # Locations

    def _locations(self) -> Iterable[str]:
        bounds = self._input_bounds()
        assumption = conjuncts(self.automaton.assumption)
        self.notes.input_bounds = len(bounds)
        self.notes.assumption = len(assumption)
        for number, location in enumerate(self.automaton.locations, start=1):
            where = f"the location {location.name!r}"
            parts = self._algebraic(number, location, where)
            for part in (*conjuncts(location.invariant), *bounds, *assumption):
                text = self.writer.condition(part, location.span, where, sets=False)
                parts.append(f"({text})" if part.op is Op.OR else text)
            yield f'    <location id="{number}" name="{self.locations[location.name]}">'
            yield from _text("invariant", parts)
            yield from _text("flow", self._flows(location, where))
            yield "    </location>"

    def _algebraic(self, number: int, location: Location, where: str) -> list[str]:
        parts: list[str] = []
        counts: list[tuple[str, int]] = []
        for c in location.algebraic:
            if c.range.low is None and c.range.high is None:
                raise refusal(
                    "not-in-spaceex", f"{where} leaves {c.variable!r} undefined", location.span
                )
            texts = self.writer.bounds(c.variable, c.range, location.span, where, prime=False)
            counts.append((c.variable, len(texts)))
            parts += texts
        if counts:
            self.notes.algebraic[str(number)] = counts
        return parts

    def _input_bounds(self) -> list[Expression]:
        found: list[Expression] = []
        for given in self.automaton.inputs:
            name = variable(given.name)
            if given.low is not None:
                found.append(name >= given.low)
            if given.high is not None:
                found.append(name <= given.high)
        return found

    def _flows(self, location: Location, where: str) -> list[str]:
        parts = self.writer.constraints(location.flows, location.span, where)
        for v in self.automaton.variables:
            # What our automaton takes for granted, SpaceEx has to be told.
            if v.kind is Kind.DISCRETE:
                parts.append(f"{self.names[v.name]}' == 0")
            elif v.name == TIME and self.implicit_time:
                parts.append(f"{self.names[v.name]}' == 1")
        return parts

    # Transitions

    def _transitions(self) -> Iterable[str]:
        position = {c.name: i for i, c in enumerate(self.automaton.locations, start=1)}
        for index, edge in enumerate(self.automaton.edges):
            guards, unequal = _alternatives(edge.guard)
            event = "" if edge.event is EventKind.UNILATERAL else edge.event.value
            note = EdgeNote(edge.name, event, len(guards), unequal)
            if note != EdgeNote():
                self.notes.edges[str(index)] = note
            for guard in guards:
                yield from self._transition(edge, guard, position)

    def _transition(self, edge: Edge, guard: Expression, position: dict[str, int]) -> Iterable[str]:
        where = f"the edge from {edge.source!r} to {edge.target!r}"
        asap = ' asap="true"' if edge.urgent else ""
        source, target = position[edge.source], position[edge.target]
        yield f'    <transition source="{source}" target="{target}"{asap}>'
        if edge.label is not None:
            yield f"      <label>{self.labels[edge.label]}</label>"
        if guard != TRUE:
            text = self.writer.condition(guard, edge.span, where, sets=False)
            yield from _text("guard", [text])
        yield from _text("assignment", self.writer.constraints(edge.resets, edge.span, where))
        yield "    </transition>"

    # Configuration

    def _config(self) -> str:
        lines = [
            f"system = {self.component}",
            f'initially = "{self._initially()}"',
            f'forbidden = "{self._forbidden()}"',
            'scenario = "supp"',
            'directions = "oct"',
            "sampling-time = 0.1",
        ]
        if self.automaton.horizon is not None:
            lines.append(f"time-horizon = {decimal(self.automaton.horizon)}")
        lines.append("iter-max = -1")
        shown = ", ".join(self.names[v.name] for v in self.automaton.variables[:2])
        lines.append(f'output-variables = "{shown}"')
        lines.append('output-format = "GEN"')
        return "\n".join(lines) + "\n"

    def _initially(self) -> str:
        bounds: list[Expression] = []
        for p in self.automaton.parameters:
            name = variable(p.name)
            if p.low is not None and p.low == p.high:
                bounds.append(equal(name, constant(p.low)))
                continue
            if p.low is not None:
                bounds.append(name >= p.low)
            if p.high is not None:
                bounds.append(name <= p.high)
        if self.implicit_time:
            bounds.append(equal(variable(TIME), ZERO))
        self.notes.initial_bounds = len(bounds)
        shown = [self._start(start) for start in self.automaton.initial]
        starts = disjunction(*shown)
        order = disjuncts(starts)
        self.notes.starts = [order.index(start) for start in shown if start in order]
        whole = conjunction(*bounds, starts)
        return self.writer.condition(whole, None, "the initial states", sets=True)

    def _start(self, start: Initial) -> Expression:
        """A start as a condition on the state after its resets."""
        here = at_location(self.automaton.name, start.location)
        reset = {r.variable for r in start.resets}
        after = {primed(name): variable(name) for name in reset}
        parts: list[Expression] = []
        counts: list[tuple[str, int]] = []
        for r in start.resets:
            known = _conditions(variable(r.variable), r.range)
            if free_variables(*known) & reset - {r.variable} or not known:
                raise _entry_action(start)
            parts += [substitute(p, after) for p in known]
            counts.append((r.variable, len(known)))
            if any(r.variable in free_variables(b) for b in _values(r.range)):
                raise _entry_action(start)
        if reset & free_variables(start.condition):
            raise _entry_action(start)
        self.notes.initial.append(counts)
        return conjunction(here, start.condition, *parts)

    def _forbidden(self) -> str:
        shown = [self._claim(claim) for claim in self.automaton.properties]
        parts = disjuncts(disjunction(*shown))
        for note, states in zip(self.notes.properties, shown, strict=True):
            note.parts = [parts.index(p) for p in disjuncts(states)]
        if not parts:
            return ""
        return self.writer.condition(disjunction(*parts), None, "the forbidden states", sets=True)

    def _claim(self, claim: Property) -> Expression:
        """The states that break a property."""
        negated = claim.condition.op is Op.NOT
        shown = claim.condition.args[0] if negated else claim.condition
        forbidden = claim.kind is PropertyKind.FORBIDDEN
        bad = shown if forbidden != negated else opposite(shown)
        self.notes.properties.append(
            PropertyNote(claim.name, claim.kind.value, [], len(conjuncts(claim.where)), negated)
        )
        return conjunction(claim.where, bad)

    def _predicate(self, predicate: Expression) -> str:
        for op in (Op.LOOKUP, Op.EXTERNAL, Op.SYMBOL):
            if any(node.op is op for node in _nodes(predicate)):
                raise unsupported(op, predicate.span, "a predicate")
        return to_text(predicate)


def _alternatives(guard: Expression) -> tuple[list[Expression], list[int]]:
    """A guard as conjunctions of comparisons that SpaceEx knows, one of which must hold, and
    where it says `!=`."""
    if guard.op is Op.OR:
        return list(guard.args), []
    parts = conjuncts(guard)
    unequal = [i for i, part in enumerate(parts) if part.op is Op.NOT_EQUAL]
    if not 0 < len(unequal) <= MAX_UNEQUAL:
        return [guard], []
    found = []
    for signs in product((Op.LESS, Op.GREATER), repeat=len(unequal)):
        chosen = list(parts)
        for index, sign in zip(unequal, signs, strict=True):
            left, right = parts[index].args
            chosen[index] = compare(sign, left, right)
        found.append(conjunction(*chosen))
    return found, unequal


def _nodes(root: Expression) -> Iterable[Expression]:
    return postorder(root)


def _values(given: Range) -> list[Expression]:
    return [b for b in (given.low, given.high) if b is not None]


def _conditions(name: Expression, given: Range) -> list[Expression]:
    """A range as conditions on the value."""
    if given.exact is not None:
        return [equal(name, given.exact)]
    found = [] if given.low is None else [name >= given.low]
    return found if given.high is None else [*found, name <= given.high]


def _entry_action(start: Initial) -> Exception:
    return refusal(
        "not-in-spaceex",
        f"entering {start.location!r} at the start computes new values from old ones, which "
        "SpaceEx models cannot express",
        None,
    )


def _needs_note(kind: ValueType, change: Kind) -> bool:
    """Whether a variable is discrete for another reason than being an integer."""
    return change is Kind.DISCRETE and kind != INT


def _type(given: ValueType, what: str, span: Span | None) -> str:
    if given in (REAL, INT):
        return given.name
    named = "truth values" if given == BOOL else "values of an enumeration"
    raise refusal(
        "not-in-spaceex", f"{what} has {named}, which SpaceEx models cannot express", span
    )


def _real(kind: str, dynamics: str, controlled: bool) -> str:
    control = "true" if controlled else "false"
    return f'type="{kind}" local="false" d1="1" d2="1" dynamics="{dynamics}" controlled="{control}"'


def _text(element: str, parts: Sequence[str]) -> Iterable[str]:
    """An element with a conjunction, one part on a line."""
    if parts:
        joined = " &\n".join(parts).translate(_ESCAPES)
        yield f"      <{element}>{joined}</{element}>"
