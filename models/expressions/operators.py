"""What the nodes of an expression do, and the groups that operators form."""

from __future__ import annotations

from enum import StrEnum


class Op(StrEnum):
    """What a node does. The groups below say which sort of value it yields."""

    __hash__ = str.__hash__  # the inherited one is slow, and every node hashes its operator

    # leaves
    CONSTANT = "constant"  # value: Fraction
    BOOLEAN = "boolean"  # value: bool
    SYMBOL = "symbol"  # value: str, a value of an enumeration
    VARIABLE = "variable"  # value: str
    AT = "at"  # value: (component, location): "that component is there"
    # numbers from numbers
    ADD = "add"
    MULTIPLY = "multiply"
    DIVIDE = "divide"
    POWER = "power"
    MINIMUM = "min"
    MAXIMUM = "max"
    ABSOLUTE = "abs"
    SIGN = "sign"
    FLOOR = "floor"
    SQRT = "sqrt"
    EXP = "exp"
    LOG = "log"
    SIN = "sin"
    COS = "cos"
    TAN = "tan"
    ASIN = "asin"
    ACOS = "acos"
    ATAN = "atan"
    ATAN2 = "atan2"
    LOOKUP = "lookup"  # value: Table
    EXTERNAL = "external"  # value: str, a function given by the caller of the API
    # truth values from numbers
    LESS = "<"
    LESS_EQUAL = "<="
    GREATER = ">"
    GREATER_EQUAL = ">="
    EQUAL = "=="
    NOT_EQUAL = "!="
    # truth values from truth values
    AND = "and"
    OR = "or"
    NOT = "not"
    # either
    IF = "if"  # args: condition, then, else
    # surface syntax, resolved away by elaboration
    SELECT = "select"  # value: ((name, indexed), ...); args: the indices, in order
    FORALL = "forall"  # value: index name; args: low, high, body
    SUM = "sum"  # value: index name; args: low, high, body


COMPARISONS = frozenset(
    {Op.LESS, Op.LESS_EQUAL, Op.GREATER, Op.GREATER_EQUAL, Op.EQUAL, Op.NOT_EQUAL}
)
BOOLEAN_OPERATORS = frozenset({Op.AND, Op.OR, Op.NOT})
FUNCTIONS_OF_ONE = frozenset(
    {
        Op.ABSOLUTE,
        Op.SIGN,
        Op.FLOOR,
        Op.SQRT,
        Op.EXP,
        Op.LOG,
        Op.SIN,
        Op.COS,
        Op.TAN,
        Op.ASIN,
        Op.ACOS,
        Op.ATAN,
    }
)
SURFACE = frozenset({Op.SELECT, Op.FORALL, Op.SUM})
