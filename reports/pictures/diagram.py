"""A picture of a model: nested agents with the variables they share, nested modes with
their transitions; for a flat automaton, its locations and edges.

`draw_agent` and `draw_automaton` return a complete SVG document. Layout is deterministic,
so pictures can be compared.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath
from urllib.parse import quote

from workbench.models.agents.hierarchy import (
    DEFAULT_ENTRY,
    DEFAULT_EXIT,
    INIT,
    Access,
    Agent,
    AgentInstance,
    ControlPoint,
    Mode,
    ModeInstance,
    Transition,
    renamed,
)
from workbench.models.automaton import Automaton, Edge, HybridAutomaton, Location, Property
from workbench.models.counting import counted
from workbench.models.expressions.expression import TRUE
from workbench.models.expressions.printing import to_text
from workbench.models.source import Span
from workbench.reports.pictures.diagram_parts import (
    LINE_LIMIT,
    Arrow,
    box,
    chart,
    control_point,
    label_lines,
    port,
    start_point,
    with_start,
)
from workbench.reports.pictures.svg import Figure, Line, cut, document
from workbench.reports.words import wording

DEPTH_DRAWN = 16
"""Agents and modes nested deeper than this are drawn as closed boxes."""

ALIKE_DRAWN = 1
"""How many of a group of replicated agents are drawn open."""

STARTS_WRITTEN = 3
"""How many initial sets of a component are written out."""

STARTS_MARKED = 4
"""From this many on, first submodes are marked by a dot and not joined to a start."""

LOCATIONS_DRAWN = 60
"""Flat automata are drawn up to this many locations."""


def draw_agent(agent: Agent, *, title: str) -> str:
    """The hierarchy of an agent as an SVG document."""
    return document(_agent(agent.definition, "", agent, 0, ""), title)


def draw_automaton(automaton: Automaton) -> str:
    """The components of a flat model with their locations and edges as an SVG document."""
    components = automaton.components
    claims = [_property(claimed) for claimed in automaton.properties]
    if len(components) == 1:
        return document(_component(components[0], claims), automaton.name)
    claims = _together(components) + claims
    figures = [_component(component, []) for component in components]
    inside = chart(figures, _shared_by_components(components))
    whole = box(cut(automaton.name, LINE_LIMIT), "network", claims, inside, "agent")
    return document(whole, automaton.name)


# Agents


def _agent(name: str, definition: str, agent: Agent, depth: int, path: str) -> Figure:
    lines = [_plain(line) for line in wording.grouped_declarations(agent.variables)]
    lines += [_plain(wording.bounded("const", p)) for p in agent.parameters]
    lines += [_plain(f"init where {c}") for c in wording.conditions(agent.initial)]
    lines += [_plain(f"assume {c}") for c in wording.conditions(agent.assumption)]
    if len(agent.interactions) > 3:
        lines += [_plain(wording.interaction(agent.interactions[0]))]
        lines += [Line(f"and {len(agent.interactions) - 1} more interactions", "soft")]
    else:
        lines += [_plain(wording.interaction(i)) for i in agent.interactions]
    lines += [cut(wording.claim(c), LINE_LIMIT, "claim") for c in agent.claims]
    inside = _inside_agent(agent, depth, path)
    return box(cut(name, LINE_LIMIT), f"agent {definition}".strip(), lines, inside, "agent")


def _inside_agent(agent: Agent, depth: int, path: str) -> Figure | None:
    if depth >= DEPTH_DRAWN:
        return None
    if agent.top is not None:
        place = _Inside(path or agent.definition)
        return _mode(agent.top.definition, "mode", agent.top, depth + 1, place)
    groups = _groups(agent.agents)
    figures = [_group(group, depth, path) for group in groups]
    arrows = _shared_variables(agent, groups, figures)
    return chart(figures, arrows) if figures else None


def _groups(instances: Sequence[AgentInstance]) -> list[tuple[AgentInstance, ...]]:
    """Agents to be drawn one by one, and those that look like the one before them."""
    groups: list[tuple[AgentInstance, ...]] = []
    drawn: dict[str, int] = defaultdict(int)
    for instance in instances:
        family = instance.name.partition("[")[0] if "[" in instance.name else ""
        drawn[family] += 1
        if not family or drawn[family] <= ALIKE_DRAWN or drawn[family] == ALIKE_DRAWN + 1:
            groups.append((instance,))
        else:
            groups[-1] += (instance,)
    return groups


def _group(group: tuple[AgentInstance, ...], depth: int, path: str) -> Figure:
    if len(group) == 1:
        name, agent = group[0].name, group[0].agent
        inner = f"{path}.{name}" if path else name
        return _agent(name, agent.definition, agent, depth + 1, inner)
    title = cut(f"{group[0].name} … {group[-1].name}", LINE_LIMIT)
    note = [Line(f"{counted(len(group), 'more agent')}, built alike", "soft")]
    return box(title, f"agent {group[0].agent.definition}", note, None, "more")


def _shared_variables(
    agent: Agent, groups: Sequence[tuple[AgentInstance, ...]], figures: list[Figure]
) -> list[Arrow]:
    """Arrows from the agent that writes a variable to those that read it; variables that
    cross the border come from and go to ports, which are added to the figures."""
    writers: dict[str, dict[int, None]] = defaultdict(dict)
    readers: dict[str, dict[int, str]] = defaultdict(dict)
    for index, group in enumerate(groups):
        for instance in group:
            for declared in instance.agent.variables:
                outer = renamed(instance.renaming, declared.name)
                if declared.access in (Access.WRITE, Access.READ_WRITE):
                    writers[outer][index] = None
                if declared.access in (Access.READ, Access.READ_WRITE):
                    readers[outer].setdefault(index, declared.name)
    between: dict[tuple[int, int], list[str]] = defaultdict(list)
    entering: dict[tuple[int, ...], list[str]] = defaultdict(list)
    for name, reading in readers.items():
        for index, own_name in reading.items():
            for writer in writers.get(name, ()):
                if writer != index:
                    between[writer, index].append(_renaming_text(name, own_name))
        if name not in writers:
            entering[tuple(reading)].append(name)
    own = {d.name for d in agent.variables if d.access in (Access.WRITE, Access.READ_WRITE)}
    leaving: dict[int, list[str]] = defaultdict(list)
    for name, writing in writers.items():
        for index in writing if name in own else ():
            leaving[index].append(name)
    arrows = [
        Arrow(source, target, _data_label(names), "data")
        for (source, target), names in between.items()
    ]
    for reading_group, names in entering.items():
        figures.append(port(", ".join(names)))
        arrows += [Arrow(len(figures) - 1, index, (), "data") for index in reading_group]
    for index, names in leaving.items():
        figures.append(port(", ".join(names)))
        arrows.append(Arrow(index, len(figures) - 1, (), "data"))
    return arrows


def _renaming_text(outer: str, own: str) -> str:
    return outer if outer == own else f"{outer} → {own}"


def _data_label(names: Sequence[str]) -> tuple[Line, ...]:
    if len(names) <= 4:
        return tuple(cut(name, 30, "port") for name in names)
    shown = [cut(name, 30, "port") for name in names[:3]]
    return (*shown, Line(f"… {len(names) - 3} more", "port", "\n".join(names)))


# Modes


@dataclass(frozen=True, slots=True)
class _Inside:
    """Where a mode is: the path of its agent and that of the modes below the top."""

    agent: str
    modes: str = ""

    def submode(self, name: str) -> _Inside:
        """The place of a submode."""
        return _Inside(self.agent, f"{self.modes}.{name}" if self.modes else name)

    @property
    def tag(self) -> str:
        """The mode's tag in the drawing."""
        return mode_tag(self.agent, self.modes)


def mode_tag(component: str, modes: str) -> str:
    """The tag of a drawn mode: `follower.controller/optimal`; of a top mode, no modes."""
    return quote(f"{component}/{modes}", errors="replace")


def transition_tag(component: str, span: Span | None) -> str:
    """The tag of a drawn transition: its component and its place in the text."""
    if span is None:
        return ""
    place = f"{PurePath(span.file).name}:{span.line}:{span.column}"
    return quote(f"{component}@{place}", errors="replace")


def _mode(name: str, kind: str, mode: Mode, depth: int, place: _Inside) -> Figure:
    local = [v for v in mode.variables if v.access is Access.PRIVATE]
    lines = [_plain(line) for line in wording.grouped_declarations(local)]
    lines += [_plain(wording.flow(f)) for f in mode.flows]
    lines += [_plain(wording.equation(a)) for a in mode.algebraic]
    lines += [cut(f"inv {c}", LINE_LIMIT, "soft") for c in wording.conditions(mode.invariant)]
    lines += [cut(wording.claim(c), LINE_LIMIT, "claim") for c in mode.claims]
    inside = _inside_mode(mode, depth, place) if mode.submodes and depth < DEPTH_DRAWN else None
    role = "composite" if mode.submodes else "mode"
    return box(cut(name, LINE_LIMIT), kind, lines, inside, role, place.tag)


def _submode(instance: ModeInstance, depth: int, around: _Inside) -> Figure:
    name, mode = instance.name, instance.mode
    return _mode(name, mode.definition, mode, depth + 1, around.submode(name))


def _inside_mode(mode: Mode, depth: int, place: _Inside) -> Figure:
    marked = _marked_starts(mode)
    drawn = [t for t in mode.transitions if not (_begins(t) and t.target.submode in marked)]
    figures: list[Figure] = []
    index: dict[ControlPoint | str, int] = {}
    for transition in drawn:
        if transition.source.submode is None and transition.source not in index:
            index[transition.source] = len(figures)
            figures.append(_entry(transition.source))
    for instance in mode.submodes:
        index[instance.name] = len(figures)
        figure = _submode(instance, depth, place)
        if instance.name in marked:
            figure = with_start(figure, marked[instance.name])
        figures.append(figure)
    for transition in drawn:
        if transition.target.submode is None and transition.target not in index:
            index[transition.target] = len(figures)
            figures.append(control_point(transition.target.point, leaving=True))
    composite = {s.name for s in mode.submodes if s.mode.submodes}
    arrows = [
        Arrow(
            index[t.source.submode or t.source],
            index[t.target.submode or t.target],
            _transition_label(t, composite),
            tag=transition_tag(place.agent, t.span),
        )
        for t in drawn
    ]
    return chart(figures, arrows)


def _begins(transition: Transition) -> bool:
    """Whether a transition leads from the first entry into a submode, to its default."""
    source, target = transition.source, transition.target
    return (
        source.submode is None
        and source.point in (INIT, DEFAULT_ENTRY)
        and target.submode is not None
        and target.point == DEFAULT_ENTRY
        and not transition.actions
    )


def _marked_starts(mode: Mode) -> dict[str, str]:
    """The submodes marked as first ones instead of joined to a start by arrows, which would
    hide the rest where there are many; with the conditions, shown on hovering."""
    first = [t for t in mode.transitions if _begins(t)]
    if len(first) < STARTS_MARKED:
        return {}
    return {t.target.submode: wording.transition(t) for t in first if t.target.submode}


def _entry(point: ControlPoint) -> Figure:
    if point.point in (INIT, DEFAULT_ENTRY):
        return start_point()
    return control_point(point.point, leaving=False)


def _transition_label(transition: Transition, composite: set[str]) -> tuple[Line, ...]:
    source, target = transition.source, transition.target
    lines = []
    if source.submode is not None and source.point != DEFAULT_EXIT:
        lines.append(Line(f"at exit {source.point}", "label"))
    if target.submode is not None and target.point != DEFAULT_ENTRY:
        lines.append(Line(f"to entry {target.point}", "label"))
    elif target.submode in composite:
        lines.append(Line("resumes (history)", "label"))
    if transition.urgent:
        lines.append(Line("urgent", "label"))
    changes = wording.changes(transition.actions)
    guard = wording.conditions(transition.guard)
    return (*label_lines(transition.label, guard, changes), *lines)


# Flat automata


def _component(component: HybridAutomaton, claims: list[Line]) -> Figure:
    lines = [_plain(line) for line in wording.grouped_variables(component)]
    lines += [_plain(wording.bounded("input", i)) for i in component.inputs]
    lines += [_plain(wording.bounded("const", p)) for p in component.parameters]
    lines += [
        _plain(wording.start(s))
        for s in component.initial[:STARTS_WRITTEN]
        if s.condition != TRUE or s.resets
    ]
    lines += claims
    shown = component.locations[:LOCATIONS_DRAWN]
    if len(shown) < len(component.locations):
        count = len(component.locations)
        lines.append(Line(f"{len(shown)} of {count} locations are drawn", "soft"))
    first = {start.location for start in component.initial}
    figures = [_location(component.name, place, place.name in first) for place in shown]
    index = {location.name: i for i, location in enumerate(shown)}
    arrows = [
        Arrow(
            index[edge.source],
            index[edge.target],
            _edge_label(edge),
            tag=transition_tag(component.name, edge.span),
        )
        for edge in component.edges
        if edge.source in index and edge.target in index
    ]
    inside = chart(figures, arrows)
    return box(cut(component.name, LINE_LIMIT), "automaton", lines, inside, "agent")


def _edge_label(edge: Edge) -> tuple[Line, ...]:
    guard, changes = wording.conditions(edge.guard), wording.jumps(edge.resets)
    label = label_lines(wording.edge_name(edge), guard, changes)
    return (*label, Line("urgent", "label")) if edge.urgent else label


def _location(component: str, location: Location, starts: bool) -> Figure:
    lines = [_plain(wording.flow(f)) for f in location.flows]
    lines += [_plain(wording.equation(a)) for a in location.algebraic]
    lines += [cut(f"inv {c}", LINE_LIMIT, "soft") for c in wording.conditions(location.invariant)]
    tag = mode_tag(component, location.name)
    figure = box(cut(location.name, LINE_LIMIT), "", lines, None, "mode", tag)
    return with_start(figure) if starts else figure


def _shared_by_components(components: Sequence[HybridAutomaton]) -> list[Arrow]:
    """Arrows for the variables of one component that another reads."""
    writers = {v.name: i for i, c in enumerate(components) for v in c.variables}
    between: dict[tuple[int, int], list[str]] = defaultdict(list)
    for index, component in enumerate(components):
        for read in component.inputs:
            if writers.get(read.name, index) != index:
                between[writers[read.name], index].append(read.name)
    return [Arrow(s, t, _data_label(names), "data") for (s, t), names in between.items()]


def _together(components: Sequence[HybridAutomaton]) -> list[Line]:
    """Which labels several components take at once."""
    takers: dict[str, list[str]] = defaultdict(list)
    for component in components:
        labels = {edge.label for edge in component.edges if edge.label} | component.alphabet
        for label in sorted(labels):
            takers[label].append(component.name)
    return [
        _plain(f"#{label} is taken together by {', '.join(names)}")
        for label, names in takers.items()
        if len(names) > 1
    ]


def _property(claimed: Property) -> Line:
    word = "assert" if claimed.kind == "assertion" else "forbid"
    where = "" if claimed.where == TRUE else f" while {to_text(claimed.where)}"
    return cut(f'{word} "{claimed.name}": {to_text(claimed.condition)}{where}', LINE_LIMIT, "claim")


def _plain(text: str) -> Line:
    return cut(text, LINE_LIMIT)
