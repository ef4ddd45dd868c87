"""A segment of a trace as polynomials, and the extremes of conditions along it.

On a piece of a segment every flowing variable is a polynomial of u in [0, 1]; so is every
polynomial expression over them. A condition becomes a tree of minima and maxima over such
polynomials (its robustness: positive where it holds, in the units of its comparisons). The
largest value of the tree is found by bisection: on an interval a polynomial lies between its
smallest and largest Bernstein coefficient, so an interval whose bound is no better than a
value already seen is dropped. Nothing between two points escapes. Expressions that are no
polynomials are interpolated, which `Condition.exact` tells.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from workbench.models.automaton import TIME
from workbench.models.expressions.evaluation import EvaluationError, evaluate
from workbench.models.expressions.expression import Expression
from workbench.models.expressions.operators import Op
from workbench.models.expressions.traversal import postorder
from workbench.models.trace import Scalar, Segment
from workbench.reports.crosscheck.condition_tree import Condition

Array: TypeAlias = NDArray[np.float64]

MAX_DEGREE = 24
"""Beyond this degree Bernstein coefficients lose too many digits; we interpolate instead."""

INTERPOLATED_DEGREE = 8
HALVINGS = 48
RESOLUTION = 1e-10
"""Extremes are found to this share of their size."""


@dataclass(frozen=True)
class Pieces:
    """Pieces of a segment, or of several of one location: the segment that each belongs to,
    where they start, how long they last, and every known name as power coefficients in
    u = (t - start)/length, one row for each piece."""

    segments: tuple[Segment, ...]
    starts: Array
    lengths: Array
    known: Mapping[str, Array]
    symbols: Mapping[str, float]

    @property
    def segment(self) -> Segment:
        """The first segment: the only one, if the pieces were not joined."""
        return self.segments[0]

    def time(self, piece: int, u: float) -> float:
        """The time at a place of a piece."""
        return float(self.starts[piece] + u * self.lengths[piece])

    def polynomial(self, expression: Expression) -> Array | None:
        """The expression as coefficients on every piece; None where it is no polynomial."""
        found: dict[int, Array | None] = {}
        for node in postorder(expression):
            found[id(node)] = self._node(node, [found[id(a)] for a in node.args])
        return found[id(expression)]

    def _node(self, node: Expression, args: list[Array | None]) -> Array | None:
        if node.op is Op.CONSTANT:
            return np.full((len(self.starts), 1), float(node.constant))
        if node.op is Op.SYMBOL:
            code = self.symbols.get(str(node.value))
            return None if code is None else np.full((len(self.starts), 1), code)
        if node.op is Op.VARIABLE:
            return self.known.get(node.name)
        values = [a for a in args if a is not None]
        if len(values) < len(args):
            return None
        if node.op is Op.ADD:
            return _sum(values)
        if node.op is Op.MULTIPLY:
            return _product(values)
        if node.op is Op.DIVIDE and node.args[1].is_constant and node.args[1].constant != 0:
            return values[0] / float(node.args[1].constant)
        if node.op is Op.POWER and node.args[1].is_constant:
            power = node.args[1].constant
            if power.denominator == 1 and 0 <= power <= MAX_DEGREE:
                one = np.ones((len(self.starts), 1))
                return _product([one, *[values[0]] * int(power)])
        return None

    def interpolated(self, expression: Expression) -> Array:
        """The expression interpolated at Chebyshev points; NaN where it has no value."""
        order = INTERPOLATED_DEGREE
        nodes = 0.5 - 0.5 * np.cos(np.pi * np.arange(order + 1) / order)
        values = np.array(
            [
                [self._value(expression, i, self.time(i, float(u))) for u in nodes]
                for i in range(len(self.starts))
            ]
        ).reshape(len(self.starts), order + 1)
        return values @ _interpolation(order).T

    def _value(self, expression: Expression, piece: int, t: float) -> float:
        try:
            return float(evaluate(expression, self.segments[piece].valuation(t)))
        except (EvaluationError, TypeError, ValueError, OverflowError):
            return math.nan


def pieces_of(
    segment: Segment, parameters: Mapping[str, float], symbols: Mapping[str, float]
) -> Pieces:
    """The polynomials of a segment; a segment without duration is one constant piece."""
    spans = [(a, b, rows) for a, b, rows in segment.pieces() if b > a]
    if not spans:
        spans = [
            (
                segment.end,
                segment.end,
                [segment.final[i : i + 1] for i in range(len(segment.final))],
            )
        ]
    count = len(spans)
    starts = np.array([a for a, _, _ in spans])
    lengths = np.array([b - a for a, b, _ in spans])
    degree = max((len(row) for _, _, rows in spans for row in rows), default=1)
    scale = lengths[:, None] ** np.arange(degree)
    known: dict[str, Array] = {}
    constants: dict[str, Scalar] = {**parameters, **segment.held}
    for name, value in constants.items():
        code = symbols.get(value) if isinstance(value, str) else float(value)
        if code is not None:
            known[name] = np.full((count, 1), code)
    for j, name in enumerate(segment.flowing):
        table = np.zeros((count, degree))
        for i, (_, _, rows) in enumerate(spans):
            table[i, : len(rows[j])] = rows[j]
        known[name] = _trimmed(table) * scale[:, : _degree(table) + 1]
    known[TIME] = np.stack([starts, lengths], axis=1)
    made = Pieces((segment,) * count, starts, lengths, known, symbols)
    for name, course in segment.inputs.items():
        if isinstance(course, tuple):
            known[name] = course[1] * known[TIME]
            known[name][:, 0] += course[0]
        else:
            row = made.polynomial(course)
            known[name] = made.interpolated(course) if row is None else row
    for name, definition in segment.derived.items():
        row = made.polynomial(definition)
        known[name] = made.interpolated(definition) if row is None else row
    return made


def joined(parts: Sequence[Pieces]) -> list[Pieces]:
    """The pieces of segments of one location as few large tables; those that know the same
    names together."""
    groups: dict[tuple[str, frozenset[str]], list[Pieces]] = {}
    for part in parts:
        groups.setdefault((part.segment.location, frozenset(part.known)), []).append(part)
    return [_joined(group) for group in groups.values()]


def _joined(group: Sequence[Pieces]) -> Pieces:
    if len(group) == 1:
        return group[0]
    known = {}
    for name in group[0].known:
        tables = [part.known[name] for part in group]
        degree = max(t.shape[1] for t in tables)
        padded = [np.pad(t, ((0, 0), (0, degree - t.shape[1]))) for t in tables]
        known[name] = np.concatenate(padded)
    return Pieces(
        tuple(segment for part in group for segment in part.segments),
        np.concatenate([part.starts for part in group]),
        np.concatenate([part.lengths for part in group]),
        known,
        group[0].symbols,
    )


def _degree(table: Array) -> int:
    """The largest power that some piece has."""
    used = np.flatnonzero(table.any(axis=0))
    return int(used[-1]) if len(used) else 0


def _trimmed(table: Array) -> Array:
    """Without the powers that no piece has: most of the work is in them."""
    return table[:, : _degree(table) + 1]


def _sum(parts: list[Array]) -> Array:
    degree = max(p.shape[1] for p in parts)
    total = np.zeros((parts[0].shape[0], degree))
    for part in parts:
        total[:, : part.shape[1]] += part
    return total


def _product(parts: list[Array]) -> Array | None:
    result = parts[0]
    for part in parts[1:]:
        degree = result.shape[1] + part.shape[1] - 1
        if degree > MAX_DEGREE + 1:
            return None
        table = np.zeros((result.shape[0], degree))
        for j in range(part.shape[1]):
            table[:, j : j + result.shape[1]] += result * part[:, j : j + 1]
        result = table
    return result


# Extremes


@dataclass(frozen=True)
class Extreme:
    """The largest value of a condition's robustness and where it is; `exact` if every atom
    was a polynomial."""

    value: float
    time: float
    exact: bool
    segment: Segment


def largest(
    condition: Condition,
    pieces: Pieces,
    window: tuple[float, float] = (-math.inf, math.inf),
    floor: float = -math.inf,
) -> Extreme | None:
    """Where a condition comes closest to holding, or holds most; None if it is nowhere more
    than `floor`, or nowhere defined. Only times in the window count."""
    table, exact = _atoms(condition, pieces)
    low, high = _within(pieces, window)
    piece = np.flatnonzero((low <= high) & np.isfinite(table).all(axis=(0, 2)))
    if not len(piece):
        return None
    low, high = low[piece], high[piece]
    bernstein = restricted(table[:, piece], low, high)
    found = bisect(condition.combine, bernstein, Places(piece, low, high), floor)
    if found is None:
        return None
    return Extreme(found[0], pieces.time(*found[1:]), exact, pieces.segments[found[1]])


@dataclass(frozen=True)
class Places:
    """Intervals [low, high] in u, each of one piece."""

    piece: NDArray[np.intp]
    low: Array
    high: Array


def bisect(
    combine: Callable[[Array], Array], bernstein: Array, places: Places, floor: float = -math.inf
) -> tuple[float, int, float] | None:
    """The largest value above `floor` (any, if that is -inf) of `combine`, monotone in each of
    the polynomials (first axis) given by Bernstein coefficients (last axis) on intervals: value,
    piece, u."""
    piece, low, high = places.piece, places.low, places.high
    best: tuple[float, int, float] | None = None
    value = floor
    for _ in range(HALVINGS):
        for end, u in ((0, low), (-1, high)):
            values = combine(bernstein[:, :, end])
            i = int(np.argmax(values))
            if values[i] > value or (best is None and values[i] == value == -math.inf):
                value = float(values[i])
                best = (value, int(piece[i]), float(u[i]))
        bounds = combine(bernstein.max(axis=2))
        slack = RESOLUTION * (1 + abs(value)) if math.isfinite(value) else 0.0
        active = np.flatnonzero(bounds > value + slack)
        if not len(active) or value == math.inf:
            break
        middle = (low[active] + high[active]) / 2
        left, right = _halves(bernstein[:, active])
        bernstein = np.concatenate([left, right], axis=1)
        piece = np.concatenate([piece[active]] * 2)
        low, high = np.concatenate([low[active], middle]), np.concatenate([middle, high[active]])
    return best


def _atoms(condition: Condition, pieces: Pieces) -> tuple[Array, bool]:
    """Power coefficients of every atom on every piece, of one degree; and whether they are
    exact."""
    exact = True
    tables = []
    for atom, form in zip(condition.atoms, condition.forms, strict=True):
        table = _affine_atom(form, pieces)
        if table is None:
            table = pieces.polynomial(atom)
        if table is None:
            table, exact = pieces.interpolated(atom), False
        tables.append(table)
    degree = max((t.shape[1] for t in tables), default=1)
    padded = np.zeros((len(tables), len(pieces.starts), degree))
    for i, table in enumerate(tables):
        padded[i, :, : table.shape[1]] = table
    return padded, exact


def _affine_atom(
    form: tuple[float, tuple[tuple[str, float], ...]] | None, pieces: Pieces
) -> Array | None:
    """The quick way for the common case."""
    if form is None or any(name not in pieces.known for name, _ in form[1]):
        return None
    parts = [pieces.known[name] * a for name, a in form[1]]
    return _sum([np.full((len(pieces.starts), 1), form[0]), *parts])


def _within(pieces: Pieces, window: tuple[float, float]) -> tuple[Array, Array]:
    """The part of every piece inside a window of time, in u."""
    lengths = np.where(pieces.lengths > 0, pieces.lengths, 1.0)
    low = np.clip((window[0] - pieces.starts) / lengths, 0.0, None)
    high = np.clip((window[1] - pieces.starts) / lengths, None, 1.0)
    return low, high


def restricted(table: Array, low: Array, high: Array) -> Array:
    """Bernstein coefficients on [low, high] of polynomials given by power coefficients."""
    degree = table.shape[2] - 1
    shifted = np.zeros_like(table)
    width = high - low
    for j in range(degree + 1):
        for k in range(j, degree + 1):
            shifted[:, :, j] += math.comb(k, j) * low ** (k - j) * table[:, :, k]
        shifted[:, :, j] *= width**j
    return np.asarray(shifted @ _to_bernstein(degree).T, dtype=np.float64)


def _halves(bernstein: Array) -> tuple[Array, Array]:
    """Bernstein coefficients on both halves of every interval (de Casteljau)."""
    half = _halving(bernstein.shape[2] - 1)
    return bernstein @ half.T, bernstein @ half[::-1, ::-1].T


@cache
def _to_bernstein(degree: int) -> Array:
    return np.array(
        [
            [math.comb(i, j) / math.comb(degree, j) if j <= i else 0.0 for j in range(degree + 1)]
            for i in range(degree + 1)
        ]
    )


@cache
def _halving(degree: int) -> Array:
    return np.array(
        [
            [math.comb(i, j) / 2**i if j <= i else 0.0 for j in range(degree + 1)]
            for i in range(degree + 1)
        ]
    )


@cache
def _interpolation(order: int) -> Array:
    """From values at Chebyshev points of [0, 1] to power coefficients."""
    nodes = 0.5 - 0.5 * np.cos(np.pi * np.arange(order + 1) / order)
    return np.asarray(np.linalg.inv(np.vander(nodes, increasing=True)), dtype=np.float64)
