"""Values of the kernel's types from plain data and back, apart from its decoder, and random ones."""

from __future__ import annotations

import random
from typing import Any, TypeAlias

from workbench.models.kernel import generated
from workbench.models.kernel.decode import TYPES

Kind: TypeAlias = Any
"""A type, as the generated code describes it."""


def value_of(kind: Kind, raw: Any) -> Any:
    if kind == "boolean":
        return raw
    if kind in ("natural", "integer", "positive"):
        return int(raw)
    if kind == "rational":
        above, _, below = raw.partition("/")
        return int(above), int(below or 1)
    if isinstance(kind, str):
        made = TYPES[kind][1:]
        name, *fields = made[0] if len(made) == 1 else next(c for c in made if c[0] == raw[0])
        values = raw if len(made) == 1 else raw[1:]
        parts = [value_of(field, value) for (_, field), value in zip(fields, values, strict=True)]
        return generated.CONSTRUCTORS[name](*parts)
    if kind[0] == "pair":
        return value_of(kind[1], raw[0]), value_of(kind[2], raw[1])
    if kind[0] == "option":
        return generated.Some(value_of(kind[1], raw[0])) if raw else None
    found = None
    for item in reversed(raw):
        found = (value_of(kind[1], item), found)
    return found


def plain(kind: Kind, value: Any) -> Any:
    if kind == "boolean":
        return value
    if kind in ("natural", "integer", "positive"):
        return str(value)
    if kind == "rational":
        return str(value[0]) if value[1] == 1 else f"{value[0]}/{value[1]}"
    if isinstance(kind, str):
        made = TYPES[kind][1:]
        name, *fields = next(c for c in made if c[0] == type(value).__name__)
        parts = [plain(field, getattr(value, label)) for label, field in fields]
        return parts if len(made) == 1 else [name, *parts]
    if kind[0] == "pair":
        return [plain(kind[1], value[0]), plain(kind[2], value[1])]
    if kind[0] == "option":
        return [] if value is None else [plain(kind[1], value.value)]
    found = []
    while value is not None:
        head, value = value
        found.append(plain(kind[1], head))
    return found


NUMBER_TEXTS = ("0", "0", "1", "-1", "1/2", "-1/2", "2", "3/2", "-3", "2/4", "0/3", "5/7")


def random_value(kind: Kind, draw: random.Random, depth: int = 0) -> Any:
    """Plain data of a type."""
    if kind == "boolean":
        return draw.random() < 0.5
    if kind == "natural":
        return str(draw.randint(0, 3))
    if kind == "rational":
        return draw.choice(NUMBER_TEXTS)
    if isinstance(kind, str):
        made = TYPES[kind][1:]
        name, *fields = made[0] if depth > 2 else draw.choice(made)
        values = [random_value(field, draw, depth + 1) for _, field in fields]
        return values if len(made) == 1 else [name, *values]
    if kind[0] == "pair":
        return [random_value(part, draw, depth) for part in kind[1:]]
    if kind[0] == "option" and draw.random() < 0.3:
        return []
    size = 1 if kind[0] == "option" else draw.choice((0, 1, 1, 2, 2, 3))
    return [random_value(kind[1], draw, depth) for _ in range(size)]
