"""The frame of the command line: help, exit codes, streams, lazy loading."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from workbench.cli.commands import VERBS

Run = Callable[..., Any]

HEAVY = {"z3", "numpy", "scipy", "lark", "networkx", "highspy", "clarabel", "flint", "cdd"}


def imported_by(*arguments: str) -> set[str]:
    """The modules that are loaded after a command."""
    code = (
        "import json, sys; from workbench.cli import run; "
        f"run({list(arguments)!r}); print(json.dumps(list(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    return set(json.loads(done.stderr.splitlines()[-1]))


def test_help_imports_nothing_heavy_and_no_verb() -> None:
    modules = imported_by("--help")
    assert "click" in modules
    assert not HEAVY & {m.split(".")[0] for m in modules}
    assert not [m for m in modules if m.startswith(("models", "reports", "workbench.verbs"))]


def test_a_verbs_help_imports_that_verb_only() -> None:
    modules = imported_by("check", "--help")
    assert [m for m in modules if m.startswith("workbench.verbs.")] == ["workbench.verbs.check"]
    assert not HEAVY & {m.split(".")[0] for m in modules}


def test_listing_the_library_parses_no_model() -> None:
    modules = imported_by("models")
    assert not HEAVY & {m.split(".")[0] for m in modules}


def test_checking_a_model_needs_no_engine() -> None:
    modules = imported_by("check", "bouncing_ball")
    assert not {"scipy", "networkx", "highspy", "clarabel", "flint", "cdd"} & {
        m.split(".")[0] for m in modules
    }


def test_help_lists_every_verb(workbench: Run) -> None:
    result = workbench("--help")
    assert result.code == 0
    for verb, (_, summary) in VERBS.items():
        assert f"  {verb} " in result.out
        assert summary in result.out
    assert result.err == ""


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_with_an_example(workbench: Run, verb: str) -> None:
    result = workbench(verb, "--help")
    assert result.code == 0
    assert re.search(rf"^ +workbench {verb}\b", result.out.partition("Example:")[2], re.MULTILINE)
    assert "--json" in result.out and "--quiet" in result.out


@pytest.mark.parametrize("verb", VERBS)
def test_the_table_of_verbs_tells_the_truth(verb: str) -> None:
    module, summary = VERBS[verb]
    command = import_module(module).command
    assert command.name == verb
    assert command.help.startswith(summary)


def test_version(workbench: Run) -> None:
    from workbench import __version__

    assert workbench("--version").out == f"workbench {__version__}\n"
    pyproject = Path(__file__).resolve().parents[2] / "pyproject.toml"
    assert f'version = "{__version__}"' in pyproject.read_text()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["chek", "x"], "did you mean 'check'?"),
        (["zzzzz"], "the verbs are new, models, check"),
        (["check"], "name a model to check"),
        (["check", "x", "--colour"], "No such option"),
        (["check", "x", "-P", "novalue"], "name=value"),
        (["check", "x", "-P", "a=1", "-P", "a=2"], "given twice"),
        (["check", "x", "-P", "a=1e999999999"], "not a number"),
        (["check", "x", "-P", "a=1/0"], "divides by zero"),
        (["check", "x", "-P", "a=" + "9" * 5000], "not a number"),
        (["show", "x", "--svg", "f", "--locations"], "exclude each other"),
        (["show", "x", "--limit", "0"], "--limit"),
        (["export", "x"], "--to"),
        (["export", "x", "--to", "pdf"], "pdf"),
        (["fmt"], "Missing argument"),
        (["fmt", "x", "--check", "--stdout"], "exclude each other"),
    ],
)
def test_wrong_usage_is_2_with_a_reason(workbench: Run, arguments: list[str], said: str) -> None:
    result = workbench(*arguments)
    assert result.code == 2
    assert said in result.err
    assert result.out == ""
    assert "Traceback" not in result.err


def test_no_verb_shows_the_help_and_is_2(workbench: Run) -> None:
    result = workbench()
    assert result.code == 2
    assert "Verbs:" in result.err


def test_a_defect_is_6_with_a_log(
    workbench: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("workbench.models.load.load", _broken)
    result = workbench("check", "platoon")
    assert result.code == 6
    assert "internal error" in result.err and "Traceback" not in result.err
    (log,) = tmp_path.glob("workbench-error-*.log")
    assert str(log) in result.err
    assert "Traceback" in log.read_text() and "check platoon" in log.read_text()


def test_debug_shows_the_details_of_a_defect(
    workbench: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.models.load.load", _broken)
    result = workbench("check", "platoon", "--debug")
    assert result.code == 6
    assert "Traceback" in result.err


def test_a_defect_under_json_is_one_object(
    workbench: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("workbench.models.load.load", _broken)
    result = workbench("check", "platoon", "--json")
    assert result.code == 6
    assert result.data["outcome"] == "internal-error"
    assert result.data["schema"] == "workbench.check/1"


def _broken(*arguments: object, **named: object) -> None:
    raise RuntimeError("something that must not happen")


def test_an_interrupt_is_130(workbench: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*arguments: object, **named: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("workbench.models.load.load", interrupted)
    result = workbench("check", "platoon")
    assert result.code == 130
    assert "Traceback" not in result.err


@pytest.mark.parametrize(
    "module", ["click", "workbench.cli.commands", "workbench.verbs.check", "workbench.models.load"]
)
def test_an_interrupt_while_modules_are_loading_leaves_no_traceback(module: str) -> None:
    """From the moment on at which Python runs our own code."""
    script = (
        "import sys\n"
        "class Interrupted:\n"
        "    def find_spec(self, name, *rest):\n"
        f"        if name == {module!r}: raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupted())\n"
        "from workbench.cli import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, "check", "platoon"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr, done.stdout) == (130, "interrupted\n", "")


def test_a_reader_that_goes_away_is_no_error() -> None:
    """`workbench ... | head -1`: no message, and the conventional code."""
    script = (
        f"{sys.executable} -c 'from workbench.cli import main; main()' models --json | head -c 1; "
        "echo ${PIPESTATUS[0]}"
    )
    done = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stderr == ""
    assert done.stdout in ("{141\n", "{0\n")  # 0 if all of it fitted into the pipe


def test_a_full_disk_is_reported(tmp_path: Path) -> None:
    if not os.path.exists("/dev/full"):
        pytest.skip("needs /dev/full")
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-c", "from workbench.cli import main; main()", "models"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            env={**os.environ, "TMPDIR": str(tmp_path)},
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr == "Error: cannot write the result: No space left on device\n"


def test_colours_only_when_wanted(
    workbench: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = tmp_path / "bad.charon"
    bad.write_text("agent A() { oops }")
    assert "\x1b[" not in workbench("check", bad).err
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    from workbench.cli.console import _colours

    class Terminal:
        def isatty(self) -> bool:
            return True

    assert _colours(Terminal())  # type: ignore[arg-type]
    monkeypatch.setenv("NO_COLOR", "1")
    assert not _colours(Terminal())  # type: ignore[arg-type]


def test_diagnostics_are_coloured_by_their_parts() -> None:
    from workbench.cli.console import coloured

    plain = "m.charon:1:2: error: no [code]\n  1 | x\n    |  ^^\n  hint: try"
    text = coloured(plain)
    assert "\x1b[31m\x1b[1merror:" in text
    assert "\x1b[36mhint:" in text
    assert "^^\x1b[0m" in text


def test_the_facade_is_lazy_and_complete() -> None:
    code = (
        "import sys, workbench; before = [m for m in sys.modules if m.startswith('models')];"
        "model = workbench.load('bouncing_ball');"
        "import json; print(json.dumps([before, model.name, dir(workbench)]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    before, name, names = json.loads(done.stdout)
    assert before == []
    assert name == "bouncing_ball"
    import workbench

    for exported in names:
        assert getattr(workbench, exported) is not None
    with pytest.raises(AttributeError, match="no attribute"):
        workbench.nothing_of_that_name  # noqa: B018
