"""Parallel composition: agents put side by side, and the product of their automata.

`compose`, `hide` and `rename` are CHARON's operators on hierarchical agents (see
`models.agents.agent_operators`). `Product` is the automaton of a composition: it holds the
component automata and builds a location, its edges and the initial sets only when they are
asked for, so that ten agents of two modes each cost twenty locations and not 1024.

In a product all components let time pass together, and every constraint of every component
holds. Discretely,

- an edge without a label, or with a label that only one component knows, is taken by its
  component alone; what it does not reset keeps its value;
- an edge with a label that several components know (`HybridAutomaton.alphabet`, or a label
  on one of its edges) is taken by all of them at once: guards conjoined, resets at once;
- an interaction is a self-loop of every product location.

Where two components constrain one variable, both constraints hold: ranges are intersected
(largest lower bound, smallest upper bound).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from fractions import Fraction
from functools import cached_property
from itertools import product

from workbench.models.agents.agent_operators import compose, hide, rename
from workbench.models.agents.resets import merge
from workbench.models.automaton import (
    Automaton,
    Constraint,
    Edge,
    EventKind,
    HybridAutomaton,
    Initial,
    Input,
    Location,
    Parameter,
    Property,
    Variable,
)
from workbench.models.expressions.expression import (
    FALSE,
    TRUE,
    Expression,
    at_location,
    conjunction,
    disjunction,
)
from workbench.models.expressions.operators import Op
from workbench.models.expressions.ranges import bounds, merge_constraints
from workbench.models.expressions.traversal import rebuild, with_arguments
from workbench.models.record import record
from workbench.models.source import Diagnostic, ModelError, Span

__all__ = ["Interaction", "Product", "compose", "explicit", "hide", "rename"]

SEPARATOR = "|"
"""Between the local names in the name of a product location."""


@record
class Interaction:
    """An event between components, possible wherever they are: guard, and resets in primed
    form. `participants` are the paths of the agents concerned, for reports and simulation."""

    name: str
    participants: tuple[str, ...]
    guard: Expression
    resets: tuple[Constraint, ...] = ()
    urgent: bool = False
    event: EventKind = EventKind.UNILATERAL
    span: Span | None = field(default=None, compare=False)

    def expressions(self) -> tuple[Expression, ...]:
        """Its guard, and the bounds of what it assigns."""
        return (self.guard, *bounds(*self.resets))

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
            resets=tuple(c.renamed(names, change) for c in self.resets),
        )


@record
class Product:
    """The parallel composition of component automata, its locations built on demand.

    `properties`, `predicates`, `assumption`, `parameters` and `horizon` are those of the
    whole; those of the components are not consulted. `initial_condition` restricts the
    components' initial sets jointly. Variables are those of all components; inputs are
    the components' inputs that no component writes, with their bounds intersected.
    `interactions` may be kept as families of alike pairs (see `models.agents.families`).
    """

    name: str
    components: tuple[HybridAutomaton, ...]
    interactions: Sequence[Interaction] = ()
    properties: tuple[Property, ...] = ()
    predicates: tuple[Expression, ...] = ()
    initial_condition: Expression = TRUE
    assumption: Expression = TRUE
    parameters: tuple[Parameter, ...] = ()
    horizon: Fraction | None = None

    def __post_init__(self) -> None:
        assert self.components, "a product has components"
        names = {c.name for c in self.components}
        assert len(names) == len(self.components), "component names must differ"

    @cached_property
    def variables(self) -> tuple[Variable, ...]:
        """The state variables of all components, in their order."""
        found: dict[str, Variable] = {}
        for component in self.components:
            for declared in component.variables:
                found.setdefault(declared.name, declared)
        return tuple(found.values())

    @cached_property
    def inputs(self) -> tuple[Input, ...]:
        """Signals from outside: what some component reads and none writes."""
        written = {v.name for v in self.variables}
        found: dict[str, Input] = {}
        for component in self.components:
            for given in component.inputs:
                if given.name not in written:
                    known = found.get(given.name)
                    found[given.name] = given if known is None else _both_bounds(known, given)
        return tuple(found.values())

    @cached_property
    def sha256(self) -> str:
        """The fingerprint of the canonical JSON form."""
        from workbench.models.interchange.json_model import fingerprint

        return fingerprint(self)

    def initial_sets(self) -> Iterator[Initial]:
        """Where runs may start, one combination of the components' initial sets at a time;
        those whose condition is literally false are left out."""
        for starts in product(*(c.initial for c in self.components)):
            condition = conjunction(*(s.condition for s in starts), self.initial_condition)
            if condition != FALSE:
                name = self.location_name(tuple(s.location for s in starts))
                yield Initial(name, condition, self._merged([s.resets for s in starts]))

    def location(self, name: str) -> Location:
        """The location of that name, built when first asked for."""
        found = self._locations.get(name)
        if found is None:
            parts = [
                c.location(local)
                for c, local in zip(self.components, self.local_names(name), strict=True)
            ]
            found = parts[0] if len(parts) == 1 else _joined(parts)
            found = self._locations[name] = replace(found, name=name)
        return found

    def edges_from(self, name: str) -> tuple[Edge, ...]:
        """The edges that leave a location, built when first asked for: those of single
        components in order, then synchronised ones by label, then interactions."""
        found = self._edges.get(name)
        if found is None:
            found = self._edges[name] = tuple(self._build_edges(name))
        return found

    def occupied(self, name: str) -> Mapping[str, str]:
        """Which location each component is in, by component name."""
        locals_ = self.local_names(name)
        return {c.name: local for c, local in zip(self.components, locals_, strict=True)}

    def location_name(self, locals_: Sequence[str]) -> str:
        """The name of the product location in which the components are at these places."""
        pairs = zip(self.components, locals_, strict=True)
        shown = [local for component, local in pairs if len(component.locations) > 1]
        if len(shown) <= 1:
            return shown[0] if shown else self.components[0].name
        return SEPARATOR.join(_escaped(local) for local in shown)

    def local_names(self, name: str) -> tuple[str, ...]:
        """Where each component is in the product location of that name; KeyError if there
        is no such location."""
        movable = self._movable
        shown = _split(name) if len(movable) > 1 else [name] * len(movable)
        if len(shown) != len(movable) or (not movable and name != self.components[0].name):
            raise KeyError(name)
        found = [c.locations[0].name for c in self.components]
        for index, local in zip(movable, shown, strict=True):
            self.components[index].location(local)
            found[index] = local
        return tuple(found)

    @cached_property
    def _movable(self) -> tuple[int, ...]:
        return tuple(i for i, c in enumerate(self.components) if len(c.locations) > 1)

    @cached_property
    def _locations(self) -> dict[str, Location]:
        return {}

    @cached_property
    def _edges(self) -> dict[str, tuple[Edge, ...]]:
        return {}

    @cached_property
    def _participants(self) -> dict[str, tuple[int, ...]]:
        """Which components know each label that more than one knows."""
        known: dict[str, list[int]] = {}
        for index, component in enumerate(self.components):
            labels = {e.label for e in component.edges if e.label is not None}
            for label in sorted(component.alphabet | labels):
                known.setdefault(label, []).append(index)
        return {label: tuple(who) for label, who in sorted(known.items()) if len(who) > 1}

    def _build_edges(self, name: str) -> Iterator[Edge]:
        places = self.local_names(name)
        shared = self._participants
        for index, component in enumerate(self.components):
            for edge in component.edges_from(places[index]):
                if edge.label not in shared:
                    yield self._moved(name, places, ((index, edge),))
        for label, who in shared.items():
            choices = [
                [e for e in self.components[i].edges_from(places[i]) if e.label == label]
                for i in who
            ]
            for edges in product(*choices):
                yield self._moved(name, places, tuple(zip(who, edges, strict=True)))
        for event in self.interactions:
            yield Edge(
                name,
                name,
                event.guard,
                event.resets,
                urgent=event.urgent,
                event=event.event,
                name=f"{event.name}({', '.join(event.participants)})",
                span=event.span,
            )

    def _moved(
        self, source: str, places: tuple[str, ...], moves: tuple[tuple[int, Edge], ...]
    ) -> Edge:
        """The product edge in which these components take these edges at once."""
        targets = list(places)
        for index, edge in moves:
            targets[index] = edge.target
        edges = [edge for _, edge in moves]
        first = edges[0]
        names = [self._qualified(index, edge) for index, edge in moves if edge.name]
        return Edge(
            source,
            self.location_name(tuple(targets)),
            first.guard if len(edges) == 1 else conjunction(*(e.guard for e in edges)),
            first.resets if len(edges) == 1 else self._merged([e.resets for e in edges]),
            first.label,
            any(e.urgent for e in edges),
            first.event,
            " & ".join(names),
            first.span,
        )

    def _qualified(self, index: int, edge: Edge) -> str:
        if len(self.components) == 1:
            return edge.name
        return f"{self.components[index].name}: {edge.name}"

    @cached_property
    def _variable_names(self) -> frozenset[str]:
        return frozenset(v.name for v in self.variables)

    def _merged(self, resets: Sequence[tuple[Constraint, ...]]) -> tuple[Constraint, ...]:
        return merge(resets, self._variable_names)


def explicit(automaton: Automaton, limit: int = 10_000) -> HybridAutomaton:
    """The automaton with its locations listed: those that edges reach from the initial
    ones (conditions are not evaluated, but a literally false one counts as absent).

    Exact: the same behaviours. Raises `ModelError` if there are more than `limit`.
    """
    starts: list[Initial] = []
    order: dict[str, None] = {}
    for start in automaton.initial_sets():
        if start.condition != FALSE:
            starts.append(start)
            order[start.location] = None
            _limit_locations(automaton, len(order), limit)
    queue = deque(order)
    edges: list[Edge] = []
    while queue:
        for edge in automaton.edges_from(queue.popleft()):
            if edge.guard == FALSE:
                continue
            edges.append(edge)
            if edge.target not in order:
                order[edge.target] = None
                queue.append(edge.target)
                _limit_locations(automaton, len(order), limit)
    return HybridAutomaton(
        automaton.name,
        automaton.variables,
        tuple(automaton.location(name) for name in order),
        tuple(edges),
        tuple(starts),
        automaton.inputs,
        automaton.parameters,
        automaton.assumption,
        tuple(_relocated(automaton, order)),
        automaton.predicates,
        frozenset(e.label for e in edges if e.label is not None),
        automaton.horizon,
    )


def _limit_locations(automaton: Automaton, found: int, limit: int) -> None:
    if found > limit:
        raise ModelError(
            Diagnostic(
                "too-many-locations",
                f"{automaton.name} has more than {limit} locations ({found} found so far)",
                hint="use an analysis that builds locations on demand, or raise the limit",
            )
        )


def _relocated(automaton: Automaton, names: Iterable[str]) -> Iterator[Property]:
    """The properties with "a component is there" said of the whole automaton."""
    places: dict[tuple[str, str], list[Expression]] = {}
    for name in names:
        for place in automaton.occupied(name).items():
            places.setdefault(place, []).append(at_location(automaton.name, name))

    def relocate(node: Expression, args: tuple[Expression, ...]) -> Expression:
        if node.op is Op.AT:
            return disjunction(*places.get(node.place, ()))
        return with_arguments(node, args)

    for claim in automaton.properties:
        where, condition = rebuild(claim.where, relocate), rebuild(claim.condition, relocate)
        yield replace(claim, where=where, condition=condition)


def _joined(parts: Sequence[Location]) -> Location:
    return Location(
        "",
        merge_constraints(c for part in parts for c in part.flows),
        merge_constraints(c for part in parts for c in part.algebraic),
        conjunction(*(part.invariant for part in parts)),
        parts[0].span,
    )


def _both_bounds(first: Input, second: Input) -> Input:
    lows = [b for b in (first.low, second.low) if b is not None]
    highs = [b for b in (first.high, second.high) if b is not None]
    return replace(first, low=max(lows, default=None), high=min(highs, default=None))


def _escaped(local: str) -> str:
    return local.replace("\\", "\\\\").replace(SEPARATOR, "\\" + SEPARATOR)


def _split(name: str) -> list[str]:
    """The local names in a joined one, undoing `_escaped`."""
    found, current, quoted = [], "", False
    for letter in name:
        if quoted or letter not in (SEPARATOR, "\\"):
            current, quoted = current + letter, False
        elif letter == SEPARATOR:
            found.append(current)
            current = ""
        else:
            quoted = True
    return [*found, current]
