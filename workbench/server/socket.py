"""The socket of a page: frames of JSON in channels, in both directions."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from pathlib import PurePosixPath
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from workbench.server.folder import FolderError
from workbench.server.language import LanguageServer, check_files
from workbench.server.project import Project
from workbench.server.requests import read_simulation
from workbench.server.results import digest

LOG = logging.getLogger("workbench.server")

MAX_FRAME = 8_000_000
"""The largest frame that a page may send, in bytes."""

INVALID = -32602
"""The protocol's code for parameters that make no sense."""

MAX_PAGES = 20
TRACES = "traces"
"""Where runs are kept, in the project."""

MAX_FAULTS = 20
"""After so many frames that make no sense a page is not listened to any more."""


class Page:
    """One page that is connected."""

    def __init__(self, socket: WebSocket, project: Project):
        self._socket, self._project = socket, project
        self._box = project.join(self)
        self._language: LanguageServer | None = None
        self._faults = 0

    async def serve(self) -> None:
        """Listen and tell until the page is gone."""
        try:
            await self._socket.accept()
            await self._converse()
        finally:
            self._project.leave(self)
            if self._language is not None:
                await self._language.end()

    async def _converse(self) -> None:
        telling = asyncio.create_task(self._tell())
        try:
            while self._faults < MAX_FAULTS:
                await self._hear(await self._socket.receive())
            LOG.warning("refused a page that sends frames without sense")
            await self._socket.close(1008, "too many frames make no sense")
        except WebSocketDisconnect:
            pass
        finally:
            telling.cancel()

    async def _tell(self) -> None:
        with contextlib.suppress(WebSocketDisconnect, RuntimeError):
            while True:
                await self._say(await self._box.take())

    async def _say(self, frame: dict[str, Any]) -> None:
        await self._socket.send_text(json.dumps(frame))

    async def _hear(self, message: Any) -> None:
        if message["type"] == "websocket.disconnect":
            raise WebSocketDisconnect(message.get("code", 1000))
        try:
            frame = json.loads(message.get("text") or "")
            channel = frame["channel"]
            hear = _HEARD[channel]
        except (ValueError, KeyError, TypeError, RecursionError):
            await self._fault("a frame is an object of JSON with a known channel")
            return
        await hear(self, frame)

    async def _fault(self, message: str) -> None:
        self._faults += 1
        LOG.warning("refused a frame: %s", message)
        await self._say({"channel": "error", "error": {"message": message}})

    # Channels

    async def _hear_lsp(self, frame: dict[str, Any]) -> None:
        message = frame.get("message")
        if not isinstance(message, dict):
            await self._fault("a frame of `lsp` has a message")
            return
        try:
            check_files(self._project.folder, message)
        except FolderError as error:
            await self._fault(error.message)
            if "id" in message:
                told = {"code": INVALID, "message": error.message}
                await self._say_lsp({"jsonrpc": "2.0", "id": message["id"], "error": told})
            return
        if self._language is None:
            self._language = await LanguageServer.start(
                self._project.folder.root, self._project.memory, self._say_lsp
            )
        await self._language.send(message)

    async def _say_lsp(self, message: Any) -> None:
        if message is None:
            self._language = None
            await self._say({"channel": "lsp", "error": {"message": "the language server ended"}})
        else:
            await self._say({"channel": "lsp", "message": message})

    async def _ask(self, frame: dict[str, Any]) -> None:
        """A simulation, a run of one to keep or to make again, or a question about a moment."""
        channel, number = frame["channel"], frame.get("id")
        if not isinstance(number, int):
            await self._fault(f"a frame of `{channel}` has a number, `id`")
            return

        async def answer(data: Any) -> None:
            await self._say({"channel": channel, "id": number, **data})

        folder = self._project.folder
        try:
            request = read_simulation(folder, frame.get("request"), channel)
            if channel == "record":
                stem = PurePosixPath(request.get("model", "run")).stem
                request["file"] = folder.vacant(TRACES, stem, ".trace.json")
            text = request.get("text")
            if "model" in request:
                request["digest"] = digest(folder, request["model"], text)
            if "models" in request:
                texts = [text, *[None] * len(request["models"])]
                found = zip(request["models"], texts, strict=False)
                request["models"] = {model: digest(folder, model, t) for model, t in found}
        except (FolderError, OSError) as error:
            await answer({"error": {"message": str(error)}})
            return
        self._project.interactive.ask(self, channel, request, answer)


_HEARD = {
    "lsp": Page._hear_lsp,
    "simulate": Page._ask,
    "record": Page._ask,
    "replay": Page._ask,
    "why": Page._ask,
}
"""Who hears the frames of a channel."""
