"""The least offsets that satisfy linear bounds: one linear program (a *policy* held fixed).

Bounds come from dual multipliers and hold for every h, so every solution of the program is
inductive for the images that the bounds speak about. A policy without a solution has a least
one in which some offsets are infinite. Which these are is decided exactly: factors are not
negative, so of the rows that use each other (a strong component of "is bounded by") either all
are finite or none is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from workbench.abstraction.templates.image_bounds import RIGID, Bound, RowKey, Setting
from workbench.abstraction.templates.system import Array
from workbench.reach.programs.sparse_program import SparseProgram

LOWEST = -1e6
"""In units of the offsets' size: the lower limit of rows that have none."""


def least_offsets(
    setting: Setting, bounds: list[Bound], offsets: Array, low: Array
) -> Array | None:
    """The least h >= low that satisfies every bound; rows with infinite offsets (given up, or
    of locations that nothing has entered) stay so.

    None if the finite rows have no solution together.
    """
    live = [(int(g), int(i)) for g, i in zip(*np.nonzero(np.isfinite(offsets)), strict=True)]
    solution = _solution(setting, live, _usable(bounds, live), low, {})
    if solution is None:
        return None
    found = offsets.copy()
    for row, value in solution.items():
        found[row] = value
    return found


def unholdable(setting: Setting, bounds: list[Bound], offsets: Array, low: Array) -> set[RowKey]:
    """Rows to give up: those that some image exceeds without bound; if there are none, those
    that are infinite in the least solution, though all that they rest on besides is finite."""
    live = [(int(g), int(i)) for g, i in zip(*np.nonzero(np.isfinite(offsets)), strict=True)]
    usable = _usable(bounds, live)
    unbounded = {bound.target for bound in usable if bound.constant == np.inf}
    if unbounded:
        return unbounded
    known: dict[RowKey, float] = {}
    infinite: set[RowKey] = set()
    by_target: dict[RowKey, list[Bound]] = {}
    for bound in usable:
        by_target.setdefault(bound.target, []).append(bound)
    for rows in _components(usable):
        own = [bound for row in rows for bound in by_target.get(row, ())]
        if any(row not in rows and row not in known for b in own for row in _used(b)):
            continue
        alone = _alone(setting, rows, own, low, known) if len(rows) == 1 else None
        solution = alone or _solution(setting, rows, own, low, known)
        if solution is None:
            infinite |= rows
        else:
            known |= solution
    return infinite or {bound.target for bound in usable}


def _components(bounds: list[Bound]) -> Iterator[set[RowKey]]:
    """Rows that use each other, those first on which others rest."""
    import networkx

    graph = networkx.DiGraph()
    for bound in bounds:
        graph.add_edges_from((bound.target, row) for row in _used(bound))
        graph.add_node(bound.target)
    yield from networkx.strongly_connected_components(graph)


def _used(bound: Bound) -> list[RowKey]:
    return [(bound.source, int(q)) for q in np.flatnonzero(bound.factors)]


def _usable(bounds: list[Bound], live: Iterable[RowKey]) -> list[Bound]:
    kept = set(live)
    return [bound for bound in bounds if bound.target in kept]


def _alone(
    setting: Setting,
    rows: set[RowKey],
    bounds: list[Bound],
    low: Array,
    known: Mapping[RowKey, float],
) -> dict[RowKey, float] | None:
    """The least value of a single row, most often that of a chain: no program is needed where
    its own factor is clearly below 1. None where it is not."""
    (row,) = rows
    value = LOWEST * setting.size if low[row] == -np.inf else float(low[row])
    for bound in bounds:
        own, constant = 0.0, bound.constant
        for q in np.flatnonzero(bound.factors):
            used, factor = (bound.source, int(q)), float(bound.factors[q])
            if used == row:
                own = factor
            else:
                constant += factor * known[used]
        if own > 1 - RIGID:
            return None
        value = max(value, constant / (1 - own))
    return {row: value}


def _solution(
    setting: Setting,
    rows: Iterable[RowKey],
    bounds: list[Bound],
    low: Array,
    known: Mapping[RowKey, float],
) -> dict[RowKey, float] | None:
    """The least values of the rows, where those of others are known."""
    if any(bound.constant == np.inf for bound in bounds):
        return None
    program = SparseProgram()
    lowest = LOWEST * setting.size
    index = {
        row: program.unknown(lowest if low[row] == -np.inf else float(low[row]), np.inf, 1.0)
        for row in rows
    }
    for bound in bounds:
        constant = bound.constant
        factors = {index[bound.target]: -1.0}
        for q in np.flatnonzero(bound.factors):
            row, factor = (bound.source, int(q)), float(bound.factors[q])
            if row in index:
                factors[index[row]] = factors.get(index[row], 0.0) + factor
            elif row in known:
                constant += factor * known[row]
            else:
                return None
        program.row(factors, -constant)
    solution = program.solve()
    if solution is None:
        return None
    return {row: float(solution[k]) for row, k in index.items()}
