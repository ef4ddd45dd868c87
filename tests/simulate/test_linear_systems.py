"""Random linear systems with random linear guards against the matrix exponential.

The oracle knows nothing of the simulator: the exact solution by `scipy.linalg.expm` on a
fine grid, refined by bisection, gives the first time at which the guard holds.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.linalg import expm

from workbench.models.automaton import EventKind
from workbench.models.expressions.expression import Expression, add, constant, variable
from workbench.simulate.stepping.engine import advance
from workbench.simulate.stepping.methods import Adams, Method, Taylor
from workbench.simulate.stepping.program import compile_program
from workbench.simulate.stepping.stretch import Stop

HALF = st.integers(-6, 6).map(lambda i: i / 4)
UNTIL, GRID = 4.0, 1000


def matrix(n: int) -> st.SearchStrategy[list[list[float]]]:
    row = st.lists(HALF, min_size=n, max_size=n)
    return st.lists(row, min_size=n, max_size=n)


@st.composite
def problems(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    n = draw(st.integers(2, 4))
    a = np.array(draw(matrix(n)))
    x = np.array(draw(st.lists(HALF, min_size=n, max_size=n)))
    c = np.array(draw(st.lists(HALF, min_size=n, max_size=n)))
    return a, x, c, draw(HALF)


def first_event(a: np.ndarray, x: np.ndarray, c: np.ndarray, level: float) -> float | None:
    """The first time with c.x >= level."""
    step = expm(a * UNTIL / GRID)
    values, states, state = [c @ x - level], [x], x
    for _ in range(GRID):
        state = step @ state
        states.append(state)
        values.append(c @ state - level)
    h = UNTIL / GRID
    for k in range(GRID):
        if values[k + 1] >= 0.0:
            low, high = 0.0, h
            for _ in range(60):
                middle = (low + high) / 2
                if c @ (expm(a * middle) @ states[k]) >= level:
                    high = middle
                else:
                    low = middle
            return k * h + high
    return None


def expression_of(c: np.ndarray, names: list[str]) -> Expression:
    return add(*(variable(n) * constant_of(v) for n, v in zip(names, c, strict=True)))


def constant_of(value: float) -> Expression:
    return constant(Fraction(float(value)))


@pytest.mark.parametrize(
    "method",
    [Adams(rtol=1e-9, atol=1e-10), Taylor(rtol=1e-10, atol=1e-11, order=16)],
    ids=["adams", "taylor"],
)
@settings(max_examples=max(20, settings.default.max_examples // 5))
@given(problems())
def test_first_event(
    method: Method, problem: tuple[np.ndarray, np.ndarray, np.ndarray, float]
) -> None:
    a, x, c, level = problem
    assume(c @ x - level < -1e-3)
    exact = first_event(a, x, c, level)
    names = [f"x{i}" for i in range(len(x))]
    program = compile_program(
        flowing=names,
        held=[],
        flows=[expression_of(row, names) for row in a],
        watches=[(expression_of(c, names) >= constant_of(level), EventKind.UNILATERAL)],
    )
    found = advance(program, method, 0.0, list(x), [], UNTIL, [0])
    size = 1.0 + float(np.max(np.abs(expm(a * found.t) @ x)))
    residual = float(c @ (expm(a * found.t) @ x) - level)
    if found.stop is Stop.EVENT:
        # the exact solution is on the guard at the reported time, and was not before
        assert abs(residual) <= 1e-6 * size
        if exact is not None and found.t < exact - 1e-6:
            hump = float(c @ (a @ (expm(a * found.t) @ x)))
            assert abs(hump) <= 1e-2 * size  # an earlier touch between two grid points
        elif exact is not None:
            slope = abs(float(c @ (a @ (expm(a * exact) @ x))))
            assert abs(found.t - exact) <= 1e-5 * size / max(slope, 1e-3)
    else:
        assert found.stop is Stop.END
        if exact is not None:
            after = expm(a * min(exact + 0.05, UNTIL)) @ x
            assert float(c @ after - level) <= 1e-5 * size  # it only touched
    assert found.counts.beyond == 0
