"""Abstract counterexamples show where a search for violations may begin."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from workbench.abstraction.predicates.refinement_history import PathStep, RefinementRound
from workbench.abstraction.predicates.seeds import seeds_of
from workbench.abstraction.strategies.strategy import HISTORY_READER, SEEDS, Task
from workbench.abstraction.verification import deadline, strategy, verify
from workbench.models.linear import Form
from workbench.models.load import load
from workbench.models.verdict import Falsified
from workbench.simulate.inputs.signals import Steps
from workbench.simulate.recipe import Recipe
from workbench.simulate.search.falsification import Budget, Options, falsify
from workbench.simulate.search.objective import Objective
from workbench.simulate.search.search_space import SearchSpace, Shape

TIGHT = """
mode Top() { write analog real x, y; diff { d(x) == -x; d(y) == 0; } }
agent Hill() {
  private analog real x in [0, 100], y in [0, 100];
  mode top = Top();
  assert "no needle" { x > 42 || x < 41 || y > 73 || y < 72.5 }
}
"""

SWING = """
mode Top() { write analog real x, y; diff { d(x) == y; d(y) == -x - x*x*x; } }
agent Swing() {
  private analog real x in [0.9, 1], y = 0;
  mode top = Top();
  assert "within" { x <= 1.001 }
}
"""
"""Safe by conservation of energy, which no polyhedron shows."""


def test_a_seed_lies_in_the_first_cell_and_in_the_initial_set() -> None:
    automaton = load("platoon_saturated").automaton
    rounds: list[RefinementRound] = []
    task = Task(automaton, automaton.properties[0], deadline(30), options={})
    strategy("abstraction").attempt(
        Task(automaton, task.claim, deadline(30), options={HISTORY_READER: rounds.extend})
    )
    paths = [r.path for r in rounds if r.path]
    assert paths
    seeds = seeds_of(automaton, rounds)
    assert seeds
    cells = [path[0] for path in paths]
    for seed in seeds:
        values = {n: Fraction(v) for n, v in seed.initial.items()}  # type: ignore[arg-type]
        assert 20 <= values["dist"] <= 100
        assert 15 <= values["velFirst"] <= 18
        assert any(
            step.location == seed.location
            and all(_value(form, values) <= Fraction(1, 10**6) for form in step.cell)
            for step in cells
        )


def _value(form: Form, values: dict[str, Fraction]) -> Fraction:
    return form.constant + sum(a * values[n] for n, a in form.coefficients.items())


def test_a_path_without_a_real_start_gives_no_seed() -> None:
    automaton = load("platoon_paper").automaton
    nowhere = PathStep("optimal", (Form({"dist": Fraction(1)}, Fraction(5)),), "start")
    assert seeds_of(automaton, [RefinementRound(1, 1, (nowhere,))]) == ()
    assert seeds_of(automaton, [RefinementRound(1, 1)]) == ()


def test_a_search_looks_at_its_seeds_first(tmp_path: Path) -> None:
    path = tmp_path / "hill.charon"
    path.write_text(TIGHT, encoding="utf-8")
    automaton = load(path).automaton
    claim = automaton.properties[0]
    (start,) = automaton.initial_sets()
    seed = Recipe(until=1.0, initial={"x": 41.7, "y": 72.7}, location=start.location)
    options = Options(rigorous=(), seeds=(seed,))
    found = falsify(automaton, claim, Budget(10), options).found
    assert found is not None
    task = Task(automaton, claim, deadline(20), options={SEEDS: (seed,), "simulations": 10})
    assert isinstance(strategy("simulation").attempt(task), Falsified)


@pytest.mark.slow
def test_verify_hands_abstract_paths_to_whoever_listens(tmp_path: Path) -> None:
    path = tmp_path / "swing.charon"
    path.write_text(SWING, encoding="utf-8")
    automaton = load(path).automaton
    told: list[RefinementRound] = []
    task = Task(automaton, automaton.properties[0], generosity=0.05)
    verify(replace(task, options={HISTORY_READER: told.extend}))
    assert any(r.path for r in told)


def test_the_point_of_a_recipe_is_the_point_it_came_from() -> None:
    automaton = load("automatic_transmission_low").automaton
    objective = Objective(automaton, automaton.properties[0])
    space = SearchSpace(objective.prepared(), Shape(30.0, 4))
    x = [0.25, 0.5, 0.75, 1.0, 0.0, 0.125, 0.375, 0.625]
    recipe = space.recipe(x)
    assert space.point(recipe) == x
    finer = SearchSpace(objective.prepared(), Shape(30.0, 8))
    lifted = finer.point(recipe)
    assert lifted is not None
    assert finer.recipe(lifted).inputs["throttle"] == Steps(
        tuple(30.0 * i / 8 for i in range(8)), tuple(v for v in x[:4] for _ in range(2))
    )
