"""Expressions and conditions evaluated at a single point, outside the stepping loop."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from workbench.models.automaton import TIME, EventKind
from workbench.models.expressions.differentiate import NotDifferentiableError, differentiate
from workbench.models.expressions.expression import ZERO, Expression
from workbench.models.expressions.traversal import free_variables
from workbench.simulate.stepping import engine
from workbench.simulate.stepping.program import compile_program, compile_values

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


class Sensitivity:
    """How far a value moves, at most and to first order, where its variables move."""

    def __init__(
        self,
        expression: Expression,
        variables: frozenset[str],
        symbols: Mapping[str, int],
        externals: Externals,
    ):
        slopes: dict[str, Expression] = {}
        for name in sorted(free_variables(expression) & variables):
            with suppress(NotDifferentiableError, ValueError):
                slopes[name] = differentiate(expression, name)
        self._names = tuple(slopes)
        self._slopes = Calculator(list(slopes.values()), symbols, externals)

    def __call__(self, values: Mapping[str, float], moves: Mapping[str, float]) -> float:
        """The sum over the variables of |slope| times move; of those in which the expression has
        no slope nothing is known, and they do not count."""
        moved = [moves.get(name, 0.0) for name in self._names]
        return sum(abs(s) * d for s, d in zip(self._slopes(values), moved, strict=True) if d)


class TolerantCondition:
    """A condition that is tested with the same tolerance as the events of a run.

    An atom g >= 0 passes where g >= -eps, with eps = |dg/dx| (atol + rtol |x|): as exact as
    the state is known. Conditions over discrete variables alone are decided exactly. A negative
    tolerance asks for a margin: where it is not kept, the condition does not hold.
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
