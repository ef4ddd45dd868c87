"""Proofs by parts: what did not change costs nothing, what changed is proved alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from workbench.abstraction.refinement.flat import Settings
from workbench.abstraction.refinement.outcome import Refines, Rule
from workbench.abstraction.refinement.proof_file import check_proof, encode_proof
from workbench.abstraction.refinement.proof_tree import Proof, prove_refinement
from workbench.models.agents.agent_operators import hide, rename
from workbench.models.agents.flatten import flatten
from workbench.models.agents.hierarchy import Agent
from workbench.models.catalogue import find
from workbench.models.certificates.judgement import Rejected
from workbench.models.certificates.refinement import Simulated
from workbench.models.load import load
from workbench.models.model import Model

WORKED = Path(__file__).with_name("worked.charon")

CHANGES = {
    "front brakes less": ("d(vel) in [amin, amax]", "d(vel) in [amin + 1, amax]"),
    "front accelerates less": ("d(vel) in [amin, amax]", "d(vel) in [amin, amax - 1]"),
    "front holds its speed": ("d(vel) in [amin, amax]", "d(vel) == 0"),
    "front brakes softly": ("d(vel) in [amin, amax]", "d(vel) == amin/2"),
    "front starts faster": ("vel in [15, 18]", "vel in [16, 18]"),
    "front starts at 17": ("vel in [15, 18]", "vel in [17, 17]"),
    "follower starts slower": ("vel in [20, 25]", "vel in [20, 22]"),
    "gap starts wider": ("dist in [nearest, 100]", "dist in [40, 90]"),
    "front never above 30": ("inv { reverse || vel >= 0 }", "inv { vel >= 0 && vel <= 30 }"),
    "front damped": ("d(vel) in [amin, amax]", "d(vel) in [amin, amax - vel/100]"),
}


@pytest.fixture(scope="module")
def platoon() -> str:
    entry = find("platoon_paper")
    assert entry is not None
    return entry.path.read_text(encoding="utf-8")


def written(folder: Path, name: str, text: str) -> Model:
    path = folder / f"{name}.charon"
    path.write_text(text, encoding="utf-8")
    return load(path)


def changed_text(text: str, old: str, new: str) -> str:
    """The change, in the last place where the old text stands (that of the front)."""
    head, found, tail = text.rpartition(old)
    assert found, old
    return head + new + tail


def simulations(proof: Proof) -> list[str]:
    return [s.claim for s in proof.step.walk() if isinstance(s.outcome, Refines)]


@pytest.mark.parametrize("what", sorted(CHANGES))
def test_a_changed_component_is_proved_alone(what: str, platoon: str, tmp_path: Path) -> None:
    abstract = written(tmp_path, "platoon_paper", platoon)
    detailed = written(tmp_path, "changed", changed_text(platoon, *CHANGES[what]))
    proof = prove_refinement(detailed, abstract, Settings())
    assert proof.holds
    assert len(simulations(proof)) == 1
    assert sum(s.rule is Rule.UNCHANGED for s in proof.step.walk()) >= 2
    assert isinstance(check_proof(detailed, abstract, encode_proof(proof)), Simulated)


def test_three_local_proofs_give_the_whole(platoon: str, tmp_path: Path) -> None:
    text = platoon
    for what in ("front brakes less", "follower starts slower", "gap starts wider"):
        text = changed_text(text, *CHANGES[what])
    abstract, detailed = written(tmp_path, "a", platoon), written(tmp_path, "d", text)
    proof = prove_refinement(detailed, abstract, Settings())
    assert proof.holds
    assert len(simulations(proof)) == 3
    rules = {step.rule for step in proof.step.walk()}
    assert {Rule.PARALLEL, Rule.HIDING, Rule.RENAMING, Rule.UNCHANGED} <= rules


def test_certificates_of_other_parts_are_rejected(platoon: str, tmp_path: Path) -> None:
    abstract = written(tmp_path, "a", platoon)
    one = written(tmp_path, "one", changed_text(platoon, *CHANGES["front brakes less"]))
    two = written(tmp_path, "two", changed_text(platoon, *CHANGES["gap starts wider"]))
    text = encode_proof(prove_refinement(one, abstract, Settings()))
    assert isinstance(check_proof(one, abstract, text), Simulated)
    assert isinstance(check_proof(two, abstract, text), Rejected)
    assert isinstance(check_proof(abstract, one, text), Rejected)
    raw = json.loads(text)
    for changed in ({**raw, "leaves": []}, {**raw, "leaves": raw["leaves"] * 2}, {"schema": 1}):
        assert isinstance(check_proof(one, abstract, json.dumps(changed)), Rejected)
    twice = text.replace('"leaves"', '"leaves": [], "leaves"', 1)
    for wrong in (twice, "\ufeff" + text, text.encode("utf-16"), "{"):
        assert isinstance(check_proof(one, abstract, wrong), Rejected)


@pytest.mark.slow
def test_a_part_that_does_more_is_no_refinement(platoon: str, tmp_path: Path) -> None:
    old, new = "vel in [15, 18]", "vel in [14, 18]"
    abstract = written(tmp_path, "a", platoon)
    detailed = written(tmp_path, "d", changed_text(platoon, old, new))
    assert not prove_refinement(detailed, abstract, Settings()).holds


def test_the_same_model_needs_nothing(platoon: str, tmp_path: Path) -> None:
    model = written(tmp_path, "same", platoon)
    proof = prove_refinement(model, model, Settings())
    assert proof.holds
    assert simulations(proof) == []


def as_model(agent: Agent) -> Model:
    return Model(agent.definition, flatten(agent, agent.definition), agent, (), {})


def test_r17_renaming_and_hiding_keep_a_refinement() -> None:
    own, other = load(WORKED, agent="Gentle").agent, load(WORKED, agent="Any").agent
    assert own is not None
    assert other is not None
    for change in (
        lambda agent: rename(agent, {"vel": "speed"}),
        lambda agent: hide(rename(agent, {"vel": "speed"}), ["speed"]),
    ):
        proof = prove_refinement(as_model(change(own)), as_model(change(other)), Settings())
        assert proof.holds
        assert Rule.RENAMING in {step.rule for step in proof.step.walk()}


ASSUMING = """
mode SourceTop(real top) {
  write analog real level;
  diff { d(level) in [-1, 1]; }
  inv { level >= 0 && level <= top }
}
agent Source(real top) {
  write analog real level;
  init { level in [0, 1]; }
  mode body = SourceTop(top);
}
mode PipeTop(real factor) {
  write analog real flow;
  read analog real level;
  diff { d(flow) == level - factor*flow; }
  inv { flow >= 0 && flow <= 10 }
}
mode AnyPipeTop() {
  write analog real flow;
  read analog real level;
  diff { d(flow) in [-20, 5]; }
  inv { flow >= 0 && flow <= 10 }
}
agent Pipe(real factor) {
  write analog real flow;
  read analog real level;
  init { flow = 0; }
  mode body = PipeTop(factor);
}
agent AnyPipe() {
  write analog real flow;
  read analog real level;
  init { flow = 0; }
  mode body = AnyPipeTop();
}
agent Plant(real top) {
  private analog real level, flow;
  agent source = Source(top);
  agent pipe = PIPE;
}
system Plant(TOP);
"""


def plant(folder: Path, pipe: str, top: int) -> Model:
    text = ASSUMING.replace("PIPE", pipe).replace("TOP", str(top))
    return written(folder, f"plant{len(list(folder.iterdir()))}", text)


def test_a_part_may_rely_on_what_its_sibling_guarantees(tmp_path: Path) -> None:
    detailed, abstract = plant(tmp_path, "Pipe(2)", 5), plant(tmp_path, "AnyPipe()", 5)
    proof = prove_refinement(detailed, abstract, Settings())
    assert proof.holds
    assert Rule.ASSUME_GUARANTEE in {step.rule for step in proof.step.walk()}
    assert isinstance(check_proof(detailed, abstract, encode_proof(proof)), Simulated)


def test_the_sibling_must_guarantee_it(tmp_path: Path) -> None:
    detailed, abstract = plant(tmp_path, "Pipe(2)", 9), plant(tmp_path, "AnyPipe()", 9)
    assert not prove_refinement(detailed, abstract, Settings(refute=False, reach=False)).holds


def test_parts_must_not_assume_each_other_at_the_same_moment(tmp_path: Path) -> None:
    """Each invariant follows from the other's, but not from its own part: refused."""
    text = """
    mode SideTop(bool own) {
      write analog real x;
      read analog real y;
      diff { d(x) in [-1, 1]; }
      inv { !own || x >= 0 }
    }
    agent Left(bool own) {
      write analog real x;
      read analog real y;
      init { x = 0; }
      mode body = SideTop(own);
    }
    agent Both(bool own) {
      private analog real x, y;
      agent left = Left(own);
      agent right = Left(own) [ x, y := y, x ];
    }
    system Both(OWN);
    """
    detailed = written(tmp_path, "free", text.replace("OWN", "false"))
    abstract = written(tmp_path, "kept", text.replace("OWN", "true"))
    assert not prove_refinement(detailed, abstract, Settings()).holds
