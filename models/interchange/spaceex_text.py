"""Names and formulas as SpaceEx spells them; what it cannot spell is refused by name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fractions import Fraction

from workbench.models.automaton import Constraint, Range, primed
from workbench.models.expressions.dialect import FUNCTIONS, SPACEEX
from workbench.models.expressions.expression import (
    Expression,
    boolean,
    conjunction,
    disjunction,
    negation,
    variable,
)
from workbench.models.expressions.operators import COMPARISONS, Op
from workbench.models.expressions.printing import to_text
from workbench.models.expressions.traversal import postorder, rebuild, substitute
from workbench.models.interchange.spaceex_components import refusal
from workbench.models.source import ModelError, Span

MAX_NESTING = 1_000
"""How deeply conjunctions and disjunctions may alternate in what is written."""

MAX_DECIMALS = 40
"""How many digits after the point a number may have to be written as a decimal."""

# A fraction of two literals; not the end of `x^2/8`, which is a quotient of a power.
_FRACTION = re.compile(r"(?<![\w.^])(?<!\^-)(\d+)/(\d+)(?![\w.])", re.ASCII)

_FUNCTIONS = frozenset({Op.SIN, Op.COS, Op.TAN, Op.EXP, Op.LOG, Op.SQRT, Op.ABSOLUTE})
_ARITHMETIC = frozenset({Op.CONSTANT, Op.VARIABLE, Op.ADD, Op.MULTIPLY, Op.DIVIDE, Op.POWER})
_OPPOSITE = {
    Op.LESS: Op.GREATER_EQUAL,
    Op.LESS_EQUAL: Op.GREATER,
    Op.GREATER: Op.LESS_EQUAL,
    Op.GREATER_EQUAL: Op.LESS,
    Op.EQUAL: Op.NOT_EQUAL,
    Op.NOT_EQUAL: Op.EQUAL,
}
_WORDS = frozenset({"true", "false", "forall", "sum", "at", "loc", *FUNCTIONS})
_CONSTRUCTS = {
    Op.IF: "a conditional expression",
    Op.LOOKUP: "a lookup table",
    Op.EXTERNAL: "an external function",
    Op.SYMBOL: "a value of an enumeration",
    Op.BOOLEAN: "a truth value used as a number",
    Op.NOT: "a negation",
    Op.OR: "a disjunction",
    Op.NOT_EQUAL: "an inequation !=",
    Op.AT: "a condition on locations",
    Op.VARIABLE: "a variable used as a condition",
}


class Spelling:
    """SpaceEx identifiers for names of any shape, all different within one kind."""

    def __init__(self, names: Iterable[str]) -> None:
        self.visible: dict[str, str] = {}
        taken: set[str] = set()
        plain = list(names)
        for name in plain:
            if _is_identifier(name):
                self.visible[name] = name
                taken.add(name)
        for name in plain:
            if name not in self.visible:
                base = _identifier(name)
                made, count = base, 1
                while made in taken:
                    count += 1
                    made = f"{base}_{count}"
                taken.add(made)
                self.visible[name] = made

    def __getitem__(self, name: str) -> str:
        return self.visible[name]

    @property
    def changed(self) -> dict[str, str]:
        """The original names of those that had to be spelled otherwise."""
        return {new: old for old, new in self.visible.items() if new != old}


def _is_identifier(name: str) -> bool:
    return re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII) is not None and name not in _WORDS


def _identifier(name: str) -> str:
    made = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_") or "_"
    if made[0].isdigit():
        made = "_" + made
    return made + "_" if made in _WORDS else made


def unsupported(op: Op, span: Span | None, where: str) -> ModelError:
    """The error for a construct that SpaceEx has no notation for."""
    named = _CONSTRUCTS.get(op, f"the function {op.value}")
    return refusal(
        "not-in-spaceex", f"{where} has {named}, which SpaceEx models cannot express", span
    )


class FormulaWriter:
    """Formulas of one automaton in SpaceEx's notation."""

    def __init__(self, names: Spelling, automaton: str, component: str, locations: Spelling):
        self.automaton = automaton
        self.renaming: dict[str, Expression] = {}
        for old, new in names.visible.items():
            self.renaming[old] = variable(new)
            self.renaming[primed(old)] = variable(primed(new))
        self.component = component
        self.locations = locations

    def number(self, root: Expression, span: Span | None, where: str) -> str:
        """An arithmetic expression."""
        nodes = list(postorder(root))
        for node in reversed(nodes):  # the outermost construct says most
            if node.op not in _ARITHMETIC and node.op not in _FUNCTIONS:
                raise unsupported(node.op, span, where)
            if node.op is Op.VARIABLE and node.name not in self.renaming:
                raise refusal(
                    "not-in-spaceex",
                    f"{where} reads {node.name!r}, an auxiliary "
                    "value that SpaceEx models cannot name",
                    span,
                )
        return _in_decimals(to_text(substitute(root, self.renaming), SPACEEX))

    def condition(self, root: Expression, span: Span | None, where: str, *, sets: bool) -> str:
        """A condition. Guards and invariants are conjunctions of comparisons; `sets` of
        states (initial, forbidden) may have disjunctions and places too."""
        if root.depth > MAX_NESTING and root.op in (Op.AND, Op.OR):
            raise refusal("not-in-spaceex", f"{where} is nested too deeply to be written", span)
        texts: dict[int, str] = {}
        for node in _boolean_postorder(root):
            texts[id(node)] = self._boolean(node, texts, span, where, sets)
        return texts[id(root)]

    def _boolean(
        self, node: Expression, texts: Mapping[int, str], span: Span | None, where: str, sets: bool
    ) -> str:
        if node.op in COMPARISONS and (sets or node.op is not Op.NOT_EQUAL):
            left, right = (self.number(a, span, where) for a in node.args)
            return f"{left} {node.op.value} {right}"
        if node.op is Op.BOOLEAN:
            return "true" if node.value else "false"
        if node.op is Op.AND:
            return " & ".join(
                f"({texts[id(a)]})" if a.op is Op.OR else texts[id(a)] for a in node.args
            )
        if sets and node.op is Op.OR:
            return " | ".join(texts[id(a)] for a in node.args)
        if sets and node.op is Op.AT:
            return self._place(node, "==")
        if sets and node.op is Op.NOT and node.args[0].op is Op.AT:
            return self._place(node.args[0], "!=")
        raise unsupported(node.op, span, where)

    def _place(self, node: Expression, sign: str) -> str:
        component, location = node.place
        if component != self.automaton or location not in self.locations.visible:
            raise refusal(
                "not-in-spaceex",
                f"a condition speaks of {location!r} in {component!r}, which is not there",
                node.span,
            )
        return f"loc({self.component}) {sign} {self.locations[location]}"

    def bounds(
        self, name: str, given: Range, span: Span | None, where: str, *, prime: bool
    ) -> list[str]:
        """A range as comparisons: an equation, or one for each bound."""
        shown = self.renaming[primed(name) if prime else name].name
        if given.exact is not None:
            return [f"{shown} == {self.number(given.exact, span, where)}"]
        lows = _arguments(given.low, Op.MAXIMUM)
        highs = _arguments(given.high, Op.MINIMUM)
        texts = [f"{self.number(low, span, where)} <= {shown}" for low in lows]
        texts += [f"{shown} <= {self.number(high, span, where)}" for high in highs]
        return texts or [f"{shown} == {shown}"]

    def constraints(self, given: Iterable[Constraint], span: Span | None, where: str) -> list[str]:
        """Flows or resets over primed names."""
        found: list[str] = []
        for constraint in given:
            if constraint.variable not in self.renaming:
                raise refusal(
                    "not-in-spaceex",
                    f"{where} binds {constraint.variable!r}, an auxiliary value that SpaceEx "
                    "models cannot name",
                    constraint.span or span,
                )
            place = constraint.span or span
            found += self.bounds(constraint.variable, constraint.range, place, where, prime=True)
        return found


def _boolean_postorder(root: Expression) -> list[Expression]:
    """The truth-valued nodes above comparisons, parts before the whole."""
    found: list[Expression] = []
    stack = [(root, False)]
    while stack:
        node, expanded = stack.pop()
        if expanded or node.op not in (Op.AND, Op.OR):
            found.append(node)
        else:
            stack.append((node, True))
            stack.extend((a, False) for a in reversed(node.args))
    return found


def _arguments(bound: Expression | None, op: Op) -> tuple[Expression, ...]:
    if bound is None:
        return ()
    return bound.args if bound.op is op else (bound,)


def opposite(root: Expression) -> Expression:
    """The negation with `not` pushed down to comparisons and places; undone by itself for
    conditions in that form."""

    def turned(node: Expression, args: tuple[Expression, ...]) -> Expression:
        if node.op in _OPPOSITE:
            return Expression(_OPPOSITE[node.op], node.args, None, node.span)
        if node.op is Op.AND:
            return disjunction(*args)
        if node.op is Op.OR:
            return conjunction(*args)
        if node.op is Op.NOT:
            return node.args[0]
        if node.op is Op.BOOLEAN:
            return boolean(not node.value)
        if node.op is Op.AT:
            return negation(node)
        return node

    return rebuild(root, turned)


def decimal(value: Fraction) -> str:
    """A number for an option: a decimal where there is an exact one."""
    return _in_decimals(to_text(Expression(Op.CONSTANT, (), value), SPACEEX))


def _in_decimals(text: str) -> str:
    """The text with literal fractions as decimals, where these are exact: `1/8` is 0.125."""
    return _FRACTION.sub(_as_decimal, text)


def _as_decimal(match: re.Match[str]) -> str:
    if not int(match[2]):
        return match[0]
    value = Fraction(int(match[1]), int(match[2]))
    scale = 10**MAX_DECIMALS
    if scale % value.denominator:
        return match[0]
    whole, rest = divmod(value.numerator * (scale // value.denominator), scale)
    return f"{whole}.{rest:0{MAX_DECIMALS}d}".rstrip("0").rstrip(".")
