"""Where a run starts: a point of an initial set.

The policy picks a value in the range of one variable after the other (`simulate.start.ranges`);
the other parts of the condition are met by trying further points. Where that is hopeless (there
are equations) or fails, points are drawn from the polytope of the linear parts; at last the solver
is asked, which also tells when the set is empty. The invariant of the location must hold at the
start, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from random import Random

from workbench.models.automaton import Initial, ValueType
from workbench.models.expressions.expression import conjunction
from workbench.models.expressions.expression import constant as literal
from workbench.models.expressions.traversal import substitute
from workbench.models.record import record
from workbench.simulate.jump import Jump
from workbench.simulate.place import Prepared
from workbench.simulate.policy import Decisions, Level
from workbench.simulate.start.box import box_of
from workbench.simulate.start.first_values import first_value
from workbench.simulate.start.linear_start import LinearStart
from workbench.simulate.start.projection import Projection, projection
from workbench.simulate.start.ranges import Ends, Ranges

TRIES = 200
"""Points of the box that are tried."""

LINEAR_TRIES = 50
"""Points of the polytope that are tried before the solver is asked."""


@record
class NoStart:
    """Why no state was found."""

    reason: str


_ENDS = {Level.LOW: -1, Level.MID: 0, Level.HIGH: 1}


class StartFinder:
    """Finds start states of one initial set; compiled once, used by many runs."""

    def __init__(self, prepared: Prepared, start: Initial):
        self.prepared, self.start = prepared, start
        self.condition = start.condition
        if not start.resets:  # else the invariant is tested after the resets
            invariant = conjunction(*prepared.place(start.location).invariant)
            self.condition = conjunction(start.condition, invariant)
        box = box_of(self.condition)
        self._ranges = Ranges(prepared, box)
        self._holds = prepared.condition(self.condition)
        self._linear = LinearStart(prepared, self.condition, box.defined)
        self._is_thin = self._linear.has_equations
        self._projections: dict[frozenset[str], Projection | None] = {}
        pairs = [(c.variable, c.range) for c in start.resets]
        self.entry = Jump(
            pairs,
            prepared.known,
            prepared.symbols,
            prepared.externals,
            prepared.moving,
            prepared.whole,
        )

    def find(
        self, given: Mapping[str, float], environment: Mapping[str, float], decisions: Decisions
    ) -> dict[str, float] | NoStart:
        """Values of all variables, before the entry resets; `given` values are kept."""
        for name in sorted(self.prepared.whole & given.keys()):
            if given[name] != round(given[name]):
                return NoStart(f"{name} = {given[name]:g} is no whole number")
        points = self._points(given, environment, decisions)
        for values in points:
            if any(values[name] != round(values[name]) for name in self.prepared.whole):
                continue
            if self._holds({**environment, **values}, 1e-12, 1e-12):
                return values
        return self._ask(given, environment)

    def _points(
        self, given: Mapping[str, float], environment: Mapping[str, float], decisions: Decisions
    ) -> Iterator[dict[str, float]]:
        random = decisions.policy.level is Level.RANDOM
        draw = decisions.draw if random else Random(0).random
        if not self._is_thin:
            yield self._point(given, environment, decisions.share)
            for _ in range(TRIES):
                yield self._point(given, environment, draw)
        linear = self._linear.polytope({**environment, **given})
        if linear is not None and not random:
            end = linear.end(_ENDS[decisions.policy.level])
            yield self._point({**end, **given}, environment, decisions.share)
        for _ in range(LINEAR_TRIES if linear is not None or self._is_thin else 0):
            drawn = {} if linear is None else linear.sample(Random(draw()))
            values = self._point({**drawn, **given}, environment, draw)
            moved = self._projected(values, given, environment)
            yield values if moved is None else self._point({**moved, **given}, environment, draw)

    def _projected(
        self,
        values: Mapping[str, float],
        given: Mapping[str, float],
        environment: Mapping[str, float],
    ) -> dict[str, float] | None:
        """A point moved onto the equations, if not all of them are linear."""
        key = frozenset(given)
        if key not in self._projections:
            p = self.prepared
            curved = self._linear.curved(key)
            self._projections[key] = projection(*curved, p.symbols, p.externals)
        project = self._projections[key]
        moved = None if project is None else project({**environment, **values})
        return None if moved is None else {**values, **moved}

    def _point(
        self,
        given: Mapping[str, float],
        environment: Mapping[str, float],
        share: Callable[[], float],
    ) -> dict[str, float]:
        def choose(name: str, ends: Ends) -> float:
            return first_value(self.prepared, name, ends, share)

        return self._ranges.filled(given, environment, choose)

    def _ask(
        self, given: Mapping[str, float], environment: Mapping[str, float]
    ) -> dict[str, float] | NoStart:
        """The solver's answer: a state, or the reason why there is none."""
        from workbench.models.smt.solver import Unsatisfiable, Witness, satisfiable

        fixed = {
            name: literal(Fraction(value))
            for name, value in {**environment, **given}.items()
            if self._type(name).is_numeric
        }
        answer = satisfiable(substitute(self.condition, fixed), self.prepared.types)
        if isinstance(answer, Unsatisfiable):
            chosen = ", ".join(f"{n} = {v:g}" for n, v in given.items())
            return NoStart(
                f"no initial state of `{self.start.location}` has {chosen}"
                if chosen
                else f"the initial set of `{self.start.location}` is empty"
            )
        if not isinstance(answer, Witness):
            return NoStart(f"no initial state of `{self.start.location}` was found")
        values = dict.fromkeys(self.prepared.names, 0.0)
        for name, value in answer.values.items():
            if name in self.prepared.known:
                values[name] = self._as_number(value)
        values.update(given)
        return values

    def _type(self, name: str) -> ValueType:
        return self.prepared.types.get(name, ValueType("real"))

    def _as_number(self, value: object) -> float:
        if isinstance(value, str):
            return float(self.prepared.symbols[value])
        return float(value)  # type: ignore[arg-type]
