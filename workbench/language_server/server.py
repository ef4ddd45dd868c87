"""The server: its state, its transport, and the features that are added to it."""

from __future__ import annotations

import gc
import logging
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lsprotocol import types
from lsprotocol.converters import get_converter
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.protocol import (
    JsonRPCNotification,
    JsonRPCRequestMessage,
    JsonRPCResponseMessage,
    LanguageServerProtocol,
)
from pygls.protocol.language_server import lsp_method

import workbench
from workbench import Document
from workbench.language_server import asking, checking, drawing, looking, writing
from workbench.language_server.documents import Documents, name_of
from workbench.language_server.plain import Plain
from workbench.language_server.positions import Place, Positions
from workbench.workers.crew import Crew, Work

FEATURES = (checking, writing, looking, asking, drawing)
"""The modules that add what editors can ask."""
TASKS = "workbench.language_server.tasks"
"""What the workers do."""
MAX_AT_ONCE = 8
"""How many claims are decided at once; others wait."""


class _Protocol(LanguageServerProtocol):
    """The protocol as pygls has it, except that texts are kept in `documents` alone: it ends lines
    where others do not, and would give up a change that it cannot place."""

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(
        self, params: types.DidChangeTextDocumentParams
    ) -> Iterator[Any]:
        """Hand a change on."""
        yield self.fm.features[types.TEXT_DOCUMENT_DID_CHANGE], (params,), None


class Server(LanguageServer):
    """A session with one editor."""

    def __init__(self, memory: float) -> None:
        super().__init__(
            "workbench",
            workbench.__version__,
            protocol_cls=_Protocol,
            converter_factory=_converter,
        )
        self.documents = Documents()
        self.crew = Crew(Work(TASKS, memory), at_once=MAX_AT_ONCE)
        self.checks = checking.Checks(self, Crew(Work(TASKS, memory)))
        self.jobs = asking.Jobs(self)
        for feature in FEATURES:
            feature.add_to(self)
        self._add_session()

    def place(self, document: Document, position: types.Position) -> Place:
        """The place of a position in a document."""
        return self.documents.positions.place(document.lines, position)

    def range(self, span: workbench.Span) -> types.Range:
        """The range of a region of a file."""
        return self.documents.positions.range(self.documents.lines(span.file), span)

    def location(self, span: workbench.Span) -> types.Location:
        """A region of a file as the editor calls it."""
        return types.Location(self.documents.uri(span.file), self.range(span))

    def supports(self, path: str) -> bool:
        """Whether the editor says that it can do something: `window.workDoneProgress`."""
        found: Any = self.client_capabilities
        for name in path.split("."):
            found = getattr(found, name, None)
        return bool(found)

    def report_server_error(self, error: Exception, source: Any) -> None:
        """A defect is written down; the editor is not disturbed. What it is told is refused is
        none."""
        if isinstance(error, JsonRpcException):
            return
        logging.getLogger(__name__).error("%s", error, exc_info=error)

    def _add_session(self) -> None:
        """Add how a session begins and ends."""

        @self.feature(types.INITIALIZE)
        def begin(params: types.InitializeParams) -> None:
            self._take_folders()
            encoding = self.workspace.position_encoding
            self.documents.positions = Positions(str(getattr(encoding, "value", encoding)))

        @self.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
        def folders_changed(params: types.DidChangeWorkspaceFoldersParams) -> None:
            self._take_folders()

        @self.feature(types.SHUTDOWN)
        async def end(params: None) -> None:
            await self.checks.end()
            await self.crew.end()

    def _take_folders(self) -> None:
        known = [folder.uri for folder in self.workspace.folders.values()]
        if not known and self.workspace.root_uri:
            known = [self.workspace.root_uri]
        self.documents.folders = [Path(name_of(uri)) for uri in known]


def _is_defect(record: logging.LogRecord) -> bool:
    """Whether what is to be logged is more than that a request was refused, as its answer says."""
    return record.exc_info is None or not isinstance(record.exc_info[1], JsonRpcException)


def _converter() -> Any:
    """What turns messages into objects; what is not in the protocol stays plain data."""
    converter = get_converter()
    for kind in (JsonRPCRequestMessage, JsonRPCNotification, JsonRPCResponseMessage):
        converter.register_structure_hook(kind, lambda data, made: made(**data))
    converter.register_unstructure_hook(Plain, lambda data: data)
    return converter


def run(memory: float, log: Path | None = None) -> None:
    """Serve the editor on standard input and output until it says so; defects are written to the
    log, or to standard error. Each worker may have `memory`, in gigabytes."""
    logging.basicConfig(level=logging.ERROR, filename=log)
    for handler in logging.getLogger().handlers:
        handler.addFilter(_is_defect)
    gc.set_threshold(50_000, 50, 50)  # what is known of texts has few cycles, and is large
    with os.fdopen(os.dup(1), "wb") as messages:
        os.dup2(2, 1)  # nothing else may write among the messages
        Server(memory).start_io(stdout=messages)
