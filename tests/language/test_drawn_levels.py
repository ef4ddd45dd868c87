"""What the diagrams of a model show: identities by name, places for everything, broken models."""

from __future__ import annotations

from pathlib import Path

import pytest
from charon_texts import HIGHWAY, PENDULUM
from shown_models import FILE, project_of

from workbench.models.language.drawing.diagram import Diagram, diagram
from workbench.models.language.drawing.locating import Located, locate
from workbench.models.language.drawing.sources import Sources
from workbench.models.language.editor.project import project
from workbench.models.language.editor.text import read_text
from workbench.models.source import ModelError, Span

LIBRARY = Path(__file__).resolve().parents[2] / "models" / "library"


def level(text: str, *path: str) -> Diagram:
    return diagram(Sources(project_of(text)), path)


def cut(text: str, span: Span) -> str:
    """What stands at a place of a text."""
    lines = text.split("\n")
    inside = lines[span.line - 1 : span.end_line]
    inside[-1] = inside[-1][: span.end_column - 1]
    inside[0] = inside[0][span.column - 1 :]
    return "\n".join(inside)


def words(text: str) -> str:
    """A text without its blanks."""
    return "".join(text.split())


def test_an_agent_shows_its_parts_variables_and_who_shares_which() -> None:
    shown = level(HIGHWAY, "Highway")
    assert [n.id for n in shown.nodes] == [
        "variable:velFirst",
        "variable:velOther",
        "variable:dist",
        "agent:front",
        "agent:follower",
        "agent:distance",
    ]
    assert {(e.id, e.source, e.target, e.name) for e in shown.edges} == {
        ("share:front.vel", "agent:front", "variable:velFirst", "vel := velFirst"),
        ("share:follower.vel", "agent:follower", "variable:velOther", "vel := velOther"),
        ("share:follower.velFront", "variable:velFirst", "agent:follower", "velFront := velFirst"),
        ("share:follower.dist", "variable:dist", "agent:follower", None),
        ("share:distance.dist", "agent:distance", "variable:dist", None),
        ("share:distance.velFirst", "variable:velFirst", "agent:distance", None),
        ("share:distance.velOther", "variable:velOther", "agent:distance", None),
    }
    follower = shown.node("agent:follower")
    assert follower is not None and follower.definition == "Platoon" and follower.enterable
    assert ("assert", 'assert "no collision" { dist > 0 }') in [
        (p.kind, p.text) for p in shown.parts
    ]
    assert [c.path for c in shown.breadcrumb] == [(), ("Highway",)]


def test_a_mode_shows_its_submodes_points_and_transitions() -> None:
    shown = level(PENDULUM, "Pendulum", "sup", "top", "untrusted")
    assert [n.id for n in shown.nodes] == [
        "init",
        "entry:start",
        "mode:exp",
        "mode:base",
        "exit:fail",
    ]
    assert [(e.id, e.source, e.target, e.guard, e.reset) for e in shown.edges] == [
        ("start->base", "entry:start", "mode:base", "true", ()),
        ("base->exp", "mode:base", "mode:exp", "th <= 0.05 && th >= -0.05", ("tries = tries + 1",)),
        ("exp->fail", "mode:exp", "exit:fail", "u > volt || u < -volt", ()),
        ("exp->base", "mode:exp", "mode:base", "tries > 3", ()),
    ]
    around = level(PENDULUM, "Pendulum", "sup", "top")
    resume = around.edge("safety->untrusted.default#resume")
    assert resume is not None and resume.target_point == "default" and resume.name == "resume"
    untrusted = around.node("mode:untrusted")
    assert untrusted is not None and untrusted.exits == ("fail",)
    assert (
        around.main == "Pendulum"
        and around.names == ("sup",)
        and around.names_of(untrusted) == ("sup", "untrusted")
    )
    law = around.node("mode:safety")
    assert law is not None and law.uses == 2


def test_ways_are_named_as_the_agent_knows_them_that_they_begin_with() -> None:
    text = (
        "mode On() { } mode Top() { mode on = On(); trans from init to on; }"
        " agent Part() { mode top = Top(); } agent Whole() { agent part = Part(); }"
    )
    for path, names in (
        (("Whole", "part", "top"), ("part",)),
        (("Part", "top"), ()),
        (("Top",), None),
    ):
        shown = diagram(Sources(project_of(text)), path)
        assert (shown.main, shown.names) == ("Whole", names)


def test_the_file_shows_its_definitions() -> None:
    shown = level(HIGHWAY)
    assert shown.kind == "file" and shown.path == ()
    assert [n.id for n in shown.nodes][:3] == ["mode:Track", "mode:TrackNear", "mode:ControllerTop"]
    assert diagram(Sources(project_of(HIGHWAY))).path == ("Highway",)
    assert diagram(Sources(project_of("mode Alone() { }"))).path == ()


@pytest.mark.parametrize("name", sorted(p.stem for p in LIBRARY.glob("*.charon")))
def test_every_level_of_the_library_has_distinct_identities_and_right_places(name: str) -> None:
    text = (LIBRARY / f"{name}.charon").read_text(encoding="utf-8")
    texts = {p.name: p.read_text(encoding="utf-8") for p in LIBRARY.glob("*.charon")}
    whole = project(read_text(FILE, text), lambda other: read_text(other, texts[other]))
    texts[FILE] = text
    sources = Sources(whole)
    assert sources.main is not None
    queue = [(sources.main.name.name,), ()]
    seen = 0
    for path in queue:
        shown = diagram(sources, path)
        seen += 1
        ids = [n.id for n in shown.nodes] + [e.id for e in shown.edges]
        assert len(ids) == len(set(ids))
        assert {e.source for e in shown.edges} <= {n.id for n in shown.nodes}
        assert {e.target for e in shown.edges} <= {n.id for n in shown.nodes}
        for node in shown.nodes:
            assert node.kind != "missing"
            if node.name_span is not None:
                assert cut(texts[node.name_span.file], node.name_span) == node.reference
            for part in node.parts if node.kind != "variable" else ():
                assert words(cut(texts[part.span.file], part.span)).startswith(words(part.text)[:3])
        for edge in shown.edges:
            if edge.kind == "transition":
                assert "trans" in cut(texts[edge.span.file], edge.span)
        if path and len(path) < 6:
            queue += [(*path, n.reference) for n in shown.nodes if n.enterable]
    assert seen > 2


def test_models_with_mistakes_are_shown_as_far_as_they_can_be_read() -> None:
    text = """\
mode Loop() { mode again = Loop(); trans from init to nowhere when x > 1; trans from a.b to again; }
agent Main() {
  private real x, x;
  agent part = Unknown(1) [ y := x ];
  agent part = Main();
}
"""
    mode = level(text, "Loop")
    assert [n.id for n in mode.nodes] == ["init", "mode:again", "missing:nowhere", "missing:a"]
    deep = level(text, "Loop", "again", "again", "again")
    assert deep.definition == "Loop" and len(deep.breadcrumb) == 5
    agent = level(text, "Main")
    assert [n.id for n in agent.nodes] == [
        "variable:x",
        "variable:x~2",
        "agent:part",
        "agent:part~2",
    ]
    part = agent.node("agent:part")
    assert part is not None and not part.enterable
    assert level("").nodes == ()


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (("Highwai",), "there is no agent or mode `Highwai`"),
        (("Highway", "followr"), "agent `Highway` has no part `followr`"),
    ],
)
def test_a_path_that_leads_nowhere_is_refused(path: tuple[str, ...], message: str) -> None:
    with pytest.raises(ModelError) as refused:
        level(HIGHWAY, *path)
    (finding,) = refused.value.diagnostics
    assert (
        finding.message == message and finding.hint is not None and "did you mean" in finding.hint
    )


def test_equal_transitions_are_told_apart_and_several_sources_are_several_edges() -> None:
    text = """\
mode A() { }
mode M() {
  mode a = A();
  mode b = A();
  trans from a, b to a when 1 > 0;
  trans from a to a;
}
"""
    shown = level(text, "M")
    assert [e.id for e in shown.edges] == ["a->a", "b->a", "a->a~2"]
    assert shown.edges[0].span == shown.edges[1].span != shown.edges[2].span


def place_of(text: str, words: str) -> tuple[int, int]:
    at = text.index(words)
    return text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (
            "trans #far",
            Located(("Highway", "follower", "controller", "top"), "previous->optimal#far"),
        ),
        ("mode optimal =", Located(("Highway", "follower", "controller", "top"), "mode:optimal")),
        ("velOther, dist;", Located(("Highway",), "variable:velOther")),
        ('assert "no collision" {', Located(("Highway",), None)),
        ("const real eps", Located((), None)),
    ],
)
def test_a_place_of_the_text_is_found_in_the_diagrams(words: str, wanted: Located) -> None:
    assert locate(Sources(project_of(HIGHWAY)), place_of(HIGHWAY, words)) == wanted


def test_a_definition_used_twice_is_shown_where_one_is_looking() -> None:
    sources = Sources(project_of(PENDULUM))
    place = place_of(PENDULUM, "alge { u == k1*x")
    assert locate(sources, place).path == ("Pendulum", "sup", "top", "safety")
    near = ("Pendulum", "sup", "top", "untrusted", "base")
    assert locate(sources, place, near).path == near
    alone = locate(Sources(project_of("mode A() { }\nagent B() { }")), (1, 3))
    assert alone.path == ("A",)


def test_imported_definitions_are_shown_with_the_file_they_are_in() -> None:
    parts = read_text("parts.charon", "mode Engine() { entry start; }\n")
    main = read_text(FILE, 'import "parts.charon";\nagent Car() { mode top = Engine(); }\n')
    sources = Sources(project(main, lambda name: parts if name == "parts.charon" else None))
    inside = diagram(sources, ("Car", "top"))
    assert inside.span is not None and inside.span.file == "parts.charon"
    assert [n.id for n in inside.nodes] == ["init", "entry:start"]
