"""Directions for pieces of locations: bounds that rise or fall as the flow crosses a piece.

In a slab of a direction n a bound of c * x may depend on n * x: c * x <= k + s n * x. Along the
border of what is reachable the flow neither gains nor loses: s = (c * f) / (n * f) at a point f
flows from. So for points with a large c * x in a piece, and every corner of the inputs, such
slopes s are collected, and c - s n is a direction worth a half-space there.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.abstraction.templates.sampled_runs import SampledRuns, corner_inputs
from workbench.abstraction.templates.system import Array, TemplateSystem

QUANTILES = (0.5, 0.85, 1.0)
"""Which of the slopes, in ascending order, become directions."""
TOP = 0.1
"""The part of a piece's points, those with the largest c * x, at which slopes are taken."""
STANDING = 1e-6
"""A flow that is slower than this across a piece, in units of its size, gives no slope."""


def progress_normals(system: TemplateSystem, location: str) -> list[Array]:
    """The directions in which a piece is bounded."""
    piece = system.pieces.get(location)
    found: dict[tuple[float, ...], Array] = {}
    for form in () if piece is None else piece.exits:
        normal = np.array([float(form.coefficients.get(v, 0)) for v in system.names])
        normal = normal * np.sign(normal[np.flatnonzero(normal)[0]])
        found[tuple(normal)] = normal
    return list(found.values())


def tilted(
    system: TemplateSystem, runs: SampledRuns, location: str, bases: Sequence[Array]
) -> list[Array]:
    """Every base direction with the slopes that the flow suggests in a piece."""
    points = runs.points([location])
    flows = [flow for flow in system.flows if flow.location == location]
    if points is None or not flows:
        return []
    found: list[Array] = []
    for base in bases:
        height = points @ base
        count = max(1, int(TOP * len(points)))
        top = points[np.argpartition(height, -count)[-count:]]
        speeds = np.vstack(
            [
                (
                    (top @ flow.state.T + flow.constant)[:, None, :]
                    + corner_inputs(flow) @ flow.rest.T
                ).reshape(-1, len(base))
                for flow in flows
            ]
        )
        for normal in progress_normals(system, location):
            found.extend(_sloped(base, normal, speeds))
    return found


def _sloped(base: Array, normal: Array, speeds: Array) -> list[Array]:
    across, along = speeds @ normal, speeds @ base
    size = float(np.abs(speeds).max(initial=0.0))
    found: list[Array] = []
    for sign in (1.0, -1.0):
        moving = sign * across > STANDING * size
        if np.any(moving):
            slopes = np.sort(along[moving] / (sign * across[moving]))
            for share in QUANTILES:
                slope = slopes[int(share * (len(slopes) - 1))]
                found.append(base - sign * slope * normal)
    return found
