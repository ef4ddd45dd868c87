"""Piecewise-constant and rectangular systems: the linear view in integers, place by place.

A place is a location together with the values of the discrete variables that are counted
out (`explicit`): those that jumps set to values known from the other counted variables. The
dimensions of the polyhedra are the remaining variables and the uncertain parameters; a
variable on which neither an edge, an invariant nor the property depends is left out, which
changes nothing for the others.

The dimensions may be kept in several packs: a set of states is then described by one
polyhedron for each pack, and stands for the states whose part in every pack lies in that
polyhedron. With one pack nothing is lost; with small packs relations across packs are.

Everything is read from `models.proof.problem`, so what is found here is found about exactly
the view that the trusted checker has. Derivatives must lie in constant ranges, and in each
place the invariant must be a conjunction; otherwise `NotRectangularError` says what is in the
way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from fractions import Fraction
from itertools import product
from math import ceil, floor, lcm

from models.automaton import BOOL, INT, primed
from models.proof.bounds import implied_bounds
from models.proof.linear import Form, Row, Rows
from models.proof.problem import Dynamics, LinearProblem
from reach.double_description import Vector, coprime
from reach.polyhedron import Polyhedron, integer_row
from reach.rectangular_moves import Bounds, Generators, Move, PackMove, Place, Values
from reach.rectangular_rows import (
    Packs,
    Relation,
    Resolved,
    explicit_names,
    largest_constants,
    linked_names,
    paired,
    relation,
    relevant_names,
    resolved,
)

MAX_VALUES = 64
"""An initial value that is only known to be one of more whole numbers is not counted out."""


class Packing(Enum):
    """How the dimensions of a system are kept."""

    WHOLE = auto()
    LINKED = auto()
    PAIRED = auto()


class NotRectangularError(Exception):
    """The system is not of this kind; the message says why."""


@dataclass(frozen=True, slots=True)
class _Split:
    """A form with its names sorted: explicit variables by number, the others by name."""

    constant: Fraction
    explicit: tuple[tuple[int, Fraction], ...]
    free: Mapping[str, Fraction]
    strict: bool = False
    number: int = -1

    def at(self, values: Values) -> Fraction:
        """The part that explicit values determine."""
        total = self.constant
        for i, a in self.explicit:
            value = values[i] if a == 1 else a * values[i]
            total = total + value if total else value
        return total


@dataclass(frozen=True, slots=True)
class _Arrival:
    """What resets do: new values of the explicit variables, in their order, and images of
    those dimensions that do not stay as they are."""

    relation: Relation
    new_values: tuple[_Split, ...]
    images: Mapping[str, _Split]


@dataclass(frozen=True, slots=True)
class _Case:
    """A jump's case, prepared for any values of the explicit variables."""

    edge: int
    case: int
    name: str
    target: str
    rows: tuple[_Split, ...]
    arrival: _Arrival
    resolved: Resolved


class RectangularSystem:
    """The places of a rectangular system, asked for one at a time.

    The dimensions are kept in one pack, or in packs of names that belong together, or in
    unions of two of these.
    """

    def __init__(self, problem: LinearProblem, packing: Packing = Packing.WHOLE):
        self.problem = problem
        automaton = problem.automaton
        relevant = relevant_names(problem)
        self.explicit = tuple(sorted(explicit_names(problem) & relevant))
        counted = set(self.explicit)
        ordered = [v.name for v in automaton.variables] + [p.name for p in automaton.parameters]
        self.names = tuple(n for n in ordered if n not in counted and n in relevant)
        self.packs: Packs = (self.names,)
        if packing is not Packing.WHOLE:
            self.packs = linked_names(problem, self.names)
        if packing is Packing.PAIRED:
            self.packs = paired(self.packs, self.names)
        self._positions = [{name: i for i, name in enumerate(pack)} for pack in self.packs]
        self._explicit = {name: i for i, name in enumerate(self.explicit)}
        self.largest = largest_constants(problem)
        self._types = {v.name: v.type for v in automaton.variables}
        self._relations: dict[int, tuple[Rows, _Arrival]] = {}
        self._cases: dict[str, tuple[_Case, ...]] = {}
        self._rows: dict[str, tuple[tuple[_Split, ...], ...]] = {}
        self._flowing: dict[str, tuple[tuple[_Split, ...], ...]] = {}
        self._bad: dict[str, tuple[tuple[_Split, ...], ...]] = {}
        self._bad_at: dict[Place, tuple[tuple[int, tuple[Bounds, ...]], ...]] = {}
        self._invariants: dict[Place, tuple[Bounds, ...]] = {}
        self._moves: dict[Place, tuple[Move, ...]] = {}
        self._directions: dict[str, tuple[Generators, ...]] = {}

    # What a search asks

    def starts(self) -> Iterator[tuple[Place, list[Generators]]]:
        """The initial states of each place, by pack."""
        for location, cases in self.problem.starts():
            for rows in cases:
                yield from self._start(location, rows)

    def invariant(self, place: Place) -> tuple[Bounds, ...]:
        """The invariant of a place, with the bounds of parameters, by pack."""
        found = self._invariants.get(place)
        if found is None:
            found = self._invariants[place] = self._invariant_at(place)
        return found

    def directions(self, place: Place) -> tuple[Generators, ...]:
        """The directions and lines in which time moves the states of a place, by pack."""
        if self._stands_still(place):
            return tuple(([], []) for _ in self.packs)
        found = self._directions.get(place.location)
        if found is None:
            found = self._directions[place.location] = self._flow(place.location)
        return found

    def moves(self, place: Place) -> tuple[Move, ...]:
        """The jumps from a place that its discrete values do not rule out."""
        found = self._moves.get(place)
        if found is None:
            found = self._moves[place] = tuple(self._moves_at(place))
        return found

    def bad(self, place: Place) -> tuple[tuple[int, tuple[Bounds, ...]], ...]:
        """The bad states of a place: number of the case, and its bounds by pack."""
        found = self._bad_at.get(place)
        if found is None:
            found = self._bad_at[place] = tuple(self._bad_cases(place))
        return found

    def _bad_cases(self, place: Place) -> Iterator[tuple[int, tuple[Bounds, ...]]]:
        cases = self._bad.get(place.location)
        if cases is None:
            cases = self._bad[place.location] = tuple(
                self._splits(rows) for rows in self.problem.bad(place.location)
            )
        for number, case in enumerate(cases):
            bounds = self._bounds(case, place.values)
            if bounds is not None:
                yield number, bounds

    def invariant_rows(self, place: Place) -> Rows:
        """The rows of the invariant's case that the discrete values of a place select."""
        self.invariant(place)
        found = self._weakest(self._rows[place.location], place)
        return () if found is None else self.problem.invariant(place.location)[found]

    def resolved(self, place: Place, edge: int, case: int) -> Resolved:
        """How the rows of a jump's case determine the values after it."""
        self.moves(place)
        return next(
            c.resolved for c in self._cases[place.location] if (c.edge, c.case) == (edge, case)
        )

    def bounds_of(self, rows: Rows, place: Place) -> tuple[Bounds, ...] | None:
        """Any rows at the discrete values of a place, by pack; None if these rule them out."""
        return self._bounds(self._splits(rows), place.values)

    # Rows at given discrete values

    def _split(self, row: Row, number: int = -1) -> _Split:
        """The row turned round: c + a*x >= 0."""
        return self._split_form(-row.form, row.strict, number)

    def _splits(self, rows: Rows) -> tuple[_Split, ...]:
        return tuple(self._split(row, number) for number, row in enumerate(rows))

    def _split_form(self, form: Form, strict: bool = False, number: int = -1) -> _Split:
        explicit: list[tuple[int, Fraction]] = []
        free: dict[str, Fraction] = {}
        for name, a in form.coefficients.items():
            if name in self._explicit:
                explicit.append((self._explicit[name], a))
            else:
                free[name] = a
        return _Split(form.constant, tuple(explicit), free, strict, number)

    def _bounds(self, rows: Sequence[_Split], values: Values) -> tuple[Bounds, ...] | None:
        """The rows at given discrete values, in the packs that know all their names; None
        if one of them fails for any state."""
        left = self._undecided(rows, values)
        if left is None:
            return None
        return tuple(_fitting(left, position) for position in self._positions)

    def _undecided(
        self, rows: Sequence[_Split], values: Values
    ) -> list[tuple[Fraction, _Split]] | None:
        left: list[tuple[Fraction, _Split]] = []
        for row in rows:
            constant = row.at(values)
            if row.free:
                left.append((constant, row))
            elif constant < 0 or (row.strict and constant == 0):
                return None
        return left

    def _invariant_at(self, place: Place) -> tuple[Bounds, ...]:
        cases = self._rows.get(place.location)
        if cases is None:
            cases = self._rows[place.location] = tuple(
                self._splits(rows) for rows in self.problem.invariant(place.location)
            )
        found = self._weakest(cases, place)
        if found is None:
            return tuple(Bounds(((-1, *([0] * len(pack))),)) for pack in self.packs)
        bounds = self._bounds(cases[found], place.values)
        assert bounds is not None, "the case was chosen because it is possible"
        return bounds

    def _stands_still(self, place: Place) -> bool:
        """Whether the discrete values of a place enable an urgent edge, so that no time passes."""
        cases = self._flowing.get(place.location)
        if cases is None:
            cases = self._flowing[place.location] = tuple(
                self._splits(rows) for rows in self.problem.flowing(place.location)
            )
        return all(self._undecided(case, place.values) is None for case in cases)

    def _weakest(self, cases: Sequence[Sequence[_Split]], place: Place) -> int | None:
        """The case of an invariant that contains all others at the discrete values of a place;
        None if none is possible."""
        possible: dict[int, set[tuple[object, ...]]] = {}
        for number, case in enumerate(cases):
            left = self._undecided(case, place.values)
            if left is not None:
                possible[number] = {(c, r.strict, *sorted(r.free.items())) for c, r in left}
        if not possible:
            return None
        for number, rows in possible.items():
            if all(rows <= others for others in possible.values()):
                return number
        raise NotRectangularError(f"the invariant of {place.location} is not a conjunction")

    def _moves_at(self, place: Place) -> Iterator[Move]:
        prepared = self._cases.get(place.location)
        if prepared is None:
            prepared = self._cases[place.location] = tuple(self._prepared(place.location))
        for case in prepared:
            rows = self._undecided(case.rows, place.values)
            if rows is None:
                continue
            packs = tuple(
                _pack_move(case.arrival.images, rows, place.values, pack, position)
                for pack, position in zip(self.packs, self._positions, strict=True)
            )
            target = Place(
                case.target, tuple([v.at(place.values) for v in case.arrival.new_values])
            )
            yield Move(case.edge, case.case, case.name, target, packs)

    # Reading the linear view

    def _flow(self, location: str) -> tuple[Generators, ...]:
        corners = self.problem.dynamics(location)
        if len(corners) != 1:
            raise NotRectangularError(f"uncertain parameters multiply variables in {location}")
        return tuple(_pack_flow(location, corners[0], pack) for pack in self.packs)

    def _prepared(self, location: str) -> Iterator[_Case]:
        edges = self.problem.automaton.edges_from(location)
        for number, (edge, jump) in enumerate(
            zip(edges, self.problem.jumps(location), strict=True)
        ):
            relations = self.problem.relation(edge.resets)
            for case, rows in enumerate(jump.cases):
                last = relations[case % len(relations)]
                assert rows[len(rows) - len(last) :] == last, "a jump's rows end with its relation"
                arrival = self._arrival(jump.name, last)
                found = resolved(rows, arrival.relation)
                splits = tuple(self._split(row, i) for i, row in found.rows)
                yield _Case(number, case, jump.name, jump.target, splits, arrival, found)

    def _arrival(self, name: str, rows: Rows) -> _Arrival:
        """Kept by the identity of the rows: the linear view uses them for many jumps."""
        known = self._relations.get(id(rows))
        if known is None:
            known = self._relations[id(rows)] = rows, self._built_arrival(name, rows)
        return known[1]

    def _built_arrival(self, name: str, rows: Rows) -> _Arrival:
        found = relation(rows)
        new_values: list[_Split] = []
        for n in self.explicit:
            form = found.forms.get(primed(n))
            if form is None or not form.coefficients.keys() <= self._explicit.keys():
                raise NotRectangularError(f"the new value of {n} at {name} is not known")
            new_values.append(self._split_form(form))
        images: dict[str, _Split] = {}
        for n in self.names:
            form = found.forms.get(primed(n)) or Form({primed(n): Fraction(1)})
            if form.constant or len(form.coefficients) != 1 or form.coefficients.get(n) != 1:
                images[n] = self._split_form(form)
        return _Arrival(found, tuple(new_values), images)

    def _start(self, location: str, rows: Rows) -> Iterator[tuple[Place, list[Generators]]]:
        """The initial states of one case; the values before entry resets are projected away."""
        bounds = implied_bounds(rows)
        choices = [self._choices(n, *bounds.get(primed(n), (None, None))) for n in self.explicit]
        names = [primed(n) for n in self.names]
        names += sorted({n for row in rows for n in row.form.coefficients} - set(names))
        position = {n: i for i, n in enumerate(names)}
        splits = [_Split(Fraction(0), (), (-r.form).coefficients, r.strict) for r in rows]
        found = _fitting(
            [(-row.form.constant, split) for row, split in zip(rows, splits, strict=True)], position
        ).on(Polyhedron.universe(len(names)))
        if found is None:
            return
        for values in product(*choices):
            fixed = [
                integer_row(-value, {position[primed(n)]: Fraction(1)}, len(names))
                for n, value in zip(self.explicit, values, strict=True)
            ]
            here = found.restricted((), fixed)
            if not here.is_empty:
                yield (
                    Place(location, values),
                    [_projected(here, [position[primed(n)] for n in pack]) for pack in self.packs],
                )

    def _choices(self, name: str, low: Fraction | None, high: Fraction | None) -> list[Fraction]:
        """The values that an explicit variable may start with."""
        if low is not None and low == high:
            return [low]
        kind = self._types[name]
        if low is None or high is None or not (kind in (INT, BOOL) or kind.values):
            raise NotRectangularError(f"the initial value of {name} is not known")
        if high - low > MAX_VALUES:
            raise NotRectangularError(f"{name} may start with too many values")
        return [Fraction(k) for k in range(ceil(low), floor(high) + 1)]


def _fitting(rows: Sequence[tuple[Fraction, _Split]], position: Mapping[str, int]) -> Bounds:
    """The rows all of whose names have a position."""
    found: list[Vector] = []
    strict: list[int] = []
    numbers: list[int] = []
    for constant, row in rows:
        if row.free.keys() <= position.keys():
            if row.strict:
                strict.append(len(found))
            coefficients = {position[n]: a for n, a in row.free.items()}
            found.append(integer_row(constant, coefficients, len(position)))
            numbers.append(row.number)
    return Bounds(tuple(found), tuple(strict), tuple(numbers))


def _pack_move(
    images: Mapping[str, _Split],
    rows: Sequence[tuple[Fraction, _Split]],
    values: Values,
    pack: tuple[str, ...],
    position: Mapping[str, int],
) -> PackMove:
    """A jump as one pack sees it. New values that depend on other packs may be anything."""
    if images.keys().isdisjoint(pack):
        return PackMove(_fitting(rows, position))
    known = dict(position)
    forms: list[tuple[Fraction, Mapping[str, Fraction]]] = []
    for n in pack:
        image = images.get(n)
        if image is None:
            forms.append((Fraction(0), {n: Fraction(1)}))
        elif image.free.keys() <= position.keys():
            forms.append((image.at(values), image.free))
        else:
            known.setdefault(primed(n), len(known))
            forms.append((Fraction(0), {primed(n): Fraction(1)}))
    denominator = lcm(*(a.denominator for c, free in forms for a in (c, *free.values())))
    size = len(known) + 1
    image_rows: list[Vector] = [(denominator, *([0] * (size - 1)))]
    for constant, free in forms:
        row = [0] * size
        row[0] = int(constant * denominator)
        for n, a in free.items():
            row[known[n] + 1] = int(a * denominator)
        image_rows.append(tuple(row))
    return PackMove(_fitting(rows, known), tuple(image_rows), len(known) - len(position))


def _pack_flow(location: str, dynamics: Dynamics, pack: tuple[str, ...]) -> Generators:
    """The cone of directions of a pack: its variables' constant derivatives and ranges."""
    zero = Form({})
    forms = [dynamics.derivative.get(name, zero) for name in pack]
    rates = {
        f"d({n})": i
        for i, n in enumerate(n for n, f in zip(pack, forms, strict=True) if f.coefficients)
    }
    for name, form in zip(pack, forms, strict=True):
        if not form.coefficients.keys() <= {f"d({name})"}:
            raise NotRectangularError(f"the derivative of {name} in {location} is not constant")
    rows: list[Vector] = []
    for row in dynamics.rows:
        names = row.form.coefficients.keys()
        if names & rates.keys():
            if not names <= rates.keys():
                raise NotRectangularError(f"a range of derivatives in {location} is not constant")
            coefficients = {rates[n]: -a for n, a in row.form.coefficients.items()}
            rows.append(integer_row(-row.form.constant, coefficients, len(rates)))
    box = Polyhedron.universe(len(rates)).restricted(rows)

    def direction(generator: Vector) -> Vector:
        entries = {
            i: Fraction(generator[rates[f"d({name})"] + 1])
            if form.coefficients
            else form.constant * generator[0]
            for i, (name, form) in enumerate(zip(pack, forms, strict=True))
        }
        return integer_row(Fraction(0), entries, len(pack))

    rays = dict.fromkeys(direction(g) for g in box.generators)
    return [r for r in rays if any(r)], [direction(line) for line in box.lines]


def _projected(states: Polyhedron, kept: list[int]) -> Generators:
    """Generators and lines of the states in some dimensions only."""

    def part(vector: Vector) -> Vector:
        return coprime([vector[0], *(vector[i + 1] for i in kept)])

    points = dict.fromkeys(map(part, states.generators))
    lines = dict.fromkeys(map(part, states.lines))
    return [g for g in points if any(g)], [g for g in lines if any(g)]
