"""What to tell the author about a token that does not fit, and how to read on.

Each rule below knows one common slip. It looks at a `Failure` and answers with an
`Explanation`, or None if the slip is another one; the first answer counts. An explanation
may offer tokens to be read in place of the wrong one, so that a small slip does not hide
the next error.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from difflib import get_close_matches

from workbench.models.language.expected import (
    COMPARISONS,
    OPERAND_STARTS,
    in_words,
    spelling,
)
from workbench.models.language.failure import Explanation, Misfit
from workbench.models.language.lexical import (
    END,
    NAME,
    NUMBER,
    SIGNS,
    STRANGE,
    STRING,
    UNCLOSED,
    Token,
)
from workbench.models.language.vocabulary import ITEM_WORDS, LOOPS, OTHER_SIGNS, OTHER_WORDS
from workbench.models.source import Diagnostic, Edit, Span

_WRITE = re.compile(r"write `(\S+)`")
"""A hint that says what is to be written in the place that is marked."""


def explain(failure: Misfit) -> tuple[Diagnostic, Sequence[Token]]:
    """The message for a token that does not fit, and the tokens to read in its place."""
    for rule in _RULES:
        found = rule(failure)
        if found is not None:
            span = found.span or failure.token.span(failure.file)
            fix = _fix(failure, found)
            return Diagnostic(found.code, found.message, span, found.hint, fix=fix), found.repair
    message = f"unexpected {_named(failure.token)}; expected {in_words(failure.expected)}"
    return Diagnostic("syntax", message, failure.token.span(failure.file)), ()


def _fix(failure: Misfit, found: Explanation) -> Edit | None:
    """The edit that does to the text what reading on does to the tokens, or what the hint says."""
    token, texts = failure.token, [t.text for t in found.repair]
    if texts and found.repair[-1] is token:
        if len(texts) > 3:
            return None  # more is missing than a sign or a word
        added = "".join(texts[:-1])
        if added.isalpha():
            span = Span(failure.file, token.line, token.column, token.line, token.column)
            return Edit(span, f"{added} ")
        end = failure.previous.span(failure.file)
        place = end.end_line, end.end_column
        return Edit(Span(failure.file, *place, *place), added)
    if texts:
        return Edit(token.span(failure.file), "".join(texts))
    said = _WRITE.fullmatch(found.hint or "")
    return Edit(found.span, said[1]) if said and found.span is not None else None


def _named(token: Token) -> str:
    """A token in words."""
    if token.kind == END:
        return "end of the file"
    text = token.text if len(token.text) <= 40 else token.text[:37] + "..."
    return f"number {text}" if token.kind == NUMBER else f"`{text}`"


def _behind(failure: Misfit) -> Span:
    """The place just behind the token before."""
    p = failure.previous
    column = p.column + len(p.text)
    return Span(failure.file, p.line, column, p.line, column + 1)


# The slips, most telling first


def _strange_sign(f: Misfit) -> Explanation | None:
    t = f.token
    if t.kind != STRANGE:
        return None
    if t.text == "'":
        name = f.previous.text
        return Explanation(
            "prime",
            "a prime (`'`) has no meaning in a model",
            f"the derivative of `{name}` is written `d({name})`: `diff {{ d({name}) == 1; }}`",
        )
    other = OTHER_SIGNS.get(t.text)
    if other:
        fits = SIGNS.get(other) in f.expected
        return Explanation(
            "strange-character",
            f"`{t.text}` has no meaning in a model",
            f"write `{other}`",
            repair=f.put(other) if fits else (),
        )
    if t.text == "\N{NO-BREAK SPACE}":
        return Explanation(
            "strange-character", "this is a no-break space", "replace it by an ordinary space"
        )
    if t.text.isalpha():
        return Explanation(
            "strange-character",
            f"the letter {t.text[:20]!r} cannot be part of a name",
            "names consist of the letters a to z and A to Z, digits and `_`",
        )
    shown = f"`{t.text[:20]}`" if t.text.isprintable() else repr(t.text[:20])
    return Explanation("strange-character", f"the character {shown} has no meaning in a model")


def _equals_sign(f: Misfit) -> Explanation | None:
    sign = f.token.text
    if sign == "=" and "EQUAL" in f.expected:
        if f.keyword in ("diff", "alge"):
            said = f"an equation in `{f.keyword}` is written with `==`"
        elif "BECOMES" in f.expected:
            return None
        else:
            said = "two values are compared with `==`"
        if f.next_text in ("<", ">"):
            return None
        return Explanation("single-equals", said, "write `==` instead of `=`", repair=f.put("=="))
    if sign in ("==", ":=") and "ASSIGN" in f.expected:
        return Explanation(
            "double-equals" if sign == "==" else "becomes",
            f"a value is set with `=`, not with `{sign}`",
            f"write `=` instead of `{sign}`",
            repair=f.put("="),
        )
    if "BECOMES" in f.expected and sign in ("=", ":", "==", "->"):
        return Explanation(
            "renaming",
            "names are renamed with `:=`",
            "write `[ own := outer ]`",
            repair=f.put(":="),
        )
    if "BECOMES" in f.expected and sign == "]":
        return Explanation(
            "renaming",
            "the names after `:=` are missing",
            "write `[ own1, own2 := outer1, outer2 ]`",
        )
    return None


def _double_sign(f: Misfit) -> Explanation | None:
    pair = f.previous.text + f.token.text
    p, t = f.previous, f.token
    span: Span | None = Span(f.file, p.line, p.column, t.line, t.column + len(t.text))
    if f.previous.end != f.token.start:
        span = None
        pair = f.token.text + f.next_text
        if not f.following or f.token.end != f.following[0].start:
            return None
    wanted = {"**": "^", "<>": "!=", "=<": "<=", "=>": ">=", "=!": "!=", "===": "=="}.get(pair)
    if wanted:
        return Explanation("other-operator", f"`{pair}` is no operator", f"write `{wanted}`", span)
    if pair in ("++", "--", "+=", "-=", "*=", "/="):
        return Explanation(
            "other-operator", f"`{pair}` is no operator", "write for example `x = x + 1`", span
        )
    if pair in ("->", "=>"):
        return Explanation(
            "other-operator",
            f"`{pair}` is no operator",
            "a transition is written `trans from a to b`",
            span,
        )
    return None


def _in_words(f: Misfit) -> Explanation | None:
    word = f.token.text
    if word in ("and", "or") and "AND" in f.expected:
        sign = OTHER_WORDS[word]
        return Explanation(
            "word-operator",
            f"`{word}` is written `{sign}`",
            f"write `a {sign} b`",
            repair=f.put(sign),
        )
    if f.previous.text == "not" and f.token.kind in (NAME, NUMBER) and "AND" in f.expected:
        return Explanation(
            "word-operator",
            "`not` is written `!`",
            "write `!(a > b)`",
            f.previous.span(f.file),
        )
    if f.previous.text in ("sum", "forall") and f.token.kind == NAME and f.next_text == "in":
        return Explanation(
            "needs-parentheses",
            f"a `{f.previous.text}` inside an operation needs parentheses",
            f"write `({f.previous.text} i in 1..n : ...)`",
            f.previous.span(f.file),
        )
    if f.previous.text == "if" and "AND" in f.expected:
        return Explanation(
            "word-operator",
            "there is no `if` in expressions",
            "write `condition ? a : b`",
            f.previous.span(f.file),
        )
    return None


def _chained_comparison(f: Misfit) -> Explanation | None:
    spelled = spelling()
    signs = {spelled[k] for k in COMPARISONS}
    if f.token.text in signs and "AND" in f.expected and not COMPARISONS & f.expected:
        return Explanation(
            "chained-comparison",
            "a comparison has two sides",
            "write `a <= b && b <= c` instead of `a <= b <= c`",
        )
    return None


def _implicit_product(f: Misfit) -> Explanation | None:
    p, t = f.previous, f.token
    if p.kind == NUMBER and t.kind in (NAME, "LPAR") and p.end == t.start:
        return Explanation(
            "missing-operator",
            f"an operator is missing between `{p.text}` and `{t.text}`",
            f"write `{p.text}*{'(...)' if t.text == '(' else t.text}`",
            repair=f.put("*", keep=True),
        )
    if p.text == ")" and t.text == "(" and "TIMES" in f.expected:
        return Explanation(
            "missing-operator",
            "an operator is missing between `)` and `(`",
            "write `(a)*(b)`",
            repair=f.put("*", keep=True),
        )
    return None


def _flow_without_d(f: Misfit) -> Explanation | None:
    t = f.token
    if "D" not in f.expected or t.kind != NAME or f.keyword != "diff":
        return None
    if t.text in ITEM_WORDS:
        return None
    message = f"a line of `diff` begins with a derivative, not with `{t.text}`"
    if t.text in LOOPS:
        advice = "give each index an agent of its own: `agent part[i in 1..n] = Part() [...];`"
        return Explanation("flow-without-d", message, advice)
    name = t.text.removesuffix("_dot").removesuffix("dot") or t.text
    if f.next_text == "(" and len(f.following) > 1:
        name = f.following[1].text
    return Explanation("flow-without-d", message, f"write `d({name}) == ...;`")


def _guard_without_when(f: Misfit) -> Explanation | None:
    starts = f.token.kind in OPERAND_STARTS or f.token.text == "!"
    if "WHEN" not in f.expected or not starts or f.token.text in ITEM_WORDS:
        return None
    if f.token.text in ("if", "guard", "where"):
        return Explanation(
            "missing-when",
            "a guard begins with `when`",
            f"write `when` instead of `{f.token.text}`",
            repair=f.put("when"),
        )
    return Explanation(
        "missing-when",
        "a guard begins with `when`",
        "write `when` before the condition",
        repair=f.put("when", keep=True),
    )


def _missing_parentheses(f: Misfit) -> Explanation | None:
    if f.expected != {"LPAR"} or f.previous.kind != NAME:
        return None
    name = f.previous.text
    if f.token.text in ("{", ";", "["):
        return Explanation(
            "missing-parentheses",
            f"`{name}` needs a list of parameters in parentheses, even if it is empty",
            f"write `{name}()`",
            f.previous.span(f.file),
            f.put("(", ")", keep=True),
        )
    return None


def _missing_semicolon(f: Misfit) -> Explanation | None:
    if "SEMICOLON" not in f.expected or not f.fits_after(";"):
        return None
    return Explanation(
        "missing-semicolon",
        f"`;` is missing after `{f.previous.text}`",
        "statements and declarations end with `;`",
        _behind(f),
        f.put(";", keep=True),
    )


def _unknown_word(f: Misfit) -> Explanation | None:
    t = f.token
    if t.kind != NAME:
        return None
    spelled = spelling()
    words = sorted({spelled[k] for k in f.expected if k in spelled and spelled[k].isalpha()})
    if not words:
        return None
    meant = OTHER_WORDS.get(t.text.lower())
    if meant not in words:
        close = get_close_matches(t.text.lower(), words, n=1, cutoff=0.6)
        meant = close[0] if close else None
    expected = in_words(f.expected)
    message = f"unexpected `{t.text}`; expected {expected}"
    if meant:
        return Explanation("unknown-word", message, f"did you mean `{meant}`?", repair=f.put(meant))
    if {"TRANS", "DIFF"} <= f.expected or {"INIT", "HIDE"} <= f.expected:
        hint = (
            "a variable is declared with how it is used: "
            "`read`, `write`, `readwrite` or `private`, e.g. `private real x;`"
        )
        return Explanation("unknown-word", message, hint)
    if len(words) == 1 and f.fits_after(words[0]):
        return Explanation(
            "missing-word",
            f"`{words[0]}` is missing before `{t.text}`",
            repair=f.put(words[0], keep=True),
        )
    return None


def _reserved_name(f: Misfit) -> Explanation | None:
    if f.expected <= {NAME} and f.token.kind in (NUMBER, STRING):
        return Explanation("not-a-name", f"{_named(f.token)} stands where a name is expected")
    return None


def _needless_plus(f: Misfit) -> Explanation | None:
    if f.token.text == "+" and "MINUS" in f.expected and "PLUS" not in f.expected:
        return Explanation("needless-plus", "there is no sign `+`", "leave it out", repair=())
    return None


def _inequality_in_alge(f: Misfit) -> Explanation | None:
    if f.keyword == "alge" and f.token.text in ("<=", ">=", "<", ">") and "EQUAL" in f.expected:
        if f.expected >= COMPARISONS:
            return None
        return Explanation(
            "inequality-in-alge",
            f"unexpected `{f.token.text}`; a line of `alge` is an equation",
            "inequalities belong in `inv { ... }`",
        )
    return None


# Rules of `hints.py` for the frame of a text: brackets, and what stands in which block.


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


_RULES: tuple[Callable[[Misfit], Explanation | None], ...] = (
    *STRUCTURE_RULES,
    _strange_sign,
    _double_sign,
    _equals_sign,
    _inequality_in_alge,
    _in_words,
    _chained_comparison,
    _implicit_product,
    _flow_without_d,
    _guard_without_when,
    _missing_parentheses,
    _missing_semicolon,
    _needless_plus,
    _unknown_word,
    _reserved_name,
)
