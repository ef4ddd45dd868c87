"""The initial states of a rectangular system, by place and pack.

The rows of a start speak about values before entry resets (plain names) and after them
(primed ones). Names that no chain of rows connects are independent: each group of connected
names has a polyhedron of its own, and a pack sees the product of their projections. So the
cost grows with the groups and packs and not with the corners of a product of all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from math import ceil, floor

from workbench.models.automaton import BOOL, INT, ValueType, primed
from workbench.models.evidence.bounds import implied_bounds
from workbench.models.linear import Row, Rows
from workbench.reach.rectangular.layout import bounds_in
from workbench.reach.rectangular.moves import Entries, Number, Values
from workbench.reach.rectangular.rows import Packs
from workbench.reach.rectangular.split import NotRectangularError, Split, plain
from workbench.reach.sets.double_description import Vector, coprime
from workbench.reach.sets.polyhedron import Generators, Polyhedron, integer_row

MAX_VALUES = 64
"""An initial value that is only known to be one of more whole numbers is not counted out."""


def start_entries(
    rows: Rows, explicit: Sequence[str], packs: Packs, types: Mapping[str, ValueType]
) -> Iterator[tuple[Values, Entries]]:
    """The initial states of one case, for all values of the explicit variables that it allows;
    the values before entry resets are projected away."""
    bounds = implied_bounds(rows)
    choices = [_choices(n, types[n], *bounds.get(primed(n), (None, None))) for n in explicit]
    groups = list(_groups(_without_implied(rows)))
    if any(group.states is None for group in groups):
        return
    for values in product(*choices):
        fixed = {primed(n): value for n, value in zip(explicit, values, strict=True)}
        here = [group.fixed(fixed) for group in groups]
        if all(states is not None for states in here):
            yield values, tuple(_seen([primed(n) for n in pack], groups, here) for pack in packs)


def _without_implied(rows: Rows) -> Rows:
    """The rows without those that follow from bounds of single names; these bounds come from
    rows that stay: about one name, and equations. Otherwise an invariant that always holds at
    the start would connect all names."""
    forms = {(row.form.constant, frozenset(row.form.coefficients.items())) for row in rows}

    def is_simple(row: Row) -> bool:
        opposite = -row.form
        content = opposite.constant, frozenset(opposite.coefficients.items())
        return len(row.form.coefficients) < 2 or content in forms

    simple = {i for i, row in enumerate(rows) if is_simple(row)}
    bounds = implied_bounds(tuple(rows[i] for i in sorted(simple)))

    def is_implied(row: Row) -> bool:
        most = row.form.constant
        for name, a in row.form.coefficients.items():
            limit = bounds.get(name, (None, None))[a > 0]
            if limit is None:
                return False
            most += a * limit
        return most < 0 or (most == 0 and not row.strict)

    return tuple(row for i, row in enumerate(rows) if i in simple or not is_implied(row))


class _Group:
    """Connected names and the states that their rows allow (None: no state)."""

    def __init__(self, names: list[str], rows: Rows):
        self.position = {n: i for i, n in enumerate(names)}
        splits = [Split.turned(row, {}) for row in rows]
        self.states = bounds_in(splits, self.position).on(Polyhedron.universe(len(names)))

    def fixed(self, values: Mapping[str, Number]) -> Polyhedron | None:
        """The states with given values of some names."""
        assert self.states is not None
        size = len(self.position)
        rows = [
            integer_row(-value, {self.position[n]: Fraction(1)}, size)
            for n, value in values.items()
            if n in self.position
        ]
        found = self.states.restricted((), rows)
        return None if found.is_empty else found


def _groups(rows: Rows) -> Iterator[_Group]:
    """The rows by connected names."""
    group_of: dict[str, list[str]] = {}
    for row in rows:
        joined: dict[int, list[str]] = {}
        for name in row.form.coefficients:
            group = group_of.setdefault(name, [name])
            joined[id(group)] = group
        if len(joined) > 1:
            union = [name for group in joined.values() for name in group]
            group_of.update(dict.fromkeys(union, union))
    members: dict[int, tuple[list[str], list[int]]] = {
        id(group): (group, []) for group in group_of.values()
    }
    constant: list[int] = []
    for number, row in enumerate(rows):
        names = list(row.form.coefficients)
        (members[id(group_of[names[0]])][1] if names else constant).append(number)
    if constant:
        yield _Group([], tuple(rows[i] for i in constant))
    for group, numbers in members.values():
        yield _Group(sorted(group), tuple(rows[i] for i in numbers))


def _seen(
    names: list[str], groups: Sequence[_Group], states: Sequence[Polyhedron | None]
) -> Generators:
    """What a pack of names sees of the product of the groups."""
    rows: list[Vector] = []
    equations: list[Vector] = []
    for group, polyhedron in zip(groups, states, strict=True):
        known = [(i, group.position[n]) for i, n in enumerate(names) if n in group.position]
        if not known or polyhedron is None:
            continue
        shadow = _projected(polyhedron, [k for _, k in known])
        if len(known) == len(names):
            return shadow.spanned
        for found, constraints in ((rows, shadow.inequalities), (equations, shadow.equations)):
            for constraint in constraints:
                row = [constraint[0], *([0] * len(names))]
                for (i, _), a in zip(known, constraint[1:], strict=True):
                    row[i + 1] = a
                found.append(tuple(row))
    return Polyhedron.universe(len(names)).restricted(rows, equations).spanned


def _projected(states: Polyhedron, kept: list[int]) -> Polyhedron:
    """The states in some dimensions only."""

    def part(vector: Vector) -> Vector:
        return coprime([vector[0], *(vector[i + 1] for i in kept)])

    points = dict.fromkeys(map(part, states.generators))
    lines = dict.fromkeys(map(part, states.lines))
    return Polyhedron.generated(
        len(kept), [g for g in points if any(g)], [g for g in lines if any(g)]
    )


def _choices(
    name: str, kind: ValueType, low: Fraction | None, high: Fraction | None
) -> list[Number]:
    """The values that an explicit variable may start with."""
    if low is not None and low == high:
        return [plain(low)]
    if low is None or high is None or not (kind in (INT, BOOL) or kind.values):
        raise NotRectangularError(f"the initial value of {name} is not known")
    if high - low > MAX_VALUES:
        raise NotRectangularError(f"{name} may start with too many values")
    return list(range(ceil(low), floor(high) + 1))
