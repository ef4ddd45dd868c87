"""Proving a refinement between hierarchical models: part by part, then, if need be, whole.

The parts that differ are found (`decomposition`), each is compared alone, and the composition
rules give the rest. A part that does not refine its abstraction in all surroundings is given
what its siblings' abstractions guarantee, and where that does not help either the agents
around it are compared as a whole.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace

from workbench.abstraction.refinement.assume_guarantee import guaranteed
from workbench.abstraction.refinement.circular import circle
from workbench.abstraction.refinement.decomposition import (
    AgentPair,
    ModePair,
    Plan,
    Rules,
    leaves,
    mode_automaton,
    plan_of,
)
from workbench.abstraction.refinement.flat import Settings, refine
from workbench.abstraction.refinement.interface import compare_interfaces, different_functions
from workbench.abstraction.refinement.outcome import (
    NotProved,
    Outcome,
    Refines,
    Rule,
    Step,
)
from workbench.abstraction.refinement.surroundings import among_others, changed_by_others
from workbench.models.agents.flatten import flatten
from workbench.models.agents.hierarchy import Agent
from workbench.models.automaton import Automaton
from workbench.models.counting import counted
from workbench.models.model import Model

PARTS = 0.4
"""The share of the work for the parts; the rest is kept for the whole."""

WHOLE = 0.7
"""The share of that rest after which parts that keep their promises for each other are tried."""


@dataclass(frozen=True)
class Proof:
    """The steps of a proof, and the verdict about the whole."""

    step: Step
    outcome: Outcome | None = None

    @property
    def holds(self) -> bool:
        """Whether the refinement is proved."""
        return self.step.holds


def prove_refinement(
    detailed: Model,
    abstract: Model,
    settings: Settings,
    observed: tuple[str, ...] = (),
    *,
    compositional: bool = True,
) -> Proof:
    """The proof that one model refines another, as far as it goes."""
    own, other = detailed.agent, abstract.agent
    claim = f"{detailed.name} refines {abstract.name}"
    if unlike := different_functions(detailed, abstract):
        refused = NotProved(unlike)
        return Proof(Step(claim, Rule.SIMULATION, (), refused), refused)
    in_parts: Step | None = None
    if own is not None and other is not None and compositional and not settings.places:
        few = replace(settings, allotment=settings.allotment.share(PARTS))
        in_parts = _by_parts(own, other, claim, few)
        if in_parts is not None and in_parts.holds:
            return Proof(in_parts)
    begun = time.perf_counter()
    compared = compare_interfaces(detailed.automaton, abstract.automaton, own, other, observed)
    if compared.failures:
        outcome: Outcome = NotProved(compared.failures)
    else:
        given = replace(settings, reach=settings.reach and not changed_by_others(own))
        some = settings.allotment if in_parts is None else settings.allotment.share(WHOLE)
        found = refine(
            detailed.automaton,
            abstract.automaton,
            compared.observed,
            replace(given, allotment=some),
        )
        outcome = among_others(found, own)
        if isinstance(outcome, NotProved) and own and other and compositional:
            around = _in_a_circle(detailed, abstract, compared.observed, given)
            if around is not None:
                spent = time.perf_counter() - begun
                return Proof(replace(around, claim=claim, seconds=spent), around.outcome)
            outcome = _telling(outcome, in_parts)
    spent = time.perf_counter() - begun
    return Proof(Step(claim, Rule.SIMULATION, (), outcome, _note(outcome), spent), outcome)


def _telling(whole: NotProved, in_parts: Step | None) -> NotProved:
    """What failed: of the whole, unless nothing of it was decided but something of its parts."""
    if in_parts is None or any(f.state for f in whole.failures):
        return whole
    below = [
        replace(failure, title=f"{step.claim}: {failure.title}")
        for step in in_parts.walk()
        if isinstance(step.outcome, NotProved)
        for failure in step.outcome.failures
        if failure.state
    ]
    return NotProved((*whole.failures, *below))


def _in_a_circle(
    detailed: Model, abstract: Model, observed: tuple[str, ...], settings: Settings
) -> Step | None:
    """A proof of the whole inside the set that the parts keep for each other, or None."""
    assert detailed.agent is not None and abstract.agent is not None
    if not settings.reach or settings.places:
        return None
    around = circle(detailed.agent, abstract.agent, detailed.automaton, settings)
    if around is None:
        return None
    given = replace(settings, regions=around.regions, refute=False)
    found = refine(detailed.automaton, abstract.automaton, observed, given)
    outcome = among_others(found, detailed.agent)
    if not isinstance(outcome, Refines):
        return None
    note = f"the joint set is inductive; {_note(outcome)}"
    return Step("", Rule.CIRCULAR, around.steps, outcome, note)


def _by_parts(own: Agent, other: Agent, claim: str, settings: Settings) -> Step | None:
    """A proof by composition rules, as far as it goes; None if the two differ as wholes.

    Parts are not refuted: what a part does in some surroundings it need not do in these.
    """
    gentle = replace(settings, refute=False)
    whole: set[str] = set()
    step: Step | None = None
    for _ in range(8):
        plan = plan_of(own, other, "", frozenset(whole))
        if isinstance(plan, AgentPair):
            break
        step = _proved(plan, own, other, gentle, claim)
        if step.holds:
            break
        failed = [s for s in step.walk() if s.outcome and not isinstance(s.outcome, Refines)]
        around = {_enclosing(s.claim) for s in failed}
        if around <= whole or "" in around:
            break
        whole |= around
    return step


def _proved(plan: Plan, own: Agent, other: Agent, settings: Settings, claim: str) -> Step:
    """The steps of a plan, built from the leaves upwards."""
    done: dict[int, Step] = {}
    order: list[Plan] = []
    pending = [plan]
    while pending:
        part = pending.pop()
        order.append(part)
        if isinstance(part, Rules):
            pending.extend(part.below)
    for part in reversed(order):
        if isinstance(part, Rules):
            below = tuple(done[id(p)] for p in part.below)
            done[id(part)] = Step(part.path, part.rule, below, None, part.note)
        else:
            done[id(part)] = _leaf(part, own, other, settings)
    top = done[id(plan)]
    if isinstance(plan, Rules):
        return replace(top, claim=claim)
    return Step(claim, Rule.SUBMODE, (top,), None)


def _leaf(part: AgentPair | ModePair, own: Agent, other: Agent, settings: Settings) -> Step:
    begun = time.perf_counter()
    outcome = compare_leaf(part, settings)
    rule, note = Rule.SIMULATION, _note(outcome)
    if isinstance(part, AgentPair) and not isinstance(outcome, Refines):
        helped = guaranteed(part, other, settings)
        if helped is not None:
            outcome, rule = helped, Rule.ASSUME_GUARANTEE
            note = f"with the siblings' invariants; {_note(outcome)}"
    return Step(part.path, rule, (), outcome, note, time.perf_counter() - begun)


def compare_leaf(part: AgentPair | ModePair, settings: Settings) -> Outcome:
    """Two agents, or two atomic modes, compared alone."""
    detailed, abstract = leaf_automata(part)
    if isinstance(part, ModePair):
        given = replace(settings, reach=False, witness={}, places={})
        return refine(detailed, abstract, shown_by(part), given)
    compared = compare_interfaces(detailed, abstract, part.detailed, part.abstract)
    if compared.failures:
        return NotProved(compared.failures)
    alone = settings.reach and not changed_by_others(part.detailed)
    outcome = refine(detailed, abstract, compared.observed, replace(settings, reach=alone))
    return among_others(outcome, part.detailed)


def shown_by(part: AgentPair | ModePair) -> tuple[str, ...]:
    """What must be observed of a leaf: all variables of a mode, the globals of an agent."""
    if isinstance(part, ModePair):
        return tuple(d.name for d in part.abstract.variables)
    detailed, abstract = leaf_automata(part)
    return compare_interfaces(detailed, abstract, part.detailed, part.abstract).observed


def leaf_automata(part: AgentPair | ModePair) -> tuple[Automaton, Automaton]:
    """The automata of a leaf, in a form that depends on the agents alone."""
    if isinstance(part, ModePair):
        return mode_automaton(part.detailed), mode_automaton(part.abstract)
    return flatten(part.detailed, part.path), flatten(part.abstract, part.path)


def certificates(proof: Proof) -> Mapping[str, Refines]:
    """The accepted simulations of a proof by path."""
    return {
        step.claim: step.outcome for step in proof.step.walk() if isinstance(step.outcome, Refines)
    }


def _enclosing(path: str) -> str:
    return path.rpartition(".")[0]


def _note(outcome: Outcome) -> str:
    if not isinstance(outcome, Refines):
        return ""
    judgement = outcome.judgement
    parts = [f"{counted(judgement.obligations, 'obligation')} with exact evidence"]
    if judgement.assumed:
        parts.append(f"{judgement.assumed} by solvers")
    if judgement.reach:
        parts.append(f"{judgement.reach} of reachable sets")
    return ", ".join(parts)


__all__ = ["Proof", "certificates", "compare_leaf", "leaf_automata", "leaves", "prove_refinement"]
