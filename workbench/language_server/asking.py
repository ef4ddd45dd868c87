"""Claims decided and agents run from the text: code lenses, the commands behind them, and what is
known, shown beside the claims."""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams

from workbench import Document, Span
from workbench.workers.crew import Refusal, WorkerDied

if TYPE_CHECKING:
    from workbench.api.document import Claim
    from workbench.language_server.server import Server

VERDICTS = "charon/verdicts"
"""The notification that tells the editor what is known of the claims of a document."""
PICTURES = ".workbench"
"""The folder beside a model for pictures of runs and for reports."""

_SIGNS = {"verified": "✓", "falsified": "✗", "unknown": "?"}


@dataclass
class Known:
    """What was found out about a claim, of which texts, and where its recorded run is kept."""

    claim: Claim
    verdict: dict[str, Any]
    digest: str


def add_to(server: Server) -> None:
    """Add the features to a server."""
    jobs, documents = server.jobs, server.documents

    @server.feature(types.TEXT_DOCUMENT_CODE_LENS, types.CodeLensOptions())
    def lenses(params: types.CodeLensParams) -> list[types.CodeLens]:
        document = documents.at(params.text_document.uri)
        return jobs.lenses(document, params.text_document.uri) if document is not None else []

    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT)
    def hints(params: types.InlayHintParams) -> list[types.InlayHint]:
        document = documents.at(params.text_document.uri)
        first, last = params.range.start.line, params.range.end.line
        shown = jobs.hints(document) if document is not None else []
        return [hint for hint in shown if first <= hint.position.line <= last]

    @server.command("charon.verify")
    async def verify(request: dict[str, Any]) -> Any:
        return await jobs.decide("verify", request)

    @server.command("charon.falsify")
    async def falsify(request: dict[str, Any]) -> Any:
        return await jobs.decide("falsify", request)

    @server.command("charon.simulate")
    async def simulate(request: dict[str, Any]) -> Any:
        return await jobs.simulate(request)

    @server.command("charon.report")
    async def report(request: dict[str, Any]) -> Any:
        return await jobs.report(request)


class Jobs:
    """What is being worked on, and what has been found out."""

    def __init__(self, server: Server):
        self._server = server
        self._known: dict[str, dict[tuple[str, str], Known]] = {}
        self._numbers = count(1)

    # What is shown

    def lenses(self, document: Document, uri: str) -> list[types.CodeLens]:
        """What can be asked, above the claims and agents of a document."""
        asked = document.asked()
        found: list[types.CodeLens] = []

        def offer(span: Span, word: str, request: dict[str, Any]) -> None:
            command = types.Command(word, f"charon.{word}", arguments=[{"uri": uri, **request}])
            found.append(types.CodeLens(self._server.range(_first_line(span)), command))

        for claim in asked.claims:
            for word in ("verify", "falsify"):
                offer(claim.span, word, {"place": [claim.span.line, claim.span.column]})
        for agent in asked.agents:
            is_whole = agent.name == asked.whole
            if agent.is_complete or is_whole:
                offer(agent.span, "simulate", {"agent": None if is_whole else agent.name})
            if is_whole:
                offer(agent.span, "report", {})
        return found

    def hints(self, document: Document) -> list[types.InlayHint]:
        """What is known of the claims, behind them."""
        found = []
        for claim, known, is_stale in self._of(document):
            place = Span(document.name, claim.span.end_line, claim.span.end_column, 0, 0)
            lines = document.lines
            position = self._server.documents.positions.position(lines, (place.line, place.column))
            label = headline(known.verdict)
            label = f"{label} (before the last change)" if is_stale else label
            found.append(
                types.InlayHint(position, label, padding_left=True, tooltip=known.verdict["text"])
            )
        return found

    def broken_claims(self, name: str) -> list[types.Diagnostic]:
        """Claims that a run breaks, as diagnostics."""
        document = self._server.documents.find(name)
        if document is None:
            return []
        return [
            types.Diagnostic(
                self._server.range(_first_line(claim.span)),
                headline(known.verdict),
                types.DiagnosticSeverity.Error,
                "falsified",
                source="workbench",
            )
            for claim, known, is_stale in self._of(document)
            if known.verdict["outcome"] == "falsified" and not is_stale
        ]

    def text_changed(self, name: str) -> None:
        """What is known of a document is now about an older text."""
        if self._known.get(name):
            self._tell(name)

    def _of(self, document: Document) -> list[tuple[Claim, Known, bool]]:
        answers = self._known.get(document.name)
        if not answers:
            return []
        digest = _digest(document)
        found = []
        for claim in document.asked().claims:
            known = answers.get(_key(document, claim))
            if known is not None:
                found.append((claim, known, known.digest != digest))
        return found

    def _tell(self, name: str) -> None:
        """Tell the editor what is known of the claims of a document."""
        document = self._server.documents.find(name)
        if document is None:
            return
        verdicts = [
            {
                "range": self._server.range(claim.span),
                "property": known.verdict["property"],
                "outcome": known.verdict["outcome"],
                "headline": headline(known.verdict),
                "text": known.verdict["text"],
                "stale": is_stale,
            }
            for claim, known, is_stale in self._of(document)
        ]
        uri = self._server.documents.uri(name)
        self._server.protocol.notify(VERDICTS, {"uri": uri, "verdicts": verdicts})
        if self._server.supports("workspace.inlay_hint.refresh_support"):
            self._server.workspace_inlay_hint_refresh(None)

    # What is done

    async def decide(self, task: str, request: dict[str, Any]) -> Any:
        """Decide the claim that stands at a place of a document."""
        document = self._document(request)
        line, column = request.get("place", (0, 0))
        claims = document.asked().claims
        claim = next((c for c in claims if (c.span.line, c.span.column) == (line, column)), None)
        if claim is None:
            raise JsonRpcInvalidParams("there is no property at this place any more")
        place = [document.name, line, column]
        kind, _, owner = claim.owner.partition(" ")
        wanted = {"place": place, "owner": owner if kind == "agent" else None}
        name, key, digest = document.name, _key(document, claim), _digest(document)
        verdict = await self._work(task, f"{task} {claim.name or owner}", document, wanted)
        if verdict is None:
            return None
        recording = verdict.pop("recording", None)
        if recording is not None:
            verdict["trace"] = _write(
                document, f"{_plain(verdict['property'])}.trace.json", recording
            )
        self._known.setdefault(name, {})[key] = Known(claim, verdict, digest)
        self._tell(name)
        self._server.checks.tell(name)
        return verdict

    async def simulate(self, request: dict[str, Any]) -> Any:
        """Run an agent of a document; the runs are drawn into a file."""
        document = self._document(request)
        agent = request.get("agent")
        picture = _folder(document) / f"{_stem(document, agent)}.svg"
        wanted = {"agent": agent, "picture": str(picture)}
        found = await self._work(
            "simulate", f"simulate {agent or _stem(document)}", document, wanted
        )
        if found is not None:
            self._show(found["picture"])
        return found

    async def report(self, request: dict[str, Any]) -> Any:
        """Write the report of a document."""
        document = self._document(request)
        page = _folder(document) / f"{_stem(document)}.html"
        wanted = {"agent": request.get("agent"), "page": str(page)}
        found = await self._work("report", f"report {_stem(document)}", document, wanted)
        if found is not None:
            self._show(found["page"])
        return found

    def _document(self, request: dict[str, Any]) -> Document:
        document = self._server.documents.at(str(request.get("uri", "")))
        if document is None:
            raise JsonRpcInvalidParams(f"there is no document {request.get('uri')!r:.200}")
        return document

    async def _work(
        self, task: str, title: str, document: Document, request: dict[str, Any]
    ) -> dict[str, Any] | None:
        """Have a process do something while the editor is told how far it is; None where it was
        called off or has no result, which the user is told."""
        whole = {"name": document.name, "texts": dict(document.files), **request}
        progress = await self._progress(title)
        work = asyncio.ensure_future(self._server.crew.do(task, whole, progress.report))
        progress.ends(work)
        try:
            found: dict[str, Any] = await work
        except asyncio.CancelledError:
            return None
        except (Refusal, WorkerDied) as problem:
            self._say(str(problem), types.MessageType.Error)
            return None
        finally:
            progress.end()
        return found

    async def _progress(self, title: str) -> _Progress:
        if not self._server.supports("window.work_done_progress"):
            return _Progress(self._server, None, title)
        token = f"charon-{next(self._numbers)}"
        await self._server.work_done_progress.create_async(token)
        return _Progress(self._server, token, title)

    def _say(self, message: str, kind: types.MessageType) -> None:
        self._server.window_show_message(types.ShowMessageParams(kind, message))

    def _show(self, path: str) -> None:
        """Let the editor open a file that was written, if it can."""
        if self._server.supports("window.show_document.support"):
            uri = self._server.documents.uri(path)
            self._server.window_show_document(types.ShowDocumentParams(uri, external=True), None)
        else:
            self._say(f"wrote {path}", types.MessageType.Info)


class _Progress:
    """What the editor shows of a job, and its button to call it off."""

    def __init__(self, server: Server, token: str | None, title: str):
        self._server, self._token = server, token
        if token is not None:
            begin = types.WorkDoneProgressBegin(title=title, cancellable=True)
            server.work_done_progress.begin(token, begin)

    def ends(self, work: asyncio.Future[Any]) -> None:
        """Let the button end this work."""
        if self._token is not None:
            called_off = self._server.work_done_progress.tokens[self._token]
            called_off.add_done_callback(lambda _: work.cancel())

    async def report(self, words: str) -> None:
        """Say how far it is."""
        if self._token is not None:
            report = types.WorkDoneProgressReport(message=words)
            self._server.work_done_progress.report(self._token, report)

    def end(self) -> None:
        """It is over."""
        if self._token is not None:
            self._server.work_done_progress.end(self._token, types.WorkDoneProgressEnd())


def headline(verdict: dict[str, Any]) -> str:
    """A verdict in a few words."""
    sign, outcome = _SIGNS[verdict["outcome"]], verdict["outcome"]
    if outcome == "verified":
        return f"{sign} verified {verdict['scope']} ({verdict['method']}, {verdict['seconds']} s)"
    if outcome == "falsified":
        return f"{sign} broken by a run at time {verdict.get('time', 0):.6g} ({verdict['method']})"
    return f"{sign} unknown: {verdict['reason'] or 'no method decided it'}"


def _first_line(span: Span) -> Span:
    """A region as far as it is on its first line."""
    if span.line == span.end_line:
        return span
    return Span(span.file, span.line, span.column, span.line, span.column + 1)


def _key(document: Document, claim: Claim) -> tuple[str, str]:
    """What a claim is known by while other things change: who makes it, and its name or text."""
    if claim.name is not None:
        return claim.owner, claim.name
    return claim.owner, "\n".join(document.lines[claim.span.line - 1 : claim.span.end_line]).strip()


def _digest(document: Document) -> str:
    """The fingerprint of all texts that a document stands for."""
    found = hashlib.sha256()
    for name, text in sorted(document.files.items()):
        found.update(f"{len(name)} {len(text)} {name}{text}".encode("utf-8", "surrogatepass"))
    return found.hexdigest()


def _folder(document: Document) -> Path:
    return Path(document.name).resolve().parent / PICTURES


def _stem(document: Document, agent: str | None = None) -> str:
    stem = Path(document.name).stem
    return stem if agent is None else f"{stem}.{agent}"


def _plain(name: str) -> str:
    return "".join(c if c.isalnum() else "_" for c in name)[:60]


def _write(document: Document, name: str, text: str) -> str:
    path = _folder(document) / f"{_stem(document)}.{name}"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return str(path)
