"""Checks in the background: what is found out too late is dropped, and work can be called off."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from wire import Wire

from workbench.language_server import checking
from workbench.language_server.checking import carried
from workbench.models.source import Diagnostic, Span

URI = "file:///nowhere/model.charon"
GOOD = "mode M() { entry e; }\n"


class SlowCrew:
    """Answers when it is told to."""

    def __init__(self) -> None:
        self.asked: list[tuple[dict[str, Any], asyncio.Future[Any]]] = []

    async def do(self, task: str, request: dict[str, Any], progress: Any = None) -> Any:
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.asked.append((request, answer))
        return await answer

    async def end(self) -> None:
        pass


def finding(code: str) -> dict[str, Any]:
    span = ["/nowhere/model.charon", 1, 1, 1, 5]
    return {
        "code": code,
        "message": code,
        "hint": None,
        "severity": "error",
        "span": span,
        "fix": None,
    }


async def until(condition: Any) -> None:
    while not condition():  # what never comes true ends with the time of the test
        await asyncio.sleep(0.005)


def test_what_is_found_out_about_an_older_text_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking, "DELAY", 0.0)

    async def session() -> None:
        wire, crew = Wire(), SlowCrew()
        wire.begin()
        monkeypatch.setattr(wire.server.checks, "_crew", crew)
        wire.open(URI, GOOD)
        await until(lambda: len(crew.asked) == 1)
        wire.change(URI, 2, [{"text": GOOD + GOOD.replace("M", "N")}])
        crew.asked[0][1].set_result([finding("about-the-old-text")])
        await until(lambda: len(crew.asked) == 2)
        assert "mode N" in crew.asked[1][0]["texts"]["/nowhere/model.charon"]
        crew.asked[1][1].set_result([finding("about-the-new-text")])

        def told() -> list[Any]:
            known = "textDocument/publishDiagnostics"
            return [m["params"] for m in wire.sent if m.get("method") == known]

        await until(lambda: told()[-1]["diagnostics"])
        codes = [[d["code"] for d in m["diagnostics"]] for m in told()]
        assert codes == [[], [], ["about-the-new-text"]]
        assert [m["version"] for m in told()] == [1, 2, 2]
        await wire.end()

    asyncio.run(session())


def test_a_closed_document_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking, "DELAY", 0.0)

    async def session() -> None:
        wire, crew = Wire(), SlowCrew()
        wire.begin()
        monkeypatch.setattr(wire.server.checks, "_crew", crew)
        wire.open(URI, "mode M() {")
        await until(lambda: crew.asked)
        wire.tell("textDocument/didClose", textDocument={"uri": URI})
        crew.asked[0][1].cancel()
        told = [
            m["params"] for m in wire.sent if m.get("method") == "textDocument/publishDiagnostics"
        ]
        assert told[-1]["diagnostics"] == []
        assert (
            wire.ask(
                "textDocument/hover",
                textDocument={"uri": URI},
                position={"line": 0, "character": 1},
            )
            is None
        )
        await wire.end()

    asyncio.run(session())


@pytest.mark.parametrize(
    ("before", "after", "lines"),
    [
        ("a\nb\nc", "a\nb\nc", [1, 2, 3]),
        ("a\nb\nc", "a\nx\nb\nc", [1, 3, 4]),
        ("a\nb\nc", "a\nB\nc", [1, 3]),
        ("a\nb\nc", "c", [1]),
        ("a\nb\nc", "", []),
    ],
)
def test_findings_move_with_their_lines(before: str, after: str, lines: list[int]) -> None:
    findings = [Diagnostic("code", "message", Span("m", line, 1, line, 2)) for line in (1, 2, 3)]
    found = carried(findings, before.split("\n"), after.split("\n"))
    assert [f.span.line for f in found if f.span] == lines
