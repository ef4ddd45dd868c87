"""Whatever is said to refine survives simulated runs, matched by a checker of its own."""

from __future__ import annotations

from random import Random

import pytest
from random_refinements import rich_pair

from tests.support.slow import slow_but
from workbench.abstraction.refinement.flat import Settings, refine
from workbench.abstraction.refinement.membership import Matcher
from workbench.abstraction.refinement.outcome import Refines
from workbench.models.automaton import (
    Constraint,
    Edge,
    HybridAutomaton,
    Initial,
    Location,
    Range,
    Variable,
)
from workbench.models.expressions.evaluation import evaluate
from workbench.models.expressions.expression import Expression, conjunction, constant, variable
from workbench.models.trace import Trace
from workbench.simulate.policy import Policy
from workbench.simulate.run import prepare, simulate

X = variable("x")
SLACK = 1e-4


def between(low: int, high: int) -> Expression:
    return conjunction(low <= X, high >= X) if low <= high else conjunction(X <= low, X >= low)


def random_pair(random: Random) -> tuple[HybridAutomaton, HybridAutomaton]:
    """Two locations with an affine flow, and an automaton that is mostly more generous."""

    def more() -> int:
        return random.choice([0, 0, 1, 2, 2, -1])

    places, edges, simple_places, simple_edges = [], [], [], []
    for name, other in (("p", "q"), ("q", "p")):
        low, high = random.randint(-6, 0), random.randint(1, 6)
        slope, offset = random.randint(-1, 1), random.choice([-3, -2, -1, 1, 2, 3])
        rate = slope * X + offset
        ends = [slope * low + offset, slope * high + offset]
        flow = Range(rate, rate + random.choice([0, 0, 1]))
        places.append(Location(name, (Constraint("x", flow),), (), between(low, high)))
        wide = Range(constant(min(ends) - more()), constant(max(ends) + 1 + more()))
        bounds = between(low - more(), high + more())
        simple_places.append(Location(name, (Constraint("x", wide),), (), bounds))
        level, jump = random.randint(low, high), random.choice([0, 0, -1, 1])
        up = random.random() < 0.5
        level_a = level - more() if up else level + more()
        resets = () if jump == 0 else (Constraint("x", Range.exactly(X + jump)),)
        edges.append(Edge(name, other, level <= X if up else level >= X, resets))
        loose = () if jump == 0 else (Constraint("x", Range(X + jump - more(), X + jump + more())),)
        simple_edges.append(Edge(name, other, level_a <= X if up else level_a >= X, loose))
    start = random.randint(-1, 1)
    first = Initial("p", between(start, start + 1))
    simple_first = Initial("p", between(start - more(), start + 1 + more()))
    x = (Variable("x"),)
    return (
        HybridAutomaton("detailed", x, tuple(places), tuple(edges), (first,)),
        HybridAutomaton("simple", x, tuple(simple_places), tuple(simple_edges), (simple_first,)),
    )


def holds_nearly(condition: Expression, value: float) -> bool:
    return any(evaluate(condition, {"x": value + d}) is True for d in (0.0, SLACK, -SLACK))


def in_range(given: Range, at: float, value: float) -> bool:
    low = -1e9 if given.low is None else float(evaluate(given.low, {"x": at}))
    high = 1e9 if given.high is None else float(evaluate(given.high, {"x": at}))
    return low - 10 * SLACK <= value <= high + 10 * SLACK


def is_behaviour(trace: Trace, automaton: HybridAutomaton) -> bool:
    """Whether the automaton can follow the values of a run, by trying every location."""
    jumps = [e.time for e in trace.jumps]
    first = trace.segments[0]
    x = float(first.valuation(first.start)["x"])
    now = {i.location for i in automaton.initial if holds_nearly(i.condition, x)}
    if any(t <= first.start for t in jumps):
        now = {place.name for place in automaton.locations}  # jumps at once: not looked at
    before: float | None = None
    for segment in trace.segments:
        start = float(segment.valuation(segment.start)["x"])
        if before is not None:
            count = sum(t == segment.start for t in jumps)
            if count > 1:
                now = {place.name for place in automaton.locations}
            else:
                reached = set(now) if abs(start - before) < SLACK else set()
                for name in now:
                    for edge in automaton.edges_from(name):
                        if holds_nearly(edge.guard, before) and _lands(edge, before, start):
                            reached.add(edge.target)
                now = reached
        now = {n for n in now if _stays(segment, automaton.location(n))}
        if not now:
            return False
        before = float(segment.valuation(segment.end)["x"])
    return True


def _lands(edge: Edge, before: float, after: float) -> bool:
    if not edge.resets:
        return abs(after - before) < SLACK
    return in_range(edge.resets[0].range, before, after)


def _stays(segment: object, place: Location) -> bool:
    span = segment.end - segment.start  # type: ignore[attr-defined]
    for i in range(7):
        t = segment.start + span * i / 6  # type: ignore[attr-defined]
        x = float(segment.valuation(t)["x"])  # type: ignore[attr-defined]
        if not holds_nearly(place.invariant, x):
            return False
        if span > 1e-3 and 0 < i < 6:
            h = span * 1e-3
            ahead = float(segment.valuation(t + h)["x"])  # type: ignore[attr-defined]
            behind = float(segment.valuation(t - h)["x"])  # type: ignore[attr-defined]
            slope = (ahead - behind) / (2 * h)
            low, high = place.flows[0].range.low, place.flows[0].range.high
            assert low is not None and high is not None
            bottom, top = (float(evaluate(b, {"x": x})) for b in (low, high))
            if not bottom - 0.02 <= slope <= top + 0.02:
                return False
    return True


def runs(automaton: HybridAutomaton, count: int, seed: int) -> list[Trace]:
    prepared = prepare(automaton)
    found = [
        simulate(
            prepared, until=6, policy=Policy.random(), generator=Random(seed + i), max_jumps=30
        )
        for i in range(count)
    ]
    return [t for t in found if t.segments]


@pytest.mark.parametrize("part", slow_but([0], range(4)))
def test_what_refines_survives_its_runs(part: int) -> None:
    random = Random(100 + part)
    proved = checked = 0
    for number in range(40):
        detailed, simple = random_pair(random)
        outcome = refine(detailed, simple, ("x",), Settings(refute=False, reach=number % 4 == 0))
        if not isinstance(outcome, Refines):
            continue
        proved += 1
        for trace in runs(detailed, 12, 1_000 * number):
            assert is_behaviour(trace, simple), (part, number, trace.outcome)
            checked += 1
    assert proved >= 3
    assert checked >= 20


@pytest.mark.slow
@pytest.mark.parametrize("part", range(12))
def test_what_refines_survives_many_more_runs(part: int) -> None:
    """Fifteen pairs a part, forty runs each: about seven thousand runs over all parts."""
    random = Random(10_000 + part)
    proved = number = 0
    while proved < 15:
        number += 1
        detailed, simple = random_pair(random)
        outcome = refine(detailed, simple, ("x",), Settings(refute=False, reach=number % 4 == 0))
        if isinstance(outcome, Refines):
            proved += 1
            for trace in runs(detailed, 40, 1_000 * number):
                assert is_behaviour(trace, simple), (part, number, trace.outcome)


def survives(first: int, last: int, count: int) -> tuple[int, int]:
    """Matches runs of richer pairs that are said to refine by the search of the refuter, which
    knows nothing of simulations; how many pairs and runs there were."""
    proved = checked = 0
    for number in range(first, last):
        detailed, simple, observed = rich_pair(Random(number))
        outcome = refine(detailed, simple, observed, Settings(refute=False, reach=number % 5 == 0))
        if not isinstance(outcome, Refines):
            continue
        proved += 1
        matcher = Matcher(detailed, simple, observed)
        for trace in runs(detailed, count, 1_000 * number):
            assert matcher.mismatch(trace) is None, number
            checked += 1
    return proved, checked


@pytest.mark.slow
def test_richer_pairs_survive_their_runs() -> None:
    proved, checked = survives(0, 12, 3)
    assert proved >= 1
    assert checked >= 3


@pytest.mark.slow
@pytest.mark.parametrize("part", range(8))
def test_richer_pairs_survive_many_runs(part: int) -> None:
    proved, checked = survives(1_000 * part, 1_000 * part + 60, 12)
    assert proved >= 5
    assert checked >= 60


def test_the_test_can_fail() -> None:
    """Runs of pairs that do not refine are told from those that do."""
    random = Random(5)
    caught = 0
    for number in range(30):
        detailed, simple = random_pair(random)
        outcome = refine(detailed, simple, ("x",), Settings(refute=False, reach=False))
        if isinstance(outcome, Refines):
            continue
        caught += not all(is_behaviour(t, simple) for t in runs(detailed, 6, number))
    assert caught >= 5


def test_refuted_pairs_are_not_proved_and_the_other_way_round() -> None:
    """A refutation and a proof of one pair exclude each other, whoever comes first."""
    from workbench.abstraction.refinement.refutation import find_unmatched_run

    random = Random(17)
    refuted = 0
    for _ in range(6):
        detailed, simple = random_pair(random)
        outcome = refine(detailed, simple, ("x",), Settings(refute=False))
        found = find_unmatched_run(detailed, simple, ("x",), [], 3)
        assert found is None or not isinstance(outcome, Refines)
        refuted += found is not None
    assert refuted >= 1
