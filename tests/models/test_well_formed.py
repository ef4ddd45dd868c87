"""Automata that could be misread are refused, whoever reads them."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from workbench.models.agents.composition import Product
from workbench.models.automaton import (
    Constraint,
    Edge,
    HybridAutomaton,
    Initial,
    Input,
    Kind,
    Location,
    Parameter,
    Property,
    Range,
    ValueType,
    Variable,
)
from workbench.models.certificates.certificate import Certificate
from workbench.models.certificates.check import check
from workbench.models.certificates.judgement import Rejected
from workbench.models.evidence.polyhedral import PolyhedralProof
from workbench.models.expressions.expression import (
    Expression,
    constant,
    equal,
    function,
    variable,
)
from workbench.models.expressions.operators import Op
from workbench.models.load import load
from workbench.models.well_formed import fault_of

X, Y = variable("x"), variable("y")
INT = ValueType("int")


def exactly(name: str, value: Expression | int) -> Constraint:
    return Constraint(
        name, Range.exactly(value if isinstance(value, Expression) else constant(value))
    )


def component(
    name: str,
    *variables: Variable,
    flows: tuple[Constraint, ...] = (),
    equations: tuple[Constraint, ...] = (),
    resets: tuple[Constraint, ...] = (),
    inputs: tuple[Input, ...] = (),
) -> HybridAutomaton:
    place = Location(f"{name}.here", flows, equations)
    edges = (Edge(place.name, place.name, resets=resets),) if resets else ()
    return HybridAutomaton(
        name, variables, (place,), edges, (Initial(place.name, equal(X, 0)),), inputs
    )


def product(*parts: HybridAutomaton, **more: object) -> Product:
    return Product("both", parts, properties=(Property("p", X <= 1),), **more)  # type: ignore[arg-type]


SOUND = component("A", Variable("x"), flows=(exactly("x", 1),))


def test_components_may_share_a_variable() -> None:
    assert fault_of(product(SOUND, component("B", Variable("x"), flows=(exactly("x", 1),)))) is None


FAULTY = {
    "kinds": product(SOUND, component("B", Variable("x", kind=Kind.DISCRETE))),
    "types": product(SOUND, component("B", Variable("x", INT, Kind.DISCRETE))),
    "input and parameter": product(
        component("A", Variable("x"), flows=(exactly("x", 1),), inputs=(Input("u"),)),
        parameters=(Parameter("u", low=Fraction(0), high=Fraction(1)),),
    ),
    "two equations": product(
        SOUND,
        component(
            "B", Variable("y"), equations=(Constraint("y", Range(constant(0), constant(9))),)
        ),
        component(
            "C", Variable("y"), equations=(Constraint("y", Range(constant(5), constant(20))),)
        ),
    ),
    "flow and equation": product(
        component("A", Variable("x"), Variable("y"), flows=(exactly("x", 1), exactly("y", 1))),
        component("B", Variable("y"), equations=(exactly("y", 2),)),
    ),
    "an input is assigned": product(
        component(
            "A",
            Variable("x"),
            flows=(exactly("x", 1),),
            resets=(exactly("u", 3), exactly("x", variable("u'"))),
            inputs=(Input("u", low=Fraction(0), high=Fraction(1)),),
        )
    ),
    "a parameter is assigned": product(
        component("A", Variable("x"), resets=(exactly("p", 3),)),
        parameters=(Parameter("p", low=Fraction(0), high=Fraction(1)),),
    ),
    "the name of an equation's value": product(
        component(
            "A",
            Variable("x"),
            Variable("y"),
            flows=(exactly("x", 0),),
            equations=(Constraint("y", Range(constant(0), constant(1))),),
            resets=(exactly("y.share", 3), exactly("x", variable("y.share'"))),
        )
    ),
    "fractions for a whole number": product(
        component("A", Variable("x"), Variable("k", INT, Kind.DISCRETE), resets=(exactly("k", X),))
    ),
    "the time for a whole number": product(
        component(
            "A",
            Variable("x"),
            Variable("k", INT, Kind.DISCRETE),
            resets=(exactly("k", variable("time")),),
        )
    ),
    "fractions for a whole number through a name": product(
        component(
            "A",
            Variable("x"),
            Variable("k", INT, Kind.DISCRETE),
            resets=(exactly("h", X / 2), exactly("k", variable("h'"))),
        )
    ),
    "a chosen number for a whole number through a name": product(
        component(
            "A",
            Variable("x"),
            Variable("k", INT, Kind.DISCRETE),
            resets=(
                Constraint("h", Range(constant(0), constant(1))),
                exactly("k", variable("h'") * 2),
            ),
        )
    ),
    "fractions for a whole number at the start": product(
        HybridAutomaton(
            "A",
            (Variable("x"), Variable("k", INT, Kind.DISCRETE)),
            (Location("here"),),
            initial=(
                Initial(
                    "here", equal(X, 1), (exactly("h", X / 2), exactly("k", variable("h'") + 1))
                ),
            ),
        )
    ),
    "fractions by an equation": product(
        component("A", Variable("x"), Variable("k", INT), equations=(exactly("k", X / 2),))
    ),
}


@pytest.mark.parametrize("what", FAULTY)
def test_what_could_be_misread_is_refused(what: str) -> None:
    automaton = FAULTY[what]
    assert fault_of(automaton)
    proof = Certificate("both", automaton.sha256, "p", PolyhedralProof((), ()))
    judgement = check(automaton, "p", proof)
    assert isinstance(judgement, Rejected)
    assert judgement.obligation == "model"


@pytest.mark.parametrize(
    "value",
    [
        constant(2),
        variable("k") + 1,
        variable("k") * 3,
        variable("m'") - variable("k"),
        variable("h'") + variable("k"),
    ],
)
def test_whole_numbers_may_be_computed(value: Expression) -> None:
    whole = [Variable(n, INT, Kind.DISCRETE) for n in ("k", "m")]
    halved = function(Op.FLOOR, X / 2)
    resets = (exactly("m", 2), exactly("h", halved), exactly("k", value))
    part = component("A", Variable("x"), *whole, flows=(exactly("x", 1),), resets=resets)
    assert fault_of(product(part)) is None


CAPTURE = """
mode Q() { write analog real chosen1; diff { d(chosen1) == 0; } }
agent Quiet() { private analog real chosen1; init { chosen1 = 0; } mode top = Q(); }
mode W() { write analog real x; diff { d(x) == 0; } }
mode WTop() {
  write analog real x;
  mode s = W();
  trans from init to s;
  trans #t from s to s do { x in [2, 5]; x = x + x; }
}
agent Writer() { write analog real x; init { x = 0; } mode top = WTop(); }
agent All() {
  private analog real x;
  agent x = Quiet();
  agent w = Writer();
  assert "quiet" { x.chosen1 <= 1 }
}
system All() until 1;
"""


def test_a_choice_does_not_take_the_name_of_a_variable(tmp_path: Path) -> None:
    """The writer's variable and the quiet agent are both called x."""
    (tmp_path / "capture.charon").write_text(CAPTURE)
    automaton = load(tmp_path / "capture.charon").automaton
    names = {v.name for v in automaton.variables}
    assert "x.chosen1" in names
    for part in automaton.components:
        for edge in part.edges:
            assert "x.chosen1" not in {reset.variable for reset in edge.resets}
