"""What others may change: an agent alone is not an agent among others."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.abstraction.refinement.flat import Settings, refine
from workbench.abstraction.refinement.outcome import NotProved, Refines, Refuted
from workbench.abstraction.refinement.proof_file import check_proof
from workbench.abstraction.refinement.proof_tree import prove_refinement
from workbench.models.automaton import HybridAutomaton, Initial, Location, Variable
from workbench.models.certificates.judgement import Rejected
from workbench.models.certificates.refinement_text import encode_refinement
from workbench.models.expressions.expression import FALSE, variable
from workbench.models.load import load

SHARED = """
mode DetailedTop() { readwrite discrete real x; write analog real y; diff { d(y) == x; } }
agent Detailed() {
  readwrite discrete real x;
  write analog real y;
  init { x = 0; y = 0; }
  mode top = DetailedTop();
}
mode SimpleTop() { readwrite discrete real x; write analog real y; diff { d(y) in [-1, 1]; } }
agent Simple() {
  readwrite discrete real x;
  write analog real y;
  init { x = 0; y in [0, 1]; }
  mode top = SimpleTop();
}
mode SetterTop() {
  readwrite discrete real x;
  private analog real t = 0;
  mode before = Wait();
  mode after = Wait();
  trans from init to before;
  trans #set from before to after when t >= 1 do { x = 7; }
}
mode Wait() { readwrite discrete real x; write analog real t; diff { d(t) == 1; } inv { t <= 9 } }
agent Setter() { readwrite discrete real x; init { x = 0; } mode top = SetterTop(); }
agent WithDetailed() {
  private discrete real x;
  write analog real y;
  agent part = Detailed();
  agent setter = Setter();
}
agent WithSimple() {
  private discrete real x;
  write analog real y;
  agent part = Simple();
  agent setter = Setter();
}
"""


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    path = tmp_path / "shared.charon"
    path.write_text(SHARED, encoding="utf-8")
    return path


def test_reachable_sets_of_a_part_do_not_know_what_others_write(shared: Path) -> None:
    """Alone x stays 0; beside the setter the detailed part does what the simple one cannot."""
    detailed, simple = load(shared, agent="WithDetailed"), load(shared, agent="WithSimple")
    proof = prove_refinement(detailed, simple, Settings())
    assert not proof.holds
    assert isinstance(proof.outcome, Refuted)


def test_an_open_agent_is_compared_in_any_surroundings(shared: Path) -> None:
    detailed, simple = load(shared, agent="Detailed"), load(shared, agent="Simple")
    assert not prove_refinement(detailed, simple, Settings()).holds
    alone = refine(detailed.automaton, simple.automaton, ("x", "y"), Settings())
    assert isinstance(alone, Refines), "as a closed system it does refine"
    text = encode_refinement(alone.certificate)
    judgement = check_proof(detailed, simple, text)
    assert isinstance(judgement, Rejected)
    assert "others may change x" in judgement.why


def test_an_abstract_system_without_initial_states_allows_nothing() -> None:
    x = (Variable("x"),)
    place = Location("here", (), (), variable("x") >= 0)
    detailed = HybridAutomaton("detailed", x, (place,), (), (Initial("here"),))
    nothing = HybridAutomaton("nothing", x, (place,), (), (Initial("here", FALSE),))
    assert not isinstance(refine(detailed, nothing, ("x",), Settings()), Refines)
    assert isinstance(refine(detailed, nothing, ("x",), Settings(refute=False)), NotProved)
