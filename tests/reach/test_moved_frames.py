"""Frames that move with the flow: chains of jumps lose nothing."""

from __future__ import annotations

import time
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from workbench.abstraction.strategies.flowpipe import FlowpipeStrategy
from workbench.abstraction.strategies.strategy import Task
from workbench.models.checker.flowpipe import FlowpipeProof, Node, start_set
from workbench.models.linear import Form
from workbench.models.load import load
from workbench.models.lowering.problem import linear_problem
from workbench.models.verdict import Falsified, Verdict, Verified
from workbench.reach.affine.demands import Demands
from workbench.reach.affine.flowpipe_parts import MovedFrame
from workbench.reach.affine.moved_frames import moved_frame

CONVERTER = """
mode On() {{
  write analog real i, v, c;
  diff {{ d(i) == (24 - v)/5; d(v) == (i - v/10)/2; d(c) == 1; }}
  inv {{ c <= 0.5 }}
}}
mode Off() {{
  write analog real i, v, c;
  diff {{ d(i) == -v/5; d(v) == (i - v/10)/2; d(c) == 1; }}
  inv {{ c <= 1 }}
}}
mode Top() {{
  write analog real i, v, c;
  mode on = On();
  mode off = Off();
  trans from init to on;
  trans #open from on to off when {guard};
  trans #close from off to on when c >= 1 do {{ c = 0; }}
}}
agent Converter() {{
  private analog real i, v, c;
  init {{ i in [1.1, 1.3]; v in [11.8, 12.2]; c = 0; }}
  mode top = Top();
  assert "voltage" {{ v <= {bound} }}
}}
system Converter() until 12;
"""


def model(folder: Path, bound: str = "13.5", guard: str = "c >= 0.5") -> Path:
    path = folder / "converter.charon"
    path.write_text(CONVERTER.format(bound=bound, guard=guard))
    return path


def judged(path: Path) -> Verdict:
    automaton = load(path).automaton
    task = Task(automaton, automaton.properties[0], time.monotonic() + 60)
    return FlowpipeStrategy().attempt(task)


def test_a_converter_over_many_periods(tmp_path: Path) -> None:
    """The state turns a little in every period: boxes around it would grow without bound."""
    verdict = judged(model(tmp_path))
    assert isinstance(verdict, Verified)
    proof = verdict.certificate.proof
    assert isinstance(proof, FlowpipeProof)
    assert sum(1 for node in proof.nodes if isinstance(node, Node) and node.frame) > 10


def test_a_converter_that_promises_too_much(tmp_path: Path) -> None:
    verdict = judged(model(tmp_path, bound="12.5"))
    assert isinstance(verdict, Falsified)


def frame_of_first_jump(path: Path, spans: dict[str, tuple[str, str]]) -> MovedFrame | None:
    """The frame of what the jump out of `on` leads to from a box."""
    automaton = load(path).automaton
    demands = Demands(linear_problem(automaton, automaton.properties[0]), {})
    entry = []
    for name, (low, high) in spans.items():
        entry.append(Form({name: Fraction(1)}, -Fraction(high)))
        entry.append(Form({name: Fraction(-1)}, Fraction(low)))
    flow = demands.flow("on")
    start = start_set(flow, Node("on", tuple(entry), (), (), 1, 1, Fraction(1), {}))
    (case,) = demands.cases("on")
    return moved_frame(flow, start, Fraction(2), case.rows)


BOX = {"i": ("1.1", "1.3"), "v": ("11.8", "12.2"), "c": ("0", "0"), "time": ("0", "0")}


def test_the_frame_has_the_edges_of_the_moved_box(tmp_path: Path) -> None:
    found = frame_of_first_jump(model(tmp_path), BOX)
    assert found is not None
    assert [float(t) for t in found.window] == pytest.approx([0.5, 0.5])
    matrix = np.array([[0.0, -0.2], [0.5, -0.05]])  # of i and v
    moved = np.linalg.matrix_power(np.eye(2) + matrix * 0.5 / 4096, 4096)  # about its exponential
    normals = np.array([[float(n.get(x, 0)) for x in ("i", "v")] for n in found.normals])
    across = np.abs(normals @ moved)  # each edge of the box lies along one side of the frame only
    assert all(min(row) < 1e-3 * max(row) for row in across)


def test_factors_undo_normals(tmp_path: Path) -> None:
    found = frame_of_first_jump(model(tmp_path), BOX)
    assert found is not None
    total = sum(
        np.outer([float(f.get(x, 0)) for x in ("i", "v")], [float(n.get(x, 0)) for x in ("i", "v")])
        for n, f in zip(found.normals, found.factors, strict=True)
    )
    assert total == pytest.approx(np.eye(2), abs=1e-6)


def test_points_need_no_frame(tmp_path: Path) -> None:
    point = {**BOX, "i": ("1", "1"), "v": ("12", "12")}
    assert frame_of_first_jump(model(tmp_path), point) is None


def test_jumps_that_never_come_need_no_frame(tmp_path: Path) -> None:
    assert frame_of_first_jump(model(tmp_path, guard="i >= 1000"), BOX) is None


def test_runs_that_must_jump_on_a_surface_are_moved_onto_it(tmp_path: Path) -> None:
    """Both the guard and the invariant are about i: all runs jump at i = 2, at various times."""
    text = model(tmp_path, guard="i >= 2").read_text()
    text = text.replace("inv { c <= 0.5 }", "inv { i <= 2 }")
    (tmp_path / "surface.charon").write_text(text)
    found = frame_of_first_jump(
        tmp_path / "surface.charon", {**BOX, "i": ("0.5", "1.9"), "v": ("6", "6.1")}
    )
    assert found is not None
    assert all("i" not in normal for normal in found.normals)
