"""A half-space that keeps states out of a location, found by one linear program.

Wanted are a and b such that every entry into the location (initial states, images of switches
from the parts of their sources) satisfies a x <= b, the flow keeps it within the location's
part, d/dt(a x - b) <= -k (a x - b) for a fixed k >= 0, and a given state, or all states of a
given set, violate it as clearly as possible. Each condition holds for all states of a
polyhedron {M z <= m}; by Farkas' lemma it does if there are multipliers l >= 0 with

    M' l = objective(a)  and  m l <= limit(a, b),

which is linear in a, b and l together. With the present parts for entries the half-space is
inductive relative to them; whether it lasts when the parts grow, the search decides.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workbench.abstraction.predicates.reached_parts import ReachedParts
from workbench.abstraction.templates import simple_rationals
from workbench.abstraction.templates.system import Array, Flow
from workbench.reach.programs.sparse_program import SparseProgram

SIMPLE = (0.02, 0.004, 0.0002)
"""By how much rounding may change an entry of a normal whose largest is 1: coarse first."""
KEPT_DEPTH = 0.5
"""The part of the depth of the cut that rounding must leave."""
FARTHEST = 1e9
FLAT = 1e-6
"""Normals smaller than this separate nothing."""
NONE: frozenset[int] = frozenset()
DEEPEST = 1.0
"""Deeper cuts are worth nothing more."""
ROOM = 1e-6
"""By how much bounds are relaxed, relative to their size: sets that only touch shall not
count as disjoint because of rounding."""


@dataclass(frozen=True)
class HalfSpace:
    """normal * x <= level; what shall be kept out violates it by `depth` (in units in which
    the sampled runs have extent 1)."""

    normal: Array
    level: float
    depth: float


Unwanted = Array | tuple[Array, Array]
"""A state, or all z = (x, ...) with matrix z <= bound."""


@dataclass(frozen=True)
class Separator:
    """Looks for half-spaces; `scale` is the extent of the variables, `decays` are the k."""

    reached: ReachedParts
    scale: Array
    decays: tuple[float, ...]

    def half_space(
        self, location: str, out: Unwanted, least_depth: float, without: frozenset[int] = NONE
    ) -> HalfSpace | None:
        """The clearest half-space over all decays, its normal in simple rationals; images
        whose numbers are in `without` are taken not to enter."""
        best: HalfSpace | None = None
        rate = 0.0
        for decay in self.decays:
            found = self._solved(location, out, decay, None, without)
            if found is not None and found.depth > max(least_depth, best.depth if best else 0.0):
                best, rate = found, decay
        return None if best is None else self._simple(location, out, rate, best, without)

    def _simple(
        self,
        location: str,
        out: Unwanted,
        decay: float,
        exact: HalfSpace,
        without: frozenset[int],
    ) -> HalfSpace | None:
        """The half-space with a rounded normal, its level as low as can be for that."""
        if not np.any(np.abs(exact.normal * self.scale) > FLAT):
            return None
        for closeness in SIMPLE:
            normal = self._rounded(exact.normal, closeness)
            largest = float(np.abs(exact.normal).max())
            found = self._solved(location, out, decay, normal * largest, without)
            if found is not None and found.depth > KEPT_DEPTH * exact.depth:
                return HalfSpace(normal, found.level / largest, found.depth)
        return None

    def _rounded(self, normal: Array, closeness: float) -> Array:
        """The normal in simple rationals, the largest entry 1; entries may change by so much
        of the largest, in units of the extents."""
        largest = np.abs(normal).max()
        influence = float(np.abs(normal * self.scale).max()) * closeness / largest
        return np.array(
            [
                float(simple_rationals.near(float(v), influence / float(size)))
                for v, size in zip(normal / largest, self.scale, strict=True)
            ]
        )

    def _solved(
        self,
        location: str,
        out: Unwanted,
        decay: float,
        fixed: Array | None,
        without: frozenset[int],
    ) -> HalfSpace | None:
        program = SparseProgram()
        low, high = (-1.0 / self.scale, 1.0 / self.scale) if fixed is None else (fixed, fixed)
        normal = [program.unknown(float(a), float(b)) for a, b in zip(low, high, strict=True)]
        level = program.unknown(-FARTHEST, FARTHEST)
        depth = program.unknown(-FARTHEST, DEEPEST, -1.0)
        if isinstance(out, tuple):
            self._excluded(program, normal, level, depth, *out)
        else:
            beyond = {normal[j]: -float(v) for j, v in enumerate(out)}
            program.row(beyond | {level: 1.0, depth: 1.0}, 0.0)
        for start in self.reached.system.starts:
            if start.location == location:
                relation = start.relation
                self._entered(program, normal, level, relation.matrix, relation.bound)
        for k, image in enumerate(self.reached.images):
            source = self.reached.parts[image.source]
            if image.target != location or source.empty or k in without:
                continue
            matrix, bound = source.within(image.domain)
            bound = bound + ROOM * np.maximum(1.0, np.abs(bound))
            if image.flow is None:
                self._entered(program, normal, level, matrix, bound)
            else:
                self._kept(program, normal, level, matrix, bound, image.flow, decay)
        self.reached.programs += 1
        solution = program.solve()
        if solution is None:
            return None
        return HalfSpace(solution[: len(normal)], float(solution[level]), float(solution[depth]))

    def kept_out(
        self, location: str, out: Unwanted, least_depth: float, longest: int
    ) -> list[tuple[str, HalfSpace]]:
        """Half-spaces that keep the unwanted states out; none if there are none.

        Where entries over one switch stand in the way, its source is asked to keep out the
        states that the switch leads beyond the half-space, through at most `longest`
        locations.
        """
        found = self.half_space(location, out, least_depth)
        if found is not None:
            return [(location, found)]
        if longest == 0:
            return []
        for k, image in enumerate(self.reached.images):
            source = self.reached.parts[image.source]
            if image.target != location or image.flow is not None or source.empty:
                continue
            found = self.half_space(location, out, least_depth, frozenset({k}))
            if found is None:
                continue
            matrix, bound = source.within(image.domain)
            beyond = np.zeros((1, matrix.shape[1]))
            n = len(found.normal)
            beyond[0, n : 2 * n] = -found.normal
            level = -found.level - found.depth / 2 / self._steepness(found.normal)
            unwanted = np.vstack([matrix, beyond]), np.append(bound, level)
            before = self.kept_out(image.source, unwanted, least_depth, longest - 1)
            if before:
                return [*before, (location, found)]
        return []

    def _steepness(self, normal: Array) -> float:
        """By how much the normal changes, at most, over the extent of one variable."""
        return max(FLAT, float(np.abs(normal * self.scale).max()))

    def _excluded(
        self,
        program: SparseProgram,
        normal: list[int],
        level: int,
        depth: int,
        matrix: Array,
        bound: Array,
    ) -> None:
        """a x >= b + depth wherever the rows over (x, ...) hold."""
        factors = program.unknowns(len(bound), 0.0, np.inf)
        for j in range(matrix.shape[1]):
            terms = [(factors[i], float(matrix[i, j])) for i in np.flatnonzero(matrix[:, j])]
            if j < len(normal):
                terms.append((normal[j], 1.0))
            program.equation(terms)
        row = {factors[i]: float(bound[i]) for i in np.flatnonzero(bound)}
        program.row(row | {level: 1.0, depth: 1.0}, 0.0)

    def _entered(
        self, program: SparseProgram, normal: list[int], level: int, matrix: Array, bound: Array
    ) -> None:
        """a x' <= b wherever the rows over (x, x', rest) hold."""
        n = len(normal)
        factors = program.unknowns(len(bound), 0.0, np.inf)
        for j in range(matrix.shape[1]):
            terms = [(factors[i], float(matrix[i, j])) for i in np.flatnonzero(matrix[:, j])]
            if n <= j < 2 * n:
                terms.append((normal[j - n], -1.0))
            program.equation(terms)
        row = {factors[i]: float(bound[i]) for i in np.flatnonzero(bound)}
        program.row(row | {level: -1.0}, 0.0)

    def _kept(
        self,
        program: SparseProgram,
        normal: list[int],
        level: int,
        matrix: Array,
        bound: Array,
        flow: Flow,
        decay: float,
    ) -> None:
        """a f(x, w) + k (a x - b) <= 0 wherever the rows over (x, w) hold."""
        n = len(normal)
        gain = np.vstack([flow.state.T + decay * np.eye(n), flow.rest.T])
        factors = program.unknowns(len(bound), 0.0, np.inf)
        for j in range(matrix.shape[1]):
            terms = [(factors[i], float(matrix[i, j])) for i in np.flatnonzero(matrix[:, j])]
            terms += [(normal[i], -float(gain[j, i])) for i in np.flatnonzero(gain[j])]
            program.equation(terms)
        row = {factors[i]: float(bound[i]) for i in np.flatnonzero(bound)}
        row |= {normal[i]: float(flow.constant[i]) for i in np.flatnonzero(flow.constant)}
        program.row(row | {level: -decay}, 0.0)
