"""Stays in a location with nonlinear dynamics: a node of a flowpipe, and its rows.

A `TaylorNode` speaks about stays that begin in a parallelotope, given by pairs of rows: as many
pairs as names are followed, their normals an invertible matrix. The certificate gives the
lengths of the steps, the radii R and the frames V; the checker computes the polynomials, checks
that the solutions keep within the radii, and bounds each direction on each step by a line in the
elapsed time (`models.checker.taylor_flow` has the theorem).

On a step, d x = q_0(y) + q_1(y) t + q_2(y) t^2 + ... + stray. It lies below the chord between
its bounds at t = 0 and t = 1 plus the sum over k >= 2 of -q_k(y) (t - t^k), and
0 <= t - t^k <= gap(k). The part that is linear in y is bounded through what is remembered of y,
the rest through y in [-1, 1]^n. A direction may also be a quantity of the location, one of the
nonlinear expressions in its conditions; its polynomial comes from the models of the states.
On the first step a second line starts at the exact support of
the entry set: there the bends are charged in proportion to t, as is the growth.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import comb, lcm

from workbench.models.checker.adjoint import Chord, gap
from workbench.models.checker.covers import Region
from workbench.models.checker.intervals import UndefinedError
from workbench.models.checker.rational_matrix import Matrix, inverse
from workbench.models.checker.taylor_flow import NonlinearFlow, TaylorSteps
from workbench.models.checker.taylor_frame import FRAME_BITS, Reached
from workbench.models.checker.taylor_model import MAX_ORDER, Polynomial
from workbench.models.expressions.traversal import free_variables
from workbench.models.linear import Form
from workbench.models.work import TERM, spend

MAX_NAMES = 200
MAX_BITS = 2048
MAX_STEPS = 100_000
MAX_FRAME = 1 << 64
MAX_TERMS = 20_000
"""The number of monomials of the names that derivatives read."""
MAX_LENGTH = 1 << 40


class NotEnclosedError(Exception):
    """A step proves nothing: the solutions may leave the radii; the message says where."""


@dataclass(frozen=True)
class TaylorStep:
    """One step: its length, the radius of every name, and the frame in which its end is
    written (none for the last step)."""

    length: Fraction
    radii: tuple[Fraction, ...]
    frame: tuple[tuple[Fraction, ...], ...] = ()


@dataclass(frozen=True)
class TaylorNode:
    """Stays in one location that begin where all `entry` forms are at most 0: pairs
    a x - high and low - a x. The `names` are followed, along steps, with polynomials of degree
    `order`, of which the terms up to the degree `memory` are remembered from step to step."""

    location: str
    names: tuple[str, ...]
    entry: tuple[Form, ...]
    normals: tuple[Mapping[str, Fraction], ...]
    steps: tuple[TaylorStep, ...]
    order: int
    memory: int
    bits: int

    @property
    def region(self) -> Region:
        """The entry set as a region of one cell."""
        return Region(self.location, self.entry, ((1,) * len(self.entry),))

    @property
    def count(self) -> int:
        """The number of steps."""
        return len(self.steps)

    @property
    def ends(self) -> Iterator[Fraction]:
        """The ends of the steps, 0 first."""
        now = Fraction(0)
        yield now
        for step in self.steps:
            now += step.length
            yield now

    @cached_property
    def rows(self) -> list[list[Fraction]]:
        """The matrix of the entry's normals."""
        return [
            [form.coefficients.get(name, Fraction(0)) for name in self.names]
            for form in self.entry[::2]
        ]

    @cached_property
    def back(self) -> list[list[Fraction]] | None:
        """The inverse of that matrix."""
        return inverse(self.rows)

    @property
    def spans(self) -> list[tuple[Fraction, Fraction]]:
        """Between which numbers the products with the rows lie."""
        pairs = zip(self.entry[::2], self.entry[1::2], strict=True)
        return [(low.constant, -high.constant) for high, low in pairs]


@dataclass(frozen=True)
class Stretch:
    """What holds on one step: a chord for each direction (None: no bound), and those anchored
    at the entry on the first step."""

    begin: Fraction
    end: Fraction
    chords: list[Chord | None]
    anchored: list[Chord | None]


def stretches(flow: NonlinearFlow, node: TaylorNode) -> Iterator[Stretch]:
    """The steps of a node, each checked; `NotEnclosedError` where one proves nothing."""
    read = sum(name in free_variables(*flow.roots) for name in node.names)
    if comb(read + 1 + node.order, node.order) > MAX_TERMS:
        raise NotEnclosedError("the order is too high for so many names")
    machine = TaylorSteps(flow, node.order, node.memory, node.bits)
    frame = machine.begin(node.rows, node.spans)
    unit = 1 << node.bits
    begin = Fraction(0)
    for number, step in enumerate(node.steps):
        where = f"step {number + 1}"
        try:
            polynomials = machine.approximated(frame, step.length)
            radii = [int(r * unit) for r in step.radii]
            growth = machine.grown(frame, step.length, polynomials, radii)
        except UndefinedError as error:
            raise NotEnclosedError(f"{where}: {error}") from None
        for name, slack, more, radius in zip(node.names, frame.slack, growth, radii, strict=True):
            if slack + more >= radius:
                raise NotEnclosedError(f"{where}: {name} may stray farther than its radius")
        reached = Reached(frame, polynomials, growth)
        end = begin + step.length
        yield stretch(machine, node, reached, begin, end)
        begin = end
        if number + 1 < len(node.steps):
            turned = machine.turned(reached, step.frame)
            if turned is None:
                raise NotEnclosedError(f"{where}: its frame is singular")
            frame = turned


def stretch(
    machine: TaylorSteps, node: TaylorNode, reached: Reached, begin: Fraction, end: Fraction
) -> Stretch:
    """The bounds of all directions on one step."""
    bounds = StepBounds(machine, reached)
    chords: list[Chord | None] = []
    anchored: list[Chord | None] = []
    for normal in node.normals:
        if quantity := _quantity(machine.flow, normal):
            chords.append(bounds.of_quantity(quantity, normal[quantity]))
            anchored += [None] * (begin == 0)
            continue
        weights, unit = _whole(normal, node.names)
        line = bounds.line(weights)
        chords.append(Chord(*(bounds.number(v, unit) for v in line.chord)))
        if begin == 0:
            anchored.append(Chord(support(node, normal), bounds.number(line.anchored, unit)))
    return Stretch(begin, end, chords, anchored)


def _quantity(flow: NonlinearFlow, normal: Mapping[str, Fraction]) -> str | None:
    """The quantity that a direction speaks about, if it does."""
    name = next(iter(normal))
    return name if len(normal) == 1 and name in flow.quantities else None


def support(node: TaylorNode, normal: Mapping[str, Fraction]) -> Fraction:
    """The largest value of a direction on the entry set; exact."""
    back = node.back
    assert back is not None, "the entry's matrix is invertible"
    vector = [normal.get(name, Fraction(0)) for name in node.names]
    total = Fraction(0)
    for j, (low, high) in enumerate(node.spans):
        weight = sum((v * row[j] for v, row in zip(vector, back, strict=True) if v), Fraction(0))
        total += weight * (high if weight > 0 else low)
    return total


@dataclass(frozen=True)
class _Line:
    """Bounds of a direction at the begin and the end of a step, and at the end of the line
    that is anchored at the begin."""

    chord: tuple[int, int]
    anchored: int


class StepBounds:
    """Bounds of directions, vectors of whole numbers, on one step; in units, rounded up."""

    def __init__(self, machine: TaylorSteps, reached: Reached):
        self._machine, self._bits, self._reached = machine, machine.bits, reached
        self._measured: dict[str, tuple[_Line, _Line] | None] = {}
        self._arithmetic = machine.arithmetics[-1]
        self._symbols = [self._arithmetic.symbol(j) for j in range(len(reached.frame.rest))]
        self._lines: dict[tuple[int, ...], tuple[_Line, _Line]] = {}

    def line(self, weights: tuple[int, ...]) -> _Line:
        """The bounds of a direction; opposite ones are computed together."""
        first = next((w for w in weights if w), 0)
        key = weights if first >= 0 else tuple(-w for w in weights)
        if key not in self._lines:
            self._lines[key] = self._both(key)
        return self._lines[key][0 if first >= 0 else 1]

    def of_quantity(self, name: str, factor: Fraction) -> Chord | None:
        """The bounds of a quantity times a factor."""
        if name not in self._measured:
            model = self._machine.measured(name, self._reached)
            self._measured[name] = (
                None if model is None else self._lines_of(model.polynomial, model.error, 0)
            )
        lines = self._measured[name]
        if lines is None:
            return None
        line = lines[0 if factor > 0 else 1]
        begin, end = (Fraction(v, 1 << self._bits) * abs(factor) for v in line.chord)
        return Chord(begin, end)

    def number(self, bound: int, unit: int) -> Fraction:
        """A bound of a direction times `unit`, in units, as a number, rounded up."""
        return Fraction(-(-bound // unit), 1 << self._bits)

    def _both(self, weights: tuple[int, ...]) -> tuple[_Line, _Line]:
        total: Polynomial = {}
        slack = growth = 0
        frame = self._reached.frame
        for weight, p, own, more in zip(
            weights, self._reached.polynomials, frame.slack, self._reached.growth, strict=True
        ):
            if weight:
                for monomial, value in p.items():
                    total[monomial] = total.get(monomial, 0) + weight * value
                slack += abs(weight) * own
                growth += abs(weight) * more
        return self._lines_of(total, slack, growth)

    def _lines_of(self, total: Polynomial, slack: int, growth: int) -> tuple[_Line, _Line]:
        """Bounds of a polynomial up to slack + t growth, and of its negative."""
        parts = self._arithmetic.by_time(total)
        begins = self._range(parts.get(0, {}))
        ends = self._range(self._arithmetic.at_end(total))
        found = []
        for sign in (1, -1):
            begin, end = (r[1] if sign > 0 else -r[0] for r in (begins, ends))
            bend, steep = self._bends(parts, sign)
            found.append(
                _Line(
                    (begin + slack + bend, end + slack + growth + bend),
                    end + slack + growth + steep,
                )
            )
        return found[0], found[1]

    def _bends(self, parts: Mapping[int, Polynomial], sign: int) -> tuple[int, int]:
        """How far the function lies above its chord, at most and in proportion to t."""
        bend, steep = Fraction(0), 0
        for power, part in parts.items():
            if power >= 2:
                values = self._arithmetic.range_of(part)
                top = max(0, -values.low if sign > 0 else values.high)
                bend += gap(power) * top
                steep += top
        return -(-bend.numerator // bend.denominator), steep

    def _range(self, polynomial: Polynomial) -> tuple[int, int]:
        """Bounds of a polynomial of y: see the module's docstring."""
        frame, bits = self._reached.frame, self._bits
        others = dict(polynomial)
        linear: Polynomial = {}
        traces = [0] * len(frame.spread[0])
        rest = widest = 0
        spend(TERM * len(self._symbols) * len(traces))
        for j, symbol in enumerate(self._symbols):
            factor = others.pop(symbol, 0)
            if factor:
                widest += abs(factor)
                rest += abs(factor) * frame.rest[j]
                traces = [a + factor * b for a, b in zip(traces, frame.spread[j], strict=True)]
                for monomial, value in frame.memory[j].items():
                    linear[monomial] = linear.get(monomial, 0) + factor * value
        spread = sum(map(abs, traces)) + rest
        near = self._arithmetic.range_of(linear)
        low = max(near.low - spread >> bits, -widest)
        high = min(-(-(near.high + spread) >> bits), widest)
        far = self._arithmetic.range_of(others)
        return low + far.low, high + far.high


def _whole(normal: Mapping[str, Fraction], names: Sequence[str]) -> tuple[tuple[int, ...], int]:
    """A normal times a number, as whole numbers, and that number."""
    unit = lcm(*(a.denominator for a in normal.values()))
    return tuple(int(normal.get(name, Fraction(0)) * unit) for name in names), unit


def malformed(node: TaylorNode, measured: Set[str]) -> str | None:
    """Why the node makes no sense, or None if it does; its names are known to be the
    model's, `measured` are the quantities of its location."""
    size = len(node.names)
    if not 1 <= size <= MAX_NAMES or len(set(node.names)) < size:
        return "the names that are followed are not some different ones"
    if not 2 <= node.order <= MAX_ORDER or not 1 <= node.memory <= node.order:
        return "order or memory are out of range"
    if not 8 <= node.bits <= MAX_BITS:
        return "the bits are out of range"
    followed = set(node.names)
    forms = [f.coefficients for f in node.entry]
    directions = [n for n in node.normals if len(n) > 1 or next(iter(n)) not in measured]
    if any(not coefficients.keys() <= followed for coefficients in (*forms, *directions)):
        return "a row speaks about a name that is not followed"
    if len(forms) != 2 * size or any(
        dict(low.coefficients) != {n: -a for n, a in high.coefficients.items()}
        for high, low in zip(node.entry[::2], node.entry[1::2], strict=False)
    ):
        return "the entry set is not given by one pair of rows for each name"
    if node.back is None:
        return "the rows of the entry set depend on each other"
    if any(low > high for low, high in node.spans):
        return "the entry set is empty"
    return _bad_steps(node, size)


def _bad_steps(node: TaylorNode, size: int) -> str | None:
    if not 1 <= len(node.steps) <= MAX_STEPS:
        return "there are no steps, or too many"
    for step in node.steps:
        if (
            not 0 < step.length <= MAX_LENGTH
            or len(step.radii) != size
            or any(r <= 0 for r in step.radii)
        ):
            return "a step has no length, or not a positive radius for each name"
        if step.length.denominator.bit_length() > MAX_BITS:
            return "the length of a step has too many digits"
    for step in node.steps[:-1]:
        if not _is_frame(step.frame, size):
            return "a frame is no matrix of moderate multiples of a power of two"
    return None


def _is_frame(frame: Matrix, size: int) -> bool:
    return len(frame) == size and all(
        len(row) == size
        and all((a * (1 << FRAME_BITS)).denominator == 1 and abs(a) <= MAX_FRAME for a in row)
        for row in frame
    )
