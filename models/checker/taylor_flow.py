"""Nonlinear flows, followed step by step with Taylor models.

Within a step the states are x(t) with x(0) = c + S y + slack, y in [-1, 1]^n, and t in [0, 1] the
part of the step that has passed. Let P(y, t) be any polynomials with P(y, 0) = c + S y, and R a
box of radii. If for all y, and all functions x with |x(t) - P(y, t)| <= R,

    f(x(t), w(t)) lies in q(y, t) + [-e, e]   and   h * integral of q - (P - P(y, 0)) <= d t,

then *growth* = d + h e bounds how far a solution strays: |x(t) - P(y, t)| <= slack + t growth,
provided that slack + growth < R.

Proof. Let t* be the largest time up to which |x - P| <= R holds (it holds at 0, where slack < R,
and the set of such times is closed). Until t* the derivative of x lies in q + [-e, e] at almost
all times, whatever the inputs do; integrating it, |x(t*) - P(y, t*)| <= slack + t* growth < R.
By continuity |x - P| <= R holds a little longer, unless the stay or the step is over. Nothing
is asked of f but that its values lie in the model: it need not be smooth, nor x unique.

Bounds of variables that the invariant implies hold throughout a stay, so they may be used
when f is enclosed. At the end of a step the states are written in new coordinates
(`models.checker.taylor_frame`), in which it is remembered what they have to do with the entry set.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from workbench.models.automaton import TIME, Kind
from workbench.models.checker.affine_flow import Span, common_bounds
from workbench.models.checker.intervals import Interval, IntervalArithmetic, UndefinedError
from workbench.models.checker.rational_matrix import Matrix, inverse
from workbench.models.checker.taylor_evaluation import Program
from workbench.models.checker.taylor_frame import Frame, Reached, turned
from workbench.models.checker.taylor_model import Model, Polynomial, TaylorArithmetic
from workbench.models.expressions.expression import ONE, ZERO, Expression
from workbench.models.lowering.problem import LinearProblem


@dataclass(frozen=True)
class NonlinearFlow:
    """The derivatives of the names that are followed in a location: two expressions each,
    between which it lies (the same one where it is given). `limits` are bounds of names and
    inputs that hold throughout a stay; `quantities` are expressions of interest by name."""

    names: tuple[str, ...]
    rates: tuple[tuple[Expression, Expression], ...]
    limits: Mapping[str, Span]
    inputs: frozenset[str]
    quantities: Mapping[str, Expression] = field(default_factory=dict)

    @cached_property
    def roots(self) -> tuple[Expression, ...]:
        """All expressions, in order."""
        return tuple(e for pair in self.rates for e in pair)


def nonlinear_flow(
    problem: LinearProblem, location: str, names: Sequence[str]
) -> NonlinearFlow | str:
    """The flow of the names in a location; a reason where one of them has no bounded rate."""
    automaton = problem.automaton
    place = automaton.location(location)
    moving = {v.name for v in automaton.variables if v.kind is Kind.ANALOG} - {TIME}
    rates: list[tuple[Expression, Expression]] = []
    for name in names:
        if name == TIME:
            rates.append((ONE, ONE))
        elif name not in moving:
            rates.append((ZERO, ZERO))
        else:
            allowed = place.flow_of(name)
            if allowed.low is None or allowed.high is None:
                return f"the derivative of {name} has no bounds in {location}"
            rates.append((allowed.low, allowed.high))
    limits = common_bounds(list(problem.invariant(location)))
    inputs = frozenset(u.name for u in automaton.inputs)
    measured = {name: e for e, name in problem.quantities(location).items()}
    return NonlinearFlow(tuple(names), tuple(rates), limits, inputs, measured)


class TaylorSteps:
    """Steps of one flow with polynomials of one degree; `memory` is that of r."""

    def __init__(self, flow: NonlinearFlow, order: int, memory: int, bits: int):
        self.flow, self.order, self.memory, self.bits = flow, order, memory, bits
        self._program = Program(flow.roots)
        self._measuring: dict[str, Program] = {}
        size = len(flow.names)
        self.arithmetics = [TaylorArithmetic(size, k, bits) for k in range(order + 1)]
        self._remembering = TaylorArithmetic(size, memory, bits)
        self._plain = IntervalArithmetic(bits)
        self._limits = {n: self._interval(span) for n, span in flow.limits.items()}

    def _interval(self, span: Span) -> tuple[int | None, int | None]:
        low, high = span
        return (
            None if low is None else self._plain.number(low).low,
            None if high is None else self._plain.number(high).high,
        )

    # The entry

    def begin(self, rows: Matrix, spans: Sequence[tuple[Fraction, Fraction]]) -> Frame:
        """The states whose products with the rows (an invertible matrix) lie in the spans."""
        back = inverse(rows)
        assert back is not None, "the entry's matrix is invertible"
        middle = [(low + high) / 2 for low, high in spans]
        unit = 1 << self.bits
        frame = Frame([], [], [], [], [[] for _ in spans], [0] * len(spans))
        for j, row in enumerate(back):
            exact = [sum((a * m for a, m in zip(row, middle, strict=True)), Fraction(0))]
            exact += [a * (high - low) / 2 for a, (low, high) in zip(row, spans, strict=True)]
            near = [round(a * unit) for a in exact]
            off = sum((abs(a * unit - b) for a, b in zip(exact, near, strict=True)), Fraction(0))
            frame.centre.append(near[0])
            frame.shape.append(near[1:])
            frame.slack.append(-(-off.numerator // off.denominator))
            frame.memory.append({self._remembering.symbol(j): unit})
        return frame

    # One step

    def approximated(self, frame: Frame, length: Fraction) -> list[Polynomial]:
        """P: Picard's iteration, whose k-th round gives the terms of degree k."""
        start = self.start(frame)
        found = [self.arithmetics[0].truncated(p)[0] for p in start]
        step = self._plain.number(length)
        for k in range(1, self.order + 1):
            low, high = self.arithmetics[k - 1], self.arithmetics[k]
            rates = self.rates(low, [low.truncated(p)[0] for p in found], None)
            found = [
                high.sum((high.model(p, 0), high.integral(rate, step))).polynomial
                for p, rate in zip(start, rates, strict=True)
            ]
        return found

    def grown(
        self, frame: Frame, length: Fraction, polynomials: list[Polynomial], radii: Sequence[int]
    ) -> list[int]:
        """The growth, if slack + growth < radius for every name; see the module's docstring."""
        low, high = self.arithmetics[-2], self.arithmetics[-1]
        step = self._plain.number(length)
        rates = self.rates(low, polynomials, radii)
        found = []
        for start, p, rate in zip(self.start(frame), polynomials, rates, strict=True):
            moved = high.integral(rate, step)
            total = dict(moved.polynomial)
            for terms, sign in ((start, 1), (p, -1)):
                for monomial, value in terms.items():
                    total[monomial] = total.get(monomial, 0) + sign * value
            found.append(sum(map(abs, total.values())) + moved.error)
        return found

    def start(self, frame: Frame) -> list[Polynomial]:
        """The states where a step begins, but for the slack of its frame."""
        symbols = [self._remembering.symbol(j) for j in range(len(frame.centre))]
        found = []
        for centre, row in zip(frame.centre, frame.shape, strict=True):
            terms = {symbol: value for symbol, value in zip(symbols, row, strict=True) if value}
            found.append({0: centre, **terms} if centre else terms)
        return found

    def rates(
        self,
        arithmetic: TaylorArithmetic,
        polynomials: list[Polynomial],
        radii: Sequence[int] | None,
    ) -> list[Model]:
        """Models of the derivatives where the states differ from polynomials by the radii."""
        values = self._values(arithmetic, polynomials, radii)
        made = self._program(arithmetic, values)
        return [
            a if pair[0] is pair[1] else arithmetic.hull(a, b)
            for a, b, pair in zip(made[::2], made[1::2], self.flow.rates, strict=True)
        ]

    def measured(self, name: str, reached: Reached) -> Model | None:
        """A model of a quantity on a step; None where it has no enclosure."""
        top = self.arithmetics[-1]
        values = self._values(top, reached.polynomials, reached.strayed)
        if name not in self._measuring:
            self._measuring[name] = Program((self.flow.quantities[name],))
        try:
            return self._measuring[name](top, values)[0]
        except UndefinedError:
            return None

    def _values(
        self,
        arithmetic: TaylorArithmetic,
        polynomials: list[Polynomial],
        radii: Sequence[int] | None,
    ) -> dict[str, Model]:
        """Models of names and inputs."""
        values: dict[str, Model] = {}
        for k, (name, p) in enumerate(zip(self.flow.names, polynomials, strict=True)):
            kept, beyond = arithmetic.truncated(p)
            error = 0 if radii is None else radii[k] + beyond
            own = arithmetic.model(kept, error)
            known = self._within(name, own.range)
            values[name] = Model(kept, error, known.low, known.high)
        for name in self.flow.inputs:
            low, high = self._limits.get(name, (None, None))
            if low is not None and high is not None:
                values[name] = arithmetic.constant(Interval(low, high))
        return values

    def _within(self, name: str, values: Interval) -> Interval:
        """What of an interval the invariant allows."""
        low, high = self._limits.get(name, (None, None))
        return values.meet(
            Interval(values.low if low is None else low, values.high if high is None else high)
        )

    # The next frame

    def turned(self, reached: Reached, matrix: Matrix) -> Frame | None:
        """The end of a step in the coordinates of a new frame V; None if it is singular."""
        return turned(self._remembering, reached, matrix)
