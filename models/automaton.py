"""The shared hybrid automaton: what every engine reads.

An `Automaton` is read through five questions: which variables, where runs start, what
holds in a location, which edges leave it, and which properties are claimed. There are two
kinds: `HybridAutomaton` here lists its locations; `models.agents.composition.Product` builds the
locations of a parallel composition only when they are asked for.

Semantics. A state is a location and a value of its type for every variable: an `int` is a
whole number, also where it is chosen from a range. Time may pass in a location while its
invariant holds on the whole closed interval and every flow and algebraic constraint is
satisfied; discrete variables and parameters do not change, and an analog variable changes
continuously, also where nothing is said of its derivative, unless an equation defines it.
An edge may be taken where its guard holds, and the target's invariant must hold afterwards.
Its resets happen at once: in a reset a plain name is the value before the jump, and a
primed name (`x'`, see `primed`) the value after it of something reset earlier in the list;
variables that are not mentioned keep their values (one with an equation in the target takes
the value that the equation gives, whatever was assigned to it). A reset may also bind an
auxiliary name, which is no variable of the automaton, for later resets to read in primed
form. (The language's sequential actions are brought into this form by
`models.agents.resets`.) An `urgent` edge lets no time pass while its guard holds, and may
be taken in the limit of states in which it holds: where x > 1 is about to hold. Where
several things are possible, all of them are behaviours of the automaton.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from typing import Protocol

from workbench.models.expressions.expression import (
    FALSE,
    TRUE,
    ZERO,
    Expression,
    boolean,
    negation,
    symbol,
    variable,
)
from workbench.models.expressions.operators import Op
from workbench.models.expressions.traversal import rebuild, substitute, with_arguments
from workbench.models.source import Span

TIME = "time"
"""The reserved name of the time since the start of a run; it has slope 1 everywhere."""


def primed(name: str) -> str:
    """The name, inside resets, of a variable's value after the jump."""
    return f"{name}'"


class Kind(StrEnum):
    """Analog variables may change while time passes, discrete ones only by resets."""

    ANALOG = "analog"
    DISCRETE = "discrete"


class EventKind(StrEnum):
    """How closely a simulator must approach a guard (see docs/simulation.md).

    `UNILATERAL`: never evaluate beyond it; `BILATERAL`: land on it, from either side;
    `CROSSING`: land just beyond it, so that the state does not stick to it; `SLIDING`: as
    unilateral, and where the edge back leads onto the guard again, slide along it.
    """

    UNILATERAL = "unilateral"
    BILATERAL = "bilateral"
    CROSSING = "crossing"
    SLIDING = "sliding"


@dataclass(frozen=True, slots=True)
class ValueType:
    """`real`, `int`, `bool`, or an enumeration with its values."""

    name: str
    values: tuple[str, ...] = ()

    @property
    def is_numeric(self) -> bool:
        """Whether arithmetic applies."""
        return self.name in ("real", "int")

    @property
    def some_value(self) -> Expression:
        """One of its values, for what must have one and is never looked at."""
        if self.values:
            return symbol(self.values[0])
        return ZERO if self.is_numeric else FALSE

    def __str__(self) -> str:
        return f"enum {{ {', '.join(self.values)} }}" if self.values else self.name


REAL = ValueType("real")
INT = ValueType("int")
BOOL = ValueType("bool")


def enumeration(*values: str) -> ValueType:
    """The type of a variable that takes one of the given symbols."""
    return ValueType("enum", values)


@dataclass(frozen=True, slots=True)
class Range:
    """The values between two bounds, both included; `None` means unbounded.

    `Range.exactly(e)` is the single value e.
    """

    low: Expression | None
    high: Expression | None

    @classmethod
    def exactly(cls, value: Expression) -> Range:
        """The range that holds one value."""
        return cls(value, value)

    @property
    def exact(self) -> Expression | None:
        """The single value of the range, where both bounds are the same expression."""
        return self.low if self.low is not None and self.low == self.high else None

    def substitute(self, change: Mapping[str, Expression]) -> Range:
        """The range with variables replaced in its bounds."""
        return self.changed(lambda bound: substitute(bound, change))

    def changed(self, change: Callable[[Expression], Expression]) -> Range:
        """The range with its bounds changed."""
        low = None if self.low is None else change(self.low)
        if self.low is self.high:
            return Range(low, low)
        return Range(low, None if self.high is None else change(self.high))


UNCONSTRAINED = Range(None, None)


@dataclass(frozen=True, slots=True)
class Variable:
    """A state variable; in a location it flows, is defined by an equation, or is free."""

    name: str
    type: ValueType = REAL
    kind: Kind = Kind.ANALOG
    span: Span | None = field(default=None, compare=False)

    @property
    def expression(self) -> Expression:
        """The variable as an expression."""
        return variable(self.name)


@dataclass(frozen=True, slots=True)
class Input:
    """A signal from outside, any piecewise continuous function of time within bounds
    (constants, or `None` where nothing is known)."""

    name: str
    type: ValueType = REAL
    low: Fraction | None = None
    high: Fraction | None = None
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Parameter:
    """A constant that is only known to lie in a range; it never changes during a run."""

    name: str
    type: ValueType = REAL
    low: Fraction | None = None
    high: Fraction | None = None
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Constraint:
    """In a flow: the derivative of `variable` lies in `range`. In an algebraic constraint
    or a reset: its value does. An equation is a range with one value."""

    variable: str
    range: Range
    span: Span | None = field(default=None, compare=False)

    def renamed(
        self, names: Mapping[str, str], change: Callable[[Expression], Expression]
    ) -> Constraint:
        """The same of another variable: names replaced, also (by `change`) in its range."""
        name = names.get(self.variable, self.variable)
        return Constraint(name, self.range.changed(change), self.span)


@dataclass(frozen=True, slots=True)
class Location:
    """Where control can stay: how variables flow, and for how long.

    An analog variable with neither flow nor algebraic constraint may change arbitrarily.
    """

    name: str
    flows: tuple[Constraint, ...] = ()
    algebraic: tuple[Constraint, ...] = ()
    invariant: Expression = TRUE
    span: Span | None = field(default=None, compare=False)

    def flow_of(self, name: str) -> Range:
        """The range of a variable's derivative."""
        for flow in self.flows:
            if flow.variable == name:
                return flow.range
        return UNCONSTRAINED


@dataclass(frozen=True, slots=True)
class Edge:
    """A discrete switch. `label` synchronises components that know the label; `name` says
    which transition of the source text this is, for traces and reports."""

    source: str
    target: str
    guard: Expression = TRUE
    resets: tuple[Constraint, ...] = ()
    label: str | None = None
    urgent: bool = False
    event: EventKind = EventKind.UNILATERAL
    name: str = ""
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Initial:
    """Where runs may start: any state of `location` that satisfies `condition`, changed by
    the resets of the entry transitions."""

    location: str
    condition: Expression = TRUE
    resets: tuple[Constraint, ...] = ()


class PropertyKind(StrEnum):
    """How the author wrote the property: an assertion, a forbidden set, or `never blocks`."""

    ASSERTION = "assertion"
    FORBIDDEN = "forbidden"
    PROGRESS = "progress"


NEVER_BLOCKS = "never blocks"
"""What the claim that runs never block is called where a model does not state it."""


@dataclass(frozen=True, slots=True)
class Property:
    """A claim about every reachable state.

    An assertion's `condition` must hold, a forbidden set's must not, in every state whose
    locations satisfy `where` (a Boolean combination of `at_location` propositions).
    Both may themselves contain `at_location`. *Progress* says that in every reachable state time
    can pass or a jump leads on, and that there is one (`models.lowering.stuck`); its condition is
    true, so no state breaks it by its values alone.

    `rescue` are derivatives of the best that could be done against a violation. They decide
    nothing: they tell, of a run that violates the property, from when on nothing helped.
    """

    name: str
    condition: Expression
    kind: PropertyKind = PropertyKind.ASSERTION
    where: Expression = TRUE
    span: Span | None = field(default=None, compare=False)
    rescue: tuple[Constraint, ...] = ()

    def bad_states(self, occupied: Mapping[str, str]) -> Expression:
        """The states that break the property while components occupy these locations."""
        if specialise(self.where, occupied) == FALSE:
            return FALSE
        condition = specialise(self.condition, occupied)
        return condition if self.kind is PropertyKind.FORBIDDEN else negation(condition)


def never_blocks(automaton: Automaton) -> Property:
    """The claim that runs never block, as the model states it or under its own name."""
    stated = (p for p in automaton.properties if p.kind is PropertyKind.PROGRESS)
    return next(stated, Property(NEVER_BLOCKS, TRUE, PropertyKind.PROGRESS))


def names_of(automaton: Automaton) -> tuple[str, ...]:
    """The names of variables, inputs and parameters."""
    return (
        *(v.name for v in automaton.variables),
        *(i.name for i in automaton.inputs),
        *(p.name for p in automaton.parameters),
    )


def specialise(condition: Expression, occupied: Mapping[str, str]) -> Expression:
    """The condition with every `at_location` decided by where the components are."""

    def decide(node: Expression, args: tuple[Expression, ...]) -> Expression:
        if node.op is Op.AT:
            component, location = node.place
            return boolean(occupied.get(component) == location)
        return with_arguments(node, args)

    return rebuild(condition, decide)


class Automaton(Protocol):
    """What engines read; see the module's docstring."""

    @property
    def name(self) -> str:
        """What the model is called."""

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The state variables, in a fixed order."""

    @property
    def inputs(self) -> tuple[Input, ...]:
        """Signals from outside."""

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Uncertain constants."""

    @property
    def assumption(self) -> Expression:
        """What holds of inputs and parameters at all times, beyond their bounds."""

    @property
    def properties(self) -> tuple[Property, ...]:
        """The claims to be verified."""

    @property
    def predicates(self) -> tuple[Expression, ...]:
        """The author's hints for predicate abstraction."""

    @property
    def horizon(self) -> Fraction | None:
        """The time bound of the claims, if the author set one."""

    @property
    def components(self) -> tuple[HybridAutomaton, ...]:
        """The parallel parts."""

    @property
    def sha256(self) -> str:
        """The fingerprint of the canonical JSON form."""

    def initial_sets(self) -> Iterator[Initial]:
        """Where runs may start, one location at a time."""

    def location(self, name: str) -> Location:
        """The location of that name."""

    def edges_from(self, name: str) -> tuple[Edge, ...]:
        """The edges that leave a location, in a fixed order."""

    def occupied(self, name: str) -> Mapping[str, str]:
        """Which location each component is in, by component name."""


@dataclass(frozen=True)
class HybridAutomaton:
    """An automaton with its locations listed.

    `assumption` relates inputs, parameters and variables beyond plain bounds, and holds at
    all times; `predicates` are the author's hints for predicate abstraction; `horizon`
    bounds the time of the claims, if the author set one. `alphabet` holds the labels that
    the automaton takes part in, whether or not an edge carries them: in a composition an
    absent edge blocks.
    """

    name: str
    variables: tuple[Variable, ...] = ()
    locations: tuple[Location, ...] = ()
    edges: tuple[Edge, ...] = ()
    initial: tuple[Initial, ...] = ()
    inputs: tuple[Input, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    assumption: Expression = TRUE
    properties: tuple[Property, ...] = ()
    predicates: tuple[Expression, ...] = ()
    alphabet: frozenset[str] = frozenset()
    horizon: Fraction | None = None

    def __post_init__(self) -> None:
        known = {location.name for location in self.locations}
        assert len(known) == len(self.locations), "location names must differ"
        used = {e.source for e in self.edges} | {e.target for e in self.edges}
        used |= {start.location for start in self.initial}
        assert used <= known, f"unknown locations {sorted(used - known)}"

    @property
    def components(self) -> tuple[HybridAutomaton, ...]:
        """The parallel parts: this automaton alone."""
        return (self,)

    @cached_property
    def sha256(self) -> str:
        """The fingerprint of the canonical JSON form."""
        from workbench.models.interchange.json_model import fingerprint

        return fingerprint(self)

    @cached_property
    def _location_by_name(self) -> dict[str, Location]:
        return {location.name: location for location in self.locations}

    @cached_property
    def _edges_by_source(self) -> dict[str, tuple[Edge, ...]]:
        found: dict[str, list[Edge]] = {}
        for edge in self.edges:
            found.setdefault(edge.source, []).append(edge)
        return {source: tuple(edges) for source, edges in found.items()}

    def initial_sets(self) -> Iterator[Initial]:
        """Where runs may start, one location at a time."""
        yield from self.initial

    def location(self, name: str) -> Location:
        """The location of that name."""
        return self._location_by_name[name]

    def edges_from(self, name: str) -> tuple[Edge, ...]:
        """The edges that leave a location, in source order."""
        return self._edges_by_source.get(name, ())

    def occupied(self, name: str) -> Mapping[str, str]:
        """Which location each component is in, by component name."""
        return {self.name: name}
