"""What every engine and the trusted checker take for granted about an automaton.

Conditions speak of `x'` after a jump, of the derivative `d(x)`, of auxiliary names with a blank or
`@`, and of a signal 1; so no name of the automaton may look like one of these. The reserved name
`time` is the time since the start: 0 at first, with slope 1 everywhere, and never assigned. And in
one location, or in the resets of one jump, a variable has one constraint: of several, engines
would have to say which one counts: an equation is for an analog variable (a discrete one does not
change while time passes) without a flow there. A jump may also bind a name that is no variable, for
a value that its other resets read; that is no signal, and none of the names that stand for values
of equations. It is real, unless a whole number is computed for it. A whole number is assigned, and
an equation gives it, whole numbers; a symbol is one of the variable's type. Analog variables that
are no real numbers change by equations only, so they have one, or the slope 0, wherever they are.
Components agree on what a variable is, and only one of them
has equations for it.
Properties are told apart by their names; only the property that runs go on, which is about the
whole model, is called "never blocks".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from math import ceil
from typing import TypeAlias

from workbench.models.automaton import (
    INT,
    NEVER_BLOCKS,
    REAL,
    TIME,
    Automaton,
    Constraint,
    HybridAutomaton,
    Input,
    Kind,
    Location,
    Parameter,
    PropertyKind,
    Range,
    ValueType,
    Variable,
    enumeration,
    primed,
)
from workbench.models.expressions.expression import ONE, TRUE, ZERO, Expression, equal, variable
from workbench.models.expressions.operators import Op
from workbench.models.expressions.traversal import conjuncts

_RESERVED = frozenset("'()@ \0")

SHARE, EXCESS, FREE, ASSIGNED = "share", "excess", "free", "assigned"
"""What an auxiliary input stands for: the place between two bounds, the distance from one
bound, or the value itself; and, inside resets, what was assigned to a defined variable."""

_WHOLE_FROM_WHOLE = (Op.ADD, Op.MULTIPLY, Op.POWER, Op.MINIMUM, Op.MAXIMUM, Op.ABSOLUTE)

Types: TypeAlias = Mapping[str, ValueType]

STANDING_FOR = (SHARE, EXCESS, FREE, ASSIGNED)


def fault_of(automaton: Automaton) -> str | None:
    """Why the automaton could be misread, or None."""
    return next(_faults(automaton), None)


def _faults(automaton: Automaton) -> Iterator[str]:
    types = {v.name: v.type for v in automaton.variables}
    inputs = {i.name: i.type for i in automaton.inputs}
    parameters = {p.name: p.type for p in automaton.parameters}
    signals = inputs | parameters
    for name in sorted(types | signals):
        if not _RESERVED.isdisjoint(name) or not name or name[0].isdigit():
            yield f"the name {name!r} has a character that conditions use for other things"
    for name in sorted(types.keys() & signals.keys()):
        yield f"the name {name!r} is both a variable and a signal"
    for name in sorted(inputs.keys() & parameters.keys()):
        yield f"the name {name!r} is both an input, which may change, and a parameter"
    constant_or_given: tuple[Input | Parameter, ...] = (*automaton.inputs, *automaton.parameters)
    for signal in constant_or_given:
        low, high = signal.low, signal.high
        if signal.type == INT and low is not None and high is not None and ceil(low) > high:
            yield f"{signal.name} is a whole number, but none is within its bounds"
    if TIME in signals:
        yield f"{TIME} is the time since the start, and no input or parameter"
    claims = [p.name for p in automaton.properties]
    for name in sorted({name for name in claims if claims.count(name) > 1}):
        yield f"two properties are called {name!r}: a proof of one would count for both"
    for claim in automaton.properties:
        is_progress = claim.kind is PropertyKind.PROGRESS
        if is_progress and (claim.where != TRUE or claim.condition != TRUE):
            yield f"the property {claim.name!r}, that runs go on, has a condition or a place"
        if claim.name == NEVER_BLOCKS and not is_progress:
            yield f"only the property that runs go on is called {NEVER_BLOCKS!r}"
    discrete = {v.name for v in automaton.variables if v.kind is Kind.DISCRETE}
    yield from _disagreements(automaton.components)
    for given in without_equation(automaton.components):
        what = f"{given.name} is analog, but no real number ({given.type})"
        yield f"{what}: only an equation may change it, and it has none in some location"
    for component in automaton.components:
        for location in component.locations:
            for group in (location.flows, location.algebraic):
                yield from _twice(group, f"in {location.name}")
            yield from _equation_faults(location, discrete, types, signals)
        jumps = [e.resets for e in component.edges] + [i.resets for i in component.initial]
        for resets in jumps:
            yield from _reset_faults(resets, types, signals)
        if any(v.name == TIME for v in component.variables):
            yield from _clock_faults(component)
    for event in getattr(automaton, "interactions", ()):  # those of a product
        yield from _reset_faults(event.resets, types, signals)


def _disagreements(components: Sequence[HybridAutomaton]) -> Iterator[str]:
    """What components say differently about one variable."""
    declared: dict[str, Variable] = {}
    defining: dict[str, str] = {}
    for component in components:
        for own in component.variables:
            other = declared.setdefault(own.name, own)
            if (own.type, own.kind) != (other.type, other.kind):
                what = f"{other.kind} {other.type} and {own.kind} {own.type}"
                yield f"components declare {own.name!r} differently: {what}"
        for name in sorted({c.variable for x in component.locations for c in x.algebraic}):
            if name in defining:
                yield f"{name} has equations in {defining[name]} and in {component.name}"
            defining[name] = component.name
    for component in components:
        flowing = {c.variable for x in component.locations for c in x.flows}
        for name in sorted(flowing & defining.keys()):
            if defining[name] != component.name:
                yield f"{name} has a flow in {component.name} and an equation in {defining[name]}"


def without_equation(components: Sequence[HybridAutomaton]) -> Iterator[Variable]:
    """Analog variables that are no real numbers, without an equation (or the slope 0) somewhere in
    every component."""
    held: set[str] = set()
    for component in components:
        places = [
            {c.variable for c in place.algebraic}
            | {c.variable for c in place.flows if c.range.exact == ZERO}
            for place in component.locations
        ]
        held |= set.intersection(*places) if places else set()
    analog = {v.name: v for c in components for v in c.variables if v.kind is Kind.ANALOG}
    yield from (v for v in analog.values() if v.type != REAL and v.name not in held)


def _reset_faults(resets: tuple[Constraint, ...], types: Types, signals: Types) -> Iterator[str]:
    """What is wrong with the resets of a jump, given the types of variables and signals."""
    if why := reset_fault(resets):
        yield why
    known = {TIME: REAL, **types, **signals}
    for given in resets:
        if given.variable in signals:
            yield f"a jump assigns {given.variable}, which is no variable but a signal"
        stem, _, word = given.variable.rpartition(".")
        if given.variable not in types and stem in types and word in STANDING_FOR:
            yield f"a jump binds {given.variable}, a name that stands for a value of {stem}"
        exact = given.range.exact
        whole = exact is not None and not _may_be_fraction(exact, known)
        if types.get(given.variable) == INT and exact is not None and not whole:
            yield f"{given.variable} is a whole number, but a jump assigns it {exact}"
        symbols = None if exact is None else _symbols_of(exact, known)
        kind = types.get(given.variable)
        if symbols is not None and kind is not None and not symbols <= set(kind.values):
            yield f"{given.variable} is of the type {kind}, but a jump assigns it {exact}"
        if given.variable not in known:
            if whole:
                known[primed(given.variable)] = INT
            elif symbols is not None:
                known[primed(given.variable)] = enumeration(*sorted(symbols))


def _may_be_fraction(value: Expression, types: Types) -> bool:
    """Whether a value is computed from numbers that need not be whole: a name without a type,
    such as an auxiliary one, is real."""
    pending = [value]
    while pending:
        node = pending.pop()
        if node.op is Op.IF:
            pending.extend(node.args[1:])
        elif node.op is Op.CONSTANT:
            if node.constant.denominator != 1:
                return True
        elif node.op is Op.VARIABLE:
            if types.get(node.name, types.get(node.name.removesuffix("'"), REAL)) != INT:
                return True
        elif node.op is Op.POWER and not (node.args[1].is_constant and node.args[1].constant >= 0):
            return True
        elif node.op in _WHOLE_FROM_WHOLE:
            pending.extend(node.args)
        elif node.op not in (Op.FLOOR, Op.SIGN):
            return True
    return False


def _symbols_of(value: Expression, types: Types) -> set[str] | None:
    """The symbols that a value may be; None if it is none of an enumeration."""
    pending, found = [value], set[str]()
    while pending:
        node = pending.pop()
        if node.op is Op.IF:
            pending.extend(node.args[1:])
        elif node.op is Op.SYMBOL:
            found.add(str(node.value))
        elif node.op is Op.VARIABLE:
            kind = types.get(node.name, types.get(node.name.removesuffix("'"), REAL))
            found.update(kind.values)
    return found or None


def reset_fault(resets: Iterable[Constraint]) -> str | None:
    """Why the resets of a jump could be misread, or None."""
    given = tuple(resets)
    if any(r.variable == TIME for r in given):
        return f"{TIME} is the time since the start: no jump assigns it"
    return next(_twice(given, "in one jump"), None)


def _twice(constraints: Iterable[Constraint], where: str) -> Iterator[str]:
    seen: set[str] = set()
    for given in constraints:
        if given.variable in seen:
            yield f"{given.variable} has two constraints {where}; give it one"
        seen.add(given.variable)


def _equation_faults(
    location: Location, discrete: Set[str], types: Types, signals: Types
) -> Iterator[str]:
    flowing = {c.variable for c in location.flows}
    for given in location.algebraic:
        exact = given.range.exact
        kind, known = types.get(given.variable, REAL), {**types, **signals}
        if kind == INT and exact is None:
            yield f"{given.variable} is a whole number, but has only a range in {location.name}"
        if exact is not None:
            fits = (_symbols_of(exact, known) or set()) <= set(kind.values)
            if not fits or (kind == INT and _may_be_fraction(exact, known)):
                what = "a whole number" if kind == INT else f"of the type {kind}"
                yield f"{given.variable} is {what}, but in {location.name} it equals {exact}"
        if given.variable in discrete:
            why = "it is discrete, and does not change while time passes"
            yield f"{given.variable} has an equation in {location.name}, but {why}"
        if given.variable in flowing:
            yield f"{given.variable} has a flow and an equation in {location.name}; give it one"


def _clock_faults(component: HybridAutomaton) -> Iterator[str]:
    declared = next(v for v in component.variables if v.name == TIME)
    if declared.kind is not Kind.ANALOG or declared.type != REAL:
        yield f"{TIME} is the time since the start, an analog real variable"
    for location in component.locations:
        defined = any(c.variable == TIME for c in location.algebraic)
        if defined or location.flow_of(TIME) != Range.exactly(ONE):
            yield f"{TIME} is the time since the start: its slope is 1, also in {location.name}"
    for start in component.initial:
        if equal(variable(TIME), ZERO) not in conjuncts(start.condition):
            yield f"{TIME} is the time since the start: it begins at 0"
