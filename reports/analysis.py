"""Everything that a report tells: verify, simulate, cross-check."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from workbench.abstraction.blocking import Blocking, look
from workbench.abstraction.predicates.predicate_abstraction import PredicateAbstraction, abstract
from workbench.abstraction.predicates.predicates import NotAPredicateError
from workbench.abstraction.predicates.refinement_history import RefinementRound
from workbench.abstraction.strategies.strategy import HISTORY_READER
from workbench.abstraction.verification import verify
from workbench.abstraction.verification_settings import VerificationSettings
from workbench.models.automaton import Automaton, Property, PropertyKind
from workbench.models.certificates.check import check, check_standalone
from workbench.models.certificates.judgement import Accepted, Judgement
from workbench.models.certificates.kernel_form import kernel_document
from workbench.models.certificates.standalone import (
    StandaloneCertificate,
    certificate_text,
    read_certificate,
)
from workbench.models.evidence.polyhedral import PolyhedralProof
from workbench.models.evidence.quadratic import QuadraticInvariant
from workbench.models.evidence.quadratic_function import QuadraticFunctions
from workbench.models.interruption import CheckInterruptedError, given_up_at
from workbench.models.lowering.alternatives import TooManyCasesError
from workbench.models.lowering.problem import linear_problem
from workbench.models.model import Model
from workbench.models.trace import EventType, Trace
from workbench.models.trace_files import to_json
from workbench.models.verdict import Falsified, Unknown, Verdict, Verified
from workbench.models.work import spent
from workbench.reach.time_limit import time_limit
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
from workbench.reports.simulated_runs import ClosestRun, Run, closest, simulated, steadied
from workbench.reports.words.inequalities import boolean_names
from workbench.simulate.run import prepare

if TYPE_CHECKING:
    import networkx

Result = TypeVar("Result")
Other = TypeVar("Other")

DECIDING, RUNNING, COMPARING = 0.75, 0.85, 0.93
"""The parts of the time limit after which properties are to be decided, runs made, and these
compared with proofs; the rest is for drawing."""
DRAWING = 2.0
"""Of short limits so many seconds are not for deciding, but not more than half of the limit."""

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
    """A certificate as text, what the checker said of that text, and the document that the kernel
    took, where the verdict rests on it."""

    text: str
    judgement: Judgement
    seconds: float
    document: str | None = None


@dataclass(frozen=True)
class Findings:
    """What was found out about one model."""

    model: Model
    label: str
    settings: Settings
    claims: tuple[Property, ...]
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
    blocking: Blocking = field(default_factory=lambda: Blocking(0))
    """How runs end."""
    left_out: tuple[str, ...] = ()
    """What there was no time for, in words."""
    searched: dict[str, int] = field(default_factory=dict)
    """How many runs a search made for the one that comes closest to breaking a property."""

    @property
    def automaton(self) -> Automaton:
        """The automaton of the model."""
        return self.model.automaton

    @property
    def documents(self) -> dict[str, str]:
        """What the kernel took as proofs, as files, by property."""
        checked = self.certificates.items()
        return {name: one.document for name, one in checked if one.document is not None}

    @property
    def recordings(self) -> dict[str, str]:
        """The traces of counterexamples as files, by property."""
        falsified = (v for v in self.verdicts if isinstance(v, Falsified))
        return {v.claim: v.recording or to_json(v.trace) for v in falsified}

    def claim(self, name: str) -> Property:
        """The property of that name."""
        return next(p for p in self.claims if p.name == name)


def analyse(
    model: Model,
    label: str,
    claims: Sequence[Property],
    settings: Settings,
    progress: Callable[[str], None] = lambda text: None,
    command: str = "",
    begun: float | None = None,
    decided: Callable[[Verdict], None] = lambda verdict: None,
) -> Findings:
    """Decide every claim, recheck every certificate, simulate, and compare. The time limit, which
    is for each claim, runs from a moment (`time.monotonic`; else from now); what it has no time for
    is left out. `decided` is told each verdict at once."""
    automaton, deciding = model.automaton, settings.verification
    clock = _Clock(time.monotonic() if begun is None else begun)
    limit = deciding.time_limit * max(1, len(claims))
    running = clock.begun + RUNNING * limit
    parts = _Parts(clock.begun + COMPARING * limit)
    rounds: dict[str, tuple[RefinementRound, ...]] = {}
    verdicts: list[Verdict] = []
    for number, claim in enumerate(claims):
        first = clock.begun if number == 0 else time.monotonic()
        verdicts.append(_decide(automaton, claim, deciding, progress, rounds, first))
        decided(verdicts[-1])
    clock.lap("verify")
    proved = [(c, v) for c, v in zip(claims, verdicts, strict=True) if isinstance(v, Verified)]
    certificates = {v.claim: _rechecked(automaton, claim, v, parts) for claim, v in proved}
    clock.lap("recheck")
    until = settings.until or float(deciding.horizon or automaton.horizon or DEFAULT_UNTIL)
    found = simulated(automaton, settings.runs, deciding.seed, until, progress, running)
    clock.lap("simulate")
    near = _closest(automaton, verdicts, found, deciding.seed, until, progress, running)
    runs = (*_counterexamples(verdicts), *found, *(one.run for one in near.values()))
    clock.lap("how close?")
    progress("cross-checking")
    sets = parts.attempt(
        "the sets that certificates claim",
        lambda: {v.claim: _claimed_set(automaton, claim, v) for claim, v in proved},
        dict[str, ClaimedSet](),
    )
    runs, checked = _compared_in_time(automaton, runs, sets, verdicts, parts)
    clock.lap("cross-check")
    reached = coverage(automaton, [run.trace for run in runs])
    blocking = parts.attempt(
        "whether runs go on",
        lambda: look(automaton, until, parts.latest),
        Blocking(0),
    )
    clock.lap("do runs go on?")
    given = {
        claim.name: graph
        for claim in claims
        if (graph := _of_given_predicates(automaton, claim, deciding, parts)) is not None
    }
    clock.lap("abstract states")
    return Findings(
        model,
        label,
        settings,
        tuple(claims),
        tuple(verdicts),
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
        blocking,
        tuple(dict.fromkeys(parts.left_out)),
        {name: one.simulations for name, one in near.items()},
    )


def _closest(
    automaton: Automaton,
    verdicts: Sequence[Verdict],
    runs: Sequence[Run],
    seed: int,
    until: float,
    progress: Callable[[str], None],
    latest: float,
) -> dict[str, ClosestRun]:
    """What comes closest to breaking each property of states that is not broken."""
    found: dict[str, ClosestRun] = {}
    whole = {v.claim for v in verdicts if not isinstance(v, Falsified)} if runs else set()
    for claim in automaton.properties:
        if claim.name in whole and claim.kind is not PropertyKind.PROGRESS:
            progress(f"how close does it come to breaking {claim.name}?")
            if (one := closest(automaton, claim, runs, seed, until, latest)) is not None:
                found[claim.name] = one
    return found


class _Parts:
    """What a report may do without: it is left out where it would take too long."""

    def __init__(self, latest: float):
        self.latest = latest
        self.left_out: list[str] = []

    def attempt(self, what: str, work: Callable[[], Result], otherwise: Other) -> Result | Other:
        """The result of the work; without time for it something else."""
        try:
            if time.monotonic() < self.latest:
                with given_up_at(self.latest):
                    return work()
        except CheckInterruptedError:
            pass
        self.left_out.append(what)
        return otherwise


def _compared_in_time(
    automaton: Automaton,
    runs: tuple[Run, ...],
    sets: dict[str, ClaimedSet],
    verdicts: Sequence[Verdict],
    parts: _Parts,
) -> tuple[tuple[Run, ...], CrossCheck]:
    """The runs, and what comparing them with proofs shows; only counterexamples where there is no
    time for more."""
    shown = tuple(run for run in runs if run.claim)
    compared = parts.attempt(
        "comparing runs with proofs",
        lambda: _compared_and_steadied(automaton, runs, sets, verdicts),
        None,
    )
    return compared or (shown, _compared(automaton, shown, sets, verdicts))


def _compared_and_steadied(
    automaton: Automaton,
    runs: tuple[Run, ...],
    sets: dict[str, ClaimedSet],
    verdicts: Sequence[Verdict],
) -> tuple[tuple[Run, ...], CrossCheck]:
    """The runs and what comparing shows, after a second look at those that contradict a proof."""
    checked = _compared(automaton, runs, sets, verdicts)
    accusing = {c.run for c in checked.contradictions} - _claimed(runs).keys()
    if not accusing:
        return runs, checked
    runs = tuple(steadied(automaton, run) if i in accusing else run for i, run in enumerate(runs))
    return runs, _compared(automaton, runs, sets, verdicts)


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
    def __init__(self, begun: float) -> None:
        self.begun = self._last = begun
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
    begun: float,
) -> Verdict:
    """The verdict, within its parts of the time limit since the claim's work was begun."""
    progress(f"verifying {claim.name}")

    def keep(history: tuple[RefinementRound, ...]) -> None:
        rounds[claim.name] = history

    limit = settings.time_limit
    latest = begun + limit - max((1 - DECIDING) * limit, min(DRAWING, limit / 2))
    task = settings.task(automaton, claim, progress, {HISTORY_READER: keep}, latest)
    verdict = verify(task, settings.method)
    if isinstance(verdict, Falsified):
        progress(f"enclosing the counterexample of {claim.name}")
    return with_enclosure(automaton, claim, verdict, begun + RUNNING * limit)


def _of_given_predicates(
    automaton: Automaton, claim: Property, settings: VerificationSettings, parts: _Parts
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

    def work() -> networkx.MultiDiGraph | None:
        try:
            with time_limit(parts.latest, spent() + GIVEN_WORK):
                found = abstract(linear_problem(automaton, claim), method).graph
        except (TooManyCasesError, NotAPredicateError):
            return None
        return None if found is None else found.to_networkx(None)

    return parts.attempt("the abstract states of given predicates", work, None)


def _rechecked(
    automaton: Automaton, claim: Property, verdict: Verified, parts: _Parts
) -> CheckedCertificate:
    """The certificate written, read back and checked again, as a user would; without time for it
    with what the checker said when the property was decided."""
    text = certificate_text(automaton, verdict.certificate)
    begun = time.monotonic()
    judgement = parts.attempt(
        "checking the certificate again",
        lambda: _judged(automaton, verdict.claim, text),
        verdict.judgement,
    )
    seconds = time.monotonic() - begun
    document = None
    if isinstance(judgement, Accepted) and judgement.basis.kernel:
        document = parts.attempt(
            "the proofs that browsers check", lambda: _document(automaton, claim, verdict), None
        )
    return CheckedCertificate(text, judgement, seconds, document)


def _judged(automaton: Automaton, claim: str, text: str) -> Judgement:
    found = read_certificate(text)
    if isinstance(found, StandaloneCertificate):
        return check_standalone(automaton, claim, found)
    return check(automaton, claim, found)


def _document(automaton: Automaton, claim: Property, verdict: Verified) -> str:
    """Problem and evidence of a proof as the kernel takes them."""
    found = kernel_document(linear_problem(automaton, claim), verdict.certificate.proof)
    return json.dumps(found, separators=(",", ":"))


def _claimed_set(automaton: Automaton, claim: Property, verdict: Verified) -> ClaimedSet:
    """The set that a certificate claims."""
    proof = verdict.certificate.safety
    if isinstance(proof, PolyhedralProof):
        return polyhedral_set(proof, boolean_names(automaton))
    if isinstance(proof, QuadraticInvariant):
        return ellipsoid_set(proof)
    if isinstance(proof, QuadraticFunctions):
        return function_set(proof)
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
