"""From explored places to a certificate: one region for each node, evidence by construction.

The predicates of a node's region are, in this order: n = value for every explicit variable
(two rows each), the constraints of every pack's `elapsed` set (two rows for an equation),
and the invariant's own rows. `elapsed` is closed under time, so its rows are kept by the flow
with the bounds of the derivatives as the only reason; the others hold because the invariant
says so. Successors of a jump lie in a node of the target; the factors that show it come from
the polyhedra of single packs (`reach.conic`). Whatever fails here is left to the general
search (`reach.evidence`), and all of it is checked again by the trusted checker.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from fractions import Fraction
from functools import cached_property
from math import gcd
from operator import mul
from typing import TypeAlias

from models.automaton import primed
from models.proof.certificate import PolyhedralProof
from models.proof.farkas import Multipliers
from models.proof.linear import Form, Rows
from models.proof.polyhedral import (
    CoverObligation,
    Evidence,
    ExitObligation,
    FacetObligation,
    FacetReason,
    Impossible,
    ImpossibleObligation,
    InCell,
    Kept,
    Obligation,
    Region,
    obligations,
)
from reach.conic import Premises, echelon
from reach.double_description import Vector
from reach.evidence import Unproved, evidence_for
from reach.polyhedron import Polyhedron
from reach.rectangular import Node
from reach.rectangular_goals import Described, NodeRows, Part, Shared
from reach.rectangular_moves import Bounds, Move, PackMove
from reach.rectangular_rows import NOTHING_DEFINED, Resolved
from reach.rectangular_system import RectangularSystem

_ZERO, _ONE = Fraction(0), Fraction(1)


def prove_nodes(
    system: RectangularSystem, nodes: list[Node], stop: Callable[[], bool] = lambda: False
) -> PolyhedralProof | Unproved | None:
    """A proof with one region for each node, the first obligation without evidence, or None
    if it was told to stop."""
    said: dict[tuple[int, int], _Statements] = {}
    described = [_described(system, node, said) for node in nodes]
    regions = tuple(d.region for d in described)
    prover = _Prover(system, described)
    found: list[Evidence] = []
    for obligation in obligations(system.problem, regions):
        if stop():
            return None
        evidence = prover.evidence(obligation) or evidence_for(obligation)
        if evidence is None:
            return Unproved(obligation)
        found.append(evidence)
    return PolyhedralProof(regions, tuple(found))


_Statement: TypeAlias = tuple[Hashable, Form, Vector]
_Statements: TypeAlias = tuple[
    tuple[tuple[int, Vector], ...], list[tuple[_Statement, _Statement]], list[_Statement]
]


def _described(
    system: RectangularSystem, node: Node, said: dict[tuple[int, int], _Statements]
) -> Described:
    """A node with its region; `said` keeps what the polyhedron of a pack states, by identity:
    many nodes have the same."""
    predicates: list[Form] = []
    for name, value in zip(system.explicit, node.place.values, strict=True):
        predicates.append(Form({name: Fraction(1)}, -value))
        predicates.append(Form({name: Fraction(-1)}, value))
    known: dict[Hashable, int] = {}
    parts: list[Part] = []
    for pack, (names, polyhedron) in enumerate(zip(system.packs, node.elapsed, strict=True)):
        key = (pack, id(polyhedron))
        if key not in said:
            said[key] = _statements(names, polyhedron)
        parts.append(_part(predicates, known, names, polyhedron, said[key]))
    end = len(predicates)
    may_mention = system.problem.names
    invariant = [row.form for row in system.invariant_rows(node.place)]
    predicates += [h for h in invariant if h.coefficients and h.coefficients.keys() <= may_mention]
    region = Region(node.place.location, tuple(predicates), ((1,) * len(predicates),))
    return Described(node, region, tuple(parts), end)


def _part(
    predicates: list[Form],
    known: dict[Hashable, int],
    names: tuple[str, ...],
    polyhedron: Polyhedron,
    statements: _Statements,
) -> Part:
    """The constraints of a pack; those that no other pack has are appended."""
    fresh: list[tuple[int, Vector]] = []

    def number(statement: _Statement) -> int:
        content, form, row = statement
        if content not in known:
            known[content] = len(predicates)
            fresh.append((len(predicates), row))
            predicates.append(form)
        return known[content]

    equations, pairs, rows = statements
    return Part(
        names,
        polyhedron,
        equations,
        tuple((number(above), number(below)) for above, below in pairs),
        tuple(map(number, rows)),
        tuple(fresh),
    )


def _statements(names: tuple[str, ...], polyhedron: Polyhedron) -> _Statements:
    """The constraints of a polyhedron as predicates: equations twice, then inequalities."""

    def statement(row: Vector) -> _Statement:
        form = _form(names, row)
        return _content(form), form, row

    equations = tuple(echelon(polyhedron.equations))
    pairs = [(statement(row), statement(tuple([-a for a in row]))) for _, row in equations]
    return equations, pairs, [statement(row) for row in polyhedron.inequalities]


def _form(names: tuple[str, ...], row: Vector) -> Form:
    """c + a*x >= 0 as a form that is <= 0."""
    coefficients = {n: Fraction(-a) for n, a in zip(names, row[1:], strict=True) if a}
    return Form(coefficients, Fraction(-row[0]))


class _Prover:
    """Evidence for the obligations of the regions, asked for in their order."""

    def __init__(self, system: RectangularSystem, described: list[Described]):
        self.system = system
        self.shared = Shared({name: i for i, name in enumerate(system.explicit)})
        self.described = {id(d.region): d for d in described}
        self.leaving: tuple[Described, Iterator[tuple[int, int]]] | None = None
        self.flow: _Others | None = None

    def evidence(self, obligation: Obligation) -> Evidence | None:
        """Evidence by construction; None where it does not apply."""
        if isinstance(obligation, FacetObligation):
            return self._kept(obligation, self.described[id(obligation.region)])
        if isinstance(obligation, ImpossibleObligation):
            here = self.described[id(obligation.region)]
            rows = obligation.rows[here.size :]
            bounds = self.system.bounds_of(rows, here.node.place)
            view = NodeRows(
                here,
                obligation.rows,
                Resolved(NOTHING_DEFINED, tuple(enumerate(rows))),
                self.shared,
            )
            return self._impossible(view, bounds)
        if isinstance(obligation, ExitObligation):
            return None
        if obligation.source is None:
            return _start(obligation)
        return self._jump(obligation, self.described[id(obligation.source)])

    # Flow

    def _kept(self, obligation: FacetObligation, here: Described) -> Kept | None:
        growth, rows, size = obligation.growth, obligation.rows, here.size
        if not growth.coefficients and growth.constant <= 0:
            return Kept(FacetReason.INWARD, _ZERO, ())
        others = rows[size:]
        if self.flow is None or self.flow.rows != others:
            self.flow = _Others(others)
        if obligation.own >= here.first_of_invariant:
            same = self.flow.same(rows[obligation.own].form)
            if same is not None:
                return Kept(FacetReason.INVARIANT, _ZERO, ((size + same, _ONE),))
            return self._empty(rows, here)
        factors: list[tuple[int, Fraction]] = []
        constant = growth.constant
        for name, a in growth.coefficients.items():
            number = self.flow.bounds.get((name, a > 0))
            if number is None:
                return self._empty(rows, here)
            bound = others[number].form
            factor = a / bound.coefficients[name]
            factors.append((size + number, factor))
            constant -= factor * bound.constant
        if constant <= 0:
            return Kept(FacetReason.INWARD, _ZERO, tuple(factors))
        return self._empty(rows, here)

    def _empty(self, rows: Rows, here: Described) -> Kept | None:
        """The discrete values of the node contradict the invariant or enable an urgent edge."""
        further = Resolved(NOTHING_DEFINED, tuple(enumerate(rows[here.size :])))
        found = NodeRows(here, rows, further, self.shared).contradiction()
        return None if found is None else Kept(FacetReason.EMPTY, _ZERO, found)

    # Jumps and bad states

    def _impossible(self, view: NodeRows, bounds: tuple[Bounds, ...] | None) -> Impossible | None:
        """Why the rows of a node and further ones have no common solution."""
        found = view.contradiction()
        if found is not None:
            return Impossible(found)
        for number, part in enumerate(view.here.parts):
            if bounds is not None and bounds[number].fits(len(part.names)):
                falsum = (-1, *([0] * len(part.names)))
                known = view.premises(part, bounds[number])
                multipliers = known.derived(falsum, Form({}, _ONE))
                if multipliers is not None:
                    return Impossible(multipliers)
        return None

    def _jump(self, obligation: CoverObligation, here: Described) -> Evidence | None:
        if self.leaving is None or self.leaving[0] is not here:
            jumps = self.system.problem.jumps(here.node.place.location)
            numbers = [(e, c) for e, jump in enumerate(jumps) for c in range(len(jump.cases))]
            self.leaving = here, iter(numbers)
        edge, case = next(self.leaving[1])
        place = here.node.place
        further = self.system.resolved(place, edge, case)
        view = NodeRows(here, obligation.rows, further, self.shared)
        move = next((m for m in self.system.moves(place) if (m.edge, m.case) == (edge, case)), None)
        if move is None:
            found = view.contradiction()
            return None if found is None else Impossible(found)
        if (edge, case) not in here.node.enabled:
            return self._impossible(view, tuple(pack.bounds for pack in move.packs))
        return self._arrival(obligation, view, move)

    def _arrival(self, obligation: CoverObligation, view: NodeRows, move: Move) -> InCell | None:
        """The node of the target that contains all successors."""
        targets = [
            (number, found)
            for number, region in enumerate(obligation.regions)
            if (found := self.described[id(region)]).node.place == move.target
        ]
        for number, target in targets:
            proofs = self._proofs(view, move, target)
            if proofs is not None:
                return InCell(number, 0, proofs)
        return None

    def _proofs(
        self, view: NodeRows, move: Move, target: Described
    ) -> tuple[Multipliers, ...] | None:
        """Why each predicate of the target holds after the jump; None if one may not."""
        proofs: list[Multipliers] = []
        for multipliers in self._each_proof(view, move, target):
            if multipliers is None:
                return None
            proofs.append(multipliers)
        return tuple(proofs)

    def _each_proof(
        self, view: NodeRows, move: Move, target: Described
    ) -> Iterator[Multipliers | None]:
        goals = [row.form for row in target.region.after(0)]
        for name in self.system.explicit:
            yield from view.new_value(primed(name))
        for pack, source, part in zip(move.packs, view.here.parts, target.parts, strict=True):
            if not part.fresh:
                continue
            if pack.extra:
                yield None  # values chosen in the jump are left to the general search
                continue
            known = view.premises(source, pack.bounds)
            denominator = 1 if pack.image is None else pack.image[0][0]
            for number, vector in part.fresh:
                yield known.derived(_before(vector, pack), goals[number], denominator)
        others = _Others(view.rows[view.here.size :])
        for goal in goals[target.first_of_invariant :]:
            same = others.same(goal)
            yield None if same is None else ((view.here.size + same, _ONE),)


def _start(obligation: CoverObligation) -> InCell | None:
    """The region that contains all initial states of a case."""
    names = sorted({name for row in obligation.rows for name in row.form.coefficients})
    rows = [_scaled(names, row.form) for row in obligation.rows]
    known = Premises((), tuple(vector for _, vector in rows))
    for number, region in enumerate(obligation.regions):
        proofs: list[Multipliers] = []
        for goal in region.after(0):
            if not goal.form.coefficients.keys() <= set(names):
                break
            scale, vector = _scaled(names, goal.form)
            found = known.derivation(vector)
            if found is None:
                break
            proofs.append(tuple((i, f * rows[i][0] / scale) for i, f in found.inequalities))
        else:
            return InCell(number, 0, tuple(proofs))
    return None


def _scaled(names: list[str], form: Form) -> tuple[Fraction, Vector]:
    """form <= 0 as a vector >= 0, and the positive number by which it was multiplied."""
    denominator, coefficients, constant = form.integral
    whole = [-constant, *(-coefficients.get(name, 0) for name in names)]
    divisor = gcd(*whole) or 1
    return Fraction(denominator, divisor), tuple([a // divisor for a in whole])


def _before(vector: Vector, pack: PackMove) -> Vector:
    """A constraint on the values after a jump as one on those before, times the image's
    denominator."""
    if pack.image is None:
        return vector
    return tuple([sum(map(mul, vector, column)) for column in zip(*pack.image, strict=True)])


class _Others:
    """The rows after those of a region, by what they say; numbers count from their first."""

    def __init__(self, rows: Rows):
        self.rows = rows

    @cached_property
    def bounds(self) -> dict[tuple[str, bool], int]:
        """The rows that bound one name by a number, by name and whether from above."""
        found: dict[tuple[str, bool], int] = {}
        for i, row in enumerate(self.rows):
            if len(row.form.coefficients) == 1:
                ((name, a),) = row.form.coefficients.items()
                found.setdefault((name, a > 0), i)
        return found

    @cached_property
    def _numbers(self) -> dict[Hashable, int]:
        return {_content(row.form): i for i, row in enumerate(self.rows)}

    def same(self, form: Form) -> int | None:
        """The number of a row with that form."""
        return self._numbers.get(_content(form))


def _content(form: Form) -> Hashable:
    denominator, coefficients, constant = form.integral
    return denominator, frozenset(coefficients.items()), constant
