"""Looking for entry sets to which all stays return: attempts of growing cost.

First entry sets are boxes with what conditions speak about; then they inherit the directions on
which the property rests; then each is cut into parts along the guard by which it is entered,
and steps are shorter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np

from workbench.abstraction.recurrence.directions import (
    axes,
    condition_normals,
    directions_of,
    distinct,
    established,
    inherit,
)
from workbench.abstraction.recurrence.entry_sets import EntrySet, Origin, curves_of, floats
from workbench.abstraction.recurrence.followed_stays import Interrupted
from workbench.abstraction.recurrence.proof import charge, exact_nodes, proof_of
from workbench.abstraction.recurrence.recurrent_sets import Recurrence, closed_sets, start_offsets
from workbench.abstraction.recurrence.stay_view import JumpView, Stays, StayView, Vector
from workbench.abstraction.templates.cut_choice import steady_progress
from workbench.abstraction.templates.sampled_runs import SampledRuns
from workbench.abstraction.templates.system import TemplateSystem
from workbench.models.checker.flowpipe import FlowpipeProof
from workbench.reach.sets.support import SupportOracle

STEPS_OF_STAY, MOST_STEPS = 16, 72
SETTLING = 2.0
"""Where stays need not end they are followed for so many of the slowest time constants."""
TURN = 0.15
"""The longest step, in units of the fastest time constant."""
EXACT_ROUNDS = 3
MOST_ENTRIES = 40


@dataclass(frozen=True)
class Plan:
    """One attempt: parts of every entry set, and how much shorter steps are."""

    parts: int
    finer: int


FINER = (1, 3)
PARTS = 3
CLOSE = 0.03
"""How deep stays reach into bad states, in units of the extent of runs, if they only just do."""


@dataclass(frozen=True)
class Outcome:
    """A proof, or why there is none; the attempts made and the entry sets of the last."""

    proof: FlowpipeProof | None
    reason: str
    attempts: int
    entries: int


class RecurrenceSearch:
    """The attempts on one model."""

    def __init__(
        self,
        stays: Stays,
        system: TemplateSystem,
        runs: SampledRuns,
        stop: Callable[[], bool],
        progress: Callable[[str], None] = lambda text: None,
    ):
        self.stays, self.system, self.runs = stays, system, runs
        self.stop, self.progress = stop, progress
        points = runs.points(system.locations)
        order = [system.names.index(name) for name in stays.names]
        spread = np.ones(len(order)) if points is None else np.ptp(points[:, order], axis=0)
        self.scale = np.maximum(spread, 1e-3 * max(1.0, float(spread.max(initial=0.0))))
        self.points = {
            name: None if (found := runs.points([name])) is None else found[:, order]
            for name in stays.views
        }
        self.attempts = self.entries = 0
        self.lengths = {name: self._length(view) for name, view in stays.views.items()}

    def search(self) -> Outcome:
        """The first attempt that succeeds."""
        reason = ""
        try:
            for proof in self._proofs():
                if isinstance(proof, FlowpipeProof):
                    return Outcome(proof, "", self.attempts, self.entries)
                reason = proof
        except Interrupted:
            before = f"; before, {reason}" if reason else ""
            reason = f"the time limit ended attempt {self.attempts}{before}"
        return Outcome(None, reason, self.attempts, self.entries)

    def _proofs(self) -> Iterator[FlowpipeProof | str]:
        """Attempts, each a proof or why it gave none. Where whole entry sets come close,
        parts are tried before inherited normals."""
        for finer in FINER:
            whole = self._found(Plan(1, finer))
            if whole is None:
                yield f"there would be more than {MOST_ENTRIES} entry sets"
                return
            yield self._proved(whole)
            close = whole.depth <= CLOSE * self._watched_span()
            if not close:
                yield from self._inherited(whole)
            parts = self._found(Plan(PARTS, finer))
            if parts is not None and len(parts.entries) > len(whole.entries):
                yield self._proved(parts)
            else:
                parts = None
            if close:
                yield from self._inherited(whole)
            if parts is not None:
                yield from self._inherited(parts)

    def _watched_span(self) -> float:
        """How much what the property speaks about varies on sampled runs."""
        rows = [row for view in self.stays.views.values() for row in view.watched]
        return max(
            (float(np.abs(floats([row])[0] * self.scale).max()) for row in rows), default=1.0
        )

    # Entry sets

    def _entries(self, plan: Plan) -> list[EntrySet]:
        """One entry set for each location where runs start, and for each jump."""
        views = self.stays.views
        begun = dict.fromkeys(start.location for start in self.stays.starts)
        found = [self._entry(views[location], None, plan) for location in begun]
        jumps: dict[Origin, JumpView] = {}
        for jump in (jump for view in views.values() for jump in view.jumps):
            jumps.setdefault((jump.source, jump.number), jump)
        for origin, jump in jumps.items():
            fixed = established(jump)
            found += [
                self._entry(views[jump.target], origin, plan, fixed, slab)
                for slab in self._slabs(jump, plan.parts)
            ]
        return found

    def _entry(
        self,
        view: StayView,
        origin: Origin,
        plan: Plan,
        fixed: Sequence[Vector] = (),
        slab: Sequence[tuple[Vector, float]] = (),
    ) -> EntrySet:
        cuts = [normal for normal, _ in slab]
        known = axes(len(self.stays.names))
        normals = distinct([*known, *condition_normals(view), *fixed, *cuts])
        length, settling = self.lengths[view.location]
        step = _dyadic(length / plan.finer)
        count = min(MOST_STEPS * plan.finer, max(4, ceil(settling / step)))
        levels = tuple(_along(normals, v, level) for v, level in slab)
        return EntrySet(view, origin, normals, step, count, levels)

    def _slabs(self, jump: JumpView, parts: int) -> Iterator[Sequence[tuple[Vector, float]]]:
        """The parts of what a jump leads to, along the first normal of its guard on which
        there is something to cut; each has an upper cut first (the last: a lower one)."""
        n = len(self.stays.names)
        relation = jump.relation
        oracle = SupportOracle(relation.matrix, relation.bound)
        for normal in distinct(jump.guards) if parts > 1 else ():
            objective = np.zeros(relation.matrix.shape[1])
            objective[n : 2 * n] = [float(v) for v in normal]
            high, low = oracle(objective), oracle(-objective)
            if high is None or low is None or not np.isfinite(high.value + low.value):
                continue
            width = (high.value + low.value) / parts
            if width <= 1e-6 * max(1.0, abs(high.value)):
                continue
            cuts = [float(np.round(-low.value + k * width, 6)) for k in range(1, parts)]
            opposite = tuple(-v for v in normal)
            lower: list[tuple[Vector, float]] = []
            for cut in cuts:
                yield [(normal, cut), *lower]
                lower = [(opposite, -cut)]
            yield lower
            return
        yield ()

    def _length(self, view: StayView) -> tuple[float, float]:
        """The length of steps, and for how long stays are followed at most."""
        rates = np.abs(np.linalg.eigvals(view.matrix))
        moving = rates[rates > 1e-6]
        progress = steady_progress(self.system, self.runs, view.location)
        points = self.runs.points([view.location])
        longest = TURN / float(moving.max()) if len(moving) else np.inf
        if progress is not None and points is not None:
            stay = float(np.ptp(points @ progress.normal)) / progress.speed
            length = min(longest, stay / STEPS_OF_STAY)
            return length, MOST_STEPS * length
        if not len(moving):
            return 1.0, STEPS_OF_STAY * 1.0
        return longest, SETTLING / float(moving.min())

    # Attempts

    def _found(self, plan: Plan) -> Recurrence | None:
        """Closed entry sets with the normals given; None if there would be too many sets."""
        entries = self._entries(plan)
        return None if len(entries) > MOST_ENTRIES else self._closed(entries)

    def _closed(self, entries: list[EntrySet]) -> Recurrence:
        self.attempts, self.entries = self.attempts + 1, len(entries)
        self.progress(f"recurrence: attempt {self.attempts}, {self.entries} entry sets")
        self._prepare(entries)
        return closed_sets(entries, self.stop)

    def _inherited(self, found: Recurrence) -> Iterator[FlowpipeProof | str]:
        """The same entry sets with inherited normals, if there are any."""
        if found.followed and inherit(found.entries, found.followed, self.scale, self.stop):
            renewed = [
                EntrySet(e.view, e.origin, e.normals, e.step, e.count, e.slab)
                for e in found.entries
            ]
            yield self._proved(self._closed(renewed))

    def _prepare(self, entries: Sequence[EntrySet]) -> None:
        targets: dict[object, list[EntrySet]] = {}
        for entry in entries:
            targets.setdefault(entry.origin, []).append(entry)
        for entry in entries:
            if self.stop():
                raise Interrupted
            rows = directions_of(entry, targets, self.points[entry.view.location])
            entry.curves = curves_of(entry.view, rows, entry.step, entry.count)
            entry.charges = np.zeros((entry.count, 2, len(rows)))
        start_offsets(self.stays, entries)

    def _proved(self, found: Recurrence) -> FlowpipeProof | str:
        """Exact evidence; the search is charged for what the exact bounds lose and repeated."""
        lacking = found.reason
        for _ in range(EXACT_ROUNDS if not lacking else 0):
            self.progress("recurrence: exact evidence")
            charge(exact_nodes(self.stays, found, self.stop))
            charged = closed_sets(found.entries, self.stop)
            if not charged.followed:
                return f"the exact bounds of the steps are too loose: {charged.reason}"
            found = charged
            if found.reason:
                lacking = f"the exact bounds of the steps are too loose: {found.reason}"
                continue
            proof = proof_of(self.stays, exact_nodes(self.stays, found, self.stop), self.stop)
            if isinstance(proof, FlowpipeProof):
                return proof
            lacking = f"entry sets were found, but this lacked an exact proof: {proof}"
        return lacking


def _dyadic(value: float) -> float:
    """A number of few bits, at most the value and more than 7/8 of it."""
    exponent = np.floor(np.log2(value)) - 3
    return float(np.floor(value / 2.0**exponent) * 2.0**exponent)


def _along(normals: Sequence[Vector], cut: Vector, level: float) -> tuple[int, float]:
    """The normal in the direction of a cut, and where the cut is along it."""
    size = max(map(abs, cut))
    for number, normal in enumerate(normals):
        length = max(map(abs, normal))
        if all(a * size == b * length for a, b in zip(normal, cut, strict=True)):
            return number, level * float(length / size)
    raise LookupError(f"no normal is along {cut}")
