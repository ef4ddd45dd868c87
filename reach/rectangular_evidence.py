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

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from operator import mul

from models.proof.certificate import PolyhedralProof
from models.proof.farkas import Multipliers
from models.proof.linear import Form, Rows
from models.proof.polyhedral import (
    CoverObligation,
    Evidence,
    FacetObligation,
    FacetReason,
    Impossible,
    ImpossibleObligation,
    InCell,
    Kept,
    Obligation,
    Region,
    after,
    obligations,
)
from reach.conic import consequence, echelon
from reach.double_description import Vector
from reach.evidence import Unproved, evidence_for
from reach.polyhedron import Polyhedron
from reach.rectangular import Node
from reach.rectangular_moves import Bounds, Move, PackMove
from reach.rectangular_rows import Resolved
from reach.rectangular_system import RectangularSystem


@dataclass(frozen=True)
class _Part:
    """A pack of a node's region: its constraints, and where their rows are. Equation k has
    a pivot dimension of its own and the rows `first_equation` + 2k and + 2k + 1."""

    names: tuple[str, ...]
    equations: tuple[tuple[int, Vector], ...]
    first_equation: int
    inequalities: tuple[Vector, ...]
    first_inequality: int

    @property
    def end(self) -> int:
        """The number of the row after its last."""
        return self.first_inequality + len(self.inequalities)

    def vector(self, predicate: int) -> Vector:
        """The constraint that a predicate states, as c + a*x >= 0."""
        if predicate >= self.first_inequality:
            return self.inequalities[predicate - self.first_inequality]
        number, is_second = divmod(predicate - self.first_equation, 2)
        row = self.equations[number][1]
        return tuple([-a for a in row]) if is_second else row


@dataclass(frozen=True)
class _Described:
    """A node and its region; explicit variable k has the rows 2k and 2k + 1."""

    node: Node
    region: Region
    parts: tuple[_Part, ...]

    @property
    def size(self) -> int:
        """The number of the region's rows."""
        return len(self.region.predicates)


def prove_nodes(
    system: RectangularSystem, nodes: list[Node], stop: Callable[[], bool] = lambda: False
) -> PolyhedralProof | Unproved | None:
    """A proof with one region for each node, the first obligation without evidence, or None
    if it was told to stop."""
    described = [_described(system, node) for node in nodes]
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


def _described(system: RectangularSystem, node: Node) -> _Described:
    predicates: list[Form] = []
    for name, value in zip(system.explicit, node.place.values, strict=True):
        predicates.append(Form({name: Fraction(1)}, -value))
        predicates.append(Form({name: Fraction(-1)}, value))
    parts = tuple(
        _part(predicates, names, polyhedron)
        for names, polyhedron in zip(system.packs, node.elapsed, strict=True)
    )
    known = system.problem.names
    invariant = [row.form for row in system.invariant_rows(node.place)]
    predicates += [h for h in invariant if h.coefficients and h.coefficients.keys() <= known]
    region = Region(node.place.location, tuple(predicates), ((1,) * len(predicates),))
    return _Described(node, region, parts)


def _part(predicates: list[Form], names: tuple[str, ...], polyhedron: Polyhedron) -> _Part:
    """The constraints of a pack, appended to the predicates."""
    first_equation = len(predicates)
    equations = tuple(echelon(polyhedron.equations))
    for _, row in equations:
        form = _form(names, row)
        predicates.extend((form, -form))
    first_inequality = len(predicates)
    predicates.extend(_form(names, row) for row in polyhedron.inequalities)
    return _Part(names, equations, first_equation, polyhedron.inequalities, first_inequality)


def _form(names: tuple[str, ...], row: Vector) -> Form:
    """c + a*x >= 0 as a form that is <= 0."""
    coefficients = {n: Fraction(-a) for n, a in zip(names, row[1:], strict=True) if a}
    return Form(coefficients, Fraction(-row[0]))


class _Prover:
    """Evidence for the obligations of the regions, asked for in their order."""

    def __init__(self, system: RectangularSystem, described: list[_Described]):
        self.system = system
        self.explicit = {name: i for i, name in enumerate(system.explicit)}
        self.described = {id(d.region): d for d in described}
        self.leaving: dict[int, Iterator[tuple[int, int]]] = {}

    def evidence(self, obligation: Obligation) -> Evidence | None:
        """Evidence by construction; None where it does not apply."""
        if isinstance(obligation, FacetObligation):
            return self._kept(obligation, self.described[id(obligation.region)])
        if isinstance(obligation, ImpossibleObligation):
            here = self.described[id(obligation.region)]
            rows = obligation.rows[here.size :]
            bounds = self.system.bounds_of(rows, here.node.place)
            view = _View(here, obligation.rows, Resolved({}, tuple(enumerate(rows))), self.explicit)
            return self._impossible(view, bounds)
        if obligation.source is None:
            return None
        return self._jump(obligation, self.described[id(obligation.source)])

    # Flow

    def _kept(self, obligation: FacetObligation, here: _Described) -> Kept | None:
        growth, rows, size = obligation.growth, obligation.rows, here.size
        if not growth.coefficients and growth.constant <= 0:
            return Kept(FacetReason.INWARD, Fraction(0), ())
        if obligation.own >= here.parts[-1].end:
            own = rows[obligation.own].form
            same = _row_with(own, rows, size)
            if same is not None:
                return Kept(FacetReason.INVARIANT, Fraction(0), ((same, Fraction(1)),))
            return self._empty(rows, here)
        factors: list[tuple[int, Fraction]] = []
        constant = growth.constant
        for name, a in growth.coefficients.items():
            number = _rate_bound(rows, size, name, is_upper=a > 0)
            if number is None:
                return self._empty(rows, here)
            factor = a / rows[number].form.coefficients[name]
            factors.append((number, factor))
            constant -= factor * rows[number].form.constant
        if constant <= 0:
            return Kept(FacetReason.INWARD, Fraction(0), tuple(factors))
        return self._empty(rows, here)

    def _empty(self, rows: Rows, here: _Described) -> Kept | None:
        """The discrete values of the node contradict the invariant or enable an urgent edge."""
        further = tuple(enumerate(rows[here.size :]))
        found = _View(here, rows, Resolved({}, further), self.explicit).contradiction()
        return None if found is None else Kept(FacetReason.EMPTY, Fraction(0), found)

    # Jumps and bad states

    def _impossible(self, view: _View, bounds: tuple[Bounds, ...] | None) -> Impossible | None:
        """Why the rows of a node and further ones have no common solution."""
        found = view.contradiction()
        if found is not None:
            return Impossible(found)
        for number, part in enumerate(view.here.parts):
            if bounds is not None and bounds[number].rows:
                falsum = (-1, *([0] * len(part.names)))
                multipliers = view.derived(part, bounds[number], falsum, Form({}, Fraction(1)))
                if multipliers is not None:
                    return Impossible(multipliers)
        return None

    def _jump(self, obligation: CoverObligation, here: _Described) -> Evidence | None:
        leaving = self.leaving.get(id(here.region))
        if leaving is None:
            jumps = self.system.problem.jumps(here.node.place.location)
            numbers = [(e, c) for e, jump in enumerate(jumps) for c in range(len(jump.cases))]
            leaving = self.leaving[id(here.region)] = iter(numbers)
        edge, case = next(leaving)
        place = here.node.place
        view = _View(here, obligation.rows, self.system.relation(place, edge, case), self.explicit)
        move = next((m for m in self.system.moves(place) if (m.edge, m.case) == (edge, case)), None)
        if move is None:
            found = view.contradiction()
            return None if found is None else Impossible(found)
        if (edge, case) not in here.node.enabled:
            return self._impossible(view, tuple(pack.bounds for pack in move.packs))
        return self._arrival(obligation, view, move)

    def _arrival(self, obligation: CoverObligation, view: _View, move: Move) -> InCell | None:
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
        self, view: _View, move: Move, target: _Described
    ) -> tuple[Multipliers, ...] | None:
        """Why each predicate of the target holds after the jump."""
        goals = [after(h) for h in target.region.predicates]
        values = goals[: 2 * len(self.explicit)]
        proofs = [view.completed({}, goal, None) for goal in values]
        for number, (pack, part) in enumerate(zip(move.packs, target.parts, strict=True)):
            for predicate in range(part.first_equation, part.end):
                vector, denominator = _before(part.vector(predicate), pack)
                if vector is None:
                    return None
                proofs.append(
                    view.derived(
                        view.here.parts[number], pack.bounds, vector, goals[predicate], denominator
                    )
                )
                if proofs[-1] is None:
                    return None
        for goal in goals[target.parts[-1].end :]:
            same = _row_with(goal, view.rows, view.here.size)
            proofs.append(None if same is None else ((same, Fraction(1)),))
        found = tuple(p for p in proofs if p is not None)
        return found if len(found) == len(goals) else None


@dataclass(frozen=True)
class _View:
    """The rows of an obligation as one node sees them: those of its region, then others,
    which `relation` sorts out (its numbers count from the first of the others)."""

    here: _Described
    rows: Rows
    relation: Resolved
    explicit: Mapping[str, int]

    def contradiction(self) -> Multipliers | None:
        """A row that fails at the node's discrete values, with what shows it."""
        values = self.here.node.place.values
        for number, row in self.relation.rows:
            names = row.form.coefficients
            if names.keys() <= self.explicit.keys():
                value = row.form.constant + sum(
                    (a * values[self.explicit[n]] for n, a in names.items()), Fraction(0)
                )
                if value > 0 or (row.strict and value == 0):
                    goal = Form({}, value)
                    return self.completed({self.here.size + number: Fraction(1)}, goal, None)
        return None

    def derived(
        self, part: _Part, bounds: Bounds, vector: Vector, goal: Form, denominator: int = 1
    ) -> Multipliers | None:
        """Multipliers from which a goal follows that is `vector` >= 0, divided by the
        denominator, in terms of the values before; None if none were found."""
        equations = tuple(row for _, row in part.equations)
        found = consequence(equations, (*part.inequalities, *bounds.rows), vector)
        if found is None:
            return None
        known = len(part.inequalities)
        factors: dict[int, Fraction] = {}
        for i, factor in found:
            if i < known:
                number, scale = part.first_inequality + i, Fraction(1)
            else:
                number = self.here.size + bounds.numbers[i - known]
                scale = self._scale(bounds.rows[i - known], bounds.numbers[i - known], part)
            factors[number] = factors.get(number, Fraction(0)) + factor * scale / denominator
        return self.completed(factors, goal, part)

    def _scale(self, vector: Vector, number: int, part: _Part) -> Fraction:
        """By how much a row was multiplied to make it a vector of integers."""
        form = next(row.form for i, row in self.relation.rows if i == number)
        at = next(i for i, a in enumerate(vector[1:]) if a)
        return -vector[at + 1] / form.coefficients[part.names[at]]

    def completed(
        self, factors: dict[int, Fraction], goal: Form, part: _Part | None
    ) -> Multipliers | None:
        """The multipliers with those of definitions, equations and discrete values that
        make up the difference; None if a difference is left."""
        rest = _Rest(self.rows, goal)
        for number, factor in factors.items():
            rest.subtract(number, factor)
        size = self.here.size
        for name in [n for n in rest.coefficients if n in self.relation.definitions]:
            known = self.relation.definitions[name]
            rest.cancel(name, size + known.upper, size + known.lower)
        if part is not None:
            for k, (pivot, row) in enumerate(part.equations):
                first = part.first_equation + 2 * k
                pair = (first, first + 1) if row[pivot] < 0 else (first + 1, first)
                rest.cancel(part.names[pivot - 1], *pair)
        for name in [n for n in rest.coefficients if n in self.explicit]:
            first = 2 * self.explicit[name]
            rest.cancel(name, first, first + 1)
        if rest.coefficients or rest.constant > 0:
            return None
        return tuple(sorted(rest.factors.items()))


class _Rest:
    """A goal minus a growing combination of rows."""

    def __init__(self, rows: Rows, goal: Form):
        self.rows = rows
        self.coefficients = dict(goal.coefficients)
        self.constant = goal.constant
        self.factors: dict[int, Fraction] = {}

    def subtract(self, number: int, factor: Fraction) -> None:
        """Take away a row, times a positive factor."""
        known = self.factors.get(number)
        self.factors[number] = factor if known is None else known + factor
        form = self.rows[number].form
        unit = factor == 1
        if form.constant:
            self.constant -= form.constant if unit else factor * form.constant
        for name, a in form.coefficients.items():
            term = a if unit else factor * a
            value = self.coefficients.get(name)
            left = -term if value is None else value - term
            if left:
                self.coefficients[name] = left
            else:
                del self.coefficients[name]

    def cancel(self, name: str, upper: int, lower: int) -> None:
        """Remove a name by one of two opposite rows: in `upper` its factor is positive."""
        a = self.coefficients.get(name)
        if a is not None:
            number = upper if a > 0 else lower
            self.subtract(number, a / self.rows[number].form.coefficients[name])


def _before(vector: Vector, pack: PackMove) -> tuple[Vector | None, int]:
    """A constraint on the values after a jump as one on those before, times a number."""
    if pack.image is None:
        return vector, 1
    if pack.extra:
        return None, 1
    columns = zip(*pack.image, strict=True)
    return tuple([sum(map(mul, vector, column)) for column in columns]), pack.image[0][0]


def _row_with(form: Form, rows: Rows, first: int) -> int | None:
    """The number of the row with that form, from `first` on."""
    for i in range(first, len(rows)):
        other = rows[i].form
        if len(other.coefficients) == len(form.coefficients) and other == form:
            return i
    return None


def _rate_bound(rows: Rows, first: int, name: str, *, is_upper: bool) -> int | None:
    """A row that bounds a derivative by a number."""
    for i in range(first, len(rows)):
        names = rows[i].form.coefficients
        if len(names) == 1 and name in names and (names[name] > 0) == is_upper:
            return i
    return None
