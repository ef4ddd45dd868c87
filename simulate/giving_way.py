"""What a run does at a boundary that an inclusion can keep: give way there, and let go again.

See `simulate.holding` for the rates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.models.trace import EventType
from workbench.simulate.place import Hold, Place

if TYPE_CHECKING:
    from workbench.simulate.execution import Execution


def hold(run: Execution, place: Place, forced: list[int]) -> list[int]:
    """Let inclusions give way so that the invariant stays satisfied on its boundary;
    the parts that cannot be kept in this way (and then none is)."""
    p, holds = run.prepared, list(place.holds)
    unheld = []
    for part in forced:
        name = giving_way(run, place, part, tuple(holds))
        if name is None:
            unheld.append(part)
        else:
            holds.append((name, part))
    if not unheld:
        run.place = p.place(place.name, tuple(holds), place.landed)
        for name, part in holds[len(place.holds) :]:
            run.log(EventType.HELD, f"d({name}) keeps {place.exit_names[part]}")
    return unheld


def giving_way(run: Execution, place: Place, part: int, holds: tuple[Hold, ...]) -> str | None:
    """A variable whose inclusion contains the rate that keeps a part of the invariant, while
    all that is held already can still be held."""
    for name, calculate in run.prepared.holders(place.name, holds, part):
        needed = calculate(run.env)
        if all(
            low <= rate <= high
            for low, rate, high in zip(needed[::3], needed[1::3], needed[2::3], strict=True)
        ):
            return name
    return None


def release(run: Execution, place: Place, index: int) -> None:
    """Let an inclusion follow its own choice again."""
    hold: Hold = place.holds[index]
    run.log(EventType.RELEASED, f"d({hold[0]})")
    run.env[hold[0]] = run.prepared.projected(place.name, hold, run.env)
    kept = tuple(h for h in place.holds if h != hold)
    if not run.prepared.can_hold(place.name, kept):
        kept = ()
    run.place = run.prepared.place(place.name, kept, place.landed)
