"""Input signals as texts: `3`, `0:1, 5:2`, `lines(0:1, 5:2)`, `sine(2, 0.5)`, `2 + sin(t)`,
`@speeds.csv`."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

from workbench.models.automaton import TIME
from workbench.models.expressions.expression import variable
from workbench.models.expressions.text import parse_expression
from workbench.models.expressions.traversal import substitute
from workbench.models.source import Diagnostic, ModelError
from workbench.simulate.inputs.signals import (
    Formula,
    Lines,
    Signal,
    Steps,
    constant_signal,
    from_csv,
    sine,
)

_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?"
_CONSTANT = re.compile(rf"\s*({_NUMBER})\s*")
_POINTS = re.compile(rf"\s*{_NUMBER}\s*:\s*{_NUMBER}\s*(?:,\s*{_NUMBER}\s*:\s*{_NUMBER}\s*)*")
_CALL = re.compile(r"\s*(steps|lines|sine)\s*\((.*)\)\s*", re.DOTALL)
MAX_LENGTH = 100_000


def parse_signal(name: str, text: str, read: Callable[[str], str]) -> Signal:
    """The signal that a text describes.

    `@file` is a CSV table whose first column is the time and which has a column `name` (or
    the one given by `@file:column`); `read` gives the content of a file. Raises ModelError.
    """
    if len(text) > MAX_LENGTH:
        raise _wrong(name, "the text is too long")
    if text.startswith("@"):
        return _from_file(name, text[1:], read)
    if match := _CONSTANT.fullmatch(text):
        return constant_signal(_finite(name, match[1]))
    if _POINTS.fullmatch(text):
        return Steps(*_points(name, text))
    if match := _CALL.fullmatch(text):
        form, inside = match.groups()
        if form == "sine":
            return _sine(name, inside)
        if _POINTS.fullmatch(inside):
            return (Steps if form == "steps" else Lines)(*_points(name, inside))
        raise _wrong(name, f"`{form}(...)` needs points like 0:1, 5:2")
    expression = parse_expression(text, file=f"<input {name}>")
    return Formula(substitute(expression, {"t": variable(TIME)}))


def _from_file(name: str, place: str, read: Callable[[str], str]) -> Signal:
    path, separator, column = place.rpartition(":")
    if not separator or "/" in column or column.endswith(".csv"):
        path, column = place, name
    return from_csv(read(path).splitlines(), column)


def _points(name: str, text: str) -> tuple[tuple[float, ...], tuple[float, ...]]:
    pairs = [point.split(":") for point in text.split(",")]
    return (
        tuple(_finite(name, t) for t, _ in pairs),
        tuple(_finite(name, v) for _, v in pairs),
    )


def _sine(name: str, inside: str) -> Formula:
    parts = inside.split(",")
    if not 2 <= len(parts) <= 4 or not all(_CONSTANT.fullmatch(p) for p in parts):
        raise _wrong(
            name, "`sine` needs numbers: amplitude, frequency (rad per unit), phase, offset"
        )
    amplitude, frequency, phase, offset = [*(_finite(name, p) for p in parts), 0.0, 0.0][:4]
    return sine(offset, amplitude, frequency, phase)


def _finite(name: str, text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise _wrong(name, f"{text.strip()} is too large")
    return value


def _wrong(name: str, why: str) -> ModelError:
    return ModelError(Diagnostic("signal-text", f"the input `{name}`: {why}"))
