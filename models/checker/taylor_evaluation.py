"""Expressions over Taylor models.

The result stands for the value of the expression wherever it has one: a conditional whose
condition is not decided by the ranges of its parts becomes a model of both branches, and a
function that is defined on a part of its argument's range only is enclosed there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from itertools import product
from typing import TypeAlias

from workbench.models.checker.intervals import Interval, UndefinedError
from workbench.models.checker.taylor_model import Model, TaylorArithmetic
from workbench.models.expressions.expression import Expression
from workbench.models.expressions.operators import COMPARISONS, Op
from workbench.models.expressions.table import Interpolation, Table
from workbench.models.expressions.traversal import postorder

Truth: TypeAlias = bool | None
"""What is known of a condition; None: it may hold or not."""


_Value: TypeAlias = Model | UndefinedError | bool | None


class Program:
    """Expressions made ready to be evaluated again and again."""

    def __init__(self, roots: Sequence[Expression]):
        self._nodes = list(postorder(*roots))
        number = {id(node): i for i, node in enumerate(self._nodes)}
        self._args = [[number[id(a)] for a in node.args] for node in self._nodes]
        self._roots = [number[id(root)] for root in roots]
        self._constants: dict[int, dict[int, Model]] = {}

    def __call__(self, arithmetic: TaylorArithmetic, values: Mapping[str, Model]) -> list[Model]:
        """A model of each expression; `UndefinedError` where there is none.

        A node without value is kept as its error: whether it matters depends on the
        conditionals around it.
        """
        constants = self._constants.setdefault(arithmetic.bits, {})
        found: list[_Value] = []
        for i, (node, args) in enumerate(zip(self._nodes, self._args, strict=True)):
            if node.op is Op.CONSTANT:
                if i not in constants:
                    number = arithmetic.intervals.number(node.constant)
                    constants[i] = arithmetic.constant(number)
                found.append(constants[i])
                continue
            try:
                found.append(_node(arithmetic, node, [found[k] for k in args], values))
            except UndefinedError as error:
                found.append(error)
        return [_model(found[k]) for k in self._roots]


def _model(value: _Value) -> Model:
    if isinstance(value, Model):
        return value
    raise value if isinstance(value, UndefinedError) else UndefinedError("there is no number")


def _node(
    arithmetic: TaylorArithmetic,
    node: Expression,
    args: list[_Value],
    values: Mapping[str, Model],
) -> _Value:
    if node.op is Op.VARIABLE:
        return values.get(node.name)
    if node.op is Op.BOOLEAN:
        return bool(node.value)
    if node.op is Op.IF:
        return _conditional(arithmetic, args)
    if node.op in (Op.AND, Op.OR, Op.NOT):
        return _connected(node.op, [_truth(arithmetic, a) for a in args])
    models = [a for a in args if isinstance(a, Model)]
    if len(models) < len(args):
        for a in args:
            if isinstance(a, UndefinedError):
                raise a
        if node.op in COMPARISONS:
            return None
        raise UndefinedError(f"there is no enclosure of {node!r}")
    if node.op in COMPARISONS:
        return _compared(node.op, *(m.range for m in models))
    operation = _OPERATIONS.get(node.op)
    if operation is None:
        raise UndefinedError(f"there is no enclosure of {node.op.value}")
    return operation(arithmetic, node, models)


def _conditional(arithmetic: TaylorArithmetic, args: list[_Value]) -> _Value:
    condition, then, other = _truth(arithmetic, args[0]), args[1], args[2]
    if condition is not None:
        return then if condition else other
    for branch in (then, other):
        if isinstance(branch, UndefinedError):
            raise branch
    if isinstance(then, Model) and isinstance(other, Model):
        return arithmetic.hull(then, other)
    return then if isinstance(then, bool) and then is other else None


def _truth(arithmetic: TaylorArithmetic, value: _Value) -> Truth:
    """A truth value; that of a variable is 0 or 1."""
    if isinstance(value, Model) and value.low == value.high:
        return {0: False, arithmetic.intervals.one.low: True}.get(value.low)
    return value if isinstance(value, bool) else None


def _connected(op: Op, parts: list[Truth]) -> Truth:
    if op is Op.NOT:
        return None if parts[0] is None else not parts[0]
    decisive = op is Op.OR
    if decisive in parts:
        return decisive
    return None if None in parts else not decisive


def _compared(op: Op, a: Interval, b: Interval) -> Truth:
    if op in (Op.GREATER, Op.GREATER_EQUAL):
        a, b = b, a
        op = Op.LESS if op is Op.GREATER else Op.LESS_EQUAL
    if op is Op.LESS:
        return True if a.high < b.low else False if a.low >= b.high else None
    if op is Op.LESS_EQUAL:
        return True if a.high <= b.low else False if a.low > b.high else None
    same: Truth = None
    if a.low > b.high or b.low > a.high:
        same = False
    elif a.low == a.high == b.low == b.high:
        same = True
    return same if op is Op.EQUAL or same is None else not same


# Operations

_Operation: TypeAlias = Callable[[TaylorArithmetic, Expression, list[Model]], Model]


def _power(arithmetic: TaylorArithmetic, node: Expression, args: list[Model]) -> Model:
    exponent = node.args[1]
    if exponent.is_constant:
        value = exponent.constant
        if value.denominator == 1:
            return arithmetic.power(args[0], value.numerator)
        return arithmetic.applied(args[0], arithmetic.univariate.real_power(value))
    logarithm = arithmetic.applied(args[0], arithmetic.univariate.logarithm)
    return arithmetic.applied(
        arithmetic.product(args[1], logarithm), arithmetic.univariate.exponential
    )


def _quotient(arithmetic: TaylorArithmetic, node: Expression, args: list[Model]) -> Model:
    found = arithmetic.product(args[0], arithmetic.reciprocal(args[1]))
    known = arithmetic.intervals.quotient(args[0].range, args[1].range)
    return arithmetic.model(found.polynomial, found.error, known)


def _applied(name: str) -> _Operation:
    def operation(arithmetic: TaylorArithmetic, node: Expression, args: list[Model]) -> Model:
        return arithmetic.applied(args[0], getattr(arithmetic.univariate, name))

    return operation


def _ranged(of: Callable[..., Interval]) -> _Operation:
    """A function of which only the range is taken."""

    def operation(arithmetic: TaylorArithmetic, node: Expression, args: list[Model]) -> Model:
        return arithmetic.constant(of(arithmetic, *(a.range for a in args)))

    return operation


def _smaller(arithmetic: TaylorArithmetic, a: Model, b: Model) -> Model:
    return arithmetic.negative(arithmetic.larger(arithmetic.negative(a), arithmetic.negative(b)))


def _lookup(arithmetic: TaylorArithmetic, node: Expression, args: list[Model]) -> Model:
    """The range of a table: between grid points it lies between their values."""
    table = node.table
    cells = [_cells(arithmetic, table, axis, arg.range) for axis, arg in enumerate(args)]
    found = [
        arithmetic.intervals.number(table.values[i][j])
        for i, j in product(cells[0], cells[1] if table.dimension == 2 else (0,))
    ]
    return arithmetic.constant(reduce(Interval.hull, found))


def _cells(arithmetic: TaylorArithmetic, table: Table, axis: int, a: Interval) -> range:
    """The grid points whose values count for arguments in an interval."""
    grid = [arithmetic.intervals.number(point) for point in table.axes[axis]]
    first = max((i for i, point in enumerate(grid) if point.high <= a.low), default=0)
    beyond = [i for i, point in enumerate(grid) if point.low >= a.high]
    last = beyond[0] if beyond else len(grid) - 1
    if table.interpolation is Interpolation.PREVIOUS:
        last = max((i for i, point in enumerate(grid) if point.low <= a.high), default=0)
    return range(first, max(first, last) + 1)


_OPERATIONS: Mapping[Op, _Operation] = {
    Op.ADD: lambda arithmetic, node, args: arithmetic.sum(args),
    Op.MULTIPLY: lambda arithmetic, node, args: reduce(arithmetic.product, args),
    Op.DIVIDE: _quotient,
    Op.POWER: _power,
    Op.MAXIMUM: lambda arithmetic, node, args: reduce(arithmetic.larger, args),
    Op.MINIMUM: lambda arithmetic, node, args: reduce(
        lambda a, b: _smaller(arithmetic, a, b), args
    ),
    Op.ABSOLUTE: lambda arithmetic, node, args: arithmetic.absolute(args[0]),
    Op.SIGN: _ranged(lambda arithmetic, a: arithmetic.intervals.sign(a)),
    Op.FLOOR: _ranged(lambda arithmetic, a: arithmetic.intervals.floor(a)),
    Op.SQRT: _applied("root"),
    Op.EXP: _applied("exponential"),
    Op.LOG: _applied("logarithm"),
    Op.SIN: _applied("sine"),
    Op.COS: _applied("cosine"),
    Op.TAN: _applied("tangent"),
    Op.ASIN: _applied("arc_sine"),
    Op.ACOS: _applied("arc_cosine"),
    Op.ATAN: _applied("arc_tangent"),
    Op.ATAN2: _ranged(lambda arithmetic, y, x: arithmetic.functions.arc_tangent_2(y, x)),
    Op.LOOKUP: _lookup,
}
