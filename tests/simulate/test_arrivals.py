"""Boundaries reached in finite time with slope 0 are proved; those never reached are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.models.expressions.evaluation import evaluate
from workbench.models.expressions.expression import variable
from workbench.models.expressions.text import parse_expression
from workbench.models.load import load
from workbench.simulate.recipe import Recipe
from workbench.simulate.validated.leading_power import NoLeadingPowerError, leading_power
from workbench.simulate.validated.validated_run import validated_run

ARRIVING = {
    "torricelli": ("d(x) == -sqrt(x); d(y) == 0;", 1, 0, "x <= 0", 2.0),
    "scaled": ("d(x) == -2*sqrt(0.25*x); d(y) == 0;", 1, 0, "x <= 0", 2.0),
    "power": ("d(x) == -3*x^(2/3); d(y) == 0;", 1, 0, "x <= 0", 1.0),
    "shifted": ("d(x) == -sqrt(x - 3); d(y) == 0;", 4, 0, "x <= 3", 2.0),
    "rising": ("d(x) == sqrt(1 - x); d(y) == 0;", 0, 0, "x >= 1", 2.0),
    "guarded": ("d(x) == -sqrt(max(x, 0)); d(y) == 0;", 1, 0, "x <= 0", 2.0),
    "conditional": ("d(x) == (x > 0 ? -sqrt(x) : 0); d(y) == 0;", 1, 0, "x <= 0", 2.0),
    "odd": ("d(x) == -sign(x)*sqrt(abs(x)); d(y) == 0;", 1, 0, "x <= 0", 2.0),
    "difference": ("d(x) == 1 - sqrt(x - y); d(y) == 1;", 1, 0, "x <= y", 2.0),
    "with another": ("d(x) == -y*sqrt(x); d(y) == -y;", 1, 3, "x <= 0", 1.0986122886681098),
    "steep and singular": ("d(x) == -1 - sqrt(x); d(y) == 0;", 1, 0, "x <= 0", 0.6137056388801094),
}
NEVER = {
    "exponential": ("d(x) == -x; d(y) == 0;", 1, 0, "x <= 0"),
    "square": ("d(x) == -x^2; d(y) == 0;", 1, 0, "x <= 0"),
    "less than linear": ("d(x) == -x*sqrt(x); d(y) == 0;", 1, 0, "x <= 0"),
    "fades": ("d(x) == -y*sqrt(x); d(y) == -y;", 1, 1, "x <= 0"),
    "fades in the limit": ("d(x) == -y*sqrt(x); d(y) == -y;", 1, 2, "x <= 0"),
    "rests before": ("d(x) == -(sqrt(x) - 0.1); d(y) == 0;", 1, 0, "x <= 0"),
    "below": ("d(x) == -sqrt(x); d(y) == 0;", 1, 0, "x < 0"),
    "after the violation": ("d(x) == -sqrt(x); d(y) == 1;", 1, 0, "x <= 0 && y < 2"),
}
LONG = ("below", "after the violation", "fades in the limit")
"""The enclosures of these take many small steps."""


def model(folder: Path, flow: str, x: float, y: float, guard: str) -> Path:
    path = folder / "model.charon"
    path.write_text(
        f"""
        mode Flow() {{ write analog real x, y; diff {{ {flow} }} }}
        mode Rest() {{ write analog real x, y; diff {{ d(x) == 0; d(y) == 0; }} }}
        mode Top() {{
          write analog real x, y;
          write discrete int n;
          mode a = Flow();
          mode b = Rest();
          trans from init to a;
          trans from a to b when {guard} do {{ n = 1; }}
        }}
        agent System() {{
          private analog real x, y;
          private discrete int n;
          init {{ x = {x}; y = {y}; n = 0; }}
          mode top = Top();
          assert "never" {{ n == 0 }}
        }}
        """,
        encoding="utf-8",
    )
    return path


@pytest.mark.parametrize("name", ARRIVING)
def test_arrivals_are_proved_at_the_right_time(name: str, tmp_path: Path) -> None:
    *text, expected = ARRIVING[name]
    automaton = load(model(tmp_path, *text)).automaton  # type: ignore[arg-type]
    run = validated_run(automaton, Recipe(10.0), automaton.properties[0])
    assert run is not None and run.violation is not None, run and run.gave_up
    low, high = run.jumps[0].time
    assert float(low) <= expected <= float(high) or float(high - low) < 1e-15
    assert float(low) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.slow] if n in LONG else []) for n in NEVER]
)
def test_what_is_never_reached_is_never_proved(name: str, tmp_path: Path) -> None:
    automaton = load(model(tmp_path, *NEVER[name])).automaton  # type: ignore[arg-type]
    run = validated_run(automaton, Recipe(30.0), automaton.properties[0])
    assert run is None or run.violation is None
    assert run is None or not run.jumps


@pytest.mark.parametrize(
    ("text", "power", "n"),
    [
        ("sqrt(x)", 1, 2),
        ("3*x*sqrt(4*x + x^2)", 3, 2),
        ("x^(2/3) + x", 2, 3),
        ("max(x, 0) - abs(x)*y", 2, 2),
        ("min(x, sqrt(x)) / x", -1, 2),
        ("x > x^2 ? sqrt(x) : x", 1, 2),
        ("(1 + x) - 1 + x*sin(y)", 2, 2),
        ("sqrt(1 + x)", 0, 2),
    ],
)
def test_taking_out_a_power_changes_no_value(text: str, power: int, n: int) -> None:
    expression = parse_expression(text)
    found = leading_power(expression, "z", {"x": variable("z") ** n})
    assert found.power == power
    for z in (0.5, 0.2, 1e-3):
        values = {"x": z**n, "y": 0.7, "z": z}
        expected = float(evaluate(expression, values))
        assert z**power * float(evaluate(found.rest, values)) == pytest.approx(expected, rel=1e-9)


def test_a_root_that_is_no_power_is_refused() -> None:
    with pytest.raises(NoLeadingPowerError):
        leading_power(parse_expression("sqrt(x)"), "z", {"x": variable("z") ** 3})
