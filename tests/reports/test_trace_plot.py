"""Plots of traces: several variables in a panel, bounds of properties, names that do not collide."""

from __future__ import annotations

import re
from itertools import combinations
from xml.etree import ElementTree

import pytest

from workbench.models.load import load, load_text
from workbench.models.trace import Trace
from workbench.reports.claims.property_bounds import PropertyBound, property_bounds
from workbench.reports.pictures.trace_plot import LETTER, Panel, plot
from workbench.simulate.many_runs import RunMaker
from workbench.simulate.recipe import Recipe

SVG = "{http://www.w3.org/2000/svg}"


def run(name: str, until: float) -> Trace:
    return RunMaker(load(name).automaton, Recipe(until=until), None).trace(0)


def texts(svg: str, role: str) -> list[ElementTree.Element]:
    return [e for e in ElementTree.fromstring(svg).iter(f"{SVG}text") if e.get("class") == role]


def test_panels_as_users_write_them() -> None:
    assert Panel.read("x") == Panel(("x",))
    assert Panel.read("x+y.z[1]") == Panel(("x", "y.z[1]"))
    assert Panel.read("x:y") == Panel(("y",), "x")


def test_bounds_of_properties() -> None:
    assert property_bounds(load("leaky_tank").automaton) == (
        PropertyBound("level between the marks", "level", float("-inf"), 5.0),
        PropertyBound("level between the marks", "level", 10.0, float("inf")),
    )
    blind = load_text(
        "mode M() { write analog real x, y; diff { d(x) == 1; d(y) == 1; } }"
        " agent A() { private analog real x, y; init { x = 0; y = 0; } mode top = M();"
        ' assert "both" { x + y <= 3 } assert "odd" { x*y <= 1 } }'
    )
    assert property_bounds(blind.automaton) == ()


def test_bounds_are_drawn_and_named() -> None:
    bounds = property_bounds(load("leaky_tank").automaton)
    svg = plot([run("leaky_tank", 20.0)], ["level"], "tank", (), bounds)
    assert [e.text for e in texts(svg, "bound")] == ["level between the marks"] * 2
    assert svg.count('class="broken"') == 2 and svg.count('class="edge"') == 2
    apart = [PropertyBound("hot", "level", 14.9, float("inf"))]  # the runs cover 5 to 10
    assert "hot" in plot([run("leaky_tank", 20.0)], ["level"], "tank", (), apart)
    far = [PropertyBound("far", "level", 1000.0, float("inf"))]
    assert "far" not in plot([run("leaky_tank", 20.0)], ["level"], "tank", (), far)


def test_several_variables_in_one_panel() -> None:
    svg = plot([run("platoon_paper", 15.0)], ["velFirst+velOther"], "platoon_paper")
    (name,) = texts(svg, "name")
    assert [part.text for part in name] == ["velFirst", "velOther"]
    assert len(re.findall(r'class="run s[01]"', svg)) == 2


@pytest.mark.parametrize(("name", "until"), [("leaky_tank", 60.0), ("platoon_paper", 18.0)])
def test_names_of_transitions_do_not_collide(name: str, until: float) -> None:
    svg = plot([run(name, until)], [load(name).automaton.variables[0].name], name)
    places = [
        (float(e.get("x", 0)), float(e.get("y", 0)), len(e.text or "")) for e in texts(svg, "label")
    ]
    assert len(places) >= 2
    for (x, y, n), (other_x, other_y, m) in combinations(places, 2):
        assert y != other_y or x + LETTER * n < other_x or other_x + LETTER * m < x
