"""Pictures: well-formed, complete, and harmless whatever the names are."""

from __future__ import annotations

from xml.dom import minidom

import pytest

from workbench.models.agents.hierarchy import (
    Access,
    Agent,
    AgentInstance,
    Declaration,
    Mode,
    ModeInstance,
)
from workbench.models.automaton import (
    REAL,
    Constraint,
    Edge,
    HybridAutomaton,
    Initial,
    Kind,
    Location,
    Range,
    Variable,
)
from workbench.models.catalogue import entries
from workbench.models.expressions.expression import constant, variable
from workbench.models.load import load
from workbench.reports.pictures.diagram import draw_agent, draw_automaton
from workbench.reports.pictures.svg import columns, cut, document


def element_names(svg: str) -> list[str]:
    return [node.tagName for node in minidom.parseString(svg).getElementsByTagName("*")]


@pytest.mark.parametrize("name", [entry.name for entry in entries()])
def test_every_library_model_can_be_drawn(name: str) -> None:
    model = load(name)
    assert model.agent is not None
    for svg in (draw_agent(model.agent, title=name), draw_automaton(model.automaton)):
        assert element_names(svg)[0] == "svg"
        assert "nan" not in svg and "inf" not in svg.replace("inflow", "").replace("infus", "")


def test_hostile_names_are_escaped() -> None:
    hostile = '</text><script>alert("x")</script>&amp;<!--'
    automaton = HybridAutomaton(
        hostile,
        (Variable("x"),),
        (Location(hostile, (Constraint("x", Range.exactly(constant(1))),)),),
        (Edge(hostile, hostile, label=hostile),),
        (Initial(hostile, variable("x") >= 0),),
    )
    svg = draw_automaton(automaton)
    assert "script" not in element_names(svg)
    assert hostile not in svg


def test_long_text_is_cut_and_kept_for_hovering() -> None:
    line = cut("x" * 500, 40)
    assert columns(line.text) <= 40
    assert line.text.endswith("…")
    assert line.full == "x" * 500
    assert cut("short", 40).full is None
    assert columns(cut("漢" * 100, 40).text) <= 40


def test_depth_is_no_problem() -> None:
    mode = Mode("Inner")
    for level in range(300):
        mode = Mode(f"M{level}", submodes=(ModeInstance("inner", mode),))
    agent = Agent("A", top=mode)
    for level in range(300):
        agent = Agent(f"A{level}", agents=(AgentInstance("inner", agent),))
    assert element_names(draw_agent(agent, title="deep"))[0] == "svg"


def test_width_is_no_problem() -> None:
    declared = (Declaration("x", REAL, Kind.ANALOG, Access.WRITE),)
    part = Agent("P", declared, top=Mode("T"))
    many = Agent("Many", agents=tuple(AgentInstance(f"p[{i}]", part) for i in range(2000)))
    svg = draw_agent(many, title="wide")
    assert "1999 more agents" in svg
    locations = tuple(Location(f"l{i}") for i in range(3000))
    edges = tuple(Edge(f"l{i}", f"l{i + 1}") for i in range(2999))
    big = HybridAutomaton("big", (), locations, edges, (Initial("l0"),))
    assert "60 of 3000 locations are drawn" in draw_automaton(big)


def test_what_keeps_its_value_is_not_written_on_arrows() -> None:
    kept = Constraint("x", Range.exactly(variable("x")))
    changed = Constraint("y", Range.exactly(constant(3)))
    automaton = HybridAutomaton(
        "a",
        (Variable("x"), Variable("y")),
        (Location("l"),),
        (Edge("l", "l", resets=(kept, changed)),),
    )
    svg = draw_automaton(automaton)
    assert "y&#x27; = 3" in svg
    assert "x = x" not in svg


def test_arrows_show_who_writes_for_whom() -> None:
    model = load("platoon_paper")
    assert model.agent is not None
    svg = draw_agent(model.agent, title="platoon_paper")
    for label in ("velFirst → velFront", "velOther", "dist", "acc", "vel"):
        assert f">{label}</text>" in svg


def test_the_document_carries_its_own_style_and_no_address() -> None:
    svg = document(load_figure(), "title & more")
    assert "prefers-color-scheme: dark" in svg
    assert "<title>title &amp; more</title>" in svg
    assert svg.count("http") == 1  # the namespace


def load_figure():  # type: ignore[no-untyped-def]
    from workbench.reports.pictures.diagram_parts import start_point

    return start_point()
