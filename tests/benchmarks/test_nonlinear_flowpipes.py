"""Nonlinear flowpipes on models that are known from elsewhere; `-s` prints the times.

The equations and sets are those of the literature; times are seconds of the processor.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import pytest

from workbench.abstraction.strategies.nonlinear import NonlinearStrategy
from workbench.abstraction.strategies.strategy import Task
from workbench.abstraction.verification import verify
from workbench.models.automaton import (
    Automaton,
    Constraint,
    HybridAutomaton,
    Initial,
    Location,
    Property,
    Range,
    Variable,
)
from workbench.models.expressions.expression import Expression, conjunction, variable
from workbench.models.expressions.text import parse_expression
from workbench.models.load import load
from workbench.models.verdict import Falsified, Unknown, Verdict, Verified

RENDEZVOUS = Path(__file__).resolve().parents[3] / "shared" / "benchmarks" / "rendezvous"


@dataclass(frozen=True)
class System:
    """One location: derivatives, a box to start from, a claim and a horizon."""

    name: str
    flows: dict[str, str]
    box: dict[str, tuple[str, str]]
    claim: str
    horizon: Fraction

    def automaton(self) -> HybridAutomaton:
        flows = tuple(
            Constraint(n, Range.exactly(parse_expression(text))) for n, text in self.flows.items()
        )
        start: list[Expression] = []
        for name, (low, high) in self.box.items():
            start += [variable(name) >= Fraction(low), variable(name) <= Fraction(high)]
        return HybridAutomaton(
            self.name,
            tuple(Variable(n) for n in self.flows),
            (Location("run", flows),),
            (),
            (Initial("run", conjunction(*start)),),
            properties=(Property("safe", parse_expression(self.claim)),),
            horizon=self.horizon,
        )


def around(centre: str, width: str) -> tuple[str, str]:
    middle, half = Fraction(centre), Fraction(width)
    return str(middle - half), str(middle + half)


LAUB_LOOMIS = System(
    "Laub and Loomis, width 0.01",
    {
        "x1": "1.4*x3 - 0.9*x1",
        "x2": "2.5*x5 - 1.5*x2",
        "x3": "0.6*x7 - 0.8*x2*x3",
        "x4": "2 - 1.3*x3*x4",
        "x5": "0.7*x1 - x4*x5",
        "x6": "0.3*x1 - 3.1*x6",
        "x7": "1.8*x6 - 1.5*x2*x7",
    },
    {
        f"x{i + 1}": around(c, "1/100")
        for i, c in enumerate(("1.2", "1.05", "1.5", "2.4", "1", "0.1", "0.45"))
    },
    "x4 <= 4.5",
    Fraction(20),
)
PENDULUM = System(
    "pendulum with friction",
    {"angle": "speed", "speed": "-9.81*sin(angle) - speed/2"},
    {"angle": ("9/10", "11/10"), "speed": ("-1/10", "1/10")},
    "angle <= 1.2 && angle >= -1.1",
    Fraction(5),
)
LOTKA_VOLTERRA = System(
    "Lotka and Volterra",
    {"x": "3*x - 3*x*y", "y": "x*y - y"},
    {"x": ("1.28", "1.32"), "y": ("1", "1")},
    "x <= 1.4 && y >= 0.7",
    Fraction(182, 50),
)


def decided(automaton: Automaton, options: dict[str, object] | None = None) -> Verdict:
    begun = time.process_time()
    task = Task(automaton, automaton.properties[0], time.monotonic() + 300, options=options or {})
    verdict = NonlinearStrategy().attempt(task)
    counts = ", ".join(f"{n} {what}" for what, n in verdict.effort.counts.items())
    outcome = type(verdict).__name__
    print(f"{automaton.name}: {outcome}, {time.process_time() - begun:.1f} s, {counts}")
    return verdict


@pytest.mark.slow
@pytest.mark.parametrize("name", ["van_der_pol", "brusselator"])
def test_the_oscillators_of_the_library(name: str) -> None:
    verdict = decided(load(name).automaton)
    assert isinstance(verdict, Verified), verdict
    assert verdict.horizon == load(name).automaton.horizon


@pytest.mark.slow
@pytest.mark.parametrize("name", ["van_der_pol_tight", "brusselator_tight"])
def test_their_twins_are_falsified(name: str) -> None:
    automaton = load(name).automaton
    task = Task(automaton, automaton.properties[0], time.monotonic() + 60)
    assert isinstance(verify(task), Falsified)
    assert isinstance(decided(automaton, {"horizon": Fraction(7)}), Unknown)


@pytest.mark.slow
@pytest.mark.parametrize("system", [LAUB_LOOMIS, PENDULUM, LOTKA_VOLTERRA], ids=lambda s: s.name)
def test_other_systems(system: System) -> None:
    assert isinstance(decided(system.automaton()), Verified)


@pytest.mark.slow
def test_the_nonlinear_rendezvous(tmp_path: Path) -> None:
    """Approach, a jump to the second controller, and a passive phase from time 120 on."""
    source = RENDEZVOUS / "rendezvous_nonlinear_passive_4d.xml"
    if not source.is_file():
        pytest.skip("the benchmark models are not here")
    (tmp_path / "rendezvous.xml").write_text(source.read_text(encoding="iso-8859-1"))
    start = "x>=-925 & x<=-875 & y>=-425 & y<=-375 & vx==0 & vy==0 & t==0"
    (tmp_path / "rendezvous.cfg").write_text(
        f'system = system\ninitially = "loc(SpaceCraft)==P1 & {start}"\n'
        'forbidden = "loc(SpaceCraft)==P1 & x<=-1000"\ntime-horizon = 100\n'
    )
    automaton = load(tmp_path / "rendezvous.xml").automaton
    assert isinstance(decided(automaton, {"horizon": Fraction(100)}), Verified)
