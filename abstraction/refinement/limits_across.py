"""Urgent guards that read what the equation of another part defines.

An urgent edge may be taken in the limit of states in which its guard holds. To a part that is
compared alone an input is a number like any other, so that the limits of `u > 1` are `u >= 1`.
In a whole where another part has an equation for u the states in which the guard holds are those
that satisfy the equation: with u == min(y, 1) there are none, and where y > 1 ? 2 : 0 is about to
jump the edge may be taken although u is still 0. What a part may do is then another thing alone
than in the whole. (Jumps of another part, by resets, make no difference: they lead from one state
to another, and limits are of states. Nor do its flows and invariants, which limits do not ask.)

There is no difference where a guard is its own limit and everything that it reads, also through
equations, is a continuous function of variables without equations: then the limits of states in
which the guard holds are again such states, alone and in the whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from workbench.models.agents.flatten import flatten
from workbench.models.agents.hierarchy import Access, AgentInstance, renamed
from workbench.models.automaton import Location
from workbench.models.checker.conditions import limit_of
from workbench.models.expressions.ranges import bounds
from workbench.models.expressions.traversal import free_variables
from workbench.models.lowering.quantities import is_continuous


@dataclass(frozen=True)
class _Equation:
    """One equation of a part: its variable, what it reads, and whether it leaves no choice and
    makes no jumps."""

    part: str
    name: str
    reads: frozenset[str]
    smooth: bool


@dataclass(frozen=True)
class _Guard:
    """One urgent guard of a part: what it reads, and whether it is its own limit."""

    part: str
    reads: frozenset[str]
    closed: bool


def have_limits_of_their_own(parts: Iterable[AgentInstance]) -> bool:
    """Whether the urgent guards of the parts have the same limits in the whole as alone. The
    parts are those of the detailed whole and of the abstract one, and of any mixture."""
    equations: list[_Equation] = []
    guards: list[_Guard] = []
    for part in parts:
        names = _Names(part)
        equations += _equations(part, names)
        guards += _urgent_guards(part, names)
    return all(_is_safe(guard, equations) for guard in guards)


def defined_by(part: AgentInstance) -> frozenset[str]:
    """The variables, in the names of the whole, for which a part has equations."""
    return frozenset(e.name for e in _equations(part, _Names(part)))


def read_urgently(part: AgentInstance, siblings: Iterable[AgentInstance]) -> frozenset[str]:
    """What the urgent guards of a part read, also through equations of the siblings (itself
    among them), in the names of the whole."""
    known = [equation for one in siblings for equation in _equations(one, _Names(one))]
    guards = _urgent_guards(part, _Names(part))
    return frozenset().union(*(_reached(guard.reads, known) for guard in guards))


def _is_safe(guard: _Guard, equations: list[_Equation]) -> bool:
    read = _reached(guard.reads, equations)
    used = [e for e in equations if e.name in read]
    if all(e.part == guard.part for e in used):
        return True
    return guard.closed and all(e.smooth for e in used)


def _reached(names: frozenset[str], equations: list[_Equation]) -> frozenset[str]:
    """The names, and those that their equations read."""
    found = set(names)
    while True:
        more = {n for e in equations if e.name in found for n in e.reads}
        if more <= found:
            return frozenset(found)
        found |= more


class _Names(Mapping[str, str]):
    """The names of a part's variables in the whole; what is private keeps apart by its path."""

    def __init__(self, part: AgentInstance) -> None:
        self._part = part
        self._shown = {
            d.name: renamed(part.renaming, d.name)
            for d in part.agent.variables
            if d.access is not Access.PRIVATE
        }

    def __getitem__(self, name: str) -> str:
        return self._shown.get(name, f"{self._part.name} {name}")

    def __iter__(self) -> Iterator[str]:
        return iter(self._shown)

    def __len__(self) -> int:
        return len(self._shown)


def _equations(part: AgentInstance, names: Mapping[str, str]) -> Iterator[_Equation]:
    for component in flatten(part.agent, part.name).components:
        for location in component.locations:
            for given in location.algebraic:
                exact = given.range.exact
                reads = frozenset(names[n] for n in free_variables(*bounds(given)))
                smooth = exact is not None and is_continuous(exact)
                yield _Equation(part.name, names[given.variable], reads, smooth)


def _urgent_guards(part: AgentInstance, names: Mapping[str, str]) -> Iterator[_Guard]:
    for component in flatten(part.agent, part.name).components:
        nowhere = Location("")
        for edge in component.edges:
            if edge.urgent:
                reads = frozenset(names[n] for n in free_variables(edge.guard))
                closed = limit_of(edge.guard, component, nowhere) == edge.guard
                yield _Guard(part.name, reads, closed)
