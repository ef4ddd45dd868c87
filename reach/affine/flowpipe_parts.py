"""What a search for flowpipes deals with: its options, plans, nodes explored, and outcomes."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import takewhile
from math import ceil

from workbench.models.checker.adjoint import Stage
from workbench.models.checker.covers import Cover
from workbench.models.checker.flowpipe import Node, Step
from workbench.models.linear import Rows
from workbench.reach.affine.reduced_rows import ReducedRows
from workbench.reach.affine.step_choice import Fineness
from workbench.reach.affine.step_evidence import Key

Normal = Mapping[str, Fraction]
Path = tuple[tuple[int, int], ...]
"""How a node was first entered: the initial set and, within it, its case and cell; then for
each jump the number of its case and of the cluster."""

MAX_CELLS = 1 << 16

MARGIN = Fraction(1, 1 << 12)
"""How much longer than the window of a jump its own step is, relative to a usual step."""

SHORTER = 4
"""How much shorter steps that meet bad states are made."""


def start_path(number: int, case: int, cell: int) -> Path:
    """The path of a node that a run can begin in."""
    return ((-1 - number, case * MAX_CELLS + cell),)


def start_of(path: Path) -> tuple[int, int]:
    """The number of the initial set that a path begins in, and of its case."""
    return -1 - path[0][0], path[0][1] // MAX_CELLS


@dataclass(frozen=True)
class FlowpipeMethod:
    """Options: the length of a step (chosen if None), how many nodes, how many steps a node
    may have at most, how many successive steps share a successor (None: all), into how many
    cells the box of uncertain parameters is cut, and whether entry sets after jumps are measured
    in frames that move with the flow."""

    step: Fraction | None = None
    level: int = 0
    max_nodes: int = 5000
    max_steps: int = 20_000
    cluster: int | None = None
    cells: int = 1
    moves_frames: bool = False


@dataclass(frozen=True)
class NotFound:
    """No flowpipe that proves the property; `crossed` is the place where it touches the bad
    states, if that was the reason; `endless`: a stay was not seen to end."""

    reason: str
    crossed: tuple[str, Fraction, Fraction] | None = None
    nodes: int = 0
    steps: int = 0
    attempts: int = 1
    endless: bool = False

    @property
    def refinable(self) -> bool:
        """Whether shorter steps may help."""
        return self.crossed is not None or self.endless


@dataclass(frozen=True)
class Mark:
    """Between two elapsed times steps shall be no longer than `length`."""

    begin: Fraction
    end: Fraction
    length: Fraction


def split_steps(stages: Sequence[Stage], marks: Sequence[Mark]) -> tuple[Stage, ...]:
    """The steps, those that meet marks split into 2, 4, 8, ... equal parts. (Few different
    lengths are good: what steps of one length have in common is computed once.)"""
    if not marks:
        return tuple(stages)
    found: list[Stage] = []
    pending = deque(sorted(marks, key=lambda mark: (mark.begin, mark.end)))
    now = Fraction(0)
    for stage in stages:
        for _ in range(stage.count):
            end = now + stage.length
            while pending and pending[0].end <= now:
                pending.popleft()
            met = (mark for mark in _beginning_before(end, pending) if mark.end > now)
            shortest = min((mark.length for mark in met), default=stage.length)
            parts = 1
            while stage.length > shortest * parts:
                parts *= 2
            length = stage.length / parts
            if found and found[-1].length == length:
                found[-1] = Stage(length, found[-1].count + parts)
            else:
                found.append(Stage(length, parts))
            now = end
    return tuple(found)


def stages_around(
    windows: Iterable[tuple[Fraction, Fraction]], usual: Fraction, end: Fraction
) -> list[Stage]:
    """Steps of about the usual length to an end, with a short one around every narrow window in
    which a jump is possible."""
    margin = usual * MARGIN
    stages: list[Stage] = []
    now = Fraction(0)
    for window in sorted(windows):
        begin, finish = window[0] - margin, window[1] + margin
        if window[1] - window[0] > usual / 4 or begin <= now:
            continue
        count = ceil((begin - now) / usual)
        stages += [Stage((begin - now) / count, count), Stage(finish - begin, 1)]
        now = finish
    if end > now:
        count = ceil((end - now) / usual)
        stages.append(Stage((end - now) / count, count))
    return stages


def _beginning_before(end: Fraction, marks: Iterable[Mark]) -> Iterator[Mark]:
    return takewhile(lambda mark: mark.begin < end, marks)


@dataclass(frozen=True)
class Plan:
    """What refinement asks of the node on a path: further entry rows and directions, and for
    each direction the entry rows that help it at ends of steps; the steps, and where they
    shall be shorter."""

    rows: tuple[Normal, ...] = ()
    directions: tuple[Normal, ...] = ()
    helpers: Mapping[Key, Mapping[int, Key]] = field(default_factory=dict)
    fineness: Fineness | None = None
    stages: tuple[Stage, ...] = ()
    marks: tuple[Mark, ...] = ()


NO_PLAN = Plan()


@dataclass(frozen=True)
class JumpCase:
    """One case of an edge: its target and rows, those that can refute a step, and the
    directions of the source from which each row of a target can be bounded at once."""

    number: int
    name: str
    target: str
    rows: Rows
    at_entry: bool


@dataclass(frozen=True)
class MovedFrame:
    """Normals in which the states after a jump are narrow, the vector by which each takes part
    in the bounds of others, the normals before the jump, and when it is expected."""

    normals: tuple[Normal, ...]
    factors: tuple[Normal, ...]
    before: tuple[Normal, ...]
    window: tuple[Fraction, Fraction]


@dataclass
class Explored:
    """A node with the evidence for its steps, and where its jumps lead."""

    node: Node
    path: Path
    fineness: Fineness
    bounds: Mapping[Key, Fraction]
    """The constant of each entry row, by its direction."""
    marks: tuple[Mark, ...] = ()
    frames: Mapping[int, MovedFrame] = field(default_factory=dict)
    """Frames of what jumps lead to, by the numbers of their cases."""
    steps: list[Step] = field(default_factory=list)
    jumps: list[list[Cover | None]] = field(default_factory=list)
    safety: list[list[Cover]] = field(default_factory=list)
    end: list[Cover] = field(default_factory=list)
    leads: list[Lead] = field(default_factory=list)
    unsafe: list[tuple[int, int]] = field(default_factory=list)
    """Steps and cases of the bad states that they meet."""

    @property
    def unsafe_at_first(self) -> bool:
        """Whether a stay that begins the run meets bad states."""
        return bool(self.unsafe) and len(self.path) == 1


@dataclass(frozen=True)
class Lead:
    """A cluster of steps of a node, met by a guard while the elapsed time is in a window,
    from which a jump leads into another node; `rows` are those of its first step."""

    case: JumpCase
    window: tuple[Fraction, Fraction]
    rows: ReducedRows
    target: int
    fresh: bool
