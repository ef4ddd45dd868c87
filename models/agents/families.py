"""Events of many alike pairs: kept as one pattern, unrolled only for those who ask.

An interaction declared once for the pairs of five hundred agents stands for 124,750 events
that differ in names alone. A `Family` keeps the pattern and the partners; `Unrolled` is the
sequence of all events of an agent or a composition, families and single ones, in order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations, islice, product
from typing import Generic, Protocol, TypeVar, overload

from workbench.models.automaton import primed
from workbench.models.expressions.expression import Expression, variable
from workbench.models.expressions.pattern import Pattern
from workbench.models.record import record

MAX_PAIRS = 1_000_000
"""How many events one family may stand for."""


class Event(Protocol):
    """An event between two partners."""

    def expressions(self) -> Sequence[Expression]:
        """The conditions and values that it has."""

    def between(
        self: Shape,
        participants: tuple[str, str],
        names: Mapping[str, str],
        change: Callable[[Expression], Expression],
    ) -> Shape:
        """The same event for other partners: names replaced one to one, also (by `change`)
        in its expressions."""


Shape = TypeVar("Shape", bound=Event)


@record
class Partner:
    """One who may take part: its path, and its variables in the order of the slots."""

    path: str
    variables: tuple[str, ...]


@record
class Family(Generic[Shape]):
    """The events of all pairs: of every unordered pair of `first`, or, with `second`, of each
    of `first` with each of `second`.

    `pattern` speaks of the variables named in `slots`, those of the one and of the other
    partner. No variable fills two slots of a pair, so that what is said of the pattern
    (simultaneous resets, simplifications) holds of every event.
    """

    pattern: Shape
    slots: tuple[tuple[str, ...], tuple[str, ...]]
    first: tuple[Partner, ...]
    second: tuple[Partner, ...] | None = None

    def __len__(self) -> int:
        count = len(self.first)
        return count * (count - 1) // 2 if self.second is None else count * len(self.second)

    def __iter__(self) -> Iterator[Shape]:
        slots = self.slots[0] + self.slots[1]
        pattern = Pattern(self.pattern.expressions(), [*slots, *map(primed, slots)])
        for one, other in self.pairs():
            new = one.variables + other.variables
            variables = [variable(name) for name in (*new, *map(primed, new))]
            names = dict(zip(slots, new, strict=True))
            yield self.pattern.between((one.path, other.path), names, pattern.filled(variables))

    def pairs(self) -> Iterator[tuple[Partner, Partner]]:
        """Who meets whom, in order."""
        if self.second is None:
            return combinations(self.first, 2)
        return product(self.first, self.second)

    @property
    def is_proper(self) -> bool:
        """Whether the partners have no variable in common, and none twice."""
        names = [n for p in (*self.first, *(self.second or ())) for n in p.variables]
        return len(set(names)) == len(names)


class Unrolled(Sequence[Shape]):
    """Single events and families as one sequence of events, unrolled where it is looked at."""

    def __init__(self, parts: Iterable[Shape | Family[Shape]] = ()):
        self.parts = tuple(parts)
        self._known: tuple[Shape, ...] | None = None

    def __iter__(self) -> Iterator[Shape]:
        if self._known is not None:
            yield from self._known
            return
        found: list[Shape] = []
        for part in self.parts:
            for event in part if isinstance(part, Family) else (part,):
                found.append(event)
                yield event
        self._known = tuple(found)

    def __len__(self) -> int:
        return sum(len(p) if isinstance(p, Family) else 1 for p in self.parts)

    @overload
    def __getitem__(self, index: int) -> Shape: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Shape]: ...
    def __getitem__(self, index: int | slice) -> Shape | Sequence[Shape]:
        if isinstance(index, slice):
            _, stop, step = index.indices(len(self))
            return tuple(islice(self, stop if step > 0 else None))[index]
        place = index if index >= 0 else len(self) + index
        for event in islice(self, max(place, 0), None):
            if place >= 0:
                return event
        raise IndexError(index)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Unrolled) and self.parts == other.parts:
            return True
        return isinstance(other, Unrolled | tuple) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"Unrolled({self.parts!r})"


def parts_of(events: Sequence[Shape]) -> Sequence[Shape | Family[Shape]]:
    """The families and single events of a sequence."""
    return events.parts if isinstance(events, Unrolled) else events
