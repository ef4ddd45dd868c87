"""How expressions are spelled: names, functions, and the operators that differ by source.

Two dialects are known. `CHARON` is the expression syntax of the language, of JSON and of
command-line options; `SPACEEX` is what SpaceEx models contain: single `&` and `|`, `=` or
`:=` for equality, and chained comparisons (`0 <= x <= 5`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from workbench.models.expressions.operators import FUNCTIONS_OF_ONE, Op
from workbench.models.record import record


@record
class Dialect:
    """The spellings of the operators; the first of each is used for printing."""

    name: str
    conjunction: tuple[str, ...]
    disjunction: tuple[str, ...]
    equality: tuple[str, ...]
    chained: bool


CHARON = Dialect("charon", ("&&",), ("||",), ("==",), chained=False)
SPACEEX = Dialect("spaceex", ("&", "&&"), ("|", "||"), ("==", "=", ":="), chained=True)

MAX_DIGITS = 400
"""A written number has at most so many digits, and an exponent of at most this size."""

PLAIN_NAME = r"[A-Za-z_][A-Za-z_0-9]*"
FLAT_NAME = rf"{PLAIN_NAME}(?:\[-?\d+\]|\.{PLAIN_NAME})*'*"
"""A name as it occurs in an automaton: `acc`, `follower.acc`, `car[3].x`, `x'`."""

RESERVED = frozenset({"true", "false", "forall", "sum"})
"""Words that cannot stand for a variable unless quoted."""

FUNCTIONS: Mapping[str, Op] = {
    op.value: op for op in (*FUNCTIONS_OF_ONE, Op.ATAN2, Op.MINIMUM, Op.MAXIMUM)
}
"""The built-in functions by name."""

_FLAT_NAME = re.compile(FLAT_NAME, re.ASCII)


def is_flat_name(name: str) -> bool:
    """Whether a name can be written without quotes."""
    return name not in RESERVED and _FLAT_NAME.fullmatch(name) is not None
