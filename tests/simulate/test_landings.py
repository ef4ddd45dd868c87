"""Jumps onto the boundary of the target's invariant: it is not left by what an event is known to."""

from __future__ import annotations

from itertools import product

import pytest

from workbench.models.automaton import (
    Constraint,
    Edge,
    EventKind,
    HybridAutomaton,
    Initial,
    Location,
    Range,
    Variable,
)
from workbench.models.expressions.text import parse_expression as text
from workbench.models.trace import Ending, Trace
from workbench.simulate.recipe import Recipe
from workbench.simulate.run import simulate
from workbench.simulate.stepping.methods import Adams, Method, Taylor
from workbench.simulate.validated.validated_run import validated_run

BOTH = pytest.mark.parametrize("method", [Adams(), Taylor()], ids=["adams", "taylor"])
KINDS = (EventKind.UNILATERAL, EventKind.BILATERAL, EventKind.CROSSING)
EACH_KIND = pytest.mark.parametrize("kind", KINDS)


def location(name: str, x: str, y: str, invariant: str) -> Location:
    flows = tuple(Constraint(n, Range.exactly(text(r))) for n, r in (("x", x), ("y", y)))
    return Location(name, flows, invariant=text(invariant))


def landing(
    target: str,
    x: str = "0",
    *,
    source: str = "x >= 0",
    kind: EventKind = EventKind.UNILATERAL,
    resets: dict[str, str] | None = None,
    guard: str = "x <= 0",
) -> HybridAutomaton:
    """x falls from 1 at rate 1; the target is entered where the guard holds, at t = 1."""
    given = tuple(Constraint(n, Range.exactly(text(v))) for n, v in (resets or {}).items())
    return HybridAutomaton(
        "landing",
        (Variable("x"), Variable("y")),
        (location("fall", "-1", "2", source), location("rest", x, "-1", target)),
        (Edge("fall", "rest", text(guard), given, event=kind, name="land"),),
        (Initial("fall", text("x == 1 && y == 0")),),
    )


def run(model: HybridAutomaton, method: Method) -> Trace:
    return simulate(model, until=3.0, method=method)


INVARIANTS = ("x <= 0", "x == 0", "x <= 0 && x >= 0", "x < 0.5 && 3*x <= 0", "abs(x) <= 0")


GLIDING = ("x == 0", "-x", EventKind.CROSSING)
"""Its state goes on moving along the boundary, in a million small steps."""
BOUNDED = product(INVARIANTS, ("0", "0*x", "-x"), KINDS)


@BOTH
@pytest.mark.parametrize(
    ("target", "x", "kind"),
    [pytest.param(*case, marks=[pytest.mark.slow] if case == GLIDING else []) for case in BOUNDED],
)
def test_a_mode_bounded_by_the_guard(target: str, x: str, kind: EventKind, method: Method) -> None:
    """The state was at x = 5e-16, and the run blocked."""
    for source in ("x >= 0", "true"):
        made = run(landing(target, x, kind=kind, source=source), method)
        assert made.outcome.ending is Ending.HORIZON, (source, made.outcome.sentence)


@BOTH
@pytest.mark.parametrize(
    ("target", "resets"),
    [
        ("x <= -1", {"x": "x - 1"}),
        ("y <= 2 && x <= 0", {}),
        ("x + y <= 2", {}),
        ("x <= 0 || y <= -5", {}),
        ("max(x, y - 9) <= 0", {}),
        ("y <= 0", {"y": "5*x"}),
    ],
)
def test_other_boundaries(target: str, resets: dict[str, str], method: Method) -> None:
    made = run(landing(target, resets=resets), method)
    assert made.outcome.ending is Ending.HORIZON


@BOTH
def test_jumps_that_follow_at_once(method: Method) -> None:
    """How exactly an event is known does not depend on where the run passes through."""
    model = landing("x <= 0")
    through = location("through", "0", "0", "true")
    edges = (
        Edge("fall", "through", text("x <= 0"), name="land"),
        Edge("through", "rest", text("true"), urgent=True, name="on"),
    )
    model = HybridAutomaton(
        "landing", model.variables, (*model.locations, through), edges, model.initial
    )
    made = run(model, method)
    assert [e.name for e in made.jumps] == ["land", "on"]
    assert made.outcome.ending is Ending.HORIZON


@BOTH
@pytest.mark.parametrize(
    ("target", "x", "until"),
    [
        ("x <= 0", "1", 1.0),
        ("x == 0", "1", 1.0),
        ("x == 0", "-1", 1.0),
        ("x <= 0", "time - 1", 1.0),
        ("x <= 0 && x >= 0", "-1", 1.0),
        ("x <= 0", "time - 2", 2 + 1),
        ("x < 0", "0", 1.0),
    ],
)
def test_the_invariant_is_not_left(target: str, x: str, until: float, method: Method) -> None:
    """Whatever leads out from where the state landed blocks, as it did."""
    made = simulate(landing(target, x), until=5.0, method=method)
    assert made.outcome.ending is Ending.BLOCKED
    assert made.outcome.time == pytest.approx(until, abs=1e-4)


@BOTH
def test_resets_beyond_the_boundary_are_not_landings(method: Method) -> None:
    """Only what the time of an event explains is granted."""
    made = run(landing("x <= 0", resets={"x": "1e-12"}), method)
    assert made.outcome.ending is Ending.BLOCKED
    made = run(landing("x <= 0", resets={"x": "x + 1e-12"}), method)
    assert made.outcome.ending is Ending.BLOCKED


def test_the_proof_goes_on_as_well() -> None:
    found = validated_run(landing("x <= 0"), Recipe(until=3.0))
    assert found is not None and found.complete
    assert float(found.reached[0]) == 3.0
