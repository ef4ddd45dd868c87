"""Edits that do what a hint says."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from workbench.models.language.editor.places import offset_at
from workbench.models.record import record
from workbench.models.source import Diagnostic, Edit, Span

_MEANT = re.compile(r"did you mean `([^`]+)`\?")


@record
class Fix:
    """A change that would settle a finding: in words, and as an edit."""

    title: str
    finding: Diagnostic
    edit: Edit


def fixes(text: str, findings: Iterable[Diagnostic]) -> Iterator[Fix]:
    """What can be done at once about findings in a text."""
    for finding in findings:
        edit = finding.fix or _meant(text, finding)
        if edit is not None:
            yield Fix(_title(text, edit), finding, edit)


def _meant(text: str, finding: Diagnostic) -> Edit | None:
    """The name that was meant, in place of the one that is written."""
    said = _MEANT.match(finding.hint or "")
    span = finding.span
    if said is None or span is None:
        return None
    written = quoted(text, span)
    if re.fullmatch(r"[A-Za-z_][A-Za-z_0-9]*", said[1]) is None:
        return None
    named = re.findall(r"`([^`]+)`", finding.message)
    if re.fullmatch(r"[A-Za-z_][A-Za-z_0-9]*", written):
        return Edit(span, said[1])
    inside = [n for n in named if re.fullmatch(r"\w+", n)]
    for name in inside:  # a whole statement is marked, and says which name it is about
        places = list(re.finditer(rf"(?<![\w#.]){name}\b", written))
        if len(places) == 1 and "\n" not in written:
            column = span.column + places[0].start()
            place = Span(span.file, span.line, column, span.line, column + len(name))
            return Edit(place, said[1])
    return None


def quoted(text: str, span: Span) -> str:
    """The text of a region."""
    first = offset_at(text, (span.line, span.column))
    return text[first : offset_at(text, (span.end_line, span.end_column))]


def _title(text: str, edit: Edit) -> str:
    before = quoted(text, edit.span)
    if not edit.text:
        return f"Remove `{before}`"
    if not before:
        return f"Insert `{edit.text.strip()}`"
    return f"Change `{before}` to `{edit.text.strip()}`"
