"""What a proof knows about a state: balls, exact numbers, and functions that are exactly zero.

Balls alone cannot tell whether a state lies on a boundary. Two further sorts of knowledge can:
numbers that are known exactly (initial values, constants assigned, clocks), and functions that
were brought to zero by going to the time of a crossing. A function is remembered by what all
its multiples have in common, its polynomial divided by the leading coefficient.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import flint

from workbench.models.expressions.evaluation import exact_operation
from workbench.models.expressions.expression import Expression, subtract
from workbench.models.expressions.literals import ExpressionTooLargeError
from workbench.models.expressions.normal_form import negation_normal_form
from workbench.models.expressions.operators import COMPARISONS, Op
from workbench.models.expressions.polynomial import Polynomial, polynomial_form
from workbench.models.expressions.simplify import simplify
from workbench.models.expressions.traversal import free_variables, postorder
from workbench.simulate.validated.balls import BallEvaluator, GaveUp, ball, sign_test, truth

Decide = Callable[[Expression], bool | None]


@dataclass(frozen=True)
class KnownState:
    """Balls, truth values and symbols by name; the numbers that are known exactly; and the
    keys of the functions that are exactly zero."""

    values: Mapping[str, Any]
    exact: Mapping[str, Fraction]
    zeros: frozenset[object] = frozenset()

    @classmethod
    def exactly(cls, values: Mapping[str, Any]) -> KnownState:
        """A state whose numbers are rational."""
        exact = {n: v for n, v in values.items() if isinstance(v, Fraction)}
        return cls({**values, **{n: ball(v) for n, v in exact.items()}}, exact)

    def truth(self, condition: Expression) -> bool | None:
        """Whether a condition is certainly true (or false)."""
        return truth(condition, self.values, self.settle)

    def settle(self, node: Expression) -> bool | None:
        """The truth of a comparison that balls do not decide."""
        if node.op not in COMPARISONS:
            return None
        known = exact_value(difference(node), self.exact)
        if known is not None:
            return sign_test(node.op, ball(known) if known else flint.arb(0))
        return sign_test(node.op, flint.arb(0)) if key_of(node) in self.zeros else None

    def number(self, expression: Expression) -> Fraction | None:
        """The value of an expression of numbers that are known exactly."""
        return exact_value(expression, self.exact)

    def with_zero(self, node: Expression) -> KnownState:
        """The state where the two sides of a comparison are equal. If that fixes a variable,
        its value is known exactly."""
        state = KnownState(self.values, self.exact, self.zeros | {key_of(node)})
        form = _polynomial(difference(node)) or {}
        named = [m for m in form if m]
        if len(named) == 1 and len(named[0]) == 1 and named[0][0][1] == 1:
            name = named[0][0][0]
            if name in self.values:
                return state.assigned({name: -form.get((), Fraction(0)) / form[named[0]]})
        return state

    def assigned(self, new: Mapping[str, Any]) -> KnownState:
        """The state with other values for some names: rationals are known exactly."""
        exact = {n: v for n, v in self.exact.items() if n not in new}
        exact |= {n: v for n, v in new.items() if isinstance(v, Fraction)}
        balls = {n: ball(v) if isinstance(v, Fraction) else v for n, v in new.items()}
        return KnownState({**self.values, **balls}, exact, self.zeros)

    def without_zeros_of(self, names: Collection[str]) -> KnownState:
        """Functions that read any of these names are no longer known to be zero."""
        kept = frozenset(k for k in self.zeros if not _mentions(k, names))
        return KnownState(self.values, self.exact, kept)


def exact_value(root: Expression, exact: Mapping[str, Fraction]) -> Fraction | None:
    """The value of an expression at rational values, if it is rational."""
    made: dict[int, Fraction | None] = {}
    for node in postorder(root):
        if node.op is Op.CONSTANT:
            made[id(node)] = node.constant
        elif node.op is Op.VARIABLE:
            made[id(node)] = exact.get(node.name)
        else:
            args = [made.get(id(a)) for a in node.args]
            known = tuple(a for a in args if a is not None)
            fits = len(known) == len(args) and node.op not in COMPARISONS
            made[id(node)] = exact_operation(node, known) if fits and known else None
    return made[id(root)]


def difference(node: Expression) -> Expression:
    """Left minus right."""
    left, right = node.args
    return subtract(left, right)


def key_of(node: Expression) -> object:
    """What a comparison tests, the same for all comparisons of proportional functions."""
    if node.op not in COMPARISONS:
        return node
    form = _polynomial(difference(node))
    if form is None:
        return simplify(difference(node))
    lead = next((form[m] for m in sorted(form) if m), None)
    if lead is None:
        return node
    return frozenset((m, c / lead) for m, c in form.items())


def orientation(node: Expression) -> int:
    """The sign by which `left - right` differs from the key's function."""
    form = _polynomial(difference(node)) or {}
    lead = next((form[m] for m in sorted(form) if m), Fraction(1))
    return 1 if lead > 0 else -1


def vanishes(expression: Expression) -> bool:
    """Whether an expression is zero everywhere, as far as polynomials tell."""
    return _polynomial(expression) == {}


def _polynomial(g: Expression) -> Polynomial | None:
    try:
        return polynomial_form(g)
    except ExpressionTooLargeError:
        return None


def _mentions(key: object, names: Collection[str]) -> bool:
    if isinstance(key, frozenset):
        return any(n in names for monomial, _ in key for n, _ in monomial)
    return isinstance(key, Expression) and not free_variables(key).isdisjoint(names)


def depth(condition: Expression, state: KnownState) -> float:
    """How far inside a condition that certainly holds a state is: a lower bound of the distance
    of its comparisons from equality; no bound for those between exact numbers, since no error
    can undo them."""
    made: dict[int, float] = {}
    stack = [(negation_normal_form(condition), False)]
    root = stack[0][0]
    while stack:
        node, ready = stack.pop()
        if node.op in (Op.AND, Op.OR):
            if not ready:
                stack.append((node, True))
                stack.extend((a, False) for a in node.args)
                continue
            parts = [made[id(a)] for a in node.args]
            made[id(node)] = min(parts) if node.op is Op.AND else max(parts)
            continue
        made[id(node)] = _gap(node, state)
    return made[id(root)]


def _gap(node: Expression, state: KnownState) -> float:
    if state.truth(node) is not True:
        return 0.0
    if node.op not in COMPARISONS or node.op is Op.EQUAL:
        return math.inf
    try:
        left, right = BallEvaluator(*node.args)(state.values)
    except GaveUp:
        return 0.0
    if not isinstance(left, flint.arb) or not isinstance(right, flint.arb):
        return math.inf
    if state.number(difference(node)) is not None:
        return math.inf
    return math.nextafter(float((left - right).abs_lower()), 0.0)
