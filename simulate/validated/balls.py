"""Expressions over balls: rigorous values, power series in time, and truth of conditions.

A value is an `arb` (a real ball that contains the true value), an `arb_series` (a power series
in time whose coefficients are balls), a truth value or a symbol. Piecewise operations work on
balls alone: `simulate.validated.branches` replaces them by their pieces before series are made
of them. Where nothing is certain, `GaveUp` says so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import product
from typing import Any

import flint

from workbench.models.expressions.expression import Expression
from workbench.models.expressions.operators import COMPARISONS, Op
from workbench.models.expressions.printing import to_text
from workbench.models.expressions.table import Interpolation, Table
from workbench.models.expressions.traversal import postorder

Ball = Any
"""An `arb` or an `arb_series`."""

LARGEST_POWER = 64


class GaveUp(Exception):  # noqa: N818 - an honest answer, not an error
    """Nothing could be proved; `reason` is a sentence for people, about `part` of the model."""

    def __init__(self, reason: str, part: Expression | None = None):
        super().__init__(reason)
        self._reason, self.part = reason, part

    @property
    def reason(self) -> str:
        """Why, in words."""
        return self._reason if self.part is None else f"`{shortened(self.part)}` {self._reason}"


class Undecided(GaveUp):
    """Which piece of a piecewise operation applies is not the same on the whole enclosure."""


def shortened(part: Expression, width: int = 120) -> str:
    """An expression as text, cut where it is long."""
    text = to_text(part)
    return text if len(text) <= width else f"{text[: width - 4]} ..."


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


class BallEvaluator:
    """Several expressions evaluated together.

    A part that has no value matters only where it is needed: the branch of a conditional that
    is not taken may be undefined. With `merged`, an undecided operation that jumps (a
    conditional, a sign, a floor, a table of steps) has the hull of its possible values.
    """

    def __init__(self, *roots: Expression, merged: bool = False):
        self.roots = roots
        self.nodes = tuple(postorder(*roots))
        self.merged = merged

    def __call__(self, values: Mapping[str, Any]) -> list[Any]:
        """Their values; raises `GaveUp` where one is undefined or undecided."""
        made = self.all(values)
        found = [made[id(r)] for r in self.roots]
        for value in found:
            if isinstance(value, GaveUp):
                raise value
        return found

    def all(self, values: Mapping[str, Any]) -> dict[int, Any]:
        """The value of every node, by identity; a `GaveUp` stands for one that has none."""
        made: dict[int, Any] = {}
        for node in self.nodes:
            args = [made[id(a)] for a in node.args]
            try:
                made[id(node)] = _operate(node, args, values, self.merged)
            except GaveUp as problem:
                made[id(node)] = problem
        return made


def _operate(node: Expression, args: list[Any], values: Mapping[str, Any], merged: bool) -> Any:
    op = node.op
    if op is Op.CONSTANT:
        return ball(node.constant)
    if op is Op.VARIABLE:
        if node.name not in values:
            raise GaveUp(f"`{node.name}` has no known value")
        return values[node.name]
    if op in (Op.BOOLEAN, Op.SYMBOL):
        return node.value
    if op is Op.IF:
        return _if(node, args, merged)
    if op in (Op.AND, Op.OR, Op.NOT):
        return _CONNECTIVES[op](*(None if isinstance(a, GaveUp) else a for a in args))
    for value in args:
        if isinstance(value, GaveUp):
            raise value
    if op is Op.ADD:
        return _folded(args, lambda a, b: a + b)
    if op is Op.MULTIPLY:
        return _folded(args, lambda a, b: a * b)
    if op in COMPARISONS:
        return comparison(op, *args)
    if op in _JUMPING:
        return _JUMPING[op](node, args[0], merged)
    if op is Op.LOOKUP:
        return _lookup(node, args, merged)
    return _function(node, args)


def _function(node: Expression, args: list[Any]) -> Any:
    handler = _HANDLERS.get(node.op)
    if handler is None:
        raise GaveUp("cannot be enclosed: nothing is known about the function", node)
    try:
        value = handler(*args)
    except (ZeroDivisionError, ValueError):
        value = None
    if value is None or (isinstance(value, flint.arb) and not value.is_finite()):
        raise GaveUp("comes too close to where it has no finite value", node)
    return value


def _folded(args: list[Any], step: Callable[[Any, Any], Any]) -> Any:
    total = args[0]
    for value in args[1:]:
        total = step(total, value)
    return total


def comparison(op: Op, left: Any, right: Any) -> bool | None:
    """Whether a comparison is certainly true or certainly false; None if neither."""
    if isinstance(left, str | bool) or isinstance(right, str | bool):
        return bool(left == right) == (op is Op.EQUAL)
    return sign_test(op, left - right)


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
        if abs(n) > LARGEST_POWER:
            return None
        result = base
        for _ in range(abs(n) - 1):
            result = result * base
        if n == 0:
            return ball(1)
        return result if n > 0 else 1 / result
    if isinstance(exponent, flint.arb) and exponent.is_exact() and exponent == ball(1) / 2:
        return base.sqrt()
    lead = base[0] if isinstance(base, flint.arb_series) else base
    return (base.log() * exponent).exp() if lead > 0 else None


def _atan2(y: Ball, x: Ball) -> Ball:
    if isinstance(x, flint.arb) and isinstance(y, flint.arb):
        return None if y.contains(0) and not x > 0 else flint.arb.atan2(y, x)
    half = flint.arb.pi() / 2
    if _positive(x):
        return (y / x).atan()
    if _positive(y):
        return half - (x / y).atan()
    return -half - (x / y).atan() if _positive(-y) else None


def _positive(x: Ball) -> bool:
    return bool((x[0] if isinstance(x, flint.arb_series) else x) > 0)


def _if(node: Expression, args: list[Any], merged: bool) -> Any:
    condition, *branches = args
    if isinstance(condition, bool):
        taken = branches[0] if condition else branches[1]
        if isinstance(taken, GaveUp):
            raise taken
        return taken
    if merged and all(isinstance(b, flint.arb) for b in branches):
        return hull(*branches)
    raise Undecided("is not decided by the enclosure", node.args[0])


def _sign(node: Expression, x: flint.arb, merged: bool) -> flint.arb:
    if x > 0 or x < 0 or x.is_zero():
        return ball(1 if x > 0 else (-1 if x < 0 else 0))
    if merged:
        return hull(ball(-1), ball(1))
    raise Undecided("changes its value", node)


def _floor(node: Expression, x: flint.arb, merged: bool) -> flint.arb:
    low, high = (math.floor(end) for end in ends(x))
    if low == high:
        return ball(low)
    if merged:
        return hull(ball(low), ball(high))
    raise Undecided("changes its value", node)


def _lookup(node: Expression, args: list[Any], merged: bool) -> flint.arb:
    """The range of a table: it has its extremes at grid points or at the ends of the balls."""
    table: Table = node.table
    places = [_places(axis, x) for axis, x in zip(table.axes, args, strict=True)]
    found = [table(*place) for place in product(*places)]
    low, high = min(found), max(found)
    if low != high and table.interpolation is Interpolation.PREVIOUS and not merged:
        raise Undecided("changes its value", node)
    return ball(low) if low == high else hull(ball(low), ball(high))


def _places(axis: tuple[Fraction, ...], x: flint.arb) -> list[Fraction]:
    if not x.is_finite():
        raise GaveUp("the argument of a table has no finite bounds")
    low, high = ends(x)
    return list(dict.fromkeys((low, high, *(point for point in axis if low < point < high))))


def _and(*args: bool | None) -> bool | None:
    return False if False in args else (None if None in args else True)


def _or(*args: bool | None) -> bool | None:
    return True if True in args else (None if None in args else False)


_CONNECTIVES: dict[Op, Callable[..., bool | None]] = {
    Op.AND: _and,
    Op.OR: _or,
    Op.NOT: lambda x: None if x is None else not x,
}
_JUMPING = {Op.SIGN: _sign, Op.FLOOR: _floor}
_HANDLERS: dict[Op, Callable[..., Any]] = {
    Op.DIVIDE: lambda a, b: a / b,
    Op.POWER: _power,
    Op.MINIMUM: lambda *args: _folded(list(args), lambda a, b: a.min(b)),
    Op.MAXIMUM: lambda *args: _folded(list(args), lambda a, b: a.max(b)),
    Op.ABSOLUTE: abs,
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
}


class Truth:
    """A condition, made ready to be decided on many boxes."""

    def __init__(self, condition: Expression):
        self.condition = condition
        self._order: list[Expression] = []
        stack = [(condition, False)]
        while stack:
            node, ready = stack.pop()
            if not ready and node.op in _CONNECTIVES:
                stack.append((node, True))
                stack.extend((a, False) for a in node.args)
            else:
                self._order.append(node)
        self._atoms = BallEvaluator(*(n for n in self._order if n.op not in _CONNECTIVES))

    def __call__(
        self,
        values: Mapping[str, Any],
        decide: Callable[[Expression], bool | None] = lambda _: None,
    ) -> bool | None:
        """Whether it is certainly true (or false) on a box; `decide` may settle comparisons
        that the box alone does not."""
        made = self._atoms.all(values)
        for node in self._order:
            if node.op in _CONNECTIVES:
                made[id(node)] = _CONNECTIVES[node.op](*(made[id(a)] for a in node.args))
            elif not isinstance(made[id(node)], bool):
                made[id(node)] = decide(node)
        found: bool | None = made[id(self.condition)]
        return found


def truth(
    condition: Expression,
    values: Mapping[str, Any],
    decide: Callable[[Expression], bool | None] = lambda _: None,
) -> bool | None:
    """Whether a condition is certainly true (or false) on a box."""
    return Truth(condition)(values, decide)
