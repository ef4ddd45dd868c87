"""What was decided about several models: a table, and what the whole amounts to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from textwrap import indent
from typing import TYPE_CHECKING, Any

import click

from workbench.cli.exit_codes import ExitCode
from workbench.models.counting import counted

if TYPE_CHECKING:
    from workbench.api.verdicts import Verdict
    from workbench.cli.console import Console
    from workbench.models.source import ModelError

_CODES = {
    "verified": ExitCode.OK,
    "unknown": ExitCode.UNKNOWN,
    "falsified": ExitCode.FALSIFIED,
}
_WORST_FIRST = (
    ExitCode.INTERRUPTED,
    ExitCode.MODEL_REJECTED,
    ExitCode.USAGE,
    ExitCode.FALSIFIED,
    ExitCode.UNKNOWN,
)


@dataclass
class Decided:
    """The verdicts about one model, each with its data and with what was expected, if something
    was; or why there are none. `interrupted` is the property that the user did not wait for."""

    label: str
    verdicts: list[tuple[Verdict, dict[str, Any], str | None]] = field(default_factory=list)
    interrupted: str | None = None
    failing: ExitCode | None = None
    message: str = ""

    def data(self) -> dict[str, Any]:
        """Everything as plain data."""
        data: dict[str, Any] = {"model": self.label, "results": []}
        if self.failing is not None:
            data["error"] = self.message
        if self.interrupted is not None:
            data["interrupted"] = self.interrupted
        for _, found, expected in self.verdicts:
            data["results"].append(found | ({} if expected is None else {"expected": expected}))
        return data

    def codes(self) -> list[ExitCode]:
        """What each part amounts to: a verdict that was expected is a success."""
        found = [code_of(verdict.outcome, expected) for verdict, _, expected in self.verdicts]
        found += [self.failing] if self.failing is not None else []
        return [*found, *([ExitCode.INTERRUPTED] if self.interrupted is not None else [])]


def failed(console: Console, label: str, error: ModelError | click.UsageError) -> Decided:
    """A model of several that could not be decided, told at once."""
    if isinstance(error, click.UsageError):
        code, message = ExitCode.USAGE, error.format_message()
    else:
        code, message = ExitCode.MODEL_REJECTED, error.render()
    if not console.as_json:
        console.error(f"{label}: not decided\n{indent(message, '  ')}")
    return Decided(label, failing=code, message=message)


def code_of(found: str, expected: str | None) -> ExitCode:
    """What an outcome amounts to: one that was expected is a success, and a proof of what was
    expected to fail is none."""
    if found == expected:
        return ExitCode.OK
    code = _CODES[found]
    return ExitCode.UNKNOWN if expected is not None and code is ExitCode.OK else code


def conclusion(decided: Sequence[Decided]) -> ExitCode:
    """The worst of all."""
    found = {code for one in decided for code in one.codes()}
    return next((code for code in _WORST_FIRST if code in found), ExitCode.OK)


def summary_table(decided: Sequence[Decided]) -> str:
    """A line for each property of each model, and how many there are of each sort."""
    rows = [row for one in decided for row in _rows(one)]
    widths = [max(len(row[i]) for row in rows) for i in range(4)]
    lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)) for row in rows]
    counts: dict[str, int] = {}
    for one in decided:
        for verdict, _, _ in one.verdicts:
            counts[verdict.outcome] = counts.get(verdict.outcome, 0) + 1
    total = sum(counts.values())
    told = [f"{counts[word]} {word}" for word in _CODES if word in counts]
    undecided = sum(one.failing is not None for one in decided)
    told += [f"{counted(undecided, 'model')} not decided"] if undecided else []
    wrong = sum(code is not ExitCode.OK for one in decided for code in one.codes())
    if any(expected is not None for one in decided for *_, expected in one.verdicts):
        told.append("all as expected" if not wrong else f"{wrong} not as expected")
    head = f"{counted(total, 'property')} of {counted(len(decided), 'model')}"
    return "\n".join([*(line.rstrip() for line in lines), f"{head}: {', '.join(told)}"])


def _rows(one: Decided) -> list[tuple[str, str, str, str]]:
    if one.failing is not None:
        return [(one.label, "", "not decided", "")]
    rows = []
    for verdict, _, expected in one.verdicts:
        word = verdict.in_brief
        if expected is not None and expected != verdict.outcome:
            word += f" (expected: {expected})"
        elif expected not in (None, "verified"):
            word += " (as expected)"
        rows.append((one.label, verdict.name, word, f"{verdict.method}, {verdict.seconds:.1f} s"))
    if one.interrupted is not None:
        rows.append((one.label, one.interrupted, "interrupted", ""))
    return rows
