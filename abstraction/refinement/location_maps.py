"""Which abstract location stands for each detailed one: given, by name, or searched.

A search keeps, for every detailed location, the abstract ones in which it may stay (invariant,
flow and urgency hold), and then looks for a choice under which initial states and jumps are
matched. Where there is none, the choice with the fewest failures is returned, to report them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from workbench.models.automaton import HybridAutomaton
from workbench.models.checker.obligation import Obligation
from workbench.models.checker.simulation_relation import Relation
from workbench.models.source import Diagnostic, ModelError

MAX_STEPS = 4_000


def named_places(
    detailed: HybridAutomaton, abstract: HybridAutomaton, given: Mapping[str, str]
) -> dict[str, str]:
    """What is given, and what follows from names; locations without either are left out."""
    known = {x.name for x in abstract.locations}
    own = {x.name for x in detailed.locations}
    for here, there in given.items():
        for name, names, side in ((here, own, "detailed"), (there, known, "abstract")):
            if name not in names:
                raise ModelError(
                    Diagnostic(
                        "unknown-location",
                        f"the {side} automaton has no location {name}",
                        hint=f"it has {', '.join(sorted(names))}",
                    )
                )
    folded = {name.casefold(): name for name in sorted(known)}
    found = dict(given)
    for place in detailed.locations:
        if place.name in found:
            continue
        if place.name in known:
            found[place.name] = place.name
        elif place.name.casefold() in folded:
            found[place.name] = folded[place.name.casefold()]
        elif len(known) == 1:
            found[place.name] = next(iter(known))
    return found


def searched_places(
    relation: Relation,
    detailed: HybridAutomaton,
    abstract: HybridAutomaton,
    fixed: Mapping[str, str],
    failing: Callable[[Iterable[Obligation]], int],
    expired: Callable[[], bool] = lambda: False,
) -> dict[str, str]:
    """A map under which everything holds, if one is found; else one with few failures.

    `failing` counts the obligations that do not hold; `expired` says that the time is over: then
    the first choices that are left are taken.
    """
    order = [x.name for x in detailed.locations]
    domains: dict[str, list[str]] = {}
    for name in order:
        choices = [fixed[name]] if name in fixed else [x.name for x in abstract.locations]
        cost: dict[str, int] = {}
        for there in choices:
            if cost and expired():
                break
            cost[there] = failing(replace(relation, places={name: there}).stays(name))
        least = min(cost.values())
        domains[name] = [there for there in cost if cost[there] == least]
    found = None if expired() else _matched(relation, order, domains, failing, expired)
    return found or {name: choices[0] for name, choices in domains.items()}


def _matched(
    relation: Relation,
    order: list[str],
    domains: Mapping[str, list[str]],
    failing: Callable[[Iterable[Obligation]], int],
    expired: Callable[[], bool],
) -> dict[str, str] | None:
    """Depth first: a location is given a value, and the jumps between the locations that have
    one are checked."""
    known: dict[tuple[int, str, str], bool] = {}

    def matches(places: dict[str, str], new: str) -> bool:
        partial = replace(relation, places=places)
        for name in places:
            for edge in relation.detailed.edges_from(name):
                if new in (name, edge.target) and edge.target in places:
                    key = (id(edge), places[name], places[edge.target])
                    if key not in known:
                        jumps = [j for j in partial.jumps(name) if j.edge is edge]
                        known[key] = failing(jumps) == 0
                    if not known[key]:
                        return False
        starts = [s for s in partial.starts() if s.location == new]
        return failing(starts) == 0

    chosen: list[int] = [0]
    steps = 0
    while chosen and steps < MAX_STEPS and not expired():
        steps += 1
        depth = len(chosen) - 1
        if chosen[-1] >= len(domains[order[depth]]):
            chosen.pop()
            if chosen:
                chosen[-1] += 1
            continue
        places = {order[i]: domains[order[i]][c] for i, c in enumerate(chosen)}
        if not matches(places, order[depth]):
            chosen[-1] += 1
        elif len(chosen) == len(order):
            return places
        else:
            chosen.append(0)
    return None
