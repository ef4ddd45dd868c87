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

from models.trace import Counts
from simulate.condition import AND, FALSE, OR, TRUE
from simulate.methods import Adams, Detection, Method
from simulate.program import EQUALITY, FROZEN, STRICT, Program
from simulate.reference_roots import MAX_DEGREE, nonnegative
from simulate.reference_tape import execute, extend_series, sensitivity
from simulate.stretch import Stop, Stretch
from simulate.tape import OPAQUE_DEGREE

MAX_ORDER = 12
INVERSE = (0.0, *(1.0 / k for k in range(1, MAX_DEGREE + 1)))
START_ORDER = 6
RESIDUAL = 1e-6
"""An event's residual is at most this part of the guard's tolerance, plus rounding."""

UNILATERAL, BILATERAL, CROSSING = 0, 1, 2
Intervals = list[tuple[float, float]]


class _Core:
    """The working memory of one stretch."""

    def __init__(
        self,
        program: Program,
        method: Method,
        t: float,
        x: Sequence[float],
        held: Sequence[float],
        until: float,
        active: Sequence[int],
    ):
        self.p, self.method, self.t, self.until = program, method, t, until
        self.n = len(program.flowing)
        self.x = list(x)
        self.r = list(program.registers)
        self.r[1 + self.n : 1 + self.n + len(held)] = list(held)
        self.spread = [0.0] * len(self.r)
        self.noise = [0.0] * len(self.r)
        self.series = [[0.0] * (MAX_DEGREE + 1) for _ in self.r]
        for i in range(1 + self.n, len(self.r)):
            self.series[i][0] = self.r[i]
        self.active = list(active)
        count = len(program.atoms)
        self.used = [False] * count
        for w in active:
            for token in program.watches[w].tokens:
                if token >= 0:
                    self.used[token] = True
        self.values = [0.0] * count
        self.scale = [0.0] * count
        self.eps = [0.0] * count
        self.departing = [False] * count
        self.was_true = [False] * len(program.watches)
        self.first = True
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
        self.steps = self.rejected = self.evaluations = 0
        self.guard_evaluations = self.beyond_count = self.singular = 0
        self.out_times = array("d")
        self.out_degrees = array("i")
        self.out_coefficients = array("d")

    # Evaluation

    def flow(self, t: float, x: Sequence[float]) -> list[float]:
        r = self.r
        r[0] = t
        r[1 : 1 + self.n] = x
        execute(self.p.flow, r, self.p.tables, self.p.externals)
        self.evaluations += 1
        f = [r[i] for i in self.p.derivatives]
        self.singular += not _finite(f)
        return f

    def guards(self, t: float, x: Sequence[float]) -> list[float]:
        r = self.r
        r[0] = t
        r[1 : 1 + self.n] = x
        execute(self.p.guard, r, self.p.tables, self.p.externals)
        self.guard_evaluations += 1
        return [a[1] * r[a[0]] if not a[3] & (FROZEN | EQUALITY) else r[a[0]] for a in self.p.atoms]

    def tolerances(self) -> None:
        """The tolerance of every atom at the current state."""
        rtol, atol = self.method.rtol, self.method.atol
        self.guards(self.t, self.x)
        for i in range(self.n):
            size = abs(self.x[i])
            self.spread[1 + i] = atol + rtol * size
            self.noise[1 + i] = 2.0**-53 * size
        self.noise[0] = 2.0**-53 * abs(self.t)
        sensitivity(self.p.guard, self.r, self.spread, self.noise, self.p.tables)
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

    def beyond(self, values: Sequence[float]) -> list[int]:
        """The active unilateral watches that are true strictly beyond their guards.

        Atoms that are not numbers count as true; one that already lies beyond by less than
        its tolerance, by rounding or because the boundary is held, may stay there."""
        truth = []
        for k, (_, sign, _, flags) in enumerate(self.p.atoms):
            v, old = values[k], self.values[k]
            if flags & FROZEN:
                truth.append((v != 0.0) == (sign > 0))
            elif not flags & EQUALITY:
                slack = self.eps[k] if 0.0 < old <= self.eps[k] else 0.0
                truth.append(not v <= slack)
            elif sign > 0:
                truth.append(not (self.departing[k] or abs(old) <= self.eps[k] or v * old > 0.0))
            else:
                truth.append(v != 0.0)
        watches = self.p.watches
        return [w for w in self.active if watches[w].kind == UNILATERAL and self.holds(w, truth)]

    # Looking ahead

    def compose(self) -> None:
        """The series of the guards along the extrapolation polynomial."""
        s, q = self.series, self.degree
        s[0][0], s[0][1] = self.t, 1.0
        for i in range(self.n):
            row = s[1 + i]
            for k in range(MAX_DEGREE + 1):
                row[k] = self.poly[i][k] if k <= q else 0.0
        for instruction in self.p.guard:
            span = self.span(self.p.degrees[instruction[1]])
            for k in range(MAX_DEGREE + 1):
                if k <= span:
                    extend_series(
                        (instruction,), s, k, self.p.tables, self.p.externals, self.p.degrees
                    )
                else:
                    s[instruction[1]][k] = 0.0
                    spare = instruction[4]
                    if 14 <= instruction[0] <= 20:
                        s[spare][k] = 0.0

    def span(self, degree: int) -> int:
        """How many powers of the composition are kept."""
        exact = degree * self.degree
        if degree < OPAQUE_DEGREE and exact <= MAX_DEGREE:
            return exact
        return min(MAX_DEGREE, self.degree + 6)

    def intervals(self, k: int, h: float) -> tuple[Intervals, float]:
        """Where an atom is (about to be) true within [0, h], and the step to which h must
        be cut because the composed series is not trusted further."""
        register, sign, kind, flags = self.p.atoms[k]
        v, whole = self.values[k], [(0.0, h)]
        if flags & FROZEN:
            return (whole if (v != 0.0) == (sign > 0) else []), h
        degree = self.span(self.p.degrees[register])
        cut = self.p.degrees[register] * self.degree > MAX_DEGREE
        row = self.series[register]
        flip = -1.0 if sign < 0 and not flags & EQUALITY else 1.0
        c = [flip * row[j] for j in range(degree + 1)]
        c[0] = v
        rest, power, last, before = 0.0, 1.0, 0.0, 0.0
        for j in range(1, degree + 1):
            power *= h
            before, last = last, abs(c[j]) * power
            rest += last
        if not rest < math.inf:
            return (whole if v > 0.0 else []), h
        tail = last + before if cut else 0.0
        eps, scale = self.eps[k], self.scale[k]
        if tail > scale and rest + 4.0 * tail >= 0.5 * abs(v):
            shorter = h * max(0.1, 0.9 * math.pow(scale / tail, 1.0 / (degree - 1)))
            if shorter < h:
                return [], shorter
        if flags & EQUALITY:
            return self.equality(k, sign, c, degree, h, rest), h
        if kind == CROSSING:
            if v <= 0.0:
                c[0] = v - self.wanted(k, c, 2.0 * eps)
            return nonnegative(c, degree, h), h
        if abs(v) > eps:
            self.departing[k] = False
            if v < 0.0 and rest < 0.5 * -v:
                return [], h
            if kind == UNILATERAL or v > 0.0:
                c[0] = v + self.delta(k, c, 0.5 * eps)
            return nonnegative(c, degree, h), h
        if self.first or self.departing[k]:
            way = self.direction(c, degree, h, eps)
            if way == 0:
                return ([] if flags & STRICT else whole), h
            if c[way] < 0.0:
                self.departing[k] = True
                return self.returning(c, degree, way, h), h
            self.departing[k] = False
        c[0] = 2.0 * eps
        return nonnegative(c, degree, h), h

    def delta(self, k: int, c: Sequence[float], least: float) -> float:
        """The distance kept from the guard: as wanted, at most half the present distance."""
        wanted, half = self.wanted(k, c, least), 0.5 * abs(c[0])
        return wanted if wanted < half else half

    def wanted(self, k: int, c: Sequence[float], least: float) -> float:
        """The guard's tolerance times the expected error of a step as short as the way."""
        reach = abs(c[0]) / abs(c[1]) if len(c) > 1 and abs(c[1]) > 0.0 else math.inf
        ratio = reach / self.h_before
        part = 1.0
        if ratio < 1.0:
            for _ in range(self.order + 1):
                part *= ratio
        wanted = self.scale[k] * part
        return least if wanted < least else wanted

    @staticmethod
    def direction(c: Sequence[float], degree: int, h: float, eps: float) -> int:
        """The first power by which the guard leaves the band |g| <= eps; 0 for none."""
        power = 1.0
        for j in range(1, degree + 1):
            power *= h
            if abs(c[j]) * power > eps:
                return j
        return 0

    @staticmethod
    def returning(c: Sequence[float], degree: int, way: int, h: float) -> Intervals:
        """A departing guard may come back: half the way to its return limits the step."""
        rest = list(c[way:])
        back = nonnegative(rest, degree - way, h)
        return [(0.5 * back[0][0], h)] if back else []

    def equality(
        self, k: int, sign: int, c: list[float], degree: int, h: float, rest: float
    ) -> Intervals:
        """`g == 0` holds in the slab |P| <= delta; `g != 0` outside the band."""
        v, eps, whole = c[0], self.eps[k], [(0.0, h)]
        inside = abs(v) <= eps
        if sign < 0:
            return [] if inside and self.direction(c, degree, h, eps) == 0 else whole
        if not inside:
            self.departing[k] = False
            if rest < 0.5 * abs(v):
                return []
            if v > 0.0:
                c = [-value for value in c]
            c[0] = c[0] + self.delta(k, c, 0.5 * eps)
            return nonnegative(c, degree, h)
        if self.first or self.departing[k]:
            way = self.direction(c, degree, h, eps)
            if way:
                self.departing[k] = True
                if c[way] > 0.0:
                    c = [-value for value in c]
                return self.returning(c, degree, way, h)
        return [(0.0, 0.0)]

    def earliest(self, watch: int, found: Sequence[Intervals]) -> float:
        """The first time at which a watch's formula is true; infinite for never."""
        times = [0.0]
        for token in self.p.watches[watch].tokens:
            if token >= 0:
                times.extend(low for low, _ in found[token])
        times.sort()
        for time in times:
            truth = [any(a <= time <= b for a, b in part) for part in found]
            if self.holds(watch, truth):
                return time
        return math.inf

    def plan(self, h: float) -> tuple[float, list[int], list[int]]:
        """The step allowed by the watches, and the watches that are true now."""
        if not self.active:
            return h, [], []
        self.compose()
        if self.near(h):
            self.tolerances()
        found: list[Intervals] = [[] for _ in self.p.atoms]
        for _ in range(8):
            shortest = h
            for k, used in enumerate(self.used):
                if used:
                    found[k], limit = self.intervals(k, h)
                    shortest = min(shortest, limit)
            if shortest >= h:
                break
            h = shortest
        fired, limit = [], h
        for w in self.active:
            time = self.earliest(w, found)
            if time == 0.0:
                fired.append(w)
            elif time < limit:
                limit = time
        grazing = [w for w in fired if self.grazes(w, h)]
        return limit, fired, grazing

    def near(self, h: float) -> bool:
        """Whether some atom may matter within h, so that tolerances must be up to date."""
        if self.first:
            return True
        for k, used in enumerate(self.used):
            register, _, _, flags = self.p.atoms[k]
            if not used or flags & FROZEN:
                continue
            degree = self.span(self.p.degrees[register])
            row, rest, power, last, before = self.series[register], 0.0, 1.0, 0.0, 0.0
            for j in range(1, degree + 1):
                power *= h
                before, last = last, abs(row[j]) * power
                rest += last
            if self.p.degrees[register] * self.degree > MAX_DEGREE:
                rest += 4.0 * (last + before)
            v = abs(self.values[k])
            if not rest < 0.5 * v or v <= 4.0 * self.eps[k]:
                return True
        return False

    def grazes(self, watch: int, h: float) -> bool:
        """Whether a true formula only touches: some atom is within its band, and none that
        is gets beyond its tolerance before it has left again."""
        touching = False
        for token in self.p.watches[watch].tokens:
            if token < 0 or self.p.atoms[token][3] & (FROZEN | EQUALITY):
                continue
            v, eps = self.values[token], self.eps[token]
            if abs(v) > eps:
                continue
            register, sign, _, _ = self.p.atoms[token]
            degree = self.span(self.p.degrees[register])
            c = [sign * self.series[register][j] for j in range(degree + 1)]
            c[0] = v - self.scale[token]
            if nonnegative(c, degree, h):
                return False
            end = 0.0
            for j in range(degree, 0, -1):
                end = (end + c[j]) * h
            touching = touching or v + end < -eps
        return touching

    # Methods

    def weight(self, i: int, other: float) -> float:
        size = max(abs(self.x[i]), abs(other))
        return self.method.atol + self.method.rtol * size

    def taylor_series(self, order: int) -> int:
        """Taylor coefficients of the state at (t, x), in `poly`; the order that is finite."""
        s, n = self.series, self.n
        s[0][0], s[0][1] = self.t, 1.0
        for k in range(2, MAX_DEGREE + 1):
            s[0][k] = 0.0
        for i in range(n):
            s[1 + i][0] = self.x[i]
        self.poly = [[0.0] * (MAX_DEGREE + 1) for _ in range(n)]
        for i in range(n):
            self.poly[i][0] = self.x[i]
        for k in range(order):
            extend_series(self.p.flow, s, k, self.p.tables, self.p.externals, self.p.degrees)
            self.evaluations += 1
            for i in range(n):
                value = s[self.p.derivatives[i]][k] / (k + 1)
                if not abs(value) < math.inf:
                    self.singular += k == 0
                    return k
                s[1 + i][k + 1] = value
            for i in range(n):
                self.poly[i][k + 1] = s[1 + i][k + 1]
        return order

    def series_step(self, order: int) -> float:
        """The step at which the last two Taylor terms are within the tolerance."""
        h = math.inf
        for k in (order - 1, order):
            if k < 1:
                continue
            worst = 0.0
            for i in range(self.n):
                size = abs(self.poly[i][k]) / self.weight(i, self.x[i])
                worst = max(worst, size)
            if worst > 0.0:
                h = min(h, math.pow(worst, -1.0 / k))
        return h

    def start_adams(self, shorter: float) -> bool:
        """Begin (again) at the current state; False where the derivative is not finite."""
        n = self.n
        if self.p.differentiable:
            order = self.taylor_series(min(START_ORDER, self.method_order()))
            if order == 0 and n:
                return False
            h = 0.8 * self.series_step(order) if n else math.inf
        else:
            f = self.flow(self.t, self.x)
            if not _finite(f):
                return False
            self.poly = [[0.0] * (MAX_DEGREE + 1) for _ in range(n)]
            worst = 0.0
            for i in range(n):
                self.poly[i][0], self.poly[i][1] = self.x[i], f[i]
                worst = max(worst, abs(f[i]) / self.weight(i, self.x[i]))
            order, h = 1, 0.5 * math.sqrt(1.0 / worst) if worst > 0.0 else math.inf
        h = min(h, shorter, self.method.max_step)
        span = self.until - self.t
        self.h = h if h < span else span
        self.order = max(order, 1)
        self.times = [self.t - i * self.h for i in range(self.order)]
        self.virtual_history()
        self.h_before = self.h
        return True

    def virtual_history(self) -> None:
        """Divided differences of the derivative at equally spaced past points, taken from
        the Taylor polynomial of the derivative."""
        q, n = self.order, self.n
        table = []
        for j in range(q):
            s = -(j * self.h)
            row = []
            for i in range(n):
                value = 0.0
                for k in range(q, 0, -1):
                    value = value * s + k * self.poly[i][k]
                row.append(value)
            table.append(row)
        self.differences = [table[0]]
        for j in range(1, q):
            for m in range(q - j):
                gap = self.times[m] - self.times[m + j]
                for i in range(n):
                    table[m][i] = (table[m][i] - table[m + 1][i]) / gap
            self.differences.append(list(table[0]))
            table[0] = list(table[0])
        self.differences[0] = [self.poly[i][1] for i in range(n)]

    def method_order(self) -> int:
        return self.method.max_order if isinstance(self.method, Adams) else self.method.order

    def predictor(self) -> None:
        """The extrapolation polynomial x + integral of the interpolated derivatives, and
        the monomial coefficients of the Newton basis w_j(s) = prod_{i<j} (s - s_i)."""
        q, n, w = self.order, self.n, self.basis
        top = min(len(self.times), q + 1)
        w[0][0] = 1.0
        for j in range(top):
            s = self.times[j] - self.t
            w[j + 1][j + 1] = w[j][j]
            for m in range(j, 0, -1):
                w[j + 1][m] = w[j][m - 1] - s * w[j][m]
            w[j + 1][0] = -s * w[j][0]
        for i in range(n):
            row = self.poly[i]
            row[0] = self.x[i]
            for m in range(q):
                total = 0.0
                for j in range(m, q):
                    total += self.differences[j][i] * (w[j][m] * INVERSE[m + 1])
                row[m + 1] = total
        self.degree = q

    def at(self, h: float) -> list[float]:
        values = []
        for row in self.poly:
            value = row[self.degree]
            for j in range(self.degree - 1, -1, -1):
                value = value * h + row[j]
            values.append(value)
        return values

    def integrals(self, j: int, h: float) -> tuple[float, float]:
        """The integrals over [0, h] of w_j(s) and of w_{j-1}(s) (s - h)."""
        total, milne, power = 0.0, 0.0, h
        for m in range(j + 1):
            total += self.basis[j][m] * power * INVERSE[m + 1]
            if m < j:
                milne -= self.basis[j - 1][m] * power * h * INVERSE[m + 1] * INVERSE[m + 2]
            power *= h
        return total, milne

    def new_differences(self, t: float, f: list[float], top: int) -> list[list[float]]:
        rows = [f]
        for j in range(1, top + 1):
            inverse = 1.0 / (t - self.times[j - 1])
            last, old = rows[j - 1], self.differences[j - 1]
            rows.append([(last[i] - old[i]) * inverse for i in range(self.n)])
        return rows

    def error(self, row: list[float], factor: float, x: Sequence[float]) -> float:
        worst = 0.0
        for i in range(self.n):
            size = abs(row[i] * factor) * (1.0 / self.weight(i, x[i]))
            if not size <= worst:
                worst = size
        return worst

    def growth(self, error: float, order: int) -> float:
        if error <= 0.0:
            return 4.0
        return min(4.0, 0.8 * math.pow(error, -1.0 / (order + 1)))

    def choose(self, rows: list[list[float]], error: float, h: float, x: Sequence[float]) -> None:
        """The order and step that promise most, from the errors at orders q-1, q, q+1."""
        q = self.order
        best, order = self.growth(error, q), q
        if q > 1:
            _, milne = self.integrals(q - 1, h)
            lower = self.growth(self.error(rows[q - 1], milne, x), q - 1)
            if lower > best:
                best, order = lower, q - 1
        if q < self.method_order() and len(self.times) > q:
            _, milne = self.integrals(q + 1, h)
            higher = self.growth(self.error(rows[q + 1], milne, x), q + 1)
            if higher > best:
                best, order = higher, q + 1
        self.order = order
        self.h = h * max(0.2, min(best, 2.5))

    # The loop

    def run(self) -> Stretch:
        self.values = self.guards(self.t, self.x)
        for k, (_, _, _, flags) in enumerate(self.p.atoms):
            if not flags & FROZEN and self.used[k] and self.values[k] != self.values[k]:
                return self.result(Stop.NOT_FINITE)
        if not (_finite(self.x) and self.begin(math.inf)):
            return self.result(Stop.NOT_FINITE)
        while True:
            if self.taylor:
                self.order = self.degree = self.taylor_order
            else:
                self.predictor()
            remaining = self.until - self.t
            least = 1.8e-15 * max(abs(self.t), abs(self.until))
            h = min(self.h, self.method.max_step, remaining)
            fired: list[int] = []
            if self.method.detection == Detection.EXTRAPOLATION:
                planned, fired, grazing = self.plan(h if h > 0.0 else least)
                if fired:
                    return self.result(Stop.EVENT, fired, grazing)
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
            outcome = self.attempt(h, least)
            if outcome is not None:
                return outcome

    def begin(self, shorter: float) -> bool:
        if not self.taylor:
            return self.start_adams(shorter)
        order = self.taylor_series(self.method_order())
        if order == 0 and self.n:
            return False
        self.taylor_order = max(order, 1)
        h = 0.5 * self.series_step(order) if self.n else math.inf
        self.h = h if h < shorter else shorter
        self.h_before = self.h
        return True

    def attempt(self, h: float, least: float) -> Stretch | None:
        """Make one step of at most h; None to go on."""
        blocked: list[int] = []
        failures = 0
        while True:
            t = self.until if h >= self.until - self.t else self.t + h
            kind, x, rows, error = self.try_step(t, h)
            if kind == "beyond":
                blocked = [int(w) for w in error]  # type: ignore[union-attr]
                if h <= least:
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
                    if not self.begin(h):
                        return self.result(Stop.NOT_FINITE)
                    self.rejected += 1
                    return None
            else:
                assert isinstance(error, float)
                return self.accept(t, h, x, rows, error)
            self.rejected += 1

    def try_step(
        self, t: float, h: float
    ) -> tuple[str, list[float], list[list[float]], float | list[int]]:
        looking = self.method.detection == Detection.EXTRAPOLATION
        x = self.at(h)
        self.trial = self.guards(t, x)
        found = self.beyond(self.trial)
        if found and looking:
            return "beyond", x, [], found
        if self.taylor:
            return ("good" if _finite(x) else "singular"), x, [], 0.0
        self.beyond_count += bool(found)
        f = self.flow(t, x)
        if not _finite(f):
            return "singular", x, [], 0.0
        q = self.order
        rows = self.new_differences(t, f, min(len(self.times), q + 1))
        total, milne = self.integrals(q, h)
        x = [x[i] + rows[q][i] * total for i in range(self.n)]
        if not _finite(x):
            return "singular", x, [], 0.0
        error = self.error(rows[q], milne, x)
        if not error <= 1.0:
            return "error", x, rows, error
        self.trial = self.guards(t, x)
        found = self.beyond(self.trial)
        if found and looking:
            return "beyond", x, [], found
        return "good", x, rows, error

    def accept(
        self, t: float, h: float, x: list[float], rows: list[list[float]], error: float
    ) -> Stretch | None:
        self.record(rows, h)
        self.steps += 1
        if self.method.detection != Detection.EXTRAPOLATION:
            fired = self.newly_true(self.trial)
            if fired:
                t, x = self.located(self.t, t, x, fired)
                self.t, self.x, self.values = t, x, self.guards(t, x)
                return self.result(Stop.EVENT, fired, [])
        if not self.taylor:
            self.choose(rows, error, h, x)
        self.t, self.x, self.values, self.h_before = t, x, self.trial, h
        if self.t >= self.until and not self.active:
            return self.result(Stop.END)
        return self.renew(t, x)

    def renew(self, t: float, x: list[float]) -> Stretch | None:
        """Evaluate the derivative at the accepted state and store it."""
        if self.taylor:
            return None if self.begin(math.inf) else self.result(Stop.NOT_FINITE)
        self.beyond_count += bool(self.beyond(self.values))
        f = self.flow(t, x)
        if not _finite(f):
            return self.result(Stop.NOT_FINITE)
        rows = self.new_differences(t, f, len(self.times))
        room = self.method_order() + 2
        self.differences = rows[:room]
        self.times = [t, *self.times][:room]
        return None

    def record(self, rows: list[list[float]], h: float) -> None:
        """Store the piece of dense output; for Adams the corrected polynomial."""
        self.out_times.append(self.t)
        q = self.degree
        if self.taylor:
            self.out_degrees.append(q)
            for row in self.poly:
                self.out_coefficients.extend(row[: q + 1])
            return
        self.out_degrees.append(q + 1)
        for i, row in enumerate(self.poly):
            self.out_coefficients.append(row[0])
            for m in range(q):
                weight = self.basis[q][m] * INVERSE[m + 1]
                self.out_coefficients.append(row[m + 1] + rows[q][i] * weight)
            self.out_coefficients.append(0.0 + rows[q][i] * (self.basis[q][q] * INVERSE[q + 1]))

    # Detection for comparison

    def exact_truth(self, values: Sequence[float]) -> list[bool]:
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
        truth = self.exact_truth(values)
        for w in self.active:
            self.was_true[w] = self.holds(w, truth)

    def newly_true(self, values: Sequence[float]) -> list[int]:
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
        self.out_times.append(self.t)
        return Stretch(
            stop,
            self.t,
            array("d", self.x),
            tuple(fired),
            tuple(grazing),
            array("d", self.values),
            array("d", self.eps),
            Counts(
                self.steps,
                self.rejected,
                self.evaluations,
                self.guard_evaluations,
                self.beyond_count,
                self.singular,
            ),
            self.out_times,
            self.out_degrees,
            self.out_coefficients,
        )


def _finite(values: Sequence[float]) -> bool:
    return all(abs(v) < math.inf for v in values)


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
    return _Core(program, method, t, x, held, until, active).run()
