"""What every engine and the trusted checker take for granted about an automaton.

Conditions speak of `x'` after a jump, of the derivative `d(x)`, of auxiliary names with a blank or
`@`, and of a signal 1; so no name of the automaton may look like one of these. The reserved name
`time` is the time since the start: 0 at first, with slope 1 everywhere, and never assigned. And in
one location, or in the resets of one jump, a variable has one constraint: of several, engines
would have to say which one counts: an equation is for an analog variable (a discrete one does not
change while time passes) without a flow there. A jump may also bind a name that is no variable, for
a value that its other resets read; that is no signal, and none of the names that stand for values
of equations. Components agree on what a variable is, and only one of them has equations for it.
Properties are told apart by their names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set

from models.automaton import (
    REAL,
    TIME,
    Automaton,
    Constraint,
    HybridAutomaton,
    Kind,
    Location,
    Range,
    Variable,
)
from models.expressions.expression import ONE, ZERO, equal, variable
from models.expressions.traversal import conjuncts

_RESERVED = frozenset("'()@ \0")

SHARE, EXCESS, FREE, ASSIGNED = "share", "excess", "free", "assigned"
"""What an auxiliary input stands for: the place between two bounds, the distance from one
bound, or the value itself; and, inside resets, what was assigned to a defined variable."""

STANDING_FOR = (SHARE, EXCESS, FREE, ASSIGNED)


def fault_of(automaton: Automaton) -> str | None:
    """Why the automaton could be misread, or None."""
    return next(_faults(automaton), None)


def _faults(automaton: Automaton) -> Iterator[str]:
    variables = {v.name for v in automaton.variables}
    signals = {i.name for i in automaton.inputs} | {p.name for p in automaton.parameters}
    for name in sorted(variables | signals):
        if not _RESERVED.isdisjoint(name) or not name or name[0].isdigit():
            yield f"the name {name!r} has a character that conditions use for other things"
    for name in sorted(variables & signals):
        yield f"the name {name!r} is both a variable and a signal"
    for name in sorted({i.name for i in automaton.inputs} & {p.name for p in automaton.parameters}):
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
            yield from _equation_faults(location, discrete)
        jumps = [e.resets for e in component.edges] + [i.resets for i in component.initial]
        for resets in jumps:
            yield from _reset_faults(resets, variables, signals)
        if any(v.name == TIME for v in component.variables):
            yield from _clock_faults(component)
    for event in getattr(automaton, "interactions", ()):  # those of a product
        yield from _reset_faults(event.resets, variables, signals)


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


def _reset_faults(
    resets: tuple[Constraint, ...], variables: Set[str], signals: Set[str]
) -> Iterator[str]:
    if why := reset_fault(resets):
        yield why
    for given in resets:
        if given.variable in signals:
            yield f"a jump assigns {given.variable}, which is no variable but a signal"
        stem, _, word = given.variable.rpartition(".")
        if given.variable not in variables and stem in variables and word in STANDING_FOR:
            yield f"a jump binds {given.variable}, a name that stands for a value of {stem}"


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


def _equation_faults(location: Location, discrete: Set[str]) -> Iterator[str]:
    flowing = {c.variable for c in location.flows}
    for given in location.algebraic:
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
