"""`workbench recheck`: the trusted checker alone."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import click

from workbench.arguments import Chosen, model_argument, output_options
from workbench.console import Console
from workbench.exact_times import positive_time
from workbench.exit_codes import ExitCode
from workbench.models.counting import counted
from workbench.option_types import Number

if TYPE_CHECKING:
    from workbench.models.model import Model
    from workbench.models.proof.checker import Accepted, Rejected


REFINEMENTS = tuple(
    f"charon-workbench/{kind}/".encode() for kind in ("refinement", "refinement-proof", "induction")
)
"""The schemas of certificates about two models."""


@click.command("recheck")
@model_argument
@click.argument("certificate", type=click.Path(path_type=Path))
@click.option(
    "--horizon",
    callback=positive_time,
    metavar="T",
    help="Ask for the time up to T only; by default the model says.",
)
@click.option(
    "--time-limit",
    type=Number(0, 1e6, min_open=True),
    default=600.0,
    show_default=True,
    metavar="SECONDS",
    help="Give up after that; then nothing is decided.",
)
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
    horizon: Fraction | None,
    time_limit: float,
    against: str | None,
    observe: tuple[str, ...],
) -> ExitCode:
    """Check a certificate against a model, in exact arithmetic.

    No solver and no engine takes part: the checker multiplies rational numbers. It accepts
    only if the certificate was made for this very model and every obligation is proved.
    A certificate for a shorter time than the model's decides nothing, unless --horizon asks
    for no more.

    \b
    Example:
      workbench verify platoon --certificate proof.json
      workbench recheck platoon proof.json
    """
    from workbench.models.proof.certificate import MAX_BYTES
    from workbench.models.proof.interruption import CheckInterruptedError

    try:
        with certificate.open("rb") as file:
            text = file.read(MAX_BYTES + 1)
    except OSError as error:
        reason = error.strerror or str(error)
        raise click.UsageError(f"cannot read {str(certificate)!r}: {reason}") from error
    try:
        with _alarm(time_limit):
            if against is None:
                _refuse_refinements(text)
                return _recheck(console, chosen, text, horizon)
            from workbench.refinement_check import recheck_refinement

            return recheck_refinement(console, chosen, against, text, observe)
    except CheckInterruptedError:
        why = f"the check did not end within {time_limit:g} s (--time-limit)"
        if console.as_json:
            console.data(outcome="not decided", model=chosen.label, why=why)
        else:
            console.result(f"{chosen.label}: UNKNOWN: {why}")
        return ExitCode.UNKNOWN


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    """After that many seconds the work ends, wherever it is, with `CheckInterruptedError`;
    where the system has no timers, only when the checker asks next."""
    from workbench.models.proof.interruption import CheckInterruptedError, interruptible

    def ring(*_: object) -> None:
        raise CheckInterruptedError

    latest = time.monotonic() + seconds
    with interruptible(lambda: time.monotonic() >= latest):
        in_main = threading.current_thread() is threading.main_thread()
        if not in_main or not hasattr(signal, "setitimer"):
            yield
            return
        before = signal.signal(signal.SIGALRM, ring)
        signal.setitimer(signal.ITIMER_REAL, seconds)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)


def _refuse_refinements(text: bytes) -> None:
    """Ask for the other model where a certificate is about two."""
    if not any(schema in text[:100] for schema in REFINEMENTS):
        return
    hint = "name the simple system: --against ABSTRACT[:AGENT]"
    raise click.UsageError(f"the certificate is of a refinement, which is about two models; {hint}")


def _recheck(console: Console, chosen: Chosen, text: bytes, horizon: Fraction | None) -> ExitCode:
    from workbench.models.proof.certificate import MalformedCertificateError, decode
    from workbench.models.proof.checker import Rejected, check

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
    asked = model.automaton.horizon if horizon is None else horizon
    if isinstance(judgement, Rejected):
        outcome, code = "rejected", ExitCode.FALSIFIED
    elif _covers(judgement.horizon, asked):
        outcome, code = "accepted", ExitCode.OK
    else:
        outcome, code = "not covered", ExitCode.UNKNOWN
    if console.as_json:
        _print_data(console, chosen.label, model, claim, judgement, asked, outcome, seconds)
    else:
        console.result(_in_words(chosen.label, model, claim, judgement, asked, seconds))
    return code


def _covers(horizon: Fraction | None, asked: Fraction | None) -> bool:
    """Whether what is proved up to a horizon (None: for all time) is as much as is asked."""
    return horizon is None or (asked is not None and asked <= horizon)


def _print_data(
    console: Console,
    label: str,
    model: Model,
    claim: str | None,
    judgement: Accepted | Rejected,
    asked: Fraction | None,
    outcome: str,
    seconds: float,
) -> None:
    from workbench.models.proof.checker import Accepted, Rejected

    accepted = judgement if isinstance(judgement, Accepted) else None
    rejected = judgement if isinstance(judgement, Rejected) else None
    why = rejected.why if rejected else None
    if outcome == "not covered" and accepted is not None:
        why = _too_short(accepted.horizon, asked)
    proved = accepted.horizon if accepted else None
    console.data(
        outcome=outcome,
        model=label,
        model_sha256=model.automaton.sha256,
        property=claim,
        horizon=None if proved is None else str(proved),
        asked_horizon=None if asked is None else str(asked),
        obligations=accepted.obligations if accepted else None,
        failed=rejected.obligation if rejected else None,
        why=why,
        assumptions=list(model.closed_by),
        seconds=round(seconds, 4),
    )


def _in_words(
    label: str,
    model: Model,
    claim: str | None,
    judgement: Accepted | Rejected,
    asked: Fraction | None,
    seconds: float,
) -> str:
    from workbench.models.proof.checker import Rejected

    if isinstance(judgement, Rejected):
        return f"{label}: REJECTED at {judgement.obligation}: {judgement.why}"
    spent = f"{counted(judgement.obligations, 'obligation')}, {seconds:.2f} s"
    assuming = [f"  assuming that {text}" for text in model.closed_by]
    if _covers(judgement.horizon, asked):
        scope = "for all time" if judgement.horizon is None else f"up to {judgement.horizon}"
        return "\n".join([f"{label}: {claim!r} {scope}: ACCEPTED ({spent})", *assuming])
    lines = [
        f"{label}: {claim!r}: UNKNOWN: {_too_short(judgement.horizon, asked)} ({spent})",
        *assuming,
        f"  hint: --horizon {judgement.horizon} asks for no more than it proves",
    ]
    return "\n".join(lines)


def _too_short(horizon: Fraction | None, asked: Fraction | None) -> str:
    whole = "all time is asked for" if asked is None else f"the time up to {asked} is asked for"
    return f"the certificate is valid, but only up to {horizon}; {whole}"
