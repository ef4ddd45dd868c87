"""What is released: a source archive that is complete, a wheel made from it, and a user who has
neither a compiler nor the sources; what the libraries that it needs need themselves is theirs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("models", "simulate", "reach", "reports", "abstraction")
HOOKS = "from setuptools import build_meta; print(build_meta.build_sdist('dist'))"

REQUIREMENTS = """
import email, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as file:
    (name,) = (n for n in file.namelist() if n.endswith(".dist-info/METADATA"))
    said = email.message_from_bytes(file.read(name)).get_all("Requires-Dist")
print("\\n".join(one for one in said if "extra ==" not in one))
"""

SCRIPT = """
import models, simulate, reach, reports, abstraction   # the user's own
assert all(m.MINE for m in (models, simulate, reach, reports, abstraction))
import workbench
import workbench.reach._cone, workbench.simulate._core, workbench.simulate._fleet
model = workbench.load("leaky_tank")
runs = model.simulate(until=5, runs=3)
verdict = model.verify("flow within capacity")["flow within capacity"]
assert verdict.is_verified and verdict.recheck(), verdict
report = model.report("report.html", "flow within capacity", runs=2)
assert report.outcome == "verified" and workbench.__file__.startswith(SITE)
print(runs[0]["level"][:2], model.loaded)
"""


def run(*command: str | Path, cwd: Path, **environment: str) -> str:
    clean = {n: v for n, v in os.environ.items() if n not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd, env=clean | environment, capture_output=True, text=True, timeout=900, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout


def environment(folder: Path, *packages: str) -> Path:
    """The programs of a new environment with these packages."""
    venv.create(folder, with_pip=True)
    programs = folder / ("Scripts" if sys.platform == "win32" else "bin")
    if packages:
        run(programs / "python", "-m", "pip", "install", "-q", *packages, cwd=folder)
    return programs


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The source archive of what git knows, and the wheel that is made from that archive."""
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("the sources are not in git")
    folder = tmp_path_factory.mktemp("release")
    sources, dist = folder / "sources", folder / "wheels"
    run("git", "clone", "-q", "--local", ROOT, sources, cwd=folder)
    builder = environment(folder / "builder", "setuptools>=77", "wheel")
    run(builder / "python", "-c", HOOKS, cwd=sources)
    (archive,) = (sources / "dist").glob("*.tar.gz")
    made = ("pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", dist, archive)
    run(builder / "python", "-m", *made, cwd=folder)
    (wheel,) = dist.glob("*.whl")
    return archive, wheel


@pytest.mark.slow
def test_the_archive_and_the_wheel_hold_every_module_once(released: tuple[Path, Path]) -> None:
    archive, wheel = released
    kinds = ("*.py", "*.lark", "*.charon", "*.c", "*.h", "models/kernel/*.js")
    known = run("git", "ls-files", *kinds, cwd=ROOT).split()
    parts = (*PARTS, "workbench")
    known = [name for name in known if name.partition("/")[0] in parts]
    with tarfile.open(archive) as file:
        packed = {name.partition("/")[2] for name in file.getnames()}
    assert set(known) <= packed
    with zipfile.ZipFile(wheel) as file:
        names = file.namelist()
    assert len(names) == len(set(names))
    assert {name.partition("/")[0].split("-")[0] for name in names} == {
        "workbench",
        "charon_workbench",
    }
    installed = {
        name if name.startswith("workbench/") else f"workbench/{name}"
        for name in known
        if name.endswith((".py", ".lark", ".js"))
    }
    assert installed <= set(names)


@pytest.mark.slow
def test_a_user_without_a_compiler(released: tuple[Path, Path], tmp_path: Path) -> None:
    programs = environment(tmp_path / "user")
    python = programs / "python"
    alone = {"PATH": str(programs), "CC": "no-compiler"}
    wheel = released[1]
    needed = run(python, "-c", REQUIREMENTS, wheel, cwd=tmp_path).split("\n")
    run(python, "-m", "pip", "install", "-q", *filter(None, needed), cwd=tmp_path)
    run(python, "-m", "pip", "install", "-q", "--no-index", wheel, cwd=tmp_path, **alone)
    site = run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=tmp_path)
    for part in PARTS:
        assert not (Path(site.strip()) / part).exists()
        (tmp_path / f"{part}.py").write_text("MINE = True\n")
    (tmp_path / "script.py").write_text(SCRIPT.replace("SITE", repr(site.strip())))
    said = run(python, "script.py", cwd=tmp_path, **alone)
    assert "leaky_tank" in said and (tmp_path / "report.html").stat().st_size > 10_000
    command = programs / "workbench"
    assert "Verbs" in run(command, "--help", cwd=tmp_path, **alone)
    assert "platoon" in run(command, "models", cwd=tmp_path, **alone)
    run(command, "new", "room", cwd=tmp_path, **alone)
    assert "all as expected" in run(command, "verify", cwd=tmp_path / "room", **alone)
