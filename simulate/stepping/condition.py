"""Conditions as Boolean combinations of sign tests, for event detection.

A guard, an invariant or a bad set becomes a negation-free formula over atoms `g >= 0`,
where g is a numeric expression: `a <= b` is the atom `b - a >= 0`, and negation turns it
into `a - b >= 0` (boundaries are closed on both sides; `strict` remembers how the boundary
itself counts where the state rests on it). An atom over values that are held while time
passes is `frozen`: it is decided exactly, with no tolerance.

`min`, `max`, `abs` and conditionals inside a comparison are split into cases, so that each
atom is smooth; beyond `MAX_CASES` they are left inside the atom.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction

from models.automaton import TIME, EventKind
from models.expressions.expression import (
    Expression,
    compare,
    conjunction,
    disjunction,
    negation,
    subtract,
)
from models.expressions.operators import COMPARISONS, Op
from models.expressions.table import Interpolation
from models.expressions.traversal import free_variables, postorder, rebuild, with_arguments
from models.record import record

MAX_CASES = 32
"""At most this many smooth cases are made of one comparison."""

AND, OR, TRUE, FALSE = -1, -2, -3, -4
"""Tokens of a formula in postfix form, beside the atoms 0, 1, 2, ... (AND and OR take two)."""


@record
class Atom:
    """`sign * g >= 0`, or `g == 0` (`g != 0` if negative) for an equality.

    A frozen atom tests `g` as a truth value. Where g has no value an atom is false, unless
    `undefined_holds`. A `stepwise` one may jump onto zero (`floor(x) >= 0`): there the
    boundary counts as it is written.
    """

    g: Expression
    sign: int
    kind: EventKind
    strict: bool = False
    frozen: bool = False
    equality: bool = False
    undefined_holds: bool = False
    stepwise: bool = False


_STEPWISE = frozenset({Op.FLOOR, Op.SIGN, Op.EXTERNAL, Op.IF})
_PIECEWISE = frozenset({Op.MINIMUM, Op.MAXIMUM, Op.ABSOLUTE, Op.IF, Op.SIGN})


class ConditionBuilder:
    """Collects the atoms of the conditions of one location."""

    def __init__(self, flowing: frozenset[str]):
        self.moving = flowing | {TIME}
        self.atoms: list[Atom] = []
        self._undefined_holds = False
        self._numbers: dict[Atom, int] = {}

    def tokens(
        self, condition: Expression, kind: EventKind, undefined_holds: bool = False
    ) -> tuple[int, ...]:
        """The condition in postfix form over this builder's atoms."""
        self._undefined_holds = undefined_holds
        condition = split_cases(condition)
        made: dict[int, tuple[tuple[int, ...], tuple[int, ...]]] = {}
        for node in _skeleton(condition):
            if node.op in (Op.AND, Op.OR):
                parts = [made[id(a)] for a in node.args]
                outer, inner = (AND, OR) if node.op is Op.AND else (OR, AND)
                yes = _joined([p[0] for p in parts], outer)
                made[id(node)] = (yes, _joined([p[1] for p in parts], inner))
            elif node.op is Op.NOT:
                made[id(node)] = made[id(node.args[0])][::-1]
            elif node.op is Op.BOOLEAN:
                made[id(node)] = ((TRUE,), (FALSE,)) if node.value else ((FALSE,), (TRUE,))
            else:
                made[id(node)] = ((self._atom(node, kind, 1),), (self._atom(node, kind, -1),))
        return made[id(condition)][0]

    def _atom(self, node: Expression, kind: EventKind, polarity: int) -> int:
        if not free_variables(node) & self.moving:
            return self._number(Atom(node, polarity, EventKind.UNILATERAL, frozen=True))
        if node.op not in COMPARISONS:  # an external function as a truth value
            return self._number(Atom(subtract(node, Fraction(1, 2)), polarity, kind))
        left, right = node.args
        difference = subtract(left, right)
        if node.op in (Op.EQUAL, Op.NOT_EQUAL):
            sign = polarity if node.op is Op.EQUAL else -polarity
            return self._number(Atom(difference, sign, kind, equality=True))
        sign = 1 if node.op in (Op.GREATER, Op.GREATER_EQUAL) else -1
        strict = (node.op in (Op.GREATER, Op.LESS)) == (polarity > 0)
        return self._number(Atom(difference, sign * polarity, kind, strict))

    def _number(self, atom: Atom) -> int:
        if not atom.frozen and any(map(_jumps, postorder(atom.g))):
            atom = replace(atom, stepwise=True)
        if self._undefined_holds and not atom.frozen:
            atom = replace(atom, undefined_holds=True)
        if atom not in self._numbers:
            self._numbers[atom] = len(self.atoms)
            self.atoms.append(atom)
        return self._numbers[atom]


def _jumps(node: Expression) -> bool:
    """Whether an operation may jump while its arguments change continuously."""
    if node.op is Op.LOOKUP:
        return node.table.interpolation is not Interpolation.LINEAR
    return node.op in _STEPWISE


def _skeleton(root: Expression) -> Iterator[Expression]:
    """The Boolean operators of a condition and the atoms below them, atoms first."""
    stack = [(root, False)]
    while stack:
        node, expanded = stack.pop()
        if expanded or node.op not in (Op.AND, Op.OR, Op.NOT):
            yield node
        else:
            stack.append((node, True))
            stack.extend((a, False) for a in reversed(node.args))


def _joined(parts: list[tuple[int, ...]], connective: int) -> tuple[int, ...]:
    tokens = list(parts[0])
    for part in parts[1:]:
        tokens.extend(part)
        tokens.append(connective)
    return tuple(tokens)


def split_cases(condition: Expression) -> Expression:
    """The condition with Boolean conditionals and piecewise operations in comparisons
    turned into disjunctions of smooth cases; equivalent (up to shared boundaries)."""

    def replace(node: Expression, args: tuple[Expression, ...]) -> Expression:
        node = with_arguments(node, args)
        if node.op in COMPARISONS:
            return _smooth_cases(node)
        if node.op is Op.IF and _yields_truth(node.args[1]):
            test, then, otherwise = node.args
            return disjunction(conjunction(test, then), conjunction(negation(test), otherwise))
        return node

    return rebuild(condition, replace)


def _yields_truth(node: Expression) -> bool:
    return node.op in COMPARISONS or node.op in (Op.AND, Op.OR, Op.NOT, Op.BOOLEAN)


def _smooth_cases(comparison: Expression) -> Expression:
    pending, done = [(comparison, conjunction())], []
    while pending:
        goal, given = pending.pop()
        node = next((n for n in postorder(*goal.args) if n.op in _PIECEWISE), None)
        if node is None:
            done.append(conjunction(given, goal))
            continue
        if len(pending) + len(done) + len(node.args) > MAX_CASES:
            return comparison
        for case, value in _cases(node):
            pending.append((_replaced(goal, node, value), conjunction(given, case)))
    return done[0] if len(done) == 1 else disjunction(*reversed(done))


def _cases(node: Expression) -> list[tuple[Expression, Expression]]:
    """Conditions and the smooth expression that the piecewise node equals under each."""
    if node.op is Op.IF:
        test, then, otherwise = node.args
        return [(test, then), (negation(test), otherwise)]
    if node.op is Op.ABSOLUTE:
        (inner,) = node.args
        return [(inner >= 0, inner), (inner <= 0, -inner)]
    if node.op is Op.SIGN:
        (inner,) = node.args
        one = subtract(1, 0)
        return [(inner > 0, one), (inner < 0, -one), (compare(Op.EQUAL, inner, 0), one - one)]
    least = node.op is Op.MINIMUM
    order: Callable[[Expression, Expression], Expression] = (
        (lambda a, b: a <= b) if least else (lambda a, b: a >= b)
    )
    return [(conjunction(*(order(a, b) for b in node.args if b is not a)), a) for a in node.args]


def _replaced(goal: Expression, old: Expression, new: Expression) -> Expression:
    def replace(node: Expression, args: tuple[Expression, ...]) -> Expression:
        return new if node == old else with_arguments(node, args)

    return rebuild(goal, replace)
