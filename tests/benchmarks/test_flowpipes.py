"""Flowpipes on models that others wrote, and on the library's platoon."""

from __future__ import annotations

import time
from fractions import Fraction
from pathlib import Path

import pytest

from workbench.abstraction.strategies.flowpipe import FlowpipeStrategy
from workbench.abstraction.strategies.strategy import Task
from workbench.models.automaton import Automaton
from workbench.models.load import load
from workbench.models.verdict import Falsified, Verified

BUILDING = Path(__file__).resolve().parents[3] / "shared" / "benchmarks" / "building_48"


def building(folder: Path, bound: str) -> Automaton:
    """The building with its input free in [0.8, 1] and the initial set of its README."""
    source = BUILDING / "build_48.xml"
    if not source.is_file():
        pytest.skip("the benchmark models are not here")
    text = source.read_text(encoding="iso-8859-1").replace(
        'name="u1" type="real" local="false" d1="1" d2="1" dynamics="const"',
        'name="u1" type="real" local="false" d1="1" d2="1" dynamics="any"',
    )
    text = text.replace("t &lt;= stoptime", "0.8 &lt;= u1 &amp; u1 &lt;= 1 &amp; t &lt;= stoptime")
    (folder / "building.xml").write_text(text, encoding="iso-8859-1")
    start = [f"x{i} >= 0.0002 & x{i} <= 0.00025" for i in range(1, 11)]
    start += ["x25 >= -0.0001 & x25 <= 0.0001"]
    start += [f"x{i} == 0" for i in (*range(11, 25), *range(26, 49))]
    (folder / "building.cfg").write_text(
        f'system = "sys"\ninitially = "{" & ".join(start)}"\n'
        f'forbidden = "x25 >= {bound}"\ntime-horizon = 20\n'
    )
    return load(folder / "building.xml").automaton


def attempt(automaton: Automaton, claim: str | None = None, seconds: float = 120) -> object:
    chosen = next(p for p in automaton.properties if claim in (None, p.name))
    return FlowpipeStrategy().attempt(Task(automaton, chosen, time.monotonic() + seconds))


@pytest.mark.slow
def test_the_building_stays_below_its_bound(tmp_path: Path) -> None:
    verdict = attempt(building(tmp_path, "0.0051"))
    assert isinstance(verdict, Verified)
    assert verdict.horizon == 20


@pytest.mark.slow
def test_the_building_exceeds_a_lower_bound(tmp_path: Path) -> None:
    verdict = attempt(building(tmp_path, "0.004"))
    assert isinstance(verdict, Falsified)
    assert 0.06 < verdict.trace.end < 0.0776


@pytest.mark.slow
@pytest.mark.parametrize("claim", ["BND42", "BND30"])
def test_the_platoon_with_periodic_radio(claim: str) -> None:
    verdict = attempt(load("arch_plad01").automaton, claim)
    assert isinstance(verdict, Verified)
    assert verdict.horizon == Fraction(20)


def test_the_platoon_with_too_tight_a_bound() -> None:
    verdict = attempt(load("arch_plad01_tight").automaton)
    assert isinstance(verdict, Falsified)
    assert len(verdict.trace.jumps) >= 1


@pytest.mark.parametrize(("name", "horizon"), [("thermostat_timer", 8), ("leaky_tank", 12)])
def test_library_models_up_to_a_horizon(name: str, horizon: int) -> None:
    automaton = load(name).automaton
    for claim in automaton.properties:
        options = {"horizon": Fraction(horizon)}
        task = Task(automaton, claim, time.monotonic() + 60, options=options)
        verdict = FlowpipeStrategy().attempt(task)
        assert isinstance(verdict, Verified), (name, claim.name, verdict)
