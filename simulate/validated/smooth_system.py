"""Taylor coefficients of smooth differential equations over balls, and their solution operator.

For x' = f(x) the coefficients follow from (x_i)^[k+1] = f(x)^[k] / (k + 1); those of the
derivative by the initial state from the variational equations D' = f_x(x) D. For affine
equations the solution operator is a matrix exponential, without truncation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import flint

from workbench.models.expressions.affine import affine_form
from workbench.models.expressions.differentiate import NotDifferentiableError, differentiate
from workbench.models.expressions.expression import ZERO, Expression, add, multiply, variable
from workbench.simulate.validated.balls import BallEvaluator, GaveUp, ball

ORDER = 20
"""Of the Taylor polynomials that carry the solution on."""

TUBE_ORDER = 8
"""Of those that only show where affine equations lead on the way."""

Box = list[Any]


class SmoothSystem:
    """x' = f(x) for the given variables; `held` are the values of everything else."""

    def __init__(self, names: Sequence[str], rates: Sequence[Expression], held: Mapping[str, Any]):
        self.names, self.rates, self.held = tuple(names), tuple(rates), held
        self._f = BallEvaluator(*rates)

    @cached_property
    def order(self) -> int:
        """Of the Taylor polynomials."""
        return ORDER if self.affine is None else TUBE_ORDER

    def series(self, box: Sequence[Any], more: int = 0) -> list[list[Any]]:
        """Taylor coefficients of the solutions from a box, up to the order (exclusive)."""
        return self._expanded(self._f, self.names, box, self.order + more)

    def jacobian(self, box: Box, s: Any) -> Any:
        """The derivative of the Taylor polynomial at time s by the state it starts from, for
        all states of a box."""
        names, f = self._variational
        n = len(self.names)
        unit = [ball(int(i == j)) for i in range(n) for j in range(n)]
        series = self._expanded(f, names, [*box, *unit], self.order)
        return flint.arb_mat(n, n, [horner(row, s) for row in series[n:]])

    @cached_property
    def affine(self) -> Any:
        """The matrix of (x, 1)' = A (x, 1), if the equations are affine with exact
        coefficients; else None."""
        n = len(self.names)
        matrix = flint.arb_mat(n + 1, n + 1)
        for i, root in enumerate(self.rates):
            form = affine_form(root)
            if form is None:
                return None
            matrix[i, n] = matrix[i, n] + ball(form.constant)
            for name, factor in form.coefficients.items():
                if name in self.names:
                    j = self.names.index(name)
                    matrix[i, j] = matrix[i, j] + ball(factor)
                elif isinstance(self.held.get(name), flint.arb):
                    matrix[i, n] = matrix[i, n] + ball(factor) * self.held[name]
                else:
                    return None
        return matrix

    def exponential(self, center: Sequence[Any], s: Any) -> tuple[Box, Any]:
        """Where affine equations lead from a point in time s, and the derivative of that."""
        n = len(self.names)
        whole = (self.affine * s).exp()
        jacobian = flint.arb_mat(n, n, [whole[i, j] for i in range(n) for j in range(n)])
        image = jacobian * flint.arb_mat(n, 1, list(center))
        return [image[i, 0] + whole[i, n] for i in range(n)], jacobian

    # Details

    def _expanded(
        self, f: BallEvaluator, names: Sequence[str], box: Sequence[Any], count: int
    ) -> list[list[Any]]:
        coefficients = [[x] for x in box]
        for k in range(count - 1):
            values: dict[str, Any] = dict(self.held)
            for name, row in zip(names, coefficients, strict=True):
                values[name] = flint.arb_series(row, k + 1)
            with _Length(k + 1):
                derivatives = f(values)
            for row, d in zip(coefficients, derivatives, strict=True):
                value = d[k] if isinstance(d, flint.arb_series) else (d if k == 0 else ball(0))
                if not value.is_finite():
                    raise GaveUp("a derivative has no finite bound")
                row.append(value / (k + 1))
        return coefficients

    @cached_property
    def _variational(self) -> tuple[tuple[str, ...], BallEvaluator]:
        """The equations with those of the derivatives by the initial state."""
        n = len(self.names)
        derivatives = [f"d {i} {j}" for i in range(n) for j in range(n)]
        roots = list(self.rates)
        try:
            gradient = [[differentiate(f, name) for name in self.names] for f in roots]
        except NotDifferentiableError as error:
            raise GaveUp("has no derivative", error.expression) from error
        for i in range(n):
            for j in range(n):
                terms = [
                    multiply(gradient[i][k], variable(f"d {k} {j}"))
                    for k in range(n)
                    if gradient[i][k] != ZERO
                ]
                roots.append(add(*terms) if terms else ZERO)
        return (*self.names, *derivatives), BallEvaluator(*roots)


def horner(coefficients: Sequence[Any], s: Any) -> Any:
    """The polynomial with these coefficients, lowest first."""
    value = coefficients[-1]
    for c in reversed(coefficients[:-1]):
        value = value * s + c
    return value


class _Length:
    """The length of power series, set for a while."""

    def __init__(self, length: int):
        self.length = length

    def __enter__(self) -> None:
        self.before, flint.ctx.cap = flint.ctx.cap, self.length

    def __exit__(self, *_: object) -> None:
        flint.ctx.cap = self.before
