"""No method verifies what some run breaks, or falsifies what holds, however small the difference."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from tests.support.hand_decided import PAIRS
from workbench.abstraction.strategies.strategy import Task
from workbench.abstraction.verification import STRATEGIES, deadline, verify
from workbench.models.automaton import Automaton
from workbench.models.load import load
from workbench.models.verdict import Falsified, Verdict, Verified

QUICK = 0.4
LONG = 3.0
METHODS = (*STRATEGIES, "auto")


def model(folder: Path, text: str) -> Automaton:
    path = folder / "model.charon"
    path.write_text(text, encoding="utf-8")
    return load(path).automaton


def decided(automaton: Automaton, method: str, seconds: float, horizon: str | None) -> Verdict:
    options = {} if horizon is None else {"horizon": Fraction(horizon)}
    (claim,) = (p for p in automaton.properties if p.name == "claim")
    return verify(Task(automaton, claim, deadline(seconds), options=options), method)


def judge(folder: Path, name: str, methods: tuple[str, ...], seconds: float) -> None:
    pair = PAIRS[name]
    safe, unsafe = model(folder, pair.safe), model(folder, pair.unsafe)
    for method in methods:
        found = decided(safe, method, seconds, pair.horizon)
        assert not isinstance(found, Falsified), f"{method} falsifies what holds"
        found = decided(unsafe, method, seconds, pair.horizon)
        assert not isinstance(found, Verified), f"{method} verifies what a run breaks"


@pytest.mark.parametrize("name", PAIRS)
def test_verdicts_are_right(name: str, tmp_path: Path) -> None:
    """By the two methods that meet every kind of model, and by another one in turn."""
    others = [m for m in STRATEGIES if m not in ("simulation", "rectangular")]
    other = others[list(PAIRS).index(name) % len(others)]
    judge(tmp_path, name, ("rectangular", "simulation", other), QUICK)


@pytest.mark.slow
@pytest.mark.parametrize("name", PAIRS)
def test_verdicts_are_right_by_all_methods(name: str, tmp_path: Path) -> None:
    judge(tmp_path, name, METHODS, LONG)


DECIDED = ("touched", "strict guard", "urgent edge that is blocked", "between two jumps", "history")


@pytest.mark.parametrize("name", DECIDED)
def test_both_of_a_pair_are_decided(name: str, tmp_path: Path) -> None:
    """The corpus is no list of models that nobody understands."""
    pair = PAIRS[name]
    assert isinstance(decided(model(tmp_path, pair.safe), "auto", 20, None), Verified)
    assert isinstance(decided(model(tmp_path, pair.unsafe), "auto", 20, None), Falsified)
