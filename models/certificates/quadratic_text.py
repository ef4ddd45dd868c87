"""Ellipsoids as JSON; see `models.certificates.certificate`."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from workbench.models.certificates.json_reader import Reader, read_number, read_row, read_text
from workbench.models.evidence.quadratic import Ellipsoid, FlowWitness, QuadraticInvariant


def quadratic_json(proof: QuadraticInvariant) -> dict[str, Any]:
    """The body of a certificate."""
    ellipsoids = [
        {
            "shape": [[str(a) for a in row] for row in e.shape],
            "center": [str(a) for a in e.center],
            "witnesses": {
                name: {"alpha": str(w.alpha), "earlier": [str(t) for t in w.earlier]}
                for name, w in sorted(e.witnesses.items())
            },
        }
        for e in proof.ellipsoids
    ]
    return {
        "variables": list(proof.variables),
        "locations": list(proof.locations),
        "ellipsoids": ellipsoids,
    }


def read_quadratic(top: Reader, _: Fraction | None) -> QuadraticInvariant:
    """The body of a certificate."""
    return QuadraticInvariant(
        top.each("variables", read_text),
        top.each("locations", read_text),
        top.each("ellipsoids", _ellipsoid),
    )


def _ellipsoid(raw: Any, where: str) -> Ellipsoid:
    reader = Reader(raw, where)
    ellipsoid = Ellipsoid(
        reader.each("shape", read_row),
        reader.each("center", read_number),
        reader.mapped("witnesses", _witness),
    )
    reader.finish()
    return ellipsoid


def _witness(raw: Any, where: str) -> FlowWitness:
    reader = Reader(raw, where)
    witness = FlowWitness(reader.number("alpha"), reader.each("earlier", read_number))
    reader.finish()
    return witness
