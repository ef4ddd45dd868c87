"""Better directions: turn those of a template so that its invariant recedes from bad sets.

At the least offsets h of directions H every support of an image is attained at a known state x
with image y, and changes to first order with the directions and offsets:

    V_k,i (H + dH, h + dh) = V_k,i + dH_i y + sum_q l_q (dh_q - dH_q x),

l the multipliers of the support. So one linear program in (dH, dh), with a limit on |dH|, finds
the turn for which, to first order, the least inductive set stays farthest from the bad sets.
Untrusted, as everything in the search: the turned template is used like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from workbench.abstraction.templates.directions import Template, template
from workbench.abstraction.templates.image_bounds import BadBound, Bound, RowKey, Setting
from workbench.abstraction.templates.system import Array
from workbench.reach.programs.linear_program import minimise
from workbench.reach.sets.support import SupportOracle

LARGEST_CHANGE = 0.25
"""Offsets change by at most this part of their magnitude in one turn."""
SPREAD = 1e-4
"""How far objectives are turned to find other corners at which supports are attained."""
ECONOMY = 1e-3
"""What offsets count, compared with the depth in bad sets: the least are wanted."""
INERTIA = 0.01
"""What turns count: directions from which nothing is gained shall stay."""


@dataclass(frozen=True)
class Turned:
    """The turned template, and where its rows come from."""

    template: Template
    rows: Mapping[RowKey, RowKey]


def turned_template(
    setting: Setting, offsets: Array, turn: float, stop: Callable[[], bool]
) -> Turned | None:
    """The template with directions turned by at most `turn` in each coordinate, each group
    with rows of its own; None if nothing can be gained, or `stop` says so."""
    live = [(int(g), int(i)) for g, i in zip(*np.nonzero(np.isfinite(offsets)), strict=True)]
    program = _Program({row: k for k, row in enumerate(live)}, len(setting.system.names))
    for bound in setting.bounds(offsets):
        program.hold(bound, offsets)
    for bound in setting.near_bounds(offsets, SPREAD):
        program.hold(bound, offsets)
        if stop():
            return None
    for row, value, point in _starts(setting, live):
        program.hold_start(row, value, point, offsets)
    for bad in setting.bad_bounds(offsets):
        program.avoid(bad)
    solution = program.solved(turn, LARGEST_CHANGE * setting.size)
    if solution is None:
        return None
    matrix = setting.template.matrix
    directions = {row: matrix[row[1]] + solution[program.turn_of(row)] for row in live}
    return _by_group(setting, directions)


class _Program:
    """The unknowns: for every live row its turn and the change of its offset, then how deep
    bad sets are met."""

    def __init__(self, index: dict[RowKey, int], n: int):
        self.index, self.n = index, n
        self.size = len(index) * (n + 1)
        self.rows: list[dict[int, float]] = []
        self.right: list[float] = []
        self.bad = 0

    def turn_of(self, row: RowKey) -> slice:
        """The unknowns of a row's turn."""
        first = self.index[row] * (self.n + 1)
        return slice(first, first + self.n)

    def hold(self, bound: Bound, offsets: Array) -> None:
        """h + dh holds the image, to first order."""
        if bound.target not in self.index or not np.isfinite(bound.constant):
            return
        used = [(bound.source, int(q)) for q in np.flatnonzero(bound.factors)]
        if any(row not in self.index for row in used):
            return
        row: dict[int, float] = {}
        self._add(row, bound.target, bound.after, -1.0)
        value = bound.constant
        for other in used:
            factor = float(bound.factors[other[1]])
            value += factor * offsets[other]
            self._add(row, other, -factor * bound.before, factor)
        self._require(row, float(offsets[bound.target]) - value)

    def hold_start(self, row: RowKey, value: float, point: Array, offsets: Array) -> None:
        """h + dh holds the initial states."""
        terms: dict[int, float] = {}
        self._add(terms, row, point, -1.0)
        self._require(terms, float(offsets[row]) - value)

    def avoid(self, bad: BadBound) -> None:
        """A bad set is met by at most its own last unknown."""
        row: dict[int, float] = {}
        for q in np.flatnonzero(bad.factors):
            factor = float(bad.factors[q])
            self._add(row, (bad.group, int(q)), -factor * bad.point, factor)
        row[self.size + self.bad] = -1.0
        self.bad += 1
        self._require(row, -bad.depth)

    def solved(self, turn: float, change: float) -> Array | None:
        """The best turns and changes within the limits."""
        if not self.bad or not self.index:
            return None
        rows, size = len(self.index), self.size
        matrix = np.zeros((len(self.rows), size + self.bad))
        for k, row in enumerate(self.rows):
            for j, value in row.items():
                matrix[k, j] = value
        # every unknown of a row is the difference of two that are not negative
        limits = np.tile([*([turn] * self.n), change], rows)
        up = np.tile([*([INERTIA / rows] * self.n), ECONOMY / rows], rows)
        down = np.tile([*([INERTIA / rows] * self.n), -ECONOMY / rows], rows)
        solution = minimise(
            np.concatenate([up, down, np.ones(self.bad)]),
            np.hstack([matrix[:, :size], -matrix[:, :size], matrix[:, size:]]),
            np.array(self.right),
            np.concatenate([np.zeros(2 * size), np.full(self.bad, -change)]),
            np.concatenate([limits, limits, np.full(self.bad, np.inf)]),
        )
        return None if solution is None else solution[:size] - solution[size : 2 * size]

    def _add(self, row: dict[int, float], of: RowKey, turned: Array, changed: float) -> None:
        first = self.index[of] * (self.n + 1)
        for j, value in enumerate((*turned, changed)):
            row[first + j] = row.get(first + j, 0.0) + float(value)

    def _require(self, row: dict[int, float], right: float) -> None:
        self.rows.append(row)
        self.right.append(max(right, 0.0))


def _starts(setting: Setting, live: list[RowKey]) -> list[tuple[RowKey, float, Array]]:
    """The supports of the initial states in the live rows, and where they are attained."""
    n = len(setting.system.names)
    found: list[tuple[RowKey, float, Array]] = []
    for start in setting.system.starts:
        oracle = SupportOracle(start.relation.matrix, start.relation.bound)
        group = setting.group[start.location]
        for row in live:
            if row[0] != group:
                continue
            objective = np.zeros(len(start.relation.names))
            objective[n : 2 * n] = setting.template.matrix[row[1]]
            supported = oracle(objective)
            if supported is not None and np.isfinite(supported.value):
                found.append((row, supported.value, oracle.point()[n : 2 * n]))
    return found


def _by_group(setting: Setting, directions: dict[RowKey, Array]) -> Turned:
    step = setting.template.step
    made = template(list(directions.values()), 0.0, step)
    numbers = {row: k for k, row in enumerate(made.rows)}
    used = np.zeros((max(setting.group.values()) + 1, len(made.rows)), dtype=bool)
    origin: dict[RowKey, RowKey] = {}
    for (g, i), direction in directions.items():
        own = template([direction], 0.0, step).rows
        if own:
            used[g, numbers[own[0]]] = True
            origin[g, i] = (g, numbers[own[0]])
    only = {name: used[group] for name, group in setting.group.items()}
    return Turned(Template(made.rows, made.matrix, step, only), origin)
