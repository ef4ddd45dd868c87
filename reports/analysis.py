"""Everything that a report tells: verify, simulate, cross-check."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from workbench.abstraction.predicates.refinement_history import RefinementRound
from workbench.abstraction.strategies.strategy import HISTORY_READER
from workbench.abstraction.verification import verify
from workbench.abstraction.verification_settings import VerificationSettings
from workbench.models.automaton import Automaton, Property
from workbench.models.model import Model
from workbench.models.proof.certificate import PolyhedralProof, decode, encode
from workbench.models.proof.checker import Judgement, check
from workbench.models.proof.problem import linear_problem
from workbench.models.proof.quadratic import QuadraticInvariant
from workbench.models.proof.quadratic_function import QuadraticFunctions
from workbench.models.trace import EventType, Trace
from workbench.models.trace_files import to_json
from workbench.models.verdict import Falsified, Unknown, Verdict, Verified
from workbench.reports.claims.claimed_set import (
    ClaimedSet,
    ellipsoid_set,
    function_set,
    polyhedral_set,
)
from workbench.reports.claims.flowpipe_set import FlowpipeSet
from workbench.reports.crosscheck.contradictions import CrossCheck, cross_check
from workbench.reports.crosscheck.coverage import Coverage, coverage
from workbench.reports.enclosed_counterexample import with_enclosure
from workbench.reports.simulated_runs import Run, simulated, steadied
from workbench.simulate.run import prepare

DEFAULT_UNTIL = 20.0
"""How long runs are followed where the model sets no horizon."""


@dataclass(frozen=True)
class Settings:
    """How to decide, how many runs to look at beside, and for how long to follow them (by
    default up to the horizon); every field is part of the report."""

    verification: VerificationSettings = field(default_factory=VerificationSettings)
    runs: int = 24
    until: float | None = None


@dataclass(frozen=True)
class CheckedCertificate:
    """A certificate as text, and what the checker said of that text."""

    text: str
    judgement: Judgement
    seconds: float


@dataclass(frozen=True)
class Findings:
    """What was found out about one model."""

    model: Model
    label: str
    settings: Settings
    verdicts: tuple[Verdict, ...]
    certificates: dict[str, CheckedCertificate]
    sets: dict[str, ClaimedSet]
    runs: tuple[Run, ...]
    check: CrossCheck
    coverage: Coverage
    until: float
    seconds: dict[str, float] = field(default_factory=dict)
    command: str = ""
    rounds: dict[str, tuple[RefinementRound, ...]] = field(default_factory=dict)
    """What predicate abstraction saw and learned, by property."""

    @property
    def automaton(self) -> Automaton:
        """The automaton of the model."""
        return self.model.automaton

    @property
    def recordings(self) -> dict[str, str]:
        """The traces of counterexamples as files, by property."""
        falsified = (v for v in self.verdicts if isinstance(v, Falsified))
        return {v.claim: v.recording or to_json(v.trace) for v in falsified}

    def claim(self, name: str) -> Property:
        """The property of that name."""
        return next(p for p in self.automaton.properties if p.name == name)


def analyse(
    model: Model,
    label: str,
    claims: Sequence[Property],
    settings: Settings,
    progress: Callable[[str], None] = lambda text: None,
    command: str = "",
) -> Findings:
    """Decide every claim, recheck every certificate, simulate, and compare."""
    automaton = model.automaton
    clock = _Clock()
    rounds: dict[str, tuple[RefinementRound, ...]] = {}
    verdicts = tuple(
        _decide(automaton, claim, settings.verification, progress, rounds) for claim in claims
    )
    clock.lap("verify")
    certificates = {v.claim: _rechecked(automaton, v) for v in verdicts if isinstance(v, Verified)}
    clock.lap("recheck")
    until = settings.until or float(
        settings.verification.horizon or automaton.horizon or DEFAULT_UNTIL
    )
    runs = _counterexamples(verdicts) + simulated(
        automaton, settings.runs, settings.verification.seed, until, progress
    )
    clock.lap("simulate")
    progress("cross-checking")
    sets = {v.claim: _claimed_set(automaton, v) for v in verdicts if isinstance(v, Verified)}
    checked = _compared(automaton, runs, sets, verdicts)
    accusing = {c.run for c in checked.contradictions} - _claimed(runs).keys()
    if accusing:
        runs = tuple(
            steadied(automaton, run, until) if i in accusing else run for i, run in enumerate(runs)
        )
        checked = _compared(automaton, runs, sets, verdicts)
    clock.lap("cross-check")
    reached = coverage(automaton, [run.trace for run in runs])
    return Findings(
        model,
        label,
        settings,
        verdicts,
        certificates,
        sets,
        runs,
        checked,
        reached,
        until,
        clock.seconds,
        command,
        rounds,
    )


def _compared(
    automaton: Automaton,
    runs: Sequence[Run],
    sets: dict[str, ClaimedSet],
    verdicts: Sequence[Verdict],
) -> CrossCheck:
    """Every run against every set and every property."""
    traces = [run.trace for run in runs]
    claimed = _claimed(runs)
    doubtful = _doubtful(automaton, traces) - claimed.keys()
    return cross_check(automaton, traces, sets, _horizons(verdicts), claimed, doubtful)


def _doubtful(automaton: Automaton, traces: Sequence[Trace]) -> set[int]:
    """The runs that small errors may have made."""
    from workbench.simulate.monitoring.clear_runs import ClearRuns

    clear = ClearRuns(prepare(automaton))
    return {i for i, trace in enumerate(traces) if clear.unclear(trace, {}) is not None}


class _Clock:
    def __init__(self) -> None:
        self._last = time.monotonic()
        self.seconds: dict[str, float] = {}

    def lap(self, phase: str) -> None:
        now = time.monotonic()
        self.seconds[phase] = now - self._last
        self._last = now


def _decide(
    automaton: Automaton,
    claim: Property,
    settings: VerificationSettings,
    progress: Callable[[str], None],
    rounds: dict[str, tuple[RefinementRound, ...]],
) -> Verdict:
    progress(f"verifying {claim.name}")

    def keep(history: tuple[RefinementRound, ...]) -> None:
        rounds[claim.name] = history

    task = settings.task(automaton, claim, progress, {HISTORY_READER: keep})
    verdict = verify(task, settings.method)
    if isinstance(verdict, Falsified):
        progress(f"enclosing the counterexample of {claim.name}")
    return with_enclosure(automaton, claim, verdict)


def _rechecked(automaton: Automaton, verdict: Verified) -> CheckedCertificate:
    """The certificate written, read back and checked again, as a user would."""
    text = encode(verdict.certificate)
    begun = time.monotonic()
    judgement = check(automaton, verdict.claim, decode(text))
    return CheckedCertificate(text, judgement, time.monotonic() - begun)


def _claimed_set(automaton: Automaton, verdict: Verified) -> ClaimedSet:
    """The set that a certificate claims."""
    proof = verdict.certificate.proof
    if isinstance(proof, PolyhedralProof):
        return polyhedral_set(proof)
    if isinstance(proof, QuadraticInvariant):
        return ellipsoid_set(proof)
    if isinstance(proof, QuadraticFunctions):
        return function_set(proof)
    claim = next(p for p in automaton.properties if p.name == verdict.claim)
    return FlowpipeSet(linear_problem(automaton, claim), proof)


def _counterexamples(verdicts: Sequence[Verdict]) -> tuple[Run, ...]:
    return tuple(
        Run(v.trace, "counterexample", f"found by {v.method}", v.claim)
        for v in verdicts
        if isinstance(v, Falsified)
    )


def _horizons(verdicts: Sequence[Verdict]) -> dict[str, float]:
    return {
        v.claim: float("inf") if v.horizon is None else float(v.horizon)
        for v in verdicts
        if isinstance(v, Verified)
    }


def _claimed(runs: Sequence[Run]) -> dict[int, str]:
    return {i: run.claim for i, run in enumerate(runs) if run.claim}


def suspicious(findings: Findings, verdict: Verdict) -> tuple[int, ...]:
    """Runs that break a property which is not decided: no verdict, but worth a look."""
    if not isinstance(verdict, Unknown):
        return ()
    return tuple(
        run.run
        for run in findings.check.runs
        if (margin := run.properties.get(verdict.claim)) is not None
        and (margin.broken or _violates(findings.runs[run.run].trace, verdict.claim))
    )


def _violates(trace: Trace, claim: str) -> bool:
    return any(e.type is EventType.VIOLATION and e.name == claim for e in trace.events)
