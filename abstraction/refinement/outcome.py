"""Verdicts of the refinement checker, and the tree of the proof.

`Refines` carries a certificate that the trusted checker accepted; the only way to make one is
`refines`. `Refuted` carries a run of the detailed system that the abstract one cannot match.
`NotProved` names every obligation that is left, each with a state. `Step` is a node of a proof
that is put together by composition rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from workbench.models.automaton import Automaton
from workbench.models.certificates.judgement import Rejected
from workbench.models.certificates.refinement import (
    RefinementCertificate,
    Simulated,
    check_refinement,
)
from workbench.models.smt.solver import Scalar
from workbench.models.source import Span
from workbench.models.trace import Trace

_CHECKED = object()


@dataclass(frozen=True)
class Failure:
    """An obligation that does not hold, or was not decided (then without a state)."""

    kind: str
    title: str
    why: str
    state: Mapping[str, Scalar] = field(default_factory=dict)
    detailed: Span | None = None
    abstract: Span | None = None


@dataclass(frozen=True)
class Refines:
    """The detailed automaton refines the abstract one; made by `refines` only."""

    certificate: RefinementCertificate
    judgement: Simulated
    seal: object = field(repr=False, compare=False, default=None)

    def __post_init__(self) -> None:
        assert self.seal is _CHECKED, "a Refines verdict is made by refines()"


@dataclass(frozen=True)
class Mismatch:
    """Where a run leaves what the abstract automaton allows: the time, the state there, and
    what stands in the way; `prefix` says how many jumps were matched."""

    time: float
    location: str
    values: Mapping[str, float | bool | str]
    why: str
    jumps: int


@dataclass(frozen=True)
class Refuted:
    """A run of the detailed automaton that no run of the abstract one matches."""

    trace: Trace
    mismatch: Mismatch
    confirmed_by: str
    failures: tuple[Failure, ...] = ()


@dataclass(frozen=True)
class NotProved:
    """Some obligations are left."""

    failures: tuple[Failure, ...]

    def __post_init__(self) -> None:
        assert self.failures, "a NotProved verdict says what is left"


Outcome: TypeAlias = Refines | Refuted | NotProved


def refines(
    detailed: Automaton, abstract: Automaton, certificate: RefinementCertificate
) -> Refines | NotProved:
    """A `Refines` verdict if the trusted checker accepts the certificate."""
    judgement = check_refinement(detailed, abstract, certificate)
    if isinstance(judgement, Rejected):
        why = f"the checker rejected the certificate: {judgement.why}"
        return NotProved((Failure("certificate", judgement.obligation, why),))
    return Refines(certificate, judgement, _CHECKED)


class Rule(StrEnum):
    """How a step of a proof follows from the steps below it."""

    UNCHANGED = "unchanged"
    SIMULATION = "simulation"
    PARALLEL = "parallel composition"
    HIDING = "hiding"
    RENAMING = "renaming"
    SUBMODE = "submode"
    ASSUME_GUARANTEE = "assume-guarantee"
    CIRCULAR = "circular assume-guarantee"
    INDUCTION = "induction"


@dataclass(frozen=True)
class Step:
    """A step of a proof: what is claimed, by which rule, from what.

    `outcome` belongs to a simulation; a step that is put together holds if all below do.
    """

    claim: str
    rule: Rule
    below: tuple[Step, ...] = ()
    outcome: Outcome | None = None
    note: str = ""
    seconds: float = 0.0

    @property
    def holds(self) -> bool:
        """Whether the claim is proved."""
        return all(
            step.outcome is None or isinstance(step.outcome, Refines) for step in self.walk()
        )

    def walk(self) -> Iterator[Step]:
        """This step and all below it, from the top."""
        pending = [self]
        while pending:
            step = pending.pop()
            yield step
            pending.extend(reversed(step.below))
