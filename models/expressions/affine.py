"""Exact affine forms, and comparisons as linear constraints.

An affine expression is `c + a1*x1 + ... + an*xn` with rational numbers. The form is found
in time linear in the expression by passing factors down from the root; where a part is
multiplied out only to cancel, the polynomial form decides.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import gcd, lcm
from typing import NamedTuple

from workbench.models.expressions.evaluation import exact_operation
from workbench.models.expressions.expression import (
    Expression,
    add,
    compare,
    constant,
    multiply,
    variable,
)
from workbench.models.expressions.literals import COMPARE, MAX_CONSTANT_BITS
from workbench.models.expressions.operators import COMPARISONS, Op
from workbench.models.expressions.polynomial import (
    PolynomialTooLargeError,
    polynomial_degree,
    polynomial_form,
)
from workbench.models.expressions.traversal import postorder
from workbench.models.record import record


class AffineForm(NamedTuple):
    """`constant` plus the sum of `coefficients[x]*x`; no coefficient is zero."""

    coefficients: dict[str, Fraction]
    constant: Fraction


def affine_form(root: Expression) -> AffineForm | None:
    """The exact affine form of an expression, or None if it has none (or one whose numbers
    are beyond `MAX_CONSTANT_BITS`).

    >>> x = variable("x")
    >>> affine_form(2 * (x + 1) - x)
    AffineForm(coefficients={'x': Fraction(1, 1)}, constant=Fraction(2, 1))
    """
    nodes = list(postorder(root))
    numbers = _numbers(nodes)
    factors: dict[int, Fraction] = {id(root): Fraction(1)}
    coefficients: dict[str, Fraction] = {}
    total = Fraction(0)
    for node in reversed(nodes):
        factor = factors.get(id(node))
        if factor is None:
            continue  # part of a number, which is used as a whole
        number = numbers.get(id(node))
        if number is not None:
            total += factor * number
        elif node.op is Op.VARIABLE:
            coefficients[node.name] = coefficients.get(node.name, Fraction(0)) + factor
        elif _is_huge(factor):
            return None
        elif not _pass_down(node, factor, numbers, factors):
            return _by_cancellation(root)
    return AffineForm({n: c for n, c in coefficients.items() if c}, total)


def is_affine(root: Expression) -> bool:
    """Whether an expression has an affine form."""
    return affine_form(root) is not None


def from_affine(coefficients: Mapping[str, Fraction], offset: Fraction) -> Expression:
    """The expression of an affine form."""
    return add(*(multiply(c, variable(name)) for name, c in coefficients.items()), offset)


def _is_huge(value: Fraction) -> bool:
    size = max(value.numerator.bit_length(), value.denominator.bit_length())
    return size > MAX_CONSTANT_BITS


def _numbers(nodes: list[Expression]) -> dict[int, Fraction]:
    """The value of every part without variables that is an exact number."""
    found: dict[int, Fraction] = {}
    for node in nodes:
        if node.op is Op.CONSTANT:
            found[id(node)] = node.constant
        elif node.args and all(id(arg) in found for arg in node.args):
            value = exact_operation(node, tuple(found[id(arg)] for arg in node.args))
            if value is not None and not _is_huge(value):
                found[id(node)] = value
    return found


def _pass_down(
    node: Expression, factor: Fraction, numbers: dict[int, Fraction], factors: dict[int, Fraction]
) -> bool:
    """Hand the factor of a node on to its arguments; False if that is not possible."""

    def give(part: Expression, share: Fraction) -> bool:
        factors[id(part)] = factors.get(id(part), Fraction(0)) + share
        return True

    if node.op is Op.ADD:
        return all(give(term, factor) for term in node.args)
    if node.op is Op.MULTIPLY:
        others = [f for f in node.args if id(f) not in numbers]
        for part in node.args:
            factor *= numbers.get(id(part), 1)
        return len(others) == 1 and give(others[0], factor)
    if node.op is Op.DIVIDE and numbers.get(id(node.args[1])):
        return give(node.args[0], factor / numbers[id(node.args[1])])
    if node.op is Op.POWER and numbers.get(id(node.args[1])) == 1:
        return give(node.args[0], factor)
    return False


def _by_cancellation(root: Expression) -> AffineForm | None:
    try:
        form = polynomial_form(root, max_terms=2_000)
    except PolynomialTooLargeError:
        return None
    if form is None or polynomial_degree(form) > 1:
        return None
    offset = form.pop((), Fraction(0))
    return AffineForm({monomial[0][0]: c for monomial, c in form.items()}, offset)


# Comparisons


@record
class LinearConstraint:
    """`a1*x1 + ... + an*xn  relation  bound`; coefficients are sorted by name, none is zero.

    `relation` is one of `<`, `<=`, `==` and `!=`.
    """

    coefficients: tuple[tuple[str, Fraction], ...]
    relation: Op
    bound: Fraction

    @property
    def expression(self) -> Expression:
        """The constraint as a comparison."""
        left = add(*(multiply(c, variable(name)) for name, c in self.coefficients))
        return compare(self.relation, left, constant(self.bound))

    @property
    def truth(self) -> bool | None:
        """Whether a constraint without variables holds; None if it has variables."""
        return None if self.coefficients else COMPARE[self.relation](Fraction(0), self.bound)

    def normalised(self) -> LinearConstraint:
        """The same set, with coprime integer coefficients (the first one positive in an
        equation), so that multiples of a constraint become equal."""
        if not self.coefficients:
            return self
        numbers = [c for _, c in self.coefficients]
        scale = Fraction(
            lcm(*(c.denominator for c in numbers)), gcd(*(c.numerator for c in numbers))
        )
        # lcm of denominators over gcd of numerators makes the coefficients coprime integers
        if self.relation in (Op.EQUAL, Op.NOT_EQUAL) and numbers[0] < 0:
            scale = -scale
        scaled = tuple((name, c * scale) for name, c in self.coefficients)
        return LinearConstraint(scaled, self.relation, self.bound * scale)


def linear_constraint(comparison: Expression) -> LinearConstraint | None:
    """A comparison of affine expressions with the variables on the left; None otherwise.

    All variables are taken to be numbers: truth values and symbols must be decided before.

    >>> c = linear_constraint(variable("x") + 1 >= 2 * variable("y"))
    >>> str(c.expression)
    '-x + 2*y <= 1'
    """
    if comparison.op not in COMPARISONS:
        return None
    left, right = comparison.args
    if comparison.op in (Op.GREATER, Op.GREATER_EQUAL):
        left, right = right, left
    form = affine_form(left - right)
    if form is None:
        return None
    relation = {Op.GREATER: Op.LESS, Op.GREATER_EQUAL: Op.LESS_EQUAL}.get(
        comparison.op, comparison.op
    )
    return LinearConstraint(tuple(sorted(form.coefficients.items())), relation, -form.constant)
