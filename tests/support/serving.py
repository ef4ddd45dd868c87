"""The real server in a process of its own, and clients that speak to it."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
from websockets.sync.client import ClientConnection, connect

PATIENCE = 300.0
"""Seconds after which a test gives up waiting: only for what would never come."""


def until(condition: Callable[[], object]) -> None:
    """Wait for something to become true."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "this never came true"
        time.sleep(0.05)


class Page:
    """The socket of a page."""

    def __init__(self, connection: ClientConnection):
        self.connection = connection
        self._numbers = itertools.count(1)

    def send(self, **frame: Any) -> None:
        self.connection.send(json.dumps(frame))

    def frame(self, channel: str, **wanted: Any) -> Any:
        """The next frame of a channel with these entries; others are passed over."""
        until = time.monotonic() + PATIENCE
        while True:
            frame = json.loads(self.connection.recv(timeout=max(0.0, until - time.monotonic())))
            if frame["channel"] == channel and wanted.items() <= frame.items():
                return frame

    def ask(self, channel: str, **request: Any) -> Any:
        """The answer to a request of a channel."""
        number = next(self._numbers)
        self.send(channel=channel, id=number, request=request)
        return self.frame(channel, id=number)

    def job(self, number: str, state: str = "done") -> Any:
        """The job when it has come to a state."""
        while True:
            job = self.frame("jobs")["job"]
            if job["id"] == number and job["state"] == state:
                return job


class Server:
    """A server process; it can be killed and started again."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.log = folder.parent / "server.log"
        self._process: subprocess.Popen[str]
        self.start()

    def start(self, port: int | None = None) -> None:
        given = [] if port is None else ["--port", str(port)]
        command = [sys.executable, "-m", "workbench", "serve", "--no-browser", "--json", *given]
        with self.log.open("a") as log:
            self._process = subprocess.Popen(
                [*command, str(self.folder)],
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                start_new_session=True,  # as a terminal does, whose Ctrl-C comes to all of them
            )
        assert self._process.stdout is not None
        told = ""
        while not told.rstrip().endswith("}"):
            line = self._process.stdout.readline()
            assert line, self.log.read_text()
            told += line
        self.address = json.loads(told)["address"]
        self.base, _, self.token = self.address.partition("/?token=")
        self.client = httpx.Client(
            base_url=self.base,
            headers={"Authorization": f"Bearer {self.token}"},
            timeout=PATIENCE,
        )

    @property
    def port(self) -> int:
        return int(self.base.rpartition(":")[2])

    def kill(self) -> None:
        """End it without a word, as a power cut does."""
        self.client.close()
        self._process.kill()
        self._process.wait()

    def end(self) -> int:
        """End it as Ctrl-C does; its exit code."""
        self.client.close()
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGINT)
        try:
            return self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()

    def workers(self) -> list[int]:
        """The processes whose folder is the project, the server left out."""
        found = []
        for entry in Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and (entry / "cwd").readlink() == self.folder:
                    found.append(int(entry.name))
            except OSError:
                continue
        return [number for number in found if number not in (self._process.pid, os.getpid())]

    def page(self, **headers: str) -> Page:
        """A page's socket."""
        address = self.base.replace("http", "ws") + "/api/socket"
        given = {"Authorization": f"Bearer {self.token}", **headers}
        opened = connect(address, additional_headers=given, max_size=None, open_timeout=PATIENCE)
        return Page(opened)
