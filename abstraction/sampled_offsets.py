"""Offsets that every template invariant must have at least: supports of sampled points.

Points follow the same Euler steps whose images an invariant has to contain, with random
piecewise constant inputs at the corners of their bounds, so their supports are a lower bound
of the least invariant. Starting the iteration there saves most of its rounds. Directions that
still grow at the end of the samples are taken for unbounded and given up.
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from abstraction.directions import Template
from abstraction.template_system import Array, Flow, TemplateSystem
from reach.support import SupportOracle

Choices = NDArray[np.intp]

STEPS = 600
POINTS = 600
HOLD = 0.05
"""The chance, at each step, that a point draws a new input."""


def sampled_offsets(
    system: TemplateSystem, template: Template, tau: float, generator: Generator
) -> Array | None:
    """Row supports of points started in the initial set, infinite where they keep growing;
    None where no point could be followed (locations with resets are not sampled)."""
    if any(not switch.keeps_state for switch in system.switches):
        return None
    points = _starting_points(system, template, generator)
    flows = [(flow, _corner_inputs(flow)) for flow in system.flows]
    if points is None or any(inputs is None for _, inputs in flows):
        return None
    history: list[Array] = [(template.matrix @ points.T).max(axis=1)]
    drawn: list[Choices] = [np.zeros(len(points), dtype=np.intp) for _ in flows]
    for _ in range(STEPS):
        points, drawn = _advance(points, flows, drawn, tau, generator)
        if len(points) == 0:
            return history[-1]
        history.append(np.maximum(history[-1], (template.matrix @ points.T).max(axis=1)))
    best, middle = history[-1], history[STEPS * 4 // 5]
    size = max(1.0, float(np.abs(middle).max()))
    growing = best > middle + 0.02 * size
    return np.where(growing, np.inf, best)


def _advance(
    points: Array,
    flows: list[tuple[Flow, Array | None]],
    drawn: list[Choices],
    tau: float,
    generator: Generator,
) -> tuple[Array, list[Choices]]:
    """One Euler step of every point in a location whose invariant holds before and after."""
    n = points.shape[1]
    following = np.full_like(points, np.nan)
    kept = np.zeros(len(points), dtype=bool)
    for k in generator.permutation(len(flows)):
        flow, inputs = flows[k]
        assert inputs is not None
        renew = generator.random(len(points)) < HOLD
        drawn[k] = np.where(renew, generator.integers(len(inputs), size=len(points)), drawn[k])
        chosen = inputs[drawn[k]]
        moved = points + tau * (points @ flow.state.T + chosen @ flow.rest.T + flow.constant)
        rows, bound = flow.domain.matrix[:, :n], flow.domain.bound
        only_state = ~np.any(flow.domain.matrix[:, n:], axis=1)
        inside = np.all(points @ rows[only_state].T <= bound[only_state] + 1e-12, axis=1)
        take = inside & ~kept
        following[take] = moved[take]
        kept |= take
    return following[kept], [d[kept] for d in drawn]


def _starting_points(
    system: TemplateSystem, template: Template, generator: Generator
) -> Array | None:
    """Extreme points of the initial sets in the template's and in random directions."""
    n = len(system.names)
    found: list[Array] = []
    for start in system.starts:
        oracle = SupportOracle(start.relation.matrix, start.relation.bound)
        directions = np.vstack([template.matrix, generator.normal(size=(40, n))])
        for direction in directions:
            objective = np.zeros(len(start.relation.names))
            objective[n : 2 * n] = direction
            point = oracle.maximiser(objective)
            if point is not None:
                found.append(point[n : 2 * n])
    if not found:
        return None
    corners = np.unique(np.array(found).round(12), axis=0)
    return corners[generator.integers(len(corners), size=max(POINTS, len(corners)))]


def _corner_inputs(flow: Flow) -> Array | None:
    """The corners of the bounds of everything that is no state; None if not bounded alone."""
    n = len(flow.constant)
    rest = flow.domain.matrix[:, n:]
    count = rest.shape[1]
    if count > 6:
        return None
    alone = ~np.any(flow.domain.matrix[:, :n], axis=1) & np.any(rest, axis=1)
    if count == 0:
        return np.zeros((1, 0))
    oracle = SupportOracle(rest[alone], flow.domain.bound[alone])
    sides = []
    for j in range(count):
        axis = np.eye(count)[j]
        high, low = oracle(axis), oracle(-axis)
        if high is None or low is None or not np.isfinite([high.value, low.value]).all():
            return None
        sides.append([-low.value, high.value])
    return np.array(np.meshgrid(*sides)).reshape(count, -1).T
