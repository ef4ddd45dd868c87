"""An urgent edge may be taken in the limit of its guard: what that asks of a simulation."""

from __future__ import annotations

from dataclasses import replace

import pytest
from charon_texts import automaton_of

from workbench.abstraction.refinement.flat import Settings, refine
from workbench.abstraction.refinement.makers import merged, without_variables
from workbench.abstraction.refinement.outcome import Refines
from workbench.models.agents.composition import explicit
from workbench.models.automaton import HybridAutomaton
from workbench.models.certificates.judgement import Rejected
from workbench.models.certificates.refinement import Assumed, Simulated, check_refinement
from workbench.models.checker.conditions import limit_of
from workbench.models.expressions.text import parse_expression

QUIET = Settings(refute=False, reach=False)
TEXT = """
mode Go() {{ write analog real x; diff {{ d(x) == 1; }} }}
mode Top() {{
  write analog real x; write discrete int y, n; private analog real w;
  mode a = Go(); mode b = Go(); mode c = Go();
  {equation}
  trans from init to a;
  {urgent} trans from a to b when {guard} do {{ y = 1; }}
  trans from b to c when x <= 1 do {{ y = 7; }}
}}
agent S() {{
  write analog real x; write discrete int y, n;
  init {{ x = 0; y = 0; n = 2; }} mode top = Top();
}}
"""


def system(
    guard: str, urgent: bool = True, equation: str = "diff { d(w) == 0; }"
) -> HybridAutomaton:
    """From a to b where the guard holds; from there to c and 7 only at x <= 1."""
    word = "urgent" if urgent else ""
    return explicit(automaton_of(TEXT.format(guard=guard, urgent=word, equation=equation)))


def is_proved(detailed: HybridAutomaton, simple: HybridAutomaton) -> bool:
    return isinstance(refine(detailed, simple, ("x", "y", "n"), QUIET), Refines)


@pytest.mark.parametrize(
    ("detailed", "simple"),
    [
        ("x > 1", "x > 1"),
        ("x > 1 && (x < 3 || x >= 3)", "x > 1"),
        ("!(x <= 1)", "!(x <= 1)"),
        ("x > 1 || x < -1", "x > 1 || x < -1"),
        ("floor(-x) <= -2", "floor(-x) <= -2"),
        ("2 * x > 2", "1 < x"),
        ("2 - x < x", "x > 1"),
        ("x != 1", "x < 1 || 2 < 2 * x"),
    ],
)
def test_a_strict_urgent_guard_is_matched_by_an_urgent_one(detailed: str, simple: str) -> None:
    """The detailed edge leads to b at x = 1, and on to c; an edge that is not urgent does not."""
    assert is_proved(system(detailed), system(simple))
    assert not is_proved(system(detailed), system(simple, urgent=False))
    assert is_proved(system(detailed, urgent=False), system(simple, urgent=False))


@pytest.mark.parametrize(
    "simple", ["x > 1 && x < 1", "x > 1 && x - x > 0", "2 * x > 2 && x < 1", "x < 1", "-x > 1"]
)
def test_an_abstract_guard_without_solutions_has_no_limits(simple: str) -> None:
    assert not is_proved(system("x > 1 && x < 3"), system(simple))
    assert not is_proved(system("x >= 1 && x <= 1"), system(simple))


def test_guards_of_whole_numbers_are_their_own_limits() -> None:
    assert is_proved(system("n > 1"), system("n > 1", urgent=False))
    assert not is_proved(system("n > 1 && x > 1"), system("n > 1 && x > 1", urgent=False))
    assert is_proved(system("n > 1 && x > 1"), system("n > 1 && x >= 1", urgent=False))


def test_what_an_equation_defines_may_jump_on_the_way() -> None:
    """w is 0 up to x = 1 and 1 beyond it: the edge is taken where w > 0 is about to hold."""
    step = "alge { w == -1 - floor(-x); }"
    detailed = system("w > 0", equation=step)
    assert not is_proved(detailed, system("x > 1", urgent=False, equation=step))
    assert is_proved(detailed, system("true", urgent=False, equation=step))


def test_equations_may_keep_the_abstract_guard_from_ever_holding() -> None:
    """w = x and w = min(x, 1) are the same up to x = 1, where only the first exceeds 1."""
    detailed = system("w > 1", equation="alge { w == x; } inv { x <= 1 }")
    assert not is_proved(
        detailed, system("w > 1", equation="alge { w == min(x, 1); } inv { x <= 1 }")
    )
    assert is_proved(detailed, system("w >= 1", urgent=False, equation="alge { w == x; }"))


def test_a_certificate_that_forgets_the_limit_is_rejected() -> None:
    """The proof for the edge that need not be taken, presented for the urgent one."""
    plain, urgent = system("x > 1", urgent=False), system("x > 1")
    outcome = refine(plain, plain, ("x", "y", "n"), QUIET)
    assert isinstance(outcome, Refines)
    forged = replace(outcome.certificate, detailed_sha256=urgent.sha256)
    judgement = check_refinement(urgent, plain, forged)
    assert isinstance(judgement, Rejected)
    assert "jump" in judgement.obligation


def test_an_assumed_limit_is_counted_and_not_hidden() -> None:
    plain, urgent = system("x > 1", urgent=False), system("x > 1")
    outcome = refine(plain, plain, ("x", "y", "n"), QUIET)
    assert isinstance(outcome, Refines)
    anything = tuple(Assumed("nobody") for _ in outcome.certificate.evidence)
    forged = replace(outcome.certificate, detailed_sha256=urgent.sha256, evidence=anything)
    judgement = check_refinement(urgent, plain, forged)
    assert isinstance(judgement, Simulated)
    assert judgement.obligations == 0


def test_made_abstractions_can_do_what_urgent_edges_do() -> None:
    detailed = system("x > 1 && y < 1")
    made, places = merged(detailed, ["b", "c"], "late")
    outcome = refine(detailed, made, ("x", "y", "n"), replace(QUIET, places=places))
    assert isinstance(outcome, Refines)
    dropped = without_variables(detailed, ["y"])
    assert isinstance(refine(detailed, dropped, ("x", "n"), QUIET), Refines)
    assert is_proved(detailed, without_variables(detailed, ["w"]))


@pytest.mark.parametrize(
    ("guard", "limit"),
    [
        ("x > 1", "x >= 1"),
        ("x != 1", "true"),
        ("!(x == 1 || n < 1)", "n >= 1"),
        ("n > 1 && x < 2", "n > 1 && x <= 2"),
        ("n + x > 1", "n + x >= 1"),
        ("sign(x) > 0 && x * x > 1", "x * x >= 1"),
    ],
)
def test_limits(guard: str, limit: str) -> None:
    automaton = system("true")
    found = limit_of(parse_expression(guard), automaton, automaton.location("a"))
    assert found == parse_expression(limit)
