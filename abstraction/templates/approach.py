"""Under which dynamics runs come closest to bad states.

Where a model has many laws, few of them matter for a property: those that are in charge while a
run still approaches the bad states, closest to them. Directions from these laws come first.
"""

from __future__ import annotations

import numpy as np

from workbench.abstraction.templates.sampled_runs import SampledRuns, corner_inputs
from workbench.abstraction.templates.system import Array, Flow, Polyhedron, TemplateSystem
from workbench.models.work import FLOATING, spend

APPROACHING = 1e-6
"""Slower than this, in units of the fastest point, nothing approaches."""


def closest_dynamics(system: TemplateSystem, runs: SampledRuns) -> list[Flow]:
    """Dynamics under which sampled points approach bad states, the closest first; of several
    flows with the same matrix only one."""
    found: list[tuple[float, int, Flow]] = []
    for k, flow in enumerate(system.flows):
        points = _in_charge(flow, runs.points([flow.location]))
        distances = [
            _closest_approach(flow, points, bad)
            for location, bad in system.bad
            if location == flow.location and len(points)
        ]
        if distances and np.isfinite(min(distances)):
            found.append((min(distances), k, flow))
    distinct: list[Flow] = []
    for _, _, flow in sorted(found, key=lambda entry: entry[:2]):
        if not any(np.array_equal(flow.state, other.state) for other in distinct):
            distinct.append(flow)
    return distinct


def _in_charge(flow: Flow, points: Array | None) -> Array:
    """The points of a location where this case of its dynamics applies."""
    n = len(flow.constant)
    if points is None:
        return np.zeros((0, n))
    alone = ~np.any(flow.domain.matrix[:, n:], axis=1)
    rows, bound = flow.domain.matrix[alone, :n], flow.domain.bound[alone]
    held: Array = points[np.all(points @ rows.T <= bound + 1e-9, axis=1)]
    return held


def _closest_approach(flow: Flow, points: Array, bad: Polyhedron) -> float:
    """The least distance from a bad set, by the row that is farthest from holding, of points
    where some input makes it smaller."""
    n = len(flow.constant)
    sizes = np.linalg.norm(bad.matrix[:, :n], axis=1)
    known = (sizes > 0) & ~np.any(bad.matrix[:, n:-1], axis=1)
    if not np.any(known):
        return np.inf
    rows, bound = bad.matrix[known, :n] / sizes[known, None], bad.bound[known] / sizes[known]
    spend(FLOATING * points.size * (len(rows) + 2 * len(flow.constant)))
    beyond = points @ rows.T - bound
    last = np.argmax(beyond, axis=1)
    distance = beyond[np.arange(len(points)), last]
    drift = points @ flow.state.T + flow.constant
    pushed = rows @ (flow.rest @ corner_inputs(flow).T)
    speed = np.einsum("ij,ij->i", drift, rows[last]) + pushed.min(axis=1, initial=0.0)[last]
    approaching = speed < -APPROACHING * max(1.0, float(np.abs(drift).max()))
    return float(distance[approaching].min(initial=np.inf))
