"""A server in this process, spoken to in messages."""

from __future__ import annotations

import json
from itertools import count
from typing import Any

from workbench.language_server.server import Server


class Wire:
    """Messages to a server and what comes back; to be used where an event loop runs."""

    def __init__(self) -> None:
        self.server = Server(memory=4.0)
        self.server.protocol.set_writer(self, include_headers=False)
        self.sent: list[dict[str, Any]] = []
        self._numbers = count(1)

    def write(self, data: bytes) -> None:
        self.sent.append(json.loads(data))

    def close(self) -> None:
        pass

    def _send(self, message: dict[str, Any]) -> None:
        protocol = self.server.protocol
        text = json.dumps({"jsonrpc": "2.0", **message})
        protocol.handle_message(json.loads(text, object_hook=protocol.structure_message))

    def tell(self, method: str, **params: Any) -> None:
        """Send a notification."""
        self._send({"method": method, "params": params})

    def ask(self, method: str, **params: Any) -> Any:
        """Send a request that is answered at once; an error is raised."""
        number = next(self._numbers)
        self._send({"id": number, "method": method, "params": params})
        (answer,) = [m for m in self.sent if m.get("id") == number and "method" not in m]
        if "error" in answer:
            raise AssertionError(answer["error"])
        return answer.get("result")

    def begin(self, encoding: str = "utf-16") -> None:
        """Begin a session."""
        self.ask(
            "initialize",
            capabilities={"general": {"positionEncodings": [encoding]}},
            processId=None,
            rootUri=None,
        )

    def open(self, uri: str, text: str) -> None:
        """Open a text."""
        item = {"uri": uri, "languageId": "charon", "version": 1, "text": text}
        self.tell("textDocument/didOpen", textDocument=item)

    def change(self, uri: str, version: int, changes: list[dict[str, Any]]) -> None:
        """Change a text."""
        identifier = {"uri": uri, "version": version}
        self.tell("textDocument/didChange", textDocument=identifier, contentChanges=changes)

    async def end(self) -> None:
        """End the processes of the server."""
        await self.server.checks.end()
        await self.server.crew.end()
