"""Truth along a polynomial flow, decided exactly.

A flow gives each variable as a polynomial in the time t since its start, with rational
coefficients. Along it a condition built from polynomial comparisons can change its truth
only where one of its polynomials vanishes. `always` isolates these instants (Sturm's
theorem, bisection) and decides the condition at each of them and between them, so the
answer is exact for every instant of the closed interval, without any tolerance.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TypeAlias

from workbench.models.expressions.evaluation import Scalar
from workbench.models.expressions.expression import Expression
from workbench.models.expressions.literals import COMPARE
from workbench.models.expressions.operators import COMPARISONS, Op
from workbench.models.expressions.traversal import postorder

Polynomial: TypeAlias = tuple[Fraction, ...]
"""Coefficients, the constant first; no trailing zeros, so that () is the polynomial 0."""

Trajectory: TypeAlias = Mapping[str, "Polynomial | bool | str"]
"""What each variable does: a polynomial in t, or a constant truth value or symbol."""


class NotPolynomialInTimeError(ValueError):
    """The expression is no polynomial in t along the flow."""


def polynomial(*coefficients: Fraction | int) -> Polynomial:
    """The polynomial with these coefficients, the constant first."""
    found = [Fraction(c) for c in coefficients]
    while found and found[-1] == 0:
        found.pop()
    return tuple(found)


def value_at(given: Polynomial, instant: Fraction) -> Fraction:
    """The value at an instant."""
    total = Fraction(0)
    for coefficient in reversed(given):
        total = total * instant + coefficient
    return total


def derivative(given: Polynomial) -> Polynomial:
    """The derivative by t."""
    return tuple(i * c for i, c in enumerate(given))[1:]


def held(values: Mapping[str, Scalar]) -> dict[str, Polynomial | bool | str]:
    """The flow in which every variable keeps its value."""
    return {name: _constant(value) for name, value in values.items()}


def along(root: Expression, flow: Trajectory) -> Polynomial:
    """A numeric expression as a polynomial in t; exact.

    Raises `NotPolynomialError` if it is none.
    """
    done: dict[int, Polynomial] = {}
    for node in postorder(root):
        done[id(node)] = _operation(node, [done[id(a)] for a in node.args], flow)
    return done[id(root)]


def always(condition: Expression, flow: Trajectory, duration: Fraction) -> bool:
    """Whether the condition holds at every instant of [0, duration]; exact.

    Raises `NotPolynomialError` if a comparison is not between polynomials in t.
    """
    atoms: dict[int, Polynomial] = {}
    for node in _outside_atoms(condition):
        if node.op in COMPARISONS and not _is_symbolic(node, flow):
            left, right = (along(a, flow) for a in node.args)
            atoms[id(node)] = _sum(left, _scaled(right, Fraction(-1)))

    def holds_at(instant: _Instant) -> bool:
        return _truth(condition, flow, lambda node: instant.sign(atoms[id(node)]))

    return all(map(holds_at, _instants(tuple(atoms.values()), duration)))


# Truth at one instant


def _outside_atoms(root: Expression) -> list[Expression]:
    """The nodes of a condition down to its comparisons, each after the parts it needs."""
    found: list[Expression] = []
    stack = [root]
    while stack:
        node = stack.pop()
        found.append(node)
        if node.op not in COMPARISONS:
            stack.extend(node.args)
    return found[::-1]


def _is_symbolic(node: Expression, flow: Trajectory) -> bool:
    """Whether a comparison is between symbols or truth values, which do not flow."""
    return any(
        a.op in (Op.SYMBOL, Op.BOOLEAN)
        or (a.op is Op.VARIABLE and isinstance(flow.get(a.name), bool | str))
        for a in node.args
    )


def _truth(root: Expression, flow: Trajectory, sign: Callable[[Expression], int]) -> bool:
    done: dict[int, bool] = {}
    for node in _outside_atoms(root):
        done[id(node)] = _decided(
            node, [done[id(a)] for a in node.args if id(a) in done], flow, sign
        )
    return done[id(root)]


def _decided(
    node: Expression, args: list[bool], flow: Trajectory, sign: Callable[[Expression], int]
) -> bool:
    match node.op:
        case Op.BOOLEAN:
            return bool(node.value)
        case Op.VARIABLE if isinstance(flow.get(node.name), bool):
            return bool(flow[node.name])
        case Op.AND:
            return all(args)
        case Op.OR:
            return any(args)
        case Op.NOT:
            return not args[0]
        case Op.IF:
            return args[1] if args[0] else args[2]
    if node.op not in COMPARISONS:
        raise NotPolynomialInTimeError(f"{node} is no condition on a polynomial flow")
    if _is_symbolic(node, flow):
        left, right = (_symbol(a, flow) for a in node.args)
        return (left == right) is (node.op is Op.EQUAL)
    return COMPARE[node.op](Fraction(sign(node)), Fraction(0))


def _symbol(node: Expression, flow: Trajectory) -> object:
    return flow[node.name] if node.op is Op.VARIABLE else node.value


# Instants that matter


@dataclass(frozen=True, slots=True)
class _Instant:
    """An instant: `low` itself if both ends are equal, else the only root of `vanishing`
    strictly between them."""

    low: Fraction
    high: Fraction
    vanishing: Polynomial

    def sign(self, given: Polynomial) -> int:
        """The sign of one of the polynomials here."""
        if self.low != self.high:
            common = _common_divisor(given, self.vanishing)
            if _sign(value_at(common, self.low)) * _sign(value_at(common, self.high)) < 0:
                return 0
        return _sign(value_at(given, (self.low + self.high) / 2))


def _instants(atoms: tuple[Polynomial, ...], duration: Fraction) -> list[_Instant]:
    """Both ends, every instant between at which an atom vanishes, and one instant between
    each two of these."""
    vanishing: Polynomial = polynomial(1)
    for atom in atoms:
        if atom:
            fresh = _quotient(atom, _common_divisor(atom, derivative(atom)))
            fresh = _quotient(fresh, _common_divisor(fresh, vanishing))
            vanishing = _times(vanishing, fresh)
    chain = _sturm_chain(vanishing)
    ends = [_Instant(e, e, vanishing) for e in dict.fromkeys((Fraction(0), duration))]
    if duration == 0:
        return ends
    found = [ends[0], *_isolated(vanishing, chain, Fraction(0), duration), ends[1]]
    between = [_gap(a, b, vanishing) for a, b in pairwise(found)]
    return [*found, *between]


def _gap(first: _Instant, second: _Instant, vanishing: Polynomial) -> _Instant:
    """An instant strictly between two neighbours, at which no atom vanishes."""
    middle = (first.high + second.low) / 2
    return _Instant(middle, middle, vanishing)


def _isolated(
    given: Polynomial, chain: list[Polynomial], low: Fraction, high: Fraction
) -> list[_Instant]:
    """The roots strictly between two points, in order, kept apart from each other and from
    the two points by intervals that do not touch."""
    found: list[_Instant] = []
    stack = [(low, high)]
    while stack:
        a, b = stack.pop()
        count = _roots_between(given, chain, a, b)
        if count == 0:
            continue
        clear = value_at(given, a) != 0 and value_at(given, b) != 0
        if count == 1 and clear and a != low and b != high:
            found.append(_Instant(a, b, given))
            continue
        middle = (a + b) / 2
        stack.append((middle, b))
        if value_at(given, middle) == 0:
            found.append(_Instant(middle, middle, given))
        stack.append((a, middle))
    return _apart(sorted(found, key=lambda i: (i.low, i.high)), given, chain)


def _apart(found: list[_Instant], given: Polynomial, chain: list[Polynomial]) -> list[_Instant]:
    """Intervals shrunk until neighbours do not touch."""
    result: list[_Instant] = []
    for current in found:
        while result and current.low != current.high and result[-1].high >= current.low:
            current = _halved(current, given, chain)
        while result and result[-1].high >= current.low:
            result[-1] = _halved(result[-1], given, chain)
        result.append(current)
    return result


def _halved(instant: _Instant, given: Polynomial, chain: list[Polynomial]) -> _Instant:
    middle = (instant.low + instant.high) / 2
    if value_at(given, middle) == 0:
        return _Instant(middle, middle, given)
    if _roots_between(given, chain, instant.low, middle):
        return _Instant(instant.low, middle, given)
    return _Instant(middle, instant.high, given)


def _roots_between(
    given: Polynomial, chain: list[Polynomial], low: Fraction, high: Fraction
) -> int:
    """The number of distinct roots strictly between two points (Sturm's theorem)."""
    inside = _sign_changes(chain, low) - _sign_changes(chain, high)
    return inside - (value_at(given, high) == 0)


def _sturm_chain(given: Polynomial) -> list[Polynomial]:
    chain = [given, derivative(given)]
    while chain[-1]:
        chain.append(_scaled(_remainder(chain[-2], chain[-1]), Fraction(-1)))
    return chain[:-1]


def _sign_changes(chain: list[Polynomial], instant: Fraction) -> int:
    signs = [s for p in chain if (s := _sign(value_at(p, instant)))]
    return sum(a != b for a, b in pairwise(signs))


def _sign(value: Fraction) -> int:
    return (value > 0) - (value < 0)


# Arithmetic of polynomials


def _constant(value: Scalar) -> Polynomial | bool | str:
    if isinstance(value, bool | str):
        return value
    if isinstance(value, float):
        raise NotPolynomialInTimeError(f"{value!r} is no exact number")
    return polynomial(value)


def _operation(node: Expression, args: list[Polynomial], flow: Trajectory) -> Polynomial:
    match node.op:
        case Op.CONSTANT:
            return polynomial(node.constant)
        case Op.VARIABLE:
            known = flow.get(node.name)
            if isinstance(known, tuple):
                return known
        case Op.ADD:
            total: Polynomial = ()
            for arg in args:
                total = _sum(total, arg)
            return total
        case Op.MULTIPLY:
            result = polynomial(1)
            for arg in args:
                result = _times(result, arg)
            return result
        case Op.DIVIDE if len(args[1]) == 1:
            return _scaled(args[0], 1 / args[1][0])
        case Op.POWER if node.args[1].is_constant and _is_small_natural(node.args[1].constant):
            result = polynomial(1)
            for _ in range(int(node.args[1].constant)):
                result = _times(result, args[0])
            return result
    raise NotPolynomialInTimeError(f"{node} is no polynomial in time along this flow")


def _is_small_natural(exponent: Fraction) -> bool:
    return exponent.denominator == 1 and 0 <= exponent <= 64


def _sum(left: Polynomial, right: Polynomial) -> Polynomial:
    size = max(len(left), len(right))
    padded = [p + (Fraction(0),) * (size - len(p)) for p in (left, right)]
    return polynomial(*(a + b for a, b in zip(*padded, strict=True)))


def _scaled(given: Polynomial, factor: Fraction) -> Polynomial:
    return polynomial(*(factor * c for c in given))


def _times(left: Polynomial, right: Polynomial) -> Polynomial:
    found = [Fraction(0)] * max(0, len(left) + len(right) - 1)
    for i, a in enumerate(left):
        for j, b in enumerate(right):
            found[i + j] += a * b
    return polynomial(*found)


def _divided(left: Polynomial, right: Polynomial) -> tuple[Polynomial, Polynomial]:
    rest = list(left)
    quotient = [Fraction(0)] * max(0, len(left) - len(right) + 1)
    for shift in reversed(range(len(quotient))):
        factor = rest[shift + len(right) - 1] / right[-1]
        quotient[shift] = factor
        for i, c in enumerate(right):
            rest[shift + i] -= factor * c
    return polynomial(*quotient), polynomial(*rest)


def _remainder(left: Polynomial, right: Polynomial) -> Polynomial:
    return _divided(left, right)[1]


def _quotient(left: Polynomial, right: Polynomial) -> Polynomial:
    return _divided(left, right)[0]


def _common_divisor(left: Polynomial, right: Polynomial) -> Polynomial:
    while right:
        left, right = right, _remainder(left, right)
    return _scaled(left, 1 / left[-1]) if left else left
