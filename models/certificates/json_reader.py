"""Reading the JSON of certificates strictly: every field taken, none left over.

Numbers are exact fractions in quotes; anything unexpected is a `MalformedCertificateError`
that says where. The text is UTF-8, and no object has two fields of one name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeVar

from workbench.models.linear import Multipliers

MAX_BYTES = 256 * 1024 * 1024
MAX_DIGITS = 4000
T = TypeVar("T")
_NUMBER = re.compile(r"-?[0-9]+(/[0-9]+)?", re.ASCII)


class MalformedCertificateError(ValueError):
    """The text is no certificate; the message says what is wrong, and where."""


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
        return read_number(self.field(name), f"{self.where}, {name}")

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


def parsed(text: str | bytes) -> Any:
    """The value that a JSON text stands for."""
    if len(text) > MAX_BYTES:
        raise MalformedCertificateError(f"larger than {MAX_BYTES} bytes")
    try:
        plain = text if isinstance(text, str) else text.decode("utf-8")
    except UnicodeDecodeError as error:
        raise MalformedCertificateError(f"not UTF-8, at byte {error.start + 1}") from None
    try:
        return json.loads(
            plain,
            parse_float=_no_float,
            parse_constant=_no_float,
            parse_int=_small_integer,
            object_pairs_hook=_distinct,
        )
    except (ValueError, RecursionError) as error:
        raise MalformedCertificateError(f"not JSON: {error}") from None


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; refused if a field is there twice, since readers might take either."""
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            others = ", ".join(repr(other[:40]) for other in list(found)[:4])
            raise ValueError(f"{name[:40]!r} is there twice in the object of {others}")
        found[name] = value
    return found


def _no_float(text: str) -> Any:
    """Refuse a number with a point or exponent."""
    raise ValueError(f"numbers are exact: write {text[:40]} as a fraction in quotes")


def _small_integer(text: str) -> int:
    """A whole number of moderate size."""
    if len(text) > 12:
        raise ValueError("a whole number has too many digits")
    return int(text)


def read_number(raw: Any, where: str) -> Fraction:
    """An exact number."""
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


def read_whole(raw: Any, where: str) -> int:
    """A whole number."""
    if not isinstance(raw, int) or isinstance(raw, bool):
        raise MalformedCertificateError(f"{where}: not a whole number")
    return raw


def read_row(raw: Any, where: str) -> tuple[Fraction, ...]:
    """A row of a matrix."""
    if not isinstance(raw, list):
        raise MalformedCertificateError(f"{where}: a row of a matrix is a list")
    return tuple(read_number(entry, where) for entry in raw)


def multipliers_json(multipliers: Multipliers) -> dict[str, str]:
    """Multipliers as JSON, without zeros."""
    return {str(index): str(factor) for index, factor in multipliers if factor != 0}


def read_multipliers(raw: Any, where: str) -> Multipliers:
    """Multipliers by row number."""
    if not isinstance(raw, dict):
        raise MalformedCertificateError(f"{where}: multipliers are an object")
    pairs = []
    for key, value in raw.items():
        if not key.isdecimal() or not key.isascii() or len(key) > 9:
            raise MalformedCertificateError(f"{where}: {key[:40]!r} is no row number")
        pairs.append((int(key), read_number(value, where)))
    return tuple(pairs)
