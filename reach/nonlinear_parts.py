"""What a search for nonlinear flowpipes deals with: options, outcomes, stays, and conditions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from models.proof.farkas import Multipliers
from models.proof.flowpipe import Conditions, FlowpipeProof, Step, before
from models.proof.linear import Row, Rows
from models.proof.polyhedral import Evidence, Impossible
from models.proof.taylor_node import TaylorNode
from reach.entry_parts import Entry
from reach.reduced_rows import ReducedRows
from reach.step_evidence import Key, ending, keyed, quick_refutation


@dataclass(frozen=True)
class NonlinearMethod:
    """Options: the first step (chosen if None), how closely flows are followed (a level of
    the ladder), how often an entry set may be cut, and how much is explored at most."""

    step: Fraction | None = None
    level: int = 0
    depth: int = 0
    max_nodes: int = 2_000
    max_steps: int = 20_000
    longest: Fraction = Fraction(256)


@dataclass(frozen=True)
class NotFollowed:
    """No flowpipe that proves the property: why, and how far it came; `crossed`: it met bad
    states there."""

    reason: str
    nodes: int = 0
    steps: int = 0
    crossed: bool = False
    hopeless: bool = False
    attempts: int = 1


@dataclass(frozen=True)
class Found:
    """A proof, and how much work it took."""

    proof: FlowpipeProof
    attempts: int
    steps: int


@dataclass(frozen=True)
class Pending:
    """Rows, of which there are `row_count`, lie in an entry set."""

    entry: Entry
    proofs: tuple[Multipliers, ...]
    row_count: int

    def evidence(self) -> Evidence:
        """The decision tree that shows it."""
        return self.entry.cover(self.proofs, self.row_count)


Given = Evidence | Pending
"""Evidence, now or once all parts of the entry set are known."""


@dataclass
class Stay:
    """What was found out about the stays from a part."""

    node: TaylorNode
    jumps: list[list[Given | None]] = field(default_factory=list)
    safety: list[list[Evidence]] = field(default_factory=list)
    end: list[Evidence] = field(default_factory=list)


@dataclass
class Met:
    """A step on which some guards may hold: the rows of each such jump, by its number."""

    step: Step
    rows: dict[int, ReducedRows]


_Keyed = tuple[Rows, list[tuple[int, Row, Key]]]
"""Rows, and the same with numbers and keys."""


class Surroundings:
    """The conditions of a location, up to the horizon."""

    def __init__(self, conditions: Conditions, horizon: Fraction | None):
        until, within = before(horizon, strict=False), before(horizon, strict=True)
        self.conditions = conditions
        self.targets = [jump.target for jump in conditions.jumps]
        self.jumps = [_with_keys(until + jump.rows) for jump in conditions.jumps]
        self.bad = [_with_keys(until + rows) for rows in conditions.bad]
        self.final = [within + rows for rows in conditions.invariant]
        self.final_keys = [keyed(rows) for rows in self.final]

    def meet(self, step: Step, numbers: Mapping[Key, int]) -> tuple[list[Given | None], Met]:
        """That some jumps are impossible on a step, and which ones are not."""
        made: list[Given | None] = []
        met = Met(step, {})
        for number, (rows, keys) in enumerate(self.jumps):
            found = quick_refutation(step, numbers, keys, len(step.rows))
            if found is None:
                reduced = ReducedRows(step.rows + rows)
                found = reduced.refutation()
                if found is None:
                    met.rows[number] = reduced
            made.append(None if found is None else Impossible(found))
        return made, met

    def safety(self, step: Step, numbers: Mapping[Key, int]) -> list[Evidence] | None:
        """That no state on a step is bad."""
        found: list[Evidence] = []
        for rows, keys in self.bad:
            multipliers = quick_refutation(step, numbers, keys, len(step.rows))
            if multipliers is None:
                multipliers = ReducedRows(step.rows + rows).refutation()
            if multipliers is None:
                return None
            found.append(Impossible(multipliers))
        return found

    def ended(
        self, step: Step, numbers: Mapping[Key, int], *, thoroughly: bool
    ) -> list[Evidence] | None:
        """That no stay goes beyond the end of a step."""
        return ending(step, self.final, self.final_keys, numbers, quickly=not thoroughly)


def _with_keys(rows: Rows) -> _Keyed:
    return rows, keyed(rows)


def clusters(met: list[Met]) -> Iterator[tuple[int, list[Met]]]:
    """The jumps, each with steps in a row on which it is possible."""
    open_clusters: dict[int, list[Met]] = {}
    for here in (*met, None):
        possible = {} if here is None else here.rows
        for number in [n for n in open_clusters if n not in possible]:
            yield number, open_clusters.pop(number)
        if here is not None:
            for number in possible:
                open_clusters.setdefault(number, []).append(here)
