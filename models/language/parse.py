"""From the text of a `.charon` file to its syntax tree.

An LALR(1) parser over the table of `grammar.lark`: the tree is built bottom-up as rules are
reduced, nothing recurses, and the time is linear in the length of the text. A word is a
keyword only where the grammar can read one.

After an error the parser goes on at the next place that looks like the beginning of a
statement, an item or a definition, so that one run finds several errors.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from workbench.models.language import syntax
from workbench.models.language.build import Builder
from workbench.models.language.expected import acceptable, readable
from workbench.models.language.failure import Misfit
from workbench.models.language.grammar import Grammar, grammar
from workbench.models.language.hints import explain
from workbench.models.language.lexical import END, NAME, UNCLOSED, Token, tokens
from workbench.models.language.reading import check_size, decode_source
from workbench.models.record import record
from workbench.models.source import Diagnostic, ModelError

__all__ = [
    "MAX_ERRORS",
    "MAX_OPEN",
    "Parsed",
    "Reading",
    "decode_source",
    "open_states",
    "parse_leniently",
    "parse_source",
    "read_closely",
]

MAX_OPEN = 1_500
"""How many constructs (brackets, operators, blocks) may be open at once."""
MAX_ERRORS = 20
"""How many errors are reported at most."""
MAX_SKIPPED = 20_000
"""How many tokens may be skipped after errors until the parser gives up."""
_CALM = 3
"""How many tokens must be read after an error before the next one is believed."""


@record
class Parsed:
    """What could be read of a text, and everything that is wrong with it."""

    source: syntax.SourceFile
    diagnostics: tuple[Diagnostic, ...]


def parse_source(text: str, file: str) -> syntax.SourceFile:
    """The syntax tree of a model; everything wrong with the text is in one `ModelError`."""
    parsed = parse_leniently(text, file)
    if parsed.diagnostics:
        raise ModelError(*parsed.diagnostics, sources={file: text})
    return parsed.source


def parse_leniently(text: str, file: str) -> Parsed:
    """The syntax tree of what can be understood of a text; only a text beyond all limits
    raises a `ModelError`."""
    check_size(len(text), file)
    text = text.removeprefix("\N{ZERO WIDTH NO-BREAK SPACE}")
    comments: list[Token] = []
    parser = _Parser(text, Builder(file), tokens(text, comments))
    definitions = parser.run()
    problems = sorted(
        dict.fromkeys([*parser.problems, *parser.builder.problems]),
        key=lambda d: (d.span.line, d.span.column) if d.span else (0, 0),
    )
    source = syntax.SourceFile(file, definitions, tuple(c.span(file) for c in comments))
    return Parsed(source, tuple(problems[:MAX_ERRORS]))


@record
class Reading:
    """All that a parse of a piece of text knows: its definitions and what is wrong, its tokens and
    comments, and as which terminal the tokens were read, by their offsets; those that were passed
    over after an error have none."""

    definitions: tuple[syntax.TopLevel, ...]
    diagnostics: tuple[Diagnostic, ...]
    tokens: tuple[Token, ...]
    comments: tuple[Token, ...]
    terminals: dict[int, str]


def read_closely(text: str, builder: Builder, first_line: int = 1) -> Reading:
    """What an editor wants to know of a piece of text, whose lines are counted from `first_line`;
    `builder` makes the tree. The size of the text is the caller's to limit."""
    comments: list[Token] = []
    found = list(tokens(text, comments, first_line))
    parser = _Parser(text, builder, iter(found))
    parser.read = {}
    definitions = parser.run()
    problems = dict.fromkeys([*parser.problems, *builder.problems])
    return Reading(definitions, tuple(problems), tuple(found[:-1]), tuple(comments), parser.read)


def open_states(text: str) -> list[int]:
    """The states of the parser that are open at the end of a text, errors in it passed over:
    `expected.acceptable` tells from them what can come next."""
    check_size(len(text), "")
    stream = (t for t in tokens(text) if t.kind not in (END, UNCLOSED))
    parser = _Parser(text, Builder(""), stream)
    parser.run()
    return parser.states


class _Parser:
    """One run over a text: the open states and their values, and the errors so far."""

    def __init__(self, text: str, builder: Builder, stream: Iterator[Token]):
        self.text = text
        self.table: Grammar = grammar()
        self.builder = builder
        self.pending: list[Token] = []  # to be read before the rest, the last one first
        self.stream = self._with_pending(stream)
        self.states = [self.table.start]
        self.values: list[Any] = []
        self.problems: list[Diagnostic] = []
        self.calm = _CALM
        self.surplus = 0  # closing braces to come that were already explained
        self.skipped = 0
        self.attempts = 0  # how often reading on after an error was tried
        self.progress = -1  # the offset of the last token that recovery went on from
        self.read: dict[int, str] | None = None  # terminals by offset, where they are wanted

    def _with_pending(self, stream: Iterator[Token]) -> Iterator[Token]:
        pending = self.pending
        for token in stream:
            yield token
            while pending:
                yield pending.pop()

    def _put_back(self, *read: Token) -> None:
        """Let these tokens be read next."""
        self.pending.extend(reversed(read))

    def run(self) -> tuple[syntax.TopLevel, ...]:
        """The definitions of the text, or those that could be understood."""
        while True:
            before, token = self._advance()
            if token is None:
                break
            if not self._recover(before, token):
                break
        return self._definitions_so_far()

    def _advance(self) -> tuple[list[int], Token | None]:
        """Read on to the end (then the token is None) or to a token that does not fit (then
        with the states that were open when it came)."""
        table, builder, states, values = self.table, self.builder, self.states, self.values
        read = self.read
        actions, gotos, keywords = table.actions, table.gotos, table.keywords
        rules = [
            (r.origin, r.length, getattr(builder, r.maker) if r.maker else r.maker, r.spliced)
            for r in table.rules
        ]
        for token in self.stream:
            kind = token.kind
            row = actions[states[-1]]
            if kind == NAME:
                word = keywords.get(token.text)
                if word is not None and word in row:
                    kind = word
            before = states[:]
            while True:
                action = row.get(kind)
                if action is None:
                    return before, token
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
                    return before, None
                row = actions[state]
            states.append(action)
            values.append(token)
            builder.last = token
            if read is not None:
                read[token.start] = kind
            self.calm += 1
            if len(states) > MAX_OPEN:
                return before, token
        return states[:], None  # a text without END, see `open_states`

    # Errors

    def _recover(self, before: list[int], token: Token) -> bool:
        """Report the token and find a place to go on from; False if there is none."""
        if len(self.states) > MAX_OPEN:
            self.problems.append(
                Diagnostic(
                    "nested-too-deeply",
                    f"more than {MAX_OPEN} brackets and operators are open here",
                    token.span(self.builder.file),
                    "give parts of the expression a name of their own",
                )
            )
            return False
        failure = Misfit(
            token=token,
            following=self._following(token),
            previous=self.builder.last,
            expected=acceptable(self.table, before),
            before=before,
            values=self.values,
            file=self.builder.file,
        )
        diagnostic, repair = explain(failure)
        if self.surplus and diagnostic.code == "needless-bracket":
            self.surplus -= 1  # it closes the definition around one that was moved out
        elif self.calm >= _CALM or token.kind == UNCLOSED:
            self.problems.append(diagnostic)
        self.attempts += 1
        if self.attempts > 5 * MAX_ERRORS:
            return False
        if token.kind == END or token.text.startswith("/*"):
            return self._close_all(token)
        if len(self.problems) >= MAX_ERRORS:
            return False
        if repair and token.start > self.progress and self._fits(repair[0]):
            self.progress = token.start
            self._put_back(*repair)
            self.calm = 1
            return True
        self.calm = 0
        return self._resume(failure)

    def _close_all(self, token: Token) -> bool:
        """At the end of an unfinished text, close its innermost block (and then the next),
        so that what is complete inside is not lost; there is nothing more to report."""
        self._settle()
        self.calm = -len(self.states)
        end = Token(END, "", token.start, token.line, token.column)
        lists = self._lists()
        if lists[-1:] == self._outermost():
            self._put_back(end)
        else:
            self._put_back(Token("RBRACE", "}", token.start, token.line, token.column), end)
        return self._close_to(lists[-1:])

    def _fits(self, token: Token) -> bool:
        return readable(self.table, self.states, token.kind, token.text) is not None

    def _following(self, token: Token) -> list[Token]:
        """The next two tokens, which stay to be read."""
        found: list[Token] = []
        if token.kind != END:
            for following in self.stream:
                found.append(following)
                if len(found) == 2 or following.kind == END:
                    break
            self._put_back(*found)
        return found

    def _resume(self, failure: Misfit) -> bool:
        """Skip tokens up to where a statement, an item or a definition can begin, and close
        what was open there."""
        definition, item = failure.definition_inside(), failure.item_inside()
        self.surplus += definition is not None
        self._settle()
        self._put_back(*(definition or item or [failure.token]))
        depth, line = 0, 0 if definition or item else failure.previous.line
        for token in self.stream:
            self.skipped += 1
            if self.skipped > MAX_SKIPPED:
                return False
            kind, begins_line = token.kind, token.line > line
            line = token.line
            if kind == END:
                self._put_back(token)
                return self._close_to(self._lists()[-1:])
            if kind == "LBRACE":
                depth += 1
            elif kind == "RBRACE" and depth > 0:
                depth -= 1
                if depth == 0:
                    return self._close_to(self._lists()[-1:])
            elif depth == 0 and kind == "SEMICOLON":
                self.calm = _CALM
                return self._close_to(self._lists()[-1:])
            elif depth == 0 and kind == "RBRACE":
                if self._lists()[-1:] != self._outermost():
                    self._put_back(token)
                return self._close_to(self._lists()[-1:])
            elif kind == NAME and begins_line and token.start > self.progress:
                home = self._home(token.text, definition is not None or depth > 0)
                if home:
                    self.progress = token.start
                    self._put_back(token)
                    return self._close_to(home)
        return False

    def _settle(self) -> None:
        """Reduce what is complete whatever comes next, so that a block that was closed is
        not taken for an open one."""
        table = self.table
        while True:
            steps = set(table.actions[self.states[-1]].values())
            if len(steps) != 1 or (step := steps.pop()) >= 0:
                return
            rule = table.rules[~step]
            height = len(self.values) - rule.length
            children = self.values[height:]
            if rule.spliced:
                children = _spliced(children, rule.spliced)
            del self.values[height:]
            del self.states[height + 1 :]
            if rule.maker is None:
                self.values.append(children)
            else:
                make = getattr(self.builder, rule.maker or "first")
                self.values.append(make(children))
            self.states.append(table.gotos[self.states[-1]][rule.origin])

    def _lists(self) -> list[int]:
        """The heights of the stack at which a list of definitions, items or statements is
        open, outermost first: states that can read a lone semicolon and more."""
        found = []
        for height, state in enumerate(self.states, start=1):
            row = self.table.actions[state]
            if row.get("SEMICOLON", -1) >= 0 and len(row) > 2 and "COMMA" not in row:
                found.append(height)
        return found

    def _outermost(self) -> list[int]:
        """The height of the list of definitions: above the start, once there is one."""
        return [h for h in self._lists()[:2] if h <= 2][-1:]

    def _home(self, text: str, outermost: bool) -> list[int]:
        """The innermost open list in which a keyword can begin something."""
        word = self.table.keywords.get(text)
        if word is None:
            return []
        lists = self._outermost() if outermost else self._lists()
        return [h for h in lists if word in self.table.actions[self.states[h - 1]]][-1:]

    def _close_to(self, heights: list[int]) -> bool:
        """Forget everything that was opened above a list."""
        if not heights:
            return False
        del self.states[heights[0] :]
        del self.values[heights[0] - 1 :]
        return True

    def _definitions_so_far(self) -> tuple[syntax.TopLevel, ...]:
        """The definitions on the stack: all of them, or those complete when it stopped."""
        first = self.values[0] if self.values else ()
        return self.builder.start(first) if type(first) in (list, tuple) else ()


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
