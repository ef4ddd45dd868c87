"""Flowpipes of affine hybrid automata: the search for nodes that cover all runs.

Stays are explored from the initial sets on, first come first served. A stay is cut into steps
until its rows contradict the invariant or the horizon is reached. On consecutive steps that
meet a guard the successors are taken together: the entry set of the next node is their hull
over the target's template (all axes; normals of guards, invariants and bad sets). A successor
set that lies in the entry set of a known node needs no new one, which is how a search without
horizon ends.

The rows come from the trusted part (`models.checker.flowpipe`), so what is searched with is
what is checked; only linear programs and the choice of steps use floating point.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import NoReturn

from workbench.models.automaton import TIME, primed
from workbench.models.checker.adjoint import Stage
from workbench.models.checker.affine_flow import AffineFlow
from workbench.models.checker.covers import Cover, Impossible, InCell, Split
from workbench.models.checker.flowpipe import (
    Direction,
    FlowpipeProof,
    Node,
    Slab,
    Step,
    UnsuitableError,
    at_entry,
    start_set,
    steps,
)
from workbench.models.checker.start_set import StartSet
from workbench.models.checker.stay_conditions import BadRows, before, start_time
from workbench.models.linear import Form, Row, Rows
from workbench.models.lowering.problem import LinearProblem
from workbench.reach.affine.demands import Demands, include
from workbench.reach.affine.entry_frames import (
    combinations_after,
    combinations_at_start,
    frame_of,
    slabs_of,
)
from workbench.reach.affine.flowpipe_parts import (
    NO_PLAN,
    Explored,
    FlowpipeMethod,
    JumpCase,
    Lead,
    MovedFrame,
    Normal,
    NotFound,
    Path,
    Plan,
    split_steps,
    stages_around,
    start_path,
)
from workbench.reach.affine.forecast import steps_to_shorten
from workbench.reach.affine.moved_frames import moved_frame
from workbench.reach.affine.parameter_cells import Cells, Leaf, cells_of
from workbench.reach.affine.reduced_rows import Bounded, ReducedRows
from workbench.reach.affine.step_choice import choose, rounded_up
from workbench.reach.affine.step_evidence import (
    Key,
    bounds_by_key,
    ending,
    key_of,
    keyed,
    opposite,
    quick_refutation,
)
from workbench.reach.affine.step_source import StepSource

ENTRY_BITS = 40
OVERTIME = Fraction(1, 1 << 20)
"""How much longer than necessary steps go on, relative to the stay."""

MET_ENOUGH, SEEN_ENOUGH = 12, 24
"""Stays that meet bad states before a lenient exploration ends, and stays altogether once one
does: steps that are too long make more and more stays that do not exist."""


class _Stop(Exception):  # noqa: N818 - control flow inside this module, not an error
    def __init__(self, outcome: NotFound):
        super().__init__(outcome.reason)
        self.outcome = outcome


class Exploration:
    """The state of one search."""

    def __init__(
        self,
        problem: LinearProblem,
        horizon: Fraction | None,
        method: FlowpipeMethod,
        plans: Mapping[Path, Plan] | None = None,
        *,
        lenient: bool = False,
        expired: Callable[[], bool] = lambda: False,
        progress: Callable[[str], None] = lambda text: None,
        flows: dict[str, AffineFlow] | None = None,
    ):
        self.problem, self.horizon, self.method = problem, horizon, method
        self.plans = plans or {}
        self.lenient = lenient
        self.expired, self.progress = expired, progress
        self.nodes: list[Explored] = []
        self.starts: list[Cover] = []
        self.step_count = 0
        self.demands = Demands(problem, {} if flows is None else flows)

    def run(self) -> FlowpipeProof | NotFound:
        """Explore; the proof, or why there is none.

        A `lenient` exploration goes on where bad states are met and notes the steps
        (`Explored.unsafe`); it gives no proof then. It ends with a first stay that meets
        them: no better entry sets can help there, only shorter steps; or when it has met
        them often enough to know what to refine.
        """
        unsafe = 0
        try:
            self._begin()
            for number, explored in enumerate(self.nodes):  # it grows meanwhile
                self._expand(number)
                unsafe += bool(explored.unsafe)
                enough = unsafe >= MET_ENOUGH or (unsafe and number >= SEEN_ENOUGH)
                if explored.unsafe_at_first or enough:
                    break
        except _Stop as stop:
            return stop.outcome
        except UnsuitableError as error:
            return NotFound(str(error), None, len(self.nodes), self.step_count)
        if any(e.unsafe for e in self.nodes):
            return NotFound("the flowpipe meets bad states")
        return FlowpipeProof(
            self.horizon, tuple(e.node for e in self.nodes), tuple(self._evidence())
        )

    def _evidence(self) -> Iterator[Cover]:
        yield from self.starts
        for explored in self.nodes:
            for jumps, safety in zip(explored.jumps, explored.safety, strict=True):
                for evidence in jumps:
                    assert evidence is not None, "every jump is decided before the search ends"
                    yield evidence
                yield from safety
            yield from explored.end

    # Entry sets

    def _begin(self) -> None:
        for number, (location, cases) in enumerate(self.problem.starts()):
            cells = cells_of(self.demands.flow(location), self.method.cells)
            for case, rows in enumerate(cases):
                start = (location, number, case)
                self.starts.append(self._cover_start(start, rows + start_time(), cells))

    def _cover_start(self, start: tuple[str, int, int], rows: Rows, cells: Cells) -> Cover:
        """Evidence that initial states lie in entry sets, one for each cell."""
        location, number, case = start
        if isinstance(cells, Leaf):
            reduced = ReducedRows(rows)
            refuted = reduced.refutation()
            if refuted is not None:
                return Impossible(refuted)
            path = start_path(number, case, cells.number)
            combinations = combinations_at_start(reduced, self.problem.names)
            return self._enter(location, path, [reduced.largest], combinations)[0][0]
        after = Form({primed(cells.name): Fraction(1)}, -cells.at)
        below = self._cover_start(start, (*rows, Row(after)), cells.below)
        above = self._cover_start(start, (*rows, Row(-after, True)), cells.above)
        own = [e.node for e in self.nodes if e.node.location == location]
        predicate = Form({cells.name: Fraction(1)}, -cells.at)
        region = next((r for r, node in enumerate(own) if predicate in node.entry), None)
        if region is None:
            self._fail(f"{cells.name} is not independent of the other initial values")
        return Split(region, own[region].entry.index(predicate), False, below, above)

    def _enter(
        self,
        location: str,
        path: Path,
        sources: Sequence[Callable[[Form], Bounded | None]],
        combinations: Iterable[Normal],
        moved: MovedFrame | None = None,
    ) -> tuple[list[Cover], int, bool]:
        """Evidence that what the sources bound lies in the entry set of a node, for each
        source; the node's number, and whether it is new. `combinations` may have narrow
        ranges; a `moved` frame has its own."""
        keys = [key_of(found) for found in (combinations if moved is None else moved.normals)]
        slabs = [dict(side) for key in keys for side in (key, opposite(key))]
        wanted: dict[Key, Normal] = {}
        for normal in (
            *self.demands.template(location),
            *slabs,
            *self.plans.get(path, NO_PLAN).rows,
        ):
            wanted.setdefault(key_of(normal), normal)
        normals = list(wanted.values())
        bounds: list[list[Bounded | None]] = []
        for normal in normals:
            self._in_time()
            goal = Form({primed(name): a for name, a in normal.items()})
            bounds.append([source(goal) for source in sources])
        kept = [i for i, found in enumerate(bounds) if all(b is not None for b in found)]
        entry = tuple(
            Form(
                dict(normals[i]),
                -_short(max(b.value for b in bounds[i] if b is not None)),
            )
            for i in kept
        )
        number = self._known(location, entry)
        fresh = number is None
        if number is None:
            frame = frame_of(entry, slabs[::2]) if moved is None else slabs_of(entry, moved)
            number = self._add(location, path, entry, frame)
        region = sum(1 for e in self.nodes[:number] if e.node.location == location)
        order = {key_of(form.coefficients): i for i, form in zip(kept, entry, strict=True)}
        rows = [order[key_of(form.coefficients)] for form in self.nodes[number].node.entry]
        proofs: list[Cover] = []
        for s in range(len(sources)):
            found = [bounds[i][s] for i in rows]
            proofs.append(InCell(region, 0, tuple(b.multipliers for b in found if b is not None)))
        return proofs, number, fresh

    def _known(self, location: str, entry: tuple[Form, ...]) -> int | None:
        """A node whose entry set contains the rows."""
        offered = bounds_by_key(entry)
        for number, explored in enumerate(self.nodes):
            if explored.node.location == location and all(
                key in offered and offered[key] >= bound for key, bound in explored.bounds.items()
            ):
                return number
        return None

    def _add(
        self, location: str, path: Path, entry: tuple[Form, ...], frame: tuple[Slab, ...]
    ) -> int:
        if len(self.nodes) >= self.method.max_nodes:
            self._fail(f"more than {self.method.max_nodes} stays are needed")
        flow = self.demands.flow(location)
        plan = self.plans.get(path, NO_PLAN)
        start = start_set(flow, Node(location, entry, (), (), 1, 1, Fraction(1), {}, frame))
        spans = dict(zip(flow.names, start.spans, strict=True))
        stay = self._longest(spans[TIME][0])
        if plan.fineness is not None:
            fineness = plan.fineness
        else:
            fineness = choose(flow, spans, stay, self.method.step, self.method.level)
        frames = self._moved_frames(location, start, stay) if self.method.moves_frames else {}
        stages, marks = plan.stages, plan.marks
        if not stages:
            count = -(-stay // fineness.length)
            if count > self.method.max_steps:
                self._fail(f"a stay in {location} would need {count} steps")
            stages = (Stage(fineness.length, int(count)),)
            if frames:
                windows = [moved.window for moved in frames.values()]
                stages = tuple(stages_around(windows, fineness.length, stay))
            if len(path) == 1:
                bad = [case.rows for case in self.demands.conditions(location).bad]
                marks += steps_to_shorten(flow, start, stages, fineness.degree, bad)
        stages = split_steps(stages, marks)
        total = sum((s.length * s.count for s in stages), Fraction(0))
        chosen: dict[Key, Normal] = {}
        for normal in (*plan.directions, *self.demands.directions(location)):
            include(chosen, normal)
        for moved in frames.values():
            for normal in moved.before:
                include(chosen, normal)
                include(chosen, {name: -a for name, a in normal.items()})
        rows = {key_of(form.coefficients): i for i, form in enumerate(entry)}
        directions = []
        for key, normal in chosen.items():
            helpers = {0: rows.get(key, -1)}
            for k, helper in plan.helpers.get(key, {}).items():
                helpers[k] = rows.get(helper, -1)
            size = 1 + max((k for k, row in helpers.items() if row >= 0), default=-1)
            directions.append(Direction(normal, tuple(helpers.get(k, -1) for k in range(size))))
        node = Node(
            location,
            entry,
            tuple(directions),
            stages,
            fineness.degree,
            fineness.bits,
            max(total, fineness.stay),
            fineness.scale,
            frame,
        )
        self.nodes.append(Explored(node, path, fineness, bounds_by_key(entry), marks, frames))
        return len(self.nodes) - 1

    def _moved_frames(
        self, location: str, start: StartSet, longest: Fraction
    ) -> dict[int, MovedFrame]:
        """Frames for what the jumps of a location lead to, by the numbers of their cases."""
        flow = self.demands.flow(location)
        found: dict[int, MovedFrame] = {}
        for case in self.demands.cases(location):
            self._in_time()
            moved = None if case.at_entry else moved_frame(flow, start, longest, case.rows)
            if moved is not None:
                found[case.number] = moved
        return found

    def _longest(self, earliest: Fraction | None) -> Fraction:
        """How long a stay may last, a little more than to the horizon."""
        if self.horizon is None:
            return Fraction(64)
        rest = max(Fraction(0), self.horizon - (earliest or Fraction(0)))
        return (rest + self.horizon * OVERTIME) * (1 + OVERTIME) or Fraction(1)

    # Stays

    def _expand(self, number: int) -> None:
        explored = self.nodes[number]
        node = explored.node
        until = before(self.horizon, strict=False)
        conditions = self.demands.conditions(node.location)
        cases = self.demands.cases(node.location)
        jump_rows = [(case, keyed(until + case.rows)) for case in cases]
        bad_rows = [(bad, keyed(until + bad.rows)) for bad in conditions.bad]
        numbers = {key_of(d.normal): i for i, d in enumerate(node.directions)}
        final = [before(self.horizon, strict=True) + rows for rows in conditions.staying]
        final_rows = [keyed(rows) for rows in final]
        feasible: list[list[ReducedRows | None]] = []
        for k, step in enumerate(steps(self.demands.flow(node.location), node)):
            self._in_time()
            self.step_count += 1
            if k % 64 == 0:
                self.progress(
                    f"flowpipe: node {number + 1} of {len(self.nodes)} in {node.location}, "
                    f"{float(step.begin):.4g} elapsed, {self.step_count} steps"
                )
            explored.steps.append(step)
            bad = bad_rows[: len(conditions.bad_on(step.begin))]
            self._safety(explored, step, bad, numbers, until)
            made: list[Cover | None] = []
            open_cases: list[ReducedRows | None] = []
            for case, rows in jump_rows[: len(conditions.jumps_on(step.begin))]:
                quick = None
                if not case.at_entry:
                    quick = quick_refutation(step, numbers, rows, len(step.rows))
                reduced = None
                if quick is None:
                    here = at_entry(node, step) if case.at_entry else step.rows
                    reduced = ReducedRows(here + until + case.rows)
                    quick = reduced.refutation()
                made.append(None if quick is None else Impossible(quick))
                open_cases.append(None if quick is not None else reduced)
            explored.jumps.append(made)
            feasible.append(open_cases)
            ended = ending(step, final, final_rows, numbers, quickly=True)
            if ended is not None:
                break
        else:
            ended = ending(explored.steps[-1], final, final_rows, numbers, quickly=False)
            if ended is None:
                reason = f"a stay in {node.location} has no end in sight"
                raise _Stop(NotFound(reason, None, len(self.nodes), self.step_count, endless=True))
        assert ended is not None
        explored.end = ended
        self._cut(explored)
        self._leave(explored, cases, feasible)

    def _safety(
        self,
        explored: Explored,
        step: Step,
        cases: Sequence[tuple[BadRows, list[tuple[int, Row, Key]]]],
        numbers: Mapping[Key, int],
        until: Rows,
    ) -> None:
        found: list[Cover] = []
        for case, (bad, others) in enumerate(cases):
            multipliers = None
            if not bad.at_entry:
                multipliers = quick_refutation(step, numbers, others, len(step.rows))
            if multipliers is None:
                here = at_entry(explored.node, step) if bad.at_entry else step.rows
                multipliers = ReducedRows(here + until + bad.rows).refutation()
            if multipliers is None and self.lenient and _bounded(step):
                explored.unsafe.append((len(explored.steps) - 1, case))
                continue
            if multipliers is None:
                self._crossed(explored, step)
            found.append(Impossible(multipliers))
        explored.safety.append(found)

    def _crossed(self, explored: Explored, step: Step) -> NoReturn:
        place = explored.node.location
        crossed = place, step.begin, step.end
        if not _bounded(step):
            self._fail(
                f"there is no bound of the states in {place}: its dynamics is not affine, or an "
                "input or derivative has no bounds",
                crossed if len(explored.path) > 1 else None,  # an entry set may have lost it
            )
        self._fail(
            f"the flowpipe meets bad states in {place}, between {float(step.begin):.4g} "
            f"and {float(step.end):.4g} after entry {len(explored.path)} of the run",
            crossed,
        )

    def _cut(self, explored: Explored) -> None:
        """Drop the steps that were not needed."""
        left = len(explored.steps)
        stages = []
        for stage in explored.node.stages:
            count = min(stage.count, left)
            left -= count
            if count:
                stages.append(Stage(stage.length, count))
        explored.node = _with_stages(explored.node, tuple(stages))

    def _leave(
        self,
        explored: Explored,
        cases: list[JumpCase],
        feasible: list[list[ReducedRows | None]],
    ) -> None:
        """Entry sets for the successors of the steps that meet a guard."""
        for case in cases:
            cluster: list[int] = []
            count = 0
            for k in range(len(feasible) + 1):
                possible = feasible[k] if k < len(feasible) else ()
                if case.number < len(possible) and possible[case.number] is not None:
                    cluster.append(k)
                    limit = self.method.cluster
                    if limit is None or len(cluster) < limit:
                        continue
                if cluster:
                    self._jump(explored, case, cluster, feasible, count)
                    cluster = []
                    count += 1

    def _jump(
        self,
        explored: Explored,
        case: JumpCase,
        cluster: list[int],
        feasible: list[list[ReducedRows | None]],
        count: int,
    ) -> None:
        path = (*explored.path, (case.number, count))
        planned = {key_of(normal) for normal in self.plans.get(path, NO_PLAN).rows}
        moved = explored.frames.get(case.number)
        if moved is not None:
            planned |= {key_of(normal) for normal in moved.normals}
        numbers = {key_of(d.normal): i for i, d in enumerate(explored.node.directions)}
        if case.at_entry:
            numbers = {}  # rows of steps say nothing there
        sources = []
        for k in cluster:
            reduced = feasible[k][case.number]
            assert reduced is not None
            sources.append(StepSource(explored.steps[k], reduced, numbers, planned))
        first = feasible[cluster[0]][case.number]
        assert first is not None
        combinations = combinations_after(first, self.problem.names)
        proofs, number, fresh = self._enter(case.target, path, sources, combinations, moved)
        for k, proof in zip(cluster, proofs, strict=True):
            explored.jumps[k][case.number] = proof
        early, late = sources[0].elapsed(late=False), sources[-1].elapsed(late=True)
        window = (
            explored.steps[cluster[0]].begin if early is None else -early.value,
            explored.steps[cluster[-1]].end if late is None else late.value,
        )
        explored.leads.append(Lead(case, window, first, number, fresh))

    def _in_time(self) -> None:
        if self.expired():
            self._fail("the time limit was reached")

    def _fail(self, reason: str, crossed: tuple[str, Fraction, Fraction] | None = None) -> NoReturn:
        raise _Stop(NotFound(reason, crossed, len(self.nodes), self.step_count))


def _short(bound: Fraction) -> Fraction:
    """A bound as it is if it is simple, else rounded up."""
    return bound if bound.denominator <= 1 << ENTRY_BITS else rounded_up(bound, ENTRY_BITS)


def _bounded(step: Step) -> bool:
    """Whether every direction has a bound."""
    return all(row.form.coefficients for row in step.rows)


def _with_stages(node: Node, stages: tuple[Stage, ...]) -> Node:
    return replace(node, stages=stages)
