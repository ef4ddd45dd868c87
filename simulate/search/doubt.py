"""Why a run that seems to violate a claim is no counterexample."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from workbench.models.counting import counted
from workbench.models.record import record


class Cause(StrEnum):
    """What kind of doubt there is; the words follow "a run" or "runs"."""

    MARGIN = "violated the property by no more than the error of the computation"
    EXACT = "violated the property by an equality of numbers that has no margin"
    UNCLEAR = "violated the property by a way that the smallest error may have opened"
    OTHER_METHOD = "violated the property, but not when repeated at a tight tolerance"
    NO_RUN = "violated the property, but could not be shown to be a run of the model"


@record
class Doubt:
    """The cause, and what it is in this run."""

    cause: Cause
    detail: str


def in_words(doubts: Iterable[Doubt]) -> list[str]:
    """Why runs that seemed to violate the claim do not count, cause by cause."""
    details: dict[str, list[str]] = {}
    for doubt in doubts:
        details.setdefault(doubt.cause, []).append(doubt.detail)
    return [
        f"{counted(len(found), 'run')} {cause} ({'the first: ' if found[1:] else ''}{found[0]})"
        for cause, found in details.items()
    ]
