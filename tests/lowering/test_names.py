"""Names that mean something else in rows: such models are refused, and nothing is proved of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from workbench.models.agents.composition import Interaction, Product
from workbench.models.automaton import (
    NEVER_BLOCKS,
    TIME,
    Constraint,
    Edge,
    HybridAutomaton,
    Initial,
    Input,
    Kind,
    Location,
    Parameter,
    Property,
    PropertyKind,
    Range,
    Variable,
)
from workbench.models.certificates.certificate import Certificate
from workbench.models.certificates.check import check
from workbench.models.certificates.judgement import Rejected
from workbench.models.evidence.polyhedral import PolyhedralProof
from workbench.models.expressions.expression import (
    FALSE,
    ONE,
    TRUE,
    Expression,
    compare,
    conjunction,
    constant,
    equal,
    variable,
)
from workbench.models.expressions.operators import Op
from workbench.models.interchange.json_model import from_json, to_json
from workbench.models.source import ModelError
from workbench.models.well_formed import fault_of

X = variable("x")


def low(value: Expression) -> Property:
    return Property("low", compare(Op.LESS_EQUAL, value, 50))


def exactly(name: str, value: int) -> Constraint:
    return Constraint(name, Range.exactly(constant(value)))


PLAIN = HybridAutomaton(
    "m",
    variables=(Variable("x"),),
    locations=(Location("a", (exactly("x", 0),)),),
    edges=(Edge("a", "a", resets=(exactly("x", 100),)),),
    initial=(Initial("a", equal(X, 0)),),
    properties=(low(X),),
)
CLOCK = replace(
    PLAIN,
    variables=(Variable("x"), Variable(TIME)),
    locations=(Location("a", (exactly("x", 0), exactly(TIME, 1))),),
    initial=(Initial("a", conjunction(equal(X, 0), equal(variable(TIME), 0))),),
    properties=(low(variable(TIME)),),
)

MEANINGLESS = {
    "an input is the value after a jump": replace(PLAIN, inputs=(Input("x'", low=ONE.constant),)),
    "an input is the constant signal": replace(PLAIN, inputs=(Input("1"),)),
    "an input is a derivative": replace(PLAIN, inputs=(Input("d(x)"),)),
    "an input is the elapsed time": replace(PLAIN, inputs=(Input("elapsed()"),)),
    "an input is the time": replace(PLAIN, inputs=(Input(TIME, low=ONE.constant),)),
    "a parameter is the time": replace(PLAIN, parameters=(Parameter(TIME),)),
    "a parameter is a variable": replace(PLAIN, parameters=(Parameter("x"),)),
    "two properties have one name": replace(PLAIN, properties=(low(constant(0)), low(X))),
    "another claim is called like progress": replace(
        PLAIN, properties=(low(X), replace(low(X), name=NEVER_BLOCKS))
    ),
    "progress is claimed of no place": replace(
        PLAIN, properties=(Property("low", TRUE, PropertyKind.PROGRESS, where=FALSE),)
    ),
    "progress has a condition": replace(
        PLAIN, properties=(Property("low", X <= 1, PropertyKind.PROGRESS),)
    ),
    "time does not flow": replace(CLOCK, variables=(Variable(TIME, kind=Kind.DISCRETE),)),
    "time is fast": replace(CLOCK, locations=(Location("a", (exactly(TIME, 2),)),)),
    "time is an equation": replace(CLOCK, locations=(Location("a", (), (exactly(TIME, 2),)),)),
    "something discrete has an equation": replace(
        PLAIN,
        variables=(*PLAIN.variables, Variable("n", kind=Kind.DISCRETE)),
        locations=(Location("a", (exactly("x", 1),), (Constraint("n", Range.exactly(X + X)),)),),
    ),
    "a flow and an equation": replace(
        PLAIN, locations=(Location("a", (exactly("x", 1),), (exactly("x", 2),)),)
    ),
    "a jump sets the time": replace(CLOCK, edges=(Edge("a", "a", resets=(exactly(TIME, 99),)),)),
    "a start sets the time": replace(CLOCK, initial=(Initial("a", TRUE, (exactly(TIME, 99),)),)),
}


@pytest.mark.parametrize("kind", MEANINGLESS)
def test_no_certificate_is_accepted(kind: str) -> None:
    automaton = MEANINGLESS[kind]
    assert fault_of(automaton)
    proof = Certificate("m", automaton.sha256, "low", PolyhedralProof((), ()))
    judgement = check(automaton, "low", proof)
    assert isinstance(judgement, Rejected) and judgement.obligation == "model"


@pytest.mark.parametrize("kind", MEANINGLESS)
def test_no_document_is_read(kind: str) -> None:
    with pytest.raises(ModelError):
        from_json(to_json(MEANINGLESS[kind]))


def test_an_event_of_a_product_does_not_set_the_time() -> None:
    event = Interaction("e", ("m",), TRUE, (exactly(TIME, 99),))
    assert fault_of(Product("p", (CLOCK,), (event,)))
    assert fault_of(Product("p", (CLOCK,))) is None


def test_ordinary_names_are_fine() -> None:
    for automaton in (PLAIN, CLOCK):
        assert fault_of(automaton) is None
        assert from_json(to_json(automaton)) == automaton


def test_a_second_constraint_of_a_variable_is_refused() -> None:
    """Proofs would take both, runs the last one."""
    twice = (exactly("x", 1), exactly("x", 100))
    for automaton in (
        replace(PLAIN, edges=(Edge("a", "a", resets=twice),)),
        replace(PLAIN, locations=(Location("a", twice),)),
        replace(PLAIN, locations=(Location("a", (), twice),)),
    ):
        with pytest.raises(ModelError, match="two constraints"):
            from_json(to_json(automaton))
