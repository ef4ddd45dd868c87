"""Verdicts: an outcome is only as good as the evidence it carries.

`Verified` carries a certificate that the trusted checker accepted; the only way to make one is
`verified`, which runs the checker. `Falsified` carries a trace and the independent replays that
confirm it. `Unknown` carries a reason that a user can act on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from typing import Any, TypeAlias

from workbench.models.automaton import Automaton
from workbench.models.certificates.certificate import Certificate
from workbench.models.certificates.check import check
from workbench.models.certificates.judgement import Accepted, Rejected
from workbench.models.trace import Scalar, Trace, scalar_text

NOTHING = 1e-9
"""Numbers below this are told as 0."""


class _Seal(Enum):
    """What only `verified` gives; it stays itself on its way between processes."""

    CHECKED = "checked"


@dataclass(frozen=True)
class Effort:
    """What an analysis did: seconds by phase, and counts of what it tried. Where phases went on
    side by side, `elapsed` is how long all of them took."""

    seconds: Mapping[str, float] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    elapsed: float | None = None

    @property
    def total(self) -> float:
        """Seconds from the beginning to the end."""
        return sum(self.seconds.values()) if self.elapsed is None else self.elapsed


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
        assert self.seal is _Seal.CHECKED, "a Verified verdict is made by verified()"

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
class LastChance:
    """When safety was lost in a run that violates a property: the last instant from which the
    `rescue` that its author names would still have helped, everything else as in the run; None if
    it would not even have helped from the start.

    `unknown` says why it cannot be told, where that is so.

    `violation` is when the run violates the property, `state` what it was like at that instant, as
    far as the rescue has to do with it, and `course` what the rescue would have made of it, a run
    whose times begin there.
    """

    time: float | None
    rescue: str
    violation: float = 0.0
    state: Mapping[str, Scalar] = field(default_factory=dict)
    course: Trace | None = field(default=None, repr=False, compare=False)
    unknown: str = ""

    @property
    def data(self) -> dict[str, Any]:
        """As plain data."""
        state = dict(self.state)
        return {"time": self.time, "rescue": self.rescue, "state": state, "unknown": self.unknown}

    @property
    def sentence(self) -> str:
        """For people."""
        if self.unknown:
            return f"when safety was lost cannot be told: {self.unknown}"
        if self.time is None:
            return f"safety was lost from the start: not even `{self.rescue}` would have helped"
        told = ", ".join(f"{name} = {_told(value)}" for name, value in self.state.items())
        return (
            f"safety was lost at t = {self.time:.6g}, the last instant from which"
            f" `{self.rescue}` would have helped (everything else as in the run):"
            f" {self.violation - self.time:.3g} before the violation"
            + (f", at {told}" if told else "")
        )


def _told(value: Scalar) -> str:
    """A value with few digits; what is next to nothing is 0."""
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) >= NOTHING else "0"
    return scalar_text(value)


@dataclass(frozen=True)
class Falsified:
    """The property fails: a trace that shows it, and at least one confirmation.

    `recording` is the trace as a document that `workbench simulate --replay` repeats.
    `last_chance` tells when it was too late, if the property names a rescue.
    """

    claim: str
    method: str
    trace: Trace
    confirmations: tuple[Confirmation, ...]
    effort: Effort
    recording: str = field(default="", repr=False, compare=False)
    last_chance: LastChance | None = None

    def __post_init__(self) -> None:
        assert self.confirmations, "a Falsified verdict needs a replay that confirms it"


@dataclass(frozen=True)
class Unknown:
    """Neither: `reason` says what was missing, `advice` what to try.

    `known` are partial results, each a sentence: up to which time the property is proved, which
    weaker one is, how close a run came. `details` say what every method did. `cut` names the
    methods that the clock cut: with more time, or on a faster machine, the answer may be another.
    `suspect` is a run that violates the property in simulation and could not be confirmed, as a
    document that `workbench simulate --replay` repeats.
    """

    claim: str
    method: str
    reason: str
    advice: str
    effort: Effort
    known: tuple[str, ...] = ()
    details: tuple[str, ...] = ()
    cut: tuple[str, ...] = ()
    suspect: str | None = field(default=None, repr=False, compare=False)

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
    return Verified(claim, method, certificate, judgement, effort, _Seal.CHECKED)
