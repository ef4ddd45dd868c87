"""The typing rules: which values an operation takes and what it yields.

Types are `real`, `int`, `bool` and enumerations. An `int` may stand wherever a `real` is
expected, never the other way round. A name of an enumeration's value has the type of a
bare symbol, which fits every enumeration that lists it. `None` stands for the type of an
expression that was already reported: it fits everywhere, so one mistake is told once.
"""

from __future__ import annotations

from workbench.models.automaton import BOOL, INT, REAL, ValueType
from workbench.models.expressions.expression import ZERO, Expression
from workbench.models.expressions.operators import BOOLEAN_OPERATORS, COMPARISONS, Op
from workbench.models.language.findings import DiagnosticLog, did_you_mean, listed
from workbench.models.source import Span

_WHOLE_IF_ARGUMENTS_ARE = frozenset(
    {Op.ADD, Op.MULTIPLY, Op.MINIMUM, Op.MAXIMUM, Op.ABSOLUTE, Op.POWER}
)
_ALWAYS_WHOLE = frozenset({Op.SIGN, Op.FLOOR})
_SPELLING = {Op.ADD: "+", Op.MULTIPLY: "*", Op.DIVIDE: "/", Op.POWER: "^"}
_BOOLEAN_SPELLING = {Op.AND: "&&", Op.OR: "||", Op.NOT: "!"}


def symbol_type(name: str) -> ValueType:
    """The type of a bare enumeration value."""
    return ValueType("symbol", (name,))


def is_symbolic(kind: ValueType) -> bool:
    """Whether values of the type are symbols."""
    return kind.name in ("enum", "symbol")


def fits(given: ValueType | None, wanted: ValueType) -> bool:
    """Whether a value of type `given` may stand where `wanted` is expected."""
    if given is None or given == wanted:
        return True
    if wanted == REAL:
        return given == INT
    return (
        wanted.name == "enum" and given.name == "symbol" and set(given.values) <= set(wanted.values)
    )


def type_words(kind: ValueType) -> str:
    """The type as a reader would say it."""
    words = {"real": "a real number", "int": "an integer", "bool": "a truth value"}
    if kind.name == "symbol" and len(kind.values) == 1:
        return f"the symbol `{kind.values[0]}`"
    return words.get(kind.name) or f"one of {listed(kind.values)}"


def require(
    findings: DiagnosticLog,
    given: ValueType | None,
    wanted: ValueType,
    span: Span | None,
    context: str,
) -> bool:
    """Report, unless the value fits; `context` says where, e.g. "the guard"."""
    if given is None or fits(given, wanted):
        return True
    hint = None
    if wanted == INT and given == REAL:
        hint = "round it: `floor(...)` gives the integer below"
    elif wanted == BOOL and given.is_numeric:
        hint = "compare it with something, e.g. `... > 0`"
    elif wanted.is_numeric and given == BOOL:
        hint = "choose a number by it: `condition ? 1 : 0`"
    elif given.name == "symbol" and wanted.name == "enum":
        hint = did_you_mean(given.values[0], wanted.values)
    findings.error(
        "type-mismatch",
        f"{context} must be {type_words(wanted)}, but this is {type_words(given)}",
        span,
        hint,
    )
    return False


def result_type(
    findings: DiagnosticLog,
    node: Expression,
    args: tuple[Expression, ...],
    types: tuple[ValueType | None, ...],
) -> ValueType | None:
    """The type of an operation on operands of the given types; misuse is reported."""
    if node.op in COMPARISONS:
        return _comparison(findings, node, args, types)
    if node.op in BOOLEAN_OPERATORS:
        word = _BOOLEAN_SPELLING[node.op]
        for arg, kind in zip(args, types, strict=True):
            require(findings, kind, BOOL, arg.span or node.span, f"an operand of `{word}`")
        return BOOL
    if node.op is Op.IF:
        return _conditional(findings, node, args, types)
    word = _SPELLING.get(node.op, str(node.op))
    sound = [
        require(findings, kind, REAL, arg.span or node.span, f"an operand of `{word}`")
        for arg, kind in zip(args, types, strict=True)
    ]
    if not all(sound) or None in types:
        return None
    if node.op in _ALWAYS_WHOLE:
        return INT
    if node.op in _WHOLE_IF_ARGUMENTS_ARE and all(kind == INT for kind in types):
        negative = node.op is Op.POWER and not (args[1].is_constant and args[1].constant >= 0)
        return REAL if negative else INT
    return REAL


def _comparison(
    findings: DiagnosticLog,
    node: Expression,
    args: tuple[Expression, ...],
    types: tuple[ValueType | None, ...],
) -> ValueType:
    left, right = types
    if left is None or right is None:
        return BOOL
    if node.op not in (Op.EQUAL, Op.NOT_EQUAL):
        for arg, kind in zip(args, types, strict=True):
            require(findings, kind, REAL, arg.span or node.span, f"an operand of `{node.op}`")
    elif not comparable(left, right):
        hint = None
        for one, other in ((left, right), (right, left)):
            if one.name == "symbol" and other.name == "enum":
                near = did_you_mean(one.values[0], other.values)
                hint = near or f"its values are {listed(other.values)}"
        findings.error(
            "type-mismatch",
            f"`{node.op}` compares {type_words(left)} with {type_words(right)}",
            node.span or args[0].span,
            hint,
        )
    return BOOL


def comparable(left: ValueType, right: ValueType) -> bool:
    """Whether `==` between the two makes sense."""
    if left.is_numeric and right.is_numeric:
        return True
    return fits(left, right) or fits(right, left) or left.name == right.name == "symbol"


def _conditional(
    findings: DiagnosticLog,
    node: Expression,
    args: tuple[Expression, ...],
    types: tuple[ValueType | None, ...],
) -> ValueType | None:
    condition, then, otherwise = types
    require(findings, condition, BOOL, args[0].span or node.span, "the condition of `? :`")
    if then is None or otherwise is None:
        return None
    if fits(then, otherwise):
        return otherwise
    if fits(otherwise, then):
        return then
    if then.name == otherwise.name == "symbol":
        return ValueType("symbol", then.values + otherwise.values)
    findings.error(
        "type-mismatch",
        f"the two results of `? :` differ: {type_words(then)} and {type_words(otherwise)}",
        node.span or args[1].span,
    )
    return None


def has_value(findings: DiagnosticLog, node: Expression, span: Span | None) -> bool:
    """Whether an operation on literals has a value; if not, that is reported."""
    first, *others = node.args or (ZERO,)
    if not all(arg.is_constant for arg in others[-1:] or [first]):
        return True
    message = None
    if node.op is Op.DIVIDE:
        message = "this divides by zero"
    elif node.op is Op.SQRT and first.constant < 0:
        message = "this takes the square root of a negative number"
    elif node.op is Op.LOG and first.constant <= 0:
        message = "this takes the logarithm of a number that is not positive"
    elif node.op is Op.POWER and first.is_constant:
        exponent = others[0].constant
        if first.constant == 0 and exponent <= 0:
            message = "zero to this power has no value"
        elif exponent.denominator == 1:
            findings.error("constant-too-large", "this power is too large a number", span)
            return False
    if message is not None:
        findings.error("undefined-value", message, span)
    return message is None
