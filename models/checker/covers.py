"""Sets of cells, and why the solutions of rows lie in them: the one argument that polyhedral
invariants and flowpipes share.

A region of a location is a list of predicates (affine forms h_p) and a list of closed cells; a cell
is a sign vector s, the set of states with s_p h_p <= 0 for every p, perhaps cut down to a *part* by
further forms that are <= 0. That all solutions of some rows lie in cells of regions is shown by
a decision tree: splits by a predicate, and at each leaf multipliers that show that there are no
solutions left, or that all of them satisfy the rows of one cell (`models.checker.farkas`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Protocol, TypeAlias

from workbench.models.automaton import primed
from workbench.models.checker.farkas import implies, refutes
from workbench.models.interruption import go_on
from workbench.models.linear import Form, Multipliers, Row, Rows

_MINUS_ONE = Fraction(-1)

Cell: TypeAlias = tuple[int, ...]
"""One sign for each predicate: +1 for h_p <= 0, -1 for h_p >= 0."""
Part: TypeAlias = tuple[Form, ...]
"""Forms that are <= 0."""


@dataclass(frozen=True)
class Region:
    """A part of the invariant in one location; `parts` are none at all, or one for each cell;
    `exits` are the numbers of the predicates that the flow may violate, `margin` is by how much
    they hold after a change of regions."""

    location: str
    predicates: tuple[Form, ...]
    cells: tuple[Cell, ...]
    parts: tuple[Part, ...] = ()
    exits: tuple[int, ...] = ()
    margin: Fraction = Fraction(0)

    def part(self, number: int) -> Part:
        """The further forms of a cell."""
        return self.parts[number] if self.parts else ()

    def rows(self, number: int) -> Rows:
        """A cell as rows: one for each predicate, in order, then those of its part."""
        cell = zip(self.predicates, self.cells[number], strict=True)
        sides = [Row(h if sign > 0 else -h) for h, sign in cell]
        return (*sides, *map(Row, self.part(number)))

    def after(self, number: int) -> Rows:
        """A cell as rows on the values after a jump; worked out once."""
        if number not in self._after:
            self._after[number] = tuple([Row(after(row.form)) for row in self.rows(number)])
        return self._after[number]

    @cached_property
    def _after(self) -> dict[int, Rows]:
        return {}


@dataclass(frozen=True, slots=True)
class Impossible:
    """The rows at hand have no common solution."""

    multipliers: Multipliers


@dataclass(frozen=True, slots=True)
class InCell:
    """All states at hand lie in a cell of one of the target's regions: multipliers for each
    row of that cell, in order, that the splits on the way have not already decided (those
    may be left empty)."""

    region: int
    cell: int
    proofs: tuple[Multipliers, ...]


@dataclass(frozen=True, slots=True)
class Split:
    """Cases h_p <= 0 and h_p > 0 for a predicate of one of the target's regions; with
    `strict_below` instead h_p < 0 and h_p >= 0."""

    region: int
    predicate: int
    strict_below: bool
    below: Cover
    above: Cover


Cover: TypeAlias = Impossible | InCell | Split
Decided: TypeAlias = dict[tuple[int, int], int]
"""The signs that splits have decided, by region and predicate."""


@dataclass(frozen=True, slots=True)
class CoverObligation:
    """Every solution of `rows` lies, by its primed values, in a cell of one of the `regions`
    (none: there is no solution). For a jump, which has a name, the rows begin with those of the
    cell of that number of `source`."""

    title: str
    rows: Rows
    regions: tuple[Region, ...]
    source: Region | None = None
    cell: int = 0
    jump: str = ""

    def holds(self, evidence: object) -> bool:
        """Whether a decision tree of splits with Farkas leaves covers the rows."""
        pending: list[tuple[object, Rows, Decided]] = [(evidence, self.rows, {})]
        while pending:
            node, rows, decided = pending.pop()
            if isinstance(node, Impossible):
                if not refutes(rows, node.multipliers):
                    return False
            elif isinstance(node, InCell):
                if not self._in_cell(node, rows, decided):
                    return False
            elif isinstance(node, Split):
                h = self._predicate(node.region, node.predicate)
                if h is None:
                    return False
                key = (node.region, node.predicate)
                below = Row(h, node.strict_below)
                above = Row(h.scaled(_MINUS_ONE), not node.strict_below)
                pending.append((node.below, (*rows, below), {**decided, key: 1}))
                pending.append((node.above, (*rows, above), {**decided, key: -1}))
            else:
                return False
        return True

    def _predicate(self, region: int, predicate: int) -> Form | None:
        """A predicate on the values after the jump; None if there is no such predicate."""
        if not 0 <= region < len(self.regions):
            return None
        predicates = self.regions[region].predicates
        return after(predicates[predicate]) if 0 <= predicate < len(predicates) else None

    def _in_cell(self, leaf: InCell, rows: Rows, decided: Decided) -> bool:
        if not 0 <= leaf.region < len(self.regions):
            return False
        region = self.regions[leaf.region]
        if not 0 <= leaf.cell < len(region.cells):
            return False
        cell = region.cells[leaf.cell]
        goals = region.after(leaf.cell)
        if len(leaf.proofs) != len(goals):
            return False
        for p, goal in enumerate(goals):
            known = p < len(cell) and decided.get((leaf.region, p)) == cell[p]
            if not known and not implies(rows, goal, leaf.proofs[p]):
                return False
        return True


@dataclass(frozen=True, slots=True)
class ImpossibleObligation:
    """The rows, which begin with those of the cell of that number of `region`, have no common
    solution."""

    title: str
    rows: Rows
    region: Region
    cell: int = 0

    def holds(self, evidence: object) -> bool:
        """Whether the multipliers refute the rows."""
        return isinstance(evidence, Impossible) and refutes(self.rows, evidence.multipliers)


class Shown(Protocol):
    """What is shown by a piece of evidence."""

    @property
    def title(self) -> str:
        """What it is called."""

    def holds(self, evidence: object) -> bool:
        """Whether the evidence shows it."""


def counted_or_failed(
    obligations: Iterable[Shown], evidence: Iterable[object]
) -> int | tuple[str, str]:
    """How many obligations there are, if each holds by the piece of evidence given for it in
    order; else the title of the first that does not, and why."""
    count = 0
    pieces = iter(evidence)
    for obligation in obligations:
        go_on()
        piece = next(pieces, None)
        if piece is None:
            return obligation.title, "there is no evidence for it"
        if not obligation.holds(piece):
            return obligation.title, "the evidence does not prove it"
        count += 1
    if next(pieces, None) is not None:
        return "evidence", "there is more evidence than obligations"
    return count


def after(h: Form) -> Form:
    """The predicate on the values after a jump."""
    return h.renamed({name: primed(name) for name in h.coefficients})
