"""What the surroundings of an agent may do to its variables.

A variable that is `readwrite` and not private may be changed by others at any moment. The
obligations of a simulation hold for all states that the invariants allow, so such changes do
them no harm; but reachable sets of the agent alone do not know of them, and a witness that
depends on such a variable would jump where the abstract system does not; and so would what an
algebraic equation of the agent defines.
"""

from __future__ import annotations

from workbench.abstraction.refinement.outcome import Failure, NotProved, Outcome, Refines
from workbench.models.agents.flatten import placed_agents
from workbench.models.agents.hierarchy import Access, Agent
from workbench.models.certificates.refinement import RefinementCertificate
from workbench.models.expressions.expression import TRUE, conjunction, variable
from workbench.models.model import Model


def changed_by_others(agent: Agent | None) -> frozenset[str]:
    """The agent's own variables that its surroundings may change as well."""
    if agent is None:
        return frozenset()
    return frozenset(d.name for d in agent.variables if d.access is Access.READ_WRITE)


def isolation_fault(certificate: RefinementCertificate, agent: Agent | None) -> str | None:
    """Why a certificate about the agent alone says nothing about it among others; None if it
    holds in all surroundings."""
    names = changed_by_others(agent)
    read = set() if agent is None else {d.name for d in agent.variables if d.access is Access.READ}
    for name, form in certificate.witness.items():
        if both := (names | read) & form.coefficients.keys():
            return f"the witness of {name} depends on {min(both)}, which others may change"
    if agent is not None and names | read and _has_equations(agent):
        return f"its algebraic equations follow what others may change, like {min(names | read)}"
    if not names:
        return None
    if certificate.reach is not None:
        return f"its reachable sets ignore that others may change {min(names)}"
    return None


def _has_equations(agent: Agent) -> bool:
    """Whether a mode of the agent, or of a part of it, has algebraic equations."""
    tops = (placed.agent.top for placed in placed_agents(agent))
    pending = [top for top in tops if top is not None]
    while pending:
        mode = pending.pop()
        if mode.algebraic:
            return True
        pending.extend(instance.mode for instance in mode.submodes)
    return False


def assumed_of(model: Model) -> str:
    """What an agent and its parts assume about the inputs of the whole, as text; empty if they
    assume nothing."""
    if model.agent is None:
        return ""
    parts = [model.automaton.assumption]
    for given in model.automaton.inputs:
        parts += [variable(given.name) <= given.high] if given.high is not None else []
        parts += [variable(given.name) >= given.low] if given.low is not None else []
    assumed = conjunction(*parts)
    return "" if assumed == TRUE else str(assumed)


def among_others(outcome: Outcome, agent: Agent | None) -> Outcome:
    """The outcome for the agent in any surroundings."""
    if isinstance(outcome, Refines):
        fault = isolation_fault(outcome.certificate, agent)
        if fault is not None:
            return NotProved((Failure("interface", "in any surroundings", fault),))
    return outcome
