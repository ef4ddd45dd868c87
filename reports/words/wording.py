"""The parts of a model in words: one line each, in the language's own notation."""

from __future__ import annotations

import re
from collections.abc import Iterable

from workbench.models.agents.hierarchy import (
    DEFAULT_ENTRY,
    DEFAULT_EXIT,
    Claim,
    ControlPoint,
    Declaration,
    Interaction,
    Transition,
)
from workbench.models.automaton import (
    Constraint,
    Edge,
    HybridAutomaton,
    Initial,
    Input,
    Kind,
    Location,
    Parameter,
    Range,
    primed,
)
from workbench.models.expressions.expression import TRUE, Expression, variable
from workbench.models.expressions.printing import to_text
from workbench.models.expressions.traversal import conjuncts

_ELEMENT = re.compile(r"(?P<array>.+)\[(?P<index>-?\d+)\]")


def relation(subject: str, values: Range, equals: str) -> str:
    """`x == e`, `x in [l, u]`, or a one-sided bound; `equals` is the sign of equality."""
    if values.exact is not None:
        return f"{subject} {equals} {to_text(values.exact)}"
    if values.low is not None and values.high is not None:
        return f"{subject} in [{to_text(values.low)}, {to_text(values.high)}]"
    if values.low is not None:
        return f"{subject} >= {to_text(values.low)}"
    if values.high is not None:
        return f"{subject} <= {to_text(values.high)}"
    return f"{subject} is free"


def flow(constraint: Constraint) -> str:
    """A differential constraint: `d(x) == e`."""
    return relation(f"d({constraint.variable})", constraint.range, "==")


def equation(constraint: Constraint) -> str:
    """An algebraic constraint: `y == e`."""
    return relation(constraint.variable, constraint.range, "==")


def assignment(constraint: Constraint) -> str:
    """An action: `x = e` or `x in [l, u]`."""
    return relation(constraint.variable, constraint.range, "=")


def changes(actions: Iterable[Constraint]) -> tuple[str, ...]:
    """The actions, one text each, without those that keep a variable as it is."""
    return tuple(
        assignment(action) for action in actions if action.range.exact != variable(action.variable)
    )


def jumps(resets: Iterable[Constraint]) -> tuple[str, ...]:
    """The resets of a flat automaton, which happen at once: `x' = y` speaks of the value of
    x after the jump and of y before it."""
    return tuple(
        relation(primed(reset.variable), reset.range, "=")
        for reset in resets
        if reset.range.exact != variable(reset.variable)
    )


def conditions(expression: Expression) -> tuple[str, ...]:
    """The parts of a conjunction, one text each."""
    return tuple(map(to_text, conjuncts(expression)))


def declaration(declared: Declaration) -> str:
    """`write analog real x in [0, 1]`."""
    words = f"{declared.access} {declared.kind} {declared.type}"
    if declared.initial is None:
        return f"{words} {declared.name}"
    return f"{words} {relation(declared.name, declared.initial, '=')}"


def claim(claimed: Claim) -> str:
    """`assert "no collision": dist > 0`."""
    word = "forbid" if claimed.kind == "forbidden" else "assert"
    said = "never blocks" if claimed.kind == "progress" else to_text(claimed.condition)
    return f'{word} "{claimed.name}": {said}'


def transition(taken: Transition) -> str:
    """`trans #far from a to b when g do { x = 1 }`."""
    label = f"#{taken.label} " if taken.label else ""
    head = f"{'urgent ' if taken.urgent else ''}trans {label}"
    way = f"from {point(taken.source)} to {point(taken.target)}"
    return _event(head + way, taken.guard, changes(taken.actions))


def point(control: ControlPoint) -> str:
    """A control point; the default ones of a submode go by the submode's name."""
    if control.submode is not None and control.point in (DEFAULT_ENTRY, DEFAULT_EXIT):
        return control.submode
    return "default" if control.point == DEFAULT_ENTRY else str(control)


def interaction(shared: Interaction) -> str:
    """`interaction bump of car[1], car[2] when g do { ... }`."""
    first, second = shared.participants
    return _event(
        f"{'urgent ' if shared.urgent else ''}interaction {shared.name} of {first}, {second}",
        shared.guard,
        changes(shared.actions),
    )


def edge(taken: Edge) -> str:
    """`#far to b when g do { x' = 1 }`."""
    name = edge_name(taken)
    label = f"#{name} " if name else ""
    urgent = "urgent " if taken.urgent else ""
    return _event(f"{urgent}{label}to {taken.target}", taken.guard, jumps(taken.resets))


def edge_name(taken: Edge) -> str | None:
    """The label of an edge, or the name that its transition has in the text."""
    plain = taken.name.rpartition(": ")[2]
    return taken.label or (plain if plain.isidentifier() else None)


def _event(head: str, guard: Expression, actions: Iterable[str]) -> str:
    when = "" if guard == TRUE else f" when {to_text(guard)}"
    done = "; ".join(actions)
    return f"{head}{when}" + (f" do {{ {done} }}" if done else "")


def inside(location: Location) -> tuple[str, ...]:
    """Flows, equations and invariant of a location, a line each."""
    invariant = conditions(location.invariant)
    return (
        *map(flow, location.flows),
        *map(equation, location.algebraic),
        *(("inv " + " && ".join(invariant),) if invariant else ()),
    )


def bounded(kind: str, outside: Input | Parameter) -> str:
    """`input real u in [-1, 1]`."""
    low, high = outside.low, outside.high
    if low is not None and low == high:
        return f"{kind} {outside.type} {outside.name} = {low}"
    if low is None and high is None:
        return f"{kind} {outside.type} {outside.name}"
    left = "-inf" if low is None else str(low)
    right = "inf" if high is None else str(high)
    return f"{kind} {outside.type} {outside.name} in [{left}, {right}]"


def grouped_variables(component: HybridAutomaton) -> tuple[str, ...]:
    """The variables of a flat component, those of one kind on one line."""
    groups: dict[str, list[str]] = {}
    for declared in component.variables:
        groups.setdefault(f"{declared.kind} {declared.type}", []).append(declared.name)
    return tuple(f"{kind} {', '.join(ranges(names))}" for kind, names in groups.items())


def start(begun: Initial) -> str:
    """`initially in falling where x == 10`."""
    return _event(f"initially in {begun.location}", begun.condition, jumps(begun.resets)).replace(
        " when ", " where ", 1
    )


def grouped_declarations(declared: Iterable[Declaration]) -> tuple[str, ...]:
    """Declarations with those that differ only in the name on one line."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for one in declared:
        kind = "" if one.kind is Kind.ANALOG and one.type.name == "real" else f"{one.kind} "
        start = "" if one.initial is None else relation("", one.initial, "=").strip()
        groups.setdefault((str(one.access), f"{kind}{one.type}", start), []).append(one.name)
    return tuple(
        f"{access} {kind} {', '.join(ranges(names))}" + (f" {start}" if start else "")
        for (access, kind, start), names in groups.items()
    )


def ranges(names: Iterable[str]) -> list[str]:
    """Names with neighbouring elements of an array joined: `x[1], x[2]` is `x[1..2]`."""
    found: list[tuple[str, int, int] | str] = []
    for name in names:
        match = _ELEMENT.fullmatch(name)
        if match is None:
            found.append(name)
            continue
        array, index = match["array"], int(match["index"])
        last = found[-1] if found else ""
        if isinstance(last, tuple) and last[0] == array and last[2] + 1 == index:
            found[-1] = (array, last[1], index)
        else:
            found.append((array, index, index))
    return [one if isinstance(one, str) else _element(one[0], one[1], one[2]) for one in found]


def _element(array: str, first: int, last: int) -> str:
    return f"{array}[{first}]" if first == last else f"{array}[{first}..{last}]"
