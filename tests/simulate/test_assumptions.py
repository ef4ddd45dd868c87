"""Runs end where they leave what the model assumes: what follows is no behaviour of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.cli import run
from workbench.models.automaton import (
    Constraint,
    HybridAutomaton,
    Initial,
    Input,
    Location,
    Property,
    Range,
    Variable,
)
from workbench.models.expressions.expression import conjunction, equal, variable
from workbench.models.trace import Ending
from workbench.simulate.inputs.signals import Lines
from workbench.simulate.run import simulate
from workbench.simulate.stepping.methods import Adams, Method, Taylor

U, Y = variable("u"), variable("y")

FOLLOWER = HybridAutomaton(
    "follower",
    (Variable("y"),),
    (Location("l", (Constraint("y", Range.exactly(U - Y)),)),),
    (),
    (Initial("l", equal(Y, 1)),),
    inputs=(Input("u"),),
    assumption=conjunction(U <= Y, U >= -Y),
    properties=(Property("low", Y * 2 <= 3), Property("high", Y * 2 >= 1)),
)


@pytest.mark.parametrize("method", [Adams(), Taylor()])
def test_a_run_ends_where_the_assumption_breaks(method: Method) -> None:
    rising = Lines((0.0, 10.0), (0.0, 10.0))
    trace = simulate(FOLLOWER, until=5, inputs={"u": rising}, method=method)
    # y = 2 exp(-t) + t - 1 meets u = t where 2 exp(-t) = 1
    assert trace.outcome.ending is Ending.ASSUMPTION
    assert trace.outcome.time == pytest.approx(0.6931471805599453, abs=1e-5)
    assert trace.outcome.ending.gave_up


def test_violations_before_that_count_and_later_ones_do_not() -> None:
    assert simulate(FOLLOWER, until=5, inputs={"u": 5}).outcome.ending is Ending.ASSUMPTION
    assert simulate(FOLLOWER, until=5, inputs={"u": 5}).outcome.time == 0.0
    assert simulate(FOLLOWER, until=5, inputs={"u": 0}).outcome.ending is Ending.VIOLATION
    assert simulate(FOLLOWER, until=0.5, inputs={"u": 0}).outcome.ending is Ending.HORIZON


def test_exit_code_and_bounds_that_no_double_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "follower.charon"
    path.write_text(
        """
        mode Top() { read analog real u; write analog real y; diff { d(y) == u - y; } }
        agent Follower() {
          read analog real u; write analog real y; init { y = 0.01; } mode top = Top();
          assume { u <= 0.01 && u >= -0.01 && u + y <= 0.02 }
          assert "small" { y <= 0.011 }
        }
        """,
        encoding="utf-8",
    )
    assert run(["simulate", str(path), "--until", "1", "--input", "u=0.01"]) == 0
    assert run(["simulate", str(path), "--until", "1", "--input", "u=0.02"]) == 2
    capsys.readouterr()
    start = ["--init", "y=0.01", "--input", "u=t/10"]
    assert run(["simulate", str(path), "--until", "1", *start]) == 5
    assert "is broken at t = " in capsys.readouterr().out
