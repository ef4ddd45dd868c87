"""Input signals given by formulas with jumps and kinks, cut where these are.

A formula of time with conditionals, `min`, `max`, `abs`, `sign` or `floor` is smooth only
between the times at which a branch changes. Each branch becomes a held truth value, and each
piece a held number (see `simulate.locking`), so that the formula is smooth as long as they keep
their values; when they change, an input changes, as at a step of a piecewise signal.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from workbench.models.automaton import TIME, EventKind
from workbench.models.expressions.expression import negation, variable
from workbench.models.expressions.traversal import substitute
from workbench.simulate.inputs.signals import Formula
from workbench.simulate.locking import HeldBranches, branch_name, lock, piece_name
from workbench.simulate.stepping.calculator import Calculator, Externals
from workbench.simulate.stepping.engine import Stepper
from workbench.simulate.stepping.methods import Taylor
from workbench.simulate.stepping.program import Watched, compile_program

TIGHT = Taylor(rtol=1e-13, atol=1e-15)
NEAR = 1e-9
"""A change is found within this part of its time before it is pinned to one number."""


class KinkedFormula:
    """A signal whose branches and pieces are held: `expression` reads `names` beside time."""

    def __init__(self, name: str, formula: Formula, externals: Externals):
        locked = lock({name: formula.expression}, ())
        own = [piece_name(k) for k in range(len(locked.pieces))]
        own += [branch_name(k) for k in range(len(locked.conditions))]
        self.names = tuple(f"{name}.{n}" for n in own)
        renamed = {old: variable(new) for old, new in zip(own, self.names, strict=True)}
        self.expression = substitute(locked.flows[name], renamed)
        self._branches = HeldBranches(locked, {}, externals)
        self._first = len(locked.pieces)  # of the branches among the names
        self._value = Calculator([self.expression], {}, externals)
        conditions = [substitute(c, renamed) for c in locked.conditions]
        self._program = compile_program(
            flowing=(),
            held=self.names,
            flows=(),
            watches=[Watched(w, EventKind.CROSSING) for c in conditions for w in (c, negation(c))],
            externals=externals,
        )

    def held(self, t: float) -> dict[str, float]:
        """The branches and pieces from t on."""
        return dict(zip(self.names, self._branches({TIME: t}).values(), strict=True))

    def value(self, values: Mapping[str, float]) -> float:
        """The signal, given the time and what is held."""
        return self._value(values)[0]

    def next_change(self, t: float, until: float) -> float:
        """The first time after t at which a branch or a piece changes; infinite for never
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
        return [2 * k + (held[n] != 0.0) for k, n in enumerate(self.names[self._first :])]

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
