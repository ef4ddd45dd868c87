"""Edges taken: resets compiled, ranges resolved by shares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from workbench.models.automaton import Edge, Range, primed
from workbench.models.expressions.expression import (
    TRUE,
    Expression,
    add,
    conjunction,
    multiply,
    subtract,
    variable,
)
from workbench.simulate.empty_ranges import has_value
from workbench.simulate.stepping.calculator import (
    Calculator,
    Externals,
    Sensitivity,
    TolerantCondition,
)


class Jump:
    """The resets of an edge (or of an initial set), compiled.

    Ranges are resolved by shares in [0, 1], one for each range that is not a single value. The
    values of `moving` variables are known within tolerance only.
    """

    def __init__(
        self,
        resets: Sequence[tuple[str, Range]],
        known: frozenset[str],
        symbols: Mapping[str, int],
        externals: Externals,
        moving: frozenset[str] = frozenset(),
    ):
        after: dict[str, Expression] = {}
        self.choices = 0
        filled: list[Expression] = []
        for name, given in resets:
            bounds = given.substitute(after)
            low, high = bounds.low, bounds.high
            if bounds.exact is None and low is not None and high is not None:
                share = variable(f"choice {self.choices}")
                self.choices += 1
                value = add(low, multiply(share, subtract(high, low)))
                filled.append(has_value(bounds))
            else:
                value = low if low is not None else (high if high is not None else variable(name))
            after[primed(name)] = value
        self.names = tuple(n for n, _ in resets if n in known)
        self._values = {n: after[primed(n)] for n in self.names}
        self._calculate = Calculator(list(self._values.values()), symbols, externals)
        self._context = (known, symbols, externals)
        whole = conjunction(*filled)
        self._filled = (
            TolerantCondition(whole, moving, symbols, externals) if whole != TRUE else None
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


def _chosen(shares: Sequence[float]) -> dict[str, float]:
    """The shares under the names that the compiled resets have for them."""
    return {f"choice {i}": share for i, share in enumerate(shares)}


class LastChance(NamedTuple):
    """Where an edge that stopped being enabled could be taken for the last time."""

    mark: object
    """Where the record of the run ended then."""

    time: float
    values: dict[str, float]
    edge: int
    signal_change: float


def edge_name(edge: Edge) -> str:
    """What an edge is called in traces."""
    return edge.name or edge.label or f"{edge.source} -> {edge.target}"
