"""Each visual edit as a small edit of a text: what is around it stays as it is, to the letter."""

from __future__ import annotations

import pytest
from shown_models import FILE, project_of

from workbench.models.language.drawing.editing import edits
from workbench.models.language.drawing.visual_edits import (
    AddAgent,
    AddEntry,
    AddExit,
    AddMode,
    AddVariable,
    Connect,
    Delete,
    Disconnect,
    Reconnect,
    Rename,
    SetArguments,
    SetEquation,
    SetFlow,
    SetGuard,
    SetInit,
    SetInvariant,
    SetLabel,
    SetReset,
    SetUrgent,
    Share,
    VisualEdit,
)
from workbench.models.language.editor.places import edited
from workbench.models.language.editor.project import project
from workbench.models.language.editor.text import read_text
from workbench.models.source import ModelError

TEXT = """\
// A room.

/* heats */
mode Heat(real power) {  // a mode
  write analog real temp;
  diff {
    // the law
    d(temp) == power;   // not laid out
  }
  inv { temp <= 22 }
}

// cools, or not
mode RoomTop() {
  write analog real temp;
  private discrete int   count = 0;

  mode on  = Heat( 1 );   // spaces
  mode off = Heat(-1);
  // the first
  trans from init to on;
  trans #hot from on, off to off  // leaves
    when temp >= 21 do { count = count + 1; }
  trans #cold from off to on when temp <= 19;  /* back */
}

agent Room() {
  private analog real temp;
  init { temp in [18, 20]; /* cool */ }
  mode top = RoomTop();
  assert "fine" { temp <= 22 }
}
"""
TOP = ("Room", "top")
ON = (*TOP, "on")


def after(edit: VisualEdit, text: str = TEXT) -> str:
    return edited(text, edits(project_of(text), edit))


CHANGED = [
    (AddMode(TOP, "idle"), [("// cools, or not\n", "mode Idle() { }\n\n// cools, or not\n"), ("Heat(-1);\n", "Heat(-1);\n  mode idle = Idle();\n")]),
    (AddMode(TOP, "idle", "Heat", "0"), [("Heat(-1);\n", "Heat(-1);\n  mode idle = Heat(0);\n")]),
    (AddMode((), "Free"), [('"fine" { temp <= 22 }\n}\n', '"fine" { temp <= 22 }\n}\n\nmode Free() { }\n')]),
    (AddAgent((), "Free"), [('"fine" { temp <= 22 }\n}\n', '"fine" { temp <= 22 }\n}\n\nagent Free() { }\n')]),
    (AddVariable(TOP, "half", "private", "real", "", "=1/2"), [("count = 0;\n", "count = 0;\n  private analog real half = 1/2;\n")]),
    (AddVariable(("Room",), "n", "private", "int"), [("private analog real temp;\n", "private analog real temp;\n  private int n;\n")]),
    (AddEntry(TOP, "start"), [("mode RoomTop() {\n", "mode RoomTop() {\n  entry start;\n")]),
    (AddExit(("Heat",), "done"), [("{  // a mode\n", "{  // a mode\n  exit done;\n")]),
    (Connect(TOP, "off", "on", "soon", "temp<=18", "count=0; temp = 18", True), [("/* back */\n", "/* back */\n  urgent trans #soon from off to on when temp <= 18 do { count = 0; temp = 18; }\n")]),
    (Reconnect(TOP, "off->on#cold", target="off"), [("from off to on when", "from off to off when")]),
    (Reconnect(TOP, "on->off#hot", source="init"), [("from on, off to", "from init, off to")]),
    (Disconnect(TOP, "on->off#hot"), [("from on, off to", "from off to")]),
    (Disconnect(TOP, "off->off#hot"), [("from on, off to", "from on to")]),
    (Disconnect(TOP, "off->on#cold"), [("  trans #cold from off to on when temp <= 19;  /* back */\n", "")]),
    (Disconnect(TOP, "init->on"), [("  trans from init to on;\n", "")]),
    (Delete(TOP, "mode:on"), [("  mode on  = Heat( 1 );   // spaces\n", ""), ("  trans from init to on;\n", ""), ("from on, off to", "from off to"), ("  trans #cold from off to on when temp <= 19;  /* back */\n", "")]),
    (Rename(TOP, "mode:off", "idle"), [("mode off = ", "mode idle = "), ("on, off to off", "on, idle to idle"), ("from off to on", "from idle to on")]),
    (Rename((), "mode:Heat", "Warm"), [("mode Heat(", "mode Warm("), ("= Heat( 1", "= Warm( 1"), ("= Heat(-1", "= Warm(-1")]),
    (Rename(("Room",), "variable:temp", "t"), [("temp", "t")]),
    (SetLabel(TOP, "init->on", "go"), [("trans from init", "trans #go from init")]),
    (SetLabel(TOP, "on->off#hot", "warm"), [("#hot", "#warm")]),
    (SetLabel(TOP, "on->off#hot", ""), [("trans #hot from", "trans from")]),
    (SetGuard(TOP, "on->off#hot", "temp>20"), [("when temp >= 21 do", "when temp > 20 do")]),
    (SetGuard(TOP, "on->off#hot", ""), [("  // leaves\n    when temp >= 21 do", " do")]),
    (SetGuard(TOP, "init->on", "temp<5||temp>7"), [("init to on;", "init to on when temp < 5 || temp > 7;")]),
    (SetReset(TOP, "on->off#hot", "count = 2; temp = 3"), [("{ count = count + 1; }", "{ count = 2; temp = 3; }")]),
    (SetReset(TOP, "on->off#hot", ""), [(" do { count = count + 1; }", ";")]),
    (SetReset(TOP, "init->on", "count in [0, 2]"), [("init to on;", "init to on do { count in [0, 2]; }")]),
    (SetUrgent(TOP, "off->on#cold", True), [("trans #cold", "urgent trans #cold")]),
    (SetUrgent(TOP, "off->on#cold", False), []),
    (SetArguments(TOP, "mode:on", "1/2"), [("Heat( 1 )", "Heat(1/2)")]),
    (SetInvariant(ON, "temp <= 22; temp >= 5"), [("inv { temp <= 22 }", "inv { temp <= 22; temp >= 5 }")]),
    (SetInvariant(ON, ""), [("  inv { temp <= 22 }\n", "")]),
    (SetInvariant(TOP, "count<=5"), [("count = 0;\n", "count = 0;\n  inv { count <= 5 }\n")]),
    (SetFlow(ON, "d(temp) == 2*power"), [("== power;", "== 2*power;")]),
    (SetFlow(ON, ""), [("  diff {\n    // the law\n    d(temp) == power;   // not laid out\n  }\n", "")]),
    (SetEquation(ON, "temp == 3"), [("inv { temp <= 22 }\n", "inv { temp <= 22 }\n  alge { temp == 3; }\n")]),
    (SetInit(("Room",), "temp = 19; where temp > 1"), [("temp in [18, 20]; /* cool */", "temp = 19; /* cool */ where temp > 1;")]),
    (SetInit(("Room",), "temp in [18, 20]"), []),
]  # fmt: skip


@pytest.mark.parametrize(("edit", "pairs"), CHANGED, ids=lambda value: type(value).__name__)
def test_an_edit_changes_what_it_is_about(edit: VisualEdit, pairs: list[tuple[str, str]]) -> None:
    wanted = TEXT
    for old, new in pairs:
        assert old in wanted
        wanted = wanted.replace(old, new)
    assert after(edit) == wanted
    windows = TEXT.replace("\n", "\r\n")
    assert after(edit, windows) == wanted.replace("\n", "\r\n")


REFUSED = [
    (AddMode(TOP, "on"), "name-taken", "already has the part `on`"),
    (AddMode(TOP, "2x"), "bad-name", "is not a name"),
    (AddMode(TOP, "when"), "bad-name", "has a meaning"),
    (AddMode(TOP, "more", "RoomTop"), "circular-parts", "contains `RoomTop`"),
    (AddMode(TOP, "more", "Heat"), "argument-count", "0 values are given"),
    (AddMode(TOP, "more", "Heat", "1); mode x = Heat(2"), "bad-text", "what it is for"),
    (AddMode(TOP, "more", "Room"), "name-taken", "already the agent `Room`"),
    (AddMode(("Room",), "second"), "wrong-level", "has the mode `top`"),
    (AddAgent(TOP, "part"), "wrong-level", "is a mode"),
    (AddAgent(("Room",), "part"), "wrong-level", "has the mode `top`"),
    (AddAgent((), "Heat"), "name-taken", "already the mode `Heat`"),
    (AddVariable(TOP, "temp"), "name-taken", "already has `temp`"),
    (AddVariable(TOP, "a", "private", "real", "", "= 1; write real b"), "bad-text", "what it is for"),
    (AddEntry(("Room",), "x"), "wrong-level", "not a mode"),
    (Connect(TOP, "of", "on"), "no-such-part", "has no `of`"),
    (Connect(TOP, "on", "init"), "wrong-point", "no transition leads to `init`"),
    (Connect(TOP, "on.fail", "off"), "no-such-part", "has no exit `fail`"),
    (Connect(TOP, "on", "off", guard="temp >"), "syntax", "unexpected"),
    (Connect(TOP, "on", "off", guard="true do { temp = 1; }"), "bad-text", "one condition"),
    (SetGuard(TOP, "on->of", "true"), "no-such-part", "no transition `on->of`"),
    (SetReset(TOP, "init->on", "temp == 1"), "double-equals", "a value is set with `=`"),
    (SetInvariant(TOP, "temp <= 1 } inv { true"), "bad-text", "what it is for"),
    (SetInvariant(("Room",), "true"), "wrong-level", "not a mode"),
    (SetInit(TOP, "temp = 1"), "wrong-level", "not an agent"),
    (SetArguments(TOP, "mode:on", "1, 2"), "argument-count", "2 values are given"),
    (Rename(TOP, "mode:on", "off"), "name-taken", "already a mode instance"),
    (Rename(TOP, "mode:on", "a-b"), "bad-name", "is not a name"),
    (Delete((), "mode:Heat"), "still-used", "used by `RoomTop.on` and `RoomTop.off`"),
    (Delete(TOP, "mode:on", True), "still-used", "used by `RoomTop.on` and `RoomTop.off`"),
    (Delete(("Room",), "variable:temp"), "still-used", "`top` shares `temp`"),
    (Delete(TOP, "init"), "no-such-part", "there is no `init`"),
    (Disconnect(("Room",), "share:top.temp"), "shared-by-name", "both have that name"),
    (Share(("Room",), "mode:top", "count", "temp"), "private-variable", "private in `RoomTop`"),
    (Share(("Room",), "mode:top", "speed", "temp"), "no-such-part", "no variable `speed`"),
]  # fmt: skip


@pytest.mark.parametrize(("edit", "code", "words"), REFUSED, ids=lambda value: str(value)[:40])
def test_what_cannot_be_done_says_why(edit: VisualEdit, code: str, words: str) -> None:
    with pytest.raises(ModelError) as refused:
        after(edit)
    first = refused.value.diagnostics[0]
    assert first.code == code
    assert words in refused.value.render()


def test_what_is_wrong_with_a_text_is_told_at_its_place_in_it() -> None:
    with pytest.raises(ModelError) as refused:
        after(SetInvariant(TOP, "temp >= 1;\ntemp <="))
    (finding,) = refused.value.diagnostics
    assert finding.span is not None and (finding.span.line, finding.span.column) == (2, 8)
    assert "temp <=\n" in refused.value.render()


def test_a_broken_text_is_not_edited() -> None:
    with pytest.raises(ModelError) as refused:
        after(AddMode(TOP, "x"), TEXT.replace("diff {", "diff"))
    assert refused.value.diagnostics[0].span is not None


def test_a_flow_declares_what_it_mentions_on_every_level_between() -> None:
    text = """\
mode Fast() { }
mode Drive() { mode fast = Fast(); }
agent Car() {
  private analog real x, v;
  private analog real track[1..3];
  mode top = Drive();
}
"""
    path = ("Car", "top", "fast")
    assert (
        after(SetFlow(path, "d(x) == v; d(v) == unknown + track[1]"), text)
        == """\
mode Fast() {
  write analog real v, x;
  diff { d(x) == v; d(v) == unknown + track[1]; }
}
mode Drive() {
  write analog real v, x;
  mode fast = Fast();
}
agent Car() {
  private analog real x, v;
  private analog real track[1..3];
  mode top = Drive();
}
"""
    )
    assert "\n  read analog real v;\n" in after(SetInvariant(path, "v <= 3"), text)


def test_what_was_only_read_is_written_where_it_is_changed_now() -> None:
    text = """\
mode Fast() { }
mode Drive() {
  read analog real speed;   // so far
  read analog real x, load = 0, y;
  mode fast = Fast();
  trans from fast to fast when speed >= 10;
}
agent Car() {
  private analog real speed, x, load, y;
  read analog real wind;
  mode top = Drive();
}
"""
    path = ("Car", "top")
    alone = after(SetReset(path, "fast->fast", "speed = 3"), text)
    assert alone == text.replace("read analog real speed;", "write analog real speed;").replace(
        "speed >= 10;", "speed >= 10 do { speed = 3; }"
    )
    below = after(SetFlow((*path, "fast"), "d(load) == speed"), text)
    assert "  write analog real load;\n" in below.partition("mode Drive")[0]
    assert "  read analog real speed;   // so far\n" in below
    assert "  read analog real x, y;\n" in below.partition("mode Drive")[2]
    assert "  write analog real load = 0;\n" in below.partition("mode Drive")[2]
    # An input of the whole agent cannot be written.
    wind = text.replace("real speed;   //", "real wind;   //").replace("speed >=", "wind >=")
    assert "  read analog real wind;   // so far" in after(
        SetReset(path, "fast->fast", "wind = 3"), wind
    )


def test_a_comment_stays_with_the_statement_that_stays() -> None:
    text = """\
mode M() {
  write analog real x, y, z;
  diff {
    // first
    d(x) == 1;  // one
    d(y) == 2;  // two

    // last
    d(z) == 3;  // three
  }
}
"""
    found = after(SetFlow(("M",), "d(x) == 1; d(z) == 4; d(w) == 5"), text)
    assert (
        found
        == """\
mode M() {
  write analog real x, y, z;
  diff {
    // first
    d(x) == 1;  // one
    d(z) == 4;  // two

    // last
    d(w) == 5;  // three
  }
}
"""
    )
    less = after(SetFlow(("M",), "d(x) == 1; d(y) == 2"), text)
    assert less == text.replace("    d(z) == 3;  // three\n", "")


def test_shared_variables_are_renamed_in_brackets() -> None:
    text = """\
mode T() { write analog real u; }
agent A(real k) { write analog real u; read analog real v; mode top = T(); }
agent B() { private real x, y, z; agent a = A(1) [ u, v := x, y ]; agent b = A(2); }
"""
    for edit, old, new in [
        (Share(("B",), "agent:a", "u", "z"), "u, v := x, y", "u, v := z, y"),
        (Share(("B",), "agent:b", "u", "z"), "A(2);", "A(2) [ u := z ];"),
        (Disconnect(("B",), "share:a.u"), "[ u, v := x, y ]", "[ v := y ]"),
        (Disconnect(("B",), "share:a.v"), "[ u, v := x, y ]", "[ u := x ]"),
    ]:
        assert after(edit, text) == text.replace(old, new)
    declared = after(Share(("B",), "agent:a", "w", "z", "read"), text)
    assert "[ u, v, w := x, y, z ]" in declared
    assert "read real w;" in declared


def test_a_variable_nothing_mentions_can_be_deleted() -> None:
    text = "agent A() {\n  private real a, b in [0, 1], c;  // three\n}\n"
    assert after(Delete(("A",), "variable:a"), text) == text.replace("a, ", "", 1)
    assert after(Delete(("A",), "variable:b"), text) == text.replace(" b in [0, 1],", "")
    assert after(Delete(("A",), "variable:c"), text) == text.replace(", c", "")
    assert (
        after(Delete(("A",), "variable:x"), "agent A() {\n  private real x;\n}\n")
        == "agent A() { }\n"
    )


def test_definitions_of_imported_files_are_edited_there() -> None:
    parts = read_text("parts.charon", "mode Engine() { }\n")
    main = read_text(FILE, 'import "parts.charon";\nagent Car() {\n  mode top = Engine();\n}\n')
    whole = project(main, lambda name: parts if name == "parts.charon" else None)
    (inside,) = edits(whole, AddEntry(("Car", "top"), "start"))
    assert inside.span.file == "parts.charon"
    renamed = edits(whole, Rename((), "mode:Engine", "Motor"))
    assert {e.span.file for e in renamed} == {"parts.charon", FILE}


def test_from_nothing_to_a_model() -> None:
    text = ""
    for edit in [
        AddAgent((), "Ball"),
        AddVariable(("Ball",), "height"),
        AddVariable(("Ball",), "speed"),
        AddMode(("Ball",), "top"),
        AddMode(("Ball", "top"), "falling"),
        SetFlow(("Ball", "top", "falling"), "d(height) == speed\n;d(speed) == -9.81"),
        SetInvariant(("Ball", "top", "falling"), "height >= 0"),
        Connect(("Ball", "top"), "init", "falling"),
        Connect(
            ("Ball", "top"),
            "falling",
            "falling",
            "bounce",
            "height <= 0 && speed < 0",
            "speed = -0.75*speed",
        ),
        SetInit(("Ball",), "height in [10, 10.2]; speed = 0"),
    ]:
        text = after(edit, text)
    assert (
        text
        == """\
mode Falling() {
  write analog real height, speed;
  diff { d(height) == speed; d(speed) == -9.81; }
  inv { height >= 0 }
}

mode BallTop() {
  write analog real height, speed;
  mode falling = Falling();
  trans from init to falling;
  trans #bounce from falling to falling when height <= 0 && speed < 0 do { speed = -0.75*speed; }
}

agent Ball() {
  private analog real height;
  private analog real speed;
  init { height in [10, 10.2]; speed = 0; }
  mode top = BallTop();
}
"""
    )
