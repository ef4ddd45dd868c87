"""Locations as plain data: which drawn modes and which lines of the text belong to them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

from workbench.models.agents.hierarchy import Agent
from workbench.models.checker.flowpipe import FlowpipeProof
from workbench.models.evidence.polyhedral import PolyhedralProof
from workbench.models.evidence.quadratic import QuadraticInvariant
from workbench.models.evidence.quadratic_function import QuadraticFunctions
from workbench.models.lowering.problem import proved_view
from workbench.models.model import Model
from workbench.models.source import Span
from workbench.models.unfolding import folded
from workbench.models.verdict import Verified
from workbench.reports.analysis import Findings
from workbench.reports.pictures.diagram import mode_tag
from workbench.reports.words import wording

ONLY = "the only mode"
"""What the location of a model is called in which no agent has two."""

_UNSPOKEN = re.compile(r'//.*|"(?:[^"\\]|\\.)*"')


class ModeTags:
    """The drawn modes that a component's location stands for."""

    def __init__(self, model: Model):
        self._nested = model.agent is not None
        self._plain = frozenset(() if model.agent is None else _without_submodes(model.agent))

    def path(self, component: str, local: str) -> list[str]:
        """The tags of the modes that are active, from the top mode to the innermost."""
        if not self._nested:
            return [mode_tag(component, local)]
        if component in self._plain:
            return [mode_tag(component, "")]
        names = local.partition("{")[0].split(".")
        return [mode_tag(component, ".".join(names[:k])) for k in range(len(names) + 1)]


def _without_submodes(agent: Agent) -> Iterator[str]:
    """The components whose top mode has no submodes: their location is named after it."""
    pending = [(agent, "")]
    while pending:
        one, path = pending.pop()
        if one.top is not None and not one.top.submodes:
            yield path or one.definition
        pending += [(i.agent, f"{path}.{i.name}" if path else i.name) for i in one.agents]


def location_names(findings: Findings) -> list[str]:
    """Every location that a run or a certificate mentions, in order of appearance."""
    found = [s.location for run in findings.runs for s in run.trace.segments]
    for verdict in findings.verdicts:
        proof = verdict.certificate.safety if isinstance(verdict, Verified) else None
        if isinstance(proof, PolyhedralProof):
            found += [region.location for region in proof.regions]
        elif isinstance(proof, QuadraticInvariant | QuadraticFunctions):
            found += list(proof.locations)
        elif isinstance(proof, FlowpipeProof):
            found += [node.location for node in proof.nodes]
    view = proved_view(findings.automaton)
    return list(dict.fromkeys(folded(view, name) for name in found))


def location_data(findings: Findings) -> dict[str, Any]:
    """What the page knows of each location."""
    tags = ModeTags(findings.model)
    return {
        name: _location(findings, tags, name, index)
        for index, name in enumerate(location_names(findings))
    }


def _location(findings: Findings, tags: ModeTags, name: str, index: int) -> dict[str, Any]:
    automaton = findings.automaton
    parts = {c.name: c for c in automaton.components}
    active: list[str] = []
    around: set[str] = set()
    lines: list[list[Any]] = []
    for component, local in automaton.occupied(name).items():
        path = tags.path(component, local)
        active.append(path[-1])
        around.update(path[:-1])
        if component in parts:
            lines += _lines(findings.model, parts[component].location(local).span)
    several = len(parts) > 1 and all(len(c.locations) == 1 for c in parts.values())
    return {
        "index": index,
        "title": ONLY if several else name,
        "active": active,
        "around": sorted(around - set(active)),
        "lines": lines,
        "inside": list(wording.inside(automaton.location(name))),
    }


def _lines(model: Model, span: Span | None) -> list[list[Any]]:
    """The lines of a mode: from its name to the brace that closes its body."""
    if span is None:
        return []
    end = max(span.end_line, _closing(model.sources.get(span.file, ""), span.line))
    return [[PurePath(span.file).name, span.line, end]]


def _closing(text: str, first: int) -> int:
    """The line on which the braces that open from a line on are closed again; the line itself
    where there are none. Braces in comments and strings do not count."""
    depth, opened = 0, False
    for number, line in enumerate(text.splitlines()[first - 1 :], first):
        for sign in _UNSPOKEN.sub("", line):
            depth += (sign == "{") - (sign == "}")
            opened = opened or sign == "{"
        if opened and depth <= 0:
            return number
    return first
