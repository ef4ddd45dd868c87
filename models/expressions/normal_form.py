"""Boolean normal forms: negations at the atoms, and disjunctions of conjunctions.

All transformations are exact equivalences over the reals, for expressions that are defined.
Sizes are bounded: `NormalFormTooLargeError` is raised before a disjunction explodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from typing import TypeAlias

from workbench.models.expressions.affine import LinearConstraint, linear_constraint
from workbench.models.expressions.expression import (
    TRUE,
    Expression,
    compare,
    conjunction,
    disjunction,
    negation,
)
from workbench.models.expressions.literals import ExpressionTooLargeError
from workbench.models.expressions.operators import BOOLEAN_OPERATORS, COMPARISONS, Op
from workbench.models.expressions.simplify import OPPOSITE
from workbench.models.expressions.traversal import postorder, rebuild, with_arguments

MAX_CASES = 4_096
"""How many conjunctions a disjunctive normal form may have."""

Conjunction: TypeAlias = tuple[Expression, ...]
"""Literals that hold together: comparisons, Boolean variables, places, or their negations."""


class NormalFormTooLargeError(ExpressionTooLargeError):
    """A normal form would have more cases than allowed."""


def negation_normal_form(root: Expression) -> Expression:
    """An equivalent expression in which negation applies only to variables, places and calls;
    conditionals and equalities between truth values are written out."""
    made: dict[tuple[int, bool], Expression] = {}
    stack: list[tuple[Expression, bool]] = [(root, True)]
    while stack:
        node, positive = stack[-1]
        key = (id(node), positive)
        if key in made:
            stack.pop()
            continue
        needs = _needs(node, positive)
        missing = [(n, p) for n, p in needs if (id(n), p) not in made]
        if missing:
            stack.extend(missing)
            continue
        stack.pop()
        made[key] = _normal(node, positive, [made[id(n), p] for n, p in needs])
    return made[id(root), True]


def _needs(node: Expression, positive: bool) -> list[tuple[Expression, bool]]:
    """The parts of which the normal form is needed, each as it is or negated."""
    if node.op in (Op.AND, Op.OR):
        return [(arg, positive) for arg in node.args]
    if node.op is Op.NOT:
        return [(node.args[0], not positive)]
    if node.op is Op.IF:
        condition, then, otherwise = node.args
        return [(condition, True), (then, positive), (condition, False), (otherwise, positive)]
    if _is_equivalence(node):
        left, right = node.args
        same = positive is (node.op is Op.EQUAL)
        return [(left, True), (right, same), (left, False), (right, not same)]
    return []


def _normal(node: Expression, positive: bool, parts: list[Expression]) -> Expression:
    if node.op in (Op.AND, Op.OR):
        join = conjunction if (node.op is Op.AND) is positive else disjunction
        return join(*parts, span=node.span)
    if node.op is Op.NOT:
        return parts[0]
    if len(parts) == 4:
        both, neither = conjunction(*parts[:2]), conjunction(*parts[2:])
        return disjunction(both, neither, span=node.span)
    return node if positive else opposite(node)


def opposite(atom: Expression) -> Expression:
    """The negation of an atom; of a comparison, the opposite comparison."""
    if atom.op in COMPARISONS:
        return compare(OPPOSITE[atom.op], atom.args[0], atom.args[1], atom.span)
    return negation(atom, atom.span)


def _is_equivalence(node: Expression) -> bool:
    """Whether `==` or `!=` stands between truth values, as far as their form tells."""
    return node.op in (Op.EQUAL, Op.NOT_EQUAL) and any(map(_is_formula, node.args))


def _is_formula(node: Expression) -> bool:
    """Whether an expression is a truth value by its form; a conditional by its results."""
    while node.op is Op.IF:
        node = node.args[1]
    return (
        node.op in COMPARISONS
        or node.op in BOOLEAN_OPERATORS
        or node.op
        in (
            Op.BOOLEAN,
            Op.AT,
        )
    )


def disjunctive_normal_form(
    root: Expression, max_cases: int = MAX_CASES
) -> tuple[Conjunction, ...]:
    """The conjunctions of literals of which at least one must hold.

    No conjunctions mean "never", an empty conjunction means "always". Conjunctions that
    contain a literal and its opposite are left out.
    """
    made: dict[int, list[Conjunction]] = {}
    normal = negation_normal_form(root)
    for node in postorder(normal):
        if node.op is Op.AND:
            made[id(node)] = _crossed([made[id(arg)] for arg in node.args], max_cases)
        elif node.op is Op.OR:
            cases = dict.fromkeys(case for arg in node.args for case in made[id(arg)])
            _check(len(cases), max_cases)
            made[id(node)] = list(cases)
        elif node.op is Op.BOOLEAN:
            made[id(node)] = [()] if node == TRUE else []
        else:
            made[id(node)] = [(node,)]
    return tuple(made[id(normal)])


def _crossed(parts: list[list[Conjunction]], max_cases: int) -> list[Conjunction]:
    """Every way to satisfy one case of each part."""
    # What has a single case goes first and together: it multiplies nothing.
    common = [literal for part in parts if len(part) == 1 for literal in part[0]]
    cases = _consistent([common])
    for part in parts:
        if len(part) != 1:
            _check(len(cases) * len(part), max_cases)
            cases = _consistent((*a, *b) for a, b in product(cases, part))
    return cases


def _consistent(cases: Iterable[Sequence[Expression]]) -> list[Conjunction]:
    """Cases without repeated literals, those that contradict themselves left out."""
    kept: dict[Conjunction, None] = {}
    opposites: dict[Expression, Expression] = {}
    for case in cases:
        literals = dict.fromkeys(case)
        for literal in literals:
            if literal not in opposites:
                opposites[literal] = opposite(literal)
            if opposites[literal] in literals:
                break
        else:
            kept[tuple(literals)] = None
    return list(kept)


def _check(cases: int, max_cases: int) -> None:
    if cases > max_cases:
        raise NormalFormTooLargeError(f"the condition has more than {max_cases} cases")


# Piecewise functions and linear constraints

_PIECEWISE = frozenset({Op.IF, Op.MINIMUM, Op.MAXIMUM, Op.ABSOLUTE})


def without_piecewise(root: Expression, max_cases: int = MAX_CASES) -> Expression:
    """An equivalent condition whose comparisons contain no conditional, `min`, `max` or
    `abs`: `abs(x) <= 1` becomes `x >= 0 && x <= 1 || x < 0 && -x <= 1`."""
    budget = max_cases

    def replace(node: Expression, args: tuple[Expression, ...]) -> Expression:
        nonlocal budget
        node = with_arguments(node, args)
        if node.op not in COMPARISONS or _first_piecewise(node) is None:
            return node
        done: list[Expression] = []
        open_cases: list[tuple[Expression, Expression]] = [(TRUE, node)]
        while open_cases:
            known, atom = open_cases.pop()
            piece = _first_piecewise(atom)
            if piece is None:
                done.append(conjunction(known, atom))
                continue
            budget -= 1
            if budget < 0:
                _check(max_cases + 1, max_cases)
            for condition, value in _pieces(piece):
                open_cases.append((conjunction(known, condition), _replaced(atom, piece, value)))
        return disjunction(*reversed(done))

    return rebuild(root, replace)


def _first_piecewise(atom: Expression) -> Expression | None:
    """A piecewise part of a comparison of numbers that has no other one inside it."""
    if atom.op not in COMPARISONS or any(map(_is_formula, atom.args)):
        return None
    return next((node for node in postorder(atom) if node.op in _PIECEWISE), None)


def _pieces(node: Expression) -> list[tuple[Expression, Expression]]:
    """The conditions of the cases of a piecewise function, with its value in each."""
    if node.op is Op.IF:
        return [(node.args[0], node.args[1]), (negation(node.args[0]), node.args[2])]
    if node.op is Op.ABSOLUTE:
        inner = node.args[0]
        return [(inner >= 0, inner), (inner < 0, -inner)]
    beats = Op.LESS_EQUAL if node.op is Op.MINIMUM else Op.GREATER_EQUAL
    return [
        (conjunction(*(compare(beats, arg, other) for other in node.args if other is not arg)), arg)
        for arg in node.args
    ]


def _replaced(root: Expression, part: Expression, value: Expression) -> Expression:
    def replace(node: Expression, args: tuple[Expression, ...]) -> Expression:
        return value if node == part else with_arguments(node, args)

    return rebuild(root, replace)


def linear_cases(
    root: Expression, max_cases: int = MAX_CASES
) -> tuple[tuple[LinearConstraint, ...], ...] | None:
    """The polyhedra of which a condition is the union: conjunctions of `a.x <= b`,
    `a.x < b` and `a.x == b`; None if some atom is not affine.

    `!=` becomes two cases; constraints without variables are decided.
    """
    prepared = _split_inequations(negation_normal_form(without_piecewise(root, max_cases)))
    found: dict[tuple[LinearConstraint, ...], None] = {}
    for case in disjunctive_normal_form(prepared, max_cases):
        constraints: dict[LinearConstraint, None] = {}
        for literal in case:
            constraint = linear_constraint(literal)
            if constraint is None:
                return None
            if constraint.truth is False:
                break
            if constraint.truth is None:
                constraints[constraint] = None
        else:
            found[tuple(constraints)] = None
    return tuple(found)


def _split_inequations(root: Expression) -> Expression:
    """Every `a != b` between numbers as `a < b || a > b`."""

    def replace(node: Expression, args: tuple[Expression, ...]) -> Expression:
        node = with_arguments(node, args)
        if node.op is Op.NOT_EQUAL and linear_constraint(node) is not None:
            left, right = node.args
            return disjunction(compare(Op.LESS, left, right), compare(Op.GREATER, left, right))
        return node

    return rebuild(root, replace)


__all__ = [
    "MAX_CASES",
    "Conjunction",
    "NormalFormTooLargeError",
    "disjunctive_normal_form",
    "linear_cases",
    "negation_normal_form",
    "opposite",
    "without_piecewise",
]
