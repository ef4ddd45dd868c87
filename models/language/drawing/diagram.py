"""One level of a model as a diagram: what is drawn, what it says, and where that is written.

A diagram is a pure function of the parsed files: it needs no model without mistakes, only a text
that can be read. Its elements are known by names, never by positions, so that what stays in the
text stays itself in the picture:

- a node by its kind and name: `agent:front`, `mode:cruise`, `entry:start`, `exit:done`,
  `variable:dist`, `init`, and `missing:nowhere` for what a transition names in vain;
- a transition by its ends as written and its label: `optimal->previous#close`;
- a variable that a part shares by both: `share:follower.velFront`.

A second element of the same name has `~2` behind it.

Levels are the file (no names: its agents and modes), an agent (its parts, its variables, and who
shares which under what name) and a mode (its submodes, its control points, its transitions).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from workbench.models.agents.hierarchy import Access
from workbench.models.language import syntax
from workbench.models.language.drawing.sources import (
    Block,
    Definition,
    Path,
    Region,
    Sources,
    SourceText,
    block,
    instances,
    keyword,
)
from workbench.models.language.format import on_one_line
from workbench.models.record import record
from workbench.models.source import Span

INIT = "init"
"""The node from which a mode's first transitions lead."""


@record
class Part:
    """Something that an agent or mode says and that is no node of its own: its kind (`variable`,
    `init`, `flow`, `equation`, `invariant`, `assert`, ...), its text on one line, its place."""

    kind: str
    text: str
    span: Span


@record
class Node:
    """A part of a level. `reference` is what edits and transitions call it, `title` its name as
    drawn, `name_span` the place of the name; `definition` and `arguments` say what it is one of,
    `uses` how many parts of the whole project are; `entries` and `exits` are its control points."""

    id: str
    kind: str
    reference: str
    title: str
    span: Span | None
    definition: str | None = None
    arguments: str = ""
    uses: int = 0
    name_span: Span | None = None
    enterable: bool = False
    parts: tuple[Part, ...] = ()
    entries: tuple[str, ...] = ()
    exits: tuple[str, ...] = ()


@record
class Edge:
    """A transition, or a variable that a part shares. `source` and `target` are nodes; the points
    are the named ones of submodes, empty for the usual ones. Edges of one transition with several
    sources have the same `span`. `both` says that data flows both ways."""

    id: str
    kind: str
    source: str
    target: str
    span: Span
    name: str | None = None
    source_point: str = ""
    target_point: str = ""
    guard: str = ""
    reset: tuple[str, ...] = ()
    urgent: bool = False
    both: bool = False


@record
class Crumb:
    """A level on the way to this one."""

    name: str
    path: Path


@record
class Diagram:
    """A level: its way of names, what it is (`file`, `agent` or `mode`) and an example of, how
    many parts of the project are one, and what it says itself (`parts`).

    `names` is the way as the locations of the agent know it that the way begins with: agents, then
    modes below the top one; None where it begins with a mode. `main` is the agent that is the whole
    model."""

    path: Path
    kind: str
    definition: str
    breadcrumb: tuple[Crumb, ...]
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    parts: tuple[Part, ...] = ()
    uses: int = 0
    span: Span | None = None
    names: Path | None = None
    main: str | None = None

    def node(self, identity: str) -> Node | None:
        """The node of that identity."""
        return next((n for n in self.nodes if n.id == identity), None)

    def edge(self, identity: str) -> Edge | None:
        """The edge of that identity."""
        return next((e for e in self.edges if e.id == identity), None)

    def names_of(self, node: Node) -> Path | None:
        """An agent or mode of the level as locations know it."""
        if self.names is None or node.kind not in ("agent", "mode"):
            return None
        is_top = self.kind == "agent" and node.kind == "mode"
        return self.names if is_top else (*self.names, node.reference)


def diagram(sources: Sources, path: Sequence[str] | None = None) -> Diagram:
    """The level at a path; without one, the main agent, or the file where there is none. A path
    that leads nowhere raises a `ModelError`."""
    main = sources.main.name.name if sources.main is not None else None
    if path is None:
        path = (main,) if main is not None else ()
    way = sources.walk(path) if path else ()
    crumbs = tuple(
        Crumb(path[count - 1] if count else sources.files[0], tuple(path[:count]))
        for count in range(len(path) + 1)
    )
    if not way:
        nodes = tuple(_unique(_definition_node(sources, d) for d in sources.definitions()))
        return Diagram((), "file", sources.files[0], crumbs, nodes, (), main=main)
    here = way[-1]
    if isinstance(here, syntax.AgentDefinition):
        nodes, edges = _inside_agent(sources, here)
    else:
        nodes, edges = _inside_mode(sources, here)
    return Diagram(
        tuple(path),
        keyword(here),
        here.name.name,
        crumbs,
        nodes,
        edges,
        parts_of(sources, here, declared=True),
        len(sources.uses_of(here)),
        sources.text(here).place(here.span),
        _names(path, way),
        main,
    )


def _names(path: Sequence[str], way: Sequence[Definition]) -> Path | None:
    """The names on a way from an agent, without that of the top mode."""
    if not isinstance(way[0], syntax.AgentDefinition):
        return None
    kinds = [keyword(definition) for definition in way]
    return tuple(
        name
        for name, around, kind in zip(path[1:], kinds, kinds[1:], strict=False)
        if around == kind
    )


# What parts say


def parts_of(sources: Sources, definition: Definition, *, declared: bool) -> tuple[Part, ...]:
    """What a definition says itself, in the order of the text; with the parameters and variables
    that it declares, if asked for."""
    text = sources.text(definition)
    found = list(_parameters(text, definition)) if declared else []
    for item in definition.items:
        found.extend(_said(text, item, declared))
    return tuple(found)


def _parameters(text: SourceText, definition: Definition) -> Iterator[Part]:
    """The parameters of a definition, with their defaults."""
    inside = definition.items[0].span if definition.items else None
    end = text.region(inside)[0] if inside else text.region(definition.span)[1]
    for parameter in definition.parameters:
        start = text.region(parameter.type.span)[0]
        region = start, entry_end(text, (start, end))
        yield Part("parameter", written(text, region), text.span(region))


def entry_end(text: SourceText, region: Region) -> int:
    """Where an entry of a list ends that a region begins with: before the next comma, semicolon
    or closing bracket."""
    depth, end = 0, region[0]
    for token in text.tokens(region):
        if depth == 0 and token.text in (",", ";", ")", "]"):
            break
        depth += (token.text in ("(", "[", "{")) - (token.text in (")", "]", "}"))
        end = token.end
    return end


_BLOCKS = {
    syntax.InitBlock: "init",
    syntax.Flows: "flow",
    syntax.Algebra: "equation",
    syntax.InvariantBlock: "invariant",
    syntax.Assume: "assume",
    syntax.Predicates: "predicate",
}


def _said(
    text: SourceText, item: syntax.AgentItem | syntax.ModeItem, declared: bool
) -> Iterator[Part]:
    kind = _BLOCKS.get(type(item))
    if kind is not None:
        found = block(text, text.region(item.span))
        for statement in found.statements if found else ():
            yield Part(kind, written(text, statement), text.span(statement))
    elif isinstance(item, syntax.ClaimBlock | syntax.Hide | syntax.InteractionBlock):
        words = text.tokens(text.region(item.span))
        is_event = isinstance(item, syntax.InteractionBlock)
        sort = "interaction" if is_event else words[0].text
        yield Part(sort, on_one_line(words).removesuffix(";"), text.place(item.span))
    elif isinstance(item, syntax.VariableDeclaration) and declared:
        said = written(text, text.region(item.span)).removesuffix(";")
        yield Part("variable", said, text.place(item.span))


def written(text: SourceText, region: Region) -> str:
    """What stands in a region, on one line."""
    return on_one_line(text.tokens(region))


# Nodes


def _definition_node(sources: Sources, definition: Definition) -> Node:
    kind, name, text = keyword(definition), definition.name.name, sources.text(definition)
    return Node(
        f"{kind}:{name}",
        kind,
        name,
        name,
        text.place(definition.span),
        name,
        uses=len(sources.uses_of(definition)),
        name_span=text.place(definition.name.span),
        enterable=True,
        parts=parts_of(sources, definition, declared=True),
    )


class _Parts:
    """What the parts of a level say, each definition looked at once."""

    def __init__(self, sources: Sources):
        self._sources = sources
        self._known: dict[int, tuple[Part, ...]] = {}

    def of(self, definition: Definition) -> tuple[Part, ...]:
        """What a definition says itself."""
        known = self._known.get(id(definition))
        if known is None:
            known = self._known[id(definition)] = parts_of(
                self._sources, definition, declared=False
            )
        return known


def _instance_node(
    sources: Sources, text: SourceText, instance: syntax.InstanceDeclaration, parts: _Parts
) -> Node:
    name, definition = instance.name.name, sources.of(instance)
    start, end = text.region(instance.name.span)[0], text.region(instance.definition.span)[1]
    title = written(text, (start, text.region(instance.definition.span)[0]))
    rest = text.tokens((end, text.region(instance.span)[1]))
    closing = _closing(rest)
    entries, exits = points(definition) if definition is not None else ((), ())
    return Node(
        f"{instance.keyword}:{name}",
        instance.keyword,
        name,
        title.removesuffix("=").rstrip(),
        text.place(instance.span),
        instance.definition.name,
        on_one_line(rest[1:closing]),
        0 if definition is None else len(sources.uses_of(definition)),
        text.place(instance.name.span),
        definition is not None,
        () if definition is None else parts.of(definition),
        entries,
        exits,
    )


def _closing(words: Sequence[object]) -> int:
    """Where the bracket closes that the words begin with."""
    depth = 0
    for position, word in enumerate(words):
        sign = getattr(word, "text", "")
        depth += (sign in ("(", "[")) - (sign in (")", "]"))
        if depth == 0:
            return position
    return len(words)


def points(definition: Definition) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The named entries and exits of a definition."""
    blocks = [item for item in definition.items if isinstance(item, syntax.Points)]
    entries = tuple(n.name for b in blocks if b.is_entry for n in b.names)
    exits = tuple(n.name for b in blocks if not b.is_entry for n in b.names)
    return entries, exits


def _unique(nodes: Iterable[Node]) -> Iterator[Node]:
    """The nodes, with a number behind identities that are taken."""
    counts: dict[str, int] = defaultdict(int)
    for node in nodes:
        counts[node.id] += 1
        yield node if counts[node.id] == 1 else replace(node, id=f"{node.id}~{counts[node.id]}")


# Agents


def _inside_agent(
    sources: Sources, agent: syntax.AgentDefinition
) -> tuple[tuple[Node, ...], tuple[Edge, ...]]:
    text = sources.text(agent)
    nodes: list[Node] = []
    known: set[str] = set()
    parts = _Parts(sources)
    for item in agent.items:
        if isinstance(item, syntax.InstanceDeclaration):
            nodes.append(_instance_node(sources, text, item, parts))
        elif isinstance(item, syntax.VariableDeclaration):
            for declared in item.names:
                known.add(declared.name.name)
                nodes.append(_variable_node(text, item, declared))
    edges = [
        edge for instance in instances(agent) for edge in _shares(sources, text, instance, known)
    ]
    return tuple(_unique(nodes)), tuple(_numbered(edges))


def _variable_node(
    text: SourceText, item: syntax.VariableDeclaration, declared: syntax.DeclaredName
) -> Node:
    name = declared.name.name
    start = text.region(declared.name.span)[0]
    end = entry_end(text, (start, text.region(item.span)[1]))
    words = f"{item.access} {item.kind or ''} {item.type.name}".split()
    span = text.place(declared.name.span)
    part = Part("variable", " ".join(words), span)
    title = written(text, (start, end))
    return Node(f"variable:{name}", "variable", name, title, span, name_span=span, parts=(part,))


@record
class Shared:
    """A variable of a part, the variable around it that it is, and where both are said to be
    one: nowhere where the names are the same."""

    own: str
    outer: str
    access: Access
    outer_text: str
    span: Span | None


def shared_by(
    sources: Sources, text: SourceText, instance: syntax.InstanceDeclaration
) -> Iterator[Shared]:
    """The variables that an instance shares with what is around it, which need not exist."""
    definition = sources.of(instance)
    said = {left.name: (left, right) for left, right in instance.renaming}
    for item in definition.items if definition is not None else ():
        if not isinstance(item, syntax.VariableDeclaration) or item.access is Access.PRIVATE:
            continue
        for declared in item.names:
            own = declared.name.name
            if own not in said:
                yield Shared(own, own, item.access, own, None)
                continue
            left, right = said[own]
            assert right.span is not None
            words = text.tokens(text.region(right.span))
            yield Shared(own, words[0].text, item.access, on_one_line(words), text.place(left.span))


def _shares(
    sources: Sources, text: SourceText, instance: syntax.InstanceDeclaration, known: set[str]
) -> Iterator[Edge]:
    part = f"{instance.keyword}:{instance.name.name}"
    for shared in shared_by(sources, text, instance):
        if shared.outer not in known:
            continue
        writes = shared.access.writes
        ends = (part, f"variable:{shared.outer}")
        label = [] if shared.own == shared.outer_text else [f"{shared.own} := {shared.outer_text}"]
        yield Edge(
            f"share:{instance.name.name}.{shared.own}",
            "share",
            *(ends if writes else ends[::-1]),
            shared.span or text.place(instance.span),
            label[0] if label else None,
            both=shared.access is Access.READ_WRITE,
        )


# Modes


def _inside_mode(
    sources: Sources, mode: syntax.ModeDefinition
) -> tuple[tuple[Node, ...], tuple[Edge, ...]]:
    text = sources.text(mode)
    nodes = [Node(INIT, INIT, INIT, "", None)]
    entries: list[Node] = []
    exits: list[Node] = []
    parts = _Parts(sources)
    for item in mode.items:
        if isinstance(item, syntax.InstanceDeclaration) and item.keyword == "mode":
            nodes.append(_instance_node(sources, text, item, parts))
        elif isinstance(item, syntax.Points):
            kind = "entry" if item.is_entry else "exit"
            for name in item.names:
                identity, span = f"{kind}:{name.name}", text.place(name.span)
                node = Node(identity, kind, name.name, name.name, span, name_span=span)
                (entries if item.is_entry else exits).append(node)
    nodes = [nodes[0], *entries, *nodes[1:], *exits]
    known = {n.reference: n.id for n in reversed(nodes)}
    drawn = set(known.values())
    is_leaf = not any(isinstance(item, syntax.InstanceDeclaration) for item in mode.items)
    edges: list[Edge] = []
    for transition in transitions(mode):
        span = text.place(transition.span)
        target, target_point = _end(transition.target, known, is_target=is_leaf)
        source_ends = [_end(s, known, is_target=False) for s in transition.sources]
        for identity in (target, *(s for s, _ in source_ends)):
            if identity not in drawn:
                kind, _, called = identity.partition(":")
                drawn.add(identity)
                nodes.append(Node(identity, kind, called, called, span))
        guard, reset = spoken(text, transition)
        for written_source, (source, source_point) in zip(
            transition.sources, source_ends, strict=True
        ):
            edges.append(
                Edge(
                    edge_name(written_source, transition),
                    "transition",
                    source,
                    target,
                    span,
                    transition.label,
                    source_point,
                    target_point,
                    guard,
                    reset,
                    transition.urgent,
                )
            )
    return tuple(_unique(nodes)), tuple(_numbered(edges))


def transitions(mode: Definition) -> list[syntax.TransitionBlock]:
    """The transitions of a mode, in the order of the text."""
    return [item for item in mode.items if isinstance(item, syntax.TransitionBlock)]


def point_text(point: syntax.PointReference) -> str:
    """A control point as written."""
    return point.first if point.second is None else f"{point.first}.{point.second}"


def edge_name(source: syntax.PointReference, transition: syntax.TransitionBlock) -> str:
    """The identity of the edge from one of a transition's sources, before it is counted; `default`
    and `init` are one."""
    label = f"#{transition.label}" if transition.label else ""
    first = INIT if point_text(source) == "default" else point_text(source)
    return f"{first}->{point_text(transition.target)}{label}"


def _end(
    point: syntax.PointReference, known: dict[str, str], *, is_target: bool
) -> tuple[str, str]:
    """The node of a control point, and the point of a submode that is meant there."""
    if point.first in ("default", INIT) and point.second is None:
        return ("exit:default" if is_target else INIT), ""
    return known.get(point.first, f"missing:{point.first}"), point.second or ""


def spoken(text: SourceText, transition: syntax.TransitionBlock) -> tuple[str, tuple[str, ...]]:
    """The guard and the assignments of a transition as written."""
    guard = guard_region(text, transition)
    done = actions_block(text, transition)
    return (
        written(text, guard) if guard is not None else "",
        tuple(written(text, s) for s in done.statements) if done is not None else (),
    )


def after_target(text: SourceText, transition: syntax.TransitionBlock) -> Region:
    """What follows the target of a transition."""
    return text.region(transition.target.span)[1], text.region(transition.span)[1]


def actions_block(text: SourceText, transition: syntax.TransitionBlock) -> Block | None:
    """The block behind `do`; its `keyword` is where `do` stands."""
    return block(text, after_target(text, transition))


def guard_region(text: SourceText, transition: syntax.TransitionBlock) -> Region | None:
    """Where the guard stands, from its first word to its last."""
    words = text.tokens(after_target(text, transition))
    if not words or words[0].text != "when":
        return None
    inside = words[1:]
    opening = next((i for i, word in enumerate(inside) if word.text == "{"), None)
    if opening is not None:
        inside = inside[: opening - 1]
    return inside[0].start, inside[-1].end


def _numbered(edges: Iterable[Edge]) -> Iterator[Edge]:
    counts: dict[str, int] = defaultdict(int)
    for edge in edges:
        counts[edge.id] += 1
        yield (edge if counts[edge.id] == 1 else replace(edge, id=f"{edge.id}~{counts[edge.id]}"))
