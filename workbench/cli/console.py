"""Where output goes: results to stdout, everything else to stderr.

Colours appear only on a terminal, and never when `NO_COLOR` is set.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TextIO

import click

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from workbench.models.source import Diagnostic, ModelError, Span

_HEADLINE = re.compile(r"^(?P<place>.*?)(?P<severity>error|warning): (?P<rest>.*)$")
_CARETS = re.compile(r"^(?P<margin> +\| +)(?P<carets>\^+)$")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_VERDICT_COLOURS = {
    "VERIFIED": "green",
    "ACCEPTED": "green",
    "REFINES": "green",
    "FALSIFIED": "red",
    "REJECTED": "red",
    "REFUTED": "red",
    "UNKNOWN": "yellow",
    "NOT PROVED": "yellow",
}
_VERDICT = re.compile(rf"\b({'|'.join(_VERDICT_COLOURS)})\b")


@dataclass
class Console:
    """The choices of one command about its output, which options set, when it was begun
    (`time.monotonic`), and the standard output, which results alone go to."""

    verb: str = ""
    quiet: bool = False
    as_json: bool = False
    debug: bool = False
    begun: float = field(default_factory=time.monotonic)
    out: TextIO = field(default_factory=lambda: sys.stdout)

    def result(self, text: str) -> None:
        """Print a part of the result; verdict words get their colours."""
        shown = _VERDICT.sub(_in_verdict_colour, harmless(text))
        click.echo(shown, self.out, color=_colours(self.out))

    def raw(self, text: str) -> None:
        """Print a result that is itself a document, unchanged and without a newline."""
        click.echo(text, self.out, nl=False)

    def data(self, **fields: Any) -> None:
        """Print the result as one JSON object with a versioned schema."""
        self.raw(self.as_data(**fields))

    def as_data(self, **fields: Any) -> str:
        """The result as one JSON object and a newline."""
        return json.dumps({"schema": f"workbench.{self.verb}/1", **fields}, indent=2) + "\n"

    def note(self, text: str) -> None:
        """Say something that is not the result."""
        if not self.quiet:
            self.error(text)

    def error(self, text: str) -> None:
        """Say what went wrong."""
        click.echo(coloured(harmless(text)), err=True, color=_colours(sys.stderr))

    def warnings(self, found: Iterable[Diagnostic], sources: Mapping[str, str]) -> None:
        """Print the warnings about an accepted model."""
        for diagnostic in found:
            source = sources.get(diagnostic.span.file) if diagnostic.span else None
            self.note(diagnostic.render(source))

    def rejection(self, error: ModelError) -> None:
        """Say why a model was rejected."""
        if self.as_json:
            self.data(outcome="rejected", diagnostics=diagnostics_data(error.diagnostics))
        else:
            self.error(error.render())
            count = len(error.diagnostics)
            if count > 1:
                self.note(f"{count} errors")


def diagnostics_data(found: Iterable[Diagnostic]) -> list[dict[str, Any]]:
    """Diagnostics as plain data."""
    return [
        {
            "code": d.code,
            "severity": str(d.severity),
            "message": d.message,
            "hint": d.hint,
            "span": _span_data(d.span),
        }
        for d in found
    ]


def _span_data(span: Span | None) -> dict[str, Any] | None:
    if span is None:
        return None
    return {
        "file": span.file,
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
    }


def harmless(text: str) -> str:
    """Text whose control characters cannot move the cursor or change a terminal's state."""
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)


def coloured(text: str) -> str:
    """Diagnostics with their severity, carets and hints in colour."""
    return "\n".join(map(_coloured_line, text.split("\n")))


def _coloured_line(line: str) -> str:
    if match := _HEADLINE.match(line):
        colour = "red" if match["severity"] == "error" else "yellow"
        word = click.style(f"{match['severity']}:", fg=colour, bold=True)
        return f"{click.style(match['place'], bold=True)}{word} {match['rest']}"
    if match := _CARETS.match(line):
        return match["margin"] + click.style(match["carets"], fg="red", bold=True)
    if line.startswith("  hint: "):
        return "  " + click.style("hint:", fg="cyan") + line[len("  hint:") :]
    return line


def _in_verdict_colour(match: re.Match[str]) -> str:
    return click.style(match[0], fg=_VERDICT_COLOURS[match[0]], bold=True)


def _colours(stream: TextIO) -> bool:
    """Whether a stream is a terminal whose user has not asked for plain text."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return stream.isatty()
