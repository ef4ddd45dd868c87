"""Input signals given by formulas with jumps and kinks, cut where these are.

A formula of time with conditionals, `min`, `max`, `abs`, `sign` or `floor` is smooth only
between the times at which a branch changes. Each branch becomes a held truth value, and each
`floor` a held number, so that the formula is smooth as long as they keep their values; when
they change, an input changes, as at a step of a piecewise signal.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from models.automaton import TIME, EventKind
from models.expressions.expression import Expression, negation, variable
from models.expressions.operators import Op
from models.expressions.traversal import free_variables, rebuild, substitute, with_arguments
from simulate.inputs.signals import Formula
from simulate.locking import branch_name, lock
from simulate.stepping.calculator import Calculator, Externals
from simulate.stepping.engine import Stepper
from simulate.stepping.methods import Taylor
from simulate.stepping.program import Watched, compile_program

TIGHT = Taylor(rtol=1e-13, atol=1e-15)
NEAR = 1e-9
"""A change is found within this part of its time before it is pinned to one number."""


class KinkedFormula:
    """A signal whose branches and floors are held: `expression` reads `names` beside time."""

    def __init__(self, name: str, formula: Formula, externals: Externals):
        floored, floors = _without_floors(name, formula.expression)
        locked = lock({name: floored}, ())
        branches = {branch_name(k): f"{name}.branch {k}" for k in range(len(locked.conditions))}
        renamed = {old: variable(new) for old, new in branches.items()}
        self.expression = substitute(locked.flows[name], renamed)
        self.names = (*floors, *branches.values())
        self._floors = [(n, Calculator([e], {}, externals)) for n, e in floors.items()]
        self._branches = Calculator(locked.conditions, {}, externals)
        self._value = Calculator([self.expression], {}, externals)
        watches = []
        for n, e in floors.items():
            watches += [e >= variable(n) + 1, e < variable(n)]
        for condition in locked.conditions:
            watches += [condition, negation(condition)]
        self._program = compile_program(
            flowing=(),
            held=self.names,
            flows=(),
            watches=[Watched(w, EventKind.CROSSING) for w in watches],
            externals=externals,
        )

    def held(self, t: float) -> dict[str, float]:
        """The branches and floors from t on."""
        known = {TIME: t}
        for name, argument in self._floors:
            (value,) = argument(known)
            known[name] = float(math.floor(value)) if math.isfinite(value) else 0.0
        known.update(zip(self.names[len(self._floors) :], self._branches(known), strict=True))
        del known[TIME]
        return known

    def value(self, values: Mapping[str, float]) -> float:
        """The signal, given the time and what is held."""
        return self._value(values)[0]

    def next_change(self, t: float, until: float) -> float:
        """The first time after t at which a branch or a floor changes; infinite for never
        before `until`."""
        before = self.held(t)
        while t < until:
            stepper = Stepper(self._program, TIGHT, t, [], [before[n] for n in self.names])
            found = stepper.advance(until, self._awaited(before))
            if not found.fired:
                return math.inf
            reached = max(found.t, math.nextafter(t, math.inf))
            late = min(reached + NEAR * max(reached, 1e-3), until)
            for end in (reached, late):
                if self.held(end) != before:
                    return self._pinned(t, end, before)
            t = late  # touched, not changed
        return math.inf

    def _awaited(self, held: Mapping[str, float]) -> list[int]:
        """The watches of what is not so now."""
        count = 2 * len(self._floors)
        branches = self.names[len(self._floors) :]
        wanted = [count + 2 * k + (held[n] != 0.0) for k, n in enumerate(branches)]
        return [*range(count), *wanted]

    def _pinned(self, t: float, end: float, before: Mapping[str, float]) -> float:
        """The first number at which something is not as before."""
        low = max(t, end - 4.0 * NEAR * max(end, 1e-3))
        if self.held(low) != before:
            low = t
        while math.nextafter(low, math.inf) < end:
            middle = 0.5 * (low + end)
            low, end = (middle, end) if self.held(middle) == before else (low, middle)
        return end


def kinked(name: str, formula: Formula, externals: Externals) -> KinkedFormula | None:
    """The signal cut at its kinks; None if it is smooth."""
    found = KinkedFormula(name, formula, externals)
    return found if found.names else None


def _without_floors(name: str, expression: Expression) -> tuple[Expression, dict[str, Expression]]:
    """The expression with every `floor` of something that moves replaced by a held number,
    and what each of them is the floor of (which reads earlier ones only)."""
    floors: dict[str, Expression] = {}
    names: dict[Expression, str] = {}

    def replace(node: Expression, args: tuple[Expression, ...]) -> Expression:
        if node.op is not Op.FLOOR or TIME not in free_variables(node):
            return with_arguments(node, args)
        if args[0] not in names:
            names[args[0]] = f"{name}.floor {len(names)}"
            floors[names[args[0]]] = args[0]
        return variable(names[args[0]])

    return rebuild(expression, replace), floors
