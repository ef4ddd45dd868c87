"""Temporal formulas on the command line: a mistake in one is a mistake of usage, and is shown
where it is."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from workbench.models.automaton import Automaton
    from workbench.models.source import Span
    from workbench.simulate.monitoring.stl import Formula

FILE = "<formula>"


def read_formula(automaton: Automaton, text: str) -> Formula:
    """A temporal formula over the model's names."""
    from workbench.models.condition_check import misfit, types_by_name, with_symbols
    from workbench.models.expressions.traversal import free_variables
    from workbench.models.source import ModelError
    from workbench.simulate.monitoring.stl import parse_formula

    types = types_by_name(automaton)
    try:
        found = parse_formula(text, FILE)
    except ModelError as error:
        first = error.diagnostics[0]
        raise _wrong(text, first.message, first.span, first.hint) from None
    found = found.over(lambda condition: with_symbols(condition, types))
    for name in sorted(free_variables(*found.conditions) - types.keys()):
        known = [n for n in types if n != "time"]
        raise _wrong(text, unknown("variable", name, known), _place(text, name))
    for condition in found.conditions:
        if wrong := misfit(condition, automaton):
            raise _wrong(text, wrong, condition.span)
    return found


def _wrong(text: str, message: str, span: Span | None, hint: str | None = None) -> click.UsageError:
    """The message, and the place underlined."""
    from workbench.models.source import Diagnostic

    rendered = Diagnostic("formula", message, span, hint).render(text)
    _, *below = rendered.split("\n")
    return click.UsageError("\n".join([f"--formula: {message}", *below]))


def _place(text: str, name: str) -> Span | None:
    """Where a name stands in a text."""
    from workbench.models.source import Span

    found = re.search(rf"(?<![\w.]){re.escape(name)}(?![\w.])", text)
    if found is None:
        return None
    line = text.count("\n", 0, found.start()) + 1
    column = found.start() - (text.rfind("\n", 0, found.start()) + 1) + 1
    return Span(FILE, line, column, line, column + len(name))


def unknown(sort: str, name: str, known: Iterable[str]) -> str:
    """That there is no such name, with the nearest one."""
    from difflib import get_close_matches

    known = list(known)
    near = get_close_matches(name[:80], known, n=1, cutoff=0.5)
    if near:
        return f"there is no {sort} {name[:80]!r}; did you mean {near[0]!r}?"
    listed = ", ".join(known[:8]) or "none"
    return f"there is no {sort} {name[:80]!r}; the model has {listed}"
