"""Onto a surface and from it again, where the run slides (see `simulate.surfaces`)."""

from __future__ import annotations

from workbench.models.expressions.printing import to_text
from workbench.models.trace import Ending, EventType
from workbench.simulate.loop.accumulation import offer
from workbench.simulate.loop.instant import Instant
from workbench.simulate.place import Place
from workbench.simulate.surfaces import Surface


def slide(now: Instant, surface: Surface) -> Instant:
    """Go on along a surface. Where two of them take turns at one instant, each leads onto the
    other; what is true in their intersection cannot be told from two sides at a time."""
    slides, left = now.prepared.slides, now.place.slide
    if surface in now.here.entered and left is not None:
        raise now.ended(
            Ending.CHATTERING,
            f"At t = {now.time:.10g} the state lies on two surfaces of edges at once,"
            f" `{left.text}` and `{surface.text}`, and sliding on one leads onto the other:"
            " how it goes on where they meet is not known, so the run stops.",
            surface.text,
        )
    here = now.here._replace(entered=now.here.entered | {surface})
    jumps = now.jumps.with_change(now.time, now.scenario.until)
    now = now._replace(here=here, jumps=jumps)
    if jumps.chatters():
        raise now.ended(
            Ending.CHATTERING,
            f"The run enters the surface `{surface.text}` again and again at t = {now.time:.10g}"
            " almost without time passing.",
            surface.text,
        )
    now = now.logged(EventType.SLIDES, surface.text, surface.above)
    return now.in_place(slides.place(surface), slides.onto(surface, now.values))


def leave_surface(now: Instant, surface: Surface, above: bool) -> Instant:
    """Go on beside the surface."""
    p = now.prepared
    values = p.slides.onto(surface, now.values)
    target = surface.above if above else surface.below
    now = now.with_values(values).logged(EventType.LEAVES, surface.text, target)
    if above and surface.branch is None:
        values = {**values, **p.jump(surface.below, surface.up)(values, ())}
    base = surface.base
    now = now.in_place(p.place(target) if base is None else p.slides.place(base), values)
    now = now._replace(jumps=now.jumps.with_change(now.time, now.scenario.until))
    if now.jumps.chatters():
        raise now.ended(
            Ending.CHATTERING,
            f"The run enters and leaves the surface `{surface.text}` again and again at"
            f" t = {now.time:.10g} almost without time passing.",
            surface.text,
        )
    return now


def branch_changed(now: Instant, place: Place, j: int) -> tuple[Instant, bool]:
    """A branch inside the flow changed; without end at one instant this is chattering, unless
    the run may slide (whether it does is the other answer)."""
    now = now._replace(jumps=now.jumps.with_change(now.time, now.scenario.until))
    condition = place.conditions[j // 2]
    if now.scenario.sliding:
        surface = now.prepared.slides.at_branch(place, condition, now.values)
        if surface is not None:
            return slide(now, surface), True
    if now.jumps.chatters():
        raise now.ended(
            Ending.CHATTERING,
            f"The flow of `{place.name}` switches back and forth at t = {now.time:.10g} almost"
            f" without time passing (chattering) where `{to_text(condition)}`"
            f" changes{offer(now)}.",
            to_text(condition),
        )
    return now, False
