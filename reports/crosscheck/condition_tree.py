"""The robustness of a condition as a tree of minima and maxima over terms."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import prod
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from workbench.models.expressions.expression import Expression, add, multiply
from workbench.models.expressions.operators import Op
from workbench.models.linear import affine

Array: TypeAlias = NDArray[np.float64]

HALF = Fraction(1, 2)
MAX_SPLITS = 6
"""So many absolute values, minima and maxima of one term are written out."""


@dataclass(frozen=True)
class _Step:
    """One node of a tree: a number, an atom, whether an earlier node is positive (infinitely,
    or not at all), or the least or largest of earlier nodes."""

    what: str
    number: float = 0.0
    of: tuple[int, ...] = ()


@dataclass(frozen=True)
class Condition:
    """A condition's robustness as a tree over atoms (numeric expressions, positive where the
    comparison holds)."""

    atoms: tuple[Expression, ...]
    steps: tuple[_Step, ...]

    @cached_property
    def forms(self) -> tuple[tuple[float, tuple[tuple[str, float], ...]] | None, ...]:
        """The atoms that are affine: constant and coefficients."""
        found = map(affine, self.atoms)
        return tuple(
            None
            if f is None
            else (float(f.constant), tuple((n, float(a)) for n, a in f.coefficients.items()))
            for f in found
        )

    def combine(self, values: Array) -> Array:
        """The tree's value from those of its atoms (first axis); monotone in each atom."""
        shape = values.shape[1:]
        found: list[Array] = []
        for step in self.steps:
            if step.what == "number":
                found.append(np.full(shape, step.number))
            elif step.what == "atom":
                found.append(values[step.of[0]])
            elif step.what == "truth":
                found.append(np.where(found[step.of[0]] > 0, math.inf, -math.inf))
            else:
                least = step.what == "min"
                table = np.stack([found[i] for i in step.of])
                found.append(table.min(axis=0) if least else table.max(axis=0))
        return found[-1]


@dataclass(frozen=True)
class _Split:
    """A term as the largest, or the least, of simpler ones."""

    choices: tuple[Expression, ...]
    is_largest: bool


def _split(expression: Expression) -> _Split | None:
    """The term with its first absolute value, minimum or maximum written out: for a factor
    k >= 0, s + k max(a, b) = max(s + k a, s + k b); for k < 0 it is the least of them."""
    terms = _terms(expression)
    for i, (factor, core) in enumerate(terms):
        if core.op not in (Op.ABSOLUTE, Op.MINIMUM, Op.MAXIMUM):
            continue
        inner = core.args
        if core.op is Op.ABSOLUTE:
            inner = (inner[0], multiply(-1, inner[0]))
        rest = [multiply(k, other) for k, other in (*terms[:i], *terms[i + 1 :])]
        choices = tuple(add(*rest, multiply(factor, choice)) for choice in inner)
        return _Split(choices, (core.op is Op.MINIMUM) == (factor < 0))
    return None


def _terms(expression: Expression) -> list[tuple[Fraction, Expression]]:
    """A sum as its terms with their factors; factors of sums are multiplied out."""
    found: list[tuple[Fraction, Expression]] = []
    pending = [(Fraction(1), expression)]
    while pending:
        factor, node = pending.pop()
        if node.op is Op.ADD:
            pending += [(factor, part) for part in reversed(node.args)]
        elif node.op is Op.MULTIPLY and any(a.is_constant for a in node.args):
            factor *= prod((a.constant for a in node.args if a.is_constant), start=Fraction(1))
            pending.append((factor, multiply(*(a for a in node.args if not a.is_constant))))
        else:
            found.append((factor, node))
    return found


class _Compiler:
    """Builds the tree of a condition: for every node the places where it and its negation are."""

    def __init__(self) -> None:
        self.atoms: list[Expression] = []
        self.steps: list[_Step] = []

    def emit(self, step: _Step) -> int:
        self.steps.append(step)
        return len(self.steps) - 1

    def both(self, value: float) -> tuple[int, int]:
        return self.emit(_Step("number", value)), self.emit(_Step("number", -value))

    def atom(self, expression: Expression, splits: int = MAX_SPLITS) -> int:
        """A term; where it has an absolute value, a minimum or a maximum as a summand, what
        these are the least or the largest of."""
        split = _split(expression) if splits else None
        if split is None:
            self.atoms.append(expression)
            return self.emit(_Step("atom", of=(len(self.atoms) - 1,)))
        parts = [self.atom(choice, splits - 1) for choice in split.choices]
        return self.largest(*parts) if split.is_largest else self.least(*parts)

    def truth(self, of: int) -> int:
        return self.emit(_Step("truth", of=(of,)))

    def least(self, *of: int) -> int:
        return self.emit(_Step("min", of=of))

    def largest(self, *of: int) -> int:
        return self.emit(_Step("max", of=of))

    def node(self, node: Expression, args: list[tuple[int, int]]) -> tuple[int, int]:
        if node.op is Op.BOOLEAN:
            return self.both(math.inf if node.value else -math.inf)
        if node.op is Op.VARIABLE:
            is_true, is_false = add(node, -HALF), add(HALF, multiply(-1, node))
            return self.truth(self.atom(is_true)), self.truth(self.atom(is_false))
        if node.op is Op.NOT:
            return args[0][1], args[0][0]
        if node.op is Op.AND:
            return self.least(*(a for a, _ in args)), self.largest(*(b for _, b in args))
        if node.op is Op.OR:
            return self.largest(*(a for a, _ in args)), self.least(*(b for _, b in args))
        if node.op is Op.IF:
            (c, not_c), (a, not_a), (b, not_b) = args
            true = self.largest(self.least(c, a), self.least(not_c, b))
            return true, self.largest(self.least(c, not_a), self.least(not_c, not_b))
        return self.comparison(node)

    def comparison(self, node: Expression) -> tuple[int, int]:
        left, right = node.args
        below = self.atom(add(right, multiply(-1, left)))
        above = self.atom(add(left, multiply(-1, right)))
        if node.op in (Op.LESS, Op.LESS_EQUAL):
            return below, above
        if node.op in (Op.GREATER, Op.GREATER_EQUAL):
            return above, below
        equal, different = self.least(below, above), self.largest(below, above)
        if Op.SYMBOL in (left.op, right.op):
            equal, different = self.symbols(left, right)
        return (equal, different) if node.op is Op.EQUAL else (different, equal)

    def symbols(self, left: Expression, right: Expression) -> tuple[int, int]:
        """Equal values of an enumeration, or different ones: less or more than 1/2 apart, since
        they are numbered."""
        gap = add(right, multiply(-1, left))
        near = (add(gap, HALF), add(multiply(-1, gap), HALF))
        far = (add(gap, -HALF), add(multiply(-1, gap), -HALF))
        equal, different = map(self.atom, near), map(self.atom, far)
        return self.truth(self.least(*equal)), self.truth(self.largest(*different))


_LOGICAL = (Op.AND, Op.OR, Op.NOT, Op.IF, Op.BOOLEAN)


def condition_tree(condition: Expression) -> Condition:
    """The robustness of a condition: in the units of its comparisons; Booleans and values of
    enumerations have no distance, they are right or wrong infinitely."""
    compiler = _Compiler()
    places: dict[int, tuple[int, int]] = {}
    pending: list[tuple[Expression, bool]] = [(condition, False)]
    while pending:
        node, ready = pending.pop()
        if id(node) in places:
            continue
        below = node.args if node.op in _LOGICAL else ()
        if ready or not below:
            places[id(node)] = compiler.node(node, [places[id(a)] for a in below])
        else:
            pending.append((node, True))
            pending.extend((a, False) for a in below)
    compiler.largest(places[id(condition)][0])
    return Condition(tuple(compiler.atoms), tuple(compiler.steps))
