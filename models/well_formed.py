"""What every engine and the trusted checker take for granted about an automaton.

Conditions speak of `x'` after a jump, of the derivative `d(x)`, of auxiliary names with a blank or
`@`, and of a signal 1; so no name of the automaton may look like one of these. The reserved name
`time` is the time since the start: 0 at first, with slope 1 everywhere, and never assigned. And in
one location, or in the resets of one jump, a variable has one constraint: of several, engines
would have to say which one counts: an equation is for an analog variable (a discrete one does not
change while time passes) without a flow there. A jump may also bind a name that is no variable, for
a value that its other resets read; that is no signal, and none of the names that stand for values
of equations. It is real, unless a whole number is computed for it. A whole number is assigned, and
an equation gives it, whole numbers. Components agree on what a variable is, and only one of them
has equations for it.
Properties are told apart by their names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import TypeAlias

from workbench.models.automaton import (
    INT,
    REAL,
    TIME,
    Automaton,
    Constraint,
    HybridAutomaton,
    Kind,
    Location,
    Range,
    ValueType,
    Variable,
    primed,
)
from workbench.models.expressions.expression import ONE, ZERO, Expression, equal, variable
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
    if TIME in signals:
        yield f"{TIME} is the time since the start, and no input or parameter"
    claims = [p.name for p in automaton.properties]
    for name in sorted({name for name in claims if claims.count(name) > 1}):
        yield f"two properties are called {name!r}: a proof of one would count for both"
    discrete = {v.name for v in automaton.variables if v.kind is Kind.DISCRETE}
    yield from _disagreements(automaton.components)
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
        if given.variable not in known and whole:
            known[primed(given.variable)] = INT


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
        whole = types.get(given.variable) == INT
        if whole and exact is not None and _may_be_fraction(exact, {**types, **signals}):
            yield f"{given.variable} is a whole number, but in {location.name} it equals {exact}"
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
