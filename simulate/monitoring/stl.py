"""Signal temporal logic: formulas and their text.

    formula     =  formula "->" formula  |  formula "||" formula  |  formula "&&" formula
                |  formula "until" [interval] formula
                |  "!" formula  |  ("always" | "eventually") [interval] formula
                |  "(" formula ")"  |  condition
    interval    =  "[" number "," (number | "inf") "]"

`->` binds loosest and to the right, then `||`, `&&`, `until`; a condition is a comparison
or truth value of the model's expressions, e.g. `always[0,20](speed < 120 && rpm < 4750)`.
Without an interval an operator looks at all later times. The parser keeps open operators on
a stack: no text is nested too deeply for it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from workbench.models.expressions.expression import Expression
from workbench.models.expressions.text import parse_expression
from workbench.models.record import record
from workbench.models.source import Diagnostic, ModelError, Span

MAX_LENGTH = 100_000


class Temporal(StrEnum):
    """What a node of a formula does with the formulas below it."""

    CONDITION = "condition"
    NOT = "!"
    AND = "&&"
    OR = "||"
    IMPLIES = "->"
    ALWAYS = "always"
    EVENTUALLY = "eventually"
    UNTIL = "until"


@record
class Node:
    """One step of a formula in postfix form; `low` and `high` bound the interval."""

    kind: Temporal
    low: float = 0.0
    high: float = math.inf
    condition: Expression | None = None


@dataclass(frozen=True)
class Formula:
    """A formula in postfix form: operands before their operators."""

    nodes: tuple[Node, ...]
    text: str = ""

    @property
    def conditions(self) -> Iterator[Expression]:
        """The conditions on states that occur."""
        return (n.condition for n in self.nodes if n.condition is not None)

    def over(self, change: Callable[[Expression], Expression]) -> Formula:
        """The formula with every condition changed."""
        nodes = (
            n if n.condition is None else replace(n, condition=change(n.condition))
            for n in self.nodes
        )
        return Formula(tuple(nodes), self.text)

    @property
    def horizon(self) -> float:
        """How much of a run decides the formula: the sum of nested upper bounds."""
        stack: list[float] = []
        for node in self.nodes:
            if node.kind is Temporal.CONDITION:
                stack.append(0.0)
                continue
            parts = [stack.pop() for _ in range(_ARITY[node.kind])]
            timed = node.kind in _TIMED
            stack.append(max(parts) + (node.high if timed else 0.0))
        return stack[-1]


_ARITY = {
    Temporal.NOT: 1,
    Temporal.ALWAYS: 1,
    Temporal.EVENTUALLY: 1,
    Temporal.AND: 2,
    Temporal.OR: 2,
    Temporal.IMPLIES: 2,
    Temporal.UNTIL: 2,
}
_TIMED = (Temporal.ALWAYS, Temporal.EVENTUALLY, Temporal.UNTIL)
_BINDING = {Temporal.IMPLIES: 1, Temporal.OR: 2, Temporal.AND: 3, Temporal.UNTIL: 4}
_UNARY_BINDING = 5
_PREFIX = re.compile(r"(!(?!=))|(always|eventually)\b(?!\s*[.(\[]?\s*=)")
_INFIX = re.compile(r"(->)|(&&)|(\|\|)|(until)\b")
_INTERVAL = re.compile(r"\s*\[\s*([^,\]]{1,40})\s*,\s*([^,\]]{1,40})\s*\]")
_SPACE = re.compile(r"\s*")


def parse_formula(text: str, file: str = "<formula>") -> Formula:
    """The formula that a text denotes; raises ModelError with the place of a mistake."""
    if len(text) > MAX_LENGTH:
        raise ModelError(Diagnostic("formula-length", "the formula is too long"))
    return _Parser(text, file).parse()


class _Parser:
    def __init__(self, text: str, file: str):
        self.text, self.file = text, file
        self.closing = self._matching()
        self.output: list[Node] = []
        self.operators: list[tuple[Node, int] | int] = []  # an int is an open parenthesis
        self.at = 0

    def parse(self) -> Formula:
        expecting = True
        while True:
            self.at = _SPACE.match(self.text, self.at).end()  # type: ignore[union-attr]
            if self.at >= len(self.text):
                break
            expecting = self._operand() if expecting else self._operator()
        if expecting:
            raise self._wrong("the formula ends where a condition is expected")
        self._unwind(0)
        if self.operators:
            raise self._wrong("this parenthesis is not closed", self.operators[-1])
        return Formula(tuple(self.output), self.text.strip())

    def _operand(self) -> bool:
        """Read what an operand may start with; True if an operand is still expected."""
        if match := _PREFIX.match(self.text, self.at):
            self.at = match.end()
            kind = Temporal.NOT if match[1] else Temporal(match[2])
            low, high = (0.0, math.inf) if kind is Temporal.NOT else self._interval()
            self.operators.append((Node(kind, low, high), _UNARY_BINDING))
            return True
        if self.text[self.at] == "(" and self._is_group(self.at):
            self.operators.append(self.at)
            self.at += 1
            return True
        self._condition()
        return False

    def _operator(self) -> bool:
        """Read what may follow an operand; True if an operand is expected next."""
        if self.text[self.at] == ")":
            self._unwind(0)
            if not self.operators:
                raise self._wrong("this parenthesis was never opened", self.at)
            self.operators.pop()
            self.at += 1
            return False
        match = _INFIX.match(self.text, self.at)
        if match is None:
            raise self._wrong("expected `&&`, `||`, `->` or `until`", self.at)
        self.at = match.end()
        kind = Temporal(match[0])
        low, high = self._interval() if kind is Temporal.UNTIL else (0.0, math.inf)
        binding = _BINDING[kind]
        self._unwind(binding + 1 if kind is Temporal.IMPLIES else binding)
        self.operators.append((Node(kind, low, high), binding))
        return True

    def _unwind(self, binding: int) -> None:
        """Apply waiting operators that bind at least so tightly."""
        while self.operators:
            top = self.operators[-1]
            if isinstance(top, int) or top[1] < binding:
                return
            self.output.append(top[0])
            self.operators.pop()

    def _interval(self) -> tuple[float, float]:
        match = _INTERVAL.match(self.text, self.at)
        if match is None:
            after = _SPACE.match(self.text, self.at)
            if after is not None and self.text[after.end() : after.end() + 1] == "[":
                raise self._wrong("an interval reads [low, high]", after.end())
            return 0.0, math.inf
        place, self.at = self.at, match.end()
        bounds = []
        for part in match.groups():
            try:
                bounds.append(float(part))
            except ValueError:
                raise self._wrong(f"`{part.strip()}` is not a number", place) from None
        low, high = bounds
        if not 0.0 <= low <= high or math.isinf(low):
            raise self._wrong("an interval needs 0 <= low <= high", place)
        return low, high

    def _condition(self) -> None:
        start, at = self.at, self.at
        text = self.text
        while at < len(text):
            if text[at] == ")" or (_INFIX.match(text, at) and not _inside_word(text, at)):
                break
            at = self.closing.get(at, at) + 1
        part = text[start:at]
        if not part.strip():
            raise self._wrong("a condition is expected here", start)
        line = text.count("\n", 0, start) + 1
        column = start - (text.rfind("\n", 0, start) + 1) + 1
        found = parse_expression(part.rstrip(), file=self.file, line=line, column=column)
        self.output.append(Node(Temporal.CONDITION, condition=found))
        self.at = at

    def _is_group(self, at: int) -> bool:
        """Whether a parenthesis encloses a formula, not a part of a condition: what follows
        it does not go on with arithmetic or a comparison."""
        end = self.closing.get(at)
        if end is None:
            raise self._wrong("this parenthesis is not closed", at)
        after = _SPACE.match(self.text, end + 1).end()  # type: ignore[union-attr]
        return (
            after >= len(self.text)
            or self.text[after] == ")"
            or _INFIX.match(self.text, after) is not None
        )

    def _matching(self) -> dict[int, int]:
        """For every opening bracket or quote, the place where it closes."""
        closing: dict[int, int] = {}
        open_at: list[int] = []
        at = 0
        while at < len(self.text):
            c = self.text[at]
            if c in '"`':
                end = self.text.find(c, at + 1)
                if end < 0:
                    raise self._wrong("this quotation does not end", at)
                closing[at] = end
                at = end
            elif c in "([":
                open_at.append(at)
            elif c in ")]" and open_at:
                closing[open_at.pop()] = at
            at += 1
        return closing

    def _wrong(self, message: str, place: object = None) -> ModelError:
        at = place if isinstance(place, int) else len(self.text)
        line = self.text.count("\n", 0, at) + 1
        column = at - (self.text.rfind("\n", 0, at) + 1) + 1
        span = Span(self.file, line, column, line, column + 1)
        hint = "for example: always[0,20](speed < 120)"
        return ModelError(Diagnostic("formula", message, span, hint))


def _inside_word(text: str, at: int) -> bool:
    """Whether `until` at this place is a part of a longer name."""
    return text[at].isalpha() and at > 0 and (text[at - 1].isalnum() or text[at - 1] in "_.")
