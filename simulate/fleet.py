"""The paths of many agents, and the first times at which two of them meet.

Every agent has a path: a polynomial of each of its variables, valid in a window of time. A
`Shape` is what is watched on a pair: conditions over the variables of a first and a second
agent. Agents of one kind share their shapes: conditions that differ only in names are
compiled once. From conditions such as `(a.x - b.x)^2 + (a.y - b.y)^2 <= r^2` necessary bounds
on the distance of single coordinates are read off, so that pairs whose bounding boxes are
further apart are skipped (exactly: nothing is missed by this).
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from models.automaton import TIME, Constraint, EventKind, Range, primed
from models.expression import (
    COMPARISONS,
    ZERO,
    Expression,
    Op,
    free_variables,
    rebuild,
    subtract,
    variable,
    with_arguments,
)
from models.polynomial import Polynomial, PolynomialTooLargeError, polynomial_form
from simulate.condition import split_cases
from simulate.jump import Jump
from simulate.program import compile_program

_meeting: Any
try:
    from simulate import _meeting  # type: ignore[attr-defined,no-redef]
except ImportError:  # not built: agents then run with one clock
    _meeting = None

FIRST, SECOND = "1st", "2nd"
"""In the canonical names `1st 0`, `2nd 3`: whose variable, and its number in its agent."""


def is_available() -> bool:
    """Whether agents can have clocks of their own: this needs the compiled core."""
    return _meeting is not None


@dataclass(frozen=True, slots=True)
class Sight:
    """A condition on two agents, and its kind."""

    condition: Expression
    event: EventKind


class Meeting(NamedTuple):
    """When, with which other agent, and which sights (numbers in the order given to `watch`)
    of which shape are true then."""

    time: float
    other: int
    shape: int
    fired: tuple[int, ...]


class Fleet:
    """The paths of agents given by their variables' names; which of these are discrete."""

    def __init__(
        self,
        agents: Sequence[Sequence[str]],
        discrete: frozenset[str],
        rtol: float,
        atol: float,
        symbols: Mapping[str, int],
        externals: Mapping[str, Callable[..., float]],
    ):
        self.agents = [tuple(agent) for agent in agents]
        self.discrete = discrete
        self.symbols, self.externals = symbols, externals
        self._core = _meeting.fleet(array("i", [len(a) for a in agents]), rtol, atol)
        self._shapes: dict[object, int] = {}
        self._kinds = [tuple(n in discrete for n in agent) for agent in self.agents]
        self._jumps: dict[tuple[Constraint, ...], Jump] = {}
        self._canonical: dict[str, Expression] = {
            f"{who} {i}": variable(f"{who} {i}")
            for who in (FIRST, SECOND)
            for i in range(max(map(len, agents), default=0))
        }

    def watch(self, first: int, second: int, sights: Sequence[Sight]) -> int:
        """Look for these conditions (in the agents' own names) on a pair, first < second; the
        number of their shape."""
        slots = {n: (0, i) for i, n in enumerate(self.agents[first])}
        slots.update({n: (1, i) for i, n in enumerate(self.agents[second])})
        key = (
            tuple((_structure(s.condition, slots), s.event) for s in sights),
            self._kinds[first],
            self._kinds[second],
        )
        shape = self._shapes.get(key)
        if shape is None:
            renaming = self._renaming(first, second)
            canonical = tuple(Sight(_renamed(s.condition, renaming), s.event) for s in sights)
            shape = self._shapes[key] = self._compile(canonical, first, second)
        _meeting.pair(self._core, first, second, shape)
        return shape

    def jump(self, first: int, second: int, resets: Sequence[Constraint]) -> Jump:
        """The resets of an interaction of two agents, over canonical names."""
        canonical = _renamed_resets(resets, self._renaming(first, second))
        jump = self._jumps.get(canonical)
        if jump is None:
            pairs = [(c.variable, c.range) for c in canonical]
            known = frozenset(self._canonical)
            jump = self._jumps[canonical] = Jump(pairs, known, self.symbols, self.externals)
        return jump

    def _renaming(self, first: int, second: int) -> dict[str, Expression]:
        return {
            name: self._canonical[f"{who} {i}"]
            for who, agent in ((FIRST, first), (SECOND, second))
            for i, name in enumerate(self.agents[agent])
        }

    def move(
        self, agent: int, base: float, start: float, end: float, degree: int, c: array[float]
    ) -> None:
        """Set the path of an agent in a window: polynomials in the time since `base`, all of
        the same degree, variable by variable."""
        _meeting.move(self._core, agent, base, start, end, degree, c)

    def meetings(self, agent: int) -> list[Meeting]:
        """The first meeting in the overlap of the windows, for each shape that is watched on
        the agent and another one."""
        return [Meeting(*found) for found in _meeting.meetings(self._core, agent)]

    @property
    def looks(self) -> int:
        """How many pairs were looked at closely so far."""
        tests, _ = _meeting.work(self._core)
        return int(tests)

    def _compile(self, sights: tuple[Sight, ...], first: int, second: int) -> int:
        used = free_variables(*(s.condition for s in sights)) - {TIME}
        moving: list[list[int]] = [[], []]
        held: list[list[int]] = [[], []]
        for who, agent, side in ((FIRST, first, 0), (SECOND, second, 1)):
            for i, name in enumerate(self.agents[agent]):
                if f"{who} {i}" in used:
                    (held if name in self.discrete else moving)[side].append(i)
        program = compile_program(
            flowing=_named(moving),
            held=_named(held),
            flows=[ZERO] * (len(moving[0]) + len(moving[1])),
            watches=[(s.condition, s.event) for s in sights],
            symbols=self.symbols,
            externals=self.externals,
        )
        near = distance_bounds([s.condition for s in sights])
        number: int = _meeting.shape(
            self._core,
            program.compiled,
            (len(moving[0]), len(moving[1]), len(held[0]), len(held[1])),
            array("i", [*moving[0], *moving[1], *held[0], *held[1]]),
            array("i", [i for pair in near for i in pair]),
            array("d", near.values()),
        )
        return number


def _named(numbers: list[list[int]]) -> list[str]:
    return [f"{FIRST} {i}" for i in numbers[0]] + [f"{SECOND} {i}" for i in numbers[1]]


def _structure(root: Expression, slots: Mapping[str, tuple[int, int]]) -> object:
    """A value that is the same for expressions that differ only in whose variables they
    mention."""
    made: dict[int, int] = {}
    rows: list[object] = []
    stack = [root]
    while stack:
        node = stack[-1]
        if id(node) in made:
            stack.pop()
            continue
        missing = [a for a in node.args if id(a) not in made]
        if missing:
            stack += missing
            continue
        stack.pop()
        value: object = node.value
        if node.op is Op.VARIABLE:
            value = slots.get(node.name, value)
        made[id(node)] = len(rows)
        rows.append((node.op, value, *[made[id(a)] for a in node.args]))
    return tuple(rows)


def _renamed(root: Expression, renaming: Mapping[str, Expression]) -> Expression:
    def change(node: Expression, args: tuple[Expression, ...]) -> Expression:
        if node.op is Op.VARIABLE:
            plain = node.name.removesuffix("'")
            new = renaming.get(plain)
            if new is None:
                return node
            return new if plain == node.name else variable(primed(new.name))
        return with_arguments(node, args)

    return rebuild(root, change)


def _renamed_resets(
    resets: Sequence[Constraint], renaming: Mapping[str, Expression]
) -> tuple[Constraint, ...]:
    found = []
    for reset in resets:
        given = reset.range
        low = None if given.low is None else _renamed(given.low, renaming)
        high = low
        if given.high is not given.low:
            high = None if given.high is None else _renamed(given.high, renaming)
        new = renaming.get(reset.variable)
        name = reset.variable if new is None else new.name
        found.append(Constraint(name, Range(low, high)))
    return tuple(found)


# Necessary distances


def distance_bounds(conditions: Sequence[Expression]) -> dict[tuple[int, int], float]:
    """For pairs of coordinates (of the first agent, of the second): the largest distance at
    which one of the conditions can be true. Over-approximation; empty where nothing is known.
    """
    found: list[dict[tuple[int, int], float]] = [_bounds_of(c) for c in conditions]
    return _either(found)


def _either(cases: Sequence[dict[tuple[int, int], float]]) -> dict[tuple[int, int], float]:
    common = set(cases[0]).intersection(*cases[1:]) if cases else set()
    return {pair: max(case[pair] for case in cases) for pair in sorted(common)}


def _bounds_of(condition: Expression) -> dict[tuple[int, int], float]:
    """Bounds that a condition implies: all of a conjunction's, the common ones of a
    disjunction's."""
    made: dict[int, dict[tuple[int, int], float]] = {}
    stack = [(split_cases(condition), False)]
    root = stack[0][0]
    while stack:
        node, ready = stack.pop()
        if node.op in (Op.AND, Op.OR) and not ready:
            stack.append((node, True))
            stack.extend((a, False) for a in node.args)
        elif node.op is Op.AND:
            joined: dict[tuple[int, int], float] = {}
            for part in node.args:
                for pair, radius in made[id(part)].items():
                    joined[pair] = min(radius, joined.get(pair, math.inf))
            made[id(node)] = joined
        elif node.op is Op.OR:
            made[id(node)] = _either([made[id(a)] for a in node.args])
        else:
            made[id(node)] = _bounds_of_comparison(node)
    return made[id(root)]


def _bounds_of_comparison(node: Expression) -> dict[tuple[int, int], float]:
    if node.op not in COMPARISONS or node.op in (Op.EQUAL, Op.NOT_EQUAL):
        return {}
    left, right = node.args
    if node.op in (Op.GREATER, Op.GREATER_EQUAL):
        left, right = right, left
    try:
        form = polynomial_form(subtract(left, right))
    except PolynomialTooLargeError:
        return {}
    return _sum_of_squares(form) if form else {}


def _sum_of_squares(form: Polynomial) -> dict[tuple[int, int], float]:
    """Bounds from sum of w*(p - q)^2 - c <= 0 with w > 0, c >= 0."""
    rest = dict(form)
    c = -rest.pop((), Fraction(0))
    found: dict[tuple[int, int], float] = {}
    for monomial in [m for m in rest if len(m) == 2]:
        (p, one), (q, other) = monomial
        first, second = (p, q) if p.startswith(FIRST) else (q, p)
        if one != 1 or other != 1 or not first.startswith(FIRST) or not second.startswith(SECOND):
            return {}
        w = -rest.pop(monomial) / 2
        if w <= 0 or rest.pop(((p, 2),), None) != w or rest.pop(((q, 2),), None) != w:
            return {}
        pair = (int(first.split()[1]), int(second.split()[1]))
        found[pair] = math.sqrt(max(c, Fraction(0)) / w) * (1 + 1e-9) + 1e-9
    return {} if rest else found
