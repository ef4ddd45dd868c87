"""The value of an expression at a point: exact where it can be, else in double precision.

Numbers stay `Fraction` through arithmetic, roots and powers that come out rational, tables
and everything Boolean; a transcendental function (or an irrational root) yields a `float`,
and what is computed from a `float` is one. An exact result is therefore recognisable by its
type. `0^0` is 1, `atan2(0, 0)` is 0, `floor` and `sign` are exact also of a `float`.

Conditionals and Boolean operators are evaluated from left to right and only as far as
needed: `x != 0 && 1/x > 2` is false at 0. Where an operation has no value, `EvaluationError`
names the expression.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import NoReturn, TypeAlias

from workbench.models.expressions.expression import Expression
from workbench.models.expressions.literals import COMPARE, MAX_CONSTANT_BITS
from workbench.models.expressions.operators import COMPARISONS, Op
from workbench.models.outside import PASSING, failure

Number: TypeAlias = Fraction | float
Scalar: TypeAlias = Fraction | float | bool | str
"""A value of a variable or an expression."""

External: TypeAlias = Callable[..., object]
"""A function that the caller of the API provides for an `extern` of the model."""

_NOTHING: Mapping[str, External] = MappingProxyType({})
_NOWHERE: Mapping[str, str] = MappingProxyType({})


class EvaluationError(ValueError):
    """An expression has no value at the given point; `expression` is the part to blame."""

    def __init__(self, message: str, expression: Expression):
        super().__init__(message)
        self.expression = expression

    def __str__(self) -> str:
        return f"{self.args[0]}: {self.expression!r}"


def evaluate(
    root: Expression,
    values: Mapping[str, Scalar | int],
    externals: Mapping[str, External] = _NOTHING,
    occupied: Mapping[str, str] = _NOWHERE,
) -> Scalar:
    """The value where variables have the given values and components are where `occupied`
    says.

    >>> from workbench.models.expressions.expression import variable
    >>> evaluate(variable("x") / 3, {"x": 1})
    Fraction(1, 3)
    """
    done: dict[int, Scalar] = {}
    stack: list[list[object]] = []
    node, position = root, 0
    while True:
        wanted, position = _next_argument(node, position, done)
        if wanted is not None:
            stack.append([node, position])
            node, position = wanted, 0
            continue
        done[id(node)] = _value(node, done, values, externals, occupied)
        if not stack:
            return done[id(root)]
        node, position = stack.pop()  # type: ignore[assignment]


def evaluate_number(
    root: Expression,
    values: Mapping[str, Scalar | int],
    externals: Mapping[str, External] = _NOTHING,
) -> Number:
    """The value of an expression that yields a number."""
    return _number(evaluate(root, values, externals), root)


def holds(
    root: Expression,
    values: Mapping[str, Scalar | int],
    externals: Mapping[str, External] = _NOTHING,
    occupied: Mapping[str, str] = _NOWHERE,
) -> bool:
    """Whether a condition is true."""
    return _truth(evaluate(root, values, externals, occupied), root)


def exact_operation(node: Expression, args: tuple[Fraction, ...]) -> Fraction | None:
    """The value of an arithmetic node of exact numbers, if it is rational and defined."""
    try:
        value = _arithmetic(node, args)
    except EvaluationError:
        return None
    return value if isinstance(value, Fraction) else None


def _next_argument(
    node: Expression, position: int, done: Mapping[int, Scalar]
) -> tuple[Expression | None, int]:
    """The next argument whose value is needed before the node's, from `position` on."""
    args = node.args
    if node.op is Op.IF:
        condition = done.get(id(args[0]))
        if condition is None:
            return args[0], 0
        chosen = args[1] if _truth(condition, args[0]) else args[2]
        return (None if id(chosen) in done else chosen), 0
    decisive = {Op.AND: False, Op.OR: True}.get(node.op)
    while position < len(args):
        value = done.get(id(args[position]))
        if value is None:
            return args[position], position
        if decisive is not None and _truth(value, args[position]) is decisive:
            break
        position += 1
    return None, position


def _value(
    node: Expression,
    done: Mapping[int, Scalar],
    values: Mapping[str, Scalar | int],
    externals: Mapping[str, External],
    occupied: Mapping[str, str],
) -> Scalar:
    """The value of a node whose needed arguments have values."""
    op = node.op
    if op is Op.CONSTANT:
        return node.constant
    if op is Op.VARIABLE:
        return _given(node, values)
    if op in _TRUTHS:
        return _boolean(node, done, occupied)
    if op is Op.SYMBOL:
        return node.name
    if op is Op.IF:
        return done[id(node.args[1 if done[id(node.args[0])] else 2])]
    args = [done[id(arg)] for arg in node.args]
    if op in COMPARISONS:
        return _comparison(node, args[0], args[1])
    if op is Op.EXTERNAL:
        return _external(node, args, externals)
    return _arithmetic(node, tuple(_number(v, a) for v, a in zip(args, node.args, strict=True)))


_TRUTHS = frozenset({Op.BOOLEAN, Op.AT, Op.AND, Op.OR, Op.NOT})


def _given(node: Expression, values: Mapping[str, Scalar | int]) -> Scalar:
    if node.name not in values:
        raise EvaluationError("no value is given for", node)
    return _scalar(values[node.name], node)


def _scalar(value: object, node: Expression) -> Scalar:
    if isinstance(value, bool | str | Fraction):
        return value
    if isinstance(value, int):
        return Fraction(value)
    if isinstance(value, float):
        return _finite(value, node)
    raise EvaluationError(f"{type(value).__name__} is no value for", node)


def _boolean(node: Expression, done: Mapping[int, Scalar], occupied: Mapping[str, str]) -> bool:
    if node.op is Op.BOOLEAN:
        return node.value is True
    if node.op is Op.AT:
        component, location = node.place
        if component not in occupied:
            raise EvaluationError("it is not said where the component is in", node)
        return occupied[component] == location
    if node.op is Op.NOT:
        return not _truth(done[id(node.args[0])], node.args[0])
    # Arguments beyond a decisive one have not been evaluated.
    decisive = node.op is Op.OR
    return any(done.get(id(arg)) is decisive for arg in node.args) is decisive


def _comparison(node: Expression, left: Scalar, right: Scalar) -> bool:
    if _is_number(left) and _is_number(right):
        return COMPARE[node.op](left, right)  # type: ignore[arg-type]
    if type(left) is not type(right) or node.op not in (Op.EQUAL, Op.NOT_EQUAL):
        raise EvaluationError("values that cannot be compared in", node)
    return (left == right) is (node.op is Op.EQUAL)


def _external(node: Expression, args: list[Scalar], externals: Mapping[str, External]) -> Scalar:
    """Call the caller's function; its own exceptions are reported as ours."""
    if node.name not in externals:
        raise EvaluationError("no function is given for", node)
    function = externals[node.name]
    try:
        value = function(*args)
    except PASSING:
        raise
    except BaseException as error:
        raise EvaluationError(f"{failure(error, function)} in", node) from error
    return _scalar(value, node)


def _is_number(value: object) -> bool:
    return isinstance(value, Fraction | float)


def _number(value: Scalar, node: Expression) -> Number:
    if isinstance(value, Fraction | float):
        return value
    raise EvaluationError("a number is needed, not the value of", node)


def _truth(value: Scalar, node: Expression) -> bool:
    if isinstance(value, bool):
        return value
    raise EvaluationError("a truth value is needed, not the value of", node)


# Arithmetic


def _arithmetic(node: Expression, args: tuple[Number, ...]) -> Number:
    operation = _OPERATIONS.get(node.op)
    if operation is None:
        raise EvaluationError("there is no value for", node)
    try:
        value = operation(node, args)
    except EvaluationError:
        raise
    except (OverflowError, ZeroDivisionError, ValueError):
        # An exact operand was beyond the range of a double, on either end.
        raise EvaluationError("numbers out of range in", node) from None
    return _finite(value, node) if isinstance(value, float) else value


def _finite(value: float, node: Expression) -> float:
    if math.isfinite(value):
        return value
    raise EvaluationError("the result is not finite in", node)


def _undefined(message: str, node: Expression) -> NoReturn:
    raise EvaluationError(message, node)


def _sum(node: Expression, args: tuple[Number, ...]) -> Number:
    total: Number = Fraction(0)
    for value in args:
        total = total + value
    return total


def _product(node: Expression, args: tuple[Number, ...]) -> Number:
    product: Number = Fraction(1)
    for value in args:
        product = product * value
    return product


def _quotient(node: Expression, args: tuple[Number, ...]) -> Number:
    if args[1] == 0:
        _undefined("division by zero in", node)
    return args[0] / args[1]


def _power(node: Expression, args: tuple[Number, ...]) -> Number:
    base, exponent = args
    if base == 0 and exponent < 0:
        _undefined("zero to a negative power in", node)
    if isinstance(exponent, float) or isinstance(base, float):
        if base < 0 and exponent != math.floor(exponent):
            _undefined("a negative number to a fractional power in", node)
        return math.pow(base, exponent)
    n, q = exponent.numerator, exponent.denominator
    if base < 0 and q != 1:
        _undefined("a negative number to a fractional power in", node)
    bits = max(base.numerator.bit_length(), base.denominator.bit_length())
    trivial = abs(base) == 1 or base == 0
    if not trivial and abs(n) * bits > 16 * MAX_CONSTANT_BITS:
        _undefined("the result is too large in", node)
    if base == 0:
        return Fraction(n == 0)
    if trivial:
        return Fraction(1) if n % 2 == 0 or base == 1 else base
    root = base if q == 1 else _root(base, q)
    return math.pow(base, exponent) if root is None else root**n


def _root(base: Fraction, q: int) -> Fraction | None:
    """The exact q-th root of a positive number, if it is rational."""
    top, bottom = _integer_root(base.numerator, q), _integer_root(base.denominator, q)
    return None if top is None or bottom is None else Fraction(top, bottom)


def _integer_root(value: int, q: int) -> int | None:
    if q == 2:
        root = math.isqrt(value)
    elif value.bit_length() <= q:
        root = 1  # 2**q is larger already
    else:
        low, high = 1, 1 << (value.bit_length() // q + 1)
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if middle**q <= value else (low, middle - 1)
        root = low
    return root if root**q == value else None


def _sqrt(node: Expression, args: tuple[Number, ...]) -> Number:
    (value,) = args
    if value < 0:
        _undefined("the square root of a negative number in", node)
    if isinstance(value, float):
        return math.sqrt(value)
    root = _root(value, 2)
    return math.sqrt(value) if root is None else root


def _log(node: Expression, args: tuple[Number, ...]) -> Number:
    (value,) = args
    if value <= 0:
        _undefined("the logarithm of a number that is not positive in", node)
    if value == 1:
        return Fraction(0)
    if isinstance(value, float):
        return math.log(value)
    near = abs(value - 1) < Fraction(1, 2)
    return (
        math.log1p(value - 1) if near else math.log(value.numerator) - math.log(value.denominator)
    )


def _arc(of: Callable[[float], float], zero_at: int) -> Callable[..., Number]:
    def operation(node: Expression, args: tuple[Number, ...]) -> Number:
        (value,) = args
        if not -1 <= value <= 1:
            _undefined("an argument outside [-1, 1] in", node)
        return Fraction(0) if value == zero_at else of(float(value))

    return operation


def _smooth(of: Callable[[float], float], at_zero: int) -> Callable[..., Number]:
    """A function that is rational only at 0."""

    def operation(node: Expression, args: tuple[Number, ...]) -> Number:
        return Fraction(at_zero) if args[0] == 0 else of(float(args[0]))

    return operation


def _atan2(node: Expression, args: tuple[Number, ...]) -> Number:
    y, x = args
    if y == 0 and x >= 0:
        return Fraction(0)
    return math.atan2(float(y), float(x))


def _lookup(node: Expression, args: tuple[Number, ...]) -> Number:
    value = node.table(*(Fraction(a) for a in args))
    return float(value) if any(isinstance(a, float) for a in args) else value


_OPERATIONS: Mapping[Op, Callable[[Expression, tuple[Number, ...]], Number]] = {
    Op.ADD: _sum,
    Op.MULTIPLY: _product,
    Op.DIVIDE: _quotient,
    Op.POWER: _power,
    Op.MINIMUM: lambda node, args: min(args),
    Op.MAXIMUM: lambda node, args: max(args),
    Op.ABSOLUTE: lambda node, args: -args[0] if args[0] < 0 else args[0],
    Op.SIGN: lambda node, args: Fraction((args[0] > 0) - (args[0] < 0)),
    Op.FLOOR: lambda node, args: Fraction(math.floor(args[0])),
    Op.SQRT: _sqrt,
    Op.EXP: _smooth(math.exp, 1),
    Op.LOG: _log,
    Op.SIN: _smooth(math.sin, 0),
    Op.COS: _smooth(math.cos, 1),
    Op.TAN: _smooth(math.tan, 0),
    Op.ASIN: _arc(math.asin, 0),
    Op.ACOS: _arc(math.acos, 1),
    Op.ATAN: _smooth(math.atan, 0),
    Op.ATAN2: _atan2,
    Op.LOOKUP: _lookup,
}
