"""Conditions as Boolean combinations of sign tests, for event detection.

A guard, an invariant or a bad set becomes a negation-free formula over atoms `g >= 0`,
where g is a numeric expression: `a <= b` is the atom `b - a >= 0`, and negation turns it
into `a - b >= 0` (boundaries are closed on both sides; `strict` remembers how the boundary
itself counts where the state rests on it). An atom over values that are held while time
passes is `frozen`: it is decided exactly, with no tolerance.

`min`, `max`, `abs` and conditionals inside a comparison are split into cases, so that each
atom is smooth; beyond `MAX_CASES` they are left inside the atom. Negations come first: the
negation of cases would be true wherever two of them meet, since boundaries are closed. Where a
condition asks for both sides of one surface, `simulate.stepping.sides` keeps them apart.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

from workbench.models.automaton import TIME, EventKind
from workbench.models.expressions.expression import (
    Expression,
    compare,
    conjunction,
    disjunction,
    negation,
    subtract,
)
from workbench.models.expressions.normal_form import negation_normal_form
from workbench.models.expressions.operators import COMPARISONS, Op
from workbench.models.expressions.table import Interpolation
from workbench.models.expressions.traversal import (
    free_variables,
    postorder,
    rebuild,
    with_arguments,
)
from workbench.models.record import record
from workbench.simulate.stepping.sides import boolean_parts, one_side_at_a_time

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
_PARTIAL = frozenset({Op.SQRT, Op.LOG, Op.TAN, Op.ASIN, Op.ACOS, Op.ATAN2, Op.LOOKUP, Op.EXTERNAL})
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
        condition = one_side_at_a_time(split_cases(condition), self._is_tolerant)
        made: dict[int, tuple[int, ...]] = {}
        for node in boolean_parts(condition):
            if node.op in (Op.AND, Op.OR):
                connective = AND if node.op is Op.AND else OR
                made[id(node)] = _joined([made[id(a)] for a in node.args], connective)
            elif node.op is Op.BOOLEAN:
                made[id(node)] = (TRUE,) if node.value else (FALSE,)
            elif node.op is Op.NOT:
                made[id(node)] = (self._atom(node.args[0], kind, -1),)
            else:
                made[id(node)] = (self._atom(node, kind, 1),)
        return made[id(condition)]

    def _is_tolerant(self, comparison: Expression) -> bool:
        """Whether a comparison is decided within tolerance, and by the sign of its function
        alone (not by its having no value)."""
        if not free_variables(comparison) & self.moving:
            return False
        return not (self._undefined_holds and any(map(_is_partial, postorder(comparison))))

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


def _is_partial(node: Expression) -> bool:
    """Whether an operation may have no value."""
    if node.op is Op.DIVIDE:
        return not node.args[1].is_constant or not node.args[1].constant
    if node.op is Op.POWER:
        exponent = node.args[1]
        return not exponent.is_constant or exponent.constant < 0 or exponent.constant % 1 != 0
    return node.op in _PARTIAL


def _jumps(node: Expression) -> bool:
    """Whether an operation may jump while its arguments change continuously."""
    if node.op is Op.LOOKUP:
        return node.table.interpolation is not Interpolation.LINEAR
    return node.op in _STEPWISE


def formula_truth(tokens: Sequence[int], truth: Sequence[bool]) -> bool:
    """The truth of a formula in postfix form."""
    stack: list[bool] = []
    for token in tokens:
        if token >= 0:
            stack.append(truth[token])
        elif token in (TRUE, FALSE):
            stack.append(token == TRUE)
        else:
            b, a = stack.pop(), stack.pop()
            assert token in (AND, OR)
            stack.append((a and b) if token == AND else (a or b))
    return stack[-1]


def _joined(parts: list[tuple[int, ...]], connective: int) -> tuple[int, ...]:
    tokens = list(parts[0])
    for part in parts[1:]:
        tokens.extend(part)
        tokens.append(connective)
    return tuple(tokens)


def split_cases(condition: Expression) -> Expression:
    """The condition with negations at the atoms, and with Boolean conditionals and piecewise
    operations in comparisons turned into disjunctions of smooth cases; equivalent (up to shared
    boundaries)."""
    normal = negation_normal_form(condition)
    made: dict[int, Expression] = {}
    for node in boolean_parts(normal):
        if node.op in (Op.AND, Op.OR):
            join = conjunction if node.op is Op.AND else disjunction
            made[id(node)] = join(*(made[id(a)] for a in node.args))
        else:
            made[id(node)] = _smooth_cases(node) if node.op in COMPARISONS else node
    return made[id(normal)]


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
        return [
            (negation_normal_form(test), then),
            (negation_normal_form(negation(test)), otherwise),
        ]
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
