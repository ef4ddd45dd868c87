"""The words and signs of the language for editors that colour a text without understanding it: one
table, taken from the grammar, from which every such editor's own is made."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from workbench.models.automaton import TIME
from workbench.models.expressions.dialect import FUNCTIONS
from workbench.models.language.grammar import grammar
from workbench.models.language.lexical import SIGNS
from workbench.models.record import record

_TYPES = frozenset({"REAL", "INT", "BOOL", "ENUM", "ANALOG", "DISCRETE"})
_CONSTANTS = frozenset({"TRUE", "FALSE"})
_DEFINITIONS = frozenset({"AGENT", "MODE", "CONST", "EXTERN", "TABLE", "IMPORT", "SYSTEM"})
_MANNERS = frozenset(
    {"READ", "WRITE", "READWRITE", "PRIVATE", "LOCAL", "INPUT", "OUTPUT", "ENTRY", "EXIT", "HIDE"}
    | {"URGENT", "UNILATERAL", "BILATERAL", "CROSSING", "SLIDING"}
)
_CALLED = frozenset({"D"})
"""Words that are read as such only before a parenthesis."""
_BEFORE_BRACE = frozenset({"LINEAR", "PREVIOUS"})
"""Words that are read as such only before a brace."""
_PATTERN = re.compile(r"^(LABEL|NAME|NUMBER|STRING): /(.*)/$", re.MULTILINE)


@record
class Highlighting:
    """Words by what they are: `definitions` begin a definition, `manners` say how a name is used,
    `blocks` are all other keywords; `functions` are words before a parenthesis, `before_brace`
    words before a brace, and names elsewhere. `patterns` are regular expressions for labels, names,
    numbers and texts, `signs` those that are no brackets."""

    definitions: tuple[str, ...]
    manners: tuple[str, ...]
    blocks: tuple[str, ...]
    types: tuple[str, ...]
    constants: tuple[str, ...]
    functions: tuple[str, ...]
    before_brace: tuple[str, ...]
    signs: tuple[str, ...]
    patterns: dict[str, str]

    @property
    def keywords(self) -> tuple[str, ...]:
        """The keywords that do not depend on what follows, without types and constants."""
        return tuple(sorted((*self.definitions, *self.manners, *self.blocks)))


_BRACKETS = frozenset("(){}[],;.")


@cache
def highlighting() -> Highlighting:
    """The table of the grammar as it is."""
    words = {kind: text for text, kind in grammar().keywords.items()}
    named = _TYPES | _CONSTANTS | _DEFINITIONS | _MANNERS | _CALLED | _BEFORE_BRACE
    assert named <= words.keys(), f"not in the grammar: {sorted(named - words.keys())}"

    def spelled(kinds: frozenset[str]) -> tuple[str, ...]:
        return tuple(sorted(words[kind] for kind in kinds))

    text = (Path(__file__).resolve().parents[1] / "grammar.lark").read_text(encoding="utf-8")
    return Highlighting(
        spelled(_DEFINITIONS),
        spelled(_MANNERS),
        spelled(frozenset(words.keys() - named)),
        spelled(_TYPES),
        tuple(sorted((*spelled(_CONSTANTS), TIME))),
        tuple(sorted((*spelled(_CALLED), *FUNCTIONS))),
        spelled(_BEFORE_BRACE),
        tuple(sorted(SIGNS.keys() - _BRACKETS, key=lambda sign: (-len(sign), sign))),
        dict(_PATTERN.findall(text)),
    )
