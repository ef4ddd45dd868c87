"""Systems of any length: one step, proved once, repeated without end.

A step is a composed agent one of whose parts is the contract itself: "something behind any
vehicle".

Theorem. Let S be a step with the contract C as its part `place`, such that S refines C, such
that nothing outside that part (joints and properties of S) speaks about the part's private
variables or locations, that S has no interactions, which might change what the part shows, that
the renaming of the part keeps variables apart, and such that neither makes assumptions about
inputs. Where S asks for first values of what the part shows, S itself does not set them when it
starts (`first_values`). No urgent guard of the other parts of S reads what the part shows, also
through their equations, and none of them has an equation for what the part reads, so that urgent
guards have the same limits whatever stands in the place of C (`limits_across`). Let P(0) be any
agent that refines C, and that does not do so either, and P(n+1) the step with P(n) in the place
of C. Then every P(n) refines C, and every property of S holds of every P(n+1).
Proof by induction on n. P(0) refines C. If P(n) refines C, then P(n+1) refines S (parallel
composition, renaming and hiding keep refinement, since P(n) and C show the same variables),
which refines C. And every run of P(n+1), seen without the inside of P(n), is one of S, so that
the properties of S, which do not speak about that inside, hold of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

from workbench.abstraction.refinement.decomposition import (
    assumes,
    behave_alike,
    joints,
    tells_apart,
)
from workbench.abstraction.refinement.first_values import starts_alone
from workbench.abstraction.refinement.flat import Settings
from workbench.abstraction.refinement.limits_across import defined_by, read_urgently
from workbench.abstraction.refinement.outcome import Rule, Step
from workbench.abstraction.refinement.proof_tree import Proof, prove_refinement
from workbench.abstraction.refinement.surroundings import changed_by_others
from workbench.abstraction.strategies.strategy import Task
from workbench.abstraction.verification import verify
from workbench.abstraction.verification_settings import SHORT, generosity
from workbench.models.agents.hierarchy import Access, Agent, AgentInstance, renamed
from workbench.models.expressions.operators import Op
from workbench.models.expressions.traversal import free_variables, postorder
from workbench.models.model import Model
from workbench.models.source import Diagnostic, ModelError
from workbench.models.verdict import Verdict, Verified


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

    @property
    def horizon(self) -> Fraction | None:
        """Until when the properties are verified; None for all time."""
        ends = [v.horizon for v in self.verdicts if isinstance(v, Verified)]
        return min((end for end in ends if end is not None), default=None)


def prove_by_induction(
    step: Model,
    contract: Model,
    settings: Settings,
    progress: Callable[[str], None] = lambda text: None,
) -> Induction:
    """The step against the contract, and the step's properties, each with its evidence.

    Raises `ModelError` if no part of the step is the contract, or if something speaks about
    the inside of that part.
    """
    place = place_of(step, contract)
    proof = prove_refinement(step, contract, settings, compositional=False)
    verdicts = []
    if proof.holds:
        for claim in step.automaton.properties:
            given = settings.allotment
            task = Task(
                step.automaton,
                claim,
                given.deadline,
                settings.seed,
                progress,
                generosity=generosity(min(given.seconds, SHORT)),
            )
            verdicts.append(verify(task))
    return Induction(place, proof, tuple(verdicts))


def place_of(step: Model, contract: Model) -> str:
    """The part of the step that is the contract; raises `ModelError` if the side conditions of
    the theorem fail."""
    whole, wanted = step.agent, contract.agent
    if whole is None or wanted is None:
        raise _refusal("a proof by induction needs agents, not flat automata")
    part = next((i for i in whole.agents if behave_alike(i.agent, wanted)), None)
    if part is None:
        raise _refusal(f"no part of {step.name} is the agent {wanted.definition}")
    place = part.name
    if assumes(whole) or assumes(wanted):
        raise _refusal("an assumption about inputs need not hold behind another step")
    if shared := changed_by_others(wanted):
        raise _refusal(f"{min(shared)} may be changed by others")
    if whole.interactions:
        raise _refusal("an interaction may change what the contract's part does alone")
    if not tells_apart(part.agent.variables, part.renaming):
        raise _refusal(f"two variables of {place} have one name in {step.name}")
    if not starts_alone(whole, replace(part, agent=whole), part):
        raise _refusal(f"{step.name} sets, as it starts, what it asks {place} to start with")
    _refuse_other_limits(whole, part)
    for name in sorted(joints(whole) | _spoken_of(step)):
        if name.startswith(f"{place}."):
            raise _refusal(f"{name} is inside {place}, which may be any system")
    return place


def _refuse_other_limits(whole: Agent, part: AgentInstance) -> None:
    """Refuse a step where the limits of urgent guards depend on what stands in the part's place."""
    declared = part.agent.variables
    shown = {renamed(part.renaming, d.name) for d in declared if d.access is Access.WRITE}
    read = {renamed(part.renaming, d.name) for d in declared if d.access is Access.READ}
    siblings = [sibling for sibling in whole.agents if sibling.name != part.name]
    for sibling in siblings:
        if found := read_urgently(sibling, siblings) & shown:
            what = f"an urgent guard of {sibling.name} reads {min(found)}"
            raise _refusal(f"{what}, which {part.name} may define by an equation")
        if found := defined_by(sibling) & read:
            what = f"{sibling.name} defines {min(found)} by an equation"
            raise _refusal(f"{what}, which urgent guards in the place of {part.name} may read")


def _spoken_of(step: Model) -> set[str]:
    """The variables and the locations of components that the properties speak about."""
    found: set[str] = set()
    for claim in step.automaton.properties:
        found |= free_variables(claim.condition, claim.where)
        parts = postorder(claim.condition, claim.where)
        found |= {".".join(node.place) for node in parts if node.op is Op.AT}
    return found


def _refusal(message: str) -> ModelError:
    hint = "the step must contain the contract as one of its parts"
    return ModelError(Diagnostic("no-induction", message, hint=hint))
