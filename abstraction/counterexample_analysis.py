"""Learning a predicate from an abstract path that no run seems to follow.

Along the path the first step is found that leads from a cell that sampled runs visit into one
that they do not. In the cell before it, the states visited are separated by a hyperplane from
those that can take the step, as far as that is possible: a linear program that prefers
hyperplanes which the flow does not cross between the two. Where it finds none, the sign of
the derivative over the facet that is crossed is taken, else the cell is halved. Normals and
levels are rounded to simple rationals.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np
from numpy.random import Generator

from abstraction import simple_rationals
from abstraction.abstract_cells import CLOSE, AbstractState
from abstraction.abstract_search import AbstractGraph, Step
from abstraction.predicates import Origin, Predicate, normalised
from abstraction.sampled_runs import SampledRuns, corner_inputs
from abstraction.template_system import Array, Flow, TemplateSystem
from models.proof.linear import Form
from reach.linear_program import minimise

MOST_POINTS = 80
"""So many extreme points stand for the states visited in a cell."""
NEARBY = 1e-2
"""Initial cells count as visited by runs this close to them: they may be corners that no
sampled run starts in."""
CROSSING_PRICE = 2.0
"""What a unit of flow across the hyperplane costs against a unit of separation."""
ENOUGH = 0.25
"""Separation beyond this part of the extent is worth nothing more."""
CUTS = 8
CLOSENESS = 0.004
"""By how much rounding may change an entry of a normal whose largest is 1."""
SHIFT = 10.0
"""Makes the separations of the linear program positive."""


@dataclass(frozen=True)
class Suspect:
    """A step of an abstract path that sampled runs do not take, the cell before it, and the
    states visited in that cell and anywhere in its location."""

    step: Step
    source: AbstractState
    visited: Array
    anywhere: Array


def first_unvisited(graph: AbstractGraph, path: list[Step], runs: SampledRuns) -> Suspect | None:
    """The first step into a cell that no sampled run visits; None if all are visited."""
    visited: Array | None = None
    for step in path:
        points = _visits(graph, step.target, runs, CLOSE if step.source else NEARBY)
        if len(points) == 0:
            if step.source is None or visited is None:
                return None
            anywhere = runs.points([step.source.location])
            assert anywhere is not None
            return Suspect(step, step.source, visited, anywhere)
        visited = points
    return None


def _visits(graph: AbstractGraph, state: AbstractState, runs: SampledRuns, slack: float) -> Array:
    points = runs.points([state.location])
    if points is None:
        return np.zeros((0, len(graph.cells.system.names)))
    return points[graph.cells.inside(state, points, slack)]


def learned(
    graph: AbstractGraph, suspect: Suspect, known: frozenset[str], generator: Generator
) -> Predicate | None:
    """A new predicate for the suspect's location, the most promising first."""
    location = suspect.source.location
    for form in _candidates(graph, suspect, generator):
        found = normalised(form)
        if found is not None and str(found) not in known:
            return Predicate(found, Origin.REFINED, location)
    return None


def _candidates(graph: AbstractGraph, suspect: Suspect, generator: Generator) -> Iterator[Form]:
    system = graph.cells.system
    n = len(system.names)
    directions = np.vstack([np.eye(n), -np.eye(n), generator.normal(size=(2 * n, n))])
    leaving = np.array(_leaving(graph, suspect, directions)).reshape(-1, n)
    inside = _extreme(suspect.visited, generator)
    if len(leaving):
        for visited in (suspect.anywhere, suspect.visited):
            form = _separating(system, suspect.source.location, visited, leaving, generator)
            if form is not None:
                yield form
    if suspect.step.predicate is not None:
        yield from _derivatives(graph, suspect)
    yield from _halves(system, inside, leaving)


def _leaving(graph: AbstractGraph, suspect: Suspect, directions: Array) -> list[Array]:
    if suspect.step.predicate is not None:
        return graph.cells.leaving_points(suspect.source, suspect.step.predicate, directions)
    assert suspect.step.switch is not None
    return graph.cells.switching_points(
        suspect.source, suspect.step.switch, suspect.step.target, directions
    )


def _extreme(points: Array, generator: Generator) -> Array:
    n = points.shape[1]
    span = np.maximum(points.max(axis=0) - points.min(axis=0), 1e-9)
    signs = np.array(list(product((-1.0, 0.0, 1.0), repeat=n)))[: 3**4]
    directions = np.vstack([signs, generator.normal(size=(MOST_POINTS, n))]) / span
    chosen = np.unique(np.argmax(points @ directions.T, axis=0))
    extreme: Array = points[chosen]
    return extreme


def _separating(
    system: TemplateSystem,
    location: str,
    visited: Array,
    leaving: Array,
    generator: Generator,
) -> Form | None:
    """A hyperplane with all visited states on one side and, as far as can be, the leaving ones
    on the other, that the flow does not cross outwards.

    Whether it is crossed is asked at points of the hyperplane itself, so the program is solved
    a few times, each time with the points where the last hyperplane was crossed.
    """
    inside = _extreme(visited, generator)
    everything = np.vstack([inside, leaving])
    low = everything.min(axis=0)
    span = np.maximum(everything.max(axis=0) - low, 1e-9)
    p, q = (inside - low) / span, (leaving - low) / span
    asked = ((p[:, None, :] + q[None, :, :]) / 2).reshape(-1, p.shape[1])
    asked = asked[:: max(1, len(asked) // 30)]
    normal: Array | None = None
    for _ in range(CUTS):
        flows = _flows_at(system, location, asked * span + low) / span
        found = _hyperplane(p, q, flows)
        if found is None:
            break
        normal, level = found
        on_plane = _on_hyperplane(p, q, normal, level)
        crossing = _crossing(system, location, on_plane, normal, low, span)
        if len(crossing) == 0:
            break
        asked = np.vstack([asked, crossing])
    return None if normal is None else _rounded(system.names, normal / span, visited, leaving)


def _hyperplane(p: Array, q: Array, flows: Array) -> tuple[Array, float] | None:
    """maximise mean_q t_q - price * max_m slack_m subject to a p <= c for visited p,
    t_q <= a q - c and t_q <= ENOUGH for leaving q, a f_m <= slack for flows f_m, |a| <= 1."""
    n = p.shape[1]
    flows = flows / max(1e-9, float(np.abs(flows).max(initial=0.0)))
    columns = 2 * n + 3 + len(q)  # a+, a-, c+, c-, slack, t
    matrix = np.zeros((len(p) + len(q) + len(flows) + 2 * n + len(q), columns))
    right = np.zeros(len(matrix))
    matrix[: len(p), : 2 * n] = np.hstack([p, -p])
    matrix[: len(p), 2 * n : 2 * n + 2] = [-1.0, 1.0]
    rows = slice(len(p), len(p) + len(q))
    matrix[rows, : 2 * n] = np.hstack([-q, q])
    matrix[rows, 2 * n : 2 * n + 2] = [1.0, -1.0]
    matrix[rows, 2 * n + 3 :] = np.eye(len(q))
    right[rows] = SHIFT
    rows = slice(rows.stop, rows.stop + len(flows))
    matrix[rows, : 2 * n] = np.hstack([flows, -flows])
    matrix[rows, 2 * n + 2] = -1.0
    matrix[rows.stop : rows.stop + 2 * n, : 2 * n] = np.eye(2 * n)
    right[rows.stop : rows.stop + 2 * n] = 1.0
    matrix[rows.stop + 2 * n :, 2 * n + 3 :] = np.eye(len(q))
    right[rows.stop + 2 * n :] = SHIFT + ENOUGH
    cost = np.zeros(columns)
    cost[2 * n + 2], cost[2 * n + 3 :] = CROSSING_PRICE, -1 / len(q)
    solution = minimise(cost, matrix, right, np.zeros(columns))
    if solution is None or float(cost @ solution) > -SHIFT - 1e-4:
        return None
    return solution[:n] - solution[n : 2 * n], float(solution[2 * n] - solution[2 * n + 1])


def _on_hyperplane(p: Array, q: Array, normal: Array, level: float) -> Array:
    """Where the ways from visited to leaving states meet the hyperplane, and the visited
    states on it."""
    before, after = p @ normal - level, q @ normal - level
    first, second = np.nonzero((before[:, None] <= 0) & (after[None, :] > 1e-9))
    share = before[first] / (before[first] - after[second])
    between = p[first] + share[:, None] * (q[second] - p[first])
    touching = p[np.abs(before) < 1e-7]
    return np.vstack([between[:: max(1, len(between) // 200)], touching])


def _crossing(
    system: TemplateSystem,
    location: str,
    points: Array,
    normal: Array,
    low: Array,
    span: Array,
) -> Array:
    """The few of the points where the flow crosses the hyperplane most."""
    if len(points) == 0:
        return points
    worst = np.full(len(points), -np.inf)
    for flow, push in _pushes(system, location):
        rates = (points * span + low) @ flow.state.T + flow.rest @ push + flow.constant
        worst = np.maximum(worst, (rates / span) @ normal)
    order = np.argsort(-worst)[:10]
    return points[[k for k in order if worst[k] > 1e-7]]


def _rounded(names: tuple[str, ...], normal: Array, inside: Array, leaving: Array) -> Form | None:
    """The hyperplane in simple rationals, close to the visited states."""
    if not np.any(normal):
        return None
    simple = simple_rationals.direction(normal, CLOSENESS)
    a = np.array([float(v) for v in simple])
    inner, outer = float((inside @ a).max()), float((leaving @ a).min())
    room = max(outer - inner, 0.02 * float(np.ptp(np.vstack([inside, leaving]) @ a)))
    level = simple_rationals.just_above(inner, inner + room / 4)
    return Form({v: c for v, c in zip(names, simple, strict=True) if c != 0}, -level)


def _flows_at(system: TemplateSystem, location: str, points: Array) -> Array:
    """Derivatives at points, inputs at corners."""
    found = [
        points @ flow.state.T + flow.rest @ push + flow.constant
        for flow, push in _pushes(system, location)
    ]
    return np.vstack(found) if found else np.zeros((0, points.shape[1]))


def _pushes(system: TemplateSystem, location: str) -> Iterator[tuple[Flow, Array]]:
    for flow in system.flows:
        if flow.location == location:
            for push in corner_inputs(flow)[:9]:
                yield flow, push


def _derivatives(graph: AbstractGraph, suspect: Suspect) -> Iterator[Form]:
    """Where the derivative over the crossed facet changes sign, inputs in their middle."""
    cells, names = graph.cells, graph.cells.system.names
    assert suspect.step.predicate is not None
    form = cells.predicates[suspect.source.location][suspect.step.predicate]
    normal = np.array([float(form.coefficients.get(v, 0)) for v in names])
    for flow in cells.system.flows:
        if flow.location == suspect.source.location:
            gradient = normal @ flow.state
            if np.any(np.abs(gradient) > 1e-9):
                size = float(np.abs(gradient).max())
                yield Form(
                    {
                        v: Fraction(a / size).limit_denominator(1000)
                        for v, a in zip(names, gradient, strict=True)
                        if abs(a) > 1e-9
                    },
                    Fraction(float(normal @ flow.constant) / size).limit_denominator(1000),
                )


def _halves(system: TemplateSystem, inside: Array, leaving: Array) -> Iterator[Form]:
    """Hyperplanes across the widest extents of what was visited."""
    points = np.vstack([inside, leaving]) if len(leaving) else inside
    low, high = points.min(axis=0), points.max(axis=0)
    for j in np.argsort(low - high):
        if high[j] - low[j] > 1e-6:
            level = simple_rationals.between(float(low[j]), float(high[j]))
            yield Form({system.names[j]: Fraction(1)}, -level)
