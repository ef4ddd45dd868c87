"""The way in for JSON text: decoded, checked for hostility, and read with a path.

`decode` turns text into plain values and refuses what would not mean the same to every
reader (duplicate keys, NaN) or is absurd (enormous numbers, endless nesting). `Cursor` is a
value together with the path to it, so that every complaint says where:
`locations[2].invariant`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from fractions import Fraction
from typing import NoReturn, TypeVar

from workbench.models.source import Diagnostic, ModelError, Span

MAX_DOCUMENT = 100_000_000
"""How many bytes a document may have."""

MAX_RATIONAL_DIGITS = 2_000
"""How many digits the numerator or denominator of a number may have."""

Choice = TypeVar("Choice", bound=StrEnum)
Item = TypeVar("Item")

_RATIONAL = re.compile(r"(-?)(\d+)(?:/(\d+)|\.(\d+))?", re.ASCII)


def decode(text: str | bytes, file: str) -> object:
    """The value of a JSON text; decimal numbers are exact."""
    if len(text) > MAX_DOCUMENT:
        _refuse("json-too-large", f"the document has more than {MAX_DOCUMENT} bytes", file)
    try:
        if isinstance(text, bytes):
            text = text.decode("utf-8-sig")
        return json.loads(
            text,
            object_pairs_hook=_without_duplicates,
            parse_constant=_not_a_number,
            parse_int=exact_number,
            parse_float=exact_number,
        )
    except UnicodeDecodeError as error:
        _refuse("json-encoding", f"the text is not UTF-8 (byte {error.start})", file)
    except json.JSONDecodeError as error:
        span = Span(file, error.lineno, error.colno, error.lineno, error.colno + 1)
        source = text if isinstance(text, str) else ""
        raise ModelError(
            Diagnostic("json-syntax", f"this is not JSON: {error.msg}", span),
            sources={file: source},
        ) from None
    except RecursionError:
        _refuse("json-nesting", "the document is nested too deeply", file)
    except ValueError as error:
        _refuse("json-value", str(error), file)


def exact_number(text: str) -> Fraction:
    """The exact value of `3`, `-0.1`, `1/10` or `1e-3`."""
    mantissa, _, exponent = text.lower().partition("e")
    found = _RATIONAL.fullmatch(mantissa)
    if found is None:
        raise ValueError(f"{shortened(text)} is not a number like 3, 0.1 or 1/10")
    sign, whole, denominator, decimals = found.groups(default="")
    if max(len(whole) + len(decimals), len(denominator)) > MAX_RATIONAL_DIGITS:
        raise ValueError(f"a number of more than {MAX_RATIONAL_DIGITS} digits")
    if denominator and not int(denominator):
        raise ValueError(f"{shortened(text)} divides by zero")
    if exponent and (denominator or not re.fullmatch(r"[+-]?0*\d{1,3}", exponent, re.ASCII)):
        raise ValueError(f"{shortened(text)} is not a number of a reasonable size")
    value = Fraction(int(whole + decimals), int(denominator or 1) * 10 ** len(decimals))
    value *= Fraction(10) ** int(exponent or 0)
    return -value if sign else value


def shortened(value: object) -> str:
    """A value as a message shows it."""
    if isinstance(value, int | Fraction) and not isinstance(value, bool):
        short = max(abs(value.numerator), value.denominator) < 10**50
        return str(value) if short else "a very long number"
    text = repr(value[:60] if isinstance(value, str) else value)
    return text if len(text) <= 60 else text[:57] + "..."


class Cursor:
    """A value of a document and the path that leads to it."""

    __slots__ = ("file", "path", "value")

    def __init__(self, value: object, file: str, path: str = "") -> None:
        self.value = value
        self.file = file
        self.path = path

    def fail(self, message: str, code: str = "json-model", hint: str | None = None) -> NoReturn:
        """Refuse the value, saying where it stands."""
        _refuse(code, f"{self.path}: {message}" if self.path else message, self.file, hint)

    def members(self, required: tuple[str, ...], optional: tuple[str, ...] = ()) -> Members:
        """The fields of an object, all of them known."""
        value = self.value
        if not isinstance(value, Mapping):
            self.fail(f"expected an object with {', '.join(required)}, not {self.described()}")
        for key in value:
            if key not in required and key not in optional:
                hint = f"known fields: {', '.join((*required, *optional))}"
                self.fail(f"unknown field {shortened(key)}", hint=hint)
        for key in required:
            if key not in value:
                self.fail(f"the field {key!r} is missing")
        return Members(self, value)

    def child(self, key: str | int, value: object) -> Cursor:
        """A part of this value."""
        step = f"[{key}]" if isinstance(key, int) else f".{key}" if self.path else key
        return Cursor(value, self.file, self.path + step)

    def items(self, read: Callable[[Cursor], Item]) -> tuple[Item, ...]:
        """Every element of a list, read in order."""
        value = self.value
        if not isinstance(value, list | tuple):
            self.fail(f"expected a list, not {self.described()}")
        return tuple(read(self.child(i, element)) for i, element in enumerate(value))

    def text(self) -> str:
        """A string."""
        if not isinstance(self.value, str):
            self.fail(f"expected text in quotes, not {self.described()}")
        return self.value

    def name(self) -> str:
        """A string that is not empty."""
        text = self.text()
        if not text:
            self.fail("a name must not be empty")
        return text

    def flag(self) -> bool:
        """`true` or `false`."""
        if not isinstance(self.value, bool):
            self.fail(f"expected true or false, not {self.described()}")
        return self.value

    def rational(self) -> Fraction:
        """An exact number, as a number or as text such as "1/10"."""
        value = self.value
        if isinstance(value, bool) or not isinstance(value, str | int | Fraction):
            hint = 'write it as text: "1/10"' if isinstance(value, float) else None
            self.fail(f'expected a number like "1/10", not {self.described()}', hint=hint)
        if isinstance(value, str):
            try:
                return exact_number(value)
            except ValueError as error:
                self.fail(str(error))
        if max(abs(value.numerator), value.denominator) >= 10**MAX_RATIONAL_DIGITS:
            self.fail(f"a number of more than {MAX_RATIONAL_DIGITS} digits")
        return Fraction(value)

    def choice(self, kind: type[Choice]) -> Choice:
        """One of a few words."""
        text = self.text()
        try:
            return kind(text)
        except ValueError:
            self.fail(f"expected one of {', '.join(kind)}, not {shortened(text)}")

    def described(self) -> str:
        """What kind of value this is, for messages."""
        value = self.value
        if isinstance(value, Mapping):
            return "an object"
        if isinstance(value, list | tuple):
            return "a list"
        if value is None or isinstance(value, bool):
            return json.dumps(value)
        return shortened(value)


class Members:
    """The fields of an object."""

    __slots__ = ("_cursor", "_values")

    def __init__(self, cursor: Cursor, values: Mapping[str, object]) -> None:
        self._cursor = cursor
        self._values = values

    def __contains__(self, key: str) -> bool:
        return key in self._values

    def __getitem__(self, key: str) -> Cursor:
        return self._cursor.child(key, self._values[key])

    def get(self, key: str, read: Callable[[Cursor], Item], default: Item) -> Item:
        """A field, or a default where it is left out."""
        return read(self[key]) if key in self._values else default

    def items(self, key: str, read: Callable[[Cursor], Item]) -> tuple[Item, ...]:
        """The elements of a list, none where it is left out."""
        return self[key].items(read) if key in self._values else ()

    def optional(self, key: str, read: Callable[[Cursor], Item]) -> Item | None:
        """A field that may be null or left out."""
        return None if self._values.get(key) is None else read(self[key])


def _without_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise ValueError(f"the field {shortened(key)} is given twice in one object")
            seen.add(key)
    return found


def _not_a_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a number")


def _refuse(code: str, message: str, file: str, hint: str | None = None) -> NoReturn:
    raise ModelError(Diagnostic(code, message, Span(file, 1, 1, 1, 2), hint))
