"""The moment at which safety was lost, against what paper says about braking."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.models.load import load_text
from workbench.models.verdict import LastChance
from workbench.simulate.last_chance import last_chance
from workbench.simulate.policy import Level, Policy
from workbench.simulate.recipe import Recipe, repeat

CAR = """
mode Drive() {{
  write analog real gap, speed;
  diff {{ d(gap) == {front} - speed; d(speed) == {law}; }}
  {more}
}}
agent Car() {{
  private analog real gap, speed;
  init {{ gap = {gap}; speed = {speed}; }}
  mode top = Drive();
  assert "no crash" {{ gap > 0 }} rescue {{ d(speed) == speed > 0 ? -{brake} : 0; }}
}}
"""


def told(text: str, policy: Policy | None = None) -> LastChance | None:
    automaton = load_text(text, "car.charon").automaton
    recipe = Recipe(60.0, policy=policy or Policy())
    trace = repeat(automaton, recipe)
    assert str(trace.outcome.ending) == "violation"
    return last_chance(automaton, automaton.properties[0], trace, recipe)


def car(**values: object) -> str:
    chosen = {"front": 0, "law": 0, "more": "", "gap": 50, "speed": 20, "brake": 8} | values
    return CAR.format(**chosen)


@settings(max_examples=15, deadline=None)
@given(st.integers(10, 40), st.integers(2, 12), st.integers(1, 60))
def test_a_car_that_does_not_brake_before_a_wall(speed: int, brake: int, spare: int) -> None:
    """It needs v^2/(2b) to stand still."""
    gap = math.ceil(speed**2 / (2 * brake)) + spare
    found = told(car(gap=gap, speed=speed, brake=brake))
    assert found is not None and found.time is not None
    assert found.time == pytest.approx((gap - speed**2 / (2 * brake)) / speed, abs=1e-6)
    assert found.rescue.startswith("d(speed) == ")
    assert f"{found.time:.6g}" in found.sentence


def test_a_wall_that_is_too_near() -> None:
    found = told(car(gap=10, speed=40, brake=8))
    assert found is not None and found.time is None
    assert "from the start" in found.sentence


def test_the_others_do_what_they_did_in_the_run() -> None:
    """The front brakes with 5; the follower keeps 20 and could brake with 8."""
    text = """
    mode Front() { write analog real v; diff { d(v) in [-5, 0]; } inv { v >= 0 } }
    agent Ahead() { write analog real v; init { v = 20; } mode top = Front(); }
    mode Follow() { write analog real gap, speed; read analog real v;
      diff { d(gap) == v - speed; d(speed) == 0; } }
    agent Behind() { write analog real gap, speed; read analog real v;
      init { gap = 10; speed = 20; } mode top = Follow(); }
    agent Both() { private analog real v, gap, speed; agent a = Ahead(); agent b = Behind();
      assert "no crash" { gap > 0 } rescue { d(speed) == speed > 0 ? -8 : 0; } }
    """
    found = told(text, Policy(level=Level.LOW))
    # At t the gap is 10 - 2.5 t^2 and closes with 5 t, from then on 3 slower each second: the
    # least gap is 10 - 2.5 t^2 - (5 t)^2/6.
    assert found is not None and found.time == pytest.approx(
        math.sqrt(10 / (2.5 + 25 / 6)), abs=1e-5
    )


@pytest.mark.parametrize(
    "more",
    [
        # The mode that the run is in decides how the gap changes, and the rescue where it goes.
        "trans from default to default when gap <= 20 do { gap = gap - 1; }",
        # Nothing says what the gap would have done.
        "diff { d(gap) in [-21, -19]; }",
    ],
)
def test_what_jumps_and_ranges_decide_is_not_told(more: str) -> None:
    text = car(more=more)
    if "in [" in more:
        text = text.replace("d(gap) == 0 - speed;", "").replace(
            "[-21, -19]", "[-speed - 1, -speed]"
        )
    if "trans" in more:
        text = (
            text.replace(more, "").replace("mode top = Drive();", "mode top = Top();")
            + """
        mode Top() { write analog real gap, speed; mode drive = Drive();
          trans from init to drive;
          trans from drive to drive when gap <= 20 && gap >= 19 do { gap = gap - 2; } }
        """
        )
    assert told(text) is None


def test_without_a_rescue_nothing_is_told() -> None:
    text = car()
    begin, end = text.index("rescue"), text.index(" }\n}")
    assert told(text[:begin] + text[end + 2 :]) is None
