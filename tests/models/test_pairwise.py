"""What is said of all pairs: one pattern, equal to the conjunction that it stands for."""

from __future__ import annotations

from itertools import combinations

import pytest
from charon_texts import automaton_of, diagnostics

from workbench.models.expressions.expression import conjunction, variable
from workbench.models.expressions.pairwise import Pairwise
from workbench.models.expressions.text import parse_expression
from workbench.models.expressions.traversal import conjuncts, free_variables, substitute
from workbench.models.interchange.json_model import from_json, to_json
from workbench.simulate.agents.asynchronous import simulate_agents
from workbench.simulate.run import simulate

FLEET = """
mode Rolling(real v) { write analog real x; diff { d(x) == v; } }
agent Car(int i) {
  private analog real x = 10*i;
  private discrete real mass = i;
  mode top = Rolling(CLAIM_SPEED);
}
agent Road() {
  private discrete real room = 1;
  agent car[i in 1..6] = Car(i);
  assert "apart" { CLAIM }
}
"""
PAIRS = "forall i in 1..5 : forall j in i + 1..6 : "


def road(claim: str, speed: str = "1"):
    text = FLEET.replace("CLAIM_SPEED", speed).replace("CLAIM", claim)
    assert not [d for d in diagnostics(text) if d.severity == "error"]
    return automaton_of(text)


def unrolled(body: str):
    """The conjunction written out, pair by pair."""
    return conjunction(
        *(
            parse_expression(body.replace("[i]", f"[{i}]").replace("[j]", f"[{j}]"))
            for i, j in combinations(range(1, 7), 2)
        )
    )


def looked_at(given: Pairwise) -> bool:
    """Whether the arguments have been made."""
    try:
        object.__getattribute__(given, "args")
    except AttributeError:
        return False
    return True


@pytest.mark.parametrize(
    "body",
    [
        "car[j].x - car[i].x >= room",
        "car[i].x + 1 <= car[j].x && car[j].mass - car[i].mass >= 1",
        "(car[i].x - car[j].x)^2 >= 0.5 || car[i].mass == car[j].mass",
    ],
)
def test_one_pattern_equal_to_what_it_stands_for(body: str) -> None:
    (claim,) = road(PAIRS + body).properties
    found, expected = claim.condition, unrolled(body)
    assert isinstance(found, Pairwise)
    assert free_variables(found) == free_variables(expected)
    assert found.depth == expected.depth
    assert not looked_at(found)
    assert found == expected and expected == found and hash(found) == hash(expected)
    assert conjuncts(found) == conjuncts(expected) and str(found) == str(expected)
    moved = {"car[2].x": variable("y")}
    assert substitute(found, moved) == substitute(expected, moved)


@pytest.mark.parametrize(
    "claim",
    [
        PAIRS + "car[j].x - car[i].x >= j - i",
        PAIRS + "car[j].x - car[i].mass >= 1",
        PAIRS + "car[i].x <= 100",
        PAIRS + "car[j].x - car[i].x >= car[1].x",
        "forall i in 1..5 : forall j in i + 1..i + 1 : car[i].x <= car[j].x",
        "forall i in 1..5 : forall j in 1..6 : car[i].x <= car[j].x + 100",
        "forall i in 1..4 : forall j in i + 1..6 : car[i].x <= car[j].x",
    ],
)
def test_what_is_no_pattern_of_all_pairs_is_unrolled(claim: str) -> None:
    (found,) = road(claim).properties
    assert not isinstance(found.condition, Pairwise)
    assert found.condition.args


@pytest.mark.parametrize(
    "claim",
    [
        PAIRS + "car[i].z <= car[j].x",
        PAIRS + "car[i].x + car[j].x",
        PAIRS + "car[i].x <= speed",
        "forall i in 1..5 : forall j in i + 1..many : car[i].x <= car[j].x",
    ],
)
def test_no_mistake_inside_is_reported_twice(claim: str) -> None:
    text = FLEET.replace("CLAIM_SPEED", "1").replace("CLAIM", claim)
    found = [(d.message, d.span) for d in diagnostics(text) if d.severity == "error"]
    assert found and len(set(found)) == len(found)


def test_files_say_it_pair_by_pair() -> None:
    model = road(PAIRS + "car[j].x - car[i].x >= room")
    assert from_json(to_json(model)) == model


def test_a_violation_is_found_by_pairs_and_in_the_product() -> None:
    """Car i starts at 10 i with speed 6 - i: the gap (j - i) (10 - t) becomes less than -0.5
    first between cars 1 and 6, at t = 10.1."""
    model = road(PAIRS + "car[j].x - car[i].x >= -0.5", speed="6 - i")
    found = model.properties[0].condition
    assert isinstance(found, Pairwise)
    apart = simulate_agents(model, until=20.0)
    assert not looked_at(found)
    together = simulate(model, until=20.0)
    for run in (apart, together):
        assert run.outcome.name == "apart"
        assert run.outcome.time == pytest.approx(10.1, abs=1e-6)
