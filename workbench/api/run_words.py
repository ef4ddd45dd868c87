"""Runs as `workbench simulate` tells of them: in words, as plain data, and as a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from workbench.models.counting import counted

if TYPE_CHECKING:
    from workbench.models.trace import Trace
    from workbench.models.trace_boxes import Box
    from workbench.simulate.many_runs import Summary

SHOWN_AGENTS = 8
"""So many agents are named in the line of a run."""


def row(run: Summary) -> dict[str, Any]:
    """A run as plain data."""
    data: dict[str, Any] = {}
    if run.formula is not None:
        robustness = run.formula.robustness
        data["robustness"] = robustness if abs(robustness) < float("inf") else None
        data["formula_violated_at"] = run.formula.violated_at
        data["formula_open"] = run.formula.is_open
    return data | {
        "seed": run.seed,
        "ending": str(run.ending),
        "time": run.time,
        "sentence": run.sentence,
        "name": run.name,
        "jumps": run.jumps,
        "grazes": run.grazes,
        "steps": run.steps,
        "evaluations": run.evaluations,
        "agent_steps": run.agent_steps,
        "agents": {n: {"count": c, "steps": s} for n, (c, s) in run.agents.items()},
        "violated": list(run.violated),
        "final": run.final,
    }


def details(row: dict[str, Any]) -> str:
    """What follows the sentence about a run: its formula, jumps, steps and seed."""
    jumps, steps = counted(row["jumps"], "jump"), counted(row["steps"], "step")
    formula = f" {_about_formula(row)}." if "robustness" in row else ""
    touched = f"{row['grazes']} touched, " if row["grazes"] else ""
    return f"{formula} ({jumps}, {touched}{steps}{_by_agents(row)}, seed {row['seed']})"


def _about_formula(row: dict[str, Any]) -> str:
    margin = row["robustness"]
    by = "" if margin is None else f"robustness {margin:.6g}"
    if row["formula_violated_at"] is not None:
        return f"The formula is violated at t = {row['formula_violated_at']:.6g}" + (
            f" ({by})" if by else ""
        )
    if row["formula_open"]:
        return "The formula is open: what comes after the run decides it" + (
            f" ({by} so far)" if by else ""
        )
    return f"The formula holds ({by})" if by else "The formula holds"


def _by_agents(row: dict[str, Any]) -> str:
    """The steps of the agents, where there are several."""
    agents = row["agents"]
    count = sum(a["count"] for a in agents.values())
    if count < 2:
        return ""
    if len(agents) == 1:
        return f" of each of {count} agents: {row['agent_steps']} agent steps"
    shown = ", ".join(f"{name} {a['steps']}" for name, a in list(agents.items())[:SHOWN_AGENTS])
    more = f" and {len(agents) - SHOWN_AGENTS} more" if len(agents) > SHOWN_AGENTS else ""
    return f" on {len(agents)} clocks ({shown}{more}): {row['agent_steps']} agent steps"


def table(
    runs: Sequence[tuple[int, Trace]], seed: int | None = None, boxes: Sequence[Box] | None = None
) -> str:
    """All runs as one CSV table; a column says which run where there are several. Where `boxes`
    enclose the run of a seed, columns have their bounds."""
    from workbench.models.trace_files import to_csv

    if len(runs) == 1:
        return to_csv(runs[0][1], boxes=boxes)
    lines: list[str] = []
    for number, trace in runs:
        mine = boxes if boxes is None or number == seed else ()
        head, *rows = to_csv(trace, boxes=mine).splitlines()
        if not lines:
            lines.append(f"seed,{head}")
        lines += [f"{number},{row}" for row in rows]
    return "\n".join(lines) + "\n"
