"""`auto`: a plan of work, lanes side by side, and what is said where nothing decided."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from workbench.abstraction import lanes, plan, portfolio
from workbench.abstraction.lanes import Lane
from workbench.abstraction.plan import PLAN, PROOFS, RUNS, stages
from workbench.abstraction.strategies.strategy import Task
from workbench.abstraction.verification import STRATEGIES, verify
from workbench.abstraction.verification_settings import VerificationSettings, generosity
from workbench.models.automaton import Automaton
from workbench.models.certificates.certificate import encode
from workbench.models.load import load
from workbench.models.processes import limit_memory
from workbench.models.source import Diagnostic, ModelError
from workbench.models.verdict import (
    Confirmation,
    Effort,
    Falsified,
    Unknown,
    Verdict,
    Verified,
)
from workbench.models.work import counting, spend
from workbench.simulate.run import simulate

COUNTING = """
mode Ticking() {
  write analog real x; write discrete int n;
  diff { d(x) == 1; }
  inv { x <= 1 }
}
mode Top() {
  write analog real x; write discrete int n;
  mode ticking = Ticking();
  trans from init to ticking;
  trans from ticking to ticking when x >= 1 do { n = n + 2; x = 0; }
}
agent Counter() {
  private analog real x; private discrete int n;
  init { x = 0; n = 0; }
  mode top = Top();
  assert "never three" { n != 3 }
}
system Counter() until 5.5;
"""


@pytest.fixture
def counter(tmp_path: Path) -> Automaton:
    path = tmp_path / "counter.charon"
    path.write_text(COUNTING)
    return load(str(path)).automaton


@pytest.fixture
def task(counter: Automaton) -> Task:
    return VerificationSettings().task(counter, counter.properties[0])


def undecided(task: Task, method: str, reason: str = "no") -> Unknown:
    return Unknown(task.claim.name, method, reason, "none", Effort({"search": 0.25}))


def violated(task: Task, method: str) -> Falsified:
    trace = simulate(task.automaton, until=1.0)
    return Falsified(task.claim.name, method, trace, (Confirmation("by hand", 1.0),), Effort())


# The plan


def test_every_method_of_the_plan_is_one() -> None:
    assert {method for _, method, _, _ in PLAN} <= {*STRATEGIES, plan.PARTIAL}
    assert {lane for lane, *_ in PLAN} == set(plan.LANES)


def test_counting_without_end_does_not_keep_a_flowpipe_from_deciding(task: Task) -> None:
    verdict = verify(task)
    assert isinstance(verdict, Verified)
    assert verdict.horizon is not None


def test_several_methods_have_a_glance_before_one_may_use_much(task: Task) -> None:
    first = list(stages(PROOFS, task))[:3]
    whole = sum(stage.work for stage in stages(PROOFS, task))
    assert len({stage.method for stage in first}) == 3
    assert all(stage.work < 0.1 * whole for stage in first)


def test_without_jumps_a_flowpipe_gets_its_work_at_once(tmp_path: Path) -> None:
    path = tmp_path / "decay.charon"
    path.write_text(
        """
        mode Decay() { write analog real x; diff { d(x) == -x; } }
        agent A() { private analog real x; init { x = 1; } mode top = Decay();
                    assert "low" { x <= 2 } }
        system A() until 5;
        """
    )
    automaton = load(str(path)).automaton
    task = VerificationSettings().task(automaton, automaton.properties[0])
    methods = [stage.method for stage in stages(PROOFS, task)]
    assert methods.count("flowpipe") == 1
    assert methods.index("flowpipe") < methods.index("template")


def test_a_limit_of_some_minutes_leaves_the_plan_as_it_is() -> None:
    assert generosity(100) == generosity(200) == 1.0
    assert generosity(7.5) == pytest.approx(0.1)
    assert generosity(3000) == pytest.approx(10)


# Lanes


@dataclass(frozen=True)
class Frugal:
    """A method that uses a part of its work, and notes what it was given."""

    name: str
    told: list[tuple[str, float]]
    shares: Callable[[str], float]

    def suits(self, task: Task) -> str:
        return "it suits"

    def attempt(self, task: Task) -> Verdict:
        self.told.append((self.name, task.left))
        spend(self.shares(self.name) * task.left)
        return undecided(task, self.name)


def tried(
    task: Task, monkeypatch: pytest.MonkeyPatch, shares: Callable[[str], float]
) -> tuple[Lane, list[str]]:
    """The lane of proofs where methods use such parts of their work, and the methods in order."""
    told: list[tuple[str, float]] = []
    monkeypatch.setattr(portfolio, "strategy", lambda name: Frugal(name, told, shares))
    monkeypatch.setattr(portfolio, "partial_results", lambda task: ())
    with counting():
        lane = portfolio.follow(PROOFS, task, lambda _: None)
    return lane, [name for name, _ in told]


def test_what_used_up_its_work_is_tried_again(task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    """A method that ends at once has tried all it can; one that used most of its work may have
    kept the rest for a check."""
    lane, names = tried(task, monkeypatch, lambda name: 0.7 if name == "flowpipe" else 0.01)
    assert names.count("flowpipe") == 2
    assert names.count("template") == 1
    assert lane.hurried == {"flowpipe"}


def test_what_took_the_time_is_told(task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    lane, names = tried(task, monkeypatch, lambda name: 1.0)
    summary = portfolio._summary(task, [lane], 1.0)
    assert summary.effort.seconds["flowpipe search"] == 0.25
    assert all(f"{name} other" in summary.effort.seconds for name in names)
    assert "give more time" in summary.advice


def scripted(*steps: tuple[str, float, str]) -> lanes.Follow:
    """Lanes that do so much work and then have that decision: `falsified`, or none."""

    def follow(name: str, task: Task, tell: Callable[[Lane], None]) -> Lane:
        lane = Lane(name, method=name)
        tell(lane)
        for of, work, decision in steps:
            if of != name:
                continue
            for _ in range(10):
                spend(work / 10)
                time.sleep(0.01)
            lane.work = work
            lane.decision = violated(task, name) if decision else None
        return lane

    return follow


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("others", [400.0, 90.0])
def test_the_violation_that_took_less_work_counts(
    task: Task, jobs: int, others: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However long each takes."""
    follow = scripted((RUNS, 100.0, "falsified"), (PROOFS, others, "falsified"))
    monkeypatch.setattr(portfolio, "follow", follow)
    verdict = portfolio.decide(replace(task, jobs=jobs))
    assert verdict.method == (RUNS if others > 100.0 else PROOFS)


def test_a_lane_that_outlasts_the_deadline_is_ended_and_named(task: Task) -> None:
    def follow(name: str, task: Task, tell: Callable[[Lane], None]) -> Lane:
        lane = Lane(name, method="template", known=("something",))
        tell(lane)
        while name == PROOFS:
            time.sleep(1.0)  # listens to nothing
        return lane

    late = replace(task, deadline=time.monotonic() + 3)
    runs, proofs = lanes.side_by_side(plan.LANES, late, follow)
    assert (runs.cut, proofs.cut, proofs.method) == (False, True, "template")
    assert proofs.known == ("something",)


def test_a_lane_that_needs_too_much_memory_says_so(task: Task) -> None:
    def follow(name: str, task: Task, tell: Callable[[Lane], None]) -> Lane:
        limit_memory(1.0)
        tell(Lane(name, method="template"))
        if name == PROOFS:
            import os

            os._exit(1)  # as libraries do that find no memory
        return Lane(name)

    _, proofs = lanes.side_by_side(plan.LANES, task, follow)
    assert "more memory" in proofs.undecided["template"].reason


def test_a_defect_in_a_lane_is_a_defect(task: Task) -> None:
    def follow(name: str, task: Task, tell: Callable[[Lane], None]) -> Lane:
        raise ZeroDivisionError("somewhere")

    with pytest.raises(ZeroDivisionError):
        lanes.side_by_side(plan.LANES, task, follow)


def test_a_mistake_of_the_user_that_a_lane_comes_across_is_one(task: Task) -> None:
    mistake = Diagnostic("missing-extern", "there is no such function", hint="give it")

    def follow(name: str, task: Task, tell: Callable[[Lane], None]) -> Lane:
        raise ModelError(mistake)

    with pytest.raises(ModelError) as raised:
        lanes.side_by_side(plan.LANES, task, follow)
    assert raised.value.diagnostics == (mistake,)


# Words


def test_what_the_clock_cut_is_named(task: Task) -> None:
    lane = Lane(PROOFS, method="history", cut=True)
    summary = portfolio._summary(task, [lane], 1.0)
    assert summary.cut == ("history",)
    assert summary.reason == "neither proved nor refuted before the time limit, which cut history"


def test_a_violation_in_hand_is_said_first(task: Task) -> None:
    suspect = replace(undecided(task, "simulation", "violated in simulation"), suspect="{}")
    lane = Lane(RUNS, undecided={"simulation": suspect})
    summary = portfolio._summary(task, [lane, Lane(PROOFS, cut=True)], 1.0)
    assert summary.reason == "violated in simulation"
    assert summary.suspect == "{}"
    assert summary.advice.startswith("none")


# The same again


@pytest.mark.parametrize("model", ["leaky_tank", "thermostat_timer"])
def test_evidence_does_not_depend_on_the_number_of_processes(model: str) -> None:
    automaton = load(model).automaton
    claim = automaton.properties[0]
    texts = set()
    for jobs in (1, 2):
        verdict = verify(VerificationSettings(jobs=jobs).task(automaton, claim))
        assert isinstance(verdict, Verified)
        texts.add(encode(verdict.certificate))
    assert len(texts) == 1
