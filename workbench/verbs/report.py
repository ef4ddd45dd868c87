"""`workbench report`: verify, simulate, cross-check, and write it all down as HTML."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Any, TypeVar

import click

from workbench.arguments import Chosen, output_options, parameter_option, split_reference
from workbench.claims import chosen_claims
from workbench.console import Console
from workbench.exit_codes import ExitCode
from workbench.files import refuse_same_file, refuse_unwritable, write_whole
from workbench.models.counting import counted
from workbench.option_types import Number
from workbench.progress import Progress
from workbench.verification_options import Wanted, verification_options

if TYPE_CHECKING:
    from workbench.models.automaton import Property
    from workbench.models.model import Model
    from workbench.reports.analysis import Settings

_PLAIN = re.compile(r"[^A-Za-z0-9_.-]+")
_OUTPUT = click.Path(path_type=Path)
_FAILINGS = {
    "internal": ExitCode.INTERNAL_ERROR,
    "rejected": ExitCode.MODEL_REJECTED,
    "unusable": ExitCode.USAGE,
}
"""What the end of a batch says of models without a report, the worst first."""

T = TypeVar("T")


@click.command("report")
@click.argument("models", nargs=-1, required=True, metavar="MODEL[:AGENT]...")
@parameter_option
@verification_options
@click.option(
    "-o",
    "--output",
    type=_OUTPUT,
    required=True,
    metavar="PATH",
    help="The HTML file; with several models a folder, which gets an index.html.",
)
@click.option("--runs", type=click.IntRange(0, 500), default=24, show_default=True)
@click.option(
    "--until",
    type=Number(0, 1e9, min_open=True),
    metavar="TIME",
    help="How long runs are followed; the horizon, else 20, if left out.",
)
@click.option("--junit", type=_OUTPUT, metavar="FILE", help="Also write JUnit XML.")
@click.option("--sarif", type=_OUTPUT, metavar="FILE", help="Also write SARIF 2.1.0.")
@click.option("--arch-csv", type=_OUTPUT, metavar="FILE", help="Also write an ARCH table.")
@output_options
@click.pass_obj
def command(
    console: Console,
    models: tuple[str, ...],
    param: dict[str, Fraction],
    wanted: Wanted,
    output: Path,
    runs: int,
    until: float | None,
    junit: Path | None,
    sarif: Path | None,
    arch_csv: Path | None,
) -> ExitCode:
    """Verify, simulate, cross-check; write HTML reports.

    A page is a single file that needs no network: verdicts, diagram, plots, certificate,
    replay and data. The exit code is that of the worst verdict; 6 if two engines contradict
    each other. Of several models those that are rejected (3), or have no such property (2), are
    named in the index, and the others are reported on.

    \b
    Example:
      workbench report platoon -o report.html
      workbench report platoon platoon_saturated -o out/reports --junit out/junit.xml
    """
    chosen = [Chosen(*split_reference(text), param) for text in models]
    pages = _pages(output, chosen)
    for one, path in zip(chosen, pages, strict=True):
        refuse_same_file(Path(one.reference), path)
    for target in (*pages, junit, sarif, arch_csv):
        if target is not None:
            refuse_unwritable(target)
    batch = _Batch(console, wanted, runs, until, is_alone=len(chosen) == 1)
    found = batch.work(list(zip(chosen, pages, strict=True)))
    if not batch.is_alone:
        _write_index(output, found)
    _write_formats([data for _, data in found], junit, sarif, arch_csv)
    code = _conclude(console, output, found)
    return ExitCode.INTERRUPTED if batch.interrupted else code


@dataclass(frozen=True)
class _Ready:
    """A model that was read, and what a report of it is about."""

    label: str
    model: Model
    claims: tuple[Property, ...]
    settings: Settings


class _Batch:
    """Makes the reports of models one after another. A model that cannot be reported on gets an
    entry that says why, and the others go on; where there is no other, it ends the command."""

    def __init__(
        self, console: Console, wanted: Wanted, runs: int, until: float | None, is_alone: bool
    ):
        self.console, self.wanted, self.runs, self.until = console, wanted, runs, until
        self.is_alone, self.interrupted = is_alone, False

    def work(self, wanted: list[tuple[Chosen, Path]]) -> list[tuple[Path, dict[str, Any]]]:
        """The data of all reports; all models are read before the first is worked on."""
        loaded = [(one, path, self.attempt(one, partial(self.load, one))) for one, path in wanted]
        found: list[tuple[Path, dict[str, Any]]] = []
        for one, path, ready in loaded:
            try:
                found.append((path, self.report(one, path, ready)))
            except KeyboardInterrupt:
                if self.is_alone:
                    raise
                self.interrupted = True
                done = counted(len(found), "report")
                self.console.error(f"interrupted at {one.label}, after {done}")
                break
        return found

    def load(self, one: Chosen) -> _Ready:
        from workbench.reports.analysis import Settings

        model = one.load()
        claims = chosen_claims(model.automaton, self.wanted.names)
        settings = Settings(self.wanted.settings(model.automaton), self.runs, self.until)
        return _Ready(one.label, model, claims, settings)

    def report(self, one: Chosen, path: Path, ready: _Ready | dict[str, Any]) -> dict[str, Any]:
        if isinstance(ready, dict):
            return ready
        self.console.warnings(ready.model.warnings, ready.model.sources)
        return self.attempt(one, lambda: _one_report(self.console, ready, path))

    def attempt(self, one: Chosen, make: Callable[[], T]) -> T | dict[str, Any]:
        """What `make` makes; if it fails and there are other models, what was wrong."""
        from workbench.models.source import ModelError
        from workbench.reports.pages.failed_report import Failing, failed_data

        try:
            return make()
        except (ModelError, click.UsageError) as error:
            if self.is_alone:
                raise
            if isinstance(error, ModelError):
                why, message = Failing.REJECTED, error.render()
            else:
                why, message = Failing.UNUSABLE, error.format_message()
            self.console.error(f"{one.label}: no report\n{indent(message, '  ')}")
        except Exception as error:
            if self.is_alone or isinstance(error, OSError):
                raise
            from workbench.crash import report_crash

            why, message = Failing.INTERNAL, f"internal error: {type(error).__name__}: {error}"
            self.console.error(f"{one.label}: no report")
            report_crash(self.console, error, sys.argv[1:], says_data=False)
        return failed_data(one.label, why, message)


def _pages(output: Path, chosen: Sequence[Chosen]) -> list[Path]:
    """Where each page goes: the file itself, or files of a folder named after the models."""
    if len(chosen) == 1:
        page = output / "index.html" if output.is_dir() else output
        _make_folder(page.parent)
        return [page]
    if output.suffix in (".html", ".htm"):
        raise click.UsageError("several models need a folder: -o FOLDER")
    _make_folder(output)
    pages: list[Path] = []
    for one in chosen:
        stem = _PLAIN.sub("-", Path(one.label).name.removesuffix(".charon")).strip("-.") or "model"
        name, number = f"{stem}.html", 2
        while name == "index.html" or output / name in pages:
            name, number = f"{stem}-{number}.html", number + 1
        pages.append(output / name)
    return pages


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or str(error)
        raise click.UsageError(f"cannot make the folder {str(folder)!r}: {reason}") from error


def _one_report(console: Console, ready: _Ready, path: Path) -> dict[str, Any]:
    from workbench.reports.analysis import analyse
    from workbench.reports.data.report import report_data
    from workbench.reports.pages.report import diagram, render

    command_line = shlex.join(["workbench", *sys.argv[1:]])
    with Progress(console.quiet or console.as_json) as progress:
        findings = analyse(
            ready.model, ready.label, ready.claims, ready.settings, progress, command_line
        )
        progress("drawing")
        data = report_data(findings)
        texts = {name: checked.text for name, checked in findings.certificates.items()}
        write_whole(path, render(data, diagram(findings), texts, findings.recordings))
    if not console.as_json:
        for claim in data["properties"]:
            console.result(f"{ready.label}: {claim['name']!r}: {_in_words(claim)}")
        console.note(f"wrote {path}")
    return data


def _in_words(claim: dict[str, Any]) -> str:
    verdict = claim["verdict"]
    if verdict["outcome"] == "verified":
        scope = verdict["scope"]
        time = "for all time" if scope["kind"] == "unbounded" else f"up to time {scope['horizon']}"
        return (
            f"VERIFIED {time} ({verdict['method']}, {verdict['certificate']['kind']} certificate)"
        )
    if verdict["outcome"] == "falsified":
        return f"FALSIFIED at time {verdict['counterexample']['time']:.6g} ({verdict['method']})"
    return "UNKNOWN\n" + indent(f"{verdict['reason']}\nhint: {verdict['advice']}", "  ")


def _write_index(folder: Path, found: list[tuple[Path, dict[str, Any]]]) -> None:
    from workbench.reports.pages.index import index_page

    entries = [(path.name, data) for path, data in found]
    write_whole(folder / "index.html", index_page(entries))


def _write_formats(
    data: list[dict[str, Any]], junit: Path | None, sarif: Path | None, arch_csv: Path | None
) -> None:
    from workbench.reports import result_formats

    if junit is not None:
        write_whole(junit, result_formats.junit(data))
    if sarif is not None:
        write_whole(sarif, json.dumps(result_formats.sarif(data), indent=2) + "\n")
    if arch_csv is not None:
        write_whole(arch_csv, result_formats.arch_csv(data))


def _conclude(console: Console, output: Path, found: list[tuple[Path, dict[str, Any]]]) -> ExitCode:
    from workbench.reports.data.report import overall

    worst = [overall(data) for _, data in found]
    if console.as_json:
        console.data(output=str(output), reports=[_summary(path, data) for path, data in found])
    if "contradiction" in worst:
        for _, data in found:
            for one in data["crosscheck"]["contradictions"][:20]:
                console.error(f"error: engines contradict each other: {one['sentence']}")
        console.error("error: engines contradict each other: no verdict above can be trusted")
        return ExitCode.INTERNAL_ERROR
    failings = {data["error"]["kind"] for _, data in found if data.get("error")}
    for why, code in _FAILINGS.items():
        if why in failings:
            return code
    if "falsified" in worst:
        return ExitCode.FALSIFIED
    return ExitCode.UNKNOWN if "unknown" in worst else ExitCode.OK


def _summary(path: Path, data: dict[str, Any]) -> dict[str, Any]:
    from workbench.reports.data.report import overall

    if data.get("error"):
        return {
            "page": None,
            "model": data["model"]["label"],
            "outcome": overall(data),
            "error": data["error"],
        }
    return {
        "page": str(path),
        "model": data["model"]["label"],
        "outcome": overall(data),
        "contradictions": [c["sentence"] for c in data["crosscheck"]["contradictions"]],
        "properties": [p["verdict"] for p in data["properties"]],
    }
