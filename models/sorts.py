"""Which sort of value an expression yields: a number, a truth value or a symbol.

This is the check for models that do not come from the language (JSON, options, SpaceEx);
the language has finer types and messages of its own. Calls of external functions may yield
anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import NoReturn

from workbench.models.automaton import ValueType
from workbench.models.enumeration import plain_members
from workbench.models.expressions.expression import Expression
from workbench.models.expressions.operators import BOOLEAN_OPERATORS, COMPARISONS, SURFACE, Op
from workbench.models.expressions.traversal import postorder
from workbench.models.source import Diagnostic, ModelError


@plain_members
class Sort(StrEnum):
    """What an expression yields."""

    NUMBER = "a number"
    TRUTH = "a truth value"
    SYMBOL = "a symbol"
    ANY = "a value"


def sort_of_type(kind: ValueType) -> Sort:
    """The sort of a variable of some type."""
    if kind.is_numeric:
        return Sort.NUMBER
    return Sort.TRUTH if kind.name == "bool" else Sort.SYMBOL


_LEAVES: Mapping[Op, Sort] = {
    Op.CONSTANT: Sort.NUMBER,
    Op.BOOLEAN: Sort.TRUTH,
    Op.SYMBOL: Sort.SYMBOL,
    Op.AT: Sort.TRUTH,
    Op.EXTERNAL: Sort.ANY,
}


def sort_of(root: Expression, sort_of_name: Callable[[str], Sort | None]) -> Sort:
    """The sort of an expression; raises `ModelError` at the first misuse or unknown name.

    `sort_of_name` gives the sort of a variable, or None if there is no such variable.
    """
    made: dict[int, Sort] = {}
    for node in postorder(root):
        made[id(node)] = _sort(node, [made[id(arg)] for arg in node.args], sort_of_name)
    return made[id(root)]


def require_sort(
    root: Expression, wanted: Sort, what: str, sort_of_name: Callable[[str], Sort | None]
) -> None:
    """Raise `ModelError` unless the expression yields the wanted sort."""
    found = sort_of(root, sort_of_name)
    if not _agree(found, wanted):
        _fail(root, f"{what} must be {wanted}, but this is {found}")


def _sort(node: Expression, args: list[Sort], sort_of_name: Callable[[str], Sort | None]) -> Sort:
    op = node.op
    if op is Op.VARIABLE:
        found = sort_of_name(node.name)
        if found is None:
            _fail(node, f"there is no variable {node.name!r}", "unknown-name")
        return found
    if op in _LEAVES:
        return _LEAVES[op]
    if op in (Op.EQUAL, Op.NOT_EQUAL):
        if not _agree(args[0], args[1]):
            _fail(node, f"'{op.value}' compares {args[0]} with {args[1]}")
        return Sort.TRUTH
    if op is Op.IF:
        if not _agree(args[0], Sort.TRUTH):
            _fail(node.args[0], f"the condition of '? :' must be a truth value, not {args[0]}")
        if not _agree(args[1], args[2]):
            _fail(node, f"the results of '? :' differ: {args[1]} and {args[2]}")
        return args[2] if args[1] is Sort.ANY else args[1]
    if op in SURFACE:
        _fail(node, "indices must be numbers, and quantifiers written out, in a flat model")
    wanted = Sort.TRUTH if op in BOOLEAN_OPERATORS else Sort.NUMBER
    for arg, sort in zip(node.args, args, strict=True):
        if not _agree(sort, wanted):
            _fail(arg, f"an operand of '{op.value}' must be {wanted}, not {sort}")
    return Sort.TRUTH if op in COMPARISONS or op in BOOLEAN_OPERATORS else Sort.NUMBER


def _agree(one: Sort, other: Sort) -> bool:
    return one is other or Sort.ANY in (one, other)


def _fail(node: Expression, message: str, code: str = "type-mismatch") -> NoReturn:
    raise ModelError(Diagnostic(code, message, node.span))
