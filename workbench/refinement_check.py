"""`workbench recheck --against`: a refinement certificate, checked again."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from workbench.arguments import Chosen, split_reference
from workbench.console import Console
from workbench.exit_codes import ExitCode
from workbench.models.counting import counted

if TYPE_CHECKING:
    from workbench.models.model import Model


def recheck_refinement(
    console: Console, chosen: Chosen, against: str, text: bytes, observed: tuple[str, ...] = ()
) -> ExitCode:
    """Apply the composition rules again and give every certificate to the trusted checker.

    Obligations that only solvers decided cannot be checked here: with such the answer is
    "unknown".
    """
    from workbench.abstraction.refinement.induction_file import is_induction
    from workbench.abstraction.refinement.proof_file import check_proof
    from workbench.abstraction.refinement.surroundings import assumed_of
    from workbench.models.proof.checker import Rejected

    other = Chosen(*split_reference(against), {})
    detailed, abstract = chosen.load(), other.load()
    if is_induction(text):
        return _recheck_induction(console, (chosen.label, other.label), detailed, abstract, text)
    begun = time.perf_counter()
    judgement = check_proof(detailed, abstract, text, observed)
    seconds = time.perf_counter() - begun
    label = f"{chosen.label} against {other.label}"
    if isinstance(judgement, Rejected):
        if console.as_json:
            failed, why = judgement.obligation, judgement.why
            console.data(outcome="rejected", model=label, failed=failed, why=why)
        else:
            console.result(f"{label}: REJECTED at {judgement.obligation}: {judgement.why}")
        return ExitCode.FALSIFIED
    complete = judgement.assumed == 0
    assuming = assumed_of(detailed)
    if console.as_json:
        console.data(
            outcome="accepted" if complete else "accepted in part",
            model=label,
            obligations=judgement.obligations,
            assumed=judgement.assumed,
            reach=judgement.reach,
            observed=list(judgement.observed),
            assuming=assuming,
            seconds=round(seconds, 4),
        )
    else:
        rest = "" if complete else f"; {judgement.assumed} more rest on solvers: UNKNOWN"
        word = "ACCEPTED" if complete else "checked"
        total = judgement.obligations + judgement.reach
        seen = ", ".join(judgement.observed) or "nothing"
        console.result(
            f"{label}, observing {seen}: {word} "
            f"({counted(total, 'obligation')}, {seconds:.2f} s){rest}"
        )
        if assuming:
            console.result(f"  in surroundings that keep what it assumes: {assuming}")
    return ExitCode.OK if complete else ExitCode.UNKNOWN


def _recheck_induction(
    console: Console, labels: tuple[str, str], step: Model, contract: Model, text: bytes
) -> ExitCode:
    """The theorem's side conditions and every certificate of a proof by induction."""
    from workbench.abstraction.refinement.induction_file import check_induction
    from workbench.models.proof.checker import Rejected

    begun = time.perf_counter()
    judgement = check_induction(step, contract, text)
    seconds = time.perf_counter() - begun
    label = f"any number of {labels[0]} against {labels[1]}"
    if isinstance(judgement, Rejected):
        if console.as_json:
            failed, why = judgement.obligation, judgement.why
            console.data(outcome="rejected", model=label, failed=failed, why=why)
        else:
            console.result(f"{label}: REJECTED at {judgement.obligation}: {judgement.why}")
        return ExitCode.FALSIFIED
    assumed = judgement.refinement.assumed
    horizon = judgement.horizon
    if console.as_json:
        console.data(
            outcome="accepted in part" if assumed else "accepted",
            model=label,
            place=judgement.place,
            properties=list(judgement.properties),
            horizon=None if horizon is None else str(horizon),
            obligations=judgement.obligations,
            assumed=assumed,
            seconds=round(seconds, 4),
        )
    else:
        time_words = "for all time" if horizon is None else f"up to time {horizon}"
        named = ", ".join(map(repr, judgement.properties)) or "no property"
        word = f"checked; {assumed} more rest on solvers: UNKNOWN" if assumed else "ACCEPTED"
        console.result(
            f"{label}, with {named} {time_words}: {word} "
            f"({counted(judgement.obligations, 'obligation')}, {seconds:.2f} s)"
        )
    return ExitCode.UNKNOWN if assumed else ExitCode.OK
