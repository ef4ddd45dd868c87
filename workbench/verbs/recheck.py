"""`workbench recheck`: the trusted checker alone."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from models.counting import counted
from workbench.arguments import Chosen, model_argument, output_options
from workbench.console import Console
from workbench.exit_codes import ExitCode

if TYPE_CHECKING:
    from models.proof.checker import Accepted, Rejected


@click.command("recheck")
@model_argument
@click.argument("certificate", type=click.Path(path_type=Path))
@click.option(
    "--against", metavar="ABSTRACT[:AGENT]", help="The simple system of a refinement certificate."
)
@click.option(
    "--observe",
    multiple=True,
    metavar="NAME",
    help="The refinement is claimed in these variables only; repeatable.",
)
@output_options
@click.pass_obj
def command(
    console: Console,
    chosen: Chosen,
    certificate: Path,
    against: str | None,
    observe: tuple[str, ...],
) -> ExitCode:
    """Check a certificate against a model, in exact arithmetic.

    No solver and no engine takes part: the checker multiplies rational numbers. It accepts
    only if the certificate was made for this very model and every obligation is proved.

    \b
    Example:
      workbench verify platoon --certificate proof.json
      workbench recheck platoon proof.json
    """
    from models.proof.certificate import MAX_BYTES, MalformedCertificateError, decode
    from models.proof.checker import Accepted, Rejected, check

    try:
        with certificate.open("rb") as file:
            text = file.read(MAX_BYTES + 1)
    except OSError as error:
        reason = error.strerror or str(error)
        raise click.UsageError(f"cannot read {str(certificate)!r}: {reason}") from error
    if against is not None:
        from workbench.refinement_check import recheck_refinement

        return recheck_refinement(console, chosen, against, text, observe)
    model = chosen.load()
    begun = time.perf_counter()
    claim: str | None = None
    judgement: Accepted | Rejected
    try:
        decoded = decode(text)
        claim = decoded.claim
        judgement = check(model.automaton, claim, decoded)
    except MalformedCertificateError as error:
        judgement = Rejected("format", str(error))
    seconds = time.perf_counter() - begun
    accepted = isinstance(judgement, Accepted)
    if console.as_json:
        console.data(
            outcome="accepted" if accepted else "rejected",
            model=chosen.label,
            model_sha256=model.automaton.sha256,
            property=claim,
            horizon=_horizon(judgement),
            obligations=judgement.obligations if isinstance(judgement, Accepted) else None,
            failed=judgement.obligation if isinstance(judgement, Rejected) else None,
            why=judgement.why if isinstance(judgement, Rejected) else None,
            assumptions=list(model.closed_by),
            seconds=round(seconds, 4),
        )
    elif isinstance(judgement, Accepted):
        scope = "for all time" if judgement.horizon is None else f"up to {judgement.horizon}"
        console.result(
            f"{chosen.label}: {claim!r} {scope}: ACCEPTED "
            f"({counted(judgement.obligations, 'obligation')}, {seconds:.2f} s)"
        )
        for assumed in model.closed_by:
            console.result(f"  assuming that {assumed}")
    else:
        console.result(f"{chosen.label}: REJECTED at {judgement.obligation}: {judgement.why}")
    return ExitCode.OK if accepted else ExitCode.FALSIFIED


def _horizon(judgement: Accepted | Rejected) -> str | None:
    """The time up to which an accepted certificate proves the property; None for all time."""
    horizon = getattr(judgement, "horizon", None)
    return None if horizon is None else str(horizon)
