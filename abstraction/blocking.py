"""Whether runs can always go on: what a few runs show, and what can be proved.

A run is *blocked* where neither time can pass nor an edge leads on: the invariant ends and no guard
holds (a timelock), or an urgent edge leads nowhere (a deadlock). Claims hold of such runs for want
of behaviour, so `look` makes a counted number of runs (corners of what the model leaves open, then
random ones from a fixed seed) and tells how they end. A run counts as blocked only where also the
condition of `models.lowering.stuck`, which knows nothing of the simulator, holds at its end.

`decide` answers whether runs never block, as a property: FALSIFIED with a run that ends stuck, by
two methods of integration; else the methods for safety look for a proof that no reachable state is
stuck, which with a first state of a run is a certificate (`models.checker.progress`).
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Set, Sized
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

from workbench.abstraction.going_on import inner_first, may_go_on, may_wait
from workbench.abstraction.strategies.strategy import ENDS_OF_RUNS, FIRST_STATE, Task
from workbench.models.automaton import (
    BOOL,
    INT,
    REAL,
    TIME,
    Automaton,
    Initial,
    Input,
    Kind,
    Parameter,
    Property,
    PropertyKind,
    ValueType,
    primed,
)
from workbench.models.checker.progress import FirstState, Value, fault_of_start
from workbench.models.counting import counted
from workbench.models.expressions.evaluation import EvaluationError, evaluate
from workbench.models.expressions.expression import (
    Expression,
    compare,
    conjunction,
    constant,
    equal,
    variable,
)
from workbench.models.expressions.literals import COMPARE
from workbench.models.expressions.operators import BOOLEAN_OPERATORS, COMPARISONS, Op
from workbench.models.expressions.printing import to_text
from workbench.models.expressions.ranges import bounds, value_in
from workbench.models.expressions.traversal import free_variables, substitute
from workbench.models.interruption import CheckInterruptedError, go_on, interruptible
from workbench.models.linear import affine
from workbench.models.lowering.alternatives import Types
from workbench.models.lowering.problem import proved_view
from workbench.models.lowering.stuck import fault_of_places
from workbench.models.source import ModelError
from workbench.models.trace import Ending, EventType, Scalar, Trace
from workbench.models.unfolding import case_of
from workbench.models.verdict import Confirmation, Effort, Falsified, Unknown, Verdict
from workbench.models.work import spent
from workbench.simulate.place import Prepared
from workbench.simulate.policy import Level, Policy, Switching
from workbench.simulate.recipe import Recipe, recorded, repeat
from workbench.simulate.run import prepare
from workbench.simulate.stepping.methods import Adams, Taylor

RUNS = 40
"""So many runs are made at most."""
REPEATED = 3
"""So many random runs that end like earlier ones say that there are no others."""
STEPS, WORK = 20_000, 1_000.0
"""The steps of all runs together, weighted by the number of variables beyond ten; and their work,
after which no other is begun."""
MOST_JUMPS = 1000
DEFAULT_UNTIL = 50.0
"""How long runs are where neither the model nor the user says."""
RTOL, ATOL = 1e-9, 1e-12
NEAR = 1e-6
"""How far beside a stuck state the end of a run may be, by rounding, relative to its values."""
SHORTLY, MANY = 1e-3, 4
"""So many ever shorter times between jumps, the last one below this part of all time, are taken for
infinitely many."""
SIMPLE = 1000
"""The largest denominator of a simple number."""
SHOWN = 4
"""So many values of a stuck state are told."""

_CORNERS = tuple(
    Policy(switching, level)
    for switching in (Switching.EARLIEST, Switching.LATEST)
    for level in (Level.MID, Level.LOW, Level.HIGH)
)
_WITHOUT_BORDER = frozenset({Op.LESS, Op.GREATER, Op.NOT_EQUAL, Op.NOT})
_PILED = {Ending.ZENO: "Zeno", Ending.LIVELOCK: "livelock", Ending.CHATTERING: "chattering"}
"""Ends of runs whose jumps follow one another while (almost) no time passes, in a word."""


@dataclass(frozen=True)
class Blocking:
    """How some runs end: `blocked` are those that end stuck, each with what repeats it, `standing`
    those in which no time can pass any more, though an edge may lead to and fro, `failed` those in
    which a function from outside fails."""

    runs: int
    blocked: tuple[tuple[Recipe, Trace], ...] = ()
    piled: tuple[Trace, ...] = ()
    standing: tuple[Trace, ...] = ()
    lost: tuple[Trace, ...] = ()
    failed: tuple[Trace, ...] = ()
    without_start: str = ""
    where: str = ""
    cut: bool = False
    """Whether the clock cut the runs: then there may be more to say."""

    @property
    def sentence(self) -> str:
        """What keeps runs from going on, in words; empty if nothing was seen."""
        if self.without_start:
            return self.without_start
        found = []
        if self.blocked:
            latest = max(trace.end for _, trace in self.blocked)
            at_most = f" at t <= {latest:.6g}" if len(self.blocked) == self.runs else ""
            who = self._who(self.blocked, "ends", "end")
            found.append(f"{who} blocked{at_most}: {self.where}")
        found += [self.without_time] if self.without_time else []
        found += [self._broken_off(self.failed)] if self.failed else []
        if self.cut and not found:
            return "the time limit cut the look at whether runs go on"
        return "; ".join(found)

    @property
    def without_time(self) -> str:
        """What keeps time from going on although runs do, in words: of this a proof that runs
        never block says nothing."""
        found = []
        if self.piled:
            first = self.piled[0]
            jumps = [event.time for event in first.events if event.type is EventType.ACCUMULATION]
            when = min([first.outcome.accumulation or first.outcome.time, *jumps])
            what = _PILED.get(first.outcome.ending, _PILED[Ending.ZENO])
            who = self._who(self.piled, "jumps", "jump")
            found.append(f"{who} without end by t = {when:.6g} ({what})")
        if self.standing:
            latest = max(trace.outcome.time for trace in self.standing)
            who = self._who(self.standing, "comes", "come")
            found.append(f"{who} to a standstill by t = {latest:.6g}: jumps are left, but no time")
        found += [self._broken_off(self.lost)] if self.lost else []
        return "; ".join(found)

    def beside(self, claim: Property) -> str:
        """What is to be said beside a verdict on a claim: that runs block is no news beside one
        on just that."""
        return self.without_time if is_progress(claim) else self.sentence

    def _broken_off(self, some: tuple[Trace, ...]) -> str:
        """How many runs cannot be followed any further, and why the first cannot."""
        why = some[0].outcome.sentence.removesuffix(".")
        return f"{self._who(some, 'breaks', 'break')} off: {why[:1].lower()}{why[1:]}"

    def _who(self, some: Sized, one: str, many: str) -> str:
        """How many runs do something, with the verb for one run and for many."""
        if len(some) == self.runs:
            return f"every simulated run {one}"
        return f"{len(some)} of {self.runs} simulated runs {many}"


def look(
    automaton: Automaton, until: float | None = None, deadline: float = float("inf")
) -> Blocking:
    """How runs of a model end. Only runs that the deadline cuts make a difference between
    machines."""
    horizon = until if until is not None else float(automaton.horizon or DEFAULT_UNTIL)
    found = Blocking(0)
    try:
        for recipe, trace in _runs(prepare(automaton), automaton, horizon, deadline):
            if trace.outcome.ending is Ending.EMPTY_INITIAL:
                found = replace(found, without_start=found.without_start or trace.outcome.sentence)
            else:
                found = _with_run(found, automaton, recipe, trace)
    except CheckInterruptedError:
        found = replace(found, cut=True)
    except ModelError:
        return Blocking(0)
    if found.without_start:
        said = "" if found.runs else _no_run(automaton, found.without_start)
        found = replace(found, without_start=said)
    return replace(found, where=_stuck_places(automaton, [trace for _, trace in found.blocked]))


def decide(task: Task, method: str) -> Verdict:
    """Whether runs never block."""
    from workbench.abstraction.verification import verify

    begun = time.monotonic()
    horizon = None if task.horizon is None else float(task.horizon)
    task.progress("do runs block?")
    given = task.options.get(ENDS_OF_RUNS)
    seen = given if isinstance(given, Blocking) else look(task.automaton, horizon, task.deadline)
    effort = Effort({"search": time.monotonic() - begun}, {"simulations": seen.runs})
    for recipe, trace in seen.blocked:
        found = _falsified(task, recipe, trace, effort)
        if found is not None:
            return found
    reason = ""
    if seen.without_start:
        reason, advice = seen.without_start, "correct the `init` block or the invariant"
    elif seen.blocked:
        if any(trace.end < trace.outcome.time for _, trace in seen.blocked):
            reason = f"{seen.sentence}, but simulations jump on there"
            advice = "give the guard its border (`>=` for `>`), if it is meant to be met there"
        else:
            reason = f"{seen.sentence}, but a second computation does not confirm it"
            advice = "look at such a run: `workbench simulate`"
    elif seen.failed:
        reason, advice = seen.sentence, "mend the function"
    elif method == "simulation":
        reason = f"{counted(seen.runs, 'simulated run')} went on"
        advice = "try --method auto, which also looks for a proof"
    if reason:
        return Unknown(task.claim.name, "simulation", reason, advice, effort)
    if fault := fault_of_places(task.automaton):
        reason = f"{fault}, so nothing is known of what comes after"
        advice = "write <= for <, and conditions for what may have no value"
        return Unknown(task.claim.name, method, reason, advice, effort)
    start = first_state(task.automaton)
    if start is None:
        reason = "no first state of a run was found in exact numbers, which a proof needs"
        advice = "give variables first values that are numbers"
        return Unknown(task.claim.name, method, reason, advice, effort)
    return verify(replace(task, options={**task.options, FIRST_STATE: start}), method)


def is_progress(claim: Property) -> bool:
    """Whether the property is that runs never block."""
    return claim.kind is PropertyKind.PROGRESS


# Runs


def _runs(
    prepared: Prepared, automaton: Automaton, until: float, deadline: float
) -> Iterator[tuple[Recipe, Trace]]:
    """Runs, the corners first, as long as they differ and there is work left; with the states
    before jumps only where there are guards to be looked at (`_through_a_border`)."""
    edges = (edge for part in automaton.components for edge in part.edges)
    dense = any(_leaves_out_a_border(edge.guard) for edge in edges)
    weight = max(1.0, len(automaton.variables) / 10)
    left = STEPS / weight
    ends: Counter[object] = Counter()
    repeated, most = 0, spent() + WORK
    for number in range(RUNS):
        if left < 1 or spent() >= most or repeated == REPEATED:
            return
        corner = number < len(_CORNERS)
        policy = _CORNERS[number] if corner else Policy.random()
        method = Adams(RTOL, ATOL, max_steps=max(1, int(left)))
        recipe = Recipe(until, policy=policy, seed=number, method=method, stop_on_violation=False)
        with interruptible(lambda: time.monotonic() > deadline):
            go_on()
            trace = repeat(prepared, recipe, dense=dense, max_jumps=MOST_JUMPS)
        left -= trace.counts.steps + 1
        end = (trace.outcome.time, tuple(trace.final().items()) if trace.segments else ())
        ends[end] += 1
        repeated = repeated + 1 if ends[end] > 1 and not corner else 0
        yield recipe, trace


def _piles_up(trace: Trace) -> bool:
    """Whether infinitely many jumps happen in finite time: what comes after them is no part of
    the run, although the simulator may go on from where they lead. A run that ends blocked after
    jumps that follow each other ever faster is taken for one."""
    if trace.outcome.ending in _PILED:
        return True
    if any(event.type is EventType.ACCUMULATION for event in trace.events):
        return True
    if trace.outcome.ending is not Ending.BLOCKED:
        return False
    times = sorted({e.time for e in trace.events if e.type is EventType.JUMP})[-MANY - 1 :]
    gaps = [after - before for before, after in pairwise(times)]
    shortly = SHORTLY * max(1.0, trace.outcome.time)
    faster = all(later < earlier for earlier, later in pairwise(gaps))
    return len(gaps) == MANY and faster and gaps[-1] <= shortly


def _with_run(known: Blocking, automaton: Automaton, recipe: Recipe, trace: Trace) -> Blocking:
    """What is known with one run more."""
    known = replace(known, runs=known.runs + 1)
    ending = trace.outcome.ending
    if (until_stuck := _until_stuck(automaton, trace)) is not None:
        return replace(known, blocked=(*known.blocked, (recipe, until_stuck)))
    if _piles_up(trace):
        return replace(known, piled=(*known.piled, trace))
    if ending is Ending.BLOCKED and _ends_without(may_wait, automaton, trace):
        return replace(known, standing=(*known.standing, trace))
    if ending is Ending.STEP_TOO_SMALL:
        return replace(known, lost=(*known.lost, trace))
    if ending is Ending.EXTERNAL_FAILED:
        return replace(known, failed=(*known.failed, trace))
    return known


def _until_stuck(automaton: Automaton, trace: Trace) -> Trace | None:
    """The trace until its run is stuck, if it is."""
    if (passed := _through_a_border(automaton, trace)) is not None:
        return passed
    ending = trace.outcome.ending
    is_end = ending.may_be_stuck and not (ending is Ending.BLOCKED and _piles_up(trace))
    return trace if is_end and _ends_stuck(automaton, trace) else None


def _through_a_border(automaton: Automaton, trace: Trace) -> Trace | None:
    """The trace up to a jump that is none: simulations, whose numbers are a little off, take
    `x > 2` for met at x = 2, also where no run gets beyond. The first jump out of each location
    is looked at."""
    known: set[str] = set()
    jumps = {event.time for event in trace.jumps}
    for number, (stay, following) in enumerate(pairwise(trace.segments), 1):
        if stay.location in known or stay.end not in jumps:
            continue
        known.add(stay.location)
        edges = [
            edge
            for edge in automaton.edges_from(stay.location)
            if edge.target == following.location and not edge.urgent
        ]
        if not any(_leaves_out_a_border(edge.guard) for edge in edges):
            continue
        part = replace(trace, segments=trace.segments[:number])
        is_met = any(_is_met(edge.guard, part) for edge in edges)
        if not is_met and _ends_stuck(automaton, part, surely=True):
            return part
    return None


def _is_met(guard: Expression, trace: Trace) -> bool:
    """Whether a guard holds where a trace ends, if simple numbers are what they are next to."""
    try:
        return bool(evaluate(guard, {n: _simple(v) for n, v in _values_at_end(trace).items()}))
    except (EvaluationError, LookupError, OverflowError):
        return False


def _values_at_end(trace: Trace) -> dict[str, Scalar]:
    return {**trace.parameters, **trace.segments[-1].valuation(trace.end), TIME: trace.end}


def _leaves_out_a_border(condition: Expression) -> bool:
    return any(n.op in _WITHOUT_BORDER for n in inner_first(condition))


def _no_run(automaton: Automaton, said: str) -> str:
    """That there is no run, of which a simulation said why: for sure if the solver says so."""
    from workbench.models.smt.solver import Unsatisfiable

    answers = [answer for answer, _ in _starts(proved_view(automaton))]
    if answers and all(isinstance(answer, Unsatisfiable) for answer in answers):
        return "no run starts: no initial state satisfies the invariant where runs begin"
    return f"no simulated run starts: {said.removeprefix('There is no run: ')}"


def _ends_stuck(automaton: Automaton, trace: Trace, *, surely: bool = False) -> bool:
    """Whether a run cannot go on from where it ends. Values next to simple numbers are these, so
    that a flow that only comes ever closer to a boundary is no end; others may be off by rounding.
    If one surface is near, the run is taken to end on it, and to cross it if that is more than a
    touch; if there are several, it is not sure which of them end the run."""
    return _ends_without(may_go_on, automaton, trace, surely=surely)


def _ends_without(
    ways: Callable[[Automaton, str, Types, Fraction], Expression],
    automaton: Automaton,
    trace: Trace,
    *,
    surely: bool = False,
) -> bool:
    """Whether none of the ways is open where a run ends, as `_ends_stuck` judges."""
    if not trace.segments:
        return False
    view = proved_view(automaton)
    place = case_of(view, trace.segments[-1].location, trace.final())
    types = {v.name: v.type for v in view.variables if v.kind is Kind.DISCRETE and v.type != REAL}
    values = _values_at_end(trace)
    simple = {name: _simple(value) for name, value in values.items()}
    vague = {name for name, value in simple.items() if isinstance(value, float)}
    numbers = (float(v) for v in values.values() if not isinstance(v, str))
    scale = max([1.0, *(abs(v) for v in numbers if math.isfinite(v))])
    goes_on = ways(view, place, types, Fraction(NEAR * scale))
    measured = _Measured(simple, vague, NEAR * scale, not surely)
    try:
        if len(near := measured.near_surfaces(goes_on)) == 1:
            measured = replace(measured, surface=near.pop())
        _, is_stuck = _truth(goes_on, measured)
    except (EvaluationError, LookupError, OverflowError):
        return False
    return is_stuck


def _simple(value: Scalar) -> Scalar | Fraction:
    """The simple number next to a value, if there is one; else the value."""
    if isinstance(value, bool | str) or not math.isfinite(value):
        return value
    near = Fraction(value).limit_denominator(SIMPLE)
    return near if abs(float(near) - value) <= NEAR * 1e-3 * max(1.0, abs(value)) else value


@dataclass(frozen=True)
class _Measured:
    """Values, of which some are vague: comparisons of them that are `near` may or may not hold,
    except on the surface that is known to be reached."""

    values: Mapping[str, Scalar | Fraction]
    vague: Set[str]
    near: float
    lenient: bool
    surface: str = ""

    def truth(self, node: Expression) -> tuple[bool, bool]:
        """Whether a proposition counts as true, and whether as false: if it is lenient both of
        what is too close to call, else neither."""
        sides = self._numbers(node)
        if sides is None:
            true = bool(evaluate(node, self.values))
        elif not self._is_vague(node, sides):
            true = bool(COMPARE[node.op](*sides))
        elif _surface(node) == self.surface:
            true = bool(COMPARE[node.op](Fraction(0), Fraction(0)))
        else:
            return self.lenient, self.lenient
        return true, not true

    def near_surfaces(self, condition: Expression) -> set[str]:
        """The surfaces on which comparisons are too close to call."""
        return {
            _surface(node)
            for node in inner_first(condition)
            if (sides := self._numbers(node)) is not None and self._is_vague(node, sides)
        }

    def _numbers(self, node: Expression) -> tuple[Fraction, Fraction] | None:
        """The sides of a comparison of numbers."""
        if node.op not in COMPARISONS:
            return None
        left, right = (evaluate(side, self.values) for side in node.args)
        if isinstance(left, bool | str) or isinstance(right, bool | str):
            return None
        return Fraction(left), Fraction(right)

    def _is_vague(self, node: Expression, sides: tuple[Fraction, Fraction]) -> bool:
        left, right = map(float, sides)
        is_close = abs(left - right) <= max(self.near, NEAR * abs(left), NEAR * abs(right))
        return is_close and not self.vague.isdisjoint(free_variables(node))


def _surface(comparison: Expression) -> str:
    """Where the sides are equal, in words: alike for multiples of one affine form."""
    difference = comparison.args[0] - comparison.args[1]
    form = affine(difference)
    if form is None or not form.coefficients:
        return to_text(difference)
    return str(form.scaled(1 / form.coefficients[min(form.coefficients)]))


def _truth(condition: Expression, measured: _Measured) -> tuple[bool, bool]:
    """Whether a condition counts as true, and whether as false."""
    known: dict[int, tuple[bool, bool]] = {}
    for node in inner_first(condition):
        parts = [known[id(a)] for a in node.args] if node.op in BOOLEAN_OPERATORS else []
        if node.op is Op.NOT:
            found = parts[0][1], parts[0][0]
        elif node.op is Op.AND:
            found = all(yes for yes, _ in parts), any(no for _, no in parts)
        elif node.op is Op.OR:
            found = any(yes for yes, _ in parts), all(no for _, no in parts)
        else:
            found = measured.truth(node)
        known[id(node)] = found
    return known[id(condition)]


def _stuck_places(automaton: Automaton, traces: list[Trace]) -> str:
    """Where runs are stuck: for each location the values that matter in the first such run."""
    found: dict[str, str] = {}
    for trace in traces:
        name = trace.segments[-1].location
        if name not in found:
            found[name] = _told(automaton, name, trace)
    has_places = any(len(part.locations) > 1 for part in automaton.components)
    is_single = len(automaton.components) == 1
    shown = [
        f"{f'`{name}`' if has_places or is_single else 'the whole'} is stuck{told}"
        for name, told in found.items()
    ]
    more = [] if len(shown) <= 2 else [f"{counted(len(shown) - 2, 'other location')} too"]
    return ", ".join(shown[:2] + more)


def _told(automaton: Automaton, name: str, trace: Trace) -> str:
    place = automaton.location(name)
    read = free_variables(place.invariant, *(e.guard for e in automaton.edges_from(name)))
    for flow in place.flows:
        if flow.range.exact is None:
            read |= free_variables(*bounds(flow))
    values = trace.final()
    shown = [f"{n} = {_shown(_simple(values[n]))}" for n in values if n in read][:SHOWN]
    return f" where {', '.join(shown)}" if shown else ""


def _shown(value: Scalar | Fraction) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else f"{float(value):.6g}"


def _falsified(task: Task, recipe: Recipe, trace: Trace, effort: Effort) -> Falsified | None:
    """The verdict of a run that ends stuck, if a second method of integration ends there too."""
    recipe = replace(recipe, claim=task.claim.name).with_decisions(trace.decisions)
    whole = repeat(task.automaton, recipe, max_jumps=MOST_JUMPS)
    again = repeat(task.automaton, recipe, method=Taylor(RTOL, ATOL), max_jumps=MOST_JUMPS)
    when = whole.outcome.time
    for run in (whole, again):
        apart = abs(run.outcome.time - when) > NEAR * max(1.0, when)
        if not run.outcome.ending.may_be_stuck or apart:
            return None
        if run.segments[-1].location != whole.segments[-1].location:
            return None
        if not _ends_stuck(task.automaton, run, surely=True):
            return None
    where = _stuck_places(task.automaton, [whole])
    how = f"Adams' method and Taylor series end in the same place: {where}"
    document = recorded(whole, recipe, task.automaton.sha256)
    confirmation = Confirmation(how, 0.0)
    return Falsified(task.claim.name, "simulation", whole, (confirmation,), effort, document)


# A first state


def first_state(automaton: Automaton) -> FirstState | None:
    """A state in which a run starts, in exact numbers."""
    from workbench.models.smt.solver import Witness

    view = proved_view(automaton)
    for answer, start in _starts(view):
        if isinstance(answer, Witness) and answer.exact:
            found = _completed(view, start, answer.values)
            if fault_of_start(view, found) is None:
                return found
    return None


def _types(view: Automaton) -> dict[str, ValueType]:
    signals = {s.name: s.type for s in view.inputs} | {p.name: p.type for p in view.parameters}
    return {v.name: v.type for v in view.variables} | signals


def _starts(view: Automaton) -> Iterator[tuple[object, Initial]]:
    """What the solver says about every initial set: over names before and primed ones after."""
    from workbench.models.smt.solver import Session

    types = _types(view)
    session = Session(types | {primed(name): kind for name, kind in types.items()})
    bounds: tuple[Input | Parameter, ...] = (*view.inputs, *view.parameters)
    for start in view.initial_sets():
        after = {name: variable(primed(name)) for name in types}
        changed = {reset.variable for reset in start.resets}
        kept = [equal(variable(n), v) for n, v in after.items() if n not in changed | _codes(types)]
        kept += [_same(n) for n in sorted(_codes(types) - changed)]
        here = conjunction(view.location(start.location).invariant, view.assumption)
        parts = [start.condition, *kept, substitute(here, after)]
        parts += [value_in(primed(r.variable), r.range) for r in start.resets]
        for signal in bounds:
            if signal.low is not None:
                parts.append(compare(Op.GREATER_EQUAL, variable(signal.name), signal.low))
            if signal.high is not None:
                parts.append(compare(Op.LESS_EQUAL, variable(signal.name), signal.high))
        if TIME in types:
            parts.append(equal(variable(primed(TIME)), constant(Fraction(0))))
        yield session.satisfiable(conjunction(*parts)), start


def _codes(types: Mapping[str, ValueType]) -> set[str]:
    return {name for name, kind in types.items() if kind == BOOL}


def _same(name: str) -> Expression:
    """That a truth value is the same before and after."""
    before, after = variable(name), variable(primed(name))
    return conjunction(before, after) | (~before & ~after)


def _completed(view: Automaton, start: Initial, known: Mapping[str, Value]) -> FirstState:
    """The state of a witness, with some value for what nothing was asked about."""
    types = _types(view)
    changed = {reset.variable for reset in start.resets}
    after = {n: known.get(primed(n), known.get(n, _any(k))) for n, k in types.items()}
    before = {n: known.get(n, _any(k)) if n in changed else after[n] for n, k in types.items()}
    return FirstState(start.location, before, after)


def _any(kind: ValueType) -> Value:
    if kind == BOOL:
        return False
    return kind.values[0] if kind.values and kind != INT else Fraction(0)
