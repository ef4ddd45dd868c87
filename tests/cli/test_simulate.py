"""`workbench simulate` on the command line."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

WRONG = """\
mode Falling() {
  write analog real height;
  read analog real wind;
  diff { d(height) == wind - 1; }
}

agent Leaf() {
  write analog real height;
  read analog real wind;
  init { height in [1, 2]; }
  mode top = Falling();
  assert "in the air" { height > 0 }
}
"""


@pytest.fixture
def leaf(tmp_path: Path) -> Path:
    path = tmp_path / "leaf.charon"
    path.write_text(WRONG)
    return path


def test_one_line_for_one_run(workbench: Callable, ball: Path) -> None:
    result = workbench("simulate", ball, "--until", 3)
    assert result.code == 0 and result.err == ""
    assert re.fullmatch(
        r".*: The run reached t = 3\. \(\d+ jumps?, \d+ steps?, seed 0\)\n", result.out
    )


def test_violation_has_its_own_exit_code(workbench: Callable, ball: Path) -> None:
    result = workbench("simulate", ball, "--init", "height=10.5", "-P", "drop=11.5")
    assert result.code == 2 and "no initial state" in result.out
    result = workbench("simulate", ball, "-P", "drop=11.5")
    assert result.code == 10
    assert "`stays low` is violated at t = 0" in result.out


def test_json_has_a_versioned_schema(workbench: Callable, ball: Path) -> None:
    data = workbench("simulate", ball, "--runs", 3, "--seed", 4, "--until", 1, "--json").data
    assert data["schema"] == "workbench.simulate/1"
    assert data["outcome"] == "ok" and data["endings"] == {"horizon": 3}
    assert [run["seed"] for run in data["runs"]] == [4, 5, 6]
    assert data["runs"][0]["final"]["height"] == pytest.approx(10 - 9.81 / 2)


def test_many_runs_are_summed_up(workbench: Callable, ball: Path) -> None:
    result = workbench("simulate", ball, "--runs", 25, "--until", 0.5)
    lines = result.out.splitlines()
    assert len(lines) == 22
    assert lines[-2] == "... and 5 more runs"
    assert lines[-1].endswith("25 runs: 25 horizon")


@pytest.mark.parametrize(
    ("signal", "height"),
    [
        ("2", 3.5),
        ("0:1,1:3", 3.5),
        ("lines(0:1, 2:3)", 3.5),
        ("sine(1, 3.14159265358979, 0, 1)", 1.5),
        ("1 + t", 3.5),
    ],
)
def test_signals(workbench: Callable, leaf: Path, signal: str, height: float) -> None:
    """Two seconds of wind - 1, from 1.5."""
    result = workbench("simulate", leaf, "--until", 2, "--input", f"wind={signal}", "--json")
    assert result.data["runs"][0]["final"]["height"] == pytest.approx(height, abs=2e-5)


def test_signal_from_a_file(workbench: Callable, leaf: Path, tmp_path: Path) -> None:
    table = tmp_path / "wind.csv"
    table.write_text("time,wind,other\n0,1,9\n2,3,9\n")
    for text in (f"wind=@{table}", f"wind=@{table}:wind"):
        result = workbench("simulate", leaf, "--until", 2, "--input", text, "--json")
        assert result.data["runs"][0]["final"]["height"] == pytest.approx(3.5)
    assert workbench("simulate", leaf, "--input", f"wind=@{table}:storm").code == 2
    assert workbench("simulate", leaf, "--input", "wind=@/nowhere.csv").code == 2


def test_csv(workbench: Callable, ball: Path, tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    workbench("simulate", ball, "--until", 2, "--csv", path)
    rows = list(csv.DictReader(io.StringIO(path.read_text())))
    assert rows[0] == {
        "time": "0.0",
        "location": rows[0]["location"],
        "height": "10.0",
        "speed": "0.0",
    }
    assert float(rows[-1]["time"]) == 2.0
    workbench("simulate", ball, "--until", 2, "--runs", 2, "--csv", path)
    assert {row["seed"] for row in csv.DictReader(io.StringIO(path.read_text()))} == {"0", "1"}


@pytest.mark.parametrize("method", ["adams", "taylor"])
def test_a_trace_replays(workbench: Callable, tmp_path: Path, method: str) -> None:
    path, second = tmp_path / "run.json", tmp_path / "again.json"
    made = workbench(
        "simulate",
        "platoon_paper",
        "--until",
        8,
        "--policy",
        "random",
        "--level",
        "random",
        "--seed",
        11,
        "--method",
        method,
        "--trace",
        path,
    )
    assert made.code == 0
    again = workbench("simulate", "platoon_paper", "--replay", path, "--trace", second)
    assert again.out == made.out
    first, copy = json.loads(path.read_text()), json.loads(second.read_text())
    assert first["segments"] == copy["segments"] and first["events"] == copy["events"]


def test_a_run_of_another_model_is_not_replayed(
    workbench: Callable, ball: Path, tmp_path: Path
) -> None:
    path = tmp_path / "run.json"
    workbench("simulate", ball, "--until", 1, "--trace", path)
    result = workbench("simulate", ball, "-P", "drop=5", "--replay", path)
    assert result.code == 2 and not result.out
    assert "is no run of" in result.err and "other parameters have other runs" in result.err
    other = workbench("simulate", "platoon_paper", "--replay", path)
    assert other.code == 2 and "is no run of platoon_paper" in other.err
    assert workbench("simulate", ball, "--replay", path).code == 0
    path.write_text('{"schema": "something else"}')
    assert workbench("simulate", ball, "--replay", path).code == 3
    path.write_text("not json")
    assert workbench("simulate", ball, "--replay", path).code == 3


@pytest.mark.parametrize("suffix", [".svg", ".html"])
def test_plots_are_complete_documents(
    workbench: Callable, ball: Path, tmp_path: Path, suffix: str
) -> None:
    path = tmp_path / f"run{suffix}"
    result = workbench(
        "simulate", ball, "--until", 4, "--plot", path, "--plot-vars", "height,height:speed"
    )
    assert result.code == 0
    text = path.read_text()
    svg = text[text.index("<svg") : text.index("</svg>") + 6]
    root = ElementTree.fromstring(svg)
    titles = [e.text or "" for e in root.iter("{http://www.w3.org/2000/svg}title")]
    assert any(title.startswith("bounce: ") for title in titles)
    assert "prefers-color-scheme: dark" in text
    assert text.count("http://") == 1 and "https://" not in text  # the name of SVG itself


@pytest.mark.parametrize(("suffix", "magic"), [(".png", b"\x89PNG"), (".pdf", b"%PDF")])
def test_plots_for_papers(
    workbench: Callable, ball: Path, tmp_path: Path, suffix: str, magic: bytes
) -> None:
    path = tmp_path / f"run{suffix}"
    result = workbench(
        "simulate",
        ball,
        "--until",
        4,
        "--plot",
        path,
        "--plot-vars",
        "height+speed",
        "--plot-vars",
        "height:speed",
    )
    if find_spec("matplotlib") is None:
        assert result.code == 2 and "pip install matplotlib" in result.err
    else:
        assert result.code == 0 and f"wrote {path}" in result.err
        assert path.read_bytes().startswith(magic)


def test_plot_escapes_what_the_user_wrote(workbench: Callable, ball: Path, tmp_path: Path) -> None:
    odd = tmp_path / "<b>&.charon"
    odd.write_text(ball.read_text())
    path = tmp_path / "run.svg"
    assert workbench("simulate", odd, "--until", 1, "--plot", path).code == 0
    assert "<b>" not in path.read_text()
    ElementTree.fromstring(path.read_text())


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--init", "hight=1"], "did you mean 'height'"),
        (["--init", "height"], "should read name=value"),
        (["--init", "height=1,height=2"], "given twice"),
        (["--init", "height=one"], "not a number"),
        (["--location", "flying"], "no initial location"),
        (["--input", "wind=1"], "no input 'wind'"),
        (["--input", "wind"], "should read name=signal"),
        (["--policy", "script"], "need each other"),
        (["--policy", "script", "--script", "0.5,2"], "numbers in [0, 1)"),
        (["--plot", "run.gif"], ".svg, .html, .png or .pdf"),
        (["--plot", "run.svg", "--plot-vars", "height:speed+height"], "x+y in one panel"),
        (["--plot", "run.svg", "--plot-vars", "depth"], "no variable 'depth'"),
        (["--until", "-1"], "--until"),
        (["--until", "nan"], "--until"),
        (["--init", "height=1e400"], "too large"),
        (["--input", "height.inclusion=1"], "no input"),
        (["--csv", "/nowhere/run.csv"], "no such directory"),
        (["--csv", "/"], "directory"),
        (["--csv", "same", "--trace", "same"], "two options"),
        (["--plot-vars", "height"], "needs --plot"),
        (["--plot", "run.svg", "--plot-vars", "height:speed:height"], "a pair x:y"),
        (["--compare", "/nowhere.json"], "cannot read"),
        (["--workers", "0"], "--workers"),
        (["--runs", "20000", "--csv", "runs.csv"], "at most 10000 runs"),
        (["--replay", "/nowhere.json"], "cannot read"),
    ],
)
def test_mistakes_get_a_message(
    workbench: Callable, ball: Path, options: list[str], says: str
) -> None:
    result = workbench("simulate", ball, *options)
    assert result.code == 2
    assert says in result.err
    assert "Traceback" not in result.err


def test_a_formula_that_looks_beyond_the_runs_says_so(workbench: Callable, ball: Path) -> None:
    later = "always[0,9](height > -1)"
    short = workbench("simulate", ball, "--until", 1, "--formula", later)
    assert "looks up to t = 9, the runs end at t = 1" in short.err and "--until 9" in short.err
    assert "looks up to" not in workbench("simulate", ball, "--until", 9, "--formula", later).err
    open_end = workbench("simulate", ball, "--until", 1, "--formula", "always (height > -1)")
    assert "looks up to" not in open_end.err
    hope = workbench("simulate", ball, "--until", 1, "--formula", "eventually[5,9](height > 90)")
    assert hope.code == 0 and "The formula is open" in hope.out
    search = workbench("falsify", ball, "--until", 1, "--budget", 5, "--formula", later)
    assert "runs are that long and do not end at --until 1" in search.err


def test_formula_is_monitored(workbench: Callable, ball: Path) -> None:
    violated = workbench("simulate", ball, "--until", 2, "--formula", "always[0,1.1](height > 5)")
    assert violated.code == 10
    result = workbench(
        "simulate", ball, "--until", 2, "--formula", "always[0,1](height > 4)", "--json"
    )
    assert result.code == 0
    assert result.data["runs"][0]["robustness"] == pytest.approx(10 - 9.81 / 2 - 4, abs=1e-5)
    assert workbench("simulate", ball, "--formula", "always (depth > 1)").code == 2


def test_a_script_decides(workbench: Callable) -> None:
    def final(script: str) -> float:
        options = ["--until", 5, "--policy", "script", "--script", script, "--json"]
        return workbench("simulate", "platoon_paper", *options).data["runs"][0]["final"]["dist"]

    assert final("0.1,0.2,0.3") == final("0.1,0.2,0.3") != final("0.9,0.2,0.3")


def test_the_heavy_libraries_stay_out(process: Callable) -> None:
    code = (
        "import sys; sys.argv = ['workbench', 'simulate', 'bouncing_ball', '-q']\n"
        "from workbench.cli import run\n"
        "run(sys.argv[1:])\n"
        "print([m for m in ('numpy', 'scipy', 'lark', 'networkx', 'flint', 'workbench.models.checker') if m in sys.modules])"
    )
    import subprocess
    import sys

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


RELAY = """\
mode Top() { write analog real x; diff { d(x) == -sign(x) + 0.5*sin(time); } }
agent Relay() { private analog real x; init { x = 1; } mode top = Top(); }
"""


def test_chattering_is_no_success_and_sliding_goes_on(
    workbench: Callable[..., Any], tmp_path: Path
) -> None:
    model = tmp_path / "relay.charon"
    model.write_text(RELAY)
    stuck = workbench("simulate", model, "--until", 5)
    assert stuck.code == 5 and "`x >= 0`" in stuck.out and "--sliding" in stuck.out
    assert workbench("simulate", model, "--until", 5, "--json").data["outcome"] == "incomplete"
    table, picture = tmp_path / "run.csv", tmp_path / "run.svg"
    slides = workbench(
        "simulate", model, "--until", 5, "--sliding", "--csv", table, "--plot", picture
    )
    assert slides.code == 0 and "reached" in slides.out
    assert table.read_text().startswith("time,location,sliding,x\n")
    assert "sliding along" in picture.read_text()
    proof = workbench("simulate", model, "--until", 5, "--sliding", "--validated")
    assert proof.code == 5 and "gave up" in proof.out


def test_a_run_is_compared_with_a_file(
    workbench: Callable[..., Any], ball: Path, tmp_path: Path
) -> None:
    table, trace = tmp_path / "run.csv", tmp_path / "run.json"
    workbench("simulate", ball, "--until", 1, "--csv", table, "--trace", trace)
    same = workbench("simulate", ball, "--until", 1, "--compare", trace, "--json")
    assert same.data["comparison"]["largest"] == 0.0
    near = workbench("simulate", ball, "--until", 1, "--compare", table)
    assert "no variable differs" in near.out
    *rows, last = table.read_text().splitlines()
    *kept, height, speed = last.split(",")
    table.write_text("\n".join([*rows, ",".join([*kept, str(float(height) + 0.5), speed])]))
    far = workbench("simulate", ball, "--until", 1, "--compare", table)
    assert "the largest gap is 0.5 in `height` at t = 1" in far.out
    assert "agree" not in near.out and "does not tell the jumps" in near.out
    lines = [line.rsplit(",", 1)[0] for line in table.read_text().splitlines()]
    table.write_text("\n".join(lines))
    part = workbench("simulate", ball, "--until", 1, "--compare", table)
    assert part.code == 0 and "largest gap" in part.out and "not compared" in part.err
    table.write_text("time,u\n0,1\n1,2\n")
    other = workbench("simulate", ball, "--until", 1, "--compare", table)
    assert other.code == 2 and "nothing can be compared" in other.err and "`u`" in other.err
    table.write_text("time,height\n1,2\n0,2\n")
    assert workbench("simulate", ball, "--compare", table).code == 3
    assert workbench("simulate", ball, "--compare", tmp_path / "none.json").code == 2


def test_workers_change_nothing(workbench: Callable[..., Any]) -> None:
    def rows(workers: int) -> list[dict[str, Any]]:
        options = ("--runs", 12, "--until", 3, "--json", "--workers", workers)
        return workbench("simulate", "platoon_paper", *options).data["runs"]

    assert rows(2) == rows(1)


class TestOwnClocks:
    def test_the_same_events_as_on_one_clock(self, workbench: Callable, tmp_path: Path) -> None:
        own, one = tmp_path / "own.json", tmp_path / "one.json"
        words = ("simulate", "bumper_cars", "--until", 8)
        assert workbench(*words, "--own-clocks", "--trace", own).code == 0
        assert workbench(*words, "--synchronous", "--trace", one).code == 0
        logs = [
            [(e["name"], round(e["time"], 4)) for e in json.loads(p.read_text())["events"]
             if e["type"] == "jump"]
            for p in (own, one)
        ]  # fmt: skip
        assert logs[0] == logs[1] and len(logs[0]) > 5
        again = workbench("simulate", "bumper_cars", "--replay", own)
        assert again.code == 0 and "reached t = 8" in again.out

    def test_one_clock_or_many_with_the_steps_of_each(self, workbench: Callable) -> None:
        words = ("simulate", "bumper_cars", "--until", 30, "--json")
        many, one, plain = (
            workbench(*words, *option).data["runs"][0]
            for option in (("--own-clocks",), ("--synchronous",), ())
        )
        assert many["jumps"] == one["jumps"] > 10 and plain == many
        assert len(many["agents"]) == 20 and len(one["agents"]) == 1
        assert many["agent_steps"] == sum(a["steps"] for a in many["agents"].values())
        assert one["agent_steps"] == 20 * one["steps"]
        assert one["agent_steps"] >= 5 * many["agent_steps"]
        shown = workbench("simulate", "spiral_cars", "--until", 5, "--own-clocks").out
        assert re.search(r"on 2 clocks \(left \d+, right \d+\): \d+ agent steps", shown)
        shown = workbench("simulate", "spiral_cars", "--until", 5, "--synchronous").out
        assert re.search(r"\d+ steps of each of 2 agents: \d+ agent steps", shown)
        both = workbench("simulate", "bumper_cars", "--own-clocks", "--synchronous")
        assert both.code == 2 and "one clock or many" in both.err

    def test_violation_table_and_plot(self, workbench: Callable, tmp_path: Path) -> None:
        table, plot = tmp_path / "run.csv", tmp_path / "run.svg"
        result = workbench(
            "simulate", "spiral_cars", "--own-clocks", "--csv", table, "--plot", plot,
            "--plot-vars", "x1,x2",
        )  # fmt: skip
        assert result.code == 10
        assert "`cars apart` is violated at t = 9.802" in result.out
        rows = list(csv.DictReader(io.StringIO(table.read_text())))
        assert float(rows[-1]["time"]) == pytest.approx(9.80237, abs=1e-4)
        ElementTree.fromstring(plot.read_text())

    def test_what_does_not_go_together(self, workbench: Callable) -> None:
        for words in (("--validated",), ("--method", "endpoint"), ("--location", "car[1]")):
            result = workbench("simulate", "bumper_cars", "--own-clocks", *words)
            assert result.code == 2 and "--own-clocks" in result.err

    def test_two_rates(self, workbench: Callable, ball: Path) -> None:
        plain = workbench("simulate", ball, "--until", 3, "--json").data
        two = workbench("simulate", ball, "--until", 3, "--method", "multirate", "--json").data
        assert two["runs"][0]["jumps"] == plain["runs"][0]["jumps"]
        assert two["runs"][0]["final"]["height"] == pytest.approx(
            plain["runs"][0]["final"]["height"], abs=1e-4
        )


def test_the_model_is_not_written_over(workbench: Callable[..., Any], ball: Path) -> None:
    before = ball.read_text()
    assert workbench("simulate", ball, "--csv", ball).code == 2
    assert ball.read_text() == before


def test_a_replayed_run_takes_no_other_choices(
    workbench: Callable[..., Any], ball: Path, tmp_path: Path
) -> None:
    path = tmp_path / "run.json"
    workbench("simulate", ball, "--until", 1, "--trace", path)
    for options in (["--runs", 2], ["--seed", 1], ["--init", "height=1"], ["--policy", "latest"]):
        result = workbench("simulate", ball, "--replay", path, *options)
        assert result.code == 2 and "--replay" in result.err


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ("time,wind\n0,1\n2,2\n1,3\n", "line 4"),
        ("time,wind\n0,1\n2,nan\n", "line 3"),
        ("time,wind\n0,fast\n", "line 2"),
        ("time,wind\n", "nothing else"),
        ("", "no column `wind`"),
    ],
)
def test_bad_tables_of_inputs(
    workbench: Callable[..., Any], leaf: Path, tmp_path: Path, table: str, says: str
) -> None:
    path = tmp_path / "wind.csv"
    path.write_text(table)
    result = workbench("simulate", leaf, "--input", f"wind=@{path}")
    assert result.code == 2 and says in result.err


@pytest.mark.parametrize(
    ("flow", "says"),
    [
        ("x*x", "explodes"),
        ("1/(1 - x)", "explodes"),
        ("sqrt(x - 1)", "no finite value"),
        ("1/(x - x)", "no finite value"),
        ("log(-1 - x)", "no finite value"),
    ],
)
def test_runs_that_cannot_go_on_are_no_success(
    workbench: Callable[..., Any], tmp_path: Path, flow: str, says: str
) -> None:
    path = tmp_path / "odd.charon"
    path.write_text(
        f"mode Top() {{ write analog real x; diff {{ d(x) == {flow}; }} }}\n"
        "agent A() { private analog real x; init { x = 0.5; } mode top = Top(); }\n"
    )
    result = workbench("simulate", path, "--until", 5)
    assert result.code == 5 and says in result.out
    assert workbench("simulate", path, "--until", 0).code in (0, 5)


def test_a_proved_violation_is_one_even_if_the_run_missed_it(
    workbench: Callable, tmp_path: Path
) -> None:
    """x = sin t passes 0.9999999 by less than the error of a loose run."""
    model = tmp_path / "sine.charon"
    model.write_text(
        "mode Turn() { write analog real x, y; diff { d(x) == y; d(y) == -x; } }\n"
        "agent Sine() { private analog real x = 0, y = 1; mode top = Turn();\n"
        '  assert "low" { x <= 0.9999999 } }\n'
    )
    result = workbench("simulate", model, "--until", 2, "--validated")
    assert "certainly bad" in result.out and result.code == 10


UNFED = """\
mode Follow() { read analog real u; write analog real x; diff { d(x) == u; } }
agent Follower() { read analog real u; write analog real x; init { x = 0; } mode top = Follow(); }
"""


def test_inputs_that_are_fed_nothing_are_named(
    workbench: Callable[..., Any], tmp_path: Path
) -> None:
    model = tmp_path / "follow.charon"
    model.write_text(UNFED)
    assumed = workbench("simulate", model, "--until", 2, "--json")
    assert "`u` has no bounds" in assumed.err and assumed.data["runs"][0]["final"]["x"] == 0.0
    assert "`u`" not in workbench("simulate", model, "--until", 2, "--quiet").err
    fed = workbench("simulate", model, "--until", 2, "--input", "u=3", "--json")
    assert "`u`" not in fed.err and fed.data["runs"][0]["final"]["x"] == pytest.approx(6.0)


def test_a_table_with_words_for_numbers_is_bad_input(
    workbench: Callable, ball: Path, tmp_path: Path
) -> None:
    table = tmp_path / "words.csv"
    table.write_text("time,height\n0,1\n1,abc\n")
    found = workbench("simulate", ball, "--until", 1, "--compare", table)
    assert found.code == 3 and "words.csv" in found.err
    assert "line 3, column `height`: `abc` is no number" in found.err


HUGE = """
mode Go() {{ write analog real x; diff {{ d(x) == {rate}; }} }}
mode Top() {{ write analog real x; mode go = Go(); trans from init to go;
  urgent trans #e from go to go when {guard} do {{ x = {reset}; }} }}
agent A() {{ private analog real x; init {{ x {start}; }} mode top = Top(); }}
"""


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ("rate", "1e400"),
        ("rate", "-(1e200*1e200)*x"),
        ("guard", "x >= 1e400"),
        ("reset", "1e200*1e200"),
        ("reset", "1e308*10*x"),
        ("start", "= 1e400"),
        ("start", "in [-1e400, 1]"),
    ],
)
def test_numbers_too_large_for_runs_are_refused(
    workbench: Callable, tmp_path: Path, place: str, text: str
) -> None:
    path = tmp_path / "huge.charon"
    given = {"rate": "1", "guard": "x >= 1", "reset": "0", "start": "= 0"} | {place: text}
    path.write_text(HUGE.format(**given))
    found = workbench("simulate", path, "--until", 3)
    assert found.code == 3 and "too large for floating point" in found.err


COUNTER = """
mode Run() {{ write analog real x; diff {{ d(x) == 1; }} }}
mode Top() {{
  write analog real x; write discrete real y;
  mode run = Run();
  trans from init to run;
  {edge}
}}
agent A() {{ private analog real x = 0; private discrete real y = 0; mode top = Top();
  assert "p" {{ {claim} }} }}
"""


@pytest.mark.parametrize(
    ("edge", "claim", "code"),
    [
        ("trans from run to run when x >= 1 do { y in [y, y + 1]; x = 0; }", "y <= 2.5", 10),
        ("urgent trans from run to run when x >= 1 do { x = 0; }", "x < 1", 0),
    ],
)
def test_exact_counterexamples_are_replayed(
    workbench: Callable, tmp_path: Path, edge: str, claim: str, code: int
) -> None:
    """The second has its urgent edge and its bad states meet in one state: rounding misses it."""
    path, file = tmp_path / "model.charon", tmp_path / "bad.json"
    path.write_text(COUNTER.format(edge=edge, claim=claim))
    found = workbench("verify", path, "--method", "rectangular", "--trace", file)
    assert found.code == 10, found
    again = workbench("simulate", path, "--replay", file)
    assert again.code == code, again
    assert ("`p` is violated" in again.out) == (code == 10)
    assert ("the recorded run violates 'p'" in again.err) == (code == 0)
