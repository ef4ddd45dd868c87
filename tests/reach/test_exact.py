"""Exact backward reachability against known formulas, Sturm's theorem and closed forms."""

from __future__ import annotations

import random
import subprocess
import sys
from fractions import Fraction

import pytest

from models.evaluation import evaluate
from models.expression import (
    ONE,
    Expression,
    Op,
    compare,
    conjunction,
    constant,
    disjunction,
    negation,
    variable,
)
from models.expression_text import parse_expression
from models.polynomial_flow import always, polynomial
from models.solver import Limits, Unsatisfiable, satisfiable
from reach.exact.backward import BackwardReach, backward_reach
from reach.exact.flow import NotNilpotentError, flow_polynomial, polynomial_flow
from reach.exact.polynomial_in_time import InTime
from reach.exact.virtual_substitution import NotEliminableError

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
        (3, Op.LESS_EQUAL),
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


def test_what_cannot_be_eliminated_is_said() -> None:
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
    assert "needs values for" in missing.stderr


def _at(**values: int) -> list[str]:
    return [part for name, value in values.items() for part in ("--at", f"{name}={value}")]
