"""Looking for parts that miss the bad states, learning half-spaces on the way.

The parts begin with what the initial states and sampled runs need and grow as images demand
(`reached_parts`). Whenever an image exceeds a part, the state from which it does is put in
question first: perhaps no run gets there, and a half-space that is inductive as things stand
keeps it out (`inductive_half_space`). Then that half-space becomes a direction of the part and
the growth is spared; only otherwise the part grows. Where the parts reach a bad state, a
half-space against the bad states is sought in the same way, through the locations that lead
there, and the search starts again with the directions learned so far. A state that could not
be kept out is not tried again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from workbench.abstraction.predicates.inductive_half_space import HalfSpace, Separator
from workbench.abstraction.predicates.reached_parts import (
    Excess,
    ReachedParts,
    Strategy,
    improved,
    levelled,
    reached_parts,
)
from workbench.abstraction.templates.sampled_runs import SampledRuns
from workbench.abstraction.templates.system import Array, TemplateSystem

EULER = 0.05
"""tau, in units of the fastest time constant."""
DECAYS = (0.0, 0.3, 1.0, 3.0)
"""The rates k of half-spaces, in units of the fastest."""
ALIKE = 0.005
"""Directions that differ by less are one."""
LONGEST = 3
"""Through so many locations the origin of bad states is followed."""
SHALLOW = 1e-3
"""The least depth of a cut against bad states, in units of the extents of runs."""
SLACKS, LEVEL = (1e-5, 1e-6, 1e-7), 1e-11
"""Room for rounding, relative to the size of the offsets, where parts can have it."""
MOST_ROUNDS = 400
ALARMS = 6
"""So often it is tried to keep runs from a switch to where nothing has been."""
QUESTIONED = 2
"""So many excesses of an image are questioned before parts grow."""
MOST_DIRECTIONS = 120
"""A location that has learned so many directions learns no more."""


@dataclass(frozen=True)
class Learned:
    """A direction that a location learned: normal * x <= level looked inductive."""

    location: str
    half_space: HalfSpace


@dataclass(frozen=True)
class PartPlan:
    """How to search: growth is questioned if a half-space can cut at least `least_depth`
    (more than 1: never), at most `attempts` searches, one after the other."""

    least_depth: float = 0.2
    attempts: int = 12


@dataclass
class PartOutcome:
    """The parts as they were at the end, and why they prove nothing (`reason`, empty if they
    do, as far as floating point can tell); `bad` is where they reach a bad state."""

    reached: ReachedParts
    reason: str
    bad: str | None = None


@dataclass
class PartSearch:
    """One system, its runs, and the directions of every location so far."""

    system: TemplateSystem
    runs: SampledRuns
    directions: dict[str, Array]
    rate: float
    stop: Callable[[], bool]
    rounds: list[tuple[str, int, tuple[Learned, ...]]] = field(default_factory=list)
    programs: int = 0
    _alarms: dict[int, int] = field(default_factory=dict)
    _hopeless: set[tuple[str, tuple[float, ...]]] = field(default_factory=set)

    def __post_init__(self) -> None:
        points = self.runs.points(self.system.locations)
        spread = np.ptp(points, axis=0) if points is not None else np.ones(len(self.system.names))
        self._scale = np.maximum(spread, 1e-3 * max(1.0, float(spread.max(initial=0.0))))

    def search(self, plan: PartPlan) -> PartOutcome:
        """Search again and again as long as something is learned from bad states."""
        for _ in range(plan.attempts):
            outcome = self._attempt(plan)
            self.programs += outcome.reached.programs
            if outcome.bad is None or not self._learned_from_bad(outcome.reached, outcome.bad):
                break
        return outcome

    def _attempt(self, plan: PartPlan) -> PartOutcome:
        self._hopeless.clear()
        self._alarms.clear()
        copies = {name: normals.copy() for name, normals in self.directions.items()}
        reached = reached_parts(self.system, copies, EULER / self.rate, self.runs)
        reason, bad = self._settle(reached, plan.least_depth)
        if not reason and (bad := self._loosen(reached)) is not None:
            reason = "the reached parts have bad states"
        self.directions = {name: part.normals for name, part in reached.parts.items()}
        return PartOutcome(reached, reason, bad)

    def _loosen(self, reached: ReachedParts) -> str | None:
        """Give the parts room for rounding, as much as they can have; where they reach a bad
        state if they have none."""
        tight = {name: part.offsets.copy() for name, part in reached.parts.items()}
        for slack in SLACKS:
            for name, part in reached.parts.items():
                part.offsets = tight[name] + slack * reached.size
            reached.slack, reached.room = slack, slack / 10
            reason, bad = self._settle(reached, np.inf)
            reached.slack, reached.room = slack / 2, LEVEL
            if not reason and levelled(reached) and reached.bad() is None:
                return None
        if bad is None:
            for name, part in reached.parts.items():
                part.offsets = tight[name]
        return bad

    def _settle(self, reached: ReachedParts, least_depth: float) -> tuple[str, str | None]:
        """Let the parts grow until nothing exceeds them; why that failed, and where they
        reach bad states."""
        strategy: Strategy = {}
        for _ in range(MOST_ROUNDS):
            if self.stop():
                return "its work was used up in the search", None
            if (met := reached.bad()) is not None:
                return "the reached parts have bad states", met[0]
            found = list(reached.excesses())
            if not found:
                return "", None
            if self._unentered(reached, found) or (
                least_depth < 1 and self._spared(reached, found, least_depth)
            ):
                strategy.clear()
                continue
            improved(reached, strategy, found)
            if not reached.solved(strategy):
                return "a linear program of the parts was not solved", None
        return "the reached parts did not settle", None

    def _unentered(self, reached: ReachedParts, found: list[Excess]) -> bool:
        """Learn directions that keep runs out of states that nothing has reached so far."""
        if reached.slack:
            return False
        separator = self._separator(reached)
        learned = False
        for k, excess in {excess.image: excess for excess in found}.items():
            image = reached.images[k]
            tries = self._alarms.get(k, 0)
            if not reached.parts[image.target].empty or tries >= ALARMS or self.stop():
                continue
            self._alarms[k] = tries + 1
            guard = reached.parts[image.source].within(image.domain)
            cuts = separator.kept_out(image.source, guard, SHALLOW, LONGEST)
            if not cuts and len(excess.witness):
                state = excess.witness[: len(self.system.names)]
                cuts = separator.kept_out(image.source, state, SHALLOW, LONGEST)
            added = [self._added(reached, location, cut) for location, cut in cuts]
            learned = learned or any(added)
        return learned

    def _spared(self, reached: ReachedParts, found: list[Excess], least_depth: float) -> bool:
        """Learn directions that make some of the growth unnecessary."""
        separator = self._separator(reached)
        learned = False
        for excess in self._worst(reached, found):
            if self.stop():
                return learned
            source = reached.images[excess.image].source
            state = excess.witness[: len(self.system.names)]
            key = source, tuple(np.round(state / self._scale, 3))
            normals, offsets = reached.parts[source].finite()
            gone = np.any(normals @ state > offsets + 1e-6 * reached.size)
            if gone or key in self._hopeless:
                continue
            cuts = separator.kept_out(source, state, least_depth, 1)
            added = [self._added(reached, location, cut) for location, cut in cuts]
            if any(added):
                learned = True
            else:
                self._hopeless.add(key)
        return learned

    def _worst(self, reached: ReachedParts, found: list[Excess]) -> Iterator[Excess]:
        """The largest excesses of every image, in units of the extents."""
        by_image: dict[int, list[tuple[float, Excess]]] = {}
        for excess in found:
            part = reached.parts[reached.images[excess.image].target]
            if len(excess.witness):
                size = float(np.abs(part.normals[excess.row] * self._scale).max())
                growth = (excess.value - part.offsets[excess.row]) / size
                by_image.setdefault(excess.image, []).append((growth, excess))
        for candidates in by_image.values():
            candidates.sort(key=lambda pair: -pair[0])
            yield from (excess for _, excess in candidates[:QUESTIONED])

    def _learned_from_bad(self, reached: ReachedParts, location: str) -> bool:
        """Learn directions against the bad states that the parts have reached."""
        if self.stop():
            return False
        separator = self._separator(reached)
        for out in self._bad_states(reached, location):
            cuts = separator.kept_out(location, out, SHALLOW, LONGEST)
            fresh = [Learned(*cut) for cut in cuts if self._added(reached, *cut)]
            if fresh:
                states = sum(not part.empty for part in reached.parts.values())
                self.rounds.append((location, states, tuple(fresh)))
                self.directions = {name: part.normals for name, part in reached.parts.items()}
                return True
        return False

    def _bad_states(
        self, reached: ReachedParts, location: str
    ) -> Iterator[Array | tuple[Array, Array]]:
        """All bad states of the part at once, then single ones."""
        part = reached.parts[location]
        for name, polyhedron in self.system.bad:
            if name == location:
                yield part.within(polyhedron)
        if (met := reached.bad()) is not None and met[0] == location:
            yield met[1]

    def _separator(self, reached: ReachedParts) -> Separator:
        return Separator(reached, self._scale, tuple(k * self.rate for k in DECAYS))

    def _added(self, reached: ReachedParts, location: str, cut: HalfSpace) -> bool:
        """Give a part a further row; False if it has a very similar one."""
        part = reached.parts[location]
        nearest = np.abs(part.normals - cut.normal).max(axis=1).min(initial=np.inf)
        if nearest < ALIKE or len(part.normals) >= MOST_DIRECTIONS:
            return False
        seen = float(self.runs.supports([location], cut.normal[None, :])[0])
        level = max(cut.level, seen) if np.isfinite(seen) else cut.level
        part.normals = np.vstack([part.normals, cut.normal])
        part.offsets = np.append(part.offsets, -np.inf if part.empty else level)
        return True
