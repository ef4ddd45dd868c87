"""Expressions and conditions evaluated at a single point, outside the stepping loop."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from models.automaton import TIME, EventKind
from models.expression import Expression, free_variables
from simulate.condition import AND, FALSE, OR, TRUE
from simulate.program import EQUALITY, FROZEN, STRICT, Program, compile_program
from simulate.reference_tape import execute, sensitivity
from simulate.tape import TapeBuilder

Externals = Mapping[str, Callable[..., float]]


class Calculator:
    """Several expressions compiled together; call it with the values of their variables."""

    def __init__(
        self, expressions: Sequence[Expression], symbols: Mapping[str, int], externals: Externals
    ):
        self.names = tuple(sorted(free_variables(*expressions) - {TIME}))
        builder = TapeBuilder((), self.names, symbols)
        self._tape = builder.tape(*expressions)
        self._registers = [0.0] * builder.count
        for register, value in builder.constants.items():
            self._registers[register] = value
        self._tables = builder.tables
        self._externals = tuple(externals[name] for name in builder.externals)

    def __call__(self, values: Mapping[str, float]) -> list[float]:
        """The values of the expressions, in order; undefined ones are NaN."""
        r = list(self._registers)
        r[0] = values.get(TIME, 0.0)
        r[1 : 1 + len(self.names)] = [values[name] for name in self.names]
        execute(self._tape.instructions, r, self._tables, self._externals)
        return [r[i] for i in self._tape.outputs]


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
        flowing = tuple(n for n in names if n in moving)
        held = tuple(n for n in names if n not in moving)
        self._program: Program = compile_program(
            flowing=flowing,
            held=held,
            flows=(),
            watches=((condition, EventKind.UNILATERAL),),
            symbols=symbols,
            externals=externals,
        )

    def __call__(self, values: Mapping[str, float], rtol: float, atol: float) -> bool:
        """Whether the condition holds within the tolerance."""
        p = self._program
        r = list(p.registers)
        names = (*p.flowing, *p.held)
        r[0] = values.get(TIME, 0.0)
        r[1 : 1 + len(names)] = [values[name] for name in names]
        execute(p.guard, r, p.tables, p.externals)
        spread, noise = [0.0] * len(r), [0.0] * len(r)
        for i in range(1, 1 + len(p.flowing)):
            spread[i] = atol + rtol * abs(r[i])
        sensitivity(p.guard, r, spread, noise, p.tables)
        truth = []
        for register, sign, _, flags in p.atoms:
            v, eps = r[register], spread[register]
            eps = eps if eps < math.inf else atol
            if flags & FROZEN:
                truth.append((v != 0.0) == (sign > 0))
            elif flags & EQUALITY:
                truth.append((abs(v) <= eps) == (sign > 0))
            else:
                truth.append(sign * v > eps if flags & STRICT and eps == 0.0 else sign * v >= -eps)
        return formula_truth(p.watches[0].tokens, truth)


def formula_truth(tokens: Sequence[int], truth: Sequence[bool]) -> bool:
    """The truth of a formula in postfix form."""
    stack: list[bool] = []
    for token in tokens:
        if token >= 0:
            stack.append(truth[token])
        elif token in (TRUE, FALSE):
            stack.append(token == TRUE)
        else:
            b, a = stack.pop(), stack.pop()
            assert token in (AND, OR)
            stack.append((a and b) if token == AND else (a or b))
    return stack[-1]
