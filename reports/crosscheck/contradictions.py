"""One engine against another: simulated runs against claimed sets and properties.

Every run is followed along its dense output, at and between its points (see
`reports.crosscheck.piecewise`). For each claimed set the margin is the least distance that the
run keeps from the set's border, negative once it has left; for each property the least robustness
of its condition. A run that leaves a claimed set, a run that breaks a verified property, and a
counterexample that breaks nothing are contradictions: one of the engines is wrong.

Runs are computed in floating point; `reports.crosscheck.margins` says how far they may stray.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property

from workbench.models.automaton import Automaton, Property, PropertyKind, never_blocks
from workbench.models.expressions.expression import FALSE
from workbench.models.expressions.printing import to_text
from workbench.models.lowering.problem import proved_view
from workbench.models.trace import Scalar, Trace, scalar_text
from workbench.models.unfolding import case_of
from workbench.reports.claims.claimed_set import ClaimedSet, Stay
from workbench.reports.crosscheck.certain_runs import stays
from workbench.reports.crosscheck.condition_tree import Condition, condition_tree
from workbench.reports.crosscheck.margins import Margin, Place, allowance, place_of, set_margin
from workbench.reports.crosscheck.piecewise import Extreme, Pieces, joined, largest, pieces_of


@dataclass(frozen=True)
class RunCheck:
    """The margins of one run: by property, and by claimed set (under the property that the
    set was made for)."""

    run: int
    properties: Mapping[str, Margin]
    sets: Mapping[str, Margin]


@dataclass(frozen=True)
class Contradiction:
    """Two engines disagree: which run, against what, where."""

    run: int
    claim: str
    what: str
    place: Place | None
    margin: float | None

    @property
    def sentence(self) -> str:
        """The contradiction in words, with the exact place."""
        if self.place is None:
            return f"Run {self.run}: {self.what}."
        values = ", ".join(f"{n} = {_value(v)}" for n, v in self.place.values.items())
        beyond = "" if self.margin is None else f" by {-self.margin:.6g}"
        return (
            f"Run {self.run}: {self.what}{beyond} at t = {self.place.time:.9g} in "
            f"`{self.place.location}`: {self.place.predicate} ({values})."
        )


@dataclass(frozen=True)
class CrossCheck:
    """All runs against everything, and what contradicts."""

    runs: tuple[RunCheck, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()
    points: int = 0

    @property
    def consistent(self) -> bool:
        """Whether the engines agree as far as was tested."""
        return not self.contradictions


@dataclass
class Checker:
    """Tests runs of one automaton; conditions are compiled once for every location."""

    automaton: Automaton
    sets: Mapping[str, ClaimedSet] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._bad: dict[tuple[str, str], Condition | None] = {}

    @cached_property
    def _view(self) -> Automaton:
        """The automaton that the sets are about."""
        return proved_view(self.automaton)

    @cached_property
    def _symbols(self) -> dict[str, float]:
        """Enumerations as the simulator stores them: by their place in the type."""
        return {
            symbol: float(i)
            for declared in self.automaton.variables
            for i, symbol in enumerate(declared.type.values)
        }

    def check(self, number: int, trace: Trace) -> RunCheck:
        """The margins of one run."""
        pieces = [pieces_of(s, trace.parameters, self._symbols) for s in trace.segments]
        whole = list(stays_of(trace, pieces, self._view))
        tables = joined(pieces)
        return RunCheck(
            number,
            {p.name: self._property(p, trace, tables) for p in self.automaton.properties},
            {claim: set_margin(found, trace, whole) for claim, found in self.sets.items()},
        )

    def _property(self, claim: Property, trace: Trace, pieces: Sequence[Pieces]) -> Margin:
        worst: Extreme | None = None
        exact = True
        for part in pieces:
            tree = self._bad_tree(claim, part.segment.location)
            floor = -math.inf if worst is None else worst.value
            found = None if tree is None else largest(tree, part, floor=floor)
            if found is not None:
                worst, exact = found, exact and found.exact
        if worst is None:
            return Margin(None)
        place = place_of(trace, worst.segment, worst.time, to_text(claim.condition))
        return Margin(-worst.value, place, exact, allowance(place))

    def _bad_tree(self, claim: Property, location: str) -> Condition | None:
        key = (claim.name, location)
        if key not in self._bad:
            bad = claim.bad_states(self.automaton.occupied(location))
            self._bad[key] = None if bad == FALSE else condition_tree(bad)
        return self._bad[key]


def stays_of(trace: Trace, pieces: Sequence[Pieces], view: Automaton) -> Iterator[Stay]:
    """The run's stays with their dense output, one `Pieces` for each segment, in the locations
    that a proof speaks about."""
    for first, last in stays(trace):
        segment = trace.segments[first]
        entry = {**trace.parameters, **segment.valuation(segment.start)}
        place = case_of(view, segment.location, entry)
        yield Stay(place, segment.start, entry, tuple(pieces[first:last]))


def stay_times(trace: Trace) -> Iterator[tuple[str, float, float, dict[str, Scalar]]]:
    """The run's stays: location, start, end, and the state that each begins in."""
    for first, last in stays(trace):
        segment = trace.segments[first]
        entry = {**trace.parameters, **segment.valuation(segment.start)}
        yield segment.location, segment.start, trace.segments[last - 1].end, entry


def cross_check(
    automaton: Automaton,
    traces: Sequence[Trace],
    sets: Mapping[str, ClaimedSet],
    verified: Mapping[str, float],
    counterexamples: Mapping[int, str] | None = None,
    doubtful: Set[int] = frozenset(),
) -> CrossCheck:
    """Test every run against every property and every claimed set.

    `verified` gives the horizon of each verified property; `counterexamples` tells which
    runs are claimed to break which property. `doubtful` runs convict nobody: rounding may have
    made one of their jumps.
    """
    checker = Checker(automaton, sets)
    claimed = counterexamples or {}
    progress = {p.name for p in automaton.properties if p.kind is PropertyKind.PROGRESS}
    progress.add(never_blocks(automaton).name)
    runs = tuple(checker.check(i, trace) for i, trace in enumerate(traces))
    found: list[Contradiction] = []
    for run in runs:
        if run.run in doubtful:
            continue
        for name, margin in run.sets.items():
            if margin.broken:
                what = f"it leaves the {sets[name].title} claimed for {name!r}"
                found.append(Contradiction(run.run, name, what, margin.place, margin.value))
        for name, margin in run.properties.items():
            at = margin.place.time if margin.place else math.inf
            if margin.broken and at <= verified.get(name, -math.inf):
                what = f"it breaks {name!r}, which is verified"
                found.append(Contradiction(run.run, name, what, margin.place, margin.value))
        name = claimed.get(run.run, "")
        ends = name in progress and traces[run.run].outcome.ending.may_be_stuck
        if name and not ends and not _broken(run.properties.get(name)):
            what = f"it is a counterexample to {name!r} but does not break it"
            found.append(Contradiction(run.run, name, what, None, None))
    points = sum(len(s.degrees) + 1 for trace in traces for s in trace.segments)
    return CrossCheck(runs, tuple(found), points)


def _broken(margin: Margin | None) -> bool:
    """Whether a counterexample reaches the bad states; touching their border counts, since a
    run stops there."""
    return margin is not None and margin.value is not None and margin.value <= margin.allowance


def _value(value: Scalar) -> str:
    return f"{value:.9g}" if isinstance(value, float) else scalar_text(value)
