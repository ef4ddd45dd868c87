"""Quadratic functions and their witnesses as JSON; see `models.certificates.certificate`."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from workbench.models.certificates.json_reader import (
    MalformedCertificateError,
    Reader,
    multipliers_json,
    read_multipliers,
    read_number,
    read_text,
    read_whole,
)
from workbench.models.evidence.quadratic_function import (
    Function,
    Polynomial,
    QuadraticFunctions,
    Witness,
)


def functions_json(proof: QuadraticFunctions) -> dict[str, Any]:
    """The body of a certificate: functions by location, and witnesses in order."""
    return {
        "functions": [
            [
                {"location": location, "terms": _terms_json(polynomial)}
                for location, polynomial in function.items()
            ]
            for function in proof.functions
        ],
        "evidence": [_witness_json(witness) for witness in proof.evidence],
    }


def _terms_json(polynomial: Polynomial) -> list[dict[str, Any]]:
    return [{"of": list(m), "factor": str(a)} for m, a in sorted(polynomial.items())]


def _witness_json(witness: Witness) -> dict[str, Any]:
    data: dict[str, Any] = {
        "functions": multipliers_json(witness.factors),
        "rows": multipliers_json(witness.linear),
        "products": [{"of": [j, k], "factor": str(a)} for j, k, a in witness.products],
    }
    return data if witness.gap is None else data | {"gap": str(witness.gap)}


def read_functions(top: Reader) -> QuadraticFunctions:
    """The body of a certificate."""
    return QuadraticFunctions(top.each("functions", _function), top.each("evidence", _witness))


def _function(raw: Any, where: str) -> Function:
    if not isinstance(raw, list):
        raise MalformedCertificateError(f"{where}: a function is a list of locations")
    found: dict[str, Polynomial] = {}
    for item in raw:
        reader = Reader(item, where)
        location = reader.text("location")
        if location in found:
            raise MalformedCertificateError(f"{where}: {location[:80]!r} is given twice")
        terms = reader.each("terms", _term)
        found[location] = dict(terms)
        if len(found[location]) < len(terms):
            raise MalformedCertificateError(f"{where}: a term is given twice")
        reader.finish()
    return found


def _term(raw: Any, where: str) -> tuple[tuple[str, ...], Fraction]:
    reader = Reader(raw, where)
    term = reader.each("of", read_text), reader.number("factor")
    reader.finish()
    return term


def _witness(raw: Any, where: str) -> Witness:
    reader = Reader(raw, where)
    witness = Witness(
        read_multipliers(reader.field("functions"), where),
        read_multipliers(reader.field("rows"), where),
        reader.each("products", _product),
        read_number(reader.field("gap"), where) if reader.has("gap") else None,
    )
    reader.finish()
    return witness


def _product(raw: Any, where: str) -> tuple[int, int, Fraction]:
    reader = Reader(raw, where)
    rows = reader.each("of", read_whole)
    if len(rows) != 2:
        raise MalformedCertificateError(f"{where}: a product is of two rows")
    factor = reader.number("factor")
    reader.finish()
    return rows[0], rows[1], factor
