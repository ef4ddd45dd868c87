"""A model's tokens in the groups that the formatter lays out: statements and blocks.

A statement runs up to its `;` or, if it has a block in braces, to the end of that block.
Comments stay where they are: before a statement, inside it, or at the end of its line.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from workbench.models.language.lexical import COMMENT, Token


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
