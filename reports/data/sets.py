"""Claimed and bad sets as polygons and intervals for the plots."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from workbench.models.automaton import Automaton, Property
from workbench.models.certificates.certificate import Certificate
from workbench.models.evidence.polyhedral import PolyhedralProof
from workbench.models.evidence.quadratic import QuadraticInvariant
from workbench.models.evidence.quadratic_function import QuadraticFunctions
from workbench.models.expressions.expression import Expression
from workbench.models.linear import Form, Row, Rows
from workbench.models.lowering.alternatives import TooManyCasesError, alternatives
from workbench.models.lowering.pieces import by_cases
from workbench.models.lowering.problem import LinearProblem, linear_problem
from workbench.models.trace import Scalar, Trace
from workbench.models.unfolding import case_of, folded
from workbench.reports.claims.claimed_set import ClaimedSet
from workbench.reports.claims.ellipsoids import ellipsoid_intervals, ellipsoid_pairs, function_data
from workbench.reports.claims.flowpipe_set import FlowpipeSet, outlasts
from workbench.reports.crosscheck.contradictions import stay_times
from workbench.reports.data.trace import short
from workbench.reports.pictures.projection import Box, Point, Shadow

MAX_PAIRS = 45
MOST_STRETCHES = 400
SECONDS = 6.0
"""Time for the pictures of one property; pairs that come later are left out."""


def bad_data(
    automaton: Automaton, claim: Property, locations: Sequence[str], box: Box
) -> dict[str, Any]:
    """The bad states of a property, by location: `cases` are what is at most zero in them, as
    terms (factor, name); for one or two variables that they depend on, `locations` has intervals
    and polygons; `names` are the variables concerned."""
    names: set[str] = set()
    problem = linear_problem(automaton, claim)
    cases: dict[str, list[Any]] = {}
    shapes: dict[str, list[Any]] = {}
    for location in locations:
        for rows in _cases(problem, problem.claim.bad_states(automaton.occupied(location))):
            used = {n for row in rows for n in row.form.coefficients}
            if not used or not used <= set(box):
                continue
            names |= used
            cases.setdefault(location, []).append([_terms(row.form) for row in rows])
            axes = sorted(used)
            shape: list[Any] = []
            if len(axes) == 1:
                interval = Shadow(rows, {}).interval(axes[0])
                if interval is not None and (interval[0] < interval[1] or not rows[0].strict):
                    shape = _open_ends(interval)
            elif len(axes) == 2:
                shadow = Shadow(rows, {n: box[n] for n in used})
                shape = _points(shadow.polygon(axes[0], axes[1]))
            if shape:
                shapes.setdefault(location, []).append({"axes": axes, "shape": shape})
    return {"names": sorted(names), "cases": cases, "locations": shapes}


def _cases(problem: LinearProblem, bad: Expression) -> Iterator[Rows]:
    """The bad states alone, without the location's invariant."""
    try:
        yield from alternatives(by_cases(bad, problem.types), problem.types)
    except TooManyCasesError:
        return


def _terms(form: Form) -> list[list[Any]]:
    """A form as (factor, name) of its terms, the constant without a name."""
    constant = [[short(float(form.constant), 9)]] if form.constant else []
    return [*constant, *([short(float(a), 9), n] for n, a in form.coefficients.items())]


def set_data(
    automaton: Automaton,
    certificate: Certificate,
    claim: Property,
    claimed: ClaimedSet,
    traces: Sequence[Trace],
    box: Box,
    first: Sequence[str],
) -> dict[str, Any] | None:
    """The invariant of a certificate: intervals of every variable and polygons of pairs, by
    location. `first` are the variables whose pairs matter most."""
    proof = certificate.safety
    if isinstance(proof, PolyhedralProof):
        problem = linear_problem(automaton, claim)
        known = {name: ends for name, ends in box.items() if name in problem.names}
        return _projected(_polyhedral(problem, proof), known, first)
    if isinstance(proof, QuadraticInvariant):
        return _ellipses(proof, box, first)
    if isinstance(proof, QuadraticFunctions):
        functions = function_data(linear_problem(automaton, claim), proof)
        return {"intervals": {}, "tubes": {}, "pairs": {}, "functions": functions}
    if isinstance(claimed, FlowpipeSet):
        known = {name: ends for name, ends in box.items() if name in claimed.problem.names}
        return _tubes(claimed, traces, known, first)
    return None


def _tubes(
    claimed: FlowpipeSet, traces: Sequence[Trace], box: Box, first: Sequence[str]
) -> dict[str, Any]:
    """A flowpipe: `tubes` gives for every variable pieces (node, from, to, low, high), times
    counted from the begin of a stay; `stays` for every run (start, end, node, location)."""
    deadline = time.monotonic() + SECONDS
    groups = [
        (group, (*group.rows, *_known(claimed, group.location))) for group in claimed.groups()
    ]
    whole = [(group, Shadow(rows, {})) for group, rows in groups]
    tubes: dict[str, list[list[Any]]] = {}
    for name in _ordered(box, first):
        for group, shadow in whole:
            if time.monotonic() < deadline and (found := shadow.interval(name)) is not None:
                row = [group.node, short(group.begin), short(group.end), *_open_ends(found)]
                tubes.setdefault(name, []).append(row)
    view = claimed.problem.automaton
    drawn = [(folded(view, group.location), Shadow(rows, box)) for group, rows in groups]
    pairs = _pairs(drawn, box, first, deadline + SECONDS)
    stays = [_stays(claimed, trace) for trace in traces]
    return {"intervals": {}, "tubes": tubes, "stays": stays, "pairs": pairs}


def _stays(claimed: FlowpipeSet, trace: Trace) -> list[list[Any]]:
    """The stretches of a run's stays, each with the node that speaks about it."""
    found = []
    for location, start, end, entry in stay_times(trace):
        end = min(end, claimed.horizon)
        while start <= end and (node := _node_of(claimed, location, entry)) is not None:
            over = start + float(claimed.tube(node).end[-1])
            found.append([short(start, 8), short(min(end, over), 8), node, location])
            if not outlasts(end, over) or len(found) >= MOST_STRETCHES:
                break
            start, entry = over, {**entry, **trace.at(over)}
    return found


def _node_of(claimed: FlowpipeSet, location: str, entry: Mapping[str, Scalar]) -> int | None:
    return claimed.node_of(case_of(claimed.problem.automaton, location, entry), entry)


def _known(claimed: FlowpipeSet, location: str) -> Rows:
    """What the location's invariant adds, where it has one case."""
    cases = claimed.problem.invariant(location)
    return tuple(Row(r.form) for r in cases[0]) if len(cases) == 1 else ()


def _polyhedral(problem: LinearProblem, proof: PolyhedralProof) -> list[tuple[str, Rows]]:
    """Every cell of the proof with the invariant of its location."""
    found = []
    for region in proof.regions:
        for number in range(len(region.cells)):
            for invariant in problem.invariant(region.location):
                rows = (*region.rows(number), *(Row(r.form) for r in invariant))
                found.append((folded(problem.automaton, region.location), rows))
    return found


def _projected(cells: Sequence[tuple[str, Rows]], box: Box, first: Sequence[str]) -> dict[str, Any]:
    deadline = time.monotonic() + SECONDS
    whole = [(location, Shadow(rows, {})) for location, rows in cells]
    intervals: dict[str, dict[str, list[list[float | None]]]] = {}
    for name in _ordered(box, first):
        for location, shadow in whole:
            if time.monotonic() < deadline and (found := shadow.interval(name)) is not None:
                known = intervals.setdefault(name, {}).setdefault(location, [])
                known[:] = _merged([*known, _open_ends(found)])
    near = [(location, Shadow(rows, box)) for location, rows in cells]
    return {"intervals": intervals, "tubes": {}, "pairs": _pairs(near, box, first, deadline)}


def _pairs(
    shadows: Sequence[tuple[str, Shadow]], box: Box, first: Sequence[str], deadline: float
) -> dict[str, dict[str, list[list[list[float]]]]]:
    """Polygons of as many pairs as the time allows."""
    pairs: dict[str, dict[str, list[list[list[float]]]]] = {}
    for x, y in list(combinations(_ordered(box, first), 2))[:MAX_PAIRS]:
        if time.monotonic() > deadline:
            break
        polygons: dict[str, list[list[list[float]]]] = {}
        for location, shadow in shadows:
            if polygon := shadow.polygon(x, y):
                polygons.setdefault(location, []).append(_points(polygon))
        pairs[pair_key(x, y)] = polygons
    return pairs


def _merged(intervals: list[list[float | None]]) -> list[list[float | None]]:
    """Overlapping intervals made one, in order; None is an open end."""
    found: list[list[float | None]] = []
    for low, high in sorted(intervals, key=lambda i: -math.inf if i[0] is None else i[0]):
        last = found[-1] if found else None
        if last is not None and (last[1] is None or low is None or low <= last[1]):
            last[1] = None if high is None or last[1] is None else max(high, last[1])
        else:
            found.append([low, high])
    return found


def _open_ends(found: tuple[float, float]) -> list[float | None]:
    """The interval with its infinite ends left open."""
    return [short(end) if math.isfinite(end) else None for end in found]


def _ellipses(invariant: QuadraticInvariant, box: Box, first: Sequence[str]) -> dict[str, Any]:
    names = [n for n in _ordered(box, first) if n in invariant.variables]
    intervals = {
        name: {location: [_open_ends(found)] for location in invariant.locations}
        for name, found in ellipsoid_intervals(invariant, names).items()
    }
    pairs = {
        pair_key(x, y): {location: [_points(shape)] for location in invariant.locations}
        for (x, y), shape in ellipsoid_pairs(invariant, names, box, MAX_PAIRS).items()
        if shape
    }
    drawn = "the shadow of the proved ellipsoid"
    if len(invariant.ellipsoids) > 1:
        drawn = f"what the shadows of the {len(invariant.ellipsoids)} proved ellipsoids share"
    return {"intervals": intervals, "tubes": {}, "pairs": pairs, "drawn": drawn}


def pair_key(x: str, y: str) -> str:
    """The name of an unordered pair of axes; names hold no line breaks."""
    return f"{x}\n{y}"


def _ordered(box: Mapping[str, object], first: Sequence[str]) -> list[str]:
    chosen = list(dict.fromkeys(n for n in first if n in box))
    return [*chosen, *(n for n in box if n not in chosen)]


def _points(polygon: Sequence[Point]) -> list[list[float]]:
    return [[short(x), short(y)] for x, y in polygon]
