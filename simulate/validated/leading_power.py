"""Expressions near a root: what is left when a power of a small positive number z is taken out.

With x = z^n a root of x is a power of z, and an expression is z^p u with u regular at z = 0:
`sqrt(4*x)` is z * 2 for n = 2. Each rule is an identity for all z > 0:

    sqrt(z^2p u) = z^p sqrt(u),    max(z^p u, z^q v) = z^m max(z^(p-m) u, z^(q-m) v),
    sign(z^p u) = sign(u),         z^p u < z^q v  if and only if  z^(p-m) u - z^(q-m) v < 0,

with m = min(p, q). Exact. Sums are multiplied out, so that what cancels does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from workbench.models.expressions.expression import (
    ZERO,
    Expression,
    add,
    compare,
    divide,
    multiply,
    power,
    variable,
)
from workbench.models.expressions.literals import ExpressionTooLargeError
from workbench.models.expressions.operators import COMPARISONS, Op
from workbench.models.expressions.polynomial import Polynomial, from_polynomial, polynomial_form
from workbench.models.expressions.traversal import free_variables, postorder, with_arguments


class NoLeadingPowerError(Exception):
    """A root that is no power of z, or a value that grows without bound towards z = 0."""


@dataclass(frozen=True)
class Scaled:
    """z^power * rest."""

    power: int
    rest: Expression

    def over(self, power_taken: int, z: Expression) -> Expression:
        """The expression without z^power_taken, which must not be more than it has."""
        left = self.power - power_taken
        if left < 0 and self.rest != ZERO:
            raise NoLeadingPowerError
        return self.rest if left <= 0 else multiply(power(z, left), self.rest)


def leading_power(root: Expression, z: str, places: Mapping[str, Expression]) -> Scaled:
    """An expression after some variables are replaced by polynomials in z and others."""
    writer = _Writer(z, places)
    made: dict[int, Scaled] = {}
    for node in postorder(root):
        made[id(node)] = writer.scaled(node, [made[id(a)] for a in node.args])
    return made[id(root)]


class _Writer:
    def __init__(self, z: str, places: Mapping[str, Expression]):
        self.z, self.name, self.places = variable(z), z, places

    def scaled(self, node: Expression, args: list[Scaled]) -> Scaled:
        """One node, its arguments written before."""
        if node.op is Op.VARIABLE:
            return self._taken_out(self.places.get(node.name, node), 0)
        if node.op is Op.ADD:
            least, parts = self._common(args)
            return self._taken_out(add(*parts), least)
        if node.op is Op.MULTIPLY:
            return Scaled(sum(a.power for a in args), multiply(*(a.rest for a in args)))
        if node.op is Op.DIVIDE:
            above, below = args
            return Scaled(above.power - below.power, divide(above.rest, below.rest))
        if node.op is Op.SQRT:
            return self._root(node, args[0], Fraction(1, 2))
        if node.op is Op.POWER and node.args[1].is_constant:
            return self._root(node, args[0], node.args[1].constant)
        if node.op in (Op.MINIMUM, Op.MAXIMUM):
            least, parts = self._common(args)
            return Scaled(least, with_arguments(node, tuple(parts)))
        if node.op is Op.IF:
            least, parts = self._common(args[1:])
            return Scaled(least, with_arguments(node, (args[0].rest, *parts)))
        if node.op is Op.ABSOLUTE:
            return Scaled(args[0].power, with_arguments(node, (args[0].rest,)))
        if node.op is Op.SIGN:
            return Scaled(0, with_arguments(node, (args[0].rest,)))
        if node.op in COMPARISONS and not _is_symbolic(node):
            _, (left, right) = self._common(args)
            rest = self._taken_out(add(left, multiply(-1, right)), 0).rest
            return Scaled(0, compare(node.op, rest, ZERO))
        return Scaled(0, with_arguments(node, tuple(a.over(0, self.z) for a in args)))

    def _common(self, args: list[Scaled]) -> tuple[int, list[Expression]]:
        """The power that all arguments have, and what is left of them."""
        least = min((a.power for a in args if a.rest != ZERO), default=0)
        return least, [a.over(least, self.z) for a in args]

    def _root(self, node: Expression, base: Scaled, exponent: Fraction) -> Scaled:
        taken = base.power * exponent
        if taken.denominator != 1:
            raise NoLeadingPowerError
        args = (base.rest, *node.args[1:])
        return Scaled(int(taken), with_arguments(node, args))

    def _taken_out(self, expression: Expression, already: int) -> Scaled:
        """A sum with the power of z that all its terms have, if it is a polynomial."""
        if self.name not in free_variables(expression):
            return Scaled(already, expression)
        try:
            form = polynomial_form(expression)
        except ExpressionTooLargeError:
            form = None
        if not form:
            return Scaled(already, expression if form is None else ZERO)
        more = min(dict(monomial).get(self.name, 0) for monomial in form)
        return Scaled(already + more, from_polynomial(self._lowered(form, more)))

    def _lowered(self, form: Polynomial, by: int) -> Polynomial:
        return {
            tuple(
                (name, n - by * (name == self.name))
                for name, n in monomial
                if name != self.name or n > by
            ): factor
            for monomial, factor in form.items()
        }


def _is_symbolic(node: Expression) -> bool:
    """Whether a comparison may be one of truth values or symbols."""
    return node.op in (Op.EQUAL, Op.NOT_EQUAL)
