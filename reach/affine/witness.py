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

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workbench.models.automaton import primed
from workbench.models.checker.affine_flow import ONE, AffineFlow, Signal
from workbench.models.linear import Row, Rows
from workbench.models.lowering.problem import LinearProblem
from workbench.reach.affine.matrix_exponential import matrix_exponential
from workbench.reach.programs.linear_program import minimise

Array = NDArray[np.float64]

PIECES = 24
"""Pieces of the inputs in one stay."""

MAX_NAMES = 400
"""Larger systems are not followed densely."""

DEEPEST = 1e6
"""How deep into the bad set a run is asked to go, in units of its rows."""

NEARLY = 1e-9


_Read = tuple[Array, Array]
"""Conditions, factors * values + constants <= 0, over values in a certain order."""


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
    """The inequalities of one path; values are affine in the unknowns: rows of factors, with a
    constant at the end."""

    def __init__(
        self,
        problem: LinearProblem,
        flow: Callable[[str], AffineFlow],
        start: Rows,
        path: Sequence[Stretch],
    ):
        self._problem, self._flow, self._path = problem, flow, path
        self._inputs = [u.name for u in problem.automaton.inputs]
        self._numbers: dict[object, int] = {"depth": 0}
        self._declare(start)
        self._size = len(self._numbers)
        self._low = np.full(self._size, -np.inf)
        self._high = np.full(self._size, np.inf)
        self._low[0], self._high[0] = -DEEPEST, DEEPEST
        self._rows: list[Array] = []
        self._times: list[float] = []
        self._now = 0.0
        names = _names_of(start)
        first = self._unknowns((-1, name) for name in names)
        self._add(_read(start, names), first)
        state = _chosen(flow(path[0].location), names, first)
        for number, stretch in enumerate(path):
            state = self._stay(number, stretch, state)

    def _declare(self, start: Rows) -> None:
        """Number all unknowns."""
        for name in _names_of(start):
            self._numbers.setdefault((-1, name), len(self._numbers))
        for number, stretch in enumerate(self._path):
            for name in self._loose(stretch.location):
                for k in range(PIECES):
                    self._numbers.setdefault((number, name, k), len(self._numbers))
            for name in _names_of(stretch.jump or ()):
                self._numbers.setdefault((number, name), len(self._numbers))

    def _loose(self, location: str) -> list[str]:
        """Inputs, and signals that are no inputs."""
        signals = [s.name for s in self._flow(location).signals if s.name != ONE]
        return list(dict.fromkeys([*self._inputs, *signals]))

    def _unknowns(self, keys: Iterable[object]) -> Array:
        columns = [self._numbers[key] for key in keys]
        values = np.zeros((len(columns), self._size + 1))
        values[np.arange(len(columns)), columns] = 1.0
        return values

    def _add(self, rows: _Read, values: Array, depth: float = 0.0) -> None:
        """Rows over values, or over several sets of values."""
        factors, constants = rows
        found = factors @ values
        found[..., -1] += constants
        found[..., 0] += depth * np.abs(factors).max(axis=1, initial=0.0)
        self._rows.append(found.reshape(-1, self._size + 1))

    def _stay(self, number: int, stretch: Stretch, state: Array) -> Array:
        """The state at the end of a stay, or after the jump that ends it."""
        flow = self._flow(stretch.location)
        loose = self._loose(stretch.location)
        length = stretch.duration / PIECES
        transition, gain = _transition(flow, length)
        held = self._unknowns((number, name, k) for k in range(PIECES) for name in loose)
        held = held.reshape(PIECES, len(loose), self._size + 1)
        pushes = np.zeros((PIECES, len(flow.signals), self._size + 1))
        for k, signal in enumerate(flow.signals):
            if signal.name == ONE:
                pushes[:, k, -1] = 1.0
            else:
                pushes[:, k] = held[:, loose.index(signal.name)]
                self._within(number, signal)
        states = [state]
        for push in gain @ pushes:
            state = transition @ state + push
            states.append(state)
        self._times += [self._now + k * length for k in range(PIECES)]
        self._now += stretch.duration
        names = [*loose, *flow.names]
        invariants = self._problem.invariant(stretch.location)
        invariant = _read(invariants[0] if len(invariants) == 1 else (), names)
        for ends in (states[:-1], states[1:]):
            along = np.concatenate([held, np.array(ends)], axis=1)
            self._add(invariant, along)
            values = along[-1]
        self._end = names, values
        if stretch.jump is None:
            return state
        after = [n for n in _names_of(stretch.jump) if n not in names]
        chosen = self._unknowns((number, name) for name in after)
        self._add(_read(stretch.jump, [*names, *after]), np.vstack([values, chosen]))
        return _chosen(self._flow(self._path[number + 1].location), after, chosen)

    def _within(self, number: int, signal: Signal) -> None:
        """Bounds of a signal in every piece of a stay."""
        columns = [self._numbers[number, signal.name, k] for k in range(PIECES)]
        if signal.low is not None:
            self._low[columns] = float(signal.low)
        if signal.high is not None:
            self._high[columns] = float(signal.high)

    def solve(self, bad: Rows) -> Witness | None:
        """Go as deep into the bad rows as possible, at the end of the last stay."""
        last = self._path[-1].location
        known_rows = (*self._problem.invariant(last), *self._problem.idle(last))
        always = [row for rows in known_rows for row in rows]
        names, values = self._end
        self._add(_read([row for row in bad if row in always], names), values)
        self._add(_read([row for row in bad if row not in always], names), values, depth=1.0)
        cost = np.zeros(self._size)
        cost[0] = -1.0
        rows = np.vstack(self._rows)
        solution = minimise(cost, rows[:, :-1], -rows[:, -1], self._low, self._high)
        if solution is None or solution[0] <= 0.0:
            return None
        place = self._path[0].location
        known = set(self._flow(place).names)
        initial = {
            n: float(solution[self._numbers[-1, primed(n)]])
            for n in sorted(known)
            if (-1, primed(n)) in self._numbers
        }
        found = dict(self._signals(solution))
        jumps = len(self._path) - 1
        return Witness(place, initial, found, self._now, jumps, float(solution[0]))

    def _signals(
        self, solution: Array
    ) -> Iterator[tuple[str, tuple[tuple[float, ...], tuple[float, ...]]]]:
        """The pieces of every input and derivative; equal neighbours are one piece, and one
        without length is none."""
        wanted = {name for s in self._path for name in self._loose(s.location)}
        for name in sorted(wanted):
            times: list[float] = []
            values: list[float] = []
            for number in range(len(self._path)):
                for k in range(PIECES):
                    column = self._numbers.get((number, name, k))
                    if column is None:
                        continue
                    value = self._value(number, name, float(solution[column]))
                    begun = self._times[number * PIECES + k]
                    if times and begun <= times[-1]:
                        values[-1] = value
                    elif not values or abs(value - values[-1]) > NEARLY * max(1.0, abs(value)):
                        times.append(begun)
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


def _read(rows: Sequence[Row], names: Sequence[str]) -> _Read:
    """Factors of the names, and constants, of the rows that have no other names."""
    places = {name: place for place, name in enumerate(names)}
    own = [row.form for row in rows if row.form.coefficients.keys() <= places.keys()]
    factors = np.zeros((len(own), len(names)))
    for k, form in enumerate(own):
        for name, a in form.coefficients.items():
            factors[k, places[name]] = float(a)
    return factors, np.array([float(form.constant) for form in own])


def _chosen(flow: AffineFlow, names: Sequence[str], values: Array) -> Array:
    """The state that values of primed names give, in the order of a flow; zero for others."""
    found = np.zeros((len(flow.names), values.shape[1]))
    places = {name: place for place, name in enumerate(names)}
    for k, name in enumerate(flow.names):
        if primed(name) in places:
            found[k] = values[places[primed(name)]]
    return found


def _names_of(rows: Rows) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row.form.coefficients))
