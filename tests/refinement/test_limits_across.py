"""Urgent guards that read what another part defines: their limits are not those of a part alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.abstraction.refinement import decomposition
from workbench.cli import run

SYSTEM = """
mode Src() {{ write analog real u, y; diff {{ d(y) == 1; }} {equation} inv {{ y <= 5 }} }}
mode W() {{ write discrete int n; read analog real u; }}
mode Top() {{
  write discrete int n; read analog real u; mode a = W(); mode b = W();
  {own}
  trans from init to a;
  {guarded} do {{ n = 1; }}
}}
agent Source() {{ write analog real u, y; init {{ y = 0; {first} }} mode top = Src(); }}
agent Sink() {{ write discrete int n; read analog real u; init {{ n = 0; }} mode top = Top(); }}
agent S() {{
  private analog real u, y; private discrete int n; agent s = Source(); agent k = Sink();
}}
system S();
"""
STEP = "alge { u == (y > 1 ? 2 : 0); }"
FLOW = "diff { d(u) == 1; }"


def system(
    folder: Path, name: str, guarded: str, equation: str = STEP, own: str = "", first: str = ""
) -> str:
    """A source of u, and a sink that goes from a to b."""
    path = folder / f"{name}.charon"
    edge = guarded.replace("trans", "trans from a to b")
    text = SYSTEM.format(guarded=edge, equation=equation, own=own, first=first)
    path.write_text(text, encoding="utf-8")
    return str(path)


def compare(folder: Path, detailed: str, simple: str, *options: str) -> int:
    """The exit code of refine; what it proves is accepted again."""
    proof = str(folder / "proof.json")
    found = run(["refine", detailed, "--against", simple, "--certificate", proof, *options])
    if found == 0:
        assert run(["recheck", detailed, proof, "--against", simple]) == 0
    return found


@pytest.mark.slow
@pytest.mark.parametrize("guard", ["u > 1", "u >= 1"])
def test_a_quantity_that_jumps_on_the_way(tmp_path: Path, guard: str) -> None:
    """At y = 1 the urgent edge is taken with u = 0, the other one not before u = 2."""
    detailed = system(tmp_path, "detailed", f"urgent trans when {guard}")
    simple = system(tmp_path, "simple", "trans when u >= 1")
    assert compare(tmp_path, detailed, simple, "--time-limit", "5") == 5


def test_an_equation_of_the_part_that_changes(tmp_path: Path) -> None:
    """u = y and u = min(y, 5) are the same, but only the first is about to exceed 5."""
    urgent = "urgent trans when u > 5"
    detailed = system(tmp_path, "detailed", urgent, "alge { u == y; }")
    simple = system(tmp_path, "simple", urgent, "alge { u == min(y, 5); }")
    assert compare(tmp_path, detailed, simple, "--time-limit", "5") == 5


def test_limits_through_an_equation_of_the_sink(tmp_path: Path) -> None:
    """w follows u, which the sibling defines: what the guard reads is not the sink's own."""
    own, urgent = "private analog real w; alge { w == u; }", "urgent trans when w > 5"
    detailed = system(tmp_path, "detailed", urgent, "alge { u == y; }", own)
    simple = system(tmp_path, "simple", urgent, "alge { u == min(y, 5); }", own)
    assert compare(tmp_path, detailed, simple, "--time-limit", "5") == 5


def test_a_proof_made_without_the_condition_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    detailed = system(tmp_path, "detailed", "urgent trans when u > 1")
    simple = system(tmp_path, "simple", "trans when u >= 1")
    proof = str(tmp_path / "old.json")
    with monkeypatch.context() as patched:
        patched.setattr(decomposition, "have_limits_of_their_own", lambda parts: True)
        assert run(["refine", detailed, "--against", simple, "--certificate", proof]) == 0
    assert run(["recheck", detailed, proof, "--against", simple]) == 10


@pytest.mark.parametrize(
    ("equation", "guard"), [(FLOW, "u > 1"), (STEP, "n >= 0"), ("alge { u == y; }", "u >= 1")]
)
def test_what_has_the_same_limits_is_compared_part_by_part(
    tmp_path: Path, equation: str, guard: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A flow, what the sink has itself, and a closed guard of something continuous."""
    first = "u = 0;" if equation == FLOW else ""
    detailed = system(tmp_path, "detailed", f"urgent trans when {guard}", equation, first=first)
    simple = system(tmp_path, "simple", "trans when u >= 1 || n >= 0", equation, first=first)
    assert compare(tmp_path, detailed, simple) == 0
    assert "parallel composition" in capsys.readouterr().out


INDUCTION = """
mode Free() {{ write analog real u; diff {{ d(u) in [-1, 1]; }} inv {{ u >= 0 && u <= 2 }} }}
agent Any() {{ write analog real u; init {{ u in [0, 1]; }} mode top = Free(); }}
mode A() {{ read analog real v; write analog real u; diff {{ d(u) == 0; }} }}
mode Top() {{
  read analog real v; write analog real u; mode a = A(); mode b = A();
  trans from init to a; {edge}
}}
agent Next() {{
  read analog real v; write analog real u; init {{ u in [0, 1]; }} mode top = Top();
}}
agent Step() {{
  write analog real u; private analog real v;
  agent front = Any() [u := v]; agent next = Next();
  assert "low" {{ u <= 2 }}
}}
"""


@pytest.mark.parametrize(
    ("edge", "code"),
    [("urgent trans from a to b when v > 1;", 2), ("trans from a to b when v > 1;", 0)],
)
def test_induction_with_urgent_guards(tmp_path: Path, edge: str, code: int) -> None:
    """What stands in the place of the contract may define v by an equation."""
    path = tmp_path / "step.charon"
    path.write_text(INDUCTION.format(edge=edge), encoding="utf-8")
    step, contract = f"{path}:Step", f"{path}:Any"
    assert (run(["refine", step, "--against", contract, "--inductive"]) == 0) is (code == 0)


def test_induction_with_urgent_guards_behind_the_equation_of_a_third_part(tmp_path: Path) -> None:
    """The guard reads w, and w == v: the limits of w > 1 depend on what defines v."""
    path = tmp_path / "step.charon"
    text = INDUCTION.format(edge="urgent trans from a to b when v > 1;")
    text = text.replace(
        "agent next = Next();", "agent wire = Wire(); agent next = Next() [v := w];"
    )
    text = text.replace("private analog real v;", "private analog real v, w;")
    path.write_text(
        text
        + """
        mode Copy() { read analog real v; write analog real w; alge { w == v; } }
        agent Wire() { read analog real v; write analog real w; mode top = Copy(); }
        """,
        encoding="utf-8",
    )
    assert run(["refine", f"{path}:Step", "--against", f"{path}:Any", "--inductive"]) != 0
