"""Certificates: self-contained evidence for one property of one model, as JSON.

A certificate names the model by its fingerprint and the property by its name, and carries
the invariant with the evidence for its obligations. Decoding is strict: unknown fields,
wrong types, over-long numbers or lists are a `MalformedCertificateError` that says where.
Decision trees are written in prefix order, so nothing nests deeply.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from workbench.models.proof.flowpipe import FlowpipeProof
from workbench.models.proof.flowpipe_text import flowpipe_json, read_flowpipe
from workbench.models.proof.json_reader import MAX_BYTES as MAX_BYTES
from workbench.models.proof.json_reader import (
    MalformedCertificateError as MalformedCertificateError,
)
from workbench.models.proof.json_reader import Reader, parsed
from workbench.models.proof.polyhedral import Evidence, Region
from workbench.models.proof.polyhedral_text import (
    evidence_json,
    read_evidence,
    read_region,
    region_json,
)
from workbench.models.proof.quadratic import QuadraticInvariant
from workbench.models.proof.quadratic_function import QuadraticFunctions
from workbench.models.proof.quadratic_function_text import functions_json, read_functions
from workbench.models.proof.quadratic_text import quadratic_json, read_quadratic

SCHEMA = "charon-workbench/certificate/1"


@dataclass(frozen=True, slots=True)
class PolyhedralProof:
    """Cells for each location, and evidence for every obligation, in their order."""

    regions: tuple[Region, ...]
    evidence: tuple[Evidence, ...]


Proof: TypeAlias = PolyhedralProof | QuadraticInvariant | QuadraticFunctions | FlowpipeProof


@dataclass(frozen=True, slots=True)
class Certificate:
    """Evidence that a property holds in every reachable state of a model."""

    model: str
    model_sha256: str
    claim: str
    proof: Proof

    @property
    def kind(self) -> str:
        """`polyhedral`, `quadratic`, `quadratic function` or `flowpipe`."""
        if isinstance(self.proof, PolyhedralProof):
            return "polyhedral"
        if isinstance(self.proof, QuadraticFunctions):
            return "quadratic function"
        return "quadratic" if isinstance(self.proof, QuadraticInvariant) else "flowpipe"

    @property
    def horizon(self) -> Fraction | None:
        """The time up to which the property is claimed; None for all time."""
        return self.proof.horizon if isinstance(self.proof, FlowpipeProof) else None


def encode(certificate: Certificate) -> str:
    """The certificate as JSON text."""
    proof = certificate.proof
    if isinstance(proof, PolyhedralProof):
        body = polyhedral_json(proof)
    elif isinstance(proof, QuadraticInvariant):
        body = quadratic_json(proof)
    elif isinstance(proof, QuadraticFunctions):
        body = functions_json(proof)
    else:
        body = flowpipe_json(proof)
    horizon = certificate.horizon
    unbounded = {"kind": "unbounded"}
    scope = unbounded if horizon is None else {"kind": "bounded", "horizon": str(horizon)}
    head = {
        "schema": SCHEMA,
        "kind": certificate.kind,
        "model": certificate.model,
        "model_sha256": certificate.model_sha256,
        "property": certificate.claim,
        "scope": scope,
    }
    return json.dumps({**head, **body}, indent=1, ensure_ascii=True) + "\n"


def decode(text: str | bytes) -> Certificate:
    """The certificate in a JSON text."""
    top = Reader(parsed(text), "certificate")
    if (schema := top.text("schema")) != SCHEMA:
        raise MalformedCertificateError(f"schema {schema[:80]!r} is not {SCHEMA!r}")
    readers: Mapping[str, Callable[[Reader, Fraction | None], Proof]] = {
        "polyhedral": read_polyhedral,
        "quadratic": read_quadratic,
        "quadratic function": lambda top, _: read_functions(top),
        "flowpipe": read_flowpipe,
    }
    kind = top.text("kind")
    if kind not in readers:
        raise MalformedCertificateError(f"unknown kind {kind[:80]!r}")
    horizon = _scope(top)
    if horizon is not None and kind != "flowpipe":
        raise MalformedCertificateError("the scope of an invariant is unbounded")
    head = top.text("model"), top.text("model_sha256"), top.text("property")
    certificate = Certificate(*head, readers[kind](top, horizon))
    top.finish()
    return certificate


def polyhedral_json(proof: PolyhedralProof) -> dict[str, Any]:
    """The body of a polyhedral certificate."""
    regions = [region_json(region) for region in proof.regions]
    return {"regions": regions, "evidence": [evidence_json(e) for e in proof.evidence]}


def read_polyhedral(top: Reader, _: Fraction | None) -> PolyhedralProof:
    """The body of a polyhedral certificate."""
    return PolyhedralProof(top.each("regions", read_region), top.each("evidence", read_evidence))


def _scope(top: Reader) -> Fraction | None:
    """The horizon, or None where the claim is for all time."""
    scope = Reader(top.field("scope"), "scope")
    kind = scope.text("kind")
    if kind not in ("bounded", "unbounded"):
        raise MalformedCertificateError(f"scope: unknown kind {kind[:80]!r}")
    horizon = scope.number("horizon") if kind == "bounded" else None
    scope.finish()
    return horizon
