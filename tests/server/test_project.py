"""Files of the project by HTTP: listed, read, written without overwriting what others did."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import httpx

import workbench
from workbench.server.project import Mailbox

Page = Any


def stamp(client: httpx.Client, path: str) -> str:
    return str(client.get(f"/api/files/{path}").json()["stamp"])


def test_files_are_listed_with_kind_and_stamp(client: httpx.Client, project: Path) -> None:
    (project / "reports").mkdir()
    (project / "reports" / "ball.html").write_text("<p>")
    (project / ".hidden").write_text("secret")
    data = client.get("/api/project").json()
    assert data["folder"] == str(project)
    kinds = {one["path"]: one["kind"] for one in data["files"]}
    assert kinds == {"ball.charon": "model", "reports/ball.html": "report"}
    assert data["files"][0]["stamp"] == stamp(client, "ball.charon")


def test_a_file_is_made_written_renamed_and_deleted(client: httpx.Client, project: Path) -> None:
    made = client.post("/api/files/parts/motor.charon", json={"text": "// ä\r\n"})
    assert made.status_code == 201
    written = client.put(
        "/api/files/parts/motor.charon", json={"text": "// ö\r\n", "stamp": made.json()["stamp"]}
    )
    assert (project / "parts" / "motor.charon").read_bytes() == "// ö\r\n".encode()
    moved = client.post("/api/rename", json={"from": "parts/motor.charon", "to": "m.charon"})
    assert moved.json()["stamp"] == written.json()["stamp"]
    assert client.delete("/api/files/m.charon").status_code == 200
    assert sorted(p.name for p in project.rglob("*.charon")) == ["ball.charon"]
    (kept,) = (project / ".workbench" / "deleted").iterdir()
    assert kept.read_text() == "// ö\n"


def test_a_change_by_another_is_not_overwritten(client: httpx.Client, project: Path) -> None:
    seen = stamp(client, "ball.charon")
    (project / "ball.charon").write_text("// by another\n")
    answer = client.put("/api/files/ball.charon", json={"text": "// mine\n", "stamp": seen})
    assert answer.status_code == 409
    assert answer.json()["text"] == "// by another\n"
    assert (project / "ball.charon").read_text() == "// by another\n"
    again = {"text": "// mine\n", "stamp": answer.json()["stamp"]}
    assert client.put("/api/files/ball.charon", json=again).status_code == 200


def test_what_exists_is_not_made_again(client: httpx.Client, project: Path) -> None:
    before = (project / "ball.charon").read_text()
    assert client.post("/api/files/ball.charon", json={"text": ""}).status_code == 409
    client.post("/api/files/other.charon", json={"text": "//"})
    moved = client.post("/api/rename", json={"from": "other.charon", "to": "ball.charon"})
    assert moved.status_code == 409
    assert (project / "ball.charon").read_text() == before


def test_library_models_are_copied(client: httpx.Client, project: Path) -> None:
    listed = {one["name"]: one for one in client.get("/api/library").json()}
    assert listed["platoon"]["expected"][0]["property"] == "no collision"
    made = client.post("/api/files/mine.charon", json={"library": "platoon"})
    assert made.status_code == 201
    text = client.get("/api/library/platoon").json()["text"]
    assert (project / "mine.charon").read_text() == text
    assert client.post("/api/files/x.charon", json={"library": "nothing"}).status_code == 404


def test_what_a_library_model_imports_is_copied_with_it(
    client: httpx.Client, page: Page, project: Path
) -> None:
    made = client.post("/api/files/cars/mine.charon", json={"library": "platoon_mild"})
    assert made.status_code == 201
    assert page.frame("project")["changed"] == ["cars/mine.charon", "cars/platoon_paper.charon"]
    assert workbench.load(project / "cars" / "mine.charon").properties
    # What is there already serves; a file that says something else is not overwritten.
    again = client.post("/api/files/cars/hard.charon", json={"library": "platoon_hard"})
    assert again.status_code == 201
    (project / "platoon_paper.charon").write_text("// my own\n")
    refused = client.post("/api/files/hard.charon", json={"library": "platoon_hard"})
    assert refused.status_code == 409 and "platoon_paper.charon" in refused.json()["error"]
    assert (project / "platoon_paper.charon").read_text() == "// my own\n"
    assert not (project / "hard.charon").exists()
    itself = client.post("/api/files/x/platoon_paper.charon", json={"library": "platoon_hard"})
    assert itself.status_code == 409 and not (project / "x").exists()


def test_changes_on_disk_are_told(page: Page, project: Path) -> None:
    (project / "new.charon").write_text("// new\n")
    assert page.frame("project")["changed"] == ["new.charon"]
    (project / "new.charon").unlink()
    assert page.frame("project")["changed"] == ["new.charon"]


def test_two_pages_see_each_others_changes(server: Any, page: Page, client: httpx.Client) -> None:
    with (other := server.page()).connection:
        client.post("/api/files/new.charon", json={"text": ""})
        for one in (page, other):
            assert one.frame("project")["changed"] == ["new.charon"]


def test_drafts_survive_the_death_of_the_server(server: Any) -> None:
    draft = {"text": "// half a tho", "stamp": stamp(server.client, "ball.charon")}
    assert server.client.put("/api/drafts/ball.charon", json=draft).status_code == 200
    server.kill()
    server.start()
    assert server.client.get("/api/drafts").json() == [{"path": "ball.charon", **draft}]
    saved = server.client.put("/api/files/ball.charon", json=draft)
    assert saved.status_code == 200
    assert server.client.get("/api/drafts").json() == []


def test_a_page_that_does_not_listen_is_told_the_newest_of_everything() -> None:
    async def told() -> list[Any]:
        box = Mailbox()
        for number in range(1000):
            box.put({"channel": "jobs", "job": {"id": str(number % 3), "state": number}})
            box.put({"channel": "project", "changed": [f"{number % 5}.charon"]})
        return [await asyncio.wait_for(box.take(), 10) for _ in range(4)]

    found = asyncio.run(told())
    states = {f["job"]["id"]: f["job"]["state"] for f in found if f["channel"] == "jobs"}
    assert states == {"0": 999, "1": 997, "2": 998}
    (changed,) = (f["changed"] for f in found if f["channel"] == "project")
    assert changed == [f"{n}.charon" for n in range(5)]
