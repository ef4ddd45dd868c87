"""Where to cut locations into pieces: candidates, the most promising first.

A direction in which the flow of a location always makes progress (a timer, or the variable
that a relay watches) orders its states by phase; so the guards' and invariants' normals and
the axes are ranked by how steadily sampled runs advance along them, and each location is cut
along its best. Where inputs decide the course, cutting every location along one and the same
variable separates cases instead (fast and slow, near and far).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from workbench.abstraction.templates.pieces import MAX_PIECES, Cut
from workbench.abstraction.templates.sampled_runs import SampledRuns, corner_inputs
from workbench.abstraction.templates.simple_rationals import direction
from workbench.abstraction.templates.system import Array, TemplateSystem

Cuts = dict[str, tuple[Cut, ...]]

STEADY = 0.5
"""Progress (mean speed by mean magnitude of speed) below this orders nothing."""
FINENESS = (4, 8, 16)
"""Pieces of each location along its steady direction."""
CASES = (2, 3)
"""Pieces of each location along a variable that separates cases."""
OVERLAP = Fraction(1, 20)
"""The overlap of neighbouring pieces, in units of their width."""
GRAIN = 1000
"""Levels are rounded to this part of a piece's width."""


def candidate_cuts(system: TemplateSystem, runs: SampledRuns) -> Iterator[Cuts]:
    """Ways to cut the locations, coarse ones first."""
    best = {name: steady_progress(system, runs, name) for name in system.locations}
    phases = {name: found.normal for name, found in best.items() if found is not None}
    for count in FINENESS:
        if phases and count * len(phases) <= MAX_PIECES:
            yield _along(system, runs, phases, count)
        for axis in np.eye(len(system.names)) if count == FINENESS[0] else ():
            for few in CASES:
                made = _along(system, runs, dict.fromkeys(system.locations, axis), few)
                if made and few * len(made) <= MAX_PIECES:
                    yield made


def _along(
    system: TemplateSystem, runs: SampledRuns, normals: dict[str, Array], count: int
) -> Cuts:
    """Every location that moves along its normal, cut into so many slabs of equal width."""
    found: Cuts = {}
    for location, normal in normals.items():
        points = runs.points([location])
        if points is None:
            continue
        values = points @ normal
        low, high = float(values.min()), float(values.max())
        width = (high - low) / count
        if width > 1e-6 * max(1.0, abs(low), abs(high)):
            grain = Fraction(2) ** round(np.log2(width / GRAIN))
            levels = [grain * round(Fraction(low + k * width) / grain) for k in range(1, count)]
            overlap = grain * round(OVERLAP * Fraction(width) / grain)
            found[location] = (Cut(direction(normal, 1e-9), tuple(levels), overlap),)
    return found


@dataclass(frozen=True)
class Progress:
    """A direction in which runs of a location advance, and their mean speed along it."""

    normal: Array
    speed: float


def steady_progress(system: TemplateSystem, runs: SampledRuns, location: str) -> Progress | None:
    """The direction in which sampled runs advance most steadily, if there is one."""
    points = runs.points([location])
    if points is None:
        return None
    speeds = np.vstack(
        [
            (
                (points @ flow.state.T + flow.constant)[:, None, :]
                + corner_inputs(flow) @ flow.rest.T
            ).reshape(-1, len(system.names))
            for flow in system.flows
            if flow.location == location
        ]
        or [np.zeros((1, len(system.names)))]
    )
    best: Progress | None = None
    most = STEADY
    for normal in _candidates(system, location):
        across = speeds @ normal
        size = float(np.abs(across).mean())
        steadiness = abs(float(across.mean())) / size if size > 1e-9 else 0.0
        spread = float(np.ptp(points @ normal))
        if steadiness > most and spread > 1e-6:
            best, most = Progress(normal, size), steadiness + 1e-6
    return best


def _candidates(system: TemplateSystem, location: str) -> list[Array]:
    """Normals of the switches that leave the location, of its invariant, and the axes; scaled
    to a largest entry of 1, each once."""
    n = len(system.names)
    rows: list[Array] = []
    for switch in system.switches:
        if switch.source == location:
            before = ~np.any(switch.relation.matrix[:, n:], axis=1)
            rows.extend(switch.relation.matrix[before, :n])
    for flow in system.flows:
        if flow.location == location:
            rows.extend(flow.domain.matrix[:, :n])
    found: dict[tuple[float, ...], Array] = {}
    for row in (*rows, *np.eye(n)):
        if np.any(row):
            scaled = row / row[np.argmax(np.abs(row))]
            found.setdefault(tuple(scaled), scaled)
    return list(found.values())
