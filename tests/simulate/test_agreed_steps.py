"""Two agents that are about to meet agree on their steps: the papers' two constraints,
g_{k+1} = gamma g_k and tau_{k+1} = gamma tau_k."""

from __future__ import annotations

import pytest

from workbench.models.load import load
from workbench.models.trace import Ending
from workbench.simulate.agents.asynchronous import prepare_agents, simulate_agents
from workbench.simulate.agents.fleet import is_available
from workbench.simulate.stepping.methods import Adams, Taylor

pytestmark = pytest.mark.skipif(not is_available(), reason="needs the compiled core")

SECOND_ORDER = Adams(rtol=1e-5, atol=1e-8, max_order=2)

SPIRALS = """
mode SpiralTop(real centre, real turn, real grow) {
  write analog real x, y;
  write discrete real hits;
  mode go = Going(centre, turn, grow);
  trans from init to go do { hits = 0; }
}
mode Going(real centre, real turn, real grow) {
  write analog real x, y;
  diff { d(x) == grow*(x - centre) - turn*y; d(y) == turn*(x - centre) + grow*y; }
}
agent Car(real centre, real side, real grow) {
  private analog real x, y; private discrete real hits;
  init { x = centre + side; y = 0; }
  mode top = SpiralTop(centre, 1.2*side, grow);
}
agent Yard(real base = 4.2) {
  agent left = Car(0, 1, 0.1);
  agent right = Car(base, -1, 0.11);
  urgent interaction touch between a in left, b in right
    when (a.x - b.x)^2 + (a.y - b.y)^2 <= 0.25 && a.hits == 0 do { a.hits = 1; }
}
system Yard() until 12;
"""


def guard(result, clocks):
    """g of the cars as they were integrated, each at its own clock."""
    left = result.traces["left"].before(clocks["left"])
    right = result.traces["right"].before(clocks["right"])
    return 0.25 - sum((left[f"left.{k}"] - right[f"right.{k}"]) ** 2 for k in ("x", "y"))


@pytest.fixture(scope="module")
def yard(tmp_path_factory):
    path = tmp_path_factory.mktemp("yard") / "yard.charon"
    path.write_text(SPIRALS)
    return prepare_agents(load(path).automaton)


def rounds(result):
    """Clocks (of left, of right) before and after every agreed step of one car followed by
    the agreed step of the other."""
    clocks = {"left": 0.0, "right": 0.0}
    found, pending = [], None
    for step in result.steps:
        before = dict(clocks)
        clocks[step.agent] = step.end
        if not step.agreed:
            pending = None
        elif pending is not None and pending[0] != step.agent:
            found.append((pending[1], dict(clocks)))
            pending = None
        else:
            pending = (step.agent, before)
    return found


def test_guard_and_clock_difference_shrink_by_the_same_factor(yard):
    result = simulate_agents(yard, until=12.0, method=SECOND_ORDER, record_steps=True)
    shrinking = 0
    for before, after in rounds(result):
        g, g_next = guard(result, before), guard(result, after)
        tau, tau_next = (abs(c["left"] - c["right"]) for c in (before, after))
        if g < -1e-4 and tau > 1e-3:
            gamma = g_next / g
            assert 0 <= gamma <= 0.5
            assert tau_next == pytest.approx(gamma * tau, rel=0.3, abs=1e-3 * tau)
            shrinking += 1
    assert shrinking >= 1


@pytest.mark.parametrize("method", [Adams(), SECOND_ORDER, Taylor(), Adams(1e-9, 1e-12)])
def test_nobody_runs_past_the_event(yard, method):
    """The last steps end at the event; without agreement a car has run past it."""
    agreed = simulate_agents(yard, until=12.0, method=method, record_steps=True)
    (event,) = agreed.events
    until_event = [s for s in agreed.steps if s.start < event.time]
    assert {s.agent for s in until_event[-2:]} == {"left", "right"}
    assert max(s.end for s in until_event) <= event.time + 10 * method.rtol
    assert max(s.spread for s in until_event[-1:]) < 1e-6
    free = simulate_agents(yard, until=12.0, method=method, foresee=False, record_steps=True)
    assert free.events[0].time == pytest.approx(event.time, abs=1e-3 * max(1.0, method.rtol / 1e-6))
    assert max(s.end for s in free.steps if s.start < event.time) > event.time + 1e-6
    assert not any(s.agreed for s in free.steps)


def test_clocks_drift_freely_where_no_event_is_near(yard):
    result = simulate_agents(yard, until=12.0, record_steps=True)
    (event,) = result.events
    early = [s for s in result.steps if s.end < event.time - 1.0]
    assert not any(s.agreed for s in early)
    assert max(s.spread for s in early) > 0.01


def test_a_condition_that_must_be_crossed_is_crossed():
    result = simulate_agents(load("spiral_cars").automaton, until=12.0, record_steps=True)
    assert result.outcome.ending is Ending.VIOLATION
    last = result.steps[-2:]
    assert all(s.agreed for s in last)
    assert all(0.0 <= s.end - result.outcome.time < 1e-6 for s in last)
    assert result.cancelled == 0


def test_near_miss_lets_the_clocks_go_again():
    result = simulate_agents(load("spiral_cars_near_miss").automaton, until=12.0, record_steps=True)
    assert result.outcome.ending is Ending.HORIZON
    assert not any(s.agreed for s in result.steps[-4:])
