"""Stretches of time: template polyhedra that move, each within its own interval of the clock.

While `begin` <= time <= `end` the states of a location satisfy rows d x <= h + v time. With the
speeds v given (`row_speeds`) these are rows of a template over (x, time), so that their least
offsets h are found like those of any template invariant (`template_invariant`), in the system
whose runs start with the stretch and whose time is confined to it. A stretch without an end has
speed 0 everywhere: an inductive set.

Floating point, untrusted: what is found is proved exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from workbench.abstraction.templates import simple_rationals
from workbench.abstraction.templates.directions import Template
from workbench.abstraction.templates.image_bounds import RowKey, Setting, setting_of
from workbench.abstraction.templates.invariant import Missed, TemplateSearch, least_invariant
from workbench.abstraction.templates.system import Array, Polyhedron, Start, TemplateSystem
from workbench.abstraction.transients.row_speeds import headway, row_speeds
from workbench.models.automaton import TIME, primed
from workbench.models.checker.covers import Region
from workbench.models.linear import Form
from workbench.reach.sets.support import SupportOracle

SPEED_GRID, OFFSET_GRID = 10**4, 10**8
SLACK = 1e-5
"""Room for rounding to rationals, relative to the size of the offsets."""
EULER, MOVING_EULER = 0.1, 0.02
"""tau of inductive sets and of moving ones, in units of the template's own step; it is only a
multiplier."""
USED = 1e-10
"""Multipliers below this are rounding noise of the solver."""
SEARCH = TemplateSearch()


@dataclass(frozen=True)
class Stretch:
    """The polyhedra of one interval of time, one for each group of locations; `end` is None if
    they are kept for ever."""

    begin: Fraction
    end: Fraction | None
    setting: Setting
    offsets: Array

    def last_states(self) -> tuple[Start, ...]:
        """The states at the end, as the starts of what follows."""
        return tuple(
            Start(name, self._at_end(name))
            for name, g in self.setting.group.items()
            if not np.any(self.offsets[g] == -np.inf)
        )

    def _at_end(self, location: str) -> Polyhedron:
        """A relation over (x, x'): x' is in the location's polyhedron at the end and, where
        that has one case, in its invariant."""
        assert self.end is not None
        names = self.setting.system.names
        n, inside = len(names), self.offsets[self.setting.group[location]]
        known = np.flatnonzero(np.isfinite(inside))
        clock = np.zeros((2, n))
        clock[:, names.index(TIME)] = 1.0, -1.0
        matrix = [self.setting.template.matrix[known], clock]
        bound = [inside[known], np.array([float(self.end), -float(self.end)])]
        domains = [f.domain for f in self.setting.system.flows if f.location == location]
        if len(domains) == 1:
            alone = ~np.any(domains[0].matrix[:, n:], axis=1)
            matrix.append(domains[0].matrix[alone, :n])
            bound.append(domains[0].bound[alone])
        after = np.vstack(matrix)
        relation = np.hstack([np.zeros_like(after), after])
        return Polyhedron((*names, *map(primed, names)), relation, np.concatenate(bound))

    def needed(self, following: Stretch | None, wanted: set[RowKey]) -> set[RowKey]:
        """The rows on which safety rests during the stretch and, at its end, the wanted rows of
        what follows; and those that the bounds of such rows use."""
        uses: dict[RowKey, set[RowKey]] = {}
        for bound in self.setting.bounds(self.offsets):
            used = {(bound.source, int(q)) for q in np.flatnonzero(bound.factors)}
            uses.setdefault(bound.target, set()).update(used)
        pending = list(self.setting.excluding_rows(self.offsets))
        if following is not None:
            pending.extend(self._handed_over(following, wanted))
        found: set[RowKey] = set()
        while pending:
            row = pending.pop()
            if row not in found:
                found.add(row)
                pending.extend(uses.get(row, set()))
        return found

    def _handed_over(self, following: Stretch, wanted: set[RowKey]) -> Iterator[RowKey]:
        """The rows from which the wanted rows of the next stretch follow at the end."""
        n = len(self.setting.system.names)
        for start in self.last_states():
            g = self.setting.group[start.location]
            known = np.flatnonzero(np.isfinite(self.offsets[g]))
            oracle = SupportOracle(start.relation.matrix[:, n:], start.relation.bound)
            for group, i in wanted:
                if group == following.setting.group[start.location]:
                    supported = oracle(following.setting.template.matrix[i])
                    if supported is not None and len(supported.multipliers):
                        used = np.flatnonzero(supported.multipliers[: len(known)] > USED)
                        yield from ((g, int(known[q])) for q in used)

    def regions(self, needed: set[RowKey], margin: Fraction) -> Iterator[Region]:
        """The polyhedra with rational offsets and the needed rows only. Time leads out of them
        at the end, into the next ones at least `margin` before those end."""
        clock = Form({TIME: Fraction(1)})
        for location, g in self.setting.group.items():
            if np.any(self.offsets[g] == -np.inf):
                continue
            forms = [] if self.end is None else [clock - Form({}, self.end)]
            exits = tuple(range(len(forms)))
            forms.append(Form({}, self.begin) - clock)
            forms += [
                _form(self.setting, i, float(self.offsets[g, i]))
                for i in range(len(self.setting.template.rows))
                if (g, i) in needed and np.isfinite(self.offsets[g, i])
            ]
            cell = (1,) * len(forms)
            room = margin if exits else Fraction(0)
            yield Region(location, tuple(forms), (cell,), (), exits, room)


def stretch(
    system: TemplateSystem,
    base: Template,
    group: dict[str, int],
    interval: tuple[Fraction, Fraction | None],
    stop: Callable[[], bool],
) -> Stretch | Missed:
    """The least polyhedra of a stretch from the system's starts, or why there are none that
    miss the bad states. The base has no row about time."""
    begin, end = interval
    confined = _confined(system, begin, end)
    template, tau, ahead = base, base.step * EULER, 0.0
    if end is not None:
        tau = base.step * MOVING_EULER
        offsets = setting_of(confined, base, group, 1.0).start
        speeds = row_speeds(confined, base, group, offsets, tau)
        if speeds is None:
            return Missed("no speeds of its rows keep ahead of the flow")
        template = _moving(base, group, speeds, system.names.index(TIME))
        ahead = headway(speeds)
    setting = setting_of(confined, template, group, tau)
    setting.slack = tau * ahead / 4
    room = SLACK * setting.size
    rough = setting.start + np.where(np.isfinite(setting.start), room, 0.0)
    least = least_invariant(setting, rough, SEARCH, stop, {})
    if isinstance(least, Missed):
        return least
    if end is None:
        setting.slack = room
        roomy = least_invariant(setting, least, SEARCH, stop, {})
        least = least if isinstance(roomy, Missed) else roomy
    return Stretch(begin, end, setting, least)


def _moving(base: Template, group: dict[str, int], speeds: Array, clock: int) -> Template:
    """The rows d x - v time, for every group with speeds of its own, rounded upwards."""
    rows: list[tuple[Fraction, ...]] = []
    count = len(base.rows)
    for own in speeds:
        for row, speed in zip(base.rows, own, strict=True):
            exact = simple_rationals.on_grid(float(speed), SPEED_GRID)
            rows.append((*row[:clock], -exact, *row[clock + 1 :]))
    place = np.arange(len(rows)) // count
    only = {location: place == g for location, g in group.items()} if len(speeds) > 1 else {}
    matrix = np.array([[float(a) for a in row] for row in rows])
    return Template(tuple(rows), matrix, base.step, only)


def _confined(system: TemplateSystem, begin: Fraction, end: Fraction | None) -> TemplateSystem:
    """The system while the clock is in an interval."""
    clock = system.names.index(TIME)
    sides = [(-1.0, -float(begin))] + ([] if end is None else [(1.0, float(end))])

    def within(polyhedron: Polyhedron) -> Polyhedron:
        rows = np.zeros((len(sides), polyhedron.matrix.shape[1]))
        rows[:, clock] = [sign for sign, _ in sides]
        matrix = np.vstack([rows, polyhedron.matrix])
        bound = np.concatenate([[level for _, level in sides], polyhedron.bound])
        return Polyhedron(polyhedron.names, matrix, bound)

    return replace(
        system,
        flows=tuple(replace(f, domain=within(f.domain)) for f in system.flows),
        switches=tuple(replace(s, relation=within(s.relation)) for s in system.switches),
        bad=tuple((location, within(states)) for location, states in system.bad),
    )


def _form(setting: Setting, i: int, value: float) -> Form:
    """A row with its offset rounded upwards."""
    level = simple_rationals.on_grid(value, OFFSET_GRID)
    names, row = setting.system.names, setting.template.rows[i]
    return Form({v: a for v, a in zip(names, row, strict=True) if a}, -level)
