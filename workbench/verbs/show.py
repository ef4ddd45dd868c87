"""`workbench show`: the structure of a model, as text or as a picture."""

from __future__ import annotations

from collections import deque
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from workbench.arguments import Chosen, model_argument, output_options
from workbench.console import Console
from workbench.files import write_whole
from workbench.option_types import OutputFile

if TYPE_CHECKING:
    from workbench.models.automaton import Automaton, Location
    from workbench.models.model import Model
    from workbench.outline import Branch


@click.command("show")
@model_argument
@click.option(
    "--svg",
    type=OutputFile(allow_dash=True),
    metavar="FILE",
    help="Draw the model into an SVG file ('-' for stdout) instead of printing the tree.",
)
@click.option("--locations", is_flag=True, help="List the flat locations with flows and edges.")
@click.option(
    "--limit",
    type=click.IntRange(1, 1_000_000),
    default=100,
    show_default=True,
    help="How many flat locations to list at most.",
)
@click.option("--all", "everything", is_flag=True, help="Write out every replicated agent.")
@output_options
@click.pass_obj
def command(
    console: Console,
    chosen: Chosen,
    svg: Path | None,
    locations: bool,
    limit: int,
    everything: bool,
) -> None:
    """Show agents, modes and variables; --svg draws them.

    \b
    Example:
      workbench show platoon
      workbench show platoon --svg platoon.svg
      workbench show platoon --locations --limit 20
    """
    if svg is not None and locations:
        raise click.UsageError("--svg and --locations exclude each other")
    model = chosen.load()
    if svg is not None:
        _draw(console, chosen, model, svg)
    elif locations:
        _list_locations(console, chosen, model.automaton, limit)
    else:
        _print_tree(console, chosen, model, everything)


def _outline(model: Model, everything: bool) -> Branch:
    from workbench.outline import agent_outline, automaton_outline

    if model.agent is None:
        return automaton_outline(model.automaton)
    return agent_outline(model.agent, everything=everything)


def _print_tree(console: Console, chosen: Chosen, model: Model, everything: bool) -> None:
    from workbench.outline import render

    tree = _outline(model, everything)
    if console.as_json:
        console.data(model=chosen.label, name=model.name, tree=_tree_data(tree))
        return
    console.warnings(model.warnings, model.sources)
    for line in render(tree):
        console.result(line)


def _tree_data(root: Branch) -> dict[str, Any]:
    """The tree as nested objects, built without recursion."""
    top: dict[str, Any] = {"text": root.text, "children": []}
    pending = [(root, top)]
    while pending:
        branch, data = pending.pop()
        for child in branch.children:
            data["children"].append({"text": child.text, "children": []})
            pending.append((child, data["children"][-1]))
    return top


def _draw(console: Console, chosen: Chosen, model: Model, path: Path) -> None:
    from workbench.reports.pictures.diagram import draw_agent, draw_automaton

    picture = (
        draw_automaton(model.automaton)
        if model.agent is None
        else draw_agent(model.agent, title=model.name)
    )
    if str(path) == "-":
        if console.as_json:
            raise click.UsageError("--json needs a file for the picture, not stdout")
        console.raw(picture)
        return
    write_whole(path, picture)
    if console.as_json:
        console.data(model=chosen.label, name=model.name, svg=str(path))
    else:
        console.note(f"wrote {path}")


def _list_locations(console: Console, chosen: Chosen, automaton: Automaton, limit: int) -> None:
    found, complete = graph_reachable(automaton, limit)
    if console.as_json:
        console.data(
            model=chosen.label,
            name=automaton.name,
            complete=complete,
            locations=[_location_data(automaton, location) for location in found],
        )
        return
    from workbench.reports.words import wording

    for location in found:
        console.result(location.name)
        for line in chain(
            wording.inside(location), map(wording.edge, automaton.edges_from(location.name))
        ):
            console.result(f"  {line}")
    if not complete:
        console.note(f"and more: the list stops after --limit {limit} locations")


def graph_reachable(automaton: Automaton, limit: int) -> tuple[list[Location], bool]:
    """The locations that edges lead to from the initial ones, nearest first, and whether
    these are all; guards are not evaluated."""
    queue: deque[str] = deque()
    seen: set[str] = set()
    for start in automaton.initial_sets():
        if start.location not in seen:
            if len(seen) == limit:
                return [automaton.location(name) for name in queue], False
            seen.add(start.location)
            queue.append(start.location)
    found: list[Location] = []
    complete = True
    while queue:
        name = queue.popleft()
        found.append(automaton.location(name))
        for edge in automaton.edges_from(name):
            if edge.target in seen:
                continue
            if len(seen) == limit:
                complete = False
                continue
            seen.add(edge.target)
            queue.append(edge.target)
    return found, complete


def _location_data(automaton: Automaton, location: Location) -> dict[str, Any]:
    from workbench.reports.words import wording

    return {
        "name": location.name,
        "flows": list(map(wording.flow, location.flows)),
        "algebraic": list(map(wording.equation, location.algebraic)),
        "invariant": list(wording.conditions(location.invariant)),
        "edges": [
            {
                "target": edge.target,
                "label": edge.label,
                "guard": str(edge.guard),
                "resets": list(map(wording.assignment, edge.resets)),
                "urgent": edge.urgent,
            }
            for edge in automaton.edges_from(location.name)
        ],
    }
