"""Systems of any length: one step, proved once, repeated without end.

A step is a composed agent one of whose parts is the contract itself: "something behind any
vehicle". If the step refines the contract, and its properties hold, then so do those of any
number of steps. Proof by induction on the number: let P(0) be anything that refines the
contract C, and P(n+1) the step with P(n) in the place of its part C. If P(n) refines C, then
P(n+1) refines the step (parallel composition, renaming and hiding), which refines C; and every
run of P(n+1), seen without the inside of P(n), is one of the step, so that the step's
properties hold of it, provided that they and the joints speak about nothing inside C.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from abstraction.refinement.decomposition import behave_alike, joints
from abstraction.refinement.flat import Settings
from abstraction.refinement.outcome import Rule, Step
from abstraction.refinement.proof_tree import Proof, prove_refinement
from abstraction.strategy import Task
from abstraction.verification import deadline, verify
from models.expression import free_variables
from models.model import Model
from models.source import Diagnostic, ModelError
from models.verdict import Verdict, Verified


@dataclass(frozen=True)
class Induction:
    """The proof of the step, the verdicts about its properties, and where the contract is."""

    place: str
    proof: Proof
    verdicts: tuple[Verdict, ...]

    @property
    def holds(self) -> bool:
        """Whether systems of any length keep the contract and the properties."""
        return self.proof.holds and all(isinstance(v, Verified) for v in self.verdicts)

    @property
    def step(self) -> Step:
        """The whole argument as a tree."""
        names = ", ".join(repr(v.claim) for v in self.verdicts)
        note = f"{self.place} is any system that refines the contract; {names}"
        return Step("any number of steps", Rule.INDUCTION, (self.proof.step,), None, note)


def prove_by_induction(
    step: Model,
    contract: Model,
    settings: Settings,
    seconds: float = 60.0,
    progress: Callable[[str], None] = lambda text: None,
) -> Induction:
    """The step against the contract, and the step's properties, each with its evidence.

    Raises `ModelError` if no part of the step is the contract, or if something speaks about
    the inside of that part.
    """
    place = _place_of(step, contract)
    proof = prove_refinement(step, contract, settings, compositional=False)
    verdicts = []
    if proof.holds:
        for claim in step.automaton.properties:
            task = Task(step.automaton, claim, deadline(seconds), settings.seed, progress)
            verdicts.append(verify(task))
    return Induction(place, proof, tuple(verdicts))


def _place_of(step: Model, contract: Model) -> str:
    whole, wanted = step.agent, contract.agent
    if whole is None or wanted is None:
        raise _refusal("a proof by induction needs agents, not flat automata")
    place = next((i.name for i in whole.agents if behave_alike(i.agent, wanted)), None)
    if place is None:
        raise _refusal(f"no part of {step.name} is the agent {wanted.definition}")
    mentioned = set(joints(whole))
    for claim in step.automaton.properties:
        mentioned |= free_variables(claim.condition, claim.where)
    for name in sorted(mentioned):
        if name.startswith(f"{place}."):
            raise _refusal(f"{name} is inside {place}, which may be any system")
    return place


def _refusal(message: str) -> ModelError:
    hint = "the step must contain the contract as one of its parts"
    return ModelError(Diagnostic("no-induction", message, hint=hint))
