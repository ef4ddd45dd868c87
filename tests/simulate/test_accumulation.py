"""Jumps that accumulate, jumps that only seem to, and what is said of them; every time below is
the sum of a series."""

from __future__ import annotations

import math
from itertools import accumulate
from pathlib import Path

import pytest

from workbench.models.load import load
from workbench.models.trace import Ending, EventType, Trace
from workbench.simulate.run import simulate
from workbench.simulate.stepping.methods import Adams, Taylor

TICKING = """\
mode Wait() {{ write analog real c; write discrete real d; write discrete int n; diff {{ d(c) == 1; }} }}
mode Top() {{
  write analog real c; write discrete real d; write discrete int n;
  mode wait = Wait();
  trans from init to wait;
  urgent trans #tick from wait to wait when c >= d do {{ c = 0; d = {then}; n = n + 1; }}
}}
agent Ticking() {{
  private analog real c; private discrete real d; private discrete int n;
  init {{ c = 0; d = 1; n = 1; }}
  mode top = Top();
}}
"""
"""A clock that ticks after 1 and then after `then`."""

TANKS = """\
mode FillFirst() {{ write analog real a, b; diff {{ d(a) == 0.5; d(b) == -1; }} inv {{ b >= 0 }} }}
mode FillSecond() {{ write analog real a, b; diff {{ d(a) == -1; d(b) == 0.5; }} inv {{ a >= 0 }} }}
mode Empty() {{ write analog real a, b; diff {{ d(a) == 0; d(b) == 0; }} }}
mode Top() {{
  write analog real a, b;
  mode one = FillFirst(); mode two = FillSecond(); mode empty = Empty();
  trans from init to one;
  trans #to_two from one to two when b <= 0;
  trans #to_one from two to one when a <= 0;
  {rest}
}}
agent Tanks() {{ private analog real a, b; init {{ a = 1; b = 1; }} mode top = Top(); }}
"""
"""Two tanks that lose 1 and get 1.5, one of them at a time: 0.5 less water in each unit of
time, so that both are empty at t = 4."""

BALL = """\
mode Fall() {{ write analog real y, v; diff {{ d(y) == v; d(v) == -10; }} inv {{ y >= 0 }} }}
mode Rest() {{ write analog real y, v; diff {{ d(y) == 0; d(v) == 0; }} }}
mode Top() {{
  write analog real y, v;
  mode fall = Fall(); mode still = Rest();
  trans from init to fall;
  urgent trans #bounce from fall to fall when y <= 0 && v < -{slow} do {{ v = -{factor}*v; }}
  urgent trans #rest from fall to still when y <= 0 && v >= -{slow} && v <= 0 do {{ v = 0; y = 0; }}
}}
agent Ball() {{ private analog real y, v; init {{ y = 5; v = 0; }} mode top = Top(); }}
"""
"""A ball that falls for 1 and rests as soon as it is slow at a bounce."""


def run(directory: Path, text: str, until: float, **options: object) -> Trace:
    path = directory / "model.charon"
    path.write_text(text)
    return simulate(load(path).automaton, until=until, **options)  # type: ignore[arg-type]


def ticking(directory: Path, then: str, until: float) -> Trace:
    return run(directory, TICKING.format(then=then), until)


@pytest.mark.parametrize("method", [Adams(), Taylor()], ids=["adams", "taylor"])
def test_a_cycle_of_two_edges_accumulates(tmp_path: Path, method: Adams | Taylor) -> None:
    """Each edge is the way out of the other's location, and none out of the cycle."""
    trace = run(tmp_path, TANKS.format(rest=""), 10.0, method=method)
    assert trace.outcome.ending is Ending.ZENO
    assert trace.outcome.accumulation == pytest.approx(4.0, abs=1e-9)
    assert "`to_one`" in trace.outcome.sentence and "`to_two`" in trace.outcome.sentence
    assert trace.end <= 4.0 + 1e-9
    expected = accumulate((1.5 * 0.5**k for k in range(len(trace.jumps) - 1)), initial=1.0)
    assert [e.time for e in trace.jumps] == pytest.approx(list(expected), abs=1e-9)


@pytest.mark.parametrize("source", ["one", "two"])
def test_the_way_out_of_a_cycle_is_taken_from_either_location(tmp_path: Path, source: str) -> None:
    rest = f"trans #dry from {source} to empty when a <= 0 && b <= 0;"
    trace = run(tmp_path, TANKS.format(rest=rest), 10.0)
    assert trace.outcome.ending is Ending.HORIZON
    last = trace.jumps[-1]
    assert (last.name, last.source) == ("dry", source)
    assert last.time == pytest.approx(4.0, abs=1e-8)
    assert trace.final() == pytest.approx({"a": 0.0, "b": 0.0}, abs=1e-8)


def test_a_cycle_of_three_edges_accumulates(tmp_path: Path) -> None:
    """Stays of 1, 0.5 and 0.45, and each round 0.315 times the one before."""
    text = """\
mode Drain() { write analog real s; write discrete real full; diff { d(s) == -1; } inv { s >= 0 } }
mode Top() {
  write analog real s; write discrete real full;
  mode p = Drain(); mode q = Drain(); mode r = Drain();
  trans from init to p;
  trans #pq from p to q when s <= 0 do { full = full*0.5; s = full; }
  trans #qr from q to r when s <= 0 do { full = full*0.9; s = full; }
  trans #rp from r to p when s <= 0 do { full = full*0.7; s = full; }
}
agent A() { private analog real s; private discrete real full; init { s = 1; full = 1; } mode top = Top(); }
"""
    trace = run(tmp_path, text, 30.0)
    limit = (1 + 0.5 + 0.45) / (1 - 0.315)
    assert trace.outcome.ending is Ending.ZENO
    assert trace.outcome.accumulation == pytest.approx(limit, abs=1e-9)
    assert trace.end <= limit + 1e-9
    assert all(f"`{name}`" in trace.outcome.sentence for name in ("pq", "qr", "rp"))


def test_one_edge_may_be_taken_twice_in_a_round(tmp_path: Path) -> None:
    """Stays of 1, 0.5, 0.45, 0.225, ...: by turns half and nine tenths of the one before."""
    trace = ticking(tmp_path, "n > 2*floor(n/2) ? 0.5*d : 0.9*d", 30.0)
    assert trace.outcome.ending is Ending.ZENO
    assert trace.outcome.accumulation == pytest.approx(1.5 / (1 - 0.45), abs=1e-9)


@pytest.mark.parametrize("factor", [0.05, 0.3, 0.9, 0.99])
def test_accumulation_at_any_speed(tmp_path: Path, factor: float) -> None:
    trace = ticking(tmp_path, f"{factor}*d", 1000.0)
    assert trace.outcome.ending is Ending.ZENO
    assert trace.outcome.accumulation == pytest.approx(1 / (1 - factor), rel=1e-9)


@pytest.mark.parametrize(
    ("least", "until"), [(1e-2, 12.0), (1e-4, 2.05), (1e-6, 2.0005), (2e-8, 2.00001)]
)
def test_stays_that_stop_shrinking_do_not_accumulate(
    tmp_path: Path, least: float, until: float
) -> None:
    """Stays halve down to the least: time goes on beyond t = 2, where they seemed to lead."""
    trace = ticking(tmp_path, f"max(0.5*d, {least:.10f})", until)
    assert trace.outcome.ending is Ending.HORIZON and trace.end == until
    halving = math.ceil(math.log2(1 / least))
    expected = halving + (until - 2 + 0.5 ** (halving - 1)) / least
    assert len(trace.jumps) == pytest.approx(expected, abs=1.01)


@pytest.mark.slow
def test_stays_that_become_nothing_use_up_the_jumps(tmp_path: Path) -> None:
    """Stays halve while they are longer than 1e-5, and then take no time: 2 - 2^-17 is where.
    The jumps are counted, so that no state comes back: it is not known that they never end."""
    trace = ticking(tmp_path, "d > 0.00001 ? 0.5*d : 0", 12.0)
    assert trace.outcome.ending is Ending.JUMP_LIMIT
    assert trace.end == pytest.approx(2 - 0.5**17, abs=1e-10)


def test_stays_that_shrink_ever_more_slowly_end_as_chattering(tmp_path: Path) -> None:
    """The sum of 1/n^2: one edge in one location, so there is nothing to slide on."""
    trace = ticking(tmp_path, "1/((n + 1)*(n + 1))", 12.0)
    assert trace.outcome.ending is Ending.CHATTERING
    assert trace.end < math.pi**2 / 6
    assert "others" not in trace.outcome.sentence and "sliding" not in trace.outcome.sentence


@pytest.mark.parametrize(("slow", "bounces"), [("0.1", 7), ("0.0001", 17), ("0.00001", 20)])
def test_a_mode_of_rest_is_entered_where_its_guard_holds(
    tmp_path: Path, slow: str, bounces: int
) -> None:
    """Falls of 1, flights of 1, 1/2, 1/4, ...: the ball comes down at 3 - 2^(1 - k) with speed
    10/2^k after k bounces; the first that is slow enough rests."""
    trace = run(tmp_path, BALL.format(slow=slow, factor="0.5"), 12.0)
    assert trace.outcome.ending is Ending.HORIZON
    assert not [e for e in trace.events if e.type is EventType.ACCUMULATION]
    assert [e.name for e in trace.jumps] == ["bounce"] * bounces + ["rest"]
    assert trace.jumps[-1].time == pytest.approx(3 - 2.0 ** (1 - bounces), abs=1e-8)
    assert 10 / 2**bounces <= float(slow) < 10 / 2 ** (bounces - 1)


def test_a_slow_accumulation_ends_at_rest_and_not_as_chattering(tmp_path: Path) -> None:
    """With 0.98 of the speed left: 200 bounces in a millionth of the time are passed before the
    ball is slow enough to rest."""
    trace = run(tmp_path, BALL.format(slow="0.00001", factor="0.98"), 3000.0)
    assert trace.outcome.ending is Ending.HORIZON
    bounces = math.ceil(math.log(1e-6) / math.log(0.98))
    assert [e.name for e in trace.jumps] == ["bounce"] * bounces + ["rest"]
    assert trace.jumps[-1].time == pytest.approx(1 + 2 * 49 * (1 - 0.98**bounces), abs=1e-6)


BOUNCING = """
mode Fall() { write analog real h, v; diff { d(h) == v; d(v) == -9.81; } inv { h >= 0 } }
mode Bouncing() {
  write analog real h, v; mode fall = Fall(); trans from init to fall;
  urgent trans #bounce from fall to fall when h <= 0 && v <= 0 do { v = -%s*v; }
}
agent Ball() { private analog real h = 5; private analog real v = 0; mode top = Bouncing(); }
"""


@pytest.mark.parametrize("method", [Adams(), Taylor()], ids=["adams", "taylor"])
@pytest.mark.parametrize("ratio", [0.3, 0.5, 0.8, 0.9, 0.99])
def test_the_ratio_is_that_of_intervals_that_are_resolved(
    tmp_path: Path, ratio: float, method: Adams | Taylor
) -> None:
    path = tmp_path / "ball.charon"
    path.write_text(BOUNCING % ratio)
    outcome = simulate(load(path).automaton, until=300.0, method=method).outcome
    assert outcome.ending is Ending.ZENO
    exact = math.sqrt(10 / 9.81) * (1 + ratio) / (1 - ratio)
    assert outcome.accumulation == pytest.approx(exact, rel=1e-11, abs=1e-9)
    assert f"shrinks by the factor {ratio} in each round" in outcome.sentence
