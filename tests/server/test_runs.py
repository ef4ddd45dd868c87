"""Runs for a page: the same as the simulator makes, the newest request first, and why they jump."""

from __future__ import annotations

import io
import os
import shutil
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import workbench
from workbench.api.data import run_data

Page = Any

SAW_TOOTH = """
mode M() { write analog real x, t; diff { d(x) == 0; d(t) == 1; } inv { t <= 0.001 } }
mode Top() {
  write analog real x, t;
  mode m = M();
  trans from init to m;
  trans from m to m when t >= 0.001 do { t = 0; x = x == 0 ? 1 : 0; }
}
agent A() { private analog real x, t; init { x = 0; t = 0; } mode top = Top(); }
"""
"""A jump in every thousandth of a second."""


def test_a_run_is_that_of_the_simulator(page: Page, project: Path) -> None:
    told = page.ask("simulate", model="ball.charon", until=3, parameters={"drop": 10.5})["result"]
    (run,) = told["runs"]
    model = workbench.load(project / "ball.charon", drop=10.5)
    made = model.simulate(until=3, stop_on_violation=False)[0]
    assert run["violated"] == ["slow"] and made.jumps
    jumps = [event for event in run["events"] if event["type"] == "jump"]
    assert [event["time"] for event in jumps] == [jump.time for jump in made.jumps]
    times = np.array(run["times"])
    inside = ~np.isin(times, [jump.time for jump in made.jumps])
    for name in made.variables:
        drawn = np.array(run["values"][name])[inside]
        assert drawn == pytest.approx(made.at(times[inside])[name], rel=1e-7, abs=1e-7)
    assert run["end"]["reason"] == made.ending
    assert run["locations"][0]["modes"] == [["falling"]]


def test_what_can_be_chosen_is_told(page: Page) -> None:
    told = page.ask("simulate", model="ball.charon", until=1)["result"]
    (drop,) = told["parameters"]
    assert (drop["name"], drop["value"]) == ("drop", 10.0)
    first = {one["name"]: one for one in told["initial"]}
    assert (first["height"]["low"], first["height"]["high"]) == (10.0, 10.0)
    # What an equation gives is not chosen; what nothing bounds is.
    mode = "mode M() { write analog real x, y; diff { d(x) == 1; } alge { y == 2*x; } }"
    agent = "agent A() { private analog real x, y; mode m = M(); }"
    first = {
        one["name"]: one for one in page.ask("simulate", text=mode + agent)["result"]["initial"]
    }
    assert first == {
        "x": {"name": "x", "type": "real"},
        "y": {"name": "y", "type": "real", "given": True},
    }
    low, slow = told["properties"]
    assert low["bounds"] == [{"variable": "height", "high": 11.0}]
    assert slow["bounds"] == [{"variable": "speed", "low": -5.0}]


def test_what_is_typed_counts_and_imports_are_found(page: Page, project: Path) -> None:
    text = (project / "ball.charon").read_text()
    modes, _, agent = text.partition("agent Ball")
    (project / "modes.charon").write_text(modes)
    typed = 'import "modes.charon";\nagent Ball' + agent.replace("drop = 10", "drop = 2")
    told = page.ask("simulate", model="ball.charon", text=typed, until=1)["result"]
    assert told["runs"][0]["values"]["height"][0] == 2.0
    assert (project / "ball.charon").read_text() == text
    (project / "modes.charon").write_text(modes.replace("9.81", "1"))
    again = page.ask("simulate", model="ball.charon", text=typed, until=1)["result"]
    assert again["runs"][0]["values"]["speed"][-1] == pytest.approx(-1.0)


def test_a_broken_text_is_told_with_places(page: Page) -> None:
    error = page.ask("simulate", model="ball.charon", text="agent {")["error"]
    (first, *_) = error["diagnostics"]
    assert first["span"]["file"] == "ball.charon" and first["span"]["line"] == 1
    assert "ball.charon:1:" in error["message"]
    assert "there is no file" in page.ask("simulate", model="none.charon")["error"]["message"]


def test_answers_come_in_order_up_to_the_newest(page: Page) -> None:
    numbers = range(100, 160)
    for number in numbers:
        request = {"model": "ball.charon", "parameters": {"drop": number / 10}, "runs": 5}
        page.send(channel="simulate", id=number, request=request)
    answered = []
    while numbers[-1] not in answered:
        answered.append(page.frame("simulate")["id"])
    assert answered == sorted(answered)


def test_a_request_that_takes_long_makes_way(page: Page, server: Any) -> None:
    slow = {"model": "ball.charon", "text": SAW_TOOTH, "until": 1e4, "runs": 200}
    page.send(channel="simulate", id=1, request=slow)
    page.send(channel="simulate", id=2, request={"model": "ball.charon", "until": 1})
    assert page.frame("simulate")["id"] == 2
    with (other := server.page()).connection:
        assert "result" in other.ask("simulate", model="ball.charon", until=1)


def test_a_worker_that_dies_is_replaced(page: Page, server: Any) -> None:
    assert "result" in page.ask("simulate", model="ball.charon", until=1)
    for number in server.workers():
        os.kill(number, signal.SIGKILL)
    answers = [page.ask("simulate", model="ball.charon", until=1 + k) for k in range(3)]
    assert "result" in answers[-1]


def test_many_points_are_thinned_without_losing_a_peak() -> None:
    run = workbench.load(io.StringIO(SAW_TOOTH)).simulate(until=5)[0]
    data = run_data(run, 200)
    assert len(run.times) > 9000 and len(data["times"]) < 1500
    assert data["times"] == sorted(data["times"])
    assert {min(data["values"]["x"]), max(data["values"]["x"])} == {0.0, 1.0}
    assert max(np.diff(data["times"])) < 0.5


def test_clocks_of_agents_are_told(page: Page, server: Any) -> None:
    server.client.post("/api/files/cars.charon", json={"library": "spiral_cars"})
    (run,) = page.ask("simulate", model="cars.charon", own_clocks=True, until=5)["result"]["runs"]
    assert set(run["clocks"]) == {"left", "right"}
    for times in run["clocks"].values():
        assert times == sorted(times) and (times[0], times[-1]) == (0.0, run["end"]["time"])
    (run,) = page.ask("simulate", model="ball.charon", until=1)["result"]["runs"]
    assert run["clocks"] == {}


PAIR = """
mode Top() { write analog real x; diff { d(x) == 1; } }
agent Part() { write analog real x; init { x in [0, 1]; } mode top = Top(); }
agent Whole() { private analog real y, z;
  agent one = Part() [ x := y ]; agent two = Part() [ x := z ]; assert "fine" { y <= 9 } }
"""


def test_a_run_is_kept_and_made_again_also_that_of_an_agent_alone(
    page: Page, server: Any, project: Path
) -> None:
    (project / "pair.charon").write_text(PAIR)
    models = ["ball.charon", "pair.charon"]
    for number, agent in enumerate((None, "Part"), 1):
        asked = {"model": "pair.charon", "agent": agent, "until": 2, "runs": 3, "seed": 5}
        made = page.ask("simulate", **asked)["result"]["runs"][2]
        told = page.ask("record", **asked, run=2)["result"]
        assert told == {"path": f"traces/pair-{number}.trace.json"}
        found = page.ask("replay", models=models, trace=told["path"])["result"]
        assert (found["model"], found["agent"]) == ("pair.charon", agent)
        assert found["run"]["values"].keys() == made["values"].keys()
        for name, course in made["values"].items():
            assert found["run"]["values"][name][-1] == pytest.approx(course[-1])
    shutil.rmtree(project / "traces")
    (project / "traces").symlink_to(project.parent)
    error = page.ask("record", model="pair.charon", run=0)["error"]
    assert "leads out of the project" in error["message"]


def test_agents_keep_their_clocks_where_much_is_left_open(page: Page, server: Any) -> None:
    """Six runs at random would be on one clock: each takes its transitions at once instead."""
    told = page.ask("simulate", text=PAIR, own_clocks=True, until=2, runs=2)["result"]
    assert [set(run["clocks"]) for run in told["runs"]] == [{"one", "two"}] * 2


def test_why_it_did_not_jump(page: Page, project: Path) -> None:
    told = page.ask("why", model="ball.charon", until=3, run=0, time=1.0)["result"]
    model = workbench.load(project / "ball.charon")
    made = model.simulate(until=3, stop_on_violation=False)[0]
    (edge,) = told["edges"]
    assert edge["name"] == "bounce" and not edge["enabled"]
    assert edge["lacking"] == pytest.approx(made.at(1.0)["height"])
    assert [(a["text"], a["holds"]) for a in edge["atoms"]] == [
        ("height <= 0", False),
        ("speed < 0", True),
    ]
    bounce = made.jumps[0].time
    before = page.ask("why", model="ball.charon", until=3, time=bounce, before=True)["result"]
    assert before["edges"][0]["enabled"]
    assert "from 0 to" in page.ask("why", model="ball.charon", until=3, time=9)["error"]["message"]
    stopped = page.ask("simulate", model="ball.charon", until=3, stop_on_violation=True)
    assert stopped["result"]["runs"][0]["end"]["reason"] == "violation"
    assert (
        "there is no run 4"
        in page.ask("why", model="ball.charon", run=4, time=1)["error"]["message"]
    )
