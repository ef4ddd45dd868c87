"""What flowpipes make of urgent edges, and that it is no more than what holds."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from workbench.models.automaton import (
    Constraint,
    Edge,
    HybridAutomaton,
    Initial,
    Input,
    Location,
    Property,
    Range,
    Variable,
)
from workbench.models.certificates.certificate import Certificate, decode, encode
from workbench.models.certificates.check import check
from workbench.models.certificates.judgement import Accepted, Rejected
from workbench.models.checker.flowpipe import FlowpipeProof
from workbench.models.checker.stay_conditions import conditions_in
from workbench.models.expressions.expression import (
    TRUE,
    Expression,
    compare,
    conditional,
    conjunction,
    constant,
    function,
    multiply,
    power,
    variable,
)
from workbench.models.expressions.operators import Op
from workbench.models.lowering.problem import linear_problem
from workbench.reach.affine.flowpipe_parts import FlowpipeMethod
from workbench.reach.affine.flowpipe_refinement import Found, search_flowpipe
from workbench.reach.nonlinear.flowpipe import search_nonlinear
from workbench.reach.nonlinear.parts import Found as Followed
from workbench.reach.nonlinear.parts import NonlinearMethod

X, Y, U = variable("x"), variable("y"), variable("u")
LOW = conjunction(X >= 0, X <= Fraction(1, 2))
ENGINES = ("affine", "nonlinear")


def rising(
    guard: Expression,
    claim: Expression,
    start: Expression = LOW,
    *,
    urgent: bool = True,
    after: Expression | None = None,
) -> HybridAutomaton:
    """x' = 1 until the guard, then x' = -1 (or from another x); y' = 0, y = 1."""
    resets = () if after is None else (Constraint("x", Range.exactly(after)),)
    still = Constraint("y", Range.exactly(constant(0)))

    def place(name: str, rate: int) -> Location:
        return Location(name, (Constraint("x", Range.exactly(constant(rate))), still), (), TRUE)

    return HybridAutomaton(
        "rising",
        (Variable("x"), Variable("y")),
        (place("up", 1), place("down", -1)),
        (Edge("up", "down", guard, resets, urgent=urgent, name="turn"),),
        (Initial("up", conjunction(start, Y >= 1, Y <= 1)),),
        (Input("u", low=Fraction(0), high=Fraction(1)),),
        properties=(Property("safe", claim),),
    )


def proof_of(automaton: HybridAutomaton, engine: str, horizon: int = 3) -> FlowpipeProof | None:
    problem = linear_problem(automaton, automaton.properties[0])
    until, expired = Fraction(horizon), _Budget(100)
    if engine == "affine":
        found = search_flowpipe(problem, until, FlowpipeMethod(), expired)
        return found.proof if isinstance(found, Found) else None
    followed = search_nonlinear(problem, until, NonlinearMethod(), expired)
    return followed.proof if isinstance(followed, Followed) else None


def verified(automaton: HybridAutomaton, engine: str) -> bool:
    proof = proof_of(automaton, engine)
    if proof is None:
        return False
    certificate = Certificate(automaton.name, automaton.sha256, "safe", proof)
    judgement = check(automaton, "safe", decode(encode(certificate)))
    assert isinstance(judgement, Accepted), judgement
    return True


@pytest.mark.parametrize("engine", ENGINES)
def test_the_edge_is_taken_where_its_guard_begins_to_hold(engine: str) -> None:
    assert verified(rising(X >= 1, X <= 1), engine)
    assert not verified(rising(X >= 1, X <= Fraction(99, 100)), engine)
    assert not verified(rising(X >= 1, X <= 1, urgent=False), engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_states_at_the_entry_count_though_no_time_passes_there(engine: str) -> None:
    late = conjunction(X >= 0, X <= 2)
    assert not verified(rising(X >= 1, X <= Fraction(19, 10), late), engine)
    assert verified(rising(X >= 1, X <= 2, late), engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_jumps_at_the_entry_are_followed(engine: str) -> None:
    """From x = 2 the edge leads to x = 5 at once."""
    there = conjunction(X >= 2, X <= 2)
    assert not verified(rising(X >= 1, X <= Fraction(49, 10), there, after=X + 3), engine)
    assert verified(rising(X >= 1, X <= 5, there, after=X + 3), engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_the_jump_leads_on_from_the_boundary_only(engine: str) -> None:
    assert verified(rising(X >= 1, X <= 7, after=7 * X), engine)
    assert not verified(rising(X >= 1, X <= Fraction(69, 10), after=7 * X), engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_complement_that_is_not_convex(engine: str) -> None:
    """Not (x >= 1 and y >= 1/2) is a union; y is 1. With y >= 3 the edge is never taken."""
    assert verified(rising(conjunction(X >= 1, Fraction(1, 2) <= Y), X <= 1), engine)
    assert not verified(rising(conjunction(X >= 1, Y >= 3), X <= 2), engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_strict_guard_is_taken_at_its_boundary(engine: str) -> None:
    """Not a dead end, from which nothing is reached: x becomes 7."""
    assert verified(rising(X > 1, X <= 7, after=7 * X), engine)
    assert not verified(rising(X > 1, X <= 6, after=7 * X), engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_guards_that_may_fail_to_hold_promise_nothing(engine: str) -> None:
    """Inputs move as they like, and sqrt(x - 3) is not defined on the way."""
    assert not verified(rising(X + U >= 1, X <= 2), engine)
    assert not verified(rising(function(Op.SQRT, X - 3) <= 0, X <= 2), engine)


def test_guards_with_linear_pieces_are_known() -> None:
    """x * (x > 1 ? 1 : 0) >= 1 holds just where x > 1."""
    step = conditional(X > 1, constant(1), constant(0))
    automaton = rising(compare(Op.GREATER_EQUAL, multiply(X, step), 1), X <= 2)
    problem = linear_problem(automaton, automaton.properties[0])
    assert problem.idle("up") != ((),)
    assert verified(rising(compare(Op.GREATER_EQUAL, multiply(X, step), 1), X <= 1), "flowpipe")
    assert not verified(
        rising(compare(Op.GREATER_EQUAL, multiply(X, step), 1), X <= Fraction(9, 10)), "flowpipe"
    )


def test_quantities_that_jump_or_are_not_defined_everywhere_are_left_out() -> None:
    square = power(X, 2)
    for guard, known in (
        (compare(Op.GREATER_EQUAL, square, 1), True),
        (compare(Op.GREATER_EQUAL, function(Op.SIN, X), 1), True),
        (compare(Op.GREATER_EQUAL, function(Op.SIGN, square - 1), 1), False),
        (compare(Op.GREATER_EQUAL, function(Op.LOG, X), 1), False),
        (compare(Op.GREATER_EQUAL, power(X, -1), 1), False),
        (compare(Op.GREATER_EQUAL, function(Op.FLOOR, X), 1), False),
    ):
        automaton = rising(guard, X <= 2)
        problem = linear_problem(automaton, automaton.properties[0])
        assert problem.idle("up") == ((),), guard
        assert (problem.measuring.idle("up") != ((),)) is known, guard


def test_a_nonlinear_guard_is_taken_where_it_begins_to_hold() -> None:
    circle, narrow = compare(Op.GREATER_EQUAL, power(X, 2), 1), conjunction(X >= 0, X <= 0)
    assert verified(rising(circle, X <= Fraction(101, 100), narrow), "nonlinear")
    assert not verified(rising(circle, X <= Fraction(99, 100), narrow), "nonlinear")
    lazy = rising(circle, X <= Fraction(101, 100), narrow, urgent=False)
    assert not verified(lazy, "nonlinear")


@pytest.mark.parametrize("engine", ENGINES)
def test_a_proof_that_counts_on_urgency_is_rejected_without_it(engine: str) -> None:
    proof = proof_of(rising(X >= 1, X <= 1), engine)
    assert proof is not None
    lazy = rising(X >= 1, X <= 1, urgent=False)
    stolen = Certificate(lazy.name, lazy.sha256, "safe", proof)
    assert isinstance(check(lazy, "safe", stolen), Rejected)


@pytest.mark.parametrize("engine", ENGINES)
def test_evidence_about_the_entry_cannot_be_left_out(engine: str) -> None:
    """Each piece in turn: all of them are asked for, and none serves another obligation."""
    model = rising(X >= 1, X <= 1)
    proof = proof_of(model, engine)
    assert proof is not None
    for k in range(len(proof.evidence)):
        shorter = replace(proof, evidence=proof.evidence[:k] + proof.evidence[k + 1 :])
        stolen = Certificate(model.name, model.sha256, "safe", shorter)
        assert isinstance(check(model, "safe", stolen), Rejected), k


@pytest.mark.parametrize("engine", ENGINES)
def test_an_entry_inside_the_guard_is_not_excused_by_evidence_about_later_moments(
    engine: str,
) -> None:
    """The proof for x(0) <= 1/2 with its entry set widened to states that are bad at once."""
    proof = proof_of(rising(X >= 1, X <= 1), engine)
    assert proof is not None
    wide = rising(X >= 1, X <= 1, conjunction(X >= 0, X <= 2))
    nodes = []
    for node in proof.nodes:
        entry = tuple(
            replace(form, constant=Fraction(-2))
            if node.location == "up" and dict(form.coefficients) == {"x": Fraction(1)}
            else form
            for form in node.entry
        )
        nodes.append(replace(node, entry=entry))
    stolen = Certificate(wide.name, wide.sha256, "safe", replace(proof, nodes=tuple(nodes)))
    assert isinstance(check(wide, "safe", stolen), Rejected)


def test_without_urgent_edges_nothing_is_asked_about_the_entry() -> None:
    automaton = rising(X >= 1, X <= 1, urgent=False)
    conditions = conditions_in(linear_problem(automaton, automaton.properties[0]), "up")
    assert len(conditions.jumps) == 1 and len(conditions.bad) == 1
    assert not conditions.jumps[0].at_entry and not conditions.bad[0].at_entry


def ended(claim: Expression, *, low: int, high: int) -> HybridAutomaton:
    """As `rising` to x = 1, and there 3 higher, where the derivative of x is in a range."""
    base = rising(X >= 1, claim, after=X + 3)
    down = replace(
        base.locations[1],
        flows=(
            Constraint("x", Range(constant(low), constant(high))),
            Constraint("y", Range.exactly(constant(0))),
        ),
    )
    return replace(base, locations=(base.locations[0], down))


def test_no_time_passes_where_a_derivative_has_no_values() -> None:
    """The states that enter there count; from there nothing is reached."""
    assert verified(ended(X <= 4, low=1, high=0), "affine")
    assert not verified(ended(X <= Fraction(39, 10), low=1, high=0), "affine")
    assert not verified(ended(X <= 4, low=0, high=1), "affine")


class _Budget:
    """Says that time is up after so many questions: a limit without a clock."""

    def __init__(self, questions: int):
        self._left = questions

    def __call__(self) -> bool:
        self._left -= 1
        return self._left < 0
