"""The closure of a mode: group transitions and history made explicit.

The closure adds to a mode what CHARON leaves to its default entry and exit points (Proc.
IEEE 91(1), 2003, section IV-A), bottom-up through the tree of submodes:

1. a mode with submodes gets a local history variable h, "inactive" (written ε) or the name
   of the last active submode, initially ε;
2. every transition into a submode N also assigns h := N, every exit transition h := ε;
3. every submode N gets a default exit transition N.dx -> dx;
4. every submode N gets a default entry transition de -> N.de, guarded by h == N;
5. the author's own transitions from de are guarded by h == ε;
6. an atomic mode gets the idle transition de -> dx (and one from every entry point from
   which the author leads no transition, so that it can be entered there).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from workbench.models.agents.hierarchy import (
    DEFAULT_ENTRY,
    DEFAULT_EXIT,
    Access,
    ControlPoint,
    Declaration,
    Mode,
    ModeInstance,
    Transition,
)
from workbench.models.automaton import Constraint, Kind, Range, enumeration
from workbench.models.expressions.expression import Expression, conjunction, equal, symbol, variable

INACTIVE = "ε"
"""The history of a mode that is to be entered anew. No name of the language is spelled so,
hence an enumeration that starts with it is a history."""


def close(mode: Mode) -> Mode:
    """The closure of a mode and of all modes below it; closing again changes nothing."""
    closed: dict[int, Mode] = {}
    stack = [(mode, False)]
    while stack:
        current, ready = stack.pop()
        if id(current) in closed:
            continue
        if ready:
            inner = tuple(replace(s, mode=closed[id(s.mode)]) for s in current.submodes)
            closed[id(current)] = _closed_here(current, inner)
        else:
            stack.append((current, True))
            stack.extend((s.mode, False) for s in current.submodes)
    return closed[id(mode)]


def history_of(mode: Mode) -> str | None:
    """The name of the history variable of a closed mode; None if it has none."""
    for declared in mode.variables:
        if declared.type.values[:1] == (INACTIVE,):
            return declared.name
    return None


def _closed_here(mode: Mode, submodes: tuple[ModeInstance, ...]) -> Mode:
    if mode.is_atomic:
        return _closed_atomic(mode)
    if history_of(mode) is not None:
        return replace(mode, submodes=submodes)
    taken = {d.name for d in mode.variables}
    name = "h"
    while name in taken:
        name += "_"
    values = enumeration(INACTIVE, *(s.name for s in submodes))
    history = Declaration(
        name, values, Kind.DISCRETE, Access.PRIVATE, Range.exactly(symbol(INACTIVE))
    )
    return replace(
        mode,
        variables=(*mode.variables, history),
        submodes=submodes,
        transitions=(
            *(_with_history(t, variable(name)) for t in mode.transitions),
            *_default_transitions(submodes, variable(name)),
        ),
    )


def _closed_atomic(mode: Mode) -> Mode:
    starts = {t.source for t in mode.transitions}
    idle = [Transition(ControlPoint(None, DEFAULT_ENTRY), ControlPoint(None, DEFAULT_EXIT))]
    idle += [
        Transition(ControlPoint(None, entry), ControlPoint(None, DEFAULT_EXIT))
        for entry in mode.entries
        if entry != DEFAULT_ENTRY and ControlPoint(None, entry) not in starts
    ]
    missing = tuple(t for t in idle if t not in mode.transitions)
    return replace(mode, transitions=(*mode.transitions, *missing))


def _with_history(given: Transition, history: Expression) -> Transition:
    """Rules 2 and 5."""
    arrived = INACTIVE if given.target.submode is None else given.target.submode
    remember = Constraint(history.name, Range.exactly(symbol(arrived)))
    guard = given.guard
    if given.source == ControlPoint(None, DEFAULT_ENTRY):
        guard = conjunction(equal(history, symbol(INACTIVE)), guard)
    return replace(given, guard=guard, actions=(*given.actions, remember))


def _default_transitions(
    submodes: tuple[ModeInstance, ...], history: Expression
) -> Iterator[Transition]:
    """Rules 3 and 4."""
    for sub in submodes:
        yield Transition(ControlPoint(sub.name, DEFAULT_EXIT), ControlPoint(None, DEFAULT_EXIT))
    for sub in submodes:
        yield Transition(
            ControlPoint(None, DEFAULT_ENTRY),
            ControlPoint(sub.name, DEFAULT_ENTRY),
            equal(history, symbol(sub.name)),
        )
