"""Transients: polyhedra that move with time, then an inductive set."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from numpy.random import Generator

from workbench.abstraction.strategies.strategy import Task
from workbench.abstraction.templates.directions import template
from workbench.abstraction.templates.system import template_system
from workbench.abstraction.transients.row_speeds import row_speeds
from workbench.abstraction.transients.search import Found, NotFound, search_transient
from workbench.abstraction.transients.time_stretches import Stretch, stretch
from workbench.abstraction.verification import deadline, strategy
from workbench.cli import run
from workbench.models.automaton import (
    Automaton,
    Constraint,
    Edge,
    HybridAutomaton,
    Initial,
    Input,
    Location,
    Property,
    Range,
    Variable,
)
from workbench.models.expressions.text import parse_expression
from workbench.models.load import load
from workbench.models.lowering.problem import linear_problem
from workbench.models.verdict import Falsified, Verified
from workbench.reach.affine.matrix_exponential import matrix_exponential


def plane(
    flows: dict[str, tuple[str, str, str]],
    start: tuple[str, str],
    claim: str,
    edges: tuple[Edge, ...] = (),
    inputs: tuple[Input, ...] = (),
) -> HybridAutomaton:
    """Locations with x', y' and an invariant."""
    locations = tuple(
        Location(
            name,
            tuple(
                Constraint(v, Range.exactly(parse_expression(text)))
                for v, text in (("x", dx), ("y", dy))
            ),
            (),
            parse_expression(stays),
        )
        for name, (dx, dy, stays) in flows.items()
    )
    return HybridAutomaton(
        name="plane",
        variables=(Variable("x"), Variable("y")),
        locations=locations,
        edges=edges,
        initial=(Initial(start[0], parse_expression(start[1])),),
        inputs=inputs,
        properties=(Property("safe", parse_expression(claim)),),
    )


def sinking(claim: str) -> HybridAutomaton:
    """No convex set has the start and the far future, and misses what is bad at x = 0."""
    return plane({"run": ("1", "u - y", "x <= 50")}, START, claim, inputs=(DISTURBANCE,))


START = ("run", "x == -2 && y >= -2 && y <= 2")
DISTURBANCE = Input("u", low=Fraction(-1, 10), high=Fraction(1, 10))


def search(model: HybridAutomaton, seconds: float = 60) -> Found | NotFound:
    end = deadline(seconds)
    problem = linear_problem(model, model.properties[0])
    return search_transient(problem, lambda: Task(model, model.properties[0], end).expired)


def test_a_transient_that_no_convex_set_holds() -> None:
    model = sinking("!(x >= 0 && y >= 1)")
    verdict = strategy("transient").attempt(Task(model, model.properties[0], deadline(60)))
    assert isinstance(verdict, Verified)
    assert verdict.horizon is None
    assert verdict.effort.counts["stretches"] >= 2
    regions = verdict.certificate.proof.regions  # type: ignore[union-attr]
    assert any("time" in form.coefficients for r in regions for form in r.predicates)


def test_a_broken_twin_is_not_proved() -> None:
    """y = 2 e^-2 + ... is above 1/5 where x = 0."""
    assert isinstance(search(sinking("!(x >= 0 && y >= 1/5)"), 20), NotFound)


def test_several_locations_and_resets() -> None:
    """Where x passes 0 it is set back to -2 once, into a location where y falls faster."""
    back = (Constraint("x", Range.exactly(parse_expression("-2"))),)
    flows = {"run": ("1", "-y", "x <= 0"), "fast": ("1", "-2*y", "x <= 50")}
    edge = (Edge("run", "fast", parse_expression("x >= 0"), back),)
    assert isinstance(search(plane(flows, START, "!(x >= 0 && y >= 1)", edge)), Found)
    assert isinstance(search(plane(flows, START, "!(x >= 1 && y >= 1/2000)", edge), 10), NotFound)


def test_the_reason_names_how_far_runs_were_followed() -> None:
    found = search(sinking("y <= 1/2"), 20)
    assert isinstance(found, NotFound)
    assert "time" in found.reason


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "sinking.charon"
    path.write_text(
        """
        mode Top() {
          write analog real x, y;
          diff { d(x) == 1; d(y) == -y; }
          inv { x <= 50 }
        }
        agent Sinking() {
          private analog real x = -2, y in [-2, 2];
          mode top = Top();
          assert "low" { x < 0 || y < 1 }
        }
        """
    )
    made = str(tmp_path / "proof.json")
    assert run(["verify", str(path), "--method", "transient", "--certificate", made]) == 0
    assert "VERIFIED for all time (transient" in capsys.readouterr().out
    assert run(["recheck", str(path), made]) == 0
    assert "ACCEPTED" in capsys.readouterr().out


# Moving polyhedra hold what runs visit


def moved(model: HybridAutomaton, length: Fraction) -> Stretch:
    """One stretch of a model from its starts, with octagonal directions."""
    problem = linear_problem(model, model.properties[0]).with_clock
    system = template_system(problem)
    angles = 2 * np.pi * np.arange(8) / 8
    clock = system.names.index("time")
    rows = np.insert(np.column_stack([np.cos(angles), np.sin(angles)]), clock, 0.0, axis=1)
    base = template(list(rows), 1e-6, 0.2)
    made = stretch(system, base, {"run": 0}, (Fraction(0), length), lambda: False)
    assert isinstance(made, Stretch), made
    return made


def random_plane(generator: Generator) -> tuple[HybridAutomaton, np.ndarray, np.ndarray]:
    matrix = generator.integers(-4, 5, (2, 2)) / 4
    push = generator.integers(-4, 5, 2) / 4
    x, y = (
        f"({Fraction(a)})*x + ({Fraction(b)})*y + ({Fraction(c)})"
        for (a, b), c in zip(matrix, push, strict=True)
    )
    start = ("run", "x >= -1 && x <= 1 && y >= 0 && y <= 1")
    inputs = (Input("u", low=Fraction(-1, 2), high=Fraction(1, 2)),)
    model = plane({"run": (f"{x} + u", y, "true")}, start, "x <= 1000", inputs=inputs)
    return model, matrix, push


@pytest.mark.parametrize("seed", range(12))
def test_moving_polyhedra_contain_runs(seed: int) -> None:
    """Exact runs with inputs that change at random are the oracle; that the polyhedra move with
    them is seen from how close they stay."""
    generator = np.random.default_rng(seed)
    model, matrix, push = random_plane(generator)
    length, ticks = Fraction(1, 4), 10
    made = moved(model, length)
    tick = float(length) / ticks
    block = np.zeros((4, 4))
    block[:2, :2], block[:2, 2:] = matrix * tick, np.eye(2) * tick
    exponential = matrix_exponential(block)
    points = np.column_stack([generator.choice([-1.0, 1.0], 80), generator.choice([0.0, 1.0], 80)])
    template_rows, offsets = made.setting.template.matrix, made.offsets[0]
    names = made.setting.system.names
    for k in range(ticks + 1):
        columns = {"x": points[:, 0], "y": points[:, 1], "time": np.full(80, k * tick)}
        states = np.column_stack([columns[name] for name in names])
        room = offsets - states @ template_rows.T
        assert room.min() >= -1e-7
        assert room.min(axis=0).max() < 1.5
        force = push + np.column_stack([generator.choice([-0.5, 0.5], 80), np.zeros(80)])
        points = points @ exponential[:2, :2].T + force @ exponential[:2, 2:].T


def test_speeds_of_a_decaying_interval() -> None:
    """x' = -x from [1, 2]: the upper end falls by at least 2 - t at time t, so that a line from
    2 must fall more slowly than -(2 + v T), with v its speed: v = -2 / (1 + T)."""
    flow = Constraint("x", Range.exactly(parse_expression("-x")))
    model = HybridAutomaton(
        name="line",
        variables=(Variable("x"),),
        locations=(Location("run", (flow,)),),
        edges=(),
        initial=(Initial("run", parse_expression("x >= 1 && x <= 2")),),
        properties=(Property("safe", parse_expression("x <= 3")),),
    )
    system = template_system(linear_problem(model, model.properties[0]).with_clock)
    base = template([np.array([0.0, 1.0]), np.array([0.0, -1.0])], 1e-6, 1.0)
    length = Fraction(1, 2)
    made = stretch(system, base, {"run": 0}, (Fraction(0), length), lambda: False)
    assert isinstance(made, Stretch)
    upper, lower = (-float(row[0]) for row in made.setting.template.rows)
    assert upper == pytest.approx(-2 / 1.5, abs=0.05)
    assert lower == pytest.approx(1.0, abs=0.05)
    assert np.allclose(made.offsets[0], [2, -1], atol=1e-3)
    assert row_speeds(made.setting.system, base, {"run": 0}, np.array([[2.0, -1.0]]), 1e-3) is not (
        None
    )


# The platoon from 12 m


def platoon(metres: int) -> Automaton:
    """The platoon with initial distances from so many metres."""
    return load("platoon_paper", parameters={"nearest": Fraction(metres)}).automaton


@pytest.mark.slow
def test_the_platoon_from_twelve_metres() -> None:
    """Safe by 2.3 m, as simulation tells, but no single convex set proves it."""
    model = platoon(12)
    verdict = strategy("transient").attempt(Task(model, model.properties[0], deadline(300)))
    assert isinstance(verdict, Verified)
    assert verdict.horizon is None


@pytest.mark.slow
def test_the_platoon_from_too_near() -> None:
    model = platoon(6)
    task = Task(model, model.properties[0], deadline(60))
    assert not isinstance(strategy("transient").attempt(task), Verified)
    task = Task(model, model.properties[0], deadline(60))
    assert isinstance(strategy("simulation").attempt(task), Falsified)
