"""Mistakes that beginners make, each in one place of a sound model: the whole message."""

from __future__ import annotations

import pytest
from charon_texts import diagnostics

HOUSE = """\
mode Heating(real power) {
  write analog real temp;
  diff { d(temp) == power - temp/10; }
  inv { temp <= 22 }
}
mode Cooling() {
  write analog real temp;
  diff { d(temp) == -temp/10; }
  inv { temp >= 18 }
}
mode Control(real power) {
  write analog real temp;
  private discrete int switches = 0;
  mode on = Heating(power);
  mode off = Cooling();
  trans from init to off
  trans from off to on when temp <= 18 do { switches = switches + 1; }
  trans from on to off when temp >= 22
}
agent Room(real power) {
  write analog real temp;
  init { temp in [19, 21]; }
  mode top = Control(power);
}
mode LampTop() {
  read analog real temp;
  write discrete enum { red, green } lamp;
  mode wait = Still();
  trans from init to wait do { lamp = green; }
  trans from wait to wait when temp >= 21 && lamp == green do { lamp = red; }
}
mode Still() { }
agent Lamp() {
  read analog real temp;
  write discrete enum { red, green } lamp = green;
  mode top = LampTop();
}
agent House() {
  private analog real temp;
  private discrete enum { red, green } lamp;
  agent room = Room(5);
  agent signal = Lamp();
  assert "not too hot" { temp <= 25 }
}
"""

# What was done wrong: the text replaced, the text put in its place, and what is then said.
MISTAKES = {
    "a misspelt variable": (
        "power - temp/10",
        "power - tmep/10",
        """\
model.charon:3:29: error: `tmep` is not declared here [unknown-name]
  3 |   diff { d(temp) == power - tmep/10; }
    |                             ^^^^
  hint: did you mean `temp`?""",
    ),
    "a misspelt mode": (
        "= Cooling()",
        "= Coolin()",
        """\
model.charon:15:14: error: there is no mode `Coolin` [unknown-mode]
  15 |   mode off = Coolin();
     |              ^^^^^^
  hint: did you mean `Cooling`?""",
    ),
    "an argument forgotten": (
        "= Heating(power)",
        "= Heating()",
        """\
model.charon:14:3: error: `Heating` takes 1 argument, not 0 [argument-count]
  14 |   mode on = Heating();
     |   ^^^^^^^^^^^^^^^^^^^^
  hint: it is declared as `Heating(real power)`""",
    ),
    "an input assigned": (
        "do { lamp = red; }",
        "do { temp = 20; }",
        """\
model.charon:30:65: error: `temp` is declared `read` here, so it cannot be changed [read-only]
  30 |   trans from wait to wait when temp >= 21 && lamp == green do { temp = 20; }
     |                                                                 ^^^^
  hint: declare it `write` if this part determines it (declared at line 26)""",
    ),
    "a variable nobody moves": (
        "  diff { d(temp) == -temp/10; }\n",
        "",
        """\
model.charon:20:21: error: nothing says how `temp` changes in `Room` while `off` is active [undetermined-variable]
  20 |   write analog real temp;
     |                     ^^^^
  hint: add `diff { d(temp) == ...; }` or `alge { temp == ...; }`; `d(temp) == 0` keeps it, and `discrete real temp` changes only in actions""",
    ),
    "a variable moved twice": (
        "  mode on =",
        "  diff { d(temp) == 0; }\n  mode on =",
        """\
model.charon:3:10: error: `temp` is determined twice at the same time (the other is at line 14) [determined-twice]
  3 |   diff { d(temp) == power - temp/10; }
    |          ^^^^^^^^^^^^^^^^^^^^^^^^^^
  hint: keep one equation on each path of active modes""",
    ),
    "a flow for a counter": (
        "  mode on =",
        "  diff { d(switches) == 1; }\n  mode on =",
        """\
model.charon:14:12: error: `switches` is an integer, so it cannot flow [discrete-flow]
  14 |   diff { d(switches) == 1; }
     |            ^^^^^^^^
  hint: declare it `analog real switches`, or change it in an action""",
    ),
    "two writers": (
        "agent signal = Lamp();",
        "agent signal = Lamp();\n  agent attic = Room(3);",
        """\
model.charon:43:3: error: both `room` (line 41) and `attic` write `temp`; a variable has one writer [two-writers]
  43 |   agent attic = Room(3);
     |   ^^^^^^^^^^^^^^^^^^^^^^
  hint: rename one of them: `agent attic = ... [ temp := another ];`""",
    ),
    "a shared variable not declared": (
        "  private analog real temp;\n",
        "",
        """\
model.charon:40:3: error: the agent `room` shares `temp`, which is not declared here [undeclared-variable]
  40 |   agent room = Room(5);
     |   ^^^^^^^^^^^^^^^^^^^^^
  hint: declare it: `private analog real temp;`""",
    ),
    "a colour that does not exist": (
        "lamp == green",
        "lamp == gren",
        """\
model.charon:30:54: error: `gren` is not declared here [unknown-name]
  30 |   trans from wait to wait when temp >= 21 && lamp == gren do { lamp = red; }
     |                                                      ^^^^
  hint: did you mean `green`?""",
    ),
    "a number where a condition is needed": (
        "when temp >= 22",
        "when temp - 22",
        """\
model.charon:18:29: error: a guard must be a truth value, but this is a real number [type-mismatch]
  18 |   trans from on to off when temp - 22
     |                             ^^^^^^^^^
  hint: compare it with something, e.g. `... > 0`""",
    ),
    "a fraction stored in an integer": (
        "switches + 1",
        "switches/2",
        """\
model.charon:17:56: error: the new value of `switches` must be an integer, but this is a real number [type-mismatch]
  17 |   trans from off to on when temp <= 18 do { switches = switches/2; }
     |                                                        ^^^^^^^^^^
  hint: round it: `floor(...)` gives the integer below""",
    ),
    "a transition to nowhere": (
        "trans from on to off",
        "trans from on to of",
        """\
model.charon:18:20: error: `of` is no submode, entry or exit of `Control` [unknown-point]
  18 |   trans from on to of when temp >= 22
     |                    ^^
  hint: did you mean `off`?""",
    ),
    "no first mode": (
        "  trans from init to off\n",
        "",
        """\
model.charon:11:6: error: `Control` does not say which submode is active first [no-start]
  11 | mode Control(real power) {
     |      ^^^^^^^
  hint: add `trans from init to on;`""",
    ),
    "a wrong start": (
        "temp in [19, 21]",
        "temp in [21, 19]",
        """\
model.charon:22:18: error: this interval is empty: 21 is above 19 [empty-interval]
  22 |   init { temp in [21, 19]; }
     |                  ^^^^^^^^
  hint: swap the bounds""",
    ),
    "a contradiction in init": (
        "temp in [19, 21];",
        "temp in [19, 21]; where temp > 22;",
        """\
model.charon:22:34: error: there is no initial state: `temp <= 21` and `temp > 22` cannot hold together [empty-initial-set]
  22 |   init { temp in [19, 21]; where temp > 22; }
     |                                  ^^^^^^^^^
  hint: correct the `init` blocks""",
    ),
    "an invariant the wrong way round": (
        "inv { temp >= 18 }",
        "inv { temp <= 18 }",
        """\
model.charon:9:9: warning: `room` cannot start: no initial state satisfies the invariant `temp <= 18` [starts-outside-invariant]
  9 |   inv { temp <= 18 }
    |         ^^^^^^^^^^
  hint: correct the invariant or the `init` block
model.charon:18:3: warning: `on -> off` can never be taken: its guard contradicts the invariant of `off` [impossible-transition]
  18 |   trans from on to off when temp >= 22
     |   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  hint: compare the guard with the invariant; is one of them the wrong way round?""",
    ),
    "a function that does not exist": (
        "temp <= 25",
        "squrt(temp) <= 5",
        """\
model.charon:43:26: error: `squrt` is not a function [unknown-function]
  43 |   assert "not too hot" { squrt(temp) <= 5 }
     |                          ^^^^^^^^^^^
  hint: did you mean `sqrt`?""",
    ),
    "a private variable of another agent": (
        "{ temp <= 25 }",
        "{ room.swiches <= 25 }",
        """\
model.charon:43:26: error: `room` has no variable `swiches` [unknown-name]
  43 |   assert "not too hot" { room.swiches <= 25 }
     |                          ^^^^^^^^^^^^
  hint: did you mean `switches`?""",
    ),
    "a definition written twice": (
        "mode Still() { }",
        "mode Still() { }\nmode Still() { }",
        """\
model.charon:33:6: error: the mode `Still` is defined twice (first at line 32) [duplicate-name]
  33 | mode Still() { }
     |      ^^^^^
  hint: rename one of them""",
    ),
    "itself inside itself": (
        "mode wait = Still()",
        "mode wait = LampTop()",
        """\
model.charon:28:15: error: `LampTop` contains itself: LampTop -> LampTop [recursive-instantiation]
  28 |   mode wait = LampTop();
     |               ^^^^^^^
  hint: instances are made once and for all; break the cycle""",
    ),
    "a variable as an argument": (
        "top = Control(power)",
        "top = Control(temp)",
        """\
model.charon:23:22: error: the parameter `power` of `Control` must be a constant, but `temp` can change [not-constant]
  23 |   mode top = Control(temp);
     |                      ^^^^
  hint: parameters and constants are fixed for the whole run; to share a variable, declare it in both and rename it in brackets""",
    ),
    "two conditions in one property": (
        "{ temp <= 25 }",
        "{ temp <= 25; temp >= 10; }",
        """\
model.charon:43:38: error: `assert` takes one condition [second-condition]
  43 |   assert "not too hot" { temp <= 25; temp >= 10; }
     |                                      ^^^^
  hint: write `&&` instead of the `;` before it, or a second `assert { ... }`""",
    ),
    "two conditions in one assumption": (
        "agent Lamp() {\n  read analog real temp;",
        "agent Lamp() {\n  read analog real temp;\n  assume { temp >= 0; temp <= 50 }",
        """\
model.charon:35:23: error: `assume` takes one condition [second-condition]
  35 |   assume { temp >= 0; temp <= 50 }
     |                       ^^^^
  hint: write `&&` instead of the `;` before it, or a second `assume { ... }`""",
    ),
    "a transition urgent behind its word": (
        "trans from off to on when",
        "trans urgent from off to on when",
        """\
model.charon:17:9: error: `urgent` stands before `trans` [misplaced-word]
  17 |   trans urgent from off to on when temp <= 18 do { switches = switches + 1; }
     |         ^^^^^^
  hint: write `urgent trans ...`""",
    ),
    "a transition crossing behind its guard": (
        "temp <= 18 do {",
        "temp <= 18 crossing do {",
        """\
model.charon:17:40: error: `crossing` stands before `trans` [misplaced-word]
  17 |   trans from off to on when temp <= 18 crossing do { switches = switches + 1; }
     |                                        ^^^^^^^^
  hint: write `crossing trans ...`""",
    ),
    "a mode that starts a variable of its agent": (
        "  write analog real temp;\n  private discrete",
        "  write analog real temp = 20;\n  private discrete",
        """\
model.charon:12:21: error: `temp` belongs to the agent, so a mode cannot give it its first value [misplaced-first-value]
  12 |   write analog real temp = 20;
     |                     ^^^^
  hint: give it in the agent, where it is declared or in `init { ... }`; a variable that is `private` to the mode may have one here""",
    ),
    "a mode that starts what it only reads": (
        "mode LampTop() {\n  read analog real temp;",
        "mode LampTop() {\n  read analog real temp in [0, 50];",
        """\
model.charon:26:20: error: `temp` belongs to the agent, so a mode cannot give it its first value [misplaced-first-value]
  26 |   read analog real temp in [0, 50];
     |                    ^^^^
  hint: say in the agent what is known of it: `assume { ... }`""",
    ),
}


def test_the_house_without_mistakes_is_accepted() -> None:
    assert diagnostics(HOUSE) == ()


@pytest.mark.parametrize("name", MISTAKES)
def test_the_message_says_what_to_do(name: str) -> None:
    old, new, expected = MISTAKES[name]
    assert HOUSE.count(old) >= 1
    text = HOUSE.replace(old, new, 1)
    assert "\n".join(d.render(text) for d in diagnostics(text)) == expected
