"""The least offsets that satisfy linear bounds: one linear program (a *policy* held fixed).

Bounds come from dual multipliers and hold for every h, so every solution of the program is
inductive for the images that the bounds speak about.
"""

from __future__ import annotations

import numpy as np

from abstraction.templates.image_bounds import Bound, RowKey, Setting
from abstraction.templates.system import Array
from reach.programs.linear_program import minimise

NEARLY = 1e-7


def least_offsets(
    setting: Setting, bounds: list[Bound], offsets: Array, low: Array
) -> Array | None:
    """The least h >= low that satisfies every bound; rows with infinite offsets stay so.

    None if the finite rows have no solution together.
    """
    rows = list(zip(*np.nonzero(np.isfinite(offsets)), strict=True))
    index: dict[RowKey, int] = {(int(g), int(i)): k for k, (g, i) in enumerate(rows)}
    usable = [b for b in bounds if b.target in index]
    if any(_needs_infinite(b, index) for b in usable):
        return None
    matrix, right = _program(usable, index)
    solution = minimise(np.ones(len(index)), matrix, right, _lower_limits(setting, index, low))
    if solution is None:
        return None
    found = np.full_like(offsets, np.inf)
    for row, k in index.items():
        found[row] = solution[k]
    return found


def unholdable(setting: Setting, bounds: list[Bound], offsets: Array, low: Array) -> set[RowKey]:
    """Rows to give up: those that need an infinite bound, else those whose bounds must be
    relaxed for the others to have a solution."""
    rows = list(zip(*np.nonzero(np.isfinite(offsets)), strict=True))
    live: set[RowKey] = {(int(g), int(i)) for g, i in rows}
    given_up: set[RowKey] = set()
    while live:
        index = {row: k for k, row in enumerate(sorted(live))}
        usable = [b for b in bounds if b.target in live]
        hopeless = {b.target for b in usable if _needs_infinite(b, index)}
        hopeless = hopeless or _to_relax(setting, usable, index, low)
        if not hopeless:
            break
        given_up |= hopeless
        live -= hopeless
    return given_up


def _needs_infinite(bound: Bound, index: dict[RowKey, int]) -> bool:
    return bound.constant == np.inf or any(
        (bound.source, int(q)) not in index for q in np.flatnonzero(bound.factors)
    )


def _to_relax(
    setting: Setting, bounds: list[Bound], index: dict[RowKey, int], low: Array
) -> set[RowKey]:
    matrix, right = _program(bounds, index)
    relaxed = np.zeros((len(bounds), len(index)))
    for k, bound in enumerate(bounds):
        relaxed[k, index[bound.target]] = -1.0
    size = len(index)
    costs = np.concatenate([np.full(size, 1e-6), np.ones(size)])
    limits = np.concatenate([_lower_limits(setting, index, low), np.zeros(size)])
    solution = minimise(costs, np.hstack([matrix, relaxed]), right, limits)
    if solution is None:
        return set(index)
    rows = list(index)
    return {rows[k] for k in np.flatnonzero(solution[size:] > NEARLY)}


def _program(bounds: list[Bound], index: dict[RowKey, int]) -> tuple[Array, Array]:
    """factors * h - h[target] <= -constant, one row for each bound."""
    matrix = np.zeros((len(bounds), len(index)))
    for k, bound in enumerate(bounds):
        for q in np.flatnonzero(bound.factors):
            matrix[k, index[bound.source, int(q)]] += bound.factors[q]
        matrix[k, index[bound.target]] -= 1.0
    return matrix, np.array([-bound.constant for bound in bounds])


def _lower_limits(setting: Setting, index: dict[RowKey, int], low: Array) -> Array:
    limits = np.array([low[row] for row in index])
    return np.where(limits == -np.inf, -1e6 * setting.size, limits)
