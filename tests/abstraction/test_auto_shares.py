"""`auto` has a glance at several methods before one of them may use most of the time."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from workbench.abstraction import verification
from workbench.abstraction.strategies.strategy import Task
from workbench.models.load import load
from workbench.models.verdict import Effort, Unknown, Verdict, Verified

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
def counter(tmp_path: Path) -> Task:
    path = tmp_path / "counter.charon"
    path.write_text(COUNTING)
    automaton = load(str(path)).automaton
    return Task(automaton, automaton.properties[0], time.monotonic() + 60)


@dataclass(frozen=True)
class Insatiable:
    """A method that uses all the time it is given, and says how much that was."""

    name: str
    told: list[tuple[str, float]]

    def suits(self, task: Task) -> str:
        return "it suits"

    def attempt(self, task: Task) -> Verdict:
        given = task.deadline - time.monotonic()
        self.told.append((self.name, given))
        return Unknown(task.claim.name, self.name, "no", "none", Effort({"search": 0.25}))


def test_counting_without_end_does_not_keep_a_flowpipe_from_deciding(counter: Task) -> None:
    verdict = verification.verify(counter)
    assert isinstance(verdict, Verified)
    assert verdict.horizon is not None


def test_no_method_gets_most_of_the_time_before_the_others_had_a_glance(
    counter: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[tuple[str, float]] = []
    monkeypatch.setattr(verification, "strategy", lambda name: Insatiable(name, told))
    monkeypatch.setattr(Task, "expired", property(lambda task: len(told) > 30))
    shares: Callable[..., Any] = verification._order  # the plan, as it is made
    assert [name for name, _, _ in shares(counter)][:5] == [
        "rectangular",
        "simulation",
        "quadratic",
        "flowpipe",
        "template",
    ]
    verification.verify(counter)
    assert [name for name, _ in told][:5] == [n for n, _, _ in shares(counter)][:5]
    assert all(given < 0.4 * 60 for _, given in told[:5])


def test_a_method_that_keeps_time_for_a_check_is_tried_again(
    counter: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A flowpipe searches in two thirds of its glance. That it ends early does not mean that
    it could do no more with more time; a method that ends at once has tried all it can."""
    told: list[tuple[str, float]] = []
    now = [time.monotonic()]

    @dataclass(frozen=True)
    class Frugal(Insatiable):
        def attempt(self, task: Task) -> Verdict:
            share = 0.65 if self.name == "flowpipe" else 0.01
            now[0] += share * (task.deadline - now[0])
            return super().attempt(task)

    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    monkeypatch.setattr(verification, "strategy", lambda name: Frugal(name, told))
    verification.verify(counter)
    names = [name for name, _ in told]
    assert names.count("flowpipe") == 2
    assert names.count("template") == 1


def test_without_jumps_a_flowpipe_gets_its_time_at_once(tmp_path: Path) -> None:
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
    task = Task(automaton, automaton.properties[0], time.monotonic() + 60)
    planned = [(name, seconds) for name, seconds, _ in verification._order(task)]
    assert planned.count(("flowpipe", None)) == 1
    assert planned.index(("flowpipe", None)) < [name for name, _ in planned].index("template")


def test_what_took_the_time_is_told(counter: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[str, float]] = []
    monkeypatch.setattr(verification, "strategy", lambda name: Insatiable(name, told))
    verdict = verification.verify(counter)
    assert isinstance(verdict, Unknown)
    assert verdict.effort.seconds["flowpipe search"] == 0.25
    assert all(f"{name} other" in verdict.effort.seconds for name, _ in told)


def test_on_a_busy_machine_quick_attempts_take_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    pace = verification._Pace()
    wall, own = time.monotonic(), time.process_time()
    monkeypatch.setattr(time, "monotonic", lambda: wall + 6.0)
    monkeypatch.setattr(time, "process_time", lambda: own + 2.0)
    assert pace.stretched(1.0) == pytest.approx(3.0, rel=0.1)
    monkeypatch.setattr(time, "process_time", lambda: own + 12.0)
    assert pace.stretched(1.0) == 1.0
