"""The definitions of a model's files by name, each defined once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from workbench.models.language.findings import DiagnosticLog
from workbench.models.language.syntax import (
    AgentDefinition,
    ConstantDeclaration,
    ExternDeclaration,
    Identifier,
    ModeDefinition,
    SourceFile,
    SystemDeclaration,
    TableDeclaration,
    TypeName,
    VariableDeclaration,
)


@dataclass(slots=True)
class Definitions:
    """What the files define; agents and modes have name spaces of their own."""

    agents: dict[str, AgentDefinition] = field(default_factory=dict)
    modes: dict[str, ModeDefinition] = field(default_factory=dict)
    constants: dict[str, ConstantDeclaration] = field(default_factory=dict)
    functions: dict[str, ExternDeclaration | TableDeclaration] = field(default_factory=dict)
    system: SystemDeclaration | None = None
    symbols: set[str] = field(default_factory=set)

    def enumerations(self) -> Iterator[TypeName]:
        """Every type written anywhere."""
        for constant in self.constants.values():
            yield constant.type
        definitions: list[AgentDefinition | ModeDefinition] = [
            *self.agents.values(),
            *self.modes.values(),
        ]
        for definition in definitions:
            yield from (parameter.type for parameter in definition.parameters)
            for item in definition.items:
                if isinstance(item, VariableDeclaration):
                    yield item.type


def collect(files: Iterable[SourceFile], findings: DiagnosticLog) -> Definitions:
    """All definitions of the files; the first file is the one the user named, and only its
    `system` counts."""
    found = Definitions()
    for number, file in enumerate(files):
        for definition in file.definitions:
            match definition:
                case AgentDefinition():
                    _enter(found.agents, definition.name, definition, "agent", findings)
                case ModeDefinition():
                    _enter(found.modes, definition.name, definition, "mode", findings)
                case ConstantDeclaration():
                    _enter(found.constants, definition.name, definition, "constant", findings)
                case ExternDeclaration() | TableDeclaration():
                    _enter(found.functions, definition.name, definition, "function", findings)
                case SystemDeclaration() if number == 0:
                    if found.system is not None:
                        findings.error(
                            "duplicate-name",
                            "a model has one `system`; this is a second one",
                            definition.span,
                        )
                    found.system = found.system or definition
                case _:
                    pass
    for name in found.enumerations():
        found.symbols.update(name.values)
        if len(set(name.values)) != len(name.values):
            findings.error("duplicate-name", "a value of this enumeration is repeated", name.span)
    return found


_Definition = TypeVar(
    "_Definition",
    AgentDefinition,
    ModeDefinition,
    ConstantDeclaration,
    ExternDeclaration | TableDeclaration,
)


def _enter(
    known: dict[str, _Definition],
    name: Identifier,
    definition: _Definition,
    word: str,
    findings: DiagnosticLog,
) -> None:
    first = known.get(name.name)
    if first is None:
        known[name.name] = definition
        return
    place = first.name.span
    where = f"line {place.line}" if place.file == name.span.file else str(place)
    findings.error(
        "duplicate-name",
        f"the {word} `{name.name}` is defined twice (first at {where})",
        name.span,
        "rename one of them",
    )
