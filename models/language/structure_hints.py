"""Rules of `hints.py` for the frame of a text: brackets, and what stands in which block."""

from __future__ import annotations

from collections.abc import Callable

from workbench.models.language.failure import Explanation, Misfit
from workbench.models.language.lexical import END, NAME, STRING, UNCLOSED, Token
from workbench.models.language.vocabulary import ITEM_WORDS
from workbench.models.source import Span


def _at(token: Token) -> str:
    return f"line {token.line}, column {token.column}"


def _unclosed_text(f: Misfit) -> Explanation | None:
    if f.token.kind != UNCLOSED:
        return None
    t = f.token
    if t.text.startswith("/*"):
        span = Span(f.file, t.line, t.column, t.line, t.column + 2)
        return Explanation("unclosed-comment", "this comment is never closed", "add `*/`", span)
    return Explanation(
        "unclosed-text", "this text in quotes is not closed on its line", 'add a closing `"`'
    )


def _missing_brace(f: Misfit) -> Explanation | None:
    block = f.block
    if not block:
        return None
    hint = f"add the missing `}}` of `{block.owner}` before it"
    place = f"before the block opened at {_at(block.bracket)} is closed"
    inside = f.definition_inside()
    if inside:
        what = f"{inside[0].text} {inside[1].text}"
        return Explanation(
            "missing-brace",
            f"`{what}` begins {place}",
            hint + "; definitions stand side by side, not inside one another",
            inside[0].span(f.file),
        )
    if f.token.text == "agent" and f.keyword == "mode" and f.begins_definition():
        what = f"agent {f.next_text}"
        return Explanation(
            "missing-brace",
            f"`{what}` begins {place}",
            hint + "; definitions stand side by side, not inside one another",
        )
    inside = f.item_inside()
    if inside:
        span = inside[0].span(f.file)
        return Explanation("missing-brace", f"`{inside[0].text}` begins {place}", hint, span)
    if (
        f.token.kind == NAME
        and f.token.text in ITEM_WORDS
        and "RBRACE" in f.expected
        and f.keyword not in ("agent", "mode")
        and not f.fits_after(";")
    ):
        return Explanation("missing-brace", f"`{f.token.text}` begins {place}", hint)
    return None


def _unclosed_bracket(f: Misfit) -> Explanation | None:
    opener = f.opener
    if opener is None:
        return None
    bracket, closing = opener.bracket, opener.closing
    if f.token.kind == END:
        block = f" of `{opener.owner}`" if opener.keyword else ""
        return Explanation(
            "unclosed-bracket",
            f"the `{bracket.text}`{block} is never closed",
            f"the file ends where a `{closing}` is still missing",
            bracket.span(f.file),
        )
    if bracket.text == "[" and f.token.text == ";" and "COMMA" in f.expected:
        return Explanation(
            "interval",
            "the bounds of an interval are separated by `,`",
            "write `[low, high]`",
            repair=f.put(","),
        )
    if bracket.text != "{" and f.token.text in {";", "{", "}", ")", "]"} - {closing}:
        return Explanation(
            "unclosed-bracket",
            f"`{closing}` is missing before `{f.token.text}`",
            f"the `{bracket.text}` at {_at(bracket)} is not closed",
        )
    return None


def _needless_bracket(f: Misfit) -> Explanation | None:
    opening = {")": "(", "]": "[", "}": "{"}.get(f.token.text)
    if opening is None or any(o.bracket.text == opening for o in f.open_brackets()):
        return None
    return Explanation(
        "needless-bracket",
        f"this `{f.token.text}` closes no `{opening}`",
        "remove it, or look for a bracket that was closed too early above",
    )


def _interval_in_parentheses(f: Misfit) -> Explanation | None:
    if f.token.text in ("(", "{") and f.previous.text == "in" and "LSQB" in f.expected:
        return Explanation(
            "interval", "an interval stands in square brackets", "write `in [low, high]`"
        )
    return None


_PLACES = {
    "agent": frozenset({"init", "hide", "assume", "predicate", "interaction", "agent"}),
    "mode": frozenset({"diff", "alge", "inv", "trans", "entry", "exit", "urgent"}),
    "file": frozenset({"const", "extern", "table", "import", "system"}),
}


def _misplaced_item(f: Misfit) -> Explanation | None:
    word = f.token.text
    at_item = f.keyword in ("agent", "mode") and "RBRACE" in f.expected and "READ" in f.expected
    if f.token.kind != NAME or not (at_item or "IMPORT" in f.expected):
        return None
    if word == "init" and f.keyword == "mode":
        hint = "in a mode, give the first value in the declaration: `private real x = 1;`"
    elif word in _PLACES["mode"]:
        hint = "write it in a `mode Name() { ... }` and use that by `mode top = Name();`"
    elif word in _PLACES["file"]:
        hint = "move it out of the braces"
    elif word in ITEM_WORDS | {"init"}:
        hint = None
    else:
        return None
    where = f"in `{f.block.owner}`" if f.block else "outside of agents and modes"
    homes = [home for home, words in _PLACES.items() if word in words]
    belongs = {"agent": "; it belongs in an agent", "mode": "; it belongs in a mode"}
    message = f"`{word}` cannot stand {where}{belongs.get(homes[0], '') if homes else ''}"
    return Explanation("misplaced-item", message, hint)


def _comma_between_statements(f: Misfit) -> Explanation | None:
    if f.token.text != "," or "SEMICOLON" not in f.expected:
        return None
    if f.opener is None or f.opener.bracket.text != "{":
        return None
    return Explanation(
        "comma-between-statements",
        f"the parts of `{f.opener.keyword or '{ }'}` are separated by `;`, not by `,`",
        "write `;` instead of `,`",
        repair=f.put(";"),
    )


def _second_condition(f: Misfit) -> Explanation | None:
    """`assume { a; b }`: unlike `inv`, the block of one condition."""
    word = f.keyword
    if word not in ("assume", "assert", "forbid") or f.previous.text != ";":
        return None
    if f.expected != {"RBRACE"} or f.token.kind == END:
        return None
    joined = "||" if word == "forbid" else "&&"
    return Explanation(
        "second-condition",
        f"`{word}` takes one condition",
        f"write `{joined}` instead of the `;` before it, or a second `{word} {{ ... }}`",
        repair=f.put("}", word, "{", keep=True),
    )


def _claim_without_quotes(f: Misfit) -> Explanation | None:
    word = f.previous.text
    if word not in ("assert", "forbid") or f.token.kind != NAME or STRING not in f.expected:
        return None
    return Explanation(
        "missing-quotes",
        "the name of a property stands in quotes",
        f'write `{word} "{f.token.text} ..." {{ ... }}`',
    )


def _missing_type(f: Misfit) -> Explanation | None:
    t = f.token
    if t.kind != NAME:
        return None
    if {"READ", "WRITE"} <= f.expected and t.text in ("real", "int", "bool", "enum"):
        return Explanation(
            "missing-access",
            f"how is this {t.text} used? `read`, `write` or `private` is missing before it",
            f"write for example `private {t.text} x;`",
            repair=f.put("private", keep=True),
        )
    if {"REAL", "INT"} <= f.expected and f.next_text in {"=", ";", ",", ")", "in"}:
        return Explanation(
            "missing-type",
            f"the type of `{t.text}` is missing",
            f"write `real {t.text}`, or `int`, `bool` or `enum {{ a, b }}` instead of `real`",
            repair=f.put("real", keep=True),
        )
    return None


_MANNERS = frozenset({"urgent", "unilateral", "bilateral", "crossing", "sliding"})
"""How a transition or an interaction is taken: words that stand before `trans`."""


def _manner_behind(f: Misfit) -> Explanation | None:
    """`trans urgent from a to b`, `trans from a to b when x >= 1 urgent do { ... }`."""
    if f.token.text in _MANNERS and {"FROM", "BETWEEN"} & f.expected:
        manner = f.token
    elif f.previous.text in _MANNERS and f.token.text in ("do", ";") and "TRANS" in f.expected:
        manner = f.previous
    else:
        return None
    what = "interaction" if f.keyword == "agent" else "trans"
    return Explanation(
        "misplaced-word",
        f"`{manner.text}` stands before `{what}`",
        f"write `{manner.text} {what} ...`",
        manner.span(f.file),
    )


STRUCTURE_RULES: tuple[Callable[[Misfit], Explanation | None], ...] = (
    _unclosed_text,
    _manner_behind,
    _missing_brace,
    _second_condition,
    _unclosed_bracket,
    _needless_bracket,
    _interval_in_parentheses,
    _misplaced_item,
    _comma_between_statements,
    _claim_without_quotes,
    _missing_type,
)
