"""Small rectangular systems whose answers are worked out by hand, each with an unsafe twin,
and random ones against a search over paths of its own.
"""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest

from workbench.abstraction.strategies.rectangular import RectangularStrategy
from workbench.abstraction.strategies.strategy import Task
from workbench.models.automaton import (
    Automaton,
    Constraint,
    Edge,
    HybridAutomaton,
    Initial,
    Location,
    Property,
    Range,
    Variable,
)
from workbench.models.certificates.check import check
from workbench.models.certificates.judgement import Accepted
from workbench.models.expressions.expression import (
    Expression,
    compare,
    conjunction,
    constant,
    multiply,
    variable,
)
from workbench.models.expressions.operators import Op
from workbench.models.expressions.traversal import substitute
from workbench.models.load import load
from workbench.models.smt.solver import Limits, Unsatisfiable, satisfiable
from workbench.models.verdict import Falsified, Unknown, Verdict, Verified

CROSSING = """
// A train 600 m away at 30 to 40 m/s needs 15 s at least; the gate, raised by 90 degrees, begins
// to fall after `delay` at most and falls by 10 degrees in a second: closed after delay + 9 s.
mode Waiting(real delay) {
  write analog real distance, angle, timer;
  diff { d(distance) in [-40, -30]; d(angle) == 0; d(timer) == 1; }
  inv { timer <= delay }
}
mode Falling() {
  write analog real distance, angle, timer;
  diff { d(distance) in [-40, -30]; d(angle) == -10; d(timer) == 0; }
  inv { angle >= 0 }
}
mode Closed() {
  write analog real distance, angle, timer;
  diff { d(distance) in [-40, -30]; d(angle) == 0; d(timer) == 0; }
}
mode Top(real delay) {
  write analog real distance, angle, timer;
  mode waiting = Waiting(delay);
  mode falling = Falling();
  mode closed = Closed();
  trans from init to waiting;
  trans #lower from waiting to falling;
  trans #shut from falling to closed when angle <= 0;
}
agent Crossing(real delay = 5) {
  private analog real distance = 600, angle = 90, timer = 0;
  mode top = Top(delay);
  assert "gate" { distance > 0 || angle <= 0 }
}
"""

SHOP = """
// Two jobs, two machines: first machine 1 for 3 and then 2 for 4; the other 2 for 2, then 1 for
// 5. Machine 1 alone is busy for 8, and 8 is possible: 1 serves 0-3 and 3-8, 2 serves 0-2 and 3-7.
mode Idle() { write analog real clock; diff { d(clock) == 0; } }
mode Busy(real needs) { write analog real clock; diff { d(clock) == 1; } inv { clock <= needs } }
mode JobTop(real one, real two) {
  write analog real clock;
  readwrite discrete int first, second;
  write discrete int done;
  mode waiting = Idle();
  mode started = Busy(one);
  mode between = Idle();
  mode again = Busy(two);
  mode over = Idle();
  trans from init to waiting;
  trans #begin from waiting to started when first == 0 do { first = 1; clock = 0; }
  trans #put from started to between when clock >= one do { first = 0; }
  trans #take from between to again when second == 0 do { second = 1; clock = 0; }
  trans #finish from again to over when clock >= two do { second = 0; done = 1; }
}
agent Job(real one, real two) {
  readwrite discrete int first, second;
  write discrete int done;
  private analog real clock = 0;
  init { done = 0; }
  mode top = JobTop(one, two);
}
mode Running() { write analog real now; diff { d(now) == 1; } inv { now <= 20 } }
agent Time() { write analog real now; init { now = 0; } mode top = Running(); }
agent Shop(real best = 8) {
  private discrete int m1 = 0, m2 = 0, a = 0, b = 0;
  private analog real now;
  agent time = Time();
  agent left = Job(3, 4) [ first, second, done := m1, m2, a ];
  agent right = Job(2, 5) [ first, second, done := m2, m1, b ];
  assert "not sooner" { a + b < 2 || now >= best }
}
"""

PREEMPTION = """
// A stopwatch: a task of 5 is interrupted once, between 1 and 2, for 3; it ends at 8 exactly.
mode Low() {
  write analog real own, other, now;
  diff { d(own) == 1; d(other) == 0; d(now) == 1; }
  inv { now <= 2 }
}
mode High() {
  write analog real own, other, now;
  diff { d(own) == 0; d(other) == 1; d(now) == 1; }
  inv { other <= 3 }
}
mode Rest() {
  write analog real own, other, now;
  diff { d(own) == 1; d(other) == 0; d(now) == 1; }
  inv { own <= 5 }
}
mode Done() {
  write analog real own, other, now;
  diff { d(own) == 0; d(other) == 0; d(now) == 0; }
}
mode Top() {
  write analog real own, other, now;
  mode low = Low();
  mode high = High();
  mode rest = Rest();
  mode done = Done();
  trans from init to low;
  trans #arrive from low to high when now >= 1;
  trans #resume from high to rest when other >= 3;
  trans #end from rest to done when own >= 5;
}
agent Processor(real by = 8) {
  private analog real own = 0, other = 0, now = 0;
  mode top = Top();
  assert "in time" { now <= by }
}
"""

TANKS = """
// One hose fills a tank by 3 while the other drains by 2; it is moved when that one is down to 5,
// which takes at most 1/2: the level falls to 4 and no lower.
mode Fill(real first, real second, real delay) {
  write analog real a, b, timer;
  diff { d(a) == first; d(b) == second; d(timer) == 1; }
  inv { timer <= delay }
}
mode Steady(real first, real second) {
  write analog real a, b, timer;
  diff { d(a) == first; d(b) == second; d(timer) == 0; }
  inv { (first > 0 || a >= 5) && (second > 0 || b >= 5) }
}
mode Top(real delay) {
  write analog real a, b, timer;
  mode left = Steady(3, -2);
  mode right = Steady(-2, 3);
  mode toRight = Fill(3, -2, delay);
  mode toLeft = Fill(-2, 3, delay);
  trans from init to left;
  trans #low from left to toRight when b <= 5 do { timer = 0; }
  trans #over from toRight to right;
  trans #empty from right to toLeft when a <= 5 do { timer = 0; }
  trans #back from toLeft to left;
}
agent Tanks(real least = 4, real delay = 0.5) {
  private analog real a in [6, 8], b in [6, 8], timer = 0;
  mode top = Top(delay);
  assert "enough" { a >= least && b >= least }
}
"""

SAMPLED = """
// A heater is switched at samples, at most 1 apart: off from 21 on, on down to 19. Rates are within
// [1, 2] and [-2, -1]: just below 21 it may stay on, and 23 is not passed; nor is 17.
mode Heating() {
  write analog real x, timer;
  diff { d(x) in [1, 2]; d(timer) == 1; }
  inv { timer <= 1 }
}
mode Cooling() {
  write analog real x, timer;
  diff { d(x) in [-2, -1]; d(timer) == 1; }
  inv { timer <= 1 }
}
mode Top() {
  write analog real x, timer;
  mode heating = Heating();
  mode cooling = Cooling();
  trans from init to heating;
  trans #off from heating to cooling when x >= 20 do { timer = 0; }
  trans #stayOn from heating to heating when x <= 21 do { timer = 0; }
  trans #on from cooling to heating when x <= 20 do { timer = 0; }
  trans #stayOff from cooling to cooling when x >= 19 do { timer = 0; }
}
agent Heater(real most = 23, real least = 17) {
  private analog real x in [19, 20], timer = 0;
  mode top = Top();
  assert "warm" { x <= most && x >= least }
}
"""


def verdict(text: str, folder: Path, **parameters: str) -> tuple[Automaton, Verdict]:
    values = {name: Fraction(value) for name, value in parameters.items()}
    file = folder / "model.charon"
    file.write_text(text)
    model = load(file, parameters=values).automaton
    return model, RectangularStrategy().attempt(Task(model, model.properties[0]))


@pytest.mark.parametrize(
    ("text", "parameters", "expected"),
    [
        (CROSSING, {"delay": "5"}, Verified),
        (CROSSING, {"delay": "6"}, Verified),
        (CROSSING, {"delay": "61/10"}, Falsified),
        (SHOP, {"best": "8"}, Verified),
        (SHOP, {"best": "33/4"}, Falsified),
        (PREEMPTION, {"by": "8"}, Verified),
        (PREEMPTION, {"by": "79/10"}, Falsified),
        (TANKS, {"least": "4"}, Verified),
        (TANKS, {"least": "17/4"}, Falsified),
        (TANKS, {"delay": "3/5"}, Falsified),
        (SAMPLED, {}, Verified),
        (SAMPLED, {"most": "45/2"}, Falsified),
        (SAMPLED, {"least": "35/2"}, Falsified),
    ],
)
def test_answers_worked_out_by_hand(
    text: str, parameters: dict[str, str], expected: type, tmp_path: Path
) -> None:
    model, found = verdict(text, tmp_path, **parameters)
    assert isinstance(found, expected), found
    if isinstance(found, Verified):
        again = check(model, model.properties[0].name, found.certificate)
        assert isinstance(again, Accepted)
    if isinstance(found, Falsified):
        assert found.confirmations[0].rigorous


# Random rectangular automata, against a search over paths

NAMES = ("x", "y")
LIMITS = Limits(3_000_000, 5_000)


def random_rectangular(seed: int) -> HybridAutomaton:
    draw = random.Random(seed)
    x, y = (variable(n) for n in NAMES)

    def rates() -> tuple[Constraint, ...]:
        found = []
        for name in NAMES:
            low = draw.randint(-2, 2)
            found.append(Constraint(name, Range(constant(low), constant(low + draw.randint(0, 1)))))
        return tuple(found)

    def half_plane() -> Expression:
        a, b = draw.choice([(1, 0), (0, 1), (1, 1), (1, -1), (-1, 0), (0, -1), (1, 2)])
        return compare(Op.LESS_EQUAL, a * x + b * y, draw.randint(-2, 4))

    places = ["a", "b", "c"]
    inside = conjunction(x >= -6, x <= 6, y >= -6, y <= 6)
    edges = []
    for number in range(5):
        resets = []
        if draw.random() < 0.6:
            low = draw.randint(-1, 1)
            name = draw.choice(NAMES)
            resets.append(
                Constraint(name, Range(constant(low), constant(low + draw.randint(0, 1))))
            )
        edges.append(
            Edge(
                draw.choice(places),
                draw.choice(places),
                conjunction(half_plane(), half_plane()),
                tuple(resets),
                name=f"e{number}",
            )
        )
    return HybridAutomaton(
        "random",
        tuple(Variable(n) for n in NAMES),
        tuple(Location(p, rates(), invariant=conjunction(inside, half_plane())) for p in places),
        tuple(edges),
        (Initial("a", conjunction(x >= 0, x <= 1, y >= 0, y <= 1)),),
        properties=(Property("low", compare(Op.LESS_EQUAL, x + y, draw.randint(3, 7))),),
    )


def violation_within(model: HybridAutomaton, jumps: int) -> bool:
    """Whether some path of at most that many jumps leads to a bad state: for every sequence of
    edges, a linear question in the states at both ends of every stay."""
    for length in range(jumps + 1):
        for path in product(model.edges, repeat=length):
            if _links(path) and _is_possible(model, path):
                return True
    return False


def _links(path: tuple[Edge, ...]) -> bool:
    places = ["a", *(edge.target for edge in path)]
    return all(edge.source == place for edge, place in zip(path, places, strict=False))


def _is_possible(model: HybridAutomaton, path: tuple[Edge, ...]) -> bool:
    def at(condition: Expression, stay: int, end: str) -> Expression:
        return substitute(condition, {n: variable(f"{n}{stay}{end}") for n in NAMES})

    places = ["a", *(edge.target for edge in path)]
    parts = [at(model.initial[0].condition, 0, "in")]
    for k, name in enumerate(places):
        place = model.location(name)
        delay = variable(f"t{k}")
        parts += [delay >= 0, at(place.invariant, k, "in"), at(place.invariant, k, "out")]
        for n in NAMES:
            allowed = place.flow_of(n)
            moved = variable(f"{n}{k}out") - variable(f"{n}{k}in")
            parts.append(compare(Op.GREATER_EQUAL, moved, multiply(allowed.low, delay)))
            parts.append(compare(Op.LESS_EQUAL, moved, multiply(allowed.high, delay)))
        if k < len(path):
            parts.append(at(path[k].guard, k, "out"))
            reset = {r.variable: r.range for r in path[k].resets}
            for n in NAMES:
                new = variable(f"{n}{k + 1}in")
                if n in reset:
                    parts += [new >= reset[n].low, new <= reset[n].high]
                else:
                    parts.append(compare(Op.EQUAL, new, variable(f"{n}{k}out")))
    bad = model.properties[0].bad_states(())
    parts.append(at(bad, len(path), "out"))
    return not isinstance(satisfiable(conjunction(*parts), limits=LIMITS), Unsatisfiable)


def agrees(seed: int, jumps: int) -> Verdict:
    model = random_rectangular(seed)
    found = RectangularStrategy().attempt(Task(model, model.properties[0]))
    violated = violation_within(model, jumps)
    if isinstance(found, Verified):
        assert not violated
    if violated:
        assert isinstance(found, Falsified), found
    return found


def test_random_automata_agree_with_the_search_over_paths() -> None:
    found = [agrees(seed, 2) for seed in range(16)]
    assert sum(isinstance(v, Verified) for v in found) >= 3
    assert sum(isinstance(v, Falsified) for v in found) >= 3
    assert sum(isinstance(v, Unknown) for v in found) <= 2


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 180))
def test_more_random_automata_agree_with_the_search_over_paths(seed: int) -> None:
    agrees(seed, 3)
