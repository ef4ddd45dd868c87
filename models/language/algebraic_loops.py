"""Algebraic loops: variables that `alge` defines by each other at the same time.

Equations are read off the locations of the flat automaton. Those of different components
hold together in every combination of their locations, so a loop is real if each component
has one location that contains all of its equations on the loop.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from workbench.models.automaton import Automaton, Constraint
from workbench.models.expressions.traversal import free_variables
from workbench.models.language.findings import DiagnosticLog
from workbench.models.record import record
from workbench.models.source import Span

MAX_STEPS = 20_000
"""How long to look for a loop that is real before settling for a warning."""


@record
class _Equation:
    """In some locations of a component, `variable` is computed from `needed`."""

    variable: str
    needed: str
    component: int
    locations: frozenset[int]
    span: Span | None


def check_algebraic_loops(automaton: Automaton, findings: DiagnosticLog) -> None:
    """Report a loop, naming the variables on it."""
    equations = _cyclic_part(_equations(automaton))
    if not equations:
        return
    leads: dict[str, list[_Equation]] = {}
    for equation in equations:
        leads.setdefault(equation.variable, []).append(equation)
    for start in leads:
        for loop in _loops(start, leads):
            if loop is None:
                findings.warn(
                    "algebraic-loop",
                    f"`{start}` may depend on itself through equations of several modes",
                    leads[start][0].span,
                )
                return
            names = " -> ".join([*(e.variable for e in loop), loop[0].variable])
            one = len(loop) == 1
            findings.error(
                "algebraic-loop",
                f"`{start}` is defined by itself: {names}"
                if one
                else f"these variables are defined by each other: {names}",
                loop[0].span,
                "give one of them a differential equation, or solve the equations by hand",
            )
            return


def _equations(automaton: Automaton) -> list[_Equation]:
    """What algebraic variables are computed from, kept to algebraic variables."""
    places: dict[tuple[str, str, int], tuple[set[int], Span | None]] = {}
    defined: set[str] = set()
    needs: dict[int, frozenset[str]] = {}
    for number, component in enumerate(automaton.components):
        for index, location in enumerate(component.locations):
            for constraint in location.algebraic:
                defined.add(constraint.variable)
                if id(constraint) not in needs:
                    needs[id(constraint)] = _needed(constraint)
                for needed in needs[id(constraint)]:
                    key = (constraint.variable, needed, number)
                    places.setdefault(key, (set(), constraint.span))[0].add(index)
    return [
        _Equation(name, needed, number, frozenset(locations), span)
        for (name, needed, number), (locations, span) in places.items()
        if needed in defined
    ]


def _needed(constraint: Constraint) -> frozenset[str]:
    bounds = (constraint.range.low, constraint.range.high)
    return free_variables(*(bound for bound in bounds if bound is not None))


def _cyclic_part(equations: list[_Equation]) -> list[_Equation]:
    """The equations on or before a loop: what depends on nothing else is dropped, and then
    what depended only on that."""
    open_needs: dict[str, int] = {}
    users: dict[str, list[str]] = {}
    for equation in equations:
        open_needs[equation.variable] = open_needs.get(equation.variable, 0) + 1
        users.setdefault(equation.needed, []).append(equation.variable)
    settled = [name for name in users if name not in open_needs]
    done = set(settled)
    while settled:
        for user in users.get(settled.pop(), ()):
            open_needs[user] -= 1
            if open_needs[user] == 0:
                done.add(user)
                settled.append(user)
    return [e for e in equations if e.variable not in done and e.needed not in done]


def _loops(start: str, leads: Mapping[str, list[_Equation]]) -> Iterator[list[_Equation] | None]:
    """Real loops through `start`; None when the search is cut off."""
    stack: list[tuple[list[_Equation], frozenset[str]]] = [([], frozenset({start}))]
    steps = 0
    while stack:
        path, seen = stack.pop()
        here = path[-1].needed if path else start
        for equation in leads.get(here, ()):
            steps += 1
            if steps > MAX_STEPS:
                yield None
                return
            longer = [*path, equation]
            if not _together(longer):
                continue
            if equation.needed == start:
                yield longer
            elif equation.needed not in seen:
                stack.append((longer, seen | {equation.needed}))


def _together(path: list[_Equation]) -> bool:
    """Whether each component has a location with all of its equations on the path."""
    common: dict[int, frozenset[int]] = {}
    for equation in path:
        known = common.get(equation.component, equation.locations)
        common[equation.component] = known & equation.locations
    return all(common.values())
