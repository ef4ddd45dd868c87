"""Expressions as a flat register tape: what the stepping core executes.

A tape is a list of instructions (operation, destination, a, b, c) over numbered registers.
Register 0 holds the time, registers 1..n the variables that flow, the next ones the values
that are held while time passes (discrete variables, parameters, input levels), then the
constants, then temporaries. Equal subexpressions are computed once. Truth values are 1.0
and 0.0. `c` is the third operand, or a spare register in which the Taylor recurrence of a
function keeps its companion series (the cosine beside a sine), or -1.

The tape is exact up to one rounding per operation; constants are rounded once, to nearest.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from enum import IntEnum
from fractions import Fraction

from workbench.models.automaton import TIME
from workbench.models.enumeration import plain_members
from workbench.models.expressions.expression import Expression
from workbench.models.expressions.operators import Op
from workbench.models.expressions.table import Interpolation, Table
from workbench.models.expressions.traversal import postorder
from workbench.models.record import record
from workbench.models.source import Diagnostic, ModelError, Span


@plain_members
class Code(IntEnum):
    """The operations of the core; the numbers are those of `core/tape.h`."""

    ADD = 0
    SUBTRACT = 1
    MULTIPLY = 2
    DIVIDE = 3
    NEGATE = 4
    POWER = 5
    MINIMUM = 6
    MAXIMUM = 7
    ABSOLUTE = 8
    SIGN = 9
    FLOOR = 10
    SQRT = 11
    EXP = 12
    LOG = 13
    SIN = 14
    COS = 15
    TAN = 16
    ASIN = 17
    ACOS = 18
    ATAN = 19
    ATAN2 = 20
    LOOKUP1 = 21  # a, table number b
    LOOKUP2 = 22  # a, b, table number c
    EXTERNAL = 23  # first argument register a, function number b, argument count c
    COPY = 24
    LESS = 25
    LESS_EQUAL = 26
    EQUAL = 27
    NOT_EQUAL = 28
    AND = 29
    OR = 30
    NOT = 31
    SELECT = 32  # a ? b : c


OPAQUE_DEGREE = 99
"""The degree noted for what is no polynomial in time and the flowing variables."""

LARGEST_UNROLLED_POWER = 16
"""Integer powers up to this one become multiplications, so that they stay polynomials."""

_COMMUTATIVE = frozenset(
    {Code.ADD, Code.MULTIPLY, Code.MINIMUM, Code.MAXIMUM, Code.AND, Code.OR, Code.EQUAL}
)
_WITH_COMPANION = frozenset(
    {Code.SIN, Code.COS, Code.TAN, Code.ASIN, Code.ACOS, Code.ATAN, Code.ATAN2}
)
_FUNCTIONS: Mapping[Op, Code] = {
    Op.ABSOLUTE: Code.ABSOLUTE,
    Op.SIGN: Code.SIGN,
    Op.FLOOR: Code.FLOOR,
    Op.SQRT: Code.SQRT,
    Op.EXP: Code.EXP,
    Op.LOG: Code.LOG,
    Op.SIN: Code.SIN,
    Op.COS: Code.COS,
    Op.TAN: Code.TAN,
    Op.ASIN: Code.ASIN,
    Op.ACOS: Code.ACOS,
    Op.ATAN: Code.ATAN,
    Op.ATAN2: Code.ATAN2,
}
_CHAINS: Mapping[Op, Code] = {
    Op.MULTIPLY: Code.MULTIPLY,
    Op.MINIMUM: Code.MINIMUM,
    Op.MAXIMUM: Code.MAXIMUM,
    Op.AND: Code.AND,
    Op.OR: Code.OR,
}

Instruction = tuple[int, int, int, int, int]


@record
class FloatTable:
    """A lookup table in floating point: axes and row-major values."""

    axes: tuple[tuple[float, ...], ...]
    values: tuple[float, ...]
    linear: bool


@record
class Tape:
    """A straight-line program; `outputs` are the registers of the compiled expressions."""

    instructions: tuple[Instruction, ...]
    outputs: tuple[int, ...]


class TapeBuilder:
    """Compiles expressions over one register file shared by several tapes.

    `flowing` and `held` name the registers after time; every other variable is an error of
    the caller. Call `tape` once per group of expressions, then read `constants`, `count`,
    `degrees`, `tables` and `externals`.
    """

    def __init__(
        self,
        flowing: Sequence[str],
        held: Sequence[str],
        symbols: Mapping[str, int] | None = None,
    ):
        self._names = {TIME: 0}
        self._names.update({name: 1 + i for i, name in enumerate(flowing)})
        first_held = 1 + len(flowing)
        self._names.update({name: first_held + i for i, name in enumerate(held)})
        self._symbols = dict(symbols or {})
        self._constants: dict[tuple[float, float], int] = {}
        self.count = first_held + len(held)
        self.degrees = [1] * first_held + [0] * len(held)
        self.tables: list[FloatTable] = []
        self._table_numbers: dict[Table, int] = {}
        self.externals: list[str] = []

    @property
    def constants(self) -> dict[int, float]:
        """The value of each constant register."""
        return {register: value for (value, _), register in self._constants.items()}

    def tape(self, *expressions: Expression) -> Tape:
        """The tape that computes the expressions, with common parts computed once."""
        return _Compilation(self).run(expressions)

    def register(self, degree: int) -> int:
        """A new register holding a polynomial of that degree."""
        self.degrees.append(degree)
        self.count += 1
        return self.count - 1

    def constant(self, value: float) -> int:
        """The register of a constant; -0.0 and 0.0 are told apart."""
        key = (value, math.copysign(1.0, value))
        if key not in self._constants:
            self._constants[key] = self.register(0)
        return self._constants[key]

    def name(self, name: str) -> int:
        """The register of a variable."""
        if name not in self._names:
            raise ModelError(
                Diagnostic("unknown-name", f"`{name}` has no value here: nothing defines it")
            )
        return self._names[name]

    def symbol(self, name: str) -> int:
        """The register of a value of an enumeration."""
        return self.constant(float(self._symbols.setdefault(name, len(self._symbols))))

    def table(self, table: Table) -> int:
        """The number of a lookup table."""
        if table not in self._table_numbers:
            self._table_numbers[table] = len(self.tables)
            self.tables.append(
                FloatTable(
                    tuple(tuple(map(number, axis)) for axis in table.axes),
                    tuple(number(v) for row in table.values for v in row),
                    table.interpolation is Interpolation.LINEAR,
                )
            )
        return self._table_numbers[table]

    def external(self, name: str) -> int:
        """The number of a function that the caller of the API provides."""
        if name not in self.externals:
            self.externals.append(name)
        return self.externals.index(name)


def number(value: Fraction, span: Span | None = None) -> float:
    """The nearest floating-point number; what stands at `span` is refused if there is none: an
    infinite number in its place would make nonsense of differences and products."""
    try:
        return float(value)
    except OverflowError:
        digits = (value.numerator.bit_length() - value.denominator.bit_length()) * math.log10(2)
        raise ModelError(
            Diagnostic(
                "number-too-large",
                f"a number of about {'-' if value < 0 else ''}10^{digits:.0f} is too large for"
                " floating point, in which runs are made (up to 1.8 * 10^308)",
                span=span,
                hint="other units make smaller numbers",
            )
        ) from None


class _Compilation:
    """One pass over a group of expressions: emits instructions, reusing equal results."""

    def __init__(self, builder: TapeBuilder):
        self.builder = builder
        self.instructions: list[Instruction] = []
        self.known: dict[tuple[int, int, int, int], int] = {}

    def run(self, expressions: Sequence[Expression]) -> Tape:
        place: dict[int, int] = {}
        for node in postorder(*expressions):
            place[id(node)] = self.node(node, [place[id(a)] for a in node.args])
        outputs = tuple(place[id(e)] for e in expressions)
        return Tape(_needed(self.instructions, outputs), outputs)

    def emit(self, code: Code, a: int, b: int = -1, c: int = -1) -> int:
        if code in _COMMUTATIVE and b < a:
            a, b = b, a
        key = (int(code), a, b, c)
        if key not in self.known:
            degree = self.degree(code, a, b, c)
            target = self.builder.register(degree)
            spare = self.builder.register(degree) if code in _WITH_COMPANION else c
            self.instructions.append((int(code), target, a, b, spare))
            self.known[key] = target
        return self.known[key]

    def degree(self, code: Code, a: int, b: int, c: int) -> int:
        degrees = self.builder.degrees
        if code in (Code.EXTERNAL,):
            return max((degrees[a + i] for i in range(c)), default=0) and OPAQUE_DEGREE
        operands = [a, b, c]
        if code in (Code.LOOKUP1, Code.POWER):
            operands = [a] if code is Code.LOOKUP1 else [a, b]
        elif code is Code.LOOKUP2:
            operands = [a, b]
        used = [degrees[r] for r in operands if r >= 0]
        if not any(used):
            return 0
        if code in (Code.ADD, Code.SUBTRACT, Code.NEGATE, Code.COPY):
            return max(used)
        if code is Code.MULTIPLY:
            return min(OPAQUE_DEGREE, sum(used))
        if code is Code.DIVIDE and degrees[b] == 0:
            return degrees[a]
        return OPAQUE_DEGREE

    def node(self, node: Expression, args: list[int]) -> int:
        """The register of one node, given those of its arguments."""
        op, builder = node.op, self.builder
        if op is Op.VARIABLE:
            return builder.name(node.name)
        if op is Op.CONSTANT:
            return builder.constant(number(node.constant, node.span))
        if op is Op.BOOLEAN:
            return builder.constant(1.0 if node.value else 0.0)
        if op is Op.SYMBOL:
            return builder.symbol(node.name)
        if op is Op.ADD:
            return self.sum(node, args)
        if op is Op.MULTIPLY and node.args[0].is_constant and node.args[0].constant == -1:
            return self.emit(Code.NEGATE, self.chain(Code.MULTIPLY, args[1:]))
        if op in _CHAINS:
            return self.chain(_CHAINS[op], args)
        if op is Op.POWER:
            return self.power(node, args)
        if op in _FUNCTIONS:
            return self.emit(_FUNCTIONS[op], *args)
        return self.rest(node, args)

    def rest(self, node: Expression, args: list[int]) -> int:
        op = node.op
        if op is Op.DIVIDE:
            return self.emit(Code.DIVIDE, *args)
        if op in (Op.LESS, Op.LESS_EQUAL):
            return self.emit(Code.LESS if op is Op.LESS else Code.LESS_EQUAL, *args)
        if op in (Op.GREATER, Op.GREATER_EQUAL):
            return self.emit(Code.LESS if op is Op.GREATER else Code.LESS_EQUAL, *args[::-1])
        if op in (Op.EQUAL, Op.NOT_EQUAL):
            return self.emit(Code.EQUAL if op is Op.EQUAL else Code.NOT_EQUAL, *args)
        if op is Op.NOT:
            return self.emit(Code.NOT, *args)
        if op is Op.IF:
            return self.emit(Code.SELECT, *args)
        if op is Op.LOOKUP:
            table = self.builder.table(node.table)
            if len(args) == 1:
                return self.emit(Code.LOOKUP1, args[0], table)
            return self.emit(Code.LOOKUP2, args[0], args[1], table)
        if op is Op.EXTERNAL:
            return self.call(node, args)
        raise ModelError(
            Diagnostic("not-executable", f"`{op}` cannot be simulated", span=node.span)
        )

    def chain(self, code: Code, args: list[int]) -> int:
        result = args[0]
        for other in args[1:]:
            result = self.emit(code, result, other)
        return result

    def sum(self, node: Expression, args: list[int]) -> int:
        """Left to right; a term (-1)*y is subtracted."""
        result = args[0]
        for term, register in zip(node.args[1:], args[1:], strict=True):
            if term.op is Op.MULTIPLY and term.args[0].is_constant and term.args[0].constant == -1:
                negated = next(i for i in reversed(self.instructions) if i[1] == register)
                result = self.emit(Code.SUBTRACT, result, negated[2])
            else:
                result = self.emit(Code.ADD, result, register)
        return result

    def power(self, node: Expression, args: list[int]) -> int:
        base, exponent = args
        if not node.args[1].is_constant:
            return self.emit(
                Code.EXP, self.emit(Code.MULTIPLY, exponent, self.emit(Code.LOG, base))
            )
        value = node.args[1].constant
        if value == Fraction(1, 2):
            return self.emit(Code.SQRT, base)
        if value.denominator != 1 or not 0 < abs(value) <= LARGEST_UNROLLED_POWER:
            return self.emit(Code.POWER, base, exponent)
        result, square, n = -1, base, abs(value.numerator)
        while n:
            if n & 1:
                result = square if result < 0 else self.emit(Code.MULTIPLY, result, square)
            n >>= 1
            if n:
                square = self.emit(Code.MULTIPLY, square, square)
        if value > 0:
            return result
        return self.emit(Code.DIVIDE, self.builder.constant(1.0), result)

    def call(self, node: Expression, args: list[int]) -> int:
        """A call of a user-supplied function: arguments are copied side by side."""
        builder = self.builder
        first = builder.count
        for register in args:
            target = builder.register(builder.degrees[register])
            self.instructions.append((int(Code.COPY), target, register, -1, -1))
        return self.emit(Code.EXTERNAL, first, builder.external(node.name), len(args))


def _needed(instructions: list[Instruction], outputs: Sequence[int]) -> tuple[Instruction, ...]:
    """The instructions whose results reach an output."""
    wanted, kept = set(outputs), []
    for instruction in reversed(instructions):
        code, target, a, b, c = instruction
        if target not in wanted:
            continue
        kept.append(instruction)
        if code == Code.EXTERNAL:
            wanted.update(range(a, a + c))
        elif code == Code.LOOKUP1:
            wanted.add(a)
        elif code == Code.LOOKUP2:
            wanted.update((a, b))
        else:
            wanted.update((a, b, c))
    return tuple(reversed(kept))
