"""A row or a reset with its discrete variables counted out, in whole numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from workbench.models.linear import Form, Row
from workbench.reach.rectangular.moves import Number, Values


class NotRectangularError(Exception):
    """The system is not of this kind; the message says why."""


def plain(number: Fraction) -> Number:
    """The number, as `int` if it is whole."""
    return number.numerator if number.denominator == 1 else number


@dataclass(frozen=True, slots=True)
class Split:
    """A form times its `denominator`, with its names sorted: explicit variables by number, the
    others by name."""

    constant: int
    explicit: tuple[tuple[int, int], ...]
    free: tuple[tuple[str, int], ...]
    denominator: int = 1
    strict: bool = False
    number: int = -1

    @classmethod
    def of(cls, form: Form, explicit: Mapping[str, int]) -> Split:
        """The form, given the numbers of the explicit variables."""
        denominator, coefficients, constant = form.integral
        counted = [(explicit[n], a) for n, a in coefficients.items() if n in explicit]
        free = [(n, a) for n, a in coefficients.items() if n not in explicit]
        return cls(constant, tuple(counted), tuple(free), denominator)

    @classmethod
    def turned(cls, row: Row, explicit: Mapping[str, int], number: int = -1) -> Split:
        """A row form <= 0, or < 0, as -form >= 0, or > 0."""
        denominator, coefficients, constant = row.form.integral
        counted = [(explicit[n], -a) for n, a in coefficients.items() if n in explicit]
        free = [(n, -a) for n, a in coefficients.items() if n not in explicit]
        return cls(-constant, tuple(counted), tuple(free), denominator, row.strict, number)

    def at(self, values: Values) -> Number:
        """The part that explicit values determine, times the denominator."""
        total: Number = self.constant
        for i, a in self.explicit:
            total += a * values[i]
        return total

    def value(self, values: Values) -> Number:
        """What explicit values make of a form without other names."""
        found = self.at(values)
        return found if self.denominator == 1 else plain(Fraction(found) / self.denominator)
