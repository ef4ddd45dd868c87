"""Every analog variable that a part writes is determined exactly once on every path of
active modes: by one line of `diff` or `alge`."""

from __future__ import annotations

from workbench.models.agents.hierarchy import Access, Agent, Declaration, Mode
from workbench.models.automaton import REAL, Kind
from workbench.models.language.findings import DiagnosticLog
from workbench.models.record import record
from workbench.models.source import Span


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
