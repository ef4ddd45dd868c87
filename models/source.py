"""Where things stand in a model's text, and what is wrong there.

A `Span` is a region of a source file; a `Diagnostic` is one message about it.
`ModelError` carries every diagnostic of a failed load: it is the only exception
that user input may raise out of `models`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


@dataclass(frozen=True, slots=True)
class Span:
    """A region of text; lines and columns count from 1, the end is exclusive."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class Edit:
    """A region of a text, and what is to stand there instead."""

    span: Span
    text: str


class Severity(StrEnum):
    """An error rejects the model; a warning does not."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One message to the author of a model.

    `code` is a stable kebab-case word (`unknown-name`, `two-writers`) that tests and
    tools may rely on; the message and hint are sentences for people. `fix` is an edit that
    does what the hint says, where that is clear.
    """

    code: str
    message: str
    span: Span | None = None
    hint: str | None = None
    severity: Severity = Severity.ERROR
    fix: Edit | None = None

    def render(self, source: str | None = None) -> str:
        """The message with its place and, given the file's text, the line underlined."""
        place = f"{self.span}: " if self.span else ""
        parts = [f"{place}{self.severity}: {_clipped(self.message)} [{self.code}]"]
        if self.span and source is not None:
            parts.extend(_underlined(self.span, source))
        if self.hint:
            parts.append(f"  hint: {_clipped(self.hint)}")
        return "\n".join(parts)


def _clipped(text: str, most: int = 2000) -> str:
    """The text; the middle of a very long one (it may quote what a user wrote) is left out."""
    return text if len(text) <= most else f"{text[: most // 2]} ... {text[-most // 2 :]}"


def _underlined(span: Span, source: str) -> list[str]:
    """The source line of a span with carets beneath it; long lines are windowed."""
    lines = source.split("\n")
    if not 1 <= span.line <= len(lines):
        return []
    text = lines[span.line - 1].rstrip("\r").replace("\t", " ")
    start = span.column - 1
    stop = span.end_column - 1 if span.end_line == span.line else len(text)
    width = max(1, min(stop, len(text)) - start)
    if len(text) > 120:
        first = max(0, start - 40)
        text, start = text[first : first + 120], start - first
        width = min(width, 120 - start)
    text = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
    number = str(span.line)
    return [f"  {number} | {text}", f"  {' ' * len(number)} | {' ' * start}{'^' * width}"]


class ModelError(Exception):
    """A model could not be used; `diagnostics` says why, in source order."""

    def __init__(self, *diagnostics: Diagnostic, sources: dict[str, str] | None = None):
        super().__init__("; ".join(d.message for d in diagnostics))
        self.diagnostics = diagnostics
        self.sources = sources or {}

    def __reduce__(self) -> tuple[Callable[..., ModelError], tuple[Any, ...]]:
        return _model_error, (self.diagnostics, self.sources)

    def render(self) -> str:
        """Every diagnostic with its source line, one after another."""
        return "\n".join(
            d.render(self.sources.get(d.span.file) if d.span else None) for d in self.diagnostics
        )

    def __str__(self) -> str:
        return self.render()


def _model_error(diagnostics: tuple[Diagnostic, ...], sources: dict[str, str]) -> ModelError:
    """The error as it arrives from another process."""
    return ModelError(*diagnostics, sources=sources)
