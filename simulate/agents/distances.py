"""How near two agents must be for a condition on both to be true.

Over-approximation: pairs that are further apart in a coordinate may be left out, and nothing is
missed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from workbench.models.expressions.expression import Expression, subtract
from workbench.models.expressions.operators import COMPARISONS, Op
from workbench.models.expressions.polynomial import (
    Polynomial,
    PolynomialTooLargeError,
    polynomial_form,
)
from workbench.simulate.stepping.condition import split_cases

FIRST, SECOND = "1st", "2nd"
"""In the canonical names `1st 0`, `2nd 3`: whose variable, and its number in its agent."""


def distance_bounds(conditions: Sequence[Expression]) -> dict[tuple[int, int], float]:
    """For pairs of coordinates (of the first agent, of the second): the largest distance at
    which one of the conditions can be true. Over-approximation; empty where nothing is known.
    """
    found: list[dict[tuple[int, int], float]] = [_bounds_of(c) for c in conditions]
    return _either(found)


def _either(cases: Sequence[dict[tuple[int, int], float]]) -> dict[tuple[int, int], float]:
    common = set(cases[0]).intersection(*cases[1:]) if cases else set()
    return {pair: max(case[pair] for case in cases) for pair in sorted(common)}


def _bounds_of(condition: Expression) -> dict[tuple[int, int], float]:
    """Bounds that a condition implies: all of a conjunction's, the common ones of a
    disjunction's."""
    made: dict[int, dict[tuple[int, int], float]] = {}
    stack = [(split_cases(condition), False)]
    root = stack[0][0]
    while stack:
        node, ready = stack.pop()
        if node.op in (Op.AND, Op.OR) and not ready:
            stack.append((node, True))
            stack.extend((a, False) for a in node.args)
        elif node.op is Op.AND:
            joined: dict[tuple[int, int], float] = {}
            for part in node.args:
                for pair, radius in made[id(part)].items():
                    joined[pair] = min(radius, joined.get(pair, math.inf))
            made[id(node)] = joined
        elif node.op is Op.OR:
            made[id(node)] = _either([made[id(a)] for a in node.args])
        else:
            made[id(node)] = _bounds_of_comparison(node)
    return made[id(root)]


def _bounds_of_comparison(node: Expression) -> dict[tuple[int, int], float]:
    if node.op not in COMPARISONS or node.op in (Op.EQUAL, Op.NOT_EQUAL):
        return {}
    left, right = node.args
    if node.op in (Op.GREATER, Op.GREATER_EQUAL):
        left, right = right, left
    try:
        form = polynomial_form(subtract(left, right))
    except PolynomialTooLargeError:
        return {}
    return _sum_of_squares(form) if form else {}


def _sum_of_squares(form: Polynomial) -> dict[tuple[int, int], float]:
    """Bounds from sum of w*(p - q)^2 - c <= 0 with w > 0, c >= 0."""
    rest = dict(form)
    c = -rest.pop((), Fraction(0))
    found: dict[tuple[int, int], float] = {}
    for monomial in [m for m in rest if len(m) == 2]:
        (p, one), (q, other) = monomial
        first, second = (p, q) if p.startswith(FIRST) else (q, p)
        if one != 1 or other != 1 or not first.startswith(FIRST) or not second.startswith(SECOND):
            return {}
        w = -rest.pop(monomial) / 2
        if w <= 0 or rest.pop(((p, 2),), None) != w or rest.pop(((q, 2),), None) != w:
            return {}
        pair = (int(first.split()[1]), int(second.split()[1]))
        found[pair] = math.sqrt(max(c, Fraction(0)) / w) * (1 + 1e-9) + 1e-9
    return {} if rest else found
