"""Small models that block or go on in ways that one mode with one edge does not show: products,
hierarchies, inputs, parameters, choices, Zeno. None of them is known to anything but this file."""

from __future__ import annotations

import pytest

from workbench.abstraction.blocking import look
from workbench.abstraction.strategies.strategy import Task
from workbench.abstraction.verification import deadline, verify
from workbench.models.automaton import Automaton, never_blocks
from workbench.models.load import load_text
from workbench.models.trace import Ending
from workbench.models.verdict import Falsified, Unknown, Verdict, Verified

BLOCKING = {
    "deadlock of a product": (
        "the whole is stuck",
        """
mode Wait(int mine) {
  write analog real c; readwrite discrete int turn;
  diff { d(c) == 1; }
  inv { c <= 3 }
}
mode Top(int mine, int other) {
  write analog real c; readwrite discrete int turn;
  mode w = Wait(mine);
  trans from init to w;
  trans #act from w to w when turn == mine && c >= 1
    do { turn = other; c = 0; }
}
agent P(int mine, int other) { private analog real c = 0; readwrite discrete int turn;
  mode top = Top(mine, other); }
agent Both() { private discrete int turn;
  init { turn = 0; }
  agent a = P(0, 1);
  agent b = P(1, 2);
  assert "ok" { turn >= 0 } }
""",
    ),
    "guard never met": (
        "`drain` is stuck where h = 2",
        """
mode Filling() { write analog real h;
  diff { d(h) == 2 - 0.1*h; }
  inv { h <= 10 } }
mode Draining() { write analog real h;
  diff { d(h) == -0.5; }
  inv { h >= 2 } }
mode TankTop() { write analog real h;
  mode fill = Filling();
  mode drain = Draining();
  trans from init to fill;
  trans #full from fill to drain when h >= 9;
  trans #low from drain to fill when h <= 1; }
agent Tank() { private analog real h = 3;
  mode top = TankTop();
  assert "no overflow" { h <= 10 } }
""",
    ),
    "urgent edge that leads nowhere": (
        "`r` is stuck where x = 4",
        """
mode Run() { write analog real x;
  diff { d(x) == 1; } }
mode Stop() { write analog real x;
  diff { d(x) == -1; }
  inv { x <= 2 } }
mode Top() { write analog real x;
  mode r = Run();
  mode s = Stop();
  trans from init to r;
  urgent trans #stop from r to s when x >= 4; }
agent A() { private analog real x = 0;
  mode top = Top();
  assert "low" { x <= 5 } }
""",
    ),
    "empty initial set": (
        "no run starts",
        """
mode Run() { write analog real x;
  diff { d(x) == 1; }
  inv { x <= 3 } }
mode Top() { write analog real x;
  mode r = Run();
  trans from init to r; }
agent A() { private analog real x;
  init { x in [4, 5]; }
  mode top = Top();
  assert "low" { x <= 2 } }
""",
    ),
    "Zeno": (
        "(Zeno)",
        """
mode Fill1() { write analog real x, y;
  diff { d(x) == 1; d(y) == -2; }
  inv { y >= 0 } }
mode Fill2() { write analog real x, y;
  diff { d(x) == -2; d(y) == 1; }
  inv { x >= 0 } }
mode Top() { write analog real x, y;
  mode one = Fill1();
  mode two = Fill2();
  trans from init to one;
  trans #to2 from one to two when y <= 0;
  trans #to1 from two to one when x <= 0; }
agent Tanks() { private analog real x, y;
  init { x = 2; y = 3; }
  mode top = Top();
  assert "bounded" { x <= 10 && y <= 10 } }
""",
    ),
    "ends where no number is simple": (
        "`s` is stuck",
        """
mode Spin() { write analog real x, y;
  diff { d(x) == y; d(y) == -x; }
  inv { x + y <= 1 } }
mode Top() { write analog real x, y;
  mode s = Spin();
  mode t = Spin();
  trans from init to s;
  trans #never from s to t when x <= -3; }
agent A() { private analog real x, y;
  init { x = -2; y = 0; }
  mode top = Top();
  assert "ring" { x*x + y*y <= 5 } }
""",
    ),
    "driven over the edge by an input": (
        "`g` is stuck where x = 1",
        """
mode Go() { write analog real x;
  read analog real u;
  diff { d(x) == u - x; }
  inv { x <= 1 } }
mode Top() { write analog real x;
  read analog real u;
  mode g = Go();
  trans from init to g; }
agent A() { read analog real u in [0, 2];
  private analog real x = 0;
  mode top = Top();
  assert "low" { x <= 1 } }
""",
    ),
    "exit of a mode too late": (
        "`m.i` is stuck where x = 6",
        """
mode Inner() { write analog real x;
  diff { d(x) == 1; } }
mode Mid() { write analog real x; exit done;
  mode i = Inner();
  trans from default to i;
  trans #leave from i to done when x >= 8;
  inv { x <= 6 } }
mode Rest() { write analog real x;
  diff { d(x) == 0; } }
mode Top() { write analog real x;
  mode m = Mid();
  mode r = Rest();
  trans from init to m;
  trans #go from m.done to r; }
agent A() { private analog real x in [0, 1];
  mode top = Top();
  assert "low" { x <= 7 } }
""",
    ),
    "stuck by a choice": (
        "`w` is stuck where x = 3, c = 1",
        """
mode W() { write analog real x, c;
  diff { d(x) == 0; d(c) == 1; }
  inv { c <= 1 && x <= 3 } }
mode Top() { write analog real x, c;
  mode w = W();
  trans from init to w;
  trans #tick from w to w when c >= 1 && x <= 2
    do { x in [0, 3]; c = 0; } }
agent A() { private analog real x, c;
  init { x = 0; c = 0; }
  mode top = Top();
  assert "low" { x <= 3 } }
""",
    ),
    "stuck for some parameters": (
        "`u` is stuck where x = 4",
        """
const real k in [1, 3];
mode Up() { write analog real x;
  diff { d(x) == k; }
  inv { x <= 4 } }
mode Down() { write analog real x;
  diff { d(x) == -k; }
  inv { x >= 0 } }
mode Top() { write analog real x, c;
  mode u = Up2();
  mode d = Down2();
  trans from init to u;
  trans #t from u to d when c >= 2
    do { c = 0; }  trans #b from d to u when x <= 0
    do { c = 0; } }
mode Up2() { write analog real x, c;
  diff { d(x) == k; d(c) == 1; }
  inv { x <= 4 } }
mode Down2() { write analog real x, c;
  diff { d(x) == -k; d(c) == 1; }
  inv { x >= 0 } }
agent A() { private analog real x, c;
  init { x = 0; c = 0; }
  mode top = Top();
  assert "low" { x <= 4 } }
""",
    ),
    "interaction that needs both": (
        "the whole is stuck",
        """
mode Roll() { write analog real x;
  diff { d(x) == 1; }
  inv { x <= 5 } }
mode Top() { write analog real x;
  mode r = Roll();
  trans from init to r; }
agent Car(int i) { write analog real x;
  init { x = i; }
  mode top = Top(); }
agent Road() { private analog real x[1..2];
  agent car[i in 1..2] = Car(i) [x := x[i]];
  interaction swap between a, b in car when a.x >= 5 && b.x >= 5
    do { a.x = 0; b.x = 0; }
  assert "low" { forall i in 1..2 : x[i] <= 5 } }
""",
    ),
}

GOING_ON = {
    "thermostat": """
mode H() { write analog real t;
  diff { d(t) == 5 - t/10; }
  inv { t <= 22 } }
mode C() { write analog real t;
  diff { d(t) == -t/10; }
  inv { t >= 18 } }
mode Top() { write analog real t;
  mode h = H();
  mode c = C();
  trans from init to h;
  trans #a from h to c when t >= 21;
  trans #b from c to h when t <= 19; }
agent Room() { private analog real t in [18,20];
  mode top = Top();
  assert "ok" { t >= 18 && t <= 22 } }
""",
    "product that takes turns": """
mode Wait(int mine) { write analog real c; readwrite discrete int turn;
  diff { d(c) == 1; }
  inv { c <= 3 || turn != mine } }
mode Top(int mine, int other) { write analog real c; readwrite discrete int turn;
  mode w = Wait(mine);
  trans from init to w;
  trans #act from w to w when turn == mine && c >= 1
    do { turn = other; c = 0; } }
agent P(int mine, int other) { private analog real c = 0; readwrite discrete int turn;
  mode top = Top(mine, other); }
agent Both() { private discrete int turn;
  init { turn = 0; }
  agent a = P(0, 1);
  agent b = P(1, 0);
  assert "ok" { turn >= 0 } }
""",
    "no invariant": """
mode Spin() { write analog real x, y;
  diff { d(x) == y - x/10; d(y) == -x; } }
mode Top() { write analog real x, y;
  mode s = Spin();
  trans from init to s; }
agent A() { private analog real x, y;
  init { x = 1; y = 0; }
  mode top = Top();
  assert "ring" { x <= 3 } }
""",
    "two tanks": """
mode F1() { write analog real x, y;
  diff { d(x) == 1; d(y) == -1; }
  inv { y >= 1 } }
mode F2() { write analog real x, y;
  diff { d(x) == -1; d(y) == 1; }
  inv { x >= 1 } }
mode Top() { write analog real x, y;
  mode one = F1();
  mode two = F2();
  trans from init to one;
  trans #to2 from one to two when y <= 2;
  trans #to1 from two to one when x <= 2; }
agent Tanks() { private analog real x, y;
  init { x in [3,4]; y in [4,5]; }
  mode top = Top();
  assert "bounded" { x <= 20 } }
""",
    "an input that only brings it to the edge": """
mode Go() { write analog real x;
  read analog real u;
  diff { d(x) == u - x; }
  inv { x <= 1 } }
mode Top() { write analog real x;
  read analog real u;
  mode g = Go();
  trans from init to g; }
agent A() { read analog real u in [0, 1];
  private analog real x = 0;
  mode top = Top();
  assert "low" { x <= 1 } }
""",
    "exit of a mode in time": """
mode Inner() { write analog real x;
  diff { d(x) == 1; } }
mode Mid() { write analog real x; exit done;
  mode i = Inner();
  trans from default to i;
  trans #leave from i to done when x >= 5;
  inv { x <= 6 } }
mode Rest() { write analog real x;
  diff { d(x) == 0; } }
mode Top() { write analog real x;
  mode m = Mid();
  mode r = Rest();
  trans from init to m;
  trans #go from m.done to r; }
agent A() { private analog real x in [0, 1];
  mode top = Top();
  assert "low" { x <= 7 } }
""",
    "counter that wraps": """
mode Step() { write analog real c;
  write discrete int n;
  diff { d(c) == 1; }
  inv { c <= 1 } }
mode Top() { write analog real c;
  write discrete int n;
  mode s = Step();
  trans from init to s;
  trans #up from s to s when c >= 1 && n < 5
    do { c = 0; n = n + 1; }
  trans #wrap from s to s when c >= 1 && n >= 5
    do { c = 0; n = 0; } }
agent A() { private analog real c = 0;
  private discrete int n = 0;
  mode top = Top();
  assert "low" { n <= 5 } }
""",
    "for all parameters": """
const real k in [1, 2];
mode Up() { write analog real x;
  diff { d(x) == k; }
  inv { x <= 4 } }
mode Down() { write analog real x;
  diff { d(x) == -k; }
  inv { x >= 0 } }
mode Top() { write analog real x;
  mode u = Up();
  mode d = Down();
  trans from init to u;
  trans #t from u to d when x >= 3;  trans #b from d to u when x <= 1; }
agent A() { private analog real x = 2;
  mode top = Top();
  assert "low" { x <= 4 } }
""",
    "saturates": """
mode Grow() { write analog real x;
  diff { d(x) == x*(1-x); }
  inv { x >= 0 && x <= 1 } }
mode Top() { write analog real x;
  mode g = Grow();
  trans from init to g; }
agent A() { private analog real x = 0.1;
  mode top = Top();
  assert "low" { x <= 1 } }
""",
    "traffic light": """
mode M() { write analog real c;
  write discrete enum {red, amber, green} light;
  diff { d(c) == 1; }
  inv { c <= 10 } }
mode Top() { write analog real c;
  write discrete enum {red, amber, green} light;
  mode m = M();
  trans from init to m;
  trans #g from m to m when light == red && c >= 8
    do { light = green; c = 0; }
  trans #a from m to m when light == green && c >= 9
    do { light = amber; c = 0; }
  trans #r from m to m when light == amber && c >= 2
    do { light = red; c = 0; } }
agent Light() { private analog real c = 0;
  private discrete enum {red, amber, green} light = red;
  mode top = Top();
  assert "in time" { c <= 10 } }
""",
}


def flat(flow: str, invariant: str, leave: str = "trans #go from a to b when x >= 1000;") -> str:
    """x flows in one mode until it leaves it for another one."""
    own = "write analog real x, c;"
    return f"""
mode A() {{ {own} diff {{ {flow} d(c) == 1; }} inv {{ {invariant} }} }}
mode B() {{ {own} diff {{ d(x) == 0; d(c) == 1; }} }}
mode Top() {{ {own} mode a = A(); mode b = B(); trans from init to a; {leave} }}
agent Main() {{
  private analog real x, c; init {{ x = 0.5; c = 0; }}
  mode top = Top();
}}
"""


def turning(invariant: str) -> str:
    """A state goes round on a circle of radius 5, as long as the invariant holds."""
    return f"""
mode Turn() {{ write analog real x, y;
  diff {{ d(x) == 2*y; d(y) == -2*x; }}
  inv {{ {invariant} }} }}
agent Main() {{ private analog real x, y;
  init {{ x = -3; y = 4; }}
  mode top = Turn(); }}
"""


RESTING = {
    "a root that ends at zero": flat("d(x) == -sqrt(x);", "x >= 0"),
    "a jump of the flow to rest": flat("d(x) == 1 - floor(x);", "x <= 1"),
    "a sign that rests": flat("d(x) == -sign(x);", "x >= 0"),
    "one slope of many": flat("d(x) in [0, 2];", "x <= c + 0.5; x >= c + 0.5"),
    "ever closer": flat("d(x) == 1 - x^3;", "x <= 1"),
    "a touch of the border": turning("x <= 5"),
    "touches of two borders": turning("x <= 5 && y >= -5"),
    "a touch where no number is simple": turning("2499*x + 100*y <= 12505"),
    "a touch that an invariant bends": turning("x^2 - 10*x + 25 >= 0"),
    "a value between two bounds": flat(
        "d(x) == 1;", "x <= 1", "trans #go from a to b when x >= 1 do { x in [0, 10]; };"
    ),
}
"""They go on in ways that are easily overlooked, proved or not."""
STANDSTILL = """
mode M() { write analog real x; write discrete bool b;
  diff { d(x) == 1; }
  inv { x <= 2 } }
mode Top() { write analog real x; write discrete bool b;
  mode m = M();
  trans from init to m;
  trans #off from m to m when x >= 2 && b do { b = false; }
  trans #on from m to m when x >= 2 && !b do { b = true; } }
agent A() { private analog real x = 0; private discrete bool b = true;
  mode top = Top();
  assert "low" { x <= 2 } }
"""
SHALLOW = ("x <= 4.999", "2499*x + 100*y <= 12504.9", "x <= 4.999 && y >= -5")
"""Borders that are crossed, though hardly."""
STRICT = {
    "before the border": flat("d(x) == 1;", "x < 2"),
    "around a hole": flat("d(x) == 1;", "x != 2"),
}


def automaton(written: str) -> Automaton:
    return load_text(written, "small.charon").automaton


def decided(written: str, method: str = "template") -> Verdict:
    model = automaton(written)
    return verify(Task(model, never_blocks(model), deadline(60)), method)


@pytest.mark.parametrize("name", BLOCKING)
def test_what_blocks_is_named(name: str) -> None:
    said, written = BLOCKING[name]
    assert said in look(automaton(written)).sentence
    verdict = decided(written, "rectangular")
    if said == "(Zeno)":
        assert isinstance(verdict, Verified)  # each state has a next one; time does not go on
    elif said == "no run starts":
        assert isinstance(verdict, Unknown)
        assert said in verdict.reason
    else:
        assert isinstance(verdict, Falsified), verdict
        assert verdict.trace.outcome.ending is Ending.BLOCKED


@pytest.mark.parametrize("name", GOING_ON)
def test_what_goes_on_is_not_mentioned(name: str) -> None:
    assert look(automaton(GOING_ON[name])).sentence == ""
    assert isinstance(decided(GOING_ON[name], "auto"), Verified)


@pytest.mark.parametrize("name", RESTING)
def test_rest_is_no_end(name: str) -> None:
    assert look(automaton(RESTING[name])).sentence == ""
    assert isinstance(decided(RESTING[name], "simulation"), Unknown)


@pytest.mark.parametrize("invariant", SHALLOW)
def test_a_shallow_crossing_is_an_end(invariant: str) -> None:
    assert "`Turn` is stuck" in look(automaton(turning(invariant))).sentence
    assert isinstance(decided(turning(invariant), "simulation"), Falsified)


def test_jumps_without_time_are_a_standstill() -> None:
    said = look(automaton(STANDSTILL)).sentence
    assert said.startswith("every simulated run comes to a standstill by t = 2")
    assert isinstance(decided(STANDSTILL, "rectangular"), Verified)  # each state has a next one


def test_a_derivative_whose_range_becomes_empty_is_an_end() -> None:
    closing = flat("d(x) in [1, 3 - x];", "true")
    assert "`a` is stuck where x = 2" in look(automaton(closing)).sentence
    assert isinstance(decided(closing, "simulation"), Falsified)
    stays = flat("d(x) in [0, 3 - x];", "true")
    assert look(automaton(stays)).sentence == ""


@pytest.mark.parametrize("name", STRICT)
def test_the_border_of_a_strict_invariant_is_an_end(name: str) -> None:
    assert "blocked" in look(automaton(STRICT[name])).sentence
    assert isinstance(decided(STRICT[name]), Falsified)


def test_a_guard_without_its_border_is_no_way_out_on_it() -> None:
    """Simulations, whose numbers are a little off, go on there."""
    barred = flat("d(x) == 1;", "x <= 2", "trans #go from a to b when x > 2;")
    assert "every simulated run ends blocked at t <= 1.5: `a` is stuck where x = 2" in (
        look(automaton(barred)).sentence
    )
    verdict = decided(barred)
    assert isinstance(verdict, Unknown)
    assert "simulations jump on there" in verdict.reason
    beyond = flat("d(x) == 1;", "x <= 3", "trans #go from a to b when x > 2;")
    assert look(automaton(beyond)).sentence == ""
    assert isinstance(decided(beyond), Verified)


def test_an_urgent_jump_that_changes_nothing_is_an_end() -> None:
    idle = flat("d(x) == 1;", "true", "urgent trans #again from a to a when x >= 2;")
    assert "`a` is stuck where x = 2" in look(automaton(idle)).sentence
    verdict = decided(idle)
    assert isinstance(verdict, Falsified)
    assert verdict.trace.outcome.ending is Ending.LIVELOCK


def test_what_is_cut_by_the_clock_is_said() -> None:
    assert look(automaton(BLOCKING["guard never met"][1]), deadline=0.0).sentence == (
        "the time limit cut the look at whether runs go on"
    )


def test_a_proof_of_progress_is_told_with_jumps_without_end() -> None:
    model = automaton(BLOCKING["Zeno"][1])
    seen = look(model)
    assert "(Zeno)" in seen.beside(never_blocks(model))
    stuck = look(automaton(BLOCKING["guard never met"][1]))
    assert stuck.sentence and not stuck.beside(never_blocks(model))


def test_jumps_that_crowd_together_are_told_however_the_simulator_ends_them() -> None:
    """Bounces that halve the speed come to be too short for numbers to tell that they shrink
    steadily; over a surface to which both flows lead a run switches back and forth."""
    ball = """
mode Fall() { write analog real h, v; diff { d(h) == v; d(v) == -10; } inv { h >= 0 } }
mode Top() { write analog real h, v;
  mode fall = Fall();
  trans from init to fall;
  trans #bounce from fall to fall when h <= 0 && v <= 0 do { v = -v/2; } }
agent Ball() { private analog real h = 1, v = 0; mode top = Top(); }
"""
    pulled = """
mode Slope(real k) { write analog real x, y; diff { d(x) == k + y; d(y) == 0; } }
mode Top() { write analog real x, y;
  mode down = Slope(-1);
  mode up = Slope(1);
  trans from init to down;
  urgent trans #rise from down to up when x <= -1e-9;
  urgent trans #fall from up to down when x >= 1e-9; }
agent Pulled() { private analog real x = 1, y = 0.5; mode top = Top(); }
"""
    for written in (ball, pulled):
        assert "(chattering)" in look(automaton(written)).sentence


@pytest.mark.parametrize(
    ("flow", "why"),
    [("x^2", "explodes"), ("sqrt(2 - x)", "")],
)
def test_runs_whose_values_are_lost_are_told_beside_any_claim(flow: str, why: str) -> None:
    model = automaton(f"""
mode Top() {{ write analog real x; diff {{ d(x) == {flow}; }} }}
agent A() {{ private analog real x = 1; mode top = Top(); }}
""")
    seen = look(model)
    if why:
        assert seen.sentence.startswith("every simulated run breaks off: at t = ")
        assert why in seen.sentence
    assert bool(why) == bool(seen.lost)
    assert seen.beside(never_blocks(model)) == seen.sentence


def test_nothing_is_proved_where_a_border_may_be_the_end() -> None:
    leaves = flat("d(x) == 1;", "x < 2", "trans #go from a to b when x >= 1.5;")
    verdict = decided(leaves)
    assert isinstance(verdict, Unknown)
    assert "is strict" in verdict.reason


def test_runs_with_many_jumps_that_reach_the_end_of_time_are_not_zeno() -> None:
    ticking = flat("d(x) == 1;", "c <= 0.001", "trans #tick from a to a when c >= 0 do { c = 0; };")
    assert look(automaton(ticking), until=0.01).sentence == ""
