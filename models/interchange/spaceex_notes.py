"""What SpaceEx files have no place for, kept in a note of an exported component.

The visible file is the model: flows, guards, bounds and initial states stand where every
tool reads them. The note only says how to read them back into the very same automaton:
names that SpaceEx cannot carry, which conjuncts of an invariant are bounds of inputs, which
of `forbidden` belong to which property. Foreign tools skip it.

A digest of the visible parts stands in the note. Once somebody has edited the file it no
longer fits, and the file is read like any other, as it stands.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from workbench.models.interchange.spaceex_components import ComponentTemplate, refusal
from workbench.models.interchange.spaceex_config import Configuration
from workbench.models.interchange.xml_door import Element
from workbench.models.source import ModelError

MARK = "charon-workbench export: "
"""How our note begins."""

Counts = list[tuple[str, int]]
"""Variables in order, each with how many conjuncts bound it."""


@dataclass(slots=True)
class EdgeNote:
    """An edge's name and event kind, and how many transitions stand for it: a guard that is
    a disjunction takes one for each part, one with `!=` at the positions `unequal` of its
    conjuncts one for each way to be unequal."""

    name: str = ""
    event: str = ""
    alternatives: int = 1
    unequal: list[int] = field(default_factory=list)


@dataclass(slots=True)
class PropertyNote:
    """A property's name and kind; `parts` are its positions among the disjuncts of
    `forbidden`, `where` how many conjuncts of it say where it applies, and `negated`
    whether its condition is a literal negation."""

    name: str = ""
    kind: str = ""
    parts: list[int] = field(default_factory=list)
    where: int = 0
    negated: bool = False


@dataclass(slots=True)
class Notes:
    """See the module's docstring; locations go by their position in the file."""

    name: str = ""
    names: dict[str, str] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    locations: dict[str, str] = field(default_factory=dict)
    silent: list[str] = field(default_factory=list)
    discrete: list[str] = field(default_factory=list)
    implicit_time: bool = False
    algebraic: dict[str, Counts] = field(default_factory=dict)
    input_bounds: int = 0
    assumption: int = 0
    edges: dict[str, EdgeNote] = field(default_factory=dict)
    initial_bounds: int = 0
    starts: list[int] = field(default_factory=list)
    initial: list[Counts] = field(default_factory=list)
    properties: list[PropertyNote] = field(default_factory=list)
    predicates: list[str] = field(default_factory=list)
    digest: str = ""

    def text(self) -> str:
        """The note's text; only what differs from the default is written."""
        plain = Notes()
        full = asdict(self)
        shown = {f.name: full[f.name] for f in fields(self)}
        shown = {k: v for k, v in shown.items() if v != getattr(plain, k)}
        return MARK + json.dumps(shown, sort_keys=True)


def find_note(component: ComponentTemplate) -> Element | None:
    """Our note in a component, if there is one."""
    for note in component.notes:
        if note.text.lstrip().startswith(MARK):
            return note
    return None


def read_notes(note: Element) -> Notes:
    """The note's content; raises `ModelError` where it is not what `text` writes."""
    try:
        return _notes(json.loads(note.text.strip()[len(MARK) :]))
    except (ValueError, TypeError, KeyError, RecursionError):
        raise bad_note(note) from None


def bad_note(note: Element) -> ModelError:
    """The error for a note that is damaged."""
    return refusal(
        "spaceex-note",
        "the note that this program wrote into the file is damaged",
        note.span,
        "delete the note: the file is then read as it stands",
    )


def _notes(data: Any) -> Notes:
    made = Notes()
    for key, value in _mapping(data).items():
        default = getattr(made, key, None)
        if key == "edges":
            made.edges = {str(i): EdgeNote(**_mapping(e)) for i, e in _mapping(value).items()}
        elif key == "properties":
            made.properties = [PropertyNote(**_mapping(p)) for p in _items(value)]
        elif key == "initial":
            made.initial = [_counts(start) for start in _items(value)]
        elif key == "starts":
            made.starts = [_whole(start) for start in _items(value)]
        elif key == "algebraic":
            made.algebraic = {str(i): _counts(c) for i, c in _mapping(value).items()}
        elif isinstance(default, dict):
            setattr(made, key, {str(k): _word(v) for k, v in _mapping(value).items()})
        elif isinstance(default, list):
            setattr(made, key, [_word(v) for v in _items(value)])
        elif default is not None and type(value) is type(default):
            setattr(made, key, value)
        else:
            raise ValueError(key)
    for edge in made.edges.values():
        _word(edge.name), _word(edge.event), _whole(edge.alternatives)
        edge.unequal = [_whole(i) for i in _items(edge.unequal)]
    for claim in made.properties:
        _word(claim.name), _word(claim.kind), _whole(claim.where)
        claim.parts = [_whole(i) for i in _items(claim.parts)]
    return made


def _mapping(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise TypeError(value)
    return value


def _items(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError(value)
    return value


def _word(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value


def _whole(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise TypeError(value)
    return value


def _counts(value: Any) -> Counts:
    return [(_word(name), _whole(count)) for name, count in _items(value)]


def digest(root: Element, options: Configuration) -> str:
    """The SHA-256 of what a model visibly says: elements, attributes and text of the XML
    apart from our note, and the options that carry meaning."""
    seen = hashlib.sha256()

    def add(text: str) -> None:
        data = text.encode("utf-8", "surrogatepass")
        seen.update(b"%d:" % len(data) + data)

    stack = [root]
    while stack:
        element = stack.pop()
        add(element.name)
        for name, value in sorted(element.attributes):
            add(name)
            add(value)
        add(element.text.strip())
        children = [c for c in element.children if c.name != "note"]
        add(str(len(children)))
        stack.extend(reversed(children))
    for entry in (options.system, options.initially, options.forbidden, options.horizon):
        add("" if entry is None else entry.text.strip())
    return seen.hexdigest()
