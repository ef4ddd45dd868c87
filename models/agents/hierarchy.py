"""Agents and modes: the hierarchical model after elaboration.

Elaboration has resolved names, substituted constants and parameters and unrolled
replication; what remains is CHARON's own structure (Proc. IEEE 91(1), 2003, section III).

A mode M = <submodes, variables, entry points, exit points, transitions, constraints>; the
default entry `de` and default exit `dx` always exist. An agent is atomic (one top-level
mode) or composed of agents that run in parallel and share variables by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from enum import StrEnum

from workbench.models.automaton import (
    Constraint,
    EventKind,
    Kind,
    Parameter,
    PropertyKind,
    Range,
    ValueType,
)
from workbench.models.enumeration import plain_members
from workbench.models.expressions.expression import TRUE, Expression
from workbench.models.expressions.ranges import bounds
from workbench.models.record import record
from workbench.models.source import Span

DEFAULT_ENTRY = "de"
DEFAULT_EXIT = "dx"
INIT = "init"
"""The entry point of a top-level mode, used once, when an agent starts."""


@plain_members
class Access(StrEnum):
    """Who may change a variable: the environment, this part, both, or only this part
    (and nobody else sees it)."""

    READ = "read"
    WRITE = "write"
    READ_WRITE = "readwrite"
    PRIVATE = "private"

    @property
    def writes(self) -> bool:
        """Whether this part may assign the variable or let it flow."""
        return self is not Access.READ


@record
class Declaration:
    """A variable of an agent or a mode; `initial` is the range of its first value."""

    name: str
    type: ValueType
    kind: Kind
    access: Access
    initial: Range | None = None
    span: Span | None = field(default=None, compare=False)


@record
class ControlPoint:
    """A point of the mode itself (`submode` is None) or of one of its submodes."""

    submode: str | None
    point: str

    def __str__(self) -> str:
        return self.point if self.submode is None else f"{self.submode}.{self.point}"


@record
class Transition:
    """A guarded action from one control point to another, inside one mode."""

    source: ControlPoint
    target: ControlPoint
    guard: Expression = TRUE
    actions: tuple[Constraint, ...] = ()
    label: str | None = None
    urgent: bool = False
    event: EventKind = EventKind.UNILATERAL
    span: Span | None = field(default=None, compare=False)


@record
class Claim:
    """An assertion, or a forbidden set, of a mode (while it is active) or an agent, and what
    might still have helped where it is violated (see `Property`)."""

    name: str
    condition: Expression
    kind: PropertyKind = PropertyKind.ASSERTION
    span: Span | None = field(default=None, compare=False)
    rescue: tuple[Constraint, ...] = ()


@record
class ModeInstance:
    """A mode used inside another under a name; `renaming` maps the mode's own names of
    global variables to those of the mode around it (same name where absent)."""

    name: str
    mode: Mode
    renaming: tuple[tuple[str, str], ...] = ()
    span: Span | None = field(default=None, compare=False)


@record
class Mode:
    """A mode with its parameters replaced by values; `definition` is its name in the text."""

    definition: str
    variables: tuple[Declaration, ...] = ()
    submodes: tuple[ModeInstance, ...] = ()
    entries: tuple[str, ...] = ()
    exits: tuple[str, ...] = ()
    transitions: tuple[Transition, ...] = ()
    flows: tuple[Constraint, ...] = ()
    algebraic: tuple[Constraint, ...] = ()
    invariant: Expression = TRUE
    claims: tuple[Claim, ...] = ()
    span: Span | None = field(default=None, compare=False)

    @property
    def is_atomic(self) -> bool:
        """Whether the mode has no submodes."""
        return not self.submodes

    def submode(self, name: str) -> ModeInstance:
        """The instance of that name."""
        return next(s for s in self.submodes if s.name == name)


@record
class AgentInstance:
    """An agent used inside another; `name` may carry an index (`car[3]`), and `renaming`
    maps the agent's own names to those of the agent around it."""

    name: str
    agent: Agent
    renaming: tuple[tuple[str, str], ...] = ()
    span: Span | None = field(default=None, compare=False)


@record
class Interaction:
    """An event between two sub-agents: a guard over the variables of both and resets on
    both. Those declared once for many pairs are kept as a family (see `models.agents.families`).

    Names are qualified by the instance: `car[1].x`.
    """

    name: str
    participants: tuple[str, str]
    guard: Expression
    actions: tuple[Constraint, ...] = ()
    urgent: bool = False
    event: EventKind = EventKind.UNILATERAL
    span: Span | None = field(default=None, compare=False)

    def expressions(self) -> tuple[Expression, ...]:
        """Its guard, and the bounds of what it assigns."""
        return (self.guard, *bounds(*self.actions))

    def between(
        self,
        participants: tuple[str, str],
        names: Mapping[str, str],
        change: Callable[[Expression], Expression],
    ) -> Interaction:
        """The same interaction of other participants, with names replaced."""
        return replace(
            self,
            participants=participants,
            guard=change(self.guard),
            actions=tuple(c.renamed(names, change) for c in self.actions),
        )


@record
class Agent:
    """An agent with its parameters replaced by values.

    `initial` further restricts the declared initial values (over the agent's own names);
    `assumption` constrains the inputs; `parameters` are uncertain constants.
    """

    definition: str
    variables: tuple[Declaration, ...] = ()
    initial: Expression = TRUE
    top: Mode | None = None
    agents: tuple[AgentInstance, ...] = ()
    interactions: Sequence[Interaction] = ()
    claims: tuple[Claim, ...] = ()
    assumption: Expression = TRUE
    predicates: tuple[Expression, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    span: Span | None = field(default=None, compare=False)

    @property
    def is_atomic(self) -> bool:
        """Whether the agent's behaviour is a single top-level mode."""
        return self.top is not None


def renamed(renaming: tuple[tuple[str, str], ...], name: str) -> str:
    """The outer name of a variable under a renaming."""
    mapping: Mapping[str, str] = dict(renaming)
    return mapping.get(name, name)
