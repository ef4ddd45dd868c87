"""Questions to the solver about a model, within a budget for the whole model.

Most questions are trivial and never reach z3; for the others equal questions are asked
once. What is not decided, because it is too hard or the budget is used up, is counted, so
that the author learns that a check was incomplete.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from workbench.models.automaton import REAL, ValueType
from workbench.models.expressions.affine import linear_constraint
from workbench.models.expressions.expression import FALSE, TRUE, Expression, compare, conjunction
from workbench.models.expressions.operators import COMPARISONS, Op
from workbench.models.expressions.simplify import OPPOSITE
from workbench.models.expressions.traversal import conjuncts, free_variables
from workbench.models.record import record
from workbench.models.smt.solver import Answer, Limits, Session, Unknown, Unsatisfiable, Witness

MAX_QUESTIONS = 250
PER_QUESTION = Limits(resources=400_000, milliseconds=1_000)


class Questions:
    """Satisfiability questions about variables of known types."""

    def __init__(self, types: Mapping[str, ValueType]):
        self._types = types
        self._session: Session | None = None
        self._answers: dict[Expression, Answer] = {}
        self.undecided: list[str] = []

    def ask(self, condition: Expression) -> Answer:
        """A state that satisfies the condition, if the solver knows."""
        if condition == FALSE:
            return Unsatisfiable()
        if condition == TRUE:
            return Witness({}, True)
        known = self._answers.get(condition) or decide(condition, self._types)
        if known is not None:
            return known
        if len(self._answers) >= MAX_QUESTIONS:
            return Unknown(f"more than {MAX_QUESTIONS} questions to the solver")
        if self._session is None:
            self._session = Session(self._types, PER_QUESTION)
        answer = self._session.satisfiable(condition)
        self._answers[condition] = answer
        return answer

    def conflict(self, conditions: list[Expression]) -> list[Expression]:
        """Some of the conditions that contradict each other."""
        if self._session is None:
            self._session = Session(self._types, PER_QUESTION)
        found = self._session.conflict(conditions)
        return [conditions[n] for n in found] if found is not None else conditions


class Facts:
    """Conditions that are known to hold, found again by the variables they mention."""

    def __init__(self, known: Iterable[Expression]):
        self._parts: list[tuple[Expression, frozenset[str]]] = []
        self._by_name: dict[str, list[int]] = {}
        for part in dict.fromkeys(part for whole in known for part in conjuncts(whole)):
            names = free_variables(part)
            for name in names:
                self._by_name.setdefault(name, []).append(len(self._parts))
            self._parts.append((part, names))

    def with_relevant(self, condition: Expression) -> Expression:
        """The condition and those facts that share variables with it, directly or through
        each other."""
        names = set(free_variables(condition))
        frontier = list(names)
        taken: dict[int, Expression] = {}
        while frontier:
            for number in self._by_name.get(frontier.pop(), ()):
                if number not in taken:
                    part, mentioned = self._parts[number]
                    taken[number] = part
                    frontier.extend(mentioned - names)
                    names |= mentioned
        return conjunction(condition, *(taken[number] for number in sorted(taken)))


# Conjunctions of linear comparisons, decided without a solver.
#
# Most guards and initial sets are of this kind, and have few variables. Equations are solved for
# one variable after the other, the inequalities are eliminated by Fourier and Motzkin's method, and
# a state is found by going back. The answer is exact; anything else, and what would grow too large
# that way, is left undecided, for z3.

MAX_ROWS = 60
"""More inequalities than this are left to the solver."""


@record
class _Row:
    """The sum of coefficient * name is at most the bound, or less where `strict`."""

    coefficients: Mapping[str, Fraction]
    bound: Fraction
    strict: bool = False

    def plus(self, factor: Fraction, other: _Row) -> _Row:
        """This row and a multiple of another one."""
        total = dict(self.coefficients)
        for name, value in other.coefficients.items():
            total[name] = total.get(name, Fraction(0)) + factor * value
        kept = {name: value for name, value in total.items() if value}
        return _Row(kept, self.bound + factor * other.bound, self.strict or other.strict)

    @property
    def is_impossible(self) -> bool:
        """Whether a row without variables is false."""
        return self.bound < 0 or (self.strict and self.bound == 0)


@dataclass(slots=True)
class _Interval:
    """The values a variable may still have."""

    low: Fraction | None = None
    low_open: bool = False
    high: Fraction | None = None
    high_open: bool = False

    def at_least(self, bound: Fraction, is_open: bool) -> None:
        """Leave out what is less."""
        if self.low is None or bound > self.low or (bound == self.low and is_open):
            self.low, self.low_open = bound, is_open

    def at_most(self, bound: Fraction, is_open: bool) -> None:
        """Leave out what is more."""
        if self.high is None or bound < self.high or (bound == self.high and is_open):
            self.high, self.high_open = bound, is_open

    def some_value(self) -> Fraction:
        """A value inside, a bound where one belongs to it. There is one."""
        if self.low is None and self.high is None:
            return Fraction(0)
        if self.low is None:
            assert self.high is not None
            return self.high - 1 if self.high_open else self.high
        if self.high is None:
            return self.low + 1 if self.low_open else self.low
        if not self.low_open:
            return self.low
        return (self.low + self.high) / 2 if self.high_open else self.high


def decide(condition: Expression, types: Mapping[str, ValueType]) -> Witness | Unsatisfiable | None:
    """Whether linear comparisons of real variables can hold together; None where the condition
    is anything else."""
    found = _rows(condition, types)
    if found is None:
        return None
    equations, rows = found
    names = sorted({name for row in (*equations, *rows) for name in row.coefficients})
    solved: list[tuple[str, _Row]] = []
    while equations:
        equation = equations.pop()
        if not equation.coefficients:
            if equation.bound:
                return Unsatisfiable()
            continue
        name = min(equation.coefficients)
        solved.append((name, equation))
        equations = [_without(name, equation, row) for row in equations]
        rows = [_without(name, equation, row) for row in rows]
    eliminated: list[tuple[str, list[_Row]]] = []
    while rows := [row for row in rows if row.coefficients or row.is_impossible]:
        if any(not row.coefficients for row in rows):
            return Unsatisfiable()
        if len(rows) > MAX_ROWS:
            return None
        name = _cheapest(rows)
        eliminated.append((name, [row for row in rows if name in row.coefficients]))
        rows = _projected(name, rows)
    values = _state(eliminated, solved)
    return Witness({name: values[name] for name in names}, True)


def _state(
    eliminated: list[tuple[str, list[_Row]]], solved: list[tuple[str, _Row]]
) -> Mapping[str, Fraction]:
    """Values for what was eliminated, last things first; what nothing is said about is 0."""
    values: dict[str, Fraction] = defaultdict(Fraction)
    for name, about in reversed(eliminated):
        interval = _Interval()
        for row in about:
            own = row.coefficients[name]
            limit = interval.at_most if own > 0 else interval.at_least
            limit((row.bound - _others(name, row, values)) / own, row.strict)
        values[name] = interval.some_value()
    for name, row in reversed(solved):
        values[name] = (row.bound - _others(name, row, values)) / row.coefficients[name]
    return values


def _others(name: str, row: _Row, values: dict[str, Fraction]) -> Fraction:
    """What the other variables of a row add up to."""
    parts = (a * values[other] for other, a in row.coefficients.items() if other != name)
    return sum(parts, Fraction(0))


def _rows(
    condition: Expression, types: Mapping[str, ValueType]
) -> tuple[list[_Row], list[_Row]] | None:
    """The equations and the inequalities of a conjunction; None if it is none of linear ones."""
    equations: list[_Row] = []
    rows: list[_Row] = []
    stack = [(condition, False)]
    while stack:
        part, is_negated = stack.pop()
        if part.op is Op.NOT:
            stack.append((part.args[0], not is_negated))
        elif part.op is (Op.OR if is_negated else Op.AND):
            stack.extend((inner, is_negated) for inner in part.args)
        elif part.op is Op.BOOLEAN:
            if bool(part.value) is is_negated:
                rows.append(_Row({}, Fraction(-1)))
        elif part.op in COMPARISONS:
            left, right = part.args
            comparison = compare(OPPOSITE[part.op], left, right) if is_negated else part
            linear = linear_constraint(comparison)
            if linear is None or linear.relation is Op.NOT_EQUAL:
                return None
            if any(types.get(name, REAL) != REAL for name, _ in linear.coefficients):
                return None
            row = _Row(dict(linear.coefficients), linear.bound, linear.relation is Op.LESS)
            (equations if linear.relation is Op.EQUAL else rows).append(row)
        else:
            return None
    return equations, rows


def _without(name: str, equation: _Row, row: _Row) -> _Row:
    """A row in which an equation has replaced a variable."""
    factor = row.coefficients.get(name)
    if factor is None:
        return row
    return row.plus(-factor / equation.coefficients[name], equation)


def _cheapest(rows: list[_Row]) -> str:
    """The variable whose elimination leaves the fewest rows."""
    above: dict[str, int] = {}
    below: dict[str, int] = {}
    for row in rows:
        for name, a in row.coefficients.items():
            count = above if a > 0 else below
            count[name] = count.get(name, 0) + 1

    def growth(name: str) -> tuple[int, str]:
        up, down = above.get(name, 0), below.get(name, 0)
        return up * down - up - down, name

    return min({*above, *below}, key=growth)


def _projected(name: str, rows: list[_Row]) -> list[_Row]:
    """What the rows say about the other variables: every upper bound with every lower one."""
    above = [row for row in rows if row.coefficients.get(name, 0) > 0]
    below = [row for row in rows if row.coefficients.get(name, 0) < 0]
    joined = [
        up.plus(-up.coefficients[name] / down.coefficients[name], down)
        for up in above
        for down in below
    ]
    return [row for row in rows if name not in row.coefficients] + joined
