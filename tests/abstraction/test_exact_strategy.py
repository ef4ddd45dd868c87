"""`verify --method exact`: nilpotent flows, decided by formulas; certificates by others."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from random import Random

import pytest

from workbench.abstraction.strategies.exact import ExactStrategy
from workbench.abstraction.strategies.strategy import Task
from workbench.abstraction.verification import deadline, verify
from workbench.models.automaton import (
    Constraint,
    HybridAutomaton,
    Initial,
    Location,
    Property,
    Range,
    Variable,
)
from workbench.models.expressions.expression import Expression, conjunction, constant, variable
from workbench.models.expressions.polynomial_flow import polynomial
from workbench.models.load import load
from workbench.models.verdict import Falsified, Unknown, Verified
from workbench.reach.exact.run import PolynomialRun, objection

CARS = """
mode Driving(real c) {{
  write analog real d, v;
  diff {{ d(d) == -v; d(v) == c; }}
  {invariant}
}}
mode Stopped() {{ write analog real d, v; diff {{ d(d) == 0; d(v) == 0; }} }}
mode Top(real c) {{
  write analog real d, v;
  mode drive = Driving(c);
  mode stop = Stopped();
  trans from init to drive;
  {edge}
}}
agent Cars(real c = -2) {{
  private analog real d in [4, 5];
  private analog real v in [3, {fastest}];
  mode top = Top(c);
  assert "apart" {{ d > 0 }}
}}
"""


def cars(
    folder: Path, fastest: str, edge: str = "", invariant: str = ""
) -> Falsified | Unknown | Verified:
    path = folder / "cars.charon"
    path.write_text(CARS.format(fastest=fastest, edge=edge, invariant=invariant))
    automaton = load(path).automaton
    options = {"horizon": Fraction(3)}
    task = Task(automaton, automaton.properties[0], deadline(60), options=options)
    return verify(task, "exact")


def test_what_is_safe_is_certified_by_a_flowpipe(tmp_path: Path) -> None:
    """Braking from v takes v^2/4, which is less than 4 up to v = 4."""
    found = cars(tmp_path, "3.9")
    assert isinstance(found, Verified)
    assert found.method == "flowpipe"


def test_what_is_not_is_repeated_exactly(tmp_path: Path) -> None:
    found = cars(tmp_path, "4.1")
    assert isinstance(found, Falsified)
    assert found.method == "exact"
    assert found.confirmations[0].rigorous
    end = dict(zip(found.trace.segments[-1].flowing, found.trace.segments[-1].final, strict=True))
    assert end["d"] <= 0
    assert 0 < found.trace.outcome.time <= 3


def test_touching_a_closed_bad_set_is_a_violation(tmp_path: Path) -> None:
    """From d = 4 with v = 4 the car stops at d = 0, at time 2."""
    found = cars(tmp_path, "4")
    assert isinstance(found, Falsified)
    assert found.trace.outcome.time == 2


def test_jumps_are_not_decided(tmp_path: Path) -> None:
    edge = "trans from drive to stop when v <= 0;"
    found = cars(tmp_path, "3.9", edge)
    assert isinstance(found, Unknown)
    assert "edges leave drive" in found.reason
    assert isinstance(cars(tmp_path, "4.1", edge), Falsified)
    urgent = cars(tmp_path, "4.1", f"urgent {edge}")
    assert isinstance(urgent, Unknown)
    assert "urgent" in urgent.reason


def test_an_invariant_that_ends_before_the_violation(tmp_path: Path) -> None:
    assert not isinstance(cars(tmp_path, "4.1", invariant="inv { d >= 1 }"), Falsified)


def test_other_models_are_refused_with_the_reason() -> None:
    for name, word in (("platoon_paper", "derivative"), ("bouncing_ball", "edges leave")):
        automaton = load(name).automaton
        found = verify(Task(automaton, automaton.properties[0], deadline(20)), "exact")
        assert isinstance(found, Unknown)
        assert word in found.reason


def test_a_safe_answer_without_a_certificate_decides_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.abstraction.strategies.exact.CERTIFYING", {True: (), False: ()})
    found = cars(tmp_path, "3.9")
    assert isinstance(found, Unknown)
    assert found.reason.startswith("exact engine says safe; not certificate-checked: drive leads")


X, V = variable("x"), variable("v")


def chain(claim: Expression, slope: Fraction) -> HybridAutomaton:
    """x' = v, v' = slope."""
    flows = (
        Constraint("x", Range.exactly(V)),
        Constraint("v", Range.exactly(constant(slope))),
    )
    return HybridAutomaton(
        "chain",
        (Variable("x"), Variable("v")),
        (Location("run", flows),),
        (),
        (Initial("run", conjunction(X >= 0, X <= 1, V >= 0, V <= 1)),),
        properties=(Property("low", claim),),
    )


@pytest.mark.slow
def test_random_chains_agree_with_the_closed_form() -> None:
    """The largest x up to time T is 1 + T + s T^2/2, or 1 - 1/(2 s) at time -1/s before it."""
    random = Random(1)
    for _ in range(12):
        slope = Fraction(random.randint(-30, 10), 10)
        horizon = Fraction(random.randint(2, 20), 10)
        peak = min(horizon, -1 / slope) if slope < 0 else horizon
        top = 1 + peak + slope * peak**2 / 2
        for shift, unsafe in ((Fraction(-1, 100), True), (Fraction(1, 100), False)):
            automaton = chain(X <= top + shift, slope)
            task = Task(
                automaton, automaton.properties[0], deadline(60), options={"horizon": horizon}
            )
            found = ExactStrategy().attempt(task)
            assert isinstance(found, Falsified if unsafe else Verified), (slope, horizon, shift)


def test_runs_that_are_none_are_objected_to() -> None:
    automaton = chain(X <= Fraction(3, 2), Fraction(1))
    claim = automaton.properties[0]
    moves = {"x": polynomial(1, 1, Fraction(1, 2)), "v": polynomial(1, 1)}
    one = Fraction(1)
    run = PolynomialRun("run", {"x": one, "v": one}, moves, one)
    assert objection(automaton, claim, run, None) is None
    faults = {
        "horizon": (run, Fraction(1, 2)),
        "initial": (replace(run, initial={"x": 2 * one, "v": one}), None),
        "begin": (replace(run, moves={**moves, "x": polynomial(2, 1, Fraction(1, 2))}), None),
        "follow": (replace(run, moves={**moves, "x": polynomial(1, 2)}), None),
        "break": (replace(run, duration=Fraction(1, 4)), None),
    }
    for word, (other, horizon) in faults.items():
        why = objection(automaton, claim, other, horizon)
        assert why is not None and word in why, word
