"""First states for people: the range of every variable, where a model gives one."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from workbench.models.automaton import TIME, Automaton, HybridAutomaton, Initial
from workbench.models.expressions.expression import variable
from workbench.reports.words.inequalities import AT_LEAST, AT_MOST, rounded
from workbench.simulate.start.box import Box, box_of

MOST = 16
"""So many ranges are told."""


def first_states(automaton: Automaton) -> list[str]:
    """`x in [0, 1]` for every variable that begins within such bounds, wherever its agent
    begins. Conditions on several variables are not told."""
    found = [line for part in automaton.components for line in _of_component(part)]
    return [*found[:MOST], f"and {len(found) - MOST} more"] if len(found) > MOST else found


def _of_component(part: HybridAutomaton) -> list[str]:
    derived = {TIME, *(c.variable for place in part.locations for c in place.algebraic)}
    boxes = [box_of(start.condition) for start in part.initial]
    names = (v.name for v in part.variables if v.name not in derived)
    lines = (_range(name, part.initial, boxes) for name in names)
    return [line for line in lines if line]


def _range(name: str, starts: Sequence[Initial], boxes: Sequence[Box]) -> str:
    """The least interval that has all first values; nothing where these are not bounded."""
    ranges = [_first(name, start, box) for start, box in zip(starts, boxes, strict=True)]
    if not ranges:
        return ""
    lows, highs = [low for low, _ in ranges], [high for _, high in ranges]
    low = None if None in lows else min(v for v in lows if v is not None)
    high = None if None in highs else max(v for v in highs if v is not None)
    if low is None and high is None:
        return ""
    if high is None:
        return f"{name} {AT_LEAST} {rounded(low or 0)}"
    if low is None:
        return f"{name} {AT_MOST} {rounded(high)}"
    return (
        f"{name} = {rounded(low)}"
        if low == high
        else f"{name} in [{rounded(low)}, {rounded(high)}]"
    )


def _first(name: str, start: Initial, box: Box) -> tuple[Fraction | None, Fraction | None]:
    """Bounds of the values that a variable begins with in one place."""
    for reset in start.resets:
        if reset.variable == name and reset.range.exact != variable(name):
            exact = reset.range.exact
            value = exact.constant if exact is not None and exact.is_constant else None
            return value, value
    for known, given in box.defined:
        if known == name:
            value = given.constant if given.is_constant else None
            return value, value
    return box.low.get(name), box.high.get(name)
