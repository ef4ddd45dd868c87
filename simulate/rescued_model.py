"""What of a model is computed anew when a rescue (`Property.rescue`) steps in, as a model.

The rescued variables follow the rescue, whatever their agents would do. What depends on them is
computed anew as far as the claim needs it, everything else does what it did in the run and is fed
in: its course, and, where it decides how something flows, the place where an agent was.

- A variable whose agent takes no heed of what changes, or flows alike wherever it is, follows its
  equation (for the place where its agent was in the run).
- Else its agent goes on by its own rules: with its modes, jumps and ranges as the run's policy
  decides them, from where it is when the rescue begins.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from workbench.models.agents.composition import Product
from workbench.models.automaton import (
    INT,
    REAL,
    TIME,
    Automaton,
    Constraint,
    HybridAutomaton,
    Initial,
    Input,
    Location,
    Property,
    Range,
    Variable,
)
from workbench.models.expressions.expression import (
    ONE,
    Expression,
    boolean,
    compare,
    conditional,
    constant,
    variable,
)
from workbench.models.expressions.operators import Op
from workbench.models.expressions.ranges import bounds
from workbench.models.expressions.traversal import (
    free_variables,
    postorder,
    rebuild,
    substitute,
    with_arguments,
)
from workbench.models.trace import Trace

NOW = f"{TIME}@run"
"""The time of the run, in what is computed anew."""

ALONE = "rescue"
"""The agent of all that follows equations."""


@dataclass(frozen=True)
class RescuedModel:
    """The model, the variables and inputs that are fed into it as they were in the run, and the
    agents whose place in the run is (under the name `place_of` gives it)."""

    automaton: Product
    kept: tuple[str, ...]
    places: tuple[str, ...]

    @property
    def states(self) -> tuple[str, ...]:
        """The variables that need first values."""
        derived = {
            c.variable
            for part in self.automaton.components
            for place in part.locations
            for c in place.algebraic
        }
        return tuple(
            v.name for v in self.automaton.variables if v.name not in derived and v.name != NOW
        )

    def location(self, occupied: Mapping[str, str]) -> str:
        """Where it is while the agents of the whole model are at these places."""
        parts = self.automaton.components
        return self.automaton.location_name([occupied.get(p.name, ALONE) for p in parts])


def place_of(agent: str) -> str:
    """The name under which it is fed in where an agent was: the number of its location."""
    return f"{agent}@run"


class NoRescuedModelError(Exception):
    """There is no such model; why, in words."""


def rescued_model(automaton: Automaton, claim: Property, trace: Trace) -> RescuedModel:
    """The model. Raises NoRescuedModelError where agents that jump together have a part in it,
    values that are no numbers would have to be fed in, or a variable has several owners."""
    return _Making(automaton, claim, trace).made()


class _Making:
    def __init__(self, automaton: Automaton, claim: Property, trace: Trace):
        self.automaton, self.claim, self.trace = automaton, claim, trace
        self.rescue = {c.variable: c.range.exact for c in claim.rescue if c.range.exact is not None}
        self.parts = {part.name: part for part in automaton.components}
        self.moved: set[str] = set()
        self.meetings = automaton.interactions if isinstance(automaton, Product) else ()
        self.changed = self._changed()
        self.equations: dict[str, tuple[bool, Expression]] = {}
        self.whole: dict[str, None] = {}
        self.kept: dict[str, None] = {}
        self.places: dict[str, None] = {}

    def made(self) -> RescuedModel:
        self._need(free_variables(self.claim.condition, self.claim.where))
        for agent in self._named():
            if agent in self.moved:
                self._need(self._include(self.parts[agent]))
        return RescuedModel(self._product(), tuple(self.kept), tuple(self.places))

    # What changes

    def _changed(self) -> frozenset[str]:
        """The rescued variables, what depends on them, and what agents decide that look at it."""
        found = set(self.rescue)
        size = -1
        while size != len(found) + len(self.moved):
            size = len(found) + len(self.moved)
            for part in self.parts.values():
                if free_variables(*_decisions(part)) & found:
                    self.moved.add(part.name)
                found |= self._changed_in(part, found)
            for meeting in self.meetings:
                if free_variables(*meeting.expressions()) & found:
                    found |= {c.variable for c in meeting.resets}
        return frozenset(found)

    def _changed_in(self, part: HybridAutomaton, found: set[str]) -> set[str]:
        """The variables of an agent that change, given what else does."""
        lines = [c for place in part.locations for c in (*place.flows, *place.algebraic)]
        here = {c.variable for c in lines if free_variables(*bounds(c)) & found}
        if part.name in self.moved:
            here |= {c.variable for edge in part.edges for c in edge.resets}
            here |= {v.name for v in part.variables if self._equation(part, v.name) is None}
        return here

    # What is needed

    def _need(self, names: Iterable[str]) -> None:
        """Have everything computed anew, or fed in, that these names depend on."""
        constants = {p.name for p in self.automaton.parameters}
        pending = [*names]
        seen: set[str] = {TIME, *constants}
        while pending:
            name = pending.pop()
            if name in seen:
                continue
            seen.add(name)
            if name in self.equations or name in self.kept:
                continue
            pending += self._ways(name)

    def _ways(self, name: str) -> frozenset[str]:
        """Settle how a variable gets its values; what that depends on."""
        if name not in self.changed:
            self.kept[name] = None
            return frozenset()
        if name in self.rescue:
            self.equations[name] = (True, self.rescue[name])
            return free_variables(self.rescue[name])
        if any(c.variable == name for meeting in self.meetings for c in meeting.resets):
            raise NoRescuedModelError(f"agents that jump together change `{name}`")
        owners = [p for p in self.parts.values() if any(v.name == name for v in p.variables)]
        if len(owners) != 1:
            raise NoRescuedModelError(f"several agents change `{name}`")
        (owner,) = owners
        if owner.name in self.whole:
            return frozenset()
        found = self._equation(owner, name)
        if found is None:
            return self._include(owner)
        self.equations[name] = found
        return free_variables(found[1]) - {place_of(owner.name)}

    def _equation(self, part: HybridAutomaton, name: str) -> tuple[bool, Expression] | None:
        """Whether it is a derivative, and the equation that a variable follows wherever its agent
        is; by the place of the agent in the run, if that is what it was. None if there is none."""
        if any(c.variable == name for edge in part.edges for c in edge.resets):
            return None
        at_places = []
        for place in part.locations:
            flows = [(True, c.range.exact) for c in place.flows if c.variable == name]
            flows += [(False, c.range.exact) for c in place.algebraic if c.variable == name]
            if len(flows) != 1 or flows[0][1] is None:
                return None
            at_places.append(flows[0])
        first = at_places[0]
        if all(one == first for one in at_places):
            return first[0], first[1] if first[1] is not None else ONE
        if part.name in self.moved or any(one[0] != first[0] for one in at_places):
            return None
        self.places[part.name] = None
        return first[0], _by_place(part.name, [way for _, way in at_places if way is not None])

    def _include(self, part: HybridAutomaton) -> frozenset[str]:
        """Have an agent go on by its own rules; what it looks at."""
        others = (p for p in self.parts.values() if p is not part)
        if any(_labels(part) & _labels(other) for other in others):
            raise NoRescuedModelError(f"`{part.name}` jumps together with other agents")
        self.whole[part.name] = None
        own = {v.name for v in part.variables} & self.changed - self.rescue.keys()
        for name in own:
            self.equations.pop(name, None)
        lines = [c for place in part.locations for c in (*place.flows, *place.algebraic)]
        lines += [c for edge in part.edges for c in edge.resets]
        looked = free_variables(*_guards(part), *bounds(*(c for c in lines if c.variable in own)))
        return looked - own

    def _named(self) -> set[str]:
        """The agents of whose places the claim speaks."""
        nodes = postorder(self.claim.condition, self.claim.where)
        return {node.place[0] for node in nodes if node.op is Op.AT}

    # The model

    def _product(self) -> Product:
        types = {i.name: i.type for i in self.automaton.inputs}
        types |= {v.name: v.type for v in self.automaton.variables}
        if unfit := [name for name in self.kept if types[name] not in (REAL, INT)]:
            raise NoRescuedModelError(f"`{unfit[0]}` is no number and has a part in it")
        fed = (*self.kept, *map(place_of, self.places))
        wholes = [self._own_rules(self.parts[name]) for name in self.whole]
        return Product(
            "Rescue",
            (self._alone(fed), *wholes),
            properties=(self._property(),),
            parameters=self.automaton.parameters,
        )

    def _alone(self, fed: Iterable[str]) -> HybridAutomaton:
        """What follows equations."""
        ways = {name: (flows, _later(way)) for name, (flows, way) in self.equations.items()}
        flows = [Constraint(n, Range.exactly(way)) for n, (flows, way) in ways.items() if flows]
        place = Location(
            ALONE,
            (*flows, Constraint(NOW, Range.exactly(ONE))),
            tuple(
                Constraint(n, Range.exactly(way)) for n, (flows, way) in ways.items() if not flows
            ),
        )
        return HybridAutomaton(
            ALONE,
            (*map(Variable, ways), Variable(NOW)),
            (place,),
            initial=(Initial(ALONE),),
            inputs=tuple(map(Input, fed)),
        )

    def _own_rules(self, part: HybridAutomaton) -> HybridAutomaton:
        """An agent with its own rules for what changes and is not rescued; it may begin anywhere,
        in any state."""
        own = {v.name for v in part.variables} & self.changed - self.rescue.keys()

        def of_own(lines: Iterable[Constraint]) -> tuple[Constraint, ...]:
            return tuple(
                Constraint(c.variable, c.range.changed(_later), c.span)
                for c in lines
                if c.variable in own
            )

        return HybridAutomaton(
            part.name,
            tuple(v for v in part.variables if v.name in own),
            tuple(
                Location(p.name, of_own(p.flows), of_own(p.algebraic), _later(p.invariant))
                for p in part.locations
            ),
            tuple(replace(e, guard=_later(e.guard), resets=of_own(e.resets)) for e in part.edges),
            tuple(Initial(place.name) for place in part.locations),
        )

    def _property(self) -> Property:
        """The claim; where agents are that keep their course, as at the end of the run."""
        occupied = self.automaton.occupied(self.trace.segments[-1].location)

        def decide(node: Expression, args: tuple[Expression, ...]) -> Expression:
            if node.op is Op.AT and node.place[0] not in self.whole:
                component, location = node.place
                return boolean(occupied.get(component) == location)
            return with_arguments(node, args)

        condition = _later(rebuild(self.claim.condition, decide))
        where = _later(rebuild(self.claim.where, decide))
        return Property(self.claim.name, condition, self.claim.kind, where)


def _guards(part: HybridAutomaton) -> list[Expression]:
    """What decides when an agent jumps, and whether it may stay."""
    return [*(place.invariant for place in part.locations), *(edge.guard for edge in part.edges)]


def _decisions(part: HybridAutomaton) -> list[Expression]:
    """What decides how an agent jumps."""
    return [*_guards(part), *(e for edge in part.edges for e in bounds(*edge.resets))]


def _labels(part: HybridAutomaton) -> frozenset[str]:
    return part.alphabet | {edge.label for edge in part.edges if edge.label is not None}


def _by_place(agent: str, ways: list[Expression]) -> Expression:
    """The way of the place where an agent is, by its number."""
    found = ways[-1]
    for number in range(len(ways) - 2, -1, -1):
        here = compare(Op.LESS, variable(place_of(agent)), constant(Fraction(2 * number + 1, 2)))
        found = conditional(here, ways[number], found)
    return found


def _later(way: Expression) -> Expression:
    """With the time of the run instead of the time since the rescue began."""
    return substitute(way, {TIME: variable(NOW)})
