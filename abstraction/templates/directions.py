"""Which half-spaces to look for: template directions from the property and the dynamics.

Directions decide whether a template invariant exists. A lower bound of c.x after a short time
t follows from a lower bound of (I + t A')c . x now, so the chain

    c_0 = normal of the bad set,  c_{j+1} = (I + t A') c_j

holds its own next step: no direction needs a bound on anything outside the chain. Where a
variable is clamped (it may rest at a bound of the invariant), the worst case has two phases,
and the chain is first followed with that variable frozen, then, from every element, in the
full dynamics.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import NDArray

from workbench.abstraction.templates.eigen_directions import cascade_directions
from workbench.abstraction.templates.hull_directions import facet_normals, outline_normals
from workbench.abstraction.templates.sampled_runs import SampledRuns
from workbench.abstraction.templates.simple_rationals import near
from workbench.abstraction.templates.system import Array, Flow, Polyhedron, TemplateSystem
from workbench.abstraction.templates.tilted_directions import tilted
from workbench.models.work import RATIONAL, spend
from workbench.reach.time_limit import check_time

Flags = NDArray[np.bool_]

GRID = 20_000
"""Directions are rounded to multiples of 1/GRID (coarser rounding costs tightness)."""


@dataclass(frozen=True)
class Template:
    """Rational directions, with their floating-point twins, and the time step behind them;
    `only` says which of them a location uses, where that is not all."""

    rows: tuple[tuple[Fraction, ...], ...]
    matrix: Array
    step: float
    only: Mapping[str, Flags] = field(default_factory=dict)


@dataclass(frozen=True)
class ChainPlan:
    """How to build chains: the step in units of the fastest time constant, the lengths of
    the two phases and of the chains that start at normals of the model, and how close two
    directions may be before they are merged."""

    relative_step: float = 0.5
    frozen_length: int = 10
    full_length: int = 4
    side_length: int = 0
    merge: float = 0.02


SHORT = ChainPlan()
PLANS = (
    ChainPlan(relative_step=0.35, frozen_length=14, full_length=6),
    ChainPlan(relative_step=0.7, frozen_length=8),
    ChainPlan(side_length=6),
    ChainPlan(relative_step=0.25, frozen_length=20, full_length=8, merge=0.01),
)
LONGEST_CHAIN = 60
MOST_SIDES = 32
"""Directions in the plane of a complex pair of eigenvalues."""
DECAYED = 0.1
"""A chain may end when its direction has shrunk to this part of its first length."""
SIMPLE = 100
CLOSE_ENTRIES = 1e-7
"""Entries of directions that are this close to a fraction with a small denominator are that one:
what has no room for error has an exact proof then."""
NEARLY_REAL = 1e-6
CLOSE_RATES = 1e-6
"""Eigenvalues that are the same count as such in spite of rounding, which parts them a little."""
MOST_LAGS = 2
MOST_LAG_ROWS = 4
MOST_FACETS = 40
FEW_VARIABLES = 4
FACET_VARIABLES = 6
"""In more variables even a simplest polytope has too many facets."""


def chain_templates(system: TemplateSystem) -> Iterator[Template]:
    """Templates from the property and the dynamics, cheap and promising ones first."""
    dynamics = list(distinct_dynamics(system))
    step = 0.5 / fastest_rate(system)
    yield template([*axes(system), *bad_normals(system), *model_normals(system)], 1e-6, step)
    for chosen in _subsets(dynamics):
        yield chain_template(system, chosen, SHORT)


def steady_templates(system: TemplateSystem) -> Iterator[Template]:
    """Chains that are followed until they have decayed, from bad states and from relations."""
    dynamics = list(distinct_dynamics(system))
    yield decaying_template(system, dynamics, 0.5)
    yield from relational_templates(system, dynamics)


def eigen_templates(system: TemplateSystem) -> Iterator[Template]:
    """Left eigenvectors, first of the systems of a cascade, then of each location's dynamics, and
    of all together (`_eigen_rows`), with what bad directions are lags of (`_lag_rows`)."""
    dynamics = list(distinct_dynamics(system))
    step = 0.5 / fastest_rate(system)
    bad = bad_normals(system)
    if cascade := cascade_directions(system):
        yield template([*cascade, *bad, *axes(system)], 1e-6, step)
    for chosen in _subsets(dynamics):
        rows = [row for flow in chosen for row in _eigen_rows(flow.state)]
        lags = [row for flow in chosen for row in _lag_rows(bad, flow.state)]
        yield template([*rows, *bad, *axes(system), *lags], 0.005, step)


def _eigen_rows(matrix: Array) -> list[Array]:
    """Directions that x' = A x itself keeps: w with A'w = l w, and for a complex pair
    s + i o directions in equal angles in its plane, so many that the polygon between them is
    never left: o tan(pi / m) <= -s."""
    values, vectors = np.linalg.eig(matrix.T)
    found: list[Array] = []
    for value, vector in zip(values, vectors.T, strict=True):
        real, imaginary = np.real(vector), np.imag(vector)
        if abs(value.imag) < 1e-9:
            found.extend([real, -real])
        elif value.imag > 0:
            turn = np.arctan(max(-value.real, 0.0) / value.imag)
            count = int(min(MOST_SIDES, max(4.0, np.ceil(1.05 * np.pi / max(turn, 0.01)))))
            angles = 2 * np.pi * np.arange(count) / count
            found.extend(np.cos(a) * real + np.sin(a) * imaginary for a in angles)
    return found


def _lag_rows(starts: list[Array], matrix: Array) -> list[Array]:
    """(I + A'/r)c for rates r at which the dynamics decay, one after the other. A variable that
    follows u with a lag, c' = r (u - c), never passes the bounds of u = c + c'/r; so a bound that
    holds at one end of a cascade of lags is handed down to its other end, without any loss."""
    values = np.linalg.eigvals(matrix)
    steady = values[(values.real < -1e-6) & (np.abs(values.imag) < NEARLY_REAL * np.abs(values))]
    rates = sorted({float(near(-value, CLOSE_RATES * -value)) for value in steady.real})
    found: list[Array] = []
    for start in starts:
        level = [start]
        for _ in range(MOST_LAGS):
            level = [row + matrix.T @ row / rate for row in level for rate in rates][:MOST_LAG_ROWS]
            found += level
    return found


def outline_templates(system: TemplateSystem, runs: SampledRuns) -> Iterator[Template]:
    """Templates from where runs were seen, different in each location. Outlines grow with the
    square of the number of variables: where there are many, facets come first."""
    count, step = len(system.names), 0.5 / fastest_rate(system)
    chains = decaying_chains(system, list(distinct_dynamics(system)), 0.5)
    if FEW_VARIABLES < count <= FACET_VARIABLES:
        yield facet_template(system, runs, step, chains)
    yield outline_template(system, runs, step, 12)
    yield outline_template(system, runs, step, 12, chains)
    if count == 2:
        yield outline_template(system, runs, step, 32)
    elif count <= FEW_VARIABLES:
        yield facet_template(system, runs, step, chains)


def longer_templates(system: TemplateSystem) -> Iterator[Template]:
    """Chains with other steps and lengths, for when the first ones did not do."""
    dynamics = list(distinct_dynamics(system))
    yield decaying_template(system, dynamics, 0.25)
    for plan in PLANS:
        for chosen in _subsets(dynamics):
            yield chain_template(system, chosen, plan)


def _subsets(dynamics: list[Flow]) -> list[list[Flow]]:
    """Each location's dynamics alone, then all together."""
    alone = [[flow] for flow in reversed(dynamics)]
    return [*alone, dynamics] if len(dynamics) > 1 else alone


def chain_template(system: TemplateSystem, dynamics: list[Flow], plan: ChainPlan) -> Template:
    """Adjoint chains from the bad directions, the axes, and the normals of the model."""
    step = plan.relative_step / fastest_rate(system)
    bad, normals = bad_normals(system), model_normals(system)
    found: list[Array] = []
    for flow in dynamics:
        frozen = frozen_dynamics(flow)
        for normal in bad:
            first = [] if frozen is None else _chain(normal, frozen, step, plan.frozen_length)
            for start in (normal, *first):
                found.extend(_chain(start, flow.state, step, plan.full_length))
            found.extend(_chain(normal, flow.state, step, plan.frozen_length))
        for normal in normals:
            found.extend(_chain(normal, flow.state, step, plan.side_length))
    return template([*found, *bad, *axes(system)], plan.merge, step)


def decaying_template(system: TemplateSystem, dynamics: list[Flow], fraction: float) -> Template:
    """Chains from the bad directions, in both senses, followed until they have decayed."""
    found = [*decaying_chains(system, dynamics, fraction), *bad_normals(system), *axes(system)]
    return template(found, 0.005, fraction / fastest_rate(system))


def relational_templates(system: TemplateSystem, dynamics: list[Flow]) -> Iterator[Template]:
    """Short chains from the bad directions with decaying chains from guards and invariants
    that relate several variables: where variables grow without bound, as speeds and distances
    may, their differences often do not."""
    relations = [normal for normal in model_normals(system) if np.count_nonzero(normal) > 1]
    if not relations:
        return
    short = chain_template(system, dynamics, SHORT)
    decaying = _decaying(relations, dynamics, 0.5)
    yield template([*short.matrix, *decaying], SHORT.merge, short.step)


def decaying_chains(system: TemplateSystem, dynamics: list[Flow], fraction: float) -> list[Array]:
    """Decaying chains from the bad directions, in both senses."""
    return _decaying(both_senses(bad_normals(system)), dynamics, fraction)


def _decaying(starts: list[Array], dynamics: list[Flow], fraction: float) -> list[Array]:
    """Chains whose step is a fraction of the longest with which they do not grow:
    |1 + t l| < 1 for every eigenvalue l with a negative real part."""
    found: list[Array] = []
    for flow in dynamics:
        step = fraction * _longest_stable_step(flow.state)
        for start in starts:
            check_time()
            last = start
            for _ in range(LONGEST_CHAIN):
                found.append(last)
                last = last + step * (flow.state.T @ last)
                if np.abs(last).max() < DECAYED * np.abs(start).max():
                    break
    return found


def _longest_stable_step(matrix: Array) -> float:
    eigenvalues = np.linalg.eigvals(matrix)
    limits = [-2 * v.real / abs(v) ** 2 for v in eigenvalues if v.real < -1e-6]
    return float(min(limits, default=1.0))


def outline_template(
    system: TemplateSystem,
    runs: SampledRuns,
    step: float,
    edges: int,
    others: Sequence[Array] = (),
) -> Template:
    """In each location the outlines of the sampled points there, plane by plane."""
    own = partial(outline_normals, edges=edges)
    return _data_template(system, runs, step, others, own, 0.4 / edges)


def facet_template(
    system: TemplateSystem, runs: SampledRuns, step: float, others: Sequence[Array]
) -> Template:
    """In each location the facets of a polytope between the sampled points there."""
    own = partial(facet_normals, most=MOST_FACETS)
    return _data_template(system, runs, step, others, own, SHORT.merge)


def _data_template(
    system: TemplateSystem,
    runs: SampledRuns,
    step: float,
    others: Sequence[Array],
    normals: Callable[[Array], list[Array]],
    merge: float,
) -> Template:
    """In each location what its sampled points suggest; common directions everywhere."""
    common = [*bad_normals(system), *model_normals(system), *axes(system), *others]
    made = template(common, 0.005, step)
    rows = {location: set(made.rows) for location in system.locations}
    directions = list(common)
    for location in system.locations:
        points = runs.points([location])
        if points is not None and len(points) > 2:
            own = normals(points)
            rows[location] |= set(template(own, merge, step).rows)
            directions.extend(own)
    return assigned(directions, rows, step)


def piece_templates(
    system: TemplateSystem, runs: SampledRuns, phases: Mapping[str, list[Array]]
) -> Iterator[Template]:
    """Templates for a system with pieces: decaying chains and their tilts, outlines, chains
    over the phases of the given locations, and short chains."""
    dynamics = list(distinct_dynamics(system))
    step = 0.5 / fastest_rate(system)
    chains = list(template(decaying_chains(system, dynamics, 0.5), 0.15, step).matrix)
    yield tilted_template(system, runs, step, dict.fromkeys(phases, chains))
    yield outline_template(system, runs, step, 8)
    yield tilted_template(system, runs, step, phases)
    yield chain_template(system, dynamics, SHORT)


def tilted_template(
    system: TemplateSystem, runs: SampledRuns, step: float, bases: Mapping[str, list[Array]]
) -> Template:
    """In each piece the bases of its location and their tilts; elsewhere the bases alone."""
    common = [*bad_normals(system), *axes(system)]
    rows: dict[str, set[tuple[Fraction, ...]]] = {}
    directions: list[Array] = []
    for name in system.locations:
        whole = system.pieces[name].location if name in system.pieces else name
        level = [*common, *bases[whole]]
        own = [*level, *tilted(system, runs, name, level)]
        rows[name] = set(template(own, 0.02, step).rows)
        directions.extend(own)
    return assigned(directions, rows, step)


def assigned(
    directions: list[Array], rows: Mapping[str, set[tuple[Fraction, ...]]], step: float
) -> Template:
    """One template with the rows that each location uses."""
    whole = template(directions, 0.0, step)
    only = {
        location: np.array([row in chosen for row in whole.rows])
        for location, chosen in rows.items()
    }
    kept = np.any(list(only.values()), axis=0)
    chosen_rows = tuple(row for row, keep in zip(whole.rows, kept, strict=True) if keep)
    return Template(
        chosen_rows, whole.matrix[kept], step, {name: flags[kept] for name, flags in only.items()}
    )


def template(directions: list[Array], merge: float, step: float) -> Template:
    """The directions scaled to a largest entry of 1, rounded, near-duplicates merged."""
    kept: list[Array] = []
    for direction in directions:
        check_time()
        size = float(np.abs(direction).max(initial=0.0))
        if not np.isfinite(size) or size < 1e-9:
            continue
        scaled = direction / size
        spend(RATIONAL * len(direction) * (1 + len(kept) / 100))
        if not kept or np.abs(np.array(kept) - scaled).max(axis=1).min() > merge:
            kept.append(scaled)
    rows = tuple(tuple(_entry(float(v)) for v in d) for d in kept)
    matrix = np.array([[float(v) for v in row] for row in rows])
    return Template(rows, matrix, step)


def _entry(value: float) -> Fraction:
    """A fraction with a small denominator if it is very close; else on the grid."""
    simple = Fraction(value).limit_denominator(SIMPLE)
    close = abs(float(simple) - value) <= CLOSE_ENTRIES
    return simple if close else Fraction(round(value * GRID), GRID)


def bad_normals(system: TemplateSystem) -> list[Array]:
    """The inner normals of the rows that define the bad sets themselves.

    A bad set also lists the invariant's rows; those are told apart by being rows of the
    location's flow domain, with the same bound.
    """
    n = len(system.names)
    domains: dict[str, set[tuple[float, ...]]] = {}
    for flow in system.flows:
        known = domains.setdefault(flow.location, set())
        known.update(map(tuple, _with_bounds(flow.domain, n)))
    return _unique(
        [
            -row[:n]
            for location, bad in system.bad
            for row in _with_bounds(bad, n)
            if np.any(row[:n]) and tuple(row) not in domains.get(location, set())
        ]
    )


def _with_bounds(polyhedron: Polyhedron, n: int) -> list[Array]:
    """The rows over the variables, each with its bound, scaled to a largest entry of 1."""
    matrix = polyhedron.matrix[:, :n]
    sizes = np.abs(matrix).max(axis=1, initial=0.0)
    sizes = np.where(sizes > 0, sizes, 1.0)
    return list(np.hstack([matrix, polyhedron.bound[:, None]]) / sizes[:, None])


def both_senses(normals: list[Array]) -> list[Array]:
    """The directions and their opposites."""
    return [sign * normal for sign in (1.0, -1.0) for normal in normals]


def model_normals(system: TemplateSystem) -> list[Array]:
    """The normals of invariants and guards, in both senses."""
    n = len(system.names)
    rows: list[Array] = []
    for flow in system.flows:
        rows.extend(_scaled(flow.domain.matrix[:, :n]))
    for switch in system.switches:
        only_before = ~np.any(switch.relation.matrix[:, n:], axis=1)
        rows.extend(_scaled(switch.relation.matrix[only_before, :n]))
    return _unique([sign * row for row in rows if np.any(row) for sign in (1.0, -1.0)])


def axes(system: TemplateSystem) -> list[Array]:
    """The coordinate directions, in both senses."""
    identity = np.eye(len(system.names))
    return [sign * row for row in identity for sign in (1.0, -1.0)]


def _chain(start: Array, dynamics: Array, step: float, length: int) -> list[Array]:
    """start, (I + step A')start, ... each scaled to a largest entry of 1."""
    check_time()
    result = [start]
    for _ in range(length):
        last = result[-1]
        following = last + step * (dynamics.T @ last)
        size = float(np.abs(following).max())
        if size < 1e-9:
            break
        result.append(following / size)
    return result


def frozen_dynamics(flow: Flow) -> Array | None:
    """The dynamics with every variable at rest that the invariant clamps: it has a bound of
    its own there, and its derivative is only known to lie in a range."""
    n = len(flow.constant)
    clamped = [
        j
        for j in range(n)
        if np.any(flow.rest[j]) and not np.any(flow.state[j]) and _has_own_bound(flow, j)
    ]
    if not clamped:
        return None
    frozen: Array = flow.state.copy()
    frozen[:, clamped] = 0.0
    frozen[clamped, :] = 0.0
    return frozen


def _has_own_bound(flow: Flow, j: int) -> bool:
    others = np.delete(flow.domain.matrix, j, axis=1)
    return bool(np.any((flow.domain.matrix[:, j] != 0) & ~np.any(others, axis=1)))


def distinct_dynamics(system: TemplateSystem) -> Iterator[Flow]:
    """The flows, of those with the same matrix the first."""
    seen: list[Array] = []
    for flow in system.flows:
        if not any(np.array_equal(flow.state, other) for other in seen):
            seen.append(flow.state)
            yield flow


def fastest_rate(system: TemplateSystem) -> float:
    """The largest magnitude of an eigenvalue; 1 where all are zero."""
    rates = [float(np.abs(np.linalg.eigvals(flow.state)).max(initial=0.0)) for flow in system.flows]
    return max([*rates, 1e-3]) if any(rate > 1e-9 for rate in rates) else 1.0


def _scaled(matrix: Array) -> list[Array]:
    sizes = np.abs(matrix).max(axis=1, initial=0.0)
    return [row / size if size > 0 else row for row, size in zip(matrix, sizes, strict=True)]


def _unique(rows: list[Array]) -> list[Array]:
    kept: dict[tuple[float, ...], Array] = {tuple(row): row for row in rows}
    return list(kept.values())
