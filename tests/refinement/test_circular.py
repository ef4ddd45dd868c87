"""Circular assume-guarantee: premises suggest a set, the whole must prove it."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.abstraction.refinement.circular import circle
from workbench.abstraction.refinement.flat import Settings, refine
from workbench.abstraction.refinement.outcome import NotProved, Refines, Rule
from workbench.abstraction.refinement.proof_file import check_proof, encode_proof
from workbench.abstraction.refinement.proof_tree import prove_refinement
from workbench.models.certificates.refinement import Simulated
from workbench.models.load import load
from workbench.models.model import Model

TEXT = """
mode FollowTop() { write analog real x; read analog real y; diff { d(x) == y - x; } }
agent Follow() {
  write analog real x;
  read analog real y;
  init { x in [0, FIRST]; }
  mode top = FollowTop();
}
mode KeptTop() {
  write analog real x;
  read analog real y;
  diff { d(x) in [-1, 1]; }
  inv { x >= 0 && x <= 1 }
}
agent Kept() {
  write analog real x;
  read analog real y;
  init { x in [0, 1]; }
  mode top = KeptTop();
}
mode AboveTop() {
  write analog real x;
  read analog real y;
  diff { d(x) in [-1, 1]; }
  inv { x >= y }
}
agent Above() {
  write analog real x;
  read analog real y;
  init { x = 0; }
  mode top = AboveTop();
}
mode PositiveTop() {
  write analog real x;
  read analog real y;
  diff { d(x) in [-1, 1]; }
  inv { x >= 0 }
}
agent Positive() {
  write analog real x;
  read analog real y;
  init { x = 0; }
  mode top = PositiveTop();
}
mode EqualTop() { write analog real x; read analog real y; alge { x == y; } }
agent Equal() { write analog real x; read analog real y; mode top = EqualTop(); }
agent Following() {
  private analog real x, y;
  agent left = Follow();
  agent right = Follow() [ x, y := y, x ];
}
agent Keeping() {
  private analog real x, y;
  agent left = Kept();
  agent right = Kept() [ x, y := y, x ];
}
agent Leaning() {
  private analog real x, y;
  agent left = Above();
  agent right = Above() [ x, y := y, x ];
}
agent Standing() {
  private analog real x, y;
  agent left = Positive();
  agent right = Positive() [ x, y := y, x ];
}
agent One() {
  private analog real x, y;
  agent left = Follow();
  agent right = Kept() [ x, y := y, x ];
}
"""


def pair(folder: Path, detailed: str, abstract: str, first: int = 1) -> tuple[Model, Model]:
    path = folder / "circle.charon"
    path.write_text(TEXT.replace("FIRST", str(first)), encoding="utf-8")
    return load(path, agent=detailed), load(path, agent=abstract)


def around(detailed: Model, abstract: Model, settings: Settings | None = None) -> object:
    assert detailed.agent is not None and abstract.agent is not None
    return circle(detailed.agent, abstract.agent, detailed.automaton, settings or Settings())


def test_parts_that_keep_each_other_inside(tmp_path: Path) -> None:
    """Neither follower stays in [0, 1] alone; each does if the other does."""
    detailed, abstract = pair(tmp_path, "Following", "Keeping")
    found = around(detailed, abstract)
    assert found is not None
    assert [type(step.outcome) for step in found.steps] == [Refines, Refines]  # type: ignore[attr-defined]
    given = Settings(regions=found.regions, refute=False)  # type: ignore[attr-defined]
    outcome = refine(detailed.automaton, abstract.automaton, ("x", "y"), given)
    assert isinstance(outcome, Refines)
    assert outcome.judgement.assumed == 0


@pytest.mark.slow
def test_two_excuses_at_the_same_moment_prove_nothing(tmp_path: Path) -> None:
    """x >= y and y >= x: each promise (x >= 0, y >= 0) follows from the other; both premises
    hold, and yet both may be broken together. The joint set is not proved."""
    detailed, abstract = pair(tmp_path, "Leaning", "Standing")
    found = around(detailed, abstract)
    assert found is not None, "both premises are refinements"
    given = Settings(regions=found.regions, refute=False)  # type: ignore[attr-defined]
    assert isinstance(refine(detailed.automaton, abstract.automaton, ("x", "y"), given), NotProved)
    assert not prove_refinement(detailed, abstract, Settings()).holds


def test_a_joint_start_outside_is_no_refinement(tmp_path: Path) -> None:
    detailed, abstract = pair(tmp_path, "Following", "Keeping", first=2)
    assert around(detailed, abstract) is None
    assert not prove_refinement(detailed, abstract, Settings()).holds


def test_one_changed_part_is_no_circle(tmp_path: Path) -> None:
    detailed, abstract = pair(tmp_path, "One", "Keeping")
    assert around(detailed, abstract) is None


def test_the_rule_stands_in_the_tree_and_its_certificate_is_accepted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the search over the whole finds no reachable set, the circle does."""
    import workbench.abstraction.refinement.flat as flat

    detailed, abstract = pair(tmp_path, "Following", "Keeping")
    search = flat.reachable_sets
    monkeypatch.setattr(
        flat,
        "reachable_sets",
        lambda automaton, *rest: (
            None if automaton is detailed.automaton else search(automaton, *rest)
        ),
    )
    proof = prove_refinement(detailed, abstract, Settings())
    assert proof.holds
    assert proof.step.rule is Rule.CIRCULAR
    assert len(proof.step.below) == 2
    assert isinstance(check_proof(detailed, abstract, encode_proof(proof)), Simulated)
