"""The web application: the page, and what it asks for by HTTP."""

from __future__ import annotations

import contextlib
import json
import secrets
from collections.abc import AsyncIterator, Callable
from html import escape
from pathlib import Path, PurePosixPath
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp
from starlette.websockets import WebSocket

import workbench
from workbench.api.texts import with_imports
from workbench.server.folder import ConflictError, FolderError, OutsideError
from workbench.server.gate import SANDBOX, Gate, Refused, page_policy, refusal
from workbench.server.project import Project
from workbench.server.requests import read_job
from workbench.server.socket import MAX_PAGES, Page

BUNDLE = Path(__file__).resolve().parents[1] / "studio" / "bundle"
"""What the front end is built into."""

MAX_RAW = 256_000_000

MEDIA_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".svg": "image/svg+xml",
    ".json": "application/json",
    ".csv": "text/csv; charset=utf-8",
    ".png": "image/png",
}

MISSING = """<!doctype html><html lang="en"><meta charset="utf-8"><title>workbench</title>
<h1>The page was not built</h1>
<p>This installation of the workbench has no front end: {reason}.</p>
<p>Install it again where npm can be reached (<code>pip install .</code> in a clone), or use the
command line: <code>workbench --help</code>.</p>
"""


def missing_page() -> str:
    """Why there is no page, in words; empty where there is one."""
    if (BUNDLE / "index.html").is_file():
        return ""
    with contextlib.suppress(OSError):
        return (BUNDLE / "missing.txt").read_text("utf-8").strip()
    return "it was left out when the workbench was built"


def application(root: Path, token: str, port: int, memory: float) -> ASGIApp:
    """The application for a project folder, behind its gate; `memory` is what each of its workers
    may have, in gigabytes."""
    return Gate(_Application(root, memory).app, token, port)


class _Application:
    def __init__(self, root: Path, memory: float):
        self._root, self._memory = root, memory
        self.project: Project
        self._pages = 0
        json_routes: list[tuple[str, str, Callable[[Request], Any]]] = [
            ("GET", "/api/project", self._get_project),
            ("GET", "/api/files/{path:path}", self._get_file),
            ("PUT", "/api/files/{path:path}", self._put_file),
            ("POST", "/api/files/{path:path}", self._post_file),
            ("DELETE", "/api/files/{path:path}", self._delete_file),
            ("POST", "/api/rename", self._rename),
            ("GET", "/api/drafts", self._get_drafts),
            ("PUT", "/api/drafts/{path:path}", self._put_draft),
            ("DELETE", "/api/drafts/{path:path}", self._delete_draft),
            ("GET", "/api/library", self._get_library),
            ("GET", "/api/library/{name}", self._get_library_model),
            ("GET", "/api/jobs", self._get_jobs),
            ("POST", "/api/jobs", self._post_job),
            ("GET", "/api/jobs/{id}", self._get_job),
            ("DELETE", "/api/jobs/{id}", self._delete_job),
        ]
        routes: list[Any] = [
            Route(path, endpoint, methods=[method]) for method, path, endpoint in json_routes
        ]
        routes += [
            Route("/", self._index),
            Route("/files/{path:path}", self._raw),
            WebSocketRoute("/api/socket", self._socket),
        ]
        if BUNDLE.is_dir():
            routes.append(Mount("/static", StaticFiles(directory=BUNDLE)))
        self.app = Starlette(
            routes=routes,
            lifespan=self._lifespan,
            exception_handlers={
                FolderError: _told,
                Refused: _refused,
                HTTPException: _not_found,
            },
        )

    @contextlib.asynccontextmanager
    async def _lifespan(self, _: Starlette) -> AsyncIterator[None]:
        self.project = Project(self._root, self._memory)
        await self.project.warm_up()
        try:
            yield
        finally:
            await self.project.end()

    # The page

    async def _index(self, _: Request) -> Response:
        nonce = secrets.token_urlsafe(18)
        if reason := missing_page():
            text = MISSING.format(reason=escape(reason))
        else:
            text = (BUNDLE / "index.html").read_text("utf-8")
        headers = {"Content-Security-Policy": page_policy(nonce)}
        return HTMLResponse(text.replace("{{nonce}}", nonce), headers=headers)

    async def _raw(self, request: Request) -> Response:
        path = request.path_params["path"]
        data = await run_in_threadpool(self.project.folder.read_bytes, path, MAX_RAW)
        kind = MEDIA_TYPES.get(PurePosixPath(path).suffix, "text/plain; charset=utf-8")
        headers = {"Content-Security-Policy": SANDBOX}
        return Response(data, media_type=kind, headers=headers)

    async def _socket(self, socket: WebSocket) -> None:
        if self._pages >= MAX_PAGES:
            await socket.close(1013, "too many pages are open")
            return
        self._pages += 1
        try:
            await Page(socket, self.project).serve()
        finally:
            self._pages -= 1

    # Files

    async def _get_project(self, _: Request) -> Response:
        folder = self.project.folder

        def listed() -> list[dict[str, Any]]:
            return [entry.data | {"stamp": folder.stamp(entry)} for entry in folder.entries()]

        files = await run_in_threadpool(listed)
        return JSONResponse({"folder": str(folder.root), "name": folder.root.name, "files": files})

    async def _get_file(self, request: Request) -> Response:
        path = request.path_params["path"]
        found = await run_in_threadpool(self.project.folder.read, path)
        return JSONResponse({"path": path, "text": found.text, "stamp": found.stamp})

    async def _put_file(self, request: Request) -> Response:
        path = request.path_params["path"]
        body = await _body(request, text=str, stamp=str)
        folder = self.project.folder
        stamp = await run_in_threadpool(folder.write, path, body["text"], body["stamp"])
        self.project.drafts.drop(path)
        self.project.changed([path])
        return JSONResponse({"stamp": stamp})

    async def _post_file(self, request: Request) -> Response:
        path = request.path_params["path"]
        body = await _body(request)
        if isinstance(body.get("library"), str):
            text, imported = _library_texts(body["library"])
        elif isinstance(body.get("text"), str):
            text, imported = body["text"], {}
        else:
            raise FolderError("a new file has a text, or the name of a library model")
        stamp = await run_in_threadpool(self.project.folder.create, path, text, imported)
        self.project.changed([path, *(str(PurePosixPath(path).with_name(n)) for n in imported)])
        return JSONResponse({"stamp": stamp}, 201)

    async def _delete_file(self, request: Request) -> Response:
        path = request.path_params["path"]
        await run_in_threadpool(self.project.folder.delete, path)
        self.project.drafts.drop(path)
        self.project.changed([path])
        return JSONResponse({})

    async def _rename(self, request: Request) -> Response:
        body = await _body(request, **{"from": str, "to": str})
        old, new = body["from"], body["to"]
        stamp = await run_in_threadpool(self.project.folder.rename, old, new)
        draft = self.project.drafts.text(old)
        if draft is not None:
            self.project.drafts.keep(new, draft, stamp)
            self.project.drafts.drop(old)
        self.project.changed([old, new])
        return JSONResponse({"stamp": stamp})

    # Drafts

    async def _get_drafts(self, _: Request) -> Response:
        return JSONResponse(self.project.drafts.all())

    async def _put_draft(self, request: Request) -> Response:
        body = await _body(request, text=str, stamp=str)
        self.project.drafts.keep(request.path_params["path"], body["text"], body["stamp"])
        self.project.drafted()
        return JSONResponse({})

    async def _delete_draft(self, request: Request) -> Response:
        self.project.drafts.drop(request.path_params["path"])
        self.project.drafted()
        return JSONResponse({})

    # The library

    async def _get_library(self, _: Request) -> Response:
        return JSONResponse(
            [
                {
                    "name": entry.name,
                    "about": entry.title,
                    "source": entry.source,
                    "expected": [
                        {"property": e.name, "verdict": str(e.verdict), "scope": e.scope}
                        for e in entry.expectations
                    ],
                }
                for entry in workbench.library()
            ]
        )

    async def _get_library_model(self, request: Request) -> Response:
        return JSONResponse({"text": _library_texts(request.path_params["name"])[0]})

    # Jobs

    async def _get_jobs(self, _: Request) -> Response:
        return JSONResponse([job.data for job in self.project.jobs.all()])

    async def _post_job(self, request: Request) -> Response:
        wanted = read_job(self.project.folder, await _body(request))
        job = self.project.jobs.submit(wanted)
        return JSONResponse({"id": job.id}, 201)

    async def _get_job(self, request: Request) -> Response:
        return JSONResponse(self.project.jobs.find(request.path_params["id"]).data)

    async def _delete_job(self, request: Request) -> Response:
        job = self.project.jobs.find(request.path_params["id"])
        self.project.jobs.cancel(job)
        return JSONResponse({})


def _library_texts(name: str) -> tuple[str, dict[str, str]]:
    """The text of a library model, and those of what it imports by the names of their files."""
    for entry in workbench.library():
        if entry.name == name:
            own, *imported = with_imports([entry.path])
            texts = {file.name: file.read_text("utf-8") for file in imported}
            return own.read_text("utf-8"), texts
    raise FolderError(f"the library has no model {name[:80]!r}", 404)


async def _body(request: Request, **wanted: type) -> dict[str, Any]:
    """The object that a request brings, with entries of these types."""
    try:
        found = json.loads(await request.body())
    except (ValueError, RecursionError):
        raise FolderError("the body of the request is not JSON") from None
    if not isinstance(found, dict):
        raise FolderError("the body of the request is not an object")
    for name, kind in wanted.items():
        if not isinstance(found.get(name), kind):
            raise FolderError(f"the body of the request has no text {name!r}")
    return found


async def _told(request: Request, error: Exception) -> Response:
    """What cannot be done, in a sentence; attempts to leave the folder are logged."""
    assert isinstance(error, FolderError)
    if isinstance(error, OutsideError):
        return refusal(request.scope, Refused(error.status, error.message, error.hint))
    data: dict[str, Any] = {"error": error.message}
    if error.hint:
        data["hint"] = error.hint
    if isinstance(error, ConflictError) and error.content is not None:
        data |= {"stamp": error.content.stamp, "text": error.content.text}
    return JSONResponse(data, error.status)


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refused)
    return refusal(request.scope, error)


async def _not_found(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return JSONResponse({"error": error.detail}, error.status_code)
