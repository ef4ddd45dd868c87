"""From closed entry sets in floating point to a flowpipe for all time, with exact evidence.

Every entry set becomes a node (`models.checker.flowpipe`). The trusted part bounds a direction at
the entry by a box and one row; where the search used several rows at once, their combination is
added to the entry as a *derived* row, whose proofs are the same combinations of the others'.
The rows of the steps come from the trusted part; by how much they exceed what the search
expected is charged to the search when it has to try again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from workbench.abstraction.recurrence.entry_sets import EntrySet, SupportsOf
from workbench.abstraction.recurrence.followed_stays import Followed, Interrupted
from workbench.abstraction.recurrence.recurrent_sets import Recurrence
from workbench.abstraction.recurrence.stay_view import Stays, Vector
from workbench.models.automaton import primed
from workbench.models.checker.adjoint import Stage
from workbench.models.checker.covers import Cover, Impossible, InCell, Split
from workbench.models.checker.flowpipe import (
    Direction,
    FlowpipeProof,
    Node,
    Step,
    at_end,
    at_entry,
    start_set,
    steps,
    unchanged,
)
from workbench.models.checker.stay_conditions import ELAPSED, Conditions, conditions_in, start_time
from workbench.models.linear import Form, Multipliers, Row, Rows
from workbench.reach.affine.reduced_rows import Bounded, ReducedRows, add_weights
from workbench.reach.affine.step_choice import FIRST_LEVEL, choose
from workbench.reach.affine.step_evidence import Key, key_of, keyed, quick_refutation

OFFSET_GRID = 1 << 24
"""A power of two: bounds of what does not change are then computed without rounding."""
FACTOR_GRID = 1 << 20
LEAST_BITS = 64
FURTHER_DEGREE = 3
"""Terms of the series beyond those that are necessary."""
WORTHWHILE = 1e-7
MOST_DERIVED = 300
NO_CHARGE = 1e-12
CHARGED = 1.05
"""Charges are expected to grow by this when sets do."""


@dataclass
class ExactNode:
    """An entry set as a node: the numbers of its rows that have offsets, and how derived rows
    are combined of them (by place among those)."""

    entry: EntrySet
    node: Node
    rows: list[int]
    derived: list[dict[int, Fraction]]
    steps: list[Step] = field(default_factory=list)

    @property
    def plain(self) -> tuple[Form, ...]:
        """The rows that are not derived."""
        return self.node.entry[: len(self.rows)]


class NotClosed(Exception):  # noqa: N818 - control flow inside this module, not an error
    """An obligation lacks exact evidence; the message says which."""


def exact_nodes(stays: Stays, found: Recurrence, stop: Callable[[], bool]) -> list[ExactNode]:
    """The nodes of all entry sets that are entered, with the rows of their steps."""
    made: list[ExactNode] = []
    for entry, followed in zip(found.entries, found.followed, strict=True):
        entry.helped |= followed.used
        if not entry.empty:
            made.append(_exact_node(stays, entry, followed))
    for exact in made:
        for step in steps(exact.entry.view.flow, exact.node):
            if stop():
                raise Interrupted
            exact.steps.append(step)
    return made


def charge(nodes: Sequence[ExactNode]) -> None:
    """Charge the search for what the exact rows exceed its own by."""
    for exact in nodes:
        entry = exact.entry
        supports = SupportsOf(entry)
        values = [supports.at(k).values for k in range(len(exact.steps) + 1)]
        for k, step in enumerate(exact.steps):
            for side, moment in enumerate((step.begin, step.end)):
                rows = step.rows[: step.clock]
                exactly = np.array([_bound_at(row, moment) for row in rows])
                with np.errstate(invalid="ignore"):
                    over = np.nan_to_num(exactly - values[k + side], nan=0.0, posinf=0.0)
                entry.charges[k, side] = np.where(over > NO_CHARGE, over * CHARGED, 0.0)
        # Further steps, should there be any, are charged like the last.
        entry.charges[len(exact.steps) :] = entry.charges[len(exact.steps) - 1]


def _bound_at(row: Row, moment: Fraction) -> float:
    if not row.form.coefficients:
        return np.inf
    slope = -row.form.coefficients.get(ELAPSED, Fraction(0))
    return float(slope * moment - row.form.constant)


def _exact_node(stays: Stays, entry: EntrySet, followed: Followed) -> ExactNode:
    names, flow = stays.names, entry.view.flow
    rows = [int(q) for q in np.flatnonzero(np.isfinite(entry.offsets))]
    levels = dict(entry.slab)
    offsets = [_rational(levels.get(q, float(entry.offsets[q]))) for q in rows]
    entry.offsets[rows] = [float(offset) for offset in offsets]
    vectors = [entry.normals[q] for q in rows]
    derived, helpers = _derived(entry, followed, rows, vectors)
    forms = [_form(names, v, h) for v, h in zip(vectors, offsets, strict=True)]
    for combination in derived:
        vector = _combined(combination, vectors)
        forms.append(_form(names, vector, sum(f * offsets[i] for i, f in combination.items())))
    assert entry.curves is not None
    same = {vector: i for i, vector in enumerate(vectors)}
    directions = []
    for number, normal in enumerate(entry.curves.rows):
        known = {**helpers.get(number, {}), **({0: same[normal]} if normal in same else {})}
        size = 1 + max((k for k, row in known.items() if row >= 0), default=-1)
        marks = tuple(known.get(k, -1) for k in range(size))
        directions.append(Direction({n: a for n, a in zip(names, normal, strict=True) if a}, marks))
    length, count = Fraction(entry.step), followed.steps
    bare = Node(entry.view.location, tuple(forms), (), (), 1, 1, Fraction(1), {})
    spans = dict(zip(flow.names, start_set(flow, bare).spans, strict=True))
    chosen = choose(flow, spans, length * count, length, FIRST_LEVEL)
    node = Node(
        entry.view.location,
        tuple(forms),
        tuple(directions),
        (Stage(length, count),),
        chosen.degree + FURTHER_DEGREE,
        max(chosen.bits, LEAST_BITS),
        length * count,
        chosen.scale,
    )
    return ExactNode(entry, node, rows, derived)


def _derived(
    entry: EntrySet, followed: Followed, rows: Sequence[int], vectors: Sequence[Vector]
) -> tuple[list[dict[int, Fraction]], dict[int, dict[int, int]]]:
    """Combinations of rows that bound a direction at a moment, and for each direction and
    moment the number of the row that helps."""
    supports = SupportsOf(entry)
    found: list[dict[int, Fraction]] = []
    helpers: dict[int, dict[int, int]] = {}
    if supports.plain:
        return found, helpers
    place = {q: i for i, q in enumerate(rows)}
    n = len(vectors[0])
    for moment in range(followed.steps + 1):
        wanted = sorted(r for k, r in entry.helped if k == moment)
        at = supports.at(moment) if wanted else None
        for r in wanted:
            assert at is not None
            beyond = at.factors[r, 2 * n :]
            if np.any(beyond > WORTHWHILE) and len(found) < MOST_DERIVED:
                factors = {
                    place[q]: Fraction(round(float(f) * FACTOR_GRID), FACTOR_GRID)
                    for q, f in enumerate(at.factors[r])
                    if q in place and round(float(f) * FACTOR_GRID)
                }
                helpers.setdefault(r, {})[moment] = len(rows) + len(found)
                found.append(factors)
    return found, helpers


def _combined(factors: Mapping[int, Fraction], vectors: Sequence[Vector]) -> Vector:
    return tuple(
        sum((f * vectors[i][j] for i, f in factors.items()), Fraction(0))
        for j in range(len(vectors[0]))
    )


def _form(names: tuple[str, ...], vector: Vector, offset: Fraction | int) -> Form:
    return Form({n: a for n, a in zip(names, vector, strict=True) if a}, -Fraction(offset))


def _rational(value: float) -> Fraction:
    """The value on the grid: the nearest point if it is very close, else rounded up."""
    nearest = Fraction(round(value * OFFSET_GRID), OFFSET_GRID)
    if abs(float(nearest) - value) <= 1e-10 * max(1.0, abs(value)):
        return nearest
    return Fraction(int(np.ceil(value * OFFSET_GRID)), OFFSET_GRID)


def proof_of(
    stays: Stays, nodes: Sequence[ExactNode], stop: Callable[[], bool]
) -> FlowpipeProof | str:
    """The flowpipe with evidence for every obligation, or what lacks it."""
    try:
        evidence = tuple(_Prover(stays, nodes, stop).evidence())
    except NotClosed as error:
        return str(error)
    return FlowpipeProof(None, tuple(exact.node for exact in nodes), evidence)


class _Prover:
    def __init__(self, stays: Stays, nodes: Sequence[ExactNode], stop: Callable[[], bool]):
        self.stays, self.nodes, self.stop = stays, nodes, stop
        self.region: dict[int, int] = {}
        counts: dict[str, int] = {}
        for exact in nodes:
            self.region[id(exact)] = counts.get(exact.node.location, 0)
            counts[exact.node.location] = self.region[id(exact)] + 1

    def evidence(self) -> list[Cover]:
        """Evidence for all obligations, in their order."""
        found: list[Cover] = []
        for location, cases in self.stays.problem.starts():
            own = [e for e in self._at(location) if e.entry.origin is None]
            what = f"start in {location}"
            found += [self._cover(rows + start_time(), own, what) for rows in cases]
        for exact in self.nodes:
            conditions = conditions_in(self.stays.problem, exact.node.location)
            for step in exact.steps:
                found += self._of_step(exact, step, conditions)
            found += self._end(exact, conditions)
        return found

    def _at(self, location: str) -> list[ExactNode]:
        return [exact for exact in self.nodes if exact.node.location == location]

    def _of_step(self, exact: ExactNode, step: Step, conditions: Conditions) -> list[Cover]:
        if self.stop():
            raise Interrupted
        found: list[Cover] = []
        location, views = exact.node.location, exact.entry.view.jumps
        numbers = _numbers(exact.node)
        entered = at_entry(exact.node, step)
        for jump, view in zip(conditions.jumps_on(step.begin), views, strict=False):
            quick = None if jump.at_entry else self._quick(step, numbers, jump.rows)
            if quick is not None:
                found.append(Impossible(quick))
                continue
            origin = location, view.number
            targets = [e for e in self._at(jump.target) if e.entry.origin == origin]
            what = f"jump {jump.name} from {location}"
            single = None if jump.at_entry else _SingleRows(step, numbers, step.begin)
            here = entered if jump.at_entry else step.rows
            found.append(self._cover(here + jump.rows, targets, what, single))
        for bad in conditions.bad_on(step.begin):
            quick = None if bad.at_entry else self._quick(step, numbers, bad.rows)
            if quick is None:
                here = entered if bad.at_entry else step.rows
                quick = ReducedRows(here + bad.rows).refutation()
            if quick is None:
                raise NotClosed(f"safety in {location}")
            found.append(Impossible(quick))
        return found

    def _quick(self, step: Step, numbers: Mapping[Key, int], rows: Rows) -> Multipliers | None:
        return quick_refutation(step, numbers, keyed(rows), len(step.rows))

    def _end(self, exact: ExactNode, conditions: Conditions) -> list[Cover]:
        location = exact.node.location
        here = self._at(location)
        same = unchanged(self.stays.problem.names, [e.node.region for e in here])
        last = exact.steps[-1]
        single = _SingleRows(last, _numbers(exact.node), last.end)
        return [
            self._cover(at_end(last) + rows + same, [exact], f"end in {location}", single)
            for rows in conditions.staying
        ]

    def _cover(
        self,
        rows: Rows,
        targets: Sequence[ExactNode],
        what: str,
        single: _SingleRows | None = None,
    ) -> Cover:
        """Evidence that states lie in one of the parts of an entry set (or do not exist)."""
        if len(targets) > 1:
            first, *others = targets
            cut = first.rows.index(first.entry.slab[0][0])
            inside = Row(_after(first.plain[cut]))
            beyond = Row(inside.form.scaled(Fraction(-1)), True)
            return Split(
                self.region[id(first)],
                cut,
                False,
                self._cover((*rows, inside), [first], what, single),
                self._cover((*rows, beyond), others, what, single),
            )
        reduced = ReducedRows(rows)
        for target in targets:
            found = self._in_cell(reduced, target, single)
            if found is not None:
                return found
        refuted = reduced.refutation()
        if refuted is None:
            raise NotClosed(what)
        return Impossible(refuted)

    def _in_cell(
        self, reduced: ReducedRows, target: ExactNode, single: _SingleRows | None
    ) -> InCell | None:
        proofs: list[Multipliers] = []
        for form in target.plain:
            goal = Form({primed(name): a for name, a in form.coefficients.items()})
            bounded = None if single is None else single.largest(reduced, goal)
            if bounded is None or bounded.value > -form.constant:
                bounded = reduced.largest(goal)
            if bounded is None or bounded.value > -form.constant:
                return None
            proofs.append(bounded.multipliers)
        for combination in target.derived:
            parts = [(factor, dict(proofs[i])) for i, factor in combination.items()]
            proofs.append(tuple(sorted(add_weights(parts).items())))
        return InCell(self.region[id(target)], 0, tuple(proofs))


@dataclass(frozen=True)
class _SingleRows:
    """Bounds of what a jump on a step leads to, or of what is left at its end, by the row of one
    direction; `begin` is the earliest elapsed time, said by a further row if it is the end."""

    step: Step
    numbers: Mapping[Key, int]
    begin: Fraction

    def largest(self, reduced: ReducedRows, goal: Form) -> Bounded | None:
        """A bound, often not the best, of a form over the values after the jump."""
        form, weights = reduced.with_primes(goal)
        number = self.numbers.get(key_of(form.coefficients)) if form.coefficients else None
        if number is None or not self.step.rows[number].form.coefficients:
            return None
        row = self.step.rows[number].form
        name = next(iter(form.coefficients))
        factor = form.coefficients[name] / row.coefficients[name]
        slope = -row.coefficients.get(ELAPSED, Fraction(0)) * factor
        late = slope > 0
        earliest = len(self.step.rows) if self.begin == self.step.end else self.step.clock + 1
        clock = self.step.clock if late else earliest
        moment = self.step.end if late else self.begin
        value = form.constant - row.constant * factor + slope * moment
        own = {number: factor, clock: abs(slope)} if slope else {number: factor}
        total = add_weights([(Fraction(1), weights), (Fraction(1), own)])
        return Bounded(value, tuple(sorted(total.items())))


def _numbers(node: Node) -> dict[Key, int]:
    return {key_of(d.normal): i for i, d in enumerate(node.directions)}


def _after(form: Form) -> Form:
    return Form({primed(n): a for n, a in form.coefficients.items()}, form.constant)
