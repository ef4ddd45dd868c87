"""Small models decided by hand: order, ties, tangency, urgency, invariants, resets, inputs,
clocks, sliding, accumulation, values that do not exist. Every case is run by the command."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest


@dataclass(frozen=True)
class Case:
    """A model, options, and what must come of it; what is None is not decided by hand."""

    text: str
    options: Sequence[object] = ()
    until: float = 10.0
    code: int | None = None
    ending: str | None = None
    time: float | None = None
    jumps: int | None = None
    final: dict[str, object] = field(default_factory=dict)
    events: list[tuple[str, float]] | None = None
    tolerance: float = 1e-5


def one(
    flow: str, first: object, edges: str = "", inv: str = "", more: str = "", end: str = ""
) -> str:
    """A variable x with a flow, and a second mode in which it rests."""
    return f"""
    mode S() {{ write analog real x; diff {{ d(x) == {flow}; }} {f"inv {{ {inv} }}" if inv else ""} }}
    mode E() {{ write analog real x; diff {{ d(x) == 0; }} {end} }}
    mode Top() {{ write analog real x; mode s = S(); mode e = E(); trans from init to s; {edges} }}
    agent A() {{ private analog real x = {first}; {more} mode top = Top(); }}
    """


FED = """
mode S() { write analog real x; read analog real u; diff { d(x) == u; } }
agent A() { private analog real x = 0; read analog real u; mode top = S(); }
"""
WHEELS = """
mode F(real w) { write analog real x, y; diff { d(x) == w*y; d(y) == -w*x; } }
agent O(real w) { private analog real x = 1, y = 0; private discrete int n = 0; mode top = T(w); }
mode T(real w) { write analog real x, y; write discrete int n; mode f = F(w); trans from init to f; trans #turn from f to f when x <= 0 && y < 0 && n < 3 do { n = n + 1; x = 1; y = 0; } }
agent All() { agent slow = O(1); agent fast = O(40); }
"""
SLIDE = """
mode P() { write analog real x, y; diff { d(x) == -1; d(y) == 2; } inv { x >= 0 } }
mode M() { write analog real x, y; diff { d(x) == 3; d(y) == -2; } inv { x <= 0 } }
mode T() { write analog real x, y; mode p = P(); mode m = M(); trans from init to p; sliding trans from p to m when x <= 0; sliding trans from m to p when x >= 0; }
agent A() { private analog real x = 1, y = 0; mode top = T(); }
"""
BALL = """
mode F() { write analog real h, v; diff { d(h) == v; d(v) == -10; } inv { h >= 0 } }
mode T() { write analog real h, v; mode f = F(); trans from init to f; trans #b from f to f when h <= 0 && v < 0 do { v = -v/2; } }
agent A() { private analog real h = 5, v = 0; mode top = T(); }
"""
HISTORY = """
mode A1() { write analog real x; diff { d(x) == 1; } } mode A2() { write analog real x; diff { d(x) == 2; } }
mode W() { write analog real x; mode p = A1(); mode q = A2(); trans from default to p; trans #pq from p to q when x >= 1 && x < 1.5; }
mode O() { write analog real x; diff { d(x) == -1; } inv { x >= 2 } }
mode T() { write analog real x; mode w = W(); mode o = O(); trans from init to w; trans #out from w.default to o when x >= 3; trans #back from o to w.default when x <= 2 do { x = 2.5; } }
agent A() { private analog real x = 0; mode top = T(); }
"""
VALUES = """
mode S() { write analog real x; diff { d(x) == 1; } }
mode T() { write analog real x; write discrete enum { red, green } c; write discrete int n; write discrete bool f; mode s = S(); trans from init to s;
 trans #g from s to s when x >= 1 && c == red do { c = green; x = 0; n = n + 1; }
 trans #r from s to s when x >= 2 && c == green && !f do { c = red; x = 0; f = n >= 2; } }
agent A() { private analog real x = 0; private discrete enum { red, green } c = red; private discrete int n = 0; private discrete bool f = false; mode top = T(); }
"""

TURNS = [(1, 80), (2, 80), (3, 80), (1, 2), (2, 2), (3, 2)]
TURNED = [("turn", k * math.pi / share) for k, share in TURNS]
GO = "trans #g from s to e when "

CASES = {
    "the earlier guard": Case(
        one("1", 0, "trans #b from s to e when x >= 2; trans #a from s to e when x >= 1;"),
        events=[("a", 1.0)],
    ),
    "a tie goes by source order": Case(
        one("1", 0, "trans #b from s to e when x >= 1; trans #a from s to e when x >= 1;"),
        events=[("b", 1.0)],
    ),
    "a parabola below a guard": Case(
        one("2*(1 - time)", 0, GO + "x >= 1.001;"), jumps=0, final={"x": -80.0}
    ),
    "a parabola just above a guard": Case(
        one("2*(1 - time)", 0, GO + "x >= 0.999;"), events=[("g", 1 - math.sqrt(0.001))]
    ),
    "latest leaves with the invariant": Case(
        one("1", 0, GO + "x >= 1;", inv="x <= 3"), ("--policy", "latest"), events=[("g", 3.0)]
    ),
    "urgent does not wait": Case(
        one("1", 0, "urgent " + GO + "x >= 1;", inv="x <= 3"),
        ("--policy", "latest"),
        events=[("g", 1.0)],
    ),
    "an invariant without a way out": Case(
        one("1", 0, GO + "x >= 5;", inv="x <= 3"), ending="blocked", time=3.0
    ),
    "the middle of a range": Case(one("1", 0, GO + "x >= 1 do { x in [4, 6]; }"), final={"x": 5.0}),
    "the top of a range": Case(
        one("1", 0, GO + "x >= 1 do { x in [4, 6]; }"), ("--level", "high"), final={"x": 6.0}
    ),
    "assignments in order": Case(
        one("1", 0, GO + "x >= 1 do { x = x + 1; x = 3*x; }"), final={"x": 6.0}
    ),
    "a table as input": Case(FED, ("--input", "u=@u.csv"), until=4, final={"x": -0.5}),
    "no table": Case(FED, ("--input", "u=@no.csv"), code=2),
    "a table of words": Case(FED, ("--input", "u=@words.csv"), code=2),
    "a table back in time": Case(FED, ("--input", "u=@back.csv"), code=2),
    "a sine": Case(
        FED, ("--input", "u=sine(1, 2, 0, 0)"), until=1, final={"x": (1 - math.cos(2)) / 2}
    ),
    "steps": Case(FED, ("--input", "u=0:1,5:2"), until=7, final={"x": 9.0}),
    "a guard on time": Case(one("1", 0, GO + "sin(time) >= 0.5;"), events=[("g", math.pi / 6)]),
    "wheels on their own clocks": Case(WHEELS, ("--own-clocks",), events=TURNED),
    "wheels on one clock": Case(WHEELS, events=TURNED),
    "sliding": Case(SLIDE, until=5, ending="horizon", final={"x": 0.0, "y": 6.0}),
    "accumulation": Case(BALL, ending="zeno", time=3.0, tolerance=1e-3),
    "a root that ends": Case(
        one("sqrt(1 - time)", 0), code=5, ending="not-finite", time=1.0, tolerance=1e-3
    ),
    "a division by zero": Case(one("1/(1 - time)", 0), code=5),
    "an explosion": Case(one("x^2", 1), code=5, time=1.0, tolerance=1e-3),
    "a faster explosion": Case(one("exp(x)", 0), code=5, time=1.0, tolerance=1e-3),
    "a pole": Case(one("tan(time)", 0), code=5),
    "a logarithm in a guard": Case(
        one("-1", 1, GO + "log(x) <= -2;"), events=[("g", 1 - math.exp(-2))]
    ),
    "no time at all": Case(one("1", 0), until=0, ending="horizon", time=0.0, final={"x": 0.0}),
    "no first state": Case(one("1", 0, inv="x >= 1"), code=3),
    "no first state as asked": Case(one("1", 1, inv="x >= 1"), ("--init", "x=0"), code=2),
    "history": Case(
        HISTORY,
        until=3.5,
        events=[("pq", 1.0), ("out", 2.0), ("back", 3.0), ("out", 3.25)],
    ),
    "words, integers and truth": Case(
        VALUES,
        events=[("g", 1.0), ("r", 3.0), ("g", 4.0), ("r", 6.0), ("g", 7.0)],
        final={"c": "green", "n": 3, "f": True, "x": 3.0},
    ),
    "the tip of a wave": Case(
        one("20*cos(20*time)", 0, GO + "x >= 0.99999;"), events=[("g", math.asin(0.99999) / 20)]
    ),
    "an equation": Case(one("1", 0, GO + "x == 2;"), events=[("g", 2.0)]),
    "either": Case(one("1", 0, GO + "x >= 5 || (time >= 1.25 && x < 2);"), events=[("g", 1.25)]),
    "not": Case(one("1", 0, GO + "!(x < 0.75);"), events=[("g", 0.75)]),
    "more than": Case(one("1", 0, GO + "x > 1;"), events=[("g", 1.0)]),
    "the smaller of two": Case(one("1", 0, GO + "min(x, 2*x - 1) >= 1;"), events=[("g", 1.0)]),
    "at the start": Case(one("1", 0, GO + "x >= 0;"), events=[("g", 0.0)]),
    "an assertion": Case(
        one("1", 0, more='assert "low" { x <= 4 }'), code=10, ending="violation", time=4.0
    ),
    "a thin forbidden set": Case(
        one("1", 0, more='forbid "mid" { x >= 4 && x <= 4.001 }'), code=10, time=4.0
    ),
    "back and forth at one instant": Case(
        one("1", 0, "urgent trans from s to e when true; urgent trans from e to s when true;"),
        ending="livelock",
        time=0.0,
    ),
    "a target that does not let in": Case(
        one("1", 0, GO + "x >= 1 do { x = 9; }", end="inv { x <= 5 }"), jumps=0
    ),
    "the middle of an inclusion": Case(
        one("1", 0).replace("d(x) == 1", "d(x) in [1, 3]"), final={"x": 20.0}
    ),
    "a long wait": Case(
        one("0.001", 0, GO + "x >= 5;"), until=6000, events=[("g", 5000.0)], tolerance=1e-3
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_as_decided_by_hand(
    name: str, workbench: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("u.csv").write_text("time,u\n0,0\n1,1\n3,-1\n")
    Path("words.csv").write_text("time,u\n0,0\nx,1\n")
    Path("back.csv").write_text("time,u\n0,0\n2,1\n1,3\n")
    case, model, trace = CASES[name], Path("model.charon"), Path("trace.json")
    model.write_text(case.text)
    words = ("simulate", model, "--until", case.until, "--json", "--trace", trace)
    result = workbench(*words, *case.options)
    assert "Traceback" not in result.err
    assert case.code is None or result.code == case.code
    if result.code in (2, 3):
        assert case.code == result.code and result.err + result.out
        return
    (run,) = result.data["runs"]
    assert case.ending is None or run["ending"] == case.ending, run["sentence"]
    assert case.time is None or run["time"] == pytest.approx(case.time, abs=case.tolerance)
    assert case.jumps is None or run["jumps"] == case.jumps
    for variable, value in case.final.items():
        near = isinstance(value, float)
        expected = pytest.approx(value, rel=1e-5, abs=1e-5) if near else value
        assert run["final"][variable] == expected
    if case.events is not None:
        log = json.loads(trace.read_text())["events"]
        found = [(e["name"].split(": ")[-1], e["time"]) for e in log if e["type"] == "jump"]
        assert [n for n, _ in found] == [n for n, _ in case.events]
        for (_, at), (_, expected) in zip(found, case.events, strict=True):
            assert at == pytest.approx(expected, abs=case.tolerance)
