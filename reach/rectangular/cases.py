"""Conditions and resets with the discrete variables counted out: what is left at given values.

Most rows of a product of many components are the same at most values; what was made of them
for some values is kept by the numbers that it depends on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from workbench.models.linear import Rows
from workbench.reach.rectangular.layout import Layout, Placed, Seen
from workbench.reach.rectangular.moves import Values
from workbench.reach.rectangular.rows import Relation, Resolved
from workbench.reach.rectangular.split import Split


@dataclass(frozen=True, eq=False)
class Condition:
    """A conjunction, the `rows` of the linear view, as c + a*x >= 0: those that discrete values
    decide, and the others."""

    rows: Rows
    decided: tuple[Split, ...]
    undecided: tuple[Split, ...]
    _placed: dict[Values, Placed] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, rows: Rows, splits: Sequence[Split]) -> Condition:
        """The conjunction of rows, which say what the splits do."""
        decided = tuple(split for split in splits if not split.free)
        return cls(rows, decided, tuple(split for split in splits if split.free))

    def failing(self, values: Values) -> Split | None:
        """A row that no state with these discrete values satisfies; None if there is none."""
        for row in self.decided:
            value = row.at(values)
            if value < 0 or (row.strict and value == 0):
                return row
        return None

    def constants(self, values: Values) -> Values:
        """Of the undecided rows, at given discrete values."""
        return tuple([row.at(values) for row in self.undecided])

    def placed(self, values: Values, layout: Layout) -> Placed | None:
        """What is left at given discrete values, in the packs that know all names of a row;
        None if nothing is."""
        if self.failing(values) is not None:
            return None
        constants = self.constants(values)
        found = self._placed.get(constants)
        if found is None:
            found = self._placed[constants] = layout.placed(self.undecided, constants)
        return found


@dataclass(frozen=True, slots=True)
class Arrival:
    """What resets do: new values of the explicit variables, in their order, and images of
    those dimensions that do not stay as they are."""

    relation: Relation
    new_values: tuple[Split, ...]
    images: Mapping[str, Split]


@dataclass(frozen=True, eq=False)
class Case:
    """A jump's case, prepared for any values of the explicit variables."""

    edge: int
    case: int
    name: str
    target: str
    resolved: Resolved
    condition: Condition
    arrival: Arrival
    _seen: dict[tuple[Values, Values], Seen] = field(default_factory=dict, repr=False)

    def seen(self, values: Values, layout: Layout) -> Seen:
        """The jump as packs see it, at discrete values that do not rule it out."""
        constants = self.condition.constants(values)
        images = self.arrival.images
        shifts = tuple([image.value(values) for image in images.values()])
        found = self._seen.get((constants, shifts))
        if found is None:
            forms = {
                n: (shift, image) for (n, image), shift in zip(images.items(), shifts, strict=True)
            }
            found = self._seen[constants, shifts] = layout.seen(
                self.condition.undecided, constants, forms
            )
        return found
