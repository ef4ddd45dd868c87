"""A location made ready to run: its flow, its watches, its edges.

The watches of a place stand in the order in which simultaneous events are reported:
properties, edges in source order, parts of the invariant, edges that stop being enabled,
the conditions on inclusions that are held at a boundary, and branches inside the flow.
"""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterator, Mapping, Sequence
from enum import Enum, auto
from functools import cached_property
from typing import TYPE_CHECKING, Any

from workbench.models.automaton import (
    INT,
    TIME,
    Automaton,
    Constraint,
    Edge,
    EventKind,
    Initial,
    Kind,
    Range,
)
from workbench.models.dynamics import Eliminated, eliminate_algebraic
from workbench.models.enumeration import plain_members
from workbench.models.expressions.differentiate import NotDifferentiableError, differentiate
from workbench.models.expressions.expression import (
    FALSE,
    TRUE,
    ZERO,
    Expression,
    conjunction,
    multiply,
    negation,
    subtract,
    variable,
)
from workbench.models.expressions.printing import to_text
from workbench.models.expressions.traversal import conjuncts, free_variables, substitute
from workbench.models.record import record
from workbench.models.trace import Scalar
from workbench.simulate.holding import inclusion_share as inclusion_share
from workbench.simulate.holding import inward, joint_rates, may_hold, resolved
from workbench.simulate.inputs.kinked_formula import KinkedFormula, kinked
from workbench.simulate.inputs.signals import Formula, Lines, Signal
from workbench.simulate.jump import Jump, has_value
from workbench.simulate.jump import edge_name as edge_name
from workbench.simulate.landing import Boundary, loosened
from workbench.simulate.locking import HeldBranches, branch_name, held_branches, lock
from workbench.simulate.stepping.calculator import Calculator, Externals, TolerantCondition
from workbench.simulate.stepping.externs import known
from workbench.simulate.stepping.program import FROZEN, Program, Watched, compile_program

if TYPE_CHECKING:
    from workbench.simulate.loop.event import Candidates
    from workbench.simulate.surfaces import Slides, Surface


@plain_members
class Role(Enum):
    """What a watch is for."""

    BAD = auto()
    OUTSIDE = auto()  # the assumption is broken
    RISE = auto()
    EXIT = auto()
    FALL = auto()
    RELEASE = auto()
    INFEASIBLE = auto()
    SWITCH = auto()  # 2k: branch k becomes true, 2k + 1: false
    AWAY = auto()  # while sliding: an edge that leads away from the surface
    LEAVE = auto()  # while sliding: 0 to the side below, 1 above, 2 the guards do not hold


UNDEFINED_HOLDS = frozenset({Role.BAD, Role.EXIT, Role.INFEASIBLE})
"""Watches that fire where their condition has no value; a guard without a value is false."""

Hold = tuple[str, int]
"""A variable whose inclusion gives way, and the part of the invariant that it keeps."""


def slope_of(name: str) -> str:
    """The held value that is the slope of a piecewise linear input."""
    return f"{name}.slope"


@record
class Place:
    """A location compiled under given holds; see the module's docstring."""

    name: str
    program: Program
    roles: tuple[tuple[Role, int], ...]
    edges: tuple[Edge, ...]
    exits: tuple[Expression, ...]
    written: tuple[Expression, ...]  # the exits as they stand in the model
    holds: tuple[Hold, ...]
    derived: Mapping[str, Expression]
    branches: HeldBranches | None = None
    resting: tuple[str, ...] = ()  # the variables that do not flow here
    conditions: tuple[Expression, ...] = ()  # what the branches stand for
    slide: Surface | None = None  # the surface along which the state slides
    ranged: tuple[str, ...] = ()  # the last exits say that these derivatives have values
    landed: tuple[int, ...] = ()  # the exits that have slack, see `simulate.landing`

    @cached_property
    def sides(self) -> tuple[str, ...]:
        """How the event of each watch is approached: from `below` its guard, or found by
        `checked` states."""
        sampled = self.program.sampled
        return tuple(
            "below" if sampled.isdisjoint(w.tokens) else "checked" for w in self.program.watches
        )

    @cached_property
    def smooth_atoms(self) -> tuple[tuple[int, ...], ...]:
        """The atoms of each watch that change smoothly: they tell how near an event is."""
        atoms = self.program.atoms
        return tuple(
            tuple(k for k in w.tokens if k >= 0 and not atoms[k][3] & FROZEN)
            for w in self.program.watches
        )

    @cached_property
    def read_by_exits(self) -> tuple[frozenset[str], ...]:
        """What each part of the invariant depends on."""
        return tuple(map(free_variables, self.exits))

    @cached_property
    def edge_names(self) -> tuple[str, ...]:
        """What the edges are called in traces."""
        return tuple(edge_name(e) for e in self.edges)

    @cached_property
    def exit_names(self) -> tuple[str, ...]:
        """What the parts of the invariant are called in traces."""
        told = ["" for _ in self.invariant] + [f"d({n}) has a value: " for n in self.ranged]
        return tuple(why + to_text(part) for why, part in zip(told, self.written, strict=True))

    @cached_property
    def invariant(self) -> tuple[Expression, ...]:
        """The exits that are parts of the invariant: states must satisfy them, also where no
        time passes."""
        return self.exits[: len(self.exits) - len(self.ranged)]

    @cached_property
    def numbers(self) -> Mapping[tuple[Role, int], int]:
        """The number of each watch."""
        return {what: i for i, what in enumerate(self.roles)}

    @cached_property
    def special(self) -> dict[Hashable, array[int]]:
        """The watches to look at where something special is going on, as far as they are known
        (see `simulate.loop.flow`)."""
        return {}

    @cached_property
    def switches(self) -> tuple[tuple[str, tuple[int, int]], ...]:
        """Each branch of the flow, with its watches while it is false and while it is true."""
        number = self.numbers
        return tuple(
            (branch_name(k), (number[Role.SWITCH, 2 * k], number[Role.SWITCH, 2 * k + 1]))
            for k in range(len(self.conditions))
        )

    @cached_property
    def ordinary(self) -> array[int]:
        """The watches to look at while no edge is enabled and nothing special is going on."""
        special = (Role.FALL, Role.SWITCH)
        return array("i", [i for i, (role, _) in enumerate(self.roles) if role not in special])


class Prepared:
    """A model made ready to be run many times: places are compiled when first entered.

    `signals` fixes the form of each input (held level, line, or formula); runs may feed
    other signals of the same form.
    """

    def __init__(
        self,
        automaton: Automaton,
        signals: Mapping[str, Signal] | None = None,
        externals: Externals | None = None,
    ):
        self.base = automaton
        self.view = eliminate_algebraic(automaton)
        self.externals: Externals = known(externals)
        self.symbols = _symbols(automaton)
        self._symbol_names: dict[int, Scalar] = {i: name for name, i in self.symbols.items()}
        self.names = tuple(v.name for v in self.view.variables if v.name != TIME)
        self.types = {v.name: v.type for v in automaton.variables}
        self.known = frozenset(self.names)
        self.whole = frozenset(n for n in self.names if self.types[n] == INT)
        self.inputs = tuple(i for i in self.view.inputs)
        self._forms: dict[str, Expression] = {}
        self.kinked: dict[str, KinkedFormula] = {}
        for name, signal in (signals or {}).items():
            if isinstance(signal, Formula):
                cut = kinked(name, signal, self.externals)
                if cut is not None:
                    self.kinked[name] = cut
                self._forms[name] = signal.expression if cut is None else cut.expression
            elif isinstance(signal, Lines):
                self._forms[name] = variable(name) + variable(slope_of(name)) * variable(TIME)
        self._places: dict[tuple[str, tuple[Hold, ...], tuple[int, ...]], Place] = {}
        self._jumps: dict[tuple[str, int], Jump] = {}
        self._invariants: dict[str, TolerantCondition] = {}
        self._parts: dict[str, tuple[TolerantCondition, ...]] = {}
        self._guards: dict[tuple[str, int], TolerantCondition] = {}
        self._arrivals: dict[tuple[str, int], TolerantCondition] = {}
        self._holders: dict[
            tuple[str, tuple[Hold, ...], int], tuple[tuple[str, Calculator], ...]
        ] = {}
        self._able: dict[tuple[str, tuple[Hold, ...]], bool] = {}
        self._boundaries: dict[tuple[str, Hold], Calculator] = {}
        self.landings: dict[tuple[str, int], Boundary] = {}
        self.speeds: dict[tuple[str, tuple[Hold, ...]], tuple[tuple[str, ...], Calculator]] = {}
        self.at_once: dict[tuple[str, frozenset[str]], Candidates] = {}
        self._rates: dict[tuple[str, Expression, tuple[Hold, ...]], Calculator | None] = {}
        self._initial_sets = self.view.initial_sets()
        self._starts: list[Initial] = []
        self.finders: dict[int, Any] = {}

    @cached_property
    def properties(self) -> tuple[str, ...]:
        """The names of the properties, in order."""
        return tuple(p.name for p in self.view.properties)

    def share_symbols(self, symbols: Mapping[str, int]) -> None:
        """Number the values of enumerations as the whole does of which this is a part."""
        self.symbols = dict(symbols)
        self._symbol_names = {i: name for name, i in symbols.items()}

    def decode(self, name: str, value: float) -> Scalar:
        """A value of the core as the model's author knows it: truth values and symbols."""
        declared = self.types[name]
        if declared.values:
            return self._symbol_names.get(int(value), value)
        return value != 0.0 if declared.name == "bool" else value

    def starts(self) -> Iterator[Initial]:
        """The initial sets, read from the model only as far as they are needed."""
        index = 0
        while True:
            if index == len(self._starts):
                following = next(self._initial_sets, None)
                if following is None:
                    return
                self._starts.append(following)
            yield self._starts[index]
            index += 1

    def place(self, name: str, holds: tuple[Hold, ...] = (), landed: tuple[int, ...] = ()) -> Place:
        """The compiled location; `holds` keeps parts of the invariant by giving way, parts that
        a state has `landed` on have slack."""
        key = (name, holds, landed)
        if key not in self._places:
            self._places[key] = self._compile(name, holds, landed)
        return self._places[key]

    def jump(self, location: str, edge: int) -> Jump:
        """The compiled resets of an edge of a location."""
        key = (location, edge)
        if key not in self._jumps:
            resets = self.place(location).edges[edge].resets
            pairs = [(c.variable, self._range(c.range)) for c in resets]
            context = (self.known, self.symbols, self.externals)
            self._jumps[key] = Jump(pairs, *context, self.moving, self.whole)
        return self._jumps[key]

    def guard(self, location: str, edge: int) -> TolerantCondition:
        """The guard of an edge, to be tested within tolerance at one point."""
        key = (location, edge)
        if key not in self._guards:
            self._guards[key] = self.condition(self.place(location).edges[edge].guard)
        return self._guards[key]

    def invariant(self, location: str) -> TolerantCondition:
        """The invariant of a location, to be tested within tolerance at one point."""
        if location not in self._invariants:
            whole = conjunction(*self.place(location).invariant)
            self._invariants[location] = self.condition(whole)
        return self._invariants[location]

    def broken(
        self, location: str, values: Mapping[str, float], rtol: float, atol: float
    ) -> list[int]:
        """The exits of a location whose conditions do not hold within tolerance."""
        if location not in self._parts:
            self._parts[location] = tuple(map(self.condition, self.place(location).exits))
        parts = self._parts[location]
        return [i for i, holds in enumerate(parts) if not holds(values, rtol, atol)]

    def arrival(self, location: str, edge: int) -> TolerantCondition:
        """What the target's invariant demands of a jump beyond what holds before it: parts
        that the source has too, over variables that are not reset, hold anyway."""
        key = (location, edge)
        if key not in self._arrivals:
            taken = self.place(location).edges[edge]
            reset = {c.variable for c in taken.resets}
            known = self.place(location).invariant
            new = [
                part
                for part in self.place(taken.target).invariant
                if part not in known or free_variables(part) & reset
            ]
            self._arrivals[key] = self.condition(conjunction(*new))
        return self._arrivals[key]

    def condition(
        self, condition: Expression, inexact: frozenset[str] | None = None
    ) -> TolerantCondition:
        """Any condition over the model's names; the `inexact` ones, all that may flow if none are
        given, are known up to the tolerance."""
        moving = inexact if inexact is not None else self.moving
        return TolerantCondition(self.formed(condition), moving, self.symbols, self.externals)

    @cached_property
    def moving(self) -> frozenset[str]:
        """The real variables that may flow."""
        return frozenset(
            v.name for v in self.view.variables if v.kind is Kind.ANALOG and v.type.name == "real"
        )

    def derived(self, location: str) -> Mapping[str, Expression]:
        """The variables that equations define in a location."""
        if not isinstance(self.view, Eliminated):
            return {}
        return dict(self.view.definitions(location))

    @cached_property
    def loose(self) -> tuple[str, ...]:
        """The variables whose derivative lies in an inclusion somewhere."""
        found: dict[str, None] = {}
        for part in self.view.components:
            for location in part.locations:
                for c in location.flows:
                    if c.range.exact is None:
                        found[c.variable] = None
        return tuple(found)

    def turns_inward(
        self, source: Place, target: str, part: Expression, values: Mapping[str, float]
    ) -> bool:
        """Whether, after a jump, a part of the invariant is no longer about to be violated:
        the target does not have it, or its flow leads away from the boundary (inclusions
        that are held at other boundaries stay held there)."""
        exits = self.place(target).exits
        if part not in exits:
            return True
        kept = [(name, source.exits[i]) for name, i in source.holds]
        holds = tuple((name, exits.index(other)) for name, other in kept if other in exits)
        rate = self._inward_rate(target, part, holds)
        return rate is None or rate(values)[0] >= 0.0

    def leads_inward(self, place: Place, part: Expression, values: Mapping[str, float]) -> bool:
        """Whether the flow of a place leads away from the boundary of a part of its invariant,
        to the inside."""
        rate = self._inward_rate(place.name, part, place.holds)
        return rate is not None and rate(values)[0] > 0.0

    def _inward_rate(
        self, location: str, part: Expression, holds: tuple[Hold, ...]
    ) -> Calculator | None:
        """How fast a part of an invariant is fulfilled better; None if that has no rate."""
        key = (location, part, holds)
        if key not in self._rates:
            flows = self.flows(location, holds)
            try:
                g = inward(part)
                rate = differentiate(g, TIME)
                for name in sorted(free_variables(g) & flows.keys()):
                    rate = rate + differentiate(g, name) * flows[name]
                self._rates[key] = Calculator([rate], self.symbols, self.externals)
            except (NotDifferentiableError, ValueError):
                self._rates[key] = None
        return self._rates[key]

    def projected(self, location: str, hold: Hold, values: Mapping[str, float]) -> float:
        """The held variable moved back onto its boundary g = 0, from which integration
        errors may have carried it while it was held: x - g / g_x."""
        key = (location, hold)
        if key not in self._boundaries:
            g = inward(self.place(location).exits[hold[1]])
            pair = [g, differentiate(g, hold[0])]
            self._boundaries[key] = Calculator(pair, self.symbols, self.externals)
        excess, slope = self._boundaries[key](values)
        value = values[hold[0]]
        return value - excess / slope if excess < 0.0 and slope != 0.0 else value

    def holders(
        self, name: str, holds: tuple[Hold, ...], part: int
    ) -> tuple[tuple[str, Calculator], ...]:
        """The variables that may keep a part of the invariant by giving way beside those that
        are held already; each with low, rate and high of everything that is held then, for
        one hold changes what the others need."""
        key = (name, holds, part)
        if key not in self._holders:
            exits = self.place(name).exits
            free = [n for n in self.loose_in(name) if n not in {h for h, _ in holds}]
            flows = self.flows(name, ())
            found = []
            for held in may_hold(exits[part], free):
                together = (*holds, (held, part))
                rates = joint_rates([(h, exits[i]) for h, i in together], flows)
                if rates is None:
                    continue
                needed: list[Expression] = []
                for h, rate in rates.items():
                    given = self.flow_range(name, h)
                    low = given.low if given.low is not None else rate
                    needed += [low, rate, given.high if given.high is not None else rate]
                found.append((held, Calculator(needed, self.symbols, self.externals)))
            self._holders[key] = tuple(found)
        return self._holders[key]

    def can_hold(self, name: str, holds: tuple[Hold, ...]) -> bool:
        """Whether the parts determine the derivatives of the variables that keep them."""
        if not holds:
            return True
        key = (name, holds)
        if key not in self._able:
            exits = self.place(name).exits
            wanted = [(held, exits[part]) for held, part in holds]
            self._able[key] = joint_rates(wanted, self.flows(name, ())) is not None
        return self._able[key]

    def loose_in(self, name: str) -> tuple[str, ...]:
        """The variables whose derivative lies in an inclusion in a location."""
        flows = self.view.location(name).flows
        return tuple(c.variable for c in flows if c.range.exact is None)

    def flows(self, name: str, holds: tuple[Hold, ...]) -> dict[str, Expression]:
        """The derivative of every flowing variable in a location."""
        return self._flows(name, holds, self.place(name).exits)

    @cached_property
    def slides(self) -> Slides:
        """The surfaces along which runs may slide."""
        from workbench.simulate.surfaces import Slides

        return Slides(self)

    def formed(self, expression: Expression) -> Expression:
        """An expression of the model with inputs as they are fed."""
        return substitute(expression, self._forms)

    # Details

    def _range(self, given: Range) -> Range:
        return given.substitute(self._forms)

    def flow_range(self, name: str, variable_name: str) -> Range:
        """The inclusion of a derivative in a location, with inputs as they are fed."""
        return self._range(self.view.location(name).flow_of(variable_name))

    def _compile(self, name: str, holds: tuple[Hold, ...], landed: tuple[int, ...]) -> Place:
        location = self.view.location(name)
        ranged = tuple(_demands(location.flows))
        written = (*conjuncts(location.invariant), *(condition for _, condition in ranged))
        exits = tuple(self.formed(c) for c in written)
        flows = self._flows(name, holds, exits)
        edges = tuple(self.view.edges_from(name))
        occupied = self.view.occupied(name)
        watches: list[Watched] = []
        roles: list[tuple[Role, int]] = []

        def watch(role: Role, i: int, condition: Expression, kind: EventKind) -> None:
            if condition != FALSE:
                roles.append((role, i))
                touch = role is Role.RISE
                watches.append(Watched(condition, kind, role in UNDEFINED_HOLDS, touch))

        for i, claim in enumerate(self.view.properties):
            bad = self.formed(claim.bad_states(occupied))
            watch(Role.BAD, i, bad, EventKind.CROSSING)
        watch(Role.OUTSIDE, 0, self.formed(negation(self.view.assumption)), EventKind.CROSSING)
        guards = [self.formed(e.guard) for e in edges]
        for i, edge in enumerate(edges):
            watch(Role.RISE, i, guards[i], edge.event)
        kept = {i for _, i in holds}
        for i, part in enumerate(exits):
            if i not in kept:
                part = loosened(part, i, self.moving) if i in landed else part
                watch(Role.EXIT, i, negation(part), EventKind.UNILATERAL)
        for i, _ in enumerate(edges):
            watch(Role.FALL, i, negation(guards[i]), EventKind.UNILATERAL)
        for i, hold in enumerate(holds):
            release, feasible = self._conditions(name, hold, exits, flows)
            watch(Role.RELEASE, i, release, EventKind.UNILATERAL)
            watch(Role.INFEASIBLE, i, negation(feasible), EventKind.UNILATERAL)
        moving = tuple(n for n in self.names if flows.get(n, ZERO) != ZERO)
        locked = lock({n: flows[n] for n in moving}, moving)
        flows.update(locked.flows)
        for k, condition in enumerate(locked.conditions):
            watch(Role.SWITCH, 2 * k, condition, EventKind.CROSSING)
            watch(Role.SWITCH, 2 * k + 1, negation(condition), EventKind.CROSSING)
        used = free_variables(*(flows[n] for n in moving), *(w.condition for w in watches))
        held = tuple(sorted(used - set(moving) - {TIME}))
        program = compile_program(
            flowing=moving,
            held=held,
            flows=[flows[n] for n in moving],
            watches=watches,
            symbols=self.symbols,
            externals=self.externals,
        )
        branches = held_branches(locked, self.symbols, self.externals)
        derived, resting = self.derived(name), tuple(n for n in self.names if n not in moving)
        return Place(
            name,
            program,
            tuple(roles),
            edges,
            exits,
            written,
            holds,
            derived,
            branches,
            resting,
            locked.conditions,
            ranged=tuple(n for n, _ in ranged),
            landed=landed,
        )

    def _flows(
        self, name: str, holds: tuple[Hold, ...], exits: Sequence[Expression]
    ) -> dict[str, Expression]:
        flows: dict[str, Expression] = {}
        for c in self.view.location(name).flows:
            if c.variable != TIME:
                flows[c.variable] = resolved(c.variable, self._range(c.range))
        rates = joint_rates([(held, exits[part]) for held, part in holds], flows)
        assert rates is not None, "what is held determines its derivatives"
        return {**flows, **rates}

    def _conditions(
        self, name: str, hold: Hold, exits: Sequence[Expression], flows: Mapping[str, Expression]
    ) -> tuple[Expression, Expression]:
        """When a hold ends: the inclusion's own choice points inwards again; and what it
        needs: the rate that keeps the boundary lies in the inclusion."""
        held, part = hold
        given = self.flow_range(name, held)
        wanted = resolved(held, given)
        rate = flows[held]
        slope = differentiate(inward(exits[part]), held)
        release = multiply(slope, subtract(wanted, rate)) > 0
        low = TRUE if given.low is None else given.low <= rate
        high = TRUE if given.high is None else rate <= given.high
        return release, conjunction(low, high)


def _demands(flows: Sequence[Constraint]) -> Iterator[tuple[str, Expression]]:
    """What must hold while time passes, since no derivative has a value in an empty range, each
    with the variable that it is about."""
    for c in flows:
        condition = has_value(c.range)
        if c.variable != TIME and condition != TRUE:
            yield c.variable, condition


def _symbols(automaton: Automaton) -> dict[str, int]:
    found: dict[str, int] = {}
    types = [v.type for v in automaton.variables]
    types += [i.type for i in automaton.inputs] + [p.type for p in automaton.parameters]
    for value_type in types:
        for value in value_type.values:
            found.setdefault(value, len(found))
    return found
