"""Where runs are stuck, laid beside what a small exact semantics says of single states.

Flows are polynomial in time, with small numbers: what holds after a short moment holds from the
first instant on until then.
`stuck` must hold wherever a run cannot go on, `may_go_on` wherever it can.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from random import Random

import pytest

from workbench.abstraction.going_on import may_go_on
from workbench.models.automaton import (
    INT,
    Automaton,
    Constraint,
    Edge,
    HybridAutomaton,
    Initial,
    Kind,
    Location,
    Range,
    Variable,
)
from workbench.models.expressions.evaluation import evaluate, holds
from workbench.models.expressions.expression import TRUE, Expression, conjunction, negation
from workbench.models.expressions.polynomial_flow import Polynomial, polynomial, value_at
from workbench.models.expressions.text import parse_expression
from workbench.models.lowering.problem import proved_view
from workbench.models.lowering.stuck import fault_of_places, stuck

MOMENT = Fraction(1, 4096)
"""A polynomial of a condition, of degree 4 and with coefficients that are halves and below 20, has
no zero so soon, but perhaps at once."""
TYPES = {"n": INT}
RELATIONS = ("<=", ">=", "<=", ">=", "==", "<", ">", "!=")


def condition(random: Random, *, weak: bool) -> Expression:
    """A condition on x, y and n; a weak one has no strict comparison of what flows."""
    relations = RELATIONS[:5] if weak else RELATIONS

    def comparison() -> str:
        left = random.choice(("x", "y", "x + y", "x - 2*y", "n", "max(x, y)", "abs(x)", "x*y"))
        relation = random.choice(RELATIONS if left == "n" else relations)
        return f"{left} {relation} {random.choice((0, 1, 1, 2, -1))}"

    parts = [comparison() for _ in range(random.choice((1, 1, 2, 3)))]
    return parse_expression(f" {random.choice(('&&', '||'))} ".join(parts))


def model(random: Random) -> HybridAutomaton:
    """Two places; x may follow y, and y has a constant slope."""
    places, edges = [], []
    for name in ("a", "b"):
        speed = random.choice(("y", "y + 1", "1", "-1", "0", "2", "y - 2"))
        slope = random.choice(("0", "1", "-1", "0"))
        flows = (
            Constraint("x", Range.exactly(parse_expression(speed))),
            Constraint("y", Range.exactly(parse_expression(slope))),
        )
        places.append(Location(name, flows, invariant=condition(random, weak=True)))
        for _ in range(random.choice((0, 1, 1, 2))):
            values = [("x", random.choice(("0", "-x", "y", "1"))), ("n", random.choice("01"))]
            kept = random.sample(values, random.randint(0, 2))
            resets = tuple(Constraint(v, Range.exactly(parse_expression(e))) for v, e in kept)
            target, urgent = random.choice("ab"), random.random() < 0.4
            guard = condition(random, weak=False)
            edges.append(Edge(name, target, guard, resets, urgent=urgent))
    flowing = (Variable("x"), Variable("y"), Variable("n", INT, Kind.DISCRETE))
    return HybridAutomaton("random", flowing, tuple(places), tuple(edges), (Initial("a"),))


def path_of(place: Location, values: Mapping[str, Fraction]) -> dict[str, Polynomial]:
    """The solution from a state: y is linear in time, and x quadratic."""
    speed, change = place.flow_of("x").exact, place.flow_of("y").exact
    assert speed is not None and change is not None
    slope = evaluate(change, values)
    assert isinstance(slope, Fraction)
    now = evaluate(speed, values)
    later = evaluate(speed, {**values, "y": values["y"] + slope})
    assert isinstance(now, Fraction) and isinstance(later, Fraction)
    return {
        "x": polynomial(values["x"], now, (later - now) / 2),
        "y": polynomial(values["y"], slope),
        "n": polynomial(values["n"]),
    }


def can_go_on(automaton: Automaton, place: Location, values: Mapping[str, Fraction]) -> bool:
    """By the semantics: some time passes, or an edge leads to another state (an urgent one also
    where its guard is about to hold)."""
    path = path_of(place, values)
    edges = automaton.edges_from(place.name)
    waits = conjunction(*(negation(edge.guard) for edge in edges if edge.urgent))
    later = {name: value_at(along, MOMENT) for name, along in path.items()}
    lasting = conjunction(place.invariant, waits)
    if holds(lasting, values) and holds(lasting, later):
        return True
    for edge in edges:
        if not holds(edge.guard, values) and not (edge.urgent and holds(edge.guard, later)):
            continue
        after = dict(values)
        for reset in edge.resets:
            assert reset.range.low is not None
            given = evaluate(reset.range.low, values)
            assert isinstance(given, Fraction)
            after[reset.variable] = given
        entered = holds(automaton.location(edge.target).invariant, after)
        if entered and (edge.target != edge.source or after != values):
            return True
    return False


@pytest.mark.parametrize("seed", range(40))
def test_states_are_judged_as_the_semantics_does(seed: int) -> None:
    random = Random(seed)
    seen: Counter[tuple[bool, bool]] = Counter()
    for _ in range(12):
        automaton = model(random)
        assert fault_of_places(automaton) is None
        for place in automaton.locations:
            ends = stuck(automaton, place.name, TYPES)
            goes_on = may_go_on(automaton, place.name, TYPES)
            for _ in range(25):
                draw = (Fraction(random.choice((-2, -1, 0, 0, 1, 1, 2, 3)), 1) for _ in "xy")
                values = dict(zip("xy", draw, strict=True)) | {"n": Fraction(random.choice((0, 1)))}
                if not holds(place.invariant, values):
                    continue
                truth = can_go_on(automaton, place, values)
                assert truth or holds(ends, values), (automaton, place.name, values)
                assert not truth or holds(goes_on, values), (automaton, place.name, values)
                seen[truth, holds(ends, values)] += 1
    assert seen[True, False] > 10 * seen[True, True]
    assert seen[True, False] and seen[False, True]


def test_what_borders_leave_out_is_refused() -> None:
    for written in ("x < 2", "x <= 1 || x > 3", "!(x >= 2)", "x != 0", "!(n > 0) && 2 > x"):
        place = Location("a", (), invariant=parse_expression(written))
        strict = HybridAutomaton("strict", (Variable("x"), Variable("n")), (place,))
        assert "is strict" in (fault_of_places(strict) or "")
    for written in ("x <= 2", "n != 0", "!(x > 2)", "!(n == 1) && x >= 0"):
        place = Location("a", (), invariant=parse_expression(written))
        counter = Variable("n", INT, Kind.DISCRETE)
        fine = HybridAutomaton("fine", (Variable("x"), counter), (place,))
        assert fault_of_places(fine) is None


@pytest.mark.parametrize(
    "written",
    [
        "(x < 5 ? 1 : 0) >= 1",
        "(x < 5 ? true : false)",
        "(x < 5) == true",
        "sign(5 - x) >= 1/2",
        "floor(x) <= 4",
        "1/(5 - x) >= 1/10",
        "log(5 - x) <= 100",
        "x <= 3 || 1/(5 - x) >= 0",
    ],
)
def test_a_border_that_is_left_out_in_disguise(written: str) -> None:
    """A run comes ever closer to x = 5, and no state that it comes to is its last."""
    climbs = (Constraint("x", Range.exactly(parse_expression("1"))),)
    place = Location("a", climbs, invariant=parse_expression(written))
    model = HybridAutomaton("border", (Variable("x"),), (place,), (), (Initial("a"),))
    assert "border" in (fault_of_places(model) or "") or "strict" in (fault_of_places(model) or "")
    assert stuck(model, "a", {}) == TRUE


@pytest.mark.parametrize(
    ("equation", "invariant"),
    [
        (Range.exactly(parse_expression("sign(5 - x)")), "y >= 1/2"),
        (Range(parse_expression("x < 5 ? 0 : 1"), parse_expression("x < 5 ? 1 : 0")), "true"),
    ],
)
def test_a_border_that_an_equation_leaves_out(equation: Range, invariant: str) -> None:
    climbs = (Constraint("x", Range.exactly(parse_expression("1"))),)
    place = Location("a", climbs, (Constraint("y", equation),), parse_expression(invariant))
    names = (Variable("x"), Variable("y"))
    model = HybridAutomaton("border", names, (place,), (), (Initial("a"),))
    assert stuck(proved_view(model), "a", {}) == TRUE


@pytest.mark.parametrize("written", ["sqrt(x) <= 2", "x*x <= 4", "abs(x) <= 2 && min(x, 1) >= -1"])
def test_closed_conditions_are_no_faults(written: str) -> None:
    place = Location("a", (), invariant=parse_expression(written))
    assert fault_of_places(HybridAutomaton("fine", (Variable("x"),), (place,))) is None
