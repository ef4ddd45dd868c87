"""One search over the runs of one shape: corners and random points, single coordinates at
their ends, then CMA-ES, then descent along coordinates, then again from elsewhere.

`seeds` are points that are worth a try. A searcher is asked for points and told their costs;
it draws from its own generator, so its course depends on its seed and on the costs alone.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from random import Random

from workbench.simulate.search.cma import CovarianceSearch

Points = list[list[float]]
Course = Generator[Points, Sequence[float], None]

FIRST_POINTS = 12
DESCENT_END = 1e-3


class Searcher:
    """The best point so far, and what to try next."""

    def __init__(self, dimension: int, generator: Random, seeds: Sequence[list[float]] = ()):
        self.dimension, self._random, self._seeds = dimension, generator, seeds
        self.best: list[float] = [0.5] * dimension
        self.cost = math.inf
        self._course = self._steps()
        self._waiting: Points = next(self._course)
        self._told: Sequence[float] | None = None
        self.exhausted = False

    def ask(self) -> Points:
        """The next points; none if there is nothing left to try."""
        if self._told is not None:
            costs, self._told = self._told, None
            try:
                self._waiting = self._course.send(costs)
            except StopIteration:
                self._waiting, self.exhausted = [], True
        return self._waiting

    def tell(self, costs: Sequence[float]) -> None:
        """What they cost."""
        for x, cost in zip(self._waiting, costs, strict=True):
            if cost < self.cost:
                self.cost, self.best = cost, list(x)
        self._told = costs

    # The course of a search

    def _steps(self) -> Course:
        n = self.dimension
        if n == 0:
            yield [[]]
            return
        yield [*([level] * n for level in (0.0, 0.5, 1.0)), *map(list, self._seeds)]
        yield [self._point() for _ in range(FIRST_POINTS)]
        yield from self._sweep()
        step, population = 0.3, None
        while True:
            yield from self._evolution(list(self.best), step, population)
            yield from self._descent()
            costs: Sequence[float] = []
            points = [self._point() for _ in range(FIRST_POINTS)]
            costs = yield points
            start = points[min(range(len(points)), key=lambda i: costs[i])]
            population = 8 + 2 * n if population is None else min(2 * population, 200)
            yield from self._evolution(start, 0.4, population)

    def _point(self) -> list[float]:
        """A random point: evenly spread, or with many coordinates at the ends."""
        extremes = self._random.choice((0.0, 0.5, 0.9))
        return [
            float(self._random.random() < 0.5)
            if self._random.random() < extremes
            else self._random.random()
            for _ in range(self.dimension)
        ]

    def _sweep(self) -> Course:
        """Every coordinate of the best point moved to either end and to the middle, one at a
        time: violations often need extreme values, and a single change of a signal."""
        centre, cost = list(self.best), self.cost
        moves = [
            [*centre[:i], level, *centre[i + 1 :]]
            for i in range(self.dimension)
            for level in (0.0, 0.5, 1.0)
            if level != centre[i]
        ]
        self._random.shuffle(moves)
        costs: list[float] = []
        for first in range(0, len(moves), FIRST_POINTS):
            costs += yield moves[first : first + FIRST_POINTS]
        helpful = [x for x, c in zip(moves, costs, strict=True) if c < cost]
        if len(helpful) > 1:
            yield [self._merged(centre, helpful)]

    def _merged(self, centre: list[float], moves: Points) -> list[float]:
        """All changes at once."""
        merged = list(centre)
        for x in moves:
            for i, (new, old) in enumerate(zip(x, centre, strict=True)):
                if new != old:
                    merged[i] = new
        return merged

    def _evolution(self, start: list[float], step: float, population: int | None) -> Course:
        inside = [min(max(v, 0.0), 1.0) for v in start]
        search = CovarianceSearch(inside, step, self._random, population)
        while not search.finished:
            points = search.ask()
            costs = yield points
            search.tell(
                [
                    cost + 1e-3 * abs(cost) * _outside(x) if math.isfinite(cost) else cost
                    for cost, x in zip(costs, points, strict=True)
                ]
            )

    def _descent(self) -> Course:
        """Steps along single coordinates, halved when none of them helps."""
        step = 0.1
        while step >= DESCENT_END:
            centre, cost = [min(max(v, 0.0), 1.0) for v in self.best], self.cost
            moves = [
                [*centre[:i], min(max(centre[i] + d, 0.0), 1.0), *centre[i + 1 :]]
                for i in range(self.dimension)
                for d in (step, -step)
            ]
            costs = yield moves
            if not min(costs) < cost:
                step *= 0.5


def _outside(x: Sequence[float]) -> float:
    """How far a point lies outside the unit cube: what is clamped must not drift away."""
    return sum((v - min(max(v, 0.0), 1.0)) ** 2 for v in x)
