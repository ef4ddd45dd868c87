"""Verdicts: an outcome is only as good as the evidence it carries.

`Verified` carries a certificate that the trusted checker accepted; the only way to make one is
`verified`, which runs the checker. `Falsified` carries a trace and the independent replays that
confirm it. `Unknown` carries a reason that a user can act on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias

from workbench.models.automaton import Automaton
from workbench.models.proof.certificate import Certificate
from workbench.models.proof.checker import Accepted, Rejected, check
from workbench.models.trace import Trace

_CHECKED = object()


@dataclass(frozen=True)
class Effort:
    """What an analysis did: seconds by phase, and counts of what it tried."""

    seconds: Mapping[str, float] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Verified:
    """The property holds, for all time or up to `horizon`; made by `verified` only."""

    claim: str
    method: str
    certificate: Certificate
    judgement: Accepted
    effort: Effort
    seal: object = field(repr=False, compare=False, default=None)

    def __post_init__(self) -> None:
        assert self.seal is _CHECKED, "a Verified verdict is made by verified()"

    @property
    def horizon(self) -> Fraction | None:
        """The time up to which the property is proved; None for all time."""
        return self.judgement.horizon


@dataclass(frozen=True)
class Confirmation:
    """An independent repetition of a counterexample: how it was done, how far beyond the
    property it ended (positive), and whether it is rigorous (an enclosure, not an estimate)."""

    how: str
    violation: float
    rigorous: bool = False


@dataclass(frozen=True)
class Falsified:
    """The property fails: a trace that shows it, and at least one confirmation.

    `recording` is the trace as a document that `workbench simulate --replay` repeats.
    """

    claim: str
    method: str
    trace: Trace
    confirmations: tuple[Confirmation, ...]
    effort: Effort
    recording: str = field(default="", repr=False, compare=False)

    def __post_init__(self) -> None:
        assert self.confirmations, "a Falsified verdict needs a replay that confirms it"


@dataclass(frozen=True)
class Unknown:
    """Neither: `reason` says what was missing, `advice` what to try."""

    claim: str
    method: str
    reason: str
    advice: str
    effort: Effort

    def __post_init__(self) -> None:
        assert self.reason, "an Unknown verdict needs a reason"


Verdict: TypeAlias = Verified | Falsified | Unknown


def verified(
    automaton: Automaton,
    claim: str,
    method: str,
    certificate: Certificate,
    effort: Effort,
    expired: Callable[[], bool] = lambda: False,
) -> Verified | Rejected:
    """A `Verified` verdict if the trusted checker accepts the certificate; it may be
    interrupted (`CheckInterruptedError`)."""
    judgement = check(automaton, claim, certificate, expired)
    if isinstance(judgement, Rejected):
        return judgement
    return Verified(claim, method, certificate, judgement, effort, _CHECKED)
