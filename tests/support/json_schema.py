"""As much of JSON Schema as the schema of certificates uses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

_TYPES: dict[str, type] = {"object": dict, "array": list, "string": str, "boolean": bool}
_KNOWN = {
    *("$defs", "$ref", "$schema", "additionalProperties", "const", "items", "maxItems"),
    *("maxLength", "minItems", "oneOf", "pattern", "prefixItems", "properties", "required"),
    *("title", "type", "uniqueItems"),
}


def faults(schema: dict[str, Any], value: Any) -> list[str]:
    """Where and how a value does not fit the schema."""
    return list(_faults(schema, schema, value, ""))


def _faults(root: dict[str, Any], schema: Any, value: Any, at: str) -> Iterator[str]:
    assert set(schema) <= _KNOWN, f"a word that is not understood: {set(schema) - _KNOWN}"
    if "$ref" in schema:
        name = schema["$ref"].removeprefix("#/$defs/")
        yield from _faults(root, root["$defs"][name], value, at)
    if "const" in schema and value != schema["const"]:
        yield f"{at}: not {schema['const']!r}"
    if "type" in schema:
        wanted = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        if type(value) not in [_TYPES[name] for name in wanted]:
            yield f"{at}: not of type {wanted}"
            return
    if "oneOf" in schema:
        fitting = [s for s in schema["oneOf"] if not list(_faults(root, s, value, at))]
        if len(fitting) != 1:
            yield f"{at}: {len(fitting)} forms fit"
    if isinstance(value, str):
        yield from _of_text(schema, value, at)
    elif isinstance(value, list):
        yield from _of_list(root, schema, value, at)
    elif isinstance(value, dict):
        yield from _of_object(root, schema, value, at)


def _of_text(schema: Any, value: str, at: str) -> Iterator[str]:
    if "pattern" in schema and not re.search(schema["pattern"].replace("$", r"\Z"), value):
        yield f"{at}: {value!r:.40} does not match"
    if len(value) > schema.get("maxLength", len(value)):
        yield f"{at}: too long"


def _of_list(root: Any, schema: Any, value: list[Any], at: str) -> Iterator[str]:
    if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
        yield f"{at}: {len(value)} elements"
    if schema.get("uniqueItems") and len({repr(item) for item in value}) < len(value):
        yield f"{at}: an element twice"
    first = schema.get("prefixItems", [])
    for number, item in enumerate(value):
        own = first[number] if number < len(first) else schema.get("items", {})
        if own is False:
            yield f"{at}[{number}]: too much"
        else:
            yield from _faults(root, own, item, f"{at}[{number}]")


def _of_object(root: Any, schema: Any, value: dict[str, Any], at: str) -> Iterator[str]:
    for name in schema.get("required", []):
        if name not in value:
            yield f"{at}: no {name}"
    known = schema.get("properties", {})
    for name, item in value.items():
        own = known.get(name, schema.get("additionalProperties", {}))
        if own is False:
            yield f"{at}: unknown field {name}"
        else:
            yield from _faults(root, own, item, f"{at}.{name}")
