"""Algebraic variables eliminated: the automaton in terms of what really evolves.

`eliminate_algebraic` gives a view of an automaton, with the same location names, in which no
location has algebraic constraints. In a location where y == e holds, y is replaced by e in
flows, invariant, guards, resets, initial sets and properties; equations may use each
other's variables as long as there is no loop. The view is built location by location, on
demand.

Lemma. A run of the automaton is one of the view, without the values of the variables that are
eliminated, and those are what the equations say. For an expression has the value that it has with
equal expressions in place of names. This is how the semantics are read: after a jump, and at the
start, an algebraic variable has the value that its equation gives, whatever was assigned to it.

- y in [l, u] becomes y = l + y.share * (u - l) with an auxiliary input y.share in [0, 1]
  (`y.excess >= 0` where a bound is missing, `y.free` where both are). Inputs may jump, so
  this admits a little more than a differentiable y does.
- A variable with an equation in some locations only stays a state variable; where it has an
  equation it rests at 0, and it gets its value when control moves on to a location that
  does not define it.
- A variable with both an equation and a flow in a location stays, and the equation becomes
  part of the invariant.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from graphlib import CycleError, TopologicalSorter

from workbench.models.automaton import (
    Automaton,
    Constraint,
    Edge,
    Initial,
    Input,
    Location,
    Property,
    Range,
    Variable,
    primed,
)
from workbench.models.automaton_view import AutomatonView
from workbench.models.expressions.expression import (
    ONE,
    TRUE,
    ZERO,
    Expression,
    add,
    at_location,
    compare,
    conditional,
    conjunction,
    multiply,
    variable,
)
from workbench.models.expressions.operators import Op
from workbench.models.expressions.ranges import bounds, value_in
from workbench.models.expressions.traversal import free_variables, substitute
from workbench.models.source import Diagnostic, ModelError, Span
from workbench.models.well_formed import ASSIGNED, EXCESS, FREE, SHARE, STANDING_FOR


def eliminate_algebraic(automaton: Automaton) -> Automaton:
    """The automaton without algebraic constraints; see the module's docstring."""
    parts = automaton.components
    defined = {c.variable for part in parts for x in part.locations for c in x.algebraic}
    if not defined:
        return automaton
    names = {v.name for v in automaton.variables} | {p.name for p in automaton.parameters}
    names |= {i.name for i in automaton.inputs}
    for name in sorted(defined):
        for word in STANDING_FOR:
            if f"{name}.{word}" in names:
                raise ModelError(
                    Diagnostic(
                        "reserved-name",
                        f"{name}.{word} is needed as an auxiliary name, because {name} is "
                        "defined by an equation",
                        hint=f"call the variable {word} something else",
                    )
                )
    return Eliminated(automaton)


@dataclass(frozen=True)
class Eliminated(AutomatonView):
    """A view of `base` in which no location has algebraic constraints; its `components` are
    those of the base, with their equations."""

    base: Automaton

    @cached_property
    def variables(self) -> tuple[Variable, ...]:
        """The variables that are not defined by an equation everywhere."""
        return tuple(v for v in self.base.variables if v.name not in self._eliminated)

    @cached_property
    def inputs(self) -> tuple[Input, ...]:
        """The base's inputs and the auxiliary ones."""
        return (*self.base.inputs, *self._auxiliary)

    @cached_property
    def assumption(self) -> Expression:
        """What holds of inputs and parameters at all times, beyond their bounds."""
        return substitute(self.base.assumption, self._anywhere)

    @cached_property
    def properties(self) -> tuple[Property, ...]:
        """The claims, with equations that depend on the location as conditionals on
        `at_location`; `Property.bad_states` decides these."""
        return tuple(
            replace(p, condition=substitute(p.condition, self._anywhere))
            for p in self.base.properties
        )

    @cached_property
    def predicates(self) -> tuple[Expression, ...]:
        """The author's hints, in the same form as the properties."""
        return tuple(substitute(p, self._anywhere) for p in self.base.predicates)

    def initial_sets(self) -> Iterator[Initial]:
        """Where runs may start, one location at a time."""
        for start in self.base.initial_sets():
            known = self.definitions(start.location)
            condition = substitute(start.condition, known)
            resets = self._resets(start.resets, known, start.location, starting=True)
            yield Initial(start.location, condition, resets)

    def location(self, name: str) -> Location:
        """The location of that name."""
        found = self._locations.get(name)
        if found is None:
            found = self._locations[name] = self._build_location(self.base.location(name))
        return found

    def edges_from(self, name: str) -> tuple[Edge, ...]:
        """The edges that leave a location, in the base's order."""
        found = self._edges.get(name)
        if found is None:
            known = self.definitions(name)
            found = self._edges[name] = tuple(
                replace(
                    edge,
                    guard=substitute(edge.guard, known),
                    resets=self._resets(edge.resets, known, edge.target),
                )
                for edge in self.base.edges_from(name)
            )
        return found

    def definitions(self, name: str) -> Mapping[str, Expression]:
        """The variables that equations define in a location, in terms of the others."""
        found = self._definitions.get(name)
        if found is None:
            location = self.base.location(name)
            flowing = {c.variable for c in location.flows}
            raw = {c.variable: _value(c) for c in location.algebraic if c.variable not in flowing}
            spans = {c.variable: c.span for c in location.algebraic}
            for defined, value in raw.items():
                if defined in free_variables(value):
                    raise ModelError(_loop((defined, defined), spans))
            found = self._definitions[name] = _resolved(raw, spans)
        return found

    # Details

    @cached_property
    def _definitions(self) -> dict[str, Mapping[str, Expression]]:
        return {}

    @cached_property
    def _locations(self) -> dict[str, Location]:
        return {}

    @cached_property
    def _edges(self) -> dict[str, tuple[Edge, ...]]:
        return {}

    @cached_property
    def _flowing(self) -> frozenset[str]:
        """The variables that flow in some location."""
        parts = self.base.components
        return frozenset(c.variable for p in parts for x in p.locations for c in x.flows)

    @cached_property
    def _eliminated(self) -> frozenset[str]:
        """The variables that some component defines by an equation wherever it is."""
        found: set[str] = set()
        for part in self.base.components:
            defined = [{c.variable for c in x.algebraic} for x in part.locations]
            found |= set.intersection(*defined) if defined else set()
        return frozenset(found) - self._flowing

    @cached_property
    def _partly_defined(self) -> frozenset[str]:
        """The variables defined by an equation in some locations, but not in all."""
        parts = self.base.components
        defined = {c.variable for p in parts for x in p.locations for c in x.algebraic}
        return frozenset(defined) - self._eliminated

    @cached_property
    def _rest_values(self) -> Mapping[str, Expression]:
        """What a partly defined variable is set to while an equation stands for it."""
        return {v.name: v.type.some_value for v in self.base.variables}

    @cached_property
    def _auxiliary(self) -> tuple[Input, ...]:
        found: dict[str, Input] = {}
        for part in self.base.components:
            for location in part.locations:
                for given in location.algebraic:
                    if given.range.exact is None:
                        auxiliary = _auxiliary_input(given)
                        found[auxiliary.name] = auxiliary
        return tuple(found.values())

    @cached_property
    def _anywhere(self) -> Mapping[str, Expression]:
        """What defines each algebraic variable, as conditionals on where components are."""
        raw: dict[str, Expression] = {}
        spans: dict[str, Span | None] = {}
        for part in reversed(self.base.components):
            cases: dict[str, list[tuple[str, Expression]]] = {}
            for location in part.locations:
                flowing = {c.variable for c in location.flows}
                for given in location.algebraic:
                    spans[given.variable] = given.span
                    if given.variable not in flowing:
                        case = (location.name, _value(given))
                        cases.setdefault(given.variable, []).append(case)
            for name, known in cases.items():
                covers = len(known) == len(part.locations)
                otherwise = known.pop()[1] if covers else raw.get(name, variable(name))
                raw[name] = _by_location(part.name, known, otherwise)
        return _resolved(raw, spans)

    def _build_location(self, location: Location) -> Location:
        known = self.definitions(location.name)
        flows = [
            replace(c, range=c.range.substitute(known))
            for c in location.flows
            if c.variable not in known
        ]
        flows += [
            Constraint(name, Range.exactly(ZERO))
            for name in known
            if name in self._partly_defined and self._rest_values[name].is_constant
        ]
        invariant = [location.invariant]
        for given in location.algebraic:
            if given.variable not in known:
                invariant.append(value_in(given.variable, given.range))
            elif given.range.exact is None:
                invariant.append(_inhabited(given.range))
        return Location(
            location.name,
            tuple(flows),
            (),
            substitute(conjunction(*invariant), known),
            location.span,
        )

    def _resets(
        self,
        resets: Iterable[Constraint],
        known: Mapping[str, Expression],
        target: str,
        starting: bool = False,
    ) -> tuple[Constraint, ...]:
        """The resets of a jump from a location with the equations `known` (at the start:
        those of the target itself) to the target."""
        found = [replace(r, range=r.range.substitute(known)) for r in resets]
        if not self._partly_defined:
            return tuple(_needed(found, self._eliminated))
        defined = self.definitions(target)
        found = _needed(found, self._eliminated | defined.keys())
        given = {r.variable for r in found}
        for name in sorted(self._partly_defined - given):
            if name in defined:
                if starting or name not in known:
                    found.append(Constraint(name, Range.exactly(self._rest_values[name])))
            elif name in known:
                found.append(Constraint(name, Range.exactly(known[name])))
        return tuple(found)


def _needed(resets: list[Constraint], defined: Set[str]) -> list[Constraint]:
    """The resets without those of variables that the target defines; what later resets
    read of these goes on under an auxiliary name."""
    lost = {r.variable for r in resets} & defined
    if not lost:
        return resets
    renaming = {primed(name): variable(primed(f"{name}.{ASSIGNED}")) for name in lost}
    found: list[Constraint] = []
    for reset in resets:
        name = f"{reset.variable}.{ASSIGNED}" if reset.variable in lost else reset.variable
        found.append(Constraint(name, reset.range.substitute(renaming), reset.span))
    needed: list[Constraint] = []
    read: set[str] = set()
    for reset, original in zip(reversed(found), reversed(resets), strict=True):
        exact = reset.range.exact is not None
        if original.variable in lost and exact and primed(reset.variable) not in read:
            continue
        needed.append(reset)
        read |= free_variables(*bounds(reset))
    return needed[::-1]


def _value(given: Constraint) -> Expression:
    """The value that an algebraic constraint gives, with an auxiliary input for a range."""
    low, high = given.range.low, given.range.high
    if given.range.exact is not None:
        return given.range.exact
    auxiliary = variable(_auxiliary_input(given).name)
    if low is None and high is None:
        return auxiliary
    if low is None:
        assert high is not None
        return high - auxiliary
    return low + auxiliary if high is None else low + auxiliary * _width(low, high)


def _width(low: Expression, high: Expression) -> Expression:
    """`high - low` with like terms gathered: a literal where it is constant, so that y stays
    affine."""
    factors: dict[Expression, Fraction] = {}
    waiting = [(low, Fraction(-1)), (high, Fraction(1))]
    while waiting:
        term, factor = waiting.pop()
        if term.op is Op.ADD:
            waiting.extend((part, factor) for part in reversed(term.args))
        elif term.op is Op.MULTIPLY and term.args[0].is_constant:
            waiting.append((multiply(*term.args[1:]), factor * term.args[0].constant))
        elif term.is_constant:
            factors[ONE] = factors.get(ONE, Fraction(0)) + factor * term.constant
        else:
            factors[term] = factors.get(term, Fraction(0)) + factor
    return add(*(multiply(factor, rest) for rest, factor in factors.items() if factor != 0))


def _auxiliary_input(given: Constraint) -> Input:
    low, high = given.range.low, given.range.high
    if low is not None and high is not None:
        return Input(f"{given.variable}.{SHARE}", low=Fraction(0), high=Fraction(1))
    if low is None and high is None:
        return Input(f"{given.variable}.{FREE}")
    return Input(f"{given.variable}.{EXCESS}", low=Fraction(0))


def _inhabited(given: Range) -> Expression:
    if given.low is None or given.high is None:
        return TRUE
    return compare(Op.LESS_EQUAL, given.low, given.high)


def _by_location(
    component: str, cases: list[tuple[str, Expression]], otherwise: Expression
) -> Expression:
    """A value that depends on where a component is."""
    found = otherwise
    for location, value in reversed(cases):
        if value != found:
            found = conditional(at_location(component, location), value, found)
    return found


def _resolved(
    raw: Mapping[str, Expression], spans: Mapping[str, Span | None]
) -> dict[str, Expression]:
    """The equations with each other's variables substituted."""
    reads = {name: free_variables(value) & raw.keys() - {name} for name, value in raw.items()}
    found: dict[str, Expression] = {}
    try:
        order = tuple(TopologicalSorter(reads).static_order())
    except CycleError as cycle:
        raise ModelError(_loop(tuple(cycle.args[1]), spans)) from None
    for name in order:
        found[name] = substitute(raw[name], {n: found[n] for n in reads[name]})
    return found


def _loop(names: tuple[str, ...], spans: Mapping[str, Span | None]) -> Diagnostic:
    return Diagnostic(
        "algebraic-loop",
        f"the equations define {' from '.join(names)}",
        spans.get(names[0]),
        "give one of these variables a differential equation",
    )
