"""A sample of the corpus of random hybrid automata is proved."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from abstraction.strategy import Task
from abstraction.verification import deadline, strategy
from models.verdict import Verified

CORPUS = Path(__file__).parents[1] / "benchmarks" / "invariant_corpus.py"


@pytest.fixture(scope="module")
def corpus() -> ModuleType:
    """The benchmark's module, loaded from its file."""
    spec = importlib.util.spec_from_file_location("invariant_corpus", CORPUS)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_most_of_a_sample_is_proved(corpus: ModuleType) -> None:
    """Two models of each family but the relays, of which none has been proved."""
    plants = [p for p in corpus.corpus(per_family=2) if "hysteresis" not in p.name]
    proved = 0
    for plant in plants:
        automaton = corpus.automaton_of(plant)
        task = Task(automaton, automaton.properties[0], deadline(20))
        proved += isinstance(strategy("template").attempt(task), Verified)
    assert proved > len(plants) / 2
