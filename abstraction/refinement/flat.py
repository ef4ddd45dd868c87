"""Refinement between two automata: obligations, strengthening, refutation, in this order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial

from workbench.abstraction.refinement.hidden import witness_candidates
from workbench.abstraction.refinement.location_maps import named_places, searched_places
from workbench.abstraction.refinement.outcome import Failure, NotProved, Outcome, Refuted, refines
from workbench.abstraction.refinement.questions import Fails, Open, Proved, decide, types_of
from workbench.abstraction.refinement.reachable import reachable_sets
from workbench.abstraction.refinement.refutation import FailingState, find_unmatched_run
from workbench.abstraction.refinement.time_left import Allotment, is_over
from workbench.models.agents.composition import explicit
from workbench.models.automaton import Automaton, HybridAutomaton, primed
from workbench.models.certificates.refinement import (
    RefinementCertificate,
    interface_fault,
    reach_problem,
)
from workbench.models.checker.covers import Region
from workbench.models.checker.obligation import Obligation, ObligationKind
from workbench.models.checker.simulation_relation import Relation
from workbench.models.evidence.polyhedral import PolyhedralProof
from workbench.models.expressions.evaluation import EvaluationError, evaluate
from workbench.models.expressions.expression import Expression, conjunction, disjunction, negation
from workbench.models.linear import Form
from workbench.models.smt.solver import Scalar
from workbench.reach.evidence import prove
from workbench.reach.time_limit import OutOfTimeError

MAX_LOCATIONS = 2_000
FIRST_LOOK = 0.3
"""The share of the work in which the likeliest runs are tried before reachable sets."""

REACHING = 0.7
"""The share of the rest for reachable sets; what is left after them is for more runs."""


@dataclass(frozen=True)
class Settings:
    """How to look for a simulation: a location map, witnesses and reachable sets (still to be
    proved) as far as they are given, whether to look for reachable sets and for a refutation
    (runs up to the time `horizon`), and what that may take."""

    places: Mapping[str, str] = field(default_factory=dict)
    witness: Mapping[str, Form] = field(default_factory=dict)
    reach: bool = True
    refute: bool = True
    allotment: Allotment = field(default_factory=Allotment)
    seed: int = 0
    progress: Callable[[str], None] = lambda text: None
    regions: tuple[Region, ...] = ()
    horizon: float = 10.0


def refine(
    detailed: Automaton, abstract: Automaton, observed: tuple[str, ...], settings: Settings
) -> Outcome:
    """Whether every run of the detailed automaton shows, in the observed variables, what some
    run of the abstract one shows."""
    return _Attempt(detailed, abstract, observed, settings).decide()


def own_places(
    detailed: Automaton, abstract: Automaton, observed: tuple[str, ...], settings: Settings
) -> Mapping[str, str] | None:
    """The location map under which initial states and invariants are matched by the detailed
    automaton alone; None if they are not."""
    return _Attempt(detailed, abstract, observed, settings).own_places()


@dataclass(frozen=True)
class _Found:
    """A relation with the answers to its obligations."""

    relation: Relation
    answers: tuple[tuple[Obligation, Proved | Fails | Open], ...]
    proof: PolyhedralProof | None = None

    @property
    def open(self) -> list[tuple[Obligation, Fails | Open]]:
        return [(o, a) for o, a in self.answers if not isinstance(a, Proved)]


class _Attempt:
    """One comparison; answers are remembered by condition."""

    def __init__(
        self,
        detailed: Automaton,
        abstract: Automaton,
        observed: tuple[str, ...],
        settings: Settings,
    ):
        self.detailed, self.abstract, self.observed = detailed, abstract, observed
        self.settings = settings
        self._types = types_of(abstract, detailed)
        self._answers: dict[object, Proved | Fails | Open] = {}

    def decide(self) -> Outcome:
        plain = explicit(self.detailed, MAX_LOCATIONS)
        simple = explicit(self.abstract, MAX_LOCATIONS)
        if plain.locations and not simple.locations:
            return self._without_relation("the abstract automaton has no initial state")
        start = Relation(self.detailed, self.abstract, {}, self.settings.witness)
        found: _Found | None = None
        fault: str | None = None
        for witness in witness_candidates(start, self.observed):
            relation = replace(start, witness=witness)
            fault = interface_fault(relation, self.observed)
            if fault is not None:
                continue
            attempt = self._answered(self._placed(relation, plain, simple))
            if found is None or len(attempt.open) < len(found.open):
                found = attempt
            if not attempt.open or self._expired():
                break
        if found is None:
            return self._without_relation(fault or "nothing relates the two automata")
        stronger = self._strengthened(found) if found.open else found
        if not isinstance(stronger, _Found):
            return stronger
        return self._left(stronger) if stronger.open else self._certified(stronger)

    def own_places(self) -> Mapping[str, str] | None:
        plain = explicit(self.detailed, MAX_LOCATIONS)
        simple = explicit(self.abstract, MAX_LOCATIONS)
        start = Relation(self.detailed, self.abstract, {}, self.settings.witness)
        startless = plain.locations and not simple.locations
        if startless or interface_fault(start, self.observed) is not None:
            return None
        relation = self._placed(start, plain, simple)
        own = (ObligationKind.INITIAL, ObligationKind.INVARIANT)
        needed = [o for o in relation.obligations() if o.kind in own]
        return relation.places if self._failing(needed) == 0 else None

    def _placed(
        self, relation: Relation, plain: HybridAutomaton, simple: HybridAutomaton
    ) -> Relation:
        places = named_places(plain, simple, self.settings.places)
        if len(places) < len(plain.locations):
            self.settings.progress("searching a location map")
            places = searched_places(relation, plain, simple, places, self._failing, self._expired)
        order = [x.name for x in plain.locations]
        return replace(relation, places={name: places[name] for name in order})

    def _failing(self, obligations: Iterable[Obligation]) -> int:
        return sum(not isinstance(self._answer(o), Proved) for o in obligations)

    def _answer(self, obligation: Obligation) -> Proved | Fails | Open:
        known = self._answers.get(obligation.condition)
        if known is None:
            known = self._decided(obligation)
            if not self._expired():
                self._answers[obligation.condition] = known
        return known

    def _decided(self, obligation: Obligation) -> Proved | Fails | Open:
        if self._expired():
            return Open("the time limit was reached before it was decided")
        try:
            with self.settings.allotment.granted():
                return decide(obligation, self._types)
        except OutOfTimeError:
            return Open("the time limit was reached before it was decided")

    def _answered(self, relation: Relation, proof: PolyhedralProof | None = None) -> _Found:
        answers: list[tuple[Obligation, Proved | Fails | Open]] = []
        for obligation in relation.obligations():
            answers.append((obligation, self._answer(obligation)))
            if isinstance(answers[-1][1], Open) and self._expired():
                break
        return _Found(relation, tuple(answers), proof)

    def _strengthened(self, found: _Found) -> _Found | Outcome:
        """A refutation, or the relation with reachable sets where they help."""
        states = [*self._failing_starts(found), *self._failing_states(found)]
        refuted = self._refutation(found, states, FIRST_LOOK, thorough=False)
        if refuted is not None:
            return refuted
        failed = [o for o, _ in found.open]
        hopeless = any(o.kind is ObligationKind.INITIAL for o in failed)
        if self.settings.reach and not hopeless and not self._expired():
            self.settings.progress("looking for reachable sets")
            for proof in self._reachable(failed):
                stronger = replace(found.relation, reach=proof.regions)
                again = self._answered(stronger, proof)
                if not again.open:
                    return again
        return self._refutation(found, states, 1.0, thorough=True) or found

    def _failing_states(self, found: _Found) -> Iterator[FailingState]:
        for o, a in found.open:
            if isinstance(a, Fails):
                yield FailingState(o.location, a.values, o.kind is ObligationKind.INITIAL)

    def _failing_starts(self, found: _Found) -> Iterator[FailingState]:
        """Initial states in which an obligation fails at once."""
        for o, _ in found.open:
            for start in self.detailed.initial_sets():
                if start.location != o.location or start.resets:
                    continue
                answer = self._decided(
                    replace(o, condition=conjunction(start.condition, o.condition))
                )
                if isinstance(answer, Fails):
                    yield FailingState(o.location, answer.values, initial=True)

    def _reachable(self, failed: list[Obligation]) -> Iterator[PolyhedralProof]:
        """Proofs of reachable sets: the given ones first, then such as exclude failures."""
        some = self.settings.allotment.share(REACHING)
        for search in (self._given_sets, partial(self._searched_sets, failed)):
            try:
                with some.granted():
                    found = search()
            except OutOfTimeError:
                continue
            if found is not None:
                yield found

    def _given_sets(self) -> PolyhedralProof | None:
        if not self.settings.regions:
            return None
        given = prove(reach_problem(self.detailed), self.settings.regions)
        return given if isinstance(given, PolyhedralProof) else None

    def _searched_sets(self, failed: list[Obligation]) -> PolyhedralProof | None:
        return reachable_sets(self.detailed, failed, is_over)

    def _refutation(
        self, found: _Found, states: list[FailingState], share: float, thorough: bool
    ) -> Refuted | None:
        if not self.settings.refute:
            return None
        self.settings.progress("looking for a run that cannot be matched")
        refuted = self._unmatched_run(states, share, thorough)
        failures = tuple(self._failure(found.relation, o, a) for o, a in found.open)
        return None if refuted is None else replace(refuted, failures=failures)

    def _unmatched_run(
        self, states: list[FailingState], share: float, thorough: bool
    ) -> Refuted | None:
        try:
            with self.settings.allotment.share(share).granted():
                return find_unmatched_run(
                    self.detailed,
                    self.abstract,
                    self.observed,
                    states,
                    self.settings.seed,
                    thorough,
                    self.settings.horizon,
                )
        except OutOfTimeError:
            return None

    def _expired(self) -> bool:
        return self.settings.allotment.is_over

    def _certified(self, found: _Found) -> Outcome:
        relation = found.relation
        certificate = RefinementCertificate(
            self.detailed.name,
            self.detailed.sha256,
            self.abstract.name,
            self.abstract.sha256,
            self.observed,
            dict(relation.places),
            dict(relation.witness),
            found.proof,
            tuple(a.support for _, a in found.answers if isinstance(a, Proved)),
        )
        return refines(self.detailed, self.abstract, certificate)

    def _left(self, found: _Found) -> NotProved:
        return NotProved(tuple(self._failure(found.relation, o, a) for o, a in found.open))

    def _without_relation(self, fault: str) -> Outcome:
        failure = Failure("interface", "interface", fault)
        if self.settings.refute:
            refuted = self._unmatched_run([], 1.0, thorough=True)
            if refuted is not None:
                return replace(refuted, failures=(failure,))
        return NotProved((failure,))

    def _failure(self, relation: Relation, o: Obligation, answer: Fails | Open) -> Failure:
        kind, values = str(o.kind), answer.values if isinstance(answer, Fails) else {}
        if o.kind is ObligationKind.JUMP and isinstance(answer, Fails):
            kind, values = self._guard_or_reset(relation, o, answer)
        why = "it does not hold" if isinstance(answer, Fails) else answer.reason
        return Failure(kind, o.title, why, values, o.detailed, o.abstract)

    def _guard_or_reset(
        self, relation: Relation, o: Obligation, answer: Fails
    ) -> tuple[str, Mapping[str, Scalar]]:
        """Whether no abstract edge is enabled at some state, or only its resets differ."""
        assert o.edge is not None
        options = [
            guard if edge is not None else change
            for edge, guard, change in relation.matching(o.edge)
        ]
        condition = conjunction(relation.jump_condition(o.edge), negation(disjunction(*options)))
        again = self._decided(replace(o, condition=condition))
        if isinstance(again, Fails):
            return "guard", again.values
        later = relation.after(o.edge)
        wanted = {primed(r.variable) for r in o.edge.resets}
        known = {n: _value(e, answer.values) for n, e in later.items() if n in wanted}
        return "reset", {**answer.values, **{n: v for n, v in known.items() if v is not None}}


def _value(expression: Expression, values: Mapping[str, Scalar]) -> Scalar | None:
    try:
        value = evaluate(expression, values)
    except (EvaluationError, KeyError):
        return None
    return Fraction(value) if isinstance(value, float) else value
