"""What happens to agents with clocks of their own: random fleets, ties, and agents that stop."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.models.load import load
from workbench.models.trace import Ending, EventType
from workbench.simulate.agents.asynchronous import prepare_agents, simulate_agents
from workbench.simulate.agents.fleet import is_available
from workbench.simulate.agents.merge import merged
from workbench.simulate.run import simulate
from workbench.simulate.stepping.methods import Adams, Taylor

pytestmark = pytest.mark.skipif(not is_available(), reason="needs the compiled core")

PRECISE = Taylor(rtol=1e-12, atol=1e-14)

DISCS = """
const int n = 3;
mode Drive() {
  write analog real x, y; read discrete real vx, vy;
  diff { d(x) == vx; d(y) == vy; }
}
mode Top() {
  write analog real x, y; write discrete real vx, vy;
  mode drive = Drive();
  trans from init to drive;
}
agent Disc() {
  private analog real x, y; private discrete real vx, vy;
  init { x in [-50, 50]; y in [-50, 50]; vx in [-2, 2]; vy in [-2, 2]; }
  mode top = Top();
}
agent Table() {
  agent disc[i in 1..n] = Disc();
  urgent interaction bump between a, b in disc
    when (a.x - b.x)^2 + (a.y - b.y)^2 <= 1
    && (a.x - b.x)*(a.vx - b.vx) + (a.y - b.y)*(a.vy - b.vy) < 0
    do {
      let dx = a.x - b.x;
      let dy = a.y - b.y;
      let push = (dx*(a.vx - b.vx) + dy*(a.vy - b.vy))/(dx^2 + dy^2);
      a.vx = a.vx - push*dx; a.vy = a.vy - push*dy;
      b.vx = b.vx + push*dx; b.vy = b.vy + push*dy;
    }
}
"""


def written(directory, text, **parameters):
    path = directory / "model.charon"
    path.write_text(text)
    return load(path, parameters=parameters).automaton


def elastic(discs, until):
    """Discs of diameter 1 that bounce without loss: all events in closed form, one by one."""
    discs, t, log = [list(d) for d in discs], 0.0, []
    while True:
        best = None
        for j, b in enumerate(discs):
            for i, a in enumerate(discs[:j]):
                p, q = (a[0] - b[0], a[1] - b[1]), (a[2] - b[2], a[3] - b[3])
                closing = p[0] * q[0] + p[1] * q[1]
                square = q[0] ** 2 + q[1] ** 2
                root = closing**2 - square * (p[0] ** 2 + p[1] ** 2 - 1)
                if closing < 0 and root >= 0:
                    dt = max((-closing - math.sqrt(root)) / square, 0.0)
                    if best is None or dt < best[0]:
                        best = (dt, i, j)
        if best is None or t + best[0] > until:
            return log
        dt, i, j = best
        t += dt
        for d in discs:
            d[0] += d[2] * dt
            d[1] += d[3] * dt
        log.append((t, i, j))
        a, b = discs[i], discs[j]
        dx, dy = a[0] - b[0], a[1] - b[1]
        push = (dx * (a[2] - b[2]) + dy * (a[3] - b[3])) / (dx * dx + dy * dy)
        for disc, sign in ((a, -1), (b, 1)):
            disc[2] += sign * push * dx
            disc[3] += sign * push * dy


def start_of(discs):
    return {
        f"disc[{i}].{k}": v
        for i, disc in enumerate(discs, 1)
        for k, v in zip(("x", "y", "vx", "vy"), disc, strict=True)
    }


def bumps(result):
    return [(e.time, *(int(a[5:-1]) - 1 for a in e.agents)) for e in result.events]


@pytest.fixture(scope="module")
def nine(tmp_path_factory):
    return prepare_agents(written(tmp_path_factory.mktemp("nine"), DISCS, n=9))


@st.composite
def fleets(draw):
    """Nine discs, one in each square of a board, that mostly move towards its middle."""
    part = st.floats(-1, 1, allow_nan=False, width=32)
    discs = []
    for i in range(9):
        x, y = 4 * (i % 3 - 1) + draw(part), 4 * (i // 3 - 1) + draw(part)
        discs.append((x, y, -0.2 * x + draw(part), -0.2 * y + draw(part)))
    return discs


@settings(max_examples=15, deadline=None)
@given(fleets(), st.booleans(), st.sampled_from([PRECISE, Adams(1e-11, 1e-13)]))
def test_random_fleets_agree_with_the_closed_form(nine, discs, foresee, method):
    result = simulate_agents(
        nine, until=12.0, initial=start_of(discs), method=method, foresee=foresee
    )
    assert result.outcome.ending is Ending.HORIZON
    log = elastic(discs, 12.0)
    count = 0  # up to where events are apart, and errors have not grown too much
    for (s, *_), (t, *_) in pairwise([*log, (12.0, -1, -1)]):
        if t - s < 1e-4 or count == 8:
            break
        count += 1
    assert [b[1:] for b in bumps(result)[:count]] == [b[1:] for b in log[:count]]
    assert [b[0] for b in bumps(result)[:count]] == pytest.approx(
        [b[0] for b in log[:count]], abs=1e-5
    )


class TestTies:
    def test_three_discs_at_once(self, tmp_path):
        """Two discs hit a third from both sides at one instant: every pair bounces, until all
        move apart."""
        automaton = written(tmp_path, DISCS)
        discs = [(-3, 0, 1, 0), (0, 0, 0, 0), (3, 0, -1, 0)]
        result = simulate_agents(automaton, until=5.0, initial=start_of(discs), method=PRECISE)
        assert result.outcome.ending is Ending.HORIZON
        assert [b[0] for b in bumps(result)] == pytest.approx([2.0] * len(result.events), abs=1e-6)
        assert {b[1:] for b in bumps(result)} == {(0, 1), (1, 2)}
        final = result.at(5.0)
        assert [final[f"disc[{i}].vx"] for i in (1, 2, 3)] == pytest.approx([-1, 0, 1])
        assert final["disc[1].x"] == pytest.approx(-4, abs=1e-6)

    def test_two_meetings_of_different_pairs_at_one_instant(self, tmp_path):
        automaton = written(tmp_path, DISCS, n=4)
        discs = [(-2, 0, 1, 0), (2, 0, -1, 0), (-2, 9, 1, 0), (2, 9, -1, 0)]
        result = simulate_agents(automaton, until=3.0, initial=start_of(discs))
        assert [b[1:] for b in bumps(result)] == [(0, 1), (2, 3)]
        assert [b[0] for b in bumps(result)] == pytest.approx([1.5, 1.5], abs=1e-6)

    def test_meeting_and_own_event_at_one_instant(self, tmp_path):
        text = DISCS.replace(
            "trans from init to drive;",
            "trans from init to drive; trans #turn from drive to drive when time >= 1.5 && vy == 0"
            " do { vy = 1; }",
        )
        discs = [(-2, 0, 1, 0), (2, 0, -1, 0), (30, 0, 0, 1)]
        result = simulate_agents(written(tmp_path, text), until=3.0, initial=start_of(discs))
        assert sorted(e.name for e in result.events) == ["bump", "turn", "turn"]
        assert [e.time for e in result.events] == pytest.approx([1.5] * 3, abs=1e-6)

    def test_one_clock_gives_the_same_events(self, tmp_path):
        automaton = written(tmp_path, DISCS, n=4)
        discs = [(-2, 0, 1, 0.1), (2, 0, -1, 0), (-2, 9, 1, 0), (3, 9, -1, 0)]
        own = simulate_agents(automaton, until=9.0, initial=start_of(discs), method=PRECISE)
        one = simulate(automaton, until=9.0, initial=start_of(discs), method=PRECISE)
        whole = merged(automaton, own)
        assert [e.name for e in whole.jumps] == [e.name for e in one.jumps]
        assert [e.time for e in whole.jumps] == pytest.approx([e.time for e in one.jumps], abs=1e-9)
        for t in (0.0, 1.0, 4.5, 9.0):
            assert whole.at(t) == pytest.approx(one.at(t), abs=1e-8)


BESIDE = """
mode Walk() { write analog real p; diff { d(p) == cos(p); } }
agent Walker() { private analog real p = 0; mode top = Walk(); }
%s
agent Both() {
  agent walker = Walker();
  agent other = Other();
  assert "apart" { walker.p <= 100 }
}
"""


class TestAgentsThatStop:
    """One agent ends; the whole run ends there, and says why. Time cannot pass without it."""

    def run(self, directory, other, clocks=2, **options):
        result = simulate_agents(written(directory, BESIDE % other), until=10.0, **options)
        assert len(result.sizes) == clocks
        ends = [trace.end for trace in result.traces.values()]
        assert ends == pytest.approx([result.outcome.time] * clocks)
        return result

    def test_zeno(self, tmp_path):
        other = """
mode Fall() { write analog real h, v; diff { d(h) == v; d(v) == -9.81; } inv { h >= 0 } }
mode Bouncing() {
  write analog real h, v; mode fall = Fall(); trans from init to fall;
  trans #bounce from fall to fall when h <= 0 && v < 0 do { v = -0.8*v; }
}
agent Other() { private analog real h = 1; private analog real v = 0; mode top = Bouncing(); }
"""
        outcome = self.run(tmp_path, other).outcome
        assert outcome.ending is Ending.ZENO
        assert outcome.accumulation == pytest.approx(9 * math.sqrt(2 / 9.81), abs=1e-5)

    def test_blocked(self, tmp_path):
        other = """
mode Go() { write analog real q; diff { d(q) == 1; } inv { q <= 2 } }
agent Other() { private analog real q = 0; mode top = Go(); }
"""
        outcome = self.run(tmp_path, other).outcome
        assert outcome.ending is Ending.BLOCKED
        assert outcome.time == pytest.approx(2.0)

    def test_not_a_number(self, tmp_path):
        other = """
mode Go() { write analog real q; diff { d(q) == -1 - sqrt(q); } }
agent Other() { private analog real q = 1; mode top = Go(); }
"""
        outcome = self.run(tmp_path, other).outcome
        assert outcome.ending in (Ending.NOT_FINITE, Ending.STEP_TOO_SMALL)
        assert outcome.time == pytest.approx(2 - 2 * math.log(2), abs=1e-3)

    def test_explosion(self, tmp_path):
        other = """
mode Go() { write analog real q; diff { d(q) == q^2; } }
agent Other() { private analog real q = 1; mode top = Go(); }
"""
        outcome = self.run(tmp_path, other).outcome
        assert outcome.ending in (Ending.NOT_FINITE, Ending.STEP_TOO_SMALL)
        assert outcome.time == pytest.approx(1.0, abs=1e-3)

    def test_violation(self, tmp_path):
        other = """
mode Go() { write analog real q; diff { d(q) == 1; } }
agent Other() { private analog real q = 0; mode top = Go(); assert "low" { q <= 3 } }
"""
        result = self.run(tmp_path, other)
        assert result.outcome.ending is Ending.VIOLATION
        assert result.outcome.time == pytest.approx(3.0, abs=1e-5)
        assert [e.type for e in result.events] == [EventType.VIOLATION]

    EXTERN = """
extern real pull(real);
mode Go() { write analog real q; diff { d(q) == pull(q); } }
agent Other() { private analog real q = 1; mode top = Go(); }
"""

    def test_function_from_outside(self, tmp_path):
        result = self.run(tmp_path, self.EXTERN, externs={"pull": lambda q: -q})
        assert result.outcome.ending is Ending.HORIZON
        assert result.at(10.0)["other.q"] == pytest.approx(math.exp(-10), abs=1e-6)

    def test_function_from_outside_that_fails(self, tmp_path):
        def pull(q):
            if q < 0.5:
                raise RuntimeError("no more")
            return -q

        outcome = self.run(tmp_path, self.EXTERN, 1, externs={"pull": pull}).outcome
        assert outcome.ending is Ending.EXTERNAL_FAILED
        assert outcome.name == "pull"
        assert outcome.time == pytest.approx(math.log(2), abs=1e-5)
        assert "At t = 0.69" in outcome.sentence and "other.q = 0.5" in outcome.sentence

    def test_step_limit(self, tmp_path):
        other = """
mode Go() { write analog real q, r; diff { d(q) == 1000*r; d(r) == -1000*q; } }
agent Other() { private analog real q = 1; private analog real r = 0; mode top = Go(); }
"""
        outcome = self.run(tmp_path, other, method=Adams(max_steps=50)).outcome
        assert outcome.ending is Ending.STEP_LIMIT

    def test_agent_that_rests(self, tmp_path):
        other = """
mode Stay() { write discrete real q; mode a = Idle(); trans from init to a; } mode Idle() { }
agent Other() { private discrete real q = 4; mode top = Stay(); }
"""
        result = self.run(tmp_path, other)
        assert result.outcome.ending is Ending.HORIZON
        assert result.at(7.0)["other.q"] == 4.0


class TestWhoIsCoupled:
    def test_agents_that_share_a_discrete_variable_share_a_clock(self, tmp_path):
        text = """
mode Tick(real pace) {
  write analog real c; readwrite discrete real total;
  mode run = Run(pace); trans from init to run;
  trans #tick from run to run when c >= 1 do { c = 0; total = total + 1; }
}
mode Run(real pace) { write analog real c; diff { d(c) == pace; } inv { c <= 1 } }
agent Clock(real pace) {
  private analog real c = 0; readwrite discrete real total; mode top = Tick(pace);
}
agent Lone() { private analog real c = 0; private discrete real total = 0; mode top = Tick(0.3); }
agent All() {
  private discrete real total = 0;
  agent fast = Clock(2); agent slow = Clock(0.7); agent lone = Lone();
}
"""
        result = simulate_agents(written(tmp_path, text), until=5.05)
        assert set(result.sizes) == {"fast + slow", "lone"}
        assert result.at(5.05)["total"] == 10 + 3
        assert result.at(5.05)["lone.total"] == 1

    def test_a_partner_called_like_another_agent(self, tmp_path):
        text = DISCS.replace("agent disc[i in 1..n]", "agent a = Disc(); agent disc[i in 1..n]")
        automaton = written(tmp_path, text, n=2)
        discs = start_of([(-2, 0, 1, 0), (2, 0, -1, 0)])
        away = {"a.x": 40, "a.y": 40, "a.vx": 0, "a.vy": 0}
        result = simulate_agents(automaton, until=3.0, initial={**discs, **away})
        assert [e.agents for e in result.events] == [("disc[1]", "disc[2]")]
        assert result.at(3.0)["a.vx"] == 0

    def test_no_agents_in_a_replication(self, tmp_path):
        text = DISCS.replace("agent disc[i in 1..n]", "agent one = Disc(); agent disc[i in 1..n]")
        result = simulate_agents(written(tmp_path, text, n=0), until=2.0)
        assert result.outcome.ending is Ending.HORIZON
        assert result.events == ()

    def test_interaction_of_two_kinds_of_agents(self, tmp_path):
        """Posts are declared before discs: the partners come in the other order."""
        text = (
            DISCS.replace("agent disc[i", "agent post = Disc(); agent disc[i")
            .replace("between a, b in disc", "between a in disc, b in post")
            .replace("b.vx = b.vx + push*dx; b.vy = b.vy + push*dy;", "")
            .replace("a.vx - push*dx", "a.vx - 2*push*dx")
        )
        automaton = written(tmp_path, text, n=2)
        initial = start_of([(-3, 0, 1, 0), (3, 9, -1, 0)])
        initial |= {f"post.{k}": 0 for k in ("x", "y", "vx", "vy")}
        result = simulate_agents(automaton, until=4.0, initial=initial, method=PRECISE)
        assert [(e.name, e.agents) for e in result.events] == [("bump", ("post", "disc[1]"))]
        assert result.events[0].time == pytest.approx(2.0, abs=1e-6)
        assert result.at(4.0)["disc[1].vx"] == pytest.approx(-1)

    def test_choices_in_an_interaction_repeat_with_the_seed(self, tmp_path):
        from workbench.simulate.policy import Level, Policy

        text = DISCS.replace("b.vy = b.vy + push*dy;", "b.vy in [0.1, 1];")
        automaton = written(tmp_path, text)
        initial = start_of([(-3, 0, 1, 0), (0, 0, 0, 0), (30, 0, 0, 0)])
        policy = Policy(level=Level.RANDOM)
        speeds = [
            simulate_agents(automaton, until=3.0, initial=initial, seed=seed, policy=policy).at(
                3.0
            )["disc[2].vy"]
            for seed in (1, 1, 2)
        ]
        assert speeds[0] == speeds[1] != speeds[2]
        assert all(0.1 <= v <= 1 for v in speeds)


LINE = (
    DISCS.replace("(a.x - b.x)^2 + (a.y - b.y)^2 <= 1", "(a.x - b.x)^2 <= 1")
    .replace("+ (a.y - b.y)*(a.vy - b.vy) < 0", "< 0")
    .replace("(dx*(a.vx - b.vx) + dy*(a.vy - b.vy))/(dx^2 + dy^2)", "(a.vx - b.vx)/dx")
)


@pytest.fixture(scope="module")
def trains(tmp_path_factory):
    text = LINE.replace("x in [-50, 50]", "x in [-1e5, 1e5]").replace(
        "vx in [-2, 2]", "vx in [-1e4, 1e4]"
    )
    return prepare_agents(written(tmp_path_factory.mktemp("line"), text, n=14))


@pytest.fixture(scope="module")
def crossed(tmp_path_factory):
    head, _, _ = DISCS.partition("  urgent interaction")
    text = head + (
        "  urgent interaction swap between a, b in disc\n"
        "    when (a.x - b.y)^2 <= 0.04 && a.vx > b.vy && a.vx > 0\n"
        "    do { a.vx = -a.vx; }\n}\n"
    )
    automaton = written(tmp_path_factory.mktemp("crossed"), text, n=6)
    return prepare_agents(automaton), prepare_agents(automaton, synchronous=True)


class TestFarPairsAreSkippedRightly:
    """Cells and slices only leave out pairs that cannot meet."""

    @settings(max_examples=10, deadline=None)
    @given(
        st.lists(st.floats(-1, 1, width=32), min_size=14, max_size=14),
        st.sampled_from([1.0, 40.0, 1000.0]),
        st.booleans(),
    )
    def test_trains_on_a_line(self, trains, speeds, quick, foresee):
        """One coordinate; one train may be much faster than all others."""
        discs = [(3.0 * i, 0.0, v, 0.0) for i, v in enumerate(speeds)]
        discs[5] = (15.0, 0.0, quick * speeds[5], 0.0)
        result = simulate_agents(
            trains, until=4.0, initial=start_of(discs), method=PRECISE, foresee=foresee
        )
        log = elastic(discs, 4.0 - 1e-6)  # at the very end of a run both are right
        count = next((k for k, (a, b) in enumerate(pairwise(log)) if b[0] - a[0] < 1e-5), len(log))
        count = min(count, 15)
        assert [b[1:] for b in bumps(result)[:count]] == [b[1:] for b in log[:count]]

    @settings(max_examples=10, deadline=None)
    @given(st.lists(st.floats(-2, 2, width=32), min_size=24, max_size=24))
    def test_another_coordinate_of_the_other(self, crossed, numbers):
        """x of the one near y of the other: first and second partners have cells of their
        own."""
        own, one = crossed
        initial = {
            f"disc[{i + 1}].{k}": numbers[4 * i + j] + (5.0 * i if k == "x" else 0.0)
            for i in range(6)
            for j, k in enumerate(("x", "y", "vx", "vy"))
        }
        results = [
            simulate_agents(p, until=6.0, initial=initial, method=PRECISE) for p in (own, one)
        ]
        found, expected = (sorted(round(e.time, 5) for e in r.events) for r in results)
        close = any(b - a < 1e-4 for a, b in pairwise(expected))
        assert close or found == pytest.approx(expected, abs=1e-4)


class TestFunctionsFromOutside:
    def test_in_a_guard_of_one_agent(self, tmp_path):
        """The guard is looked at again and again, as in a run on one clock."""
        other = """
extern real height(real);
mode Go() { write analog real q; diff { d(q) == 1; } }
mode Top() {
  write analog real q; mode go = Go(); trans from init to go;
  trans #top from go to go when height(q) >= 0.5 do { q = -100; }
}
agent Other() { private analog real q = 0; mode top = Top(); }
"""
        automaton = written(tmp_path, BESIDE % other)
        result = simulate_agents(
            automaton, until=10.0, externs={"height": lambda q: max(0.0, 1 - 10 * abs(q - 4))}
        )
        assert [e.name for e in result.events] == ["top"]
        assert result.events[0].time == pytest.approx(3.95, abs=1e-5)

    def test_in_a_condition_on_two_agents_they_share_a_clock(self, tmp_path):
        text = "extern real near(real);\n" + DISCS.replace(
            "(a.x - b.x)^2 + (a.y - b.y)^2 <= 1", "near((a.x - b.x)^2 + (a.y - b.y)^2) >= 0"
        )
        result = simulate_agents(
            written(tmp_path, text),
            until=4.0,
            initial=start_of([(-2, 0, 1, 0), (2, 0, -1, 0), (30, 0, 0, 0)]),
            externs={"near": lambda square: 1 - square},
        )
        assert len(result.sizes) == 1
        (bump,) = result.events
        assert bump.time == pytest.approx(1.5, abs=1e-5)
