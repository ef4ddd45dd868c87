"""Edges taken: resets compiled, ranges resolved by shares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from fractions import Fraction
from functools import cached_property

from workbench.models.automaton import Edge, Range, primed
from workbench.models.expressions.expression import (
    TRUE,
    Expression,
    add,
    conjunction,
    constant,
    function,
    multiply,
    subtract,
    variable,
)
from workbench.models.expressions.operators import Op
from workbench.models.expressions.simplify import simplify
from workbench.simulate.stepping.calculator import (
    Calculator,
    Externals,
    Sensitivity,
    TolerantCondition,
)

ROUNDED = Fraction(1, 10**9)
"""So little beside a whole number an end of a range counts as that number."""


class Jump:
    """The resets of an edge (or of an initial set), compiled.

    Ranges are resolved by shares in [0, 1], one for each range that is not a single value; for
    `whole` variables to whole numbers. The values of `moving` variables are known within
    tolerance only.
    """

    def __init__(
        self,
        resets: Sequence[tuple[str, Range]],
        known: frozenset[str],
        symbols: Mapping[str, int],
        externals: Externals,
        moving: frozenset[str] = frozenset(),
        whole: Set[str] = frozenset(),
    ):
        after: dict[str, Expression] = {}
        self.choices = 0
        filled: list[Expression] = []
        for name, given in resets:
            bounds = given.substitute(after)
            is_rounded = name in whole and bounds.exact is None
            if is_rounded:
                bounds = _whole_numbers(bounds)
            low, high = bounds.low, bounds.high
            if bounds.exact is None and low is not None and high is not None:
                share = variable(f"choice {self.choices}")
                self.choices += 1
                value = add(low, multiply(share, subtract(high, low)))
                value = function(Op.FLOOR, value + Fraction(1, 2)) if is_rounded else value
                filled.append(has_value(bounds))
            else:
                value = low if low is not None else (high if high is not None else variable(name))
            after[primed(name)] = value
        self.names = tuple(n for n, _ in resets if n in known)
        self._values = {n: after[primed(n)] for n in self.names}
        self._calculate = Calculator(list(self._values.values()), symbols, externals)
        self._context = (known, symbols, externals)
        every = conjunction(*filled)
        self._filled = (
            TolerantCondition(every, moving, symbols, externals) if every != TRUE else None
        )

    @cached_property
    def assigned(self) -> frozenset[str]:
        """The variables that are given a value, not just their own."""
        return frozenset(n for n, value in self._values.items() if value != variable(n))

    def has_values(
        self, values: Mapping[str, float], shares: Sequence[float], rtol: float, atol: float
    ) -> bool:
        """Whether no range is empty, within tolerance: else there is no such jump."""
        if self._filled is None:
            return True
        return self._filled({**values, **_chosen(shares)}, rtol, atol)

    def __call__(self, values: Mapping[str, float], shares: Sequence[float]) -> dict[str, float]:
        """The new values of the variables that are reset."""
        if not self.names:
            return {}
        if shares:
            values = {**values, **_chosen(shares)}
        return dict(zip(self.names, self._calculate(values), strict=True))

    def carried(self, values: Mapping[str, float], rates: Mapping[str, float]) -> dict[str, float]:
        """At most how fast the new values change where the old ones do at these rates (with
        ranges in their middle)."""
        values = {**values, **{f"choice {i}": 0.5 for i in range(self.choices)}}
        return {n: rate(values, rates) for n, rate in self._sensitivities.items()}

    @cached_property
    def _sensitivities(self) -> dict[str, Sensitivity]:
        return {n: Sensitivity(value, *self._context) for n, value in self._values.items()}


def has_value(given: Range) -> Expression:
    """The condition under which a range has a value: its lower bound does not exceed the upper."""
    if given.low is None or given.high is None or given.exact is not None:
        return TRUE
    width = simplify(subtract(given.high, given.low))
    if width.is_constant and width.constant >= 0:
        return TRUE
    return given.low <= given.high


def _whole_numbers(given: Range) -> Range:
    """The range between the outermost whole numbers in a range."""
    low, high = given.low, given.high
    return Range(
        None if low is None else -function(Op.FLOOR, constant(ROUNDED) - low),
        None if high is None else function(Op.FLOOR, high + constant(ROUNDED)),
    )


def _chosen(shares: Sequence[float]) -> dict[str, float]:
    """The shares under the names that the compiled resets have for them."""
    return {f"choice {i}": share for i, share in enumerate(shares)}


def edge_name(edge: Edge) -> str:
    """What an edge is called in traces."""
    return edge.name or edge.label or f"{edge.source} -> {edge.target}"
