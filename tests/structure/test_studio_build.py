"""The page is bundled when the package is built: once for its sources, by whatever node there is."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]

NODE = """#!/bin/sh
test "$1" = --version && { echo v22.1.0; exit; }
echo bundled >> log
mkdir -p bundle
cat src/* > bundle/index.html
"""
NPM = """#!/bin/sh
echo "npm $1" >> log
mkdir -p node_modules
"""
BROKEN = """#!/bin/sh
test "$1" = --version && { echo v22.1.0; exit; }
echo "error ECONNREFUSED" >&2
exit 1
"""

Install = Callable[..., None]


@pytest.fixture
def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("build_studio", ROOT / "build_studio.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.chdir(tmp_path)
    source = tmp_path / module.STUDIO / "src"
    source.mkdir(parents=True)
    (source / "page.ts").write_text("one")
    (source.parent / "package-lock.json").write_text("{}")
    return module


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Puts programs, and nothing but a shell beside them, on the path."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("sh", "cat", "mkdir", "test", "echo"):
        found = shutil.which(name)
        assert found is not None
        (programs / name).symlink_to(found)
    monkeypatch.setenv("PATH", str(programs))

    def install(**texts: str) -> None:
        for name, text in texts.items():
            (programs / name).write_text(text)
            (programs / name).chmod(0o755)

    return install


def log(build: ModuleType) -> list[str]:
    return (build.STUDIO / "log").read_text().splitlines()


def test_the_bundle_is_made_once_for_its_sources(build: ModuleType, installed: Install) -> None:
    installed(node=NODE, npm=NPM)
    (build.STUDIO / "log").write_text("")
    assert not build.is_built()
    build.build()
    made = log(build)
    assert made == ["npm ci", "bundled"]
    assert (build.BUNDLE / "index.html").read_text() == "one"


def test_a_change_is_bundled_and_the_libraries_stay(
    build: ModuleType, installed: Install, tmp_path: Path
) -> None:
    installed(node=NODE.replace("log", f"{tmp_path}/log"), npm=NPM.replace("log", "../../log"))
    build.build()
    build.build()
    (build.STUDIO / "src" / "page.ts").write_text("two")
    assert not build.is_built()
    build.build()
    assert (tmp_path / "log").read_text().split("\n") == ["npm ci", "bundled", "bundled", ""]
    assert (build.BUNDLE / "index.html").read_text() == "two"
    (build.STUDIO / "package-lock.json").write_text("{ }")
    build.build()
    assert (tmp_path / "log").read_text().count("npm ci") == 2


def test_without_npm_all_else_is_built_and_the_reason_is_kept(
    build: ModuleType, installed: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    installed(node=BROKEN, npm=BROKEN)
    build.build_or_say_why()
    assert "npm could not fetch the libraries" in capsys.readouterr().err
    assert "ECONNREFUSED" in build.MISSING.read_text()
    installed(node=NODE, npm=NPM)
    build.build_or_say_why()
    assert build.is_built() and not build.MISSING.exists()


def test_a_page_may_be_required(
    build: ModuleType, installed: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(node=BROKEN, npm=BROKEN)
    monkeypatch.setenv("WORKBENCH_STUDIO", "required")
    with pytest.raises(SystemExit, match="npm could not fetch"):
        build.build_or_say_why()


def test_a_node_is_asked_for_where_there_is_none(build: ModuleType, installed: Install) -> None:
    installed()
    assert build.required_packages() == [build.NODE_PACKAGE]
    installed(node=NODE.replace("v22", "v12"), npm=NPM)
    assert build.required_packages() == [build.NODE_PACKAGE]
    installed(node=NODE, npm=NPM)
    assert build.required_packages() == []


def test_the_lock_file_names_versions_and_no_address() -> None:
    lock = (ROOT / "workbench" / "studio" / "package-lock.json").read_text()
    assert '"integrity"' in lock
    assert "resolved" not in lock and "://registry" not in lock


@pytest.mark.slow
def test_the_wheel_carries_the_page_also_where_no_node_is(tmp_path: Path) -> None:
    """From what would be cloned, by pip alone, with a path that has no node."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    clone, programs = tmp_path / "clone", tmp_path / "programs"
    for name in listed:
        if not name.startswith("tests/"):
            (clone / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, clone / name, follow_symlinks=False)
    programs.mkdir()
    for folder in os.environ["PATH"].split(os.pathsep):
        for program in Path(folder).glob("*"):
            known = (programs / program.name).exists()
            if not known and program.name not in ("node", "nodejs", "npm", "npx"):
                (programs / program.name).symlink_to(program)
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(tmp_path), str(clone)],
        env={**os.environ, "PATH": str(programs), "WORKBENCH_STUDIO": "required"},
        check=True,
        timeout=900,
    )
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    for name in ("index.html", "studio.js", "studio.css", "licences.txt"):
        assert f"workbench/studio/bundle/{name}" in names
    assert not [name for name in names if "node_modules" in name or name.endswith(".ts")]
