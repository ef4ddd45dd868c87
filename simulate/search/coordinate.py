"""One number that a search may choose: a place between bounds."""

from __future__ import annotations

from fractions import Fraction

from workbench.models.automaton import Input, Parameter
from workbench.models.record import record
from workbench.simulate.stepping.tape import number

FREE_WIDTH = 10.0
"""How far beyond zero, or beyond its one bound, a value without bounds is searched."""


@record
class Coordinate:
    """One number between bounds; `whole` for integers and truth values."""

    name: str
    low: float
    high: float
    whole: bool = False

    def at(self, x: float) -> float:
        """The value at a point of the unit interval."""
        share = min(max(x, 0.0), 1.0)
        value = self.high if share == 1.0 else self.low + share * (self.high - self.low)
        return float(round(value)) if self.whole else value

    def place(self, value: float) -> float:
        """The point of the unit interval for a value."""
        width = self.high - self.low
        return (value - self.low) / width if width > 0 else 0.5


def placed(c: Coordinate, value: object) -> float:
    """The point of the unit interval nearest to a value; the middle if it is no number."""
    if isinstance(value, str) or not isinstance(value, int | float | Fraction):
        return 0.5
    return min(max(c.place(float(value)), 0.0), 1.0)


def of_range(given: Input | Parameter) -> Coordinate | None:
    """The coordinate of an input or parameter, if it can vary."""
    if given.type.name not in ("real", "int", "bool"):
        return None
    if given.type.name == "bool":
        return Coordinate(given.name, 0.0, 1.0, True)
    low = None if given.low is None else number(given.low)
    high = None if given.high is None else number(given.high)
    low, high = searched(low, high)
    return Coordinate(given.name, low, high, given.type.name == "int") if low < high else None


def searched(low: float | None, high: float | None) -> tuple[float, float]:
    """Numbers between which to search; an open side ends at a customary distance."""
    if low is None and high is None:
        return -FREE_WIDTH, FREE_WIDTH
    if low is None:
        assert high is not None
        return high - max(FREE_WIDTH, abs(high)), high
    return low, low + max(FREE_WIDTH, abs(low)) if high is None else high
