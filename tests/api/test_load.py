"""Models come from paths, library names, texts, open files and Python, with parameters."""

from __future__ import annotations

import io
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import workbench
from workbench.api.numbers import Number, exact

TEXT = """
agent Tank(real rate = 0.1) {
  private analog real level = 6;
  mode top = Draining(rate);
  assert "never negative" { level >= 0 }
}
mode Draining(real rate) {
  write analog real level;
  diff { d(level) == -rate*level; }
}
"""


def test_a_path_a_text_an_open_file_and_bytes_give_the_same_model(tmp_path: Path) -> None:
    path = tmp_path / "tank.charon"
    path.write_text(TEXT)
    with path.open() as file, path.open("rb") as binary:
        found = [
            workbench.load(s) for s in (path, str(path), TEXT, file, binary, io.StringIO(TEXT))
        ]
    assert len({model.automaton.sha256 for model in found}) == 1
    assert found[0].properties == ("never negative",) and found[0].variables == ("level",)


def test_a_library_name_and_an_agent_of_it() -> None:
    whole = workbench.load("leaky_tank")
    part = workbench.load("leaky_tank", agent="Tank")
    assert repr(whole) == "<Model leaky_tank: 3 components, 4 locations, 3 variables, 2 properties>"
    assert len(part.automaton.components) == 1


@pytest.mark.parametrize("value", [0.2, "0.2", "1/5", Fraction(1, 5), Decimal("0.2")])
def test_a_number_is_exact_however_it_is_written(value: Number) -> None:
    model = workbench.load(TEXT, rate=value)
    assert model.parameters == {"rate": Fraction(1, 5)}
    again = workbench.load(TEXT).with_parameters(rate=value)
    assert again.automaton.sha256 == model.automaton.sha256
    assert again.automaton.sha256 != workbench.load(TEXT).automaton.sha256


def test_a_float_means_what_python_writes_for_it() -> None:
    assert exact(0.1) == Fraction(1, 10) != Fraction(0.1)
    assert exact(1e-3) == Fraction(1, 1000) and exact(3) == 3
    for wrong in (float("nan"), float("inf"), "two", "1/0"):
        with pytest.raises(ValueError, match="number|zero"):
            exact(wrong)
    for strange in (True, None, [1]):
        with pytest.raises(TypeError, match="a number is expected"):
            exact(strange)  # type: ignore[arg-type]


def test_numbers_of_numpy_are_numbers() -> None:
    import numpy as np

    assert exact(np.float64(0.1)) == Fraction(1, 10) and exact(np.int64(3)) == 3


def test_variants_are_all_combinations() -> None:
    found = workbench.load("platoon").variants(amin=[-5, "-4.5"], amax=np.linspace(1, 2, 3))
    assert [[*map(float, one.parameters.values())] for one in found] == [
        [low, high] for low in (-5, -4.5) for high in (1, 1.5, 2)
    ]
    assert found[0].sha256 != found[1].sha256 and not workbench.load("platoon").variants(amin=[])


def test_what_is_wrong_with_a_model_is_told_with_its_place() -> None:
    with pytest.raises(workbench.ModelError) as caught:
        workbench.load(TEXT.replace("-rate*level", "-rate*lvl"))
    text = str(caught.value)
    assert "<text>:9:" in text and "did you mean `level`?" in text and "diff {" in text


def test_parameters_and_names_that_are_not_there_are_told() -> None:
    with pytest.raises(workbench.ModelError, match="raet"):
        workbench.load(TEXT, raet=1)
    with pytest.raises(workbench.ModelError, match="leaky_tank"):
        workbench.load("leaky_tnak")
    with pytest.raises(workbench.ModelError, match="is a folder"):
        workbench.load(Path("."))
    with pytest.raises(workbench.ModelError):
        workbench.load("{}\n")


def test_a_source_of_no_known_kind_is_refused() -> None:
    with pytest.raises(TypeError, match="a path"):
        workbench.load(17)  # type: ignore[arg-type]


def test_json_and_xml_are_loaded_from_texts_and_files(tmp_path: Path) -> None:
    model = workbench.load("bouncing_ball")
    again = workbench.load(model.to_json())
    assert again.automaton.sha256 == model.automaton.sha256
    files = model.export(tmp_path / "ball.xml")
    assert [file.name for file in files] == ["ball.xml", "ball.cfg"]
    assert workbench.load(files[0]).variables == model.variables
    for name in ("ball.json", "ball.charon"):
        (file,) = model.export(tmp_path / name)
        assert workbench.load(file).variables == model.variables
    with pytest.raises(ValueError, match="not 'ball.txt'"):
        model.export(tmp_path / "ball.txt")


def test_the_library_and_the_layout_of_texts() -> None:
    (entry,) = (e for e in workbench.library("fischer") if e.name == "fischer_hasty")
    assert workbench.load(entry.name).properties == ("mutual exclusion",)
    text = workbench.formatted(TEXT)
    assert workbench.formatted(text) == text
    assert workbench.load(text).automaton.sha256 == workbench.load(TEXT).automaton.sha256


def test_every_name_that_is_promised_is_there() -> None:
    assert all(hasattr(workbench, name) for name in workbench.__all__)
    script = "import workbench as w; print(w.build.Real('x'), w.api.__name__)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("<Variable x> workbench.api\n", "")


def test_check_and_show_are_values_that_print() -> None:
    model = workbench.load(TEXT)
    assert str(model.check()) == "text: ok (1 component, 1 location, 1 variable, 1 property)"
    picture = model.show()
    assert str(picture).startswith("agent Tank") and picture.svg.startswith("<svg")
    assert picture.svg in picture._repr_html_() and "<svg" in model._repr_html_()
