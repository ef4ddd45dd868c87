"""`workbench verify`: decide the properties of a model, with evidence."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from workbench.cli.arguments import asking, output_options
from workbench.cli.console import Console
from workbench.cli.decided import Decided, conclusion, failed, summary_table
from workbench.cli.exit_codes import ExitCode
from workbench.cli.files import write_whole
from workbench.cli.option_types import OutputFile
from workbench.cli.progress import Progress
from workbench.cli.project import Entry, models_argument
from workbench.cli.supervision import allow
from workbench.cli.verification_options import Wanted, verification_options
from workbench.cli.watching import watchable
from workbench.models.source import ModelError

if TYPE_CHECKING:
    from workbench.api.verdicts import Verdict


@click.command("verify")
@watchable
@models_argument
@verification_options
@click.option(
    "--graph",
    "graph_file",
    type=OutputFile(),
    metavar="FILE",
    help="Where to write the abstract states (.svg, .dot or .json; --method abstraction).",
)
@click.option(
    "--certificate",
    type=OutputFile(),
    metavar="FILE",
    help="Where to write the certificate of a verified property (one property only).",
)
@click.option(
    "--trace",
    "trace_file",
    type=OutputFile(),
    metavar="FILE",
    help="Where to write the counterexample of a falsified property, or a violating run that could"
    " not be confirmed (one property only).",
)
@output_options
@click.pass_obj
def command(console: Console, entries: Sequence[Entry], options: dict[str, Any]) -> ExitCode:
    """Prove or refute the properties of models.

    VERIFIED comes with a certificate that the trusted checker has accepted; FALSIFIED with a
    trace that replays; UNKNOWN with a reason. Of several models, and of a project, a table is
    printed at the end.
    Without a model, those of the project are decided (workbench.toml, here or above): what its
    entries expect counts as success.

    \b
    Example:
      workbench verify platoon
      workbench verify platoon -p "no collision" --certificate proof.json
      workbench recheck platoon proof.json
      workbench verify platoon platoon_saturated
      workbench verify platoon --never-blocks
    """
    decided: list[Decided] = []
    is_alone = len(entries) == 1
    begun = console.begun
    for entry in entries:
        try:
            with asking():
                decided.append(_decide(console, entry, begun, decided, is_alone))
        except (ModelError, click.UsageError) as error:
            if is_alone:
                raise
            decided.append(failed(console, entry.label, error))
        if decided[-1].interrupted is not None:
            break
        begun = time.monotonic()
    if console.as_json:
        console.raw(_as_json(console, decided))
    elif not is_alone or entries[0].expected is not None:
        console.result("\n" + summary_table(decided))
    return conclusion(decided)


def _decide(
    console: Console, entry: Entry, begun: float, before: Sequence[Decided], is_alone: bool
) -> Decided:
    """Decide the properties of one model, telling each verdict; the time of the first runs from
    when the work on the model was begun."""
    options, wanted, label = entry.options, Wanted.of(entry.options), entry.label
    files = {name: options[name] for name in ("certificate", "trace_file", "graph_file")}
    decided = Decided(label)
    _allow(console, begun, wanted.time_limit, [*before, decided], "the model")
    model = entry.open()
    names = wanted.claims(model)
    _refuse_files(files, wanted.method, is_alone and len(names) == 1)
    console.warnings(model.warnings, model.sources)
    for name in names:
        _allow(console, begun, wanted.time_limit, [*before, decided], repr(name))
        try:
            with Progress(console.quiet or console.as_json) as progress:
                verdict = model.verify(name, **wanted.settings, begun=begun, progress=progress)[0]
        except KeyboardInterrupt:
            decided.interrupted = name
            console.error(_broken_off(name, progress, len(decided.verdicts), len(names)))
            break
        begun = time.monotonic()
        _write(verdict, files)
        data = _data(verdict, label, files)
        decided.verdicts.append((verdict, data, entry.expects(name)))
        if not console.as_json:
            console.result(verdict.in_words(label, console.quiet, options["details"]))
    return decided


def _allow(
    console: Console, begun: float, seconds: float, decided: Sequence[Decided], what: str
) -> None:
    """Have the work end in time, even where it does not notice by itself."""
    why = f"{what} is not decided: it took more than {seconds:g} s (--time-limit)"
    words = f"{decided[-1].label}: UNKNOWN\n  {why}\n"
    if console.as_json:
        last = replace(decided[-1], failing=ExitCode.UNKNOWN, message=why)
        words = _as_json(console, [*decided[:-1], last])
    allow(begun, seconds, words)


def _refuse_files(files: dict[str, Path | None], method: str, is_one: bool) -> None:
    """Refuse, before any work, files that cannot be written."""
    from workbench.api.verdicts import GRAPHS

    for option, name in (("--certificate", "certificate"), ("--trace", "trace_file")):
        if files[name] is not None and not is_one:
            raise click.UsageError(f"{option} needs one property: name it with -p")
    graph = files["graph_file"]
    if graph is None:
        return
    if method != "abstraction" or not is_one:
        raise click.UsageError("--graph needs --method abstraction and one property (-p)")
    if graph.suffix.lower() not in GRAPHS:
        raise click.UsageError(f"--graph: the file must end in {', '.join(GRAPHS)}")


def _write(verdict: Verdict, files: dict[str, Path | None]) -> None:
    """Write the evidence, as far as it is asked for and there is some."""
    found = verdict.counterexample
    content = {
        "certificate": verdict.certificate,
        "trace_file": verdict.suspect if found is None else found.recording,
    }
    for name, text in content.items():
        path = files[name]
        if path is not None and text is not None:
            write_whole(path, text)
    graph = files["graph_file"]
    if graph is not None and verdict.abstract_states is not None:
        write_whole(graph, verdict.abstract_states.text(graph.suffix))


def _data(verdict: Verdict, label: str, files: dict[str, Path | None]) -> dict[str, Any]:
    """The verdict as plain data, with what the command line knows of it."""
    data = verdict.data | {"model": label, "command": shlex.join(["workbench", *sys.argv[1:]])}
    certificate, trace = files["certificate"], files["trace_file"]
    if certificate is not None and verdict.certificate is not None:
        data["certificate"] |= {"path": str(certificate), "size": len(verdict.certificate)}
    if trace is not None and verdict.is_falsified:
        data["counterexample"] |= {"path": str(trace)}
    return data


def _broken_off(claim: str, progress: Progress, decided: int, claims: int) -> str:
    """What is known when the user ends the work."""
    doing = f" ({progress.doing})" if progress.doing else ""
    done = f"; decided so far: {decided} of {claims} properties" if claims > 1 else ""
    return f"interrupted after {progress.seconds:.1f} s, {claim!r} undecided{doing}{done}"


def _as_json(console: Console, decided: Sequence[Decided]) -> str:
    """One verdict by itself, several as a list; of several models all of them."""
    if len(decided) > 1:
        return console.as_data(models=[one.data() for one in decided])
    found = decided[0].data()
    del found["model"]
    results = found.pop("results")
    if len(results) == 1 and not found:
        return console.as_data(**results[0])
    return console.as_data(results=results, **found)
