"""Pictures of levels: everything has a place of its own, and what stays in the text stays there."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest

from workbench import Document
from workbench.api import drawing
from workbench.models.language.editor.places import edited
from workbench.reports.pictures import level_picture

LIBRARY = Path(__file__).resolve().parents[2] / "models" / "library"
TOP = ("Highway", "follower", "controller", "top")


def document(name: str) -> Document:
    return Document(f"{name}.charon", (LIBRARY / f"{name}.charon").read_text(encoding="utf-8"))


def edited_by(document: Document, edit: drawing.VisualEdit) -> Document:
    return document.edited(edited(document.text, drawing.text_edits(document, edit)))


def centres(drawn: drawing.Drawing) -> dict[str, tuple[float, float]]:
    boxes = zip(drawn.nodes, drawn.picture.boxes, strict=True)
    return {node.id: box.centre for node, box in boxes}


@pytest.mark.parametrize("name", ["platoon", "simplex_pendulum", "fischer", "navigation"])
def test_nothing_lies_over_anything_else(name: str) -> None:
    whole = document(name)
    queue = [(drawing.draw(whole).level.path), ()]
    for path in queue:
        drawn = drawing.draw(whole, path)
        picture = drawn.picture
        places = [(b.x, b.y, b.x + b.width, b.y + b.height) for b in picture.boxes]
        for a, b in combinations(places, 2):
            assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]
        for left, top, right, bottom in places:
            assert left >= 0 and top >= 0
            assert right <= picture.width and bottom <= picture.height
        for way in picture.ways:
            assert len(way.points) % 3 == 1
        if path and len(path) < 5:
            queue += [(*path, n.reference) for n in drawn.nodes if n.enterable]


@pytest.mark.parametrize(
    "edit",
    [
        drawing.AddMode(TOP, "brake"),
        drawing.AddEntry(TOP, "resume"),
        drawing.SetLabel(TOP, "init->optimal", "begin"),
        drawing.Disconnect(TOP, "optimal->cruise#free"),
        drawing.Delete(TOP, "mode:cruise"),
        drawing.SetGuard(TOP, "init->optimal", "error > 1"),
    ],
    ids=lambda edit: type(edit).__name__,
)
def test_what_stays_in_the_text_stays_in_its_place(edit: drawing.VisualEdit) -> None:
    whole = document("platoon")
    first = drawing.draw(whole, TOP)
    then = drawing.draw(edited_by(whole, edit), TOP, first)
    before, after = centres(first), centres(then)
    assert then.picture.across == first.picture.across
    for identity in before.keys() & after.keys():
        assert after[identity][0] == pytest.approx(before[identity][0], abs=1)
        assert after[identity][1] == pytest.approx(before[identity][1], abs=8)  # half a line


def test_what_looks_the_same_is_not_laid_out_again(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "mode On() { inv { x <= 2 } }\nmode Top() { mode on = On(); trans from init to on; }\n"
    first = drawing.draw(Document("room.charon", text), ("Top",))
    monkeypatch.setattr(level_picture, "arrange", None)
    moved = drawing.draw(Document("room.charon", f"// a word\n{text}"), ("Top",), first)
    assert moved.picture.ways == first.picture.ways
    assert [node.span.line for node in moved.nodes if node.span] == [3]
    said = drawing.draw(Document("room.charon", text.replace("<= 2", "<= 3")), ("Top",), moved)
    assert said.picture.boxes[1].lines == ("inv x <= 3",)


def test_a_part_with_another_name_keeps_its_place() -> None:
    whole = document("platoon")
    first = drawing.draw(whole, TOP)
    then = drawing.draw(edited_by(whole, drawing.Rename(TOP, "mode:cruise", "free")), TOP, first)
    place = centres(first)["mode:cruise"]
    assert centres(then)["mode:free"] == pytest.approx(place, abs=1)


def test_parts_that_stood_alone_find_their_places_when_they_are_joined() -> None:
    model = Document("a.charon", "mode Top() { }\nagent Whole() { mode top = Top(); }")
    path, shown = ("Whole", "top"), None
    names = ("one", "two", "three")
    edits: list[drawing.VisualEdit] = [drawing.AddMode(path, name) for name in names]
    edits += [drawing.Connect(path, a, b) for a, b in zip(("init", *names), names, strict=False)]
    for edit in edits:
        model = edited_by(model, edit)
        shown = drawing.draw(model, path, shown)
    assert shown is not None
    places = [centres(shown)[part] for part in ("init", *(f"mode:{name}" for name in names))]
    along = [place[0 if shown.picture.across else 1] for place in places]
    assert along == sorted(set(along))


def test_a_connection_within_a_layer_turns_below_it() -> None:
    whole = document("platoon")
    first = drawing.draw(whole, TOP)
    before = centres(first)
    assert before["mode:previous"][1] == pytest.approx(before["mode:cruise"][1], abs=1)
    edit = drawing.Connect(TOP, "previous", "cruise", "away", "error > 99")
    then = drawing.draw(edited_by(whole, edit), TOP, first)
    after = centres(then)
    assert all(after[i] == pytest.approx(before[i], abs=1) for i in before)
    way = then.picture.ways[[e.name for e in then.edges].index("away")]
    lowest = max(box.y + box.height for box in then.picture.boxes)
    assert max(y for _, y in way.points) > lowest
    assert way.lines == ("#away", "error > 99")


def test_a_broken_text_keeps_the_last_picture() -> None:
    whole = document("platoon")
    first = drawing.draw(whole, TOP)
    broken = whole.edited(whole.text.replace("mode cruise =", "mode cruise"))
    kept = drawing.draw(broken, TOP, first)
    assert kept.stale and kept.picture is first.picture
    fresh = drawing.draw(broken, TOP)
    assert fresh.stale and "mode:optimal" in centres(fresh)
    assert not drawing.draw(whole, TOP, kept).stale


def test_a_level_that_is_gone_gives_way_to_the_one_around_it() -> None:
    whole = document("platoon")
    assert drawing.draw(whole, (*TOP, "nothing", "at", "all")).level.path == TOP
    assert drawing.draw(whole, ("Nobody",)).level.kind == "file"


def test_loops_of_one_node_share_their_way() -> None:
    text = """\
mode A() { }
mode M() {
  mode a = A();
  trans #one from a to a when 1 > 0;
  trans #two from a to a;
}
"""
    drawn = drawing.draw(Document("m.charon", text), ("M",))
    one, two = drawn.picture.ways
    assert one.points == two.points
    assert two.label[1] > one.label[1] + 16 * len(one.lines)


@pytest.mark.parametrize(
    ("kind", "given", "words"),
    [
        ("AddMod", {}, "did you mean 'AddMode'"),
        ("AddMode", {"path": [], "nam": "x"}, "did you mean 'name'"),
        ("AddMode", {"path": []}, "needs the field 'name'"),
        ("AddMode", {"path": "a", "name": "x"}, "is a list of names"),
        ("SetUrgent", {"path": ["a"], "edge": "x", "urgent": 1}, "is a truth value"),
        ("AddMode", {"path": [], "name": 3}, "is a text"),
    ],
)
def test_an_edit_that_makes_no_sense_is_refused(
    kind: str, given: dict[str, object], words: str
) -> None:
    from workbench import RequestError

    with pytest.raises(RequestError, match=words):
        drawing.visual_edit(kind, given)


def test_an_edit_from_plain_data() -> None:
    found = drawing.visual_edit("AddMode", {"path": ["A", "top"], "name": "x"})
    assert found == drawing.AddMode(("A", "top"), "x")
