"""The tree of mode instances below a top-level mode, said in the names of a flat automaton.

A local variable of a mode gets the path of its mode before its name; a global one is what
the mode around it calls it, renaming included.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeAlias

from workbench.models.agents.hierarchy import (
    Access,
    ControlPoint,
    Declaration,
    Mode,
    Transition,
    renamed,
)
from workbench.models.automaton import Constraint, Range
from workbench.models.expressions.expression import Expression, variable
from workbench.models.expressions.traversal import free_variables, substitute
from workbench.models.record import record
from workbench.models.source import Diagnostic, ModelError

Path: TypeAlias = tuple[str, ...]
"""The submode names from the top-level mode down; empty for the top-level mode itself."""

MAX_DEPTH = 400


@record
class Node:
    """A mode instance with everything said in the names of the flat automaton.

    `scope` maps the mode's own names to flat ones; `local` pairs each local declaration
    with its flat name; `leaving` groups the transitions by where they start.
    """

    path: Path
    mode: Mode
    scope: Mapping[str, str]
    local: tuple[tuple[str, Declaration], ...]
    leaving: Mapping[ControlPoint, tuple[Transition, ...]]


def flat_constraint(constraint: Constraint, scope: Mapping[str, str]) -> Constraint:
    """A constraint of a mode in flat names."""
    name = scope.get(constraint.variable, constraint.variable)
    return Constraint(name, flat_range(constraint.range, scope), constraint.span)


def flat_range(given: Range, scope: Mapping[str, str]) -> Range:
    """A range of a mode or agent in flat names."""
    bounds = [e for e in (given.low, given.high) if e is not None]
    return given.substitute(_change(scope, *bounds))


def flat_expression(given: Expression, scope: Mapping[str, str]) -> Expression:
    """An expression of a mode or agent in flat names."""
    return substitute(given, _change(scope, given))


def _change(scope: Mapping[str, str], *given: Expression) -> dict[str, Expression]:
    names = free_variables(*given)
    return {n: variable(scope[n]) for n in names if n in scope and scope[n] != n}


def mode_nodes(
    top: Mode, names: Mapping[str, str], prefix: str, taken: set[str]
) -> dict[Path, Node]:
    """Every mode instance below the top-level mode, parents first."""
    found: dict[Path, Node] = {}
    stack: list[tuple[Path, Mode, Mapping[str, str], tuple[tuple[str, str], ...]]]
    stack = [((), top, names, ())]
    while stack:
        path, mode, around, renaming = stack.pop()
        if len(path) > MAX_DEPTH:
            raise ModelError(
                Diagnostic(
                    "nested-too-deeply", f"modes are nested {MAX_DEPTH} levels deep", mode.span
                )
            )
        scope = dict(around) if not path else {}
        local = []
        for declared in mode.variables:
            if declared.access is Access.PRIVATE:
                flat = ".".join((*([prefix] if prefix else []), *path, declared.name))
                while flat in taken:
                    flat += "_"
                taken.add(flat)
                scope[declared.name] = flat
                local.append((flat, declared))
            else:
                outer = renamed(renaming, declared.name)
                scope[declared.name] = around.get(outer, outer)
        found[path] = Node(path, mode, scope, tuple(local), _leaving(mode, scope))
        stack.extend(((*path, s.name), s.mode, scope, s.renaming) for s in reversed(mode.submodes))
    return found


def _leaving(mode: Mode, scope: Mapping[str, str]) -> dict[ControlPoint, tuple[Transition, ...]]:
    found: dict[ControlPoint, list[Transition]] = {}
    for given in mode.transitions:
        flat = replace(
            given,
            guard=flat_expression(given.guard, scope),
            actions=tuple(flat_constraint(a, scope) for a in given.actions),
        )
        found.setdefault(given.source, []).append(flat)
    return {point: tuple(group) for point, group in found.items()}
