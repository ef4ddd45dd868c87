"""Expressions and conditions evaluated at a single point, outside the stepping loop."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from models.automaton import TIME, EventKind
from models.expressions.expression import ZERO, Expression
from models.expressions.traversal import free_variables
from simulate.stepping import engine
from simulate.stepping.program import compile_program, compile_values

Externals = Mapping[str, Callable[..., float]]


class Calculator:
    """Several expressions compiled together; call it with the values of their variables."""

    def __init__(
        self, expressions: Sequence[Expression], symbols: Mapping[str, int], externals: Externals
    ):
        self.names = tuple(sorted(free_variables(*expressions) - {TIME}))
        program = compile_values(self.names, expressions, symbols, externals)
        self._values = engine.values_of(program, (TIME, *self.names))

    def __call__(self, values: Mapping[str, float]) -> list[float]:
        """The values of the expressions, in order; undefined ones are NaN."""
        return self._values(values)


class TolerantCondition:
    """A condition that is tested with the same tolerance as the events of a run.

    An atom g >= 0 passes where g >= -eps, with eps = |dg/dx| (atol + rtol |x|): as exact as
    the state is known. Conditions over discrete variables alone are decided exactly.
    """

    def __init__(
        self,
        condition: Expression,
        moving: frozenset[str],
        symbols: Mapping[str, int],
        externals: Externals,
    ):
        names = sorted(free_variables(condition) - {TIME})
        self.names = frozenset(names)
        flowing = tuple(n for n in names if n in moving)
        held = tuple(n for n in names if n not in moving)
        program = compile_program(
            flowing=flowing,
            held=held,
            flows=[ZERO] * len(flowing),
            watches=((condition, EventKind.UNILATERAL),),
            symbols=symbols,
            externals=externals,
        )
        self._holds = engine.truth_of(program, (TIME, *flowing, *held))

    def __call__(self, values: Mapping[str, float], rtol: float, atol: float) -> bool:
        """Whether the condition holds within the tolerance."""
        return self._holds(values, rtol, atol)
