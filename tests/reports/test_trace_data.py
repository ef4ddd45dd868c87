"""Runs as data for the page: few points, and nothing of the picture lost."""

from __future__ import annotations

import math
from bisect import bisect_right
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.models.load import load
from workbench.reports.data.trace import TOLERANCE, Shown, Transitions, needed, sizes_of, trace_data
from workbench.simulate.run import simulate


def between(times: list[float], values: list[float], t: float) -> float:
    i = min(max(bisect_right(times, t) - 1, 0), len(times) - 2)
    share = (t - times[i]) / (times[i + 1] - times[i])
    return values[i] + share * (values[i + 1] - values[i])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.floats(-5, 5), st.floats(0.1, 9)), min_size=1, max_size=3))
def test_what_is_left_out_lies_on_the_lines(waves: list[tuple[float, float]]) -> None:
    times = [0.02 * i for i in range(301)]
    column = [sum(a * math.sin(w * t) for a, w in waves) for t in times]
    size = (max(column) - min(column)) or 1.0
    kept = needed(times, [column], [size])
    assert kept[0] == 0 and kept[-1] == 300
    for t, value in zip(times, column, strict=True):
        drawn = between([times[i] for i in kept], [column[i] for i in kept], t)
        assert abs(drawn - value) <= 1.001 * TOLERANCE * size


def test_straight_lines_need_two_points_and_gaps_all() -> None:
    times = [0.0, 1.0, 2.0, 3.0]
    assert needed(times, [[0.0, 2.0, 4.0, 6.0], [1.0, 1.0, 1.0, 1.0]], [6.0, 1.0]) == [0, 3]
    assert needed(times, [[0.0, None, 4.0, 6.0]], [6.0]) == [0, 1, 2, 3]


def test_a_library_run_is_drawn_with_fewer_points(monkeypatch: pytest.MonkeyPatch) -> None:
    automaton = load("platoon_paper").automaton
    trace = simulate(automaton, until=20.0)
    shown = Shown({v.name: v for v in automaton.variables})

    def points() -> int:
        data = trace_data(trace, Transitions(automaton), shown, sizes_of([trace], shown))
        return sum(len(s["t"]) for s in data["stretches"])

    few = points()
    monkeypatch.setattr("workbench.reports.data.trace.TOLERANCE", -1.0)
    assert few < 0.8 * points()


def test_transitions_are_told_once_and_events_know_their_stretch(tmp_path: Path) -> None:
    model = tmp_path / "hop.charon"
    model.write_text(
        """
        mode Go() { write analog real x; diff { d(x) == 1; } inv { x <= 1 } }
        mode Top() {
          write analog real x; write discrete int n;
          mode a = Go(); mode b = Go();
          trans from init to a;
          trans #over from a to b when x >= 1 do { n = 7 }
          urgent trans #back from b to a do { n = 0; x = 0 }
        }
        agent Hop() { private analog real x = 0; private discrete int n = 0; mode top = Top(); }
        """
    )
    automaton = load(model).automaton
    trace, transitions = simulate(automaton, until=5.5), Transitions(automaton)
    data = trace_data(
        trace, transitions, Shown({v.name: v for v in automaton.variables}), [1.0, 1.0]
    )
    assert [t["name"] for t in transitions.data] == ["over", "back"]
    assert transitions.data[0]["resets"] and transitions.data[0]["line"][1] == 7
    jumps = [e for e in data["events"] if e["type"] == "jump"]
    assert len(jumps) == 10 and "name" not in jumps[0]
    stays = [data["stretches"][e["stretch"]] for e in jumps]
    assert [s["location"] for s in stays] == ["b", "a"] * 5
    assert [s["values"]["n"] for s in stays] == [7, 0] * 5
    assert [len(s["t"]) for s in stays] == [1, 2] * 5
    assert all(s["t"][0] == pytest.approx(e["t"]) for s, e in zip(stays, jumps, strict=True))
