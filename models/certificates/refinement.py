"""Refinement certificates: a forward simulation with Farkas evidence, and their check.

A certificate names two models by fingerprint, the observed variables, the relation of
`models.checker.simulation_relation` (location map, affine witnesses, reachable sets with a
polyhedral proof of their own), and for every case of every obligation the multipliers that
refute it. Accepted means: every run of the detailed model shows, in the observed variables,
what some run of the abstract one shows. An obligation may instead be marked as `assumed`: it
was decided by a solver (polynomials, symbols), and the judgement counts it separately.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from workbench.models.automaton import TIME, Automaton, Property, PropertyKind
from workbench.models.certificates.check import by_kernel
from workbench.models.certificates.judgement import Accepted, Rejected
from workbench.models.checker.conditions import labels_of
from workbench.models.checker.farkas import refutes
from workbench.models.checker.simulation_relation import Relation
from workbench.models.dynamics import eliminate_algebraic
from workbench.models.evidence.polyhedral import PolyhedralProof, mentions_time
from workbench.models.expressions.expression import FALSE
from workbench.models.linear import Form, Multipliers
from workbench.models.lowering.alternatives import TooManyCasesError
from workbench.models.lowering.problem import LinearProblem
from workbench.models.well_formed import fault_of, reset_fault


@dataclass(frozen=True, slots=True)
class Refuted:
    """The multipliers that refute each case of an obligation, in order."""

    cases: tuple[Multipliers, ...]


@dataclass(frozen=True, slots=True)
class Assumed:
    """A solver decided the obligation; `by` says which. Not checked here."""

    by: str


Support: TypeAlias = Refuted | Assumed


@dataclass(frozen=True, slots=True)
class RefinementCertificate:
    """Evidence that the detailed model refines the abstract one."""

    detailed: str
    detailed_sha256: str
    abstract: str
    abstract_sha256: str
    observed: tuple[str, ...]
    places: Mapping[str, str]
    witness: Mapping[str, Form]
    reach: PolyhedralProof | None
    evidence: tuple[Support, ...]

    def relation(self, detailed: Automaton, abstract: Automaton) -> Relation:
        """The relation that the certificate claims to be a forward simulation."""
        regions = () if self.reach is None else self.reach.regions
        return Relation(detailed, abstract, self.places, self.witness, regions)


@dataclass(frozen=True, slots=True)
class Simulated:
    """The refinement holds in the `observed` variables: so many obligations multiplied out,
    `assumed` further ones rest on a solver; `reach` counts those of the reachable sets."""

    obligations: int
    assumed: int
    reach: int
    observed: tuple[str, ...] = ()


RefinementJudgement: TypeAlias = Simulated | Rejected


def check_refinement(
    detailed: Automaton, abstract: Automaton, certificate: RefinementCertificate
) -> RefinementJudgement:
    """Whether the certificate proves that the detailed model refines the abstract one."""
    if certificate.detailed_sha256 != detailed.sha256:
        return Rejected("detailed model", "the certificate was made for another model")
    if certificate.abstract_sha256 != abstract.sha256:
        return Rejected("abstract model", "the certificate was made for another model")
    for side, automaton in (("detailed", detailed), ("abstract", abstract)):
        if why := fault_of(automaton):
            return Rejected(f"{side} model", why)
    relation = certificate.relation(detailed, abstract)
    if why := interface_fault(relation, certificate.observed):
        return Rejected("interface", why)
    if why := malformed(relation):
        return Rejected("relation", why)
    try:
        reach = _check_reach(detailed, certificate.reach)
        if isinstance(reach, Rejected):
            return reach
        return _check_evidence(relation, certificate, reach)
    except TooManyCasesError as error:
        return Rejected("model", str(error))


def reach_problem(detailed: Automaton) -> LinearProblem:
    """The linear view in which reachable sets are proved: nothing is forbidden."""
    nothing = Property("reachable", FALSE, PropertyKind.FORBIDDEN)
    return LinearProblem(eliminate_algebraic(detailed), nothing)


def _check_reach(detailed: Automaton, proof: PolyhedralProof | None) -> int | Rejected:
    """How many obligations the reachable sets have, if all reachable states lie in them: the kernel
    accepts no polyhedral proof of which that is not so (`reach_within` in the theory)."""
    if proof is None:
        return 0
    problem = reach_problem(detailed)
    if TIME not in problem.names and mentions_time(proof.regions):
        return Rejected("reachable sets", "they mention time, which the model does not")
    found = by_kernel(problem, proof)
    if isinstance(found, Accepted):
        return found.obligations
    where = {"invariant", "evidence", "kernel"}
    return replace(found, obligation="reachable sets") if found.obligation in where else found


def _check_evidence(
    relation: Relation, certificate: RefinementCertificate, reach: int
) -> RefinementJudgement:
    assumed = 0
    given = iter(certificate.evidence)
    count = 0
    for obligation in relation.obligations():
        piece = next(given, None)
        if piece is None:
            return Rejected(obligation.title, "there is no evidence for it")
        count += 1
        if isinstance(piece, Assumed):
            assumed += 1
            continue
        cases = obligation.cases()
        if len(cases) != len(piece.cases):
            return Rejected(obligation.title, f"it has {len(cases)} cases")
        if not all(map(refutes, cases, piece.cases)):
            return Rejected(obligation.title, "the evidence does not prove it")
    if next(given, None) is not None:
        return Rejected("evidence", "there is more evidence than obligations")
    return Simulated(count - assumed, assumed, reach, certificate.observed)


def interface_fault(relation: Relation, observed: Iterable[str]) -> str | None:
    """Why the two automata do not show the same variables, or None if they do."""
    detailed, abstract = (declarations(a) for a in (relation.detailed, relation.abstract))
    for name in observed:
        for side, declared in (("detailed", detailed), ("abstract", abstract)):
            if name not in declared:
                return f"the {side} automaton has no {name}"
        if name in relation.witness:
            return f"{name} is observed, so it cannot have a witness"
    for name in relation.shared:
        if name in detailed and detailed[name] != abstract[name]:
            return f"{name} is {detailed[name]} in the detailed automaton, not {abstract[name]}"
    if relation.missing:
        return f"nothing says what {relation.missing[0]} is in the detailed automaton"
    if extra := labels_of(relation.abstract) - labels_of(relation.detailed):
        return f"the detailed automaton does not take part in {sorted(extra)[0]}"
    for name, form in relation.witness.items():
        if name not in abstract:
            return f"the abstract automaton has no {name}"
        if unknown := form.coefficients.keys() - relation.known:
            return f"the witness of {name} mentions {sorted(unknown)[0]}"
        if not _fits(form, abstract[name], detailed):
            return f"the witness of {name} is not always {abstract[name]}"
    return None


def _fits(form: Form, wanted: str, declared: Mapping[str, str]) -> bool:
    """Whether a witness always has the type of the abstract variable: real, or a whole number
    beside a variable of that very type, or alone."""
    kind = wanted.partition(" ")[2]
    types = {n: declared.get(n, "analog real").partition(" ")[2] for n in form.coefficients}
    if kind == "real":
        return set(types.values()) <= {"real", "int"}
    whole = kind == "int" and form.constant.denominator == 1
    same = set(types.values()) <= {kind} and set(form.coefficients.values()) <= {1}
    return same and (whole or (form.constant == 0 and len(types) == 1))


def malformed(relation: Relation) -> str | None:
    """Why the location map does not lead from the one automaton to the other, or what makes a
    jump or a reachable set ambiguous; None if nothing does."""
    for here, there in relation.places.items():
        for automaton, name in ((relation.detailed, here), (relation.abstract, there)):
            try:
                automaton.location(name)
            except KeyError:
                return f"{automaton.name} has no location {name}"
            for edge in automaton.edges_from(name):
                if why := reset_fault(edge.resets):
                    return why
    defined = {
        c.variable
        for part in relation.detailed.components
        for place in part.locations
        for c in place.algebraic
    }
    for region in relation.reach:
        for h in region.predicates:
            if both := h.coefficients.keys() & defined:
                return f"a reachable set mentions {sorted(both)[0]}, which an equation defines"
    return None


def declarations(automaton: Automaton) -> dict[str, str]:
    """What kind of value each name has."""
    found = {v.name: f"{v.kind} {v.type}" for v in automaton.variables}
    found |= {i.name: f"analog {i.type}" for i in automaton.inputs}
    return found | {p.name: f"constant {p.type}" for p in automaton.parameters}
