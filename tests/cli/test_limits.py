"""Commands end in time and within their memory, whatever they are doing, and say what is known."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from workbench.api.work import Cancelled
from workbench.models.trace import Trace
from workbench.simulate.many_runs import RunMaker, Summary

Run = Callable[..., Any]

HANGS = """
import signal, sys, time
from workbench.cli.supervision import allow, supervised

def work():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    {before}
    print("begun", flush=True)
    while True:
        pass

sys.exit(supervised(work))
"""
"""A command that listens to nothing."""

BREAKS = """
import sys
from workbench.cli.supervision import supervised

def work():
    print("begun", flush=True)
    try:
        while True:
            pass
    except KeyboardInterrupt:
        raise SyntaxError("half an import")

sys.exit(supervised(work))
"""
"""A command in which an interrupt becomes an error of another kind."""

MANY_SUMMANDS = """
mode Go() { write analog real x;
  diff { d(x) == sum i in 1..3000 : sum j in 1..3000 : i*j; } }
agent A() { private analog real x; init { x = 0; } mode top = Go(); assert "a" { x >= 0 } }
"""


def started(before: str = "pass", command: str = HANGS) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", command.format(before=before)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_what_listens_to_nothing_is_ended_with_its_last_words() -> None:
    process = started("allow(time.monotonic(), 0.5, 'first: verified\\nsecond: UNKNOWN\\n')")
    out, err = process.communicate()
    assert (process.returncode, out) == (5, "begun\nfirst: verified\nsecond: UNKNOWN\n")
    assert not err


@pytest.mark.parametrize("command", [HANGS, BREAKS])
def test_an_interrupt_ends_whatever_a_command_does(command: str) -> None:
    process = started(command=command)
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    assert (process.returncode, out, err) == (130, "", "interrupted\n")


@pytest.mark.parametrize(
    ("how", "code", "said"), [("abort()", 5, "more memory"), ("kill(os.getpid(), 11)", 6, "SEGV")]
)
def test_a_command_that_dies_says_so(how: str, code: int, said: str) -> None:
    process = started(f"import os, faulthandler; faulthandler.disable(); os.{how}")
    _, err = process.communicate()
    assert process.returncode == code
    assert said in err
    assert "Traceback" not in err


def test_what_a_command_started_ends_with_it(tmp_path: Path) -> None:
    """Also when it is killed."""
    file = tmp_path / "pid"
    process = started(
        "import os; from workbench.models.processes import end_with_parent; child = os.fork();"
        f" (end_with_parent(), open({str(file)!r}, 'w').write(str(os.getpid()))) if child == 0"
        " else allow(time.monotonic(), 0.3, '')"
    )
    process.communicate()
    child = Path(f"/proc/{file.read_text()}/stat")
    while child.exists() and " Z " not in child.read_text():
        time.sleep(0.01)


def test_too_much_memory_is_unknown(workbench: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def greedy(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("workbench.models.load.load", greedy)
    result = workbench("check", "leaky_tank")
    assert result.code == 5
    assert result.err == "error: the command needs more memory than it may have (--memory)\n"


@pytest.mark.parametrize("as_json", [False, True])
def test_a_model_that_takes_too_long_to_read(process: Run, tmp_path: Path, as_json: bool) -> None:
    path = tmp_path / "many.charon"
    path.write_text(MANY_SUMMANDS)
    for verb in ("check", "verify"):
        result = process(verb, path, "--time-limit", 0.5, *(["--json"] if as_json else []))
        if result.code == 3:  # refused at once
            continue
        assert result.code == 5
        if as_json:
            assert json.loads(result.out)["schema"] == f"workbench.{verb}/1"
        else:
            assert result.out.startswith(f"{path}: UNKNOWN")


@pytest.mark.parametrize(
    ("ending", "code", "said"),
    [
        (KeyboardInterrupt, 130, "interrupted after 2 of 5 runs"),
        (Cancelled, 5, "the time limit (--time-limit) ended it after 2 of 5 runs"),
    ],
)
def test_a_part_replaces_nothing_unless_asked(
    workbench: Run,
    ball: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    ending: type[BaseException],
    code: int,
    said: str,
) -> None:
    whole = RunMaker.summary

    def cut(maker: RunMaker, seed: int, trace: Trace | None = None) -> Summary:
        if seed == 2:
            raise ending
        return whole(maker, seed, trace)

    monkeypatch.setattr(RunMaker, "summary", cut)
    target = tmp_path / "runs.csv"
    target.write_text("as before")
    many = ("simulate", ball, "--runs", 5, "--csv", target)
    result = workbench(*many)
    assert result.code == code
    assert said in result.err
    assert f"{target} is not written" in result.err
    assert target.read_text() == "as before"
    assert workbench(*many, "--partial").code == code
    assert target.read_text() != "as before"


def test_verdicts_before_the_end_are_told_with_it(
    workbench: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last words of a command hold what it had decided."""
    words: list[str] = []
    monkeypatch.setattr("workbench.verbs.verify.allow", lambda *said: words.append(said[-1]))
    assert workbench("verify", "leaky_tank", "--json").code == 0
    last = json.loads(words[-1])
    assert [result["outcome"] for result in last["results"]] == ["verified"]
    assert "'flow within capacity' is not decided" in last["error"]
