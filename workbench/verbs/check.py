"""`workbench check`: does the model make sense?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from workbench.arguments import Chosen, model_argument, output_options
from workbench.console import Console, diagnostics_data
from workbench.models.counting import counted

if TYPE_CHECKING:
    from workbench.models.automaton import Automaton


@click.command("check")
@model_argument
@output_options
@click.pass_obj
def command(console: Console, chosen: Chosen) -> None:
    """Parse, type-check and examine a model.

    Reports every mistake with its place: unknown names, two writers of one variable,
    guards that leave a state without a way on, algebraic loops, and more. Warnings do not
    reject a model.

    \b
    Example:
      workbench check platoon
      workbench check platoon -P amin=-8
    """
    model = chosen.load()
    facts = summary(model.automaton)
    if console.as_json:
        console.data(
            outcome="accepted",
            model=chosen.label,
            name=model.name,
            model_sha256=model.automaton.sha256,
            **facts,
            diagnostics=diagnostics_data(model.warnings),
        )
        return
    console.warnings(model.warnings, model.sources)
    if not console.quiet:
        console.result(f"{chosen.label}: ok ({in_words(facts)})")


def summary(automaton: Automaton) -> dict[str, Any]:
    """The size of a model, read off its components without building their product."""
    return {
        "components": [
            {"name": c.name, "locations": len(c.locations), "edges": len(c.edges)}
            for c in automaton.components
        ],
        "variables": [v.name for v in automaton.variables],
        "inputs": [i.name for i in automaton.inputs],
        "parameters": [p.name for p in automaton.parameters],
        "properties": [p.name for p in automaton.properties],
        "horizon": None if automaton.horizon is None else str(automaton.horizon),
    }


def in_words(facts: dict[str, Any]) -> str:
    """The summary as a phrase."""
    locations = [c["locations"] for c in facts["components"]]
    parts = [counted(len(locations), "component")]
    parts.append(counted(sum(locations), "location"))
    parts += [
        counted(len(facts[plural]), singular)
        for plural, singular in (
            ("variables", "variable"),
            ("inputs", "input"),
            ("parameters", "uncertain parameter"),
            ("properties", "property"),
        )
        if facts[plural] or plural in ("variables", "properties")
    ]
    return ", ".join(parts)
