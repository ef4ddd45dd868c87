"""A project's files as the diagram and its edits look at them: definitions by name, texts by
place, and the way of names that leads to a part."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from typing import TypeAlias

from workbench.models.automaton import TIME
from workbench.models.expressions.dialect import FUNCTIONS
from workbench.models.language.editor.places import line_starts, moved
from workbench.models.language.editor.project import Project
from workbench.models.language.editor.text import Text
from workbench.models.language.findings import did_you_mean
from workbench.models.language.lexical import END, Token, tokens
from workbench.models.language.parse import parse_leniently
from workbench.models.language.syntax import (
    AgentDefinition,
    ConstantDeclaration,
    ExternDeclaration,
    InstanceDeclaration,
    ModeDefinition,
    SystemDeclaration,
    TableDeclaration,
    TopLevel,
    TypeName,
    VariableDeclaration,
)
from workbench.models.record import record
from workbench.models.source import Diagnostic, ModelError, Span

Definition: TypeAlias = AgentDefinition | ModeDefinition
Path: TypeAlias = tuple[str, ...]
"""The name of a definition, then names of parts inside it: `("Highway", "follower")`."""
Region: TypeAlias = tuple[int, int]
"""The offsets between which something stands."""


class SourceText:
    """A file's text, with offsets for lines and columns. The spans that it is asked about count
    lines from the one behind line `above` of the file; those that it gives count from the first."""

    def __init__(self, file: str, text: str, lines: list[int] | None = None, above: int = 0):
        self.file = file
        self.text = text
        self._lines = line_starts(text) if lines is None else lines
        self._above = above

    @property
    def newline(self) -> str:
        """How the lines of the text end."""
        return "\r\n" if "\r\n" in self.text else "\n"

    def below(self, above: int) -> SourceText:
        """The same text, for spans that count from below a line."""
        return SourceText(self.file, self.text, self._lines, above)

    def region(self, span: Span) -> Region:
        """Where a span begins and ends."""
        lines, above = self._lines, self._above - 1
        return (
            lines[above + span.line] + span.column - 1,
            lines[above + span.end_line] + span.end_column - 1,
        )

    def place(self, span: Span) -> Span:
        """A span as one of the whole file."""
        return moved(span, self._above, self.file)

    def span(self, region: Region) -> Span:
        """The span of a region in the whole file."""
        return Span(self.file, *self._place(region[0]), *self._place(region[1]))

    def _place(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self._lines, offset)
        return line, offset - self._lines[line - 1] + 1

    def tokens(self, region: Region, *, comments: bool = False) -> list[Token]:
        """The tokens of a region, by offsets of the whole text; comments only if asked for."""
        start, end = region
        noted: list[Token] = []
        found = [t for t in tokens(self.text[start:end], noted) if t.kind != END]
        if comments:
            found = sorted([*found, *noted], key=lambda t: t.start)
        for token in found:
            token.start += start
        return found


class Sources:
    """The definitions of a project's files; where a name is defined twice, the first counts.

    What did not change since an earlier version of a text is not read again: the spans of a
    definition count from where its piece of the text begins, and `text` knows where that is."""

    def __init__(self, project: Project):
        self.project = project
        self.files = tuple(text.name for text in project.texts)
        self._files = {text.name: SourceText(text.name, text.text) for text in project.texts}
        self._declared: dict[str, list[TopLevel]] = {}
        self._texts: dict[int, SourceText] = {}
        for text in project.texts:
            self._declared[text.name] = []
            for above, declared in _stretches(text):
                self._declared[text.name].extend(declared)
                below = self._files[text.name].below(above)
                self._texts.update((id(one), below) for one in declared)
        self.agents: dict[str, AgentDefinition] = {}
        self.modes: dict[str, ModeDefinition] = {}
        for definition in self.definitions():
            if isinstance(definition, AgentDefinition):
                self.agents.setdefault(definition.name.name, definition)
            else:
                self.modes.setdefault(definition.name.name, definition)

    def definitions(self) -> Iterator[Definition]:
        """All agents and modes in the order of the files."""
        for declared in self._declared.values():
            for definition in declared:
                if isinstance(definition, AgentDefinition | ModeDefinition):
                    yield definition

    def everything(self, file: str) -> list[TopLevel]:
        """All that a file declares."""
        return self._declared[file]

    @cached_property
    def global_names(self) -> frozenset[str]:
        """What means something in every definition: constants, functions, values of types."""
        found = {TIME, *FUNCTIONS}
        types: list[TypeName] = []
        for file in self._declared.values():
            for declared in file:
                if isinstance(declared, ConstantDeclaration | ExternDeclaration | TableDeclaration):
                    found.add(declared.name.name)
                elif isinstance(declared, AgentDefinition | ModeDefinition):
                    types += [p.type for p in declared.parameters]
                    types += [i.type for i in declared.items if isinstance(i, VariableDeclaration)]
        return frozenset(found.union(*(kind.values for kind in types)))

    def file(self, name: str) -> SourceText:
        """The text of one of the files."""
        return self._files[name]

    def text(self, declared: TopLevel) -> SourceText:
        """The text that something is declared in, for the spans of that."""
        return self._texts[id(declared)]

    def of(self, instance: InstanceDeclaration) -> Definition | None:
        """What an instance is one of."""
        if instance.keyword == "agent":
            return self.agents.get(instance.definition.name)
        return self.modes.get(instance.definition.name)

    @cached_property
    def uses(self) -> dict[tuple[str, str], list[tuple[Definition, InstanceDeclaration]]]:
        """The instances of each definition, with what they stand in, by the keyword and name of
        the definition."""
        found: dict[tuple[str, str], list[tuple[Definition, InstanceDeclaration]]] = defaultdict(
            list
        )
        for around in self.definitions():
            for instance in instances(around):
                found[instance.keyword, instance.definition.name].append((around, instance))
        return found

    def uses_of(self, definition: Definition) -> list[tuple[Definition, InstanceDeclaration]]:
        """The instances of a definition, with what they stand in."""
        return self.uses.get((keyword(definition), definition.name.name), [])

    @cached_property
    def system(self) -> SystemDeclaration | None:
        """What the first file says the whole model is."""
        said = [d for d in self._declared[self.files[0]] if isinstance(d, SystemDeclaration)]
        return said[0] if said else None

    @cached_property
    def main(self) -> AgentDefinition | None:
        """The agent that is the whole model, as far as the text says so: the one of `system`,
        else the last one that no other contains."""
        if self.system is not None:
            return self.agents.get(self.system.agent.name)
        own = [d for d in self._declared[self.files[0]] if isinstance(d, AgentDefinition)]
        free = [a for a in own if not self.uses_of(a)]
        return (free or own)[-1] if own else None

    def walk(self, path: Sequence[str]) -> tuple[Definition, ...]:
        """The definitions that a path leads through, the last one its goal; a path that leads
        nowhere raises a `ModelError`."""
        if not path:
            raise ModelError(Diagnostic("no-such-part", "this is the file, not a part of it"))
        first = self.agents.get(path[0]) or self.modes.get(path[0])
        if first is None:
            known = [*self.agents, *self.modes]
            raise ModelError(
                Diagnostic(
                    "no-such-part",
                    f"there is no agent or mode `{path[0]}`",
                    hint=did_you_mean(path[0], known),
                )
            )
        way: list[Definition] = [first]
        for name in path[1:]:
            here = way[-1]
            instance = next((i for i in instances(here) if i.name.name == name), None)
            inner = self.of(instance) if instance else None
            if inner is None:
                what = f"{keyword(here)} `{here.name.name}`"
                missing = "has no part" if instance is None else "uses, but nobody defines,"
                hint = did_you_mean(name, [i.name.name for i in instances(here)])
                raise ModelError(
                    Diagnostic("no-such-part", f"{what} {missing} `{name}`", hint=hint)
                )
            way.append(inner)
        return tuple(way)

    def path_to(self, definition: Definition, near: Sequence[str] = ()) -> Path:
        """A way of names to a definition: `near` or one of the ways around it if they lead
        there, else the shortest from the main agent, else the definition by itself."""
        if near:
            try:
                way = self.walk(near)
            except ModelError:
                way = ()
            for count in range(len(way), 0, -1):
                if way[count - 1] is definition:
                    return tuple(near[:count])
        queue: deque[tuple[Definition, Path]] = deque()
        if self.main is not None:
            queue.append((self.main, (self.main.name.name,)))
        seen = {id(d) for d, _ in queue}
        while queue:
            here, path = queue.popleft()
            if here is definition:
                return path
            for instance in instances(here):
                inner = self.of(instance)
                if inner is not None and id(inner) not in seen:
                    seen.add(id(inner))
                    queue.append((inner, (*path, instance.name.name)))
        return (definition.name.name,)


def _stretches(text: Text) -> Iterator[tuple[int, tuple[TopLevel, ...]]]:
    """What a text declares, stretch by stretch, each with the line that it is below; a long
    definition is a stretch, in however many pieces the text has it."""
    pieces = iter(text.placed)
    for placed in pieces:
        if not placed.piece.cut.goes_on:
            yield placed.above, placed.piece.definitions
            continue
        whole = [placed.piece.text]
        for following in pieces:
            whole.append(following.piece.text)
            if not following.piece.cut.goes_on:
                break
        yield placed.above, _read("".join(whole))


@lru_cache(maxsize=8)
def _read(text: str) -> tuple[TopLevel, ...]:
    """What a long stretch of text declares."""
    return parse_leniently(text, "").source.definitions


def keyword(definition: Definition) -> str:
    """`agent` or `mode`."""
    return "agent" if isinstance(definition, AgentDefinition) else "mode"


def instances(definition: Definition) -> list[InstanceDeclaration]:
    """The parts of a definition, in the order of the text."""
    return [item for item in definition.items if isinstance(item, InstanceDeclaration)]


@record
class Block:
    """What stands in braces: the place of the keyword before them, of the braces with what is
    inside, and of the statements, which semicolons separate."""

    keyword: int
    braces: Region
    statements: tuple[Region, ...]


def block(text: SourceText, region: Region) -> Block | None:
    """The block of braces in a region, without nested ones; None where there is none."""
    opening = start = closing = None
    last = 0
    statements: list[Region] = []
    previous = region[0]
    for token in text.tokens(region):
        if token.text == "{" and opening is None:
            opening, word = token.start, previous
        elif opening is not None:
            if token.text in (";", "}"):
                if start is not None:
                    statements.append((start, last))
                start = None
                if token.text == "}":
                    closing = token.end
                    break
            else:
                start = token.start if start is None else start
                last = token.end
        else:
            previous = token.start
    if opening is None or closing is None:
        return None
    return Block(word, (opening, closing), tuple(statements))
