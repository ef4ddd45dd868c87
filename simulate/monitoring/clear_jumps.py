"""Would the jumps of a computed run be possible in the run that it stands for?

A simulator takes a guard that holds within its tolerance. Where a run only touches a guard, two
methods agree on a jump that the model does not make. A jump is *clear* if small errors cannot
undo it: every comparison of its guard holds by more than the error, but at most one, which the
run is about to cross: with g the margin of that comparison, g' its slope before the jump and
g'' the curvature, g would exceed the error shortly after,

    g'^2 / (2 |g''|) > SAFETY * error.

By continuity every run nearby crosses the guard as well. A strict comparison must be crossed
inside the invariant, since on its boundary it does not hold. Comparisons of integers, truth
values and symbols are exact. What is not clear needs a proof.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from workbench.models.automaton import REAL
from workbench.models.expressions.expression import Expression
from workbench.models.expressions.normal_form import (
    NormalFormTooLargeError,
    negation_normal_form,
    without_piecewise,
)
from workbench.models.expressions.operators import COMPARISONS, Op
from workbench.models.expressions.traversal import free_variables
from workbench.models.trace import Segment, Trace
from workbench.simulate.inputs.signals import Signal
from workbench.simulate.monitoring.run_check import RunCheck

ERROR = 1e-8
"""Of computed states, relative to the size of the numbers."""
SAFETY = 10.0
LOOK_BACK = 1e-3
"""How far before a jump slopes are taken, relative to 1 + t."""
STRICT = frozenset({Op.LESS, Op.GREATER, Op.NOT_EQUAL})


class ClearJumps(RunCheck):
    """Tells whether small errors may have made a jump of a trace."""

    def moments(
        self, segment: Segment, trace: Trace, inputs: Mapping[str, Signal]
    ) -> Iterator[tuple[float, Mapping[str, float]]]:
        """The end of a segment, and two moments shortly before; one alone if it has no
        duration."""
        step = min((segment.end - segment.start) / 4, LOOK_BACK * (1 + abs(segment.end)))
        for k in range(3 if step > 0.0 else 1):
            t = segment.end - k * step
            yield t, self._values(segment, t, trace, inputs)

    def clear(
        self,
        guard: Expression,
        segment: Segment,
        moments: tuple[tuple[float, Mapping[str, float]], ...],
    ) -> bool:
        """Whether a case of the guard holds clearly, up to one comparison that is crossed."""
        values = moments[0][1]
        for case in cases_of(guard):
            open_atoms = [a for a in case if not self._sure(a, values)]
            if not open_atoms:
                return True
            if len(open_atoms) == 1 and self._crossed(open_atoms[0], segment, moments):
                return True
        return False

    def _sure(self, atom: Expression, values: Mapping[str, float]) -> bool:
        """Whether an atom holds by more than the error, or is exact and holds."""
        if self._is_exact(atom):
            return self._holds_exactly(atom, values)
        margin = self._margin(atom, values)
        return margin is not None and margin > SAFETY * error_of(values)

    def _is_exact(self, atom: Expression) -> bool:
        kinds = self.prepared.types
        return all(n in kinds and kinds[n] != REAL for n in free_variables(atom))

    def _holds_exactly(self, atom: Expression, values: Mapping[str, float]) -> bool:
        return self._value(atom, values) == 1.0

    def _crossed(
        self,
        atom: Expression,
        segment: Segment,
        moments: tuple[tuple[float, Mapping[str, float]], ...],
    ) -> bool:
        """Whether the run crosses the boundary of a comparison at its last moment."""
        if atom.op not in COMPARISONS or self._is_exact(atom) or len(moments) < 3:
            return False
        margins = [self._margin(atom, values) for _, values in moments]
        last, before, first = (math.nan if m is None else m for m in margins)
        step, error = moments[0][0] - moments[1][0], error_of(moments[0][1])
        if not abs(last) <= 1e-5 * (1.0 + error / ERROR):
            return False
        late, early = (last - before) / step, (before - first) / step
        bend = abs(late - early) / step
        slope = late + (late - early) / 2
        if not slope > 0.0 or not slope * slope > 2 * bend * SAFETY * error:
            return False
        invariant = self.view.location(segment.location).invariant
        inside = self._margin(invariant, moments[0][1])
        return atom.op not in STRICT or inside is None or inside > SAFETY * error


def cases_of(condition: Expression) -> list[list[Expression]]:
    """The cases of a condition: with `abs`, `min`, `max` and conditionals as they are, and with
    each of their pieces (`abs(x) >= 3` is crossed where `x >= 3` is)."""
    whole = cases(negation_normal_form(condition))
    try:
        split = without_piecewise(condition)
    except NormalFormTooLargeError:
        return whole
    return whole if split == condition else [*whole, *cases(negation_normal_form(split))]


def cases(condition: Expression, most: int = 64) -> list[list[Expression]]:
    """The cases of a condition in negation normal form, as lists of atoms; none if there are
    too many."""
    if condition.op is Op.OR:
        found = [case for part in condition.args for case in cases(part, most)]
    elif condition.op is Op.AND:
        found = [[]]
        for part in condition.args:
            found = [left + right for left in found for right in cases(part, most)]
            if len(found) > most:
                return []
    elif condition.op is Op.BOOLEAN:
        found = [[]] if condition.value else []
    else:
        found = [[condition]]
    return found if len(found) <= most else []


def error_of(values: Mapping[str, float]) -> float:
    """The error that is allowed for in a computed state."""
    size = max((abs(v) for v in values.values() if math.isfinite(v)), default=0.0)
    return ERROR * (1.0 + size)
