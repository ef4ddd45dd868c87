"""The fleet: agents that advance on clocks of their own, and the pairs that may meet.

Every agent has a path, a polynomial of each of its variables; the compiled core makes the
steps, always of the most lagging agent, and looks for meetings on the overlap of paths, until
something is due: a meeting of two agents, or the end of an agent's own stretch. A condition
on pairs that differ only in names is compiled once (a *shape*) and watched on all of them (a
*layer*). From conditions such as `(a.x - b.x)^2 + (a.y - b.y)^2 <= r^2` necessary bounds on
the distance of single coordinates are read off, so that agents that are further apart are
skipped: by a grid of cells in space and slices of time, then by boxes (exactly: nothing is
missed by this). Near a meeting the steps of both agents are agreed (see `core/foresee.c`).
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from workbench.models.automaton import TIME, Constraint, Range, primed
from workbench.models.expressions.expression import ZERO, Expression, variable
from workbench.models.expressions.operators import Op
from workbench.models.expressions.traversal import free_variables, rebuild, with_arguments
from workbench.models.record import record
from workbench.simulate.agents.distances import FIRST, SECOND, distance_bounds
from workbench.simulate.agents.encounters import Encounter, Side
from workbench.simulate.jump import Jump
from workbench.simulate.stepping.methods import Method
from workbench.simulate.stepping.program import Program, compile_program
from workbench.simulate.stepping.stretch import Stretch

_fleet: Any
try:
    from workbench.simulate import _fleet  # type: ignore[attr-defined,no-redef]
except ImportError:  # not built: agents then run with one clock
    _fleet = None

Slots = Mapping[str, tuple[int, int]]
"""Whose variable a slot is (0: of the agent with the smaller number), and which."""


def is_available() -> bool:
    """Whether agents can have clocks of their own: this needs the compiled core."""
    return _fleet is not None


class Meeting(NamedTuple):
    """When which two agents meet (by number, the smaller first), in which layer."""

    time: float
    first: int
    second: int
    layer: int


@dataclass(slots=True)
class Layer:
    """An encounter as it is watched on some pairs; its jump is compiled when it happens."""

    encounter: Encounter
    slots: Slots
    jump: Jump | None = None


@record
class _Kind:
    """Agents alike: the numbers of the slots' variables, and which of these are discrete."""

    places: tuple[int, ...]
    discrete: tuple[bool, ...]


class Fleet:
    """Agents given by their variables' names; which of these are discrete."""

    def __init__(
        self,
        agents: Sequence[Sequence[str]],
        discrete: frozenset[str],
        method: Method,
        symbols: Mapping[str, int],
        externals: Mapping[str, Callable[..., float]],
    ):
        self.discrete, self.symbols, self.externals = discrete, symbols, externals
        self.layers: list[Layer] = []
        self._places = [{n: i for i, n in enumerate(agent)} for agent in agents]
        self._core = _fleet.fleet(array("i", [len(a) for a in agents]), method.options)
        self._known: dict[object, int] = {}
        first, second = canonical_names(max(map(len, agents), default=0))
        self._canonical = frozenset(first + second)

    # What is watched

    def watch(self, encounter: Encounter) -> None:
        """Look for an encounter on all its pairs."""
        ones = self._alike(encounter.first)
        others = ones if encounter.second is None else self._alike(encounter.second)
        for one, first in ones.items():
            for other, second in others.items():
                self._watch(encounter, (one, first), (other, second), False)
                if encounter.second is not None:
                    self._watch(encounter, (one, first), (other, second), True)

    def _alike(self, sides: Sequence[Side]) -> dict[_Kind, array[int]]:
        found: dict[_Kind, array[int]] = {}
        for side in sides:
            places = self._places[side.group]
            kind = _Kind(
                tuple([places[n] for n in side.variables]),
                tuple([n in self.discrete for n in side.variables]),
            )
            found.setdefault(kind, array("i")).append(side.group)
        return found

    def _watch(
        self,
        encounter: Encounter,
        one: tuple[_Kind, array[int]],
        other: tuple[_Kind, array[int]],
        swapped: bool,
    ) -> None:
        """Watch the pairs in which the one has the smaller number, or the larger."""
        before, after = (other[1], one[1]) if swapped else (one[1], other[1])
        if min(before) >= max(after):
            return
        slots = {n: (int(swapped), i) for n, i in zip(encounter.slots[0], one[0].places)}  # noqa: B905
        slots |= {n: (1 - swapped, i) for n, i in zip(encounter.slots[1], other[0].places)}  # noqa: B905
        discrete = one[0].discrete, other[0].discrete
        key = (
            encounter.name,
            encounter.claim,
            _structure(encounter.condition, slots),
            tuple(_reset_structures(encounter.resets, slots)),
            discrete,
        )
        number = self._known.get(key)
        if number is None:
            kinds = dict(zip(encounter.slots[0], discrete[0], strict=True))
            kinds.update(zip(encounter.slots[1], discrete[1], strict=True))
            shape = self._compile(encounter, slots, kinds)
            rank = len(self.layers) + (0 if encounter.claim else 1_000_000)
            number = self._known[key] = _fleet.layer(self._core, shape, rank)
            self.layers.append(Layer(encounter, slots))
        _fleet.pairs(self._core, number, before, after)

    def _compile(self, encounter: Encounter, slots: Slots, discrete: Mapping[str, bool]) -> int:
        names = {n: _canonical_name(slot) for n, slot in slots.items()}
        condition = _renamed(encounter.condition, names)
        used = free_variables(condition) - {TIME}
        moving: list[list[int]] = [[], []]
        held: list[list[int]] = [[], []]
        for name, (side, i) in sorted(slots.items(), key=lambda item: item[1]):
            if names[name] in used:
                (held if discrete[name] else moving)[side].append(i)
        program = compile_program(
            flowing=_named(moving),
            held=_named(held),
            flows=[ZERO] * (len(moving[0]) + len(moving[1])),
            watches=[(condition, encounter.event)],
            symbols=self.symbols,
            externals=self.externals,
        )
        near = distance_bounds([condition])
        number: int = _fleet.shape(
            self._core,
            program.compiled,
            (len(moving[0]), len(moving[1]), len(held[0]), len(held[1])),
            array("i", [*moving[0], *moving[1], *held[0], *held[1]]),
            array("i", [i for pair in near for i in pair]),
            array("d", near.values()),
        )
        return number

    def jump(self, layer: int) -> Jump:
        """The resets of an interaction of two agents, over canonical names."""
        found = self.layers[layer]
        if found.jump is None:
            names = {n: _canonical_name(slot) for n, slot in found.slots.items()}
            resets = _renamed_resets(found.encounter.resets, names)
            pairs = [(c.variable, c.range) for c in resets]
            known = self._canonical
            found.jump = Jump(pairs, known, self.symbols, self.externals, known)
        return found.jump

    # A run

    def begin(self, foresee: bool, record: bool) -> None:
        """Begin a new run: whether agents agree on steps, and steps are recorded."""
        _fleet.begin(self._core, foresee, record)

    def depart(
        self,
        agent: int,
        program: Program,
        t: float,
        goal: float,
        longest: float,
        x: Sequence[float],
        held: Sequence[float],
        watches: Sequence[int],
        flowing: array[int],
        values: Sequence[float],
    ) -> None:
        """Begin a stretch of an agent (see `simulate.stepping.engine.Stepper`) with steps not above
        `longest`; `flowing` gives the place of each of its variables among those that flow, or
        -1, `values` all values."""
        _fleet.depart(
            self._core, agent, program.compiled, t, goal, longest, array("d", x), array("d", held),
            array("i", watches), flowing, array("d", values),
        )  # fmt: skip

    def retire(self, agent: int) -> None:
        """An agent makes no more steps."""
        _fleet.retire(self._core, agent)

    def run(self) -> Meeting | int | None:
        """Make steps until a meeting is due, or the end of an agent's stretch (its number);
        None when nothing is left to do."""
        due = _fleet.run(self._core)
        return Meeting(*due) if isinstance(due, tuple) else due

    def stretch(self, agent: int) -> Stretch:
        """The stretch of an agent that has ended."""
        return Stretch.of(_fleet.stretch(self._core, agent))

    def cut(self, agent: int, t: float) -> tuple[Stretch, int]:
        """The stretch of an agent up to t, and how many steps are taken back by that."""
        found, cancelled = _fleet.cut(self._core, agent, t)
        return Stretch.of(found), cancelled

    def records(self) -> Iterator[tuple[int, bool, float, float, float]]:
        """Every step: agent, whether it was agreed, start, end, distance of the clocks."""
        for agent, agreed, start, end, spread in _fleet.records(self._core):
            yield agent, bool(agreed), start, end, spread

    @property
    def looks(self) -> int:
        """How many pairs were looked at closely so far."""
        return int(_fleet.looks(self._core))


def canonical_names(count: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names of so many variables of the first and of the second agent of a pair."""
    sides = [tuple(_canonical_name((side, i)) for i in range(count)) for side in (0, 1)]
    return sides[0], sides[1]


def _canonical_name(slot: tuple[int, int]) -> str:
    return f"{SECOND if slot[0] else FIRST} {slot[1]}"


def _named(numbers: list[list[int]]) -> list[str]:
    return [f"{FIRST} {i}" for i in numbers[0]] + [f"{SECOND} {i}" for i in numbers[1]]


def _structure(root: Expression, slots: Slots) -> object:
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


def _reset_structures(resets: Sequence[Constraint], slots: Slots) -> Iterator[object]:
    both = {**slots, **{primed(n): (slot, "after") for n, slot in slots.items()}}
    for reset in resets:
        yield both.get(reset.variable, reset.variable)
        for bound in (reset.range.low, reset.range.high):
            yield None if bound is None else _structure(bound, both)  # type: ignore[arg-type]


def _renamed(root: Expression, names: Mapping[str, str]) -> Expression:
    def change(node: Expression, args: tuple[Expression, ...]) -> Expression:
        if node.op is Op.VARIABLE:
            plain = node.name.removesuffix("'")
            new = names.get(plain)
            if new is None:
                return node
            return variable(new if plain == node.name else primed(new))
        return with_arguments(node, args)

    return rebuild(root, change)


def _renamed_resets(
    resets: Sequence[Constraint], names: Mapping[str, str]
) -> tuple[Constraint, ...]:
    found = []
    for reset in resets:
        given = reset.range
        low = None if given.low is None else _renamed(given.low, names)
        high = low
        if given.high is not given.low:
            high = None if given.high is None else _renamed(given.high, names)
        found.append(Constraint(names.get(reset.variable, reset.variable), Range(low, high)))
    return tuple(found)
