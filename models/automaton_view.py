"""What all views of an automaton have in common: they show it as it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

from workbench.models.automaton import (
    Automaton,
    Edge,
    HybridAutomaton,
    Initial,
    Input,
    Location,
    Parameter,
    Property,
    Variable,
)
from workbench.models.expressions.expression import Expression


class AutomatonView:
    """Everything of `base`; views change what they are about. `components` are those of the
    base, and `sha256` is the base's."""

    base: Automaton

    @property
    def name(self) -> str:
        """What the model is called."""
        return self.base.name

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The state variables, in a fixed order."""
        return self.base.variables

    @property
    def inputs(self) -> tuple[Input, ...]:
        """Signals from outside."""
        return self.base.inputs

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Uncertain constants."""
        return self.base.parameters

    @property
    def assumption(self) -> Expression:
        """What holds of inputs and parameters at all times, beyond their bounds."""
        return self.base.assumption

    @property
    def properties(self) -> tuple[Property, ...]:
        """The claims to be verified."""
        return self.base.properties

    @property
    def predicates(self) -> tuple[Expression, ...]:
        """The author's hints for predicate abstraction."""
        return self.base.predicates

    @property
    def horizon(self) -> Fraction | None:
        """The time bound of the claims, if the author set one."""
        return self.base.horizon

    @property
    def components(self) -> tuple[HybridAutomaton, ...]:
        """The parallel parts, as they are in the base."""
        return self.base.components

    @property
    def sha256(self) -> str:
        """The fingerprint of the base."""
        return self.base.sha256

    def occupied(self, name: str) -> Mapping[str, str]:
        """Which location each component is in, by component name."""
        return self.base.occupied(name)

    def initial_sets(self) -> Iterator[Initial]:
        """Where runs may start, one location at a time."""
        return self.base.initial_sets()

    def location(self, name: str) -> Location:
        """The location of that name."""
        return self.base.location(name)

    def edges_from(self, name: str) -> tuple[Edge, ...]:
        """The edges that leave a location, in a fixed order."""
        return self.base.edges_from(name)
