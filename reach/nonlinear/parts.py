"""What a search for nonlinear flowpipes deals with: options, outcomes, stays, and conditions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from workbench.models.checker.covers import Cover, Impossible
from workbench.models.checker.flowpipe import FlowpipeProof, Step, at_entry
from workbench.models.checker.stay_conditions import ELAPSED, BadRows, Conditions, JumpRows, before
from workbench.models.checker.taylor_node import TaylorNode
from workbench.models.linear import Form, Multipliers, Row
from workbench.reach.affine.reduced_rows import ReducedRows
from workbench.reach.affine.step_evidence import Key, ending, keyed, quick_refutation
from workbench.reach.nonlinear.entry_parts import Entry

MOST = Fraction(3, 4)
"""The part of a step for which a jump is possible, if shorter steps would not say more."""


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
    """No flowpipe that proves the property: why, and how far it came; `hopeless`: following
    the flow more closely would not help; `out_of_time`: there was more to try."""

    reason: str
    nodes: int = 0
    steps: int = 0
    hopeless: bool = False
    attempts: int = 1
    out_of_time: bool = False


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

    def evidence(self) -> Cover:
        """The decision tree that shows it."""
        return self.entry.cover(self.proofs, self.row_count)


Given = Cover | Pending
"""Evidence, now or once all parts of the entry set are known."""


@dataclass
class Stay:
    """What was found out about the stays from a part."""

    node: TaylorNode
    jumps: list[list[Given | None]] = field(default_factory=list)
    safety: list[list[Cover]] = field(default_factory=list)
    end: list[Cover] = field(default_factory=list)


@dataclass
class Met:
    """A step on which some guards may hold: the rows of each such jump, by its number."""

    step: Step
    rows: dict[int, ReducedRows]

    @property
    def is_loose(self) -> bool:
        """Whether a jump is possible during a part of the step only: shorter steps then say
        better when, and from where."""
        length = self.step.end - self.step.begin
        widths = map(_width, self.rows.values())
        return any(width is not None and 0 < width < MOST * length for width in widths)


class Surroundings:
    """The conditions of a location, up to the horizon."""

    def __init__(self, conditions: Conditions, horizon: Fraction | None):
        self._until, within = before(horizon, strict=False), before(horizon, strict=True)
        self.conditions = conditions
        self.targets = [jump.target for jump in conditions.jumps]
        self._jumps = [(jump, keyed(self._until + jump.rows)) for jump in conditions.jumps]
        self._bad = [(bad, keyed(self._until + bad.rows)) for bad in conditions.bad]
        self.final = [within + rows for rows in conditions.staying]
        self.final_keys = [keyed(rows) for rows in self.final]

    def meet(
        self, node: TaylorNode, step: Step, numbers: Mapping[Key, int]
    ) -> tuple[list[Given | None], Met]:
        """That some jumps are impossible on a step, and which ones are not."""
        made: list[Given | None] = []
        met = Met(step, {})
        count = len(self.conditions.jumps_on(step.begin))
        for number, (jump, keys) in enumerate(self._jumps[:count]):
            found = self._refuted(node, step, jump, keys, numbers)
            if isinstance(found, ReducedRows):
                met.rows[number] = found
            made.append(None if isinstance(found, ReducedRows) else found)
        return made, met

    def safety(
        self, node: TaylorNode, step: Step, numbers: Mapping[Key, int]
    ) -> list[Cover] | None:
        """That no state on a step is bad."""
        found: list[Cover] = []
        for bad, keys in self._bad[: len(self.conditions.bad_on(step.begin))]:
            refuted = self._refuted(node, step, bad, keys, numbers)
            if isinstance(refuted, ReducedRows):
                return None
            found.append(refuted)
        return found

    def _refuted(
        self,
        node: TaylorNode,
        step: Step,
        case: JumpRows | BadRows,
        keys: list[tuple[int, Row, Key]],
        numbers: Mapping[Key, int],
    ) -> Impossible | ReducedRows:
        """That a case is impossible on a step; its rows if it may be possible."""
        here = at_entry(node, step) if case.at_entry else step.rows
        if not case.at_entry:
            quick = quick_refutation(step, numbers, keys, len(here))
            if quick is not None:
                return Impossible(quick)
        reduced = ReducedRows(here + self._until + case.rows)
        refuted = reduced.refutation()
        return reduced if refuted is None else Impossible(refuted)

    def ended(
        self, step: Step, numbers: Mapping[Key, int], *, thoroughly: bool
    ) -> list[Cover] | None:
        """That no stay goes beyond the end of a step."""
        return ending(step, self.final, self.final_keys, numbers, quickly=not thoroughly)


def _width(rows: ReducedRows) -> Fraction | None:
    """For how long the rows hold."""
    late = rows.largest(Form({ELAPSED: Fraction(1)}))
    early = rows.largest(Form({ELAPSED: Fraction(-1)}))
    return None if late is None or early is None else late.value + early.value


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
