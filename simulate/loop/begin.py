"""The first instant of a run: parameters, levels of inputs, and a state of an initial set."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping

from workbench.models.automaton import TIME
from workbench.models.source import Diagnostic, ModelError
from workbench.models.trace import Ending, Outcome
from workbench.simulate.holding import inclusion_share
from workbench.simulate.inputs.feed import within_bounds
from workbench.simulate.loop.accumulation import Jumps
from workbench.simulate.loop.instant import (
    Instant,
    InstantNotes,
    RunEnded,
    Scenario,
    StayNotes,
)
from workbench.simulate.loop.past import Past
from workbench.simulate.place import Place, Prepared
from workbench.simulate.policy import Decisions
from workbench.simulate.start.initial import NoStart, StartFinder

Given = float | int | str | bool
"""An initial value: a number, a truth value, or the name of an enumeration's value."""

Adjust = Callable[[Place, dict[str, float]], dict[str, float]]
"""The values with which a run is to begin in a place, from those that were found."""


def parameters_of(
    scenario: Scenario, given: Mapping[str, float], decisions: Decisions
) -> dict[str, float]:
    """The values of all parameters; where they are not given, the policy decides."""
    found = {}
    for parameter in scenario.prepared.view.parameters:
        value = given.get(parameter.name)
        if value is None:
            value = within_bounds(parameter, decisions.share)
        found[parameter.name] = float(value)
    return found


def begin(
    scenario: Scenario,
    initial: Mapping[str, Given],
    location: str | None,
    parameters: Mapping[str, float],
    decisions: Decisions,
    adjust: Adjust | None = None,
) -> Instant:
    """The first instant of a run, at time 0."""
    p, tolerances = scenario.prepared, scenario.tolerances
    fed, changes = scenario.feed.at_first(decisions)
    env = {TIME: 0.0, **parameters, **fed}
    given = {name: number(p, value) for name, value in initial.items()}
    reasons = []
    for index, start in enumerate(p.starts()):
        if location is not None and start.location != location:
            continue
        finder = p.finders.get(index)
        if finder is None:
            finder = p.finders[index] = StartFinder(p, start)
        found = finder.find(given, env, decisions)
        if isinstance(found, NoStart):
            reasons.append(found.reason)
            continue
        shares = [decisions.share() for _ in range(finder.entry.choices)]
        values = {**env, **found}
        if not finder.entry.has_values(values, shares, *tolerances):
            reasons.append(f"a range of first values in `{start.location}` is empty")
            continue
        values = {**values, **finder.entry(values, shares)}
        if not p.invariant(start.location)(values, *tolerances):
            reasons.append(f"the start is outside the invariant of `{start.location}`")
            continue
        place = p.place(start.location)
        if adjust is not None:
            values = adjust(place, values)
        here = InstantNotes(inexact=frozenset())
        stay, jumps = StayNotes(), Jumps()
        return Instant(
            scenario, 0.0, place, values, decisions.taken, changes, here, stay, jumps, Past()
        )
    reason = reasons[0] if reasons else f"runs cannot start in `{location}`"
    raise RunEnded(Outcome(Ending.EMPTY_INITIAL, 0.0, f"There is no run: {reason}."))


def check_names(
    scenario: Scenario, initial: Mapping[str, Given], parameters: Mapping[str, float]
) -> None:
    """Refuse names that the model does not have."""
    p = scenario.prepared
    inclusions = {inclusion_share(name) for name in p.names}
    known: dict[str, tuple[Iterable[str], Collection[str]]] = {
        "variable": (initial, p.known),
        "parameter": (parameters, {q.name for q in p.view.parameters}),
        "input": (scenario.feed.given, {i.name for i in p.inputs} | inclusions),
    }
    for sort, (given, names) in known.items():
        for name in given:
            if name not in names:
                raise ModelError(Diagnostic("unknown-name", f"the model has no {sort} `{name}`"))


def number(prepared: Prepared, value: Given) -> float:
    """A given value as the core knows it."""
    if isinstance(value, str):
        if value not in prepared.symbols:
            raise ModelError(Diagnostic("unknown-symbol", f"`{value}` is not a value"))
        return float(prepared.symbols[value])
    return float(value)
