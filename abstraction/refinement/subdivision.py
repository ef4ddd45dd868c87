"""A second opinion on polynomial conditions: intervals in rationals, split until they decide.

`has_no_solution` is a proof: the condition is brought into cases; in each, equations that
define a variable are substituted, single-variable bounds give a box, and the box is halved
until on every piece some literal is certainly false. It gives up where a variable has no
bounds or the pieces become too many.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from workbench.models.expressions.affine import LinearConstraint, linear_constraint
from workbench.models.expressions.expression import Expression
from workbench.models.expressions.normal_form import (
    NormalFormTooLargeError,
    disjunctive_normal_form,
    without_piecewise,
)
from workbench.models.expressions.operators import COMPARISONS, Op
from workbench.models.expressions.traversal import free_variables, postorder, substitute
from workbench.reach.time_limit import check_time

MAX_PIECES = 4_000
Interval = tuple[Fraction, Fraction]
Box = dict[str, Interval]


def has_no_solution(condition: Expression) -> bool:
    """Whether the condition is proved to have no solution; False means "not proved"."""
    try:
        cases = disjunctive_normal_form(without_piecewise(condition), 2_000)
    except NormalFormTooLargeError:
        return False
    return all(_case_is_empty(list(case)) for case in cases)


def enclosed_over(expression: Expression, condition: Expression) -> Interval | None:
    """An interval that contains the expression's values wherever the condition holds, from
    the box around each case; None where nothing is known."""
    found: list[Interval] = []
    try:
        cases = disjunctive_normal_form(without_piecewise(condition), 2_000)
    except NormalFormTooLargeError:
        return None
    for case in cases:
        linear = [linear_constraint(e) for e in case if e.op in COMPARISONS]
        names = free_variables(expression, *case)
        box = _box([c for c in linear if c is not None], names)
        if box is not None:
            values = _enclosed(expression, box)
            if values is None:
                return None
            found.append(values)
    return (min(v[0] for v in found), max(v[1] for v in found)) if found else None


def _case_is_empty(literals: list[Expression]) -> bool:
    literals = _without_definitions(literals)
    linear = [linear_constraint(e) for e in literals if e.op in COMPARISONS]
    names = free_variables(*literals)
    box = _box([c for c in linear if c is not None], names)
    if box is None:
        return True
    nonlinear = {n for e in literals if linear_constraint(e) is None for n in free_variables(e)}
    if not nonlinear <= box.keys():
        return False
    pending, pieces = [box], 0
    while pending:
        check_time()
        piece = pending.pop()
        pieces += 1
        if any(_certainly_false(e, piece) for e in literals):
            continue
        splittable = [n for n in piece if n in nonlinear]
        if pieces > MAX_PIECES or not splittable:
            return False
        name = max(splittable, key=lambda n: piece[n][1] - piece[n][0])
        low, high = piece[name]
        if low == high:
            return False
        middle = (low + high) / 2
        pending += [{**piece, name: (low, middle)}, {**piece, name: (middle, high)}]
    return True


def _without_definitions(literals: list[Expression]) -> list[Expression]:
    """The literals with every `v == e` used to replace v, where e does not mention v."""
    kept = list(literals)
    changed = True
    while changed:
        changed = False
        for literal in kept:
            if literal.op is not Op.EQUAL:
                continue
            for value, other in (literal.args, literal.args[::-1]):
                if value.op is Op.VARIABLE and value.name not in free_variables(other):
                    rest = [e for e in kept if e is not literal]
                    kept = [substitute(e, {value.name: other}) for e in rest]
                    changed = True
                    break
            if changed:
                break
    return kept


def _box(constraints: Sequence[LinearConstraint], names: frozenset[str]) -> Box | None:
    """Bounds of the variables that have both, by propagation; None if they contradict."""
    low: dict[str, Fraction] = {}
    high: dict[str, Fraction] = {}
    for _ in range(4):
        for given in constraints:
            rows = [(given.coefficients, given.bound)]
            if given.relation is Op.EQUAL:
                rows.append((tuple((n, -a) for n, a in given.coefficients), -given.bound))
            elif given.relation is Op.NOT_EQUAL:
                continue
            for coefficients, bound in rows:
                _tighten(coefficients, bound, low, high)
    if any(n in high and low[n] > high[n] for n in low):
        return None
    return {n: (low[n], high[n]) for n in sorted(names) if n in low and n in high}


def _tighten(
    coefficients: Sequence[tuple[str, Fraction]],
    bound: Fraction,
    low: dict[str, Fraction],
    high: dict[str, Fraction],
) -> None:
    """What sum a_i x_i <= bound says about each variable, given bounds of the others."""
    for name, factor in coefficients:
        rest = Fraction(0)
        for other, a in coefficients:
            if other != name:
                known = low if a > 0 else high
                if other not in known:
                    break
                rest += a * known[other]
        else:
            value = (bound - rest) / factor
            if factor > 0:
                high[name] = min(high.get(name, value), value)
            else:
                low[name] = max(low.get(name, value), value)


def _certainly_false(literal: Expression, box: Mapping[str, Interval]) -> bool:
    if literal.op not in COMPARISONS:
        return False
    left, right = (_enclosed(e, box) for e in literal.args)
    if left is None or right is None:
        return False
    if literal.op is Op.LESS_EQUAL:
        return left[0] > right[1]
    if literal.op is Op.LESS:
        return left[0] >= right[1]
    if literal.op is Op.GREATER_EQUAL:
        return left[1] < right[0]
    if literal.op is Op.GREATER:
        return left[1] <= right[0]
    if literal.op is Op.EQUAL:
        return left[0] > right[1] or left[1] < right[0]
    return left == right and left[0] == left[1]


def _enclosed(root: Expression, box: Mapping[str, Interval]) -> Interval | None:
    """An interval that contains every value over the box; None where nothing is known."""
    found: dict[int, Interval | None] = {}
    for node in postorder(root):
        args = [found[id(a)] for a in node.args]
        if node.op is Op.CONSTANT:
            found[id(node)] = (node.constant, node.constant)
        elif node.op is Op.VARIABLE:
            found[id(node)] = box.get(node.name)
        elif node.op in (Op.SIN, Op.COS):
            found[id(node)] = (Fraction(-1), Fraction(1))
        else:
            known = [a for a in args if a is not None]
            found[id(node)] = _operation(node, known) if len(known) == len(args) else None
    return found[id(root)]


def _operation(node: Expression, args: list[Interval]) -> Interval | None:
    if node.op is Op.ADD:
        return sum((a[0] for a in args), Fraction(0)), sum((a[1] for a in args), Fraction(0))
    if node.op is Op.MULTIPLY:
        total = (Fraction(1), Fraction(1))
        for factor in args:
            corners = [a * b for a in total for b in factor]
            total = min(corners), max(corners)
        return total
    if node.op is Op.DIVIDE and not args[1][0] <= 0 <= args[1][1]:
        corners = [a / b for a in args[0] for b in args[1]]
        return min(corners), max(corners)
    if node.op is Op.POWER and args[1][0] == args[1][1]:
        return _power(args[0], args[1][0])
    return None


def _power(base: Interval, exponent: Fraction) -> Interval | None:
    if exponent.denominator != 1 or not 0 <= exponent <= 20:
        return None
    n = int(exponent)
    ends = sorted((base[0] ** n, base[1] ** n))
    if n % 2 == 0 and base[0] <= 0 <= base[1]:
        return Fraction(0), ends[1]
    return ends[0], ends[1]
