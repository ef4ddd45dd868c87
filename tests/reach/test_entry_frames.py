"""Which combinations of names make entry sets zonotopes, and what they are good for."""

from __future__ import annotations

import time
from fractions import Fraction
from pathlib import Path

from workbench.abstraction.strategies.flowpipe import FlowpipeStrategy
from workbench.abstraction.strategies.strategy import Task
from workbench.models.checker.flowpipe import Slab
from workbench.models.checker.start_set import Measured, StartSet
from workbench.models.linear import Form
from workbench.models.load import load
from workbench.models.verdict import Falsified, Verdict, Verified
from workbench.reach.affine.entry_frames import frame_of

F = Fraction


def sides(normal: dict[str, Fraction], low: Fraction, high: Fraction) -> list[Form]:
    return [Form(normal, -high), Form({n: -a for n, a in normal.items()}, low)]


def box(**spans: tuple[int, int]) -> list[Form]:
    return [form for n, (low, high) in spans.items() for form in sides({n: F(1)}, F(low), F(high))]


def test_a_narrow_slab_stands_for_the_name_that_gains_most() -> None:
    normal = {"x": F(1), "y": F(-1)}
    entry = [*box(x=(0, 1), y=(0, 8)), *sides(normal, F(0), F(1, 10))]
    assert frame_of(entry, [normal]) == (Slab(4, 5, {"y": F(-1)}),)


def test_a_wide_slab_is_not_used() -> None:
    normal = {"x": F(1), "y": F(-1)}
    entry = [*box(x=(0, 1), y=(0, 1)), *sides(normal, F(-1), F(1))]
    assert frame_of(entry, [normal]) == ()


def test_a_slab_with_one_side_is_not_used() -> None:
    normal = {"x": F(1), "y": F(-1)}
    entry = [*box(x=(0, 1), y=(0, 8)), sides(normal, F(0), F(0))[0]]
    assert frame_of(entry, [normal]) == ()


def test_names_are_taken_after_the_combinations_that_read_them() -> None:
    """z = y + x and y = 2 x: in a wrong order what is left of y comes back with its whole range."""
    first, second = {"y": F(1), "x": F(-2)}, {"z": F(1), "y": F(-1), "x": F(-1)}
    entry = [
        *box(x=(0, 1), y=(0, 2), z=(0, 30)),
        *sides(first, F(0), F(0)),
        *sides(second, F(0), F(0)),
    ]
    frame = [
        Measured(
            {"xyz".index(n): a for n, a in entry[slab.above].coefficients.items()},
            entry[slab.below].constant,
            -entry[slab.above].constant,
            {"xyz".index(n): a for n, a in slab.factor.items()},
        )
        for slab in frame_of(entry, [first, second])
    ]
    assert len(frame) == 2
    start = StartSet(((F(0), F(1)), (F(0), F(2)), (F(0), F(30))), (), frame)
    for vector, extremes in (([-3, 0, 1], (0, 0)), ([0, 0, 1], (3, 0)), ([0, 1, 0], (2, 0))):
        support = start.support(vector)
        top, bottom = start.largest(support, 1), start.largest(support, -1)
        assert top is not None and bottom is not None
        assert (F(top, start.denominator), F(-bottom, start.denominator)) == extremes


LOOP = """
mode Run() {{
  write analog real x, v, u, c;
  diff {{ d(x) == v; d(v) == u; d(u) == 0; d(c) == 1; }}
  inv {{ c <= 0.2 }}
}}
mode Top() {{
  write analog real x, v, u, c;
  mode run = Run();
  trans from init to run;
  trans #sample from run to run when c >= 0.2 do {{ c = 0; u = -2*x - 3*v; }}
}}
agent Loop() {{
  private analog real x, v, u, c;
  init {{ x in [0.9, 1.1]; v in [-0.1, 0.1]; u = 0; c = 0; }}
  mode top = Top();
  assert "band" {{ {claim} }}
}}
system Loop() until 3;
"""


def judged(folder: Path, claim: str) -> Verdict:
    (folder / "loop.charon").write_text(LOOP.format(claim=claim))
    automaton = load(folder / "loop.charon").automaton
    return FlowpipeStrategy().attempt(
        Task(automaton, automaton.properties[0], time.monotonic() + 60)
    )


def test_a_sampled_controller(tmp_path: Path) -> None:
    verdict = judged(tmp_path, "x <= 1.3 && x >= -0.3 && v >= -0.9")
    assert isinstance(verdict, Verified)


def test_a_sampled_controller_that_promises_too_much(tmp_path: Path) -> None:
    verdict = judged(tmp_path, "v >= -0.5")
    assert isinstance(verdict, Falsified)
