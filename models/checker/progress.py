"""Progress: runs never block, and there are some.

Evidence is a first state, and a proof of any kind that no reachable state is stuck. That is what
proofs of the claim's linear view are about: its bad states are those of `models.lowering.stuck`.

Theorem. If the first state is one in which a run may start, and no reachable state (up to the
horizon, if the proof has one) satisfies `stuck`, then there is a run, and each can go on from each
of its states: time can pass, or a jump leads to another state. Proof: a reachable state satisfies
its location's invariant; by the theorem of `models.lowering.stuck` it can go on unless it is stuck.

That time can go on without bound is not claimed: jumps may follow one another ever faster.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from workbench.models.automaton import (
    INT,
    TIME,
    Automaton,
    Initial,
    Input,
    Parameter,
    ValueType,
    primed,
)
from workbench.models.expressions.expression import (
    TRUE,
    Expression,
    boolean,
    conjunction,
    constant,
    symbol,
)
from workbench.models.expressions.ranges import value_in
from workbench.models.expressions.traversal import substitute

Value: TypeAlias = Fraction | bool | str
"""A number, a truth value or a symbol."""


@dataclass(frozen=True, slots=True)
class FirstState:
    """A location, and values of variables, parameters and inputs: `before` the resets with which
    runs enter it, and `after` them."""

    location: str
    before: Mapping[str, Value]
    after: Mapping[str, Value]


def fault_of_start(automaton: Automaton, start: FirstState) -> str | None:
    """Why no run starts as said, or None. The automaton has no algebraic constraints."""
    signals: tuple[Input | Parameter, ...] = (*automaton.inputs, *automaton.parameters)
    types = {v.name: v.type for v in automaton.variables} | {s.name: s.type for s in signals}
    for values in (start.before, start.after):
        if why := _ill_typed(values, types):
            return why
    for signal in signals:
        value, low, high = start.after[signal.name], signal.low, signal.high
        if not isinstance(value, Fraction):
            continue
        if (low is not None and value < low) or (high is not None and value > high):
            return f"{signal.name} is outside its bounds"
    if any(_begins(automaton, given, start) for given in automaton.initial_sets()):
        return None
    return "the first state is not an initial one"


def _ill_typed(values: Mapping[str, Value], types: Mapping[str, ValueType]) -> str | None:
    if values.keys() != types.keys():
        return "it does not give every name a value"
    for name, kind in types.items():
        value = values[name]
        if kind.is_numeric:
            fits = isinstance(value, Fraction) and (kind != INT or value.denominator == 1)
        else:
            fits = value in kind.values if kind.values else isinstance(value, bool)
        if not fits:
            return f"{name} has no value of its type"
    return None


def _begins(automaton: Automaton, given: Initial, start: FirstState) -> bool:
    """Whether the state is one of an initial set: its conditions are true once the values are put
    in place of the names. (One that does not come out by exact arithmetic does not count.)"""
    if given.location != start.location or start.after.get(TIME, Fraction(0)) != 0:
        return False
    changed = {reset.variable for reset in given.resets}
    if any(n not in changed and start.before[n] != start.after[n] for n in start.before):
        return False
    before, after = _literals(start.before), _literals(start.after)
    reads = before | {primed(name): value for name, value in after.items()}
    entered = [value_in(primed(r.variable), r.range) for r in given.resets]
    here = conjunction(automaton.location(start.location).invariant, automaton.assumption)
    parts = (substitute(conjunction(given.condition, *entered), reads), substitute(here, after))
    return conjunction(*parts) == TRUE


def _literals(values: Mapping[str, Value]) -> dict[str, Expression]:
    return {name: _literal(value) for name, value in values.items()}


def _literal(value: Value) -> Expression:
    if isinstance(value, bool):
        return boolean(value)
    return symbol(value) if isinstance(value, str) else constant(value)
