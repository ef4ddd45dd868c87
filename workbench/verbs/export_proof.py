"""`workbench export-proof`: a certificate as a theorem for Coq."""

from __future__ import annotations

from pathlib import Path

import click

from workbench.cli.arguments import Chosen, model_argument, output_options
from workbench.cli.console import Console
from workbench.cli.exit_codes import ExitCode
from workbench.cli.files import write_whole
from workbench.cli.limits import end_in_time, time_limit_option
from workbench.cli.option_types import OutputFile


@click.command("export-proof")
@model_argument
@click.argument("certificate", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    type=OutputFile(),
    metavar="FILE.v",
    help="Where to write. Without it the text goes to standard output.",
)
@time_limit_option(600.0, "Give up after that; then nothing is written.")
@output_options
@click.pass_obj
def command(
    console: Console, chosen: Chosen, certificate: Path, output: Path | None, time_limit: float
) -> ExitCode:
    """Write a certificate as a proof that Coq checks.

    The file needs nothing but Coq: it has the theory, the problem and the evidence, and ends with
    the theorem that the problem is safe. It is written only if the certificate is accepted, so
    that the problem is that of the model.

    \b
    Example:
      workbench verify leaky_tank -p "flow within capacity" --certificate proof.json
      workbench export-proof leaky_tank proof.json -o proof.v
    """
    end_in_time(console, chosen.label, console.begun, time_limit)
    model = chosen.open()
    try:
        judged = model.recheck(certificate)
        if judged.outcome == "rejected":
            return _refused(console, chosen, judged.in_words(chosen.label), judged.data)
        text = model.coq_proof(certificate)
    except OSError as error:
        reason = error.strerror or str(error)
        raise click.UsageError(f"cannot read {str(certificate)!r}: {reason}") from error
    if output is None:
        if console.as_json:
            console.data(outcome="written", model=chosen.label, proof=text)
        else:
            console.raw(text)
        return ExitCode.OK
    write_whole(output, text)
    if console.as_json:
        console.data(outcome="written", model=chosen.label, output=str(output))
    else:
        console.note(f"check it with: coqc {output}")
    return ExitCode.OK


def _refused(console: Console, chosen: Chosen, words: str, data: dict[str, object]) -> ExitCode:
    if console.as_json:
        console.data(model=chosen.label, **data)
    else:
        console.result(words)
    return ExitCode.FALSIFIED
