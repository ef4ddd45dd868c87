"""Which components run together: the coupling graph of a parallel composition.

Components are put into one group, with one clock, if one reads what another writes, if both
write one variable or take part in one synchronised edge, if they read one input that has no
signal, or if a condition relates them in a way that a pair of groups cannot watch (it has
more than two of them, algebraic variables, inputs, or calls of functions from outside). What is
left between two groups are *encounters*: interactions and bad states of exactly two groups.
Bad states of more groups are watched only at jumps, if they mention discrete variables alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass

from models.agents.composition import Interaction, Product
from models.agents.families import Family, Partner, Unrolled, parts_of
from models.automaton import (
    TIME,
    Constraint,
    EventKind,
    Kind,
    Property,
    PropertyKind,
)
from models.expressions.expression import Expression, conjunction, disjunction, negation
from models.expressions.normal_form import negation_normal_form
from models.expressions.operators import Op
from models.expressions.ranges import bounds
from models.expressions.traversal import conjuncts, free_variables, postorder


@dataclass(frozen=True, slots=True)
class Group:
    """Components that share a clock, as a product of their own."""

    name: str
    automaton: Product


@dataclass(frozen=True, slots=True)
class Side:
    """A group that may take part in an encounter, with its variables in the order of slots."""

    group: int
    variables: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Encounter:
    """A condition on two groups: an interaction with resets, or bad states of a property.

    It is watched on all unordered pairs of `first` (in the order of the groups' numbers), or
    on each of `first` with each of `second`; it speaks of the variables named in `slots`,
    those of the one and of the other.
    """

    name: str
    condition: Expression
    event: EventKind
    slots: tuple[tuple[str, ...], tuple[str, ...]]
    first: tuple[Side, ...]
    second: tuple[Side, ...] | None
    resets: tuple[Constraint, ...] = ()
    claim: bool = False


@dataclass(frozen=True, slots=True)
class Grouping:
    """A composition as groups, what happens between two of them, and the bad states (by the
    property's name) that are looked for at jumps only."""

    groups: tuple[Group, ...]
    encounters: tuple[Encounter, ...]
    at_jumps: tuple[tuple[str, Expression], ...]


class _Partition:
    """Disjoint sets of component numbers."""

    def __init__(self, count: int):
        self.parent = list(range(count))
        self.changed = False

    def find(self, i: int) -> int:
        while self.parent[i] != i:
            self.parent[i] = self.parent[self.parent[i]]
            i = self.parent[i]
        return i

    def join(self, members: Iterable[int]) -> None:
        roots = sorted({self.find(i) for i in members})
        for root in roots[1:]:
            self.parent[root] = roots[0]
            self.changed = True

    def groups_of(self, members: Iterable[int]) -> list[int]:
        return sorted({self.find(i) for i in members})


@dataclass(frozen=True, slots=True)
class _Claim:
    name: str
    bad: Expression
    components: frozenset[int]
    is_discrete: bool


def group_components(
    product: Product, fed: Set[str] = frozenset(), synchronous: bool = False
) -> Grouping:
    """The groups of a composition; `fed` are the inputs with signals. With `synchronous`
    everything is one group."""
    return _Grouper(product, fed).make(synchronous)


class _Grouper:
    def __init__(self, product: Product, fed: Set[str]):
        self.product, self.fed = product, fed
        self.parts = product.components
        self.number = {c.name: i for i, c in enumerate(self.parts)}
        self.owners: dict[str, list[int]] = {}
        for i, part in enumerate(self.parts):
            for v in part.variables:
                if v.name != TIME:
                    self.owners.setdefault(v.name, []).append(i)
        self.discrete = {v.name for v in product.variables if v.kind is Kind.DISCRETE}
        self.parameters = {p.name for p in product.parameters}
        self.defined = {c.variable for p in self.parts for x in p.locations for c in x.algebraic}
        self.inputs = {i.name for p in self.parts for i in p.inputs} - self.owners.keys()
        self.events: list[Interaction | Family[Interaction]] = [*parts_of(product.interactions)]
        self.partition = _Partition(len(self.parts))
        self._known_names: dict[int, frozenset[str]] = {}

    def make(self, synchronous: bool) -> Grouping:
        self._join_flows()
        claims = list(self._claims())
        if synchronous:
            self.partition.join(range(len(self.parts)))
        self.partition.changed = True
        while self.partition.changed:
            self.partition.changed = False
            self._join_encounters(claims)
        return self._grouping(claims)

    # What joins components

    def _join_flows(self) -> None:
        join = self.partition.join
        for owners in self.owners.values():
            join(owners)
        readers: dict[str, list[int]] = {}
        for i, part in enumerate(self.parts):
            for given in part.inputs:
                join([i, *self.owners.get(given.name, ())])
                if given.name not in self.fed:
                    readers.setdefault(given.name, []).append(i)
        for together in readers.values():
            join(together)
        labels: dict[str, list[int]] = {}
        for i, part in enumerate(self.parts):
            for label in part.alphabet | {e.label for e in part.edges if e.label is not None}:
                labels.setdefault(label, []).append(i)
        for together in labels.values():
            join(together)
        whole = conjunction(self.product.initial_condition, self.product.assumption)
        for condition in conjuncts(whole):
            join(self._components(free_variables(condition)))

    def _join_encounters(self, claims: Iterable[_Claim]) -> None:
        self.events = [e for part in self.events for e in self._unrolled(part)]
        for event in self.events:
            if isinstance(event, Family):
                continue
            names = self._names(event)
            members = self._components(names)
            unfit = self._unfit(names) or _calls_functions(event.guard)
            if len(self.partition.groups_of(members)) > 2 or unfit:
                self.partition.join(members)
        for claim in claims:
            count = len(self.partition.groups_of(claim.components))
            if count < 2:
                continue
            unfit = self._unfit(free_variables(claim.bad)) or _calls_functions(claim.bad)
            if unfit or (count > 2 and not claim.is_discrete):
                self.partition.join(claim.components)

    def _unrolled(
        self, part: Interaction | Family[Interaction]
    ) -> Iterable[Interaction | Family[Interaction]]:
        """A family stays one if all its pairs are alike: all within one group, or every
        partner in a group of its own, in their order, and with paths of their own."""
        if not isinstance(part, Family):
            return (part,)
        homes = [self._homes(p) for p in (*part.first, *(part.second or ()))]
        roots = [home[0] for home in homes if len(home) == 1]
        if len(roots) < len(homes):
            return part
        outside = self._names(part.pattern).difference(*part.slots)
        if len(set(roots)) == 1 and self._components(outside) <= {roots[0]}:
            return (part,)
        apart = len(set(roots)) == len(roots)
        ordered = part.second is not None or roots == sorted(roots)
        filled = {n for p in (*part.first, *(part.second or ())) for n in p.variables}
        fit = not self._unfit(filled | outside) and not _calls_functions(part.pattern.guard)
        return (part,) if apart and ordered and fit and not self._components(outside) else part

    def _homes(self, partner: Partner) -> list[int]:
        return self.partition.groups_of(self._components(partner.variables))

    def _unfit(self, names: Set[str]) -> bool:
        """Whether a condition mentions what has no path of its own."""
        return bool(names & (self.defined | self.inputs))

    def _components(self, names: Iterable[str]) -> frozenset[int]:
        return frozenset(i for n in names for i in self.owners.get(n, ()))

    def _names(self, event: Interaction) -> frozenset[str]:
        found = self._known_names.get(id(event))
        if found is None:
            names = {n.removesuffix("'") for n in _variables(event)}
            names.update(reset.variable for reset in event.resets)
            found = self._known_names[id(event)] = frozenset(names)
        return found

    def _claims(self) -> Iterator[_Claim]:
        """The bad states of every property as disjuncts; those that depend on locations of
        several components keep these together."""
        for claim in self.product.properties:
            bad = claim.condition
            if claim.kind is PropertyKind.ASSERTION:
                bad = negation(bad)
            places = {
                self.number[node.place[0]]
                for node in postorder(claim.where, claim.condition)
                if node.op is Op.AT and node.place[0] in self.number
            }
            if places:
                names = free_variables(claim.condition, claim.where)
                members = self._components(names) | places
                self.partition.join(members)
                yield _Claim(claim.name, conjunction(claim.where, bad), members, False)
                continue
            for part in _disjuncts(negation_normal_form(bad)):
                names = free_variables(part)
                yield _Claim(claim.name, part, self._components(names), names <= self.discrete)

    # The result

    def _grouping(self, claims: list[_Claim]) -> Grouping:
        roots = sorted({self.partition.find(i) for i in range(len(self.parts))})
        place = {root: i for i, root in enumerate(roots)}
        own_events: list[list[Interaction | Family[Interaction]]] = [[] for _ in roots]
        own_claims: list[dict[str, list[Expression]]] = [{} for _ in roots]
        encounters: list[Encounter] = []
        at_jumps: list[tuple[str, Expression]] = []
        for event in self.events:
            if isinstance(event, Family):
                first, second = self._sides(event.first, place), None
                if event.second is not None:
                    second = self._sides(event.second, place)
                if len({side.group for side in (*first, *(second or ()))}) == 1:
                    own_events[first[0].group].append(event)
                    continue
                e = event.pattern
                encounters.append(
                    Encounter(e.name, e.guard, e.event, event.slots, first, second, e.resets)
                )
                continue
            names = self._names(event)
            where = self._places(self._components(names), place)
            if len(where) == 2:
                encounters.append(
                    Encounter(
                        event.name,
                        event.guard,
                        event.event,
                        *self._pair(names, where, place),
                        event.resets,
                    )
                )
            else:
                own_events[where[0] if where else 0].append(event)
        for claim in claims:
            where = self._places(claim.components, place)
            if len(where) > 2:
                at_jumps.append((claim.name, claim.bad))
            elif len(where) == 2:
                pair = self._pair(free_variables(claim.bad), where, place)
                encounters.append(
                    Encounter(claim.name, claim.bad, EventKind.CROSSING, *pair, claim=True)
                )
            else:
                own = own_claims[where[0] if where else 0]
                own.setdefault(claim.name, []).append(claim.bad)
        groups = [self._group(root, own_events[i], own_claims[i]) for i, root in enumerate(roots)]
        return Grouping(tuple(groups), tuple(encounters), tuple(at_jumps))

    def _sides(self, partners: Iterable[Partner], place: dict[int, int]) -> tuple[Side, ...]:
        return tuple(Side(place[self._homes(p)[0]], p.variables) for p in partners)

    def _pair(
        self, names: Iterable[str], where: Sequence[int], place: dict[int, int]
    ) -> tuple[tuple[tuple[str, ...], tuple[str, ...]], tuple[Side, ...], tuple[Side, ...]]:
        """The slots and the two sides of a condition on two groups."""
        mine: tuple[list[str], list[str]] = ([], [])
        for name in sorted(names):
            if name in self.owners:
                group = place[self.partition.find(self.owners[name][0])]
                mine[where.index(group)].append(name)
        slots = (tuple(mine[0]), tuple(mine[1]))
        return slots, (Side(where[0], slots[0]),), (Side(where[1], slots[1]),)

    def _places(self, components: Iterable[int], place: dict[int, int]) -> list[int]:
        return sorted(place[root] for root in self.partition.groups_of(components))

    def _group(
        self,
        root: int,
        events: list[Interaction | Family[Interaction]],
        claims: dict[str, list[Expression]],
    ) -> Group:
        members = [c for i, c in enumerate(self.parts) if self.partition.find(i) == root]
        everything = len(members) == len(self.parts)
        name = self.product.name if everything else " + ".join(c.name for c in members)
        names = frozenset(v.name for c in members for v in c.variables)
        automaton = Product(
            name,
            tuple(members),
            Unrolled(events),
            tuple(
                Property(n, disjunction(*bad), PropertyKind.FORBIDDEN) for n, bad in claims.items()
            ),
            (),
            _concerning(self.product.initial_condition, names),
            _concerning(self.product.assumption, names),
            self.product.parameters,
            self.product.horizon,
        )
        return Group(name, automaton)


def _calls_functions(condition: Expression) -> bool:
    """Whether a condition calls functions from outside, which have no paths."""
    return any(node.op is Op.EXTERNAL for node in postorder(condition))


def _concerning(condition: Expression, names: Set[str]) -> Expression:
    """The parts of a condition that mention these variables, or none at all."""
    return conjunction(
        *(p for p in conjuncts(condition) if not free_variables(p) or free_variables(p) & names)
    )


def _variables(event: Interaction) -> set[str]:
    """The names in a guard and in resets, which share most of their parts."""
    stack = [event.guard]
    for reset in event.resets:
        stack += bounds(reset)
    seen: set[int] = set()
    found: set[str] = set()
    while stack:
        node = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if node.op is Op.VARIABLE:
            found.add(node.name)
        stack += node.args
    return found


def _disjuncts(root: Expression) -> Iterator[Expression]:
    stack = [root]
    while stack:
        node = stack.pop()
        if node.op is Op.OR:
            stack.extend(reversed(node.args))
        else:
            yield node
