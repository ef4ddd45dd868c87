"""Flowpipes of nonlinear hybrid automata: the search for nodes that cover all runs.

Stays are explored from the initial sets on, first come first served, each followed with Taylor
models (`reach.nonlinear.taylor_search`) until its rows contradict the invariant or the horizon
is reached. Steps in a row that meet a guard share a successor: the box around all that the jump
leads to. A successor that lies in a known entry set needs no new one. An entry set from which the
flow is lost, or meets bad states, is cut in two, if the method allows it.

The rows come from the trusted part, so what is searched with is what is checked.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from workbench.models.automaton import TIME, primed
from workbench.models.checker.covers import Cover, Impossible
from workbench.models.checker.flowpipe import FlowpipeProof, step_of
from workbench.models.checker.stay_conditions import conditions_in, start_time
from workbench.models.checker.taylor_flow import NonlinearFlow, nonlinear_flow
from workbench.models.checker.taylor_node import TaylorNode, TaylorStep, stretch
from workbench.models.expressions.traversal import free_variables
from workbench.models.linear import Form
from workbench.models.lowering.problem import LinearProblem
from workbench.reach.affine.reduced_rows import Bounded, ReducedRows
from workbench.reach.affine.step_evidence import Key, key_of, scaled_to_grid
from workbench.reach.affine.step_source import StepSource
from workbench.reach.nonlinear.entry_parts import Entry, Normal, Part, Span
from workbench.reach.nonlinear.fidelity import Fidelity, fidelity
from workbench.reach.nonlinear.parts import (
    Found,
    Given,
    Met,
    NonlinearMethod,
    NotFollowed,
    Pending,
    Stay,
    Surroundings,
    clusters,
)
from workbench.reach.nonlinear.taylor_search import Follower, LostError

OVERTIME = Fraction(1, 1 << 12)
"""How much longer than to the horizon a stay is followed, relative to it."""

CROSSING = 3
"""Steps on which a jump becomes possible or ceases to be are shorter than 4^-CROSSING of the
longest stay, and four times as short at each level."""

Source = Callable[[Form], Bounded | None]


class _Stop(Exception):  # noqa: N818 - control flow inside this module, not an error
    def __init__(self, reason: str, *, hopeless: bool = False):
        super().__init__(reason)
        self.hopeless = hopeless


class _Missed(Exception):  # noqa: N818 - control flow inside this module, not an error
    """The stays from a part are not followed well enough; `axis`: where to cut it."""

    def __init__(self, reason: str, axis: int | None):
        super().__init__(reason)
        self.axis = axis


class NonlinearExploration:
    """The state of one search."""

    def __init__(
        self,
        problem: LinearProblem,
        horizon: Fraction | None,
        method: NonlinearMethod,
        expired: Callable[[], bool] = lambda: False,
        progress: Callable[[str], None] = lambda text: None,
    ):
        self.problem, self.horizon, self.method = problem, horizon, method
        self.expired, self.progress = expired, progress
        self.step_count = 0
        self._entries: list[Entry] = []
        self._queue: deque[tuple[Entry, Part]] = deque()
        self._stays: list[tuple[Part, Stay]] = []
        self._starts: list[Given] = []
        self._surroundings: dict[str, Surroundings] = {}
        self._fidelities: dict[tuple[str, tuple[str, ...]], Fidelity] = {}

    def run(self) -> FlowpipeProof | NotFollowed:
        """Explore; the proof, or why there is none."""
        try:
            self._begin()
            while self._queue:
                self._expand(*self._queue.popleft())
        except _Stop as stop:
            return self._failure(str(stop), hopeless=stop.hopeless)
        except _Missed as missed:
            return self._failure(str(missed))
        return self._proof()

    def _failure(self, reason: str, *, hopeless: bool = False) -> NotFollowed:
        return NotFollowed(reason, len(self._stays), self.step_count, hopeless)

    def _proof(self) -> FlowpipeProof:
        counts: dict[str, int] = {}
        for part, stay in self._stays:
            place = stay.node.location
            part.region = counts.get(place, 0)
            counts[place] = part.region + 1
        evidence = [_made(given) for given in self._starts]
        for _, stay in self._stays:
            for jumps, safety in zip(stay.jumps, stay.safety, strict=True):
                evidence += [_made(given) for given in jumps]
                evidence += safety
            evidence += stay.end
        nodes = tuple(stay.node for _, stay in self._stays)
        return FlowpipeProof(self.horizon, nodes, tuple(evidence))

    # Entry sets

    def _begin(self) -> None:
        for location, cases in self.problem.starts():
            for rows in cases:
                reduced = ReducedRows(rows + start_time())
                refuted = reduced.refutation()
                if refuted is not None:
                    self._starts.append(Impossible(refuted))
                    continue
                count = len(reduced.original)
                self._starts += self._enter(location, [reduced.largest], [count])

    def _enter(
        self, location: str, sources: Sequence[Source], counts: Sequence[int]
    ) -> list[Pending]:
        """The entry set around what the sources bound, known or new; that it contains it,
        for each source (`counts`: how many rows it has)."""
        bounds: dict[str, tuple[list[Bounded], list[Bounded]]] = {}
        for name in sorted(self.problem.names | ({TIME} if self.horizon is not None else set())):
            found = [
                [source(Form({primed(name): Fraction(sign)})) for source in sources]
                for sign in (1, -1)
            ]
            known = [[b for b in side if b is not None] for side in found]
            if all(len(side) == len(sources) for side in known):
                bounds[name] = known[0], known[1]
        flow = self._followed(location, bounds)
        spans = tuple(self._span(name, *bounds[name]) for name in flow.names)
        normals: tuple[Normal, ...] = tuple({name: Fraction(1)} for name in flow.names)
        made = Entry(location, flow.names, normals, Part(spans))
        entry = next((e for e in self._entries if e.contains(made)), None)
        if entry is None:
            entry = made
            self._entries.append(entry)
            self._queue.append((entry, entry.whole))
        return [
            Pending(
                entry,
                tuple(side[k].multipliers for name in flow.names for side in bounds[name]),
                counts[k],
            )
            for k in range(len(sources))
        ]

    def _followed(self, location: str, names: Mapping[str, object]) -> NonlinearFlow:
        """The flow of those names whose derivatives read nothing unknown."""
        followed = sorted(names)
        while followed:
            flow = nonlinear_flow(self.problem, location, followed)
            if isinstance(flow, str):
                followed = [n for n in followed if not self._unbounded(location, n)]
                continue
            inputs = {u for u in flow.inputs if None not in flow.limits.get(u, (None, None))}
            known = set(followed) | inputs
            kept = [
                name
                for name, rates in zip(followed, flow.rates, strict=True)
                if free_variables(*rates) <= known
            ]
            if kept == followed:
                return flow
            followed = kept
        raise _Stop(f"no variable has bounds in {location}", hopeless=True)

    def _unbounded(self, location: str, name: str) -> bool:
        return isinstance(nonlinear_flow(self.problem, location, [name]), str)

    def _span(self, name: str, highs: Sequence[Bounded], lows: Sequence[Bounded]) -> Span:
        low, high = -max(b.value for b in lows), max(b.value for b in highs)
        if name == TIME and name not in self.problem.names and self.horizon is not None:
            high = max(high, self.horizon)  # later entries then lie in earlier ones
        if low > high:
            high = low = (low + high) / 2
        grid = Fraction(1, 1 << 44) * _power_above(max(abs(low), abs(high), Fraction(1, 1 << 60)))
        return _outwards(low, grid, up=False), _outwards(high, grid, up=True)

    # Stays

    def _expand(self, entry: Entry, part: Part) -> None:
        if self.expired():
            raise _Stop("the time limit was reached")
        if len(self._stays) >= self.method.max_nodes:
            raise _Stop(f"more than {self.method.max_nodes} stays are needed")
        try:
            stay = self._follow(entry, part)
        except _Missed as missed:
            if missed.axis is None or part.depth >= self.method.depth:
                raise
            for half in reversed(part.halve(missed.axis)):
                self._queue.appendleft((entry, half))
            return
        self._stays.append((part, stay))

    def _follow(self, entry: Entry, part: Part) -> Stay:
        flow = nonlinear_flow(self.problem, entry.location, entry.names)
        assert not isinstance(flow, str), "entry sets are made of names that can be followed"
        close = self._fidelity(flow, entry, part)
        node = TaylorNode(
            entry.location,
            entry.names,
            entry.forms(part),
            self._normals(entry),
            (),
            close.order,
            close.memory,
            close.bits,
        )
        longest = self._longest(entry, part)
        follower = Follower(flow, node.rows, part.spans, longest, close, self.method.step)
        numbers = {key_of(normal): i for i, normal in enumerate(node.normals)}
        around = self._around(entry.location)
        crossing = longest / 4 ** (CROSSING + self.method.level)
        stay = Stay(node)
        taken: list[TaylorStep] = []
        met: list[Met] = []
        elapsed = Fraction(0)
        while True:
            if self.expired():
                raise _Stop(f"the time limit was reached {self._where(entry, part, elapsed)}")
            try:
                followed = follower.advance()
            except LostError as lost:
                raise self._lost(entry, part, elapsed, lost, follower) from None
            self.step_count += 1
            end = elapsed + followed.length
            self._tell(entry, part, end)
            step = step_of(node, stretch(follower.machine, node, followed.reached, elapsed, end))
            safety = around.safety(node, step, numbers)
            if safety is None:
                if follower.shorten(followed):
                    continue
                where = self._where(entry, part, elapsed)
                axis = follower.influence()
                raise _Missed(f"the flowpipe meets bad states {where}", axis)
            jumps, possible = around.meet(node, step, numbers)
            if followed.length > crossing and possible.is_loose and follower.shorten(followed):
                continue
            stay.safety.append(safety)
            stay.jumps.append(jumps)
            met.append(possible)
            elapsed = end
            thorough = elapsed >= longest or len(taken) % 8 == 7
            ended = around.ended(step, numbers, thoroughly=thorough)
            if ended is not None:
                taken.append(TaylorStep(followed.length, followed.radii))
                break
            if elapsed >= longest or len(taken) >= self.method.max_steps:
                raise _Stop(f"a stay in {entry.location} has no end in sight", hopeless=True)
            try:
                taken.append(follower.turn(followed))
            except LostError as lost:
                raise self._lost(entry, part, elapsed, lost, follower) from None
        stay.end = ended
        stay.node = replace(node, steps=tuple(taken))
        self._leave(stay, met, numbers)
        return stay

    def _fidelity(self, flow: NonlinearFlow, entry: Entry, part: Part) -> Fidelity:
        key = entry.location, entry.names
        found = self._fidelities.get(key)
        if found is None:
            found = self._fidelities[key] = fidelity(flow, part.spans, self.method.level)
        return found

    def _around(self, location: str) -> Surroundings:
        found = self._surroundings.get(location)
        if found is None:
            conditions = conditions_in(self.problem.measuring, location)
            found = self._surroundings[location] = Surroundings(conditions, self.horizon)
        return found

    def _longest(self, entry: Entry, part: Part) -> Fraction:
        """How long a stay may last, a little more than to the horizon."""
        if self.horizon is None:
            return self.method.longest
        earliest = dict(zip(entry.names, part.spans, strict=True)).get(TIME, (Fraction(0),))[0]
        return max(Fraction(0), self.horizon - earliest) + self.horizon * OVERTIME

    def _normals(self, entry: Entry) -> tuple[Normal, ...]:
        """The directions of a node: axes, and what the conditions speak about."""
        followed = set(entry.names)
        measured = self.problem.quantities(entry.location).values()
        chosen: dict[Key, Normal] = {}
        for name in (*entry.names, *measured):
            for sign in (1, -1) if name != TIME or TIME in self.problem.names else (-1,):
                normal = {name: Fraction(sign)}
                chosen.setdefault(key_of(normal), normal)
        conditions = self._around(entry.location).conditions
        cases = [*conditions.staying]
        cases += [bad.rows for bad in conditions.bad]
        cases += [jump.rows for jump in conditions.jumps]
        for rows in cases:
            for row in rows:
                names = row.form.coefficients.keys()
                if names and names <= followed:
                    normal = scaled_to_grid({n: -a for n, a in row.form.coefficients.items()})
                    chosen.setdefault(key_of(normal), normal)
        return tuple(chosen.values())

    def _leave(self, stay: Stay, met: list[Met], numbers: Mapping[Key, int]) -> None:
        """Entry sets for the successors of the steps that meet a guard."""
        for number, cluster in clusters(met):
            if self.expired():
                raise _Stop("the time limit was reached")
            sources = [StepSource(m.step, m.rows[number], numbers, set()) for m in cluster]
            counts = [len(m.rows[number].original) for m in cluster]
            target = self._around(stay.node.location).targets[number]
            entered = self._enter(target, sources, counts)
            first = next(k for k, m in enumerate(met) if m is cluster[0])
            for k, pending in enumerate(entered, start=first):
                stay.jumps[k][number] = pending

    # What to say

    def _lost(
        self, entry: Entry, part: Part, elapsed: Fraction, lost: LostError, follower: Follower
    ) -> _Missed:
        where = self._where(entry, part, elapsed)
        what = f" (widest: {lost.name})" if lost.name else ""
        return _Missed(f"{lost}{what} {where}", follower.influence())

    def _where(self, entry: Entry, part: Part, elapsed: Fraction) -> str:
        spans = dict(zip(entry.names, part.spans, strict=True))
        now = elapsed + spans.get(TIME, (Fraction(0),))[0]
        goal = "" if self.horizon is None else f" of {float(self.horizon):.4g}"
        return f"at time {float(now):.4g}{goal} in {entry.location}"

    def _tell(self, entry: Entry, part: Part, elapsed: Fraction) -> None:
        if self.step_count % 8 == 0:
            self.progress(
                f"nonlinear flowpipe: {self._where(entry, part, elapsed)}, "
                f"{len(self._stays)} stays done, {len(self._queue)} waiting, "
                f"{self.step_count} steps"
            )


def _made(given: Given | None) -> Cover:
    assert given is not None, "every jump is decided before the search ends"
    return given.evidence() if isinstance(given, Pending) else given


def _power_above(value: Fraction) -> Fraction:
    """A power of two that is at least the value."""
    return Fraction(2) ** (value.numerator.bit_length() - value.denominator.bit_length() + 1)


def _outwards(value: Fraction, grid: Fraction, *, up: bool) -> Fraction:
    """The value if it is simple, else rounded to a multiple of the grid."""
    if value.denominator <= 1 << 20:
        return value
    return (-(-value // grid) if up else value // grid) * grid


def search_nonlinear(
    problem: LinearProblem,
    horizon: Fraction | None,
    method: NonlinearMethod,
    expired: Callable[[], bool] = lambda: False,
    progress: Callable[[str], None] = lambda text: None,
) -> Found | NotFollowed:
    """A flowpipe that proves the property up to the horizon (for all time without one), or
    why the last attempt failed."""
    steps = attempts = 0
    outcome: FlowpipeProof | NotFollowed = NotFollowed("the time limit was reached")
    for level, depth in ((0, 0), (1, 0), (2, 0), (1, 3), (2, 6), (2, 16)):
        if expired():
            break
        attempt = replace(method, level=method.level + level, depth=method.depth + depth)
        search = NonlinearExploration(problem, horizon, attempt, expired, progress)
        outcome = search.run()
        attempts, steps = attempts + 1, steps + search.step_count
        if isinstance(outcome, FlowpipeProof):
            return Found(outcome, attempts, steps)
        if outcome.hopeless:
            break
    assert isinstance(outcome, NotFollowed)
    late = expired() and not outcome.hopeless
    return replace(outcome, steps=steps, attempts=attempts, out_of_time=late)
