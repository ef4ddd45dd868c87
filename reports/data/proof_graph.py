"""The graph inside a polyhedral proof: its cells as abstract states, its evidence as arrows.

A node is a cell of the invariant, with the predicates that hold in it. An arrow from the start
or from a cell leads to each cell that the evidence uses for the initial states or for the
successors of a jump. Within a location, time may lead from a cell to one that differs in one
predicate, and through an exit of a region to a cell of another. So the graph is read off the
certificate; nothing is searched here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from workbench.models.checker.covers import CoverObligation, InCell, Region, Split
from workbench.models.evidence.polyhedral import (
    Evidence,
    ExitObligation,
    PolyhedralProof,
    obligations,
)
from workbench.models.lowering.problem import LinearProblem
from workbench.reports.pictures.diagram_parts import LINE_LIMIT, Arrow, box, chart, start_point
from workbench.reports.pictures.svg import Line, cut, document
from workbench.reports.words.inequalities import boolean_names, row_texts

MAX_NODES = 48
LINES = 5
"""So many predicates are written into a node; the others are shown on hovering."""


@dataclass(frozen=True)
class ProofGraph:
    """Nodes are (location, predicates); arrows are (from, to, label), -1 for the start; a
    label "" means that time passes."""

    nodes: tuple[tuple[str, tuple[str, ...]], ...]
    arrows: tuple[tuple[int, int, str], ...]

    def data(self) -> dict[str, Any]:
        """The graph as plain data."""
        return {
            "nodes": [{"location": p, "predicates": list(lines)} for p, lines in self.nodes],
            "arrows": [{"from": a, "to": b, "label": label} for a, b, label in self.arrows],
        }


def proof_graph(problem: LinearProblem, proof: PolyhedralProof) -> ProofGraph | None:
    """The graph of a proof; None where it is too large to look at."""
    if sum(len(region.cells) for region in proof.regions) > MAX_NODES:
        return None
    numbers: dict[tuple[int, int], int] = {}
    booleans = boolean_names(problem.automaton)
    nodes: list[tuple[str, tuple[str, ...]]] = []
    for r, region in enumerate(proof.regions):
        for c in range(len(region.cells)):
            numbers[r, c] = len(nodes)
            lines = tuple(row_texts((row.form for row in region.rows(c)), booleans))
            nodes.append((region.location, lines))
    arrows = dict.fromkeys((*_evident(problem, proof, numbers), *_flows(proof, numbers)))
    return ProofGraph(tuple(nodes), tuple(arrows))


def _evident(
    problem: LinearProblem, proof: PolyhedralProof, numbers: Mapping[tuple[int, int], int]
) -> Iterator[tuple[int, int, str]]:
    """Arrows of initial states, jumps and exits: the leaves of their decision trees."""
    place: dict[int, int] = {id(region): i for i, region in enumerate(proof.regions)}
    for obligation, evidence in zip(
        obligations(problem, proof.regions), proof.evidence, strict=False
    ):
        if not isinstance(obligation, CoverObligation | ExitObligation):
            continue
        source, label = -1, ""
        if obligation.source is not None:
            source = numbers[place[id(obligation.source)], obligation.cell]
            label = obligation.jump if isinstance(obligation, CoverObligation) else ""
        for leaf in _leaves(evidence):
            target: Region = obligation.regions[leaf.region]
            yield source, numbers[place[id(target)], leaf.cell], label


def _leaves(evidence: Evidence) -> Iterator[InCell]:
    pending = [evidence]
    while pending:
        node = pending.pop()
        if isinstance(node, InCell):
            yield node
        elif isinstance(node, Split):
            pending += [node.above, node.below]


def _flows(
    proof: PolyhedralProof, numbers: Mapping[tuple[int, int], int]
) -> Iterator[tuple[int, int, str]]:
    """Cells of one region that share a face: time may lead from one to the other."""
    for r, region in enumerate(proof.regions):
        known = {cell: c for c, cell in enumerate(region.cells)}
        for cell, c in known.items():
            for p, sign in enumerate(cell):
                other = known.get((*cell[:p], -sign, *cell[p + 1 :]))
                if other is not None:
                    yield numbers[r, c], numbers[r, other], ""


def draw_proof_graph(graph: Mapping[str, Any], tags: Mapping[str, str], title: str) -> str:
    """The graph as an SVG document; `tags` mark nodes by location, to be lit in a report."""
    figures = [start_point()]
    for number, node in enumerate(graph["nodes"]):
        lines = [cut(line, LINE_LIMIT) for line in node["predicates"][:LINES]]
        rest = node["predicates"][LINES:]
        if rest:
            lines.append(Line(f"and {len(rest)} more", "soft", "\n".join(rest)))
        heading = cut(node["location"], LINE_LIMIT)
        tag = tags.get(node["location"], "")
        figures.append(box(heading, f"cell {number + 1}", lines, None, "mode", tag))
    arrows = [
        Arrow(
            a["from"] + 1,
            a["to"] + 1,
            (cut(a["label"], 38, "label"),) if a["label"] else (),
            "arrow" if a["label"] or a["from"] < 0 else "data",
        )
        for a in graph["arrows"]
    ]
    return document(chart(figures, arrows), title)
