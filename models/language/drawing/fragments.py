"""Texts that a visual edit brings, checked to be what they should be and nothing more.

Each is read inside a small model of its own, so that it can neither end the block that it is for
nor begin another. What is wrong with it is told at its place in the text that was given.
"""

from __future__ import annotations

import re
from dataclasses import replace

from workbench.models.automaton import TIME
from workbench.models.expressions.dialect import FUNCTIONS
from workbench.models.language import syntax
from workbench.models.language.drawing.sources import SourceText, block
from workbench.models.language.format import on_one_line
from workbench.models.language.grammar import grammar
from workbench.models.language.lexical import END, tokens
from workbench.models.language.parse import parse_leniently
from workbench.models.source import Diagnostic, ModelError, Span

_NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9]*\Z")

_AROUND = {
    "do": ("mode M() {\ntrans from init to m do {\n", "\n}\n}"),
    "init": ("agent M() {\ninit {\n", "\n}\n}"),
    "inv": ("mode M() {\ninv {\n", "\n}\n}"),
    "diff": ("mode M() {\ndiff {\n", "\n}\n}"),
    "alge": ("mode M() {\nalge {\n", "\n}\n}"),
    "when": ("mode M() {\ntrans from init to m when\n", "\n;}"),
    "arguments": ("mode M() {\nmode m = N(\n", "\n);\n}"),
    "declaration": ("mode M() {\n", "\n;}"),
}
"""The model that a text is read in, by what it is for."""


def refusal(
    code: str, message: str, span: Span | None = None, hint: str | None = None
) -> ModelError:
    """The error of an edit that cannot be done."""
    return ModelError(Diagnostic(code, message, span, hint))


def new_name(name: str) -> str:
    """The name, if something new may be called so."""
    if not _NAME.match(name):
        hint = "a name has letters, digits and `_`, and no digit first"
        raise refusal("bad-name", f"`{name[:40]}` is not a name", hint=hint)
    if name in grammar().keywords or name in FUNCTIONS or name == TIME:
        raise refusal("bad-name", f"`{name}` has a meaning in the language", hint="choose another")
    return name


def expression(text: str) -> str:
    """A guard, on one line."""
    item = _only_item(text, "when")
    if not isinstance(item, syntax.TransitionBlock) or "{" in _row(text):
        raise _misfit(text, "a guard", "one condition")
    return _row(text)


def statements(text: str, keyword: str) -> list[str]:
    """The statements of a block (`diff`, `alge`, `inv`, `init`, `do`), each on one line."""
    if not text.strip():
        return []
    item = _only_item(text, keyword)
    before, after = _AROUND[keyword]
    whole = SourceText("", before + text + after)
    found = block(whole, whole.region(replace(item.span, file="")))
    if found is None or found.braces[1] != len(whole.text) - len("\n}"):
        raise _misfit(text, f"what stands in `{keyword}`", "statements with semicolons between")
    return [on_one_line(whole.tokens(region)) for region in found.statements]


def arguments(text: str) -> str:
    """The arguments of a part on one line, without parentheses around them."""
    item = _only_item(text, "arguments")
    if not isinstance(item, syntax.InstanceDeclaration) or item.renaming:
        raise _misfit(text, "arguments", "values with commas between them")
    return _row(text)


def declaration(text: str) -> str:
    """The declaration of one variable on one line, without the semicolon."""
    item = _only_item(text, "declaration")
    if not isinstance(item, syntax.VariableDeclaration) or len(item.names) != 1:
        raise _misfit(text, "a variable", "its access, type and name, and perhaps a first value")
    return _row(text).removesuffix(";")


def _row(text: str) -> str:
    return on_one_line(t for t in tokens(text) if t.kind != END)


def _only_item(text: str, sort: str) -> syntax.AgentItem | syntax.ModeItem:
    """The one item that a text makes of its model; raises `ModelError` with what is wrong."""
    before, after = _AROUND[sort]
    name, lines = f"<{sort}>", before.count("\n")
    parsed = parse_leniently(before + text + after, name)
    if parsed.diagnostics:
        last = text.count("\n") + 1
        raise ModelError(
            *(
                _moved(d, lines, last, len(text.rpartition("\n")[2]) + 1)
                for d in parsed.diagnostics
            ),
            sources={name: text},
        )
    definitions = parsed.source.definitions
    if len(definitions) == 1:
        (only,) = definitions
        if (
            isinstance(only, syntax.AgentDefinition | syntax.ModeDefinition)
            and len(only.items) == 1
        ):
            return only.items[0]
    raise _misfit(text, "the text", "no more than what it is for")


def _moved(diagnostic: Diagnostic, lines: int, last: int, end: int) -> Diagnostic:
    """A finding where it stands in the text that was given, at its end if behind it."""
    span = diagnostic.span
    if span is None:
        return diagnostic
    line = span.line - lines
    if line > last:
        span = Span(span.file, last, end, last, end)
    else:
        span = Span(span.file, max(line, 1), span.column, max(line, 1), span.end_column)
    return replace(diagnostic, span=span)


def _misfit(text: str, what: str, wanted: str) -> ModelError:
    return refusal("bad-text", f"{what} `{text.strip()[:60]}` should be {wanted}")
