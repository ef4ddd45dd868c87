"""Automata as versioned JSON, and the fingerprint that certificates refer to.

A document holds one automaton (`"kind": "automaton"`) or one parallel composition
(`"kind": "product"`, with its components and interactions; those declared once for many pairs
are written once, as a pattern with the partners that fill its slots). Expressions are text in the
syntax of `models.expressions.text`, where values of enumerations stand in double quotes;
numbers are exact (`"1/10"`); lookup tables stand in a section of their own and are called
by name. Source spans are left out: they are not part of what a model means.

The canonical form has sorted keys, no blanks and only ASCII characters; `fingerprint` is
its SHA-256. Automata that are written alike have equal fingerprints in every process and
Python version.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import TypeAlias

from workbench.models.agents.composition import Interaction, Product
from workbench.models.agents.families import Family, Partner, parts_of
from workbench.models.automaton import (
    Automaton,
    Constraint,
    Edge,
    HybridAutomaton,
    Initial,
    Input,
    Location,
    Parameter,
    Property,
    ValueType,
    Variable,
)
from workbench.models.expressions.dialect import FUNCTIONS
from workbench.models.expressions.expression import Expression
from workbench.models.expressions.literals import ExpressionTooLargeError
from workbench.models.expressions.operators import SURFACE, Op
from workbench.models.expressions.printing import to_text
from workbench.models.expressions.table import Table
from workbench.models.expressions.traversal import postorder
from workbench.models.interchange.json_door import Cursor, decode
from workbench.models.interchange.json_reading import SCHEMA, read_document
from workbench.models.source import Diagnostic, ModelError

__all__ = ["SCHEMA", "canonical_bytes", "fingerprint", "from_json", "to_json"]

Json: TypeAlias = "bool | str | list[Json] | dict[str, Json] | None"


def from_json(document: str | bytes | object, file: str = "<json>") -> Automaton:
    """The automaton of a JSON text, or of the value that such a text decodes to.

    Whatever is wrong with the document raises `ModelError`.
    """
    value = decode(document, file) if isinstance(document, str | bytes) else document
    return read_document(Cursor(value, file))


def to_json(automaton: Automaton) -> dict[str, Json]:
    """The document of an automaton, ready for `json.dumps`."""
    tables, externals = _functions(automaton)
    document: dict[str, Json] = {"schema": SCHEMA}
    try:
        document |= {
            "tables": {name: _table(table) for name, table in sorted(tables.items())},
            "externals": list[Json](sorted(externals)),
        }
        if isinstance(automaton, HybridAutomaton):
            return document | {"kind": "automaton"} | _automaton(automaton)
        if isinstance(automaton, Product):
            return document | {"kind": "product"} | _product(automaton)
    except ExpressionTooLargeError as error:
        raise ModelError(Diagnostic("too-large", str(error))) from None
    raise TypeError(f"no JSON form for {type(automaton).__name__}")


def canonical_bytes(automaton: Automaton) -> bytes:
    """The one spelling of an automaton's document that fingerprints are taken of."""
    return json.dumps(to_json(automaton), sort_keys=True, separators=(",", ":")).encode("ascii")


def fingerprint(automaton: Automaton) -> str:
    """The SHA-256 of the canonical form, in hexadecimal."""
    return hashlib.sha256(canonical_bytes(automaton)).hexdigest()


# What the expressions of an automaton call


def _functions(automaton: Automaton) -> tuple[dict[str, Table], set[str]]:
    """The tables and external functions that occur; refused where a name is ambiguous."""
    tables: dict[str, Table] = {}
    externals: set[str] = set()
    for node in postorder(*_expressions(automaton)):
        if node.op is Op.LOOKUP:
            table = node.table
            if tables.setdefault(table.name, table) != table:
                _refuse(f"two different tables are called {table.name!r}", node)
        elif node.op is Op.EXTERNAL:
            externals.add(node.name)
        elif node.op in SURFACE:
            _refuse("an index or quantifier of the language is left in the model", node)
        else:
            continue
        name = node.table.name if node.op is Op.LOOKUP else node.name
        if name in FUNCTIONS or (name in externals and name in tables):
            _refuse(f"two different functions are called {name!r}", node)
    return tables, externals


def _expressions(automaton: Automaton) -> Iterator[Expression]:
    """Every expression of an automaton."""
    yield automaton.assumption
    yield from automaton.predicates
    for claim in automaton.properties:
        yield from (claim.condition, claim.where, *_bounds(claim.rescue))
    if isinstance(automaton, Product):
        yield automaton.initial_condition
        for part in parts_of(automaton.interactions):
            event = part.pattern if isinstance(part, Family) else part
            yield event.guard
            yield from _bounds(event.resets)
        for component in automaton.components:
            yield from _expressions(component)
    elif isinstance(automaton, HybridAutomaton):
        for location in automaton.locations:
            yield location.invariant
            yield from _bounds(location.flows + location.algebraic)
        for edge in automaton.edges:
            yield edge.guard
            yield from _bounds(edge.resets)
        for start in automaton.initial:
            yield start.condition
            yield from _bounds(start.resets)


def _bounds(constraints: Iterable[Constraint]) -> Iterator[Expression]:
    for constraint in constraints:
        for bound in (constraint.range.low, constraint.range.high):
            if bound is not None:
                yield bound


def _refuse(message: str, node: Expression) -> None:
    raise ModelError(Diagnostic("no-json-form", message, node.span))


# Writing


def _product(product: Product) -> dict[str, Json]:
    return {
        "name": product.name,
        "components": [_automaton(c) for c in product.components],
        "interactions": [
            _family(part) if isinstance(part, Family) else _interaction(part)
            for part in parts_of(product.interactions)
            if not isinstance(part, Family) or len(part) > 0
        ],
        "initialCondition": _text(product.initial_condition),
        "parameters": [_signal(p) for p in product.parameters],
        **_claims(product),
    }


def _automaton(automaton: HybridAutomaton) -> dict[str, Json]:
    return {
        "name": automaton.name,
        "variables": [_variable(v) for v in automaton.variables],
        "inputs": [_signal(i) for i in automaton.inputs],
        "parameters": [_signal(p) for p in automaton.parameters],
        "locations": [_location(loc) for loc in automaton.locations],
        "edges": [_edge(e) for e in automaton.edges],
        "initial": [_initial(i) for i in automaton.initial],
        "alphabet": list[Json](sorted(automaton.alphabet)),
        **_claims(automaton),
    }


def _claims(automaton: Automaton) -> dict[str, Json]:
    """What automata and products say about the whole."""
    return {
        "assumption": _text(automaton.assumption),
        "properties": [_property(p) for p in automaton.properties],
        "predicates": [_text(p) for p in automaton.predicates],
        "horizon": _number(automaton.horizon),
    }


def _variable(declared: Variable) -> Json:
    kind = declared.kind.value
    return {"name": declared.name, "type": _type(declared.type), "kind": kind}


def _signal(signal: Input | Parameter) -> Json:
    return {
        "name": signal.name,
        "type": _type(signal.type),
        "low": _number(signal.low),
        "high": _number(signal.high),
    }


def _type(kind: ValueType) -> Json:
    return {"enum": list[Json](kind.values)} if kind.name == "enum" else kind.name


def _location(location: Location) -> Json:
    return {
        "name": location.name,
        "flows": _constraints(location.flows),
        "algebraic": _constraints(location.algebraic),
        "invariant": _text(location.invariant),
    }


def _edge(edge: Edge) -> Json:
    return {
        "source": edge.source,
        "target": edge.target,
        "guard": _text(edge.guard),
        "resets": _constraints(edge.resets),
        "label": edge.label,
        "urgent": edge.urgent,
        "event": edge.event.value,
        "name": edge.name,
    }


def _interaction(event: Interaction) -> Json:
    return {
        "name": event.name,
        "participants": list[Json](event.participants),
        "guard": _text(event.guard),
        "resets": _constraints(event.resets),
        "urgent": event.urgent,
        "event": event.event.value,
    }


def _family(family: Family[Interaction]) -> Json:
    """The events of many alike pairs, written once."""
    second = family.second
    return {
        "pattern": _interaction(family.pattern),
        "slots": [list[Json](names) for names in family.slots],
        "first": [_partner(p) for p in family.first],
        "second": None if second is None else [_partner(p) for p in second],
    }


def _partner(partner: Partner) -> Json:
    return {"path": partner.path, "variables": list[Json](partner.variables)}


def _initial(start: Initial) -> Json:
    return {
        "location": start.location,
        "condition": _text(start.condition),
        "resets": _constraints(start.resets),
    }


def _property(claim: Property) -> Json:
    return {
        "name": claim.name,
        "kind": claim.kind.value,
        "condition": _text(claim.condition),
        "where": _text(claim.where),
    } | ({"rescue": _constraints(claim.rescue)} if claim.rescue else {})


def _constraints(constraints: tuple[Constraint, ...]) -> Json:
    return [_constraint(c) for c in constraints]


def _constraint(constraint: Constraint) -> Json:
    bounds = constraint.range
    if bounds.exact is not None:
        return {"variable": constraint.variable, "value": _text(bounds.exact)}
    return {
        "variable": constraint.variable,
        "low": None if bounds.low is None else _text(bounds.low),
        "high": None if bounds.high is None else _text(bounds.high),
    }


def _table(table: Table) -> Json:
    return {
        "interpolation": table.interpolation.value,
        "axes": [[_number(point) for point in axis] for axis in table.axes],
        "values": [[_number(value) for value in row] for row in table.values],
    }


def _text(expression: Expression) -> str:
    return to_text(expression, quote_symbols=True)


def _number(value: Fraction | None) -> str | None:
    if value is None:
        return None
    if max(abs(value.numerator), value.denominator) >= 10**2_000:
        raise ExpressionTooLargeError("a number has more than 2000 digits")
    return str(value)
