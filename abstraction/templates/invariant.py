"""Template invariants: the smallest offsets h that make {H x <= h} inductive.

h must satisfy h_i >= F_k,i(h) for every image k that row i has to contain (`image_bounds`).
Each F_k,i is concave and increasing in h, so the least solution is found by *strategy
iteration* from below. A strategy chooses for each row one image that still exceeds it; with
the strategy fixed the system is concave, and a few policies (dual multipliers held fixed, one
linear program each) descend to its solution, however far a first guess overshoots. The result
never exceeds the least invariant with these directions: once it meets a bad set, the template
has failed for good, and when no image exceeds it, it is the least invariant.

All of this is floating point and untrusted: the result is rounded to rationals and proved
exactly by `reach.evidence` and the trusted checker.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from workbench.abstraction.templates.directions import Template
from workbench.abstraction.templates.image_bounds import Bound, RowKey, Setting, setting_of
from workbench.abstraction.templates.policy import least_offsets, unholdable
from workbench.abstraction.templates.room import with_room
from workbench.abstraction.templates.sampled_runs import SampledRuns
from workbench.abstraction.templates.system import Array, Piece, TemplateSystem
from workbench.models.checker.covers import Region
from workbench.models.linear import Form

OFFSET_GRID = 10**6
SIMPLE, SIMPLEST = 100, 20
"""The largest denominators of simple fractions: of those that are met exactly, and of those that
are met nearly."""
SLACK = 1e-5
"""A margin, relative to the size of h, that leaves room for rounding to rationals; without it
only exact numbers survive the rounding, but some invariants have no room at all."""
TOUCHING = 1e-8
"""A strict bad set whose states are all closer than this to its edge counts as missed; the
exact proof decides."""
SETTLED = 1e-6
"""Changes of offsets below this, relative to their size, are none."""
NEARLY_SETTLED = 2e-5
"""How far offsets that grow slowly may be from where they would settle."""


@dataclass(frozen=True)
class TemplateSearch:
    """How to look: `shared` uses one polyhedron for all locations; `euler_fraction` is tau in
    units of the template's own step."""

    shared: bool = True
    euler_fraction: float = 0.1
    strategies: int = 60
    policies: int = 12
    climbs: int = 5
    longest_jump: float = 100.0
    turns: int = 12
    shared_room: bool = True
    """Whether slack is shared out (`room`), or the same for all rows or none."""


@dataclass(frozen=True)
class Missed:
    """The template does not prove it: why, in a phrase."""

    reason: str


class OutOfTime(Missed):
    """The search was ended before the template was found to do or not to do."""


Strategy = dict[RowKey, int]
"""The image that each row follows; rows that are missing rest on their lower limit."""


def find_invariant(
    system: TemplateSystem,
    template: Template,
    search: TemplateSearch,
    runs: SampledRuns | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> tuple[Region, ...] | Missed:
    """Regions that are inductive and miss the bad sets, as far as floating point can tell."""
    setting = search_setting(system, template, search)
    least = least_invariant(setting, with_runs(setting, runs), search, stop, {})
    return least if isinstance(least, Missed) else finished(setting, least, search, stop)


def search_setting(system: TemplateSystem, template: Template, search: TemplateSearch) -> Setting:
    """The images of a system, grouped as the search wants it."""
    group = {name: 0 if search.shared else k for k, name in enumerate(system.locations)}
    return setting_of(system, template, group, template.step * search.euler_fraction)


def finished(
    setting: Setting, least: Array, search: TemplateSearch, stop: Callable[[], bool]
) -> tuple[Region, ...]:
    """The regions, with some slack where there is room; where there is none, with simple offsets:
    then bounds are handed on from the model's own numbers without any loss."""
    room = SLACK * setting.size
    found = with_room(setting, least, room) if search.shared_room else None
    if found is None:
        setting.slack = room
        roomy = least_invariant(setting, least, search, stop, {})
        found = _simplified(setting, least) if isinstance(roomy, Missed) else roomy
    return _regions(setting, _sliced(setting, found))


def _simplified(setting: Setting, offsets: Array) -> Array:
    """The offsets, those that have nearly settled at simple fractions there."""
    found = offsets.copy()
    for row in zip(*np.nonzero(np.isfinite(offsets)), strict=True):
        value = float(offsets[row])
        simple = float(Fraction(value).limit_denominator(SIMPLEST))
        if abs(simple - value) <= NEARLY_SETTLED * max(setting.size, abs(value)):
            found[row] = simple
    return found


def least_invariant(
    setting: Setting,
    offsets: Array,
    search: TemplateSearch,
    stop: Callable[[], bool],
    strategy: Strategy,
    avoid_bad: bool = True,
) -> Array | Missed:
    """The least offsets from `offsets` upwards that hold all images (strategy iteration);
    with `avoid_bad` none once they meet a bad state."""
    for _ in range(search.strategies):
        if stop():
            return OutOfTime("the search was ended")
        where = setting.meets_bad(offsets, TOUCHING * setting.size) if avoid_bad else None
        if where is not None:
            return Missed(f"its least inductive polyhedron reaches bad states in {where}")
        bounds = setting.bounds(offsets)
        if not _improved(setting, strategy, bounds, offsets):
            return offsets
        grown = np.maximum(offsets, _grown(offsets, bounds))
        offsets = solved(setting, strategy, grown, search, stop)
    return Missed("no end of the strategy iteration")


def with_runs(setting: Setting, runs: SampledRuns | None) -> Array:
    """The starting offsets, raised to hold the sampled points."""
    offsets = setting.start.copy()
    if runs is None:
        return offsets
    for g in range(len(offsets)):
        locations = [name for name, k in setting.group.items() if k == g]
        seen = runs.supports(locations, setting.template.matrix)
        offsets[g] = np.maximum(offsets[g], seen)
    return offsets


def _improved(setting: Setting, strategy: Strategy, bounds: list[Bound], offsets: Array) -> bool:
    """Let every row that is exceeded follow the image that exceeds it most."""
    best: dict[RowKey, tuple[float, int]] = {}
    for bound in bounds:
        value = bound.value(offsets)
        if value > offsets[bound.target] + SETTLED * setting.size:
            best[bound.target] = max(best.get(bound.target, (-np.inf, 0)), (value, bound.image))
    strategy.update({row: image for row, (_, image) in best.items()})
    return bool(best)


def solved(
    setting: Setting,
    strategy: Strategy,
    low: Array,
    search: TemplateSearch,
    stop: Callable[[], bool],
) -> Array:
    """The solution above `low` of the concave system that the strategy chooses; rows that
    have none become infinite, and the others begin again: they may have followed those far up."""
    offsets, growth = low, np.zeros_like(low)
    climbs = settling = 0
    while settling < search.policies and not stop():
        wanted = [(image, row) for row, image in strategy.items()]
        bounds = setting.bounds(offsets, wanted)
        solution = least_offsets(setting, bounds, offsets, low)
        if solution is None and climbs < search.climbs:
            climbs += 1
            grown = _grown(offsets, bounds)
            before, growth = growth, _difference(grown, offsets)
            offsets = grown + _jump(growth, before, search.longest_jump)
            continue
        if solution is None:
            for row in unholdable(setting, bounds, offsets, low):
                offsets[row] = low[row] = np.inf
                strategy.pop(row, None)
            offsets, growth, climbs = low.copy(), np.zeros_like(low), 0
            continue
        settling += 1
        change = float(np.abs(_difference(solution, offsets)).max(initial=0.0))
        offsets = solution
        if change <= SETTLED * setting.size:
            break
    return offsets


def _sliced(setting: Setting, offsets: Array) -> Array:
    """Only the rows on which the exclusion of the bad sets rests: those that show it, and
    those that the bounds of such rows use."""
    uses: dict[RowKey, set[RowKey]] = {}
    for bound in setting.bounds(offsets):
        rows = {(bound.source, int(q)) for q in np.flatnonzero(bound.factors)}
        uses.setdefault(bound.target, set()).update(rows)
    needed: set[RowKey] = set()
    pending = list(setting.excluding_rows(offsets))
    while pending:
        row = pending.pop()
        if row not in needed:
            needed.add(row)
            pending.extend(uses.get(row, set()))
    kept = np.where(offsets == -np.inf, offsets, np.inf)
    for row in needed:
        kept[row] = offsets[row]
    return kept


def _grown(offsets: Array, bounds: list[Bound]) -> Array:
    """The offsets raised to hold every image."""
    grown = offsets.copy()
    for bound in bounds:
        grown[bound.target] = max(grown[bound.target], bound.value(offsets))
    return grown


def _difference(grown: Array, offsets: Array) -> Array:
    finite = np.isfinite(grown) & np.isfinite(offsets)
    return np.where(finite, np.where(finite, grown, 0.0) - np.where(finite, offsets, 0.0), 0.0)


def _jump(growth: Array, before: Array, longest: float) -> Array:
    """Where geometric growth would end, for each row; far along where it does not end."""
    ratio = np.where(before > 0, growth / np.where(before > 0, before, 1.0), 1.0).clip(0.0, 1.0)
    factor = np.minimum(ratio / np.maximum(1.0 - ratio, 1e-12), longest)
    return growth * factor


# Results


def _regions(setting: Setting, offsets: Array) -> tuple[Region, ...]:
    """The polyhedra with rational offsets, one region for each location that has states."""
    regions: list[Region] = []
    pieces = setting.system.pieces
    for location in setting.system.locations:
        h = offsets[setting.group[location]]
        if np.any(h == -np.inf):
            continue
        predicates = tuple(
            Form(
                {v: a for v, a in zip(setting.system.names, row, strict=True) if a != 0},
                -_rational(float(value)),
            )
            for row, value in zip(setting.template.rows, h, strict=True)
            if np.isfinite(value)
        )
        piece = pieces.get(location, Piece(location, (), Fraction(0)))
        exits, forms = len(piece.exits), (*piece.exits, *predicates)
        cell = (1,) * len(forms)
        region = Region(piece.location, forms, (cell,), (), tuple(range(exits)), piece.margin)
        regions.append(region)
    return tuple(regions)


def _rational(value: float) -> Fraction:
    """A fraction with a small denominator if one is very close, which it then is where there is no
    room for another; else the next number above on the grid."""
    exact = Fraction(value)
    for simple in (
        exact.limit_denominator(SIMPLE),
        Fraction(round(value * OFFSET_GRID), OFFSET_GRID),
    ):
        if abs(simple - exact) <= 1e-9 * max(1.0, abs(value)):
            return simple
    return Fraction(int(np.ceil(value * OFFSET_GRID)), OFFSET_GRID)
