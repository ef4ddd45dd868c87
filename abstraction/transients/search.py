"""Proofs of a transient and what comes after it: stretch by stretch, then an inductive set.

Where no convex set is inductive, holds the initial states and misses the bad ones, the states at
each moment often still are a convex set that does, since starts and inputs are. So runs are
followed by polyhedra that move with time (`time_stretches`), and from time to time it is tried
whether the states reached by then have an inductive set of their own, for all time to come. The
proof is a polyhedral certificate whose regions speak about the clock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from workbench.abstraction.templates.directions import (
    SHORT,
    Template,
    chain_template,
    decaying_template,
    fastest_rate,
    model_normals,
    template,
)
from workbench.abstraction.templates.image_bounds import RowKey
from workbench.abstraction.templates.invariant import Missed
from workbench.abstraction.templates.system import (
    TemplateSystem,
    TooManyLocationsError,
    template_system,
)
from workbench.abstraction.transients.chain_proof import prove_chain
from workbench.abstraction.transients.time_stretches import Stretch, stretch
from workbench.models.automaton import TIME
from workbench.models.checker.covers import Region
from workbench.models.evidence.polyhedral import PolyhedralProof
from workbench.models.lowering.problem import LinearProblem
from workbench.reach.evidence import Unproved

LENGTHS = (Fraction(2, 5), Fraction(1, 5))
"""Lengths of stretches, in units of the fastest time constant."""
MOST_STRETCHES = 64
TRIALS = frozenset({2, 4, 8, 12, 16, 24, 32, 48, 64})
"""After so many stretches an inductive set is looked for."""
MERGE = 0.005
"""Directions closer than this are one."""


@dataclass(frozen=True)
class Found:
    """A proof, and the number of stretches before the inductive set."""

    proof: PolyhedralProof
    stretches: int
    duration: Fraction


@dataclass(frozen=True)
class NotFound:
    """No proof: why, in a sentence."""

    reason: str


def search_transient(
    problem: LinearProblem,
    stop: Callable[[], bool],
    progress: Callable[[str], None] = lambda text: None,
    length: Fraction | None = None,
) -> Found | NotFound:
    """The first chain of stretches with exact evidence for all its obligations; they are of
    the given length, or of such as suit the dynamics."""
    clocked = problem.with_clock
    if TIME not in clocked.names:
        return NotFound("the model uses the name `time` for an input")
    try:
        plain, system = template_system(problem), template_system(clocked)
    except TooManyLocationsError as error:
        return NotFound(f"the model has {error}")
    reason = "no stretch of time was followed"
    for directions, size in _plans(plain, system, length):
        progress(f"stretches of time of {float(size):.3g}, {len(directions.rows)} directions")
        for found in _Chain(clocked, system, directions, size).grown(stop):
            if isinstance(found, Found):
                return found
            reason = found.reason
        if stop():
            return NotFound(f"its work was used up in the search; at last, {reason}")
    return NotFound(reason)


def _plans(
    plain: TemplateSystem, system: TemplateSystem, given: Fraction | None
) -> Iterator[tuple[Template, Fraction]]:
    """Directions without a part in time, and lengths of stretches."""
    dynamics = list(plain.flows)
    unit = Fraction(1 / fastest_rate(plain)).limit_denominator(100)
    normals = model_normals(plain)
    bases = [
        chain_template(plain, dynamics, SHORT),
        decaying_template(plain, dynamics, 0.5),
    ]
    for length in [part * unit for part in LENGTHS] if given is None else [given]:
        for base in bases:
            whole = template([*base.matrix, *normals], MERGE, base.step)
            yield _with_time(whole, plain, system), length


def _with_time(base: Template, plain: TemplateSystem, system: TemplateSystem) -> Template:
    """The directions over the names of the system with a clock, 0 for time."""
    if plain.names == system.names:
        clock = system.names.index(TIME)
        kept = [i for i, row in enumerate(base.rows) if not row[clock]]
        return Template(tuple(base.rows[i] for i in kept), base.matrix[kept], base.step)
    clock = system.names.index(TIME)
    rows = tuple((*row[:clock], Fraction(0), *row[clock:]) for row in base.rows)
    return Template(rows, np.insert(base.matrix, clock, 0.0, axis=1), base.step)


class _Chain:
    """Stretches of one length, one after the other."""

    def __init__(
        self, problem: LinearProblem, system: TemplateSystem, base: Template, length: Fraction
    ):
        self.problem, self.system, self.base, self.length = problem, system, base, length
        shared = all(switch.keeps_state for switch in system.switches)
        self.group = {name: 0 if shared else g for g, name in enumerate(system.locations)}
        self.stretches: list[Stretch] = []
        self._starts = system.starts

    def grown(self, stop: Callable[[], bool]) -> Iterator[Found | NotFound]:
        """What comes of ever more stretches, at every trial; the last is found, or the end."""
        for count in range(1, MOST_STRETCHES + 1):
            if stop():
                return
            begin = (count - 1) * self.length
            following = self._stretch(begin, begin + self.length, stop)
            if isinstance(following, Missed):
                yield NotFound(_followed(begin + self.length, following))
                return
            self.stretches.append(following)
            self._starts = following.last_states()
            if count in TRIALS:
                found = self._proved(stop)
                yield found
                if isinstance(found, Found):
                    return

    def _stretch(
        self, begin: Fraction, end: Fraction | None, stop: Callable[[], bool]
    ) -> Stretch | Missed:
        system = replace(self.system, starts=self._starts)
        return stretch(system, self.base, self.group, (begin, end), stop)

    def _proved(self, stop: Callable[[], bool]) -> Found | NotFound:
        """The proof that an inductive set follows the stretches."""
        duration = len(self.stretches) * self.length
        last = self._stretch(duration, None, stop)
        if isinstance(last, Missed):
            return NotFound(_kept_from(duration, last))
        outcome = prove_chain(self.problem, self._regions(last), stop)
        if isinstance(outcome, Unproved):
            return NotFound(f"no exact proof of: {outcome.obligation.title}")
        return Found(outcome, len(self.stretches), duration)

    def _regions(self, last: Stretch) -> tuple[tuple[Region, ...], ...]:
        """The regions of every stretch, with the rows that are needed from there on."""
        found: list[tuple[Region, ...]] = []
        following: Stretch | None = None
        wanted: set[RowKey] = set()
        for one in (last, *reversed(self.stretches)):
            wanted = one.needed(following, wanted)
            found.append(tuple(one.regions(wanted, self.length / 2)))
            following = one
        return tuple(reversed(found))


def _followed(end: Fraction, missed: Missed) -> str:
    return f"polyhedra that follow runs do not get to time {float(end):.3g}: {missed.reason}"


def _kept_from(begin: Fraction, missed: Missed) -> str:
    return f"no inductive set was found from time {float(begin):.3g} on: {missed.reason}"
