"""Guards that a run touches without crossing them: reported, once, whatever is done."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from workbench.models.automaton import (
    Constraint,
    Edge,
    HybridAutomaton,
    Initial,
    Location,
    Range,
    Variable,
)
from workbench.models.expressions.expression import (
    TRUE,
    ZERO,
    Expression,
    Op,
    conjunction,
    constant,
    equal,
    function,
)
from workbench.models.expressions.expression import variable as name
from workbench.models.trace import Ending, EventType, Trace
from workbench.simulate.policy import Policy, Switching
from workbench.simulate.run import simulate
from workbench.simulate.stepping.methods import Adams, Method, Taylor

X, Y = name("x"), name("y")
METHODS: list[Method] = [Adams(), Taylor(), Adams(1e-4, 1e-7), Adams(1e-9, 1e-12)]
ALL = pytest.mark.parametrize("method", METHODS, ids=["adams", "taylor", "loose", "tight"])
LATEST = Policy(Switching.LATEST)


def turning(
    guard: Expression,
    *,
    urgent: bool = True,
    size: float = 1.0,
    resting: Expression = TRUE,
) -> HybridAutomaton:
    """x = size sin t, until the guard makes it rest."""
    rates = {"turn": (Y, -X), "rest": (ZERO, ZERO)}
    places = {"turn": TRUE, "rest": resting}
    return HybridAutomaton(
        "touch",
        (Variable("x"), Variable("y")),
        tuple(
            Location(
                place,
                tuple(
                    Constraint(n, Range.exactly(r))
                    for n, r in zip(("x", "y"), rates[place], strict=True)
                ),
                invariant=invariant,
            )
            for place, invariant in places.items()
        ),
        (Edge("turn", "rest", guard, urgent=urgent, name="touch"),),
        (Initial("turn", conjunction(equal(X, ZERO), equal(Y, constant(Fraction(size))))),),
    )


def grazes(run: Trace) -> list[float]:
    return [e.time for e in run.events if e.type is EventType.GRAZING]


@ALL
@pytest.mark.parametrize("urgent", [True, False])
def test_a_touch_is_reported_when_it_happens(method: Method, urgent: bool) -> None:
    """Adams found nothing at pi/2 and jumped one turn later, where errors had added up."""
    run = simulate(turning(X >= 1, urgent=urgent), until=20.0, method=method)
    assert grazes(run) == [pytest.approx(math.pi / 2, abs=1e-3)]
    assert [e.time for e in run.jumps] == grazes(run)
    assert run.counts.beyond == 0


@ALL
def test_touches_of_an_edge_that_waits_are_reported_and_passed_by(method: Method) -> None:
    run = simulate(turning(X >= 1, urgent=False), until=6.0, method=method, policy=LATEST)
    assert run.outcome.ending is Ending.HORIZON and not run.jumps
    assert grazes(run) == [pytest.approx(math.pi / 2, abs=1e-3)]


@pytest.mark.parametrize("method", [Adams(), Taylor()])
def test_a_miss_by_more_than_the_tolerance_is_none(method: Method) -> None:
    run = simulate(turning(X >= 1, size=1 - 1e-5), until=6.0, method=method)
    assert run.events == () and run.outcome.ending is Ending.HORIZON
    over = simulate(turning(X >= 1, size=1 + 1e-5), until=6.0, method=method)
    assert not grazes(over) and over.jumps[0].time == pytest.approx(math.pi / 2, abs=5e-3)


@ALL
def test_other_parts_of_the_guard_count_as_they_are(method: Method) -> None:
    half = Fraction(1, 2)
    assert grazes(simulate(turning((X >= 1) & (Y <= half)), until=6.0, method=method))
    assert not simulate(turning((X >= 1) & (Y >= half)), until=6.0, method=method).events
    curved = X * X + Y >= Fraction(5, 4)  # touched where y = 1/2
    assert grazes(simulate(turning(curved), until=6.0, method=method)) == [
        pytest.approx(math.pi / 3, abs=1e-3)
    ]
    root = function(Op.SQRT, X + 8) >= 3
    assert grazes(simulate(turning(root), until=6.0, method=method)) == [
        pytest.approx(math.pi / 2, abs=1e-3)
    ]


@ALL
def test_an_approach_without_end_is_no_touch(method: Method) -> None:
    """x' = 1 - x never gets to 1, nor does it turn round."""
    flows = (Constraint("x", Range.exactly(1 - X)),)
    model = HybridAutomaton(
        "approach",
        (Variable("x"),),
        (Location("a", flows), Location("b")),
        (Edge("a", "b", X >= 1, urgent=True),),
        (Initial("a", equal(X, ZERO)),),
    )
    assert simulate(model, until=20.0, method=method).events == ()


def test_a_touched_edge_that_cannot_be_taken_does_not_block() -> None:
    run = simulate(turning(X >= 1, resting=Y >= 5), until=6.0)
    assert run.outcome.ending is Ending.HORIZON and not run.jumps
    assert grazes(run) == [pytest.approx(math.pi / 2, abs=1e-3)]
