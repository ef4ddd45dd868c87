"""The initial values that a search may choose, as points of a unit cube.

Ranges may have ends that depend on parameters or on other initial values: a coordinate is a
share of its range, read after what the range depends on. Truth values and enumerations that may
begin anyhow are coordinates, too. Values that equations bind to each other have coordinates of
their own, those of the polytope of these equations.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from workbench.models.automaton import Initial
from workbench.models.expressions.expression import Expression
from workbench.models.expressions.traversal import free_variables
from workbench.simulate.monitoring.margin import margin_tree
from workbench.simulate.place import Prepared
from workbench.simulate.run import Given
from workbench.simulate.search.coordinate import Coordinate, placed, searched
from workbench.simulate.start.box import Box, box_of
from workbench.simulate.start.first_values import nth_value, values_of
from workbench.simulate.start.linear_start import LinearStart
from workbench.simulate.start.polytope import Polytope
from workbench.simulate.start.ranges import Ends, Ranges
from workbench.simulate.stepping.calculator import Calculator
from workbench.simulate.stepping.tape import number

REPAIRS = 12

Values = dict[str, float]


class InitialSpace:
    """The coordinates of one initial set: `coordinates`, then those of the `hull`.

    A coordinate whose range depends on other values has infinite bounds.
    """

    def __init__(self, prepared: Prepared, start: Initial):
        self._prepared, self._box = prepared, box_of(start.condition)
        self._ranges = Ranges(prepared, self._box)
        self.hull = _hull(prepared, start, self._box)
        thin = () if self.hull is None else self.hull.names
        found = (self._coordinate(n) for n in prepared.names if n not in thin)
        self.coordinates = [c for c in found if c is not None]
        self._at = {c.name: i for i, c in enumerate(self.coordinates)}
        self._feasible = _Membership(prepared, start.condition)
        self._anchor: list[float] | None = None

    @property
    def dimension(self) -> int:
        """How many numbers a point has."""
        return len(self.coordinates) + (0 if self.hull is None else self.hull.dimension)

    def anchor(self, known: Mapping[str, float], parameters: Mapping[str, float]) -> None:
        """Tell a known initial state; points outside the initial set are moved towards it."""
        self._anchor = self._shares(known, parameters)

    def values(self, x: Sequence[float], parameters: Mapping[str, float]) -> dict[str, Given]:
        """The initial values of a point, moved towards the anchor until they lie in the set."""
        count = len(self.coordinates)
        thin = {} if self.hull is None else self.hull.at(x[count:])
        own = [min(max(v, 0.0), 1.0) for v in x[:count]]
        found = self._filled(own, thin, parameters)
        if self._anchor is not None and not self._feasible(found, parameters):
            found = self._moved(own, thin, parameters)
        return {n: self._given(n, found[n]) for n in (*self._at, *thin)}

    def point(self, given: Mapping[str, Given], parameters: Mapping[str, float]) -> list[float]:
        """The point whose values are most like the given ones; others are in the middle."""
        symbols = self._prepared.symbols
        known = {
            n: float(symbols.get(v, 0) if isinstance(v, str) else v)
            for n, v in given.items()
            if n in self._prepared.known
        }
        hull = [] if self.hull is None else self.hull.share(known)
        return [*self._shares(known, parameters), *hull]

    def _moved(self, x: Sequence[float], thin: Values, parameters: Mapping[str, float]) -> Values:
        assert self._anchor is not None
        share = 0.5
        for _ in range(REPAIRS):
            nearer = [a + share * (v - a) for v, a in zip(x, self._anchor, strict=True)]
            found = self._filled(nearer, thin, parameters)
            if self._feasible(found, parameters):
                return found
            share *= 0.5
        return self._filled(self._anchor, thin, parameters)

    def _filled(self, x: Sequence[float], thin: Values, parameters: Mapping[str, float]) -> Values:
        """All variables at the shares of the coordinates; what has none is in its middle."""

        def choose(name: str, ends: Ends) -> float:
            share = x[self._at[name]] if name in self._at else 0.5
            kind = self._prepared.types[name]
            if values_of(kind):
                return nth_value(self._prepared, name, share)
            if name not in self._at:
                return ends.at(share, kind.name == "int")
            return self._within(name, ends).at(share)

        return self._ranges.filled(thin, parameters, choose)

    def _shares(self, known: Mapping[str, float], parameters: Mapping[str, float]) -> list[float]:
        """The shares of the coordinates at known values; others are in the middle."""
        shares = [0.5] * len(self.coordinates)

        def choose(name: str, ends: Ends) -> float:
            kind, value = self._prepared.types[name], known.get(name)
            if name not in self._at:
                return ends.at(0.5) if value is None else value
            if value is not None and kind.values:
                codes = [float(self._prepared.symbols[v]) for v in kind.values]
                place = codes.index(value) if value in codes else 0
                shares[self._at[name]] = (place + 0.5) / len(codes)
            elif value is not None:
                shares[self._at[name]] = placed(self._within(name, ends), value)
            elif not values_of(kind):
                value = self._within(name, ends).at(0.5)
            return 0.0 if value is None else value

        self._ranges.filled({}, parameters, choose)
        return shares

    def _within(self, name: str, ends: Ends) -> Coordinate:
        """The coordinate of a variable between the ends of its range."""
        c = self.coordinates[self._at[name]]
        if values_of(self._prepared.types[name]):
            return c
        low, high = searched(ends.low, ends.high)
        if c.whole:
            low, high = math.ceil(low), math.floor(high)
        return Coordinate(name, low, max(low, high), c.whole)

    def _given(self, name: str, value: float) -> Given:
        """A value as the model's author knows it."""
        kind = self._prepared.types[name]
        if kind.name == "bool":
            return value != 0.0
        if kind.values:
            symbols = self._prepared.symbols
            return next(v for v in kind.values if symbols[v] == value)
        return value

    def _coordinate(self, name: str) -> Coordinate | None:
        box, kind = self._box, self._prepared.types[name]
        if name in dict(box.defined):
            return None
        if count := values_of(kind):
            return Coordinate(name, 0.0, count - 1.0, True) if count > 1 else None
        if name in self._ranges.moving:
            return Coordinate(name, -math.inf, math.inf, kind.name == "int")
        if self._ranges.is_open(name) and name in free_variables(box.rest):
            return None  # bound to others in a way that no range tells
        low, high = box.low.get(name), box.high.get(name)
        a, b = searched(
            None if low is None else number(low), None if high is None else number(high)
        )
        return Coordinate(name, a, b, kind.name == "int") if a < b else None


class _Membership:
    """Whether values lie in an initial set."""

    def __init__(self, prepared: Prepared, condition: Expression):
        self._tree = margin_tree(condition)
        self._leaves = Calculator(
            [leaf.expression for leaf in self._tree.leaves], prepared.symbols, prepared.externals
        )
        self._truths = [leaf.truth for leaf in self._tree.leaves]

    def __call__(self, values: Mapping[str, float], parameters: Mapping[str, float]) -> bool:
        known = {**dict.fromkeys(self._leaves.names, 0.0), **parameters, **values}
        margins = [
            (1.0 if v else -1.0) if truth else v
            for v, truth in zip(self._leaves(known), self._truths, strict=True)
        ]
        return self._tree(margins) >= -1e-12


def _hull(prepared: Prepared, start: Initial, box: Box) -> Polytope | None:
    """The set of the initial values that equations bind to each other, where those are linear
    and the same for all parameters and inputs."""
    linear = LinearStart(prepared, start.condition, box.defined)
    known = {p.name for p in prepared.view.parameters} | {i.name for i in prepared.inputs}
    if not linear.has_equations or not known.isdisjoint(free_variables(start.condition)):
        return None
    found = linear.polytope({})
    return found if found is not None and found.dimension > 0 else None
