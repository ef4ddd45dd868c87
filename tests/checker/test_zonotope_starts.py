"""Entry sets as zonotopes: measured combinations of names take part in bounds."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.certificates.test_mutations import certificate, saddle
from workbench.models.checker.flowpipe import FlowpipeProof, Node, Slab, malformed
from workbench.models.checker.start_set import Measured, StartSet
from workbench.models.linear import Form
from workbench.models.lowering.problem import linear_problem

NAMES = 4
small = st.integers(-4, 4).map(lambda n: Fraction(n, 2))
vectors = st.lists(st.integers(-9, 9), min_size=NAMES, max_size=NAMES)
F = Fraction


def largest(start: StartSet, vector: list[int], sign: int = 1) -> Fraction | None:
    top = start.largest(start.support(vector), sign)
    return None if top is None else F(top, start.denominator)


@st.composite
def starts_with_a_state(draw: st.DrawFn) -> tuple[StartSet, list[Fraction]]:
    """Any spans and combinations around a state that lies in all of them; some spans are open."""
    state = [draw(small) for _ in range(NAMES)]
    room = st.integers(0, 3).map(lambda n: F(n, 4))
    spans = []
    for value in state:
        low, high = value - draw(room), value + draw(room)
        spans.append((low if draw(st.integers(0, 5)) else None, high))
    frame = []
    for _ in range(draw(st.integers(0, 3))):
        normal = {j: a for j in range(NAMES) if (a := draw(small))}
        factor = {j: a for j in range(NAMES) if (a := draw(small))}
        if normal:
            value = sum((a * state[j] for j, a in normal.items()), F(0))
            frame.append(Measured(normal, value - draw(room), value + draw(room), factor))
    return StartSet(tuple(spans), (), tuple(frame)), state


@given(starts_with_a_state(), vectors, st.sampled_from((1, -1)))
def test_no_state_exceeds_the_support(
    case: tuple[StartSet, list[Fraction]], vector: list[int], sign: int
) -> None:
    start, state = case
    value = sign * sum((a * x for a, x in zip(vector, state, strict=True)), F(0))
    top = largest(start, vector, sign)
    assert top is None or value <= top


@given(starts_with_a_state(), vectors)
def test_without_combinations_it_is_the_box(
    case: tuple[StartSet, list[Fraction]], vector: list[int]
) -> None:
    start = replace(case[0], frame=())
    ends = [span[a > 0] for a, span in zip(vector, start.spans, strict=True)]
    if any(a and e is None for a, e in zip(vector, ends, strict=True)):
        assert largest(start, vector) is None
    else:
        whole = sum((a * e for a, e in zip(vector, ends, strict=True) if a and e is not None), F(0))
        assert largest(start, vector) == whole


def test_a_line_is_bounded_exactly() -> None:
    """v = -2 x: what counts of a vector (a, b) is a - 2 b."""
    line = Measured({0: F(2), 1: F(1)}, F(0), F(0), {1: F(1)})
    start = StartSet(((F(9, 10), F(1)), (F(-2), F(-9, 5))), (), (line,))
    assert largest(start, [2, 1]) == 0
    assert largest(start, [1, 0]) == 1
    assert largest(start, [0, 1]) == F(-9, 5)
    assert largest(replace(start, frame=()), [2, 1]) == F(1, 5)


def test_a_combination_may_stand_for_a_name_without_bounds() -> None:
    line = Measured({0: F(-1), 1: F(1)}, F(0), F(1), {1: F(1)})
    start = StartSet(((F(0), F(1)), (None, None)), (), (line,))
    assert largest(start, [0, 1]) == 2
    assert largest(start, [0, 1], -1) == 0


def test_chains_of_combinations() -> None:
    """z = y + 1 and y = 2 x with x in [0, 1]: z in [1, 3], z - 2 x = 1."""
    frame = (
        Measured({1: F(-1), 2: F(1)}, F(1), F(1), {2: F(1)}),
        Measured({0: F(-2), 1: F(1)}, F(0), F(0), {1: F(1), 2: F(1)}),
    )
    start = StartSet(((F(0), F(1)), (F(0), F(2)), (F(-9), F(9))), (), frame)
    assert largest(start, [0, 0, 1]) == 3
    assert largest(start, [-2, 0, 1]) == 1


ENTRY = (
    Form({"x": F(2), "y": F(1)}, F(0)),
    Form({"x": F(-2), "y": F(-1)}, F(0)),
    Form({"x": F(1)}, F(-1)),
)


@pytest.mark.parametrize(
    "slab",
    [
        Slab(0, 2, {"x": F(1)}),  # not two sides of one combination
        Slab(0, 0, {"x": F(1)}),
        Slab(0, 3, {"x": F(1)}),  # no such row
        Slab(-1, 1, {"x": F(1)}),
    ],
)
def test_rows_that_are_no_slab_are_refused(slab: Slab) -> None:
    model = saddle()
    good = certificate(model, "flowpipe", F(3)).proof
    assert isinstance(good, FlowpipeProof)
    node = good.nodes[0]
    assert isinstance(node, Node)
    assert node.frame
    problem = linear_problem(model, model.properties[0])
    assert malformed(problem, good) is None
    bad = replace(node, entry=ENTRY, directions=(), frame=(slab,))
    why = malformed(problem, replace(good, nodes=(bad,)))
    assert why is not None
    assert "slab" in why


@pytest.mark.parametrize("factor", [{}, {"z": F(1)}])
def test_factors_are_about_names_of_the_model(factor: dict[str, Fraction]) -> None:
    model = saddle()
    good = certificate(model, "flowpipe", F(3)).proof
    assert isinstance(good, FlowpipeProof)
    bad = replace(good.nodes[0], frame=(Slab(0, 1, factor),))
    assert malformed(linear_problem(model, model.properties[0]), replace(good, nodes=(bad,)))
