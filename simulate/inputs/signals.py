"""Input signals: functions of time that a run feeds into a model's inputs."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable
from fractions import Fraction
from itertools import pairwise
from typing import TypeAlias

from workbench.models.automaton import TIME
from workbench.models.expressions.expression import Expression, constant, function, variable
from workbench.models.expressions.operators import Op
from workbench.models.expressions.traversal import free_variables, substitute
from workbench.models.record import record
from workbench.models.source import Diagnostic, ModelError


@record
class Steps:
    """Piecewise constant: `values[i]` from `times[i]` on (the first also before)."""

    times: tuple[float, ...]
    values: tuple[float, ...]

    def __post_init__(self) -> None:
        _check_grid(self.times, self.values)


@record
class Lines:
    """Piecewise linear through the given points, constant outside them."""

    times: tuple[float, ...]
    values: tuple[float, ...]

    def __post_init__(self) -> None:
        _check_grid(self.times, self.values)


@record
class Formula:
    """An expression of `time`."""

    expression: Expression

    def __post_init__(self) -> None:
        unknown = free_variables(self.expression) - {TIME}
        if unknown:
            raise ModelError(
                Diagnostic(
                    "signal-names",
                    f"a signal may depend on `time` only, not on `{min(unknown)}`",
                    self.expression.span,
                )
            )


Signal: TypeAlias = Steps | Lines | Formula


def form_of(signal: Signal) -> object:
    """What signals have in common that one prepared model can be fed with."""
    return signal if isinstance(signal, Formula) else type(signal)


def constant_signal(value: float) -> Steps:
    """The same value at all times."""
    return Steps((0.0,), (value,))


def sine(mean: float, amplitude: float, frequency: float, phase: float = 0.0) -> Formula:
    """mean + amplitude * sin(frequency * time + phase); the frequency in radians per unit."""
    angle = _exact(frequency) * variable(TIME) + _exact(phase)
    return Formula(_exact(amplitude) * function(Op.SIN, angle) + _exact(mean))


def from_csv(lines: Iterable[str], column: str, *, linear: bool = True) -> Signal:
    """A signal from CSV text with a header: the first column is the time, which grows."""
    import csv

    rows = [
        (number, [cell.strip() for cell in row])
        for number, row in enumerate(csv.reader(lines), start=1)
        if any(cell.strip() for cell in row)
    ]
    head = rows[0][1] if rows else []
    if column not in head[1:]:
        listed = ", ".join(f"`{n}`" for n in head[1:9]) or "none beside the first"
        raise _bad_table("signal-column", f"the table has no column `{column}`; it has {listed}")
    place = head.index(column, 1)
    times: list[float] = []
    values: list[float] = []
    for number, row in rows[1:]:
        try:
            t, value = float(row[0]), float(row[place])
        except (ValueError, IndexError):
            message = f"line {number} of the table is not two numbers"
            raise _bad_table("signal-number", message) from None
        if not (math.isfinite(t) and math.isfinite(value)):
            raise _bad_table("signal-number", f"line {number} of the table is not finite")
        if times and t <= times[-1]:
            message = f"line {number} of the table: time {t:g} does not come after {times[-1]:g}"
            raise _bad_table("signal-grid", message)
        times.append(t)
        values.append(value)
    if not times:
        raise _bad_table("signal-grid", "the table has a header and nothing else")
    form = Lines if linear else Steps
    return form(tuple(times), tuple(values))


def _bad_table(code: str, message: str) -> ModelError:
    return ModelError(Diagnostic(code, message))


def going_on(signal: Signal, begin: float) -> Signal:
    """What a signal does from a time on, as a signal that begins there."""
    if isinstance(signal, Formula):
        return Formula(substitute(signal.expression, {TIME: variable(TIME) + _exact(begin)}))
    return type(signal)(tuple(t - begin for t in signal.times), signal.values)


def next_change(signal: Signal, t: float) -> float:
    """The first time after t at which a piecewise signal changes; infinite for never, and for
    formulas (see `simulate.inputs.kinked_formula`)."""
    if isinstance(signal, Formula):
        return math.inf
    i = bisect_right(signal.times, t)
    return signal.times[i] if i < len(signal.times) else math.inf


def line_at(signal: Steps | Lines, t: float) -> tuple[float, float]:
    """The coefficients (a, b) of the signal a + b*time from t to its next change."""
    i = bisect_right(signal.times, t) - 1
    if i < 0:
        return signal.values[0], 0.0
    if isinstance(signal, Steps) or i + 1 >= len(signal.times):
        return signal.values[i], 0.0
    t0, t1 = signal.times[i], signal.times[i + 1]
    slope = (signal.values[i + 1] - signal.values[i]) / (t1 - t0)
    return signal.values[i] - slope * t0, slope


def _exact(value: float) -> Expression:
    return constant(Fraction(str(value)))


def _check_grid(times: tuple[float, ...], values: tuple[float, ...]) -> None:
    good = len(times) == len(values) > 0 and all(map(math.isfinite, (*times, *values)))
    if not good or any(a >= b for a, b in pairwise(times)):
        raise ModelError(
            Diagnostic(
                "signal-grid", "a signal needs finite values at one or more increasing times"
            )
        )
