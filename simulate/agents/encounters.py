"""What a composition is to agents with clocks of their own: groups, and their encounters."""

from __future__ import annotations

from workbench.models.agents.composition import Product
from workbench.models.automaton import Constraint, EventKind
from workbench.models.expressions.expression import Expression
from workbench.models.record import record


@record
class Group:
    """Components that share a clock, as a product of their own."""

    name: str
    automaton: Product


@record
class Side:
    """A group that may take part in an encounter, with its variables in the order of slots."""

    group: int
    variables: tuple[str, ...]


@record
class Encounter:
    """A condition on two groups: an interaction with resets, or bad states of a property.

    It is watched on all unordered pairs of `first` (in the order of the groups' numbers), or
    on each of `first` with each of `second`; it speaks of the variables named in `slots`,
    those of the one and of the other.
    """

    name: str
    condition: Expression
    event: EventKind
    slots: tuple[tuple[str, ...], tuple[str, ...]]
    first: tuple[Side, ...]
    second: tuple[Side, ...] | None
    resets: tuple[Constraint, ...] = ()
    claim: bool = False


@record
class Grouping:
    """A composition as groups, what happens between two of them, and the bad states (by the
    property's name) that are looked for at jumps only."""

    groups: tuple[Group, ...]
    encounters: tuple[Encounter, ...]
    at_jumps: tuple[tuple[str, Expression], ...]
