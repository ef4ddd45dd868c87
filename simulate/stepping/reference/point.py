"""Expressions and conditions at one point, in plain Python: the reference for `core/point.c`.

The values are given by name, `time` (0 where it is missing) first.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from workbench.simulate.stepping.condition import formula_truth
from workbench.simulate.stepping.program import EQUALITY, FROZEN, STRICT, Program
from workbench.simulate.stepping.reference.tape import execute, sensitivity


def values(program: Program, names: Sequence[str], given: Mapping[str, float]) -> list[float]:
    """The values of the atoms' expressions; undefined ones are NaN."""
    r = _executed(program, names, given)
    return [r[register] for register, _, _, _ in program.atoms]


def holds(
    program: Program, names: Sequence[str], given: Mapping[str, float], rtol: float, atol: float
) -> bool:
    """Whether the program's one watch holds: an atom g >= 0 passes where g >= -eps. (Negative
    tolerances ask for a margin.)"""
    r = _executed(program, names, given)
    spread, noise = [0.0] * len(r), [0.0] * len(r)
    for i in range(1, 1 + len(program.flowing)):
        spread[i] = atol + rtol * abs(r[i])
    sensitivity(program.guard, r, spread, noise, program.tables, program.lipschitz)
    truth = []
    for register, sign, _, flags in program.atoms:
        v, eps = r[register], spread[register]
        eps = eps if eps < math.inf else atol
        if flags & FROZEN:
            truth.append((v != 0.0) == (sign > 0))
        elif flags & EQUALITY:
            truth.append(abs(v) <= eps if sign > 0 else not abs(v) <= abs(eps))
        else:
            truth.append(sign * v > eps if flags & STRICT and eps == 0.0 else sign * v >= -eps)
    return formula_truth(program.watches[0].tokens, truth)


def _executed(program: Program, names: Sequence[str], given: Mapping[str, float]) -> list[float]:
    r = list(program.registers)
    r[0] = given.get(names[0], 0.0)
    r[1 : len(names)] = [given[name] for name in names[1:]]
    execute(program.guard, r, program.tables, program.externals)
    return r
