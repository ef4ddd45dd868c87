"""Bounds of a linear function along an affine flow, by a curve of its dual.

Let x' = A x + B w, and let a(s) be a curve with a(0) = d that follows a' = A'a except for jumps
by j_k at times s_k. With b = B'a, differentiating a(t - s) x(s) in s gives

    d x(t) = a(t) x(0) + integral over [0, t] of b(s) w(t - s) ds - sum of j_k x(t - s_k),

the sum over s_k < t. Here the curve is rounded to units of 2^-bits at the end of every step,
which makes the jumps; they are tiny, so a crude bound |x| <= M of the state is enough for
them. Norms are those of `models.checker.exponential`: |x| = max |x_j| / w_j, and the dual one
|a| = sum |a_j| w_j; |a x| <= |a| |x|. M is P (|x(0)| + S sup |B w|) with ||exp(A t)|| <= P on
[0, S] (variation of constants), or what the location's invariant says.

On a step of length h, T in [0, 1] the part of it that has passed, a = c_0 + c_1 T + ... with
c_i = (hA)'c_{i-1} / i. The first terms are computed in fixed point, rounding errors and the
tail of the series are bounded in the norm. An upper bound of d x(t) that is *linear* in T
follows from three facts:

- A support function is convex, so on the chord between the ends of the step it lies below the
  chord of its values. The curve differs from its chord by the sum over i >= 2 of
  -c_i (T - T^i), and 0 <= T - T^i <= gap(i).
- For a function g on [0, 1], the integral over [0, T] differs from T times that over [0, 1]
  by at most T (1 - T) <= 1/4 times the variation of g. Here g = max b w.
- The rest is charged for the whole step.

On the first step a second line is *anchored*: it starts at the exact support of the entry set.
There all charges may grow in proportion to T, because T - T^i <= T and T (1 - T) <= T, and
the jump at the end of the step moves the chord by T times as much; or the integral of b w is
bounded by T times its largest value.

How the curve and the integral of b move over a step: `models.checker.curve_steps`. Where A is zero
(derivatives are constant or in constant ranges) the curve stands still, the integral over a step
is h b, and nothing is charged unless that is no whole number of grains.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

from workbench.models.checker.affine_flow import AffineFlow, Signal, Span, Vector
from workbench.models.checker.curve_steps import Frame, StepOfCurve, balanced_matrix, step_of_curve
from workbench.models.checker.exponential import growth
from workbench.models.checker.start_set import GRAINS, StartSet, Support, times, upwards
from workbench.models.checker.uncertain_flow import centred_flow
from workbench.models.interruption import go_on


def gap(i: int) -> Fraction:
    """At least the largest T - T^i for T in [0, 1]."""
    return {2: Fraction(1, 4), 3: Fraction(2, 5), 4: Fraction(1, 2)}.get(i, Fraction(i - 1, i))


@dataclass(frozen=True)
class Stage:
    """`count` steps of the same length."""

    length: Fraction
    count: int


@dataclass(frozen=True)
class Chord:
    """On a step the function is at most `begin` at its start, `end` at its end, and at most
    what lies on the line between them."""

    begin: Fraction
    end: Fraction


@dataclass(frozen=True)
class Piece:
    """One step of a curve: where it ends, its support there, and what bounds need, in grains.
    `bends` are the supports of c_2, c_3, ...; `loss` is what the rest of the series adds to
    a x(0) at most; `pushes` are for each signal in it the integrals of b and of |b| (at
    least); `ranges` hold h b during the step; `swing` is a quarter of the variation of b w,
    and `stray` bounds |j x| and the errors of the integrals."""

    end: Vector
    support: Support
    bends: list[Support]
    loss: int
    pushes: list[tuple[Signal, int, int]]
    ranges: list[tuple[int, int]]
    swing: int
    stray: int


class FlowBounds:
    """Bounds of linear functions along one flow, for stays no longer than `stay`.

    `exponents` are those of the weights, by name (0 where it has none): any will do, good
    ones make bounds tighter.
    """

    def __init__(
        self,
        flow: AffineFlow,
        start: StartSet,
        stay: Fraction,
        exponents: Mapping[str, int],
        degree: int,
        bits: int,
    ):
        self.weights = [Fraction(2) ** exponents.get(name, 0) for name in flow.names]
        if flow.corners:
            flow = centred_flow(flow, start.spans, stay, self.weights)
        self.flow, self.start, self.degree, self.bits = flow, start, degree, bits
        self._measure(stay)
        self.frame = Frame(flow, tuple(self.members), tuple(self.weights), degree, bits)
        gaps = [gap(i) for i in range(2, degree + 1)]
        self._gap_unit = lcm(*(g.denominator for g in gaps))
        self._gaps = [int(g * self._gap_unit) for g in gaps]
        self._steps: dict[Fraction, StepOfCurve] = {}

    def _measure(self, stay: Fraction) -> None:
        """The names of which a bound M is known, closed under what derivatives read; a curve
        may only move among them."""
        flow = self.flow
        spans = dict(enumerate(self.start.spans))
        limits = {j: flow.limits.get(n, (None, None)) for j, n in enumerate(flow.names)}
        unbounded = {j for s in flow.signals if _size((s.low, s.high)) is None for j in s.column}
        started = {j for j, span in spans.items() if _size(span) is not None}
        grown = _closed(flow, started - unbounded)
        limited = _closed(flow, {j for j, span in limits.items() if _size(span) is not None})
        if grown <= limited:
            self.members = sorted(limited)
            self.mass = self._norm_of(limits)
        else:
            self.members = sorted(grown)
            entry = self._norm_of(spans)
            push: dict[int, Fraction] = dict.fromkeys(grown, Fraction(0))
            for signal in flow.signals:
                top = _size((signal.low, signal.high))
                for j in grown & signal.column.keys():
                    assert top is not None, "unbounded signals do not reach these names"
                    push[j] += abs(signal.column[j]) * top
            pushed = max(value / self.weights[j] for j, value in push.items())
            self.mass = growth(balanced_matrix(flow, self.members, self.weights), stay) * (
                entry + stay * pushed
            )
        bounded = all(_size(spans[j]) is not None for j in self.members)
        self.entry = min(self.mass, self._norm_of(spans)) if bounded else self.mass

    def _norm_of(self, spans: Mapping[int, Span]) -> Fraction:
        """The largest |x| over the members, each within its span."""
        sizes = ((_size(spans[j]), self.weights[j]) for j in self.members)
        return max((s / w for s, w in sizes if s is not None), default=Fraction(0))

    def chords(
        self, pieces: Iterator[Piece], direction: Vector, sign: int, rows: Sequence[int]
    ) -> Iterator[Chord]:
        """Bounds of sign * direction * x on every step, from the pieces of the direction's
        curve; `rows[k]` numbers a row of the start set that may help at the k-th end of a
        step (-1: none). It ends early where there is no bound."""
        pushed = strayed = 0
        here = self._support(direction, self.start.support(direction), sign, rows, 0)
        for k, piece in enumerate(pieces, start=1):
            there = self._support(piece.end, piece.support, sign, rows, k)
            bend = self._bend(piece, sign)
            push = _push(piece, sign)
            if here is None or there is None or push is None or bend is None:
                return
            strayed += piece.stray
            base = pushed + strayed + bend + piece.swing
            yield Chord(self._in_units(here + base), self._in_units(there + push + base))
            pushed += push
            here = there

    def anchored(
        self, piece: Piece, direction: Vector, sign: int, rows: Sequence[int]
    ) -> Chord | None:
        """A bound on the first step that is exact at its start."""
        whole = self.start.largest(self.start.support(direction), sign)
        unit = self.start.denominator << self.bits
        begins = [] if whole is None else [Fraction(whole, unit)]
        if rows and rows[0] >= 0:
            normal, bound = self.start.rows[rows[0]]
            own = {j: Fraction(sign * a, 1 << self.bits) for j, a in enumerate(direction) if a}
            if dict(normal) == own:
                begins.append(bound)
        there = self._support(piece.end, piece.support, sign, rows, 1)
        push = _push(piece, sign)
        bend = self._bend(piece, sign, anchored=True)
        if not begins or there is None or push is None or bend is None:
            return None
        pushed = min(push + 4 * piece.swing, _fastest(piece, sign))
        end = there + pushed + bend + piece.stray
        return Chord(min(begins), self._in_units(end))

    def _in_units(self, grains: int) -> Fraction:
        """A bound in grains as a number, rounded up to a unit."""
        return Fraction(upwards(grains, 1 << GRAINS), 1 << self.bits)

    def pieces(self, direction: Vector, stages: Sequence[Stage]) -> Iterator[Piece]:
        """The curve of a direction (in units of 2^-bits); nothing where it could move among
        names of which no bound is known, or the series does not converge fast enough."""
        fixed = {j for j, a in enumerate(direction) if a} - set(self.members)
        if any(j in column for column in self.flow.columns for j in fixed):
            return
        touched = _closed_downwards(self.flow, {j for j, a in enumerate(direction) if a})
        active = [k for k, s in enumerate(self.flow.signals) if touched & s.column.keys()]
        curve = direction
        for stage in stages:
            if not self.frame.norm:
                piece = self._still(curve, stage.length, active)
                for _ in range(stage.count):
                    go_on()
                    yield piece
                continue
            if self.frame.norm * stage.length >= self.degree + 1:
                return  # the tail of the series would have no bound
            step = self._steps.get(stage.length)
            if step is None:
                step = step_of_curve(self.frame, stage.length)
                self._steps[stage.length] = step
            found, still = None, False
            for _ in range(stage.count):
                go_on()
                if found is None or not still:
                    found = self._piece(curve, step, active)
                    still = found.end == curve  # then the next piece is the same
                    curve = found.end
                yield found

    def _still(self, curve: Vector, length: Fraction, active: list[int]) -> Piece:
        """A step of a curve that does not move, because A is zero."""
        pushes: list[tuple[Signal, int, int]] = []
        ranges: list[tuple[int, int]] = []
        stray = 0
        for number in active:
            signal = self.flow.signals[number]
            b = sum((value * curve[i] for i, value in signal.column.items()), Fraction(0))
            whole = length * b * (1 << GRAINS)
            integral = whole.numerator // whole.denominator
            lost = int(whole != integral)  # rounded by less than a grain
            stray += times(lost, _size((signal.low, signal.high)) or Fraction(0))
            pushes.append((signal, integral, abs(integral) + lost))
            ranges.append((integral, integral + lost))
        bends = [self.start.support([0] * len(curve))] * len(self._gaps)
        return Piece(curve, self.start.support(curve), bends, 0, pushes, ranges, 0, stray)

    def _piece(self, curve: Vector, step: StepOfCurve, active: list[int]) -> Piece:
        terms = step.terms(curve)
        blur = step.blur(terms[-1])
        end, integrals, slip = step.moved(terms)
        stray = times(slip + step.rounding, self.mass)
        along = list(zip(*(step.inputs(term) for term in terms), strict=True))
        bottom = step.inputs.denominator
        pushes: list[tuple[Signal, int, int]] = []
        ranges: list[tuple[int, int]] = []
        swing = 0
        for number in active:
            signal, b, integral = self.flow.signals[number], along[number], integrals[number]
            top = _size((signal.low, signal.high)) or Fraction(0)
            reach = times(blur, step.reaches[number])
            # The integral was rounded by less than a grain.
            stray += times(slip, top * step.blurs[number]) + times(1, top)
            size = 0
            if signal.low != signal.high:
                if _keeps_sign(b):
                    size = abs(integral) + 1 + times(2 * reach, step.length)
                else:
                    area = _absolute_integral(b)
                    top_area = upwards(area.numerator << GRAINS, area.denominator * bottom)
                    size = times(top_area + reach, step.length)
            pushes.append((signal, integral, size))
            high, low = (sum(max(0, sign * v) for v in b[1:]) + sign * b[0] for sign in (1, -1))
            ends = (upwards(end << GRAINS, bottom) + reach for end in (high, low))
            above, below = (times(end, step.length) for end in ends)
            ranges.append((-below, above))
            variation = upwards(sum(map(abs, b[1:])) << GRAINS, bottom) + 2 * reach
            swing += times(variation, top * step.length / 4)
        bends = [self.start.support(term) for term in terms[2:]]
        loss = times(blur, self.entry)
        return Piece(end, self.start.support(end), bends, loss, pushes, ranges, swing, stray)

    def _support(
        self, curve: Vector, support: Support, sign: int, rows: Sequence[int], k: int
    ) -> int | None:
        """At least the largest sign * curve * x(0), in grains."""
        whole = self.start.largest(support, sign)
        found = None if whole is None else upwards(whole << GRAINS, self.start.denominator)
        if k < len(rows) and rows[k] >= 0:
            other = self.start.by_row(curve, sign, rows[k], self.bits)
            if found is None or (other is not None and other < found):
                found = other
        return found

    def _bend(self, piece: Piece, sign: int, *, anchored: bool = False) -> int | None:
        """How far sign * a(T) x(0) can lie above its chord, in grains; anchored: divided by
        T."""
        total = 0
        gaps = [self._gap_unit] * len(self._gaps) if anchored else self._gaps
        for width, support in zip(gaps, piece.bends, strict=True):
            top = self.start.largest(support, -sign)
            if top is None:
                return None
            if top > 0:
                total += width * top
        return upwards(total << GRAINS, self._gap_unit * self.start.denominator) + piece.loss


def _size(span: Span) -> Fraction | None:
    """The largest absolute value within a span, if it is bounded."""
    low, high = span
    return None if low is None or high is None else max(abs(low), abs(high))


def _closed(flow: AffineFlow, names: set[int]) -> set[int]:
    """The largest subset whose derivatives read no name outside of it."""
    members = set(names)
    pending = [j for j in range(len(flow.names)) if j not in members]
    while pending:
        for i in flow.columns[pending.pop()]:
            if i in members:
                members.discard(i)
                pending.append(i)
    return members


def _closed_downwards(flow: AffineFlow, names: set[int]) -> set[int]:
    """The names, those that their derivatives read, and so on."""
    found = set(names)
    pending = list(names)
    while pending:
        fresh = flow.reads[pending.pop()] - found
        found |= fresh
        pending.extend(fresh)
    return found


def _push(piece: Piece, sign: int) -> int | None:
    """What the signals add to sign * d x over the step at most, in grains."""
    total = 0
    for signal, integral, size in piece.pushes:
        if signal.low is None or signal.high is None:
            return None
        total += times(sign * integral, signal.low + signal.high)
        total += times(size, signal.high - signal.low)
    return upwards(total, 2)


def _fastest(piece: Piece, sign: int) -> int:
    """At least the largest sign * h b w during the step, in grains; all signals bounded."""
    total = 0
    for (signal, _, _), (low, high) in zip(piece.pushes, piece.ranges, strict=True):
        corners = [
            sign * b * w for b in (low, high) for w in (signal.low, signal.high) if w is not None
        ]
        top = max(corners, default=Fraction(0))
        total += upwards(top.numerator, top.denominator)
    return total


def _keeps_sign(b: Sequence[int]) -> bool:
    """Whether one coefficient outweighs all later ones, the earlier being zero: then
    b_0 + b_1 T + ... does not change its sign on [0, 1]."""
    first = next((v for v in b if v), 0)
    return 2 * abs(first) >= sum(map(abs, b))


def _absolute_integral(b: Sequence[int]) -> Fraction:
    """At least the integral over [0, 1] of |b_0 + b_1 T + ... |: that of the chord's absolute
    value, and that of what lies between the chord and the polynomial."""
    begin, end = b[0], sum(b)
    area = Fraction(abs(begin) + abs(end), 2)
    if begin * end < 0:
        area = Fraction(begin * begin + end * end, 2 * (abs(begin) + abs(end)))
    for i, v in enumerate(b[2:], start=2):
        area += abs(v) * (Fraction(1, 2) - Fraction(1, i + 1))
    return area
