"""Whatever is typed, the server has the editor's text and answers every question."""

from __future__ import annotations

import asyncio
import re
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from syntax_texts import EVERYTHING
from wire import Wire

URI = "file:///nowhere/model.charon"
TYPED = [
    "",
    "x",
    "{",
    "}",
    "\n",
    "\r\n",
    "\r",
    ";",
    "/*",
    "*/",
    '"',
    "mode Q(",
    " in ",
    "😀",
    "\t",
    "=",
    'import "a.charon";\n',
    "\u2028",
]
START = 'import "other.charon";\n' + EVERYTHING[:1500] + "\n// 😀 é\n" + EVERYTHING[1500:3000]


def lines(text: str) -> list[str]:
    """The lines as the protocol counts them, with their ends."""
    return re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z|\Z", text)


def offset(text: str, line: int, character: int, width: int) -> int:
    """The offset of a position, moved into the text where it has none such."""
    found = lines(text)
    if line >= len(found):
        return len(text)
    here = found[line].rstrip("\r\n")
    data = here.encode("utf-16-le" if width == 2 else "utf-32-le")[
        : character * (2 if width == 2 else 4)
    ]
    inside = data.decode("utf-16-le" if width == 2 else "utf-32-le", "ignore")
    return sum(map(len, found[:line])) + len(inside)


@settings(max_examples=40)
@given(st.data())
def test_random_edits(data: st.DataObject) -> None:
    asyncio.run(session(data))


async def session(data: st.DataObject) -> None:
    width = data.draw(st.sampled_from([2, 4]))
    wire = Wire()
    wire.begin("utf-16" if width == 2 else "utf-32")
    text = START
    wire.open(URI, text)
    for version in range(2, 5):
        changes: list[dict[str, Any]] = []
        for _ in range(data.draw(st.integers(1, 2))):
            count = len(lines(text))
            first = data.draw(st.integers(0, count + 1)), data.draw(st.integers(0, 60))
            last = first[0] + data.draw(st.integers(0, 3)), data.draw(st.integers(0, 60))
            if last < first:
                last = first
            typed = data.draw(st.sampled_from(TYPED))
            start, end = offset(text, *first, width), offset(text, *last, width)
            text = text[:start] + typed + text[max(start, end) :]
            region = {
                "start": {"line": first[0], "character": first[1]},
                "end": {"line": last[0], "character": last[1]},
            }
            changes.append({"range": region, "text": typed})
        wire.change(URI, version, changes)
        assert wire.server.documents.open["/nowhere/model.charon"].text == text
        told = [
            m["params"] for m in wire.sent if m.get("method") == "textDocument/publishDiagnostics"
        ]
        assert told[-1]["version"] == version
        ask_everything(wire, data.draw(st.integers(0, count)), data.draw(st.integers(0, 60)))
    await wire.end()


def ask_everything(wire: Wire, line: int, character: int) -> None:
    document = {"textDocument": {"uri": URI}}
    place = {**document, "position": {"line": line, "character": character}}
    lines = {"start": {"line": 0, "character": 0}, "end": {"line": line, "character": character}}
    for method in (
        "completion",
        "signatureHelp",
        "hover",
        "definition",
        "documentHighlight",
        "prepareRename",
    ):
        wire.ask(f"textDocument/{method}", **place)
    wire.ask("charon/expected", **place)
    wire.ask("textDocument/references", **place, context={"includeDeclaration": True})
    for method in ("documentSymbol", "foldingRange", "codeLens", "semanticTokens/full"):
        wire.ask(f"textDocument/{method}", **document)
    wire.ask("textDocument/semanticTokens/range", **document, range=lines)
    wire.ask("textDocument/inlayHint", **document, range=lines)
    wire.ask("textDocument/codeAction", **document, range=lines, context={"diagnostics": []})
    wire.ask("textDocument/formatting", **document, options={"tabSize": 2, "insertSpaces": True})
    wire.ask("workspace/symbol", query="m")
