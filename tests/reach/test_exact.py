"""Exact backward reachability against known formulas, Sturm's theorem and closed forms."""

from __future__ import annotations

import random
import re
import subprocess
import sys
from fractions import Fraction
from itertools import product

import pytest

from workbench.models.expressions.evaluation import evaluate
from workbench.models.expressions.expression import (
    ONE,
    Expression,
    compare,
    conjunction,
    constant,
    disjunction,
    negation,
    variable,
)
from workbench.models.expressions.operators import Op
from workbench.models.expressions.polynomial_flow import always, polynomial
from workbench.models.expressions.text import parse_expression
from workbench.models.smt.solver import Limits, Unsatisfiable, satisfiable
from workbench.reach.exact.backward import BackwardReach, backward_reach
from workbench.reach.exact.flow import NotNilpotentError, flow_polynomial, polynomial_flow
from workbench.reach.exact.polynomial_in_time import InTime
from workbench.reach.exact.qepcad import Proposal, QepcadError, eliminated, find_installation
from workbench.reach.exact.virtual_substitution import NotEliminableError

LIMITS = Limits(200_000_000, 60_000)


def parsed(text: str) -> Expression:
    return parse_expression(text)


def flow(**rates: str) -> dict[str, InTime]:
    return polynomial_flow({name: parsed(rate) for name, rate in rates.items()})


def equivalent(first: Expression, second: Expression) -> bool:
    difference = disjunction(
        conjunction(first, negation(second)), conjunction(second, negation(first))
    )
    return isinstance(satisfiable(difference, limits=LIMITS), Unsatisfiable)


# Flows


def test_the_flow_of_a_chain_of_integrators() -> None:
    zero, one = Fraction(0), Fraction(1)
    matrix = [[zero, one, zero], [zero, zero, one], [zero, zero, zero]]
    gains = [[zero], [zero], [one]]
    found = flow_polynomial(matrix, gains, [parsed("b*time + c")], ["x", "v", "a"])
    assert found["a"] == (variable("a"), variable("c"), parsed("b") * Fraction(1, 2))
    assert found["x"][4] == parsed("b") * Fraction(1, 24)
    values = {"x": 1, "v": 2, "a": 3, "b": 4, "c": 5}
    at_two = sum(evaluate(c, values) * 2**k for k, c in enumerate(found["x"]))
    assert at_two == 1 + 2 * 2 + Fraction(3, 2) * 4 + Fraction(5, 6) * 8 + Fraction(4, 24) * 16


@pytest.mark.parametrize("rate", ["x", "x - y", "x*y"])
def test_other_flows_are_refused(rate: str) -> None:
    with pytest.raises(NotNilpotentError, match="nilpotent"):
        flow(x=rate, y="1")


# Known formulas


@pytest.fixture(scope="module")
def platoon() -> BackwardReach:
    """Relative speed r, relative acceleration k, and a jerk b of the follower."""
    return backward_reach(flow(d="r", r="k - b*time", k="0"), parsed("d <= 0"))


def test_the_platoon_has_the_known_formula(platoon: BackwardReach) -> None:
    assert platoon.is_verified
    known = parsed(
        "d <= 0 || b > 0 || (r < 0 || k < 0) && "
        "9*d^2*b^2 + 18*d*r*k*b - 8*r^3*b + 6*d*k^3 - 3*r^2*k^2 <= 0"
    )
    assert equivalent(platoon.formula, known)


def test_positive_jerks_collide_and_the_papers_sentence_needs_its_side_condition(
    platoon: BackwardReach,
) -> None:
    """With negative b and c it depends: at v1 = 15, v2 = 20 (front slower), b = c = -1
    collides, b = -6, c = -20 does not; an equally fast front with ap >= 0 never collides."""
    at = platoon.evaluate
    assert at({"d": 1, "r": 7, "k": 3, "b": 1})
    assert at({"d": 1, "r": -5, "k": 1, "b": -1})
    assert not at({"d": 1, "r": -5, "k": 20, "b": -6})
    assert at({"d": 1, "r": -3, "k": 1, "b": -1})
    safe = conjunction(
        platoon.formula, parsed("d == 1"), parsed("b < 0"), parsed("k > 0"), parsed("r >= 0")
    )
    assert isinstance(satisfiable(safe, limits=LIMITS), Unsatisfiable)


def test_constant_jerk_in_four_dimensions_has_the_same_form(platoon: BackwardReach) -> None:
    found = backward_reach(flow(d="vp - v", vp="ap", ap="0", v="a", a="c"), parsed("d <= 0"))
    assert found.is_necessary
    values = random.Random(5)
    for _ in range(200):
        vp, v, ap, a, c = (Fraction(values.randint(-4, 4)) for _ in range(5))
        state = {"d": Fraction(values.randint(1, 4)), "vp": vp, "v": v, "ap": ap, "a": a, "c": c}
        same = {"d": state["d"], "r": vp - v, "k": ap - a, "b": c}
        assert found.evaluate(state) == platoon.evaluate(same)


# Random instances, by Sturm's theorem


def reached(coefficients: list[Fraction], op: Op, until: Fraction) -> bool:
    opposite = {Op.LESS_EQUAL: Op.GREATER, Op.LESS: Op.GREATER_EQUAL}[op]
    moving = {"p": polynomial(*coefficients)}
    return not always(compare(opposite, variable("p"), 0), moving, until)


@pytest.mark.parametrize(
    ("degree", "op"),
    [
        (1, Op.LESS_EQUAL),
        (1, Op.LESS),
        (2, Op.LESS_EQUAL),
        (2, Op.LESS),
        pytest.param(3, Op.LESS_EQUAL, marks=pytest.mark.slow),
        pytest.param(3, Op.LESS, marks=pytest.mark.slow),
    ],
)
def test_formulas_with_a_time_bound_agree_with_sturm(degree: int, op: Op) -> None:
    names = ["p0", "p1", "p2", "p3"]
    rates = {"x": "0", **dict.fromkeys(names, "0")}
    rates["x"] = " + ".join(f"{k}*p{k}*time^{k - 1}" for k in range(1, degree + 1))
    found = backward_reach(flow(**rates), compare(op, variable("x"), 0), variable("T"))
    assert found.is_necessary
    draw = random.Random(degree)
    for _ in range(150):
        numbers = [Fraction(draw.randint(-6, 6), draw.choice((1, 2))) for _ in range(degree + 1)]
        until = Fraction(draw.randint(0, 8), 2)
        state = {"x": numbers[0], "T": until, "p0": numbers[0]}
        state |= {f"p{k}": a for k, a in enumerate(numbers)}
        assert found.evaluate(state) == reached(numbers, op, until)


def test_several_comparisons_must_hold_at_once() -> None:
    """A ball in [0, 1] x [0, 1]: both coordinates at the same time."""
    found = backward_reach(
        flow(x="u", y="w", u="0", w="0"), parsed("x >= 0 && x <= 1 && y >= 0 && y <= 1")
    )
    assert found.is_verified
    draw = random.Random(1)
    for _ in range(300):
        x, y = Fraction(draw.randint(-6, 6), 2), Fraction(draw.randint(-6, 6), 2)
        u, w = Fraction(draw.randint(-3, 3)), Fraction(draw.randint(-3, 3))
        low, high = Fraction(0), None
        possible = True
        for place, speed in ((x, u), (y, w)):
            if speed == 0:
                possible &= 0 <= place <= 1
                continue
            ends = sorted((-place / speed, (1 - place) / speed))
            low = max(low, ends[0])
            high = ends[1] if high is None else min(high, ends[1])
        expected = possible and (high is None or low <= high)
        assert found.evaluate({"x": x, "y": y, "u": u, "w": w}) == expected


def test_a_disjunction_is_reached_if_one_part_is() -> None:
    found = backward_reach(flow(x="u", u="0"), parsed("x > 1 || x < -1"))
    for x, u in [(0, 1), (0, -1), (2, 0), (0, 0), (1, 0)]:
        assert found.evaluate({"x": x, "u": u}) == (u != 0 or abs(x) > 1)


def test_what_cannot_be_eliminated_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.reach.exact.qepcad.find_installation", lambda: None)
    with pytest.raises(NotEliminableError, match="degree 4"):
        backward_reach(flow(x="4*p*time^3", p="0"), parsed("x <= 0"))
    with pytest.raises(NotEliminableError, match="degree 3"):
        backward_reach(flow(x="3*p*time^2", p="0"), parsed("x == 1"))


def test_evaluation_needs_no_solver() -> None:
    found = backward_reach({"x": (variable("x"), ONE)}, compare(Op.GREATER, variable("x"), 3))
    assert found.evaluate({"x": Fraction(-100)})
    assert not backward_reach(
        {"x": (variable("x"), constant(-1))}, compare(Op.GREATER, variable("x"), 3)
    ).evaluate({"x": 3})


# QEPCAD

needs_qepcad = pytest.mark.skipif(find_installation() is None, reason="QEPCAD is not installed")


@needs_qepcad
def test_qepcad_takes_over_at_degree_four(monkeypatch: pytest.MonkeyPatch) -> None:
    """Jerk b*t + c with d = 1, r = 0: a quartic with three parameters."""
    monkeypatch.setattr("workbench.reach.exact.backward.LIMITS", Limits(6_000_000, 3_000))
    found = backward_reach(
        {"d": tuple(map(parsed, ("1", "0", "k/2", "-c/6", "-b/24")))}, parsed("d <= 0")
    )
    assert found.by == "QEPCAD"
    assert found.is_sufficient  # the solver leaves open whether it is necessary
    draw = random.Random(4)
    for _ in range(150):
        k, c, b = (Fraction(draw.randint(-8, 8), 2) for _ in range(3))
        numbers = [Fraction(1), Fraction(0), k / 2, -c / 6, -b / 24]
        # Beyond 2 + sum |a_i| / |leading| the sign is final.
        leading = next(a for a in reversed(numbers) if a)
        until = 2 + sum(map(abs, numbers)) / abs(leading)
        expected = reached(numbers, Op.LESS_EQUAL, until)
        assert found.evaluate({"k": k, "c": c, "b": b}) == expected


@needs_qepcad
def test_both_ways_of_elimination_agree_on_the_platoon(platoon: BackwardReach) -> None:
    goal = parsed("t >= 0 && d + r*t + k*t^2/2 - b*t^3/6 <= 0")
    assert equivalent(eliminated(goal, "t").formula, platoon.formula)


@needs_qepcad
def test_qepcad_is_stopped_when_its_time_is_over() -> None:
    goal = parsed("t >= 0 && p*t^4 + q*t^3 + r*t^2 + s*t + u <= 0 && p*t^3 + q*s*t <= r")
    with pytest.raises(QepcadError, match="within"):
        eliminated(goal, "t", seconds=0.3)


def test_without_qepcad_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.reach.exact.qepcad.find_installation", lambda: None)
    with pytest.raises(NotEliminableError, match=r"degree 4.*pip install"):
        backward_reach(flow(x="4*p*time^3", p="0"), parsed("x <= 0"))


@needs_qepcad
def test_in_another_order_the_program_is_wrong_and_the_solver_notices() -> None:
    """With b before c before k its formula misses b = c = 0, k = -1, where d(2) = -1."""
    goal = parsed("t >= 0 && 1 + k*t^2/2 - c*t^3/6 - b*t^4/24 <= 0")
    wrong = eliminated(goal, "t", ("b", "c", "k"))
    assert evaluate(wrong.formula, {"b": 0, "c": 0, "k": -1}) is False
    assert wrong.doubt is not None


def test_a_wrong_answer_of_the_program_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    """x + p*q*t^4 <= 0 is reached iff x <= 0 or p*q < 0."""
    answers = iter(("x <= 0", "x <= 1 || p*q < 0", "true"))
    monkeypatch.setattr(
        "workbench.reach.exact.backward.eliminated",
        lambda *_: Proposal(parsed(next(answers)), None),
    )
    moving = flow(x="4*p*q*time^3", p="0", q="0")
    with pytest.raises(NotEliminableError, match="refuted"):
        backward_reach(moving, parsed("x <= 0"))
    monkeypatch.undo()
    right = Proposal(parsed("x <= 0 || p*q < 0"), None)
    monkeypatch.setattr("workbench.reach.exact.backward.eliminated", lambda *_: right)
    assert backward_reach(moving, parsed("x <= 0")).is_verified


# Invariants, simplification, values


def test_runs_end_where_they_leave_the_invariant() -> None:
    """From x with speed u the wall at 5 is met iff u > 0 or x >= 5; inside x <= 4 never."""
    moving = flow(x="u", u="0")
    assert backward_reach(moving, parsed("x >= 5"), during=parsed("x <= 5")).evaluate(
        {"x": 0, "u": 1}
    )
    never = backward_reach(moving, parsed("x >= 5"), during=parsed("x <= 4"))
    assert never.is_verified
    assert isinstance(satisfiable(never.formula, limits=LIMITS), Unsatisfiable)
    gate = backward_reach(
        flow(x="u", y="w", u="0", w="0"), parsed("x >= 1"), during=parsed("y <= 1")
    )
    draw = random.Random(3)
    for _ in range(200):
        x, y, u, w = (Fraction(draw.randint(-4, 4), 2) for _ in range(4))
        arrival = Fraction(0) if x >= 1 else (1 - x) / u if u > 0 else None
        expected = arrival is not None and y <= 1 and y + w * arrival <= 1
        assert gate.evaluate({"x": x, "y": y, "u": u, "w": w}) == expected


@pytest.mark.parametrize("during", ["v*v <= 4", "d >= 0", "d < 0 || d > 1", "v != 3"])
def test_invariants_that_are_not_straight_in_time_are_refused(during: str) -> None:
    with pytest.raises(NotEliminableError, match="invariant"):
        backward_reach(flow(d="v", v="-1"), parsed("d <= 0"), during=parsed(during))


def test_simplified_formulas_say_the_same(platoon: BackwardReach) -> None:
    short = platoon.simplified()
    assert equivalent(short.formula, platoon.formula)
    count = len(platoon.formula.args)
    assert len(short.formula.args) < count
    fixed = short.given(d=1, k=0)
    assert fixed.evaluate({"r": -5, "b": -1}) == platoon.evaluate(
        {"d": 1, "k": 0, "r": -5, "b": -1}
    )


# The command

START = "from workbench.cli import main; main()"
CARS = """
mode Driving(real b, real c) {
  write analog real d, vp, v, ap;
  diff { d(d) == vp - v; d(vp) == ap; d(v) == b*time + c; d(ap) == 0; }
}
agent Cars(real b = -1, real c = -1) {
  private analog real d = 1, vp = 0, v = 0, ap = 0;
  mode top = Driving(b, c);
  assert "no collision" { d > 0 }
}
"""


def test_the_command_prints_evaluates_and_refuses(tmp_path_factory: pytest.TempPathFactory) -> None:

    file = tmp_path_factory.mktemp("exact") / "cars.charon"
    file.write_text(CARS)

    def run(*options: str) -> subprocess.CompletedProcess[str]:
        arguments = [sys.executable, "-c", START, "exact", str(file), *options]
        return subprocess.run(arguments, capture_output=True, text=True, timeout=120, check=False)

    good = run("--target", "d <= 0", "--time", "5", *_at(d=1, v=0, vp=-3, ap=0))
    assert good.returncode == 0, good.stderr
    assert "verified" in good.stdout
    assert good.stdout.rstrip().endswith("reached")
    missing = run("--target", "d <= 0", *_at(d=1))
    assert missing.returncode == 2
    assert "--at: values are needed for" in missing.stderr
    picture = file.with_suffix(".svg")
    drawn = run("--plot-region", "d=0:4,v=-3:3", "--plot", str(picture), *_at(vp=0, ap=0))
    assert drawn.returncode == 0, drawn.stderr
    assert _painted(picture.read_text()) == pytest.approx(_share_by_sturm(), abs=0.02)
    for wrong in ("d,d", "d=1:1,v"):
        refused = run("--plot-region", wrong, "--plot", str(picture))
        assert refused.returncode == 2
        assert "--plot-region" in refused.stderr


def _painted(svg: str) -> float:
    """The share of the picture that is inside the region."""
    bars = re.findall(r'class="region" [^>]*width="([0-9.]+)" height="([0-9.]+)"', svg)
    frame = re.search(r'class="frame" [^>]*width="([0-9.]+)" height="([0-9.]+)"', svg)
    assert frame is not None
    whole = float(frame[1]) * float(frame[2])
    return sum(float(w) * float(h) for w, h in bars) / whole


def _share_by_sturm() -> float:
    """d(t) = d - v t + t^2/2 + t^3/6 (b = c = -1) meets 0, on a grid of its own."""
    steps = 40
    hits = 0
    for i, j in product(range(steps), repeat=2):
        d, v = Fraction(2 * i + 1, 2 * steps) * 4, Fraction(2 * j + 1, 2 * steps) * 6 - 3
        hits += reached([d, -v, Fraction(1, 2), Fraction(1, 6)], Op.LESS_EQUAL, Fraction(50))
    return hits / steps**2


def _at(**values: int) -> list[str]:
    return [part for name, value in values.items() for part in ("--at", f"{name}={value}")]
