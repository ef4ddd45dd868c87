"""What the diagrams of a text show, as plain values, and what visual edits should make of them:
written without the code that edits texts, to be compared with it."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, field

from workbench.models.language.drawing import visual_edits as visual
from workbench.models.language.drawing.diagram import diagram
from workbench.models.language.drawing.sources import Sources
from workbench.models.language.editor.project import Project, project
from workbench.models.language.editor.text import read_text

FILE = "model.charon"


class RefusedError(Exception):
    """The edit cannot be done."""


@dataclass
class Arrow:
    """A transition from one source."""

    source: str
    target: str
    source_point: str
    target_point: str
    label: str | None
    guard: str
    reset: tuple[str, ...]
    urgent: bool
    group: int  # which `trans` it is part of

    @property
    def key(self) -> str:
        source = self.source + (f".{self.source_point}" if self.source_point else "")
        target = self.target + (f".{self.target_point}" if self.target_point else "")
        return f"{source}->{target}" + (f"#{self.label}" if self.label else "")


@dataclass
class Shown:
    """An agent or mode: its parts with what they are one of, its points, what it says."""

    kind: str
    parts: dict[str, tuple[str, str, str]] = field(default_factory=dict)
    entries: list[str] = field(default_factory=list)
    exits: list[str] = field(default_factory=list)
    variables: dict[str, str] = field(default_factory=dict)
    arrows: list[Arrow] = field(default_factory=list)
    says: dict[str, list[str]] = field(default_factory=dict)
    shares: set[tuple[str, str, str]] = field(default_factory=set)


Model = dict[str, Shown]


def project_of(text: str) -> Project:
    return project(read_text(FILE, text), lambda name: None)


def shown(text: str) -> Model:
    """Every definition of a text as its diagram shows it."""
    sources = Sources(project_of(text))
    assert not sources.project.text.diagnostics, sources.project.text.diagnostics
    found: Model = {}
    for node in diagram(sources, ()).nodes:
        found[node.reference] = _shown(sources, node.reference)
    return found


def _shown(sources: Sources, name: str) -> Shown:
    level = diagram(sources, (name,))
    made = Shown(level.kind)
    for node in level.nodes:
        if node.kind in ("agent", "mode"):
            made.parts[node.reference] = (node.kind, node.definition or "", node.arguments)
        elif node.kind == "entry":
            made.entries.append(node.reference)
        elif node.kind == "exit":
            made.exits.append(node.reference)
        elif node.kind == "variable":
            made.variables[node.reference] = node.parts[0].text
    reference = {n.id: n.reference for n in level.nodes}
    groups: dict[object, int] = {}
    for edge in level.edges:
        if edge.kind == "transition":
            made.arrows.append(
                Arrow(
                    reference[edge.source],
                    reference[edge.target],
                    edge.source_point,
                    edge.target_point,
                    edge.name,
                    edge.guard,
                    edge.reset,
                    edge.urgent,
                    groups.setdefault(edge.span, len(groups)),
                )
            )
        else:
            part, _, own = edge.id.removeprefix("share:").partition(".")
            ends = {reference[edge.source], reference[edge.target]}
            outer = (edge.name or f" := {own}").partition(" := ")[2]
            assert part in ends
            made.shares.add((part, own, outer))
    for part in level.parts:
        if part.kind == "variable":
            if level.kind == "mode":
                words, names = _declared(part.text)
                made.variables |= dict.fromkeys(names, words)
        else:
            made.says.setdefault(part.kind, []).append(part.text)
    return made


def _declared(text: str) -> tuple[str, list[str]]:
    """`read analog real a, b = 1` as its words and its names."""
    head, names, depth = "", [], 0
    current = ""
    for sign in text:
        depth += (sign in "[({") - (sign in "])}")
        if sign == "," and depth == 0:
            names.append(current)
            current = ""
        else:
            current += sign
    names.append(current)
    first = names[0].partition("}")[2] if "}" in names[0] else names[0]
    own = first.partition("=")[0].partition(" in ")[0].partition("[")[0].split()[-1]
    head = names[0][: names[0].rindex(own)] if names[0].count(own) == 1 else names[0].split(own)[0]
    rest = [n.partition("=")[0].partition(" in ")[0].partition("[")[0].strip() for n in names[1:]]
    return " ".join(head.split()), [own, *rest]


# What edits should do


def expected(model: Model, edit: visual.VisualEdit) -> Model:
    """The model that an edit should lead to."""
    after = deepcopy(model)
    handler = globals()[f"_{type(edit).__name__.lower()}"]
    handler(after, edit)
    return after


def _here(model: Model, edit: visual.VisualEdit) -> Shown:
    assert len(edit.path) == 1
    return model[edit.path[0]]


def _taken(here: Shown, name: str) -> None:
    if name in here.parts or name in here.entries or name in here.exits:
        raise RefusedError


def _contains(model: Model, name: str) -> Iterator[str]:
    queue = [name]
    for one in queue:
        yield one
        if one in model:
            queue += [d for _, d, _ in model[one].parts.values() if d not in queue]


def _add(model: Model, edit: visual.AddAgent | visual.AddMode, kind: str) -> None:
    if not edit.path:
        if edit.name in model:
            raise RefusedError
        model[edit.name] = Shown(kind)
        return
    here = _here(model, edit)
    kinds = {k for k, _, _ in here.parts.values()}
    if here.kind == "mode" and kind == "agent":
        raise RefusedError
    if here.kind == "agent" and (kinds if kind == "mode" else "mode" in kinds):
        raise RefusedError
    _taken(here, edit.name)
    known = {n for n, d in model.items() if d.kind == kind}
    definition = edit.definition
    if definition in model and definition not in known:
        raise RefusedError
    if not definition:
        plain = edit.name[0].upper() + edit.name[1:]
        plain = edit.path[0] + plain if kind == "mode" and here.kind == "agent" else plain
        definition = plain
        count = 1
        while definition in model:
            count += 1
            definition = f"{plain}{count}"
    if definition in known:
        if edit.path[0] in _contains(model, definition):
            raise RefusedError
        if model[definition].says.get("parameter"):
            raise RefusedError
        for name in model[definition].variables:
            words = model[definition].variables[name]
            if name in here.variables and not words.startswith("private"):
                here.shares.add((edit.name, name, name))
        if here.kind == "mode":
            here.shares.clear()
    else:
        model[definition] = Shown(kind)
    here.parts[edit.name] = (kind, definition, edit.arguments)


def _addagent(model: Model, edit: visual.AddAgent) -> None:
    _add(model, edit, "agent")


def _addmode(model: Model, edit: visual.AddMode) -> None:
    _add(model, edit, "mode")


def _addvariable(model: Model, edit: visual.AddVariable) -> None:
    here = _here(model, edit)
    parameters = [said.split()[-1] for said in here.says.get("parameter", [])]
    if edit.name in here.variables or edit.name in parameters:
        raise RefusedError
    here.variables[edit.name] = f"{edit.access} analog {edit.type}"
    if here.kind == "agent":
        for part, (_, definition, _) in here.parts.items():
            words = model[definition].variables.get(edit.name, "private")
            renamed = any(p == part and own == edit.name for p, own, _ in here.shares)
            if not words.startswith("private") and not renamed:
                here.shares.add((part, edit.name, edit.name))
    for other in model.values():
        for part, (_, definition, _) in other.parts.items():
            is_shared = definition == edit.path[0] and edit.access != "private"
            if other.kind == "agent" and is_shared and edit.name in other.variables:
                other.shares.add((part, edit.name, edit.name))


def _point(model: Model, edit: visual.AddEntry | visual.AddExit) -> Shown:
    here = _here(model, edit)
    if here.kind != "mode":
        raise RefusedError
    _taken(here, edit.name)
    return here


def _addentry(model: Model, edit: visual.AddEntry) -> None:
    _point(model, edit).entries.append(edit.name)


def _addexit(model: Model, edit: visual.AddExit) -> None:
    _point(model, edit).exits.append(edit.name)


def _connect(model: Model, edit: visual.Connect) -> None:
    here = _here(model, edit)
    if here.kind != "mode":
        raise RefusedError
    source, _, source_point = edit.source.partition(".")
    target, _, target_point = edit.target.partition(".")
    if source not in (*here.parts, *here.entries, "init"):
        raise RefusedError
    if target not in (*here.parts, *here.exits):
        raise RefusedError
    group = max((a.group for a in here.arrows), default=-1) + 1
    reset = tuple(s.strip() for s in edit.reset.split(";") if s.strip())
    here.arrows.append(
        Arrow(
            source,
            target,
            source_point,
            target_point,
            edit.label or None,
            edit.guard,
            reset,
            edit.urgent,
            group,
        )
    )


def _arrow(here: Shown, identity: str) -> Arrow:
    plain, _, number = identity.partition("~")
    return [a for a in here.arrows if a.key == plain][int(number or 1) - 1]


def _group(model: Model, edit: visual.SetGuard) -> list[Arrow]:
    here = _here(model, edit)
    chosen = _arrow(here, edit.edge)
    return [a for a in here.arrows if a.group == chosen.group]


def _disconnect(model: Model, edit: visual.Disconnect) -> None:
    here = _here(model, edit)
    here.arrows.remove(_arrow(here, edit.edge))


def _setguard(model: Model, edit: visual.SetGuard) -> None:
    for arrow in _group(model, edit):
        arrow.guard = edit.text


def _setreset(model: Model, edit: visual.SetReset) -> None:
    for arrow in _group(model, edit):
        arrow.reset = tuple(s.strip() for s in edit.text.split(";") if s.strip())


def _setlabel(model: Model, edit: visual.SetLabel) -> None:
    for arrow in _group(model, edit):
        arrow.label = edit.label or None


def _seturgent(model: Model, edit: visual.SetUrgent) -> None:
    for arrow in _group(model, edit):
        arrow.urgent = edit.urgent


def _reconnect(model: Model, edit: visual.Reconnect) -> None:
    here = _here(model, edit)
    chosen = _arrow(here, edit.edge)
    group = [a for a in here.arrows if a.group == chosen.group]
    if edit.source:
        if edit.source not in (*here.parts, *here.entries, "init"):
            raise RefusedError
        plain = (edit.source, "")
        same = [a for a in group if (a.source, a.source_point) == plain and a is not chosen]
        if same:
            raise RefusedError
        chosen.source, chosen.source_point = plain
    if edit.target:
        if edit.target not in (*here.parts, *here.exits):
            raise RefusedError
        for arrow in group:
            arrow.target, arrow.target_point = edit.target, ""


def _said(model: Model, edit: visual.SetFlow, kind: str, around: str) -> None:
    here = _here(model, edit)
    if here.kind != around:
        raise RefusedError
    found = [s.strip() for s in edit.text.split(";") if s.strip()]
    here.says.pop(kind, None)
    if found:
        here.says[kind] = found


def _setflow(model: Model, edit: visual.SetFlow) -> None:
    _said(model, edit, "flow", "mode")


def _setequation(model: Model, edit: visual.SetEquation) -> None:
    _said(model, edit, "equation", "mode")


def _setinvariant(model: Model, edit: visual.SetInvariant) -> None:
    _said(model, edit, "invariant", "mode")


def _setinit(model: Model, edit: visual.SetInit) -> None:
    _said(model, edit, "init", "agent")


def _rename(model: Model, edit: visual.Rename) -> None:
    kind, _, name = edit.node.partition(":")
    if edit.name == name:
        return
    if not edit.path:
        if edit.name in model:
            raise RefusedError
        found = {edit.name if n == name and d.kind == kind else n: d for n, d in model.items()}
        model.clear()
        model.update(found)
        for one in model.values():
            for part, (sort, definition, values) in one.parts.items():
                if (sort, definition) == (kind, name):
                    one.parts[part] = (sort, edit.name, values)
        return
    here = _here(model, edit)
    _taken(here, edit.name)
    if kind in ("agent", "mode"):
        here.parts = {edit.name if n == name else n: p for n, p in here.parts.items()}
        here.shares = {(edit.name if p == name else p, o, v) for p, o, v in here.shares}
    else:
        names = here.entries if kind == "entry" else here.exits
        names[names.index(name)] = edit.name
        for other in model.values():
            for arrow in other.arrows:
                source = other.parts.get(arrow.source, ("", "", ""))[1]
                target = other.parts.get(arrow.target, ("", "", ""))[1]
                if (source, arrow.source_point) == (edit.path[0], name):
                    arrow.source_point = edit.name
                if (target, arrow.target_point) == (edit.path[0], name):
                    arrow.target_point = edit.name
    for arrow in here.arrows:
        arrow.source = edit.name if arrow.source == name else arrow.source
        arrow.target = edit.name if arrow.target == name else arrow.target


def _delete(model: Model, edit: visual.Delete) -> None:
    kind, _, name = edit.node.partition(":")
    if not edit.path:
        if any((kind, name) == (k, d) for o in model.values() for k, d, _ in o.parts.values()):
            raise RefusedError
        del model[name]
        return
    here = _here(model, edit)
    if kind in ("agent", "mode"):
        definition = here.parts.pop(name)[1]
        here.shares = {s for s in here.shares if s[0] != name}
        if edit.definition:
            if any(definition == d for o in model.values() for _, d, _ in o.parts.values()):
                raise RefusedError
            del model[definition]
    elif kind in ("entry", "exit"):
        for other in model.values():
            for a in other.arrows:
                ends = ((a.source, a.source_point), (a.target, a.target_point))
                for part, point in ends:
                    if other.parts.get(part, ("", "", ""))[1] == edit.path[0] and point == name:
                        raise RefusedError
        (here.entries if kind == "entry" else here.exits).remove(name)
    here.arrows = [a for a in here.arrows if name not in (a.source, a.target)]


def plain(model: Model) -> dict[str, object]:
    """A model in a form that does not tell in which order things were written."""
    found: dict[str, object] = {}
    for name, one in model.items():
        groups: dict[int, list[str]] = {}
        for a in one.arrows:
            said = f"{a.key} [{a.guard}] {a.reset} {a.urgent}"
            groups.setdefault(a.group, []).append(said)
        found[name] = (
            one.kind,
            one.parts,
            sorted(one.entries),
            sorted(one.exits),
            one.variables,
            sorted(map(sorted, groups.values())),
            {kind: list(said) for kind, said in one.says.items()},
            sorted(one.shares),
        )
    return found
