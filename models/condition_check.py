"""Conditions that a user types on the command line: do their parts fit together?

The language checks what a model says while it is elaborated; a condition that comes later, as a
text over flat names, is checked here: numbers where numbers belong, truth values where those do,
values of enumerations under their names, components and locations that exist.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from workbench.models.automaton import BOOL, REAL, TIME, Automaton, ValueType
from workbench.models.expressions.expression import Expression
from workbench.models.expressions.expression import symbol as symbol_of
from workbench.models.expressions.operators import COMPARISONS, Op
from workbench.models.expressions.traversal import free_variables, postorder, substitute

TRUTH, NUMBER, SYMBOL = "a truth value", "a number", "a value of an enumeration"


def types_by_name(automaton: Automaton) -> dict[str, ValueType]:
    """The type of every name that a condition may use."""
    found = {v.name: v.type for v in automaton.variables}
    found |= {i.name: i.type for i in automaton.inputs}
    found |= {p.name: p.type for p in automaton.parameters}
    return found | {TIME: REAL}


def with_symbols(condition: Expression, types: Mapping[str, ValueType]) -> Expression:
    """The condition with the names of enumeration values read as such values."""
    values = {value for kind in types.values() for value in kind.values}
    named = (free_variables(condition) & values) - types.keys()
    return substitute(condition, {name: symbol_of(name) for name in named})


def misfit(condition: Expression, automaton: Automaton) -> str | None:
    """What is wrong with a condition over known names; None if it is one."""
    types = types_by_name(automaton)
    places = {c.name: {x.name for x in c.locations} for c in automaton.components}
    kinds: dict[int, str] = {}
    for node in postorder(condition):
        below = [kinds[id(a)] for a in node.args]
        if node.op is Op.AT:
            component, location = node.place
            if component not in places:
                return f"there is no component {component!r}; there are {_some(places)}"
            if location not in places[component]:
                return (
                    f"{component} has no location {location!r}; it has {_some(places[component])}"
                )
        if wanted := _wanted(node, below):
            return f"{wanted} is expected in `{node}`"
        kinds[id(node)] = _kind(node, below, types)
    return None if kinds[id(condition)] == TRUTH else f"`{condition}` is not a condition"


def _wanted(node: Expression, below: list[str]) -> str | None:
    """The sort of value that a part of the node should have had; None if all fit."""
    if node.op in (Op.AND, Op.OR, Op.NOT):
        return TRUTH if set(below) - {TRUTH} else None
    if node.op in (Op.EQUAL, Op.NOT_EQUAL):
        return below[0] if len(set(below)) > 1 else None
    if node.op is Op.IF:
        return TRUTH if below[0] != TRUTH else (below[1] if below[1] != below[2] else None)
    return NUMBER if set(below) - {NUMBER} else None


def _kind(node: Expression, below: list[str], types: Mapping[str, ValueType]) -> str:
    if node.op is Op.VARIABLE:
        declared = types.get(node.name, REAL)
        return TRUTH if declared == BOOL else (SYMBOL if declared.values else NUMBER)
    if node.op is Op.SYMBOL:
        return SYMBOL
    if node.op is Op.IF:
        return below[1]
    truths = (Op.BOOLEAN, Op.AT, Op.AND, Op.OR, Op.NOT)
    return TRUTH if node.op in truths or node.op in COMPARISONS else NUMBER


def _some(names: Iterable[str]) -> str:
    found = sorted(names)
    return ", ".join(found[:12]) + (", ..." if len(found) > 12 else "")
