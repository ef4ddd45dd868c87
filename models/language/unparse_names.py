"""Flat names as identifiers of the language: readable, distinct, never a keyword."""

from __future__ import annotations

import re
from collections.abc import Iterable

from workbench.models.expressions.dialect import FUNCTIONS

_FOREIGN = re.compile(r"[^A-Za-z0-9_]+")

KEYWORDS = frozenset(
    """
    agent alge analog assert assume between bilateral bool const crossing d default diff
    discrete do entry enum exit extern false forall forbid from hide import in init input int
    interaction inv let linear local mode output predicate previous private read readwrite
    real sliding sum system table time to top trans true unilateral until urgent when where write
    """.split()
)
"""Words with a meaning somewhere in the language; as names they would only confuse."""


class IdentifierChoice:
    """Chooses identifiers; `chosen` maps every name to its identifier."""

    def __init__(self, taken: Iterable[str] = ()):
        self.chosen: dict[str, str] = {}
        self._used = {*taken, *KEYWORDS, *FUNCTIONS}

    def keep(self, name: str) -> None:
        """Use a name as it is."""
        self.chosen[name] = name
        self._used.add(name)

    def choose(self, name: str) -> str:
        """The identifier of a name: `car[3].x` is `car_3_x`."""
        if name in self.chosen:
            return self.chosen[name]
        plain = _FOREIGN.sub("_", name.replace("'", "_next")).strip("_") or "unnamed"
        if plain[0].isdigit():
            plain = f"n{plain}"
        found, count = plain, 1
        while found in self._used:
            count += 1
            found = f"{plain}_{count}"
        self.chosen[name] = found
        self._used.add(found)
        return found
