"""Room for rounding: offsets a little larger than the least, wherever that does no harm.

What is found in floating point is rounded to rationals, and its rows must then still hold their
images. Where bounds are handed on in circles without any loss, there is no room for that, and
those rows have to stay as they are; all others may exceed their images. Which are which is
decided by one linear program: the bounds of the least offsets are kept, each with as much slack
as all of them together allow.
"""

from __future__ import annotations

import numpy as np

from workbench.abstraction.templates.image_bounds import NEGLIGIBLE, RIGID, Setting
from workbench.abstraction.templates.system import Array
from workbench.reach.programs.sparse_program import SparseProgram

FARTHEST = 1e3
"""How far offsets may rise, in units of the slack, so that others have theirs."""
DEAR = 1e-4
"""What a rise costs, compared with what slack is worth."""
POLISHED = 3
"""So often every bound is gone through again, for the program's answer is a little inexact."""
SHARES = ((0.01, 100.0), (0.99, 1.0))
"""Parts of the slack of a bound, and their worth: some for all comes before much for a few."""


def with_room(setting: Setting, offsets: Array, slack: float) -> Array | None:
    """Offsets from `offsets` upwards that exceed as many images as they can by up to `slack` and
    meet no bad state; None where floating point finds none."""
    bounds = setting.bounds(offsets)
    if any(not np.isfinite(bound.constant) for bound in bounds):
        return None
    program = SparseProgram()
    rises = {
        (int(g), int(i)): program.unknown(0.0, FARTHEST, DEAR)
        for g, i in zip(*np.nonzero(np.isfinite(offsets)), strict=True)
    }
    for bound in bounds:
        factors = {rises[bound.target]: -1.0}
        used = np.flatnonzero(bound.factors > NEGLIGIBLE)
        for q in used:
            rise = rises[bound.source, int(q)]
            factors[rise] = factors.get(rise, 0.0) + float(bound.factors[q])
        if len(used) and bound.factors[bound.target[1]] <= 1 - RIGID:
            for part, worth in SHARES:
                factors[program.unknown(0.0, part, -worth)] = 1.0
        program.row(factors, (float(offsets[bound.target]) - bound.value(offsets)) / slack)
    for bad in setting.bad_bounds(offsets):
        used = np.flatnonzero(bad.factors)
        factors = {rises[bad.group, int(q)]: float(bad.factors[q]) for q in used}
        program.row(factors, -min(bad.depth, 0.0) / 2 / slack)
    solution = program.solve()
    if solution is None:
        return None
    found = offsets.copy()
    for row, rise in rises.items():
        found[row] += slack * solution[rise]
    for _ in range(POLISHED):
        for bound in bounds:
            found[bound.target] = max(found[bound.target], bound.value(found))
    return found
