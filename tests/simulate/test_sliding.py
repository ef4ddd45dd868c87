"""Sliding along switching surfaces against closed forms."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from workbench.models.automaton import (
    Constraint,
    Edge,
    EventKind,
    HybridAutomaton,
    Initial,
    Location,
    Property,
    Range,
    Variable,
)
from workbench.models.expressions.expression import (
    TRUE,
    Expression,
    conjunction,
    constant,
    equal,
    function,
    maximum,
    variable,
)
from workbench.models.expressions.operators import Op
from workbench.models.trace import Ending, EventType, Trace
from workbench.models.trace_comparison import compare_traces
from workbench.models.trace_files import from_json, to_json
from workbench.simulate.run import simulate
from workbench.simulate.stepping.methods import Adams, Method, Taylor

X, Y, V, T = map(variable, ("x", "y", "v", "time"))
SLIDING = EventKind.SLIDING
METHODS: list[Method] = [Adams(), Taylor()]
BOTH = pytest.mark.parametrize("method", METHODS, ids=["adams", "taylor"])


def sign(e: Expression) -> Expression:
    return function(Op.SIGN, e)


def sin(e: Expression) -> Expression:
    return function(Op.SIN, e)


def flow(**rates: Expression) -> tuple[Constraint, ...]:
    return tuple(Constraint(n, Range.exactly(e)) for n, e in rates.items())


def start(location: str, **values: float) -> tuple[Initial, ...]:
    parts = [equal(variable(n), constant(Fraction(v))) for n, v in values.items()]
    return (Initial(location, conjunction(*parts)),)


def one(flows: dict[str, Expression], **values: float) -> HybridAutomaton:
    """One location."""
    names = tuple(map(Variable, flows))
    return HybridAutomaton("one", names, (Location("a", flow(**flows)),), (), start("a", **values))


def relay(
    push: Expression,
    kind: EventKind = EventKind.UNILATERAL,
    invariants: bool = True,
    x: float = 1,
) -> HybridAutomaton:
    """x' = push - sign(x), as two locations."""
    low, high = (X <= 0, X >= 0) if invariants else (TRUE, TRUE)
    return HybridAutomaton(
        "relay",
        (Variable("x"),),
        (
            Location("left", flow(x=push + 1), invariant=low),
            Location("right", flow(x=push - 1), invariant=high),
        ),
        (
            Edge("left", "right", X >= 0, event=kind, name="to right"),
            Edge("right", "left", X <= 0, event=kind, name="to left"),
        ),
        start("right", x=x),
    )


def kinds(trace: Trace, *wanted: EventType) -> list[str]:
    return [str(e.type) for e in trace.events if e.type in wanted]


def slides(trace: Trace) -> list[tuple[float, float]]:
    """The times between which the run slides."""
    found: list[list[float]] = []
    for s in trace.segments:
        if s.sliding and found and found[-1][1] == s.start:
            found[-1][1] = s.end
        elif s.sliding:
            found.append([s.start, s.end])
    return [(a, b) for a, b in found]


ARRIVAL = 1.4296699
"""x' = -1 + sin(t)/2 from 1: 1 - t + (1 - cos t)/2 = 0."""


@BOTH
@pytest.mark.parametrize(
    "model",
    [
        one({"x": -sign(X) + sin(T) * Fraction(1, 2)}, x=1),
        relay(sin(T) * Fraction(1, 2)),
        relay(sin(T) * Fraction(1, 2), invariants=False),
    ],
    ids=["branch", "edges", "edges without invariants"],
)
def test_relay_stays_at_zero(model: HybridAutomaton, method: Method) -> None:
    trace = simulate(model, until=20.0, method=method, sliding=True)
    assert trace.outcome.completed
    ((begin, end),) = slides(trace)
    assert 1 - begin + (1 - math.cos(begin)) / 2 == pytest.approx(0.0, abs=1e-6)
    assert begin == pytest.approx(ARRIVAL, abs=1e-5) and end == 20.0
    assert all(abs(trace.at(t)["x"]) < 1e-9 for t in (2.0, 7.0, 13.0, 20.0))
    assert kinds(trace, EventType.SLIDES, EventType.LEAVES) == ["slides"]


@BOTH
def test_relay_leaves_where_it_is_pushed_off(method: Method) -> None:
    """x' = 3/2 sin t - sign x from 0.1: x slides, leaves upwards at asin(2/3), and so on. The
    way up is integral of 3/2 sin t - 1, back at the surface where it is zero again."""
    for model in (
        one({"x": sin(T) * Fraction(3, 2) - sign(X)}, x=0.1),
        relay(sin(T) * Fraction(3, 2), x=0.1),
    ):
        trace = simulate(model, until=3.0, method=method, sliding=True)
        (first, *_) = slides(trace)
        off = math.asin(2 / 3)
        assert first[1] == pytest.approx(off, abs=1e-5)
        at = 2.0
        exact = -1.5 * (math.cos(at) - math.cos(off)) - (at - off)
        assert trace.at(at)["x"] == pytest.approx(exact, abs=1e-5)


def test_edges_say_that_they_slide() -> None:
    push = sin(T) * Fraction(1, 2)
    asked = simulate(relay(push, SLIDING), until=5.0)
    assert asked.outcome.completed and len(slides(asked)) == 1
    refused = simulate(relay(push, SLIDING), until=5.0, sliding=False)
    assert refused.outcome.ending is Ending.CHATTERING and not slides(refused)
    plain = simulate(relay(push), until=5.0)
    assert plain.outcome.ending is Ending.CHATTERING
    assert plain.outcome.name in ("to left", "to right") and "sliding" in plain.outcome.sentence
    branch = simulate(one({"x": push - sign(X)}, x=1), until=5.0)
    assert branch.outcome.ending is Ending.CHATTERING and branch.outcome.name == "x >= 0"


@BOTH
def test_dry_friction_sticks(method: Method) -> None:
    """x'' = -x - F sign(x'), F = 1/4, from x = 1 at rest: turning points 1, -1/2, 0 (each half
    swing loses 2F); at 0 it sticks: t = 2 pi."""
    friction = Fraction(1, 4)
    model = one({"x": V, "v": -X - sign(V) * friction}, x=1.1, v=0)
    trace = simulate(model, until=12.0, method=method, sliding=True)
    assert trace.outcome.completed
    ((begin, end),) = slides(trace)
    assert begin == pytest.approx(2 * math.pi, abs=1e-4) and end == 12.0
    assert trace.final()["x"] == pytest.approx(1.1 - 4 * 0.25, abs=1e-5)
    assert trace.final()["v"] == pytest.approx(0.0, abs=1e-9)


@BOTH
def test_stick_and_slip(method: Method) -> None:
    """A mass on a belt of speed 1, held by a spring, with dry friction 1: it sticks until the
    spring pulls with 1, then x'' = -x + 1 with x = 1, x' = 1 is a circle about x = 1 that
    comes back to the speed of the belt after a whole turn: at x = 1 it slips off again."""
    model = one({"x": V, "v": -X - sign(V - 1)}, x=0, v=1)
    trace = simulate(model, until=5.0, method=method, sliding=True)
    first = slides(trace)[0]
    assert first == (pytest.approx(0.0, abs=1e-6), pytest.approx(1.0, abs=1e-5))
    for t in (2.0, 4.0):
        assert trace.at(t)["x"] == pytest.approx(1 + math.sin(t - 1), abs=1e-4)


@BOTH
def test_sliding_mode_control(method: Method) -> None:
    """x'' = -3 sign(x' + 2x): on the line x' = -2x the state decays like exp(-2t)."""
    model = one({"x": V, "v": -3 * sign(V + 2 * X)}, x=1, v=-1)
    trace = simulate(model, until=4.0, method=method, sliding=True)
    ((begin, _),) = slides(trace)
    x = trace.at(begin)["x"]
    assert isinstance(x, float)
    for t in (begin + 0.5, 3.0, 4.0):
        assert trace.at(t)["x"] == pytest.approx(x * math.exp(-2 * (t - begin)), abs=1e-6)


@BOTH
def test_a_curved_surface(method: Method) -> None:
    """Rotation and a pull onto the unit circle: the state turns on it with speed 1."""
    pull = sign(X * X + Y * Y - 1)
    model = one({"x": -Y - X * pull, "y": X - Y * pull}, x=2, y=0)
    trace = simulate(model, until=10.0, method=method, sliding=True)
    assert slides(trace)[0] == (pytest.approx(math.log(2), abs=1e-6), 10.0)
    for t in (1.0, 5.0, 10.0):
        at = trace.at(t)
        assert at["x"] == pytest.approx(math.cos(t), abs=2e-5)
        assert at["y"] == pytest.approx(math.sin(t), abs=2e-5)


def test_two_surfaces_one_after_the_other() -> None:
    """Two relays: first x, then y reaches zero; in the end both rest."""
    model = one({"x": -sign(X), "y": -sign(Y) * Fraction(1, 2) + sin(T) * Fraction(1, 4)}, x=1, y=1)
    trace = simulate(model, until=6.0, sliding=True)
    assert trace.outcome.completed and trace.at(6.0) == pytest.approx({"x": 0, "y": 0}, abs=1e-9)
    assert kinds(trace, EventType.SLIDES) == ["slides", "slides"]
    assert "&&" in trace.segments[-1].sliding


def test_branches_of_maximum_and_conditionals() -> None:
    """x' = 1 - 2 (x >= t/2), written with max: it follows t/2 after t = 1, at a = 1/4."""
    from workbench.models.expressions.expression import conditional

    model = one({"x": conditional(X >= T * Fraction(1, 2), -1, 1)}, x=1.5)
    trace = simulate(model, until=4.0, sliding=True)
    assert slides(trace)[0][0] == pytest.approx(1.0, abs=1e-9)
    assert trace.at(3.0)["x"] == pytest.approx(1.5, abs=1e-9)
    kink = simulate(one({"x": maximum(X, -X) - 1}, x=0.5), until=4.0, sliding=True)
    assert kink.outcome.completed and not slides(kink)  # continuous: nothing to slide on


def test_an_edge_leads_away_from_the_surface() -> None:
    base = relay(constant(0))
    model = HybridAutomaton(
        base.name,
        (*base.variables, Variable("c")),
        (
            *(
                Location(x.name, (*x.flows, *flow(c=constant(1))), invariant=x.invariant)
                for x in base.locations
            ),
            Location("off", flow(x=constant(2), c=constant(0))),
        ),
        (*base.edges, Edge("left", "off", variable("c") >= 3, name="timeout")),
        start("right", x=1, c=0),
    )
    trace = simulate(model, until=5.0, sliding=True)
    assert slides(trace) == [(pytest.approx(1.0, abs=1e-9), pytest.approx(3.0, abs=1e-9))]
    assert trace.final()["x"] == pytest.approx(4.0, abs=1e-7)


def test_a_property_is_watched_and_the_invariant_kept_while_sliding() -> None:
    base = relay(constant(0))
    model = HybridAutomaton(
        base.name,
        (*base.variables, Variable("c")),
        tuple(
            Location(
                x.name,
                (*x.flows, *flow(c=constant(1))),
                invariant=conjunction(x.invariant, variable("c") <= 4),
            )
            for x in base.locations
        ),
        base.edges,
        start("right", x=1, c=0),
        properties=(Property("early", variable("c") <= 2),),
    )
    bad = simulate(model, until=5.0, sliding=True)
    assert bad.outcome.ending is Ending.VIOLATION
    assert bad.outcome.time == pytest.approx(2.0, abs=1e-6)
    on = simulate(model, until=5.0, sliding=True, stop_on_violation=False)
    assert on.outcome.ending is Ending.BLOCKED
    assert on.outcome.time == pytest.approx(4.0, abs=1e-6)


QUADRANTS = {"ru": (1, 1), "lu": (-1, 1), "rl": (1, -1), "ll": (-1, -1)}


def quadrants(**fields: tuple[int, int]) -> HybridAutomaton:
    """Four locations with constant flows, and edges across both axes; from x = 1, y = 2."""
    names = {sides: name for name, sides in QUADRANTS.items()}
    places, edges = [], []
    for name, (sx, sy) in QUADRANTS.items():
        inside = (sx * X >= 0) & (sy * Y >= 0)
        rates = {n: constant(c) for n, c in zip(("x", "y"), fields[name], strict=True)}
        places.append(Location(name, flow(**rates), invariant=inside))
        edges.append(Edge(name, names[-sx, sy], sx * X <= 0, name=f"{name} x"))
        edges.append(Edge(name, names[sx, -sy], sy * Y <= 0, name=f"{name} y"))
    variables = (Variable("x"), Variable("y"))
    return HybridAutomaton("four", variables, tuple(places), tuple(edges), start("ru", x=1, y=2))


class TestCorners:
    """A slide down the axis x = 0, from t = 1 on, comes to y = 0 at t = 2."""

    def run(self, rl: tuple[int, int], ll: tuple[int, int]) -> Trace:
        return simulate(quadrants(ru=(-1, -1), lu=(1, -1), rl=rl, ll=ll), until=8.0, sliding=True)

    def test_it_goes_on_beyond_the_corner(self) -> None:
        trace = self.run((-1, -1), (1, -1))
        assert trace.outcome.completed and trace.segments[-1].sliding == "x == 0"
        assert trace.final() == pytest.approx({"x": 0.0, "y": -6.0}, abs=1e-6)

    def test_it_leaves_into_a_quadrant(self) -> None:
        """Both lower flows lead to the right: the axis x = 0 is no surface between the two
        right quadrants, although they share it as a boundary."""
        trace = self.run((1, -1), (1, -1))
        assert trace.outcome.completed and trace.segments[-1].sliding == ""
        assert trace.final() == pytest.approx({"x": 6.0, "y": -6.0}, abs=1e-6)

    def test_it_leaves_along_the_other_axis(self) -> None:
        """On y = 0, x > 0 half of (-1, -1) and half of (3, 1) make (1, 0)."""
        trace = self.run((3, 1), (3, 1))
        assert trace.outcome.completed and trace.segments[-1].sliding == "y == 0"
        assert trace.final() == pytest.approx({"x": 6.0, "y": 0.0}, abs=1e-6)

    def test_it_stops_where_each_leads_onto_the_other(self) -> None:
        trace = self.run((-1, 1), (1, 1))
        assert trace.outcome.ending is Ending.CHATTERING
        assert trace.outcome.time == pytest.approx(2.0, abs=1e-9)
        assert "two surfaces of edges at once, `x == 0` and `y == 0`" in trace.outcome.sentence


def test_traces_keep_the_mark() -> None:
    trace = simulate(relay(sin(T) * Fraction(1, 2)), until=5.0, sliding=True)
    again = from_json(to_json(trace))
    assert [s.sliding for s in again.segments] == [s.sliding for s in trace.segments]
    assert again.segments[-1].sliding == "x == 0"
    assert compare_traces(trace, again).largest == 0.0
