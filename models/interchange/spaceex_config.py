"""SpaceEx configuration files: `key = value` lines beside the model.

A value may stand in quotes and then go on over several lines; `#` starts a comment outside
of quotes. Four keys say what the model means here (`system`, `initially`, `forbidden`,
`time-horizon`); those that steer SpaceEx's own algorithms and output are known and passed
over; any other key is passed over with a warning.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from workbench.models.interchange.spaceex_components import refusal
from workbench.models.source import Diagnostic, Severity, Span

MAX_CHARACTERS = 16 * 1024 * 1024

MEANING = frozenset({"system", "initially", "forbidden", "time-horizon"})

STEERING = frozenset(
    {
        "abs-err",
        "bounding-box",
        "clustering",
        "compute-sharp-bounds",
        "config-file",
        "constraint-passing",
        "directions",
        "distribution",
        "error-model",
        "flowcut-method",
        "flowpipe-simu-init-sampling-points",
        "flowpipe-tolerance",
        "flowpipe-tolerance-abs",
        "flowpipe-tolerance-rel",
        "intersection-error",
        "intersection-method",
        "iter-max",
        "local-time-horizon",
        "lp-solver",
        "map-zero-duration-jump-sets",
        "maximum-time-step",
        "merge-passed",
        "minbrak-type",
        "minimum-time-step",
        "model-file",
        "nonlinear-linearization-bound",
        "ode-abs-tol",
        "ode-rel-tol",
        "ode-solver",
        "output-error",
        "output-file",
        "output-format",
        "output-system-file",
        "output-variables",
        "refine-linearization",
        "rel-err",
        "sampling-time",
        "scenario",
        "set-aggregation",
        "simu-init-sampling-points",
        "simu-max-jumps",
        "simu-sampling-points",
        "time-inhomogeneous",
        "verbosity",
        "version",
    }
)
"""Keys that change how SpaceEx computes or prints, not what the model is."""

_ASSIGNMENT = re.compile(r"\s*([A-Za-z][\w.-]*)\s*=\s*", re.ASCII)


@dataclass(frozen=True, slots=True)
class ConfigEntry:
    """A value and where it stands, so that errors in a formula point into the file."""

    text: str
    file: str
    line: int
    column: int

    @property
    def span(self) -> Span:
        """The first character of the value."""
        return self.place(0, 1)

    def place(self, start: int, end: int) -> Span:
        """The region of the file that holds `text[start:end]`."""
        line, column = self._position(start)
        end_line, end_column = self._position(max(start, end - 1))
        return Span(self.file, line, column, end_line, end_column + 1)

    def _position(self, offset: int) -> tuple[int, int]:
        before = self.text[:offset]
        breaks = before.count("\n")
        if not breaks:
            return self.line, self.column + offset
        return self.line + breaks, offset - before.rfind("\n")


@dataclass(frozen=True, slots=True)
class Configuration:
    """What a configuration says about the model."""

    system: ConfigEntry | None = None
    initially: ConfigEntry | None = None
    forbidden: ConfigEntry | None = None
    horizon: ConfigEntry | None = None
    warnings: tuple[Diagnostic, ...] = ()


def read_config(text: str, file: str) -> Configuration:
    """The entries of a configuration file; of repeated keys the last one counts."""
    if len(text) > MAX_CHARACTERS:
        message = f"the configuration has {len(text)} characters; the limit is {MAX_CHARACTERS}"
        raise refusal("config-too-large", message, None)
    entries = dict(_entries(text, file))
    warnings = tuple(
        Diagnostic(
            "unknown-option",
            f"the option {key!r} is not known and was passed over",
            entry.span,
            severity=Severity.WARNING,
        )
        for key, entry in entries.items()
        if key not in MEANING and key not in STEERING
    )
    given = {k: e for k, e in entries.items() if e.text.strip()}
    return Configuration(
        given.get("system"),
        given.get("initially"),
        given.get("forbidden"),
        given.get("time-horizon"),
        warnings,
    )


def _entries(text: str, file: str) -> list[tuple[str, ConfigEntry]]:
    found: list[tuple[str, ConfigEntry]] = []
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    index = 0
    while index < len(lines):
        line = lines[index]
        start = index
        index += 1
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        match = _ASSIGNMENT.match(line)
        if match is None:
            raise refusal(
                "config-syntax",
                "expected `key = value`",
                Span(file, start + 1, 1, start + 1, len(line) + 1),
                "a value that goes on over several lines must stand in double quotes",
            )
        value = line[match.end() :]
        quote = value[:1]
        if quote in ('"', "'"):
            body = [value[1:]]
            while quote not in body[-1] and index < len(lines):
                body.append(lines[index])
                index += 1
            if quote not in body[-1]:
                raise refusal(
                    "config-syntax",
                    "the quoted value is never closed",
                    Span(file, start + 1, match.end() + 1, start + 1, match.end() + 2),
                )
            content, _, rest = body[-1].partition(quote)
            if rest.strip() and not rest.lstrip().startswith("#"):
                column = len(body[-1]) - len(rest) + 1 + (match.end() + 1 if len(body) == 1 else 0)
                raise refusal(
                    "config-syntax",
                    "unexpected text after the closing quote",
                    Span(file, index, column, index, column + len(rest)),
                )
            body[-1] = content
            entry = ConfigEntry("\n".join(body), file, start + 1, match.end() + 2)
        else:
            entry = ConfigEntry(value.partition("#")[0].rstrip(), file, start + 1, match.end() + 1)
        found.append((match[1], entry))
    return found
