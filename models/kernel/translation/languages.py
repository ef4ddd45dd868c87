"""How programs are written in Python and in JavaScript: the words, not what is said."""

from __future__ import annotations

import builtins
import keyword
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from workbench.models.kernel.translation.layout import (
    ATOM,
    COMPARE,
    OPEN,
    STEP,
    UNARY,
    WIDTH,
    Doc,
    Group,
    Row,
    Text,
    flat,
    held,
    lines,
)

Block: TypeAlias = "list[str | tuple[str, Doc, str] | Block]"
"""Lines; what is indented below a line is a block of its own."""

Chosen: TypeAlias = "tuple[str | None, Sequence[str | None], Sequence[str], Block]"
"""A constructor (None: any other), names for its fields, what these are called, and a block."""


class Python:
    """How things are written in Python."""

    true, false, nothing, end = "True", "False", "None", ""
    constant, push = "", "waiting.append"
    both, either = "and", "or"
    comment = "# "
    gap = "\n\n"
    """Between definitions."""
    rebinds = True
    """Whether a closure in a loop sees what its variables become later."""
    reserved = frozenset(keyword.kwlist) | frozenset(dir(builtins)) | {"match", "case", "result"}

    def expression(self, template: str) -> str:
        """An operation on numbers as this language writes it."""
        return template

    def tuple_of(self, parts: Sequence[Doc]) -> Doc:
        """A tuple."""
        return Group("(", tuple(parts), ")" if len(parts) > 1 else ",)")

    def made(self, constructor: str, fields: Sequence[str], args: Sequence[Doc]) -> Doc:
        """A value of a class."""
        return Group(f"{constructor}(", tuple(args), ")")

    def negated(self, doc: Doc) -> Doc:
        """That something does not hold."""
        return Row((Text("not "), held(doc, ATOM)), UNARY)

    def is_nothing(self, subject: str, yes: bool) -> Doc:
        """Whether something is nothing (an empty list, no value), or whether it is not."""
        return Text(f"{subject} is None" if yes else f"{subject} is not None", COMPARE)

    def closure(self, param: str, captured: Sequence[str], body: Doc) -> Doc:
        """A function of one argument; `captured` names are to keep the values of this moment."""
        params = ", ".join([param, *(f"{name}={name}" for name in captured)])
        return Row((Text(f"lambda {params}: "), body), OPEN)

    def function(self, name: str, params: Sequence[str], captured: Sequence[str]) -> str:
        """The first line of a function."""
        every = [*params, *(f"{c}={c}" for c in captured)]
        return f"def {name}({', '.join(every)}):"

    def note(self, text: str) -> Block:
        """What is said of a function at its beginning."""
        return [f'"""{text}"""']

    def block(self, head: str, body: Block) -> Block:
        """Lines below a first one."""
        return [head, body]

    def condition(self, word: str, test: Doc | None) -> tuple[str, Doc, str]:
        """The line of a condition, or of what is left."""
        if test is None:
            return ("else", Text(""), ":")
        return ({"if": "if ", "else if": "elif "}[word], test, ":")

    def forever(self) -> str:
        """The first line of a loop."""
        return "while True:"

    def let(self, name: str, value: Doc) -> tuple[str, Doc, str]:
        """A name for a value."""
        return (f"{name} = ", value, "")

    def declare(self, name: str) -> Block:
        """A name whose value comes later."""
        return []

    def unpack(self, names: Sequence[str | None], subject: Doc) -> Block:
        """Bind the parts of a tuple; some have no name."""
        if len(names) > 1 and sum(name is not None for name in names) == 1:
            at = next(i for i, name in enumerate(names) if name is not None)
            return [(f"{names[at]} = ", Row((held(subject, ATOM), Text(f"[{at}]"))), "")]
        return [(f"{', '.join(name or '_' for name in names)} = ", subject, "")]

    def assign(self, names: Sequence[str], values: Sequence[Doc]) -> tuple[str, Doc, str]:
        """New values for names, all at once."""
        if len(names) == 1:
            return (f"{names[0]} = ", values[0], "")
        together = ", ".join(map(flat, values))
        short = len(together) <= WIDTH // 2
        value = Text(together) if short else Group("(", tuple(values), ")")
        return (f"{', '.join(names)} = ", value, "")

    def choice(self, subject: str, branches: Sequence[Chosen]) -> Block:
        """A choice by class."""
        found: Block = []
        for constructor, names, _, block in branches:
            pattern = f"{constructor}({', '.join(n or '_' for n in names)})"
            found += [f"case {pattern if constructor else '_'}:", block]
        return [f"match {subject}:", found]

    def pushed(self, parts: Sequence[str], together: bool) -> str:
        """Put something on the stack, `together` as a tuple even if it is one thing."""
        one = len(parts) == 1
        value = flat(self.tuple_of(list(map(Text, parts)))) if together or not one else parts[0]
        return f"{self.push}({value}){self.end}"

    def record(self, constructor: str, of: str, fields: Sequence[tuple[str, str]]) -> Block:
        """A constructor with named fields."""
        kinds = "; ".join(f"{name} : {kind}" for name, kind in fields)
        names = " ".join(name for name, _ in fields)
        note = f"# {of}{': ' if kinds else ''}{kinds}"
        return [note, f'{constructor} = namedtuple("{constructor}", "{names}")']

    def header(self, title: str) -> str:
        """How the file begins."""
        return f'"""{title}"""\n\nfrom collections import namedtuple\nfrom math import gcd\n'

    prelude = (
        '''def ggcd(a, b):
    """The greatest common divisor, and both numbers divided by it."""
    g = gcd(a, b)
    return (g, (a // g, b // g)) if g else (0, (0, 0))
''',
        '''def to_pos(a):
    """A positive number: 1 in place of those that are not."""
    return a if a > 0 else 1
''',
    )

    def table(self, name: str, value: Mapping[str, Any]) -> str:
        """A constant that holds lists of lists of texts by name."""
        return rendered([(f"{self.constant}{name} = ", _of_values(value), self.end)])

    def names(self, constructors: Iterable[str]) -> str:
        """A constant that holds the constructors by name."""
        every = Group("{", tuple(Text(f'"{c}": {c}') for c in constructors), "}")
        return rendered([(f"{self.constant}CONSTRUCTORS = ", every, self.end)])


class JavaScript(Python):
    """How things are written in JavaScript; numbers are BigInts."""

    true, false, nothing, end = "true", "false", "null", ";"
    constant, push = "const ", "waiting.push"
    both, either = "&&", "||"
    comment = "// "
    gap = "\n"
    rebinds = False
    reserved = frozenset(
        "abstract arguments await boolean break byte case catch char class const continue debugger"
        " default delete do double else enum eval export extends false final finally float for"
        " function goto if implements import in instanceof int interface let long native new null"
        " package private protected public return short static super switch synchronized this"
        " throw throws transient true try typeof undefined var void volatile while with yield"
        " Object Array Map Set String Number BigInt Symbol Error JSON Math Infinity NaN name"
        " result".split()
    )

    def expression(self, template: str) -> str:
        words = template.replace("==", "===").replace("//", "/").replace(" and ", " && ").split(" ")
        return " ".join(f"{word}n" if word.isdigit() else word for word in words)

    def tuple_of(self, parts: Sequence[Doc]) -> Doc:
        return Group("[", tuple(parts), "]")

    def negated(self, doc: Doc) -> Doc:
        return Row((Text("!"), held(doc, ATOM)), UNARY)

    def is_nothing(self, subject: str, yes: bool) -> Doc:
        return Text(f"{subject} {'===' if yes else '!=='} null", COMPARE)

    def closure(self, param: str, captured: Sequence[str], body: Doc) -> Doc:
        return Row((Text(f"({param}) => "), body), OPEN)

    def function(self, name: str, params: Sequence[str], captured: Sequence[str]) -> str:
        return f"function {name}({', '.join(params)}) {{"

    def note(self, text: str) -> Block:
        return [f"// {text}"]

    def block(self, head: str, body: Block) -> Block:
        return [head, body, "}"]

    def condition(self, word: str, test: Doc | None) -> tuple[str, Doc, str]:
        return ("else", Text(""), " {") if test is None else (f"{word} (", test, ") {")

    def forever(self) -> str:
        return "while (true) {"

    def let(self, name: str, value: Doc) -> tuple[str, Doc, str]:
        return (f"const {name} = ", value, ";")

    def declare(self, name: str) -> Block:
        return [f"let {name};"]

    def unpack(self, names: Sequence[str | None], subject: Doc) -> Block:
        if len(names) > 1 and sum(name is not None for name in names) == 1:
            at = next(i for i, name in enumerate(names) if name is not None)
            return [(f"const {names[at]} = ", Row((held(subject, ATOM), Text(f"[{at}]"))), ";")]
        return [(f"const [{', '.join(name or '' for name in names)}] = ", subject, ";")]

    def assign(self, names: Sequence[str], values: Sequence[Doc]) -> tuple[str, Doc, str]:
        if len(names) == 1:
            return (f"{names[0]} = ", values[0], ";")
        return (f"[{', '.join(names)}] = ", Group("[", tuple(values), "]"), ";")

    def choice(self, subject: str, branches: Sequence[Chosen]) -> Block:
        found: Block = []
        for number, (constructor, names, fields, block) in enumerate(branches):
            pairs = [
                name if name == label else f"{label}: {name}"
                for name, label in zip(names, fields, strict=True)
                if name
            ]
            unpacked: Block = [f"const {{ {', '.join(pairs)} }} = {subject};"] if pairs else []
            if constructor is None or number == len(branches) - 1:
                head = "else {" if number else "{"
            else:
                head = ("else " if number else "") + f'if ({subject}.is === "{constructor}") {{'
            found += [head, [*unpacked, *block], "}"]
        return found

    def record(self, constructor: str, of: str, fields: Sequence[tuple[str, str]]) -> Block:
        names = ", ".join(name for name, _ in fields)
        kinds = "; ".join(f"{name} : {kind}" for name, kind in fields)
        value = ", ".join([f'is: "{constructor}"', *([names] if names else [])])
        return [
            f"// {of}{': ' if kinds else ''}{kinds}",
            f"function {constructor}({names}) {{",
            [f"return {{ {value} }};"],
            "}",
        ]

    def header(self, title: str) -> str:
        lines = (f"// {line}".rstrip() for line in title.strip().splitlines())
        return "\n".join([*lines, '"use strict";\n'])

    prelude = (
        """// The greatest common divisor, and both numbers divided by it.
function ggcd(a, b) {
    let g = a < 0n ? -a : a;
    let h = b < 0n ? -b : b;
    while (h) [g, h] = [h, g % h];
    return g ? [g, [a / g, b / g]] : [0n, [0n, 0n]];
}
""",
        """// A positive number: 1 in place of those that are not.
function to_pos(a) {
    return a > 0n ? a : 1n;
}
""",
    )


def _of_values(value: Any) -> Doc:
    if isinstance(value, str):
        return Text(f'"{value}"')
    if isinstance(value, list):
        return Group("[", tuple(map(_of_values, value)), "]")
    parts = (Row((Text(f'"{key}": '), _of_values(item))) for key, item in value.items())
    return Group("{", tuple(parts), "}")


LANGUAGES: Mapping[str, Python] = {"python": Python(), "javascript": JavaScript()}


def rendered(block: Block, indent: int = 0) -> str:
    """The text of a block."""
    return "".join(f"{line}\n" for line in _lines(block, indent))


def _lines(block: Block, indent: int) -> Iterator[str]:
    for line in block:
        if isinstance(line, list):
            yield from _lines(line, indent + STEP)
        elif isinstance(line, str):
            yield (" " * indent + line).rstrip()
        else:
            before, doc, after = line
            yield from (text.rstrip() for text in lines(before, doc, after, indent))
