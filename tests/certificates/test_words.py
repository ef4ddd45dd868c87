"""The problem in words says what its numbers say."""

from __future__ import annotations

from fractions import Fraction

import pytest

import workbench
from tests.certificates.test_standalone import certificate
from workbench.models.automaton import (
    BOOL,
    INT,
    Constraint,
    Edge,
    HybridAutomaton,
    Initial,
    Kind,
    Location,
    Property,
    Range,
    Variable,
    enumeration,
)
from workbench.models.certificates.standalone import Legend, standalone
from workbench.models.certificates.words import problem_lines
from workbench.models.expressions.expression import (
    boolean,
    conjunction,
    constant,
    equal,
    symbol,
    variable,
)
from workbench.models.lowering.normal_form import NormalForm
from workbench.models.lowering.problem import linear_problem


def test_everything_is_said() -> None:
    model, found = certificate("locations")
    alone = standalone(model, found)
    assert (
        "\n".join(problem_lines(alone.names, alone.problem))
        == """\
variables: x
any values of: d(x)
runs start in fill
  where
    x >= 4
    x <= 5
    x' = x
    x' <= 10
location fill
  time may pass where
    x <= 10
  with the derivatives
    x: d(x)
    for any of these values:
      d(x) >= 1
      d(x) <= 2
  jump to drain
    where
      x >= 8
      x <= 10
      x' >= 2
      x' = x
  jump to flood
    where
      x > 12
      x <= 10
      x' = x
  bad where
    x <= 10
    x < 1
location drain
  time may pass where
    x >= 2
  with the derivatives
    x: d(x)
    for any of these values:
      d(x) >= -2
      d(x) <= -1
  jump to fill
    where
      x <= 4
      x >= 2
      x' <= 10
      x' = x
  bad where
    x >= 2
    x > 11
not taken in, so no run may enter: flood"""
    )


def test_types_are_told_and_rows_of_whole_numbers_are_rounded() -> None:
    """2 n < 5 is n <= 2, and a symbol is its place."""
    n, on, colour = variable("n"), variable("on"), variable("colour")
    model = HybridAutomaton(
        "typed",
        (
            Variable("x"),
            Variable("n", INT, Kind.DISCRETE),
            Variable("on", BOOL, Kind.DISCRETE),
            Variable("colour", enumeration("red", "green"), Kind.DISCRETE),
        ),
        (Location("run", (Constraint("x", Range.exactly(constant(0))),)),),
        (Edge("run", "run", conjunction(2 * n < 5, on, equal(colour, symbol("green")))),),
        (
            Initial(
                "run",
                conjunction(equal(n, 0), equal(on, boolean(False)), equal(colour, symbol("red"))),
            ),
        ),
        properties=(Property("safe", n <= Fraction(7, 2)),),
    )
    form = NormalForm(linear_problem(model, model.properties[0]), ["run"])
    names = Legend.of(form)
    assert names.types == {"n": "int", "on": "bool", "colour": "enum { red, green }"}
    lines = list(problem_lines(names, form.data))
    assert lines[0] == (
        "variables: colour (red is 0, green is 1), n (a whole number),"
        " on (false is 0, true is 1), x"
    )
    jump = lines[lines.index("  jump to run") :]
    assert {"      n <= 2", "      on = 1", "      colour = 1"} <= set(jump)
    assert "    n >= 4" in lines[lines.index("  bad where") :]


def test_locations_are_taken_in_nearest_first() -> None:
    model = workbench.load("fischer")
    found = model.show().problem(limit=2)
    assert not found.complete and len(found.names.locations) == 2
    assert str(found).splitlines()[-1].startswith("not taken in, so no run may enter: ")
    assert found.data["problem"] == found.content


def test_one_property_is_asked_for() -> None:
    model = workbench.load("leaky_tank")
    with pytest.raises(workbench.RequestError, match="name one"):
        model.show().problem()
    with pytest.raises(workbench.RequestError, match="did you mean"):
        model.show().problem("flow within capacit")
    assert model.show().problem("flow within capacity").complete
    said = str(model.show().problem("never blocks"))
    assert "where runs may come" in said and "what runs can certainly do" in said
    assert "bad" not in said
