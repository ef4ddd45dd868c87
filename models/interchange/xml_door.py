"""The one place where XML is parsed: hostile text in, a small immutable tree out.

Expat is driven directly and never told to load anything: a document type declaration (and
with it every entity that a bomb or an external reference needs) is refused at its first
character. Size, depth and the numbers of elements, attributes and text fragments are
bounded. The tree knows the line and column of every element and of every character of its
text, so that errors in a formula point into the file. Nothing recurses.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from xml.parsers import expat

from workbench.models.source import Diagnostic, ModelError, Span

MAX_BYTES = 64 * 1024 * 1024
MAX_DEPTH = 64
MAX_ELEMENTS = 300_000
MAX_ATTRIBUTES = 64
MAX_FRAGMENTS = 600_000
"""Expat hands over text in fragments, one per line and entity reference."""

_BLANKS = b" \t\r\n"
_UTF8_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Element:
    """An element: its name without namespace, its attributes, children, and own text.

    `fragments` says where in the file pieces of `text` begin: (offset, line, column).
    """

    name: str
    attributes: tuple[tuple[str, str], ...]
    children: tuple[Element, ...]
    text: str
    file: str
    line: int
    column: int
    fragments: tuple[tuple[int, int, int], ...] = field(default=(), compare=False)

    def get(self, attribute: str) -> str | None:
        """The value of an attribute, or None where it is absent."""
        for name, value in self.attributes:
            if name == attribute:
                return value
        return None

    @property
    def span(self) -> Span:
        """The start tag's name in the file."""
        end = self.column + len(self.name) + 1
        return Span(self.file, self.line, self.column, self.line, end)

    def place(self, start: int, end: int) -> Span:
        """The region of the file that holds `text[start:end]`."""
        line, column = self._position(start)
        end_line, end_column = self._position(max(start, end - 1))
        return Span(self.file, line, column, end_line, end_column + 1)

    def _position(self, offset: int) -> tuple[int, int]:
        index = bisect_right(self.fragments, offset, key=lambda f: f[0]) - 1
        if index < 0:
            return self.line, self.column
        start, line, column = self.fragments[index]
        return line, column + offset - start


def parse_xml(data: bytes, file: str) -> Element:
    """The root element of a document; raises `ModelError` for anything that is not plain XML."""
    if len(data) > MAX_BYTES:
        raise _error("xml-too-large", f"the file has {len(data)} bytes; the limit is {MAX_BYTES}")
    body = data.lstrip(_BLANKS)
    if body.startswith(_UTF8_MARK):
        body = body[len(_UTF8_MARK) :].lstrip(_BLANKS)
    if not body:
        start = Span(file, 1, 1, 1, 1)
        raise _error("xml-empty", "the file is empty; a SpaceEx model was expected", start)
    # White space before the declaration is an error to expat but common in the wild.
    skipped = data[: len(data) - len(body)].count(b"\n")
    return _Reader(file, skipped).read(body)


def _error(
    code: str, message: str, span: Span | None = None, hint: str | None = None
) -> ModelError:
    return ModelError(Diagnostic(code, message, span, hint))


@dataclass(slots=True)
class _Open:
    """An element whose end tag has not come yet."""

    name: str
    attributes: tuple[tuple[str, str], ...]
    line: int
    column: int
    children: list[Element] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    length: int = 0
    fragments: list[tuple[int, int, int]] = field(default_factory=list)


class _Reader:
    """The handlers of one parse; the stack of open elements lives on the heap."""

    def __init__(self, file: str, skipped_lines: int):
        self.file = file
        self.skipped = skipped_lines
        self.parser = expat.ParserCreate()
        self.open: list[_Open] = []
        self.root: Element | None = None
        self.elements = 0
        self.fragments = 0

    def read(self, body: bytes) -> Element:
        parser = self.parser
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        parser.StartDoctypeDeclHandler = self._doctype
        parser.EntityDeclHandler = self._doctype
        parser.ordered_attributes = True
        try:
            parser.Parse(body, True)
        except expat.ExpatError as problem:
            raise self._malformed(problem) from None
        except (LookupError, UnicodeError, ValueError) as problem:
            raise _error(
                "xml-encoding",
                f"the file's encoding cannot be read: {problem}",
                self._here(),
                "use utf-8, utf-16 or iso-8859-1",
            ) from None
        assert self.root is not None, "expat accepts only documents with a root"
        return self.root

    def _here(self, width: int = 1) -> Span:
        line = self.parser.CurrentLineNumber + self.skipped
        column = self.parser.CurrentColumnNumber + 1
        return Span(self.file, line, column, line, column + width)

    def _malformed(self, problem: expat.ExpatError) -> ModelError:
        line, column = problem.lineno + self.skipped, problem.offset + 1
        span = Span(self.file, line, column, line, column + 1)
        reason = expat.ErrorString(problem.code) or "not well-formed"
        if problem.code in _ENCODING_ERRORS:
            hint = "use utf-8, utf-16 or iso-8859-1, and declare the one that is used"
            return _error("xml-encoding", f"the file's encoding: {reason}", span, hint)
        return _error("xml-malformed", f"this is not well-formed XML: {reason}", span)

    def _doctype(self, *_: object) -> None:
        raise _error(
            "xml-doctype",
            "document type declarations and entities are not accepted",
            self._here(),
            "remove the <!DOCTYPE ...> part; SpaceEx models need none",
        )

    def _start(self, name: str, attributes: list[str]) -> None:
        self.elements += 1
        if self.elements > MAX_ELEMENTS:
            raise _error("xml-too-large", f"more than {MAX_ELEMENTS} elements", self._here())
        if len(self.open) >= MAX_DEPTH:
            raise _error(
                "xml-too-deep", f"elements are nested more than {MAX_DEPTH} deep", self._here()
            )
        if len(attributes) > 2 * MAX_ATTRIBUTES:
            raise _error(
                "xml-too-large", f"more than {MAX_ATTRIBUTES} attributes in one tag", self._here()
            )
        pairs = zip(attributes[::2], attributes[1::2], strict=True)
        here = self._here()
        local = name.rpartition(":")[2]
        self.open.append(_Open(local, tuple(pairs), here.line, here.column))

    def _end(self, _: str) -> None:
        done = self.open.pop()
        element = Element(
            done.name,
            done.attributes,
            tuple(done.children),
            "".join(done.text),
            self.file,
            done.line,
            done.column,
            tuple(done.fragments),
        )
        if self.open:
            self.open[-1].children.append(element)
        else:
            self.root = element

    def _characters(self, data: str) -> None:
        self.fragments += 1
        if self.fragments > MAX_FRAGMENTS:
            raise _error("xml-too-large", f"more than {MAX_FRAGMENTS} pieces of text", self._here())
        if not self.open:
            return
        inside = self.open[-1]
        here = self._here()
        inside.fragments.append((inside.length, here.line, here.column))
        inside.text.append(data)
        inside.length += len(data)


_ENCODING_ERRORS = {
    expat.errors.codes[expat.errors.XML_ERROR_UNKNOWN_ENCODING],
    expat.errors.codes[expat.errors.XML_ERROR_INCORRECT_ENCODING],
}
