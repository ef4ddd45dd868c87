"""Evidence for the obligations of a flowpipe, without a linear program where one row is enough.

Most steps of a flowpipe miss a guard or a bad set because the bound in one direction says so:
the row of the direction and one row of the guard add up to a contradiction. Only where that
fails a linear program is solved.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from workbench.models.checker.covers import Cover, Impossible
from workbench.models.checker.flowpipe import Step, at_end
from workbench.models.checker.stay_conditions import ELAPSED
from workbench.models.linear import Form, Multipliers, Row, Rows
from workbench.reach.affine.reduced_rows import ReducedRows

Key = tuple[tuple[str, Fraction], ...]


def key_of(coefficients: Mapping[str, Fraction]) -> Key:
    """The direction of a form whatever its length: largest entry 1 in absolute value."""
    size = max(map(abs, coefficients.values()))
    if size == 1:
        return tuple(sorted(coefficients.items()))
    return tuple(sorted((name, a / size) for name, a in coefficients.items()))


def bounds_by_key(forms: Iterable[Form]) -> dict[Key, Fraction]:
    """The constant of each form, by its direction."""
    return {key_of(form.coefficients): form.constant for form in forms}


def opposite(key: Key) -> Key:
    """The direction that points the other way."""
    return tuple((name, -a) for name, a in key)


def quick_refutation(
    step: Step, numbers: Mapping[Key, int], others: Sequence[tuple[int, Row, Key]], offset: int
) -> Multipliers | None:
    """Multipliers of one direction, one other row and the elapsed time that contradict each
    other. `numbers` gives the direction's row by key; `others` are rows with their numbers,
    which are counted from `offset` on."""
    for number, row, key in others:
        direction = numbers.get(opposite(key))
        if direction is None:
            continue
        for i in (direction, step.clock + 2 + direction):
            if i >= len(step.rows) or not step.rows[i].form.coefficients:
                continue
            own = step.rows[i].form
            name = key[0][0]
            factor = -own.coefficients[name] / row.form.coefficients[name]
            slope = own.coefficients.get(ELAPSED, Fraction(0))
            end = step.clock if slope < 0 else step.clock + 1
            extreme = step.end if slope < 0 else step.begin
            value = own.constant + slope * extreme + factor * row.form.constant
            if value > 0 or (value == 0 and row.strict):
                found = [(i, Fraction(1)), (offset + number, factor)]
                return tuple(sorted([*found, (end, abs(slope))] if slope else found))
    return None


def ending(
    step: Step,
    final: Sequence[Rows],
    final_rows: Sequence[list[tuple[int, Row, Key]]],
    numbers: Mapping[Key, int],
    *,
    quickly: bool,
) -> list[Cover] | None:
    """Evidence that no stay goes beyond the end of the step: for every case of the `final`
    rows (with their keys) a contradiction; `quickly`: without linear programs."""
    rows = at_end(step)
    frozen = replace(step, begin=step.end)
    found: list[Cover] = []
    for case, others in zip(final, final_rows, strict=True):
        quick = quick_refutation(frozen, numbers, others, len(rows))
        if quick is not None:
            # The start of the frozen step is the extra row "elapsed >= end".
            late = len(step.rows)
            moved = [(late if i == step.clock + 1 else i, m) for i, m in quick]
            found.append(Impossible(tuple(moved)))
            continue
        multipliers = None if quickly else ReducedRows(rows + case).refutation()
        if multipliers is None:
            return None
        found.append(Impossible(multipliers))
    return found


def keyed(rows: Rows) -> list[tuple[int, Row, Key]]:
    """The rows with their numbers and keys."""
    return [
        (i, row, key_of(row.form.coefficients))
        for i, row in enumerate(rows)
        if row.form.coefficients
    ]


def scaled_to_grid(coefficients: Mapping[str, Fraction]) -> dict[str, Fraction]:
    """The same direction with whole numbers as entries."""
    from math import gcd, lcm

    bottom = lcm(*(a.denominator for a in coefficients.values()))
    top = gcd(*(int(a * bottom) for a in coefficients.values()))
    return {name: a * bottom / top for name, a in coefficients.items()}


def normal_form(normal: Mapping[str, Fraction], bound: Fraction) -> Form:
    """normal * x - bound."""
    return Form(dict(normal), -bound)
