"""Enumerations whose members are looked up often."""

from __future__ import annotations

from enum import Enum
from typing import TypeVar

E = TypeVar("E", bound=type[Enum])


def plain_members(enumeration: E) -> E:
    """The enumeration with its members as plain attributes of the class, as Python 3.12 makes
    them: before that each `Colour.RED` calls a function of the standard library, which takes ten
    times as long."""
    for name, member in enumeration.__members__.items():
        type.__setattr__(enumeration, name, member)
    return enumeration
