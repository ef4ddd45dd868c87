"""An editor that is not ours, Neovim as Debian has it, works with the server."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

MODEL = """\
// A tank that fills.
mode Fill(real speed) {
  write analog real level;  // m
  diff { d(level) = speed; }
  inv { level <= 4 }
}

agent Tank(real speed = 1/2) {
  private analog real level;
  init {
    level in [0, 1];
  }
  mode top = Fill(speed);
  assert "not full" { level <= 5 }
}
"""


@pytest.mark.skipif(
    shutil.which("nvim") is None, reason="no Neovim: the language server not tried with it"
)
def test_a_session_in_neovim(tmp_path: Path) -> None:
    model, answers = tmp_path / "tank.charon", tmp_path / "answers.json"
    model.write_text(MODEL, encoding="utf-8")
    script = Path(__file__).with_name("neovim.lua")
    done = subprocess.run(
        ["nvim", "--headless", "--clean", "-n", "-S", str(script)],
        env={
            **os.environ,
            "SERVER": f"{sys.executable} -m workbench lsp",
            "MODEL": str(model),
            "ANSWERS": str(answers),
            "XDG_STATE_HOME": str(tmp_path),
            "XDG_CACHE_HOME": str(tmp_path),
        },
        capture_output=True,
        text=True,
        timeout=1000,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert answers.is_file(), done.stdout + done.stderr
    said = json.loads(answers.read_text(encoding="utf-8"))
    assert [d["code"] for d in said["broken"]] == ["single-equals"]
    assert said["line"] == "  diff { d(level) == speed; }"
    assert said["mended"] == []
    assert "write analog real level" in said["hover"]["contents"]["value"]
    assert said["definition"][0]["range"]["start"] == {"line": 1, "character": 5}
    assert "speed" in [item["label"] for item in said["completion"]["items"]]
    assert [s["name"] for s in said["symbols"]] == ["Fill", "Tank"]
    assert [lens["command"]["title"] for lens in said["lenses"]][:2] == ["verify", "falsify"]
    assert said["renamed"].count("height") == 6
    assert "level" not in said["renamed"]
    assert said["verdict"]["outcome"] == "verified"
