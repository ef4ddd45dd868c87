"""Stays followed step by step from an entry set: where they jump, end, or meet bad states.

On each step the states are those with r x <= line(s) for all directions r, s in [0, 1] the part
of the step that has passed. What a jump makes of them, largest in a direction d of the entry set
that it leads to, is a linear program; with its multipliers y held that value is at most

    max over the ends of the step of  sum_r y_r bound_r(h) + constant,

so every such program yields two *links*: affine lower limits of one offset by others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from workbench.abstraction.recurrence.entry_sets import EntrySet, Origin, Supports, SupportsOf
from workbench.abstraction.recurrence.stay_view import Array, Condition
from workbench.reach.sets.support import Supported, SupportOracle

INSIDE = 1e-9
UNITS = 1e-12


@dataclass(frozen=True)
class Link:
    """offsets[row] of the target must be at least factors * offsets of the source + constant;
    `value` is the largest value seen, on step `step` of the source."""

    target: EntrySet
    row: int
    source: EntrySet
    factors: Array
    constant: float
    value: float
    step: int


@dataclass
class Followed:
    """What became of the stays that begin in an entry set: links, steps that meet bad states
    and how deep, the number of steps followed, and whether stays are over then (if not, they
    are to begin again in their own entry set)."""

    links: list[Link] = field(default_factory=list)
    unsafe: list[tuple[int, float]] = field(default_factory=list)
    steps: int = 0
    ended: bool = False
    used: set[tuple[int, int]] = field(default_factory=set)
    """Moments and directions whose bounds something rests on."""


class Moment(Enum):
    """At which moments of a step a condition is asked about."""

    ANY = (0.0, 1.0)
    BEGIN = (0.0, 0.0)
    END = (1.0, 1.0)


class Interrupted(Exception):  # noqa: N818 - control flow, not an error
    """The time is over."""


def follow(
    entry: EntrySet,
    targets: Mapping[Origin, Sequence[EntrySet]],
    stop: Callable[[], bool],
) -> Followed:
    """Follow the stays of an entry set; `targets` are the entry sets of each jump."""
    found = Followed()
    supports = SupportsOf(entry)
    view = entry.view
    now = supports.at(0)
    for k in range(entry.count):
        if stop():
            raise Interrupted
        following = supports.at(k + 1)
        step = _Step(entry, k, now, following, found)
        found.steps = k + 1
        for jump in view.jumps:
            rows = step.within(jump.relation, Moment.BEGIN if jump.at_entry else Moment.ANY)
            if rows is not None:
                for target in targets[jump.source, jump.number]:
                    step.link(target, rows, jumped=True)
        for bad, at_entry in view.bad:
            if (depth := step.depth(bad, Moment.BEGIN if at_entry else Moment.ANY)) > 0:
                found.unsafe.append((k, depth))
        cases = (step.within(case, Moment.END) for case in view.staying)
        at_end = [rows for rows in cases if rows is not None]
        if not at_end:
            found.ended = True
            return found
        now = following
    for rows in at_end:
        step.link(entry, rows, jumped=False)
    return found


@dataclass
class _Rows:
    """A program over (x, ..., s): the lines of the directions that have bounds (`lines` of
    them), two bounds of s, then the rows of a condition."""

    matrix: Array
    bound: Array


class _Step:
    """One step of an entry set's stays."""

    def __init__(
        self, entry: EntrySet, number: int, now: Supports, following: Supports, found: Followed
    ):
        assert entry.curves is not None
        self.entry, self.number, self.found = entry, number, found
        self.supports = now, following
        charges = entry.charges[number]
        begin, end = now.values + charges[0], following.values + charges[1]
        self.bounded = np.flatnonzero(np.isfinite(begin) & np.isfinite(end))
        self.begin, self.end = begin[self.bounded], end[self.bounded]
        self.normals = entry.directions[self.bounded]
        self.scaled = entry.scaled[self.bounded]
        self.boxed = np.maximum(now.boxed + charges[0], following.boxed + charges[1])[self.bounded]

    def within(self, condition: Condition, moment: Moment = Moment.ANY) -> _Rows | None:
        """The rows of the step with those of a condition; None if they have no solution."""
        if moment is Moment.BEGIN and self.number:
            return None
        if self._missed(condition, moment):
            return None
        n, count = self.normals.shape[1], len(self.bounded)
        width = condition.matrix.shape[1]
        matrix = np.zeros((count + 2 + len(condition.bound), width + 1))
        matrix[:count, :n] = self.normals
        matrix[:count, -1] = self.begin - self.end
        matrix[count, -1], matrix[count + 1, -1] = 1.0, -1.0
        matrix[count + 2 :, :-1] = condition.matrix
        early, late = moment.value
        bound = np.concatenate([self.begin, [late, -early], condition.bound])
        relaxed = np.zeros((len(matrix), 1))
        relaxed[count + 2 :] = 1.0
        # By how much the condition can hold: a negative number has multipliers that show why.
        supported = SupportOracle(np.hstack([matrix, relaxed]), bound)(np.eye(width + 2)[-1])
        if supported is not None and supported.value < -INSIDE:
            self._note(supported.multipliers)
            return None
        return _Rows(matrix, bound)

    def _missed(self, condition: Condition, moment: Moment) -> bool:
        """Whether one direction alone contradicts a row of the condition."""
        n = self.normals.shape[1]
        plain = ~np.any(condition.matrix[:, n:], axis=1)
        rows, bounds = condition.matrix[plain, :n], condition.bound[plain]
        most = np.maximum(*(self.begin if s == 0 else self.end for s in moment.value))
        for row, bound in zip(rows, bounds, strict=True):
            size = np.abs(row).max(initial=0.0)
            if size > 0:
                alike = np.abs(self.scaled + row / size).max(axis=1) < UNITS
                for i in np.flatnonzero(alike):
                    factor = size / np.abs(self.normals[i]).max()
                    if factor * most[i] < -bound - INSIDE * max(1.0, abs(bound)):
                        if not factor * self.boxed[i] < -bound:
                            self._use(int(self.bounded[i]))
                        return True
        return False

    def depth(self, bad: Condition, moment: Moment) -> float:
        """By how much strict rows of a bad set can hold, at most 1; 0 if it is missed."""
        rows = self.within(bad, moment)
        if rows is None:
            return 0.0
        count = len(self.bounded) + 2
        strict = np.concatenate([np.zeros(count), bad.strict])
        matrix = np.hstack([rows.matrix, strict[:, None]])
        last = np.zeros((1, matrix.shape[1]))
        last[0, -1] = 1.0
        oracle = SupportOracle(np.vstack([matrix, last]), np.append(rows.bound, 1.0))
        supported = oracle(last[0])
        if supported is None or supported.value <= INSIDE:
            return 0.0
        self._note(supported.multipliers)
        return float(supported.value)

    def link(self, target: EntrySet, rows: _Rows, *, jumped: bool) -> None:
        """Links to every row of a target, in which stays begin after a jump or go on."""
        n = self.normals.shape[1]
        first = n if jumped else 0
        matrix, bound = rows.matrix, rows.bound
        for number, level in target.slab:
            inside = np.zeros((1, matrix.shape[1]))
            inside[0, first : first + n] = target.matrix[number]
            matrix, bound = np.vstack([matrix, inside]), np.append(bound, level)
        oracle = SupportOracle(matrix, bound)
        for q in np.flatnonzero(target.offsets < np.inf):
            objective = np.zeros(matrix.shape[1])
            objective[first : first + n] = target.matrix[q]
            supported = oracle(objective)
            if supported is None:
                return
            self.found.links.extend(self._links(target, int(q), supported, bound))

    def _links(
        self, target: EntrySet, q: int, supported: Supported, bound: Array
    ) -> Iterator[Link]:
        width = len(self.entry.offsets)
        if not np.isfinite(supported.value):
            zero = np.zeros(width)
            yield Link(target, q, self.entry, zero, np.inf, np.inf, self.number)
            return
        self._note(supported.multipliers)
        count = len(self.bounded)
        weights = supported.multipliers[:count]
        other = float(supported.multipliers[count + 2 :] @ bound[count + 2 :])
        charges = self.entry.charges[self.number]
        for side, supports in enumerate(self.supports):
            constant = weights @ (supports.rest + charges[side])[self.bounded] + other
            factors = weights @ supports.factors[self.bounded]
            yield Link(target, q, self.entry, factors, constant, supported.value, self.number)

    def _note(self, multipliers: Array) -> None:
        for i in self.bounded[multipliers[: len(self.bounded)] > INSIDE]:
            self._use(int(i))

    def _use(self, direction: int) -> None:
        self.found.used |= {(self.number, direction), (self.number + 1, direction)}
