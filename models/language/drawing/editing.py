"""From a visual edit to the small edits of the text that do it.

`edits` is a pure function of the project and the edit. What cannot be done raises a `ModelError`
that says why, with the place in the text or in what was typed. An edit of something that several
parts are examples of changes the definition, and so all of them; `Node.uses` tells beforehand.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from functools import singledispatch
from itertools import pairwise

from workbench.models.agents.hierarchy import Access
from workbench.models.language import syntax
from workbench.models.language.drawing import visual_edits as visual
from workbench.models.language.drawing.changes import (
    Change,
    comments_above,
    listed_away,
    removed_definition,
    rewritten,
)
from workbench.models.language.drawing.diagram import (
    INIT,
    Diagram,
    Edge,
    Node,
    actions_block,
    after_target,
    diagram,
    edge_name,
    guard_region,
    point_text,
    points,
    spoken,
    transitions,
)
from workbench.models.language.drawing.fragments import (
    arguments,
    declaration,
    expression,
    new_name,
    refusal,
    statements,
)
from workbench.models.language.drawing.needs import (
    assigned,
    declare_mentioned,
    declared_regions,
    mentioned,
    shared_names,
    type_text,
    variable,
)
from workbench.models.language.drawing.sources import (
    Block,
    Definition,
    Path,
    Region,
    Sources,
    SourceText,
    block,
    instances,
    keyword,
)
from workbench.models.language.drawing.worksheet import Item, Worksheet
from workbench.models.language.editor.project import Project
from workbench.models.language.editor.renaming import RenamingError, renamed
from workbench.models.language.findings import did_you_mean, listed
from workbench.models.language.format import on_one_line
from workbench.models.source import Edit, ModelError, Span


def edits(
    project: Project, edit: visual.VisualEdit, importers: Iterable[Project] = ()
) -> tuple[Edit, ...]:
    """The edits of the project's texts that do a visual edit, at most one at each place; other
    names reach `importers` too, which import some of the texts. A text with syntax errors cannot
    be edited so: these come first."""
    texts = {text.name: text.text for text in project.texts}
    broken = [d for text in project.texts for d in text.diagnostics]
    if broken:
        raise ModelError(*broken, sources=texts)
    sheet = Worksheet(Sources(project))
    try:
        if isinstance(edit, visual.Rename):
            return _rename(sheet, edit, importers)
        _do(edit, sheet)
        return sheet.edits()
    except ModelError as problem:
        raise ModelError(*problem.diagnostics, sources=texts | problem.sources) from None


@singledispatch
def _do(edit: object, sheet: Worksheet) -> None:
    raise TypeError(f"no visual edit: {edit!r}")


# Looking up


def _level(sheet: Worksheet, path: Path, wanted: str = "") -> Definition:
    """The definition that a path leads to, an agent or a mode where one is wanted."""
    here = sheet.sources.walk(path)[-1]
    if wanted and keyword(here) != wanted:
        raise refusal(
            "wrong-level",
            f"`{here.name.name}` is an {keyword(here)}, not a {wanted}"
            if wanted == "mode"
            else f"`{here.name.name}` is a {keyword(here)}, not an {wanted}",
            sheet.text(here).place(here.name.span),
        )
    return here


def _named(sheet: Worksheet, definition: Definition) -> Span:
    """The place of a definition's name."""
    return sheet.text(definition).place(definition.name.span)


def _node(shown: Diagram, identity: str) -> Node:
    node = shown.node(identity)
    if node is None or node.span is None:
        known = [n.id for n in shown.nodes]
        raise refusal(
            "no-such-part", f"there is no `{identity}` here", None, did_you_mean(identity, known)
        )
    return node


def _instance(sheet: Worksheet, definition: Definition, node: Node) -> syntax.InstanceDeclaration:
    place = sheet.text(definition).place
    return next(i for i in instances(definition) if place(i.span) == node.span)


def _transition(
    sheet: Worksheet, path: Path, identity: str
) -> tuple[Definition, syntax.TransitionBlock, Edge]:
    """The transition that an edge is drawn for."""
    here = _level(sheet, path)
    shown = diagram(sheet.sources, path)
    edge = shown.edge(identity)
    if edge is None or edge.kind != "transition":
        known = [e.id for e in shown.edges if e.kind == "transition"]
        hint = did_you_mean(identity, known)
        raise refusal("no-such-part", f"there is no transition `{identity}` here", None, hint)
    place = sheet.text(here).place
    found = next(t for t in transitions(here) if place(t.span) == edge.span)
    return here, found, edge


def _source_of(transition: syntax.TransitionBlock, edge: Edge) -> int:
    """Which of a transition's sources an edge comes from."""
    plain = edge.id.partition("~")[0]
    names = [edge_name(source, transition) for source in transition.sources]
    return names.index(plain)


# Agents, modes and their parts


@_do.register
def _(edit: visual.AddAgent, sheet: Worksheet) -> None:
    _add_part(sheet, "agent", edit.path, edit.name, edit.definition, edit.arguments)


@_do.register
def _(edit: visual.AddMode, sheet: Worksheet) -> None:
    _add_part(sheet, "mode", edit.path, edit.name, edit.definition, edit.arguments)


def _add_part(
    sheet: Worksheet, sort: str, path: Path, name: str, definition: str, given: str
) -> None:
    new_name(name)
    sources = sheet.sources
    if not path:
        _free_definition(sheet, name)
        _append_definition(sheet, sort, name)
        return
    way = sources.walk(path)
    here = way[-1]
    _may_have(sheet, here, sort)
    _free_part(sheet, here, name)
    known: Mapping[str, Definition] = sources.agents if sort == "agent" else sources.modes
    if not definition:
        taken = {*sources.agents, *sources.modes}
        definition = _fresh_definition(taken, here, sort, name)
    inner = known.get(definition)
    values = arguments(given)
    if inner is None:
        _free_definition(sheet, new_name(definition))
        _insert_definition(sheet, here, sort, definition)
    else:
        _may_hold(sheet, here, inner)
        _enough(sheet, inner, values)
    sheet.add(here, syntax.InstanceDeclaration, f"{sort} {name} = {definition}({values});")


def _may_have(sheet: Worksheet, here: Definition, sort: str) -> None:
    """Whether such a part fits into a definition."""
    name = here.name.name
    if isinstance(here, syntax.ModeDefinition):
        if sort == "agent":
            raise refusal("wrong-level", f"`{name}` is a mode: agents are parts of agents")
        return
    inside = [i for i in instances(here) if i.keyword == "mode" or sort == "mode"]
    if inside:
        first = inside[0]
        what = (
            "a composed agent has no mode of its own"
            if first.keyword == "agent"
            else (
                "an agent has one top mode; add submodes inside it"
                if sort == "mode"
                else "an agent with a mode of its own has no parts"
            )
        )
        raise refusal(
            "wrong-level",
            f"`{name}` has the {first.keyword} `{first.name.name}`",
            sheet.text(here).place(first.name.span),
            what,
        )


def _free_part(sheet: Worksheet, here: Definition, name: str) -> None:
    """Refuse a name that a part or a control point already has."""
    entries, exits = points(here)
    for sort, names in (
        ("part", [i.name.name for i in instances(here)]),
        ("entry", entries),
        ("exit", exits),
    ):
        if name in names:
            raise refusal(
                "name-taken",
                f"`{here.name.name}` already has the {sort} `{name}`",
                _named(sheet, here),
            )


def _free_definition(sheet: Worksheet, name: str) -> None:
    known = sheet.sources.agents.get(name) or sheet.sources.modes.get(name)
    if known is not None:
        raise refusal(
            "name-taken", f"there is already the {keyword(known)} `{name}`", _named(sheet, known)
        )


def _fresh_definition(taken: Container[str], here: Definition, sort: str, name: str) -> str:
    """A name for the definition of a new part: `cruise` is one of `Cruise`, the mode of the agent
    `Room` one of `RoomTop`."""
    plain = name[:1].upper() + name[1:]
    if sort == "mode" and isinstance(here, syntax.AgentDefinition):
        plain = here.name.name + plain
    found, count = plain, 1
    while found in taken:
        count += 1
        found = f"{plain}{count}"
    return found


def _may_hold(sheet: Worksheet, here: Definition, inner: Definition) -> None:
    """Refuse a part that contains what it would be a part of."""
    queue, seen = [inner], {id(inner)}
    for one in queue:
        if one is here:
            raise refusal(
                "circular-parts",
                f"`{inner.name.name}` contains `{here.name.name}`",
                _named(sheet, inner),
                "a part cannot contain what it is a part of",
            )
        for instance in instances(one):
            next_one = sheet.sources.of(instance)
            if next_one is not None and id(next_one) not in seen:
                seen.add(id(next_one))
                queue.append(next_one)


def _enough(sheet: Worksheet, inner: Definition, values: str) -> None:
    """Refuse a part whose parameters get too few or too many values."""
    given = _count(values)
    least = sum(p.default is None for p in inner.parameters)
    if least <= given <= len(inner.parameters):
        return
    names = listed(p.name.name for p in inner.parameters) or "none"
    raise refusal(
        "argument-count",
        f"`{inner.name.name}` has the parameters {names}; {given} values are given",
        _named(sheet, inner),
    )


def _count(values: str) -> int:
    depth, commas = 0, 0
    for sign in values:
        depth += (sign in "([") - (sign in ")]")
        commas += sign == "," and depth == 0
    return commas + 1 if values else 0


def _insert_definition(sheet: Worksheet, before: Definition, sort: str, name: str) -> None:
    """A new, empty definition above another one and its comments."""
    text = sheet.text(before)
    start = text.region(before.span)[0]
    sources = sheet.sources
    ends = [sources.text(d).region(d.span)[1] for d in sources.everything(text.file)]
    above = [end for end in ends if end <= start]
    limit = max(above, default=0)
    at = comments_above(text, start, limit)
    if not above and at < start:
        at = start  # what the file begins with is about the file
    sheet.loose(text.file, [Change(at, at, f"{sort} {name}() {{ }}\n\n")])


def _append_definition(sheet: Worksheet, sort: str, name: str) -> None:
    """A new, empty definition at the end of the file."""
    text = sheet.sources.file(sheet.sources.files[0])
    end = len(text.text.rstrip())
    gap = "\n\n" if end else ""
    tail = "" if text.text[end:].strip(" \t\r") else "\n"
    sheet.loose(text.file, [Change(end, end, f"{gap}{sort} {name}() {{ }}{tail}")])


@_do.register
def _(edit: visual.SetArguments, sheet: Worksheet) -> None:
    here = _level(sheet, edit.path)
    node = _node(diagram(sheet.sources, edit.path), edit.node)
    instance = _instance_of(sheet, here, node)
    values = arguments(edit.text)
    inner = sheet.sources.of(instance)
    if inner is not None:
        _enough(sheet, inner, values)
    region = _arguments_region(sheet.text(here), instance)
    sheet.change(here, instance, region, values)


def _instance_of(sheet: Worksheet, here: Definition, node: Node) -> syntax.InstanceDeclaration:
    if node.kind not in ("agent", "mode"):
        raise refusal("no-such-part", f"`{node.title}` is no part", node.span)
    return _instance(sheet, here, node)


def _arguments_region(text: SourceText, instance: syntax.InstanceDeclaration) -> Region:
    """What stands between the parentheses of an instance."""
    words = text.tokens((text.region(instance.definition.span)[1], text.region(instance.span)[1]))
    depth = 0
    for word in words:
        depth += (word.text in ("(", "[")) - (word.text in (")", "]"))
        if depth == 0:
            return words[0].end, word.start
    raise AssertionError("a parsed instance has closed parentheses")


# Variables and control points


@_do.register
def _(edit: visual.AddVariable, sheet: Worksheet) -> None:
    here = _level(sheet, edit.path)
    new_name(edit.name)
    if variable(here, edit.name) or any(p.name.name == edit.name for p in here.parameters):
        raise refusal(
            "name-taken", f"`{here.name.name}` already has `{edit.name}`", _named(sheet, here)
        )
    kind = edit.kind or ("analog" if edit.type == "real" else "")
    words = f"{edit.access} {kind} {edit.type} {edit.name} {edit.initial}"
    sheet.add(here, syntax.VariableDeclaration, declaration(words) + ";")


@_do.register
def _(edit: visual.AddEntry, sheet: Worksheet) -> None:
    _add_point(sheet, edit.path, edit.name, is_entry=True)


@_do.register
def _(edit: visual.AddExit, sheet: Worksheet) -> None:
    _add_point(sheet, edit.path, edit.name, is_entry=False)


def _add_point(sheet: Worksheet, path: Path, name: str, *, is_entry: bool) -> None:
    here = _level(sheet, path, "mode")
    _free_part(sheet, here, new_name(name))
    blocks = [i for i in here.items if isinstance(i, syntax.Points) and i.is_entry == is_entry]
    if not blocks:
        sheet.add(here, syntax.Points, f"{'entry' if is_entry else 'exit'} {name};")
        return
    end = sheet.text(here).region(blocks[-1].names[-1].span)[1]
    sheet.change(here, blocks[-1], (end, end), f", {name}")


# Transitions


@_do.register
def _(edit: visual.Connect, sheet: Worksheet) -> None:
    way = sheet.sources.walk(edit.path)
    here = _level(sheet, edit.path, "mode")
    source = _point(sheet, here, edit.source, is_source=True)
    target = _point(sheet, here, edit.target, is_source=False)
    label = f"#{new_name(edit.label)} " if edit.label else ""
    guard = expression(edit.guard) if edit.guard.strip() else ""
    reset = statements(edit.reset, "do")
    _declare(sheet, way, [guard], reset)
    words = f"{'urgent ' if edit.urgent else ''}trans {label}from {source} to {target}"
    words += f" when {guard}" if guard else ""
    words += f" do {{ {_joined(reset)} }}" if reset else ";"
    sheet.add(here, syntax.TransitionBlock, words)


def _declare(sheet: Worksheet, way: Sequence[Definition], read: list[str], done: list[str]) -> None:
    declare_mentioned(sheet, way, mentioned([*read, *done]), assigned(done))


def _joined(found: Sequence[str]) -> str:
    return "".join(f"{one}; " for one in found).rstrip()


def _point(sheet: Worksheet, here: Definition, written: str, *, is_source: bool) -> str:
    """A control point as a transition writes it, if there is one."""
    entries, exits = points(here)
    name, _, inner = written.partition(".")
    parts = {i.name.name: i for i in instances(here)}
    if name in parts:
        if not inner or inner == "default":
            return written
        definition = sheet.sources.of(parts[name])
        own = points(definition)[1 if is_source else 0] if definition is not None else (inner,)
        if inner in own:
            return written
        sort = "exit" if is_source else "entry"
        hint = did_you_mean(inner, own) or f"add the {sort} inside `{name}` first"
        raise refusal("no-such-part", f"`{name}` has no {sort} `{inner}`", None, hint)
    if not inner and is_source and (name in (INIT, "default") or name in entries):
        return written
    if not inner and not is_source and (name in exits or (name == "default" and not parts)):
        return written
    if name in entries or name in exits or name in (INIT, "default"):
        lead = "from an entry or a submode" if is_source else "to a submode or an exit"
        raise refusal(
            "wrong-point",
            f"no transition leads {'from' if is_source else 'to'} `{name}`",
            None,
            f"transitions lead {lead}",
        )
    known = [*parts, *(entries if is_source else exits)]
    near = did_you_mean(name, known)
    raise refusal(
        "no-such-part", f"`{here.name.name}` has no `{written}`", _named(sheet, here), near
    )


@_do.register
def _(edit: visual.Reconnect, sheet: Worksheet) -> None:
    here, found, edge = _transition(sheet, edit.path, edit.edge)
    text = sheet.text(here)
    if edit.source:
        written = _point(sheet, here, edit.source, is_source=True)
        old = found.sources[_source_of(found, edge)]
        if written in map(point_text, found.sources) and written != point_text(old):
            raise refusal(
                "name-taken",
                f"this transition already leads from `{written}`",
                text.place(found.span),
            )
        sheet.change(here, found, text.region(old.span), written)
    if edit.target:
        written = _point(sheet, here, edit.target, is_source=False)
        sheet.change(here, found, text.region(found.target.span), written)


@_do.register
def _(edit: visual.SetLabel, sheet: Worksheet) -> None:
    here, found, _ = _transition(sheet, edit.path, edit.edge)
    text = sheet.text(here)
    words = text.tokens(text.region(found.span))
    at = next(i for i, word in enumerate(words) if word.text == "trans")
    label = f"#{new_name(edit.label)}" if edit.label else ""
    after = words[at + 1]
    if after.text.startswith("#"):
        end = after.end if label else words[at + 2].start
        sheet.change(here, found, (after.start, end), label)
    elif label:
        sheet.change(here, found, (words[at].end, words[at].end), f" {label}")


@_do.register
def _(edit: visual.SetUrgent, sheet: Worksheet) -> None:
    here, found, _ = _transition(sheet, edit.path, edit.edge)
    if found.urgent == edit.urgent:
        return
    text = sheet.text(here)
    words = text.tokens(text.region(found.span))
    if edit.urgent:
        sheet.change(here, found, (words[0].start, words[0].start), "urgent ")
        return
    for word, following in pairwise(words):
        if word.text == "urgent":
            sheet.change(here, found, (word.start, following.start), "")
        if following.text == "trans":
            break


@_do.register
def _(edit: visual.SetGuard, sheet: Worksheet) -> None:
    here, found, _ = _transition(sheet, edit.path, edit.edge)
    text = sheet.text(here)
    guard = expression(edit.text) if edit.text.strip() else ""
    _declare(sheet, sheet.sources.walk(edit.path), [guard], [])
    old = guard_region(text, found)
    if old is None:
        at = after_target(text, found)[0]
        if guard:
            sheet.change(here, found, (at, at), f" when {guard}")
    elif guard:
        if guard != spoken(text, found)[0]:
            sheet.change(here, found, old, guard)
    else:
        sheet.change(here, found, (after_target(text, found)[0], old[1]), "")


@_do.register
def _(edit: visual.SetReset, sheet: Worksheet) -> None:
    here, found, _ = _transition(sheet, edit.path, edit.edge)
    fresh = statements(edit.text, "do")
    _declare(sheet, sheet.sources.walk(edit.path), [], fresh)
    text = sheet.text(here)
    done = actions_block(text, found)
    if done is None:
        if fresh:
            end = text.region(found.span)[1]
            item_end = sheet.region(here, found)[1]
            sheet.change(here, found, (end, item_end), f" do {{ {_joined(fresh)} }}")
        return
    if fresh:
        _set_statements(sheet, here, found, done, fresh)
        return
    start = text.tokens((after_target(text, found)[0], done.keyword))
    end = start[-1].end if start else after_target(text, found)[0]
    sheet.change(here, found, (end, done.braces[1]), "" if _ended(text, done.braces[1]) else ";")


def _ended(text: SourceText, at: int) -> bool:
    return text.text[at:].lstrip().startswith(";")


@_do.register
def _(edit: visual.Disconnect, sheet: Worksheet) -> None:
    shown = diagram(sheet.sources, edit.path)
    edge = shown.edge(edit.edge)
    if edge is not None and edge.kind == "share":
        _unshare(sheet, edit.path, edge)
        return
    here, found, edge = _transition(sheet, edit.path, edit.edge)
    _drop_sources(sheet, here, found, {_source_of(found, edge)})


def _drop_sources(
    sheet: Worksheet, here: Definition, found: syntax.TransitionBlock, gone: set[int]
) -> None:
    """A transition without some of its sources; without any it goes as a whole."""
    regions = [sheet.text(here).region(s.span) for s in found.sources]
    if len(gone) == len(regions):
        sheet.remove(here, found)
        return
    for region in listed_away(regions, gone):
        sheet.change(here, found, region, "")


# What modes and agents say


@_do.register
def _(edit: visual.SetInvariant, sheet: Worksheet) -> None:
    _set_blocks(sheet, edit.path, "mode", syntax.InvariantBlock, "inv", edit.text)


@_do.register
def _(edit: visual.SetFlow, sheet: Worksheet) -> None:
    _set_blocks(sheet, edit.path, "mode", syntax.Flows, "diff", edit.text)


@_do.register
def _(edit: visual.SetEquation, sheet: Worksheet) -> None:
    _set_blocks(sheet, edit.path, "mode", syntax.Algebra, "alge", edit.text)


@_do.register
def _(edit: visual.SetInit, sheet: Worksheet) -> None:
    _set_blocks(sheet, edit.path, "agent", syntax.InitBlock, "init", edit.text)


def _set_blocks(sheet: Worksheet, path: Path, sort: str, kind: type, word: str, given: str) -> None:
    """The statements of all blocks of a kind become the given ones."""
    here = _level(sheet, path, sort)
    text = sheet.text(here)
    fresh = statements(given, word)
    if sort == "mode":
        done = fresh if word != "inv" else []
        _declare(sheet, sheet.sources.walk(path), fresh, done)
    items: list[Item] = [item for item in here.items if isinstance(item, kind)]
    blocks = [found for item in items if (found := block(text, text.region(item.span)))]
    if not fresh:
        for item in items:
            sheet.remove(here, item)
    elif not items:
        inside = "; ".join(fresh) if word == "inv" else _joined(fresh)
        line = f"{word} {{ {inside} }}"
        if len(line) > 90 or (word != "inv" and len(fresh) > 2):
            line = f"{word} {{\n{_lines(fresh)}\n}}"
        sheet.add(here, kind, line)
    elif len(items) == 1:
        _set_statements(sheet, here, items[0], blocks[0], fresh)
    else:
        _set_several(sheet, here, items, fresh)


def _lines(found: Sequence[str]) -> str:
    return "\n".join(f"{one};" for one in found)


def _set_several(
    sheet: Worksheet, here: Definition, items: Sequence[Item], fresh: Sequence[str]
) -> None:
    """The statements of several blocks: each keeps those it has, new ones stand in the last."""
    text = sheet.text(here)
    left = list(fresh)
    for item in items:
        found = block(text, text.region(item.span))
        assert found is not None
        own = [on_one_line(text.tokens(s)) for s in found.statements]
        kept = []
        for one in own:
            if one in left:
                left.remove(one)
                kept.append(one)
        wanted = [*kept, *left] if item is items[-1] else kept
        if wanted:
            _set_statements(sheet, here, item, found, wanted)
        else:
            sheet.remove(here, item)


def _set_statements(
    sheet: Worksheet, here: Definition, item: Item, found: Block, fresh: Sequence[str]
) -> None:
    """The statements of a block become others; those that stay keep their comments and layout."""
    text = sheet.text(here)
    inside = found.braces[0] + 1, found.braces[1] - 1
    sheet.change(here, item, inside, rewritten(text, found, fresh))


# Shared variables


@_do.register
def _(edit: visual.Share, sheet: Worksheet) -> None:
    here = _level(sheet, edit.path)
    node = _node(diagram(sheet.sources, edit.path), edit.part)
    instance = _instance_of(sheet, here, node)
    inner = sheet.sources.of(instance)
    around = variable(here, edit.variable)
    if around is None:
        known = [
            d.name.name
            for i in here.items
            if isinstance(i, syntax.VariableDeclaration)
            for d in i.names
        ]
        raise refusal(
            "no-such-part",
            f"`{here.name.name}` has no variable `{edit.variable}`",
            _named(sheet, here),
            did_you_mean(edit.variable, known),
        )
    if inner is not None:
        _may_share(sheet, inner, edit, around[0])
    pairs = {own.name: (own, value) for own, value in instance.renaming}
    text = sheet.text(here)
    if edit.own in pairs:
        if edit.own == edit.variable:
            _cut_renaming(sheet, here, instance, edit.own)
            return
        value = pairs[edit.own][1]
        assert value.span is not None
        sheet.change(here, instance, text.region(value.span), edit.variable)
    elif edit.own != edit.variable:
        brackets = _brackets(text, instance)
        if brackets:
            left, right, _ = brackets[-1]
            sheet.change(here, instance, (left[-1][1], left[-1][1]), f", {edit.own}")
            sheet.change(here, instance, (right[-1][1], right[-1][1]), f", {edit.variable}")
        else:
            at = _arguments_region(text, instance)[1] + 1
            sheet.change(here, instance, (at, at), f" [ {edit.own} := {edit.variable} ]")


def _may_share(
    sheet: Worksheet, inner: Definition, edit: visual.Share, around: syntax.VariableDeclaration
) -> None:
    """Refuse what is private, and declare what the part does not have where that is asked for."""
    name = inner.name.name
    own = variable(inner, edit.own)
    if own is not None:
        if own[0].access is Access.PRIVATE:
            raise refusal(
                "private-variable",
                f"`{edit.own}` is private in `{name}`",
                sheet.text(inner).place(own[1].name.span),
                "declare it `read` or `write` there",
            )
        return
    if not edit.access:
        raise refusal(
            "no-such-part",
            f"`{name}` has no variable `{edit.own}`",
            _named(sheet, inner),
            did_you_mean(edit.own, shared_names(inner)) or "say whether it reads or writes it",
        )
    new_name(edit.own)
    kind = f"{around.kind} " if around.kind is not None else ""
    words = f"{edit.access} {kind}{type_text(around.type)} {edit.own}"
    sheet.add(inner, syntax.VariableDeclaration, declaration(words) + ";")


def _brackets(
    text: SourceText, instance: syntax.InstanceDeclaration
) -> list[tuple[list[Region], list[Region], Region]]:
    """The renamings of an instance: the places left and right of each `:=`, and of the brackets."""
    start = _arguments_region(text, instance)[1] + 1
    found: list[tuple[list[Region], list[Region], Region]] = []
    sides: tuple[list[Region], list[Region]] = ([], [])
    depth, side, begin, last, opening = 0, 0, -1, -1, -1
    for word in text.tokens((start, text.region(instance.span)[1])):
        if word.text == "[" and depth == 0:
            sides, side, begin, opening = ([], []), 0, -1, word.start
        if depth == 1 and word.text in (",", ":=", "]"):
            sides[side].append((begin, last))
            begin = -1
            side = 1 if word.text == ":=" else side
        elif depth >= 1:
            begin = word.start if begin < 0 else begin
        last = word.end
        depth += (word.text in ("[", "(")) - (word.text in ("]", ")"))
        if word.text == "]" and depth == 0:
            found.append((*sides, (opening, word.end)))
    return found


def _cut_renaming(
    sheet: Worksheet, here: Definition, instance: syntax.InstanceDeclaration, own: str
) -> None:
    text = sheet.text(here)
    for left, right, (start, end) in _brackets(text, instance):
        names = [text.text[a:b] for a, b in left]
        if own not in names:
            continue
        if len(names) == 1:
            gap = text.text[:start]
            sheet.change(here, instance, (len(gap.rstrip()), end), "")
            return
        for regions in (left, right):
            for region in listed_away(regions, {names.index(own)}):
                sheet.change(here, instance, region, "")


def _unshare(sheet: Worksheet, path: Path, edge: Edge) -> None:
    here = _level(sheet, path)
    part, _, own = edge.id.removeprefix("share:").partition("~")[0].partition(".")
    instance = next(i for i in instances(here) if i.name.name == part)
    if all(left.name != own for left, _ in instance.renaming):
        raise refusal(
            "shared-by-name",
            f"`{part}` shares `{own}` because both have that name",
            edge.span,
            "rename one of the two, or connect it with another variable",
        )
    _cut_renaming(sheet, here, instance, own)


# Deleting


@_do.register
def _(edit: visual.Delete, sheet: Worksheet) -> None:
    sources = sheet.sources
    node = _node(diagram(sources, edit.path), edit.node)
    if not edit.path:
        known = sources.agents if node.kind == "agent" else sources.modes
        _delete_definition(sheet, known[node.reference], leaving=0)
        return
    here = sources.walk(edit.path)[-1]
    match node.kind:
        case "agent" | "mode":
            _delete_part(sheet, here, _instance(sheet, here, node), edit.definition)
        case "entry" | "exit":
            _delete_point(sheet, here, node)
        case "variable":
            _delete_variable(sheet, here, node.reference)
        case _:
            raise refusal(
                "no-such-part",
                f"`{node.title}` cannot be deleted",
                node.span,
                "delete the transitions that name it",
            )


def _delete_part(
    sheet: Worksheet, here: Definition, instance: syntax.InstanceDeclaration, with_definition: bool
) -> None:
    name = instance.name.name
    if isinstance(here, syntax.AgentDefinition):
        _refuse_mentions(sheet, here, name, instance)
    _drop_transitions(sheet, here, name)
    sheet.remove(here, instance)
    inner = sheet.sources.of(instance)
    if with_definition and inner is not None:
        _delete_definition(sheet, inner, leaving=1)


def _drop_transitions(sheet: Worksheet, here: Definition, name: str) -> None:
    """The transitions from and to a part or a control point go with it."""
    for transition in transitions(here):
        gone = {i for i, source in enumerate(transition.sources) if source.first == name}
        if transition.target.first == name:
            gone = set(range(len(transition.sources)))
        if gone:
            _drop_sources(sheet, here, transition, gone)


def _refuse_mentions(sheet: Worksheet, here: Definition, name: str, but: Item) -> None:
    """Refuse to delete what something else in the definition speaks of."""
    text = sheet.text(here)
    own = sheet.region(here, but)
    for item in here.items:
        start, end = sheet.region(here, item)
        if (start, end) == own:
            continue
        for word in text.tokens((start, end)):
            if word.text == name:
                raise refusal(
                    "still-used",
                    f"`{name}` is still used",
                    text.span((word.start, word.end)),
                    "delete or change that first",
                )


def _delete_point(sheet: Worksheet, here: Definition, node: Node) -> None:
    name = node.reference
    for around, instance in sheet.sources.uses_of(here):
        part = instance.name.name
        for transition in transitions(around):
            for point in (*transition.sources, transition.target):
                if point.first == part and point.second == name:
                    raise refusal(
                        "still-used",
                        f"`{part}.{name}` is still used",
                        sheet.text(around).place(point.span),
                        "delete or change that transition first",
                    )
    _drop_transitions(sheet, here, name)
    text = sheet.text(here)
    for item in here.items:
        if isinstance(item, syntax.Points) and any(
            text.place(n.span) == node.span for n in item.names
        ):
            if len(item.names) == 1:
                sheet.remove(here, item)
                return
            number = next(i for i, n in enumerate(item.names) if text.place(n.span) == node.span)
            regions = [text.region(n.span) for n in item.names]
            for region in listed_away(regions, {number}):
                sheet.change(here, item, region, "")


def _delete_variable(sheet: Worksheet, here: Definition, name: str) -> None:
    sources = sheet.sources
    found = variable(here, name)
    assert found is not None
    item, declared = found
    for instance in instances(here):
        inner = sources.of(instance)
        said = {own.name for own, _ in instance.renaming}
        if inner is not None and name in shared_names(inner) and name not in said:
            raise refusal(
                "still-used",
                f"`{instance.name.name}` shares `{name}`",
                sheet.text(here).place(instance.name.span),
                "connect it with another variable first",
            )
    for around, instance in sources.uses_of(here):
        for own, _ in instance.renaming:
            if own.name == name:
                raise refusal(
                    "still-used",
                    f"`{instance.name.name}` renames `{name}`",
                    sheet.text(around).place(own.span),
                    "disconnect it there first",
                )
    text = sheet.text(here)
    regions = declared_regions(text, item)
    number = item.names.index(declared)
    others: list[Region] = [r for i, r in enumerate(regions) if i != number]
    own_renamings = [text.region(own.span) for i in instances(here) for own, _ in i.renaming]
    for other in here.items:
        whole = sheet.region(here, other)
        for word in text.tokens(whole):
            inside = word.start, word.end
            if word.text != name or regions[number][0] <= word.start < regions[number][1]:
                continue
            if inside in own_renamings or _names_no_value(text, other, inside):
                continue
            raise refusal(
                "still-used",
                f"`{name}` is still used",
                text.span(inside),
                "delete or change that first",
            )
    if not others:
        sheet.remove(here, item)
        return
    for region in listed_away(regions, {number}):
        sheet.change(here, item, region, "")


def _names_no_value(text: SourceText, item: Item, region: Region) -> bool:
    """Whether a word in an item is a name of something else: of a part or a point."""
    if isinstance(item, syntax.Points):
        return True
    if isinstance(item, syntax.InstanceDeclaration):
        return region in (text.region(item.name.span), text.region(item.definition.span))
    if isinstance(item, syntax.TransitionBlock):
        return region[1] <= after_target(text, item)[0]
    before = text.text[: region[0]].rstrip()
    return before.endswith(".")


def _delete_definition(sheet: Worksheet, definition: Definition, leaving: int) -> None:
    """A definition goes, if at most `leaving` parts, which go as well, are examples of it."""
    sources = sheet.sources
    uses = sources.uses_of(definition)
    name = definition.name.name
    if len(uses) > leaving:
        parts = listed(f"{around.name.name}.{part.name.name}" for around, part in uses)
        raise refusal(
            "still-used",
            f"{keyword(definition)} `{name}` is used by {parts}",
            sheet.text(uses[-1][0]).place(uses[-1][1].name.span),
            "delete these first",
        )
    system = sources.system
    if system is not None and keyword(definition) == "agent" and system.agent.name == name:
        raise refusal(
            "still-used",
            f"`{name}` is the whole model",
            sources.text(system).place(system.span),
            "change `system` first",
        )
    text = sheet.text(definition)
    sheet.loose(text.file, removed_definition(text, text.region(definition.span)))


# Renaming


def _rename(
    sheet: Worksheet, edit: visual.Rename, importers: Iterable[Project]
) -> tuple[Edit, ...]:
    sources = sheet.sources
    node = _node(diagram(sources, edit.path), edit.node)
    new_name(edit.name)
    if not edit.path and edit.name != node.reference:
        _free_definition(sheet, edit.name)
    span = node.name_span
    if span is None:
        raise refusal("no-such-part", f"`{node.title}` is not declared", node.span)
    texts = sources.project.texts
    home = next(text for text in texts if text.name == span.file)
    project = Project((home, *(text for text in texts if text is not home)))
    try:
        return renamed(project, (span.line, span.column), edit.name, importers)
    except RenamingError as problem:
        raise refusal("name-taken", str(problem), span) from None
