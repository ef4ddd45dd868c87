"""A model of a batch without a report: it was rejected, or says nothing to decide.

Its data have the form of a report's without properties and runs, and what went wrong, so that
the index page and the formats of other tools show it in its place.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any


class Failing(StrEnum):
    """Why there is no report."""

    REJECTED = "rejected"  # the model is not sound
    UNUSABLE = "unusable"  # it has not the property asked for, or none
    INTERNAL = "internal"  # a defect of the workbench


def failed_data(label: str, why: Failing, message: str) -> dict[str, Any]:
    """The data of a model that could not be reported on."""
    return {
        "model": {"label": label, "title": ""},
        "error": {"kind": str(why), "message": message},
        "properties": [],
        "runs": [],
        "seconds": {},
        "crosscheck": {"contradictions": []},
    }
