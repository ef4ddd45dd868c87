"""What sampled states say about bad sets: that runs seem to get there, or stay how far away."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from workbench.abstraction.predicates.predicates import Origin, Predicate, normalised
from workbench.abstraction.templates import simple_rationals
from workbench.abstraction.templates.sampled_runs import SampledRuns
from workbench.abstraction.templates.system import TemplateSystem
from workbench.models.linear import Form

CLEARLY = 1e-6


def seen_bad(system: TemplateSystem, runs: SampledRuns) -> str | None:
    """A location where sampled points lie clearly inside a bad set that speaks about the
    variables alone."""
    n = len(system.names)
    for location, bad in system.bad:
        points = runs.points([location])
        rows = np.any(bad.matrix[:, :n], axis=1)
        if points is None or np.any(bad.matrix[rows, n:-1]):
            continue
        room = CLEARLY * np.maximum(1.0, np.abs(bad.bound[rows]))
        beyond = points @ bad.matrix[rows, :n].T - bad.bound[rows]
        if np.any(np.all(beyond < -room, axis=1)):
            return location
    return None


def margins(system: TemplateSystem, runs: SampledRuns) -> Iterator[Predicate]:
    """Half-way between each side of a bad set and the sampled states: a bad set is closed as
    a rule, and cells that only touch it would count as bad."""
    n = len(system.names)
    for location, bad in system.bad:
        points = runs.points([location])
        if points is None:
            continue
        for row, bound in zip(bad.matrix[:-1], bad.bound[:-1], strict=True):
            if np.any(row[n:-1]) or not np.any(row[:n]):
                continue
            nearest = float((points @ row[:n]).min())
            if nearest > bound + 1e-6:
                level = simple_rationals.between(float(bound), nearest)
                form = Form(
                    {
                        v: Fraction(a).limit_denominator(10**6)
                        for v, a in zip(system.names, row[:n], strict=True)
                        if a
                    },
                    -level,
                )
                scaled = normalised(form)
                if scaled is not None:
                    yield Predicate(scaled, Origin.MINED, location)
