"""Kinks and jumps inside a flow, locked for the length of a stretch.

A flow with conditionals, `min`, `max`, `abs`, `sign`, `floor`, tables or `atan2` is smooth only
as long as none of them changes its piece. Each branch becomes a held truth value, `branch 0`,
`branch 1`, ..., and what else belongs to a piece a held number, `piece 0`, `piece 1`, ..., which
keep their values while a stretch lasts; the condition of a branch is watched in the direction
that would change it, as a crossing event, so that the next stretch starts just beyond the
switching surface with the other branch. The conditions that end a piece are watched as branches
that nothing reads.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product

from workbench.models.automaton import TIME
from workbench.models.expressions.expression import (
    ONE,
    ZERO,
    Expression,
    boolean,
    conditional,
    conjunction,
    constant,
    disjunction,
    equal,
    function,
    lookup,
    maximum,
    minimum,
    subtract,
    variable,
)
from workbench.models.expressions.operators import Op
from workbench.models.expressions.table import Interpolation, Table
from workbench.models.expressions.traversal import free_variables, rebuild, with_arguments
from workbench.models.record import record
from workbench.simulate.stepping.calculator import Calculator, Externals

MAX_BRANCHES = 64
"""Flows with more branches than this are not locked."""

FAR = Fraction(10) ** 300
"""Beyond all arguments of tables."""

PI = constant(Fraction(3141592653589793238462643383280, 10**30))


def branch_name(index: int) -> str:
    """The held truth value of a branch."""
    return f"branch {index}"


def piece_name(index: int) -> str:
    """A held number of a piece."""
    return f"piece {index}"


@record
class Locked:
    """Flows whose branches and pieces are held, the conditions that the branches stand for
    (which may read pieces), and the numbers that the pieces are."""

    flows: Mapping[str, Expression]
    conditions: tuple[Expression, ...]
    pieces: tuple[Expression, ...] = ()


def lock(flows: Mapping[str, Expression], moving: Sequence[str]) -> Locked:
    """The flows with every branch and piece that can change while time passes replaced by held
    values; exact as long as no condition changes its truth."""
    found = _Collected(frozenset(moving) | {TIME})
    result = {name: _decided(flow, found.held, found) for name, flow in flows.items()}
    if len(found.conditions) > MAX_BRANCHES:
        return Locked(flows, ())
    return Locked(result, tuple(found.conditions), tuple(found.pieces))


class HeldBranches:
    """The branches and pieces of locked flows, to be evaluated at the start of a stretch."""

    def __init__(self, locked: Locked, symbols: Mapping[str, int], externals: Externals):
        self._pieces = Calculator(locked.pieces, symbols, externals)
        self._conditions = Calculator(locked.conditions, symbols, externals)
        self._piece_names = tuple(map(piece_name, range(len(locked.pieces))))
        self._branch_names = tuple(map(branch_name, range(len(locked.conditions))))

    def __call__(self, values: Mapping[str, float]) -> dict[str, float]:
        """The held values by their names."""
        found = dict(zip(self._piece_names, self._pieces(values), strict=True))
        truths = self._conditions({**values, **found} if found else values)
        found.update(zip(self._branch_names, truths, strict=True))
        return found


def held_branches(
    locked: Locked, symbols: Mapping[str, int], externals: Externals
) -> HeldBranches | None:
    """What is held in locked flows; None if that is nothing."""
    return HeldBranches(locked, symbols, externals) if locked.conditions else None


@dataclass
class _Collected:
    """The branches and pieces of some flows, numbered as they are found."""

    changing: frozenset[str]
    conditions: dict[Expression, int] = field(default_factory=dict)
    pieces: dict[Expression, int] = field(default_factory=dict)

    def changes(self, node: Expression) -> bool:
        """Whether an expression may change while time passes."""
        return not free_variables(node).isdisjoint(self.changing)

    def held(self, condition: Expression) -> Expression | None:
        """The truth value of a branch; None if it cannot change."""
        if not self.changes(condition):
            return None
        self.watch(condition)
        return variable(branch_name(self.conditions[condition]))

    def hold(self, value: Expression) -> Expression:
        """A number that is held from the start of a stretch on."""
        return variable(piece_name(self.pieces.setdefault(value, len(self.pieces))))

    def watch(self, condition: Expression) -> None:
        """End stretches where the truth of a condition changes."""
        self.conditions.setdefault(condition, len(self.conditions))


def fix(
    flows: Mapping[str, Expression], condition: Expression, truth: bool
) -> dict[str, Expression]:
    """The flows on one side of a branch."""

    def known(branch: Expression) -> Expression | None:
        return boolean(truth) if branch == condition else None

    return {name: _decided(flow, known) for name, flow in flows.items()}


def _decided(
    flow: Expression,
    decide: Callable[[Expression], Expression | None],
    pieces: _Collected | None = None,
) -> Expression:
    """The flow with the branches that are decided (not None) replaced by conditionals, and with
    the pieces that can change held."""

    def replace(node: Expression, args: tuple[Expression, ...]) -> Expression:
        if node.op is Op.IF:
            truth = decide(node.args[0])
            if truth is not None:
                return conditional(truth, args[1], args[2])
        if node.op in (Op.MINIMUM, Op.MAXIMUM):
            return _extreme(node, args, decide)
        if node.op in (Op.ABSOLUTE, Op.SIGN):
            truth = decide(node.args[0] >= 0)
            if truth is not None:
                value = args[0] if node.op is Op.ABSOLUTE else ONE
                return conditional(truth, value, -value)
        if pieces is not None and pieces.changes(node):
            if node.op is Op.FLOOR:
                return _floor(node, pieces)
            if node.op is Op.LOOKUP:
                return _cell(node, args, pieces)
            if node.op is Op.ATAN2:
                return _angle(node, args, pieces)
            return with_arguments(node, _within_domain(node, args))
        return with_arguments(node, args)

    return rebuild(flow, replace)


def _floor(node: Expression, pieces: _Collected) -> Expression:
    """The number itself, as long as the argument lies between it and the next."""
    (argument,) = node.args
    held = pieces.hold(node)
    pieces.watch(argument >= held + 1)
    pieces.watch(argument < held)
    return held


def _cell(node: Expression, args: tuple[Expression, ...], pieces: _Collected) -> Expression:
    """A lookup table as the polynomial of the one cell in which its arguments are.

    In the cell from (x0, y0) on, a linear table is a + b dx + c dy + d dx dy with dx = x - x0 and
    dy = y - y0, and one of steps is constant. All of these numbers are tables of steps themselves:
    they are held while the arguments stay in the cell. Outside the grid, where arguments are
    clamped, the cells reach as far as numbers do.
    """
    hold, watch = pieces.hold, pieces.watch
    table: Table = node.table
    lows = []
    for axis, place in zip(table.axes, node.args, strict=True):
        low = hold(lookup(_table_of_steps((axis,), (-FAR, *axis)), place))
        high = hold(lookup(_table_of_steps((axis,), (*axis, FAR)), place))
        watch(place >= high)
        watch(place < low)
        lows.append(low)
    if table.interpolation is Interpolation.PREVIOUS:
        return hold(node)
    ways = [argument - low for argument, low in zip(args, lows, strict=True)]
    total = hold(lookup(_coefficients(table, ()), *node.args))
    for i, way in enumerate(ways):
        total = total + hold(lookup(_coefficients(table, (i,)), *node.args)) * way
    if len(ways) == 2:
        total = total + hold(lookup(_coefficients(table, (0, 1)), *node.args)) * ways[0] * ways[1]
    return total


def _table_of_steps(axes: Sequence[tuple[Fraction, ...]], values: Sequence[Fraction]) -> Table:
    """A table of steps over all cells, those outside the grid included; values row by row."""
    longer = tuple((-FAR, *axis) for axis in axes)
    width = len(longer[1]) if len(longer) == 2 else 1
    rows = tuple(tuple(values[i : i + width]) for i in range(0, len(values), width))
    return Table("cells", longer, rows, Interpolation.PREVIOUS)


def _coefficients(table: Table, powers: tuple[int, ...]) -> Table:
    """The coefficients of the products of these distances, one for each cell: mixed divided
    differences over the corners of the cell."""
    cells = [tuple(zip((axis[0], *axis), (*axis, axis[-1]), strict=True)) for axis in table.axes]
    found = []
    for cell in product(*cells):
        sides = [cell[i][1] - cell[i][0] for i in powers]
        if 0 in sides:
            found.append(Fraction(0))
            continue
        total = Fraction(0)
        for ends in product((0, 1), repeat=len(powers)):
            corner = [low for low, _ in cell]
            for i, end in zip(powers, ends, strict=True):
                corner[i] = cell[i][end]
            total += (-1) ** (len(powers) - sum(ends)) * table(*corner)
        for side in sides:
            total /= side
        found.append(total)
    return _table_of_steps(table.axes, found)


def _angle(node: Expression, args: tuple[Expression, ...], pieces: _Collected) -> Expression:
    """`atan2` continued smoothly over its cut, where the angle jumps from pi to -pi: turned so
    that the cut lies in the quadrant x, y < 0 as long as the point is not there, and in the
    opposite one as long as it is. (At the origin it is 0.)"""
    (y, x), (raw_y, raw_x) = args, node.args
    truth = pieces.held(disjunction(raw_x > 0, raw_y >= 0))
    if truth is None:
        return with_arguments(node, args)
    turned = PI / 4 + function(Op.ATAN2, subtract(y, x), x + y)
    outside = conditional(conjunction(equal(x, 0), equal(y, 0)), ZERO, turned)
    return conditional(truth, outside, function(Op.ATAN2, -y, -x) - PI)


def _within_domain(node: Expression, args: tuple[Expression, ...]) -> tuple[Expression, ...]:
    """The arguments of a function with edges: a piece that is continued beyond its end may leave
    the domain (x in sqrt(abs(x))), and there the argument itself is taken."""
    if args == node.args or not args or node.op not in _DOMAINS:
        return args
    return (conditional(_DOMAINS[node.op](args[0]), args[0], node.args[0]), *args[1:])


_DOMAINS: Mapping[Op, Callable[[Expression], Expression]] = {
    Op.SQRT: lambda x: x >= 0,
    Op.POWER: lambda x: x >= 0,
    Op.LOG: lambda x: x > 0,
    Op.ASIN: lambda x: conjunction(x >= -1, x <= 1),
    Op.ACOS: lambda x: conjunction(x >= -1, x <= 1),
}


def _extreme(
    node: Expression,
    args: tuple[Expression, ...],
    decide: Callable[[Expression], Expression | None],
) -> Expression:
    """`min` or `max`, taken from left to right."""
    found, raw = args[0], node.args[0]
    extreme = minimum if node.op is Op.MINIMUM else maximum
    for other, raw_other in zip(args[1:], node.args[1:], strict=True):
        truth = decide(raw <= raw_other if node.op is Op.MINIMUM else raw >= raw_other)
        if truth is None:
            found = extreme(found, other, span=node.span)
        else:
            found = conditional(truth, found, other)
        raw = extreme(raw, raw_other, span=node.span)
    return found
