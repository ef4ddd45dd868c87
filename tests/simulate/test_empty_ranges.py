"""Ranges without a value stop time and jumps; chains of jumps at one instant that end."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from workbench.models.load import load
from workbench.models.trace import Ending, Trace
from workbench.simulate.policy import Level, Policy
from workbench.simulate.run import simulate
from workbench.simulate.stepping.methods import Adams, Method, Taylor

MODEL = """
mode Go() {{ write analog real x, k; diff {{ d(x) {rate}; d(k) == 0; }} }}
mode Rest() {{ write analog real x, k; diff {{ d(x) == 0; d(k) == 0; }} }}
mode Top() {{
  write analog real x, k;
  mode go = Go(); mode rest = Rest();
  trans from init to go;
  {edges}
}}
agent A() {{ private analog real x, k; init {{ x = {start}; k = 0; }} mode top = Top(); }}
"""


def run(
    folder: Path, rate: str, edges: str = "", start: str = "0", level: Level = Level.MID,
    method: Method | None = None, until: float = 3.0, max_jumps: int = 100_000,
) -> Trace:  # fmt: skip
    """A run of a model with one range."""
    path = folder / "model.charon"
    path.write_text(MODEL.format(rate=rate, edges=edges, start=start), encoding="utf-8")
    policy = Policy(level=level)
    return simulate(
        load(path).automaton, until=until, policy=policy, method=method or Adams(),
        max_jumps=max_jumps,
    )  # fmt: skip


METHODS: list[Method] = [Adams(), Taylor()]


@pytest.mark.parametrize("method", METHODS, ids=["adams", "taylor"])
@pytest.mark.parametrize(
    ("level", "end"), [(Level.LOW, 1.0), (Level.MID, 2 * math.log(1.5)), (Level.HIGH, math.log(2))]
)
def test_no_time_passes_where_a_derivative_has_no_value(
    tmp_path: Path, method: Method, level: Level, end: float
) -> None:
    trace = run(tmp_path, "in [1, 2 - x]", level=level, method=method)
    assert trace.outcome.ending is Ending.BLOCKED
    assert trace.end == pytest.approx(end, abs=1e-5)
    assert "d(x) has a value: 1 <= 2 - x" in trace.outcome.sentence


def test_a_range_may_be_empty_for_a_short_time_only(tmp_path: Path) -> None:
    """0 <= (time - 1)^2 - 1e-6 fails between 0.999 and 1.001."""
    trace = run(tmp_path, "in [0, (time - 1)^2 - 0.000001]")
    assert trace.outcome.ending is Ending.BLOCKED
    assert trace.end == pytest.approx(0.999, abs=1e-6)


@pytest.mark.parametrize("rate", ["in [x - 1, x + 1]", "in [-1, x^2]", "<= 2 - x", "in [0, 1]"])
def test_ranges_with_values_stop_nothing(tmp_path: Path, rate: str) -> None:
    assert run(tmp_path, rate).outcome.ending is Ending.HORIZON


def test_an_edge_leads_on_from_an_empty_range(tmp_path: Path) -> None:
    trace = run(tmp_path, "in [1, 2 - x]", "trans #out from go to rest when x >= 2;", "3")
    assert trace.outcome.ending is Ending.HORIZON and len(trace.jumps) == 1
    late = run(tmp_path, "in [1, 2 - x]", "trans #out from go to rest when x >= 0.9999999;")
    assert late.outcome.ending is Ending.HORIZON and len(late.jumps) == 1


def test_a_start_without_a_derivative_is_blocked_at_once(tmp_path: Path) -> None:
    trace = run(tmp_path, "in [1, 2 - x]", start="3")
    assert trace.outcome.ending is Ending.BLOCKED and trace.end == 0.0


@pytest.mark.parametrize(
    ("reset", "ending"),
    [
        ("x in [3, x]", Ending.BLOCKED),
        ("x in [1, x]", Ending.HORIZON),  # within tolerance just before the guard, too
        ("x in [x - 1, x]", Ending.HORIZON),
        ("k in [0, 1]; x in [2, x + k]", Ending.HORIZON),
        ("k in [0, 1]; x in [2.1, x + k]", Ending.BLOCKED),
    ],
)
def test_no_jump_into_an_empty_range(tmp_path: Path, reset: str, ending: Ending) -> None:
    edge = f"urgent trans #e from go to rest when x >= 1 do {{ {reset} }}".replace(" }", "; }")
    trace = run(tmp_path, "== 1", edge, level=Level.HIGH)
    assert trace.outcome.ending is ending
    if ending is Ending.BLOCKED:
        assert trace.end == pytest.approx(1.0) and not trace.jumps
        assert "a reset of `e` has an empty range" in trace.outcome.sentence


def test_another_edge_is_taken_in_place_of_one_with_an_empty_range(tmp_path: Path) -> None:
    edges = """
  trans #e from go to rest when x >= 1 do { x in [3, x]; }
  trans #f from go to rest when x >= 1;"""
    assert [e.name for e in run(tmp_path, "== 1", edges).jumps] == ["f"]


@pytest.mark.parametrize("count", [300, 1500])
def test_a_finite_chain_is_no_livelock(tmp_path: Path, count: int) -> None:
    edge = f"urgent trans #a from go to go when x >= 1 && k < {count} do {{ k = k + 1; }}"
    trace = run(tmp_path, "== 1", edge)
    assert trace.outcome.ending is Ending.HORIZON and len(trace.jumps) == count


def test_an_endless_chain_of_new_states_ends_by_the_limit(tmp_path: Path) -> None:
    edge = "urgent trans #a from go to go when x >= 1 do { k = k + 1; }"
    trace = run(tmp_path, "== 1", edge, max_jumps=5000)
    assert trace.outcome.ending is Ending.JUMP_LIMIT
    assert "5000 jumps" in trace.outcome.sentence


def test_states_that_come_back_are_a_livelock(tmp_path: Path) -> None:
    edge = "urgent trans #a from go to go when x >= 1 do { k = 1 - k; }"
    trace = run(tmp_path, "== 1", edge)
    assert trace.outcome.ending is Ending.LIVELOCK and trace.end == pytest.approx(1.0)


def test_a_self_loop_does_not_lead_outside(tmp_path: Path) -> None:
    path = tmp_path / "loop.charon"
    path.write_text(
        """
mode Go() { write analog real x; diff { d(x) == 1; } inv { x <= 1 } }
mode Top() { write analog real x; mode go = Go(); trans from init to go;
  trans #loop from go to go when x >= 1; }
agent A() { private analog real x; init { x = 0; } mode top = Top(); }
""",
        encoding="utf-8",
    )
    outcome = simulate(load(path).automaton, until=3.0).outcome
    assert outcome.ending is Ending.BLOCKED
    assert "`loop` leads back to the same state" in outcome.sentence
