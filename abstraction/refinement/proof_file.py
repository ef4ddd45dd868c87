"""Proofs put together by composition rules, as a file, and their check.

The file holds a certificate for every pair of parts that was compared. Checking applies the
composition rules to the two models again, which must leave exactly these pairs, and gives each
certificate to the trusted checker.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from workbench.abstraction.refinement.assume_guarantee import helped_part
from workbench.abstraction.refinement.decomposition import AgentPair, ModePair, leaves, plan_of
from workbench.abstraction.refinement.flat import Settings
from workbench.abstraction.refinement.interface import compare_interfaces, different_functions
from workbench.abstraction.refinement.outcome import Refines, Rule
from workbench.abstraction.refinement.proof_tree import Proof, leaf_automata, shown_by
from workbench.abstraction.refinement.surroundings import isolation_fault
from workbench.models.automaton import Automaton
from workbench.models.certificates.certificate import MalformedCertificateError
from workbench.models.certificates.json_reader import parsed
from workbench.models.certificates.judgement import Rejected
from workbench.models.certificates.refinement import (
    RefinementCertificate,
    RefinementJudgement,
    Simulated,
    check_refinement,
)
from workbench.models.certificates.refinement_text import (
    decode_refinement,
    encode_refinement,
    is_refinement,
)
from workbench.models.model import Model

SCHEMA = "charon-workbench/refinement-proof/1"


@dataclass(frozen=True)
class _Leaf:
    path: str
    rule: str
    text: str


def encode_proof(proof: Proof) -> str:
    """The certificates of a proof that holds; a single one where the models were compared as
    wholes."""
    assert proof.holds
    if isinstance(proof.outcome, Refines):
        return encode_refinement(proof.outcome.certificate)
    found = [
        {
            "path": step.claim,
            "rule": str(step.rule),
            "certificate": json.loads(encode_refinement(step.outcome.certificate)),
        }
        for step in proof.step.walk()
        if isinstance(step.outcome, Refines)
    ]
    return json.dumps({"schema": SCHEMA, "leaves": found}, indent=1) + "\n"


def is_proof_of_refinement(text: str | bytes) -> bool:
    """Whether a text claims to be a proof of a refinement."""
    return _is_composed(text) or is_refinement(text)


def _is_composed(text: str | bytes) -> bool:
    head = text[:100] if isinstance(text, str) else text[:100].decode("utf-8", "replace")
    return SCHEMA in head


def check_proof(
    detailed: Model, abstract: Model, text: str | bytes, observed: tuple[str, ...] = ()
) -> RefinementJudgement:
    """Whether a file proves that one model refines the other, in the variables that both show,
    or in the `observed` ones."""
    if unlike := different_functions(detailed, abstract):
        return Rejected(unlike[0].title, unlike[0].why)
    try:
        if _is_composed(text):
            return _check_parts(detailed, abstract, _read(text))
        return check_whole(detailed, abstract, decode_refinement(text), observed)
    except MalformedCertificateError as error:
        return Rejected("format", str(error))


def check_whole(
    detailed: Model,
    abstract: Model,
    certificate: RefinementCertificate,
    observed: tuple[str, ...] = (),
) -> RefinementJudgement:
    """Whether a certificate about two models as wholes proves the refinement, in any
    surroundings of the detailed one."""
    compared = compare_interfaces(
        detailed.automaton, abstract.automaton, detailed.agent, abstract.agent, observed
    )
    if compared.failures:
        return Rejected("interface", compared.failures[0].why)
    if missing := set(compared.observed) - set(certificate.observed):
        return Rejected("interface", f"the certificate says nothing about {min(missing)}")
    if why := isolation_fault(certificate, detailed.agent):
        return Rejected("surroundings", why)
    return check_refinement(detailed.automaton, abstract.automaton, certificate)


def _check_parts(detailed: Model, abstract: Model, given: list[_Leaf]) -> RefinementJudgement:
    own, other = detailed.agent, abstract.agent
    if own is None or other is None:
        return Rejected("structure", "one of the models has no agents")
    whole = frozenset(leaf.path for leaf in given)
    needed = list(leaves(plan_of(own, other, "", whole)))
    if [part.path for part in needed] != [leaf.path for leaf in given]:
        return Rejected("structure", "the parts that differ are not those of the proof")
    obligations = assumed = reach = 0
    for part, leaf in zip(needed, given, strict=True):
        automata: tuple[Automaton, Automaton] | None = leaf_automata(part)
        if leaf.rule == Rule.ASSUME_GUARANTEE:
            settings = Settings(reach=False, refute=False)
            helped = helped_part(part, other, settings) if isinstance(part, AgentPair) else None
            automata = None if helped is None else (helped.automaton, helped.abstract)
        elif leaf.rule != Rule.SIMULATION:
            return Rejected(part.path, f"there is no rule {leaf.rule[:40]!r}")
        if automata is None:
            return Rejected(part.path, "its siblings' invariants cannot be used")
        certificate = decode_refinement(leaf.text)
        if isinstance(part, ModePair) and any(a != b for a, b in certificate.places.items()):
            return Rejected(part.path, "a mode's places stand for themselves")
        if isinstance(part, AgentPair):
            compared = compare_interfaces(*leaf_automata(part), part.detailed, part.abstract)
            if compared.failures:
                return Rejected(part.path, compared.failures[0].why)
        if isinstance(part, AgentPair) and (why := isolation_fault(certificate, part.detailed)):
            return Rejected(part.path, why)
        judgement = check_refinement(*automata, certificate)
        if not isinstance(judgement, Simulated):
            return Rejected(f"{part.path}: {judgement.obligation}", judgement.why)
        if missing := set(shown_by(part)) - set(judgement.observed):
            return Rejected(part.path, f"its certificate says nothing about {min(missing)}")
        obligations += judgement.obligations
        assumed += judgement.assumed
        reach += judgement.reach
    seen = compare_interfaces(detailed.automaton, abstract.automaton, own, other).observed
    return Simulated(obligations, assumed, reach, seen)


def _read(text: str | bytes) -> list[_Leaf]:
    raw: Any = parsed(text)
    if not isinstance(raw, dict) or raw.get("schema") != SCHEMA or set(raw) != {"schema", "leaves"}:
        raise MalformedCertificateError(f"not a proof with the schema {SCHEMA}")
    found = []
    for leaf in raw["leaves"] if isinstance(raw["leaves"], list) else [None]:
        if not isinstance(leaf, dict) or set(leaf) != {"path", "rule", "certificate"}:
            raise MalformedCertificateError("a leaf has a path, a rule and a certificate")
        if not isinstance(leaf["path"], str) or not isinstance(leaf["rule"], str):
            raise MalformedCertificateError("the path and the rule of a leaf are texts")
        found.append(_Leaf(leaf["path"], leaf["rule"], json.dumps(leaf["certificate"])))
    return found
