"""Refinement certificates as JSON, read as strictly as those of properties."""

from __future__ import annotations

import json
from typing import Any

from workbench.models.certificates import json_reader
from workbench.models.certificates.certificate import polyhedral_json, read_polyhedral
from workbench.models.certificates.json_reader import MalformedCertificateError
from workbench.models.certificates.polyhedral_text import form_json, read_form
from workbench.models.certificates.refinement import (
    Assumed,
    RefinementCertificate,
    Refuted,
    Support,
)
from workbench.models.evidence.polyhedral import PolyhedralProof

SCHEMA = "charon-workbench/refinement/1"


def encode_refinement(certificate: RefinementCertificate) -> str:
    """The certificate as JSON text."""
    reach = certificate.reach
    document = {
        "schema": SCHEMA,
        "detailed": certificate.detailed,
        "detailed_sha256": certificate.detailed_sha256,
        "abstract": certificate.abstract,
        "abstract_sha256": certificate.abstract_sha256,
        "observed": list(certificate.observed),
        "places": dict(certificate.places),
        "witness": {n: form_json(form) for n, form in certificate.witness.items()},
        "reach": None if reach is None else polyhedral_json(reach),
        "evidence": [_support_json(piece) for piece in certificate.evidence],
    }
    return json.dumps(document, indent=1, ensure_ascii=True) + "\n"


def is_refinement(text: str | bytes) -> bool:
    """Whether a text says that it is a refinement certificate."""
    head = text[:4096]
    return SCHEMA in (head if isinstance(head, str) else head.decode("utf-8", "replace"))


def decode_refinement(text: str | bytes) -> RefinementCertificate:
    """The certificate in a JSON text; raises `MalformedCertificateError`."""
    top = json_reader.Reader(json_reader.parsed(text), "certificate")
    if (schema := top.text("schema")) != SCHEMA:
        raise MalformedCertificateError(f"schema {schema[:80]!r} is not {SCHEMA!r}")
    certificate = RefinementCertificate(
        top.text("detailed"),
        top.text("detailed_sha256"),
        top.text("abstract"),
        top.text("abstract_sha256"),
        top.each("observed", json_reader.read_text),
        top.mapped("places", json_reader.read_text),
        top.mapped("witness", read_form),
        _reach(top.field("reach")),
        top.each("evidence", _support),
    )
    top.finish()
    return certificate


def _support_json(piece: Support) -> dict[str, Any]:
    if isinstance(piece, Assumed):
        return {"assumed": piece.by}
    return {"refuted": [json_reader.multipliers_json(m) for m in piece.cases]}


def _reach(raw: Any) -> PolyhedralProof | None:
    if raw is None:
        return None
    reader = json_reader.Reader(raw, "reach")
    proof = read_polyhedral(reader, None)
    reader.finish()
    return proof


def _support(raw: Any, where: str) -> Support:
    reader = json_reader.Reader(raw, where)
    piece: Support
    if reader.has("assumed"):
        piece = Assumed(reader.text("assumed"))
    else:
        piece = Refuted(reader.each("refuted", json_reader.read_multipliers))
    reader.finish()
    return piece
