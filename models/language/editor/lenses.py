"""Where a model can be asked something: its agents, and their claims."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.models.language import syntax
from workbench.models.language.editor.names import AGENT
from workbench.models.language.editor.places import moved
from workbench.models.language.editor.text import Text
from workbench.models.record import record
from workbench.models.source import Span


@record
class Claim:
    """A claim as it stands in a text: the agent or mode that makes it, its name (none if it has
    none of its own), and its place."""

    owner: str
    name: str | None
    span: Span


@record
class AskedAgent:
    """An agent as it stands in a text: its name and the place of that, and whether it can be a
    model of its own: whether each of its parameters has a value."""

    name: str
    span: Span
    is_complete: bool


@record
class Asked:
    """The agents and claims of a text. `whole` is the agent that is the model, as far as that can
    be told from this text alone."""

    agents: tuple[AskedAgent, ...]
    claims: tuple[Claim, ...]
    whole: str | None


def asked(text: Text) -> Asked:
    """What a text can be asked about."""
    agents: list[AskedAgent] = []
    claims: list[Claim] = []
    used: set[str] = set()
    system: str | None = None
    for placed in text.placed:
        for definition in placed.piece.definitions:
            if isinstance(definition, syntax.SystemDeclaration):
                system = definition.agent.name
            if not isinstance(definition, syntax.AgentDefinition | syntax.ModeDefinition):
                continue
            if isinstance(definition, syntax.AgentDefinition):
                used |= {part.definition.name for part in definition.agents}
                if not placed.piece.cut.inside:
                    span = moved(definition.name.span, placed.above, text.name)
                    complete = all(p.default is not None for p in definition.parameters)
                    agents.append(AskedAgent(definition.name.name, span, complete))
            claims.extend(_claims(definition, placed.above, text.name))
    roots = [agent.name for agent in agents if agent.name not in used]
    whole = system or (roots[0] if len(roots) == 1 else None)
    return Asked(tuple(agents), tuple(claims), whole)


def _claims(
    definition: syntax.AgentDefinition | syntax.ModeDefinition, above: int, file: str
) -> Iterator[Claim]:
    for item in definition.items:
        if isinstance(item, syntax.ClaimBlock):
            word = AGENT if isinstance(definition, syntax.AgentDefinition) else "mode"
            owner = f"{word} {definition.name.name}"
            yield Claim(owner, item.name, moved(item.span, above, file))
