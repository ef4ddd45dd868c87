"""Polyhedral certificates as evidence for the kernel.

Both speak about the same obligations with the same multipliers. The kernel's evidence is a tree, by
location, region, cell, row and case, where the certificate has a list in the order of
`polyhedral.obligations`; it counts exits behind the rows of a cell that flow keeps; and it has a
multiplier for every row, in order. Nothing that is done here needs trust: the kernel checks what
comes out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from workbench.models.checker.covers import Cover, Impossible, InCell, Region, Split
from workbench.models.evidence.polyhedral import (
    Evidence,
    FacetReason,
    HandedOver,
    Kept,
    PolyhedralProof,
    inset,
)
from workbench.models.kernel.decode import MAX_DEPTH
from workbench.models.linear import Form, Multipliers, Rows
from workbench.models.lowering.normal_form import Data, NormalForm, NotLoweredError, dense, number


def evidence(form: NormalForm, proof: PolyhedralProof) -> Data:
    """The evidence of a proof, whose regions are not malformed, about a problem in normal form. If
    it does not fit the problem, `NotLoweredError` says why."""
    return _Evidence(form, proof.regions, iter(proof.evidence)).certificate()


def borders(region: Region, cell: int) -> Rows:
    """The rows of a cell in the kernel's order."""
    rows, order = region.rows(cell), _Order.of(region, cell)
    return tuple(rows[order.places.index(place)] for place in range(len(rows)))


@dataclass(frozen=True)
class _Order:
    """Where the kernel has the rows of a cell: those that flow keeps (`walls`), then exits."""

    places: tuple[int, ...]
    walls: int

    @classmethod
    def of(cls, region: Region, cell: int) -> _Order:
        size = len(region.predicates) + len(region.part(cell))
        exits = set(region.exits)
        walls = [i for i in range(size) if i not in exits]
        order = [*walls, *sorted(exits)]
        places = tuple(order.index(i) for i in range(size)) if exits else tuple(range(size))
        return cls(places, len(walls))

    def all(self, factors: Multipliers, size: int) -> dict[int, Fraction]:
        """Multipliers of `size` rows that begin with those of the cell, as the kernel counts
        them."""
        return _summed((self.place(i), a) for i, a in _of_rows(factors, size))

    def place(self, row: int) -> int:
        return self.places[row] if row < len(self.places) else row


class _Evidence:
    """Takes the pieces of evidence in the order in which the obligations come."""

    def __init__(self, form: NormalForm, regions: Sequence[Region], pieces: Iterator[Evidence]):
        self.form, self.problem = form, form.problem
        self.regions, self.pieces = regions, pieces
        self.beside: dict[str, list[Region]] = {}
        for region in regions:
            self.beside.setdefault(region.location, []).append(region)

    def certificate(self) -> Data:
        starts = [
            [self._cover(self.beside.get(location, []), None, len(rows)) for rows in cases]
            for location, cases in self.problem.starts()
        ]
        found: dict[str, list[Data]] = {name: [] for name in self.form.locations}
        for region in self.regions:
            found[region.location].append(self._region(region))
        if next(self.pieces, None) is not None:
            raise NotLoweredError("there is more evidence than obligations")
        return [starts, list(found.values())]

    def _next(self) -> Evidence:
        piece = next(self.pieces, None)
        if piece is None:
            raise NotLoweredError("there is less evidence than obligations")
        return piece

    def _region(self, region: Region) -> Data:
        cells = range(len(region.cells))
        orders = [_Order.of(region, cell) for cell in cells]
        flow = [self._flow(region, cell, orders[cell]) for cell in cells]
        jumps: list[list[Data]] = [[] for _ in cells]
        for jump in self.problem.jumps(region.location):
            target = self.beside.get(jump.target, [])
            for cell in cells:
                size = len(orders[cell].places)
                jumps[cell].append(
                    [self._cover(target, orders[cell], size + len(rows)) for rows in jump.cases]
                )
        bad = self.problem.bad(region.location)
        safety = [
            [self._impossible(order, len(order.places) + len(rows)) for rows in bad]
            for order in orders
        ]
        return [
            self._set(region),
            [facets for facets, _ in flow],
            [exits for _, exits in flow],
            jumps,
            safety,
        ]

    def _set(self, region: Region) -> Data:
        """The region itself."""
        kept = [i for i in range(len(region.predicates)) if i not in region.exits]
        return [
            [self.form.affine(region.predicates[i]) for i in kept],
            [
                [[cell[i] > 0 for i in kept], [self.form.affine(k) for k in region.part(number)]]
                for number, cell in enumerate(region.cells)
            ],
            [self.form.affine(self._exit(region, p)) for p in sorted(set(region.exits))],
            number(region.margin),
        ]

    @staticmethod
    def _exit(region: Region, predicate: int) -> Form:
        h = region.predicates[predicate]
        return h if region.cells[0][predicate] > 0 else -h

    # Flow

    def _flow(self, region: Region, cell: int, order: _Order) -> tuple[Data, Data]:
        """The evidence for the rows that flow keeps, and for the exits."""
        present = {signs: number for number, signs in enumerate(region.cells)}
        signs = region.cells[cell]
        invariants = self.problem.flowing(region.location)
        dynamics = self.problem.dynamics(region.location)
        facets: list[Data] = []
        exits: list[Data] = []
        for row in range(len(order.places)):
            flip = (*signs[:row], -signs[row], *signs[row + 1 :]) if row < len(signs) else None
            beyond = None if flip is None else present.get(flip)
            if beyond is not None and not region.part(beyond):
                handed: Data = ["HandedOver", str(beyond), []]
                facets.append([[handed] * len(dynamics) for _ in invariants])
                continue
            found = [
                [
                    self._leaving(region, order, len(invariant) + len(d.rows))
                    if row in region.exits
                    else self._facet(order, len(invariant), len(d.rows), region, beyond)
                    for d in dynamics
                ]
                for invariant in invariants
            ]
            (exits if row in region.exits else facets).append(found)
        return facets, exits

    def _facet(
        self, order: _Order, known: int, moving: int, region: Region, beyond: int | None
    ) -> Data:
        """Why flow stays; there are so many rows of the invariant (`known`) and of derivatives
        (`moving`), `beyond` is the cell of the region that takes over where flow does not."""
        piece = self._next()
        if isinstance(piece, HandedOver):
            if beyond is None or len(piece.proofs) != len(region.part(beyond)):
                raise NotLoweredError("nothing takes over where flow leaves")
            proofs = []
            for mu, factors in piece.proofs:
                own, others = self._parted(order, known, 0, factors)
                proofs.append([[number(mu), own], others])
            return ["HandedOver", str(beyond), proofs]
        if not isinstance(piece, Kept):
            raise NotLoweredError("flow needs another kind of evidence")
        own, others = self._parted(order, known, moving, piece.multipliers)
        if piece.reason is FacetReason.INVARIANT:
            return ["Implied", others]
        kind = "Inward" if piece.reason is FacetReason.INWARD else "Empty"
        return [kind, number(piece.own), own, others]

    @staticmethod
    def _parted(order: _Order, known: int, moving: int, factors: Multipliers) -> tuple[Data, Data]:
        """Multipliers of the rows that flow keeps, and of all others: those of the invariant,
        exits, and those of the dynamics."""
        size, exits = len(order.places), len(order.places) - order.walls
        own: list[tuple[int, Fraction]] = []
        others: list[tuple[int, Fraction]] = []
        for row, factor in _of_rows(factors, size + known + moving):
            place = order.place(row)
            if place < order.walls:
                own.append((place, factor))
            elif place < size:
                others.append((known + place - order.walls, factor))
            else:
                behind = row - size
                others.append((behind if behind < known else behind + exits, factor))
        return dense(_summed(own)), dense(_summed(others))

    def _leaving(self, region: Region, order: _Order, known: int) -> Data:
        """Why another region takes over at an exit."""
        beside = [inset(r) for r in self.beside[region.location]]
        return self._cover(beside, order, len(order.places) + known + 2)

    # Covers

    def _impossible(self, order: _Order, size: int) -> Data:
        piece = self._next()
        if not isinstance(piece, Impossible):
            raise NotLoweredError("safety needs another kind of evidence")
        return dense(order.all(piece.multipliers, size))

    def _cover(self, regions: Sequence[Region], order: _Order | None, size: int) -> Data:
        """Why `size` rows, which begin with those of a cell in this order, lie in the regions."""
        piece = self._next()
        if isinstance(piece, Kept | HandedOver):
            raise NotLoweredError("states need another kind of evidence")
        return self._tree(piece, regions, order or _Order((), 0), size, {}, 0)

    def _tree(
        self,
        node: Cover,
        regions: Sequence[Region],
        order: _Order,
        size: int,
        decided: Mapping[tuple[int, int], tuple[int, int]],
        depth: int,
    ) -> Data:
        """`decided` has the sign and the row of each predicate on which the splits above have
        decided, by region and predicate."""
        if depth > MAX_DEPTH:
            raise NotLoweredError(f"more than {MAX_DEPTH} cases are inside each other")
        if isinstance(node, Impossible):
            return ["Impossible", dense(order.all(node.multipliers, size))]
        if isinstance(node, InCell):
            proofs = self._in_cell(node, regions, order, size, decided)
            return ["InCell", str(node.region), str(node.cell), proofs]
        assert isinstance(node, Split)
        key = node.region, node.predicate
        there = 0 <= node.region < len(regions)
        if not there or not 0 <= node.predicate < len(regions[node.region].predicates):
            raise NotLoweredError("cases are told apart by a predicate that is not there")
        below, above = (
            self._tree(case, regions, order, size + 1, {**decided, key: (sign, size)}, depth + 1)
            for case, sign in ((node.below, 1), (node.above, -1))
        )
        h = regions[node.region].predicates[node.predicate]
        return ["Split", self.form.affine(h), node.strict_below, below, above]

    @staticmethod
    def _in_cell(
        leaf: InCell,
        regions: Sequence[Region],
        order: _Order,
        size: int,
        decided: Mapping[tuple[int, int], tuple[int, int]],
    ) -> Data:
        there = 0 <= leaf.region < len(regions)
        if not there or not 0 <= leaf.cell < len(regions[leaf.region].cells):
            raise NotLoweredError("states are said to lie in a cell that is not there")
        region = regions[leaf.region]
        signs = region.cells[leaf.cell]
        target = _Order.of(region, leaf.cell)
        if len(leaf.proofs) != len(target.places):
            raise NotLoweredError("states are not shown to be within every border of a cell")
        proofs: list[Data] = [[]] * len(leaf.proofs)
        for row, factors in enumerate(leaf.proofs):
            sign, at = decided.get((leaf.region, row), (0, 0))
            if row < len(signs) and sign == signs[row]:
                proofs[target.place(row)] = dense({at: Fraction(1)})
            else:
                proofs[target.place(row)] = dense(order.all(factors, size))
        return proofs


def _of_rows(factors: Multipliers, size: int) -> Multipliers:
    """Multipliers, if all of them are of rows that are there."""
    if any(not 0 <= row < size for row, _ in factors):
        raise NotLoweredError("a multiplier is of a row that is not there")
    return factors


def _summed(
    factors: Iterator[tuple[int, Fraction]] | Sequence[tuple[int, Fraction]],
) -> dict[int, Fraction]:
    found: dict[int, Fraction] = {}
    for place, factor in factors:
        found[place] = found.get(place, Fraction(0)) + factor
    return found
