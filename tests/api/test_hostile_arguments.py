"""Arguments that make no sense: each is named, none is a surprise from deep inside."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import workbench
from workbench.api.numbers import exact
from workbench.build import Agent, Real

TANK = """
agent Tank(real rate = 1) {
  private analog real level = 6;
  mode top = Draining(rate);
  assert "never negative" { level >= 0 }
}
mode Draining(real rate) {
  write analog real level;
  diff { d(level) == -rate*level; }
}
"""

STILL = "agent A() { mode top = M(); } mode M() { }"


@pytest.fixture(scope="module")
def tank() -> workbench.Model:
    return workbench.load(TANK)


@pytest.mark.parametrize(
    ("method", "arguments", "says"),
    [
        ("verify", {"time_limit": 0}, "time_limit: 0 is not positive"),
        ("verify", {"time_limit": math.nan}, "time_limit: nan is not a finite number"),
        ("verify", {"time_limit": "soon"}, "time_limit: 'soon' is not a number"),
        ("verify", {"horizon": []}, r"horizon: a number is expected, not \[\]"),
        ("verify", {"horizon": Decimal("-Infinity")}, "horizon: -Infinity is not a finite"),
        ("verify", {"step": True}, "step: a number is expected, not True"),
        ("verify", {"seed": 1.5}, "seed: a whole number is expected, not 1.5"),
        ("verify", {"seed": -1}, "seed: -1 is not at least 0"),
        ("verify", {"method": None}, "method: None is not auto"),
        ("verify", {"predicates": [3]}, "predicates: a text is expected, not 3"),
        ("falsify", {"budget": 0}, "budget: 0 is not at least 1"),
        ("falsify", {"budget": "many"}, "budget: a whole number is expected"),
        ("falsify", {"until": math.inf}, "until: inf is not a finite number"),
        ("falsify", {"workers": 0}, "workers: 0 is not at least 1"),
        ("falsify", {"abstraction": -1}, "abstraction: -1 is negative"),
        ("simulate", {"runs": 1.5}, "runs: a whole number is expected"),
        ("simulate", {"until": "later"}, "until: 'later' is not a number"),
        ("simulate", {"initial": [1]}, r"initial: values by name are expected, not \[1\]"),
        ("simulate", {"inputs": "x=1"}, "inputs: values by name are expected"),
        ("simulate", {"script": "abc"}, "script: a list is expected"),
        ("report", {"runs": -1}, "runs: -1 is not at least 0"),
        ("report", {"runs": 501}, "runs: a page has at most 500"),
        ("report", {"until": 0}, "until: 0 is not positive"),
        ("abstract", {"drop": [1]}, "drop: a text is expected"),
        ("abstract", {"widen": math.nan}, "widen: nan is not a finite number"),
        ("abstract", {"timed": 3}, "timed: a text is expected, not 3"),
        ("simulate", {"until": 10**400}, "until: 1000.* is too large"),
        ("simulate", {"rtol": "fine"}, "rtol: 'fine' is not a number"),
        ("simulate", {"atol": None}, "atol: a number is expected, not None"),
        ("simulate", {"rtol": 1}, "rtol: 1 is not between 0 and 1"),
        ("simulate", {"method": 3}, "method: a text is expected, not 3"),
        ("simulate", {"script": 0.5}, "script: a list is expected, not 0.5"),
        ("simulate", {"script": [1]}, "script: decisions are numbers"),
        ("simulate", {"location": 3}, "location: a text is expected, not 3"),
        ("simulate", {"formula": 3}, "formula: a text is expected, not 3"),
        ("simulate", {"switching": 3}, "switching: a text is expected, not 3"),
        ("simulate", {"initial": {1: 2}}, "initial: a text is expected, not 1"),
        ("simulate", {"initial": np.array([1, 2])}, "initial: values by name are expected"),
        ("simulate", {"initial": {"level": (1, 2)}}, "initial: level: a number is expected"),
        ("simulate", {"sliding": np.array([1, 2])}, "sliding: True or False is expected"),
        ("verify", {"horizon": "1e400"}, "horizon: 1000.* is too large"),
        ("verify", {"step": "1e-400"}, "step: 1e-400 is not positive"),
        ("falsify", {"budget": None}, "budget: a whole number is expected, not None"),
        ("falsify", {"linear": np.array([1, 2])}, "linear: True or False is expected"),
        ("exact", {"target": 3}, "target: a text is expected, not 3"),
        ("exact", {"location": [1]}, "location: a text is expected"),
        ("replay", {"source": None}, "replay: a path is expected, not None"),
        ("recheck", {"certificate": 3}, "certificate: a path is expected, not 3"),
        ("report", {"path": 3}, "path: a path is expected, not 3"),
        ("report", {"label": 3}, "label: a text is expected, not 3"),
    ],
)
def test_the_argument_is_named(
    tank: workbench.Model, method: str, arguments: dict[str, Any], says: str
) -> None:
    with pytest.raises(workbench.RequestError, match=says):
        getattr(tank, method)(**arguments)


@pytest.mark.parametrize(
    ("ask", "says"),
    [
        (lambda m: m.verify(None), "properties: a text is expected, not None"),
        (lambda m: m.verify(["never negative"]), r"properties: .* one by one \(\*names\)"),
        (lambda m: m.verify(progress=3), "progress: a function is expected, not 3"),
        (lambda m: m.simulate(1, cancel=True), "cancel: a function is expected, not True"),
        (lambda m: m.variants(rate=3), "rate: a list is expected, not 3"),
        (lambda m: m.variants(rate=["fast"]), "rate: 'fast' is not a number"),
        (lambda m: m.exact("levl < 0"), "target: .* no variable 'levl'; did you mean 'level'"),
        (lambda m: m.show().locations(0), "limit: 0 is not at least 1"),
        (lambda m: m.show().problem(limit=None), "limit: a whole number is expected"),
        (lambda m: m.simulate(1)[0].at(math.nan), "time: nan is not a finite number"),
        (lambda m: m.simulate(1)[0][math.nan :], "time: nan is not a finite number"),
        (lambda m: m.simulate(1)[0][1:0], "a stretch does not end before it begins: 1 to 0"),
        (lambda m: m.simulate(1).between(1, 0), "a stretch does not end before it begins"),
        (lambda m: m.simulate(1).between("now", 1), "time: 'now' is not a number"),
        (lambda m: m.simulate(1)[0].why("now"), "time: 'now' is not a number"),
        (lambda m: m.simulate(1)[0].values(3, [0]), "name: a text is expected, not 3"),
        (lambda m: m.simulate(1)[0].svg(3), "names: a text is expected, not 3"),
        (lambda m: m.simulate(1)[0].svg("levl"), "names: .* did you mean 'level'"),
        (lambda m: m.simulate(1)[0].plot("level", colour="red"), "plot: .*'colour'"),
        (lambda m: workbench.load(STILL).simulate(1)[0].svg(), "names: .* no real variable"),
        (lambda m: m.simulate(1)[0].save(None), "path: a path is expected, not None"),
        (lambda m: m.simulate(1).save("runs"), "runs are saved as .csv, .* not as 'runs'"),
        (lambda m: m.show().save(3), "path: a path is expected, not 3"),
        (lambda m: m.export(3), "path: a path is expected, not 3"),
        (lambda m: workbench.Reports(3), "reports: a list is expected, not 3"),
        (lambda m: workbench.Reports([m]), "reports: a report is expected, not <Model"),
        (lambda m: workbench.Document(1, ""), "name: a text is expected, not 1"),
        (lambda m: workbench.Document("m", None), "text: a text is expected, not None"),
        (lambda m: workbench.library(3), "words: a text is expected, not 3"),
        (lambda m: workbench.formatted(3), "text: a text is expected, not 3"),
        (lambda m: m.refine(m, time_limit=-1), "time_limit: -1 is not positive"),
        (lambda m: m.refine(m, horizon=math.nan), "horizon: nan"),
        (lambda m: m.refine(m, places=3), "places: values by name are expected, not 3"),
        (lambda m: m.refine(m, places={"a": 3}), "places: a text is expected, not 3"),
        (lambda m: m.refine(m, witness={"x": 1}), "witness: a text is expected, not 1"),
        (lambda m: m.recheck(b"{}", horizon=0), "horizon: 0 is not positive"),
        (lambda m: m.with_parameters(rate=math.nan), "rate: nan is not a finite number"),
        (lambda m: m.simulate(1, runs=0).to_pandas(), "no run to put into a table|needs pandas"),
        (lambda m: m.simulate(1, runs=0).save("none.svg"), "there is no run to draw"),
    ],
)
def test_so_it_is_elsewhere(
    tank: workbench.Model, ask: Callable[[workbench.Model], object], says: str
) -> None:
    with pytest.raises((workbench.RequestError, ImportError), match=says):
        ask(tank)


def test_what_is_given_to_load() -> None:
    for wrong in (None, 3, b"agent A() {}\n", Agent, Real("x")):
        with pytest.raises(TypeError, match="a model is a path, a name, a text, an open file or"):
            workbench.load(wrong)  # type: ignore[arg-type]
    with pytest.raises(workbench.RequestError, match="rate: a number is expected, not None"):
        workbench.load(TANK, rate=None)  # type: ignore[arg-type]
    with pytest.raises(workbench.RequestError, match="parameters: values by name"):
        workbench.load(TANK, parameters=[1])  # type: ignore[arg-type]
    for text in ("", "  \n", "{", "a\0b", "x" * 10_000):
        with pytest.raises(workbench.ModelError):
            workbench.load(text)


def test_one_text_is_one_of_them(tank: workbench.Model) -> None:
    assert tank.verify(predicates="level >= 1", horizon="1/2", time_limit="20").is_verified  # type: ignore[arg-type]


def test_a_folder_that_is_not_there_is_named(tank: workbench.Model, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no such directory.*nowhere"):
        tank.export(tmp_path / "nowhere" / "tank.json")
    said: list[str] = []
    with pytest.raises(FileNotFoundError, match="no such directory.*nowhere"):
        tank.report(tmp_path / "nowhere" / "page.html", progress=said.append)
    assert not said  # before any work


def test_numbers_of_other_libraries() -> None:
    for tenth in (
        0.1,
        "0.1",
        np.float32(0.1),
        np.float16(0.1),
        np.longdouble("0.1"),
        Decimal("0.1"),
    ):
        assert exact(tenth) == Fraction(1, 10)  # type: ignore[arg-type]
    assert exact(np.int8(-3)) == -3 and exact(np.uint64(2**63)) == 2**63  # type: ignore[arg-type]
    assert exact(np.float64(1) / 3) == Fraction(repr(1 / 3))
    for wrong in (True, np.bool_(True), np.array(0.1), 1j, np.complex64(1), b"1"):
        with pytest.raises(TypeError, match="a number is expected"):
            exact(wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="not a finite number"):
        exact(np.float32("nan"))  # type: ignore[arg-type]
    model = workbench.load(TANK, rate=np.float32(0.5))  # type: ignore[arg-type]
    assert model.parameters == {"rate": Fraction(1, 2)}
    run = model.simulate(np.int32(2), rtol=np.float32(1e-5), seed=np.int64(3))[0]  # type: ignore[arg-type]
    assert run.final["level"] == pytest.approx(6 * math.exp(-1), abs=1e-4)
