"""Piecewise-constant and rectangular systems: the linear view in integers, place by place.

A place is a location together with the values of the discrete variables that are counted
out (`explicit`): those that jumps set to values known from the other counted variables. The
dimensions of the polyhedra are the remaining variables and the uncertain parameters; a
variable on which neither an edge, an invariant nor the property depends is left out, which
changes nothing for the others.

Everything is read from `models.proof.problem`, so what is found here is found about exactly
the view that the trusted checker has. Invariants must be conjunctions there, and derivatives
must lie in constant ranges; otherwise `NotRectangularError` says what is in the way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from typing import TypeAlias

from models.automaton import BOOL, INT, Kind, primed
from models.expression import free_variables
from models.proof.bounds import implied_bounds
from models.proof.linear import Alternatives, Form, Row, Rows
from models.proof.problem import LinearProblem
from reach.double_description import Vector, coprime, dot
from reach.polyhedron import Polyhedron, integer_row

MAX_VALUES = 64
"""An initial value that is only known to be one of more whole numbers is not counted out."""

Values: TypeAlias = tuple[Fraction, ...]


class NotRectangularError(Exception):
    """The system is not of this kind; the message says why."""


@dataclass(frozen=True, slots=True)
class Place:
    """A location and the values of the explicit discrete variables, in their order."""

    location: str
    values: Values = ()


@dataclass(frozen=True, slots=True)
class Bounds:
    """Constraints c + a*x >= 0; `strict` are the numbers of those that exclude equality."""

    rows: tuple[Vector, ...]
    strict: tuple[int, ...] = ()

    def on(self, polyhedron: Polyhedron) -> Polyhedron | None:
        """The points of a polyhedron that satisfy the rows, with those at the edge of strict
        ones; None if no point satisfies them all."""
        found = polyhedron.restricted(self.rows)
        if found.is_empty:
            return None
        for i in self.strict:
            row = self.rows[i]
            if all(dot(row, g) == 0 for g in found.generators):
                return None
        return found


@dataclass(frozen=True, slots=True)
class Move:
    """One case of a jump from a place: what must hold before (and of the `extra` values that
    are chosen during the jump), and the new state as rows over (1, state, extra)."""

    edge: int
    case: int
    name: str
    target: Place
    bounds: Bounds
    image: tuple[Vector, ...] | None
    extra: int = 0

    def successors(self, states: Polyhedron) -> Polyhedron | tuple[list[Vector], list[Vector]]:
        """The generators and lines of the states after the jump; the empty polyhedron if
        there are none."""
        size = states.dimension + 1
        if self.extra:
            states = lifted(states, self.extra)
        enabled = self.bounds.on(states)
        if enabled is None:
            return Polyhedron.empty(size - 1)
        if self.image is None:
            return list(enabled.generators), list(enabled.lines)
        mapped = dict.fromkeys(self._mapped(g) for g in enabled.generators)
        lines = dict.fromkeys(self._mapped(line) for line in enabled.lines)
        return [g for g in mapped if any(g)], [g for g in lines if any(g)]

    def _mapped(self, generator: Vector) -> Vector:
        assert self.image is not None
        return coprime([dot(row, generator) for row in self.image])


def lifted(states: Polyhedron, extra: int) -> Polyhedron:
    """The states with further dimensions of any value."""
    pad = (0,) * extra
    size = states.dimension + 1 + extra
    units = [tuple(int(i == j) for j in range(size)) for i in range(size - extra, size)]
    return Polyhedron.generated(
        size - 1, [g + pad for g in states.generators], [*(g + pad for g in states.lines), *units]
    )


@dataclass(frozen=True, slots=True)
class _Split:
    """A row with its names sorted: over the explicit variables, and over the dimensions."""

    constant: Fraction
    explicit: tuple[tuple[int, Fraction], ...]
    dimensions: Mapping[int, Fraction]
    strict: bool

    def at(self, values: Values) -> Fraction:
        """The part that does not depend on the dimensions."""
        return self.constant + sum((a * values[i] for i, a in self.explicit), Fraction(0))


@dataclass(frozen=True, slots=True)
class _Case:
    """A jump's case, prepared for any values of the explicit variables."""

    edge: int
    case: int
    name: str
    target: str
    rows: tuple[_Split, ...]
    new_values: tuple[_Split, ...]
    image: tuple[_Split, ...] | None
    extra: int


@dataclass
class RectangularSystem:
    """The places of a rectangular system, asked for one at a time."""

    problem: LinearProblem
    explicit: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    _prepared: dict[str, tuple[_Case, ...]] = field(default_factory=dict)
    _invariants: dict[Place, Bounds] = field(default_factory=dict)
    _rows: dict[str, tuple[_Split, ...]] = field(default_factory=dict)
    _directions: dict[str, tuple[tuple[Vector, ...], tuple[Vector, ...]]] = field(
        default_factory=dict
    )
    _bad: dict[str, tuple[tuple[_Split, ...], ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.names:
            relevant = relevant_names(self.problem)
            self.explicit = tuple(sorted(explicit_names(self.problem) & relevant))
            counted = set(self.explicit)
            automaton = self.problem.automaton
            ordered = [v.name for v in automaton.variables] + [p.name for p in automaton.parameters]
            self.names = tuple(n for n in ordered if n not in counted and n in relevant)
        self._index = {name: i for i, name in enumerate(self.names)}
        self._explicit_index = {name: i for i, name in enumerate(self.explicit)}

    @property
    def dimension(self) -> int:
        """How many dimensions the polyhedra have."""
        return len(self.names)

    def starts(self) -> Iterator[tuple[Place, Polyhedron]]:
        """The initial states, as one polyhedron for each place and case."""
        for location, cases in self.problem.starts():
            for rows in cases:
                yield from self._start(location, rows)

    def invariant(self, place: Place) -> Bounds:
        """The invariant of a place, with the bounds of parameters."""
        found = self._invariants.get(place)
        if found is None:
            rows = self._rows.get(place.location)
            if rows is None:
                rows = self._rows[place.location] = self._invariant_rows(place.location)
            bounds = self._bounds(rows, place.values)
            found = Bounds((_NEVER(self.dimension),)) if bounds is None else bounds
            self._invariants[place] = found
        return found

    def directions(self, place: Place) -> tuple[tuple[Vector, ...], tuple[Vector, ...]]:
        """The directions, and the lines, in which time moves the states of a place."""
        found = self._directions.get(place.location)
        if found is None:
            found = self._directions[place.location] = self._flow(place.location)
        return found

    def moves(self, place: Place) -> Iterator[Move]:
        """The jumps from a place that its discrete values do not rule out."""
        prepared = self._prepared.get(place.location)
        if prepared is None:
            prepared = self._prepared[place.location] = tuple(self._cases(place.location))
        for case in prepared:
            bounds = self._bounds(case.rows, place.values, case.extra)
            if bounds is None:
                continue
            values = tuple(v.at(place.values) for v in case.new_values)
            image = None
            if case.image is not None:
                image = self._image(case, place.values)
            target = Place(case.target, values)
            yield Move(case.edge, case.case, case.name, target, bounds, image, case.extra)

    def bad(self, place: Place) -> Iterator[tuple[int, Bounds]]:
        """The bad states of a place: number of the case, and its constraints."""
        cases = self._bad.get(place.location)
        if cases is None:
            cases = tuple(
                tuple(self._split(row) for row in rows if self._is_known(row))
                for rows in self.problem.bad(place.location)
            )
            self._bad[place.location] = cases
        for number, case in enumerate(cases):
            bounds = self._bounds(case, place.values)
            if bounds is not None:
                yield number, bounds

    # Rows

    def _is_known(self, row: Row) -> bool:
        """Whether a row speaks about dimensions and explicit variables only."""
        return all(n in self._index or n in self._explicit_index for n in row.form.coefficients)

    def _split(self, row: Row, extra: Mapping[str, int] | None = None) -> _Split:
        """The row turned round: c + a*x >= 0."""
        return self._split_form(row.form.scaled(Fraction(-1)), row.strict, extra or {})

    def _split_form(self, form: Form, strict: bool, extra: Mapping[str, int]) -> _Split:
        explicit: list[tuple[int, Fraction]] = []
        dimensions: dict[int, Fraction] = {}
        for name, a in form.coefficients.items():
            if name in self._explicit_index:
                explicit.append((self._explicit_index[name], a))
            else:
                i = self._index.get(name)
                dimensions[extra[name] if i is None else i] = a
        return _Split(form.constant, tuple(explicit), dimensions, strict)

    def _bounds(self, rows: Sequence[_Split], values: Values, extra: int = 0) -> Bounds | None:
        """The rows at given discrete values; None if one of them fails for any state."""
        found: list[Vector] = []
        strict: list[int] = []
        for row in rows:
            constant = row.at(values)
            if not row.dimensions:
                if constant < 0 or (row.strict and constant == 0):
                    return None
                continue
            if row.strict:
                strict.append(len(found))
            found.append(integer_row(constant, row.dimensions, self.dimension + extra))
        return Bounds(tuple(found), tuple(strict))

    def _image(self, case: _Case, values: Values) -> tuple[Vector, ...]:
        """Rows with a common denominator that map (1, state, extra) to (1, new state)."""
        assert case.image is not None
        size = self.dimension + case.extra
        forms = [(row.at(values), row.dimensions) for row in case.image]
        denominator = 1
        for constant, dimensions in forms:
            for a in (constant, *dimensions.values()):
                denominator = denominator * a.denominator // _gcd(denominator, a.denominator)
        rows: list[Vector] = [(denominator, *([0] * size))]
        for constant, dimensions in forms:
            row = [0] * (size + 1)
            row[0] = int(constant * denominator)
            for i, a in dimensions.items():
                row[i + 1] = int(a * denominator)
            rows.append(tuple(row))
        return tuple(rows)

    # Reading the linear view

    def _invariant_rows(self, location: str) -> tuple[_Split, ...]:
        """The invariant's rows; those of inputs are projected away by leaving them out where
        no invariant mentions them."""
        cases = self.problem.invariant(location)
        if len(cases) != 1:
            raise NotRectangularError(f"the invariant of {location} is not a conjunction")
        return tuple(self._split(row) for row in cases[0] if self._is_known(row))

    def _flow(self, location: str) -> tuple[tuple[Vector, ...], tuple[Vector, ...]]:
        corners = self.problem.dynamics(location)
        if len(corners) != 1:
            raise NotRectangularError(f"uncertain parameters multiply variables in {location}")
        dynamics = corners[0]
        rates: list[str] = []
        for name in self.names:
            form = dynamics.derivative.get(name, Form({}))
            for other in form.coefficients:
                if other != f"d({name})":
                    raise NotRectangularError(
                        f"the derivative of {name} in {location} is not constant"
                    )
            if form.coefficients:
                rates.append(name)
        known = {f"d({name})": i for i, name in enumerate(rates)}
        rows: list[Vector] = []
        for row in dynamics.rows:
            concerned = known.keys() & row.form.coefficients.keys()
            if not concerned:
                continue
            if not row.form.coefficients.keys() <= known.keys():
                raise NotRectangularError(f"a range of derivatives in {location} is not constant")
            form = row.form.scaled(Fraction(-1))
            coefficients = {known[n]: a for n, a in form.coefficients.items()}
            rows.append(integer_row(form.constant, coefficients, len(rates)))
        box = Polyhedron.universe(len(rates)).restricted(rows)
        return self._cone(location, dynamics.derivative, rates, box)

    def _cone(
        self, location: str, derivative: Mapping[str, Form], rates: list[str], box: Polyhedron
    ) -> tuple[tuple[Vector, ...], tuple[Vector, ...]]:
        """The directions in which the states move while time passes."""
        position = {name: i + 1 for i, name in enumerate(rates)}
        zero = Form({})

        def direction(generator: Vector) -> Vector | None:
            entries: list[Fraction] = []
            for name in self.names:
                if name in position:
                    entries.append(Fraction(generator[position[name]]))
                else:
                    entries.append(derivative.get(name, zero).constant * generator[0])
            return integer_row(Fraction(0), dict(enumerate(entries)), self.dimension)

        rays = [direction(g) for g in box.generators]
        lines = [direction(g) for g in box.lines]
        return (
            tuple(dict.fromkeys(r for r in rays if r is not None and any(r))),
            tuple(r for r in lines if r is not None),
        )

    def _cases(self, location: str) -> Iterator[_Case]:
        for edge, jump in enumerate(self.problem.jumps(location)):
            for number, rows in enumerate(jump.cases):
                yield self._case(edge, number, jump.name, jump.target, rows)

    def _case(self, edge: int, number: int, name: str, target: str, rows: Rows) -> _Case:
        definitions, rest = defined_values(rows, self._is_plain)
        left = [row for row in rest if self._is_relevant(row)]
        extra_names = sorted(
            {n for row in left for n in row.form.coefficients} - self._known_names()
            | {primed(n) for n in self.names if primed(n) not in definitions}
        )
        extra = {n: self.dimension + i for i, n in enumerate(extra_names)}
        splits = tuple(self._split(row, extra) for row in left)
        new_values: list[_Split] = []
        for n in self.explicit:
            form = definitions.get(primed(n))
            if form is None or not form.coefficients.keys() <= self._explicit_index.keys():
                raise NotRectangularError(f"the new value of {n} at {name} is not known")
            new_values.append(self._split_form(form, False, {}))
        image: list[_Split] = []
        identity = True
        for i, n in enumerate(self.names):
            form = definitions.get(primed(n), Form({primed(n): Fraction(1)}))
            part = self._split_form(form, False, extra)
            identity &= not part.explicit and not part.constant and part.dimensions == {i: 1}
            image.append(part)
        plain = identity and not extra
        return _Case(
            edge,
            number,
            name,
            target,
            splits,
            tuple(new_values),
            None if plain else tuple(image),
            len(extra),
        )

    def _known_names(self) -> set[str]:
        return set(self.names) | set(self.explicit)

    def _is_plain(self, name: str) -> bool:
        return name in self._index or name in self._explicit_index

    def _is_relevant(self, row: Row) -> bool:
        """Whether a row mentions anything but variables that were left out."""
        return any(
            n in self._index
            or n in self._explicit_index
            or (n.endswith("'") and self._is_plain(n[:-1]))
            for n in row.form.coefficients
        ) or not row.form.coefficients

    def _start(self, location: str, rows: Rows) -> Iterator[tuple[Place, Polyhedron]]:
        """The initial states of one case: plain names (before entry resets) are projected."""
        definitions, rest = defined_values(rows, lambda name: not name.endswith("'"))
        del definitions, rest
        bounds = implied_bounds(rows)
        choices: list[list[Fraction]] = []
        for n in self.explicit:
            low, high = bounds.get(primed(n), (None, None))
            choices.append(_whole_numbers(n, low, high, self._is_whole(n)))
        order = sorted({n for row in rows for n in row.form.coefficients} - {primed(n) for n in self.names})
        index = {primed(n): i for i, n in enumerate(self.names)}
        index |= {n: self.dimension + i for i, n in enumerate(order)}
        size = len(index)
        vectors = []
        strict = []
        for number, row in enumerate(rows):
            form = row.form.scaled(Fraction(-1))
            vectors.append(
                integer_row(form.constant, {index[n]: a for n, a in form.coefficients.items()}, size)
            )
            if row.strict:
                strict.append(number)
        found = Bounds(tuple(vectors), tuple(strict)).on(Polyhedron.universe(size))
        if found is None:
            return
        keep = [tuple(int(i == j) for j in range(size + 1)) for i in range(self.dimension + 1)]
        for values in product(*choices):
            at = [
                integer_row(-value, {index[primed(n)]: Fraction(1)}, size)
                for n, value in zip(self.explicit, values, strict=True)
                if primed(n) in index
            ]
            here = found.restricted((), at)
            if not here.is_empty:
                yield Place(location, values), here.mapped(keep)

    def _is_whole(self, name: str) -> bool:
        types = {v.name: v.type for v in self.problem.automaton.variables}
        return types[name] in (INT, BOOL) or bool(types[name].values)


def defined_values(
    rows: Rows, is_plain: Callable[[str], bool]
) -> tuple[dict[str, Form], list[Row]]:
    """The primed names that rows define by plain ones, x' = form, and all rows with these
    substituted (without the trivial ones)."""
    present = {_key(row.form) for row in rows if not row.strict}
    definitions: dict[str, Form] = {}
    for row in rows:
        if row.strict or _key(row.form.scaled(Fraction(-1))) not in present:
            continue
        unknown = [n for n in row.form.coefficients if not is_plain(n)]
        if len(unknown) == 1 and unknown[0].endswith("'") and unknown[0] not in definitions:
            a = row.form.coefficients[unknown[0]]
            rest = {n: b for n, b in row.form.coefficients.items() if n != unknown[0]}
            definitions[unknown[0]] = Form(rest, row.form.constant).scaled(-1 / a)
    left: list[Row] = []
    for row in rows:
        form = substituted(row.form, definitions)
        if form.coefficients or form.constant > 0 or (row.strict and form.constant == 0):
            left.append(Row(form, row.strict))
    return definitions, left


def substituted(form: Form, definitions: Mapping[str, Form]) -> Form:
    """The form with names replaced by forms."""
    if not definitions.keys() & form.coefficients.keys():
        return form
    result = Form({n: a for n, a in form.coefficients.items() if n not in definitions}, form.constant)
    for name, a in form.coefficients.items():
        if name in definitions:
            result = result + definitions[name].scaled(a)
    return result


def _key(form: Form) -> tuple[Fraction, frozenset[tuple[str, Fraction]]]:
    return form.constant, frozenset(form.coefficients.items())


def explicit_names(problem: LinearProblem) -> frozenset[str]:
    """The discrete variables whose new values after every jump are known from each other.

    Truth values and symbols always are (each possible value is a case of its own); numbers
    are where every reset gives one value in terms of explicit variables.
    """
    automaton = problem.automaton
    finite = {
        v.name
        for v in automaton.variables
        if v.kind is Kind.DISCRETE and (v.type == BOOL or v.type.values)
    }
    candidates = finite | {v.name for v in automaton.variables if v.kind is Kind.DISCRETE}
    resets = [
        reset
        for part in automaton.components
        for group in (*part.edges, *part.initial)
        for reset in group.resets
    ]
    while True:
        lost = {
            r.variable
            for r in resets
            if r.variable in candidates - finite
            and (
                r.range.exact is None
                or not {n.rstrip("'") for n in free_variables(r.range.exact)} <= candidates
            )
        }
        if not lost:
            return frozenset(candidates)
        candidates -= lost


def relevant_names(problem: LinearProblem) -> frozenset[str]:
    """The variables and parameters on which edges, invariants or the property depend."""
    automaton = problem.automaton
    found = set(free_variables(problem.claim.condition)) | set(free_variables(automaton.assumption))
    resets = []
    for part in automaton.components:
        for location in part.locations:
            found |= free_variables(location.invariant)
        for edge in part.edges:
            found |= free_variables(edge.guard)
            resets += edge.resets
    for event in getattr(automaton, "interactions", ()):
        found |= free_variables(event.guard)
        resets += event.resets
    while True:
        before = len(found)
        for reset in resets:
            if reset.variable in found:
                for bound in (reset.range.low, reset.range.high):
                    if bound is not None:
                        found |= {n.rstrip("'") for n in free_variables(bound)}
        if len(found) == before:
            return frozenset(found)


def _whole_numbers(
    name: str, low: Fraction | None, high: Fraction | None, whole: bool
) -> list[Fraction]:
    if low is None or high is None:
        raise NotRectangularError(f"the initial value of {name} is not known")
    if low == high:
        return [low]
    if not whole or high - low > MAX_VALUES:
        raise NotRectangularError(f"the initial value of {name} is not known")
    first = -((-low.numerator) // low.denominator)
    return [Fraction(k) for k in range(first, high.numerator // high.denominator + 1)]


def _gcd(a: int, b: int) -> int:
    while b:
        a, b = b, a % b
    return a


def _NEVER(dimension: int) -> Vector:
    return (-1, *([0] * dimension))


__all__ = [
    "Alternatives",
    "Bounds",
    "Move",
    "NotRectangularError",
    "Place",
    "RectangularSystem",
    "defined_values",
]
