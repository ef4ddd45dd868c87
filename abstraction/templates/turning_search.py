"""Template invariants with directions that learn: turn, solve, keep what recedes from bad sets.

The least inductive set of a template is computed whether it meets bad sets or not. While it
does, its directions are turned by a linear program that predicts, to first order, how far the
set recedes (`turned_directions`). A turn that keeps its promise is followed by a larger one;
after one that does not, a smaller one is tried from where it began.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from workbench.abstraction.templates.directions import Template
from workbench.abstraction.templates.image_bounds import Setting
from workbench.abstraction.templates.invariant import (
    TOUCHING,
    Missed,
    OutOfTime,
    Strategy,
    TemplateSearch,
    finished,
    least_invariant,
    search_setting,
    solved,
    with_runs,
)
from workbench.abstraction.templates.sampled_runs import SampledRuns
from workbench.abstraction.templates.system import Array, TemplateSystem
from workbench.abstraction.templates.turned_directions import turned_template
from workbench.models.checker.covers import Region

FIRST_TURN, LEAST_TURN = 0.05, 1e-3
"""By how much directions may be turned in the first round, and when to give up."""
GAIN = 0.01
"""A round that gains less than this part of the depth counts as none."""


def find_by_turning(
    system: TemplateSystem,
    template: Template,
    search: TemplateSearch,
    runs: SampledRuns | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> tuple[Region, ...] | Missed:
    """Regions that are inductive and miss the bad sets, as far as floating point can tell, with
    the template's directions turned round by round."""
    current: _Reached | None = None
    turn = FIRST_TURN
    strategy: Strategy = {}
    for _ in range(search.turns):
        reached = _reached(system, template, search, runs, stop, strategy)
        if isinstance(reached, Missed):
            return reached
        if reached.depth < -TOUCHING * reached.setting.size:
            return finished(reached.setting, reached.offsets, search, stop)
        if not reached.held and current is None:
            return Missed("its least inductive polyhedron is unbounded towards bad states")
        if current is None or reached.improves(current):
            current, turn = reached, 1.5 * turn
        else:
            turn = turn / 3
        turned = turned_template(current.setting, current.offsets, turn, stop)
        if stop():
            return OutOfTime("the search was ended")
        if turned is None or turn < LEAST_TURN:
            break
        template = turned.template
        strategy = {
            turned.rows[row]: k for row, k in current.strategy.items() if row in turned.rows
        }
    where = "no direction can be turned to keep it away from bad states"
    return Missed(f"its least inductive polyhedron reaches bad states, and {where}")


@dataclass(frozen=True)
class _Reached:
    """The least inductive set of a template, how deep it reaches into bad sets, and whether
    rows of it keep it from reaching deeper."""

    setting: Setting
    offsets: Array
    strategy: Strategy
    depth: float
    held: bool

    def improves(self, other: _Reached) -> bool:
        """Whether it reaches less deep, by more than a trifle."""
        return self.held and self.depth < other.depth - GAIN * abs(other.depth)


def _reached(
    system: TemplateSystem,
    template: Template,
    search: TemplateSearch,
    runs: SampledRuns | None,
    stop: Callable[[], bool],
    strategy: Strategy,
) -> _Reached | Missed:
    """The least inductive set, beginning with a strategy that may be close to the last."""
    setting = search_setting(system, template, search)
    offsets = with_runs(setting, runs)
    if strategy:
        offsets = solved(setting, strategy, offsets, search, stop)
    least = least_invariant(setting, offsets, search, stop, strategy, avoid_bad=False)
    if isinstance(least, Missed):
        return least
    found = setting.bad_bounds(least)
    worst = max(found, key=lambda bad: bad.depth, default=None)
    if worst is None:
        return _Reached(setting, least, strategy, -np.inf, True)
    return _Reached(setting, least, strategy, worst.depth, bool(np.any(worst.factors)))
