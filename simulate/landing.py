"""States that have just landed on the boundary of the location that they entered.

The time of an event is known as exactly as the clock tells, and its guard is approached up to a
small part of its tolerance: a jump at `x <= 0` is made at x = 5e-16, say. If the target demands
`x <= 0`, that state lies on the boundary, as exactly as it is known. So what it lies beyond a
closed comparison of the invariant, its *slack*, is granted to it until the location is left, if
it is no more than an event is known to; whatever goes further beyond leaves the invariant.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from workbench.models.automaton import EventKind
from workbench.models.expressions.expression import Expression, equal, subtract, variable
from workbench.models.expressions.operators import Op
from workbench.models.expressions.traversal import free_variables, rebuild, with_arguments
from workbench.simulate.jump import Jump
from workbench.simulate.stepping.calculator import Calculator, Sensitivity, TolerantCondition
from workbench.simulate.stepping.condition import split_cases
from workbench.simulate.stepping.methods import RESIDUAL, shortest_step

if TYPE_CHECKING:
    from workbench.simulate.execution import Execution
    from workbench.simulate.place import Place, Prepared

_CLOSED = frozenset({Op.LESS_EQUAL, Op.GREATER_EQUAL, Op.EQUAL})

_ROUNDING = 4.0 * 2.0**-53


class Departure(NamedTuple):
    """A jump of this instant: from where and in which state, by which resets (None if they are
    not the location's own), and how its guard was approached."""

    place: Place
    values: Mapping[str, float]
    jump: Jump | None
    kind: EventKind


def slack_name(part: int, number: int) -> str:
    """The held value that is granted to a comparison of a part of the invariant."""
    return f"landed {part}.{number}"


def loosened(part: Expression, number: int, analog: frozenset[str]) -> Expression:
    """A part of an invariant with slack in its closed comparisons of analog variables."""
    return _loosened(part, number, analog)[0]


def _loosened(
    part: Expression, number: int, analog: frozenset[str]
) -> tuple[Expression, tuple[Expression, ...]]:
    """The part with slack, and the comparisons that have it, in order."""
    closed: dict[Expression, int] = {}

    def replace(node: Expression, args: tuple[Expression, ...]) -> Expression:
        node = with_arguments(node, args)
        if node.op not in _CLOSED or free_variables(node).isdisjoint(analog):
            return node
        slack = variable(slack_name(number, closed.setdefault(node, len(closed))))
        excess = _excess(node)
        if node.op is Op.LESS_EQUAL:
            return excess <= slack
        if node.op is Op.GREATER_EQUAL:
            return excess >= -slack
        return equal(excess, slack)

    return rebuild(split_cases(part), replace), tuple(closed)


def _excess(comparison: Expression) -> Expression:
    left, right = comparison.args
    return subtract(left, right)


class Boundary:
    """The comparisons of a part of an invariant that a state may have landed on."""

    def __init__(self, prepared: Prepared, part: Expression, number: int):
        whole, closed = _loosened(part, number, prepared.moving)
        self.holds: TolerantCondition = prepared.condition(whole)
        given = prepared.symbols, prepared.externals
        excesses = [_excess(node) for node in closed]
        self._excesses = Calculator(excesses, *given)
        self._comparisons = [
            (slack_name(number, k), node.op, Sensitivity(g, prepared.known, *given))
            for k, (node, g) in enumerate(zip(closed, excesses, strict=True))
        ]

    def slacks(
        self, values: Mapping[str, float], tolerances: Mapping[str, float]
    ) -> dict[str, float]:
        """What a state lies beyond the comparisons, where that is no more than the tolerances of
        its variables explain; else zero."""
        found = {}
        for excess, (name, op, known) in zip(
            self._excesses(values), self._comparisons, strict=True
        ):
            beyond = -excess if op is Op.GREATER_EQUAL else excess
            counts = abs(beyond) if op is Op.EQUAL else beyond
            found[name] = beyond if 0.0 < counts <= known(values, tolerances) else 0.0
        return found


def granted(run: Execution, place: Place, part: int) -> bool:
    """Whether the state has only just landed on a part of the invariant; its slack is then in
    the state's values, for the place in which that part is loosened."""
    if not run.departures or part in place.landed:
        return False
    boundary = _boundary(run.prepared, place, part)
    slacks = boundary.slacks(run.env, _tolerances(run))
    if not any(slacks.values()) or not boundary.holds({**run.env, **slacks}, 0.0, 0.0):
        return False
    run.env.update(slacks)
    return True


def _boundary(prepared: Prepared, place: Place, part: int) -> Boundary:
    key = (place.name, part)
    if key not in prepared.landings:
        prepared.landings[key] = Boundary(prepared, place.exits[part], part)
    return prepared.landings[key]


def _speeds(prepared: Prepared, place: Place) -> tuple[tuple[str, ...], Calculator]:
    """The variables that flow in a place, and their derivatives."""
    key = (place.name, place.holds)
    if key not in prepared.speeds:
        flows = prepared.flows(*key)
        calculator = Calculator(list(flows.values()), prepared.symbols, prepared.externals)
        prepared.speeds[key] = tuple(flows), calculator
    return prepared.speeds[key]


def _tolerances(run: Execution) -> dict[str, float]:
    """How exactly each variable is known after an event: what passes while the clock does not
    tell, and the distance that is kept from a guard."""
    rates = _rates(run)
    crossed = any(d.kind is EventKind.CROSSING for d in run.departures)
    part, least = (1.0 if crossed else RESIDUAL), shortest_step(run.t, run.until)
    found = {}
    for name in run.prepared.names:
        size = abs(run.env[name])
        distance = part * (run.method.atol + run.method.rtol * size) + _ROUNDING * size
        found[name] = distance + 4.0 * least * rates.get(name, 0.0)
    return found


def _rates(run: Execution) -> dict[str, float]:
    """How fast the values after the jumps of this instant change with its time."""
    first = run.departures[0]
    names, speeds = _speeds(run.prepared, first.place)
    rates = {n: abs(v) for n, v in zip(names, speeds(first.values), strict=True) if v == v}
    for departure in run.departures:
        if departure.jump is not None:
            rates |= departure.jump.carried(departure.values, rates)
    return {n: v for n, v in rates.items() if v < math.inf}
