"""The page of a refinement: tree, evidence, what is left; nothing can be injected."""

from __future__ import annotations

from pathlib import Path

from thermostats import heater, simple_heater

from workbench.abstraction.refinement.flat import Settings
from workbench.abstraction.refinement.proof_tree import Proof, prove_refinement
from workbench.cli import run
from workbench.models.automaton import Automaton
from workbench.models.model import Model
from workbench.reports.pages.refinement import Comparison, refinement_page

WORKED = str(Path(__file__).parents[1] / "refinement" / "worked.charon")


def compared(detailed: Automaton, label: str = "heater") -> tuple[Proof, str]:
    own, other = Model(label, detailed), Model("simple", simple_heater())
    proof = prove_refinement(own, other, Settings(), ("x",))
    page = Comparison(label, "simple", own, other, proof, proof.step, proof.holds, (), "workbench")
    return proof, refinement_page(page)


def test_a_refinement_shows_its_tree_and_its_evidence() -> None:
    proof, page = compared(heater())
    assert proof.holds
    assert ">Refines<" in page
    assert 'class="tree"' in page and "simulation" in page
    assert "ON → ON" in page and "✓ accepted" in page
    assert "Obligations that are left" not in page


def test_a_refutation_shows_the_run_and_the_obligation() -> None:
    proof, page = compared(heater(on="(40-x)/2"))
    assert not proof.holds
    assert ">Refuted<" in page and "The run that cannot be matched" in page
    assert "flow of x in ON allowed by ON" in page
    assert "✓ accepted" not in page


def test_names_are_escaped() -> None:
    _, page = compared(heater(), '</script><script>alert("x")</script>')
    assert "<script>alert" not in page
    assert "default-src 'none'" in page and "script-src 'none'" in page


def test_the_verb_writes_the_page(tmp_path: Path) -> None:
    path = tmp_path / "proof.html"
    assert (
        run(["refine", f"{WORKED}:Gentle", "--against", f"{WORKED}:Any", "--html", str(path)]) == 0
    )
    text = path.read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>") and "Proof tree" in text
