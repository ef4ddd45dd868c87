"""What may come next at a point of a text, by terminal and in words for people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from functools import cache

from workbench.models.language.grammar import Grammar, grammar
from workbench.models.language.lexical import END, LABEL, NAME, NUMBER, SIGNS, STRING

COMPARISONS = frozenset({"EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL"})
OPERATORS = COMPARISONS | {"PLUS", "MINUS", "TIMES", "SLASH", "POWER", "AND", "OR", "QUESTION"}
OPERAND_STARTS = frozenset({NAME, NUMBER, "LPAR", "MINUS", "TRUE", "FALSE"})
EXPRESSION_STARTS = OPERAND_STARTS | {"NOT", "FORALL", "SUM"}
_NAME_TAILS = frozenset({"DOT", "LSQB", "LPAR"})
_TYPES = frozenset({"REAL", "INT", "BOOL", "ENUM"})
_ACCESS = frozenset({"READ", "WRITE", "READWRITE", "PRIVATE", "LOCAL", "INPUT", "OUTPUT"})
_EVENTS = frozenset({"URGENT", "UNILATERAL", "BILATERAL", "CROSSING", "SLIDING"})
_AGENT_ITEMS = (
    _ACCESS
    | _EVENTS
    | {"INIT", "AGENT", "MODE", "HIDE", "ASSERT", "FORBID", "ASSUME", "PREDICATE", "INTERACTION"}
)
_MODE_ITEMS = (
    _ACCESS
    | _EVENTS
    | {"MODE", "ENTRY", "EXIT", "TRANS", "DIFF", "ALGE", "INV", "ASSERT", "FORBID"}
)
_DEFINITIONS = frozenset({"AGENT", "MODE", "CONST", "EXTERN", "TABLE", "IMPORT", "SYSTEM"})

# Terminals that are always named together: (those that must be there, those covered, words).
_GROUPS: tuple[tuple[Set[str], Set[str], str], ...] = (
    (_DEFINITIONS, _DEFINITIONS, "a definition (`agent`, `mode`, `const`, `system`, ...)"),
    (_AGENT_ITEMS, _AGENT_ITEMS, "an item of the agent (`private`, `init`, `agent`, ...)"),
    (_MODE_ITEMS, _MODE_ITEMS, "an item of the mode (`write`, `diff`, `inv`, `trans`, ...)"),
    (_EVENTS | {"TRANS"}, _EVENTS | {"TRANS"}, "a transition"),
    (_ACCESS, _ACCESS, "a declaration (`read`, `write`, `private`)"),
    (_TYPES, _TYPES, "a type (`real`, `int`, `bool` or `enum`)"),
    (EXPRESSION_STARTS, EXPRESSION_STARTS, "an expression"),
    (OPERAND_STARTS, EXPRESSION_STARTS, "a number, a name or `(`"),
    (frozenset({"PLUS", "TIMES"}), OPERATORS | _NAME_TAILS, "an operator"),
    (COMPARISONS, COMPARISONS, "a comparison"),
)
IN_WORDS = {
    NAME: "a name",
    NUMBER: "a number",
    STRING: "a text in quotes",
    LABEL: "a label such as `#far`",
    END: "the end of the file",
}


@cache
def spelling() -> dict[str, str]:
    """The text of every terminal that is always spelled the same."""
    words = {kind: text for text, kind in grammar().keywords.items()}
    return words | {kind: text for text, kind in SIGNS.items()}


def acceptable(table: Grammar, states: Sequence[int]) -> frozenset[str]:
    """The terminals that can be read next, given the parser's open states."""
    return frozenset(
        kind for kind in table.actions[states[-1]] if reading(table, states, kind) is not None
    )


def reading(table: Grammar, states: Sequence[int], kind: str) -> list[int] | None:
    """The open states after reading a terminal; None if it cannot be read."""
    after = list(states)
    while True:
        action = table.actions[after[-1]].get(kind)
        if action is None:
            return after if kind == END and after[-1] == table.end else None
        if action >= 0:
            after.append(action)
            return after
        rule = table.rules[~action]
        if rule.length:
            del after[-rule.length :]
        after.append(table.gotos[after[-1]][rule.origin])


def readable(table: Grammar, states: Sequence[int], kind: str, text: str) -> list[int] | None:
    """The open states after reading a token, a word being a keyword where it can be one."""
    word = table.keywords.get(text)
    if word is not None and kind == NAME and word in table.actions[states[-1]]:
        kind = word
    return reading(table, states, kind)


def in_words(kinds: Set[str]) -> str:
    """A phrase for "one of these": `` `;`, `,` or an operator ``."""
    left = set(kinds)
    phrases: list[str] = []
    for needed, covered, words in _GROUPS:
        if needed <= left:
            phrases.append(words)
            left -= covered
    # A stray semicolon is accepted, but nobody should be told to write one.
    if phrases and phrases[0].startswith(("a definition", "an item")):
        left.discard("SEMICOLON")
    spelled = spelling()
    single = sorted(left, key=lambda k: (k in IN_WORDS, spelled.get(k, k)))
    phrases.extend(IN_WORDS.get(kind) or f"`{spelled[kind]}`" for kind in single)
    phrases.sort(key=lambda p: not p.startswith("`"))
    return _one_of(phrases)


def _one_of(phrases: Iterable[str]) -> str:
    *most, last = phrases
    if len(most) > 5:
        return ", ".join(most[:5]) + ", ..."
    return f"{', '.join(most)} or {last}" if most else last
