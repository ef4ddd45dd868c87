"""Boxes of uncertain parameters cut into cells, so that each cell is followed on its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from workbench.models.checker.affine_flow import AffineFlow

Box = Mapping[str, tuple[Fraction, Fraction]]


@dataclass(frozen=True)
class Leaf:
    """A cell, by its number."""

    number: int


@dataclass(frozen=True)
class Cut:
    """The cells where a parameter is at most `at`, and those where it is more."""

    name: str
    at: Fraction
    below: Cells
    above: Cells


Cells: TypeAlias = Leaf | Cut


def cells_of(flow: AffineFlow, count: int) -> Cells:
    """At most `count` cells of the parameters that multiply variables: the widest side,
    compared with the whole box, is halved again and again."""
    if not flow.corners:
        return Leaf(0)
    whole = {}
    for j in flow.corners[0].values:
        ends = [corner.values[j] for corner in flow.corners]
        whole[flow.names[j]] = (min(ends), max(ends))
    return _halved(whole, whole, count, 0)


def _halved(box: Box, whole: Box, count: int, first: int) -> Cells:
    def width(name: str) -> Fraction:
        size = whole[name][1] - whole[name][0]
        return (box[name][1] - box[name][0]) / size if size else Fraction(0)

    name = max(sorted(box), key=width)
    if count < 2 or not width(name):
        return Leaf(first)
    low, high = box[name]
    middle = (low + high) / 2
    half = count // 2
    below = _halved({**box, name: (low, middle)}, whole, half, first)
    return Cut(
        name, middle, below, _halved({**box, name: (middle, high)}, whole, half, first + half)
    )
