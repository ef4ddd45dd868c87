"""`workbench verify`: decide the properties of a model, with evidence."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Any

import click

from workbench.arguments import Chosen, model_argument, output_options
from workbench.claims import chosen_claims
from workbench.console import Console
from workbench.exit_codes import ExitCode
from workbench.files import write_whole
from workbench.models.counting import counted
from workbench.option_types import OutputFile
from workbench.progress import Progress
from workbench.verification_options import Wanted, verification_options

if TYPE_CHECKING:
    from workbench.models.model import Model
    from workbench.models.verdict import Effort, Verdict
    from workbench.reports.data.verdict import Provenance

TOLD = 0.05
"""Seconds that are worth telling."""


@click.command("verify")
@model_argument
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
    help="Where to write the counterexample of a falsified property (one property only).",
)
@output_options
@click.pass_obj
def command(
    console: Console,
    chosen: Chosen,
    wanted: Wanted,
    graph_file: Path | None,
    certificate: Path | None,
    trace_file: Path | None,
) -> ExitCode:
    """Prove or refute the properties of a model.

    VERIFIED comes with a certificate that the trusted checker has accepted; FALSIFIED with a
    trace that replays; UNKNOWN with a reason.

    \b
    Example:
      workbench verify platoon
      workbench verify platoon -p "no collision" --certificate proof.json
      workbench recheck platoon proof.json
    """
    from workbench.abstraction.verification import verify

    model = chosen.load()
    claims = chosen_claims(model.automaton, wanted.names)
    for option, path in (("--certificate", certificate), ("--trace", trace_file)):
        if path is not None and len(claims) != 1:
            raise click.UsageError(f"{option} needs one property: name it with -p")
    console.warnings(model.warnings, model.sources)
    verdicts: list[tuple[Verdict, Provenance]] = []
    interrupted: str | None = None
    settings = wanted.settings(model.automaton)
    readers = _graph_reader(graph_file, settings.method, len(claims))
    for claim in claims:
        try:
            with Progress(console.quiet or console.as_json) as progress:
                task = settings.task(model.automaton, claim, progress, readers)
                verdict = verify(task, settings.method)
        except KeyboardInterrupt:
            interrupted = claim.name
            console.error(_broken_off(interrupted, progress, len(verdicts), len(claims)))
            break
        verdicts.append((verdict, _recorded(verdict, certificate, trace_file, settings.seed)))
        if not console.as_json:
            console.result(_in_words(chosen.label, model, *verdicts[-1], brief=console.quiet))
    if console.as_json:
        _print_data(console, model, chosen.label, verdicts, interrupted)
    if interrupted is not None:
        return ExitCode.INTERRUPTED
    return _worst(verdict for verdict, _ in verdicts)


def _graph_reader(graph_file: Path | None, method: str, claims: int) -> dict[str, object]:
    """Who wants the abstract states, as an option of tasks."""
    if graph_file is None:
        return {}
    if method != "abstraction" or claims != 1:
        raise click.UsageError("--graph needs --method abstraction and one property (-p)")
    from workbench.abstraction.strategies.strategy import GRAPH_READER
    from workbench.reports.pictures.abstract_graph import WRITERS

    write = WRITERS.get(graph_file.suffix.lower())
    if write is None:
        raise click.UsageError(f"--graph: the file must end in {', '.join(sorted(WRITERS))}")
    return {GRAPH_READER: lambda graph: write_whole(graph_file, write(graph))}


def _recorded(
    verdict: Verdict, path: Path | None, trace_file: Path | None, seed: int
) -> Provenance:
    """Write the certificate or the trace, if asked to, and note how the verdict came about."""
    from workbench.models.proof.certificate import encode
    from workbench.models.trace_files import to_json
    from workbench.models.verdict import Falsified, Verified
    from workbench.reports.data.verdict import Provenance

    command_line = shlex.join(["workbench", *sys.argv[1:]])
    if trace_file is not None and isinstance(verdict, Falsified):
        write_whole(trace_file, verdict.recording or to_json(verdict.trace))
        return Provenance(command_line, seed, trace_path=str(trace_file))
    if path is None or not isinstance(verdict, Verified):
        return Provenance(command_line, seed)
    text = encode(verdict.certificate)
    write_whole(path, text)
    return Provenance(command_line, seed, str(path), len(text))


def _in_words(
    label: str, model: Model, verdict: Verdict, provenance: Provenance, *, brief: bool = False
) -> str:
    from workbench.models.verdict import Falsified, Verified
    from workbench.reports.words.invariant_text import invariant_lines

    head = f"{label}: {verdict.claim!r}"
    seconds = sum(verdict.effort.seconds.values())
    if isinstance(verdict, Verified):
        scope = "for all time" if verdict.horizon is None else f"up to time {verdict.horizon}"
        lines = [
            f"{head}: VERIFIED {scope} ({verdict.method}, {seconds:.1f} s)",
            f"  {verdict.certificate.kind} certificate: "
            f"{counted(verdict.judgement.obligations, 'obligation')}, "
            "accepted by the trusted checker",
            *(f"  assuming that {text}" for text in model.closed_by),
        ]
        if provenance.certificate_path:
            lines.append(f"  written to {provenance.certificate_path}")
        found = [] if brief else invariant_lines(verdict.certificate.proof)
        lines += ["  every reachable state satisfies (numbers rounded), in"] if found else []
        lines += [f"    {line}" for line in found]
        return "\n".join(lines)
    if isinstance(verdict, Falsified):
        lines = [f"{head}: FALSIFIED at time {verdict.trace.outcome.time:g} ({verdict.method})"]
        lines += [f"  confirmed: {c.how}" for c in verdict.confirmations]
        if provenance.trace_path:
            lines.append(f"  written to {provenance.trace_path}")
        return "\n".join(lines)
    why = indent(verdict.reason, "  ")
    lines = [f"{head}: UNKNOWN ({seconds:.1f} s)", why, *_time_spent(verdict.effort)]
    return "\n".join([*lines, f"  hint: {verdict.advice}"])


def _time_spent(effort: Effort) -> list[str]:
    """What took the time: methods, or the phases of one."""
    total: dict[str, float] = {}
    for phase, seconds in effort.seconds.items():
        what = phase.partition(" ")[0]
        total[what] = total.get(what, 0.0) + seconds
    found = [f"{what} {seconds:.1f} s" for what, seconds in total.items() if seconds >= TOLD]
    return [f"  time: {', '.join(found)}"] if found else []


def _broken_off(claim: str, progress: Progress, decided: int, claims: int) -> str:
    """What is known when the user ends the work."""
    doing = f" ({progress.doing})" if progress.doing else ""
    done = f"; decided so far: {decided} of {claims} properties" if claims > 1 else ""
    return f"interrupted after {progress.seconds:.1f} s, {claim!r} undecided{doing}{done}"


def _print_data(
    console: Console,
    model: Model,
    label: str,
    verdicts: list[tuple[Verdict, Provenance]],
    interrupted: str | None,
) -> None:
    from workbench.reports.data.verdict import verdict_data

    found: list[dict[str, Any]] = [
        verdict_data(model, label, verdict, provenance) for verdict, provenance in verdicts
    ]
    if interrupted is not None:
        console.data(results=found, interrupted=interrupted)
    elif len(found) == 1:
        console.data(**found[0])
    else:
        console.data(results=found)


def _worst(verdicts: Any) -> ExitCode:
    from workbench.models.verdict import Falsified, Unknown

    found = list(verdicts)
    if any(isinstance(v, Falsified) for v in found):
        return ExitCode.FALSIFIED
    return ExitCode.UNKNOWN if any(isinstance(v, Unknown) for v in found) else ExitCode.OK
