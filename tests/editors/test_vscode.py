"""The extension for VS Code: its logic under plain node, without an editor."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from workbench.language_server.server import Server

sys.path.append(str(Path(__file__).resolve().parents[1] / "language_server"))
from wire import Wire

VSCODE = Path("workbench/editors/vscode")


@pytest.mark.skipif(shutil.which("node") is None, reason="no node: VS Code extension not tested")
def test_the_logic_of_the_extension() -> None:
    done = subprocess.run(
        ["node", "--test", "test/"],
        cwd=VSCODE,
        capture_output=True,
        text=True,
        timeout=1000,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert "# pass 0\n" not in done.stdout


def test_the_extension_asks_for_what_the_server_has() -> None:
    """Its own commands are not those of the server, which the client registers by itself."""
    offered = set(Server(memory=4.0).protocol.fm.commands)
    own = {
        c["command"]
        for c in json.loads((VSCODE / "package.json").read_text())["contributes"]["commands"]
    }
    assert {"charon.verify", "charon.falsify", "charon.simulate", "charon.report"} <= offered
    assert not own & offered


def test_the_lock_file_names_no_registry() -> None:
    text = (VSCODE / "package-lock.json").read_text(encoding="utf-8")
    assert "resolved" not in text
    assert "http:" not in text


def package(folder: Path, name: str, licence: str) -> None:
    folder.mkdir(parents=True)
    (folder / "LICENSE.md").write_text(licence)
    told = {"name": name, "version": "1.2.3", "license": "MIT"}
    (folder / "package.json").write_text(json.dumps(told))


@pytest.mark.skipif(shutil.which("node") is None, reason="no node: VS Code extension not tested")
def test_the_licences_of_what_is_bundled_are_told(tmp_path: Path) -> None:
    """Each once, with those of packages inside packages; own sources have none to tell."""
    modules = tmp_path / "node_modules"
    package(modules / "@scope" / "outer", "@scope/outer", "as one likes")
    package(modules / "@scope" / "outer" / "node_modules" / "inner", "inner", "with thanks")
    package(modules / "unused", "unused", "not bundled")
    inputs = [
        "src/extension.js",
        "node_modules/@scope/outer/a.js",
        "node_modules/@scope/outer/lib/b.js",
        "node_modules/@scope/outer/node_modules/inner/index.js",
    ]
    source = Path("workbench/studio/licences.mjs").resolve().as_uri()
    script = f"""import {{ licences }} from {json.dumps(source)};
        console.log(licences({json.dumps(str(tmp_path))}, {json.dumps(inputs)}));"""
    done = subprocess.run(
        ["node", "--input-type=module", "-e", script],
        capture_output=True,
        text=True,
        timeout=1000,
        check=True,
    )
    told = [part.strip() for part in done.stdout.split("-" * 72)]
    assert told == ["@scope/outer 1.2.3 (MIT)\n\nas one likes", "inner 1.2.3 (MIT)\n\nwith thanks"]
    build = json.loads((VSCODE / "package.json").read_text())["scripts"]["build"]
    assert build == "node build.mjs" and "licences(" in (VSCODE / "build.mjs").read_text()
    assert "dist" not in (VSCODE / ".vscodeignore").read_text()


RENDER = """
const { svg } = require("./src/picture");
let text = "";
process.stdin.on("data", (more) => (text += more));
process.stdin.on("end", () => process.stdout.write(svg(JSON.parse(text))));
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="no node: VS Code extension not tested")
def test_the_extension_draws_what_the_server_tells() -> None:
    diagram = asyncio.run(_diagram(Path("models/library/thermostat_timer.charon").resolve()))
    done = subprocess.run(
        ["node", "-e", RENDER],
        cwd=VSCODE,
        input=json.dumps(diagram),
        capture_output=True,
        text=True,
        timeout=1000,
        check=True,
    )
    picture = ElementTree.fromstring(done.stdout)
    groups = [g.get("class", "").split()[0] for g in picture.iter("g")]
    assert groups.count("node") == len(diagram["nodes"]) > 0
    assert groups.count("edge") == len(diagram["edges"]) > 0
    assert "NaN" not in done.stdout
    assert "undefined" not in done.stdout


async def _diagram(path: Path) -> dict[str, Any]:
    wire = Wire()
    wire.begin()
    wire.open(path.as_uri(), path.read_text(encoding="utf-8"))
    try:
        found: dict[str, Any] = wire.ask(
            "charon/diagram", textDocument={"uri": path.as_uri()}, path=None
        )
        inside = [node["name"] for node in found["nodes"] if node["enterable"]]
        way = [*found["path"], inside[0]]
        deeper: dict[str, Any] = wire.ask(
            "charon/diagram", textDocument={"uri": path.as_uri()}, path=way
        )
        return deeper
    finally:
        await wire.end()
