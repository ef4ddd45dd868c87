"""A composition of agents made ready for runs: groups, and what is watched between them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cached_property

from workbench.models.agents.composition import Product
from workbench.models.automaton import Automaton, Input, Kind, Parameter, Variable
from workbench.models.expressions.expression import Expression, constant
from workbench.models.expressions.operators import Op
from workbench.models.expressions.traversal import free_variables, postorder, substitute
from workbench.simulate.agents.coupling import group_components
from workbench.simulate.agents.encounters import Encounter
from workbench.simulate.agents.fleet import Fleet, is_available
from workbench.simulate.holding import inclusion_share
from workbench.simulate.inputs.signals import Signal
from workbench.simulate.place import Prepared
from workbench.simulate.stepping.calculator import Calculator
from workbench.simulate.stepping.methods import Method


def _alone(automaton: Automaton) -> Product:
    parts = automaton.components
    return Product(
        automaton.name,
        parts,
        (),
        automaton.properties,
        automaton.predicates,
        assumption=automaton.assumption,
        parameters=automaton.parameters,
        horizon=automaton.horizon,
    )


class PreparedAgents:
    """A composition made ready for many runs: its groups, and what is watched on pairs."""

    def __init__(
        self,
        automaton: Automaton,
        signals: Mapping[str, Signal],
        externs: Mapping[str, Callable[..., float]],
        one_clock: bool,
    ):
        self.product = automaton if isinstance(automaton, Product) else _alone(automaton)
        self.externs, self._given = externs, signals
        self.grouping = group_components(
            self.product, signals.keys(), one_clock or not is_available()
        )
        self.symbols: dict[str, int] = {}
        for value in (v for q in _typed(self.product) for v in q.type.values):
            self.symbols.setdefault(value, len(self.symbols))
        self.signals: list[frozenset[str]] = []
        self.groups: list[Prepared] = []
        for group in self.grouping.groups:
            names = {i.name for i in group.automaton.inputs}
            names |= {inclusion_share(v.name) for v in group.automaton.variables}
            mine = {n: s for n, s in signals.items() if n in names}
            prepared = Prepared(group.automaton, mine, externs)
            prepared.share_symbols(self.symbols)
            self.groups.append(prepared)
            self.signals.append(frozenset(names))
        self._pairs: dict[tuple[Method, tuple[tuple[str, float], ...]], Pairs] = {}

    @cached_property
    def on_one_clock(self) -> PreparedAgents:
        """The same agents in one group."""
        if len(self.groups) == 1:
            return self
        return PreparedAgents(self.product, self._given, self.externs, True)

    @cached_property
    def calls_functions(self) -> bool:
        """Whether a flow, or an equation that it may read, calls a function from outside."""
        given = (
            c.range
            for part in self.product.components
            for location in part.locations
            for c in (*location.flows, *location.algebraic)
        )
        ends = [end for r in given for end in (r.low, r.high) if end is not None]
        return any(node.op is Op.EXTERNAL for node in postorder(*ends))

    def pairs(self, method: Method, parameters: Mapping[str, float]) -> Pairs:
        """What is watched between groups, for a method and values of the parameters."""
        key = (method, tuple(sorted(parameters.items())))
        if key not in self._pairs:
            self._pairs = {key: Pairs(self, method, parameters)}
        return self._pairs[key]


class Pairs:
    """What is watched between groups, compiled; `fleet` is None for one group."""

    def __init__(self, prepared: PreparedAgents, method: Method, parameters: Mapping[str, float]):
        exact = {n: constant(Fraction(v)) for n, v in parameters.items()}
        grouping = prepared.grouping
        self.fleet: Fleet | None = None
        self.claims = [
            (
                name,
                free_variables(bad),
                Calculator([_fixed(bad, exact)], prepared.symbols, prepared.externs),
            )
            for name, bad in grouping.at_jumps
        ]
        if len(prepared.groups) < 2:
            return
        discrete = frozenset(v.name for v in prepared.product.variables if not _moves(v))
        self.fleet = Fleet(
            [p.names for p in prepared.groups],
            discrete,
            method,
            prepared.symbols,
            prepared.externs,
        )
        for encounter in grouping.encounters:
            self.fleet.watch(_with_values(encounter, exact) if exact else encounter)


def _with_values(encounter: Encounter, exact: Mapping[str, Expression]) -> Encounter:
    return replace(
        encounter,
        condition=_fixed(encounter.condition, exact),
        resets=tuple(replace(c, range=c.range.substitute(exact)) for c in encounter.resets),
    )


def _fixed(root: Expression, exact: Mapping[str, Expression]) -> Expression:
    return substitute(root, exact) if exact else root


def _moves(given: Variable) -> bool:
    return given.kind is Kind.ANALOG and given.type.name == "real"


def _typed(product: Product) -> Iterator[Variable | Input | Parameter]:
    yield from product.variables
    yield from product.inputs
    yield from product.parameters
