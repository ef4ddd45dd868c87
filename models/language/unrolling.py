"""The cases of a `forall` or `sum`, one for each index.

Five hundred agents have 124,750 pairs, and what is said of all pairs differs from pair to pair
in the names alone. So a body in which the index only selects (`car[i].x`) is resolved once with
slots in place of what is selected; the other cases are made by filling the slots.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from workbench.models.automaton import INT, ValueType
from workbench.models.expressions.expression import Expression, constant, variable
from workbench.models.expressions.operators import Op
from workbench.models.expressions.pattern import Pattern
from workbench.models.expressions.traversal import (
    free_variables,
    postorder,
    rebuild,
    with_arguments,
)
from workbench.models.language.scope import Binding, NameRole, Scope
from workbench.models.record import record

Typed: TypeAlias = tuple[Expression, ValueType | None]
"""An expression and its type; no type where a mistake was already reported."""

Resolve: TypeAlias = Callable[[Expression, Scope], Typed]
Selected: TypeAlias = dict[tuple[int, int], Typed]
"""What a selection, by its identity, stands for at an index."""

FEW = 3
"""So many cases are not worth a pattern."""


def indexed(scope: Scope, index: str, number: int) -> Scope:
    """A scope in which the index has a value."""
    return Scope(scope, {index: Binding(constant(number), INT, NameRole.INDEX)})


def cases(
    resolve: Resolve, quantifier: Expression, scope: Scope, numbers: range, known: Selected
) -> Iterator[Typed]:
    """The body of a quantifier for each number in turn, resolved.

    `known` is what selections were found to mean; it may be kept while the scope around the
    outermost quantifier stays the same.
    """
    index, body = str(quantifier.value), quantifier.args[2]
    with_slots = slotted(body, index) if len(numbers) > FEW else None
    pattern: _Resolved | None = None
    for number in numbers:
        inner = indexed(scope, index, number)
        found = None
        if with_slots is not None:
            if pattern is None and number != numbers[0]:
                pattern = with_slots.resolved(resolve, inner, known, number)
            if pattern is not None:
                found = pattern.case(with_slots.selected(resolve, inner, known, number))
        yield found if found is not None else resolve(body, inner)


@record
class Slotted:
    """A body with slots for what its index selects."""

    body: Expression
    selections: tuple[Expression, ...]
    cached: bool  # whether nothing but the index decides what is selected

    def selected(self, resolve: Resolve, scope: Scope, known: Selected, number: int) -> list[Typed]:
        """What the selections stand for at an index."""
        found: list[Typed] = []
        for node in self.selections:
            typed = known.get((id(node), number)) if self.cached else None
            if typed is None:
                typed = resolve(node, scope)
                if self.cached:
                    known[id(node), number] = typed
            found.append(typed)
        return found

    def resolved(
        self, resolve: Resolve, scope: Scope, known: Selected, number: int
    ) -> _Resolved | None:
        """The body resolved with its slots, for what has the types that the selections have at
        this index; None if it does not mean anything then."""
        kinds = [kind for _, kind in self.selected(resolve, scope, known, number)]
        if None in kinds:
            return None
        slots = {
            slot(i): Binding(variable(slot(i)), kind, NameRole.VARIABLE)
            for i, kind in enumerate(kinds)
        }
        expression, kind = resolve(self.body, Scope(scope, slots))
        if kind is None:
            return None
        fixed = free_variables(expression) - slots.keys()
        return _Resolved(expression, kind, kinds, fixed, Pattern([expression], list(slots)))


@record
class _Resolved:
    """A resolved body with slots, of these types, besides variables that are always there."""

    expression: Expression
    kind: ValueType
    kinds: list[ValueType | None]
    fixed: frozenset[str]
    pattern: Pattern

    def case(self, fillers: list[Typed]) -> Typed | None:
        """The body with the slots filled; None where that is not a renaming one to one."""
        names = {e.name for e, _ in fillers if e.op is Op.VARIABLE}
        if len(names) < len(fillers) or [kind for _, kind in fillers] != self.kinds:
            return None
        if not self.fixed.isdisjoint(names):
            return None
        return self.pattern.filled([e for e, _ in fillers])(self.expression), self.kind


def slot(number: int) -> str:
    """The name of a slot."""
    return f"#{number}"  # no name that can be written


def slotted(body: Expression, index: str, used: int = 0) -> Slotted | None:
    """The body with slots for its selections by the index, numbered after those used already;
    None if the index does more."""
    chosen: dict[Expression, Expression] = {}
    for node in postorder(body):
        if node.op in (Op.FORALL, Op.SUM):
            return None
        if node.op is Op.SELECT and index in free_variables(node):
            chosen.setdefault(node, node)
    if not chosen:
        return None
    numbers = {node: i for i, node in enumerate(chosen, used)}

    def replace(node: Expression, args: tuple[Expression, ...]) -> Expression:
        if node in numbers:
            return variable(slot(numbers[node]), node.span)
        return with_arguments(node, args)

    with_slots = rebuild(body, replace)
    if index in free_variables(with_slots):
        return None
    cached = all(free_variables(node) == {index} for node in chosen)
    return Slotted(with_slots, tuple(chosen), cached)
