"""From expressions to z3 terms, iteratively, each distinct part once.

Numbers are z3 reals (integer variables are converted), truth values z3 Booleans, symbols of
enumerations integers that stand for them. See `models.smt.solver` for what is exact.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import Any

import z3

from workbench.models.automaton import BOOL, INT, REAL, ValueType
from workbench.models.expressions.expression import Expression
from workbench.models.expressions.operators import COMPARISONS, Op
from workbench.models.expressions.table import Interpolation, Table
from workbench.models.expressions.traversal import postorder

MAX_EXPONENT = 32
"""Integer powers up to this are multiplied out; others are opaque."""


@dataclass(slots=True)
class Needs:
    """What a translated condition rests on besides the formula itself: side conditions that
    hold in every state, and those under which every part of the condition has a value."""

    side_conditions: list[Any] = field(default_factory=list)
    definedness: list[Any] = field(default_factory=list)
    opaque: set[str] = field(default_factory=set)
    is_nonlinear: bool = False


class Translation:
    """The z3 terms of expressions over variables of the given types."""

    def __init__(self, types: Mapping[str, ValueType]):
        self._types = types
        self._terms: dict[Expression, Any] = {}
        self._sides: dict[Expression, list[Any]] = {}
        self._defined: dict[Expression, Any] = {}
        self._opaque: dict[Expression, str] = {}
        self._products: set[Expression] = set()
        self._variables: dict[str, Any] = {}
        self._codes: dict[str, int] = {}
        self._symbols: list[str] = []

    def formula(self, condition: Expression) -> Any:
        """The condition as a z3 formula."""
        for node in postorder(condition):
            if node not in self._terms:
                args = [self._terms[arg] for arg in node.args]
                self._terms[node] = self._term(node, args)
        return self._terms[condition]

    def needs(self, condition: Expression) -> Needs:
        """The side conditions and opaque parts of a translated condition."""
        found = Needs()
        self.formula(condition)
        for node in postorder(condition):
            found.side_conditions += self._sides.get(node, ())
            if node in self._defined:
                found.definedness.append(self._defined[node])
            if node in self._opaque:
                found.opaque.add(self._opaque[node])
            found.is_nonlinear = found.is_nonlinear or node in self._products
            if node.op is Op.VARIABLE:
                found.side_conditions += self._domain(node.name)
        return found

    def value(self, name: str, model: Any) -> Fraction | bool | str:
        """The value of a variable in a z3 model; irrational ones are approximated."""
        kind = self._types.get(name, REAL)
        if name not in self._variables:
            self._variable(name)
        found = model.eval(self._variables[name], model_completion=True)
        if kind == BOOL:
            return bool(z3.is_true(found))
        if kind.values:
            code = found.as_long()
            return self._symbols[code] if code < len(self._symbols) else kind.values[0]
        if z3.is_algebraic_value(found):
            found = found.approx(30)
        if kind == INT:
            return Fraction(found.as_long())
        return Fraction(found.numerator_as_long(), found.denominator_as_long())

    # Leaves

    def _variable(self, name: str) -> Any:
        kind = self._types.get(name, REAL)
        if kind == REAL:
            self._variables[name] = z3.Real(name)
            return self._variables[name]
        if kind == BOOL:
            self._variables[name] = z3.Bool(name)
            return self._variables[name]
        self._variables[name] = z3.Int(name)
        if kind == INT:
            return z3.ToReal(self._variables[name])
        for symbol in kind.values:
            self._code(symbol)
        return self._variables[name]

    def _domain(self, name: str) -> list[Any]:
        kind = self._types.get(name, REAL)
        if not kind.values:
            return []
        term = self._variables[name]
        codes = sorted({self._code(symbol) for symbol in kind.values})
        low, high = codes[0], codes[-1]
        if high - low + 1 == len(codes):
            return [term >= low, term <= high]
        return [z3.Or(*(term == code for code in codes))]

    def _code(self, symbol: str) -> int:
        code = self._codes.setdefault(symbol, len(self._symbols))
        if code == len(self._symbols):
            self._symbols.append(symbol)
        return code

    # Nodes

    def _term(self, node: Expression, args: list[Any]) -> Any:
        match node.op:
            case Op.CONSTANT:
                return z3.Q(node.constant.numerator, node.constant.denominator)
            case Op.BOOLEAN:
                return z3.BoolVal(bool(node.value))
            case Op.SYMBOL:
                return z3.IntVal(self._code(node.name))
            case Op.VARIABLE:
                return self._variable(node.name)
            case Op.AT:
                return z3.Bool(f"at {node.place}")
            case Op.AND:
                return z3.And(*args)
            case Op.OR:
                return z3.Or(*args)
            case Op.NOT:
                return z3.Not(args[0])
            case Op.IF:
                return z3.If(args[0], args[1], args[2])
            case op if op in COMPARISONS:
                return _COMPARE[op](args[0], args[1])
            case _:
                return self._number(node, args)

    def _number(self, node: Expression, args: list[Any]) -> Any:
        match node.op:
            case Op.ADD:
                return z3.Sum(args)
            case Op.MULTIPLY:
                if sum(not arg.is_constant for arg in node.args) > 1:
                    self._products.add(node)
                return z3.Product(args)
            case Op.DIVIDE:
                self._products.add(node)
                self._defined[node] = args[1] != 0
                return args[0] / args[1]
            case Op.POWER:
                return self._power(node, args)
            case Op.MINIMUM | Op.MAXIMUM:
                return _extremum(args, smallest=node.op is Op.MINIMUM)
            case Op.ABSOLUTE:
                return z3.If(args[0] >= 0, args[0], -args[0])
            case Op.SIGN:
                one, zero = z3.RealVal(1), z3.RealVal(0)
                return z3.If(args[0] > 0, one, z3.If(args[0] < 0, -one, zero))
            case Op.FLOOR:
                return z3.ToReal(z3.ToInt(args[0]))
            case Op.LOOKUP if node.table.dimension == 1:
                return _piecewise(node.table, args[0])
            case _:
                return self._unknown_value(node, args)

    def _power(self, node: Expression, args: list[Any]) -> Any:
        exponent = node.args[1]
        if not exponent.is_constant or exponent.constant.denominator != 1:
            return self._unknown_value(node, args)
        number = exponent.constant.numerator
        if abs(number) > MAX_EXPONENT:
            return self._unknown_value(node, args)
        self._products.add(node)
        product = z3.RealVal(1)
        for _ in range(abs(number)):
            product = product * args[0]
        if number >= 0:
            return product
        self._defined[node] = args[0] != 0
        return 1 / product

    def _unknown_value(self, node: Expression, args: list[Any]) -> Any:
        """A fresh number in the function's range; square roots are pinned down exactly."""
        value = z3.FreshReal(str(node.op))
        sides: list[Any] = []
        if node.op is Op.SQRT:
            self._products.add(node)
            root = z3.And(value >= 0, value * value == args[0])
            self._sides[node] = [z3.Implies(args[0] >= 0, root)]
            self._defined[node] = args[0] >= 0
            return value
        if node.op in (Op.SIN, Op.COS):
            sides = [value >= -1, value <= 1]
        elif node.op is Op.EXP:
            sides = [value > 0]
        elif node.op in (Op.ASIN, Op.ACOS, Op.ATAN, Op.ATAN2):
            sides = [value > -4, value < 4]
        self._sides[node] = sides
        name = node.name if node.op is Op.EXTERNAL else str(node.op)
        self._opaque[node] = f"`{name}`" if node.op is not Op.LOOKUP else "a table"
        return value


def _extremum(args: list[Any], *, smallest: bool) -> Any:
    best = args[0]
    for arg in args[1:]:
        best = z3.If(arg < best if smallest else arg > best, arg, best)
    return best


def _piecewise(table: Table, argument: Any) -> Any:
    """A one-dimensional table as nested conditionals, clamped outside its grid."""
    grid = table.axes[0]
    values = [row[0] for row in table.values]
    term: Any = _rational(values[-1])
    pieces = list(zip(pairwise(grid), pairwise(values), strict=True))
    for (low, high), (start, end) in reversed(pieces):
        inside: Any = _rational(start)
        if table.interpolation is Interpolation.LINEAR:
            slope = (end - start) / (high - low)
            inside = inside + _rational(slope) * (argument - _rational(low))
        term = z3.If(argument < _rational(high), inside, term)
    return z3.If(argument <= _rational(grid[0]), _rational(values[0]), term)


def _rational(value: Fraction) -> Any:
    return z3.Q(value.numerator, value.denominator)


_COMPARE: Mapping[Op, Callable[[Any, Any], Any]] = {
    Op.LESS: lambda a, b: a < b,
    Op.LESS_EQUAL: lambda a, b: a <= b,
    Op.GREATER: lambda a, b: a > b,
    Op.GREATER_EQUAL: lambda a, b: a >= b,
    Op.EQUAL: lambda a, b: a == b,
    Op.NOT_EQUAL: lambda a, b: a != b,
}
