"""Many runs of one recipe, seed after seed: in this process, or in worker processes.

What is left of a run is a `Summary`; whoever wants the whole run makes it again from its seed.
Workers read model and recipe from JSON text, and make runs in chunks. The summaries come in the
order of the seeds, whatever the number of workers.
"""

from __future__ import annotations

import json
import math
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from workbench.models.automaton import Automaton
from workbench.models.processes import end_with_parent, may_start_others, worker_context
from workbench.models.record import record
from workbench.models.trace import Ending, EventType, Scalar, Trace
from workbench.simulate.policy import Switching
from workbench.simulate.recipe import Recipe, recipe_in, recipe_out, repeat
from workbench.simulate.run import Preparation
from workbench.simulate.stepping.externs import are_provided

if TYPE_CHECKING:  # what few commands need is imported where they need it
    from concurrent.futures import Future
    from multiprocessing.synchronize import Event

    from workbench.simulate.agents.pairs import PreparedAgents
    from workbench.simulate.agents.traces import AgentTraces
    from workbench.simulate.monitoring.monitor import Monitor
    from workbench.simulate.monitoring.stl import Formula

LARGEST_CHUNK = 250


@record
class Judgement:
    """What a run says about a formula: how clearly it satisfies it (negative: it does not), when
    it is decided that it does not, and whether what comes after its end may still decide."""

    robustness: float
    violated_at: float | None
    is_open: bool

    @classmethod
    def of(cls, monitor: Monitor, trace: Trace) -> Judgement:
        """The judgement of a monitor."""
        robustness = monitor.optimistic(trace)
        if robustness < 0.0:
            return cls(robustness, monitor.first_violation(trace), False)
        return cls(robustness, None, not monitor.holds(trace, future=False))


@record
class Summary:
    """One run in a few words; `formula` is what it says about the formula, if there is one;
    `grazes` counts guards and boundaries that the run touched. `agents` has, for each group of
    components with a clock of its own, how many they are and their steps."""

    seed: int
    ending: Ending
    time: float
    sentence: str
    name: str
    jumps: int
    steps: int
    evaluations: int
    violated: tuple[str, ...]
    grazes: int
    agents: Mapping[str, tuple[int, int]]
    formula: Judgement | None = None
    final: dict[str, Scalar] = field(default_factory=dict)

    @property
    def agent_steps(self) -> int:
        """Accepted steps, each counted once for every component that it moves."""
        return sum(count * steps for count, steps in self.agents.values())

    @property
    def is_bad(self) -> bool:
        """Whether a property or the formula was violated."""
        return bool(self.violated) or (self.formula is not None and self.formula.robustness < 0.0)


class RunMaker:
    """Makes runs of one recipe; a `preparation` of the model may be at hand."""

    def __init__(
        self,
        automaton: Automaton,
        recipe: Recipe,
        formula: Formula | None = None,
        preparation: Preparation | None = None,
    ):
        self.recipe = recipe
        self._prepared = (preparation or Preparation(automaton)).prepared(recipe.inputs)
        self._agents: PreparedAgents | None = None
        self._last: tuple[int, AgentTraces] | None = None
        self._base = automaton
        if recipe.own_clocks or recipe.synchronous:
            from workbench.simulate.agents.asynchronous import prepare_agents

            one_clock = recipe.synchronous or recipe.policy.switching is not Switching.EARLIEST
            self._agents = prepare_agents(automaton, inputs=recipe.inputs, synchronous=one_clock)
        self._monitor: Monitor | None = None
        if formula is not None:
            from workbench.simulate.monitoring.monitor import Monitor

            symbols = self._prepared.symbols
            self._monitor = Monitor(automaton, formula, symbols, recipe.inputs)

    def trace(self, seed: int, dense: bool = True) -> Trace:
        """The whole run of a seed."""
        if self._agents is not None:
            from workbench.simulate.agents.merge import merged

            return merged(self._agents.product, self._together(seed))
        return repeat(self._prepared, replace(self.recipe, seed=seed), dense=dense)

    def _together(self, seed: int) -> AgentTraces:
        """The run of a seed, agent by agent; the last one is kept."""
        assert self._agents is not None
        if self._last is not None and self._last[0] == seed:
            return self._last[1]
        from workbench.simulate.agents.asynchronous import simulate_agents

        recipe = self.recipe
        found = simulate_agents(
            self._agents,
            until=recipe.until,
            method=recipe.method,
            policy=recipe.policy,
            inputs=recipe.inputs,
            initial=recipe.initial,
            parameters=recipe.parameters,
            seed=seed,
            stop_on_violation=recipe.stop_on_violation,
            sliding=recipe.sliding,
        )
        self._last = (seed, found)
        return found

    def clocks(self, seed: int) -> dict[str, tuple[float, ...]]:
        """The ends of the steps of each group of components that has a clock of its own, in the
        run of a seed; nothing where all have one clock."""
        if self._agents is None:
            return {}
        traces = self._together(seed).traces
        return {name: _step_ends(trace) for name, trace in traces.items()}

    def _work_of(self, seed: int, run: Trace | AgentTraces) -> dict[str, tuple[int, int]]:
        """How many components each group has, and its steps."""
        if self._agents is None:
            return {self._base.name: (len(self._base.components), run.counts.steps)}
        found = self._together(seed)
        sizes = found.sizes
        return {n: (sizes[n], t.counts.steps) for n, t in found.traces.items()}

    def summary(self, seed: int, trace: Trace | None = None) -> Summary:
        """What is left of the run of a seed; a dense trace of it may be given."""
        run: Trace | AgentTraces
        if trace is None and self._monitor is None and self._agents is not None:
            run, judgement = self._together(seed), None
        else:
            run = trace = trace or self.trace(seed, dense=self._monitor is not None)
            judgement = None
            if self._monitor is not None and trace.segments:
                judgement = Judgement.of(self._monitor, trace)
        outcome = run.outcome
        final = run.final() if not isinstance(run, Trace) or run.segments else {}
        return Summary(
            seed,
            outcome.ending,
            outcome.time,
            outcome.sentence,
            outcome.name,
            sum(e.type is EventType.JUMP for e in run.events),
            run.counts.steps,
            run.counts.evaluations,
            tuple(sorted({e.name for e in run.events if e.type is EventType.VIOLATION})),
            sum(e.type is EventType.GRAZING for e in run.events),
            self._work_of(seed, run),
            judgement,
            {n: v for n, v in final.items() if not isinstance(v, float) or math.isfinite(v)},
        )


def _step_ends(trace: Trace) -> tuple[float, ...]:
    return tuple(dict.fromkeys(t for segment in trace.segments for t in segment.times))


def in_workers(
    automaton: Automaton,
    recipe: Recipe,
    formula: Formula | None,
    seeds: range,
    workers: int,
) -> Iterator[Summary]:
    """The summaries of the runs of these seeds, in order, made by worker processes; by this one
    if functions from outside are provided, or it may have no workers."""
    if are_provided() or not may_start_others():
        maker = RunMaker(automaton, recipe, formula)
        yield from map(maker.summary, seeds)
        return
    from concurrent.futures import ProcessPoolExecutor

    from workbench.models.interchange.json_model import to_json

    size = max(1, min(LARGEST_CHUNK, len(seeds) // (4 * workers)))
    chunks = [seeds[i : i + size] for i in range(0, len(seeds), size)]
    context = worker_context()
    stop = context.Event()
    executor = ProcessPoolExecutor(
        workers,
        mp_context=context,
        initializer=_set_up,
        initargs=(
            json.dumps(to_json(automaton)),
            json.dumps(recipe_out(recipe)),
            None if formula is None else formula.text,
            stop,
        ),
    )
    waiting: deque[Future[list[Summary]]] = deque()
    try:
        for chunk in chunks:
            waiting.append(executor.submit(_work, chunk))
            if len(waiting) > 2 * workers:
                yield from waiting.popleft().result()
        while waiting:
            yield from waiting.popleft().result()
    finally:
        stop.set()  # nothing is waited for any more, or nothing is wanted
        executor.shutdown(wait=True, cancel_futures=True)


_here: list[RunMaker] = []
"""What makes the runs of this worker process."""

_stop: list[Event] = []
"""Set when nobody wants the rest of this worker's runs."""


def _set_up(model: str, recipe: str, formula: str | None, stop: Event) -> None:
    import signal

    from workbench.models.interchange.json_model import from_json
    from workbench.simulate.monitoring.stl import parse_formula

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends the work
    end_with_parent()
    given: dict[str, Any] = json.loads(recipe)
    parsed = None if formula is None else parse_formula(formula)
    _stop[:] = [stop]
    _here[:] = [RunMaker(from_json(model), recipe_in(given), parsed)]


def _work(seeds: range) -> list[Summary]:
    done: list[Summary] = []
    for seed in seeds:
        if _stop[0].is_set():
            break
        done.append(_here[0].summary(seed))
    return done
