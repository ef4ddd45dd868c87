"""Runs along a path of stays that end in bad states, if there are any: one linear program.

For fixed jump times the state at every moment is affine in the initial state, in the values of
piecewise constant inputs and in what resets choose. So a run that goes along a path of edges
and ends in a bad set is a solution of linear inequalities: initial set, bounds of inputs,
guards and resets at the jumps, invariants at the ends of all pieces. The program asks for the
run that goes furthest into the bad set. With no jump and one bad row the answer is the worst
initial state and the bang-bang input that the adjoint curve of the row gives.

Floating point, and invariants only at some moments: what is found is a suggestion, to be
replayed by the simulator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from models.automaton import primed
from models.proof.affine_flow import ONE, AffineFlow
from models.proof.linear import Row, Rows
from models.proof.problem import LinearProblem
from reach.affine.matrix_exponential import matrix_exponential
from reach.programs.linear_program import minimise

Array = NDArray[np.float64]

PIECES = 24
"""Pieces of the inputs in one stay."""

MAX_NAMES = 400
"""Larger systems are not followed densely."""

DEEPEST = 1e6
"""How deep into the bad set a run is asked to go, in units of its rows."""

NEARLY = 1e-9


@dataclass(frozen=True)
class Stretch:
    """A stay of a path: its location, how long it lasts, and the rows of the jump that ends
    it (None for the last)."""

    location: str
    duration: float
    jump: Rows | None = None


@dataclass(frozen=True)
class Witness:
    """A run: its initial values, times and values of the pieces of every input and of every
    derivative in a range (`d(x)`, from 0 at its low end to 1), and when it is bad."""

    location: str
    initial: Mapping[str, float]
    signals: Mapping[str, tuple[tuple[float, ...], tuple[float, ...]]]
    time: float
    jumps: int
    depth: float


Expression = tuple[Array, float]
"""Factors of the program's unknowns, and a constant."""


def witness(
    problem: LinearProblem,
    flow: Callable[[str], AffineFlow],
    start: Rows,
    path: Sequence[Stretch],
    bad: Rows,
) -> Witness | None:
    """The run along the path that ends deepest in the bad rows; None if none does."""
    if any(len(flow(stretch.location).names) > MAX_NAMES for stretch in path):
        return None
    program = _Program(problem, flow, start, path)
    return program.solve(bad)


class _Program:
    """The inequalities of one path."""

    def __init__(
        self,
        problem: LinearProblem,
        flow: Callable[[str], AffineFlow],
        start: Rows,
        path: Sequence[Stretch],
    ):
        self._problem, self._flow, self._path = problem, flow, path
        self._inputs = [u.name for u in problem.automaton.inputs]
        self._names: dict[object, int] = {"depth": 0}
        self._declare(start)
        self._size = len(self._names)
        self._matrix: list[Array] = []
        self._bound: list[float] = []
        self._times: list[float] = []
        self._now = 0.0
        first = {row_name: self._unknown((-1, row_name)) for row_name in _names_of(start)}
        self._add(start, first)
        state = [first.get(primed(n), self._zero()) for n in flow(path[0].location).names]
        for number, stretch in enumerate(path):
            state = self._stay(number, stretch, state)

    def _declare(self, start: Rows) -> None:
        """Number all unknowns."""
        for name in _names_of(start):
            self._names.setdefault((-1, name), len(self._names))
        for number, stretch in enumerate(self._path):
            for name in self._loose(stretch.location):
                for k in range(PIECES):
                    self._names.setdefault((number, name, k), len(self._names))
            for name in _names_of(stretch.jump or ()):
                self._names.setdefault((number, name), len(self._names))

    def _loose(self, location: str) -> list[str]:
        """Inputs, and signals that are no inputs."""
        signals = [s.name for s in self._flow(location).signals if s.name != ONE]
        return list(dict.fromkeys([*self._inputs, *signals]))

    def _unknown(self, key: object) -> Expression:
        factors = np.zeros(self._size)
        factors[self._names[key]] = 1.0
        return factors, 0.0

    def _zero(self) -> Expression:
        return np.zeros(self._size), 0.0

    def _add(self, rows: Sequence[Row], values: Mapping[str, Expression], depth: float = 0) -> None:
        """Rows over expressions; rows with other names are left out."""
        for row in rows:
            if not row.form.coefficients.keys() <= values.keys():
                continue
            factors, constant = np.zeros(self._size), float(row.form.constant)
            for name, a in row.form.coefficients.items():
                factors += float(a) * values[name][0]
                constant += float(a) * values[name][1]
            if depth:
                factors[0] += depth * max(abs(float(a)) for a in row.form.coefficients.values())
            self._matrix.append(factors)
            self._bound.append(-constant)

    def _stay(self, number: int, stretch: Stretch, state: list[Expression]) -> list[Expression]:
        """The state at the end of a stay, or after the jump that ends it."""
        flow = self._flow(stretch.location)
        signals = {s.name: s for s in flow.signals}
        loose = self._loose(stretch.location)
        length = stretch.duration / PIECES
        transition, gain = _transition(flow, length)
        factors = np.array([e[0] for e in state])
        constants = np.array([e[1] for e in state])
        invariants = self._problem.invariant(stretch.location)
        invariant = invariants[0] if len(invariants) == 1 else ()
        values: dict[str, Expression] = {}
        for k in range(PIECES):
            held = {name: self._unknown((number, name, k)) for name in loose}
            for name in loose:
                if name in signals:
                    self._within(held[name], signals[name].low, signals[name].high)
            self._add(invariant, held | _named(flow, factors, constants))
            pushes = [held.get(s.name, (np.zeros(self._size), 1.0)) for s in flow.signals]
            self._times.append(self._now)
            self._now += length
            factors, constants = transition @ factors, transition @ constants
            if pushes:
                factors += gain @ np.array([p[0] for p in pushes])
                constants += gain @ np.array([p[1] for p in pushes])
            values = held | _named(flow, factors, constants)
            self._add(invariant, values)
        self._end = values
        if stretch.jump is None:
            return []
        after = {n: self._unknown((number, n)) for n in _names_of(stretch.jump) if n not in values}
        self._add(stretch.jump, values | after)
        target = self._path[number + 1].location
        return [after.get(primed(n), self._zero()) for n in self._flow(target).names]

    def _within(self, value: Expression, low: Fraction | None, high: Fraction | None) -> None:
        for end, sign in ((high, 1.0), (low, -1.0)):
            if end is not None:
                self._matrix.append(sign * value[0])
                self._bound.append(sign * float(end))

    def solve(self, bad: Rows) -> Witness | None:
        """Go as deep into the bad rows as possible, at the end of the last stay."""
        last = self._path[-1].location
        known_rows = (*self._problem.invariant(last), *self._problem.idle(last))
        always = [row for rows in known_rows for row in rows]
        self._add([row for row in bad if row in always], self._end)
        self._add([row for row in bad if row not in always], self._end, depth=1.0)
        cost, low = np.zeros(self._size), np.full(self._size, -np.inf)
        cost[0], low[0] = -1.0, -DEEPEST
        limit = np.zeros(self._size)
        limit[0] = 1.0
        matrix, bound = np.array([*self._matrix, limit]), np.array([*self._bound, DEEPEST])
        solution = minimise(cost, matrix, bound, low)
        if solution is None or solution[0] <= 0.0:
            return None
        place = self._path[0].location
        known = set(self._flow(place).names)
        initial = {
            n: float(solution[self._names[-1, primed(n)]])
            for n in sorted(known)
            if (-1, primed(n)) in self._names
        }
        found = dict(self._signals(solution))
        jumps = len(self._path) - 1
        return Witness(place, initial, found, self._now, jumps, float(solution[0]))

    def _signals(
        self, solution: Array
    ) -> Iterator[tuple[str, tuple[tuple[float, ...], tuple[float, ...]]]]:
        """The pieces of every input and derivative; equal neighbours are one piece."""
        wanted = {name for s in self._path for name in self._loose(s.location)}
        for name in sorted(wanted):
            times: list[float] = []
            values: list[float] = []
            for number in range(len(self._path)):
                for k in range(PIECES):
                    column = self._names.get((number, name, k))
                    if column is None:
                        continue
                    value = self._value(number, name, float(solution[column]))
                    if not values or abs(value - values[-1]) > NEARLY * max(1.0, abs(value)):
                        times.append(self._times[number * PIECES + k])
                        values.append(value)
            yield name, (tuple(times), tuple(values))

    def _value(self, number: int, name: str, value: float) -> float:
        """The value of an input, or where in its range a derivative is."""
        if name in self._inputs:
            return value
        signals = self._flow(self._path[number].location).signals
        signal = next(s for s in signals if s.name == name)
        if signal.low is None or signal.high is None or signal.low == signal.high:
            return 0.5
        share = (value - float(signal.low)) / float(signal.high - signal.low)
        return min(max(share, 0.0), 1.0)


def _transition(flow: AffineFlow, length: float) -> tuple[Array, Array]:
    """exp(A t), and what a unit of each signal adds over the time."""
    n, m = len(flow.names), len(flow.signals)
    matrix = np.zeros((n + m, n + m))
    for j, column in enumerate((*flow.columns, *(s.column for s in flow.signals))):
        for i, value in column.items():
            matrix[i, j] = float(value)
    found = matrix_exponential(matrix * length)
    return found[:n, :n], found[:n, n:]


def _named(flow: AffineFlow, factors: Array, constants: Array) -> dict[str, Expression]:
    return {n: (factors[j], float(constants[j])) for j, n in enumerate(flow.names)}


def _names_of(rows: Rows) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row.form.coefficients))
