"""Symbolic derivatives.

Where a function has a derivative, the result is its value there, exactly. At the points
where it has none the result still has a value, which is that of one side or a middle:

- `abs(u)` gives `sign(u)*u'` (0 at the kink), `floor` and `sign` give 0 (also at the jumps);
- `min` and `max` give the derivative of the argument that wins, the earliest in a tie;
- `c ? a : b` gives `c ? a' : b'`: the jump where the condition changes is not accounted for;
- a linear table gives the slope of the cell to the right of a grid point, and 0 outside the
  grid, where a table is constant; a `previous` table gives 0.

The result may be defined at more points than the expression itself. Truth values and calls
of external functions that depend on the variable have no derivative: they are refused with
`NotDifferentiableError`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import NoReturn

from workbench.models.expressions.expression import (
    ONE,
    ZERO,
    Expression,
    add,
    compare,
    conditional,
    constant,
    divide,
    function,
    lookup,
    maximum,
    minimum,
    multiply,
    power,
)
from workbench.models.expressions.operators import Op
from workbench.models.expressions.table import Interpolation, Table
from workbench.models.expressions.traversal import postorder


class NotDifferentiableError(ValueError):
    """An expression has no symbolic derivative; `expression` is the part to blame."""

    def __init__(self, message: str, expression: Expression):
        super().__init__(message)
        self.expression = expression

    def __str__(self) -> str:
        return f"{self.args[0]}: {self.expression!r}"


def differentiate(root: Expression, name: str) -> Expression:
    """The partial derivative with respect to a variable.

    >>> from workbench.models.expressions.expression import variable
    >>> x = variable("x")
    >>> str(differentiate(x**3 - 2 * x, "x"))
    '3*x^2 - 2'
    """
    dependent = _dependent(root, name)
    made: dict[int, _Change] = {}
    for node in _numeric_postorder(root, dependent):
        chained = _chained(node, dependent)
        if chained is not None:
            outer, inner = chained
            made[id(node)] = _Change(None, outer, made[id(inner)])
        else:
            args = _numbers(node)
            changes = [made[id(a)].resolved() if id(a) in dependent else ZERO for a in args]
            made[id(node)] = _Change(_derivative(node, changes), (), None)
    return made[id(root)].resolved() if id(root) in dependent else ZERO


@dataclass(slots=True)
class _Change:
    """A derivative; by the chain rule, `outer` factors times an `inner` derivative.

    It is multiplied out only where it is needed as a whole, so that the derivative of a
    function of a function of ... takes linear time.
    """

    value: Expression | None
    outer: tuple[Expression, ...]
    inner: _Change | None

    def resolved(self) -> Expression:
        """The derivative as an expression."""
        if self.value is None:
            factors: list[Expression] = []
            change: _Change | None = self
            while change is not None:
                factors.extend(change.outer if change.value is None else (change.value,))
                change = change.inner if change.value is None else None
            self.value = _times(*factors)
        return self.value


def _chained(
    node: Expression, dependent: set[int]
) -> tuple[tuple[Expression, ...], Expression] | None:
    """The factors of the chain rule and the argument that they apply to, where there is one."""
    moving = [arg for arg in node.args if id(arg) in dependent]
    if len(moving) != 1:
        return None
    if node.op in _OUTER:
        return (_OUTER[node.op](node),), moving[0]
    if node.op is Op.ADD:
        return (), moving[0]
    if node.op is Op.MULTIPLY:
        return tuple(arg for arg in node.args if arg is not moving[0]), moving[0]
    if node.op is Op.POWER and moving[0] is node.args[0]:
        base, exponent = node.args
        return (exponent, power(base, exponent - 1)), base
    return None


def lie_derivative(root: Expression, flow: Mapping[str, Expression]) -> Expression:
    """The rate of change along a flow: the sum of `de/dx * flow[x]` over its variables."""
    return add(*(_times(differentiate(root, name), rate) for name, rate in flow.items()))


def _dependent(root: Expression, name: str) -> set[int]:
    """The nodes in which the variable occurs."""
    found: set[int] = set()
    for node in postorder(root):
        if node.op is Op.VARIABLE:
            if node.name == name:
                found.add(id(node))
        elif any(id(arg) in found for arg in node.args):
            found.add(id(node))
    return found


def _numbers(node: Expression) -> tuple[Expression, ...]:
    """The arguments that the derivative is taken of: not the condition of a conditional."""
    return node.args[1:] if node.op is Op.IF else node.args


def _numeric_postorder(root: Expression, dependent: set[int]) -> Iterable[Expression]:
    """The nodes whose derivative is needed, arguments first."""
    seen: set[int] = set()
    stack = [(root, False)]
    while stack:
        node, expanded = stack.pop()
        if expanded:
            yield node
        elif id(node) in dependent and id(node) not in seen:
            seen.add(id(node))
            stack.append((node, True))
            if node.op not in _RULES and node.op not in _OUTER:
                _refuse(node)
            stack.extend((arg, False) for arg in _numbers(node))


def _derivative(node: Expression, changes: list[Expression]) -> Expression:
    """The derivative of a node from those of its arguments."""
    return _RULES[node.op](node, changes)


def _refuse(node: Expression) -> NoReturn:
    what = "external functions have" if node.op is Op.EXTERNAL else f"'{node.op.value}' has"
    raise NotDifferentiableError(f"{what} no derivative", node)


def _times(*factors: Expression) -> Expression:
    """A product that vanishes with any of its factors."""
    return ZERO if ZERO in factors else multiply(*factors)


def _product(node: Expression, changes: list[Expression]) -> Expression:
    """The sum over all factors of the others times its derivative."""
    factors = node.args
    fixed = [f for f, c in zip(factors, changes, strict=True) if c == ZERO]
    moving = [(f, c) for f, c in zip(factors, changes, strict=True) if c != ZERO]
    if not moving:
        return ZERO
    if len(moving) <= 8:
        terms = []
        for i, (_, change) in enumerate(moving):
            others = [f for j, (f, _) in enumerate(moving) if j != i]
            terms.append(_times(*fixed, change, *others))
        return add(*terms)
    return _times(*fixed, _halved(moving)[1])


def _halved(moving: list[tuple[Expression, Expression]]) -> tuple[Expression, Expression]:
    """A long product and its derivative, by repeated pairing: (uv)' = u'v + uv'.

    Pairing keeps the result almost linear in the number of factors.
    """
    while len(moving) > 1:
        paired = [
            (multiply(u, v), add(_times(du, v), _times(u, dv)))
            for (u, du), (v, dv) in zip(moving[::2], moving[1::2], strict=False)
        ]
        moving = paired + ([moving[-1]] if len(moving) % 2 else [])
    return moving[0]


def _quotient(node: Expression, changes: list[Expression]) -> Expression:
    (u, v), (du, dv) = node.args, changes
    if dv == ZERO:
        return ZERO if du == ZERO else divide(du, v)
    if du == ZERO:
        return divide(multiply(-1, u, dv), power(v, 2))
    return divide(add(multiply(du, v), multiply(-1, u, dv)), power(v, 2))


def _power(node: Expression, changes: list[Expression]) -> Expression:
    (u, v), (du, dv) = node.args, changes
    if dv == ZERO:
        return _times(v, power(u, v - 1), du)
    if du == ZERO:
        return _times(node, function(Op.LOG, u), dv)
    return multiply(node, add(_times(dv, function(Op.LOG, u)), divide(multiply(v, du), u)))


def _extremum(node: Expression, changes: list[Expression]) -> Expression:
    """The derivative of whichever argument wins, by a tournament."""
    smallest = node.op is Op.MINIMUM
    build: Callable[..., Expression] = minimum if smallest else maximum
    beats = Op.LESS_EQUAL if smallest else Op.GREATER_EQUAL
    round_ = list(zip(node.args, changes, strict=True))
    while len(round_) > 1:
        paired = [
            (build(u, v), du if du == dv else conditional(compare(beats, u, v), du, dv))
            for (u, du), (v, dv) in zip(round_[::2], round_[1::2], strict=False)
        ]
        round_ = paired + ([round_[-1]] if len(round_) % 2 else [])
    return round_[0][1]


def _conditional(node: Expression, changes: list[Expression]) -> Expression:
    then, otherwise = changes
    return then if then == otherwise else conditional(node.args[0], then, otherwise)


def _atan2(node: Expression, changes: list[Expression]) -> Expression:
    (y, x), (dy, dx) = node.args, changes
    top = add(_times(x, dy), _times(constant(-1), y, dx))
    return ZERO if top == ZERO else divide(top, add(power(x, 2), power(y, 2)))


def _over(below: Callable[[Expression], Expression], sign: int = 1) -> Callable[..., Expression]:
    """The chain rule for a function whose derivative is `sign / below`."""

    def rule(node: Expression, changes: list[Expression]) -> Expression:
        return ZERO if changes[0] == ZERO else divide(sign * changes[0], below(node))

    return rule


# Lookup tables


def _lookup(node: Expression, changes: list[Expression]) -> Expression:
    table = node.table
    if table.interpolation is Interpolation.PREVIOUS:
        return ZERO
    if table.dimension == 1:
        return _times(lookup(_slopes(table), node.args[0]), changes[0])
    row, column = node.args
    parts = []
    if changes[0] != ZERO:
        parts.append(_times(_along(table, row, column), changes[0]))
    if changes[1] != ZERO:
        parts.append(_times(_along(_transposed(table), column, row), changes[1]))
    return add(*parts)


def _slopes(table: Table) -> Table:
    """The slope in each cell of a table of one coordinate, 0 outside its grid."""
    (grid,) = table.axes
    values = [row[0] for row in table.values]
    slopes = [
        (b - a) / (q - p) for (a, b), (p, q) in zip(pairwise(values), pairwise(grid), strict=True)
    ]
    axis = (grid[0] - 1, *grid)
    rows = tuple((slope,) for slope in (Fraction(0), *slopes, Fraction(0)))
    return Table(f"{table.name}.slope", (axis,), rows, Interpolation.PREVIOUS)


def _along(table: Table, first: Expression, second: Expression) -> Expression:
    """The slope of a bilinear table along its first coordinate: constant there within each
    cell, linear in the second coordinate; chosen among the cells by halving."""
    grid = table.axes[0]
    cells: list[tuple[Fraction | None, Expression]] = [(None, ZERO)]  # (starts at, slope)
    for index, (p, q) in enumerate(pairwise(grid)):
        below, above = table.values[index], table.values[index + 1]
        slopes = tuple(((b - a) / (q - p),) for a, b in zip(below, above, strict=True))
        name = f"{table.name}.slope.cell{index}"
        cells.append((p, lookup(Table(name, (table.axes[1],), slopes), second)))
    cells.append((grid[-1], ZERO))
    while len(cells) > 1:
        paired = [
            (start, conditional(compare(Op.LESS, first, boundary), left, right))
            for (start, left), (boundary, right) in zip(cells[::2], cells[1::2], strict=False)
            if boundary is not None
        ]
        cells = paired + ([cells[-1]] if len(cells) % 2 else [])
    return cells[0][1]


def _transposed(table: Table) -> Table:
    values = tuple(zip(*table.values, strict=True))
    return Table(f"{table.name}.turned", table.axes[::-1], values, table.interpolation)


def _zero(node: Expression, changes: list[Expression]) -> Expression:
    return ZERO


_OUTER: Mapping[Op, Callable[[Expression], Expression]] = {
    Op.ABSOLUTE: lambda node: function(Op.SIGN, node.args[0]),
    Op.EXP: lambda node: node,
    Op.SIN: lambda node: function(Op.COS, node.args[0]),
    Op.COS: lambda node: -function(Op.SIN, node.args[0]),
    Op.TAN: lambda node: 1 + node**2,
}
"""The derivatives of functions of one argument that multiply the argument's own."""

_RULES: Mapping[Op, Callable[[Expression, list[Expression]], Expression]] = {
    Op.VARIABLE: lambda node, changes: ONE,
    Op.ADD: lambda node, changes: add(*changes),
    Op.MULTIPLY: _product,
    Op.DIVIDE: _quotient,
    Op.POWER: _power,
    Op.MINIMUM: _extremum,
    Op.MAXIMUM: _extremum,
    Op.SIGN: _zero,
    Op.FLOOR: _zero,
    Op.SQRT: _over(lambda node: 2 * node),
    Op.LOG: _over(lambda node: node.args[0]),
    Op.ASIN: _over(lambda node: function(Op.SQRT, 1 - node.args[0] ** 2)),
    Op.ACOS: _over(lambda node: function(Op.SQRT, 1 - node.args[0] ** 2), -1),
    Op.ATAN: _over(lambda node: 1 + node.args[0] ** 2),
    Op.ATAN2: _atan2,
    Op.LOOKUP: _lookup,
    Op.IF: _conditional,
}
