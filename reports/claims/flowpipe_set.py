"""The set that a flowpipe claims, followed along a run and made ready for pictures.

A node speaks about stays that begin in its entry set; after e units of time the state
satisfies d x <= alpha + beta e on the step that e belongs to, for each of its directions d.
A stay that begins in several entry sets must stay within each of them; since a run computed
in floating point may miss an entry set by a rounding error, being within one is enough here.
When the steps of a node are over, the stay is over, or it goes on as one that begins in an entry
set at that moment: a stay is cut into such *stretches*.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from workbench.models.automaton import TIME
from workbench.models.checker.flowpipe import AnyNode, FlowpipeProof, steps_in
from workbench.models.checker.stay_conditions import ELAPSED
from workbench.models.linear import Form, Row, Rows
from workbench.models.lowering.problem import LinearProblem
from workbench.models.trace import Scalar
from workbench.reports.claims.claimed_set import NEVER, Stay, Worst, at_most_zero
from workbench.reports.crosscheck.piecewise import Pieces, Places, bisect, restricted
from workbench.reports.words.inequalities import linear_text, readable, rounded

Array: TypeAlias = NDArray[np.float64]

ENTRY_ALLOWANCE = 1e-7
"""The share of a state's size by which a stay may begin outside an entry set."""

TOO_LONG = "no stay is claimed to last longer: "
GROUPS = 160
"""About so many pieces of a flowpipe are drawn."""


@dataclass(frozen=True)
class Tube:
    """A node in floating point: directions of length 1, steps, bounds at their ends."""

    node: AnyNode
    directions: tuple[Form, ...]
    begin: Array
    end: Array
    low: Array
    high: Array
    """`low` and `high`: the bounds at the begin and the end of every step (steps by
    directions); infinite where there is none."""


@dataclass
class FlowpipeSet:
    """The claimed set of a flowpipe certificate."""

    problem: LinearProblem
    proof: FlowpipeProof
    title: str = "flowpipe"
    _tubes: dict[int, Tube] = field(default_factory=dict)

    @property
    def horizon(self) -> float:
        """The time up to which the flowpipe claims something."""
        return math.inf if self.proof.horizon is None else float(self.proof.horizon)

    def tube(self, number: int) -> Tube:
        """A node in floating point, computed once."""
        if number not in self._tubes:
            self._tubes[number] = _tube(self.problem, self.proof.nodes[number])
        return self._tubes[number]

    def worst(self, stay: Stay) -> Worst | None:
        """The worst distance over all stretches of the stay."""
        worst: Worst | None = None
        rest: Stay | None = stay
        while rest is not None and rest.start <= self.horizon:
            found, tube = self._worst_stretch(rest, "" if rest is stay else TOO_LONG)
            if worst is None or found.value > worst.value:
                worst = found
            rest = None if tube is None else _continued(tube, rest, self.horizon)
        return worst

    def _worst_stretch(self, stay: Stay, note: str) -> tuple[Worst, Tube | None]:
        """The least of the worst distances from the nodes that a stretch begins in, and that
        node; none if the stretch begins in no entry set, which the note goes with."""
        near: tuple[float, str] = (math.inf, NEVER)
        best: tuple[Worst, Tube] | None = None
        for number, node in enumerate(self.proof.nodes):
            if node.location != stay.location:
                continue
            outside, predicate = _outside_entry(node, stay.entry)
            near = min(near, (outside, predicate))
            if outside <= ENTRY_ALLOWANCE * _size(stay.entry):
                tube = self.tube(number)
                found = _along(tube, stay, self.horizon)
                if found is not None and (best is None or found.value < best[0].value):
                    best = found, tube
        text = f"{note}no entry set contains the state: {near[1]}"
        return best or (Worst(near[0], stay.start, lambda: text), None)

    def node_of(self, location: str, entry: Mapping[str, Scalar]) -> int | None:
        """The first node whose entry set a stay begins in."""
        for number, node in enumerate(self.proof.nodes):
            if node.location == location:
                outside, _ = _outside_entry(node, entry)
                if outside <= ENTRY_ALLOWANCE * _size(entry):
                    return number
        return None

    def groups(self) -> list[Group]:
        """The flowpipe in few pieces for pictures. Steps are joined by the larger of their
        bounds: an over-approximation."""
        count = sum(node.count for node in self.proof.nodes)
        stride = max(1, math.ceil(count / GROUPS))
        found = []
        for number, node in enumerate(self.proof.nodes):
            tube = self.tube(number)
            for i in range(0, len(tube.begin), stride):
                last = min(i + stride, len(tube.begin)) - 1
                bounds = np.maximum(tube.low[i : last + 1], tube.high[i : last + 1]).max(axis=0)
                rows = tuple(
                    Row(d - Form({}, Fraction(float(bound))))
                    for d, bound in zip(tube.directions, bounds, strict=True)
                    if math.isfinite(bound) and d.coefficients.keys() != {TIME}
                )
                begin, end = float(tube.begin[i]), float(tube.end[last])
                found.append(Group(number, node.location, begin, end, rows))
        return found


@dataclass(frozen=True)
class Group:
    """Some steps of a node: the rows that hold while the elapsed time is in [begin, end]."""

    node: int
    location: str
    begin: float
    end: float
    rows: Rows


def _tube(problem: LinearProblem, node: AnyNode) -> Tube:
    made = list(steps_in(problem, node, {}))
    measured = set(problem.quantities(node.location).values())  # runs do not record them
    shown = [j for j, normal in enumerate(node.normals) if not measured & normal.keys()]
    normals = [node.normals[j] for j in shown]
    lengths = [math.sqrt(sum(float(v) ** 2 for v in d.values())) or 1.0 for d in normals]
    count = len(normals)
    low, high = np.full((len(made), count), math.inf), np.full((len(made), count), math.inf)
    for i, step in enumerate(made):
        for j, row in enumerate(step.rows[k] for k in shown):
            if not row.form.coefficients:
                continue
            slope = -row.form.coefficients.get(ELAPSED, Fraction(0))
            for table, at in ((low, step.begin), (high, step.end)):
                table[i, j] = float(slope * at - row.form.constant) / lengths[j]
    directions = tuple(
        Form({n: Fraction(float(v) / size) for n, v in d.items()})
        for d, size in zip(normals, lengths, strict=True)
    )
    begin = np.array([float(step.begin) for step in made])
    return Tube(node, directions, begin, np.array([float(s.end) for s in made]), low, high)


def _outside_entry(node: AnyNode, entry: Mapping[str, Scalar]) -> tuple[float, str]:
    """How far a state is outside a node's entry set, and the row that decides."""
    worst = (-math.inf, "")
    for form in node.entry:
        length = math.sqrt(sum(float(a) ** 2 for a in form.coefficients.values())) or 1.0
        value = float(form.constant)
        for name, a in form.coefficients.items():
            known = entry.get(name, math.nan)
            value += float(a) * (math.nan if isinstance(known, str) else float(known))
        if math.isnan(value):
            return math.inf, "a variable of the entry set is not part of the run"
        worst = max(worst, (value / length, readable(at_most_zero(form))))
    return worst


def _along(tube: Tube, stay: Stay, horizon: float) -> Worst | None:
    """The largest distance beyond a row of the tube along a stretch."""
    found: Worst | None = None
    for part in stay.pieces:
        table = _projected(tube.directions, part)
        intervals = _intervals(tube, part, stay.start, horizon)
        if table is None or not len(intervals[0]):
            continue
        piece, step, low, high = intervals
        bernstein = restricted(table[:, piece], low, high)
        degree = bernstein.shape[2] - 1
        lengths = part.lengths[piece]
        span = np.maximum(tube.end[step] - tube.begin[step], 1e-300)
        elapsed = part.starts[piece] - stay.start
        share = [(elapsed + u * lengths - tube.begin[step]) / span for u in (low, high)]
        ends = [tube.low[step].T * (1 - s) + tube.high[step].T * s for s in map(_unit, share)]
        ends = [np.where(np.isfinite(e), e, 1e300) for e in ends]
        weight = np.arange(degree + 1) / max(degree, 1)
        bound = ends[0][:, :, None] * (1 - weight) + ends[1][:, :, None] * weight
        one = bisect(lambda values: values.max(axis=0), bernstein - bound, Places(piece, low, high))
        if one is not None and (found is None or one[0] > found.value):
            values = restricted(table[:, [one[1]]], np.array([one[2]]), np.array([one[2]]))[:, 0, 0]
            time = part.time(one[1], one[2])
            explain = partial(_row_text, tube, values, time - stay.start)
            found = Worst(one[0], time, explain)
    return found


def _unit(share: Array) -> Array:
    return np.clip(share, 0.0, 1.0)


def _continued(tube: Tube, stay: Stay, horizon: float) -> Stay | None:
    """What is left of a stay when the steps of a node are over; None if it is over as well."""
    segments = [segment for part in stay.pieces for segment in part.segments]
    time = stay.start + float(tube.end[-1])
    if not outlasts(min(segments[-1].end, horizon), time):
        return None
    segment = next(s for s in segments if s.end >= time)
    return Stay(stay.location, time, {**stay.entry, **segment.valuation(time)}, stay.pieces)


def outlasts(end: float, time: float) -> bool:
    """Whether a stay with that end goes on after a time, by more than rounding explains."""
    return end > time + ENTRY_ALLOWANCE * (1 + abs(time))


def _row_text(tube: Tube, values: Array, elapsed: float) -> str:
    """The row that decides at a time of a stay."""
    step = min(int(np.searchsorted(tube.end, elapsed)), len(tube.end) - 1)
    width = tube.end[step] - tube.begin[step]
    share = min(max((elapsed - tube.begin[step]) / (width or 1.0), 0.0), 1.0)
    bounds = np.where(
        np.isfinite(tube.low[step]), tube.low[step] * (1 - share) + tube.high[step] * share, 1e300
    )
    j = int(np.argmax(values - bounds))
    text = linear_text(tube.directions[j])
    return f"{text} ≤ {rounded(float(bounds[j]))} after {rounded(elapsed)}"


def _projected(directions: Sequence[Form], part: Pieces) -> Array | None:
    """d x along every piece, for every direction: directions, pieces, power coefficients."""
    names = {n for d in directions for n in d.coefficients}
    if not names <= part.known.keys():
        return None
    degree = max((part.known[n].shape[1] for n in names), default=1)
    table = np.zeros((len(directions), len(part.starts), degree))
    for i, d in enumerate(directions):
        for name, a in d.coefficients.items():
            known = part.known[name]
            table[i, :, : known.shape[1]] += float(a) * known
    return table


def _intervals(
    tube: Tube, part: Pieces, start: float, horizon: float
) -> tuple[NDArray[np.intp], NDArray[np.intp], Array, Array]:
    """Every piece cut at the ends of steps: piece, step, and from where to where in u."""
    pieces, numbers, lows, highs = [], [], [], []
    for i, (begun, length) in enumerate(zip(part.starts, part.lengths, strict=True)):
        first = int(np.searchsorted(tube.end, begun - start, side="left"))
        last = int(np.searchsorted(tube.begin, begun + length - start, side="right"))
        for step in range(first, min(last, len(tube.begin))):
            size = length or 1.0
            low = max(0.0, (tube.begin[step] + start - begun) / size)
            high = min(1.0, (min(tube.end[step] + start, horizon) - begun) / size)
            if low <= high:
                pieces.append(i)
                numbers.append(step)
                lows.append(low)
                highs.append(high)
    return (
        np.array(pieces, dtype=np.intp),
        np.array(numbers, dtype=np.intp),
        np.array(lows),
        np.array(highs),
    )


def _size(entry: Mapping[str, Scalar]) -> float:
    numbers = [abs(v) for v in entry.values() if isinstance(v, float) and math.isfinite(v)]
    return max([1.0, *numbers])
