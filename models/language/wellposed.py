"""Is a model well posed? All checks beyond names and types, first on the hierarchy, then on
the flat automaton."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from workbench.models.agents.families import Family, parts_of
from workbench.models.agents.hierarchy import (
    DEFAULT_ENTRY,
    INIT,
    Access,
    Agent,
    AgentInstance,
    Declaration,
    Mode,
)
from workbench.models.automaton import REAL, Automaton, Constraint, Kind
from workbench.models.expressions.expression import FALSE, Expression
from workbench.models.expressions.traversal import free_variables
from workbench.models.language.coverage import FlatCheck, check_points
from workbench.models.language.findings import DiagnosticLog, listed
from workbench.models.record import record
from workbench.models.source import Span
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


# One writer per variable among parallel agents.
#
# Discrete variables that every writer declares `readwrite` may have several: agents take
# discrete steps one at a time, so each assignment is well defined.


def check_writers(agent: Agent, findings: DiagnosticLog) -> None:
    """Report variables of a composed agent that several parts write, or none."""
    writers: dict[str, list[tuple[AgentInstance, Declaration]]] = {}
    connected: set[str] = set()
    for part in agent.agents:
        names = dict(part.renaming)
        for declared in part.agent.variables:
            if declared.access is Access.PRIVATE:
                continue
            name = names.get(declared.name, declared.name)
            connected.add(name)
            if declared.access.writes:
                writers.setdefault(name, []).append((part, declared))
    for name, found in writers.items():
        shared = all(d.access is Access.READ_WRITE and d.kind is Kind.DISCRETE for _, d in found)
        if len(found) > 1 and not shared:
            _two_writers(name, found, findings)
    set_by_events = _set_by_events(agent)
    for declared in agent.variables:
        if not declared.access.writes or declared.name in writers:
            continue
        if declared.name in set_by_events:
            continue
        if declared.name not in connected and declared.access is Access.PRIVATE:
            findings.warn(
                "unused-variable", f"`{declared.name}` is declared but never used", declared.span
            )
        elif declared.kind is Kind.ANALOG:
            findings.warn(
                "no-writer",
                f"no part of `{agent.definition}` writes `{declared.name}`: it may change"
                " arbitrarily",
                declared.span,
                "declare it `write` in the agent that determines it, or rename an agent's"
                " variable to it",
            )


def _set_by_events(agent: Agent) -> set[str]:
    """The variables that interactions assign."""
    found: set[str] = set()
    for part in parts_of(agent.interactions):
        if not isinstance(part, Family):
            found |= {a.variable for a in part.actions}
            continue
        assigned = {a.variable for a in part.pattern.actions}
        for slots, partners in zip(
            part.slots, (part.first, part.second or part.first), strict=True
        ):
            places = [i for i, slot in enumerate(slots) if slot in assigned]
            found |= {partner.variables[i] for partner in partners for i in places}
        found |= assigned.difference(*part.slots)
    return found


def _two_writers(
    name: str, found: list[tuple[AgentInstance, Declaration]], findings: DiagnosticLog
) -> None:
    (one, _), (other, declared) = found[0], found[1]
    hint = f"rename one of them: `agent {other.name} = ... [ {declared.name} := another ];`"
    if all(d.kind is Kind.DISCRETE for _, d in found):
        hint = "declare it `readwrite` in all of them if they are meant to share it"
    line = f" (line {one.span.line})" if one.span else ""
    findings.error(
        "two-writers",
        f"both `{one.name}`{line} and `{other.name}` write `{name}`; a variable has one writer",
        other.span,
        hint,
    )


# Every analog variable that a part writes is determined exactly once on every path of
# active modes: by one line of `diff` or `alge`.


@record
class _Count:
    """How often a variable is determined, at least and at most, and where."""

    least: int
    least_path: tuple[str, ...]
    most: int
    most_places: tuple[Span | None, ...]


_NEVER = _Count(0, (), 0, ())


class DeterminationCheck:
    """The check for all modes of a model; results are shared by equal instances."""

    def __init__(self, findings: DiagnosticLog) -> None:
        self._findings = findings
        self._counts: dict[int, dict[str, _Count]] = {}

    def check(self, agent: Agent) -> None:
        """Report variables of an atomic agent and its modes that are determined never, or
        twice, on some path."""
        assert agent.top is not None
        counts = self._mode(agent.top)
        for declared in agent.variables:
            self._judge(declared, counts, agent.definition)

    def _mode(self, mode: Mode) -> dict[str, _Count]:
        known = self._counts.get(id(mode))
        if known is not None:
            return known
        own: dict[str, list[Span | None]] = {}
        for constraint in (*mode.flows, *mode.algebraic):
            own.setdefault(constraint.variable, []).append(constraint.span)
        inner: list[tuple[str, dict[str, _Count]]] = []
        for sub in mode.submodes:
            names = dict(sub.renaming)
            shared = {v.name for v in sub.mode.variables if v.access is not Access.PRIVATE}
            counts = self._mode(sub.mode)
            inner.append((sub.name, {names.get(n, n): c for n, c in counts.items() if n in shared}))
        mentioned = {*own, *(name for _, counts in inner for name in counts)}
        found = {name: _count(name, own.get(name, []), inner) for name in mentioned}
        self._counts[id(mode)] = found
        for declared in mode.variables:
            if declared.access is Access.PRIVATE:
                self._judge(declared, found, mode.definition)
        return found

    def _judge(self, declared: Declaration, counts: dict[str, _Count], where: str) -> None:
        if not declared.access.writes:
            return
        if declared.kind is not Kind.ANALOG or declared.type != REAL:
            return
        name = declared.name
        count = counts.get(name, _NEVER)
        if count.least == 0:
            place = f"while `{'.'.join(count.least_path)}` is active" if count.least_path else ""
            self._findings.error(
                "undetermined-variable",
                f"nothing says how `{name}` changes in `{where}`" + (f" {place}" if place else ""),
                declared.span,
                f"add `diff {{ d({name}) == ...; }}` or `alge {{ {name} == ...; }}`;"
                f" `d({name}) == 0` keeps it, and `discrete real {name}` changes only in actions",
            )
        if count.most > 1:
            first, second = count.most_places[0], count.most_places[1]
            line = f" (the other is at line {first.line})" if first is not None else ""
            self._findings.error(
                "determined-twice",
                f"`{name}` is determined twice at the same time{line}",
                second,
                "keep one equation on each path of active modes",
            )


def _count(name: str, own: list[Span | None], inner: list[tuple[str, dict[str, _Count]]]) -> _Count:
    below = [(sub, counts.get(name, _NEVER)) for sub, counts in inner]
    if not below:
        return _Count(len(own), (), len(own), tuple(own))
    least_sub, least = min(below, key=lambda pair: pair[1].least)
    _, most = max(below, key=lambda pair: pair[1].most)
    return _Count(
        len(own) + least.least,
        (least_sub, *least.least_path),
        len(own) + most.most,
        (*own, *most.most_places),
    )


# Algebraic loops: variables that `alge` defines by each other at the same time.
#
# Equations are read off the locations of the flat automaton. Those of different components
# hold together in every combination of their locations, so a loop is real if each component
# has one location that contains all of its equations on the loop.

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


# What a model contains but never uses: submodes nobody enters, variables nobody mentions.


def check_entrances(mode: Mode, findings: DiagnosticLog, *, is_top: bool) -> None:
    """Report a composed mode that cannot be started, and submodes that are never entered."""
    if not mode.submodes:
        return
    used = [t for t in mode.transitions if t.guard != FALSE]
    starts = [t for t in used if t.source.submode is None]
    if is_top and not any(t.source.point in (INIT, DEFAULT_ENTRY) for t in starts):
        findings.error(
            "no-start",
            f"`{mode.definition}` does not say which submode is active first",
            mode.span,
            f"add `trans from init to {mode.submodes[0].name};`",
        )
        return
    entered = {t.target.submode for t in starts if t.target.submode is not None}
    frontier = list(entered)
    leads: dict[str, set[str]] = {}
    for transition in used:
        source, target = transition.source.submode, transition.target.submode
        if source is not None and target is not None:
            leads.setdefault(source, set()).add(target)
    while frontier:
        for target in leads.get(frontier.pop(), ()):
            if target not in entered:
                entered.add(target)
                frontier.append(target)
    for sub in mode.submodes:
        if sub.name not in entered:
            findings.warn(
                "unreachable-mode",
                f"no transition ever leads to `{sub.name}`",
                sub.span,
                f"add one: `trans from ... to {sub.name} when ...;`",
            )
    _check_default_entries(mode, findings)


def _check_default_entries(mode: Mode, findings: DiagnosticLog) -> None:
    """A submode entered by default must know where to start, unless it resumes."""
    targets = [t.target for t in mode.transitions]
    for sub in mode.submodes:
        if not sub.mode.submodes:
            continue
        by_default = [t for t in mode.transitions if t.target.submode == sub.name]
        by_default = [t for t in by_default if t.target.point == DEFAULT_ENTRY]
        by_name = [p for p in targets if p.submode == sub.name and p.point != DEFAULT_ENTRY]
        starts = any(
            t.source.submode is None and t.source.point == DEFAULT_ENTRY
            for t in sub.mode.transitions
        )
        if by_default and not by_name and not starts:
            hint = f"add `trans from default to ...` to `{sub.mode.definition}`"
            if sub.mode.entries:
                hint += f", or enter it by {listed(f'{sub.name}.{e}' for e in sub.mode.entries)}"
            findings.error(
                "no-start",
                f"`{sub.name}` is entered by default, but `{sub.mode.definition}` does not say"
                " which of its submodes is active first",
                by_default[0].span,
                hint,
            )


def check_unused_mode(mode: Mode, findings: DiagnosticLog) -> None:
    """Report private variables of a mode that nothing mentions."""
    private = [v for v in mode.variables if v.access is Access.PRIVATE and "[" not in v.name]
    if not private:
        return
    mentioned = _mentioned(mode)
    for declared in private:
        if declared.name not in mentioned:
            findings.warn(
                "unused-variable", f"`{declared.name}` is declared but never used", declared.span
            )


def check_unused_agent(agent: Agent, findings: DiagnosticLog) -> None:
    """Report private variables of an atomic agent that nothing mentions."""
    assert agent.top is not None
    mentioned = {v.name for v in agent.top.variables if v.access is not Access.PRIVATE}
    for declared in agent.variables:
        if declared.access is Access.PRIVATE and declared.name not in mentioned:
            findings.warn(
                "unused-variable", f"`{declared.name}` is declared but never used", declared.span
            )


def _mentioned(mode: Mode) -> frozenset[str]:
    found = set(free_variables(*_expressions(mode)))
    found.update(c.variable for c in (*mode.flows, *mode.algebraic))
    found.update(a.variable for t in mode.transitions for a in t.actions)
    for sub in mode.submodes:
        names = dict(sub.renaming)
        for declared in sub.mode.variables:
            if declared.access is not Access.PRIVATE:
                found.add(names.get(declared.name, declared.name))
    return frozenset(found)


def _expressions(mode: Mode) -> Iterator[Expression]:
    yield mode.invariant
    yield from (claim.condition for claim in mode.claims)
    constraints = [*mode.flows, *mode.algebraic]
    for transition in mode.transitions:
        yield transition.guard
        constraints += transition.actions
    for constraint in constraints:
        for bound in (constraint.range.low, constraint.range.high):
            if bound is not None:
                yield bound
