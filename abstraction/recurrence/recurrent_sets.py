"""Entry sets to which all stays return: the offsets that no link exceeds.

Following the stays of all entry sets (`followed_stays`) gives links h_i >= factors * h +
constant. Offsets that satisfy all of them are found by one linear program; since every link is
an upper bound of what stays really do, the sets found are closed, up to links of steps that
were not met before. Following them again gives tighter links, and so on (policies from above);
while the program has no solution the offsets grow to what was seen, and in the end rows that
cannot be held are given up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from workbench.abstraction.recurrence.entry_sets import EntrySet, Origin
from workbench.abstraction.recurrence.followed_stays import Followed, Link, follow
from workbench.abstraction.recurrence.stay_view import Array, Stays
from workbench.reach.programs.sparse_program import SparseProgram
from workbench.reach.sets.support import SupportOracle

FAR = 1e7
"""Offsets beyond this many times what was seen are none."""
MOST_ROUNDS = 16
GROWTHS = 4
"""So often sets grow without a solution before rows are given up."""
SLACK = 1e-6
"""What links get on top for rounding, relative to the size of the offsets."""
CLOSED = 1e-8
MEET_BAD = "stays that begin in the least closed entry sets meet bad states"
GAIN = 1e-3
"""Tighter links that gain less than this, relative to the size, are not followed again."""


@dataclass
class Recurrence:
    """Entry sets that are closed (as far as floating point can tell) or why there are none;
    `depth` is how deep their stays reach into bad states, at most 1."""

    entries: list[EntrySet]
    followed: list[Followed] = field(default_factory=list)
    reason: str = ""
    depth: float = 0.0


def start_offsets(stays: Stays, entries: Sequence[EntrySet]) -> None:
    """Set the least offsets: those that the initial states need."""
    n = len(stays.names)
    for entry in entries:
        entry.floor = np.full(len(entry.normals), -np.inf)
        for start in stays.starts if entry.origin is None else ():
            if start.location != entry.view.location:
                continue
            matrix, bound = start.relation.matrix, start.relation.bound
            oracle = SupportOracle(matrix, bound)
            for q, normal in enumerate(entry.matrix):
                objective = np.zeros(matrix.shape[1])
                objective[n : 2 * n] = normal
                supported = oracle(objective)
                if supported is not None:
                    entry.floor[q] = max(entry.floor[q], supported.value)
        entry.offsets = entry.floor.copy()


def closed_sets(entries: list[EntrySet], stop: Callable[[], bool]) -> Recurrence:
    """Let the entry sets grow until stays return to them and, if they can, miss bad states.
    Sets that only grew are no larger than the least closed ones; once their stays meet bad
    states, those of all closed sets with these normals do."""
    targets = _targets(entries)
    last = np.inf
    growths = 0
    from_below = all(np.array_equal(e.offsets, e.floor) for e in entries)
    for _ in range(MOST_ROUNDS):
        followed = [Followed() if e.empty else follow(e, targets, stop) for e in entries]
        links = [link for f in followed for link in f.links]
        depth = max((d for f in followed for _, d in f.unsafe), default=0.0)
        size = _size(entries)
        excess = max((_excess(link) for link in links), default=0.0)
        if depth and from_below:
            return Recurrence(entries, followed, MEET_BAD, depth)
        if excess <= CLOSED * size:
            total = float(sum(_finite(e.offsets).sum() for e in entries if not e.empty))
            if not depth or last - total <= GAIN * size:
                return Recurrence(entries, followed, MEET_BAD if depth else "", depth)
            last = total
        entered = any(link.target.empty for link in links)
        solved = None if entered else _solved(entries, links, size)
        if solved is None:
            _grow(links)
            continue
        offsets, loose = solved
        if not loose:
            from_below = False
            for entry, found in zip(entries, offsets, strict=True):
                entry.offsets = found
        elif growths < GROWTHS:
            growths += 1
            _grow(links)
        else:
            growths = 0
            from_below = False
            for entry, row in loose:
                entry.offsets[row] = np.inf
    return Recurrence(entries, reason="the entry sets did not settle", depth=1.0)


def _targets(entries: Sequence[EntrySet]) -> dict[Origin, list[EntrySet]]:
    found: dict[Origin, list[EntrySet]] = {}
    for entry in entries:
        found.setdefault(entry.origin, []).append(entry)
    return found


def _finite(offsets: Array) -> Array:
    found: Array = offsets[np.isfinite(offsets)]
    return found


def _size(entries: Sequence[EntrySet]) -> float:
    return max(1.0, *(float(np.abs(_finite(e.offsets)).max(initial=1.0)) for e in entries))


def _excess(link: Link) -> float:
    held = link.target.offsets[link.row]
    return 0.0 if held == np.inf else link.value - float(held)


def _grow(links: Sequence[Link]) -> None:
    """Raise the offsets to what was seen; rows without a bound are given up."""
    for target in {id(link.target): link.target for link in links}.values():
        target.offsets = target.offsets.copy()
    for link in links:
        offsets = link.target.offsets
        offsets[link.row] = max(offsets[link.row], link.value)


def _solved(
    entries: Sequence[EntrySet], links: Sequence[Link], size: float
) -> tuple[list[Array], list[tuple[EntrySet, int]]] | None:
    """The least offsets that satisfy the links, and the rows for which there are none."""
    if any(link.value == np.inf for link in links):
        return None
    far = FAR * size
    program = SparseProgram()
    known = [e for e in entries if not e.empty]
    offsets: dict[tuple[int, int], int] = {}
    loose: dict[tuple[int, int], int] = {}
    for entry in known:
        for q in np.flatnonzero(np.isfinite(entry.offsets)):
            key = id(entry), int(q)
            offsets[key] = program.unknown(max(float(entry.floor[q]), -far), far, 1.0)
            loose[key] = program.unknown(0.0, np.inf, 1e4)
    for link in links:
        key = id(link.target), link.row
        row = {
            offsets[id(link.source), int(q)]: float(link.factors[q])
            for q in np.flatnonzero(np.abs(link.factors) > 1e-12)
        }
        rigid = row == {offsets[key]: 1.0} or _passed_on(link)
        row[offsets[key]] = row.get(offsets[key], 0.0) - 1.0
        row[loose[key]] = -1.0
        program.row(row, -link.constant - (0.0 if rigid else SLACK * size))
    solution = program.solve()
    if solution is None:
        return None
    found: list[Array] = []
    unheld: list[tuple[EntrySet, int]] = []
    for entry in entries:
        values = entry.offsets.copy()
        for number in range(len(values)):
            place = id(entry), number
            if place in offsets:
                values[number] = solution[offsets[place]]
                if solution[loose[place]] > 1e-7 * size:
                    unheld.append((entry, number))
        found.append(values)
    return found, unheld


def _passed_on(link: Link) -> bool:
    """Whether a link only hands the bound of one row on to one just like it."""
    (used,) = np.nonzero(np.abs(link.factors) > 1e-9)
    return (
        len(used) == 1
        and abs(link.factors[used[0]] - 1.0) < 1e-9
        and abs(link.constant) < 1e-9
        and link.source.normals[used[0]] == link.target.normals[link.row]
    )
