"""Long chains of directions for the dynamics under which runs come closest to bad states.

Only where these dynamics are in charge do the facets have to be many; elsewhere few of them are
enough to know how runs arrive, with what each of the dynamics keeps by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from workbench.abstraction.templates.approach import closest_dynamics
from workbench.abstraction.templates.directions import (
    ChainPlan,
    Template,
    assigned,
    axes,
    bad_normals,
    distinct_dynamics,
    fastest_rate,
    frozen_dynamics,
    template,
)
from workbench.abstraction.templates.sampled_runs import SampledRuns
from workbench.abstraction.templates.system import Array, Flow, TemplateSystem
from workbench.reach.time_limit import check_time

CLOSEST = 2
"""So many of the dynamics that lead closest to bad states are worth long chains."""
PLANS = (
    ChainPlan(relative_step=0.3, frozen_length=12, full_length=12, merge=0.03),
    ChainPlan(relative_step=0.18, frozen_length=20, full_length=20, merge=0.015),
)
FEW_LINKS = 6
QUICK = 2.5
"""What decays this much faster than all that is slower is left behind by a chain at first."""
STANDING = 1e-9
"""Eigenvalues below this, in units of the largest, are none."""


def closest_templates(system: TemplateSystem, runs: SampledRuns) -> Iterator[Template]:
    """A template for each of the closest dynamics, then finer ones."""
    kept = [row for flow in distinct_dynamics(system) for row in kept_rows(flow)]
    closest = closest_dynamics(system, runs)[:CLOSEST]
    for plan, flow in product(PLANS, closest):
        few = replace(plan, frozen_length=FEW_LINKS, full_length=0)
        near, far = (_chains(system, flow, chosen) for chosen in (plan, few))
        own = template([*kept, *bad_normals(system), *axes(system)], 0.005, near.step)
        everywhere = {*far.rows, *own.rows}
        rows = dict.fromkeys(system.locations, everywhere)
        for other in system.flows:
            if _same_law(other, flow):
                rows[other.location] = {*near.rows, *everywhere}
        yield assigned([*near.matrix, *far.matrix, *own.matrix], rows, near.step)


def _same_law(flow: Flow, other: Flow) -> bool:
    """Whether the first is the other, or the other with some variables standing still."""
    rows = zip(flow.state, other.state, strict=True)
    return all(np.array_equal(own, row) or not np.any(own) for own, row in rows)


def kept_rows(flow: Flow) -> list[Array]:
    """Left eigenvectors for the real, negative eigenvalues, in both senses, of the variables that
    move: d/dt (c x) depends on c x, on inputs and on what stands still, so a bound on it needs
    no other. Such bounds are those of a speed that a law limits, or of what is asked for of a
    brake and not yet given."""
    found: list[Array] = []
    moving = np.any(flow.state, axis=1) | np.any(flow.rest, axis=1) | (flow.constant != 0)
    of_moving = np.where(np.outer(moving, moving), flow.state, 0.0)
    for matrix in (flow.state, of_moving):
        values, vectors = np.linalg.eig(matrix.T)
        smallest = STANDING * max(1.0, float(np.abs(values).max(initial=0.0)))
        for value, vector in zip(values, vectors.T, strict=True):
            if abs(value.imag) <= smallest and value.real < -smallest:
                found += [np.real(vector), -np.real(vector)]
    return found


def _chains(system: TemplateSystem, flow: Flow, plan: ChainPlan) -> Template:
    """Chains from the bad directions, first with clamped variables frozen, then in the full
    dynamics, in steps that suit the slow part of these."""
    quick, rate = quick_rates(flow.state)
    step = plan.relative_step / rate
    frozen = frozen_dynamics(flow)
    skip = [1 / rate for rate in quick]
    found: list[Array] = []
    for normal in bad_normals(system):
        first = [normal]
        if frozen is not None:
            first += _chain(normal, frozen, [*skip, *[step] * plan.frozen_length])
        for start in first:
            found += _chain(start, flow.state, [*skip, *[step] * plan.full_length])
        found += _chain(normal, flow.state, [*skip, *[step] * plan.frozen_length])
    whole = [*found, *bad_normals(system), *axes(system)]
    return template(whole, plan.merge, min(step, 0.5 / fastest_rate(system)))


def quick_rates(matrix: Array) -> tuple[list[float], float]:
    """The rates at which something decays much faster than all the rest, and the fastest rate of
    that rest. After a step of 1/r a chain, c + A'c/r, has no part any more of what decays at the
    rate r; so its later steps need not be as short as a short lag asks for."""
    values = sorted(np.linalg.eigvals(matrix), key=abs, reverse=True)
    quick: list[float] = []
    while len(values) > 1 and _is_alone(values[0], values[1]):
        quick.append(-float(values.pop(0).real))
    rate = float(abs(values[0])) if values else 0.0
    return quick, rate if rate > STANDING else 1.0


def _is_alone(first: complex, second: complex) -> bool:
    decays = first.real < 0 and abs(first.imag) <= STANDING * abs(first)
    return decays and abs(first) > QUICK * abs(second) > STANDING


def _chain(start: Array, dynamics: Array, steps: Sequence[float]) -> list[Array]:
    """start, (I + t A') start, ... each scaled to a largest entry of 1."""
    check_time()
    found = [start]
    for step in steps:
        following = found[-1] + step * (dynamics.T @ found[-1])
        size = float(np.abs(following).max())
        if size < STANDING:
            break
        found.append(following / size)
    return found
