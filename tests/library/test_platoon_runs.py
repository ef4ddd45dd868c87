"""The whole platoon in simulation: its front switches as it suits a search for collisions."""

from __future__ import annotations

from collections import Counter

import pytest

from workbench.models.load import load
from workbench.models.trace import Ending, Trace
from workbench.simulate.recipe import Recipe
from workbench.simulate.search.falsification import Budget, Options, Outcome, falsify
from workbench.simulate.search.objective import Objective, Score


def searched(
    monkeypatch: pytest.MonkeyPatch, name: str, runs: int, until: float
) -> tuple[Outcome, Counter[Ending]]:
    """A search for collisions, and how all of its runs ended."""
    endings: Counter[Ending] = Counter()
    score = Objective.score

    def noting(objective: Objective, recipe: Recipe, trace: Trace) -> Score:
        endings[trace.outcome.ending] += 1
        return score(objective, recipe, trace)

    monkeypatch.setattr(Objective, "score", noting)
    automaton = load(name).automaton
    claim = next(p for p in automaton.properties if p.name == "no collision")
    return falsify(automaton, claim, Budget(runs), Options(until=until)), endings


def test_no_run_of_the_whole_platoon_is_blocked_or_collides(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    outcome, endings = searched(monkeypatch, "platoon", 200, 20.0)
    assert outcome.found is None and outcome.robustness > 3.9
    assert endings.total() >= 200
    assert set(endings) == {Ending.HORIZON}


@pytest.mark.slow
def test_none_of_ten_thousand_runs_is_blocked_or_collides(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Some few switch more often than the search follows."""
    outcome, endings = searched(monkeypatch, "platoon", 10_000, 60.0)
    assert outcome.found is None
    assert outcome.robustness == pytest.approx(3.985, abs=0.01)
    assert endings.total() >= 10_000
    assert set(endings) <= {Ending.HORIZON, Ending.JUMP_LIMIT}
    assert endings[Ending.HORIZON] >= 9_900


@pytest.mark.parametrize(
    "twin", ["platoon_weak", "platoon_late", "platoon_short", "platoon_noisy_far"]
)
def test_runs_of_its_twins_collide(monkeypatch: pytest.MonkeyPatch, twin: str) -> None:
    assert searched(monkeypatch, twin, 300, 20.0)[0].found is not None


@pytest.mark.parametrize("twin", ["platoon_lagging_far", "platoon_digital_slow"])
def test_runs_of_late_answers_collide(monkeypatch: pytest.MonkeyPatch, twin: str) -> None:
    assert searched(monkeypatch, twin, 300, 20.0)[0].found is not None
