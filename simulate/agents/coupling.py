"""Which components run together: the coupling graph of a parallel composition.

Components are put into one group, with one clock, if one reads what another writes, if both
write one variable or take part in one synchronised edge, if they read one input that has no
signal, or if a condition relates them in a way that a pair of groups cannot watch (it has
more than two of them, algebraic variables, inputs, or calls of functions from outside). What is
left between two groups are *encounters*: interactions and bad states of exactly two groups.
Bad states of more groups are watched only at jumps, if they mention discrete variables alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from typing import TypeAlias, TypeVar

from workbench.models.agents.composition import Interaction, Product
from workbench.models.agents.families import Family, Partner, Unrolled, parts_of
from workbench.models.automaton import TIME, EventKind, Kind, Property, PropertyKind
from workbench.models.expressions.expression import (
    TRUE,
    Expression,
    conjunction,
    disjunction,
    negation,
)
from workbench.models.expressions.normal_form import negation_normal_form
from workbench.models.expressions.operators import Op
from workbench.models.expressions.pairwise import Pairwise
from workbench.models.expressions.ranges import bounds
from workbench.models.expressions.traversal import conjuncts, free_variables, postorder
from workbench.models.record import record
from workbench.simulate.agents.encounters import Encounter, Group, Grouping, Side


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


@record
class _Claim:
    """Bad states of a property; `places` are the components whose locations it mentions."""

    name: str
    bad: Expression
    places: frozenset[int] = frozenset()

    def expressions(self) -> tuple[Expression, ...]:
        """What it says."""
        return (self.bad,)

    def between(
        self,
        participants: tuple[str, str],
        names: Mapping[str, str],
        change: Callable[[Expression], Expression],
    ) -> _Claim:
        """The same of another pair."""
        return _Claim(self.name, change(self.bad), self.places)


_Watched: TypeAlias = Interaction | _Claim
Shape = TypeVar("Shape", bound=Interaction | _Claim)


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
        self.claims: list[_Claim | Family[_Claim]] = []
        self.partition = _Partition(len(self.parts))
        self._known_names: dict[int, frozenset[str]] = {}

    def make(self, synchronous: bool) -> Grouping:
        self._join_flows()
        self.claims = list(self._claims())
        if synchronous:
            self.partition.join(range(len(self.parts)))
        self.partition.changed = True
        while self.partition.changed:
            self.partition.changed = False
            self._join_encounters()
        return self._grouping()

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

    def _join_encounters(self) -> None:
        self.events = [e for part in self.events for e in self._unrolled(part)]
        self.claims = [c for part in self.claims for c in self._unrolled(part)]
        for event in self.events:
            if isinstance(event, Family):
                continue
            members = self._components(self._names(event))
            if len(self.partition.groups_of(members)) > 2 or self._cannot_be_watched(event):
                self.partition.join(members)
        for claim in self.claims:
            if isinstance(claim, Family):
                continue
            members = self._members(claim)
            count = len(self.partition.groups_of(members))
            if count < 2:
                continue
            is_discrete = not claim.places and self._names(claim) <= self.discrete
            if self._cannot_be_watched(claim) or (count > 2 and not is_discrete):
                self.partition.join(members)

    def _cannot_be_watched(self, event: _Watched) -> bool:
        """Whether a condition mentions what has no path of its own, or calls functions."""
        return self._unfit(self._names(event)) or _calls_functions(_condition(event))

    def _unrolled(self, part: Shape | Family[Shape]) -> Iterable[Shape | Family[Shape]]:
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
        fit = not self._unfit(filled | outside) and not _calls_functions(_condition(part.pattern))
        return (part,) if apart and ordered and fit and not self._components(outside) else part

    def _homes(self, partner: Partner) -> list[int]:
        return self.partition.groups_of(self._components(partner.variables))

    def _unfit(self, names: Set[str]) -> bool:
        """Whether a condition mentions what has no path of its own."""
        return bool(names & (self.defined | self.inputs))

    def _components(self, names: Iterable[str]) -> frozenset[int]:
        return frozenset(i for n in names for i in self.owners.get(n, ()))

    def _members(self, claim: _Claim) -> frozenset[int]:
        return self._components(self._names(claim)) | claim.places

    def _names(self, event: _Watched) -> frozenset[str]:
        found = self._known_names.get(id(event))
        if found is None:
            if isinstance(event, _Claim):
                found = free_variables(event.bad)
            else:
                names = {n.removesuffix("'") for n in _variables(event)}
                found = frozenset(names.union(reset.variable for reset in event.resets))
            self._known_names[id(event)] = found
        return found

    def _claims(self) -> Iterator[_Claim | Family[_Claim]]:
        """The bad states of every property as disjuncts; those that depend on locations of
        several components keep these together."""
        for claim in self.product.properties:
            is_assertion = claim.kind is not PropertyKind.FORBIDDEN
            if isinstance(claim.condition, Pairwise) and is_assertion and claim.where == TRUE:
                yield from self._of_pairs(claim.name, claim.condition)
                continue
            bad = negation(claim.condition) if is_assertion else claim.condition
            places = frozenset(
                self.number[node.place[0]]
                for node in postorder(claim.where, claim.condition)
                if node.op is Op.AT and node.place[0] in self.number
            )
            if places:
                whole = _Claim(claim.name, conjunction(claim.where, bad), places)
                self.partition.join(self._members(whole))
                yield whole
                continue
            for part in _disjuncts(negation_normal_form(bad)):
                yield _Claim(claim.name, part)

    def _of_pairs(self, name: str, good: Pairwise) -> Iterator[Family[_Claim]]:
        """What must hold of all pairs, as families of what must not."""
        partners = tuple(Partner("", variables) for variables in good.partners)
        for part in _disjuncts(negation_normal_form(negation(good.pattern))):
            yield Family(_Claim(name, part), good.slots, partners)

    # The result

    def _grouping(self) -> Grouping:
        roots = sorted({self.partition.find(i) for i in range(len(self.parts))})
        place = {root: i for i, root in enumerate(roots)}
        own_events: list[list[Interaction | Family[Interaction]]] = [[] for _ in roots]
        own_claims: list[dict[str, list[Expression]]] = [{} for _ in roots]
        encounters: list[Encounter] = []
        at_jumps: list[tuple[str, Expression]] = []
        for event in self.events:
            where = self._where(event, place)
            if len(where) == 1:
                own_events[where[0]].append(event)
            else:
                encounters.append(self._encounter(event, where, place))
        for claim in self.claims:
            where = self._where(claim, place)
            if len(where) == 1:
                own = own_claims[where[0]].setdefault(_pattern(claim).name, [])
                own += [c.bad for c in (claim if isinstance(claim, Family) else (claim,))]
            elif isinstance(claim, Family) or len(where) == 2:
                encounters.append(self._encounter(claim, where, place))
            else:
                at_jumps.append((claim.name, claim.bad))
        groups = [self._group(root, own_events[i], own_claims[i]) for i, root in enumerate(roots)]
        return Grouping(tuple(groups), tuple(encounters), tuple(at_jumps))

    def _where(self, event: Shape | Family[Shape], place: dict[int, int]) -> list[int]:
        """The groups that take part; the first where none is mentioned."""
        if isinstance(event, Family):
            partners = (*event.first, *(event.second or ()))
            return sorted({place[root] for p in partners for root in self._homes(p)})
        members = (
            self._members(event)
            if isinstance(event, _Claim)
            else self._components(self._names(event))
        )
        return self._places(members, place) or [0]

    def _encounter(
        self, event: Shape | Family[Shape], where: Sequence[int], place: dict[int, int]
    ) -> Encounter:
        """What two groups are watched for, or every two of many."""
        if isinstance(event, Family):
            sides = [
                None if s is None else self._sides(s, place) for s in (event.first, event.second)
            ]
            slots, first, second = event.slots, sides[0] or (), sides[1]
        else:
            slots, first, second = self._pair(self._names(event), where, place)
        one = _pattern(event)
        if isinstance(one, _Claim):
            kind = EventKind.CROSSING
            return Encounter(one.name, one.bad, kind, slots, first, second, claim=True)
        return Encounter(one.name, one.guard, one.event, slots, first, second, one.resets)

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


def _pattern(event: Shape | Family[Shape]) -> Shape:
    return event.pattern if isinstance(event, Family) else event


def _condition(event: _Watched) -> Expression:
    return event.bad if isinstance(event, _Claim) else event.guard


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
