"""Everything that a report tells: verify, simulate, cross-check."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from workbench.abstraction.predicates.predicate_abstraction import PredicateAbstraction, abstract
from workbench.abstraction.predicates.predicates import NotAPredicateError
from workbench.abstraction.predicates.refinement_history import RefinementRound
from workbench.abstraction.strategies.strategy import HISTORY_READER
from workbench.abstraction.verification import deadline, verify
from workbench.abstraction.verification_settings import VerificationSettings
from workbench.models.automaton import Automaton, Property, PropertyKind
from workbench.models.model import Model
from workbench.models.proof.certificate import PolyhedralProof, decode, encode
from workbench.models.proof.checker import Judgement, check
from workbench.models.proof.linear import TooManyCasesError
from workbench.models.proof.problem import linear_problem
from workbench.models.proof.quadratic import QuadraticInvariant
from workbench.models.proof.quadratic_function import QuadraticFunctions
from workbench.models.trace import EventType, Trace
from workbench.models.trace_files import to_json
from workbench.models.verdict import Falsified, Unknown, Verdict, Verified
from workbench.models.work import spent
from workbench.reach.time_limit import OutOfTimeError, time_limit
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
from workbench.reports.words.inequalities import boolean_names
from workbench.simulate.run import prepare

DECIDING, RUNNING = 0.75, 0.9
"""The parts of the time limit after which properties are to be decided, and runs made; the rest
is for comparing and drawing."""
if TYPE_CHECKING:
    import networkx

MAX_ABSTRACTED, MAX_ABSTRACT_STATES, GIVEN_WORK = 6, 48, 3000.0
"""The abstract states of given predicates are looked at in models of so many variables, so many
states at most, and with so much work."""

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
    given: dict[str, networkx.MultiDiGraph] = field(default_factory=dict)
    """The abstract states of the author's predicates alone, by property, where there are some."""

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
    latest = time.monotonic() + RUNNING * settings.verification.time_limit * len(claims)
    verdicts = tuple(
        _decide(automaton, claim, settings.verification, progress, rounds) for claim in claims
    )
    clock.lap("verify")
    given = {
        claim.name: graph
        for claim in claims
        if (graph := _of_given_predicates(automaton, claim, settings.verification)) is not None
    }
    clock.lap("abstract states")
    certificates = {v.claim: _rechecked(automaton, v) for v in verdicts if isinstance(v, Verified)}
    clock.lap("recheck")
    until = settings.until or float(
        settings.verification.horizon or automaton.horizon or DEFAULT_UNTIL
    )
    seed = settings.verification.seed
    found = simulated(automaton, settings.runs, seed, until, progress, latest)
    runs = _counterexamples(verdicts) + found
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
        given,
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

    begun = time.monotonic()
    latest = begun + DECIDING * settings.time_limit
    task = settings.task(automaton, claim, progress, {HISTORY_READER: keep}, latest)
    verdict = verify(task, settings.method)
    if isinstance(verdict, Falsified):
        progress(f"enclosing the counterexample of {claim.name}")
    return with_enclosure(automaton, claim, verdict, begun + RUNNING * settings.time_limit)


def _of_given_predicates(
    automaton: Automaton, claim: Property, settings: VerificationSettings
) -> networkx.MultiDiGraph | None:
    """The abstract states that the author's predicates make with those of guards, invariants and
    the property, nothing learned: what refinement begins with."""
    asked = settings.method in ("auto", "abstraction")
    if not asked or not (automaton.predicates or settings.predicates):
        return None
    if len(automaton.variables) > MAX_ABSTRACTED or claim.kind is PropertyKind.PROGRESS:
        return None
    method = PredicateAbstraction(
        given=settings.predicates, refine=False, states=MAX_ABSTRACT_STATES, seed=settings.seed
    )
    try:
        with time_limit(deadline(settings.time_limit), spent() + GIVEN_WORK):
            found = abstract(linear_problem(automaton, claim), method).graph
    except (OutOfTimeError, TooManyCasesError, NotAPredicateError):
        return None
    return None if found is None else found.to_networkx(None)


def _rechecked(automaton: Automaton, verdict: Verified) -> CheckedCertificate:
    """The certificate written, read back and checked again, as a user would."""
    text = encode(verdict.certificate)
    begun = time.monotonic()
    judgement = check(automaton, verdict.claim, decode(text))
    return CheckedCertificate(text, judgement, time.monotonic() - begun)


def _claimed_set(automaton: Automaton, verdict: Verified) -> ClaimedSet:
    """The set that a certificate claims."""
    proof = verdict.certificate.safety
    if isinstance(proof, PolyhedralProof):
        return polyhedral_set(proof, boolean_names(automaton))
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
