"""Runs are values: arrays by variable, stretches of time, tables, pictures, files."""

from __future__ import annotations

import json
import math
import random
import warnings
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import workbench
from workbench.api.work import Cancellation, Cancelled


@pytest.fixture(scope="module")
def ball() -> workbench.Run:
    return workbench.load("bouncing_ball").simulate(until=3, initial={"height": 10})[0]


def test_arrays_stand_at_the_ends_of_steps(ball: workbench.Run) -> None:
    assert len(ball.times) == len(ball["height"]) == len(ball["velocity"]) == len(ball.locations)
    assert ball["height"][0] == 10.0 and np.all(np.diff(ball.times) >= 0)
    assert ball.times[-1] == 3.0 == ball.end
    assert repr(ball) == "<Run Ball seed 0: 0 to 3, 1 jump, horizon>"


def test_interpolation_is_that_of_the_trace() -> None:
    chance = random.Random(1)
    for name in ("bouncing_ball", "thermostat_timer", "leaky_tank", "platoon", "van_der_pol"):
        run = workbench.load(name).simulate(until=8, runs=2)[1]
        times = [chance.uniform(run.start, run.end) for _ in range(50)] + [run.start, run.end]
        times += [event.time for event in run.events]
        together = run.at(times)
        for k, t in enumerate(times):
            for variable, value in run.trace.at(t).items():
                assert together[variable][k] == pytest.approx(value, rel=1e-13, abs=1e-13), name


def test_a_time_of_a_jump_has_a_value_before_and_one_after(ball: workbench.Run) -> None:
    (bounce,) = ball.jumps
    assert ball.before(bounce.time)["velocity"] < 0 < ball.at(bounce.time)["velocity"]


def test_a_stretch_is_a_run(ball: workbench.Run) -> None:
    stretch = ball[0.5:1.0]
    assert (stretch.start, stretch.end) == (0.5, 1.0) and not stretch.jumps
    assert stretch["height"][0] == ball.at(0.5)["height"]
    assert stretch.final == ball.at(1.0) and stretch[:0.75].end == 0.75
    assert "<svg" in stretch.svg() and len(stretch.svg()) < len(ball.svg())
    for k, t in enumerate(stretch.times):
        assert stretch["height"][k] == pytest.approx(ball.at(float(t))["height"])


def test_times_are_any_kind_of_number(ball: workbench.Run) -> None:
    for half in ("1/2", Fraction(1, 2), Decimal("0.5"), np.float32(0.5), np.array(0.5)):
        assert ball.at(half) == ball.at(0.5) == ball.before(half)  # type: ignore[arg-type]
        assert ball[half:1].start == 0.5  # type: ignore[misc]
    assert (
        ball[-math.inf : math.inf] == ball and workbench.Runs((ball,)).between(1, "2")[0].end == 2
    )
    assert len(ball.to_pandas(1)) == 1 and ball.to_xarray(1).sizes == {"time": 1}  # type: ignore[arg-type]


def test_what_is_asked_wrongly_is_told(ball: workbench.Run) -> None:
    assert "height" in ball and "heigth" not in ball
    with pytest.raises(KeyError, match="did you mean 'height'"):
        ball["heigth"]
    with pytest.raises(ValueError, match="the run is from 0 to 3"):
        ball.at(4.0)
    with pytest.raises(ValueError, match="the run is from 0 to 3"):
        ball.at([0.0, math.nan])
    with pytest.raises(ValueError, match="no states there"):
        ball[4:5]
    with pytest.raises(TypeError, match="by time"):
        ball[1]  # type: ignore[call-overload]
    with pytest.raises(TypeError, match=r"runs\[0\]\['height'\]"):
        workbench.load("bouncing_ball").simulate(0)["height"]  # type: ignore[call-overload]
    with pytest.raises(ValueError, match=r"\.csv, \.json"):
        ball.save("run.txt")


def test_runs_are_a_sequence_by_seed() -> None:
    runs = workbench.load("thermostat_timer").simulate(until=5, runs=4, seed=7)
    assert [run.seed for run in runs] == [7, 8, 9, 10]
    assert [run.seed for run in runs[1:3]] == [8, 9] and len(runs.between(1, 2)) == 4
    assert runs.endings == {"horizon": 4} and not runs.violating
    assert repr(runs) == "<Runs thermostat_timer: 4 runs: 4 horizon>"
    assert "&lt;svg" in runs._repr_html_()


def test_runs_are_saved_as_pictures_and_tables(tmp_path: Path) -> None:
    runs = workbench.load("thermostat_timer").simulate(until=5, runs=2)
    assert runs.save(tmp_path / "runs.svg", "temp").read_text().startswith("<svg")
    assert "<html" in runs[0].save(tmp_path / "run.html").read_text()
    rows = runs.save(tmp_path / "runs.csv").read_text().splitlines()
    assert rows[0].startswith("seed,time,") and {row[:2] for row in rows[1:]} == {"0,", "1,"}
    with pytest.raises(ValueError, match="runs are saved as"):
        runs.save(tmp_path / "runs.json")


def test_runs_are_those_of_the_command_line(tmp_path: Path) -> None:
    from click.testing import CliRunner

    from workbench.cli.commands import group

    run = workbench.load("thermostat_timer").simulate(until=5, runs=2, seed=3)[0]
    table = tmp_path / "api.csv"
    run.save(table)
    other = tmp_path / "cli.json"
    words = ["simulate", "thermostat_timer", "--until", "5", "--seed", "3", "--json"]
    words += ["--policy", "random", "--level", "random", "--trace", str(other)]
    assert CliRunner().invoke(group, words, obj=_console()).exit_code == 0
    saved = run.save(tmp_path / "api.json")
    mine, theirs = (json.loads(file.read_text()) for file in (saved, other))
    assert mine["segments"] == theirs["segments"] and table.read_text().startswith("time,")


def _console() -> object:
    from workbench.cli.console import Console

    return Console()


def test_a_saved_run_is_replayed(tmp_path: Path) -> None:
    model = workbench.load("thermostat_timer")
    run = model.simulate(until=5, runs=2)[1]
    again = model.replay(run.save(tmp_path / "run.json"))
    assert again.final == run.final == model.replay(run).final
    other = model.replay(run, method="taylor")
    assert other.final["temp"] == pytest.approx(run.final["temp"], rel=1e-4)
    with pytest.raises(ValueError, match="other runs"):
        workbench.load("bouncing_ball").replay(run)


def test_inputs_and_formulas() -> None:
    text = """
    agent A() {
      read analog real u in [0, 2];
      private analog real x = 0;
      mode top = M();
    }
    mode M() { read analog real u; write analog real x; diff { d(x) == u; } }
    """
    model = workbench.load(text)
    for course in (1, "1", [(0.0, 1.0)], "0.5 + 0.5"):
        run = model.simulate(until=2, inputs={"u": course}, formula="always[0,2](x <= 1.5)")[0]
        assert run.final["x"] == pytest.approx(2.0)
        assert run.violated == ("formula",) and run.formula is not None
        assert run.formula.robustness == pytest.approx(-0.5)
    run = model.simulate(until=2, inputs={"u": "t/2"})[0]
    assert run.inputs == ("u",) and run["u"][-1] == 1.0
    assert list(run.values("u", [0, 1])) == [0.0, 0.5]
    assert run[1:]["u"][0] == 0.5 and run[1:].final["x"] == pytest.approx(1.0)
    with pytest.raises(KeyError, match="there are x, u"):
        run["other"]
    with pytest.raises(ValueError, match="outside"):
        model.simulate(inputs={"u": 3})
    with pytest.raises(ValueError, match="did you mean 'u'"):
        model.simulate(inputs={"uu": 1})
    with pytest.raises(workbench.ModelError, match="there is no variable 'y'"):
        model.simulate(formula="always(y > 0)")
    with pytest.raises(ValueError, match="initial"):
        model.simulate(initial={"y": 1})


def test_progress_is_told_and_work_is_called_off() -> None:
    model = workbench.load("bouncing_ball")
    told: list[str] = []
    model.simulate(until=1, runs=3, progress=told.append)
    assert told == ["1 of 3 runs", "2 of 3 runs", "3 of 3 runs"]
    wish = Cancellation()

    def enough(text: str) -> None:
        if text.startswith("2"):
            wish.cancel()

    with pytest.raises(Cancelled):
        model.simulate(until=1, runs=30, progress=enough, cancel=wish)


def test_progress_tells_a_robustness_where_there_is_one() -> None:
    model = workbench.load("bouncing_ball")
    told: list[str] = []
    model.verify("never blocks", method="simulation", progress=told.append)
    assert told and not any("robustness" in text for text in told)
    told.clear()
    model.falsify("never below the floor", budget=3, progress=told.append)
    assert any("best robustness" in text for text in told)


def test_nothing_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        workbench.load("bouncing_ball").simulate(until=1).svg()
    assert capfd.readouterr() == ("", "")


def test_tables_of_pandas(ball: workbench.Run) -> None:
    pytest.importorskip("pandas")
    table = ball.to_pandas([0.0, 1.0])
    assert list(table.columns) == [*ball.variables, "location"]
    assert table.loc[1.0, "height"] == pytest.approx(ball.at(1.0)["height"])
    runs = workbench.load("thermostat_timer").simulate(until=2, runs=3)
    assert runs.to_pandas([0, 1]).index.names == ["seed", "time"]
    assert len(runs.to_pandas([0, 1, 99])) == 6 and len(ball.to_pandas()) == len(ball.times)


def test_data_sets_of_xarray(ball: workbench.Run) -> None:
    pytest.importorskip("xarray")
    assert float(ball.to_xarray([0.0, 1.0])["height"][0]) == 10.0
    runs = workbench.load("thermostat_timer").simulate(until=2, runs=3)
    assert dict(runs.to_xarray([0, 1]).sizes) == {"seed": 3, "time": 2}


@pytest.fixture
def pyplot() -> Iterator[Any]:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot as found

    yield found
    found.close("all")


def test_plots_of_matplotlib(ball: workbench.Run, pyplot: Any) -> None:
    panels = ball.plot()
    assert [p.get_ylabel() for p in panels] == ["height", "velocity"]
    one = ball.plot("height:velocity", axes=pyplot.figure().add_subplot(), color="red")
    assert (one.get_xlabel(), one.get_ylabel()) == ("height", "velocity")
    both = ball.plot("height+velocity", axes=pyplot.figure().add_subplot())
    legend = [text.get_text() for text in both.get_legend().get_texts()]
    assert both.get_ylabel() == "" and legend == ["height", "velocity"]


def test_long_names_stay_beside_their_panel(pyplot: Any) -> None:
    name = "a_name_that_is_far_longer_than_a_panel_is_high"
    text = BRAKED.replace(" x", f" {name}").replace("(x)", f"({name})").replace("LIMIT", "9")
    axes = workbench.load(text).simulate(1)[0].plot()
    axes.figure.canvas.draw()
    label, figure = axes.yaxis.label.get_window_extent(), axes.figure.bbox
    assert (
        figure.y0 <= label.y0 and label.y1 <= figure.y1 and axes.get_ylabel().startswith("a_name")
    )


def test_what_is_not_installed_is_named(
    ball: workbench.Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="this needs pandas: pip install pandas"):
        ball.to_pandas()


def test_traces_travel_between_processes() -> None:
    import pickle

    trace = workbench.load("leaky_tank").simulate(until=3)[0].trace
    assert pickle.loads(pickle.dumps(trace)) == trace  # noqa: S301 (made here)


BRAKED = """
mode M() { write real x; diff { d(x) == 1; } inv { x <= LIMIT } }
agent A() { write real x = 0; mode top = M(); assert "in the room" { x <= 10 } }
"""


def _bounds_on(axes: Any) -> list[tuple[str, tuple[float, float]]]:
    names = [text.get_text() for text in axes.texts]
    to_data = axes.transData.inverted()
    heights = [to_data.transform_bbox(box.get_extents()).intervaly for box in axes.patches]
    return [(name, (low, high)) for name, (low, high) in zip(names, heights, strict=True)]


def test_plots_of_matplotlib_show_the_bounds_of_properties(pyplot: Any) -> None:
    run = workbench.load(BRAKED.replace("LIMIT", "9")).simulate(until=9)[0]
    axes = run.plot("x")
    _, high = axes.get_ylim()
    assert high > 10.0 and axes.get_ylim()[0] < 0.0
    ((name, (first, last)),) = _bounds_on(axes)
    assert name == "in the room" and first == pytest.approx(10.0) and last >= high - 1e-9
    (line,) = [one for one in axes.lines if one.get_linestyle() == "--"]
    assert list(line.get_ydata()) == [10.0, 10.0]


def test_several_runs_in_one_panel_have_colours_and_names_of_their_own(pyplot: Any) -> None:
    axes = pyplot.figure().add_subplot()
    for limit in (9, 12, 3):
        run = workbench.load(BRAKED.replace("LIMIT", str(limit))).simulate(until=limit)[0]
        run.plot("x", axes=axes, label=f"up to {limit}", lw=3)
    drawn = [line for line in axes.lines if line.get_gid() is None]
    drawn = [line for line in drawn if not line.get_label().startswith("_")]
    assert [line.get_label() for line in drawn] == ["up to 9", "up to 12", "up to 3"]
    assert len({line.get_color() for line in drawn}) == 3
    assert {line.get_linewidth() for line in drawn} == {3}
    ((_, (first, last)),) = _bounds_on(axes)  # once, and as far as the axes reach
    low, high = axes.get_ylim()
    assert low < 0.0 and high >= 10.0 and first == pytest.approx(10.0) and last >= high - 1e-9


def test_names_of_bounds_do_not_collide(pyplot: Any) -> None:
    claims = "".join(f'assert "bound {k}" {{ x <= {10 + k / 100} }} ' for k in range(4))
    model = BRAKED.replace("LIMIT", "9").replace("assert", f"{claims} assert")
    axes = workbench.load(model).simulate(until=9)[0].plot("x")
    axes.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in axes.texts]
    assert len(boxes) == 5
    for k, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:k])


def test_a_phase_plot_has_bounds_on_both_axes(pyplot: Any) -> None:
    two = BRAKED.replace("x;", "x, y;").replace("== 1;", "== 1; d(y) == 1;").replace("LIMIT", "9")
    two = two.replace("write real x = 0;", "write real x = 0; write real y = 0;")
    axes = workbench.load(two).simulate(until=9)[0].plot("x:y")
    (line,) = [one for one in axes.lines if one.get_linestyle() == "--"]
    assert list(line.get_xdata()) == [10.0, 10.0] and axes.get_xlim()[1] > 10.0


def test_values_of_many_runs_are_rows() -> None:
    runs = workbench.load("thermostat_timer").simulate(until=5, runs=4)
    name, times = runs[0].variables[0], np.linspace(0.0, 5.0, 11)
    found = runs.values(name, times)
    assert found.shape == (4, 11)
    for row, run in zip(found, runs, strict=True):
        assert np.array_equal(row, run.values(name, times))
    beyond = runs.values(name, [4.0, 6.0])
    assert np.isfinite(beyond[:, 0]).all() and np.isnan(beyond[:, 1]).all()
    assert runs[:0].values(name, times).shape == (0, 11)
