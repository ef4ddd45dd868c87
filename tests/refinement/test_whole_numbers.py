"""Integers, truth values and symbols in simulations: whole numbers with exact evidence."""

from __future__ import annotations

import pytest
from charon_texts import automaton_of

from workbench.abstraction.refinement.flat import Settings, refine
from workbench.abstraction.refinement.outcome import Refines
from workbench.models.automaton import Automaton

QUIET = Settings(refute=False, reach=False)
TEXT = """
mode Go() {{ write analog real x; diff {{ d(x) == {rate}; }} }}
mode Top() {{
  write analog real x; write discrete int n; write discrete bool b;
  write discrete enum {{ red, amber, green }} c;
  mode a = Go(); mode b = Go();
  trans from init to a;
  trans from a to b when {guard} do {{ {action} }}
}}
agent S() {{
  write analog real x; write discrete int n; write discrete bool b;
  write discrete enum {{ red, amber, green }} c;
  init {{ x = 0; n = 0; b = false; c = red; }} mode top = Top();
}}
"""


def system(guard: str = "true", action: str = "n = n + 1;", rate: str = "1") -> Automaton:
    return automaton_of(TEXT.format(guard=guard, action=action, rate=rate))


def proof_of(detailed: Automaton, simple: Automaton) -> Refines | None:
    found = refine(detailed, simple, ("x", "n", "b", "c"), QUIET)
    return found if isinstance(found, Refines) else None


@pytest.mark.parametrize(
    ("detailed", "simple"),
    [
        ("n > 1", "n >= 2"),
        ("2 * n < 5", "n <= 2"),
        ("n != 0 && n >= 0", "n >= 1"),
        ("b", "!(b == false)"),
        ("c != red && c != amber", "c == green"),
        ("c == red || c == amber", "c != green"),
        ("b && n > 1 || !b && n > 2", "n >= 2"),
    ],
)
def test_guards_are_compared_in_whole_numbers(detailed: str, simple: str) -> None:
    found = proof_of(system(detailed), system(simple))
    assert found is not None
    assert found.judgement.assumed == 0


@pytest.mark.parametrize(
    ("detailed", "simple"),
    [
        ("n > 1", "n >= 3"),
        ("x > 1", "x >= 2"),
        ("x + n > 1", "x + n >= 2"),
        ("c != red", "c == green"),
        ("n >= 1", "b"),
    ],
)
def test_guards_that_differ_do_not_refine(detailed: str, simple: str) -> None:
    assert proof_of(system(detailed), system(simple)) is None


def test_choices_of_integers_are_whole() -> None:
    chosen = system(action="n in [0, 2];")
    assert proof_of(chosen, system(action="n in [-1, 2];")) is not None
    assert proof_of(chosen, system(action="n in [1, 2];")) is None


def test_time_is_not_negative() -> None:
    found = proof_of(system(rate="min(time, 1)"), automaton_of(BOUNDED))
    assert found is not None
    assert found.judgement.assumed == 0
    assert proof_of(system(rate="min(time, 2)"), automaton_of(BOUNDED)) is None
    assert proof_of(system(rate="min(time - 1, 1)"), automaton_of(BOUNDED)) is None


BOUNDED = TEXT.format(guard="true", action="n = n + 1;", rate="1").replace(
    "d(x) == 1", "d(x) in [0, 1]"
)
