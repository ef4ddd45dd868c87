"""The working memory of the reference core: evaluation of flows, guards and formulas."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence

from workbench.simulate.stepping.condition import AND, FALSE, OR, TRUE
from workbench.simulate.stepping.methods import RESIDUAL, Adams, Method, shortest_step
from workbench.simulate.stepping.program import (
    EQUALITY,
    FROZEN,
    STEPWISE,
    STRICT,
    UNDEFINED_HOLDS,
    Program,
)
from workbench.simulate.stepping.reference.roots import MAX_DEGREE
from workbench.simulate.stepping.reference.tape import execute, sensitivity

MAX_ORDER = 12
UNILATERAL, BILATERAL, CROSSING = 0, 1, 2


def finite(values: Sequence[float]) -> bool:
    """Whether all values are finite numbers."""
    return all(abs(v) < math.inf for v in values)


class Memory:
    """The working memory of one stretch, and what is evaluated in it."""

    def __init__(
        self,
        program: Program,
        method: Method,
        t: float,
        x: Sequence[float],
        held: Sequence[float],
    ):
        self.p, self.method, self.t = program, method, t
        self.n = len(program.flowing)
        self.x = list(x)
        self.r = list(program.registers)
        self.r[1 + self.n : 1 + self.n + len(held)] = list(held)
        self.spread = [0.0] * len(self.r)
        self.noise = [0.0] * len(self.r)
        self.low: list[float] = []
        self.high: list[float] = []
        self.gaps: list[bool] = []
        self.series = [[0.0] * (MAX_DEGREE + 1) for _ in self.r]
        for i in range(1 + self.n, len(self.r)):
            self.series[i][0] = self.r[i]
        count = len(program.atoms)
        self.started = self.stale = False
        self.values = [0.0] * count
        self.scale = [0.0] * count
        self.eps = [0.0] * count
        self.departing = [False] * count
        self.outside = [False] * count
        self.was_true = [False] * len(program.watches)
        self.taylor = not isinstance(method, Adams)
        self.order = 1
        self.taylor_order = 1
        self.trial: list[float] = []
        self.times: list[float] = []
        self.differences: list[list[float]] = []
        self.basis = [[0.0] * (MAX_ORDER + 2) for _ in range(MAX_ORDER + 3)]
        self.poly: list[list[float]] = []
        self.degree = 0
        self.h = 0.0
        self.h_before = math.inf
        self.trusted = self.regular = math.inf
        self.proved = True
        self.landing = self.shortest = False
        self.excess = 1.0
        self.extra: list[float] = []
        self.watch(t, ())

    def watch(self, until: float, active: Sequence[int]) -> None:
        """Prepare for a stretch: what to look at, and until when."""
        self.until, self.active, self.first = until, list(active), True
        self.used = [False] * len(self.p.atoms)
        for w in active:
            for token in self.p.watches[w].tokens:
                if token >= 0:
                    self.used[token] = True
        self.steps = self.rejected = self.evaluations = 0
        self.guard_evaluations = self.beyond_count = self.singular = 0
        self.out_times = array("d")
        self.out_degrees = array("i")
        self.out_coefficients = array("d")

    # Evaluation

    def flow(self, t: float, x: Sequence[float]) -> list[float]:
        """The derivatives at a point."""
        r = self.r
        r[0] = t
        r[1 : 1 + self.n] = x
        execute(self.p.flow, r, self.p.tables, self.p.externals)
        self.evaluations += 1
        f = [r[i] for i in self.p.derivatives]
        self.singular += not finite(f)
        return f

    def guards(self, t: float, x: Sequence[float]) -> list[float]:
        """The value sign*g of every atom at a point (g itself if frozen or an equality)."""
        r = self.r
        r[0] = t
        r[1 : 1 + self.n] = x
        execute(self.p.guard, r, self.p.tables, self.p.externals)
        self.guard_evaluations += 1
        return [a[1] * r[a[0]] if not a[3] & (FROZEN | EQUALITY) else r[a[0]] for a in self.p.atoms]

    def least(self) -> float:
        """The shortest step."""
        return shortest_step(self.t, self.until)

    def tolerances(self) -> None:
        """The tolerance of every atom at the current state. At the start, and until a guard
        has been left, what the clock cannot tell apart is tolerated, too: a state lies up to
        the shortest step from its event."""
        rtol, atol = self.method.rtol, self.method.atol
        least = self.least()
        self.guards(self.t, self.x)
        for i in range(self.n):
            size = abs(self.x[i])
            self.spread[1 + i] = atol + rtol * size
            self.noise[1 + i] = 2.0**-53 * size
        self.noise[0] = 2.0**-53 * abs(self.t)
        sensitivity(self.p.guard, self.r, self.spread, self.noise, self.p.tables, self.p.lipschitz)
        for k, (register, _, _, flags) in enumerate(self.p.atoms):
            if flags & FROZEN:
                continue
            scale, noise = self.spread[register], self.noise[register]
            if not scale < math.inf:
                scale = atol
            if not noise < math.inf:
                noise = 0.0
            self.scale[k] = scale
            self.eps[k] = RESIDUAL * scale + 4.0 * noise
            if self.used[k] and (self.first or self.departing[k]):
                clock = 4.0 * least * abs(self.series[register][1])
                if clock < math.inf:
                    self.eps[k] += clock

    # Formulas

    def holds(self, watch: int, truth: Sequence[bool]) -> bool:
        """The truth of a watch's formula, given that of the atoms."""
        stack: list[bool] = []
        for token in self.p.watches[watch].tokens:
            if token >= 0:
                stack.append(truth[token])
            elif token == TRUE:
                stack.append(True)
            elif token == FALSE:
                stack.append(False)
            else:
                b = stack.pop()
                a = stack.pop()
                assert token in (AND, OR)
                stack.append((a and b) if token == AND else (a or b))
        return stack[-1]

    def jumps(self, k: int, values: Sequence[float]) -> bool:
        """Whether an atom begins to have a value between the last state and the one with these
        values, or changes by more than its tolerance."""
        old, change = self.values[k], abs(values[k] - self.values[k])
        return not self.p.atoms[k][3] & FROZEN and (old != old or change > self.scale[k])

    def is_passed(self, k: int, values: Sequence[float]) -> bool:
        """Whether an equality is passed: zero lies between its values, and it does not jump
        over it."""
        v, old, eps = values[k], self.values[k], self.eps[k]
        if self.departing[k] or abs(old) <= eps or v * old > 0.0 or old != old:
            return False
        return not self.shortest or abs(v) <= eps or not self.jumps(k, values)

    def beyond(self, values: Sequence[float]) -> list[int]:
        """The active unilateral watches that are true strictly beyond their guards.

        An atom that already lies beyond by less than its tolerance, by rounding or because
        the boundary is held, may stay there; one that rests on an equality, close to it.
        """
        truth = []
        for k, (_, sign, _, flags) in enumerate(self.p.atoms):
            v, old = values[k], self.values[k]
            if flags & FROZEN:
                truth.append((v != 0.0) == (sign > 0))
            elif v != v:
                truth.append(bool(flags & UNDEFINED_HOLDS))
            elif flags & STEPWISE and not flags & EQUALITY and not v:
                truth.append(not flags & STRICT)
            elif not flags & EQUALITY:
                slack = self.eps[k] if 0.0 < old <= self.eps[k] else 0.0
                truth.append(not v <= slack)
            elif sign > 0:
                truth.append(self.is_passed(k, values))
            else:
                truth.append(abs(v) > (self.eps[k] if abs(old) <= self.eps[k] else 0.0))
        watches = self.p.watches
        return [w for w in self.active if watches[w].kind == UNILATERAL and self.holds(w, truth)]
