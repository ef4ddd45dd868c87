"""Truth values and symbols are numbers in rows: translation, proofs, and broken proofs."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.models.automaton import (
    BOOL,
    Constraint,
    Edge,
    HybridAutomaton,
    Initial,
    Input,
    Kind,
    Location,
    Property,
    Range,
    Variable,
    enumeration,
)
from workbench.models.certificates.certificate import Certificate, decode, encode
from workbench.models.certificates.check import check
from workbench.models.certificates.judgement import Accepted, Rejected
from workbench.models.checker.covers import Region
from workbench.models.evidence.polyhedral import PolyhedralProof
from workbench.models.expressions.evaluation import evaluate
from workbench.models.expressions.expression import (
    TRUE,
    ZERO,
    Expression,
    at_location,
    conditional,
    conjunction,
    constant,
    disjunction,
    equal,
    negation,
    symbol,
    variable,
)
from workbench.models.linear import Form, Rows
from workbench.models.lowering.alternatives import alternatives
from workbench.models.lowering.problem import linear_problem
from workbench.reach.evidence import Unproved, prove

LIGHT = enumeration("red", "green", "off")
OTHER = enumeration("off", "red")
TYPES = {"a": BOOL, "b": BOOL, "p": LIGHT, "q": LIGHT, "r": OTHER}
VALUES = {
    name: [False, True] if kind == BOOL else list(kind.values) for name, kind in TYPES.items()
}


def number(name: str, value: object) -> Fraction:
    return Fraction(int(value) if isinstance(value, bool) else TYPES[name].values.index(str(value)))


def satisfied(rows: Rows, numbers: dict[str, Fraction]) -> bool:
    for row in rows:
        value = row.form.constant + sum(a * numbers[n] for n, a in row.form.coefficients.items())
        if value > 0 or (row.strict and value == 0):
            return False
    return True


atoms = st.sampled_from(
    [
        variable("a"),
        variable("b"),
        equal(variable("p"), symbol("red")),
        equal(variable("p"), symbol("green")),
        equal(variable("p"), variable("q")),
        equal(variable("r"), symbol("off")),
        equal(variable("a"), variable("b")),
        variable("x") <= 1,
        variable("x") > 2,
        variable("x") >= 1,
        constant(3) - 2 * variable("x") > 1,
        3 * variable("x") <= 6,
    ]
)


def compounds(parts: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    pairs = st.tuples(parts, parts)
    return st.one_of(
        parts.map(negation),
        pairs.map(lambda t: conjunction(*t)),
        pairs.map(lambda t: disjunction(*t)),
        pairs.map(lambda t: equal(*t)),
        st.tuples(parts, parts, parts).map(lambda t: conditional(*t)),
    )


@given(st.recursive(atoms, compounds, max_leaves=6))
def test_translated_conditions_hold_in_the_same_states(condition: Expression) -> None:
    cases = alternatives(condition, TYPES)
    for x, values in product((0, 1, 2, 3), product(*VALUES.values())):
        state = dict(zip(VALUES, values, strict=True))
        numbers = {name: number(name, value) for name, value in state.items()}
        numbers["x"] = Fraction(x)
        expected = evaluate(condition, {**state, "x": Fraction(x)})
        assert any(satisfied(rows, numbers) for rows in cases) == expected


def test_cases_that_contradict_themselves_are_left_out() -> None:
    """x <= 1 and one of x > 2, -x < -1, 2 x = 2; or what the rows say already."""
    x = variable("x")
    either = disjunction(x > 2, -x < -1, equal(2 * x, 2))
    assert [len(rows) for rows in alternatives(conjunction(x <= 1, either))] == [2]
    assert alternatives(conjunction(x <= 1, negation(x <= 1))) == ()
    ((row,),) = alternatives(conjunction(x <= 1, 2 * x <= 5))
    assert row.form.constant == -1


def test_many_comparisons_of_few_sums_are_few_cases() -> None:
    x = variable("x")
    goals = [disjunction(x < 2 * k, x > 2 * k + 1) for k in range(40)]
    assert len(alternatives(conjunction(*goals))) == 41


def test_symbols_of_different_enumerations_are_not_compared_by_number() -> None:
    """`red` is 0 in one and 1 in the other: equality of the variables says nothing."""
    assert alternatives(equal(variable("p"), variable("r")), TYPES) == ((),)
    assert alternatives(equal(variable("p"), symbol("mauve")), TYPES) == ((),)


STILL = (Constraint("u", Range.exactly(ZERO)), Constraint("w", Range.exactly(ZERO)))
OFF = conjunction(equal(variable("p"), symbol("off")), equal(variable("r"), symbol("off")))
P_U, R_U, U_W = (equal(variable(a), variable(b)) for a, b in ("pu", "ru", "uw"))
PASSED_ON = (
    Constraint("u", Range.exactly(variable("p"))),
    Constraint("w", Range.exactly(variable("r"))),
)


@pytest.mark.parametrize(
    ("first", "resets", "second"),
    [(P_U & R_U, (), TRUE), (TRUE, PASSED_ON, U_W)],
    ids=["compared with both", "passed on"],
)
def test_numbers_of_symbols_do_not_meet_through_variables_without_a_type(
    first: Expression, resets: tuple[Constraint, ...], second: Expression
) -> None:
    """`off` is the third symbol of p's type and the first of r's; u and w, which are analog, or u as
    an input have no numbers. Both edges can be taken."""
    discrete = tuple(Variable(n, kind, Kind.DISCRETE) for n, kind in (("p", LIGHT), ("r", OTHER)))
    analog = (Variable("u", LIGHT, Kind.ANALOG), Variable("w", OTHER, Kind.ANALOG))
    places = tuple(Location(name, STILL) for name in ("l", "k", "end"))
    edges = (Edge("l", "k", first, resets), Edge("k", "end", second))
    claims = (Property("safe", negation(at_location("m", "end"))),)
    starts = (Initial("l", OFF),)
    model = HybridAutomaton("m", (*discrete, *analog), places, edges, starts, properties=claims)
    here = held({"p": 2, "r": 0})
    there = Region("k", (), ((),), (held({"p": 2, "r": 0, "u": 2, "w": 0}),))
    regions = (Region("l", (), ((),), (here,)), *((there,) if resets else ()))
    assert isinstance(prove(linear_problem(model, claims[0]), regions), Unproved)
    if not resets:
        given = replace(model, variables=discrete, inputs=(Input("u", LIGHT),))
        given = replace(given, locations=tuple(replace(place, flows=()) for place in places))
        assert isinstance(prove(linear_problem(given, claims[0]), regions), Unproved)


def held(numbers: dict[str, int]) -> tuple[Form, ...]:
    """That names have these numbers, as a part of a cell."""
    forms = [Form({name: Fraction(1)}, Fraction(-value)) for name, value in numbers.items()]
    return (*forms, *(-form for form in forms))


def clocked_lock(limit: int = 2) -> HybridAutomaton:
    """The door opens only while unlocked; the lock falls when the clock reaches `limit`."""
    clock, locked, light = variable("clock"), variable("locked"), variable("light")
    drop = Edge(
        "run",
        "run",
        conjunction(negation(locked), clock >= limit),
        (
            Constraint("locked", Range.exactly(equal(light, symbol("green")))),
            Constraint("light", Range.exactly(symbol("red"))),
            Constraint("clock", Range.exactly(constant(0))),
        ),
        name="drop",
    )
    return HybridAutomaton(
        "lock",
        (
            Variable("clock"),
            Variable("locked", BOOL, Kind.DISCRETE),
            Variable("light", LIGHT, Kind.DISCRETE),
        ),
        (
            Location(
                "run",
                (Constraint("clock", Range.exactly(constant(1))),),
                invariant=disjunction(locked, clock <= 2),
            ),
        ),
        (drop,),
        (
            Initial(
                "run",
                conjunction(equal(clock, 0), negation(locked), equal(light, symbol("green"))),
            ),
        ),
        properties=(Property("safe", disjunction(locked, clock <= 2)),),
    )


def form(constant: int, **coefficients: int) -> Form:
    return Form({n: Fraction(a) for n, a in coefficients.items()}, Fraction(constant))


def at(locked: int, light: int, *more: Form) -> Region:
    rows = (
        form(-locked, locked=1),
        form(locked, locked=-1),
        form(-light, light=1),
        form(light, light=-1),
        *more,
    )
    return Region("run", rows, ((1,) * len(rows),))


OPEN = at(0, 1, form(-2, clock=1), form(0, clock=-1))
SHUT = at(1, 0, form(0, clock=-1))


def certificate(model: HybridAutomaton, *regions: Region) -> Certificate:
    proof = prove(linear_problem(model, model.properties[0]), regions)
    assert isinstance(proof, PolyhedralProof), proof.obligation.title
    return Certificate(model.name, model.sha256, "safe", proof)


def test_an_invariant_may_depend_on_truth_values_and_symbols() -> None:
    model = clocked_lock()
    found = certificate(model, OPEN, SHUT)
    assert isinstance(check(model, "safe", found), Accepted)
    assert decode(encode(found)) == found


@pytest.mark.parametrize(
    "regions",
    [
        (OPEN,),
        (SHUT,),
        (at(0, 0, form(-2, clock=1), form(0, clock=-1)), SHUT),
        (OPEN, at(0, 0, form(0, clock=-1))),
        (at(0, 1, form(-1, clock=1), form(0, clock=-1)), SHUT),
    ],
    ids=["nothing after the drop", "nothing at the start", "wrong light", "unlocked", "too early"],
)
def test_wrong_discrete_values_have_no_evidence(regions: tuple[Region, ...]) -> None:
    model = clocked_lock()
    assert isinstance(prove(linear_problem(model, model.properties[0]), regions), Unproved)


@pytest.mark.parametrize("predicate", range(5))
def test_certificates_with_other_discrete_values_are_rejected(predicate: int) -> None:
    """Moving one bound of one region breaks the claim or its evidence."""
    model = clocked_lock()
    found = certificate(model, OPEN, SHUT)
    assert isinstance(found.proof, PolyhedralProof)
    for number, region in enumerate(found.proof.regions):
        if predicate >= len(region.predicates):
            continue
        moved = list(region.predicates)
        moved[predicate] = Form(moved[predicate].coefficients, moved[predicate].constant + 1)
        regions = list(found.proof.regions)
        regions[number] = replace(region, predicates=tuple(moved))
        broken = replace(found, proof=replace(found.proof, regions=tuple(regions)))
        assert isinstance(check(model, "safe", broken), Rejected)


def test_values_that_may_start_as_anything_are_all_covered() -> None:
    model = clocked_lock()
    start = Initial("run", equal(variable("clock"), 0))
    anything = replace(model, initial=(start,))
    cases = [
        rows
        for _, found in linear_problem(anything, model.properties[0]).starts()
        for rows in found
    ]
    assert len(cases) >= 6
    assert isinstance(prove(linear_problem(anything, model.properties[0]), (OPEN, SHUT)), Unproved)
