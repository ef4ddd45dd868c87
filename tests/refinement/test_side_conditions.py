"""Where the composition rules do not apply: what a part does alone it need not do in a whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.cli import run


def verdict(folder: Path, text: str, detailed: str, simple: str, *options: str) -> int:
    """The exit code of comparing the system whose `PART` is one text with that of another."""
    paths = []
    for name, part in (("detailed", detailed), ("simple", simple)):
        path = folder / f"{name}.charon"
        path.write_text(text.replace("PART", part), encoding="utf-8")
        paths.append(str(path))
    proof = folder / "proof.json"
    options = (*options, "--certificate", str(proof))
    found = run(["refine", paths[0], "--against", paths[1], *options])
    if found == 0:
        assert run(["recheck", paths[0], str(proof), "--against", paths[1]]) == 0
    return found


ENTERED = """
mode Off() { write analog real x, y; diff { d(x) == 1; d(y) == 0; } inv { x <= 5 } }
mode On() { write analog real x, y; diff { d(x) == 1; } PART }
mode Top() {
  write analog real x, y;
  mode off = Off();
  mode on = On();
  trans from init to off;
  trans from off to on when x >= 5;
}
agent System() { write analog real x, y; init { x = 0; y = 0; } mode top = Top(); }
"""

SHARED = """
mode Top() { readwrite discrete real u; write analog real y; PART }
agent Follower() {
  readwrite discrete real u; write analog real y; init { u = 0; y = 0; } mode top = Top();
}
"""

PUSHED = """
mode Top() { write analog real x; diff { PART } }
agent Part() { write analog real x; init { x in [0, 1]; } mode top = Top(); }
agent System() {
  write analog real x[1..2];
  agent p[i in 1..2] = Part() [x := x[i]];
  interaction bump between a, b in p when a.x >= b.x do { a.x = 5; }
}
system System();
"""

EXITS = """
mode Sub() {
  write analog real x;
  exit a, b;
  trans from default to a when x >= 3;
  PART
  inv { x <= 5 }
}
mode Back() { write analog real x; diff { d(x) == -1; } inv { x >= 0 } }
mode Top() {
  write analog real x;
  mode s = Sub();
  mode r = Back();
  mode far = Back();
  trans from init to s;
  trans from s.a to r;
  trans from s.b to far do { x = 10; }
  trans from r to s when x <= 1 do { x = 4.5; }
}
agent System() { write analog real x; init { x = 4.2; } mode top = Top(); }
"""

ALONE = """
mode Top() { write analog real x; diff { PART } }
agent System() { write analog real x; init { x in [0, 1]; } mode top = Top(); }
"""


def test_what_an_equation_defines_jumps_when_its_mode_is_entered(tmp_path: Path) -> None:
    assert verdict(tmp_path, ENTERED, "alge { y == 2*x; }", "diff { d(y) == 2; }") == 10


def test_what_an_equation_defines_follows_what_others_change(tmp_path: Path) -> None:
    """y follows u, which others set: it does not rest."""
    assert verdict(tmp_path, SHARED, "alge { y == u; }", "diff { d(y) == 0; }") == 5
    assert verdict(tmp_path, SHARED, "diff { d(y) == 0; }", "diff { d(y) in [0, 1]; }") == 0


def test_interactions_change_variables_of_parts(tmp_path: Path) -> None:
    """Alone x stays in [0, 1], where 1 - x is in [0, 1]; pushed to 5 it falls."""
    assert verdict(tmp_path, PUSHED, "d(x) == 1 - x;", "d(x) in [0, 1];") == 10
    assert verdict(tmp_path, PUSHED, "d(x) == 1 - x;", "d(x) in [1 - x, 2 - x];") == 0


def test_a_way_out_that_the_other_mode_does_not_have(tmp_path: Path) -> None:
    more = "trans from default to b when x >= 4; diff { d(x) == 1; }"
    assert verdict(tmp_path, EXITS, more, "diff { d(x) in [0, 2]; }") == 10
    assert verdict(tmp_path, EXITS, "diff { d(x) == 1; }", "diff { d(x) in [0, 2]; }") == 0


SWAPPED = """
mode Top() { write analog real x, z; diff { d(x) == z; d(z) == 0; } }
agent Part() {
  write analog real x; private analog real z; init { x = 0; z in [0, 1]; } mode top = Top();
}
agent System() {
  write analog real x, y;
  PART
  init { where q.z == 0; }
}
system System();
"""

URGENT = """
mode Sub() { write analog real x; exit a; diff { d(x) == 1; } PART }
mode Back() { write analog real x; diff { d(x) == 0; } }
mode Top() {
  write analog real x;
  mode s = Sub();
  mode r = Back();
  trans from init to s;
  trans from s.a to r when x >= 10;
}
agent System() { write analog real x; init { x = 0; } mode top = Top(); }
"""

SAME_NAME = """
mode Sub() {
  write discrete real a, b; write analog real t; entry e; diff { d(t) == 1; }
  trans from e to default do { PART }
}
mode Wait() { write analog real t; diff { d(t) == 1; } inv { t <= 1 } }
mode Top() {
  write discrete real x; write analog real t;
  mode w = Wait();
  mode s = Sub() [a, b := x, x];
  trans from init to w;
  trans from w to s.e when t >= 1;
}
agent System() {
  write discrete real x; write analog real t; init { x = 0; t = 0; } mode top = Top();
}
"""


def test_parts_are_paired_by_name(tmp_path: Path) -> None:
    """The whole fixes z of another part."""
    own = "agent p = Part() [x := x]; agent q = Part() [x := y];"
    other = "agent q = Part() [x := x]; agent r = Part() [x := y];"
    assert verdict(tmp_path, SWAPPED, own, other) == 10


def test_urgency_of_the_whole_way_out(tmp_path: Path) -> None:
    """The surroundings let only those leave that arrive with 10 or more."""
    own = "urgent trans from default to a when x >= 3 do { x = 0; }"
    other = "trans from default to a when x >= 3 do { x = 0; }"
    stopped = f"{own.replace('x = 0', 'x = 20')} {other}"
    assert verdict(tmp_path, URGENT, own, stopped) == 10


def test_two_names_for_one_variable(tmp_path: Path) -> None:
    assert verdict(tmp_path, SAME_NAME, "a = 1; b = 2;", "b = 2; a = 1;") == 10


@pytest.mark.slow
def test_agents_of_one_mode_have_certificates_that_are_accepted(tmp_path: Path) -> None:
    assert verdict(tmp_path, ALONE, "d(x) == 1;", "d(x) in [0, 2];") == 0
    assert verdict(tmp_path, ALONE, "d(x) <= 1;", "d(x) <= 2;") == 0
    assert verdict(tmp_path, ALONE, "d(x) <= 1;", "d(x) in [0, 2];") in (5, 10)


def test_no_induction_over_interactions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "steps.charon"
    path.write_text(
        """
        mode Still() { write analog real u; diff { d(u) == 0; } }
        agent Contract() { write analog real u; init { u = 0; } mode top = Still(); }
        mode Own() { write analog real w; diff { d(w) == 0; } }
        agent Other() { write analog real w; init { w = 0; } mode top = Own(); }
        agent Step() {
          write analog real u;
          private analog real w;
          agent front = Contract();
          agent other = Other();
          interaction push between a in front, b in other when a.u >= 1 do { b.w = 1; }
        }
        """,
        encoding="utf-8",
    )
    code = run(["refine", f"{path}:Step", "--against", f"{path}:Contract", "--inductive"])
    assert code == 3
    assert "interaction" in capsys.readouterr().err
