"""Exact runs as traces, for reports and for everything else that reads traces, and as recordings
that the simulator replays."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from workbench.abstraction.strategies.strategy import Task
from workbench.models.automaton import Automaton
from workbench.models.expressions.expression import Expression
from workbench.models.trace import Ending, Event, EventType, Outcome, Scalar, Segment, Trace
from workbench.reach.exact.run import PolynomialRun
from workbench.reach.rectangular.witness import Run, Stay, decoded


def trace_of(automaton: Automaton, claim: str, run: Run, variables: tuple[str, ...]) -> Trace:
    """The trace of a run that violates a claim; numbers are rounded to doubles. The automaton
    is the one the run belongs to, `variables` are those of the model as its author wrote it."""
    segments: list[Segment] = []
    events: list[Event] = []
    now = Fraction(0)
    for stay in run.stays:
        segments.append(_segment(automaton, stay, now))
        now += stay.duration
        if stay.edge >= 0:
            edge = automaton.edges_from(stay.location)[stay.edge]
            name = edge.name or edge.label or f"{edge.source} -> {edge.target}"
            events.append(Event(float(now), EventType.JUMP, name, edge.source, edge.target))
    events.append(Event(float(now), EventType.VIOLATION, claim, run.stays[-1].location))
    sentence = f"{claim!r} is violated at time {float(now):g}"
    outcome = Outcome(Ending.VIOLATION, float(now), sentence, claim)
    first = decoded(automaton, run.stays[0].state)
    parameters = {p.name: float(first[p.name]) for p in automaton.parameters}
    return Trace(
        automaton.name,
        variables,
        tuple(segments),
        tuple(events),
        outcome,
        parameters=parameters,
        method="exact",
    )


def recording_of(task: Task, trace: Trace) -> str:
    """The trace as a document with the recipe by which the simulator makes the run again."""
    from workbench.simulate.recipe import recorded
    from workbench.simulate.recipe_following import recipe_following
    from workbench.simulate.search.objective import focused

    model, claim = task.automaton, task.claim
    recipe = recipe_following(focused(model, claim), trace, claim.name)
    return recorded(replace(trace, decisions=recipe.policy.script), recipe, model.sha256)


def _segment(automaton: Automaton, stay: Stay, start: Fraction) -> Segment:
    """A stay as one piece of degree 1 (none if it takes no time)."""
    flowing = tuple(sorted(stay.rates))
    held = {n: _plain(v) for n, v in decoded(automaton, stay.state).items() if n not in stay.rates}
    end = stay.after(stay.duration)
    coefficients = [x for n in flowing for x in (float(stay.state[n]), float(stay.rates[n]))]
    moving = bool(stay.duration)
    times = [float(start), float(start + stay.duration)] if moving else [float(start)]
    definitions: Mapping[str, Expression] = {}
    if hasattr(automaton, "definitions"):
        definitions = automaton.definitions(stay.location)
    return Segment(
        stay.location,
        flowing,
        array("d", times),
        array("i", [1] if moving else []),
        array("d", coefficients if moving else []),
        held,
        array("d", [float(end[n]) for n in flowing]),
        definitions,
    )


def _plain(value: Fraction | float | bool | str) -> Scalar:
    return float(value) if isinstance(value, Fraction) else value


def polynomial_trace(
    automaton: Automaton, claim: str, run: PolynomialRun, variables: tuple[str, ...]
) -> Trace:
    """The trace of one stay along polynomials that ends with a violation; rounded to doubles."""
    flowing = tuple(sorted(run.moves))
    degree = max((len(p) - 1 for p in run.moves.values()), default=0)
    degree = max(degree, 1)
    coefficients = [
        float(p[k]) if k < len(p) else 0.0
        for p in (run.moves[name] for name in flowing)
        for k in range(degree + 1)
    ]
    moving, end = bool(run.duration), float(run.duration)
    final = run.final
    definitions: Mapping[str, Expression] = {}
    if hasattr(automaton, "definitions"):
        definitions = automaton.definitions(run.location)
    segment = Segment(
        run.location,
        flowing,
        array("d", [0.0, end] if moving else [0.0]),
        array("i", [degree] if moving else []),
        array("d", coefficients if moving else []),
        {n: _plain(v) for n, v in run.initial.items() if n not in run.moves},
        array("d", [_number(final[n]) for n in flowing]),
        definitions,
    )
    event = Event(end, EventType.VIOLATION, claim, run.location)
    outcome = Outcome(Ending.VIOLATION, end, f"{claim!r} is violated at time {end:g}", claim)
    parameters = {p.name: _number(run.initial[p.name]) for p in automaton.parameters}
    return Trace(
        automaton.name,
        variables,
        (segment,),
        (event,),
        outcome,
        parameters=parameters,
        method="exact",
    )


def _number(value: Fraction | float | bool | str) -> float:
    assert isinstance(value, Fraction), "what flows is a number"
    return float(value)
