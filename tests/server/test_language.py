"""The language server behind a page: messages go through, one process for each page."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

from tests.support.serving import until

Page = Any


def rpc(page: Page, method: str, number: int | None = None, **params: Any) -> Any:
    """Say something to the language server; the answer, if it is a request."""
    message = {"jsonrpc": "2.0", "method": method, "params": params}
    if number is None:
        page.send(channel="lsp", message=message)
        return None
    page.send(channel="lsp", message=message | {"id": number})
    while True:
        frame = page.frame("lsp")
        assert "message" in frame, frame
        if frame["message"].get("id") == number and "method" not in frame["message"]:
            return frame["message"]


def opened(page: Page, project: Path, text: str) -> str:
    uri = (project / "ball.charon").as_uri()
    capabilities: dict[str, Any] = {}
    rpc(page, "initialize", 1, processId=None, rootUri=project.as_uri(), capabilities=capabilities)
    rpc(page, "initialized")
    document = {"uri": uri, "languageId": "charon", "version": 1, "text": text}
    rpc(page, "textDocument/didOpen", textDocument=document)
    return uri


def diagnostics(page: Page) -> list[Any]:
    while True:
        message = page.frame("lsp")["message"]
        if message.get("method") == "textDocument/publishDiagnostics":
            return list(message["params"]["diagnostics"])


def is_language_server(number: int) -> bool:
    return b"\0lsp\0" in Path(f"/proc/{number}/cmdline").read_bytes()


def test_what_is_typed_is_looked_at(server: Any, page: Page, project: Path) -> None:
    text = (project / "ball.charon").read_text()
    uri = opened(page, project, text.replace("d(height) ==", "d(height) ="))
    (first, *_) = diagnostics(page)
    assert first["range"]["start"]["line"] == 2
    symbols = rpc(page, "textDocument/documentSymbol", 2, textDocument={"uri": uri})["result"]
    assert {"Falling", "BallTop", "Ball"} <= {one["name"] for one in symbols}
    edit = {"kind": "AddMode", "path": ["Ball", "top"], "name": "falling"}
    document = {"uri": uri}
    assert "error" in rpc(page, "charon/visualEdit", 3, textDocument=document, edit=edit)
    assert server.log.read_text() == ""  # what was refused is told, and no defect


def test_every_page_has_its_own(server: Any, page: Page, project: Path) -> None:
    text = (project / "ball.charon").read_text()
    opened(page, project, text)
    with (other := server.page()).connection:
        uri = opened(other, project, text + "agent {")
        assert diagnostics(other)
        found = rpc(page, "textDocument/documentSymbol", 3, textDocument={"uri": uri})["result"]
        assert len(found) == 3


def test_one_that_dies_is_started_anew(server: Any, page: Page, project: Path) -> None:
    text = (project / "ball.charon").read_text()
    opened(page, project, text)
    for number in server.workers():
        if is_language_server(number):
            os.kill(number, signal.SIGKILL)
    while "error" not in (frame := page.frame("lsp")):
        pass
    assert "ended" in frame["error"]["message"]
    opened(page, project, text + "agent {")
    assert diagnostics(page)


def test_none_is_left_when_the_page_is_gone(server: Any, project: Path) -> None:
    with (page := server.page()).connection:
        opened(page, project, "")
        languages = {number for number in server.workers() if is_language_server(number)}
        assert languages
    until(lambda: not languages & set(server.workers()))
