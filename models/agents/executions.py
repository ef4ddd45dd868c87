"""What an agent does: executions and their traces.

After section IV-B of the paper (Proc. IEEE 91(1), 2003). An agent has k top-level modes, one
for each atomic agent in it. An execution begins with k initial macro-steps, one of each
mode, during which no time passes; then follow, in any order, (i) continuous steps, in which
all modes flow together, (ii) discrete steps of the environment, which change only variables
that the agent reads, and (iii) macro-steps from the default entry to the default exit of
one mode, which leave the private variables of the others alone.

A trace is what the environment sees of it: the global variables. A step that changes
only private variables leaves them as they are, yet it stays in the trace: where time is
interrupted is visible.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

from workbench.models.agents.flatten import placed_agents
from workbench.models.agents.hierarchy import DEFAULT_ENTRY, DEFAULT_EXIT, Access, Agent
from workbench.models.agents.mode_tree import flat_expression
from workbench.models.agents.semantics import (
    Candidates,
    MacroStep,
    ModeSemantics,
    Valuation,
    both_ends,
)
from workbench.models.automaton import Kind
from workbench.models.expressions.evaluation import Scalar, holds
from workbench.models.expressions.polynomial_flow import Polynomial, value_at
from workbench.models.record import record


@record
class Flow:
    """A continuous step: how long, and the variables that change as polynomials in time."""

    duration: Fraction
    paths: Mapping[str, Polynomial]


@record
class Discrete:
    """A discrete step and the values after it; `mode` names the mode that moves, and is
    None for the environment."""

    mode: str | None
    values: Valuation


@record
class Execution:
    """A run so far: its steps, the values now, and which modes have started."""

    values: Valuation
    steps: tuple[Flow | Discrete, ...] = ()
    started: frozenset[str] = frozenset()

    def jumped(self, step: Discrete, started: frozenset[str]) -> Execution:
        """The run after a discrete step."""
        return Execution(step.values, (*self.steps, step), started)

    def flowed(self, step: Flow) -> Execution:
        """The run after a continuous step."""
        ends = {name: value_at(path, step.duration) for name, path in step.paths.items()}
        return Execution({**self.values, **ends}, (*self.steps, step), self.started)


class NotAStepError(ValueError):
    """The agent cannot do what was asked; the message says why."""


class AgentSemantics:
    """The modes of an agent and the steps they can take."""

    def __init__(self, agent: Agent):
        self.modes: dict[str, ModeSemantics] = {}
        self.globals = tuple(d.name for d in agent.variables if d.access is not Access.PRIVATE)
        self.inputs = frozenset(
            d.name for d in agent.variables if d.access in (Access.READ, Access.READ_WRITE)
        )
        discrete: set[str] = set()
        self._conditions = []
        for placed in placed_agents(agent):
            discrete |= {
                placed.names[d.name] for d in placed.agent.variables if d.kind is Kind.DISCRETE
            }
            self._conditions.append((placed.agent.initial, placed.names))
            if placed.agent.top is not None:
                prefix = f"{placed.path}." if placed.path else ""
                name = placed.path or placed.agent.definition
                self.modes[name] = ModeSemantics(placed.agent.top, placed.names, prefix)
        self._discrete = frozenset(discrete)

    def begin(self, values: Valuation) -> Execution:
        """An execution before the initial macro-steps; histories are filled in."""
        first = dict(values)
        for mode in self.modes.values():
            for declared in mode.private_declarations():
                exact = declared.initial.exact if declared.initial is not None else None
                if declared.name not in first and exact is not None:
                    first[declared.name] = _literal(exact.value)
        for condition, names in self._conditions:
            if not holds(flat_expression(condition, names), first):
                raise NotAStepError(f"the initial condition {condition} does not hold")
        return Execution(first)

    def initial_steps(
        self, run: Execution, mode: str, candidates: Candidates = both_ends
    ) -> Iterator[Execution]:
        """The executions after the initial macro-step of a mode."""
        if mode in run.started:
            raise NotAStepError(f"{mode} has started already")
        semantics = self.modes[mode]
        found = semantics.macro_steps(semantics.start, run.values, candidates).found
        yield from self._after(run, mode, found, run.started | {mode})

    def macro_steps(
        self, run: Execution, mode: str, candidates: Candidates = both_ends
    ) -> Iterator[Execution]:
        """The executions after a macro-step of one mode."""
        self._require_started(run)
        found = self.modes[mode].macro_steps(DEFAULT_ENTRY, run.values, candidates).found
        yield from self._after(run, mode, found, run.started)

    def _after(
        self, run: Execution, mode: str, found: tuple[MacroStep, ...], started: frozenset[str]
    ) -> Iterator[Execution]:
        for step in found:
            if step.exit == DEFAULT_EXIT:
                yield run.jumped(Discrete(mode, step.values), started)

    def environment_step(self, run: Execution, changes: Valuation) -> Execution:
        """The execution after the environment sets some of the agent's inputs."""
        self._require_started(run)
        foreign = sorted(changes.keys() - self.inputs)
        if foreign:
            raise NotAStepError(f"the environment cannot change {', '.join(foreign)}")
        return run.jumped(Discrete(None, {**run.values, **changes}), run.started)

    def flow(
        self, run: Execution, paths: Mapping[str, Polynomial], duration: Fraction
    ) -> Execution:
        """The execution after all modes flow together; exact.

        Inputs flow only by environment steps here: an agent's environment is discrete.
        """
        self._require_started(run)
        moved = sorted(n for n in paths.keys() & self.inputs if len(paths[n]) > 1)
        problems = [f"the input {name} changes" for name in moved]
        problems += [
            f"{name}: {problem}"
            for name, mode in self.modes.items()
            for problem in mode.flow_violations(run.values, paths, duration, self._discrete)
        ]
        if problems:
            raise NotAStepError("; ".join(problems))
        return run.flowed(Flow(duration, paths))

    def trace(self, run: Execution) -> tuple[Flow | Discrete, ...]:
        """What the environment sees: the steps with private variables left out."""
        seen: list[Flow | Discrete] = []
        for step in run.steps:
            if isinstance(step, Flow):
                paths = {n: p for n, p in step.paths.items() if n in self.globals}
                seen.append(Flow(step.duration, paths))
            else:
                seen.append(Discrete(None, {n: step.values[n] for n in self.globals}))
        return tuple(seen)

    def _require_started(self, run: Execution) -> None:
        waiting = sorted(self.modes.keys() - run.started)
        if waiting:
            raise NotAStepError(f"{', '.join(waiting)} must take the initial step first")


def _literal(value: object) -> Scalar:
    assert isinstance(value, Fraction | bool | str), f"{value!r} is no literal"
    return value
