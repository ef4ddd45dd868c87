"""How close runs came to breaking a property, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.models.counting import counted
from workbench.reports.analysis import Findings

Data = Mapping[str, Any]


def approach_data(findings: Findings, name: str, check: Data) -> dict[str, Any] | None:
    """The run that came closest to breaking the property of that name, among those that the page
    has and those that a search made; None if one breaks it, or there is nothing to measure."""
    margins = [run["properties"].get(name) for run in check["runs"]]
    measured = [(m["value"], i, m) for i, m in enumerate(margins) if m and m["value"] is not None]
    if any(m["broken"] for m in margins if m) or not measured:
        return None
    value, number, margin = min(measured, key=lambda one: one[:2])
    if margin["text"] == "holds":
        return None
    simulated = sum(run.kind == "simulated" for run in findings.runs)
    return {
        "run": number,
        "value": value,
        "text": margin["text"],
        "touches": margin["text"] == "0",
        "place": margin["place"],
        "of": _looked_at(simulated, findings.searched.get(name, 0)),
    }


def _looked_at(simulated: int, searched: int) -> str:
    """Among how many runs, in words."""
    of = counted(simulated, "simulated run")
    return f"{of} and {searched} of a search directed at it" if searched else of
