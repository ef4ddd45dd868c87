"""Generate the kernel anew from the theory:

    python -m workbench.models.kernel.translation.regenerate

It needs `coqc`, and takes some seconds: the functions are compiled (not their proofs), extracted
and translated, to `generated.py` and `generated.js`. The same version of Coq gives the same text.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workbench.models.kernel.theory_files import THEORY, required
from workbench.models.kernel.translation.translate import NATIVE, translated

ROOT = Path(__file__).resolve().parents[3]
CHECKERS: Mapping[str, str] = {
    "check_polyhedral": "Polyhedral",
    "check_quadratic": "Quadratic",
    "check_progress": "Progress",
}
"""The functions that are wanted, and the file of the theory that each is in."""
COQ = "8.16"
"""Other versions of Coq may choose other names."""
PLACES = {
    "python": ROOT / "models" / "kernel" / "generated.py",
    "javascript": ROOT / "models" / "kernel" / "generated.js",
}

_TITLE = f"""The kernel: generated from models/kernel/theory, do not edit.

Its functions are {", ".join(CHECKERS)} and what they use.
Made by models/kernel/translation from what Coq {COQ} extracts. Whole numbers are integers, a list
is nothing or a pair (head, tail), a rational a pair (numerator, denominator > 0). What is given to
these functions must be of their types: models/kernel/decode.py, or decode.js, sees to it.
"""


def version() -> str | None:
    """The version of Coq that is installed, if any is."""
    if shutil.which("coqc") is None:
        return None
    said = subprocess.run(["coqc", "--version"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"version (\d+\.\d+)", said)
    return found and found[1]


def compiled(names: list[str], folder: Path) -> None:
    """Compile files of the theory, in this order, in a folder."""
    for name in names:
        shutil.copy(THEORY / f"{name}.v", folder)
        coq(folder, f"{name}.v")


def coq(folder: Path, file: str) -> str:
    """What Coq says when it compiles a file in a folder of compiled theory."""
    command = ["coqc", "-q", "-Q", ".", "Kernel", file]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"coqc {file}: {done.stderr or done.stdout}")
    return done.stdout


def extracted(modules: list[str], roots: list[str], folder: Path) -> Any:
    """What Coq extracts for some functions of modules that are compiled in a folder."""
    natives = "".join(f'Extract Constant {name} => "{name}".\n' for name in NATIVE)
    text = (
        "From Coq Require Import ZArith QArith Qreduction Zbool Extraction.\n"
        f"From Kernel Require Import {' '.join(modules)}.\n"
        f"Extraction Language JSON.\n{natives}"
        f'Extraction "extracted.json" {" ".join(roots)}.\n'
    )
    (folder / "Extracted.v").write_text(text, encoding="utf-8")
    coq(folder, "Extracted.v")
    return json.loads((folder / "extracted.json").read_text(encoding="utf-8"))


def generated() -> dict[str, str]:
    """The text of the kernel in each language."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        names: list[str] = []
        for module in CHECKERS.values():
            names += [n for n in required(module) if n not in names]
        compiled(names, folder)
        content = extracted(list(CHECKERS.values()), list(CHECKERS), folder)
    return {language: translated(content, list(CHECKERS), language, _TITLE) for language in PLACES}


def main() -> None:
    """Write the kernel in each language."""
    for language, text in generated().items():
        PLACES[language].write_text(text, encoding="utf-8")
        print(f"wrote {PLACES[language].relative_to(ROOT)}")


if __name__ == "__main__":
    main()
