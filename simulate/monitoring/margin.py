"""The margin of a condition: a number that is positive where the condition holds.

`a <= b` has the margin b - a, a conjunction the least and a disjunction the greatest margin
of its parts; negation changes the sign, `a == b` has -|a - b|. What does not change while
time passes (Boolean variables, enumerations, locations) has an infinite margin. A margin of
0 is the boundary, where strictness counts only for values that do not change.

`MarginTree` is the condition in this form; its leaves are numeric expressions free of
`min`, `max` and `abs` wherever these can be pulled out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from workbench.models.expressions.expression import (
    Expression,
    conjunction,
    disjunction,
    multiply,
    negation,
    subtract,
)
from workbench.models.expressions.operators import COMPARISONS, Op
from workbench.models.expressions.traversal import postorder, rebuild, with_arguments
from workbench.models.record import record

MAX_LEAVES = 400
"""Beyond this, `min` and `max` stay inside leaves."""


@record
class Leaf:
    """A numeric margin, or (`truth`) a proposition that is true or false; a `strict` one
    does not hold where it is zero."""

    expression: Expression
    truth: bool = False
    strict: bool = False


@record
class Least:
    """The least of the last `count` margins."""

    count: int


@record
class Greatest:
    """The greatest of the last `count` margins."""

    count: int


Token = Leaf | Least | Greatest


@dataclass(frozen=True)
class MarginTree:
    """A margin in postfix form: leaves by number, and operations."""

    leaves: tuple[Leaf, ...]
    tokens: tuple[int | Least | Greatest, ...]

    @property
    def is_conjunction(self) -> bool:
        """Whether the margin is the least of the leaves."""
        return not any(isinstance(token, Greatest) for token in self.tokens)

    def __call__(self, margins: Sequence[float]) -> float:
        """The margin of the whole, from those of the leaves."""
        stack: list[float] = []
        for token in self.tokens:
            if isinstance(token, int):
                stack.append(margins[token])
                continue
            parts = stack[-token.count :]
            del stack[-token.count :]
            stack.append(min(parts) if isinstance(token, Least) else max(parts))
        return stack[-1]


def margin_tree(condition: Expression) -> MarginTree:
    """The margin of a condition without `at_location`."""
    leaves: dict[Leaf, int] = {}
    tokens: list[int | Least | Greatest] = []
    for token in margin_tokens(condition):
        if isinstance(token, Leaf):
            tokens.append(leaves.setdefault(token, len(leaves)))
        else:
            tokens.append(token)
    return MarginTree(tuple(leaves), tuple(tokens))


def margin_tokens(condition: Expression) -> list[Token]:
    """The margin of a condition in postfix form."""
    made: dict[int, tuple[list[Token], list[Token]]] = {}
    condition = _without_conditionals(condition)
    for node in _skeleton(condition):
        if node.op in (Op.AND, Op.OR):
            parts = [made[id(a)] for a in node.args]
            count = len(parts)
            outer, inner = (Least, Greatest) if node.op is Op.AND else (Greatest, Least)
            yes = [t for part in parts for t in part[0]]
            no = [t for part in parts for t in part[1]]
            made[id(node)] = ([*yes, outer(count)], [*no, inner(count)])
        elif node.op is Op.NOT:
            yes, no = made[id(node.args[0])]
            made[id(node)] = (no, yes)
        elif node.op in COMPARISONS and not _discrete(node):
            made[id(node)] = _comparison(node)
        else:
            opposite = negation(node)
            made[id(node)] = ([Leaf(node, True)], [Leaf(opposite, True)])
    return made[id(condition)][0]


def _discrete(node: Expression) -> bool:
    """Whether a comparison is between symbols or truth values."""
    kinds = (Op.SYMBOL, Op.BOOLEAN, Op.AT, Op.AND, Op.OR, Op.NOT)
    return any(arg.op in kinds or arg.op in COMPARISONS for arg in node.args)


def _comparison(node: Expression) -> tuple[list[Token], list[Token]]:
    left, right = node.args
    above, below = subtract(left, right), subtract(right, left)
    if node.op in (Op.LESS, Op.LESS_EQUAL):
        above, below = below, above
    if node.op not in (Op.EQUAL, Op.NOT_EQUAL):
        strict = node.op in (Op.GREATER, Op.LESS)
        return _lifted(above, strict), _lifted(below, not strict)
    equal = [*_lifted(above, False), *_lifted(below, False), Least(2)]
    unequal = [*_lifted(above, True), *_lifted(below, True), Greatest(2)]
    return (equal, unequal) if node.op is Op.EQUAL else (unequal, equal)


def _without_conditionals(condition: Expression) -> Expression:
    """`c ? p : q` between truth values as `(c && p) || (!c && q)`."""

    def replace(node: Expression, args: tuple[Expression, ...]) -> Expression:
        node = with_arguments(node, args)
        if node.op is Op.IF and _is_truth(node.args[1]):
            test, then, otherwise = node.args
            return disjunction(conjunction(test, then), conjunction(negation(test), otherwise))
        return node

    return rebuild(condition, replace)


def _is_truth(node: Expression) -> bool:
    return node.op in COMPARISONS or node.op in (Op.AND, Op.OR, Op.NOT, Op.BOOLEAN, Op.AT)


def _skeleton(root: Expression) -> list[Expression]:
    """The Boolean operators of a condition and what is below them, parts first."""
    order, stack = [], [(root, False)]
    while stack:
        node, expanded = stack.pop()
        if expanded or node.op not in (Op.AND, Op.OR, Op.NOT):
            order.append(node)
        else:
            stack.append((node, True))
            stack.extend((a, False) for a in reversed(node.args))
    return order


def _lifted(g: Expression, strict: bool) -> list[Token]:
    """g >= 0 with `min`, `max` and `abs` pulled out of sums: min(a, b) + r is the least of
    a + r and b + r, and so on; elsewhere they stay."""
    output: list[Token] = []
    leaves = 0
    stack: list[Expression | Least | Greatest] = [g]
    while stack:
        item = stack.pop()
        if not isinstance(item, Expression):
            output.append(item)
            continue
        found = _extremal_term(item) if leaves + len(stack) < MAX_LEAVES else None
        if found is None:
            output.append(Leaf(item, strict=strict))
            leaves += 1
            continue
        choices, least, rebuild_with = found
        stack.append(Least(len(choices)) if least else Greatest(len(choices)))
        stack.extend(rebuild_with(c) for c in reversed(choices))
    return output


def _extremal_term(
    g: Expression,
) -> tuple[list[Expression], bool, Callable[[Expression], Expression]] | None:
    """A `min`, `max` or `abs` that is a term of the sum g: what it chooses from, whether g
    is the least of the choices, and g with the term replaced."""
    terms = g.args if g.op is Op.ADD else (g,)
    for index, term in enumerate(terms):
        factor, core = _factored(term)
        if core.op not in (Op.MINIMUM, Op.MAXIMUM, Op.ABSOLUTE):
            continue
        choices = list(core.args)
        if core.op is Op.ABSOLUTE:
            choices = [core.args[0], multiply(-1, core.args[0])]
        least = (core.op is Op.MINIMUM) == (factor.constant > 0)
        others = [t for i, t in enumerate(terms) if i != index]

        def rebuilt(
            choice: Expression, factor: Expression = factor, others: list[Expression] = others
        ) -> Expression:
            total = multiply(factor, choice)
            for other in others:
                total = total + other
            return _distributed(total)

        return choices, least, rebuilt
    return None


def _distributed(total: Expression) -> Expression:
    """Constant factors pushed into sums, so that terms inside them are seen."""
    terms = []
    for term in total.args if total.op is Op.ADD else (total,):
        factor, core = _factored(term)
        if core.op is Op.ADD and any(
            n.op in (Op.MINIMUM, Op.MAXIMUM, Op.ABSOLUTE) for n in postorder(core)
        ):
            terms += [multiply(factor, part) for part in core.args]
        else:
            terms.append(term)
    result = terms[0]
    for term in terms[1:]:
        result = result + term
    return result


def _factored(term: Expression) -> tuple[Expression, Expression]:
    from workbench.models.expressions.expression import ONE

    if term.op is Op.MULTIPLY and len(term.args) == 2 and term.args[0].is_constant:
        return term.args[0], term.args[1]
    return ONE, term
