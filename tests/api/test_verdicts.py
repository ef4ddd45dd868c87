"""Verdicts are values that carry their evidence and check it again."""

from __future__ import annotations

import threading
from fractions import Fraction
from html import escape
from pathlib import Path

import pytest

import workbench

TANK = """
agent Tank() {
  private analog real level = 6;
  mode top = Draining();
  assert "never negative" { level >= 0 }
  assert "stays up" { level >= 3 }
}
mode Draining() {
  write analog real level;
  diff { d(level) == -level/10; }
}
"""


@pytest.fixture(scope="module")
def verdicts() -> workbench.Verdicts:
    return workbench.load(TANK).verify()


def test_verdicts_by_name_and_number(verdicts: workbench.Verdicts) -> None:
    proved, broken = verdicts
    assert proved is verdicts["never negative"] and broken is verdicts[1]
    assert (proved.outcome, broken.outcome, verdicts.outcome) == (
        "verified",
        "falsified",
        "falsified",
    )
    assert proved.scope == "for all time" and proved.horizon is None
    with pytest.raises(KeyError, match="never negative"):
        verdicts["never"]
    for value in (verdicts, proved):
        with pytest.raises(TypeError, match="no truth value"):
            bool(value)


def test_evidence_is_checked_again(verdicts: workbench.Verdicts, tmp_path: Path) -> None:
    proved, broken = verdicts
    assert proved.recheck() and proved.recheck().obligations > 0
    assert broken.recheck() and verdicts.recheck()
    assert proved.evidence == proved.certificate and proved.counterexample is None
    file = proved.save(tmp_path / "proof.json")
    model = workbench.load(TANK)
    assert model.recheck(file) and model.recheck(file.read_bytes())
    assert not model.recheck(b"{}") and not workbench.load("leaky_tank").recheck(file)


def test_a_spoiled_certificate_is_not_accepted(verdicts: workbench.Verdicts) -> None:
    from dataclasses import replace

    other = workbench.load(TANK.replace("-level/10", "-level/10 - 1"))
    spoiled = replace(verdicts[0], model=other.loaded)
    assert not spoiled.recheck() and spoiled.recheck().why


def test_the_invariant_is_made_of_inequalities(verdicts: workbench.Verdicts) -> None:
    invariant = verdicts[0].invariant
    assert invariant is not None
    (location,) = invariant
    assert invariant.contains(location, {"level": 6})
    assert invariant.contains(location, {"level": Fraction(1, 3)})
    assert not invariant.contains(location, {"level": -0.001})
    assert "level" in str(invariant) and verdicts[1].invariant is None
    for run in workbench.load(TANK).simulate(until=5):
        for t in run.times:
            assert invariant.contains(location, {"level": float(run.at(float(t))["level"])})


def test_a_counterexample_replays(verdicts: workbench.Verdicts, tmp_path: Path) -> None:
    found = verdicts["stays up"].counterexample
    assert found is not None and found.time == pytest.approx(6.93, abs=0.1)
    assert found.replay().violated == ("stays up",) == found.replay("taylor").violated
    again = workbench.load(TANK).replay(found.save(tmp_path / "bad.json"))
    assert again.end == found.run.end and "&lt;svg" in found._repr_html_()


def test_falsify_finds_or_does_not_know() -> None:
    model = workbench.load(TANK)
    told: list[str] = []
    found = model.falsify("stays up", until=10, budget=50, progress=told.append)
    assert found.is_falsified and found[0].recheck()
    lost = model.falsify("never negative", until=10, budget=20)
    assert lost.outcome == "unknown" and lost[0].reason and lost[0].evidence is None
    with pytest.raises(ValueError, match="no evidence"):
        lost[0].recheck()
    formula = model.falsify(formula="always[0,10](level >= 3)", budget=50)
    assert formula.is_falsified and formula[0].recheck()
    with pytest.raises(ValueError, match="either"):
        model.falsify("stays up", formula="always(level > 0)")


def test_options_that_make_no_sense_are_refused() -> None:
    model = workbench.load(TANK)
    with pytest.raises(ValueError, match="did you mean 'stays up'"):
        model.verify("stay up")
    with pytest.raises(ValueError, match="method: .magic. is not auto"):
        model.verify(method="magic")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="positive"):
        model.verify(time_limit=0)
    with pytest.raises(ValueError, match="horizon: -1 is not positive"):
        model.verify(horizon=-1)
    with pytest.raises(ValueError, match="slices: this needs"):
        model.verify(slices=1)
    with pytest.raises(ValueError, match="no variable 'lvl'"):
        model.verify(predicates=["lvl > 1"])


def test_verdicts_in_words_and_as_data(verdicts: workbench.Verdicts) -> None:
    proved, broken = verdicts
    said = str(proved).splitlines()
    assert said[0].startswith(f"{proved.model.name}: 'never negative': VERIFIED for all time (")
    assert any("accepted by the kernel, whose soundness is proved in Coq" in line for line in said)
    assert broken.in_words("tank").startswith("tank: 'stays up': FALSIFIED at time ")
    assert (proved.data["outcome"], proved.data["certificate"]["checker"]) == (
        "verified",
        "accepted",
    )
    assert broken.data["counterexample"]["confirmations"] and proved.blocking == ""


def test_runs_that_block_are_told_beside_every_verdict() -> None:
    stuck = TANK.replace("== -level/10;", "== -1;").replace("}\n}\nmode", "}\n}\nmode")
    stuck = stuck.replace("diff {", "inv { level >= 1 } diff {")
    model = workbench.load(stuck)
    proved, asked = model.verify("never negative", "never blocks", time_limit=30)
    assert proved.is_verified and "blocked" in proved.blocking
    assert f"but {proved.blocking}" in str(proved).splitlines()[0]
    assert escape(proved.blocking) in proved._repr_html_() and asked.blocking == ""
    assert asked.is_falsified and "; but" not in str(asked)
    assert model.claims("never blocks") == ("never blocks",)
    assert model.claims() == model.properties


def test_reports_of_several_models(tmp_path: Path) -> None:
    from workbench.api.reports import failed

    report = workbench.load(TANK).report(time_limit=20, runs=2, label="tank", command="by hand")
    assert report.outcome == "falsified" and "by hand" in report.html
    lost = failed("other", "rejected", "a mistake")
    reports = workbench.Reports((report, report, lost))
    names = [path.name for path in reports.save(tmp_path / "pages")]
    assert names == ["tank.html", "tank-2.html", "index.html"]
    assert "a mistake" in (tmp_path / "pages" / "index.html").read_text()
    assert "<testsuites" in reports.junit() and '"2.1.0"' in reports.sarif()
    assert reports.arch_csv().count("\n") >= 3 and lost.failing == "rejected"


def test_cards_for_notebooks(verdicts: workbench.Verdicts) -> None:
    html = verdicts._repr_html_()
    assert "VERIFIED" in html and "FALSIFIED" in html and "for all time" in html
    assert repr(verdicts[0]).startswith("<Verdict 'never negative': verified for all time (")


def test_verification_is_called_off() -> None:
    wish = workbench.Cancellation()
    told: list[str] = []

    def cancel(text: str) -> None:
        told.append(text)
        threading.Thread(target=wish.cancel).start()

    with pytest.raises(workbench.Cancelled):
        workbench.load("van_der_pol").verify(progress=cancel, cancel=wish)
    assert told


def test_refinement_is_a_value(tmp_path: Path) -> None:
    concrete = workbench.load(TANK)
    abstract = TANK.replace("== -level/10", "in [-level/5, 0]")
    found = concrete.refine(abstract)
    assert found.holds and found.outcome == "refines" and found.recheck()
    assert found.tree.rule and "refines" in str(found)
    assert "<html" in found.save(tmp_path / "refinement.html").read_text()
    back = workbench.load(abstract).refine(concrete)
    assert not back.holds and back.outcome in ("refuted", "not proved")
    with pytest.raises(ValueError, match="no certificate"):
        back.recheck()
    with pytest.raises(ValueError, match="no such variable"):
        concrete.refine(abstract, observe=["lvl"])


def test_a_report_is_a_page_with_its_verdicts(tmp_path: Path) -> None:
    model = workbench.load(TANK)
    report = model.report(tmp_path / "tank.html", "never negative", runs=2, until=3)
    assert (tmp_path / "tank.html").read_text() == report.html
    assert report.verdicts.is_verified and report.contradictions == ()
    assert report._repr_html_().startswith("<iframe")


def test_results_are_short_where_they_are_shown(verdicts: workbench.Verdicts) -> None:
    proved, broken = verdicts
    assert str(verdicts) == f"{proved}\n{broken}"
    assert repr(proved.recheck()) == "<Rechecked accepted: every obligation holds>"
    assert "ACCEPTED</strong> <strong>&#x27;never" in proved.recheck()._repr_html_()
    model = workbench.load(TANK)
    assert repr(model.check()) == "<Check text: 1 component, 1 location, 1 variable, 2 properties>"
    invariant = workbench.load("leaky_tank").verify("level between the marks", method="template")
    found = invariant[0].invariant
    assert repr(found) == "<Invariant: 2 locations>"
    assert found is not None and "<td" in found._repr_html_() and "level ≥ 5" in found._repr_html_()
    reaching = workbench.load("bouncing_ball").exact("height >= 11")
    assert repr(reaching).startswith("<Reaching height >= 11 from ") and len(repr(reaching)) < 300


def test_everything_is_short_and_has_lines_in_a_notebook() -> None:
    model = workbench.load(TANK)
    how = model.simulation(3, until=2)
    run = how.run(0)
    assert repr(how) == "<Simulation of Tank: 3 runs until 2>"
    assert repr(run.why(1)) == "<Moment t = 1 in Draining: enabled edges: none>"
    assert repr(workbench.library("leaky_tank")[0]).startswith("<Entry leaky_tank: A leaky")
    search = model.falsify("stays up", budget=3)[0].search
    problem = model.show().problem("never negative")
    assert repr(search).startswith("<Search: ") and "robustness" in repr(search)
    assert repr(problem) == "<ProblemText 'never negative': 1 location>"
    wish = workbench.Cancellation()
    assert repr(wish) == "<Cancellation: not called off>"
    for found in (search, problem, run.compared(run), run.validated(), model.check()):
        assert found is not None and found._repr_html_().startswith("<pre")
    assert model.refine(model)._repr_html_().count("REFINES") == 1


def test_second_looks_are_called_off(verdicts: workbench.Verdicts) -> None:
    wish = workbench.Cancellation()
    wish.cancel()
    for verdict in verdicts:
        with pytest.raises(workbench.Cancelled):
            verdict.recheck(cancel=wish)


def test_reports_are_told_and_shown_in_short() -> None:
    pages = [
        workbench.load(TANK).report(None, name, runs=0) for name in ("never negative", "stays up")
    ]
    reports = workbench.Reports(pages)  # type: ignore[arg-type]
    assert repr(reports) == "<Reports: text verified, text falsified>"
    assert reports[0] is pages[0] and reports._repr_html_().count("text: ") == 2


def test_a_run_is_no_certificate(tmp_path: Path) -> None:
    model = workbench.load(TANK)
    run = model.simulate(1)[0].save(tmp_path / "run.json")
    for ask in (model.recheck, model.coq_proof, workbench.recheck):
        with pytest.raises(workbench.RequestError, match="this is a run.*--replay"):
            ask(run)
