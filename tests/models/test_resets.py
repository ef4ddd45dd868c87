"""Sequential actions against their simultaneous form, with direct execution as the oracle."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hierarchies import actions, expr
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.models.agents.resets import (
    ReadsChoiceError,
    after,
    apply,
    compose,
    merge,
    simultaneous,
    updates,
)
from workbench.models.automaton import Constraint, Range, primed
from workbench.models.expressions.evaluation import evaluate
from workbench.models.expressions.expression import add, constant, multiply, variable
from workbench.models.expressions.traversal import free_variables
from workbench.models.source import ModelError

NAMES = ("x", "y", "z")


def text(resets: tuple[Constraint, ...]) -> list[tuple[str, str, str]]:
    return [(r.variable, str(r.range.low), str(r.range.high)) for r in resets]


def test_each_assignment_reads_what_the_ones_before_left() -> None:
    assert text(simultaneous(actions(("x", "y"), ("y", "x")))) == [("x", "y", "y")]
    swap = actions(("t.let1", "x"), ("x", "y"), ("y", "t.let1"))
    assert text(simultaneous(swap, {"x", "y"})) == [("x", "y", "y"), ("y", "x", "x")]


def test_a_choice_is_read_in_primed_form() -> None:
    assert text(simultaneous(actions(("x", "[0, y]"), ("z", "x + 1")))) == [
        ("x", "0", "y"),
        ("z", "x' + 1", "x' + 1"),
    ]


def test_an_overwritten_choice_lives_on_under_an_auxiliary_name() -> None:
    found = simultaneous(actions(("x", "[0, 1]"), ("y", "2*x"), ("x", "7")))
    assert text(found) == [
        ("x@chosen1", "0", "1"),
        ("x", "7", "7"),
        ("y", "2*`x@chosen1'`", "2*`x@chosen1'`"),
    ]


def test_an_unread_choice_disappears_only_if_its_range_cannot_be_empty() -> None:
    assert text(simultaneous(actions(("x", "[0, 1]"), ("x", "7")))) == [("x", "7", "7")]
    kept = simultaneous(actions(("x", "[0, y]"), ("x", "7")))
    assert [r.variable for r in kept] == ["x@chosen1", "x"]
    assert apply(kept, {"x": Fraction(0), "y": Fraction(-1)}, lambda n, low, high: low) is None


def test_a_whole_number_that_lives_on_elsewhere_is_written_with_floor() -> None:
    doubled = simultaneous(actions(("k", "[1, 6]"), ("k", "2*k")), whole={"k"})
    assert text(doubled) == [
        ("k@chosen1", "1", "6"),
        ("k", "2*floor(`k@chosen1'`)", "2*floor(`k@chosen1'`)"),
    ]
    handed_on = simultaneous(actions(("k", "[x, 6]"), ("x", "k"), ("k", "0")), whole={"k"})
    assert text(handed_on) == [
        ("k@chosen1", "-floor(-x)", "6"),
        ("k", "0", "0"),
        ("x", "floor(`k@chosen1'`)", "floor(`k@chosen1'`)"),
    ]
    assert text(simultaneous(actions(("k", "[1, 6]"), ("x", "k")), whole={"k"})) == [
        ("k", "1", "6"),
        ("x", "k'", "k'"),
    ]


def test_no_whole_number_lies_in_a_short_range() -> None:
    kept = simultaneous(actions(("k", "[1/4, 3/4]"), ("k", "7")), whole={"k"})
    assert text(kept) == [("k@chosen1", "1", "0"), ("k", "7", "7")]


def test_two_variables_may_share_one_choice() -> None:
    assert text(simultaneous(actions(("x", "[0, 1]"), ("y", "x")))) == [
        ("x", "0", "1"),
        ("y", "x'", "x'"),
    ]


def test_an_assignment_that_changes_nothing_disappears() -> None:
    assert simultaneous(actions(("x", "x"))) == ()


def test_weakest_precondition() -> None:
    resets = simultaneous(actions(("x", "x + 1"), ("y", "x*2")))
    assert after(expr("y >= x + z"), resets) == expr("(x + 1)*2 >= x + 1 + z")
    with pytest.raises(ReadsChoiceError) as problem:
        after(expr("y > 0"), actions(("x", "1"), ("y", "[0, 1]")))
    assert problem.value.names == ("y",)
    assert after(expr("x > 0"), actions(("x", "1"), ("y", "[0, 1]"))) == expr("true")


def test_updates_inline_what_is_determined() -> None:
    resets = actions(("x", "y + 1"), ("y", "x' + 1"), ("z", "[x', y']"))
    assert updates(resets) == {
        "x": Range.exactly(expr("y + 1")),
        "y": Range.exactly(expr("y + 1 + 1")),
        "z": Range(expr("y + 1"), expr("y + 2")),
    }


def test_merging_intersects_and_orders() -> None:
    first = (Constraint("x", Range(constant(0), constant(5))),)
    second = (
        Constraint("y", Range.exactly(constant(2))),
        Constraint("x", Range(variable(primed("y")), None)),
    )
    merged = merge([first, second], frozenset({"x", "y"}))
    assert [r.variable for r in merged] == ["y", "x"]
    assert merged[1].range.low == expr("max(0, y')") and merged[1].range.high == constant(5)


def test_merging_keeps_auxiliary_names_apart() -> None:
    one = simultaneous(actions(("x", "[0, 1]"), ("y", "x"), ("x", "3")), {"x"})
    part = (Constraint("a", Range(constant(0), constant(1))), *one)
    merged = merge([part, part], frozenset({"x"}))
    names = [r.variable for r in merged]
    assert len(names) == len(set(names)) and names.count("x") == 1


def test_circular_resets_of_two_components_are_refused() -> None:
    first = (Constraint("x", Range(constant(0), constant(1))), *actions(("y", "x' + 1")))
    second = (Constraint("y", Range(constant(0), constant(1))), *actions(("x", "y' + 1")))
    with pytest.raises(ModelError, match="in terms of each other"):
        merge([first, second], frozenset({"x", "y"}))


def test_doubling_forty_times_is_refused_quickly() -> None:
    with pytest.raises(ModelError, match="operations"):
        simultaneous(actions(*[("x", "x + x")] * 40))


@st.composite
def action_lists(draw: st.DrawFn) -> tuple[Constraint, ...]:
    found = []
    for _ in range(draw(st.integers(0, 5))):
        target = draw(st.sampled_from(NAMES))
        low = _affine(draw)
        if draw(st.booleans()):
            found.append(Constraint(target, Range.exactly(low)))
        else:
            width = draw(st.integers(0, 3))
            found.append(Constraint(target, Range(low, low + width)))
    return tuple(found)


def _affine(draw: st.DrawFn):  # type: ignore[no-untyped-def]
    terms = [multiply(draw(st.integers(-2, 2)), variable(n)) for n in NAMES]
    return add(*terms, draw(st.integers(-3, 3)))


def _sequentially(
    steps: tuple[Constraint, ...], values: dict[str, Fraction], shares: dict[int, Fraction]
) -> dict[str, Fraction]:
    """The oracle: run the assignments one by one, the i-th choice at a given share of its
    range."""
    now = dict(values)
    for position, step in enumerate(steps):
        low = evaluate(step.range.low, now)
        high = evaluate(step.range.high, now)
        now[step.variable] = low + shares[position] * (high - low)
    return now


numbers = st.integers(-5, 5).map(Fraction)
shares = st.fractions(0, 1, max_denominator=4)


@settings(max_examples=100)
@given(action_lists(), st.tuples(numbers, numbers, numbers), shares)
def test_simultaneous_form_reaches_what_sequential_execution_reaches(
    steps: tuple[Constraint, ...], start: tuple[Fraction, ...], share: Fraction
) -> None:
    values = dict(zip(NAMES, start, strict=True))
    oracle = _sequentially(steps, values, dict.fromkeys(range(len(steps)), share))
    found = apply(simultaneous(steps), values, lambda n, low, high: low + share * (high - low))
    assert found == oracle


@settings(max_examples=100)
@given(action_lists(), action_lists(), st.tuples(numbers, numbers, numbers), shares)
def test_composition_is_running_one_after_the_other(
    first: tuple[Constraint, ...],
    second: tuple[Constraint, ...],
    start: tuple[Fraction, ...],
    share: Fraction,
) -> None:
    values = dict(zip(NAMES, start, strict=True))
    steps = (*first, *second)
    oracle = _sequentially(steps, values, dict.fromkeys(range(len(steps)), share))
    joined = compose(simultaneous(first), simultaneous(second))
    found = apply(joined, values, lambda n, low, high: low + share * (high - low))
    assert found == oracle


@settings(max_examples=100)
@given(action_lists(), st.tuples(numbers, numbers, numbers))
def test_primed_names_are_reset_before_they_are_read(
    steps: tuple[Constraint, ...], start: tuple[Fraction, ...]
) -> None:
    known: set[str] = set()
    for reset in simultaneous(steps):
        read = free_variables(reset.range.low, reset.range.high)  # type: ignore[arg-type]
        assert {n for n in read if n.endswith("'")} <= known
        known.add(primed(reset.variable))
