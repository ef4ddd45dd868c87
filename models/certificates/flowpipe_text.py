"""Flowpipes as JSON; see `models.certificates.certificate`."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from workbench.models.certificates.json_reader import (
    MalformedCertificateError,
    Reader,
    read_number,
    read_row,
    read_text,
    read_whole,
)
from workbench.models.certificates.polyhedral_text import (
    evidence_json,
    form_json,
    read_cover,
    read_form,
)
from workbench.models.checker.adjoint import Stage
from workbench.models.checker.flowpipe import AnyNode, Direction, FlowpipeProof, Node, Slab
from workbench.models.checker.taylor_node import TaylorNode, TaylorStep


def flowpipe_json(proof: FlowpipeProof) -> dict[str, Any]:
    """The body of a certificate."""
    nodes = [
        _taylor_json(node) if isinstance(node, TaylorNode) else _node_json(node)
        for node in proof.nodes
    ]
    return {"nodes": nodes, "evidence": [evidence_json(e) for e in proof.evidence]}


def _node_json(node: Node) -> dict[str, Any]:
    found: dict[str, Any] = {
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
    if node.frame:
        found["frame"] = [
            {"above": slab.above, "below": slab.below, "factor": _numbers_json(slab.factor)}
            for slab in node.frame
        ]
    return found


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


def read_flowpipe(top: Reader, horizon: Fraction | None) -> FlowpipeProof:
    """The body of a certificate."""
    return FlowpipeProof(horizon, top.each("nodes", _flow_node), top.each("evidence", read_cover))


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
        reader.mapped("scale", read_whole),
        reader.each("frame", _slab) if reader.has("frame") else (),
    )
    reader.finish()
    return node


def _slab(raw: Any, where: str) -> Slab:
    reader = Reader(raw, where)
    factor = {name: a for name, a in reader.mapped("factor", read_number).items() if a}
    slab = Slab(reader.whole("above"), reader.whole("below"), factor)
    reader.finish()
    return slab


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


def _taylor_step(raw: Any, where: str) -> TaylorStep:
    reader = Reader(raw, where)
    step = TaylorStep(
        reader.number("length"), reader.each("radii", read_number), reader.each("frame", read_row)
    )
    reader.finish()
    return step


def _direction(raw: Any, where: str) -> Direction:
    reader = Reader(raw, where)
    normal = {name: a for name, a in reader.mapped("normal", read_number).items() if a}
    direction = Direction(normal, reader.each("helpers", read_whole))
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
