"""Numeric expressions along a trace, as piecewise polynomials of time.

Along one piece of dense output every variable is a polynomial, so a polynomial expression
is one too, and is composed exactly (up to rounding). Other expressions are interpolated at
Chebyshev points, and the piece is halved until the interpolant agrees with the expression
to `AGREEMENT` at points between.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from workbench.models.automaton import TIME
from workbench.models.expressions.expression import Expression
from workbench.models.expressions.operators import Op
from workbench.models.expressions.polynomial import PolynomialTooLargeError, polynomial_form
from workbench.models.expressions.traversal import free_variables, postorder, substitute
from workbench.models.interruption import go_on
from workbench.models.trace import Scalar, Segment, level
from workbench.simulate.inputs.signals import Formula, Signal, line_at
from workbench.simulate.monitoring.margin import Leaf
from workbench.simulate.monitoring.unit_polynomial import Polynomial, product, scaled
from workbench.simulate.stepping.calculator import Calculator
from workbench.simulate.stepping.tape import number

AGREEMENT = 1e-10
MAX_DEGREE = 64
INTERPOLATION_DEGREE = 8
MAX_HALVINGS = 12

Operation = tuple[Op, tuple[int, ...], float | str]
"""A step of the composition of polynomials: what it does, to which earlier steps, and the
number, name or exponent that it needs."""

Range = tuple[float, float]
Arc = tuple[float, float, Polynomial]
"""A start, an end, and a polynomial of u in [0, 1] between them."""


@dataclass(frozen=True)
class Along:
    """One expression in one location: polynomial where it is one, a calculator otherwise."""

    operations: tuple[Operation, ...] | None
    degrees: tuple[tuple[tuple[str, int], ...], ...]
    calculate: Calculator
    names: frozenset[str]
    timed: bool

    def moves(self, segment: Segment) -> bool:
        """Whether the expression may change during a segment."""
        return self.timed or not self.names.isdisjoint(segment.flowing)


class Piece:
    """A start, an end, and the flowing variables between them: polynomials of unit time with
    enclosures, made for those that somebody asks for. `order` numbers the variables."""

    __slots__ = ("_made", "_number", "_order", "_segment", "end", "start")

    def __init__(self, segment: Segment, number: int, order: Mapping[str, int]):
        self._segment, self._number, self._order = segment, number, order
        self.start = segment.times[number]
        self.end = segment.times[number + 1] if segment.degrees else segment.end
        self._made: dict[str, tuple[Polynomial, Range]] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._order

    def polynomial(self, name: str) -> Polynomial:
        """A flowing variable."""
        return self._of(name)[0]

    def range(self, name: str) -> Range:
        """An enclosure of its values (not rounded outwards)."""
        return self._of(name)[1]

    def _of(self, name: str) -> tuple[Polynomial, Range]:
        found = self._made.get(name)
        if found is None:
            row = self._segment.polynomial(self._number, self._order[name])
            p = scaled(row, self.end - self.start)
            spread = sum(map(abs, p)) - abs(p[0])
            found = self._made[name] = (p, (p[0] - spread, p[0] + spread))
        return found


class DenseValues:
    """Expressions of one model along its traces; compiled once for each location.

    `inputs` are the signals that were fed into the runs; `parameters` uncertain constants.
    """

    def __init__(
        self,
        symbols: Mapping[str, int],
        inputs: Mapping[str, Signal] | None = None,
        externals: Mapping[str, Callable[..., float]] | None = None,
    ):
        self.symbols, self.externals = symbols, externals or {}
        self.inputs: Mapping[str, Signal] = inputs or {}
        self._compiled: dict[tuple[str, Expression], Along] = {}
        self._last: tuple[Segment, list[Piece]] | None = None

    def compiled(self, expression: Expression, segment: Segment) -> Along:
        """The expression in terms of what a segment of this location records."""
        key = (segment.location, expression)
        found = self._compiled.get(key)
        if found is None:
            forms = {
                name: signal.expression
                for name, signal in self.inputs.items()
                if isinstance(signal, Formula)
            }
            whole = substitute(substitute(expression, dict(segment.derived)), forms)
            try:
                form = polynomial_form(whole)
            except PolynomialTooLargeError:
                form = None
            operations = None
            if form is not None and all(sum(e for _, e in m) <= 8 for m in form):
                operations = _operations(whole)
            calculate = Calculator([whole], self.symbols, self.externals)
            timed = TIME in free_variables(whole)
            degrees = tuple(form or ())
            names = frozenset(calculate.names)
            found = Along(operations, degrees, calculate, names, timed)
            self._compiled[key] = found
        return found

    def constants(
        self, along: Along, segment: Segment, parameters: Mapping[str, float]
    ) -> dict[str, Sequence[float]]:
        """What does not flow: numbers, or lines (a, b) for inputs a + b*time."""
        found: dict[str, Sequence[float]] = {}
        for name in along.names - set(segment.flowing):
            signal = self.inputs.get(name)
            if segment.is_instant and name in segment.inputs:
                found[name] = (as_number(level(segment.inputs[name], segment.end), self.symbols),)
            elif signal is not None and not isinstance(signal, Formula):
                found[name] = line_at(signal, segment.start)
            elif name in segment.held:
                found[name] = (as_number(segment.held[name], self.symbols),)
            elif name in parameters:
                found[name] = (parameters[name],)
            else:
                found[name] = (math.nan,)
        return found

    def arcs(
        self,
        expression: Expression,
        segment: Segment,
        parameters: Mapping[str, float],
        below: float = math.inf,
    ) -> list[Arc]:
        """The expression over a segment; one constant arc for a segment without duration.

        Pieces on which it certainly stays above `below` may be left out.
        """
        along = self.compiled(expression, segment)
        fixed = self.constants(along, segment, parameters)
        if not along.moves(segment) and all(len(line) == 1 for line in fixed.values()):
            known = {name: line[0] for name, line in fixed.items()}
            return [(segment.start, segment.end, [along.calculate(known)[0]])]
        arcs: list[Arc] = []
        levels = {n: (v[0], v[0]) for n, v in fixed.items() if len(v) == 1}
        for piece in self._pieces(segment):
            start, end = piece.start, piece.end
            length = end - start
            if below < math.inf and along.operations is not None and not along.timed:
                ranges = {n: piece.range(n) for n in along.names if n in piece}
                if lower_bound(along.operations, ranges | levels) > below:
                    continue
            polynomials: dict[str, Polynomial] = {TIME: [start, length]}
            for name in along.names:
                if name in piece:
                    polynomials[name] = piece.polynomial(name)
                    continue
                line = fixed[name]
                polynomials[name] = (
                    [line[0]] if len(line) == 1 else [line[0] + line[1] * start, line[1] * length]
                )
            if along.operations is not None and _fits(along, polynomials):
                arcs.append((start, end, _composed(along.operations, polynomials)))
            else:
                arcs += _interpolated(along.calculate, polynomials, start, end)
        return arcs

    def _pieces(self, segment: Segment) -> list[Piece]:
        """The pieces of a segment in unit time; those of the last segment are kept."""
        if self._last is None or self._last[0] is not segment:
            order = {name: i for i, name in enumerate(segment.flowing)}
            pieces = [Piece(segment, i, order) for i in range(len(segment.degrees) or 1)]
            self._last = (segment, pieces)
        return self._last[1]

    def margin(
        self,
        leaf: Leaf,
        segment: Segment,
        parameters: Mapping[str, float],
        below: float = math.inf,
        undefined: float = math.inf,
    ) -> Sequence[Arc]:
        """The margin of a leaf over a segment; infinite for a proposition. Pieces on which
        it stays above `below` may be left out; where it has no value (1/0, log(0), ...) it is
        `undefined`, as a rule so that nothing counts as violated there."""
        go_on()
        if leaf.truth:
            margin = math.inf if self._truth(leaf.expression, segment, parameters) else -math.inf
            return [(segment.start, segment.end, [margin])]
        arcs = [
            arc if all(map(math.isfinite, arc[2])) else (arc[0], arc[1], [undefined])
            for arc in self.arcs(leaf.expression, segment, parameters, below)
        ]
        resting = leaf.strict and len(arcs) == 1 and arcs[0][2] == [0.0]
        if resting and not self.compiled(leaf.expression, segment).moves(segment):
            return [(segment.start, segment.end, [-math.inf])]
        return arcs

    def _truth(
        self, proposition: Expression, segment: Segment, parameters: Mapping[str, float]
    ) -> bool:
        if proposition.op is Op.BOOLEAN:
            return bool(proposition.value)
        along = self.compiled(proposition, segment)
        known = {name: v[0] for name, v in self.constants(along, segment, parameters).items()}
        known.update(zip(segment.flowing, segment.final, strict=True))
        result = along.calculate(known)[0]
        return result == result and result != 0.0


def as_number(value: Scalar, symbols: Mapping[str, int]) -> float:
    """A recorded value as the tapes see it: symbols are numbered."""
    if isinstance(value, str):
        return float(symbols.get(value, math.nan))
    return float(value)


def _fits(along: Along, known: Mapping[str, Polynomial]) -> bool:
    return all(
        sum((len(known[name]) - 1) * e for name, e in powers) <= MAX_DEGREE
        for powers in along.degrees
    )


def _operations(root: Expression) -> tuple[Operation, ...] | None:
    """The steps that compose a polynomial expression from those of its variables, in its
    own form: multiplied out it would take more steps and lose digits."""
    numbers: dict[int, int] = {}
    steps: list[Operation] = []
    for node in postorder(root):
        args = tuple(numbers[id(a)] for a in node.args)
        if node.op is Op.CONSTANT:
            steps.append((node.op, (), number(node.constant)))
        elif node.op is Op.VARIABLE:
            steps.append((node.op, (), node.name))
        elif node.op in (Op.ADD, Op.MULTIPLY):
            steps.append((node.op, args, 0.0))
        elif node.op is Op.POWER and node.args[1].is_constant:
            steps.append((node.op, args[:1], number(node.args[1].constant)))
        else:
            return None
        numbers[id(node)] = len(steps) - 1
    return tuple(steps)


def _composed(steps: Sequence[Operation], known: Mapping[str, Polynomial]) -> Polynomial:
    made: list[Polynomial] = []
    for op, args, extra in steps:
        if op is Op.VARIABLE:
            made.append(known[str(extra)])
        elif op is Op.CONSTANT:
            made.append([float(extra)])
        elif op is Op.ADD:
            made.append(_total([made[i] for i in args]))
        elif op is Op.MULTIPLY:
            result = made[args[0]]
            for i in args[1:]:
                result = product(result, made[i])
            made.append(result)
        else:
            result = [1.0]
            for _ in range(int(extra)):
                result = product(result, made[args[0]])
            made.append(result)
    return made[-1]


def lower_bound(steps: Sequence[Operation], ranges: Mapping[str, Range]) -> float:
    """A bound of a polynomial expression from below by interval arithmetic (not rounded
    outwards: it only decides where to look closely)."""
    made: list[Range] = []
    for op, args, extra in steps:
        if op is Op.VARIABLE:
            found = ranges.get(str(extra))
            if found is None:
                return -math.inf
            made.append(found)
        elif op is Op.CONSTANT:
            made.append((float(extra), float(extra)))
        elif op is Op.ADD:
            made.append((sum(made[i][0] for i in args), sum(made[i][1] for i in args)))
        elif op is Op.MULTIPLY:
            made.append(_product_range([made[i] for i in args], args))
        else:
            made.append(_power_range(made[args[0]], int(extra)))
    return made[-1][0]


def _product_range(parts: Sequence[Range], args: Sequence[int]) -> Range:
    if len(args) == 2 and args[0] == args[1]:
        return _power_range(parts[0], 2)
    low, high = parts[0]
    for a, b in parts[1:]:
        corners = (low * a, low * b, high * a, high * b)
        low, high = min(corners), max(corners)
    return low, high


def _power_range(base: Range, exponent: int) -> Range:
    ends = (base[0] ** exponent, base[1] ** exponent)
    if exponent % 2 == 0 and base[0] < 0.0 < base[1]:
        return 0.0, max(ends)
    return min(ends), max(ends)


def _total(parts: Sequence[Polynomial]) -> Polynomial:
    result = [0.0] * max(map(len, parts))
    for part in parts:
        for i, c in enumerate(part):
            result[i] += c
    return result


# Interpolation


@cache
def _nodes() -> tuple[float, ...]:
    n = INTERPOLATION_DEGREE
    return tuple(0.5 - 0.5 * math.cos(math.pi * i / n) for i in range(n + 1))


def _newton(values: Sequence[float]) -> Polynomial:
    """The polynomial through the values at the nodes, in powers of u."""
    nodes, table = _nodes(), list(values)
    n = len(nodes)
    for order in range(1, n):
        for i in range(n - 1, order - 1, -1):
            table[i] = (table[i] - table[i - 1]) / (nodes[i] - nodes[i - order])
    result = [table[-1]]
    for i in range(n - 2, -1, -1):
        shifted = [0.0, *result]
        for j, c in enumerate(result):
            shifted[j] -= nodes[i] * c
        shifted[0] += table[i]
        result = shifted
    return result


def _interpolated(
    calculate: Calculator, known: Mapping[str, Polynomial], start: float, end: float
) -> list[Arc]:
    from workbench.simulate.monitoring.unit_polynomial import value

    def at(u: float) -> float:
        return calculate({name: value(p, u) for name, p in known.items()})[0]

    if end <= start:
        return [(start, end, [at(0.0)])]
    arcs: list[Arc] = []
    # a value near zero is known no better than the numbers it is computed from
    floor = max((abs(p[0]) for p in known.values()), default=1.0) + 1e-300
    stack = [(0.0, 1.0, 0)]
    while stack:
        low, high, depth = stack.pop()
        width = high - low
        p = _newton([at(low + width * u) for u in _nodes()])
        scale = max(floor, max(map(abs, p)))
        checks = (0.07, 0.31, 0.6, 0.86)
        error = max(abs(value(p, u) - at(low + width * u)) for u in checks)
        if not error > AGREEMENT * scale or depth >= MAX_HALVINGS or not math.isfinite(scale):
            place = start + (end - start) * low
            arcs.append((place, start + (end - start) * high, p))
        else:
            middle = 0.5 * (low + high)
            stack.append((middle, high, depth + 1))
            stack.append((low, middle, depth + 1))
    return arcs
