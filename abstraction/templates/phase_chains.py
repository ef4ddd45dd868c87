"""Adjoint chains over the phases of a cycle: from the bad direction back through the locations.

A bound of c * x at the end of a stay of length t follows from one of (exp(A t)' c) * x at its
begin, and a bound after a switch x := R x + r from one of (R' c) * x before it. So from the bad
directions the chain exp(A' t) c, t from 0 to the length of a stay, is followed in every
location in which sampled runs advance steadily, then pulled back over the switches that lead
there, and so on. What switches establish is followed in the same way.
"""

from __future__ import annotations

import numpy as np

from workbench.abstraction.templates.cut_choice import steady_progress
from workbench.abstraction.templates.sampled_runs import SampledRuns
from workbench.abstraction.templates.system import Array, Switch, TemplateSystem
from workbench.reach.affine.matrix_exponential import matrix_exponential

STEPS = 4
"""Elements of the chain of one stay, besides its start."""
ROUNDS = 40
FRONTIER = 6
"""So many chains are followed at the same time in one location."""
MOST = 60
"""So many directions are enough in one location."""
CLOSE = 0.05
"""Directions closer than this, scaled to a largest entry of 1, are one."""


def phase_chains(
    system: TemplateSystem, runs: SampledRuns, starts: list[Array]
) -> dict[str, list[Array]]:
    """Directions for every location, nearest to the start first."""
    n = len(system.names)
    steps = {name: _step(system, runs, name) for name in system.locations}
    resets = [(switch, _reset(switch, n)) for switch in system.switches]
    found: dict[str, list[Array]] = {name: [] for name in system.locations}
    frontier = {name: list(starts) for name in system.locations}
    for _ in range(ROUNDS):
        ends: dict[str, list[Array]] = {}
        for name, step in steps.items():
            chains = [_chain(start, step) for start in frontier[name]]
            _add(found[name], [row for chain in chains for row in chain])
            ends[name] = [chain[-1] for chain in chains]
        frontier = {name: [] for name in system.locations}
        for switch, reset in resets:
            if reset is None:
                continue
            kept = frontier[switch.source]
            for end in ends[switch.target]:
                back = reset.T @ end
                size = float(np.abs(back).max())
                if size > 1e-9 and len(kept) < FRONTIER:
                    kept.append(back / size)
    return found


def _chain(start: Array, step: Array | None) -> list[Array]:
    chain = [start]
    for _ in range(STEPS):
        if step is not None:
            chain.append(step @ chain[-1])
    return chain


def established(system: TemplateSystem) -> list[Array]:
    """What switches fix: x_j - R_j x for every variable that is set from variables that stay
    (a timer that is reset, an output that is computed and held), in both senses."""
    n = len(system.names)
    found: list[Array] = []
    for switch in system.switches:
        reset = _reset(switch, n)
        if reset is None:
            continue
        stays = np.array([np.array_equal(reset[j], np.eye(n)[j]) for j in range(n)])
        for j in np.flatnonzero(~stays):
            if not np.any(reset[j][~stays]):
                row = np.eye(n)[j] - reset[j]
                found += [row, -row]
    return found


def _step(system: TemplateSystem, runs: SampledRuns, name: str) -> Array | None:
    """The adjoint flow over a part of a stay."""
    flow = next((flow for flow in system.flows if flow.location == name), None)
    stay = _stay(system, runs, name)
    if flow is None or stay is None:
        return None
    return matrix_exponential(flow.state.T * stay / STEPS)


def _add(known: list[Array], rows: list[Array]) -> None:
    """Add those rows that are new, scaled."""
    for row in rows:
        size = float(np.abs(row).max(initial=0.0))
        if size < 1e-9 or not np.isfinite(size) or len(known) >= MOST:
            continue
        scaled = row / size
        if all(np.abs(scaled - other).max() > CLOSE for other in known):
            known.append(scaled)


def _stay(system: TemplateSystem, runs: SampledRuns, location: str) -> float | None:
    """How long stays last: the way along the steadiest direction by the speed along it."""
    progress = steady_progress(system, runs, location)
    points = runs.points([location])
    if progress is None or points is None:
        return None
    return float(np.ptp(points @ progress.normal)) / progress.speed


def _reset(switch: Switch, n: int) -> Array | None:
    """R of x' = R x + r; None where the switch does not say so for every variable."""
    rows = {tuple(row) for row in switch.relation.matrix}
    found = np.zeros((n, n))
    for j in range(n):
        for row in switch.relation.matrix:
            others = np.delete(row[n:], j)
            if row[n + j] > 0 and not np.any(others) and tuple(-row) in rows:
                found[j] = -row[:n] / row[n + j]
                break
        else:
            return None
    return found
