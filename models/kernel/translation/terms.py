"""What Coq extracts, as terms: functions and types read from its JSON, simplified a little.

Every name that a definition binds is made different from all others in it, so that later steps
need not think about scopes. What is simplified keeps its meaning: numerals become numbers, choices
between truth values become `and`, `or` and `not`, and taking a field of a record becomes just that.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias


@dataclass(frozen=True)
class Name:
    """A local variable."""

    name: str


@dataclass(frozen=True)
class Global:
    """A definition."""

    name: str


@dataclass(frozen=True)
class Number:
    """A numeral of any of Coq's types of whole numbers."""

    value: int


@dataclass(frozen=True)
class Make:
    """A constructor with its arguments."""

    constructor: str
    args: tuple[Term, ...]


@dataclass(frozen=True)
class Apply:
    """A function with arguments, perhaps fewer or more than it is defined with."""

    function: Term
    args: tuple[Term, ...]


@dataclass(frozen=True)
class Lambda:
    """A function without a name."""

    params: tuple[str, ...]
    body: Term


@dataclass(frozen=True)
class Let:
    """A value with a name."""

    name: str
    value: Term
    body: Term


@dataclass(frozen=True)
class Branch:
    """What a value of this constructor (None: of any other) leads to; `names` are those of the
    constructor's fields that the body uses."""

    constructor: str | None
    names: tuple[str | None, ...]
    body: Term


@dataclass(frozen=True)
class Case:
    """A choice by constructor."""

    subject: Term
    branches: tuple[Branch, ...]


@dataclass(frozen=True)
class Field:
    """A field of a value of the only constructor of its type."""

    subject: Term
    constructor: str
    index: int


@dataclass(frozen=True)
class Logic:
    """`and`, `or` of several, or `not` of one; further ones are asked only if they matter."""

    word: str
    args: tuple[Term, ...]


Term: TypeAlias = Name | Global | Number | Make | Apply | Lambda | Let | Case | Field | Logic


@dataclass(frozen=True)
class Constructor:
    """A constructor, its type, how many that has, and fields, named as in Coq's patterns."""

    name: str
    type: str
    siblings: int
    types: tuple[Any, ...]
    fields: tuple[str, ...] = ()


@dataclass(frozen=True)
class Definition:
    """A function (with parameters) or a constant."""

    name: str
    params: tuple[str, ...]
    body: Term
    type: Any


@dataclass(frozen=True)
class Extracted:
    """Everything that was extracted, in its order."""

    definitions: Mapping[str, Definition]
    constructors: Mapping[str, Constructor]
    types: Mapping[str, tuple[str, ...]]
    """The constructors of each type."""
    parameters: Mapping[str, tuple[str, ...]]
    """The type parameters of each type and abbreviation."""
    abbreviations: Mapping[str, Any]


class UntranslatableError(Exception):
    """The extraction has something that this translator does not know."""


def read(module: Mapping[str, Any], reserved: frozenset[str]) -> Extracted:
    """The content of a file of Coq's JSON extraction. Local names keep clear of `reserved` ones."""
    declared = module["declarations"]
    found: dict[str, Any] = {}
    constructors: dict[str, Constructor] = {}
    types: dict[str, tuple[str, ...]] = {}
    parameters: dict[str, tuple[str, ...]] = {}
    abbreviations: dict[str, Any] = {}
    for d in declared:
        if d["what"] == "decl:ind":
            types[d["name"]] = tuple(c["name"] for c in d["constructors"])
            parameters[d["name"]] = tuple(d["argnames"])
            for c in d["constructors"]:
                made = Constructor(
                    c["name"], d["name"], len(d["constructors"]), tuple(c["argtypes"])
                )
                constructors[c["name"]] = made
        elif d["what"] == "decl:type":
            parameters[d["name"]] = tuple(d["argnames"])
            abbreviations[d["name"]] = d["value"]
        elif d["what"] in ("decl:term", "decl:fixgroup"):
            found |= {f["name"]: f for f in d.get("fixlist", [d])}
        else:
            raise UntranslatableError(f"a declaration {d['what']}")
    for name, fields in _field_names(declared, constructors).items():
        constructors[name] = Constructor(**{**vars(constructors[name]), "fields": fields})
    reserved = reserved | frozenset(map(plain, found))
    definitions = {}
    for name, raw in found.items():
        reader = _Reader(constructors, set(reserved))
        definitions[name] = reader.definition(name, raw)
    return Extracted(definitions, constructors, types, parameters, abbreviations)


def plain(name: str) -> str:
    """A name of Coq's as one that Python and JavaScript take."""
    return re.sub(r"\W", "_", name)


def _field_names(
    declared: list[Any], constructors: Mapping[str, Constructor]
) -> dict[str, tuple[str, ...]]:
    """How patterns call the fields of each constructor: the projections of a record have the
    names that its declaration gives, of others the first pattern decides."""
    said: dict[str, list[tuple[str, ...]]] = {name: [] for name in constructors}
    sure: dict[tuple[str, int], str] = {}
    for node in _nodes(declared):
        pattern = node.get("pat", {})
        if pattern.get("what") == "pat:constructor":
            names = tuple(pattern["argnames"])
            said[pattern["name"]].append(names)
            body = node["body"]
            projects = body["what"] == "expr:rel" and body["name"] in names
            if projects and constructors[pattern["name"]].siblings == 1:
                sure.setdefault((pattern["name"], names.index(body["name"])), body["name"])
    result = {}
    for name, made in constructors.items():
        chosen = []
        for i in range(len(made.types)):
            options = [names[i] for names in said[name] if names[i] != "_"]
            if made.type == "option":
                options = ["value"]
            known = sure.get((name, i)) or re.sub(r"\W|\d+$", "", (options or [""])[0])
            chosen.append(known if known and known not in chosen else f"field{i + 1}")
        result[name] = tuple(chosen)
    return result


def _nodes(raw: Any) -> Iterator[dict[str, Any]]:
    pending = [raw]
    while pending:
        node = pending.pop()
        if isinstance(node, dict):
            yield node
            pending.extend(reversed(node.values()))
        elif isinstance(node, list):
            pending.extend(reversed(node))


# Reading terms


@dataclass
class _Reader:
    """Reads one definition; `used` are the names that are taken."""

    constructors: Mapping[str, Constructor]
    used: set[str] = field(default_factory=set)

    def definition(self, name: str, raw: Mapping[str, Any]) -> Definition:
        value = raw["value"]
        params: tuple[str, ...] = ()
        body, scope = value, dict[str, str]()
        if value["what"] == "expr:lambda":
            params, scope = self.bound(value["argnames"], {})
            body = value["body"]
        return Definition(name, params, self.term(body, scope), raw["type"])

    def bound(
        self, names: list[str], scope: Mapping[str, str]
    ) -> tuple[tuple[str, ...], dict[str, str]]:
        fresh = tuple(self.fresh(name) for name in names)
        return fresh, {**scope, **dict(zip(names, fresh, strict=True))}

    def fresh(self, name: str) -> str:
        base, number = plain(name).strip("_") or "unused", 0
        chosen = base
        while chosen in self.used:
            number += 1
            chosen = f"{base.rstrip('0123456789')}{number}"
        self.used.add(chosen)
        return chosen

    def term(self, raw: Mapping[str, Any], scope: Mapping[str, str]) -> Term:
        what = raw["what"]
        if what == "expr:rel":
            return Name(scope[raw["name"]])
        if what == "expr:global":
            return Global(raw["name"])
        if what == "expr:constructor":
            return numeral(Make(raw["name"], self.terms(raw["args"], scope)))
        if what == "expr:apply":
            return Apply(self.term(raw["func"], scope), self.terms(raw["args"], scope))
        if what == "expr:lambda":
            params, inner = self.bound(raw["argnames"], scope)
            return Lambda(params, self.term(raw["body"], inner))
        if what == "expr:let":
            value = self.term(raw["nameval"], scope)
            name = self.fresh(raw["name"])
            return Let(name, value, self.term(raw["body"], {**scope, raw["name"]: name}))
        if what == "expr:case":
            subject = self.term(raw["expr"], scope)
            branches = tuple(self.branch(c, scope) for c in raw["cases"])
            return simplified(Case(subject, branches), self.constructors)
        raise UntranslatableError(f"a term {what}")

    def terms(self, raw: list[Any], scope: Mapping[str, str]) -> tuple[Term, ...]:
        return tuple(self.term(r, scope) for r in raw)

    def branch(self, raw: Mapping[str, Any], scope: Mapping[str, str]) -> Branch:
        pattern = raw["pat"]
        if pattern["what"] not in ("pat:constructor", "pat:rel", "pat:wild"):
            raise UntranslatableError(f"a pattern {pattern['what']}")
        names = pattern.get("argnames", [pattern["name"]] if pattern["what"] == "pat:rel" else [])
        bound = [name for name in names if name != "_"]
        _, inner = self.bound(bound, scope)
        body = self.term(raw["body"], inner)
        needed = free(body)
        fresh = tuple(
            inner[name] if name != "_" and inner[name] in needed else None for name in names
        )
        if pattern["what"] == "pat:constructor":
            return Branch(pattern["name"], fresh, body)
        return Branch(None, fresh, body)


# Simplifying

TRUTHS: Mapping[str, bool] = {"True": True, "False": False, "Left": True, "Right": False}
"""Truth values, and the decisions of decidable statements, which carry nothing else."""

_NUMERALS: Mapping[str, Callable[..., int]] = {
    "O": lambda: 0,
    "S": lambda n: n + 1,
    "Z0": lambda: 0,
    "Zpos": lambda p: p,
    "Zneg": lambda p: -p,
    "XH": lambda: 1,
    "XO": lambda p: 2 * p,
    "XI": lambda p: 2 * p + 1,
}


def numeral(made: Make) -> Term:
    """A constructor of whole numbers as a number, if it is made of numbers alone."""
    values = [a.value for a in made.args if isinstance(a, Number)]
    if made.constructor in _NUMERALS and len(values) == len(made.args):
        return Number(_NUMERALS[made.constructor](*values))
    return made


def simplified(case: Case, constructors: Mapping[str, Constructor]) -> Term:
    """A choice as a field or as logic, where it is one."""
    first = case.branches[0]
    alone = first.constructor is not None and constructors[first.constructor].siblings == 1
    if first.constructor and alone and isinstance(first.body, Name):
        if first.body.name in first.names:
            return Field(case.subject, first.constructor, first.names.index(first.body.name))
    elif first.constructor and first.constructor in TRUTHS and len(case.branches) == 2:
        bodies = [b.body for b in case.branches]
        yes, no = bodies if TRUTHS[first.constructor] else reversed(bodies)
        if _truth(yes) is False and _truth(no) is True:
            return Logic("not", (case.subject,))
        if _truth(no) is False:
            return _joined("and", case.subject, yes)
        if _truth(yes) is True:
            return _joined("or", case.subject, no)
    return case


def _truth(term: Term) -> bool | None:
    return TRUTHS.get(term.constructor) if isinstance(term, Make) else None


def _joined(word: str, *args: Term) -> Term:
    parts: list[Term] = []
    for arg in args:
        parts += arg.args if isinstance(arg, Logic) and arg.word == word else [arg]
    if word == "and" and _truth(parts[-1]) is True:
        parts.pop()
    return Logic(word, tuple(parts)) if len(parts) > 1 else parts[0]


# Looking into terms


def children(term: Term) -> tuple[Term, ...]:
    """The terms that a term is made of."""
    if isinstance(term, Make | Logic):
        return term.args
    if isinstance(term, Apply):
        return (term.function, *term.args)
    if isinstance(term, Lambda):
        return (term.body,)
    if isinstance(term, Let):
        return (term.value, term.body)
    if isinstance(term, Case):
        return (term.subject, *(b.body for b in term.branches))
    return (term.subject,) if isinstance(term, Field) else ()


def free(term: Term) -> frozenset[str]:
    """The local variables that a term uses and does not bind: names are unique, so all that it
    uses but those that it binds."""
    used = frozenset((term.name,)) if isinstance(term, Name) else frozenset()
    for child in children(term):
        used |= free(child)
    return used - bound(term)


def bound(term: Term) -> frozenset[str]:
    """The variables that this very term binds."""
    if isinstance(term, Lambda):
        return frozenset(term.params)
    if isinstance(term, Let):
        return frozenset((term.name,))
    if isinstance(term, Case):
        return frozenset(name for b in term.branches for name in b.names if name)
    return frozenset()


def globals_of(term: Term) -> frozenset[str]:
    """The definitions that a term mentions."""
    found = frozenset((term.name,)) if isinstance(term, Global) else frozenset()
    for child in children(term):
        found |= globals_of(child)
    return found


def replaced(term: Term, change: Callable[[Term], Term]) -> Term:
    """The term with each direct part changed."""
    if isinstance(term, Make):
        return Make(term.constructor, tuple(map(change, term.args)))
    if isinstance(term, Logic):
        return Logic(term.word, tuple(map(change, term.args)))
    if isinstance(term, Apply):
        return Apply(change(term.function), tuple(map(change, term.args)))
    if isinstance(term, Lambda):
        return Lambda(term.params, change(term.body))
    if isinstance(term, Let):
        return Let(term.name, change(term.value), change(term.body))
    if isinstance(term, Case):
        branches = tuple(Branch(b.constructor, b.names, change(b.body)) for b in term.branches)
        return Case(change(term.subject), branches)
    return (
        Field(change(term.subject), term.constructor, term.index)
        if isinstance(term, Field)
        else term
    )
