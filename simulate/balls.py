"""Expressions over balls: rigorous values, power series in time, and truth of conditions.

A value is an `arb` (a real ball that contains the true value), an `arb_series` (a power series
in time whose coefficients are balls), a truth value or a symbol. A piecewise operation is
replaced by the branch that is certain on the whole ball; where none is, `GaveUp` says so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import flint

from models.expression import Expression
from models.normal_form import negation_normal_form
from models.operators import COMPARISONS, Op
from models.traversal import postorder

Ball = Any
"""An `arb` or an `arb_series`."""


class GaveUp(Exception):  # noqa: N818 - an honest answer, not an error
    """Nothing could be proved; `reason` is a sentence for people."""

    def __init__(self, reason: str):
        super().__init__(reason)
        self.reason = reason


def ball(value: Fraction | int) -> flint.arb:
    """The smallest ball around a rational number at the working precision."""
    exact = Fraction(value)
    return flint.arb(flint.fmpq(exact.numerator, exact.denominator))


def hull(low: flint.arb, high: flint.arb) -> flint.arb:
    """A ball around two balls."""
    return low.union(high)


def ends(x: flint.arb) -> tuple[Fraction, Fraction]:
    """Rational bounds of a ball, rounded outwards."""
    return _rational(x.lower()), _rational(x.upper())


def _rational(x: flint.arb) -> Fraction:
    mantissa, exponent = x.man_exp()
    m, e = int(mantissa), int(exponent)
    return Fraction(m * 2**e) if e >= 0 else Fraction(m, 2**-e)


def _lead(x: Ball) -> flint.arb:
    """The value of a series at its start."""
    return x[0] if isinstance(x, flint.arb_series) else x


class BallEvaluator:
    """Several expressions evaluated together."""

    def __init__(self, *roots: Expression):
        self.roots = roots
        self.nodes = tuple(n for n in postorder(*roots))

    def __call__(self, values: Mapping[str, Any]) -> list[Any]:
        """Their values; raises `GaveUp` where one is undefined or a branch is uncertain."""
        made: dict[int, Any] = {}
        for node in self.nodes:
            made[id(node)] = _operate(node, [made[id(a)] for a in node.args], values)
        return [made[id(r)] for r in self.roots]


def _operate(node: Expression, args: list[Any], values: Mapping[str, Any]) -> Any:
    op = node.op
    if op is Op.CONSTANT:
        return ball(node.constant)
    if op is Op.VARIABLE:
        if node.name not in values:
            raise GaveUp(f"`{node.name}` has no known value")
        return values[node.name]
    if op in (Op.BOOLEAN, Op.SYMBOL):
        return node.value
    if op is Op.ADD:
        return _folded(args, lambda a, b: a + b)
    if op is Op.MULTIPLY:
        return _folded(args, lambda a, b: a * b)
    if op in COMPARISONS:
        return comparison(op, *args)
    handler = _HANDLERS.get(op)
    if handler is None:
        raise GaveUp(f"`{op.value}` is not smooth, or unknown to enclosures")
    try:
        return handler(*args)
    except (ZeroDivisionError, ValueError) as error:
        raise GaveUp(f"`{op.value}` may be undefined: {error}") from error


def _folded(args: list[Any], step: Callable[[Any, Any], Any]) -> Any:
    total = args[0]
    for value in args[1:]:
        total = step(total, value)
    return total


def comparison(op: Op, left: Any, right: Any) -> bool | None:
    """Whether a comparison is certainly true or certainly false; None if neither."""
    if isinstance(left, str | bool) or isinstance(right, str | bool):
        return bool(left == right) == (op is Op.EQUAL)
    return sign_test(op, _lead(left) - _lead(right))


def sign_test(op: Op, difference: flint.arb) -> bool | None:
    """`difference op 0`, if certain."""
    if difference.is_nan():
        return None
    yes, no = {
        Op.LESS: (difference < 0, difference >= 0),
        Op.LESS_EQUAL: (difference <= 0, difference > 0),
        Op.GREATER: (difference > 0, difference <= 0),
        Op.GREATER_EQUAL: (difference >= 0, difference < 0),
        Op.EQUAL: (difference.is_zero(), not difference.contains(0)),
        Op.NOT_EQUAL: (not difference.contains(0), difference.is_zero()),
    }[op]
    return True if yes else (False if no else None)


def _power(base: Ball, exponent: Ball) -> Ball:
    if isinstance(exponent, flint.arb) and exponent.is_integer():
        n = int(str(exponent.unique_fmpz()))
        if abs(n) > 64:
            raise GaveUp("a power is too large")
        result = base
        for _ in range(abs(n) - 1):
            result = result * base
        if n == 0:
            return ball(1)
        return result if n > 0 else 1 / result
    if isinstance(exponent, flint.arb) and exponent.is_exact() and exponent == ball(1) / 2:
        return base.sqrt()
    if not _lead(base) > 0:
        raise GaveUp("a power of what may not be positive")
    return (base.log() * exponent).exp()


def _extremum(least: bool) -> Callable[..., Ball]:
    def choose(*args: Ball) -> Ball:
        best = args[0]
        for value in args[1:]:
            a, b = _lead(best), _lead(value)
            if (a <= b) if least else (a >= b):
                continue
            if (b <= a) if least else (b >= a):
                best = value
            elif isinstance(best, flint.arb) and isinstance(value, flint.arb):
                best = best.min(value) if least else best.max(value)
            else:
                raise GaveUp("which of two values is smaller changes along the way")
        return best

    return choose


def _absolute(x: Ball) -> Ball:
    if _lead(x) >= 0:
        return x
    if _lead(x) <= 0:
        return -x
    if isinstance(x, flint.arb):
        return abs(x)
    raise GaveUp("a value under abs changes its sign along the way")


def _sign(x: Ball) -> Ball:
    lead = _lead(x)
    if lead > 0:
        return ball(1)
    if lead < 0:
        return ball(-1)
    if lead.is_zero():
        return ball(0)
    raise GaveUp("a sign changes along the way")


def _floor(x: Ball) -> Ball:
    low = _lead(x).floor()
    if not low.is_exact():
        raise GaveUp("a value under floor passes an integer")
    return low


def _if(condition: bool | None, then: Any, otherwise: Any) -> Any:
    if condition is None:
        raise GaveUp("a condition inside an expression changes along the way")
    return then if condition else otherwise


def _atan2(y: Ball, x: Ball) -> Ball:
    if isinstance(x, flint.arb) and isinstance(y, flint.arb):
        return flint.arb.atan2(y, x)
    half = flint.arb.pi() / 2
    if _lead(x) > 0:
        return (y / x).atan()
    if _lead(y) > 0:
        return half - (x / y).atan()
    if _lead(y) < 0:
        return -half - (x / y).atan()
    raise GaveUp("an angle passes its cut")


def _and(*args: bool | None) -> bool | None:
    return False if False in args else (None if None in args else True)


def _or(*args: bool | None) -> bool | None:
    return True if True in args else (None if None in args else False)


_HANDLERS: dict[Op, Callable[..., Any]] = {
    Op.DIVIDE: lambda a, b: a / b,
    Op.POWER: _power,
    Op.MINIMUM: _extremum(True),
    Op.MAXIMUM: _extremum(False),
    Op.ABSOLUTE: _absolute,
    Op.SIGN: _sign,
    Op.FLOOR: _floor,
    Op.IF: _if,
    Op.SQRT: lambda x: x.sqrt(),
    Op.EXP: lambda x: x.exp(),
    Op.LOG: lambda x: x.log(),
    Op.SIN: lambda x: x.sin(),
    Op.COS: lambda x: x.cos(),
    Op.TAN: lambda x: x.tan(),
    Op.ASIN: lambda x: x.asin(),
    Op.ACOS: lambda x: x.acos(),
    Op.ATAN: lambda x: x.atan(),
    Op.ATAN2: _atan2,
    Op.AND: _and,
    Op.OR: _or,
    Op.NOT: lambda x: None if x is None else not x,
}


def truth(
    condition: Expression,
    values: Mapping[str, Any],
    decide: Callable[[Expression], bool | None] = lambda _: None,
) -> bool | None:
    """Whether a condition is certainly true (or false) on a box; `decide` may settle
    comparisons that the box alone does not."""
    made: dict[int, bool | None] = {}
    stack = [(condition, False)]
    while stack:
        node, ready = stack.pop()
        if node.op in (Op.AND, Op.OR, Op.NOT):
            if not ready:
                stack.append((node, True))
                stack.extend((a, False) for a in node.args)
                continue
            made[id(node)] = _HANDLERS[node.op](*(made[id(a)] for a in node.args))
            continue
        try:
            (value,) = BallEvaluator(node)(values)
        except GaveUp:
            value = None
        made[id(node)] = decide(node) if value is None else bool(value)
    return made[id(condition)]


def depth(condition: Expression, values: Mapping[str, Any]) -> float:
    """How far inside a condition that certainly holds every state of a box is: a lower bound
    of the distance of its comparisons from equality."""
    made: dict[int, float] = {}
    stack = [(negation_normal_form(condition), False)]
    root = stack[0][0]
    while stack:
        node, ready = stack.pop()
        if node.op in (Op.AND, Op.OR):
            if not ready:
                stack.append((node, True))
                stack.extend((a, False) for a in node.args)
                continue
            parts = [made[id(a)] for a in node.args]
            made[id(node)] = min(parts) if node.op is Op.AND else max(parts)
            continue
        made[id(node)] = _gap(node, values)
    return made[id(root)]


def _gap(node: Expression, values: Mapping[str, Any]) -> float:
    try:
        if BallEvaluator(node)(values)[0] is not True:
            return 0.0
        if node.op not in COMPARISONS or node.op is Op.EQUAL:
            return math.inf
        left, right = BallEvaluator(*node.args)(values)
    except GaveUp:
        return 0.0
    if not isinstance(left, flint.arb) or not isinstance(right, flint.arb):
        return math.inf
    return math.nextafter(float((left - right).abs_lower()), 0.0)
