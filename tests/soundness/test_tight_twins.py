"""A claim that a run is known to break by a hair is never verified, by any method.

For a random model, sampled runs give the largest x they see. `x <= largest - a hair` is false,
and `x <= largest + something` may be true: whatever the methods say about it must agree with
each other, and a violation that they report must be a run by the independent check of runs.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from tests.support.random_models import random_model
from tests.support.slow import slow_but
from workbench.abstraction.strategies.strategy import Task
from workbench.abstraction.verification import STRATEGIES, deadline, verify
from workbench.models.automaton import Automaton
from workbench.models.load import load
from workbench.models.verdict import Falsified, Verdict, Verified
from workbench.simulate.policy import Level, Policy, Switching
from workbench.simulate.run import prepare, simulate
from workbench.simulate.stepping.methods import Taylor

HORIZON = 6.0
HAIR = 1e-4
"""Far above the error of the simulation, far below the size of anything in the models."""
SECONDS = 0.7
BOUNDED = ("flowpipe", "nonlinear")
"""Methods that prove claims up to a time."""
PROVING = [name for name in STRATEGIES if name != "simulation"]


def model(folder: Path, seed: int, claim: str) -> Automaton:
    path = folder / f"random{seed}.charon"
    path.write_text(random_model(seed, claim))
    return load(path).automaton


def largest(automaton: Automaton) -> float:
    """The largest x of runs with various policies."""
    prepared = prepare(automaton)
    name = next(v.name for v in automaton.variables if v.name.split(".")[-1] == "x")
    policies = [Policy.random()] * 12
    policies += [Policy(s, level) for s in Switching for level in Level]
    found = -1e9
    for number, policy in enumerate(policies):
        trace = simulate(
            prepared, until=HORIZON, policy=policy, seed=number, method=Taylor(1e-10, 1e-12)
        )
        for segment in trace.segments:
            for k in range(33):
                t = segment.start + (segment.end - segment.start) * k / 32
                value = segment.valuation(t)[name]
                assert isinstance(value, float)
                found = max(found, value)
    return found


def decided(automaton: Automaton, method: str, seed: int) -> Verdict:
    options = {"horizon": Fraction(HORIZON)} if method in BOUNDED else {}
    claim = automaton.properties[0]
    return verify(Task(automaton, claim, deadline(SECONDS), seed, options=options), method)


def judge(folder: Path, seed: int) -> list[tuple[str, str]]:
    """What each method says about the false claim and about roomy ones."""
    most = largest(model(folder, seed, "x <= 1000000"))
    false = model(folder, seed, f"x <= {most - HAIR:.9f}")
    said = []
    for method in (*PROVING, "auto"):
        verdict = decided(false, method, seed)
        assert not isinstance(verdict, Verified), f"seed {seed}: {method} verified a false claim"
        said.append((method, type(verdict).__name__))
    for room in (0.02, 1.0):
        claim = model(folder, seed, f"x <= {most + room:.9f}")
        verdicts = {method: decided(claim, method, seed) for method in (*PROVING, "auto")}
        proved = [m for m, v in verdicts.items() if isinstance(v, Verified) and v.horizon is None]
        broken = [m for m, v in verdicts.items() if isinstance(v, Falsified)]
        assert not (proved and broken), f"seed {seed}: {proved} prove what {broken} break"
        said += [(method, type(verdict).__name__) for method, verdict in verdicts.items()]
    return said


@pytest.mark.parametrize("seed", slow_but([0], range(60)))
def test_no_method_verifies_a_claim_that_a_run_breaks(seed: int, tmp_path: Path) -> None:
    assert judge(tmp_path, seed)
