"""An abstract graph as a picture (SVG), for Graphviz (DOT), or as data (JSON).

A state has its cell and, where a proof found one, the part of the cell that is reached. States
without a part in such a proof are not reached after all.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from workbench.models.counting import counted
from workbench.reports.pictures.diagram_parts import Arrow, box, chart
from workbench.reports.pictures.svg import Line, cut, document

if TYPE_CHECKING:
    import networkx

SCHEMA = "charon-workbench/abstract-graph/1"
CELL_WIDTH = 44
PART_LINES = 8
"""So many comparisons of a part are shown; the data (JSON) has all."""
MOST_DRAWN = 150
"""Pictures of larger graphs would help nobody: they say so and show the first states."""


def as_data(graph: networkx.MultiDiGraph) -> dict[str, Any]:
    """Nodes and edges with all their attributes."""
    nodes = [{"id": k, **data} for k, data in graph.nodes(data=True)]
    edges = [{"source": a, "target": b, **data} for a, b, data in graph.edges(data=True)]
    return {"schema": SCHEMA, "states": nodes, "steps": edges}


def from_data(data: Mapping[str, Any]) -> networkx.MultiDiGraph:
    """The graph of `as_data`."""
    import networkx

    graph = networkx.MultiDiGraph()
    graph.add_nodes_from((node["id"], node) for node in data["states"])
    graph.add_edges_from((edge["source"], edge["target"], edge) for edge in data["steps"])
    return graph


def to_json(graph: networkx.MultiDiGraph) -> str:
    """Nodes and edges with all their attributes, as a text."""
    return json.dumps(as_data(graph), indent=1) + "\n"


def to_dot(graph: networkx.MultiDiGraph) -> str:
    """The graph in Graphviz's language; initial states bold, bad ones red, states that are not
    reached dotted, switches dashed."""
    lines = ["digraph abstract {", "  node [shape=box];"]
    for k, data in graph.nodes(data=True):
        lines_of = [f"{k}: {data['location']}", *_shown(data)]
        label = "\\n".join(map(_quoted, lines_of))
        style = ", penwidth=2" if data["initial"] else ""
        style += "" if data["reached"] else ", style=dotted"
        style += ", color=red" if data["bad"] else ""
        lines.append(f'  s{k} [label="{label}"{style}];')
    for (a, b), (over, switch) in _joined(graph).items():
        style = ", style=dashed" if switch else ""
        lines.append(f'  s{a} -> s{b} [label="{_quoted(over)}"{style}];')
    return "\n".join([*lines, "}"]) + "\n"


def to_svg(graph: networkx.MultiDiGraph) -> str:
    """A drawing with a box for each abstract state."""
    drawn = [k for k in graph.nodes if k < MOST_DRAWN]
    figures = []
    for k in drawn:
        data: Mapping[str, Any] = graph.nodes[k]
        kind = " ".join(word for word in ("initial", "bad") if data[word])
        kind = kind if data["reached"] else "not reached"
        lines = [cut(text, CELL_WIDTH) for text in _shown(data)]
        figures.append(box(Line(f"{k}: {data['location']}"), kind, lines, None, "mode"))
    if len(drawn) < len(graph):
        rest = Line(f"{counted(len(graph) - len(drawn), 'more state')}")
        figures.append(box(rest, "", [], None, "more"))
    arrows = [
        Arrow(a, b, (cut(over, CELL_WIDTH, "soft"),) if over else ())
        for (a, b), (over, _) in _joined(graph).items()
        if a < MOST_DRAWN and b < MOST_DRAWN
    ]
    return document(chart(figures, arrows), "reachable abstract states")


WRITERS: Mapping[str, Callable[[networkx.MultiDiGraph], str]] = {
    ".json": to_json,
    ".dot": to_dot,
    ".svg": to_svg,
}
"""By the ending of the file."""


def _shown(data: Mapping[str, Any]) -> list[str]:
    """The comparisons of a state: its cell, then its part as far as that fits."""
    part = data["part"]
    rest = [f"and {len(part) - PART_LINES} more"] if len(part) > PART_LINES else []
    return [*data["cell"], *part[:PART_LINES], *rest]


def _joined(graph: networkx.MultiDiGraph) -> dict[tuple[int, int], tuple[str, bool]]:
    """One arrow for each pair of states: what it crosses, and whether it is a switch."""
    found: dict[tuple[int, int], tuple[str, bool]] = {}
    for a, b, data in graph.edges(data=True):
        found.setdefault((a, b), (data["over"].replace("<=", "="), data["kind"] == "switch"))
    return found


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
