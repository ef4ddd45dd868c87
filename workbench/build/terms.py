"""Variables, and expressions over them written with Python's operators.

`==` makes a condition, and on a derivative (`x.d == -x/10`) an equation; `&`, `|` and `~` join
conditions, for Python's `and`, `or` and `not` cannot be given another meaning. A number is exact
(a float means the decimal that Python writes for it); a text is a value of an enumeration.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import NoReturn, TypeAlias

from workbench.api.numbers import Number, exact
from workbench.build.places import Place, checked_name, place
from workbench.models.expressions import expression as made
from workbench.models.expressions.expression import Expression
from workbench.models.expressions.operators import Op
from workbench.models.expressions.printing import to_text

Value: TypeAlias = "Term | int | float | Fraction | Decimal | bool | str"
"""A term, a number, a truth value, or a value of an enumeration."""


class Term:
    """An expression: a number or a condition over variables."""

    __array_ufunc__ = None
    """Numbers of numpy leave operators to terms."""

    def __init__(self, expression: Expression, parts: Mapping[str, Named] | None = None):
        self.expression = expression
        self.parts: Mapping[str, Named] = parts or {}
        """The variables, constants and functions that it mentions, by name."""

    @property
    def text(self) -> str:
        """The expression as the language writes it."""
        return to_text(self.expression)

    def __add__(self, other: Value) -> Term:
        return _joined(made.add, self, other)

    def __radd__(self, other: Value) -> Term:
        return _joined(made.add, other, self)

    def __sub__(self, other: Value) -> Term:
        return _joined(made.subtract, self, other)

    def __rsub__(self, other: Value) -> Term:
        return _joined(made.subtract, other, self)

    def __mul__(self, other: Value) -> Term:
        return _joined(made.multiply, self, other)

    def __rmul__(self, other: Value) -> Term:
        return _joined(made.multiply, other, self)

    def __truediv__(self, other: Value) -> Term:
        return _joined(made.divide, self, other)

    def __rtruediv__(self, other: Value) -> Term:
        return _joined(made.divide, other, self)

    def __pow__(self, other: Value) -> Term:
        return _joined(made.power, self, other)

    def __neg__(self) -> Term:
        return _joined(lambda x: -x, self)

    def __abs__(self) -> Term:
        return _applied(Op.ABSOLUTE, self)

    def __lt__(self, other: Value) -> Term:
        return _compared(Op.LESS, self, other)

    def __le__(self, other: Value) -> Term:
        return _compared(Op.LESS_EQUAL, self, other)

    def __gt__(self, other: Value) -> Term:
        return _compared(Op.GREATER, self, other)

    def __ge__(self, other: Value) -> Term:
        return _compared(Op.GREATER_EQUAL, self, other)

    def __eq__(self, other: Value) -> Term:  # type: ignore[override]
        return _joined(made.equal, self, other)

    def __ne__(self, other: Value) -> Term:  # type: ignore[override]
        return _joined(lambda a, b: made.negation(made.equal(a, b)), self, other)

    __hash__ = object.__hash__

    def __and__(self, other: Term | bool) -> Term:
        return _joined(made.conjunction, self, other)

    def __rand__(self, other: bool) -> Term:
        return _joined(made.conjunction, other, self)

    def __or__(self, other: Term | bool) -> Term:
        return _joined(made.disjunction, self, other)

    def __ror__(self, other: bool) -> Term:
        return _joined(made.disjunction, other, self)

    def __invert__(self) -> Term:
        return _joined(made.negation, self)

    def __bool__(self) -> NoReturn:
        raise TypeError(
            f"`{self.text}` is true or false only in a state: write & | ~ for and, or, not, and"
            " one comparison at a time"
        )

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.text}>"


class Named(Term):
    """Something with a name that a model declares."""

    def __init__(self, name: str):
        super().__init__(made.variable(checked_name(name)), {name: self})
        self.name = name
        self.place = place()


class Variable(Named):
    """A variable; agents and modes declare it as soon as they use it."""

    def __init__(self, name: str, kind: str):
        super().__init__(name)
        self.kind = kind

    @property
    def d(self) -> Derivative:
        """Its derivative with respect to time: `x.d == -x`, `x.d <= 1`, `x.d.within(0, 1)`."""
        return Derivative(self)

    def follows(self, value: Value) -> Equation:
        """The equation by which the variable has this value at all times."""
        return Equation(self, term(value))


def Real(name: str, *, discrete: bool = False) -> Variable:  # noqa: N802 (as a type reads)
    """A real number, which flows, or changes only by transitions if it is `discrete`."""
    return Variable(name, "discrete real" if discrete else "analog real")


def Int(name: str) -> Variable:  # noqa: N802
    """A whole number; it changes only by transitions."""
    return Variable(name, "discrete int")


def Bool(name: str) -> Variable:  # noqa: N802
    """True or false; it changes only by transitions."""
    return Variable(name, "discrete bool")


def Enum(name: str, *values: str) -> Variable:  # noqa: N802
    """One of some words; it changes only by transitions."""
    return Variable(name, f"discrete enum {{ {', '.join(map(checked_name, values))} }}")


class Constant(Named):
    """A number with a name, which `with_parameters` may change; with `upto` one of which only
    a range is known, and which never changes in a run."""

    def __init__(self, name: str, value: Number, upto: Number | None = None):
        super().__init__(name)
        given = _number(value)
        first = f"= {given}" if upto is None else f"in [{given}, {_number(upto)}]"
        if upto is not None and exact(upto) < exact(value):
            raise ValueError(f"{name} is in an empty range: {upto} is below {value}")
        self.declared = f"const real {name} {first};"


class Function(Named):
    """A Python function of numbers, of which nothing else is known."""

    def __init__(self, name: str, function: Callable[..., float], arguments: int = 1):
        super().__init__(name)
        if isinstance(function, Term) or not callable(function):
            raise TypeError(f"{name} needs a Python function, not {function!r:.60}")
        if not isinstance(arguments, int) or arguments < 0:
            raise TypeError(f"{name} has a number of arguments, not {arguments!r:.60}")
        self.function, self.arguments = function, arguments
        self.declared = f"extern real {name}({', '.join(['real'] * arguments)});"

    def __call__(self, *arguments: Value) -> Term:
        """The function of these arguments."""
        return _called(self, arguments)


class Table(Named):
    """A function of one number given by points; between them it is linear, or keeps the
    `previous` value, and outside them the nearest point counts."""

    def __init__(self, name: str, points: Mapping[Number, Number], *, previous: bool = False):
        super().__init__(name)
        if not isinstance(points, Mapping) or not points:
            raise TypeError(f"{name} needs points, as in {{0: 1, 10: 2.5}}, not {points!r:.60}")
        listed = ", ".join(f"{_number(x)}: {_number(y)}" for x, y in points.items())
        between = "previous" if previous else "linear"
        self.declared = f"table {name}(real at) {between} {{ {listed} }}"

    def __call__(self, argument: Value) -> Term:
        """The value of the table there."""
        return _called(self, (argument,))


@dataclass(frozen=True, eq=False)
class Derivative:
    """How fast a variable changes; compare it to say how."""

    variable: Variable

    def __eq__(self, other: Value) -> Flow:  # type: ignore[override]
        return Flow(self.variable, f"== {term(other).text}", (term(other),))

    def __le__(self, other: Value) -> Flow:
        return Flow(self.variable, f"<= {term(other).text}", (term(other),))

    def __ge__(self, other: Value) -> Flow:
        return Flow(self.variable, f">= {term(other).text}", (term(other),))

    def __lt__(self, other: object) -> NoReturn:
        name = self.variable.name
        raise TypeError(
            f"{name}.d is bounded by <= and >=, or from both sides by {name}.d.within(low, high)"
        )

    __gt__ = __lt__

    def within(self, low: Value, high: Value) -> Flow:
        """Any value between two bounds, another one at every time."""
        bounds = term(low), term(high)
        return Flow(self.variable, f"in [{bounds[0].text}, {bounds[1].text}]", bounds)

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return f"<Derivative {self.variable.name}.d>"


@dataclass(frozen=True, eq=False)
class Flow:
    """How a variable changes while time passes."""

    variable: Variable
    text: str
    terms: tuple[Term, ...]
    place: Place = field(default_factory=place)

    def __bool__(self) -> NoReturn:
        raise TypeError(
            f"the flow of {self.variable.name} is true or false nowhere: it is a part of a mode;"
            " for two bounds write x.d.within(low, high)"
        )

    def __repr__(self) -> str:
        return f"<Flow d({self.variable.name}) {self.text:.80}>"


@dataclass(frozen=True, eq=False)
class Equation:
    """What a variable is at all times."""

    variable: Variable
    value: Term
    place: Place = field(default_factory=place)

    def __repr__(self) -> str:
        return f"<Equation {self.variable.name} == {self.value.text:.80}>"


def term(value: Value) -> Term:
    """A value as a term. Raises TypeError for what is none, and ValueError for what is no finite
    number or no word."""
    if isinstance(value, Function | Table):
        raise TypeError(f"{value.name} is a function: call it, {value.name}(...)")
    if isinstance(value, Term):
        return value
    if isinstance(value, Derivative):
        name = value.variable.name
        raise TypeError(f"the derivative {name}.d is no value: it only stands on the left of ==")
    if isinstance(value, Flow | Equation):
        raise TypeError(f"the equation of {value.variable.name} is no value, but a part of a mode")
    if isinstance(value, bool):
        return Term(made.boolean(value))
    if isinstance(value, str):
        return Term(made.symbol(checked_name(value)))
    try:
        return Term(made.constant(exact(value)))
    except TypeError:
        raise TypeError(
            "a number, a truth value, a word of an enumeration or an expression is expected,"
            f" not {value!r:.60}"
        ) from None


time = Term(made.variable("time"))
"""The time since the start."""


def choose(condition: Term, then: Value, otherwise: Value) -> Term:
    """`then` where the condition holds, `otherwise` where it does not."""
    return _joined(made.conditional, condition, then, otherwise)


def minimum(*values: Value) -> Term:
    """The least of some values."""
    return _joined(made.minimum, *_some(values))


def maximum(*values: Value) -> Term:
    """The greatest of some values."""
    return _joined(made.maximum, *_some(values))


def _some(values: tuple[Value, ...]) -> tuple[Value, ...]:
    if not values:
        raise TypeError("the least or greatest of no values is asked for")
    return values


def sin(x: Value) -> Term:
    """The sine of an angle in radians."""
    return _applied(Op.SIN, x)


def cos(x: Value) -> Term:
    """The cosine of an angle in radians."""
    return _applied(Op.COS, x)


def tan(x: Value) -> Term:
    """The tangent of an angle in radians."""
    return _applied(Op.TAN, x)


def asin(x: Value) -> Term:
    """The angle with this sine."""
    return _applied(Op.ASIN, x)


def acos(x: Value) -> Term:
    """The angle with this cosine."""
    return _applied(Op.ACOS, x)


def atan(x: Value) -> Term:
    """The angle with this tangent."""
    return _applied(Op.ATAN, x)


def atan2(y: Value, x: Value) -> Term:
    """The angle of the point (x, y)."""
    return _applied(Op.ATAN2, y, x)


def sqrt(x: Value) -> Term:
    """The square root."""
    return _applied(Op.SQRT, x)


def exp(x: Value) -> Term:
    """e to this power."""
    return _applied(Op.EXP, x)


def log(x: Value) -> Term:
    """The natural logarithm."""
    return _applied(Op.LOG, x)


def sign(x: Value) -> Term:
    """-1, 0 or 1."""
    return _applied(Op.SIGN, x)


def floor(x: Value) -> Term:
    """The greatest whole number that is not greater."""
    return _applied(Op.FLOOR, x)


def named_in(*terms: Term) -> dict[str, Named]:
    """What some terms mention, by name. Raises ValueError where two things have one name."""
    found: dict[str, Named] = {}
    for one in terms:
        for name, part in one.parts.items():
            if found.setdefault(name, part) is not part:
                raise ValueError(
                    f"two different things are called {name!r}: make each variable once, and use"
                    " it wherever it is meant"
                )
    return found


def _joined(make: Callable[..., Expression], *values: Value) -> Term:
    terms = [term(value) for value in values]
    return Term(make(*(t.expression for t in terms)), named_in(*terms))


def _compared(op: Op, left: Value, right: Value) -> Term:
    return _joined(lambda a, b: made.compare(op, a, b), left, right)


def _applied(op: Op, *values: Value) -> Term:
    return _joined(lambda *args: made.function(op, *args), *values)


def _called(function: Function | Table, arguments: tuple[Value, ...]) -> Term:
    terms = [term(value) for value in arguments]
    call = made.external(function.name, *(t.expression for t in terms))
    return Term(call, named_in(function, *terms))


def _number(value: Number) -> str:
    return to_text(made.constant(exact(value)))
