"""Diagnostics while one types: syntax at once, and what the model means as soon as it is checked,
which a process of its own does. What is found out about a text that has changed meanwhile is
dropped."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from lsprotocol import types

from workbench import Diagnostic, Span
from workbench.language_server.documents import Open, name_of
from workbench.language_server.tasks import diagnostic_of
from workbench.workers.crew import Crew, Refusal, WorkerDied

if TYPE_CHECKING:
    from workbench.language_server.server import Server

DELAY = 0.25
"""Seconds without a change until the meaning is looked at."""
PATIENCE = 2.0
"""Seconds after which a check is given up for the one of a newer text."""
SOURCE = "workbench"

_INFORMATION = frozenset({"no-system"})
"""Findings that a file may have for good: one that is there to be imported."""


def add_to(server: Server) -> None:
    """Add the features to a server."""
    checks, documents = server.checks, server.documents

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: types.DidOpenTextDocumentParams) -> None:
        checks.changed(documents.opened(params.text_document))

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: types.DidChangeTextDocumentParams) -> None:
        known = documents.open.get(name_of(params.text_document.uri))
        before = known.document.lines if known is not None else []
        if documents.changed(params) is not None and known is not None:
            checks.changed(known, before)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseTextDocumentParams) -> None:
        documents.closed(params.text_document.uri)
        checks.closed(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: types.DidSaveTextDocumentParams) -> None:
        checks.others_changed(name_of(params.text_document.uri))

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def files_changed(params: types.DidChangeWatchedFilesParams) -> None:
        for change in params.changes:
            checks.others_changed(name_of(change.uri))


class Checks:
    """What is wrong with the open documents."""

    def __init__(self, server: Server, crew: Crew):
        self._server, self._crew = server, crew
        self._meaning: dict[str, list[Diagnostic]] = {}
        self._settled: dict[str, bool] = {}  # whether the meaning is that of the text as it is
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._begun: dict[str, float] = {}  # when the check that is going on was begun

    def findings(self, name: str) -> list[Diagnostic]:
        """What is known to be wrong with a document now."""
        known = self._server.documents.open.get(name)
        if known is None:
            return []
        meaning = self._meaning.get(name, [])
        if self._settled.get(name):
            return meaning
        places = {finding.span for finding in known.document.diagnostics}
        return [*known.document.diagnostics, *(f for f in meaning if f.span not in places)]

    def changed(self, known: Open, before: list[str] | None = None) -> None:
        """A document is open or has changed: tell what is known, and look at its meaning soon."""
        name = known.document.name
        if before is not None:
            meaning = self._meaning.get(name, [])
            self._meaning[name] = carried(meaning, before, known.document.lines)
        self._settled[name] = False
        self._server.jobs.text_changed(name)
        self.tell(name)
        self._soon(name)
        self.others_changed(name)

    def others_changed(self, name: str) -> None:
        """A file has changed: look at those again that import it."""
        for other in self._server.documents.open.values():
            if other.document.name != name and name in other.document.files:
                other.document = other.document.refreshed()
                self._soon(other.document.name)

    def closed(self, uri: str) -> None:
        """The editor has closed a document."""
        name = name_of(uri)
        task = self._tasks.pop(name, None)
        if task is not None:
            task.cancel()
        self._meaning.pop(name, None)
        self._server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))

    def tell(self, name: str) -> None:
        """Tell the editor what is wrong with a document."""
        known = self._server.documents.open.get(name)
        if known is not None:
            found = [self.shown(f) for f in self.findings(name)]
            found += self._server.jobs.broken_claims(name)
            self._server.text_document_publish_diagnostics(
                types.PublishDiagnosticsParams(known.uri, found, known.version)
            )

    def shown(self, finding: Diagnostic) -> types.Diagnostic:
        """A finding as the protocol tells it."""
        severity = types.DiagnosticSeverity.Error
        if finding.severity == "warning":
            severity = types.DiagnosticSeverity.Warning
        if finding.code in _INFORMATION:
            severity = types.DiagnosticSeverity.Information
        beginning = types.Range(types.Position(0, 0), types.Position(0, 0))
        return types.Diagnostic(
            range=self._server.range(finding.span) if finding.span else beginning,
            message=f"{finding.message}\n{finding.hint}" if finding.hint else finding.message,
            severity=severity,
            code=finding.code,
            source=SOURCE,
        )

    def _soon(self, name: str) -> None:
        task = self._tasks.get(name)
        if task is not None and not task.done():
            begun = self._begun.get(name)
            if begun is not None and asyncio.get_running_loop().time() - begun < PATIENCE:
                return  # it looks at the newest text when it is done
            task.cancel()
        self._tasks[name] = asyncio.ensure_future(self._check(name))

    async def _check(self, name: str) -> None:
        """Check the meaning of a document until it is that of the newest text."""
        while True:
            await asyncio.sleep(DELAY)
            known = self._server.documents.open.get(name)
            if known is None:
                return
            document = known.document
            self._begun[name] = asyncio.get_running_loop().time()
            try:
                request = {"name": name, "texts": dict(document.files)}
                answer = await self._crew.do("check", request)
            except (Refusal, WorkerDied):
                return
            finally:
                self._begun.pop(name, None)
            if self._server.documents.open.get(name) is not known:
                return
            if known.document is document:
                found = [diagnostic_of(data) for data in answer]
                self._meaning[name] = [self._here(name, f) for f in found]
                self._settled[name] = True
                self.tell(name)
                return

    def _here(self, name: str, finding: Diagnostic) -> Diagnostic:
        """A finding in an imported file, told where the file is imported."""
        span = finding.span
        if span is None or span.file == name:
            return finding
        file = span.file.rsplit("/", 1)[-1]
        message = f"{file}, line {span.line}: {finding.message}"
        return replace(finding, message=message, span=self._import(name, span.file), fix=None)

    def _import(self, name: str, file: str) -> Span:
        document = self._server.documents.find(name)
        imported = document.imports if document is not None else {}
        first = next(iter(imported.values()), Span(name, 1, 1, 1, 1))
        return imported.get(file, first)

    async def end(self) -> None:
        """Stop checking."""
        for task in self._tasks.values():
            task.cancel()
        await self._crew.end()


def carried(
    findings: Iterable[Diagnostic], before: list[str], after: list[str]
) -> list[Diagnostic]:
    """Findings about a text, where they stand in another one; those in lines that have changed are
    left out."""
    most = min(len(before), len(after))
    top = next((i for i in range(most) if before[i] != after[i]), most)
    rest = most - top
    bottom = next((i for i in range(rest) if before[-1 - i] != after[-1 - i]), rest)
    found = []
    for finding in findings:
        span = finding.span
        if span is None or span.end_line <= top:
            found.append(finding)
        elif span.line > len(before) - bottom:
            down = len(after) - len(before)
            moved = replace(span, line=span.line + down, end_line=span.end_line + down)
            found.append(replace(finding, span=moved, fix=None))
    return found
