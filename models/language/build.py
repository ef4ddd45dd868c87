"""From reduced grammar rules to the nodes of the syntax tree.

The parser calls the method named after each rule (or its alias in `grammar.lark`) with the
values of the rule's symbols: tokens, and what other methods of this class have made. What
is wrong but does not stop the parser is reported here, at its place.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Any

from models.automaton import EventKind, Kind, PropertyKind
from models.expression import (
    FUNCTIONS_OF_ONE,
    ZERO,
    Expression,
    ExpressionTooLargeError,
    Op,
    add,
    boolean,
    compare,
    conditional,
    conjunction,
    constant,
    disjunction,
    divide,
    external,
    function,
    maximum,
    minimum,
    multiply,
    negation,
    power,
    variable,
)
from models.hierarchy import Access
from models.language import syntax
from models.language.lexical import Token
from models.source import Diagnostic, Span
from models.table import Interpolation

MAX_DIGITS = 400
"""The most digits of a number, and the largest exponent after `e`."""
MAX_DEPTH = 400
"""How deep expressions may be nested."""

_ACCESS = {
    "read": Access.READ,
    "input": Access.READ,
    "write": Access.WRITE,
    "output": Access.WRITE,
    "readwrite": Access.READ_WRITE,
    "private": Access.PRIVATE,
    "local": Access.PRIVATE,
}
_FUNCTIONS = {op.value: op for op in FUNCTIONS_OF_ONE} | {"atan2": Op.ATAN2}
_EXTREMA = {"min": minimum, "max": maximum}
BUILT_IN_FUNCTIONS = frozenset(_FUNCTIONS) | frozenset(_EXTREMA)
"""The functions every model may call."""


class _Arguments:
    """What stands between the parentheses of a call or an instance."""

    __slots__ = ("values",)

    def __init__(self, values: tuple[Expression, ...]):
        self.values = values


class Builder:
    """The maker of syntax nodes for one file; `last` is the last token read."""

    def __init__(self, file: str):
        self.file = file
        self.last = Token("", "", 0, 1, 1)
        self.problems: list[Diagnostic] = []

    # Places

    def _span(self, first: Any) -> Span:
        """From a token or node to the last token read."""
        start = first if type(first) is Token else first.span
        last = self.last
        return Span(self.file, start.line, start.column, last.line, last.column + len(last.text))

    def _identifier(self, token: Token) -> syntax.Identifier:
        return syntax.Identifier(token.text, token.span(self.file))

    def report(self, code: str, message: str, span: Span | None, hint: str | None = None) -> None:
        """Note something wrong that does not stop the parser."""
        self.problems.append(Diagnostic(code, message, span, hint))

    # Files

    def start(self, c: list[Any]) -> tuple[syntax.TopLevel, ...]:
        return tuple(x for x in c if x is not None)

    def nothing(self, c: list[Any]) -> None:
        return None

    def first(self, c: list[Any]) -> Any:
        return c[0]

    def import_declaration(self, c: list[Any]) -> syntax.ImportDeclaration:
        return syntax.ImportDeclaration(_unquoted(c[1]), self._span(c[0]))

    def constant_declaration(self, c: list[Any]) -> syntax.ConstantDeclaration:
        return syntax.ConstantDeclaration(c[1], self._identifier(c[2]), c[4], self._span(c[0]))

    def extern_declaration(self, c: list[Any]) -> syntax.ExternDeclaration:
        types = c[4] if type(c[4]) is tuple else ()
        return syntax.ExternDeclaration(
            c[1], self._identifier(c[2]), types, c[-2], self._span(c[0])
        )

    def origin(self, c: list[Any]) -> str | None:
        return _unquoted(c[1]) if c else None

    def types(self, c: list[Any]) -> tuple[syntax.TypeName, ...]:
        return tuple(c[::2])

    def table_declaration(self, c: list[Any]) -> syntax.TableDeclaration:
        axis, rows = self._rows(c[7])
        return syntax.TableDeclaration(
            self._identifier(c[1]), c[3], c[5], axis, rows, self._span(c[0])
        )

    def _rows(self, cells: list[tuple[Expression | None, Expression, bool]]) -> Any:
        """Cells in rows: a cell with a key begins a new row, one with a bare colon the axis."""
        axis: list[Expression] = []
        rows: list[tuple[Expression, list[Expression]]] = []
        current: list[Expression] | None = None
        for key, value, begins in cells:
            if begins and key is None:
                if axis or rows:
                    self.report(
                        "table-axis",
                        "the row without a number before `:` must come first, once",
                        value.span,
                    )
                current = axis
            elif key is not None:
                current = []
                rows.append((key, current))
            if current is None:
                self.report(
                    "table-row",
                    "a row of a table begins with its coordinate and `:`",
                    value.span,
                    "write each row as `coordinate: value`, e.g. `{ 0: 1, 2: 5 }`",
                )
                current = []
            current.append(value)
        return tuple(axis), tuple((key, tuple(values)) for key, values in rows)

    def table_arguments(self, c: list[Any]) -> tuple[syntax.Identifier, ...]:
        return tuple(c[::2])

    def table_argument(self, c: list[Any]) -> syntax.Identifier:
        return self._identifier(c[1])

    def interpolation(self, c: list[Any]) -> Interpolation:
        return Interpolation(c[0].text)

    def cells(self, c: list[Any]) -> list[Any]:
        return c[::2]

    def cell(self, c: list[Any]) -> tuple[Expression | None, Expression, bool]:
        return None, c[0], False

    def keyed_cell(self, c: list[Any]) -> tuple[Expression | None, Expression, bool]:
        return c[0], c[2], True

    def axis_cell(self, c: list[Any]) -> tuple[Expression | None, Expression, bool]:
        return None, c[1], True

    def system_declaration(self, c: list[Any]) -> syntax.SystemDeclaration:
        arguments = c[2].values if type(c[2]) is _Arguments else ()
        return syntax.SystemDeclaration(self._identifier(c[1]), arguments, c[-2], self._span(c[0]))

    def horizon(self, c: list[Any]) -> Expression | None:
        return c[1] if c else None

    # Agents and modes

    def agent_definition(self, c: list[Any]) -> syntax.AgentDefinition:
        items = [x for x in c[4:-1] if x is not None]
        instances = [x for x in items if type(x) is syntax.Instance]
        tops = tuple(x for x in instances if x.keyword == "mode")
        agents = tuple(x for x in instances if x.keyword == "agent")
        return syntax.AgentDefinition(
            self._identifier(c[1]), c[2], tuple(items), agents, tops, self._span(c[0])
        )

    def mode_definition(self, c: list[Any]) -> syntax.ModeDefinition:
        items = tuple(x for x in c[4:-1] if x is not None)
        return syntax.ModeDefinition(self._identifier(c[1]), c[2], items, self._span(c[0]))

    def parameters(self, c: list[Any]) -> tuple[syntax.FormalParameter, ...]:
        return tuple(c[1:-1:2])

    def parameter(self, c: list[Any]) -> syntax.FormalParameter:
        default = c[3] if len(c) > 2 else None
        return syntax.FormalParameter(c[0], self._identifier(c[1]), default)

    def variables(self, c: list[Any]) -> syntax.VariableDeclaration:
        kind = c[1] if len(c) == 5 else None
        return syntax.VariableDeclaration(_ACCESS[c[0].text], kind, c[-3], c[-2], self._span(c[0]))

    def access(self, c: list[Any]) -> Token:
        token: Token = c[0]
        return token

    def kind(self, c: list[Any]) -> Kind:
        return Kind(c[0].text)

    def type(self, c: list[Any]) -> syntax.TypeName:
        values = tuple(n.name for n in c[2]) if len(c) > 1 else ()
        return syntax.TypeName(c[0].text, values, self._span(c[0]))

    def declared_names(self, c: list[Any]) -> tuple[syntax.DeclaredName, ...]:
        return tuple(c[::2])

    def declared_name(self, c: list[Any]) -> syntax.DeclaredName:
        return syntax.DeclaredName(self._identifier(c[0]), c[1], c[2])

    def extent(self, c: list[Any]) -> syntax.IndexRange | None:
        return syntax.IndexRange(None, c[1], c[3], self._span(c[0])) if c else None

    def first_value(self, c: list[Any]) -> Expression | syntax.Interval | None:
        return c[1] if c else None

    def names(self, c: list[Any]) -> tuple[syntax.Identifier, ...]:
        return tuple(c[::2])

    def identifier(self, c: list[Any]) -> syntax.Identifier:
        return self._identifier(c[0])

    def interval(self, c: list[Any]) -> syntax.Interval:
        return syntax.Interval(c[1], c[3], self._span(c[0]))

    def init_block(self, c: list[Any]) -> syntax.InitBlock:
        items = _statements(c[2:-1])
        return syntax.InitBlock(
            tuple(x for x in items if type(x) is syntax.Setting),
            tuple(x for x in items if type(x) is Expression),
            self._span(c[0]),
        )

    def setting(self, c: list[Any]) -> syntax.Setting:
        return syntax.Setting(c[0], c[2], self._span(c[0]))

    def condition(self, c: list[Any]) -> Expression:
        value: Expression = c[1]
        return value

    def let(self, c: list[Any]) -> syntax.Let:
        return syntax.Let(self._identifier(c[1]), c[3], self._span(c[0]))

    def agent_instance(self, c: list[Any]) -> syntax.Instance:
        return syntax.Instance(
            "agent",
            self._identifier(c[1]),
            c[2],
            self._identifier(c[4]),
            c[5].values,
            c[6],
            self._span(c[0]),
        )

    def mode_instance(self, c: list[Any]) -> syntax.Instance:
        return syntax.Instance(
            "mode",
            self._identifier(c[1]),
            None,
            self._identifier(c[3]),
            c[4].values,
            c[5],
            self._span(c[0]),
        )

    def replication(self, c: list[Any]) -> syntax.IndexRange | None:
        return c[1] if c else None

    def index_range(self, c: list[Any]) -> syntax.IndexRange:
        return syntax.IndexRange(c[0].text, c[2], c[4], self._span(c[0]))

    def renaming(self, c: list[Any]) -> tuple[tuple[syntax.Identifier, Expression], ...]:
        pairs: list[tuple[syntax.Identifier, Expression]] = []
        for k in range(0, len(c), 5):
            own, given = c[k + 1], c[k + 3]
            if len(own) != len(given):
                self.report(
                    "renaming-length",
                    f"{len(own)} names left of `:=` but {len(given)} right of it",
                    self._span(c[k]),
                    "the lists are matched in order: `[ a, b := c, d ]` renames a to c and b to d",
                )
            pairs.extend(zip(own, given, strict=False))
        return tuple(pairs)

    def places(self, c: list[Any]) -> tuple[Expression, ...]:
        return tuple(c[::2])

    def hide(self, c: list[Any]) -> syntax.Hide:
        return syntax.Hide(c[1], self._span(c[0]))

    def claim(self, c: list[Any]) -> syntax.ClaimBlock:
        named = c[1].kind == "STRING"
        kind = PropertyKind.ASSERTION if c[0].text == "assert" else PropertyKind.FORBIDDEN
        return syntax.ClaimBlock(
            kind, _unquoted(c[1]) if named else None, c[3 if named else 2], self._span(c[0])
        )

    def claim_kind(self, c: list[Any]) -> Token:
        token: Token = c[0]
        return token

    def assume(self, c: list[Any]) -> syntax.Assume:
        return syntax.Assume(c[2], self._span(c[0]))

    def predicates(self, c: list[Any]) -> syntax.Predicates:
        return syntax.Predicates(c[1], self._span(c[0]))

    def conditions(self, c: list[Any]) -> tuple[Expression, ...]:
        return tuple(_statements(c[1:-1]))

    def interaction(self, c: list[Any]) -> syntax.InteractionBlock:
        urgent, event, start = self._qualified(c[0], c[1])
        first, first_group, second, second_group = c[4]
        return syntax.InteractionBlock(
            self._identifier(c[2]),
            first,
            first_group,
            second,
            second_group,
            c[6],
            c[7],
            urgent,
            event,
            self._span(start),
        )

    def pair(self, c: list[Any]) -> tuple[syntax.Identifier, ...]:
        first, second = c[0], c[-3]
        groups = (c[2] if len(c) == 7 else c[-1]), c[-1]
        return tuple(map(self._identifier, (first, groups[0], second, groups[1])))

    def qualifiers(self, c: list[Any]) -> list[Token]:
        return c

    def qualifier(self, c: list[Any]) -> Token:
        token: Token = c[0]
        return token

    def _qualified(
        self, words: list[Token], keyword: Token
    ) -> tuple[bool, EventKind | None, Token]:
        """What stands before `trans` or `interaction`: urgency and the kind of event."""
        urgent, event = False, None
        for word in words:
            if word.text == "urgent":
                urgent = True
            elif event not in (None, EventKind(word.text)):
                self.report(
                    "two-event-kinds",
                    f"both `{event}` and `{word.text}`",
                    word.span(self.file),
                    "an event is `unilateral`, `bilateral` or `crossing`; keep one of the words",
                )
            else:
                event = EventKind(word.text)
        return urgent, event, words[0] if words else keyword

    def points(self, c: list[Any]) -> syntax.Points:
        return syntax.Points(c[0].text == "entry", c[1], self._span(c[0]))

    def transition(self, c: list[Any]) -> syntax.TransitionBlock:
        urgent, event, start = self._qualified(c[0], c[1])
        return syntax.TransitionBlock(
            c[2], c[4], c[6], c[7], c[8], urgent, event, self._span(start)
        )

    def label(self, c: list[Any]) -> str | None:
        return c[0].text[1:] if c else None

    def guard(self, c: list[Any]) -> Expression | None:
        return c[1] if c else None

    def actions(self, c: list[Any]) -> tuple[syntax.Setting | syntax.Let, ...]:
        return tuple(_statements(c[2:-1]))

    def control_points(self, c: list[Any]) -> tuple[syntax.PointReference, ...]:
        return tuple(c[::2])

    def control_point(self, c: list[Any]) -> syntax.PointReference:
        second = c[2].text if len(c) == 3 else None
        return syntax.PointReference(c[0].text, second, self._span(c[0]))

    def flows(self, c: list[Any]) -> syntax.Flows:
        return syntax.Flows(tuple(_statements(c[2:-1])), self._span(c[0]))

    def flow(self, c: list[Any]) -> syntax.Relation:
        return syntax.Relation(self._identifier(c[2]), c[4].text, c[5], self._span(c[0]))

    def algebra(self, c: list[Any]) -> syntax.Algebra:
        return syntax.Algebra(tuple(_statements(c[2:-1])), self._span(c[0]))

    def equation(self, c: list[Any]) -> syntax.Relation:
        return syntax.Relation(self._identifier(c[0]), c[1].text, c[2], self._span(c[0]))

    def invariant(self, c: list[Any]) -> syntax.Invariant:
        return syntax.Invariant(c[1], self._span(c[0]))

    # Expressions

    def _made(self, value: Expression, span: Span) -> Expression:
        """The value, known to stand at `span` if it has no place yet, within the limits."""
        if value.depth > MAX_DEPTH:
            self.report(
                "nested-too-deeply", f"this expression is nested more than {MAX_DEPTH} deep", span
            )
            return ZERO.at(span)
        return value if value.span is not None else value.at(span)

    def _too_large(self, span: Span) -> Expression:
        self.report(
            "number-too-large", "this arithmetic leads to an unreasonably long number", span
        )
        return ZERO.at(span)

    def conditional(self, c: list[Any]) -> Expression:
        span = self._span(c[0])
        return self._made(conditional(c[0], c[2], c[4], span), span)

    def quantified(self, c: list[Any]) -> Expression:
        over: syntax.IndexRange = c[1]
        op = Op.FORALL if c[0].text == "forall" else Op.SUM
        span = self._span(c[0])
        return self._made(Expression(op, (over.low, over.high, c[3]), over.index, span), span)

    def disjunction(self, c: list[Any]) -> Expression:
        if len(c) == 1:
            only: Expression = c[0]
            return only
        span = self._span(c[0])
        return self._made(disjunction(*c[::2], span=span), span)

    def conjunction(self, c: list[Any]) -> Expression:
        if len(c) == 1:
            only: Expression = c[0]
            return only
        span = self._span(c[0])
        return self._made(conjunction(*c[::2], span=span), span)

    open_disjunction = disjunction
    open_conjunction = conjunction

    def not_(self, c: list[Any]) -> Expression:
        span = self._span(c[0])
        return self._made(negation(c[1], span), span)

    def compare(self, c: list[Any]) -> Expression:
        span = self._span(c[0])
        return self._made(compare(Op(c[1].text), c[0], c[2], span), span)

    def arithmetic(self, c: list[Any]) -> Expression:
        terms = [c[0]]
        span = self._span(c[0])
        try:
            for k in range(2, len(c), 2):
                term = c[k]
                if c[k - 1].text == "+":
                    terms.append(term)
                elif term.op is Op.ADD:
                    terms.extend(multiply(-1, t, span=t.span) for t in term.args)
                else:
                    terms.append(multiply(-1, term, span=term.span))
            return self._made(add(*terms, span=span), span)
        except ExpressionTooLargeError:
            return self._too_large(span)

    def term(self, c: list[Any]) -> Expression:
        span = self._span(c[0])
        factors = [c[0]]
        try:
            for k in range(2, len(c), 2):
                if c[k - 1].text == "*":
                    factors.append(c[k])
                else:
                    product = factors[0] if len(factors) == 1 else multiply(*factors, span=span)
                    factors = [self._made(divide(product, c[k], span), span)]
            if len(factors) == 1:
                return self._made(factors[0], span)
            return self._made(multiply(*factors, span=span), span)
        except ExpressionTooLargeError:
            return self._too_large(span)

    def minus(self, c: list[Any]) -> Expression:
        span = self._span(c[0])
        return self._made(multiply(-1, c[1], span=span), span)

    def raised(self, c: list[Any]) -> Expression:
        span = self._span(c[0])
        try:
            return self._made(power(c[0], c[2], span), span)
        except ExpressionTooLargeError:
            return self._too_large(span)

    def number(self, c: list[Any]) -> Expression:
        token = c[0]
        span = token.span(self.file)
        value = _number(token.text)
        if value is None:
            self.report(
                "number-too-large",
                f"a number may have {MAX_DIGITS} digits and an exponent up to {MAX_DIGITS}",
                span,
            )
            return ZERO.at(span)
        return constant(value, span)

    def true(self, c: list[Any]) -> Expression:
        return boolean(True, c[0].span(self.file))

    def false(self, c: list[Any]) -> Expression:
        return boolean(False, c[0].span(self.file))

    def group(self, c: list[Any]) -> Expression:
        inner: Expression = c[1]
        return inner.at(self._span(c[0]))

    def place(self, c: list[Any]) -> Expression:
        if len(c) == 1:
            token: Token = c[0]
            return variable(token.text, token.span(self.file))
        span = self._span(c[0])
        steps: list[tuple[str, bool]] = [(c[0].text, False)]
        indices: list[Expression] = []
        k = 1
        while k < len(c):
            if c[k].text == ".":
                steps.append((c[k + 1].text, False))
                k += 2
                continue
            name, indexed = steps[-1]
            if indexed:
                self.report("two-indices", f"`{name}` takes one index in brackets", span)
            else:
                steps[-1] = (name, True)
                indices.append(c[k + 1])
            k += 3
        return self._made(Expression(Op.SELECT, tuple(indices), tuple(steps), span), span)

    def call(self, c: list[Any]) -> Expression:
        name: str = c[0].text
        arguments = c[1].values
        span = self._span(c[0])
        wanted = None
        if name in _EXTREMA:
            if arguments:
                return self._made(_EXTREMA[name](*arguments, span=span), span)
            wanted = "at least one argument"
        elif name in _FUNCTIONS:
            op = _FUNCTIONS[name]
            if len(arguments) == (2 if op is Op.ATAN2 else 1):
                return self._made(function(op, *arguments, span=span), span)
            wanted = "two arguments" if op is Op.ATAN2 else "one argument"
        if wanted:
            self.report(
                "wrong-number-of-arguments",
                f"`{name}` takes {wanted}, not {len(arguments)}",
                span,
            )
            return ZERO.at(span)
        return self._made(external(name, *arguments, span=span), span)

    def arguments(self, c: list[Any]) -> _Arguments:
        return _Arguments(tuple(c[1:-1:2]))


def _unquoted(token: Token) -> str:
    return token.text[1:-1]


def _statements(c: list[Any]) -> list[Any]:
    """The statements of a block, without the semicolons."""
    return [x for x in c if type(x) is not Token]


@lru_cache(maxsize=4096)
def _number(text: str) -> Fraction | None:
    """The exact value of a decimal number: 0.1 is 1/10; None beyond the limits."""
    mantissa, _, exponent = text.lower().partition("e")
    if len(mantissa) > MAX_DIGITS or len(exponent) > 8 or abs(int(exponent or 0)) > MAX_DIGITS:
        return None
    whole, _, decimals = mantissa.partition(".")
    scale = int(exponent or 0) - len(decimals)
    digits = int(whole + decimals)
    return Fraction(digits * 10**scale) if scale >= 0 else Fraction(digits, 10**-scale)
