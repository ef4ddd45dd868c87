"""Traces: asking, saving, reading back, comparing."""

from __future__ import annotations

import csv
import json
import math
from array import array

import pytest

from workbench.models.load import load, load_text
from workbench.models.source import ModelError
from workbench.models.trace import Ending, EventType, Outcome, Segment, Trace
from workbench.models.trace_comparison import compare_traces
from workbench.models.trace_files import from_csv, from_json, to_csv, to_json
from workbench.simulate.policy import Policy
from workbench.simulate.run import simulate
from workbench.simulate.stepping.methods import Adams, Taylor


@pytest.fixture(scope="module")
def platoon() -> Trace:
    return simulate(load("platoon_mild").automaton, until=15.0, policy=Policy.random(), seed=3)


@pytest.fixture(scope="module")
def ball() -> Trace:
    model = load("bouncing_ball").automaton
    return simulate(model, until=5.0, initial={"height": 10.1})


def test_values_between_steps_are_those_of_the_parabola(ball: Trace) -> None:
    for k in range(100):
        t = k * 0.014
        assert ball.at(t)["height"] == pytest.approx(10.1 - 9.81 / 2 * t * t, abs=1e-9)


def test_both_values_at_a_jump(ball: Trace) -> None:
    t = ball.jumps[0].time
    speed = math.sqrt(2 * 9.81 * 10.1)
    assert ball.before(t)["velocity"] == pytest.approx(-speed)
    assert ball.at(t)["velocity"] == pytest.approx(0.8 * speed)


def test_equations_define_values(platoon: Trace) -> None:
    for t in (0.0, 3.3, 7.7, 15.0):
        v = platoon.at(t)
        error = v["dist"] - v["velOther"] - 10
        assert v["follower.controller.error"] == pytest.approx(error)


def test_json_reads_back_equal(platoon: Trace, ball: Trace) -> None:
    for trace in (platoon, ball):
        assert from_json(to_json(trace)) == trace


LAMP = """
table bent(real v) linear { 0: 1, 1/3: 2 }
mode On() {
  write analog real x, w; write discrete enum { red, green } lamp;
  diff { d(x) == 1; }
  alge { w == (lamp == red ? bent(x) : x); }
}
mode Top() {
  write analog real x, w; write discrete enum { red, green } lamp;
  mode on = On();
  trans from init to on;
  trans #change from on to on when x >= 1 && lamp == red do { lamp = green; }
}
agent Lamp() {
  private analog real x = 0, w; private discrete enum { red, green } lamp = red;
  mode top = Top();
}
"""


def test_equations_with_tables_and_symbols_read_back_equal() -> None:
    trace = simulate(load_text(LAMP, "lamp.charon").automaton, until=3.0)
    again = from_json(to_json(trace))
    assert again == trace
    assert [again.at(t)["w"] for t in (0.25, 2.0)] == pytest.approx([1.75, 2.0])
    document = json.loads(to_json(trace))
    document["segments"][0]["tables"]["bent"]["axes"] = [["0", "1/0"]]
    with pytest.raises(ModelError):
        from_json(json.dumps(document))


@pytest.mark.parametrize(
    "text",
    ["", "{}", "[]", "null", '{"schema": "other"}', "[" * 100_000, '{"schema": "charon-trace/1"}'],
)
def test_other_files_are_refused(text: str) -> None:
    with pytest.raises(ModelError):
        from_json(text)


def test_damaged_pieces_are_refused(ball: Trace) -> None:
    document = json.loads(to_json(ball))
    document["segments"][0]["coefficients"].pop()
    with pytest.raises(ModelError, match="do not fit"):
        from_json(json.dumps(document))


def test_csv_has_both_sides_of_a_jump(ball: Trace) -> None:
    rows = list(csv.DictReader(to_csv(ball).splitlines()))
    assert list(rows[0]) == ["time", "location", "height", "velocity"]
    t = repr(ball.jumps[0].time)
    speeds = [float(r["velocity"]) for r in rows if r["time"] == t]
    assert speeds[0] < 0 < speeds[-1]
    regular = list(csv.DictReader(to_csv(ball, step=0.5, names=["height"]).splitlines()))
    assert [float(r["time"]) for r in regular[:3]] == [0.0, 0.5, 1.0]


def test_two_methods_agree() -> None:
    model = load("van_der_pol").automaton
    start = {"x": 1.4, "y": 2.4}
    a = simulate(model, until=6.0, initial=start, method=Adams(rtol=1e-9, atol=1e-11))
    b = simulate(model, until=6.0, initial=start, method=Taylor(rtol=1e-12, atol=1e-13, order=18))
    found = compare_traces(a, b)
    assert found.largest < 1e-6 and found.first_jump == -1


def test_comparison_finds_the_parting(ball: Trace) -> None:
    other = simulate(load("bouncing_ball").automaton, until=5.0, initial={"height": 10.0})
    found = compare_traces(ball, other)
    assert found.largest > 0.05 and found.variable in ("height", "velocity")
    short = simulate(load("bouncing_ball").automaton, until=2.0, initial={"height": 10.1})
    assert compare_traces(ball, short).first_jump == len(short.jumps)


def test_log_names_sides_and_residuals(ball: Trace) -> None:
    enabled = [e for e in ball.events if e.type is EventType.ENABLED]
    assert len(enabled) == len(ball.jumps) > 0
    for event in enabled:
        assert event.name == "bounce" and -1e-9 <= event.residual <= 0.0
        assert event.together == ("bounce", "height >= 0")


def test_jumps_part_where_one_run_has_none(ball: Trace) -> None:
    early = simulate(load("bouncing_ball").automaton, until=1.0, initial={"height": 10.1})
    assert not early.jumps and ball.jumps
    assert compare_traces(ball, early).first_jump == 0
    assert compare_traces(ball, from_csv(to_csv(ball))).first_jump is None


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_long_tables_are_written_in_one_pass() -> None:
    """x = t^2 in pieces of degrees 2 and 3 by turns; the place of a piece is not counted anew."""
    count = 300_000
    degrees = [2 + i % 2 for i in range(count)]
    numbers = array("d")
    for i, degree in enumerate(degrees):
        numbers.extend((float(i) ** 2, 2.0 * i, 1.0, 0.0)[: degree + 1])
    times = array("d", range(count + 1))
    final = array("d", [float(count) ** 2])
    segment = Segment("a", ("x",), times, array("i", degrees), numbers, {}, final)
    trace = Trace("m", ("x",), (segment,), (), Outcome(Ending.HORIZON, float(count), ""))
    rows = to_csv(trace).splitlines()
    assert len(rows) == count + 2
    assert rows[1:] == [f"{float(i)!r},a,{float(i) ** 2!r}" for i in range(count + 1)]
    assert trace.at(1234.5)["x"] == 1234.5**2 and trace.at(1235.5)["x"] == 1235.5**2


def test_samples_cover_the_run(platoon: Trace) -> None:
    times = [t for t, _, _ in platoon.samples(0.25)]
    assert times[0] == 0.0 and times[-1] == platoon.end == 15.0
    assert times == sorted(times)


def test_tables_read_back(ball: Trace, platoon: Trace) -> None:
    for trace in (ball, platoon):
        again = from_csv(to_csv(trace))
        assert again.variables == trace.variables
        assert [s.location for s in again.segments if s.end > s.start] == [
            s.location for s in trace.segments if s.end > s.start
        ]
        for t, _, values in trace.samples():
            if all(e.time != t for e in trace.jumps):
                assert again.at(t) == pytest.approx(values, nan_ok=True)
        for step in (None, 0.3):
            assert compare_traces(trace, from_csv(to_csv(trace, step=step))).largest < 1e-9


def test_a_table_says_nothing_between_its_rows(ball: Trace) -> None:
    coarse = from_csv(f"time,height\n0,{ball.at(0.0)['height']}\n1,{ball.at(1.0)['height']}\n")
    assert compare_traces(ball, coarse).largest < 1e-9
    off = from_csv(f"time,height\n0,{ball.at(0.0)['height']}\n1,{ball.at(1.0)['height'] + 1}\n")
    assert compare_traces(ball, off).largest == pytest.approx(1.0)


@pytest.mark.parametrize(
    "table",
    [
        "",
        "x,y\n1,2\n",
        "time,x,x\n0,1,1\n",
        "time,x\n0\n",
        "time,x\n1,0\n0,0\n",
        "time,x\nnan,0\n1,0\n",
        "time,x\nsoon,0\n",
        "time,x\n0,1\n1,\n",
    ],
)
def test_other_tables_are_refused(table: str) -> None:
    with pytest.raises(ModelError, match="not a trace"):
        from_csv(table)


@pytest.mark.parametrize("table", ["time,x\n0,1\n\n1,abc\n", "time,x\n0,abc\n1,abc\n"])
def test_a_cell_that_is_no_number_is_named(table: str) -> None:
    line = 4 if "\n\n" in table else 2
    with pytest.raises(ModelError, match=f"line {line}, column `x`: `abc` is no number"):
        from_csv(table, numeric=["x"])


def test_columns_of_words_may_have_no_value_somewhere() -> None:
    assert from_csv("time,mood\n0,glad\n1,nan\n").at(0.0)["mood"] == "glad"


@pytest.mark.parametrize(
    ("first", "second", "gap"),
    [
        ("0,1\n1,1\n", "0,1\n1,nan\n", math.inf),
        ("0,1\n1,1\n", "0,a\n1,a\n", math.inf),
        ("0,a\n1,a\n", "0,b\n1,b\n", math.inf),
        ("0,a\n1,a\n", "0,a\n1,a\n", 0.0),
        ("0,nan\n1,nan\n", "0,nan\n1,nan\n", 0.0),
        ("0,1\n1,1\n", "0,1\n1,3\n", 2.0),
    ],
)
def test_what_has_no_common_number_differs(first: str, second: str, gap: float) -> None:
    found = compare_traces(from_csv("time,x\n" + first), from_csv("time,x\n" + second))
    assert found.largest == pytest.approx(gap)
    assert found.variable == ("x" if gap else "")
