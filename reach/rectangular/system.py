"""Piecewise-constant and rectangular systems: the linear view in integers, place by place.

A place is a location together with the values of the discrete variables that are counted
out (`explicit`): those that jumps set to values known from the other counted variables. The
dimensions of the polyhedra are the remaining variables and the uncertain parameters; a
variable on which neither an edge, an invariant nor the property depends is left out, which
changes nothing for the others.

The dimensions may be kept in several packs: a set of states is then described by one
polyhedron for each pack, and stands for the states whose part in every pack lies in that
polyhedron. With one pack nothing is lost; with small packs relations across packs are.

Everything is read from `models.lowering.problem`, so what is found here is found about exactly
the view that the trusted checker has. Derivatives must lie in constant ranges, and in each
place the invariant must be a conjunction; otherwise `NotRectangularError` says what is in the
way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum, auto
from fractions import Fraction

from workbench.models.automaton import primed
from workbench.models.linear import Form, Row, Rows
from workbench.models.lowering.alternatives import closed
from workbench.models.lowering.problem import LinearProblem
from workbench.reach.rectangular.cases import Arrival, Case, Condition
from workbench.reach.rectangular.layout import Layout, Placed
from workbench.reach.rectangular.moves import (
    Bounds,
    Entries,
    Move,
    Place,
    States,
    Values,
    restricted,
)
from workbench.reach.rectangular.rows import (
    Packs,
    explicit_names,
    largest_constants,
    linked_names,
    paired,
    relation,
    relevant_names,
    resolved,
)
from workbench.reach.rectangular.split import NotRectangularError, Split
from workbench.reach.rectangular.starts import start_entries
from workbench.reach.sets.polyhedron import Generators, Polyhedron


class Packing(Enum):
    """How the dimensions of a system are kept."""

    WHOLE = auto()
    LINKED = auto()
    PAIRED = auto()


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
        self.layout = Layout(self.packs)
        self.number_of = {name: i for i, name in enumerate(self.explicit)}
        self.largest = largest_constants(problem)
        self._types = {v.name: v.type for v in automaton.variables}
        self._nowhere = tuple(Bounds(((-1, *([0] * len(pack))),)) for pack in self.packs)
        self._still = tuple(Generators(()) for _ in self.packs)
        self._relations: dict[int, tuple[Rows, Arrival]] = {}
        self._cases: dict[str, tuple[Case, ...]] = {}
        self._conditions: dict[tuple[str, str], tuple[Condition, ...]] = {}
        self._moves: dict[Place, tuple[Move, ...]] = {}
        self._directions: dict[str, Entries] = {}
        self._elapsed: dict[tuple[Generators, Generators], Polyhedron] = {}

    # What a search asks

    def starts(self) -> Iterator[tuple[int, Place, Entries]]:
        """The initial states of each place, by pack, with the number of their case among all
        cases of all starts."""
        number = -1
        for location, cases in self.problem.starts():
            for rows in cases:
                number += 1
                for values, entries in start_entries(rows, self.explicit, self.packs, self._types):
                    yield number, Place(location, values), entries

    def elapsed(self, place: Place, entries: Entries) -> States:
        """What time makes of entries, the invariant aside."""
        found: list[Polyhedron] = []
        for pack, entry, flow in zip(self.packs, entries, self.directions(place), strict=True):
            known = self._elapsed.get((entry, flow))
            if known is None:
                known = self._elapsed[entry, flow] = Polyhedron.generated(
                    len(pack), entry.points + flow.points, entry.lines + flow.lines
                )
            found.append(known)
        return tuple(found)

    def within(self, place: Place, states: States) -> States | None:
        """The states that the invariant of a place allows; None if there are none."""
        return restricted(states, self.invariant(place))

    def invariant(self, place: Place) -> tuple[Bounds, ...]:
        """The invariant of a place, with the bounds of parameters, by pack."""
        condition = self._weakest(
            self._kept("invariant", place.location, self.problem.invariant), place
        )
        found = None if condition is None else condition.placed(place.values, self.layout)
        return self._nowhere if found is None else found.bounds

    def directions(self, place: Place) -> Entries:
        """The directions and lines in which time moves the states of a place, by pack."""
        if self._stands_still(place):
            return self._still
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

    def bad(self, place: Place) -> Iterator[tuple[int, Placed]]:
        """The bad states of a place that its discrete values do not rule out, with the numbers
        of their cases."""
        for number, condition in enumerate(self.bad_conditions(place.location)):
            placed = condition.placed(place.values, self.layout)
            if placed is not None:
                yield number, placed

    # What evidence asks

    def cases(self, location: str) -> tuple[Case, ...]:
        """The cases of all jumps from a location, in the order of the linear view."""
        found = self._cases.get(location)
        if found is None:
            found = self._cases[location] = tuple(self._prepared(location))
        return found

    def bad_conditions(self, location: str) -> tuple[Condition, ...]:
        """The cases of the bad set, in the order of the linear view."""
        return self._kept("bad", location, self.problem.bad)

    def flowing(self, location: str) -> tuple[Condition, ...]:
        """The cases in which time passes, in the order of the linear view."""
        return self._kept("flowing", location, self.problem.flowing)

    # Details

    def _kept(
        self, kind: str, location: str, cases: Callable[[str], Sequence[Rows]]
    ) -> tuple[Condition, ...]:
        found = self._conditions.get((kind, location))
        if found is None:
            found = tuple(self._condition(rows, enumerate(rows)) for rows in cases(location))
            self._conditions[kind, location] = found
        return found

    def _condition(self, rows: Rows, numbered: Iterable[tuple[int, Row]]) -> Condition:
        """Rows, and what they say by their numbers."""
        return Condition.of(rows, [Split.turned(r, self.number_of, i) for i, r in numbered])

    def _stands_still(self, place: Place) -> bool:
        """Whether the discrete values of a place enable an urgent edge, so that no time passes."""
        cases = self.flowing(place.location)
        return all(case.failing(place.values) is not None for case in cases)

    def _weakest(self, cases: Sequence[Condition], place: Place) -> Condition | None:
        """The case of an invariant that contains all others at the discrete values of a place;
        None if none is possible."""
        possible = [case for case in cases if case.failing(place.values) is None]
        if len(possible) < 2:
            return possible[0] if possible else None
        rows = [_said(case, place.values) for case in possible]
        for case, mine in zip(possible, rows, strict=True):
            if all(mine <= others for others in rows):
                return case
        raise NotRectangularError(f"the invariant of {place.location} is not a conjunction")

    def _moves_at(self, place: Place) -> Iterator[Move]:
        values = place.values
        for case in self.cases(place.location):
            if case.condition.failing(values) is None:
                seen = case.seen(values, self.layout)
                new = Place(case.target, tuple([v.value(values) for v in case.arrival.new_values]))
                yield Move(case.edge, case.case, case.name, new, seen.packs, seen.numbers)

    # Reading the linear view

    def _flow(self, location: str) -> Entries:
        corners = self.problem.dynamics(location)
        if len(corners) != 1:
            raise NotRectangularError(f"uncertain parameters multiply variables in {location}")
        return self.layout.flow(location, corners[0])

    def _prepared(self, location: str) -> Iterator[Case]:
        edges = self.problem.automaton.edges_from(location)
        for number, (edge, jump) in enumerate(
            zip(edges, self.problem.jumps(location), strict=True)
        ):
            relations = self.problem.relation(edge.resets)
            if edge.urgent:
                relations = tuple(map(closed, relations))
            for case, rows in enumerate(jump.cases):
                last = relations[case % len(relations)]
                assert rows[len(rows) - len(last) :] == last, "a jump's rows end with its relation"
                arrival = self._arrival(jump.name, last)
                found = resolved(rows, arrival.relation)
                condition = self._condition(rows, found.rows)
                yield Case(number, case, jump.name, jump.target, found, condition, arrival)

    def _arrival(self, name: str, rows: Rows) -> Arrival:
        """Kept by the identity of the rows: the linear view uses them for many jumps."""
        known = self._relations.get(id(rows))
        if known is None:
            known = self._relations[id(rows)] = rows, self._built_arrival(name, rows)
        return known[1]

    def _built_arrival(self, name: str, rows: Rows) -> Arrival:
        found = relation(rows)
        new_values: list[Split] = []
        for n in self.explicit:
            form = found.forms.get(primed(n))
            if form is None or not form.coefficients.keys() <= self.number_of.keys():
                raise NotRectangularError(f"the new value of {n} at {name} is not known")
            new_values.append(Split.of(form, self.number_of))
        images: dict[str, Split] = {}
        for n in self.names:
            form = found.forms.get(primed(n)) or Form({primed(n): Fraction(1)})
            if form.constant or len(form.coefficients) != 1 or form.coefficients.get(n) != 1:
                images[n] = Split.of(form, self.number_of)
        return Arrival(found, tuple(new_values), images)


def _said(case: Condition, values: Values) -> set[tuple[object, ...]]:
    """What the undecided rows of a case say at given discrete values."""
    constants = case.constants(values)
    return {
        (c, row.strict, *sorted(row.free)) for c, row in zip(constants, case.undecided, strict=True)
    }
