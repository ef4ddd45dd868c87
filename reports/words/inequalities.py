"""Linear inequalities for people: decimals with few digits, constants on the right.

Rounded for reading only; certificates and checks keep the exact numbers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from workbench.models.automaton import BOOL, Automaton
from workbench.models.expressions.expression import FALSE, TRUE, Expression, negation, variable
from workbench.models.expressions.operators import COMPARISONS, Op
from workbench.models.expressions.polynomial import (
    Polynomial,
    PolynomialTooLargeError,
    polynomial_form,
)
from workbench.models.expressions.printing import to_text
from workbench.models.linear import Form, affine

MINUS = "\N{MINUS SIGN}"
DOT = "\N{MIDDLE DOT}"
AT_MOST = "\N{LESS-THAN OR EQUAL TO}"
AT_LEAST = "\N{GREATER-THAN OR EQUAL TO}"
DIGITS = 5


def rounded(value: Fraction | float) -> str:
    """A number with a few significant digits and a true minus sign."""
    exact = Fraction(value)
    try:
        text = f"{float(exact):.{DIGITS}g}"
    except OverflowError:  # larger than floating point has
        text = f"{Decimal(exact.numerator) / Decimal(exact.denominator):.{DIGITS}g}"
    return text.replace("-", MINUS)


def linear_text(form: Form) -> str:
    """The variable part of a form: `dist − 0.5·vel`."""
    parts: list[str] = []
    for name, a in sorted(form.coefficients.items()):
        size = abs(a)
        term = name if size == 1 else f"{rounded(size)}{DOT}{name}"
        if not parts:
            parts.append(f"{MINUS}{term}" if a < 0 else term)
        else:
            parts.append(f"{MINUS if a < 0 else '+'} {term}")
    return " ".join(parts) or "0"


@dataclass(frozen=True)
class Bound:
    """low <= form <= high, the form without a constant; one end may be missing."""

    form: Form
    low: Fraction | None
    high: Fraction | None

    def __str__(self) -> str:
        text = linear_text(self.form)
        if self.low is not None and self.low == self.high:
            return f"{text} = {rounded(self.low)}"
        if self.low is not None and self.high is not None:
            return f"{rounded(self.low)} {AT_MOST} {text} {AT_MOST} {rounded(self.high)}"
        if self.low is not None:
            return f"{text} {AT_LEAST} {rounded(self.low)}"
        return f"{text} {AT_MOST} {rounded(self.high or 0)}"


def bounds(rows: Iterable[Form]) -> tuple[Bound, ...]:
    """The rows form <= 0 as bounds: opposite rows together, single variables first."""
    found: dict[tuple[tuple[str, Fraction], ...], tuple[Fraction | None, Fraction | None]] = {}
    for form in rows:
        if not form.coefficients:
            continue
        items = sorted(form.coefficients.items())
        lead = items[0][1] if len(items) == 1 else max((abs(a) for _, a in items))
        if len(items) > 1 and items[0][1] < 0:
            lead = -lead
        key = tuple((name, a / lead) for name, a in items)
        edge = -form.constant / lead
        low, high = found.get(key, (None, None))
        if lead > 0:
            found[key] = (low, edge if high is None else min(high, edge))
        else:
            found[key] = (edge if low is None else max(low, edge), high)
    made = [Bound(Form(dict(key)), low, high) for key, (low, high) in found.items()]
    return tuple(sorted(made, key=lambda b: len(b.form.coefficients)))


def boolean_names(automaton: Automaton) -> frozenset[str]:
    """The variables that are true or false: linear views have them as 1 and 0."""
    return frozenset(v.name for v in automaton.variables if v.type == BOOL)


def truth(form: Form, booleans: Collection[str]) -> Expression | None:
    """What the row form <= 0 says of a Boolean, if it speaks of one and nothing else."""
    if len(form.coefficients) != 1:
        return None
    ((name, a),) = form.coefficients.items()
    if name not in booleans:
        return None
    if form.constant <= 0:
        return TRUE if a + form.constant <= 0 else negation(variable(name))
    return variable(name) if a + form.constant <= 0 else FALSE


def row_texts(rows: Iterable[Form], booleans: Collection[str]) -> list[str]:
    """The rows form <= 0 for people: what is true or false, then bounds."""
    told: list[str] = []
    numeric: list[Form] = []
    for form in rows:
        said = truth(form, booleans)
        if said is None:
            numeric.append(form)
        elif said != TRUE and to_text(said) not in told:
            told.append(to_text(said))
    return [*told, *map(str, bounds(numeric))]


MOST_TERMS = 12
"""Longer polynomials are not multiplied out."""

_POWERS = {1: "", 2: "\N{SUPERSCRIPT TWO}", 3: "\N{SUPERSCRIPT THREE}"}
_SIGNS = {Op.LESS_EQUAL: AT_MOST, Op.GREATER_EQUAL: AT_LEAST}


def readable(condition: Expression) -> str:
    """A comparison of affine sides as a bound, one of short polynomials with the constant on the
    right; anything else as it is written."""
    if condition.op in COMPARISONS:
        left, right = affine(condition.args[0]), affine(condition.args[1])
        if left is not None and right is not None:
            difference = left - right
            sign = _SIGNS.get(condition.op, str(condition.op))
            if sign == AT_MOST:
                return str(bounds([difference])[0]) if difference.coefficients else "0"
            return f"{linear_text(difference)} {sign} {rounded(-difference.constant)}"
        terms = _short_polynomial(condition.args[0] - condition.args[1])
        if terms is not None:
            sign = _SIGNS.get(condition.op, str(condition.op))
            constant = terms.pop((), Fraction(0))
            return f"{_polynomial_text(terms)} {sign} {rounded(-constant)}"
    return to_text(condition)


def _short_polynomial(root: Expression) -> Polynomial | None:
    try:
        return polynomial_form(root, MOST_TERMS)
    except PolynomialTooLargeError:
        return None


def _polynomial_text(terms: Polynomial) -> str:
    """A polynomial without a constant, the highest powers first: `x² − 2·x·y`."""
    text = ""
    for monomial in sorted(terms, key=lambda m: (-sum(n for _, n in m), len(m), m)):
        a = terms[monomial]
        sign = (f" {MINUS} " if a < 0 else " + ") if text else (MINUS if a < 0 else "")
        factors = [f"{name}{_POWERS.get(n, f'^{n}')}" for name, n in monomial]
        text += sign + DOT.join(factors if abs(a) == 1 else [rounded(abs(a)), *factors])
    return text or "0"
