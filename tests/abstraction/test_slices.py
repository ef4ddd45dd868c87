"""Slices of whole cells: no run escapes them, and they repeat the published run."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from numpy.random import Generator
from numpy.typing import NDArray

from workbench.abstraction.predicates.cells import AbstractState, Cells
from workbench.abstraction.predicates.predicate_abstraction import PredicateAbstraction, abstract
from workbench.abstraction.predicates.predicates import Origin, Predicate, distinct, normalised
from workbench.abstraction.predicates.search import explore
from workbench.abstraction.predicates.slices import CellSlicer
from workbench.abstraction.predicates.tracked_slices import TrackedSearch
from workbench.abstraction.templates.system import Polyhedron, template_system
from workbench.cli import run
from workbench.models.automaton import (
    Constraint,
    HybridAutomaton,
    Initial,
    Location,
    Property,
    Range,
    Variable,
)
from workbench.models.certificates.certificate import Certificate
from workbench.models.certificates.check import check
from workbench.models.certificates.judgement import Accepted
from workbench.models.expressions.text import parse_expression
from workbench.models.linear import Form
from workbench.models.lowering.problem import linear_problem
from workbench.reach.affine.matrix_exponential import matrix_exponential
from workbench.reach.sets.support import SupportOracle

Array = NDArray[np.float64]
STEP = 0.125
BOX = "x >= -3 && x <= 3 && y >= -3 && y <= 3"


def plane(matrix: Array, push: Array, spread: float, stays: str = BOX) -> HybridAutomaton:
    """x' = A x + c +- spread within a box."""
    flows = []
    for name, (a, b), c in zip("xy", matrix, push, strict=True):
        law = f"({Fraction(a)})*x + ({Fraction(b)})*y + ({Fraction(c)})"
        wide = Fraction(spread)
        low, high = (parse_expression(f"{law} + ({w})") for w in (-wide, wide))
        flows.append(Constraint(name, Range(low, high) if spread else Range.exactly(low)))
    return HybridAutomaton(
        name="plane",
        variables=(Variable("x"), Variable("y")),
        locations=(Location("a", tuple(flows), (), parse_expression(stays)),),
        edges=(),
        initial=(Initial("a", parse_expression("x >= -1 && x <= 1 && y >= -1 && y <= 1")),),
        properties=(Property("true", parse_expression("x <= 100")),),
    )


def cells_of(model: HybridAutomaton, forms: list[Form]) -> Cells:
    system = template_system(linear_problem(model, model.properties[0]))
    scaled = [h for form in forms if (h := normalised(form)) is not None]
    return Cells(system, distinct([Predicate(h, Origin.GIVEN) for h in scaled]))


def line(a: int, b: int, c: int) -> Form:
    """a x + b y + c/4, without zero coefficients."""
    slopes = {n: Fraction(k) for n, k in (("x", a), ("y", b)) if k}
    return Form(slopes or {"x": Fraction(1)}, Fraction(c, 4))


def visited(
    cells: Cells, law: tuple[Array, Array, float], start: Array, generator: Generator
) -> list[tuple[AbstractState, int]]:
    """The cells of an exact run with inputs that change at random, and in which slice it is
    there; the run ends where it leaves the box."""
    matrix, push, spread = law
    tick, pieces = STEP / 4, []
    block = np.zeros((4, 4))
    block[:2, :2], block[:2, 2:] = matrix * tick, np.eye(2) * tick
    exponential = matrix_exponential(block)
    point = start
    for number in range(60):
        state = AbstractState("a", cells.containing("a", point))
        if cells.inside(state, point[None], slack=-1e-6)[0]:
            pieces.append((state, number // 4))
        value = push + spread * generator.choice([-1.0, 1.0], 2)
        point = exponential[:2, :2] @ point + exponential[:2, 2:] @ value
        if np.abs(point).max() > 3:
            break
    return pieces


@pytest.mark.parametrize("seed", range(10))
def test_runs_stay_within_the_slices(seed: int) -> None:
    generator = np.random.default_rng(seed)
    matrix = generator.integers(-8, 9, (2, 2)) / 4
    law = matrix, generator.integers(-8, 9, 2) / 4, (seed % 3) / 4
    cells = cells_of(plane(*law), [line(*map(int, k)) for k in generator.integers(-4, 5, (3, 3))])
    starts = generator.uniform(-3, 3, (40, 2))
    slicer = CellSlicer(cells, STEP, most=15)
    first: dict[AbstractState, dict[AbstractState, int]] = {}
    for start in starts:
        state = AbstractState("a", cells.containing("a", start))
        if state not in first:
            first[state] = dict(slicer.flown(state))
        for other, k in visited(cells, law, start, generator):
            assert other == state or first[state].get(other, 99) <= k


@pytest.mark.parametrize("seed", range(8))
def test_points_of_runs_lie_in_their_slice(seed: int) -> None:
    """Long slices of a small cell, so that every term of the bound is needed; inputs stay at
    a corner, which leads furthest astray."""
    generator = np.random.default_rng(seed)
    matrix, push = generator.integers(-8, 9, (2, 2)) / 4, generator.integers(-8, 9, 2) / 4
    spread, step = (seed % 2) / 4, 0.5
    sides = [line(1, 0, -1), line(-1, 0, -1), line(0, 1, -1), line(0, -1, -1)]
    cells = cells_of(plane(matrix, push, spread, "x >= -99 && x <= 99"), sides)
    state = AbstractState("a", cells.containing("a", np.zeros(2)))
    (slices,) = CellSlicer(cells, step).slices(state)
    starts = generator.choice([-0.25, 0.25], (12, 2))
    values = push + spread * generator.choice([-1.0, 1.0], (12, 2))
    for k in range(3):
        (polyhedron,) = slices.polyhedra()
        for part in np.linspace(0, 1, 7):
            block = np.zeros((4, 4))
            block[:2, :2], block[:2, 2:] = matrix, np.eye(2)
            exponential = matrix_exponential(block * (k + part) * step)
            points = starts @ exponential[:2, :2].T + values @ exponential[:2, 2:].T
            assert all(_contains(polyhedron, point) for point in points)
        assert not _contains(polyhedron, np.array([0.0, 1e4]))
        slices.advance()


def _contains(polyhedron: Polyhedron, point: Array) -> bool:
    others = np.delete(polyhedron.matrix, [2, 3], axis=1)
    oracle = SupportOracle(others, polyhedron.bound - polyhedron.matrix[:, 2:4] @ point)
    return oracle(np.zeros(others.shape[1])) is not None


def test_what_facets_allow_slices_meet() -> None:
    """The facet test is exact for whole cells: slices cannot exclude more."""
    generator = np.random.default_rng(5)
    for _ in range(4):
        law = generator.integers(-8, 9, (2, 2)) / 4, generator.integers(-8, 9, 2) / 4, 0.25
        forms = [line(*map(int, k)) for k in generator.integers(-4, 5, (3, 3))]
        cells = cells_of(plane(*law), forms)
        facets = explore(cells, 1000, lambda: False, stop_at_bad=False)
        slicer = CellSlicer(cells, 0.05, most=2)
        sliced = explore(cells, 1000, lambda: False, stop_at_bad=False, slicer=slicer)
        assert facets.complete
        assert set(facets.found) <= set(sliced.found)


def test_slices_end_when_all_has_returned_or_left() -> None:
    inwards = plane(-np.eye(2), np.zeros(2), 0.0)
    cells = cells_of(inwards, [line(1, 0, -4), line(-1, 0, -4), line(0, 1, -4), line(0, -1, -4)])
    slicer = CellSlicer(cells, STEP)
    middle = AbstractState("a", cells.containing("a", np.zeros(2)))
    list(slicer.flown(middle))
    assert not slicer.cut
    push = np.array([2.0, 0.0])
    away = cells_of(
        plane(np.zeros((2, 2)), push, 0.0), [line(1, 0, 8), line(1, 0, 4), line(1, 0, -4)]
    )
    behind, start, ahead = (
        AbstractState("a", away.containing("a", np.array([x, 0.0]))) for x in (-2.5, 0.0, 2.0)
    )
    leaving = CellSlicer(away, 0.25)
    met = dict(leaving.flown(start))
    assert ahead in met
    assert behind not in met
    assert not leaving.cut
    short = CellSlicer(away, 0.25, most=3)
    list(short.flown(start))
    assert short.cut == {start}


def test_far_cells_are_met_later_and_cells_behind_never() -> None:
    forms = [line(1, 0, level) for level in (8, 4, 0, -4, -8)]
    cells = cells_of(plane(np.zeros((2, 2)), np.array([1.0, 0.0]), 0.0), forms)
    states = [
        AbstractState("a", cells.containing("a", np.array([x, 0.0])))
        for x in (-2.5, -1.5, -0.5, 0.5, 1.5, 2.5)
    ]
    met = dict(CellSlicer(cells, 0.25).flown(states[2]))
    assert set(met) - {states[1]} == set(states[3:])
    assert met[states[3]] < met[states[4]] < met[states[5]]
    assert met[states[4]] in (3, 4)


def test_unbounded_cells_are_not_excluded_by_numbers() -> None:
    """Without an invariant the errors are infinite, and everything is met."""
    model = plane(np.array([[0.0, 1.0], [-1.0, 0.0]]), np.zeros(2), 0.0, stays="true")
    cells = cells_of(model, [line(1, 0, 0), line(0, 1, 0)])
    state = AbstractState("a", cells.containing("a", np.array([1.0, 1.0])))
    assert len(dict(CellSlicer(cells, 0.25, most=8).flown(state))) == 3


# Slices of what is reached


def sinking(claim: str) -> HybridAutomaton:
    """x' = 1, y' = -y from x = -2 and y within 2."""
    model = plane(np.array([[0.0, 0.0], [0.0, -1.0]]), np.array([1.0, 0.0]), 0.0, "x <= 50")
    start = parse_expression("x == -2 && y >= -2 && y <= 2")
    claims = (Property("safe", parse_expression(claim)),)
    return replace(model, initial=(Initial("a", start),), properties=claims)


def test_slices_of_what_is_reached_exclude_what_facets_cannot() -> None:
    """Flow leads from y >= 1 over x = 0, but no run is there any more: whole cells cannot know,
    by facets or by slices."""
    forms = [line(1, 0, 0), line(0, 1, -4)]
    cells = cells_of(sinking("!(x >= 0 && y >= 1)"), forms)
    assert explore(cells, 100, lambda: False).bad is not None
    slicer = CellSlicer(cells, 0.1)
    assert explore(cells, 100, lambda: False, slicer=slicer).bad is not None
    tracked = TrackedSearch(cells, CellSlicer(cells, 0.1))
    graph = tracked.explore(100, lambda: False)
    assert graph.complete
    assert graph.bad is None
    high = AbstractState("a", cells.containing("a", np.array([1.0, 1.5])))
    assert high not in graph.found
    assert len(graph.found) == 3


def test_slices_of_what_is_reached_find_what_is_bad() -> None:
    """y = 2 e^-2 > 1/5 where x = 0."""
    cells = cells_of(sinking("!(x >= 0 && y >= 1/5)"), [line(1, 0, 0), line(0, 1, -4)])
    tracked = TrackedSearch(cells, CellSlicer(cells, 0.1))
    assert tracked.explore(100, lambda: False).bad is not None


def test_a_proof_by_slices_where_whole_cells_reach_bad_states() -> None:
    model = sinking("!(x >= 0 && y >= 1)")
    problem = linear_problem(model, model.properties[0])
    result = abstract(problem, PredicateAbstraction(slices=0.25))
    assert result.proof is not None
    assert result.history[0].path
    assert not result.history[1].path
    assert any("time" in h.coefficients for r in result.proof.regions for h in r.predicates)
    certificate = Certificate(model.name, model.sha256, "safe", result.proof)
    assert isinstance(check(model, "safe", certificate), Accepted)
    broken = sinking("!(x >= 0 && y >= 1/5)")
    method = PredicateAbstraction(slices=0.25)
    assert abstract(linear_problem(broken, broken.properties[0]), method).proof is None


@pytest.mark.parametrize("arguments", [["--slices", "0"], ["--slices", "many"], ["--slices", "1"]])
def test_slices_that_make_no_sense(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["verify", "leaky_tank", *arguments]) == 2
    assert "--slices" in capsys.readouterr().err


@pytest.mark.parametrize("length", ["0.1", "1e9"])
def test_a_proof_by_way_of_slices(length: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["verify", "leaky_tank", "--method", "abstraction", "--slices", length]) == 0
    assert "VERIFIED" in capsys.readouterr().out
