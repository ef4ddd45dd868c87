"""`initially` and `forbidden`: sets of states of the whole system.

The conjuncts of `initially` are sorted by what they speak about: values and bounds of
constants, places of components, and everything else. Constants that get a value are
replaced by it everywhere; of the others the bounds become the range of a parameter.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from workbench.models.expressions.expression import (
    FALSE,
    TRUE,
    Expression,
    at_location,
    conjunction,
    variable,
)
from workbench.models.expressions.operators import Op
from workbench.models.expressions.traversal import conjuncts, free_variables, postorder, substitute
from workbench.models.interchange.spaceex_behaviour import Behaviour
from workbench.models.interchange.spaceex_components import refusal
from workbench.models.interchange.spaceex_config import ConfigEntry
from workbench.models.interchange.spaceex_formulas import read_condition, with_places
from workbench.models.interchange.spaceex_network import Network
from workbench.models.source import ModelError, Span

MAX_ROUNDS = 50
"""How often constants are replaced in the definitions of others before giving up; what is
left then stays a condition on parameters, which loses nothing."""


@dataclass(slots=True)
class InputBounds:
    """The closed interval that plain bounds leave to a name."""

    low: Fraction | None = None
    high: Fraction | None = None

    def meet(self, low: Fraction | None, high: Fraction | None) -> None:
        """Add bounds."""
        if low is not None:
            self.low = low if self.low is None else max(self.low, low)
        if high is not None:
            self.high = high if self.high is None else min(self.high, high)


@dataclass(slots=True)
class InitialStates:
    """`initially`, sorted: `values` of constants, `ranges` of the others, `assumption`
    about several of them, and `rest` about variables and places."""

    values: dict[str, Expression] = field(default_factory=dict)
    ranges: dict[str, InputBounds] = field(default_factory=dict)
    assumption: Expression = TRUE
    rest: tuple[Expression, ...] = ()


def read_states(network: Network, behaviours: list[Behaviour], entry: ConfigEntry) -> Expression:
    """A set of states: a condition on variables and places of components."""

    def resolve(name: str, span: Span | None) -> Expression:
        found = network.find(name) or network.by_position(name, span)
        if found is None:
            raise refusal(
                "unknown-name",
                f"{name!r} is no variable of {network.system.id!r}",
                span or entry.span,
                f"its variables are {', '.join(list(network.original)[:8])}",
            )
        return variable(found, span)

    def place(component: str, location: str, span: Span | None) -> Expression:
        found = _instance(network, behaviours, component, span)
        names = [stay.name for stay in found.stays]
        if network.notes is not None:
            location = network.notes.locations.get(location, location)
        if location not in names:
            known = ", ".join(names[:8])
            raise refusal(
                "unknown-location",
                f"{found.instance.path!r} has no location {location!r}",
                span,
                f"its locations are {known}",
            )
        return at_location(found.instance.path, location, span)

    return with_places(read_condition(entry, resolve), place)


def _instance(
    network: Network, behaviours: list[Behaviour], component: str, span: Span | None
) -> Behaviour:
    """The instance that `loc(component)` means: by path, by an end of the path that only
    one has, or the only one."""
    if len(behaviours) == 1 and component in ("", network.system.id):
        return behaviours[0]
    exact = [b for b in behaviours if b.instance.path == component]
    ends = [b for b in behaviours if b.instance.path.endswith("." + component)]
    found = exact or ends
    if len(found) != 1:
        known = ", ".join(b.instance.path for b in behaviours[:8])
        kind = "is not unique" if found else "is no base component of the system"
        raise refusal("unknown-component", f"loc({component}): {component!r} {kind}", span, known)
    return found[0]


def sort_initial(condition: Expression, constants: frozenset[str]) -> InitialStates:
    """Sort the conjuncts of `initially` by what they speak about."""
    sorted_ = InitialStates()
    parts = list(conjuncts(condition))
    for _ in range(MAX_ROUNDS):
        waiting: list[Expression] = []
        known = len(sorted_.values)
        for part in parts:
            for piece in conjuncts(substitute(part, sorted_.values)):
                value = _value(piece, constants)
                if value is None:
                    waiting.append(piece)
                else:
                    sorted_.values[value[0]] = value[1]
        parts = waiting
        if len(sorted_.values) == known:
            break
    rest = []
    for part in parts:
        names = free_variables(part)
        if not names or not names <= constants or has_places(part):
            rest.append(part)
            continue
        bound = plain_bound(part)
        if bound is None:
            sorted_.assumption = conjunction(sorted_.assumption, part)
        else:
            name, low, high = bound
            sorted_.ranges.setdefault(name, InputBounds()).meet(low, high)
    sorted_.rest = tuple(rest)
    return sorted_


def _value(part: Expression, constants: frozenset[str]) -> tuple[str, Expression] | None:
    """`name == number`, for a name that may be replaced."""
    if part.op is Op.EQUAL:
        for name, value in (part.args, part.args[::-1]):
            if name.op is Op.VARIABLE and name.name in constants and value.is_constant:
                return name.name, value
    return None


def plain_bound(part: Expression) -> tuple[str, Fraction | None, Fraction | None] | None:
    """`name <= number` or the like as (name, low, high); strict ones are no plain bounds."""
    if part.op not in (Op.LESS_EQUAL, Op.GREATER_EQUAL, Op.EQUAL):
        return None
    left, right = part.args
    flipped = left.is_constant
    name, number = (right, left) if flipped else (left, right)
    if name.op is not Op.VARIABLE or not number.is_constant:
        return None
    if part.op is Op.EQUAL:
        return name.name, number.constant, number.constant
    if (part.op is Op.LESS_EQUAL) != flipped:
        return name.name, None, number.constant
    return name.name, number.constant, None


def has_places(root: Expression) -> bool:
    """Whether a condition speaks about places of components."""
    return any(node.op is Op.AT for node in postorder(root))


def places_in(root: Expression) -> frozenset[str]:
    """The components whose places a condition speaks about."""
    return frozenset(node.place[0] for node in postorder(root) if node.op is Op.AT)


def empty_initial(span: Span | None) -> ModelError:
    """The error for a set of initial states that is plainly empty."""
    return refusal("empty-initial", "`initially` leaves no location to start in", span)


def disjuncts(root: Expression) -> tuple[Expression, ...]:
    """The parts of a disjunction; none for `FALSE`, the expression itself otherwise."""
    if root.op is Op.OR:
        return root.args
    return () if root == FALSE else (root,)
