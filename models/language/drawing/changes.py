"""Small changes of one file's text that leave its layout and its comments as they are.

New items come on lines of their own, laid out as the formatter would; an item that was laid out
so stays so when a part of it changes; what is removed takes its line and the comment beside it
along, and no second empty line stays behind.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from typing import TypeAlias

from workbench.models.language.drawing.sources import (
    Block,
    Definition,
    Region,
    SourceText,
    keyword,
)
from workbench.models.language.format import INDENT, format_source, on_one_line
from workbench.models.language.lexical import COMMENT
from workbench.models.record import record
from workbench.models.source import Edit, ModelError


@record
class Change:
    """The text between two offsets becomes another one."""

    start: int
    end: int
    text: str


def changed(text: str, changes: Iterable[Change]) -> str:
    """The text after changes that do not overlap; what is inserted at one place keeps its order."""
    made: list[str] = []
    at = 0
    for change in sorted(changes, key=lambda c: (c.start, c.end)):
        if change.start < at:
            raise ValueError(f"two changes overlap at offset {change.start}")
        made += (text[at : change.start], change.text)
        at = change.end
    return "".join(made) + text[at:]


def as_edits(text: SourceText, changes: Iterable[Change]) -> list[Edit]:
    """The changes as edits, at most one at each place, in the line ends of the file."""
    joined: list[Change] = []
    for change in sorted(changes, key=lambda c: (c.start, c.end)):
        last = joined[-1] if joined else None
        if last is not None and change.start < last.end:
            raise ValueError(f"two changes overlap at offset {change.start}")
        if last is not None and change.start == last.end:
            joined[-1] = Change(last.start, change.end, last.text + change.text)
        else:
            joined.append(change)
    return [
        Edit(text.span((c.start, c.end)), c.text.replace("\n", text.newline))
        for whole in joined
        for c in trimmed(text, (whole.start, whole.end), whole.text)
    ]


def trimmed(text: SourceText, region: Region, fresh: str) -> list[Change]:
    """The change of a region to another text, without what both begin and end with."""
    start, end = region
    old = text.text[start:end].replace("\r\n", "\n")
    if len(old) != end - start:
        return [Change(start, end, fresh)] if old != fresh else []
    if old == fresh:
        return []
    same = _alike(old, fresh)
    most = min(len(old), len(fresh)) - same
    tail = _alike(old[::-1][:most], fresh[::-1][:most])
    return [Change(start + same, end - tail, fresh[same : len(fresh) - tail])]


def _alike(one: str, other: str) -> int:
    """With how many signs both texts begin."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(one), len(other)))


def laid_out(definition: Definition, item: str) -> str:
    """An item as the formatter writes it inside a definition, without the first indentation."""
    lines = format_source(f"{keyword(definition)} M() {{\n{item}\n}}\n", "").split("\n")
    return "\n".join(lines[1:-2]).lstrip(" ")


def within_item(
    text: SourceText, definition: Definition, region: Region, changes: Sequence[Change]
) -> list[Change]:
    """Changes inside an item; one that the formatter has laid out is laid out again."""
    start, end = region
    old = text.text[start:end].replace("\r\n", "\n")
    inside = [Change(c.start - start, c.end - start, c.text) for c in changes]
    try:
        if laid_out(definition, old) == old:
            return trimmed(text, region, laid_out(definition, changed(old, inside)))
    except ModelError:
        pass
    return list(changes)


# Where items are


def item_region(text: SourceText, region: Region) -> Region:
    """An item with the semicolon behind it."""
    start, end = region
    if text.text[end - 1] == ";":
        return region
    rest = text.text[end : end + 400]
    following = text.tokens((end, end + len(rest) - len(rest.lstrip()) + 1))
    if following and following[0].text == ";":
        return start, following[0].end
    return region


def body(text: SourceText, definition: Definition) -> Region:
    """The offsets behind the opening and before the closing brace of a definition."""
    end = text.region(definition.span)[1]
    parameters = definition.parameters
    at = text.region((parameters[-1].name if parameters else definition.name).span)[1]
    opening = next(t for t in text.tokens((at, end)) if t.text == "{")
    return opening.end, end - 1


def _line_end(text: SourceText, offset: int) -> int:
    """Where the line of an offset ends, its line break left out."""
    at = text.text.find("\n", offset)
    at = len(text.text) if at < 0 else at
    return at - 1 if at > offset and text.text[at - 1] == "\r" else at


def _line_start(text: SourceText, offset: int) -> int:
    return text.text.rfind("\n", 0, offset) + 1


def _beside(text: SourceText, offset: int, limit: int) -> int | None:
    """Where the line ends on which something ends at an offset, if only blanks and comments
    follow it there; else None."""
    end = _line_end(text, offset)
    if end > limit:
        return None
    rest = text.text[offset:end].strip()
    if not rest or rest.startswith("//"):
        return end
    if rest.startswith("/*"):
        inside = text.tokens((offset, limit), comments=True)
        at = offset
        for token in inside:
            if token.kind != COMMENT:
                break
            at = token.end
        return end if at >= offset + len(text.text[offset:end].rstrip()) and at <= end else None
    return None


# The statements of a block


@record
class _Piece:
    """A statement of a block with what stands before it and beside it."""

    lead: str
    statement: str
    beside: str = ""


def rewritten(text: SourceText, old: Block, fresh: Sequence[str]) -> str:
    """What stands between the braces of a block when its statements become others. Those that
    stay, and those that take the place of others, keep the comments above and beside them."""
    at, last = old.braces[0] + 1, old.braces[1] - 1
    margin = "\n" + 2 * INDENT if "\n" in text.text[at:last] else " "
    pieces: list[_Piece] = []
    closed = True
    for start, end in old.statements:
        following = text.tokens((end, old.braces[1]))[0]
        closed = following.text == ";"
        behind = following.end if closed else end
        stop = _comments_beside(text, behind, last)
        pieces.append(_Piece(text.text[at:start], text.text[start:end], text.text[behind:stop]))
        at = stop
    tail = text.text[at:last]
    said = [on_one_line(text.tokens(region)) for region in old.statements]
    made: list[_Piece] = []
    orphaned = ""  # comments above statements that are gone
    for tag, a, b, c, d in SequenceMatcher(None, said, list(fresh), autojunk=False).get_opcodes():
        both = min(b - a, d - c)
        for piece, statement in zip(pieces[a : a + both], fresh[c : c + both], strict=True):
            kept = piece.statement if tag == "equal" else statement
            made.append(_Piece(orphaned + piece.lead, kept, piece.beside))
            orphaned = ""
        for statement in fresh[c + both : d]:
            made.append(_Piece(orphaned + margin, statement))
            orphaned = ""
        orphaned += "".join(
            piece.lead.rstrip() for piece in pieces[a + both : b] if piece.lead.strip()
        )
    words = [f"{p.lead}{p.statement};{p.beside}" for p in made]
    if made and not closed:
        words[-1] = f"{made[-1].lead}{made[-1].statement}{made[-1].beside}"
    whole = "".join(words) + orphaned + (tail or " ")
    return whole.replace("\r\n", "\n")


def _comments_beside(text: SourceText, at: int, limit: int) -> int:
    """Where the comments end that begin on the line of a place; else the place."""
    end = at
    for word in text.tokens((at, limit), comments=True):
        if word.kind != COMMENT or "\n" in text.text[end : word.start]:
            break
        end = word.end
    return end


# Items that come and go


Added: TypeAlias = tuple[Region | None, str]
"""A new item, and the item that it comes behind; None for the first place."""


def added(text: SourceText, definition: Definition, items: Sequence[Added]) -> list[Change]:
    """New items in a definition whose body has several lines, or nothing in it."""
    first, last = body(text, definition)
    if not text.text[first:last].strip():
        lines = [INDENT + laid_out(definition, item) for _, item in items]
        return [Change(first, last, "\n" + "\n".join(lines) + "\n")]
    found = []
    for after, item in items:
        fresh = f"\n{INDENT}{laid_out(definition, item)}"
        at = first if after is None else after[1]
        end = _beside(text, at, last)
        if end is not None:
            found.append(Change(end, end, fresh))
            continue
        blanks = len(text.text[at:]) - len(text.text[at:].lstrip(" \t"))
        margin = "\n" if at + blanks == last else "\n" + INDENT
        found.append(Change(at + blanks, at + blanks, fresh + margin))
    return found


def is_on_one_line(text: SourceText, definition: Definition) -> bool:
    """Whether a definition that says something is written on one line."""
    first, last = body(text, definition)
    inside = text.text[first:last]
    return bool(inside.strip()) and "\n" not in inside


def in_one_line(
    text: SourceText, definition: Definition, items: Sequence[Added], changes: Sequence[Change]
) -> list[Change]:
    """New items, and changes, in a definition on one line, which new items make one of several."""
    start, end = text.region(definition.span)
    first, last = body(text, definition)
    old = text.text[start:end]
    if not items and format_source(old, "") != old + "\n":
        return list(changes)
    inserted = [Change(a[1] if a else first, a[1] if a else first, f"\n{i}") for a, i in items]
    broken = [Change(last, last, "\n")] if items else []
    moved = [Change(c.start - start, c.end - start, c.text) for c in (*changes, *inserted, *broken)]
    fresh = format_source(changed(old, moved) + "\n", "")
    return trimmed(text, (start, end), fresh.removesuffix("\n"))


def removed(text: SourceText, definition: Definition, regions: Iterable[Region]) -> list[Change]:
    """Items less, each with its semicolon, its line, and the comment beside it."""
    first, last = body(text, definition)
    return _removed(text, regions, first, last)


def removed_definition(text: SourceText, region: Region) -> list[Change]:
    """A whole definition less."""
    return _removed(text, [region], 0, len(text.text))


def _removed(text: SourceText, regions: Iterable[Region], first: int, last: int) -> list[Change]:
    whole: list[Region] = []
    for start, end in sorted(regions):
        alone = not text.text[max(_line_start(text, start), first) : start].strip()
        stop = _beside(text, end, last)
        if alone and stop is None and not text.text[end:last].strip():
            stop = end  # the last of a body, before its brace
            alone = False
        if alone and stop is not None and _line_start(text, start) >= first:
            begin = _line_start(text, start)
            behind = min(stop + len(text.newline), last)
            if stop >= len(text.text):
                behind = len(text.text)
            whole.append((begin, behind))
        else:
            blank = text.text[end:last]
            after = len(blank) - len(blank.lstrip(" \t"))
            follows = text.text[end + after : end + after + 1] not in ("", "\n", "\r")
            if follows and end + after < last:
                whole.append((start, end + after))
            else:
                before = text.text[first:start]
                whole.append((start - (len(before) - len(before.rstrip(" \t"))), end))
    joined: list[Region] = []
    for region in whole:
        if joined and region[0] <= joined[-1][1]:
            joined[-1] = (joined[-1][0], region[1])
        else:
            joined.append(region)
    found = [_without_second_blank(text, region, first, last) for region in joined]
    rest, at = "", first
    for start, end in found:
        rest += text.text[at:start]
        at = end
    if found and not (rest + text.text[at:last]).strip() and first:
        return [Change(first, last, " ")]
    return [Change(start, end, "") for start, end in found]


def _without_second_blank(text: SourceText, region: Region, first: int, last: int) -> Region:
    """The region with the empty lines behind it, if there is one, or the opening of the body,
    before it as well."""
    start, end = region
    if start != _line_start(text, start) or end != _line_start(text, end):
        return region
    above = text.text[first:start]
    blank_above = not above.strip() or above.replace("\r", "").endswith("\n\n")
    below = text.text[end:last]
    while below and blank_above:
        line, mark, rest = below.partition("\n")
        if line.strip() or not mark:
            break
        end += len(line) + 1
        below = rest
    if not below.strip() and blank_above and above.strip():
        kept = above.rstrip()
        start = first + len(kept) + len(above[len(kept) :].partition("\n")[0]) + 1
    return start, end


def comments_above(text: SourceText, start: int, limit: int) -> int:
    """Where the comments begin that stand directly above something."""
    at = start
    for token in reversed(text.tokens((limit, start), comments=True)):
        between = text.text[token.end : at]
        before = text.text[_line_start(text, token.start) : token.start]
        if token.kind != COMMENT or between.count("\n") > 1 or before.strip():
            break
        at = token.start
    return at


def listed_away(regions: Sequence[Region], gone: set[int]) -> list[Region]:
    """What to cut from a list with commas, so that some of it is gone."""
    kept = [i for i in range(len(regions)) if i not in gone]
    cut = []
    for i in sorted(gone):
        if i < kept[0]:
            cut.append((regions[i][0], regions[i + 1][0]))
        else:
            cut.append((regions[i - 1][1], regions[i][1]))
    return cut
