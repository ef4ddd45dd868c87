"""Conjunctions of plain bounds (`x <= 3`, `x > 1/2`), decided without a solver.

Most guards and initial sets are of this kind. The answer is exact; anything else is left
undecided, for z3.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from models.automaton import REAL, ValueType
from models.expressions.expression import Expression
from models.expressions.operators import Op
from models.smt.solver import Unsatisfiable, Witness

_MIRRORED = {
    Op.LESS: Op.GREATER,
    Op.LESS_EQUAL: Op.GREATER_EQUAL,
    Op.GREATER: Op.LESS,
    Op.GREATER_EQUAL: Op.LESS_EQUAL,
    Op.EQUAL: Op.EQUAL,
}
_NEGATED = {
    Op.LESS: Op.GREATER_EQUAL,
    Op.LESS_EQUAL: Op.GREATER,
    Op.GREATER: Op.LESS_EQUAL,
    Op.GREATER_EQUAL: Op.LESS,
    Op.NOT_EQUAL: Op.EQUAL,
}


@dataclass(slots=True)
class _Interval:
    """The values a variable may still have."""

    low: Fraction | None = None
    low_open: bool = False
    high: Fraction | None = None
    high_open: bool = False

    def restrict(self, op: Op, bound: Fraction) -> None:
        """Add one comparison with a constant."""
        if op in (Op.GREATER, Op.GREATER_EQUAL, Op.EQUAL):
            is_open = op is Op.GREATER
            if self.low is None or bound > self.low or (bound == self.low and is_open):
                self.low, self.low_open = bound, is_open
        if op in (Op.LESS, Op.LESS_EQUAL, Op.EQUAL):
            is_open = op is Op.LESS
            if self.high is None or bound < self.high or (bound == self.high and is_open):
                self.high, self.high_open = bound, is_open

    def some_value(self) -> Fraction | None:
        """A value inside, a bound where one belongs to it; None if there is none."""
        if self.low is None and self.high is None:
            return Fraction(0)
        if self.low is None:
            assert self.high is not None
            return self.high - 1 if self.high_open else self.high
        if self.high is None:
            return self.low + 1 if self.low_open else self.low
        if self.low > self.high or (self.low == self.high and (self.low_open or self.high_open)):
            return None
        if not self.low_open:
            return self.low
        return (self.low + self.high) / 2 if self.high_open else self.high


def decide(condition: Expression, types: Mapping[str, ValueType]) -> Witness | Unsatisfiable | None:
    """Whether plain bounds can hold together; None where the condition is anything else."""
    intervals: dict[str, _Interval] = {}
    stack = [(condition, False)]
    while stack:
        part, is_negated = stack.pop()
        if part.op is Op.NOT:
            stack.append((part.args[0], not is_negated))
        elif part.op is (Op.OR if is_negated else Op.AND):
            stack.extend((inner, is_negated) for inner in part.args)
        elif part.op is Op.BOOLEAN:
            if bool(part.value) is is_negated:
                return Unsatisfiable()
        else:
            bound = _bound(part, is_negated)
            if bound is None or types.get(bound[0], REAL) != REAL:
                return None
            intervals.setdefault(bound[0], _Interval()).restrict(*bound[1:])
    values: dict[str, Fraction] = {}
    for name in sorted(intervals):
        value = intervals[name].some_value()
        if value is None:
            return Unsatisfiable()
        values[name] = value
    return Witness(values, True)


def _bound(part: Expression, is_negated: bool) -> tuple[str, Op, Fraction] | None:
    op: Op | None = part.op
    if is_negated:
        op = _NEGATED.get(part.op)
    if op not in _MIRRORED:
        return None
    left, right = part.args
    if left.is_constant:
        left, right, op = right, left, _MIRRORED[op]
    if left.op is not Op.VARIABLE or not right.is_constant:
        return None
    return left.name, op, right.constant
