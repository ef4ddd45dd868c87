"""From the text of a `.charon` file to its syntax tree.

An LALR(1) parser over the table of `grammar.lark`: the tree is built bottom-up as rules are
reduced, nothing recurses, and the time is linear in the length of the text.
"""

from __future__ import annotations

from typing import Any

from models.language import syntax
from models.language.build import Builder
from models.language.grammar import Grammar, grammar
from models.language.lexical import NAME, Token, tokenize
from models.source import Diagnostic, ModelError

MAX_STACK = 4_000
"""How many open constructs the parser keeps: no honest model comes near."""


def parse_source(text: str, file: str) -> syntax.SourceFile:
    """The syntax tree of a model; everything wrong with the text is in one `ModelError`."""
    lexed = tokenize(text, file)
    builder = Builder(file)
    definitions = _run(grammar(), lexed.tokens, builder)
    if builder.problems:
        raise ModelError(*builder.problems, sources={file: text})
    return syntax.SourceFile(file, definitions, tuple(c.span(file) for c in lexed.comments))


def _run(table: Grammar, tokens: list[Token], builder: Builder) -> Any:
    """The value of the whole text."""
    actions, gotos, keywords = table.actions, table.gotos, table.keywords
    rules = [
        (r.origin, r.length, getattr(builder, r.maker) if r.maker else r.maker, r.spliced)
        for r in table.rules
    ]
    states, values = [table.start], []
    for token in tokens:
        kind = token.kind
        row = actions[states[-1]]
        if kind == NAME:
            word = keywords.get(token.text)
            if word is not None and word in row:
                kind = word
        while True:
            action = row.get(kind)
            if action is None:
                raise ModelError(
                    Diagnostic("syntax", f"unexpected `{token.text}`", token.span(builder.file))
                )
            if action >= 0:
                break
            origin, length, make, spliced = rules[~action]
            if length:
                children = values[-length:]
                del values[-length:]
                del states[-length:]
                if spliced:
                    children = _spliced(children, spliced)
            else:
                children = []
            if make is None:
                value: Any = children
            elif make == "":
                value = children[0]
            else:
                value = make(children)
            values.append(value)
            state = gotos[states[-1]][origin]
            states.append(state)
            if state == table.end:
                return values[-1]
            row = actions[state]
        states.append(action)
        values.append(token)
        builder.last = token
    raise AssertionError("the last token ends the text")


def _spliced(children: list[Any], positions: tuple[int, ...]) -> list[Any]:
    """The children with the lists at the given positions laid out among them; a list in
    front is extended in place, so that long lists take linear time."""
    if positions == (0,):
        first: list[Any] = children[0]
        first.extend(children[1:])
        return first
    flat: list[Any] = []
    for i, child in enumerate(children):
        if i in positions:
            flat.extend(child)
        else:
            flat.append(child)
    return flat
