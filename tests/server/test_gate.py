"""Who does not come in: other pages, other hosts, whoever has no token; and it is logged."""

from __future__ import annotations

import itertools
import json
import os
import re
import socket
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import httpx
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from tests.support.serving import PATIENCE

Server = Any


def refused(server: Server, words: str) -> bool:
    return re.search(f"refused .*{words}", server.log.read_text()) is not None


@pytest.mark.parametrize(
    "path", ["/", "/api/project", "/api/files/ball.charon", "/api/jobs", "/static/studio.js"]
)
def test_nothing_is_told_without_the_token(server: Server, path: str) -> None:
    answer = httpx.get(server.base + path, timeout=PATIENCE)
    assert answer.status_code == 401
    assert "there is no token" in answer.json()["error"]
    assert refused(server, "there is no token")
    for wrong in (server.token[:-1], server.token + "x", "ä", "x"):
        headers = {"Authorization": f"Bearer {wrong}".encode()}
        answer = httpx.get(server.base + path, headers=headers, timeout=PATIENCE)
        assert answer.status_code == 401


def test_the_address_brings_a_cookie_that_scripts_cannot_read(server: Server) -> None:
    with httpx.Client(timeout=PATIENCE) as browser:
        answer = browser.get(server.address)
        assert (answer.status_code, answer.headers["location"]) == (303, "/")
        cookie = answer.headers["set-cookie"]
        assert "HttpOnly" in cookie and "SameSite=strict" in cookie
        page = browser.get(server.base + "/")
        assert page.status_code == 200
        assert browser.get(server.base + "/api/project").status_code == 200
    wrong = httpx.get(server.base + "/?token=wrong", timeout=PATIENCE)
    assert wrong.status_code == 401
    cookies = {f"workbench-{server.port}": "wrong"}
    guessed = httpx.get(server.base + "/api/project", cookies=cookies, timeout=PATIENCE)
    assert guessed.status_code == 401


def test_pages_load_nothing_from_elsewhere(server: Server) -> None:
    answer = server.client.get("/")
    policy = dict(
        part.strip().partition(" ")[::2]
        for part in answer.headers["content-security-policy"].split(";")
    )
    assert policy["default-src"] == policy["object-src"] == policy["base-uri"] == "'none'"
    assert policy["script-src"] == policy["connect-src"] == "'self'"
    assert "unsafe" not in answer.headers["content-security-policy"]
    nonce = re.search(r"nonce-([\w-]+)", policy["style-src"])
    assert nonce is not None and nonce[1] in answer.text and "{{" not in answer.text
    again = server.client.get("/").headers["content-security-policy"]
    assert nonce[1] not in again
    for path in ("/", "/api/project", "/static/studio.js"):
        headers = server.client.get(path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert "access-control-allow-origin" not in headers


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Host": "evil.example"},
        {"Host": "127.0.0.1:1"},
    ],
)
def test_other_pages_and_hosts_are_refused_even_with_the_token(
    server: Server, headers: dict[str, str]
) -> None:
    answer = server.client.get("/api/project", headers=headers)
    assert answer.status_code in (403, 421)
    assert "files" not in answer.text
    assert refused(server, "another (page|host)")


def test_what_acts_says_from_which_page_it_comes(server: Server, project: Path) -> None:
    cookies = {f"workbench-{server.port}": server.token}
    where = server.base + "/api/files/evil.charon"
    asked = {"json": {"text": ""}, "cookies": cookies, "timeout": PATIENCE}
    assert httpx.post(where, **asked).status_code == 403
    assert not (project / "evil.charon").exists()
    good = {"Origin": server.base}
    made = httpx.post(where, **asked, headers=good)
    assert made.status_code == 201


@pytest.mark.parametrize("given", [{}, {"Origin": "http://evil.example"}, {"token": "wrong"}])
def test_sockets_of_others_are_not_opened(server: Server, given: dict[str, str]) -> None:
    token = given.get("token", server.token)
    headers = {"Cookie": f"workbench-{server.port}={token}"}
    headers |= {name: value for name, value in given.items() if name == "Origin"}
    address = server.base.replace("http", "ws") + "/api/socket"
    with pytest.raises(InvalidStatus, match="403"):
        connect(address, additional_headers=headers, open_timeout=PATIENCE)
    assert refused(server, "")


def test_only_this_machine_is_answered(server: Server) -> None:
    """The port is open on the loopback address alone."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as found:
        try:
            found.connect(("192.0.2.1", 9))  # no packet is sent
        except OSError:
            pytest.skip("this machine has no other address")
        outer = found.getsockname()[0]
    if outer.startswith("127."):
        pytest.skip("this machine has no other address")
    with pytest.raises(OSError, match=r"refused|timed out|unreachable"):
        socket.create_connection((outer, server.port), timeout=5)


PATHS = [
    "../outside.charon",
    "a/../../outside.charon",
    "%2e%2e/outside.charon",
    "..%2foutside.charon",
    "/etc/hostname",
    "%2fetc/hostname",
    "link.charon",
    "folder/outside.charon",
    "ball.charon%00.txt",
    "C:\\boot.ini",
    "C:ball.charon",
    "..\\outside.charon",
    "nul.charon",
    "COM1.txt",
    "ball.charon.",
    "ball.charon ",
    ".hidden.charon",
    ".git/config",
    ".workbench/token",
    ".workbench/results/../token",
    "inner/token.json",
    "x/" * 40 + "x.charon",
    "y" * 300 + ".charon",
]


def test_no_path_leads_out_of_the_project(server: Server, project: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside.charon"
    outside.write_text("secret")
    (project / "link.charon").symlink_to(outside)
    (project / "folder").symlink_to(tmp_path)
    (project / ".hidden.charon").write_text("secret")
    (project / "inner").symlink_to(project / ".workbench")
    before = sorted(os.listdir(tmp_path))
    client = server.client
    for path in PATHS:
        for area in ("/api/files/", "/files/"):
            # sent as it is written: httpx would resolve the dots itself
            raw = (area + path).replace(" ", "%20").encode()
            request = client.build_request("GET", "/")
            request.url = request.url.copy_with(raw_path=raw)
            answer = client.send(request)
            assert answer.status_code in (403, 404, 405), (path, answer.text)
            assert "secret" not in answer.text and server.token not in answer.text
        path = unquote(path)
        for answer in (
            client.post("/api/rename", json={"from": "ball.charon", "to": path}),
            client.post("/api/rename", json={"from": path, "to": "mine.charon"}),
            client.post("/api/jobs", json={"kind": "verify", "model": path}),
            client.post("/api/jobs", json=job(options={"output": path})),
            client.post("/api/jobs", json=job(kind="refine", options={"against": f"./{path}"})),
        ):
            assert answer.status_code in (400, 403), (path, answer.text)
    assert outside.read_text() == "secret"
    assert sorted(os.listdir(tmp_path)) == before
    assert (project / "ball.charon").exists() and not (project / "mine.charon").exists()


def job(**more: Any) -> dict[str, Any]:
    return {"kind": "report", "model": "ball.charon", **more}


def test_attempts_to_leave_the_project_are_logged(server: Server) -> None:
    server.client.post("/api/rename", json={"from": "ball.charon", "to": "../b.charon"})
    assert refused(server, "leads out of the project")
    assert server.token not in server.log.read_text()


def test_names_that_no_page_may_ask_for_are_not_listed(server: Server, project: Path) -> None:
    """And they do not keep the rest of the folder from being seen."""
    names = ["notes: today.md", "evil\u202enorahc.charon", "<b>x.charon", "x.charon ", "con.charon"]
    for name in names:
        (project / name).write_text("")
    with open(os.path.join(os.fsencode(project), b"\xff.charon"), "wb"):
        pass
    listed = server.client.get("/api/project").json()["files"]
    assert [one["path"] for one in listed] == ["ball.charon"]


def test_programs_are_not_written(server: Server, project: Path) -> None:
    for name in ("conftest.py", "run.sh", "page.html", "a.charon.exe"):
        assert server.client.post(f"/api/files/{name}", json={"text": ""}).status_code == 400
    made = server.client.post("/api/rename", json={"from": "ball.charon", "to": "ball.py"})
    assert made.status_code == 400
    assert [p.name for p in project.iterdir() if not p.name.startswith(".")] == ["ball.charon"]


def test_a_python_file_of_the_project_is_never_run(server: Server, project: Path) -> None:
    """Workers start in the project's folder, and what lies there is not imported."""
    mark = project / "mark"
    for name in ("json", "workbench", "sitecustomize", "numpy"):
        (project / f"{name}.py").write_text(f"open({str(mark)!r}, 'w')\nraise SystemExit")
    server.kill()
    server.start()
    with (page := server.page()).connection:
        assert "result" in page.ask("simulate", model="ball.charon", until=1)
    assert not mark.exists()


def test_a_model_cannot_name_code(server: Server, project: Path) -> None:
    (project / "evil.py").write_text(f"open({str(project / 'mark')!r}, 'w')\ndef f(x): return x\n")
    text = (project / "ball.charon").read_text().replace("-9.81", "f(height)")
    (project / "called.charon").write_text('extern real f(real) from "evil.f";\n' + text)
    with (page := server.page()).connection:
        page.ask("simulate", model="called.charon", until=1)
        read = page.ask("simulate", model="ball.charon", inputs={"u": "@/etc/hostname"})
        assert "not read from files" in read["error"]["message"]
    assert not (project / "mark").exists()


def test_bodies_are_limited(server: Server, project: Path) -> None:
    huge = b"x" * 9_000_000
    where = server.base + "/api/files/big.charon"
    headers = {"Authorization": f"Bearer {server.token}"}
    told = httpx.post(where, content=huge, headers=headers, timeout=PATIENCE)
    assert told.status_code == 413

    def slowly() -> Any:
        for _ in range(10):
            yield b"x" * 1_000_000

    assert httpx.post(where, content=slowly(), headers=headers, timeout=PATIENCE).status_code == 413
    assert refused(server, "at most")
    text = server.client.post("/api/files/big.charon", json={"text": "x" * 5_000_001})
    assert text.status_code == 413
    assert not (project / "big.charon").exists()
    assert server.client.get("/api/project").status_code == 200


NO_BODIES = [
    b"",
    b"{",
    b"[]",
    b"null",
    b'{"kind": 3}',
    b"\xff",
    b"[" * 100_000,
    b'{"kind": "verify"}',
]


def test_what_is_no_sense_is_told(server: Server) -> None:
    cases = (
        ("POST", "/api/jobs"),
        ("PUT", "/api/files/ball.charon"),
        ("POST", "/api/files/new.charon"),
        ("POST", "/api/rename"),
        ("PUT", "/api/drafts/ball.charon"),
    )
    for (method, path), body in itertools.product(cases, NO_BODIES):
        answer = server.client.request(method, path, content=body)
        assert answer.status_code == 400, answer.text
        assert answer.json()["error"]
    assert "Traceback" not in server.log.read_text()


WRONG: list[dict[str, Any]] = [
    {"runs": 100_000},
    {"runs": "1"},
    {"until": -1},
    {"until": 1e300},
    {"until": True},
    {"seed": 1.5},
    {"parameters": {"drop": None}},
    {"parameters": ["drop"]},
    {"parameters": {f"p{i}": 1 for i in range(2000)}},
    {"initial": {"height": [1]}},
    {"agent": 3},
    {"colour": "red"},
    {"model": "../ball.charon"},
    {"model": "ball.py"},
]


def test_simulations_without_sense_are_told(page: Any) -> None:
    for wrong in WRONG:
        answer = page.ask("simulate", **{"model": "ball.charon", **wrong})
        assert answer["error"]["message"] and "result" not in answer
    assert "result" in page.ask("simulate", model="ball.charon", until=1)


def send_and_listen(page: Any, frame: str) -> None:
    for _ in range(100):
        page.connection.send(frame)
        page.connection.recv(timeout=PATIENCE)


def test_frames_without_sense_end_the_socket(server: Server, page: Any) -> None:
    bad = ["", "{", "[]", "3", '{"channel": "x"}', '{"channel": []}', "[" * 50_000]
    bad += ['{"channel": "simulate"}', '{"channel": "lsp", "message": 1}']
    for frame in bad:
        page.connection.send(frame)
        assert page.frame("error")["error"]["message"]
    page.connection.send(b"\x00\xff")
    assert page.frame("error")
    with pytest.raises(ConnectionClosed):
        send_and_listen(page, "{")
    assert refused(server, "a frame")
    assert "Traceback" not in server.log.read_text()


OUTSIDE = [
    "{outside}",
    "file:///etc/passwd",
    "/etc/passwd",
    "file://host/etc",
    "{room}/../x.charon",
]


@pytest.mark.parametrize("uri", [*OUTSIDE, "{room}/link.charon", "{room}/.workbench/token"])
def test_the_language_server_of_a_page_stays_in_the_project(
    server: Server, page: Any, project: Path, tmp_path: Path, uri: str
) -> None:
    outside = tmp_path / "outside.charon"
    outside.write_text("mode Secret() { write analog real x; }")
    (project / "link.charon").symlink_to(outside)
    uri = uri.format(outside=outside.as_uri(), room=project.as_uri())
    before = sorted(os.listdir(tmp_path))
    for method, params in (
        ("textDocument/documentSymbol", {"textDocument": {"uri": uri}}),
        ("workspace/executeCommand", {"command": "charon.report", "arguments": [{"uri": uri}]}),
        ("initialize", {"processId": None, "rootUri": uri, "capabilities": {}}),
    ):
        asked = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        page.send(channel="lsp", message=asked)
        answer = page.frame("lsp")["message"]
        assert (answer["id"] == 1 and "project" in answer["error"]["message"]) or "hidden" in str(
            answer
        )
    assert sorted(os.listdir(tmp_path)) == before
    assert refused(server, "a frame")


def test_huge_frames_end_the_socket_and_nothing_else(server: Server, page: Any) -> None:
    with pytest.raises(ConnectionClosed):
        send_and_listen(page, json.dumps({"channel": "lsp", "text": "x" * 9_000_000}))
    assert server.client.get("/api/project").status_code == 200


def test_reports_are_shown_where_they_can_do_nothing(server: Server, project: Path) -> None:
    (project / "reports").mkdir()
    (project / "reports" / "ball.html").write_text("<script>fetch('/api/project')</script>")
    answer = server.client.get("/files/reports/ball.html")
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("sandbox allow-scripts")
    assert "allow-same-origin" not in policy and "connect-src" not in policy
    assert "default-src 'none'" in policy
    assert answer.headers["content-type"].startswith("text/html")


def test_the_token_is_its_owners(server: Server, project: Path) -> None:
    place = project / ".workbench" / "token"
    assert place.stat().st_mode & 0o077 == 0
    assert place.read_text().strip() == server.token
    assert (project / ".workbench" / ".gitignore").read_text() == "*\n"
    first = server.token
    server.kill()
    place.chmod(0o644)  # whoever could read it may have done so
    server.start()
    assert server.token != first and place.stat().st_mode & 0o077 == 0
