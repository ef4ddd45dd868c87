"""Invariants for a terminal: readable, limited, and with a hint where the rest is."""

from __future__ import annotations

from fractions import Fraction

import pytest

from workbench.cli import run
from workbench.models.checker.covers import Region
from workbench.models.evidence.polyhedral import PolyhedralProof
from workbench.models.linear import Form
from workbench.reports.words.invariant_text import HINT, MOST_LINES, MOST_PARTS, invariant_lines


def region(location: str, count: int, cells: int = 1) -> Region:
    """x + k y <= k for so many k."""
    forms = tuple(
        Form({"x": Fraction(1), "y": Fraction(k)}, Fraction(-k)) for k in range(1, 1 + count)
    )
    signs = [(1,) * count, *((1,) * (count - 1) + (-1,) for _ in range(cells - 1))]
    return Region(location, forms, tuple(signs[:cells]))


def test_a_small_invariant_is_printed_whole() -> None:
    lower = Region("run", (Form({"x": Fraction(-1)}, Fraction(1, 2)),), ((1,),))
    assert invariant_lines(PolyhedralProof((lower,), ())) == ["run:", "  x >= 0.5"]
    everything = Region("off", (), ((),))
    assert invariant_lines(PolyhedralProof((everything,), ())) == ["off:", "  every state"]


def test_long_lists_are_cut_with_a_hint() -> None:
    lines = invariant_lines(PolyhedralProof((region("run", MOST_LINES + 3),), ()))
    assert lines[-2:] == ["  and 3 more", HINT]
    assert len(lines) == MOST_LINES + 3


def test_parts_of_a_location_are_counted() -> None:
    regions = tuple(region("run", 2) for _ in range(MOST_PARTS + 2))
    lines = invariant_lines(PolyhedralProof(regions, ()))
    assert lines[0] == f"run, part 1 of {MOST_PARTS + 2}:"
    assert lines[-2:] == ["and 2 more parts", HINT]
    two = invariant_lines(PolyhedralProof((region("run", 2, cells=2),), ()))
    assert two[0] == "run, part 1 of 2:"
    assert "run, part 2 of 2:" in two


def test_the_command_prints_the_invariant(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["verify", "leaky_tank", "--method", "template"]) == 0
    shown = capsys.readouterr().out
    assert "every reachable state satisfies (numbers rounded), in" in shown
    assert "level" in shown
    assert shown.isascii()
    assert run(["verify", "leaky_tank", "--method", "template", "-q"]) == 0
    assert "every reachable state" not in capsys.readouterr().out
