"""Certificates: self-contained evidence for one property of one model, as JSON.

A certificate names the model by its fingerprint and the property by its name, and carries
the invariant with the evidence for its obligations. Decoding is strict: unknown fields,
wrong types, over-long numbers or lists are a `MalformedCertificateError` that says where.
Decision trees are written in prefix order, so nothing nests deeply.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias, TypeVar

from models.proof.adjoint import Stage
from models.proof.farkas import Multipliers
from models.proof.flowpipe import AnyNode, Direction, FlowpipeProof, Node
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
from models.proof.taylor_node import TaylorNode, TaylorStep

SCHEMA = "charon-workbench/certificate/1"
MAX_BYTES = 256 * 1024 * 1024
MAX_DIGITS = 4000
_NUMBER = re.compile(r"-?[0-9]+(/[0-9]+)?", re.ASCII)


class MalformedCertificateError(ValueError):
    """The text is no certificate; the message says what is wrong, and where."""


@dataclass(frozen=True, slots=True)
class PolyhedralProof:
    """Cells for each location, and evidence for every obligation, in their order."""

    regions: tuple[Region, ...]
    evidence: tuple[Evidence, ...]


Proof: TypeAlias = PolyhedralProof | QuadraticInvariant | FlowpipeProof


@dataclass(frozen=True, slots=True)
class Certificate:
    """Evidence that a property holds in every reachable state of a model."""

    model: str
    model_sha256: str
    claim: str
    proof: Proof

    @property
    def kind(self) -> str:
        """`polyhedral`, `quadratic` or `flowpipe`."""
        if isinstance(self.proof, PolyhedralProof):
            return "polyhedral"
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


def multipliers_json(multipliers: Multipliers) -> dict[str, str]:
    """Multipliers as JSON, without zeros."""
    return {str(index): str(factor) for index, factor in multipliers if factor != 0}


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


T = TypeVar("T")


class Reader:
    """An object of the JSON text whose fields are taken one by one, none left over."""

    def __init__(self, raw: Any, where: str):
        if not isinstance(raw, dict):
            raise MalformedCertificateError(f"{where}: expected an object")
        self._left = dict(raw)
        self.where = where

    def has(self, name: str) -> bool:
        """Whether the field is still to be taken."""
        return name in self._left

    def field(self, name: str) -> Any:
        """Take a field of any type."""
        if name not in self._left:
            raise MalformedCertificateError(f"{self.where}: there is no {name!r}")
        return self._left.pop(name)

    def text(self, name: str) -> str:
        """Take a text."""
        value = self.field(name)
        if not isinstance(value, str):
            raise MalformedCertificateError(f"{self.where}: {name!r} is not a text")
        return value

    def whole(self, name: str) -> int:
        """Take a whole number."""
        value = self.field(name)
        if not isinstance(value, int) or isinstance(value, bool):
            raise MalformedCertificateError(f"{self.where}: {name!r} is not a whole number")
        return value

    def number(self, name: str) -> Fraction:
        """Take an exact number."""
        return _number(self.field(name), f"{self.where}, {name}")

    def each(self, name: str, read: Callable[[Any, str], T]) -> tuple[T, ...]:
        """Take a list, every element read by `read`."""
        values = self.field(name)
        if not isinstance(values, list):
            raise MalformedCertificateError(f"{self.where}: {name!r} is not a list")
        return tuple(read(value, f"{self.where}, {name} {i + 1}") for i, value in enumerate(values))

    def mapped(self, name: str, read: Callable[[Any, str], T]) -> dict[str, T]:
        """Take an object, every value read by `read`."""
        values = self.field(name)
        if not isinstance(values, dict):
            raise MalformedCertificateError(f"{self.where}: {name!r} is not an object")
        return {key: read(value, f"{self.where}, {name} {key}") for key, value in values.items()}

    def finish(self) -> None:
        """Refuse what nobody has taken."""
        if self._left:
            extra = sorted(self._left)[0]
            raise MalformedCertificateError(f"{self.where}: unknown field {extra[:80]!r}")


def no_float(text: str) -> Any:
    """Refuse a number with a point or exponent."""
    raise ValueError(f"numbers are exact: write {text[:40]} as a fraction in quotes")


def small_integer(text: str) -> int:
    """A whole number of moderate size."""
    if len(text) > 12:
        raise ValueError("a whole number has too many digits")
    return int(text)


def _number(raw: Any, where: str) -> Fraction:
    if not isinstance(raw, str) or len(raw) > MAX_DIGITS or not _NUMBER.fullmatch(raw):
        raise MalformedCertificateError(f"{where}: not a fraction of moderate size")
    top, _, bottom = raw.partition("/")
    if bottom and int(bottom) == 0:
        raise MalformedCertificateError(f"{where}: division by zero")
    return Fraction(int(top), int(bottom or 1))


def read_text(raw: Any, where: str) -> str:
    """A text."""
    if not isinstance(raw, str):
        raise MalformedCertificateError(f"{where}: not a text")
    return raw


def read_form(raw: Any, where: str) -> Form:
    """A form."""
    reader = Reader(raw, where)
    coefficients = reader.mapped("coefficients", _number)
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


def read_multipliers(raw: Any, where: str) -> Multipliers:
    """Multipliers by row number."""
    if not isinstance(raw, dict):
        raise MalformedCertificateError(f"{where}: multipliers are an object")
    pairs = []
    for key, value in raw.items():
        if not key.isdecimal() or not key.isascii() or len(key) > 9:
            raise MalformedCertificateError(f"{where}: {key[:40]!r} is no row number")
        pairs.append((int(key), _number(value, where)))
    return tuple(pairs)


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
    witness = FlowWitness(reader.number("alpha"), reader.each("earlier", _number))
    reader.finish()
    return witness


def _row(raw: Any, where: str) -> tuple[Fraction, ...]:
    if not isinstance(raw, list):
        raise MalformedCertificateError(f"{where}: a row of a matrix is a list")
    return tuple(_number(entry, where) for entry in raw)


def _ellipsoid(raw: Any, where: str) -> Ellipsoid:
    reader = Reader(raw, where)
    ellipsoid = Ellipsoid(
        reader.each("shape", _row),
        reader.each("center", _number),
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
    normal = {name: a for name, a in reader.mapped("normal", _number).items() if a}
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
    numbers = {name: _number(value, where) for name, value in raw.items()}
    return {name: a for name, a in numbers.items() if a}


def _taylor_step(raw: Any, where: str) -> TaylorStep:
    reader = Reader(raw, where)
    step = TaylorStep(
        reader.number("length"), reader.each("radii", _number), reader.each("frame", _row)
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
