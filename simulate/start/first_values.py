"""The first value of one variable: a share of its range, or one of the values of its type."""

from __future__ import annotations

import math
from collections.abc import Callable

from workbench.models.automaton import ValueType
from workbench.simulate.place import Prepared
from workbench.simulate.start.ranges import Ends


def values_of(kind: ValueType) -> int:
    """How many values a type has if it is no number; 0 otherwise."""
    return 2 if kind.name == "bool" else len(kind.values)


def nth_value(prepared: Prepared, name: str, share: float) -> float:
    """The value at a share of all values of a type that is no number: every value has an equal
    part, the middle of two is the first."""
    kind = prepared.types[name]
    count = values_of(kind)
    index = min(max(math.ceil(share * count) - 1, 0), count - 1)
    return float(prepared.symbols[kind.values[index]] if kind.values else index)


def first_value(prepared: Prepared, name: str, ends: Ends, share: Callable[[], float]) -> float:
    """A value of a variable; the share is asked for only where there is a choice."""
    kind = prepared.types[name]
    if values_of(kind):
        return nth_value(prepared, name, share())
    chosen = ends.low is not None and ends.high is not None and ends.low != ends.high
    return ends.at(share() if chosen else 0.0, kind.name == "int")
