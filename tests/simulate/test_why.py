"""What edges lack is what a search for the nearest enabled state finds, and what the run did."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Callable
from typing import Any

import pytest

import workbench
from workbench.cli import run
from workbench.models.automaton import BOOL, Edge, HybridAutomaton, Initial, Location, Variable
from workbench.models.expressions.expression import (
    Expression,
    conjunction,
    disjunction,
    negation,
    variable,
)
from workbench.simulate.place import Prepared
from workbench.simulate.why import Chance, explain

NAMES = ("x", "y", "z", "w")


def chances(guard: Expression, values: dict[str, Any]) -> Chance:
    """The one edge of an automaton, in a state."""
    names = [Variable(n) for n in NAMES] + [Variable("on", BOOL)]
    edge = Edge("here", "there", guard)
    places = (Location("here"), Location("there"))
    automaton = HybridAutomaton("m", tuple(names), places, (edge,), (Initial("here"),))
    (found,) = explain(Prepared(automaton), "here", {"time": 0.0, "on": False, **values}).edges
    return found


Truth = Callable[[dict[str, float]], bool]


def random_condition(chance: random.Random, names: list[str]) -> tuple[Expression, Truth]:
    """A condition in which every variable is compared once, and the same in Python."""
    if len(names) == 1:
        name, bound = names[0], chance.randint(-3, 3)
        x, sort = variable(name), chance.randrange(4)
        made: list[tuple[Expression, Truth]] = [
            (x >= bound, lambda v: v[name] >= bound),
            (x <= bound, lambda v: v[name] <= bound),
            (negation(x > bound), lambda v: not v[name] > bound),
            (2 * x >= 2 * bound, lambda v: v[name] >= bound),
        ]
        return made[sort]
    cut = chance.randrange(1, len(names))
    left, holds_left = random_condition(chance, names[:cut])
    right, holds_right = random_condition(chance, names[cut:])
    if chance.random() < 0.5:
        return conjunction(left, right), lambda v: holds_left(v) and holds_right(v)
    return disjunction(left, right), lambda v: holds_left(v) or holds_right(v)


@pytest.mark.parametrize("seed", range(40))
def test_a_guard_lacks_the_distance_to_the_nearest_state_in_which_it_holds(seed: int) -> None:
    chance = random.Random(seed)
    guard, holds = random_condition(chance, list(NAMES))
    values = {name: float(chance.randint(-4, 4)) for name in NAMES}
    steps = range(8)  # every bound is a whole number, at most 7 away
    nearest = next(
        distance
        for distance in steps
        if any(
            holds({n: values[n] + d for n, d in zip(NAMES, way, strict=True)})
            for way in itertools.product((-distance, 0, distance), repeat=len(NAMES))
        )
    )
    found = chances(guard, dict(values))
    assert found.holds is holds(values)
    if any(" 2*" in f" {part.text}" for part in found.parts):
        assert found.lacking is not None and nearest <= found.lacking <= 2 * nearest
    else:
        assert found.lacking == nearest
    for part in found.parts:
        assert part.holds is (part.lacking == 0)


def test_propositions_have_no_measure() -> None:
    x, on = variable("x"), variable("on")
    found = chances(conjunction(on, x >= 5), {"x": 2.0})
    assert (found.holds, found.lacking) == (False, None)
    assert [(p.value, p.bound, p.lacking) for p in found.parts] == [
        (False, None, None),
        (2.0, 5.0, 3.0),
    ]
    assert chances(disjunction(on, x >= 5), {"x": 2.0}).lacking == 3.0
    assert chances(conjunction(on, x >= 5), {"x": 7.0, "on": True}).enabled


def test_a_condition_without_a_value_does_not_hold() -> None:
    found = chances(1 / variable("x") > 2, {"x": 0.0})
    assert (found.holds, found.lacking) == (False, None)
    assert found.parts[0].value is None


@pytest.mark.parametrize(
    "name", ["thermostat_timer", "platoon", "leaky_tank", "bouncing_ball", "platoon_saturated"]
)
def test_a_run_takes_what_is_enabled_and_nothing_else(name: str) -> None:
    """Runs take edges as soon as they can: what is enabled in the middle of a stay was so when it
    began (and led back to where it came from); at a jump the edge is enabled that was taken."""
    made = workbench.load(name).simulate(until=20)[0]
    assert made.jumps
    stays = [s for s in made.trace.segments if s.end - s.start > 1e-3]  # beyond tolerance
    for segment in stays:
        middle = (segment.start + segment.end) / 2
        moment = made.why(middle)
        assert moment.location == segment.location
        begun = {edge.name for edge in made.why(segment.start).edges if edge.enabled}
        assert {edge.name for edge in moment.edges if edge.enabled} <= begun
        assert all(part.holds for part in moment.invariant)
    for jump in made.jumps:
        if sum(other.time == jump.time for other in made.jumps) == 1:
            before = made.why(jump.time, before=True)
            assert jump.name in [edge.name for edge in before.edges if edge.enabled]


GATED = """\
mode Wait() {
  write analog real t;
  diff { d(t) == 1; }
}
mode Busy() {
  write analog real t;
  diff { d(t) == 1; }
  inv { t >= 3 && t <= 9 }
}
mode Top() {
  write analog real t;
  read discrete enum { red, green } light;
  mode wait = Wait();
  mode busy = Busy();
  trans from init to wait;
  trans #go from wait to busy when t >= 1;
  trans #late from wait to busy when light == green && t >= 1;
}
agent Machine() {
  private analog real t;
  private discrete enum { red, green } light;
  init { t = 0; light = red; }
  mode top = Top();
}
"""


def test_an_edge_that_leads_outside_the_targets_invariant() -> None:
    made = workbench.load(GATED).simulate(until=5)[0]
    go, late = made.why(2).edges
    assert (go.holds, go.enabled, go.blocked) == (
        True,
        False,
        "it leads outside the target's invariant",
    )
    assert [(p.text, p.lacking) for p in go.missed] == [("t >= 3", pytest.approx(1.0))]
    light = late.parts[0]
    assert (light.text, light.value, light.bound) == ("light == green", "red", "green")
    text = str(made.why(2))
    assert "its guard holds, but it leads outside the target's invariant" in text
    assert "t >= 3: does not hold (2 against 3, lacks 1)" in text
    assert [edge.enabled for edge in made.why(4).edges] == [True, False]


def test_equations_and_other_agents_count() -> None:
    made = workbench.load("platoon").simulate()[0]
    moment, values = made.why(10), made.at(10)
    close = next(edge for edge in moment.edges if edge.name.endswith("close"))
    assert close.parts[0].value == pytest.approx(values["follower.controller.error"])
    assert close.lacking == pytest.approx(values["follower.controller.error"] + 1)


def test_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["simulate", "thermostat_timer", "--why"]
    assert run([*asked, "0.5"]) == 0
    assert "heat -> cool, to cool: not enabled, lacks 0.5" in capsys.readouterr().out
    assert run([*asked, "0.5", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert [edge["lacking"] for edge in data["why"]["edges"]] == [0.5, 1.5]
    assert run([*asked, "50"]) == 2
    assert "the run is from 0 to 20" in capsys.readouterr().err


def test_a_run_without_its_model_cannot_say() -> None:
    made = workbench.load("bouncing_ball").simulate(until=1)[0]
    with pytest.raises(workbench.RequestError, match="does not know its model"):
        workbench.Run(made.trace).why(0.5)
    with pytest.raises(ValueError, match="the run is from 0 to 1"):
        made.why(2)
