"""Agents with clocks of their own, against an event-driven log in closed form."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.models.expressions.text import parse_expression
from workbench.models.load import load
from workbench.models.source import ModelError
from workbench.models.trace import Ending
from workbench.simulate.agents.asynchronous import prepare_agents, simulate_agents
from workbench.simulate.agents.coupling import group_components
from workbench.simulate.agents.distances import distance_bounds
from workbench.simulate.agents.fleet import is_available
from workbench.simulate.run import simulate
from workbench.simulate.stepping.methods import Adams, Taylor

pytestmark = pytest.mark.skipif(not is_available(), reason="needs the compiled core")

RADIUS, SIZE, RESTITUTION = 0.1, 10.0, 0.9


def event_driven(cars, until):
    """Cars on straight lines: the next event of all walls and pairs in closed form."""
    cars, t, log = [list(c) for c in cars], 0.0, []
    while True:
        when, what = until, None
        for i, (x, y, vx, vy) in enumerate(cars):
            walls = [
                ("west", x - RADIUS, -vx),
                ("east", SIZE - RADIUS - x, vx),
                ("south", y - RADIUS, -vy),
                ("north", SIZE - RADIUS - y, vy),
            ]
            for name, distance, speed in walls:
                if speed > 0 and t + distance / speed < when:
                    when, what = t + distance / speed, (name, i)
            for j in range(i + 1, len(cars)):
                dt = touching(cars[i], cars[j])
                if dt is not None and t + dt < when:
                    when, what = t + dt, ("bump", i, j)
        for car in cars:
            car[0] += car[2] * (when - t)
            car[1] += car[3] * (when - t)
        t = when
        if what is None:
            return log, cars
        log.append((t, what))
        if what[0] == "bump":
            bounce(cars[what[1]], cars[what[2]])
        else:
            cars[what[1]][2 if what[0] in ("west", "east") else 3] *= -RESTITUTION


def touching(a, b):
    dx, dy, ux, uy = (p - q for p, q in zip(a, b, strict=True))
    closing = dx * ux + dy * uy
    if closing >= 0:
        return None
    speed, gap = ux * ux + uy * uy, dx * dx + dy * dy - 4 * RADIUS**2
    root = closing * closing - speed * gap
    return None if root < 0 else max(gap / (-closing + math.sqrt(root)), 0.0)


def bounce(a, b):
    dx, dy = a[0] - b[0], a[1] - b[1]
    along = (dx * (a[2] - b[2]) + dy * (a[3] - b[3])) / (dx * dx + dy * dy)
    push = (1 + RESTITUTION) / 2 * along
    for car, sign in ((a, -1), (b, 1)):
        car[2] += sign * push * dx
        car[3] += sign * push * dy


def cars_at(result, t, count):
    values = result.at(t)
    return [[values[f"car[{i}].{k}"] for k in ("x", "y", "vx", "vy")] for i in range(1, count + 1)]


def log_of(result):
    return [(e.name, *(int(a[4:-1]) - 1 for a in e.agents)) for e in result.events]


@pytest.fixture(scope="module")
def bumper_cars():
    return prepare_agents(load("bumper_cars").automaton)


class TestBumperCars:
    def test_first_hundred_events_are_those_of_the_exact_log(self, bumper_cars):
        result = simulate_agents(bumper_cars, until=100.0)
        assert result.outcome.ending is Ending.HORIZON
        log, _ = event_driven(cars_at(result, 0.0, 20), 100.0)
        assert log_of(result)[:100] == [what for _, what in log[:100]]
        early = zip(result.events[:60], log[:60], strict=True)
        assert max(abs(e.time - t) for e, (t, _) in early) < 1e-3

    def test_tight_tolerance_follows_further(self, bumper_cars):
        method = Adams(rtol=1e-12, atol=1e-15)
        result = simulate_agents(bumper_cars, until=60.0, method=method)
        log, cars = event_driven(cars_at(result, 0.0, 20), 60.0)
        assert log_of(result) == [what for _, what in log]
        assert (
            max(
                abs(a - b)
                for mine, exact in zip(cars_at(result, 60.0, 20), cars, strict=True)
                for a, b in zip(mine, exact, strict=True)
            )
            < 1e-3  # bounces amplify errors about 1e8 times in this time
        )

    def test_far_fewer_steps_than_with_one_clock(self, bumper_cars):
        alone = simulate_agents(bumper_cars, until=30.0)
        together = simulate_agents(bumper_cars, until=30.0, synchronous=True)
        assert len(alone.sizes) == 20
        assert len(together.sizes) == 1
        assert together.agent_steps >= 5 * alone.agent_steps
        steps = alone.counts.steps
        assert alone.looks < 19 * steps  # not every pair at every step

    def test_traces_are_continuous_except_at_jumps(self, bumper_cars):
        result = simulate_agents(bumper_cars, until=20.0)
        for name, trace in result.traces.items():
            assert trace.end == 20.0
            for a, b in zip(trace.segments, trace.segments[1:], strict=False):
                assert a.end == b.start
                before, after = a.valuation(a.end), b.valuation(b.start)
                for k in ("x", "y"):
                    assert after[f"{name}.{k}"] == pytest.approx(before[f"{name}.{k}"], abs=1e-9)

    def test_only_those_in_an_event_restart(self, bumper_cars):
        result = simulate_agents(bumper_cars, until=20.0)
        for name, trace in result.traces.items():
            mine = sum(name in e.agents for e in result.events)
            assert len(trace.segments) <= mine + 1

    def test_repeats_exactly(self, bumper_cars):
        first = simulate_agents(bumper_cars, until=20.0)
        again = simulate_agents(bumper_cars, until=20.0)
        assert first.events == again.events
        assert first.looks == again.looks


@st.composite
def starts(draw):
    """Three cars that do not touch at first."""
    middle = st.floats(0.5, 9.5, allow_nan=False)
    speed = st.floats(-1, 1, allow_nan=False)
    return [
        (draw(st.floats(0.5 + 3 * i, 3 * i + 2.5)), draw(middle), draw(speed), draw(speed))
        for i in range(3)
    ]


FEW = """
mode Drive() {
  write analog real x, y;
  write discrete real vx, vy;
  diff { d(x) == vx; d(y) == vy; }
  inv { x >= 0.1; x <= 9.9; y >= 0.1; y <= 9.9 }
}
mode Top() {
  write analog real x, y;
  write discrete real vx, vy;
  mode drive = Drive();
  trans from init to drive;
  trans #west from drive to drive when x <= 0.1 && vx < 0 do { vx = -0.9*vx; }
  trans #east from drive to drive when x >= 9.9 && vx > 0 do { vx = -0.9*vx; }
  trans #south from drive to drive when y <= 0.1 && vy < 0 do { vy = -0.9*vy; }
  trans #north from drive to drive when y >= 9.9 && vy > 0 do { vy = -0.9*vy; }
}
agent Car() {
  private analog real x, y;
  private discrete real vx, vy;
  init { x in [0.2, 9.8]; y in [0.2, 9.8]; vx in [-1, 1]; vy in [-1, 1]; }
  mode top = Top();
}
agent Arena() {
  agent car[i in 1..3] = Car();
  urgent interaction bump between a, b in car
    when (a.x - b.x)^2 + (a.y - b.y)^2 <= 0.04
    && (a.x - b.x)*(a.vx - b.vx) + (a.y - b.y)*(a.vy - b.vy) < 0
    do {
      let dx = a.x - b.x;
      let dy = a.y - b.y;
      let push = 0.95*(dx*(a.vx - b.vx) + dy*(a.vy - b.vy))/(dx^2 + dy^2);
      a.vx = a.vx - push*dx; a.vy = a.vy - push*dy;
      b.vx = b.vx + push*dx; b.vy = b.vy + push*dy;
    }
}
system Arena() until 8;
"""


def write_model(directory, text):
    path = directory / "model.charon"
    path.write_text(text)
    return load(path).automaton


@pytest.fixture(scope="module")
def few_cars(tmp_path_factory):
    return prepare_agents(write_model(tmp_path_factory.mktemp("few"), FEW))


@settings(max_examples=25, deadline=None)
@given(starts())
def test_random_starts_agree_with_the_exact_log(few_cars, cars):
    initial = {
        f"car[{i}].{k}": v
        for i, car in enumerate(cars, 1)
        for k, v in zip(("x", "y", "vx", "vy"), car, strict=True)
    }
    method = Taylor(rtol=1e-12, atol=1e-14)
    result = simulate_agents(few_cars, until=8.0, initial=initial, method=method)
    assert result.outcome.ending is Ending.HORIZON
    log, _ = event_driven(cars, 8.0)
    times = [t for t, _ in log]
    if any(b - a < 1e-6 for a, b in itertools.pairwise(times)):
        return  # the order of events at one instant is a convention
    assert log_of(result) == [what for _, what in log]
    assert [e.time for e in result.events] == pytest.approx(times, abs=1e-6)


class TestSpirals:
    def distance(self, t):
        return abs(4.2 - 2 * math.exp(t / 10) * math.cos(1.2 * t))

    def test_collision_at_the_time_of_the_closed_form(self):
        result = simulate_agents(load("spiral_cars").automaton, until=12.0, record_steps=True)
        low, high = 9.5, 9.81
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if self.distance(middle) > 0.5 else (low, middle)
        assert set(result.sizes) == {"left", "right"}
        assert result.outcome.ending is Ending.VIOLATION
        assert result.outcome.time == pytest.approx(low, abs=1e-4)
        assert all(t.end == result.outcome.time for t in result.traces.values())
        assert {s.agent for s in result.steps} == {"left", "right"}
        assert all(s.spread >= 0 for s in result.steps)

    def test_near_miss_is_no_event(self):
        result = simulate_agents(load("spiral_cars_near_miss").automaton, until=12.0)
        assert result.outcome.ending is Ending.HORIZON
        assert result.events == ()

    def test_going_on_after_a_violation_notes_it_once(self):
        result = simulate_agents(load("spiral_cars").automaton, until=12.0, stop_on_violation=False)
        assert result.outcome.ending is Ending.HORIZON
        assert [e.name for e in result.events] == ["cars apart"]


class TestGroups:
    def test_coupled_components_share_a_clock(self):
        product = load("platoon_paper").automaton
        grouping = group_components(product)
        assert len(grouping.groups) == 1
        assert grouping.encounters == ()

    def test_uncoupled_components_have_their_own(self):
        grouping = group_components(load("bumper_cars").automaton)
        assert [g.name for g in grouping.groups] == [f"car[{i}]" for i in range(1, 21)]
        family, claim = grouping.encounters
        assert family.name == "bump"
        assert len(family.first) == 20
        assert claim.claim and len(claim.first) == 20 and claim.second is None
        assert [name for name, _ in grouping.at_jumps] == ["energy never grows"]

    def test_condition_on_three_moving_agents_joins_them(self, tmp_path):
        text = FEW.replace(
            "agent Arena() {",
            'agent Arena() { assert "spread" { car[1].x + car[2].x + car[3].x <= 40 }',
        )
        grouping = group_components(write_model(tmp_path, text))
        assert len(grouping.groups) == 1

    def test_result_of_one_group_is_that_of_a_plain_run(self):
        automaton = load("platoon_paper").automaton
        plain = simulate(automaton, until=10.0)
        grouped = simulate_agents(automaton, until=10.0)
        (trace,) = grouped.traces.values()
        assert [e.name for e in trace.jumps] == [e.name for e in plain.jumps]
        for t in (0.0, 3.3, 10.0):
            for name, value in plain.at(t).items():
                assert trace.at(t)[name] == pytest.approx(value, rel=1e-4, abs=1e-6)


class TestOutcomes:
    def test_bad_state_over_discrete_variables_is_seen_at_the_jump(self, tmp_path):
        text = FEW.replace(
            "agent Arena() {",
            'agent Arena() { assert "slow" { car[1].vx + car[2].vx + car[3].vx >= 0.1 }',
        )
        initial = {
            f"car[{i}].{k}": v
            for i, y in ((1, 1), (2, 4), (3, 7))
            for k, v in {"x": 8.0, "y": float(y), "vx": 0.5 if i > 1 else 0.8, "vy": 0.0}.items()
        }
        result = simulate_agents(write_model(tmp_path, text), until=8.0, initial=initial)
        assert result.outcome.ending is Ending.VIOLATION
        assert result.outcome.name == "slow"
        assert result.outcome.time == pytest.approx(1.9 / 0.5, abs=1e-6)
        assert all(t.end == pytest.approx(1.9 / 0.5, abs=1e-6) for t in result.traces.values())

    def test_an_interaction_that_repeats_at_once_is_a_livelock(self, tmp_path):
        text = FEW.replace("&& (a.x - b.x)*(a.vx - b.vx) + (a.y - b.y)*(a.vy - b.vy) < 0", "")
        text = text.replace("a.vx = a.vx - push*dx; a.vy = a.vy - push*dy;", "")
        text = text.replace("b.vx = b.vx + push*dx; b.vy = b.vy + push*dy;", "")
        initial = {
            "car[1].x": 1.0,
            "car[1].y": 5.0,
            "car[1].vx": 1.0,
            "car[1].vy": 0.0,
            "car[2].x": 3.0,
            "car[2].y": 5.0,
            "car[2].vx": 0.0,
            "car[2].vy": 0.0,
            "car[3].x": 9.0,
            "car[3].y": 9.0,
        }
        result = simulate_agents(write_model(tmp_path, text), until=8.0, initial=initial)
        assert result.outcome.ending in (Ending.LIVELOCK, Ending.CHATTERING)
        assert result.outcome.time == pytest.approx(1.8, abs=1e-6)

    def test_unknown_names_are_explained(self, few_cars):
        with pytest.raises(ModelError, match="no variable `car"):
            simulate_agents(few_cars, until=1.0, initial={"car[9].x": 1.0})
        with pytest.raises(ModelError, match="no parameter"):
            simulate_agents(few_cars, until=1.0, parameters={"mass": 1.0})


class TestDistanceBounds:
    def bounds(self, text):
        names = {f"a{i}": f"1st {i}" for i in range(3)} | {f"b{i}": f"2nd {i}" for i in range(3)}
        from workbench.models.expressions.expression import variable
        from workbench.models.expressions.traversal import substitute

        change = {k: variable(v) for k, v in names.items()}
        return distance_bounds([substitute(parse_expression(text), change)])

    def test_reads_a_circle(self):
        found = self.bounds("(a0 - b0)^2 + (a1 - b1)^2 <= 0.04 && a2 < b2")
        assert set(found) == {(0, 0), (1, 1)}
        assert found[0, 0] == pytest.approx(0.2, abs=1e-8)
        assert found[0, 0] >= 0.2

    def test_reads_an_ellipse(self):
        found = self.bounds("4*(a0 - b0)^2 + (a1 - b1)^2 <= 1")
        assert found[0, 0] == pytest.approx(0.5, abs=1e-6)
        assert found[1, 1] == pytest.approx(1.0, abs=1e-6)

    def test_either_of_two_conditions_takes_the_larger(self):
        found = self.bounds("(a0 - b0)^2 <= 1 || (a0 - b0)^2 <= 4")
        assert found == {(0, 0): pytest.approx(2.0, abs=1e-6)}

    @pytest.mark.parametrize(
        "text",
        ["(a0 - b0)^2 >= 1", "(a0 - b1)^2 + a1 <= 4", "a0*b0 <= 1", "(a0 + b0)^2 <= 1",
         "(a0 - b0)^2 <= 1 || a1 <= b1", "(a0 - a1)^2 <= 1"],
    )  # fmt: skip
    def test_says_nothing_where_nothing_follows(self, text):
        assert self.bounds(text) == {}
