"""The stepping core in plain Python: the reference for `core/` and its fallback.

One call of `advance` carries a location's state through time until a watched formula
becomes true, the end is reached, or no further step is possible. Every step:

1. the method gives a polynomial X(s) that extrapolates the state from data at or before t;
2. every watched guard is composed with X, giving a polynomial P(s), and the first s at
   which the formula can become true limits the step. The aim is not P = 0 but P = -delta
   (unilateral), with delta the tolerance of the guard, |dg/dx| tol, scaled by the expected
   error of so short a step; P = 0 (bilateral); or P = +delta (crossing);
3. the step is made and its error estimated; where a unilateral formula is true at the
   predicted or corrected state, the right-hand side is not evaluated and the step halved;
4. an event is declared where the formula holds with atoms g >= -eps, eps << delta.

At the start of a stretch an atom with |g| <= eps counts by its direction: if g is leaving
zero downwards it is false and stays so until it has left the band (`departing`).
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence

from workbench.simulate.stepping.methods import Detection, Method
from workbench.simulate.stepping.program import EQUALITY, FROZEN, STRICT, Program
from workbench.simulate.stepping.reference.adams import (
    INVERSE,
    UNCORRECTED,
    at,
    begin,
    choose,
    defect_point,
    defect_row,
    error_of,
    integrals,
    is_doubtful,
    method_order,
    new_differences,
    predictor,
    weight,
)
from workbench.simulate.stepping.reference.memory import Memory, finite
from workbench.simulate.stepping.reference.plan import plan
from workbench.simulate.stepping.reference.regular import regular_length
from workbench.simulate.stepping.stretch import Stop, Stretch


class Core(Memory):
    """The stepping loop."""

    def advance(self, until: float, active: Sequence[int]) -> Stretch:
        """Go on until an active watch is true or `until` is reached."""
        self.watch(until, active)
        return self.run() if self.ready() else self.result(Stop.NOT_FINITE)

    def ready(self) -> bool:
        """Make sure that there is a history at the current state."""
        if not self.started:
            self.values = self.guards(self.t, self.x)
        if self.started:
            good = not self.stale or self.renew(self.t, self.x)
        else:
            good = finite(self.x) and begin(self, math.inf)
        self.started, self.stale = good, False
        return good

    def run(self) -> Stretch:
        """Step after step."""
        while True:
            if self.taylor:
                self.order = self.degree = self.taylor_order
            else:
                predictor(self)
            remaining = self.until - self.t
            least = self.least()
            wanted = self.h
            h = min(self.h, self.method.max_step, remaining)
            fired: list[int] = []
            if self.method.detection == Detection.EXTRAPOLATION:
                planned, fired, grazing = plan(self, h if h > 0.0 else least)
                if fired:
                    return self.result(Stop.EVENT, fired, grazing)
                self.landing = planned < h
                h = min(h, planned)
            elif self.first:
                self.note_truth(self.values)
            self.first = False
            if remaining <= least:
                self.t = self.until
                return self.result(Stop.END)
            if self.steps >= self.method.max_steps:
                return self.result(Stop.STEP_LIMIT)
            h = max(h, least)
            if self.taylor and self.p.edged:
                self.regular = regular_length(self, h)
                h = max(min(h, self.regular), least)
            outcome = self.attempt(h, least)
            cut = self.t >= self.until and not self.taylor
            if cut and self.h < wanted and h > 0.01 * wanted:
                self.h = wanted  # cut short by the end of the stretch, not by the error
            if outcome is not None:
                return outcome

    def attempt(self, h: float, least: float) -> Stretch | None:
        """Make one step of at most h; None to go on."""
        blocked: list[int] = []
        failures = 0
        while True:
            t = self.until if h >= self.until - self.t else self.t + h
            self.shortest = h <= least
            kind, x, rows, error = self.try_step(t, h)
            if kind == "beyond":
                blocked = [int(w) for w in error]  # type: ignore[union-attr]
                if h <= least:
                    if self.is_entered(blocked):
                        self.land(t, x)
                    return self.result(Stop.EVENT, blocked, [])
                h = max(0.5 * h, least)
            elif kind == "singular":
                if h <= least:
                    return self.result(Stop.NOT_FINITE)
                h = max(0.25 * h, least)
            elif kind == "error":
                if h <= least:
                    return self.result(Stop.STEP_TOO_SMALL)
                assert isinstance(error, float)
                h = max(h * max(0.2, 0.8 * math.pow(error, -1.0 / (self.order + 1))), least)
                failures += 1
                if failures == 3 and self.order > 1:
                    if not begin(self, h):
                        return self.result(Stop.NOT_FINITE)
                    self.rejected += 1
                    return None
            else:
                assert isinstance(error, float)
                return self.accept(t, h, x, rows, error)
            self.rejected += 1

    def is_entered(self, fired: Sequence[int]) -> bool:
        """Whether all that is true one shortest step ahead are guards of edges that jump there,
        or begin to have a value: the state may go to where they hold."""
        watches = [self.p.watches[w] for w in fired]
        return all(
            w.touch and any(k >= 0 and self.jumps(k, self.trial) for k in w.tokens) for w in watches
        )

    def land(self, t: float, x: list[float]) -> None:
        """Go to the trial state without evaluating the flow there; the last piece leads to it."""
        self.t, self.x, self.values, self.started = t, x, self.trial, False

    def try_step(
        self, t: float, h: float
    ) -> tuple[str, list[float], list[list[float]], float | list[int]]:
        """Predict, evaluate, correct; what became of it, the state, the differences, the error."""
        looking = self.method.detection == Detection.EXTRAPOLATION
        self.excess, self.extra = 1.0, []
        x = at(self, h)
        self.trial = self.guards(t, x)
        found = self.beyond(self.trial)
        if found and looking:
            return "beyond", x, [], found
        if self.taylor:
            kind, error = self.judge_series(t, h, x)
            return kind, x, [], error
        self.beyond_count += bool(found)
        f = self.flow(t, x)
        if not finite(f):
            return "singular", x, [], 0.0
        q = self.order
        rows = new_differences(self, t, f, min(len(self.times), q + 1))
        total, milne = integrals(self, q, h)
        x = [x[i] + rows[q][i] * total for i in range(self.n)]
        if not finite(x):
            return "singular", x, [], 0.0
        error = error_of(self, rows[q], milne, x)
        if not error <= 1.0:
            return "error", x, rows, error
        if is_doubtful(self, rows, error, h, x):
            error = self.measured(rows, error, h, x)
            if not error <= 1.0:
                return "error", x, rows, error
        self.trial = self.guards(t, x)
        found = self.beyond(self.trial)
        if found and looking:
            return "beyond", x, [], found
        return "good", x, rows, error

    def judge_series(self, t: float, h: float, x: list[float]) -> tuple[str, float]:
        """What becomes of a step along a series, and its error. Where not even the shortest step
        is proved to be regular, or its last terms are not known to be small, that is the defect
        at its end: so a flow that is undefined at one point is passed, but no second such step
        in a row."""
        regular = h <= self.regular
        if not finite(x) or not (regular or self.proved):
            return "singular", 0.0
        if regular and h <= self.trusted:
            return "good", 0.0
        f = self.flow(t, x)
        if not finite(f):
            return "singular", 0.0
        worst = 0.0
        for i, row in enumerate(self.poly):
            slope = 0.0
            for j in range(self.degree, 0, -1):
                slope = slope * h + j * row[j]
            size = abs(f[i] - slope) * h / weight(self, i, x[i])
            worst = size if not size <= worst else worst
        return ("good" if worst <= 1.0 else "error"), worst

    def measured(self, rows: list[list[float]], error: float, h: float, x: list[float]) -> float:
        """Measure the error of a step by the defect at one place inside it, and correct the
        state by it; the larger of the estimated error and of what is left. The right-hand side
        is not evaluated beyond a guard."""
        s, inside, slope = defect_point(self, rows, h)
        if self.beyond(self.guards(self.t + s, inside)):
            return error
        f = self.flow(self.t + s, inside)
        if not finite(f):
            return math.inf
        self.extra = defect_row(self, f, slope, s, h)
        _, milne = integrals(self, self.order + 1, h)
        found = UNCORRECTED * error_of(self, self.extra, milne, x)
        for i in range(self.n):
            x[i] = x[i] + self.extra[i] * milne
        if found > error:
            self.excess = found / error if error > 0.0 else 1.0
            return found
        return error

    def accept(
        self, t: float, h: float, x: list[float], rows: list[list[float]], error: float
    ) -> Stretch | None:
        """Take a step: record it, choose the next order and step, renew the history."""
        self.record(rows, h)
        self.steps += 1
        if self.method.detection != Detection.EXTRAPOLATION:
            fired = self.newly_true(self.trial)
            if fired:
                t, x = self.located(self.t, t, x, fired)
                self.t, self.x, self.values = t, x, self.guards(t, x)
                self.started = False
                return self.result(Stop.EVENT, fired, [])
        if not self.taylor:
            choose(self, rows, error, h, x)
        self.t, self.x, self.values, self.h_before = t, x, self.trial, h
        self.proved = h <= self.regular
        if self.t >= self.until and not self.active:
            self.stale = True
            return self.result(Stop.END)
        return None if self.renew(t, x) else self.result(Stop.NOT_FINITE)

    def renew(self, t: float, x: list[float]) -> bool:
        """Evaluate the derivative at the accepted state and store it; False: not finite."""
        if self.taylor:
            return begin(self, math.inf)
        self.beyond_count += bool(self.beyond(self.values))
        f = self.flow(t, x)
        if not finite(f):
            return False
        rows = new_differences(self, t, f, len(self.times))
        room = method_order(self) + 2
        self.differences = rows[:room]
        self.times = [t, *self.times][:room]
        return True

    def record(self, rows: list[list[float]], h: float) -> None:
        """Store the piece of dense output; for Adams the corrected polynomial."""
        self.out_times.append(self.t)
        q = self.degree
        if self.taylor:
            self.out_degrees.append(q)
            for row in self.poly:
                self.out_coefficients.extend(row[: q + 1])
            return
        w, extra = self.basis[q], self.extra
        self.out_degrees.append(q + 2 if extra else q + 1)
        for i, row in enumerate(self.poly):
            top = rows[q][i]
            c = [row[0], *(row[e + 1] + top * (w[e] * INVERSE[e + 1]) for e in range(q))]
            c.append(0.0 + top * (w[q] * INVERSE[q + 1]))
            if extra:
                c.append(0.0)
                for e in range(q + 2):  # the integral of w_q(s) (s - h)
                    factor = (w[e - 1] if e else 0.0) - (h * w[e] if e <= q else 0.0)
                    c[e + 1] = c[e + 1] + extra[i] * (factor * INVERSE[e + 1])
            self.out_coefficients.extend(c)

    # Detection for comparison

    def exact_truth(self, values: Sequence[float]) -> list[bool]:
        """Every atom without tolerance."""
        truth = []
        for k, (_, sign, _, flags) in enumerate(self.p.atoms):
            v = values[k]
            if flags & FROZEN:
                truth.append((v != 0.0) == (sign > 0))
            elif flags & EQUALITY:
                truth.append((v == 0.0) == (sign > 0))
            else:
                truth.append(v > 0.0 if flags & STRICT else v >= 0.0)
        return truth

    def note_truth(self, values: Sequence[float]) -> None:
        """Remember which watches are true at the start."""
        truth = self.exact_truth(values)
        for w in self.active:
            self.was_true[w] = self.holds(w, truth)

    def newly_true(self, values: Sequence[float]) -> list[int]:
        """The watches that have become true."""
        truth, fired = self.exact_truth(values), []
        for w in self.active:
            now = self.holds(w, truth)
            if now and not self.was_true[w]:
                fired.append(w)
            self.was_true[w] = now
        return fired

    def located(
        self, start: float, end: float, x: list[float], fired: list[int]
    ) -> tuple[float, list[float]]:
        """Interpolation: bisect the last piece for the first time a formula is true."""
        if self.method.detection == Detection.ENDPOINT:
            return end, x
        degree = self.out_degrees[-1]
        size = self.n * (degree + 1)
        rows = self.out_coefficients[-size:] if size else array("d")
        low, high = 0.0, end - start
        for _ in range(60):
            middle = 0.5 * (low + high)
            if middle <= low or middle >= high:
                break
            truth = self.exact_truth(self.guards(start + middle, _evaluate(rows, degree, middle)))
            if any(self.holds(w, truth) for w in fired):
                high = middle
            else:
                low = middle
        return start + high, _evaluate(rows, degree, high)

    def result(self, stop: Stop, fired: Sequence[int] = (), grazing: Sequence[int] = ()) -> Stretch:
        """The stretch that ends here."""
        if stop in (Stop.NOT_FINITE, Stop.STEP_TOO_SMALL):
            self.started = False
        self.out_times.append(self.t)
        return Stretch(
            stop,
            self.t,
            tuple(self.x),
            tuple(fired),
            tuple(grazing),
            tuple(self.values),
            tuple(self.eps),
            (
                self.steps,
                self.rejected,
                self.evaluations,
                self.guard_evaluations,
                self.beyond_count,
                self.singular,
            ),
            (
                self.out_times.tobytes(),
                self.out_degrees.tobytes(),
                self.out_coefficients.tobytes(),
            ),
        )


def _evaluate(rows: Sequence[float], degree: int, s: float) -> list[float]:
    values = []
    for start in range(0, len(rows), degree + 1):
        value = rows[start + degree]
        for j in range(degree - 1, -1, -1):
            value = value * s + rows[start + j]
        values.append(value)
    return values


def advance(
    program: Program,
    method: Method,
    t: float,
    x: Sequence[float],
    held: Sequence[float],
    until: float,
    active: Sequence[int],
) -> Stretch:
    """Carry a state through time until an active watch is true or `until` is reached."""
    return Core(program, method, t, x, held).advance(until, active)
