"""What stands before the kernel: plain data as values of exactly the types that it takes.

The kernel's theorem is about values of Coq's types; given anything else, generated code might say
anything. So every number here is an integer in digits or a fraction of two, with a denominator
above zero; a natural number is not negative; a list is a list and a truth value a truth value;
constructors have the fields that they have and no more. The types themselves are part of the
generated code (`generated.TYPES`). What is not of its type is a `DecodeError` that says where.

In plain data a number is a text (`"-3/4"`, `"12"`), a list a list, a pair a list of two, what may
be missing a list of none or one, a record the list of its fields, and any other value a list of its
constructor's name and its fields, as in `["Split", h, strict_below, below, above]`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any, TypeAlias

from workbench.models.kernel import generated

MAX_DIGITS = 4000
MAX_NATURAL = 100_000
"""Natural numbers count and number things: the kernel makes lists as long as some of them."""
MAX_DEPTH = 100
"""Values of a type inside values of the same type, as splits in splits: the kernel recurses."""

TYPES: dict[str, Any] = dict(generated.TYPES)
CONSTRUCTORS: dict[str, Any] = dict(generated.CONSTRUCTORS)

Decoder: TypeAlias = Callable[[Any, int], Any]

_INTEGER = re.compile(r"0|-?[1-9][0-9]*", re.ASCII)
_FRACTION = re.compile(r"(0|-?[1-9][0-9]*)(?:/([1-9][0-9]*))?", re.ASCII)


class DecodeError(ValueError):
    """Data are not of the type that they should be; the message says what is wrong, and where."""

    def __init__(self, why: str):
        super().__init__(why)
        self.why = why
        self.steps: list[str] = []

    def __str__(self) -> str:
        return f"{''.join(reversed(self.steps)) or 'the whole'}: {self.why}"


def decoded(kind: str, data: Any) -> Any:
    """The value of a type of the kernel's that plain data stand for."""
    try:
        return _named(kind)(data, 0)
    except DecodeError as error:
        error.steps.append(kind)
        raise


@cache
def _named(kind: str) -> Decoder:
    """The decoder of a type that has constructors."""
    constructors = TYPES[kind][1:]
    if len(constructors) == 1:
        make, read = _fields(constructors[0])
        return lambda raw, depth: make(*read(raw, depth, 0))
    known = {constructor[0]: _fields(constructor) for constructor in constructors}
    words = ", ".join(known)

    def decode(raw: Any, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise DecodeError(f"more than {MAX_DEPTH} of {kind} inside each other")
        if type(raw) is not list or not raw or type(raw[0]) is not str or raw[0] not in known:
            raise DecodeError(f"expected a list that begins with one of {words}")
        make, read = known[raw[0]]
        return make(*read(raw, depth + 1, 1))

    return decode


def _fields(constructor: Any) -> tuple[Any, Callable[[Any, int, int], list[Any]]]:
    """A constructor, and what reads its fields off a list from some place on."""
    name, *described = constructor
    labels = [label for label, _ in described]
    later: list[Decoder] = []

    def read(raw: Any, depth: int, start: int) -> list[Any]:
        if not later:
            later.extend(_decoder(kind) for _, kind in described)
        if type(raw) is not list or len(raw) != start + len(later):
            raise DecodeError(f"expected a list of {name} and its fields {', '.join(labels)}")
        found = []
        for number, decode in enumerate(later):
            try:
                found.append(decode(raw[start + number], depth))
            except DecodeError as error:
                error.steps.append(f".{labels[number]}")
                raise
        return found

    return CONSTRUCTORS[name], read


def _decoder(kind: Any) -> Decoder:
    if isinstance(kind, str):
        return _NUMBERS.get(kind) or _named(kind)
    make: dict[str, Callable[..., Decoder]] = {"list": _list, "pair": _pair, "option": _option}
    return make[kind[0]](*map(_decoder, kind[1:]))


def _list(item: Decoder) -> Decoder:
    def decode(raw: Any, depth: int) -> Any:
        if type(raw) is not list:
            raise DecodeError("expected a list")
        found: Any = None
        for number in range(len(raw) - 1, -1, -1):
            try:
                found = (item(raw[number], depth), found)
            except DecodeError as error:
                error.steps.append(f"[{number}]")
                raise
        return found

    return decode


def _pair(first: Decoder, second: Decoder) -> Decoder:
    def decode(raw: Any, depth: int) -> Any:
        if type(raw) is not list or len(raw) != 2:
            raise DecodeError("expected a list of two")
        return (first(raw[0], depth), second(raw[1], depth))

    return decode


def _option(item: Decoder) -> Decoder:
    def decode(raw: Any, depth: int) -> Any:
        if type(raw) is not list or len(raw) > 1:
            raise DecodeError("expected a list of none or one")
        return generated.Some(item(raw[0], depth)) if raw else None

    return decode


def _integer(raw: Any, _: int) -> int:
    if type(raw) is not str or len(raw) > MAX_DIGITS or not _INTEGER.fullmatch(raw):
        raise DecodeError("expected a whole number in digits")
    return int(raw)


def _natural(raw: Any, depth: int) -> int:
    value = _integer(raw, depth)
    if value < 0:
        raise DecodeError("expected a number that is not negative")
    if value > MAX_NATURAL:
        raise DecodeError(f"expected a number of at most {MAX_NATURAL}")
    return value


def _positive(raw: Any, depth: int) -> int:
    value = _integer(raw, depth)
    if value <= 0:
        raise DecodeError("expected a number above zero")
    return value


def _rational(raw: Any, _: int) -> tuple[int, int]:
    if type(raw) is not str:
        raise DecodeError("expected a number as a text")
    return _fraction(raw)


@lru_cache(maxsize=4096)
def _fraction(text: str) -> tuple[int, int]:
    found = _FRACTION.fullmatch(text) if len(text) <= MAX_DIGITS else None
    if found is None:
        raise DecodeError("expected a fraction in digits with a denominator above zero")
    return int(found[1]), int(found[2] or 1)


def _boolean(raw: Any, _: int) -> bool:
    if type(raw) is not bool:
        raise DecodeError("expected true or false")
    return raw


_NUMBERS: dict[str, Decoder] = {
    "integer": _integer,
    "natural": _natural,
    "positive": _positive,
    "rational": _rational,
    "boolean": _boolean,
}
