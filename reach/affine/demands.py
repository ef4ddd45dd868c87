"""What the locations of a model ask of a flowpipe: flows, conditions, and directions that count."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

from workbench.models.automaton import TIME
from workbench.models.checker.affine_flow import AffineFlow, affine_flow
from workbench.models.checker.stay_conditions import Conditions, conditions_in
from workbench.models.lowering.problem import LinearProblem
from workbench.reach.affine.flowpipe_parts import JumpCase, Normal
from workbench.reach.affine.step_evidence import Key, key_of, scaled_to_grid


class Demands:
    """The demands of each location, worked out when somebody first asks for them. `flows` are
    those that are known already."""

    def __init__(self, problem: LinearProblem, flows: dict[str, AffineFlow]):
        self.problem = problem
        self._flows = flows
        self._conditions: dict[str, Conditions] = {}
        self._cases: dict[str, list[JumpCase]] = {}
        self._templates: dict[str, tuple[Normal, ...]] = {}

    def flow(self, location: str) -> AffineFlow:
        """The flow of a location."""
        found = self._flows.get(location)
        if found is None:
            found = self._flows[location] = affine_flow(self.problem, location)
        return found

    def conditions(self, location: str) -> Conditions:
        """What the conditions of a location say in rows."""
        found = self._conditions.get(location)
        if found is None:
            found = self._conditions[location] = conditions_in(self.problem, location)
        return found

    def cases(self, location: str) -> list[JumpCase]:
        """The cases of the edges that leave a location, in the order of the obligations: those
        that are possible on the first step only are the last."""
        found = self._cases.get(location)
        if found is None:
            found = [
                JumpCase(number, jump.name, jump.target, jump.rows, jump.at_entry)
                for number, jump in enumerate(self.conditions(location).jumps)
            ]
            self._cases[location] = found
        return found

    def template(self, location: str) -> tuple[Normal, ...]:
        """Normals of entry rows of a location: axes, and what its conditions speak about."""
        found = self._templates.get(location)
        if found is None:
            names = self.problem.names
            chosen: dict[Key, Normal] = {}
            for name in sorted(names - {TIME}):
                for sign in (1, -1):
                    include(chosen, {name: Fraction(sign)})
            include(chosen, {TIME: Fraction(-1)})
            if TIME in names:
                include(chosen, {TIME: Fraction(1)})
            for normal in self._condition_normals(location):
                include(chosen, normal)
            found = self._templates[location] = tuple(chosen.values())
        return found

    def directions(self, location: str) -> tuple[Normal, ...]:
        """Directions in which the stays of a location are to be bounded: those of its template
        where it can be left, else those that its own conditions speak about."""
        if self.cases(location):
            return self.template(location)
        chosen: dict[Key, Normal] = {}
        include(chosen, {TIME: Fraction(-1)})
        for normal in self._condition_normals(location):
            include(chosen, normal)
        return tuple(chosen.values())

    def _condition_normals(self, location: str) -> Iterator[Normal]:
        """Directions that refute guards, invariants and bad sets of a location."""
        names = self.problem.names
        conditions = self.conditions(location)
        cases = [*(bad.rows for bad in conditions.bad), *conditions.staying]
        cases += [jump.rows for jump in conditions.jumps]
        for rows in cases:
            for row in rows:
                if row.form.coefficients and row.form.coefficients.keys() <= names:
                    yield {n: -a for n, a in row.form.coefficients.items()}


def include(chosen: dict[Key, Normal], normal: Mapping[str, Fraction]) -> None:
    """Add a direction, on the grid of binary fractions, unless it is there already."""
    dyadic = all(a.denominator & (a.denominator - 1) == 0 for a in normal.values())
    chosen.setdefault(key_of(normal), normal if dyadic else scaled_to_grid(normal))
