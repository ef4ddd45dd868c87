"""Proofs by induction as files, and their check.

The file holds the certificate that the step refines the contract and one for every property of
the step. Checking establishes the side conditions of the theorem (`induction`) from the two
models again and gives every certificate to the trusted checker; nothing else of the file counts.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from workbench.abstraction.refinement.induction import Induction, place_of
from workbench.abstraction.refinement.outcome import Refines
from workbench.abstraction.refinement.proof_file import check_whole
from workbench.models.certificates.certificate import MalformedCertificateError, decode, encode
from workbench.models.certificates.check import check
from workbench.models.certificates.json_reader import parsed
from workbench.models.certificates.judgement import Accepted, Rejected
from workbench.models.certificates.refinement import Simulated
from workbench.models.certificates.refinement_text import decode_refinement, encode_refinement
from workbench.models.model import Model
from workbench.models.source import ModelError
from workbench.models.verdict import Verified

SCHEMA = "charon-workbench/induction/1"


@dataclass(frozen=True, slots=True)
class AnyLength:
    """Accepted: any number of steps keeps the contract and the properties, up to the horizon if
    there is one. `place` is the part that stands for what went before."""

    place: str
    refinement: Simulated
    properties: tuple[str, ...]
    obligations: int
    horizon: Fraction | None


InductionJudgement: TypeAlias = AnyLength | Rejected


def encode_induction(found: Induction) -> str:
    """The certificates of a proof that holds."""
    assert found.holds and isinstance(found.proof.outcome, Refines)
    properties = [
        json.loads(encode(v.certificate)) for v in found.verdicts if isinstance(v, Verified)
    ]
    document = {
        "schema": SCHEMA,
        "refinement": json.loads(encode_refinement(found.proof.outcome.certificate)),
        "properties": properties,
    }
    return json.dumps(document, indent=1) + "\n"


def is_induction(text: str | bytes) -> bool:
    """Whether a text claims to be a proof by induction."""
    head = text[:100] if isinstance(text, str) else text[:100].decode("utf-8", "replace")
    return SCHEMA in head


def check_induction(step: Model, contract: Model, text: str | bytes) -> InductionJudgement:
    """Whether a file proves that any number of steps keeps the contract and the properties."""
    try:
        refinement, certificates = _read(text)
        place = place_of(step, contract)
        judgement = check_whole(step, contract, decode_refinement(refinement))
        if isinstance(judgement, Rejected):
            return judgement
        return _check_properties(step, place, judgement, certificates)
    except MalformedCertificateError as error:
        return Rejected("format", str(error))
    except ModelError as error:
        return Rejected("structure", error.diagnostics[0].message)


def _check_properties(
    step: Model, place: str, refinement: Simulated, texts: list[str]
) -> InductionJudgement:
    given = {c.claim: c for c in map(decode, texts)}
    names = tuple(p.name for p in step.automaton.properties)
    obligations, ends = refinement.obligations + refinement.reach, []
    for name in names:
        if name not in given:
            return Rejected("properties", f"there is no certificate of {name!r}")
        judgement = check(step.automaton, name, given[name])
        if not isinstance(judgement, Accepted):
            return Rejected(f"{name}: {judgement.obligation}", judgement.why)
        obligations += judgement.obligations
        if judgement.horizon is not None:
            ends.append(judgement.horizon)
    return AnyLength(place, refinement, names, obligations, min(ends, default=None))


def _read(text: str | bytes) -> tuple[str, list[str]]:
    raw: Any = parsed(text)
    if not isinstance(raw, dict) or set(raw) != {"schema", "refinement", "properties"}:
        raise MalformedCertificateError("a proof by induction has a refinement and properties")
    if raw["schema"] != SCHEMA or not isinstance(raw["properties"], list):
        raise MalformedCertificateError(f"not a proof with the schema {SCHEMA}")
    return json.dumps(raw["refinement"]), [json.dumps(p) for p in raw["properties"]]
