"""How fast the rows of a polyhedron must move so that the flow does not overtake them.

Rows d_i x <= h_i at the begin of a stretch of time become d_i x <= h_i + v_i (time - begin). The
flow keeps them if d_i f <= v_i wherever row i is attained while all the others hold, at any time
of the stretch. Larger speeds of other rows make larger polyhedra, where the
flow is faster, and a row that is faster itself is attained where the flow may be slower. It is
solved from below by Newton's method, row by row; for short stretches that ends, since what
speeds add to each other is in proportion to the length. What is asked for is a little
more, tau d_i f + (d_i x - h_i - v_i (time - begin)) <= tau v_i everywhere for a small tau: that
needs one program for each row, and is what Euler images say.

Floating point, untrusted: what is found is proved exactly.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from workbench.abstraction.templates.directions import Flags, Template
from workbench.abstraction.templates.image_bounds import Indices
from workbench.abstraction.templates.system import Array, Flow, TemplateSystem
from workbench.models.automaton import TIME
from workbench.reach.sets.support import SupportOracle

FIRST = 0
"""The row of a confined domain that says when the stretch begins."""
STEEPEST = 2.0
"""A larger slope is that of another corner, and would make too small a step."""
ROUNDS = 60
AHEAD = 1e-4
"""By how much speeds exceed what is needed, in units of the fastest: room for rounding."""
EAGER = 0.05
"""Speeds are raised by so much more than what is needed, since others will be raised too."""


def row_speeds(
    system: TemplateSystem, base: Template, group: dict[str, int], offsets: Array, tau: float
) -> Array | None:
    """Speeds for the rows of every group, which begin at the offsets; the system's flows are
    confined to the stretch. None if they would be too fast to be found."""
    search = _Speeds(system, base, group, offsets, tau)
    everything = np.isfinite(offsets)
    speeds, _ = search.needed(np.zeros(offsets.shape), everything, at_begin=True)
    speeds = np.where(np.isfinite(speeds), speeds, 0.0)
    ahead = headway(speeds)
    speeds = speeds + 2 * ahead
    asked = everything
    for _ in range(ROUNDS):
        needed, slope = search.needed(speeds, asked)
        short = needed + ahead - speeds
        if np.any(short == np.inf):
            return None
        if np.any(short > 0):
            speeds = np.where(short > 0, speeds + (1 + EAGER) * short / slope + ahead, speeds)
            asked = short > 0
        elif asked is everything:
            return speeds
        else:
            asked = everything
    return None


def headway(speeds: Array) -> float:
    """By how much rows are faster than they need to be."""
    return AHEAD * max(1.0, float(np.abs(speeds).max(initial=0.0)))


@dataclass(frozen=True)
class _Speeds:
    """What stays the same while speeds are raised."""

    system: TemplateSystem
    base: Template
    group: dict[str, int]
    offsets: Array
    tau: float

    def needed(self, speeds: Array, asked: Flags, at_begin: bool = False) -> tuple[Array, Array]:
        """The speeds that the rows asked for would need if all had the given ones, at the begin
        or at any time of the stretch (minus infinity where there is no flow); and how fast what
        a row is short of shrinks as its own speed grows."""
        found, slope = np.full(speeds.shape, -np.inf), np.ones(speeds.shape)
        for flow in self.system.flows:
            g = self.group[flow.location]
            if not np.any(self.offsets[g] == -np.inf):
                rows = np.flatnonzero(asked[g])
                for i, rate, own in self._rates(flow, speeds[g], rows, at_begin):
                    if rate > found[g, i]:
                        found[g, i], slope[g, i] = rate, own
        return found, slope

    def _rates(
        self, flow: Flow, speeds: Array, asked: Indices, at_begin: bool
    ) -> Iterator[tuple[int, float, float]]:
        """The largest d_i f + (d_i x - h_i - v_i (time - begin)) / tau of the rows asked for,
        and 1 minus its derivative by v_i: with the row's multiplier m, attained at a time t,
        1 + (t - begin) (1 / tau - m)."""
        offsets, directions = self.offsets[self.group[flow.location]], self.base.matrix
        known = np.isfinite(offsets)
        clock = flow.domain.names.index(TIME)
        begin = -float(flow.domain.bound[FIRST])
        rows = np.zeros((len(offsets), flow.domain.matrix.shape[1]))
        rows[:, : len(flow.state)] = directions
        rows[:, clock] -= speeds
        inside = np.where(known, offsets, 0.0) - speeds * begin
        matrix, bound = [rows[known], flow.domain.matrix], [inside[known], flow.domain.bound]
        if at_begin:
            matrix.append(np.eye(rows.shape[1])[[clock]])
            bound.append(np.array([begin]))
        oracle = SupportOracle(np.vstack(matrix), np.concatenate(bound))
        place = np.cumsum(known) - 1
        for i in asked:
            rate = np.concatenate([directions[i] @ flow.state, directions[i] @ flow.rest])
            supported = oracle(rate + rows[i] / self.tau)
            if supported is None:
                return
            drift = float(directions[i] @ flow.constant)
            value = supported.value - float(inside[i]) / self.tau + drift
            slope = 1.0
            if np.isfinite(value):
                late = max(0.0, float(oracle.point()[clock]) - begin)
                own = float(supported.multipliers[place[i]])
                slope = min(STEEPEST, 1 + late * max(0.0, 1 / self.tau - own))
            yield int(i), value, slope
