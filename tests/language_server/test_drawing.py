"""Diagrams and edits of them, asked for by a client over standard input and output."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from lsprotocol.converters import get_converter
from pygls.exceptions import JsonRpcException
from session import Editor, Text, applied

pytestmark = pytest.mark.asyncio(loop_scope="module")

ROOM = """\
// heißt: a room
mode Heat(real power) {
  write analog real temp;
  diff { d(temp) == power; }
}

mode RoomTop() {
  write analog real temp;
  mode on = Heat(1);  // é𝄞
  mode off = Heat(-1);
  /* 𝄞 */ trans from init to on;
  trans #hot from on to off when temp >= 21;
}

agent Room() {
  private analog real temp;
  init { temp in [18, 20]; }
  mode top = RoomTop();
}
"""
TOP = ["Room", "top"]


async def ask(text: Text, request: str, **more: Any) -> dict[str, Any]:
    params = {"textDocument": {"uri": text.uri}, **more}
    found = await text.editor.client.protocol.send_request_async(f"charon/{request}", params)
    return plain(found)


def plain(value: Any) -> Any:
    """An answer as plain data, whatever the client makes of it."""
    if hasattr(value, "_asdict"):
        return {name: plain(item) for name, item in value._asdict().items()}
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


async def after(text: Text, /, **edit: Any) -> str:
    found = await ask(text, "visualEdit", version=text.version, edit=edit)
    edits = structured(found["edits"])
    assert list(found["changes"].values()) == [found["edits"]]
    return applied(text.text, edits)


async def test_the_level_of_the_whole_model_comes_first(editor: Editor) -> None:
    text = editor.open(ROOM)
    found = await ask(text, "diagram")
    assert (found["path"], found["kind"], found["version"]) == (["Room"], "agent", 1)
    assert not found["stale"] and found["uri"] == text.uri and found["names"] == []
    assert [n["id"] for n in found["nodes"]] == ["variable:temp", "mode:top"]
    (share,) = found["edges"]
    assert (share["source"], share["target"]) == ("mode:top", "variable:temp")


async def test_a_level_by_its_path(editor: Editor) -> None:
    text = editor.open(ROOM)
    found = await ask(text, "diagram", path=TOP)
    assert [c["path"] for c in found["breadcrumb"]] == [[], ["Room"], TOP]
    nodes = {n["id"]: n for n in found["nodes"]}
    on = nodes["mode:on"]
    assert (on["name"], on["definition"], on["arguments"], on["uses"]) == ("on", "Heat", "1", 2)
    assert on["names"] == ["on"] and on["enterable"]
    assert [p["text"] for p in on["parts"]] == on["label_lines"] == ["d(temp) == power"]
    edges = {e["id"]: e for e in found["edges"]}
    hot = edges["on->off#hot"]
    assert hot["guard"] == "temp >= 21" and hot["label"]["lines"] == ["#hot", "temp >= 21"]
    assert len(hot["points"]) % 3 == 1
    first = edges["init->on"]["range"]["start"]
    assert first == {"line": 10, "character": 11}  # behind a sign that takes two places
    assert (await ask(text, "diagram", path=[]))["kind"] == "file"


async def test_a_broken_text_keeps_its_picture_and_a_repaired_one_its_places(
    editor: Editor,
) -> None:
    text = editor.open(ROOM)
    first = await ask(text, "diagram", path=TOP)
    text.change("mode off = Heat(-1);", "mode off = Heat(-1;")
    broken = await ask(text, "diagram", path=TOP)
    assert broken["stale"] and broken["version"] == 2
    for node, kept in zip(first["nodes"], broken["nodes"], strict=True):
        assert all(kept[key] == node[key] for key in ("id", "x", "y", "label_lines"))
    text.change("Heat(-1;", "Heat(-1); mode idle = Heat(0);")
    then = await ask(text, "diagram", path=TOP)
    assert not then["stale"]
    places = {n["id"]: (n["x"], n["y"]) for n in then["nodes"]}
    for node in first["nodes"]:
        assert places[node["id"]] == pytest.approx((node["x"], node["y"]), abs=8)
    assert "mode:idle" in places
    fresh = await ask(text, "diagram", path=TOP, fresh=True)
    assert {n["id"] for n in fresh["nodes"]} == places.keys()


async def test_visual_edits_are_edits_of_the_text(editor: Editor) -> None:
    text = editor.open(ROOM)
    assert await after(text, kind="AddMode", path=TOP, name="idle") == ROOM.replace(
        "mode RoomTop() {", "mode Idle() { }\n\nmode RoomTop() {"
    ).replace("Heat(-1);\n", "Heat(-1);\n  mode idle = Idle();\n")
    assert await after(
        text, kind="Connect", path=TOP, source="off", target="on", guard="temp<=19"
    ) == ROOM.replace("21;\n", "21;\n  trans from off to on when temp <= 19;\n")
    assert await after(
        text, kind="SetGuard", path=TOP, edge="on->off#hot", text=""
    ) == ROOM.replace(" when temp >= 21", "")
    assert await after(text, kind="Rename", path=TOP, node="mode:off", name="idle") == ROOM.replace(
        "mode off =", "mode idle ="
    ).replace("on to off", "on to idle")
    assert await after(text, kind="Delete", path=TOP, node="mode:off") == ROOM.replace(
        "  mode off = Heat(-1);\n", ""
    ).replace("  trans #hot from on to off when temp >= 21;\n", "")


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        ({"kind": "AddMode", "path": TOP, "name": "on"}, "already has the part `on`"),
        ({"kind": "AddModes"}, "did you mean 'AddMode'"),
        ({"kind": "AddMode", "path": TOP}, "needs the field 'name'"),
        ({"kind": "SetGuard", "path": TOP, "edge": "on->off#hot", "text": "temp >"}, "unexpected"),
    ],
)
async def test_an_edit_that_cannot_be_done_says_why(
    editor: Editor, edit: dict[str, Any], words: str
) -> None:
    text = editor.open(ROOM)
    with pytest.raises(JsonRpcException, match=words):
        await ask(text, "visualEdit", edit=edit)
    assert (await ask(text, "diagram"))["kind"] == "agent"


async def test_what_is_refused_has_its_place(editor: Editor) -> None:
    text = editor.open(ROOM)
    with pytest.raises(JsonRpcException) as refused:
        await ask(text, "visualEdit", edit={"kind": "Delete", "path": [], "node": "mode:Heat"})
    (finding,) = plain(refused.value.data)
    assert finding["code"] == "still-used" and finding["hint"] == "delete these first"
    assert finding["uri"] == text.uri and finding["range"]["start"]["line"] == 9
    typed = {"kind": "SetInvariant", "path": TOP, "text": "temp >= 1;\ntemp <="}
    with pytest.raises(JsonRpcException) as refused:
        await ask(text, "visualEdit", edit=typed)
    (finding,) = plain(refused.value.data)
    assert (finding["line"], finding["column"]) == (2, 8)


async def test_an_edit_of_an_older_text_is_refused(editor: Editor) -> None:
    text = editor.open(ROOM)
    text.change("// heißt", "// heisst")
    with pytest.raises(JsonRpcException, match="changed meanwhile"):
        await ask(text, "visualEdit", version=1, edit={"kind": "AddMode", "path": TOP, "name": "x"})


async def test_from_the_text_to_the_picture(editor: Editor) -> None:
    text = editor.open(ROOM)

    async def at(words: str, **more: Any) -> tuple[list[str], str | None]:
        place = text.at(words)
        position = {"line": place.line, "character": place.character}
        found = await ask(text, "locate", position=position, **more)
        return found["path"], found["id"]

    assert await at("𝄞 */ tr|ans") == (TOP, "init->on")
    assert await at("#h|ot") == (TOP, "on->off#hot")
    assert await at("d(temp) |==") == ([*TOP, "on"], None)
    assert await at("d(temp) |==", path=[*TOP, "off"]) == ([*TOP, "off"], None)
    assert await at("// heißt|") == ([], None)


async def test_a_rename_reaches_the_files_that_are_imported(editor: Editor, folder: Path) -> None:
    text = editor.open('import "parts.charon";\nagent Car() { mode top = Engine(); }\n')
    parts = text.path.with_name("parts.charon")
    parts.write_text("mode Engine() { }\n", encoding="utf-8")
    edit = {"kind": "Rename", "path": [], "node": "mode:Engine", "name": "Motor"}
    found = await ask(text, "visualEdit", edit=edit)
    assert [e["newText"] for e in found["edits"]] == ["Motor"]
    assert len(found["changes"]) == 2  # by file, whose names this client does not tell


async def test_a_rename_reaches_the_files_that_import(editor: Editor) -> None:
    parts = editor.open("mode Engine() { }\n", "parts.charon")
    main = editor.open_at(
        parts.path.with_name("main.charon"),
        'import "parts.charon";\nagent Car() { mode top = Engine(); }\n',
    )
    edit = {"kind": "Rename", "path": [], "node": "mode:Engine", "name": "Motor"}
    found = await ask(parts, "visualEdit", edit=edit)
    others = [made for made in found["changes"].values() if made != found["edits"]]
    assert [applied(main.text, structured(made)) for made in others] == [
        main.text.replace("Engine", "Motor")
    ]


def structured(edits: list[Any]) -> list[types.TextEdit]:
    return get_converter().structure(edits, list[types.TextEdit])


async def test_requests_that_make_no_sense_do_no_harm(editor: Editor) -> None:
    text = editor.open(ROOM)
    for request, params in [
        ("diagram", {"path": "Room"}),
        ("diagram", {"textDocument": None}),
        ("diagram", {"textDocument": {"uri": "file:///nowhere.charon"}}),
        ("locate", {"position": {"line": 1}}),
        ("locate", {}),
        ("visualEdit", {"edit": 3}),
        ("visualEdit", {}),
    ]:
        with pytest.raises(JsonRpcException):
            await ask(text, request, **params)
    assert (await ask(text, "diagram"))["path"] == ["Room"]
