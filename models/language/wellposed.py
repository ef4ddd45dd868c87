"""Is a model well posed? All checks beyond names and types, first on the hierarchy, then on
the flat automaton."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.models.agents.hierarchy import Agent, Mode
from workbench.models.automaton import Automaton
from workbench.models.language.algebraic_loops import check_algebraic_loops
from workbench.models.language.coverage import FlatCheck, check_points
from workbench.models.language.dead_parts import (
    check_entrances,
    check_unused_agent,
    check_unused_mode,
)
from workbench.models.language.determined import DeterminationCheck
from workbench.models.language.findings import DiagnosticLog
from workbench.models.language.writers import check_writers
from workbench.models.well_formed import without_equation


def check_structure(agent: Agent, findings: DiagnosticLog) -> None:
    """The checks on the hierarchy: writers, determination, entrances, unused names."""
    determination = DeterminationCheck(findings)
    for part in _agents(agent):
        if part.top is None:
            check_writers(part, findings)
            continue
        determination.check(part)
        check_unused_agent(part, findings)
        for mode, is_top in _modes(part.top):
            check_entrances(mode, findings, is_top=is_top)
            check_unused_mode(mode, findings)
    if findings.has_errors:
        return
    seen: set[int] = set()
    for part in _agents(agent):
        for mode, _ in _modes(part.top) if part.top is not None else ():
            if id(mode) not in seen:
                seen.add(id(mode))
                check_points(mode, agent.parameters, findings)


def check_automaton(automaton: Automaton, findings: DiagnosticLog) -> None:
    """The checks on the flat automaton: algebraic loops, the start, guards and invariants."""
    check_algebraic_loops(automaton, findings)
    for given in without_equation(automaton.components):
        findings.error(
            "analog-type",
            f"`{given.name}` is analog, but no real number ({given.type}): only an equation may "
            "change it, and it has none in some location",
            given.span,
            f"declare it `discrete {given.type}`, or give it an equation in `alge` everywhere",
        )
    if not findings.has_errors:
        FlatCheck(automaton, findings).check()


def _agents(root: Agent) -> Iterator[Agent]:
    """Every distinct agent of the tree once."""
    stack, seen = [root], {id(root)}
    while stack:
        agent = stack.pop()
        yield agent
        for part in agent.agents:
            if id(part.agent) not in seen:
                seen.add(id(part.agent))
                stack.append(part.agent)


def _modes(top: Mode) -> Iterator[tuple[Mode, bool]]:
    """Every distinct mode below a top-level mode once, and whether it is that mode."""
    stack, seen = [top], {id(top)}
    while stack:
        mode = stack.pop()
        yield mode, mode is top
        for sub in mode.submodes:
            if id(sub.mode) not in seen:
                seen.add(id(sub.mode))
                stack.append(sub.mode)
