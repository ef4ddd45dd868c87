"""What can be written at a place: the words and signs that the grammar reads next, and the names
that fit there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from workbench.models.automaton import TIME
from workbench.models.language import syntax
from workbench.models.language.editor.names import PART, Symbol
from workbench.models.language.editor.pieces import around
from workbench.models.language.editor.places import Place, offset_at, starts
from workbench.models.language.editor.project import Found, Project
from workbench.models.language.editor.text import Placed
from workbench.models.language.editor.words import declared_as, functions
from workbench.models.language.expected import IN_WORDS, acceptable, spelling
from workbench.models.language.grammar import grammar
from workbench.models.language.lexical import LABEL, NAME, NUMBER, STRING
from workbench.models.language.parse import open_states
from workbench.models.record import record
from workbench.models.source import ModelError


@record
class Suggestion:
    """Something that can be written at a place: the text to insert (`$1` and `${1:word}` are gaps
    to fill in, if it is a `template`), how to show it, what sort of thing it is, and more words
    about it; and whether it comes behind the word that ends there instead of continuing it."""

    text: str
    label: str
    kind: str
    detail: str = ""
    is_behind: bool = False

    @property
    def plain(self) -> str:
        """The text to insert, its gaps filled with the words that stand there."""
        return plain(self.text) if self.kind == "template" else self.text


TEMPLATES = {
    "DIFF": "diff { d(${1:x}) == ${2:0}; }",
    "ALGE": "alge { ${1:y} == ${2:0}; }",
    "INV": "inv { ${1:x >= 0} }",
    "TRANS": "trans from ${1:a} to ${2:b} when ${3:true} do { $4 }",
    "INIT": "init { ${1:x} = ${2:0}; }",
    "ASSERT": 'assert "${1:name}" { ${2:x >= 0} }',
    "FORBID": 'forbid "${1:name}" { ${2:x < 0} }',
    "INTERACTION": "interaction ${1:name} between ${2:a}, ${3:b} in ${4:group} when ${5:true} do "
    "{ $6 }",
    "SYSTEM": "system ${1:Name}() until ${2:10};",
    "CONST": "const real ${1:k} = ${2:1};",
    "TABLE": "table ${1:f}(real ${2:x}) linear { ${3:0: 0, 1: 1} }",
}
"""What the blocks of the language look like, by the word that they begin with."""
DEFINITIONS = {
    "AGENT": "agent ${1:Name}($2) {\n  $0\n}",
    "MODE": "mode ${1:Name}($2) {\n  $0\n}",
}
INSTANCES = {"AGENT": "agent ${1:name} = ${2:Name}($3);", "MODE": "mode ${1:name} = ${2:Name}($3);"}

_VALUES = frozenset({"variable", "parameter", "constant", "function", "table", "value"})


def plain(template: str) -> str:
    """A template as text, its gaps filled with the words that stand there."""
    return re.sub(r"\$\{\d+:([^}]*)\}|\$\d+", lambda m: m[1] or "", template)


def completions(project: Project, place: Place) -> tuple[Suggestion, ...]:
    """What can be written at a place; a word that ends there is being typed and may be continued,
    so only what begins with it is suggested."""
    before, word = _before(project, place)
    if _in_comment_or_text(before + word):
        return ()
    found = _readable(project, place, before, _next(before))
    fitting = (s for s in found if s.label.startswith(word) or s.text.startswith(word))
    return tuple(dict.fromkeys(fitting))


def expected(project: Project, place: Place) -> tuple[Suggestion, ...]:
    """All that can come at a place: what continues the word that ends there and, where that word is
    whole, what comes behind it; and, where something is to be written that nobody can know, what
    that is (of the kind `new`, without a text)."""
    before, word = _before(project, place)
    if _in_comment_or_text(before + word):
        return ()
    found = completions(project, place)
    kinds = _next(before)
    if not word:
        return (*_new(before, kinds), *found)
    longer = tuple(s for s in found if word not in (s.label, s.text))
    kind = _word_kind(word)
    if kind not in kinds or (kind == NAME and longer == found != ()):
        return found  # it is only the beginning of a word
    behind = _readable(project, place, before + word, _next(before + word))
    return longer + tuple(dict.fromkeys(replace(s, is_behind=True) for s in behind))


def _next(before: str) -> frozenset[str]:
    """The terminals that can be read behind a text."""
    try:
        return acceptable(grammar(), open_states(before))
    except ModelError:
        return frozenset()


def _readable(
    project: Project, place: Place, before: str, kinds: frozenset[str]
) -> list[Suggestion]:
    """What is spelled as one of some terminals behind a text."""
    member = _member(project, place, before, kinds)
    if member is not None:
        return list(member)
    return [*_names(project, place, before, kinds), *_fixed(kinds)]


def _word_kind(word: str) -> str:
    """The terminal that a word is read as."""
    if word[0].isdigit():
        return NUMBER
    return LABEL if word[0] == "#" else grammar().keywords.get(word, NAME)


def _is_new_name(before: str, kinds: frozenset[str]) -> bool:
    """Whether the name that comes next is one that is being given."""
    return NAME in kinds and not _wanted(before, kinds)


def _new(before: str, kinds: frozenset[str]) -> Iterator[Suggestion]:
    """In words, what can come next and is known to its author alone."""
    if _is_new_name(before, kinds):
        yield Suggestion("", "a new name", "new")
    for kind in (NUMBER, LABEL, STRING):
        if kind in kinds:
            yield Suggestion("", IN_WORDS[kind], "new")


_WORD = re.compile(
    r"(?:(?<![\w.])[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]*)?|#[A-Za-z_][A-Za-z_0-9]*|[A-Za-z_0-9]*)\Z"
)
"""A number, a label, a name or a part of one at the end of a text."""


def _before(project: Project, place: Place) -> tuple[str, str]:
    """The text up to a place as far as it matters there, and the word that is being typed."""
    placed = project.text.at(place)
    if placed is None:
        return "", ""
    head, _ = around(placed.piece.cut)
    text = head + placed.piece.text[: offset_at(placed.piece.text, placed.inside(place))]
    typed = _WORD.search(text)
    word = typed.group() if typed else ""
    return text[: len(text) - len(word)], word


def _in_comment_or_text(before: str) -> bool:
    line = re.sub(r'"[^"\n]*"|/\*.*?\*/', "", before[before.rfind("\n") + 1 :])
    return "//" in line or '"' in line or before.rfind("/*") > before.rfind("*/")


def _fixed(kinds: frozenset[str]) -> Iterator[Suggestion]:
    """Keywords, their templates and signs."""
    spelled = spelling()
    outside = "IMPORT" in kinds
    templates = TEMPLATES | (DEFINITIONS if outside else INSTANCES)
    for kind in sorted(kinds, key=lambda k: (not spelled.get(k, "").isalpha(), k)):
        text = spelled.get(kind)
        if text is None:
            continue
        if text.isalpha():
            yield Suggestion(text, text, "keyword")
            if kind in templates and kinds & {"RBRACE", "IMPORT"}:
                template = templates[kind]
                yield Suggestion(template, plain(template).split("\n")[0], "template")
        else:
            yield Suggestion(text, text, "sign")


def _names(
    project: Project, place: Place, before: str, kinds: frozenset[str]
) -> Iterator[Suggestion]:
    """The names that fit where a name can stand."""
    if NAME not in kinds:
        return
    wanted = _wanted(before, kinds)
    yield from (s for s in _in_statement(before) if s.kind in wanted)
    for found in _in_scope(project, place):
        declaration = found.declaration
        if declaration.sort in wanted:
            yield _suggested(found)
    if "function" in wanted:
        yield Suggestion(TIME, TIME, "variable", "real: the time since the start")
        for name, shown in functions().items():
            yield Suggestion(f"{name}(", name, "function", shown)


def _suggested(found: Found) -> Suggestion:
    name, sort = found.declaration.symbol.name, found.declaration.sort
    call = sort in ("function", "table", "agent", "mode")
    return Suggestion(f"{name}(" if call else name, name, sort, declared_as(found.declaration))


def _wanted(before: str, kinds: frozenset[str]) -> frozenset[str]:
    """The sorts of names that make sense behind a text."""
    end = before[-400:]
    if NUMBER in kinds:
        return _VALUES | {"index", "let", "partner", "agent instance"}
    instance = re.search(r"\b(agent|mode)\s+\w+(?:\s*\[[^\]]*\])?\s*=\s*\Z", end)
    if instance:
        return frozenset({instance.group(1)})
    if re.search(r"\bsystem\s+\Z", end):
        return frozenset({"agent"})
    if "DEFAULT" in kinds:
        return frozenset({"mode instance", "entry", "exit"})
    if re.search(r"\bbetween\b[^{};]*\bin\s+\Z", end):
        return frozenset({"agent instance"})
    if re.search(rf"\b({_NAMES})\s+\Z", end):
        return frozenset()  # a new name is being given
    return frozenset({"variable", "partner"})


_NAMES = "agent|mode|real|int|bool|analog|discrete|entry|exit|table|predicate|interaction"
"""The words behind which a name is given."""


def _in_scope(project: Project, place: Place) -> tuple[Found, ...]:
    """What the definition around a place and the files introduce, the nearest first; where a name
    is introduced on both levels, only the nearest."""
    found: dict[str, Found] = {}
    placed = project.text.at(place)
    if placed is not None:
        owner = _owner_at(placed, placed.inside(place))
        for known in project.members.get(owner, ()) if owner else ():
            found.setdefault(known.declaration.symbol.name, known)
    for known in project.members.get("", ()):
        found.setdefault(known.declaration.symbol.name, known)
    return tuple(found.values())


def _owner_at(placed: Placed, inside: Place) -> str:
    """The definition that a place of a piece is in, also where its end is missing."""
    piece = placed.piece
    depth = 1 if piece.cut.inside else 0
    for token in piece.tokens:
        if (token.line, token.column) >= inside:
            break
        depth += {"{": 1, "}": -1}.get(token.text, 0)
    if depth <= 0:
        return ""
    begun = [owner for span, owner in placed.names.owners if starts(span) <= inside]
    return begun[-1] if begun else piece.owner


_MEMBER = re.compile(r"((?:[A-Za-z_][A-Za-z_0-9]*\s*(?:\[[^\]\n]*\]\s*)?\.\s*)+)\Z")


def _member(
    project: Project, place: Place, before: str, kinds: frozenset[str]
) -> Iterator[Suggestion] | None:
    """The members of the part before a dot; None where there is no dot."""
    found = _MEMBER.search(re.sub(r"//.*", "", before[-1000:]))
    placed = project.text.at(place)
    if found is None or placed is None:
        return None
    links = [re.match(r"\w+", link.strip()) for link in found[1].split(".")[:-1]]
    owner = _owner_at(placed, placed.inside(place))
    groups = _partners(before)
    for link in links:
        owner = _entered(project, owner, link[0] if link else "", groups)
        groups = {}
    points = {"entry", "exit"}
    wanted = points if "DEFAULT" in kinds else {"variable", "agent instance"}
    return (_suggested(f) for f in project.members.get(owner, ()) if f.declaration.sort in wanted)


def _entered(project: Project, owner: str, name: str, groups: Mapping[str, str]) -> str:
    """The definition of a part of a definition, or of a partner of an interaction."""
    part = project.find(Symbol(PART, owner, groups.get(name, name)))
    node = part.declaration.node if part is not None else None
    if isinstance(node, syntax.InstanceDeclaration):
        return f"{node.keyword} {node.definition.name}"
    return "?"


_STATEMENT = re.compile(
    r"\b(?:interaction|trans|assert|forbid|assume|init|inv|diff|alge|predicate)\b"
)
_INDEX = re.compile(r"\b(?:forall|sum)\s+([A-Za-z_]\w*)\s+in\b")
_LET = re.compile(r"\blet\s+([A-Za-z_]\w*)\s*=")
_PAIR = re.compile(
    r"\bbetween\s+([A-Za-z_]\w*)\s*(?:in\s+([A-Za-z_]\w*)\s*)?,\s*([A-Za-z_]\w*)\s+in\s+([A-Za-z_]\w*)"
)


def _statement(before: str) -> str:
    """The text from the beginning of the statement that is being written."""
    begins = [match.start() for match in _STATEMENT.finditer(before, max(0, len(before) - 4000))]
    return before[begins[-1] :] if begins else ""


def _partners(before: str) -> dict[str, str]:
    """The partners of the interaction that is being written, and which agents they are of."""
    pair = _PAIR.search(_statement(before))
    if pair is None:
        return {}
    first, group, second, last = pair.groups()
    return {first: group or last, second: last}


def _in_statement(before: str) -> Iterator[Suggestion]:
    """The names that the statement which is being written has introduced so far."""
    statement = _statement(before)
    for name in reversed(_INDEX.findall(statement)):
        yield Suggestion(name, name, "index")
    for name in reversed(_LET.findall(statement)):
        yield Suggestion(name, name, "let")
    for name, group in _partners(before).items():
        yield Suggestion(name, name, "partner", f"{name} in {group}")
