"""Who may come in: this machine, by the address that was printed, with its token.

Every request and every socket is looked at before anything else happens: the host that it names,
the page that it comes from, the token, the size. What is refused is logged. Answers carry a policy
that lets pages load nothing but what this server has.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOG = logging.getLogger("workbench.server")

MAX_BODY = 8_000_000
"""The largest body of a request, in bytes: a model's text as JSON."""

HOSTS = ("127.0.0.1", "localhost", "[::1]")

SANDBOX = (
    "sandbox allow-scripts allow-downloads allow-popups; default-src 'none';"
    " script-src 'unsafe-inline'; worker-src blob:; style-src 'unsafe-inline';"
    " img-src data: blob:; font-src data:;"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)
"""For files of the project that are shown as they are: no cookies, no requests, no way out."""

_HEADERS: Mapping[str, str] = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "Cache-Control": "no-store",
}


def page_policy(nonce: str) -> str:
    """What the page may load: scripts and styles of this server, and styles with the nonce."""
    return (
        "default-src 'none'; script-src 'self'; worker-src 'self'; connect-src 'self';"
        f" style-src 'self' 'nonce-{nonce}'; img-src 'self' data: blob:; font-src 'self' data:;"
        " frame-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none';"
        " frame-ancestors 'none'"
    )


class Refused(Exception):  # noqa: N818 (an answer, not a defect)
    """Nothing is done for this request."""

    def __init__(self, status: int, why: str, hint: str = ""):
        super().__init__(why)
        self.status, self.why, self.hint = status, why, hint


class Gate:
    """Lets requests through to an application, or refuses them."""

    def __init__(self, app: ASGIApp, token: str, port: int):
        self._app, self._token = app, token
        self._hosts = frozenset(f"{host}:{port}" for host in HOSTS)
        self._origins = frozenset(f"http://{host}" for host in self._hosts)
        self._cookie = f"workbench-{port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Look at a request, and pass it on."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        try:
            self._check_source(scope, headers)
            if scope["type"] == "http" and self._brings_token(scope):
                await self._welcome(scope, receive, send)
                return
            self._check_token(scope, headers)
            if scope["type"] == "http":
                limited = _Limited(headers, receive)
                await self._app(scope, limited, _with_headers(send))
            else:
                await self._app(scope, receive, send)
        except Refused as refused:
            answer = refusal(scope, refused)
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008, "reason": refused.why})
            else:
                await answer(scope, receive, _with_headers(send))

    # What is looked at

    def _check_source(self, scope: Scope, headers: Headers) -> None:
        """The host that was asked for, and the page that asks."""
        if headers.get("host", "") not in self._hosts or len(headers.getlist("host")) != 1:
            raise Refused(421, "another host was asked for")
        origin = headers.get("origin")
        if origin is not None and origin not in self._origins:
            raise Refused(403, "it comes from another page")
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            raise Refused(403, "it comes from another page")
        asks_to_act = scope["type"] == "websocket" or scope["method"] not in ("GET", "HEAD")
        if asks_to_act and origin is None and "authorization" not in headers:
            raise Refused(403, "it does not say from which page it comes")

    def _check_token(self, scope: Scope, headers: Headers) -> None:
        given = headers.get("authorization", "")
        if given.startswith("Bearer "):
            if not self._is_token(given.removeprefix("Bearer ")):
                raise Refused(401, "the token is wrong")
            return
        try:
            cookies = SimpleCookie(headers.get("cookie", ""))
        except CookieError:
            cookies = SimpleCookie()
        found = cookies.get(self._cookie)
        if found is None or not self._is_token(found.value):
            raise Refused(
                401,
                "there is no token" if found is None else "the token is wrong",
                "open the address that `workbench serve` printed",
            )

    def _is_token(self, given: str) -> bool:
        return secrets.compare_digest(given.encode(), self._token.encode())

    def _brings_token(self, scope: Scope) -> bool:
        return scope["path"] == "/" and b"token=" in scope["query_string"]

    # Answers

    async def _welcome(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The token of the address becomes a cookie, and leaves the address."""
        query = parse_qs(scope["query_string"].decode("latin-1"))
        if scope["method"] != "GET" or not self._is_token(query.get("token", [""])[0]):
            raise Refused(401, "the token is wrong")
        answer = RedirectResponse("/", 303)
        answer.set_cookie(self._cookie, self._token, httponly=True, samesite="strict", path="/")
        await answer(scope, receive, _with_headers(send))


def refusal(scope: Scope, refused: Refused) -> JSONResponse:
    """The answer to what is refused, which is logged."""
    headers = Headers(scope=scope)
    LOG.warning(
        "refused %s %s (host %s, origin %s): %s",
        scope.get("method", "socket"),
        _short(scope["path"]),
        _short(headers.get("host", "none")),
        _short(headers.get("origin", "none")),
        refused.why,
    )
    hint = {"hint": refused.hint} if refused.hint else {}
    return JSONResponse({"error": f"refused: {refused.why}", **hint}, refused.status)


def _short(text: str) -> str:
    return "".join(c if c.isprintable() else "?" for c in text[:200])


def _with_headers(send: Send) -> Send:
    """Answers that no other page can read or frame."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
            headers.setdefault("Content-Security-Policy", "default-src 'none'; sandbox")
        await send(message)

    return sending


class _Limited:
    """A body that must not be larger than allowed, whatever its header says."""

    def __init__(self, headers: Headers, receive: Receive):
        length = headers.get("content-length", "0")
        if not length.isdigit() or int(length) > MAX_BODY:
            raise Refused(413, f"a request has at most {MAX_BODY} bytes")
        self._receive, self._left = receive, MAX_BODY

    async def __call__(self) -> Message:
        message = await self._receive()
        self._left -= len(message.get("body", b""))
        if self._left < 0:
            raise Refused(413, f"a request has at most {MAX_BODY} bytes")
        return message
