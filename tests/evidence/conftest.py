"""Small automata whose invariants are known by hand, as fixtures."""

from __future__ import annotations

import pytest

from tests.support import known_invariants
from workbench.models.automaton import HybridAutomaton


@pytest.fixture
def disturbed_decay() -> HybridAutomaton:
    return known_invariants.disturbed_decay()


@pytest.fixture
def corner() -> HybridAutomaton:
    return known_invariants.corner()


@pytest.fixture
def sawtooth() -> HybridAutomaton:
    return known_invariants.sawtooth()


@pytest.fixture
def sinking() -> HybridAutomaton:
    return known_invariants.sinking()
