"""Expressions as text that reads well and parses to an equal expression.

`parse_expression(to_text(e)) == e` for every `e` built by the constructors of
`models.expressions.expression`, given the tables, symbols and external functions that occur in it.
(The one exception is surface syntax that denotes a flat name, such as a selection with
literal indices: it comes back as the variable it stands for.)

The text is written from left to right with an explicit stack, so neither a long sum nor a
deep nesting is a problem. Shared parts are written out wherever they occur; an expression
whose text would be absurdly long is refused.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import TypeAlias, cast

from workbench.models.expressions.dialect import CHARON, MAX_DIGITS, Dialect, is_flat_name
from workbench.models.expressions.expression import Expression
from workbench.models.expressions.literals import ExpressionTooLargeError
from workbench.models.expressions.operators import COMPARISONS, Op

MAX_PIECES = 20_000_000
"""How many names, operators and brackets a text may have."""

_LONG = 10**MAX_DIGITS
_POWERS_OF_TEN = frozenset(10**k for k in range(1, 7))

# How tightly an operator binds; an operand that binds less than its place asks for brackets.
WHOLE, OR, AND, NOT, COMPARISON, SUM, PRODUCT, UNARY, POWER, ATOM = range(10)

_Piece: TypeAlias = "str | tuple[Expression, int]"

_BINDING: Mapping[Op, int] = {
    Op.IF: WHOLE,
    Op.FORALL: WHOLE,
    Op.SUM: WHOLE,
    Op.OR: OR,
    Op.AND: AND,
    Op.NOT: NOT,
    **dict.fromkeys(COMPARISONS, COMPARISON),
    Op.ADD: SUM,
    Op.MULTIPLY: PRODUCT,
    Op.DIVIDE: PRODUCT,
    Op.POWER: POWER,
}


def to_text(root: Expression, dialect: Dialect = CHARON, *, quote_symbols: bool = False) -> str:
    """The expression in the syntax of a dialect.

    `quote_symbols` writes values of enumerations in double quotes, which tells them from
    variables of the same name without knowing the model.

    >>> from workbench.models.expressions.expression import variable
    >>> x = variable("x")
    >>> to_text((x - 1) / 8 - x**2)
    '(x - 1)/8 - x^2'
    """
    written: list[str] = []
    stack: list[_Piece] = [(root, WHOLE)]
    while stack:
        piece = stack.pop()
        if isinstance(piece, str):
            written.append(piece)
            continue
        if len(written) > MAX_PIECES:
            raise ExpressionTooLargeError("the expression is too large to be written as text")
        node, place = piece
        pieces = _pieces(node, dialect, quote_symbols)
        if _binding(node) < place:
            stack.append(")")
            stack.extend(reversed(pieces))
            stack.append("(")
        else:
            stack.extend(reversed(pieces))
    return "".join(written)


def number_text(value: Fraction) -> str:
    """A number as a short exact decimal where there is one, as `p/q` otherwise.

    >>> number_text(Fraction(1, 10)), number_text(Fraction(-1, 3))
    ('0.1', '-1/3')
    """
    decimal = _short_decimal(value)
    return decimal if decimal is not None else _quotient_text(value)


def name_text(name: str) -> str:
    """A name, in back quotes where it could be misread."""
    if is_flat_name(name):
        return name
    return "`" + json.dumps(name)[1:-1].replace("`", "\\u0060") + "`"


def _quotient_text(value: Fraction) -> str:
    return f"{_integer_text(value.numerator)}/{_integer_text(value.denominator)}"


def _integer_text(value: int) -> str:
    """An integer; a very long one as a sum of shorter parts, which parsing adds up again."""
    if -_LONG < value < _LONG:
        return str(value)
    parts = []
    rest = abs(value)
    while rest:
        rest, part = divmod(rest, _LONG)
        parts.append(part)
    text = str(parts.pop())
    for part in reversed(parts):
        text = f"({text}*10^{MAX_DIGITS} + {part})"
    return text if value > 0 else f"-{text}"


def _short_decimal(value: Fraction) -> str | None:
    """The exact decimal notation, where it has at most six digits after the point."""
    if value.denominator == 1:
        return _integer_text(value.numerator)
    if 10**6 % value.denominator or abs(value.numerator) >= 10**15:
        return None
    scaled = abs(value.numerator) * (10**6 // value.denominator)
    whole, rest = divmod(scaled, 10**6)
    return f"{'-' if value < 0 else ''}{whole}.{rest:06d}".rstrip("0")


def _binding(node: Expression) -> int:
    """How tightly the printed form of a node holds together."""
    if node.op is Op.CONSTANT:
        if _short_decimal(node.constant) is None:
            return PRODUCT
        return UNARY if node.constant < 0 else ATOM
    if node.op is Op.MULTIPLY and node.args[0].value == -1 and len(node.args) == 2:
        return UNARY
    return _BINDING.get(node.op, ATOM)


def _pieces(node: Expression, dialect: Dialect, quote_symbols: bool) -> list[_Piece]:
    """What a node is made of, each operand with how tightly it must hold together."""
    writer = _WRITERS.get(node.op)
    if writer is not None:
        return writer(node)
    if node.op in COMPARISONS:
        sign = dialect.equality[0] if node.op is Op.EQUAL else str(node.op.value)
        return [(node.args[0], SUM), f" {sign} ", (node.args[1], SUM)]
    if node.op is Op.AND:
        return _joined(node, f" {dialect.conjunction[0]} ", NOT)
    if node.op is Op.OR:
        return _joined(node, f" {dialect.disjunction[0]} ", AND)
    if node.op is Op.SYMBOL:
        return [json.dumps(node.name) if quote_symbols else name_text(node.name)]
    return _call(node)


def _joined(node: Expression, separator: str, place: int) -> list[_Piece]:
    pieces: list[_Piece] = []
    for part in node.args:
        pieces += (separator, (part, place))
    return pieces[1:]


def _call(node: Expression) -> list[_Piece]:
    """`name(a, b)`"""
    if node.op is Op.LOOKUP:
        name = name_text(node.table.name)
    elif node.op is Op.EXTERNAL:
        name = name_text(node.name)
    else:
        name = node.op.value
    return [f"{name}(", *_joined(node, ", ", WHOLE), ")"]


def _sum(node: Expression) -> list[_Piece]:
    """`a - 2*b + 1`; a constant comes first where that saves a leading minus sign."""
    terms = node.args
    if terms[-1].op is Op.CONSTANT and terms[-1].constant > 0 and _is_negative(terms[0]):
        terms = (terms[-1], *terms[:-1])
    pieces: list[_Piece] = [(terms[0], SUM)]
    for term in terms[1:]:
        if _is_negative(term):
            pieces.append(" - ")
            pieces.extend(_negated(term))
        else:
            pieces += (" + ", (term, PRODUCT))
    return pieces


def _is_negative(term: Expression) -> bool:
    """Whether a term is written with a minus sign in front."""
    number = term.args[0] if term.op is Op.MULTIPLY else term
    return number.op is Op.CONSTANT and number.constant < 0


def _negated(term: Expression) -> list[_Piece]:
    """A negative term without its minus sign."""
    if term.op is Op.CONSTANT:
        return [number_text(-term.constant)]
    number, rest = -term.args[0].constant, term.args[1:]
    if number == 1 and len(rest) == 1:
        return [(rest[0], PRODUCT)]
    return _scaled(number, rest)


def _product(node: Expression) -> list[_Piece]:
    """`-2*x*y`, `x/8`, `-(a/b)`"""
    first = node.args[0]
    if first.op is not Op.CONSTANT:
        return _scaled(Fraction(1), node.args)
    if first.constant < 0:
        leading = _scaled(-first.constant, node.args[1:])
        # A quotient after the sign would be read as (-a)/b.
        place = UNARY if isinstance(leading[0], tuple) else WHOLE
        if place == UNARY:
            leading[0] = (cast(tuple[Expression, int], leading[0])[0], UNARY)
        return ["-", *leading]
    return _scaled(first.constant, node.args[1:])


def _scaled(number: Fraction, factors: tuple[Expression, ...]) -> list[_Piece]:
    """A positive number times one or more factors."""
    suffix = ""
    pieces: list[_Piece] = []
    if number != 1:
        decimal = _short_decimal(number)
        if number.numerator == 1 and number.denominator not in _POWERS_OF_TEN:
            suffix = f"/{_integer_text(number.denominator)}"
        elif decimal is not None:
            pieces = [decimal, "*"]
        else:
            pieces = [_quotient_text(number), "*"]
    for index, factor in enumerate(factors):
        if index:
            pieces.append("*")
        pieces.append((factor, UNARY if pieces else PRODUCT))
    return [*pieces, suffix] if suffix else pieces


def _quotient(node: Expression) -> list[_Piece]:
    return [(node.args[0], PRODUCT), "/", (node.args[1], UNARY)]


def _power(node: Expression) -> list[_Piece]:
    return [(node.args[0], ATOM), "^", (node.args[1], UNARY)]


def _not(node: Expression) -> list[_Piece]:
    part = node.args[0]
    return ["!", (part, ATOM if part.op in COMPARISONS else NOT)]


def _conditional(node: Expression) -> list[_Piece]:
    condition, then, otherwise = node.args
    return [(condition, OR), " ? ", (then, OR), " : ", (otherwise, WHOLE)]


def _quantifier(node: Expression) -> list[_Piece]:
    low, high, body = node.args
    head = f"{node.op.value} {node.name} in "
    return [head, (low, SUM), "..", (high, SUM), " : ", (body, WHOLE)]


def _selection(node: Expression) -> list[_Piece]:
    pieces: list[_Piece] = []
    indices = iter(node.args)
    for position, (name, indexed) in enumerate(cast(tuple[tuple[str, bool], ...], node.value)):
        pieces.append(f".{name}" if position else name)
        if indexed:
            pieces += ("[", (next(indices), WHOLE), "]")
    return pieces


def _place(node: Expression) -> list[_Piece]:
    component, location = (json.dumps(part, ensure_ascii=False) for part in node.place)
    return [f"at({component}, {location})"]


_WRITERS: Mapping[Op, Callable[[Expression], list[_Piece]]] = {
    Op.CONSTANT: lambda node: [number_text(node.constant)],
    Op.BOOLEAN: lambda node: ["true" if node.value else "false"],
    Op.VARIABLE: lambda node: [name_text(node.name)],
    Op.AT: _place,
    Op.ADD: _sum,
    Op.MULTIPLY: _product,
    Op.DIVIDE: _quotient,
    Op.POWER: _power,
    Op.NOT: _not,
    Op.IF: _conditional,
    Op.FORALL: _quantifier,
    Op.SUM: _quantifier,
    Op.SELECT: _selection,
}
