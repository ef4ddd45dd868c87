"""Rows with the values after a jump eliminated, and exact bounds over them.

Where rows say that a primed value equals a form over plain names, the primed name is replaced
in all other rows. Every reduced row remembers the non-negative combination of the original
rows that it is, so multipliers found for reduced rows become multipliers for the original ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from workbench.models.linear import Form, Multipliers, Row, Rows, combination
from workbench.models.work import RATIONAL, spend
from workbench.reach.combinations import refutation
from workbench.reach.programs.exact_program import ExactProgram

Weights = dict[int, Fraction]


@dataclass(frozen=True)
class Bounded:
    """The form asked for is at most `value`: the multipliers of original rows that show it."""

    value: Fraction
    multipliers: Multipliers


@dataclass(frozen=True)
class _Solved:
    """A primed name equals `value`; `below` proves name - value <= 0, `above` the converse."""

    value: Form
    below: Weights
    above: Weights


def add_weights(parts: Iterable[tuple[Fraction, Mapping[int, Fraction]]]) -> Weights:
    """The sum of factor * weights."""
    total: Weights = {}
    for factor, weights in parts:
        spend(RATIONAL * (2 + 2 * len(weights)))
        for row, weight in weights.items():
            total[row] = total.get(row, Fraction(0)) + factor * weight
    return {row: weight for row, weight in total.items() if weight}


@dataclass
class ReducedRows:
    """Rows over plain names that stand for `original` rows over plain and primed ones."""

    original: Rows
    rows: list[Row] = field(default_factory=list)
    weights: list[Weights] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._solved: dict[str, _Solved] = {}
        equations = self._equations()
        while True:
            fresh = [e for e in equations if self._solve(*e)]
            if not fresh:
                break
            equations = [e for e in equations if e not in fresh]
        for number, row in enumerate(self.original):
            form, weights = self.without_primes(row.form)
            if form.coefficients or form.constant > 0 or row.strict:
                self.rows.append(Row(form, row.strict))
                self.weights.append(
                    add_weights([(Fraction(1), {number: Fraction(1)}), (Fraction(1), weights)])
                )
        self._programs: dict[tuple[int, ...], ExactProgram] = {}
        self._rows_of: dict[str, list[int]] = {}
        for i, row in enumerate(self.rows):
            for name in row.form.coefficients:
                self._rows_of.setdefault(name, []).append(i)

    def _equations(self) -> list[tuple[int, int]]:
        """Pairs of rows f <= 0 and -f <= 0 that mention a primed name."""
        seen: dict[object, int] = {}
        found: list[tuple[int, int]] = []
        for number, row in enumerate(self.original):
            if not any(name.endswith("'") for name in row.form.coefficients):
                continue
            opposite = row.form.scaled(Fraction(-1))
            other = seen.get((frozenset(opposite.coefficients.items()), opposite.constant))
            if other is not None:
                found.append((other, number))
            seen[(frozenset(row.form.coefficients.items()), row.form.constant)] = number
        return found

    def _solve(self, first: int, second: int) -> bool:
        """Use the equation f = 0 (rows f <= 0 and -f <= 0) if it determines a primed name."""
        form, up = self.without_primes(self.original[first].form)
        minus, down = self.without_primes(self.original[second].form)
        unknown = [n for n in form.coefficients if n.endswith("'")]
        if len(unknown) != 1 or minus.scaled(Fraction(-1)) != form:
            return False
        name = unknown[0]
        factor = form.coefficients[name]
        rest = Form(
            {n: -a / factor for n, a in form.coefficients.items() if n != name},
            -form.constant / factor,
        )
        one = Fraction(1)
        above_zero = add_weights([(1 / abs(factor), {first: one}), (1 / abs(factor), up)])
        below_zero = add_weights([(1 / abs(factor), {second: one}), (1 / abs(factor), down)])
        below, above = (above_zero, below_zero) if factor > 0 else (below_zero, above_zero)
        self._solved[name] = _Solved(rest, below, above)
        return True

    def value_of(self, name: str) -> Form | None:
        """The form that a primed name equals, if an equation says so."""
        solved = self._solved.get(name)
        return None if solved is None else solved.value

    def without_primes(self, form: Form) -> tuple[Form, Weights]:
        """The form plus a non-negative combination of rows, with primed names gone where an
        equation determines them; and the weights of that combination."""
        parts = [(Fraction(1), form)]
        weights: list[tuple[Fraction, Weights]] = []
        for name, a in form.coefficients.items():
            solved = self._solved.get(name)
            if solved is not None:
                parts += [(a, solved.value), (-a, Form({name: Fraction(1)}))]
                weights.append((abs(a), solved.above if a > 0 else solved.below))
        return combination(parts), add_weights(weights)

    def with_primes(self, form: Form) -> tuple[Form, Weights]:
        """The same for a goal: `form` equals the result plus a combination of rows."""
        parts = [(Fraction(1), form)]
        weights: list[tuple[Fraction, Weights]] = []
        for name, a in form.coefficients.items():
            solved = self._solved.get(name)
            if solved is not None:
                parts += [(a, solved.value), (-a, Form({name: Fraction(1)}))]
                weights.append((abs(a), solved.below if a > 0 else solved.above))
        return combination(parts), add_weights(weights)

    def original_multipliers(self, multipliers: Iterable[tuple[int, Fraction]]) -> Multipliers:
        """Multipliers of the original rows from those of the reduced ones."""
        total = add_weights((factor, self.weights[i]) for i, factor in multipliers)
        return tuple(sorted(total.items()))

    def refutation(self) -> Multipliers | None:
        """Multipliers that show that the rows have no solution, if any were found."""
        found = refutation(tuple(self.rows))
        return None if found is None else self.original_multipliers(found)

    def largest(self, goal: Form) -> Bounded | None:
        """The exact largest value of a form, which may mention primed names; None where the
        rows do not bound it (or have no solution)."""
        form, weights = self.with_primes(goal)
        found = self._best(form)
        if found is None:
            return None
        value = -sum((m * self.rows[i].form.constant for i, m in found.items()), Fraction(0))
        own = dict(self.original_multipliers(found.items()))
        total = add_weights([(Fraction(1), own), (Fraction(1), weights)])
        return Bounded(value + form.constant, tuple(sorted(total.items())))

    def _best(self, form: Form) -> Weights | None:
        """Only rows that are connected with the form through shared names can help."""
        names = set(form.coefficients)
        chosen: set[int] = set()
        pending = list(names)
        while pending:
            for i in self._rows_of.get(pending.pop(), ()):
                if i not in chosen:
                    chosen.add(i)
                    fresh = self.rows[i].form.coefficients.keys() - names
                    names |= fresh
                    pending.extend(fresh)
        if all(len(self.rows[i].form.coefficients) == 1 for i in chosen):
            return self._best_box(form)
        numbers = sorted(chosen)
        program = self._programs.get(tuple(numbers))
        if program is None:
            forms = [self.rows[i].form for i in numbers]
            program = ExactProgram([f.coefficients for f in forms], [-f.constant for f in forms])
            self._programs[tuple(numbers)] = program
        solution = program.solve(form.coefficients)
        return None if solution is None else {numbers[k]: m for k, m in solution.items()}

    def _best_box(self, form: Form) -> Weights | None:
        best: dict[str, tuple[Fraction, int, Fraction]] = {}
        for name, factor in form.coefficients.items():
            for i in self._rows_of.get(name, ()):
                row = self.rows[i]
                a = row.form.coefficients[name]
                if (factor > 0) == (a > 0):
                    value = -row.form.constant * factor / a
                    if name not in best or value < best[name][0]:
                        best[name] = (value, i, factor / a)
        if len(best) < len(form.coefficients):
            return None
        return {i: weight for _, i, weight in best.values()}
