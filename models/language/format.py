"""One layout for every model: `workbench fmt`.

Two spaces of indentation, one statement on a line, a block on one line only if its author
wrote it so and it fits. Comments and single empty lines between statements are kept. The
result has the same meaning, and formatting it again changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from workbench.models.language.lexical import COMMENT, END, Token, tokens
from workbench.models.language.parse import parse_source

WIDTH = 100
"""The longest line, as far as it can be broken."""
INDENT = "  "

_TIGHT = frozenset({"*", "/", "^", "..", "."})
_NO_SPACE_BEFORE = frozenset({";", ",", ")", "]"})
_NO_SPACE_AFTER = frozenset({"(", "["})
_BEFORE_OPERAND = frozenset(
    {"", "(", "[", "{", ",", ";", "=", "==", "!=", "<", "<=", ">", ">=", ":=", "?", ":", "..", "!"}
    | {"+", "-", "*", "/", "^", "&&", "||", "when", "where", "in", "until"}
)
_BREAK_BEFORE = {"when": -1_000_000, "do": -1_000_000, "||": 0, "&&": 0, "?": 0, "+": 2, "-": 2}
"""Where long lines are broken, the better places first; inside brackets it is worse."""
_BREAK_AFTER_COMMA = 1
_BREAK_BEFORE_RENAMING = -2
_BREAK_AFTER_QUANTIFIER = -1
_WORSE_IN_BRACKETS = 4


def format_source(text: str, file: str) -> str:
    """The text in the one layout; a text with syntax errors raises its `ModelError`."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")
    parse_source(text, file)
    comments: list[Token] = []
    found = [t for t in tokens(text, comments) if t.kind != END]
    stream = sorted([*found, *comments], key=lambda t: t.start)
    lines = list(_lines(arrange(stream), 0))
    return "\n".join(lines) + "\n" if lines else ""


def on_one_line(words: Iterable[Token]) -> str:
    """Tokens in a row, spaced as in the one layout; comments are left out."""
    pieces: list[Piece] = [t for t in words if t.kind != COMMENT]
    return "".join(space + text for space, text, _ in _words(pieces))


def _lines(statements: list[Statement], depth: int) -> Iterator[str]:
    """The lines of a list of statements; blocks are nested as deep as the grammar allows,
    which is four levels."""
    for number, statement in enumerate(statements):
        if statement.spaced and number:
            yield ""
        margin = INDENT * depth
        for i, comment in enumerate(statement.above):
            yield margin + _comment(comment)
            below = [*statement.above[i + 1 :], *statement.pieces][:1]
            if below and isinstance(below[0], Token) and below[0].line > last_line(comment) + 1:
                yield ""
        lines = list(_statement(statement, depth))
        if statement.beside and lines:
            lines[-1] += "".join(f"  {_comment(c)}" for c in statement.beside)
        yield from lines


def _comment(token: Token) -> str:
    return token.text.rstrip()


def _statement(statement: Statement, depth: int) -> Iterator[str]:
    if not statement.pieces:
        return
    last = statement.pieces[-1]
    if not isinstance(last, BraceBlock):
        yield from _wrapped(_words(statement.pieces), depth)
        return
    if not last.statements and not last.beside:
        yield from _wrapped(_words([*statement.pieces[:-1], *_flat(last)]), depth)
        return
    if last.on_one_line:
        head, block = statement.pieces[:-1], _flat(last)
        whole = list(_wrapped(_words([*head, *block]), depth))
        if len(whole) == 1 and len(whole[0]) <= WIDTH:
            yield whole[0]
            return
        action = list(_wrapped(_words([*head[-1:], *block]), depth + 1))
        if _is(head[-1], "do") and len(action) == 1 and len(action[0]) <= WIDTH:
            yield from _wrapped(_words(head[:-1]), depth)
            yield action[0]
            return
    header = list(_wrapped(_words([*statement.pieces[:-1], last.opening]), depth))
    if len(header) > 1 and _is(statement.pieces[-2], "do"):
        depth += 1
        header = [
            *_wrapped(_words(statement.pieces[:-2]), depth - 1),
            *_wrapped(_words([statement.pieces[-2], last.opening]), depth),
        ]
    header[-1] += "".join(f"  {_comment(c)}" for c in last.beside)
    yield from header
    yield from _lines(last.statements, depth + 1)
    yield INDENT * depth + "}"


def _is(piece: Piece, text: str) -> bool:
    return isinstance(piece, Token) and piece.text == text


def _flat(block: BraceBlock) -> list[Piece]:
    """The tokens of a block and the blocks inside it, in a row."""
    assert block.closing is not None
    pieces: list[Piece] = [block.opening]
    for statement in block.statements:
        for piece in statement.pieces:
            pieces.extend(_flat(piece) if isinstance(piece, BraceBlock) else [piece])
    return [*pieces, block.closing]


def _words(pieces: list[Piece]) -> list[tuple[str, str, int | None]]:
    """Each token as (space before it, text, how bad it is to break the line before it, or
    None where that must not be)."""
    words: list[tuple[str, str, int | None]] = []
    brackets: list[str] = []  # "[ " for a renaming, else the bracket itself
    given = [p for p in pieces if isinstance(p, Token)]
    in_table = bool(given) and given[0].text == "table"
    previous, unary, quantified = "", False, False
    for token in given:
        text = _comment(token) if token.kind == COMMENT else token.text
        operand = previous in _BEFORE_OPERAND
        space = _space(previous, text, unary, brackets, in_table)
        if token.kind == COMMENT:
            space = "  " if text.startswith("//") else " "
        badness = _BREAK_AFTER_COMMA if previous == "," else None
        if text in _BREAK_BEFORE and not operand:
            badness = _BREAK_BEFORE[text]
        elif text == "[" and previous in (")", "]"):
            badness = _BREAK_BEFORE_RENAMING
        elif previous == ":" and quantified:
            badness = _BREAK_AFTER_QUANTIFIER
        quantified = quantified or text in ("forall", "sum")
        if badness is not None:
            badness += _WORSE_IN_BRACKETS * len(brackets)
        words.append((space if words else "", text, badness))
        if token.kind == COMMENT:
            continue
        unary = text in ("-", "!") and (operand or text == "!")
        if text in ("(", "["):
            brackets.append("[ " if text == "[" and previous in (")", "]") else text)
        elif text in (")", "]") and brackets:
            brackets.pop()
        previous = text
    return words


def _space(previous: str, text: str, unary: bool, brackets: list[str], in_table: bool) -> str:
    """What stands between two tokens."""
    inside = brackets[-1] if brackets else ""
    if inside == "[ " and (previous == "[" or text == "]"):
        return " "
    if text in _NO_SPACE_BEFORE or previous in _NO_SPACE_AFTER or unary:
        return ""
    if (previous == ".." and text.startswith(".")) or (text == ".." and previous.endswith(".")):
        return " "
    if text in _TIGHT or previous in _TIGHT:
        return ""
    if text == ":" and in_table:
        return "" if previous not in ("{", ";", ",") else " "
    follows_name = previous[-1:].isalnum() or previous.endswith("_")
    keyword = previous in ("when", "where", "in", "until")
    if text in ("(", "[") and follows_name and not keyword:
        return ""
    return " "


def _wrapped(words: list[tuple[str, str, int | None]], depth: int) -> Iterator[str]:
    """The words in lines of at most `WIDTH`, as far as there are places to break."""
    margin, more = INDENT * depth, INDENT * (depth + 1)
    line = margin
    places: list[tuple[int, int]] = []  # (how bad, minus the position), of this line
    for space, text, badness in words:
        fresh = not line.strip()
        if badness is not None and not fresh:
            places.append((badness, -len(line)))
        line += text if fresh else space + text
        if text.startswith("//"):
            yield line
            line, places = more, []
        while len(line) > WIDTH and places:
            best = min(places)
            at = -best[1]
            yield line[:at]
            rest = line[at:].lstrip(" ")
            shift = len(more) - (len(line) - len(rest))
            places = [(b, p - shift) for b, p in places if p < best[1]]
            line = more + rest
    if line.strip():
        yield line


# A model's tokens in the groups that the formatter lays out: statements and blocks.
#
# A statement runs up to its `;` or, if it has a block in braces, to the end of that block.
# Comments stay where they are: before a statement, inside it, or at the end of its line.


@dataclass(slots=True)
class BraceBlock:
    """`{ ... }`; `beside` are comments on the line of its opening brace."""

    opening: Token
    statements: list[Statement] = field(default_factory=list)
    beside: list[Token] = field(default_factory=list)
    closing: Token | None = None

    @property
    def on_one_line(self) -> bool:
        """Whether the author wrote it so, and nothing speaks against it."""
        assert self.closing is not None
        return self.opening.line == self.closing.line and not self.has_comments

    @property
    def has_comments(self) -> bool:
        """Whether there is a comment anywhere inside."""
        return bool(self.beside) or any(s.has_comments for s in self.statements)


Piece: TypeAlias = Token | BraceBlock


@dataclass(slots=True)
class Statement:
    """Tokens and at most one block, at the end; a statement without pieces only carries
    the comments at the end of a block or file."""

    above: list[Token] = field(default_factory=list)
    pieces: list[Piece] = field(default_factory=list)
    beside: list[Token] = field(default_factory=list)
    spaced: bool = False  # whether the author left an empty line above

    @property
    def has_comments(self) -> bool:
        """Whether there is a comment before, in or behind it."""
        return bool(self.above or self.beside) or any(
            p.has_comments if isinstance(p, BraceBlock) else p.kind == COMMENT for p in self.pieces
        )


def arrange(stream: list[Token]) -> list[Statement]:
    """The statements of a file, from its tokens and comments in order."""
    outermost: list[Statement] = []
    open_blocks: list[BraceBlock] = []
    current = Statement()
    previous: Token | None = None
    in_enum = False
    for i, token in enumerate(stream):
        target = open_blocks[-1].statements if open_blocks else outermost
        gap = previous is not None and token.line > last_line(previous) + 1
        if token.kind == COMMENT:
            following = stream[i + 1] if i + 1 < len(stream) else None
            _place_comment(token, previous, following, current, target, open_blocks, gap)
        elif token.text == "{" and previous is not None and previous.text == "enum":
            in_enum = True
            current.pieces.append(token)
        elif token.text == "}" and in_enum:
            in_enum = False
            current.pieces.append(token)
        elif token.text == "{":
            block = BraceBlock(token)
            current.pieces.append(block)
            target.append(current)
            open_blocks.append(block)
            current = Statement()
        elif token.text == "}":
            _close(open_blocks.pop(), token, current)
            current = Statement()
        elif token.text == ";" and not current.pieces:
            pass  # a semicolon too many
        else:
            if not current.pieces and not current.above:
                current.spaced = gap
            current.pieces.append(token)
            if token.text == ";":
                target.append(current)
                current = Statement()
        previous = token
    if current.above:
        outermost.append(current)
    return outermost


def last_line(token: Token) -> int:
    """The line on which a token ends."""
    return token.line + token.text.count("\n")


def _place_comment(
    token: Token,
    previous: Token | None,
    following: Token | None,
    current: Statement,
    target: list[Statement],
    open_blocks: list[BraceBlock],
    gap: bool,
) -> None:
    if current.pieces:
        current.pieces.append(token)
        return
    ends_line = following is None or following.line > last_line(token)
    same_line = previous is not None and last_line(previous) == token.line
    if same_line and ends_line and not current.above and "\n" not in token.text:
        beside = target[-1].beside if target else open_blocks[-1].beside if open_blocks else None
        if beside is not None and not beside:
            beside.append(token)
            return
    if not current.above:
        current.spaced = gap
    current.above.append(token)


def _close(block: BraceBlock, brace: Token, current: Statement) -> None:
    """End a block; comments behind its last, unended statement go beside it or below."""
    block.closing = brace
    behind: list[Token] = []
    while current.pieces and isinstance(current.pieces[-1], Token):
        if current.pieces[-1].kind != COMMENT:
            break
        behind.insert(0, current.pieces.pop())  # type: ignore[arg-type]
    if current.pieces or current.above:
        block.statements.append(current)
    if behind:
        last = current.pieces[-1]
        assert isinstance(last, Token)
        if behind[0].line == last.line and "\n" not in behind[0].text:
            current.beside.append(behind.pop(0))
        if behind:
            block.statements.append(Statement(above=behind))
