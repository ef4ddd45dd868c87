"""Models made in Python: the same model as the text's, the same diagnostics, and back to text."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import workbench
from workbench import build
from workbench.build import (
    Agent,
    Bool,
    Constant,
    Enum,
    Function,
    Int,
    Mode,
    Real,
    Table,
    always,
    choose,
    enter,
    maximum,
    never,
    sin,
    sqrt,
    time,
)

BALL = """
mode Falling() {
  write analog real height, speed;
  diff { d(height) == speed; d(speed) == -9.81; }
  inv { height >= 0 }
}
mode Top() {
  write analog real height, speed;
  mode falling = Falling();
  trans from init to falling;
  trans #bounce from falling to falling when height <= 0 && speed < 0 do { speed = -0.75*speed; }
}
agent Ball() {
  write analog real height, speed;
  init { height in [10, 10.2]; speed = 0; }
  mode top = Top();
  assert "stays low" { height <= 11 }
}
"""


def ball() -> Agent:
    height, speed = Real("height"), Real("speed")
    falling = Mode("falling", height.d == speed, speed.d == -9.81, invariant=height >= 0)
    bounce = falling.to(falling, (height <= 0) & (speed < 0), {speed: -0.75 * speed}, name="bounce")
    top = Mode("top", falling, enter(falling), bounce)
    first = {height: (10, 10.2), speed: 0}
    return Agent("Ball", top, always("stays low", height <= 11), initial=first)


def test_the_model_is_that_of_the_text() -> None:
    made, written = workbench.load(ball()), workbench.load(BALL)
    assert made.automaton.sha256 == written.automaton.sha256
    assert made.name == "Ball" and made.properties == written.properties


def test_out_again_as_text() -> None:
    text = ball().charon()
    assert workbench.load(text).automaton.sha256 == workbench.load(ball()).automaton.sha256
    assert "trans #bounce from falling to falling when height <= 0 && speed < 0" in text


def test_agents_in_parallel_share_variables() -> None:
    level, flow, leak = Real("level"), Real("flow"), Real("leak")
    tank = Agent("Tank", Mode("top", level.d == flow - leak), initial={level: 6})
    hole = Agent("Hole", Mode("top", leak.follows(level / 10)))
    on = Mode("on", flow.follows(2), invariant=level <= 10)
    off = Mode("off", flow.follows(0), invariant=level >= 5)
    pump = Agent(
        "Pump",
        Mode("top", on, off, enter(off), on.to(off, level >= 10), off.to(on, level <= 5)),
    )
    marks = always("between the marks", (level >= 5) & (level <= 10))
    model = workbench.load(Agent("Works", tank, hole, pump, marks, private=[flow, leak]))
    run = model.simulate(until=20)[0]
    assert len(model.automaton.components) == 3 and not run.violated and len(run.jumps) >= 2


def test_one_definition_serves_several_times() -> None:
    x = Real("x")
    cell = Agent("Cell", Mode("top", x.d == -x), initial={x: 1})
    a, b = Real("a"), Real("b")
    whole = Agent("Two", cell.named("first", {x: a}), cell.named("second", {x: b}))
    run = workbench.load(whole).simulate(until=1)[0]
    assert run.final["a"] == run.final["b"] == pytest.approx(0.367879, abs=1e-5)
    assert whole.charon().count("agent Cell()") == 1


def test_constants_stay_open() -> None:
    rate, x = Constant("rate", "1/10"), Real("x")
    model = workbench.load(Agent("A", Mode("top", x.d == -rate * x), initial={x: 1}))
    slow, fast = model, model.with_parameters(rate=1)
    assert slow.simulate(until=1)[0].final["x"] > 0.9 > fast.simulate(until=1)[0].final["x"]
    unsure = Constant("rate", 0.9, 1.1)
    ranged = workbench.load(Agent("A", Mode("top", x.d == -unsure * x), initial={x: 1}))
    assert [p.name for p in ranged.automaton.parameters] == ["rate"]


def test_functions_and_tables() -> None:
    v = Real("v")
    gust = Function("gust", lambda t: 2.0, arguments=1)
    drag = Table("drag", {0: 0, 10: 3, 20: 12})
    model = workbench.load(Agent("Sled", Mode("top", v.d == gust(time) - drag(v)), initial={v: 5}))
    assert model.simulate(until=30)[0].final["v"] == pytest.approx(20 / 3, abs=1e-2)


def test_every_type_and_operator() -> None:
    x, n, ok, state = Real("x"), Int("n"), Bool("ok"), Enum("state", "idle", "busy")
    rising = Mode("rising", x.d == choose(ok, 1, 2) + 0 * sqrt(maximum(x, 1)) + 0 * sin(x))
    again = rising.to(
        rising,
        (x >= 1) & (state == "idle") & (n != 7) & ~(abs(x) > 3) | (2 < n - 9),
        {x: 0, n: n + 1, ok: ~ok, state: "busy"},
        how=["urgent"],
    )
    top = Mode("top", rising, enter(rising), again)
    first = {x: 0, n: 0, ok: True, state: "idle"}
    claim = never("counts on", n >= 2)
    run = workbench.load(Agent("A", top, claim, initial=first)).simulate(until=3)[0]
    assert run.final["state"] == "busy" and run.final["n"] == 1 and not run.violated


def test_history_and_private_variables() -> None:
    x, clock = Real("x"), Real("clock")
    slow = Mode("slow", x.d == 1, invariant=x <= 2)
    fast = Mode("fast", x.d.within(2, 3), invariant=x <= 10)
    work = Mode("work", slow, fast, enter(slow), slow.to(fast, x >= 2))
    rest = Mode("rest", x.d == 0, clock.d == 1, private={clock: 0}, invariant=clock <= 1)
    pause = build.Transition(work.default, build.ControlPoint(rest), (x >= 1) & (x <= 1.5))
    top = Mode("top", work, rest, enter(work), pause, rest.to(work.default, x >= 0))
    run = workbench.load(Agent("A", top, initial={x: 0})).simulate(until=3, runs=2)[1]
    assert run.jumps


def test_what_is_wrong_is_told_at_the_line_of_python() -> None:
    x, y = Real("x"), Real("y")
    line = inspect.currentframe().f_lineno + 1  # type: ignore[union-attr]
    wrong = Mode("wrong", x.d == (y > 1))
    with pytest.raises(workbench.ModelError) as caught:
        workbench.load(Agent("A", wrong, initial={x: 0, y: 1}))
    text = str(caught.value)
    assert f"test_build.py:{line}:" in text and "x.d == (y > 1)" in text
    assert "d(x) == (y > 1)" in text or "d(x) == y > 1" in text


def test_python_that_makes_no_sense_is_refused() -> None:
    x = Real("x")
    with pytest.raises(TypeError, match="write & | ~"):
        _ = 0 <= x <= 1
    with pytest.raises(ValueError, match="is no name"):
        Real("x y")
    with pytest.raises(ValueError, match="'true' is no name"):
        Real("true")
    with pytest.raises(TypeError, match=r"x\.follows"):
        Mode("top", x == 1)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="cannot be a part"):
        Agent("A", 3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="two different things"):
        workbench.load(Agent("A", Mode("top", x.d == Real("x"))))
    with pytest.raises(ValueError, match="without quotes"):
        always('a "b"', x >= 0)


X = Real("x")
STILL = Mode("still", X.d == 0)
LAMP = Agent("Lamp", STILL, initial={X: 1})
CURVE = Table("curve", {0: 0, 1: 1})


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Real(3), "a name is a text, not 3"),
        (lambda: Enum("e", 1), "a name is a text, not 1"),
        (lambda: Constant("k", 2, 1), "k is in an empty range: 1 is below 2"),
        (lambda: Constant("k", None), "a number is expected, not None"),
        (lambda: Function("f", None), "f needs a Python function, not None"),
        (lambda: Function("f", abs, "two"), "f has a number of arguments, not 'two'"),
        (lambda: Table("t", [0, 1]), "t needs points, as in {0: 1, 10: 2.5}"),
        (lambda: Table("t", {}), "t needs points"),
        (lambda: X + None, "an expression is expected, not None"),
        (lambda: X - [1], r"an expression is expected, not \[1\]"),
        (lambda: [1] * X, r"an expression is expected, not \[1\]"),
        (lambda: X * np.array([1, 2]), "an expression is expected, not array"),
        (lambda: np.array([1, 2]) * X, "an expression is expected, not array"),
        (lambda: X + CURVE, r"curve is a function: call it, curve\(...\)"),
        (lambda: X.d == X.d, "the derivative x.d is no value"),
        (lambda: X.d == (X.d == 1), "the equation of x is no value"),
        (lambda: 0 <= X.d <= 1, r"write x\.d\.within\(low, high\)"),
        (lambda: maximum(), "of no values"),
        (lambda: always(X >= 0, "safe"), "a property has a name first"),
        (lambda: always("safe", True), "'safe' is a condition over variables"),
        (lambda: always("safe", X.d <= 1), "'safe' is a condition, not a flow"),
        (lambda: Mode("m", [X.d == 0]), r"give the parts one by one: \*parts"),
        (lambda: Mode("m", X), "variables are declared by what uses them"),
        (lambda: Mode("m", Mode), r"it is a class: make one, Mode\(...\)"),
        (lambda: Mode("m", X.d == 0, invariant="x >= 0"), "the invariant is a list|not 'x >= 0'"),
        (lambda: Mode("m", X.d == 0, invariant=X.d <= 1), "the invariant is a condition, not a"),
        (lambda: Mode("m", X.d == 0, private="y"), "`private` is a list, not 'y'"),
        (lambda: Mode("m", X.d == 0, private=["y"]), r'make it by x = Real\("y"\)'),
        (lambda: Mode("m", X.d == 0, private={X: (0, 1, 2)}), r"x has a value or two bounds"),
        (lambda: Mode("m", X.d == 0, entries=3), "`entries` is a list, not 3"),
        (lambda: enter("still"), "leads to a mode or one of its points, not to 'still'"),
        (lambda: STILL.to(LAMP), "leads to a mode or one of its points"),
        (lambda: STILL.to(STILL, True), "`when` is a condition over variables"),
        (lambda: STILL.to(STILL, None, [1]), "`do` gives values by variable"),
        (lambda: STILL.to(STILL, None, {"x": 1}), r'`do` is of variables, not of \'x\'.*Real\("x"'),
        (lambda: STILL.to(STILL, None, {X: None}), "an expression is expected, not None"),
        (lambda: STILL.to(STILL, name=3), "a name is a text, not 3"),
        (lambda: build.Transition(STILL, STILL), "is between control points"),
        (lambda: build.ControlPoint("still"), "a control point is of a mode"),
        (lambda: Agent("A", X.d == 0), "flows and equations are parts of a mode"),
        (lambda: Agent("A", None), "an agent consists of Agent, Claim, Instance, Mode"),
        (lambda: Agent("A", STILL, initial={X: (1, 2, 3)}), r"\(low, high\), not \(1, 2, 3\)"),
        (lambda: Agent("A", STILL, initial={X: (1,)}), r"not \(1,\)"),
        (lambda: Agent("A", STILL, initial=[X]), "`initial` gives values by variable"),
        (lambda: Agent("A", STILL, initial={X: 1}, private={X: 1}), "`private` of an agent is a l"),
        (lambda: Agent("A", STILL, initial={X: 1}, where=3), "`where` is a condition"),
        (lambda: Agent("A", STILL, initial={X: 1}, predicates=["x"]), "a predicate is a condition"),
        (lambda: Agent("A", STILL, initial={X: 1}, until="soon"), "'soon' is not a number"),
        (lambda: LAMP.named("two", [X]), r"a renaming is of variables, as in \{x: y\}"),
        (lambda: LAMP.named("two", {X: "y"}), "a renaming is of variables, not of 'y'"),
        (lambda: build.Instance(STILL, "two"), "an instance is of an agent"),
        (lambda: X.d < 1, r"x\.d is bounded by <= and >=, or .* x\.d\.within\(low, high\)"),
        (lambda: X.d > 1, "is bounded by <= and >="),
        (lambda: X + Real("x"), "two different things are called 'x': make each variable once"),
    ],
)
def test_wrong_parts_are_refused_where_they_are_given(make: Callable[[], Any], says: str) -> None:
    with pytest.raises((TypeError, ValueError), match=says) as caught:
        make()
    assert "object has no attribute" not in str(caught.value)


def test_pairs_may_be_lists_and_numbers_those_of_numpy() -> None:
    half = np.float32(0.5)
    mode = Mode("m", X.d == -half * X, invariant=half >= X - 1)
    made = workbench.load(Agent("A", mode, initial={X: [half, np.int64(1)]}))
    assert made.simulate(until=1, runs=2)[1].final["x"] <= 1


def test_everything_is_short_where_it_is_shown(tmp_path: Path) -> None:
    mode, other = Mode("m", X.d == 1), Mode("n", X.d >= 0)
    go = mode.to(other, X >= 1, {X: 0}, name="go")
    shown = {
        "<Derivative x.d>": X.d,
        "<Flow d(x) == 1>": mode.flows[0],
        "<Equation x == 2*x>": X.follows(2 * X),
        "<Transition trans #go from m to n when x >= 1 do { x = 0; }>": go,
        '<Claim assert "up" { x >= 0 }>': always("up", X >= 0),
        "<ControlPoint m.default>": mode.default,
        "<Instance two of A>": Agent("A", mode).named("two"),
    }
    assert [repr(one) for one in shown.values()] == [*shown]
    agent = Agent("A", mode, always("up", X >= 0), initial={X: 0})
    assert agent.save(tmp_path / "a.charon").read_text() == agent.charon()
    assert "agent A() {\n  write analog real x;" in agent._repr_html_()
    far = X
    for _ in range(1000):
        far = far * X + 1
    with pytest.raises(workbench.ModelError, match="nested more than") as caught:
        workbench.load(Agent("A", Mode("m", X.d == far), initial={X: 0}))
    assert len(str(caught.value)) < 500


def test_lines_that_messages_mention_are_those_of_python() -> None:
    frame = inspect.currentframe()
    assert frame is not None
    here = frame.f_lineno
    first = X.d == 1
    second = X.d == 2
    with pytest.raises(workbench.ModelError) as caught:
        workbench.load(Agent("A", Mode("m", first, second), initial={X: 0}))
    assert f"test_build.py:{here + 2}:" in str(caught.value)
    assert f"the other is at line {here + 1})" in str(caught.value)
