"""Small models for tests of reports, built without the language so that any name is possible."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from workbench.abstraction.verification_settings import VerificationSettings
from workbench.models.automaton import (
    Constraint,
    Edge,
    HybridAutomaton,
    Initial,
    Location,
    Property,
    Range,
    Variable,
)
from workbench.models.expressions.expression import (
    Expression,
    conjunction,
    constant,
    multiply,
    variable,
)
from workbench.models.expressions.operators import Op
from workbench.models.model import Model
from workbench.reports.analysis import Settings

EVIL = (
    "</script><script>window.stolen = 1</script>",
    '"><img/src=x/onerror="window.stolen=2">',
    "<!--'<script>&lt;\u2028\u2029${1}`",
)
"""Names of places, of variables (which have fewer characters to choose from), and of places."""


def compare(op: Op, left: Expression, right: Expression | int | Fraction) -> Expression:
    """A comparison, written out."""
    return Expression(op, (left, right if isinstance(right, Expression) else constant(right)))


def heater(
    *,
    bound: int = 30,
    variable_name: str = "x",
    places: tuple[str, str] = ("on", "off"),
    claim: str = "warm",
    title: str = "heater",
) -> Model:
    """A room that warms to 22 with slope 3 - x/10 and cools to 18 with slope -x/10; from 20."""
    x = variable(variable_name)
    on, off = places
    warm = Constraint(variable_name, Range.exactly(constant(3) + multiply(Fraction(-1, 10), x)))
    cool = Constraint(variable_name, Range.exactly(multiply(Fraction(-1, 10), x)))
    automaton = HybridAutomaton(
        title,
        variables=(Variable(variable_name),),
        locations=(
            Location(on, (warm,), (), compare(Op.LESS_EQUAL, x, 22)),
            Location(off, (cool,), (), compare(Op.GREATER_EQUAL, x, 18)),
        ),
        edges=(
            Edge(on, off, compare(Op.GREATER_EQUAL, x, 22), name=f"{off}!"),
            Edge(off, on, compare(Op.LESS_EQUAL, x, 18), name=f"{on}!"),
        ),
        initial=(
            Initial(
                on,
                conjunction(compare(Op.GREATER_EQUAL, x, 19), compare(Op.LESS_EQUAL, x, 20)),
            ),
        ),
        properties=(Property(claim, compare(Op.LESS, x, bound)),),
    )
    return Model(title, automaton, None, (), {f"{title}.json": f"// {claim}"})


def evil() -> Model:
    """The heater with every name an attempt to break out."""
    return heater(variable_name=EVIL[1], places=(EVIL[0], EVIL[2]), claim=EVIL[0], title=EVIL[1])


def report_settings(runs: int = 24, until: float | None = None, **deciding: Any) -> Settings:
    """Settings of a report from those of verification."""
    return Settings(VerificationSettings(**deciding), runs, until)
