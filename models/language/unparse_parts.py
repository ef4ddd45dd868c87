"""Small parts of writing an automaton as text, and what there is to be written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction

from workbench.models.automaton import (
    UNCONSTRAINED,
    Automaton,
    Edge,
    HybridAutomaton,
    Kind,
    Location,
    Variable,
)
from workbench.models.expressions.expression import Expression
from workbench.models.expressions.operators import Op
from workbench.models.expressions.printing import number_text
from workbench.models.expressions.table import Table
from workbench.models.language.unparse_names import IdentifierChoice
from workbench.models.source import Diagnostic, ModelError

MAX_LOCATIONS = 20_000
"""A product with more reachable locations than this is not written out."""


def explicit(automaton: Automaton) -> tuple[tuple[Location, ...], tuple[Edge, ...]]:
    """All locations and edges; those of a product are the ones that edges lead to."""
    if isinstance(automaton, HybridAutomaton):
        return automaton.locations, automaton.edges
    names = list(dict.fromkeys(start.location for start in automaton.initial_sets()))
    known = set(names)
    edges: list[Edge] = []
    for name in names:  # grows while it is read
        for edge in automaton.edges_from(name):
            edges.append(edge)
            if edge.target not in known:
                known.add(edge.target)
                names.append(edge.target)
        if len(names) > MAX_LOCATIONS:
            message = f"the product has more than {MAX_LOCATIONS} locations"
            raise ModelError(Diagnostic("too-many-locations", message, hint="export as JSON"))
    return tuple(map(automaton.location, names)), tuple(edges)


_SIDES = {
    Op.EQUAL: ("value", "value"),
    Op.LESS_EQUAL: ("high", "low"),
    Op.GREATER_EQUAL: ("low", "high"),
}


def limit(condition: Expression) -> tuple[str, str] | None:
    """The variable that a condition bounds by a constant, and the side: value, low, high."""
    if condition.op not in _SIDES:
        return None
    for index, (one, other) in enumerate((condition.args, condition.args[::-1])):
        if one.op is Op.VARIABLE and other.is_constant:
            return one.name, _SIDES[condition.op][index]
    return None


def block(word: str, items: list[str]) -> Iterator[str]:
    """`word { a; b; }`, on several lines where there is more than one item."""
    if len(items) == 1:
        yield f"  {word} {{ {items[0]}; }}"
    elif items:
        yield f"  {word} {{"
        yield from (f"    {item};" for item in items)
        yield "  }"


def is_free(declared: Variable, location: Location) -> bool:
    """Whether a variable may change as it likes in a location."""
    if declared.kind is Kind.DISCRETE:
        return False
    known = [c for c in (*location.flows, *location.algebraic) if c.variable == declared.name]
    return all(c.range == UNCONSTRAINED for c in known)


def label(edge: Edge) -> list[str]:
    """The name of a transition: labels name edges and do not synchronise anything here."""
    plain = edge.name.rpartition(": ")[2]
    name = plain if plain.isidentifier() else edge.label
    return [f"#{IdentifierChoice().choose(name)}"] if name else []


def table_text(table: Table) -> Iterator[str]:
    """A table's declaration."""
    names = ", ".join(f"real {name}" for name in ("x", "y")[: table.dimension])
    yield f"table {table.name}({names}) {table.interpolation} {{"
    if table.dimension == 2:
        yield f"  : {_numbers(table.axes[1])},"
    for point, row in zip(table.axes[0], table.values, strict=True):
        yield f"  {number_text(point)}: {_numbers(row)},"
    yield "}"


def _numbers(values: Iterable[Fraction]) -> str:
    return ", ".join(map(number_text, values))
