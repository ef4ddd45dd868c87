"""Linear forms and rows: plain values that the model's proofs are written in.

A `Form` is c + sum a_v * v with rational coefficients; a `Row` states form <= 0, or
form < 0 where it is strict. Sums are made in integers over one common denominator.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import lcm
from typing import TypeAlias

from workbench.models.expressions.expression import Expression, add, multiply, variable
from workbench.models.expressions.operators import Op
from workbench.models.expressions.traversal import postorder
from workbench.models.work import RATIONAL, spend

_ONE, _MINUS_ONE = Fraction(1), Fraction(-1)

Integral: TypeAlias = tuple[int, Mapping[str, int], int]
"""Denominator, numerators of the coefficients, and numerator of the constant."""


@dataclass(frozen=True, slots=True)
class Form:
    """constant + sum of coefficient * name; zero coefficients are not stored."""

    coefficients: Mapping[str, Fraction]
    constant: Fraction = Fraction(0)
    _integral: Integral | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def integral(self) -> Integral:
        """The form over its common denominator; worked out once."""
        known = self._integral
        if known is None:
            parts = [self.constant, *self.coefficients.values()]
            common = lcm(*[a.denominator for a in parts])
            constant, *whole = [a.numerator * (common // a.denominator) for a in parts]
            known = common, dict(zip(self.coefficients, whole, strict=True)), constant
            object.__setattr__(self, "_integral", known)
        return known

    def __add__(self, other: Form) -> Form:
        return combination(((_ONE, self), (_ONE, other)))

    def __sub__(self, other: Form) -> Form:
        return combination(((_ONE, self), (_MINUS_ONE, other)))

    def __neg__(self) -> Form:
        return Form({name: -a for name, a in self.coefficients.items()}, -self.constant)

    def scaled(self, factor: Fraction) -> Form:
        """The form times a number."""
        if factor == 1:
            return self
        return -self if factor == -1 else combination(((factor, self),))

    def renamed(self, names: Mapping[str, str]) -> Form:
        """The form over other names; names that are not mentioned stay."""
        return Form({names.get(v, v): a for v, a in self.coefficients.items()}, self.constant)

    def __str__(self) -> str:
        terms = [f"{a}*{v}" for v, a in sorted(self.coefficients.items())]
        return " + ".join([*terms, str(self.constant)])


Parts: TypeAlias = Iterable[tuple[Fraction, Form]]
"""Pairs (factor, form), to be added up."""


def combination(parts: Parts) -> Form:
    """The sum of factor * form."""
    common, total, constant = _summed(parts)
    return Form(
        {name: Fraction(a, common) for name, a in total.items() if a}, Fraction(constant, common)
    )


def sign_of(parts: Parts) -> int | None:
    """The sign (-1, 0, 1) of the sum of factor * form if it is a number, else None."""
    _, total, constant = _summed(parts)
    if any(total.values()):
        return None
    return (constant > 0) - (constant < 0)


def _summed(parts: Parts) -> Integral:
    """The sum of factor * form, added up in integers over one common denominator; zeros may
    be among its coefficients."""
    known: list[tuple[int, int, Mapping[str, int], int]] = []
    common = 1
    for factor, form in parts:
        above, below = factor.as_integer_ratio()
        if above:
            denominator, coefficients, constant = form.integral
            below *= denominator
            common = common if below == 1 else lcm(common, below)
            known.append((above, below, coefficients, constant))
    total: dict[str, int] = {}
    whole = 0
    spend(RATIONAL * (2 + sum(len(part[2]) for part in known) / 2))
    for above, below, coefficients, constant in known:
        scale = above * (common // below)
        whole += scale * constant
        for name, a in coefficients.items():
            total[name] = total.get(name, 0) + scale * a
    return common, total, whole


def of_variable(name: str) -> Form:
    """The form that is one variable."""
    return Form({name: Fraction(1)})


@dataclass(frozen=True, slots=True)
class Row:
    """form <= 0, or form < 0."""

    form: Form
    strict: bool = False

    def renamed(self, names: Mapping[str, str]) -> Row:
        """The row over other names."""
        return Row(self.form.renamed(names), self.strict)

    def __str__(self) -> str:
        return f"{self.form} {'<' if self.strict else '<='} 0"


Rows: TypeAlias = tuple[Row, ...]
Alternatives: TypeAlias = tuple[Rows, ...]
Bounds: TypeAlias = dict[str, tuple[Fraction | None, Fraction | None]]
"""A lower bound and an upper one of names, None where there is none."""
Multipliers: TypeAlias = tuple[tuple[int, Fraction], ...]
"""Pairs (row number, multiplier); rows that are not named have multiplier 0."""


def affine(expression: Expression) -> Form | None:
    """The expression as a form, exactly; None where it is not affine as written.

    Sums, and products and quotients with at most one factor that is not a number.
    """
    found: dict[int, Form | None] = {}
    for node in postorder(expression):
        found[id(node)] = _affine_node(node, [found[id(a)] for a in node.args])
    return found[id(expression)]


def _affine_node(node: Expression, args: list[Form | None]) -> Form | None:
    if node.op is Op.CONSTANT:
        return Form({}, node.constant)
    if node.op is Op.VARIABLE:
        return of_variable(node.name)
    known = [a for a in args if a is not None]
    if len(known) < len(args):
        return None
    if node.op is Op.ADD:
        return combination((Fraction(1), form) for form in known)
    if node.op is Op.MULTIPLY:
        factor, rest = Fraction(1), None
        for form in known:
            if not form.coefficients:
                factor *= form.constant
            elif rest is None:
                rest = form
            else:
                return None
        return Form({}, factor) if rest is None else rest.scaled(factor)
    if node.op is Op.DIVIDE and not known[1].coefficients and known[1].constant != 0:
        return known[0].scaled(1 / known[1].constant)
    return None


def expression_of(form: Form) -> Expression:
    """A form as an expression."""
    terms = (multiply(a, variable(n)) for n, a in sorted(form.coefficients.items()))
    return add(*terms, form.constant)
