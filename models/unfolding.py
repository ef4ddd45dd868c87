"""Discrete values on which derivatives depend, as part of the locations.

Where a flow or an equation asks for a truth value or a symbol (`on ? 2 - x : -x`), a location has
one flow for each value. `unfold` gives a view of an automaton in which each location is taken
apart into one for each value of such variables, `heating {on = true}`. In the invariant of such a
location the variables have those values; flows, guards and what resets read are simpler by that. An
edge leads to every location whose values its resets allow.

Lemma. A run of the automaton is one of the view, each stay in the location that its values name,
and the other way round. For discrete variables do not change while time passes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

from workbench.models.automaton import (
    BOOL,
    Automaton,
    Constraint,
    Edge,
    Initial,
    Kind,
    Location,
    ValueType,
    Variable,
)
from workbench.models.automaton_view import AutomatonView
from workbench.models.expressions.expression import (
    FALSE,
    TRUE,
    Expression,
    conjunction,
    equal,
    symbol,
    variable,
)
from workbench.models.expressions.operators import Op
from workbench.models.expressions.traversal import free_variables, substitute

MAX_CASES = 16
"""A location is taken apart into so many at most; variables beyond that stay as they are."""

Values = Mapping[str, Expression]
"""The values of the variables that are unfolded."""


def unfold(automaton: Automaton) -> Automaton:
    """The automaton with discrete values in its locations, if derivatives depend on any."""
    if isinstance(automaton, Unfolded):
        return automaton
    chosen: list[Variable] = []
    cases = 1
    for deciding in _deciding(automaton):
        cases *= len(_values(deciding.type))
        if cases > MAX_CASES:
            break
        chosen.append(deciding)
    return Unfolded(automaton, tuple(chosen)) if chosen else automaton


def _deciding(automaton: Automaton) -> Iterator[Variable]:
    """The discrete variables of few values that flows or equations read."""
    read: set[str] = set()
    for part in automaton.components:
        for location in part.locations:
            for given in (*location.flows, *location.algebraic):
                ends = (given.range.low, given.range.high)
                read |= free_variables(*(end for end in ends if end is not None))
    for declared in automaton.variables:
        if declared.kind is Kind.DISCRETE and declared.name in read and _values(declared.type):
            yield declared


def _values(kind: ValueType) -> tuple[Expression, ...]:
    """The values of a type; none where symbols (of a model in JSON) might make two cases have one
    name."""
    if kind == BOOL:
        return FALSE, TRUE
    return tuple(map(symbol, kind.values)) if all(map(str.isidentifier, kind.values)) else ()


@dataclass(frozen=True)
class Unfolded(AutomatonView):
    """A view of `base` in which the values of some discrete variables are part of the
    locations."""

    base: Automaton
    unfolded: tuple[Variable, ...]

    def occupied(self, name: str) -> Mapping[str, str]:
        """Which location of the base each component is in, by component name."""
        return self.base.occupied(self.folded(name))

    def initial_sets(self) -> Iterator[Initial]:
        """Where runs may start, one location at a time."""
        for start in self.base.initial_sets():
            for suffix in self._cases:
                yield replace(start, location=start.location + suffix)

    def location(self, name: str) -> Location:
        """The location of that name."""
        values = self._values_in(name)
        place = self.base.location(self.folded(name))
        told = (equal(variable(n), value) for n, value in values.items())
        return replace(
            place,
            name=name,
            flows=tuple(_with(given, values) for given in place.flows),
            algebraic=tuple(_with(given, values) for given in place.algebraic),
            invariant=conjunction(substitute(place.invariant, values), *told),
        )

    def edges_from(self, name: str) -> tuple[Edge, ...]:
        """The edges that leave a location, in the base's order."""
        values = self._values_in(name)
        found: list[Edge] = []
        for edge in self.base.edges_from(self.folded(name)):
            guard = substitute(edge.guard, values)
            if guard == FALSE:
                continue
            resets = tuple(_with(reset, values) for reset in edge.resets)
            for suffix, after in self._cases.items():
                if all(_allows(resets, n, values[n], value) for n, value in after.items()):
                    target = edge.target + suffix
                    found.append(
                        replace(edge, source=name, target=target, guard=guard, resets=resets)
                    )
        return tuple(found)

    # Names

    def folded(self, name: str) -> str:
        """The location of the base that a location is a case of."""
        return name.removesuffix(self._suffix(name))

    def name_of(self, location: str, values: Mapping[str, object]) -> str:
        """The location for a location of the base and values: truth values, or symbols as text."""
        return location + _suffix_of({v.name: values[v.name] for v in self.unfolded})

    @cached_property
    def _cases(self) -> dict[str, Values]:
        """The values of each case, by the end of its locations' names."""
        found: dict[str, Values] = {}
        for chosen in product(*(_values(v.type) for v in self.unfolded)):
            values = {v.name: value for v, value in zip(self.unfolded, chosen, strict=True)}
            found[_suffix_of({n: value.value for n, value in values.items()})] = values
        return found

    def _suffix(self, name: str) -> str:
        found = next((suffix for suffix in self._cases if name.endswith(suffix)), None)
        if found is None:
            raise LookupError(f"there is no location {name!r}")
        return found

    def _values_in(self, name: str) -> Values:
        return self._cases[self._suffix(name)]


def folded(automaton: Automaton, name: str) -> str:
    """The location of the model that a location of its unfolded view is a case of; itself for
    one of the model."""
    if not isinstance(automaton, Unfolded):
        return name
    try:
        return automaton.folded(name)
    except LookupError:
        return name


def case_of(automaton: Automaton, name: str, values: Mapping[str, object]) -> str:
    """The location of the unfolded view for a location of the model and values."""
    return automaton.name_of(name, values) if isinstance(automaton, Unfolded) else name


def _suffix_of(values: Mapping[str, object]) -> str:
    texts = {n: str(v).lower() if isinstance(v, bool) else str(v) for n, v in values.items()}
    return f" {{{', '.join(f'{name} = {text}' for name, text in texts.items())}}}"


def _with(given: Constraint, values: Values) -> Constraint:
    return replace(given, range=given.range.substitute(values))


def _allows(
    resets: tuple[Constraint, ...], name: str, before: Expression, after: Expression
) -> bool:
    """Whether resets may lead from one value to the other, as far as can be read off them; what
    they compute or choose is decided by the invariant of the target."""
    found = [reset.range.exact for reset in resets if reset.variable == name]
    if not found:
        return after == before
    return len(found) > 1 or found[0] == after or not _is_literal(found[0])


def _is_literal(value: Expression | None) -> bool:
    return value is not None and value.op in (Op.BOOLEAN, Op.SYMBOL)
