"""The final check of a certificate ends with the time limit, and a little later."""

from __future__ import annotations

import time
from fractions import Fraction

import pytest

from workbench.abstraction.strategies import certified
from workbench.abstraction.strategies.strategy import Task
from workbench.models.load import load
from workbench.models.lowering.problem import linear_problem
from workbench.models.verdict import Effort, Unknown, Verified
from workbench.reach.affine.flowpipe_parts import FlowpipeMethod
from workbench.reach.affine.flowpipe_refinement import Found, search_flowpipe


def test_a_check_that_takes_too_long_decides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    automaton = load("arch_plad01").automaton
    claim = automaton.properties[0]
    found = search_flowpipe(linear_problem(automaton, claim), Fraction(1), FlowpipeMethod())
    assert isinstance(found, Found)
    late = Task(automaton, claim, deadline=time.monotonic() - 1)
    monkeypatch.setattr(certified, "GRACE", 1000.0)
    assert isinstance(certified.certify(late, "flowpipe", found.proof, Effort()), Verified)
    monkeypatch.setattr(certified, "GRACE", 0.0)
    verdict = certified.certify(late, "flowpipe", found.proof, Effort())
    assert isinstance(verdict, Unknown)
    assert "time limit" in verdict.reason and "final check" in verdict.reason
