"""The server's process: an address on this machine, and a token that it remembers."""

from __future__ import annotations

import contextlib
import logging
import os
import secrets
import socket
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import uvicorn

from workbench.api.saving import save
from workbench.server.application import application
from workbench.server.folder import Folder
from workbench.server.socket import MAX_FRAME

HOST = "127.0.0.1"
PORT = 8421
TRIED = 20
"""So many ports are tried, from the usual one on."""


def bind(port: int | None) -> socket.socket:
    """A socket of this machine alone, at the given port or the first that is free. Raises
    OSError."""
    ports = range(PORT, PORT + TRIED) if port is None else [port]
    for number in ports:
        bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            bound.bind((HOST, number))
            bound.listen(64)  # else two could bind the same port
        except OSError:
            bound.close()
            if number == ports[-1]:
                raise
        else:
            return bound
    raise AssertionError("there is a last port")


def token_of(root: Path) -> str:
    """The token of a project, made at its first use: a page finds its server again after that was
    started anew. Only its owner can read it."""
    place = Folder(root).own("token")
    try:
        found = place.read_text("ascii").strip()
        if len(found) >= 40 and place.stat().st_mode & 0o077 == 0:
            return found
    except (OSError, ValueError):
        pass
    place.unlink(missing_ok=True)
    os.close(os.open(place, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    token = secrets.token_urlsafe(32)
    save(place, token + "\n")
    return token


class _Server(uvicorn.Server):
    """Ends in order at the first interrupt, and does not hear another: Ctrl-C comes twice, from the
    terminal and from the process that attends to this one, and that one sees to it that the end
    does not take long."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if not self.should_exit:
            super().handle_exit(sig, frame)


def serve(root: Path, port: int | None, memory: float, announce: Callable[[str], None]) -> None:
    """Serve a project folder until an interrupt; `announce` is told the address, and `memory` is
    what each worker may have, in gigabytes."""
    bound = bind(port)
    number = bound.getsockname()[1]
    token = token_of(root)
    logging.basicConfig(format="%(asctime)s %(name)s: %(message)s", level=logging.WARNING)
    config = uvicorn.Config(
        application(root, token, number, memory),
        log_config=None,
        access_log=False,
        server_header=False,
        ws="websockets-sansio",
        ws_max_size=MAX_FRAME,
        ws_per_message_deflate=False,  # nothing is gained on one machine, and pictures would wait
        h11_max_incomplete_event_size=65536,
        limit_concurrency=200,
        timeout_graceful_shutdown=3,
        lifespan="on",
    )
    announce(f"http://{HOST}:{number}/?token={token}")
    with contextlib.suppress(KeyboardInterrupt):  # the way to end it
        _Server(config).run(sockets=[bound])
