"""First states of runs as JSON: numbers and symbols as text, a symbol after a colon."""

from __future__ import annotations

from typing import Any

from workbench.models.certificates.json_reader import Reader, read_number
from workbench.models.checker.progress import FirstState, Value


def start_json(start: FirstState) -> dict[str, Any]:
    """A first state as JSON."""
    return {
        "location": start.location,
        "before": {name: _value_json(value) for name, value in start.before.items()},
        "after": {name: _value_json(value) for name, value in start.after.items()},
    }


def read_start(raw: Any, where: str) -> FirstState:
    """A first state."""
    top = Reader(raw, where)
    location = top.text("location")
    start = FirstState(location, top.mapped("before", _value), top.mapped("after", _value))
    top.finish()
    return start


def _value_json(value: Value) -> str | bool:
    if isinstance(value, bool):
        return value
    return f":{value}" if isinstance(value, str) else str(value)


def _value(raw: Any, where: str) -> Value:
    if isinstance(raw, bool):
        return raw
    if isinstance(raw, str) and raw.startswith(":"):
        return raw[1:]
    return read_number(raw, where)
