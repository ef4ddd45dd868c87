"""Predicate abstraction: the graph over-approximates runs, and proves what it can."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import networkx
import pytest

from workbench.abstraction.predicates.predicate_abstraction import PredicateAbstraction, abstract
from workbench.abstraction.predicates.predicates import (
    Origin,
    Predicate,
    distinct,
    in_words,
    normalised,
)
from workbench.abstraction.predicates.refinement_history import RefinementRound
from workbench.abstraction.strategies.strategy import GRAPH_READER, HISTORY_READER, PREDICATES, Task
from workbench.abstraction.verification import deadline, strategy
from workbench.models.automaton import (
    Constraint,
    Edge,
    HybridAutomaton,
    Initial,
    Location,
    Property,
    Range,
    Variable,
)
from workbench.models.evidence.polyhedral import PolyhedralProof
from workbench.models.expressions.text import parse_expression
from workbench.models.linear import Form
from workbench.models.load import load
from workbench.models.lowering.problem import linear_problem
from workbench.models.verdict import Falsified, Verified
from workbench.reports.pictures.abstract_graph import WRITERS


def rectangle_walker() -> HybridAutomaton:
    """x rises to 2, then falls to 1, for ever."""

    def location(name: str, slope: str, stays: str) -> Location:
        flow = Constraint("x", Range.exactly(parse_expression(slope)))
        return Location(name, (flow,), (), parse_expression(stays))

    return HybridAutomaton(
        name="walker",
        variables=(Variable("x"),),
        locations=(location("up", "1", "x <= 2"), location("down", "-1", "x >= 1")),
        edges=(
            Edge("up", "down", parse_expression("x >= 2")),
            Edge("down", "up", parse_expression("x <= 1")),
        ),
        initial=(Initial("up", parse_expression("x >= 1 && x <= 3/2")),),
        properties=(
            Property("safe", parse_expression("x > 0")),
            Property("unsafe", parse_expression("x <= 7/4")),
        ),
    )


def test_the_walker_is_proved() -> None:
    model = rectangle_walker()
    task = Task(model, model.properties[0], deadline(60))
    verdict = strategy("abstraction").attempt(task)
    assert isinstance(verdict, Verified)
    assert verdict.effort.counts["abstract states"] >= 2


def test_a_broken_property_is_refuted_by_a_run() -> None:
    model = rectangle_walker()
    task = Task(model, model.properties[1], deadline(60))
    verdict = strategy("abstraction").attempt(task)
    assert isinstance(verdict, Falsified)
    assert verdict.confirmations
    assert verdict.method == "abstraction"


def test_the_path_that_was_not_excluded_is_told() -> None:
    model = rectangle_walker()
    result = abstract(linear_problem(model, model.properties[1]), PredicateAbstraction())
    assert result.proof is None
    assert "by the path up" in result.reason
    assert "x >= 7/4" in result.reason
    (first, *_) = result.history
    assert [r.number for r in result.history] == list(range(1, len(result.history) + 1))
    assert first.path[0].entered == "start"
    assert first.path[0].location == "up"
    assert "x >= 7/4" in first.path[-1].comparisons


def test_the_history_is_handed_out() -> None:
    model = load("thermostat_timer").automaton
    told: list[tuple[RefinementRound, ...]] = []
    task = Task(model, model.properties[0], deadline(60), options={HISTORY_READER: told.append})
    assert isinstance(strategy("abstraction").attempt(task), Verified)
    (history,) = told
    learned = [p for r in history for p in r.learned]
    assert learned
    assert {p.location for p in learned} <= {"heat", "cool", "check"}
    assert all(p.origin is Origin.REFINED for p in learned)


def test_predicates_of_the_user_count_and_the_graph_is_handed_out() -> None:
    model = rectangle_walker()
    graphs: list[networkx.MultiDiGraph] = []
    options = {PREDICATES: (parse_expression("x >= 3/2"),), GRAPH_READER: graphs.append}
    task = Task(model, model.properties[0], deadline(60), options=options)
    verdict = strategy("abstraction").attempt(task)
    assert isinstance(verdict, Verified)
    assert verdict.effort.counts["predicates given"] == 1
    (graph,) = graphs
    data = json.loads(WRITERS[".json"](graph))
    assert len(data["states"]) == verdict.effort.counts["abstract states"]
    assert {"up", "down"} == {state["location"] for state in data["states"]}
    assert WRITERS[".dot"](graph).count("->") >= 2
    assert WRITERS[".svg"](graph).startswith("<svg")


def test_the_graph_shows_the_parts_of_the_proof() -> None:
    """Every comparison of the certificate is in the data; pictures have the first ones."""
    model = load("thermostat_timer").automaton
    graphs: list[networkx.MultiDiGraph] = []
    task = Task(model, model.properties[0], deadline(60), options={GRAPH_READER: graphs.append})
    verdict = strategy("abstraction").attempt(task)
    assert isinstance(verdict, Verified)
    proof = verdict.certificate.proof
    assert isinstance(proof, PolyhedralProof)
    (graph,) = graphs
    states = json.loads(WRITERS[".json"](graph))["states"]
    reached = [state for state in states if state["reached"]]
    assert len(reached) == sum(len(region.cells) for region in proof.regions)
    wanted = sorted(len(part) for region in proof.regions for part in region.parts)
    assert sorted(len(state["part"]) for state in reached) == wanted
    assert any("temp" in text for state in reached for text in state["part"])
    assert not any(state["bad"] for state in states)
    for ending in (".dot", ".svg"):
        assert "temp" in WRITERS[ending](graph)


def test_leaky_tank_is_proved() -> None:
    model = load("leaky_tank").automaton
    task = Task(model, model.properties[0], deadline(60))
    assert isinstance(strategy("abstraction").attempt(task), Verified)


def test_words_of_predicates() -> None:
    form = normalised(Form({"x": Fraction(-2), "y": Fraction(1)}, Fraction(4)))
    assert form is not None
    assert in_words(form, 1) == "x - 1/2*y <= 2"
    assert in_words(form, -1) == "x - 1/2*y >= 2"
    twice = Predicate(form, Origin.MINED), Predicate(form, Origin.GIVEN)
    assert distinct(twice) == (twice[0],)


# The published run on the platoon


@pytest.mark.parametrize("slices", [None, 0.1])
@pytest.mark.parametrize("front", ["0, 0", "-1, 1", "-5, 3"])
def test_whole_cells_of_the_published_run(tmp_path: Path, front: str, slices: float | None) -> None:
    """The listed predicates with those of guards and invariants, nothing learned: as many
    abstract states as published, but two of them are close: a cell such as 2 <= dist <= 10
    holds states that collide, whatever the front car does. Slices cannot exclude that."""
    source = Path(__file__).parents[2] / "models" / "library" / "platoon_paper.charon"
    given = tuple(
        parse_expression(text) for text in ("dist <= 0", "dist >= 2", "dist >= 10", "dist >= 20")
    )
    file = tmp_path / "platoon.charon"
    file.write_text(f"{source.read_text()}\nsystem Highway({front});\n")
    model = load(str(file)).automaton
    problem = linear_problem(model, model.properties[0])
    result = abstract(problem, PredicateAbstraction(given=given, refine=False, slices=slices))
    assert result.proof is None
    assert result.graph is not None
    assert len(result.graph.found) == 14
    close = [s for s in result.graph.found if "dist <= 2," in result.graph.in_words(s)]
    assert len(close) == 2
    assert "by the path" in result.reason
