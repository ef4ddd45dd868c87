"""The library: which models come with the workbench, and what is known about them.

Every file of `models/library` opens with header lines that say so:

    //! title: One line about the model
    //! source: where it and its numbers come from
    //! expect "property name": safe for all time
    //! twin: the_same_model_with_the_other_verdict

An expectation is `safe`, `unsafe` or `unknown`, then `for all time`, `until T` or nothing.
Listing reads these lines alone and parses no model, so it is quick.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from fractions import Fraction
from functools import cache
from pathlib import Path

from workbench.models.record import record

LIBRARY = Path(__file__).resolve().parent / "library"

_MARK = "//!"
_FIELD = re.compile(r"(?P<key>title|source|twin): +(?P<value>\S.*)")
_EXPECTATION = re.compile(
    r'expect "(?P<name>[^"]+)": +(?P<verdict>\w+)'
    r"(?: +(?:(?P<always>for all time)|until +(?P<horizon>\d+(?:\.\d+)?)))?"
)


class Verdict(StrEnum):
    """What is true of a property, whether or not an engine can show it."""

    SAFE = "safe"
    UNSAFE = "unsafe"
    UNKNOWN = "unknown"


@record
class Expectation:
    """The verdict on one property: up to time `horizon`, or `for_all_time`, or (neither, of
    an unsafe one) at some time."""

    name: str
    verdict: Verdict
    for_all_time: bool = False
    horizon: Fraction | None = None

    @property
    def scope(self) -> str:
        """`for all time`, `until 20`, or nothing."""
        if self.for_all_time:
            return "for all time"
        return "" if self.horizon is None else f"until {float(self.horizon):g}"

    def __str__(self) -> str:
        return f'"{self.name}": {self.verdict} {self.scope}'.rstrip()


@record
class Entry:
    """A model of the library; `twin` is the name of a like model with another verdict."""

    name: str
    title: str
    source: str
    expectations: tuple[Expectation, ...]
    twin: str | None
    path: Path

    def expectation(self, property_name: str) -> Expectation | None:
        """What is expected of the property of that name."""
        return next((e for e in self.expectations if e.name == property_name), None)

    def __str__(self) -> str:
        return f"{self.name}: {self.title}"

    def __repr__(self) -> str:
        return f"<Entry {self}>"


class HeaderError(ValueError):
    """A library file whose header is wrong: a defect of the library, not of its user."""


@cache
def entries() -> tuple[Entry, ...]:
    """All models of the library, by name."""
    return tuple(read_entry(file) for file in sorted(LIBRARY.glob("*.charon")))


def find(name: str) -> Entry | None:
    """The library model of that name (`platoon`)."""
    return next((entry for entry in entries() if entry.name == name), None)


def path(name: str) -> Path | None:
    """The file of the library model of that name."""
    entry = find(name)
    return None if entry is None else entry.path


def read_entry(file: Path) -> Entry:
    """The entry that a file's header lines describe; `HeaderError` if they are wrong."""
    fields: dict[str, str] = {}
    expectations: list[Expectation] = []
    for number, line in _header(file):
        if match := _EXPECTATION.fullmatch(line):
            expectations.append(_expectation(match, f"{file.name}:{number}"))
        elif (match := _FIELD.fullmatch(line)) and match["key"] not in fields:
            fields[match["key"]] = match["value"]
        else:
            raise HeaderError(f"{file.name}:{number}: no such header line: {line}")
    missing = [key for key in ("title", "source") if key not in fields]
    if missing or not expectations:
        raise HeaderError(f"{file.name}: the header lacks {missing or 'expectations'}")
    return Entry(
        file.stem, fields["title"], fields["source"], tuple(expectations), fields.get("twin"), file
    )


def _header(file: Path) -> Iterator[tuple[int, str]]:
    """The numbered header lines at the top of a file, without their mark."""
    with file.open(encoding="utf-8") as text:
        for number, line in enumerate(text, 1):
            if not line.startswith(_MARK):
                return
            yield number, line.removeprefix(_MARK).strip()


def _expectation(match: re.Match[str], place: str) -> Expectation:
    """The expectation on a matched header line."""
    if match["verdict"] not in set(Verdict):
        raise HeaderError(f"{place}: `{match['verdict']}` is none of {', '.join(Verdict)}")
    horizon = match["horizon"]
    return Expectation(
        match["name"],
        Verdict(match["verdict"]),
        match["always"] is not None,
        None if horizon is None else Fraction(horizon),
    )
