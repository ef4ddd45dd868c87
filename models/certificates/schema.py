"""The JSON Schema of certificates that stand alone, made from the kernel's own types.

    python -m workbench.models.certificates.schema > docs/certificate.schema.json

A schema cannot say everything that readers ask for: docs/certificate_format.md has the rest.
"""

from __future__ import annotations

import json
from typing import Any

from workbench.models.certificates.standalone import CHECKERS, SCHEMA
from workbench.models.kernel.decode import MAX_DIGITS, TYPES
from workbench.models.kernel.document import SCHEMA as KERNEL_SCHEMA

_NUMBERS = {
    "natural": "^(0|[1-9][0-9]*)$",
    "rational": "^(0|-?[1-9][0-9]*)(/[1-9][0-9]*)?$",
}
_TEXTS = {"type": "array", "items": {"type": "string"}, "uniqueItems": True}


def schema() -> dict[str, Any]:
    """The schema as plain data."""
    documents = [
        _object(
            schema={"const": KERNEL_SCHEMA},
            checker={"const": checker},
            problem=_of_kind(TYPES[checker][1]),
            evidence=_of_kind(TYPES[checker][2]),
        )
        for checker in CHECKERS
    ]
    names = _object(
        states=_TEXTS,
        types={"type": "object", "additionalProperties": {"type": "string"}},
        inputs=_TEXTS,
        locations=_TEXTS,
        forbidden=_TEXTS,
    )
    values = {"type": "object", "additionalProperties": {"type": ["string", "boolean"]}}
    whole = _object(
        schema={"const": SCHEMA},
        model={"type": "string"},
        model_sha256={"type": "string"},
        property={"type": "string"},
        names=names,
        document={"oneOf": documents},
    )
    whole["properties"]["start"] = _object(location={"type": "string"}, before=values, after=values)
    numbers = {
        name: {"type": "string", "pattern": pattern, "maxLength": MAX_DIGITS}
        for name, pattern in _NUMBERS.items()
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A certificate that stands alone",
        **whole,
        "$defs": {**numbers, "boolean": {"type": "boolean"}, **_definitions()},
    }


def _definitions() -> dict[str, Any]:
    """The kernel's types that problems and evidence are made of."""
    found: dict[str, Any] = {}
    pending = [kind for checker in CHECKERS for kind in TYPES[checker][1:]]
    while pending:
        name = pending.pop(0)
        if name in found or name not in TYPES:
            continue
        constructors = TYPES[name][1:]
        kinds = [kind for _, *fields in constructors for _, kind in fields]
        pending += [one for kind in kinds for one in _names_in(kind)]
        forms = [_constructed(one, len(constructors) == 1) for one in constructors]
        found[name] = forms[0] if len(forms) == 1 else {"oneOf": forms}
    return found


def _names_in(kind: Any) -> list[str]:
    if isinstance(kind, str):
        return [kind]
    return [name for part in kind[1:] for name in _names_in(part)]


def _constructed(constructor: Any, alone: bool) -> dict[str, Any]:
    """A list of the fields of a value, behind the name of its constructor where there are more."""
    name, *fields = constructor
    items = [] if alone else [{"const": name}]
    items += [{"title": label, **_of_kind(kind)} for label, kind in fields]
    return {"title": name, **_tuple(items)}


def _of_kind(kind: Any) -> dict[str, Any]:
    if isinstance(kind, str):
        return {"$ref": f"#/$defs/{kind}"}
    if kind[0] == "pair":
        return _tuple([_of_kind(kind[1]), _of_kind(kind[2])])
    several = {"type": "array", "items": _of_kind(kind[1])}
    return several if kind[0] == "list" else {**several, "maxItems": 1}


def _tuple(items: list[Any]) -> dict[str, Any]:
    size = len(items)
    exactly = {"items": False, "minItems": size, "maxItems": size}
    return {"type": "array", "prefixItems": items, **exactly}


def _object(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def text() -> str:
    """The schema as text."""
    return json.dumps(schema(), indent=1) + "\n"


if __name__ == "__main__":
    print(text(), end="")
