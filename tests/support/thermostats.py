"""The worked refinement cases: a two-mode heater and what it is compared with."""

from __future__ import annotations

from workbench.models.automaton import (
    Constraint,
    Edge,
    HybridAutomaton,
    Initial,
    Location,
    Range,
    Variable,
)
from workbench.models.expressions.text import parse_expression


def chosen(text: str) -> Range:
    """`[low, high]` or a single value."""
    if text.startswith("["):
        low, high = text[1:-1].split(",")
        return Range(parse_expression(low), parse_expression(high))
    return Range.exactly(parse_expression(text))


def heater(
    name: str = "C",
    *,
    on: str = "(40-x)/10",
    off: str = "-x/10",
    on_invariant: str = "x >= 18 && x <= 22",
    off_invariant: str = "x >= 18 && x <= 22",
    stop: str = "x >= 21.5",
    go: str = "x <= 18.5",
    init: str = "x >= 19 && x <= 20",
    reset: str | None = None,
    variables: tuple[str, ...] = ("x",),
) -> HybridAutomaton:
    """A heater that is on, then off; every part can be changed."""
    resets = () if reset is None else (Constraint("x", chosen(reset)),)
    places = (("ON", on, on_invariant), ("OFF", off, off_invariant))
    return HybridAutomaton(
        name,
        tuple(map(Variable, variables)),
        tuple(
            Location(place, (Constraint("x", chosen(flow)),), (), parse_expression(invariant))
            for place, flow, invariant in places
        ),
        (
            Edge("ON", "OFF", parse_expression(stop), resets, name="ON -> OFF"),
            Edge("OFF", "ON", parse_expression(go), name="OFF -> ON"),
        ),
        (Initial("ON", parse_expression(init)),),
    )


def simple_heater(**changes: str) -> HybridAutomaton:
    """What the heater is compared with: bounds on how fast it warms and cools."""
    given = {
        "on": "[1, 4]",
        "off": "[-4, -1]",
        "on_invariant": "x <= 22",
        "off_invariant": "x >= 18",
        "stop": "x >= 21",
        "go": "x <= 19",
        "init": "x >= 19 && x <= 21",
        **changes,
    }
    return heater("A", **given)  # type: ignore[arg-type]


def one_room() -> HybridAutomaton:
    """A single location that allows any temperature between 18 and 22."""
    flow = Constraint("x", chosen("[-3, 3]"))
    inside = parse_expression("x >= 18 && x <= 22")
    place = Location("room", (flow,), (), inside)
    return HybridAutomaton("room", (Variable("x"),), (place,), (), (Initial("room", inside),))
