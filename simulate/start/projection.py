"""Moving a point onto equations that are not linear, by Gauss-Newton steps of least length."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from workbench.models.expressions.differentiate import NotDifferentiableError, differentiate
from workbench.models.expressions.expression import Expression, subtract
from workbench.simulate.stepping.calculator import Calculator, Externals

ROUNDS = 30
ENOUGH = 1e-14


class Projection:
    """x - J^T (J J^T)^-1 g(x), again and again, for equations g = 0 with the Jacobian J."""

    def __init__(
        self,
        equations: Sequence[Expression],
        names: Sequence[str],
        symbols: Mapping[str, int],
        externals: Externals,
    ):
        self.names = tuple(names)
        gaps = [subtract(e.args[0], e.args[1]) for e in equations]
        slopes = [differentiate(g, n) for g in gaps for n in self.names]
        self._count = len(gaps)
        self._calculate = Calculator([*gaps, *slopes], symbols, externals)

    def __call__(self, values: Mapping[str, float]) -> dict[str, float] | None:
        """The values moved onto the equations; None where that does not succeed."""
        point = dict.fromkeys(self._calculate.names, 0.0) | dict(values)
        for _ in range(ROUNDS):
            found = self._calculate(point)
            gaps, slopes = found[: self._count], found[self._count :]
            width = len(self.names)
            rows = [slopes[i * width : (i + 1) * width] for i in range(self._count)]
            system = [[_dot(a, b) for b in rows] + [g] for a, g in zip(rows, gaps, strict=True)]
            weights = _solved(system)
            if weights is None:
                return None
            moves = [_dot(weights, [row[j] for row in rows]) for j in range(width)]
            for name, move in zip(self.names, moves, strict=True):
                point[name] -= move
            if all(
                abs(m) <= ENOUGH * (1.0 + abs(point[n]))
                for n, m in zip(self.names, moves, strict=True)
            ):
                return {n: point[n] for n in self.names}
        return None


def projection(
    equations: Sequence[Expression],
    names: Sequence[str],
    symbols: Mapping[str, int],
    externals: Externals,
) -> Projection | None:
    """The projection onto some equations; None if there are none, or one is not smooth."""
    try:
        return Projection(equations, names, symbols, externals) if equations else None
    except (NotDifferentiableError, ValueError):
        return None


def _solved(system: list[list[float]]) -> list[float] | None:
    """Gaussian elimination with pivots; None if the system is singular or not finite."""
    n = len(system)
    for k in range(n):
        best = max(range(k, n), key=lambda i: abs(system[i][k]))
        if not 0.0 < abs(system[best][k]) < float("inf"):
            return None
        system[k], system[best] = system[best], system[k]
        for i in range(n):
            if i != k:
                factor = system[i][k] / system[k][k]
                system[i] = [a - factor * b for a, b in zip(system[i], system[k], strict=True)]
    return [system[k][n] / system[k][k] for k in range(n)]


def _dot(a: Sequence[float], b: Sequence[float]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))
