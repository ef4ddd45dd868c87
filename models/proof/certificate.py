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

from models.proof.adjoint import Stage
from models.proof.farkas import Multipliers
from models.proof.flowpipe import AnyNode, Direction, FlowpipeProof, Node
from models.proof.json_reader import MalformedCertificateError as MalformedCertificateError
from models.proof.json_reader import (
    Reader,
    multipliers_json,
    no_float,
    read_multipliers,
    read_number,
    read_text,
    small_integer,
)
from models.proof.linear import Form
from models.proof.polyhedral import (
    Cell,
    Cover,
    Evidence,
    FacetReason,
    HandedOver,
    Impossible,
    InCell,
    Kept,
    Part,
    Region,
    Split,
)
from models.proof.quadratic import Ellipsoid, FlowWitness, QuadraticInvariant
from models.proof.quadratic_function import QuadraticFunctions
from models.proof.quadratic_function_text import functions_json, read_functions
from models.proof.taylor_node import TaylorNode, TaylorStep

SCHEMA = "charon-workbench/certificate/1"
MAX_BYTES = 256 * 1024 * 1024


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
        body = _quadratic_json(proof)
    elif isinstance(proof, QuadraticFunctions):
        body = functions_json(proof)
    else:
        body = _flowpipe_json(proof)
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
    if len(text) > MAX_BYTES:
        raise MalformedCertificateError(f"larger than {MAX_BYTES} bytes")
    try:
        raw = json.loads(text, parse_float=no_float, parse_int=small_integer)
    except (ValueError, RecursionError) as error:
        raise MalformedCertificateError(f"not JSON: {error}") from None
    top = Reader(raw, "certificate")
    if (schema := top.text("schema")) != SCHEMA:
        raise MalformedCertificateError(f"schema {schema[:80]!r} is not {SCHEMA!r}")
    readers: Mapping[str, Callable[[Reader, Fraction | None], Proof]] = {
        "polyhedral": read_polyhedral,
        "quadratic": _read_quadratic,
        "quadratic function": lambda top, _: read_functions(top),
        "flowpipe": _read_flowpipe,
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


# Writing


def form_json(form: Form) -> dict[str, Any]:
    """A form as JSON."""
    coefficients = {name: str(a) for name, a in sorted(form.coefficients.items())}
    return {"coefficients": coefficients, "constant": str(form.constant)}


def _evidence_json(evidence: Evidence) -> list[dict[str, Any]]:
    """Prefix order: a split is followed by its lower case, then by its upper case."""
    nodes: list[dict[str, Any]] = []
    pending = [evidence]
    while pending:
        node = pending.pop()
        if isinstance(node, Impossible):
            nodes.append({"impossible": multipliers_json(node.multipliers)})
        elif isinstance(node, Kept):
            factors = multipliers_json(node.multipliers)
            nodes.append({"facet": str(node.reason), "own": str(node.own), "multipliers": factors})
        elif isinstance(node, HandedOver):
            handed = [{"own": str(mu), "multipliers": multipliers_json(m)} for mu, m in node.proofs]
            nodes.append({"handed_over": handed})
        elif isinstance(node, InCell):
            proofs = [multipliers_json(m) for m in node.proofs]
            nodes.append({"region": node.region, "cell": node.cell, "proofs": proofs})
        else:
            nodes.append(
                {
                    "region": node.region,
                    "split": node.predicate,
                    "strict_below": node.strict_below,
                }
            )
            pending.extend((node.above, node.below))
    return nodes


def polyhedral_json(proof: PolyhedralProof) -> dict[str, Any]:
    """The body of a polyhedral certificate."""
    regions = [_region_json(region) for region in proof.regions]
    return {"regions": regions, "evidence": [_evidence_json(e) for e in proof.evidence]}


def _region_json(region: Region) -> dict[str, Any]:
    data: dict[str, Any] = {
        "location": region.location,
        "predicates": [form_json(h) for h in region.predicates],
        "cells": ["".join("-" if s > 0 else "+" for s in cell) for cell in region.cells],
    }
    if region.parts:
        data["parts"] = [[form_json(form) for form in part] for part in region.parts]
    if region.exits:
        data |= {"exits": list(region.exits), "margin": str(region.margin)}
    return data


def _quadratic_json(proof: QuadraticInvariant) -> dict[str, Any]:
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


def _flowpipe_json(proof: FlowpipeProof) -> dict[str, Any]:
    nodes = [
        _taylor_json(node) if isinstance(node, TaylorNode) else _node_json(node)
        for node in proof.nodes
    ]
    return {"nodes": nodes, "evidence": [_evidence_json(e) for e in proof.evidence]}


def _node_json(node: Node) -> dict[str, Any]:
    return {
        "location": node.location,
        "entry": [form_json(form) for form in node.entry],
        "directions": [
            {"normal": _numbers_json(d.normal), "helpers": list(d.helpers)} for d in node.directions
        ],
        "stages": [{"length": str(s.length), "count": s.count} for s in node.stages],
        "degree": node.degree,
        "bits": node.bits,
        "stay": str(node.stay),
        "scale": dict(sorted(node.scale.items())),
    }


def _taylor_json(node: TaylorNode) -> dict[str, Any]:
    return {
        "location": node.location,
        "followed": list(node.names),
        "entry": [form_json(form) for form in node.entry],
        "normals": [_numbers_json(normal) for normal in node.normals],
        "steps": [
            {
                "length": str(step.length),
                "radii": [str(r) for r in step.radii],
                "frame": [[str(a) for a in row] for row in step.frame],
            }
            for step in node.steps
        ],
        "order": node.order,
        "memory": node.memory,
        "bits": node.bits,
    }


def _numbers_json(numbers: Mapping[str, Fraction]) -> dict[str, str]:
    return {name: str(value) for name, value in sorted(numbers.items())}


# Reading


def read_form(raw: Any, where: str) -> Form:
    """A form."""
    reader = Reader(raw, where)
    coefficients = reader.mapped("coefficients", read_number)
    form = Form({name: a for name, a in coefficients.items() if a}, reader.number("constant"))
    reader.finish()
    return form


def _cell(raw: Any, where: str) -> Cell:
    if not isinstance(raw, str) or not set(raw) <= {"-", "+"}:
        raise MalformedCertificateError(f"{where}: a cell is a row of - and +")
    return tuple(1 if sign == "-" else -1 for sign in raw)


def _region(raw: Any, where: str) -> Region:
    reader = Reader(raw, where)
    region = Region(
        reader.text("location"),
        reader.each("predicates", read_form),
        reader.each("cells", _cell),
        reader.each("parts", _part) if reader.has("parts") else (),
        *((reader.each("exits", _whole), reader.number("margin")) if reader.has("exits") else ()),
    )
    reader.finish()
    return region


def _part(raw: Any, where: str) -> Part:
    if not isinstance(raw, list):
        raise MalformedCertificateError(f"{where}: a part is a list of forms")
    return tuple(read_form(form, f"{where}, form {i + 1}") for i, form in enumerate(raw))


def _handed(raw: Any, where: str) -> tuple[Fraction, Multipliers]:
    reader = Reader(raw, where)
    mu = reader.number("own")
    factors = read_multipliers(reader.field("multipliers"), where)
    reader.finish()
    return mu, factors


def _evidence(raw: Any, where: str) -> Evidence:
    """Prefix order read from behind: by then both cases of a split are on the stack."""
    if not isinstance(raw, list) or not raw:
        raise MalformedCertificateError(f"{where}: evidence is a list of nodes")
    stack: list[Evidence] = []
    for node in reversed(raw):
        stack.append(_node(Reader(node, where), stack))
    if len(stack) != 1:
        raise MalformedCertificateError(f"{where}: nodes are left over")
    return stack[0]


def _node(reader: Reader, below: list[Evidence]) -> Evidence:
    node: Evidence
    if reader.has("impossible"):
        node = Impossible(read_multipliers(reader.field("impossible"), reader.where))
    elif reader.has("facet"):
        reason = reader.text("facet")
        if reason not in list(FacetReason):
            raise MalformedCertificateError(f"{reader.where}: unknown reason {reason[:40]!r}")
        factors = read_multipliers(reader.field("multipliers"), reader.where)
        node = Kept(FacetReason(reason), reader.number("own"), factors)
    elif reader.has("handed_over"):
        node = HandedOver(reader.each("handed_over", _handed))
    elif reader.has("cell"):
        node = InCell(
            reader.whole("region"), reader.whole("cell"), reader.each("proofs", read_multipliers)
        )
    else:
        region, predicate = reader.whole("region"), reader.whole("split")
        strict = reader.field("strict_below")
        if not isinstance(strict, bool) or len(below) < 2:
            raise MalformedCertificateError(f"{reader.where}: a split needs two cases")
        cases = _case(below.pop(), reader), _case(below.pop(), reader)
        node = Split(region, predicate, strict, *cases)
    reader.finish()
    return node


def _case(evidence: Evidence, reader: Reader) -> Cover:
    if isinstance(evidence, Kept | HandedOver):
        raise MalformedCertificateError(f"{reader.where}: a flow identity inside a split")
    return evidence


def read_polyhedral(top: Reader, _: Fraction | None) -> PolyhedralProof:
    """The body of a polyhedral certificate."""
    return PolyhedralProof(top.each("regions", _region), top.each("evidence", _evidence))


def _witness(raw: Any, where: str) -> FlowWitness:
    reader = Reader(raw, where)
    witness = FlowWitness(reader.number("alpha"), reader.each("earlier", read_number))
    reader.finish()
    return witness


def _row(raw: Any, where: str) -> tuple[Fraction, ...]:
    if not isinstance(raw, list):
        raise MalformedCertificateError(f"{where}: a row of a matrix is a list")
    return tuple(read_number(entry, where) for entry in raw)


def _ellipsoid(raw: Any, where: str) -> Ellipsoid:
    reader = Reader(raw, where)
    ellipsoid = Ellipsoid(
        reader.each("shape", _row),
        reader.each("center", read_number),
        reader.mapped("witnesses", _witness),
    )
    reader.finish()
    return ellipsoid


def _read_quadratic(top: Reader, _: Fraction | None) -> QuadraticInvariant:
    return QuadraticInvariant(
        top.each("variables", read_text),
        top.each("locations", read_text),
        top.each("ellipsoids", _ellipsoid),
    )


def _scope(top: Reader) -> Fraction | None:
    """The horizon, or None where the claim is for all time."""
    scope = Reader(top.field("scope"), "scope")
    kind = scope.text("kind")
    if kind not in ("bounded", "unbounded"):
        raise MalformedCertificateError(f"scope: unknown kind {kind[:80]!r}")
    horizon = scope.number("horizon") if kind == "bounded" else None
    scope.finish()
    return horizon


def _whole(raw: Any, where: str) -> int:
    if not isinstance(raw, int) or isinstance(raw, bool):
        raise MalformedCertificateError(f"{where}: not a whole number")
    return raw


def _direction(raw: Any, where: str) -> Direction:
    reader = Reader(raw, where)
    normal = {name: a for name, a in reader.mapped("normal", read_number).items() if a}
    direction = Direction(normal, reader.each("helpers", _whole))
    reader.finish()
    return direction


def _stage(raw: Any, where: str) -> Stage:
    reader = Reader(raw, where)
    stage = Stage(reader.number("length"), reader.whole("count"))
    reader.finish()
    return stage


def _normal(raw: Any, where: str) -> dict[str, Fraction]:
    if not isinstance(raw, dict):
        raise MalformedCertificateError(f"{where}: a direction is an object")
    numbers = {name: read_number(value, where) for name, value in raw.items()}
    return {name: a for name, a in numbers.items() if a}


def _taylor_step(raw: Any, where: str) -> TaylorStep:
    reader = Reader(raw, where)
    step = TaylorStep(
        reader.number("length"), reader.each("radii", read_number), reader.each("frame", _row)
    )
    reader.finish()
    return step


def _taylor_node(reader: Reader) -> TaylorNode:
    node = TaylorNode(
        reader.text("location"),
        reader.each("followed", read_text),
        reader.each("entry", read_form),
        reader.each("normals", _normal),
        reader.each("steps", _taylor_step),
        reader.whole("order"),
        reader.whole("memory"),
        reader.whole("bits"),
    )
    reader.finish()
    return node


def _flow_node(raw: Any, where: str) -> AnyNode:
    reader = Reader(raw, where)
    if reader.has("followed"):
        return _taylor_node(reader)
    node = Node(
        reader.text("location"),
        reader.each("entry", read_form),
        reader.each("directions", _direction),
        reader.each("stages", _stage),
        reader.whole("degree"),
        reader.whole("bits"),
        reader.number("stay"),
        reader.mapped("scale", _whole),
    )
    reader.finish()
    return node


def _read_flowpipe(top: Reader, horizon: Fraction | None) -> FlowpipeProof:
    return FlowpipeProof(horizon, top.each("nodes", _flow_node), top.each("evidence", _evidence))
