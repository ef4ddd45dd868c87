"""First values, ways in, and names: where a part that refines alone does not in its whole."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from workbench.abstraction.refinement.induction import place_of
from workbench.cli import run
from workbench.models.automaton import HybridAutomaton
from workbench.models.interchange.json_model import SCHEMA, from_json
from workbench.models.load import load
from workbench.models.source import ModelError


def verdict(folder: Path, detailed: str, simple: str, *options: str) -> int:
    """The exit code of comparing two texts; what refines is also accepted by `recheck`."""
    paths = []
    for name, text in (("detailed", detailed), ("simple", simple)):
        path = folder / f"{name}.charon"
        path.write_text(text, encoding="utf-8")
        paths.append(str(path))
    proof = folder / "proof.json"
    found = run(["refine", paths[0], "--against", paths[1], "--certificate", str(proof), *options])
    if found == 0:
        assert run(["recheck", paths[0], str(proof), "--against", paths[1]]) == 0
    return found


ASKED = """
mode Rest() { write analog real x, y; FLOW }
mode Top() { write analog real x, y; mode m = Rest(); FIRST }
agent Part() { write analog real x, y; INIT mode top = Top(); }
mode Up() { write analog real z; diff { d(z) == 1; } }
mode Down() { write analog real z; diff { d(z) == -1; } }
mode OtherTop() {
  write analog real z;
  read analog real y;
  mode a = Up();
  mode b = Down();
  trans from init to a GUARD;
  trans from init to b;
}
agent Other() { write analog real z; read analog real y; init { z = 0; } mode top = OtherTop(); }
agent System() { write analog real x, y, z; agent p = Part(); agent o = Other(); WHOLE }
system System();
"""
EQUATION = "diff { d(x) == 1; } alge { y == x; }"
FLOWS = "diff { d(x) == 1; d(y) == 1; }"


def asked(flow: str, first: str, init: str, guard: str = "", whole: str = "") -> str:
    text = ASKED.replace("FLOW", flow).replace("FIRST", first).replace("INIT", init)
    return text.replace("GUARD", guard).replace("WHOLE", whole)


ENTER, SET = "trans from init to m;", "trans from init to m do { x = 3; }"


def test_the_whole_asks_for_first_values_that_an_equation_replaces(tmp_path: Path) -> None:
    whole = "init { y = 5; }"
    detailed = asked(EQUATION, ENTER, "init { x in [0, 3]; }", "", whole)
    simple = asked(FLOWS, ENTER, "init { x in [0, 3]; y in [0, 5]; }", "", whole)
    assert verdict(tmp_path, detailed, simple) == 10


def test_the_whole_asks_for_values_before_the_first_transition(tmp_path: Path) -> None:
    whole = "init { where x == 0; }"
    detailed = asked(FLOWS, SET, "init { x = 0; y = 0; }", "", whole)
    simple = asked(FLOWS, ENTER, "init { x in [0, 3]; y = 0; }", "", whole)
    assert verdict(tmp_path, detailed, simple) == 10


def test_another_part_reads_values_before_the_first_transition(tmp_path: Path) -> None:
    """At first y is 0, so the other part goes up; the simple system shows 3 from the start."""
    detailed = asked(EQUATION, SET, "init { x = 0; }", "when y <= 1")
    simple = asked(FLOWS, ENTER, "init { x = 3; y = 3; }", "when y <= 1")
    assert verdict(tmp_path, detailed, simple) == 10


def test_nobody_asks(tmp_path: Path) -> None:
    """Then the start of a part is its own affair."""
    detailed = asked(EQUATION, SET, "init { x = 0; }")
    assert verdict(tmp_path, detailed, asked(FLOWS, ENTER, "init { x = 3; y = 3; }")) == 0


HURRIED = """
mode In() {
  write analog real x;
  entry e;
  diff { FLOW }
  trans from e to default when x >= LIMIT;
}
mode Before() { write analog real x; diff { d(x) == 1; } }
mode Top() {
  write analog real x;
  mode s = In();
  mode r = Before();
  trans from init to r;
  URGENT trans from r to s.e;
}
agent System() { write analog real x; init { x = 0; } mode top = Top(); }
"""


def hurried(flow: str, limit: str, urgent: str) -> str:
    text = HURRIED.replace("FLOW", flow).replace("LIMIT", limit)
    return text.replace("URGENT", urgent)


def test_a_way_in_decides_where_an_urgent_transition_is_enabled(tmp_path: Path) -> None:
    """The simple system cannot wait until 5: its urgent way is open from 3 on."""
    wide = "d(x) in [0, 2];"
    detailed, simple = hurried("d(x) == 1;", "5", "urgent"), hurried(wide, "3", "urgent")
    assert verdict(tmp_path, detailed, simple) == 10
    assert verdict(tmp_path, detailed, hurried(wide, "5", "urgent")) == 0
    assert verdict(tmp_path, hurried("d(x) == 1;", "5", ""), hurried(wide, "3", "")) == 0


UNREAD = """
mode Top() { READ write analog real x; diff { FLOW } }
agent Part() { READ write analog real x; init { x = 0; } mode top = Top(); }
agent System() { read analog real u; write analog real x; agent p = Part(); }
system System();
"""


def test_an_input_that_no_part_reads_is_still_an_input(tmp_path: Path) -> None:
    """The simple system follows u; that a u exists for which it stands still is not enough."""
    detailed = UNREAD.replace("READ", "").replace("FLOW", "d(x) == 0;")
    simple = UNREAD.replace("READ", "read analog real u;").replace("FLOW", "d(x) == u;")
    assert verdict(tmp_path, detailed, simple) == 5


SYMBOLS = """
mode Top() {{ write analog real x; private discrete enum {{ {0} }} {1}; diff {{ d(x) == 1; }} {2} }}
agent System() {{ write analog real x; init {{ x = 0; }} mode top = Top(); }}
"""


def test_a_symbol_of_another_type_is_no_witness(tmp_path: Path) -> None:
    """The simple system has no state at all; with m read as n it seemed to have one."""
    detailed = SYMBOLS.format("c", "n", "")
    simple = SYMBOLS.format("a", "m", "inv { m != a }")
    assert verdict(tmp_path, detailed, simple, "--witness", "m = n") != 0
    assert verdict(tmp_path, detailed, simple) != 0


FOLLOWING = """
mode First() { read analog real u; write analog real x, y; diff { FLOW } alge { y in [RANGE]; } }
agent A() { read analog real u; write analog real x, y; init { x = 0; } mode top = First(); }
mode Second() { write analog real z; diff { d(z) in [0, SLOPE]; } inv { z <= 9 } }
agent B() { write analog real z; init { z = 0; } mode top = Second(); }
agent System() { read analog real u; write analog real x, y, z; agent a = A(); agent b = B(); }
system System();
"""


def test_the_last_proof_of_a_circle_holds_in_any_surroundings(tmp_path: Path) -> None:
    """What `refine` says `recheck` accepts: equations that follow inputs are refused by both."""
    detailed, simple = FOLLOWING, FOLLOWING
    for old, new, wide in (
        ("FLOW", "d(x) == 1;", "d(x) in [0, 1];"),
        ("RANGE", "u - u, 1", "-1, 1"),
        ("SLOPE", "1", "2"),
    ):
        detailed, simple = detailed.replace(old, new), simple.replace(old, wide)
    assert verdict(tmp_path, detailed, simple) == 5


def document(variables: list[str], **changes: Any) -> dict[str, Any]:
    place = {"name": "p", "flows": [{"variable": n, "value": "1"} for n in variables]}
    start = {"location": "p", "condition": " && ".join(f"{n} == 0" for n in variables)}
    found = {
        "schema": SCHEMA,
        "kind": "automaton",
        "name": "m",
        "variables": [{"name": n} for n in variables],
        "locations": [place],
        "initial": [start],
    }
    return found | changes


def test_the_reserved_name_of_time_means_time() -> None:
    assert isinstance(from_json(document(["x", "time"])), HybridAutomaton)
    fast = {"name": "p", "flows": [{"variable": "time", "value": "2"}]}
    late = {"location": "p", "condition": "time == 5"}
    back = {"source": "p", "target": "p", "resets": [{"variable": "time", "value": "0"}]}
    for changes in ({"locations": [fast]}, {"initial": [late]}, {"edges": [back]}):
        with pytest.raises(ModelError, match="time since the start"):
            from_json(document(["time"], **changes))


@pytest.mark.parametrize("name", ["x'", "d(x)", "wave 0", "x@0"])
def test_names_that_conditions_use_are_refused(name: str) -> None:
    changed = document(["x"])
    changed["variables"].append({"name": name, "kind": "discrete"})
    with pytest.raises(ModelError, match="conditions use"):
        from_json(changed)


def test_two_constraints_of_one_variable_are_refused() -> None:
    one, two = {"variable": "x", "value": "1"}, {"variable": "x", "value": "2"}
    edge = {"source": "p", "target": "p", "resets": [one, two]}
    place = {"name": "p", "flows": [one, two]}
    for changes in ({"edges": [edge]}, {"locations": [place]}):
        with pytest.raises(ModelError, match="two constraints"):
            from_json(document(["x"], **changes))


STEPS = """
mode Still() { write analog real v, w; diff { d(v) in [-1, 1]; d(w) in [-1, 1]; } }
agent Contract() { write analog real v, w; init { v in [0, 9]; w in [0, 9]; } mode top = Still(); }
mode NextTop() { write analog real v, w; mode m = Still(); trans from init to m FIRST; }
agent Next() { write analog real v, w; init { v in [0, 9]; w in [0, 9]; } mode top = NextTop(); }
agent Step() {
  write analog real v, w;
  private analog real a, b;
  agent front = Contract() [ v, w := a, b ];
  agent next = Next();
  init { where b <= 4; }
}
"""


def test_what_a_proof_by_induction_may_ask_of_its_place(tmp_path: Path) -> None:
    """The step asks that w starts at 4 or less, but begins with w = 5 itself."""
    path = tmp_path / "steps.charon"
    for first in ("", "do { w = 5; }"):
        path.write_text(STEPS.replace("FIRST", first), encoding="utf-8")
        step, contract = load(path, agent="Step"), load(path, agent="Contract")
        if not first:
            assert place_of(step, contract) == "front"
            continue
        with pytest.raises(ModelError, match="starts"):
            place_of(step, contract)


def test_a_certificate_must_be_about_all_that_is_shown(tmp_path: Path) -> None:
    text = "mode M() {{ write analog real x, y; diff {{ d(x) == 1; d(y) in [0, {}]; }} }}"
    text += "agent S() {{ write analog real x, y; init {{ x = 0; y = 0; }} mode top = M(); }}"
    (tmp_path / "one.charon").write_text(text.format(1), encoding="utf-8")
    (tmp_path / "two.charon").write_text(text.format(2), encoding="utf-8")
    pair, proof = [str(tmp_path / "one.charon"), str(tmp_path / "two.charon")], tmp_path / "p.json"
    made = ["--observe", "x", "--certificate", str(proof)]
    assert run(["refine", pair[0], "--against", pair[1], *made]) == 0
    again = ["recheck", pair[0], str(proof), "--against", pair[1]]
    assert run([*again, "--observe", "x"]) == 0
    assert run(again) == 10
    raw = json.loads(proof.read_text())
    proof.write_text(json.dumps({**raw, "observed": []}))
    assert run([*again, "--observe", "x"]) == 10


def test_functions_of_different_places_are_different(tmp_path: Path) -> None:
    text = """
    extern real f(real) from "PLACE";
    mode Top() { write analog real x; diff { d(x) == f(x); } }
    agent System() { write analog real x; init { x = 0; } mode top = Top(); }
    """
    one, two = text.replace("PLACE", "lib.one"), text.replace("PLACE", "lib.two")
    assert verdict(tmp_path, one, one) == 0
    assert verdict(tmp_path, one, two) == 5
    assert verdict(tmp_path, one, two, "--flat") == 5


def test_what_a_part_assumes_of_the_surroundings_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = """
    mode Top() { read analog real u; write analog real y; diff { FLOW } }
    agent Part() {
      read analog real u; write analog real y; init { y = 0; } assume { u <= 1 } mode top = Top();
    }
    agent System() { read analog real u; write analog real y; agent p = Part(); }
    system System();
    """
    one, two = text.replace("FLOW", "d(y) == u;"), text.replace("FLOW", "d(y) <= 1;")
    assert verdict(tmp_path, one, two) == 0
    assert capsys.readouterr().out.count("keep what it assumes: u <= 1") == 2


CLIMB = """
mode At(real slope) { write analog real x; diff { d(x) == slope; } }
mode Top() { write analog real x; mode p = At(0); mode q = At(1); WAYS }
agent System() { write analog real x; init { x = 0; } mode top = Top(); }
"""


@pytest.mark.slow
def test_a_jump_is_matched_by_several(tmp_path: Path) -> None:
    """Between jumps without time between them nothing is seen: neither pair is refuted."""
    climb = CLIMB.replace("WAYS", "trans from init to p; trans from p to p do { x = x + 2; }")
    steps = CLIMB.replace("WAYS", "trans from init to p; trans from p to p do { x = x + 1; }")
    assert verdict(tmp_path, climb, steps) == 5
    assert verdict(tmp_path, steps, climb) in (5, 10)
    ready = CLIMB.replace("WAYS", "trans from init to q;")
    late = CLIMB.replace("WAYS", "trans from init to p; trans from p to q when x <= 0;")
    assert verdict(tmp_path, ready, late) == 5
    never = CLIMB.replace("WAYS", "trans from init to p; trans from p to q when x >= 1;")
    assert verdict(tmp_path, ready, never) == 10
