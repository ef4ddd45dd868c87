"""Flowpipes of variables with constant rates, or rates in constant ranges, lose nothing."""

from __future__ import annotations

import time
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.abstraction.strategies.strategy import Task
from workbench.abstraction.verification import verify
from workbench.models.checker.adjoint import FlowBounds, Stage
from workbench.models.checker.affine_flow import AffineFlow, Signal
from workbench.models.checker.start_set import StartSet
from workbench.models.load import load
from workbench.models.verdict import Verified

BITS = 24
fractions = st.fractions(-3, 3, max_denominator=12)
dyadics = st.integers(-64, 64).map(lambda n: Fraction(n, 16))


def spans(numbers: st.SearchStrategy[Fraction]) -> st.SearchStrategy[tuple[Fraction, Fraction]]:
    return st.tuples(numbers, numbers).map(lambda ends: (min(ends), max(ends)))


@st.composite
def systems(
    draw: st.DrawFn, numbers: st.SearchStrategy[Fraction]
) -> tuple[AffineFlow, StartSet, list[Stage], list[int]]:
    """Two variables that signals push, where they start, steps, and a direction in units."""
    signals = tuple(
        Signal(*draw(spans(numbers)), {0: draw(numbers), 1: draw(numbers)}, name)
        for name in ("u", "w")
    )
    flow = AffineFlow(("x", "y"), ({}, {}), signals, {})
    start = StartSet((draw(spans(numbers)), draw(spans(numbers))), ())
    positive = numbers.filter(lambda n: n > 0)
    stages = [Stage(draw(positive), draw(st.integers(1, 3))) for _ in range(2)]
    direction = [draw(st.integers(-3, 3)) << BITS for _ in flow.names]
    return flow, start, stages, direction


def largest(
    flow: AffineFlow, start: StartSet, direction: list[int], sign: int, elapsed: Fraction
) -> Fraction:
    """The largest value after a time: the best start, and the best rates throughout."""
    normal = [Fraction(sign * a, 1 << BITS) for a in direction]
    total = Fraction(0)
    for a, (low, high) in zip(normal, start.spans, strict=True):
        assert low is not None and high is not None
        total += max(a * low, a * high)
    for signal in flow.signals:
        b = sum((normal[i] * value for i, value in signal.column.items()), Fraction(0))
        assert signal.low is not None and signal.high is not None
        total += elapsed * max(b * signal.low, b * signal.high)
    return total


def excesses(
    flow: AffineFlow, start: StartSet, stages: list[Stage], direction: list[int]
) -> list[Fraction]:
    """How far bounds lie above the largest values, at the ends of all steps."""
    bounds = FlowBounds(flow, start, Fraction(64), {}, 4, BITS)
    found: list[Fraction] = []
    for sign in (1, -1):
        now = Fraction(0)
        lengths = [stage.length for stage in stages for _ in range(stage.count)]
        pieces = list(bounds.pieces(direction, stages))
        chords = list(bounds.chords(iter(pieces), direction, sign, ()))
        anchor = bounds.anchored(pieces[0], direction, sign, ())
        assert len(chords) == len(lengths)
        assert anchor is not None
        for length, chord in zip(lengths, chords, strict=True):
            found.append(chord.begin - largest(flow, start, direction, sign, now))
            now += length
            found.append(chord.end - largest(flow, start, direction, sign, now))
        found.append(anchor.begin - largest(flow, start, direction, sign, Fraction(0)))
        found.append(anchor.end - largest(flow, start, direction, sign, lengths[0]))
    return found


@given(systems(fractions))
def test_bounds_are_never_too_low_and_hardly_too_high(
    system: tuple[AffineFlow, StartSet, list[Stage], list[int]],
) -> None:
    for excess in excesses(*system):
        assert 0 <= excess <= Fraction(4, 1 << BITS)


@given(systems(dyadics))
def test_bounds_are_exact_where_nothing_needs_rounding(
    system: tuple[AffineFlow, StartSet, list[Stage], list[int]],
) -> None:
    assert set(excesses(*system)) == {0}


MODEL = """
mode Rising() {{ write analog real x; diff {{ d(x) {rate}; }} }}
agent Clock() {{
  private analog real x;
  init {{ x = 0; }}
  mode top = Rising();
  assert "claim" {{ {claim} }}
}}
system Clock() until 2;
"""


def verified(folder: Path, rate: str, claim: str) -> bool:
    path = folder / "clock.charon"
    path.write_text(MODEL.format(rate=rate, claim=claim))
    automaton = load(str(path)).automaton
    task = Task(automaton, automaton.properties[0], time.monotonic() + 20)
    return isinstance(verify(task, "flowpipe"), Verified)


def test_a_bound_may_be_touched_at_the_horizon(tmp_path: Path) -> None:
    assert verified(tmp_path, "== 1", "x <= 2")
    assert verified(tmp_path, "in [-1, 1]", "x <= 2 && x >= -2")


def test_a_bound_may_be_touched_throughout(tmp_path: Path) -> None:
    assert verified(tmp_path, "in [0, 1]", "x >= 0")


@pytest.mark.slow
def test_a_bound_that_is_reached_at_the_horizon_is_not_proved_strictly(tmp_path: Path) -> None:
    assert not verified(tmp_path, "== 1", "x < 2")
    assert not verified(tmp_path, "== 1", "x <= 1.999999999")
