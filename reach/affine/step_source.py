"""Bounds of what a jump on one step of a flowpipe leads to."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from workbench.models.checker.flowpipe import Step
from workbench.models.checker.stay_conditions import ELAPSED
from workbench.models.linear import Form
from workbench.reach.affine.reduced_rows import Bounded, ReducedRows
from workbench.reach.affine.step_evidence import Key, key_of


class StepSource:
    """Bounds of successors of one step: by one row for planned rows, else by a program.

    On a first step the rows that are exact at the entry are tried by themselves, too: programs
    that are solved in floating point first cannot tell them from others that are nearly so, and
    jumps that take no time would let sets grow by a grain again and again.
    """

    def __init__(
        self, step: Step, reduced: ReducedRows, numbers: Mapping[Key, int], planned: set[Key]
    ):
        self._step, self._reduced, self._numbers, self._planned = step, reduced, numbers, planned
        self._times: dict[bool, Bounded | None] = {}

    def __call__(self, goal: Form) -> Bounded | None:
        """A bound of a form over the values after the jump, if there is one."""
        normal = {name.removesuffix("'"): a for name, a in goal.coefficients.items()}
        if key_of(normal) in self._planned:
            found = self._by_row(goal, 0)
            if found is not None:
                return found
        found = self._reduced.largest(goal)
        if self._step.begin == 0:
            exact = self._by_row(goal, self._step.clock + 2)
            if exact is not None and (found is None or exact.value < found.value):
                return exact
        return found

    def elapsed(self, *, late: bool) -> Bounded | None:
        """The largest elapsed time at which the jump is possible (or minus the smallest)."""
        if late not in self._times:
            self._times[late] = self._reduced.largest(Form({ELAPSED: Fraction(2 * late - 1)}))
        return self._times[late]

    def _by_row(self, goal: Form, offset: int) -> Bounded | None:
        """A bound by the row of the direction itself, counted from a row on."""
        form, weights = self._reduced.with_primes(goal)
        direction = self._numbers.get(key_of(form.coefficients)) if form.coefficients else None
        number = -1 if direction is None else offset + direction
        if not 0 <= number < len(self._step.rows) or not self._step.rows[number].form.coefficients:
            return None
        row = self._step.rows[number].form
        name = next(iter(form.coefficients))
        factor = form.coefficients[name] / row.coefficients[name]
        slope = -row.coefficients.get(ELAPSED, Fraction(0)) * factor
        value = form.constant - row.constant * factor
        total = dict(weights)
        _increase(total, number, factor)
        if slope:
            time = self.elapsed(late=slope > 0)
            if time is None:
                return None
            value += abs(slope) * time.value
            for i, m in time.multipliers:
                _increase(total, i, abs(slope) * m)
        return Bounded(value, tuple(sorted(total.items())))


def _increase(weights: dict[int, Fraction], row: int, amount: Fraction) -> None:
    weights[row] = weights.get(row, Fraction(0)) + amount
