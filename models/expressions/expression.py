"""Expressions: immutable, hashable, n-ary, with exact rational constants.

An `Expression` is a node (`op`, `args`, `value`) with an optional source span that takes
no part in equality. Constructors bring expressions into a light canonical form, so that
printing and parsing again gives an equal expression:

- sums and products are flat, their constants gathered into one (last in a sum, first in
  a product); conjunctions and disjunctions are flat;
- `a - b` is `a + (-1)*b`; division by a non-zero constant is multiplication;
- operations on constants are carried out where the result is an exact rational.

Nothing here or in the modules built on it recurses on the depth of an expression;
`models/expressions/traversal.py` has the ways to walk one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from typing import NoReturn, TypeAlias, cast

from workbench.models.expressions.literals import (
    COMPARE,
    EXACT_FUNCTIONS,
    MAX_CONSTANT_BITS,
    bit_size,
    bounded,
    product,
    total,
)
from workbench.models.expressions.operators import COMPARISONS, FUNCTIONS_OF_ONE, Op
from workbench.models.expressions.table import Table
from workbench.models.source import Span

Value: TypeAlias = (
    Fraction | bool | str | tuple[str, str] | tuple[tuple[str, bool], ...] | Table | None
)
Numeric: TypeAlias = "Expression | Fraction | int"
Node: TypeAlias = tuple[Op, tuple[int, ...], Value, Span | None]
"""A node whose arguments are named by their places in a list."""


class Expression:
    """One node; build with the functions of this module or Python's operators.

    >>> x = variable("x")
    >>> x + 1 - x * Fraction(1, 2) == add(x, multiply(Fraction(-1, 2), x), 1)
    True
    """

    __slots__ = ("_hash", "args", "depth", "op", "span", "value")

    op: Op
    args: tuple[Expression, ...]
    value: Value
    span: Span | None
    depth: int
    _hash: int

    def __init__(
        self,
        op: Op,
        args: tuple[Expression, ...] = (),
        value: Value = None,
        span: Span | None = None,
    ):
        _set_op(self, op)
        _set_args(self, args)
        _set_value(self, value)
        _set_span(self, span)
        if args:
            _set_depth(self, 1 + max([a.depth for a in args]))
            _set_hash(self, hash((op, value, *[a._hash for a in args])))
        else:
            _set_depth(self, 1)
            # A fraction's own hash needs a modular inverse; its parts serve as well.
            known = (value.numerator, value.denominator) if type(value) is Fraction else value
            _set_hash(self, hash((op, known)))

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"expressions are immutable; cannot set {name!r}")

    __delattr__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Callable[[list[Node]], Expression], tuple[list[Node]]]:
        """Between a user's processes it travels as the list of its nodes, for what is nested would
        be pickled by recursion."""
        from workbench.models.expressions.traversal import postorder

        places: dict[int, int] = {}
        nodes: list[Node] = []
        for node in postorder(self):
            places[id(node)] = len(nodes)
            args = tuple(places[id(arg)] for arg in node.args)
            nodes.append((node.op, args, node.value, node.span))
        return _of_nodes, (nodes,)

    def __copy__(self) -> Expression:
        return self

    def __deepcopy__(self, memo: object) -> Expression:
        return self

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Expression) or self._hash != other._hash:
            return False
        pairs = [(self, other)]
        compared: set[tuple[int, int]] = set()  # shared parts are compared only once
        while pairs:
            a, b = pairs.pop()
            if a is b:
                continue
            if a._hash != b._hash or a.op is not b.op or len(a.args) != len(b.args):
                return False
            if a.value != b.value:
                return False
            if a.args and (key := (id(a), id(b))) not in compared:
                compared.add(key)
                pairs.extend(zip(a.args, b.args, strict=True))
        return True

    def at(self, span: Span | None) -> Expression:
        """The same expression, said to stand at `span`."""
        return Expression(self.op, self.args, self.value, span)

    @property
    def is_constant(self) -> bool:
        """Whether this is a literal rational number."""
        return self.op is Op.CONSTANT

    @property
    def constant(self) -> Fraction:
        """The value of a literal number."""
        assert isinstance(self.value, Fraction), f"{self.op} is not a number"
        return self.value

    @property
    def name(self) -> str:
        """The name of a variable, symbol or external function."""
        assert isinstance(self.value, str), f"{self.op} has no name"
        return self.value

    @property
    def place(self) -> tuple[str, str]:
        """The component and location of an `at_location` proposition."""
        assert self.op is Op.AT, f"{self.op} is not a place"
        return cast(tuple[str, str], self.value)

    @property
    def table(self) -> Table:
        """The table of a lookup."""
        assert isinstance(self.value, Table), f"{self.op} has no table"
        return self.value

    def __add__(self, other: Numeric) -> Expression:
        return add(self, other)

    def __radd__(self, other: Numeric) -> Expression:
        return add(other, self)

    def __sub__(self, other: Numeric) -> Expression:
        return subtract(self, other)

    def __rsub__(self, other: Numeric) -> Expression:
        return subtract(other, self)

    def __mul__(self, other: Numeric) -> Expression:
        return multiply(self, other)

    def __rmul__(self, other: Numeric) -> Expression:
        return multiply(other, self)

    def __truediv__(self, other: Numeric) -> Expression:
        return divide(self, other)

    def __rtruediv__(self, other: Numeric) -> Expression:
        return divide(other, self)

    def __pow__(self, other: Numeric) -> Expression:
        return power(self, other)

    def __neg__(self) -> Expression:
        return multiply(-1, self)

    def __le__(self, other: Numeric) -> Expression:
        return compare(Op.LESS_EQUAL, self, other)

    def __lt__(self, other: Numeric) -> Expression:
        return compare(Op.LESS, self, other)

    def __ge__(self, other: Numeric) -> Expression:
        return compare(Op.GREATER_EQUAL, self, other)

    def __gt__(self, other: Numeric) -> Expression:
        return compare(Op.GREATER, self, other)

    def __and__(self, other: Expression) -> Expression:
        return conjunction(self, other)

    def __or__(self, other: Expression) -> Expression:
        return disjunction(self, other)

    def __invert__(self) -> Expression:
        return negation(self)

    def __bool__(self) -> NoReturn:
        raise TypeError("an expression has no truth value; compare with TRUE or evaluate it")

    def __str__(self) -> str:
        from workbench.models.expressions.printing import to_text

        return to_text(self)

    def __repr__(self) -> str:
        text = str(self)
        return f"<{text if len(text) < 200 else text[:197] + '...'}>"


# Writing through the slots is what keeps construction cheap: the class itself refuses it.
_set_op = Expression.__dict__["op"].__set__
_set_args = Expression.__dict__["args"].__set__
_set_value = Expression.__dict__["value"].__set__
_set_span = Expression.__dict__["span"].__set__
_set_depth = Expression.__dict__["depth"].__set__
_set_hash = Expression.__dict__["_hash"].__set__


def _of_nodes(nodes: list[Node]) -> Expression:
    """The expression that the last of its nodes is."""
    made: list[Expression] = []
    for op, args, value, span in nodes:
        made.append(Expression(op, tuple(made[place] for place in args), value, span))
    return made[-1]


# Leaves


def constant(value: Fraction | int, span: Span | None = None) -> Expression:
    """A literal number."""
    if isinstance(value, float):
        raise TypeError("a float is not exact; write Fraction(1, 10) or Fraction('0.1')")
    exact = value if type(value) is Fraction else Fraction(value)
    return Expression(Op.CONSTANT, (), bounded(exact), span)


def boolean(value: bool, span: Span | None = None) -> Expression:
    """A literal truth value."""
    return Expression(Op.BOOLEAN, (), value, span)


def symbol(name: str, span: Span | None = None) -> Expression:
    """A value of an enumeration."""
    return Expression(Op.SYMBOL, (), name, span)


def variable(name: str, span: Span | None = None) -> Expression:
    """A variable, input or parameter by its full name, e.g. `follower.acc` or `car[3].x`."""
    return Expression(Op.VARIABLE, (), name, span)


def at_location(component: str, location: str, span: Span | None = None) -> Expression:
    """The proposition that a component is in one of its locations."""
    return Expression(Op.AT, (), (component, location), span)


ZERO = constant(0)
ONE = constant(1)
TRUE = boolean(True)
FALSE = boolean(False)


def as_expression(value: Numeric) -> Expression:
    """A number or truth value as a literal; an expression as it is."""
    if isinstance(value, Expression):
        return value
    return boolean(value) if isinstance(value, bool) else constant(value)


# Arithmetic


def add(*terms: Numeric, span: Span | None = None) -> Expression:
    """A flat sum, its constant part gathered at the end."""
    flat, numbers = _gathered(Op.ADD, terms)
    if numbers:
        gathered = numbers[0] if len(numbers) == 1 else constant(total(n.constant for n in numbers))
        if gathered.value:
            flat.append(gathered)
    if not flat:
        return ZERO
    return flat[0] if len(flat) == 1 else Expression(Op.ADD, tuple(flat), None, span)


def subtract(left: Numeric, right: Numeric, span: Span | None = None) -> Expression:
    """`left + (-1)*right`; a sum on the right stays together: `a - (b + c)`."""
    return add(left, multiply(-1, right), span=span)


def multiply(*factors: Numeric, span: Span | None = None) -> Expression:
    """A flat product, its constant factor gathered in front; a factor 0 is kept as it is,
    because the other factors may be undefined."""
    flat, numbers = _gathered(Op.MULTIPLY, factors)
    if numbers:
        gathered = (
            numbers[0] if len(numbers) == 1 else constant(product(n.constant for n in numbers))
        )
        if gathered.value != 1:
            flat.insert(0, gathered)
    if not flat:
        return ONE
    return flat[0] if len(flat) == 1 else Expression(Op.MULTIPLY, tuple(flat), None, span)


def divide(left: Numeric, right: Numeric, span: Span | None = None) -> Expression:
    """A quotient; by a non-zero constant it becomes a product."""
    left, right = as_expression(left), as_expression(right)
    if right.is_constant and right.constant != 0:
        return multiply(1 / right.constant, left, span=span)
    return Expression(Op.DIVIDE, (left, right), None, span)


def power(base: Numeric, exponent: Numeric, span: Span | None = None) -> Expression:
    """A power; folded for constant bases and small integer exponents."""
    base, exponent = as_expression(base), as_expression(exponent)
    if exponent == ONE:
        return base
    if base.is_constant and exponent.is_constant and exponent.constant.denominator == 1:
        number, n = base.constant, exponent.constant.numerator
        if abs(n) * bit_size(number) <= MAX_CONSTANT_BITS and (number != 0 or n > 0):
            return constant(number**n, span)
    return Expression(Op.POWER, (base, exponent), None, span)


def minimum(*args: Numeric, span: Span | None = None) -> Expression:
    """The smallest of one or more numbers."""
    return _extremum(Op.MINIMUM, args, min, span)


def maximum(*args: Numeric, span: Span | None = None) -> Expression:
    """The largest of one or more numbers."""
    return _extremum(Op.MAXIMUM, args, max, span)


def function(op: Op, *args: Numeric, span: Span | None = None) -> Expression:
    """`sin`, `sqrt`, `atan2`, ... of its arguments; exact constants are folded."""
    given = tuple(as_expression(a) for a in args)
    assert len(given) == (2 if op is Op.ATAN2 else 1) and (
        op in FUNCTIONS_OF_ONE or op is Op.ATAN2
    ), f"{op} with {len(given)} arguments"
    if op in EXACT_FUNCTIONS and given[0].is_constant:
        return constant(EXACT_FUNCTIONS[op](given[0].constant), span)
    return Expression(op, given, None, span)


def lookup(table: Table, *args: Numeric, span: Span | None = None) -> Expression:
    """The value of a lookup table at one or two coordinates."""
    assert len(args) == table.dimension, "a table takes as many arguments as it has axes"
    return Expression(Op.LOOKUP, tuple(map(as_expression, args)), table, span)


def external(name: str, *args: Numeric, span: Span | None = None) -> Expression:
    """A call of a function that the user of the API provides by name."""
    return Expression(Op.EXTERNAL, tuple(map(as_expression, args)), name, span)


# Truth values


def compare(op: Op, left: Numeric, right: Numeric, span: Span | None = None) -> Expression:
    """A comparison; decided at once between literals."""
    assert op in COMPARISONS, op
    left, right = as_expression(left), as_expression(right)
    if left.is_constant and right.is_constant:
        return boolean(COMPARE[op](left.constant, right.constant), span)
    named = left.op is right.op and left.op in (Op.SYMBOL, Op.BOOLEAN)
    if named and op in (Op.EQUAL, Op.NOT_EQUAL):
        return boolean((left.value == right.value) is (op is Op.EQUAL), span)
    return Expression(op, (left, right), None, span)


def equal(left: Numeric, right: Numeric, span: Span | None = None) -> Expression:
    """The proposition that two values are equal (`==` itself compares expressions)."""
    return compare(Op.EQUAL, left, right, span)


def conjunction(*parts: Expression, span: Span | None = None) -> Expression:
    """All of the parts; `TRUE` when there are none."""
    return _connective(Op.AND, parts, TRUE, FALSE, span)


def disjunction(*parts: Expression, span: Span | None = None) -> Expression:
    """Any of the parts; `FALSE` when there are none."""
    return _connective(Op.OR, parts, FALSE, TRUE, span)


def negation(part: Expression, span: Span | None = None) -> Expression:
    """Not: double negation and literals are simplified, comparisons are kept."""
    if part.op is Op.NOT:
        return part.args[0]
    if part.op is Op.BOOLEAN:
        return boolean(not part.value, span)
    return Expression(Op.NOT, (part,), None, span)


def conditional(
    condition: Expression, then: Numeric, otherwise: Numeric, span: Span | None = None
) -> Expression:
    """`condition ? then : otherwise`, for numbers and truth values."""
    then, otherwise = as_expression(then), as_expression(otherwise)
    if condition.op is Op.BOOLEAN:
        return then if condition.value else otherwise
    return Expression(Op.IF, (condition, then, otherwise), None, span)


# Details


def _gathered(op: Op, parts: tuple[Numeric, ...]) -> tuple[list[Expression], list[Expression]]:
    """The operands of a flat sum or product: those that are no literals, and the literals."""
    flat: list[Expression] = []
    numbers: list[Expression] = []
    for given in parts:
        part = as_expression(given)
        for operand in part.args if part.op is op else (part,):
            (numbers if operand.op is Op.CONSTANT else flat).append(operand)
    return flat, numbers


def _flattened(op: Op, parts: Iterable[Expression]) -> Iterator[Expression]:
    for part in parts:
        if part.op is op:
            yield from part.args
        else:
            yield part


def _connective(
    op: Op,
    parts: Iterable[Expression],
    neutral: Expression,
    absorbing: Expression,
    span: Span | None,
) -> Expression:
    kept: dict[Expression, None] = {}
    for part in _flattened(op, parts):
        if part.op is Op.BOOLEAN:
            if part == absorbing:
                return absorbing
        else:
            kept[part] = None
    if not kept:
        return neutral
    return next(iter(kept)) if len(kept) == 1 else Expression(op, tuple(kept), None, span)


def _extremum(
    op: Op,
    args: tuple[Numeric, ...],
    choose: Callable[[Iterable[Fraction]], Fraction],
    span: Span | None,
) -> Expression:
    given = tuple(_flattened(op, map(as_expression, args)))
    assert given, f"{op} of nothing"
    if len(given) == 1:
        return given[0]
    if all(a.is_constant for a in given):
        return constant(choose(a.constant for a in given), span)
    return Expression(op, given, None, span)
