"""`workbench report`: verify, simulate, cross-check, and write it all down as HTML."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Any, TypeVar

import click

from workbench.cli.arguments import asking, output_options
from workbench.cli.console import Console
from workbench.cli.decided import code_of
from workbench.cli.exit_codes import ExitCode
from workbench.cli.files import refuse_same_file, refuse_unwritable, write_whole
from workbench.cli.limits import end_in_time
from workbench.cli.option_types import Number
from workbench.cli.progress import Progress
from workbench.cli.project import Entry, models_argument
from workbench.cli.supervision import allow
from workbench.cli.verification_options import Wanted, verification_options
from workbench.cli.watching import watchable
from workbench.models.counting import counted
from workbench.models.source import ModelError

if TYPE_CHECKING:
    from workbench.api.model import Model
    from workbench.api.reports import Failing, Report, Reports

_PAGES = (".html", ".htm")
"""How files end that are pages."""

_OUTPUT = click.Path(path_type=Path)
_FAILINGS = {
    "internal": ExitCode.INTERNAL_ERROR,
    "rejected": ExitCode.MODEL_REJECTED,
    "unusable": ExitCode.USAGE,
}
"""What the end of a batch says of models without a report, the worst first."""

T = TypeVar("T")


@click.command("report")
@watchable
@models_argument
@verification_options
@click.option(
    "-o",
    "--output",
    type=_OUTPUT,
    metavar="PATH",
    help="A file that ends in .html, or else a folder: of one model it gets index.html, of several "
    "a page for each besides.  [required, unless the project names it]",
)
@click.option("--runs", type=click.IntRange(0, 500), default=24, show_default=True)
@click.option(
    "--until",
    type=Number(0, 1e9, min_open=True),
    metavar="TIME",
    help="How long runs are followed; the horizon, else 20, if left out.",
)
@click.option(
    "--plot-vars",
    metavar="NAMES",
    help="What the picture of a run shows: x,y,z; x+y are in one panel, x:y is a phase plot. "
    "[default: its real variables]",
)
@click.option("--junit", type=_OUTPUT, metavar="FILE", help="Also write JUnit XML.")
@click.option("--sarif", type=_OUTPUT, metavar="FILE", help="Also write SARIF 2.1.0.")
@click.option("--arch-csv", type=_OUTPUT, metavar="FILE", help="Also write an ARCH table.")
@output_options
@click.pass_obj
def command(console: Console, entries: Sequence[Entry], options: dict[str, Any]) -> ExitCode:
    """Verify, simulate, cross-check; write HTML reports.

    A page is a single file that needs no network: verdicts, diagram, plots, certificate,
    replay and data. The exit code is that of the worst verdict; 6 if two engines contradict
    each other. Of several models those that are rejected (3), or have no such property (2), are
    named in the index, and the others are reported on. Without a model, the report is about the
    project (workbench.toml, here or above).

    \b
    Example:
      workbench report platoon -o report.html
      workbench report platoon platoon_weak -o out/reports --junit out/junit.xml
    """
    output: Path | None = options["output"]
    if output is None:
        raise click.UsageError("say where to write the report: -o FILE.html, or -o FOLDER")
    pages = _pages(output, [entry.label for entry in entries])
    formats = [options[name] for name in ("junit", "sarif", "arch_csv")]
    for entry, path in zip(entries, pages, strict=True):
        refuse_same_file(Path(entry.chosen.reference), path)
    for target in (*pages, *formats):
        if target is not None:
            refuse_unwritable(target)
    shown = [name.strip() for name in (options["plot_vars"] or "").split(",") if name.strip()]
    batch = _Batch(console, options["runs"], options["until"], shown, is_alone=len(entries) == 1)
    found = batch.work(list(zip(entries, pages, strict=True)))
    if batch.interrupted:
        console.error("no index and no table is written: they would be about a part of the models")
    else:
        if not batch.is_alone:
            write_whole(output / "index.html", found.index_page)
        _write_formats(found, *formats)
    code = _conclude(console, output, list(zip(entries, pages, found, strict=False)))
    return ExitCode.INTERRUPTED if batch.interrupted else code


class _Batch:
    """Makes the reports of models one after another. A model that cannot be reported on gets an
    entry that says why, and the others go on; where there is no other, it ends the command."""

    def __init__(
        self,
        console: Console,
        runs: int,
        until: float | None,
        shown: Sequence[str],
        is_alone: bool,
    ):
        self.console, self.runs, self.until, self.shown = console, runs, until, shown
        self.is_alone, self.interrupted = is_alone, False

    def work(self, wanted: list[tuple[Entry, Path]]) -> Reports:
        """All reports; all models are read before the first is worked on."""
        from workbench.api.reports import Report, Reports

        opened: list[Model | Report] = []
        for one, _ in wanted:
            limit = Wanted.of(one.options).time_limit
            end_in_time(self.console, one.label, self._begun(), limit)
            opened.append(self.attempt(one, one.open))
        found: list[Report] = []
        for (one, path), model in zip(wanted, opened, strict=True):
            try:
                if isinstance(model, Report):
                    found.append(model)
                else:
                    make = partial(self.report, one, path, model)
                    found.append(self.attempt(one, make))
            except KeyboardInterrupt:
                if self.is_alone:
                    raise
                self.interrupted = True
                done = counted(len(found), "report")
                self.console.error(f"interrupted at {one.label}, after {done}")
                break
        return Reports(tuple(found))

    def _begun(self) -> float:
        """When the work was begun for which there is a limit; of several models, now."""
        return self.console.begun if self.is_alone else time.monotonic()

    def report(self, one: Entry, path: Path, model: Model) -> Report:
        """The report of a model, written."""
        console, label, wanted = self.console, one.label, Wanted.of(one.options)
        begun, claims = self._begun(), wanted.claims(model)
        words = _LastWords(console, label, path, begun, wanted.time_limit * max(1, len(claims)))
        console.warnings(model.warnings, model.sources)
        with Progress(console.quiet or console.as_json) as progress:
            found = model.report(
                None,
                *claims,
                **wanted.settings,
                runs=self.runs,
                until=self.until,
                plot_vars=self.shown,
                label=label,
                command=shlex.join(["workbench", *sys.argv[1:]]),
                begun=begun,
                decided=words.add,
                progress=progress,
            )
        write_whole(path, found.html)
        words.forget()
        if not console.as_json:
            for claim, verdict in zip(found.data["properties"], found.verdicts, strict=True):
                but = f"; but {verdict.missing}" if verdict.missing else ""
                head, *below = _in_words(claim, one.options["details"]).split("\n")
                console.result("\n".join([f"{label}: {claim['name']!r}: {head}{but}", *below]))
        return found

    def attempt(self, one: Entry, make: Callable[[], T]) -> T | Report:
        """What `make` makes; if it fails and there are other models, what was wrong."""
        from workbench.api.reports import failed

        why: Failing
        try:
            with asking():
                return make()
        except (ModelError, click.UsageError) as error:
            if self.is_alone:
                raise
            if isinstance(error, ModelError):
                why, message = "rejected", error.render()
            else:
                why, message = "unusable", error.format_message()
            self.console.error(f"{one.label}: no report\n{indent(message, '  ')}")
        except Exception as error:
            if self.is_alone or isinstance(error, OSError):
                raise
            from workbench.cli.crash import report_crash

            why, message = "internal", f"internal error: {type(error).__name__}: {error}"
            self.console.error(f"{one.label}: no report")
            report_crash(self.console, error, sys.argv[1:], says_data=False)
        return failed(one.label, why, message)


class _LastWords:
    """What is said of a report that does not end in time: the verdicts, and that there is no
    page."""

    def __init__(self, console: Console, label: str, path: Path, begun: float, limit: float):
        self.console, self.label, self.path = console, label, path
        self.begun, self.limit = begun, limit
        self.known: dict[str, str] = {}
        self._allow()

    def add(self, name: str, outcome: str) -> None:
        """A property is decided."""
        self.known[name] = outcome
        self._allow()

    def forget(self) -> None:
        """There is a page: what is said of it is said by others."""
        allow(self.begun, self.limit, "")

    def _allow(self) -> None:
        why = f"it took more than {self.limit:g} s (--time-limit), so {self.path} is not written"
        if self.console.as_json:
            said = self.console.as_data(
                outcome="unknown", model=self.label, reason=why, known=self.known
            )
        else:
            lines = [f"{name!r}: {outcome}" for name, outcome in self.known.items()]
            said = "".join(f"{self.label}: {line}\n" for line in [*lines, f"UNKNOWN: {why}"])
        allow(self.begun, self.limit, said)


def _pages(output: Path, labels: Sequence[str]) -> list[Path]:
    """Where each page goes: the file itself, or files of a folder named after the models."""
    from workbench.api.reports import page_names

    if len(labels) == 1:
        is_device = output.exists() and not (output.is_dir() or output.is_file())
        is_page = is_device or (output.suffix in _PAGES and not output.is_dir())
        page = output if is_page else output / "index.html"
        _make_folder(page.parent)
        return [page]
    if output.suffix in _PAGES:
        raise click.UsageError("several models need a folder: -o FOLDER")
    _make_folder(output)
    return [output / name for name in page_names(labels)]


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or str(error)
        raise click.UsageError(f"cannot make the folder {str(folder)!r}: {reason}") from error


def _in_words(claim: dict[str, Any], details: bool) -> str:
    verdict = claim["verdict"]
    if verdict["outcome"] == "verified":
        scope = verdict["scope"]
        time = "for all time" if scope["kind"] == "unbounded" else f"up to time {scope['horizon']}"
        return (
            f"VERIFIED {time} ({verdict['method']}, {verdict['certificate']['kind']} certificate)"
        )
    if verdict["outcome"] == "falsified":
        return f"FALSIFIED at time {verdict['counterexample']['time']:.6g} ({verdict['method']})"
    lines = [verdict["reason"], *(f"known: {line}" for line in verdict["known"])]
    lines += verdict["details"] if details else []
    return "UNKNOWN\n" + indent("\n".join([*lines, f"hint: {verdict['advice']}"]), "  ")


def _write_formats(
    found: Reports, junit: Path | None, sarif: Path | None, arch_csv: Path | None
) -> None:
    if junit is not None:
        write_whole(junit, found.junit())
    if sarif is not None:
        write_whole(sarif, found.sarif())
    if arch_csv is not None:
        write_whole(arch_csv, found.arch_csv())


def _conclude(
    console: Console, output: Path, found: Sequence[tuple[Entry, Path, Report]]
) -> ExitCode:
    """The worst of all; the last of the models may be missing, if it was interrupted."""
    if console.as_json:
        listed = [_summary(path, report) for _, path, report in found]
        console.data(output=str(output), reports=listed)
    if any(report.outcome == "contradiction" for _, _, report in found):
        for _, _, report in found:
            for sentence in report.contradictions[:20]:
                console.error(f"error: engines contradict each other: {sentence}")
        console.error("error: engines contradict each other: no verdict above can be trusted")
        return ExitCode.INTERNAL_ERROR
    failings = {report.failing for _, _, report in found}
    for why, code in _FAILINGS.items():
        if why in failings:
            return code
    codes = {
        code_of(verdict.outcome, entry.expects(verdict.name))
        for entry, _, report in found
        for verdict in report.verdicts
    }
    return next((c for c in (ExitCode.FALSIFIED, ExitCode.UNKNOWN) if c in codes), ExitCode.OK)


def _summary(path: Path, report: Report) -> dict[str, Any]:
    told = {"model": report.model, "outcome": report.outcome}
    if report.failing is not None:
        return {"page": None, **told, "error": report.data["error"]}
    return {
        "page": str(path),
        **told,
        "contradictions": list(report.contradictions),
        "properties": [p["verdict"] for p in report.data["properties"]],
    }
