"""The invariant of a certificate in readable inequalities, mode by mode."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fractions import Fraction
from typing import Any

from workbench.models.checker.flowpipe import FlowpipeProof
from workbench.models.counting import counted
from workbench.models.evidence.polyhedral import PolyhedralProof
from workbench.models.evidence.quadratic import QuadraticInvariant
from workbench.models.evidence.quadratic_function import Polynomial, QuadraticFunctions
from workbench.models.verdict import Verified
from workbench.reports.claims.ellipsoids import is_always
from workbench.reports.words.inequalities import rounded, row_texts

MAX_INEQUALITIES = 400
MAX_NODES = 30


def invariant_data(verdict: Verified, booleans: Collection[str] = ()) -> dict[str, Any]:
    """The invariant in readable inequalities: for every location the cells, one of which
    every state lies in."""
    proof = verdict.certificate.safety
    if isinstance(proof, PolyhedralProof):
        places: dict[str, list[list[str]]] = {}
        left = MAX_INEQUALITIES
        for region in proof.regions:
            for number in range(len(region.cells)):
                lines = row_texts((row.form for row in region.rows(number)), booleans)
                if left > 0:
                    places.setdefault(region.location, []).append(lines)
                left -= len(lines)
        return {"kind": "polyhedral", "locations": places, "left_out": max(0, -left)}
    if isinstance(proof, QuadraticInvariant):
        lines = [_ellipsoid_text(proof, number) for number in range(len(proof.ellipsoids))]
        return {
            "kind": "quadratic",
            "locations": {location: [lines] for location in proof.locations},
            "left_out": 0,
        }
    if isinstance(proof, QuadraticFunctions):
        return {
            "kind": "quadratic",
            "locations": {
                location: [_function_texts([f[location] for f in proof.functions])]
                for location in proof.locations
            },
            "left_out": 0,
        }
    return _flowpipe(proof, booleans)


def _flowpipe(proof: FlowpipeProof, booleans: Collection[str]) -> dict[str, Any]:
    """A flowpipe by its nodes: where stays begin, and how they are followed."""
    places: dict[str, list[list[str]]] = {}
    for node in proof.nodes[:MAX_NODES]:
        lines = [f"stays that begin with {b}" for b in row_texts(node.entry, booleans)]
        lines.append(
            f"are followed in {counted(node.count, 'step')} for "
            f"{rounded(float(list(node.ends)[-1]))}, "
            f"bounded in {counted(len(node.normals), 'direction')}"
        )
        places.setdefault(node.location, []).append(lines)
    return {
        "kind": "flowpipe",
        "locations": places,
        "left_out": max(0, len(proof.nodes) - MAX_NODES),
    }


def _ellipsoid_text(proof: QuadraticInvariant, number: int) -> str:
    body = proof.ellipsoids[number]
    terms: list[str] = []
    z = [
        name if c == 0 else f"({name} {'+' if c < 0 else '−'} {rounded(abs(c))})"
        for name, c in zip(proof.variables, body.center, strict=True)
    ]
    for i, row in enumerate(body.shape):
        for j in range(i, len(row)):
            factor = row[j] if i == j else 2 * row[j]
            if factor:
                product = f"{z[i]}²" if i == j else f"{z[i]}·{z[j]}"
                sign = ("− " if factor < 0 else "+ ") if terms else ("−" if factor < 0 else "")
                terms.append(f"{sign}{rounded(abs(factor))}·{product}")
    return f"{' '.join(terms)} ≤ 1"


def _function_texts(functions: Sequence[Polynomial]) -> list[str]:
    """What the functions say in one location, without those that are at most zero anyway."""
    found = [_polynomial_text(f) for f in functions if not is_always(f)]
    return found or ["any state that the mode allows"]


def _polynomial_text(polynomial: Polynomial) -> str:
    """The polynomial at most zero, products first, the constant on the right."""
    terms: list[str] = []
    for monomial, a in sorted(polynomial.items(), key=lambda item: (-len(item[0]), item[0])):
        if monomial:
            square = len(monomial) == 2 and monomial[0] == monomial[1]
            product = f"{monomial[0]}²" if square else "·".join(monomial)
            sign = ("− " if a < 0 else "+ ") if terms else ("−" if a < 0 else "")
            terms.append(f"{sign}{rounded(abs(a))}·{product}")
    constant = -polynomial.get((), Fraction(0))
    right = f"{'−' if constant < 0 else ''}{rounded(abs(constant))}"
    return f"{' '.join(terms) or '0'} ≤ {right}"
