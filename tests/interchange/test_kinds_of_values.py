"""Values of a type: whole numbers are whole wherever they come from, and symbols are of their
enumeration. What is not so is refused, and what is left open is chosen so."""

from __future__ import annotations

import json
from typing import Any

import pytest

from workbench.models.automaton import Automaton
from workbench.models.interchange.json_model import from_json, to_json
from workbench.models.interchange.spaceex_import import import_spaceex
from workbench.models.load import load_text
from workbench.models.source import ModelError
from workbench.models.trace import Trace
from workbench.simulate.inputs.signals import Lines, Steps
from workbench.simulate.monitoring.run_check import RunCheck
from workbench.simulate.policy import Policy
from workbench.simulate.recipe import Recipe, read_recorded, recorded, repeat
from workbench.simulate.run import prepare, simulate

WHOLE = {"name": "k", "type": "int", "kind": "discrete"}
ANALOG = {"name": "k", "type": "int", "kind": "analog"}
LAMP = {"name": "k", "type": {"enum": ["red", "green"]}, "kind": "discrete"}


def exactly(name: str, value: str) -> dict[str, str]:
    return {"variable": name, "value": value}


def between(name: str, low: str, high: str) -> dict[str, str]:
    return {"variable": name, "low": low, "high": high}


def model(
    variable: dict[str, Any],
    *resets: dict[str, str],
    algebraic: tuple[dict[str, str], ...] = (),
    condition: str = "x == 0 && k == 0",
    entry: tuple[dict[str, str], ...] = (),
    **more: Any,
) -> Automaton:
    """x climbs to 1 again and again; k is set by the way."""
    edge = {
        "source": "a",
        "target": "a",
        "guard": "x >= 1",
        "resets": [*resets, exactly("x", "0")],
    }
    document = {
        "schema": "charon-workbench/automaton/1",
        "kind": "automaton",
        "name": "m",
        "variables": [{"name": "x"}, variable],
        "locations": [
            {
                "name": "a",
                "flows": [exactly("x", "1")],
                "invariant": "x <= 1",
                "algebraic": list(algebraic),
            }
        ],
        "edges": [edge],
        "initial": [{"location": "a", "condition": condition, "resets": list(entry)}],
        "properties": [{"name": "whole", "condition": "true"}],
        **more,
    }
    return from_json(json.dumps(document))


@pytest.mark.parametrize(
    "resets",
    [
        (exactly("k", "x/2"),),
        (exactly("k", "time"),),
        (exactly("h", "x/2"), exactly("k", "h'")),
        (between("h", "0", "1"), exactly("k", "h'")),
        (exactly("h", "1"), exactly("g", "h'/2"), exactly("k", "g'")),
        (exactly("h", "x > 0 ? 1 : x"), exactly("k", "h' + 1")),
        (exactly("k", "2^(1/2)"),),
        (exactly("k", "2^k"),),
        (exactly("k", "0.5*k*2"), exactly("h", "k'/2"), exactly("g", "h'")),
    ],
)
def test_fractions_do_not_become_whole_numbers(resets: tuple[dict[str, str], ...]) -> None:
    if resets[-1]["variable"] == "g":
        model(WHOLE, *resets)  # an auxiliary value that nothing whole reads may be a fraction
        return
    with pytest.raises(ModelError, match="whole number"):
        model(WHOLE, *resets)


@pytest.mark.parametrize("range_", [between("k", "0", "1"), between("k", "x", "x + 1")])
def test_an_equation_gives_a_whole_number_one_value(range_: dict[str, str]) -> None:
    with pytest.raises(ModelError, match="only a range"):
        model(ANALOG, algebraic=(range_,), condition="x == 0")
    assert model(ANALOG, algebraic=(exactly("k", "floor(x)"),), condition="x == 0")


def test_whole_numbers_do_not_flow() -> None:
    with pytest.raises(ModelError, match="only an equation may change it"):
        model(ANALOG)


@pytest.mark.parametrize("place", ["inputs", "parameters"])
def test_bounds_hold_a_whole_number(place: str) -> None:
    signal = {"name": "n", "type": "int", "low": "1/4", "high": "3/4"}
    with pytest.raises(ModelError, match="none is within its bounds"):
        model(WHOLE, exactly("k", "n"), **{place: [signal]})


@pytest.mark.parametrize("value", ['"blue"', 'x > 0 ? "red" : "blue"', "other"])
def test_symbols_are_of_their_enumeration(value: str) -> None:
    other = {"name": "other", "type": {"enum": ["green", "blue"]}}
    with pytest.raises(ModelError, match="of the type enum"):
        model(LAMP, exactly("k", value), condition='x == 0 && k == "red"', parameters=[other])
    same = {"name": "other", "type": {"enum": ["green"]}}
    assert model(LAMP, exactly("k", "other"), condition='k == "red"', parameters=[same])


def test_a_symbol_does_not_pass_through_an_auxiliary_name() -> None:
    with pytest.raises(ModelError, match="of the type enum"):
        model(LAMP, exactly("h", '"blue"'), exactly("k", "h'"), condition='k == "red"')


def runs(automaton: Automaton) -> list[Trace]:
    policies = [Policy(), *(Policy.random() for _ in range(8))]
    return [simulate(automaton, until=4, policy=p, seed=i) for i, p in enumerate(policies)]


@pytest.mark.parametrize(
    "automaton",
    [
        model(WHOLE, between("k", "1/4", "7/4")),
        model(WHOLE, between("k", "x/3", "3*x")),
        model(WHOLE, condition="x >= 0 && x <= 1 && k == x"),
        model(WHOLE, condition="x == 0", entry=(between("k", "-1/2", "5/2"),)),
        model(WHOLE, exactly("k", "n"), inputs=[{"name": "n", "type": "int", "low": 0, "high": 3}]),
        model(
            WHOLE, exactly("k", "n"), parameters=[{"name": "n", "type": "int", "low": 0, "high": 1}]
        ),
    ],
)
def test_whole_numbers_are_chosen_whole(automaton: Automaton) -> None:
    seen = set()
    for trace in runs(automaton):
        assert trace.outcome.completed, trace.outcome.sentence
        seen |= {segment.held["k"] for segment in trace.segments}
    assert all(value == round(value) for value in seen)
    assert seen & {0.0, 1.0, 2.0, 3.0}


def test_a_range_without_a_whole_number_leads_nowhere() -> None:
    (trace, *_) = runs(model(WHOLE, between("k", "1/4", "3/4")))
    assert not trace.outcome.completed


def test_runs_with_fractions_are_no_runs() -> None:
    signal = {"name": "n", "type": "int", "low": 0, "high": 3}
    automaton = model(WHOLE, exactly("k", "n"), inputs=[signal])
    prepared = prepare(automaton)
    for course, is_fine in (
        (Steps((0.0, 2.0), (1.0, 2.0)), True),
        (Steps((0.0, 2.0), (1.5, 2.0)), False),
        (Lines((0.0, 4.0), (1.0, 2.0)), False),
    ):
        trace = repeat(automaton, Recipe(until=0.5, inputs={"n": course}))
        problems = RunCheck(prepared).problems(trace, {"n": course})
        assert any("whole number" in p for p in problems) != is_fine


LOCAL = """
mode A() {
  write analog real x; private analog bool hot; private analog int k;
  diff { d(x) == 1; } alge { hot == (x > 1); k == floor(x); }
  mode w = W(); trans from default to w; exit done;
  trans #out from w to done when hot && k >= 1;
  inv { x <= 5 }
}
mode W() { write analog real x; inv { x <= 3 } }
mode B() { write analog real x; diff { d(x) == -1; } inv { x >= 0 } }
mode Top() {
  write analog real x; mode a = A(); mode b = B();
  trans from init to a; trans #go from a.done to b; trans #back from b to a when x <= 0;
}
agent Main() { private analog real x; init { x = 0; } mode top = Top(); assert "low" { x <= 6 } }
"""


def test_what_rests_has_a_value_of_its_type() -> None:
    automaton = load_text(LOCAL, "local.charon").automaton
    assert from_json(json.dumps(to_json(automaton))).sha256 == automaton.sha256


@pytest.mark.parametrize(
    ("declared", "equation", "code"),
    [
        ("analog int k;", "", "analog-type"),
        ("analog bool k;", "", "analog-type"),
        ("analog int k;", "alge { k in [0, 1]; }", "whole-range"),
    ],
)
def test_the_language_refuses_what_has_no_meaning(declared: str, equation: str, code: str) -> None:
    text = f"""
mode A() {{ write analog real x; write {declared} diff {{ d(x) == 1; }} {equation} }}
mode Top() {{ write analog real x; write {declared} mode a = A(); trans from init to a; }}
agent Main() {{ private analog real x = 0; private {declared} mode top = Top(); }}
"""
    with pytest.raises(ModelError) as caught:
        load_text(text, "kinds.charon")
    assert code in {d.code for d in caught.value.diagnostics}


SPACEEX = """<?xml version="1.0" encoding="iso-8859-1"?>
<sspaceex xmlns="http://www-verimag.imag.fr/xml-namespaces/sspaceex" version="0.2" math="SpaceEx">
<component id="m"><param name="x" type="real" local="false" d1="1" d2="1" dynamics="any"/>
<location id="1" name="a"><invariant>{invariant}</invariant><flow>x' == 1</flow></location>
<transition source="1" target="1"><guard>{guard}</guard></transition></component></sspaceex>
"""


@pytest.mark.parametrize("place", ["invariant", "guard", "initially", "forbidden"])
@pytest.mark.parametrize("written", ["x", "x + 1", "!x", "(x == 1) + 1 == 2"])
def test_numbers_are_no_conditions(place: str, written: str) -> None:
    said = {"invariant": "true", "guard": "true", "initially": "x == 0", "forbidden": "x == 9"}
    said[place] = written
    config = f'system = m\ninitially = "{said["initially"]}"\nforbidden = "{said["forbidden"]}"\n'
    with pytest.raises(ModelError) as caught:
        import_spaceex(SPACEEX.format_map(said).encode(), config, "m.xml")
    (found,) = caught.value.diagnostics
    assert found.code == "type-mismatch" and found.span is not None


@pytest.mark.parametrize("value", [float("inf"), float("nan"), "many"])
@pytest.mark.parametrize("field", ["max_steps", "order"])
def test_a_damaged_recipe_is_refused(field: str, value: object) -> None:
    automaton = model(WHOLE)
    recipe = Recipe(until=1)
    document = json.loads(recorded(repeat(automaton, recipe), recipe, automaton.sha256))
    document["recipe"]["method"][field] = value
    with pytest.raises(ModelError, match="damaged"):
        read_recorded(json.dumps(document))
