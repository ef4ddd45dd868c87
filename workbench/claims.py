"""Choosing properties of a model on the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from workbench.models.automaton import Automaton, Property

property_option = click.option(
    "--property",
    "-p",
    "names",
    multiple=True,
    metavar="NAME",
    help="Which property; may be repeated. All, if left out.",
)


def chosen_claims(automaton: Automaton, names: tuple[str, ...]) -> tuple[Property, ...]:
    """The properties of those names, all of them if none is named.

    Raises `click.UsageError` with the nearest name for an unknown one, or if there is none.
    """
    known = {claim.name: claim for claim in automaton.properties}
    if not known:
        raise click.UsageError(
            'the model has no property; add `assert "name" { condition }` to an agent'
        )
    for name in names:
        if name not in known:
            raise click.UsageError(_unknown(name, list(known)))
    return tuple(known[name] for name in dict.fromkeys(names)) if names else tuple(known.values())


def _unknown(name: str, known: list[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name[:80], known, n=1, cutoff=0.5)
    if near:
        return f"the model has no property {name[:80]!r}; did you mean {near[0]!r}?"
    return f"the model has no property {name[:80]!r}; it has {', '.join(map(repr, known))}"
