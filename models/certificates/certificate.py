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

from workbench.models.certificates.flowpipe_text import flowpipe_json, read_flowpipe
from workbench.models.certificates.json_reader import MAX_BYTES as MAX_BYTES
from workbench.models.certificates.json_reader import (
    MalformedCertificateError as MalformedCertificateError,
)
from workbench.models.certificates.json_reader import Reader, parsed
from workbench.models.certificates.polyhedral_text import (
    evidence_json,
    read_evidence,
    read_region,
    region_json,
)
from workbench.models.certificates.progress_text import read_start, start_json
from workbench.models.certificates.quadratic_function_text import functions_json, read_functions
from workbench.models.certificates.quadratic_text import quadratic_json, read_quadratic
from workbench.models.checker.flowpipe import FlowpipeProof
from workbench.models.evidence.diagnosis import KernelProof
from workbench.models.evidence.polyhedral import PolyhedralProof
from workbench.models.evidence.progress import ProgressProof
from workbench.models.evidence.quadratic import QuadraticInvariant
from workbench.models.evidence.quadratic_function import QuadraticFunctions

SCHEMA = "charon-workbench/certificate/1"


SafetyProof: TypeAlias = KernelProof | FlowpipeProof
Proof: TypeAlias = SafetyProof | ProgressProof[SafetyProof]


@dataclass(frozen=True, slots=True)
class Certificate:
    """Evidence that a property holds in every reachable state of a model."""

    model: str
    model_sha256: str
    claim: str
    proof: Proof

    @property
    def kind(self) -> str:
        """`polyhedral`, `quadratic`, `quadratic function`, `flowpipe` or `progress`."""
        proof = self.proof
        return "progress" if isinstance(proof, ProgressProof) else _kind(proof)

    @property
    def horizon(self) -> Fraction | None:
        """The time up to which the property is claimed; None for all time."""
        safety = self.safety
        return safety.horizon if isinstance(safety, FlowpipeProof) else None

    @property
    def safety(self) -> SafetyProof:
        """The proof that no reachable state is bad."""
        return self.proof.safety if isinstance(self.proof, ProgressProof) else self.proof


def encode(certificate: Certificate) -> str:
    """The certificate as JSON text."""
    proof = certificate.proof
    if isinstance(proof, ProgressProof):
        start, safety = start_json(proof.start), _body(proof.safety)
        body = {"start": start, "safety": {"kind": _kind(proof.safety), **safety}}
    else:
        body = _body(proof)
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
    kind = top.text("kind")
    horizon = _scope(top)
    head = top.text("model"), top.text("model_sha256"), top.text("property")
    proof: Proof
    if kind == "progress":
        inner = Reader(top.field("safety"), "safety")
        start = read_start(top.field("start"), "start")
        proof = ProgressProof(start, _safety(inner, inner.text("kind"), horizon))
        inner.finish()
    else:
        proof = _safety(top, kind, horizon)
    top.finish()
    return Certificate(*head, proof)


def _safety(body: Reader, kind: str, horizon: Fraction | None) -> SafetyProof:
    """The proof that no reachable state is bad."""
    readers: Mapping[str, Callable[[Reader, Fraction | None], SafetyProof]] = {
        "polyhedral": read_polyhedral,
        "quadratic": read_quadratic,
        "quadratic function": lambda top, _: read_functions(top),
        "flowpipe": read_flowpipe,
    }
    if kind not in readers:
        raise MalformedCertificateError(f"unknown kind {kind[:80]!r}")
    if horizon is not None and kind != "flowpipe":
        raise MalformedCertificateError("the scope of an invariant is unbounded")
    return readers[kind](body, horizon)


def _kind(proof: SafetyProof) -> str:
    if isinstance(proof, PolyhedralProof):
        return "polyhedral"
    if isinstance(proof, QuadraticFunctions):
        return "quadratic function"
    return "quadratic" if isinstance(proof, QuadraticInvariant) else "flowpipe"


def _body(proof: SafetyProof) -> dict[str, Any]:
    if isinstance(proof, PolyhedralProof):
        return polyhedral_json(proof)
    if isinstance(proof, QuadraticInvariant):
        return quadratic_json(proof)
    return functions_json(proof) if isinstance(proof, QuadraticFunctions) else flowpipe_json(proof)


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
