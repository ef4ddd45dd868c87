"""SpaceEx formulas: text in, expressions over the names of the automaton out.

Flows and assignments are conjunctions in which primed names stand for derivatives and for
values after a jump; they become one range per variable. What is no such conjunction is
refused by name. Strict bounds of derivatives and of assigned values are read as closed
ones, as SpaceEx itself does (an over-approximation by boundary points).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TypeAlias

from workbench.models.automaton import Constraint, Range, primed
from workbench.models.expressions.expression import (
    FALSE,
    TRUE,
    Expression,
    add,
    constant,
    maximum,
    minimum,
    multiply,
    negation,
    subtract,
    variable,
)
from workbench.models.expressions.operators import COMPARISONS, Op
from workbench.models.expressions.text import SPACEEX, parse_expression
from workbench.models.expressions.traversal import (
    conjuncts,
    free_variables,
    postorder,
    rebuild,
    with_arguments,
)
from workbench.models.interchange.spaceex_components import refusal
from workbench.models.interchange.spaceex_config import ConfigEntry
from workbench.models.interchange.xml_door import Element
from workbench.models.sorts import Sort, require_sort
from workbench.models.source import Diagnostic, ModelError, Span

Text: TypeAlias = Element | ConfigEntry
Resolve: TypeAlias = Callable[[str, Span | None], Expression]
"""What a name in a formula stands for."""

Place: TypeAlias = Callable[[str, str, Span | None], Expression]
"""What `loc(component) == location` stands for."""

LOCATION_OF = "loc"
"""`loc(component) == location` in `initially` and `forbidden`."""

MAX_FORMULA = 16 * 1024 * 1024

_NAMES_LIKE_KEYWORDS = re.compile(r"(?<![\w.`'])(sum|forall)(?![\w.`'(])", re.ASCII)
_SWAPPED = {
    Op.LESS: Op.GREATER,
    Op.LESS_EQUAL: Op.GREATER_EQUAL,
    Op.GREATER: Op.LESS,
    Op.GREATER_EQUAL: Op.LESS_EQUAL,
    Op.EQUAL: Op.EQUAL,
}


def read_formula(source: Text, resolve: Resolve) -> Expression:
    """The formula in an element or option, with every name replaced by what it stands for;
    an empty text is `TRUE`. Propositions `loc(c) == l` stay as calls of `loc`."""
    parsed = _parsed(source)

    def replaced(node: Expression, args: tuple[Expression, ...]) -> Expression:
        if node.op is Op.VARIABLE and id(node) not in places:
            return _resolved(node, resolve)
        if node.op is Op.EXTERNAL:
            return node
        if _compares_places(node):
            return node
        return with_arguments(node, args)

    places = _place_names(parsed)
    return rebuild(parsed, replaced)


def read_condition(source: Text, resolve: Resolve) -> Expression:
    """As `read_formula`, refused if it is no condition: all names are numbers."""
    found = read_formula(source, resolve)
    try:
        require_sort(found, Sort.TRUTH, "a condition", lambda name: Sort.NUMBER)
    except ModelError as error:
        whole = source.place(0, len(source.text))
        raise ModelError(*(replace(d, span=d.span or whole) for d in error.diagnostics)) from None
    return found


def _parsed(source: Text) -> Expression:
    text = source.text
    if not text.strip():
        return TRUE
    # A variable may well be called `sum`, which is a keyword of the shared expression syntax.
    quoted = _NAMES_LIKE_KEYWORDS.sub(r"`\1`", text)
    start = source.place(0, 1)
    try:
        return parse_expression(
            quoted,
            externals=frozenset({LOCATION_OF}),
            file=start.file,
            dialect=SPACEEX,
            line=start.line,
            column=start.column,
            max_length=MAX_FORMULA,
        )
    except ModelError as error:
        moved = (_moved(d, source, start) for d in error.diagnostics)
        raise ModelError(*moved) from None


def _moved(problem: Diagnostic, source: Text, start: Span) -> Diagnostic:
    """The diagnostic with its span mapped from the text to the file, past entities."""
    span = problem.span
    if span is None:
        return problem
    lines = source.text.split("\n")
    row = min(span.line - start.line, len(lines) - 1)
    column = span.column - (start.column if row == 0 else 1)
    offset = sum(len(line) + 1 for line in lines[:row]) + max(0, min(column, len(lines[row])))
    width = max(1, span.end_column - span.column) if span.line == span.end_line else 1
    place = source.place(min(offset, max(0, len(source.text) - 1)), offset + width)
    return Diagnostic(problem.code, problem.message, place, problem.hint, problem.severity)


def _place_names(root: Expression) -> set[int]:
    """The nodes that name components and locations, not variables: those in and beside
    calls of `loc`."""
    found: set[int] = set()
    for node in postorder(root):
        if node.op is Op.EXTERNAL or (
            node.op in COMPARISONS and any(a.op is Op.EXTERNAL for a in node.args)
        ):
            found.update(id(a) for a in node.args)
    return found


def _compares_places(node: Expression) -> bool:
    return node.op in COMPARISONS and any(a.op is Op.EXTERNAL for a in node.args)


def _resolved(node: Expression, resolve: Resolve) -> Expression:
    name = node.name.rstrip("'")
    primes = len(node.name) - len(name)
    value = resolve(name, node.span)
    if not primes:
        return value
    if value.op is not Op.VARIABLE or primes > 1:
        problem = "has two primes" if primes > 1 else f"is bound to {value}"
        raise refusal("primed-constant", f"{node.name} {problem}", node.span)
    return variable(primed(value.name), node.span)


def with_places(
    root: Expression, place: Callable[[str, str, Span | None], Expression]
) -> Expression:
    """The formula with every `loc(c) == l` replaced by `place(c, l)`."""

    def replaced(node: Expression, args: tuple[Expression, ...]) -> Expression:
        if _compares_places(node):
            call, where = node.args if node.args[0].op is Op.EXTERNAL else node.args[::-1]
            plain = all(a.op is Op.VARIABLE for a in call.args) and len(call.args) <= 1
            if node.op not in (Op.EQUAL, Op.NOT_EQUAL) or where.op is not Op.VARIABLE or not plain:
                raise _bad_place(node.span)
            component = call.args[0].name if call.args else ""
            made = place(component, where.name, node.span)
            return made if node.op is Op.EQUAL else negation(made)
        return with_arguments(node, args)

    result = rebuild(root, replaced)
    for node in postorder(result):
        if node.op is Op.EXTERNAL:
            raise _bad_place(node.span)
    return result


def _bad_place(span: Span | None) -> ModelError:
    return refusal(
        "location-condition",
        "locations are compared as in loc(component) == location",
        span,
    )


def no_places(root: Expression) -> Expression:
    """The formula, which must not speak about locations (guards, invariants, flows)."""

    def refuse(component: str, location: str, span: Span | None) -> Expression:
        raise refusal("location-condition", "locations have no place in this formula", span)

    return with_places(root, refuse)


@dataclass(slots=True)
class _Bounds:
    """What a conjunction says about one primed variable."""

    lows: dict[Expression, None] = field(default_factory=dict)
    highs: dict[Expression, None] = field(default_factory=dict)
    span: Span | None = None

    @property
    def range(self) -> Range:
        low = maximum(*self.lows) if self.lows else None
        high = minimum(*self.highs) if self.highs else None
        return Range(low, high)


@dataclass(frozen=True, slots=True)
class PrimedRelation:
    """A conjunction over primed names: a range for each, and what has no primed name."""

    ranges: tuple[Constraint, ...]
    others: tuple[Expression, ...]

    @property
    def impossible(self) -> bool:
        """Whether the conjunction is plainly false."""
        return FALSE in self.others


def relation(formula: Expression, what: str, *, plain_equations: bool = False) -> PrimedRelation:
    """A flow or assignment as ranges of the primed variables.

    With `plain_equations`, `x == e` without any prime assigns x, as SpaceEx files often
    write it.
    """
    found: dict[str, _Bounds] = {}
    others: list[Expression] = []
    for part in conjuncts(formula):
        names = sorted(n for n in free_variables(part) if n.endswith("'"))
        if not names and plain_equations and part.op is Op.EQUAL:
            part = _with_assigned_primed(part)
            names = sorted(n for n in free_variables(part) if n.endswith("'"))
        if not names:
            others.append(part)
            continue
        if part.op not in _SWAPPED:
            raise _unsupported(part, what)
        name, op, value = _solved(part, names, what)
        bounds = found.setdefault(name, _Bounds(span=part.span))
        if value is None:
            continue
        if op in (Op.GREATER, Op.GREATER_EQUAL, Op.EQUAL):
            bounds.lows[value] = None
        if op in (Op.LESS, Op.LESS_EQUAL, Op.EQUAL):
            bounds.highs[value] = None
    ranges = tuple(Constraint(n[:-1], b.range, b.span) for n, b in found.items())
    return PrimedRelation(ranges, tuple(others))


def _unsupported(part: Expression, what: str) -> ModelError:
    kind = {Op.OR: "a disjunction", Op.NOT: "a negation", Op.NOT_EQUAL: "an inequation !="}
    named = kind.get(part.op, "this condition")
    return refusal(
        f"unsupported-{what}",
        f"{named} in a{'n' if what[0] in 'aeiou' else ''} {what} is not supported",
        part.span,
        "use a conjunction of equations and bounds, one primed variable in each",
    )


def _with_assigned_primed(part: Expression) -> Expression:
    left, right = part.args
    if left.op is Op.VARIABLE:
        return Expression(Op.EQUAL, (variable(primed(left.name)), right), None, part.span)
    if right.op is Op.VARIABLE:
        return Expression(Op.EQUAL, (left, variable(primed(right.name))), None, part.span)
    return part


def _solved(part: Expression, names: list[str], what: str) -> tuple[str, Op, Expression | None]:
    """The conjunct as `name op value`; no value where it only mentions the name."""
    left, right = part.args
    if left == right and left.op is Op.VARIABLE:
        return left.name, Op.EQUAL, None
    for side, other, op in ((left, right, part.op), (right, left, _SWAPPED[part.op])):
        if side.op is Op.VARIABLE and side.name in names and side.name not in free_variables(other):
            return side.name, op, other
    if len(names) == 1:
        split = _linear_in(subtract(left, right), names[0])
        if split is not None and split[0] != 0:
            factor, rest = split
            op = part.op if factor > 0 else _SWAPPED[part.op]
            terms = rest.args if rest.op is Op.ADD else (rest,)
            return names[0], op, add(*(multiply(-1 / factor, term) for term in terms))
    raise refusal(
        f"unsupported-{what}",
        f"this {what} is no bound of a single primed variable",
        part.span,
        "write it as x' == ... or low <= x' & x' <= high",
    )


def _linear_in(root: Expression, name: str) -> tuple[Fraction, Expression] | None:
    """`root` as factor*name + rest with a constant factor, where it has that form."""
    forms: dict[int, tuple[Fraction, Expression] | None] = {}
    for node in postorder(root):
        forms[id(node)] = _linear_node(node, name, [forms[id(a)] for a in node.args])
    return forms[id(root)]


def _linear_node(
    node: Expression, name: str, parts: list[tuple[Fraction, Expression] | None]
) -> tuple[Fraction, Expression] | None:
    if node.op is Op.VARIABLE and node.name == name:
        return Fraction(1), constant(0)
    known = [p for p in parts if p is not None]
    if len(known) < len(parts):
        return None
    if all(factor == 0 for factor, _ in known):
        return Fraction(0), node
    if node.op is Op.ADD:
        return sum((f for f, _ in known), Fraction(0)), add(*(rest for _, rest in known))
    if node.op is Op.MULTIPLY and len(node.args) == 2 and node.args[0].is_constant:
        factor, rest = known[1]
        return factor * node.args[0].constant, multiply(node.args[0], rest)
    return None


def in_reading_order(resets: Iterable[Constraint], span: Span | None) -> tuple[Constraint, ...]:
    """The resets so that each reads only primed names reset before it, otherwise in the
    order given; a primed name that is not reset at all has its old value."""
    given = list(resets)
    assigned = {primed(r.variable) for r in given}
    kept = {
        name: variable(name[:-1])
        for r in given
        for bound in (r.range.low, r.range.high)
        if bound is not None
        for name in free_variables(bound)
        if name.endswith("'") and name not in assigned
    }
    given = [Constraint(r.variable, r.range.substitute(kept), r.span) for r in given]
    by_name = {primed(r.variable): r for r in given}
    state: dict[str, bool] = {}  # False while what a reset reads is being placed
    found: list[Constraint] = []
    stack = [(name, False) for name in reversed(by_name)]
    while stack:
        name, expanded = stack.pop()
        if expanded:
            state[name] = True
            found.append(by_name[name])
        elif name not in state:
            state[name] = False
            stack.append((name, True))
            bounds = (by_name[name].range.low, by_name[name].range.high)
            reads = free_variables(*(b for b in bounds if b is not None)) & assigned
            stack.extend((read, False) for read in sorted(reads))
        elif not state[name]:
            message = f"the new value of {name[:-1]} depends on itself"
            raise refusal("circular-assignment", message, span)
    return tuple(found)
