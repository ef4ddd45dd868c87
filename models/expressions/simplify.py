"""Simplification that never changes where an expression is defined.

Beyond what the constructors do: operations on literals are carried out where the result is
exact (`sqrt(4)`, tables), like terms and like factors are gathered, numbers are multiplied
into short sums, negations are carried into comparisons. What would drop a part of an
expression is done only if that part is defined everywhere: `0*x` becomes 0, `0*log(x)`
stays.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import TypeAlias

from workbench.models.expressions.evaluation import exact_operation
from workbench.models.expressions.expression import (
    FALSE,
    ONE,
    TRUE,
    ZERO,
    Expression,
    add,
    compare,
    constant,
    multiply,
    negation,
    power,
)
from workbench.models.expressions.literals import ExpressionTooLargeError
from workbench.models.expressions.operators import COMPARISONS, FUNCTIONS_OF_ONE, SURFACE, Op
from workbench.models.expressions.traversal import rebuild, with_arguments

_Totality: TypeAlias = dict[Expression, bool]
"""Whether an expression is defined everywhere, as far as that was asked."""

MAX_SPREAD = 64
"""A number is multiplied into a sum of at most so many terms."""

OPPOSITE = {
    Op.LESS: Op.GREATER_EQUAL,
    Op.LESS_EQUAL: Op.GREATER,
    Op.GREATER: Op.LESS_EQUAL,
    Op.GREATER_EQUAL: Op.LESS,
    Op.EQUAL: Op.NOT_EQUAL,
    Op.NOT_EQUAL: Op.EQUAL,
}
"""The comparison that holds exactly where another one does not."""

_PARTIAL = frozenset({Op.DIVIDE, Op.SQRT, Op.LOG, Op.TAN, Op.ASIN, Op.ACOS, Op.EXTERNAL, *SURFACE})
_FOLDABLE = FUNCTIONS_OF_ONE | {Op.ATAN2, Op.LOOKUP, Op.POWER, Op.DIVIDE}


def simplify(root: Expression) -> Expression:
    """An expression that is equal wherever the given one is defined, and only there.

    >>> from workbench.models.expressions.expression import variable
    >>> x = variable("x")
    >>> str(simplify(x + x - (2 - x)))
    '3*x - 2'
    """
    total: _Totality = {}

    def replace(node: Expression, args: tuple[Expression, ...]) -> Expression:
        node = with_arguments(node, args)
        try:
            return _simplified(node, total)
        except ExpressionTooLargeError:
            return node  # gathered numbers would have too many digits

    return rebuild(root, replace)


def is_total(root: Expression) -> bool:
    """Whether an expression surely has a value at every point."""
    return _total(root, {})


def _total(root: Expression, total: _Totality) -> bool:
    """As `is_total`, remembering what was found."""
    stack = [root]
    while stack:
        node = stack[-1]
        missing = [arg for arg in node.args if arg not in total]
        if missing and node not in total:
            stack.extend(missing)
            continue
        stack.pop()
        total[node] = _is_total_operation(node) and all(total[arg] for arg in node.args)
    return total[root]


def _is_total_operation(node: Expression) -> bool:
    if node.op is Op.POWER:
        exponent = node.args[1]
        return exponent.is_constant and _is_natural(exponent.constant)
    return node.op not in _PARTIAL


def _is_natural(value: Fraction) -> bool:
    return value.denominator == 1 and value >= 0


def _simplified(node: Expression, total: _Totality) -> Expression:
    op = node.op
    if op is Op.ADD:
        return _sum(node, total)
    if op is Op.MULTIPLY:
        return _product(node, total)
    if op in _FOLDABLE:
        return _power(_folded(node), total)
    if op in (Op.MINIMUM, Op.MAXIMUM):
        return _extremum(node)
    if op is Op.IF:
        return _conditional(node, total)
    if op is Op.NOT and node.args[0].op in COMPARISONS:
        inner = node.args[0]
        return compare(OPPOSITE[inner.op], inner.args[0], inner.args[1], node.span)
    if op in COMPARISONS and node.args[0] == node.args[1] and _total(node.args[0], total):
        return TRUE if op in (Op.EQUAL, Op.LESS_EQUAL, Op.GREATER_EQUAL) else FALSE
    return node


def _folded(node: Expression) -> Expression:
    if not all(arg.is_constant for arg in node.args):
        return node
    value = exact_operation(node, tuple(arg.constant for arg in node.args))
    return node if value is None else constant(value, node.span)


def _power(node: Expression, total: _Totality) -> Expression:
    """`x^0` is 1; `(x^2)^3` is `x^6`."""
    if node.op is not Op.POWER or not node.args[1].is_constant:
        return node
    base, exponent = node.args[0], node.args[1].constant
    if exponent == 0 and _total(base, total):
        return ONE
    if base.op is Op.POWER and _is_natural(exponent) and base.args[1].is_constant:
        inner = base.args[1].constant
        if _is_natural(inner) and inner * exponent:
            return power(base.args[0], inner * exponent, node.span)
    return node


def _parts(term: Expression) -> tuple[Fraction, Expression]:
    """A term as a number times the rest."""
    if term.op is Op.CONSTANT:
        return term.constant, ONE
    if term.op is Op.MULTIPLY and term.args[0].is_constant:
        rest = term.args[1] if len(term.args) == 2 else multiply(*term.args[1:])
        return term.args[0].constant, rest
    return Fraction(1), term


def _spread(terms: Iterable[Expression]) -> Iterable[tuple[Fraction, Expression]]:
    """Terms as numbers times the rest, numbers multiplied into short sums."""
    for term in terms:
        number, rest = _parts(term)
        if rest.op is Op.ADD and len(rest.args) <= MAX_SPREAD:
            for inner in rest.args:
                factor, core = _parts(inner)
                yield number * factor, core
        else:
            yield number, rest


def _regardless_of_order(term: Expression) -> object:
    """What two terms have in common that differ only in the order of their factors."""
    if term.op is Op.MULTIPLY:
        factors = frozenset(term.args)
        if len(factors) == len(term.args):
            return factors
    return term


def _sum(node: Expression, total: _Totality) -> Expression:
    """Like terms gathered."""
    gathered: dict[object, tuple[Fraction, Expression]] = {}
    changed = False
    for number, rest in _spread(node.args):
        key = _regardless_of_order(rest)
        before = gathered.get(key)
        gathered[key] = (number, rest) if before is None else (before[0] + number, before[1])
        changed = changed or before is not None or number == 0
    if not changed and len(gathered) == len(node.args):
        return node
    terms = [
        multiply(number, rest)
        for number, rest in gathered.values()
        if number != 0 or not _total(rest, total)
    ]
    return add(*terms, span=node.span)


def _product(node: Expression, total: _Totality) -> Expression:
    """Like factors gathered into powers; nothing is left of `0*x`."""
    exponents: dict[Expression, Fraction] = {}
    for factor in node.args:
        base, exponent = factor, Fraction(1)
        if factor.op is Op.POWER and factor.args[1].is_constant:
            given = factor.args[1].constant
            if _is_natural(given) and given != 0:
                base, exponent = factor.args[0], given
        exponents[base] = exponents.get(base, Fraction(0)) + exponent
    if ZERO in exponents and all(_total(base, total) for base in exponents):
        return ZERO
    return multiply(*(power(base, n) for base, n in exponents.items()), span=node.span)


def _extremum(node: Expression) -> Expression:
    """Numbers gathered into one, repeated arguments dropped."""
    numbers = [arg.constant for arg in node.args if arg.is_constant]
    rest = dict.fromkeys(arg for arg in node.args if not arg.is_constant)
    choose = min if node.op is Op.MINIMUM else max
    args = [*rest, *([constant(choose(numbers))] if numbers else [])]
    return args[0] if len(args) == 1 else Expression(node.op, tuple(args), None, node.span)


def _conditional(node: Expression, total: _Totality) -> Expression:
    condition, then, otherwise = node.args
    if then == TRUE and otherwise == FALSE:
        return condition
    if then == FALSE and otherwise == TRUE:
        return negation(condition, node.span)
    if then == otherwise and _total(condition, total):
        return then
    return node
