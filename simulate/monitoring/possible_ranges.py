"""The beginning of a trace in which time can pass: where the range of a derivative is empty,
`d(x) in [2, 1]`, the model has no run that goes on, whatever a simulator makes of it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from workbench.models.automaton import Automaton
from workbench.models.expressions.expression import Expression, conjunction
from workbench.models.trace import Trace
from workbench.simulate.inputs.signals import Signal
from workbench.simulate.monitoring.robustness import Robustness

ROUNDING = 1e-9
"""A range that is empty by no more than this, relative to the numbers in it, may be a point."""


class PossibleRanges:
    """The ranges of the derivatives of one model along traces."""

    def __init__(self, robustness: Robustness):
        self._robustness = robustness

    def kept(self, trace: Trace, inputs: Mapping[str, Signal]) -> tuple[Trace, float]:
        """The segments before the first in which a range is empty for more than an instant, and
        by how much it is empty (0 if none is)."""
        self._robustness.values.inputs = inputs
        for index, segment in enumerate(trace.segments):
            if segment.is_instant or self._robustness.tree(segment.location) is None:
                continue
            width = self._robustness.along(replace(trace, segments=(segment,))).margin
            size = max((abs(v) for v in segment.final if math.isfinite(v)), default=0.0)
            if width < -ROUNDING * (1.0 + size):
                return replace(trace, segments=trace.segments[:index]), -width
        return trace, 0.0


def possible_ranges(view: Automaton, symbols: Mapping[str, int]) -> PossibleRanges:
    """The ranges that may be empty somewhere: those with an end that is no constant."""

    def nonempty(location: str) -> Expression:
        ranges = [c.range for c in view.location(location).flows if c.range.exact is None]
        return conjunction(
            *(
                r.low <= r.high
                for r in ranges
                if r.low is not None
                and r.high is not None
                and not (r.low.is_constant and r.high.is_constant)
            )
        )

    return PossibleRanges(Robustness(nonempty, symbols))
