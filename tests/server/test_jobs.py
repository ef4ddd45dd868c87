"""Jobs: progress, several at once, cancelled, kept; stale after an edit and good again after undo."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

import workbench
from tests.support.serving import until

Page, Server = Any, Any

SLOW = """
mode Spin() {
  write analog real x, y, z;
  diff { d(x) == y - x*z; d(y) == -x + y*z - y*y*x; d(z) == x*y - z; }
}
mode Top() { write analog real x, y, z; mode spin = Spin(); trans from init to spin; }
agent Whirl() {
  private analog real x, y, z;
  init { x in [-1, 1]; y in [-1, 1]; z in [-1, 1]; }
  mode top = Top();
  assert "near" { x <= 1000000 }
}
"""
"""Nothing decides this soon."""


def submit(server: Server, **wanted: Any) -> str:
    answer = server.client.post("/api/jobs", json=wanted)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def finished(server: Server, number: str) -> Any:
    while True:
        job = server.client.get(f"/api/jobs/{number}").json()
        if job["state"] not in ("queued", "running"):
            return job
        time.sleep(0.05)


def states(page: Page, number: str) -> list[Any]:
    """The job at every change, up to its end."""
    found = []
    while not found or found[-1]["state"] in ("queued", "running"):
        job = page.frame("jobs")["job"]
        if job["id"] == number:
            found.append(job)
    return found


def test_a_proof_and_a_violation_with_their_evidence(
    server: Server, page: Page, project: Path
) -> None:
    number = submit(server, kind="verify", model="ball.charon", options={"time-limit": 600})
    seen = states(page, number)
    states_seen = list(dict.fromkeys(job["state"] for job in seen))
    assert states_seen in (["queued", "running", "done"], ["running", "done"])
    assert any(event["method"] for event in seen[-1]["progress"])
    assert any(len(job.get("result", {}).get("verdicts", ())) == 1 for job in seen)
    low, slow = seen[-1]["result"]["verdicts"]
    assert low["claims"] == ["stays low", "slow"]
    model = workbench.load(project / "ball.charon")
    assert (slow["property"], slow["outcome"]) == ("slow", "falsified")
    assert model.replay(project / slow["trace"]).violated == ("slow",)
    raw = server.client.get(f"/files/{slow['trace']}")
    assert raw.status_code == 200 and json.loads(raw.text)["recipe"]
    assert slow["counterexample"]["violated"] == ["slow"]
    if low["outcome"] == "verified":
        assert model.recheck(project / low["certificate"]).accepted
    else:
        assert low["outcome"] == "unknown" and low["reason"]
    moment = slow["counterexample"]["end"]["time"] / 2
    asked = page.ask("why", model="ball.charon", trace=slow["trace"], time=moment)
    assert asked["result"]["edges"][0]["name"] == "bounce"


def test_several_go_on_at_once_and_one_is_cancelled(server: Server, page: Page) -> None:
    server.client.post("/api/files/slow.charon", json={"text": SLOW})
    slow = submit(server, kind="verify", model="slow.charon", options={"time-limit": 600})
    page.job(slow, "running")
    quick = submit(server, kind="falsify", model="ball.charon", properties=["slow"])
    assert finished(server, quick)["result"]["verdicts"][0]["outcome"] == "falsified"
    assert server.client.get(f"/api/jobs/{slow}").json()["state"] == "running"
    busy = set(server.workers())
    assert server.client.delete(f"/api/jobs/{slow}").status_code == 200
    assert finished(server, slow)["state"] == "cancelled"
    until(lambda: busy - set(server.workers()))


def test_what_is_known_is_not_asked_again(server: Server) -> None:
    wanted = {"kind": "falsify", "model": "ball.charon", "properties": ["slow"]}
    first = finished(server, submit(server, **wanted))
    again = finished(server, submit(server, **wanted))
    assert again["result"] == first["result"] and again["progress"] == []
    for other in ({"options": {"seed": 5}}, {"parameters": {"drop": 9}}, {"again": True}):
        asked = finished(server, submit(server, **wanted, **other))
        assert asked["progress"], other
        assert asked["result"]["verdicts"][0]["outcome"] == "falsified"


def test_results_survive_the_death_of_the_server(server: Server, project: Path) -> None:
    number = submit(server, kind="falsify", model="ball.charon", properties=["slow"])
    known = finished(server, number)["result"]
    server.client.post("/api/files/slow.charon", json={"text": SLOW})
    submit(server, kind="verify", model="slow.charon", options={"time-limit": 600})
    server.kill()
    until(lambda: server.workers() == [])  # none is left behind
    server.start()
    (listed,) = server.client.get("/api/jobs").json()
    kept = finished(server, listed["id"])
    assert (kept["state"], kept["stale"]) == ("done", False)
    assert kept["result"] == known and kept["properties"] == ["slow"]
    asked = finished(server, submit(server, kind="falsify", model="ball.charon", property="slow"))
    assert asked["result"] == known and asked["progress"] == []
    assert len(server.client.get("/api/jobs").json()) == 1


def test_an_interrupt_ends_everything(server: Server, page: Page) -> None:
    server.client.post("/api/files/slow.charon", json={"text": SLOW})
    number = submit(server, kind="verify", model="slow.charon", options={"time-limit": 600})
    page.job(number, "running")
    assert server.end() == 0
    until(lambda: server.workers() == [])
    assert "Traceback" not in server.log.read_text()


@pytest.mark.parametrize("kind", ["verify", "falsify"])
def test_kept_evidence_is_looked_at_again(server: Server, project: Path, kind: str) -> None:
    """A result whose evidence was changed between sessions is no result."""
    wanted = {"kind": kind, "model": "ball.charon", "properties": ["slow"]}
    if kind == "verify":
        server.client.post("/api/files/safe.charon", json={"library": "leaky_tank"})
        wanted |= {"model": "safe.charon", "properties": ["flow within capacity"]}
    (verdict,) = finished(server, submit(server, **wanted))["result"]["verdicts"]
    evidence = project / verdict["certificate" if kind == "verify" else "trace"]
    assert verdict["outcome"] == {"verify": "verified", "falsify": "falsified"}[kind]
    server.kill()
    server.start()
    (listed,) = server.client.get("/api/jobs").json()
    assert finished(server, listed["id"])["state"] == "done"
    server.kill()
    text = evidence.read_text()
    evidence.write_text(text.replace("5", "6"))
    server.start()
    (listed,) = server.client.get("/api/jobs").json()
    spoiled = finished(server, listed["id"])
    assert (spoiled["state"], spoiled.get("result")) == ("failed", None)
    assert "not accepted any more" in spoiled["error"]["message"]
    again = finished(server, submit(server, **wanted))
    assert again["progress"] and again["result"]["verdicts"][0]["outcome"] == verdict["outcome"]


def test_an_edit_makes_stale_and_undo_makes_good(server: Server, page: Page, project: Path) -> None:
    number = submit(server, kind="falsify", model="ball.charon", properties=["slow"])
    assert page.job(number)["stale"] is False
    text = (project / "ball.charon").read_text()
    (project / "ball.charon").write_text(text + "// more\n")
    while not page.job(number)["stale"]:
        pass
    (project / "ball.charon").write_text(text)
    while page.job(number)["stale"]:
        pass
    draft = {"text": text.replace("11", "12"), "stamp": "x"}
    server.client.put("/api/drafts/ball.charon", json=draft)
    assert server.client.get(f"/api/jobs/{number}").json()["stale"] is True
    server.client.delete("/api/drafts/ball.charon")
    assert server.client.get(f"/api/jobs/{number}").json()["stale"] is False


def test_an_import_that_changes_makes_stale(server: Server, project: Path) -> None:
    modes, _, agent = (project / "ball.charon").read_text().partition("agent Ball")
    (project / "modes.charon").write_text(modes)
    (project / "whole.charon").write_text('import "modes.charon";\nagent Ball' + agent)
    number = submit(server, kind="falsify", model="whole.charon", properties=["slow"])
    assert finished(server, number)["stale"] is False
    written = server.client.get("/api/files/modes.charon").json()
    changed = {"text": written["text"] + "//\n", "stamp": written["stamp"]}
    assert server.client.put("/api/files/modes.charon", json=changed).status_code == 200
    assert server.client.get(f"/api/jobs/{number}").json()["stale"] is True


def test_unsaved_text_is_what_is_asked_about(server: Server, project: Path) -> None:
    text = (project / "ball.charon").read_text().replace("speed >= -5", "speed >= -500")
    number = submit(
        server, kind="falsify", model="ball.charon", properties=["slow"], text=text,
        options={"budget": 20},
    )  # fmt: skip
    job = finished(server, number)
    assert job["result"]["verdicts"][0]["outcome"] == "unknown"
    assert job["result"]["verdicts"][0]["reason"]
    assert job["stale"] is True  # of the file this is not known


def test_what_fails_says_why(server: Server, project: Path) -> None:
    (project / "reports").symlink_to(project.parent)
    outside = finished(server, submit(server, kind="report", model="ball.charon"))
    assert "leads out of the project" in outside["error"]["message"]
    assert not (project.parent / "ball.html").exists()
    broken = finished(server, submit(server, kind="verify", model="ball.charon", text="agent {"))
    assert broken["state"] == "failed" and broken["error"]["diagnostics"][0]["span"]
    missing = server.client.post("/api/jobs", json={"kind": "verify", "model": "none.charon"})
    assert missing.status_code == 404
    wrong = finished(server, submit(server, kind="verify", model="ball.charon", property="slw"))
    assert "did you mean 'slow'" in wrong["error"]["message"]
    method = finished(
        server, submit(server, kind="verify", model="ball.charon", options={"method": "magic"})
    )
    assert "'magic' is not" in method["error"]["message"]
    assert server.client.get("/api/jobs/nothing").status_code == 404


def test_jobs_are_limited(server: Server) -> None:
    server.client.post("/api/files/slow.charon", json={"text": SLOW})
    wanted = {"kind": "verify", "model": "slow.charon", "options": {"time-limit": 600}}
    codes = [server.client.post("/api/jobs", json=wanted).status_code for _ in range(52)]
    assert codes == [201] * 50 + [429] * 2
    running = [j for j in server.client.get("/api/jobs").json() if j["state"] == "running"]
    assert 1 <= len(running) < 50
    numbers = [job["id"] for job in server.client.get("/api/jobs").json()]
    for number in reversed(numbers):  # who waits has no process yet
        server.client.delete(f"/api/jobs/{number}")
    assert {finished(server, number)["state"] for number in numbers} == {"cancelled"}


def test_a_report_is_written_into_the_project(server: Server, page: Page, project: Path) -> None:
    number = submit(
        server, kind="report", model="ball.charon", properties=["slow"], options={"runs": 3}
    )
    result = finished(server, number)["result"]
    assert result["path"] == "reports/ball.html" and result["contradictions"] == []
    assert (project / "reports" / "ball.html").read_text().startswith("<!doctype html>")
    shown = server.client.get("/files/reports/ball.html")
    assert shown.headers["content-security-policy"].startswith("sandbox")
    changed: list[str] = []
    while "reports/ball.html" not in changed:
        changed += page.frame("project")["changed"]


def test_refinement(server: Server, project: Path) -> None:
    (project / "pair.charon").write_text("""
mode Fast() { write analog real x; diff { d(x) == 1; } inv { x <= 5 } }
mode Loose() { write analog real x; diff { d(x) in [0, 2]; } inv { x <= 5 } }
mode A() { write analog real x; mode only = Fast(); trans from init to only; }
mode B() { write analog real x; mode only = Loose(); trans from init to only; }
agent Detailed() { write analog real x; init { x = 0; } mode top = A(); }
agent Abstract() { write analog real x; init { x = 0; } mode top = B(); }
system Detailed();
""")
    (project / "loose.charon").write_text(
        (project / "pair.charon").read_text().replace("system Detailed", "system Abstract")
    )
    number = submit(server, kind="refine", model="pair.charon", options={"against": "loose.charon"})
    result = finished(server, number)["result"]
    assert result["outcome"] == "refines"
    assert (project / result["certificate"]).is_file()
    back = submit(server, kind="refine", model="loose.charon", options={"against": "pair.charon"})
    assert finished(server, back)["result"]["outcome"] != "refines"
