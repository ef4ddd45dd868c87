"""Well-posedness: what is structurally wrong is refused, what is doubtful is shown."""

from __future__ import annotations

import pytest
from charon_texts import HIGHWAY, LEAKY_TANK, atomic, codes, diagnostics

from workbench.models.source import Severity


def composed(parts: str, declarations: str = "", extra: str = "") -> str:
    return f"""
    mode Go() {{ write analog real x; diff {{ d(x) == 1; }} }}
    mode Read() {{ read analog real x; write analog real y; diff {{ d(y) == x; }} }}
    mode Count() {{ write discrete int n; mode a = Leaf(); trans from init to a
      trans from a to a do {{ n = n + 1; }} }}
    mode Leaf() {{ }}
    agent Goer() {{ write analog real x = 0; mode top = Go(); }}
    agent Reader() {{ read analog real x; write analog real y = 0; mode top = Read(); }}
    agent Counter() {{ write discrete int n = 0; mode top = Count(); }}
    agent Sharer() {{ readwrite discrete int n = 0; mode top = Count(); }}
    {extra}
    agent Main() {{ {declarations} {parts} }}
    system Main();
    """


def test_a_variable_has_one_writer() -> None:
    text = composed("agent a = Goer();\nagent b = Goer();", "private analog real x;")
    (found,) = diagnostics(text)
    assert found.code == "two-writers"
    assert "`a` (line" in found.message
    assert "`b`" in found.message


def test_renaming_gives_each_its_own() -> None:
    text = composed("agent a = Goer(); agent b = Goer() [ x := z ];", "private analog real x, z;")
    assert codes(text) == []


def test_discrete_variables_may_be_shared_when_all_say_readwrite() -> None:
    declared = "private discrete int n;"
    assert codes(composed("agent a = Sharer(); agent b = Sharer();", declared)) == []
    found = diagnostics(composed("agent a = Counter(); agent b = Counter();", declared))
    assert [d.code for d in found] == ["two-writers"]
    assert found[0].hint is not None
    assert "readwrite" in found[0].hint


def test_shared_variables_are_declared_around() -> None:
    (found,) = diagnostics(composed("agent a = Goer();"))
    assert found.code == "undeclared-variable"
    assert found.hint == "declare it: `private analog real x;`"


def test_a_part_may_not_write_what_its_surroundings_only_read() -> None:
    assert codes(composed("agent a = Goer();", "read analog real x;")) == ["read-only"]


def test_types_agree_across_levels() -> None:
    assert codes(composed("agent a = Counter();", "private discrete real n;")) == ["type-mismatch"]
    assert codes(composed("agent a = Goer();", "private discrete real x;")) == ["kind-mismatch"]


def test_nobody_writes_and_nobody_uses() -> None:
    found = diagnostics(composed("agent r = Reader();", "private analog real x, y, unused;"))
    assert sorted(d.code for d in found) == ["no-writer", "unused-variable"]
    assert {d.severity for d in found} == {Severity.WARNING}


TWO_MODES = """
mode One() {{ write analog real x, y; {one} }}
mode Two() {{ write analog real x, y; {two} }}
mode Top() {{
  write analog real x, y; {top}
  mode a = One(); mode b = Two();
  trans from init to a trans from a to b when x >= 1
}}
agent Main() {{ write analog real x = 0, y = 0; mode top = Top(); }}
"""


@pytest.mark.parametrize(
    ("top", "one", "two", "expected"),
    [
        ("diff { d(y) == 0; }", "diff { d(x) == 1; }", "diff { d(x) == 2; }", []),
        ("diff { d(x) == 0; d(y) == 0; }", "", "", []),
        ("diff { d(y) == 0; }", "diff { d(x) == 1; }", "alge { x == 2; }", []),
        ("diff { d(y) == 0; }", "diff { d(x) == 1; }", "", ["undetermined-variable"]),
        ("diff { d(y) == 0; d(x) == 1; }", "diff { d(x) == 1; }", "", ["determined-twice"]),
        (
            "diff { d(y) == 0; }",
            "diff { d(x) == 1; } alge { x == 2; }",
            "diff { d(x) == 1; }",
            ["determined-twice"],
        ),
        ("diff { d(x) >= 0; d(x) <= 2; d(y) <= 1; d(y) >= 0; }", "", "", []),
        ("diff { d(x) >= 0; d(x) == 2; d(y) == 1; }", "", "", ["determined-twice"]),
        ("", "", "", ["undetermined-variable", "undetermined-variable"]),
    ],
)
def test_each_analog_variable_is_determined_once_on_every_path(
    top: str, one: str, two: str, expected: list[str]
) -> None:
    assert codes(TWO_MODES.format(top=top, one=one, two=two)) == expected


def test_the_path_and_both_places_are_named() -> None:
    (missing,) = diagnostics(
        TWO_MODES.format(top="diff { d(y) == 0; }", one="diff { d(x) == 1; }", two="")
    )
    assert "while `b` is active" in missing.message
    (twice,) = diagnostics(
        TWO_MODES.format(top="diff { d(y) == 0; d(x) == 1; }", one="diff { d(x) == 1; }", two="")
    )
    assert "the other is at line 5" in twice.message
    assert twice.span is not None
    assert twice.span.line == 2


def test_a_direct_algebraic_loop_is_named() -> None:
    text = """
    mode T() { write analog real a, b, c; alge { a == b + 1; b == c*2; c == a; } }
    agent Main() { write analog real a, b, c; mode top = T(); }
    """
    (found,) = diagnostics(text)
    assert found.code == "algebraic-loop"
    assert {"a", "b", "c"} == set(found.message.split(": ")[1].split(" -> "))


def test_a_variable_defined_by_itself() -> None:
    text = atomic("", mode_items="alge { x == x/2 + 1; }")
    (found,) = diagnostics(text)
    assert found.message == "`x` is defined by itself: x -> x"


LOOP_ACROSS = """
mode F(real k) {{ write analog real y; read analog real z; alge {{ y == {first}; }} }}
mode G() {{ write analog real y; read analog real z; alge {{ y == 1; }} }}
mode Switching() {{
  write analog real y; read analog real z;
  mode f = F(1); mode g = G();
  trans from init to f when z >= 0 trans from init to g when z <= 0
}}
mode Other() {{ write analog real z; read analog real y; alge {{ z == {second}; }} }}
agent A() {{ write analog real y; read analog real z; mode top = Switching(); }}
agent B() {{ write analog real z; read analog real y; mode top = Other(); }}
agent Main() {{ private analog real y, z; agent a = A(); agent b = B(); }}
"""


@pytest.mark.parametrize(
    ("first", "second", "loops"),
    [("z + 1", "2*y", True), ("z + 1", "2", False), ("3", "2*y", False)],
)
def test_algebraic_loops_across_agents(first: str, second: str, loops: bool) -> None:
    found = codes(LOOP_ACROSS.format(first=first, second=second))
    assert found == (["algebraic-loop"] if loops else [])


def test_equations_of_different_modes_do_not_make_a_loop() -> None:
    """y depends on z only in one mode, z on y only in the other."""
    text = """
    mode M1() { write analog real y, z; alge { y == z; z == 1; } }
    mode M2() { write analog real y, z; alge { z == y; y == 2; } }
    mode Top() { write analog real y, z; mode a = M1(); mode b = M2();
      trans from init to a trans from a to b when y >= 1 }
    agent Main() { write analog real y, z; mode top = Top(); }
    """
    assert codes(text) == []


POINTS = """
mode Leaf() {{ }}
mode Inner() {{
  read analog real x; entry go; exit out;
  mode a = Leaf(); mode b = Leaf();
  trans from go to a when {first}
  trans from go to b when {second}
  trans from a to out when x >= 5
}}
mode Top() {{
  write analog real x; diff {{ d(x) == 1; }}
  mode i = Inner(); mode rest = Leaf();
  trans from init to i.go
  trans from i.out to rest when {third}
}}
agent Main() {{ write analog real x; init {{ x in [0, 9]; }} mode top = Top(); }}
"""


@pytest.mark.parametrize(
    ("first", "second", "third", "expected"),
    [
        ("x >= 1", "x <= 1", "true", []),
        ("x > 1", "x < 1", "true", ["guards-do-not-cover"]),
        ("x >= 1", "x <= 1", "x >= 5", ["guards-do-not-cover"]),
        ("x*x >= 1", "x*x <= 2", "true", []),
        ("x^2 > 2", "x^2 < 2", "true", ["guards-do-not-cover"]),
        ("sin(x) >= 0", "sin(x) <= 0", "true", []),
        ("sin(x) > 0", "sin(x) < 0", "true", ["not-checked"]),
    ],
)
def test_guards_of_named_points_cover_all_states(
    first: str, second: str, third: str, expected: list[str]
) -> None:
    found = diagnostics(POINTS.format(first=first, second=second, third=third))
    relevant = [d for d in found if "cannot start" not in d.message and "question" not in d.message]
    assert [d.code for d in relevant] == expected
    assert all(d.severity is Severity.WARNING for d in found)


def test_the_witness_is_a_state_in_the_users_names() -> None:
    found = diagnostics(POINTS.format(first="x > 1", second="x < 1", third="true"))
    assert "stuck at the entry `go` when x = 1: no guard holds" in found[0].message


def test_a_point_without_any_way_on_is_shown() -> None:
    text = POINTS.format(first="true", second="true", third="true").replace(
        "trans from i.out to rest when true", ""
    )
    assert "stuck-point" in codes(text)


def test_first_guards_cover_the_initial_set_and_not_more() -> None:
    (found,) = diagnostics(
        HIGHWAY.replace("from init to previous when e <= -1", "from init to previous when e <= -3")
    )
    assert found.code == "guards-do-not-cover"
    assert "`follower.controller` cannot start when" in found.message
    narrow = LEAKY_TANK.replace("trans from default to on when level < lo do { }", "")
    assert codes(narrow) == []  # the tank starts at 6, above lo


def test_an_empty_initial_set_is_refused_with_the_contradiction() -> None:
    text = atomic("init { x in [0, 1]; where x >= 2; }")
    (found,) = diagnostics(text)
    assert found.code == "empty-initial-set"
    assert "`x >= 2`" in found.message
    assert "`x <= 1`" in found.message


def test_a_start_outside_the_invariant_is_shown() -> None:
    text = atomic("init { x = 5; }", mode_items="inv { x <= 3 }")
    assert codes(text) == ["starts-outside-invariant"]
    some = atomic("init { x in [2, 5]; }", mode_items="inv { x <= 3 }")
    assert codes(some) == ["dead-end"]


def test_transitions_that_can_never_be_taken_are_shown() -> None:
    text = """
    mode Rise() { write analog real x; diff { d(x) == 1; } inv { x <= 5 } }
    mode Fall() { write analog real x; diff { d(x) == -1; } inv { x <= 1 } }
    mode Top() { write analog real x; mode up = Rise(); mode down = Fall();
      trans from init to up trans from up to down when x >= 5 trans from down to up when x <= 1 }
    agent Main() { write analog real x = 0; mode top = Top(); }
    """
    consequence, found = diagnostics(text)
    assert consequence.code == "dead-end"
    assert found.code == "impossible-transition"
    assert "invariant of `down`" in found.message
    assert codes(text.replace("when x >= 5", "when x >= 5 do { x = 0; }")) == []


def ending(
    flow: str = "d(x) == 1;", inv: str = "x <= limit", trans: str = "", others: str = ""
) -> str:
    return f"""
    const real limit in [4, 5];
    mode Rise() {{ write analog real x; diff {{ {flow} }} inv {{ {inv} }} }}
    mode Rest() {{ write analog real x; diff {{ d(x) == 0; }} }}
    mode Top() {{ write analog real x; mode up = Rise(); mode rest = Rest();
      trans from init to up trans from init to rest when x >= 1 {trans} }}
    agent Main() {{ write analog real x; init {{ x in [0, 2]; }} mode top = Top(); }}
    {others}
    """


def test_modes_that_every_run_ends_in_are_shown() -> None:
    (found,) = diagnostics(ending())
    assert found.code == "dead-end"
    assert "every run that comes to `up` ends there" in found.message
    assert "x <= limit" in found.message
    slow = ending("d(x) in [0.01, 3];", "x >= -7 && 2*x <= limit + 1")
    assert codes(slow) == ["dead-end"]
    falls = ending("d(x) <= -1;", "x >= -1", "trans from up to up when x <= -2 do { x = 5; }")
    assert codes(falls) == ["dead-end", "impossible-transition"]


@pytest.mark.parametrize(
    "text",
    [
        ending(trans="trans from up to rest when x >= 4.5"),
        ending(trans="trans from up to up when x >= 4 do { x = 0; }"),
        ending(trans="trans from up to rest"),
        ending("d(x) in [0, 3];"),
        ending("d(x) == limit - x;"),
        ending("d(x) <= 3;"),
        ending("d(x) == -1;"),
        ending(inv="x <= limit || x >= 7"),
    ],
)
def test_modes_that_may_be_left_or_last_are_not(text: str) -> None:
    assert "dead-end" not in codes(text)


def test_others_may_help_a_run_on() -> None:
    shared = """
    mode Go() { write analog real c; read discrete int turn; diff { d(c) == 1; }
      inv { c <= 3 + turn } }
    mode GoTop() { write analog real c; read discrete int turn; mode go = Go();
      trans from init to go; }
    agent Goer() { private analog real c = 0; read discrete int turn; mode top = GoTop(); }
    mode Leaf() { }
    mode Count() { write discrete int turn; mode a = Leaf(); trans from init to a;
      trans from a to a do { turn = turn + 1; } }
    agent Counter() { write discrete int turn; init { turn = 0; } mode top = Count(); }
    agent Both() { private discrete int turn; agent a = Goer(); agent b = Counter(); }
    system Both();
    """
    assert "dead-end" not in codes(shared)
    alone = shared.replace("do { turn = turn + 1; }", "")
    assert "dead-end" in codes(alone)


def test_submodes_nobody_enters_are_shown() -> None:
    text = """
    mode Leaf() { }
    mode Top() { mode a = Leaf(); mode b = Leaf(); mode c = Leaf();
      trans from init to a trans from b to c trans from c to b }
    agent Main() { mode top = Top(); }
    """
    found = diagnostics(text)
    assert [d.code for d in found] == ["unreachable-mode"] * 2


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("trans from init to a", "trans from a to b"),
        ("trans from init to a", ""),
    ],
)
def test_a_composed_mode_says_where_it_starts(old: str, new: str) -> None:
    text = """
    mode Leaf() { }
    mode Top() { mode a = Leaf(); mode b = Leaf(); trans from init to a trans from a to b }
    agent Main() { mode top = Top(); }
    """
    assert codes(text) == []
    assert codes(text.replace(old, new)) == ["no-start"]


def test_a_submode_entered_by_default_says_where_it_starts() -> None:
    text = """
    mode Leaf() { }
    mode Inner() { entry go; mode a = Leaf(); trans from go to a }
    mode Top() { mode i = Inner(); mode o = Leaf(); trans from init to i trans from i to o }
    agent Main() { mode top = Top(); }
    """
    (found,) = diagnostics(text)
    assert found.code == "no-start"
    assert found.hint is not None
    assert "`i.go`" in found.hint
    assert codes(text.replace("from init to i ", "from init to i.go ")) == []


@pytest.mark.parametrize(
    ("agent_items", "mode_items", "expected"),
    [
        ("", "", ["no-first-value"]),
        ("init { x = 0; }", "", []),
        ("init { where x >= 0 && x <= 1; }", "", []),
        ("", "mode a = Leaf(); trans from init to a do { x = 0; }", []),
        ("", "mode a = Leaf(); trans from init to a do { x in [0, 1]; }", []),
        ("", "alge { x == 3; }", []),
        ("init { x = 0; }", "private discrete int n; inv { n <= x }", ["no-first-value"]),
        ("init { x = 0; }", "private discrete int n = 0; inv { n <= x }", []),
    ],
)
def test_variables_have_a_first_value(
    agent_items: str, mode_items: str, expected: list[str]
) -> None:
    text = atomic(agent_items, mode_items=mode_items, definitions="mode Leaf() { }")
    assert codes(text) == expected


def test_a_variable_of_a_submode_may_be_set_on_entering() -> None:
    text = """
    mode Wait() { entry go; private analog real timer; mode a = Leaf(); diff { d(timer) == 1; }
      trans from go to a do { timer = 0; } }
    mode Leaf() { }
    mode Top() { mode first = Leaf(); mode w = Wait();
      trans from init to first trans from first to w.go }
    agent Main() { mode top = Top(); }
    """
    assert codes(text) == []
