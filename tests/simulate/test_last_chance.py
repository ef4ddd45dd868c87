"""The moment at which safety was lost, against what paper says about braking."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.models.expressions.evaluation import evaluate
from workbench.models.load import load_text
from workbench.models.verdict import LastChance
from workbench.simulate.inputs.signals import Formula, Lines, Steps, going_on, line_at, sine
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


def test_time_goes_on_from_the_run() -> None:
    """The wall drives off with speed t: braking from t on, the gap is least after (20 - t)/9, and
    50 - 20 t + t^2/2 - (20 - t)^2/18 then; which is 0 where 8 t^2 - 320 t + 500 is."""
    found = told(car(front="time"))
    assert found is not None
    assert found.time == pytest.approx((320 - math.sqrt(320**2 - 16000)) / 16, abs=1e-6)


def test_a_signal_goes_on_from_a_later_time() -> None:
    for signal in (Steps((0.0, 2.0), (1.0, 3.0)), Lines((0.0, 2.0), (1.0, 3.0)), sine(1, 2, 3)):
        later = going_on(signal, 1.5)
        if isinstance(signal, Formula) and isinstance(later, Formula):
            values = [float(evaluate(later.expression, {"time": t - 1.5})) for t in (1.5, 4.0)]
            assert values == pytest.approx(
                [float(evaluate(signal.expression, {"time": t})) for t in (1.5, 4.0)]
            )
        elif not isinstance(signal, Formula) and not isinstance(later, Formula):
            for t in (1.5, 1.9, 4.0):
                (a, b), (c, d) = line_at(signal, t), line_at(later, t - 1.5)
                assert a + b * t == pytest.approx(c + d * (t - 1.5))


def test_jumps_that_the_rescue_decides_are_made_anew() -> None:
    """Braking takes 25 m; who comes as near as 20 m is set 2 m nearer, so 27 m are needed."""
    text = (
        car().replace("mode top = Drive();", "mode top = Top();")
        + """
    mode Top() { write analog real gap, speed; mode drive = Drive();
      trans from init to drive;
      trans from drive to drive when gap <= 20 && gap >= 19 do { gap = gap - 2; } }
    """
    )
    found = told(text)
    assert found is not None and found.time == pytest.approx((50 - 27) / 20, abs=1e-6)
    assert found.state == pytest.approx({"gap": 27, "speed": 20}, abs=1e-5)


def test_ranges_are_used_as_in_the_run() -> None:
    """In the middle of its range the gap shrinks by v + v^2/800: braking takes 25 + 5/12."""
    text = car().replace("d(gap) == 0 - speed", "d(gap) in [-speed - speed^2/400, -speed]")
    found = told(text, Policy(level=Level.MID))
    assert found is not None
    assert found.time == pytest.approx((25 - 5 / 12) / 20.5, abs=1e-6)


def test_a_rescue_that_cannot_go_on_tells_nothing() -> None:
    """The car must not be slower than 5, and there is no other mode."""
    text = (
        car(more="inv { speed >= 5 }").replace("mode top = Drive();", "mode top = Top();")
        + """
    mode Top() { write analog real gap, speed; mode drive = Drive();
      trans from init to drive;
      trans from drive to drive when gap <= 20 && gap >= 19 do { gap = gap - 2; } }
    """
    )
    found = told(text)
    assert found is not None and found.time is None
    assert found.sentence.startswith("when safety was lost cannot be told: ")
    assert "speed >= 5" in found.sentence


PLACES = """
mode Flat() {{ write analog real gap; read analog real speed; diff {{ d(gap) == -speed; }} }}
mode Uphill() {{ write analog real gap; read analog real speed; diff {{ d(gap) == -speed/2; }} }}
mode Road() {{ write analog real gap; read analog real speed;
  private analog real clock = 0;
  diff {{ d(clock) == 1; }}
  mode flat = Flat(); mode uphill = Uphill();
  trans from init to flat;
  urgent trans from flat to uphill when {when};
}}
mode Drive() {{ write analog real speed; diff {{ d(speed) == 0; }} }}
agent Way() {{ write analog real gap; read analog real speed; init {{ gap = 50; }} mode top = Road(); }}
agent Car() {{ write analog real speed; init {{ speed = 20; }} mode top = Drive(); }}
agent Both() {{ private analog real gap, speed; agent way = Way(); agent car = Car();
  assert "no crash" {{ gap > 0 }} rescue {{ d(speed) == speed > 0 ? -8 : 0; }} }}
"""


def test_where_an_agent_was_decides_how_it_flows() -> None:
    """Uphill after 1 s, whatever the car does: then 12.5 m are enough, and half of 20 m/s lost."""
    found = told(PLACES.format(when="clock >= 1"))
    assert found is not None and found.time == pytest.approx(1 + (30 - 12.5) / 10, abs=1e-6)


def test_an_agent_that_looks_at_what_is_rescued_goes_on_by_its_own_rules() -> None:
    """Uphill from 20 m on: from g > 20 braking on the flat leaves a speed with v^2 = 400 - 16 (g -
    20), which takes v^2/32 uphill; 20 m are enough from any g, so it is 12.5 m uphill again."""
    found = told(PLACES.format(when="gap <= 20"))
    assert found is not None and found.time == pytest.approx(1.5 + (20 - 12.5) / 10, abs=1e-6)
    assert found.course is not None
    assert found.course.at(found.course.end)["gap"] == pytest.approx(0, abs=1e-6)


def test_agents_that_jump_together_are_not_told_of() -> None:
    text = """
    mode Drive() { write analog real x, v; read analog real w;
      diff { d(x) == v; d(v) == w; } }
    agent Car(int i) { write analog real x, v; read analog real w;
      init { x = 10*i; v = 10 - i; } mode top = Drive(); }
    mode Wind() { write analog real w; diff { d(w) == 0; } }
    agent Air() { write analog real w; init { w = 0; } mode top = Wind(); }
    agent Road() {
      private analog real x[1..2], v[1..2], w;
      agent air = Air();
      agent car[i in 1..2] = Car(i) [ x, v := x[i], v[i] ];
      urgent interaction bump between a, b in car when b.x - a.x <= 5 && a.v > b.v
        do { let before = a.v; a.v = b.v; b.v = before; }
      assert "apart" { x[1] < 50 } rescue { d(w) == -1; }
    }
    """
    found = told(text)
    assert found is not None and found.time is None
    assert found.sentence.startswith("when safety was lost cannot be told: ")


def test_without_a_rescue_nothing_is_told() -> None:
    text = car()
    begin, end = text.index("rescue"), text.index(" }\n}")
    assert told(text[:begin] + text[end + 2 :]) is None
