"""CMA-ES: minimisation without derivatives, by a normal distribution that adapts.

The usual (mu/mu_w, lambda) strategy: the mean moves to the weighted best points, the
covariance learns from the path of the mean (rank one) and from the best points (rank mu),
the step size from the length of the path. Points are asked for and told back in batches,
so that whoever evaluates them may do so in parallel. Random numbers come from the caller's
generator: equal seeds give equal searches.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random
from typing import Any

MAX_FULL = 120
"""In more dimensions the covariance is kept diagonal."""


class CovarianceSearch:
    """One search from a start and a step size."""

    def __init__(
        self, start: Sequence[float], step: float, generator: Random, population: int | None = None
    ):
        import numpy as np

        self._np: Any = np
        n = len(start)
        self.n, self.step, self._random = n, step, generator
        self.size = population or 4 + int(3 * math.log(max(n, 1)) if n > 1 else 4)
        self._mean = np.array(start, dtype=float)
        half = self.size // 2
        raw = [math.log(half + 0.5) - math.log(i + 1) for i in range(half)]
        total = sum(raw)
        self._weights = np.array([w / total for w in raw])
        self._mu = 1.0 / float((self._weights**2).sum())
        self._set_rates()
        self._covariance = np.ones(n) if n > MAX_FULL else np.eye(n)
        self._path, self._step_path = np.zeros(n), np.zeros(n)
        self._points: Any = None
        self.generation = 0
        self._history: list[float] = []

    def _set_rates(self) -> None:
        n, mu = self.n, self._mu
        self._c_step = (mu + 2) / (n + mu + 5)
        self._damping = 1 + 2 * max(0.0, math.sqrt((mu - 1) / (n + 1)) - 1) + self._c_step
        self._c_path = (4 + mu / n) / (n + 4 + 2 * mu / n)
        self._c_one = 2 / ((n + 1.3) ** 2 + mu)
        self._c_mu = min(1 - self._c_one, 2 * (mu - 2 + 1 / mu) / ((n + 2) ** 2 + mu))
        if n > MAX_FULL:
            self._c_one, self._c_mu = (c * (n + 2) / 3 for c in (self._c_one, self._c_mu))
            total = self._c_one + self._c_mu
            if total > 1:
                self._c_one, self._c_mu = self._c_one / total, self._c_mu / total
        self._length = math.sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n * n))

    def ask(self) -> list[list[float]]:
        """The next points to evaluate."""
        np = self._np
        if self._covariance.ndim == 1:
            self._basis, self._scales = None, np.sqrt(self._covariance)
        else:
            values, self._basis = np.linalg.eigh(self._covariance)
            self._scales = np.sqrt(np.maximum(values, 1e-20))
        normal = np.array(
            [[self._random.gauss(0.0, 1.0) for _ in range(self.n)] for _ in range(self.size)]
        )
        moves = normal * self._scales
        if self._basis is not None:
            moves = moves @ self._basis.T
        self._points = self._mean + self.step * moves
        return [[float(v) for v in row] for row in self._points]

    def tell(self, costs: Sequence[float]) -> None:
        """What the points that were asked for cost."""
        np = self._np
        order = sorted(range(len(costs)), key=lambda i: costs[i])
        best = self._points[order[: len(self._weights)]]
        old = self._mean
        self._mean = self._weights @ best
        shift = (self._mean - old) / self.step
        inverse = self._whitened(shift)
        c = self._c_step
        self._step_path = (1 - c) * self._step_path + math.sqrt(c * (2 - c) * self._mu) * inverse
        length = float(np.linalg.norm(self._step_path))
        self.generation += 1
        decay = math.sqrt(1 - (1 - c) ** (2 * self.generation))
        steady = length / decay < (1.4 + 2 / (self.n + 1)) * self._length
        cp = self._c_path
        self._path = (1 - cp) * self._path
        if steady:
            self._path = self._path + math.sqrt(cp * (2 - cp) * self._mu) * shift
        self._adapt((best - old) / self.step, steady)
        self.step *= math.exp(min(1.0, (c / self._damping) * (length / self._length - 1)))
        self._history.append(costs[order[0]])

    def _whitened(self, shift: Any) -> Any:
        if self._basis is None:
            return shift / self._scales
        return self._basis @ ((self._basis.T @ shift) / self._scales)

    def _adapt(self, moves: Any, steady: bool) -> None:
        np = self._np
        one, many = self._c_one, self._c_mu
        lost = 0.0 if steady else one * self._c_path * (2 - self._c_path)
        keep = 1 - one - many + lost
        if self._covariance.ndim == 1:
            rank = self._weights @ (moves**2)
            self._covariance = keep * self._covariance + one * self._path**2 + many * rank
        else:
            rank = (moves.T * self._weights) @ moves
            path = np.outer(self._path, self._path)
            self._covariance = keep * self._covariance + one * path + many * rank

    @property
    def finished(self) -> bool:
        """Whether the search has converged or stands still."""
        if self.step < 1e-6 or not math.isfinite(self.step):
            return True
        window = 10 + 30 * self.n // self.size
        if len(self._history) < 2 * window:
            return False
        recent, before = min(self._history[-window:]), min(self._history[:-window])
        return recent >= before - 1e-9 * max(1.0, abs(before))
