"""What a search for violations found, in words and as data."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from workbench.models.counting import counted

if TYPE_CHECKING:
    from workbench.models.automaton import Automaton, Property
    from workbench.models.trace import Event, Scalar, Segment, Trace
    from workbench.models.verdict import LastChance
    from workbench.simulate.monitoring.stl import Formula
    from workbench.simulate.recipe import Recipe
    from workbench.simulate.search.counterexample import Counterexample
    from workbench.simulate.search.falsification import Outcome

MOST_EDGES = 12
"""So many edges of a run are told, one in a line; the file has them all."""


def label(claim: Property | Formula) -> str:
    """What a claim is called."""
    from workbench.models.automaton import Property

    return claim.name if isinstance(claim, Property) else claim.text


def in_words(model: str, automaton: Automaton, claim: Property | Formula, outcome: Outcome) -> str:
    """The outcome of a search: the counterexample, or how close a run came."""
    from workbench.simulate.search.doubt import in_words as doubts_in_words

    head = f"{model}: {label(claim)!r}"
    effort = f"{counted(outcome.simulations, 'simulation')}, {outcome.seconds:.1f} s"
    if outcome.found is not None:
        found = outcome.found
        lines = [
            f"{head}: FALSIFIED at time {found.time:.6g} ({effort})",
            *(f"  {line}" for line in described(found.recipe)),
            *(f"  {line}" for line in edges_taken(automaton, found.trace)),
            *(f"  confirmed: {c.how}" for c in found.confirmations),
        ]
        told = _last_chance(automaton, claim, found)
        lines += [f"  {told.sentence}"] if told else []
        return "\n".join(lines)
    if outcome.suspicion is not None:
        return "\n".join(_suspected(head, automaton, outcome, effort))
    said = "no violation found"
    if outcome.interrupted:
        said = "interrupted, no violation found so far"
    elif outcome.late:
        said += " within the time limit"
    lines = [f"{head}: {said} ({effort}): UNKNOWN"]
    if outcome.closest is not None and abs(outcome.robustness) < 1e12:
        lines.append(f"  best robustness {outcome.robustness:.6g}, with")
        lines += [f"  {line}" for line in described(outcome.closest)]
        again = _repeated(automaton, outcome)
        lines += [f"  {line}" for line in edges_taken(automaton, again)]
        if again is not None and again.outcome.ending.gave_up:
            lines.append(f"  that run breaks off: {again.outcome.sentence}")
    notes = [*doubts_in_words(outcome.doubts), *outcome.shortened]
    lines += [f"  {line}" for line in notes]
    return "\n".join(lines)


def _last_chance(
    automaton: Automaton, claim: Property | Formula, found: Counterexample
) -> LastChance | None:
    """When it was too late, if the property names a rescue."""
    from workbench.models.automaton import Property
    from workbench.simulate.last_chance import last_chance

    if not isinstance(claim, Property):
        return None
    return last_chance(automaton, claim, found.trace, found.recipe)


def _suspected(head: str, automaton: Automaton, outcome: Outcome, effort: str) -> Iterator[str]:
    """A run that violates the claim in simulation: why it does not count, and how to see it."""
    assert outcome.suspect is not None
    said, _, why = str(outcome.suspicion).partition(": ")
    yield f"{head}: {said} ({effort}): UNKNOWN"
    yield f"  {why}"
    yield from (f"  {line}" for line in described(outcome.suspect.recipe))
    yield from (f"  {line}" for line in edges_taken(automaton, outcome.suspect.trace))
    yield "  --trace FILE saves the run, `simulate --replay FILE` repeats it"
    yield from (f"  {line}" for line in outcome.shortened)


def described(recipe: Recipe) -> list[str]:
    """A run in words: where it starts, what is fed into it, how it switches."""
    from workbench.models.expressions.printing import to_text
    from workbench.simulate.inputs.signals import Formula as Expression
    from workbench.simulate.inputs.signals import Steps

    lines = []
    if recipe.initial:
        values = ", ".join(f"{n} = {_shown(v)}" for n, v in recipe.initial.items())
        lines.append(f"start: {values}")
    if recipe.parameters:
        values = ", ".join(f"{n} = {_shown(v)}" for n, v in recipe.parameters.items())
        lines.append(f"parameters: {values}")
    for name, signal in recipe.inputs.items():
        if isinstance(signal, Expression):
            course = to_text(signal.expression)
        elif len(signal.values) == 1:
            course = _shown(signal.values[0])
        else:
            pairs = zip(signal.times, signal.values, strict=True)
            at = "from" if isinstance(signal, Steps) else "at"
            course = ", ".join(f"{_shown(v)} {at} {_shown(t)}" for t, v in pairs)
            course += "" if isinstance(signal, Steps) else ", linear between"
        if name.endswith(".inclusion"):
            derivative = name.removesuffix(".inclusion")
            lines.append(f"d({derivative}) in its range, 0 (lowest) to 1: {course}")
        else:
            lines.append(f"input {name}: {course}")
    lines.append(f"switching: {recipe.policy.switching}, until {_shown(recipe.until)}")
    return lines


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _repeated(automaton: Automaton, outcome: Outcome) -> Trace | None:
    """The run that came closest, if there is time to make it again."""
    from workbench.simulate.recipe import repeat

    assert outcome.closest is not None
    if outcome.late:
        return None
    try:
        return repeat(automaton, outcome.closest, max_jumps=100 * MOST_EDGES)
    except (ArithmeticError, ValueError):
        return None


def edges_taken(automaton: Automaton, trace: Trace | None) -> list[str]:
    """The edges of a run: when they are taken, and where ranges of their resets land."""
    if trace is None or not trace.jumps:
        return []
    lines = [
        f"  at {_shown(event.time)}: {event.name}{landed}"
        for event, landed in _with_landings(automaton, trace)
    ]
    more = len(lines) - MOST_EDGES
    if more > 1:
        last = trace.jumps[-1]
        lines[MOST_EDGES:] = [f"  and {more} more, the last {last.name} at {_shown(last.time)}"]
    return ["edges:", *lines]


def _with_landings(automaton: Automaton, trace: Trace) -> Iterator[tuple[Event, str]]:
    for before, events, after in trace.transitions():
        for event in events:
            yield event, _landing(automaton, before, event, after) if len(events) == 1 else ""


def _landing(automaton: Automaton, before: Segment, event: Event, after: Segment) -> str:
    """The values that the resets of an edge leave open."""
    from workbench.simulate.jump import edge_name

    values: dict[str, Scalar] = after.valuation(after.start)
    open_resets = {
        reset.variable: None
        for edge in automaton.edges_from(before.location)
        if edge.target == after.location and edge_name(edge) == event.name
        for reset in edge.resets
        if reset.range.exact is None and reset.variable in values
    }
    told = ", ".join(f"{name} := {_shown(values[name])}" for name in open_resets)
    return f", {told}" if told else ""


def as_data(automaton: Automaton, claim: Property | Formula, outcome: Outcome) -> dict[str, Any]:
    """The outcome of a search as plain data."""
    from workbench.simulate.search.doubt import in_words as doubts_in_words

    def number(value: float) -> float | None:
        return value if math.isfinite(value) else None

    data: dict[str, Any] = {
        "property": label(claim),
        "outcome": "falsified" if outcome.found else "unknown",
        "robustness": number(outcome.robustness),
        "simulations": outcome.simulations,
        "seconds": round(outcome.seconds, 4),
        "unconfirmed": outcome.unconfirmed,
        "doubts": doubts_in_words(outcome.doubts),
        "cut": outcome.cut,
        "interrupted": outcome.interrupted,
        "late": outcome.late,
    }
    if outcome.suspect is not None:
        data["suspect"] = {
            "path": None,
            "time": outcome.suspect.time,
            "reason": outcome.suspicion,
        }
    found = outcome.found
    told = _last_chance(automaton, claim, found) if found else None
    if told is not None:
        data["safety_lost"] = told.data
    recipe = found.recipe if found else outcome.closest
    if recipe is not None:
        data["run"] = {
            "initial": dict(recipe.initial),
            "parameters": dict(recipe.parameters),
            "switching": str(recipe.policy.switching),
            "until": recipe.until,
            "description": [
                *described(recipe),
                *edges_taken(automaton, found.trace if found else _repeated(automaton, outcome)),
            ],
        }
    if outcome.found is not None:
        data["counterexample"] = {
            "path": None,
            "time": outcome.found.time,
            "violation": number(outcome.found.violation),
            "confirmations": [
                {"how": c.how, "violation": number(c.violation), "rigorous": c.rigorous}
                for c in outcome.found.confirmations
            ],
        }
    return data
