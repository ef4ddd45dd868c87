"""Composition rules: which parts of two hierarchies must be compared, and why that is enough.

- *unchanged*: equal parts refine each other; nothing is asked about them.
- *parallel composition*, *hiding*, *renaming*: agents with the same parts, joined in the same
  way, refine each other if their parts do, each alone and with unconstrained inputs; nothing
  but a part itself may speak about its private variables, and no interaction of the whole,
  which changes variables without asking the part that they belong to. First values that the
  whole or another part asks for are those before the first transitions: where they concern what
  a part's first transitions assign or its equations define, the part is not compared alone.
  Nor where an urgent guard reads what another part's equation defines, and so has other limits
  in the whole (`limits_across`).
- *submode*: modes that differ only in submodes refine each other if these do. An atomic mode is
  compared alone only if it has the same algebraic equations, without private variables (what
  they define jumps with what they read, also where the mode is only entered), the same urgent
  transitions, and no transition between control points that the other has not; and, beside
  urgent transitions anywhere, the same ways in, since these decide where such are enabled.
- Parts are paired by name, and a renaming that makes two variables one is not looked into.
- otherwise the two are flattened, and a forward simulation is asked for.

An assumption of an agent about its inputs restricts nothing inside a composition (it is a
claim about the surroundings), so an agent with an assumption is not compared alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from workbench.abstraction.refinement.first_values import starts_alone
from workbench.abstraction.refinement.limits_across import have_limits_of_their_own
from workbench.abstraction.refinement.outcome import Rule
from workbench.models.agents.flatten import placed_agents
from workbench.models.agents.hierarchy import (
    DEFAULT_ENTRY,
    Access,
    Agent,
    AgentInstance,
    Declaration,
    Mode,
    ModeInstance,
    Transition,
)
from workbench.models.agents.resets import simultaneous
from workbench.models.automaton import (
    INT,
    UNCONSTRAINED,
    Edge,
    HybridAutomaton,
    Initial,
    Input,
    Location,
    Variable,
)
from workbench.models.expressions.expression import TRUE, conjunction
from workbench.models.expressions.ranges import bounds, value_in
from workbench.models.expressions.traversal import free_variables


@dataclass(frozen=True)
class AgentPair:
    """Two agents to be flattened and compared; `path` says where they are."""

    path: str
    detailed: Agent
    abstract: Agent


@dataclass(frozen=True)
class ModePair:
    """Two atomic modes of the same place."""

    path: str
    detailed: Mode
    abstract: Mode


@dataclass(frozen=True)
class Rules:
    """A rule, and what it leaves to be shown."""

    path: str
    rule: Rule
    below: tuple[Plan, ...] = ()
    note: str = ""


Plan: TypeAlias = AgentPair | ModePair | Rules


def plan_of(detailed: Agent, abstract: Agent, path: str, whole: frozenset[str]) -> Plan:
    """How to show that one agent refines another; those at the paths in `whole` are compared
    without looking inside."""
    if behave_alike(detailed, abstract):
        return Rules(path, Rule.UNCHANGED)
    if path in whole:
        return AgentPair(path, detailed, abstract)
    if detailed.agents and behave_alike(_without_parts(detailed), _without_parts(abstract)):
        pairs = list(_paired(detailed.agents, abstract.agents))
        if len(pairs) == len(detailed.agents) == len(abstract.agents):
            return _parallel(detailed, abstract, pairs, path, whole)
    inside = _by_modes(detailed, abstract, path)
    return AgentPair(path, detailed, abstract) if inside is None else inside


def _by_modes(detailed: Agent, abstract: Agent, path: str) -> Plan | None:
    """The rule for two atomic agents that differ in their modes alone."""
    if detailed.top is None or abstract.top is None:
        return None
    if not behave_alike(replace(detailed, top=abstract.top), abstract):
        return None
    hurried = has_urgency(detailed.top) or has_urgency(abstract.top)
    return _modes(detailed.top, abstract.top, _inner(path, detailed.top.definition), hurried)


def leaves(plan: Plan) -> Iterator[AgentPair | ModePair]:
    """What has to be shown by simulations, in order."""
    pending = [plan]
    while pending:
        part = pending.pop()
        if isinstance(part, Rules):
            pending.extend(reversed(part.below))
        else:
            yield part


def _parallel(
    detailed: Agent,
    abstract: Agent,
    pairs: list[tuple[AgentInstance, AgentInstance]],
    path: str,
    whole: frozenset[str],
) -> Plan:
    if not have_limits_of_their_own(part for pair in pairs for part in pair):
        return AgentPair(path, detailed, abstract)
    below: list[Plan] = []
    for own, other in pairs:
        inner = plan_of(own.agent, other.agent, _inner(path, own.name), whole)
        changed = not (isinstance(inner, Rules) and inner.rule is Rule.UNCHANGED)
        inside = any(name.startswith(f"{own.name}.") for name in joints(detailed))
        if changed and (inside or detailed.interactions or assumes(own.agent)):
            return AgentPair(path, detailed, abstract)
        alone = any(isinstance(leaf, AgentPair) for leaf in leaves(inner))
        if alone and not starts_alone(detailed, own, other):
            return AgentPair(path, detailed, abstract)
        if own.renaming and changed:
            note = ", ".join(f"{a} := {b}" for a, b in own.renaming)
            inner = Rules(_inner(path, own.name), Rule.RENAMING, (inner,), note)
        below.append(inner)
    joined = Rules(path, Rule.PARALLEL, tuple(below))
    hidden = [d.name for d in detailed.variables if d.access is Access.PRIVATE]
    return Rules(path, Rule.HIDING, (joined,), ", ".join(hidden)) if hidden else joined


def joints(agent: Agent) -> frozenset[str]:
    """The names by which an agent itself constrains its parts."""
    found = set(free_variables(agent.initial, agent.assumption))
    for event in agent.interactions:
        found |= free_variables(event.guard)
        for action in event.actions:
            bounds = (b for b in (action.range.low, action.range.high) if b is not None)
            found |= free_variables(*bounds) | {action.variable}
    for declared in agent.variables:
        if declared.initial is not None:
            given = declared.initial
            found |= free_variables(*(b for b in (given.low, given.high) if b is not None))
    return frozenset(found)


def assumes(agent: Agent) -> bool:
    """Whether an agent, or a part of it, assumes something about its inputs."""
    return any(placed.agent.assumption != TRUE for placed in placed_agents(agent))


def _paired(
    own: tuple[AgentInstance, ...], other: tuple[AgentInstance, ...]
) -> Iterator[tuple[AgentInstance, AgentInstance]]:
    """Parts that stand in the same place: of the same name (or the only ones), joined to the
    rest by the same renaming, which keeps different variables different."""
    known = {i.name: i for i in other}
    only = other[0] if len(own) == len(other) == 1 else None
    for instance in own:
        match = known.get(instance.name, only)
        if match is None or sorted(match.renaming) != sorted(instance.renaming):
            continue
        if all(tells_apart(x.agent.variables, x.renaming) for x in (instance, match)):
            yield instance, match


def tells_apart(declared: Iterable[Declaration], renaming: Iterable[tuple[str, str]]) -> bool:
    """Whether no two variables that others see get the same name."""
    new = dict(renaming)
    shown = [new.get(d.name, d.name) for d in declared if d.access is not Access.PRIVATE]
    return len(set(shown)) == len(shown)


def _modes(detailed: Mode, abstract: Mode, path: str, hurried: bool) -> Plan | None:
    """The rule for two modes; None where only the agent around them can be compared. `hurried`
    says that the modes around them have urgent transitions."""
    if replace(detailed, definition=abstract.definition, claims=abstract.claims) == abstract:
        return Rules(path, Rule.UNCHANGED)
    if detailed.is_atomic and abstract.is_atomic:
        points = (set(detailed.entries), set(detailed.exits))
        if points != (set(abstract.entries), set(abstract.exits)):
            return None
        if _mode_interface(detailed) != _mode_interface(abstract):
            return None
        if not _defines_alike(detailed, abstract) or not _steps(detailed) <= _steps(abstract):
            return None
        if _urgent(detailed) != _urgent(abstract):
            return None
        if hurried and _ways_in(detailed) != _ways_in(abstract):
            return None
        return ModePair(path, detailed, abstract)
    plain = replace(detailed, submodes=(), definition="", claims=())
    if plain != replace(abstract, submodes=(), definition="", claims=()):
        return None
    if [_placed(s) for s in detailed.submodes] != [_placed(s) for s in abstract.submodes]:
        return None
    below: list[Plan] = []
    for own, other in zip(detailed.submodes, abstract.submodes, strict=True):
        if not all(tells_apart(x.mode.variables, x.renaming) for x in (own, other)):
            return None
        inner = _modes(own.mode, other.mode, _inner(path, own.name), hurried)
        if inner is None:
            return None
        below.append(inner)
    return Rules(path, Rule.SUBMODE, tuple(below))


def _defines_alike(detailed: Mode, abstract: Mode) -> bool:
    """Whether both have the same algebraic equations, and these read no private variables."""
    private = {d.name for d in detailed.variables if d.access is Access.PRIVATE}
    mentioned = free_variables(*bounds(*detailed.algebraic))
    mentioned |= {c.variable for c in detailed.algebraic}
    return detailed.algebraic == abstract.algebraic and not private & mentioned


def _steps(mode: Mode) -> set[str]:
    """The control points that its transitions lead from and to."""
    return {f"{t.source} -> {t.target}" for t in mode.transitions}


def _ways_in(mode: Mode) -> list[Transition]:
    """The transitions that do not start where the mode rests: an urgent transition that leads
    to the mode is enabled where a way on through these is."""
    return [t for t in mode.transitions if t.source.point != DEFAULT_ENTRY]


def has_urgency(mode: Mode) -> bool:
    """Whether a mode, or one inside it, has urgent transitions."""
    if any(t.urgent for t in mode.transitions):
        return True
    return any(has_urgency(instance.mode) for instance in mode.submodes)


def _urgent(mode: Mode) -> list[Transition]:
    """The urgent ones: how long time may pass depends on the whole way that they begin."""
    return [replace(t, span=None) for t in mode.transitions if t.urgent]


def _placed(instance: ModeInstance) -> tuple[str, list[tuple[str, str]]]:
    return instance.name, sorted(instance.renaming)


def _mode_interface(mode: Mode) -> dict[str, tuple[object, ...]]:
    return {d.name: (d.type, d.kind, d.access) for d in mode.variables}


def mode_automaton(mode: Mode) -> HybridAutomaton:
    """An atomic mode by itself, in surroundings that may do anything.

    In `active` time passes; in `entered` the transitions between control points are taken,
    each labelled with its points, whatever the invariant says; `first` is the first entry,
    with the declared values of private variables.
    """
    variables = tuple(
        Variable(d.name, d.type, d.kind, d.span) for d in mode.variables if d.access.writes
    )
    inputs = tuple(
        Input(d.name, d.type, span=d.span) for d in mode.variables if not d.access.writes
    )
    names = [v.name for v in variables]
    whole = [d.name for d in mode.variables if d.type == INT]
    edges = tuple(
        Edge(
            "entered",
            "entered",
            t.guard,
            simultaneous(t.actions, names, whole),
            f"{t.source} -> {t.target}",
            t.urgent,
            name=f"{t.source} -> {t.target}",
            span=t.span,
        )
        for t in mode.transitions
    )
    first = conjunction(
        *(
            value_in(d.name, d.initial or UNCONSTRAINED)
            for d in mode.variables
            if d.access is Access.PRIVATE
        )
    )
    return HybridAutomaton(
        mode.definition,
        variables,
        (
            Location("active", mode.flows, mode.algebraic, mode.invariant, mode.span),
            Location("entered", span=mode.span),
            Location("first", span=mode.span),
        ),
        edges,
        (Initial("active"), Initial("entered"), Initial("first", first)),
        inputs,
        alphabet=frozenset(_steps(mode)),
    )


def behave_alike(detailed: Agent, abstract: Agent) -> bool:
    """Whether two agents behave alike: names of definitions and claims do not matter."""
    return (
        replace(
            detailed,
            definition=abstract.definition,
            claims=abstract.claims,
            predicates=abstract.predicates,
        )
        == abstract
    )


def _without_parts(agent: Agent) -> Agent:
    return replace(agent, agents=())


def _inner(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
