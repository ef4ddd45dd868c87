"""Forms, regions and evidence as JSON; see `models.certificates.certificate`."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from workbench.models.certificates.json_reader import (
    MalformedCertificateError,
    Reader,
    multipliers_json,
    read_multipliers,
    read_number,
    read_whole,
)
from workbench.models.checker.covers import Cell, Cover, Impossible, InCell, Part, Region, Split
from workbench.models.evidence.polyhedral import Evidence, FacetReason, HandedOver, Kept
from workbench.models.linear import Form, Multipliers


def form_json(form: Form) -> dict[str, Any]:
    """A form as JSON."""
    coefficients = {name: str(a) for name, a in sorted(form.coefficients.items())}
    return {"coefficients": coefficients, "constant": str(form.constant)}


def evidence_json(evidence: Evidence) -> list[dict[str, Any]]:
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


def region_json(region: Region) -> dict[str, Any]:
    """A region as JSON."""
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


def read_region(raw: Any, where: str) -> Region:
    """A region."""
    reader = Reader(raw, where)
    region = Region(
        reader.text("location"),
        reader.each("predicates", read_form),
        reader.each("cells", _cell),
        reader.each("parts", _part) if reader.has("parts") else (),
        *(
            (reader.each("exits", read_whole), reader.number("margin"))
            if reader.has("exits")
            else ()
        ),
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


def read_evidence(raw: Any, where: str) -> Evidence:
    """Prefix order read from behind: by then both cases of a split are on the stack."""
    if not isinstance(raw, list) or not raw:
        raise MalformedCertificateError(f"{where}: evidence is a list of nodes")
    stack: list[Evidence] = []
    for node in reversed(raw):
        stack.append(_node(Reader(node, where), stack))
    if len(stack) != 1:
        raise MalformedCertificateError(f"{where}: nodes are left over")
    return stack[0]


def read_cover(raw: Any, where: str) -> Cover:
    """Evidence that is a decision tree."""
    return _case(read_evidence(raw, where), where)


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
        cases = _case(below.pop(), reader.where), _case(below.pop(), reader.where)
        node = Split(region, predicate, strict, *cases)
    reader.finish()
    return node


def _case(evidence: Evidence, where: str) -> Cover:
    if isinstance(evidence, Kept | HandedOver):
        raise MalformedCertificateError(f"{where}: a flow identity where there are cases")
    return evidence
