"""Comparisons with zero made short: coprime whole coefficients, no needless factors.

`p op 0` keeps its truth if p is divided by a positive number, by an even power of a name, or
(with the comparison turned round) by -1, where that name is not zero.
"""

from __future__ import annotations

from fractions import Fraction
from math import gcd, lcm

from workbench.models.expressions.expression import Expression, compare
from workbench.models.expressions.operators import COMPARISONS, Op
from workbench.models.expressions.polynomial import Polynomial, from_polynomial, polynomial_form
from workbench.models.expressions.traversal import conjuncts, rebuild, with_arguments

_TURNED = {
    Op.LESS: Op.GREATER,
    Op.LESS_EQUAL: Op.GREATER_EQUAL,
    Op.GREATER: Op.LESS,
    Op.GREATER_EQUAL: Op.LESS_EQUAL,
}


def tidied(condition: Expression, assumed: Expression) -> Expression:
    """The condition with its comparisons made short; equivalent where `assumed` holds."""
    nonzero = _nonzero_names(assumed)

    def shorten(node: Expression, args: tuple[Expression, ...]) -> Expression:
        if node.op not in COMPARISONS:
            return with_arguments(node, args)
        form = polynomial_form(args[0] - args[1])
        return with_arguments(node, args) if form is None else _short(node.op, form, nonzero)

    return rebuild(condition, shorten)


def _nonzero_names(assumed: Expression) -> frozenset[str]:
    """Names whose monomials are assumed not to vanish."""
    found: set[str] = set()
    for part in conjuncts(assumed):
        if part.op is Op.NOT_EQUAL:
            form = polynomial_form(part.args[0] - part.args[1])
            if form is not None and len(form) == 1:
                found |= {name for name, _ in next(iter(form))}
    return frozenset(found)


def _short(op: Op, form: Polynomial, nonzero: frozenset[str]) -> Expression:
    if not form or set(form) == {()}:
        return compare(op, form.get((), Fraction(0)), 0)
    for name in sorted(nonzero if len(form) > 1 else ()):  # not from the assumption itself
        least = min(dict(monomial).get(name, 0) for monomial in form)
        removed = least if op in (Op.EQUAL, Op.NOT_EQUAL) else least - least % 2
        if removed:
            form = {_without(m, name, removed): a for m, a in form.items()}
    denominator = lcm(*(a.denominator for a in form.values()))
    divisor = gcd(*(int(a * denominator) for a in form.values()))
    factor = Fraction(denominator, divisor)
    leading = min(form, key=lambda m: (-sum(e for _, e in m), m))
    if form[leading] < 0:
        factor, op = -factor, _TURNED.get(op, op)
    short = {m: a * factor for m, a in form.items()}
    constant = short.pop((), Fraction(0))
    return compare(op, from_polynomial(short), -constant)


def _without(
    monomial: tuple[tuple[str, int], ...], name: str, removed: int
) -> tuple[tuple[str, int], ...]:
    lowered = ((n, e - removed if n == name else e) for n, e in monomial)
    return tuple((n, e) for n, e in lowered if e)
