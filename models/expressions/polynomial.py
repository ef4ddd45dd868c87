"""Exact polynomial form: an expression multiplied out, with rational coefficients.

A polynomial maps monomials to coefficients; a monomial lists the variables that occur in it
with their exponents, sorted by name, so `()` is the constant one. The work is bounded: a
polynomial with too many terms raises `PolynomialTooLargeError` before it is expanded.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import comb
from typing import TypeAlias

from workbench.models.expressions.evaluation import exact_operation
from workbench.models.expressions.expression import Expression, add, multiply, power, variable
from workbench.models.expressions.literals import MAX_CONSTANT_BITS, ExpressionTooLargeError
from workbench.models.expressions.operators import Op
from workbench.models.expressions.traversal import postorder

Monomial: TypeAlias = tuple[tuple[str, int], ...]
Polynomial: TypeAlias = dict[Monomial, Fraction]

MAX_TERMS = 20_000
"""How many terms a polynomial may have while it is expanded."""

MAX_WORK = 400_000
"""How many terms may be added or multiplied in one expansion."""


class PolynomialTooLargeError(ExpressionTooLargeError):
    """Multiplying an expression out would take more terms than allowed."""


def polynomial_form(root: Expression, max_terms: int = MAX_TERMS) -> Polynomial | None:
    """The coefficients of a polynomial, without zeros; None if it is not one.

    >>> x, y = variable("x"), variable("y")
    >>> polynomial_form((x + 1) * (x - 1))
    {(('x', 2),): Fraction(1, 1), (): Fraction(-1, 1)}
    """
    work = _Work(max_terms)
    made: dict[int, Polynomial] = {}
    for node in postorder(root):
        form = _form(node, [made.get(id(arg)) for arg in node.args], work)
        if form is not None:
            made[id(node)] = form
    found = made.get(id(root))
    return None if found is None else dict(found)


def degree(root: Expression) -> int | None:
    """The total degree of a polynomial after cancellation (0 for a constant, also for 0);
    None for anything else."""
    form = polynomial_form(root)
    return None if form is None else polynomial_degree(form)


def polynomial_degree(form: Polynomial) -> int:
    """The largest sum of exponents of a monomial."""
    return max((sum(n for _, n in monomial) for monomial in form), default=0)


def from_polynomial(form: Mapping[Monomial, Fraction]) -> Expression:
    """The sum of the terms, in the order of the mapping."""
    return add(
        *(
            multiply(number, *(power(variable(name), n) for name, n in monomial))
            for monomial, number in form.items()
        )
    )


class _Work:
    """Counts the terms handled, and stops before there are too many."""

    def __init__(self, max_terms: int) -> None:
        self.max_terms = max_terms
        self.left = MAX_WORK

    def spend(self, terms: int) -> None:
        self.left -= terms
        if self.left < 0:
            raise PolynomialTooLargeError("the polynomial takes too much work to multiply out")

    def check(self, terms: int) -> None:
        if terms > self.max_terms:
            raise PolynomialTooLargeError(
                f"the polynomial has more than {self.max_terms} terms when multiplied out"
            )


def _form(node: Expression, args: list[Polynomial | None], work: _Work) -> Polynomial | None:
    if node.op is Op.CONSTANT:
        return {(): node.constant} if node.constant else {}
    if node.op is Op.VARIABLE:
        return {((node.name, 1),): Fraction(1)}
    known = [arg for arg in args if arg is not None]
    if len(known) != len(args) or not args:
        return None
    if node.op is Op.ADD:
        return _sum(known, work)
    if node.op is Op.MULTIPLY:
        product = known[0]
        for factor in known[1:]:
            product = _product(product, factor, work)
        return product
    numbers = [_constant(arg) for arg in known]
    if node.op is Op.POWER and numbers[1] is not None:
        n = numbers[1]
        if n.denominator == 1 and n >= 0:
            return _power(known[0], n.numerator, work)
    if node.op is Op.DIVIDE and numbers[1]:
        return {m: c / numbers[1] for m, c in known[0].items()}
    exact = [n for n in numbers if n is not None]
    value = exact_operation(node, tuple(exact)) if len(exact) == len(numbers) else None
    return None if value is None else ({(): value} if value else {})


def _constant(form: Polynomial) -> Fraction | None:
    """The value of a polynomial without variables."""
    if not form:
        return Fraction(0)
    return form.get(()) if len(form) == 1 else None


def _sum(parts: list[Polynomial], work: _Work) -> Polynomial:
    total: Polynomial = {}
    for part in parts:
        work.spend(len(part))
        for monomial, number in part.items():
            value = total.get(monomial, 0) + number
            if value:
                total[monomial] = Fraction(value)
            else:
                del total[monomial]
    return total


def _product(left: Polynomial, right: Polynomial, work: _Work) -> Polynomial:
    work.spend(len(left) * len(right))
    total: Polynomial = {}
    for a, p in left.items():
        for b, q in right.items():
            monomial = _times(a, b)
            value = total.get(monomial, 0) + p * q
            if value:
                total[monomial] = Fraction(value)
            else:
                del total[monomial]
        work.check(len(total))
    return total


def _times(a: Monomial, b: Monomial) -> Monomial:
    if not a or not b:
        return a or b
    exponents = dict(a)
    for name, n in b:
        exponents[name] = exponents.get(name, 0) + n
    return tuple(sorted(exponents.items()))


def _power(base: Polynomial, n: int, work: _Work) -> Polynomial:
    """A natural power; refused from the count of terms alone where that is too large."""
    if n == 0:
        return {(): Fraction(1)}
    if not base:
        return {}
    bits = max(max(c.numerator.bit_length(), c.denominator.bit_length()) for c in base.values())
    if n * bits > MAX_CONSTANT_BITS and not (len(base) == 1 and bits == 1):
        raise PolynomialTooLargeError("the coefficients become too large")
    if len(base) == 1:
        ((monomial, number),) = base.items()
        return {tuple((name, k * n) for name, k in monomial): number**n}
    distinct = comb(n + len(base) - 1, n) if n < 10_000 else work.max_terms + 1
    variables = {name for monomial in base for name, _ in monomial}
    reach = n * max(sum(k for _, k in monomial) for monomial in base)
    distinct = min(distinct, comb(reach + len(variables), len(variables)))
    work.check(distinct)
    result = base
    for _ in range(n - 1):
        result = _product(result, base, work)
    return result
