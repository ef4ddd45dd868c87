"""At the boundary of an invariant: inclusions that give way, parts that are only touched, and
states that have just landed there."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from workbench.models.automaton import EventKind
from workbench.models.trace import EventType
from workbench.simulate.landing import Boundary
from workbench.simulate.loop.ending import blocked
from workbench.simulate.loop.instant import Departure, Instant, StayNotes, Touch
from workbench.simulate.loop.past import newest_first
from workbench.simulate.place import Hold, Place, Prepared
from workbench.simulate.stepping.calculator import Calculator
from workbench.simulate.stepping.methods import RESIDUAL, shortest_step

LOOK_AWAY = 1e-6
"""For this part of the time a boundary that is touched is not looked at."""

_ROUNDING = 4.0 * 2.0**-53


def inside(now: Instant, rtol: float, atol: float) -> bool:
    """Whether the state satisfies the invariant within tolerance: of both sides while it
    slides."""
    name, slide, invariant = now.place.name, now.place.slide, now.prepared.invariant
    if not invariant(name)(now.values, rtol, atol):
        return False
    return slide is None or slide.above == name or invariant(slide.above)(now.values, rtol, atol)


# Inclusions that give way (see `simulate.holding` for the rates)


def hold(now: Instant, place: Place, forced: Sequence[int]) -> tuple[Instant, list[int]]:
    """Let inclusions give way so that the invariant stays satisfied on its boundary, and the
    parts that cannot be kept in this way (if there are any, nothing gives way)."""
    holds, unheld = list(place.holds), []
    for part in forced:
        name = _giving_way(now, place, part, tuple(holds))
        if name is None:
            unheld.append(part)
        else:
            holds.append((name, part))
    if unheld:
        return now, unheld
    now = now.with_place(now.prepared.place(place.name, tuple(holds), place.landed))
    for name, part in holds[len(place.holds) :]:
        now = now.logged(EventType.HELD, f"d({name}) keeps {place.exit_names[part]}")
    return now, []


def _giving_way(now: Instant, place: Place, part: int, holds: tuple[Hold, ...]) -> str | None:
    """A variable whose inclusion contains the rate that keeps a part of the invariant, while
    all that is held already can still be held."""
    for name, calculate in now.prepared.holders(place.name, holds, part):
        needed = calculate(now.values)
        if all(
            low <= rate <= high
            for low, rate, high in zip(needed[::3], needed[1::3], needed[2::3], strict=True)
        ):
            return name
    return None


def release(now: Instant, place: Place, index: int) -> Instant:
    """Let an inclusion follow its own choice again."""
    p, given_way = now.prepared, place.holds[index]
    name, _ = given_way
    now = now.logged(EventType.RELEASED, f"d({name})")
    values = {**now.values, name: p.projected(place.name, given_way, now.values)}
    kept = tuple(h for h in place.holds if h != given_way)
    if not p.can_hold(place.name, kept):
        kept = ()
    return now._replace(values=values, place=p.place(place.name, kept, place.landed))


# Boundaries that are touched


def look_away(now: Instant, parts: Sequence[int], edges: Sequence[int]) -> Instant:
    """A part of the invariant is touched but not about to be violated, or a guard whose edge
    is not taken: look away from it for an instant, then test it."""
    known, until = now.stay.touch, now.scenario.until
    touch = Touch(
        frozenset(parts) if known is None else known.parts.union(parts),
        frozenset(edges) if known is None else known.edges.union(edges),
        now.time + LOOK_AWAY * max(until, now.time),
        now._replace(stay=StayNotes()),
    )
    return now._replace(stay=now.stay._replace(touch=touch))


def look_again(now: Instant, touch: Touch) -> Instant:
    """After the touch: the invariant must still hold, within tolerance; else what was done
    while looking away is undone."""
    now = now._replace(stay=now.stay._replace(touch=None))
    tolerances = now.scenario.tolerances
    if touch.parts and now.prepared.broken(now.place.name, now.values, *tolerances):
        before = touch.before
        past = now.past.with_states_of(before.past)
        back = now._replace(time=before.time, values=before.values, past=past)
        raise blocked(back, now.place, sorted(touch.parts))
    return now


def starts_on(now: Instant, place: Place, part: int) -> bool:
    """Whether the state lies on the boundary of a part of the invariant, or beyond it by no
    more than the tolerance, while the flow leads to the inside."""
    tolerances = now.scenario.tolerances
    is_inside = inside(now, *tolerances)
    if is_inside and part in now.prepared.broken(place.name, now.values, *tolerances):
        return False
    return is_inside and now.prepared.leads_inward(place, place.exits[part], now.values)


# States that have just landed (see `simulate.landing`)


def slack_granted(now: Instant, place: Place, part: int) -> Mapping[str, float] | None:
    """What a state that has only just landed on a part of the invariant lies beyond it, as values
    of the place in which that part is loosened; None if it has not."""
    if now.here.departures is None or part in place.landed:
        return None
    boundary = _boundary(now.prepared, place, part)
    slacks = boundary.slacks(now.values, _tolerances(now))
    if not any(slacks.values()) or not boundary.holds({**now.values, **slacks}, 0.0, 0.0):
        return None
    return slacks


def _boundary(prepared: Prepared, place: Place, part: int) -> Boundary:
    key = (place.name, part)
    if key not in prepared.landings:
        prepared.landings[key] = Boundary(prepared, place.exits[part], part)
    return prepared.landings[key]


def _tolerances(now: Instant) -> dict[str, float]:
    """How exactly each variable is known after an event: what passes while the clock does not
    tell, and the distance that is kept from a guard."""
    rates, (rtol, atol) = _rates(now), now.scenario.tolerances
    crossed = any(d.kind is EventKind.CROSSING for d in newest_first(now.here.departures))
    part, least = (1.0 if crossed else RESIDUAL), shortest_step(now.time, now.scenario.until)
    found = {}
    for name in now.prepared.names:
        size = abs(now.values[name])
        distance = part * (atol + rtol * size) + _ROUNDING * size
        found[name] = distance + 4.0 * least * rates.get(name, 0.0)
    return found


def _rates(now: Instant) -> dict[str, float]:
    """How fast the values after the jumps of this instant change with its time."""
    departures: list[Departure] = list(newest_first(now.here.departures))[::-1]
    first = departures[0]
    names, speeds = _speeds(now.prepared, first.place)
    rates = {n: abs(v) for n, v in zip(names, speeds(first.values), strict=True) if v == v}
    for departure in departures:
        if departure.jump is not None:
            rates |= departure.jump.carried(departure.values, rates)
    return {n: v for n, v in rates.items() if v < math.inf}


def _speeds(prepared: Prepared, place: Place) -> tuple[tuple[str, ...], Calculator]:
    """The variables that flow in a place, and their derivatives."""
    key = (place.name, place.holds)
    if key not in prepared.speeds:
        flows = prepared.flows(*key)
        calculator = Calculator(list(flows.values()), prepared.symbols, prepared.externals)
        prepared.speeds[key] = tuple(flows), calculator
    return prepared.speeds[key]
