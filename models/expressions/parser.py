"""The operator-precedence parser behind `models.expressions.text`, where the grammar is.

Open operators and brackets wait on one stack, finished operands on another. An operator
that arrives first builds those that bind more tightly; sums, products and the Boolean
connectives gather all their operands before they are built, once.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from typing import NoReturn

from workbench.models.expressions.dialect import FUNCTIONS, Dialect
from workbench.models.expressions.expression import (
    Expression,
    add,
    at_location,
    boolean,
    compare,
    conditional,
    conjunction,
    constant,
    disjunction,
    divide,
    external,
    function,
    lookup,
    maximum,
    minimum,
    multiply,
    negation,
    power,
    symbol,
    variable,
)
from workbench.models.expressions.literals import ExpressionTooLargeError
from workbench.models.expressions.operators import Op
from workbench.models.expressions.table import Table
from workbench.models.expressions.tokens import FlatToken, TokenKind, Tokens, unquoted
from workbench.models.source import Diagnostic, ModelError, Span

MAX_NESTING = 100_000
"""How many brackets, conditions and the like may be open at once."""

# How tightly an open operator holds its last operand; BRACKET holds until it is closed.
BRACKET, WHOLE, OR, AND, NOT, COMPARISON, SUM, PRODUCT, UNARY, POWER = range(10)

_COMPARISONS = {
    "<": Op.LESS,
    "<=": Op.LESS_EQUAL,
    ">": Op.GREATER,
    ">=": Op.GREATER_EQUAL,
    "!=": Op.NOT_EQUAL,
}
_GATHERING = frozenset({OR, AND, COMPARISON, SUM, PRODUCT})
_OPERAND = "a number, a name or '('"


@dataclass(slots=True)
class _Open:
    """An operator or bracket whose last operand is still to come.

    `signs` are the operators between the operands gathered so far; `base` is the height
    of the operand stack below the first operand.
    """

    kind: str
    binding: int
    token: FlatToken
    base: int
    signs: list[str] = field(default_factory=list)
    parts: list[tuple[str, bool]] = field(default_factory=list)


class Parser:
    """The state of one parse: operands that are done, operators that are open."""

    def __init__(
        self,
        tokens: Tokens,
        dialect: Dialect,
        symbols: Set[str],
        tables: Mapping[str, Table],
        externals: Set[str],
    ) -> None:
        self.tokens = tokens
        self.symbols = symbols
        self.tables = tables
        self.externals = externals
        self.chained = dialect.chained
        self.binary: dict[str, tuple[str, int]] = {"+": ("addition", SUM), "-": ("addition", SUM)}
        self.binary |= {"*": ("product", PRODUCT), "/": ("product", PRODUCT)}
        self.binary |= dict.fromkeys(dialect.conjunction, ("and", AND))
        self.binary |= dict.fromkeys(dialect.disjunction, ("or", OR))
        self.comparisons = _COMPARISONS | dict.fromkeys(dialect.equality, Op.EQUAL)
        self.binary |= dict.fromkeys(self.comparisons, ("comparison", COMPARISON))
        self.operands: list[Expression] = []
        self.starts: list[int] = []
        self.open: list[_Open] = []
        self.nesting = 0
        self.blamed = tokens.current  # where a result may become too large
        self.end = 0

    def parse(self) -> Expression:
        """The whole text."""
        try:
            while True:
                self.operand()
                if self.operators():
                    return self.operands[0]
        except ExpressionTooLargeError as error:
            self.fail("number-too-large", f"this makes {error}", self.blamed)

    # Operands

    def operand(self) -> None:
        """Prefix operators and opening brackets, up to and including one atom."""
        while True:
            token = self.tokens.take()
            more = False
            if token.kind is TokenKind.SIGN:
                more = self.prefix(token)
            elif token.kind is TokenKind.NUMBER:
                self.push(constant(token.number, self.span(token)), token.start)
            elif token.kind is TokenKind.STRING:
                self.push(symbol(unquoted(token.text), self.span(token)), token.start)
            elif token.kind is TokenKind.QUOTED:
                more = self.name(token, unquoted(token.text))
            elif token.kind is TokenKind.NAME:
                more = self.name(token, token.text)
            else:
                self.unexpected(token, self.wanted_operand())
            if not more:
                return

    def prefix(self, token: FlatToken) -> bool:
        """Open what a sign in front of an operand opens; False if that was all (`f()`)."""
        if token.text == "(":
            self.push_open("bracket", BRACKET, token)
        elif token.text == "-":
            self.push_open("negative", UNARY, token)
        elif token.text == "!":
            if self.open and self.open[-1].binding > NOT:
                self.unexpected(token, _OPERAND, "put the negation in parentheses: (!a)")
            self.push_open("not", NOT, token)
        elif token.text == ")" and self.open and self.open[-1].kind == "call":
            call = self.open[-1]
            if len(self.operands) > call.base or call.signs:
                self.unexpected(token, _OPERAND)
            self.close(token)
            return False
        else:
            self.unexpected(token, self.wanted_operand())
        return True

    def name(self, token: FlatToken, name: str) -> bool:
        """A name, a call, a proposition, a quantifier; True if an operand must follow."""
        following = self.tokens.current.text
        quoted = token.kind is TokenKind.QUOTED
        if name in ("forall", "sum") and not quoted and following != "(":
            self.quantifier(token)
            return True
        if following == "(":
            opening = self.tokens.take()
            if name == "at" and not quoted and self.tokens.current.kind is TokenKind.STRING:
                self.proposition(token)
                return False
            self.check_known(token, name)
            call = self.push_open("call", BRACKET, opening)
            call.token = token
            call.parts = [(name, False)]
            return True
        if not quoted and (following == "[" or self.tokens.current.kind is TokenKind.MEMBER):
            return self.selection(token)
        span = self.span(token)
        if not quoted and name in ("true", "false"):
            self.push(boolean(name == "true", span), token.start)
        elif name in self.symbols:
            self.push(symbol(name, span), token.start)
        else:
            self.push(variable(name, span), token.start)
        return False

    def quantifier(self, token: FlatToken) -> None:
        """`forall i in`; the range and the body follow."""
        index = self.tokens.take()
        if index.kind is not TokenKind.NAME or not index.text.isidentifier():
            self.unexpected(index, "the name of an index")
        word = self.tokens.take()
        if word.text != "in":
            self.unexpected(word, "'in'", f"write: {token.text} {index.text} in 1..3 : ...")
        self.push_open(token.text, BRACKET, token).parts = [(index.text, False)]

    def proposition(self, token: FlatToken) -> None:
        """`at("component", "location")`, after its opening bracket."""
        component = self.tokens.take()
        self.require(",")
        location = self.tokens.take()
        if location.kind is not TokenKind.STRING:
            self.unexpected(location, "a location in double quotes")
        self.require(")")
        place = unquoted(component.text), unquoted(location.text)
        self.push(at_location(*place, span=self.span(token)), token.start)

    def selection(self, token: FlatToken) -> bool:
        """The first part of `car[i].x`; True where an index must follow."""
        parts: list[tuple[str, bool]] = []
        base = len(self.operands)
        for piece in token.text.split("."):
            name, *indices = piece.split("[")
            if len(indices) > 1:
                self.unexpected(self.tokens.current, "an operator")
            parts.append((name, bool(indices)))
            if indices:
                self.push(constant(int(indices[0][:-1])), token.start)
        return self.continue_selection(token, parts, base)

    def continue_selection(
        self, token: FlatToken, parts: list[tuple[str, bool]], base: int
    ) -> bool:
        """More members and indices; True where an index must follow."""
        while self.tokens.current.kind is TokenKind.MEMBER:
            parts.append((self.tokens.take().text[1:].strip(), False))
        if self.tokens.current.text == "[" and not parts[-1][1]:
            parts[-1] = (parts[-1][0], True)
            index = self.push_open("index", BRACKET, self.tokens.take())
            index.token, index.parts, index.base = token, parts, base
            return True
        indices = self.pop_operands(base)
        prime = ""
        while self.tokens.current.text == "'":
            prime += self.tokens.take().text
        whole = all(i.op is Op.CONSTANT and i.constant.denominator == 1 for i in indices)
        if whole:
            numbers = iter(indices)
            flat = ".".join(
                f"{name}[{next(numbers).constant}]" if indexed else name for name, indexed in parts
            )
            self.push(variable(flat + prime, self.span(token)), token.start)
        elif prime:
            self.unexpected(self.tokens.current, "an index that is a whole number before a prime")
        else:
            made = Expression(Op.SELECT, indices, tuple(parts), self.span(token))
            self.push(made, token.start)
        return False

    # Operators

    def operators(self) -> bool:
        """What follows an operand, up to where the next operand begins; True at the end."""
        while True:
            token = self.tokens.current
            known = self.binary.get(token.text) if token.kind is TokenKind.SIGN else None
            if known is not None:
                self.tokens.take()
                self.infix(token, *known)
                return False
            if token.kind is TokenKind.END:
                self.reduce(WHOLE)
                if self.open:
                    self.unclosed(token)
                return True
            if token.kind is not TokenKind.SIGN:
                self.unexpected(token, "an operator")
            self.tokens.take()
            if token.text == "^":
                self.push_open("power", POWER, token, operands=1)
                return False
            if token.text == "?":
                self.reduce(OR)
                self.push_open("then", BRACKET, token, operands=1)
                return False
            self.reduce(WHOLE)
            if not self.open:
                self.unexpected(token, "an operator or the end")
            if self.separator(token):
                return False

    def infix(self, token: FlatToken, kind: str, binding: int) -> None:
        """Open a binary operator, or let the one that is open gather another operand."""
        self.reduce(binding + 1)
        if self.open and self.open[-1].binding == binding:
            current = self.open[-1]
            if kind == "comparison" and not self.chained:
                hint = "join two comparisons with &&: a <= x && x <= b"
                self.fail("chained-comparison", "a comparison of a comparison", token, hint)
            current.signs.append(token.text)
            return
        self.push_open(kind, binding, token, operands=1).signs.append(token.text)

    def separator(self, token: FlatToken) -> bool:
        """Handle `,` `:` `..` and closing brackets; True where an operand must follow."""
        current = self.open[-1]
        if token.text == "," and current.kind == "call":
            current.signs.append(",")
            return True
        if token.text == ":" and current.kind == "then":
            current.kind, current.binding = "else", WHOLE
            return True
        if token.text == ".." and current.kind in ("forall", "sum") and not current.signs:
            current.signs.append("..")
            return True
        if token.text == ":" and current.kind in ("forall", "sum") and current.signs:
            current.binding = WHOLE
            return True
        return self.close(token)

    def close(self, token: FlatToken) -> bool:
        """Close a bracket; True where an operand must follow (a further index)."""
        current = self.open[-1]
        if token.text == "]" and current.kind == "index":
            self.pop_open()
            return self.continue_selection(current.token, current.parts, current.base)
        if token.text != ")" or current.kind not in ("bracket", "call"):
            self.unexpected(token, _CLOSES.get(current.kind, "an operator"))
        self.pop_open()
        if current.kind == "call":
            self.call(current)
        else:
            self.starts[-1] = current.token.start
            self.end = token.end
        return False

    def reduce(self, binding: int) -> None:
        """Build every open operator that binds at least so tightly."""
        while self.open and self.open[-1].binding >= binding:
            self.build(self.pop_open())

    def build(self, done: _Open) -> None:
        """Replace the operands of an operator by its expression."""
        begins = done.kind in ("negative", "not", "forall", "sum")
        start = done.token.start if begins else self.starts[done.base]
        operands = self.pop_operands(done.base)
        span = self.tokens.span(start, self.end)
        self.blamed = done.token
        self.operands.append(self.expression(done, operands, span))
        self.starts.append(start)

    def expression(self, done: _Open, given: tuple[Expression, ...], span: Span) -> Expression:
        """The expression of an operator and its operands."""
        if done.kind == "addition":
            signs = ["+", *done.signs]
            terms = (t if s == "+" else -t for s, t in zip(signs, given, strict=True))
            return add(*terms, span=span)
        if done.kind == "product":
            return _product(done.signs, given, span)
        if done.kind == "comparison":
            pairs = zip(done.signs, given, given[1:], strict=False)
            parts = [compare(self.comparisons[s], a, b, span) for s, a, b in pairs]
            return conjunction(*parts, span=span)
        if done.kind == "and":
            return conjunction(*given, span=span)
        if done.kind == "or":
            return disjunction(*given, span=span)
        if done.kind == "not":
            return negation(given[0], span)
        if done.kind == "negative":
            return multiply(-1, given[0], span=span)
        if done.kind == "power":
            return power(given[0], given[1], span)
        if done.kind == "else":
            return conditional(given[0], given[1], given[2], span)
        op = Op.FORALL if done.kind == "forall" else Op.SUM
        return Expression(op, given, done.parts[0][0], span)

    def call(self, done: _Open) -> None:
        """A built-in function, table or external function, with its arguments."""
        name = done.parts[0][0]
        given = self.pop_operands(done.base)
        span = self.span(done.token)
        if name in FUNCTIONS:
            op = FUNCTIONS[name]
            if op in (Op.MINIMUM, Op.MAXIMUM):
                self.check_count(done.token, name, max(1, len(given)), given)
                build = minimum if op is Op.MINIMUM else maximum
                made = build(*given, span=span)
            else:
                self.check_count(done.token, name, 2 if op is Op.ATAN2 else 1, given)
                made = function(op, *given, span=span)
        elif name in self.tables:
            table = self.tables[name]
            self.check_count(done.token, name, table.dimension, given)
            made = lookup(table, *given, span=span)
        else:
            made = external(name, *given, span=span)
        self.push(made, done.token.start)

    # The stacks

    def push(self, made: Expression, start: int) -> None:
        """A finished operand that begins at `start` and ends with the last token taken."""
        self.operands.append(made)
        self.starts.append(start)
        self.end = self.tokens.end

    def push_open(self, kind: str, binding: int, token: FlatToken, operands: int = 0) -> _Open:
        """Open an operator or bracket; the last `operands` operands are its first ones."""
        if binding not in _GATHERING:
            self.nesting += 1
            if self.nesting > MAX_NESTING:
                message = f"nested more than {MAX_NESTING} levels deep"
                self.fail("nesting-too-deep", message, token)
        entry = _Open(kind, binding, token, len(self.operands) - operands)
        self.open.append(entry)
        return entry

    def pop_open(self) -> _Open:
        """Close the operator or bracket that was opened last."""
        done = self.open.pop()
        if done.binding not in _GATHERING:
            self.nesting -= 1
        return done

    def pop_operands(self, base: int) -> tuple[Expression, ...]:
        """Take all operands above `base` off the stack."""
        given = tuple(self.operands[base:])
        del self.operands[base:], self.starts[base:]
        return given

    # Messages

    def span(self, token: FlatToken) -> Span:
        """From a token to the last one taken."""
        return self.tokens.span(token.start, self.tokens.end)

    def require(self, text: str) -> None:
        """Take a sign that must come next."""
        token = self.tokens.take()
        if token.kind is not TokenKind.SIGN or token.text != text:
            self.unexpected(token, f"'{text}'")

    def check_known(self, token: FlatToken, name: str) -> None:
        """A called function must be built in, a table or an external one."""
        if name in FUNCTIONS or name in self.tables or name in self.externals:
            return
        import difflib

        known = sorted({*FUNCTIONS, *self.tables, *self.externals})
        near = difflib.get_close_matches(name[:100], known, n=1)
        hint = f"did you mean {near[0]}?" if near else f"known functions: {', '.join(known[:30])}"
        self.fail("unknown-function", f"there is no function {name[:100]!r}", token, hint)

    def check_count(
        self, token: FlatToken, name: str, wanted: int, given: tuple[Expression, ...]
    ) -> None:
        """A function must have as many arguments as it takes."""
        if len(given) != wanted:
            arguments = "1 argument" if wanted == 1 else f"{wanted} arguments"
            message = f"{name} takes {arguments}, not {len(given)}"
            self.fail("argument-count", message, token)

    def wanted_operand(self) -> str:
        """What a message says is expected where an operand is missing."""
        return _OPERAND if self.open or self.operands else "an expression"

    def unclosed(self, token: FlatToken) -> NoReturn:
        """Refuse the end of the text inside a bracket."""
        current = self.open[-1]
        hint = f"opened at {self.tokens.span(current.token.start, current.token.end)}"
        self.unexpected(token, _CLOSES.get(current.kind, "an operator"), hint)

    def unexpected(self, token: FlatToken, wanted: str, hint: str | None = None) -> NoReturn:
        """Refuse a token, saying what was expected instead."""
        self.fail(
            "syntax",
            f"expected {wanted}, found {token.described}",
            token,
            hint or self.tokens.hint_for(token),
        )

    def fail(self, code: str, message: str, token: FlatToken, hint: str | None = None) -> NoReturn:
        """Raise the diagnostic at a token."""
        span = self.tokens.span(token.start, token.end)
        raise ModelError(
            Diagnostic(code, message, span, hint), sources={span.file: self.tokens.text}
        )


_CLOSES = {
    "bracket": "')'",
    "call": "',' or ')'",
    "index": "']'",
    "then": "':'",
    "forall": "'..' or ':'",
    "sum": "'..' or ':'",
}


def _product(signs: list[str], given: tuple[Expression, ...], span: Span) -> Expression:
    """Factors and divisors from left to right: `a*b/c*d` is `((a*b)/c)*d`."""
    factors = [given[0]]
    for sign, operand in zip(signs, given[1:], strict=True):
        if sign == "*":
            factors.append(operand)
        elif operand.op is Op.CONSTANT and operand.constant != 0:
            factors.append(constant(1 / operand.constant))
        else:
            factors = [divide(multiply(*factors, span=span), operand, span)]
    return factors[0] if len(factors) == 1 else multiply(*factors, span=span)
