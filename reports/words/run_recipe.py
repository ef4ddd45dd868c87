"""What a run is made from, in few words: where it starts, what is fed in, when it jumps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice

from workbench.models.expressions.printing import to_text
from workbench.models.trace import Scalar, Trace, scalar_text
from workbench.reports.words.inequalities import rounded
from workbench.simulate.inputs.signals import Formula, Signal, Steps
from workbench.simulate.recipe import Recipe

MOST = 12
"""So many values, or jumps, are told; the file has them all."""

INCLUSION = ".inclusion"
"""The signal that chooses within the range of a derivative is called so."""


def recipe_lines(trace: Trace, recipe: Recipe | None) -> list[tuple[str, str]]:
    """Pairs of what and how; without a recipe, as much as the trace tells."""
    lines = []
    if trace.segments:
        first = trace.segments[0]
        state = first.valuation(first.start)
        told = {n: state[n] for n in trace.variables if n in state and n not in first.derived}
        lines.append(("start", f"{_values(told)}; in {first.location}"))
    if trace.parameters:
        lines.append(("parameters", _values(trace.parameters)))
    for name, signal in () if recipe is None else islice(recipe.inputs.items(), MOST):
        if name.endswith(INCLUSION):
            lines.append((f"d({name.removesuffix(INCLUSION)})", _share(signal)))
        else:
            lines.append((f"input {name}", _course(signal)))
    jumps = [f"{jump.name} at {rounded(jump.time)}" for jump in trace.jumps]
    lines.append(("jumps", _listed(jumps) if jumps else "none"))
    return lines


def _values(values: Mapping[str, Scalar]) -> str:
    return _listed(f"{n} = {_number(v)}" for n, v in values.items())


def _listed(parts: Iterable[str]) -> str:
    whole = list(parts)
    more = f", and {len(whole) - MOST} more" if len(whole) > MOST else ""
    return ", ".join(whole[:MOST]) + more


def _course(signal: Signal) -> str:
    """A signal over time."""
    if isinstance(signal, Formula):
        return to_text(signal.expression)
    if len(signal.values) == 1:
        return rounded(signal.values[0])
    steps = isinstance(signal, Steps)
    pairs = zip(signal.times, signal.values, strict=True)
    text = _listed(f"{rounded(v)} {'from' if steps else 'at'} {rounded(t)}" for t, v in pairs)
    return text if steps else f"{text}, linear between"


def _share(signal: Signal) -> str:
    """Where in its range a derivative is, over time."""
    ends = {0.0: "the lowest of its range", 1.0: "the highest of its range"}
    values = set() if isinstance(signal, Formula) else {*signal.values}
    if len(values) == 1 and (told := ends.get(values.pop())):
        return told
    return f"{_course(signal)} (0 is the lowest of its range, 1 the highest)"


def _number(value: Scalar) -> str:
    return rounded(value) if isinstance(value, float) else scalar_text(value)
