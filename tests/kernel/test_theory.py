"""The theory of the kernel compiles, takes nothing for granted but the real numbers, and says so."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

THEORY = Path("models/kernel/theory")
PROJECT = (THEORY / "_CoqProject").read_text().splitlines()
FILES = [line for line in PROJECT if line.endswith(".v")]
"""The files, each after those that it needs."""

THEOREMS = {
    "AbsoluteContinuity": ["rise"],
    "Motion": ["trajectory_motion"],
    "Existence": ["solution_exists", "solution_driven"],
    "PolyhedralSound": ["polyhedral_sound"],
    "ProgressSound": ["progress_sound"],
    "QuadraticSound": ["quadratic_sound"],
    "Sanity": ["line_trajectory", "rises_unsafe"],
}
"""What is proved, by file."""

OF_THE_REALS = {
    "ClassicalDedekindReals.sig_forall_dec",
    "ClassicalDedekindReals.sig_not_dec",
    "FunctionalExtensionality.functional_extensionality_dep",
    "Classical_Prop.classic",
}
"""What Coq's real numbers rest on, and classical logic."""

GAPS = re.compile(
    r"\b(Admitted|admit|Axioms?|Parameters?|Conjectures?|Declare|Unset|bypass_check|Abort)\b"
)


def without_comments(text: str) -> str:
    """A Coq file without its comments, which may be nested."""
    depth, kept = 0, []
    for part in re.split(r"(\(\*|\*\))", text):
        if part in ("(*", "*)"):
            depth += 1 if part == "(*" else -1
        elif not depth:
            kept.append(part)
    return " ".join(kept)


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the compiled theory."""
    if shutil.which("coqc") is None:
        pytest.skip("no Coq: the theory of the kernel is not compiled")
    folder = tmp_path_factory.mktemp("theory")
    for name in FILES:
        shutil.copy(THEORY / name, folder)
        coqc(folder, name)
    return folder


def coqc(folder: Path, name: str) -> str:
    """What Coq prints for a file that compiles."""
    command = ["coqc", "-q", *PROJECT[0].split(), name]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, f"{name}: {done.stdout}{done.stderr}"
    return done.stdout


def assumptions(folder: Path, theory: str, theorem: str) -> set[str]:
    """The names of all that a theorem rests on without proof."""
    query = folder / f"Query_{theorem}.v"
    query.write_text(f"From Kernel Require {theory}.\nPrint Assumptions {theory}.{theorem}.\n")
    printed = coqc(folder, query.name)
    if "Closed under the global context" in printed:
        return set()
    assert printed.startswith("Axioms:"), printed
    return set(re.findall(r"^(\S+)(?: :|$)", printed.partition("\n")[2], re.M))


def test_every_file_is_in_the_project() -> None:
    """Nothing lies beside the theory, and each file comes after those that it requires."""
    assert sorted(FILES) == sorted(path.name for path in THEORY.glob("*.v"))
    for number, name in enumerate(FILES):
        text = without_comments((THEORY / name).read_text())
        for required in re.findall(r"From Kernel Require\s+(?:Import|Export)?([^.]*)\.", text):
            assert {f"{word}.v" for word in required.split()} <= set(FILES[:number]), name


@pytest.mark.parametrize("name", FILES)
def test_nothing_is_left_out(name: str) -> None:
    """No file admits a step or assumes a fact of its own."""
    text = without_comments((THEORY / name).read_text())
    assert not GAPS.findall(text)
    assert re.search(r"\b(Lemma|Theorem|Definition|Record|Inductive)\b", text)


def test_gaps_are_found() -> None:
    """The words that leave a gap are recognised, but not in comments."""
    assert GAPS.findall(without_comments("Lemma a : False. Proof. Admitted."))
    assert GAPS.findall(without_comments("Proof. (* x (* y *) *) admit."))
    assert not GAPS.findall(without_comments("(* no (* Axiom *) Admitted *) Proof."))


@pytest.mark.parametrize(
    ("theory", "theorem"), [(file, name) for file, names in THEOREMS.items() for name in names]
)
def test_assumptions(compiled: Path, theory: str, theorem: str) -> None:
    """A theorem rests on the axioms of the real numbers only."""
    found = assumptions(compiled, theory, theorem)
    assert found <= OF_THE_REALS
    assert found, "a theorem about real numbers that needs none of their axioms is suspicious"


def test_an_assumption_is_seen(compiled: Path) -> None:
    """A theorem with an axiom of its own is found out."""
    (compiled / "Gap.v").write_text("Axiom gap : False.\nLemma wrong : 0 = 1. destruct gap. Qed.\n")
    coqc(compiled, "Gap.v")
    assert assumptions(compiled, "Gap", "wrong") == {"Gap.gap"}


def test_small_certificates(compiled: Path) -> None:
    """The checkers, run by Coq, accept small certificates and refuse them spoiled."""
    shutil.copy(Path(__file__).with_name("small_certificates.v"), compiled)
    coqc(compiled, "small_certificates.v")
    for theorem in ("tank_safe", "oscillator_safe", "tank_goes_on", "pressed_goes_on"):
        assert assumptions(compiled, "small_certificates", theorem) <= OF_THE_REALS
