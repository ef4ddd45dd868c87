"""The linear part of an initial condition, as a polytope from which starts are drawn."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction

from workbench.models.automaton import REAL
from workbench.models.expressions.affine import LinearConstraint, linear_constraint
from workbench.models.expressions.expression import Expression, constant
from workbench.models.expressions.operators import Op
from workbench.models.expressions.traversal import conjuncts, free_variables, substitute
from workbench.simulate.place import Prepared
from workbench.simulate.start.polytope import Polytope, polytope


class LinearStart:
    """The comparisons of an initial condition that are affine in real variables, with the
    definitions `x == e` among them carried out. What is left out must be tested afterwards."""

    def __init__(
        self,
        prepared: Prepared,
        condition: Expression,
        defined: Sequence[tuple[str, Expression]],
    ):
        self._names, self._defined = prepared.names, defined
        self._real = frozenset(n for n in prepared.names if prepared.types[n] == REAL)
        self._parts = conjuncts(condition)
        self._cache: dict[tuple[tuple[str, float], ...], Polytope | None] = {}

    @property
    def has_equations(self) -> bool:
        """Whether the set is thin for certain: an equation is left beside the definitions."""
        linear = any(c.relation is Op.EQUAL for c in self._constraints({}) or ())
        return linear or bool(self.curved(())[0])

    def curved(self, given: Collection[str]) -> tuple[tuple[Expression, ...], tuple[str, ...]]:
        """The equations, if not all of them are linear, and the variables in them that are
        neither given nor defined."""
        known: dict[str, Expression] = {}
        for name, value in self._defined:
            if name not in given:
                known[name] = substitute(value, known)
        made = [p for part in self._parts if (p := substitute(part, known)).op is Op.EQUAL]
        found = tuple(p for p in made if p.args[0] != p.args[1])
        names = (free_variables(*found) & self._real) - {*given, *known}
        if all(linear_constraint(p) is not None for p in found):
            return (), ()
        return found, tuple(n for n in self._names if n in names)

    def polytope(self, fixed: Mapping[str, float]) -> Polytope | None:
        """The set of the variables that are neither fixed nor defined; None if it is empty, or
        if nothing is to be chosen."""
        read = free_variables(*self._parts, *(e for _, e in self._defined))
        key = tuple(sorted((n, v) for n, v in fixed.items() if n in read and math.isfinite(v)))
        if key not in self._cache:
            self._cache[key] = self._made(dict(key))
        return self._cache[key]

    def _made(self, fixed: Mapping[str, float]) -> Polytope | None:
        constraints = self._constraints(fixed)
        if not constraints:
            return None
        used = {n for c in constraints for n, _ in c.coefficients}
        return polytope([n for n in self._names if n in used], constraints)

    def _constraints(self, fixed: Mapping[str, float]) -> list[LinearConstraint] | None:
        """What the variables must satisfy; None if nothing can."""
        known = {n: constant(Fraction(v)) for n, v in fixed.items()}
        for name, value in self._defined:
            if name not in known:
                known[name] = substitute(value, known)
        found = []
        for part in self._parts:
            made = substitute(part, known)
            if not free_variables(made) <= self._real:
                continue
            c = linear_constraint(made)
            if c is not None and c.truth is False:
                return None
            if c is not None and c.truth is None and c.relation is not Op.NOT_EQUAL:
                found.append(c)
        return found
