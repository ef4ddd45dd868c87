"""Where a name is introduced and used, and how it is given another name everywhere."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from workbench.models.automaton import TIME
from workbench.models.expressions.dialect import FUNCTIONS
from workbench.models.language.editor.names import LOCAL, VALUE, Symbol
from workbench.models.language.editor.places import Place
from workbench.models.language.editor.project import Found, Project, Use, imports
from workbench.models.language.editor.sharing import parts, shared
from workbench.models.language.grammar import grammar
from workbench.models.record import record
from workbench.models.source import Edit, Span

_NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9]*\Z")


class RenamingError(ValueError):
    """A name cannot be changed so; the text says why."""


@record
class Reference:
    """A place where a name stands, whether it is introduced there, and what gives it a value."""

    span: Span
    introduces: bool
    writes: str


def definition(project: Project, place: Place) -> tuple[Span, ...]:
    """Where the name at a place is introduced; for an import, the file."""
    for name, span in imports(project.text):
        if span.line <= place[0] <= span.end_line:
            return tuple(Span(t.name, 1, 1, 1, 1) for t in project.texts if t.name == name)
    use = project.use_at(place)
    symbol = project.symbol(use.mention) if use else None
    if use is None or symbol is None:
        return ()
    return tuple(r.span for r in _of(project, use, symbol) if r.introduces)


def references(
    project: Project, place: Place, others: Iterable[Project] = ()
) -> tuple[Reference, ...]:
    """Everywhere that the name at a place is mentioned: in the project, and in `others` that
    import the file which introduces it."""
    use = project.use_at(place)
    symbol = project.symbol(use.mention) if use else None
    if use is None or symbol is None:
        return ()
    found = {r.span: r for r in _of(project, use, symbol)}
    if symbol.space != LOCAL:
        homes = {known.text.name for known in project.declarations.get(symbol, ())}
        for other in others:
            if homes & {text.name for text in other.texts}:
                found |= {r.span: r for r in _mentions(other, symbol)}
    return tuple(found[span] for span in sorted(found, key=_order))


def _of(project: Project, use: Use, symbol: Symbol) -> Iterator[Reference]:
    if symbol.space != LOCAL:
        yield from _mentions(project, symbol)
        return
    for mention in use.placed.names.mentions:
        if mention.symbol == symbol:
            there = Use(mention, use.text, use.placed)
            yield Reference(there.span, mention.introduces, mention.writes)


def _mentions(project: Project, symbol: Symbol) -> Iterator[Reference]:
    for use in project.uses(symbol):
        yield Reference(use.span, use.mention.introduces, use.mention.writes)


def _order(span: Span) -> tuple[str, int, int]:
    return span.file, span.line, span.column


def renamable(project: Project, place: Place) -> tuple[Span, str] | None:
    """The name at a place that could be given another one."""
    use = project.use_at(place)
    if use is None or project.symbol(use.mention) is None:
        return None
    return use.span, use.mention.name


def renamed(
    project: Project, place: Place, name: str, others: Iterable[Project] = ()
) -> tuple[Edit, ...]:
    """The edits that give the name at a place another one, in all files. Raises RenamingError
    where that would change what the model means."""
    use = project.use_at(place)
    symbol = project.symbol(use.mention) if use else None
    if use is None or symbol is None:
        raise RenamingError("there is no name here that could be changed")
    if not _NAME.match(name):
        raise RenamingError(
            f"`{name[:40]}` is not a name: letters, digits and `_`, and no digit first"
        )
    if name == TIME or name in FUNCTIONS:
        raise RenamingError(f"`{name}` has a meaning of its own")
    if name in grammar().keywords:
        raise RenamingError(f"`{name}` is a word of the language")
    if name == symbol.name:
        return ()
    projects = (project, *others)
    symbols = {symbol}
    if isinstance(_node(project, symbol), tuple):
        symbols = shared(projects, symbol)
    for one in projects:
        for each in symbols:
            _check_free(one, each, name)
    spans = {r.span for r in references(project, place, projects[1:])}
    for one in projects:
        spans |= {use.span for each in symbols - {symbol} for use in one.uses(each)}
    return tuple(Edit(span, name) for span in sorted(spans, key=_order))


def _node(project: Project, symbol: Symbol) -> object:
    found = project.find(symbol)
    return found.declaration.node if found is not None else None


def _check_free(project: Project, symbol: Symbol, name: str) -> None:
    """Refuse a name that already means something where the other one is used, or that another
    definition shares."""
    fresh = Symbol(symbol.space, symbol.owner, name)
    taken = project.find(fresh)
    if taken is None and symbol.space == LOCAL:
        taken = _used_beside(project, symbol, name)
    elif taken is None and symbol.owner == "":
        owners = {use.mention.owner for use in project.uses(symbol)}
        captured = (project.find(Symbol(symbol.space, owner, name)) for owner in owners)
        taken = next((found for found in captured if found is not None), None)
    elif taken is None:
        taken = _hidden(project, symbol.owner, name) or _captured(project, symbol, name)
    if taken is not None:
        span = taken.span
        file = "" if span.file == project.text.name else f" of {span.file}"
        raise RenamingError(
            f"`{name}` is already {_a(taken.declaration.sort)}, in line {span.line}{file}"
        )


def _hidden(project: Project, owner: str, name: str) -> Found | None:
    """The constant or function of that name that the definition uses."""
    outer = project.find(Symbol(VALUE, "", name))
    if outer is None:
        return None
    uses = project.uses(outer.declaration.symbol)
    return outer if any(use.mention.owner == owner for use in uses) else None


def _captured(project: Project, symbol: Symbol, name: str) -> Found | None:
    """The variable of that name of a part or of the surroundings, with which the renamed one
    would become one."""
    if not isinstance(_node(project, symbol), tuple):
        return None
    for part in parts(project):
        if symbol.owner == part.around and name not in part.renamed:
            found = project.find(Symbol(VALUE, part.inside, name))
        elif symbol.owner == part.inside and symbol.name not in part.renamed:
            found = project.find(Symbol(VALUE, part.around, name))
        else:
            continue
        if found is not None and isinstance(found.declaration.node, tuple):
            return found
    return None


def _used_beside(project: Project, symbol: Symbol, name: str) -> Found | None:
    """What the new name of an index, a partner or a `let` means in the definition around it."""
    for placed, names in project.text.names():
        if any(d.symbol == symbol for d in names.declarations):
            for mention in names.mentions:
                if mention.name == name and (meant := project.symbol(mention)) is not None:
                    return project.find(meant)
            return project.find(Symbol(VALUE, placed.piece.owner, name))
    return None


def _a(sort: str) -> str:
    return f"an {sort}" if sort[0] in "aeiou" else f"a {sort}"
