"""Which variables of different definitions are one quantity because they have the same name: a
part shares a variable with its surroundings by name, unless its instance renames it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from workbench.models.agents.hierarchy import Access
from workbench.models.language import syntax
from workbench.models.language.editor.names import VALUE, Symbol
from workbench.models.language.editor.project import Found, Project
from workbench.models.record import record


@record
class Part:
    """An instance: the definition that it is in, its own, and the names that it renames."""

    around: str
    inside: str
    renamed: frozenset[str]
    instance: syntax.InstanceDeclaration
    found: Found


def parts(project: Project) -> Iterator[Part]:
    """The instances of all definitions."""
    for symbol, known in project.declarations.items():
        for found in known:
            node = found.declaration.node
            if isinstance(node, syntax.InstanceDeclaration):
                inside = f"{node.keyword} {node.definition.name}"
                names = frozenset(own.name for own, _ in node.renaming)
                yield Part(symbol.owner, inside, names, node, found)


def variable(project: Project, owner: str, name: str) -> syntax.VariableDeclaration | None:
    """The declaration of a variable of a definition."""
    found = project.find(Symbol(VALUE, owner, name))
    node = found.declaration.node if found is not None else None
    return node[0] if isinstance(node, tuple) else None


def shares(project: Project, part: Part, name: str) -> bool:
    """Whether a part and its surroundings have a variable in common by its name."""
    inner = variable(project, part.inside, name)
    return (
        inner is not None
        and inner.access is not Access.PRIVATE
        and name not in part.renamed
        and variable(project, part.around, name) is not None
    )


def shared(projects: Iterable[Project], symbol: Symbol) -> set[Symbol]:
    """The variables that are one with the given one because of their name; itself among them."""
    links: dict[str, set[str]] = {}
    for project in projects:
        for part in parts(project):
            if shares(project, part, symbol.name):
                links.setdefault(part.around, set()).add(part.inside)
                links.setdefault(part.inside, set()).add(part.around)
    reached, queue = {symbol.owner}, [symbol.owner]
    for owner in queue:
        fresh = links.get(owner, set()) - reached
        reached |= fresh
        queue.extend(sorted(fresh))
    return {Symbol(VALUE, owner, symbol.name) for owner in reached}
