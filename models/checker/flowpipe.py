"""Flowpipes: where runs can be, stay by stay, up to a horizon (or for all time).

A *stay* is the time that a run spends in a location without a jump. A `Node` speaks about
all stays in one location that begin in its entry set, a polyhedron over variables, parameters
and the time since the start of the run. For a list of directions d and for steps of the time
that has elapsed since the entry (`ELAPSED`) it has rows d x <= alpha + beta * elapsed. They are
not part of the certificate: the checker computes them (`models.checker.adjoint`). The nodes cover
all runs if these linear facts hold, each proved by Farkas multipliers:

1. *Initial*: every initial state lies in the entry set of a node of its location, at time 0.
2. *End*: when the steps of a node are over, its rows contradict the invariant, or say that the
   horizon is reached, or the state lies in the entry set of a node of the same location: all
   solutions of rows, elapsed = end, invariant and time < horizon do (if there are any).
3. *Jumps*: on every step of a node, for every edge: the successors of states that satisfy the
   rows, the guard and time <= horizon lie in entry sets of nodes of the edge's target.
4. *Safety*: on no step of a node a state satisfies the rows, time <= horizon, and is bad.
Of states later than the entry it is known besides that no urgent edge was enabled before them;
what 2, 3 and 4 make of it says `models.checker.stay_conditions`.

Theorem. If all obligations hold, no run reaches a bad state at a time up to the horizon.
Proof. Cut every stay into *stretches*: the first begins with the stay; it ends with it or, if
that comes first, when the steps of a node are over in whose entry set it began; then the next
begins. By induction every stretch that begins at a time up to the horizon begins in the entry
set of a node: the first of the run by 1; one after a jump by 3, since the state before the jump
was reached on a stretch that began in a node's entry set, and satisfies the rows of the step
that it was reached on; any other by 2: at the end of the steps a state satisfies the rows of the
last one (steps are closed) and the invariant (which holds throughout a stay), so it lies in an
entry set, or the time is the horizon or later, and what comes after lies beyond the horizon.
A stretch that begins later than its stay may be read as one that begins with it: all that is
known of the moments after the entry holds then too, of the entry itself nothing is asked.
Steps have lengths, of which there are finitely many, so a stay has finitely many stretches up
to any time. By 4 no state on a step is bad. Nodes may cover each other in circles: the
induction is over stretches.

Without a horizon the rows about time are left out of 2, 3 and 4, and the same proof holds for
all time. Where the dynamics is not affine the rows of a node come from Taylor models instead
(`models.checker.taylor_node`); the obligations and their proof are the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, tee
from math import lcm
from typing import TypeAlias

from workbench.models.automaton import TIME, primed
from workbench.models.checker import covers
from workbench.models.checker.adjoint import Chord, FlowBounds, Piece, Stage
from workbench.models.checker.affine_flow import AffineFlow, Span, affine_flow
from workbench.models.checker.covers import (
    Cover,
    CoverObligation,
    ImpossibleObligation,
    Region,
)
from workbench.models.checker.exponential import TooMuchGrowthError
from workbench.models.checker.start_set import Measured, StartSet
from workbench.models.checker.stay_conditions import ELAPSED, before, conditions_in, start_time
from workbench.models.checker.taylor_flow import NonlinearFlow, nonlinear_flow
from workbench.models.checker.taylor_node import NotEnclosedError, Stretch, TaylorNode, stretches
from workbench.models.checker.taylor_node import malformed as malformed_taylor
from workbench.models.interruption import go_on
from workbench.models.linear import Form, Row, Rows
from workbench.models.lowering.problem import LinearProblem

MAX_STEPS = 200_000
MAX_DEGREE = 60
MAX_BITS = 2048
MAX_EXPONENT = 1024
MAX_STAGES = 500
MAX_STAY = 1 << 40
MAX_DIGITS = 1 << 15
"""Bits of the common denominator of the lengths of a node's steps."""
MAX_WORK = 40_000_000
"""Steps times directions times names of a node."""


@dataclass(frozen=True)
class Direction:
    """A direction in which a node is bounded, and for each end of a step (in order, the
    entry first) the number of an entry row that helps there, or -1."""

    normal: Mapping[str, Fraction]
    helpers: tuple[int, ...] = ()


@dataclass(frozen=True)
class Slab:
    """Two entry rows that bound the same combination from above and from below, and the vector
    by which it takes part in the bounds of other ones (`models.checker.start_set`)."""

    above: int
    below: int
    factor: Mapping[str, Fraction]


@dataclass(frozen=True)
class Node:
    """Stays in one location that begin where all `entry` forms are at most 0.

    `stages` are the steps, together no longer than `stay`; `degree`, `bits` and `scale`
    (exponents of weights) say how finely the rows are computed, `frame` by which zonotope the
    entry set is bounded."""

    location: str
    entry: tuple[Form, ...]
    directions: tuple[Direction, ...]
    stages: tuple[Stage, ...]
    degree: int
    bits: int
    stay: Fraction
    scale: Mapping[str, int]
    frame: tuple[Slab, ...] = ()

    @property
    def region(self) -> Region:
        """The entry set as a region of one cell."""
        return Region(self.location, self.entry, ((1,) * len(self.entry),))

    @property
    def normals(self) -> tuple[Mapping[str, Fraction], ...]:
        """The directions without their helpers."""
        return tuple(direction.normal for direction in self.directions)

    @property
    def count(self) -> int:
        """The number of steps."""
        return sum(stage.count for stage in self.stages)

    @property
    def ends(self) -> Iterator[Fraction]:
        """The ends of the steps, 0 first."""
        now = Fraction(0)
        yield now
        for stage in self.stages:
            for _ in range(stage.count):
                now += stage.length
                yield now


AnyNode: TypeAlias = Node | TaylorNode


@dataclass(frozen=True)
class FlowpipeProof:
    """Nodes, and evidence for every obligation, in their order."""

    horizon: Fraction | None
    nodes: tuple[AnyNode, ...]
    evidence: tuple[Cover, ...]


@dataclass(frozen=True)
class Step:
    """The states of a node while `begin` <= elapsed <= `end`: one row for each direction (a
    trivial one where there is no bound), then, from row `clock` on, the two for the elapsed
    time; on the first step one more for each direction, anchored at the entry."""

    begin: Fraction
    end: Fraction
    rows: Rows
    clock: int


Obligation = CoverObligation | ImpossibleObligation
NO_BOUND = Row(Form({}))


def steps(flow: AffineFlow, node: Node) -> Iterator[Step]:
    """The rows of a node, step by step."""
    start = start_set(flow, node)
    try:
        bounds = FlowBounds(flow, start, node.stay, node.scale, node.degree, node.bits)
    except TooMuchGrowthError:
        why = "the state may grow too much within the longest stay to be bounded"
        raise UnsuitableError(f"{node.location}: {why}") from None
    curves = _curves(bounds, flow, node)
    ends = node.ends
    begin = next(ends)
    for end in ends:
        found: list[Row] = []
        anchored: list[Row] = []
        for direction, curve in zip(node.directions, curves, strict=True):
            found.append(_line(direction.normal, next(curve.chords, None), begin, end))
            if begin == 0:
                anchored.append(_line(direction.normal, curve.anchor(), begin, end))
        yield _step(begin, end, found, anchored)
        begin = end


def taylor_steps(flow: NonlinearFlow, node: TaylorNode) -> Iterator[Step]:
    """The rows of a node with nonlinear dynamics, step by step."""
    return (step_of(node, part) for part in stretches(flow, node))


def step_of(node: TaylorNode, part: Stretch) -> Step:
    """The rows of one step of a node with nonlinear dynamics."""
    lines = [
        [
            _line(n, chord, part.begin, part.end)
            for n, chord in zip(node.normals, chords, strict=False)
        ]
        for chords in (part.chords, part.anchored)
    ]
    return _step(part.begin, part.end, *lines)


def _step(begin: Fraction, end: Fraction, rows: list[Row], anchored: list[Row]) -> Step:
    elapsed = Form({ELAPSED: Fraction(1)})
    clock = (Row(elapsed - Form({}, end)), Row(Form({}, begin) - elapsed))
    return Step(begin, end, (*rows, *clock, *anchored), len(rows))


def _line(
    normal: Mapping[str, Fraction], chord: Chord | None, begin: Fraction, end: Fraction
) -> Row:
    """The row that says that a direction stays below a line."""
    if chord is None:
        return NO_BOUND
    slope = (chord.end - chord.begin) / (end - begin)
    factors = {**normal, ELAPSED: -slope} if slope else normal
    return Row(Form(factors, slope * begin - chord.begin))


@dataclass
class _Curve:
    """The bounds of one direction of a node, step by step."""

    bounds: FlowBounds
    vector: list[int]
    sign: int
    helpers: tuple[int, ...]
    pieces: Iterator[Piece]

    def __post_init__(self) -> None:
        self._first = next(self.pieces, None)
        pieces = chain(() if self._first is None else (self._first,), self.pieces)
        self.chords = self.bounds.chords(pieces, self.vector, self.sign, self.helpers)

    def anchor(self) -> Chord | None:
        """The bound on the first step that is exact at the entry."""
        if self._first is None:
            return None
        return self.bounds.anchored(self._first, self.vector, self.sign, self.helpers)


def _curves(bounds: FlowBounds, flow: AffineFlow, node: Node) -> list[_Curve]:
    """The curve of each direction; opposite directions share their pieces."""
    unit = 1 << node.bits
    vectors = [
        [int(d.normal.get(name, Fraction(0)) * unit) for name in flow.names]
        for d in node.directions
    ]
    signs = [-1 if next(v for v in vector if v) < 0 else 1 for vector in vectors]
    curves = [tuple(sign * v for v in vector) for sign, vector in zip(signs, vectors, strict=True)]
    shared: dict[tuple[int, ...], list[Iterator[Piece]]] = {}
    for curve, uses in Counter(curves).items():
        shared[curve] = list(tee(bounds.pieces(list(curve), node.stages), uses))
    return [
        _Curve(bounds, list(curve), sign, direction.helpers, shared[curve].pop())
        for curve, sign, direction in zip(curves, signs, node.directions, strict=True)
    ]


def start_set(flow: AffineFlow, node: Node) -> StartSet:
    """The entry set: a box from the invariant and the rows about one name, the slabs of the
    frame, and all rows."""
    lows = {n: low for n, (low, _) in flow.limits.items() if low is not None}
    highs = {n: high for n, (_, high) in flow.limits.items() if high is not None}
    rows = []
    for form in node.entry:
        if len(form.coefficients) == 1:
            ((name, factor),) = form.coefficients.items()
            bound = -form.constant / factor
            if factor > 0:
                highs[name] = min(bound, highs.get(name, bound))
            else:
                lows[name] = max(bound, lows.get(name, bound))
        vector = {flow.index[name]: a for name, a in form.coefficients.items()}
        rows.append((vector, -form.constant))
    spans: tuple[Span, ...] = tuple((lows.get(n), highs.get(n)) for n in flow.names)
    frame = []
    for slab in node.frame:
        (normal, high), (_, low) = rows[slab.above], rows[slab.below]
        own = {flow.index[name]: a for name, a in slab.factor.items()}
        frame.append(Measured(normal, -low, high, own))
    return StartSet(spans, rows, frame)


def malformed(problem: LinearProblem, proof: FlowpipeProof) -> str | None:
    """Why the nodes are no flowpipe of the model, or None if they are."""
    if proof.horizon is not None and proof.horizon < 0:
        return "the horizon is negative"
    names = problem.names | {TIME}
    for number, node in enumerate(proof.nodes):
        where = f"node {number + 1}"
        if not problem.has_location(node.location):
            return f"{where}: the model has no location {node.location[:80]!r}"
        measured: set[str] = set()
        if isinstance(node, TaylorNode):
            measured |= set(problem.quantities(node.location).values())
        forms = [*(f.coefficients for f in node.entry), *node.normals]
        if isinstance(node, Node):
            forms += [slab.factor for slab in node.frame]
        for form in forms:
            if not form:
                return f"{where}: a row is constant"
            if unknown := form.keys() - names - measured:
                return f"{where}: a row mentions {sorted(unknown)[0]}"
        if not isinstance(node, TaylorNode):
            why = _bad_steps(node, len(names))
        elif unknown := set(node.names) - names:
            why = f"it follows {sorted(unknown)[0]}"
        else:
            why = malformed_taylor(node, measured)
        if why:
            return f"{where}: {why}"
    return None


def _bad_steps(node: Node, names: int) -> str | None:
    if any(stage.length <= 0 or stage.count < 1 for stage in node.stages) or not node.stages:
        return "a step has no length"
    if not 1 <= node.degree <= MAX_DEGREE or not 1 <= node.bits <= MAX_BITS:
        return "degree or bits are out of range"
    if len(node.stages) > MAX_STAGES or node.stay > MAX_STAY:
        return "there are too many stages, or the stay is too long"
    if _common_bits(stage.length.denominator for stage in node.stages) > MAX_DIGITS:
        return "the lengths of steps have too many digits"
    count = sum(stage.count for stage in node.stages)
    if count > MAX_STEPS or count * len(node.directions) * names > MAX_WORK:
        return "there are too many steps"
    if sum((stage.length * stage.count for stage in node.stages), Fraction(0)) > node.stay:
        return "the steps are longer than the stay"
    if any(abs(e) > MAX_EXPONENT for e in node.scale.values()):
        return "a weight is out of range"
    if len(node.frame) > names:
        return "there are too many slabs"
    if not all(_is_slab(node.entry, slab) for slab in node.frame):
        return "two rows are not the sides of a slab"
    for direction in node.directions:
        if any((v * (1 << node.bits)).denominator != 1 for v in direction.normal.values()):
            return "a direction is finer than the bits"
        if any(not -1 <= row < len(node.entry) for row in direction.helpers):
            return "a helper is no entry row"
    return None


def _is_slab(entry: Sequence[Form], slab: Slab) -> bool:
    if not all(0 <= row < len(entry) for row in (slab.above, slab.below)):
        return False
    above, below = entry[slab.above].coefficients, entry[slab.below].coefficients
    return above == {name: -a for name, a in below.items()}


def _common_bits(denominators: Iterable[int]) -> int:
    """The bits of a common denominator; at least `MAX_DIGITS` where there are more."""
    common = 1
    for denominator in denominators:
        common = lcm(common, denominator)
        if common.bit_length() > MAX_DIGITS:
            break
    return common.bit_length()


class UnsuitableError(Exception):
    """The flow of a location is not followed by a node; the message says why."""


def counted_or_failed(problem: LinearProblem, proof: FlowpipeProof) -> int | tuple[str, str]:
    """How many obligations there are, if all of them hold; else the first that does not, and
    why."""
    if why := malformed(problem, proof):
        return "flowpipe", why
    try:
        found = obligations(problem, proof.horizon, proof.nodes)
        return covers.counted_or_failed(found, proof.evidence)
    except UnsuitableError as error:
        return "flowpipe", str(error)


def obligations(
    problem: LinearProblem, horizon: Fraction | None, nodes: tuple[AnyNode, ...]
) -> Iterator[Obligation]:
    """All obligations of a flowpipe, in the order in which evidence is given for them."""
    regions: dict[str, tuple[Region, ...]] = {}
    for node in nodes:
        regions[node.location] = (*regions.get(node.location, ()), node.region)
    for location, cases in problem.starts():
        for number, rows in enumerate(cases):
            title = f"initial states of {location}, case {number + 1}"
            yield CoverObligation(title, rows + start_time(), regions.get(location, ()))
    same = {location: unchanged(problem.names, own) for location, own in regions.items()}
    flows: dict[str, AffineFlow] = {}
    for number, node in enumerate(nodes):
        where = f"node {number + 1} ({node.location})"
        made = steps_in(problem, node, flows)
        yield from _of_node(problem, horizon, node, made, where, regions, same[node.location])


def steps_in(problem: LinearProblem, node: AnyNode, flows: dict[str, AffineFlow]) -> Iterator[Step]:
    """The rows of a node of a model, step by step; `flows` keeps affine flows by location."""
    if isinstance(node, TaylorNode):
        yield from _taylor_steps_in(problem, node)
        return
    if node.location not in flows:
        flows[node.location] = affine_flow(problem, node.location)
    yield from steps(flows[node.location], node)


def _taylor_steps_in(problem: LinearProblem, node: TaylorNode) -> Iterator[Step]:
    flow = nonlinear_flow(problem, node.location, node.names)
    if isinstance(flow, str):
        raise UnsuitableError(flow)
    try:
        yield from taylor_steps(flow, node)
    except NotEnclosedError as error:
        raise UnsuitableError(f"{node.location}: {error}") from None


def _of_node(
    problem: LinearProblem,
    horizon: Fraction | None,
    node: AnyNode,
    made: Iterator[Step],
    where: str,
    regions: Mapping[str, tuple[Region, ...]],
    same: Rows,
) -> Iterator[Obligation]:
    region = node.region
    until = before(horizon, strict=False)
    last: Step | None = None
    view = problem.measuring if isinstance(node, TaylorNode) else problem
    conditions = conditions_in(view, node.location)
    for number, step in enumerate(made):
        go_on()
        at = f"{where}, step {number + 1}"
        for jump in conditions.jumps_on(step.begin):
            target = regions.get(jump.target, ())
            here = at_entry(node, step) if jump.at_entry else step.rows
            at_once = " at the entry" if jump.at_entry else ""
            title = f"{at}: jump {jump.name}{at_once}"
            yield CoverObligation(title, here + until + jump.rows, target)
        for case, bad in enumerate(conditions.bad_on(step.begin)):
            here = at_entry(node, step) if bad.at_entry else step.rows
            title = f"{at}: safety, case {case + 1}"
            yield ImpossibleObligation(title, here + until + bad.rows, region)
        last = step
    assert last is not None, "a node has steps"
    own = regions[node.location]
    for case, rows in enumerate(conditions.staying):
        title = f"{where}: end, case {case + 1}"
        rows = at_end(last) + before(horizon, strict=True) + rows
        yield CoverObligation(title, rows + same, own)


def at_entry(node: AnyNode, first: Step) -> Rows:
    """What holds at the moment of entry: the entry set, elapsed = 0, and what the first step
    says about quantities, which entry sets do not mention."""
    elapsed = Form({ELAPSED: Fraction(1)})
    rows = (*map(Row, node.entry), Row(elapsed), Row(-elapsed))
    if not isinstance(node, TaylorNode):
        return rows
    followed = set(node.names)
    chords = zip(node.normals, first.rows, strict=False)
    return rows + tuple(row for normal, row in chords if not normal.keys() <= followed)


def at_end(last: Step) -> Rows:
    """The rows of the last step at its end."""
    return (*last.rows, Row(Form({ELAPSED: Fraction(-1)}, last.end)))


def unchanged(names: Iterable[str], regions: Iterable[Region]) -> Rows:
    """Where no jump happens, all names and whatever regions speak about keep their values."""
    mentioned = {n for region in regions for h in region.predicates for n in h.coefficients}
    pairs = (
        Form({primed(name): Fraction(1), name: Fraction(-1)})
        for name in sorted(mentioned.union(names))
    )
    return tuple(row for form in pairs for row in (Row(form), Row(form.scaled(Fraction(-1)))))
