"""Entry sets of nonlinear nodes: boxes in coordinates of their own, cut into parts on demand.

An entry set is given by as many normals as names are followed, and a span for each. A part whose
stays are not followed well enough is cut in two, across one of the normals; what covers the set
is then covered by a decision tree over its parts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from workbench.models.checker.covers import Cover, InCell, Split
from workbench.models.linear import Form, Multipliers

Span = tuple[Fraction, Fraction]
Normal = dict[str, Fraction]


@dataclass(frozen=True)
class Cut:
    """A part is cut where the product with a normal has a value."""

    axis: int
    value: Fraction
    below: Part
    above: Part


@dataclass
class Part:
    """A box of an entry set: the spans of its normals; how often it was cut; and its region's
    number among those of the location, once all are known."""

    spans: tuple[Span, ...]
    depth: int = 0
    cut: Cut | None = None
    region: int | None = None

    def leaves(self) -> Iterator[Part]:
        """The parts that are not cut."""
        pending = [self]
        while pending:
            part = pending.pop()
            if part.cut is None:
                yield part
            else:
                pending += [part.cut.above, part.cut.below]

    def halve(self, axis: int) -> tuple[Part, Part]:
        """Cut the part in the middle of a span."""
        low, high = self.spans[axis]
        middle = (low + high) / 2
        made = []
        for span in ((low, middle), (middle, high)):
            spans = (*self.spans[:axis], span, *self.spans[axis + 1 :])
            made.append(Part(spans, self.depth + 1))
        self.cut = Cut(axis, middle, made[0], made[1])
        return made[0], made[1]


@dataclass
class Entry:
    """An entry set: the names that are followed from it, its normals, and its parts."""

    location: str
    names: tuple[str, ...]
    normals: tuple[Normal, ...]
    whole: Part

    def forms(self, part: Part) -> tuple[Form, ...]:
        """The rows of a part: for every normal an upper and a lower one."""
        found = []
        for normal, (low, high) in zip(self.normals, part.spans, strict=True):
            found.append(Form(dict(normal), -high))
            found.append(Form({n: -a for n, a in normal.items()}, low))
        return tuple(found)

    def contains(self, other: Entry) -> bool:
        """Whether the set contains another one that has the same normals."""
        return (
            (self.location, self.names, self.normals)
            == (other.location, other.names, other.normals)
        ) and all(
            mine[0] <= its[0] and its[1] <= mine[1]
            for mine, its in zip(self.whole.spans, other.whole.spans, strict=True)
        )

    def cover(self, proofs: Sequence[Multipliers], row_count: int) -> Cover:
        """Evidence that rows, of which there are so many, lie in the set's parts; the proofs
        are those of the whole set's rows."""
        return _cover(self.whole, list(proofs), row_count)


def _cover(part: Part, proofs: list[Multipliers], row_count: int) -> Cover:
    if part.cut is None:
        assert part.region is not None, "regions are numbered before covers are made"
        return InCell(part.region, 0, tuple(proofs))
    cut = part.cut
    upper, lower = 2 * cut.axis, 2 * cut.axis + 1
    # The cut is a row of any part that ends there; the new row proves it for all of them.
    beside = next(p for p in cut.below.leaves() if p.spans[cut.axis][1] == cut.value)
    assert beside.region is not None, "regions are numbered before covers are made"
    new: Multipliers = ((row_count, Fraction(1)),)
    below = [new if p == upper else known for p, known in enumerate(proofs)]
    above = [new if p == lower else known for p, known in enumerate(proofs)]
    return Split(
        beside.region,
        upper,
        False,
        _cover(cut.below, below, row_count + 1),
        _cover(cut.above, above, row_count + 1),
    )
