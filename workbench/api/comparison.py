"""How far two runs are apart, also where the other one comes from another tool."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.api.asked import RequestError
from workbench.api.notebook import block
from workbench.api.simulation import read_text
from workbench.models.source import ModelError, Span

if TYPE_CHECKING:
    from workbench.models.automaton import Automaton
    from workbench.models.trace import Trace
    from workbench.models.trace_comparison import Difference

SHOWN_NAMES = 8
"""So many names of a list are shown."""


@dataclass(frozen=True)
class Comparison:
    """The largest gap between two runs at common times, and where their jumps part."""

    difference: Difference | None = field(repr=False)

    @property
    def largest(self) -> float:
        """The largest gap in a variable; infinite between different words, NaN where the runs
        share no time."""
        return math.nan if self.difference is None else self.difference.largest

    @property
    def data(self) -> dict[str, Any] | None:
        """Everything as plain data; None where the runs share no time."""
        found = self.difference
        if found is None:
            return None
        return {
            "largest": found.largest if math.isfinite(found.largest) else None,
            "variable": found.variable,
            "time": found.time,
            "first_jump": found.first_jump,
        }

    def __str__(self) -> str:
        found = self.difference
        if found is None:
            return "there is nothing to compare: the runs share no time."
        if math.isinf(found.largest):
            gap = f"`{found.variable}` has different words, or one run no number, at"
            gap += f" t = {found.time:.6g}"
        elif found.variable:
            gap = f"the largest gap is {found.largest:.6g} in `{found.variable}` at"
            gap += f" t = {found.time:.6g}"
        else:
            gap = "no variable differs"
        if found.first_jump is None:
            return f"compared: {gap}; a table does not tell the jumps."
        if found.first_jump < 0:
            return f"compared: {gap}, the jumps agree."
        return f"compared: {gap}, the jumps part at number {found.first_jump + 1}."

    def __repr__(self) -> str:
        return f"<Comparison: {self}>"

    def _repr_html_(self) -> str:
        return block(str(self))


def compared(trace: Trace, other: Trace) -> Comparison:
    """How far a run is from another one, on the time that they share. Raises RequestError where
    they have no variable in common."""
    from workbench.models.trace_comparison import compare_traces

    if trace.variables and not {*trace.variables} & {*other.variables}:
        raise RequestError(
            f"nothing can be compared: one run has {_named(trace.variables)}, the other"
            f" {_named(other.variables)}",
            "compare",
        )
    share = max(trace.start, other.start) <= min(trace.end, other.end)
    if not (trace.segments and other.segments and share):
        return Comparison(None)
    return Comparison(compare_traces(trace, other))


def read_other(automaton: Automaton, path: str | Path) -> tuple[Trace, str]:
    """The run of a JSON file or a table (`.csv`), and a sentence that names what it lacks, if it
    lacks anything. Raises RequestError where it has no variable of the model, and ModelError where
    it is no run."""
    from workbench.models.trace_files import TIME_COLUMN, from_csv, from_json

    text = read_text(path, "compare")
    numeric = {v.name for v in automaton.variables if not v.type.values}
    try:
        as_table = Path(path).suffix == ".csv"
        trace = from_csv(text, numeric=numeric) if as_table else from_json(text)
    except ModelError as error:
        raise placed_in(path, error) from error
    names = [v.name for v in automaton.variables if v.name != TIME_COLUMN]
    missing = [n for n in names if n not in trace.variables]
    if missing == names:
        raise RequestError(
            f"nothing can be compared: the model has {_named(names)}, and {path} has"
            f" {_named(trace.variables)}",
            "compare",
        )
    return trace, f"{path} has no {_named(missing)}: not compared" if missing else ""


def placed_in(path: str | Path, error: ModelError) -> ModelError:
    """The same error, which says of everything without a place that it is in this file."""
    start = Span(str(path), 1, 1, 1, 1)
    found = (d if d.span else replace(d, span=start) for d in error.diagnostics)
    return ModelError(*found, sources=error.sources)


def _named(names: Sequence[str]) -> str:
    """A few of the names, in words."""
    shown = ", ".join(f"`{n}`" for n in names[:SHOWN_NAMES]) or "no variable"
    more = len(names) - SHOWN_NAMES
    return f"{shown} and {more} more" if more > 0 else shown
